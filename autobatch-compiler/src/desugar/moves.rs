//! Which parts of a local certainly are moved out of it, as far as the code and the types in the file show. Then the local is a
//! value, no reference to one, and nothing that has a `drop` of its own.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprStruct, Ident, Member, Pat, Path, Stmt, Type};

use super::copies::Copies;
use super::split::member_name;
use crate::input::Function;
use crate::lockstep::is_primitive;
use crate::mentions::is_variable;
use crate::signatures::Methods;

/// What is known of a local.
pub(crate) struct Known<'a> {
    pub(crate) name: &'a str,
    pub(super) ty: Option<Type>,
    /// Whether it may be a value of a type that the file does not show, and hardly anything else.
    unseen: bool,
    methods: &'a Methods,
    self_type: Option<&'a Ident>,
}

impl<'a> Known<'a> {
    pub(crate) fn of(function: &'a Function, name: &'a str, self_type: Option<&'a Ident>) -> Known<'a> {
        let ty = type_of_local(function, name);
        let unseen = match &ty {
            Some(ty) => is_unseen(function, ty),
            None => is_made_of_copies(function, name),
        };
        Known { name, ty, unseen, methods: &function.methods, self_type }
    }

    fn name_of(&self, path: &Path) -> Option<String> {
        let last = &path.segments.last()?.ident;
        Some(if path.is_ident("Self") { self.self_type? } else { last }.to_string())
    }

    /// The fields of the structure that the local certainly is a value of.
    fn structure(&self) -> Option<&[(Ident, Type)]> {
        let Some(Type::Path(p)) = &self.ty else { return None };
        self.methods.structure(&self.name_of(&p.path).filter(|_| p.qself.is_none())?)
    }

    /// Whether the local certainly is a value of the structure of this name, of which the file shows the fields.
    pub(super) fn is(&self, path: &Path) -> bool {
        let Some(Type::Path(p)) = &self.ty else { return false };
        self.structure().is_some() && self.name_of(&p.path) == self.name_of(path)
    }

    /// The fields that come from the local in `P { a, ..local }`, if the file shows them.
    pub(super) fn updates(&self, e: &ExprStruct) -> Option<Vec<Member>> {
        e.rest.as_ref().filter(|rest| is_variable(rest, self.name))?;
        let all = self.methods.structure(&self.name_of(&e.path)?)?.iter();
        let spelled: Vec<String> = e.fields.iter().map(|field| member_name(&field.member)).collect();
        let others = all.filter(|(name, _)| !spelled.contains(&name.to_string()));
        Some(others.map(|(name, _)| Member::Named(name.clone())).collect())
    }

    /// Whether a pattern moves parts out of the local.
    pub(crate) fn moves(&self, pat: &Pat) -> bool {
        let p = match pat {
            Pat::Struct(p) => p,
            Pat::Guard(p) => return self.moves(&p.pat),
            _ => return false,
        };
        let mut taken = p.fields.iter().filter(|field| binds_a_value(&field.pat));
        self.is(&p.path) && taken.any(|field| self.is_moved(&field.member))
    }

    /// Whether a part of a value is certainly moved where its value is taken. What is not of a type that is known to be copied is
    /// taken for one that is moved, if the local is known to be a plain structure or a tuple: if it is not, no harm is done.
    fn is_moved(&self, member: &Member) -> bool {
        match (member, &self.ty) {
            (Member::Named(field), _) => {
                let own = self.structure().and_then(|fields| fields.iter().find(|(name, _)| name == field));
                self.methods.is_moved(field) || own.is_some_and(|(_, ty)| !is_copied(self.methods, ty))
            }
            (Member::Unnamed(index), Some(Type::Tuple(t))) => {
                t.elems.get(index.index as usize).is_some_and(|ty| !is_copied(self.methods, ty))
            }
            (Member::Unnamed(_), _) => false,
        }
    }
}

/// Types that lend what they own: nothing is moved out of them.
const WRAPPERS: [&str; 12] = [
    "Arc",
    "Cow",
    "LazyCell",
    "LazyLock",
    "ManuallyDrop",
    "MutexGuard",
    "Pin",
    "Rc",
    "Ref",
    "RefMut",
    "RwLockReadGuard",
    "RwLockWriteGuard",
];

/// Whether a type stands in another file, and is no reference or wrapper by its name.
fn is_unseen(function: &Function, ty: &Type) -> bool {
    let Type::Path(p) = ty else { return false };
    let Some(last) = p.path.segments.last() else { return false };
    let name = last.ident.to_string();
    let generic = function.sig.generics.type_params().any(|param| param.ident == last.ident);
    !generic && name != "Self" && !WRAPPERS.contains(&name.as_str()) && !function.methods.has_type(&name)
}

/// Whether a local is what a function of another file makes of numbers: there is nothing that it could borrow from.
fn is_made_of_copies(function: &Function, name: &str) -> bool {
    struct Scan<'a>(&'a Function, &'a str, Copies, bool);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
                && p.ident == self.1
                && let Expr::Call(call) = &*init.expr
                && let Expr::Path(func) = &*call.func
            {
                let known = |segment: &syn::PathSegment| {
                    let name = segment.ident.to_string();
                    WRAPPERS.contains(&name.as_str()) || self.0.methods.has_type(&name)
                };
                let number = |arg: &Expr| match arg {
                    Expr::Path(p) => p.path.get_ident().is_some_and(|i| self.2.contains(&i.to_string())),
                    Expr::Lit(_) | Expr::Binary(_) | Expr::Cast(_) | Expr::Unary(_) => true,
                    _ => false,
                };
                self.3 = !func.path.segments.iter().any(known) && call.args.iter().all(number);
            }
            visit::visit_local(self, local);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut scan = Scan(function, name, Copies::of(function), false);
    scan.visit_block(&function.body);
    scan.3
}

/// Whether a part of a local, or what is bound to it, is taken several times or calculated with: so it is copied.
fn is_used_as_number(function: &Function, name: &str, member: &Member) -> bool {
    struct Scan<'a> {
        name: &'a str,
        member: &'a Member,
        bound: Vec<String>,
        taken: usize,
        calculated: bool,
    }
    impl Scan<'_> {
        fn is_it(&self, expr: &Expr) -> bool {
            match expr {
                Expr::Field(e) => e.member == *self.member && is_variable(&e.base, self.name),
                Expr::Paren(e) => self.is_it(&e.expr),
                other => self.bound.iter().any(|name| is_variable(other, name)),
            }
        }
    }
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
                && self.is_it(&init.expr)
            {
                self.bound.push(p.ident.to_string());
            }
            visit::visit_local(self, local);
        }
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Binary(e) => self.calculated |= self.is_it(&e.left) || self.is_it(&e.right),
                Expr::Unary(e) => self.calculated |= self.is_it(&e.expr),
                Expr::Cast(e) => self.calculated |= self.is_it(&e.expr),
                Expr::Range(e) => {
                    self.calculated |= e.start.iter().chain(&e.end).any(|end| self.is_it(end));
                }
                // What is looked at is not taken.
                Expr::Reference(e) if self.is_it(&e.expr) => return,
                Expr::Index(e) if self.is_it(&e.expr) => return self.visit_expr(&e.index),
                Expr::MethodCall(e) if self.is_it(&e.receiver) => {
                    return e.args.iter().for_each(|arg| self.visit_expr(arg));
                }
                Expr::Field(_) => self.taken += usize::from(self.is_it(expr)),
                _ => {}
            }
            visit::visit_expr(self, expr);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut scan = Scan { name, member, bound: vec![], taken: 0, calculated: false };
    scan.visit_block(&function.body);
    scan.calculated || scan.taken > 1
}

