//! A part of a local that a call gets and gives back, `node.left = insert(node.left, key)`. A column holds whole values, so what
//! is lent that way is taken: `node.left = insert(Option::take(&mut node.left), key)`. Nobody sees what stands there meanwhile.

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAssign, Ident, Member, Pat, Path, Stmt, Type, parse_quote};

use super::callees::Callees;
use super::moves::{TAKE, binds_a_value, type_of_local};
use crate::input::Function;
use crate::mentions::is_variable;
use crate::receivers::call_text;
use crate::signatures::Methods;

/// Rewrites a function's body.
pub(super) fn take(function: &mut Function, callees: &Callees, krate: &Path) {
    let mut body = function.body.clone();
    let mut assignments = Assignments { function, callees, krate, texts: vec![] };
    assignments.visit_block_mut(&mut body);
    let texts = assignments.texts;
    for known in [&mut function.others, &mut function.unknown] {
        let new: Vec<String> =
            texts.iter().filter(|(old, _)| known.contains(old)).map(|(_, new)| new.clone()).collect();
        known.extend(new);
    }
    function.body = body;
}

/// What is given back to parts that it was moved out of, and that can't stand empty: `x.left = f(x.left)` with a `Box`.
pub(crate) fn moved(function: &Function) -> Vec<&Expr> {
    struct Scan<'a, 'ast>(&'a Function, Vec<&'ast Expr>);
    impl<'ast> Visit<'ast> for Scan<'_, 'ast> {
        fn visit_expr_assign(&mut self, e: &'ast ExprAssign) {
            visit::visit_expr_assign(self, e);
            let krate = parse_quote!(autobatch);
            if let Some((base, field)) = part(&e.left)
                && self.0.methods.is_moved(field)
            {
                let kind = Emptied::None;
                let mut taken = Taken { base, field, kind, krate: &krate, found: 0, texts: vec![] };
                taken.value(&mut e.right.clone());
                self.1.extend((taken.found > 0).then_some(&*e.right));
            }
        }
        fn visit_expr(&mut self, expr: &'ast Expr) {
            visit::visit_expr(self, expr);
            if let Expr::If(e) = expr
                && let Expr::Let(cond) = &*e.cond
                && let Some((base, field)) = part(&cond.expr)
                && self.0.methods.is_moved(field)
                && binds_a_value(&cond.pat)
                && is_assigned(&e.then_branch, base, field)
            {
                self.1.push(expr);
            }
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut scan = Scan(function, vec![]);
    scan.visit_block(&function.body);
    scan.1
}

struct Assignments<'a> {
    function: &'a Function,
    callees: &'a Callees,
    krate: &'a Path,
    /// Method calls before and behind.
    texts: Vec<(String, String)>,
}

impl Assignments<'_> {
    fn assignment(&mut self, e: &mut ExprAssign) {
        let places: Vec<&Expr> = match &*e.left {
            Expr::Tuple(left) => left.elems.iter().collect(),
            left => vec![left],
        };
        let bindings = self.function.bindings.keys().cloned().collect();
        if !self.callees.calls(&e.right, &bindings) {
            return;
        }
        for place in places {
            let Some((base, field)) = part(place) else { continue };
            let Some(kind) = self.function.methods.emptied(field) else { continue };
            if !may_be_seen(self.function, base) {
                continue;
            }
            let mut uses = Uses { base, field, parts: 0, others: 0 };
            uses.visit_expr(&e.right);
            let mut taken = Taken { base, field, kind, krate: self.krate, found: 0, texts: vec![] };
            let mut right = e.right.clone();
            taken.value(&mut right);
            if taken.found > 0 && (uses.parts, uses.others) == (taken.found, 0) {
                e.right = right;
                self.texts.append(&mut taken.texts);
            }
        }
    }
}

impl Assignments<'_> {
    /// `if let Some(left) = node.left { node.left = Some(f(left)); }`
    fn condition(&mut self, e: &mut syn::ExprIf) {
        let Expr::Let(cond) = &mut *e.cond else { return };
        let Some((base, field)) = part(&cond.expr) else { return };
        let bindings = self.function.bindings.keys().cloned().collect();
        let then = &e.then_branch;
        let some =
            matches!(&*cond.pat, Pat::TupleStruct(p) if p.path.is_ident("Some")) && binds_a_value(&cond.pat);
        if some
            && self.function.methods.emptied(field) == Some(Emptied::None)
            && may_be_seen(self.function, base)
            && is_assigned(then, base, field)
            && self.callees.calls(&parse_quote!(#then), &bindings)
        {
            let place = &cond.expr;
            *cond.expr = parse_quote!(::core::option::Option::take(&mut #place));
        }
    }
}

/// Whether a block gives the part back.
fn is_assigned(block: &Block, base: &Ident, field: &Ident) -> bool {
    struct Scan<'a>(&'a Ident, &'a Ident, bool);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_expr_assign(&mut self, e: &'ast ExprAssign) {
            self.2 |= part(&e.left) == Some((self.0, self.1));
            visit::visit_expr_assign(self, e);
        }
    }
    let mut scan = Scan(base, field, false);
    scan.visit_block(block);
    scan.2
}

impl Assignments<'_> {
    /// `for child in tree.children { … } … tree.children = children;`
    fn later(&mut self, block: &mut Block) {
        for last in 1..block.stmts.len() {
            let Stmt::Expr(Expr::Assign(e), Some(_)) = &block.stmts[last] else { continue };
            let Some((base, field)) = part(&e.left) else { continue };
            let (base, field) = (base.clone(), field.clone());
            let Some(kind) = self.function.methods.emptied(&field) else { continue };
            let mentions = |stmt: &Stmt| {
                let mut uses = Uses { base: &base, field: &field, parts: 0, others: 0 };
                uses.visit_stmt(stmt);
                (uses.parts, uses.others)
            };
            let Some(first) = (0..last).rev().find(|i| mentions(&block.stmts[*i]).0 > 0) else { continue };
            let krate = self.krate;
            let mut stmt = block.stmts[first].clone();
            let mut taken = Taken { base: &base, field: &field, kind, krate, found: 0, texts: vec![] };
            taken.visit_stmt_mut(&mut stmt);
            let between = block.stmts[first..=last].iter().all(|stmt| mentions(stmt).1 == 0);
            if taken.found > 0
                && between
                && mentions(&block.stmts[first]).0 == taken.found
                && mentions(&block.stmts[last]).0 == 1
                && may_be_seen(self.function, &base)
            {
                self.texts.append(&mut taken.texts);
                block.stmts[first] = stmt;
            }
        }
    }
}

