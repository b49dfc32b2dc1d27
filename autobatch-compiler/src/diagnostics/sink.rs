//! Errors, collected: a user sees every mistake of a function at once.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::diagnostics::messages::Message;

/// Collects compile errors; each has a span and a message.
#[derive(Default)]
pub struct Diagnostics {
    errors: Vec<syn::Error>,
}

impl Diagnostics {
    /// Records an error at `at`.
    pub fn error(&mut self, at: &impl ToTokens, message: Message) {
        self.errors.push(syn::Error::new_spanned(at, message));
    }

    /// Records an error at a span.
    pub fn error_at(&mut self, at: Span, message: Message) {
        self.errors.push(syn::Error::new(at, message));
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
