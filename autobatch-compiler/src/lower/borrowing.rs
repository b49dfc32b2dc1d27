//! Which method calls yield something that borrows from their receiver.

use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall};

use super::Lowering;
use super::scan::is_owned_local;
use crate::effects::variable;
use crate::resolve;
use crate::signatures::{Method, Takes};

/// Whether a method plainly borrows from the local that it is called on.
pub(super) fn starts_borrow(lower: &Lowering<'_>, call: &ExprMethodCall) -> bool {
    borrowing(lower, call).is_some()
}

/// Whether an expression has such a method that takes the local mutably.
pub(super) fn borrows_mutably(lower: &Lowering<'_>, expr: &Expr) -> bool {
    struct Scan<'a, 'b>(&'a Lowering<'b>, bool);
    impl<'ast> Visit<'ast> for Scan<'_, '_> {
        fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
            self.1 |= borrowing(self.0, call).is_some_and(|method| method.takes == Some(Takes::Mut));
            visit::visit_expr_method_call(self, call);
        }
    }
    let mut scan = Scan(lower, false);
    scan.visit_expr(expr);
    scan.1
}

fn borrowing(lower: &Lowering<'_>, call: &ExprMethodCall) -> Option<Method> {
    if !is_owned_local(lower, &call.receiver) {
        return None;
    }
    let function = &lower.functions[lower.current];
    let methods = &function.methods;
    let receiver = variable(&lower.names, &call.receiver);
    let on_self = receiver.is_some_and(|var| resolve::is_self(&lower.program.var(var).ident));
    let own = methods.of(&call.method);
    let known = match function.is_own(&call.method, receiver.and_then(|var| lower.type_of(var))) {
        Some(true) => own,
        Some(false) => methods.of_libraries(&call.method),
        None => own.filter(|method| on_self || method.borrows).or_else(|| methods.of_libraries(&call.method)),
    };
    known.filter(|method| method.borrows)
}
