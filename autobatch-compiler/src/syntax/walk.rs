//! Walks through code with a closure, for questions that need no visitor of their own.
//!
//! ```text
//! walk::any(&block, |at| matches!(at, At::Expr(Expr::Try(_))))    whether a block has a `?`, be it in a closure
//! ```
//!
//! The closure is told of each node before what is in it, in source order, and says how to go on: nothing, or whether that is what is
//! looked for, or a `Next`. A walk goes into everything but items, which see no variables of the code around them. Of macros it knows
//! no more than their tokens.

use syn::{Block, Expr, File, Item, Lifetime, Local, Macro, Pat, PathSegment, Signature, Stmt, Type};

use crate::syntax::visit::{self, Visit};
use crate::syntax::visit_mut::{self, VisitMut};

/// How a walk goes on.
pub(crate) enum Next {
    /// Into it, unless it is an item.
    On,
    /// Into it, even if it is an item.
    Inside,
    /// Past it.
    Past,
    /// No further: it is found.
    Found,
}

impl From<()> for Next {
    fn from((): ()) -> Next {
        Next::On
    }
}

impl From<bool> for Next {
    fn from(found: bool) -> Next {
        if found { Next::Found } else { Next::On }
    }
}

/// Whether something is found in code.
pub(crate) fn any<'a, R: Into<Next>>(
    code: &'a (impl Code + ?Sized),
    mut each: impl FnMut(At<'a>) -> R,
) -> bool {
    let mut walk = Walk { each: &mut |at| each(at).into(), found: false };
    code.visit(&mut walk);
    walk.found
}

/// The first thing that `each` finds in code.
pub(crate) fn find<'a, T>(
    code: &'a (impl Code + ?Sized),
    mut each: impl FnMut(At<'a>) -> Option<T>,
) -> Option<T> {
    let mut found = None;
    any(code, |at| {
        found = each(at);
        found.is_some()
    });
    found
}

/// Goes through code.
pub(crate) fn each<'a, R: Into<Next>>(code: &'a (impl Code + ?Sized), each: impl FnMut(At<'a>) -> R) {
    any(code, each);
}

/// Goes through code to change it.
pub(crate) fn map<R: Into<Next>>(code: &mut (impl Code + ?Sized), mut each: impl FnMut(AtMut<'_>) -> R) {
    code.visit_mut(&mut WalkMut { each: &mut |at| each(at).into(), after: false });
}

/// The same; what is in a node comes before it.
pub(crate) fn map_after(code: &mut (impl Code + ?Sized), mut each: impl FnMut(AtMut<'_>)) {
    let mut each = |at: AtMut<'_>| {
        each(at);
        Next::On
    };
    code.visit_mut(&mut WalkMut { each: &mut each, after: true });
}

struct Walk<'w, 'a> {
    each: &'w mut dyn FnMut(At<'a>) -> Next,
    found: bool,
}

struct WalkMut<'w> {
    each: &'w mut dyn FnMut(AtMut<'_>) -> Next,
    after: bool,
}

/// What can be walked through.
pub(crate) trait Code {
    fn visit<'a>(&'a self, visitor: &mut dyn Visit<'a>);
    fn visit_mut(&mut self, visitor: &mut dyn VisitMut);
}

impl<C: Code + ?Sized> Code for Box<C> {
    fn visit<'a>(&'a self, visitor: &mut dyn Visit<'a>) {
        (**self).visit(visitor);
    }
    fn visit_mut(&mut self, visitor: &mut dyn VisitMut) {
        (**self).visit_mut(visitor);
    }
}

impl<C: Code> Code for [C] {
    fn visit<'a>(&'a self, visitor: &mut dyn Visit<'a>) {
        self.iter().for_each(|code| code.visit(visitor));
    }
    fn visit_mut(&mut self, visitor: &mut dyn VisitMut) {
        self.iter_mut().for_each(|code| code.visit_mut(visitor));
    }
}

macro_rules! code {
    ($($ty:ident: $visit:ident, $visit_mut:ident;)*) => {$(
        impl Code for $ty {
            fn visit<'a>(&'a self, visitor: &mut dyn Visit<'a>) {
                visitor.$visit(self);
            }
            fn visit_mut(&mut self, visitor: &mut dyn VisitMut) {
                visitor.$visit_mut(self);
            }
        }
    )*};
}

