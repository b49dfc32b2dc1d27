//! Which functions become block programs, and what rustc is asked about them.
//!
//! A local that lives across a block boundary moves with its column. So it must be *whole*: it is moved or copied as a whole,
//! borrows from no other local, and nobody sees when it is dropped. For each variable of a lowered program there are three
//! answers:
//!
//! * it is certain: parameters and results have the types that are written, numbers hold nothing, *outer* variables hold
//!   references to what outlives the activation ([`crate::analysis::reference_flow`]);
//! * it is denied: it plainly borrows a local. The function is no block program, and a note says why;
//! * rustc is asked: generated code has a constant that follows from the type (`codegen/type_witness.rs`, and `probes::admission` in the runtime).
//!
//! **Invariant:** nothing here is needed for soundness, which is rustc's borrow checker's. If a borrow is not seen here, generated
//! code is in error, so that what is asked decides whether valid code compiles.

mod evidence;
mod moves;
pub mod purity;
pub(crate) mod receivers;
mod states;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Pat, Type};

use crate::admission::purity::PureProgram;
use crate::admission::receivers::Receivers;
use crate::analysis::reference_flow::{self, LocalBorrow, ReferenceFlow};
use crate::diagnostics::reasons::{self, Reason};
use crate::ir::questions::{Need, Questions};
use crate::ir::{Call, FuncId, Note, Program, Role, Terminator, VarSet};
use crate::item::model::{Function, Item, Passing};
use crate::lower::Lowered;
use crate::passes::Analyses;
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::is_pure_function;
use crate::syntax::call_sites;
use crate::syntax::macro_tokens::has_sign;
use crate::syntax::mentions;
use crate::syntax::walk::{self, At, Code};

/// What a function's variables get, as blocks and terminators say it.
#[derive(Default)]
struct Values<'a> {
    defined: Vec<(&'a Pat, &'a Expr, bool)>,
    assigned: Vec<(String, &'a Expr)>,
}

impl<'a> Values<'a> {
    fn add(&mut self, code: &'a (impl Code + ?Sized)) {
        walk::each(code, |at| match at {
            At::Local(syn::Local { pat, init: Some(init), .. }) => {
                let whole = matches!(mentions::untyped(pat), Pat::Ident(p) if p.subpat.is_none());
                self.defined.push((pat, &init.expr, whole));
            }
            At::Expr(Expr::Let(e)) => self.defined.push((&e.pat, &e.expr, false)),
            At::Expr(Expr::Match(e)) => {
                self.defined.extend(e.arms.iter().map(|arm| (&arm.pat, &*e.expr, false)))
            }
            At::Expr(Expr::Assign(e)) => {
                self.assigned.extend(mentions::name(&e.left).map(|name| (name, &*e.right)))
            }
            _ => {}
        });
    }
}

/// A program about which admission has decided.
pub struct Admitted {
    /// The program. What is denied has become notes.
    pub lowered: Lowered,
    /// What the passes found out.
    pub analyses: Analyses,
    /// What rustc is asked about it.
    pub questions: Questions,
    /// What must be primitive, if the program only computes.
    pub pure: Option<PureProgram>,
    /// Closures that borrow locals across a loop or call, by function and name.
    pub closures: BTreeSet<(usize, String)>,
    /// The `&mut` parameters in whose place lane code is lent copies of what they refer to.
    pub states: VarSet,
}

/// What admission says of variables.
struct Decisions {
    questions: Questions,
    notes: Vec<Note>,
    closures: BTreeSet<(usize, String)>,
}

