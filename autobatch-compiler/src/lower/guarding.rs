//! What does something when it is dropped is dropped where its block ends, on every way out of it (see [`crate::guards`]).

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Ident, Stmt, Type, parse_quote};

use super::borrowing::borrows_mutably;
use super::{LoopContext, Lowering, lent, scan};
use crate::desugar::runs::Lent;
use crate::effects;
use crate::guards::{self, End, Left, OfBody};
use crate::input::{Param, Passing};
use crate::ir::{self, Role, VarId, VarSet};

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
    /// Whether its value borrows from something to change it.
    changes: bool,
}

impl Guard {
    fn certain(var: VarId, name: Ident, first: Option<BTreeSet<String>>) -> Guard {
        Guard { var, name, first, certain: true, of: VarSet::new(), changes: true }
    }
}

/// The guards that a block leaves.
#[derive(Default)]
pub(super) struct Guards {
    /// By the statement that binds them.
    pub(super) bound: BTreeMap<usize, Vec<Guard>>,
    /// Those that their last mention may move, by its statement.
    pub(super) spent: BTreeMap<usize, Vec<VarId>>,
    pub(super) outermost: bool,
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

    /// Those of a block. Nothing follows one that is the `outermost` of a function.
    pub(super) fn guards_of(&mut self, stmts: &[Stmt], outermost: bool) -> Guards {
        let mut all = Guards { outermost, ..Guards::default() };
        let methods = &self.functions[self.current].methods;
        let (mut waits, mut late) = (None, None);
        let left = self.left(stmts);
        let mut freed = self.freed(&left, stmts);
        for Left { at, name, value, certain, unmentioned, spent } in left {
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
                let text = ir::text(value);
                let changes =
                    text.contains("& mut") || text.contains("lend ()") || borrows_mutably(self, value);
                all.bound.entry(at).or_default().push(Guard { var, name, first, certain, of, changes });
                spent.into_iter().for_each(|last| all.spent.entry(last).or_default().push(var));
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
        for Left { at, name, spent, .. } in left.iter().rev() {
            let name = name.to_string();
            let behind = &stmts[at + 1..spent.unwrap_or(stmts.len()).min(stmts.len())];
            if let Some(first) = self.dropped_before(&name, behind, &freed) {
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
                && guards::end(&function.methods, &self.known_guards, &param.ident, (whole, false), stmts)
                    == End::Left
            {
                let text = param.ident.to_string();
                let (var, first) = (self.names[&text], self.dropped_before(&text, stmts, &freed));
                let name = param.ident.clone();
                guards.push(Guard::certain(var, name, first));
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

    /// Before a statement that may move guards: what moves them into a block with all that is `behind`, at the end of which they are dropped
    /// as they are in the scalar code, unless nothing sees when.
    pub(super) fn spend(&mut self, spent: &[VarId], outermost: bool, behind: &[Stmt]) -> Vec<Stmt> {
        let dropped = self.guards_dropped(0);
        let all = std::mem::take(&mut self.guards);
        let (spent, left): (Vec<_>, Vec<_>) =
            all.into_iter().zip(dropped).partition(|(guard, _)| spent.contains(&guard.var));
        self.guards = left.into_iter().map(|(guard, _)| guard).collect();
        let splits = behind.iter().any(|stmt| scan::stmt_splits(self, stmt));
        let mut moved = Vec::new();
        for (Guard { var, name, first, of, changes, .. }, dropped) in spent {
            let seen = dropped.is_some() && (changes || of.iter().any(|var| self.is_changing(*var)));
            let alone = first.is_some_and(|first| first.is_empty());
            if !seen || (outermost && !splits) {
                continue;
            }
            if splits || !alone {
                self.whole_fallback(name.span(), SPENT);
            } else {
                let mutable = self.program.var(var).mutable;
                let mutability: Option<syn::Token![mut]> = mutable.then(Default::default);
                moved.push(parse_quote!(let #mutability #name = #name;));
            }
        }
        moved
    }

    /// Temporaries that are kept in place to the end of the block: nothing that borrows from them mentions them when it is dropped.
    pub(super) fn keep_in_block(&mut self, kept: Vec<Ident>) {
        let guard = |name: Ident| {
            let var = self.names[&name.to_string()];
            Guard::certain(var, name, Some(BTreeSet::new()))
        };
        let guards = kept.into_iter().map(guard).collect();
        self.guard(guards);
    }

    /// Whether shared references change a variable, as far as the file shows.
    fn is_changing(&self, var: VarId) -> bool {
        let methods = &self.functions[self.current].methods;
        let changing = |ty: &Type| {
            let is = |word: &str| methods.mentions_in(word, &|word| guards::changes(methods, word));
            super::mentions(ty.to_token_stream(), &is)
        };
        let name = self.program.var(var).ident.to_string();
        self.known_guards.changing.contains(&name) || self.type_of(var).is_some_and(changing)
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
        let guards = self.guards.iter().map(|Guard { var, name, first, certain, of, .. }| {
            let borrows = self.borrowers.iter().any(|borrower| borrower.var == *var)
                || self.suspects.iter().any(|suspect| suspect.var == *var)
                || of.iter().any(|var| self.program.var(*var).anchored);
            if !(*certain || borrows || before.contains(&name.to_string())) {
                return None;
            }
            before.extend(first.iter().flatten().cloned());
            Some(match first {
                Some(_) if self.program.var(*var).anchored => {
                    let kind = if self.program.var(*var).role == Role::Temp { "Kept" } else { "Lent" };
                    let kind = Ident::new(kind, Span::mixed_site());
                    parse_quote!(let _ = #krate::__rt::#kind::back(#name);)
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
const LATE: &str = "a value with a `drop` that something else may borrow from until the block ends";

/// The same for one that a method may take of which no signature is known.
const SPENT: &str = "a value that borrows a local is mentioned last by a method that may take it, before a loop or a batched call";

/// Members wait for each other in loops and calls.
const HELD: &str = "a lock that is held across a loop or a batched call, for which another member would wait";
