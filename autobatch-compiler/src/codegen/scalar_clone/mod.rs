//! Depth-counting clones: the user's scalar functions, with calls of each other that count depth and
//! never run out of native stack.
//!
//! A clone is the function as written but for one more parameter, the runtime's `Depth`, a check of it
//! on entry, and the calls of functions that have a clone. It serves where scalar code runs members: the
//! scalar executor, functions that fall back as a whole, single calls of a lane.
//!
//! Where calls are most of the work, passing the depth on and checking it would cost a third of the time.
//! So a small recursive function has a second, *inlined* clone, which checks nothing and makes a loop of tail calls of
//! itself (`tail_loop`), and clones call in turns: the clone the inlined ones, these the clones. There are then fewer calls left than the
//! function itself makes. Where that is little code, a third clone stands between them, inlined too: two levels of three are inlined.
//! A clone that calls inlined ones is entered only while their levels and its own are allowed;
//! where they are not, the *leaf*, another copy that calls clones, takes its place.
//!
//! Names of functions that are not called where they stand mean functions that count too (`shadows`). What keeps calling the
//! function itself: paths through modules, methods in the tokens of macros that are not std's, methods of receivers whose type
//! is not known, constant expressions, `async` blocks.

mod shadows;
mod tail_loop;
mod ticks;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Expr, FnArg, Item, Meta, Pat, Path, Type, parse_quote};
use tail_loop::{again, can_loop, looped};

use crate::codegen::definition_check::Types;
use crate::codegen::repeatable::{can_be_repeated, carries_over};
use crate::codegen::vector_math::VectorMath;
use crate::index::definitions::Definitions;
use crate::item::model::{self, Function};
use crate::item::selection;
use crate::resolve::resolution::Resolution;
use crate::syntax::attributes::GENERATED;
use crate::syntax::call_sites::{self, CallSite, unmark};
use crate::syntax::impl_trait;
use crate::syntax::mentions::{idents, text};
use crate::syntax::reachability::reached;
use crate::syntax::standard_macros;
use crate::syntax::tail_positions::Tails;
use crate::syntax::turbofish::turbofish;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Next};

/// What is known of the functions of an item, by position, once its programs are lowered.
#[derive(Default)]
pub struct ProgramFacts {
    /// Calls in tail position, by function and number, that are no tail calls.
    pub counted: BTreeSet<(usize, CallSite)>,
    /// Functions that only compute, on primitive values: nothing of theirs is dropped.
    pub computes: BTreeSet<usize>,
    /// How many calls of a function are blocks of their own, if all of its loops are as they are written.
    pub calls_in_blocks: BTreeMap<usize, Option<usize>>,
}

/// Which functions of an annotated item have a clone.
pub struct Clones<'a> {
    functions: &'a [Function],
    /// Those beside the item.
    helpers: &'a [Function],
    definitions: &'a Definitions,
    resolution: &'a Resolution,
    has: Vec<bool>,
    /// Those of the others that have a copy that counts, since they have loops.
    loops: Vec<bool>,
    /// Those that have an inlined clone too.
    inlined: Vec<bool>,
    /// The tokens of a function.
    sizes: Vec<usize>,
    /// How many levels of calls are inlined into a clone, if any are.
    levels: Vec<usize>,
    /// The calls that count depth, by position.
    calls: BTreeSet<(usize, usize)>,
    known: ProgramFacts,
    vector_math: Option<&'a VectorMath<'a>>,
    krate: &'a Path,
    /// The name by which the type of an `impl` block can be called, if it has no arguments to differ in.
    self_name: Option<&'a Ident>,
    /// Associated functions that are used as values.
    values: RefCell<BTreeSet<usize>>,
    /// The inlined clones that are called: whether they count, and how many levels are inlined into them.
    called: RefCell<BTreeSet<(usize, bool, usize)>>,
}

