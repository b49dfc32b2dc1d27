//! Members' lists whose elements are read more than once by all lanes together: they are transposed before.

use syn::Expr;

use crate::analysis::lane_interchange::plan::{Node, Plan, Scope};
use crate::ir::VarSet;
use crate::ir::effects;
use crate::syntax::walk::{self, At};

/// Lists whose elements are read in loops in loops, at indices that are the same for all lanes.
pub fn transposed(scope: &Scope<'_>, plan: &Plan) -> VarSet {
    fn search(scope: &Scope<'_>, uniforms: &VarSet, nodes: &[Node], depth: usize, found: &mut VarSet) {
        for node in nodes {
            match node {
                Node::Loop(_, body) => search(scope, uniforms, body, depth + 1, found),
                Node::Lanes(stmts) if depth > 0 => walk::each(&stmts[..], |at| {
                    if let At::Expr(Expr::Index(e)) = at
                        && let Some(list) = effects::variable(&scope.names, &e.expr)
                        && scope.lists.contains(&list)
                        && effects::of(&scope.names, &e.index).mentions.is_subset(uniforms)
                    {
                        found.insert(list);
                    }
                }),
                _ => {}
            }
        }
    }
    let mut found = VarSet::new();
    search(scope, &plan.uniforms, &plan.nodes, 0, &mut found);
    found
}
