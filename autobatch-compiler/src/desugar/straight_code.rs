//! Which functions only compute with numbers and structures of them: operators, `if`, `match`, pure methods, loops. Such code means the same
//! where it is called.

use syn::{BinOp, Expr, Local, Pat, PathSegment, Stmt, Type, parse_quote};

use crate::desugar::copies::is_any_copy;
use crate::index::definitions::Definitions;
use crate::item::closure_params::ClosureParam;
use crate::item::model::{Function, Param};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_constant, is_plain_literal, is_primitive, is_pure_function};
use crate::syntax::mentions::{self, assignment, bare, name};

/// How often the loops of code run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loops {
    /// Equally often wherever they stand, if there are any.
    Alike,
    /// As the data say.
    AsDataSay,
}

/// Whether a function's body only computes, from beginning to end, and how its loops run.
pub(super) fn computes(function: &Function, definitions: &Definitions) -> Option<Loops> {
    let mut straight = Straight { function, definitions, counters: vec![], loops: Loops::Alike };
    straight.stmts(&function.body.stmts).then_some(straight.loops)
}

struct Straight<'a> {
    function: &'a Function,
    definitions: &'a Definitions,
    /// The counters of the loops around.
    counters: Vec<String>,
    loops: Loops,
}

impl Straight<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| match stmt {
            Stmt::Local(Local { attrs, pat, init, .. }) => {
                let init = init.as_ref().is_some_and(|init| {
                    let mut diverge = init.diverge.iter();
                    self.computes(&init.expr) && diverge.all(|(_, diverge)| self.computes(diverge))
                });
                attrs.is_empty() && init && is_plain_pattern(pat)
            }
            Stmt::Expr(e, _) => self.computes(e),
            _ => false,
        })
    }

    fn all(&mut self, exprs: &[&Expr]) -> bool {
        exprs.iter().all(|e| self.computes(e))
    }

    /// Whether a loop goes over what is shared, or counts what is there.
    fn is_over_shared(&self, iter: &Expr) -> bool {
        let is_lent = |place: &Expr| {
            let root = mentions::root(place).and_then(name);
            let lent = |p: &Param| matches!(&p.ty, Type::Reference(r) if r.mutability.is_none());
            root.is_some_and(|root| self.function.params.iter().any(|p| p.ident == root && lent(p)))
        };
        let called = |expr: &Expr, method: &str| match bare(expr) {
            Expr::MethodCall(e) => e.method == method && e.args.is_empty() && is_lent(&e.receiver),
            _ => false,
        };
        match bare(iter) {
            Expr::Range(e) => {
                let from_literal = matches!(e.start.as_deref(), Some(Expr::Lit(_)));
                from_literal && e.end.as_deref().is_some_and(|end| called(end, "len"))
            }
            Expr::Reference(e) => e.mutability.is_none() && is_lent(&e.expr),
            place @ Expr::Path(_) => is_lent(place),
            other => called(other, "iter"),
        }
    }

    /// Whether a loop runs equally often wherever it stands: its ends are made of literals, constants, and counters of such loops.
    fn is_counted(&self, iter: &Expr) -> bool {
        match bare(iter) {
            Expr::Range(range) => {
                let is_end = |end: &Option<Box<Expr>>| end.as_deref().is_some_and(|end| self.is_count(end));
                is_end(&range.start) && is_end(&range.end)
            }
            Expr::MethodCall(e) => {
                (e.method == "rev" || e.method == "step_by")
                    && self.is_counted(&e.receiver)
                    && e.args.iter().all(|arg| matches!(arg, Expr::Lit(_)))
            }
            _ => false,
        }
    }

    /// Whether a loop counts from one number to another.
    fn is_range(&mut self, iter: &Expr) -> bool {
        self.loops = Loops::AsDataSay;
        let Expr::Range(range) = bare(iter) else { return false };
        let mut is_end = |end: &Option<Box<Expr>>| end.as_deref().is_some_and(|end| self.computes(end));
        is_end(&range.start) && is_end(&range.end)
    }

    fn is_count(&self, end: &Expr) -> bool {
        match bare(end) {
            Expr::Lit(_) => true,
            Expr::Binary(e) => {
                matches!(e.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Rem(_))
                    && self.is_count(&e.left)
                    && self.is_count(&e.right)
            }
            Expr::Path(path) => {
                is_constant(path) || name(bare(end)).is_some_and(|name| self.counters.contains(&name))
            }
            _ => false,
        }
    }

    /// Whether what is called only computes, or is a parameter: what that does, the caller sees.
    fn is_known(&self, called: &Expr) -> bool {
        let Expr::Path(path) = called else { return false };
        let is = |param: &&Param| mentions::is_variable(called, &param.ident.to_string());
        let is_given = |param: &Param| ClosureParam::of(self.function, param).is_some();
        path.path.is_ident("Some")
            || is_pure_function(path)
            || self.makes(path)
            || self.function.params.iter().find(is).is_some_and(is_given)
    }

    /// Whether a path makes a structure of its fields, or a variant of an enumeration: `Xorshift(seed)`, `Shape::Ball(r)`.
    fn makes(&self, path: &syn::ExprPath) -> bool {
        let segments: Vec<&PathSegment> = path.path.segments.iter().collect();
        let definitions = self.definitions;
        match segments[..] {
            _ if path.qself.is_some() => false,
            [name] => definitions.record(&parse_quote!(#name)).is_some(),
            [owner, name] => {
                let variants = definitions.variants(&parse_quote!(#owner)).unwrap_or_default();
                variants.iter().any(|variant| variant.name == name.ident)
            }
            _ => false,
        }
    }

    fn computes(&mut self, expr: &Expr) -> bool {
        let expr = bare(expr);
        if let Some((place, value)) = assignment(expr) {
            return self.all(&[place, value]);
        }
        match expr {
            Expr::Lit(e) => is_plain_literal(&e.lit),
            Expr::Path(p) => {
                p.path.is_ident("None")
                    || is_constant(p)
                    || self.makes(p)
                    || name(expr).is_some_and(|name| self.function.bindings.contains_key(&name))
            }
            Expr::Unary(e) => self.computes(&e.expr),
            Expr::Binary(e) => self.all(&[&e.left, &e.right]),
            Expr::Cast(e) => is_primitive(&e.ty) && self.computes(&e.expr),
            Expr::Field(e) => self.computes(&e.base),
            Expr::Index(e) => self.all(&[&e.expr, &e.index]),
            Expr::Tuple(e) => e.elems.iter().all(|e| self.computes(e)),
            Expr::Array(e) => e.elems.iter().all(|e| self.computes(e)),
            Expr::Repeat(e) => self.computes(&e.expr),
            Expr::Struct(e) => {
                e.rest.is_none()
                    && e.fields.iter().all(|field| field.attrs.is_empty() && self.computes(&field.expr))
            }
            Expr::Let(e) => is_plain_pattern(&e.pat) && self.computes(&e.expr),
            Expr::If(e) => {
                self.computes(&e.cond)
                    && self.stmts(&e.then_branch.stmts)
                    && e.else_branch.iter().all(|(_, e)| self.computes(e))
            }
            Expr::Match(e) => {
                let mut is_plain = |arm: &syn::Arm| {
                    let (pat, guard) = match &arm.pat {
                        Pat::Guard(p) => (&*p.pat, Some(&*p.guard)),
                        pat => (pat, None),
                    };
                    let computes = guard.is_none_or(|guard| self.computes(guard));
                    arm.attrs.is_empty() && is_plain_pattern(pat) && computes
                };
                e.arms.iter().all(&mut is_plain)
                    && self.computes(&e.expr)
                    && e.arms.iter().all(|arm| self.computes(&arm.body))
            }
            Expr::Block(e) => {
                e.label.is_none() && (e.attrs.is_empty() || is_any_copy(expr)) && self.stmts(&e.block.stmts)
            }
            Expr::ForLoop(e) => {
                let is_alike = self.is_counted(&e.expr) || self.is_over_shared(&e.expr);
                e.label.is_none()
                    && e.attrs.is_empty()
                    && (is_alike || self.is_range(&e.expr))
                    && is_plain_pattern(&e.pat)
                    && {
                        if is_alike {
                            self.counters.extend(counter(&e.pat));
                        }
                        self.stmts(&e.body.stmts)
                    }
            }
            Expr::While(e) => {
                self.loops = Loops::AsDataSay;
                e.label.is_none() && e.attrs.is_empty() && self.computes(&e.cond) && self.stmts(&e.body.stmts)
            }
            Expr::Loop(e) => {
                self.loops = Loops::AsDataSay;
                e.label.is_none() && e.attrs.is_empty() && self.stmts(&e.body.stmts)
            }
            Expr::Break(e) => e.label.is_none() && e.expr.iter().all(|e| self.computes(e)),
            Expr::Continue(e) => e.label.is_none(),
            Expr::MethodCall(e) => {
                let list = e.args.is_empty() && (e.method == "len" || e.method == "is_empty");
                (is_pure_method(&e.method) || list)
                    && e.turbofish.is_none()
                    && self.computes(&e.receiver)
                    && e.args.iter().all(|e| self.computes(e))
            }
            Expr::Call(e) => self.is_known(&e.func) && e.args.iter().all(|e| self.computes(e)),
            _ => false,
        }
    }
}

/// The name that a loop gives its counter.
fn counter(pat: &Pat) -> Option<String> {
    match pat {
        Pat::Ident(p) if p.mutability.is_none() => Some(p.ident.to_string()),
        _ => None,
    }
}

/// Whether a pattern binds no more than values by their names.
pub(super) fn is_plain_pattern(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && p.subpat.is_none(),
        Pat::Type(p) => is_plain_pattern(&p.pat),
        Pat::Paren(p) => is_plain_pattern(&p.pat),
        Pat::Tuple(p) => p.elems.iter().all(is_plain_pattern),
        Pat::Slice(p) => p.elems.iter().all(is_plain_pattern),
        Pat::Or(p) => p.cases.iter().all(is_plain_pattern),
        Pat::TupleStruct(p) => p.qself.is_none() && p.elems.iter().all(is_plain_pattern),
        Pat::Struct(p) => {
            let mut fields = p.fields.iter();
            p.qself.is_none() && fields.all(|field| field.attrs.is_empty() && is_plain_pattern(&field.pat))
        }
        Pat::Path(p) => p.qself.is_none(),
        Pat::Wild(_) | Pat::Rest(_) | Pat::Lit(_) | Pat::Range(_) => true,
        _ => false,
    }
}
