//! Which expressions call functions of the program.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{Expr, ExprCall, Ident, Path, PathArguments, Type, parse_quote};

use crate::item::model::Item;
use crate::syntax::mentions::{self, text};
use crate::syntax::primitive_names::is_primitive;
use crate::syntax::standard_macros;
use crate::syntax::walk::{self, At};

/// The functions whose calls are batched, by name.
#[derive(Default)]
pub(super) struct Callees {
    free: BTreeMap<String, Type>,
    associated: BTreeMap<String, Type>,
    methods: BTreeSet<String>,
    /// Functions whose result is of one of their type parameters, by name: which of how many.
    instances: BTreeMap<String, (usize, usize)>,
    /// The name of the type whose functions they are.
    own: Option<Ident>,
    primitives: Vec<Path>,
}

impl Callees {
    pub(super) fn new(item: &Item, batched: impl Fn(usize) -> bool, primitives: &[Path]) -> Callees {
        let mut callees =
            Callees { own: item.own_name().cloned(), primitives: primitives.to_vec(), ..Callees::default() };
        for (_, function) in item.functions.iter().enumerate().filter(|(i, _)| batched(*i)) {
            let name = function.sig.ident.to_string();
            if function.sig.receiver().is_some() {
                callees.methods.insert(name.clone());
            }
            let generics = &function.sig.generics;
            let params: Vec<&Ident> = generics.type_params().map(|param| &param.ident).collect();
            let made = params.iter().position(|param| text(*param) == text(&function.output));
            if let (Some(made), None) = (made, generics.const_params().next()) {
                callees.instances.insert(name.clone(), (made, params.len()));
            }
            let names = if function.associated { &mut callees.associated } else { &mut callees.free };
            names.insert(name, function.output.clone());
        }
        callees
    }

    /// The result type of the function that a path names.
    pub(super) fn output(&self, func: &Expr, bindings: &BTreeSet<String>) -> Option<&Type> {
        let Expr::Path(path) = func else { return None };
        let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        match &segments[..] {
            [name] if path.qself.is_none() && !bindings.contains(name) => self.free.get(name),
            [ty, name]
                if path.qself.is_none()
                    && (ty == "Self" || self.own.as_ref().is_some_and(|own| own == ty)) =>
            {
                self.associated.get(name)
            }
            _ => None,
        }
    }

    /// Spells out the type that is wanted of a generic function whose result is of a type parameter: `let x: u8 = f(n)` is `f::<u8>(n)`,
    /// so that it is seen which calls are of other types than the caller's.
    pub(super) fn spell_instance(&self, call: &mut ExprCall, ty: &Type, bindings: &BTreeSet<String>) -> bool {
        let Some(own) = self.output(&call.func, bindings) else { return false };
        let open = |ty: &Type| {
            let mut words = ty.to_token_stream().into_iter().map(|tree| tree.to_string());
            words.any(|word| word == "_" || word == "impl")
                || !matches!(ty, Type::Path(_) | Type::Reference(_))
        };
        if text(own) == text(ty) || open(ty) {
            return false;
        }
        let Expr::Path(path) = &mut *call.func else { return false };
        let Some(last) = path.path.segments.last_mut().filter(|last| last.arguments.is_none()) else {
            return false;
        };
        let Some((made, all)) = self.instances.get(&last.ident.to_string()).copied() else { return false };
        let args = (0..all).map(|i| if i == made { ty.clone() } else { parse_quote!(_) });
        last.arguments = PathArguments::AngleBracketed(parse_quote!(::<#(#args),*>));
        true
    }

    /// Whether a path names a function whose calls are batched.
    pub(super) fn is_function(&self, path: &Expr, bindings: &BTreeSet<String>) -> bool {
        let local = mentions::name(path).is_some_and(|name| bindings.contains(&name));
        self.output(path, bindings).is_some() || (!local && is_primitive(&self.primitives, path))
    }

    /// Whether code calls such a function.
    pub(super) fn calls(&self, code: &Expr, bindings: &BTreeSet<String>) -> bool {
        walk::any(code, |at| match at {
            At::Expr(Expr::MethodCall(call)) => {
                let own = matches!(&*call.receiver, Expr::Path(p) if p.path.get_ident().is_some_and(crate::syntax::bindings::is_self));
                own && self.methods.contains(&call.method.to_string())
            }
            At::Expr(path @ Expr::Path(_)) => self.is_function(path, bindings),
            At::Macro(mac) => {
                let mut found = false;
                let mut calls = |arg: &mut Expr| found |= self.calls(arg, bindings);
                standard_macros::rewrite_arguments(&mut mac.clone(), &mut calls);
                found
            }
            _ => false,
        })
    }
}
