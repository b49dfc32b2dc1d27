//! Straight lane code in pieces: one loop over the lanes for each, where one loop for all of it would wait.
//!
//! An elementary function is a chain of some twenty operations, each of which needs the one before. Code that calls
//! several is a chain longer than what a core can look ahead, so that it would hardly begin with the next vector
//! before it is through with this one. In a loop of its own a piece of the chain is short enough for several
//! vectors to be under way. What a later piece needs stays in a strip.
//!
//! Only immutable numbers may cross from piece to piece, so that strips are small: the macro knows no types,
//! but what operators and methods of numbers yield is a number in a program that only computes.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, Pat, Stmt};

use crate::analysis::lane_interchange::Node;
use crate::codegen::emitter::Emitter;
use crate::codegen::instruction_sets::Engine;
use crate::codegen::lane_code::Site;
use crate::codegen::names::numbered;
use crate::codegen::region::{self, Region, binding, column, lane, old, statement};
use crate::codegen::vector_math::Rewrite;
use crate::ir::{Op, Role, Terminator, VarId, VarSet};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::bare;

/// A region in pieces.
pub(crate) struct Loops {
    /// Declares the strips, and loops over the lanes for all pieces but the last.
    pub(crate) before: TokenStream,
    /// What the last piece finds in strips.
    pub(crate) gets: TokenStream,
    /// The region with the last piece's code only.
    pub(crate) last: Region,
}

/// `__strip3`: what a variable is in each lane.
pub(crate) fn strip(var: VarId) -> Ident {
    numbered("strip", var.0)
}