/// Decides about a lowered program, of which the lowering has asked these questions.
pub(crate) fn admit(mut lowered: Lowered, questions: Questions, analyses: Analyses, item: &Item) -> Admitted {
    let Item { functions, declared, .. } = item;
    let mut decisions = Decisions { questions, notes: Vec::new(), closures: BTreeSet::new() };
    for func in lowered.program.func_ids() {
        let source = lowered.sources[func.0];
        let function = &functions[source];
        let flow = &lowered.reference_flows[func.0];
        let (program, spans, number) = (&lowered.program, &lowered.spans, number(function));
        let own = Own { program, analyses: &analyses, func, source, spans, number };
        let before = decisions.questions.variables.len();
        own.variables(flow, &mut decisions);
        let Decisions { questions, notes, .. } = &mut decisions;
        let mut note = |span: Option<Span>, reason: Reason| {
            notes.extend(span.map(|span| Note { span, name: None, reason, whole: true }));
        };
        let mut names = mentions::reserved(function.written.to_token_stream()).into_iter();
        let reserved = names.find(|name| declared.reserved.contains(&name.to_string()));
        note(reserved.map(|name| name.span()), reasons::RESERVED);
        note(of_a_trait(&function.body, flow), reasons::METHOD_OF_NUMBERS);
        note(address_taken(&function.body, questions.variables.len() > before), reasons::ADDRESS_TAKEN);
        own.parameters(function, questions);
        own.arguments(questions);
        let parts = moves::parts(program, &analyses, func, flow);
        questions.parts.extend(parts.into_iter().map(|e| (source, e)));
    }
    let Decisions { mut questions, notes, closures } = decisions;
    let states = states(&lowered, &questions, &analyses, item);
    lowered.program.notes.extend(notes);
    let sources: Vec<&Function> = lowered.sources.iter().map(|source| &functions[*source]).collect();
    if !questions.is_certain() {
        questions.evidence = evidence::written(&sources, declared);
    }
    let outputs = receivers::outputs(item);
    let receivers = Receivers::of_all(&lowered, item, &outputs);
    let pure = purity::of(&lowered, item, item, &outputs, &receivers);
    let program = &lowered.program;
    for (func, receivers) in program.func_ids().zip(&receivers) {
        let source = lowered.sources[func.0];
        let own = |needs: Vec<(&Expr, Need)>| {
            let own = needs.into_iter().map(|(expr, need)| (source, expr.clone(), need));
            own.collect::<Vec<_>>()
        };
        for block in program.blocks_of(func).filter(|block| block.interchanged) {
            for stmt in block.code() {
                questions.interchanged.extend(own(receivers.needs(stmt)));
            }
        }
    }
    let mut admitted = Admitted { lowered, analyses, questions, pure, closures, states };
    if admitted.pure.is_some() {
        let needs = computing(&admitted.lowered.sources, item, &receivers);
        admitted.ask_about_computing(item, needs);
    }
    admitted
}

/// What must be primitive, if a program only computes in the form in which it passes states as values: `lowered` of `passed`. `written` is the
/// item with states, of which rustc is asked.
pub(crate) fn admit_passed(
    admitted: &mut Admitted,
    lowered: &Lowered,
    passed: &Item,
    written: &Item,
) -> Option<PureProgram> {
    if admitted.lowered.program.is_scalar() {
        return None;
    }
    let outputs = receivers::outputs(passed);
    let receivers = Receivers::of_all(lowered, passed, &outputs);
    let pure = purity::of(lowered, passed, written, &outputs, &receivers)?;
    let outputs = receivers::outputs(written);
    let own = Receivers::of_all(&admitted.lowered, written, &outputs);
    let asked = computing(&admitted.lowered.sources, written, &own);
    let is_asked = |question| asked.contains(question);
    if !computing(&lowered.sources, passed, &receivers).iter().all(is_asked) {
        return None;
    }
    admitted.ask_about_computing(written, asked);
    Some(pure)
}

impl Admitted {
    /// Asks rustc about the code of a program that only computes.
    fn ask_about_computing(&mut self, item: &Item, needs: Vec<(usize, Expr, Need)>) {
        self.questions.expressions.extend(copied(&self.lowered.sources, &item.functions));
        self.questions.computing.extend(needs);
    }
}

