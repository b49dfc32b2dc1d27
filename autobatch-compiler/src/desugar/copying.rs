//! Closures among a method's arguments that capture only what is copied and never changed: they may as well own their copies, and
//! then borrow nothing. `(0..n).map(|i| i * step)` can be kept across loops and calls as `(0..n).map(move |i| i * step)`.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprClosure, Ident, Type};

use super::copies::{Copies, is_copied_local};
use super::runs::mentioned_in;
use crate::input::{Function, Param};
use crate::lockstep::is_pure_method;

/// Makes such closures of a function's body own what they capture.
pub(super) fn own(function: &mut Function, self_type: Option<&Ident>) {
    let copies = Copies::of(function);
    let shared = |name: &String| {
        function
            .params
            .iter()
            .any(|p| p.ident == *name && matches!(&p.ty, Type::Reference(r) if r.mutability.is_none()))
    };
    let receiver = |name: &String| {
        let of_self =
            |p: &Param| p.ident == *name && matches!(&p.ty, Type::Path(ty) if ty.path.is_ident("Self"));
        self_type.is_some_and(|ty| function.methods.makes_copied(&ty.to_string()))
            && function.params.iter().any(of_self)
    };
    let (copied, others): (BTreeSet<String>, BTreeSet<String>) =
        function.bindings.keys().cloned().partition(|name| {
            let copied =
                copies.contains(name) || shared(name) || is_copied_local(function, name) || receiver(name);
            !function.bindings[name].mutable && copied
        });
    if !copied.is_empty() {
        let copied = copied.into_iter().filter(|name| !shared(name)).collect();
        Own { copied, others }.visit_block_mut(&mut function.body);
    }
}

/// Whether a reference to one of `copied` may be made, which would refer to the closure's own copy.
fn refers(copied: &BTreeSet<String>, body: &Expr) -> bool {
    struct Scan<'a>(&'a BTreeSet<String>, bool);
    impl Scan<'_> {
        fn place(&mut self, expr: &Expr) {
            match expr {
                Expr::Field(e) => self.place(&e.base),
                Expr::Index(e) => self.place(&e.expr),
                Expr::Paren(e) => self.place(&e.expr),
                Expr::Path(p) => {
                    self.1 |= p.path.get_ident().is_some_and(|name| self.0.contains(&name.to_string()));
                }
                _ => {}
            }
        }
    }
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Reference(e) => self.place(&e.expr),
                Expr::MethodCall(e) if !is_pure_method(&e.method) => self.place(&e.receiver),
                Expr::Macro(_) => self.1 = true,
                _ => {}
            }
            visit::visit_expr(self, expr);
        }
    }
    let mut scan = Scan(copied, false);
    scan.visit_expr(body);
    scan.1
}

struct Own {
    /// The variables that are copied, references aside.
    copied: BTreeSet<String>,
    /// The variables that are not copied, or change.
    others: BTreeSet<String>,
}

impl Own {
    fn closure(&self, closure: &mut ExprClosure) {
        struct Bound(BTreeSet<String>);
        impl<'ast> Visit<'ast> for Bound {
            fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
                self.0.insert(p.ident.to_string());
                visit::visit_pat_ident(self, p);
            }
        }
        let mut bound = Bound(BTreeSet::new());
        bound.visit_expr_closure(closure);
        let mentioned = mentioned_in(&closure.body);
        if closure.capture.is_none()
            && mentioned.iter().all(|name| bound.0.contains(name) || !self.others.contains(name))
            && !refers(&self.copied, &closure.body)
        {
            closure.capture = Some(Default::default());
        }
    }
}

impl VisitMut for Own {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::MethodCall(call) = expr {
            for arg in &mut call.args {
                if let Expr::Closure(closure) = arg {
                    self.closure(closure);
                }
            }
        }
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
