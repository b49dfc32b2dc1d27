//! Test support: programs from a small textual form, so that the passes are tested without the front
//! end.
//!
//! ```text
//! fn f(#[shared] m: i64, mut n: i64) -> i64 {
//!     b0: { let t = n - 1; call f(m, t) -> x, b1; }
//!     b1: { if x > 9 { let result = 9; goto!(exit) } let result = x; jump exit; }
//! }
//! ```
//!
//! The first block is the entry; `exit` is the exit block and `result` the result. Statements are ops,
//! one each; a block ends in `jump L`, `branch (cond) L else M`, `switch (e) { pat => L, … }`,
//! `call f(a, b) -> dest, L` or `unreachable`.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::format_ident;
use syn::parse::{Parse, ParseStream, Result};
use syn::punctuated::Punctuated;
use syn::{Expr, FnArg, Ident, Pat, Stmt, Token, Type, braced, parenthesized};

use crate::diagnostics::sink::Diagnostics;
use crate::ir::effects::{self, Names};
use crate::ir::{
    Arm, BlockId, Call, CallId, FuncId, Function, GroupId, Program, Role, Terminator, VarId, VarSet, goto,
};
use crate::item::array_shapes::Shapes;
use crate::item::functions;
use crate::item::known_lists::Lists;
use crate::item::model;
use crate::lower::{LowerOptions, Lowered, lower};
use crate::passes::{self, Analyses, PassOptions};
use crate::resolve::float_structures::FloatStructures;
use crate::resolve::resolution::Resolution;
use crate::std_models::trip_count::TripCounts;
use crate::syntax::annotated::Input;
use crate::syntax::mentions;
use crate::syntax::walk::{self, At, AtMut, Code};

/// `if n <= 1 { 1 } else { let left = fib(n - 2); let right = fib(n - 1); left + right }`.
pub(crate) const FIB: &str = "fn fib(n: i64) -> i64 {
    b0: { branch (n <= 1) b1 else b2; }
    b1: { let result = 1; jump exit; }
    b2: { let t1 = n - 2; call fib(t1) -> left, b3; }
    b3: { let t2 = n - 1; call fib(t2) -> right, b4; }
    b4: { let result = left + right; jump exit; }
}";

/// Tail recursion with an accumulator.
pub(crate) const IOTA_SUM: &str = "fn iota_sum(n: i64, acc: i64) -> i64 {
    b0: { branch (n <= 0) b1 else b2; }
    b1: { let result = acc; jump exit; }
    b2: { let t1 = n - 1; let t2 = acc + n; call iota_sum(t1, t2) -> result, exit; }
}";

/// Mutual tail recursion.
pub(crate) const EVEN_ODD: &str = "
fn even(n: i64) -> bool {
    b0: { branch (n == 0) b1 else b2; }
    b1: { let result = true; jump exit; }
    b2: { let t = n - 1; call odd(t) -> result, exit; }
}
fn odd(m: i64) -> bool {
    c0: { branch (m == 0) c1 else c2; }
    c1: { let result = false; jump exit; }
    c2: { let u = m - 1; call even(u) -> result, exit; }
}";

/// Tail recursion with swapped parameters.
pub(crate) const GCD: &str = "fn gcd(a: i64, b: i64) -> i64 {
    b0: { branch (a == 0) b1 else b2; }
    b1: { let result = b; jump exit; }
    b2: { let t = b % a; call gcd(t, a) -> result, exit; }
}";

/// A loop around a double recursion with a heavy leaf.
pub(crate) const PEA_NUTS: &str = "fn nuts(n: i64) -> i64 {
    b0: { branch (n <= 0) leaf else many; }
    leaf: {
        let result = opaque(n) + opaque(n + 1) + opaque(n + 2) + opaque(n + 3);
        jump exit;
    }
    many: { let mut total = 0; let mut i = 0; jump head; }
    head: { branch (i < 2) one else last; }
    one: { let t1 = n - 1; call nuts(t1) -> left, two; }
    two: { let t2 = n - 1 - i; call nuts(t2) -> right, join; }
    join: { total = (total + 3 * left + right) % 1000003; i += 1; jump head; }
    last: { let result = total; jump exit; }
}";

