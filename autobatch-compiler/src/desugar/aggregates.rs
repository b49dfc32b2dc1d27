//! The variables that scalar replacement takes apart: those of `Copy` structures, of tuples and of a few numbers in an array, of which nothing refers
//! to the whole.
//!
//! **Invariant:** a variable in it is read and written as a value, or by fields.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use syn::{Block, Expr, Ident, Member, Pat, Type, UnOp, parse_quote};

use crate::desugar::short_arrays::Array;
use crate::index::definitions::{Definitions, is_open};
use crate::item::model::{Function, Param, Passing};
use crate::resolve::types::{Scopes, Types};
use crate::std_models::pure::{is_primitive, literal};
use crate::syntax::mentions::{bare, idents, is_compound, is_variable, name, text, untyped, words};
use crate::syntax::walk::{self, At, Next};

/// The most fields of a structure that is taken apart.
pub(super) const MOST_FIELDS: usize = 16;
/// The most elements of a state's array that is kept in a variable.
const MOST_ELEMENTS: u64 = 8;

/// A variable that is taken apart.
pub(super) struct Aggregate {
    pub(super) ty: Type,
    pub(super) fields: Vec<Field>,
    pub(super) origin: Origin,
}

/// Where a structure comes from.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Origin {
    Local,
    /// A parameter, which stays.
    Param,
    /// What a parameter refers to, which gets its fields back.
    State,
}

/// A field's variable.
pub(super) struct Field {
    pub(super) member: Member,
    pub(super) ty: Type,
    pub(super) variable: Ident,
}

