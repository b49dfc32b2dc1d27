//! `Option`s of numbers and enumerations with fields that loops change, helpers that return them, and branches that few members take.

use super::Gen;
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

/// The variables of the code.
struct Names {
    /// Of type `f64`.
    sum: String,
    /// An `Option` of one, and one of a pair.
    best: String,
    pair: String,
    /// An enumeration.
    phase: String,
    /// How many rounds there were.
    count: String,
}

impl Gen {
    /// A loop that changes some, and a number made of them.
    pub(super) fn choices(&mut self) -> Option<Node> {
        if self.weight > 6 {
            return None;
        }
        self.defs.choices = true;
        let [sum, best, pair, phase, count] =
            ["sum", "best", "pair", "phase", "count"].map(|prefix| self.fresh(prefix));
        let names = Names { sum, best, pair, phase, count };
        let Names { sum, best, pair, phase, count } = &names;
        let begin = match self.below(3) {
            0 => format!(
                "let mut {best} = None; if {sum} > 1.0 {{ {best} = Some({sum}); }} let mut {pair}: Option<(f64, u32)> = None; let mut {phase} = Phase::Still;"
            ),
            1 => format!(
                "let mut {best} = Some({sum}); let mut {pair} = halved({sum}, 2); let mut {phase} = Phase::Both({sum}, 1.0);"
            ),
            _ => format!(
                "let mut {best}: Option<f64> = None; let mut {pair}: Option<(f64, u32)> = Some(({sum}, 1)); let mut {phase} = step_of(Phase::Still, {sum});"
            ),
        };
        let start = self.leaf(&Ty::F64);
        let mut parts = vec![fixed!(
            format!("let mut {sum}: f64 = "),
            start,
            format!("; let mut {count} = 0u32; {begin} ")
        )];
        let rounds = 1 + self.below(12);
        let round = self.fresh("round");
        let head = match self.below(4) {
            0 => format!("while {count} < {rounds} && {sum} == {sum} {{ {count} += 1;"),
            1 => format!(
                "for {round} in 0..{rounds} as u32 {{ {count} = {round}; if {sum} > 50.0 {{ break; }}"
            ),
            _ => format!("for {round} in 0..{rounds} as u32 {{ {count} = {round};"),
        };
        let steps = 1 + self.below(5);
        let body: Vec<Node> = (0..steps).map(|_| self.choice_step(&names)).collect();
        parts.push(fixed!(head, body, "}"));
        let name = self.fresh("chosen");
        parts.push(fixed!(format!(
            "let {name} = {sum} + {best}.unwrap_or(0.25) + match {pair} {{ Some((x, n)) => x * f64::from(n), None => -1.0 }} + if let Phase::Moving {{ by, .. }} = {phase} {{ by }} else {{ 0.0 }};"
        )));
        self.declare(&name, &Ty::F64, false);
        Some(stmt!(parts))
    }

