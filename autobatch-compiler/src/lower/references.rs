//! Which locals are references to data outside the activation, and which borrow a local.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Pat, Type};

use super::{Lowering, scan};
use crate::effects;
use crate::ir::VarId;

impl Lowering<'_> {
    /// Whether a variable certainly is a reference to something outside this activation.
    pub(super) fn is_reference(&self, var: VarId) -> bool {
        self.references.contains(&var)
    }

    /// Keeps track of which locals are references to data outside the activation, and of those that
    /// borrow a local.
    pub(super) fn note_references(&mut self, pat: &Pat, init: &Expr) {
        let binds = effects::bound(&self.names, pat);
        if scan::plainly_borrows_local(self, init) {
            let span = init.span();
            self.borrowers.extend(binds.into_iter().map(|var| (var, span)));
        } else if is_plain_reference(pat, init) {
            self.references.extend(binds);
        }
    }

    /// Finds the references of a body before it is lowered, because calls are judged by their arguments.
    pub(super) fn find_references(&mut self, body: &syn::Block) {
        struct Bindings<'ast>(Vec<(&'ast Pat, &'ast Expr, bool)>);
        impl<'ast> Visit<'ast> for Bindings<'ast> {
            fn visit_local(&mut self, local: &'ast syn::Local) {
                if let Some(init) = &local.init {
                    // What a refutable pattern binds is a part of the value.
                    self.0.push((&local.pat, &init.expr, init.diverge.is_some()));
                }
                visit::visit_local(self, local);
            }
            fn visit_expr_let(&mut self, e: &'ast syn::ExprLet) {
                self.0.push((&e.pat, &e.expr, true));
                visit::visit_expr_let(self, e);
            }
            fn visit_expr_for_loop(&mut self, e: &'ast syn::ExprForLoop) {
                self.0.push((&e.pat, &e.expr, true));
                visit::visit_expr_for_loop(self, e);
            }
            fn visit_expr_match(&mut self, e: &'ast syn::ExprMatch) {
                self.0.extend(e.arms.iter().map(|arm| (&arm.pat, &*e.expr, true)));
                visit::visit_expr_match(self, e);
            }
            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        let mut bindings = Bindings(Vec::new());
        bindings.visit_block(body);
        for (pat, value, part) in bindings.0 {
            if part {
                self.note_pattern(pat, value);
            } else if is_plain_reference(pat, value) && !scan::plainly_borrows_local(self, value) {
                let binds = effects::bound(&self.names, pat);
                self.references.extend(binds);
            }
        }
    }

    /// Bindings of a pattern matched against something reached through a reference are references.
    pub(super) fn note_pattern(&mut self, pat: &Pat, scrutinee: &Expr) {
        let through = effects::of_expr(&self.names, scrutinee).mentions;
        if !through.is_empty() && through.iter().all(|var| self.is_reference(*var)) {
            let binds = effects::bound(&self.names, pat);
            self.references.extend(binds);
        }
    }
}

/// Whether a `let` plainly binds a shared reference.
fn is_plain_reference(pat: &Pat, init: &Expr) -> bool {
    matches!(pat, Pat::Type(t) if is_shared_reference(&t.ty))
        || matches!(init, Expr::Reference(r) if r.mutability.is_none())
}

/// `&T`: copied freely. (A `&mut` is a value that must not be moved while something borrows from it.)
pub(super) fn is_shared_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(r) if r.mutability.is_none())
}
