//! Patterns on references to locals: `match` with guards on what is changed in place, tuples taken apart by reference.

use super::{Gen, Via};
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

impl Gen {
    /// Statements that would come up too seldom by themselves.
    pub(super) fn featured(&mut self, depth: u32) -> Vec<Node> {
        let mut stmts = Vec::new();
        if self.swarm.language && self.chance(65) {
            let of = self.number_type();
            if let Some(value) = self.chained_calls(&of) {
                let name = self.fresh("v");
                self.declare(&name, &of, true);
                stmts.push(stmt!(format!("let mut {name} = "), value, ";"));
            }
        }
        if self.swarm.language && !self.swarm.plain && self.chance(20) {
            stmts.extend(self.over_a_chain(depth));
        }
        if !self.swarm.plain && !self.defs.enums.is_empty() && self.chance(35) {
            let name = self.fresh("v");
            let of = Ty::Enum(0);
            let value = self.expr(&of, 2);
            self.declare(&name, &of, true);
            stmts.push(stmt!(format!("let mut {name}: E0 = "), value, ";"));
            let looped = self.chance(40) && self.weight <= 6;
            let changed = if looped {
                let i = self.fresh("i");
                let changed = self.in_a_loop(3, |g| g.match_in_place(depth));
                changed.map(|changed| {
                    stmt!(format!("for {i} in 0..3 {{ if {i} == 2 {{ continue; }} "), changed, " }")
                })
            } else {
                self.match_in_place(depth)
            };
            stmts.extend(changed);
        }
        if self.swarm.states && self.chance(45) {
            stmts.extend(self.owned_locals(depth));
        }
        if self.swarm.states && self.chance(45) {
            stmts.extend(self.kept_stmt(depth));
        }
        if self.swarm.references && self.chance(30) {
            stmts.extend(self.parts_of_a_tuple(depth));
        }
        stmts
    }

    /// What is in a local, changed through references that patterns bind, with guards.
    pub(super) fn match_in_place(&mut self, depth: u32) -> Option<Node> {
        let fits: Vec<(String, Ty)> = self
            .visible()
            .filter(|var| var.assign && !var.locked && var.via == Via::Value && var.name != "self")
            .filter(|var| matches!(var.ty, Ty::Enum(_)))
            .map(|var| (var.name.clone(), var.ty.clone()))
            .collect();
        if fits.is_empty() || self.flat > 0 || self.pure > 0 {
            return None;
        }
        let (name, ty) = self.pick(&fits);
        let Ty::Enum(index) = ty else { return None };
        let variants = self.defs.enums[index].variants.clone();
        let mut node = stmt!(format!("match &mut {name} {{ "));
        for _ in 0..1 + self.below(3) {
            let at = self.below(variants.len());
            self.arm_in_place(&mut node, &name, index, at, true, depth);
        }
        if self.chance(60) {
            for at in 0..variants.len() {
                self.arm_in_place(&mut node, &name, index, at, false, depth);
            }
        } else {
            // Nothing is borrowed any more.
            let rest = self.scoped(|g| g.stmts(1, depth - 1));
            node.parts.extend(["_ => {".into(), rest.into(), "} ".into()]);
        }
        node.parts.push("}".into());
        Some(node)
    }

