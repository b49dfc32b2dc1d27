//! Executes an analysed program as the program-counter machine does (Radul et al. 2020, Algorithm 2):
//! per member one cell per variable, a stack per saved variable, a stack of return addresses.
//!
//! It is unforgiving: a region sees only what is live at its head, only what is live behind it is kept,
//! a call makes every cell that the callee may write unreadable until something restores it, and a
//! region may write only what the analyses say. So a mistake in any analysis shows as a failure, not
//! as a lucky value. It counts executions per block, which is what the schedules are about.

use std::collections::BTreeMap;

use crate::ir::interp::eval::{Env, Value};
use crate::ir::interp::{LIMIT, Next, Outcome};
use crate::ir::{BlockId, Call, Class, FuncId, Program, Role, VarId, VarSet};
use crate::passes::Analyses;

/// What a run of a batch did.
pub(crate) struct Run {
    pub(crate) results: Vec<Outcome>,
    /// Executions of each region with at least one member in it.
    pub(crate) executions: BTreeMap<BlockId, usize>,
    /// Pushes of variables, by member.
    pub(crate) pushes: usize,
    /// The most entries of any variable's stack.
    pub(crate) depth: usize,
}

/// Which members run together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Schedule {
    /// All members at the earliest block of the program order, whatever their depth.
    EarliestBlock,
    /// All members at the block where most wait.
    MostLanes,
    /// Algorithm 1: a call is run to its end before its caller goes on, earliest block inside.
    Masked,
}

struct Member {
    inputs: Vec<Value>,
    at: BlockId,
    cells: BTreeMap<VarId, Value>,
    stacks: BTreeMap<VarId, Vec<Value>>,
    returns: Vec<BlockId>,
    /// Call sites and how often each was run, outermost first: members with the same path are in the
    /// same activation of the masked executor.
    path: Vec<(BlockId, usize)>,
    outcome: Option<Outcome>,
}

struct Machine<'a> {
    program: &'a Program,
    analyses: &'a Analyses,
    pushes: usize,
    depth: usize,
    /// Numbers the executions of call sites for the masked schedule.
    ticks: usize,
}

/// Runs a batch.
pub(crate) fn run(program: &Program, analyses: &Analyses, batch: &[Vec<Value>], schedule: Schedule) -> Run {
    let mut machine = Machine { program, analyses, pushes: 0, depth: 0, ticks: 0 };
    let mut members: Vec<Member> = batch.iter().map(|args| machine.member(args)).collect();
    let mut executions = BTreeMap::new();
    let position: BTreeMap<BlockId, usize> = program.order.iter().enumerate().map(|(i, b)| (*b, i)).collect();
    for _ in 0..LIMIT {
        let running: Vec<usize> = (0..members.len()).filter(|i| members[*i].outcome.is_none()).collect();
        let waiting = |i: &usize| position[&members[*i].at];
        let deepest =
            running.iter().map(|i| members[*i].path.clone()).max_by_key(|path| (path.len(), path.clone()));
        let Some(deepest) = deepest else { break };
        let among: Vec<usize> = match schedule {
            Schedule::Masked => running.into_iter().filter(|i| members[*i].path == deepest).collect(),
            _ => running,
        };
        let next = match schedule {
            Schedule::MostLanes => {
                let count = |at: usize| among.iter().filter(|i| waiting(i) == at).count();
                (0..program.order.len())
                    .max_by_key(|at| (count(*at), usize::MAX - at))
                    .expect("a member waits")
            }
            _ => among.iter().map(waiting).min().expect("a member waits"),
        };
        let head = program.order[next];
        let active: Vec<usize> = among.into_iter().filter(|i| members[*i].at == head).collect();
        *executions.entry(head).or_default() += 1;
        machine.ticks += 1;
        for i in active {
            if let Err(message) = machine.step(&mut members[i]) {
                members[i].outcome = Some(Err(message));
            }
        }
    }
    let results = members.into_iter().map(|m| m.outcome.expect("the program ends")).collect();
    Run { results, executions, pushes: machine.pushes, depth: machine.depth }
}

