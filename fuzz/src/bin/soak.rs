//! Random batches with random limits, cancellations and panics, for a number of minutes, under a memory limit.
//!
//! Each member ends with the scalar function's result or with a fault that its input or an option explains. Memory must not grow, values are
//! dropped once, and no batch may hang.

use std::alloc::System;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode, exit};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, fs, thread};

use autobatch::{
    BatchError, CancelToken, Executor, Fault, FaultKind, Isa, Options, Outcome, Schedule, autobatch,
};
use cap::Cap;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const USAGE: &str = "\
usage: soak [options]

  --minutes N   how long (default 10)
  --memory N    MiB of address space that it may have (default 4096)
  --seed N      the seed of the run; else a fresh one
  --workers N   batches at a time (default 2)
  --tell N      1: tell of each batch before it runs";

/// Counts what is allocated. The memory of the process also has what the allocator keeps for later, and its gaps.
#[global_allocator]
static ALLOCATED: Cap<System> = Cap::new(System, usize::MAX);

/// Inputs below are ordinary. These panic, recurse deeply, and never end.
const PANICS: u64 = 60;
const DEEP: u64 = 61;
const ENDLESS: u64 = 62;

/// How often one looks at the workers, and after how many looks at the same batch that hangs: two minutes, without the time for which the
/// whole process is stopped.
const LOOK: Duration = Duration::from_millis(200);
const HANGS: u32 = 600;

/// How many calls an input makes.
fn calls(n: u64) -> u64 {
    if n == DEEP { 20_000 } else { n }
}

/// A value that is counted, and dropped once.
type Token = Arc<u64>;

/// Vector frames; the machine if blocks are counted.
#[autobatch]
fn rounds(n: u64) -> u64 {
    let (mut left, mut sum) = (n, 1u64);
    while left > 0 {
        assert!(n != 60 || left != 7, "member with {n}");
        sum = sum.wrapping_mul(31).wrapping_add(left);
        left -= if n == 62 { 0 } else { 1 };
    }
    sum
}

/// Task blocks, gangs, wavefront.
#[autobatch]
fn pure_calls(n: u64, left: u64) -> u64 {
    assert!(n != 60 || left != 3, "member with {n}");
    if left == 0 {
        return n;
    }
    let next = if n == 62 { left } else { left - 1 };
    let one = pure_calls(n, next);
    let other = if left % 8 == 3 && n < 60 { pure_calls(n, left / 2) } else { left };
    one.wrapping_mul(3) ^ other
}

/// The machine, with a state.
#[autobatch]
fn calls_with_state(n: u64, left: u64, made: &mut u64) -> u64 {
    *made += 1;
    assert!(n != 60 || left != 3, "member with {n}");
    if left == 0 {
        return n;
    }
    let next = if n == 62 { left } else { left - 1 };
    calls_with_state(n, next, made).wrapping_mul(3) ^ left
}

/// The machine, with values that are dropped.
#[autobatch]
fn calls_with_tokens(n: u64, left: u64, given: Token) -> (u64, Token) {
    assert!(n != 60 || left != 3, "member with {n}");
    if left == 0 {
        return (n, given);
    }
    let own = Arc::clone(&given);
    let next = if n == 62 { left } else { left - 1 };
    let (below, back) = calls_with_tokens(n, next, given);
    (below.wrapping_mul(*own) ^ left, back)
}

#[autobatch::primitive(batched = halves)]
fn half(x: f64) -> f64 {
    x / 2.0
}

fn halves(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x / 2.0).collect()
}

/// Fibers.
#[autobatch]
fn on_fibers(n: u64, given: Token) -> (u64, Token) {
    let values = [n as f64, 1.0];
    let lent = values.iter();
    let (mut left, mut sum) = (n, 0.0);
    while left > 0 {
        assert!(n != 60 || left != 7, "member with {n}");
        sum = half(sum) + lent.clone().sum::<f64>();
        left -= if n == 62 { 0 } else { 1 };
    }
    (sum.to_bits(), given)
}

