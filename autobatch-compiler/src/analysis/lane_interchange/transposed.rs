//! Members' lists whose elements are read by all lanes together: they are transposed before.

use syn::{Expr, Stmt};

use crate::analysis::lane_interchange::plan::{Node, Plan, Scope};
use crate::analysis::lane_interchange::rounds::steps;
use crate::ir::VarSet;
use crate::ir::effects::{self, bound, variable};
use crate::syntax::walk::{self, At};

/// Lists whose elements are read at indices that are the same for all lanes: in loops in loops, so that each is read more than once; or in a
/// loop that goes as far as the list, so that each is read.
pub fn transposed(scope: &Scope<'_>, plan: &Plan) -> VarSet {
    let mut search = Search { scope, plan, found: VarSet::new() };
    search.nodes(&plan.nodes, 0, None);
    search.found
}

struct Search<'a, 'p> {
    scope: &'a Scope<'p>,
    plan: &'a Plan,
    found: VarSet,
}

impl Search<'_, '_> {
    /// Looks at nodes in so many loops, the innermost of which goes to `end`, if its rounds are counted.
    fn nodes(&mut self, nodes: &[Node], depth: usize, end: Option<&Expr>) {
        for node in nodes {
            match node {
                Node::Loop(head, body) => {
                    let end = steps(&head.expr).and_then(|steps| steps.range.end.as_deref());
                    self.nodes(body, depth + 1, end);
                }
                Node::Lanes(stmts) if depth > 0 => walk::each(&stmts[..], |at| {
                    if let At::Expr(Expr::Index(e)) = at
                        && let Some(list) = variable(&self.scope.names, &e.expr)
                        && self.scope.lists.contains(&list)
                        && effects::of(&self.scope.names, &e.index).mentions.is_subset(&self.plan.uniforms)
                        && (depth > 1 || end.is_some_and(|end| self.is_length(end, &e.expr)))
                    {
                        self.found.insert(list);
                    }
                }),
                _ => {}
            }
        }
    }

    /// Whether a variable is the length of a list, give or take something.
    fn is_length(&self, end: &Expr, list: &Expr) -> bool {
        let Some(end) = variable(&self.scope.names, end) else { return false };
        let list = variable(&self.scope.names, list);
        let is_length = |at: At<'_>| match at {
            At::Expr(Expr::MethodCall(e)) => {
                e.method == "len" && variable(&self.scope.names, &e.receiver) == list
            }
            _ => false,
        };
        self.plan.nodes.iter().any(|node| {
            let Node::Lanes(stmts) = node else { return false };
            stmts.iter().any(|stmt| match stmt {
                Stmt::Local(local) => {
                    bound(&self.scope.names, &local.pat).contains(&end) && walk::any(stmt, is_length)
                }
                _ => false,
            })
        })
    }
}