/// Block ids by label; a label that an earlier function uses is prefixed: `g.b0`.
pub(crate) type Labels = BTreeMap<String, BlockId>;

/// Parses a program; the first function is the entry.
pub(crate) fn parse(source: &str) -> (Program, Labels) {
    let File(functions) = syn::parse_str(source).expect("well-formed test program");
    let ids: BTreeMap<String, FuncId> =
        functions.iter().enumerate().map(|(i, f)| (f.name.to_string(), FuncId(i))).collect();
    let mut program = Program::default();
    let mut labels = Labels::new();
    for function in functions {
        build(&mut program, &mut labels, &ids, function);
    }
    (program, labels)
}

/// The same, behind the passes.
pub(crate) fn analysed(source: &str) -> (Program, Labels, Analyses) {
    let (mut program, labels) = parse(source);
    let analyses = passes::run(&mut program, &PassOptions::default());
    (program, labels, analyses)
}

/// The functions of an item.
pub(crate) fn functions(item: TokenStream) -> Vec<model::Function> {
    let mut diag = Diagnostics::default();
    let input = Input::parse(item, &mut diag).expect("an item");
    let functions = functions::functions_of(&input, &mut diag);
    assert!(diag.is_empty());
    functions
}

/// The program of one of them.
pub(crate) fn lowered(functions: &[model::Function], entry: usize, fuse: bool) -> Lowered {
    let krate = syn::parse_quote!(::autobatch);
    let item = model::Item { functions: functions.to_vec(), ..model::Item::default() };
    let options = LowerOptions { krate, fuse, primitives: vec![], split_entry: false, vector_math: false };
    lower(&item, &Resolution::default(), entry, &options).0
}

/// The names of variables, sorted.
pub(crate) fn names(program: &Program, vars: &VarSet) -> Vec<String> {
    let mut names: Vec<String> = vars.iter().map(|v| program.name(*v)).collect();
    names.sort();
    names
}

/// The first variable of that name.
pub(crate) fn var(program: &Program, name: &str) -> VarId {
    program.var_ids().find(|v| program.var(*v).ident == name).expect("a variable of that name")
}

/// The names of all variables of a class, sorted.
pub(crate) fn classes(program: &Program, class: &str) -> Vec<String> {
    names(program, &program.var_ids().filter(|v| program.var(*v).class.name() == class).collect())
}

struct File(Vec<FnDef>);

struct FnDef {
    name: Ident,
    params: Vec<(Ident, bool, bool, Type)>,
    output: Type,
    blocks: Vec<(Ident, Vec<Stmt>, End)>,
}

enum End {
    Jump(Ident),
    Branch(Box<Expr>, Ident, Ident),
    Switch(Box<Expr>, Vec<(Pat, Option<Box<Expr>>, Ident)>),
    Call(Ident, Vec<Ident>, Ident, Ident),
    Unreachable,
}

impl Parse for File {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut functions = Vec::new();
        while !input.is_empty() {
            functions.push(input.parse()?);
        }
        Ok(File(functions))
    }
}

impl Parse for FnDef {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let params;
        parenthesized!(params in input);
        let params = Punctuated::<FnArg, Token![,]>::parse_terminated(&params)?;
        let params = params.into_iter().map(|arg| match arg {
            FnArg::Typed(arg) => match *arg.pat {
                Pat::Ident(p) => (p.ident, p.mutability.is_some(), !arg.attrs.is_empty(), *arg.ty),
                _ => panic!("parameters are plain"),
            },
            FnArg::Receiver(_) => panic!("no methods here"),
        });
        let params = params.collect();
        input.parse::<Token![->]>()?;
        let output = input.parse()?;
        let body;
        braced!(body in input);
        let mut blocks = Vec::new();
        while !body.is_empty() {
            let label = body.parse()?;
            body.parse::<Token![:]>()?;
            let inside;
            braced!(inside in body);
            let mut stmts = Vec::new();
            let end = loop {
                match end(&inside)? {
                    Some(end) => break end,
                    None => stmts.push(inside.parse()?),
                }
            };
            blocks.push((label, stmts, end));
        }
        Ok(FnDef { name, params, output, blocks })
    }
}

