//! Loops, each with a bound that is part of it.

use super::{Gen, Loop, Via};
use crate::tree::{Node, expr, fixed, stmt};
use crate::types::Ty;

/// How often the innermost code may run per activation.
const MOST: u32 = 40;

impl Gen {
    /// A bound for a loop, if there is room for another.
    pub(super) fn bound(&mut self) -> Option<u32> {
        let room = MOST / self.weight;
        (room >= 2).then(|| 1 + self.below(room.min(6) as usize) as u32)
    }

    fn label(&mut self) -> Option<String> {
        (self.swarm.labels && self.chance(35)).then(|| self.fresh("'l"))
    }

    /// Runs `make` inside a loop that runs at most `bound` times.
    fn inside<T>(
        &mut self,
        label: &Option<String>,
        value: Option<Ty>,
        bound: u32,
        make: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.loops.push(Loop { label: label.clone(), value, repeats: true });
        self.weight *= bound;
        let made = self.scoped(make);
        self.weight /= bound;
        self.loops.pop();
        made
    }

    /// The same for a loop without label or value.
    pub(super) fn in_a_loop<T>(&mut self, bound: u32, make: impl FnOnce(&mut Self) -> T) -> T {
        self.inside(&None, None, bound, make)
    }

    pub(super) fn some_stmts(&mut self, depth: u32) -> Vec<Node> {
        let count = 1 + self.below(3);
        let mut stmts = self.stmts(count, depth);
        // What a loop is for.
        if let Some(name) = self.looped.take()
            && let Some(changed) = self.changed_struct(&name, depth)
        {
            stmts.push(changed);
        }
        stmts
    }

    pub(super) fn loop_stmt(&mut self, depth: u32) -> Option<Node> {
        let bound = self.bound()?;
        let label = self.label();
        let prefix = label.as_ref().map_or(String::new(), |label| format!("{label}: "));
        let ty = self.pick(&[Ty::Usize, Ty::U32, Ty::I32, Ty::I64]);
        let name = self.defs.name(&ty);
        let depth = depth - 1;
        Some(match self.below(10) {
            0 | 1 => {
                let k = self.fresh("k");
                self.inside(&label, None, bound, |g| {
                    g.declare_locked(&k, &ty);
                    let own = g.loops.pop();
                    // In a condition only labelled jumps are allowed.
                    g.loops.push(Loop { label: None, value: None, repeats: false });
                    let test = g.condition(depth);
                    g.loops.pop();
                    g.loops.extend(own);
                    let mut body = vec![fixed!(format!("{k} += 1;"))];
                    body.extend(g.some_stmts(depth));
                    stmt!(
                        format!("let mut {k} = 0{name}; {prefix}while {k} < {bound} && "),
                        test,
                        " {",
                        body,
                        "}"
                    )
                })
            }
            2 => {
                // A count that differs between members.
                let k = self.fresh("k");
                let start = self.expr(&Ty::U32, depth);
                self.inside(&label, None, bound, |g| {
                    g.declare_locked(&k, &Ty::U32);
                    let mut body = vec![fixed!(format!("{k} -= 1;"))];
                    body.extend(g.some_stmts(depth));
                    stmt!(
                        format!("let mut {k} = "),
                        start,
                        format!(" % {}; {prefix}while {k} > 0 {{", bound + 1),
                        body,
                        "}"
                    )
                })
            }
            3 => {
                let k = self.fresh("k");
                self.inside(&label, None, bound, |g| {
                    g.declare_locked(&k, &ty);
                    let mut body = vec![fixed!(format!("if {k} >= {bound} {{ break; }} {k} += 1;"))];
                    body.extend(g.some_stmts(depth));
                    stmt!(format!("let mut {k} = 0{name}; {prefix}loop {{"), body, "}")
                })
            }
            4 => {
                // The test at the end.
                let k = self.fresh("k");
                self.inside(&label, None, bound, |g| {
                    g.declare_locked(&k, &ty);
                    let mut body = vec![fixed!(format!("{k} += 1; if {k} > {bound} {{ break; }}"))];
                    body.extend(g.some_stmts(depth));
                    let test = g.expr(&Ty::Bool, depth);
                    body.push(stmt!("if ", test, " { break; }"));
                    stmt!(format!("let mut {k} = 0{name}; {prefix}loop {{"), body, "}")
                })
            }
            5 if self.swarm.arrays => self.for_each(&label, &prefix, depth)?,
            6 | 7 if self.swarm.owned => self.drain(&label, &prefix, bound, depth)?,
            _ => self.for_range(&label, &prefix, &ty, bound, depth),
        })
    }

    fn for_range(&mut self, label: &Option<String>, prefix: &str, ty: &Ty, bound: u32, depth: u32) -> Node {
        let name = self.defs.name(ty);
        let mask = [0, 0, 1, 1, 3, 3, 3, 7, 7][bound as usize];
        let mut ends: Vec<Node> = Vec::new();
        for _ in 0..2 {
            let part = match self.below(3) {
                0 => fixed!(format!("{}{name}", self.below(mask + 1))),
                _ => {
                    let value = self.expr(ty, depth);
                    fixed!("(", value, format!(" & {mask})"))
                }
            };
            ends.push(part);
        }
        let (to, from) = (ends.pop(), ends.pop());
        let (Some(from), Some(to)) = (from, to) else { unreachable!("two ends") };
        let range = match self.below(8) {
            0 => ("(", "..", ").rev()"),
            1 => ("(", "..", ").step_by(2)"),
            2 => ("", "..=", ""),
            3 => ("(", "..=", ").rev()"),
            _ => ("", "..", ""),
        };
        let from = if self.chance(50) { fixed!(format!("0{name}")) } else { from };
        let i = if self.chance(15) { "_".to_string() } else { self.fresh("i") };
        self.inside(label, None, mask as u32 + 1, |g| {
            if i != "_" {
                g.declare_locked(&i, ty);
            }
            let body = g.some_stmts(depth);
            stmt!(
                format!("{prefix}for {i} in {}", range.0),
                from,
                range.1,
                to,
                format!("{} {{", range.2),
                body,
                "}"
            )
        })
    }

