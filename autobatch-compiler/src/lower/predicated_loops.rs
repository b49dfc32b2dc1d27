//! Loops over arrays that members leave at different times: they stay whole, so that lane interchange can predicate them.
//!
//! ```text
//! for j in 1..=b.len() {                       let end = b.len();
//!     row[j] = (row[j - 1] + 1).min(…);  ──▶   let rounds = rounds(&(1..=end));
//! }                                            for j in steps(1..=end, rounds) {
//!                                                  row[j] = (row[j - 1] + 1).min(…);
//!                                              }
//!
//! while a[k] < x { k += step; }          ──▶   for () in endless((), |()| ()) {
//!                                                  if !(a[k] < x) { break; }
//!                                                  k += step;
//!                                              }
//! ```
//!
//! As blocks, each round would take the array out of its slot and put it back. Whole, the loop runs as often as the lane with the most
//! rounds needs, and the array is transposed: an element is a strip. Loops without such an array are better off as blocks, which lose
//! the lanes that have left, unless each round has much to do with an element of a member's list.
//!
//! **Invariant:** `steps` yields its range and `endless` never ends, so what is made is the user's loop, whatever becomes of it.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, RangeLimits, Stmt, parse_quote};

use crate::analysis::lane_interchange::{Plan, Scope, gain, indexed};
use crate::analysis::uniform_values;
use crate::ir::VarSet;
use crate::ir::effects::{self, bound, variable};
use crate::lower::lane_interchange::{UNKNOWN_INSIDE, WORTH};
use crate::lower::lowering::Lowering;
use crate::lower::ranges;
use crate::lower::scan::{self, leaves_around};
use crate::lower::shared_counters::SharedCounter;
use crate::std_models::pure::literal;
use crate::syntax::mentions::{bare, has_let, name};
use crate::syntax::walk::{self, At, AtMut};

/// Statements that loops become, with those around them that stand before.
#[derive(Default)]
struct Rewritten {
    stmts: Vec<Stmt>,
    /// Whether lanes leave any of the loops at different times.
    differs: bool,
    /// Whether they are the body of a loop: what stands before that has been changed by then.
    is_body: bool,
}

