//! The static program: what the compiler made of a function. `f_batched::program()` returns it.
//!
//! ```
//! # use autobatch::autobatch;
//! use autobatch::program::Class;
//!
//! #[autobatch]
//! fn fib(n: u64) -> u64 {
//!     if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
//! }
//!
//! let program = fib_batched::program();
//! println!("{program}"); // the blocks, with the user's code
//! assert!(program.recursive && !program.whole_scalar);
//! assert_eq!(program.names_of(Class::Stacked), ["n"]); // live across the first call
//! assert_eq!(program.calls.len(), 2);
//! ```

use std::fmt;

use super::drawing;
use super::engine::Engine;

/// What the compiler made of a function: its functions, blocks, call sites, variables, and the places that run scalar code.
///
/// `f_batched::program()` returns it, for methods `f_batched_program()`; only the macro makes one. Numbers such as
/// [`Block::function`] are indices into the lists here. `Display` prints the blocks with the user's code, the storage class of every variable, the
/// notes, and the loops.
///
/// ```
/// # use autobatch::autobatch;
/// /// The largest part of the numbers' sum that is at most a limit.
/// #[autobatch]
/// fn part(numbers: &[f64], limit: f64) -> f64 {
///     let (mut sum, mut i) = (0.0, 0);
///     while i < numbers.len() && sum + numbers[i] <= limit {
///         sum += numbers[i];
///         i += 1;
///     }
///     sum
/// }
///
/// let program = part_batched::program();
/// assert!(program.notes.is_empty(), "all of it is batched");
/// assert!(program.blocks.iter().any(|block| block.label == "while"));
/// assert!(program.to_string().starts_with("fn part("));
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Program {
    /// The entry function's name.
    pub name: &'static str,
    /// The functions reachable from the entry by batched calls; the entry is the first.
    pub functions: &'static [Function],
    /// The blocks the executors run, in block order.
    pub blocks: &'static [Block],
    /// The batched call sites that are not tail calls.
    pub calls: &'static [Call],
    /// The sets of functions that tail-call each other. A function that does not is a set of its own.
    pub groups: &'static [Group],
    /// All variables.
    pub variables: &'static [Variable],
    /// Places that run the scalar code.
    pub notes: &'static [Note],
    /// Its loops, and how their rounds run.
    pub loops: &'static [Loop],
    /// The calls in its blocks, and how each is batched. Instructions, `sqrt` among them, and accesses to collections are not listed.
    pub call_sites: &'static [CallSite],
    /// Whether the whole function runs as scalar code for each member: on fibers, if it reaches primitives. [`Program::notes`] says why.
    pub whole_scalar: bool,
    /// Whether rustc is asked about types of its locals. If one of them may borrow from another, or does something when it is dropped,
    /// the whole function runs as scalar code, without a note: [`Report::executor`](crate::Report::executor) shows it.
    pub asks: bool,
    /// Whether its functions, or the attribute's `primitives(…)`, name a primitive: where members run as scalar code they may reach one.
    pub names_primitives: bool,
    /// The engines that it has code for. Vector code runs if all values are numbers, `bool`, `char`, or tuples, arrays and
    /// `Option`s of them; fibers, if a member reaches a primitive. [`Report::engine`](crate::Report::engine) says which one ran.
    pub engines: &'static [Engine],
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub entry_point: u32,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub root_group: u16,
    /// Whether any function can call itself.
    pub recursive: bool,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub word64: bool,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub strip: usize,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub text: &'static str,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub dot: &'static str,
}

/// A function of a [`Program`].
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Function {
    /// The user's name for it.
    pub name: &'static str,
    /// The tail-call group it belongs to, an index of [`Program::groups`].
    pub group: u16,
    /// Whether it can call itself, directly or through others.
    pub recursive: bool,
}

/// A block of a [`Program`]: a part of the control flow with one entry, which members that wait there run together.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Block {
    /// The function it belongs to, an index of [`Program::functions`].
    pub function: u16,
    /// What it is: `entry`, `while`, `after call`, …
    pub label: &'static str,
    /// Its first line in the source file.
    pub line: u32,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub successors: &'static [u32],
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub again: bool,
    /// Whether it is the call of a primitive, which all members that wait there make as one.
    pub primitive: bool,
    /// Whether to come here is a step: a call begins, or a turn of a loop.
    pub step: bool,
}

