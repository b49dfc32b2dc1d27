//! Which locals are numbers, or tuples and arrays of numbers, as far as the code shows: a mention of one is a copy.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, Pat, Type};

use crate::input::Function;
use crate::lockstep::{is_primitive, is_truth};
use crate::mentions::{self, bound_by_ref};

impl Copies {
    /// What is known of a function's locals.
    pub(crate) fn of(function: &Function) -> Copies {
        let params = function.params.iter().filter(|p| is_copied_type(&p.ty) && p.pattern.is_none());
        let mut copies = Copies { all: params.map(|p| p.ident.to_string()).collect(), ..Copies::default() };
        copies.visit_block(&function.body);
        copies
    }
}

/// Whether all values that a local of the function has are copied where it is mentioned: numbers, tuples and arrays of them, types of
/// the file that are `Copy`.
pub(crate) fn is_copied_local(function: &Function, name: &str) -> bool {
    struct Values<'a> {
        function: &'a Function,
        name: &'a str,
        copied: Option<bool>,
    }
    impl Values<'_> {
        fn note(&mut self, copied: bool) {
            self.copied = Some(copied && self.copied != Some(false));
        }

        /// What is made of a type's name, or the value of another local.
        fn is_copied_value(&self, value: &Expr) -> bool {
            let of_type = |path: &syn::Path| {
                let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
                let is_type = |name: &String| name.starts_with(char::is_uppercase);
                let (last, owner) = (names.next().filter(is_type), names.next().filter(is_type));
                owner.or(last).is_some_and(|name| self.function.methods.makes_copied(&name))
            };
            match value {
                Expr::Path(p) => match p.path.get_ident() {
                    Some(other) if other != self.name => is_copied_local(self.function, &other.to_string()),
                    Some(_) => false,
                    None => of_type(&p.path),
                },
                Expr::Struct(e) => of_type(&e.path),
                Expr::Call(e) => matches!(&*e.func, Expr::Path(p) if of_type(&p.path)),
                Expr::Paren(e) => self.is_copied_value(&e.expr),
                _ => false,
            }
        }

        fn is_copied(&self, ty: &Type) -> bool {
            is_made_of(ty, &|ty| match ty {
                Type::Reference(r) => r.mutability.is_none(),
                other => is_primitive(other) || self.function.methods.is_copied(other),
            })
        }
    }
    impl<'ast> Visit<'ast> for Values<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            let (pat, ty) = match &local.pat {
                Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
                pat => (pat, None),
            };
            match pat {
                Pat::Ident(p) if p.ident == self.name && p.by_ref.is_none() && p.subpat.is_none() => {
                    let made = || local.init.as_ref().is_some_and(|init| self.is_copied_value(&init.expr));
                    let copied = ty.map_or_else(made, |ty| self.is_copied(ty));
                    self.note(copied);
                    if let Some(init) = &local.init {
                        self.visit_local_init(init);
                    }
                }
                _ => visit::visit_local(self, local),
            }
        }
        // Bound without a type.
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            if p.ident == self.name {
                self.note(false);
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut values = Values { function, name, copied: None };
    for param in function.params.iter().filter(|p| p.pattern.is_none() && p.ident == name) {
        let copied = values.is_copied(&param.ty);
        values.note(copied);
    }
    values.visit_block(&function.body);
    values.copied == Some(true)
}

/// Whether an operator with one number yields a number: of `+`, `-`, `*` and `/` with a vector that can't be said.
fn is_of_bits(op: &BinOp) -> bool {
    use BinOp::{BitAnd, BitOr, BitXor, Rem, Shl, Shr};
    matches!(op, BitAnd(_) | BitOr(_) | BitXor(_) | Rem(_) | Shl(_) | Shr(_))
}

/// Whether a method of a number yields one in an `Option` or a tuple.
pub(crate) fn is_checked(method: &syn::Ident) -> bool {
    let name = method.to_string();
    name.starts_with("checked_") || name.starts_with("overflowing_")
}

fn is_copied_type(ty: &Type) -> bool {
    is_made_of(ty, &is_primitive)
}

/// Whether a type is one that is `known`, or made of such by tuples and arrays.
fn is_made_of(ty: &Type, known: &dyn Fn(&Type) -> bool) -> bool {
    match ty {
        Type::Array(t) => is_made_of(&t.elem, known),
        Type::Tuple(t) => t.elems.iter().all(|ty| is_made_of(ty, known)),
        Type::Paren(t) => is_made_of(&t.elem, known),
        other => known(other),
    }
}

