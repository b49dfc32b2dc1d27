//! A type that holds itself, and methods that walk it: recursion that ends because the tree does.

use super::{Gen, Loop, Via};
use crate::tree::{Form, Function, Node, Owner, Param, Passing, expr, fixed, stmt};
use crate::types::Ty;

/// How an arm has what it binds.
fn via(passing: Passing) -> Via {
    match passing {
        Passing::State => Via::Mut,
        Passing::SharedRef => Via::Ref,
        _ => Via::Value,
    }
}

impl Gen {
    /// A type that holds itself, with the types of its data.
    pub(super) fn tree_type(&mut self) {
        let data = [self.number_type(), self.some_type()];
        self.defs.tree = Some(data);
    }

    /// The signature of a method that walks it.
    pub(super) fn tree_method(&mut self, form: Form, state: Option<&Ty>) {
        let index = self.sigs.len();
        let of_trait = match form {
            Form::Impl => self.sigs.first().is_some_and(|f| f.owner.as_ref().is_some_and(|o| o.of_trait)),
            _ => self.chance(30),
        };
        let passing = match self.below(3) {
            0 => Passing::Each,
            1 => Passing::State,
            _ => Passing::SharedRef,
        };
        let param = |name: &str, passing, ty| Param { name: name.into(), passing, ty, mutable: false };
        let mut params = vec![param("self", passing, Ty::Tree)];
        for i in 0..1 + self.below(2) {
            let ty = self.some_type();
            params.push(Param { mutable: self.chance(30), ..param(&format!("a{i}"), Passing::Each, ty) });
        }
        if let Some(ty) = state
            && self.chance(50)
        {
            params.push(param("state", Passing::State, ty.clone()));
        }
        let ret = match self.below(4) {
            0 => self.passed_type(),
            _ => self.number_type(),
        };
        let owner = Some(Owner { ty: Ty::Tree, of_trait });
        let entry = of_trait || form == Form::Impl || self.chance(70) || index == 0;
        self.sigs.push(Function { name: format!("f{index}"), owner, params, ret, entry, body: fixed!() });
    }

    /// The body of such a method.
    pub(super) fn tree_body(&mut self, ret: &Ty) -> Node {
        let function = self.function().clone();
        let passing = function.params[0].passing;
        let data = self.defs.tree.clone().expect("a tree has methods");
        self.hidden.push("self".into());
        self.calls = 0;
        let mut node = expr!(ret; "match self { ");
        for variant in 0..4 {
            let vars = self.vars.len();
            let (x, y, z) = (self.fresh("t"), self.fresh("t"), self.fresh("t"));
            let (kind, assign) = (via(passing), passing == Passing::State);
            let own = if self.chance(50) { "Self" } else { "Tree" };
            let (pattern, children) = match variant {
                0 => (format!("{own}::Leaf({x})"), vec![]),
                1 => (format!("{own}::Nest({y}, {x})"), vec![y]),
                2 => (format!("{own}::Fork {{ left: {y}, weight: {x}, right: {z} }}"), vec![y, z]),
                _ => (format!("{own}::Many({y})"), vec![y]),
            };
            let of = if variant == 0 { 0 } else { 1 };
            if variant < 3 {
                self.vars.push(self.var(&x, &data[of], kind, assign, false));
            }
            node.parts.push(format!("{pattern} => ").into());
            let body = match variant {
                3 => self.many(ret, &children[0]),
                _ => self.children(ret, &children),
            };
            node.parts.push(body.into());
            node.parts.push(", ".into());
            self.vars.truncate(vars);
        }
        node.parts.push("}".into());
        self.hidden.pop();
        fixed!(vec![fixed!(node)])
    }

    /// What is made of one or two children.
    fn children(&mut self, ret: &Ty, children: &[String]) -> Node {
        let mut stmts = if self.chance(40) { self.stmts(1, 2) } else { vec![] };
        let mut sum: Vec<Node> = Vec::new();
        for child in children {
            if !ret.is_number() || self.chance(30) {
                let Some((call, ty)) = self.walked(child, None) else { continue };
                let (name, of) = (self.fresh("v"), self.defs.name(&ty));
                stmts.push(stmt!(format!("let {name}: {of} = "), call, ";"));
                self.declare(&name, &ty, false);
            } else if let Some((call, _)) = self.walked(child, Some(ret)) {
                sum.push(call);
            }
        }
        if sum.is_empty() {
            let value = self.expr(ret, 2);
            stmts.push(fixed!(value));
            return fixed!("{", stmts, "}");
        }
        if self.chance(50) {
            sum.push(self.leaf(ret));
        }
        stmts.push(fixed!(self.joined(ret, sum, false)));
        fixed!("{", stmts, "}")
    }

