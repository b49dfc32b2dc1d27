//! Loops and chains over a list of arrays that all members share, or that is a member's own, in the ways in which users write them: by
//! reference, by value, by pattern, by index, beside an array of the member's own; and what such a loop only sets.

use super::shared_lists::operator;
use super::{Gen, Via};
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

/// A list of arrays, and what loops over it change.
struct Rows {
    ty: Ty,
    len: usize,
    list: String,
    /// A number of the member's own, an index that loops only set, and one that they also read.
    sum: String,
    hit: String,
    at: String,
    /// An array of the member's own.
    own: String,
}

impl Gen {
    /// Loops over a list of arrays of numbers, and a number made of what they leave.
    pub(super) fn over_shared_rows(&mut self) -> Option<Node> {
        let lists: Vec<(String, Ty, usize)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Slice(row) if var.via == Via::Ref => match &**row {
                    Ty::Array(of, len) if of.is_number() && *len > 0 => {
                        Some((var.name.clone(), (**of).clone(), *len))
                    }
                    _ => None,
                },
                _ => None,
            })
            .collect();
        if lists.is_empty() || self.weight > 6 {
            return None;
        }
        let (list, ty, len) = self.pick(&lists);
        let of = self.defs.name(&ty);
        let [sum, hit, at, own] = ["s", "hit", "j", "own"].map(|prefix| self.fresh(prefix));
        let rows = Rows { ty, len, list, sum, hit, at, own };
        let Rows { ty, sum, hit, at, own, .. } = &rows;
        let mut parts = vec![fixed!(
            format!("let mut {sum}: {of} = "),
            self.leaf(ty),
            format!(
                "; let mut {hit} = usize::MAX; let mut {at} = 0usize; let {own}: [{of}; {len}] = [{sum}; {len}];"
            )
        )];
        for _ in 0..1 + self.below(3) {
            parts.push(if self.chance(75) { self.row_loop(&rows) } else { self.row_chain(&rows) });
        }
        let (name, op) = (self.fresh("v"), operator(ty));
        parts.push(fixed!(format!("let {name} = {sum} {op} (({hit} % 7 + {at} % 5) as {of});")));
        self.declare(&name, &rows.ty, false);
        Some(stmt!(parts))
    }

    /// A loop. In its rounds `row` has the elements, and `i` is the number of the round, if it is counted.
    fn row_loop(&mut self, rows: &Rows) -> Node {
        let Rows { len, list, .. } = rows;
        let [row, i] = ["row", "i"].map(|prefix| self.fresh(prefix));
        let parts: Vec<String> = (0..*len).map(|n| format!("{row}_{n}")).collect();
        let pattern = format!("[{}]", parts.join(", "));
        let by_index: Vec<String> = (0..*len).map(|n| format!("{row}[{n}]")).collect();
        let stars: Vec<String> = parts.iter().map(|part| format!("*{part}")).collect();
        let counted = Some(i.clone());
        let (head, elements, whole, counted) = match self.below(8) {
            0 => (format!("for {row} in {list} {{"), by_index, Some(row), None),
            1 => (format!("for &{row} in {list} {{"), by_index, Some(format!("&{row}")), None),
            2 => (format!("for ({i}, {row}) in {list}.iter().enumerate() {{"), by_index, Some(row), counted),
            3 => (format!("for &{pattern} in {list} {{"), parts, None, None),
            4 => (format!("for ({i}, {pattern}) in {list}.iter().enumerate() {{"), stars, None, counted),
            5 => (
                format!("for {i} in 0..{list}.len() {{ let {row} = &{list}[{i}];"),
                by_index,
                Some(row),
                counted,
            ),
            6 => (
                format!("for {i} in 0..{list}.len() {{ let {row} = {list}[{i}];"),
                by_index,
                Some(format!("&{row}")),
                counted,
            ),
            _ => {
                (format!("for {i} in 0..{list}.len() {{ let {pattern} = {list}[{i}];"), parts, None, counted)
            }
        };
        let mut body = Vec::new();
        for _ in 0..1 + self.below(4) {
            body.push(self.row_round(rows, &elements, whole.as_deref(), counted.as_deref()));
        }
        fixed!(head, body, "}")
    }

    /// What is done with the elements of a row, which is `whole`, in the round `counted`.
    fn row_round(
        &mut self,
        rows: &Rows,
        elements: &[String],
        whole: Option<&str>,
        counted: Option<&str>,
    ) -> Node {
        let Rows { ty, len, sum, hit, at, own, .. } = rows;
        let (op, c, x, y) = (operator(ty), self.leaf(ty), self.pick(elements), self.pick(elements));
        let set = match counted {
            Some(i) if self.chance(80) => i.to_string(),
            _ => String::from("3"),
        };
        let [a, b, n] = ["a", "b", "n"].map(|prefix| self.fresh(prefix));
        match (self.below(10), whole) {
            (0 | 1, _) => fixed!(format!("{sum} = {sum} {op} {x} {op} {y} {op} "), c, ";"),
            (2 | 3, _) => fixed!(format!("if {x} > "), c, format!(" {{ {sum} = {y}; {hit} = {set}; }}")),
            (4, _) => fixed!(format!("if {sum} > {x} {{ {hit} = {set}; }} else {{ {at} += 1; }}")),
            (5, Some(whole)) => fixed!(format!(
                "for ({a}, {b}) in {own}.iter().zip({whole}) {{ {sum} = {sum} {op} if {a} > {b} {{ *{a} }} else {{ *{b} }}; }}"
            )),
            (6, Some(whole)) => {
                fixed!(format!("for {n} in 0..{len} {{ {sum} = {sum} {op} ({whole})[{n}]; {at} ^= {n}; }}"))
            }
            (7, Some(whole)) => fixed!(format!("for {a} in {whole} {{ {sum} = {sum} {op} *{a}; }}")),
            (8, _) => fixed!(format!("if {hit} == {set} {{ {sum} = {x}; }}")),
            (9, _) if self.chance(40) => fixed!(format!("if {sum} > {x} {{ {hit} = {set}; break; }}")),
            _ => fixed!(format!("if {x} > {y} {{ continue; }} {sum} = {sum} {op} "), c, ";"),
        }
    }

    /// A chain.
    fn row_chain(&mut self, rows: &Rows) -> Node {
        let Rows { ty, len, list, sum, at, own, .. } = rows;
        let (op, c) = (operator(ty), self.leaf(ty));
        let [row, x, t, i] = ["row", "x", "t", "i"].map(|prefix| self.fresh(prefix));
        let n = self.below(*len);
        match self.below(5) {
            0 => fixed!(
                format!("{sum} = {list}.iter().map(|{row}| {row}[{n}] {op} "),
                c,
                format!(").fold({sum}, |{t}, {x}| {t} {op} {x});")
            ),
            1 => fixed!(
                format!("{sum} = {list}.iter().map(|{row}| {row}.iter().fold("),
                c,
                format!(", |{t}, {x}| {t} {op} *{x})).fold({sum}, |{t}, {x}| {t} {op} {x});")
            ),
            2 => fixed!(format!(
                "for {i} in 0..{list}.len() {{ {sum} = {own}.iter().zip(&{list}[{i}]).map(|({x}, {t})| *{x} {op} *{t}).fold({sum}, |{t}, {x}| {t} {op} {x}); }}"
            )),
            3 if ty.is_float() => fixed!(format!(
                "{at} += {list}.iter().enumerate().map(|({i}, {row})| ({i}, {row}[{n}] - {sum})).min_by(|{x}, {t}| {x}.1.total_cmp(&{t}.1)).map_or(3, |{x}| {x}.0);"
            )),
            _ => fixed!(format!("{at} += {list}.iter().filter(|{row}| {row}[{n}] > "), c, ").count();"),
        }
    }
}
