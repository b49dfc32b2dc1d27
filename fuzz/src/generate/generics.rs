//! Generic helpers beside the program, methods of traits, closures about arrays, rows, and folds of tuples.

use super::Gen;
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

/// The variables of the code.
struct Names {
    /// Of type `u64`.
    sum: String,
    /// Structures with the trait.
    scale: String,
    lever: String,
    /// Of two rows of two numbers.
    rows: String,
    /// A list whose literals have no type.
    open: String,
    /// From two numbers to two numbers.
    turn: String,
}

impl Gen {
    /// Some of each, and a number made of it.
    pub(super) fn generic_helpers(&mut self) -> Option<Node> {
        if self.weight > 6 {
            return None;
        }
        self.defs.generics = true;
        let [sum, scale, lever, rows, open, turn] =
            ["sum", "scale", "lever", "rows", "open", "turn"].map(|prefix| self.fresh(prefix));
        let names = Names { sum, scale, lever, rows, open, turn };
        let Names { sum, scale, lever, rows, open, turn } = &names;
        let mut leaf = || self.leaf(&Ty::U64);
        let mut parts = vec![fixed!(
            format!("let mut {sum} = "),
            leaf(),
            format!("; let mut {scale} = Scale {{ a: "),
            leaf(),
            format!(", b: {sum} }}; let mut {lever} = Lever("),
            leaf(),
            format!("); let {rows} = [[{sum}, 3], ["),
            leaf(),
            format!(", {sum}]]; let mut {open} = [1, 2, 3]; "),
            format!("let {turn} = |[x, y]: [u64; 2]| [y ^ {sum}, x.wrapping_add(y)]; ")
        )];
        // The closure borrows the number, so what changes it comes from a copy.
        let total = self.fresh("total");
        parts.push(fixed!(format!("let mut {total} = {sum}; ")));
        let names = Names { sum: total.clone(), ..names };
        let (round, rounds) = (self.fresh("round"), 1 + self.below(5));
        let head = match self.below(3) {
            0 => format!("for {round} in 0u64..{rounds} {{ {total} ^= {round};"),
            1 => {
                format!("let mut {round} = 0; while {total} % 11 > {rounds} && {round} < 20 {{ {round} += 1;")
            }
            _ => String::from("{"),
        };
        let count = 1 + self.below(4);
        let body: Vec<Node> = (0..count).map(|_| self.generic_step(&names)).collect();
        parts.push(fixed!(head, body, "}"));
        let name = self.fresh("weighed");
        parts.push(fixed!(format!("let {name} = {total} ^ {}[2];", names.open)));
        self.declare(&name, &Ty::U64, false);
        Some(stmt!(parts))
    }

    fn generic_step(&mut self, names: &Names) -> Node {
        let Names { sum, scale, lever, rows, open, turn } = names;
        let leaf = self.leaf(&Ty::U64);
        let [x, y, i] = ["left", "right", "nth"].map(|prefix| self.fresh(prefix));
        let either = if self.chance(50) { scale } else { lever };
        match self.below(13) {
            0 => fixed!(format!("{sum} = weighed(&{either}, "), leaf, format!(") ^ {sum};")),
            1 => fixed!(format!("{sum} ^= balanced(&mut {either}, "), leaf, ");"),
            2 => fixed!(format!("{sum} = {either}.weigh({sum}).wrapping_sub("), leaf, ");"),
            3 => fixed!(format!("{sum} = {either}.twice({sum} & 255);")),
            4 => fixed!(format!("{sum} ^= {either}.shifted("), leaf, ");"),
            5 => fixed!(format!("{sum} = middle({sum}, "), leaf, ", 7);"),
            6 => fixed!(format!("let [{x}, {y}] = {turn}([{sum}, "), leaf, format!("]); {sum} = {x} ^ {y};")),
            7 => fixed!(
                format!("let [{x}, {y}] = applied(&{turn}, ["),
                leaf,
                format!(", {sum}]); {sum} = {x}.wrapping_mul({y} | 1);")
            ),
            8 => fixed!(
                format!("let [{x}, {y}] = crossed({}, &{rows}, &[{sum}, ", self.below(3)),
                leaf,
                format!("]); {sum} = {x} ^ {y} >> 3;")
            ),
            9 => fixed!(format!("{open}[1] = mixed(&{open}, &[{sum}, 4, "), leaf, "]);"),
            10 => fixed!(format!("for {i} in 0..2 {{ {sum} ^= mixed(&{rows}[{i}], &[{sum}, 9]); }}")),
            11 => fixed!(
                format!("let ({x}, {y}) = (0..{sum} % 9).fold(({sum}, "),
                leaf,
                format!("), |({x}, {y}), {i}| ({y} ^ {i}, {x}.wrapping_add({y}))); {sum} = {x} ^ {y};")
            ),
            _ => fixed!(
                format!("let ({x}, _) = {open}.iter().fold((0, 1), |({x}, {y}), &{i}| ({x} ^ {i} & "),
                leaf,
                format!(", {y} ^ {x})); {sum} ^= {x};")
            ),
        }
    }
}
