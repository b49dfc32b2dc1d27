//! Expressions of a given type.

use super::{Gen, Loop, Via};
use crate::tree::{Node, expr, fixed, stmt};
use crate::types::Ty;

impl Gen {
    /// Places of a type that can be read without more: variables and their fields.
    pub(super) fn reads(&self, ty: &Ty) -> Vec<String> {
        let mut found = Vec::new();
        for var in self.visible() {
            if matches!(var.ty, Ty::Slice(_) | Ty::States | Ty::Tree | Ty::Closure(..)) {
                continue;
            }
            // Reading would move it.
            if matches!(&var.ty, Ty::Array(of, _) | Ty::Option(of) if of.is_owned()) {
                continue;
            }
            let whole = if var.via == Via::Value { var.name.clone() } else { format!("(*{})", var.name) };
            if var.ty == *ty {
                found.push(whole.clone());
            }
            if let Ty::Box(of) = &var.ty
                && **of == *ty
            {
                found.push(format!("(*{whole})"));
            }
            self.fields(&var.name, &var.ty, ty, 2, &mut found);
        }
        found
    }

    fn fields(&self, base: &str, of: &Ty, ty: &Ty, depth: u32, found: &mut Vec<String>) {
        if depth == 0 {
            return;
        }
        let parts: Vec<(String, &Ty)> = match of {
            Ty::Tuple(parts) => parts.iter().enumerate().map(|(i, ty)| (format!("{base}.{i}"), ty)).collect(),
            Ty::Struct(index) => self.defs.structs[*index]
                .fields
                .iter()
                .enumerate()
                .map(|(i, ty)| (format!("{base}.f{i}"), ty))
                .collect(),
            _ => return,
        };
        for (path, part) in parts {
            if part == ty {
                found.push(path.clone());
            }
            self.fields(&path, part, ty, depth - 1, found);
        }
    }

    /// A variable, a field, or a literal.
    pub(super) fn leaf(&mut self, ty: &Ty) -> Node {
        if ty.is_owned() {
            return self.owned_leaf(ty);
        }
        let reads = self.reads(ty);
        if !reads.is_empty() && self.chance(80) {
            let place = self.pick(&reads);
            return expr!(ty; place);
        }
        self.literal(ty)
    }

    /// An expression of the type.
    pub(super) fn expr(&mut self, ty: &Ty, depth: u32) -> Node {
        if depth == 0 || !self.spend() {
            return self.leaf(ty);
        }
        let control = if self.swarm.control_in_expr && self.pure == 0 { 1 } else { 0 };
        let effects = if self.swarm.effects_in_expr { control } else { 0 };
        let composite = matches!(
            ty,
            Ty::Tuple(_) | Ty::Array(..) | Ty::Struct(_) | Ty::Enum(_) | Ty::Option(_) | Ty::Result(_)
        );
        let calls = if self.may_call(ty) { 14 } else { 0 };
        let weights = [
            if ty.is_owned() { 6 } else { 12 },                        // 0 leaf
            if composite { 14 } else { 0 },                            // 1 compose
            if ty.is_number() { 24 } else { 0 },                       // 2 arithmetic
            if *ty == Ty::Bool { 24 } else { 0 },                      // 3 comparison
            calls,                                                     // 4 call
            4 + 2 * control,                                           // 5 if
            if self.swarm.matches { 4 + control } else { 0 },          // 6 match
            2 * effects,                                               // 7 block
            if self.swarm.labels { 2 * effects } else { 0 },           // 8 labelled block
            if self.swarm.loops { 2 * effects } else { 0 },            // 9 loop with a value
            if self.swarm.arrays { 4 } else { 0 },                     // 10 index
            if self.may_try() { 4 } else { 0 },                        // 11 ?
            if self.swarm.closures { 4 } else { 0 },                   // 12 adaptors
            if self.swarm.owned || self.swarm.states { 6 } else { 0 }, // 13 parts of owned values
            if self.swarm.closures { 5 } else { 0 },                   // 14 local closures
            if self.swarm.language { calls } else { 0 },               // 15 calls in adaptors
            if self.swarm.language && !self.swarm.plain { calls / 2 } else { 0 }, // 16 in kept closures
            if self.swarm.language && !self.swarm.plain { 4 } else { 0 }, // 17 closures across loops
            if self.swarm.language { calls / 2 } else { 0 },           // 18 guards
            if ty.is_number() { calls / 2 } else { 0 },                // 19 sums of calls
            if self.defs.tree.is_some() { 8 } else { 0 },              // 20 walks of trees
            if self.swarm.language { calls } else { 0 },               // 21 calls in chains
            if self.swarm.states { calls } else { 0 },                 // 22 what is kept for calls
            if self.swarm.states && self.swarm.matches { 4 } else { 0 }, // 23 slice patterns
            if self.swarm.states { 6 } else { 0 },                     // 24 parts of states
            if self.swarm.macros { 4 } else { 0 },                     // 25 macros
            if self.swarm.states { 2 * calls } else { 0 },             // 26 what is kept while a call runs
        ];
        let made = match self.weighted(&weights) {
            1 => Some(self.compose(ty, &mut |g, part| g.expr(part, depth - 1))),
            2 => Some(self.arithmetic(ty, depth)),
            3 => Some(self.comparison(depth)),
            4 => self.call_of(ty, depth),
            5 => Some(self.if_expr(ty, depth)),
            6 => Some(self.match_expr(ty, depth)),
            7 => Some(self.block(ty, depth - 1, 2)),
            8 => Some(self.labelled(ty, depth)),
            9 => self.loop_expr(ty, depth),
            10 => self.index(ty, depth),
            11 => self.question(ty, depth),
            12 => self.adaptor(ty, depth),
            13 if ty.is_owned() => Some(self.owned(ty, depth)),
            13 => self.of_owned(ty, depth),
            14 => self.closure_call(ty, depth),
            15 => self.adapted_call(ty),
            16 => self.kept_closure(ty),
            17 => self.crossing_closure(ty),
            18 => self.guarded_call(ty),
            19 => self.sum_of_calls(ty, depth),
            20 => self.tree_call(ty),
            21 => self.chained_calls(ty),
            22 => self.kept_expr(ty, depth),
            23 => self.some_slice_patterns(ty, depth),
            24 => self.of_state(ty),
            25 => self.by_macro(ty, depth),
            26 => self.asked_by_a_call(ty),
            _ => None,
        };
        made.unwrap_or_else(|| self.leaf(ty))
    }

