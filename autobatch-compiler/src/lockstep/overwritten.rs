//! Arrays that a loop overwrites before anything reads them need no first value: filling one takes as many stores as the
//! loop has.

use quote::ToTokens;
use syn::{Expr, ExprForLoop, Pat, RangeLimits, Stmt};

use super::{Node, Scope, mentions, pure};
use crate::effects::{self, bound, variable};
use crate::ir::VarId;

/// Marks the arrays whose first values nobody reads.
pub(super) fn mark(scope: &Scope<'_>, nodes: &mut [Node]) {
    let mut rest = nodes;
    while let Some((node, behind)) = rest.split_first_mut() {
        match node {
            Node::Fill { var, overwritten, .. } => *overwritten = is_overwritten(scope, *var, behind),
            Node::Loop(_, body) => mark(scope, body),
            Node::Uniform(_) | Node::Lanes(_) => {}
        }
        rest = behind;
    }
}

/// Whether the first of these nodes that mention the array is a loop that assigns all elements, one by one. No way leads out
/// of code in lockstep but a panic, after which everything is computed anew.
fn is_overwritten(scope: &Scope<'_>, array: VarId, nodes: &[Node]) -> bool {
    match nodes.iter().find(|node| node_mentions(scope, node, array)) {
        Some(Node::Loop(head, body)) => {
            let Some(at) = counts(scope, head, array) else { return false };
            match body.iter().find(|node| node_mentions(scope, node, array)) {
                Some(Node::Lanes(stmts)) => {
                    let first = stmts.iter().find(|stmt| stmt_mentions(scope, stmt, array));
                    first.is_some_and(|stmt| assigns(scope, stmt, array, at))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// The counter of a loop that runs once for each index of the array.
fn counts(scope: &Scope<'_>, head: &ExprForLoop, array: VarId) -> Option<VarId> {
    let (Pat::Ident(_), Expr::Range(range)) = (&*head.pat, &*head.expr) else { return None };
    let (start, end) = (range.start.as_ref()?, range.end.as_ref()?);
    let len = &scope.arrays.get(&array)?.len;
    let to_the_end = match (&range.limits, pure::literal(end), pure::literal(len)) {
        (RangeLimits::HalfOpen(_), Some(end), Some(len)) => end == len,
        (RangeLimits::Closed(_), Some(end), Some(len)) => end + 1 == len,
        // A constant.
        (RangeLimits::HalfOpen(_), ..) => {
            end.to_token_stream().to_string() == len.to_token_stream().to_string()
        }
        (RangeLimits::Closed(_), ..) => false,
    };
    let all = pure::literal(start) == Some(0) && to_the_end;
    bound(&scope.names, &head.pat).into_iter().next().filter(|_| all)
}

/// Whether a statement is `array[at] = value;`, where the value does not mention the array.
fn assigns(scope: &Scope<'_>, stmt: &Stmt, array: VarId, at: VarId) -> bool {
    let Stmt::Expr(Expr::Assign(assign), _) = stmt else { return false };
    let Expr::Index(place) = &*assign.left else { return false };
    let names = &scope.names;
    variable(names, &place.expr) == Some(array)
        && variable(names, &place.index) == Some(at)
        && !effects::of_expr(names, &assign.right).mentions.contains(&array)
}

fn stmt_mentions(scope: &Scope<'_>, stmt: &Stmt, array: VarId) -> bool {
    mentions(&scope.names, std::slice::from_ref(stmt)).contains(&array)
}

fn node_mentions(scope: &Scope<'_>, node: &Node, array: VarId) -> bool {
    match node {
        Node::Uniform(stmt) => stmt_mentions(scope, stmt, array),
        Node::Lanes(stmts) => mentions(&scope.names, stmts).contains(&array),
        Node::Fill { var, value, .. } => {
            *var == array || effects::of_expr(&scope.names, value).mentions.contains(&array)
        }
        Node::Loop(head, body) => {
            effects::of_expr(&scope.names, &head.expr).mentions.contains(&array)
                || body.iter().any(|node| node_mentions(scope, node, array))
        }
    }
}
