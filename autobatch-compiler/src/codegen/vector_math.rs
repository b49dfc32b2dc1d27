//! `vector_math`: elementary functions that vectorise, in place of std's.
//!
//! Rewrites code that runs in lanes after it has been analysed: `x.exp()` becomes a choice by the type of `x`,
//! made by rustc: the function of `autobatch::math` for `f32` and `f64`, the method that the user wrote for
//! every other type. `f64::exp(x)` becomes the function of `autobatch::math`.
//!
//! Imprecision: a macro's tokens are opaque, so methods in them stay std's; so do those of a generic `T`.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, Lit, Stmt};

use crate::codegen::definition_check;
use crate::codegen::repeatable::{can_be_repeated, carries_over};
use crate::item::model::{Function, Item};
use crate::std_models::elementary::{BINARY, UNARY};
use crate::syntax::attributes::GENERATED;
use crate::syntax::mentions::{self, bare};
use crate::syntax::reachability::reached;
use crate::syntax::visit_mut::{self, VisitMut};
use crate::syntax::walk::{self, At, Code, Next};

/// What to rewrite, and with what.
pub struct VectorMath<'a> {
    functions: &'a [Function],
    /// Functions beside the item.
    helpers: &'a [Function],
    rt: &'a TokenStream,
}

impl<'a> VectorMath<'a> {
    /// For the functions of one item. `rt` is the path of the runtime's hidden door.
    pub fn new(item: &'a Item, rt: &'a TokenStream) -> Self {
        VectorMath { functions: &item.functions, helpers: &item.helpers, rt }
    }

    /// Rewrites code of `caller`.
    pub(crate) fn of<'c>(&'c self, caller: &'c Function) -> Rewrite<'c, 'a> {
        Rewrite { math: self, caller }
    }

    /// A copy of each function that batched code may call without batching it.
    pub fn items(&self) -> Vec<TokenStream> {
        let functions = self.functions.iter().filter(|f| can_be_repeated(f));
        functions.map(|f| self.copy(f, copy_name(&f.sig.ident))).collect()
    }

    /// Copies of the functions beside the item that its functions lead to, to stand beside it.
    pub fn helpers(&self) -> Vec<TokenStream> {
        let mentioned = |f: &Function| mentions::idents(f.written.to_token_stream());
        let named = |names: &[Ident]| -> BTreeSet<usize> {
            let is_named = |f: &Function| names.contains(&f.sig.ident);
            (0..self.helpers.len()).filter(|f| is_named(&self.helpers[*f])).collect()
        };
        let called: Vec<BTreeSet<usize>> = self.helpers.iter().map(|f| named(&mentioned(f))).collect();
        let mut wanted = BTreeSet::new();
        for f in self.functions.iter().flat_map(|f| named(&mentioned(f))) {
            wanted.insert(f);
            wanted.extend(reached(f, |f| called[f].iter().copied()));
        }
        let copied = wanted.into_iter().map(|f| &self.helpers[f]).filter(|f| can_be_repeated(f));
        copied.filter_map(|f| Some(self.copy(f, self.helper_name(&f.sig.ident)?))).collect()
    }

    /// The name of a helper's copy: other items beside it have their own.
    fn helper_name(&self, name: &Ident) -> Option<Ident> {
        let of = definition_check::named(self.functions.first()?, "").to_string();
        let (size, of) = (of.len(), of.trim_start_matches('_'));
        Some(format_ident!("__autobatch_math{}_{}_{}", size, of, name, span = name.span()))
    }

    fn copy(&self, function: &Function, name: Ident) -> TokenStream {
        let mut body = function.written.clone();
        crate::syntax::call_sites::unmark(&mut body);
        self.of(function).visit_block_mut(&mut body);
        let mut sig = function.sig.clone();
        sig.ident = name;
        sig.constness = None;
        let attrs = function.attrs.iter().filter(|attr| carries_over(attr));
        quote! {
            #(#attrs)*
            #[doc(hidden)]
            #[allow(warnings)]
            #GENERATED
            #sig #body
        }
    }

    /// The function of the item, or beside it, that a call by this name and number of arguments means to `caller`.
    fn called(&self, caller: &Function, name: &Ident, args: usize, associated: bool) -> Option<Callee<'a>> {
        let named = |f: &&Function| f.sig.ident == *name && f.associated == associated;
        let fits = |f: &&Function| f.params.len() == args && can_be_repeated(f);
        let beside = self.helpers.iter().any(|f| std::ptr::eq(f, caller));
        let own = self.functions.iter().find(named).filter(|_| !beside);
        match own {
            Some(function) => {
                Some(function).filter(fits).map(|f| Callee { function: f, copy: copy_name(name) })
            }
            None => {
                let function = self.helpers.iter().find(named).filter(fits)?;
                Some(Callee { function, copy: self.helper_name(name)? })
            }
        }
    }
}

/// What a call is one of.
struct Callee<'a> {
    function: &'a Function,
    /// The name of its copy.
    copy: Ident,
}