    /// `{ statements; value }`, as an expression in braces.
    pub(super) fn block(&mut self, ty: &Ty, depth: u32, most: usize) -> Node {
        self.scoped(|g| {
            let count = if g.pure > 0 { 0 } else { g.below(most + 1) };
            let mut stmts = g.stmts(count, depth);
            let value = g.expr(ty, depth);
            stmts.push(fixed!(value));
            expr!(ty; "{", stmts, "}")
        })
    }

    fn if_expr(&mut self, ty: &Ty, depth: u32) -> Node {
        let (condition, then) = self.scoped(|g| (g.condition(depth - 1), g.block(ty, depth - 1, 2)));
        let otherwise = self.block(ty, depth - 1, 2);
        expr!(ty; "(if ", condition, " ", then, " else ", otherwise, ")")
    }

    fn labelled(&mut self, ty: &Ty, depth: u32) -> Node {
        let label = self.fresh("'b");
        self.loops.push(Loop { label: Some(label.clone()), value: Some(ty.clone()), repeats: false });
        let block = self.scoped(|g| {
            let count = g.below(2);
            let mut stmts = g.stmts(count, depth - 1);
            let condition = g.expr(&Ty::Bool, depth - 1);
            let value = g.expr(ty, depth - 1);
            stmts.push(stmt!("if ", condition, format!(" {{ break {label} "), value, "; }"));
            let count = g.below(2);
            stmts.extend(g.stmts(count, depth - 1));
            let value = g.expr(ty, depth - 1);
            stmts.push(fixed!(value));
            expr!(ty; "{", stmts, "}")
        });
        self.loops.pop();
        let mut node = block;
        node.parts.insert(0, format!("({label}: ").into());
        node.parts.push(")".into());
        node
    }

