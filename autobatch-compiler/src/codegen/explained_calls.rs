//! How each call in the blocks is batched, and which calls keep the code around them from being vectors: what `program()` says.
//!
//! ```text
//! fib(n - 1)                part of the program
//! gradient(model, &q)       one call of its kernel for all members that are there
//! square(x)                 copied into the code around it
//! x.exp()                   std's is a library call, lane by lane
//! other(x)                  as written, lane by lane
//! ```

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Ident, Pat, Path, Stmt, Type};

use crate::admission::receivers::Receivers;
use crate::analysis::lane_interchange::{Refusal, Steps, endless, steps};
use crate::codegen::wide_division::divisor;
use crate::diagnostics::reasons::{
    DIVISION, HUGE, LIBRARY_CALL, LOOP_CALLS, LOOP_CALLS_METHOD, LOOP_INDEX, Reason,
};
use crate::ir::{Block, FuncId, Program, Terminator, VarId};
use crate::item::model::Function;
use crate::std_models::number_methods::{Primitives, is_pure_method};
use crate::std_models::{elementary, facts, pure};
use crate::syntax::mentions::{assignment, bare, name, untyped};
use crate::syntax::walk::{self, At, Code, Next};

/// How a call is batched: a variant of the runtime's `Batching`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Batching {
    Program,
    Jump,
    Kernel,
    Copied,
    VectorMath,
    Library,
    Lanes,
}

/// A call.
pub(crate) struct CallSite {
    func: FuncId,
    span: Span,
    callee: String,
    batching: Batching,
}

/// What the calls of a program's functions are found in.
pub(crate) struct Calls<'a> {
    pub(crate) program: &'a Program,
    /// For each function of the program the user's.
    pub(crate) written: Vec<&'a Function>,
    /// Functions of the item and beside it, which may have been copied.
    pub(crate) known: BTreeSet<String>,
    /// Whether elementary functions are those of `math`.
    pub(crate) vector_math: bool,
}

impl Calls<'_> {
    /// All calls, function by function.
    pub(crate) fn sites(&self) -> Vec<CallSite> {
        let mut sites = Vec::new();
        for func in self.program.func_ids() {
            for block in self.program.blocks.iter().filter(|block| block.func == func) {
                self.of_block(block, &mut sites);
            }
            let left: BTreeSet<String> =
                sites.iter().filter(|site| site.func == func).map(|site| site.callee.clone()).collect();
            let Some(written) = self.written.get(func.0) else { continue };
            walk::each(&written.written, |at| {
                if let At::Expr(Expr::Call(e)) = at
                    && let Expr::Path(path) = &*e.func
                    && let Some(name) = path.path.get_ident().map(ToString::to_string)
                    && self.known.contains(&name)
                    && !left.contains(&name)
                {
                    sites.push(CallSite {
                        func,
                        span: e.func.span(),
                        callee: name,
                        batching: Batching::Copied,
                    });
                }
            });
        }
        sites
    }

    fn of_block(&self, block: &Block, sites: &mut Vec<CallSite>) {
        let mut add = |span, callee, batching| {
            sites.push(CallSite { func: block.func, span, callee, batching });
        };
        if let Some(primitive) = &block.primitive {
            let Expr::Path(path) = &*primitive.call.func else { return };
            return add(path.span(), last(&path.path), Batching::Kernel);
        }
        let name = |callee: FuncId| crate::item::methods::shown_name(&self.program.func(callee).name);
        each_of_block(block, false, |span, callee, is_method| {
            let batching = match elementary(&callee, is_method) {
                false => Batching::Lanes,
                true if self.vector_math => Batching::VectorMath,
                true => Batching::Library,
            };
            add(span, callee, batching);
        });
        match &block.term {
            Terminator::Call(call) => add(call.span, name(call.callee), Batching::Program),
            Terminator::TailCall { callee, span, .. } => add(*span, name(*callee), Batching::Jump),
            _ => {}
        }
    }
}

/// What keeps code of a function from being vectors, wherever it stands.
pub(crate) struct Obstacles<'a> {
    /// The types of numbers.
    receivers: &'a Receivers<'a>,
    /// Variables whose values differ between members, and those of them that are arrays.
    varying: BTreeSet<String>,
    arrays: BTreeSet<String>,
    vector_math: bool,
}

