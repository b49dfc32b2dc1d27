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
use syn::{Block, Expr, Lit};

use crate::ir::{Program, Terminator};

/// Functions of one argument.
const UNARY: [&str; 18] = [
    "exp", "exp2", "exp_m1", "ln", "log2", "log10", "ln_1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "cbrt", "sin_cos",
];
/// Functions of two.
const BINARY: [&str; 4] = ["powf", "powi", "hypot", "atan2"];

/// Rewrites a whole body. `rt` is the path of the runtime's hidden door.
pub fn rewrite_block(body: &mut Block, rt: &TokenStream) {
    Rewrite { rt }.visit_block_mut(body);
}

/// Rewrites a program's code.
pub fn rewrite(program: &mut Program, rt: &TokenStream) {
    let mut rewrite = Rewrite { rt };
    for block in &mut program.blocks {
        for op in &mut block.ops {
            op.code.iter_mut().for_each(|stmt| rewrite.visit_stmt_mut(stmt));
        }
        match &mut block.term {
            Terminator::Branch { cond, .. } => rewrite.visit_expr_mut(cond),
            Terminator::Switch { scrutinee, arms, .. } => {
                rewrite.visit_expr_mut(scrutinee);
                arms.iter_mut()
                    .filter_map(|arm| arm.guard.as_mut())
                    .for_each(|guard| rewrite.visit_expr_mut(guard));
            }
            _ => {}
        }
    }
}

struct Rewrite<'a> {
    rt: &'a TokenStream,
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
    match expr {
        Expr::Path(_)
        | Expr::Field(_)
        | Expr::Index(_)
        | Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), .. }) => true,
        Expr::Paren(inner) => is_place(&inner.expr),
        _ => false,
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        let rt = self.rt;
        match expr {
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
                let Expr::Path(path) = &*call.func else { return };
                let segments: Vec<&Ident> = path.path.segments.iter().map(|segment| &segment.ident).collect();
                if let [ty, name] = segments[..]
                    && path.qself.is_none()
                    && (ty == "f32" || ty == "f64")
                    && call.args.len() > 0
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
