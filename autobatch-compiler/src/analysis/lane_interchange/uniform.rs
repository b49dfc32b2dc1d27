//! The same value in all lanes: what loops go over, elements of shared data, and what is computed from them.

use syn::{Block, Expr, ExprField, ExprIndex, Index, Local, LocalInit, Pat, Stmt, Type, UnOp, parse_quote};

use crate::analysis::lane_interchange::admit::Admit;
use crate::analysis::lane_interchange::forms::{indexed, names_only};
use crate::analysis::lane_interchange::plan::Leaf;
use crate::analysis::lane_interchange::rounds::{endless, steps};
use crate::ir::VarId;
use crate::ir::effects::bound;
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::{is_constant, is_list, is_plain_literal, is_primitive};
use crate::syntax::mentions::{assignment, bare, behind_references, has_let, is_compound};

/// The items of an iterator.
pub(super) enum Items {
    /// Integers.
    Numbers,
    /// Elements of the list of which this is one.
    Elements(Box<Expr>),
    /// Parts of a list: as it is written, a list of the same elements.
    Lists(Box<Expr>),
    /// Integers and items.
    Numbered(Box<Items>),
    /// Items and items.
    Pairs(Box<Items>, Box<Items>),
}

/// The parts of an element that a pattern names, with the patterns.
fn parts<'p>(pat: &'p Pat, element: &Expr) -> Vec<(&'p Pat, Expr)> {
    match pat {
        Pat::Slice(p) => {
            let part = |(nth, part): (usize, &'p Pat)| parts(part, &parse_quote!(#element[#nth]));
            p.elems.iter().enumerate().flat_map(part).collect()
        }
        Pat::Tuple(p) => {
            let part = |(nth, part): (usize, &'p Pat)| {
                let nth = Index::from(nth);
                parts(part, &parse_quote!(#element.#nth))
            };
            p.elems.iter().enumerate().flat_map(part).collect()
        }
        Pat::Wild(_) => vec![],
        _ => vec![(pat, element.clone())],
    }
}

impl Admit<'_, '_> {
    /// What a `for` runs over: so many steps in every lane, or as many as are counted, items that are integers or elements of
    /// shared data.
    pub(super) fn iterator(&mut self, expr: &Expr) -> Option<Items> {
        let expr = bare(expr);
        if let Some(steps) = steps(expr) {
            return steps
                .range
                .start
                .as_ref()
                .is_some_and(|start| self.uniform(start))
                .then_some(Items::Numbers);
        }
        if let Some(first) = endless(expr) {
            return self.uniform(first).then_some(Items::Numbers);
        }
        match expr {
            Expr::Range(e) => match (&e.start, &e.end) {
                (Some(start), Some(end)) if self.uniform(start) && self.uniform(end) => Some(Items::Numbers),
                _ => None,
            },
            Expr::MethodCall(e) => match (e.method.to_string().as_str(), e.args.first()) {
                ("rev", None) => self.iterator(&e.receiver),
                ("enumerate", None) => Some(Items::Numbered(Box::new(self.iterator(&e.receiver)?))),
                ("step_by", Some(step)) => {
                    let items = self.iterator(&e.receiver)?;
                    self.uniform(step).then_some(items)
                }
                ("iter", None) => self.elements(&e.receiver),
                ("windows" | "chunks" | "chunks_exact", Some(len)) => {
                    let is_list = self.is_known_list_of(&e.receiver, 1) && self.uniform(len);
                    is_list.then(|| Items::Lists(Box::new((*e.receiver).clone())))
                }
                // What is copied is read alike.
                ("copied", None) => self.iterator(&e.receiver),
                ("skip" | "take", Some(len)) => {
                    let items = self.iterator(&e.receiver)?;
                    self.uniform(len).then_some(items)
                }
                ("zip", Some(other)) => {
                    let items = self.iterator(&e.receiver)?;
                    Some(Items::Pairs(Box::new(items), Box::new(self.iterator(other)?)))
                }
                _ => None,
            },
            Expr::Path(_) if self.variable(expr).is_some() => self.elements(expr),
            Expr::Reference(e) if e.mutability.is_none() => self.elements(&e.expr),
            _ => None,
        }
    }

    /// The elements of a list that all lanes share.
    pub(super) fn elements(&mut self, list: &Expr) -> Option<Items> {
        let element: Expr = if self.is_list_of(list, 1) {
            parse_quote!(#list[0])
        } else {
            // One of a list of lists.
            let list = self.same_element(list)?;
            let element = parse_quote!(#list[0]);
            let (root, indices) = indexed(&element);
            if !matches!(root, Expr::Path(_)) {
                return None;
            }
            self.leaves.push(Leaf::List(root.clone(), indices.len()));
            element
        };
        Some(Items::Elements(Box::new(element)))
    }

    /// Whether an expression is a shared list, and one of lists where so many indices follow. What only has the name of one rustc is asked.
    pub(super) fn is_list_of(&mut self, list: &Expr, indices: usize) -> bool {
        let is_shelf = matches!(list, Expr::Path(_) | Expr::Field(_)) && self.is_shelf(list);
        if is_shelf && !self.is_slice(list) {
            self.leaves.push(Leaf::List(list.clone(), indices));
        }
        is_shelf
    }

    /// The same of one that is known well enough to name parts of its elements.
    fn is_known_list_of(&mut self, list: &Expr, indices: usize) -> bool {
        (self.is_part(list) || self.scope.is_known(list)) && self.is_list_of(list, indices)
    }

    /// Whether an expression is a part of a list, which a loop gives its rounds.
    fn is_part(&self, expr: &Expr) -> bool {
        self.variable(expr).is_some_and(|var| self.lists.contains_key(&var))
    }

    /// Notes what the variables of a pattern stand for: parts of an element are elements.
    pub(super) fn item(&mut self, pat: &Pat, items: &Items) {
        match (pat, items) {
            (Pat::Paren(p), _) => self.item(&p.pat, items),
            (Pat::Reference(p), _) => self.item(&p.pat, items),
            (Pat::Tuple(p), Items::Numbered(inner)) if p.elems.len() == 2 => self.item(&p.elems[1], inner),
            (Pat::Tuple(p), Items::Pairs(first, second)) if p.elems.len() == 2 => {
                self.item(&p.elems[0], first);
                self.item(&p.elems[1], second);
            }
            (_, Items::Numbers) | (Pat::Wild(_), _) => {}
            (Pat::Ident(_), Items::Elements(element)) => {
                let vars = bound(&self.scope.names, pat);
                self.elements.extend(vars.into_iter().map(|var| (var, (**element).clone())));
            }
            (Pat::Ident(_), Items::Lists(list)) => {
                let vars = bound(&self.scope.names, pat);
                self.lists.extend(vars.into_iter().map(|var| (var, (**list).clone())));
            }
            (Pat::Tuple(_) | Pat::Slice(_), Items::Elements(element)) if self.is_known_element(element) => {
                for (part, element) in parts(pat, element) {
                    self.item(part, &Items::Elements(Box::new(element)));
                }
            }
            // Whatever the pattern makes of it: elements must be primitive.
            (_, items) => self.whole(items),
        }
    }

    /// Notes items that are taken as they are.
    fn whole(&mut self, items: &Items) {
        match items {
            Items::Numbers => {}
            Items::Elements(element) => self.leaves.push(Leaf::Element((**element).clone())),
            Items::Lists(list) => self.leaves.push(Leaf::Value((**list).clone())),
            Items::Numbered(items) => self.whole(items),
            Items::Pairs(first, second) => {
                self.whole(first);
                self.whole(second);
            }
        }
    }

    /// Whether a `let` takes an element of a shared list apart, or refers to one, and the element is the same for all lanes.
    pub(super) fn takes_element(&mut self, local: &Local) -> bool {
        let Some(LocalInit { expr, diverge: None, .. }) = &local.init else { return false };
        let vars = bound(&self.scope.names, &local.pat);
        let element = match (&local.pat, bare(expr)) {
            (pat, of @ Expr::Path(_)) if names_only(pat) => {
                let element = self.variable(of).and_then(|var| self.elements.get(&var)).cloned();
                let takes = vars.iter().all(|var| self.may_be_uniform(*var));
                let Some(element) = element.filter(|_| takes) else { return false };
                self.item(pat, &Items::Elements(Box::new(element)));
                self.uniforms.extend(vars);
                return true;
            }
            (Pat::Tuple(_), place) => place,
            (pat @ Pat::Slice(_), place) if names_only(pat) => place,
            (Pat::Ident(_), Expr::Reference(e)) if e.mutability.is_none() => bare(&e.expr),
            (Pat::Ident(p), place) if p.mutability.is_none() => place,
            _ => return false,
        };
        let known = self.leaves.len();
        let takes = vars.iter().all(|var| self.may_be_uniform(*var));
        let taken = if takes { self.same_element(element) } else { None };
        let is_taken = taken.is_some();
        match taken {
            Some(element) => {
                self.item(&local.pat, &Items::Elements(Box::new(element)));
                self.uniforms.extend(vars);
            }
            None => self.leaves.truncate(known),
        }
        is_taken
    }

    /// An element, or a part of one, that is the same for all lanes.
    fn same_element(&mut self, element: &Expr) -> Option<Expr> {
        self.part_of_element(element, Self::uniform).map(|part| self.in_whole(part))
    }

    /// Whether lane code may have a value, of which a pattern may take the parts.
    pub(super) fn value(&mut self, pat: &Pat, value: &Expr) -> bool {
        let (list, indices) = indexed(value);
        if !matches!(pat, Pat::Tuple(_)) || indices.is_empty() || !self.is_known_list_of(list, indices.len())
        {
            return self.lane(value);
        }
        let element = self.in_whole(bare(value).clone());
        self.leaves.extend(parts(pat, &element).into_iter().map(|(_, part)| Leaf::Element(part)));
        indices.into_iter().all(|index| self.lane(index))
    }

    /// A shared list. Whether a constant or a field is one, rustc is asked.
    pub(super) fn is_shelf(&self, expr: &Expr) -> bool {
        match (self.variable(expr), expr) {
            _ if self.is_part(expr) => true,
            (Some(var), _) => {
                self.is_shared(var) && self.scope.program.var(var).ty.as_ref().is_some_and(is_list)
            }
            (None, Expr::Path(path)) => is_constant(path),
            (None, Expr::Field(_)) => self.is_shared_field(expr),
            _ => false,
        }
    }

    /// Whether a list is a slice or an array for certain: its type is not one that has a name.
    fn is_slice(&self, list: &Expr) -> bool {
        let ty = self.variable(list).and_then(|var| self.scope.program.var(var).ty.as_ref());
        self.is_part(list)
            || ty.is_some_and(|ty| matches!(behind_references(ty), Type::Slice(_) | Type::Array(_)))
    }

    /// A field of something shared.
    fn is_shared_field(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Field(e) => self.is_shared_field(&e.base),
            other => self.variable(other).is_some_and(|var| self.is_shared(var)),
        }
    }

    /// An element of shared data: constant or shared list, any index.
    pub(super) fn element(&mut self, e: &syn::ExprIndex, admits: fn(&mut Self, &Expr) -> bool) -> bool {
        let element = Expr::Index(e.clone());
        if let Some(part) = self.part_of_element(&element, admits) {
            self.leaves.push(Leaf::Element(self.in_whole(part)));
            return true;
        }
        let (list, indices) = indexed(&element);
        let is_list = self.is_list_of(list, indices.len());
        if is_list {
            self.leaves.push(Leaf::Element(self.in_whole(element)));
        }
        is_list
    }

    /// An element of a shared list, or a part of one, also of what a loop gives its rounds: as one of the list's.
    fn part_of_element(&mut self, part: &Expr, admits: fn(&mut Self, &Expr) -> bool) -> Option<Expr> {
        match bare(part) {
            Expr::Path(_) => {
                let element = self.variable(part).and_then(|var| self.elements.get(&var))?;
                self.is_known_element(element).then(|| element.clone())
            }
            Expr::Index(e) => {
                let (list, index) = (&e.expr, &e.index);
                let base = match self.part_of_element(list, admits) {
                    None if self.is_known_list_of(list, 1) => (**list).clone(),
                    base => base?,
                };
                admits(self, index).then(|| parse_quote!(#base[#index]))
            }
            Expr::Field(e) => {
                let (base, member) = (self.part_of_element(&e.base, admits)?, &e.member);
                Some(parse_quote!(#base.#member))
            }
            _ => None,
        }
    }

    /// Whether an element, or a part of one, is of a list that is known well enough to name parts of its elements.
    fn is_known_element(&self, element: &Expr) -> bool {
        match element {
            Expr::Index(e) => self.scope.is_known(&e.expr) || self.is_known_element(&e.expr),
            Expr::Field(e) => self.is_known_element(&e.base),
            _ => false,
        }
    }

    /// An element of a part of a list as one of the list, which code outside the loop knows too.
    fn in_whole(&self, mut element: Expr) -> Expr {
        let mut root = &mut element;
        while let Expr::Field(ExprField { base: inner, .. }) | Expr::Index(ExprIndex { expr: inner, .. }) =
            root
        {
            root = inner;
        }
        if let Some(list) = self.variable(root).and_then(|var| self.lists.get(&var)) {
            *root = list.clone();
        }
        element
    }

    pub(super) fn uniform(&mut self, expr: &Expr) -> bool {
        let expr = bare(expr);
        match expr {
            Expr::Lit(lit) => is_plain_literal(&lit.lit),
            Expr::Path(path) => match self.variable(expr) {
                Some(var) if self.uniforms.contains(&var) => self.known(var),
                Some(var) if self.scope.derived.contains(&var) => true,
                Some(var) => self.is_shared(var) && self.leaf(expr),
                None => is_constant(path) && self.leaf(expr),
            },
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.is_of_element(&e.expr),
            Expr::Unary(e) => matches!(e.op, UnOp::Neg(_) | UnOp::Not(_)) && self.uniform(&e.expr),
            Expr::Binary(e) => !is_compound(&e.op) && self.uniform(&e.left) && self.uniform(&e.right),
            Expr::Cast(e) => is_primitive(&e.ty) && self.uniform(&e.expr),
            Expr::Tuple(e) => e.elems.iter().all(|e| self.uniform(e)),
            Expr::Field(_) => self.field(expr, Self::uniform),
            Expr::Index(e) => {
                self.element(e, Self::uniform) && indexed(expr).1.into_iter().all(|index| self.uniform(index))
            }
            Expr::MethodCall(e) if e.method == "len" && e.args.is_empty() => {
                self.array(&e.receiver).is_some() || self.elements(&e.receiver).is_some()
            }
            Expr::If(e) if e.attrs.is_empty() && !has_let(&e.cond) => {
                let branch = |admit: &mut Self, block: &Block| match &block.stmts[..] {
                    [Stmt::Expr(value, None)] => admit.uniform(value),
                    _ => false,
                };
                self.uniform(&e.cond)
                    && branch(self, &e.then_branch)
                    && e.else_branch.as_ref().is_some_and(|(_, other)| match &**other {
                        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => branch(self, &e.block),
                        other => self.uniform(other),
                    })
            }
            Expr::MethodCall(e) => {
                is_pure_method(&e.method)
                    && self.uniform(&e.receiver)
                    && e.args.iter().all(|a| self.uniform(a))
            }
            _ => false,
        }
    }

    /// Whether a variable may have one value for all lanes: it is not assigned to, or not by lane code, nor in rounds that are those of some
    /// lanes only.
    pub(super) fn may_be_uniform(&self, var: VarId) -> bool {
        !self.scope.program.var(var).mutable || self.predicated == 0 && !self.varying.contains(&var)
    }

    /// Whether a statement assigns values that are the same for all lanes, to variables that are, under conditions that are.
    pub(super) fn is_same_for_all(&mut self, stmt: &Stmt) -> bool {
        let Stmt::Expr(e, _) = stmt else { return false };
        match bare(e) {
            Expr::If(e) if e.attrs.is_empty() && !has_let(&e.cond) => {
                let branch = |admit: &mut Self, block: &Block| {
                    block.stmts.iter().all(|stmt| admit.is_same_for_all(stmt))
                };
                branch(self, &e.then_branch)
                    && self.uniform(&e.cond)
                    && e.else_branch.as_ref().is_none_or(|(_, other)| match &**other {
                        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => branch(self, &e.block),
                        other => self.is_same_for_all(&Stmt::Expr(other.clone(), None)),
                    })
            }
            e => assignment(e).is_some_and(|(place, value)| {
                let var = self.variable(bare(place));
                var.is_some_and(|var| self.uniforms.contains(&var) && self.may_be_uniform(var))
                    && self.uniform(value)
            }),
        }
    }

    pub(super) fn leaf(&mut self, expr: &Expr) -> bool {
        self.leaves.push(Leaf::Value(expr.clone()));
        true
    }

    /// The value of a uniform local.
    pub(super) fn known(&mut self, var: VarId) -> bool {
        self.leaves.extend(self.elements.get(&var).cloned().map(Leaf::Element));
        !self.lists.contains_key(&var)
    }

    /// Whether an expression is what a loop over a shared list gives its rounds: a reference to an element.
    pub(super) fn is_of_element(&mut self, expr: &Expr) -> bool {
        let var = self.variable(expr).filter(|var| self.elements.contains_key(var));
        var.is_some_and(|var| self.known(var))
    }

    /// A field of something shared, or of an element of a shared list at an index that is admitted.
    pub(super) fn field(&mut self, expr: &Expr, admits: fn(&mut Self, &Expr) -> bool) -> bool {
        if let Some(part) = self.part_of_element(expr, admits) {
            self.leaves.push(Leaf::Element(self.in_whole(part)));
            return true;
        }
        self.is_shared_field(expr) && self.leaf(expr)
    }
}
