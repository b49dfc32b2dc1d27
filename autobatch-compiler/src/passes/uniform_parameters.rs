//! Which parameters have the same value for every member.
//!
//! The roots are the entry function's shared parameters. A parameter is uniform with root `i` if every
//! call of its function in the program passes a variable that is uniform with root `i`, and nothing
//! writes it. Sparse conditional constant propagation in the small: start from "not seen yet", meet
//! over call sites, lower until nothing changes.
//!
//! Effect: a uniform variable needs no column, no lanes and no stack; the lane code reads the root. A
//! uniform that is also passed to a parameter which is not uniform is copied to a temporary first, so
//! that what is handed over at a call always has a column.
//!
//! Imprecision: a copy `let m = model;` is a local. Locals computed from uniform numbers need no column
//! either, see [`crate::passes::rematerialise`].

use crate::analysis::call_graph::{called, written_by_code};
use crate::ir::effects::{self, Names};
use crate::ir::flow::Flow;
use crate::ir::{BlockId, Class, Program, Role, Terminator, VarId, VarSet, Variable};

/// What is known of a parameter so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Uniformity {
    /// No call seen.
    Nothing,
    /// Equal to the entry's parameter at this position.
    Root(usize),
    /// Differs from member to member.
    Varies,
}

/// Runs the pass.
pub fn run(program: &mut Program) {
    let blocks: Vec<BlockId> = Flow::compute(program).blocks().collect();
    let known = solve(program, &blocks);
    for v in program.var_ids() {
        if let Uniformity::Root(root) = known[v.0] {
            program.variables[v.0].class = Class::Uniform(root);
        }
    }
    for b in blocks {
        copy_arguments(program, b);
    }
}

fn solve(program: &Program, blocks: &[BlockId]) -> Vec<Uniformity> {
    let mut written = VarSet::new();
    blocks.iter().for_each(|b| written.extend(written_by_code(program, *b)));
    let mut known = vec![Uniformity::Varies; program.variables.len()];
    for (f, function) in program.functions.iter().enumerate() {
        for (i, param) in function.params.iter().enumerate() {
            let var = program.var(*param);
            known[param.0] = match (f == program.entry.0, var.mutable || written.contains(param)) {
                (_, true) => Uniformity::Varies,
                (true, false) if var.shared => Uniformity::Root(i),
                (true, false) => Uniformity::Varies,
                (false, false) => Uniformity::Nothing,
            };
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for b in blocks {
            let Some((callee, args)) = called(program, *b) else { continue };
            for (param, arg) in program.func(callee).params.iter().zip(args) {
                let met = meet(known[param.0], known[arg.0]);
                changed |= met != known[param.0];
                known[param.0] = met;
            }
        }
    }
    known
}

fn meet(a: Uniformity, b: Uniformity) -> Uniformity {
    match (a, b) {
        (Uniformity::Nothing, other) | (other, Uniformity::Nothing) => other,
        (Uniformity::Root(i), Uniformity::Root(j)) if i == j => a,
        _ => Uniformity::Varies,
    }
}

/// Gives the uniform arguments of a call whose parameters are not uniform temporaries of their own.
fn copy_arguments(program: &mut Program, b: BlockId) {
    let Some((callee, args)) = called(program, b) else { return };
    let is_uniform = |v: VarId| program.var(v).is_uniform();
    let params = &program.func(callee).params;
    let copies: Vec<usize> =
        (0..args.len()).filter(|i| is_uniform(args[*i]) && !is_uniform(params[*i])).collect();
    for i in copies {
        let source = called(program, b).expect("still a call").1[i];
        let temp = copy(program, b, source);
        match &mut program.blocks[b.0].term {
            Terminator::Call(call) => call.args[i] = temp,
            Terminator::TailCall { args, .. } => args[i] = temp,
            _ => unreachable!("only calls have arguments"),
        }
    }
}

/// Appends `let temp = source;` to the block.
fn copy(program: &mut Program, b: BlockId, source: VarId) -> VarId {
    let Variable { ident: from, func, ty, .. } = program.var(source).clone();
    let name = format!("__uniform{}", program.variables.len());
    let ident = syn::Ident::new(&name, proc_macro2::Span::mixed_site());
    let temp = program.add_variable(func, ident.clone(), Role::Temp, false, ty, false);
    let names = Names::new(program, func, &[source, temp]);
    let op = effects::op(&names, syn::parse_quote!(let #ident = #from;));
    program.blocks[b.0].ops.push(op);
    temp
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{parse, var};

    #[test]
    fn follows_shared_parameters_through_calls() {
        let (mut program, _) = parse(
            "fn f(#[shared] model: i64, n: i64, #[shared] tol: i64) -> i64 {
                b0: { let half = tol / 2; call g(n, model) -> x, b1; }
                b1: { call f(model, x, half) -> result, exit; }
            }
            fn g(k: i64, m: i64) -> i64 {
                b0: { let k1 = k - 1; call g(k1, m) -> y, b1; }
                b1: { let result = y + m; jump exit; }
            }",
        );
        run(&mut program);
        let class = |name: &str| program.var(var(&program, name)).class;
        assert_eq!(class("model"), Class::Uniform(0));
        assert_eq!(class("m"), Class::Uniform(0));
        assert_eq!(class("tol"), Class::Temporary, "the recursive call passes another value");
        assert_eq!(class("k"), Class::Temporary);
        assert_eq!(class("n"), Class::Temporary);
    }

    #[test]
    fn writes_and_second_roots_end_it() {
        let (mut program, labels) = parse(
            "fn f(#[shared] a: i64, #[shared] b: i64, #[shared] mut c: i64) -> i64 {
                b0: { call g(a) -> x, b1; }
                b1: { call g(b) -> y, b2; }
                b2: { c += 1; let result = x + y + c; jump exit; }
            }
            fn g(m: i64) -> i64 { b0: { let result = m; jump exit; } }",
        );
        run(&mut program);
        let class = |name: &str| program.var(var(&program, name)).class;
        assert_eq!(class("a"), Class::Uniform(0));
        assert_eq!(class("c"), Class::Temporary);
        assert_eq!(class("m"), Class::Temporary);
        let (_, args) = called(&program, labels["b0"]).unwrap();
        assert_eq!(program.var(args[0]).role, Role::Temp, "a uniform is copied for a parameter that is not");
        assert_eq!(program.block(labels["b0"]).ops.len(), 1);
    }
}
