//! Parts of a local that are moved out of it: what is left can be borrowed, but can't move to a place as a whole.

use syn::visit::{self, Visit};
use syn::{Expr, Member, Pat, Stmt};

use crate::lockstep::is_primitive;
use crate::mentions::is_variable;
use crate::signatures::Methods;

/// Whether one of the statements may move a part out of a local: takes a field by value that neither the types in the item's
/// file nor an annotation show to be copied.
pub(super) fn is_parted(stmts: &[Stmt], name: &str, methods: &Methods) -> bool {
    let mut scan = Scan { name, methods, found: false };
    stmts.iter().for_each(|stmt| scan.visit_stmt(stmt));
    scan.found
}

struct Scan<'a> {
    name: &'a str,
    methods: &'a Methods,
    found: bool,
}

impl Scan<'_> {
    /// Whether an expression is the local or a part of it.
    fn is_place(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Field(e) => self.is_place(&e.base),
            Expr::Paren(e) => self.is_place(&e.expr),
            other => is_variable(other, self.name),
        }
    }

    /// Looks into what only reads or borrows, if it is a place.
    fn looked_at(&mut self, expr: &Expr) {
        if !self.is_place(expr) {
            self.visit_expr(expr);
        }
    }

    fn taken(&mut self, member: &Member) {
        self.found |= match member {
            Member::Named(name) => self.methods.may_be_moved(name),
            Member::Unnamed(_) => true,
        };
    }

    /// What a pattern takes out of the local.
    fn matched(&mut self, pat: &Pat, value: &Expr) {
        let Pat::Struct(pat) = pat else { return };
        if !self.is_place(value) {
            return;
        }
        for field in &pat.fields {
            match &*field.pat {
                Pat::Ident(p) if p.by_ref.is_none() => self.taken(&field.member),
                inner => self.matched(inner, value),
            }
        }
    }
}

impl<'ast> Visit<'ast> for Scan<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Field(e) if self.is_place(&e.base) => return self.taken(&e.member),
            Expr::Reference(e) => return self.looked_at(&e.expr),
            Expr::Cast(e) => return self.looked_at(&e.expr),
            Expr::Unary(e) => return self.looked_at(&e.expr),
            Expr::Binary(e) => {
                self.looked_at(&e.left);
                return self.looked_at(&e.right);
            }
            Expr::Assign(e) => {
                self.looked_at(&e.left);
                return self.visit_expr(&e.right);
            }
            Expr::Index(e) => {
                self.looked_at(&e.expr);
                return self.visit_expr(&e.index);
            }
            Expr::MethodCall(e) if !e.method.to_string().starts_with("into_") => {
                self.looked_at(&e.receiver);
                return e.args.iter().for_each(|arg| self.visit_expr(arg));
            }
            Expr::Match(e) if self.is_place(&e.expr) => {
                for arm in &e.arms {
                    self.matched(&arm.pat, &e.expr);
                    self.visit_arm(arm);
                }
                return;
            }
            Expr::Let(e) if self.is_place(&e.expr) => return self.matched(&e.pat, &e.expr),
            Expr::Closure(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let annotated = matches!(&local.pat, Pat::Type(t) if is_primitive(&t.ty));
        if let Some(init) = &local.init {
            self.matched(&local.pat, &init.expr);
            if annotated && self.is_place(&init.expr) {
                return;
            }
        }
        visit::visit_local(self, local);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