impl<'a> Clones<'a> {
    /// Decides for all functions of the item. Only calls between functions of the program count depth,
    /// so a function without such calls, in or out, needs no clone.
    ///
    /// Under `vector_math` every function of a program needs one, which computes as the lanes do.
    pub fn new(
        item: &'a model::Item,
        resolution: &'a Resolution,
        entries: &[usize],
        krate: &'a Path,
        vector_math: Option<&'a VectorMath<'a>>,
        primitives: &[Path],
        known: ProgramFacts,
    ) -> Self {
        let functions = &item.functions[..];
        let definitions = &item.declared.definitions;
        let (worth, calls) = selection::call_graph(functions, entries, primitives, definitions);
        let has: Vec<bool> = (0..functions.len())
            .map(|f| {
                let linked = calls.iter().any(|(from, to)| *from == f || *to == f);
                worth.contains(&f) && (linked || vector_math.is_some()) && can_be_repeated(&functions[f])
            })
            .collect();
        let loops = (0..functions.len()).map(|f| {
            let function = &functions[f];
            let may_have = worth.contains(&f) && !has[f] && !selection::is_generic(function);
            may_have && has_loops(&function.written) && can_be_repeated(function)
        });
        let loops = loops.collect();
        let called = |f: usize| calls.iter().filter(move |(from, _)| *from == f).map(|(_, to)| *to);
        let recursive = |f: usize| reached(f, called).contains(&f);
        let sizes: Vec<usize> = functions.iter().map(size).collect();
        let small: Vec<bool> =
            (0..functions.len()).map(|f| has[f] && recursive(f) && sizes[f] <= SMALL).collect();
        let self_name = match &item.own {
            Some(Type::Path(p)) if p.qself.is_none() => {
                p.path.segments.last().filter(|s| s.arguments.is_none()).map(|s| &s.ident)
            }
            _ => None,
        };
        let mut clones = Clones {
            functions,
            helpers: &item.helpers,
            definitions: &item.declared.definitions,
            resolution,
            has,
            loops,
            inlined: vec![false; functions.len()],
            sizes,
            levels: vec![1; functions.len()],
            calls,
            known,
            vector_math,
            krate,
            self_name,
            values: RefCell::default(),
            called: RefCell::default(),
        };
        clones.inlined = (0..functions.len()).map(|f| small[f] && clones.tail_calls_loop(f)).collect();
        let levels = |f: usize| {
            // Calls in the tokens of macros are not seen here. Of generic code rustc says errors once for each copy.
            let sees_calls = clones.inlined_callees(f).next().is_some();
            let is_generic = functions[f].sig.generics.type_params().next().is_some();
            let fits = clones.inlined[f] && sees_calls && !is_generic && clones.size_with(f, LEVELS) <= DEEP;
            if fits { LEVELS } else { 1 }
        };
        clones.levels = (0..functions.len()).map(levels).collect();
        clones
    }

    /// The path that calls the clone of a function of the item, given its position in the source:
    /// arguments as for the function itself, then a `Depth`.
    pub fn path(&self, function: usize) -> Option<TokenStream> {
        self.has[function].then(|| self.path_of(function, CloneKind::PLAIN))
    }