impl VisitMut for Assignments<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        self.later(block);
    }
    fn visit_expr_if_mut(&mut self, e: &mut syn::ExprIf) {
        visit_mut::visit_expr_if_mut(self, e);
        self.condition(e);
    }
    fn visit_expr_assign_mut(&mut self, e: &mut ExprAssign) {
        visit_mut::visit_expr_assign_mut(self, e);
        self.assignment(e);
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// A named part of a variable.
fn part(place: &Expr) -> Option<(&Ident, &Ident)> {
    match place {
        Expr::Field(e) => match (&*e.base, &e.member) {
            (Expr::Path(base), Member::Named(field)) => Some((base.path.get_ident()?, field)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a variable may be of a type in the file, as far as its own is known.
fn may_be_seen(function: &Function, name: &Ident) -> bool {
    let name = name.to_string();
    match type_of_local(function, &name) {
        Some(ty) => is_seen(&function.methods, &ty),
        None => true,
    }
}

fn is_seen(methods: &Methods, ty: &Type) -> bool {
    let Type::Path(p) = ty else { return false };
    let Some(last) = p.path.segments.last() else { return false };
    match &last.arguments {
        syn::PathArguments::AngleBracketed(args) if last.ident == "Box" => {
            args.args.iter().any(|arg| matches!(arg, syn::GenericArgument::Type(ty) if is_seen(methods, ty)))
        }
        _ => last.ident == "Self" || methods.has_type(&last.ident.to_string()),
    }
}

/// What stands in the place of a part while its value is elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Emptied {
    None,
    Collection,
    Default,
}

/// Counts mentions of a part, and of anything that the part belongs to.
struct Uses<'a> {
    base: &'a Ident,
    field: &'a Ident,
    parts: usize,
    others: usize,
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match part(expr) {
            Some((base, field)) if base == self.base => self.parts += usize::from(field == self.field),
            _ => {
                self.others += usize::from(is_variable(expr, &self.base.to_string()));
                visit::visit_expr(self, expr);
            }
        }
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.others += usize::from(
            super::mentioned_in(&Expr::Macro(parse_quote!(#mac))).contains(&self.base.to_string()),
        );
    }
}

/// Takes the part where it is moved.
struct Taken<'a> {
    base: &'a Ident,
    field: &'a Ident,
    kind: Emptied,
    krate: &'a Path,
    found: usize,
    texts: Vec<(String, String)>,
}

impl Taken<'_> {
    fn value(&mut self, expr: &mut Expr) {
        let is_it = part(expr).is_some_and(|(base, field)| base == self.base && field == self.field);
        if !is_it {
            return self.visit_expr_mut(expr);
        }
        self.found += 1;
        let krate = self.krate;
        *expr = match self.kind {
            Emptied::None => parse_quote!(::core::option::Option::take(&mut #expr)),
            Emptied::Default => parse_quote!(::core::mem::take(&mut #expr)),
            Emptied::Collection => parse_quote!(#krate::__rt::emptied(&mut #expr)),
        };
    }
}

impl VisitMut for Taken<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Call(e) => e.args.iter_mut().for_each(|arg| self.value(arg)),
            Expr::MethodCall(e) => {
                let before = call_text(e);
                let name = e.method.to_string();
                if name.starts_with("into_") || TAKE.contains(&name.as_str()) {
                    self.value(&mut e.receiver);
                } else {
                    self.visit_expr_mut(&mut e.receiver);
                }
                e.args.iter_mut().for_each(|arg| self.value(arg));
                self.texts.push((before, call_text(e)));
            }
            Expr::Struct(e) => e.fields.iter_mut().for_each(|field| self.value(&mut field.expr)),
            Expr::Tuple(e) => e.elems.iter_mut().for_each(|elem| self.value(elem)),
            Expr::Paren(e) => self.value(&mut e.expr),
            Expr::ForLoop(e) => {
                self.value(&mut e.expr);
                self.visit_block_mut(&mut e.body);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_block_mut(&mut self, block: &mut Block) {
        let last = block.stmts.len().saturating_sub(1);
        for (i, stmt) in block.stmts.iter_mut().enumerate() {
            match stmt {
                Stmt::Expr(tail, None) if i == last => self.value(tail),
                stmt => self.visit_stmt_mut(stmt),
            }
        }
    }
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        match &mut local.init {
            Some(init) if binds_a_value(&local.pat) => self.value(&mut init.expr),
            _ => visit_mut::visit_local_mut(self, local),
        }
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.value(&mut arm.body);
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
