//! Literals, arithmetic, comparisons.

use super::Gen;
use crate::tree::{Node, expr};
use crate::types::Ty;

impl Gen {
    /// A literal of a number type.
    fn number(&mut self, ty: &Ty) -> Node {
        let name = self.defs.name(ty);
        if ty.is_float() {
            let value = self.pick(&["0.0", "1.0", "0.5", "2.0", "3.25", "0.1", "1e3", "7.0", "1e-3"]);
            let text = format!("{value}{name}");
            return match self.chance(20) {
                true => expr!(ty; format!("(-{text})")),
                false => expr!(ty; text),
            };
        }
        let value = match self.below(20) {
            0 => return expr!(ty; format!("{name}::MAX")),
            1 => return expr!(ty; format!("{name}::MIN")),
            2 => self.pick(&[100u32, 255, 1000, 65_535, 1_000_003]),
            _ => self.below(10) as u32,
        };
        match ty.is_signed() && self.chance(20) {
            true => expr!(ty; format!("(-{value}{name})")),
            false => expr!(ty; format!("{value}{name}")),
        }
    }

    /// A literal, or a composite of literals.
    pub(super) fn literal(&mut self, ty: &Ty) -> Node {
        match ty {
            Ty::Unit => expr!(ty; "()"),
            Ty::Bool => expr!(ty; if self.chance(50) { "true" } else { "false" }),
            ty if ty.is_number() => self.number(ty),
            ty if ty.is_owned() => self.owned_leaf(ty),
            ty => self.compose(ty, &mut |g, part| g.literal(part)),
        }
    }

    /// A composite value, its parts made by `make`.
    pub(super) fn compose(&mut self, ty: &Ty, make: &mut dyn FnMut(&mut Gen, &Ty) -> Node) -> Node {
        let mut node = expr!(ty;);
        let push = |node: &mut Node, text: &str| node.parts.push(text.into());
        match ty {
            Ty::Tuple(parts) => {
                push(&mut node, "(");
                for part in parts {
                    let value = make(self, part);
                    node.parts.push(value.into());
                    push(&mut node, ", ");
                }
                push(&mut node, ")");
            }
            Ty::Array(of, len) => {
                push(&mut node, "[");
                if !of.is_owned() && self.chance(20) {
                    let value = make(self, of);
                    node.parts.push(value.into());
                    push(&mut node, &format!("; {len}"));
                } else {
                    for _ in 0..*len {
                        let value = make(self, of);
                        node.parts.push(value.into());
                        push(&mut node, ", ");
                    }
                }
                push(&mut node, "]");
            }
            Ty::Struct(index) => {
                let fields = self.defs.structs[*index].fields.clone();
                let reads = self.reads(ty);
                if !reads.is_empty() && self.chance(25) {
                    let (i, base) = (self.below(fields.len()), self.pick(&reads));
                    let value = make(self, &fields[i]);
                    return expr!(ty; format!("S{index} {{ f{i}: "), value, format!(", ..{base} }}"));
                }
                let order = if self.chance(30) { fields.len() - 1 } else { 0 };
                push(&mut node, &format!("S{index} {{ "));
                for i in 0..fields.len() {
                    let i = (i + order) % fields.len();
                    push(&mut node, &format!("f{i}: "));
                    let value = make(self, &fields[i]);
                    node.parts.push(value.into());
                    push(&mut node, ", ");
                }
                push(&mut node, "}");
            }
            Ty::Enum(index) => {
                let variants = self.defs.enums[*index].variants.clone();
                let at = self.below(variants.len());
                let (data, named) = &variants[at];
                push(&mut node, &format!("E{index}::V{at}"));
                if data.is_empty() {
                    return node;
                }
                push(&mut node, if *named { " { " } else { "(" });
                for (i, part) in data.iter().enumerate() {
                    if *named {
                        push(&mut node, &format!("f{i}: "));
                    }
                    let value = make(self, part);
                    node.parts.push(value.into());
                    push(&mut node, ", ");
                }
                push(&mut node, if *named { "}" } else { ")" });
            }
            Ty::Option(of) => {
                if self.chance(30) {
                    return expr!(ty; format!("None::<{}>", self.defs.name(of)));
                }
                let value = make(self, of);
                return expr!(ty; "Some(", value, ")");
            }
            Ty::Result(of) => {
                let ok = self.defs.name(of);
                if self.chance(30) {
                    let value = make(self, &Ty::U32);
                    return expr!(ty; format!("Err::<{ok}, u32>("), value, ")");
                }
                let value = make(self, of);
                return expr!(ty; format!("Ok::<{ok}, u32>("), value, ")");
            }
            other => unreachable!("{other:?} is not composed"),
        }
        node
    }

