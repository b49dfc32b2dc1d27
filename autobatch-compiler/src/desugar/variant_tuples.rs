//! How an enumeration is a tuple: the number of the variant, and the fields of all variants. Those of other variants are zeros. Fields that are
//! structures or tuples are taken apart.
//!
//! ```text
//! Option<Hit>, Hit { t: f64, n: u32 }   ──▶   (u64, f64, u32)
//! Some(Hit { t, n: 3 })                 ──▶   (1, t, 3)
//! ```

use proc_macro2::Span;
use syn::{Expr, Ident, LitInt, Member, Stmt, Type, parse_quote};

use crate::desugar::aggregates::MOST_FIELDS;
use crate::desugar::parameters::is_place;
use crate::desugar::zeros::zero;
use crate::index::definitions::{Variant, is_open, type_argument};
use crate::resolve::types::Types;
use crate::syntax::mentions::{bare, spell_out_fields, text};

/// An enumeration whose variables become tuples.
pub(super) struct Enumeration {
    pub(super) ty: Type,
    pub(super) variants: Vec<Variant>,
    /// What the fields of the variants are made of.
    parts: Vec<Vec<Parts>>,
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
        let of_variant = |v: &Variant| v.fields.iter().map(|(_, ty)| Parts::of(ty, types)).collect();
        let mut parts: Vec<Vec<Parts>> = variants.iter().map(of_variant).collect();
        // As many as a tuple has that is taken apart.
        if 1 + parts.iter().flatten().map(|parts| parts.leaves().len()).sum::<usize>() > MOST_FIELDS {
            let whole = |v: &Variant| v.fields.iter().map(|(_, ty)| Parts::Value(ty.clone())).collect();
            parts = variants.iter().map(whole).collect();
        }
        let all = parts.iter().flatten().flat_map(Parts::leaves);
        let tuple = is_known.then(|| parse_quote!((#number, #(#all,)*)));
        Some(Enumeration { number: number.clone(), tuple, parts, variants, ty })
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

    /// The value of a variant's field in the tuple that a variable is.
    pub(super) fn field(&self, variable: &Ident, variant: usize, field: usize) -> Expr {
        let before = self.parts[..variant].iter().flatten().chain(&self.parts[variant][..field]);
        let mut next = 1 + before.map(|parts| parts.leaves().len()).sum::<usize>();
        self.parts[variant][field].made(&mut || {
            let index = syn::Index::from(next);
            next += 1;
            parse_quote!(#variable.#index)
        })
    }

    /// The tuple of a variant with these fields.
    pub(super) fn tuple_of(&self, variant: usize, fields: &[Expr], types: &Types<'_>) -> Option<Expr> {
        let mut own = vec![];
        match self.parts[variant].iter().zip(fields).all(|(parts, value)| parts.split(value, &mut own)) {
            true => self.tuple_with(variant, vec![], own, types),
            false => self.tuple_of_kept(variant, fields, types),
        }
    }

    /// The same; the fields are in variables first, so that they are evaluated in their order, and have their types.
    fn tuple_of_kept(&self, variant: usize, fields: &[Expr], types: &Types<'_>) -> Option<Expr> {
        let (mut own, mut lets) = (vec![], vec![]);
        for (nth, (parts, value)) in self.parts[variant].iter().zip(fields).enumerate() {
            let (name, (_, ty)) = (numbered(nth), &self.variants[variant].fields[nth]);
            let ty: Type = if types.definitions.is_value(ty) { ty.clone() } else { parse_quote!(_) };
            lets.push(parse_quote!(let #name: #ty = #value;));
            parts.split(&parse_quote!(#name), &mut own);
        }
        self.tuple_with(variant, lets, own, types)
    }

    fn tuple_with(
        &self,
        variant: usize,
        lets: Vec<Stmt>,
        mut own: Vec<Expr>,
        types: &Types<'_>,
    ) -> Option<Expr> {
        let mut all = vec![self.code(variant)];
        for (nth, parts) in self.parts.iter().enumerate() {
            match nth == variant {
                true => all.append(&mut own),
                false => {
                    for ty in parts.iter().flat_map(Parts::leaves) {
                        all.push(zero(ty, types.definitions)?);
                    }
                }
            }
        }
        Some(match lets.is_empty() {
            true => parse_quote!((#(#all,)*)),
            false => parse_quote!({ #(#lets)* (#(#all,)*) }),
        })
    }

    /// The enumeration's value that a variable stands for.
    pub(super) fn whole(&self, variable: &Ident) -> Expr {
        let value = |(nth, variant): (usize, &Variant)| -> Expr {
            let path = variant.path(&self.ty);
            let fields = (0..variant.fields.len()).map(|at| self.field(variable, nth, at));
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
            let names: Vec<Ident> = (0..variant.fields.len()).map(numbered).collect();
            let fields: Vec<Expr> = names.iter().map(|name| parse_quote!(#name)).collect();
            let are_taken_apart = self.parts[nth].iter().any(|parts| matches!(parts, Parts::Several(..)));
            let tuple = match are_taken_apart {
                true => self.tuple_of_kept(nth, &fields, types)?,
                false => self.tuple_of(nth, &fields, types)?,
            };
            let members = variant.fields.iter().map(|(member, _)| member);
            arms.push(match variant.fields.is_empty() {
                true => parse_quote!(#path => #tuple,),
                false => parse_quote!(#path { #(#members: #names),* } => #tuple,),
            });
        }
        Some(parse_quote!(match #value { #(#arms)* }))
    }
}

/// What a field is made of.
enum Parts {
    Value(Type),
    /// The fields of a structure, or the elements of a tuple.
    Several(Type, Vec<(Member, Parts)>),
}

impl Parts {
    fn of(ty: &Type, types: &Types<'_>) -> Parts {
        let plain = types.plain(ty);
        let members = match &plain {
            Type::Tuple(t) => {
                let elems = t.elems.iter().enumerate();
                Some(elems.map(|(nth, ty)| (Member::Unnamed(nth.into()), ty.clone())).collect())
            }
            ty => types.definitions.record(ty),
        };
        match members.filter(|members: &Vec<_>| (1..=MOST_FIELDS).contains(&members.len())) {
            Some(members) => {
                let parts = members.into_iter().map(|(member, ty)| (member, Parts::of(&ty, types)));
                Parts::Several(plain, parts.collect())
            }
            None => Parts::Value(ty.clone()),
        }
    }

    fn leaves(&self) -> Vec<&Type> {
        match self {
            Parts::Value(ty) => vec![ty],
            Parts::Several(_, parts) => parts.iter().flat_map(|(_, parts)| parts.leaves()).collect(),
        }
    }

    /// The value, made of its leaves.
    fn made(&self, next: &mut impl FnMut() -> Expr) -> Expr {
        match self {
            Parts::Value(_) => next(),
            Parts::Several(ty, parts) => {
                let values: Vec<Expr> = parts.iter().map(|(_, parts)| parts.made(next)).collect();
                let members = parts.iter().map(|(member, _)| member);
                match ty {
                    Type::Tuple(_) => parse_quote!((#(#values,)*)),
                    ty => parse_quote!((#ty { #(#members: #values),* })),
                }
            }
        }
    }

    /// Adds the leaves of a value, unless that is to be kept in a variable first.
    fn split(&self, value: &Expr, leaves: &mut Vec<Expr>) -> bool {
        let Parts::Several(_, parts) = self else {
            leaves.push(value.clone());
            return true;
        };
        let members = || parts.iter().map(|(member, _)| member);
        let is_split = match bare(value) {
            Expr::Struct(e) => e.rest.is_none() && e.fields.iter().map(|field| &field.member).eq(members()),
            Expr::Tuple(e) => e.elems.len() == parts.len(),
            value => is_place(value),
        };
        is_split && parts.iter().all(|(member, parts)| parts.split(&part_of(value, member), leaves))
    }
}

/// A part of a value: what that says, if it is written out.
pub(super) fn part_of(value: &Expr, member: &Member) -> Expr {
    let written = match (bare(value), member) {
        (Expr::Struct(e), member) => {
            e.fields.iter().find(|field| field.member == *member).map(|field| &field.expr)
        }
        (Expr::Tuple(e), Member::Unnamed(nth)) => e.elems.iter().nth(nth.index as usize),
        _ => None,
    };
    written.cloned().unwrap_or_else(|| parse_quote!(#value.#member))
}

/// The name of a variant's field.
fn numbered(field: usize) -> Ident {
    Ident::new(&format!("__field_{field}"), Span::mixed_site())
}

/// Whether a type is one of values, some of which may be numbers that literals leave open.
pub(super) fn may_be_value(ty: &Type, types: &Types<'_>) -> bool {
    match ty {
        Type::Tuple(t) => t.elems.iter().all(|ty| may_be_value(ty, types)),
        ty => is_open(ty) || types.definitions.is_value(ty),
    }
}
