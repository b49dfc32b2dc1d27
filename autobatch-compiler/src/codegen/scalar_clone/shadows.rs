//! Functions that count, by the names of the user's: inside a clone they shadow these.
//!
//! Not every mention of a function is a call that can be made one of a clone: macro tokens, functions used as values, functions
//! inside the body. There the name itself means another function, which Rust's own name resolution finds.
//!
//! ```text
//! fn __autobatch_clone_f(n: u64, depth: Depth) -> u64 {
//!     fn f(n: u64) -> u64 { __autobatch_clone_f(n, Depth::published().next()) }
//!     { …the body, in which `f` is that… }
//! }
//! ```
//!
//! Only a path through another module still means the user's function, and a name that a macro brings along for a parameter.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, Item, ReturnType, Type, parse_quote};

use super::{CloneKind, Clones, Role};
use crate::codegen::definition_check::Types;
use crate::item::model::Function;
use crate::syntax::attributes::{GENERATED, conditions};
use crate::syntax::impl_trait;
use crate::syntax::mentions::{idents, numbered};
use crate::syntax::standard_macros::is_standard;
use crate::syntax::turbofish::turbofish;
use crate::syntax::walk::{self, At, Code, Next};

impl Clones<'_> {
    /// The functions that code of a clone of `caller` may still mean by their names.
    pub(super) fn mentioned(&self, caller: &Function, code: &(impl Code + ToTokens)) -> BTreeSet<usize> {
        let mut words: BTreeSet<String> =
            idents(code.to_token_stream()).iter().map(ToString::to_string).collect();
        let mut unknown = false;
        walk::each(code, |at| {
            let At::Macro(mac) = at else { return Next::Inside };
            match self.definitions.words_of(mac) {
                Some(more) => words.extend(more),
                None => unknown |= !is_standard(mac),
            }
            Next::Inside
        });
        let is_parameter = |name: &Ident| caller.params.iter().any(|param| param.ident == *name);
        let known = self.functions.iter().enumerate().filter(|(index, f)| {
            let name = &f.sig.ident;
            let named = unknown || words.contains(&name.to_string());
            named && self.can_stand_in(*index) && !is_parameter(name)
        });
        known.map(|(index, _)| index).collect()
    }

    /// Items that shadow these functions in a clone. Not those that `constant` code names, which can't count.
    pub(super) fn shadows(
        &self,
        mentioned: &BTreeSet<usize>,
        kind: CloneKind,
        constant: &BTreeSet<String>,
    ) -> Vec<TokenStream> {
        let wanted = mentioned.iter().copied().filter(|index| {
            let sig = &self.functions[*index].sig;
            sig.constness.is_none() || !constant.contains(&sig.ident.to_string())
        });
        wanted.map(|index| self.stand_in(index, kind, self.functions[index].sig.ident.clone())).collect()
    }

    /// The same for lane code, in which these functions are. Items and parameters of their names stay what they are.
    pub(crate) fn shadows_of_lanes(&self, functions: &[usize], items: &[Item]) -> Vec<TokenStream> {
        let words: BTreeSet<String> = items
            .iter()
            .flat_map(|item| idents(item.to_token_stream()))
            .map(|word| word.to_string())
            .collect();
        let is_taken = |name: &Ident| {
            let is_parameter = |f: usize| self.functions[f].params.iter().any(|param| param.ident == *name);
            words.contains(&name.to_string()) || functions.iter().any(|f| is_parameter(*f))
        };
        let can = |index: &usize| self.can_stand_in(*index) && !is_taken(&self.functions[*index].sig.ident);
        let names = |index: usize| self.functions[index].sig.ident.clone();
        let wanted = functions.iter().copied().filter(can);
        wanted.map(|index| self.stand_in(index, CloneKind::PLAIN, names(index))).collect()
    }

    /// Whether a function of the same name can stand in the code in place of this.
    fn can_stand_in(&self, index: usize) -> bool {
        let function = &self.functions[index];
        self.has[index] && !function.associated && function.method.is_none() && !has_hidden_types(function)
    }

    /// A function with another's signature, which asks its thread how deep it is.
    pub(super) fn stand_in(&self, index: usize, kind: CloneKind, name: Ident) -> TokenStream {
        let function = &self.functions[index];
        let kind = CloneKind { role: Role::Clone, counted: kind.counted && self.counts(index) };
        let (clone, fish, krate) = (self.path_of(index, kind), turbofish(&function.sig.generics), self.krate);
        let mut sig = function.sig.clone();
        sig.ident = name;
        sig.constness = None;
        let names = numbered("__p", sig.inputs.len());
        let args = sig.inputs.iter_mut().zip(&names).map(|(arg, name)| match arg {
            FnArg::Receiver(_) => quote!(self),
            FnArg::Typed(arg) => {
                *arg.pat = parse_quote!(#name);
                quote!(#name)
            }
        });
        let args: Vec<TokenStream> = args.collect();
        Types::of(function, &quote!(#krate::__rt)).output(&mut sig);
        let conditions = conditions(&function.attrs);
        let tracks = function.attrs.iter().filter(|attr| attr.path().is_ident("track_caller"));
        quote! {
            #(#conditions)*
            #(#tracks)*
            #[doc(hidden)]
            #[allow(warnings)]
            #GENERATED
            #sig { #clone #fish(#(#args,)* #krate::__rt::Depth::published().next()) }
        }
    }
}

/// Whether a type of the signature has no name, so that another function's is another type, or takes another number of type arguments.
fn has_hidden_types(function: &Function) -> bool {
    let sig = &function.sig;
    let hidden = |ty: &Type| walk::any(ty, |at| matches!(at, At::Type(Type::ImplTrait(_))));
    let of_output = match &sig.output {
        ReturnType::Type(_, ty) => hidden(ty),
        ReturnType::Default => false,
    };
    of_output || impl_trait::any(&sig.generics)
}