/// A batched call site of a [`Program`]; tail calls are jumps, and not among them.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Call {
    /// The calling function, an index of [`Program::functions`].
    pub function: u16,
    /// The called function, an index of [`Program::functions`].
    pub callee: u16,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub group: u16,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub entry: u32,
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub cont: u32,
    /// Its line in the source file.
    pub line: u32,
    /// Whether the callee can reach the caller again.
    pub recursive: bool,
}

/// Functions that tail-call each other share one frame and one result.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Group {
    /// Its functions, indices of [`Program::functions`].
    pub functions: &'static [u16],
    #[doc(hidden)]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub ret: u32,
}

/// A variable of a [`Program`].
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Variable {
    /// The function it belongs to, an index of [`Program::functions`].
    pub function: u16,
    /// The user's name for it; names of the compiler's own begin with two underscores.
    pub name: &'static str,
    /// Where it lives.
    pub class: Class,
}

/// Where a variable lives: its storage class (Radul et al. 2020, section 4).
///
/// A program without recursion needs no stack, so it has no variable that is [`Class::Stacked`].
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Inside one block only: a register of the machine.
    Temporary,
    /// Crosses blocks, but no call that may overwrite it: a column without a stack.
    Register,
    /// Live across a call whose callees may write it: a column, and a stack per member in the
    /// program-counter executor.
    Stacked,
    /// The same value for all members.
    Uniform,
    /// Never read.
    Null,
}

/// The classes that the text of a program shows, and why a variable has each.
const CLASSES: &[(Class, &str)] = &[
    (Class::Stacked, "stacked: live across a call that may overwrite it"),
    (Class::Register, "register: crosses blocks, but no call that may overwrite it"),
    (Class::Uniform, "uniform: the same for all members"),
    (Class::Temporary, "temporary: inside one block"),
    (Class::Null, "null: never read"),
];

/// A place that runs the scalar code for each member, and the reason. With `strict` it is a compile error.
///
/// ```
/// # use autobatch::autobatch;
/// #[autobatch]
/// fn depth(n: u32) -> u32 {
///     let next: Box<dyn Fn(u32) -> u32> = Box::new(|n| depth(n)); // a call in a closure that is stored
///     if n == 0 { 0 } else { 1 + next(n - 1) }
/// }
///
/// let program = depth_batched::program();
/// for note in program.notes {
///     println!("line {}: {}", note.line, note.why);
/// }
/// assert!(!program.notes.is_empty());
/// assert_eq!(depth_batched(&[2, 3]), [2, 3]);
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Note {
    /// Its line in the source file.
    pub line: u32,
    /// Why.
    pub why: &'static str,
    /// Whether the whole function runs as scalar code because of it, else this call only.
    pub whole: bool,
}

/// A loop of a [`Program`], as the compiler sees it. Loops inside one that runs lane by lane are not listed.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::program::Rounds;
///
/// #[autobatch]
/// fn checksum(seed: u32, text: &str, words: &[u32]) -> u32 {
///     let mut sum = seed;
///     for byte in text.bytes() {
///         sum = (sum ^ u32::from(byte)).wrapping_mul(16_777_619); // any iterator
///     }
///     for word in words {
///         sum = (sum ^ word).wrapping_mul(16_777_619); // all members look at the same
///     }
///     sum
/// }
///
/// let [text, words] = checksum_batched::program().loops else { panic!("two loops") };
/// assert_eq!((text.rounds, words.rounds), (Rounds::Blocks, Rounds::Interchanged));
/// let obstacle = text.obstacle.as_ref().expect("a reason");
/// println!("line {}: {}: {}", obstacle.line, obstacle.why, obstacle.instead);
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Loop {
    /// The function it belongs to, an index of [`Program::functions`].
    pub function: u16,
    /// Its line in the source file; of a helper's loop that of the attribute.
    pub line: u32,
    /// How its rounds run.
    pub rounds: Rounds,
    /// What stops it from being more than [`Rounds::LaneByLane`], or its code from being vectors.
    pub obstacle: Option<Obstacle>,
}