    /// An element of an array or slice.
    fn index(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        if ty.is_owned() {
            return None;
        }
        let of: Vec<(String, Option<usize>)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Array(of, len) if **of == *ty => Some((var.name.clone(), Some(*len))),
                Ty::Slice(of) if **of == *ty => Some((var.name.clone(), None)),
                _ => None,
            })
            .collect();
        if of.is_empty() {
            return None;
        }
        let (name, len) = self.pick(&of);
        let index = self.expr(&Ty::Usize, depth - 1);
        Some(match (len, self.below(10)) {
            (None, 0..=3) if !self.swarm.plain => {
                let other = self.literal(ty);
                expr!(ty; format!("{name}.get("), index, ").copied().unwrap_or(", other, ")")
            }
            (Some(len), 0..=8) => expr!(ty; format!("{name}["), index, format!(" % {len}]")),
            (None, 0..=8) => {
                let other = self.expr(ty, depth - 1);
                expr!(ty; format!("(if {name}.is_empty() {{ "), other, format!(" }} else {{ {name}["), index, format!(" % {name}.len()] }})"))
            }
            _ => expr!(ty; format!("{name}["), index, "]"),
        })
    }

    fn may_try(&self) -> bool {
        self.pure == 0 && self.swarm.exits && matches!(self.function().ret, Ty::Option(_) | Ty::Result(_))
    }

    fn question(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        let from = match self.function().ret {
            Ty::Option(_) => Ty::Option(Box::new(ty.clone())),
            Ty::Result(_) => Ty::Result(Box::new(ty.clone())),
            _ => return None,
        };
        let value = self.expr(&from, depth - 1);
        Some(expr!(ty; "(", value, ")?"))
    }

    /// Methods that take closures, or iterate.
    fn adaptor(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        let depth = depth.min(2);
        match ty {
            Ty::Option(of) => {
                let from = self.some_type();
                let value = self.expr(&Ty::Option(Box::new(from.clone())), depth - 1);
                let name = self.fresh("c");
                let body = self.closure(&name, &from, of, depth);
                Some(match self.below(3) {
                    0 if from == **of => {
                        let test = self.closure(&name, &from, &Ty::Bool, depth);
                        expr!(ty; "(", value, format!(").filter(|&{name}| "), test, ")")
                    }
                    1 => {
                        let test = self.expr(&Ty::Bool, depth - 1);
                        let value = self.purely(|g| g.expr(of, 1));
                        expr!(ty; "(", test, ").then(|| ", value, ")")
                    }
                    _ => expr!(ty; "(", value, format!(").map(|{name}| "), body, ")"),
                })
            }
            Ty::Result(of) => {
                let value = self.expr(&Ty::Option(of.clone()), depth - 1);
                let error = self.expr(&Ty::U32, depth - 1);
                Some(expr!(ty; "(", value, ").ok_or(", error, ")"))
            }
            Ty::Bool => {
                let (name, of) = self.some_slice()?;
                let x = self.fresh("c");
                let test = self.closure(&x, &of, &Ty::Bool, depth);
                let method = self.pick(&["any", "all"]);
                Some(expr!(ty; format!("{name}.iter().{method}(|&{x}| "), test, ")"))
            }
            ty if ty.is_number() && self.chance(50) => {
                let from = Ty::Option(Box::new(ty.clone()));
                let value = self.expr(&from, depth - 1);
                let other = self.expr(ty, depth - 1);
                Some(expr!(ty; "(", value, ").unwrap_or(", other, ")"))
            }
            ty if ty.is_number() => {
                let (name, of) = self.some_slice()?;
                let (sum, x) = (self.fresh("c"), self.fresh("c"));
                let start = self.expr(ty, depth - 1);
                let body = self.scoped(|g| {
                    g.declare(&sum, ty, false);
                    g.declare(&x, &of, false);
                    g.purely(|g| g.expr(ty, depth))
                });
                Some(expr!(ty; format!("{name}.iter().fold("), start, format!(", |{sum}, &{x}| "), body, ")"))
            }
            _ => None,
        }
    }

    /// A call of a local closure.
    fn closure_call(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        let closures: Vec<(String, Ty)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Closure(from, to) if **to == *ty => Some((var.name.clone(), (**from).clone())),
                _ => None,
            })
            .collect();
        if closures.is_empty() {
            return None;
        }
        let (name, from) = self.pick(&closures);
        let argument = self.expr(&from, depth - 1);
        Some(expr!(ty; format!("{name}("), argument, ")"))
    }

    /// A local closure that captures nothing.
    pub(super) fn local_closure(&mut self) -> Node {
        let (from, to) = (self.some_type(), self.some_type());
        let (name, parameter) = (self.fresh("g"), self.fresh("c"));
        let vars = std::mem::take(&mut self.vars);
        self.declare(&parameter, &from, false);
        let body = self.purely(|g| g.expr(&to, 3));
        self.vars = vars;
        let of = self.defs.name(&from);
        let var = self.var(&name, &Ty::Closure(Box::new(from), Box::new(to)), Via::Value, false, true);
        self.vars.push(var);
        stmt!(format!("let {name} = |{parameter}: {of}| "), body, ";")
    }

    fn closure(&mut self, name: &str, from: &Ty, to: &Ty, depth: u32) -> Node {
        self.scoped(|g| {
            g.declare(name, from, false);
            g.purely(|g| g.expr(to, depth))
        })
    }

    /// A slice parameter and the type of its elements.
    pub(super) fn some_slice(&mut self) -> Option<(String, Ty)> {
        let all: Vec<(String, Ty)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Slice(of) => Some((var.name.clone(), (**of).clone())),
                _ => None,
            })
            .collect();
        (!all.is_empty()).then(|| self.pick(&all))
    }
}
