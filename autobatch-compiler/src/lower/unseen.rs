//! Methods of other files, of which no signature is known: `f(table.lookup(k))`. What one yields borrows from its receiver, as far as
//! anyone can tell, where a reference is wanted; else it is a value.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Ident, Pat, Type, UnOp, parse_quote};

use super::chains::{is_option_method, yields_number, yields_owned};
use super::named::is_temporary;
use super::references::{certainly_owns, yields_reference};
use super::{Lowering, Suspect, lent, scan};
use crate::desugar::copies::{is_checked, is_copied_local};
use crate::desugar::iterators::is_adaptor;
use crate::desugar::runs::mentions;
use crate::desugar::terminals::is_quiet;
use crate::effects::{self, bound, variable};
use crate::ir::{VarId, VarSet};
use crate::signatures::Methods;

/// Whether a method is neither one of the file nor of the library, as far as its name says.
pub(crate) fn is_unseen(methods: &Methods, method: &Ident) -> bool {
    methods.known(method).is_none()
        && !yields_number(method)
        && !is_checked(method)
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

    /// What variables hold that are no numbers may borrow from the locals that code has been given which is not seen: a function of
    /// another crate, `let guard = watch(&kept)`, or a method of its types.
    pub(super) fn note_suspects(&mut self, vars: &VarSet, value: &Expr) {
        let vars = vars & &self.things;
        if self.cursor.is_none() || vars.is_empty() {
            return;
        }
        let mut from = VarSet::new();
        self.suspected(value, &mut from);
        for lender in from {
            let from = self.names_of(&[lender].into_iter().collect());
            let name = self.program.var(lender).ident.to_string();
            let moved =
                !self.copies.contains(&name) && !is_copied_local(&self.functions[self.current], &name);
            let suspect = |var: &VarId| Suspect { var: *var, lender, moved, from: from.clone() };
            self.suspects.extend(vars.iter().map(suspect));
        }
    }

    fn suspected(&self, value: &Expr, from: &mut VarSet) {
        match value {
            Expr::Paren(e) => self.suspected(&e.expr, from),
            Expr::Try(e) => self.suspected(&e.expr, from),
            Expr::MethodCall(e) if yields_number(&e.method) || yields_owned(self, e) => {}
            Expr::MethodCall(e) => {
                let lent = self.owner(&e.receiver).filter(|_| self.borrows_unseen(e));
                if let Some(var) = lent.filter(|var| !self.is_reference(*var)) {
                    from.insert(var);
                    // Or what the receiver borrows from.
                    let outer = self.borrowers.iter().filter(|borrower| borrower.var == var);
                    let outer = outer.flat_map(|borrower| &borrower.from);
                    from.extend(outer.filter_map(|(_, name)| self.names.get(name)));
                }
                self.suspected(&e.receiver, from);
            }
            Expr::Call(e) if is_unseen_function(&self.functions[self.current].methods, &e.func) => {
                e.args.iter().for_each(|arg| from.extend(scan::borrowed(self, arg)));
            }
            _ => {}
        }
    }

    /// Finds variables that are references by what is done with them: they are dereferenced, or given to a call that wants one. Those
    /// that are no numbers too.
    pub(super) fn find_wanted(&mut self, body: &syn::Block) {
        struct Scan<'a, 'b>(&'a Lowering<'b>, VarSet, VarSet);
        impl<'ast> Visit<'ast> for Scan<'_, '_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                let thing = match expr {
                    Expr::MethodCall(e) if !crate::lockstep::is_pure_method(&e.method) => Some(&e.receiver),
                    Expr::Index(e) => Some(&e.expr),
                    Expr::Field(e) => Some(&e.base),
                    Expr::ForLoop(e) => Some(&e.expr),
                    Expr::Reference(e) => Some(&e.expr),
                    _ => None,
                };
                self.2.extend(thing.and_then(|thing| variable(&self.0.names, thing)));
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
        let mut scan = Scan(self, VarSet::new(), VarSet::new());
        scan.visit_block(body);
        (self.wanted, self.things) = (scan.1, scan.2);
        // Or they are there for what happens when they are dropped.
        let mentioned = body.stmts.iter().flat_map(mentions).collect::<BTreeSet<_>>();
        let unmentioned = self.names.iter().filter(|(name, _)| !mentioned.contains(*name));
        self.things.extend(unmentioned.map(|(_, var)| *var));
    }

    /// Whether a pattern binds a reference, as its type or what is done with its variables says.
    pub(super) fn wants_reference(&self, pat: &Pat) -> bool {
        match pat {
            Pat::Type(t) => lent::may_borrow(&t.ty),
            _ => bound(&self.names, pat).iter().any(|var| self.wanted.contains(var)),
        }
    }
}

/// Whether a function is of another file, and none of a type that borrows nothing.
fn is_unseen_function(methods: &Methods, func: &Expr) -> bool {
    let Expr::Path(path) = func else { return false };
    let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let capital = |name: &String| name.starts_with(char::is_uppercase);
    match &names[..] {
        // `mem::take`, and what generated code calls.
        [.., of, _] if of == "mem" || names.iter().any(|name| name == "__rt") => false,
        [.., of, name] if capital(of) => {
            let of = &path.path.segments[names.len() - 2].ident;
            !capital(name)
                && !methods.has_function(name)
                && of != "Self"
                && !certainly_owns(methods, &parse_quote!(#of))
        }
        [.., name] => !capital(name) && !methods.has_function(name),
        [] => false,
    }
}

fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_))
}