fn end(input: ParseStream<'_>) -> Result<Option<End>> {
    let ahead = input.fork();
    let Ok(keyword) = ahead.parse::<Ident>() else { return Ok(None) };
    let keyword = keyword.to_string();
    if !["jump", "unreachable", "branch", "switch", "call"].contains(&keyword.as_str()) {
        return Ok(None);
    }
    input.parse::<Ident>()?;
    let end = match keyword.as_str() {
        "jump" => End::Jump(input.parse()?),
        "unreachable" => End::Unreachable,
        "branch" => {
            let cond;
            parenthesized!(cond in input);
            let (cond, then) = (Box::new(cond.parse()?), input.parse()?);
            input.parse::<Token![else]>()?;
            End::Branch(cond, then, input.parse()?)
        }
        "switch" => {
            let (scrutinee, body);
            parenthesized!(scrutinee in input);
            braced!(body in input);
            let mut arms = Vec::new();
            while !body.is_empty() {
                let pat = Pat::parse_multi(&body)?;
                let guard = body.parse::<Option<Token![if]>>()?.map(|_| body.parse()).transpose()?;
                body.parse::<Token![=>]>()?;
                arms.push((pat, guard, body.parse()?));
                body.parse::<Option<Token![,]>>()?;
            }
            End::Switch(scrutinee.parse()?, arms)
        }
        _ => {
            let callee = input.parse()?;
            let args;
            parenthesized!(args in input);
            let args = Punctuated::<Ident, Token![,]>::parse_terminated(&args)?.into_iter().collect();
            input.parse::<Token![->]>()?;
            let dest = input.parse()?;
            input.parse::<Token![,]>()?;
            End::Call(callee, args, dest, input.parse()?)
        }
    };
    input.parse::<Option<Token![;]>>()?;
    Ok(Some(end))
}

/// Adds the bindings in code, with whether they may be assigned later.
fn add_bindings(code: &impl Code, all: &mut BTreeMap<String, bool>) {
    walk::each(code, |at| match at {
        At::Pat(Pat::Ident(p)) => *all.entry(p.ident.to_string()).or_default() |= p.mutability.is_some(),
        At::Local(local) if local.init.is_none() => {
            all.extend(mentions::names(&local.pat).iter().map(|name| (name.to_string(), true)))
        }
        _ => {}
    });
}

/// Turns `goto!(label)` into the marker.
fn mark(stmt: &mut Stmt, labels: &BTreeMap<String, BlockId>) {
    walk::map(stmt, |at| {
        if let AtMut::Macro(mac) = at
            && mac.path.is_ident("goto")
            && let Expr::Macro(marker) = goto(labels[&mac.tokens.to_string()])
        {
            *mac = marker.mac;
        }
    });
}