/// `__autobatch_math_f`, with the span of `f`.
fn copy_name(name: &Ident) -> Ident {
    format_ident!("__autobatch_math_{}", name, span = name.span())
}

/// The rewriting itself.
pub(crate) struct Rewrite<'a, 'f> {
    math: &'a VectorMath<'f>,
    caller: &'a Function,
}

fn offered(name: &Ident, args: usize) -> bool {
    let name = name.to_string();
    match args {
        0 => UNARY.contains(&name.as_str()),
        1 => BINARY.contains(&name.as_str()),
        _ => false,
    }
}

/// Names a place: to use it by value would move it.
fn is_place(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Unary(e) => matches!(e.op, syn::UnOp::Deref(_)),
        other => matches!(other, Expr::Path(_) | Expr::Field(_) | Expr::Index(_)),
    }
}

impl<'f> Rewrite<'_, 'f> {
    /// The function of the item, or beside it, that a path names in a call.
    fn own(&self, path: &syn::ExprPath, args: usize) -> Option<Callee<'f>> {
        let segments = &path.path.segments;
        let name = &segments.last()?.ident;
        let plain = path.qself.is_none() && path.path.leading_colon.is_none();
        let associated = match segments.len() {
            1 if self.caller.sees(name) => false,
            2 if segments[0].ident == "Self" => true,
            _ => return None,
        };
        self.math.called(self.caller, name, args, associated).filter(|_| plain)
    }

    /// How many elementary functions the code calls, those in functions of the item included.
    pub(crate) fn calls(&self, stmt: &Stmt) -> usize {
        self.count(stmt, 0)
    }

    /// `depth` is that of functions of the item around the code: they may be recursive.
    fn count(&self, code: &impl Code, depth: usize) -> usize {
        let mut found = 0;
        walk::each(code, |at| {
            found += match at {
                At::Expr(Expr::MethodCall(call)) if offered(&call.method, call.args.len()) => {
                    usize::from(call.method != "powi")
                }
                At::Expr(Expr::Call(call)) => self.count_called(call, depth),
                At::Item(_) => return Next::Inside,
                _ => 0,
            };
            Next::On
        });
        found
    }

    fn count_called(&self, call: &syn::ExprCall, depth: usize) -> usize {
        let Expr::Path(path) = &*call.func else { return 0 };
        let args = call.args.len();
        let Some(Callee { function, .. }) = self.own(path, args) else {
            let elementary = crate::std_models::pure::is_pure_function(path)
                && args > 0
                && path.path.segments.last().is_some_and(|last| offered(&last.ident, args - 1));
            return usize::from(elementary);
        };
        if depth < 4 { self.math.of(function).count(&function.written, depth + 1) } else { 0 }
    }
}

impl VisitMut for Rewrite<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let rt = self.math.rt;
        match expr {
            Expr::MethodCall(call)
                if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"))
                    && self.math.called(self.caller, &call.method, call.args.len() + 1, true).is_some() =>
            {
                call.method = copy_name(&call.method);
            }
            Expr::MethodCall(call) if call.turbofish.is_none() && offered(&call.method, call.args.len()) => {
                // `powi` with a constant exponent is a few multiplications, which vectorise.
                if call.method == "powi"
                    && matches!(&call.args[0], Expr::Lit(lit) if matches!(lit.lit, Lit::Int(_)))
                {
                    return;
                }
                let (method, receiver) = (&call.method, &call.receiver);
                let value = Ident::new("__value", Span::mixed_site());
                let args: Vec<Ident> = (0..call.args.len())
                    .map(|n| format_ident!("__arg{}", n, span = Span::mixed_site()))
                    .collect();
                let given = &call.args;
                let receiver = if is_place(receiver) { quote!(&#receiver) } else { quote!(#receiver) };
                // A `match` keeps temporaries of the receiver alive as long as the call does.
                *expr = syn::parse_quote! {
                    match (#receiver, #given) {
                        (#value, #(#args,)*) => {
                            #[allow(unused_imports)]
                            use #rt::OtherType as _;
                            #rt::Typed::of(&#value).which().#method(#value, #(#args,)* |#value, #(#args,)*| #value.#method(#(#args),*))
                        }
                    }
                };
            }
            Expr::Call(call) => {
                let args = call.args.len();
                let Expr::Path(path) = &mut *call.func else { return };
                if let Some(Callee { copy, .. }) = self.own(path, args) {
                    path.path.segments.last_mut().expect("a path has segments").ident = copy;
                    return;
                }
                let segments: Vec<&Ident> = path.path.segments.iter().map(|segment| &segment.ident).collect();
                if let [ty, name] = segments[..]
                    && path.qself.is_none()
                    && (ty == "f32" || ty == "f64")
                    && !call.args.is_empty()
                    && offered(name, call.args.len() - 1)
                {
                    let args = &call.args;
                    *expr = syn::parse_quote!(#rt::math::#name::<#ty>(#args));
                }
            }
            _ => {}
        }
    }
}
