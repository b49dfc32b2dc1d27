//! Arrays that uniform loops go over, as in stencils and trees of prices: what runs in lockstep.

use super::Gen;
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

impl Gen {
    /// An array too long for registers, loops over it, and one of its elements.
    pub(super) fn rows(&mut self, depth: u32) -> Option<Node> {
        if self.weight > 6 {
            return None;
        }
        let ty = if self.chance(85) { Ty::F32 } else { self.number_type() };
        let (row, d, s) = (self.fresh("r"), self.fresh("d"), self.fresh("s"));
        let (len, of) = (9 + self.below(16), self.defs.name(&ty));
        let first = self.expr(&ty, depth.min(2));
        let divisor = self.expr(&ty, depth.min(2));
        // Mostly of a size that dividing by it again and again leaves something.
        let size = if ty.is_float() && self.chance(70) { ".abs() % 4.0 + 0.5" } else { "" };
        let mut parts = vec![fixed!(
            format!("let mut {s}: {of} = "),
            self.leaf(&ty),
            format!("; let mut {row}: [{of}; {len}] = ["),
            first,
            format!("; {len}]; let mut {d}: {of} = ("),
            divisor,
            format!("){size};")
        )];
        for _ in 0..1 + self.below(3) {
            let times = 1 + self.below(4);
            let body: Vec<Node> =
                (0..1 + self.below(2)).map(|_| self.over_a_row(&ty, &row, len, &d, &s)).collect();
            let (open, close) =
                if times > 1 { (format!("for _ in 0..{times} {{"), "}") } else { (String::new(), "") };
            let last = len - 1;
            let (counter, head, end) = self.loop_over_a_row(&ty, &row, last, &s);
            // A counter that goes on from one time to the next.
            let (open, counter) =
                if self.chance(40) { (counter + &open, String::new()) } else { (open, counter) };
            parts.push(fixed!("{", open, counter, head, body, end, close, "}"));
        }
        let (name, at) = (self.fresh("v"), self.below(len));
        parts.push(fixed!(format!("let {name} = {row}[{at}] + {s};")));
        self.declare(&name, &ty, false);
        Some(stmt!(parts))
    }

    /// The counter of a loop whose `k` is below `last`, if it has one, how it begins, and how it ends: for all members alike, or for each as
    /// it comes out.
    fn loop_over_a_row(&mut self, ty: &Ty, row: &str, last: usize, s: &str) -> (String, Node, String) {
        let own = format!("{s} as usize % {last}");
        // A counter is seen behind its loop.
        let seen = if self.chance(50) { format!("{s} = {s} + {row}[k];") } else { String::new() };
        let first = match self.below(4) {
            0 => own.clone(),
            1 => self.below(last).to_string(),
            _ => "0".into(),
        };
        let counter = |first: &str| format!("let mut k = {first};");
        let up = format!("k += 1; }} {seen}");
        let c = self.leaf(ty);
        match self.below(14) {
            0 | 1 => (counter("0"), fixed!(format!("while k < {last} {{")), up),
            2 | 3 => (counter(&first), fixed!(format!("while k < {last} && {row}[k] < "), c, " {"), up),
            4 => (
                counter(&last.to_string()),
                fixed!(format!("while k > 0 && {row}[k - 1] < "), c, " { k -= 1;"),
                format!("}} {seen}"),
            ),
            5 => (counter(&first), fixed!(format!("loop {{ if k >= {last} || {s} < "), c, " { break; }"), up),
            6 => (
                counter(&first),
                fixed!(format!("while k + 1 < {last} {{ k += 1; if {row}[k] < "), c, " { continue; }"),
                format!("}} {seen}"),
            ),
            7 => (
                format!("let (mut k, mut n) = ({first}, 3u32);"),
                fixed!(format!("while k < {last} && n > 0 {{ if {row}[k] < "), c, " { n -= 1; }"),
                up,
            ),
            8 => (String::new(), fixed!(format!("for k in (0..{own}).rev() {{")), "}".into()),
            9 => (String::new(), fixed!(format!("for k in {}..{own} {{", self.below(last))), "}".into()),
            _ => (String::new(), fixed!(format!("for k in 0..{last} {{")), "}".into()),
        }
    }

    fn over_a_row(&mut self, ty: &Ty, row: &str, len: usize, d: &str, s: &str) -> Node {
        let c = self.leaf(ty);
        let own = format!("{row}[{s} as usize % {len}]");
        match self.below(20) {
            14 => fixed!(format!("if {row}[k] < "), c, format!(" {{ {s} = {s} + {row}[k]; break; }}")),
            15 => fixed!(
                format!("if {s} < "),
                c,
                format!(
                    " {{ if {row}[k] < {d} {{ break; }} {row}[k] = {s}; }} else {{ {s} = {row}[k + 1]; }}"
                )
            ),
            16 => fixed!(format!("{s} = {own} + "), c, ";"),
            17 => fixed!(format!("{own} = {row}[k] + "), c, ";"),
            18 => fixed!(format!("let t = {own}; {own} = {row}[k]; {row}[k] = t + "), c, ";"),
            0 | 10 => fixed!(format!("{row}[k] = {row}[k] / {d};")),
            1 | 11 => fixed!(format!("{row}[k] /= {d};")),
            2 | 3 | 12 | 13 => {
                fixed!(format!("{row}[k] = ({row}[k] * "), c, format!(" - {row}[k + 1]) / {d};"))
            }
            4 => fixed!(format!("let t = {row}[k] - "), c, format!("; {row}[k] = t / {d};")),
            5 => fixed!(format!("{s} = {s} + {row}[k]; {row}[k] = {s} / {d};")),
            6 => fixed!(format!("{row}[k + 1] = {row}[k] / {d};")),
            7 => fixed!(format!("{row}[k] = {row}[k] + "), c, ";"),
            8 => fixed!(
                format!("{row}[k] = if {row}[k] < "),
                c,
                format!(" {{ {row}[k] / {d} }} else {{ {row}[k] }};")
            ),
            _ => fixed!(format!("{d} = {d} + "), c, format!("; {row}[k] = {row}[k] / {d};")),
        }
    }
}
