//! What scalar code runs for each member, and why.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;
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

    /// Notes a call of the function at `source` on the native stack. There a recursion would not count, so all is scalar code.
    fn note_native(&mut self, span: Span, reason: Reason, source: usize) {
        let whole = self.lower.facts.is_recursive(source);
        self.found.push(Note { span, name: None, reason, whole });
    }

    /// Notes a call in a closure: of the function at `source`, or of a primitive. A total of numbers is a loop, whatever its closure says.
    fn note_in_closure(&mut self, span: Span, source: Option<usize>) {
        match (self.in_closures, source) {
            (Some(reason), Some(source)) if reason == reasons::IN_A_CLOSURE => {
                self.note_native(span, reason, source);
            }
            (Some(reason), _) => self.note(span, reason),
            (None, _) => {}
        }
    }

    /// Notes a call of the function at `source` that borrows a local. On the native stack it would not count, so all is scalar code.
    fn note_borrowing_call(&mut self, call: &Expr, source: usize) {
        if let Err((span, reason)) = call_arguments::of_call(self.lower, source, &arguments(call)) {
            self.found.push(Note { span, name: None, reason, whole: true });
            self.counted.extend(self.lower.tail_call(call));
        }
    }

    /// A word in a macro's tokens, in its definition, or in a function inside the body.
    fn word(&mut self, word: &str, span: Span, reason: Reason) {
        if let Some(source) = self.lower.facts.callable(word)
            && !self.lower.names.contains_key(word)
        {
            self.note_native(span, reason, source);
        }
    }

    fn tokens(&mut self, tokens: TokenStream, reason: Reason) {
        let mut field = false;
        let mut tokens = tokens.into_iter().peekable();
        while let Some(tree) = tokens.next() {
            let behind_dot = std::mem::take(&mut field);
            match tree {
                TokenTree::Ident(name) => {
                    let called = matches!(tokens.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
                    let word = name.to_string();
                    if called || !behind_dot {
                        self.word(&word, name.span(), reason);
                    }
                    if called
                        && primitive_names::may_be_primitive(&self.lower.facts.options.primitives, &word)
                    {
                        self.note(name.span(), reason);
                    }
                }
                TokenTree::Group(group) => self.tokens(group.stream(), reason),
                TokenTree::Punct(p) => field = p.as_char() == '.' && p.spacing() == Spacing::Alone,
                TokenTree::Literal(_) => {}
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
                self.note_in_closure(e.span(), Some(source));
            } else if !means_own_types(self.lower, source, &call) {
                self.note_native(e.span(), reasons::FOR_OTHER_TYPES, source);
            } else if self.lower.facts.function(source).params.len() == e.args.len() {
                self.note_borrowing_call(&call, source);
            }
            e.args.iter().for_each(|arg| self.visit_expr(arg));
        } else if primitive::is_call(self.lower, e) {
            if self.closure {
                self.note_in_closure(e.span(), None);
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
                self.note_in_closure(e.span(), Some(source));
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
            && let Some(source) = self.lower.facts.callable(&ident.to_string())
            && !self.lower.facts.function(source).associated
        {
            self.note_native(ident.span(), reasons::AS_A_VALUE, source);
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.tokens(mac.tokens.clone(), reasons::IN_A_MACRO);
        let words = self.lower.facts.item.declared.definitions.words_of(mac).unwrap_or_default();
        words.iter().for_each(|word| self.word(word, mac.path.span(), reasons::IN_A_MACRO));
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if let syn::Item::Fn(inner) = item {
            self.tokens(inner.to_token_stream(), reasons::IN_AN_ITEM);
        }
    }
}