/// What has to hold of the code of a program so that it only computes.
fn computing(sources: &[usize], item: &Item, receivers: &[Receivers<'_>]) -> Vec<(usize, Expr, Need)> {
    let of_function = |(source, receivers): (&usize, &Receivers<'_>)| {
        let mut body = item.functions[*source].body.clone();
        call_sites::unmark(&mut body);
        let needs = receivers.needs(&body).into_iter();
        needs.map(|(expr, need)| (*source, expr.clone(), need)).collect::<Vec<_>>()
    };
    sources.iter().zip(receivers).flat_map(of_function).collect()
}

/// The states of all functions of which lane code may be lent copies.
fn states(lowered: &Lowered, questions: &Questions, analyses: &Analyses, item: &Item) -> VarSet {
    let program = &lowered.program;
    let entry = &item.functions[lowered.sources[program.entry.0]];
    let of_function = |func: FuncId| {
        let function = &item.functions[lowered.sources[func.0]];
        let (flow, declared) = (&*lowered.reference_flows[func.0], &*item.declared);
        let facts = states::Facts { program, analyses, func, function, entry, flow, questions, declared };
        states::lent(&facts)
    };
    program.func_ids().flat_map(of_function).collect()
}

/// Calls of trait methods on numbers whose type is found out later, `total.checked_add(&x)`: a number's own methods take numbers.
fn of_a_trait(body: &syn::Block, flow: &ReferenceFlow) -> Option<Span> {
    walk::find(body, |at| {
        let At::Expr(Expr::MethodCall(e)) = at else { return None };
        let refers = e.args.iter().any(|arg| matches!(arg, Expr::Reference(_)));
        let own = is_pure_method(&e.method) || e.method.to_string().starts_with("checked_");
        (refers && own && flow.is_number_value(&e.receiver)).then(|| e.method.span())
    })
}

/// Where code with an `unsafe` block may rely on the address of a local: numbers and references to outside have none that matters,
/// unless a pointer is made a number. `holds`: whether other values cross a block boundary.
fn address_taken(body: &syn::Block, holds: bool) -> Option<Span> {
    let pointer = |at: At<'_>| matches!(at, At::Type(Type::Ptr(_)) | At::Expr(Expr::RawAddr(_)));
    let block = walk::find(body, |at| match at {
        At::Expr(Expr::Unsafe(e)) => Some(e.unsafe_token.span),
        _ => None,
    });
    block.filter(|_| holds || walk::any(body, pointer))
}

/// What a program that only computes makes by methods and functions that are known by name: vector frames copy all values bit
/// by bit, so rustc is asked about it.
fn copied(sources: &[usize], functions: &[Function]) -> Vec<(usize, Expr, Need)> {
    let mut asked = Vec::new();
    for source in sources.iter().copied() {
        let mut body = functions[source].body.clone();
        call_sites::unmark(&mut body);
        let mut calls: Vec<&Expr> = Vec::new();
        walk::each(&body, |at| {
            if let At::Expr(expr) = at
                && is_known_by_name(expr)
                && !calls.contains(&expr)
            {
                calls.push(expr);
            }
        });
        let needs = BTreeSet::from([number(&functions[source]), Need::Copied]);
        for call in calls {
            asked.extend(needs.iter().map(|need| (source, call.clone(), *need)));
        }
    }
    asked
}

/// What has to hold of what is a number by the names of methods: a type parameter may be one of many numbers.
fn number(function: &Function) -> Need {
    let generic = function.sig.generics.type_params().chain(function.outer.type_params()).next().is_some();
    if generic { Need::Copied } else { Need::Whole }
}

/// Whether it is a call that is known by name only.
fn is_known_by_name(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => is_pure_method(&call.method),
        Expr::Call(call) => {
            matches!(&*call.func, Expr::Path(func) if is_pure_function(func) || func.path.is_ident("Some"))
        }
        _ => false,
    }
}

/// One function of the program.
struct Own<'a> {
    program: &'a Program,
    analyses: &'a Analyses,
    func: FuncId,
    source: usize,
    spans: &'a VarSet,
    /// What has to hold of what is a number by the names of methods.
    number: Need,
}

