//! What a piece of user code does to variables: mentions, exits, weight.
//!
//! After name resolution an identifier is a variable or it is not, so these are plain syntax walks.
//! Imprecision: a mention counts as a use even where it only assigns a part, and macro tokens count
//! for every identifier they hold.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use proc_macro2::{Ident, TokenTree};
use syn::{BinOp, Expr, Macro, Pat, Stmt};

use crate::ir::{BlockId, FuncId, Op, Program, VarId, VarSet, goto_target};
use crate::std_models::pure::is_assertion;
use crate::std_models::trip_count::TripCounts;
use crate::syntax::format_strings;
use crate::syntax::macro_variables::map_tokens;
use crate::syntax::mentions::{self, bare};
use crate::syntax::visit::{self, Visit};
use crate::syntax::walk::Code;

/// What names stand for in a function: its variables, by unique name, and the numbers that bound its loops.
#[derive(Clone, Default)]
pub struct Names {
    variables: BTreeMap<String, VarId>,
    trip_counts: TripCounts,
}

impl Names {
    /// Those of a function, of these variables.
    pub(crate) fn new<'a>(
        program: &Program,
        func: FuncId,
        vars: impl IntoIterator<Item = &'a VarId>,
    ) -> Names {
        let variables = vars.into_iter().map(|v| (program.name(*v), *v)).collect();
        Names { variables, trip_counts: program.func(func).trip_counts.clone() }
    }

    /// How often loops run.
    pub(crate) fn trip_counts(&self) -> &TripCounts {
        &self.trip_counts
    }
}

impl Deref for Names {
    type Target = BTreeMap<String, VarId>;

    fn deref(&self) -> &BTreeMap<String, VarId> {
        &self.variables
    }
}

impl DerefMut for Names {
    fn deref_mut(&mut self) -> &mut BTreeMap<String, VarId> {
        &mut self.variables
    }
}

/// The variables of a function, by name.
pub fn names(program: &Program, func: FuncId) -> Names {
    Names::new(program, func, &program.vars_of(func).collect::<Vec<_>>())
}

/// Mentions, exits and weight of some code.
#[derive(Default)]
pub struct Effects {
    /// Variables mentioned.
    pub mentions: VarSet,
    /// Those mentioned other than where a pattern binds them.
    pub reads: VarSet,
    /// Jump markers, in order.
    pub exits: Vec<BlockId>,
    /// Estimated work.
    pub weight: u32,
    /// Whether it calls functions or methods, or loops.
    pub opaque: bool,
}

/// The effects of a piece of code.
pub(crate) fn of(names: &Names, code: &(impl Code + ?Sized)) -> Effects {
    let mut visitor = Visitor { names, out: Effects::default() };
    code.visit(&mut visitor);
    visitor.out
}

/// The variables a pattern binds.
pub fn bound(names: &Names, pat: &Pat) -> VarSet {
    known(names, &mentions::names(pat))
}

/// The variables the `let`s of a condition bind.
pub fn bound_by_condition(names: &Names, cond: &Expr) -> VarSet {
    known(names, &mentions::bound_by_condition(cond))
}

fn known(names: &Names, idents: &[Ident]) -> VarSet {
    idents.iter().filter_map(|ident| names.get(&ident.to_string())).copied().collect()
}

/// Makes the op for one statement.
pub fn op(names: &Names, stmt: Stmt) -> Op {
    let all = of(names, &stmt);
    let mut op = Op {
        code: vec![],
        // A jump that brings a value binds its target's variable in a block of its own, and reads nothing.
        uses: all.reads,
        defs: VarSet::new(),
        declares: VarSet::new(),
        exits: all.exits,
        weight: all.weight,
    };
    match &stmt {
        Stmt::Local(local) => {
            op.declares = bound(names, &local.pat);
            op.uses = VarSet::new();
            if let Some(init) = &local.init {
                op.defs = op.declares.clone();
                op.uses = of(names, &init.expr).reads;
                op.uses.extend(init.diverge.iter().flat_map(|(_, diverge)| of(names, diverge).reads));
            }
        }
        Stmt::Expr(Expr::Assign(assign), _) => {
            if let Some(var) = variable(names, &assign.left) {
                op.uses = of(names, &assign.right).reads;
                op.defs.insert(var);
            }
        }
        _ => {}
    }
    op.code.push(stmt);
    op
}

/// The variable `expr` is, if it is nothing else.
pub fn variable(names: &Names, expr: &Expr) -> Option<VarId> {
    names.get(&mentions::name(bare(expr))?).copied()
}

struct Visitor<'a> {
    names: &'a Names,
    out: Effects,
}

impl Visitor<'_> {
    fn is_short(&self, iterated: &Expr) -> bool {
        self.names.trip_counts.short(iterated).is_some()
    }

    fn in_macro(&mut self, mac: &Macro) {
        map_tokens(&mut mac.clone(), &mut |tree, field| {
            match &tree {
                TokenTree::Ident(ident) if !field => self.read(&ident.to_string()),
                TokenTree::Literal(lit) if !field => {
                    format_strings::captures(lit).iter().for_each(|name| self.read(name))
                }
                _ => {}
            }
            tree
        });
    }

    fn read(&mut self, name: &str) {
        if let Some(var) = self.names.get(name) {
            self.out.mentions.insert(*var);
            self.out.reads.insert(*var);
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.out.opaque |= match expr {
            Expr::Call(call) => !is_instruction(&call.func),
            // An iteration over a few numbers is straight code too.
            Expr::MethodCall(e) => !self.is_short(&e.receiver),
            Expr::ForLoop(e) => !self.is_short(&e.expr),
            _ => false,
        };
        self.out.weight += match expr {
            Expr::Binary(e) if matches!(e.op, BinOp::Div(_) | BinOp::Rem(_)) => 4,
            Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_) | Expr::Assign(_) => 1,
            Expr::Index(_) => 2,
            Expr::MethodCall(_) => 6,
            Expr::Call(call) if !is_instruction(&call.func) => 20,
            Expr::Macro(mac) if goto_target(&mac.mac).is_none() => 5,
            _ => 0,
        };
        visit::visit_expr(self, expr);
    }

    fn visit_expr_for_loop(&mut self, e: &'ast syn::ExprForLoop) {
        let before = self.out.weight;
        visit::visit_expr_for_loop(self, e);
        let rounds = self.names.trip_counts.short(&e.expr).map_or(8, |rounds| rounds as u32);
        self.out.weight = before + (self.out.weight - before) * rounds;
    }

    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        if e.qself.is_none()
            && let Some(ident) = e.path.get_ident()
        {
            self.read(&ident.to_string());
        }
        visit::visit_expr_path(self, e);
    }

    fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
        self.out.mentions.extend(self.names.get(&p.ident.to_string()));
        visit::visit_pat_ident(self, p);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        match goto_target(mac) {
            Some(target) => self.out.exits.push(target),
            None => self.in_macro(mac),
        }
    }
}

/// Whether it is no call after all.
fn is_instruction(func: &Expr) -> bool {
    is_constructor(func) || matches!(func, Expr::Path(path) if is_assertion(path))
}

/// `Some(…)`, `Point(…)`: a path whose last segment is upper-case builds a value.
fn is_constructor(func: &Expr) -> bool {
    matches!(func, Expr::Path(p) if p.path.segments.last()
        .is_some_and(|s| s.ident.to_string().starts_with(|c: char| c.is_uppercase())))
}

/// Above this weight a block is worth a step of its own: three opaque calls.
pub const HEAVY: u32 = 60;
