//! The types of expressions and patterns, as far as they follow from types that are written out.

use std::collections::BTreeMap;

use syn::{BinOp, Expr, GenericArgument, Ident, Member, Pat, Stmt, Type, UnOp, parse_quote};

use crate::index::definitions::{Definitions, Substitute, argument, is_open, named};
use crate::item::model::Function;
use crate::resolve::types::{FunctionType, Holds, Scopes, Types, is_number, iterator};
use crate::std_models::facts::{self, Fact};
use crate::std_models::number_methods::{Primitives, computes, yields};
use crate::std_models::operators;
use crate::std_models::pure::{is_constant, is_pure_function};
use crate::syntax::mentions::{bare, is_truth};
use crate::syntax::walk::{self, At};

impl FunctionType {
    /// The functions of an item; `own` is what `Self` is.
    pub(crate) fn all(
        functions: &[Function],
        own: Option<&Type>,
        definitions: &Definitions,
    ) -> Vec<FunctionType> {
        let types = Types { definitions, functions: &[], own: own.cloned() };
        let typed = |f: &Function| {
            let (owner, name) = match &f.method {
                Some(m) => (Some(m.owner.clone()), &m.shown.sig.ident),
                None => (own.filter(|_| f.associated).cloned(), &f.sig.ident),
            };
            FunctionType { owner, name: name.to_string(), output: types.plain(&f.output) }
        };
        functions.iter().map(typed).collect()
    }
}

/// How a pattern reaches what it binds: default binding modes.
#[derive(Clone, Copy)]
enum Mode {
    Value,
    Ref,
    Mut,
}