/// A call in the blocks of a [`Program`].
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::program::Batching;
///
/// #[autobatch]
/// fn bits(n: f64) -> f64 {
///     if n < 2.0 { n.log2() } else { bits(n / 2.0) + 1.0 }
/// }
///
/// let [log2, again] = bits_batched::program().call_sites else { panic!("two calls") };
/// assert_eq!((log2.callee, log2.batching), ("log2", Batching::Library));
/// assert_eq!((again.callee, again.batching), ("bits", Batching::Program));
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct CallSite {
    /// The calling function, an index of [`Program::functions`].
    pub function: u16,
    /// The name of the function that is called.
    pub callee: &'static str,
    /// Its line in the source file.
    pub line: u32,
    /// How the call is batched.
    pub batching: Batching,
}

/// How a call is batched.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
#[non_exhaustive]
pub enum Batching {
    /// The function is a part of the program: members that make the call run it together.
    Program,
    /// So it is, and nothing is left to do behind the call: it is a jump.
    Jump,
    /// A primitive: one call of its kernel for all members that are there.
    Kernel,
    /// The function's code is a part of the code around the call.
    Copied,
    /// An elementary function in place of std's, which is vector code: [`math`](crate::math).
    VectorMath,
    /// std's elementary function: a library call for one member after the other, which keeps the code around it from being vectors. (By its name:
    /// a method of the user's own may be called the same.)
    Library,
    /// As it is written, for one member after the other: on vectors where rustc inlines it and it only computes.
    Lanes,
}

impl fmt::Display for Batching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Batching::Program => "part of the program: members that call it run it together",
            Batching::Jump => "part of the program: a tail call, which is a jump",
            Batching::Kernel => "one call of its kernel for all members that are there",
            Batching::Copied => "copied into the code around it",
            Batching::VectorMath => "vector code of `autobatch::math`",
            Batching::Library => {
                "std's is a library call, lane by lane; `vector_math` makes vector code of it"
            }
            Batching::Lanes => "as written, for each lane; part of vectors if rustc inlines it",
        })
    }
}

/// How the rounds of a loop run.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Rounds {
    /// In blocks of their own, on vectors across the members that are still in the loop. Members that are through make room for others.
    Blocks,
    /// Once for all members of a strip, on vectors across them: all have the same rounds. This is so if the values are numbers.
    Interchanged,
    /// The same, as often as the member with the most rounds needs: those that are done wait.
    Predicated,
    /// A few rounds, which are part of the code around the loop.
    Unrolled,
    /// For one member after the other.
    LaneByLane,
}

/// What stops a loop from running on vectors.
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[derive(Debug)]
pub struct Obstacle {
    /// Its line in the source file.
    pub line: u32,
    /// What it is.
    pub why: &'static str,
    /// What to write in its place.
    pub instead: &'static str,
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match (self.rounds, &self.obstacle) {
            (Rounds::Blocks, None) => "in blocks, on vectors across the members that are in it",
            (Rounds::Interchanged, None) => "once for all members, on vectors across them",
            (Rounds::Predicated, None) => "as often as the longest member needs, on vectors across all",
            (Rounds::Unrolled, None) => "unrolled, as part of the code around it",
            (Rounds::Blocks, _) => "in blocks, which may be no vectors",
            (Rounds::Interchanged, _) => "once for all members, which may be no vectors",
            (Rounds::Predicated, _) => "as often as the longest member needs, which may be no vectors",
            (Rounds::Unrolled, _) => "unrolled, as part of the code around it, which may be no vectors",
            (Rounds::LaneByLane, _) => "lane by lane",
        };
        write!(f, "line {}: {how}", self.line)?;
        match &self.obstacle {
            Some(Obstacle { line, why, instead }) => write!(f, ": line {line}: {why}; {instead}"),
            None => Ok(()),
        }
    }
}

