//! Statements.

use super::{Gen, Via};
use crate::tree::{Node, expr, fixed, stmt};
use crate::types::Ty;

impl Gen {
    /// Some statements; what they declare stays in scope.
    pub(super) fn stmts(&mut self, count: usize, depth: u32) -> Vec<Node> {
        let depth = depth.max(1);
        (0..count).filter_map(|_| if self.spend() { self.stmt(depth) } else { None }).collect()
    }

    fn stmt(&mut self, depth: u32) -> Option<Node> {
        let nested = depth > 1;
        let weights = [
            24,                                                                              // 0 let
            24,                                                                              // 1 assignment
            if nested { 12 } else { 0 },                                                     // 2 if
            if nested && self.swarm.matches { 8 } else { 0 },                                // 3 match
            if nested && self.swarm.loops { 14 } else { 0 },                                 // 4 loop
            if self.loops.is_empty() || !self.swarm.exits { 0 } else { 8 }, // 5 break, continue
            if self.swarm.exits { 4 } else { 0 },                           // 6 return
            if self.swarm.exits && self.swarm.matches && !self.swarm.plain { 5 } else { 0 }, // 7 let else
            if self.calls >= self.weight { 6 } else { 0 },                  // 8 call
            3,                                                              // 9 late initialisation
            if nested { 3 } else { 0 },                                     // 10 block
            5,                                                              // 11 destructuring let
            if self.swarm.owned || self.swarm.states { 14 } else { 0 },     // 12 owned values
            if self.swarm.asserts { 4 } else { 0 },                         // 13 assert
            if self.swarm.items { 4 } else { 0 },                           // 14 const
            if self.swarm.references { 6 } else { 0 },                      // 15 references
            if self.swarm.closures { 3 } else { 0 },                        // 16 local closure
            if self.swarm.language && !self.swarm.plain { 6 } else { 0 },   // 17 loop over a list
            if self.swarm.language && !self.swarm.plain { 3 } else { 0 },   // 18 a `let` under `cfg`
            if nested && self.swarm.loops && !self.swarm.plain && !self.defs.structs.is_empty() {
                6
            } else {
                0
            }, // 19 a struct that a loop changes
            if nested && self.swarm.language && !self.swarm.plain { 6 } else { 0 }, // 20 loops over chains
            if nested && self.swarm.references && !self.defs.enums.is_empty() { 10 } else { 0 }, // 21 in place
            if nested && self.swarm.references { 6 } else { 0 }, // 22 parts of tuples
            if nested && self.swarm.states { 12 } else { 0 },    // 23 what is kept for calls
            if nested && self.swarm.watched { 8 } else { 0 },    // 24 what writes when it is dropped
            if self.cells.is_empty() { 0 } else { 20 },          // 25 more of it
            if self.swarm.macros { 5 } else { 0 },               // 26 macros
            if self.swarm.arrays && self.swarm.loops { 10 } else { 0 }, // 27 arrays in uniform loops
            if nested && self.swarm.ownership { 26 } else { 0 }, // 28 what borrows
            if self.holders.is_empty() { 0 } else { 30 },        // 29 more of it
            if nested && self.swarm.generics { 16 } else { 0 },  // 30 generic helpers
            if nested && self.swarm.choices { 16 } else { 0 },   // 31 options and enumerations with fields
        ];
        match self.weighted(&weights) {
            1 => self.assign(depth),
            2 => Some(self.if_stmt(depth)),
            3 => {
                let node = self.match_expr(&Ty::Unit, depth);
                Some(stmt!(node))
            }
            4 => self.loop_stmt(depth),
            5 => self.jump(depth),
            6 => {
                let test = self.expr(&Ty::Bool, depth);
                let value = self.value_of_return(depth);
                Some(stmt!("if ", test, " { return ", value, "; }"))
            }
            7 => self.let_else(depth),
            8 => {
                let rets: Vec<Ty> = self.sigs.iter().map(|f| f.ret.clone()).collect();
                let ret = self.pick(&rets);
                let call = self.call_of(&ret, depth)?;
                Some(stmt!(if self.chance(50) { "let _ = " } else { "" }, call, ";"))
            }
            9 => {
                let ty = self.some_type();
                let name = self.fresh("v");
                let test = self.expr(&Ty::Bool, depth);
                let mut branches = Vec::new();
                for _ in 0..2 {
                    let block = self.scoped(|g| {
                        let count = g.below(2);
                        let mut stmts = g.stmts(count, depth - 1);
                        let value = g.expr(&ty, depth - 1);
                        stmts.push(fixed!(format!("{name} = "), value, ";"));
                        fixed!("{", stmts, "}")
                    });
                    branches.push(block);
                }
                self.declare(&name, &ty, false);
                let (second, first) = (branches.pop()?, branches.pop()?);
                let of = self.defs.name(&ty);
                Some(stmt!(format!("let {name}: {of}; if "), test, " ", first, " else ", second))
            }
            10 => self.scoped(|g| {
                let count = 1 + g.below(2);
                let stmts = g.stmts(count, depth - 1);
                Some(stmt!("{", stmts, "}"))
            }),
            12 => self.owned_stmt(depth),
            13 => {
                let test = self.purely(|g| g.expr(&Ty::Bool, depth.min(2)));
                let ty = self.number_type();
                let shown = self.leaf(&ty);
                Some(match self.chance(70) {
                    // Rarely false, or no member would get far.
                    true => {
                        stmt!("assert!(", test, " || ", self.unlikely(), ", \"asserted {}\", ", shown, ");")
                    }
                    false => {
                        stmt!("if !", test, " && !", self.unlikely(), " { panic!(\"no {}\", ", shown, "); }")
                    }
                })
            }
            14 => {
                let ty = self.number_type();
                let prefix = format!("C{}_", self.current);
                let name = self.fresh(&prefix);
                let (of, value) = (self.defs.name(&ty), self.literal(&ty));
                self.declare_locked(&name, &ty);
                Some(stmt!(format!("const {name}: {of} = "), value, ";"))
            }
            15 => self.reference(depth),
            16 => Some(self.local_closure()),
            17 => self.over_a_list(),
            18 => self.conditional_let(),
            19 => self.struct_loop(depth),
            20 => self.over_a_chain(depth),
            21 => self.match_in_place(depth),
            22 => self.parts_of_a_tuple(depth),
            23 => self.kept_stmt(depth),
            24 => self.watched(depth),
            25 => self.watch(depth),
            26 => self.change_by_macro(),
            27 if self.chance(35) => self.short_arrays(),
            27 if self.chance(40) => {
                self.over_shared_list().or_else(|| self.over_shared_rows()).or_else(|| self.grids(depth))
            }
            27 if self.chance(50) => self.grids(depth),
            27 => self.rows(depth),
            28 => self.held(depth),
            29 => self.hold(depth),
            30 => self.generic_helpers(),
            31 => self.choices(),
            11 => {
                let ty = self.some_type();
                let value = self.expr(&ty, depth);
                let pattern = self.pattern(&ty, 2, false);
                let of = self.defs.name(&ty);
                Some(stmt!(format!("let {pattern}: {of} = "), value, ";"))
            }
            _ => {
                let ty = self.some_type();
                let value = self.expr(&ty, depth);
                let name = self.new_name();
                let mutable = self.chance(60);
                self.declare(&name, &ty, mutable);
                let mutability = if mutable { "mut " } else { "" };
                let annotation = match self.chance(40) {
                    true => format!(": {}", self.defs.name(&ty)),
                    false => String::new(),
                };
                Some(stmt!(format!("let {mutability}{name}{annotation} = "), value, ";"))
            }
        }
    }

