//! What operands borrow from that are kept while later ones make calls: `pick(board.with(i).row(1), f(x))`. It is a temporary, which lives
//! as long as its statement, arm or condition (the scopes of temporaries in Rust's reference): so it is kept in place (`Kept` in the
//! runtime) from where that begins to where it ends.
//!
//! What a `let` binds may borrow from it for longer, `let pair = (&vec![n], f(x))`: then it stays as long as the block around. Guards
//! have to be dropped where the scalar code drops them: where that is not known, the program falls back.

use syn::spanned::Spanned;
use syn::{Expr, Ident, parse_quote};

use super::Lowering;
use super::named::{self, Temporary, placeholder};
use super::scan::{makes_of, tail};
use crate::effects;
use crate::guards;
use crate::ir::BlockId;

/// A statement that is being lowered.
#[derive(Clone, Copy)]
pub(super) struct Statement {
    /// The block in which it begins, and how many ops are before it there; `None` where control never arrives.
    begins: Option<(BlockId, usize)>,
    /// Whether what it binds may borrow from temporaries, which live as long then.
    extends: bool,
    /// Whether temporaries are dropped where it ends, and not before; or, if it extends their lives, at the end of the block.
    exact: bool,
}

const KEPT: &str = "what is kept across a call borrows from what is made in the middle of it";

impl Lowering<'_> {
    /// An operand that is kept while later ones make calls may borrow from a temporary, which is kept in place then.
    pub(super) fn with_kept_temporary(&mut self, operand: Expr) -> Expr {
        if self.cursor.is_none() {
            return operand;
        }
        let placeholder = placeholder();
        let value = match named::kept_temporary(self, &operand, &parse_quote!(#placeholder)) {
            Temporary::None => return operand,
            Temporary::Refused => {
                self.whole_fallback(operand.span(), KEPT);
                return operand;
            }
            Temporary::One(_, value) => {
                self.note_lock(&value);
                self.with_kept_temporary(*value)
            }
        };
        let (temp, ident) = self.temp("kept", None);
        let Temporary::One(named, _) = named::kept_temporary(self, &operand, &parse_quote!((*#ident.lend())))
        else {
            unreachable!("asked before")
        };
        let krate = self.options.krate.clone();
        let methods = &self.functions[self.current].methods;
        let (guard, certain) = (guards::may_be_guard(methods, &value), guards::is_certain(methods, &value));
        let variable = &mut self.program.variables[temp.0];
        (variable.anchored, variable.guard, variable.mutable) = (true, guard, true);
        self.note_kept(temp, &value);
        match self.statement {
            Some(Statement { begins: Some((block, at)), exact, .. }) if exact || !certain => {
                // Behind every way through the statement it is there.
                let empty =
                    effects::op(&self.names, parse_quote!(let mut #ident = #krate::__rt::Kept::new();));
                self.program.blocks[block.0].ops.insert(at, empty);
                self.op(parse_quote!(#krate::__rt::Kept::keep(&mut #ident, #value);));
                self.kept.push(ident);
            }
            _ => self.whole_fallback(operand.span(), KEPT),
        }
        *named
    }

    /// Lowers a statement or another scope of temporaries. At its end, what its operands have kept in place is dropped, unless it
    /// `extends` their lives. `exact`: whether the scalar code drops it there.
    pub(super) fn statement(&mut self, extends: bool, exact: bool, lower: impl FnOnce(&mut Self)) {
        let kept = self.within(extends, exact, lower);
        match (extends, exact) {
            (false, _) => self.end_kept(&kept),
            (true, true) => self.keep_in_block(kept),
            (true, false) => {}
        }
    }

    /// What has been kept in place for a scope of temporaries that begins here.
    fn within(&mut self, extends: bool, exact: bool, lower: impl FnOnce(&mut Self)) -> Vec<Ident> {
        let begins = self.cursor.map(|block| (block, self.program.block(block).ops.len()));
        let outer = self.statement.replace(Statement { begins, extends, exact });
        let kept = self.kept.len();
        lower(self);
        self.statement = outer;
        self.kept.split_off(kept)
    }

    /// Lowers a part of a statement with temporaries of its own, unless what they yield outlives it.
    pub(super) fn scope(&mut self, lower: impl FnOnce(&mut Self)) {
        match self.statement {
            Some(outer) if outer.extends => lower(self),
            _ => self.statement(false, true, lower),
        }
    }

    /// Lowers a condition on its own; what is kept in place for it and has to be dropped behind it.
    pub(super) fn on_its_own(&mut self, lower: impl FnOnce(&mut Self)) -> Vec<Ident> {
        self.within(false, true, lower)
    }

    /// Lowers a condition that is a part of another. What is kept in place for it stays to the end of the statement, as far as
    /// nobody sees it go.
    pub(super) fn inexactly(&mut self, lower: impl FnOnce(&mut Self)) {
        let outer = self.statement;
        if let Some(statement) = &mut self.statement {
            statement.exact = false;
        }
        lower(self);
        self.statement = outer;
    }

    /// Drops what has been kept in place.
    pub(super) fn end_kept(&mut self, kept: &[Ident]) {
        let krate = self.options.krate.clone();
        for ident in kept.iter().rev() {
            self.op(parse_quote!(let _ = #krate::__rt::Kept::back(#ident);));
        }
    }
}

/// Whether what a `let` binds may go on to borrow from temporaries of its value.
pub(super) fn extends(value: &Expr) -> bool {
    let of_block = |block: &syn::Block| tail(block).is_some_and(extends);
    match value {
        Expr::Reference(_) | Expr::Tuple(_) | Expr::Array(_) | Expr::Struct(_) | Expr::Repeat(_) => true,
        Expr::Cast(_) | Expr::RawAddr(_) => true,
        Expr::Call(e) => makes_of(&e.func),
        Expr::Paren(e) => extends(&e.expr),
        Expr::Group(e) => extends(&e.expr),
        Expr::Block(e) => of_block(&e.block),
        Expr::Unsafe(e) => of_block(&e.block),
        Expr::If(e) => of_block(&e.then_branch) || e.else_branch.as_ref().is_some_and(|(_, e)| extends(e)),
        Expr::Match(e) => e.arms.iter().any(|arm| extends(&arm.body)),
        _ => false,
    }
}
