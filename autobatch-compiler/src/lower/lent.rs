//! Locals lent to a batched call: `f(&x)`, `f(&mut x)`, `f(&x.part[1..])`, `f(x.as_slice())`.
//!
//! A column's values move; what is referred to must not. So the local moves into a place of its own for the call
//! (`Lent` in the runtime), the callee gets a reference to that, and behind the call the local moves back. A local that is
//! a `&mut` itself stays where it is: a handle (`LentRef`) stands for it meanwhile. Temporaries become locals first.
//!
//! The references live as long as anyone likes, for rustc. That the callee has none left when it returns follows
//! from the scalar function, which rustc has checked with the lifetimes as written, if neither the result nor another
//! argument can hold what the callee got: so calls whose result's type may borrow from it, and parameters with named
//! lifetimes, stay scalar. A type of the user's without lifetimes is taken by its word, which generated code has
//! checked (`let _: Option<fn() -> Type> = None;` has no lifetime to elide).

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, GenericArgument, Ident, Macro, PathArguments, Type, UnOp, parse_quote};

use super::borrowing::borrows_mutably;
use super::named::{self, Temporary};
use super::{Lowering, scan};
use crate::checks::named_self;
use crate::effects::{self, variable};
use crate::input::Function;
use crate::ir::{Role, VarId};
use crate::mentions::{replace_in_macro, spell_out_fields};

/// How the arguments of a call lend locals.
#[derive(Default)]
pub(super) struct Plan {
    /// The locals, each with the first argument that borrows it.
    lends: Vec<Lend>,
}

#[derive(Clone, Copy)]
struct Lend {
    var: VarId,
    first: usize,
    /// Whether the local is a reference, whose target is lent.
    reference: bool,
    /// Whether an argument borrows it mutably.
    mutable: bool,
}

/// A call's argument, as far as lending goes.
enum Borrow {
    No,
    /// Of a local: whether that is a reference itself; whether mutably.
    Of(VarId, bool, bool),
    /// Of what becomes a local first; whether mutably.
    Temporary(bool),
    Refused(Span, &'static str),
}

const CLOSURE: &str = "a closure that captures locals of this function is lent to the call";
const SEVERAL: &str = "an argument borrows from several locals of this function";
const RESULT: &str = "a local of this function is lent to a call whose result may borrow from it";
const LIFETIME: &str = "a local of this function is lent as a parameter with a named lifetime";
const LATER: &str = "a local of this function is lent mutably before another argument makes a call";
const MACRO: &str = "a local of this function is lent in an argument with a macro that mentions it";

const TEMPORARY: &str = "a call is lent what is made in the middle of its argument";
const VIEW: &str =
    "what is made of a local of this function is lent to the call, and may borrow from that local";
const PARTED: &str = "an argument with a call in it borrows from a local of this function";

/// How a call of the function at `source` lends locals, or why it can't.
pub(super) fn plan(
    lower: &Lowering<'_>,
    source: usize,
    args: &[&Expr],
) -> Result<Plan, (Span, &'static str)> {
    let function = &lower.functions[source];
    let mut plan = Plan::default();
    let (mut span, mut later, mut held) = (None, false, false);
    for (i, (arg, param)) in args.iter().zip(&function.params).enumerate() {
        match borrow(lower, arg, &lower.erased_type(source, &param.ty)) {
            Borrow::No => {}
            Borrow::Refused(span, why) => return Err((span, why)),
            Borrow::Temporary(_) if names_lifetime(&param.ty) => return Err((arg.span(), LIFETIME)),
            Borrow::Temporary(mutable) => {
                span.get_or_insert_with(|| arg.span());
                held |= may_yield(function, i);
                later |= mutable && args[i + 1..].iter().any(|arg| scan::splits(lower, arg));
            }
            Borrow::Of(var, reference, mutable) => {
                // What the local holds lives longer than the call anyway.
                let named = match (arg, &param.ty) {
                    (Expr::Reference(_) | Expr::Path(_), Type::Reference(r)) => {
                        r.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident != "_")
                    }
                    (_, ty) => names_lifetime(ty),
                };
                if named {
                    return Err((arg.span(), LIFETIME));
                }
                span.get_or_insert_with(|| arg.span());
                held |= may_yield(function, i);
                match plan.lends.iter_mut().find(|lend| lend.var == var) {
                    Some(lend) => lend.mutable |= mutable,
                    None => plan.lends.push(Lend { var, first: i, reference, mutable }),
                }
            }
        }
    }
    let Some(span) = span else { return Ok(plan) };
    if held {
        return Err((span, RESULT));
    }
    if later {
        return Err((span, LATER));
    }
    for lend in &plan.lends {
        let later = &args[lend.first..];
        if lend.mutable && later[1..].iter().any(|arg| scan::splits(lower, arg)) {
            return Err((span, LATER));
        }
        if later.iter().any(|arg| in_macro(lower, arg, lend.var)) {
            return Err((span, MACRO));
        }
    }
    Ok(plan)
}

