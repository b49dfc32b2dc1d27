//! Arrays whose elements are accessed in their place: whole ones, parts of them, slices that are copied.

use std::ops::Range;

use proc_macro2::{Ident, Span};
use syn::{Expr, RangeLimits, Stmt, parse_quote};

use crate::analysis::lane_interchange::admit::{Admit, push};
use crate::analysis::lane_interchange::forms::indexed;
use crate::analysis::lane_interchange::plan::{Array, Node, SMALL};
use crate::diagnostics::reasons::{LOOP_ARRAY, LOOP_INDEX};
use crate::ir::VarId;
use crate::syntax::mentions::bare;

/// The most elements of an array that lane code takes apart.
const LARGEST_VALUE: usize = 64;

impl Admit<'_, '_> {
    /// What copies a slice of an array to one as long of another: `a[..4].copy_from_slice(&b[4..])`.
    pub(super) fn copied(&mut self, to: &Expr, from: &Expr) -> Option<Vec<Stmt>> {
        let Expr::Reference(from) = bare(from) else { return None };
        let ((to, at), (from, from_at)) = (self.slice(to)?, self.slice(&from.expr)?);
        let same = self.variable(&to) == self.variable(&from);
        if same || at.len() != from_at.len() || at.len() > LARGEST_VALUE {
            return None;
        }
        let mut stmts = Vec::new();
        for (i, j) in at.zip(from_at) {
            let (place, element): (Expr, Expr) = (parse_quote!(#to[#i]), parse_quote!(#from[#j]));
            if !self.place(&place) || !self.lane(&element) {
                return None;
            }
            stmts.push(parse_quote!(#place = #element;));
        }
        Some(stmts)
    }

    /// An array of numbers, and the indices that a slice of it has.
    pub(super) fn slice(&self, slice: &Expr) -> Option<(Expr, Range<usize>)> {
        let (root, indices) = indexed(slice);
        let array = self.array(root)?;
        let len = array.size(0).filter(|_| array.lengths.len() == 1)?;
        let range = match indices[..] {
            [] => 0..len,
            [Expr::Range(range)] => {
                let number = |end: &Option<Box<Expr>>, missing: usize| match end {
                    Some(end) => usize::try_from(self.scope.names.trip_counts().number(end)?).ok(),
                    None => Some(missing),
                };
                let end = number(&range.end, len)?;
                let closed = matches!(range.limits, RangeLimits::Closed(_));
                number(&range.start, 0)?..end.checked_add(usize::from(closed))?
            }
            _ => return None,
        };
        (range.start <= range.end && range.end <= len).then(|| (root.clone(), range))
    }

    /// An array that is not small, or a part of one, becomes a value. That of a new one does not mention it.
    pub(super) fn set(
        &mut self,
        place: &Expr,
        value: &Expr,
        is_new: bool,
        nodes: &mut Vec<Node>,
    ) -> Option<()> {
        let (var, array, indices) = self.in_place(place)?;
        let (array, indices) = (array.clone(), indices.into_iter().cloned().collect::<Vec<_>>());
        if !indices.iter().all(|index| self.uniform(index)) {
            return self.refuse(place, LOOP_INDEX);
        }
        if indices.is_empty()
            && let Some(from) = self.variable(value).filter(|from| self.is_large(*from))
        {
            if from != var {
                nodes.push(Node::Copy(var, from));
            }
            return Some(());
        }
        if indices.is_empty()
            && let Some(element) = repeated(value, array.lengths.len())
        {
            return self.lane(element).then(|| nodes.push(Node::Fill(var, Box::new(element.clone()))));
        }
        match bare(value) {
            Expr::Array(e) if is_new => {
                for (i, e) in e.elems.iter().enumerate() {
                    let element = parse_quote!(#place[#i]);
                    if indices.len() + 1 < array.lengths.len() {
                        self.set(&element, e, true, nodes)?;
                    } else if self.lane(e) {
                        push(nodes, Node::Lanes(vec![parse_quote!(#element = #e;)]));
                    } else {
                        return None;
                    }
                }
                Some(())
            }
            value => {
                let all = array.elements(indices.len()).filter(|n| (1..=LARGEST_VALUE).contains(n));
                let elements = array.indices(indices.len()).filter(|_| all.is_some());
                let Some(elements) = elements else { return self.refuse(value, LOOP_ARRAY) };
                if !self.lane(value) {
                    return None;
                }
                let whole = Ident::new("__array", Span::mixed_site());
                let mut stmts: Vec<Stmt> = vec![parse_quote!(let #whole = #value;)];
                stmts.extend(
                    elements.iter().map(|at| -> Stmt { parse_quote!(#place #([#at])* = #whole #([#at])*;) }),
                );
                push(nodes, Node::Lanes(stmts));
                Some(())
            }
        }
    }

    pub(super) fn is_large(&self, var: VarId) -> bool {
        self.scope.arrays.get(&var).is_some_and(|array| !array.is_small())
    }

    /// An array whose elements are accessed in their place, and the indices of a part of it.
    pub(super) fn in_place<'e>(&self, place: &'e Expr) -> Option<(VarId, &Array, Vec<&'e Expr>)> {
        let (root, indices) = indexed(place);
        let var = self.variable(root).filter(|var| self.is_large(*var))?;
        let array = &self.scope.arrays[&var];
        (indices.len() <= array.lengths.len()).then_some((var, array, indices))
    }

    /// Whether an expression is such an array or an array in it.
    pub(super) fn is_array(&self, place: &Expr) -> bool {
        self.in_place(place).is_some_and(|(_, array, indices)| indices.len() < array.lengths.len())
    }

    /// Whether an expression is such a part of an array, and may be taken as a value. Lanes may have elements of their own: they are
    /// gathered.
    pub(super) fn part(&mut self, expr: &Expr) -> bool {
        let Some((_, array, indices)) = self.in_place(expr) else { return false };
        let is_small = array.elements(indices.len()).is_some_and(|n| n <= SMALL);
        let is_element = indices.len() == array.lengths.len();
        let known = self.leaves.len();
        if (is_small || is_element) && indices.iter().all(|index| self.uniform(index)) {
            return true;
        }
        self.leaves.truncate(known);
        is_element && indices.iter().all(|index| self.lane(index))
    }
}

/// The element of an array that repeats it, so many arrays deep.
fn repeated(value: &Expr, depth: usize) -> Option<&Expr> {
    match (depth, bare(value)) {
        (0, element) => Some(element),
        (_, Expr::Repeat(e)) => repeated(&e.expr, depth - 1),
        _ => None,
    }
}
