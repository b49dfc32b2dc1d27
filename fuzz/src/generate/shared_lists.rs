//! Loops and chains over a list that all members share, or that is a member's own, in the ways in which users write them, with variables that
//! all members assign the same, and elements that some of them look at.

use super::{Gen, Via};
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

/// A list, and what loops over it change.
struct Walk {
    ty: Ty,
    list: String,
    /// A number of the member's own, one that begins the same for all, a tuple, and an index.
    sum: String,
    same: String,
    pair: String,
    at: String,
}

impl Gen {
    /// Loops over a list of numbers, and a number made of what they leave.
    pub(super) fn over_shared_list(&mut self) -> Option<Node> {
        let lists: Vec<(String, Ty)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Slice(of) if of.is_number() && var.via == Via::Ref => {
                    Some((var.name.clone(), (**of).clone()))
                }
                _ => None,
            })
            .collect();
        if lists.is_empty() || self.weight > 6 {
            return None;
        }
        let (list, ty) = self.pick(&lists);
        let of = self.defs.name(&ty);
        let [sum, same, pair, at] = ["s", "u", "p", "j"].map(|prefix| self.fresh(prefix));
        let walk = Walk { ty, list, sum, same, pair, at };
        let Walk { ty, sum, same, pair, at, .. } = &walk;
        let mut parts = vec![fixed!(
            format!("let mut {sum}: {of} = "),
            self.leaf(ty),
            format!("; let mut {same}: {of} = "),
            self.literal(ty),
            format!("; let mut {pair} = ({sum}, {same}); let mut {at} = 0usize;")
        )];
        for _ in 0..1 + self.below(3) {
            let part = if self.chance(70) { self.list_loop(&walk) } else { self.list_chain(&walk) };
            parts.push(part);
        }
        let (name, op) = (self.fresh("v"), operator(ty));
        parts.push(fixed!(format!(
            "let {name} = {sum} {op} {same} {op} {pair}.0 {op} {pair}.1 {op} (({at} % 8) as {of});"
        )));
        self.declare(&name, &walk.ty, false);
        Some(stmt!(parts))
    }

    /// A loop.
    fn list_loop(&mut self, walk: &Walk) -> Node {
        let (list, at) = (&walk.list, &walk.at);
        let [x, i, w] = ["x", "i", "w"].map(|prefix| self.fresh(prefix));
        let head = match self.below(9) {
            0 => format!("for &{x} in {list} {{"),
            1 => format!("for {x} in {list}.iter().copied() {{"),
            2 => format!("for ({i}, &{x}) in {list}.iter().enumerate() {{ if {i} % 3 == 2 {{ {at} = {i}; }}"),
            3 => format!("for {w} in {list}.windows(2) {{ let {x} = {w}[0]; {at} = {w}.len();"),
            4 => format!(
                "for (&{x}, &{w}) in {list}.iter().zip({list}.iter().skip(1)) {{ let {x} = if {w} > {x} {{ {w} }} else {{ {x} }};"
            ),
            5 => format!("for {i} in 0..{list}.len() {{ let {x} = {list}[{i}];"),
            6 => format!("for {i} in 0..{list}.len() {{ let {w} = &{list}[{i}]; let {x} = *{w};"),
            7 => format!(
                "for {i} in (0..{list}.len()).rev() {{ let {x} = {list}[{at} % {list}.len()]; {at} = {i};"
            ),
            _ => format!("for &{x} in {list}.iter().rev().take(5) {{"),
        };
        let count = 1 + self.below(4);
        let body: Vec<Node> = (0..count).map(|_| self.list_round(walk, &x)).collect();
        fixed!(head, body, "}")
    }

    /// What is done with the element `x`.
    fn list_round(&mut self, walk: &Walk, x: &str) -> Node {
        let Walk { ty, list, sum, same, pair, at } = walk;
        let (op, c) = (operator(ty), self.leaf(ty));
        match self.below(13) {
            0 | 1 => fixed!(format!("{sum} = {sum} {op} {x} {op} "), c, ";"),
            2 => fixed!(format!("{same} = {same} {op} {x};")),
            3 => fixed!(format!("if {x} > {same} {{ {same} = {x}; }} else {{ {at} += 1; }}")),
            4 => fixed!(format!("if {sum} > "), c, format!(" {{ {sum} = {same}; }}")),
            5 => fixed!(format!("if {at} < {list}.len() {{ {sum} = {sum} {op} {list}[{at}]; }} {at} += 1;")),
            6 => fixed!(
                format!("if {sum} > "),
                c,
                format!(" && {list}[{at} % {list}.len()] > {sum} {{ {sum} = {x}; }}")
            ),
            7 => fixed!(format!("{pair}.0 = {pair}.1 {op} {x}; {pair}.1 = "), c, ";"),
            8 => fixed!(format!("if {x} > {same} {{ {pair} = ({sum}, {same}); }}")),
            9 => fixed!(format!("if {sum} > "), c, format!(" {{ {same} = {same} {op} {x}; }}")),
            10 => fixed!(format!("if {sum} > "), c, " { continue; }"),
            11 => fixed!(format!("if {same} > {x} {{ continue; }}")),
            _ if self.chance(40) => fixed!(format!("{at} += 2; if {sum} > "), c, " { break; }"),
            _ => fixed!(format!("{sum} = if {sum} > {x} {{ {same} }} else {{ {sum} {op} {x} }};")),
        }
    }

    /// A chain.
    fn list_chain(&mut self, walk: &Walk) -> Node {
        let Walk { ty, list, sum, same, at, .. } = walk;
        let (op, c, of) = (operator(ty), self.leaf(ty), self.defs.name(ty));
        let [x, y, t] = ["x", "y", "t"].map(|prefix| self.fresh(prefix));
        match self.below(8) {
            0 => fixed!(
                format!("{sum} = {same} {op} {list}.iter().map(|&{x}| {x} {op} "),
                c,
                format!(").fold({sum}, |{t}, {y}| {t} {op} {y});")
            ),
            1 => fixed!(
                format!("{sum} = {list}.iter().rev().fold("),
                c,
                format!(", |{t}: {of}, {x}| {t} {op} *{x});")
            ),
            2 => fixed!(format!("if {list}.iter().any(|&{x}| {x} > "), c, format!(") {{ {sum} = {same}; }}")),
            3 => fixed!(format!("{at} += {list}.iter().filter(|&&{x}| {x} > "), c, ").count();"),
            4 => fixed!(
                format!("if let Some({t}) = {list}.iter().position(|&{x}| {x} > "),
                c,
                format!(") {{ {at} += {t}; {sum} = {sum} {op} {list}[{t}]; }}")
            ),
            5 => fixed!(
                format!("if {list}.iter().zip({list}.iter().rev()).all(|({x}, {y})| {x} >= {y} || *{x} > "),
                c,
                format!(") {{ {same} = {sum}; }}")
            ),
            6 => fixed!(format!(
                "{at} += (0..{list}.len()).map(|{x}| {x} ^ {at}).filter(|&{x}| {x} % 3 == 1).sum::<usize>();"
            )),
            _ if ty.is_float() => {
                fixed!(
                    format!("{sum} = {sum} * {list}.iter().map(|{x}| {x} - "),
                    c,
                    format!(").sum::<{of}>();")
                )
            }
            _ => fixed!(
                format!("{sum} = {sum} ^ {list}.iter().enumerate().map(|({t}, {x})| ({t} as {of}) & *{x} & "),
                c,
                format!(").fold(0, |{t}, {x}| {t} | {x});")
            ),
        }
    }
}

/// An operator that does not fail.
pub(super) fn operator(ty: &Ty) -> &'static str {
    if ty.is_float() { "+" } else { "^" }
}
