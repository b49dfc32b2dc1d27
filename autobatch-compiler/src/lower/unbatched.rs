//! What scalar code runs for each member, and why.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall, Macro};

use crate::desugar::terminals;
use crate::ir::Note;
use crate::item::excluded;
use crate::item::model::Function;
use crate::lower::lowering::Lowering;
use crate::lower::scan::{arguments, called_method, called_path, means_own_types};
use crate::lower::{call_arguments, macros, primitive};
use crate::resolve::method_calls;
use crate::resolve::resolution::Answer;
use crate::syntax::call_sites::CallSite;
use crate::syntax::primitive_names;

impl Lowering<'_> {
    /// Notes what scalar code runs of a function, and whether it runs the whole.
    pub(super) fn find_fallbacks(&mut self, function: &Function) {
        let mut scan = Unbatched {
            lower: self,
            found: Vec::new(),
            counted: Vec::new(),
            closure: false,
            in_closures: Some(IN_A_CLOSURE),
        };
        scan.visit_block(&function.body);
        let Unbatched { found, counted, .. } = scan;
        let source = self.source();
        self.counted.extend(counted.into_iter().map(|site| (source, site)));
        self.program.notes.extend(found);
        for (span, why) in macros::macros(function, &self.facts.item.declared) {
            self.whole_fallback(span, why);
        }
    }
}

/// Finds places where a program function is mentioned but not batched: inside closures and macros, or as
/// a value.
struct Unbatched<'a, 'b> {
    lower: &'a Lowering<'b>,
    found: Vec<Note>,
    /// Calls in tail position that are lent a local: there is something left to do behind them.
    counted: Vec<CallSite>,
    closure: bool,
    /// What is said of calls in closures, if that is to be said.
    in_closures: Option<&'static str>,
}

const IN_A_CLOSURE: &str = "a call inside a closure is run by code that can't be batched";

impl Unbatched<'_, '_> {
    fn note(&mut self, span: Span, why: &'static str) {
        self.found.push(Note { span, why: why.into(), whole: false });
    }

    fn note_in_closure(&mut self, span: Span) {
        if let Some(why) = self.in_closures {
            self.note(span, why);
        }
    }

    /// Notes a call of the function at `source` that is lent something. On the native stack it would not count, so all is scalar code.
    fn note_lent(&mut self, call: &Expr, source: usize) {
        if let Err((span, why)) = call_arguments::of_call(self.lower, source, &arguments(call)) {
            self.found.push(Note { span, why: why.into(), whole: true });
            self.counted.extend(self.lower.tail_call(call));
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut name = None;
        for tree in tokens {
            let before: Option<proc_macro2::Ident> = name.take();
            match tree {
                TokenTree::Ident(ident) => name = Some(ident),
                TokenTree::Group(group) => {
                    if group.delimiter() == proc_macro2::Delimiter::Parenthesis
                        && let Some(name) = before
                        && let word = name.to_string()
                        && (self.lower.facts.callable(&word).is_some()
                            || primitive_names::may_be_primitive(&self.lower.facts.options.primitives, &word))
                    {
                        self.note(
                            name.span(),
                            "a call inside a macro's tokens can't be seen by the compiler",
                        );
                    }
                    self.tokens(group.stream());
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Unbatched<'_, '_> {
    fn visit_expr_closure(&mut self, e: &'ast syn::ExprClosure) {
        let outer = std::mem::replace(&mut self.closure, true);
        visit::visit_expr_closure(self, e);
        self.closure = outer;
    }

    fn visit_expr_call(&mut self, e: &'ast ExprCall) {
        if let Some(source) = called_path(self.lower, e) {
            let call = Expr::Call(e.clone());
            if self.closure {
                self.note_in_closure(e.span());
            } else if !means_own_types(self.lower, source, &call) {
                self.note(e.span(), "a generic function is batched for the types of its caller only");
            } else if self.lower.facts.function(source).params.len() == e.args.len() {
                self.note_lent(&call, source);
            }
            e.args.iter().for_each(|arg| self.visit_expr(arg));
        } else if primitive::is_call(self.lower, e) {
            if self.closure {
                self.note_in_closure(e.span());
            } else if let Err((span, why)) = primitive::check_arguments(self.lower, e) {
                self.note(span, why);
            }
            e.args.iter().for_each(|arg| self.visit_expr(arg));
        } else if let Some(why) = terminals::left_total(e) {
            let outer = std::mem::replace(&mut self.in_closures, why);
            visit::visit_expr_call(self, e);
            self.in_closures = outer;
        } else {
            let own = self.lower.facts.item.own_name().map(ToString::to_string);
            let local = matches!(&*e.func, Expr::Path(p) if p.path.get_ident().is_some_and(|i| self.lower.names.contains_key(&i.to_string())));
            let why = excluded::called(&self.lower.facts.item.excluded, e, own.as_deref());
            let of_answer = || match self.lower.answer(&e.attrs)? {
                Answer::Excluded(why) => Some(why),
                Answer::Unknown => Some(method_calls::UNKNOWN),
                Answer::Own(_) | Answer::Other => None,
            };
            if let Some(why) = why.or_else(of_answer)
                && !local
            {
                self.note(e.span(), why);
            }
            if let Expr::Path(path) = &*e.func
                && let Some(last) = path.path.segments.last()
                && self.lower.facts.is_excluded(&last.ident.to_string())
            {
                self.note(e.span(), excluded::OF_OTHER_TYPES);
            }
            visit::visit_expr_call(self, e);
        }
    }

    fn visit_expr_method_call(&mut self, e: &'ast ExprMethodCall) {
        let associated = self.lower.function().associated;
        let answer = self.lower.answer(&e.attrs);
        if let Some(source) = called_method(self.lower, e) {
            if self.closure {
                self.note_in_closure(e.span());
            } else {
                self.note_lent(&Expr::MethodCall(e.clone()), source);
            }
        } else if self.lower.facts.is_program_method(e)
            && associated
            && !matches!(answer, Some(Answer::Other | Answer::Excluded(_)))
        {
            self.note(
                e.method.span(),
                "the type of the receiver is not known to the macro; write `Self::method(receiver, …)`",
            );
        }
        match answer {
            Some(Answer::Excluded(why)) => self.note(e.method.span(), why),
            Some(Answer::Unknown) if !associated => self.note(e.method.span(), method_calls::UNKNOWN),
            _ => {}
        }
        visit::visit_expr_method_call(self, e);
    }

    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        if let Some(ident) = e.path.get_ident()
            && !self.lower.names.contains_key(&ident.to_string())
            && self
                .lower
                .facts
                .callable(&ident.to_string())
                .is_some_and(|source| !self.lower.facts.function(source).associated)
        {
            self.note(
                ident.span(),
                "the function is used as a value, and whoever calls it runs the scalar code",
            );
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.tokens(mac.tokens.clone());
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
