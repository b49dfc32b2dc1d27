//! Values that are moved and dropped: `Vec`, `String`, `Box`.
//!
//! A variable is moved out of only where no loop stands between it and its declaration, and is not mentioned
//! in any code behind that, on any path.

use super::{Gen, Var, Via};
use crate::tree::{Node, expr, stmt};
use crate::types::Ty;

impl Gen {
    fn owned_vars(&self, wanted: impl Fn(&Ty) -> bool) -> Vec<(String, Ty, bool)> {
        self.visible()
            .filter(|var| var.ty.is_owned() && var.via != Via::Ref && wanted(&var.ty))
            .map(|var| (var.name.clone(), var.ty.clone(), var.assign))
            .collect()
    }

    /// How the value of such a variable is written.
    fn place(&self, name: &str) -> String {
        let by_reference = self.visible().any(|var| var.name == name && var.via == Via::Mut);
        if by_reference { format!("(*{name})") } else { name.into() }
    }

    /// Takes the value out of a variable, if that can be done here.
    pub(super) fn moved(&mut self, ty: &Ty) -> Option<String> {
        if self.pure > 0 {
            return None;
        }
        let depth = self.loops.len();
        let names: Vec<String> = self
            .visible()
            .filter(|var| var.ty == *ty && var.via == Via::Value && var.depth == depth)
            // How long what is made of a borrow lasts is overestimated.
            .filter(|var| !var.name.starts_with("kept"))
            .map(|var| var.name.clone())
            .collect();
        if names.is_empty() {
            return None;
        }
        let name = self.pick(&names);
        let var = self.vars.iter_mut().rev().find(|var| var.name == name)?;
        var.moved = true;
        Some(name)
    }

    /// A variable's value, or that of a copy, or a new one.
    pub(super) fn owned_leaf(&mut self, ty: &Ty) -> Node {
        if self.chance(60)
            && let Some(name) = self.moved(ty)
        {
            return expr!(ty; name);
        }
        let same = self.owned_vars(|of| of == ty);
        if !same.is_empty() && self.chance(70) {
            let (name, _, _) = self.pick(&same);
            return expr!(ty; format!("{}.clone()", self.place(&name)));
        }
        match ty {
            Ty::Vec(of) => match self.chance(30) {
                true => expr!(ty; format!("Vec::<{}>::new()", self.defs.name(of))),
                false => {
                    let part = self.leaf(of);
                    expr!(ty; "vec![", part, "]")
                }
            },
            Ty::String => {
                let text = self.pick(&["", "a", "bc", "é", "{}"]);
                expr!(ty; format!("String::from({text:?})"))
            }
            Ty::Box(of) => {
                let part = self.leaf(of);
                expr!(ty; "Box::new(", part, ")")
            }
            Ty::State => self.new_state(),
            other => unreachable!("{other:?} is not owned"),
        }
    }

    /// A new value.
    pub(super) fn owned(&mut self, ty: &Ty, depth: u32) -> Node {
        let depth = depth - 1;
        match ty {
            Ty::Vec(of) => match self.below(4) {
                // A `return` or `?` in the tokens of a macro is not seen yet.
                0 => self.purely(|g| {
                    let (a, b) = (g.expr(of, depth), g.expr(of, depth));
                    expr!(ty; "vec![", a, ", ", b, "]")
                }),
                1 => {
                    let count = self.purely(|g| g.expr(&Ty::Usize, 1));
                    let i = self.fresh("c");
                    let body = self.scoped(|g| {
                        g.declare(&i, &Ty::Usize, false);
                        g.purely(|g| g.expr(of, depth))
                    });
                    let of = self.defs.name(of);
                    expr!(ty; "(0..(", count, format!(" & 3)).map(|{i}| "), body, format!(").collect::<Vec<{of}>>()"))
                }
                2 => match self.some_slice() {
                    Some((name, slice)) if slice == **of => expr!(ty; format!("{name}.to_vec()")),
                    _ => self.owned_leaf(ty),
                },
                _ => self.owned_leaf(ty),
            },
            Ty::String => match self.below(4) {
                0 => {
                    let number = self.number_type();
                    let (a, b) = self.purely(|g| (g.leaf(ty), g.expr(&number, depth)));
                    expr!(ty; "format!(\"{}{:?}\", ", a, ", ", b, ")")
                }
                1 => {
                    let a = self.expr(ty, depth);
                    let text = self.pick(&["x", "yz"]);
                    expr!(ty; "(", a, format!(" + {text:?})"))
                }
                2 => match self.captured() {
                    Some(text) => expr!(ty; text),
                    None => self.owned_leaf(ty),
                },
                _ => self.owned_leaf(ty),
            },
            Ty::Box(of) => {
                let part = self.expr(of, depth);
                expr!(ty; "Box::new(", part, ")")
            }
            Ty::State if self.chance(20) => self.owned_leaf(ty),
            Ty::State => self.new_state(),
            other => unreachable!("{other:?} is not owned"),
        }
    }

