//! What a pattern takes of an enumeration whose variable is a tuple: which variants, under which conditions, and what it binds.
//!
//! ```text
//! Some((t, _))     ──▶   the variant 1; `t` is `v.1.0`
//! Key { n: 3, k }  ──▶   the variant of `Key`, if `v.4 == 3`; `k` is `v.5`
//! ```

use syn::{Block, Expr, Ident, Member, Pat, PatIdent, Stmt, parse_quote};

use crate::desugar::variant_tuples::{Enumeration, part_of};
use crate::resolve::types::Types;
use crate::std_models::pure::is_plain_literal;
use crate::syntax::mentions::is_variable;
use crate::syntax::walk::{self, At, AtMut, Next};

/// What a pattern takes.
pub(super) struct Taken {
    /// The variants.
    pub(super) codes: Vec<usize>,
    /// What must hold of fields.
    pub(super) tests: Vec<Expr>,
    /// What it binds, and the places of the values.
    pub(super) lets: Vec<(PatIdent, Expr)>,
}

impl Taken {
    /// Whether a variable is taken, as a condition; none if it always is.
    pub(super) fn test(&self, variable: &Ident, of: &Enumeration) -> Option<Expr> {
        let is_all = self.codes.len() == of.variants.len();
        let codes = self.codes.iter().map(|code| of.code(*code));
        let number: Option<Expr> = match &self.codes[..] {
            _ if is_all => None,
            [_] => {
                let codes = codes.collect::<Vec<_>>();
                Some(parse_quote!(#(#variable.0 == #codes)*))
            }
            _ => Some(parse_quote!((#(#variable.0 == #codes)||*))),
        };
        let all: Vec<&Expr> = number.iter().chain(&self.tests).collect();
        (!all.is_empty()).then(|| parse_quote!(#(#all)&&*))
    }
}

/// What a pattern takes of a variable, if that can be told.
pub(super) fn pattern(pat: &Pat, variable: &Ident, of: &Enumeration, types: &Types<'_>) -> Option<Taken> {
    let mut taken = Taken { codes: vec![], tests: vec![], lets: vec![] };
    let (code, fields): (usize, Vec<(usize, &Pat)>) = match pat {
        Pat::Paren(p) => return pattern(&p.pat, variable, of, types),
        Pat::Wild(_) => {
            taken.codes = (0..of.variants.len()).collect();
            return Some(taken);
        }
        Pat::Or(p) => {
            for case in &p.cases {
                let case = pattern(case, variable, of, types)?;
                if !case.tests.is_empty() || !case.lets.is_empty() {
                    return None;
                }
                taken.codes.extend(case.codes);
            }
            taken.codes.sort_unstable();
            taken.codes.dedup();
            return Some(taken);
        }
        Pat::Ident(p) if is_binding(p) => {
            taken.codes = (0..of.variants.len()).collect();
            taken.lets.push((p.clone(), of.whole(variable)));
            return Some(taken);
        }
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
            let name = &p.ident;
            (of.variant(&parse_quote!(#name), types)?, vec![])
        }
        Pat::Path(p) => (of.variant(&p.path, types)?, vec![]),
        Pat::TupleStruct(p) => {
            let code = of.variant(&p.path, types)?;
            let all_left = matches!(p.elems.first(), Some(Pat::Rest(_))) && p.elems.len() == 1;
            let fields = p.elems.iter().enumerate().filter(|_| !all_left).collect();
            (code, fields)
        }
        Pat::Struct(p) => {
            let code = of.variant(&p.path, types)?;
            let at = |field: &syn::FieldPat| {
                of.variants[code].fields.iter().position(|(member, _)| *member == field.member)
            };
            let fields: Option<Vec<_>> =
                p.fields.iter().map(|field| Some((at(field)?, &*field.pat))).collect();
            (code, fields?)
        }
        _ => return None,
    };
    taken.codes.push(code);
    for (at, pat) in fields {
        taken.part(pat, of.field(variable, code, at), types)?;
    }
    Some(taken)
}

impl Taken {
    /// What a pattern takes of a field.
    fn part(&mut self, pat: &Pat, place: Expr, types: &Types<'_>) -> Option<()> {
        match pat {
            Pat::Wild(_) => {}
            Pat::Paren(p) => self.part(&p.pat, place, types)?,
            Pat::Ident(p) if is_binding(p) => self.lets.push((p.clone(), place)),
            Pat::Lit(e) if is_plain_literal(&e.lit) => self.tests.push(parse_quote!(#place == #e)),
            Pat::Tuple(p) => {
                for (at, pat) in p.elems.iter().enumerate() {
                    self.part(pat, part_of(&place, &Member::Unnamed(at.into())), types)?;
                }
            }
            // A structure takes all values.
            Pat::Struct(p) if is_structure(&p.path, types) => {
                for field in &p.fields {
                    self.part(&field.pat, part_of(&place, &field.member), types)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// Whether a path is that of a structure, not of a variant.
fn is_structure(path: &syn::Path, types: &Types<'_>) -> bool {
    path.get_ident().is_some_and(|name| types.definitions.structure(&parse_quote!(#name)).is_some())
}

/// Whether a pattern binds a value to a name. Constants have upper case names.
pub(super) fn is_binding(p: &PatIdent) -> bool {
    p.by_ref.is_none() && p.subpat.is_none() && !p.ident.to_string().starts_with(char::is_uppercase)
}

/// Puts places in the place of what patterns bind. Macros name that.
pub(super) fn put_in(expr: &mut Expr, lets: &[(PatIdent, Expr)]) {
    if lets.is_empty() {
        return;
    }
    if walk::any(&*expr, |at| matches!(at, At::Macro(_))) {
        let mut block: Block = parse_quote!({ #expr });
        with_lets(&mut block, lets);
        *expr = parse_quote!(#block);
        return;
    }
    walk::map(expr, |at| match at {
        AtMut::Expr(expr) => match placed(expr, lets) {
            Some(place) => {
                *expr = place;
                Next::Past
            }
            None => Next::On,
        },
        _ => Next::On,
    });
}

/// The place of what a pattern binds, or of a part of that.
fn placed(expr: &Expr, lets: &[(PatIdent, Expr)]) -> Option<Expr> {
    match expr {
        Expr::Field(e) => Some(part_of(&placed(&e.base, lets)?, &e.member)),
        Expr::Paren(e) => placed(&e.expr, lets),
        expr => {
            let bound = lets.iter().find(|(pat, _)| is_variable(expr, &pat.ident.to_string()));
            bound.map(|(_, place)| place.clone())
        }
    }
}

/// Binds what patterns bind where a block begins.
pub(super) fn with_lets(block: &mut Block, lets: &[(PatIdent, Expr)]) {
    let lets = lets.iter().map(|(pat, value)| -> Stmt { parse_quote!(let #pat = #value;) });
    block.stmts.splice(0..0, lets);
}

/// What a pattern takes of one variable, or of several in a tuple: what must hold, unless it always does, and what it binds.
pub(super) struct Row {
    pub(super) test: Option<Expr>,
    pub(super) lets: Vec<(PatIdent, Expr)>,
}

impl Row {
    /// What a pattern takes, if that can be told.
    pub(super) fn of(pat: &Pat, matched: &Matched<'_>, types: &Types<'_>) -> Option<Row> {
        match (pat, &matched.variables[..]) {
            (_, [(variable, of)]) if !matched.is_tuple => {
                let taken = pattern(pat, variable, of, types);
                let row = |taken: Taken| Row { test: taken.test(variable, of), lets: taken.lets };
                taken.map(row).or_else(|| Row::any_of(pat, matched, types))
            }
            (Pat::Paren(p), _) => Row::of(&p.pat, matched, types),
            (Pat::Wild(_), _) => Some(Row { test: None, lets: vec![] }),
            (Pat::Tuple(p), variables) if p.elems.len() == variables.len() => {
                let mut row = Row { test: None, lets: vec![] };
                for (pat, one) in p.elems.iter().zip(variables) {
                    let one = Matched { variables: vec![one.clone()], is_tuple: false };
                    let part = Row::of(pat, &one, types)?;
                    row.test = row.test.into_iter().chain(part.test).reduce(|a, b| parse_quote!(#a && #b));
                    row.lets.extend(part.lets);
                }
                Some(row)
            }
            _ => Row::any_of(pat, matched, types),
        }
    }

    /// What one of several patterns takes that bind the same names.
    fn any_of(pat: &Pat, matched: &Matched<'_>, types: &Types<'_>) -> Option<Row> {
        let Pat::Or(p) = pat else { return None };
        let mut rows: Vec<Row> =
            p.cases.iter().map(|case| Row::of(case, matched, types)).collect::<Option<_>>()?;
        let last = rows.pop()?;
        let tests: Vec<Expr> = rows.iter().map(|row| row.test.clone()).collect::<Option<_>>()?;
        let value = |(pat, value): (PatIdent, Expr)| {
            let mut value = value;
            for (row, test) in rows.iter().zip(&tests).rev() {
                let (_, first) = row.lets.iter().find(|(other, _)| other.ident == pat.ident)?;
                value = parse_quote!((if #test { #first } else { #value }));
            }
            Some((pat, value))
        };
        let lets = last.lets.into_iter().map(value).collect::<Option<_>>()?;
        let any = |last: Expr| tests.iter().cloned().chain([last]).reduce(|a, b| parse_quote!(#a || #b));
        let test = last.test.and_then(any).map(|test| parse_quote!((#test)));
        Some(Row { test, lets })
    }
}

/// The variables that are matched.
pub(super) struct Matched<'e> {
    pub(super) variables: Vec<(Ident, &'e Enumeration)>,
    /// Whether they stand in a tuple.
    pub(super) is_tuple: bool,
}

/// An arm of a `match` as a way of an `if`: what must hold, of its pattern and its guard, and what is done then.
pub(super) fn way(
    test: Option<Expr>,
    mut guard: Option<Expr>,
    lets: &[(PatIdent, Expr)],
    body: &Expr,
) -> (Option<Expr>, Block) {
    guard.iter_mut().for_each(|guard| put_in(guard, lets));
    let test = test.into_iter().chain(guard).reduce(|a, b| parse_quote!(#a && (#b)));
    let mut block = match body {
        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => e.block.clone(),
        body => parse_quote!({ #body }),
    };
    with_lets(&mut block, lets);
    (test, block)
}
