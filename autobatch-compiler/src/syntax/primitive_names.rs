//! The paths by which code calls functions that have a batched kernel.

use syn::{Expr, Path};

use crate::syntax::mentions::{bare, last_name};

/// Whether an expression is the path of a primitive, generic arguments aside.
pub(crate) fn is_primitive(primitives: &[Path], function: &Expr) -> bool {
    let Expr::Path(path) = bare(function) else { return false };
    let same = |p: &&Path| {
        let (a, b) = (&p.segments, &path.path.segments);
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.ident == b.ident)
    };
    path.qself.is_none() && primitives.iter().any(|p| same(&p))
}

/// Whether a word may name a primitive.
pub(crate) fn may_be_primitive(primitives: &[Path], word: &str) -> bool {
    primitives.iter().any(|path| last_name(path) == word)
}
