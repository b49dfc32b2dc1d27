//! The types of generated programs.

use std::fmt::Write;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the type of its name")]
pub enum Ty {
    Unit,
    Bool,
    I32,
    I64,
    U32,
    U64,
    Usize,
    F32,
    F64,
    Tuple(Vec<Ty>),
    Array(Box<Ty>, usize),
    /// The struct with this index among the program's.
    Struct(usize),
    /// The enum with this index.
    Enum(usize),
    Option(Box<Ty>),
    /// A `Result` whose error is a `u32`.
    Result(Box<Ty>),
    /// `[T]`, behind a reference.
    Slice(Box<Ty>),
    /// `&T`.
    Ref(Box<Ty>),
    Vec(Box<Ty>),
    String,
    Box(Box<Ty>),
    /// The program's type that holds itself.
    Tree,
    /// The program's type that owns a list, is counted, and makes others of its kind.
    State,
    /// `[State]`, behind a reference.
    States,
    /// A local closure that captures nothing, from the first to the second.
    Closure(Box<Ty>, Box<Ty>),
}

/// The integer types.
pub const INTS: [Ty; 5] = [Ty::I32, Ty::I64, Ty::U32, Ty::U64, Ty::Usize];
/// The floating-point types.
pub const FLOATS: [Ty; 2] = [Ty::F32, Ty::F64];

impl Ty {
    /// Whether it is an integer.
    pub fn is_int(&self) -> bool {
        INTS.contains(self)
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(&self) -> bool {
        matches!(self, Ty::I32 | Ty::I64)
    }

    /// Whether it is a floating-point number.
    pub fn is_float(&self) -> bool {
        FLOATS.contains(self)
    }

    /// Whether values are moved and have to be dropped.
    pub fn is_owned(&self) -> bool {
        matches!(self, Ty::Vec(_) | Ty::String | Ty::Box(_) | Ty::State)
    }

    /// What a slice is of.
    pub fn element(&self) -> Option<&Ty> {
        match self {
            Ty::Slice(of) => Some(of),
            Ty::States => Some(&Ty::State),
            _ => None,
        }
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        self.is_int() || self.is_float()
    }
}

/// A struct: names and types of its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// Its fields; `f0`, `f1`, …
    pub fields: Vec<Ty>,
}

/// An enum: a variant is a unit, a tuple, or a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// The data of each variant, and whether its fields have names.
    pub variants: Vec<(Vec<Ty>, bool)>,
}

/// The types that a program defines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defs {
    /// `S0`, `S1`, …
    pub structs: Vec<Struct>,
    /// `E0`, `E1`, …
    pub enums: Vec<Enum>,
    /// `Tree`, which holds itself: the data of its leaves, and that of all else.
    pub tree: Option<[Ty; 2]>,
    /// `State`, which owns a list.
    pub state: Option<State>,
    /// Values that write down when they are dropped: whether the program defines them, or takes the harness's.
    pub watch: Option<bool>,
    /// Types that lend: whether the program defines them, or takes the harness's.
    pub lenders: Option<bool>,
    /// Whether there are generic helpers beside the program.
    pub generics: bool,
    /// Whether there are helpers that return `Option`s and an enumeration with fields.
    pub choices: bool,
    /// Whether there are macros.
    pub macros: bool,
}

/// What is drawn of `State`.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// What its list holds.
    pub of: Ty,
    /// How many others it makes at most.
    pub most: u32,
    /// Whether it makes them in a loop.
    pub looped: bool,
}

impl Defs {
    /// How a type is written.
    pub fn name(&self, ty: &Ty) -> String {
        match ty {
            Ty::Unit => "()".into(),
            Ty::Bool => "bool".into(),
            Ty::I32 => "i32".into(),
            Ty::I64 => "i64".into(),
            Ty::U32 => "u32".into(),
            Ty::U64 => "u64".into(),
            Ty::Usize => "usize".into(),
            Ty::F32 => "f32".into(),
            Ty::F64 => "f64".into(),
            Ty::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.name(part)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Array(of, len) => format!("[{}; {len}]", self.name(of)),
            Ty::Struct(index) => format!("S{index}"),
            Ty::Enum(index) => format!("E{index}"),
            Ty::Option(of) => format!("Option<{}>", self.name(of)),
            Ty::Result(of) => format!("Result<{}, u32>", self.name(of)),
            Ty::Slice(of) => format!("[{}]", self.name(of)),
            Ty::Ref(of) => format!("&{}", self.name(of)),
            Ty::Vec(of) => format!("Vec<{}>", self.name(of)),
            Ty::String => "String".into(),
            Ty::Box(of) => format!("Box<{}>", self.name(of)),
            Ty::Tree => "Tree".into(),
            Ty::State => "State".into(),
            Ty::States => "[State]".into(),
            Ty::Closure(from, to) => format!("fn({}) -> {}", self.name(from), self.name(to)),
        }
    }

