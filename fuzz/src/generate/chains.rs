//! Chains of adaptors with calls of the program in their closures: several stages, and ends that leave early.

use super::{Gen, Via};
use crate::tree::{Node, Part, expr, fixed, stmt};
use crate::types::Ty;

/// A chain as far as it goes.
pub(super) struct Chain {
    /// What it is written as.
    parts: Vec<Part>,
    /// Statements before it.
    before: Vec<Part>,
    /// The number that an element is or holds.
    of: Ty,
    /// Whether the element refers to the number.
    by_ref: bool,
    /// Whether the element is a pair with its place.
    counted: bool,
    /// How many elements there may be.
    times: u32,
    /// Whether `rev` can stand here: only stages with closures that look at one element at a time, or none, stand before.
    turns: bool,
    /// Whether there was a closure.
    closed: bool,
    /// Whether a `skip` stands behind a closure.
    skipped: bool,
    /// Whether `take` and `flat_map` may come.
    cuts: bool,
    /// Whether the one closure that may capture states and changes locals has been made.
    called: bool,
    /// The local that this closure changes.
    changed: Option<(String, Ty)>,
}

impl Chain {
    fn push(&mut self, part: impl Into<Part>) {
        self.parts.push(part.into());
    }

    fn take(&mut self) -> Node {
        Node { kind: crate::tree::Kind::Fixed, parts: std::mem::take(&mut self.parts) }
    }
}

/// A number made of two.
fn mix(of: &Ty, a: &str, b: &str) -> String {
    if of.is_float() { format!("{a} * 0.5 + {b}") } else { format!("{a}.rotate_left(3) ^ {b}") }
}

/// A test of a number.
fn odd(of: &Ty, x: &str) -> String {
    if of.is_float() { format!("{x} > 0.5") } else { format!("{x} & 1 == 1") }
}

