//! Variables that a loop only sets, in programs of narrow numbers: if they turn out to be wide, they are kept as two words.
//!
//! ```text
//! if near < distance {                    if near < distance {
//!     distance = near;                        distance = near;
//!     hit = i;                    ──▶         hit = i; low = low_i; high = high_i;
//! }                                       }
//! ```
//!
//! Whether they are wide the runtime knows when it is compiled: then nobody looks at the variable in the loop, and LLVM drops it; else
//! it drops the words.
//!
//! **Invariant:** in such a loop nothing reads the variable, and all that sets it are statements that give it a variable
//! that all lanes share, or a literal.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, Stmt, parse_quote};

use super::{Writer, all_declared};
use crate::analysis::lane_interchange::{Node, mentions};
use crate::codegen::loop_distribution::strip;
use crate::codegen::names::{name, numbered};
use crate::codegen::region::lane;
use crate::ir::{VarId, VarSet, effects};
use crate::syntax::mentions::bare;
use crate::syntax::walk::{self, AtMut};

/// `__halves3`: where the halves of a variable's values are.
fn halves(var: VarId) -> Ident {
    numbered("halves", var.0)
}

/// `__low3`, `__high3`: those of a lane.
fn words(var: VarId) -> [Ident; 2] {
    ["low", "high"].map(|half| numbered(half, var.0))
}

/// `__low3_1`, `__high3_1`: those of a value that the variable is set to.
fn words_of(var: VarId, nth: usize) -> [Ident; 2] {
    words(var).map(|word| name(&format!("{word}_{nth}")))
}

/// Every list of statements in some code.
fn each_list(stmts: &mut Vec<Stmt>, each: &mut dyn FnMut(&mut Vec<Stmt>)) {
    each(stmts);
    walk::map(&mut stmts[..], |at| match at {
        AtMut::Expr(Expr::If(e)) => each(&mut e.then_branch.stmts),
        AtMut::Expr(Expr::Block(e)) => each(&mut e.block.stmts),
        AtMut::Expr(Expr::ForLoop(e)) => each(&mut e.body.stmts),
        _ => {}
    });
}

/// What a loop sets, and what else it mentions.
#[derive(Default)]
struct Found {
    set: VarSet,
    mentioned: VarSet,
}

impl Writer<'_, '_> {
    /// The variables that a loop only sets and that may be wide, where words are narrow.
    fn only_set(&self, head: &Expr, body: &[Node]) -> VarSet {
        if self.emitter.width.word64 {
            return VarSet::new();
        }
        let mut found = Found::default();
        self.look_at_loop(head, body, &mut found);
        let Found { mut set, mentioned } = found;
        set.retain(|v| self.in_strip(*v) && !mentioned.contains(v));
        set
    }

    fn look_at_loop(&self, head: &Expr, body: &[Node], found: &mut Found) {
        let names = &self.scope.names;
        found.mentioned.extend(effects::of(names, head).mentions);
        for node in body {
            match node {
                Node::Lanes(stmts) => self.look_at(stmts.clone(), found),
                Node::Branch(branch) => {
                    branch.pieces().into_iter().for_each(|stmts| self.look_at(stmts, found));
                }
                Node::Loop(head, body) => self.look_at_loop(&head.expr, body, found),
                other => found.mentioned.extend(other.mentions(names)),
            }
        }
    }

    fn look_at(&self, mut stmts: Vec<Stmt>, found: &mut Found) {
        let own = all_declared(self.scope, &stmts);
        each_list(&mut stmts, &mut |list| {
            list.retain(|stmt| self.value_set(stmt, &own).map(|(var, _)| found.set.insert(var)).is_none());
        });
        found.mentioned.extend(mentions(&self.scope.names, &stmts));
    }