    /// The simplest value of a type; `None` for references.
    pub fn zero(&self, ty: &Ty) -> Option<String> {
        let list = |types: &[Ty]| -> Option<String> {
            let parts: Option<Vec<String>> = types.iter().map(|ty| self.zero(ty)).collect();
            Some(parts?.join(", "))
        };
        Some(match ty {
            Ty::Unit => "()".into(),
            Ty::Bool => "false".into(),
            Ty::F32 => "0.0f32".into(),
            Ty::F64 => "0.0f64".into(),
            Ty::Tuple(parts) => format!("({})", list(parts)?),
            Ty::Array(of, len) => format!("[{}; {len}]", self.zero(of)?),
            Ty::Struct(index) => {
                let fields: Option<Vec<String>> = self.structs[*index]
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| Some(format!("f{i}: {}", self.zero(ty)?)))
                    .collect();
                format!("S{index} {{ {} }}", fields?.join(", "))
            }
            Ty::Enum(index) => {
                let (data, named) = &self.enums[*index].variants[0];
                let parts: Option<Vec<String>> = data.iter().map(|ty| self.zero(ty)).collect();
                self.variant(*index, 0, &parts?, *named)
            }
            Ty::Option(_) => "None".into(),
            Ty::Result(_) => "Err(0u32)".into(),
            Ty::Slice(_) | Ty::States | Ty::Ref(_) | Ty::Closure(..) => return None,
            Ty::Tree => format!("Tree::Leaf({})", self.zero(&self.tree.as_ref()?[0])?),
            Ty::State => "State::seed(0)".into(),
            Ty::Vec(of) => format!("Vec::<{}>::new()", self.name(of)),
            Ty::String => "String::new()".into(),
            Ty::Box(of) => format!("Box::new({})", self.zero(of)?),
            int => format!("0{}", self.name(int)),
        })
    }

    /// A variant with its data, as an expression or as a pattern.
    pub fn variant(&self, index: usize, variant: usize, parts: &[String], named: bool) -> String {
        let path = format!("E{index}::V{variant}");
        if parts.is_empty() {
            return path;
        }
        if named {
            let fields: Vec<String> =
                parts.iter().enumerate().map(|(i, part)| format!("f{i}: {part}")).collect();
            return format!("{path} {{ {} }}", fields.join(", "));
        }
        format!("{path}({})", parts.join(", "))
    }

    /// The definitions, with the comparison of their bits and inputs of their type.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for (index, def) in self.structs.iter().enumerate() {
            let fields: Vec<String> =
                def.fields.iter().enumerate().map(|(i, ty)| format!("pub f{i}: {}", self.name(ty))).collect();
            let _ = writeln!(
                text,
                "#[derive(Clone, Copy, Debug, PartialEq)]\npub struct S{index} {{ {} }}",
                fields.join(", ")
            );
        }
        for (index, def) in self.enums.iter().enumerate() {
            let variants: Vec<String> = def
                .variants
                .iter()
                .enumerate()
                .map(|(v, (data, named))| {
                    let data: Vec<String> = data.iter().map(|ty| self.name(ty)).collect();
                    self.variant(index, v, &data, *named).replace(&format!("E{index}::"), "")
                })
                .collect();
            let _ = writeln!(
                text,
                "#[derive(Clone, Copy, Debug, PartialEq)]\npub enum E{index} {{ {} }}",
                variants.join(", ")
            );
        }
        if let Some([leaf, inner]) = &self.tree {
            let (leaf, inner) = (self.name(leaf), self.name(inner));
            let _ = writeln!(
                text,
                "#[derive(Clone, Debug, PartialEq)]\npub enum Tree {{ Leaf({leaf}), Nest(Box<Tree>, {inner}), \
                 Fork {{ left: Box<Tree>, weight: {inner}, right: Box<Tree> }}, Many(Vec<Tree>) }}"
            );
        }
        if let Some(state) = &self.state {
            let moves = if state.looped { MOVES_LOOPED } else { MOVES };
            let most = (state.most + 1).to_string();
            text.push_str(
                &STATE.replace("MOVES", moves).replace("MOST", &most).replace("ITEM", &self.name(&state.of)),
            );
        }
        if self.watch == Some(true) {
            text.push_str(include_str!("watch.rs"));
        }
        if self.macros {
            text.push_str(MACROS);
        }
        text
    }

    /// Implementations of the harness's traits for the program's types.
    pub fn print_harness(&self) -> String {
        let mut text = String::new();
        for (index, def) in self.structs.iter().enumerate() {
            let words: String = (0..def.fields.len()).map(|i| format!("self.f{i}.words(to); ")).collect();
            let fields: String = (0..def.fields.len()).map(|i| format!("f{i}: dice.make(), ")).collect();
            let _ = writeln!(
                text,
                "impl Words for S{index} {{ fn words(&self, to: &mut Vec<u64>) {{ {words} }} }}\n\
                 impl Make for S{index} {{ fn make(dice: &mut Dice) -> Self {{ S{index} {{ {fields} }} }} }}"
            );
        }
        for (index, def) in self.enums.iter().enumerate() {
            let (mut words, mut make) = (String::new(), String::new());
            for (v, (data, named)) in def.variants.iter().enumerate() {
                let names: Vec<String> = (0..data.len()).map(|i| format!("x{i}")).collect();
                let each: String = names.iter().map(|name| format!("{name}.words(to); ")).collect();
                let made = vec!["dice.make()".to_string(); data.len()];
                let _ = write!(
                    words,
                    "{} => {{ to.push({v}); {each} }} ",
                    self.variant(index, v, &names, *named)
                );
                let arm = if v + 1 == def.variants.len() { "_".into() } else { v.to_string() };
                let _ = write!(make, "{arm} => {}, ", self.variant(index, v, &made, *named));
            }
            let _ = writeln!(
                text,
                "impl Words for E{index} {{ fn words(&self, to: &mut Vec<u64>) {{ match self {{ {words} }} }} }}\n\
                 impl Make for E{index} {{ fn make(dice: &mut Dice) -> Self {{ match dice.below({}) {{ {make} }} }} }}",
                def.variants.len()
            );
        }
        if self.tree.is_some() {
            text.push_str(TREE);
        }
        if self.state.is_some() {
            text.push_str(STATE_HARNESS);
        }
        text
    }
}

