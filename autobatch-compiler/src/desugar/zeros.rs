//! A value of a type, for a variable that has none yet.

use syn::{Expr, Type, parse_quote};

use crate::index::definitions::{Definitions, is_open, named};
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::text;

/// A value of a type of values; of an enumeration its first variant.
pub(super) fn zero(ty: &Type, definitions: &Definitions) -> Option<Expr> {
    let ty = definitions.plain(ty);
    let all = |types: &mut dyn Iterator<Item = &Type>| -> Option<Vec<Expr>> {
        types.map(|ty| zero(ty, definitions)).collect()
    };
    Some(match &ty {
        Type::Tuple(t) => {
            let parts = all(&mut t.elems.iter())?;
            parse_quote!((#(#parts,)*))
        }
        Type::Array(t) => {
            let (element, len) = (zero(&t.elem, definitions)?, &t.len);
            parse_quote!([#element; #len])
        }
        ty if is_primitive(ty) => match text(ty).as_str() {
            "bool" => parse_quote!(false),
            "char" => parse_quote!('\0'),
            _ => parse_quote!((0u8 as #ty)),
        },
        ty if is_open(ty) => match named(ty, "__Float") {
            true => parse_quote!(0.0),
            false => parse_quote!(0),
        },
        ty => match definitions.record(ty) {
            Some(fields) => {
                let zeros = all(&mut fields.iter().map(|(_, ty)| ty))?;
                let members = fields.iter().map(|(member, _)| member);
                parse_quote!(#ty { #(#members: #zeros),* })
            }
            None => {
                let variants = definitions.variants(ty)?;
                let first = variants.first()?;
                let zeros = all(&mut first.fields.iter().map(|(_, ty)| ty))?;
                let path = first.path(ty);
                let members = first.fields.iter().map(|(member, _)| member);
                match zeros.is_empty() {
                    true => parse_quote!(#path),
                    false => parse_quote!(#path { #(#members: #zeros),* }),
                }
            }
        },
    })
}