    /// A test that fails for few members.
    fn unlikely(&mut self) -> Node {
        let ty = self.int_type();
        let value = self.leaf(&ty);
        expr!(Ty::Bool; "(", value, format!(" != {})", self.below(8)))
    }

    /// A reference: into shared data, or to a local for the length of a statement.
    fn reference(&mut self, depth: u32) -> Option<Node> {
        if let Some((name, of)) = self.some_slice()
            && self.chance(65)
        {
            let index = self.expr(&Ty::Usize, depth.min(2));
            let away = self.way_out(depth);
            let x = self.fresh("r");
            self.declare_ref(&x, &of);
            return Some(match self.chance(50) {
                true => stmt!(format!("let Some({x}) = {name}.get("), index, ") else { ", away, " };"),
                false => stmt!(format!("let [{x}, ..] = {name} else {{ "), away, " };"),
            });
        }
        let places = self.assignable();
        if places.is_empty() {
            return None;
        }
        let (place, ty) = self.pick(&places);
        if ty.is_owned() {
            return None;
        }
        if let Ty::Option(of) = &ty
            && self.chance(70)
        {
            let base: String = place.chars().skip_while(|c| *c == '*').take_while(|c| *c != '.').collect();
            let value = self.hiding(&base, |g| g.purely(|g| g.expr(of, 2)));
            let r = self.fresh("r");
            return Some(stmt!(format!("if let Some({r}) = &mut {place} {{ *{r} = "), value, "; }"));
        }
        let base: String = place.chars().skip_while(|c| *c == '*').take_while(|c| *c != '.').collect();
        let value = self.hiding(&base, |g| g.purely(|g| g.expr(&ty, 2)));
        let r = self.fresh("r");
        Some(stmt!(format!("{{ let {r} = &mut {place}; *{r} = "), value, "; }"))
    }

    pub(super) fn value_of_return(&mut self, depth: u32) -> Node {
        let ret = self.function().ret.clone();
        if self.chance(30)
            && let Some(call) = self.call_of(&ret, depth)
        {
            return call;
        }
        self.expr(&ret, depth)
    }

