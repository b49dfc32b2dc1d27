//! What scalar code runs for each member, and why.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Macro};

use crate::desugar::terminals;
use crate::diagnostics::reasons::{self, Reason};
use crate::ir::Note;
use crate::item::excluded;
use crate::item::model::Function;
use crate::lower::lowering::Lowering;
use crate::lower::scan::{arguments, called_method, called_path, means_own_types};
use crate::lower::{call_arguments, macros, primitive};
use crate::resolve::resolution::Answer;
use crate::syntax::call_sites::CallSite;
use crate::syntax::primitive_names;
use crate::syntax::visit::{self, Visit};

impl Lowering<'_> {
    /// Notes what scalar code runs of a function, and whether it runs the whole.
    pub(super) fn find_fallbacks(&mut self, function: &Function) {
        let mut scan = Unbatched {
            lower: self,
            found: Vec::new(),
            counted: Vec::new(),
            closure: false,
            in_closures: Some(reasons::IN_A_CLOSURE),
        };
        scan.visit_block(&function.body);
        let Unbatched { found, counted, .. } = scan;
        let source = self.source();
        self.counted.extend(counted.into_iter().map(|site| (source, site)));
        self.program.notes.extend(found);
        for (span, reason) in macros::macros(function, &self.facts.item.declared) {
            self.whole_fallback(span, reason);
        }
    }
}

/// Finds places where a program function is mentioned but not batched: inside closures and macros, or as
/// a value.
struct Unbatched<'a, 'b> {
    lower: &'a Lowering<'b>,
    found: Vec<Note>,
    /// Calls in tail position that borrow a local: there is something left to do behind them.
    counted: Vec<CallSite>,
    closure: bool,
    /// What is said of calls in closures, if that is to be said.
    in_closures: Option<Reason>,
}

impl Unbatched<'_, '_> {
    fn note(&mut self, span: Span, reason: Reason) {
        self.found.push(Note { span, name: None, reason, whole: false });
    }

    fn note_in_closure(&mut self, span: Span) {
        if let Some(reason) = self.in_closures {
            self.note(span, reason);
        }
    }

    /// Notes a call of the function at `source` that borrows a local. On the native stack it would not count, so all is scalar code.
    fn note_borrowing_call(&mut self, call: &Expr, source: usize) {
        if let Err((span, reason)) = call_arguments::of_call(self.lower, source, &arguments(call)) {
            self.found.push(Note { span, name: None, reason, whole: true });
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
                        self.note(name.span(), reasons::IN_A_MACRO);
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
                self.note(e.span(), reasons::FOR_OTHER_TYPES);
            } else if self.lower.facts.function(source).params.len() == e.args.len() {
                self.note_borrowing_call(&call, source);
            }
            e.args.iter().for_each(|arg| self.visit_expr(arg));
        } else if primitive::is_call(self.lower, e) {
            if self.closure {
                self.note_in_closure(e.span());
            } else if let Err((span, reason)) = primitive::check_arguments(self.lower, e) {
                self.note(span, reason);
            }
            e.args.iter().for_each(|arg| self.visit_expr(arg));
        } else if let Some(reason) = terminals::left_total(e) {
            let outer = std::mem::replace(&mut self.in_closures, reason);
            visit::visit_expr_call(self, e);
            self.in_closures = outer;
        } else {
            let own = self.lower.facts.item.own_name().map(ToString::to_string);
            let local = matches!(&*e.func, Expr::Path(p) if p.path.get_ident().is_some_and(|i| self.lower.names.contains_key(&i.to_string())));
            let reason = excluded::called(&self.lower.facts.item.excluded, e, own.as_deref());
            let of_answer = || match self.lower.answer(&e.attrs)? {
                Answer::Excluded(reason) => Some(reason),
                Answer::Unknown => Some(reasons::UNKNOWN_RECEIVER),
                Answer::Own(_) | Answer::Other => None,
            };
            if let Some(reason) = reason.or_else(of_answer)
                && !local
            {
                self.note(e.span(), reason);
            }
            if let Expr::Path(path) = &*e.func
                && let Some(last) = path.path.segments.last()
                && self.lower.facts.is_excluded(&last.ident.to_string())
            {
                self.note(e.span(), reasons::OF_OTHER_TYPES);
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
                self.note_borrowing_call(&Expr::MethodCall(e.clone()), source);
            }
        } else if self.lower.facts.is_program_method(e)
            && associated
            && !matches!(answer, Some(Answer::Other | Answer::Excluded(_)))
        {
            self.note(e.method.span(), reasons::UNKNOWN_RECEIVER_IN_IMPL);
        }
        match answer {
            Some(Answer::Excluded(reason)) => self.note(e.method.span(), reason),
            Some(Answer::Unknown) if !associated => self.note(e.method.span(), reasons::UNKNOWN_RECEIVER),
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
            self.note(ident.span(), reasons::AS_A_VALUE);
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.tokens(mac.tokens.clone());
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
