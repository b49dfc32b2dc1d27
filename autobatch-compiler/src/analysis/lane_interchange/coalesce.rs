//! Copy coalescing: an array that only becomes another is that other from the beginning. A strip's copy is that of 64 arrays.
//!
//! ```text
//! let mut c = [[0.0; 4]; 4];                    p = [[0.0; 4]; 4];
//! for i in 0..4 { … c[i][j] += … }     ──▶      for i in 0..4 { … p[i][j] += … }
//! p = c;
//! ```

use syn::Type;

use crate::analysis::lane_interchange::plan::{Node, Scope};
use crate::ir::effects::variable;
use crate::ir::{VarId, VarSet};
use crate::syntax::walk::{self, AtMut, Code};

/// One variable that becomes another.
struct Renaming<'a, 'p> {
    scope: &'a Scope<'p>,
    old: VarId,
    new: VarId,
}

/// Coalesces what the nodes of a loop's body copy. `lets` are the variables that its statements declare, `types` are those that are written.
pub(super) fn coalesce(scope: &Scope<'_>, nodes: &mut Vec<Node>, lets: &VarSet, types: &mut [(VarId, Type)]) {
    while let Some((at, first, old, new)) = candidate(scope, nodes, lets) {
        nodes.remove(at);
        let renaming = Renaming { scope, old, new };
        // Either all behind the copy, or all before it.
        let renamed = if first >= at { &mut nodes[at..] } else { &mut nodes[first..at] };
        renamed.iter_mut().for_each(|node| renaming.node(node));
        types.iter_mut().for_each(|(var, _)| renaming.var(var));
    }
}

/// The position of a copy, from where on one variable becomes which other.
fn candidate(scope: &Scope<'_>, nodes: &[Node], lets: &VarSet) -> Option<(usize, usize, VarId, VarId)> {
    let find =
        |nodes: &[Node], var: VarId| nodes.iter().position(|node| node.mentions(&scope.names).contains(&var));
    nodes.iter().enumerate().find_map(|(at, node)| {
        let Node::Copy(to, from) = *node else { return None };
        let first = find(nodes, from)?;
        if !lets.contains(&from) || first == at || find(&nodes[at + 1..], from).is_some() {
            return None;
        }
        if lets.contains(&to) && find(nodes, to) == Some(at) {
            return Some((at, at, to, from));
        }
        // Its old value is neither looked at meanwhile nor kept by a round that is cut short.
        let before = &nodes[first..at];
        let is_dead = find(before, to).is_none() && !before.iter().any(Node::cuts_short);
        is_dead.then_some((at, first, from, to))
    })
}

impl Renaming<'_, '_> {
    fn var(&self, var: &mut VarId) {
        if *var == self.old {
            *var = self.new;
        }
    }

    fn code(&self, code: &mut (impl Code + ?Sized)) {
        walk::map(code, |at| {
            if let AtMut::Expr(expr) = at
                && variable(&self.scope.names, expr) == Some(self.old)
            {
                let ident = &self.scope.program.var(self.new).ident;
                *expr = syn::parse_quote!(#ident);
            }
        });
    }

    fn node(&self, node: &mut Node) {
        match node {
            Node::Uniform(stmt) => self.code(stmt),
            Node::Lanes(stmts) => self.code(&mut stmts[..]),
            Node::Branch(_) => unreachable!("branches come apart when the plan is made"),
            Node::Fill(var, value) => {
                self.var(var);
                self.code(value);
            }
            Node::Copy(one, other) | Node::Swap(one, other) => {
                self.var(one);
                self.var(other);
            }
            Node::Loop(head, body) => {
                self.code(&mut head.expr);
                body.iter_mut().for_each(|node| self.node(node));
            }
        }
    }
}
