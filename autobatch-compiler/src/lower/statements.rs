//! Statements: blocks of them, `let`s, items.

use syn::spanned::Spanned;
use syn::{Expr, Pat, Stmt, Type, parse_quote};

use super::{Lowering, scan, uniform};
use crate::effects;
use crate::ir::{self, Op, VarId, VarSet};

impl Lowering<'_> {
    /// Lowers the statements of a block; the value of its tail goes to `dest`.
    pub(super) fn body(&mut self, block: syn::Block, dest: Option<VarId>, ty: Option<Type>) {
        let mut stmts = block.stmts;
        let tail = match stmts.last() {
            Some(Stmt::Expr(_, None)) => match stmts.pop() {
                Some(Stmt::Expr(expr, None)) => Some(expr),
                _ => None,
            },
            Some(Stmt::Macro(m)) if m.semi_token.is_none() => match stmts.pop() {
                Some(Stmt::Macro(m)) => Some(Expr::Macro(syn::ExprMacro { attrs: m.attrs, mac: m.mac })),
                _ => None,
            },
            _ => None,
        };
        let mut bound = VarSet::new();
        let mut at = self.started.len();
        for stmt in stmts {
            let new = match &stmt {
                Stmt::Local(local) => effects::bound(&self.names, &local.pat),
                _ => VarSet::new(),
            };
            self.stmt(stmt);
            // Blocks that began behind what was bound before.
            if self.started.len() > at && !bound.is_empty() {
                self.spans.append(&mut bound);
            }
            at = self.started.len();
            bound.extend(new);
        }
        match (tail, dest) {
            (Some(tail), Some(dest)) => self.into(tail, dest, ty.as_ref()),
            (Some(tail), None) => self.discard(tail),
            (None, Some(dest)) => self.define(dest, ty.as_ref(), parse_quote!(())),
            (None, None) => {}
        }
        if self.started.len() > at {
            self.spans.append(&mut bound);
        }
    }

    fn stmt(&mut self, stmt: Stmt) {
        if self.cursor.is_none() {
            return;
        }
        match stmt {
            Stmt::Item(item) => self.item(item),
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, semi) => {
                if scan::splits(self, &expr)
                    || matches!(expr, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_))
                {
                    self.discard(expr);
                } else {
                    self.op(Stmt::Expr(expr, semi));
                }
            }
            other => self.op(other),
        }
    }

    /// Hoists an item of the body. All bodies of the program share one scope.
    fn item(&mut self, item: syn::Item) {
        let same = |other: &syn::Item| ir::text(other) == ir::text(&item);
        if self.items.iter().any(same) {
            return;
        }
        let name = item_name(&item);
        if name.is_some() && self.items.iter().any(|other| item_name(other) == name) {
            self.whole_fallback(item.span(), "another body of the program has an item of the same name");
        }
        self.items.push(item);
    }

    fn local(&mut self, local: syn::Local) {
        let Some(init) = &local.init else {
            return self.declaration(&local.pat);
        };
        let uniforms = uniform::defines(self, &self.uniforms, &local);
        self.uniforms.extend(uniforms);
        if !scan::stmt_splits(self, &Stmt::Local(local.clone())) {
            return self.op(Stmt::Local(local));
        }
        let (pat, init) = (local.pat, *init.expr.clone());
        if let Some((_, diverge)) = local.init.and_then(|init| init.diverge) {
            return self.let_else(pat, init, *diverge);
        }
        // A plain binding is the destination itself.
        match &pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                let dest = self.names[&p.ident.to_string()];
                self.into(init, dest, None);
            }
            Pat::Type(t) if matches!(&*t.pat, Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none()) => {
                let dest = effects::bound(&self.names, &t.pat)
                    .into_iter()
                    .next()
                    .expect("an identifier pattern binds");
                self.into(init, dest, Some(&t.ty));
            }
            _ => {
                let value = self.value(init);
                self.op(parse_quote!(let #pat = #value;));
            }
        }
    }

    /// `let x;`: no code; the region that first assigns `x` declares it.
    fn declaration(&mut self, pat: &Pat) {
        let declares = effects::bound(&self.names, pat);
        if let Pat::Type(t) = pat {
            for var in &declares {
                self.program.variables[var.0].ty = Some((*t.ty).clone());
            }
        }
        let (uses, defs) = (VarSet::new(), VarSet::new());
        self.push_op(Op { code: vec![], uses, defs, declares, exits: vec![], weight: 0 });
    }
}

/// The name an item defines.
fn item_name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(i) => &i.ident,
        syn::Item::Enum(i) => &i.ident,
        syn::Item::Fn(i) => &i.sig.ident,
        syn::Item::Mod(i) => &i.ident,
        syn::Item::Static(i) => &i.ident,
        syn::Item::Struct(i) => &i.ident,
        syn::Item::Trait(i) => &i.ident,
        syn::Item::Type(i) => &i.ident,
        syn::Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
