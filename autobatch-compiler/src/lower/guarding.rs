//! What does something when it is dropped is dropped where its block ends, on every way out of it (see [`crate::guards`]).

use std::collections::BTreeMap;

use syn::{Block, Expr, Ident, Stmt, parse_quote};

use super::{Lowering, lent, scan};
use crate::effects;
use crate::guards::{self, Left, OfBody};
use crate::input::{Param, Passing};
use crate::ir::{VarId, VarSet};

/// A guard that is there until its block ends.
#[derive(Clone)]
pub(super) struct Guard {
    var: VarId,
    name: Ident,
    /// Whether it is dropped by a statement: nothing borrows from it.
    free: bool,
    /// Whether it certainly is one. Otherwise it has to borrow a local.
    certain: bool,
    /// What its value mentions.
    of: VarSet,
}

impl Lowering<'_> {
    /// Marks what may be a guard.
    pub(super) fn find_guards(&mut self, body: &Block) {
        self.known_guards = OfBody::find(&self.functions[self.current].methods, body);
        for name in &self.known_guards.may_be {
            let Some(var) = self.names.get(name).copied() else { continue };
            let owned = self.copies.contains(name) || self.type_of(var).is_some_and(lent::owns);
            self.program.variables[var.0].guard = !owned;
        }
    }

    /// Those that the statements of a block bind and leave, by the statement.
    pub(super) fn guards_of(&mut self, stmts: &[Stmt]) -> BTreeMap<usize, Vec<Guard>> {
        let mut all: BTreeMap<usize, Vec<Guard>> = BTreeMap::new();
        let methods = &self.functions[self.current].methods;
        let type_of = |name: &Ident| self.written_type(*self.names.get(&name.to_string())?);
        let mut waits = None;
        for left in guards::left(methods, &self.known_guards, stmts, &type_of) {
            let Left { at, name, value, certain, unmentioned, lent } = left;
            let text = name.to_string();
            let Some(var) = self.names.get(&text).copied().filter(|_| !self.copies.contains(&text)) else {
                continue;
            };
            if let Some(lock) = guards::locked_by(methods, value)
                && stmts[at + 1..].iter().any(|stmt| scan::stmt_splits(self, stmt))
            {
                waits = Some(lock.span());
            }
            let may_be = self.program.var(var).guard;
            if certain || may_be {
                let (certain, of) = (certain || unmentioned, effects::of_expr(&self.names, value).mentions);
                all.entry(at).or_default().push(Guard { var, name, free: !lent, certain, of });
            }
        }
        if let Some(span) = waits {
            self.whole_fallback(span, HELD);
        }
        all
    }

    /// Those that the function is given.
    pub(super) fn guards_given(&self, stmts: &[Stmt]) -> Vec<Guard> {
        let function = &self.functions[self.current];
        let mut guards = Vec::new();
        let owned = |param: &&Param| param.passing != Passing::Shared && param.pattern.is_none();
        for param in function.params.iter().filter(owned) {
            let whole = guards::is_whole(&function.methods, &param.ty);
            if function.methods.drops(&param.ty)
                && !guards::is_moved(&function.methods, &self.known_guards, &param.ident, whole, stmts)
            {
                let text = param.ident.to_string();
                let (var, free) = (self.names[&text], !guards::is_lent(&text, stmts));
                let name = param.ident.clone();
                guards.push(Guard { var, name, free, certain: true, of: VarSet::new() });
            }
        }
        guards
    }

    /// A lock that a pattern holds.
    pub(super) fn note_lock(&mut self, value: &Expr) {
        if let Some(lock) = guards::locked_by(&self.functions[self.current].methods, value) {
            self.whole_fallback(lock.span(), HELD);
        }
    }

    /// Drops what is there behind the first `outer` of them, where control leaves their blocks.
    pub(super) fn drop_guards(&mut self, outer: usize) {
        for drop in self.guards_dropped(outer).into_iter().rev().flatten() {
            self.op(drop);
        }
    }

    /// What drops those behind the first `outer`, if they have to be there so long.
    pub(super) fn guards_dropped(&self, outer: usize) -> Vec<Option<Stmt>> {
        let guards = self.guards[outer..].iter().map(|Guard { var, name, free, certain, of }| {
            let borrows = self.borrowers.iter().any(|borrower| borrower.var == *var)
                || self.suspects.iter().any(|suspect| suspect.var == *var)
                || of.iter().any(|var| self.program.var(*var).anchored);
            (*certain || borrows).then(|| match free {
                true => parse_quote!({ let _dropped = #name; }),
                false => parse_quote!(let _ = &#name;),
            })
        });
        guards.collect()
    }

    /// The same where the blocks end.
    pub(super) fn end_guards(&mut self, outer: usize) {
        self.drop_guards(outer);
        self.guards.truncate(outer);
    }
}

/// Members wait for each other in loops and calls.
const HELD: &str = "a lock that is held across a loop or a batched call, for which another member would wait";
