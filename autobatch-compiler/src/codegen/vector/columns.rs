//! Columns, sets of lanes and levels, as the code of vector calls names them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::codegen::emitter::Emitter;
use crate::ir::{FuncId, VarId};

/// The parameters of a function that have a column.
pub(crate) fn columns<'e>(
    emitter: &'e Emitter<'_>,
    func: FuncId,
) -> impl Iterator<Item = VarId> + Clone + 'e {
    emitter.program.func(func).params.iter().copied().filter(|v| emitter.has_column(*v))
}

/// The parameters of a function that are the same for every member.
pub(crate) fn uniforms<'e>(emitter: &'e Emitter<'_>, func: FuncId) -> Vec<&'e Ident> {
    let params = emitter.program.func(func).params.iter().map(|v| emitter.program.var(*v));
    params.filter(|v| v.is_uniform()).map(|v| &v.ident).collect()
}

/// `__caller3`: a parameter where the caller has it.
pub(crate) fn argument(var: VarId) -> Ident {
    format_ident!("__caller{}", var.0, span = Span::mixed_site())
}

/// `__loop3`: the column of a variable in a loop.
pub(crate) fn work(var: VarId) -> Ident {
    format_ident!("__loop{}", var.0, span = Span::mixed_site())
}

/// `__lanes_at3`: the lanes at a program point.
pub(crate) fn set(point: u32) -> Ident {
    format_ident!("__lanes_at{}", point, span = Span::mixed_site())
}

/// The level that code for an instruction set is compiled for.
pub(crate) fn level(emitter: &Emitter<'_>, isa: &str) -> TokenStream {
    let rt = &emitter.rt;
    match isa {
        "" => quote!(#rt::vector::level()),
        isa => {
            let level = format_ident!("level_{isa}");
            quote!(#rt::vector::#level())
        }
    }
}
