//! How an enumeration is a tuple: the number of the variant, and the fields of all variants. Those of other variants are zeros.

use proc_macro2::Span;
use syn::{Expr, Ident, LitInt, Member, Type, parse_quote};

use crate::desugar::zeros::zero;
use crate::index::definitions::{Variant, is_open, type_argument};
use crate::resolve::types::Types;
use crate::syntax::mentions::{bare, spell_out_fields, text};

/// An enumeration whose variables become tuples.
pub(super) struct Enumeration {
    pub(super) ty: Type,
    pub(super) variants: Vec<Variant>,
    /// The type of the number.
    number: Type,
    /// The type of the tuples, if it is known.
    pub(super) tuple: Option<Type>,
}

impl Enumeration {
    /// The enumeration of that type, if it is one of values.
    pub(super) fn of(ty: &Type, number: &Type, types: &Types<'_>) -> Option<Enumeration> {
        let (ty, definitions) = (types.plain(ty), types.definitions);
        let variants = definitions.variants(&ty)?;
        let fields: Vec<&Type> = variants.iter().flat_map(|v| v.fields.iter().map(|(_, ty)| ty)).collect();
        if variants.is_empty() || !fields.iter().all(|ty| may_be_value(ty, types)) {
            return None;
        }
        let is_known = fields.iter().all(|ty| definitions.is_value(ty));
        let tuple = is_known.then(|| parse_quote!((#number, #(#fields,)*)));
        Some(Enumeration { number: number.clone(), tuple, variants, ty })
    }

    pub(super) fn code(&self, place: usize) -> Expr {
        let number = LitInt::new(&format!("{place}{}", text(&self.number)), Span::mixed_site());
        parse_quote!(#number)
    }

    /// The place of the variant that a path names.
    pub(super) fn variant(&self, path: &syn::Path, types: &Types<'_>) -> Option<usize> {
        let segments: Vec<_> = path.segments.iter().collect();
        let (last, before) = segments.split_last()?;
        let fits = match (before, type_argument(&self.ty, 0)) {
            ([], Some(_)) => true,
            ([.., owner], Some(_)) => owner.ident == "Option",
            ([owner], None) if owner.arguments.is_none() => {
                let owner = &owner.ident;
                types.definitions.same(&types.plain(&parse_quote!(#owner)), &self.ty)
            }
            _ => false,
        };
        self.variants.iter().position(|variant| variant.name == last.ident).filter(|_| fits)
    }

    /// The variant that an expression makes, and its fields in their order, which is the one in which they are written.
    pub(super) fn made(&self, expr: &Expr, types: &Types<'_>) -> Option<(usize, Vec<Expr>)> {
        match bare(expr) {
            Expr::Path(path) if path.qself.is_none() => {
                let variant = self.variant(&path.path, types)?;
                self.variants[variant].fields.is_empty().then(|| (variant, vec![]))
            }
            Expr::Call(e) => {
                let Expr::Path(path) = &*e.func else { return None };
                let variant = self.variant(&path.path, types).filter(|_| path.qself.is_none())?;
                let fits = self.variants[variant].fields.len() == e.args.len();
                fits.then(|| (variant, e.args.iter().cloned().collect()))
            }
            Expr::Struct(e) if e.rest.is_none() && e.qself.is_none() => {
                let (variant, mut e) = (self.variant(&e.path, types)?, e.clone());
                spell_out_fields(&mut e);
                let members = self.variants[variant].fields.iter().map(|(member, _)| member);
                let in_order = members.eq(e.fields.iter().map(|field| &field.member));
                in_order.then(|| (variant, e.fields.iter().map(|field| field.expr.clone()).collect()))
            }
            _ => None,
        }
    }

    /// Where the fields of a variant begin in a tuple.
    pub(super) fn first_field(&self, variant: usize) -> usize {
        1 + self.variants[..variant].iter().map(|v| v.fields.len()).sum::<usize>()
    }

    /// The tuple of a variant with these fields.
    pub(super) fn tuple_of(&self, variant: usize, fields: &[Expr], types: &Types<'_>) -> Option<Expr> {
        let code = self.code(variant);
        let mut parts = vec![code];
        for (nth, other) in self.variants.iter().enumerate() {
            match nth == variant {
                true => parts.extend(fields.iter().cloned()),
                false => {
                    for (_, ty) in &other.fields {
                        parts.push(zero(ty, types.definitions)?);
                    }
                }
            }
        }
        Some(parse_quote!((#(#parts,)*)))
    }

    /// The enumeration's value that a variable stands for.
    pub(super) fn whole(&self, variable: &Ident) -> Expr {
        let value = |(nth, variant): (usize, &Variant)| -> Expr {
            let (path, first) = (variant.path(&self.ty), self.first_field(nth));
            let field = |at: usize| -> Expr {
                let index = syn::Index::from(first + at);
                parse_quote!(#variable.#index)
            };
            let fields = (0..variant.fields.len()).map(field);
            match variant.fields.first() {
                None => parse_quote!(#path),
                Some((Member::Unnamed(_), _)) => parse_quote!(#path(#(#fields),*)),
                Some(_) => {
                    let members = variant.fields.iter().map(|(member, _)| member);
                    parse_quote!(#path { #(#members: #fields),* })
                }
            }
        };
        let mut values: Vec<Expr> = self.variants.iter().enumerate().map(value).collect();
        let last = values.pop();
        let choose = |otherwise: Option<Expr>, (nth, value): (usize, Expr)| {
            let code = self.code(nth);
            otherwise.map(|otherwise| -> Expr {
                parse_quote!(if #variable.0 == #code { #value } else { #otherwise })
            })
        };
        let whole = values.into_iter().enumerate().rev().fold(last, choose);
        whole.map_or_else(|| parse_quote!(#variable), |whole| parse_quote!((#whole)))
    }

    /// The tuple of what an expression yields that says nothing itself.
    pub(super) fn matched(&self, value: &Expr, types: &Types<'_>) -> Option<Expr> {
        let mut arms: Vec<syn::Arm> = Vec::new();
        for (nth, variant) in self.variants.iter().enumerate() {
            let path = variant.path(&self.ty);
            let names: Vec<Ident> = (0..variant.fields.len())
                .map(|at| Ident::new(&format!("__field_{at}"), Span::mixed_site()))
                .collect();
            let fields: Vec<Expr> = names.iter().map(|name| parse_quote!(#name)).collect();
            let tuple = self.tuple_of(nth, &fields, types)?;
            let members = variant.fields.iter().map(|(member, _)| member);
            arms.push(match variant.fields.is_empty() {
                true => parse_quote!(#path => #tuple,),
                false => parse_quote!(#path { #(#members: #names),* } => #tuple,),
            });
        }
        Some(parse_quote!(match #value { #(#arms)* }))
    }
}

/// Whether a type is one of values, some of which may be numbers that literals leave open.
pub(super) fn may_be_value(ty: &Type, types: &Types<'_>) -> bool {
    match ty {
        Type::Tuple(t) => t.elems.iter().all(|ty| may_be_value(ty, types)),
        ty => is_open(ty) || types.definitions.is_value(ty),
    }
}