impl Gen {
    /// A number or truth value from a chain with calls.
    pub(super) fn chained_calls(&mut self, ty: &Ty) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 || !(ty.is_number() || *ty == Ty::Bool) {
            return None;
        }
        let of = if *ty == Ty::Bool { self.int_type() } else { ty.clone() };
        if !self.may_call(&of) {
            return None;
        }
        let mut chain = self.source(true);
        for _ in 0..self.below(4) {
            self.stage(&mut chain);
        }
        let value = self.end(&mut chain, &of);
        let number = self.defs.name(&of);
        let value = fixed!(
            std::mem::take(&mut chain.before).into_iter().fold(fixed!("{ "), |mut node, part| {
                node.parts.push(part);
                node
            }),
            format!("let chained: {number} = "),
            value,
            "; chained }"
        );
        Some(if *ty == Ty::Bool { expr!(ty; "(", value, " & 1 == 1)") } else { expr!(ty; value) })
    }

    /// A `for` over a chain with calls in its closures.
    pub(super) fn over_a_chain(&mut self, depth: u32) -> Option<Node> {
        let of = self.number_type();
        if self.pure > 0 || self.flat > 0 || self.weight > 6 || !self.may_call(&of) {
            return None;
        }
        // What the body may change the closures must not capture.
        let hidden = self.hidden.len();
        let assigned: Vec<String> =
            self.visible().filter(|var| var.assign).map(|var| var.name.clone()).collect();
        let mut chain = self.source(false);
        self.hidden.extend(assigned);
        for _ in 0..1 + self.below(3) {
            self.stage(&mut chain);
        }
        self.hidden.truncate(hidden);
        let times = chain.times;
        let body = self.in_a_loop(times, |g| {
            let (pattern, lets) = g.element(&chain, false);
            let body = g.some_stmts(depth);
            (pattern, lets, body)
        });
        let (pattern, lets, body) = body;
        let walk = fixed!(format!("for {pattern} in "), chain.take(), format!(" {{ {lets}"), body, "}");
        let mut node = stmt!("{ ");
        node.parts.extend(chain.before);
        node.parts.extend([walk.into(), " }".into()]);
        Some(node)
    }

    /// What a chain begins with.
    fn source(&mut self, all: bool) -> Chain {
        // As many elements as there may be calls.
        let most = (self.calls / self.weight).clamp(1, 3);
        let mut chain = Chain {
            parts: Vec::new(),
            before: Vec::new(),
            of: Ty::Usize,
            by_ref: false,
            counted: false,
            times: most,
            turns: true,
            closed: false,
            skipped: false,
            cuts: all,
            called: !all,
            changed: None,
        };
        if all && self.swarm.effects_in_expr && self.chance(40) {
            let fits: Vec<(String, Ty)> = self
                .visible()
                .filter(|var| var.via == Via::Value && var.assign && !var.locked && var.ty.is_number())
                .map(|var| (var.name.clone(), var.ty.clone()))
                .collect();
            chain.changed = (!fits.is_empty()).then(|| self.pick(&fits));
        }
        let of = self.number_type();
        let number = self.defs.name(&of);
        let slice = self.some_slice().filter(|(_, of)| of.is_number() && self.calls >= 6 * self.weight);
        match (if self.swarm.plain { 0 } else { self.below(6) }, slice) {
            (1 | 2, Some((name, of))) => {
                chain.push(format!("{name}.iter()"));
                (chain.of, chain.by_ref, chain.times) = (of, true, 6);
            }
            (3 | 4, _) => {
                let list = self.fresh("list");
                let elements = (0..most).map(|_| self.leaf(&of)).map(|leaf| fixed!(leaf, ", "));
                let elements: Vec<Part> = elements.map(Part::from).collect();
                let by_ref = self.chance(60);
                let mut list_of = fixed!(format!("let {list}: Vec<{number}> = vec!["));
                list_of.parts.extend(elements);
                list_of.parts.push("]; ".into());
                chain.before.push(list_of.into());
                chain.push(if by_ref { format!("{list}.iter()") } else { format!("{list}.into_iter()") });
                (chain.of, chain.by_ref) = (of, by_ref);
            }
            (5, _) if most >= 2 => {
                let (a, b) = (self.leaf(&of), self.leaf(&of));
                chain.push(fixed!("[", a, ", ", b, "].into_iter()"));
                chain.of = of;
            }
            _ => {
                let count = self.leaf(&Ty::Usize);
                let mask = [0, 1, 2, 3][most as usize];
                chain.push(fixed!("(0usize..(", count, format!(" & {mask}))")));
            }
        }
        if self.chance(40) {
            match self.below(5) {
                0 => chain.push(".rev()"),
                1 => {
                    chain.push(".enumerate()");
                    chain.counted = true;
                }
                2 => chain.push(".skip(1)"),
                3 => chain.push(".take(2)"),
                _ => chain.push(".step_by(2)"),
            }
        }
        chain
    }

    /// The pattern of a closure for the chain's elements, or for references to them, and what has to stand in front.
    fn element(&mut self, chain: &Chain, borrowed: bool) -> (String, String) {
        let (i, x) = (self.fresh("i"), self.fresh("c"));
        let (of, mut lets) = (chain.of.clone(), String::new());
        if !chain.counted {
            return match (chain.by_ref, borrowed) {
                (false, false) => {
                    self.declare(&x, &of, false);
                    (x, lets)
                }
                (true, true) => {
                    self.declare_ref(&x, &of);
                    (format!("&{x}"), lets)
                }
                _ if self.chance(50) => {
                    self.declare(&x, &of, false);
                    (format!("&{x}"), lets)
                }
                _ => {
                    self.declare_ref(&x, &of);
                    (x, lets)
                }
            };
        }
        // By parts, sometimes of what is kept whole.
        let whole = self.chance(25).then(|| self.fresh("p"));
        let by_parts = borrowed && (whole.is_some() || self.chance(60));
        let pair = if by_parts || !borrowed { format!("({i}, {x})") } else { format!("&({i}, {x})") };
        if by_parts {
            self.declare_ref(&i, &Ty::Usize);
        } else {
            self.declare(&i, &Ty::Usize, false);
        }
        match (chain.by_ref, by_parts) {
            (true, true) => {
                let y = self.fresh("c");
                lets = format!("let {y} = **{x}; ");
                self.declare(&y, &of, false);
            }
            (false, false) => self.declare(&x, &of, false),
            _ => self.declare_ref(&x, &of),
        }
        match whole {
            Some(whole) => (whole.clone(), format!("let {pair} = {whole}; {lets}")),
            None => (pair, lets),
        }
    }

    /// A closure's head and the first statements of its body, which compute `name` of the type.
    fn computed(
        &mut self,
        chain: &mut Chain,
        borrowed: bool,
        name: &str,
        ty: &Ty,
        must: bool,
    ) -> (String, Node) {
        let vars = self.vars.len();
        let main = !chain.called && (must || self.chance(60));
        chain.called |= main;
        let hidden = self.hidden.len();
        if !main {
            self.lent += 1;
            self.hidden.extend(chain.changed.iter().map(|(name, _)| name.clone()));
        }
        let (pattern, lets) = self.element(chain, borrowed);
        let call = if main || self.chance(25) { self.flat_call(ty, chain.times) } else { None };
        let value = match call {
            Some(call) => call,
            None => self.purely(|g| g.expr(ty, 2)),
        };
        let of = self.defs.name(ty);
        let mut node = fixed!(format!("{lets}let {name}: {of} = "), value, "; ");
        if main && let Some((changed, of)) = &chain.changed {
            let by = self.leaf(of);
            let by = if of.is_float() { fixed!("0.5 + ", by) } else { fixed!("3 ^ ", by) };
            node.parts.extend([format!("{changed} = ").into(), by.into(), "; ".into()]);
        }
        if !main {
            self.lent -= 1;
        }
        self.hidden.truncate(hidden);
        self.vars.truncate(vars);
        (pattern, node)
    }

    /// Adds a stage.
    fn stage(&mut self, chain: &mut Chain) {
        let y = self.fresh("y");
        let of = if self.chance(70) { chain.of.clone() } else { self.number_type() };
        let test = self.int_type();
        let odd_test = odd(&test, &y);
        let closed = chain.closed;
        let mut symmetric = true;
        match self.below(17) {
            0 | 1 => self.mapped(chain, &of),
            2 | 3 => {
                let (head, body) = self.computed(chain, true, &y, &test, false);
                chain.push(fixed!(format!(".filter(|{head}| {{ "), body, format!("{odd_test} }})")));
            }
            4 => {
                let (head, body) = self.computed(chain, false, &y, &of, false);
                let odd = odd(&of, &y);
                chain.push(fixed!(
                    format!(".filter_map(|{head}| {{ "),
                    body,
                    format!("if {odd} {{ None }} else {{ Some({y}) }} }})")
                ));
                (chain.of, chain.by_ref, chain.counted) = (of, false, false);
            }
            5 => {
                let (head, body) = self.computed(chain, true, &y, &test, false);
                chain.push(fixed!(format!(".inspect(|{head}| {{ "), body, format!("let _ = {y}; }})")));
            }
            6 if chain.turns => {
                chain.push(".rev()");
                return;
            }
            7 if !chain.counted => {
                chain.push(".enumerate()");
                chain.counted = true;
                chain.turns &= !closed;
                return;
            }
            8 | 9 => {
                let n = self.small(chain);
                chain.push(format!(".skip({n})"));
                chain.skipped |= closed;
                chain.turns &= !closed;
                return;
            }
            10 | 11 if chain.cuts && !chain.skipped => {
                let n = self.small(chain);
                chain.push(format!(".take({n})"));
                chain.turns &= !closed;
                return;
            }
            12 => {
                chain.push(format!(".step_by({})", 1 + self.below(3)));
                chain.turns &= !closed;
                return;
            }
            13 | 14 => {
                let start = self.literal(&of);
                let (head, body) = self.computed(chain, false, &y, &of, false);
                let (mixed, odd) = (mix(&of, "*sofar", &y), odd(&of, "*sofar"));
                let number = self.defs.name(&of);
                chain.push(fixed!(
                    ".scan(",
                    start,
                    format!(", |sofar: &mut {number}, {head}| {{ "),
                    body,
                    format!(
                        "*sofar = {}; if {odd} {{ None }} else {{ Some(*sofar) }} }})",
                        mixed.replace("*sofar.", "(*sofar).")
                    ),
                ));
                (chain.of, chain.by_ref, chain.counted) = (of, false, false);
                symmetric = false;
            }
            15 => {
                let name = self.pick(&["take_while", "skip_while"]);
                let (head, body) = self.computed(chain, true, &y, &test, false);
                chain.push(fixed!(format!(".{name}(|{head}| {{ "), body, format!("{odd_test} }})")));
                symmetric = false;
            }
            _ if chain.cuts && chain.times < 6 && self.weight <= 3 => {
                let (head, body) = self.computed(chain, false, &y, &of, false);
                let more = self.literal(&of);
                chain.push(fixed!(format!(".flat_map(|{head}| {{ "), body, format!("[{y}, "), more, "] })"));
                (chain.of, chain.by_ref, chain.counted, chain.times) = (of, false, false, chain.times * 2);
                symmetric = false;
            }
            _ => {
                let (head, body) = self.computed(chain, false, &y, &of, false);
                let odd = odd(&of, &y);
                chain.push(fixed!(
                    format!(".map_while(|{head}| {{ "),
                    body,
                    format!("({odd}).then_some({y}) }})")
                ));
                (chain.of, chain.by_ref, chain.counted) = (of, false, false);
                symmetric = false;
            }
        }
        chain.closed = true;
        chain.turns &= symmetric;
    }

    /// A `map` to numbers.
    fn mapped(&mut self, chain: &mut Chain, of: &Ty) {
        let y = self.fresh("y");
        let (head, body) = self.computed(chain, false, &y, of, false);
        chain.push(fixed!(format!(".map(|{head}| {{ "), body, format!("{y} }})")));
        (chain.of, chain.by_ref, chain.counted, chain.closed) = (of.clone(), false, false, true);
    }

    /// A small number for `skip` and `take`.
    fn small(&mut self, chain: &mut Chain) -> String {
        if self.chance(60) {
            return self.below(4).to_string();
        }
        let n = self.fresh("n");
        let value = self.leaf(&Ty::Usize);
        chain.before.push(fixed!(format!("let {n}: usize = "), value, " & 3; ").into());
        n
    }

    /// The last method of a chain, and what is made of its result: a number of the type.
    fn end(&mut self, chain: &mut Chain, of: &Ty) -> Node {
        let y = self.fresh("y");
        let number = self.defs.name(of);
        let (mixed, test) = (mix(of, "a", &y), odd(of, &y));
        let start = self.literal(of);
        let must = !chain.called;
        match if self.swarm.plain { self.below(9) } else { self.below(15) } {
            kind @ 0..=3 => self.ends_early(chain, of, kind),
            kind @ 4..=6 => self.runs_early(chain, of, kind),
            7 => {
                let (head, body) = self.computed(chain, false, &y, of, must);
                fixed!(
                    chain.take(),
                    ".fold(",
                    start,
                    format!(", |a: {number}, {head}| {{ "),
                    body,
                    format!("{mixed} }})")
                )
            }
            8 => {
                let (head, body) = self.computed(chain, false, &y, of, must);
                let name = self.pick(&["any", "all"]);
                fixed!(
                    "(",
                    chain.take(),
                    format!(".{name}(|{head}| {{ "),
                    body,
                    format!("{test} }}) as u8 as {number})")
                )
            }
            kind @ 9..=11 => {
                if chain.by_ref {
                    self.mapped(chain, of);
                }
                let must = !chain.called;
                let (head, body) = self.computed(chain, true, &y, of, must);
                let held = self.defs.name(&chain.of);
                let held = if chain.counted { format!("(usize, {held})") } else { held };
                let list = match kind {
                    9 if !chain.of.is_float() => "std::collections::BTreeSet",
                    _ => "Vec",
                };
                let part = if chain.counted { "x.1" } else { "*x" };
                fixed!(
                    format!("{{ let (yes, no): ({list}<{held}>, {list}<{held}>) = "),
                    chain.take(),
                    format!(".partition(|{head}| {{ "),
                    body,
                    format!("{test} }}); yes.iter().chain(&no).fold("),
                    start,
                    format!(", |a: {number}, x| {{ let {y} = {part} as {number}; {mixed} }}) }}")
                )
            }
            12 => {
                let (head, body) = self.computed(chain, false, &y, of, must);
                let other = self.literal(&Ty::U32);
                fixed!(
                    format!("{{ let (first, second): (Vec<{number}>, Vec<u32>) = "),
                    chain.take(),
                    format!(".map(|{head}| {{ "),
                    body,
                    format!("({y}, "),
                    other,
                    format!(
                        ") }}).unzip(); let {y} = second.len() as {number}; first.into_iter().fold({y}, |a, {y}| {mixed}) }}"
                    )
                )
            }
            13 => {
                let (head, body) = self.computed(chain, false, &y, of, must);
                fixed!(
                    chain.take(),
                    format!(".map(|{head}| {{ "),
                    body,
                    format!(
                        "if {test} {{ None }} else {{ Some({y}) }} }}).collect::<Option<Vec<{number}>>>().map_or("
                    ),
                    start,
                    format!(", |all| all.into_iter().fold(0 as {number}, |a, {y}| {mixed}))")
                )
            }
            _ => {
                let (head, body) = self.computed(chain, false, &y, of, must);
                fixed!(
                    chain.take(),
                    format!(".map(|{head}| {{ "),
                    body,
                    format!("{y} }}).reduce(|a, {y}| {mixed}).unwrap_or("),
                    start,
                    ")"
                )
            }
        }
    }

    /// `try_fold`.
    fn ends_early(&mut self, chain: &mut Chain, of: &Ty, kind: usize) -> Node {
        let y = self.fresh("y");
        let number = self.defs.name(of);
        let (mixed, test) = (mix(of, "a", &y), odd(of, &y));
        let (start, other) = (self.literal(of), self.literal(of));
        let must = !chain.called;
        let optional = Ty::Option(Box::new(of.clone()));
        if kind == 0 && self.may_call(&optional) {
            let (head, body) = self.computed(chain, false, &y, &optional, must);
            return fixed!(
                format!("{{ let tried: Option<{number}> = "),
                chain.take(),
                ".try_fold(",
                start,
                format!(", |a: {number}, {head}| {{ "),
                body,
                format!("let {y} = {y}?; Some({mixed}) }}); tried.unwrap_or("),
                other,
                ") }"
            );
        }
        let (ty, out, on, rest) = match kind {
            0 | 1 => (
                format!("Option<{number}>"),
                "None".into(),
                "Some",
                format!("Some(a) => a, None => {number}::default()"),
            ),
            2 => (
                format!("Result<{number}, {number}>"),
                format!("Err({y})"),
                "Ok",
                "Ok(a) | Err(a) => a".into(),
            ),
            _ => (
                format!("std::ops::ControlFlow<{number}, {number}>"),
                format!("std::ops::ControlFlow::Break({y})"),
                "std::ops::ControlFlow::Continue",
                "std::ops::ControlFlow::Break(a) => a, std::ops::ControlFlow::Continue(a) => a".into(),
            ),
        };
        let (head, body) = self.computed(chain, false, &y, of, must);
        fixed!(
            format!("{{ let tried: {ty} = "),
            chain.take(),
            ".try_fold(",
            start,
            format!(", |a: {number}, {head}| {{ "),
            body,
            format!("if {test} {{ {out} }} else {{ {on}({mixed}) }} }}); match tried {{ {rest} }} }}")
        )
    }

    /// `try_for_each`, with a local that it changes.
    fn runs_early(&mut self, chain: &mut Chain, of: &Ty, kind: usize) -> Node {
        let (y, a) = (self.fresh("y"), self.fresh("a"));
        let number = self.defs.name(of);
        let (mixed, test) = (mix(of, &a, &y), odd(of, &y));
        let start = self.literal(of);
        let must = !chain.called;
        let (ty, out, on, left) = match kind {
            4 => ("Option<()>".into(), "None".into(), "Some(())", "tried.is_none()"),
            5 => (format!("Result<(), {number}>"), format!("Err({y})"), "Ok(())", "tried.is_err()"),
            _ => (
                format!("std::ops::ControlFlow<{number}>"),
                format!("std::ops::ControlFlow::Break({y})"),
                "std::ops::ControlFlow::Continue(())",
                "tried.is_break()",
            ),
        };
        let not = if of.is_float() { "-" } else { "!" };
        let (head, body) = self.computed(chain, false, &y, of, must);
        fixed!(
            format!("{{ let mut {a}: {number} = "),
            start,
            format!("; let tried: {ty} = "),
            chain.take(),
            format!(".try_for_each(|{head}| {{ "),
            body,
            format!(
                "{a} = {mixed}; if {test} {{ {out} }} else {{ {on} }} }}); if {left} {{ {a} }} else {{ {not}{a} }} }}"
            )
        )
    }
}