/// Scalar code for each member.
#[autobatch]
fn per_member(n: u64, left: u64) -> String {
    assert!(n != 60 || left != 3, "member with {n}");
    let text = left.to_string();
    let lent = text.chars();
    if left == 0 {
        return n.to_string();
    }
    let below = per_member(n, left - 1);
    format!("{}{}", below.len(), lent.count())
}

/// What a run may do to its members.
#[derive(Clone, Copy, Debug)]
struct Limits {
    steps: bool,
    deadline: bool,
    cancel: bool,
    depth: usize,
    memory: bool,
}

type Results<R> = Result<Vec<Result<R, Fault>>, BatchError>;

/// The results of ordinary inputs, and of the deep one, by the scalar function.
fn scalar_results<R>(f: &dyn Fn(u64) -> R) -> Vec<Option<R>> {
    (0..=DEEP).map(|n| catch_unwind(AssertUnwindSafe(|| f(n))).ok()).collect()
}

/// The results alone.
fn without_tokens(outcome: Outcome<(u64, Token)>) -> Vec<Result<u64, Fault>> {
    outcome.into_iter().map(|result| result.map(|(value, _)| value)).collect()
}

/// Whether an input or an option is a reason for a fault.
fn explains(kind: &Kind, limits: Limits, n: u64, fault: &Fault) -> bool {
    match fault.kind {
        FaultKind::Panic => n == PANICS && fault.message == "member with 60",
        FaultKind::StepsExceeded => limits.steps && kind.counts_steps,
        FaultKind::Cancelled => limits.cancel,
        FaultKind::DeadlineExceeded => limits.deadline,
        FaultKind::DepthExceeded => kind.recursive && (n == ENDLESS || calls(n) + 2 > limits.depth as u64),
        FaultKind::MemoryExceeded => kind.recursive && (n > PANICS || limits.memory),
        _ => false,
    }
}

/// What has happened so far.
#[derive(Default)]
struct Tally {
    batches: u64,
    members: u64,
    faults: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
    longest: (Duration, String),
}

/// One kind of program.
struct Kind {
    name: &'static str,
    recursive: bool,
    /// Whether members can be ended in the middle.
    ends: bool,
    counts_steps: bool,
}

struct Soak {
    rng: Xoshiro256PlusPlus,
    tally: Arc<Mutex<Tally>>,
    tells: bool,
    /// What runs, and since when.
    now: Arc<Mutex<Option<(String, Instant)>>>,
}

impl Soak {
    fn below(&mut self, end: u64) -> u64 {
        self.rng.random_range(0..end)
    }