    /// A `for` over a slice or an array.
    fn for_each(&mut self, label: &Option<String>, prefix: &str, depth: u32) -> Option<Node> {
        let arrays: Vec<(String, Ty, usize)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Array(of, len) => {
                    let place =
                        if var.via == Via::Value { var.name.clone() } else { format!("*{}", var.name) };
                    Some((place, (**of).clone(), *len))
                }
                _ => None,
            })
            .collect();
        let slice = self.some_slice();
        let (x, i) = (self.fresh("x"), self.fresh("i"));
        if let Some((name, of)) = slice.filter(|_| arrays.is_empty() || self.chance(60)) {
            if self.weight * 6 > MOST {
                return None;
            }
            // The iteration, the type of `x`, and whether there is an `i`.
            let (head, by_ref, index) = match self.below(if self.swarm.plain { 4 } else { 7 }) {
                0 => (format!("{x} in {name}"), true, false),
                1 => (format!("&{x} in {name}"), false, false),
                2 => (format!("({i}, {x}) in {name}.iter().enumerate()"), true, true),
                3 => (format!("{x} in {name}.iter().rev()"), true, false),
                4 => (format!("{x} in {name}.iter().copied()"), false, false),
                5 => (format!("({i}, {x}) in (0usize..4).zip({name})"), true, true),
                _ => (format!("{x} in {name}.iter().copied().skip(1).take(3)"), false, false),
            };
            return Some(self.inside(label, None, 6, |g| {
                if by_ref {
                    g.declare_ref(&x, &of);
                } else {
                    g.declare(&x, &of, false);
                }
                if index {
                    g.declare_locked(&i, &Ty::Usize);
                }
                let body = g.some_stmts(depth);
                stmt!(format!("{prefix}for {head} {{"), body, "}")
            }));
        }
        if arrays.is_empty() {
            return None;
        }
        let (name, of, len) = self.pick(&arrays);
        if self.weight * len as u32 > MOST {
            return None;
        }
        Some(self.inside(label, None, len as u32, |g| {
            g.declare(&x, &of, false);
            let body = g.some_stmts(depth);
            stmt!(format!("{prefix}for {x} in {name} {{"), body, "}")
        }))
    }

    /// A loop over the elements of a `Vec`: popped one by one, or handed out by its iterator.
    fn drain(&mut self, label: &Option<String>, prefix: &str, bound: u32, depth: u32) -> Option<Node> {
        let vars: Vec<(String, Ty, bool)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Vec(of) if var.via == Via::Value => Some((var.name.clone(), (**of).clone(), var.assign)),
                _ => None,
            })
            .collect();
        if vars.is_empty() {
            return None;
        }
        let (name, of, assign) = self.pick(&vars);
        let (x, k) = (self.fresh("x"), self.fresh("k"));
        if assign && self.chance(50) {
            return Some(self.inside(label, None, bound, |g| {
                g.declare_locked(&k, &Ty::U32);
                g.declare(&x, &of, false);
                let mut body = vec![fixed!(format!("{k} += 1;"))];
                body.extend(g.some_stmts(depth));
                let head = format!("{prefix}while let Some({x}) = {name}.pop() && {k} < {bound} {{");
                stmt!(format!("let mut {k} = 0u32; {head}"), body, "}")
            }));
        }
        let source = match self.moved(&Ty::Vec(Box::new(of.clone()))) {
            Some(name) => name,
            None => format!("{name}.clone()"),
        };
        let source = match self.chance(30) {
            true => format!("{source}.into_iter().rev()"),
            false => format!("{source}.into_iter()"),
        };
        Some(self.inside(label, None, bound, |g| {
            g.declare(&x, &of, true);
            let body = g.some_stmts(depth);
            stmt!(format!("{prefix}for mut {x} in {source}.take({bound}) {{"), body, "}")
        }))
    }

    /// `loop { … break value … }`.
    pub(super) fn loop_expr(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        let bound = self.bound()?;
        let label = self.label();
        let prefix = label.as_ref().map_or(String::new(), |label| format!("{label}: "));
        let k = self.fresh("k");
        let last = self.leaf(ty);
        Some(self.inside(&label, Some(ty.clone()), bound, |g| {
            g.declare_locked(&k, &Ty::U32);
            let mut body =
                vec![fixed!(format!("if {k} >= {bound} {{ break "), last, format!("; }} {k} += 1;"))];
            let count = g.below(3);
            body.extend(g.stmts(count, depth - 1));
            let test = g.expr(&Ty::Bool, depth - 1);
            let value = g.expr(ty, depth - 1);
            body.push(stmt!("if ", test, " { break ", value, "; }"));
            expr!(ty; format!("{{ let mut {k} = 0u32; {prefix}loop {{"), body, "} }")
        }))
    }
}
