//! A type that makes others of its kind and lends what it owns: locals that are kept while calls get borrows of them.

use super::{Gen, Via};
use crate::tree::{Node, Param, Passing, expr, fixed, stmt};
use crate::types::{State, Ty};

/// What a local holds of what a state makes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kept {
    /// `State`.
    One,
    /// `Vec<State>`.
    Many,
    /// `[State; 2]`.
    Pair,
    /// `Option<State>`.
    Maybe,
}

impl Kept {
    fn ty(self) -> Ty {
        match self {
            Kept::One => Ty::State,
            Kept::Many => Ty::Vec(Box::new(Ty::State)),
            Kept::Pair => Ty::Array(Box::new(Ty::State), 2),
            Kept::Maybe => Ty::Option(Box::new(Ty::State)),
        }
    }
}

impl Gen {
    /// Draws the type.
    pub(super) fn state_type(&mut self) {
        let of = self.int_type();
        let (most, looped) = (1 + self.below(3) as u32, self.chance(35));
        self.defs.state = Some(State { of, most, looped });
        self.owned_types.push(Ty::State);
    }

    /// Parameters that refer to states.
    pub(super) fn state_params(&mut self, params: &mut Vec<Param>) {
        let mut param = |name: &str, passing, ty| {
            params.push(Param { name: name.into(), passing, ty, mutable: false });
        };
        if self.chance(75) {
            let passing = if self.chance(60) { Passing::EachRef } else { Passing::SharedRef };
            param("s", passing, Ty::State);
        }
        if self.chance(25) {
            let passing = if self.chance(60) { Passing::EachSlice } else { Passing::SharedRef };
            param("all", passing, Ty::States);
        }
    }

    /// What can be asked for others.
    fn states(&self) -> Vec<(String, Via)> {
        self.visible().filter(|var| var.ty == Ty::State).map(|var| (var.name.clone(), var.via)).collect()
    }

    /// One to ask, and the local it is, if it is one.
    fn some_state(&mut self) -> (String, Option<String>) {
        let all = self.states();
        if all.is_empty() || self.chance(5) {
            return (format!("State::seed({})", self.below(16)), None);
        }
        let (name, via) = if self.chance(60) { all[all.len() - 1].clone() } else { self.pick(&all) };
        (name.clone(), (via != Via::Ref).then_some(name))
    }

    /// A new one, made of one there is.
    pub(super) fn new_state(&mut self) -> Node {
        let (state, local) = self.some_state();
        let hidden = self.hidden.len();
        self.hidden.extend(local);
        let index = self.purely(|g| g.expr(&Ty::Usize, 1));
        self.hidden.truncate(hidden);
        match self.below(4) {
            0 => expr!(Ty::State; format!("{state}.with(1).grown("), index, ")"),
            _ => expr!(Ty::State; format!("{state}.with("), index, ")"),
        }
    }

    /// A number or truth value of a state.
    pub(super) fn of_state(&mut self, ty: &Ty) -> Option<Node> {
        let own = self.defs.state.as_ref()?.of.clone();
        let all = self.states();
        if all.is_empty() {
            return None;
        }
        let (name, _) = self.pick(&all);
        if *ty == own {
            let other = self.literal(ty);
            return Some(expr!(ty; format!("{name}.head().unwrap_or("), other, ")"));
        }
        match ty {
            Ty::Usize => Some(expr!(ty; format!("{name}.{}", self.pick(&["n", "len()", "parts().len()"])))),
            Ty::Bool => Some(expr!(ty; format!("{name}.parts().is_empty()"))),
            _ => None,
        }
    }

