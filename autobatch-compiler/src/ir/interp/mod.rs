//! An interpreter of the intermediate representation: the oracle of the passes.
//!
//! [`run`] executes a program the plain way, every activation with variables of its own, and needs no
//! analysis results: running it before and after a pass gives the same result, or the pass is wrong.
//! [`machine::run`] executes an analysed program the way the executors do, with one cell per variable
//! and the stacks that the passes ask for, and fails where a needed value was not kept.

pub(crate) mod eval;
#[cfg(test)]
mod front_end;
pub(crate) mod machine;

pub(crate) use eval::Value;

use eval::{Env, Stop, bind, condition, expr, stmt};

use crate::ir::{Block, BlockId, Call, FuncId, Program, Terminator, VarId};

/// More blocks than any test runs.
const LIMIT: usize = 2_000_000;

/// The result, or the panic message.
pub(crate) type Outcome = Result<Value, String>;

/// What a block does at its end.
pub(crate) enum Next<'p> {
    Goto(BlockId),
    Call(&'p Call),
    TailCall(FuncId, &'p [VarId]),
}

/// Runs the program's entry function.
pub(crate) fn run(program: &Program, args: &[Value]) -> Outcome {
    let enter = |f: FuncId, args: Vec<Value>| -> (BlockId, Env) {
        let function = program.func(f);
        (function.entry, function.params.iter().map(|v| program.name(*v)).zip(args).collect())
    };
    // Callers wait with the block that made the call.
    let mut waiting: Vec<(BlockId, Env)> = Vec::new();
    let (mut at, mut env) = enter(program.entry, args.to_vec());
    for _ in 0..LIMIT {
        if program.is_exit(at) {
            let result = env[&program.name(program.func(program.block(at).func).result)].clone();
            let Some((caller, callers)) = waiting.pop() else { return Ok(result) };
            let call = program.block(caller).term.call().expect("callers call");
            env = callers;
            env.insert(program.name(call.dest), result);
            at = call.cont;
            continue;
        }
        let values =
            |env: &Env, args: &[VarId]| args.iter().map(|v| env[&program.name(*v)].clone()).collect();
        match block(program.block(at), &mut env)? {
            Next::Goto(target) => at = target,
            Next::Call(call) => {
                let (entry, inner) = enter(call.callee, values(&env, &call.args));
                waiting.push((at, std::mem::replace(&mut env, inner)));
                at = entry;
            }
            Next::TailCall(callee, args) => (at, env) = enter(callee, values(&env, args)),
        }
    }
    panic!("the program does not end");
}

/// Executes a block's ops and evaluates its way out.
pub(crate) fn block<'p>(block: &'p Block, env: &mut Env) -> Result<Next<'p>, String> {
    match leave(block, env) {
        Ok(next) => Ok(next),
        Err(Stop::Goto(target)) => Ok(Next::Goto(target)),
        Err(Stop::Panic(message)) => Err(message),
    }
}

fn leave<'p>(block: &'p Block, env: &mut Env) -> Result<Next<'p>, Stop> {
    for s in block.code() {
        stmt(env, s)?;
    }
    match &block.term {
        Terminator::Jump(target) => Ok(Next::Goto(*target)),
        Terminator::Branch { cond, then, otherwise, .. } => {
            let holds = condition(env, cond)?;
            Ok(Next::Goto(if holds { *then } else { *otherwise }))
        }
        Terminator::Switch { scrutinee, arms, .. } => {
            let value = expr(env, scrutinee)?;
            for arm in arms {
                if bind(env, &arm.pat, &value)
                    && arm.guard.as_ref().map_or(Ok(true), |g| condition(env, g))?
                {
                    return Ok(Next::Goto(arm.target));
                }
            }
            panic!("a match is exhaustive")
        }
        Terminator::Call(call) => Ok(Next::Call(call)),
        Terminator::TailCall { callee, args, .. } => Ok(Next::TailCall(*callee, args)),
        Terminator::Return | Terminator::Unreachable => panic!("control does not arrive here"),
    }
}