fn borrow(lower: &Lowering<'_>, arg: &Expr, param: &Type) -> Borrow {
    let exclusive = |var: VarId| is_exclusive(lower.type_of(var));
    match arg {
        Expr::Paren(e) => borrow(lower, &e.expr, param),
        Expr::Reference(e) => {
            let mutable = e.mutability.is_some();
            if let Expr::Closure(_) = named::behind(&e.expr)
                && !effects::of_expr(&lower.names, &e.expr).mentions.is_empty()
            {
                return Borrow::Refused(arg.span(), CLOSURE);
            }
            match temporary(lower, arg, param, mutable) {
                Borrow::No => {}
                found => return found,
            }
            if let Expr::Unary(deref) = &*e.expr
                && matches!(deref.op, UnOp::Deref(_))
                && let Some(var) = variable(&lower.names, &deref.expr)
                && !lower.owns_target(var)
            {
                return if exclusive(var) && !same_type(lower, var, param) {
                    Borrow::Of(var, true, mutable)
                } else {
                    Borrow::No
                };
            }
            let base = named::behind(&e.expr);
            if matches!(base, Expr::MethodCall(_) | Expr::Call(_) | Expr::Try(_))
                && scan::borrows(lower, base, false)
                && !scan::borrowed(lower, base).is_empty()
            {
                return match only_root(lower, base) {
                    Some(var) if named::refers(lower, base) => {
                        Borrow::Of(var, exclusive(var), mutable || borrows_mutably(lower, base))
                    }
                    Some(_) => Borrow::Refused(arg.span(), VIEW),
                    None => Borrow::Refused(arg.span(), SEVERAL),
                };
            }
            match lower.owner(&e.expr) {
                Some(var) if scan::is_owned_local(lower, &e.expr) => Borrow::Of(var, exclusive(var), mutable),
                _ => Borrow::No,
            }
        }
        Expr::Closure(_) if scan::plainly_borrows_local(lower, arg) => Borrow::Refused(arg.span(), CLOSURE),
        // The columns of a parameter have its type, which can't name a closure.
        Expr::MethodCall(_)
        | Expr::Call(_)
        | Expr::Tuple(_)
        | Expr::Struct(_)
        | Expr::Array(_)
        | Expr::Try(_)
        | Expr::If(_)
        | Expr::Match(_)
        | Expr::Block(_) => {
            let mutable = crate::ir::text(param).contains("mut ")
                || crate::ir::text(arg).contains("& mut")
                || borrows_mutably(lower, arg);
            if may_borrow(param) {
                match temporary(lower, arg, param, mutable) {
                    Borrow::No => {}
                    found => return found,
                }
            }
            if may_borrow(param)
                && let Some((var, mutable)) = lower.unseen_lender(arg)
            {
                if lower.keeps_elsewhere(arg) || only_root(lower, arg).is_some_and(|root| root != var) {
                    return Borrow::Refused(arg.span(), SEVERAL);
                }
                return Borrow::Of(var, exclusive(var), mutable);
            }
            if (!scan::borrows(lower, arg, false) && !lends_for(lower, arg, param))
                || scan::borrowed(lower, arg).is_empty()
            {
                return Borrow::No;
            }
            let parted = matches!(arg, Expr::If(_) | Expr::Match(_) | Expr::Block(_));
            match only_root(lower, arg) {
                Some(_) if parted && scan::splits(lower, arg) => Borrow::Refused(arg.span(), PARTED),
                Some(var) => Borrow::Of(var, exclusive(var), mutable),
                None => Borrow::Refused(arg.span(), SEVERAL),
            }
        }
        _ => match (variable(&lower.names, arg), param) {
            // Reborrowed for the call.
            (Some(var), Type::Reference(r)) if exclusive(var) && !same_type(lower, var, param) => {
                Borrow::Of(var, true, r.mutability.is_some())
            }
            (Some(var), Type::Reference(r))
                if r.mutability.is_some() && lower.type_of(var).is_none() && !lower.is_reference(var) =>
            {
                Borrow::Of(var, true, true)
            }
            _ => Borrow::No,
        },
    }
}

