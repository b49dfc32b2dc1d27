//! The trip counts of a function's loops: which of its variables are arrays, and how long.

use syn::Pat;

use crate::index::definitions::Definitions;
use crate::item::model::Function;
use crate::std_models::trip_count::TripCounts;
use crate::syntax::mentions::untyped;
use crate::syntax::walk::{self, At};

/// Those of a function whose bindings have unique names.
pub(crate) fn of(function: &Function, definitions: &Definitions) -> TripCounts {
    let mut counts = TripCounts::with_constants(definitions.numbers());
    for param in &function.params {
        counts.bind(param.ident.to_string(), Some(&param.ty), None, false);
    }
    walk::each(&function.body, |at| {
        if let At::Local(local) = at
            && let Pat::Ident(p) = untyped(&local.pat)
        {
            let ty = match &local.pat {
                Pat::Type(t) => Some(&*t.ty),
                _ => None,
            };
            let init = local.init.as_ref().map(|init| &*init.expr);
            let fixed = p.mutability.is_none() && p.by_ref.is_none();
            counts.bind(p.ident.to_string(), ty, init, fixed);
        }
    });
    counts
}