/// The pieces of a region, if its head has several that call elementary functions.
pub(crate) fn pieces(emitter: &Emitter<'_>, region: &Region, engine: Engine<'_>) -> Option<Loops> {
    let program = emitter.program;
    let head = program.block(region.head);
    let math = emitter.vector_math(head.func)?;
    let cuts = cuts(emitter, region, &math);
    let (last, rt) = (*cuts.last()?, &emitter.rt);
    let (l, width) = (lane(), emitter.width.strip);
    let get = |v: &VarId| {
        let (ident, strip) = (&program.var(*v).ident, strip(*v));
        quote!(let #ident = #rt::vector::value(#rt::Strip::lanes(&#strip), #l);)
    };
    let gets = |vars: &VarSet| vars.iter().map(get).collect::<TokenStream>();

    let (mut before, mut all, mut first) = (TokenStream::new(), VarSet::new(), 0);
    for cut in cuts {
        let ops = &head.ops[first..cut];
        let seen = mentions(ops);
        let takes = region.takes.iter().filter(|v| seen.contains(v)).map(|v| {
            let (column, old, ident) = (column(*v), old(*v), binding(&program.var(*v).ident));
            quote! {
                let #old = #rt::Slots::bits(&*#column, #l);
                let #ident = #rt::Slots::take(&*#column, #l, &#old);
            }
        });
        let given = gets(&(&seen & &all));
        let mut lane_code =
            emitter.lane_code(head.func, Site { engine, interchanged: false, may_fault: false });
        let code = ops.iter().flat_map(|op| &op.code).map(|stmt| {
            let mut stmt = stmt.clone();
            lane_code.code(&mut stmt);
            statement(&stmt)
        });
        let code = quote!(#(#takes)* #given #(#code)*);
        let made = &declared(ops) & &mentioned_behind(emitter, region, cut);
        let sets = made.iter().map(|v| {
            let (ident, strip) = (&program.var(*v).ident, strip(*v));
            quote!(#rt::Strip::lanes_mut(&mut #strip)[#l] = ::core::mem::MaybeUninit::new(#ident);)
        });
        let strips = made.iter().map(|v| strip(*v));
        before.extend(quote! {
            #(let mut #strips = #rt::Strip::<_, #width>::new();)*
            for #l in #rt::vector::interleaved(#width) { #code #(#sets)* }
        });
        all.extend(made);
        first = cut;
    }
    let gets = gets(&(&all & &mentioned_behind(emitter, region, last)));
    Some(Loops { before, gets, last: region::region_from(emitter, region.head, engine, last) })
}

/// Code that runs lane-interchanged, in pieces. What crosses has been found to be primitive there.
pub(crate) fn of_nodes(nodes: Vec<Node>, math: &Rewrite<'_, '_>) -> Vec<Node> {
    let mut all = Vec::new();
    for node in nodes {
        match node {
            Node::Lanes(stmts) => {
                let (mut piece, mut called) = (Vec::new(), false);
                for stmt in stmts {
                    let calls = math.calls(&stmt) > 0;
                    if calls && called {
                        all.push(Node::Lanes(std::mem::take(&mut piece)));
                        called = false;
                    }
                    called |= calls;
                    piece.push(stmt);
                }
                all.push(Node::Lanes(piece));
            }
            Node::Loop(head, body) => all.push(Node::Loop(head, of_nodes(body, math))),
            node => all.push(node),
        }
    }
    all
}

/// The ops with which pieces begin, but for the first.
fn cuts(emitter: &Emitter<'_>, region: &Region, math: &Rewrite<'_, '_>) -> Vec<usize> {
    let program = emitter.program;
    let head = program.block(region.head);
    let mut numbers = Numbers::new(emitter, region);
    // All lanes that begin come as far as where a piece may begin, and nothing is given up before it.
    let (mut cuts, mut calls, mut straight) = (Vec::new(), 0, true);
    for (at, op) in head.ops.iter().enumerate() {
        let more: usize = op.code.iter().map(|stmt| math.calls(stmt)).sum();
        if calls > 0 && more > 0 && straight {
            let before = &head.ops[..at];
            let behind = mentioned_behind(emitter, region, at);
            let made = declared(before);
            let may_cross = |v: &VarId| {
                let variable = program.var(*v);
                !variable.mutable && (!made.contains(v) || numbers.contains(&variable.ident))
            };
            if mentions(before).intersection(&behind).all(may_cross) {
                cuts.push(at);
                calls = 0;
            }
        }
        calls += more;
        straight &= op.exits.is_empty();
        numbers.see(op);
    }
    cuts
}

/// Variables that ops declare.
fn declared(ops: &[Op]) -> VarSet {
    ops.iter().flat_map(|op| op.declares.iter().copied()).collect()
}

fn mentions(ops: &[Op]) -> VarSet {
    ops.iter().flat_map(|op| op.uses.iter().chain(&op.defs).copied()).collect()
}

/// Variables that the region needs from its head's op `at` on.
fn mentioned_behind(emitter: &Emitter<'_>, region: &Region, at: usize) -> VarSet {
    let mut all: VarSet = region.outs.iter().copied().collect();
    for block in &emitter.program.blocks {
        let head = std::ptr::eq(block, emitter.program.block(region.head));
        if head || block.region == region.head {
            all.extend(mentions(&block.ops[if head { at } else { 0 }..]));
            all.extend(block.term.uses());
            if let Terminator::TailCall { args, .. } = &block.term {
                all.extend(args);
            }
        }
    }
    all
}

/// Variables that are certainly numbers, as far as the code has been looked at.
struct Numbers {
    names: BTreeSet<Ident>,
}

impl Numbers {
    fn new(emitter: &Emitter<'_>, region: &Region) -> Numbers {
        let vars = region.takes.iter().map(|v| emitter.program.var(*v));
        let typed =
            vars.filter(|v| matches!(v.role, Role::Param(_)) && v.ty.as_ref().is_some_and(is_primitive));
        Numbers { names: typed.map(|v| v.ident.clone()).collect() }
    }

    fn contains(&self, variable: &Ident) -> bool {
        self.names.contains(variable)
    }

    fn see(&mut self, op: &Op) {
        for stmt in &op.code {
            let Stmt::Local(local) = stmt else { continue };
            let (pat, typed) = match &local.pat {
                Pat::Type(t) => (&*t.pat, is_primitive(&t.ty)),
                pat => (pat, false),
            };
            let number = typed || local.init.as_ref().is_some_and(|init| self.is_number(&init.expr));
            if let Pat::Ident(pat) = pat
                && pat.by_ref.is_none()
                && number
            {
                self.names.insert(pat.ident.clone());
            }
        }
    }

    fn is_number(&self, expr: &Expr) -> bool {
        match bare(expr) {
            Expr::Lit(_) | Expr::Binary(_) | Expr::Cast(_) => true,
            Expr::Unary(e) => !matches!(e.op, syn::UnOp::Deref(_)),
            Expr::MethodCall(e) => is_pure_method(&e.method),
            Expr::Path(e) => e.path.get_ident().is_some_and(|ident| self.contains(ident)),
            Expr::Block(e) => self.ends_in_number(&e.block),
            Expr::If(e) => {
                let otherwise = e.else_branch.as_ref();
                self.ends_in_number(&e.then_branch) && otherwise.is_some_and(|(_, e)| self.is_number(e))
            }
            _ => false,
        }
    }

    fn ends_in_number(&self, block: &syn::Block) -> bool {
        matches!(block.stmts.last(), Some(Stmt::Expr(e, None)) if self.is_number(e))
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    /// How many values cross from one piece of `f` to the next.
    fn crossing(args: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> usize {
        let code = crate::driver::autobatch(args, item).to_string();
        code.matches(":: Strip :: < _ ,").count() / crate::codegen::instruction_sets::VARIANTS.len()
    }

    #[test]
    fn chains_of_elementary_functions_are_cut() {
        let chain = quote!(
            fn f(x: f64, y: f64) -> f64 {
                let a = x.exp();
                let b = a * y;
                let c = b.ln() + a;
                c.sin()
            }
        );
        assert_eq!(crossing(quote!(vector_math), chain.clone()), 3);
        assert_eq!(crossing(quote!(), chain), 0);
    }

    #[test]
    fn only_numbers_that_stay_cross() {
        // A parameter that is assigned; an array, or what may be one.
        for (param, body) in [
            (quote!(mut x), quote!(x += x.exp(); x.sin())),
            (quote!(x), quote!(let a = [x.exp(); 9]; a[3].sin())),
            (quote!(x), quote!(let a = row(x.exp()); a[3].sin())),
        ] {
            let row = quote!(
                fn row(x: f64) -> [f64; 9] {
                    [x; 9]
                }
            );
            let item = quote!(mod m { #row pub fn f(#param: f64) -> f64 { #body } });
            assert_eq!(crossing(quote!(vector_math), item), 0, "{body}");
        }
    }
}
