//! Helper functions: those beside the item that its functions call by name, and what they do can be read.
//!
//! They are no part of the program: a call of one stays as written, and rustc finds what it calls. What is read says whether the
//! program only computes, and small ones are copied to where they are called.

use std::rc::Rc;

use proc_macro2::TokenStream;

use crate::diagnostics::sink::Diagnostics;
use crate::index::source::Source;
use crate::item::model::Function;
use crate::item::{parse, selection};
use crate::syntax::attributes;

/// The helpers that `item` can call, which is what rustc has handed over.
pub(crate) fn of(source: Option<&Source>, item: &TokenStream) -> Rc<[Function]> {
    let written = source.into_iter().flat_map(|source| source.functions_for(item));
    let functions = written.filter(|f| !attributes::is_primitive(&f.attrs)).filter_map(|f| {
        let mut diag = Diagnostics::default();
        let function = parse::function(&f.attrs, &f.vis, &f.sig, &f.block, None, &mut diag)?;
        (diag.is_empty() && !selection::is_generic(&function)).then_some(function)
    });
    functions.collect()
}