    /// Arithmetic of a number type.
    pub(super) fn arithmetic(&mut self, ty: &Ty, depth: u32) -> Node {
        if ty.is_float() {
            return self.float_arithmetic(ty, depth);
        }
        if self.chance(20) {
            return self.unary(ty, depth);
        }
        let a = self.expr(ty, depth - 1);
        if self.chance(8) {
            let other = self.expr(&Ty::U32, depth - 1);
            let method = self.pick(&["wrapping_shl", "wrapping_shr", "rotate_left", "wrapping_pow"]);
            let limit = if method == "wrapping_pow" { " % 5" } else { "" };
            return expr!(ty; "(", a, format!(").{method}("), other, limit, ")");
        }
        let b = self.expr(ty, depth - 1);
        let checked = self.swarm.checked && self.chance(40);
        match self.below(14) {
            0..=5 if checked => {
                let op = self.pick(&["+", "-", "*"]);
                expr!(ty; "(", a, format!(" {op} "), b, ")")
            }
            6 | 7 if checked => {
                let op = self.pick(&["/", "%"]);
                expr!(ty; "(", a, format!(" {op} "), b, ")")
            }
            0..=5 => {
                let method = self.pick(&[
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "saturating_add",
                    "min",
                    "max",
                ]);
                expr!(ty; "(", a, format!(").{method}("), b, ")")
            }
            6 | 7 => self.division(ty, a, b),
            8..=10 => {
                let op = self.pick(&["&", "|", "^"]);
                expr!(ty; "(", a, format!(" {op} "), b, ")")
            }
            11 => {
                let op = self.pick(&["<<", ">>"]);
                expr!(ty; "(", a, format!(" {op} ("), b, " & 7))")
            }
            12 if !self.swarm.plain => {
                let method = self.pick(&["checked_add", "checked_sub", "checked_mul", "checked_div"]);
                let other = self.literal(ty);
                expr!(ty; "(", a, format!(").{method}("), b, ").unwrap_or(", other, ")")
            }
            _ if self.swarm.plain => expr!(ty; "(", a, ").max(", b, ")"),
            _ if ty.is_signed() => expr!(ty; "(", a, ").wrapping_rem_euclid((", b, ") | 1)"),
            _ => expr!(ty; "(", a, ").abs_diff(", b, ")"),
        }
    }

    /// A division that does not fail, by a constant or not.
    fn division(&mut self, ty: &Ty, a: Node, b: Node) -> Node {
        let op = self.pick(&["/", "%"]);
        match self.below(5) {
            0 => expr!(ty; "(", a, ").wrapping_div((", b, ") | 1)"),
            1 => expr!(ty; "(", a, ").wrapping_rem((", b, ") | 1)"),
            2 => {
                let by = self.pick(&["2", "3", "7", "10", "60", "100", "641", "1_000_003", "1_000_000_007"]);
                let method =
                    if self.chance(20) { format!(".rem_euclid({by})") } else { format!(" {op} {by}") };
                expr!(ty; "((", a, format!("){method})"))
            }
            3 if !ty.is_signed() => expr!(ty; "((", a, format!(") {op} (("), b, ") | 1))"),
            _ => expr!(ty; "((", a, format!(") {op} (("), b, ") & 1023 | 2))"),
        }
    }

