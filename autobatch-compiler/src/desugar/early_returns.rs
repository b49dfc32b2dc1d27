//! A function's body without `return`, so that it can stand in another.
//!
//! ```text
//! if c { return a; } b                     ──▶   if c { a } else { b }
//! let Some(x) = y else { return a; }; b    ──▶   if let Some(x) = y { b } else { a }
//! for x in xs { if x > y { return x; } } z ──▶   let mut left = false; let mut value = 0.0;
//!                                                for x in xs { if x > y { value = x; left = true; break; } }
//!                                                if left { value } else { z }
//! loop { if c { return x; } … }            ──▶   let mut value = 0.0; loop { if c { value = x; break; } … } value
//! ```
//!
//! What can't be rewritten keeps its `return`.

use proc_macro2::Span;
use syn::{Block, Expr, Ident, Local, LocalInit, Stmt, Type, parse_quote};

use crate::analysis::lane_interchange::breaks;
use crate::desugar::zeros::zero;
use crate::index::definitions::Definitions;
use crate::syntax::mentions::{bare, text};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Code, Next};

/// Rewrites the body of a function with this result.
pub(super) fn rewrite(body: &mut Block, output: &Type, definitions: &Definitions) {
    Rewrite { output, definitions, loops: 0 }.block(body);
}

struct Rewrite<'a> {
    output: &'a Type,
    definitions: &'a Definitions,
    /// How many loops have been left.
    loops: usize,
}

/// What a loop that is left has beside itself.
struct Left {
    /// Whether it has been left, if it may end otherwise or stands around another.
    flag: Option<Ident>,
    /// The value that it has been left with, if that is not always the same.
    value: Option<Ident>,
}