/// The type that makes others of its kind, and lends what it owns. Each value is counted.
const STATE: &str = "\
#[derive(Clone, Debug, PartialEq)]
pub struct State { pub xs: Vec<ITEM>, pub n: usize, pub token: Token }
impl State {
    fn seed(n: usize) -> State { State { xs: Vec::new(), n: n % 16, token: Token::new() } }
    fn with(&self, i: usize) -> State {
        self.token.look();
        let mut xs = self.xs.clone();
        xs.push((i % 64) as ITEM);
        State { xs, n: (self.n * 3 + i % 8 + 1) % 16, token: Token::new() }
    }
    fn grown(mut self, i: usize) -> State { self.change(i); self }
    fn change(&mut self, i: usize) { self.token.look(); self.xs.push((i % 64) as ITEM); self.n = (self.n + i % 8) % 16; }
    fn moves(&self) -> Vec<State> { MOVES }
    fn pair(&self) -> [State; 2] { [self.with(1), self.with(self.n)] }
    fn child(&self, i: usize) -> Option<State> { if self.n % 3 > 0 { Some(self.with(i)) } else { None } }
    fn parts(&self) -> &[ITEM] { self.token.look(); &self.xs }
    fn same(&self) -> &State { self.token.look(); self }
    fn head(&self) -> Option<ITEM> { self.token.look(); self.xs.first().copied() }
    fn taken(self) -> Vec<ITEM> { self.xs }
    fn len(&self) -> usize { self.token.look(); self.xs.len() }
    fn is_empty(&self) -> bool { self.token.look(); self.xs.is_empty() }
}
";

/// Macros of the program's own.
const MACROS: &str = "\
macro_rules! lesser { ($a:expr, $b:expr) => {{ let x = $a; let y = $b; if x < y { x } else { y } }}; }
macro_rules! choose { ($test:expr => $a:expr; else $b:expr) => { if $test { $a } else { $b } }; }
macro_rules! first { ($a:expr, $b:expr) => { $a }; }
macro_rules! put {
    (if $test:expr => $place:expr, $value:expr) => { if $test { $place = $value } };
    ($place:expr, $value:expr) => { $place = $value };
}
";

/// How it makes others.
const MOVES: &str = "(0..self.n % MOST).map(|i| self.with(i)).collect()";
const MOVES_LOOPED: &str =
    "let mut all = Vec::new(); for i in 0..self.n % MOST { all.push(self.with(i)); } all";

/// What the harness has to know of it.
const STATE_HARNESS: &str = "\
impl Words for State {
    fn words(&self, to: &mut Vec<u64>) { self.token.look(); self.xs.words(to); self.n.words(to); }
}
impl Make for State {
    fn make(dice: &mut Dice) -> Self { State { xs: dice.make(), n: dice.below(16) as usize, token: Token::new() } }
}
";

/// What the harness has to know of the type that holds itself.
const TREE: &str = "\
impl Words for Tree {
    fn words(&self, to: &mut Vec<u64>) {
        match self {
            Tree::Leaf(x) => { to.push(0); x.words(to); }
            Tree::Nest(y, x) => { to.push(1); y.words(to); x.words(to); }
            Tree::Fork { left, weight, right } => { to.push(2); left.words(to); weight.words(to); right.words(to); }
            Tree::Many(all) => { to.push(3); all.words(to); }
        }
    }
}
impl Make for Tree {
    fn make(dice: &mut Dice) -> Self {
        fn grow(dice: &mut Dice, depth: u64) -> Tree {
            match dice.below(if depth == 0 { 1 } else { 4 }) {
                0 => Tree::Leaf(dice.make()),
                1 => Tree::Nest(Box::new(grow(dice, depth - 1)), dice.make()),
                2 => Tree::Fork { left: Box::new(grow(dice, depth - 1)), weight: dice.make(), right: Box::new(grow(dice, depth - 1)) },
                _ => Tree::Many((0..dice.below(4)).map(|_| grow(dice, depth - 1)).collect()),
            }
        }
        grow(dice, 3)
    }
}
";
