//! The attribute macros of [`autobatch`](https://docs.rs/autobatch). Use them through that crate; the
//! compiler itself is the plain library `autobatch-compiler`.

use proc_macro::TokenStream;

/// Batches a function: see the documentation of the `autobatch` crate.
#[proc_macro_attribute]
pub fn autobatch(args: TokenStream, item: TokenStream) -> TokenStream {
    autobatch_compiler::autobatch(args.into(), item.into()).into()
}
