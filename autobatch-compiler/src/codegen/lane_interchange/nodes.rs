//! The code of a plan's nodes: loops that run once for the strip, loops over the lanes, arrays that are copied, exchanged and filled.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ExprForLoop, Stmt, parse_quote};

use super::{
    Layout, QUICK, Within, Writer, all_declared, divisor, element, has_returned, result, unreturned,
};
use crate::analysis::lane_interchange::{Node, assigned, declared, endless, mentions};
use crate::codegen::conditional_stores::assigned_under_condition;
use crate::codegen::instruction_sets::Engine;
use crate::codegen::long_loops::{self, Counted};
use crate::codegen::lookups::{fault, faults};
use crate::codegen::loop_distribution::strip;
use crate::codegen::names::name;
use crate::codegen::own_elements::OwnElements;
use crate::codegen::reciprocal_division::Search;
use crate::codegen::region::{binding, lane};
use crate::codegen::shared_elements::SharedElements;
use crate::codegen::vector::columns::level;
use crate::ir::{VarId, VarSet};

impl Writer<'_, '_> {
    /// A node, in the innermost of some loops.
    pub(super) fn node(&self, node: &Node, within: Option<&Within>) -> TokenStream {
        self.inside.set(within.is_some());
        match node {
            Node::Uniform(stmt) => {
                let mut stmt = stmt.clone();
                self.finish(&mut stmt, false);
                self.count_long_loops(&mut stmt);
                quote!(#stmt)
            }
            Node::Loop(head, body) => {
                self.with_halves(&head.expr, body, || self.loop_of_all(head, body, within))
            }
            Node::Lanes(stmts) => within
                .and_then(|within| self.quotient(stmts, within))
                .unwrap_or_else(|| self.lanes(stmts, quote!())),
            Node::Branch(branch) => self.branch(branch),
            Node::Copy(to, from) => {
                let (rt, shape, to, from, l) = (&self.rt, self.shape(*to), strip(*to), strip(*from), lane());
                match self.is_in() {
                    None => quote!(#rt::copy_rows::<#shape, _, _>(#to, #from);),
                    Some(is_in) => {
                        quote!(#rt::copy_rows_where::<#shape, _, _>(#to, #from, |#l| #is_in);)
                    }
                }
            }
            Node::Swap(one, other) => {
                let (rt, shape, one, other, l) =
                    (&self.rt, self.shape(*one), strip(*one), strip(*other), lane());
                match self.is_in() {
                    None => quote!(::core::mem::swap(#one, #other);),
                    Some(is_in) => {
                        quote!(#rt::swap_rows_where::<#shape, _, _>(#one, #other, |#l| #is_in);)
                    }
                }
            }
            Node::Fill(var, value) => {
                let (rt, l, shape) = (&self.rt, lane(), self.shape(*var));
                let (strip, element) = (strip(*var), element(*var));
                let value_ident = name("__value");
                let stmt: Stmt = parse_quote!(let #value_ident = #value;);
                let lanes = self
                    .lanes(std::slice::from_ref(&stmt), quote!(#rt::set(&mut #element, #l, #value_ident);));
                let is_read = !self.overwritten.contains(var);
                let fill = is_read.then(|| match self.is_in() {
                    None => quote!(#rt::fill_rows::<#shape, _, _>(#strip, &#element);),
                    Some(is_in) => {
                        quote!(#rt::fill_rows_where::<#shape, _, _>(#strip, &#element, |#l| #is_in);)
                    }
                });
                quote!(#lanes #fill)
            }
        }
    }

    /// A loop that runs once for the strip.
    fn loop_of_all(&self, head: &ExprForLoop, body: &[Node], within: Option<&Within>) -> TokenStream {
        let mut iter = head.expr.clone();
        self.in_place(&mut iter);
        let search = self.divisions();
        let changing = search.written(head, body);
        let is_inside = within.is_some();
        let outer = within.map(|w| w.fixed.clone()).unwrap_or_default();
        let own = &search.divisors(head, body, &self.may_divide(&changing)) - &outer;
        let divisors = own.iter().map(|v| {
            let (divisor, new) = (divisor(*v), self.new_divisor());
            quote!(let mut #divisor = #new;)
        });
        let within = Within { fixed: &outer | &own, changing };
        let leave = self.leave(body);
        let entered = self.enter(head, body);
        let body = body.iter().map(|node| {
            let code = self.node(node, Some(&within));
            let all_left = self.leaves(node).then_some(&entered.leave);
            quote!(#code #all_left)
        });
        let body: Vec<TokenStream> = body.collect();
        let (count, pat) = (entered.count, entered.pat);
        // Nobody need be in the loop.
        let all_left = entered.around.0.is_some().then_some(entered.leave);
        self.leave_loop(entered.around);
        let rt = &self.emitter.rt;
        let is_endless = endless(&head.expr).is_some();
        let counts = self.scope.names.trip_counts();
        let counting = (!is_endless)
            .then(|| long_loops::counted_around_lanes(rt, &iter, entered.of_all, is_inside, counts));
        let (before, iter, turn) = match counting.flatten() {
            Some(Counted { before, iter, turn }) => (before, quote!(#iter), turn),
            None if is_endless => (quote!(), quote!(#iter), self.count_turn()),
            None => (quote!(), quote!(#iter), quote!()),
        };
        let faulty = is_endless.then(|| self.give_up()).flatten();
        quote!(#count #(#divisors)* #before for #pat in #iter { #all_left #turn #(#body)* #leave #faulty })
    }

    /// Whether lane code finds the variable in a strip.
    pub(super) fn in_strip(&self, var: VarId) -> bool {
        self.strips.contains(&var) && !self.uniforms.contains(&var) && self.kind(var) == Layout::Strip
    }

    /// Makes what is known of a divisor.
    fn new_divisor(&self) -> TokenStream {
        let (rt, level) = (&self.rt, self.level());
        quote!(#rt::Divisor::new(#level))
    }

    /// The instruction set.
    pub(super) fn level(&self) -> TokenStream {
        let rt = &self.emitter.rt;
        match self.engine {
            Engine::Machine => quote!(#rt::Core::level(__core)),
            Engine::Vector(isa) => level(self.emitter, isa),
        }
    }

    fn divisions(&self) -> Search<'_> {
        Search { names: &self.scope.names, rows: self.arrays().collect() }
    }

    /// Variables that a loop which writes `changing` may know as divisors.
    fn may_divide(&self, changing: &VarSet) -> VarSet {
        let shared = |v: VarId| self.uniforms.contains(&v) || self.scope.program.var(v).is_uniform();
        let all = self.scope.names.values().copied().filter(|v| !changing.contains(v));
        // A part of the lanes must be left for the division unit.
        all.filter(|v| self.width >= 4 * QUICK && (self.in_strip(*v) || shared(*v))).collect()
    }

    /// A piece that divides by what the loops do not change.
    fn quotient(&self, stmts: &[Stmt], within: &Within) -> Option<TokenStream> {
        let (rt, l, width) = (&self.rt, lane(), self.width);
        let (x, q) = (name("__dividends"), name("__quotients"));
        let (dividend, quotient) = (name("__dividend"), name("__quotient"));
        if self.is_in().is_some() {
            return None;
        }
        let found = self.divisions().quotient(stmts, &within.fixed, &within.changing, &quotient)?;
        let (divisor, strip) = (divisor(found.divisor), strip(found.divisor));
        let (is_quick, y) = if self.in_strip(found.divisor) {
            (quote!(is_quick(&mut #divisor, &#strip)), quote!(#rt::get(&#strip, #l)))
        } else {
            let all = self.ident(found.divisor);
            (quote!(is_quick_for_all(&mut #divisor, &#all)), quote!(#all))
        };
        let value = &found.dividend;
        let as_far_as = found.before.iter().cloned().chain([parse_quote!(let #dividend = #value;)]);
        let as_far_as: Vec<Stmt> = as_far_as.collect();
        let (quick, rest) = (quote!(0..#rt::QUICK), quote!(#rt::QUICK..#width));
        let (gets, code, _) = self.piece(&as_far_as);
        let dividends = quote!(for #l in #quick { #gets #code #rt::set(&mut #x, #l, #dividend); });
        let (gets, code, sets) = self.piece(&found.with);
        let quotients = quote!(for #l in #quick { let #quotient = #rt::get(&#q, #l); #gets #code #sets });
        let (gets, code, sets) = self.piece(stmts);
        let rest = quote!(for #l in #rest { #gets #code #sets });
        let all = self.lanes(stmts, quote!());
        Some(quote! {
            if #rt::Divisor::#is_quick {
                let mut #x = #rt::strip::<_, #width>();
                let mut #q = #rt::strip::<_, #width>();
                #dividends
                if !#rt::Divisor::divide(&mut #divisor, &#x, &mut #q) {
                    for #l in #quick { #rt::set(&mut #q, #l, #rt::get(&#x, #l) / #y); }
                }
                #rest
                #quotients
            } else {
                #all
            }
        })
    }

    /// A loop over the lanes.
    pub(super) fn lanes(&self, stmts: &[Stmt], last: TokenStream) -> TokenStream {
        let width = self.width;
        self.lanes_of(stmts, &quote!(0..#width), last)
    }

    /// A loop over some lanes.
    pub(super) fn lanes_of(&self, stmts: &[Stmt], lanes_in: &TokenStream, last: TokenStream) -> TokenStream {
        let l = lane();
        self.shared_elements.replace(SharedElements::of_piece(all_declared(self.scope, stmts)));
        let (gets, code, sets) = self.piece(stmts);
        let elements = self.shared_elements.take();
        let shared = elements.before(&self.emitter.rt);
        let checks = self.checks(&all_declared(self.scope, stmts));
        let lanes = quote!(for #l in #lanes_in { #gets #code #sets #last });
        match elements.is_outside(&self.emitter.rt) {
            None => quote!(#shared #checks #lanes),
            Some(is_outside) => {
                let (gets, code, sets) = self.piece(stmts);
                quote! {
                    #shared #checks
                    if #is_outside {
                        for #l in #lanes_in { #gets #code #sets #last }
                    } else {
                        #lanes
                    }
                }
            }
        }
    }

    /// What a loop over lanes does: takes values out of their strips, runs the user's code, puts values back.
    fn piece(&self, stmts: &[Stmt]) -> (TokenStream, TokenStream, TokenStream) {
        let (rt, l) = (&self.rt, lane());
        let names = &self.scope.names;
        let declared = declared(names, stmts);
        let written = &declared | &assigned(names, stmts);
        let in_hand = |v: &&VarId| self.kind(**v) != Layout::Rows;
        let mine = &(&mentions(names, stmts) & &self.strips) - self.uniforms;
        let get = mine.iter().filter(in_hand).filter(|v| !declared.contains(v)).map(|v| {
            let (strip, ident) = (strip(*v), self.ident(*v));
            let ident = binding(ident);
            match self.kind(*v) {
                Layout::Vector => quote!(let #ident = #rt::get_vector(&#strip, #l);),
                Layout::Borrowed => quote!(let #ident = &#rt::get(&#strip, #l);),
                _ => quote!(let #ident = #rt::get(&#strip, #l);),
            }
        });
        let chosen = assigned_under_condition(names, stmts);
        let set = mine.iter().filter(in_hand).filter(|v| written.contains(v)).map(|v| {
            let (strip, ident) = (strip(*v), self.ident(*v));
            let set = match self.kind(*v) {
                Layout::Strip if chosen.contains(v) => {
                    let zero = self.zero();
                    quote!(#rt::set_chosen(&mut #strip, #l, #zero, #ident);)
                }
                Layout::Vector => quote!(#rt::set_vector(&mut #strip, #l, #ident);),
                Layout::Borrowed => quote!(#rt::set(&mut #strip, #l, #rt::copied(#ident));),
                _ => quote!(#rt::set(&mut #strip, #l, #ident);),
            };
            self.leave_halves(*v, set)
        });
        let mut stmts = stmts.to_vec();
        let halves = self.set_halves(&mut stmts);
        let returns = self.returns.filter(|_| self.has_returns(&stmts));
        let (before, after) = match returns {
            Some(v) => {
                let (strip, unreturned) = (strip(v), unreturned());
                let (has_returned, result) = (has_returned(), result());
                (
                    quote!(let mut #has_returned = #rt::Remaining::has_left(&#unreturned, #l); let mut #result = #rt::held(&#strip, #l);),
                    quote!(#rt::Remaining::note(&mut #unreturned, #l, #has_returned); #strip[#l] = #result;),
                )
            }
            None => Default::default(),
        };
        self.return_values(&mut stmts);
        let (breaks, leaves) = self.breaks(&stmts);
        let is_in = self.predicated_piece(&mut stmts);
        if is_in.is_none() {
            self.choose_stores(&mut stmts);
        }
        self.own_elements.replace(Some(OwnElements::of_piece(all_declared(self.scope, &stmts))));
        stmts.iter_mut().for_each(|stmt| self.finish(stmt, true));
        let own_elements = self.own_elements.take().map(|own| own.lets());
        let (is_in, counts) = is_in.unzip();
        let looks_up = self.lookups.piece(&mut stmts);
        self.count_long_loops(&mut stmts[..]);
        let (open, close) = match looks_up {
            true => {
                let (vector, fault, faults) = (&self.emitter.rt, fault(), faults());
                let noted = match counts {
                    Some(counts) => quote!(#vector::vector::Fault::of_round(#fault, #counts)),
                    None => quote!(#fault),
                };
                (
                    quote!(let #fault = #vector::vector::Fault::new();),
                    quote!(#vector::vector::LaneFaults::note(&mut #faults, #l, #noted);),
                )
            }
            false => Default::default(),
        };
        let code = stmts.iter().map(|stmt| match stmt {
            Stmt::Expr(e, None) => quote!(#e;),
            other => quote!(#other),
        });
        (
            quote!(#(#get)* #halves #before #breaks #is_in #open #own_elements),
            quote!(#(#code)*),
            quote!(#(#set)* #after #leaves #close),
        )
    }
}