impl Rewrite<'_> {
    fn block(&mut self, body: &mut Block) {
        if let Some(Stmt::Expr(Expr::Return(e), _)) = body.stmts.last_mut()
            && let Some(value) = e.expr.take()
        {
            body.stmts.pop();
            body.stmts.push(Stmt::Expr(*value, None));
        }
        let ends = |block: &Block| matches!(block.stmts.last(), Some(Stmt::Expr(Expr::Return(e), _)) if e.expr.is_some());
        let returns = |stmt: &Stmt| match stmt {
            Stmt::Expr(Expr::If(e), _) => e.else_branch.is_none() && ends(&e.then_branch),
            Stmt::Local(local) => {
                let diverge = local.init.as_ref().and_then(|init| init.diverge.as_ref());
                local.attrs.is_empty()
                    && diverge.is_some_and(|(_, e)| matches!(&**e, Expr::Block(e) if ends(&e.block)))
            }
            Stmt::Expr(e, _) => has_return(stmt) && loop_body(e).is_some_and(|body| !is_hidden(body)),
            _ => false,
        };
        let Some(at) = body.stmts.iter().position(returns) else { return };
        let rest = body.stmts.split_off(at + 1);
        let mut rest = Block { stmts: rest, brace_token: body.brace_token };
        match body.stmts.pop() {
            Some(Stmt::Expr(Expr::If(mut e), _)) => {
                self.block(&mut rest);
                self.block(&mut e.then_branch);
                e.else_branch = Some((<syn::Token![else]>::default(), Box::new(parse_quote!(#rest))));
                body.stmts.push(Stmt::Expr(Expr::If(e), None));
            }
            Some(Stmt::Local(Local {
                pat,
                init: Some(LocalInit { expr, diverge: Some((_, mut otherwise)), .. }),
                ..
            })) => {
                self.block(&mut rest);
                if let Expr::Block(e) = &mut *otherwise {
                    self.block(&mut e.block);
                }
                body.stmts.push(parse_quote!(if let #pat = (#expr) #rest else #otherwise));
            }
            Some(Stmt::Expr(mut e, semi)) => {
                // What has no other end has nothing behind it.
                let is_endless = rest.stmts.is_empty() && matches!(e, Expr::Loop(_));
                let (zero, inside) = (zero(self.output, self.definitions), loop_body_mut(&mut e));
                let (Some(zero), Some(inside)) =
                    (zero, inside.filter(|inside| !(is_endless && breaks(&**inside))))
                else {
                    body.stmts.push(Stmt::Expr(e, semi));
                    body.stmts.extend(rest.stmts);
                    return;
                };
                self.loops += 1;
                let ident = |what| Ident::new(&format!("__{what}_{}", self.loops), Span::mixed_site());
                let constant = the_constant(inside);
                let left = Left {
                    flag: (!is_endless || has_returning_loop(inside)).then(|| ident("left")),
                    value: constant.is_none().then(|| ident("left_with")),
                };
                Leave(&left).visit_block_mut(inside);
                let flag = left.flag.iter().map(|flag| -> Stmt { parse_quote!(let mut #flag = false;) });
                body.stmts.extend(flag);
                let (value, ty) = (left.value.iter(), self.output);
                body.stmts.extend(value.map(|value| -> Stmt { parse_quote!(let mut #value: #ty = #zero;) }));
                let returned: Expr = constant.or_else(|| Some(path(left.value.as_ref()?))).unwrap_or(zero);
                body.stmts.push(Stmt::Expr(e, None));
                let value = match &left.flag {
                    Some(flag) if !is_endless => {
                        self.block(&mut rest);
                        parse_quote!(if #flag { #returned } else #rest)
                    }
                    _ => returned,
                };
                body.stmts.push(Stmt::Expr(value, None));
            }
            _ => {}
        }
    }
}

fn path(ident: &Ident) -> Expr {
    parse_quote!(#ident)
}

fn has_return<C: Code + ?Sized>(code: &C) -> bool {
    walk::any(code, |at| match at {
        At::Expr(Expr::Return(_)) => Next::Found,
        At::Expr(Expr::Closure(_)) => Next::Past,
        _ => Next::On,
    })
}

/// Whether a `return` stands in a loop that has a label or is no statement, in the condition of one, or in a value.
fn is_hidden(body: &Block) -> bool {
    walk::any(body, |at| match at {
        At::Local(local) => local.init.as_ref().is_some_and(|init| has_return(&init.expr)),
        At::Expr(Expr::While(e)) => has_return(&*e.cond),
        At::Expr(Expr::Break(e)) => e.label.is_some() || e.expr.is_some(),
        At::Expr(Expr::Continue(e)) => e.label.is_some(),
        _ => false,
    })
}

/// The body of a loop.
fn loop_body(e: &Expr) -> Option<&Block> {
    match e {
        Expr::ForLoop(e) => Some(&e.body),
        Expr::While(e) => Some(&e.body),
        Expr::Loop(e) => Some(&e.body),
        _ => None,
    }
}

fn loop_body_mut(e: &mut Expr) -> Option<&mut Block> {
    match e {
        Expr::ForLoop(e) => Some(&mut e.body),
        Expr::While(e) => Some(&mut e.body),
        Expr::Loop(e) => Some(&mut e.body),
        _ => None,
    }
}

/// Whether a loop in a body has a `return`.
fn has_returning_loop(body: &Block) -> bool {
    walk::any(body, |at| matches!(at, At::Expr(e) if loop_body(e).is_some() && has_return(e)))
}

/// The one literal that all `return`s give.
fn the_constant(body: &Block) -> Option<Expr> {
    let mut values: Vec<Option<&Expr>> = Vec::new();
    walk::each(body, |at| {
        if let At::Expr(Expr::Return(e)) = at {
            values.push(e.expr.as_deref().filter(|e| matches!(bare(e), Expr::Lit(_))));
        }
    });
    let first = (*values.first()?)?;
    values.iter().all(|value| value.is_some_and(|value| text(value) == text(first))).then(|| first.clone())
}

/// The `return`s of a loop: each sets what stands beside it and breaks, and so do the loops around.
struct Leave<'a>(&'a Left);

impl Leave<'_> {
    /// What a `return` becomes.
    fn leaves(&self, returned: &syn::ExprReturn) -> Vec<Stmt> {
        let Left { flag, value } = self.0;
        let set = value.as_ref().zip(returned.expr.as_ref());
        let set = set.map(|(value, returned)| -> Stmt { parse_quote!(#value = #returned;) });
        let flag = flag.iter().map(|flag| -> Stmt { parse_quote!(#flag = true;) });
        set.into_iter().chain(flag).chain([parse_quote!(break;)]).collect()
    }
}

impl VisitMut for Leave<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            if let Stmt::Expr(Expr::Return(e), _) = &stmt {
                stmts.extend(self.leaves(e));
                continue;
            }
            let is_left = matches!(&stmt, Stmt::Expr(e, _) if loop_body(e).is_some()) && has_return(&stmt);
            self.visit_stmt_mut(&mut stmt);
            stmts.push(stmt);
            if let Some(flag) = self.0.flag.as_ref().filter(|_| is_left) {
                stmts.push(parse_quote!(if #flag { break; }));
            }
        }
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Return(e) = expr {
            let stmts = self.leaves(e);
            *expr = parse_quote!({ #(#stmts)* });
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
    }

    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