impl Lowering<'_> {
    /// The statements that the next of a block become if it is a loop that lane interchange can predicate.
    pub(super) fn predicated(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Expr(expr, _) = stmt else { return None };
        let known = (self.temps, self.program.variables.len());
        let stmts = self.predicated_loop(expr);
        if stmts.is_none() {
            for made in self.program.variables.drain(known.1..) {
                self.names.remove(&made.ident.to_string());
            }
            self.temps = known.0;
        }
        stmts
    }

    fn predicated_loop(&mut self, expr: &Expr) -> Option<Vec<Stmt>> {
        if scan::calls(self, expr) {
            return None;
        }
        let mut rewritten = Rewritten::default();
        self.whole(expr, &self.uniforms.clone(), &mut rewritten)?;
        let Rewritten { stmts, differs, .. } = rewritten;
        (differs && self.is_worth_it(&stmts) && self.is_planned(&stmts)).then_some(stmts)
    }

    /// Whether lane interchange takes statements, together with those of the block before them that say what is the same for all lanes.
    fn is_planned(&self, stmts: &[Stmt]) -> bool {
        let scope = Scope::new(&self.program, self.func);
        let more = stmts.iter().map(|stmt| effects::op(&scope.names, stmt.clone()));
        let mut ops = self.cursor.map(|block| self.program.block(block).ops.clone()).unwrap_or_default();
        let before = ops.len();
        ops.extend(more);
        (0..=before).any(|from| Plan::of(&scope, &ops[from..]).is_some_and(|plan| !plan.returns))
    }

    /// Appends a loop whose lanes leave it at different times, and so those in it.
    fn whole(&mut self, expr: &Expr, uniforms: &VarSet, to: &mut Rewritten) -> Option<()> {
        match expr {
            Expr::ForLoop(e) => self.counted(e, uniforms.clone(), to),
            Expr::While(e) if e.label.is_none() && e.attrs.is_empty() && !has_let(&e.cond) => {
                let (cond, body) = (&e.cond, &e.body.stmts);
                let body = parse_quote!({ if !(#cond) { break; } #(#body)* });
                self.endless(e.while_token.span(), &body, uniforms, to)
            }
            Expr::Loop(e) if e.label.is_none() && e.attrs.is_empty() => {
                self.endless(e.loop_token.span(), &e.body, uniforms, to)
            }
            _ => None,
        }
    }

    /// A loop that ends by `break` alone. The machine has blocks in its place, so that no member waits for one that does not end.
    fn endless(
        &mut self,
        span: Span,
        body: &syn::Block,
        uniforms: &VarSet,
        to: &mut Rewritten,
    ) -> Option<()> {
        if !self.facts.options.split_entry || leaves_around(body) {
            return None;
        }
        let before = self.statements_before(&to.stmts, to.is_body);
        let (counters, body) = self.share_counters(&body.stmts, &before, uniforms);
        let mut uniforms = uniforms.clone();
        uniforms.extend(counters.iter().filter_map(|counter| self.names.get(&counter.at.to_string())));
        let body = self.body_of(&body, uniforms, to)?;
        let rt = self.rt();
        let each = |part: fn(&SharedCounter) -> TokenStream| -> TokenStream {
            let parts: Vec<TokenStream> = counters.iter().map(part).collect();
            match &parts[..] {
                [part] => part.clone(),
                parts => quote!((#(#parts),*)),
            }
        };
        let (at, first) = (each(|c| c.at.to_token_stream()), each(|c| c.first.to_token_stream()));
        let next = each(|c| c.next.to_token_stream());
        to.differs = true;
        let mut loops: ExprForLoop = parse_quote!(for #at in #rt::endless(#first, |#at| #next) { #(#body)* });
        loops.for_token = syn::Token![for](span);
        to.stmts.push(Stmt::Expr(Expr::ForLoop(loops), None));
        Some(())
    }

    /// What has been evaluated, each once, when control comes behind these statements: those of the block too, unless they are a loop's body.
    fn statements_before(&self, stmts: &[Stmt], is_body: bool) -> Vec<Stmt> {
        let block = self.cursor.filter(|_| !is_body).map(|block| self.program.block(block));
        let of_block = block.into_iter().flat_map(|block| block.ops.iter().flat_map(|op| &op.code));
        of_block.chain(stmts).cloned().collect()
    }

    /// The body of a loop, with the loops in it rewritten.
    fn body_of(&mut self, body: &[Stmt], mut uniforms: VarSet, to: &mut Rewritten) -> Option<Vec<Stmt>> {
        let mut inner = Rewritten { is_body: true, ..Rewritten::default() };
        for stmt in body {
            match stmt {
                Stmt::Expr(e @ (Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_)), _) => {
                    self.whole(e, &uniforms, &mut inner)?;
                }
                Stmt::Local(local) => {
                    let uniform = uniform_values::defines(&self.program, &self.names, &uniforms, local);
                    uniforms.extend(uniform);
                    inner.stmts.push(stmt.clone());
                }
                _ => inner.stmts.push(stmt.clone()),
            }
        }
        to.differs |= inner.differs;
        Some(inner.stmts)
    }

    /// A loop with its rounds counted, if they are not those of all members.
    fn counted(&mut self, e: &ExprForLoop, mut uniforms: VarSet, to: &mut Rewritten) -> Option<()> {
        if e.label.is_some() || !e.attrs.is_empty() || leaves_around(&e.body) {
            return None;
        }
        let is_uniform = self.is_uniform_range(e, &uniforms);
        let by_index = match is_uniform {
            true => None,
            false => self.by_index(e),
        };
        let (asks, by_index) = by_index.unzip();
        to.stmts.extend(asks.flatten());
        let e = by_index.as_ref().unwrap_or(e);
        uniforms.extend(bound(&self.names, &e.pat));
        let mut loops = e.clone();
        loops.body.stmts = self.body_of(&e.body.stmts, uniforms, to)?;
        if is_uniform {
            to.stmts.push(Stmt::Expr(Expr::ForLoop(loops), None));
            return Some(());
        }
        let (range, back) = ranges::range(&e.expr)?;
        let (mut start, end) = ((**range.start.as_ref()?).clone(), range.end.as_ref()?);
        if literal(&start).is_none() {
            let (_, first) = self.temp("start", None);
            to.stmts.push(parse_quote!(let #first = #start;));
            start = parse_quote!(#first);
        }
        let rt = self.rt();
        let (_, end_name) = self.temp("end", None);
        let (_, rounds) = self.temp("rounds", Some(parse_quote!(usize)));
        let range: Expr = match range.limits {
            RangeLimits::HalfOpen(_) => parse_quote!(#start..#end_name),
            RangeLimits::Closed(_) => parse_quote!(#start..=#end_name),
        };
        let items = if back { quote!((#range).rev()) } else { quote!(#range) };
        *loops.expr = parse_quote!(#rt::steps(#items, #rounds));
        to.differs = true;
        to.stmts.push(parse_quote!(let #end_name = #end;));
        to.stmts.push(parse_quote!(let #rounds: usize = #rt::rounds(&(#range));));
        to.stmts.push(Stmt::Expr(Expr::ForLoop(loops), None));
        Some(())
    }

    /// Where the runtime's functions for it are.
    fn rt(&self) -> TokenStream {
        let krate = &self.facts.options.krate;
        quote!(#krate::__rt::lane_interchange)
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

    /// Whether loops have an element of an array that would not stay in registers; or one of a member's list, and so much to do with each that
    /// to transpose the lists is nothing beside it.
    fn is_worth_it(&self, loops: &[Stmt]) -> bool {
        let scope = Scope::new(&self.program, self.func);
        let (mut has_array, mut has_list) = (false, false);
        walk::each(loops, |at| {
            if let At::Expr(expr @ Expr::Index(_)) = at
                && let Some(var) = variable(&scope.names, indexed(expr).0)
            {
                has_array |= scope.arrays.get(&var).is_some_and(|array| !array.is_small());
                has_list |= scope.lists.contains(&var);
            }
        });
        let work = |stmt: &Stmt| match stmt {
            Stmt::Expr(Expr::ForLoop(_), _) => gain(&scope.names, stmt, UNKNOWN_INSIDE),
            stmt => effects::of(&scope.names, stmt).weight,
        };
        let work_of_round = |stmt: &Stmt| match stmt {
            Stmt::Expr(Expr::ForLoop(e), _) => e.body.stmts.iter().map(work).sum(),
            _ => 0,
        };
        has_array || has_list && loops.iter().map(work_of_round).sum::<u32>() >= WORTH
    }
}