/// What becomes of a function: [`Program::kind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// It is cut into blocks, which members that wait there run together.
    Blocks,
    /// So it is if no local may borrow from another one, or does something when it is dropped: rustc is asked about their types. Else it is
    /// [`Kind::PerMember`].
    BlocksByTypes,
    /// Its scalar code runs for each member: on fibers, if it reaches primitives.
    PerMember,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Blocks => "block program",
            Kind::BlocksByTypes => {
                "block program, if no local borrows from another one or does something when it is dropped"
            }
            Kind::PerMember => "scalar code for each member",
        })
    }
}

impl Program {
    /// What becomes of the function.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::{Engine, program::Kind};
    ///
    /// #[autobatch]
    /// fn power(x: f64, n: u32) -> f64 {
    ///     if n == 0 { 1.0 } else { x * power(x, n - 1) }
    /// }
    ///
    /// let program = power_batched::program();
    /// assert_eq!(program.kind(), Kind::Blocks);
    /// assert!(program.engines.contains(&Engine::Wavefront));
    /// ```
    pub fn kind(&self) -> Kind {
        match (self.whole_scalar, self.asks) {
            (true, _) => Kind::PerMember,
            (false, true) => Kind::BlocksByTypes,
            (false, false) => Kind::Blocks,
        }
    }

    /// The number of program points: blocks, call sites, return points.
    pub(crate) fn points(&self) -> usize {
        self.blocks.len() + self.calls.len() + self.groups.len()
    }

    /// The first block that calls a primitive; all behind it do. The number of blocks if there is none.
    pub(crate) fn primitives(&self) -> u32 {
        self.blocks.iter().position(|block| block.primitive).unwrap_or(self.blocks.len()) as u32
    }

    /// Whether any block calls a primitive.
    pub(crate) fn has_primitives(&self) -> bool {
        (self.primitives() as usize) < self.blocks.len()
    }

    /// Whether it is but one block, which each member runs once and which shows no primitive: if it calls one, scalar code does.
    pub(crate) fn is_one_block(&self) -> bool {
        // The other points that it may go to are returns.
        let once = |block: &Block| !block.successors.contains(&0) && !block.again && !block.primitive;
        matches!(self.blocks, [block] if once(block)) && self.calls.is_empty()
    }

    /// The names of the user's variables of one storage class, in source order.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// use autobatch::program::Class;
    ///
    /// #[autobatch]
    /// fn power(x: f64, mut n: u32) -> f64 {
    ///     let mut product = 1.0;
    ///     while n > 0 {
    ///         product *= x;
    ///         n -= 1;
    ///     }
    ///     product
    /// }
    ///
    /// assert_eq!(power_batched::program().names_of(Class::Register), ["x", "n", "product"]);
    /// ```
    pub fn names_of(&self, class: Class) -> Vec<&'static str> {
        let own = |v: &&Variable| v.class == class && !v.name.starts_with("__");
        self.variables.iter().filter(own).map(|v| v.name).collect()
    }

    /// The control-flow graph as text for Graphviz: `dot -Tsvg`.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// #[autobatch]
    /// fn square(x: f64) -> f64 {
    ///     x * x
    /// }
    ///
    /// assert!(square_batched::program().to_dot().starts_with("digraph"));
    /// ```
    pub fn to_dot(&self) -> String {
        self.dot.to_owned()
    }

    /// The blocks with their code and the arrows between them as a picture, for a browser or a page: an SVG for light and dark.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// #[autobatch]
    /// fn square(x: f64) -> f64 {
    ///     x * x
    /// }
    ///
    /// let picture = square_batched::program().to_svg(); // `std::fs::write("square.svg", picture)`
    /// assert!(picture.starts_with("<svg"));
    /// ```
    pub fn to_svg(&self) -> String {
        drawing::svg(self.name, self.text, self.dot)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)?;
        let engine = |engine: &Engine| match engine {
            Engine::TaskBlocks | Engine::VectorFrames | Engine::Wavefront => {
                format!("{engine} (if its values are numbers)")
            }
            Engine::Fibers => format!("{engine} (if it reaches primitives)"),
            Engine::Machine | Engine::Scalar => engine.to_string(),
        };
        let engines: Vec<String> = self.engines.iter().map(engine).collect();
        writeln!(f, "kind: {}\nengines: {}", self.kind(), engines.join(", "))?;
        for (class, why) in CLASSES {
            if self.variables.iter().any(|variable| variable.class == *class) && !self.whole_scalar {
                writeln!(f, "{why}")?;
            }
        }
        for note in self.notes {
            let what = if note.whole { "the whole function runs" } else { "this call runs" };
            writeln!(f, "note: line {}: {what} the scalar code for each member: {}", note.line, note.why)?;
        }
        // A helper's loops stand in each copy of it.
        let mut loops: Vec<String> = Vec::new();
        for one in self.loops.iter().map(Loop::to_string) {
            if !loops.contains(&one) {
                writeln!(f, "loop: {one}")?;
                loops.push(one);
            }
        }
        self.write_calls(f)
    }
}

