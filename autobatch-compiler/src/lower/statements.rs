//! Statements: blocks of them, `let`s, items.

use syn::spanned::Spanned;
use syn::{Expr, Pat, Stmt, Type, parse_quote};

use crate::analysis::uniform_values;
use crate::diagnostics::reasons;
use crate::ir::{Op, VarId, VarSet, effects};
use crate::lower::lowering::Lowering;
use crate::lower::scan;
use crate::syntax::item_names::{declared, imported};
use crate::syntax::mentions::{self, text};
use crate::syntax::standard_macros;
use crate::syntax::walk::{self, At};

impl Lowering<'_> {
    /// Lowers the statements of a block; the value of its tail goes to `dest`.
    pub(super) fn body(&mut self, block: syn::Block, dest: Option<VarId>, ty: Option<Type>) {
        self.items(&block);
        let ends = block.stmts.last().is_some_and(is_end);
        let mut stmts = block.stmts;
        let tail = match stmts.pop() {
            Some(Stmt::Expr(expr, None)) => Some(bare(expr)),
            Some(Stmt::Macro(m)) if m.semi_token.is_none() => {
                Some(Expr::Macro(syn::ExprMacro { attrs: m.attrs, mac: m.mac }))
            }
            last => {
                stmts.extend(last);
                None
            }
        };
        let mut bound = VarSet::new();
        let mut at = self.started.len();
        for stmt in stmts {
            if let Some(stmts) = self.predicated(&stmt) {
                stmts.into_iter().for_each(|stmt| self.op(stmt));
                continue;
            }
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
            (Some(tail), None) => match self.predicated(&Stmt::Expr(tail.clone(), None)) {
                Some(stmts) => stmts.into_iter().for_each(|stmt| self.op(stmt)),
                None => self.discard(tail),
            },
            // It never comes to that.
            (None, Some(dest)) if ends => self.define(dest, ty.as_ref(), parse_quote!(unreachable!())),
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
            // See `items`.
            Stmt::Item(_) => {}
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

    /// Hoists the items of a block, which its statements may be apart from. All bodies of the program share one scope, so none of
    /// their names may mean something else outside of the block.
    fn items(&mut self, block: &syn::Block) {
        let items = block.stmts.iter().enumerate().filter_map(|(nth, stmt)| match stmt {
            Stmt::Item(item) => Some((nth, item)),
            _ => None,
        });
        for (nth, item) in items {
            let same = |other: &syn::Item| text(other) == text(item);
            if self.items.iter().any(same) {
                continue;
            }
            let names = item_names(item);
            let known = |other: &syn::Item| {
                item_names(other).is_some_and(|other| names.iter().flatten().any(|name| other.contains(name)))
            };
            if self.items.iter().any(known) {
                self.whole_fallback(item.span(), reasons::ITEM_OF_ANOTHER_BODY);
            } else if self.means_more(names.as_deref(), item, block, nth) {
                self.whole_fallback(item.span(), reasons::ITEM_NAMED_OUTSIDE);
            }
            self.items.push(item.clone());
        }
    }

    /// Whether one of the names stands outside of the block, in a function without the same item, or before a macro's definition; `None`:
    /// any name may.
    fn means_more(&self, names: Option<&[String]>, item: &syn::Item, block: &syn::Block, nth: usize) -> bool {
        let own = self.source();
        let Some(names) = names else {
            let others = self.facts.item.functions.iter().enumerate().filter(|(source, _)| *source != own);
            return self.facts.body(own) != *block
                || others.into_iter().any(|(_, f)| !defines(&f.body, item, &[]));
        };
        let count = |code: &dyn quote::ToTokens| {
            let text = text(&code);
            mentions::words(&text).filter(|word| names.iter().any(|name| name == word)).count()
        };
        let before = || block.stmts[..nth].iter().any(|stmt| count(stmt) > 0);
        self.facts.item.functions.iter().enumerate().any(|(source, function)| {
            let body = count(&function.body);
            match source == own {
                true => {
                    body > count(block)
                        || count(&function.sig) > 0
                        || matches!(item, syn::Item::Macro(_)) && before()
                }
                // Its own item of that name is looked at when its body is lowered.
                false => body + count(&function.sig) > 0 && !defines(&function.body, item, names),
            }
        })
    }

    fn local(&mut self, local: syn::Local) {
        let Some(init) = &local.init else {
            return self.declaration(&local.pat);
        };
        let uniforms = uniform_values::defines(&self.program, &self.names, &self.uniforms, &local);
        self.uniforms.extend(uniforms);
        if !scan::splits(self, &Stmt::Local(local.clone())) {
            return self.op(Stmt::Local(local));
        }
        let (pat, init) = (local.pat, *init.expr.clone());
        if let Some((_, diverge)) = local.init.and_then(|init| init.diverge) {
            return self.let_else(pat, init, *diverge);
        }
        // A plain binding is the destination itself.
        let (plain, ty) = match &pat {
            Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            pat => (pat, None),
        };
        match plain {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                let dest = self.names[&p.ident.to_string()];
                self.into(init, dest, ty);
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

/// An expression without its attributes, which only statements can have.
fn bare(mut expr: Expr) -> Expr {
    match &mut expr {
        Expr::MethodCall(e) => e.attrs.retain(|attr| !is_lint(attr)),
        Expr::Call(e) => e.attrs.retain(|attr| !is_lint(attr)),
        Expr::Match(e) => e.attrs.retain(|attr| !is_lint(attr)),
        Expr::If(e) => e.attrs.retain(|attr| !is_lint(attr)),
        Expr::Block(e) => e.attrs.retain(|attr| !is_lint(attr)),
        Expr::Macro(e) => e.attrs.retain(|attr| !is_lint(attr)),
        Expr::Path(e) => e.attrs.retain(|attr| !is_lint(attr)),
        Expr::Struct(e) => e.attrs.retain(|attr| !is_lint(attr)),
        _ => {}
    }
    expr
}

fn is_lint(attr: &syn::Attribute) -> bool {
    ["allow", "deny", "expect", "forbid", "warn"].iter().any(|name| attr.path().is_ident(name))
}

/// Whether a statement is a panic, `panic!("…");`.
fn is_end(stmt: &Stmt) -> bool {
    let Stmt::Macro(stmt) = stmt else { return false };
    stmt.mac.path.segments.last().is_some_and(|last| standard_macros::panics(&last.ident))
}

/// Whether the item stands somewhere in the code, or one that defines one of the names.
fn defines(code: &syn::Block, item: &syn::Item, names: &[String]) -> bool {
    walk::any(code, |at| match at {
        At::Item(other) => {
            other == item || item_names(other).unwrap_or_default().iter().any(|name| names.contains(name))
        }
        _ => false,
    })
}

/// The names that an item defines; `None` if they are not written.
pub(crate) fn item_names(item: &syn::Item) -> Option<Vec<String>> {
    match item {
        syn::Item::Use(i) => {
            let (names, all) = imported(&i.tree);
            (!all).then(|| names.into_iter().map(ToString::to_string).collect())
        }
        syn::Item::Impl(_) => Some(vec![]),
        syn::Item::ExternCrate(_) | syn::Item::TraitAlias(_) => None,
        item => declared(item).map(|name| vec![name.to_string()]),
    }
}
