//! Methods beside an item that call elementary functions: under `vector_math` they are functions, like other helpers.
//!
//! ```text
//! impl Rng {                                       fn __autobatch_method_Rng__normal__for_f(__self: &mut Rng) -> f64 {
//!     fn normal(&mut self) -> f64 {                    let u = __self.uniform();
//!         let u = self.uniform();           ──▶        (-2.0 * u.ln()).sqrt() * …
//!         (-2.0 * u.ln()).sqrt() * …               }
//!     }
//! }
//! x += rng.normal();                               x += __autobatch_method_Rng__normal__for_f(&mut rng);
//! ```
//!
//! Of functions vector math has copies, which scalar code calls, too. The function itself calls the method.
//!
//! **Invariant:** the same calls become calls of functions in the body that is written, of which scalar code is made, and in the other one, so
//! that all executors round alike.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Type;

use crate::desugar::helper_checks::HelperChecks;
use crate::index::definitions::Substitute;
use crate::item::methods;
use crate::item::model::{Function, Item};
use crate::resolve::candidates::{Candidate, Takes};
use crate::resolve::method_calls::with_calls_by_path;
use crate::resolve::types::{FunctionType, Types};
use crate::std_models::elementary::calls_library;
use crate::syntax::mentions::idents;
use crate::syntax::reachability::reached;
use crate::syntax::visit_mut::VisitMut;

/// Makes helpers of methods. What rustc has to check, and the functions.
pub(crate) fn rewrite(item: &mut Item) -> (HelperChecks, Vec<TokenStream>) {
    let mut checks = HelperChecks::default();
    let Some(first) = item.functions.first() else { return (checks, vec![]) };
    let mut freed: Vec<Function> = chosen(&item.methods);
    for f in &mut freed {
        f.sig.ident = methods::for_item(&f.sig.ident, first);
    }
    let candidates: Vec<Candidate> = (0..freed.len()).filter_map(|nth| candidate(nth, &freed[nth])).collect();
    if candidates.is_empty() {
        return (checks, vec![]);
    }
    let shims = methods::shims(&freed);
    let known: Vec<Function> =
        item.functions.iter().chain(item.helpers.iter()).chain(&freed).cloned().collect();
    let declared = item.declared.clone();
    let functions = FunctionType::all(&known, item.own.as_ref(), &declared.beside);
    let types = Types { definitions: &declared.beside, functions: &functions, own: item.own.clone() };
    let mut helpers: Vec<Function> = item.helpers.to_vec();
    let (callers, mut is_used) = (item.functions.len() + helpers.len(), false);
    // They are functions from now on.
    helpers.extend(freed.iter().cloned().map(|f| Function { method: None, ..f }));
    for (position, function) in item.functions.iter_mut().chain(&mut helpers).enumerate() {
        if function.may_hide_types(&declared.beside) {
            continue;
        }
        let Some((rewritten, found)) = with_calls_by_path(function, &types, &candidates) else { continue };
        *function = rewritten;
        is_used |= position < callers;
        for (nth, name, before) in found {
            let owner = freed[nth].method.as_ref().map(|m| m.owner.clone());
            let mut own = Substitute::new(owner.map(|owner| ("Self".to_owned(), owner)));
            let mut before: Vec<Type> = before;
            before.iter_mut().for_each(|ty| own.visit_type_mut(ty));
            checks.finds_nothing(&name, before);
        }
    }
    item.helpers = helpers.into();
    (checks, if is_used { shims } else { vec![] })
}

/// The methods of types themselves that call elementary functions, or methods that do.
fn chosen(methods: &[Function]) -> Vec<Function> {
    let name = |f: &Function| f.shown().sig.ident.to_string();
    let called = |f: usize| {
        let words: BTreeSet<String> =
            idents(methods[f].written.to_token_stream()).iter().map(ToString::to_string).collect();
        (0..methods.len()).filter(move |g| words.contains(&name(&methods[*g])))
    };
    let is_own = |f: &Function| f.method.as_ref().is_some_and(|m| m.trait_.is_none());
    let calls = |f: usize| calls_library(&methods[f].body);
    let leads = |f: &usize| calls(*f) || reached(*f, called).into_iter().any(calls);
    let chosen = (0..methods.len()).filter(|f| is_own(&methods[*f])).filter(leads);
    chosen.map(|f| methods[f].clone()).collect()
}

/// What a call of a method is known by.
fn candidate(nth: usize, f: &Function) -> Option<Candidate> {
    let method = f.method.as_ref()?;
    Some(Candidate {
        function: nth,
        owner: method.owner.clone(),
        name: method.shown.sig.ident.to_string(),
        params: f.params.len(),
        takes: Takes::by(f, &method.owner),
        free: Some(f.sig.ident.clone()),
        of_trait: None,
        outer: 0,
    })
}