impl Program {
    /// A line for each function that is called, with the lines of its calls.
    fn write_calls(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut called: Vec<(&str, Batching, Vec<u32>)> = Vec::new();
        for site in self.call_sites {
            let at = called.iter().position(|(name, how, _)| (*name, *how) == (site.callee, site.batching));
            let at = at.unwrap_or_else(|| {
                called.push((site.callee, site.batching, Vec::new()));
                called.len() - 1
            });
            if !called[at].2.contains(&site.line) {
                called[at].2.push(site.line);
            }
        }
        for (callee, batching, mut lines) in called {
            lines.sort_unstable();
            let word = if lines.len() == 1 { "line" } else { "lines" };
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            writeln!(f, "call: {word} {}: {callee}: {batching}", lines.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Program {
    /// A program of nothing, for tests to fill in.
    pub(crate) const EMPTY: Program = Program {
        name: "",
        functions: &[],
        blocks: &[],
        calls: &[],
        groups: &[],
        variables: &[],
        notes: &[],
        loops: &[],
        call_sites: &[],
        whole_scalar: false,
        asks: false,
        names_primitives: false,
        engines: &[],
        entry_point: 0,
        root_group: 0,
        recursive: false,
        word64: false,
        strip: 8,
        text: "",
        dot: "",
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_ends_with_the_notes() {
        let program = Program {
            name: "f",
            variables: &[
                Variable { function: 0, name: "n", class: Class::Stacked },
                Variable { function: 0, name: "__r1", class: Class::Stacked },
                Variable { function: 0, name: "left", class: Class::Stacked },
                Variable { function: 0, name: "sum", class: Class::Register },
            ],
            notes: &[
                Note { line: 3, why: "a closure", whole: false },
                Note { line: 5, why: "a macro", whole: true },
            ],
            loops: &[
                Loop { function: 0, line: 7, rounds: Rounds::Blocks, obstacle: None },
                Loop {
                    function: 0,
                    line: 9,
                    rounds: Rounds::LaneByLane,
                    obstacle: Some(Obstacle { line: 10, why: "a pattern", instead: "name it" }),
                },
            ],
            call_sites: &[
                CallSite { function: 0, callee: "f", line: 8, batching: Batching::Program },
                CallSite { function: 0, callee: "exp", line: 6, batching: Batching::Library },
                CallSite { function: 0, callee: "f", line: 4, batching: Batching::Program },
            ],
            engines: &[Engine::TaskBlocks, Engine::Machine, Engine::Scalar],
            text: "program f\n",
            dot: "digraph f {}",
            ..Program::EMPTY
        };
        assert_eq!(
            program.to_string(),
            "program f\n\
             kind: block program\n\
             engines: task blocks (if its values are numbers), the machine, scalar code\n\
             stacked: live across a call that may overwrite it\n\
             register: crosses blocks, but no call that may overwrite it\n\
             note: line 3: this call runs the scalar code for each member: a closure\n\
             note: line 5: the whole function runs the scalar code for each member: a macro\n\
             loop: line 7: in blocks, on vectors across the members that are in it\n\
             loop: line 9: lane by lane: line 10: a pattern; name it\n\
             call: lines 4, 8: f: part of the program: members that call it run it together\n\
             call: line 6: exp: std's is a library call, lane by lane; `vector_math` makes vector code of it\n"
        );
        assert_eq!(program.names_of(Class::Stacked), ["n", "left"]);
        assert_eq!(program.to_dot(), "digraph f {}");
        assert_eq!(program.points(), 0);
    }
}
