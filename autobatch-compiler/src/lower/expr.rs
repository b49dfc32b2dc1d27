//! Expressions to call-normal form, evaluation order kept.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{
    BinOp, Expr, ExprArray, ExprBinary, ExprCall, ExprCast, ExprField, ExprMethodCall, ExprParen, ExprRepeat,
    ExprTry, ExprTuple, ExprUnary, Pat, PointerMutability, Stmt, Type, UnOp, parse_quote,
};

use crate::analysis::reference_flow::{LocalBorrow, is_number_type};
use crate::diagnostics::reasons;
use crate::ir::effects::{self, variable};
use crate::ir::questions::Need;
use crate::ir::{self, Call, CallId, Terminator, VarId};
use crate::lower::lowering::Lowering;
use crate::lower::{call_arguments, primitive, scan};
use crate::syntax::macro_tokens::mentions;
use crate::syntax::mentions::{bare, spell_out_fields, tail, text};
use crate::syntax::walk::{self, At, Next};

impl Lowering<'_> {
    /// Evaluates `expr` for its effect.
    pub(super) fn discard(&mut self, expr: Expr) {
        if self.cursor.is_none() {
            return;
        }
        match expr {
            Expr::Return(e) => {
                let ir::Function { result, output, exit, .. } = self.program.func(self.func).clone();
                match e.expr {
                    Some(value) => self.into(*value, result, Some(&output)),
                    None => self.define(result, Some(&output), parse_quote!(())),
                }
                self.jump(exit);
            }
            Expr::Break(e) => self.break_(e),
            Expr::Continue(e) => {
                let target = self.context(e.label.as_ref()).map(|i| &self.loops[i]);
                match target.and_then(|target| target.continue_to) {
                    Some(header) => self.jump(header),
                    None => self.op(Stmt::Expr(Expr::Continue(e), Some(Default::default()))),
                }
            }
            Expr::Paren(e) if scan::splits(self, &e.expr) => self.discard(*e.expr),
            other if self.is_control(&other) => {
                // Values of one type, although nobody wants them.
                let dest = yields_open(&other).then(|| self.temp("ignored", None).0);
                self.control(other, dest, None);
            }
            other if scan::splits(self, &other) => {
                let value = self.value(other);
                if !matches!(value, Expr::Path(_)) {
                    self.op(Stmt::Expr(value, Some(Default::default())));
                }
            }
            other => self.op(Stmt::Expr(other, Some(Default::default()))),
        }
    }

    /// Evaluates `expr` into `dest`.
    pub(super) fn into(&mut self, expr: Expr, dest: VarId, ty: Option<&Type>) {
        if self.cursor.is_none() {
            return;
        }
        if !scan::splits(self, &expr) {
            match expr {
                Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => self.discard(expr),
                other => self.define(dest, ty, other),
            }
            return;
        }
        if let Some(callee) = scan::callee(self, &expr) {
            return self.call(callee, expr, dest, ty);
        }
        if primitive::is_batched(self, &expr) {
            return self.primitive(expr, dest, ty);
        }
        match expr {
            Expr::Paren(e) => self.into(*e.expr, dest, ty),
            Expr::Group(e) => self.into(*e.expr, dest, ty),
            other if self.is_control(&other) => self.control(other, Some(dest), ty),
            other => {
                let value = self.value(other);
                self.define(dest, ty, value);
            }
        }
    }

    /// Evaluates everything in `expr` that makes blocks, and returns what is left: an expression
    /// without splits that yields the value.
    pub(super) fn value(&mut self, mut expr: Expr) -> Expr {
        if self.cursor.is_none() || !scan::splits(self, &expr) {
            return expr;
        }
        let is_call = scan::callee(self, &expr).is_some() || primitive::is_batched(self, &expr);
        if is_call || self.is_control(&expr) {
            let (dest, ident) = self.temp("value", None);
            self.into(expr, dest, None);
            return parse_quote!(#ident);
        }
        match &mut expr {
            Expr::Group(e) => return self.value((*e.expr).clone()),
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
                self.discard(expr);
                return parse_quote!(());
            }
            Expr::Binary(ExprBinary { op: BinOp::And(_) | BinOp::Or(_), .. }) => {
                return self.short_circuit(expr);
            }
            Expr::Paren(ExprParen { expr: part, .. })
            | Expr::Unary(ExprUnary { expr: part, .. })
            | Expr::Cast(ExprCast { expr: part, .. })
            | Expr::Field(ExprField { base: part, .. })
            | Expr::Try(ExprTry { expr: part, .. })
            | Expr::Repeat(ExprRepeat { expr: part, .. }) => self.operands([&mut **part]),
            Expr::Reference(e) => {
                self.operands([&mut *e.expr]);
                if e.mutability.is_some() && matches!(*e.expr, Expr::Path(_)) {
                    // What was evaluated is in a temporary, and may be changed there.
                    let (dest, ident) = self.temp("value", None);
                    self.program.variables[dest.0].mutable = true;
                    self.define(dest, None, (*e.expr).clone());
                    *e.expr = parse_quote!(#ident);
                }
            }
            // The right side of a compound assignment of numbers is evaluated first.
            Expr::Binary(e) if crate::syntax::mentions::is_compound(&e.op) => {
                self.operands([&mut *e.right, &mut *e.left])
            }
            Expr::Binary(e) => self.operands([&mut *e.left, &mut *e.right]),
            // The value comes before the place.
            Expr::Assign(e) => self.operands([&mut *e.right, &mut *e.left]),
            Expr::Index(e) if self.is_fixed_place(&e.expr, &e.index) => self.operands([&mut *e.index]),
            Expr::Index(e) => self.operands([&mut *e.expr, &mut *e.index]),
            Expr::Call(e) => self.operands(&mut e.args),
            Expr::MethodCall(e) if self.has_fixed_receiver(e) => {
                *e.receiver = self.fixed_place((*e.receiver).clone(), e.args.iter().cloned().collect());
                self.operands(&mut e.args);
            }
            Expr::MethodCall(e) => self.operands(std::iter::once(&mut *e.receiver).chain(&mut e.args)),
            Expr::Tuple(e) => self.operands(&mut e.elems),
            Expr::Array(e) => self.operands(&mut e.elems),
            Expr::Struct(e) => {
                spell_out_fields(e);
                let fields = e.fields.iter_mut().map(|field| &mut field.expr);
                self.operands(fields.chain(e.rest.as_deref_mut()));
            }
            Expr::Range(e) => self.operands(e.start.iter_mut().chain(&mut e.end).map(|end| &mut **end)),
            other => self.whole_fallback(other.span(), reasons::IN_AN_EXPRESSION),
        }
        if let Expr::Call(ExprCall { args: list, .. })
        | Expr::MethodCall(ExprMethodCall { args: list, .. })
        | Expr::Tuple(ExprTuple { elems: list, .. })
        | Expr::Array(ExprArray { elems: list, .. }) = &mut expr
        {
            // What is shown has no comma there.
            list.pop_punct();
        }
        expr
    }

    /// Evaluates operands in their places.
    fn operands<'e>(&mut self, places: impl IntoIterator<Item = &'e mut Expr>) {
        let places: Vec<&mut Expr> = places.into_iter().collect();
        let values = self.operand_list(places.iter().map(|place| (**place).clone()).collect());
        places.into_iter().zip(values).for_each(|(place, value)| *place = value);
    }

    /// Evaluates operands left to right: one that stands before an operand with a call is kept in
    /// a temporary, unless the later ones can't change its value.
    pub(super) fn operand_list(&mut self, operands: Vec<Expr>) -> Vec<Expr> {
        let split: Vec<bool> = operands.iter().map(|e| scan::splits(self, e)).collect();
        let mut values = Vec::with_capacity(operands.len());
        for (i, operand) in operands.iter().enumerate() {
            let value = self.value(operand.clone());
            let later = split[i + 1..].iter().any(|s| *s);
            values.push(if later { self.fixed_value(value, operand, &operands[i + 1..]) } else { value });
        }
        values
    }

    /// Whether an expression is a place, and the same one behind `later`: a place is not read before its index is
    /// known, and a copy of what is there would take what is stored.
    fn is_fixed_place(&self, expr: &Expr, later: &Expr) -> bool {
        match bare(expr) {
            Expr::Path(_) => true,
            Expr::Field(e) => self.is_fixed_place(&e.base, later),
            Expr::Unary(e) => matches!(e.op, UnOp::Deref(_)) && self.is_fixed_place(&e.expr, later),
            Expr::Index(e) => {
                self.is_fixed_place(&e.expr, later) && self.is_stable(&e.index, std::slice::from_ref(later))
            }
            _ => false,
        }
    }

    /// Whether evaluating `expr` after `later` gives what evaluating it before gives, without effects.
    pub(super) fn is_stable(&self, expr: &Expr, later: &[Expr]) -> bool {
        match bare(expr) {
            Expr::Lit(_) => true,
            Expr::Path(_) => match variable(&self.names, expr) {
                Some(var) => {
                    !self.program.var(var).mutable
                        || !later.iter().any(|e| effects::of(&self.names, e).mentions.contains(&var))
                }
                None => true,
            },
            Expr::Field(e) => self.is_stable(&e.base, later) && self.is_stable_behind(&e.base, later),
            Expr::Reference(e) => self.is_stable(&e.expr, later),
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => {
                self.is_stable(&e.expr, later) && self.is_stable_behind(&e.expr, later)
            }
            _ => false,
        }
    }

    /// Whether what `place` holds, or refers to, stays the same while `later` is evaluated, if the variable itself
    /// does: not if it may be a `&mut`, or is moved.
    fn is_stable_behind(&self, place: &Expr, later: &[Expr]) -> bool {
        match bare(place) {
            Expr::Field(e) => self.is_stable_behind(&e.base, later),
            Expr::Unary(e) => self.is_stable_behind(&e.expr, later),
            _ => match variable(&self.names, place) {
                Some(var) if self.reference_flow().is_reference(&self.program.name(var)) => true,
                Some(var) => {
                    let exclusive = match &self.program.var(var).ty {
                        Some(ty) => may_be_exclusive(ty),
                        None => self.has_exclusive_references(),
                    };
                    !exclusive && !later.iter().any(|e| effects::of(&self.names, e).mentions.contains(&var))
                }
                None => true,
            },
        }
    }

    /// Whether a local of the function may be a `&mut`: where there is none to start from, there is none.
    fn has_exclusive_references(&self) -> bool {
        let function = self.function();
        let in_tokens = |tokens: TokenStream| mentions(tokens, &|word| word == "mut" || is_named_mut(word));
        function.params.iter().any(|p| may_be_exclusive(&p.ty))
            || walk::any(&function.body, |at| match at {
                At::Expr(Expr::Reference(e)) => e.mutability.is_some(),
                At::Pat(Pat::Reference(p)) => p.mutability.is_some(),
                At::Pat(Pat::Ident(p)) => p.by_ref.is_some() && p.mutability.is_some(),
                At::Type(ty) => may_be_exclusive(ty),
                At::Expr(Expr::MethodCall(e)) => is_named_mut(&e.method.to_string()),
                At::PathSegment(segment) => is_named_mut(&segment.ident.to_string()),
                At::Macro(mac) => in_tokens(mac.tokens.clone()),
                At::Item(item) => in_tokens(item.to_token_stream()),
                _ => false,
            })
    }

    /// `a && b`, `a || b` as a value, where a side has a call.
    fn short_circuit(&mut self, condition: Expr) -> Expr {
        let span = condition.span();
        let (dest, ident) = self.temp("value", Some(parse_quote!(bool)));
        let truth = self.new_block(span, "true");
        let falsity = self.new_block(span, "false");
        let join = self.new_block(span, "join");
        self.condition(condition, truth, falsity);
        for (block, value) in [(truth, true), (falsity, false)] {
            self.start(block);
            self.define(dest, Some(&parse_quote!(bool)), parse_quote!(#value));
            self.jump(join);
        }
        self.start(join);
        parse_quote!(#ident)
    }

    /// A batched call: arguments into typed temporaries, then the call, then its continuation.
    fn call(&mut self, callee: usize, call: Expr, dest: VarId, ty: Option<&Type>) {
        let span = call.span();
        let callee = self.declare(callee);
        let args: Vec<Expr> = scan::arguments(&call).into_iter().cloned().collect();
        let params = self.program.func(callee).params.clone();
        let callee_output = self.program.func(callee).output.clone();
        let values = self.operand_list(args.clone());
        let mut vars = Vec::with_capacity(values.len());
        for (i, value) in values.into_iter().enumerate() {
            self.ask_temporaries(&args[i]);
            let ty = self.program.var(params[i]).ty.clone();
            if let (LocalBorrow::Possible, Some(ty)) = (self.reference_flow().local_borrow(&args[i]), ty) {
                self.questions.types.push((ty, Need::Owned));
            }
            vars.push(self.argument(value, params[i], &args[i + 1..]));
        }
        if args.iter().any(|arg| call_arguments::exclusive(self, arg).is_some())
            && !is_number_type(&callee_output)
        {
            // Nothing of a `&mut` may be in what the callee yields.
            self.questions.types.push((callee_output.clone(), Need::Owned));
        }
        let same_type = ty.is_none_or(|ty| text(ty) == text(&callee_output));
        let cont = self.new_block(span, "after call");
        let id = CallId(self.program.calls);
        if self.cursor.is_some() {
            self.program.calls += 1;
        }
        let direct = if same_type { dest } else { self.temp("value", None).0 };
        self.program.variables[direct.0].ty.get_or_insert(callee_output);
        self.terminate(Terminator::Call(Call {
            tail: self.tail_call(&call),
            id,
            callee,
            args: vars,
            dest: direct,
            cont,
            pushes: vec![],
            updates: vec![],
            keeps: vec![],
            recursive: false,
            span,
        }));
        self.start(cont);
        if direct != dest {
            let ident = self.program.var(direct).ident.clone();
            self.define(dest, ty, parse_quote!(#ident));
        }
    }

    /// The variable that carries an argument: the user's own where the types are the same by name,
    /// else a temporary with the parameter's type, which is where coercions happen.
    pub(super) fn argument(&mut self, value: Expr, param: VarId, later: &[Expr]) -> VarId {
        let ty = self.program.var(param).ty.clone();
        // Nobody else has it for the call.
        if let Some(var) = call_arguments::exclusive(self, &value) {
            return var;
        }
        let direct = match &value {
            // `&*x` and `&mut *x` of a reference are `x` again.
            Expr::Reference(e) => match &*e.expr {
                Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) => variable(&self.names, &u.expr),
                _ => None,
            },
            other => variable(&self.names, other),
        };
        if let Some(var) = direct {
            let known = &self.program.var(var).ty;
            let same = matches!((known, &ty), (Some(a), Some(b)) if text(a) == text(b));
            if same && self.is_stable(&value, later) {
                return var;
            }
        }
        let (temp, _) = self.temp("arg", ty.clone());
        self.define(temp, ty.as_ref(), value);
        temp
    }

    /// Hoists a value that leaves early out of a place where only plain code may stand.
    pub(super) fn settled(&mut self, expr: Expr) -> Expr {
        let value = self.value(expr);
        if !has_exits(&value) {
            return self.verbatim(value);
        }
        self.in_variable("value", value)
    }
}

/// Whether one of the values that a choice yields may have a type that only the others tell: `None`, `Err(x)`, `Vec::new()`.
fn yields_open(expr: &Expr) -> bool {
    const MADE: [&str; 7] = ["collect", "default", "into", "new", "parse", "try_into", "with_capacity"];
    let of_block = |block: &syn::Block| tail(block).is_some_and(yields_open);
    match bare(expr) {
        Expr::Path(p) => p.path.is_ident("None"),
        Expr::Call(e) => match &*e.func {
            Expr::Path(p) => p.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                name.starts_with(char::is_uppercase) || MADE.contains(&name.as_str())
            }),
            _ => false,
        },
        Expr::MethodCall(e) => MADE.iter().any(|name| e.method == name),
        Expr::Macro(e) => e.mac.path.is_ident("vec"),
        Expr::Block(e) => of_block(&e.block),
        Expr::If(e) => {
            of_block(&e.then_branch)
                || e.else_branch.as_ref().is_some_and(|(_, otherwise)| yields_open(otherwise))
        }
        Expr::Match(e) => e.arms.iter().any(|arm| yields_open(&arm.body)),
        _ => false,
    }
}

/// Whether code may leave early: `return`, `?`, `break`, `continue` outside closures.
pub(super) fn has_exits(expr: &Expr) -> bool {
    walk::any(expr, |at| match at {
        At::Expr(Expr::Return(_) | Expr::Try(_) | Expr::Break(_) | Expr::Continue(_)) => Next::Found,
        At::Expr(Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) | Expr::TryBlock(_)) => Next::Past,
        _ => Next::On,
    })
}

/// Whether a type may hold a `&mut` or `*mut`, as far as it is written out.
fn may_be_exclusive(ty: &Type) -> bool {
    walk::any(ty, |at| match at {
        At::Type(Type::Reference(r)) => r.mutability.is_some(),
        At::Type(Type::Ptr(p)) => matches!(p.mutability, PointerMutability::Mut(_)),
        At::Type(ty) => matches!(ty, Type::Macro(_)),
        _ => false,
    })
}

/// The library's names for what yields a `&mut`: `iter_mut`, `as_mut_slice`.
fn is_named_mut(name: &str) -> bool {
    name.split('_').skip(1).any(|part| part == "mut")
}
