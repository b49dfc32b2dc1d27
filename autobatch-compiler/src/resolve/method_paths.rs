//! Calls of methods by their paths.

use syn::{Expr, Type, parse_quote};

use crate::diagnostics::reasons;
use crate::resolve::candidates::Candidate;
use crate::resolve::method_calls::Walk;
use crate::resolve::resolution::Answer;
use crate::syntax::mentions;

impl Walk<'_> {
    /// `Tree::sum(&tree, x)` of a type of the module, `<Tree as Sum>::sum(&tree, x)`, `Sum::sum(&tree, x)`.
    pub(super) fn path_call(&mut self, call: &mut syn::ExprCall) {
        let Expr::Path(path) = &*call.func else { return };
        if path.path.leading_colon.is_some() || path.path.segments.len() < 2 {
            return;
        }
        let mut segments = path.path.segments.iter().rev();
        let (Some(name), Some(before)) = (segments.next().cloned(), segments.next()) else { return };
        let named = |m: &&Candidate| name.ident == m.name && call.args.len() == m.params;
        let of_trait = |m: &&Candidate| m.of_trait.as_ref() == Some(&before.ident);
        let types = self.types;
        // The type that is meant, where it is not the one before the name.
        let meant = if let Some(qself) = &path.qself {
            Some(types.plain(&qself.ty))
        } else if self.methods.iter().filter(named).any(|m| of_trait(&m)) {
            let Some(mut ty) = call.args.first().and_then(|receiver| self.of(receiver)) else {
                self.answer(&mut call.attrs, name.ident.span(), Answer::Unknown);
                return;
            };
            while let Type::Reference(r) = ty {
                ty = types.plain(&r.elem);
            }
            Some(ty)
        } else {
            None
        };
        let method = match &meant {
            Some(ty) => {
                let inherent = path.qself.as_ref().is_some_and(|qself| qself.position == 0);
                let of_type = |m: &&Candidate| self.comes_to(ty, mentions::type_name(&m.owner));
                let fits = |m: &&Candidate| (inherent || of_trait(m)) && of_type(m);
                let Some(method) = self.methods.iter().filter(named).find(fits) else { return };
                // A trait's own arguments may say what the method's parameters are.
                if !types.definitions.same(ty, &method.owner) || !before.arguments.is_none() {
                    let answer = Answer::Excluded(reasons::OF_OTHER_TYPES);
                    self.answer(&mut call.attrs, name.ident.span(), answer);
                    return;
                }
                Some(method)
            }
            None if path.path.segments.len() == 2 && before.arguments.is_none() => {
                let means = |m: &&Candidate| {
                    m.free.is_some()
                        && matches!(&m.owner, Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == before.ident))
                };
                self.methods.iter().filter(named).find(means)
            }
            None => None,
        };
        let Some(method) = method else { return };
        let path = method.path(&name.ident, name.arguments.clone());
        *call.func = path.unwrap_or_else(|| parse_quote!(Self::#name));
        self.changed = true;
    }
}
