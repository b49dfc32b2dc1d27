//! Monomorphisation: what a generic helper is for the arguments of a call.
//!
//! ```text
//! fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64    ──▶   fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64
//! fn march<S: Shape>(shape: &S, from: f64) -> f64 {                  fn march(shape: &Circle, from: f64) -> f64 {
//!     … shape.distance(x) …                                    ──▶       … <Circle as Shape>::distance(shape, x) …
//! }                                                                  }
//! ```
//!
//! Parameters follow from the types of the arguments. If one is wrong, the copy does not compile: its variables have the types of the
//! instance's parameters.
//!
//! **Invariant:** a call of a method in an instance is that of the generic function. It is one on a type without parameters, or it names the
//! trait that the parameter's bound names, or rustc has checked that nothing is found before it.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{
    AngleBracketedGenericArguments, Block, Expr, ExprMethodCall, GenericArgument, GenericParam, Ident, Lit,
    Path, Type, TypeParam, TypeParamBound, parse_quote,
};

use crate::desugar::helper_checks::HelperChecks;
use crate::index::definitions::{Substitute, arguments, is_open};
use crate::item::closure_params::{bounds, is_closure};
use crate::item::model::Function;
use crate::resolve::candidates::Takes;
use crate::resolve::method_calls::before;
use crate::resolve::resolution::VariableTypes;
use crate::resolve::types::{Scopes, Types};
use crate::resolve::variables;
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::{self, bare, bare_type, idents, text, type_name};
use crate::syntax::visit_mut::VisitMut;
use crate::syntax::walk::{self, At, AtMut, Code, Next};

/// How a type's method of that trait and name takes its receiver, if it is known.
type TakesOf<'a> = dyn Fn(&Type, &Ident, &Ident) -> Option<Takes> + 'a;

/// What the parameters of a generic function are for a call.
struct Instance<'a> {
    generic: &'a Function,
    types: &'a Types<'a>,
    takes: &'a TakesOf<'a>,
    /// The types of the generic function's variables.
    scopes: Scopes,
    /// By parameter.
    solved: BTreeMap<String, Argument>,
    checks: HelperChecks,
}

/// What a parameter is.
#[derive(Clone)]
enum Argument {
    Type(Type),
    /// A constant's value, as it stands in types and as it stands in code.
    Constant(Expr, Expr),
}

impl Argument {
    fn text(&self) -> String {
        match self {
            Argument::Type(ty) => text(ty),
            Argument::Constant(value, _) => text(value),
        }
    }
}

/// The instance of a generic function for arguments of these types, and what rustc has to check of it. `named` are the parameters that the
/// call names, and `takes` knows the methods of traits.
pub(super) fn instance(
    generic: &Function,
    args: &[Option<Type>],
    named: Option<&AngleBracketedGenericArguments>,
    types: &Types<'_>,
    takes: &TakesOf<'_>,
) -> Option<(Function, HelperChecks)> {
    let scopes = variables::types(generic, &VariableTypes::new(), types);
    let (solved, checks) = (BTreeMap::new(), HelperChecks::default());
    let mut instance = Instance { generic, types, takes, scopes, solved, checks };
    if let Some(named) = named {
        instance.take_named(named)?;
    }
    for (param, arg) in generic.params.iter().zip(args) {
        if let Some(arg) = arg {
            instance.solve(&types.plain(&param.ty), &types.plain(arg))?;
        }
    }
    let function = instance.function()?;
    Some((function, instance.checks))
}