    /// What a call chooses of what a state, or one that is made for it, lends before the call.
    pub(super) fn asked_by_a_call(&mut self, ty: &Ty) -> Option<Node> {
        if !self.lends_parts(&Ty::Slice(Box::new(ty.clone()))) {
            return None;
        }
        let (state, local) = self.some_state();
        let lent = match self.below(4) {
            0 => format!("{state}.parts()"),
            1 => format!("{state}.with({}).parts()", self.below(4)),
            2 => format!("{state}.with(1).same().parts()"),
            _ => format!("State::seed({}).with(2).with(3).parts()", self.below(16)),
        };
        let hidden = self.hidden.len();
        self.hidden.extend(local);
        let call = self.call_of(&Ty::Usize, 1);
        self.hidden.truncate(hidden);
        let other = self.literal(ty);
        Some(expr!(ty; format!("*{lent}.get("), call?, " % 4).unwrap_or(&", other, ")"))
    }

    /// What is handed to a parameter that refers to states.
    pub(super) fn state_argument(&mut self, ty: &Ty) -> Option<Node> {
        let via = |g: &Gen, ty: &Ty| g.all_handed_on(ty, Via::Ref);
        let refs = via(self, ty);
        if self.flat > 0 || self.pure > 0 || (!refs.is_empty() && self.chance(60)) {
            return refs.last().map(|name| fixed!(name));
        }
        let many = *ty == Ty::States;
        let locals: Vec<String> = self
            .visible()
            .filter(|var| var.via == Via::Value && !var.locked)
            .filter(|var| match &var.ty {
                Ty::State => !many,
                Ty::Vec(of) | Ty::Array(of, _) => many && **of == Ty::State,
                _ => false,
            })
            .map(|var| var.name.clone())
            .collect();
        if !locals.is_empty() && self.chance(65) {
            let name = self.pick(&locals);
            let same = if !many && self.chance(25) { ".same()" } else { "" };
            let lent = if same.is_empty() { "&" } else { "" };
            self.hidden.push(name.clone());
            return Some(fixed!(format!("{lent}{name}{same}")));
        }
        let (state, local) = self.some_state();
        let made = match (many, self.below(3)) {
            (false, 0) => format!("{state}.with(1).same()"),
            (false, _) => format!("&{state}.with({})", self.below(4)),
            (true, 0) => format!("&{state}.pair()"),
            (true, 1) => format!("{state}.moves().as_slice()"),
            (true, _) => format!("&{state}.moves()"),
        };
        self.hidden.extend(local);
        Some(fixed!(made))
    }

    /// What is handed to a parameter that is a slice of what states hold.
    pub(super) fn parts_argument(&mut self, ty: &Ty) -> Option<Node> {
        if !self.lends_parts(ty) {
            return None;
        }
        let (state, local) = self.some_state();
        self.hidden.extend(local);
        let text = match self.below(5) {
            0 => format!("{state}.with(2).parts()"),
            1 => format!("&{state}.parts()[{state}.len().min(1)..]"),
            2 => format!("&{state}.xs"),
            _ => format!("{state}.parts()"),
        };
        Some(fixed!(text))
    }

    /// Whether such an argument can be made.
    pub(super) fn lends_parts(&self, ty: &Ty) -> bool {
        let own = |state: &State| matches!(ty, Ty::Slice(of) if **of == state.of);
        self.flat == 0 && self.pure == 0 && self.defs.state.as_ref().is_some_and(own)
    }

    /// Declares what refers to a local, which is out of reach as long.
    pub(super) fn declare_borrow(&mut self, name: &str, ty: &Ty, lender: &str) {
        let mut var = self.var(name, ty, Via::Ref, false, false);
        var.lender = Some(lender.into());
        self.vars.push(var);
    }

    /// A value that mostly comes from a call, behind some statements.
    pub(super) fn called(&mut self, ty: &Ty, depth: u32) -> Node {
        self.scoped(|g| {
            let count = g.below(2);
            let mut stmts = g.stmts(count, depth.saturating_sub(1));
            let call = if g.chance(75) { g.call_of(ty, depth.clamp(1, 2)) } else { None };
            let value = match call {
                Some(call) => call,
                None => g.expr(ty, depth.min(2)),
            };
            if stmts.is_empty() {
                return value;
            }
            stmts.push(fixed!(value));
            expr!(ty; "{", stmts, "}")
        })
    }

