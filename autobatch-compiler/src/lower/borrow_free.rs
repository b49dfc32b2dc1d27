//! Locals that certainly hold no borrow of another local, and so can live in columns.
//!
//! A borrow of a local comes from `&`, from a method that takes its receiver by reference, from a closure
//! or from tokens that can't be seen through. A local is *borrow-free* if none of these stands in what it is
//! defined from or assigned, nor, transitively, in what those expressions mention.

use std::collections::BTreeMap;

use syn::{Expr, UnOp};

use crate::ir::effects::{self, Names, bound, variable};
use crate::ir::{Block, FuncId, Program, VarId, VarSet};
use crate::std_models::number_methods::is_pure_method;
use crate::syntax::mentions::bare;
use crate::syntax::walk::{self, At};

/// The borrow-free locals of `func`. Variables in `known` live in columns anyway.
pub(super) fn borrow_free(program: &Program, names: &Names, func: FuncId, known: &VarSet) -> VarSet {
    let mut defined: BTreeMap<VarId, Vec<Expr>> = BTreeMap::new();
    let mut borrowed = VarSet::new();
    let mut define = |vars: VarSet, from: &Expr| {
        vars.into_iter().for_each(|var| defined.entry(var).or_default().push(from.clone()));
    };
    let mentions = |e: &Expr| effects::of(names, e).mentions;
    for stmt in program.blocks_of(func).flat_map(Block::code) {
        walk::each(stmt, |at| match at {
            At::Local(syn::Local { pat, init: Some(init), .. }) => define(bound(names, pat), &init.expr),
            At::Expr(Expr::Assign(e)) => match variable(names, &e.left) {
                Some(var) => define(VarSet::from([var]), &e.right),
                None => define(mentions(&e.left), &e.right),
            },
            At::Expr(Expr::ForLoop(e)) => {
                // Items of shared data are no borrows of locals.
                let shared = mentions(&e.expr).iter().all(|v| program.var(*v).shared);
                define(bound(names, &e.pat), &if shared { syn::parse_quote!(()) } else { (*e.expr).clone() });
            }
            At::Expr(Expr::MethodCall(e)) if !is_pure_method(&e.method) => {
                borrowed.extend(variable(names, &e.receiver))
            }
            At::Expr(Expr::Reference(e)) if e.mutability.is_some() => borrowed.extend(mentions(&e.expr)),
            _ => {}
        });
    }
    let mut free: VarSet = defined.keys().filter(|v| !borrowed.contains(v)).copied().collect();
    loop {
        let fits =
            |e: &Expr| copies_only(e) && mentions(e).iter().all(|v| known.contains(v) || free.contains(v));
        let remaining: VarSet = free.iter().filter(|v| defined[v].iter().all(fits)).copied().collect();
        if remaining == free {
            return free;
        }
        free = remaining;
    }
}

/// Whether an expression can't make a borrow.
fn copies_only(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(_) | Expr::Path(_) => true,
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
