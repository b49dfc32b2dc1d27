//! Evaluates a small subset of Rust: integers, booleans, tuples, options, ranges; `let`, assignment, arithmetic,
//! comparison, `if`, `match`, `for` over ranges, blocks, jump markers. Calls to unknown functions mix
//! their arguments into a number, so that code the passes take for opaque has a definite value.

use std::collections::BTreeMap;

use syn::{BinOp, Block, Expr, Lit, Pat, Stmt, UnOp};

use crate::ir::{BlockId, goto_target};
use crate::syntax::mentions::{bare, is_compound};

/// A value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Value {
    Int(i64),
    Bool(bool),
    Tuple(Vec<Value>),
    Option(Option<Box<Value>>),
}

/// Variables by name; after resolution a name is a variable.
pub(crate) type Env = BTreeMap<String, Value>;

/// Why evaluation did not end normally.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stop {
    /// A jump marker.
    Goto(BlockId),
    /// The program panics, as the scalar function would.
    Panic(String),
}

type Eval<T> = Result<T, Stop>;

fn panic_with<T>(message: &str) -> Eval<T> {
    Err(Stop::Panic(message.into()))
}

/// Executes one statement.
pub(crate) fn stmt(env: &mut Env, stmt: &Stmt) -> Eval<Value> {
    match stmt {
        Stmt::Local(local) => {
            let Some(init) = &local.init else { return Ok(unit()) };
            let value = expr(env, &init.expr)?;
            if !bind(env, &local.pat, &value) {
                let (_, diverge) = init.diverge.as_ref().expect("an irrefutable pattern");
                expr(env, diverge)?;
            }
            Ok(unit())
        }
        Stmt::Expr(e, semi) => {
            let value = expr(env, e)?;
            Ok(if semi.is_some() { unit() } else { value })
        }
        Stmt::Macro(m) => macro_(env, &m.mac),
        Stmt::Item(_) => Ok(unit()),
    }
}

/// Evaluates an expression.
pub(crate) fn expr(env: &mut Env, e: &Expr) -> Eval<Value> {
    let e = bare(e);
    match e {
        Expr::Lit(e) => Ok(literal(&e.lit)),
        Expr::Cast(e) => match expr(env, &e.expr)? {
            Value::Bool(b) => Ok(Value::Int(b.into())),
            other => Ok(other),
        },
        Expr::Path(_) if path(e) == "None" => Ok(Value::Option(None)),
        Expr::Path(_) => {
            let name = path(e);
            Ok(env
                .get(&name)
                .unwrap_or_else(|| panic!("`{name}` is read but has no value in {env:?}"))
                .clone())
        }
        Expr::Tuple(e) => Ok(Value::Tuple(e.elems.iter().map(|e| expr(env, e)).collect::<Eval<_>>()?)),
        Expr::Field(e) => match (expr(env, &e.base)?, &e.member) {
            (Value::Tuple(elems), syn::Member::Unnamed(index)) => Ok(elems[index.index as usize].clone()),
            (other, _) => panic!("no fields in {other:?}"),
        },
        Expr::Unary(e) => match (expr(env, &e.expr)?, &e.op) {
            (Value::Bool(b), UnOp::Not(_)) => Ok(Value::Bool(!b)),
            (Value::Int(i), UnOp::Neg(_)) => {
                i.checked_neg().map_or(panic_with("overflow"), |i| Ok(Value::Int(i)))
            }
            (other, op) => panic!("{op:?} of {other:?}"),
        },
        Expr::Binary(e) => binary(env, e),
        Expr::Assign(e) => {
            let value = expr(env, &e.right)?;
            env.insert(path(&e.left), value);
            Ok(unit())
        }
        Expr::Block(e) => block(env, &e.block),
        Expr::If(e) => {
            if condition(env, &e.cond)? {
                block(env, &e.then_branch)
            } else {
                e.else_branch.as_ref().map_or(Ok(unit()), |(_, e)| expr(env, e))
            }
        }
        Expr::Match(e) => {
            let value = expr(env, &e.expr)?;
            for arm in &e.arms {
                let (pat, guard) = match &arm.pat {
                    Pat::Guard(p) => (&*p.pat, Some(&*p.guard)),
                    other => (other, None),
                };
                if bind(env, pat, &value) && guard.map_or(Ok(true), |g| condition(env, g))? {
                    return expr(env, &arm.body);
                }
            }
            panic!("a match is exhaustive")
        }
        Expr::ForLoop(e) => {
            let Value::Tuple(ends) = expr(env, &e.expr)? else { panic!("only ranges") };
            for i in int(&ends[0])..int(&ends[1]) {
                bind(env, &e.pat, &Value::Int(i));
                block(env, &e.body)?;
            }
            Ok(unit())
        }
        // A range is the pair of its ends, also as an iterator.
        Expr::Range(e) => {
            let start = int(&expr(env, e.start.as_ref().expect("a start"))?);
            let end = int(&expr(env, e.end.as_ref().expect("an end"))?);
            let end = end + i64::from(matches!(e.limits, syn::RangeLimits::Closed(_)));
            Ok(Value::Tuple(vec![Value::Int(start), Value::Int(end)]))
        }
        Expr::Call(e) if path(&e.func) == "into_iter" => expr(env, &e.args[0]),
        Expr::Call(e) if path(&e.func) == "Some" => Ok(Value::Option(Some(Box::new(expr(env, &e.args[0])?)))),
        Expr::Call(e) if path(&e.func) == "next" => {
            let Expr::Reference(iter) = &e.args[0] else { panic!("an iterator is borrowed") };
            let Value::Tuple(ends) = expr(env, &iter.expr)? else { panic!("only ranges") };
            let (next, end) = (int(&ends[0]), ends[1].clone());
            let more = next < int(&end);
            env.insert(path(&iter.expr), Value::Tuple(vec![Value::Int(next + i64::from(more)), end]));
            Ok(Value::Option(more.then(|| Box::new(Value::Int(next)))))
        }
        Expr::Call(e) if path(&e.func).starts_with("count_") => counter(env, e),
        Expr::Call(e) => {
            // Any fixed function will do; it depends on the name and every argument.
            let mut hash = path(&e.func).bytes().fold(7, |h: i64, b| (h * 31 + i64::from(b)) % 1_000_003);
            for arg in &e.args {
                hash = (hash * 131 + fold(&expr(env, arg)?)).rem_euclid(1_000_003);
            }
            Ok(Value::Int(hash))
        }
        Expr::Macro(e) => macro_(env, &e.mac),
        other => panic!("not in the interpreter's subset: {}", crate::ir::display::source(other)),
    }
}