    /// Runs `make` for a branch: only one of several runs, so each may call as if there were no other.
    pub(super) fn branch<T>(&mut self, least: &mut u32, make: impl FnOnce(&mut Self) -> T) -> T {
        let calls = self.calls;
        let made = self.scoped(make);
        *least = (*least).min(self.calls);
        self.calls = calls;
        made
    }

    /// What a local is to hold: its kind, and how it is made.
    fn kept(&mut self) -> (Kept, Node) {
        let (state, _) = self.some_state();
        match self.below(10) {
            0..=3 => (Kept::Many, fixed!(format!("{state}.moves()"))),
            4 => {
                let (a, b) = (self.below(4), self.below(4));
                (Kept::Many, fixed!(format!("vec![{state}.with({a}), {state}.with({b})]")))
            }
            5 => {
                let count = self.purely(|g| g.expr(&Ty::Usize, 1));
                let collected = format!(" & 3)).map(|i| {state}.with(i)).collect::<Vec<State>>()");
                (Kept::Many, fixed!("(0..(", count, collected))
            }
            6 => (Kept::Pair, fixed!(format!("{state}.pair()"))),
            7 => (Kept::Maybe, fixed!(format!("{state}.child({})", self.below(4)))),
            _ => (Kept::One, self.new_state()),
        }
    }

    /// A value made of calls that get borrows of a local.
    pub(super) fn kept_expr(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 || self.defs.state.is_none() {
            return None;
        }
        Some(self.scoped(|g| {
            let (before, name, kind) = g.kept_local();
            let value = g.use_of(&name, kind, ty, depth);
            expr!(ty; "{ ", before, " ", value, " }")
        }))
    }

    /// A body that returns at once, or keeps something for calls whose results are its own.
    pub(super) fn kept_body(&mut self, ret: &Ty, depth: u32) -> Node {
        let base = self.base_case(ret);
        self.less = Some("fuel - 1".into());
        let mut stmts = vec![fixed!("if fuel == 0 { return ", base, "; }")];
        let count = self.below(2);
        stmts.extend(self.stmts(count, 1));
        let value = self.kept_expr(ret, depth).expect("calls can stand in a body");
        stmts.push(fixed!(value));
        fixed!(stmts)
    }

