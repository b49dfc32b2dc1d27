//! Errors, collected: a user sees every mistake of a function at once.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// Collects compile errors; each has a span, one sentence on why and one on what to write instead.
#[derive(Default)]
pub struct Diagnostics {
    errors: Vec<syn::Error>,
}

impl Diagnostics {
    /// Records an error at `at`. `why` and `instead` are sentences without a final stop.
    pub fn error(&mut self, at: &impl ToTokens, why: &str, instead: &str) {
        self.errors.push(syn::Error::new_spanned(at, format!("{why}\nhelp: {instead}")));
    }

    /// Records an error at a span.
    pub fn error_at(&mut self, at: Span, why: &str, instead: &str) {
        self.errors.push(syn::Error::new(at, format!("{why}\nhelp: {instead}")));
    }

    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The `compile_error!`s, in the order reported.
    pub fn into_tokens(self) -> TokenStream {
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }
}
