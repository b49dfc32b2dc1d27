//! Methods of the program on receivers other than `self`: `left.walk(x)` becomes `Self::walk(left, x)`.
//!
//! Which function a method call means, rustc knows and the macro doesn't. But the types of fields, variants and
//! parameters are written out, in the annotated item or in its file (`definitions`), and from them follow those of
//! receivers (`infer`). Where that says that the receiver is of a type of the program, by itself or behind `&`, `Box`, `Rc` or
//! `Arc`, the call is one of the program's; where it says that it is not, it is none; and where it says nothing, the
//! call stays as written, and leaves a note.
//!
//! rustc has the last word. The argument has the type of the parameter, so a receiver of another type is an error.
//! And if method calls find something else on the way to the program's method (a trait's method of the same name, for
//! `Box<Self>`, say), the call would be ambiguous in a function that is generated for that, and never called (`checks`).

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use quote::format_ident;
use syn::spanned::Spanned;
use syn::{
    Attribute, Block, Expr, ExprMethodCall, Ident, Local, Pat, Stmt, Type, parse_quote, parse_quote_spanned,
};

use crate::diagnostics::reasons::{self, Reason};
use crate::item::methods;
use crate::item::model::{Excluded, Function, Item, rebind};
use crate::resolve::candidates::{Candidate, Takes};
use crate::resolve::resolution::{Answer, Resolution};
use crate::resolve::types::{self, FunctionType, Scopes, Types};
use crate::std_models::facts::{Does, does};
use crate::syntax::call_sites::{self, CallSite};
use crate::syntax::mentions::{self, root, text};
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At};

/// Finds the calls of the program's methods in the functions of an item. `batched` are the positions of those worth it.
pub(crate) fn resolve(item: &mut Item, batched: impl Fn(usize) -> bool) -> Resolution {
    let Item { functions, own, excluded, declared, .. } = item;
    let (own, definitions) = (own.as_ref(), &declared.definitions);
    let methods: Vec<Candidate> = functions
        .iter()
        .enumerate()
        .filter(|(function, _)| batched(*function))
        .filter_map(|(function, f)| {
            let (owner, shown, free, of_trait) = match &f.method {
                Some(m) => (m.owner.clone(), &*m.shown, Some(f.sig.ident.clone()), &m.trait_),
                None => (own.filter(|_| f.associated)?.clone(), f, None, &f.implements),
            };
            let of_trait = of_trait.as_ref().and_then(|path| Some(path.segments.last()?.ident.clone()));
            let takes = shown.sig.receiver().and_then(|_| match &shown.params[0].ty {
                Type::Reference(r) if text(&r.elem) == "Self" => {
                    Some(if r.mutability.is_some() { Takes::Mut } else { Takes::Ref })
                }
                ty => (text(ty) == "Self").then_some(Takes::Value),
            });
            let (name, params) = (shown.sig.ident.to_string(), f.params.len());
            let outer = methods::named_params(&shown.outer).count();
            Some(Candidate { function, owner, name, params, takes, free, of_trait, outer })
        })
        .collect();
    let mut resolution = Resolution::default();
    let known = FunctionType::all(functions, own, definitions);
    for (position, function) in functions.iter_mut().enumerate() {
        let types = Types { definitions, functions: &known, own: own.cloned() };
        // The body as written first: clones are made of it.
        // Those of a module call by name, clones too.
        let sites = function.tail_calls;
        let mut walk = Walk::new(&types, &methods, excluded, own.is_none(), sites);
        walk.inputs_of(function);
        walk.visit_block_mut(&mut function.written);
        let of_function = |(site, answer)| ((position, site), answer);
        resolution.written.extend(walk.answers.into_iter().map(of_function));
        let mut walk = Walk::new(&types, &methods, excluded, true, sites);
        walk.params_of(function);
        let mut body = function.body.clone();
        walk.visit_block_mut(&mut body);
        let Walk { found, answers, seen, changed, .. } = walk;
        resolution.calls.extend(answers.into_iter().map(of_function));
        resolution.types.push(seen);
        resolution.checks.extend(found, &methods);
        if changed {
            rebind(function, body);
        } else {
            function.body = body;
        }
    }
    resolution
}

