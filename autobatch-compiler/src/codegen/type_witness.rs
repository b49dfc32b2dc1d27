//! What generated code asks rustc about types before it begins, and the witness that says which types these are.
//!
//! ```text
//! let s4 = Shape::new();                                   // of `w`
//! let _ = || -> f64 {                                      // never called: type-checked, and nothing else
//!     nothing();
//!     let mut z: Complex64 = given();
//!     let mut w = z.norm(); s4.is(&w);
//!     …                                                    // the user's body
//! };
//! let q4 = (&s4.ask()).whole().or((&s4.with(None::<fn(Complex64)>)).same_copied());
//! let admitted = Yes.and(q4);
//! if !core.admits(&[admitted.admits()]) { return; }        // members run the scalar code
//! admitted.enter();                                        // behind a `No` nothing is borrow-checked
//! ```

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Block, Expr, Pat, Stmt, parse_quote};

use crate::analysis::reference_flow::is_number_type;
use crate::codegen::emitter::{Computing, Emitter};
use crate::codegen::names::{asked, name, shape};
use crate::ir::questions::{Evidence, Need, Questions, Quiet};
use crate::ir::{FuncId, Role, VarId, VarSet};
use crate::item::model::Function;
use crate::syntax::call_sites;
use crate::syntax::mentions::{self, text};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, AtMut};

/// What stands before the machine's loop.
pub(crate) struct Opening {
    /// The shapes, the witness, and what the program is admitted by.
    pub(crate) code: TokenStream,
    /// Variables that have a shape.
    pub(crate) shaped: VarSet,
    /// What lane code begins with.
    pub(crate) enter: TokenStream,
    /// Whether anything is asked.
    pub(crate) asks: bool,
    /// The answers about code that is taken for code that only computes.
    pub(crate) computing: Computing,
}

