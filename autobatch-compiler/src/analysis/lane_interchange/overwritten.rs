//! Arrays that a loop overwrites before anything reads them need no first value: filling one takes as many stores as the
//! loop has.

use std::slice;

use quote::ToTokens;
use syn::{Expr, ExprForLoop, Pat, RangeLimits, Stmt};

use crate::analysis::lane_interchange::plan::{Node, Scope, mentions};
use crate::ir::effects::{self, bound, variable};
use crate::ir::{VarId, VarSet};
use crate::std_models::pure;

/// The arrays that are filled with values that nobody reads.
pub fn overwritten(scope: &Scope<'_>, nodes: &[Node]) -> VarSet {
    let mut all = VarSet::new();
    for (at, node) in nodes.iter().enumerate() {
        match node {
            Node::Fill(array, _) if is_overwritten(scope, *array, &nodes[at + 1..]) => {
                all.insert(*array);
            }
            Node::Loop(_, body) => all.extend(overwritten(scope, body)),
            Node::Uniform(_) | Node::Lanes(_) | Node::Branch(_) => {}
            Node::Fill(..) | Node::Copy(..) | Node::Swap(..) => {}
        }
    }
    all
}

/// Whether the first of these nodes that mention the array is a loop that assigns all elements, one by one. No way leads out
/// of interchanged code but a panic, after which everything is computed anew.
fn is_overwritten(scope: &Scope<'_>, array: VarId, nodes: &[Node]) -> bool {
    let names = &scope.names;
    let is_mentioned = |node: &&Node| node.mentions(names).contains(&array);
    let Some(Node::Loop(head, body)) = nodes.iter().find(is_mentioned) else { return false };
    let Some(Node::Lanes(stmts)) = body.iter().find(is_mentioned) else { return false };
    if body.iter().any(Node::cuts_short) {
        return false;
    }
    let stmt = stmts.iter().find(|stmt| mentions(names, slice::from_ref(stmt)).contains(&array));
    let counter = counts(scope, head, array);
    counter.zip(stmt).is_some_and(|(counter, stmt)| assigns(scope, stmt, array, counter))
}

/// The counter of a loop that runs once for each index of the array.
fn counts(scope: &Scope<'_>, head: &ExprForLoop, array: VarId) -> Option<VarId> {
    let (Pat::Ident(_), Expr::Range(range)) = (&*head.pat, &*head.expr) else { return None };
    let (start, end) = (range.start.as_ref()?, range.end.as_ref()?);
    let [len] = &scope.arrays.get(&array)?.lengths[..] else { return None };
    let to_the_end = match pure::literal(end) {
        Some(end) => {
            let last = u64::from(matches!(range.limits, RangeLimits::Closed(_)));
            pure::literal(len) == Some(end + last)
        }
        // A constant.
        None => {
            matches!(range.limits, RangeLimits::HalfOpen(_))
                && end.to_token_stream().to_string() == len.to_token_stream().to_string()
        }
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
        && !effects::of(names, &assign.right).mentions.contains(&array)
}