    fn if_stmt(&mut self, depth: u32) -> Node {
        let (test, then) = self.scoped(|g| {
            let test = g.condition(depth - 1);
            let count = 1 + g.below(2);
            (test, g.stmts(count, depth - 1))
        });
        if self.chance(50) {
            return stmt!("if ", test, " {", then, "}");
        }
        let otherwise = self.scoped(|g| {
            let count = 1 + g.below(2);
            g.stmts(count, depth - 1)
        });
        if self.chance(20) {
            let (second, third) = self.scoped(|g| {
                let test = g.condition(depth - 1);
                (test, g.stmts(1, depth - 1))
            });
            return stmt!(
                "if ",
                test,
                " {",
                then,
                "} else if ",
                second,
                " {",
                third,
                "} else {",
                otherwise,
                "}"
            );
        }
        stmt!("if ", test, " {", then, "} else {", otherwise, "}")
    }

    /// `break` or `continue` under a condition.
    fn jump(&mut self, depth: u32) -> Option<Node> {
        let test = self.expr(&Ty::Bool, depth.min(2));
        let jump = self.jump_away(depth)?;
        Some(stmt!("if ", test, " { ", jump, " }"))
    }

    /// An unconditional `break`, `continue` or `return`.
    fn way_out(&mut self, depth: u32) -> Node {
        let jump = if self.chance(50) { self.jump_away(depth) } else { None };
        jump.unwrap_or_else(|| {
            let value = self.value_of_return(depth.min(2));
            fixed!("return ", value, ";")
        })
    }

    /// An unconditional `break` or `continue`.
    fn jump_away(&mut self, depth: u32) -> Option<Node> {
        let last = self.loops.len().checked_sub(1)?;
        let labelled: Vec<usize> = (0..=last).filter(|i| self.loops[*i].label.is_some()).collect();
        let plain = self.loops[last].repeats;
        let (target, label) = if labelled.is_empty() || (plain && self.chance(60)) {
            if !plain {
                return None;
            }
            (last, String::new())
        } else {
            let target = self.pick(&labelled);
            (target, format!(" {}", self.loops[target].label.clone()?))
        };
        let target = self.loops[target].clone();
        if target.repeats && self.chance(40) {
            return Some(fixed!(format!("continue{label};")));
        }
        Some(match &target.value {
            Some(ty) => {
                let value = self.expr(ty, depth.min(2));
                fixed!(format!("break{label} "), value, ";")
            }
            None => fixed!(format!("break{label};")),
        })
    }

    fn let_else(&mut self, depth: u32) -> Option<Node> {
        let of = match self.below(2) {
            0 => Ty::Option(Box::new(self.number_type())),
            _ => self.some_type(),
        };
        if of == Ty::Unit || of.is_float() {
            return None;
        }
        let value = self.expr(&of, depth);
        let away = self.way_out(depth);
        let pattern = self.pattern(&of, 2, true);
        Some(stmt!(format!("let {pattern} = ("), value, ") else { ", away, " };"))
    }

    /// Places that can be assigned: text and type.
    pub(super) fn assignable(&self) -> Vec<(String, Ty)> {
        let mut found = Vec::new();
        for var in self.visible().filter(|var| var.assign) {
            let whole = if var.via == Via::Value { var.name.clone() } else { format!("*{}", var.name) };
            found.push((whole, var.ty.clone()));
            let parts: Vec<(String, Ty)> = match &var.ty {
                Ty::Tuple(parts) => parts
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| (format!("{}.{i}", var.name), ty.clone()))
                    .collect(),
                Ty::Struct(index) => self.defs.structs[*index]
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| (format!("{}.f{i}", var.name), ty.clone()))
                    .collect(),
                _ => Vec::new(),
            };
            found.extend(parts);
        }
        found
    }

    fn assign(&mut self, depth: u32) -> Option<Node> {
        let places = self.assignable();
        if places.is_empty() {
            return None;
        }
        let (place, ty) = self.pick(&places);
        if let Ty::Array(of, len) = &ty
            && self.chance(70)
        {
            let index = self.expr(&Ty::Usize, depth.min(2));
            let len = if self.chance(90) { format!(" % {len}") } else { String::new() };
            let base = if place.starts_with('*') { format!("({place})") } else { place };
            return Some(self.store(fixed!(format!("{base}["), index, format!("{len}]")), of, depth));
        }
        Some(self.store(fixed!(place), &ty, depth))
    }

    pub(super) fn store(&mut self, place: Node, ty: &Ty, depth: u32) -> Node {
        let compound = self.chance(45);
        if ty.is_owned() {
            // The old value must not be moved away by the new one's code.
            let value = self.purely(|g| g.expr(ty, depth));
            return stmt!(place, " = ", value, ";");
        }
        let value = self.expr(ty, depth);
        if compound && ty.is_int() && self.swarm.checked && self.chance(60) {
            let op = self.pick(&["+", "-", "*", "+", "/", "%"]);
            return stmt!(place, format!(" {op}= "), value, ";");
        }
        if compound && (ty.is_int() || *ty == Ty::Bool) {
            let op = self.pick(&["^", "|", "&"]);
            return stmt!(place, format!(" {op}= "), value, ";");
        }
        if compound && ty.is_float() {
            let op = self.pick(&["+", "-", "*", "/"]);
            return stmt!(place, format!(" {op}= "), value, ";");
        }
        stmt!(place, " = ", value, ";")
    }
}
