//! Structures of floats among the types of a function's variables, and how they are taken apart.
//!
//! The runtime stores them as it stores floats (`storage/plain_stores.rs`).
//!
//! **Invariant:** a pattern names all fields, or rustc refuses it. Whether a variable has the type, the runtime asks.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Type;

use crate::index::definitions::Definitions;
use crate::item::model::Function;
use crate::resolve::resolution::VariableTypes;
use crate::std_models::pure::literal;
use crate::syntax::mentions::text;

/// The most floats of a structure: the runtime knows as many.
const MOST: usize = 8;
/// How deep structures are looked into.
const DEEPEST: usize = 4;

/// A structure and how it is taken apart.
#[derive(Clone, Debug)]
pub(crate) struct FloatStructure {
    /// Its type.
    ty: Type,
    /// A pattern that binds each float.
    pattern: TokenStream,
    /// Their names.
    floats: Vec<Ident>,
}

impl ToTokens for FloatStructure {
    /// A function from it to the tuple of its floats.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let FloatStructure { ty, pattern, floats } = self;
        tokens.extend(quote!(|#pattern: #ty| (#(#floats,)*)));
    }
}

/// Structures by their types.
pub(crate) type FloatStructures = BTreeMap<String, FloatStructure>;

/// Those of a function whose variables have these types, each once.
pub(crate) fn of(function: &Function, types: &VariableTypes, definitions: &Definitions) -> FloatStructures {
    if function.may_hide_types(definitions) {
        return FloatStructures::new();
    }
    let all = function.params.iter().map(|param| &param.ty).chain(types.values());
    let found = all.filter_map(|ty| {
        let ty = definitions.plain(ty);
        definitions.record(&ty)?;
        let mut floats = Floats { definitions, kind: None, floats: Vec::new() };
        let pattern = floats.pattern(&ty, DEEPEST)?;
        Some((text(&ty), FloatStructure { ty, pattern, floats: floats.floats }))
    });
    found.collect()
}

struct Floats<'a> {
    definitions: &'a Definitions,
    /// Their type, which is the same for all.
    kind: Option<String>,
    floats: Vec<Ident>,
}

impl Floats<'_> {
    /// A pattern for a type.
    fn pattern(&mut self, ty: &Type, deep: usize) -> Option<TokenStream> {
        let ty = self.definitions.plain(ty);
        match &ty {
            Type::Array(t) => {
                let length = literal(&t.len).filter(|n| *n <= MOST as u64)?;
                let elements = (0..length).map(|_| self.pattern(&t.elem, deep));
                let elements = elements.collect::<Option<Vec<_>>>()?;
                Some(quote!([#(#elements),*]))
            }
            Type::Tuple(t) => {
                let parts = t.elems.iter().map(|ty| self.pattern(ty, deep)).collect::<Option<Vec<_>>>()?;
                Some(quote!((#(#parts,)*)))
            }
            Type::Path(_) if matches!(text(&ty).as_str(), "f32" | "f64") => {
                let same = *self.kind.get_or_insert_with(|| text(&ty)) == text(&ty);
                let float = format_ident!("__float{}", self.floats.len(), span = Span::mixed_site());
                self.floats.push(float.clone());
                (same && self.floats.len() <= MOST).then(|| quote!(#float))
            }
            _ => {
                let fields = self.definitions.record(&ty).filter(|_| deep > 0)?;
                let fields = fields.into_iter().map(|(member, ty)| {
                    let pattern = self.pattern(&ty, deep - 1)?;
                    Some(quote!(#member: #pattern))
                });
                let fields = fields.collect::<Option<Vec<_>>>()?;
                Some(quote!(#ty { #(#fields),* }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;
    use crate::ir::testing::functions;

    #[test]
    fn structures_of_one_kind_of_float_are_taken_apart() {
        let file: syn::File = parse_quote! {
            #[derive(Clone, Copy)] struct V { x: f64, y: f64 }
            #[derive(Clone, Copy)] struct Pair(V, [f64; 2]);
            #[derive(Clone, Copy)] struct Mixed { x: f64, n: u64 }
            #[derive(Clone, Copy)] struct Halves { x: f64, y: f32 }
            #[derive(Clone, Copy)] struct Many([V; 5]);
            #[derive(Clone, Copy)] struct Any<T>(T);
            struct Own { x: f64 }
        };
        let mut definitions = Definitions::default();
        definitions.add(&file.items);
        let function = functions(quote! {
            fn f(a: V, b: Pair, c: Mixed, d: Halves, e: Many, g: Any<f64>, h: Own, i: [V; 2]) -> f64 { 0.5 }
        })
        .remove(0);
        let found = of(&function, &VariableTypes::new(), &definitions);
        let functions: Vec<String> = found.values().map(|found| text(&quote!(#found))).collect();
        assert_eq!(
            functions,
            [
                "| Pair { 0 : V { x : __float0 , y : __float1 } , 1 : [__float2 , __float3] } : Pair | \
                 (__float0 , __float1 , __float2 , __float3 ,)",
                "| V { x : __float0 , y : __float1 } : V | (__float0 , __float1 ,)",
            ]
        );
    }
}