    /// A list of children.
    fn many(&mut self, ret: &Ty, list: &str) -> Node {
        let child = self.fresh("t");
        let passing = self.function().params[0].passing;
        if ret.is_number()
            && passing == Passing::SharedRef
            && self.chance(40)
            && let Some(call) = self.in_a_closure(ret, &child)
        {
            let number = self.defs.name(ret);
            let mix = if ret.is_float() { "a * 0.5 + b" } else { "a.rotate_left(3) ^ b" };
            let first = self.literal(ret);
            return expr!(ret; format!("{list}.iter().map(|{child}| "), call, ").fold(", first, format!(", |a: {number}, b| {mix})"));
        }
        let name = self.fresh("v");
        let start = self.leaf(ret);
        let of = self.defs.name(ret);
        let (label, vars) = (self.chance(20).then(|| self.fresh("'l")), self.vars.len());
        let prefix = label.as_ref().map_or(String::new(), |label| format!("{label}: "));
        self.declare(&name, ret, true);
        self.loops.push(Loop { label, value: None, repeats: true });
        self.weight *= 3;
        let value = match self.walked(&child, Some(ret)) {
            Some((call, _)) if ret.is_number() => {
                let before = expr!(ret; &name);
                self.joined(ret, vec![before, call], false)
            }
            Some((call, _)) => call,
            None => self.leaf(ret),
        };
        let mut body = if self.chance(50) { self.stmts(1, 2) } else { vec![] };
        body.push(stmt!(format!("{name} = "), value, ";"));
        self.weight /= 3;
        self.loops.pop();
        self.vars.truncate(vars);
        fixed!(
            "{ ",
            format!("let mut {name}: {of} = "),
            start,
            format!("; {prefix}for {child} in {list} {{"),
            body,
            format!("}} {name} }}")
        )
    }

    /// The same with plain arguments.
    fn in_a_closure(&mut self, ret: &Ty, child: &str) -> Option<Node> {
        self.flat += 1;
        self.loops.push(Loop { label: None, value: None, repeats: false });
        let call = self.walked(child, Some(ret));
        self.loops.pop();
        self.flat -= 1;
        call.map(|(call, _)| call)
    }

    /// A call of a method for a child, and its type: the one wanted, if there is one.
    fn walked(&mut self, child: &str, wanted: Option<&Ty>) -> Option<(Node, Ty)> {
        let own = self.function().params[0].passing;
        let fits: Vec<Function> = self
            .sigs
            .iter()
            .filter(|f| f.owner.as_ref().is_some_and(|owner| owner.ty == Ty::Tree))
            .filter(|f| [own, Passing::SharedRef].contains(&f.params[0].passing))
            .filter(|f| wanted.is_none_or(|ty| f.ret == *ty))
            .filter(|f| {
                let state = |param: &&Param| param.name == "state";
                f.params.iter().find(state).is_none_or(|_| {
                    self.flat == 0 && self.function().params.iter().any(|p| p.name == "state")
                })
            })
            .cloned()
            .collect();
        if fits.is_empty() {
            return None;
        }
        let f = self.pick(&fits);
        let mut call = expr!(f.ret; format!("{child}.{}(", f.name));
        // A call in an argument would be one more activation before it is lent.
        self.pure += 1;
        for param in &f.params[1..] {
            let value = match param.passing {
                Passing::State => fixed!("state"),
                _ => {
                    self.lent += 1;
                    let value = self.expr(&param.ty, 2);
                    self.lent -= 1;
                    value
                }
            };
            call.parts.extend([value.into(), ", ".into()]);
        }
        self.pure -= 1;
        call.parts.push(")".into());
        Some((call, f.ret))
    }

    /// A walk of a tree that is a parameter, or made here.
    pub(super) fn tree_call(&mut self, ty: &Ty) -> Option<Node> {
        let walker = self.owner().is_some_and(|owner| owner.ty == Ty::Tree);
        let leaf = !self.function().entry && !self.has_fuel();
        if walker || leaf || self.pure > 0 || self.flat > 0 || self.lent > 0 || self.calls < self.weight {
            return None;
        }
        let own = self.visible().any(|var| var.ty == Ty::Tree && var.via == Via::Ref);
        let fits: Vec<Function> = self
            .sigs
            .iter()
            .filter(|f| f.owner.as_ref().is_some_and(|owner| owner.ty == Ty::Tree) && f.ret == *ty)
            .filter(|f| f.params.iter().all(|param| param.name != "state"))
            .cloned()
            .collect();
        if fits.is_empty() {
            return None;
        }
        self.calls -= self.weight;
        let f = self.pick(&fits);
        let mut call = expr!(ty;);
        let closing = if own && f.params[0].passing == Passing::SharedRef && self.chance(60) {
            call.parts.push(format!("tree.{}(", f.name).into());
            ")"
        } else {
            let tree = self.tree_literal(2);
            let name = self.fresh("r");
            let mutability = if f.params[0].passing == Passing::State { "mut " } else { "" };
            let of = if self.chance(50) { ": Tree" } else { "" };
            call.parts.extend([format!("{{ let {mutability}{name}{of} = ").into(), tree.into()]);
            call.parts.push(format!("; {name}.{}(", f.name).into());
            ") }"
        };
        self.pure += 1;
        for param in &f.params[1..] {
            let value = self.expr(&param.ty, 1);
            call.parts.extend([value.into(), ", ".into()]);
        }
        self.pure -= 1;
        call.parts.push(closing.into());
        Some(call)
    }

    fn tree_literal(&mut self, depth: u32) -> Node {
        let [leaf, inner] = self.defs.tree.clone().expect("there is a tree to be made");
        match if depth == 0 { 0 } else { self.below(4) } {
            0 => fixed!("Tree::Leaf(", self.leaf(&leaf), ")"),
            1 => fixed!("Tree::Nest(Box::new(", self.tree_literal(depth - 1), "), ", self.leaf(&inner), ")"),
            2 => {
                let (left, right) = (self.tree_literal(depth - 1), self.tree_literal(depth - 1));
                let weight = self.leaf(&inner);
                fixed!(
                    "Tree::Fork { left: Box::new(",
                    left,
                    "), weight: ",
                    weight,
                    ", right: Box::new(",
                    right,
                    ") }"
                )
            }
            _ => fixed!("Tree::Many(vec![", self.tree_literal(depth - 1), ", ", self.tree_literal(0), "])"),
        }
    }
}
