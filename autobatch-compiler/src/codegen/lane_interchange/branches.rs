//! The code of branches that are apart: a few lanes that take one are run one by one, many as vectors.
//!
//! ```text
//! for each lane { d = b * b - a * c; takers.note(d >= 0.0); }
//! if takers.are_few() {
//!     for each taker { t = (b - d.sqrt()) / a; }
//! } else {
//!     for each lane { zero.choose(&mut t, takers.has(lane), (b - d.sqrt()) / a); }
//! }
//! ```
//!
//! LLVM takes a condition to hold in half of the lanes, and so finds that vectors gain little under one. Code that can't fail is run by
//! all lanes, and changes something in those that take it.
//!
//! **Invariant:** a lane changes nothing, and notes no fault, in a branch that it does not take.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, Pat, Stmt, parse_quote};

use super::{Condition, Writer};
use crate::analysis::lane_interchange::{Branch, indexed};
use crate::codegen::division_guards::divides;
use crate::codegen::names::name;
use crate::codegen::predication::is_in_round;
use crate::codegen::region::lane;
use crate::std_models::elementary::calls_library;
use crate::std_models::number_methods::Primitives;
use crate::syntax::mentions::{self, untyped};
use crate::syntax::walk::{self, At};

impl Writer<'_, '_> {
    /// A branch that some lanes take.
    pub(super) fn branch(&self, branch: &Branch) -> TokenStream {
        let (rt, l, width, word) = (&self.rt, lane(), self.width, &self.emitter.word);
        let (takes, takers, bits, level) = (name("__takes"), name("__takers"), name("__bits"), self.level());
        let around = self.is_in();
        let is_taker = around.is_some().then(is_in_round).map(|is_in| quote!(& #is_in));
        let note = quote!(#rt::Remaining::note(&mut #takers, #l, !(#takes #is_taker)););
        let of_all = self.lanes(&branch.of_all(&takes), note);
        let few = self.within(None, || {
            let lanes = quote!(#rt::each::<#width>(#bits));
            self.lanes_of(&branch.of_takers(), &lanes, quote!())
        });
        let has = quote!(!#rt::Remaining::has_left(&#takers, #l));
        let many = if around.is_none() && !self.is_vector(branch) {
            let has: Stmt = parse_quote!(let #takes = #has;);
            self.lanes(&[has, branch.of_either(&takes)], quote!())
        } else {
            self.within(Some(has), || self.lanes(&self.of_all_that_take(branch), quote!()))
        };
        quote! {
            let mut #takers = #rt::Remaining::<#word, #width>::new();
            #of_all
            let #bits = #rt::Remaining::lanes(&#takers, #level);
            if #rt::are_few::<#width>(#bits) { #few } else { #many }
        }
    }

    /// Writes code under a condition of the lane; if all lanes run it, that is whether it is for the lane.
    fn within(&self, is_in: Option<TokenStream>, write: impl FnOnce() -> TokenStream) -> TokenStream {
        let around = (self.is_in.replace(is_in), self.condition.replace(Condition::OfLane));
        let code = write();
        (*self.is_in.borrow_mut(), _) = (around.0, self.condition.replace(around.1));
        code
    }

    /// What lanes do that take it, as code for a round that need not be the lane's.
    fn of_all_that_take(&self, branch: &Branch) -> Vec<Stmt> {
        let Some((pat, others)) = &branch.declared else { return branch.own.stmts.clone() };
        let (own, is_in, value, new) = (&branch.own, is_in_round(), name("__value"), name("__new"));
        let parts: Vec<_> = match untyped(pat) {
            Pat::Tuple(pat) => (0..pat.elems.len()).map(|n| Some(syn::Index::from(n))).collect(),
            _ => vec![None],
        };
        let choices = parts.iter().map(|part: &Option<syn::Index>| {
            let part = part.as_ref().map(|n| quote!(.#n));
            self.choice(&quote!(#value #part), &is_in, &quote!(#new #part))
        });
        vec![parse_quote!(let #pat = { let #new = #own; let mut #value = #others; #(#choices;)* #value };)]
    }

    /// Whether all lanes may run a branch: nothing in it fails, no function of a library is called.
    fn is_vector(&self, branch: &Branch) -> bool {
        let receivers = self.emitter.origins[self.func.0].receivers();
        let are_floats = |left: &Expr, right: &Expr| {
            receivers.operands(left, right).is_some_and(|of| of.are_among(Primitives::FLOATS))
        };
        let may_fail = |at: At<'_>| match at {
            At::Expr(Expr::Binary(e)) => mentions::divides(&e.op) && !are_floats(&e.left, &e.right),
            At::Expr(Expr::MethodCall(e)) => divides(&e.method.to_string()),
            At::PathSegment(e) => divides(&e.ident.to_string()),
            At::Expr(Expr::Macro(_)) => true,
            At::Expr(e @ Expr::Index(_)) => !indexed(e).1.into_iter().all(|index| self.is_uniform(index)),
            _ => false,
        };
        let calls = self.emitter.vector_math(self.func).is_none() && calls_library(&branch.own);
        !calls && !walk::any(&branch.own, may_fail)
    }
}
