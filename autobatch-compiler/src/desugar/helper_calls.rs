//! Which helper an expression calls: a function by its name, a method of a type beside the item, or such a type's operator.
//!
//! ```text
//! (centre - from).dot(way)   ──▶   V3::dot(<V3 as Sub>::sub(centre, from), way)
//! ```
//!
//! Types follow from what is written. If one is wrong, the copy does not compile: its variables have the types of the helper's
//! parameters. What else a call could mean, rustc is asked ([`HelperChecks`]): a method of a trait that is found before the type's own, a
//! trait that has the name of an operator's.
//!
//! **Invariant:** a call is taken for a helper's only if rustc, which checks what is asked, can find no other function.

use std::collections::BTreeMap;

use syn::{Expr, ExprMethodCall, Ident, Path, Type, UnOp, parse_quote};

use crate::desugar::helper_checks::HelperChecks;
use crate::index::definitions::is_open;
use crate::item::model::{Function, OriginalMethod};
use crate::resolve::candidates::Takes;
use crate::resolve::method_calls::before;
use crate::resolve::types::{Scopes, Types, is_number};
use crate::std_models::operators;
use crate::syntax::call_sites;
use crate::syntax::mentions::{is_compound, text};

/// The helpers of an item.
pub(super) struct Helpers<'a> {
    /// By name.
    functions: BTreeMap<String, Function>,
    /// Of types beside the item.
    methods: &'a [Function],
    types: Types<'a>,
}

/// A call of a helper.
pub(super) struct HelperCall<'h> {
    pub(super) helper: &'h Function,
    pub(super) args: Vec<Expr>,
    /// The name by which the calling function means the helper, or its type.
    pub(super) name: Ident,
    /// What rustc has to check.
    pub(super) checks: HelperChecks,
}

impl<'a> Helpers<'a> {
    pub(super) fn new(
        functions: BTreeMap<String, Function>,
        methods: &'a [Function],
        types: Types<'a>,
    ) -> Helpers<'a> {
        Helpers { functions, methods, types }
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
                let (helper, name) = self.named(&path.path).filter(|_| path.qself.is_none())?;
                let args: Vec<Expr> = call.args.iter().cloned().collect();
                let call = HelperCall { helper, args, name, checks: HelperChecks::default() };
                (helper.params.len() == call.args.len()).then_some(call)
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

    /// The function, or the function of a type, that a path names.
    fn named(&self, path: &Path) -> Option<(&Function, Ident)> {
        if let Some(name) = path.get_ident() {
            return Some((self.functions.get(&name.to_string())?, name.clone()));
        }
        let segments: Vec<_> = path.segments.iter().collect();
        let [owner, name] = segments[..] else { return None };
        if !owner.arguments.is_none() || !name.arguments.is_none() {
            return None;
        }
        let owner = &owner.ident;
        let helper = self.method_of(&parse_quote!(#owner), &name.ident)?;
        Some((helper, owner.clone()))
    }

    /// The method of a type itself.
    fn method_of(&self, owner: &Type, name: &Ident) -> Option<&Function> {
        self.methods.iter().find(|f| {
            f.method.as_ref().is_some_and(|m| {
                m.trait_.is_none()
                    && m.shown.sig.ident == *name
                    && self.types.definitions.same(&m.owner, owner)
            })
        })
    }

    fn method(&self, scopes: &Scopes, call: &ExprMethodCall) -> Option<HelperCall<'_>> {
        let (name, receiver) = (&call.method, &call.receiver);
        if call.turbofish.is_some() || !self.methods.iter().any(|f| shown(f).is_some_and(|own| own == name)) {
            return None;
        }
        let way: Vec<Type> = self.types.way(&self.types.of(scopes, receiver)?).collect();
        let references = way.iter().take_while(|ty| matches!(ty, Type::Reference(_))).count();
        let helper = self.method_of(way.get(references)?, name)?;
        let owner = &helper.method.as_ref()?.owner;
        let takes = takes(helper, owner)?;
        if helper.params.len() != call.args.len() + 1 || references > 1 {
            return None;
        }
        let lent = match way.first()? {
            Type::Reference(r) => Some(r.mutability.is_some()),
            _ => None,
        };
        let argument: Expr = match (takes, lent) {
            (Takes::Value, None) => (**receiver).clone(),
            (Takes::Value, Some(_)) => parse_quote!((*#receiver)),
            (Takes::Ref, None) => parse_quote!(&#receiver),
            (Takes::Mut, None) => parse_quote!(&mut #receiver),
            (Takes::Ref, Some(true)) => parse_quote!(&*#receiver),
            (Takes::Ref, Some(false)) | (Takes::Mut, Some(true)) => (**receiver).clone(),
            (Takes::Mut, Some(false)) => return None,
        };
        let mut checks = HelperChecks::default();
        checks.finds_nothing(name, before(&way[..=references], takes, owner));
        let args = std::iter::once(argument).chain(call.args.iter().cloned()).collect();
        Some(HelperCall { helper, args, name: ident_of(owner)?, checks })
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
        Some(HelperCall { helper, args, name: owner, checks })
    }
}

/// The name of a method, as users know it.
fn shown(f: &Function) -> Option<&Ident> {
    f.method.as_ref().filter(|m| m.trait_.is_none()).map(|m| &m.shown.sig.ident)
}

/// The name of the operator's trait that a method is of, and the types of its operands.
fn operator(f: &Function) -> Option<(String, Type, Option<Type>)> {
    let OriginalMethod { owner, trait_, .. } = f.method.as_ref()?;
    let last = trait_.as_ref()?.segments.last()?;
    Some((last.ident.to_string(), owner.clone(), f.params.get(1).map(|param| param.ty.clone())))
}

/// How a method takes its receiver.
pub(super) fn takes(f: &Function, owner: &Type) -> Option<Takes> {
    let receiver = f.method.as_ref()?.shown.sig.receiver().and(f.params.first())?;
    [Takes::Value, Takes::Ref, Takes::Mut]
        .into_iter()
        .find(|takes| text(&takes.of(owner)) == text(&receiver.ty))
}

fn ident_of(ty: &Type) -> Option<Ident> {
    match ty {
        Type::Path(p) => p.path.get_ident().cloned(),
        _ => None,
    }
}
