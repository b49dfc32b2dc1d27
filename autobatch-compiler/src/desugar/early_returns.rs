//! A function's body without `return`, so that it can stand in another.
//!
//! ```text
//! if c { return a; } b                     ──▶   if c { a } else { b }
//! for x in xs { if x > y { return x; } } z ──▶   let mut left = false; let mut value = 0.0;
//!                                                for x in xs { if x > y { value = x; left = true; break; } }
//!                                                if left { value } else { z }
//! ```
//!
//! What can't be rewritten keeps its `return`.

use proc_macro2::Span;
use syn::{Block, Expr, Ident, Stmt, Type, parse_quote};

use crate::index::definitions::Definitions;
use crate::std_models::pure::is_primitive;
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
    /// Whether it has been left.
    flag: Ident,
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
        let returns = |stmt: &Stmt| match stmt {
            Stmt::Expr(Expr::If(e), _) => {
                e.else_branch.is_none()
                    && matches!(e.then_branch.stmts.last(), Some(Stmt::Expr(Expr::Return(e), _)) if e.expr.is_some())
            }
            Stmt::Expr(Expr::ForLoop(e), _) => has_return(stmt) && !is_hidden(&e.body),
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
            Some(Stmt::Expr(Expr::ForLoop(mut e), semi)) => {
                let Some(zero) = self.zero(self.output) else {
                    body.stmts.push(Stmt::Expr(Expr::ForLoop(e), semi));
                    body.stmts.extend(rest.stmts);
                    return;
                };
                self.loops += 1;
                let ident = |what| Ident::new(&format!("__{what}_{}", self.loops), Span::mixed_site());
                let constant = the_constant(&e.body);
                let value = constant.is_none().then(|| ident("left_with"));
                let left = Left { flag: ident("left"), value };
                Leave(&left).visit_block_mut(&mut e.body);
                self.block(&mut rest);
                let (flag, ty) = (&left.flag, self.output);
                body.stmts.push(parse_quote!(let mut #flag = false;));
                body.stmts.extend(
                    left.value.iter().map(|value| -> Stmt { parse_quote!(let mut #value: #ty = #zero;) }),
                );
                let returned: Expr = constant.or_else(|| Some(path(left.value.as_ref()?))).unwrap_or(zero);
                body.stmts.push(Stmt::Expr(Expr::ForLoop(e), None));
                body.stmts.push(Stmt::Expr(parse_quote!(if #flag { #returned } else #rest), None));
            }
            _ => {}
        }
    }

    /// A value of a type of numbers.
    fn zero(&self, ty: &Type) -> Option<Expr> {
        let ty = self.definitions.plain(ty);
        Some(match &ty {
            Type::Tuple(t) => {
                let parts: Vec<Expr> = t.elems.iter().map(|ty| self.zero(ty)).collect::<Option<_>>()?;
                parse_quote!((#(#parts,)*))
            }
            Type::Array(t) => {
                let (element, len) = (self.zero(&t.elem)?, &t.len);
                parse_quote!([#element; #len])
            }
            ty if is_primitive(ty) => match text(ty).as_str() {
                "bool" => parse_quote!(false),
                "char" => parse_quote!('\0'),
                _ => parse_quote!((0u8 as #ty)),
            },
            ty => {
                let fields = self.definitions.record(ty)?;
                let zeros: Vec<Expr> = fields.iter().map(|(_, ty)| self.zero(ty)).collect::<Option<_>>()?;
                let members = fields.iter().map(|(member, _)| member);
                parse_quote!(#ty { #(#members: #zeros),* })
            }
        })
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

/// Whether a `return` stands in a loop other than `for` statements, or in a value.
fn is_hidden(body: &Block) -> bool {
    walk::any(body, |at| match at {
        At::Local(local) => local.init.as_ref().is_some_and(|init| has_return(&init.expr)),
        At::Expr(e @ (Expr::While(_) | Expr::Loop(_))) => has_return(e),
        _ => false,
    })
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
        set.into_iter().chain([parse_quote!(#flag = true;), parse_quote!(break;)]).collect()
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
            let is_left = matches!(&stmt, Stmt::Expr(Expr::ForLoop(_), _)) && has_return(&stmt);
            self.visit_stmt_mut(&mut stmt);
            stmts.push(stmt);
            if is_left {
                let flag = &self.0.flag;
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
