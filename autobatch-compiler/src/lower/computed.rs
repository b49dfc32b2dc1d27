//! Locals that certainly hold no borrow of another local, and so can live in columns.
//!
//! A borrow of a local comes from `&`, from a method that takes its receiver by reference, from a closure
//! or from tokens that can't be seen through. A local is *computed* if none of these stands in what it is
//! defined from or assigned, nor, transitively, in what those expressions mention.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};
use syn::{Expr, UnOp};

use crate::effects::{self, Names, bound, variable};
use crate::ir::{FuncId, Program, VarId, VarSet};
use crate::lockstep::is_pure_method;

/// The computed locals of `func`. Variables in `known` live in columns anyway.
pub(super) fn computed(program: &Program, names: &Names, func: FuncId, known: &VarSet) -> VarSet {
    let mut uses = Uses { program, names, defined: BTreeMap::new(), lent: VarSet::new() };
    for block in program.blocks.iter().filter(|b| b.func == func) {
        block.ops.iter().flat_map(|op| &op.code).for_each(|stmt| uses.visit_stmt(stmt));
    }
    let mut computed: VarSet = uses.defined.keys().filter(|v| !uses.lent.contains(v)).copied().collect();
    loop {
        let fits = |e: &Expr| {
            let mentions = effects::of_expr(names, e).mentions;
            copies_only(e) && mentions.iter().all(|v| known.contains(v) || computed.contains(v))
        };
        let kept: VarSet = computed.iter().filter(|v| uses.defined[v].iter().all(fits)).copied().collect();
        if kept == computed {
            return computed;
        }
        computed = kept;
    }
}

/// What variables are defined from, and those that are lent or may be changed by others.
struct Uses<'a> {
    program: &'a Program,
    names: &'a Names,
    defined: BTreeMap<VarId, Vec<Expr>>,
    lent: VarSet,
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            for var in bound(self.names, &local.pat) {
                self.defined.entry(var).or_default().push((*init.expr).clone());
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(e) => match variable(self.names, &e.left) {
                Some(var) => self.defined.entry(var).or_default().push((*e.right).clone()),
                None => {
                    for var in effects::of_expr(self.names, &e.left).mentions {
                        self.defined.entry(var).or_default().push((*e.right).clone());
                    }
                }
            },
            Expr::ForLoop(e) => {
                let mentions = effects::of_expr(self.names, &e.expr).mentions;
                // Items of shared data are no borrows of locals.
                let shared = mentions.iter().all(|v| self.program.var(*v).shared);
                let from = if shared { syn::parse_quote!(()) } else { (*e.expr).clone() };
                for var in bound(self.names, &e.pat) {
                    self.defined.entry(var).or_default().push(from.clone());
                }
            }
            Expr::MethodCall(e) if !is_pure_method(&e.method) => {
                self.lent.extend(variable(self.names, &e.receiver))
            }
            Expr::Reference(e) if e.mutability.is_some() => {
                self.lent.extend(effects::of_expr(self.names, &e.expr).mentions);
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

/// Whether an expression can't make a borrow.
fn copies_only(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(e) => copies_only(&e.expr),
        Expr::Group(e) => copies_only(&e.expr),
        Expr::Unary(e) => !matches!(e.op, UnOp::Deref(_)) && copies_only(&e.expr),
        Expr::Binary(e) => copies_only(&e.left) && copies_only(&e.right),
        Expr::Cast(e) => copies_only(&e.expr),
        Expr::Field(e) => copies_only(&e.base),
        Expr::Index(e) => copies_only(&e.expr) && copies_only(&e.index),
        Expr::Call(e) => copies_only(&e.func) && e.args.iter().all(copies_only),
        Expr::MethodCall(e) => {
            (is_pure_method(&e.method) || e.method == "len")
                && copies_only(&e.receiver)
                && e.args.iter().all(copies_only)
        }
        Expr::Range(e) => e.start.iter().chain(&e.end).all(|e| copies_only(e)),
        Expr::Tuple(e) => e.elems.iter().all(copies_only),
        Expr::Array(e) => e.elems.iter().all(copies_only),
        Expr::Repeat(e) => copies_only(&e.expr),
        Expr::Struct(e) => e.rest.is_none() && e.fields.iter().all(|f| copies_only(&f.expr)),
        Expr::If(e) => {
            let tail =
                |block: &syn::Block| matches!(&block.stmts[..], [syn::Stmt::Expr(e, None)] if copies_only(e));
            copies_only(&e.cond)
                && tail(&e.then_branch)
                && e.else_branch.as_ref().is_some_and(|(_, e)| match &**e {
                    Expr::Block(b) => tail(&b.block),
                    other => copies_only(other),
                })
        }
        _ => false,
    }
}