/// A call of a method: of which candidate's function, by what name, and the types that a call by that name looks at before.
type Found = (usize, Ident, Vec<Type>);

/// A function in which calls of methods are calls of the functions that they are, and these calls, by its body; if the body as written has the
/// same ones, and any.
pub(crate) fn with_calls_by_path(
    function: &Function,
    types: &Types<'_>,
    methods: &[Candidate],
) -> Option<(Function, Vec<Found>)> {
    let walk = || Walk { notes: false, ..Walk::new(types, methods, &[], true, 0) };
    let mut function = function.clone();
    let mut written = walk();
    written.inputs_of(&function);
    written.visit_block_mut(&mut function.written);
    let mut made = walk();
    made.params_of(&function);
    let mut body = function.body.clone();
    made.visit_block_mut(&mut body);
    let found = made.found;
    let same = called(&function.written, methods) == called(&body, methods);
    if !(same && made.changed) {
        return None;
    }
    rebind(&mut function, body);
    Some((function, found))
}

/// The functions of candidates that code calls, in its order.
fn called(code: &Block, methods: &[Candidate]) -> Vec<Ident> {
    let mut names = Vec::new();
    walk::each(code, |at| {
        if let At::PathSegment(segment) = at
            && methods.iter().any(|m| m.free.as_ref() == Some(&segment.ident))
        {
            names.push(segment.ident.clone());
        }
    });
    names
}

/// The walk through one body.
pub(crate) struct Walk<'a> {
    pub(super) types: &'a Types<'a>,
    pub(super) methods: &'a [Candidate],
    /// Whether calls are rewritten; else there is an answer about them.
    rewrites: bool,
    scopes: Scopes,
    /// The types of the variables, whose names are unique where calls are rewritten.
    seen: BTreeMap<String, Type>,
    /// What is known of calls, and the number that the next one gets.
    answers: BTreeMap<CallSite, Answer>,
    next: usize,
    /// Functions that are no part of the program.
    excluded: &'a [Excluded],
    /// Calls: of which function, and the types before it.
    found: Vec<Found>,
    /// Whether what is known of calls is noted.
    notes: bool,
    names: usize,
    pub(super) changed: bool,
}

impl<'a> Walk<'a> {
    fn new(
        types: &'a Types<'a>,
        methods: &'a [Candidate],
        excluded: &'a [Excluded],
        rewrites: bool,
        next: usize,
    ) -> Self {
        Walk {
            types,
            methods,
            rewrites,
            scopes: vec![BTreeMap::new()],
            seen: BTreeMap::new(),
            answers: BTreeMap::new(),
            next,
            excluded,
            found: Vec::new(),
            notes: true,
            names: 0,
            changed: false,
        }
    }

    /// Binds the parameters of a function as they are written.
    fn inputs_of(&mut self, function: &Function) {
        if function.sig.receiver().is_some() {
            self.known("self", &function.params[0].ty);
        }
        for arg in &function.sig.inputs {
            if let syn::FnArg::Typed(t) = arg {
                self.bind(&t.pat, Some(self.types.plain(&t.ty)));
            }
        }
    }

    /// The same, by their unique names.
    fn params_of(&mut self, function: &Function) {
        for param in &function.params {
            self.known(&param.ident.to_string(), &param.ty);
            if let Some(pattern) = &param.pattern {
                self.bind(pattern, Some(self.types.plain(&param.ty)));
            }
        }
    }

    /// Remembers what is known of a call, which gets a number if it has none. Its function stands at `span`.
    pub(super) fn answer(&mut self, attrs: &mut Vec<Attribute>, span: Span, answer: Answer) {
        if !self.notes {
            return;
        }
        let site = call_sites::marked(attrs).unwrap_or_else(|| {
            let site = CallSite(self.next);
            self.next += 1;
            call_sites::mark(attrs, site, span);
            site
        });
        self.answers.insert(site, answer);
    }

    fn known(&mut self, name: &str, ty: &Type) {
        self.scopes[0].insert(name.to_string(), Some(self.types.plain(ty)));
        self.note();
    }

