//! The attribute macros of [`autobatch`](https://docs.rs/autobatch). Use them through that crate; the
//! compiler itself is the plain library `autobatch-compiler`.

use proc_macro::{Span, TokenStream};

/// Batches a function: see the documentation of the `autobatch` crate.
#[proc_macro_attribute]
pub fn autobatch(args: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    // Whether a call is one of a primitive, or of a method of the program's, can't be told from the item alone.
    let file = Span::call_site().local_file();
    let source = file.and_then(|path| autobatch_compiler::source_around(&path, item.clone()));
    autobatch_compiler::autobatch_in(args.into(), item, source.as_ref()).into()
}

/// Names a function's batched kernel: see the documentation of the `autobatch` crate.
#[proc_macro_attribute]
pub fn primitive(args: TokenStream, item: TokenStream) -> TokenStream {
    autobatch_compiler::primitive(args.into(), item.into()).into()
}