impl Own<'_> {
    fn variables(&self, flow: &ReferenceFlow, decisions: &mut Decisions) {
        let Decisions { questions, notes, closures } = decisions;
        let values = self.values();
        let mut borrows: BTreeMap<String, LocalBorrow> = BTreeMap::new();
        let mut note = |name: String, value: &Expr, whole: bool| {
            let mut new = flow.local_borrow(value);
            if !whole && new == LocalBorrow::Certain {
                // What a pattern binds in a reference may be copied.
                new = LocalBorrow::Possible;
            }
            let most = borrows.entry(name).or_insert(LocalBorrow::Never);
            *most = new.max(*most);
        };
        for (pat, value, whole) in &values.defined {
            mentions::names(pat).iter().for_each(|name| note(name.to_string(), value, *whole));
        }
        values.assigned.iter().for_each(|(name, value)| note(name.clone(), value, true));
        // What may be handed on by a tail call without crossing before.
        let handed = self.blocks().filter_map(|term| match term {
            Terminator::TailCall { args, .. } => Some(args),
            _ => None,
        });
        let handed: VarSet = handed.flatten().copied().collect();
        let own = || self.program.blocks_of(self.func);
        let jumps = own().count() > 2 || own().any(|block| block.ops.iter().any(|op| !op.exits.is_empty()));
        let calls: VarSet = self.calls().map(|call| call.dest).collect();
        let primitives: VarSet =
            self.program.blocks.iter().filter_map(|block| block.primitive.as_ref()).map(|p| p.dest).collect();
        for var in self.program.vars_of(self.func) {
            let variable = self.program.var(var);
            let name = variable.ident.to_string();
            let crosses = self.analyses.needs_column(var) || handed.contains(&var);
            let local = matches!(variable.role, Role::Local);
            let typed = matches!(variable.role, Role::Param(_) | Role::Result) || calls.contains(&var);
            let borrow = borrows.get(&name).copied().unwrap_or(LocalBorrow::Possible);
            // What borrows, and does something when it is dropped, is in the way of every jump out of its scope.
            let stays = self.spans.contains(&var) || (jumps && borrow != LocalBorrow::Never);
            if !(crosses || (local && stays))
                || typed && !local
                || primitives.contains(&var) && !local
                || flow.is_certainly_number(&name)
                || variable.ty.as_ref().is_some_and(reference_flow::is_number_type)
            {
                continue;
            }
            if flow.is_number(&name) {
                if local && crosses {
                    questions.variables.push((var, self.number));
                }
                continue;
            }
            if crosses && values.are_closures(&name) && !values.is_typed(&name) {
                questions.opaque.insert(var);
            }
            if crosses && borrow == LocalBorrow::Certain {
                let value = values.of(&name);
                if let Some(Expr::Closure(_)) = value {
                    closures.insert((self.source, name.clone()));
                }
                let span = value.map_or(variable.ident.span(), |value| value.span());
                let (name, reason) = match local {
                    true => (Some(name), reasons::BORROWS),
                    false => (None, reasons::ARGUMENT_BORROWS),
                };
                notes.push(Note { span, name, reason, whole: true });
                continue;
            }
            let closure = matches!(values.of(&name), Some(Expr::Closure(_))) && borrow == LocalBorrow::Never;
            // Temporaries are asked about as expressions; adaptors of outer iterators have closures' types.
            let outer = flow.is_outer(&name);
            if closure || !local || flow.is_reference(&name) || (outer && questions.opaque.contains(&var)) {
                continue;
            }
            let need = match (crosses, borrow) {
                // A lock, or another guard of something outside.
                _ if outer => Need::Quiet,
                (true, _) => Need::Whole,
                (false, LocalBorrow::Never) => Need::Quiet,
                // What it captures it has by reference, as a rule.
                (false, _) if matches!(values.of(&name), Some(Expr::Closure(_))) => Need::Quiet,
                (false, _) => Need::Forgotten,
            };
            questions.variables.push((var, need));
        }
    }

    /// What the function owns from the start, whose drop may be seen.
    fn parameters(&self, function: &Function, questions: &mut Questions) {
        let variables = self.program.func(self.func).params.iter();
        for (param, var) in function.params.iter().zip(variables) {
            let ty = self.program.var(*var).ty.as_ref().unwrap_or(&param.ty);
            let by_value = param.passing == Passing::Each && !matches!(ty, Type::Reference(_));
            if by_value && !reference_flow::is_number_type(ty) {
                questions.types.push((ty.clone(), Need::Quiet));
            }
        }
    }

    /// What a call is given and the caller has behind the call, too: the bits are there twice, so it has to be copied. A `&mut`
    /// parameter is the caller's again behind the call (`lower/call_arguments.rs`).
    fn arguments(&self, questions: &mut Questions) {
        for call in self.calls() {
            let behind = &self.analyses.liveness.live_in[call.cont.0];
            for arg in call.args.iter().copied().filter(|arg| *arg != call.dest && behind.contains(arg)) {
                match &self.program.var(arg).ty {
                    Some(Type::Reference(_)) => {}
                    Some(ty) if reference_flow::is_number_type(ty) => {}
                    Some(ty) => questions.types.push((ty.clone(), Need::Copied)),
                    None => questions.variables.push((arg, Need::Copied)),
                }
            }
        }
    }

    fn blocks(&self) -> impl Iterator<Item = &Terminator> {
        self.program.blocks_of(self.func).map(|block| &block.term)
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks().filter_map(Terminator::call)
    }

    fn values(&self) -> Values<'_> {
        let mut values = Values::default();
        for block in self.program.blocks_of(self.func) {
            block.code().for_each(|stmt| values.add(stmt));
            match &block.term {
                Terminator::Branch { cond, .. } => values.add(cond),
                Terminator::Switch { scrutinee, arms, .. } => {
                    values.add(scrutinee);
                    values.defined.extend(arms.iter().map(|arm| (&arm.pat, &**scrutinee, false)));
                }
                _ => {}
            }
        }
        values
    }
}

