//! Loops over arrays whose number of rounds differs between members: they stay whole, with the rounds counted before, so that lane
//! interchange can predicate them.
//!
//! ```text
//! for j in 1..=b.len() {                       let end = b.len();
//!     row[j] = (row[j - 1] + 1).min(…);  ──▶   let rounds = rounds(&(1..=end));
//! }                                            for j in steps(1..=end, rounds) {
//!                                                  row[j] = (row[j - 1] + 1).min(…);
//!                                              }
//! ```
//!
//! As blocks, each round would take the array out of its slot and put it back. Whole, the loop runs as often as the lane with the most
//! rounds needs, and the array is transposed: an element is a strip. Loops without such an array are better off as blocks, which lose
//! the lanes that have left.
//!
//! **Invariant:** `steps` yields its range, so what is made is the user's loop, whatever becomes of it.

use syn::{Expr, ExprForLoop, RangeLimits, Stmt, parse_quote};

use crate::analysis::lane_interchange::{Plan, Scope, indexed};
use crate::analysis::uniform_values;
use crate::ir::VarSet;
use crate::ir::effects::{self, bound, variable};
use crate::lower::lowering::Lowering;
use crate::lower::scan::{self, leaves};
use crate::std_models::pure::literal;
use crate::syntax::mentions::{bare, name};
use crate::syntax::walk::{self, At, AtMut, Next};

impl Lowering<'_> {
    /// The statements that the next of a block become if it is a loop that lane interchange can predicate.
    pub(super) fn predicated(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Expr(Expr::ForLoop(e), _) = stmt else { return None };
        let known = (self.temps, self.program.variables.len());
        let stmts = self.predicated_for(e);
        if stmts.is_none() {
            for made in self.program.variables.drain(known.1..) {
                self.names.remove(&made.ident.to_string());
            }
            self.temps = known.0;
        }
        stmts
    }

    fn predicated_for(&mut self, e: &ExprForLoop) -> Option<Vec<Stmt>> {
        let uniforms = self.uniforms.clone();
        if self.is_uniform_range(e, &uniforms) || !self.works_on_array(&e.body) || scan::calls(self, &e.body)
        {
            return None;
        }
        self.counted(e, uniforms).filter(|stmts| {
            let scope = Scope::new(&self.program, self.func);
            let ops: Vec<_> = stmts.iter().map(|stmt| effects::op(&scope.names, stmt.clone())).collect();
            Plan::of(&scope, &ops).is_some_and(|plan| !plan.returns)
        })
    }

    /// The loop with its rounds counted, and so those in it.
    fn counted(&mut self, e: &ExprForLoop, mut uniforms: VarSet) -> Option<Vec<Stmt>> {
        if e.label.is_some() || !e.attrs.is_empty() || leaves(&e.body) {
            return None;
        }
        let is_uniform = self.is_uniform_range(e, &uniforms);
        let by_index = match is_uniform {
            true => None,
            false => self.by_index(e),
        };
        let e = by_index.as_ref().unwrap_or(e);
        uniforms.extend(bound(&self.names, &e.pat));
        let mut loops = e.clone();
        let mut stmts = Vec::new();
        for stmt in std::mem::take(&mut loops.body.stmts) {
            match &stmt {
                Stmt::Expr(Expr::ForLoop(inner), _) => stmts.extend(self.counted(inner, uniforms.clone())?),
                Stmt::Local(local) => {
                    let uniform = uniform_values::defines(&self.program, &self.names, &uniforms, local);
                    uniforms.extend(uniform);
                    stmts.push(stmt);
                }
                _ => stmts.push(stmt),
            }
        }
        loops.body.stmts = stmts;
        if is_uniform {
            return Some(vec![Stmt::Expr(Expr::ForLoop(loops), None)]);
        }
        let Expr::Range(range) = bare(&e.expr) else { return None };
        let (mut start, end) = ((**range.start.as_ref()?).clone(), range.end.as_ref()?);
        let mut ends: Vec<Stmt> = Vec::new();
        if literal(&start).is_none() {
            let (_, first) = self.temp("start", None);
            ends.push(parse_quote!(let #first = #start;));
            start = parse_quote!(#first);
        }
        let rt = {
            let krate = &self.facts.options.krate;
            quote::quote!(#krate::__rt::lane_interchange)
        };
        let (_, end_name) = self.temp("end", None);
        let (_, rounds) = self.temp("rounds", Some(parse_quote!(usize)));
        let range: Expr = match range.limits {
            RangeLimits::HalfOpen(_) => parse_quote!(#start..#end_name),
            RangeLimits::Closed(_) => parse_quote!(#start..=#end_name),
        };
        *loops.expr = parse_quote!(#rt::steps(#range, #rounds));
        ends.push(parse_quote!(let #end_name = #end;));
        ends.push(parse_quote!(let #rounds: usize = #rt::rounds(&(#range));));
        ends.push(Stmt::Expr(Expr::ForLoop(loops), None));
        Some(ends)
    }

    /// Whether all members run through as much. The length of an array is the same for all.
    fn is_uniform_range(&self, e: &ExprForLoop, uniforms: &VarSet) -> bool {
        let arrays = &self.program.func(self.func).arrays;
        let mut range = (*e.expr).clone();
        walk::map(&mut range, |at| {
            if let AtMut::Expr(expr) = at
                && let Expr::MethodCall(call) = &*expr
                && call.method == "len"
                && name(bare(&call.receiver)).is_some_and(|name| arrays.contains_key(&name))
            {
                *expr = parse_quote!(0);
            }
        });
        uniform_values::is_uniform(&self.program, &self.names, uniforms, &range)
    }

    /// Whether a loop has an element of an array that would not stay in registers.
    fn works_on_array(&self, body: &syn::Block) -> bool {
        let scope = Scope::new(&self.program, self.func);
        walk::any(body, |at| match at {
            At::Expr(expr @ Expr::Index(_)) => {
                let array = variable(&scope.names, indexed(expr).0).and_then(|var| scope.arrays.get(&var));
                if array.is_some_and(|array| !array.is_small()) { Next::Found } else { Next::On }
            }
            _ => Next::On,
        })
    }
}
