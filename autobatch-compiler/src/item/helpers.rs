//! Helper functions: those beside the item that its functions call, and what they do can be read.
//!
//! They are no part of the program: a call of one stays as written, and rustc finds what it calls. What is read says whether the
//! program only computes, and small ones are copied to where they are called.

use std::rc::Rc;

use proc_macro2::TokenStream;
use syn::{ImplItem, ItemImpl, Type, parse_quote};

use crate::diagnostics::sink::Diagnostics;
use crate::index::source::Source;
use crate::item::model::Function;
use crate::item::{methods, parse, selection};
use crate::syntax::annotated::methods_of;
use crate::syntax::attributes;
use crate::syntax::mentions;
use crate::syntax::walk::{self, AtMut, Next};

/// The helpers that `item` can call by their names, which is what rustc has handed over, and those of them that are generic.
pub(crate) fn of(source: Option<&Source>, item: &TokenStream) -> (Rc<[Function]>, Rc<[Function]>) {
    let written =
        source.and_then(|source| source.around(item)).into_iter().flat_map(|around| &around.functions);
    let functions = written.filter(|f| !attributes::is_primitive(&f.attrs)).filter_map(|f| {
        let mut diag = Diagnostics::default();
        let function = parse::function(&f.attrs, &f.vis, &f.sig, &f.block, None, &mut diag)?;
        diag.is_empty().then_some(function)
    });
    let (generic, plain): (Vec<Function>, Vec<Function>) = functions.partition(selection::is_generic);
    (plain.into(), generic.into())
}

/// Methods of the types beside it, operators and those of traits among them, as functions of their receivers.
pub(crate) fn methods(source: Option<&Source>, item: &TokenStream) -> Rc<[Function]> {
    let blocks = source.and_then(|source| source.around(item)).into_iter().flat_map(|around| &around.impls);
    blocks.flat_map(methods_in).filter(|f| !selection::is_generic(f)).collect()
}

pub(crate) fn methods_in(block: &ItemImpl) -> Vec<Function> {
    let Type::Path(owner) = mentions::bare_type(&block.self_ty) else { return vec![] };
    let Some(owner) = owner.path.get_ident().cloned() else { return vec![] };
    let block = with_its_types(block);
    methods_of(&block).filter_map(|f| methods::freed(&block, &owner, f)).collect()
}

/// The block with `Self::Output` written out.
fn with_its_types(block: &ItemImpl) -> ItemImpl {
    let types: Vec<(syn::Ident, Type)> = block
        .items
        .iter()
        .filter_map(|item| match item {
            ImplItem::Type(item) => Some((item.ident.clone(), item.ty.clone())),
            _ => None,
        })
        .collect();
    let mut block = block.clone();
    for (name, of) in types {
        let written: Type = parse_quote!(Self::#name);
        let written = mentions::text(&written);
        for f in block.items.iter_mut() {
            let ImplItem::Fn(f) = f else { continue };
            let put = |at: AtMut<'_>| match at {
                AtMut::Type(ty) if mentions::text(ty) == written => {
                    *ty = of.clone();
                    Next::Past
                }
                _ => Next::On,
            };
            if let syn::ReturnType::Type(_, ty) = &mut f.sig.output {
                walk::map(&mut **ty, put);
            }
        }
    }
    block
}