/// Whether values of the type certainly are copied.
pub(crate) fn is_copied(methods: &Methods, ty: &Type) -> bool {
    match ty {
        Type::Reference(r) => r.mutability.is_none(),
        Type::Tuple(t) => t.elems.iter().all(|ty| is_copied(methods, ty)),
        Type::Array(t) => is_copied(methods, &t.elem),
        _ => is_primitive(ty) || methods.is_copied(ty),
    }
}

/// The fields of a local that certainly are copied where they are mentioned. Those of `Self` are told by their names.
pub(super) fn copied_fields(function: &Function, name: &str) -> BTreeSet<String> {
    let methods = &function.methods;
    let ty = type_of_local(function, name);
    let Some(Type::Path(p)) = &ty else { return BTreeSet::new() };
    if p.path.is_ident("Self") {
        return methods.fields_of(&|ty| is_copied(methods, ty));
    }
    let structure = p.path.segments.last().and_then(|last| methods.structure(&last.ident.to_string()));
    let copied = structure.unwrap_or_default().iter().filter(|(_, ty)| is_copied(methods, ty));
    copied.map(|(name, _)| name.to_string()).collect()
}

/// The type of a local, as it is known, or by what it is defined as.
pub(crate) fn type_of_local(function: &Function, name: &str) -> Option<Type> {
    function.type_of(name).cloned().or_else(|| type_of_value(function, name))
}