impl Machine<'_> {
    fn member(&self, args: &[Value]) -> Member {
        let entry = self.program.func(self.program.entry);
        let columns = entry.params.iter().copied().zip(args.iter().cloned());
        Member {
            inputs: args.to_vec(),
            at: entry.entry,
            cells: columns.filter(|(v, _)| self.analyses.needs_column(*v)).collect(),
            stacks: BTreeMap::new(),
            returns: vec![],
            path: vec![],
            outcome: None,
        }
    }

    /// The variable whose cell holds `v`: the functions of a group share one result.
    fn home(&self, v: VarId) -> VarId {
        let var = self.program.var(v);
        let group = self.program.func(var.func).group;
        match var.role {
            Role::Result => self.program.functions.iter().find(|f| f.group == group).expect("its own").result,
            _ => v,
        }
    }

    fn load(&self, m: &Member, v: VarId) -> Value {
        if let Class::Uniform(root) = self.program.var(v).class {
            return m.inputs[root].clone();
        }
        assert!(self.analyses.needs_column(v), "`{}` has no column\n{}", self.program.name(v), self.program);
        let value = m.cells.get(&self.home(v));
        value.unwrap_or_else(|| panic!("`{}` was not kept\n{}", self.program.name(v), self.program)).clone()
    }

    fn store(&self, m: &mut Member, v: VarId, value: Value) {
        match self.program.var(v).class {
            Class::Uniform(root) => {
                assert_eq!(m.inputs[root], value, "`{}` is not uniform", self.program.name(v))
            }
            _ => {
                assert!(
                    self.analyses.needs_column(v),
                    "`{}` has no column\n{}",
                    self.program.name(v),
                    self.program
                );
                m.cells.insert(self.home(v), value);
            }
        }
    }

    /// Runs the region at which the member waits.
    fn step(&mut self, m: &mut Member) -> Result<(), String> {
        let (program, head) = (self.program, m.at);
        let func = program.block(head).func;
        let mut before = Env::new();
        for v in &self.analyses.liveness.live_in[head.0] {
            before.insert(self.program.name(*v), self.load(m, *v));
        }
        let mut env = before.clone();
        let mut at = head;
        loop {
            match crate::ir::interp::block(program.block(at), &mut env)? {
                Next::Goto(target)
                    if program.block(target).region == head && target != head && !program.is_exit(target) =>
                {
                    at = target;
                }
                Next::Goto(target) => {
                    self.keep(m, func, &before, &env, &self.analyses.liveness.live_in[target.0]);
                    if program.is_exit(target) {
                        self.return_(m, func);
                    } else {
                        assert!(program.is_head(target), "{head} leaves into the middle of a region");
                        m.at = target;
                    }
                    return Ok(());
                }
                Next::Call(call) => {
                    let live = &self.analyses.liveness.across(call) | &call.args.iter().copied().collect();
                    self.keep(m, func, &before, &env, &live);
                    self.call(m, at, call);
                    return Ok(());
                }
                Next::TailCall(callee, args) => {
                    let values = args.iter().map(|v| env[&self.program.name(*v)].clone()).collect();
                    self.enter(m, callee, values);
                    return Ok(());
                }
            }
        }
    }

    /// Writes what is live behind a region back to the cells.
    fn keep(&self, m: &mut Member, func: FuncId, before: &Env, env: &Env, live: &VarSet) {
        for v in live {
            let name = self.program.name(*v);
            let value = env.get(&name).unwrap_or_else(|| panic!("`{name}` is live but has no value"));
            if before.get(&name) != Some(value) {
                let known = self.analyses.may_write.of(func).contains(v);
                assert!(known, "`{name}` is written unexpectedly\n{}", self.program);
                self.store(m, *v, value.clone());
            }
        }
    }

    fn call(&mut self, m: &mut Member, site: BlockId, call: &Call) {
        for v in &call.pushes {
            let value = self.load(m, *v);
            let stack = m.stacks.entry(*v).or_default();
            stack.push(value);
            self.pushes += 1;
            self.depth = self.depth.max(stack.len());
        }
        for v in &call.updates {
            let value = self.load(m, *v);
            *m.stacks.get_mut(v).and_then(|stack| stack.last_mut()).expect("an entry to update") = value;
        }
        for v in &call.keeps {
            let value = self.load(m, *v);
            assert_eq!(
                m.stacks.get(v).and_then(|stack| stack.last()),
                Some(&value),
                "`{}` is kept",
                self.program.name(*v)
            );
        }
        let values = call.args.iter().map(|v| self.load(m, *v)).collect();
        m.returns.push(site);
        m.path.push((site, self.ticks));
        self.enter(m, call.callee, values);
    }

    /// Parameters into their cells; what the callee may write is unreadable from here on.
    fn enter(&self, m: &mut Member, callee: FuncId, values: Vec<Value>) {
        let function = self.program.func(callee);
        self.clobber(m, callee);
        for (param, value) in function.params.iter().zip(values) {
            self.store(m, *param, value);
        }
        m.at = function.entry;
    }

    fn clobber(&self, m: &mut Member, func: FuncId) {
        for v in self.analyses.may_write.of(func) {
            m.cells.remove(&self.home(*v));
        }
    }

    fn return_(&mut self, m: &mut Member, func: FuncId) {
        let result = self.load(m, self.program.func(func).result);
        let Some(site) = m.returns.pop() else {
            let left: Vec<_> = m.stacks.iter().filter(|(_, stack)| !stack.is_empty()).collect();
            assert!(left.is_empty(), "{left:?} are left on the stacks");
            m.outcome = Some(Ok(result));
            return;
        };
        m.path.pop();
        let call = self.program.block(site).term.call().expect("callers call");
        self.clobber(m, call.callee);
        self.store(m, call.dest, result);
        let cont = self.program.block(call.cont);
        for v in &cont.pops {
            let value = m.stacks.get_mut(v).and_then(Vec::pop).expect("an entry to pop");
            self.store(m, *v, value);
        }
        for v in &cont.reads {
            let value = m.stacks.get(v).and_then(|stack| stack.last()).expect("an entry to read").clone();
            self.store(m, *v, value);
        }
        if self.program.is_exit(call.cont) {
            self.return_(m, self.program.block(site).func);
        } else {
            m.at = call.cont;
        }
    }
}