/// What becomes of an argument with a temporary in it that it borrows from.
fn temporary(lower: &Lowering<'_>, arg: &Expr, param: &Type, mutable: bool) -> Borrow {
    // What is behind the parameter's own reference.
    let holds = match param {
        Type::Reference(r) => may_borrow(&r.elem),
        _ => true,
    };
    match named::temporary(lower, arg, &named::placeholder()) {
        Temporary::None => Borrow::No,
        Temporary::Refused => Borrow::Refused(arg.span(), TEMPORARY),
        Temporary::One(_, value)
            if named::views(lower, &value) || (holds && scan::borrows(lower, &value, false)) =>
        {
            Borrow::Refused(arg.span(), VIEW)
        }
        Temporary::One(named, _)
            if !matches!(arg, Expr::Reference(_)) && !scan::borrowed(lower, &named).is_empty() =>
        {
            Borrow::Refused(arg.span(), SEVERAL)
        }
        Temporary::One(..) => Borrow::Temporary(mutable),
    }
}

/// The local that an expression borrows from, if it is one.
fn only_root(lower: &Lowering<'_>, expr: &Expr) -> Option<VarId> {
    let mut roots = scan::borrowed(lower, expr).into_iter();
    roots.next().filter(|_| roots.next().is_none())
}

/// Whether an argument is what a function makes that gets a reference to a local, where the parameter may borrow: whatever
/// the function is.
fn lends_for(lower: &Lowering<'_>, arg: &Expr, param: &Type) -> bool {
    let Expr::Call(call) = arg else { return false };
    may_borrow(param) && call.args.iter().any(|arg| scan::borrows(lower, arg, false))
}

/// Whether a variable is a parameter of the type: the batch's own state, which is handed on.
fn same_type(lower: &Lowering<'_>, var: VarId, ty: &Type) -> bool {
    let param = matches!(lower.program.var(var).role, Role::Param(_));
    param && lower.type_of(var).is_some_and(|own| crate::ir::text(own) == crate::ir::text(ty))
}

pub(super) fn is_exclusive(ty: Option<&Type>) -> bool {
    matches!(ty, Some(Type::Reference(r)) if r.mutability.is_some())
}

/// Whether a type names a lifetime other than `'_` and `'static`.
fn names_lifetime(ty: &Type) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            self.0 |= lifetime.ident != "_";
        }
    }
    let mut scan = Scan(false);
    scan.visit_type(ty);
    scan.0
}

/// Whether a value of the type may borrow from an argument, as far as the type is written out.
pub(crate) fn may_borrow(ty: &Type) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_type_reference(&mut self, r: &'ast syn::TypeReference) {
            self.0 |= r.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident != "static");
            visit::visit_type_reference(self, r);
        }
        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            self.0 |= lifetime.ident != "static";
        }
        fn visit_type_trait_object(&mut self, _: &'ast syn::TypeTraitObject) {
            self.0 = true;
        }
        fn visit_type_macro(&mut self, _: &'ast syn::TypeMacro) {
            self.0 = true;
        }
    }
    let mut scan = Scan(false);
    scan.visit_type(ty);
    scan.0
}

