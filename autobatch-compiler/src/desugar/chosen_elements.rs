//! An element of a small array at an index that is computed: a choice among its elements, so that they can be variables.
//!
//! ```text
//! low[axis] = mid[axis];   ──▶   let value: f64 = { let at: usize = axis; assert!(at < 3, …);
//!                                                   if at == 0 { mid[0] } else if at == 1 { mid[1] } else { mid[2] } };
//!                                let at: usize = axis;
//!                                assert!(at < 3, …);
//!                                if at == 0 { low[0] = value; } else if at == 1 { low[1] = value; } else { low[2] = value; }
//! ```
//!
//! An index that counts the rounds of a loop is no such one: it is the same in all lanes.
//!
//! **Invariant:** what is evaluated, and in which order, stays; an index out of bounds panics with std's words.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use syn::{BinOp, Block, Expr, ExprIndex, Ident, Stmt, Type, parse_quote};

use crate::desugar::substitution::index;
use crate::resolve::types::{Scopes, Types};
use crate::std_models::number_methods::is_pure_method;
use crate::std_models::pure::literal;
use crate::std_models::trip_count::SHORT;
use crate::syntax::mentions::{assignment, bare, name, names, text};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At};

/// The most elements of which one is chosen.
const MOST: usize = SHORT as usize;
/// The most elements that all choices of a function are made among.
const MOST_CHOICES: usize = 96;

/// The type of an array's elements, and how many they are.
type Array = (Type, usize);

/// Makes choices of the computed indices of arrays, as far as that can be done.
pub(super) fn choose(body: &mut Block, arrays: &BTreeMap<String, Array>, scopes: &Scopes, types: &Types<'_>) {
    let mut counters = BTreeSet::new();
    walk::each(&*body, |at| {
        if let At::Expr(Expr::ForLoop(e)) = at {
            counters.extend(names(&e.pat).iter().map(ToString::to_string));
        }
    });
    Choose { arrays, counters, scopes, types, choices: 0 }.visit_block_mut(body);
}

/// Whether lists are written where they are indexed.
pub(super) fn indexes_literals(body: &Block) -> bool {
    let is_written = |e: &Expr| matches!(e, Expr::Index(e) if matches!(bare(&e.expr), Expr::Array(_)));
    walk::any(body, |at| matches!(at, At::Expr(e) if is_written(e)))
}

/// Whether an array is small enough.
pub(super) fn may_be_chosen((_, len): &Array) -> bool {
    (2..=MOST).contains(len)
}

struct Choose<'a> {
    arrays: &'a BTreeMap<String, Array>,
    counters: BTreeSet<String>,
    scopes: &'a Scopes,
    types: &'a Types<'a>,
    choices: usize,
}