    fn path_of(&self, function: usize, kind: CloneKind) -> TokenStream {
        let f = &self.functions[function];
        let name = clone_name(&f.sig.ident, kind);
        if f.associated { quote!(Self::#name) } else { quote!(#name) }
    }

    /// The same for the clone that looks at the limits.
    pub fn counted_path(&self, function: usize) -> Option<TokenStream> {
        self.counts(function).then(|| self.path_of(function, CloneKind::COUNTED))
    }

    /// Whether a function has a copy that counts. Each copy of a generic function shows the user's errors again.
    fn counts(&self, function: usize) -> bool {
        let computes = self.known.computes.contains(&function);
        let clones = self.has[function] && (computes || !selection::is_generic(&self.functions[function]));
        clones || self.loops[function]
    }

    /// Whether that copy makes the steps that blocks make (`analysis::steps`).
    pub fn steps(&self, function: usize) -> bool {
        let in_blocks = self.known.calls_in_blocks.get(&function).copied().flatten();
        self.counts(function) && in_blocks == Some(self.calls_in(&self.functions[function]))
    }

    /// The same of a program that only computes: few lanes of it run as scalar code, be there limits or not.
    pub fn counted_path_of_lanes(&self, function: usize) -> Option<TokenStream> {
        self.counted_path(function).filter(|_| self.has[function] && self.known.computes.contains(&function))
    }

    /// The function at a position in the source.
    pub(crate) fn function(&self, position: usize) -> &'a Function {
        &self.functions[position]
    }

    /// The functions of the item, then those beside it.
    pub(crate) fn callees(&self) -> impl Iterator<Item = &'a Function> {
        self.functions.iter().chain(self.helpers)
    }

