//! Arrays of a few numbers in the ways in which users write them: by index, by iterators, made by closures, copied under conditions, looked
//! up by what is computed.

use super::Gen;
use super::shared_lists::operator;
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

/// Two arrays of one type, and what is made of them.
struct Pair {
    ty: Ty,
    len: usize,
    a: String,
    b: String,
    sum: String,
    /// A number below the length, as rustc does not know.
    at: String,
}

impl Gen {
    /// Arrays, a loop that changes them, and a number made of what is left.
    pub(super) fn short_arrays(&mut self) -> Option<Node> {
        if self.weight > 6 {
            return None;
        }
        let ty = [Ty::F64, Ty::F32, Ty::U32, Ty::I64][self.below(4)].clone();
        let [a, b, sum, at] = ["few", "more", "total", "place"].map(|prefix| self.fresh(prefix));
        let pair = Pair { ty, len: 1 + self.below(5), a, b, sum, at };
        let Pair { ty, len, a, b, sum, at } = &pair;
        let of = self.defs.name(ty);
        let mut parts = vec![fixed!(format!("let mut {a}: [{of}; {len}] = ["))];
        for _ in 0..*len {
            parts.push(fixed!(self.leaf(ty), ", "));
        }
        let begin = match self.below(3) {
            0 => format!("]; let mut {b} = {a};"),
            1 => format!("]; let mut {b} = [{a}[0]; {len}];"),
            _ => format!("]; let mut {b} = {a}.map(|x| x); "),
        };
        parts.push(fixed!(format!("{begin} let mut {sum} = {a}[0]; let mut {at} = 0usize; ")));
        let (round, rounds) = (self.fresh("round"), 1 + self.below(6));
        let head = match self.below(3) {
            0 => format!("for {round} in 0usize..{rounds} {{ {at} = {round} % {len};"),
            1 => format!("while {at} < {len} && {sum} == {sum} {{ "),
            _ => String::from("{"),
        };
        let count = 1 + self.below(4);
        let body: Vec<Node> = (0..count).map(|_| self.array_step(&pair)).collect();
        let end = if head.starts_with("while") { format!("{at} += 1; }}") } else { "}".into() };
        parts.push(fixed!(head, body, end));
        if self.chance(50) {
            parts.push(self.array_step(&pair));
        }
        let (name, op, all) = (self.fresh("all"), operator(ty), self.array_number(&pair));
        parts.push(fixed!(format!("let {name} = {sum} {op} {b}[{len} - 1] {op} "), all, ";"));
        self.declare(&name, &pair.ty, false);
        Some(stmt!(parts))
    }

    /// A statement that changes an array or the number.
    fn array_step(&mut self, pair: &Pair) -> Node {
        let Pair { ty, len, a, b, sum, at } = pair;
        let (op, c) = (operator(ty), self.leaf(ty));
        let [i, x, y] = ["nth", "left", "right"].map(|prefix| self.fresh(prefix));
        match self.below(13) {
            0 => fixed!(format!("for {i} in 0..{len} {{ {a}[{i}] = {b}[{i}] {op} "), c, "; }"),
            1 => fixed!(
                format!("for ({x}, {y}) in {a}.iter_mut().zip(&{b}) {{ *{x} = *{x} {op} {y} {op} "),
                c,
                "; }"
            ),
            2 => fixed!(format!("{b} = std::array::from_fn(|{i}| {a}[({i} + 1) % {len}] {op} "), c, ");"),
            3 => fixed!(
                format!("{a} = {b}.map(|{x}| {{ let {y} = {x} {op} "),
                c,
                format!("; {y} {op} {sum} }});")
            ),
            4 => fixed!(format!("if {sum} > "), c, format!(" {{ {a} = {b}; }} else {{ {b} = {a}; }}")),
            5 => fixed!(format!("{sum} = {a}[{at} % {len}] {op} {b}[0];")),
            6 => fixed!(format!("{a}[{at} % {len}] = {sum} {op} "), c, ";"),
            7 => fixed!(format!(
                "for ({i}, {x}) in {b}.iter_mut().enumerate() {{ if {i} != {at} {{ *{x} = {sum}; }} }}"
            )),
            8 => fixed!(format!("for {x} in {a}.iter().rev() {{ {sum} = {sum} {op} {x}; }}")),
            9 => fixed!(format!("if {a}.iter().any(|&{x}| {x} > "), c, format!(") {{ {b}[0] = {sum}; }}")),
            10 => fixed!(
                format!("if {a}.iter().zip(&{b}).all(|({x}, {y})| {x} >= {y} || *{x} > "),
                c,
                format!(") {{ {a}.swap(0, {len} - 1); }}")
            ),
            11 => fixed!(format!(
                "for {i} in 0..{len} + 1 {{ if {i} < {len} {{ {sum} = {sum} {op} {a}[{i}]; }} }}"
            )),
            _ => {
                let all = self.array_number(pair);
                fixed!(format!("{sum} = "), all, ";")
            }
        }
    }

    /// A number made of all elements.
    fn array_number(&mut self, pair: &Pair) -> Node {
        let Pair { ty, a, b, .. } = pair;
        let (op, of) = (operator(ty), self.defs.name(ty));
        let [x, y, t] = ["left", "right", "so_far"].map(|prefix| self.fresh(prefix));
        match self.below(4) {
            0 if ty.is_float() => {
                fixed!(format!("{a}.iter().zip(&{b}).map(|({x}, {y})| {x} * {y}).sum::<{of}>()"))
            }
            1 if ty.is_float() => fixed!(format!("{{ let {t}: {of} = {b}.iter().product(); {t} }}")),
            2 => fixed!(format!("{a}.iter().rev().fold({b}[0], |{t}, {x}| {t} {op} {x})")),
            _ => fixed!(format!("{a}.iter().copied().fold({b}[0], {of}::max)")),
        }
    }
}