/// The runtime's counters of `for` loops.
fn counter(env: &mut Env, e: &syn::ExprCall) -> Eval<Value> {
    let names: Vec<String> = (e.args.iter())
        .map(|arg| match arg {
            Expr::Reference(place) => path(&place.expr),
            other => panic!("counters are borrowed, not {}", crate::ir::display::source(other)),
        })
        .collect();
    let values: Vec<Value> = names.iter().map(|name| env[name].clone()).collect();
    match path(&e.func).as_str() {
        "count_more" => Ok(Value::Bool(int(&values[0]) < int(&values[1]))),
        "count_any" => Ok(Value::Bool(int(&values[0]) <= int(&values[1]))),
        "count_is" => Ok(values[0].clone()),
        "count_up" => {
            env.insert(names[0].clone(), Value::Int(int(&values[0]) + 1));
            Ok(values[0].clone())
        }
        "count_down" => {
            let last = Value::Int(int(&values[0]) - 1);
            env.insert(names[0].clone(), last.clone());
            Ok(last)
        }
        way => {
            let more = int(&values[0]) < int(&values[1]);
            let (moves, step) = if way == "count_up_to" { (0, 1) } else { (1, -1) };
            env.insert(names[moves].clone(), Value::Int(int(&values[moves]) + step * i64::from(more)));
            env.insert(names[2].clone(), Value::Bool(more));
            Ok(values[moves].clone())
        }
    }
}

/// Evaluates a condition, `let` chains included.
pub(crate) fn condition(env: &mut Env, e: &Expr) -> Eval<bool> {
    match e {
        Expr::Let(e) => {
            let value = expr(env, &e.expr)?;
            Ok(bind(env, &e.pat, &value))
        }
        Expr::Binary(b) if matches!(b.op, BinOp::And(_)) => {
            Ok(condition(env, &b.left)? && condition(env, &b.right)?)
        }
        other => Ok(expr(env, other)? == Value::Bool(true)),
    }
}