impl Choose<'_> {
    /// The array that is indexed by what is computed.
    fn array<'e>(&self, expr: &'e Expr) -> Option<(&'e ExprIndex, &Array)> {
        let Expr::Index(e) = bare(expr) else { return None };
        let array = self.arrays.get(&name(bare(&e.expr))?).filter(|array| may_be_chosen(array))?;
        self.is_computed(&e.index, array.1).then_some((e, array))
    }

    /// Whether an index of an array with so many elements is computed.
    fn is_computed(&self, at: &Expr, len: usize) -> bool {
        let counts = |at: At<'_>| matches!(at, At::Expr(e) if name(e).is_some_and(|name| self.counters.contains(&name)));
        let is_number = self.types.of(self.scopes, at).is_some_and(|ty| text(&ty) == "usize");
        is_number && literal(at).is_none() && !walk::any(at, counts) && self.choices + len <= MOST_CHOICES
    }

    /// The variable of the index, its check, and what is done with the element that it chooses.
    fn choice(&mut self, len: usize, at: &Expr, each: impl Fn(Expr) -> Block) -> (Vec<Stmt>, Expr) {
        self.choices += len;
        let place = Ident::new("__at", Span::mixed_site());
        let element = |nth: usize| each(index(nth as u64));
        let last: Block = element(len - 1);
        let choice = (0..len - 1).rev().fold(parse_quote!(#last), |others: Expr, nth| -> Expr {
            let (own, nth) = (element(nth), index(nth as u64));
            parse_quote!(if #place == #nth #own else #others)
        });
        let bound = index(len as u64);
        let before = vec![
            parse_quote!(let #place: usize = #at;),
            parse_quote! {
                assert!(#place < #bound, "index out of bounds: the len is {} but the index is {}", #bound, #place);
            },
        ];
        (before, choice)
    }

    fn read(&mut self, expr: &Expr) -> Option<Expr> {
        if let Some((e, (_, len))) = self.array(expr) {
            let (list, at, len) = (e.expr.clone(), (*e.index).clone(), *len);
            let (before, choice) = self.choice(len, &at, |nth| parse_quote!({ #list[#nth] }));
            return Some(parse_quote!(({ #(#before)* #choice })));
        }
        // `[0.1, 0.5, 0.9][k]`
        let Expr::Index(e) = bare(expr) else { return None };
        let Expr::Array(list) = bare(&e.expr) else { return None };
        let (elems, at): (Vec<Expr>, Expr) = (list.elems.iter().cloned().collect(), (*e.index).clone());
        let are_literals = elems.iter().all(|elem| matches!(bare(elem), Expr::Lit(_)));
        if !are_literals || !(2..=MOST).contains(&elems.len()) || !self.is_computed(&at, elems.len()) {
            return None;
        }
        let (before, choice) = self.choice(elems.len(), &at, |nth| {
            let elem = literal(&nth).and_then(|nth| elems.get(usize::try_from(nth).ok()?));
            parse_quote!({ #elem })
        });
        Some(parse_quote!(({ #(#before)* #choice })))
    }

    fn written(&mut self, expr: &Expr) -> Option<Vec<Stmt>> {
        let (place, value) = assignment(bare(expr))?;
        let (e, (elem, len)) = self.array(place)?;
        let (list, at, elem, len) = (e.expr.clone(), (*e.index).clone(), elem.clone(), *len);
        let given = Ident::new("__given", Span::mixed_site());
        let op = match bare(expr) {
            Expr::Binary(e) => Some(e.op),
            _ => None,
        };
        // What is shifted by may be of another type.
        let ty = match op {
            Some(BinOp::ShlAssign(_) | BinOp::ShrAssign(_)) => parse_quote!(_),
            _ => elem,
        };
        let mut stmts: Vec<Stmt> = vec![parse_quote!(let #given: #ty = #value;)];
        let (before, choice) = self.choice(len, &at, |nth| match op {
            Some(op) => parse_quote!({ #list[#nth] #op #given; }),
            None => parse_quote!({ #list[#nth] = #given; }),
        });
        stmts.extend(before);
        stmts.push(Stmt::Expr(choice, None));
        Some(stmts)
    }
}

impl VisitMut for Choose<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.visit_stmt_mut(&mut stmt);
            match &stmt {
                Stmt::Expr(e, Some(_)) => match self.written(e) {
                    Some(written) => stmts.extend(written),
                    None => stmts.push(stmt),
                },
                _ => stmts.push(stmt),
            }
        }
        block.stmts = stmts;
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) => return,
            // What is in a place stays there.
            Expr::Assign(syn::ExprAssign { left: place, right: value, .. }) => {
                self.visit_expr_mut(value);
                return self.visit_place(place);
            }
            Expr::Binary(e) if crate::syntax::mentions::is_compound(&e.op) => {
                self.visit_expr_mut(&mut e.right);
                return self.visit_place(&mut e.left);
            }
            Expr::Reference(e) => return self.visit_place(&mut e.expr),
            Expr::MethodCall(e) if !is_pure_method(&e.method) => {
                self.visit_place(&mut e.receiver);
                return e.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        if let Some(choice) = self.read(expr) {
            *expr = choice;
        }
    }

    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Choose<'_> {
    /// The indices of a place that is changed, or referred to.
    fn visit_place(&mut self, place: &mut Expr) {
        let base = visit_mut::visit_indices_mut(self, place);
        if !matches!(base, Expr::Path(_)) {
            self.visit_expr_mut(base);
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::functions;
    use crate::resolve::resolution::VariableTypes;
    use crate::resolve::variables;

    fn chosen(body: TokenStream) -> String {
        let function = &functions(quote!(fn f(mut a: [f64; 2], b: [u64; 9], k: usize) -> f64 #body))[0];
        let types = &Types { definitions: &Definitions::default(), functions: &[], own: None };
        let scopes = variables::types(function, &VariableTypes::new(), types);
        let arrays = [("a".to_string(), (parse_quote!(f64), 2)), ("b".to_string(), (parse_quote!(u64), 9))];
        let mut body = function.body.clone();
        choose(&mut body, &arrays.into(), &scopes, types);
        text(&body)
    }

    #[test]
    fn computed_indices_are_choices() {
        let check = quote! {
            assert!(__at < 2usize, "index out of bounds: the len is {} but the index is {}", 2usize, __at);
        };
        let expected = quote!({
            let __given: f64 = x;
            let __at: usize = k % 2;
            #check
            if __at == 0usize { a[0usize] += __given; } else { a[1usize] += __given; }
            ({ let __at: usize = k; #check if __at == 0usize { a[0usize] } else { a[1usize] } }) + a[1]
        });
        assert_eq!(
            chosen(quote!({
                a[k % 2] += x;
                a[k] + a[1]
            })),
            expected.to_string()
        );
    }

    #[test]
    fn lists_are_written_where_they_are_indexed() {
        let code = chosen(quote!({ x + [0.5, 2.0, 4.0][k] }));
        assert!(
            code.contains("if __at == 0usize { 0.5 } else if __at == 1usize { 2.0 } else { 4.0 }"),
            "{code}"
        );
        for body in [quote!({ [x, 2.0][k] }), quote!({ [0.5, 2.0][1] })] {
            assert_eq!(chosen(body.clone()), body.to_string());
        }
    }

    #[test]
    fn other_indices_stay() {
        for body in [
            quote!({
                for i in 0..k {
                    a[i] += 1.0;
                }
                a[0]
            }),
            quote!({ b[k] as f64 }),
            quote!({
                let r = &mut a[k];
                *r
            }),
            quote!({
                let x = { a[k] = 2.0 };
                a[0]
            }),
            quote!({ a[place()] }),
            quote!({
                a[k].assign(1.0);
                a[0]
            }),
            quote!({
                assert!(a[k] > 0.0);
                a[0]
            }),
        ] {
            assert_eq!(chosen(body.clone()), body.to_string());
        }
    }
}
