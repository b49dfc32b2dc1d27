//! Methods of other files, of which no signature is known: `f(table.lookup(k))`. What one yields borrows from its receiver, as far as
//! anyone can tell, where a reference is wanted; else it is a value.

use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Ident, Pat, Type, UnOp};

use super::chains::{is_option_method, yields_number, yields_owned};
use super::named::is_temporary;
use super::references::yields_reference;
use super::{Lowering, lent, scan};
use crate::desugar::iterators::is_adaptor;
use crate::desugar::terminals::is_quiet;
use crate::effects::{self, bound, variable};
use crate::ir::{VarId, VarSet};
use crate::signatures::Methods;

/// Whether a method is neither one of the file nor of the library, as far as its name says.
pub(crate) fn is_unseen(methods: &Methods, method: &Ident) -> bool {
    methods.known(method).is_none()
        && !yields_number(method)
        && !yields_reference(method)
        && !is_adaptor(method)
        && !is_option_method(method)
        && !crate::lockstep::is_pure_method(method)
        && !method.to_string().starts_with("into_")
}

impl Lowering<'_> {
    fn borrows_unseen(&self, call: &ExprMethodCall) -> bool {
        is_unseen(&self.functions[self.current].methods, &call.method) && !yields_owned(self, call)
    }

    /// The local that a value which is wanted as a reference may borrow from by such a method; whether it may be changed.
    pub(super) fn unseen_lender(&self, value: &Expr) -> Option<(VarId, bool)> {
        match value {
            Expr::Paren(e) => self.unseen_lender(&e.expr),
            Expr::Try(e) => self.unseen_lender(&e.expr),
            Expr::MethodCall(e) => {
                let lent = self.owner(&e.receiver).filter(|var| self.owns_target(*var));
                match lent.filter(|_| self.borrows_unseen(e)) {
                    Some(var) => Some((var, self.program.var(var).mutable)),
                    None => self.unseen_lender(&e.receiver),
                }
            }
            _ => None,
        }
    }

    /// Whether such a method may put what it borrows somewhere else too: into one of its arguments, where that is more than a number.
    pub(super) fn keeps_elsewhere(&self, value: &Expr) -> bool {
        let number = |var: &VarId| self.copies.contains(&self.program.var(*var).ident.to_string());
        match value {
            Expr::Paren(e) => self.keeps_elsewhere(&e.expr),
            Expr::Try(e) => self.keeps_elsewhere(&e.expr),
            Expr::MethodCall(e) => {
                let mut args = e.args.iter();
                let looked_at = |var: &VarId| number(var) || self.is_reference(*var);
                args.any(|arg| !effects::of_expr(&self.names, arg).mentions.iter().all(looked_at))
                    || self.keeps_elsewhere(&e.receiver)
            }
            _ => false,
        }
    }

    /// The temporaries that such a value may borrow from: by such a method, or by a function that gets references to them. Whether
    /// one can be made before all else. Not if several such methods are called, any of which may take what the one before yields; then a
    /// temporary that is made of references is left alone, because it may be what hands those on.
    pub(super) fn unseen_temporaries<'e>(&self, value: &'e mut Expr) -> Vec<(&'e mut Expr, bool)> {
        let methods = &self.functions[self.current].methods;
        match value {
            Expr::Paren(e) => self.unseen_temporaries(&mut e.expr),
            Expr::Try(e) => self.unseen_temporaries(&mut e.expr),
            Expr::MethodCall(e) => {
                let lends = self.borrows_unseen(e);
                if lends && is_temporary(methods, &e.receiver) {
                    return vec![(&mut *e.receiver, true)];
                }
                let through = effects::of_expr(&self.names, &e.receiver).mentions;
                let outside = through.iter().any(|var| self.is_reference(*var));
                let mut found = self.unseen_temporaries(&mut e.receiver);
                if lends && outside {
                    found.clear();
                }
                found.iter_mut().for_each(|(_, first)| *first &= !lends);
                found
            }
            Expr::Call(e) => {
                let mut first = true;
                let mut found = Vec::new();
                for arg in &mut e.args {
                    let quiet = is_quiet(arg);
                    if let Expr::Reference(r) = arg
                        && is_temporary(methods, &r.expr)
                    {
                        found.push((&mut *r.expr, first));
                    }
                    first &= quiet;
                }
                found
            }
            _ => vec![],
        }
    }

    /// Finds variables that are references by what is done with them: they are dereferenced, or given to a call that wants one.
    pub(super) fn find_wanted(&mut self, body: &syn::Block) {
        struct Scan<'a, 'b>(&'a Lowering<'b>, VarSet);
        impl<'ast> Visit<'ast> for Scan<'_, '_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match expr {
                    Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                        self.1.extend(variable(&self.0.names, &e.expr));
                    }
                    Expr::Call(e) => {
                        if let Some(callee) = scan::called_path(self.0, e) {
                            let params = &self.0.functions[self.0.source_of(callee)].params;
                            let wanted =
                                e.args.iter().zip(params).filter(|(_, param)| is_reference(&param.ty));
                            self.1.extend(wanted.filter_map(|(arg, _)| variable(&self.0.names, arg)));
                        }
                    }
                    _ => {}
                }
                visit::visit_expr(self, expr);
            }
            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        let mut scan = Scan(self, VarSet::new());
        scan.visit_block(body);
        self.wanted = scan.1;
    }

    /// Whether a pattern binds a reference, as its type or what is done with its variables says.
    pub(super) fn wants_reference(&self, pat: &Pat) -> bool {
        match pat {
            Pat::Type(t) => lent::may_borrow(&t.ty),
            _ => bound(&self.names, pat).iter().any(|var| self.wanted.contains(var)),
        }
    }
}

fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_))
}
