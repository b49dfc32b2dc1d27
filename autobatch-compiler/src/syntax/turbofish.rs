//! The arguments of a generic function, as a path to it spells them out.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{GenericParam, Generics};

/// `::<T, N>`: types and constants, in order, and no lifetimes, which may be bound late; nothing if there are none.
pub(crate) fn turbofish(generics: &Generics) -> TokenStream {
    let mut generics = generics.clone();
    let named = |param: &GenericParam| !matches!(param, GenericParam::Lifetime(_));
    generics.params = generics.params.into_iter().filter(named).collect();
    generics.split_for_impl().1.as_turbofish().to_token_stream()
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn types_and_constants_are_spelled_out() {
        let all = turbofish(&syn::parse_quote!(<'a, T: Copy, const N: usize>));
        assert_eq!(all.to_string(), quote!(::<T, N>).to_string());
        assert!(turbofish(&syn::parse_quote!(<'a>)).is_empty() && turbofish(&Generics::default()).is_empty());
    }
}