    fn arm_in_place(
        &mut self,
        to: &mut Node,
        of: &str,
        index: usize,
        variant: usize,
        guarded: bool,
        depth: u32,
    ) {
        let (data, named) = self.defs.enums[index].variants[variant].clone();
        let hidden = self.hidden.len();
        self.hidden.push(of.into());
        let made = self.scoped(|g| {
            let names: Vec<String> = data.iter().map(|_| g.fresh("m")).collect();
            for (name, ty) in names.iter().zip(&data) {
                let var = g.var(name, ty, Via::Mut, true, false);
                g.vars.push(var);
            }
            let guard = guarded.then(|| g.purely(|g| g.expr(&Ty::Bool, 2)));
            let mut body = Vec::new();
            let count = 1 + g.below(2);
            body.extend(g.stmts(count, depth - 1));
            for (name, ty) in names.iter().zip(&data) {
                if g.chance(70) {
                    body.push(g.store(fixed!(format!("*{name}")), ty, 2));
                }
            }
            (g.defs.variant(index, variant, &names, named), guard, body)
        });
        self.hidden.truncate(hidden);
        let (pattern, guard, body) = made;
        to.parts.push(pattern.into());
        if let Some(guard) = guard {
            to.parts.extend([" if ".into(), guard.into()]);
        }
        to.parts.extend([" => {".into(), body.into(), "} ".into()]);
    }

    /// A reference to a tuple, taken apart, across what stands behind.
    pub(super) fn parts_of_a_tuple(&mut self, depth: u32) -> Option<Node> {
        let fits: Vec<(String, Vec<Ty>)> = self
            .visible()
            .filter(|var| !var.locked && var.via == Via::Value && var.name != "self")
            .filter_map(|var| match &var.ty {
                Ty::Tuple(parts) if !parts.is_empty() => Some((var.name.clone(), parts.clone())),
                _ => None,
            })
            .collect();
        if self.flat > 0 || self.pure > 0 {
            return None;
        }
        if fits.is_empty() || self.chance(25) {
            return self.parts_of_pairs(depth);
        }
        let (name, parts) = self.pick(&fits);
        let hidden = self.hidden.len();
        self.hidden.push(name.clone());
        let matched = self.chance(50);
        let mut node = if matched { stmt!(format!("match &{name} {{ ")) } else { stmt!() };
        for arm in 0..if matched { 1 + self.below(2) } else { 1 } {
            let made = self.scoped(|g| {
                let mut names = Vec::new();
                for ty in &parts {
                    let name = g.fresh("r");
                    g.declare_ref(&name, ty);
                    names.push(name);
                }
                let guard =
                    (matched && (arm == 0 || g.chance(70))).then(|| g.purely(|g| g.expr(&Ty::Bool, 2)));
                let count = 1 + g.below(3);
                let body = g.stmts(count, depth - 1);
                (format!("({},)", names.join(", ")), guard, body)
            });
            let (pattern, guard, body) = made;
            match guard {
                Some(guard) => node.parts.extend([
                    format!("{pattern} if ").into(),
                    guard.into(),
                    " => {".into(),
                    body.into(),
                    "} ".into(),
                ]),
                None if matched => {
                    node.parts.extend([format!("{pattern} => {{").into(), body.into(), "} ".into()])
                }
                None => node.parts.extend([
                    format!("{{ let {pattern} = &{name}; ").into(),
                    body.into(),
                    "}".into(),
                ]),
            }
        }
        if matched {
            let rest = self.scoped(|g| g.stmts(1, depth - 1));
            node.parts.extend(["_ => {".into(), rest.into(), "} }".into()]);
        }
        self.hidden.truncate(hidden);
        Some(node)
    }

    /// Pairs with places, each taken apart by reference.
    fn parts_of_pairs(&mut self, depth: u32) -> Option<Node> {
        let (name, of) = self.some_slice().filter(|_| self.weight <= 6)?;
        let (item, i, x, y) = (self.fresh("p"), self.fresh("r"), self.fresh("r"), self.fresh("c"));
        let whole = self.chance(50);
        let body = self.in_a_loop(6, |g| {
            g.declare_ref(&i, &Ty::Usize);
            if whole {
                g.declare_ref(&y, &of);
            } else {
                g.declare(&y, &of, false);
            }
            g.some_stmts(depth)
        });
        let by = if whole { "*" } else { "**" };
        Some(stmt!(
            format!(
                "for {item} in {name}.iter().enumerate() {{ let ({i}, {x}) = &{item}; let {y} = {by}{x};"
            ),
            body,
            "}"
        ))
    }
}
