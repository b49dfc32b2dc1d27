//! Depth-counting clones: the user's scalar functions, with calls of each other that count depth and
//! never run out of native stack.
//!
//! A clone is the function as written but for one more parameter, the runtime's `Depth`, a check of it
//! on entry, and the calls of functions that have a clone. It serves where scalar code runs members: the
//! scalar executor, functions that fall back as a whole, single calls of a lane.
//!
//! What keeps calling the function itself: macro tokens, functions used as values, methods of receivers
//! other than `self`, constant expressions, `async` blocks, items.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, FnArg, Item, Meta, Pat, Path, Stmt, Token, Type, parse_quote};

use super::api::turbofish;
use crate::input::Function;
use crate::ir::text;
use crate::lower;

/// Which functions of an annotated item have a clone.
pub struct Clones<'a> {
    functions: &'a [Function],
    has: Vec<bool>,
    krate: &'a Path,
    /// The name by which the type of an `impl` block can be called, if it has no arguments to differ in.
    self_name: Option<&'a Ident>,
}

impl<'a> Clones<'a> {
    /// Decides for all functions of the item. Only calls between functions of the program count depth,
    /// so a function without such calls, in or out, needs no clone.
    pub fn new(functions: &'a [Function], self_type: Option<&'a Type>, krate: &'a Path) -> Self {
        let (worth, calls) = lower::call_graph(functions);
        let has = (0..functions.len())
            .map(|f| {
                let linked = calls.iter().any(|(from, to)| *from == f || *to == f);
                worth.contains(&f) && linked && can_be_repeated(&functions[f])
            })
            .collect();
        let self_name = match self_type {
            Some(Type::Path(p)) if p.qself.is_none() => {
                p.path.segments.last().filter(|s| s.arguments.is_none()).map(|s| &s.ident)
            }
            _ => None,
        };
        Clones { functions, has, krate, self_name }
    }

