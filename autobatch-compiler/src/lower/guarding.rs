//! What does something when it is dropped is dropped where its block ends, on every way out of it (see [`crate::guards`]).

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, Ident, Stmt, parse_quote};

use super::{LoopContext, Lowering, lent, scan};
use crate::desugar::runs::Lent;
use crate::effects;
use crate::guards::{self, Left, OfBody};
use crate::input::{Param, Passing};
use crate::ir::{VarId, VarSet};

/// Guards that are dropped by statements, with what has to be dropped before.
type Freed = BTreeMap<String, BTreeSet<String>>;

/// A guard that is there until its block ends.
#[derive(Clone)]
pub(super) struct Guard {
    var: VarId,
    name: Ident,
    /// What has to be dropped before, if it can be dropped by a statement.
    first: Option<BTreeSet<String>>,
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

    /// Those that the statements of a block bind and leave, by the statement. Nothing follows the `outermost` block of a function.
    pub(super) fn guards_of(&mut self, stmts: &[Stmt], outermost: bool) -> BTreeMap<usize, Vec<Guard>> {
        let mut all: BTreeMap<usize, Vec<Guard>> = BTreeMap::new();
        let methods = &self.functions[self.current].methods;
        let (mut waits, mut late) = (None, None);
        let left = self.left(stmts);
        let mut freed = self.freed(&left, stmts);
        for Left { at, name, value, certain, unmentioned } in left {
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
                if certain && !outermost && !freed.contains_key(&text) {
                    late = Some(name.span());
                }
                let (certain, of) = (certain || unmentioned, effects::of_expr(&self.names, value).mentions);
                let first = freed.remove(&text);
                all.entry(at).or_default().push(Guard { var, name, first, certain, of });
            }
        }
        for (span, why) in [(waits, HELD), (late, LATE)] {
            if let Some(span) = span {
                self.whole_fallback(span, why);
            }
        }
        all
    }

    fn left<'s>(&self, stmts: &'s [Stmt]) -> Vec<Left<'s>> {
        let type_of = |name: &Ident| self.written_type(*self.names.get(&name.to_string())?);
        guards::left(&self.functions[self.current].methods, &self.known_guards, stmts, &type_of)
    }

    /// Those of the guards that a block leaves that can be dropped by statements, the last first.
    fn freed(&self, left: &[Left<'_>], stmts: &[Stmt]) -> Freed {
        let mut freed = Freed::new();
        for Left { at, name, .. } in left.iter().rev() {
            let name = name.to_string();
            if let Some(first) = self.dropped_before(&name, &stmts[at + 1..], &freed) {
                freed.insert(name, first);
            }
        }
        freed
    }

    /// What has to be dropped before a guard is dropped by a statement: what borrows from it and may mention it when it is dropped
    /// itself. `None` if some of that is not among what is `freed` or ends with a block inside.
    fn dropped_before(&self, name: &str, behind: &[Stmt], freed: &Freed) -> Option<BTreeSet<String>> {
        let function = &self.functions[self.current];
        let (copies, callees, methods) = (&self.copies, &self.callees, &function.methods);
        let lent = Lent { name, reference: false, copies, function, callees, methods };
        let mut borrowers = lent.borrowers(behind);
        borrowers.retain(|name| self.known_guards.may_look_back(name));
        let mut open = borrowers.iter().filter(|name| !freed.contains_key(*name)).peekable();
        let inside = open.peek().map(|_| self.freed_inside(behind)).unwrap_or_default();
        open.all(|name| inside.contains_key(name)).then_some(borrowers)
    }

    /// Those that are dropped so in the blocks of statements.
    fn freed_inside(&self, stmts: &[Stmt]) -> Freed {
        struct Blocks<'a, 'b>(&'a Lowering<'b>, Freed);
        impl<'ast> Visit<'ast> for Blocks<'_, '_> {
            fn visit_block(&mut self, block: &'ast Block) {
                self.1.extend(self.0.freed(&self.0.left(&block.stmts), &block.stmts));
                visit::visit_block(self, block);
            }
            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        let mut blocks = Blocks(self, Freed::new());
        stmts.iter().for_each(|stmt| blocks.visit_stmt(stmt));
        blocks.1
    }

    /// Those that the function is given.
    pub(super) fn guards_given(&self, stmts: &[Stmt]) -> Vec<Guard> {
        let function = &self.functions[self.current];
        let mut guards = Vec::new();
        let freed = self.freed(&self.left(stmts), stmts);
        let owned = |param: &&Param| param.passing != Passing::Shared && param.pattern.is_none();
        for param in function.params.iter().filter(owned) {
            let whole = guards::is_whole(&function.methods, &param.ty);
            if function.methods.drops(&param.ty)
                && !guards::is_moved(
                    &function.methods,
                    &self.known_guards,
                    &param.ident,
                    (whole, false),
                    stmts,
                )
            {
                let text = param.ident.to_string();
                let (var, first) = (self.names[&text], self.dropped_before(&text, stmts, &freed));
                let name = param.ident.clone();
                guards.push(Guard { var, name, first, certain: true, of: VarSet::new() });
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

    /// Guards that are there from here on, to the end of their block: where the loops around end they are not.
    pub(super) fn guard(&mut self, guards: Vec<Guard>) {
        for LoopContext { break_to, .. } in &self.loops {
            self.program.blocks[break_to.0].gone.extend(guards.iter().map(|guard| guard.var));
        }
        self.guards.extend(guards);
    }

    /// Drops what is there behind the first `outer` of them, where control leaves their blocks.
    pub(super) fn drop_guards(&mut self, outer: usize) {
        for drop in self.guards_dropped(outer).into_iter().rev().flatten() {
            self.op(drop);
        }
    }

    /// What drops those behind the first `outer`, if they have to be there so long.
    pub(super) fn guards_dropped(&self, outer: usize) -> Vec<Option<Stmt>> {
        let krate = &self.options.krate;
        let mut before = BTreeSet::new();
        let guards = self.guards.iter().map(|Guard { var, name, first, certain, of }| {
            let borrows = self.borrowers.iter().any(|borrower| borrower.var == *var)
                || self.suspects.iter().any(|suspect| suspect.var == *var)
                || of.iter().any(|var| self.program.var(*var).anchored);
            if !(*certain || borrows || before.contains(&name.to_string())) {
                return None;
            }
            before.extend(first.iter().flatten().cloned());
            Some(match first {
                Some(_) if self.program.var(*var).anchored => {
                    parse_quote!(let _ = #krate::__rt::Lent::back(#name);)
                }
                Some(_) => parse_quote!({ let _dropped = #name; }),
                None => parse_quote!(let _ = &#name;),
            })
        });
        guards.skip(outer).collect()
    }

    /// The same where the blocks end.
    pub(super) fn end_guards(&mut self, outer: usize) {
        self.drop_guards(outer);
        self.guards.truncate(outer);
    }
}

/// What follows the block has to find it dropped.
const LATE: &str = "a value with a `drop` that something else may borrow from to the end of the block";

/// Members wait for each other in loops and calls.
const HELD: &str = "a lock that is held across a loop or a batched call, for which another member would wait";