impl Instance<'_> {
    /// The parameters whose place types and constants take. Closures have no type that could be written.
    fn open(&self) -> impl Iterator<Item = &Ident> {
        self.generic.sig.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(p) => Some(&p.ident).filter(|name| !is_closure(self.generic, name)),
            GenericParam::Const(p) => Some(&p.ident),
            GenericParam::Lifetime(_) => None,
        })
    }

    fn type_param(&self, name: &Ident) -> Option<&TypeParam> {
        self.generic.sig.generics.type_params().find(|p| p.ident == *name)
    }

    fn type_of_const(&self, name: &Ident) -> Option<&Type> {
        self.generic.sig.generics.const_params().find(|p| p.ident == *name).map(|p| &p.ty)
    }

    /// The parameters that a call names itself.
    fn take_named(&mut self, named: &AngleBracketedGenericArguments) -> Option<()> {
        let params = &self.generic.sig.generics.params;
        let params = params.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_)));
        for (param, arg) in params.zip(&named.args) {
            match (param, arg) {
                (_, GenericArgument::Type(Type::Infer(_))) => {}
                (GenericParam::Type(p), GenericArgument::Type(ty)) => {
                    self.learn(&p.ident, Argument::Type(self.types.plain(ty)))?;
                }
                (GenericParam::Const(p), GenericArgument::Const(value)) => {
                    self.learn(&p.ident, constant(&p.ty, value)?)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn learn(&mut self, name: &Ident, argument: Argument) -> Option<()> {
        let known = self.solved.entry(name.to_string()).or_insert_with(|| argument.clone());
        (known.text() == argument.text()).then_some(())
    }

    /// Learns what parameters are from the type of an argument.
    fn solve(&mut self, param: &Type, arg: &Type) -> Option<()> {
        if is_open(arg) {
            return Some(());
        }
        match (bare_type(param), bare_type(arg)) {
            (Type::Path(p), arg)
                if p.path.get_ident().is_some_and(|name| self.type_param(name).is_some()) =>
            {
                let name = p.path.get_ident()?;
                let is_unknown = |ty: &Type| is_open(ty) || matches!(ty, Type::Infer(_));
                let is_open = || walk::any(arg, |at| matches!(at, At::Type(ty) if is_unknown(ty)));
                if is_closure(self.generic, name) || is_open() {
                    return Some(());
                }
                self.learn(name, Argument::Type(arg.clone()))
            }
            (Type::Reference(p), Type::Reference(a)) => self.solve(&p.elem, &a.elem),
            (Type::Slice(p), Type::Array(a)) => self.solve(&p.elem, &a.elem),
            (Type::Slice(p), Type::Slice(a)) => self.solve(&p.elem, &a.elem),
            (Type::Array(p), Type::Array(a)) => {
                if let Expr::Path(len) = &p.len
                    && let Some(name) = len.path.get_ident()
                    && let Some(of) = self.type_of_const(name)
                {
                    self.learn(name, constant(of, &a.len)?)?;
                }
                self.solve(&p.elem, &a.elem)
            }
            (Type::Tuple(p), Type::Tuple(a)) if p.elems.len() == a.elems.len() => {
                p.elems.iter().zip(&a.elems).try_for_each(|(p, a)| self.solve(p, a))
            }
            (p @ Type::Path(_), a @ Type::Path(_)) if type_name(p) == type_name(a) => {
                arguments(p).into_iter().zip(arguments(a)).try_for_each(|pair| match pair {
                    (GenericArgument::Type(p), GenericArgument::Type(a)) => self.solve(p, a),
                    _ => Some(()),
                })
            }
            _ => Some(()),
        }
    }

    /// The function with what its parameters are.
    fn function(&mut self) -> Option<Function> {
        let open: BTreeSet<Ident> = self.open().cloned().collect();
        if !open.iter().all(|name| self.solved.contains_key(&name.to_string())) {
            return None;
        }
        let mut function = self.generic.clone();
        // A function of a trait, or a type that one knows.
        let is_of_param = |at: At<'_>| match at {
            At::Expr(Expr::Path(p)) => p.qself.is_some() || self.is_of_param(&p.path),
            At::Type(Type::Path(p)) => p.qself.is_some() || self.is_of_param(&p.path),
            _ => false,
        };
        if walk::any(&function.sig, is_of_param) || walk::any(&function.body, is_of_param) {
            return None;
        }
        self.call_methods_by_traits(&mut function.body)?;
        self.put(&mut function.body);
        self.put(&mut function.sig);
        self.put(&mut function.output);
        function.params.iter_mut().for_each(|param| self.put(&mut param.ty));
        let params = std::mem::take(&mut function.sig.generics.params);
        let stays = |param: &GenericParam| matches!(param, GenericParam::Type(p) if !open.contains(&p.ident));
        function.sig.generics.params = params.into_iter().filter(stays).collect();
        Some(function)
    }

    /// Puts types and constants in the place of parameters. Lifetimes have no names then.
    fn put(&self, code: &mut (impl Code + ?Sized)) {
        let types = self.solved.iter().filter_map(|(name, argument)| match argument {
            Argument::Type(ty) => Some((name.clone(), ty.clone())),
            Argument::Constant(..) => None,
        });
        let mut types = Substitute::new(types);
        walk::map(code, |at| match at {
            AtMut::Type(Type::Array(array)) => {
                self.put_constant(&mut array.len, false);
                Next::On
            }
            AtMut::Type(Type::Reference(r)) => {
                r.lifetime = None;
                Next::On
            }
            AtMut::Type(ty @ Type::Path(_)) => {
                types.visit_type_mut(ty);
                Next::Past
            }
            AtMut::Expr(expr) => {
                self.put_constant(expr, true);
                Next::On
            }
            _ => Next::On,
        });
    }

    /// Puts the value of a constant in the place of its name.
    fn put_constant(&self, expr: &mut Expr, in_code: bool) {
        let Expr::Path(path) = expr else { return };
        let Some(Argument::Constant(bare, typed)) =
            path.path.get_ident().and_then(|name| self.solved.get(&name.to_string()))
        else {
            return;
        };
        *expr = if in_code { typed.clone() } else { bare.clone() };
    }

    /// Makes calls of methods on parameters' types name the trait. Nothing if one could be another in the instance.
    fn call_methods_by_traits(&mut self, body: &mut Block) -> Option<()> {
        let (mut certain, mut checks) = (true, HelperChecks::default());
        let this = &*self;
        walk::map(body, |at| {
            if let AtMut::Expr(expr) = at
                && let Expr::MethodCall(call) = &*expr
            {
                match this.method(call, &mut checks) {
                    Some(call) => *expr = call,
                    None => certain = false,
                }
            }
        });
        self.checks.extend(checks);
        certain.then_some(())
    }

    /// Whether a path is one into a parameter: `T::Item`.
    fn is_of_param(&self, path: &Path) -> bool {
        path.segments.len() > 1 && self.type_param(&path.segments[0].ident).is_some()
    }

    /// A method call, if it means the same in the instance: as it stands, or by the path of a trait.
    fn method(&self, call: &ExprMethodCall, checks: &mut HelperChecks) -> Option<Expr> {
        let as_it_stands = || Some(Expr::MethodCall(call.clone()));
        let receiver = self.types.of(&self.scopes, &call.receiver)?;
        let is_param = |name: &Ident| self.type_param(name).is_some() || self.type_of_const(name).is_some();
        let depends = walk::any(&receiver, |at| match at {
            At::PathSegment(segment) => is_param(&segment.ident),
            _ => false,
        });
        if !depends {
            return as_it_stands();
        }
        let name = &call.method;
        match mentions::behind_references(&receiver) {
            Type::Array(_) if name == "map" => {
                let mut array = receiver.clone();
                self.put(&mut array);
                checks.is_of_arrays(name, &array);
                as_it_stands()
            }
            Type::Array(_) if ["len", "is_empty", "iter", "iter_mut"].iter().any(|of| name == of) => {
                let mut array = receiver.clone();
                self.put(&mut array);
                checks.is_of_slices(name, &array);
                as_it_stands()
            }
            Type::Path(p) => {
                let param = self.type_param(p.path.get_ident()?)?;
                self.by_trait(param, call, &receiver, checks)
            }
            _ => None,
        }
    }

    /// The call of a method on a parameter's type by the path of the trait that is its bound.
    fn by_trait(
        &self,
        param: &TypeParam,
        call: &ExprMethodCall,
        receiver: &Type,
        checks: &mut HelperChecks,
    ) -> Option<Expr> {
        let Argument::Type(own) = self.solved.get(&param.ident.to_string())? else { return None };
        let (name, value, args) = (&call.method, &call.receiver, &call.args);
        let traits = bounds(self.generic, &param.ident).filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => bound.path.get_ident(),
            _ => None,
        });
        let mut found = traits.filter_map(|of| Some((of, (self.takes)(own, of, name)?)));
        let (of, takes) = found.next().filter(|_| found.next().is_none() && call.turbofish.is_none())?;
        let lent = match receiver {
            Type::Reference(r) if matches!(*r.elem, Type::Reference(_)) => return None,
            Type::Reference(r) => Some(r.mutability.is_some()),
            _ => None,
        };
        let way: Vec<Type> = match receiver {
            Type::Reference(r) => vec![receiver.clone(), (*r.elem).clone()],
            _ => vec![receiver.clone()],
        };
        let ident = &param.ident;
        checks.finds_nothing_in(name, before(&way, takes, &parse_quote!(#ident)), &self.generic.sig.generics);
        // What a method call borrows is borrowed when the arguments are there.
        if takes == Takes::Mut && shares(value, args) {
            return None;
        }
        let receiver = takes.argument(lent, value)?;
        let args = std::iter::once(&receiver).chain(args);
        Some(parse_quote!(<#own as #of>::#name(#(#args),*)))
    }
}

/// Whether a name of an expression stands in others, too.
fn shares<'e>(expr: &Expr, others: impl IntoIterator<Item = &'e Expr>) -> bool {
    let own = idents(expr.to_token_stream());
    others.into_iter().flat_map(|other| idents(other.to_token_stream())).any(|ident| own.contains(&ident))
}

/// The value of a constant of that type.
fn constant(ty: &Type, value: &Expr) -> Option<Argument> {
    let bare = bare(value);
    let typed = match bare {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(lit) if is_primitive(ty) => {
                syn::parse_str(&format!("{}{}", lit.base10_digits(), text(ty))).ok()?
            }
            Lit::Bool(_) => bare.clone(),
            _ => return None,
        },
        // A constant by its name.
        Expr::Path(path) if path.path.get_ident().is_some() => bare.clone(),
        _ => return None,
    };
    Some(Argument::Constant(bare.clone(), typed))
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::index::definitions::Definitions;
    use crate::ir::testing::functions;

    /// What a function is for arguments of some types, if the type `Circle` has a method `distance` by the trait `Shape`.
    fn of(generic: TokenStream, args: &[Option<Type>]) -> Option<(String, String)> {
        let function = functions(quote!(mod m { #generic })).remove(0);
        let definitions = Definitions::default();
        let types = Types { definitions: &definitions, functions: &[], own: None };
        let takes = |owner: &Type, of: &Ident, name: &Ident| {
            (text(owner) == "Circle" && of == "Shape" && name == "distance").then_some(Takes::Ref)
        };
        let (instance, _) = instance(&function, args, None, &types, &takes)?;
        Some((text(&instance.sig), text(&instance.body)))
    }

    #[test]
    fn parameters_follow_from_arguments() {
        let found = of(
            quote!(
                fn h<T: Copy, const N: usize, F: Fn(T) -> T>(f: F, a: &[T; N], b: (T, u8)) -> [T; N] {
                    let x: T = a[N - 1];
                    [f(x); N]
                }
            ),
            &[None, Some(parse_quote!(&mut [f64; 3])), Some(parse_quote!((__Float, u8)))],
        );
        let sig = quote!(fn h<F: Fn(f64) -> f64>(f: F, a: &[f64; 3], b: (f64, u8)) -> [f64; 3]);
        let body = quote!({
            let x: f64 = a[3usize - 1];
            [f(x); 3usize]
        });
        assert_eq!(found, Some((text(&sig), text(&body))));
    }

    #[test]
    fn methods_are_those_of_the_bound() {
        let found = of(
            quote!(
                fn h<S: Shape>(s: &S, t: S, x: f64) -> f64 {
                    s.distance(x.abs()) + t.distance(x)
                }
            ),
            &[Some(parse_quote!(&Circle)), Some(parse_quote!(Circle)), Some(parse_quote!(f64))],
        );
        let body = quote!({ <Circle as Shape>::distance(s, x.abs()) + <Circle as Shape>::distance(&t, x) });
        assert_eq!(found.map(|(_, body)| body), Some(text(&body)));
    }

    #[test]
    fn what_could_be_another_has_no_instance() {
        let number: [Option<Type>; 1] = [Some(parse_quote!(f64))];
        for generic in [
            quote!(
                fn h<T: Real>(x: T) -> T {
                    x.halved()
                }
            ),
            quote!(
                fn h<T: Real>(x: T) -> T {
                    T::ZERO
                }
            ),
            quote!(
                fn h<T: Real>(x: T) -> T {
                    <T as Real>::half(x)
                }
            ),
            quote!(
                fn h<T: Real>(x: T) -> T::Half {
                    x
                }
            ),
            quote!(
                fn h<T: Real>(x: T) -> T {
                    let y = other(x);
                    y.halved()
                }
            ),
            quote!(
                fn h<T, U>(x: T) -> T {
                    x
                }
            ),
            quote!(
                fn h<T, const N: usize>(x: T) -> [T; N] {
                    [x; N]
                }
            ),
        ] {
            assert!(of(generic.clone(), &number).is_none(), "{generic}");
        }
        let open = [Some(parse_quote!(__Float))];
        assert!(
            of(
                quote!(
                    fn h<T>(x: T) -> T {
                        x
                    }
                ),
                &open
            )
            .is_none()
        );
        let two = [Some(parse_quote!(f64)), Some(parse_quote!(f32))];
        assert!(
            of(
                quote!(
                    fn h<T>(x: T, y: T) -> T {
                        x
                    }
                ),
                &two
            )
            .is_none()
        );
    }
}
