//! Functions whose loops are no vectors, as `program()` says, and the same written as it advises: the reason, times, and what the machine
//! code has.
//!
//! ```text
//! cargo run --release -p autobatch-bench --bin reasons                       # reasons and times
//! cargo rustc --release -p autobatch-bench --bin reasons -- --emit asm -C codegen-units=1
//! cargo run --release -p autobatch-bench --bin reasons -- target/release/deps/reasons-….s   # and the machine code
//! ```

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::hint::black_box;
use std::time::Instant;

use autobatch::program::Program;
use autobatch::{BatchError, Executor, Options, Outcome};

const MEMBERS: usize = 4000;
const ROUNDS: usize = 15;

/// Loops that are no vectors. All have the same parameters, and are written as one should not.
#[allow(unused_variables, clippy::needless_range_loop, clippy::useless_vec, clippy::while_let_on_iterator)]
mod written {
    use std::collections::HashMap;

    use autobatch::autobatch;

    #[autobatch]
    pub(crate) fn ln_1p(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let (mut x, mut sum) = (x, 0.0);
        while sum < y {
            x = x.ln_1p();
            sum += x + 0.5;
        }
        sum
    }

    #[autobatch]
    pub(crate) fn sin(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x.sin() + 1.0;
        }
        x
    }

    #[autobatch]
    pub(crate) fn exp(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = (-x).exp();
        }
        x
    }

    #[autobatch]
    pub(crate) fn hypot(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x.hypot(y) - y;
        }
        x
    }

    #[autobatch]
    pub(crate) fn atan2(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x.atan2(y) + 1.0;
        }
        x
    }

    #[autobatch]
    pub(crate) fn powf(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x.powf(0.7) + 0.1;
        }
        x
    }

    #[autobatch]
    pub(crate) fn i128(x: f64, y: f64, n: u32, k: u64) -> i64 {
        let mut k = i128::from(k);
        for i in 0..n {
            k = k * 3 + 1;
            if k > 100_000 {
                k -= 99_999;
            }
        }
        k as i64
    }

    #[autobatch]
    pub(crate) fn vec(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut v = vec![x; 16];
        for i in 0..16 {
            v[i] = v[i] * y + 1.0;
        }
        v[0] + v[15]
    }

    #[autobatch]
    pub(crate) fn closure(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let step = |x: f64| x * 0.5 + 1.0;
        let mut x = x;
        for i in 0..n {
            x = step(x);
        }
        x
    }

    #[autobatch]
    pub(crate) fn trait_method(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x.halved();
        }
        x
    }

    #[autobatch]
    pub(crate) fn dynamic(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let half: &dyn Halved = &3.0;
        let mut x = x;
        for i in 0..n {
            x = half.of(x);
        }
        x
    }

    #[autobatch]
    pub(crate) fn outer(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let mut count = 0;
        'outer: for i in 0..u64::from(n) {
            for j in 0..8 {
                if (k + i) >> j & 7 == 5 {
                    continue 'outer;
                }
            }
            count += 1;
        }
        count
    }

    #[autobatch]
    pub(crate) fn nest(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            let mut z = x + y;
            while z > 1.0 {
                z *= 0.5;
            }
            x = z;
        }
        x
    }

    #[autobatch]
    pub(crate) fn borrowed(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let mut left = 0..u64::from(n);
        let mut sum = k;
        while let Some(i) = left.next() {
            sum = sum * 3 + i;
        }
        sum
    }

    #[autobatch]
    pub(crate) fn push(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut list = Vec::new();
        let mut x = x;
        for i in 0..n {
            x = x * 0.5 + 1.0;
            list.push(x);
        }
        list.iter().sum()
    }

    #[autobatch]
    pub(crate) fn map(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let map: HashMap<u64, u64> = (0..8).map(|i| (i, i * i)).collect();
        let mut k = k;
        for i in 0..n {
            k = k * 3 + map.get(&(k % 8)).copied().unwrap_or(0);
            k &= 0xffff;
        }
        k
    }

    #[autobatch]
    pub(crate) fn text(x: f64, y: f64, n: u32, k: u64) -> usize {
        let mut text = String::new();
        let mut x = x;
        while x < y {
            x = x * 1.1 + 0.2;
            text.push('a');
        }
        text.len()
    }

    #[autobatch]
    pub(crate) fn checked(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let mut k = k;
        for i in 0..n {
            k = match k.checked_mul(3) {
                Some(k) => k & 0xffff,
                None => 0,
            };
        }
        k
    }

    trait Halved {
        fn halved(self) -> Self
        where
            Self: Sized;
        fn of(&self, x: f64) -> f64;
    }

    impl Halved for f64 {
        fn halved(self) -> f64 {
            self * 0.5 + 2.0
        }
        fn of(&self, x: f64) -> f64 {
            x / self + 1.0
        }
    }
}