    fn maybe<T>(&mut self, one_in: u64, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(one_in) == 0).then(|| make(self))
    }

    fn options(&mut self, executor: Executor) -> (Options, Limits, Option<(CancelToken, Duration)>) {
        let mut options = Options::default().executor(executor).quiet(true);
        options = options.threads(1 + self.below(3) as usize);
        if self.below(2) == 0 {
            options = options.schedule(Schedule::EarliestBlock);
        }
        if let Some(lanes) = self.maybe(3, |it| 1 + it.below(300) as usize) {
            options = options.lanes(lanes);
        }
        options = match self.below(5) {
            0 => options.isa(Isa::Baseline),
            1 => options.isa(Isa::Avx2),
            _ => options,
        };
        options = options.report(self.below(4) == 0).count_blocks(self.below(6) == 0);
        let depth = self.maybe(3, |it| 10 + it.below(10_000) as usize);
        let memory = self.maybe(4, |it| (1 + it.below(64) as usize) << 20);
        let steps = self.maybe(4, |it| 10 + it.below(50_000));
        let deadline = self.maybe(4, |it| Duration::from_micros(it.below(40_000)));
        let cancel = self.maybe(4, |it| Duration::from_micros(it.below(40_000)));
        // So that deep members take neither seconds nor all memory.
        options = options.max_depth(depth.unwrap_or(100_000));
        if let Some(bytes) = memory {
            options = options.max_memory(bytes);
        }
        if let Some(steps) = steps {
            options = options.max_steps(steps);
        }
        if let Some(deadline) = deadline {
            options = options.deadline(deadline);
        }
        let cancel = cancel.map(|after| (CancelToken::new(), after));
        if let Some((token, _)) = &cancel {
            options = options.cancel(token);
        }
        let limits = Limits {
            steps: steps.is_some(),
            deadline: deadline.is_some(),
            cancel: cancel.is_some(),
            depth: depth.unwrap_or(100_000),
            memory: memory.is_some(),
        };
        (options, limits, cancel)
    }

    /// Runs a batch and checks each member.
    fn batch<R: PartialEq + Debug>(
        &mut self,
        kind: &Kind,
        wanted: &[Option<R>],
        run: impl FnOnce(&[u64], &Options) -> Results<R>,
    ) {
        let executors = [Executor::Auto, Executor::Masked, Executor::ProgramCounter, Executor::Scalar];
        let executor = executors[self.below(4) as usize];
        let (options, limits, cancel) = self.options(executor);
        let may_end = limits.cancel || limits.deadline || limits.steps && kind.counts_steps;
        let endless = kind.ends && executor != Executor::Scalar && may_end;
        let members = match self.below(8) {
            0 => self.below(20_000),
            1 => self.below(10),
            _ => self.below(600),
        };
        let (few, many) = (self.below(3) == 0, self.below(40));
        let n: Vec<u64> = (0..members)
            .map(|_| match self.below(if few { 200 } else { 20 + 40 * many }) {
                0 => PANICS,
                1 if kind.recursive && few => DEEP,
                2 if endless && few => ENDLESS,
                _ => self.below(PANICS),
            })
            .collect();
        let what = format!("{}: {members} members, {options:?}", kind.name);
        *self.now.lock().unwrap() = Some((what.clone(), Instant::now()));
        if self.tells {
            eprintln!("{what}");
        }
        let begin = Instant::now();
        let canceller = cancel.map(|(token, after)| {
            thread::spawn(move || {
                thread::sleep(after);
                token.cancel();
            })
        });
        let results = run(&n, &options);
        *self.now.lock().unwrap() = None;
        let took = begin.elapsed();
        if let Some(canceller) = canceller {
            canceller.join().expect("it sleeps");
        }
        let mut tally = self.tally.lock().unwrap();
        tally.batches += 1;
        tally.members += members;
        if took > tally.longest.0 {
            tally.longest = (took, what.clone());
        }
        let results = match results {
            Ok(results) => results,
            Err(error) => {
                let explained = match error {
                    BatchError::Memory { .. } => true,
                    BatchError::Limit { .. } => {
                        limits.steps && (executor == Executor::Scalar || !kind.counts_steps)
                    }
                    _ => false,
                };
                assert!(explained, "{what}: {error}");
                let name = format!("{error:?}").split(' ').next().unwrap_or_default().to_owned();
                *tally.errors.entry(name).or_default() += 1;
                return;
            }
        };
        assert_eq!(results.len(), n.len(), "{what}");
        for (n, result) in n.iter().zip(results) {
            match result {
                Ok(value) => {
                    let wanted = wanted.get(*n as usize).and_then(Option::as_ref);
                    assert_eq!(Some(&value), wanted, "{what}: member with {n}");
                }
                Err(fault) => {
                    assert!(explains(kind, limits, *n, &fault), "{what}: member with {n}: {fault}");
                    *tally.faults.entry(format!("{:?}", fault.kind)).or_default() += 1;
                }
            }
        }
    }

    /// Batches of all programs.
    fn run(&mut self, until: Instant) {
        let finite = |n: u64| if n == ENDLESS { 1 } else { calls(n) };
        let lefts = |n: &[u64]| n.iter().map(|n| finite(*n)).collect::<Vec<_>>();
        let token = Token::new(3);
        let of_rounds = scalar_results(&rounds);
        let of_calls = scalar_results(&|n| pure_calls(n, calls(n)));
        let of_states = scalar_results(&|n| calls_with_state(n, calls(n), &mut 0));
        let of_tokens = scalar_results(&|n| calls_with_tokens(n, calls(n), Arc::clone(&token)).0);
        let of_fibers = scalar_results(&|n| on_fibers(n, Arc::clone(&token)).0);
        let of_text = scalar_results(&|n| per_member(n, calls(n)));
        assert_eq!(Arc::strong_count(&token), 1);
        let kind = |name, recursive, ends, counts_steps| Kind { name, recursive, ends, counts_steps };
        while Instant::now() < until {
            match self.below(6) {
                0 => {
                    let kind = kind("rounds", false, true, true);
                    self.batch(&kind, &of_rounds, |n, options| {
                        Ok(rounds_batched_with(n, options)?.into_results())
                    });
                }
                1 => {
                    let kind = kind("pure calls", true, true, true);
                    self.batch(&kind, &of_calls, |n, options| {
                        Ok(pure_calls_batched_with(n, lefts(n), options)?.into_results())
                    });
                }
                2 => {
                    let kind = kind("calls with a state", true, true, true);
                    self.batch(&kind, &of_states, |n, options| {
                        let mut made = vec![0; n.len()];
                        let outcome = calls_with_state_batched_with(n, lefts(n), &mut made, options)?;
                        for (member, _) in outcome.iter().enumerate().filter(|(_, result)| result.is_ok()) {
                            assert_eq!(made[member], calls(n[member]) + 1, "each call once");
                        }
                        Ok(outcome.into_results())
                    });
                }
                3 => {
                    let kind = kind("calls with tokens", true, true, true);
                    self.batch(&kind, &of_tokens, |n, options| {
                        let given: Vec<_> = n.iter().map(|_| Arc::clone(&token)).collect();
                        let outcome = calls_with_tokens_batched_with(n, lefts(n), given, options)?;
                        Ok(without_tokens(outcome))
                    });
                }
                4 => {
                    let kind = kind("on fibers", false, true, true);
                    self.batch(&kind, &of_fibers, |n, options| {
                        let given: Vec<_> = n.iter().map(|_| Arc::clone(&token)).collect();
                        Ok(without_tokens(on_fibers_batched_with(n, given, options)?))
                    });
                }
                _ => {
                    let kind = kind("per member", true, false, false);
                    self.batch(&kind, &of_text, |n, options| {
                        Ok(per_member_batched_with(n, lefts(n), options)?.into_results())
                    });
                }
            }
            assert_eq!(Arc::strong_count(&token), 1, "values are dropped once");
        }
    }
}