fn build(program: &mut Program, labels: &mut Labels, ids: &BTreeMap<String, FuncId>, def: FnDef) {
    let func = ids[&def.name.to_string()];
    let mut vars = Names::default();
    let mut variable = |name: &str, role: Role, mutable: bool, shared: bool, ty: Option<Type>| {
        let id = program.add_variable(func, format_ident!("{name}"), role, mutable, ty, shared);
        vars.insert(name.to_string(), id);
        id
    };
    let params = def.params.iter().enumerate();
    let params = params
        .map(|(i, (name, mutable, shared, ty))| {
            variable(&name.to_string(), Role::Param(i), *mutable, *shared, Some(ty.clone()))
        })
        .collect();
    let result = variable("result", Role::Result, false, false, Some(def.output.clone()));
    let mut bindings = BTreeMap::new();
    for (_, stmts, end) in &def.blocks {
        stmts.iter().for_each(|stmt| add_bindings(stmt, &mut bindings));
        match end {
            End::Branch(cond, ..) => add_bindings(cond, &mut bindings),
            End::Switch(_, arms) => arms.iter().for_each(|(pat, ..)| add_bindings(pat, &mut bindings)),
            End::Call(_, _, dest, _) => {
                bindings.entry(dest.to_string()).or_default();
            }
            _ => {}
        }
    }
    for (name, mutable) in bindings {
        if name != "result" && !def.params.iter().any(|p| p.0 == name) {
            variable(&name, Role::Local, mutable, false, None);
        }
    }

    let first = program.blocks.len();
    let mut own: BTreeMap<String, BlockId> =
        def.blocks.iter().enumerate().map(|(i, b)| (b.0.to_string(), BlockId(first + i))).collect();
    assert_eq!(own.len(), def.blocks.len(), "labels are unique");
    let exit = BlockId(first + def.blocks.len());
    own.insert("exit".into(), exit);
    for (label, id) in &own {
        let free = !labels.contains_key(label);
        labels.insert(if free { label.clone() } else { format!("{}.{label}", def.name) }, *id);
    }
    for (i, (_, stmts, end)) in def.blocks.into_iter().enumerate() {
        let ops = stmts.into_iter().map(|mut stmt| {
            mark(&mut stmt, &own);
            effects::op(&vars, stmt)
        });
        let ops = ops.collect();
        let term = terminator(program, &vars, &own, ids, end);
        let label = if i == 0 { "entry" } else { "block" };
        program.add_block(func, ops, term, Span::call_site(), label);
    }
    let exit = program.add_block(func, vec![], Terminator::Return, Span::call_site(), "exit");
    program.blocks[exit.0].arrives.insert(result);
    program.functions.push(Function {
        name: def.name,
        params,
        result,
        entry: BlockId(first),
        exit,
        group: GroupId(func.0),
        output: def.output,
        recursive: false,
        trip_counts: TripCounts::default(),
        arrays: Shapes::new(),
        lists: Lists::new(),
        float_structures: FloatStructures::new(),
    });
}

fn terminator(
    program: &mut Program,
    vars: &Names,
    own: &BTreeMap<String, BlockId>,
    ids: &BTreeMap<String, FuncId>,
    end: End,
) -> Terminator {
    let at = |label: &Ident| *own.get(&label.to_string()).unwrap_or_else(|| panic!("no block {label}"));
    match end {
        End::Jump(to) => Terminator::Jump(at(&to)),
        End::Unreachable => Terminator::Unreachable,
        End::Branch(cond, then, otherwise) => {
            let binds = effects::bound_by_condition(vars, &cond);
            let uses = &effects::of(vars, &cond).mentions - &binds;
            Terminator::Branch { cond, uses, binds, then: at(&then), otherwise: at(&otherwise) }
        }
        End::Switch(scrutinee, arms) => {
            let mut uses = effects::of(vars, &scrutinee).mentions;
            let arms = arms.into_iter().map(|(pat, guard, target)| {
                let binds = effects::bound(vars, &pat);
                if let Some(guard) = &guard {
                    uses.extend(&effects::of(vars, guard).mentions - &binds);
                }
                Arm { pat, guard, binds, target: at(&target) }
            });
            let arms = arms.collect();
            Terminator::Switch { scrutinee, uses, arms }
        }
        End::Call(callee, args, dest, cont) => {
            let id = CallId(program.calls);
            program.calls += 1;
            Terminator::Call(Call {
                tail: None,
                id,
                callee: ids[&callee.to_string()],
                args: args.iter().map(|arg| vars[&arg.to_string()]).collect(),
                dest: vars[&dest.to_string()],
                cont: at(&cont),
                pushes: vec![],
                updates: vec![],
                keeps: vec![],
                recursive: false,
                span: callee.span(),
            })
        }
    }
}
