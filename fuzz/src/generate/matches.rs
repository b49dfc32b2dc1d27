//! Patterns, `match`, conditions with `let`.

use super::Gen;
use crate::tree::{Node, expr, fixed};
use crate::types::Ty;

impl Gen {
    /// A pattern; its variables are declared.
    pub(super) fn pattern(&mut self, ty: &Ty, depth: u32, refutable: bool) -> String {
        if depth == 0 || self.chance(20) {
            return self.binding(ty);
        }
        match ty {
            ty if ty.is_int() && refutable => self.int_pattern(ty),
            Ty::Bool if refutable => self.pick(&["true", "false"]).into(),
            Ty::Tuple(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| self.pattern(part, depth - 1, refutable)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Array(of, len) => {
                let rest = *len > 2 && self.chance(40);
                let count = if rest { 1 + self.below(*len - 1) } else { *len };
                let mut parts: Vec<String> =
                    (0..count).map(|_| self.pattern(of, depth - 1, refutable)).collect();
                if rest {
                    let at = self.below(count + 1);
                    parts.insert(at, "..".into());
                }
                format!("[{}]", parts.join(", "))
            }
            Ty::Struct(index) => {
                let fields = self.defs.structs[*index].fields.clone();
                let mut parts = Vec::new();
                let mut all = true;
                for (i, field) in fields.iter().enumerate() {
                    if self.chance(30) {
                        all = false;
                        continue;
                    }
                    parts.push(format!("f{i}: {}", self.pattern(field, depth - 1, refutable)));
                }
                if !all {
                    parts.push("..".into());
                }
                format!("S{index} {{ {} }}", parts.join(", "))
            }
            Ty::Enum(index) if refutable => {
                let variants = self.defs.enums[*index].variants.clone();
                let at = self.below(variants.len());
                self.variant_pattern(*index, at, depth, true)
            }
            Ty::Option(of) if refutable => match self.chance(25) {
                true => "None".into(),
                false => format!("Some({})", self.pattern(of, depth - 1, true)),
            },
            Ty::Result(of) if refutable => match self.chance(25) {
                true => format!("Err({})", self.pattern(&Ty::U32, depth - 1, true)),
                false => format!("Ok({})", self.pattern(of, depth - 1, true)),
            },
            ty => self.binding(ty),
        }
    }

    fn binding(&mut self, ty: &Ty) -> String {
        if self.chance(25) {
            return "_".into();
        }
        let (name, mutable) = (self.fresh("v"), self.chance(25));
        self.declare(&name, ty, mutable);
        if mutable { format!("mut {name}") } else { name }
    }

    fn int_pattern(&mut self, ty: &Ty) -> String {
        let low = self.below(6);
        let high = low + self.below(5);
        let plain = match self.below(5) {
            0 => format!("{low}..={high}"),
            1 => format!("({low} | {})", high + 1),
            2 => format!("({low}..)"),
            3 if ty.is_signed() => format!("(..{low})"),
            _ => low.to_string(),
        };
        if self.chance(30) {
            let name = self.fresh("v");
            self.declare(&name, ty, false);
            return format!("{name} @ ({plain})");
        }
        plain
    }

    fn variant_pattern(&mut self, index: usize, variant: usize, depth: u32, refutable: bool) -> String {
        let (data, named) = self.defs.enums[index].variants[variant].clone();
        if named && self.chance(30) {
            return format!("E{index}::V{variant} {{ .. }}");
        }
        let parts: Vec<String> =
            data.iter().map(|part| self.pattern(part, depth.saturating_sub(1), refutable)).collect();
        self.defs.variant(index, variant, &parts, named)
    }

    /// A type to match on.
    fn matched_type(&mut self) -> Ty {
        match self.below(6) {
            0 if !self.swarm.plain => Ty::Option(Box::new(self.number_type())),
            1 | 2 => self.int_type(),
            _ => match self.some_type() {
                Ty::Unit => Ty::Bool,
                ty if ty.is_float() => Ty::Tuple(vec![self.int_type(), Ty::Bool]),
                ty => ty,
            },
        }
    }

    /// `match` on a slice: its first and last element, and what is left.
    fn match_slice(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        let (name, of) = self.some_slice()?;
        let mut node = expr!(ty; format!("match {name} {{ "));
        if self.chance(50) {
            self.arm(&mut node, ty, depth, false, |_| "[]".into());
        }
        let shape = self.below(4);
        self.arm(&mut node, ty, depth, true, |g| {
            let (first, last, rest) = (g.fresh("r"), g.fresh("r"), g.fresh("s"));
            let slice = Ty::Slice(Box::new(of.clone()));
            let pattern = match shape {
                0 => format!("[{first}, {rest} @ ..]"),
                1 => format!("[{rest} @ .., {first}]"),
                2 => format!("[{first}, .., {last}]"),
                _ => format!("[_, {first}, {rest} @ ..]"),
            };
            g.declare_ref(&first, &of);
            match shape {
                2 => g.declare_ref(&last, &of),
                _ => g.declare_ref(&rest, &slice),
            }
            pattern
        });
        self.arm(&mut node, ty, depth, false, |_| "_".into());
        node.parts.push("}".into());
        Some(node)
    }

    /// `match` with arms of the type.
    pub(super) fn match_expr(&mut self, ty: &Ty, depth: u32) -> Node {
        if self.chance(30)
            && !self.swarm.plain
            && let Some(node) = self.match_slice(ty, depth)
        {
            return node;
        }
        let of = self.matched_type();
        let scrutinee = self.expr(&of, depth - 1);
        let mut node = expr!(ty; "match (", scrutinee, ") { ");
        let exhaustive = match &of {
            Ty::Enum(index) if self.chance(60) => {
                let variants = self.defs.enums[*index].variants.len();
                for variant in 0..variants {
                    let index = *index;
                    self.arm(&mut node, ty, depth, false, |g| g.variant_pattern(index, variant, 2, false));
                }
                true
            }
            Ty::Bool => {
                self.arm(&mut node, ty, depth, false, |_| "true".into());
                self.arm(&mut node, ty, depth, false, |_| "false".into());
                true
            }
            _ => false,
        };
        if !exhaustive {
            for _ in 0..1 + self.below(3) {
                let of = of.clone();
                self.arm(&mut node, ty, depth, true, |g| g.pattern(&of, 2, true));
            }
            self.arm(&mut node, ty, depth, false, |g| g.binding(&of));
        }
        node.parts.push("}".into());
        node
    }

    fn arm(
        &mut self,
        to: &mut Node,
        ty: &Ty,
        depth: u32,
        guarded: bool,
        pattern: impl FnOnce(&mut Gen) -> String,
    ) {
        self.scoped(|g| {
            let pattern = pattern(g);
            to.parts.push(pattern.into());
            if guarded && g.chance(35) {
                let guard = g.purely(|g| g.expr(&Ty::Bool, 2));
                to.parts.push(" if ".into());
                to.parts.push(guard.into());
            }
            to.parts.push(" => ".into());
            let body = match g.chance(40) {
                true => g.block(ty, depth - 1, 2),
                false => g.expr(ty, depth - 1),
            };
            to.parts.push(body.into());
            to.parts.push(", ".into());
        });
    }

    /// What an `if` or `while` tests; what it binds is declared.
    pub(super) fn condition(&mut self, depth: u32) -> Node {
        if !self.swarm.matches || !self.chance(30) {
            return self.expr(&Ty::Bool, depth);
        }
        let mut node = fixed!();
        let tests = 1 + self.below(3);
        let must = self.below(tests);
        for i in 0..tests {
            if i > 0 {
                node.parts.push(" && ".into());
            }
            if i == must || self.chance(30) {
                let of = self.matched_type();
                let value = self.expr(&of, depth);
                let pattern = self.pattern(&of, 2, true);
                node.parts.extend([format!("let {pattern} = (").into(), value.into(), ")".into()]);
            } else {
                let test = self.expr(&Ty::Bool, depth);
                node.parts.extend(["(".into(), test.into(), ")".into()]);
            }
        }
        node
    }
}
