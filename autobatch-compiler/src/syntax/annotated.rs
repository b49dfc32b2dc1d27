//! The annotated item, as a tree: a function, a module, or an `impl` block.

use quote::ToTokens;
use syn::{ImplItem, ImplItemFn, Item, ItemFn, ItemImpl};

use crate::diagnostics::messages;
use crate::diagnostics::sink::Diagnostics;

/// An annotated item.
#[derive(Clone)]
pub enum Input {
    /// A free function.
    Function(ItemFn),
    /// An inline module: one program.
    Module(syn::ItemMod),
    /// An `impl` block: one program.
    Impl(ItemImpl),
}

impl Input {
    /// Parses the item, or says what can be annotated.
    pub fn parse(tokens: proc_macro2::TokenStream, diag: &mut Diagnostics) -> Option<Input> {
        let item: Item = match syn::parse2(tokens.clone()) {
            Ok(item) => item,
            Err(error) => {
                diag.error_at(error.span(), messages::unreadable(&error));
                return None;
            }
        };
        if let Item::Verbatim(tokens) = &item
            && let Ok(f) = syn::parse2::<syn::TraitItemFn>(tokens.clone())
        {
            diag.error(&f.sig.ident, messages::NO_BODY);
            return None;
        }
        match item {
            Item::Fn(f) => Some(Input::Function(f)),
            Item::Mod(m) if m.content.is_some() => Some(Input::Module(m)),
            Item::Mod(m) => {
                diag.error(&m, messages::MODULE_ELSEWHERE);
                None
            }
            Item::Impl(i) => Some(Input::Impl(i)),
            other => {
                diag.error(&head(&other), messages::OTHER_ITEM);
                None
            }
        }
    }
}

/// The functions of an `impl` block.
pub(crate) fn methods_of(block: &ItemImpl) -> impl Iterator<Item = &ImplItemFn> {
    block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(f) => Some(f),
        _ => None,
    })
}

/// The same, to be changed.
pub(crate) fn methods_of_mut(block: &mut ItemImpl) -> impl Iterator<Item = &mut ImplItemFn> {
    block.items.iter_mut().filter_map(|item| match item {
        ImplItem::Fn(f) => Some(f),
        _ => None,
    })
}

/// The first tokens of an item, enough to point at.
pub(crate) fn head(item: &impl ToTokens) -> proc_macro2::TokenStream {
    item.to_token_stream().into_iter().take(2).collect()
}
