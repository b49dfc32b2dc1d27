//! Which helper an expression calls: a function by its name, a method of a type beside the item, or such a type's operator.
//!
//! ```text
//! (centre - from).dot(way)   ──▶   V3::dot(<V3 as Sub>::sub(centre, from), way)
//! ```
//!
//! Of a generic function it is the instance for the arguments ([`instances`]).
//!
//! Types follow from what is written. If one is wrong, the copy does not compile: its variables have the types of the helper's
//! parameters. What else a call could mean, rustc is asked ([`HelperChecks`]): a method of a trait that is found before the type's own, a
//! trait that has the name of an operator's.
//!
//! **Invariant:** a call is taken for a helper's only if rustc, which checks what is asked, can find no other function.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use syn::{Expr, ExprMethodCall, ExprPath, Ident, PathArguments, PathSegment, Type, UnOp, parse_quote};

use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::instances;
use crate::index::definitions::is_open;
use crate::item::closure_params::takes_only_closures;
use crate::item::model::{Function, OriginalMethod};
use crate::item::selection::is_generic;
use crate::resolve::candidates::Takes;
use crate::resolve::method_calls::before;
use crate::resolve::types::{Scopes, Types, is_number};
use crate::std_models::number_methods::receivers;
use crate::std_models::operators;
use crate::std_models::pure::is_float;
use crate::syntax::call_sites;
use crate::syntax::mentions::is_compound;

/// The helpers of an item.
pub(super) struct Helpers<'a> {
    /// By name.
    functions: BTreeMap<String, Function>,
    /// Of types beside the item.
    methods: &'a [Function],
    types: Types<'a>,
    /// How many copies have been made of them.
    copies: Cell<usize>,
}

/// A call of a helper.
pub(super) struct HelperCall<'h> {
    pub(super) helper: Cow<'h, Function>,
    pub(super) args: Vec<Expr>,
    /// The name by which the calling function means the helper, or its type.
    pub(super) name: Ident,
    /// What rustc has to check.
    pub(super) checks: HelperChecks,
    /// Whether scalar clones call it as it stands, with std's elementary functions: it is a method, or generic.
    pub(super) rounds_as_std: bool,
}

impl<'h> HelperCall<'h> {
    /// The call of a closure.
    pub(super) fn of_closure(function: Function, args: Vec<Expr>) -> Option<HelperCall<'h>> {
        let name = function.sig.ident.clone();
        (function.params.len() == args.len()).then(|| HelperCall::new(Cow::Owned(function), args, name))
    }

    fn new(helper: Cow<'h, Function>, args: Vec<Expr>, name: Ident) -> HelperCall<'h> {
        let rounds_as_std = helper.method.is_some() || is_generic(&helper);
        HelperCall { helper, args, name, checks: HelperChecks::default(), rounds_as_std }
    }
}

