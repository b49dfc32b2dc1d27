//! Which kind of number an expression certainly is, as far as types and literals are written: for what `program()` says, never for what
//! is generated.

use std::collections::BTreeMap;

use syn::{BinOp, Expr, ExprLit, Lit, Pat, Type};

use crate::ir::{FuncId, Program};
use crate::std_models::pure::keeps_floats;
use crate::syntax::mentions::{bare, untyped};
use crate::syntax::walk::{self, At, Next};

/// A kind of number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    Float,
    /// An integer of up to 32 bits.
    Narrow,
    /// One of 64.
    Wide,
    /// One of 128.
    Huge,
}

/// The kinds of a function's variables.
pub(crate) struct NumberKinds {
    variables: BTreeMap<String, Number>,
}

impl NumberKinds {
    pub(crate) fn new(program: &Program, func: FuncId) -> NumberKinds {
        let written = program.vars_of(func).filter_map(|v| {
            let kind = program.var(v).ty.as_ref().and_then(of_type)?;
            Some((program.name(v), kind))
        });
        let mut kinds = NumberKinds { variables: written.collect() };
        for block in program.blocks_of(func) {
            for stmt in block.code() {
                walk::each(stmt, |at| {
                    if let At::Local(local) = at {
                        kinds.learn(local);
                    }
                    Next::On
                });
            }
        }
        kinds
    }

    /// Learns from `let x = 2.0 * y;`, and from the parts of tuples.
    fn learn(&mut self, local: &syn::Local) {
        let Some(init) = &local.init else { return };
        let pairs: Vec<(&Pat, &Expr)> = match (untyped(&local.pat), bare(&init.expr)) {
            (Pat::Tuple(p), Expr::Tuple(e)) => p.elems.iter().zip(&e.elems).collect(),
            (pat, value) => vec![(pat, value)],
        };
        for (pat, value) in pairs {
            if let (Pat::Ident(p), Some(kind)) = (pat, self.of(value)) {
                self.variables.entry(p.ident.to_string()).or_insert(kind);
            }
        }
    }

    pub(crate) fn of(&self, e: &Expr) -> Option<Number> {
        match bare(e) {
            Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) => Some(Number::Float),
            Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => of_name(int.suffix()),
            Expr::Path(p) => match p.path.get_ident() {
                Some(name) => self.variables.get(&name.to_string()).copied(),
                None => of_type_of(&p.path, &["MAX", "MIN"]),
            },
            // `u64::from(n)`
            Expr::Call(e) => match bare(&e.func) {
                Expr::Path(p) => of_type_of(&p.path, &["from"]),
                _ => None,
            },
            Expr::Unary(e) => self.of(&e.expr),
            Expr::Cast(e) => of_type(&e.ty),
            Expr::Binary(e) => match e.op {
                BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                    self.of(&e.left).or_else(|| self.of(&e.right))
                }
                BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) => {
                    self.of(&e.left).or_else(|| self.of(&e.right))
                }
                BinOp::Shl(_) | BinOp::Shr(_) => self.of(&e.left),
                _ => None,
            },
            Expr::MethodCall(e) => {
                let name = e.method.to_string();
                let keeps = keeps_floats(&e.method)
                    || ["wrapping_", "saturating_"].iter().any(|begin| name.starts_with(begin));
                keeps.then(|| self.of(&e.receiver).or_else(|| self.of(e.args.first()?))).flatten()
            }
            _ => None,
        }
    }
}

fn of_type(ty: &Type) -> Option<Number> {
    match ty {
        Type::Path(p) => of_name(&p.path.get_ident()?.to_string()),
        _ => None,
    }
}

/// The kind of `u64` in `u64::MAX`, if that is one of `items`.
fn of_type_of(path: &syn::Path, items: &[&str]) -> Option<Number> {
    let [ty, item] = [0, 1].map(|at| path.segments.get(at).map(|segment| segment.ident.to_string()));
    let is_one = path.segments.len() == 2 && items.contains(&item?.as_str());
    is_one.then(|| of_name(&ty?)).flatten()
}

fn of_name(name: &str) -> Option<Number> {
    match name {
        "f32" | "f64" => Some(Number::Float),
        "i8" | "u8" | "i16" | "u16" | "i32" | "u32" => Some(Number::Narrow),
        "i64" | "u64" | "isize" | "usize" => Some(Number::Wide),
        "i128" | "u128" => Some(Number::Huge),
        _ => None,
    }
}