/// Whether what a function yields may borrow from what an argument refers to. An elided lifetime is the receiver's, if that is a
/// reference; one with a name is not that of a parameter which names none.
fn may_yield(function: &Function, param: usize) -> bool {
    struct Scan {
        elided: bool,
        unknown: bool,
    }
    impl<'ast> Visit<'ast> for Scan {
        fn visit_type_reference(&mut self, r: &'ast syn::TypeReference) {
            self.elided |= r.lifetime.is_none();
            visit::visit_type_reference(self, r);
        }
        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            self.elided |= lifetime.ident == "_";
        }
        fn visit_angle_bracketed_generic_arguments(
            &mut self,
            args: &'ast syn::AngleBracketedGenericArguments,
        ) {
            self.unknown |= args.args.iter().any(|arg| matches!(arg, GenericArgument::Lifetime(_)));
            visit::visit_angle_bracketed_generic_arguments(self, args);
        }
        fn visit_type_trait_object(&mut self, _: &'ast syn::TypeTraitObject) {
            self.unknown = true;
        }
        fn visit_type_macro(&mut self, _: &'ast syn::TypeMacro) {
            self.unknown = true;
        }
    }
    if !may_borrow(&function.output) {
        return false;
    }
    let mut scan = Scan { elided: false, unknown: false };
    scan.visit_type(&function.output);
    let receiver = function
        .params
        .first()
        .is_some_and(|first| function.sig.receiver().is_some() && matches!(first.ty, Type::Reference(_)));
    let ty = &function.params[param].ty;
    scan.unknown || names_lifetime(ty) || (scan.elided && (!receiver || param == 0))
}

/// Pointers in the place of references, whose lifetimes are known: what is left must have none.
struct Pointers;

impl VisitMut for Pointers {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Reference(r) = ty {
            let elem = &r.elem;
            *ty = parse_quote!(*const #elem);
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Whether values of a type certainly borrow nothing, as far as it is written out.
pub(crate) fn owns(ty: &Type) -> bool {
    !may_borrow(ty) && !may_hide_lifetime(ty) && named_self(ty.to_token_stream()).is_none()
}

/// Whether a type can have a lifetime that is not written: a path that is not of the language or its library.
fn may_hide_lifetime(ty: &Type) -> bool {
    const KNOWN: [&str; 11] =
        ["Vec", "Option", "Result", "Box", "String", "Rc", "Arc", "HashMap", "BTreeMap", "VecDeque", "Self"];
    match ty {
        Type::Path(p) if p.qself.is_none() => p.path.segments.iter().any(|segment| {
            let known = crate::lockstep::is_primitive(ty) || KNOWN.iter().any(|name| segment.ident == name);
            let args = match &segment.arguments {
                PathArguments::AngleBracketed(args) => args.args.iter().any(|arg| match arg {
                    GenericArgument::Type(ty) => may_hide_lifetime(ty),
                    _ => false,
                }),
                _ => false,
            };
            !known || args
        }),
        Type::Tuple(t) => t.elems.iter().any(may_hide_lifetime),
        Type::Array(t) => may_hide_lifetime(&t.elem),
        Type::Paren(t) => may_hide_lifetime(&t.elem),
        Type::Group(t) => may_hide_lifetime(&t.elem),
        _ => true,
    }
}

/// Whether a macro in an expression mentions a variable.
fn in_macro(lower: &Lowering<'_>, arg: &Expr, var: VarId) -> bool {
    struct Scan<'a>(&'a str, bool);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_macro(&mut self, mac: &'ast Macro) {
            let text = mac.tokens.to_string();
            self.1 |= text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == self.0);
        }
    }
    let name = lower.program.var(var).ident.to_string();
    let mut scan = Scan(&name, false);
    scan.visit_expr(arg);
    scan.1
}

impl Plan {
    /// For a call that ends the function: a local that is a reference is not needed again.
    pub(super) fn at_the_end(mut self) -> Plan {
        self.lends.retain(|lend| !lend.reference);
        self
    }
}

