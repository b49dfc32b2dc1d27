//! A program as its user reads it: counters, questions and names of the compiler's own as Rust that could have been written by hand.
//!
//! ```text
//! if ::autobatch::__rt::count_more(&__at1, &__end2) { b4 } else { b7 }     →    if at1 < end2 { b4 } else { b7 }
//! let i = ::autobatch::__rt::count_up(&mut __at1);                         →    let i = at1; at1 += 1;
//! { let __result0: u64 = 1; goto b5 }                                      →    return 1
//! ```
//!
//! The result is for printing only.

use std::collections::BTreeSet;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;

use syn::{Block, Expr, Lifetime, Local, Macro, Pat, Path, Stmt, parse_quote};

use crate::ir::{BlockId, FuncId, Program, Terminator, goto_target};
use crate::syntax::visit_mut::{self, VisitMut};

/// The program with readable code and names.
pub(crate) fn readable(program: &Program) -> Program {
    let mut shown = program.clone();
    for func in program.func_ids() {
        let names = Names::of(program, func);
        for v in program.vars_of(func) {
            names.rename(&mut shown.variables[v.0].ident);
        }
        let exit = program.func(func).exit;
        let result = program.name(program.func(func).result);
        for b in program.block_ids().filter(|b| program.block(*b).func == func) {
            let block = &mut shown.blocks[b.0];
            let mut reader = Reader { exit, result: &result, names: &names };
            for op in &mut block.ops {
                reader.statements(&mut op.code);
            }
            if matches!(block.term, Terminator::Jump(target) if target == exit)
                && let Some(last) = block.ops.last_mut().and_then(|op| op.code.last_mut())
                && let Stmt::Local(local) = last
                && is_named(&local.pat, &names.renamed(&result))
                && let Some(value) = value_of(local)
            {
                *last = parse_quote!(return #value;);
            }
            match &mut block.term {
                Terminator::Branch { cond, .. } => reader.visit_expr_mut(cond),
                Terminator::Switch { scrutinee, arms, .. } => {
                    reader.visit_expr_mut(scrutinee);
                    for arm in arms {
                        reader.visit_pat_mut(&mut arm.pat);
                        arm.guard.iter_mut().for_each(|guard| reader.visit_expr_mut(guard));
                    }
                }
                _ => {}
            }
        }
    }
    shown
}

/// The names of a function's variables, of which the compiler's own lose their underscores where nothing else has the name then.
struct Names {
    users: BTreeSet<String>,
    results: usize,
}

impl Names {
    fn of(program: &Program, func: FuncId) -> Names {
        let names = || program.vars_of(func).map(|v| program.name(v));
        let results = names().filter(|name| name.starts_with("__result")).count();
        Names { users: names().filter(|name| !name.starts_with("__")).collect(), results }
    }

    fn renamed(&self, name: &str) -> String {
        let Some(plain) = name.strip_prefix("__") else { return name.to_owned() };
        let plain = match plain.strip_prefix("result") {
            Some(number) if self.results == 1 && number.bytes().all(|c| c.is_ascii_digit()) => "result",
            _ => plain,
        };
        let is_name = plain == "self" || syn::parse_str::<Ident>(plain).is_ok();
        if is_name && !self.users.contains(plain) { plain.to_owned() } else { name.to_owned() }
    }

    fn rename(&self, ident: &mut Ident) {
        let renamed = self.renamed(&ident.to_string());
        if *ident != renamed {
            *ident = Ident::new(&renamed, ident.span());
        }
    }

    fn tokens(&self, tokens: TokenStream) -> TokenStream {
        let tree = |tree| match tree {
            TokenTree::Ident(mut ident) => {
                self.rename(&mut ident);
                TokenTree::Ident(ident)
            }
            TokenTree::Group(group) => {
                TokenTree::Group(Group::new(group.delimiter(), self.tokens(group.stream())))
            }
            other => other,
        };
        tokens.into_iter().map(tree).collect()
    }
}

/// Rewrites code of one function.
struct Reader<'a> {
    exit: BlockId,
    result: &'a str,
    names: &'a Names,
}

