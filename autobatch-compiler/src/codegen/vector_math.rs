//! `vector_math`: elementary functions that vectorise, in place of std's.
//!
//! Rewrites code that runs in lanes after it has been analysed: `x.exp()` becomes a choice by the type of `x`,
//! made by rustc: the function of `autobatch::math` for `f32` and `f64`, the method that the user wrote for
//! every other type. `f64::exp(x)` becomes the function of `autobatch::math`.
//!
//! Imprecision: a macro's tokens are opaque, so methods in them stay std's; so do those of a generic `T`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Lit, Stmt};

use crate::codegen::repeatable::{can_be_repeated, carries_over};
use crate::item::model::Function;
use crate::std_models::elementary::{BINARY, UNARY};
use crate::syntax::attributes::GENERATED;
use crate::syntax::mentions::bare;
use crate::syntax::walk::{self, At, Code, Next};

/// What to rewrite, and with what.
pub struct VectorMath<'a> {
    functions: &'a [Function],
    rt: &'a TokenStream,
}

impl<'a> VectorMath<'a> {
    /// For the functions of one item. `rt` is the path of the runtime's hidden door.
    pub fn new(functions: &'a [Function], rt: &'a TokenStream) -> Self {
        VectorMath { functions, rt }
    }

    /// Rewrites code of `caller`.
    pub(crate) fn of<'c>(&'c self, caller: &'c Function) -> Rewrite<'c, 'a> {
        Rewrite { math: self, caller }
    }

    /// A copy of each function that batched code may call without batching it.
    pub fn items(&self) -> Vec<TokenStream> {
        self.functions.iter().filter(|f| can_be_repeated(f)).map(|f| self.copy(f)).collect()
    }

    fn copy(&self, function: &Function) -> TokenStream {
        let mut body = function.written.clone();
        crate::syntax::call_sites::unmark(&mut body);
        self.of(function).visit_block_mut(&mut body);
        let mut sig = function.sig.clone();
        sig.ident = copy_name(&sig.ident);
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

    /// Whether a call by this name and number of arguments is one of the item's functions.
    fn is_own(&self, name: &Ident, args: usize, associated: bool) -> bool {
        let own =
            |f: &&Function| f.sig.ident == *name && f.params.len() == args && f.associated == associated;
        self.functions.iter().find(own).is_some_and(can_be_repeated)
    }
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

impl Rewrite<'_, '_> {
    /// The function of the item that a path names in a call.
    fn own(&self, path: &syn::ExprPath, args: usize) -> Option<Ident> {
        let segments = &path.path.segments;
        let name = &segments.last()?.ident;
        let plain = path.qself.is_none() && path.path.leading_colon.is_none();
        let associated = match segments.len() {
            1 if !self.caller.bindings.contains_key(&name.to_string()) => false,
            2 if segments[0].ident == "Self" => true,
            _ => return None,
        };
        (plain && self.math.is_own(name, args, associated)).then(|| name.clone())
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
        let Some(name) = self.own(path, args) else {
            let elementary = crate::std_models::pure::is_pure_function(path)
                && args > 0
                && path.path.segments.last().is_some_and(|last| offered(&last.ident, args - 1));
            return usize::from(elementary);
        };
        let function = |f: &&Function| f.sig.ident == name && f.params.len() == args;
        let function = self.math.functions.iter().find(function).filter(|_| depth < 4);
        function.map_or(0, |function| self.math.of(function).count(&function.written, depth + 1))
    }
}

impl VisitMut for Rewrite<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let rt = self.math.rt;
        match expr {
            Expr::MethodCall(call)
                if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"))
                    && self.math.is_own(&call.method, call.args.len() + 1, true) =>
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
                if let Some(name) = self.own(path, args) {
                    path.path.segments.last_mut().expect("a path has segments").ident = copy_name(&name);
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