/// The memory of this process that is in use, in MiB.
fn in_use() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

struct Arguments {
    minutes: u64,
    memory: u64,
    seed: u64,
    workers: u64,
    tell: u64,
}

fn arguments() -> Result<Arguments, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let mut parsed = Arguments { minutes: 10, memory: 4096, seed: now, workers: 2, tell: 0 };
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().and_then(|value| value.parse().ok());
        let number = value.ok_or(format!("{arg} needs a number"));
        match arg.as_str() {
            "--minutes" => parsed.minutes = number?,
            "--memory" => parsed.memory = number?,
            "--seed" => parsed.seed = number?,
            "--workers" => parsed.workers = number?,
            "--tell" => parsed.tell = number?,
            _ => return Err(format!("unknown argument {arg}")),
        }
    }
    Ok(parsed)
}

/// Set in the process that has the memory limit.
const LIMITED: &str = "AUTOBATCH_SOAK";

fn main() -> ExitCode {
    let args = match arguments() {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if env::var_os(LIMITED).is_none() {
        // The shell limits itself and becomes this program again.
        let command = format!("ulimit -v {}; exec \"$0\" \"$@\"", args.memory * 1024);
        let program = env::current_exe().expect("it has a path");
        let seed = ["--seed".to_owned(), args.seed.to_string()];
        let mut child = Command::new("sh");
        child.arg("-c").arg(command).arg(program).args(env::args().skip(1)).args(seed).env(LIMITED, "1");
        // The allocator reserves address space for each thread.
        child.env("MALLOC_ARENA_MAX", "2");
        return match child.status() {
            Ok(status) if status.success() => ExitCode::SUCCESS,
            Ok(status) => {
                eprintln!("{status}");
                ExitCode::FAILURE
            }
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(2)
            }
        };
    }
    soak(&args)
}

