//! Calls of the program where they take more than hoisting: in the closures of adaptors and of locals, in match guards,
//! in loops over locals, in macros, with locals lent.

use super::{Gen, Loop, Var, Via};
use crate::tree::{Node, expr, fixed, stmt};
use crate::types::Ty;

impl Gen {
    /// A call with plain arguments, in code that may run `times` times and be a closure's.
    pub(super) fn flat_call(&mut self, ty: &Ty, times: u32) -> Option<Node> {
        self.weight *= times;
        self.flat += 1;
        // Nothing is moved out of the closure.
        self.loops.push(Loop { label: None, value: None, repeats: false });
        let call = if self.may_call(ty) { self.call_of(ty, 1) } else { None };
        self.loops.pop();
        self.flat -= 1;
        self.weight /= times;
        call
    }

    /// A number or truth value from a chain of adaptors with a call in it.
    pub(super) fn adapted_call(&mut self, ty: &Ty) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 || !(ty.is_number() || *ty == Ty::Bool) {
            return None;
        }
        let of = if *ty == Ty::Bool { self.int_type() } else { ty.clone() };
        let (x, y) = (self.fresh("c"), self.fresh("c"));
        let vars = self.vars.len();
        let number = self.defs.name(&of);
        let optional = self.chance(35);
        let source = if optional {
            let test = self.leaf(&Ty::Bool);
            let value = self.leaf(&of);
            self.declare(&x, &of, false);
            fixed!("(", test, ").then_some(", value, ")")
        } else {
            let count = self.leaf(&Ty::Usize);
            self.declare(&x, &Ty::Usize, false);
            let rev = if self.chance(25) { ".rev()" } else { "" };
            fixed!("(0..(", count, format!(" & 3)){rev}"))
        };
        let body = self.flat_call(&of, if optional { 1 } else { 3 });
        self.vars.truncate(vars);
        let body = body?;
        let other = self.leaf(&of);
        let is_float = of.is_float();
        let odd = if is_float { format!("{y} > 0.5") } else { format!("{y} & 1 == 1") };
        let mix = if is_float { "a * 0.5 + b" } else { "a.rotate_left(3) ^ b" };
        if *ty == Ty::Bool {
            let test = if optional { "is_some_and" } else { self.pick(&["any", "all"]) };
            return Some(
                expr!(ty; source, format!(".{test}(|{x}| {{ let {y}: {number} = "), body, format!("; {odd} }})")),
            );
        }
        let mapped = fixed!(source, format!(".map(|{x}| "), body, ")");
        if optional {
            return Some(match self.below(3) {
                0 => expr!(ty; mapped, ".unwrap_or(", other, ")"),
                1 => {
                    expr!(ty; mapped, format!(".filter(|&{y}| {odd}).map_or("), self.literal(&of), format!(", |{y}| {y})"))
                }
                _ => {
                    expr!(ty; mapped, format!(".and_then(|{y}| if {odd} {{ Some({y}) }} else {{ None }}).unwrap_or("), other, ")")
                }
            });
        }
        Some(match self.below(6) {
            0 => expr!(ty; mapped, ".fold(", self.literal(&of), format!(", |a: {number}, b| {mix})")),
            1 if is_float => expr!(ty; mapped, ".max_by(|a, b| a.total_cmp(b)).unwrap_or(", other, ")"),
            1 => expr!(ty; mapped, ".max().unwrap_or(", other, ")"),
            2 if is_float => expr!(ty; mapped, format!(".sum::<{number}>()")),
            2 => expr!(ty; mapped, format!(".map(|{y}| {y} & 15).sum::<{number}>()")),
            3 => {
                expr!(ty; mapped, format!(".enumerate().find(|&(i, {y})| i > 0 || {odd}).map_or("), self.literal(&of), ", |(_, found)| found)")
            }
            4 => expr!(ty; mapped, format!(".filter(|&{y}| {odd}).last().unwrap_or("), other, ")"),
            _ => {
                expr!(ty; mapped, format!(".take_while(|&{y}| {odd}).collect::<Vec<{number}>>().into_iter().fold("), other, format!(", |a, b| {mix})"))
            }
        })
    }

    /// A closure of a local, called twice, with a call in it.
    pub(super) fn kept_closure(&mut self, ty: &Ty) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 || !ty.is_number() {
            return None;
        }
        let (g, c) = (self.fresh("g"), self.fresh("c"));
        let vars = self.vars.len();
        self.declare(&c, ty, false);
        let body = self.flat_call(ty, 2);
        self.vars.truncate(vars);
        let body = body?;
        let (first, second) = (self.literal(ty), self.literal(ty));
        let number = self.defs.name(ty);
        let op = if ty.is_float() { "-" } else { "^" };
        Some(
            expr!(ty; format!("{{ let mut {g} = |{c}: {number}| "), body, format!("; {g}("), first, format!(") {op} {g}("), second, ") }"),
        )
    }

    /// A closure that captures, used across a loop.
    pub(super) fn crossing_closure(&mut self, ty: &Ty) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 || !ty.is_number() {
            return None;
        }
        let (g, c, k) = (self.fresh("g"), self.fresh("c"), self.fresh("k"));
        let vars = self.vars.len();
        self.declare(&c, ty, false);
        let body = self.purely(|g| g.expr(ty, 2));
        self.vars.truncate(vars);
        let number = self.defs.name(ty);
        let start = self.literal(ty);
        Some(
            expr!(ty; format!("{{ let {g} = |{c}: {number}| "), body, format!("; let mut {c}: {number} = "), start,
            format!("; let mut {k} = 0; while {k} < 3 {{ {c} = {g}({c}); {k} += 1; }} {g}({c}) }}")),
        )
    }

    /// A `match` on a number with a call in a guard.
    pub(super) fn guarded_call(&mut self, ty: &Ty) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 || ty.is_owned() {
            return None;
        }
        let of = self.int_type();
        let (value, literal, c) = (self.leaf(&of), self.literal(&of), self.fresh("c"));
        let vars = self.vars.len();
        self.declare(&c, &of, false);
        let guard = self.flat_call(&of, 1);
        let Some(guard) = guard else {
            self.vars.truncate(vars);
            return None;
        };
        let first = self.leaf(ty);
        self.vars.truncate(vars);
        let (second, third) = (self.leaf(ty), self.leaf(ty));
        let number = self.defs.name(&of);
        Some(
            expr!(ty; "(match (", value, format!(" as {number}) {{ {c} if {{ let by: {number} = "), guard, "; by & 1 == 0 } => ", first,
            ", ", literal, " => ", second, ", _ => ", third, " })"),
        )
    }

    /// A loop over a local list, with a call for each.
    pub(super) fn over_a_list(&mut self) -> Option<Node> {
        let of = self.number_type();
        if self.pure > 0 || self.flat > 0 {
            return None;
        }
        let (list, x, sum) = (self.fresh("list"), self.fresh("r"), self.fresh("v"));
        let (a, b, start) = (self.leaf(&of), self.leaf(&of), self.literal(&of));
        let vars = self.vars.len();
        self.vars.push(self.var(&x, &of, Via::Ref, false, true));
        let call = self.flat_call(&of, 2);
        self.vars.truncate(vars);
        let call = call?;
        let number = self.defs.name(&of);
        let source = self.pick(&["&{}", "{}.iter()", "{}.iter().rev()", "{}.iter().filter(|x| **x == **x)"]);
        let source = source.replace("{}", &list);
        let op = if of.is_float() { "+" } else { "^" };
        self.declare(&sum, &of, true);
        Some(stmt!(
            format!("let {list}: Vec<{number}> = vec!["),
            a,
            ", ",
            b,
            format!("]; let mut {sum}: {number} = "),
            start,
            format!("; for {x} in {source} {{ {sum} = {sum} {op} "),
            call,
            format!("; if {list}.is_empty() {{ {sum} = *{x}; }} }}")
        ))
    }

    /// A `let` that hides a variable, or does not because it is not there.
    pub(super) fn conditional_let(&mut self) -> Option<Node> {
        let fits: Vec<Var> = self
            .visible()
            .filter(|var| {
                var.via == Via::Value && !var.locked && !var.ty.is_owned() && var.name.starts_with(['a', 'v'])
            })
            .filter(|var| !matches!(var.ty, Ty::Closure(..) | Ty::Ref(_)))
            .cloned()
            .collect();
        if fits.is_empty() {
            return None;
        }
        let Var { name, ty, assign, .. } = self.pick(&fits);
        if self.chance(50) {
            return Some(stmt!(format!("#[cfg(target_os = \"none\")] let {name} = \"not there\";")));
        }
        let mutability = if assign { "mut " } else { "" };
        let of = self.defs.name(&ty);
        let value = self.expr(&ty, 2);
        self.declare(&name, &ty, assign);
        Some(stmt!(format!("#[cfg(not(target_os = \"none\"))] let {mutability}{name}: {of} = "), value, ";"))
    }

    /// A local that can be lent as such a parameter, as it is written.
    pub(super) fn lendable(&mut self, ty: &Ty, exclusive: bool) -> Option<String> {
        if self.flat > 0 || self.pure > 0 {
            return None;
        }
        let fits: Vec<String> = self
            .visible()
            .filter(|var| var.via == Via::Value && !var.locked && (var.assign || !exclusive))
            .filter_map(|var| match (&var.ty, ty) {
                (own, wanted) if own == wanted => Some(var.name.clone()),
                (Ty::Vec(own) | Ty::Array(own, _), Ty::Slice(of)) if own == of => Some(var.name.clone()),
                _ => None,
            })
            .filter(|name| name != "self")
            .collect();
        if fits.is_empty() { None } else { Some(self.pick(&fits)) }
    }

    /// What is made for a call, and lent to it.
    pub(super) fn made(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        if self.flat > 0 || self.pure > 0 || *ty == Ty::Tree {
            return None;
        }
        if !matches!(ty, Ty::Slice(_)) {
            let value = self.compose(ty, &mut |g, part| g.expr(part, depth - 1));
            return Some(fixed!("&", value, self.pick(&["", ".clone()"])));
        }
        let names = self.all_handed_on(ty, Via::Ref);
        let name = if names.is_empty() { return None } else { self.pick(&names) };
        let made = [
            format!("&{name}.to_vec()"),
            format!("&{name}.to_vec()[..]"),
            format!("{name}.to_vec().as_slice()"),
            format!("&{name}.iter().rev().copied().collect::<std::vec::Vec<_>>()"),
            format!("&{name}.split_at({name}.len() / 2).1.to_vec()"),
            format!("&[{name}, {name}].concat()"),
            format!("{name}.split_at({name}.len() / 2).0"),
        ];
        Some(fixed!(self.pick(&made)))
    }
}