/// The opening of a program's body. `functions` are the sources.
pub(crate) fn opening(
    emitter: &Emitter<'_>,
    admission: &Questions,
    functions: &[Function],
    strict: bool,
) -> Opening {
    let (rt, program) = (&emitter.rt, emitter.program);
    let (core, rt) = (quote!(#rt::Core), quote!(#rt::admission));
    let mut shaped: VarSet = admission.variables.iter().map(|(var, _)| *var).collect();
    let locals = program.var_ids().filter(|v| {
        let var = program.var(*v);
        let known_elsewhere = emitter.has_column(*v) || emitter.alike.contains(v);
        matches!(var.role, Role::Local) && var.ty.is_none() && known_elsewhere
    });
    shaped.extend(locals);
    shaped = &shaped - &admission.opaque;
    let mut questions = Asking { rt: rt.clone(), strict, ..Asking::default() };
    questions.evidence(&admission.evidence);
    let mut witnesses = TokenStream::new();
    let mut tied = VarSet::new();
    for func in program.func_ids() {
        let source = emitter.sources[func.0];
        let opaque =
            admission.variables.iter().map(|(var, _)| *var).filter(|var| admission.opaque.contains(var));
        let own = shaped.iter().copied().chain(opaque).filter(|v| program.var(*v).func == func);
        let mut witness = Witness {
            emitter,
            admission,
            source,
            shaped: own.map(|v| (program.name(v), v)).collect(),
            questions: &questions,
            found: Vec::new(),
            before: questions.expressions.len(),
            in_closure: false,
            rt: rt.clone(),
            tied: VarSet::new(),
        };
        let body = witness.body(func, &functions[source]);
        if !witness.shaped.is_empty() || !witness.found.is_empty() {
            witnesses.extend(body);
        }
        tied.append(&mut witness.tied);
        let mut found = witness.found;
        questions.expressions.append(&mut found);
    }
    let about = admission.computing.iter().chain(&admission.interchanged);
    let computing = answers_about(about, &questions.expressions, &rt);
    let shaped = &shaped & &tied;
    let variables: Vec<_> = admission.variables.iter().filter(|(var, _)| tied.contains(var)).collect();
    let own = shaped.union(&emitter.alike).map(|v| shape(*v));
    let opaque =
        variables.iter().filter(|(var, _)| admission.opaque.contains(var)).map(|(var, _)| asked(*var));
    let expressions = (0..questions.expressions.len()).map(found);
    let known = &questions.known;
    let shapes = quote! {
        #known
        #(let #own = #rt::Shape::new();)*
        #(let #opaque = #rt::Asked::new();)*
        #(let #expressions = #rt::Shape::new();)*
    };
    let states = emitter.passed_states(program.entry);
    if admission.is_certain() && states.is_empty() {
        return Opening { code: quote!(#shapes #witnesses), shaped, enter: quote!(), asks: false, computing };
    }
    for (var, need) in &variables {
        let span = program.var(*var).ident.span();
        if admission.opaque.contains(var) {
            questions.answered(&asked(*var), *need, span);
        } else {
            questions.ask(shape(*var), *need, span);
        }
    }
    for n in 0..questions.expressions.len() {
        let Found { need, span, .. } = questions.expressions[n];
        if !need.is_of_computing() {
            questions.ask(found(n), need, span);
        }
    }
    let mut seen = BTreeSet::new();
    for (ty, need) in admission.types.iter().filter(|(ty, need)| seen.insert((text(ty), *need))) {
        let shape = quote!(#rt::Shape::<#ty>::new());
        if *need == Need::Owned {
            questions
                .answers
                .push(quote!((&#rt::Shape::with(&#shape, ::core::option::Option::None::<fn(#ty)>)).same()));
            continue;
        }
        if *need == Need::Copied {
            questions.answers.push(quote!((&#rt::Shape::ask(&#shape)).copied()));
            continue;
        }
        let known =
            admission.evidence.iter().zip(&questions.evidence).find(|(known, _)| text(&known.ty) == text(ty));
        let quiet = known
            .and_then(|(_, (_, quiet))| quiet.as_ref())
            .map(|quiet| quote!(|| #rt::Answer::admits(#quiet)));
        questions.bools.push(quote!(#rt::Shape::is_forgotten(&#shape) || #rt::Answer::admits((&#rt::Shape::ask(&#shape)).whole()) #quiet));
    }
    let entry = &functions[emitter.sources[program.entry.0]];
    for nth in states {
        let ty = &entry.params[nth].ty;
        questions.bools.push(quote!(!::core::mem::needs_drop::<#ty>()));
    }
    for param in entry.sig.generics.type_params().chain(entry.outer.type_params()) {
        let ident = &param.ident;
        questions.bools.push(quote!(!::core::mem::needs_drop::<#ident>()));
    }
    let Asking { code, answers, bools, .. } = questions;
    let admitted = name("__admitted");
    let computes = computing.iter().take(admission.computing.len()).map(|(.., answer)| answer);
    let code = quote! {
        #[allow(unused_imports)]
        use #rt::{Copied as _, Drops as _, Else as _, Chains as _, Forgotten as _, Lists as _, Same as _, SameCopied as _, Whole as _};
        #shapes
        #witnesses
        #code
        let #admitted = #rt::Yes #(.and(#answers))*;
        if !#core::admits(__core, &[#rt::Answer::admits(#admitted), #(#bools),*], &[#(#computes),*]) {
            return;
        }
        #admitted.enter();
    };
    Opening { code, shaped, enter: quote!(#admitted.enter();), asks: true, computing }
}

/// The answers to questions about computing code. What the witness does not show is not so.
fn answers_about<'q>(
    questions: impl Iterator<Item = &'q (usize, Expr, Need)>,
    expressions: &[Found],
    rt: &TokenStream,
) -> Computing {
    let answer = |(source, expr, need): &(usize, Expr, Need)| {
        let is_one = |found: &Found| found.source == *source && found.need == *need && found.expr == *expr;
        let shapes = (0..expressions.len()).filter(|n| is_one(&expressions[*n])).map(self::found);
        let answers = shapes.map(|shape| match need {
            Need::Primitive(types) => {
                let types = types.bits();
                quote!(#rt::Shape::is_primitive(&#shape, #types))
            }
            Need::Math => quote!(#rt::Shape::is_math(&#shape)),
            _ => quote!(#rt::Answer::admits((&#rt::Shape::ask(&#shape)).is_list())),
        });
        let answers: Vec<TokenStream> = answers.collect();
        let answer = if answers.is_empty() { quote!(false) } else { quote!((#(#answers)&&*)) };
        (*source, expr.clone(), answer)
    };
    questions.map(answer).collect()
}

/// An expression in the witness that tells its type.
struct Found {
    source: usize,
    expr: Expr,
    need: Need,
    span: Span,
}

/// `__e3`: the shape of an expression.
fn found(n: usize) -> Ident {
    format_ident!("__expression{}", n, span = Span::mixed_site())
}

#[derive(Default)]
struct Asking {
    rt: TokenStream,
    strict: bool,
    /// What is known of the types that are written.
    known: TokenStream,
    code: TokenStream,
    /// What every `enter` depends on.
    answers: Vec<TokenStream>,
    /// What only the run depends on.
    bools: Vec<TokenStream>,
    expressions: Vec<Found>,
    evidence: Vec<(TokenStream, Option<Ident>)>,
    asked: usize,
}

impl Asking {
    fn evidence(&mut self, all: &[Evidence]) {
        let rt = &self.rt;
        for (n, Evidence { ty, quiet }) in all.iter().enumerate() {
            let quiet = quiet.as_ref().map(|parts| {
                let known = format_ident!("__evidence{}", n, span = Span::mixed_site());
                let parts = parts.iter().filter_map(|part| match part {
                    Quiet::Whole(ty) => Some(quote!((&#rt::Ask::<#ty>::new()).whole())),
                    Quiet::Own(ty) => Some(quote!((&#rt::Ask::<#ty>::new()).drops_quietly())),
                    Quiet::Given(ty) => {
                        self.bools.push(quote!(!::core::mem::needs_drop::<#ty>()));
                        None
                    }
                });
                self.known.extend(quote!(let #known = #rt::Yes #(.and(#parts))*;));
                known
            });
            self.evidence.push((quote!(::core::option::Option::None::<fn(#ty)>), quiet));
        }
    }

    /// Whether values of a type are whole.
    fn whole(&self, shape: &Ident) -> TokenStream {
        let rt = &self.rt;
        let evidence = self.evidence.iter().map(|(evidence, quiet)| match quiet {
            Some(quiet) => quote! {
                .or((&#rt::Shape::with(&#shape, #evidence)).same_copied())
                .or((&#rt::Shape::with(&#shape, #evidence)).same().and(#quiet))
            },
            None => quote!(.or((&#rt::Shape::with(&#shape, #evidence)).same_copied())),
        });
        quote!((&#rt::Shape::ask(&#shape)).whole() #(#evidence)*)
    }

    /// What the witness has answered itself.
    fn answered(&mut self, slot: &Ident, need: Need, span: Span) {
        let rt = &self.rt;
        if self.strict {
            self.code.extend(quote_spanned!(span=> #rt::must_be(#rt::Asked::answer(&#slot));));
        }
        match need {
            Need::Quiet => self.bools.push(quote!(#rt::Answer::admits(#rt::Asked::answer(&#slot)))),
            _ => self.answers.push(quote!(#rt::Asked::answer(&#slot))),
        }
    }

    fn ask(&mut self, shape: Ident, need: Need, span: Span) {
        let rt = &self.rt;
        let answer = format_ident!("__answer{}", self.asked, span = Span::mixed_site().located_at(span));
        self.asked += 1;
        let asked = match need {
            Need::Copied => quote!((&#rt::Shape::ask(&#shape)).copied()),
            Need::Forgotten => {
                let whole = self.whole(&shape);
                quote!(#whole.or((&#rt::Shape::ask(&#shape)).copied()).or((&#rt::Shape::ask(&#shape)).forgotten()))
            }
            Need::Chained => quote!((&#rt::Shape::ask(&#shape)).chains()),
            _ => self.whole(&shape),
        };
        self.code.extend(quote!(let #answer = #asked;));
        if need == Need::Quiet {
            self.bools.push(quote!(#rt::Shape::is_forgotten(&#shape) || #rt::Answer::admits(#answer)));
            if self.strict {
                self.code.extend(quote_spanned!(span=> #rt::must_be_quiet(&#shape, #answer);));
            }
        } else {
            if self.strict {
                self.code.extend(quote_spanned!(span=> #rt::must_be(#answer);));
            }
            self.answers.push(quote!(#answer));
        }
    }
}

/// The user's body with what tells the types of its variables and of some expressions.
struct Witness<'a> {
    emitter: &'a Emitter<'a>,
    admission: &'a Questions,
    source: usize,
    shaped: Vec<(String, VarId)>,
    questions: &'a Asking,
    found: Vec<Found>,
    before: usize,
    /// Whether it is in a closure, of which only what computes is asked.
    in_closure: bool,
    rt: TokenStream,
    /// Variables whose types it tells: not those of closures, whose types nobody else sees.
    tied: VarSet,
}

impl Witness<'_> {
    fn body(&mut self, func: FuncId, function: &Function) -> TokenStream {
        let (rt, program) = (&self.emitter.rt, self.emitter.program);
        let ir = program.func(func);
        let params = ir.params.iter().zip(&function.params).map(|(var, param)| {
            let (ident, ty) = (&program.var(*var).ident, &program.var(*var).ty);
            let pattern = param.pattern.iter().map(|pattern| quote!(let #pattern = #ident;));
            let ty = ty.as_ref().map(|ty| match is_number_type(ty) {
                true => self.emitter.types[func.0].spelled(ty),
                false => quote!(#ty),
            });
            quote!(let mut #ident: #ty = #rt::admission::given(); #(#pattern)*)
        });
        let params: Vec<_> = params.collect();
        let mut body = function.body.clone();
        self.emitter.erased[func.0].clone().visit_block_mut(&mut body);
        call_sites::unmark(&mut body);
        let ties: Vec<Stmt> = function
            .params
            .iter()
            .filter_map(|param| param.pattern.as_ref())
            .flat_map(|pattern| self.ties(pattern))
            .collect();
        self.visit_block_mut(&mut body);
        self.call_with_values(&mut body);
        let (output, stmts) = (self.emitter.types[func.0].spelled(&ir.output), &body.stmts);
        quote! {
            let _ = || -> #output {
                #rt::admission::nothing();
                #(#params)*
                #(#ties)*
                #(#stmts)*
            };
        }
    }

    /// Calls of functions that pass states as values: the user's function has another signature.
    fn call_with_values(&self, body: &mut Block) {
        let rt = &self.emitter.rt;
        let passed = self.emitter.program.func_ids().filter_map(|func| {
            let ir = self.emitter.program.func(func);
            let passes = !self.emitter.passed_states(func).is_empty();
            let types = ir.params.iter().map(|v| self.emitter.program.var(*v).ty.as_ref());
            let (types, output) = (types.collect::<Option<Vec<_>>>()?, &ir.output);
            let given: Expr = parse_quote!((#rt::admission::given::<fn(#(#types),*) -> #output>()));
            passes.then_some((&ir.name, given))
        });
        let passed: Vec<(&Ident, Expr)> = passed.collect();
        let given = |name: &Ident| passed.iter().find(|(passed, _)| *passed == name).map(|(_, given)| given);
        walk::map_after(body, |at| match at {
            AtMut::Expr(Expr::Call(call)) => {
                if let Expr::Path(path) = &*call.func
                    && let Some(given) = path.path.segments.last().and_then(|last| given(&last.ident))
                {
                    *call.func = given.clone();
                }
            }
            AtMut::Expr(expr @ Expr::MethodCall(_)) => {
                let Expr::MethodCall(call) = &*expr else { return };
                if let Some(given) = given(&call.method) {
                    let (receiver, args) = (&call.receiver, &call.args);
                    *expr = parse_quote!(#given(#receiver, #args));
                }
            }
            _ => {}
        });
    }

    /// What tells the types of the variables that a pattern binds.
    fn ties(&mut self, pat: &Pat) -> Vec<Stmt> {
        self.ties_of(&mentions::names(pat))
    }

    fn ties_of(&mut self, names: &[Ident]) -> Vec<Stmt> {
        let mut ties = Vec::new();
        // Nobody else sees the types of a closure's own variables.
        for ident in names.iter().filter(|_| !self.in_closure) {
            let shaped = self.shaped.iter().find(|(known, _)| ident == known);
            if let Some(var) = shaped.map(|(_, var)| *var) {
                self.tied.insert(var);
                let rt = &self.rt;
                if self.admission.opaque.contains(&var) {
                    let (own, asked) = (name("__own"), asked(var));
                    let answer = self.questions.whole(&own);
                    ties.push(parse_quote!({
                        let #own = #rt::Shape::new();
                        #rt::Shape::is(&#own, &#ident);
                        #rt::Asked::is(&#asked, #answer);
                    }));
                } else {
                    let shape = shape(var);
                    ties.push(parse_quote!(#rt::Shape::is(&#shape, &#ident);));
                }
            }
        }
        ties
    }

    fn next(&mut self, expr: &Expr, need: Need, span: Span) -> Ident {
        let shape = found(self.before + self.found.len());
        self.found.push(Found { source: self.source, expr: expr.clone(), need, span });
        shape
    }
}

impl VisitMut for Witness<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let stmts = std::mem::take(&mut block.stmts);
        for mut stmt in stmts {
            let ties = match &stmt {
                // Hoisted: of one type there must be one.
                Stmt::Item(item) if self.emitter.items.iter().any(|other| text(other) == text(item)) => {
                    continue;
                }
                Stmt::Local(local) => self.ties(&local.pat),
                _ => vec![],
            };
            self.visit_stmt_mut(&mut stmt);
            block.stmts.push(stmt);
            block.stmts.extend(ties);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        use syn::spanned::Spanned as _;
        if matches!(expr, Expr::Async(_) | Expr::Const(_)) {
            return;
        }
        if let Expr::Closure(e) = expr {
            let outer = std::mem::replace(&mut self.in_closure, true);
            self.visit_expr_mut(&mut e.body);
            self.in_closure = outer;
            return;
        }
        let Questions { expressions, computing, interchanged, .. } = self.admission;
        let asked = expressions.iter().filter(|_| !self.in_closure).chain(computing).chain(interchanged);
        let asked: BTreeSet<Need> = asked
            .filter(|(source, e, _)| *source == self.source && e == expr)
            .map(|(.., need)| *need)
            .collect();
        let part = !self.in_closure
            && self.admission.parts.iter().any(|(source, e)| *source == self.source && e == expr);
        let span = expr.span();
        let original = (part || !asked.is_empty()).then(|| expr.clone());
        match expr {
            Expr::Assign(e) => {
                visit_mut::visit_indices_mut(self, &mut e.left);
                self.visit_expr_mut(&mut e.right);
            }
            Expr::Binary(e) if crate::syntax::mentions::is_compound(&e.op) => {
                visit_mut::visit_indices_mut(self, &mut e.left);
                self.visit_expr_mut(&mut e.right);
            }
            Expr::If(e) => {
                let ties = self.ties_of(&mentions::bound_by_condition(&e.cond));
                visit_mut::visit_expr_if_mut(self, e);
                e.then_branch.stmts.splice(..0, ties);
            }
            Expr::While(e) => {
                let ties = self.ties_of(&mentions::bound_by_condition(&e.cond));
                visit_mut::visit_expr_while_mut(self, e);
                e.body.stmts.splice(..0, ties);
            }
            Expr::ForLoop(e) => {
                let ties = self.ties(&e.pat);
                visit_mut::visit_expr_for_loop_mut(self, e);
                e.body.stmts.splice(..0, ties);
            }
            Expr::Match(e) => {
                let ties: Vec<Vec<Stmt>> = e.arms.iter().map(|arm| self.ties(&arm.pat)).collect();
                visit_mut::visit_expr_match_mut(self, e);
                for (arm, ties) in e.arms.iter_mut().zip(ties).filter(|(_, ties)| !ties.is_empty()) {
                    let body = &arm.body;
                    arm.body = parse_quote!({ #(#ties)* #body });
                    arm.comma.get_or_insert_with(Default::default);
                }
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        let Some(original) = original else { return };
        for need in asked {
            let (shape, rt) = (self.next(&original, need, span), &self.rt);
            *expr = match need {
                // A list may have no size.
                Need::List => parse_quote!((*#rt::Shape::at(&#shape, &#expr))),
                _ => parse_quote!(#rt::Shape::of(&#shape, #expr)),
            };
        }
        if part {
            let (shape, rt) = (self.next(&original, Need::Copied, span), &self.rt);
            *expr = parse_quote!((*#rt::Shape::at(&#shape, &#expr)));
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