    fn choice_step(&mut self, names: &Names) -> Node {
        let Names { sum, best, pair, phase, count } = names;
        let leaf = self.leaf(&Ty::F64);
        let [x, y] = ["one", "other"].map(|prefix| self.fresh(prefix));
        match self.below(24) {
            0 => fixed!(
                format!("if {best}.is_none_or(|{x}| {sum} < {x}) {{ {best} = Some({sum} - "),
                leaf,
                "); }"
            ),
            1 => fixed!(
                format!("if let Some({x}) = root_of({sum}, "),
                leaf,
                format!(
                    ") {{ if {best}.map_or(true, |{y}| {x} < {y}) {{ {best} = Some({x}); }} {sum} += 0.5; }}"
                )
            ),
            2 => fixed!(
                format!("let Some({x}) = root_of({sum}, "),
                leaf,
                format!(") else {{ {sum} += 0.75; continue; }}; {sum} -= {x};")
            ),
            3 => fixed!(
                format!("match halved({sum} + "),
                leaf,
                format!(
                    ", {count}) {{ Some(({x}, {y})) if {y} > 1 => {pair} = Some(({x}, {y})), Some(_) => {{}} None => {pair} = None }}"
                )
            ),
            4 => fixed!(format!("{phase} = step_of({phase}, {sum} + "), leaf, ");"),
            5 => fixed!(
                format!("{phase} = match {phase} {{ Phase::Still => Phase::Both({sum}, "),
                leaf,
                format!(
                    "), Phase::Moving {{ by: {x}, left: {y} }} if {y} > 0 => Phase::Moving {{ by: {sum}, left: {y} - 1 }}, Phase::Moving {{ by: {x}, .. }} => Phase::Both({x}, {x}), other => other }};"
                )
            ),
            6 => fixed!(
                format!("if {phase} == Phase::Still || matches!({phase}, Phase::Both({x}, _) if {x} > "),
                leaf,
                format!(") {{ {sum} *= 0.5; }} else {{ {sum} -= 1.0; }}")
            ),
            7 => fixed!(
                format!("if {sum} > "),
                leaf,
                format!(" {{ let {x} = ({sum} * {sum} + 1.0).sqrt(); {sum} = {x} / ({sum} + {x} * {x}); }}")
            ),
            8 => fixed!(
                format!("let {x} = if {sum} < "),
                leaf,
                format!(" {{ 0.5 }} else {{ (1.0 + {sum} * {sum}).sqrt() / ({sum} - 3.0) }}; {sum} += {x};")
            ),
            9 => fixed!(
                format!("let ({x}, {y}) = if {sum} > "),
                leaf,
                format!(
                    " {{ ({sum}.abs().sqrt() / (1.0 + {sum}), {sum}) }} else {{ (-1.0, {sum}) }}; {sum} = {x} + 0.5 * {y};"
                )
            ),
            10 => fixed!(
                format!("if {sum} < "),
                leaf,
                format!(" {{ {sum} += 1.5; continue; }} {sum} = {sum}.sqrt() / (1.0 + {sum}.abs());")
            ),
            11 => fixed!(
                format!("if let Some(({x}, {y})) = {pair} && {x} > "),
                leaf,
                format!(" {{ {pair} = Some(({sum}, {y} ^ 1)); }}")
            ),
            12 => {
                fixed!(format!("{best} = {best}.filter(|{x}| *{x} > "), leaf, format!(").or(Some({sum}));"))
            }
            13 => {
                fixed!(format!("{sum} += {best}.and_then(|{x}| root_of({x}, "), leaf, ")).unwrap_or(-0.5);")
            }
            14 => {
                fixed!(format!("{sum} = match {best} {{ Some({x}) => {x}.min({sum}), None => "), leaf, " };")
            }
            15 => fixed!(
                format!("while let Some({x}) = {best} {{ {sum} += {x}; {best} = None; if {sum} > "),
                leaf,
                " { break; } }"
            ),
            16 => fixed!(format!("{best} = ({sum} > "), leaf, format!(").then_some({sum} / 3.0);")),
            17 => fixed!(format!("{sum} -= 0.5 * {phase}.weight({sum} + "), leaf, ");"),
            18 => fixed!(format!("{phase} = {phase}.moved("), leaf, ");"),
            19 => fixed!(format!("{best} = nearer({best}, root_of({sum}, "), leaf, "));"),
            20 => fixed!(format!("{sum} += up_to(&{best}, "), leaf, ");"),
            21 => fixed!(
                format!("let mut {x} = "),
                leaf,
                format!(
                    "; if {x} > {sum} {{ std::mem::swap(&mut {x}, &mut {sum}); }} {sum} = 0.5 * {sum} - {x};"
                )
            ),
            22 => fixed!(
                format!(
                    "match ({best}, {pair}) {{ (Some({x}), Some((_, 1))) => {sum} -= {x}, (Some({x}), _) | (_, Some(({x}, _))) if {x} > "
                ),
                leaf,
                format!(" => {sum} += {x}, _ => {best} = None }}")
            ),
            _ => fixed!(format!("{pair} = {best}.map(|{x}| ({x} - "), leaf, format!(", {count}));")),
        }
    }
}
