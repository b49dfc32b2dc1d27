//! The attribute macros of [`autobatch`](https://docs.rs/autobatch). Use them through that crate; the
//! compiler itself is the plain library `autobatch-compiler`.

use proc_macro::{Span, TokenStream};

/// Batches a function, or all functions of a module or an `impl` block: see the page of this attribute in the `autobatch` crate, which
/// lists its arguments with an example of each.
#[proc_macro_attribute]
pub fn autobatch(args: TokenStream, item: TokenStream) -> TokenStream {
    // Whether a call is one of a primitive, or of a method of the program's, can't be told from the item alone.
    let at = Span::call_site();
    let source =
        at.local_file().and_then(|path| autobatch_compiler::source_around(&path, at.line(), at.column()));
    autobatch_compiler::autobatch_in(args.into(), item.into(), source.as_ref()).into()
}

/// Names a function's batched kernel: see the page of this attribute in the `autobatch` crate.
#[proc_macro_attribute]
pub fn primitive(args: TokenStream, item: TokenStream) -> TokenStream {
    autobatch_compiler::primitive(args.into(), item.into()).into()
}