impl<'a> Obstacles<'a> {
    pub(crate) fn new(
        program: &Program,
        func: FuncId,
        receivers: &'a Receivers<'a>,
        vector_math: bool,
    ) -> Obstacles<'a> {
        let own = || program.vars_of(func).filter(|v| !program.var(*v).is_uniform());
        let is_array = |v: &VarId| matches!(program.var(*v).ty, Some(Type::Array(_)));
        let (varying, arrays) = (
            own().map(|v| program.name(v)).collect(),
            own().filter(is_array).map(|v| program.name(v)).collect(),
        );
        let mut obstacles = Obstacles { receivers, varying, arrays, vector_math };
        for block in program.blocks_of(func) {
            block.code().for_each(|stmt| obstacles.learn(stmt));
        }
        obstacles
    }

    /// Learns from `for k in 0..9`, `let k = x * 2;`, and `let v = [0.0; 4];`.
    fn learn(&mut self, stmt: &Stmt) {
        walk::each(stmt, |at| {
            let (pat, value) = match at {
                At::Local(syn::Local { pat, init: Some(init), .. }) => (pat, &*init.expr),
                At::Expr(Expr::ForLoop(e)) => (&*e.pat, first_value(&e.expr)),
                _ => return Next::On,
            };
            let Pat::Ident(p) = untyped(pat) else { return Next::On };
            let name = p.ident.to_string();
            if matches!(bare(value), Expr::Array(_) | Expr::Repeat(_)) {
                self.arrays.insert(name.clone());
            }
            if self.differs(value) {
                self.varying.insert(name);
            } else if p.mutability.is_none() {
                self.varying.remove(&name);
            }
            Next::On
        });
    }

    /// The first library call in code, else the first operation for which there is no vector instruction.
    pub(crate) fn of(&self, code: &impl Code) -> Option<Refusal> {
        let mut found = None;
        each(code, |span, callee, is_method| {
            if found.is_none() && elementary(&callee, is_method) && !self.vector_math {
                found = Some(Refusal { span, name: Some(callee), reason: LIBRARY_CALL });
            }
        });
        let scattered = |e: &Expr| {
            let (place, _) = assignment(e)?;
            self.is_scattered(place).then(|| Refusal { span: e.span(), name: None, reason: LOOP_INDEX })
        };
        found.or_else(|| find_expr(code, scattered)).or_else(|| find_expr(code, |e| self.of_expr(e)))
    }

    fn of_expr(&self, e: &Expr) -> Option<Refusal> {
        let because = |span, reason| Some(Refusal { span, name: None, reason });
        match e {
            Expr::Binary(e) if is_division(&e.op) => {
                let rest = matches!(e.op, BinOp::Rem(_) | BinOp::RemAssign(_));
                because(e.op.span(), self.division(&e.left, &e.right, rest)?)
            }
            Expr::MethodCall(e) if e.args.len() == 1 => match e.method.to_string().as_str() {
                "powi" if !matches!(e.args[0], Expr::Lit(_)) && !self.vector_math => {
                    let name = Some("powi".to_owned());
                    Some(Refusal { span: e.method.span(), name, reason: LIBRARY_CALL })
                }
                "rem_euclid" | "div_euclid" | "is_multiple_of" => {
                    because(e.method.span(), self.division(&e.receiver, &e.args[0], true)?)
                }
                _ => None,
            },
            Expr::Path(_) => self.are(e, Primitives::HUGE).then(|| because(e.span(), HUGE))?,
            _ => None,
        }
    }

    /// Whether an expression is a number among these.
    fn are(&self, expr: &Expr, among: Primitives) -> bool {
        self.receivers.primitives(expr).is_some_and(|of| of.are_among(among))
    }

    /// Why a division is none of vectors; or a remainder, of floats.
    fn division(&self, left: &Expr, right: &Expr, rest: bool) -> Option<Reason> {
        let are = |among: Primitives| self.are(left, among) || self.are(right, among);
        let is_slow = are(Primitives::INTEGERS) && divisor(right, self.receivers).is_none()
            || are(Primitives::FLOATS) && rest;
        let is_known = || self.receivers.operands(left, right).is_some();
        (is_slow && (self.differs(left) || self.differs(right)) && !is_known()).then_some(DIVISION)
    }

    /// Whether a value may differ between members.
    fn differs(&self, e: &Expr) -> bool {
        walk::any(e, |at| match at {
            At::Expr(Expr::Path(p)) => {
                p.path.get_ident().is_some_and(|name| self.varying.contains(&name.to_string()))
            }
            _ => false,
        })
    }

    /// Whether an element of a member's array is changed which each member finds by itself.
    fn is_scattered(&self, place: &Expr) -> bool {
        let Expr::Index(e) = bare(place) else { return false };
        let is_own = name(&e.expr).is_some_and(|name| self.arrays.contains(&name));
        is_own && self.differs(&e.index)
    }

    /// The same of a block.
    pub(crate) fn of_block(&self, block: &Block) -> Option<Refusal> {
        let mut all = block.code().find_map(|stmt| self.of(stmt));
        match &block.term {
            Terminator::Branch { cond, .. } => all = all.or_else(|| self.of(&**cond)),
            Terminator::Switch { scrutinee, .. } => all = all.or_else(|| self.of(&**scrutinee)),
            _ => {}
        }
        all
    }
}

/// What a counter begins with. All lanes count in step, whenever each of them ends.
fn first_value(iter: &Expr) -> &Expr {
    let range = match (steps(iter), bare(iter)) {
        (Some(Steps { range, .. }), _) | (None, Expr::Range(range)) => range,
        _ => return endless(iter).unwrap_or(iter),
    };
    range.start.as_deref().unwrap_or(iter)
}