/// Runs workers, and watches them.
fn soak(args: &Arguments) -> ExitCode {
    println!("seed {}, {} MiB", args.seed, args.memory);
    let begin = Instant::now();
    let until = begin + Duration::from_secs(60 * args.minutes);
    let tally = Arc::new(Mutex::new(Tally::default()));
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // The scalar functions' own panics are asked for.
        if !info.to_string().contains("member with 60") {
            usual(info);
        }
    }));
    let mut workers = Vec::new();
    for worker in 0..args.workers {
        let now = Arc::new(Mutex::new(None));
        let rng = Xoshiro256PlusPlus::seed_from_u64(args.seed.wrapping_add(worker));
        let (tally, tells) = (Arc::clone(&tally), args.tell > 0);
        let mut soak = Soak { rng, tally, tells, now: Arc::clone(&now) };
        // The scalar functions recurse deeply.
        let thread = thread::Builder::new().stack_size(256 << 20);
        let thread = thread.spawn(move || soak.run(until)).expect("there is memory for a thread");
        workers.push((thread, now));
    }
    // The least in each quarter of the time is what stays between batches.
    let (mut stays, mut allocated, mut largest, mut told) = ([u64::MAX; 4], [usize::MAX; 4], 0, begin);
    let mut looks = vec![(None, 0); workers.len()];
    while workers.iter().any(|(worker, _)| !worker.is_finished()) {
        thread::sleep(LOOK);
        if workers.iter().any(|(worker, _)| worker.is_finished()) && Instant::now() < until {
            eprintln!("a worker has failed");
            exit(1);
        }
        for ((_, now), (last, looks)) in workers.iter().zip(&mut looks) {
            if let Some((what, since)) = &*now.lock().expect("nobody panics with it") {
                *looks = if last.replace(*since) == Some(*since) { *looks + 1 } else { 0 };
                if *looks > HANGS {
                    eprintln!("hangs: {what}");
                    exit(3);
                }
            }
        }
        let (memory, quarter) = (in_use(), begin.elapsed().as_secs() * 4 / (60 * args.minutes).max(1));
        largest = memory.max(largest);
        let quarter = (quarter as usize).min(3);
        stays[quarter] = memory.min(stays[quarter]);
        allocated[quarter] = (ALLOCATED.allocated() >> 10).min(allocated[quarter]);
        if told.elapsed() > Duration::from_secs(60) {
            told = Instant::now();
            report(&tally, begin, largest);
        }
    }
    let failed = workers.into_iter().map(|(worker, _)| worker.join()).any(|done| done.is_err());
    report(&tally, begin, largest);
    if let Ok(tally) = tally.lock() {
        println!("the longest: {}", tally.longest.1);
    }
    println!("MiB that stay, in each quarter: {stays:?}; KiB of them allocated: {allocated:?}");
    let grown = allocated[3] > allocated[1] + allocated[1] / 8 + 256 || stays[3] > 2 * stays[1] + 64;
    if grown {
        eprintln!("memory has grown");
    }
    if failed || grown { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn report(tally: &Mutex<Tally>, begin: Instant, largest: u64) {
    let Ok(tally) = tally.lock() else { return };
    println!(
        "{:>5.0} s: {} batches, {} members, faults {:?}, errors {:?}; longest {:.2} s; {} MiB, at most {largest}",
        begin.elapsed().as_secs_f64(),
        tally.batches,
        tally.members,
        tally.faults,
        tally.errors,
        tally.longest.0.as_secs_f64(),
        in_use(),
    );
}
