//! Which locals are a `&mut`, as far as the code shows.

use syn::visit::{self, Visit};
use syn::{Expr, Pat, Type};

use crate::input::Function;
use crate::mentions::{self, is_part_of, is_variable};
use crate::signatures::{Methods, Takes};

/// Whether a local is defined as a `&mut`, or something is changed through it though it is not `mut`.
pub(super) fn is_exclusive(function: &Function, name: &str) -> bool {
    let methods = &function.methods;
    let mut scan = Scan { name, methods, defined: false, assigned: false, handed: false, changed: false };
    scan.visit_block(&function.body);
    let mutable = function.bindings.get(name).is_none_or(|binding| binding.mutable);
    scan.defined || (!mutable && (scan.assigned || (scan.handed && scan.changed)))
}

struct Scan<'a> {
    name: &'a str,
    methods: &'a Methods,
    /// Its definition says it.
    defined: bool,
    /// A part of it is assigned to.
    assigned: bool,
    /// It is a part of what may be a `&mut`.
    handed: bool,
    /// A method that changes its receiver is called on it or a part of it.
    changed: bool,
}

impl Scan<'_> {
    fn bound(&mut self, pat: &Pat, value: &Expr) {
        self.handed |= mentions::names(pat).iter().any(|ident| ident == self.name) && makes_exclusive(value);
    }
}

impl<'ast> Visit<'ast> for Scan<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let exclusive = |ty: &Type| matches!(ty, Type::Reference(r) if r.mutability.is_some());
        let (pat, annotated) = match &local.pat {
            Pat::Type(t) => (&*t.pat, exclusive(&t.ty)),
            other => (other, false),
        };
        if let Some(init) = &local.init {
            self.bound(pat, &init.expr);
            self.defined |= matches!(pat, Pat::Ident(p) if p.ident == self.name)
                && (annotated || matches!(&*init.expr, Expr::Reference(r) if r.mutability.is_some()));
        }
        visit::visit_local(self, local);
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Let(e) => self.bound(&e.pat, &e.expr),
            Expr::Match(e) => e.arms.iter().for_each(|arm| self.bound(&arm.pat, &e.expr)),
            Expr::ForLoop(e) => self.bound(&e.pat, &e.expr),
            Expr::Assign(e) => {
                self.assigned |= !is_variable(&e.left, self.name) && is_part_of(&e.left, self.name)
            }
            Expr::Binary(e) if crate::lockstep::is_compound(&e.op) => {
                self.assigned |= !is_variable(&e.left, self.name) && is_part_of(&e.left, self.name);
            }
            Expr::MethodCall(e) => {
                let changes = self.methods.known(&e.method).is_some_and(|m| m.takes == Some(Takes::Mut));
                self.changed |= changes && is_part_of(&e.receiver, self.name);
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a value may be, or hold, a `&mut`, as its text says.
fn makes_exclusive(value: &Expr) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= match expr {
                Expr::Reference(e) => e.mutability.is_some(),
                Expr::MethodCall(e) => e.method.to_string().ends_with("_mut"),
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
    }
    let mut scan = Scan(false);
    scan.visit_expr(value);
    scan.0
}