    fn unary(&mut self, ty: &Ty, depth: u32) -> Node {
        match self.below(4) {
            0 if ty.is_signed() => {
                let a = self.expr(ty, depth - 1);
                let form = if self.swarm.checked { ("(-", ")") } else { ("(", ").wrapping_neg()") };
                expr!(ty; form.0, a, form.1)
            }
            0 | 1 => {
                let a = self.expr(ty, depth - 1);
                expr!(ty; "(!", a, ")")
            }
            _ => self.cast(ty, depth),
        }
    }

    /// `e as T`.
    pub(super) fn cast(&mut self, ty: &Ty, depth: u32) -> Node {
        let name = self.defs.name(ty);
        if ty.is_int() && self.chance(15) {
            let from = Ty::Bool;
            let a = self.expr(&from, depth - 1);
            return expr!(ty; "(", a, format!(" as {name})"));
        }
        let mut from = self.number_type();
        if from == *ty {
            from = self.pick(&crate::types::INTS);
        }
        let a = self.expr(&from, depth - 1);
        expr!(ty; "((", a, format!(") as {name})"))
    }

    fn float_arithmetic(&mut self, ty: &Ty, depth: u32) -> Node {
        if self.chance(15) {
            return self.cast(ty, depth);
        }
        let a = self.expr(ty, depth - 1);
        match self.below(14) {
            13 => {
                let by = self.pick(&["1.0", "3.0", "0.7", "-6.5", "1e3"]);
                match self.chance(50) {
                    true => expr!(ty; "(", a, format!(").rem_euclid({by})")),
                    false => expr!(ty; "((", a, format!(") % {by})")),
                }
            }
            12 => {
                let by = self.pick(&["2.0", "3.0", "6.0", "-0.7", "1e5", "1e-300"]);
                expr!(ty; "(", a, format!(" / {by})"))
            }
            0 => expr!(ty; "(-", a, ")"),
            1 => {
                let method = self.pick(&["abs", "sqrt", "floor", "trunc", "recip"]);
                expr!(ty; "(", a, format!(").{method}()"))
            }
            2 => {
                let (b, c) = (self.expr(ty, depth - 1), self.literal(ty));
                expr!(ty; "(", a, ").mul_add(", b, ", ", c, ")")
            }
            n => {
                let op = ["+", "-", "*", "+", "-", "*", "/", "%", "*"][n - 3];
                let b = self.expr(ty, depth - 1);
                expr!(ty; "(", a, format!(" {op} "), b, ")")
            }
        }
    }

    /// A `bool` made of other values.
    pub(super) fn comparison(&mut self, depth: u32) -> Node {
        let ty = &Ty::Bool;
        match self.below(12) {
            0 => {
                let a = self.expr(ty, depth - 1);
                expr!(ty; "(!", a, ")")
            }
            1..=3 => {
                let op = self.pick(&["&&", "||", "&&", "||", "^", "&", "|"]);
                let a = self.expr(ty, depth - 1);
                let b = self.expr(ty, depth - 1);
                expr!(ty; "(", a, format!(" {op} "), b, ")")
            }
            4 => {
                let of = self.some_type();
                if matches!(of, Ty::Option(_)) {
                    let a = self.expr(&of, depth - 1);
                    let method = self.pick(&["is_some", "is_none"]);
                    return expr!(ty; "(", a, format!(").{method}()"));
                }
                let a = self.expr(&of, depth - 1);
                let b = self.expr(&of, depth - 1);
                let op = self.pick(&["==", "!="]);
                expr!(ty; "(", a, format!(" {op} "), b, ")")
            }
            5 if self.swarm.matches && !self.swarm.plain => {
                let of = self.some_type();
                let a = self.purely(|g| g.expr(&of, depth - 1));
                let pattern = self.scoped(|g| g.pattern(&of, 2, true));
                expr!(ty; "matches!(", a, format!(", {pattern})"))
            }
            _ => {
                let of = self.number_type();
                let a = self.expr(&of, depth - 1);
                let b = if self.chance(40) { self.literal(&of) } else { self.expr(&of, depth - 1) };
                let op = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                expr!(ty; "(", a, format!(" {op} "), b, ")")
            }
        }
    }
}