code! {
    Block: visit_block, visit_block_mut;
    Expr: visit_expr, visit_expr_mut;
    File: visit_file, visit_file_mut;
    Macro: visit_macro, visit_macro_mut;
    Pat: visit_pat, visit_pat_mut;
    Signature: visit_signature, visit_signature_mut;
    Stmt: visit_stmt, visit_stmt_mut;
    Type: visit_type, visit_type_mut;
}

macro_rules! nodes {
    ([$($node:ident, $visit:ident;)*] [$($changed:ident, $visit_mut:ident;)*]) => {
        /// What a walk comes to. Segments are those of all paths, of attributes and macros too.
        #[derive(Clone, Copy)]
        pub(crate) enum At<'a> {
            $($node(&'a $node),)*
        }

        /// The same, to be changed.
        pub(crate) enum AtMut<'a> {
            $($changed(&'a mut $changed),)*
        }

        impl<'a> Visit<'a> for Walk<'_, 'a> {
            $(fn $visit(&mut self, node: &'a $node) {
                let at = At::$node(node);
                if self.found {
                    return;
                }
                match (self.each)(at) {
                    Next::On if matches!(at, At::Item(_)) => {}
                    Next::On | Next::Inside => visit::$visit(self, node),
                    Next::Past => {}
                    Next::Found => self.found = true,
                }
            })*
        }

        impl VisitMut for WalkMut<'_> {
            $(fn $visit_mut(&mut self, node: &mut $changed) {
                if self.after || !matches!((self.each)(AtMut::$changed(node)), Next::Past) {
                    visit_mut::$visit_mut(self, node);
                }
                if self.after {
                    (self.each)(AtMut::$changed(node));
                }
            })*
            fn visit_item_mut(&mut self, _: &mut Item) {}
        }
    };
}

nodes! {
    [
        Expr, visit_expr;
        Item, visit_item;
        Lifetime, visit_lifetime;
        Local, visit_local;
        Macro, visit_macro;
        Pat, visit_pat;
        PathSegment, visit_path_segment;
        Type, visit_type;
    ]
    [
        Expr, visit_expr_mut;
        Lifetime, visit_lifetime_mut;
        Macro, visit_macro_mut;
        Stmt, visit_stmt_mut;
        Type, visit_type_mut;
    ]
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse_quote;

    use super::*;

    /// The names that a walk comes to, which goes past a `?`.
    fn names(code: &Block, items: Next) -> String {
        let mut names = String::new();
        let mut items = Some(items);
        each(code, |at| match at {
            At::PathSegment(segment) => {
                names += &segment.ident.to_string();
                Next::On
            }
            At::Expr(Expr::Try(_)) => Next::Past,
            At::Item(_) => items.take().expect("one item"),
            _ => Next::On,
        });
        names
    }

    #[test]
    fn walks_go_where_they_are_told() {
        let code: Block = parse_quote!({
            fn f() -> A {}
            let b = c(|d| E { f }, g?);
            h!(i)
        });
        assert_eq!(names(&code, Next::On), "cEfh");
        assert_eq!(names(&code, Next::Inside), "AcEfh");
        let first = |at| matches!(at, At::Expr(Expr::Closure(_) | Expr::Try(_))).then_some(at);
        assert!(matches!(find(&code, first), Some(At::Expr(Expr::Closure(_)))));
        assert!(!any(&code, |at| matches!(at, At::Expr(Expr::Await(_)))));
    }

    #[test]
    fn what_is_put_in_is_walked_through_unless_it_comes_behind() {
        let negated = |at: AtMut<'_>| {
            if let AtMut::Expr(expr) = at
                && let Expr::Unary(e) = expr
            {
                let inner = &e.expr;
                *expr = parse_quote!(f(#inner));
            }
        };
        let mut code: Expr = parse_quote!(-(-x));
        map(&mut code, negated);
        let mut other: Expr = parse_quote!(-(-x));
        map_after(&mut other, negated);
        assert_eq!(code.to_token_stream().to_string(), "f ((f (x)))");
        assert_eq!(code, other);
    }
}