impl Types<'_> {
    /// A type with `Self` and aliases written out.
    pub(crate) fn plain(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        if let Some(own) = &self.own {
            let own = [("Self".to_string(), own.clone())];
            crate::syntax::visit_mut::VisitMut::visit_type_mut(&mut Substitute::new(own), &mut ty);
        }
        self.definitions.plain(&ty)
    }

    /// The types along the way that method calls look.
    pub(crate) fn way(&self, ty: &Type) -> impl Iterator<Item = Type> {
        let next = |ty: &Type| Some(self.plain(&self.definitions.target(ty)?));
        std::iter::successors(Some(self.plain(ty)), next)
    }

    /// The type of an expression.
    pub(crate) fn of(&self, scopes: &Scopes, expr: &Expr) -> Option<Type> {
        self.maybe(scopes, expr).filter(is_known)
    }

    /// The same, unless the type of an operand is guessed from the other's: where one is a number, the other usually is.
    pub(crate) fn certain(&self, scopes: &Scopes, expr: &Expr) -> Option<Type> {
        let is_guess = |at: At<'_>| match at {
            At::Expr(Expr::Binary(e)) => {
                self.of(scopes, &e.left).is_none() || self.of(scopes, &e.right).is_none()
            }
            _ => false,
        };
        self.of(scopes, expr).filter(|_| !walk::any(expr, is_guess))
    }

    /// The same; `_` is a type that is not known.
    fn maybe(&self, scopes: &Scopes, expr: &Expr) -> Option<Type> {
        match bare(expr) {
            Expr::Path(p) if p.qself.is_none() => self.named(scopes, &p.path).or_else(|| self.constant(p)),
            Expr::Cast(e) => Some(self.plain(&e.ty)),
            Expr::Reference(e) => {
                let (ty, mutability) = (self.of(scopes, &e.expr)?, &e.mutability);
                Some(parse_quote!(&#mutability #ty))
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                self.definitions.target(&self.of(scopes, &e.expr)?)
            }
            Expr::Field(e) => {
                let base = self.of(scopes, &e.base)?;
                Some(self.plain(&self.definitions.field(&base, &e.member)?))
            }
            Expr::Index(e) => match self.holds(self.of(scopes, &e.expr)?)? {
                Holds::Sequence(element) if matches!(*e.index, Expr::Range(_)) => {
                    Some(parse_quote!([#element]))
                }
                Holds::Sequence(element) | Holds::Map(_, element) => Some(element),
                _ => None,
            },
            Expr::Range(_) => Some(parse_quote!(__Iterator<__Number>)),
            Expr::Closure(e) => {
                let output = self.returned(scopes, e, &[])?;
                Some(parse_quote!(__Closure<#output>))
            }
            Expr::Try(e) => self.wrapped(self.of(scopes, &e.expr)?),
            Expr::Call(e) => self.called(scopes, e),
            Expr::MethodCall(e) => self.method(scopes, e),
            Expr::Struct(e) => self.constructed(&e.path),
            Expr::Lit(e) => match &e.lit {
                syn::Lit::Int(n) => Some(of_literal(n.suffix(), "__Integer")),
                syn::Lit::Float(n) => Some(of_literal(n.suffix(), "__Float")),
                syn::Lit::Bool(_) => Some(parse_quote!(bool)),
                syn::Lit::Str(_) => Some(parse_quote!(&str)),
                _ => None,
            },
            Expr::Unary(e) => {
                let of = operand(self.of(scopes, &e.expr)?);
                let (of_trait, _) = operators::unary(&e.op)?;
                if is_number(&of) { Some(of) } else { self.definitions.operation(of_trait, &of, None) }
            }
            Expr::Binary(e) if is_truth(&e.op) => Some(parse_quote!(bool)),
            Expr::Binary(e) => {
                let of = |side: &Expr| self.of(scopes, side).map(operand);
                let (left, right) = (of(&e.left)?, of(&e.right));
                let of_types = |right: &Type| {
                    self.definitions.operation(operators::binary(&e.op)?.0, &left, Some(right))
                };
                match right {
                    Some(right) if !is_number(&left) || !is_number(&right) => of_types(&right),
                    // A literal is of the other's type.
                    Some(right) if is_open(&left) && !is_shift(&e.op) => Some(right),
                    _ => Some(left).filter(is_number),
                }
            }
            Expr::Array(e) => {
                let of = joined(e.elems.iter().map(|e| self.of(scopes, e)));
                let len = proc_macro2::Literal::usize_unsuffixed(e.elems.len());
                of.map(|ty| parse_quote!([#ty; #len]))
            }
            Expr::Repeat(e) => {
                let (of, len) = (self.of(scopes, &e.expr)?, &e.len);
                Some(parse_quote!([#of; #len]))
            }
            Expr::Tuple(e) => {
                let parts = e.elems.iter().map(|e| self.of(scopes, e).unwrap_or_else(|| parse_quote!(_)));
                let parts: Vec<Type> = parts.collect();
                Some(parse_quote!((#(#parts,)*)))
            }
            Expr::Macro(e) if e.mac.path.is_ident("vec") => {
                let first = e.mac.parse_body_with(first_element).ok();
                let of = first.and_then(|first| self.of(scopes, &first));
                let of = of.unwrap_or_else(|| parse_quote!(_));
                Some(parse_quote!(Vec<#of>))
            }
            Expr::Macro(e) if e.mac.path.is_ident("format") => Some(parse_quote!(String)),
            Expr::Block(e) => self.of_block(scopes, &e.block),
            Expr::If(e) => {
                let mut inner = opened(scopes);
                self.bind_condition(&mut inner, &e.cond);
                let otherwise = e.else_branch.iter().map(|(_, e)| self.of(scopes, e));
                joined(std::iter::once(self.of_block(&inner, &e.then_branch)).chain(otherwise))
            }
            Expr::Match(e) => joined(e.arms.iter().map(|arm| {
                let mut inner = opened(scopes);
                self.bind(&mut inner, &arm.pat, self.of(scopes, &e.expr));
                self.of(&inner, &arm.body)
            })),
            _ => None,
        }
    }

    fn of_block(&self, scopes: &Scopes, block: &syn::Block) -> Option<Type> {
        match &block.stmts[..] {
            [Stmt::Expr(tail, None)] => self.of(scopes, tail),
            [before @ .., Stmt::Expr(tail, None)] => {
                let mut inner = opened(scopes);
                for stmt in before {
                    if let Stmt::Local(local) = stmt {
                        let ty = self.of_local(&inner, local);
                        self.bind(&mut inner, &local.pat, ty);
                    }
                }
                self.of(&inner, tail)
            }
            _ => None,
        }
    }

    /// The type of a variable, of a structure without fields, or of a variant without.
    fn named(&self, scopes: &Scopes, path: &syn::Path) -> Option<Type> {
        let local = path.get_ident().map(ToString::to_string);
        if let Some(ty) = scopes.iter().rev().find_map(|scope| scope.get(local.as_ref()?)) {
            return ty.clone();
        }
        let variant = path.segments.last().filter(|_| local.is_none()).map(|last| &last.ident);
        let ty = self.constructed(path)?;
        let fields = self.definitions.fields(&ty, variant)?;
        fields.is_empty().then_some(ty)
    }

    /// The type of a constant: the file's, or one of a number's type, `f64::INFINITY`.
    fn constant(&self, path: &syn::ExprPath) -> Option<Type> {
        let segments: Vec<&Ident> = path.path.segments.iter().map(|segment| &segment.ident).collect();
        match segments[..] {
            [ty, _] if is_constant(path) => Some(parse_quote!(#ty)).filter(is_number),
            _ => self.definitions.constant(path).map(|constant| self.plain(&constant.ty)),
        }
    }

    /// The type of a field of what such a path makes, `Node { … }`, `Tree::Node(…)`.
    pub(crate) fn part(&self, path: &syn::Path, member: &Member) -> Option<Type> {
        let variant = (path.segments.len() > 1).then(|| path.segments.last()).flatten();
        let fields = self.definitions.fields(&self.constructed(path)?, variant.map(|last| &last.ident))?;
        fields.into_iter().find(|(name, _)| name == member).map(|(_, ty)| ty)
    }

    /// The type that a path in an expression is a value or variant of.
    fn constructed(&self, path: &syn::Path) -> Option<Type> {
        let known = |names: &[&Ident]| {
            let ty: Type = parse_quote!(#(#names)::*);
            let ty = self.plain(&ty);
            let own = self.own.as_ref().is_some_and(|own| self.definitions.same(own, &ty));
            let generic =
                matches!(&ty, Type::Path(p) if p.path.segments.iter().any(|s| !s.arguments.is_none()));
            (own || (self.definitions.knows(&ty) && !generic)).then_some(ty)
        };
        let names: Vec<&Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        match names[..] {
            [name] => known(&[name]),
            [ty, name] if name.to_string().starts_with(char::is_uppercase) => known(&[ty]),
            _ => None,
        }
    }

    fn called(&self, scopes: &Scopes, call: &syn::ExprCall) -> Option<Type> {
        let Expr::Path(func) = &*call.func else { return None };
        let names: Vec<String> = func.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let first = || self.of(scopes, call.args.first()?);
        match &names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [name] if scopes.iter().any(|scope| scope.contains_key(*name)) => {
                let local = self.named(scopes, &func.path)?;
                if named(&local, "__Closure") { argument(&local, 0) } else { None }
            }
            [ty, "from" | "from_bits"] if Primitives::of_name(ty).is_some() => {
                let ty = &func.path.segments[0].ident;
                Some(parse_quote!(#ty))
            }
            [ty, name] if is_pure_function(func) && Primitives::of_name(ty).is_some() => {
                let ty = &func.path.segments[0].ident;
                Some(yields(name, &parse_quote!(#ty)))
            }
            ["Some"] | [.., "Option", "Some"] => first().map(|ty| parse_quote!(Option<#ty>)),
            ["Ok"] => first().map(|ty| parse_quote!(Result<#ty, _>)),
            [.., "mem", "take" | "replace"] => self.definitions.target(&first()?),
            [.., "iter", "once"] => first().map(|ty| iterator(&ty)),
            [.., "iter", "successors"] => self.wrapped(first()?).map(|ty| iterator(&ty)),
            ["Rc" | "Arc", "clone"] => self.definitions.target(&first()?),
            [pointer, "new"] if facts::is(pointer, Fact::Pointer) => {
                let pointer = Ident::new(pointer, proc_macro2::Span::call_site());
                first().map(|ty| parse_quote!(#pointer<#ty>))
            }
            [made, "new" | "with_capacity" | "default" | "from"] if facts::is(made, Fact::Collection) => {
                let made = Ident::new(made, proc_macro2::Span::call_site());
                Some(parse_quote!(#made<_>))
            }
            [name] => self.output(None, name).or_else(|| self.constructed(&func.path)),
            [ty, name] => {
                let ident = Ident::new(ty, proc_macro2::Span::call_site());
                let owner = self.plain(&parse_quote!(#ident));
                let of_trait = || {
                    // Of `Default`, `From` and `FromIterator`, where the type has no function of that name itself.
                    let makes = matches!(*name, "default" | "from" | "from_iter");
                    self.constructed(&func.path.segments[0].clone().into()).filter(|_| makes)
                };
                let own = self.output(Some(&owner), name);
                own.or_else(|| self.constructed(&func.path)).or_else(of_trait)
            }
            _ => None,
        }
    }

    fn output(&self, owner: Option<&Type>, name: &str) -> Option<Type> {
        let fits = |f: &&FunctionType| {
            f.name == name
                && match (owner, &f.owner) {
                    (None, None) => true,
                    (Some(a), Some(b)) => self.definitions.same(a, b),
                    _ => false,
                }
        };
        let own = self.functions.iter().find(fits).map(|f| f.output.clone());
        own.or_else(|| self.definitions.result(owner?, name))
    }

    fn method(&self, scopes: &Scopes, call: &syn::ExprMethodCall) -> Option<Type> {
        if let Some(ty) = collected(call) {
            return Some(ty);
        }
        let receiver = self.plain(&self.of(scopes, &call.receiver)?);
        let name = call.method.to_string();
        if let Some(own) = self.way(&receiver).find_map(|ty| self.output(Some(&ty), &name)) {
            return Some(own);
        }
        match Primitives::of_type(&receiver).is_some_and(|of| computes(&call.method, of)) {
            true => Some(yields(&name, &receiver)),
            false if name == "len" && self.definitions.list(&receiver).is_some() => Some(parse_quote!(usize)),
            false => self.yields(scopes, &receiver, call),
        }
    }

    /// What a closure returns that gets arguments of these types.
    pub(crate) fn returned(
        &self,
        scopes: &Scopes,
        closure: &syn::ExprClosure,
        inputs: &[Option<Type>],
    ) -> Option<Type> {
        if let syn::ReturnType::Type(_, ty) = &closure.output {
            return Some(self.plain(ty));
        }
        let mut inner = opened(scopes);
        for (i, pat) in closure.inputs.iter().enumerate() {
            self.bind(&mut inner, pat, inputs.get(i).cloned().flatten());
        }
        self.of(&inner, &closure.body)
    }

    /// The type of a `let`'s value.
    pub(crate) fn of_local(&self, scopes: &Scopes, local: &syn::Local) -> Option<Type> {
        let init = &local.init.as_ref()?.expr;
        if let Pat::Type(p) = &local.pat
            && let Expr::MethodCall(call) = &**init
            && call.method == "collect"
            && let Some(Holds::Iterator(item)) = self.of(scopes, &call.receiver).and_then(|ty| self.holds(ty))
        {
            return self.collected(&p.ty, &item);
        }
        self.of(scopes, init)
    }

    /// Binds the variables of a condition's `let`s.
    pub(super) fn bind_condition(&self, scopes: &mut Scopes, cond: &Expr) {
        match bare(cond) {
            Expr::Let(e) => {
                let ty = self.of(scopes, &e.expr);
                self.bind(scopes, &e.pat, ty);
            }
            Expr::Binary(e) => {
                self.bind_condition(scopes, &e.left);
                self.bind_condition(scopes, &e.right);
            }
            _ => {}
        }
    }

    /// Binds the variables of a pattern in the innermost scope.
    pub(crate) fn bind(&self, scopes: &mut Scopes, pat: &Pat, ty: Option<Type>) {
        let mut found = Vec::new();
        self.pattern(pat, ty, Mode::Value, &mut found);
        scopes.last_mut().expect("a scope is open").extend(found);
    }

    fn pattern(&self, pat: &Pat, ty: Option<Type>, mode: Mode, found: &mut Vec<(String, Option<Type>)>) {
        let ty = ty.map(|ty| self.plain(&ty)).filter(is_known);
        match pat {
            // Else `None` would have the type of what is matched wherever it stands.
            Pat::Ident(p) if names_variant(&p.ident) => {}
            Pat::Ident(p) => {
                let bound = ty.clone().map(|ty| match (mode, &p.by_ref, &p.mutability) {
                    (Mode::Ref, _, _) | (_, Some(_), None) => parse_quote!(&#ty),
                    (Mode::Mut, _, _) | (_, Some(_), Some(_)) => parse_quote!(&mut #ty),
                    _ => ty,
                });
                found.push((p.ident.to_string(), bound));
                if let Some((_, sub)) = &p.subpat {
                    self.pattern(sub, ty, mode, found);
                }
            }
            Pat::Type(p) => {
                let annotated = Some(self.filled(&p.ty, ty));
                self.pattern(&p.pat, annotated, Mode::Value, found);
            }
            Pat::Paren(p) => self.pattern(&p.pat, ty, mode, found),
            Pat::Or(p) => p.cases.iter().for_each(|case| self.pattern(case, ty.clone(), mode, found)),
            Pat::Guard(p) => self.pattern(&p.pat, ty, mode, found),
            Pat::Reference(p) => match (mode, ty) {
                (Mode::Value, Some(Type::Reference(r))) => self.pattern(&p.pat, Some(*r.elem), mode, found),
                _ => self.pattern(&p.pat, None, Mode::Value, found),
            },
            Pat::Tuple(_) | Pat::TupleStruct(_) | Pat::Struct(_) | Pat::Slice(_) => {
                self.parts(pat, ty, mode, found)
            }
            _ => {}
        }
    }

    /// A type as annotated; where that leaves something open, the value's, if it is of the same kind.
    fn filled(&self, annotated: &Type, value: Option<Type>) -> Type {
        let (annotated, value) = (self.plain(annotated), value.map(|ty| self.plain(&ty)));
        let open = |ty: &Type| argument(ty, 0).is_some_and(|arg| matches!(arg, Type::Infer(_)));
        match (&annotated, value) {
            (Type::Infer(_), Some(value)) => value,
            (Type::Path(_), Some(value))
                if open(&annotated) && self.definitions.same_kind(&annotated, &value) =>
            {
                value
            }
            _ => annotated,
        }
    }

    fn parts(&self, pat: &Pat, ty: Option<Type>, mode: Mode, found: &mut Vec<(String, Option<Type>)>) {
        let (mut ty, mut mode) = (ty, mode);
        while let Some(Type::Reference(r)) = ty {
            mode = if r.mutability.is_none() || matches!(mode, Mode::Ref) { Mode::Ref } else { Mode::Mut };
            ty = Some(self.plain(&r.elem));
        }
        let fields = |path: &syn::Path, ty: Option<Type>| {
            let variant = path.segments.last().map(|segment| &segment.ident);
            ty.and_then(|ty| self.definitions.fields(&ty, variant)).unwrap_or_default()
        };
        match pat {
            Pat::Tuple(p) => {
                let types = match ty {
                    Some(Type::Tuple(t)) => t.elems.into_iter().collect(),
                    _ => vec![],
                };
                self.sequence(p.elems.iter().collect(), &types, mode, found);
            }
            Pat::TupleStruct(p) => {
                let types: Vec<Type> = fields(&p.path, ty).into_iter().map(|(_, ty)| ty).collect();
                self.sequence(p.elems.iter().collect(), &types, mode, found);
            }
            Pat::Struct(p) => {
                let fields = fields(&p.path, ty);
                for field in &p.fields {
                    let of = fields.iter().find(|(name, _)| *name == field.member);
                    self.pattern(&field.pat, of.map(|(_, ty)| ty.clone()), mode, found);
                }
            }
            Pat::Slice(p) => {
                let element = ty.and_then(|ty| self.element(ty));
                for part in &p.elems {
                    let rest = matches!(part, Pat::Ident(p) if p.subpat.is_some());
                    let of = element.clone().map(|ty| if rest { parse_quote!([#ty]) } else { ty });
                    self.pattern(part, of, mode, found);
                }
            }
            _ => {}
        }
    }

    /// Patterns side by side, maybe with a `..` among them.
    fn sequence(&self, pats: Vec<&Pat>, types: &[Type], mode: Mode, found: &mut Vec<(String, Option<Type>)>) {
        let rest = pats.iter().position(|pat| matches!(pat, Pat::Rest(_)));
        for (i, pat) in pats.iter().enumerate() {
            let at = match rest {
                Some(rest) if i > rest => (types.len() + i).checked_sub(pats.len()),
                _ => Some(i),
            };
            self.pattern(pat, at.and_then(|at| types.get(at)).cloned(), mode, found);
        }
    }
}

/// Whether an identifier is written as variants and structures are: in camel case.
fn names_variant(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// The scopes with one more, inside of them.
fn opened(scopes: &Scopes) -> Scopes {
    scopes.iter().cloned().chain([BTreeMap::new()]).collect()
}

/// An operand's type: operators take references to numbers as they take numbers.
fn operand(ty: Type) -> Type {
    match ty {
        Type::Reference(r) if is_number(&r.elem) => *r.elem,
        ty => ty,
    }
}

/// The type that several values have, of which some may say more than others.
pub(super) fn joined(types: impl IntoIterator<Item = Option<Type>>) -> Option<Type> {
    types.into_iter().flatten().reduce(|one, other| join(&one, &other))
}

fn join(one: &Type, other: &Type) -> Type {
    match (one, other) {
        (one, _) if is_open(one) || matches!(one, Type::Infer(_)) => other.clone(),
        (Type::Array(a), Type::Array(b)) => {
            let (elem, len) = (join(&a.elem, &b.elem), &a.len);
            parse_quote!([#elem; #len])
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.elems.len() == b.elems.len() => {
            let parts = a.elems.iter().zip(&b.elems).map(|(a, b)| join(a, b));
            parse_quote!((#(#parts,)*))
        }
        (one, _) => one.clone(),
    }
}

/// The type that a literal's suffix names, or what it is without one.
fn of_literal(suffix: &str, open: &str) -> Type {
    let name = Ident::new(if suffix.is_empty() { open } else { suffix }, proc_macro2::Span::call_site());
    parse_quote!(#name)
}

/// Whether it is not `_`, maybe behind references.
fn is_known(ty: &Type) -> bool {
    match ty {
        Type::Infer(_) => false,
        Type::Reference(r) => is_known(&r.elem),
        _ => true,
    }
}

pub(crate) fn is_shift(op: &BinOp) -> bool {
    matches!(op, BinOp::Shl(_) | BinOp::Shr(_) | BinOp::ShlAssign(_) | BinOp::ShrAssign(_))
}

/// The first of the elements that `vec!` lists.
fn first_element(input: syn::parse::ParseStream) -> syn::Result<Expr> {
    let first = input.parse()?;
    input.parse::<proc_macro2::TokenStream>()?;
    Ok(first)
}

/// What `collect::<Vec<T>>()` says that it makes.
fn collected(call: &syn::ExprMethodCall) -> Option<Type> {
    let ty = spelled(call).filter(|_| call.method == "collect")?;
    (!crate::syntax::mentions::words(&crate::syntax::mentions::text(ty)).any(|word| word == "_"))
        .then(|| ty.clone())
}

/// The type that a call spells out behind the method's name.
pub(crate) fn spelled(call: &syn::ExprMethodCall) -> Option<&Type> {
    match call.turbofish.as_ref()?.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
