//! Private methods that stand beside public ones, and all methods of a module's types, have families too, which hardly ever anybody
//! wants, and which must not be in the way of a program that compiles without them. A private one is made where the item's file mentions it.
//! A signature that has no batched form has no family, nor has one whose family's names are taken. What the macro can't see,
//! whether types may go to other threads, is asked by `Crossing` in the runtime, and refused where the family is called.

use syn::ext::IdentExt;
use syn::{Type, Visibility};

use crate::index::declarations::Declared;
use crate::index::family_mentions::ENDS;
use crate::item::model::{Function, Param, Passing};
use crate::syntax::mentions::bare_type;

/// Whether a function's family is there although the attribute is not the function's own: nobody outside sees it, or the attribute
/// stands on the module.
pub(crate) fn is(function: &Function) -> bool {
    function.associated && (function.of_module || matches!(function.vis, Visibility::Inherited))
}

/// Whether the item's file mentions the function's family. If it is not known, it may.
pub(crate) fn is_wanted(function: &Function, declared: &Declared) -> bool {
    let name = function.sig.ident.unraw().to_string();
    declared.mentions.as_ref().is_none_or(|mentions| mentions.has(&name))
}

/// Whether a family can be made of a private method.
pub(crate) fn has_batched_form(function: &Function, declared: &Declared) -> bool {
    let name = function.sig.ident.unraw();
    let taken = ENDS.iter().any(|end| declared.associated.contains(&format!("{name}_batched{end}")));
    let fits = |param: &Param| match (param.passing, &param.ty) {
        (Passing::Shared, _) => true,
        (_, ty) if declared.lifetimes.are_hidden(ty) => false,
        (Passing::State, Type::Reference(r)) => !is_unsized(&r.elem),
        _ => true,
    };
    !taken && function.params.iter().all(fits)
}

/// Whether a type is one that no slice can hold.
fn is_unsized(ty: &Type) -> bool {
    match bare_type(ty) {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(p) => ["str", "OsStr", "CStr", "Path"].iter().any(|known| p.path.is_ident(known)),
        _ => false,
    }
}