    /// A local that is kept, used, and there to be used again.
    pub(super) fn kept_stmt(&mut self, depth: u32) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 || self.defs.state.is_none() {
            return None;
        }
        let (before, name, kind) = self.kept_local();
        let ty = self.passed_type();
        let value = self.scoped(|g| g.use_of(&name, kind, &ty, depth));
        let (result, of) = (self.fresh("v"), self.defs.name(&ty));
        let mutable = self.chance(30);
        self.declare(&result, &ty, mutable);
        let mutability = if mutable { "mut " } else { "" };
        Some(stmt!(before, format!(" let {mutability}{result}: {of} = "), value, ";"))
    }

    fn kept_local(&mut self) -> (Node, String, Kept) {
        let (kind, value) = self.kept();
        let name = self.fresh("kept");
        let mutable = self.chance(25);
        self.declare(&name, &kind.ty(), mutable);
        let mutability = if mutable { "mut " } else { "" };
        (stmt!(format!("let {mutability}{name} = "), value, ";"), name, kind)
    }

    /// A value made of calls that get borrows of it. Meanwhile it is moved on no path: in another arm than the borrow's that is a
    /// known limit.
    fn use_of(&mut self, name: &str, kind: Kept, ty: &Ty, depth: u32) -> Node {
        let depth = depth.saturating_sub(1).max(1);
        self.hiding(name, |g| g.use_while_hidden(name, kind, ty, depth))
    }

    fn use_while_hidden(&mut self, name: &str, kind: Kept, ty: &Ty, depth: u32) -> Node {
        match kind {
            Kept::Many | Kept::Pair => match self.below(12) {
                0..=3 => self.slice_of_states(name, kind, ty, depth),
                4 | 5 => self.loop_of_states(name, ty, depth),
                6 | 7 => {
                    let method = self.pick(&["first()", "last()", "get(1)", "iter().max_by_key(|m| m.n)"]);
                    self.maybe_of_states(format!("{name}.{method}"), name, ty, depth)
                }
                8 => self.split_states(name, ty, depth),
                _ => self.element_of_states(name, ty, depth),
            },
            Kept::Maybe => {
                let by = self.pick(&["&{}", "{}.as_ref()"]).replace("{}", name);
                self.maybe_of_states(by, name, ty, depth)
            }
            Kept::One => match self.below(4) {
                0 => {
                    let of = self.defs.state.as_ref().expect("a state is kept").of.clone();
                    let parts = format!("{name}.parts()");
                    self.slice_patterns(&parts, Some(name), &of, ty, depth)
                }
                1 => self.referred(name, &format!("&{name}"), ty, depth),
                2 => self.referred(name, &format!("{name}.same()"), ty, depth),
                _ => self.called(ty, depth),
            },
        }
    }

    /// `let r = &kept; …`
    fn referred(&mut self, lender: &str, value: &str, ty: &Ty, depth: u32) -> Node {
        let r = self.fresh("m");
        let body = self.scoped(|g| {
            g.declare_borrow(&r, &Ty::State, lender);
            g.called(ty, depth)
        });
        expr!(ty; format!("{{ let {r} = {value}; "), body, " }")
    }

    /// `match kept.as_slice() { [] => …, [one] => …, [a, rest @ ..] => … }`
    fn slice_of_states(&mut self, name: &str, kind: Kept, ty: &Ty, depth: u32) -> Node {
        let forms: &[&str] = match kind {
            Kept::Many => &["{}.as_slice()", "&{}[..]"],
            _ => &["&{}", "&{}[..]"],
        };
        let form = self.pick(forms);
        let whole = form == "&{}";
        let mut node = expr!(ty; format!("match {} {{ ", form.replace("{}", name)));
        let shapes: &[&[&str]] = if whole {
            &[&["[A, B]"], &["[A, ..]"], &["[.., A]"], &["[A, R @ ..]"]]
        } else {
            &[
                &["[]", "[A]", "[A, R @ ..]"],
                &["[]", "[A]", "[A, .., B]"],
                &["[A, B]", "[A, ..]", "[]"],
                &["[R @ .., A]", "[]"],
                &["[A, _, R @ ..]", "_"],
                &["[A]", "R"],
                &["[_, A]", "[A, ..]", "_"],
            ]
        };
        let shapes = self.pick(shapes);
        let mut least = self.calls;
        for shape in shapes {
            if shape.contains('A') && self.chance(25) {
                self.arm_of_borrows(&mut node, shape, name, &Ty::State, ty, depth, true, &mut least);
            }
            self.arm_of_borrows(&mut node, shape, name, &Ty::State, ty, depth, false, &mut least);
        }
        self.calls = least;
        node.parts.push("}".into());
        node
    }

    /// An arm: `A` and `B` stand for references to elements, `R` for what is left.
    fn arm_of_borrows(
        &mut self,
        node: &mut Node,
        shape: &str,
        lender: &str,
        of: &Ty,
        ty: &Ty,
        depth: u32,
        guarded: bool,
        least: &mut u32,
    ) {
        self.branch(least, |g| {
            let rest = if *of == Ty::State { Ty::States } else { Ty::Slice(Box::new(of.clone())) };
            let mut pattern = String::new();
            for c in shape.chars() {
                let part = match c {
                    'A' | 'B' => of,
                    'R' => &rest,
                    _ => {
                        pattern.push(c);
                        continue;
                    }
                };
                let name = g.fresh("m");
                pattern.push_str(&name);
                g.declare_borrow(&name, part, lender);
            }
            node.parts.push(pattern.into());
            if guarded {
                let guard = g.purely(|g| g.expr(&Ty::Bool, 2));
                node.parts.extend([" if ".into(), guard.into()]);
            }
            let body = g.called(ty, depth);
            node.parts.extend([" => ".into(), body.into(), ", ".into()]);
        });
    }

    /// A `match` on numbers in a row: of a slice, a `Vec` or an array, as it is written, with the local that it belongs to.
    pub(super) fn slice_patterns(
        &mut self,
        text: &str,
        lender: Option<&str>,
        of: &Ty,
        ty: &Ty,
        depth: u32,
    ) -> Node {
        let shapes = [
            "[]",
            "[A]",
            "[A, B]",
            "[A, R @ ..]",
            "[R @ .., A]",
            "[A, .., B]",
            "[_, R @ .., _]",
            "[_, A, R @ ..]",
        ];
        // Who borrows from a parameter takes nothing out of reach.
        let lender = lender.unwrap_or("");
        let mut least = self.calls;
        let mut node = expr!(ty; format!("match {text} {{ "));
        for _ in 0..1 + self.below(3) {
            let (shape, guarded) = (self.pick(&shapes), self.chance(25));
            self.arm_of_borrows(&mut node, shape, lender, of, ty, depth, guarded, &mut least);
        }
        self.arm_of_borrows(&mut node, "_", lender, of, ty, depth, false, &mut least);
        self.calls = least;
        node.parts.push("}".into());
        node
    }

    /// The same for something in scope.
    pub(super) fn some_slice_patterns(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        if self.pure > 0 || self.flat > 0 {
            return None;
        }
        let rows: Vec<(String, Via, Ty, bool)> = self
            .visible()
            .filter_map(|var| match &var.ty {
                Ty::Slice(of) => Some((var.name.clone(), Via::Ref, (**of).clone(), false)),
                Ty::Vec(of) if var.via == Via::Value => {
                    Some((var.name.clone(), var.via, (**of).clone(), false))
                }
                Ty::Array(of, _) if var.via == Via::Value => {
                    Some((var.name.clone(), var.via, (**of).clone(), true))
                }
                _ => None,
            })
            .filter(|(_, _, of, _)| of.is_number())
            .collect();
        if rows.is_empty() {
            return None;
        }
        let (name, via, of, array) = self.pick(&rows);
        if via == Via::Ref {
            return Some(self.slice_patterns(&name, None, &of, ty, depth));
        }
        let form = if array { "&{}[..]" } else { self.pick(&["{}.as_slice()", "&{}[..]"]) };
        let text = form.replace("{}", &name);
        Some(self.hiding(&name, |g| g.slice_patterns(&text, Some(&name), &of, ty, depth)))
    }

    /// A loop over them, with a call for each.
    fn loop_of_states(&mut self, name: &str, ty: &Ty, depth: u32) -> Node {
        let (m, value) = (self.fresh("m"), self.fresh("v"));
        let start = self.leaf(ty);
        let of = self.defs.name(ty);
        // What is made where it is looped over is kept by nobody.
        let temporary = self.chance(35);
        let (state, local) = self.some_state();
        let (source, lender) = match temporary {
            true => (format!("{state}.moves()"), local.unwrap_or_default()),
            false => (name.to_string(), name.to_string()),
        };
        let forms: &[&str] = if temporary {
            &["{}.iter()", "{}.iter().rev()"]
        } else {
            &["{}.iter()", "&{}", "{}.iter().skip(1)"]
        };
        let source = self.pick(forms).replace("{}", &source);
        // Assigned, and hidden by nothing.
        self.vars.push(self.var(&value, ty, Via::Value, true, true));
        let body = self.in_a_loop(3, |g| {
            g.declare_borrow(&m, &Ty::State, &lender);
            let count = g.below(2);
            let mut stmts = g.stmts(count, depth);
            let next = match ty.is_number() {
                true => {
                    let call = g.called(ty, 1);
                    let own = expr!(ty; &value);
                    g.joined(ty, vec![own, call], false)
                }
                // The old value must not be moved away by the new one's code.
                false => g.hiding(&value, |g| g.called(ty, 1)),
            };
            stmts.push(stmt!(format!("{value} = "), next, ";"));
            stmts
        });
        expr!(ty; format!("{{ let mut {value}: {of} = "), start, format!("; for {m} in {source} {{"), body, format!("}} {value} }}"))
    }

    /// What may be there: `if let Some(m) = …`, `match`, `let … else`.
    fn maybe_of_states(&mut self, value: String, lender: &str, ty: &Ty, depth: u32) -> Node {
        let m = self.fresh("m");
        let mut least = self.calls;
        let other = self.branch(&mut least, |g| g.called(ty, depth));
        let some = self.branch(&mut least, |g| {
            g.declare_borrow(&m, &Ty::State, lender);
            g.called(ty, depth)
        });
        self.calls = least;
        match self.below(3) {
            0 => expr!(ty; format!("match {value} {{ Some({m}) => "), some, ", None => ", other, " }"),
            _ => expr!(ty; format!("if let Some({m}) = {value} {{ "), some, " } else { ", other, " }"),
        }
    }

    /// `let first = &kept[0]; …`
    fn element_of_states(&mut self, name: &str, ty: &Ty, depth: u32) -> Node {
        let m = self.fresh("m");
        let index = match self.below(3) {
            0 => "0".into(),
            1 => format!("{name}.len() / 2"),
            _ => format!("{name}.len() - 1"),
        };
        let mut least = self.calls;
        let other = self.branch(&mut least, |g| g.called(ty, depth));
        let some = self.branch(&mut least, |g| {
            g.declare_borrow(&m, &Ty::State, name);
            g.called(ty, depth)
        });
        self.calls = least;
        expr!(ty; format!("if {name}.is_empty() {{ "), other, format!(" }} else {{ let {m} = &{name}[{index}]; "), some, " }")
    }

    /// Parts that stand side by side.
    fn split_states(&mut self, name: &str, ty: &Ty, depth: u32) -> Node {
        let (a, b) = (self.fresh("m"), self.fresh("m"));
        let halves = self.chance(50);
        let mut least = self.calls;
        let other = self.branch(&mut least, |g| g.called(ty, depth));
        let some = self.branch(&mut least, |g| {
            g.declare_borrow(&a, if halves { &Ty::States } else { &Ty::State }, name);
            g.declare_borrow(&b, &Ty::States, name);
            g.called(ty, depth)
        });
        self.calls = least;
        match halves {
            true => expr!(ty; format!("{{ let ({a}, {b}) = {name}.split_at({name}.len() / 2); "), some, " }"),
            false => {
                expr!(ty; format!("if let Some(({a}, {b})) = {name}.split_first() {{ "), some, " } else { ", other, " }")
            }
        }
    }

    /// Owned locals that are alive across calls in branches, some moved into one of them.
    pub(super) fn owned_locals(&mut self, depth: u32) -> Vec<Node> {
        let mut stmts = Vec::new();
        let types = self.owned_types.clone();
        for _ in 0..1 + self.below(3) {
            let ty = self.pick(&types);
            let value = self.purely(|g| g.owned(&ty, 2));
            let (name, of, mutable) = (self.fresh("v"), self.defs.name(&ty), self.chance(40));
            self.declare(&name, &ty, mutable);
            let mutability = if mutable { "mut " } else { "" };
            stmts.push(stmt!(format!("let {mutability}{name}: {of} = "), value, ";"));
        }
        let ty = self.passed_type();
        let (result, of) = (self.fresh("v"), self.defs.name(&ty));
        let mut least = self.calls;
        let test = self.purely(|g| g.expr(&Ty::Bool, 2));
        let mut branches: Vec<Node> =
            (0..2).map(|_| self.branch(&mut least, |g| g.called(&ty, depth.min(3)))).collect();
        self.calls = least;
        let (second, first) = (branches.pop(), branches.pop());
        self.declare(&result, &ty, false);
        let mut node = stmt!(format!("let {result}: {of} = if "), test, " { ");
        node.parts.extend(first.map(Into::into));
        node.parts.push(" } else { ".into());
        node.parts.extend(second.map(Into::into));
        node.parts.push(" };".into());
        stmts.push(node);
        stmts
    }
}