impl<'a> Helpers<'a> {
    pub(super) fn new(
        functions: BTreeMap<String, Function>,
        methods: &'a [Function],
        types: Types<'a>,
    ) -> Helpers<'a> {
        Helpers { functions, methods, types, copies: Cell::new(0) }
    }

    /// The number in the names of the next copy.
    pub(super) fn next_copy(&self) -> usize {
        self.copies.get() + 1
    }

    /// Notes that it is made.
    pub(super) fn copy_is_made(&self) {
        self.copies.set(self.next_copy());
    }

    /// Whether nothing in a function hides the name of one.
    pub(super) fn all_seen_by(&self, function: &Function) -> bool {
        self.functions.values().all(|helper| function.sees(&helper.sig.ident))
    }

    /// What is known of the types that they are about.
    pub(super) fn types(&self) -> &Types<'a> {
        &self.types
    }

    /// The helper that an expression calls, where variables have these types.
    pub(super) fn called(&self, scopes: &Scopes, expr: &Expr) -> Option<HelperCall<'_>> {
        match expr {
            Expr::Call(call) => {
                if !call.attrs.is_empty() && call_sites::marked(&call.attrs).is_none() {
                    return None;
                }
                let Expr::Path(path) = &*call.func else { return None };
                let (helper, name) = self.named(path)?;
                let args: Vec<Expr> = call.args.iter().cloned().collect();
                if helper.params.len() != args.len() {
                    return None;
                }
                let plain = |helper| HelperCall::new(Cow::Borrowed(helper), args.clone(), name.clone());
                if !is_generic(helper) || takes_only_closures(helper) {
                    return Some(plain(helper));
                }
                let named = path.path.segments.last().and_then(|last| match &last.arguments {
                    PathArguments::AngleBracketed(named) => Some(named),
                    _ => None,
                });
                let types: Vec<Option<Type>> =
                    args.iter().map(|arg| self.types.certain(scopes, arg)).collect();
                let takes = |owner: &Type, of: &Ident, name: &Ident| {
                    let helper = self.method_of_trait(owner, of, name)?;
                    Takes::by(helper, &helper.method.as_ref()?.owner)
                };
                let (instance, checks) = instances::instance(helper, &types, named, &self.types, &takes)?;
                Some(HelperCall { helper: Cow::Owned(instance), checks, ..plain(helper) })
            }
            Expr::MethodCall(call) => self.method(scopes, call),
            Expr::Binary(e) => {
                let (of_trait, _) = operators::binary(&e.op)?;
                let left = match is_compound(&e.op) {
                    true => {
                        let place = &e.left;
                        parse_quote!(&mut #place)
                    }
                    false => (*e.left).clone(),
                };
                self.operator(scopes, of_trait, &e.left, Some(&e.right), left)
            }
            Expr::Unary(e) if !matches!(e.op, UnOp::Deref(_)) => {
                let (of_trait, _) = operators::unary(&e.op)?;
                self.operator(scopes, of_trait, &e.expr, None, (*e.expr).clone())
            }
            _ => None,
        }
    }

    /// The function, or the function of a type, that a path names, and the name that stands for it there.
    fn named(&self, path: &ExprPath) -> Option<(&Function, Ident)> {
        let segments: Vec<&PathSegment> = path.path.segments.iter().collect();
        if let Some(own) = &path.qself {
            let ([of, name], Type::Path(_)) = (&segments[..], &*own.ty) else { return None };
            let is_plain = of.arguments.is_none() && name.arguments.is_none() && own.position == 1;
            let helper = self.method_of_trait(&own.ty, &of.ident, &name.ident).filter(|_| is_plain)?;
            return Some((helper, of.ident.clone()));
        }
        match segments[..] {
            [name] => {
                let helper = self.functions.get(&name.ident.to_string())?;
                (name.arguments.is_none() || is_generic(helper)).then(|| (helper, name.ident.clone()))
            }
            [owner, name] if owner.arguments.is_none() && name.arguments.is_none() => {
                let owner = &owner.ident;
                let helper = self.method_of(&parse_quote!(#owner), &name.ident)?;
                Some((helper, owner.clone()))
            }
            _ => None,
        }
    }

    /// The method of a type itself.
    fn method_of(&self, owner: &Type, name: &Ident) -> Option<&Function> {
        self.methods_of(owner, name).find(|(_, method)| method.trait_.is_none()).map(|(f, _)| f)
    }

    /// The method that a type has by a trait of that name.
    fn method_of_trait(&self, owner: &Type, of: &Ident, name: &Ident) -> Option<&Function> {
        let is_meant = |method: &OriginalMethod| method.trait_.as_ref().is_some_and(|path| path.is_ident(of));
        self.methods_of(owner, name).find(|(_, method)| is_meant(method)).map(|(f, _)| f)
    }

    /// The methods of a name that a type has, by traits too.
    fn methods_of(&self, owner: &Type, name: &Ident) -> impl Iterator<Item = (&Function, &OriginalMethod)> {
        let methods = self.methods.iter().filter_map(|f| Some((f, f.method.as_ref()?)));
        methods.filter(move |(_, method)| {
            method.shown.sig.ident == *name && self.types.definitions.same(&method.owner, owner)
        })
    }

    fn method(&self, scopes: &Scopes, call: &ExprMethodCall) -> Option<HelperCall<'_>> {
        let (name, receiver) = (&call.method, &call.receiver);
        if call.turbofish.is_some() || !self.methods.iter().any(|f| f.shown().sig.ident == *name) {
            return None;
        }
        let way: Vec<Type> = self.types.way(&self.types.of(scopes, receiver)?).collect();
        let references = way.iter().take_while(|ty| matches!(ty, Type::Reference(_))).count();
        let own = way.get(references)?;
        // rustc is asked whether the type has one itself. That numbers have these is known.
        let is_a_numbers = is_number(own) && (receivers(&name.to_string()).is_some() || !is_float(own));
        let may_be_traits = |(_, method): &(_, &OriginalMethod)| method.trait_.is_some() && !is_a_numbers;
        let mut of_traits = self.methods_of(own, name).filter(may_be_traits);
        let of_trait = || of_traits.next().filter(|_| of_traits.next().is_none()).map(|(f, _)| f);
        let helper = self.method_of(own, name).or_else(of_trait)?;
        let OriginalMethod { owner, trait_, .. } = helper.method.as_ref()?;
        let takes = Takes::by(helper, owner)?;
        if helper.params.len() != call.args.len() + 1 || references > 1 {
            return None;
        }
        let lent = match way.first()? {
            Type::Reference(r) => Some(r.mutability.is_some()),
            _ => None,
        };
        let argument = takes.argument(lent, receiver)?;
        let mut checks = HelperChecks::default();
        checks.finds_nothing(name, before(&way[..=references], takes, owner));
        if trait_.is_some() {
            checks.has_no_own(name, owner, takes);
        }
        let args = std::iter::once(argument).chain(call.args.iter().cloned()).collect();
        Some(HelperCall { checks, ..HelperCall::new(Cow::Borrowed(helper), args, ident_of(owner)?) })
    }

    /// An operator; the first argument is handed over as `argument`.
    fn operator(
        &self,
        scopes: &Scopes,
        of_trait: &str,
        left: &Expr,
        right: Option<&Expr>,
        argument: Expr,
    ) -> Option<HelperCall<'_>> {
        let operators = || self.methods.iter().filter_map(|f| Some((f, operator(f)?)));
        if !operators().any(|(_, m)| m.0 == of_trait) {
            return None;
        }
        let of = |operand: &Expr| self.types.of(scopes, operand);
        let left_type = of(left)?;
        let right_type = match right {
            Some(right) => Some(of(right)?),
            None => None,
        };
        let definitions = self.types.definitions;
        let mut fitting = operators().filter(|(_, (name, own, operand))| {
            let (own, of) = ((own, operand.as_ref()), (&left_type, right_type.as_ref()));
            *name == of_trait && definitions.are_operands(own, of)
        });
        let (helper, (_, own, operand)) = fitting.next().filter(|_| fitting.next().is_none())?;
        let path = &helper.method.as_ref()?.trait_.as_ref()?;
        let mut checks = HelperChecks::default();
        checks.is_operator(path, of_trait, operand.as_ref());
        // A literal is of the type that fits; of several it is the usual one.
        let open = |ty: Option<&Type>| ty.is_some_and(is_open);
        if open(Some(&left_type)) {
            checks.is_only_number(of_trait, &own, |ty| (ty.clone(), operand.clone()));
        }
        if open(right_type.as_ref()) {
            let operand = operand.clone()?;
            checks.is_only_number(of_trait, &operand, |ty| (own.clone(), Some(ty.clone())));
        }
        let args = std::iter::once(argument).chain(right.cloned()).collect();
        // Of an operator between a number and a type the type has the name.
        let owner = ident_of(&own).filter(|_| !is_number(&own)).or_else(|| ident_of(operand.as_ref()?))?;
        Some(HelperCall { checks, ..HelperCall::new(Cow::Borrowed(helper), args, owner) })
    }
}

/// The name of the operator's trait that a method is of, and the types of its operands.
fn operator(f: &Function) -> Option<(String, Type, Option<Type>)> {
    let OriginalMethod { owner, trait_, .. } = f.method.as_ref()?;
    let last = trait_.as_ref()?.segments.last()?;
    Some((last.ident.to_string(), owner.clone(), f.params.get(1).map(|param| param.ty.clone())))
}

fn ident_of(ty: &Type) -> Option<Ident> {
    match ty {
        Type::Path(p) => p.path.get_ident().cloned(),
        _ => None,
    }
}