/// The type of what a local is defined as: `let p: P = …`, `let p = P { … }`, `let p = make(…)`.
pub(crate) fn type_of_value(function: &Function, name: &str) -> Option<Type> {
    struct Scan<'a>(&'a Function, &'a str, Option<Type>);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            let is_it = |pat: &Pat| matches!(pat, Pat::Ident(p) if p.ident == self.1 && p.by_ref.is_none());
            match (&local.pat, &local.init) {
                (Pat::Type(t), _) if is_it(&t.pat) => self.2 = Some((*t.ty).clone()),
                (pat, Some(init)) if is_it(pat) => self.2 = made(self.0, &init.expr),
                _ => {}
            }
            visit::visit_local(self, local);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    fn made(function: &Function, value: &Expr) -> Option<Type> {
        let methods = &function.methods;
        match value {
            Expr::Struct(e) if e.qself.is_none() => {
                methods.structure(&e.path.segments.last()?.ident.to_string())?;
                let path = &e.path;
                Some(syn::parse_quote!(#path))
            }
            Expr::Call(e) => {
                let Expr::Path(p) = &*e.func else { return None };
                let last = &p.path.segments.last()?.ident;
                if let Some(owner) = p.path.segments.iter().rev().nth(1)
                    && last == "new"
                    && methods.is_shared_to_change(&owner.ident.to_string())
                {
                    let ty = &owner.ident;
                    return Some(syn::parse_quote!(#ty));
                }
                // A variable of the name, or `Self` of whatever type.
                let hidden = function.bindings.contains_key(&last.to_string());
                let ty = methods.result(last).filter(|_| p.qself.is_none() && !hidden)?;
                let named = crate::checks::named_self(quote::ToTokens::to_token_stream(ty)).is_some();
                (!named).then(|| ty.clone())
            }
            Expr::Path(p) => function.type_of(&p.path.get_ident()?.to_string()).cloned(),
            Expr::Cast(e) => Some((*e.ty).clone()),
            Expr::Lit(e) => {
                let suffix = match &e.lit {
                    syn::Lit::Int(lit) => lit.suffix(),
                    syn::Lit::Float(lit) => lit.suffix(),
                    _ => "",
                };
                syn::parse_str(suffix).ok()
            }
            Expr::Paren(e) => made(function, &e.expr),
            _ => None,
        }
    }
    let mut scan = Scan(function, name, None);
    scan.visit_block(&function.body);
    scan.2
}

/// Whether one of the statements moves a part out of the local.
pub(super) fn are_moved(function: &Function, known: &Known<'_>, stmts: &[Stmt]) -> bool {
    let mut moves = Moves { function, known, found: false };
    stmts.iter().for_each(|stmt| moves.visit_stmt(stmt));
    moves.tail(stmts.last());
    moves.found
}

/// Finds places where a part certainly is moved.
struct Moves<'a> {
    function: &'a Function,
    known: &'a Known<'a>,
    found: bool,
}

impl Moves<'_> {
    fn taken(&mut self, expr: &Expr) {
        self.taken_as(expr, None);
    }

    /// A value that is taken where one of a type is wanted.
    fn taken_as(&mut self, expr: &Expr, ty: Option<&Type>) {
        let Expr::Field(e) = expr else { return };
        if !is_variable(&e.base, self.known.name) {
            return;
        }
        let made = match &e.member {
            Member::Unnamed(index) => makes_owned(&self.function.body, self.known.name, index.index as usize),
            Member::Named(_) => false,
        };
        self.found |= made
            || self.known.is_moved(&e.member)
            || ty.is_some_and(|ty| self.function.methods.owns(ty))
            || (self.known.unseen && !is_used_as_number(self.function, self.known.name, &e.member));
    }

    fn matched(&mut self, pat: &Pat, value: &Expr) {
        match pat {
            Pat::Type(t) => self.taken_as(value, Some(&t.ty)),
            Pat::Struct(_) if is_variable(value, self.known.name) => self.found |= self.known.moves(pat),
            _ => {}
        }
        if binds_a_value(pat) {
            self.taken(value);
        }
    }

    fn tail(&mut self, last: Option<&Stmt>) {
        if let Some(Stmt::Expr(tail, None)) = last {
            self.taken(tail);
        }
    }
}

/// Whether a local is made as a tuple whose part at the index certainly is moved.
fn makes_owned(body: &Block, name: &str, index: usize) -> bool {
    struct Scan<'a>(&'a str, usize, bool);
    impl<'ast> Visit<'ast> for Scan<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if let (Pat::Ident(p), Some(init)) = (&local.pat, &local.init)
                && let Expr::Tuple(made) = &*init.expr
                && p.ident == self.0
            {
                self.2 |= made.elems.get(self.1).is_some_and(is_owned);
            }
            visit::visit_local(self, local);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    fn is_owned(made: &Expr) -> bool {
        match made {
            Expr::Macro(e) => e.mac.path.is_ident("vec") || e.mac.path.is_ident("format"),
            Expr::Call(e) => {
                let Expr::Path(func) = &*e.func else { return false };
                let mut names =
                    func.path.segments.iter().rev().skip(1).map(|segment| segment.ident.to_string());
                names.next().is_some_and(|owner| ["Vec", "String", "Box"].contains(&owner.as_str()))
            }
            _ => false,
        }
    }
    let mut scan = Scan(name, index, false);
    scan.visit_block(body);
    scan.2
}

/// Whether a pattern is a name, or what an `Option` or a `Result` holds.
pub(super) fn binds_a_value(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(p) => p.by_ref.is_none() && !p.ident.to_string().starts_with(char::is_uppercase),
        Pat::Type(p) => binds_a_value(&p.pat),
        Pat::TupleStruct(p) => {
            let known = ["Some", "Ok", "Err"].iter().any(|name| p.path.is_ident(name));
            known && p.elems.iter().all(binds_a_value)
        }
        _ => false,
    }
}