/// The same, changed as `program()` says.
#[allow(unused_variables, clippy::needless_range_loop)]
mod changed {
    use autobatch::{autobatch, math};

    #[autobatch]
    pub(crate) fn ln_1p(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let (mut x, mut sum) = (x, 0.0);
        while sum < y {
            x = math::ln_1p(x);
            sum += x + 0.5;
        }
        sum
    }

    #[autobatch(vector_math)]
    pub(crate) fn sin(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x.sin() + 1.0;
        }
        x
    }

    #[autobatch(vector_math)]
    pub(crate) fn exp(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = (-x).exp();
        }
        x
    }

    #[autobatch]
    pub(crate) fn hypot(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = math::hypot(x, y) - y;
        }
        x
    }

    #[autobatch]
    pub(crate) fn atan2(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = math::atan2(x, y) + 1.0;
        }
        x
    }

    #[autobatch]
    pub(crate) fn powf(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = math::powf(x, 0.7) + 0.1;
        }
        x
    }

    #[autobatch]
    pub(crate) fn i128(x: f64, y: f64, n: u32, k: u64) -> i64 {
        let mut k = k as i64;
        for i in 0..n {
            k = k * 3 + 1;
            if k > 100_000 {
                k -= 99_999;
            }
        }
        k
    }

    #[autobatch]
    pub(crate) fn vec(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut v = [x; 16];
        for i in 0..16 {
            v[i] = v[i] * y + 1.0;
        }
        v[0] + v[15]
    }

    #[autobatch]
    pub(crate) fn closure(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = step(x);
        }
        x
    }

    #[autobatch]
    pub(crate) fn trait_method(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x * 0.5 + 2.0;
        }
        x
    }

    #[autobatch]
    pub(crate) fn dynamic(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            x = x / 3.0 + 1.0;
        }
        x
    }

    #[autobatch]
    pub(crate) fn outer(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let mut count = 0;
        for i in 0..u64::from(n) {
            let mut met = false;
            for j in 0..8 {
                met |= (k + i) >> j & 7 == 5;
            }
            if !met {
                count += 1;
            }
        }
        count
    }

    #[autobatch]
    pub(crate) fn nest(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let mut x = x;
        for i in 0..n {
            let mut z = x + y;
            for _ in 0..6 {
                if z > 1.0 {
                    z *= 0.5;
                }
            }
            x = z;
        }
        x
    }

    #[autobatch]
    pub(crate) fn borrowed(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let mut sum = k;
        for i in 0..u64::from(n) {
            sum = sum * 3 + i;
        }
        sum
    }

    #[autobatch]
    pub(crate) fn push(x: f64, y: f64, n: u32, k: u64) -> f64 {
        let (mut x, mut sum) = (x, -0.0);
        for i in 0..n {
            x = x * 0.5 + 1.0;
            sum += x;
        }
        sum
    }

    #[autobatch]
    pub(crate) fn map(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let mut k = k;
        for i in 0..n {
            let i = k & 7;
            k = k * 3 + i * i;
            k &= 0xffff;
        }
        k
    }

    #[autobatch]
    pub(crate) fn text(x: f64, y: f64, n: u32, k: u64) -> usize {
        let mut len = 0;
        let mut x = x;
        while x < y {
            x = x * 1.1 + 0.2;
            len += 1;
        }
        len
    }

    #[autobatch]
    pub(crate) fn checked(x: f64, y: f64, n: u32, k: u64) -> u64 {
        let mut k = k;
        for i in 0..n {
            k = if k <= u64::MAX / 3 { k.wrapping_mul(3) & 0xffff } else { 0 };
        }
        k
    }

    fn step(x: f64) -> f64 {
        x * 0.5 + 1.0
    }
}

type Batched<R> = fn(&[f64], &[f64], &[u32], &[u64], &Options) -> Result<Outcome<R>, BatchError>;

/// The inputs of the members: floats from 0.1 to 2 and from 3 to 24, whole numbers from 30 to 249 and from 1 to 1000.
struct Inputs {
    x: Vec<f64>,
    y: Vec<f64>,
    n: Vec<u32>,
    k: Vec<u64>,
}