impl<'a> Values<'a> {
    fn all_of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'a Expr> + 's {
        let defined = self.defined.iter().filter(move |(pat, ..)| binds(pat, name));
        let assigned = self.assigned.iter().filter(move |(own, _)| own == name);
        defined.map(|(_, value, _)| *value).chain(assigned.map(|(_, value)| *value))
    }

    /// Whether its type may have a closure's in it. All its values have one type: one of them without a closure says no.
    fn are_closures(&self, name: &str) -> bool {
        let mut all = self.all_of(name).peekable();
        all.peek().is_some() && all.all(has_closure)
    }

    /// Whether a `let` says its type, all of it.
    fn is_typed(&self, name: &str) -> bool {
        let inferred = |ty: &Type| {
            walk::any(ty, |at| match at {
                At::Lifetime(lifetime) => lifetime.ident == "_",
                At::Type(ty) => matches!(ty, Type::Infer(_) | Type::Macro(_)),
                _ => false,
            })
        };
        self.defined
            .iter()
            .any(|(pat, ..)| matches!(pat, Pat::Type(t) if binds(&t.pat, name) && !inferred(&t.ty)))
    }

    fn of(&self, name: &str) -> Option<&'a Expr> {
        self.defined.iter().find(|(pat, ..)| binds(pat, name)).map(|(_, value, _)| *value)
    }
}

fn binds(pat: &Pat, name: &str) -> bool {
    mentions::names(pat).iter().any(|ident| ident == name)
}

/// Whether an expression has a closure in it, or another piece of code with a type of its own.
fn has_closure(expr: &Expr) -> bool {
    walk::any(expr, |at| match at {
        At::Expr(expr) => matches!(expr, Expr::Closure(_) | Expr::Async(_)),
        At::Macro(mac) => has_sign(mac.tokens.clone(), &|sign| sign == '|'),
        _ => false,
    })
}
