//! The methods that a trait gives a type by default, as the type's `impl` block would have them.
//!
//! ```text
//! trait Shape {                                       impl Shape for Circle {
//!     fn distance(&self, x: f64) -> f64;                  fn distance(&self, x: f64) -> f64 { … }
//!     fn inside(&self, x: f64) -> bool {         ──▶      fn inside(&self, x: f64) -> bool {
//!         self.distance(x) < 0.0                              <Self as Shape>::distance(self, x) < 0.0
//!     }                                                   }
//! }                                                   }
//! ```
//!
//! **Invariant:** a call in such a method is the trait's, whatever else the type has. A method that does more with `self` than call the
//! trait's methods and hand it on is left out.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::{
    Expr, ExprMethodCall, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, ItemTrait, ReceiverKind, Signature,
    TraitItem, TraitItemFn, parse_quote,
};

use crate::syntax::annotated::methods_of;
use crate::syntax::mentions::{idents, is_variable};
use crate::syntax::walk::{self, At, AtMut};

/// Adds what a block leaves to its trait, if that is one of these.
pub(super) fn add(block: &mut ItemImpl, traits: &[&ItemTrait]) {
    let Some(name) = block.trait_.as_ref().and_then(|(path, _)| path.get_ident()) else { return };
    let mut found = traits.iter().filter(|t| t.ident == *name);
    let Some(of) = found.next().filter(|of| found.next().is_none() && of.generics.params.is_empty()) else {
        return;
    };
    let own: Vec<String> = methods_of(block).map(|f| f.sig.ident.to_string()).collect();
    let methods: BTreeMap<String, &Signature> =
        functions(of).map(|f| (f.sig.ident.to_string(), &f.sig)).collect();
    let defaults = functions(of).filter(|f| !own.contains(&f.sig.ident.to_string()));
    let defaults: Vec<ImplItem> =
        defaults.filter_map(|f| default(f, of, &methods)).map(ImplItem::Fn).collect();
    block.items.extend(defaults);
}

fn functions(of: &ItemTrait) -> impl Iterator<Item = &TraitItemFn> {
    of.items.iter().filter_map(|item| match item {
        TraitItem::Fn(f) => Some(f),
        _ => None,
    })
}

/// A default method with its calls by the trait's path.
fn default(f: &TraitItemFn, of: &ItemTrait, methods: &BTreeMap<String, &Signature>) -> Option<ImplItemFn> {
    let mut block = f.default.clone()?;
    let takes = kind(&f.sig)?;
    let mentions_self = |arg: &FnArg| matches!(arg, FnArg::Typed(arg) if idents(arg.to_token_stream()).iter().any(|i| i == "Self"));
    if f.sig.inputs.iter().any(mentions_self) || !f.sig.generics.params.is_empty() {
        return None;
    }
    let (mut all, mut known) = (0usize, 0usize);
    walk::each(&block, |at| match at {
        At::Expr(path @ Expr::Path(p)) => {
            all +=
                usize::from(is_variable(path, "self") || p.path.segments.iter().any(|s| s.ident == "Self"));
        }
        At::Expr(Expr::MethodCall(e)) => known += usize::from(is_variable(&e.receiver, "self")),
        At::Expr(Expr::Call(e)) => known += e.args.iter().filter(|arg| is_variable(arg, "self")).count(),
        At::Macro(mac) => all += usize::from(idents(mac.tokens.clone()).iter().any(|i| i == "self")),
        _ => {}
    });
    if all != known {
        return None;
    }
    let (name, mut certain) = (&of.ident, true);
    walk::map(&mut block, |at| {
        if let AtMut::Expr(expr) = at
            && let Expr::MethodCall(call) = &*expr
            && is_variable(&call.receiver, "self")
        {
            match by_path(call, name, takes, methods) {
                Some(call) => *expr = call,
                None => certain = false,
            }
        }
    });
    let (attrs, sig) = (&f.attrs, &f.sig);
    certain.then(|| parse_quote!(#(#attrs)* #sig #block))
}

/// How a method has `self`.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Value,
    Ref,
    Mut,
}

fn kind(sig: &Signature) -> Option<Kind> {
    match &sig.receiver()?.kind {
        ReceiverKind::Reference(_, _, exclusive) => {
            Some(if exclusive.is_some() { Kind::Mut } else { Kind::Ref })
        }
        ReceiverKind::Typed(..) => None,
        _ => Some(Kind::Value),
    }
}

/// The call of one of the trait's methods on `self`.
fn by_path(
    call: &ExprMethodCall,
    of: &Ident,
    own: Kind,
    methods: &BTreeMap<String, &Signature>,
) -> Option<Expr> {
    let (name, args) = (&call.method, &call.args);
    let receiver: Expr = match (kind(methods.get(&name.to_string())?)?, own) {
        (Kind::Value, Kind::Value) | (Kind::Ref, Kind::Ref) => parse_quote!(self),
        (Kind::Value, _) => parse_quote!(*self),
        (Kind::Ref, Kind::Value) => parse_quote!(&self),
        (Kind::Ref, Kind::Mut) => parse_quote!(&*self),
        (Kind::Mut, Kind::Mut) => parse_quote!(&mut *self),
        (Kind::Mut, _) => return None,
    };
    let args = std::iter::once(&receiver).chain(args);
    call.turbofish.is_none().then(|| parse_quote!(<Self as #of>::#name(#(#args),*)))
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;
    use crate::syntax::mentions::text;

    #[test]
    fn defaults_call_by_the_traits_path() {
        let of: ItemTrait = parse_quote! {
            trait Shape: Copy {
                fn distance(&self, x: f64) -> f64;
                fn grow(&mut self);
                fn inside(&self, x: f64) -> bool { self.distance(x) < far(self) }
                fn twice(&mut self, x: f64) -> f64 { self.grow(); self.distance(self.distance(x)) }
                fn given(&self) -> f64 { 1.0 }
                fn other(&self) -> f64 { self.name().len() as f64 }
                fn copied(&self) -> f64 { let c = *self; c.distance(1.0) }
                fn apart(&self, o: &Self) -> f64 { self.distance(o.distance(1.0)) }
            }
        };
        let mut block: ItemImpl = parse_quote! {
            impl Shape for Circle {
                fn distance(&self, x: f64) -> f64 { x }
                fn grow(&mut self) {}
                fn given(&self) -> f64 { 2.0 }
            }
        };
        add(&mut block, &[&of]);
        let expected: ItemImpl = parse_quote! {
            impl Shape for Circle {
                fn distance(&self, x: f64) -> f64 { x }
                fn grow(&mut self) {}
                fn given(&self) -> f64 { 2.0 }
                fn inside(&self, x: f64) -> bool { <Self as Shape>::distance(self, x) < far(self) }
                fn twice(&mut self, x: f64) -> f64 {
                    <Self as Shape>::grow(&mut *self);
                    <Self as Shape>::distance(&*self, <Self as Shape>::distance(&*self, x))
                }
            }
        };
        assert_eq!(text(&block), text(&expected));
    }
}
