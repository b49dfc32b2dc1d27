//! What the variables of a function are made of, as far as lanes may differ in it.

use std::collections::BTreeSet;

use syn::{Expr, Pat, Type};

use crate::admission::receivers::Receivers;
use crate::ir::{FuncId, Program, Terminator};
use crate::std_models::number_methods::is_pure_method;
use crate::syntax::mentions::{assignment, name, names, roots};
use crate::syntax::walk::{self, At, Code};

/// What a function's variables are made of, by name.
pub(crate) struct Origins<'a> {
    /// Something of the lane's own: parameters, results of calls, what is made of them. Not what depends on them by its
    /// control flow only: that LLVM may see through.
    pub(super) varying: BTreeSet<String>,
    /// What other functions yield.
    pub(super) others: BTreeSet<String>,
    /// References that all lanes share.
    pub(super) shared: BTreeSet<String>,
    /// The types of what methods are called on.
    receivers: Receivers<'a>,
}

pub(crate) fn origins<'a>(program: &Program, func: FuncId, receivers: Receivers<'a>) -> Origins<'a> {
    let none = BTreeSet::new;
    let mut origins = Origins { varying: none(), others: none(), shared: none(), receivers };
    let mut made = Made { all: Vec::new(), receivers: &origins.receivers };
    for param in program.func(func).params.iter().map(|v| program.var(*v)) {
        if !param.shared && !param.is_uniform() {
            origins.varying.insert(param.ident.to_string());
        } else if matches!(&param.ty, Some(Type::Reference(ty)) if ty.mutability.is_none()) {
            origins.shared.insert(param.ident.to_string());
        }
    }
    for block in program.blocks_of(func) {
        block.code().for_each(|stmt| made.add(stmt));
        match &block.term {
            Terminator::Branch { cond, .. } => made.add(cond),
            Terminator::Switch { scrutinee, arms, .. } => {
                made.add(scrutinee);
                for arm in arms {
                    made.of(bound([&arm.pat]), scrutinee);
                    arm.guard.iter().for_each(|guard| made.add(guard));
                }
            }
            Terminator::Call(call) => _ = origins.varying.insert(program.name(call.dest)),
            _ => {}
        }
    }
    for (to, from) in &made.all {
        if from.others {
            origins.others.extend(to.iter().cloned());
        }
    }
    made.spread(&mut origins.varying);
    made.spread(&mut origins.others);
    origins
}

/// Names that get a value, and what it is made of.
struct Made<'r> {
    all: Vec<(BTreeSet<String>, Mentioned)>,
    receivers: &'r Receivers<'r>,
}

impl Made<'_> {
    fn of(&mut self, to: BTreeSet<String>, from: &Expr) {
        self.all.push((to, mentioned(self.receivers, from)));
    }

    /// Adds what a piece of code makes.
    fn add(&mut self, code: &(impl Code + ?Sized)) {
        walk::each(code, |at| match at {
            At::Local(syn::Local { pat, init: Some(init), .. }) => self.of(bound([pat]), &init.expr),
            At::Expr(Expr::Let(e)) => self.of(bound([&*e.pat]), &e.expr),
            At::Expr(Expr::ForLoop(e)) => self.of(bound([&*e.pat]), &e.expr),
            At::Expr(Expr::Match(e)) => self.of(bound(e.arms.iter().map(|arm| &arm.pat)), &e.expr),
            At::Expr(e) => {
                if let Some((place, value)) = assignment(e) {
                    self.of(roots(place).into_iter().collect(), value);
                }
            }
            _ => {}
        });
    }

    /// Adds the names that are made of those.
    fn spread(&self, names: &mut BTreeSet<String>) {
        let mut before = 0;
        while before < names.len() {
            before = names.len();
            for (to, from) in &self.all {
                if !from.names.is_disjoint(names) {
                    names.extend(to.iter().cloned());
                }
            }
        }
    }
}

/// The names that patterns bind.
fn bound<'p>(pats: impl IntoIterator<Item = &'p Pat>) -> BTreeSet<String> {
    pats.into_iter().flat_map(names).map(|name| name.to_string()).collect()
}

/// What an expression mentions.
#[derive(Default)]
pub(crate) struct Mentioned {
    pub(super) names: BTreeSet<String>,
    /// Whether it calls functions that the compiler does not see.
    pub(super) others: bool,
}

impl Origins<'_> {
    /// Whether a value is made of something of the lane's own.
    pub(crate) fn varies(&self, expr: &Expr) -> bool {
        !self.mentioned(expr).names.is_disjoint(&self.varying)
    }

    pub(crate) fn receivers(&self) -> &Receivers<'_> {
        &self.receivers
    }

    pub(crate) fn mentioned(&self, expr: &Expr) -> Mentioned {
        mentioned(&self.receivers, expr)
    }

    pub(crate) fn is_other(&self, expr: &Expr) -> bool {
        is_other(&self.receivers, expr)
    }
}

fn mentioned(receivers: &Receivers<'_>, expr: &Expr) -> Mentioned {
    let mut mentioned = Mentioned::default();
    walk::each(expr, |at| {
        if let At::Expr(expr) = at {
            mentioned.names.extend(name(expr));
            mentioned.others |= is_other(receivers, expr);
        }
    });
    mentioned
}

/// Whether it is a call of a function that the compiler does not see, other than a number's method, or one that gets nothing.
fn is_other(receivers: &Receivers<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Call(e) => match &*e.func {
            // The lowering's own counters.
            Expr::Path(f) if f.path.segments.iter().any(|s| s.ident == "__rt") => false,
            Expr::Path(f) => {
                f.path.segments.last().is_some_and(|f| f.ident.to_string().starts_with(char::is_lowercase))
            }
            _ => true,
        },
        Expr::MethodCall(e) => {
            let of_number = || is_pure_method(&e.method) && receivers.need(expr).is_none();
            !e.args.is_empty() && !of_number()
        }
        _ => false,
    }
}