/// Methods of `Option` and `Result` that take their receiver.
pub(super) const TAKE: [&str; 14] = [
    "and_then",
    "expect",
    "filter",
    "flatten",
    "map",
    "map_err",
    "ok_or",
    "ok_or_else",
    "or",
    "or_else",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

impl<'ast> Visit<'ast> for Moves<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            self.matched(&local.pat, &init.expr);
        }
        visit::visit_local(self, local);
    }
    fn visit_block(&mut self, block: &'ast Block) {
        self.tail(block.stmts.last());
        visit::visit_block(self, block);
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Closure(_) => return,
            Expr::ForLoop(e) => self.taken(&e.expr),
            Expr::Call(e) => {
                let own = matches!(&*e.func, Expr::Path(p) if p.path.segments.last()
                    .is_some_and(|last| last.ident == self.function.sig.ident));
                for (i, arg) in e.args.iter().enumerate() {
                    let param = self.function.params.get(i).filter(|_| own);
                    self.taken_as(arg, param.map(|param| &param.ty));
                }
            }
            Expr::MethodCall(e) => {
                let name = e.method.to_string();
                if name.starts_with("into_") || TAKE.contains(&name.as_str()) {
                    self.taken(&e.receiver);
                }
                e.args.iter().for_each(|arg| self.taken(arg));
            }
            Expr::Struct(e) => {
                e.fields.iter().for_each(|field| self.taken(&field.expr));
                let others = self.known.updates(e).unwrap_or_default();
                self.found |= others.iter().any(|member| self.known.is_moved(member));
            }
            Expr::Tuple(e) => e.elems.iter().for_each(|elem| self.taken(elem)),
            Expr::Array(e) => e.elems.iter().for_each(|elem| self.taken(elem)),
            Expr::Assign(e) => self.taken(&e.right),
            Expr::Return(e) => {
                e.expr.iter().for_each(|value| self.taken_as(value, Some(&self.function.output)));
            }
            Expr::Break(e) => e.expr.iter().for_each(|value| self.taken(value)),
            Expr::Let(e) => self.matched(&e.pat, &e.expr),
            Expr::Match(e) => e.arms.iter().for_each(|arm| {
                self.matched(&arm.pat, &e.expr);
                self.taken(&arm.body);
            }),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
