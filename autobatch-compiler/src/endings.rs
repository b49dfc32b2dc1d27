//! Functions that end without their value, as rustc says of the function itself, word for word of no copy: a `for` or `while`
//! at the end points at its expansion, an `if` without `else` speaks of the type as it is written. Copies get a value that
//! is never there.

use syn::{Block, Expr, GenericParam, Path, Stmt, Type, parse_quote};

use crate::input::Function;
use crate::lockstep::is_primitive;

/// Completes the copies of a function's body.
pub(crate) fn complete(function: &mut Function, krate: &Path) {
    if let Some(method) = &mut function.method {
        complete(&mut method.shown, krate);
    }
    if has_value(function) {
        let none: Expr = parse_quote!(#krate::__rt::no_value());
        block(&mut function.written, &none);
        block(&mut function.body, &none);
    }
}

/// Whether the result is certain to be no `()`: a number, or of a type that the caller chooses.
fn has_value(function: &Function) -> bool {
    let params = function.sig.generics.params.iter().chain(&function.outer.params);
    let mut names = params.filter_map(|param| match param {
        GenericParam::Type(p) => Some(&p.ident),
        _ => None,
    });
    is_primitive(&function.output)
        || matches!(&function.output, Type::Path(p) if names.any(|name| p.path.is_ident(name)))
}

fn block(block: &mut Block, none: &Expr) {
    match block.stmts.last_mut() {
        None | Some(Stmt::Expr(Expr::ForLoop(_) | Expr::While(_), None)) => {
            block.stmts.push(Stmt::Expr(none.clone(), None));
        }
        Some(Stmt::Expr(last, None)) => value(last, none),
        _ => {}
    }
}

fn value(expr: &mut Expr, none: &Expr) {
    match expr {
        Expr::If(e) => {
            block(&mut e.then_branch, none);
            match &mut e.else_branch {
                Some((_, otherwise)) => value(otherwise, none),
                None => e.else_branch = Some((Default::default(), parse_quote!({ #none }))),
            }
        }
        Expr::Match(e) => e.arms.iter_mut().for_each(|arm| value(&mut arm.body, none)),
        Expr::Block(e) => block(&mut e.block, none),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use quote::{ToTokens, quote};

    use super::*;

    fn completed(body: &str) -> String {
        let mut body: Block = syn::parse_str(body).unwrap();
        block(&mut body, &parse_quote!(none));
        body.to_token_stream().to_string()
    }

    #[test]
    fn only_certain_mistakes_get_a_value() {
        assert_eq!(completed("{ if a { b } }"), quote!({ if a { b } else { none } }).to_string());
        assert_eq!(
            completed("{ for a in b {} }"),
            quote!({
                for a in b {}
                none
            })
            .to_string()
        );
        for right in ["{ loop {} }", "{ if a { b } else { c } }", "{ return a; }", "{ if a { b }; c }"] {
            assert_eq!(
                completed(right),
                syn::parse_str::<Block>(right).unwrap().to_token_stream().to_string()
            );
        }
    }
}
