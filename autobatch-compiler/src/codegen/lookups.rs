//! Lookups in lists: where code may run twice, what is out of bounds is noted, and the work given up behind the lanes of a strip.
//!
//! ```text
//! for l in 0..W {                         let list = List::of(&*nodes);  let mut faults = Faults::new(level);
//!     …                                   for l in 0..W {
//!     at = nodes[at].left;       ──▶          let fault = Fault::new();
//!     counts[k] += 1;                         at = (*list.get(at, &fault)).left;
//! }                                           counts[within(k, len(&counts), &fault)] += 1;
//!                                             faults.note(fault);
//!                                         }
//!                                         faults.give_up_if_any();
//! ```
//!
//! An array that a lane has and does not change is read where it lies, or LLVM would copy it for each lane.
//!
//! A panic in lane code stops LLVM's vectoriser; these are comparisons, choices, and gathers. What is given up is what is given up after
//! a panic: the tile of a pure program, whose members then run as scalar code, or a block that runs lane-interchanged. Only lists are looked up so whose type is known to be one of std's, by what is written.
//!
//! This is for AVX-512, which gathers. LLVM makes no gathers for other instruction sets, so that there would only be more to do.
//!
//! A lane that is out of bounds goes on with another element to the end of its region, or for some rounds of it. So a region with a loop
//! inside, which that element might never end, keeps its panics, and one that calls other functions.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::{BinOp, Expr, ExprLit, Lit, Pat, Stmt, Type, UnOp, parse_quote};

use crate::analysis::typed_places::TypedPlaces;
use crate::codegen::emitter::Emitter;
use crate::codegen::names::{name, numbered};
use crate::ir::{Block, BlockId, VarId};
use crate::item::model::Function;
use crate::std_models::pure::{is_primitive, is_pure_function};
use crate::std_models::trip_count::TripCounts;
use crate::syntax::mentions::{bare, idents, name as name_of, untyped};
use crate::syntax::walk::{self, At, AtMut, Code, Next};

/// The rounds of a loop inside a region that may run behind a fault.
const ROUNDS: u64 = 64;

/// What the lanes of a region note, and where they look.
#[derive(Clone, Default)]
pub(crate) struct Lookups {
    /// Declares the lists that all lanes share.
    lists: TokenStream,
    /// Whether there are any lookups.
    any: bool,
}