impl Reader<'_> {
    /// Statements, of which one that counts becomes two.
    fn statements(&mut self, statements: &mut Vec<Stmt>) {
        let mut read = Vec::new();
        for mut stmt in std::mem::take(statements) {
            if counts_rounds(&stmt) {
                continue;
            }
            let mut steps = Steps::default();
            steps.visit_stmt_mut(&mut stmt);
            for mut stmt in steps.before.into_iter().chain([stmt]).chain(steps.behind) {
                self.visit_stmt_mut(&mut stmt);
                read.push(stmt);
            }
        }
        *statements = read;
    }

    /// `return value`, if a block gives the result a value and leaves.
    fn leaving(&self, block: &Block) -> Option<Expr> {
        let [Stmt::Local(local), leave] = &block.stmts[..] else { return None };
        let (Stmt::Expr(Expr::Macro(_), _) | Stmt::Macro(_)) = leave else { return None };
        let mac = match leave {
            Stmt::Expr(Expr::Macro(e), _) => &e.mac,
            Stmt::Macro(m) => &m.mac,
            _ => return None,
        };
        if goto_target(mac) != Some(self.exit) || !is_named(&local.pat, self.result) {
            return None;
        }
        let value = value_of(local)?;
        Some(parse_quote!(return #value))
    }
}

impl VisitMut for Reader<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.statements(&mut block.stmts);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(asked) = question(expr) {
            *expr = parse_quote!(#asked?);
        }
        if let Expr::Block(e) = expr
            && e.label.is_none()
            && let Some(leaving) = self.leaving(&e.block)
        {
            *expr = leaving;
        }
        match expr {
            Expr::Macro(e) if goto_target(&e.mac) == Some(self.exit) => *expr = parse_quote!(return),
            Expr::Call(e) => {
                if let Some(condition) = condition(e) {
                    *expr = condition;
                }
            }
            Expr::Paren(e) if matches!(&*e.expr, Expr::Path(_)) => *expr = (*e.expr).clone(),
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(m) = stmt
            && goto_target(&m.mac) == Some(self.exit)
        {
            *stmt = parse_quote!(return;);
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_path_mut(&mut self, path: &mut Path) {
        shorten(path);
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        self.names.rename(ident);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        self.names.rename(&mut lifetime.ident);
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        if goto_target(mac).is_none() {
            mac.tokens = self.names.tokens(std::mem::take(&mut mac.tokens));
        }
    }
}

/// The steps of counters in a statement, which become statements of their own.
#[derive(Default)]
struct Steps {
    before: Vec<Stmt>,
    behind: Vec<Stmt>,
}

impl VisitMut for Steps {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let Expr::Call(call) = expr else { return };
        let arguments: Vec<&Expr> = call.args.iter().map(without_reference).collect();
        *expr = match (of_runtime(&call.func).as_deref(), &arguments[..]) {
            (Some("count_up"), [at]) => {
                self.behind.push(parse_quote!(#at += 1;));
                (*at).clone()
            }
            (Some("count_behind"), [_, first]) => (*first).clone(),
            (Some("count_down"), [to]) => {
                self.before.push(parse_quote!(#to -= 1;));
                (*to).clone()
            }
            (Some("count_up_to"), [at, to, more]) => {
                self.behind.push(parse_quote!(if #at < #to { #at += 1; } else { #more = false; }));
                (*at).clone()
            }
            (Some("count_down_to"), [at, to, more]) => {
                self.behind.push(parse_quote!(if #at < #to { #to -= 1; } else { #more = false; }));
                (*to).clone()
            }
            _ => return,
        };
    }

    /// Statements in it have steps of their own.
    fn visit_block_mut(&mut self, _: &mut Block) {}
}

/// The comparison that a question to counters is.
fn condition(call: &syn::ExprCall) -> Option<Expr> {
    let arguments: Vec<&Expr> = call.args.iter().map(without_reference).collect();
    Some(match (of_runtime(&call.func)?.as_str(), &arguments[..]) {
        ("count_more", [at, end]) => parse_quote!(#at < #end),
        ("steps", [range, _]) => (*range).clone(),
        ("count_any", [at, end]) => parse_quote!(#at <= #end),
        ("count_is", [more]) => (*more).clone(),
        _ => return None,
    })
}

/// The value that `?` stands behind, if this is how it is written out.
fn question(expr: &Expr) -> Option<Expr> {
    let Expr::Match(e) = expr else { return None };
    match &*e.expr {
        Expr::MethodCall(call) if call.method == "branch" => match &*call.receiver {
            Expr::Call(asked) if of_runtime(&asked.func)? == "Asked" => asked.args.first().cloned(),
            _ => None,
        },
        Expr::Call(call) if call.func.to_token_stream().to_string().ends_with("Question :: branch") => {
            call.args.first().cloned()
        }
        _ => None,
    }
}

/// Whether a statement counts the rounds of the loop behind it.
fn counts_rounds(stmt: &Stmt) -> bool {
    let Stmt::Local(local) = stmt else { return false };
    matches!(value_of(local), Some(Expr::Call(call)) if of_runtime(&call.func).is_some_and(|name| name == "rounds"))
}

/// The last word of a path into the runtime.
fn of_runtime(function: &Expr) -> Option<String> {
    let Expr::Path(e) = function else { return None };
    let mut words = e.path.segments.iter().rev();
    let last = words.next()?.ident.to_string();
    words.any(|word| word.ident == "__rt").then_some(last)
}

fn without_reference(expr: &Expr) -> &Expr {
    match expr {
        Expr::Reference(e) => &e.expr,
        other => other,
    }
}

fn value_of(local: &Local) -> Option<&Expr> {
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    match &*init.expr {
        // `{ x }` is `x`.
        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => match &e.block.stmts[..] {
            [Stmt::Expr(value, None)] => Some(value),
            _ => Some(&init.expr),
        },
        value => Some(value),
    }
}

fn is_named(pat: &Pat, name: &str) -> bool {
    match pat {
        Pat::Ident(p) => p.ident == name,
        Pat::Type(p) => is_named(&p.pat, name),
        _ => false,
    }
}

/// Leaves out the way to an item of std's or the runtime's: `Some` for `::core::option::Option::Some`.
fn shorten(path: &mut Path) {
    let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let of_std = path.leading_colon.is_some()
        && matches!(words.first().map(String::as_str), Some("core" | "std" | "alloc"));
    let of_runtime = words.iter().position(|word| word == "__rt").map(|at| at + 1);
    let keep = match of_runtime {
        Some(keep) => keep,
        None if of_std => {
            let last = words.len() - 1;
            let type_name =
                words.iter().position(|word| word.starts_with(char::is_uppercase)).unwrap_or(last);
            if matches!(words[last].as_str(), "Some" | "None" | "Ok" | "Err") { last } else { type_name }
        }
        None => return,
    };
    if keep < words.len() {
        path.leading_colon = None;
        path.segments = path.segments.iter().skip(keep).cloned().collect();
    }
}
