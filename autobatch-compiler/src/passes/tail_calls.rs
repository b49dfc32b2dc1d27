//! Turns calls whose result is the caller's result into tail calls, mutual ones too.
//!
//! A call qualifies if it gives its result to the function's result variable, nothing runs after it,
//! and both functions have the same return type by name, so that one variable can hold the result of
//! either. Functions connected by tail calls form a group (union-find): their activations replace each
//! other, and they share the result variable and the return point at run time.
//!
//! Effect: neither a return address nor a variable is saved, so a loop written as recursion runs in
//! constant depth. TensorFlow Probability does this for self calls only and still saves variables on
//! mutual ones.
//!
//! Imprecision: return types that differ only in spelling (`Self` and its name) are not the same. A
//! local with a destructor is dropped before the callee runs, as `become` would do it.

use crate::ir::flow::{Flow, forwarded};
use crate::ir::{GroupId, Program, Terminator};
use crate::syntax::mentions::text;

/// Runs the pass.
pub fn run(program: &mut Program) {
    let flow = Flow::compute(program);
    let outputs: Vec<String> = program.functions.iter().map(|f| text(&f.output)).collect();
    let mut group: Vec<usize> = (0..program.functions.len()).collect();
    for b in flow.blocks() {
        let block = program.block(b);
        let caller = program.func(block.func);
        if let Terminator::Call(call) = &block.term
            && call.dest == caller.result
            && forwarded(program, call.cont) == caller.exit
            && outputs[call.callee.0] == outputs[block.func.0]
        {
            let (one, other) = (find(&group, block.func.0), find(&group, call.callee.0));
            group[one.max(other)] = one.min(other);
            let (callee, args, span) = (call.callee, call.args.clone(), call.span);
            program.blocks[b.0].term = Terminator::TailCall { callee, args, span };
        }
    }
    for f in 0..group.len() {
        program.functions[f].group = GroupId(find(&group, f));
    }
}

fn find(group: &[usize], mut f: usize) -> usize {
    while group[f] != f {
        f = group[f];
    }
    f
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::FuncId;
    use crate::ir::testing::{EVEN_ODD, FIB, IOTA_SUM, parse};

    fn tail_calls(source: &str) -> (Program, usize) {
        let (mut program, _) = parse(source);
        run(&mut program);
        let count = program.blocks.iter().filter(|b| matches!(b.term, Terminator::TailCall { .. })).count();
        (program, count)
    }

    #[test]
    fn self_and_mutual_tail_calls() {
        let (program, count) = tail_calls(IOTA_SUM);
        assert_eq!((count, program.func(FuncId(0)).group), (1, GroupId(0)));
        let (program, count) = tail_calls(EVEN_ODD);
        assert_eq!(count, 2);
        assert_eq!(program.func(FuncId(0)).group, program.func(FuncId(1)).group);
    }

    #[test]
    fn other_calls_stay() {
        assert_eq!(tail_calls(FIB).1, 0);
        let other_type = "
            fn f(n: i64) -> i64 { b0: { call g(n) -> result, exit; } }
            fn g(n: i64) -> u64 { b0: { let result = n; jump exit; } }";
        let (program, count) = tail_calls(other_type);
        assert_eq!(count, 0);
        assert_ne!(program.func(FuncId(0)).group, program.func(FuncId(1)).group);
    }

    #[test]
    fn jumps_in_between_do_not_matter() {
        let source = "fn f(n: i64) -> i64 {
            b0: { branch (n > 0) b1 else b2; }
            b1: { call f(n) -> result, b3; }
            b2: { let result = 0; jump b3; }
            b3: { jump exit; }
        }";
        assert_eq!(tail_calls(source).1, 1);
    }
}
