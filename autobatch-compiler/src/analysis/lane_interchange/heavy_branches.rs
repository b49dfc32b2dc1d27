//! Branches so heavy that lanes which do not take them shall not pay for them: each becomes a node of its own.
//!
//! ```text
//! let d = b * b - a * c;                      lanes: let d = b * b - a * c;
//! if d >= 0.0 {                               branch, for lanes where d >= 0.0:
//!     let t = (b - d.sqrt()) / a;      ──▶        let t = (b - d.sqrt()) / a;
//!     if t < best { best = t; }                   if t < best { best = t; }
//! }
//! ```
//!
//! In one loop over the lanes both sides of an `if` would be computed for all of them.
//!
//! **Invariant:** each lane computes what it computed before, in the same order.

use syn::{Block, Expr, Lit, Stmt, UnOp, parse_quote};

use crate::analysis::lane_interchange::plan::{Branch, Node};
use crate::std_models::elementary::is_elementary;
use crate::syntax::mentions::{assignment, bare, divides, else_block, has_let};
use crate::syntax::walk::{self, At, Next};

/// What a branch has to come to: two divisions or roots, or one elementary function.
const HEAVY: u32 = 2;

/// The nodes, heavy branches apart, unless all lanes or none take them.
pub(crate) fn of_nodes(nodes: Vec<Node>, is_uniform: &dyn Fn(&Expr) -> bool) -> Vec<Node> {
    let mut all = Vec::new();
    for node in nodes {
        match node {
            Node::Lanes(stmts) => {
                let mut before = Vec::new();
                for stmt in stmts {
                    match branch(&stmt, &mut before, is_uniform) {
                        Some(branch) => all.push(Node::Branch(Box::new(branch))),
                        None => before.push(stmt),
                    }
                }
                if !before.is_empty() {
                    all.push(Node::Lanes(before));
                }
            }
            Node::Loop(head, body) => all.push(Node::Loop(head, of_nodes(body, is_uniform))),
            node => all.push(node),
        }
    }
    all
}

/// The branch that a statement is, behind some statements, which become part of it.
fn branch(stmt: &Stmt, before: &mut Vec<Stmt>, is_uniform: &dyn Fn(&Expr) -> bool) -> Option<Branch> {
    let (choice, pat) = match stmt {
        Stmt::Expr(e, _) => (e, None),
        Stmt::Local(local) => {
            (&*local.init.as_ref().filter(|init| init.diverge.is_none())?.expr, Some(&local.pat))
        }
        _ => return None,
    };
    let Expr::If(choice) = bare(choice) else { return None };
    let leaves = |at: At<'_>| {
        matches!(at, At::Expr(Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Macro(_)))
    };
    // A declaration's value changes nothing: it may be computed for all.
    let changes = |at: At<'_>| matches!(at, At::Expr(e) if assignment(e).is_some());
    let is_changing = pat.is_some() && walk::any(stmt, changes);
    if has_let(&choice.cond) || is_uniform(&choice.cond) || is_changing || walk::any(stmt, leaves) {
        return None;
    }
    let then = &choice.then_branch;
    let cond = &choice.cond;
    let not = || -> Expr { parse_quote!(!(#cond)) };
    let (condition, own, light) = match (pat, else_block(choice)) {
        (None, None) => ((**cond).clone(), then.clone(), None),
        (None, Some(otherwise)) if then.stmts.is_empty() => (not(), otherwise, None),
        (Some(_), Some(otherwise)) if is_light(&otherwise) => {
            ((**cond).clone(), then.clone(), Some(otherwise))
        }
        (Some(_), Some(otherwise)) if is_light(then) => (not(), otherwise, Some(then.clone())),
        _ => return None,
    };
    let declared = pat.cloned().zip(light);
    (weight(&own) >= HEAVY).then(|| Branch { before: std::mem::take(before), condition, own, declared })
}

/// Whether every lane may have this value: it is there, and costs nothing.
fn is_light(block: &Block) -> bool {
    fn is_value(e: &Expr) -> bool {
        match bare(e) {
            Expr::Lit(_) | Expr::Path(_) => true,
            Expr::Unary(e) => matches!(e.op, UnOp::Neg(_)) && matches!(bare(&e.expr), Expr::Lit(_)),
            Expr::Cast(e) => matches!(bare(&e.expr), Expr::Lit(_)),
            Expr::Tuple(e) => e.elems.iter().all(is_value),
            _ => false,
        }
    }
    matches!(&block.stmts[..], [Stmt::Expr(e, None)] if is_value(e))
}

/// How much of it vectors would wait for.
fn weight(block: &Block) -> u32 {
    let mut weight = 0;
    walk::each(block, |at| {
        weight += match at {
            At::Expr(Expr::Binary(e)) if divides(&e.op) && !is_integer(&e.right) => 1,
            At::Expr(Expr::MethodCall(e)) if e.method == "sqrt" || e.method == "recip" => 1,
            At::Expr(Expr::MethodCall(e)) if is_elementary(&e.method.to_string()) => HEAVY,
            _ => 0,
        };
        Next::On
    });
    weight
}

/// Whether it is a literal, by which LLVM divides without a division.
fn is_integer(divisor: &Expr) -> bool {
    matches!(bare(divisor), Expr::Lit(e) if matches!(e.lit, Lit::Int(_)))
}
