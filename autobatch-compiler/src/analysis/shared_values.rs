//! Locals whose value is computed from what all members share, and so is the same for all.
//!
//! Only where that can't be told from keeping it: the expression is built from numbers by operators and
//! methods without effects, and it settles its own type, because literals alone (`let limit = 100;`) may
//! get theirs from code of another region.

use std::collections::BTreeMap;

use syn::{BinOp, Expr, Lit, Pat, Stmt, UnOp};

use crate::ir::effects::{self, Names, variable};
use crate::ir::{FuncId, Op, Program, Role, VarId};
use crate::std_models::number_methods::{Primitives, computes};
use crate::std_models::pure::{is_list, is_primitive};
use crate::syntax::mentions::{bare, is_truth};

/// The locals of `func` that can be computed from variables that are the same for every member, with
/// their definitions.
pub fn derived(program: &Program, func: FuncId, uniform: impl Fn(VarId) -> bool) -> BTreeMap<VarId, Op> {
    let names = effects::names(program, func);
    let mut definitions: BTreeMap<VarId, Vec<&Op>> = BTreeMap::new();
    for op in program.blocks_of(func).flat_map(|b| &b.ops) {
        op.declares.iter().for_each(|v| definitions.entry(*v).or_default().push(op));
    }
    let mut numbers = Numbers { program, names: &names, uniform: &uniform, derived: BTreeMap::new() };
    let mut found = BTreeMap::new();
    loop {
        let before = found.len();
        for (var, ops) in &definitions {
            let variable = program.var(*var);
            if let [op] = &ops[..]
                && !found.contains_key(var)
                && variable.role == Role::Local
                && !variable.mutable
                && let [Stmt::Local(local)] = &op.code[..]
                && let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
                && p.by_ref.is_none()
                && p.subpat.is_none()
                && let NumberKind::Typed(types) = numbers.kind(&init.expr)
            {
                found.insert(*var, (*op).clone());
                numbers.derived.insert(*var, types);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// What is known of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberKind {
    /// It may have effects, or differ between members.
    Unknown,
    /// A number whose type others decide.
    Literal,
    /// A number of its own type, which is one of these.
    Typed(Primitives),
}

/// Whether a method of such numbers only computes, and doing it again costs less than keeping the result.
fn is_cheap(method: &syn::Ident, of: Primitives) -> bool {
    let name = method.to_string();
    computes(method, of)
        && (["abs", "min", "max", "abs_diff", "mul_add"].contains(&name.as_str())
            || name.starts_with("wrapping_")
            || name.starts_with("saturating_"))
}

/// The kind of a value of a primitive type.
fn named(ty: &str) -> NumberKind {
    Primitives::of_name(ty).map_or(NumberKind::Unknown, NumberKind::Typed)
}

struct Numbers<'a, U> {
    program: &'a Program,
    names: &'a Names,
    uniform: U,
    derived: BTreeMap<VarId, Primitives>,
}

impl<U: Fn(VarId) -> bool> Numbers<'_, U> {
    fn kind(&self, expr: &Expr) -> NumberKind {
        match bare(expr) {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(n) if n.suffix().is_empty() => NumberKind::Literal,
                Lit::Float(n) if n.suffix().is_empty() => NumberKind::Literal,
                Lit::Int(n) => named(n.suffix()),
                Lit::Float(n) => named(n.suffix()),
                Lit::Bool(_) => named("bool"),
                Lit::Char(_) => named("char"),
                _ => NumberKind::Unknown,
            },
            Expr::Path(_) => match variable(self.names, expr) {
                Some(v) => match (self.derived.get(&v), self.program.var(v).ty.as_ref()) {
                    (Some(types), _) => NumberKind::Typed(*types),
                    (None, Some(ty)) if self.is_uniform(v, is_primitive) => {
                        Primitives::of_type(ty).map_or(NumberKind::Unknown, NumberKind::Typed)
                    }
                    _ => NumberKind::Unknown,
                },
                None => NumberKind::Unknown,
            },
            Expr::Unary(e) if !matches!(e.op, UnOp::Deref(_)) => self.kind(&e.expr),
            Expr::Cast(e) if self.kind(&e.expr) != NumberKind::Unknown => {
                Primitives::of_type(&e.ty).map_or(NumberKind::Unknown, NumberKind::Typed)
            }
            Expr::Binary(e) => match (&e.op, self.kind(&e.left), self.kind(&e.right)) {
                (_, NumberKind::Unknown, _) | (_, _, NumberKind::Unknown) => NumberKind::Unknown,
                (op, NumberKind::Typed(_), _) | (op, _, NumberKind::Typed(_)) if is_truth(op) => {
                    named("bool")
                }
                (BinOp::Shl(_) | BinOp::Shr(_), left, _) | (_, left @ NumberKind::Typed(_), _) => left,
                (_, _, right) => right,
            },
            Expr::MethodCall(e) if e.method == "len" && e.args.is_empty() => {
                match variable(self.names, &e.receiver) {
                    Some(v) if self.is_uniform(v, is_list) => named("usize"),
                    _ => NumberKind::Unknown,
                }
            }
            Expr::MethodCall(e) => match self.kind(&e.receiver) {
                NumberKind::Typed(of)
                    if is_cheap(&e.method, of)
                        && e.args.iter().all(|arg| self.kind(arg) != NumberKind::Unknown) =>
                {
                    let signed = e.method == "abs_diff" && !of.are_among(Primitives::UNSIGNED);
                    NumberKind::Typed(if signed { Primitives::UNSIGNED } else { of })
                }
                _ => NumberKind::Unknown,
            },
            _ => NumberKind::Unknown,
        }
    }

    fn is_uniform(&self, v: VarId, fits: fn(&syn::Type) -> bool) -> bool {
        (self.uniform)(v) && self.program.var(v).ty.as_ref().is_some_and(fits)
    }
}
