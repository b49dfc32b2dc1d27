//! The methods of the program that a call may mean.

use syn::{Expr, Ident, Type, parse_quote};

use crate::item::model::Function;
use crate::syntax::mentions::text;

/// How a method takes its receiver.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Takes {
    Value,
    Ref,
    Mut,
}

impl Takes {
    /// The type of a receiver that is taken so, of what it refers to.
    pub(crate) fn of(self, own: &Type) -> Type {
        match self {
            Takes::Value => own.clone(),
            Takes::Ref => parse_quote!(&#own),
            Takes::Mut => parse_quote!(&mut #own),
        }
    }

    /// How a method of that type takes its receiver.
    pub(crate) fn by(f: &Function, owner: &Type) -> Option<Takes> {
        let receiver = f.method.as_ref()?.shown.sig.receiver().and(f.params.first())?;
        let ways = [Takes::Value, Takes::Ref, Takes::Mut];
        ways.into_iter().find(|takes| text(&takes.of(owner)) == text(&receiver.ty))
    }

    /// A receiver as it is taken; `lent` says whether it is a reference, and whether to change what it refers to.
    pub(crate) fn argument(self, lent: Option<bool>, receiver: &Expr) -> Option<Expr> {
        Some(match (self, lent) {
            (Takes::Value, None) => receiver.clone(),
            (Takes::Value, Some(_)) => parse_quote!((*#receiver)),
            (Takes::Ref, None) => parse_quote!(&#receiver),
            (Takes::Mut, None) => parse_quote!(&mut #receiver),
            (Takes::Ref, Some(true)) => parse_quote!(&*#receiver),
            (Takes::Ref, Some(false)) | (Takes::Mut, Some(true)) => receiver.clone(),
            (Takes::Mut, Some(false)) => return None,
        })
    }
}

/// A method of the program that a call may mean.
pub(crate) struct Candidate {
    pub(crate) function: usize,
    pub(crate) owner: Type,
    pub(crate) name: String,
    pub(crate) params: usize,
    /// How, if it has one, and one of the usual kinds.
    pub(crate) takes: Option<Takes>,
    /// The function that it is in the program, if the program is a module's.
    pub(crate) free: Option<Ident>,
    /// The name of the trait that it implements.
    pub(crate) of_trait: Option<Ident>,
    /// How many parameters of types and constants come from the `impl` block, behind the method's own.
    pub(crate) outer: usize,
}

impl Candidate {
    /// The path of the function that the method is in the program, if that is a module's, with the arguments that a call gives it.
    pub(super) fn path(&self, name: &Ident, mut arguments: syn::PathArguments) -> Option<Expr> {
        if let syn::PathArguments::AngleBracketed(args) = &mut arguments {
            args.args.extend((0..self.outer).map(|_| -> syn::GenericArgument { parse_quote!(_) }));
        }
        let ident = Ident::new(&self.free.as_ref()?.to_string(), name.span());
        let free = syn::PathSegment { ident, arguments };
        Some(parse_quote!(#free))
    }
}
