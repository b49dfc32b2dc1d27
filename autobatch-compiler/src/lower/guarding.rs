//! Guards of locals are mentioned where their block ends (see [`crate::guards`]).

use syn::{Block, Ident, Stmt, parse_quote};

use super::{Lowering, lent};
use crate::effects;
use crate::guards;
use crate::ir::{VarId, VarSet};

/// A guard that is there until its block ends.
pub(super) struct Guard {
    var: VarId,
    name: Ident,
    /// What its value mentions.
    of: VarSet,
}

impl Lowering<'_> {
    /// Marks what may be a guard.
    pub(super) fn find_guards(&mut self, body: &Block) {
        for name in guards::of_body(&self.functions[self.current].methods, body) {
            let Some(var) = self.names.get(&name).copied() else { continue };
            let owned = self.copies.contains(&name) || self.type_of(var).is_some_and(lent::owns);
            self.program.variables[var.0].guard = !owned;
        }
    }

    /// Those that the statements of a block bind and leave.
    pub(super) fn guards(&self, stmts: &[Stmt]) -> Vec<Guard> {
        let guards = guards::left(&self.functions[self.current].methods, stmts).into_iter();
        let guards = guards.filter_map(|(name, value)| {
            let var = *self.names.get(&name.to_string()).filter(|var| self.program.var(**var).guard)?;
            Some(Guard { var, name, of: effects::of_expr(&self.names, value).mentions })
        });
        guards.collect()
    }

    /// Mentions those that borrow a local where the block ends.
    pub(super) fn mention(&mut self, guards: Vec<Guard>) {
        for Guard { var, name, of } in guards {
            let borrows = self.borrowers.iter().any(|borrower| borrower.var == var)
                || of.iter().any(|var| self.program.var(*var).anchored);
            if borrows && self.cursor.is_some() {
                self.op(parse_quote!(let _ = &#name;));
            }
        }
    }
}
