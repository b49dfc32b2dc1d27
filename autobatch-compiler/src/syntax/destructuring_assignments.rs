//! Assignments to patterns of places, as rustc means them: a `let`, and an assignment to each place.
//!
//! ```text
//! (a[i], b, _) = (b, a[i], f());   ──▶   let (left0, left1, _) = (b, a[i], f()); a[i] = left0; b = left1;
//! ```
//!
//! So nobody behind this meets an assignment to more than a place.
//!
//! **Source.** The Rust reference, “Destructuring assignments”.
//!
//! **Invariant:** what is evaluated, moved and dropped, and in which order, is what the reference says.

use proc_macro2::{Ident, Span};
use syn::punctuated::Punctuated;
use syn::token::Comma;
use syn::{Block, Expr, ExprAssign, ExprCall, ExprRange, ExprStruct, Pat, RangeLimits, Stmt, parse_quote};

use crate::syntax::visit_mut::{self, VisitMut};

/// Rewrites the assignments of a body, before names are made unique.
pub(crate) fn desugar(body: &mut Block) {
    Assignments.visit_block_mut(body);
}

struct Assignments;

impl VisitMut for Assignments {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for mut stmt in std::mem::take(&mut block.stmts) {
            if let Stmt::Expr(Expr::Assign(assign), _) = &mut stmt {
                self.visit_expr_mut(&mut assign.left);
                self.visit_expr_mut(&mut assign.right);
                if let Some(parts) = parts(assign) {
                    block.stmts.extend(parts);
                    continue;
                }
            } else {
                self.visit_stmt_mut(&mut stmt);
            }
            block.stmts.push(stmt);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Assign(assign) = expr
            && let Some(parts) = parts(assign)
        {
            *expr = parse_quote!({ #(#parts)* });
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The statements that an assignment to a pattern becomes, if it is one.
fn parts(assign: &ExprAssign) -> Option<Vec<Stmt>> {
    if !assign.attrs.is_empty() || matches!(*assign.left, Expr::Path(_)) {
        return None;
    }
    let mut places = Vec::new();
    let pattern = pattern(&assign.left, &mut places)?;
    // A place by itself is no pattern.
    if matches!(pattern, Pat::Ident(_)) {
        return None;
    }
    let value = &assign.right;
    let mut parts: Vec<Stmt> = vec![parse_quote!(let #pattern = #value;)];
    parts.extend(places.iter().map(|(place, left)| -> Stmt { parse_quote!(#place = #left;) }));
    Some(parts)
}

/// The pattern that takes a value apart for what stands to the left of `=`. The places come with the variables that have their values.
fn pattern<'e>(left: &'e Expr, places: &mut Vec<(&'e Expr, Ident)>) -> Option<Pat> {
    Some(match left {
        Expr::Tuple(e) => {
            let elems = patterns(&e.elems, places)?;
            parse_quote!((#elems))
        }
        Expr::Array(e) => {
            let elems = patterns(&e.elems, places)?;
            parse_quote!([#elems])
        }
        // A call is no place, so this is a structure.
        Expr::Call(ExprCall { func, args, .. }) if matches!(**func, Expr::Path(_)) => {
            let elems = patterns(args, places)?;
            parse_quote!(#func(#elems))
        }
        Expr::Struct(ExprStruct { path, qself: None, fields, dot2_token: rest, .. }) => {
            let members = fields.iter().map(|field| &field.member);
            let pats = fields.iter().map(|f| pattern(&f.expr, places)).collect::<Option<Vec<_>>>()?;
            parse_quote!(#path { #(#members: #pats,)* #rest })
        }
        Expr::Paren(e) => pattern(&e.expr, places)?,
        Expr::Group(e) => pattern(&e.expr, places)?,
        Expr::Infer(_) => parse_quote!(_),
        Expr::Range(ExprRange { start: None, end: None, limits: RangeLimits::HalfOpen(_), .. }) => {
            parse_quote!(..)
        }
        // One of these names may be a structure without fields.
        Expr::Path(e) if e.path.get_ident()?.to_string().starts_with(char::is_uppercase) => return None,
        Expr::Path(_) | Expr::Index(_) | Expr::Field(_) | Expr::Unary(_) => {
            let value = Ident::new(&format!("__left{}", places.len()), Span::mixed_site());
            places.push((left, value.clone()));
            parse_quote!(#value)
        }
        _ => return None,
    })
}

fn patterns<'e>(
    left: &'e Punctuated<Expr, Comma>,
    places: &mut Vec<(&'e Expr, Ident)>,
) -> Option<Punctuated<Pat, Comma>> {
    let mut all = Punctuated::new();
    for pair in left.pairs() {
        all.push_value(pattern(pair.value(), places)?);
        if let Some(comma) = pair.punct() {
            all.push_punct(**comma);
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::{Block, parse_quote};

    use super::desugar;
    use crate::syntax::mentions::text;

    #[test]
    fn assignments_are_lets_and_assignments_to_places() {
        for (before, after) in [
            (
                quote!((a[i], b) = (b, a[i]);),
                quote!(let (__left0, __left1) = (b, a[i]); a[i] = __left0; b = __left1;),
            ),
            (quote!([(x,), .., _] = of(y);), quote!(let [(__left0,), .., _] = of(y); x = __left0;)),
            (
                quote!(P { x: s.x, y: Q(y, _), .. } = p;),
                quote!(let P { x: __left0, y: Q(__left1, _), .. } = p; s.x = __left0; y = __left1;),
            ),
            (quote!(P { x } = p;), quote!(let P { x: __left0, } = p; x = __left0;)),
            (quote!(_ = f();), quote!(let _ = f();)),
            // The right side's own come first.
            (
                quote!(let f = || (a, b) = { (c, d) = e; f };),
                quote!(let f = || {
                    let (__left0, __left1) = { let (__left0, __left1) = e; c = __left0; d = __left1; f };
                    a = __left0;
                    b = __left1;
                };),
            ),
            // A structure without fields is no variable, nor is what another module has.
            (quote!((a, UNIT) = p;), quote!((a, UNIT) = p;)),
            (quote!((a, other::b) = p;), quote!((a, other::b) = p;)),
            (quote!(a = b; *a = b; a.b = c; a[i] = d;), quote!(a = b; *a = b; a.b = c; a[i] = d;)),
        ] {
            let (mut block, want): (Block, Block) = (parse_quote!({ #before }), parse_quote!({ #after }));
            desugar(&mut block);
            assert_eq!(text(&block), text(&want));
        }
    }
}