    fn bind(&mut self, pat: &Pat, ty: Option<Type>) {
        self.types.bind(&mut self.scopes, pat, ty);
        self.note();
    }

    fn note(&mut self) {
        let innermost = self.scopes.last().into_iter().flatten();
        let new = innermost.filter_map(|(name, ty)| Some((name.clone(), ty.clone()?)));
        self.seen.extend(new);
    }

    fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeMap::new());
        inside(self);
        self.scopes.pop();
    }

    pub(super) fn of(&self, expr: &Expr) -> Option<Type> {
        self.types.of(&self.scopes, expr)
    }

    fn closure(&mut self, closure: &mut syn::ExprClosure, inputs: &[Option<Type>]) {
        self.scoped(|walk| {
            for (i, pat) in closure.inputs.iter().enumerate() {
                walk.bind(pat, inputs.get(i).cloned().flatten());
            }
            walk.visit_expr_mut(&mut closure.body);
        });
    }

    /// The types that a call of `method` on a receiver of type `ty` looks at, from the receiver's on; `None` if it
    /// does not come to the program's.
    fn way(&self, ty: &Type, method: &Candidate) -> Option<Vec<Type>> {
        let mut way: Vec<Type> = self.types.way(ty).collect();
        let own = way.iter().position(|ty| self.types.definitions.same(ty, &method.owner))?;
        way.truncate(own + 1);
        Some(way)
    }

    /// Whether a call comes to a type of that name, whatever its arguments.
    pub(super) fn comes_to(&self, ty: &Type, wanted: Option<String>) -> bool {
        wanted.is_some() && self.types.way(ty).any(|ty| mentions::type_name(&ty) == wanted)
    }

    /// Why a call is one of a function that is no part of the program.
    fn excluded(&self, call: &ExprMethodCall) -> Option<Reason> {
        let fits =
            |a: &&Excluded| call.method == a.name && call.args.len() + 1 == a.params && a.owner.is_some();
        let excluded = self.excluded.iter().find(fits)?;
        let number = |ty: &Type| {
            let owner = excluded.owner.as_deref().and_then(|owner| syn::parse_str(owner).ok());
            types::is_number(ty) && owner.is_some_and(|ty| types::is_number(&ty))
        };
        let ty = self.of(&call.receiver)?;
        (number(&ty) || self.comes_to(&ty, excluded.owner.clone())).then_some(excluded.reason)
    }

    fn method_call(&mut self, expr: &mut Expr) {
        let Expr::MethodCall(call) = expr else { return };
        let excluded = self.excluded(call);
        if let Some(reason) = excluded {
            self.answer(&mut call.attrs, call.method.span(), Answer::Excluded(reason));
        }
        let fits =
            |m: &&Candidate| call.method == m.name && call.args.len() + 1 == m.params && m.takes.is_some();
        let own =
            matches!(&*call.receiver, Expr::Path(p) if p.path.is_ident("self") || p.path.is_ident("__self"));
        // `self` is handed on as it is, unless the method takes it in another way: by reference, or out of its box.
        let own_type = own.then(|| self.of(&call.receiver)).flatten();
        let otherwise = |m: &&Candidate| {
            let (by_value, definitions) = (m.takes == Some(Takes::Value), self.types.definitions);
            self.rewrites
                && own_type.as_ref().is_some_and(|ty| match ty {
                    Type::Reference(_) => by_value,
                    ty => !by_value || !definitions.same(&self.types.plain(ty), &m.owner),
                })
        };
        let meant = |m: &&Candidate| !own || m.free.is_some() || otherwise(m);
        let mut named = self.methods.iter().filter(fits).filter(meant).peekable();
        if named.peek().is_none() {
            return;
        }
        let Some(ty) = self.of(&call.receiver) else {
            self.answer(&mut call.attrs, call.method.span(), Answer::Unknown);
            return;
        };
        let reaches = |method: &Candidate| self.comes_to(&ty, mentions::type_name(&method.owner));
        let generic = self.methods.iter().filter(fits).any(|method| method.outer > 0 && reaches(method));
        let Some((method, way)) = named.find_map(|method| Some((method, self.way(&ty, method)?))) else {
            let reason = excluded.or(generic.then_some(reasons::OF_OTHER_TYPES));
            self.answer(&mut call.attrs, call.method.span(), reason.map_or(Answer::Other, Answer::Excluded));
            return;
        };
        let Some(takes) = method.takes else { return };
        // Spelled by `Self` and the library's paths, which mean the same everywhere.
        let before = before(&way, takes, &parse_quote!(Self));
        // Of a trait that many types have a call reaches the program's only where the receiver is of its very type.
        let common = !before.is_empty() && does(&call.method.to_string()) == Does::Common;
        if !self.rewrites && !common {
            self.answer(&mut call.attrs, call.method.span(), Answer::Own(method.function));
            return;
        }
        let Some(new) = (!common).then(|| self.by_path(call, &way, takes, method)).flatten() else {
            self.answer(&mut call.attrs, call.method.span(), Answer::Unknown);
            return;
        };
        self.found.push((method.function, call.method.clone(), before));
        self.changed = true;
        *expr = new;
    }

    /// The call by the method's path.
    fn by_path(
        &mut self,
        call: &ExprMethodCall,
        way: &[Type],
        takes: Takes,
        method: &Candidate,
    ) -> Option<Expr> {
        let (name, receiver) = (&call.method, &call.receiver);
        let is_variable = matches!(**receiver, Expr::Path(_));
        // Errors about what is borrowed stand at the receiver.
        let at = receiver.span();
        let argument: Expr = match (takes, &way[0]) {
            (Takes::Value, _) => (1..way.len()).fold((**receiver).clone(), |inner, _| parse_quote!(*#inner)),
            (Takes::Ref, Type::Reference(r)) if r.mutability.is_some() => {
                parse_quote_spanned!(at=> &*#receiver)
            }
            (Takes::Ref, Type::Reference(_)) => (**receiver).clone(),
            (Takes::Ref, _) => parse_quote_spanned!(at=> &#receiver),
            (Takes::Mut, Type::Reference(_)) if is_variable => (**receiver).clone(),
            (Takes::Mut, Type::Reference(_)) => parse_quote_spanned!(at=> &mut *#receiver),
            (Takes::Mut, _) => parse_quote_spanned!(at=> &mut #receiver),
        };
        let mut args: Vec<Expr> = call.args.iter().cloned().collect();
        let mut lets: Vec<Stmt> = Vec::new();
        let shared = |arg: &Expr| words(arg).intersection(&words(receiver)).next().is_some();
        if takes == Takes::Mut && !is_new(receiver) && args.iter().any(shared) {
            // What a method call borrows is borrowed when the arguments are there.
            root(receiver)?;
            for i in 0..args.len() {
                // A variable that is handed on and not mentioned again stays: a reference is lent, as in the call.
                let again = |name: &String| {
                    args[i + 1..].iter().chain([&**receiver]).any(|e| words(e).contains(name))
                };
                if mentions::name(&args[i]).is_some_and(|name| !again(&name)) {
                    continue;
                }
                let arg = &mut args[i];
                self.names += 1;
                let ident = format_ident!("__argument_{}", self.names, span = Span::mixed_site());
                lets.push(parse_quote!(let #ident = #arg;));
                *arg = parse_quote!(#ident);
            }
        }
        let fish = &call.turbofish;
        let arguments = fish.clone().map_or(syn::PathArguments::None, syn::PathArguments::AngleBracketed);
        let path = method.path(name, arguments).unwrap_or_else(|| {
            let own = Ident::new("Self", name.span());
            parse_quote!(#own::#name #fish)
        });
        let mut new: syn::ExprCall = parse_quote!(#path(#argument #(, #args)*));
        new.attrs.clone_from(&call.attrs);
        let new = Expr::Call(new);
        Some(if lets.is_empty() { new } else { parse_quote!({ #(#lets)* #new }) })
    }
}

/// Whether a receiver is a value that is made for the call: there is nothing else by which arguments could reach it.
fn is_new(receiver: &Expr) -> bool {
    matches!(mentions::bare(receiver), Expr::Struct(_) | Expr::Call(_))
}

/// The types that a method call looks at before it comes to the one that `takes` says, the program's own being the
/// last of `way`, here spelled as `own`.
pub(crate) fn before(way: &[Type], takes: Takes, own: &Type) -> Vec<Type> {
    let mut spelled: Vec<Type> = vec![own.clone()];
    for ty in way.iter().rev().skip(1) {
        let inner = &spelled[spelled.len() - 1];
        spelled.push(match ty {
            Type::Reference(r) => {
                let mutability = &r.mutability;
                parse_quote!(&#mutability #inner)
            }
            Type::Path(p) => match p.path.segments.last().map(|s| s.ident.to_string()).as_deref() {
                Some("Rc") => parse_quote!(::std::rc::Rc<#inner>),
                Some("Arc") => parse_quote!(::std::sync::Arc<#inner>),
                _ => parse_quote!(::std::boxed::Box<#inner>),
            },
            other => other.clone(),
        });
    }
    let wanted = text(&takes.of(&spelled[0]));
    let ways = [Takes::Value, Takes::Ref, Takes::Mut];
    let all = spelled.iter().rev().flat_map(|ty| ways.map(|takes| takes.of(ty)));
    all.take_while(|ty| text(ty) != wanted).collect()
}

/// The names that an expression mentions, macros included and fields not.
fn words(expr: &Expr) -> BTreeSet<String> {
    struct WithoutFields;
    impl VisitMut for WithoutFields {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            visit_mut::visit_expr_mut(self, expr);
            if let Expr::Field(e) = expr {
                e.member = syn::Member::from(0);
            }
        }
    }
    let mut expr = expr.clone();
    call_sites::unmark(&mut expr);
    WithoutFields.visit_expr_mut(&mut expr);
    let text = text(&expr);
    mentions::words(&text)
        .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_numeric()))
        .map(String::from)
        .collect()
}

impl VisitMut for Walk<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scoped(|walk| visit_mut::visit_block_mut(walk, block));
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let ty = self.types.of_local(&self.scopes, local);
        local.init.iter_mut().for_each(|init| self.visit_local_init_mut(init));
        self.bind(&local.pat, ty);
    }

    fn visit_arm_mut(&mut self, _: &mut syn::Arm) {
        unreachable!("arms are visited with their `match`");
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(e) => {
                self.scoped(|walk| {
                    walk.visit_expr_mut(&mut e.cond);
                    walk.visit_block_mut(&mut e.then_branch);
                });
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.visit_expr_mut(otherwise);
                }
            }
            Expr::While(e) => self.scoped(|walk| {
                walk.visit_expr_mut(&mut e.cond);
                walk.visit_block_mut(&mut e.body);
            }),
            Expr::Let(e) => {
                let ty = self.of(&e.expr);
                self.visit_expr_mut(&mut e.expr);
                self.bind(&e.pat, ty);
            }
            Expr::Match(e) => {
                let ty = self.of(&e.expr);
                self.visit_expr_mut(&mut e.expr);
                for arm in &mut e.arms {
                    self.scoped(|walk| {
                        walk.bind(&arm.pat, ty.clone());
                        if let Pat::Guard(p) = &mut arm.pat {
                            walk.visit_expr_mut(&mut p.guard);
                        }
                        walk.visit_expr_mut(&mut arm.body);
                    });
                }
            }
            Expr::ForLoop(e) => {
                let item = self.of(&e.expr).and_then(|ty| self.types.item(ty));
                self.visit_expr_mut(&mut e.expr);
                self.scoped(|walk| {
                    walk.bind(&e.pat, item);
                    walk.visit_block_mut(&mut e.body);
                });
            }
            Expr::Closure(e) => self.closure(e, &[]),
            Expr::Call(e) => {
                visit_mut::visit_expr_call_mut(self, e);
                self.path_call(e);
            }
            Expr::MethodCall(e) => {
                let inputs = self.types.closure_inputs(&self.scopes, e);
                self.visit_expr_mut(&mut e.receiver);
                for arg in &mut e.args {
                    match arg {
                        Expr::Closure(closure) => self.closure(closure, &inputs),
                        other => self.visit_expr_mut(other),
                    }
                }
                self.method_call(expr);
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_attribute_mut(&mut self, _: &mut Attribute) {}
}