impl Lowering<'_> {
    /// The arguments of a call into variables, and the locals that have to be given back behind it.
    pub(super) fn lend(
        &mut self,
        plan: &Plan,
        args: &[Expr],
        params: &[VarId],
        output: &Type,
    ) -> (Vec<VarId>, Vec<(VarId, Ident)>) {
        let krate = self.options.krate.clone();
        let mut output = output.clone();
        Pointers.visit_type_mut(&mut output);
        if may_hide_lifetime(&output) && !plan.lends.is_empty() {
            self.op(
                parse_quote!(let _: ::core::option::Option<fn() -> #output> = ::core::option::Option::None;),
            );
        }
        let mut vars = Vec::with_capacity(args.len());
        let mut held: Vec<(Lend, Ident)> = Vec::new();
        let mut i = 0;
        while i < args.len() {
            for lend in plan.lends.iter().filter(|lend| lend.first == i) {
                let ident = self.program.var(lend.var).ident.clone();
                let (handle, name) = self.temp("lent", None);
                let kind = Ident::new(if lend.reference { "LentRef" } else { "Lent" }, Span::mixed_site());
                self.define(handle, None, parse_quote!(#krate::__rt::#kind::new(#ident)));
                held.push((*lend, name));
            }
            let mentions = |lower: &Self, arg: &Expr, lend: &Lend| {
                effects::of_expr(&lower.names, arg).mentions.contains(&lend.var)
            };
            // What borrows parts of one local mutably does so in one expression, which rustc has checked.
            let last = (i..args.len())
                .rev()
                .find(|j| {
                    held.iter().any(|(lend, _)| {
                        lend.mutable && mentions(self, &args[i], lend) && mentions(self, &args[*j], lend)
                    })
                })
                .unwrap_or(i);
            let group = &args[i..=last];
            let needed = held.iter().filter(|(lend, _)| group.iter().any(|arg| mentions(self, arg, lend)));
            let needed: Vec<(Lend, Ident)> = needed.cloned().collect();
            let bases: Vec<(Lend, Ident, Ident)> =
                needed.into_iter().map(|(lend, handle)| (lend, handle, self.base_ident())).collect();
            if bases.is_empty() {
                let value = self.value(args[i].clone());
                vars.push(self.argument(value, params[i], &args[i + 1..]));
                self.note_carried(&args[i], vars[i]);
                i += 1;
                continue;
            }
            let mut values: Vec<Expr> = group.iter().map(|arg| self.value(arg.clone())).collect();
            let lets: Vec<syn::Stmt> = bases
                .iter()
                .map(|(lend, handle, base)| {
                    let name = self.program.var(lend.var).ident.to_string();
                    values.iter_mut().for_each(|value| {
                        Place { name: &name, base, reference: lend.reference }.visit_expr_mut(value);
                    });
                    if lend.mutable {
                        parse_quote!(let #base = #handle.lend();)
                    } else {
                        parse_quote!(let #base = #handle.share();)
                    }
                })
                .collect();
            let types: Vec<Option<Type>> =
                params[i..=last].iter().map(|param| self.program.var(*param).ty.clone()).collect();
            let temps: Vec<_> = types.iter().map(|ty| self.temp("arg", ty.clone())).collect();
            let idents: Vec<&Ident> = temps.iter().map(|(_, ident)| ident).collect();
            let types: Vec<Type> =
                types.iter().map(|ty| ty.clone().unwrap_or_else(|| parse_quote!(_))).collect();
            if let ([ident], [value], [ty]) = (&idents[..], &values[..], &types[..]) {
                self.op(parse_quote!(let #ident: #ty = { #(#lets)* #value };));
            } else {
                self.op(parse_quote!(let (#(#idents,)*): (#(#types,)*) = { #(#lets)* (#(#values,)*) };));
            }
            for (arg, (var, _)) in group.iter().zip(&temps) {
                self.note_carried(arg, *var);
                vars.push(*var);
            }
            i = last + 1;
        }
        (vars, held.into_iter().map(|(lend, handle)| (lend.var, handle)).collect())
    }

    /// Behind the call: what was lent is the caller's again.
    pub(super) fn give_back(&mut self, lent: Vec<(VarId, Ident)>) {
        for (var, handle) in lent {
            self.define(var, None, parse_quote!(#handle.back()));
        }
    }

    fn base_ident(&mut self) -> Ident {
        self.temps += 1;
        Ident::new(&format!("__base{}", self.temps), Span::mixed_site())
    }
}

/// Puts a place in the place of a variable.
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) base: &'a Ident,
    /// Whether the variable is a reference, as `base` is; else `base` refers to its value.
    pub(super) reference: bool,
}

impl VisitMut for Place<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(p) if p.qself.is_none() && p.path.get_ident().is_some_and(|i| i == self.name) => {
                let base = self.base;
                *expr = if self.reference { parse_quote!(#base) } else { parse_quote!((*#base)) };
            }
            Expr::Struct(e) => {
                spell_out_fields(e);
                visit_mut::visit_expr_mut(self, expr);
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let base = self.base;
        let inside = if self.reference { quote::quote!(#base) } else { quote::quote!(*#base) };
        replace_in_macro(mac, self.name, &inside);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
