//! Arrays of arrays that uniform loops go over: copied as a whole and in rows, with rounds that are cut short, and members that
//! return.

use super::{Gen, Loop};
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

/// Two grids of the same shape, and a number.
struct Grids {
    ty: Ty,
    of: String,
    /// Rows, and numbers in each.
    rows: usize,
    cols: usize,
    a: String,
    b: String,
    sum: String,
}

impl Gen {
    /// Grids, loops over them, and a number made of their elements.
    pub(super) fn grids(&mut self, depth: u32) -> Option<Node> {
        if self.weight > 6 {
            return None;
        }
        let ty = if self.chance(60) { Ty::F32 } else { self.number_type() };
        let grids = Grids {
            of: self.defs.name(&ty),
            ty,
            rows: 2 + self.below(4),
            cols: 2 + self.below(4),
            a: self.fresh("g"),
            b: self.fresh("g"),
            sum: self.fresh("s"),
        };
        let Grids { of, rows, cols, a, b, sum, .. } = &grids;
        let first = self.expr(&grids.ty, depth.min(2));
        let annotation = if self.chance(50) { format!(": [[{of}; {cols}]; {rows}]") } else { String::new() };
        let mut parts = vec![fixed!(
            format!("let mut {sum}: {of} = "),
            self.leaf(&grids.ty),
            format!("; let mut {a}: [[{of}; {cols}]; {rows}] = [["),
            first,
            format!("; {cols}]; {rows}]; let mut {b}{annotation} = [["),
            self.literal(&grids.ty),
            format!("; {cols}]; {rows}];")
        )];
        for _ in 0..1 + self.below(2) {
            let mut body = self.over_grids(&grids, depth);
            if self.chance(20) {
                body.push(fixed!(format!("if k == {} {{ continue; }}", self.below(12))));
            }
            body.extend(self.whole_grids(&grids));
            parts.push(fixed!(format!("for k in 0..{} {{", 1 + self.below(12)), body, "}"));
        }
        let (name, i, j) = (self.fresh("v"), self.below(*rows), self.below(*cols));
        let op = if grids.ty.is_float() { "+" } else { "^" };
        parts.push(fixed!(format!("let {name} = {a}[{i}][{j}] {op} {b}[{}][0] {op} {sum};", rows - 1)));
        self.declare(&name, &grids.ty, false);
        Some(stmt!(parts))
    }

    /// Loops over the rows.
    fn over_grids(&mut self, grids: &Grids, depth: u32) -> Vec<Node> {
        let Grids { ty, rows, cols, sum, .. } = grids;
        let (rows, cols) = (*rows, *cols);
        let mut body = Vec::new();
        if self.chance(30) {
            body.push(fixed!(format!("if i == {} {{ continue; }}", self.below(rows))));
        }
        if self.chance(30) {
            body.push(fixed!(format!("if {sum} < "), self.leaf(ty), " { continue; }"));
        }
        for _ in 0..1 + self.below(2) {
            let over_elements = self.over_elements(grids);
            body.push(fixed!(format!("for j in 0..{cols} {{"), over_elements, "}"));
            if self.chance(40) {
                body.push(self.over_rows(grids));
            }
        }
        if self.swarm.exits && self.chance(35) {
            let limit = self.leaf(ty);
            // It stands in the `for` over the rows, which no value leaves.
            self.loops.push(Loop { label: None, value: None, repeats: false });
            let value = self.value_of_return(depth);
            self.loops.pop();
            body.push(stmt!(format!("if {sum} > "), limit, " { return ", value, "; }"));
        }
        vec![fixed!(format!("for i in 0..{rows} {{"), body, "}")]
    }

    /// What is done with an element in row `i`, column `j`, in round `k`.
    fn over_elements(&mut self, grids: &Grids) -> Vec<Node> {
        let Grids { ty, rows, cols, a, b, sum, .. } = grids;
        let c = self.leaf(ty);
        let (times, plus) = if ty.is_float() { ("*", "+") } else { ("&", "^") };
        let (down, right) = (format!("(i + 1) % {rows}"), format!("(j + 1) % {cols}"));
        let one = match self.below(6) {
            0 => {
                fixed!(format!("{a}[i][j] = {b}[{down}][j] {times} "), c, format!(" {plus} {a}[i][{right}];"))
            }
            1 => fixed!(format!("{b}[i][j] = {a}[i][j] {plus} "), c, ";"),
            2 => fixed!(format!("{sum} = {sum} {plus} {a}[i][j]; {b}[{down}][j] = {sum};")),
            3 => fixed!(format!("if {a}[i][j] > "), c, format!(" {{ {a}[i][j] = {b}[k % {rows}][j]; }}")),
            4 => fixed!(format!("let t = {a}[i][j] {times} "), c, format!("; {a}[i][j] = t {plus} {sum};")),
            _ => fixed!(format!("{sum} = {b}[i][j] {plus} "), c, ";"),
        };
        vec![one]
    }

    /// What is done with row `i`.
    fn over_rows(&mut self, grids: &Grids) -> Node {
        let Grids { ty, rows, cols, a, b, sum, .. } = grids;
        match self.below(4) {
            0 => fixed!(format!("{a}[i] = {b}[(i + 1) % {rows}];")),
            1 => {
                let plus = if ty.is_float() { "+" } else { "^" };
                fixed!(format!("let row = {a}[i]; {sum} = row[0] {plus} row[{}];", cols - 1))
            }
            2 => fixed!(format!("{b}[i] = ["), self.leaf(ty), format!("; {cols}];")),
            _ => {
                let all = (1..*cols).map(|j| format!("{b}[i][{j}], ")).collect::<String>();
                fixed!(format!("{b}[i] = [{all}{a}[i][0]];"))
            }
        }
    }

    /// What is done with whole grids.
    fn whole_grids(&mut self, grids: &Grids) -> Option<Node> {
        let Grids { ty, of, rows, cols, a, b, .. } = grids;
        let shape = format!("[[{of}; {cols}]; {rows}]");
        let old = self.fresh("g");
        Some(match self.below(6) {
            0 => fixed!(format!("let {old}: {shape} = {a}; {a} = {b}; {b} = {old};")),
            1 => fixed!(format!("{a} = {b};")),
            2 => {
                let fill =
                    fixed!(format!("let mut {old} = [["), self.literal(ty), format!("; {cols}]; {rows}];"));
                // Cut short in front of the copy, or not.
                let skip = if self.chance(40) { "if k % 3 == 1 { continue; }" } else { "" };
                let body = format!(
                    "for i in 0..{rows} {{ for j in 0..{cols} {{ {old}[i][j] = {b}[{} - i][j]; }} }} {skip} {a} = {old};",
                    rows - 1
                );
                fixed!(fill, body)
            }
            3 => fixed!(format!("let {old} = {b}; {b}[0] = {old}[{}]; {a} = {old};", rows - 1)),
            _ => return None,
        })
    }
}
