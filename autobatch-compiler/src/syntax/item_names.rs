//! The names that items bring.

use syn::{Ident, Item, UseTree};

/// The name that an item declares.
pub(crate) fn declared(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(i) => Some(&i.ident),
        Item::Enum(i) => Some(&i.ident),
        Item::ExternCrate(i) => Some(i.rename.as_ref().map_or(&i.ident, |(_, name)| name)),
        Item::Fn(i) => Some(&i.sig.ident),
        Item::Macro(i) => i.ident.as_ref(),
        Item::Mod(i) => Some(&i.ident),
        Item::Static(i) => Some(&i.ident),
        Item::Struct(i) => Some(&i.ident),
        Item::Trait(i) => Some(&i.ident),
        Item::TraitAlias(i) => Some(&i.ident),
        Item::Type(i) => Some(&i.ident),
        Item::Union(i) => Some(&i.ident),
        _ => None,
    }
}

/// The names that a `use` brings, and whether it brings all that there are.
pub(crate) fn imported(tree: &UseTree) -> (Vec<&Ident>, bool) {
    fn collect<'t>(tree: &'t UseTree, of: Option<&'t Ident>, names: &mut Vec<&'t Ident>) -> bool {
        match tree {
            UseTree::Path(t) => collect(&t.tree, Some(&t.ident), names),
            // `use a::b::{self}` brings `b`.
            UseTree::Name(t) if t.ident == "self" => {
                names.extend(of);
                false
            }
            UseTree::Name(t) => {
                names.push(&t.ident);
                false
            }
            UseTree::Rename(t) => {
                names.push(&t.rename);
                false
            }
            UseTree::Group(t) => t.items.iter().fold(false, |all, tree| collect(tree, of, names) | all),
            UseTree::Glob(_) => true,
        }
    }
    let mut names = Vec::new();
    let all = collect(tree, None, &mut names);
    (names, all)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn imports_bring_their_last_names() {
        let item: syn::ItemUse = parse_quote!(
            use a::{
                self,
                b::{self, C},
                d::E as F,
                g::h,
            };
        );
        let (names, all) = imported(&item.tree);
        assert_eq!(
            (names.iter().map(ToString::to_string).collect::<Vec<_>>(), all),
            (vec!["a".into(), "b".into(), "C".into(), "F".into(), "h".into()], false)
        );
        let item: syn::ItemUse = parse_quote!(
            use a::{b, c::*};
        );
        assert!(imported(&item.tree).1);
    }
}