/// Whether what a `match` chooses by is a number: a pattern says so.
pub(super) fn is_number_choice(e: &syn::ExprMatch) -> bool {
    fn says_so(pat: &Pat) -> bool {
        match pat {
            Pat::Lit(p) => is_number(&p.lit),
            Pat::Range(_) => true,
            Pat::Or(p) => p.cases.iter().any(says_so),
            Pat::Paren(p) => says_so(&p.pat),
            Pat::Guard(p) => says_so(&p.pat),
            Pat::Ident(p) => p.subpat.as_ref().is_some_and(|(_, pat)| says_so(pat)),
            _ => false,
        }
    }
    e.arms.iter().any(|arm| says_so(&arm.pat))
}

/// Whether a value is taken out of a place: a field, an element, what a reference refers to.
pub(super) fn is_part_of_place(value: &Expr) -> bool {
    match value {
        Expr::Field(_) | Expr::Index(_) => true,
        Expr::Unary(e) => matches!(e.op, syn::UnOp::Deref(_)),
        Expr::Paren(e) => is_part_of_place(&e.expr),
        Expr::Group(e) => is_part_of_place(&e.expr),
        _ => false,
    }
}

/// Whether a literal is a number, or the like.
fn is_number(lit: &Lit) -> bool {
    !matches!(lit, Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_))
}

/// The names of such locals.
#[derive(Default)]
pub(crate) struct Copies {
    all: BTreeSet<String>,
    /// Locals whose value has been taken out of a place.
    taken: BTreeSet<String>,
}

impl Copies {
    /// Whether the local of this name is one.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.all.contains(name)
    }

    /// Whether an expression has such a value.
    pub(crate) fn is_copied(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(e) => is_number(&e.lit),
            Expr::Path(p) => match p.path.get_ident() {
                Some(ident) => self.all.contains(&ident.to_string()),
                // `u32::MAX`
                None => {
                    p.path.segments.len() == 2 && {
                        let of = &p.path.segments[0].ident;
                        is_primitive(&syn::parse_quote!(#of))
                    }
                }
            },
            Expr::Paren(e) => self.is_copied(&e.expr),
            Expr::Unary(e) => !matches!(e.op, syn::UnOp::Deref(_)) && self.is_copied(&e.expr),
            Expr::Cast(e) => is_copied_type(&e.ty),
            Expr::Binary(e) => {
                let (left, right) = (self.is_copied(&e.left), self.is_copied(&e.right));
                is_truth(&e.op) || (left && right) || (is_of_bits(&e.op) && (left || right))
            }
            Expr::Tuple(e) => e.elems.iter().all(|e| self.is_copied(e)),
            Expr::Array(e) => e.elems.iter().all(|e| self.is_copied(e)),
            Expr::Repeat(e) => self.is_copied(&e.expr),
            Expr::Index(e) => self.is_copied(&e.expr),
            Expr::MethodCall(e) => {
                e.method == "len"
                    || (self.is_copied(&e.receiver)
                        && e.args.iter().all(|e| self.is_copied(e))
                        && (crate::lockstep::is_pure_method(&e.method) || is_checked(&e.method)))
            }
            _ => false,
        }
    }
}

impl Copies {
    /// Notes what a pattern takes out of a value that is copied.
    fn note(&mut self, pat: &Pat) {
        let by_ref = bound_by_ref(pat);
        let taken = mentions::names(pat).into_iter().filter(|name| !by_ref.contains(&name));
        self.all.extend(taken.map(|name| name.to_string()));
    }
}

impl<'ast> Visit<'ast> for Copies {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        let annotated = matches!(&local.pat, Pat::Type(t) if is_copied_type(&t.ty));
        if annotated || local.init.as_ref().is_some_and(|init| self.is_copied(&init.expr)) {
            self.note(&local.pat);
        }
        if let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
            && is_part_of_place(&init.expr)
        {
            self.taken.insert(p.ident.to_string());
        }
    }
    fn visit_expr_let(&mut self, e: &'ast syn::ExprLet) {
        visit::visit_expr_let(self, e);
        if self.is_copied(&e.expr) {
            self.note(&e.pat);
        }
    }
    fn visit_expr_match(&mut self, e: &'ast syn::ExprMatch) {
        if let Expr::Path(p) = &*e.expr
            && let Some(name) = p.path.get_ident().map(ToString::to_string)
            && self.taken.contains(&name)
            && is_number_choice(e)
        {
            self.all.insert(name);
        }
        if self.is_copied(&e.expr) {
            e.arms.iter().for_each(|arm| self.note(&arm.pat));
        }
        visit::visit_expr_match(self, e);
    }
    fn visit_expr_for_loop(&mut self, e: &'ast syn::ExprForLoop) {
        if let Expr::Range(range) = &*e.expr
            && range.start.iter().chain(&range.end).all(|end| self.is_copied(end))
        {
            self.note(&e.pat);
        }
        visit::visit_expr_for_loop(self, e);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
