//! What stands under `#[cfg(p)]` in a body is there or not, which only rustc knows. So the item is handed back twice, with it under
//! `#[cfg(p)]` and without it under `#[cfg(not(p))]`, each with the attribute again: rustc drops one, and expands the other, in which `p`
//! stands no longer. `#[cfg_attr(p, …)]` is decided along with it. No later stage sees such a statement, arm, field or argument.
//!
//! Items keep their conditions: they may all be there under different ones ([`crate::codegen`] carries them).

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::{Pair, Punctuated};
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, Item, Meta, Path, Stmt, Token, parse_quote};

use crate::syntax::visit_mut::{self, VisitMut};

/// The item twice, if something in its bodies is under a condition.
pub(crate) fn split(krate: &Path, args: &TokenStream, item: &TokenStream) -> Option<TokenStream> {
    let parsed: Item = syn::parse2(item.clone()).ok()?;
    let condition = first(&parsed)?;
    let this = condition.to_string();
    let with = |holds: bool| {
        let mut item = parsed.clone();
        let mut decide = |other: &TokenStream| decided(&this, holds, &other.to_string());
        Conditions { inside: 0, decide: &mut decide, first: None }.visit_item_mut(&mut item);
        let attribute = quote_spanned!(parsed.span()=> #[#krate::autobatch(#args)]);
        quote!(#attribute #item)
    };
    let (there, gone) = (with(true), with(false));
    Some(quote!(#[cfg(#condition)] #there #[cfg(not(#condition))] #gone))
}

fn first(item: &Item) -> Option<TokenStream> {
    let mut conditions = Conditions { inside: 0, decide: &mut |_| None, first: None };
    conditions.visit_item_mut(&mut item.clone());
    conditions.first
}

/// Whether a condition holds, if it follows from another that `holds` or not.
fn decided(this: &str, holds: bool, other: &str) -> Option<bool> {
    let not = |condition: &str| format!("not ({condition})");
    match () {
        () if this == other => Some(holds),
        () if this == not(other) || other == not(this) => Some(!holds),
        () => None,
    }
}

/// Takes away the conditions in bodies that are decided, or what is under them.
struct Conditions<'a> {
    /// How many blocks are around.
    inside: usize,
    decide: &'a mut dyn FnMut(&TokenStream) -> Option<bool>,
    /// The first condition that is not decided.
    first: Option<TokenStream>,
}

impl Conditions<'_> {
    /// Whether what has the attributes is there, as far as that is decided.
    fn stays(&mut self, attrs: &mut Vec<Attribute>) -> bool {
        let mut stays = true;
        for attr in std::mem::take(attrs) {
            match parts(&attr).map(|(condition, then)| ((self.decide)(&condition), condition, then)) {
                None => attrs.push(attr),
                Some((None, condition, _)) => {
                    self.first.get_or_insert(condition);
                    attrs.push(attr);
                }
                Some((Some(true), _, then)) => attrs.extend(then.into_iter().flatten()),
                Some((Some(false), _, then)) => stays &= then.is_some(),
            }
        }
        stays
    }

    fn expr_stays(&mut self, expr: &mut Expr) -> bool {
        /// The attributes of the expression itself come first.
        struct Own<F> {
            decide: Option<F>,
            stays: bool,
        }
        impl<F: FnMut(&mut Vec<Attribute>) -> bool> VisitMut for Own<F> {
            fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
                if let Some(mut decide) = self.decide.take() {
                    self.stays = decide(attrs);
                }
            }
        }
        let decide = |attrs: &mut Vec<Attribute>| self.stays(attrs);
        let mut own = Own { decide: Some(decide), stays: true };
        own.visit_expr_mut(expr);
        own.stays
    }

    fn list<T, P>(&mut self, list: &mut Punctuated<T, P>, mut stays: impl FnMut(&mut Self, &mut T) -> bool) {
        let pairs = std::mem::take(list).into_pairs().map(Pair::into_tuple);
        let rest =
            pairs.filter_map(|(mut value, punct)| stays(self, &mut value).then(|| Pair::new(value, punct)));
        *list = rest.collect();
    }
}

/// The condition of an attribute, and for `cfg_attr` the attributes that it stands for.
fn parts(attr: &Attribute) -> Option<(TokenStream, Option<Vec<Attribute>>)> {
    let Meta::List(list) = &attr.meta else { return None };
    if list.path.is_ident("cfg") {
        return Some((list.tokens.clone(), None));
    }
    let metas = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone()).ok()?;
    let mut metas = metas.into_iter();
    let condition = metas.next().filter(|_| list.path.is_ident("cfg_attr"))?;
    Some((condition.to_token_stream(), Some(metas.map(|meta| parse_quote!(#[#meta])).collect())))
}

impl VisitMut for Conditions<'_> {
    fn visit_item_mut(&mut self, item: &mut Item) {
        if self.inside == 0 {
            visit_mut::visit_item_mut(self, item);
        }
    }
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.inside += 1;
        block.stmts.retain_mut(|stmt| match stmt {
            Stmt::Local(local) => self.stays(&mut local.attrs),
            Stmt::Macro(mac) => self.stays(&mut mac.attrs),
            Stmt::Expr(expr, _) => self.expr_stays(expr),
            Stmt::Item(_) => true,
        });
        visit_mut::visit_block_mut(self, block);
        self.inside -= 1;
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Match(e) => e.arms.retain_mut(|arm| self.stays(&mut arm.attrs)),
            Expr::Struct(e) => self.list(&mut e.fields, |all, field| all.stays(&mut field.attrs)),
            Expr::Array(e) => self.list(&mut e.elems, Self::expr_stays),
            Expr::Call(e) => self.list(&mut e.args, Self::expr_stays),
            Expr::MethodCall(e) => self.list(&mut e.args, Self::expr_stays),
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_pat_struct_mut(&mut self, pat: &mut syn::PatStruct) {
        self.list(&mut pat.fields, |all, field| all.stays(&mut field.attrs));
        visit_mut::visit_pat_struct_mut(self, pat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_is_there_twice() {
        let item = quote!(
            fn f() -> u32 {
                #[cfg(a)]
                let x = 1;
                #[cfg(not(a))]
                let x = 2;
                #[cfg(all(a, b))]
                return 3;
                #[cfg_attr(a, allow(unused))]
                let y = P {
                    x,
                    #[cfg(not(a))]
                    y: [
                        1,
                        #[cfg(a)]
                        2,
                    ],
                };
                match x {
                    #[cfg(a)]
                    0 => 1,
                    _ => f(
                        x,
                        #[cfg(a)]
                        y,
                    ),
                }
            }
        );
        let krate = syn::parse_quote!(k);
        let both = split(&krate, &quote!(strict), &item).expect("it has conditions");
        let expected = quote!(
            #[cfg(a)]
            #[k::autobatch(strict)]
            fn f() -> u32 {
                let x = 1;
                #[cfg(all(a, b))]
                return 3;
                #[allow(unused)]
                let y = P { x };
                match x {
                    0 => 1,
                    _ => f(x, y),
                }
            }
            #[cfg(not(a))]
            #[k::autobatch(strict)]
            fn f() -> u32 {
                let x = 2;
                #[cfg(all(a, b))]
                return 3;
                let y = P { x, y: [1] };
                match x {
                    _ => f(x),
                }
            }
        );
        // Whatever stands behind the last of a list.
        let plain = |tokens: TokenStream| {
            let text = tokens.to_string();
            [(" , }", " }"), (" ,]", "]"), (" ,)", ")")].iter().fold(text, |text, (a, b)| text.replace(a, b))
        };
        assert_eq!(plain(both), plain(expected));
        assert!(
            split(
                &krate,
                &quote!(),
                &quote!(
                    fn f() {
                        #[allow(unused)]
                        let x = 1;
                    }
                )
            )
            .is_none()
        );
    }
}
