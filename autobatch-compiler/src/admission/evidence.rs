//! Types that a function writes, as evidence: a local that turns out to be of one of them is whole, if rustc finds no lifetime in it
//! that is left out, and if nobody sees its drop.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::{GenericArgument, PathArguments, Type, parse_quote};

use crate::index::declarations::Declared;
use crate::index::definitions::arguments;
use crate::ir::questions::{Evidence, Quiet};
use crate::item::model::Function;
use crate::std_models::facts::{self, Fact};
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::{bare_type, text};
use crate::syntax::visit::{self, Visit};
use crate::syntax::walk::{self, At};

/// The types that functions of a program write, those in other types and in fields of the file's types too.
pub(super) fn written(functions: &[&Function], declared: &Declared) -> Vec<Evidence> {
    let parameters: Vec<Ident> = functions
        .iter()
        .flat_map(|f| f.sig.generics.type_params().chain(f.outer.type_params()))
        .map(|param| param.ident.clone())
        .collect();
    let mut found = Found { declared, parameters: &parameters, types: Vec::new(), names: BTreeSet::new() };
    for function in functions {
        for param in &function.params {
            found.visit_type(&param.ty);
        }
        found.visit_type(&function.output);
        found.visit_block(&function.written);
    }
    let mut visited = BTreeSet::new();
    while let Some(name) = found.names.difference(&visited).next().cloned() {
        let ident = Ident::new(&name, proc_macro2::Span::mixed_site());
        let ty: Type = parse_quote!(#ident);
        if let Some(Some(parts)) = declared.beside.parts(&ty, &[]) {
            found.types.push(ty);
            parts.iter().for_each(|ty| found.visit_type(ty));
        }
        visited.insert(name);
    }
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for ty in found.types {
        if is_evidence(&ty) && seen.insert(text(&ty)) {
            let quiet = quiet(&ty, declared, &parameters, &mut BTreeSet::new());
            all.push(Evidence { ty, quiet });
        }
    }
    all
}

struct Found<'a> {
    declared: &'a Declared,
    parameters: &'a [Ident],
    types: Vec<Type>,
    names: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_generic_argument(&mut self, arg: &'ast GenericArgument) {
        if !matches!(arg, GenericArgument::Type(ty) if is_constant(ty, self.declared, self.parameters)) {
            visit::visit_generic_argument(self, arg);
        }
    }
    fn visit_type(&mut self, ty: &'ast Type) {
        self.types.push(ty.clone());
        visit::visit_type(self, ty);
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.names.extend(path.segments.iter().map(|segment| segment.ident.to_string()));
        visit::visit_path(self, path);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a type can be asked about: it is all written, has no reference and no lifetime, and is not a number anyway.
fn is_evidence(ty: &Type) -> bool {
    let refused = walk::any(ty, |at| match at {
        At::Type(Type::Path(p)) => p.qself.is_some() || p.path.is_ident("Self") || p.path.is_ident("str"),
        At::Type(ty) => !matches!(ty, Type::Tuple(_) | Type::Array(_) | Type::Paren(_) | Type::Group(_)),
        At::Lifetime(_) => true,
        At::PathSegment(segment) => matches!(segment.arguments, PathArguments::Parenthesized(_)),
        _ => false,
    });
    !refused && !crate::analysis::reference_flow::is_number_type(ty)
}

/// Whether what stands for a type may be a constant: `Matrix<N>`.
fn is_constant(ty: &Type, declared: &Declared, parameters: &[Ident]) -> bool {
    let Type::Path(p) = ty else { return false };
    p.path.get_ident().is_some_and(|name| {
        let text = name.to_string();
        !parameters.contains(name)
            && !text.chars().any(char::is_lowercase)
            && !declared.definitions.has(&text)
    })
}

/// What shows that the drop of a type is not seen; `None` if nothing does.
fn quiet(
    ty: &Type,
    declared: &Declared,
    parameters: &[Ident],
    seen: &mut BTreeSet<String>,
) -> Option<Vec<Quiet>> {
    let each = |types: &mut dyn Iterator<Item = &Type>, seen: &mut BTreeSet<String>| {
        let mut all = Vec::new();
        for ty in types {
            all.extend(quiet(ty, declared, parameters, seen)?);
        }
        Some(all)
    };
    let ty = bare_type(ty);
    match ty {
        Type::Tuple(t) => each(&mut t.elems.iter(), seen),
        Type::Array(t) => quiet(&t.elem, declared, parameters, seen),
        Type::Path(_) if is_primitive(ty) => Some(vec![]),
        Type::Path(p) if p.qself.is_none() => {
            let last = p.path.segments.last()?;
            let name = last.ident.to_string();
            // Asked where the type is known.
            if p.path.get_ident().is_some_and(|own| parameters.contains(own)) {
                return Some(vec![]);
            }
            if p.path.segments.len() == 2 && parameters.contains(&p.path.segments[0].ident) {
                return last.arguments.is_none().then(|| vec![Quiet::Given(ty.clone())]);
            }
            if matches!(last.arguments, PathArguments::Parenthesized(_)) {
                return None;
            }
            let arguments = arguments(ty).into_iter().map(|arg| match arg {
                GenericArgument::Type(ty) => Some(ty).filter(|ty| !is_constant(ty, declared, parameters)),
                _ => None,
            });
            let arguments: Vec<&Type> = arguments.collect::<Option<_>>()?;
            if let Some(parts) = declared.beside.parts(ty, parameters).filter(|_| p.path.segments.len() == 1)
            {
                if !seen.insert(text(ty)) {
                    return Some(vec![]);
                }
                let mut all = each(&mut parts?.iter(), seen)?;
                all.push(Quiet::Own(ty.clone()));
                return Some(all);
            }
            if arguments.is_empty() {
                return Some(vec![Quiet::Whole(ty.clone())]);
            }
            if !facts::is(&name, Fact::Holder) || declared.definitions.has(&name) {
                return None;
            }
            let mut all = each(&mut arguments.iter().copied(), seen)?;
            let mut bare = p.clone();
            if let Some(PathArguments::AngleBracketed(args)) =
                bare.path.segments.last_mut().map(|last| &mut last.arguments)
            {
                for arg in &mut args.args {
                    *arg = GenericArgument::Type(parse_quote!(()));
                }
            }
            all.push(Quiet::Whole(Type::Path(bare)));
            Some(all)
        }
        _ => None,
    }
}