    /// A text whose format captures variables.
    fn captured(&mut self) -> Option<String> {
        let shown = |var: &&Var| {
            let plain = var.ty.is_float() || var.ty.is_int() || matches!(var.ty, Ty::Bool | Ty::String);
            let list = matches!(&var.ty, Ty::Vec(of) | Ty::Slice(of) if of.is_float() || of.is_int());
            (plain || list) && !var.locked && var.name != "self"
        };
        let named = |var: &Var| (var.name.clone(), var.ty == Ty::String);
        let names: Vec<(String, bool)> = self.visible().filter(shown).map(named).collect();
        let ((a, long), (b, longer)) = (self.one_of(names.clone())?, self.one_of(names)?);
        let made = self.pick(&[
            "format!(\"{A:?}{{B}}\")",
            "format!(\"{A:?}{B:?}\")",
            "format!(\"{{{A:?}}}\")",
            "format!(\"{A:?}{B:?}{0}\", \"{A}\")",
            "format!(\"{A:?}{B:?}{x:>w$}\", x = 3, w = 5)",
            "format!(\"{}{}\", \"B{A}\", \"{B}\".replace(\"{A}\", \"\"))",
        ]);
        // A text of texts grows with every call, and `{:?}` doubles its backslashes.
        let cut = if long || longer { ".chars().take(99).collect::<String>()" } else { "" };
        Some(made.replace('A', &a).replace('B', &b) + cut)
    }

    /// A value that comes from an owned one.
    pub(super) fn of_owned(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        match ty {
            Ty::Usize if self.chance(60) => {
                let text = self.captured()?;
                Some(expr!(ty; format!("{text}.len()")))
            }
            Ty::Usize => {
                let vars = self.owned_vars(|of| !matches!(of, Ty::Box(_)));
                let (name, _, _) = self.one_of(vars)?;
                Some(expr!(ty; format!("{name}.len()")))
            }
            Ty::Bool => {
                let vars = self.owned_vars(|_| true);
                let (name, of, _) = self.one_of(vars)?;
                if self.chance(40) && !matches!(of, Ty::Box(_)) {
                    return Some(expr!(ty; format!("{name}.is_empty()")));
                }
                let other = self.purely(|g| g.expr(&of, 1));
                let op = self.pick(&["==", "!="]);
                Some(expr!(ty; format!("({} {op} ", self.place(&name)), other, ")"))
            }
            Ty::Option(of) => {
                let vars = self.owned_vars(|var| *var == Ty::Vec(of.clone()));
                let (name, _, assign) = self.one_of(vars)?;
                if assign && self.pure == 0 && self.chance(50) {
                    return Some(expr!(ty; format!("{name}.pop()")));
                }
                let index = self.hiding(&name, |g| g.expr(&Ty::Usize, depth.min(2) - 1));
                let own = if of.is_owned() { "cloned" } else { "copied" };
                Some(expr!(ty; format!("{name}.get("), index, format!(").{own}()")))
            }
            _ => {
                let vars = self.owned_vars(|var| *var == Ty::Vec(Box::new(ty.clone())));
                let (name, _, _) = self.one_of(vars)?;
                let index = self.hiding(&name, |g| g.expr(&Ty::Usize, depth.min(2) - 1));
                if self.chance(15) {
                    return Some(expr!(ty; format!("{name}["), index, "]"));
                }
                let other = self.leaf(ty);
                Some(expr!(ty; format!("{name}.get("), index, ").copied().unwrap_or(", other, ")"))
            }
        }
    }

    fn one_of<T: Clone>(&mut self, from: Vec<T>) -> Option<T> {
        (!from.is_empty()).then(|| self.pick(&from))
    }

    /// A statement about owned values.
    pub(super) fn owned_stmt(&mut self, depth: u32) -> Option<Node> {
        let vars: Vec<(String, Ty, bool)> =
            self.owned_vars(|_| true).into_iter().filter(|var| var.2).collect();
        if vars.is_empty() || self.chance(35) {
            let types = self.owned_types.clone();
            let ty = self.pick(&types);
            let value = self.expr(&ty, depth);
            let (name, mutable) = (self.new_name(), self.chance(70));
            self.declare(&name, &ty, mutable);
            let mutability = if mutable { "mut " } else { "" };
            let of = self.defs.name(&ty);
            return Some(stmt!(format!("let {mutability}{name}: {of} = "), value, ";"));
        }
        let (name, ty, _) = self.pick(&vars);
        match &ty {
            Ty::Vec(of) => Some(match self.below(6) {
                0 => stmt!(format!("{name}.truncate("), self.hiding(&name, |g| g.expr(&Ty::Usize, 1)), ");"),
                1 => stmt!(format!("{name}.clear();")),
                2 => stmt!(format!("{name}.reverse();")),
                3 => {
                    let index = self.hiding(&name, |g| g.expr(&Ty::Usize, 1));
                    let value = self.hiding(&name, |g| g.purely(|g| g.expr(of, 2)));
                    let x = self.fresh("r");
                    stmt!(
                        format!("if let Some({x}) = {name}.get_mut("),
                        index,
                        format!(") {{ *{x} = "),
                        value,
                        "; }"
                    )
                }
                _ => {
                    let value = self.hiding(&name, |g| g.expr(of, depth.min(3)));
                    stmt!(format!("{name}.push("), value, ");")
                }
            }),
            Ty::String => Some(match self.below(3) {
                0 => stmt!(format!("{name}.clear();")),
                1 => {
                    let number = self.number_type();
                    let value = self.hiding(&name, |g| g.purely(|g| g.expr(&number, 2)));
                    stmt!(format!("{name}.push_str(&format!(\"{{:?}}\", "), value, "));")
                }
                _ => stmt!(format!("{name}.push('q');")),
            }),
            Ty::State => {
                let value = self.hiding(&name, |g| g.purely(|g| g.expr(&Ty::Usize, 2)));
                Some(stmt!(format!("{name}.change("), value, ");"))
            }
            Ty::Box(of) => {
                let value = self.hiding(&name, |g| g.expr(of, depth));
                Some(stmt!(format!("*{} = ", self.place(&name)), value, ";"))
            }
            _ => None,
        }
    }
}