fn find_expr(code: &impl Code, mut of: impl FnMut(&Expr) -> Option<Refusal>) -> Option<Refusal> {
    walk::find(code, |at| match at {
        At::Expr(e) => of(e),
        _ => None,
    })
}

fn is_division(op: &BinOp) -> bool {
    matches!(op, BinOp::Div(_) | BinOp::DivAssign(_) | BinOp::Rem(_) | BinOp::RemAssign(_))
}

/// The first call in a block of what is not known to only compute, where that keeps a program from vector frames. `known` are helpers.
pub(crate) fn unknown_call(block: &Block, known: &BTreeSet<String>) -> Option<Refusal> {
    let mut found = None;
    each_of_block(block, true, |span, callee, is_method| {
        if found.is_none() && !elementary(&callee, is_method) && (is_method || !known.contains(&callee)) {
            let reason = if is_method { LOOP_CALLS_METHOD } else { LOOP_CALLS };
            found = Some(Refusal { span, name: Some(callee), reason });
        }
    });
    found
}

/// Whether a loop's first block asks an iterator of each member's own for the next element.
pub(crate) fn asks_iterator(block: &Block) -> bool {
    let is_next = |at: At<'_>| match at {
        At::Expr(Expr::Call(e)) => {
            matches!(&*e.func, Expr::Path(p) if is_made(&p.path) && last(&p.path) == "next")
        }
        _ => false,
    };
    block.term.conditions().any(|e| walk::any(e, is_next))
        || block.code().any(|stmt| walk::any(stmt, is_next))
}

/// Whether the compiler has written a path: those of its own begin at a crate.
fn is_made(path: &Path) -> bool {
    path.leading_colon.is_some() || path.segments.iter().any(|s| s.ident.to_string().starts_with("__"))
}

/// Each call of a block; with `accesses` also those that look at a collection or change it.
fn each_of_block(block: &Block, accesses: bool, mut found: impl FnMut(Span, String, bool)) {
    block.code().for_each(|stmt| each_call(stmt, accesses, &mut found));
    block.term.conditions().for_each(|e| each_call(e, accesses, &mut found));
}

fn elementary(callee: &str, is_method: bool) -> bool {
    is_method && elementary::is_elementary(callee) && callee != "powi"
}

/// Each call in code that is more than an instruction or an access: its name, and whether it is a method.
fn each(code: &impl Code, found: impl FnMut(Span, String, bool)) {
    each_call(code, false, found);
}

/// The same; with `accesses` also methods that look at a collection or change it.
fn each_call(code: &impl Code, accesses: bool, mut found: impl FnMut(Span, String, bool)) {
    walk::each(code, |at| {
        match at {
            At::Expr(Expr::Call(e)) => {
                if let Expr::Path(path) = &*e.func {
                    let name = last(&path.path);
                    let number = path.path.segments.len() == 2
                        && ["f32", "f64"].iter().any(|ty| path.path.segments[0].ident == ty);
                    let makes = name.starts_with(char::is_uppercase) || name == "from" || name == "new";
                    if number && elementary(&name, true) {
                        found(path.span(), name, true);
                    } else if !is_made(&path.path) && !makes && !pure::is_pure_function(path) {
                        found(path.span(), name, false);
                    }
                }
            }
            At::Expr(Expr::MethodCall(e)) => {
                let name = e.method.to_string();
                // Of a chain of accesses the first is the one to name.
                let inner =
                    matches!(bare(&e.receiver), Expr::MethodCall(e) if !is_plain(&e.method, accesses));
                if (elementary(&name, true) || !is_plain(&e.method, accesses)) && !(accesses && inner) {
                    found(e.method.span(), name, true);
                }
            }
            _ => {}
        }
        Next::On
    });
}

/// Whether a method is at most a few instructions; with `accesses` only if it is one of numbers.
fn is_plain(method: &Ident, accesses: bool) -> bool {
    let name = method.to_string();
    let measures = name == "len" || name == "is_empty";
    let is_access = if accesses { measures } else { facts::is_access(&name) };
    name.starts_with("__") || is_pure_method(method) || is_access
}

fn last(path: &Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

impl CallSite {
    /// The runtime's table of it.
    pub(crate) fn table(&self, p: &TokenStream) -> TokenStream {
        let (function, callee) = (self.func.0 as u16, &self.callee);
        let batching = match self.batching {
            Batching::Program => quote!(Program),
            Batching::Jump => quote!(Jump),
            Batching::Kernel => quote!(Kernel),
            Batching::Copied => quote!(Copied),
            Batching::VectorMath => quote!(VectorMath),
            Batching::Library => quote!(Library),
            Batching::Lanes => quote!(Lanes),
        };
        let line = quote_spanned!(self.span=> ::core::line!());
        quote!(#p::CallSite { function: #function, callee: #callee, line: #line, batching: #p::Batching::#batching })
    }
}