impl Lookups {
    /// Stands before the loop over the lanes.
    pub(crate) fn before<'l>(
        all: impl Clone + Iterator<Item = &'l Lookups>,
        emitter: &Emitter<'_>,
        level: &TokenStream,
    ) -> TokenStream {
        let (rt, word, faults, lists) = (&emitter.rt, &emitter.word, faults(), all.clone().map(|l| &l.lists));
        let any = all.clone().any(|l| l.any);
        let note = any.then(|| quote!(let mut #faults = #rt::vector::Faults::<#word>::new(#level);));
        quote!(#(#lists)* #note)
    }

    /// The lists only.
    pub(crate) fn lists(&self) -> &TokenStream {
        &self.lists
    }

    /// Whether there are any lookups.
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    /// Stands behind the loop.
    pub(crate) fn behind<'l>(
        mut all: impl Iterator<Item = &'l Lookups>,
        emitter: &Emitter<'_>,
    ) -> TokenStream {
        let (rt, faults) = (&emitter.rt, faults());
        match all.any(|l| l.any) {
            true => quote!(#rt::vector::Faults::give_up_if_any(#faults);),
            false => quote!(),
        }
    }

    /// What stands before a lane's code, and behind it.
    pub(crate) fn of_lane(&self, emitter: &Emitter<'_>) -> (TokenStream, TokenStream) {
        let (rt, faults, fault) = (&emitter.rt, faults(), fault());
        match self.any {
            true => (
                quote!(let #fault = #rt::vector::Fault::new();),
                quote!(#rt::vector::Faults::note(&mut #faults, #fault);),
            ),
            false => Default::default(),
        }
    }
}

/// `__fault`: what a lane notes.
pub(crate) fn fault() -> Ident {
    name("__fault")
}

/// `__faults`: what all lanes of a strip have noted.
pub(crate) fn faults() -> Ident {
    name("__faults")
}

/// A list that each member has of its own, in rows.
pub(crate) struct ListInRows {
    pub(crate) rows: Ident,
    /// The length of a lane's.
    pub(crate) length: TokenStream,
    pub(crate) lane: Ident,
}

/// Rewrites the lookups of a region.
pub(crate) struct LookupWriter<'e> {
    emitter: &'e Emitter<'e>,
    rt: &'e TokenStream,
    head: BlockId,
    places: TypedPlaces<'e>,
    counts: &'e TripCounts,
    /// Variables that are read where they lie, each with its lanes and the lane.
    in_place: BTreeMap<String, TokenStream>,
    /// The lists that all lanes share, by how they are written.
    lists: RefCell<Vec<(String, TokenStream)>>,
    any: Cell<bool>,
    /// Whether the code of the next piece notes faults of its own.
    noted: Cell<bool>,
    /// Whether narrow numbers come out of words that are gathered. That is more code, with which LLVM would not unroll a loop inside.
    gathers_words: bool,
    /// Whether the instruction set gathers. If not, lookups stay as they are.
    gathers: bool,
    /// Variables that lanes may differ in; none if all indices are looked at.
    varying: Option<BTreeSet<String>>,
    /// Members' lists that stand in rows, by name.
    rows: BTreeMap<String, ListInRows>,
}

impl<'e> LookupWriter<'e> {
    /// For the region of these blocks; `None` if it keeps its panics.
    pub(crate) fn new<'b>(
        emitter: &'e Emitter<'e>,
        head: BlockId,
        gathers: bool,
        mut blocks: impl Iterator<Item = &'b Block>,
        in_place: BTreeMap<String, TokenStream>,
    ) -> Option<LookupWriter<'e>> {
        let mut writer = LookupWriter { in_place, gathers, ..LookupWriter::of(emitter, head) };
        let mut loops = false;
        let ends = blocks.all(|block| {
            loops |= block.code().any(|stmt| walk::any(stmt, |at| matches!(at, At::Expr(Expr::ForLoop(_)))));
            writer.ends_soon(block)
        });
        writer.gathers_words = !loops;
        ends.then_some(writer)
    }

    fn of(emitter: &'e Emitter<'e>, head: BlockId) -> LookupWriter<'e> {
        let func = emitter.program.block(head).func;
        let places = TypedPlaces::of(emitter.program, func, emitter.definitions(), &emitter.floats);
        LookupWriter {
            emitter,
            rt: &emitter.rt,
            head,
            places,
            counts: &emitter.program.func(func).trip_counts,
            in_place: BTreeMap::new(),
            lists: RefCell::default(),
            any: Cell::default(),
            noted: Cell::default(),
            gathers_words: true,
            gathers: true,
            varying: None,
            rows: BTreeMap::new(),
        }
    }

    /// For a block that runs lane-interchanged: lookups in what all lanes share, by what lanes differ in.
    pub(crate) fn interchanged(
        emitter: &'e Emitter<'e>,
        head: BlockId,
        varying: BTreeSet<String>,
        rows: BTreeMap<String, ListInRows>,
    ) -> LookupWriter<'e> {
        let gathers_words = false;
        LookupWriter { varying: Some(varying), rows, gathers_words, ..LookupWriter::of(emitter, head) }
    }

    /// Says that code notes faults of its own: that of the next piece, if there are pieces.
    pub(crate) fn note(&self) {
        self.noted.set(true);
    }

    /// Whether code that was rewritten notes faults.
    pub(crate) fn any(&self) -> bool {
        self.any.get() || self.noted.get()
    }

    /// Rewrites code that runs for one lane; whether it notes faults.
    pub(crate) fn piece(&self, stmts: &mut [Stmt]) -> bool {
        let before = self.any.replace(self.noted.take());
        if stmts.iter().all(|stmt| self.is_straight(stmt, self.counts, &[])) {
            self.code(stmts);
        }
        let found = self.any.get();
        self.any.set(before || found);
        found
    }

    pub(crate) fn code(&self, code: &mut (impl Code + ?Sized)) {
        walk::map(code, |at| {
            let expr = match at {
                AtMut::Expr(expr) => expr,
                AtMut::Stmt(Stmt::Local(local)) => return self.read_reference(local),
                _ => return,
            };
            let rewritten = match expr {
                Expr::Reference(e) => {
                    let place = match bare(&e.expr) {
                        Expr::Index(index) => self.lookup(index, false),
                        _ => None,
                    };
                    place.into_iter().for_each(|place| *e.expr = place);
                    None
                }
                Expr::Index(e) => self.lookup(e, true),
                Expr::Binary(e) if self.varying.is_none() => self.quotient(e),
                _ => None,
            };
            if let Some(rewritten) = rewritten {
                *expr = rewritten;
            }
        });
    }

    /// `let b = &bytes[i];` where only `*b` is read may as well borrow a copy.
    fn read_reference(&self, local: &mut syn::Local) {
        let Some(init) = &mut local.init else { return };
        if let (Pat::Ident(p), Expr::Reference(e)) = (untyped(&local.pat), &mut *init.expr)
            && let Expr::Index(index) = bare(&e.expr)
            && self.is_only_read(&p.ident)
            && let Some(value) = self.lookup(index, true)
        {
            *e.expr = value;
        }
    }

    /// Whether a variable is dereferenced wherever it is mentioned, in one region.
    fn is_only_read(&self, ident: &Ident) -> bool {
        let program = self.emitter.program;
        let func = program.block(self.head).func;
        let is_it = |expr: &Expr| matches!(bare(expr), Expr::Path(p) if p.path.is_ident(ident));
        let escapes = |at: At<'_>| match at {
            At::Expr(Expr::Unary(e)) if matches!(e.op, UnOp::Deref(_)) && is_it(&e.expr) => Next::Past,
            At::Expr(expr) if is_it(expr) => Next::Found,
            At::Macro(mac) => idents(mac.tokens.clone()).contains(ident).into(),
            _ => Next::On,
        };
        let moves = |v: VarId| program.var(v).ident == *ident && self.emitter.has_column(v);
        !program.vars_of(func).any(moves)
            && !program.blocks_of(func).any(|block| {
                let code = block.code().any(|stmt| walk::any(stmt, escapes));
                code || block.term.conditions().any(|expr| walk::any(expr, escapes))
            })
    }

    /// The list of `base[index]`, as the runtime is lent it, if that certainly is a list which all members share.
    pub(crate) fn lent(&self, e: &syn::ExprIndex) -> Option<TokenStream> {
        let list = self.places.list(&e.expr).filter(|_| !matches!(*e.index, Expr::Range(_)))?;
        self.places.is_uniform(&e.expr).then(|| list.lent(&e.expr))
    }

    /// What stands in the place of `base[index]`; the lookups in it have yet to be rewritten. If its value suffices, it need not be a place.
    fn lookup(&self, e: &syn::ExprIndex, value: bool) -> Option<Expr> {
        let (rt, fault, base, index) = (self.rt, fault(), &e.expr, &e.index);
        let list = self.places.list(base).filter(|_| self.gathers && !matches!(**index, Expr::Range(_)))?;
        if let Some(varying) = &self.varying {
            let base_name = name_of(bare(base));
            if let Some(list) = base_name.as_ref().and_then(|name| self.rows.get(name))
                && mentioned(index).is_disjoint(varying)
            {
                self.any.set(true);
                let (ListInRows { rows, length, lane }, at, row) = (list, name("__at"), name("__row"));
                return Some(parse_quote!({
                    let #at = #index;
                    let #row = #rt::vector::row(#at, <[_]>::len(#rows));
                    #rt::vector::Fault::note(&#fault, #rt::vector::is_outside(#at, #row, #length));
                    #rt::lane_interchange::copied(&#rows[#row][#lane])
                }));
            }
            let is_members = !list.is_own && base_name.is_some_and(|name| varying.contains(&name));
            let is_same = || mentioned(&Expr::Index(e.clone())).is_disjoint(varying);
            if !is_members && (self.places.is_local(base) || is_same()) {
                return None;
            }
        }
        let in_place = || self.in_place.get(&name_of(bare(base))?).filter(|_| is_primitive(&list.element));
        let lookup = if let Some(lanes) = in_place() {
            parse_quote!(#rt::vector::element(#lanes, #index, &#fault))
        } else if self.places.is_within(base, index) {
            // It can't fail.
            return self.same_for_all(e, value && is_primitive(&list.element));
        } else if list.is_own && self.places.is_local(base) {
            parse_quote!(#base[#rt::vector::within(#index, <[_]>::len(&#base), &#fault)])
        } else if self.places.outlives_lane(base) {
            let lent = list.lent(base);
            let lent = match self.places.is_uniform(base) {
                true => self.shared(&lent).into_token_stream(),
                false => quote!(#rt::vector::List::of(#lent)),
            };
            match value && self.gathers_words && is_narrow(&list.element) {
                true => parse_quote!(#rt::vector::List::narrow(#lent, #index, &#fault)),
                false => parse_quote!((*#rt::vector::List::get(#lent, #index, &#fault))),
            }
        } else {
            return None;
        };
        self.any.set(true);
        Some(lookup)
    }

    /// What stands in the place of a float's division by a number that is written; divisions in the dividend have yet to be rewritten.
    fn quotient(&self, e: &syn::ExprBinary) -> Option<Expr> {
        let (BinOp::Div(_), Expr::Lit(ExprLit { lit: Lit::Float(constant), .. })) = (&e.op, bare(&e.right))
        else {
            return None;
        };
        // Of `f32`, numbers that are too small are not that rare, and the unit divides twice as many.
        self.places.float(&e.left).filter(|float| float == "f64")?;
        self.any.set(true);
        let (rt, fault, dividend) = (self.rt, fault(), &e.left);
        Some(parse_quote!(#rt::vector::quotient(#dividend, #constant, &#fault)))
    }

    /// An element that is the same for all lanes is read before their loop: LLVM takes what is read under a condition for a gather.
    fn same_for_all(&self, e: &syn::ExprIndex, is_number: bool) -> Option<Expr> {
        let mut base = &*e.expr;
        while let Expr::Index(inner) = bare(base) {
            if !self.places.is_within(&inner.expr, &inner.index) {
                return None;
            }
            base = &inner.expr;
        }
        if !is_number || !self.places.is_uniform(base) {
            return None;
        }
        let element = self.declared(&e.to_token_stream(), |element| element.clone());
        Some(parse_quote!(#element))
    }

    /// `__list4_0`: a list that all lanes share.
    fn shared(&self, list: &TokenStream) -> Ident {
        let rt = self.rt;
        self.declared(list, |list| quote!(#rt::vector::List::of(#list)))
    }

    /// A variable before the loop over lanes, for what is written so.
    fn declared(&self, code: &TokenStream, value: impl Fn(&TokenStream) -> TokenStream) -> Ident {
        let (mut lists, text) = (self.lists.borrow_mut(), code.to_string());
        let known = lists.iter().position(|(known, _)| *known == text);
        let nth = known.unwrap_or(lists.len());
        let ident = numbered(&format!("list{}_", self.head.0), Literal::usize_unsuffixed(nth));
        if known.is_none() {
            let value = value(code);
            lists.push((text, quote!(let #ident = #value;)));
        }
        ident
    }

    /// Whether code ends whatever it computes with.
    fn ends_soon(&self, block: &Block) -> bool {
        block.term.conditions().all(|expr| self.is_straight(expr, self.counts, &[]))
            && block.code().all(|stmt| self.is_straight(stmt, self.counts, &[]))
    }

    /// Whether there are no loops in code, other than of a few rounds, and no calls of functions that may have some. `around`
    /// are the functions that lead to it.
    fn is_straight(&self, code: &(impl Code + ?Sized), counts: &TripCounts, around: &[&Function]) -> bool {
        !walk::any(code, |at| match at {
            At::Expr(Expr::While(_) | Expr::Loop(_) | Expr::Closure(_)) => true,
            At::Expr(Expr::ForLoop(e)) => counts.of(&e.expr).is_none_or(|trips| trips > ROUNDS),
            At::Expr(Expr::Call(e)) => match &*e.func {
                Expr::Path(p) => {
                    let own = p.path.segments.iter().any(|s| s.ident == "__rt");
                    let variant = p.path.segments.last().is_some_and(|s| s.ident == "Some");
                    !(own || variant || is_pure_function(p) || self.leads_to_straight(e, around))
                }
                _ => true,
            },
            _ => false,
        })
    }

    /// Whether a function is called whose code is straight.
    fn leads_to_straight(&self, call: &syn::ExprCall, around: &[&Function]) -> bool {
        let Some(callee) = self.emitter.callee(call) else { return false };
        if around.iter().any(|known| std::ptr::eq(*known, callee)) {
            return false;
        }
        let around: Vec<&Function> = around.iter().copied().chain([callee]).collect();
        self.is_straight(&callee.body, &TripCounts::default(), &around)
    }

    /// What has been rewritten.
    pub(crate) fn lookups(&self) -> Lookups {
        let lists = self.lists.borrow().iter().map(|(_, list)| list.clone()).collect();
        Lookups { lists, any: self.any() }
    }
}

/// Whether no instruction gathers numbers of a type: frames gather the words that have them. Interchanged code reads them lane by lane; noise
/// by a table of bytes takes a tenth longer with gathered words.
fn is_narrow(ty: &Type) -> bool {
    matches!(ty, Type::Path(p) if ["u8", "i8", "u16", "i16", "bool"].iter().any(|name| p.path.is_ident(name)))
}

/// The variables in an expression.
fn mentioned(expr: &Expr) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    walk::each(expr, |at| {
        if let At::Expr(expr) = at {
            names.extend(name_of(expr));
        }
    });
    names
}
