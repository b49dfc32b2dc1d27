//! Guards of locals are mentioned where their block ends (see [`crate::guards`]).

use syn::{Block, Ident, Stmt, parse_quote};

use super::{Lowering, lent};
use crate::effects;
use crate::guards;
use crate::ir::{VarId, VarSet};

/// What may be a guard.
pub(super) struct Guard {
    var: VarId,
    name: Ident,
    /// What its value mentions.
    of: VarSet,
    /// Whether it is there until its block ends.
    left: bool,
}

impl Lowering<'_> {
    /// What may be guards among what the statements of a block bind.
    pub(super) fn guards(&self, stmts: &[Stmt]) -> Vec<Guard> {
        let guards = guards::of_block(&self.functions[self.current].methods, stmts).into_iter();
        let guards = guards.filter_map(|(name, value, left)| {
            let var = *self.names.get(&name.to_string())?;
            let owned = self.copies.contains(&name.to_string()) || self.type_of(var).is_some_and(lent::owns);
            let of = effects::of_expr(&self.names, value).mentions;
            (!owned).then_some(Guard { var, name, of, left })
        });
        guards.collect()
    }

    /// Marks what may be a guard.
    pub(super) fn find_guards(&mut self, body: &Block) {
        for name in guards::of_body(&self.functions[self.current].methods, body) {
            let Some(var) = self.names.get(&name).copied() else { continue };
            let owned = self.copies.contains(&name) || self.type_of(var).is_some_and(lent::owns);
            self.program.variables[var.0].guard |= !owned;
        }
    }

    /// Mentions those that borrow a local where the block ends.
    pub(super) fn mention(&mut self, guards: Vec<Guard>) {
        for Guard { var, name, of, left } in guards {
            let borrows = self.borrowers.iter().any(|borrower| borrower.var == var)
                || of.iter().any(|var| self.program.var(*var).anchored);
            if borrows && left && self.cursor.is_some() {
                self.op(parse_quote!(let _ = &#name;));
            }
        }
    }
}