    /// Writes a loop, for which such variables are kept in halves.
    pub(super) fn with_halves(
        &self,
        head: &Expr,
        body: &[Node],
        write: impl FnOnce() -> TokenStream,
    ) -> TokenStream {
        let (rt, around) = (&self.rt, self.halved.borrow().clone());
        let new = &self.only_set(head, body) - &around;
        self.halved.replace(&around | &new);
        let code = write();
        self.halved.replace(around);
        let halves: Vec<(Ident, Ident)> = new.iter().map(|v| (halves(*v), strip(*v))).collect();
        let before = halves.iter().map(|(halves, strip)| quote!(let mut #halves = #rt::Halves::of(&#strip);));
        let after = halves.iter().map(|(halves, strip)| quote!(#rt::Halves::put_back(#halves, &mut #strip);));
        quote!(#(#before)* #code #(#after)*)
    }

    /// Sets the halves too, wherever a piece sets a variable that is kept in them. What the piece begins with.
    pub(super) fn set_halves(&self, stmts: &mut Vec<Stmt>) -> TokenStream {
        let (rt, l) = (&self.rt, lane());
        let own = all_declared(self.scope, stmts);
        let (mut before, mut known, mut nth) = (TokenStream::new(), VarSet::new(), 0);
        each_list(stmts, &mut |list| {
            for at in (0..list.len()).rev() {
                let set =
                    self.value_set(&list[at], &own).filter(|(var, _)| self.halved.borrow().contains(var));
                let Some((var, value)) = set else { continue };
                let (halves, [low, high], [new_low, new_high]) =
                    (halves(var), words(var), words_of(var, nth));
                nth += 1;
                if known.insert(var) {
                    before.extend(quote!(let (mut #low, mut #high) = #rt::Halves::get(&#halves, #l);));
                }
                before.extend(quote!(let (#new_low, #new_high) = #rt::Halves::words(&#halves, &#value);));
                let sets: [Stmt; 2] = [parse_quote!(#low = #new_low;), parse_quote!(#high = #new_high;)];
                list.splice(at + 1..at + 1, sets);
            }
        });
        before
    }

    /// What a lane leaves of a variable, if `set` leaves it in its strip.
    pub(super) fn leave_halves(&self, var: VarId, set: TokenStream) -> TokenStream {
        if !self.halved.borrow().contains(&var) {
            return set;
        }
        let (rt, l, zero, halves, [low, high]) = (&self.rt, lane(), self.zero(), halves(var), words(var));
        quote! {
            #rt::Halves::set(&mut #halves, #l, #zero, (#low, #high));
            if !#rt::Halves::are_wide(&#halves) { #set }
        }
    }

    /// The variable that a statement sets, and the value, if all lanes share it. The piece declares `own`.
    fn value_set<'s>(&self, stmt: &'s Stmt, own: &VarSet) -> Option<(VarId, &'s Expr)> {
        let Stmt::Expr(Expr::Assign(e), _) = stmt else { return None };
        let value = bare(&e.right);
        let is_shared = match value {
            Expr::Lit(_) => true,
            Expr::Path(_) => {
                let var = effects::variable(&self.scope.names, value);
                self.is_shared_place(value) && var.is_none_or(|v| !own.contains(&v))
            }
            _ => false,
        };
        is_shared.then(|| effects::variable(&self.scope.names, &e.left)).flatten().map(|var| (var, value))
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    /// Whether `hit` is kept in halves in a search that sets it so, and that looks at it so in its rounds.
    fn is_halved(set: proc_macro2::TokenStream, look: proc_macro2::TokenStream) -> bool {
        let item = quote!(
            fn f(x: f32, near: &[f32]) -> f32 {
                let (mut best, mut hit, mut n) = (9.0f32, 0, 0);
                for (i, v) in near.iter().enumerate() {
                    let d = (v - x).abs();
                    #look
                    if d < best {
                        best = d;
                        #set
                    }
                }
                if hit > 3 { best } else { n as f32 }
            }
        );
        crate::driver::autobatch(quote!(), item).to_string().contains("Halves")
    }

    #[test]
    fn variables_that_are_only_set_are() {
        for set in [
            quote!(hit = i;),
            quote!(hit = 7;),
            quote!(hit = usize::MAX;),
            quote!({
                hit = i;
            }),
        ] {
            assert!(is_halved(set.clone(), quote!()), "{set}");
        }
    }

    #[test]
    fn others_are_not() {
        for look in [
            quote!(n = hit;),
            quote!(if hit == 3 {
                n += 1
            }),
            quote!(hit += 1;),
        ] {
            assert!(!is_halved(quote!(hit = i;), look.clone()), "{look}");
        }
        // To what is the lane's own, and to what is computed.
        for set in [quote!(hit = n;), quote!(hit = i + 1;)] {
            assert!(
                !is_halved(
                    set.clone(),
                    quote!(if d < 1.0 {
                        n += 1
                    })
                ),
                "{set}"
            );
        }
    }

    #[test]
    fn beside_wide_numbers_none_is() {
        let item = quote!(
            fn f(x: f64, near: &[f64]) -> f64 {
                let (mut best, mut hit) = (9.0, 0);
                for (i, v) in near.iter().enumerate() {
                    if (v - x).abs() < best {
                        best = (v - x).abs();
                        hit = i;
                    }
                }
                if hit > 3 { best } else { x }
            }
        );
        assert!(!crate::driver::autobatch(quote!(), item).to_string().contains("Halves"));
    }
}