/// Matches a value, binding names; whether it fits.
pub(crate) fn bind(env: &mut Env, pat: &Pat, value: &Value) -> bool {
    match (pat, value) {
        (Pat::Wild(_), _) => true,
        (Pat::Ident(p), Value::Option(value)) if p.ident == "None" => value.is_none(),
        (Pat::Ident(p), _) => {
            env.insert(p.ident.to_string(), value.clone());
            p.subpat.as_ref().is_none_or(|(_, sub)| bind(env, sub, value))
        }
        (Pat::Type(p), _) => bind(env, &p.pat, value),
        (Pat::Paren(p), _) => bind(env, &p.pat, value),
        (Pat::Or(p), _) => p.cases.iter().any(|case| bind(env, case, value)),
        (Pat::TupleStruct(p), Value::Option(Some(inner)))
            if p.path.segments.last().is_some_and(|s| s.ident == "Some") =>
        {
            bind(env, &p.elems[0], inner)
        }
        (Pat::TupleStruct(_), Value::Option(None)) => false,
        (Pat::Lit(p), _) => literal(&p.lit) == *value,
        (Pat::Tuple(p), Value::Tuple(elems)) => p.elems.iter().zip(elems).all(|(p, v)| bind(env, p, v)),
        (other, _) => panic!("not in the interpreter's subset: {}", crate::ir::display::source(other)),
    }
}

pub(crate) fn block(env: &mut Env, b: &Block) -> Eval<Value> {
    let mut value = unit();
    for s in &b.stmts {
        value = stmt(env, s)?;
    }
    Ok(value)
}

fn macro_(env: &mut Env, mac: &syn::Macro) -> Eval<Value> {
    match goto_target(mac) {
        Some(target) => Err(Stop::Goto(target)),
        None if mac.path.is_ident("panic") => panic_with(&mac.tokens.to_string()),
        None => panic!("not in the interpreter's subset: {} in {env:?}", crate::ir::display::source(mac)),
    }
}

fn binary(env: &mut Env, e: &syn::ExprBinary) -> Eval<Value> {
    use BinOp::{And, Or};
    let left = expr(env, &e.left)?;
    match (&e.op, &left) {
        (And(_), Value::Bool(false)) | (Or(_), Value::Bool(true)) => return Ok(left),
        (And(_) | Or(_), _) => return expr(env, &e.right),
        _ => {}
    }
    let right = expr(env, &e.right)?;
    let comparison = match e.op {
        BinOp::Eq(_) => Some(left == right),
        BinOp::Ne(_) => Some(left != right),
        BinOp::Lt(_) => Some(left < right),
        BinOp::Le(_) => Some(left <= right),
        BinOp::Gt(_) => Some(left > right),
        BinOp::Ge(_) => Some(left >= right),
        _ => None,
    };
    if let Some(comparison) = comparison {
        return Ok(Value::Bool(comparison));
    }
    let (a, b) = (int(&left), int(&right));
    let value = match e.op {
        BinOp::Add(_) | BinOp::AddAssign(_) => a.checked_add(b),
        BinOp::Sub(_) | BinOp::SubAssign(_) => a.checked_sub(b),
        BinOp::Mul(_) | BinOp::MulAssign(_) => a.checked_mul(b),
        BinOp::Div(_) | BinOp::DivAssign(_) => a.checked_div(b),
        BinOp::Rem(_) | BinOp::RemAssign(_) => a.checked_rem(b),
        ref other => panic!("not in the interpreter's subset: {other:?}"),
    };
    let Some(value) = value else { return panic_with("arithmetic") };
    if is_compound(&e.op) {
        env.insert(path(&e.left), Value::Int(value));
        return Ok(unit());
    }
    Ok(Value::Int(value))
}

fn path(e: &Expr) -> String {
    match bare(e) {
        Expr::Path(p) => p.path.segments.last().expect("a path has segments").ident.to_string(),
        other => panic!("not a variable: {}", crate::ir::display::source(other)),
    }
}

pub(crate) fn literal(lit: &Lit) -> Value {
    match lit {
        Lit::Int(i) => Value::Int(i.base10_parse().expect("a small literal")),
        Lit::Bool(b) => Value::Bool(b.value),
        other => panic!("not in the interpreter's subset: {}", crate::ir::display::source(other)),
    }
}

fn unit() -> Value {
    Value::Tuple(vec![])
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(i) => *i,
        other => panic!("{other:?} is no integer"),
    }
}

fn fold(value: &Value) -> i64 {
    match value {
        Value::Int(i) => i.rem_euclid(1_000_003),
        Value::Bool(b) => i64::from(*b),
        Value::Option(value) => value.as_ref().map_or(5, |value| fold(value) + 1),
        Value::Tuple(elems) => elems.iter().fold(3, |h, e| (h * 37 + fold(e)).rem_euclid(1_000_003)),
    }
}