impl Aggregate {
    /// A part of a value of its type.
    pub(super) fn part(&self, of: &Expr, field: &Field) -> Expr {
        let member = &field.member;
        match (&self.ty, member) {
            (Type::Array(_), Member::Unnamed(nth)) => {
                let at = nth.index as usize;
                parse_quote!(#of[#at])
            }
            _ => parse_quote!(#of.#member),
        }
    }

    /// The element at a literal index of an array.
    pub(super) fn element(&self, index: &Expr) -> Option<&Field> {
        let at = literal(bare(index)).filter(|_| matches!(self.ty, Type::Array(_)))?;
        self.fields.get(usize::try_from(at).ok()?)
    }

    pub(super) fn field(&self, member: &Member) -> Option<&Field> {
        self.fields.iter().find(|field| field.member == *member)
    }

    /// The structure or tuple, made of its fields.
    pub(super) fn whole(&self) -> Expr {
        let ty = &self.ty;
        let variables = self.fields.iter().map(|field| &field.variable);
        match ty {
            Type::Tuple(_) => return parse_quote!((#(#variables,)*)),
            Type::Array(_) => return parse_quote!([#(#variables),*]),
            _ => {}
        }
        let parts = self
            .fields
            .iter()
            .map(|Field { member, variable, .. }| -> syn::FieldValue { parse_quote!(#member: #variable) });
        parse_quote!((#ty { #(#parts),* }))
    }
}

/// The variables of a function that can be taken apart.
pub(super) fn aggregates(
    function: &Function,
    body: &Block,
    scopes: &Scopes,
    types: &Types<'_>,
    arrays: &BTreeMap<String, Array>,
    done: &BTreeSet<String>,
) -> BTreeMap<String, Aggregate> {
    let definitions = types.definitions;
    let known = |name: &str| Some(types.plain(scopes.iter().find_map(|scope| scope.get(name))?.as_ref()?));
    let mut uses = Uses { arrays, declared: BTreeSet::new(), whole: BTreeSet::new() };
    uses.block(body);
    let in_place = |name: &str, passing: Passing| {
        let is_it = |p: &Param| p.ident == name && p.pattern.is_none() && p.passing == passing;
        function.params.iter().any(is_it)
    };
    let leaves = leaves_within_loops(body);
    let origin = |name: &str| match () {
        () if in_place(name, Passing::Each) => Some(Origin::Param),
        () if in_place(name, Passing::State) => {
            (!leaves && !function.bindings[name].mutable && only_fields(body, name)).then_some(Origin::State)
        }
        () => uses.declared.contains(name).then_some(Origin::Local),
    };
    let structure = |name: &str, origin: Origin| match (origin, known(name)?) {
        (Origin::State, Type::Reference(r)) => {
            let fields = definitions.structure(&r.elem)?;
            let small = fields.iter().all(|(_, ty)| is_small(&definitions.plain(ty)));
            small.then(|| ((*r.elem).clone(), fields))
        }
        (Origin::State, _) => None,
        (_, Type::Array(_)) => {
            let (elem, len) = arrays.get(name)?;
            let fields = (0..*len).map(|nth| (Member::Unnamed(nth.into()), elem.clone()));
            Some((parse_quote!([#elem; #len]), fields.collect()))
        }
        (_, ty) => match parts_of_tuple(&ty, definitions) {
            Some(parts) => {
                let fields = parts.iter().enumerate();
                let fields = fields.map(|(nth, ty)| (Member::Unnamed(nth.into()), ty.clone())).collect();
                Some((parse_quote!((#(#parts,)*)), fields))
            }
            None => {
                let fields = definitions.record(&ty)?;
                definitions.is_value(&ty).then_some((ty, fields))
            }
        },
    };
    let mut taken: BTreeSet<String> = function.bindings.keys().cloned().collect();
    let mut found = BTreeMap::new();
    for name in function.bindings.keys() {
        if uses.whole.contains(name) || done.contains(name) {
            continue;
        }
        let Some(origin) = origin(name) else { continue };
        let Some((ty, members)) = structure(name, origin) else { continue };
        let is_hidden = function.hides(&ty) || members.iter().any(|(_, ty)| function.hides(ty));
        if members.len() > MOST_FIELDS || is_hidden {
            continue;
        }
        let fields = members.into_iter().map(|(member, ty)| {
            let suffix = match &member {
                Member::Named(field) => field.to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            let base = format!("{}_{}", name.trim_start_matches("r#"), suffix.trim_start_matches("r#"));
            let numbered = (2..).map(|n| format!("{base}_{n}"));
            let free = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name));
            let free = free.unwrap_or(base);
            taken.insert(free.clone());
            Field { member, ty, variable: Ident::new(&free, Span::call_site()) }
        });
        found.insert(name.clone(), Aggregate { ty, fields: fields.collect(), origin });
    }
    found
}

/// The types of the parts of a tuple of values; of numbers whose type is decided elsewhere it is left open.
pub(super) fn parts_of_tuple(ty: &Type, definitions: &Definitions) -> Option<Vec<Type>> {
    let Type::Tuple(tuple) = ty else { return None };
    let part = |ty: &Type| match ty {
        ty if is_open(ty) => Some(parse_quote!(_)),
        ty => definitions.is_value(ty).then(|| ty.clone()),
    };
    tuple.elems.iter().map(part).collect::<Option<Vec<Type>>>().filter(|parts| !parts.is_empty())
}

/// A number, or a few.
fn is_small(ty: &Type) -> bool {
    match ty {
        Type::Array(t) => is_small(&t.elem) && literal(&t.len).is_some_and(|n| n <= MOST_ELEMENTS),
        ty => is_primitive(ty),
    }
}

/// Whether only fields of a variable are used.
fn only_fields(body: &Block, variable: &str) -> bool {
    let (mut all, mut of_fields) = (0, 0);
    walk::each(body, |at| match at {
        At::Expr(Expr::Field(e)) => of_fields += usize::from(is_variable(&e.base, variable)),
        At::Expr(path @ Expr::Path(_)) => all += usize::from(is_variable(path, variable)),
        _ => {}
    });
    all == of_fields
}

/// Whether the function is left from within a loop, or by `?`. A macro that leaves keeps it from being a block program.
pub(super) fn leaves_within_loops(body: &Block) -> bool {
    walk::any(body, |at| match at {
        At::Expr(Expr::Try(_)) => Next::Found,
        At::Expr(Expr::Closure(_)) => Next::Past,
        At::Expr(e @ (Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_))) => {
            match walk::any(e, |at| matches!(at, At::Expr(Expr::Return(_)))) {
                true => Next::Found,
                false => Next::On,
            }
        }
        _ => Next::On,
    })
}

/// How variables are used.
struct Uses<'a> {
    /// Arrays that may be taken apart.
    arrays: &'a BTreeMap<String, Array>,
    /// Those that a statement declares.
    declared: BTreeSet<String>,
    /// Those that something may refer to as a whole, or that are not read and written as values.
    whole: BTreeSet<String>,
}

impl Uses<'_> {
    fn block(&mut self, block: &Block) {
        walk::each(block, |at| match at {
            At::Local(local) => {
                let ident = match untyped(&local.pat) {
                    Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => p.ident.to_string(),
                    _ => return Next::On,
                };
                let diverges = local.init.as_ref().is_some_and(|init| init.diverge.is_some());
                if local.attrs.is_empty() && !diverges {
                    self.declared.insert(ident);
                }
                Next::On
            }
            At::Expr(expr) => self.expr(expr),
            At::Macro(mac) => {
                self.whole.extend(idents(mac.tokens.clone()).iter().map(ToString::to_string));
                // Also in format strings.
                self.whole.extend(words(&text(&mac.tokens)).map(String::from));
                Next::Past
            }
            _ => Next::On,
        });
    }

    fn expr(&mut self, expr: &Expr) -> Next {
        let whole = match expr {
            Expr::Reference(e) => Some(&*e.expr),
            Expr::RawAddr(e) => Some(&*e.expr),
            Expr::MethodCall(e) => Some(&*e.receiver),
            Expr::Index(e) if self.arrays.contains_key(&name(bare(&e.expr)).unwrap_or_default()) => {
                (!matches!(bare(&e.index), Expr::Lit(_))).then_some(&*e.expr)
            }
            Expr::Index(e) => Some(&*e.expr),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => Some(&*e.expr),
            Expr::Binary(e) if is_compound(&e.op) => Some(&*e.left),
            Expr::Closure(e) => {
                walk::each(&*e.body, |at| {
                    if let At::Expr(expr) = at {
                        self.whole.extend(name(expr));
                    }
                });
                None
            }
            _ => None,
        };
        self.whole.extend(whole.and_then(|whole| name(bare(whole))));
        Next::On
    }
}
