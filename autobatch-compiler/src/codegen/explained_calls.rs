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
use syn::{BinOp, Expr, ExprLit, Ident, Lit, Path, Type};

use crate::analysis::lane_interchange::Refusal;
use crate::diagnostics::reasons::{FLOAT_REMAINDER, LIBRARY_CALL, WIDE_DIVISION};
use crate::ir::{Block, FuncId, Program, Terminator, VarId};
use crate::item::model::Function;
use crate::std_models::{elementary, facts, pure};
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
        each_of_block(block, |span, callee, is_method| {
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
pub(crate) struct Obstacles {
    /// Variables that are floats, and integers of 64 bits.
    floats: BTreeSet<String>,
    wide: BTreeSet<String>,
    vector_math: bool,
}

impl Obstacles {
    pub(crate) fn new(program: &Program, func: FuncId, vector_math: bool) -> Obstacles {
        let named = |is: &dyn Fn(&Type) -> bool| {
            let has = |v: &VarId| program.var(*v).ty.as_ref().is_some_and(is);
            program.vars_of(func).filter(has).map(|v| program.name(v)).collect()
        };
        Obstacles { floats: named(&is_float_type), wide: named(&is_wide_type), vector_math }
    }

    /// The first library call in code.
    pub(crate) fn of(&self, code: &impl Code) -> Option<Refusal> {
        let mut found = None;
        each(code, |span, callee, is_method| {
            if found.is_none() && elementary(&callee, is_method) && !self.vector_math {
                found = Some(Refusal { span, name: Some(callee), reason: LIBRARY_CALL });
            }
        });
        let remainder = |at: At<'_>| match at {
            At::Expr(Expr::Binary(e)) if matches!(e.op, BinOp::Rem(_) | BinOp::RemAssign(_)) => {
                (self.is_float(&e.left) || self.is_float(&e.right)).then(|| e.op.span())
            }
            _ => None,
        };
        let division = |at: At<'_>| match at {
            At::Expr(Expr::Binary(e)) if is_division(&e.op) && is_odd_number(&e.right) => {
                self.is_wide(&e.left).then(|| e.op.span())
            }
            _ => None,
        };
        let because = |reason| move |span| Refusal { span, name: None, reason };
        let found = found.or_else(|| walk::find(code, remainder).map(because(FLOAT_REMAINDER)));
        found.or_else(|| walk::find(code, division).map(because(WIDE_DIVISION)))
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

    /// Whether a value certainly is an integer of 64 bits.
    fn is_wide(&self, e: &Expr) -> bool {
        match e {
            Expr::Path(p) => p.path.get_ident().is_some_and(|name| self.wide.contains(&name.to_string())),
            Expr::Paren(e) => self.is_wide(&e.expr),
            Expr::Group(e) => self.is_wide(&e.expr),
            Expr::Cast(e) => is_wide_type(&e.ty),
            Expr::Binary(e) => self.is_wide(&e.left) || self.is_wide(&e.right),
            _ => false,
        }
    }

    fn is_float(&self, e: &Expr) -> bool {
        match e {
            Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) => true,
            Expr::Path(p) => p.path.get_ident().is_some_and(|name| self.floats.contains(&name.to_string())),
            Expr::Paren(e) => self.is_float(&e.expr),
            Expr::Group(e) => self.is_float(&e.expr),
            Expr::Unary(e) => self.is_float(&e.expr),
            Expr::Cast(e) => is_float_type(&e.ty),
            Expr::Binary(e) => self.is_float(&e.left) || self.is_float(&e.right),
            _ => false,
        }
    }
}

fn is_division(op: &BinOp) -> bool {
    matches!(op, BinOp::Div(_) | BinOp::DivAssign(_) | BinOp::Rem(_) | BinOp::RemAssign(_))
}

/// Whether a number is written there that is no power of two.
fn is_odd_number(e: &Expr) -> bool {
    let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = e else { return false };
    number.base10_parse::<u64>().is_ok_and(|number| !number.is_power_of_two())
}

fn is_wide_type(ty: &Type) -> bool {
    bare(ty).is_some_and(|name| ["u64", "i64", "usize", "isize"].iter().any(|wide| name == wide))
}

fn is_float_type(ty: &Type) -> bool {
    bare(ty).is_some_and(|name| name == "f32" || name == "f64")
}

/// The name of a type that is one.
fn bare(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(p) => p.path.get_ident(),
        _ => None,
    }
}

/// Whether a loop's first block asks an iterator of each member's own for the next element.
pub(crate) fn asks_iterator(block: &Block) -> bool {
    let is_next = |at: At<'_>| match at {
        At::Expr(Expr::Call(e)) => {
            matches!(&*e.func, Expr::Path(p) if is_made(&p.path) && last(&p.path) == "next")
        }
        _ => false,
    };
    let in_term = match &block.term {
        Terminator::Branch { cond, .. } => walk::any(&**cond, is_next),
        Terminator::Switch { scrutinee, .. } => walk::any(&**scrutinee, is_next),
        _ => false,
    };
    in_term || block.code().any(|stmt| walk::any(stmt, is_next))
}

/// Whether the compiler has written a path: those of its own begin at a crate.
fn is_made(path: &Path) -> bool {
    path.leading_colon.is_some() || path.segments.iter().any(|s| s.ident.to_string().starts_with("__"))
}

/// Each call of a block.
fn each_of_block(block: &Block, mut found: impl FnMut(Span, String, bool)) {
    block.code().for_each(|stmt| each(stmt, &mut found));
    match &block.term {
        Terminator::Branch { cond, .. } => each(&**cond, found),
        Terminator::Switch { scrutinee, arms, .. } => {
            each(&**scrutinee, &mut found);
            arms.iter().flat_map(|arm| &arm.guard).for_each(|guard| each(&**guard, &mut found));
        }
        _ => {}
    }
}

fn elementary(callee: &str, is_method: bool) -> bool {
    is_method && elementary::is_elementary(callee) && callee != "powi"
}

/// Each call in code that is more than an instruction or an access: its name, and whether it is a method.
fn each(code: &impl Code, mut found: impl FnMut(Span, String, bool)) {
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
                let is_elementary = elementary(&name, true);
                let plain = pure::is_pure_method(&e.method) || facts::is_access(&name);
                if !name.starts_with("__") && (is_elementary || !plain) {
                    found(e.method.span(), name, true);
                }
            }
            _ => {}
        }
        Next::On
    });
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
