//! Guards of locals are mentioned where their block ends (see [`crate::guards`]).

use syn::{Ident, Stmt, parse_quote};

use super::{Lowering, lent};
use crate::effects;
use crate::guards;
use crate::ir::{VarId, VarSet};

impl Lowering<'_> {
    /// What may be a guard of a block's, with what its value mentions.
    pub(super) fn guards(&self, stmts: &[Stmt]) -> Vec<(VarId, Ident, VarSet)> {
        let guards = guards::left(&self.functions[self.current].methods, stmts).into_iter();
        let guards = guards.filter_map(|(name, value)| {
            let var = *self.names.get(&name.to_string())?;
            let owned = self.copies.contains(&name.to_string()) || self.type_of(var).is_some_and(lent::owns);
            (!owned).then(|| (var, name, effects::of_expr(&self.names, value).mentions))
        });
        guards.collect()
    }

    /// Mentions those that borrow a local.
    pub(super) fn mention(&mut self, guards: Vec<(VarId, Ident, VarSet)>) {
        for (var, name, of) in guards {
            let borrows = self.borrowers.iter().any(|borrower| borrower.var == var)
                || of.iter().any(|var| self.program.var(*var).anchored);
            if borrows && self.cursor.is_some() {
                self.op(parse_quote!(let _ = &#name;));
            }
        }
    }
}