    /// The path that calls the clone of a function of the item, given its position in the source:
    /// arguments as for the function itself, then a `Depth`.
    pub fn path(&self, function: usize) -> Option<TokenStream> {
        let f = &self.functions[function];
        let name = clone_name(&f.sig.ident);
        let path = if f.associated { quote!(Self::#name) } else { quote!(#name) };
        self.has[function].then_some(path)
    }

    /// All clones, to stand beside the functions.
    pub fn items(&self) -> Vec<TokenStream> {
        (0..self.functions.len()).filter(|f| self.has[*f]).map(|f| self.item(f)).collect()
    }

    fn item(&self, index: usize) -> TokenStream {
        let function = &self.functions[index];
        let krate = self.krate;
        let depth = depth_ident();
        let mut body = function.written.clone();
        let mut redirect = Redirect { clones: self, caller: function, closure: false, publishes: false };
        Tails { redirect: &mut redirect }.function(&mut body);
        redirect.visit_block_mut(&mut body);

        let mut sig = function.sig.clone();
        sig.ident = clone_name(&sig.ident);
        sig.constness = None;
        let mut args: Vec<TokenStream> = Vec::new();
        let mut patterns = Vec::new();
        for (i, arg) in sig.inputs.iter_mut().enumerate() {
            match arg {
                FnArg::Receiver(_) => args.push(quote!(self)),
                FnArg::Typed(t) => match &mut *t.pat {
                    Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => {
                        let ident = &p.ident;
                        args.push(quote!(#ident));
                        let mutability = &p.mutability;
                        patterns.push(quote!(let #mutability #ident = #ident;));
                    }
                    pattern => {
                        let ident = format_ident!("__p{}", i, span = Span::mixed_site());
                        patterns.push(quote!(let #ident = #ident; let #pattern = #ident;));
                        *t.pat = parse_quote!(#ident);
                        args.push(quote!(#ident));
                    }
                },
            }
        }
        // As rustc does it itself, so that what patterns leave unbound is dropped in its turn.
        let plain = function.params.iter().all(|p| p.pattern.is_none());
        let patterns = (!plain).then_some(patterns).into_iter().flatten();
        sig.inputs.push(parse_quote!(#depth: #krate::__rt::Depth));
        let path = self.path(index);
        let fish = turbofish(&sig.generics);
        let publish = redirect.publishes.then(|| {
            let guard = Ident::new("__published", Span::mixed_site());
            quote!(let #guard = #depth.publish();)
        });
        let attrs = function.attrs.iter().filter(|a| carries_over(a));
        let mut attrs: Vec<Attribute> = attrs.cloned().collect();
        attrs.iter_mut().for_each(|attr| redirect.visit_attribute_mut(attr));
        let stmts = &body.stmts;
        // Whoever calls the clone uses the function, as far as lints are concerned.
        let this = function.associated.then(|| quote!(Self::));
        let scalar = &function.sig.ident;
        quote! {
            #(#attrs)*
            #[doc(hidden)]
            #[allow(warnings, dead_code, unused_mut, clippy::all, clippy::pedantic)]
            #sig {
                if #depth.stops() {
                    return #depth.elsewhere(move |#depth| #path #fish(#(#args,)* #depth));
                }
                let _ = #this #scalar #fish;
                #publish
                #(#patterns)*
                #(#stmts)*
            }
        }
    }

    /// The function that a call names if it has a clone.
    fn called(&self, call: &syn::ExprCall, caller: &Function) -> Option<usize> {
        let Expr::Path(path) = &*call.func else { return None };
        let segments = &path.path.segments;
        let name = &segments.last()?.ident;
        let index = self.named(name, call.args.len())?;
        let plain = path.qself.is_none() && path.path.leading_colon.is_none();
        let fits = match (segments.len(), self.functions[index].associated) {
            (1, false) => !caller.bindings.contains_key(&name.to_string()),
            (2, true) => {
                let ty = &segments[0];
                ty.ident == "Self" || (Some(&ty.ident) == self.self_name && ty.arguments.is_none())
            }
            _ => false,
        };
        (plain && fits).then_some(index)
    }

    fn called_method(&self, call: &syn::ExprMethodCall) -> Option<usize> {
        let on_self = matches!(&*call.receiver, Expr::Path(p) if p.path.is_ident("self"));
        let index = self.named(&call.method, call.args.len() + 1)?;
        (on_self && self.functions[index].sig.receiver().is_some()).then_some(index)
    }

    /// A wrong number of arguments is the user's mistake, to be reported of the function itself.
    fn named(&self, name: &Ident, args: usize) -> Option<usize> {
        let index = self.functions.iter().position(|f| f.sig.ident == *name)?;
        (self.has[index] && self.functions[index].params.len() == args).then_some(index)
    }
}

/// `__autobatch_clone_f`, spelled with the span of `f`, so that rustc's messages about a call are those
/// about the call of `f`, and are shown once.
fn clone_name(name: &Ident) -> Ident {
    format_ident!("__autobatch_clone_{}", name, span = name.span())
}

fn depth_ident() -> Ident {
    Ident::new("__depth", Span::mixed_site())
}

/// Attributes that a second function may have and that make a difference to it. Lints that the user has
/// been told of are for the function itself.
fn carries_over(attr: &Attribute) -> bool {
    const KEPT: [&str; 6] = ["cfg", "inline", "cold", "track_caller", "allow", "expect"];
    let kept = |path: &Path| KEPT.iter().any(|name| path.is_ident(name));
    if !attr.path().is_ident("cfg_attr") {
        return kept(attr.path());
    }
    let Meta::List(list) = &attr.meta else { return false };
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    list.parse_args_with(parser).is_ok_and(|args| args.iter().skip(1).all(|meta| kept(meta.path())))
}

/// Whether a second copy of the body means the same: a `static` in it would exist twice, as would an
/// implementation; a parameter under `cfg` can't be passed on.
fn can_be_repeated(function: &Function) -> bool {
    struct Scan(bool);
    impl<'ast> Visit<'ast> for Scan {
        fn visit_item(&mut self, item: &'ast Item) {
            self.0 &= !matches!(
                item,
                Item::Static(_) | Item::Impl(_) | Item::ForeignMod(_) | Item::Mod(_) | Item::Verbatim(_)
            );
            // Macros define what they like.
            self.0 &= !matches!(item, Item::Macro(m) if m.ident.is_none());
            visit::visit_item(self, item);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let name = mac.path.segments.last().map(|s| s.ident.to_string());
            self.0 &= !matches!(name.as_deref(), Some("thread_local" | "lazy_static"));
        }
    }
    let cfg = function.sig.inputs.iter().any(|arg| {
        let (FnArg::Receiver(syn::Receiver { attrs, .. }) | FnArg::Typed(syn::PatType { attrs, .. })) = arg;
        attrs.iter().any(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr"))
    });
    let mut scan = Scan(!cfg);
    scan.visit_block(&function.written);
    scan.0
}

/// Calls clones instead of functions.
struct Redirect<'a> {
    clones: &'a Clones<'a>,
    caller: &'a Function,
    /// Inside a closure, which asks for the depth that the activation has published.
    closure: bool,
    publishes: bool,
}

impl Redirect<'_> {
    /// Makes a call, not what it holds, one of a clone that gets `depth`; the function it calls.
    fn call(&self, expr: &mut Expr, depth: &TokenStream) -> bool {
        match expr {
            Expr::Call(call) => {
                let Some(_) = self.clones.called(call, self.caller) else { return false };
                if let Expr::Path(path) = &mut *call.func
                    && let Some(last) = path.path.segments.last_mut()
                {
                    last.ident = clone_name(&last.ident);
                }
                call.args.push(parse_quote!(#depth));
            }
            Expr::MethodCall(call) => {
                let Some(_) = self.clones.called_method(call) else { return false };
                call.method = clone_name(&call.method);
                call.args.push(parse_quote!(#depth));
            }
            _ => return false,
        }
        true
    }
}

impl VisitMut for Redirect<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Async(_) | Expr::Const(_) => return,
            Expr::Repeat(e) => return self.visit_expr_mut(&mut e.expr),
            Expr::Closure(e) => {
                let outer = std::mem::replace(&mut self.closure, true);
                visit_mut::visit_expr_closure_mut(self, e);
                self.closure = outer;
                return;
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        let (krate, depth) = (self.clones.krate, depth_ident());
        let depth = match self.closure {
            true => quote!(#krate::__rt::Depth::published().next()),
            false => quote!(#depth.next()),
        };
        self.publishes |= self.call(expr, &depth) && self.closure;
    }

    // A lint expected once need not come again.
    fn visit_attribute_mut(&mut self, attr: &mut Attribute) {
        if let Meta::List(list) = &mut attr.meta
            && list.path.is_ident("expect")
        {
            list.path = parse_quote!(allow);
        }
    }

    fn visit_macro_mut(&mut self, _: &mut syn::Macro) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
}

/// Redirects tail calls, which pass the depth on as it is. What a tail call is says the pass of that
/// name: the result is the caller's result, of the same type by name.
struct Tails<'a, 'b> {
    redirect: &'a mut Redirect<'b>,
}

impl Tails<'_, '_> {
    fn function(&mut self, body: &mut Block) {
        self.visit_block_mut(body);
        self.block(body);
    }

    fn block(&mut self, block: &mut Block) {
        if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            self.tail(tail);
        }
    }

    /// `expr` stands where its value is the function's result.
    fn tail(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Paren(e) => self.tail(&mut e.expr),
            Expr::Group(e) => self.tail(&mut e.expr),
            Expr::If(e) => {
                self.block(&mut e.then_branch);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.tail(otherwise);
                }
            }
            Expr::Match(e) => e.arms.iter_mut().for_each(|arm| self.tail(&mut arm.body)),
            Expr::Block(e) => {
                self.block(&mut e.block);
                let label = e.label.as_ref().map(|l| l.name.ident.clone());
                Breaks { tails: self, label, nested: 1 }.visit_block_mut(&mut e.block);
            }
            Expr::Loop(e) => {
                let label = e.label.as_ref().map(|l| l.name.ident.clone());
                Breaks { tails: self, label, nested: 0 }.visit_block_mut(&mut e.body);
            }
            Expr::Call(call) => {
                let callee = self.redirect.clones.called(call, self.redirect.caller);
                self.pass_on(expr, callee);
            }
            Expr::MethodCall(call) => {
                let callee = self.redirect.clones.called_method(call);
                self.pass_on(expr, callee);
            }
            _ => {}
        }
    }

    fn pass_on(&mut self, expr: &mut Expr, callee: Option<usize>) {
        let (clones, caller) = (self.redirect.clones, self.redirect.caller);
        if callee.is_some_and(|f| text(&clones.functions[f].output) == text(&caller.output)) {
            self.redirect.call(expr, &depth_ident().into_token_stream());
        }
    }
}

/// `return`s outside of closures.
impl VisitMut for Tails<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
            Expr::Return(e) => {
                if let Some(value) = &mut e.expr {
                    self.visit_expr_mut(value);
                    self.tail(value);
                }
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
}

/// `break`s with a value out of a loop or block that is a tail.
struct Breaks<'a, 'b, 'c> {
    tails: &'a mut Tails<'b, 'c>,
    label: Option<Ident>,
    /// Loops in between.
    nested: usize,
}

impl VisitMut for Breaks<'_, '_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => {}
            Expr::Break(e) => {
                let ours = match &e.label {
                    Some(label) => self.label.as_ref() == Some(&label.ident),
                    None => self.nested == 0,
                };
                if let Some(value) = &mut e.expr {
                    self.visit_expr_mut(value);
                    if ours {
                        self.tails.tail(value);
                    }
                }
            }
            Expr::While(_) | Expr::Loop(_) | Expr::ForLoop(_) => {
                self.nested += 1;
                visit_mut::visit_expr_mut(self, expr);
                self.nested -= 1;
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut Item) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
}