impl Inputs {
    fn new() -> Inputs {
        let all = 0..MEMBERS as u64;
        Inputs {
            x: all.clone().map(|i| 0.1 + 1.9 * (i * 7919 % 4001) as f64 / 4001.0).collect(),
            y: all.clone().map(|i| 3.0 + (i * 104_729 % 22) as f64).collect(),
            n: all.clone().map(|i| 30 + (i * 31 % 220) as u32).collect(),
            k: all.map(|i| 1 + i * 7907 % 1000).collect(),
        }
    }
}

/// A function as written, or changed.
struct Form {
    program: &'static Program,
    /// Nanoseconds a member: the scalar function, and the batched one.
    times: [f64; 2],
}

fn best(mut run: impl FnMut()) -> f64 {
    let mut time = || {
        let clock = Instant::now();
        run();
        clock.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(|_| time()).fold(f64::INFINITY, f64::min) * 1e9 / MEMBERS as f64
}

impl Form {
    /// Compares the batched function with the scalar one, and measures both.
    fn of<R: Debug + Send>(
        inputs: &Inputs,
        program: &'static Program,
        scalar: fn(f64, f64, u32, u64) -> R,
        batched: Batched<R>,
        same_bits: bool,
    ) -> Result<Form, Box<dyn Error>> {
        let Inputs { x, y, n, k } = inputs;
        let options = Options::default().executor(Executor::Masked).threads(1);
        let each = || -> Vec<R> { (0..MEMBERS).map(|i| scalar(x[i], y[i], n[i], k[i])).collect() };
        let all = || -> Result<Vec<R>, Box<dyn Error>> { Ok(batched(x, y, n, k, &options)?.into_values()?) };
        // Two numbers are printed alike if they have the same bits.
        if same_bits && format!("{:?}", each()) != format!("{:?}", all()?) {
            return Err(format!("{} differs", program.name).into());
        }
        let times = [best(|| _ = black_box(each())), best(|| _ = black_box(all()))];
        Ok(Form { program, times })
    }

    /// What `program()` says of its loops.
    fn reason(&self) -> String {
        let reasons = self.program.loops.iter().filter_map(|one| one.obstacle.as_ref());
        reasons.map(|reason| format!("{}; {}", reason.why, reason.instead)).collect::<Vec<_>>().join("; ")
    }
}

/// Two functions of one name, and what in machine code shows that `program()` is right.
struct Pair {
    name: &'static str,
    what: &'static str,
    named: &'static str,
    written: Form,
    changed: Form,
}

macro_rules! pairs {
    ($inputs:ident, $($name:ident, $batched:ident, $with:ident, $named:literal: $what:literal,)*) => {
        [$(Pair {
            name: stringify!($name),
            what: $what,
            named: $named,
            written: Form::of(
                $inputs, written::$batched::program(), written::$name, |x, y, n, k, o| written::$with(x, y, n, k, o), true,
            )?,
            changed: Form::of(
                $inputs, changed::$batched::program(), changed::$name, |x, y, n, k, o| changed::$with(x, y, n, k, o),
                same_bits(stringify!($name)),
            )?,
        }),*]
    };
}

/// Whether the changed function computes the same in batches: not with the flag `vector_math`.
fn same_bits(name: &str) -> bool {
    !["sin", "exp"].contains(&name)
}

/// The functions with the vector code of a form for AVX2, if it has any, as their instructions: its frame's lane code may be one by itself.
fn vector_code<'a>(assembly: &'a str, module: &str, name: &str) -> Option<Vec<&'a str>> {
    let module = format!("{}{module}", module.len());
    let code = |symbol: &str| {
        let mut lines = assembly.lines();
        lines.find(|line| line.ends_with(':') && line.contains(&module) && line.contains(symbol))?;
        Some(lines.take_while(|line| !line.contains(".cfi_endproc")).map(str::trim).collect())
    };
    code(&format!("__{name}_batched_frame_{name}_avx2"))
        .or_else(|| code(&format!("__{name}_batched_vector_avx2")))
}

/// From a label to a jump back to it, without another such jump inside.
fn innermost<'a, 'b>(function: &'b [&'a str]) -> Vec<&'b [&'a str]> {
    let mut spans = Vec::new();
    for (end, line) in function.iter().enumerate() {
        let target = line.strip_prefix('j').and_then(|jump| jump.split_whitespace().nth(1));
        let Some(target) = target else { continue };
        let start = function[..end].iter().rposition(|line| line.strip_suffix(':') == Some(target));
        spans.extend(start.map(|start| (start, end)));
    }
    let is_inner = |&&(start, end): &&(usize, usize)| {
        !spans.iter().any(|&(s, e)| (s, e) != (start, end) && start <= s && e <= end)
    };
    spans.iter().filter(is_inner).map(|&(start, end)| &function[start..end]).collect()
}