    /// The types that the item can see.
    pub(crate) fn definitions(&self) -> &'a Definitions {
        self.definitions
    }

    /// What rewrites code under `vector_math`.
    pub(crate) fn vector_math(&self) -> Option<&'a VectorMath<'a>> {
        self.vector_math
    }

    /// All clones, to stand beside the functions.
    pub fn items(&self) -> Vec<TokenStream> {
        let mut items = Vec::new();
        for index in (0..self.functions.len()).filter(|f| self.loops[*f]) {
            items.push(self.item(index, CloneKind::COUNTED));
        }
        for index in (0..self.functions.len()).filter(|f| self.has[*f]) {
            let kinds = [CloneKind::PLAIN, CloneKind::COUNTED];
            for kind in kinds.into_iter().filter(|kind| !kind.counted || self.counts(index)) {
                items.push(self.item(index, kind));
                if self.inlines(index, kind) {
                    items.push(self.item(index, CloneKind { role: Role::Leaf, ..kind }));
                }
            }
        }
        items.extend(self.inlined_items());
        let values = self.values.borrow();
        items.extend(values.iter().map(|f| self.stand_in(*f, CloneKind::PLAIN, self.value_name(*f))));
        items
    }

    /// Whether clones of this kind run for few lanes only, because vectors run what only computes.
    fn is_rare(&self, kind: CloneKind) -> bool {
        kind.counted && (0..self.has.len()).all(|f| !self.has[f] || self.known.computes.contains(&f))
    }

    /// The inlined clones that the others call, and those that they call.
    fn inlined_items(&self) -> Vec<TokenStream> {
        let (mut items, mut known) = (Vec::new(), BTreeSet::new());
        loop {
            let next = self.called.borrow().difference(&known).next().copied();
            let Some((index, counted, more)) = next else { return items };
            known.insert((index, counted, more));
            items.push(self.item(index, CloneKind { role: Role::Inlined { more }, counted }));
        }
    }

    /// The functions that a function calls, as often as it does so, and which have an inlined clone.
    fn inlined_callees(&self, index: usize) -> impl Iterator<Item = usize> {
        self.callees_of(&self.functions[index]).into_iter().filter(|callee| self.inlined[*callee])
    }

    /// How large the clone of a function gets with so many levels of calls inlined.
    fn size_with(&self, index: usize, levels: usize) -> usize {
        let more = levels.checked_sub(1);
        let inlined =
            more.map_or(0, |more| self.inlined_callees(index).map(|f| self.size_with(f, more)).sum());
        self.sizes[index] + inlined
    }

    /// Whether the clone of a function calls inlined clones.
    fn inlines(&self, index: usize, kind: CloneKind) -> bool {
        if self.is_rare(kind) {
            return false;
        }
        let inlined = self.calls.iter().any(|(from, to)| *from == index && self.inlined[*to]);
        inlined && self.calls_in(&self.functions[index]) <= INLINED_CALLS
    }

    /// Whether an inlined clone can do without tail calls, which are jumps in a clone, but would be calls in one that is
    /// inlined into another: its calls of itself become a loop ([`looped`]).
    fn tail_calls_loop(&self, index: usize) -> bool {
        let caller = &self.functions[index];
        let mut body = caller.written.clone();
        let mut redirect = Redirect::new(self, caller, CloneKind { role: Role::Leaf, counted: false }, false);
        Tails { call: |expr: &mut Expr| redirect.tail_call(expr) }.function(&mut body);
        redirect.tails.is_empty()
            || (redirect.tails == BTreeSet::from([index])
                && self.known.computes.contains(&index)
                && can_loop(caller))
    }

    fn item(&self, index: usize, kind: CloneKind) -> TokenStream {
        let function = &self.functions[index];
        let krate = self.krate;
        let depth = depth_ident();
        let mut body = function.written.clone();
        let inlines = kind.role == Role::Clone && self.inlines(index, kind);
        let mut redirect = Redirect::new(self, function, kind, inlines);
        Tails { call: |expr: &mut Expr| redirect.tail_call(expr) }.function(&mut body);
        let is_inlined = matches!(kind.role, Role::Inlined { .. });
        let loops = is_inlined && !redirect.tails.is_empty();
        let (mut publish, mut mentioned) = (None, BTreeSet::new());
        for (at, stmt) in body.stmts.iter_mut().enumerate() {
            redirect.visit_stmt_mut(stmt);
            let found = self.mentioned(function, &*stmt);
            match stmt {
                _ if found.is_empty() && !redirect.found => {}
                // It may be called from anywhere.
                syn::Stmt::Item(_) => publish = Some(0),
                _ => publish = publish.or(Some(at)),
            }
            mentioned.extend(found);
        }
        mentioned.retain(|callee| !redirect.wrong.contains(callee));
        let shadows = self.shadows(&mentioned, kind, &redirect.constant);
        // Not on entry: many calls return before they come to a closure.
        if let Some(at) = publish.filter(|_| redirect.found || !shadows.is_empty()) {
            let guard = Ident::new("__published", Span::mixed_site());
            body.stmts.insert(at, parse_quote!(let #guard = #depth.publish();));
        }

        unmark(&mut body);
        let rt = quote!(#krate::__rt);
        if let Some(math) = self.vector_math {
            math.of(function).visit_block_mut(&mut body);
        }
        if loops {
            body = looped(function, &body);
        }
        let steps = self.steps(index);
        if kind.counted {
            ticks::in_loops(&mut body, &rt, steps);
        }
        let tick = match kind.role {
            _ if !kind.counted => quote!(),
            // It is a part of a clone that ticks, unless each tick is a step.
            Role::Inlined { .. } if steps => quote!(#rt::tick_inlined();),
            Role::Inlined { .. } => quote!(),
            _ => quote!(#rt::tick();),
        };
        let mut sig = function.sig.clone();
        sig.ident = clone_name(&function.sig.ident, kind);
        sig.constness = None;
        let mut args: Vec<TokenStream> = Vec::new();
        let mut patterns = Vec::new();
        for (i, arg) in sig.inputs.iter_mut().enumerate() {
            match arg {
                FnArg::Receiver(_) => args.push(quote!(self)),
                FnArg::Typed(t) => match &mut *t.pat {
                    Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                        let ident = &p.ident;
                        args.push(quote!(#ident));
                        let mutability = &p.mutability;
                        patterns.push(quote!(let #mutability #ident = #ident;));
                    }
                    pattern => {
                        let ident = format_ident!("__p{}", i, span = Span::mixed_site());
                        patterns.push(quote!(let #ident = #ident; let #pattern = #ident;));
                        *t.pat = parse_quote!(#ident);
                        args.push(quote!(#ident));
                    }
                },
            }
        }
        // As rustc does it itself, so that what patterns leave unbound is dropped in its turn.
        let plain = function.params.iter().all(|p| p.pattern.is_none());
        let patterns = (!plain).then_some(patterns).into_iter().flatten();
        sig.inputs.push(parse_quote!(#depth: #krate::__rt::Depth));
        let fish = turbofish(&sig.generics);
        let inline = match kind.role {
            Role::Inlined { .. } => Some(quote!(#[inline(always)])),
            Role::Clone if !self.is_rare(kind) || self.loops[index] => None,
            Role::Leaf | Role::Clone => Some(quote!(#[cold] #[inline(never)])),
        };
        let [clone, leaf] =
            [Role::Clone, Role::Leaf].map(|role| self.path_of(index, CloneKind { role, ..kind }));
        let levels = self.levels[index];
        let (stops, enter) = match kind.role {
            Role::Clone if inlines => (
                quote!(nears(#levels)),
                quote!(if #depth.is_last(#levels) { #leaf #fish(#(#args,)* #depth) } else { #clone #fish(#(#args,)* #depth) }),
            ),
            Role::Leaf => (quote!(stops()), quote!(#leaf #fish(#(#args,)* #depth))),
            _ => (quote!(stops()), quote!(#clone #fish(#(#args,)* #depth))),
        };
        let enter = (!is_inlined).then(|| {
            quote! {
                if #depth.#stops {
                    return #depth.elsewhere(move |#depth| #enter);
                }
            }
        });
        let attrs = function.attrs.iter();
        let own = |a: &Attribute| {
            kind != CloneKind::PLAIN && (a.path().is_ident("inline") || a.path().is_ident("cold"))
        };
        let attrs = attrs.filter(|a| carries_over(a) && !own(a));
        let mut attrs: Vec<Attribute> = attrs.cloned().collect();
        attrs.iter_mut().for_each(|attr| redirect.visit_attribute_mut(attr));
        let stmts = &body.stmts;
        let mut code = quote!(#(#patterns)* #(#stmts)*);
        if !shadows.is_empty() {
            // Items of the body go before them.
            code = quote!({ #(#shadows)* { #code } });
        }
        // Whoever calls the clone uses the function, as far as lints are concerned.
        let (this, scalar) = (crate::codegen::names::scalar_path(function), &function.sig.ident);
        let used = (!impl_trait::any(&sig.generics)).then(|| quote!(let _ = #this #scalar #fish;));
        let check = crate::codegen::definition_check::mentions(std::iter::once(function));
        Types::of(function, &rt).output(&mut sig);
        quote! {
            #(#attrs)*
            #inline
            #[doc(hidden)]
            #[allow(warnings)]
            #GENERATED
            #sig {
                #check
                #enter
                #tick
                #used
                #code
            }
        }
    }

    /// How many calls of clones a function holds.
    fn calls_in(&self, caller: &Function) -> usize {
        self.callees_of(caller).len()
    }

    /// The functions that a function calls clones of, as often as it does so.
    fn callees_of(&self, caller: &Function) -> Vec<usize> {
        let mut callees = Vec::new();
        walk::each(&caller.written, |at| match at {
            At::Expr(expr) => {
                callees.extend(self.callee(expr, caller));
                Next::On
            }
            _ => Next::Inside,
        });
        callees
    }

    /// The function that an expression calls if it has a clone.
    fn callee(&self, expr: &Expr, caller: &Function) -> Option<usize> {
        match expr {
            Expr::Call(call) => self.called(call, caller),
            Expr::MethodCall(call) => self.called_method(call, caller),
            _ => None,
        }
    }

    fn called(&self, call: &syn::ExprCall, caller: &Function) -> Option<usize> {
        let index = self.at_path(&call.func, caller)?;
        (self.functions[index].params.len() == call.args.len()).then_some(index)
    }

    /// The function with a clone that a path names.
    fn at_path(&self, path: &Expr, caller: &Function) -> Option<usize> {
        let Expr::Path(path) = path else { return None };
        let segments = &path.path.segments;
        let name = &segments.last()?.ident;
        let index = self.named(name, caller)?;
        let plain = path.qself.is_none() && path.path.leading_colon.is_none();
        let fits = match (segments.len(), self.functions[index].associated) {
            (1, false) => !caller.bindings.contains_key(&name.to_string()),
            (2, true) => {
                let ty = &segments[0];
                ty.ident == "Self" || (Some(&ty.ident) == self.self_name && ty.arguments.is_none())
            }
            _ => false,
        };
        (plain && fits).then_some(index)
    }

    fn called_method(&self, call: &syn::ExprMethodCall, caller: &Function) -> Option<usize> {
        let on_self = matches!(&*call.receiver, Expr::Path(p) if p.path.is_ident("self"))
            || self.resolution.is_own(self.position(&caller.sig.ident)?, call_sites::marked(&call.attrs));
        let index = self.named(&call.method, caller)?;
        let callee = &self.functions[index];
        // A wrong number of arguments is the user's mistake, to be reported of the function itself.
        let fits = callee.sig.receiver().is_some() && callee.params.len() == call.args.len() + 1;
        (on_self && fits).then_some(index)
    }

    fn named(&self, name: &Ident, caller: &Function) -> Option<usize> {
        let (from, to) = (self.position(&caller.sig.ident)?, self.position(name)?);
        (self.has[to] && self.calls.contains(&(from, to))).then_some(to)
    }

    /// What stands for an associated function that is used as a value.
    fn value_name(&self, function: usize) -> Ident {
        let name = &self.functions[function].sig.ident;
        format_ident!("__autobatch_value_{}", name, span = name.span())
    }

    fn position(&self, name: &Ident) -> Option<usize> {
        self.functions.iter().position(|f| f.sig.ident == *name)
    }
}

/// A clone is inlined into at most so many calls of another.
const INLINED_CALLS: usize = 4;
/// Functions of at most so many tokens have an inlined clone.
const SMALL: usize = 200;
/// So many levels of calls are inlined, if the clone has at most so many tokens with them; else one.
const LEVELS: usize = 2;
const DEEP: usize = 500;

/// The tokens of a function.
fn size(function: &Function) -> usize {
    fn count(tokens: TokenStream) -> usize {
        let size = |tree| match tree {
            TokenTree::Group(group) => 1 + count(group.stream()),
            _ => 1,
        };
        tokens.into_iter().map(size).sum()
    }
    let mut written = function.written.clone();
    unmark(&mut written);
    count(written.to_token_stream())
}

/// The copies of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CloneKind {
    role: Role,
    /// Whether it looks at the limits of the run now and then: on entry, and at each turn of a loop.
    counted: bool,
}

impl CloneKind {
    const PLAIN: CloneKind = CloneKind { role: Role::Clone, counted: false };
    const COUNTED: CloneKind = CloneKind { role: Role::Clone, counted: true };
}

/// What a copy is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Checks depth and stack.
    Clone,
    /// Inlined into a clone, which has checked both; so many levels `more` are inlined into it.
    Inlined { more: usize },
    /// Takes the place of a clone where less calls are allowed than are inlined into it.
    Leaf,
}

/// `__autobatch_clone_f`, spelled with the span of `f`, so that rustc's messages about a call are those
/// about the call of `f`, and are shown once.
fn clone_name(name: &Ident, kind: CloneKind) -> Ident {
    let kind = match (kind.role, kind.counted) {
        (Role::Clone, false) => "clone",
        (Role::Inlined { more: 0 }, false) => "inlined",
        (Role::Inlined { .. }, false) => "inlined_with_calls",
        (Role::Leaf, false) => "leaf",
        (Role::Clone, true) => "counted",
        (Role::Inlined { more: 0 }, true) => "counted_inlined",
        (Role::Inlined { .. }, true) => "counted_inlined_with_calls",
        (Role::Leaf, true) => "counted_leaf",
    };
    format_ident!("__autobatch_{}_{}", kind, name, span = name.span())
}

fn depth_ident() -> Ident {
    Ident::new("__depth", Span::mixed_site())
}

/// Whether a function has loops of its own.
fn has_loops(body: &syn::Block) -> bool {
    walk::any(body, |at| matches!(at, At::Expr(Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_))))
}

/// Calls clones instead of functions.
struct Redirect<'a> {
    clones: &'a Clones<'a>,
    caller: &'a Function,
    kind: CloneKind,
    /// Whether it calls the inlined clones where there are any.
    inlines: bool,
    /// Inside a closure.
    closure: bool,
    /// Whether any call in a closure was found.
    found: bool,
    /// The functions that tail calls were found of.
    tails: BTreeSet<usize>,
    /// The names in constant expressions, types and items.
    constant: BTreeSet<String>,
    /// The functions that are called with a wrong number of arguments, which is to be reported of them alone.
    wrong: BTreeSet<usize>,
}

impl<'a> Redirect<'a> {
    fn new(clones: &'a Clones<'a>, caller: &'a Function, kind: CloneKind, inlines: bool) -> Self {
        Redirect {
            clones,
            caller,
            kind,
            inlines,
            closure: false,
            found: false,
            tails: BTreeSet::new(),
            constant: BTreeSet::new(),
            wrong: BTreeSet::new(),
        }
    }

    /// In a closure, the depth is the one that the activation has published.
    fn closure(&mut self, closure: &mut syn::ExprClosure) {
        let before = (std::mem::replace(&mut self.closure, true), std::mem::take(&mut self.found));
        visit_mut::visit_expr_closure_mut(self, closure);
        let found = std::mem::replace(&mut self.found, before.1);
        self.closure = before.0;
        if found {
            let (krate, depth, body) = (self.clones.krate, depth_ident(), &closure.body);
            closure.body = parse_quote!({
                let #depth = #krate::__rt::Depth::published();
                #body
            });
            self.found = true;
        }
    }

    /// Which copy of a function a call is made one of. Closures run where other activations may have
    /// published a depth: what they call checks it. A tail call passes the depth on; not to an inlined clone, as
    /// LLVM makes a loop of a call of the same function.
    fn copy(&self, callee: usize, tail: bool) -> CloneKind {
        let inlined = !tail && !self.closure && self.clones.inlined[callee];
        let role = match self.kind.role {
            Role::Clone if self.inlines && inlined => {
                let levels =
                    self.clones.position(&self.caller.sig.ident).map_or(1, |f| self.clones.levels[f]);
                Role::Inlined { more: levels - 1 }
            }
            Role::Inlined { more: more @ 1.. } if inlined => Role::Inlined { more: more - 1 },
            Role::Leaf if tail && self.clones.inlines(callee, self.kind) => Role::Leaf,
            _ => Role::Clone,
        };
        let counted = self.kind.counted && self.clones.counts(callee);
        if let Role::Inlined { more } = role {
            self.clones.called.borrow_mut().insert((callee, counted, more));
        }
        CloneKind { role, counted }
    }

    /// A tail call passes the depth on as it is. What a tail call is says the pass of that name: the result is the
    /// caller's result, of the same type by name, and nothing is left to do.
    fn tail_call(&mut self, expr: &mut Expr) {
        let (clones, caller) = (self.clones, self.caller);
        let callee = clones.callee(expr, caller);
        let counted = call_sites::of(expr).is_some_and(|site| {
            let position = clones.position(&caller.sig.ident);
            position.is_some_and(|position| clones.known.counted.contains(&(position, site)))
        });
        let Some(callee) =
            callee.filter(|f| !counted && text(&clones.functions[*f].output) == text(&caller.output))
        else {
            return;
        };
        self.tails.insert(callee);
        match expr {
            Expr::Call(call) if matches!(self.kind.role, Role::Inlined { .. }) => *expr = again(&call.args),
            _ => {
                self.call(expr, true);
            }
        }
    }

    /// Makes a call, not what it holds, one of a clone; the function it calls.
    fn call(&self, expr: &mut Expr, tail: bool) -> bool {
        let depth = depth_ident();
        let depth: Expr = if tail { parse_quote!(#depth) } else { parse_quote!(#depth.next()) };
        let Some(callee) = self.clones.callee(expr, self.caller) else { return false };
        let kind = self.copy(callee, tail);
        match expr {
            Expr::Call(call) => {
                if let Expr::Path(path) = &mut *call.func
                    && let Some(last) = path.path.segments.last_mut()
                {
                    last.ident = clone_name(&last.ident, kind);
                }
                call.args.push(depth);
            }
            Expr::MethodCall(call) => {
                call.method = clone_name(&call.method, kind);
                call.args.push(depth);
            }
            _ => {}
        }
        true
    }
}

impl Redirect<'_> {
    fn constant(&mut self, code: &impl ToTokens) {
        self.constant.extend(idents(code.to_token_stream()).iter().map(ToString::to_string));
    }

    /// An associated function as a value; those beside the item are shadowed.
    fn value(&mut self, path: &mut Expr) {
        let Some(callee) = self.clones.at_path(path, self.caller) else { return };
        if let Expr::Path(path) = path
            && self.clones.functions[callee].associated
            && let Some(last) = path.path.segments.last_mut()
        {
            last.ident = self.clones.value_name(callee);
            self.clones.values.borrow_mut().insert(callee);
            self.found = true;
        }
    }
}

impl VisitMut for Redirect<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Async(_) => return,
            Expr::Const(e) => return self.constant(e),
            Expr::Repeat(e) => {
                self.constant(&e.len);
                return self.visit_expr_mut(&mut e.expr);
            }
            Expr::Closure(e) => return self.closure(e),
            Expr::Path(_) => return self.value(expr),
            Expr::Call(call) => {
                match self.clones.at_path(&call.func, self.caller) {
                    Some(callee) if call.args.len() != self.clones.functions[callee].params.len() => {
                        self.wrong.insert(callee);
                    }
                    Some(_) => {}
                    None => self.visit_expr_mut(&mut call.func),
                }
                call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        self.found |= self.call(expr, false) && self.closure;
    }

    // A lint expected once need not come again.
    fn visit_attribute_mut(&mut self, attr: &mut Attribute) {
        if let Meta::List(list) = &mut attr.meta
            && list.path.is_ident("expect")
        {
            list.path = parse_quote!(allow);
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let mut rewritten = mac.clone();
        if standard_macros::rewrite_arguments(&mut rewritten, &mut |arg| self.visit_expr_mut(arg))
            && text(&rewritten.tokens) != text(&mac.tokens)
        {
            *mac = rewritten;
        }
    }
    fn visit_item_mut(&mut self, item: &mut Item) {
        self.constant(item);
    }
    fn visit_type_mut(&mut self, ty: &mut Type) {
        self.constant(ty);
    }
    fn visit_generic_argument_mut(&mut self, argument: &mut syn::GenericArgument) {
        self.constant(argument);
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    /// Whether one level of calls is inlined into clones of `f`, and whether two are.
    fn levels(item: proc_macro2::TokenStream) -> [bool; 2] {
        let code = crate::driver::autobatch(quote!(), item).to_string();
        ["__autobatch_inlined_f", "__autobatch_inlined_with_calls_f"].map(|name| code.contains(name))
    }

    #[test]
    fn the_smaller_a_function_the_more_levels_are_inlined() {
        let terms = |many| std::iter::repeat_n(quote!(a = (a + b) * 3 ^ b;), many);
        let function = |many| {
            let terms = terms(many);
            quote!(fn f(n: u64) -> u64 {
                let (mut a, b) = (n, n + 1);
                #(#terms)*
                if n < 2 { a } else { f(n - 1) + f(n - 2) * b }
            })
        };
        assert_eq!(
            [0, 6, 40].map(|many| levels(function(many))),
            [[true, true], [true, false], [false, false]]
        );
    }
}