/// The machine code in words: whether it has what `program()` names, and what its innermost loops compute on whole registers.
fn in_words(code: Option<Vec<&str>>, named: &str) -> String {
    const PACKED: [&str; 8] = ["vadd", "vsub", "vmul", "vdiv", "vround", "vpadd", "vpsub", "vpmul"];
    let Some(code) = code else { return "no vector code".to_owned() };
    let is_named =
        |line: &&&str| named.split_whitespace().any(|named| line.contains(named)) && !line.starts_with('.');
    let mut words: Vec<String> =
        code.iter().find(is_named).map(|line| format!("`{}`", line.replace('\t', " "))).into_iter().collect();
    let mut packed = BTreeSet::new();
    for body in innermost(&code).into_iter().filter(|body| !body.iter().any(|line| line.starts_with("call")))
    {
        for name in body.iter().filter_map(|line| line.split_whitespace().next()) {
            let is_packed = PACKED.iter().any(|start| name.starts_with(start))
                && !name.ends_with("sd")
                && !name.ends_with("ss");
            packed.extend(is_packed.then_some(name));
        }
    }
    if !packed.is_empty() {
        words.push(format!("packed {}", packed.into_iter().collect::<Vec<_>>().join(" ")));
    }
    words.join("; ")
}

fn main() -> Result<(), Box<dyn Error>> {
    if cfg!(debug_assertions) {
        return Err("without optimisation there is nothing to measure: add --release".into());
    }
    let assembly = std::env::args().nth(1).map(std::fs::read_to_string).transpose()?;
    let inputs = &Inputs::new();
    let pairs = pairs![inputs,
        ln_1p, ln_1p_batched, ln_1p_batched_with, "log1p": "`ln_1p` in a `while`",
        sin, sin_batched, sin_batched_with, "sin": "`sin` in a `for`",
        exp, exp_batched, exp_batched_with, "exp": "`exp`",
        hypot, hypot_batched, hypot_batched_with, "hypot": "`hypot`",
        atan2, atan2_batched, atan2_batched_with, "atan2": "`atan2`",
        powf, powf_batched, powf_batched_with, "pow": "`powf`",
        i128, i128_batched, i128_batched_with, "adcq mulxq": "`i128`",
        vec, vec_batched, vec_batched_with, "": "`vec![x; 16]`",
        closure, closure_batched, closure_batched_with, "": "a closure",
        trait_method, trait_method_batched, trait_method_batched_with, "": "a method of a trait",
        dynamic, dynamic_batched, dynamic_batched_with, "": "the same of a `dyn`",
        outer, outer_batched, outer_batched_with, "": "`continue 'outer`",
        nest, nest_batched, nest_batched_with, "": "`while` in a `for`",
        borrowed, borrowed_batched, borrowed_batched_with, "": "a borrowed iterator",
        push, push_batched, push_batched_with, "": "`list.push(y)`",
        map, map_batched, map_batched_with, "": "`map.get(&k)` of a `HashMap`",
        text, text_batched, text_batched_with, "": "`text.push('a')`",
        checked, checked_batched, checked_batched_with, "": "`checked_mul(3)`",
    ];
    println!("| a loop with | `program()` says | scalar | batched | changed, scalar | batched |");
    println!("|---|---|--:|--:|--:|--:|");
    for Pair { what, written, changed, .. } in &pairs {
        let times = [written.times, changed.times].concat();
        let times: Vec<String> = times.iter().map(|nanoseconds| format!("{nanoseconds:.0}")).collect();
        println!("| {what} | {} | {} |", written.reason(), times.join(" | "));
        if changed.program.loops.iter().any(|one| one.obstacle.is_some()) {
            println!("| changed | {} |", changed.reason());
        }
    }
    let Some(assembly) = assembly else { return Ok(()) };
    println!("\n| a loop with | as written | changed |\n|---|---|---|");
    for Pair { name, what, named, .. } in &pairs {
        let [written, changed] =
            ["written", "changed"].map(|module| in_words(vector_code(&assembly, module, name), named));
        println!("| {what} | {written} | {changed} |");
    }
    Ok(())
}
