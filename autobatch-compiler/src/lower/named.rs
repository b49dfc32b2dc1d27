//! Temporaries that an argument of a batched call borrows from: `f(&[a, b])`, `f(board.with(i).row(1))`,
//! `f(name.to_string().as_str())`. They become locals before the call, so that they can be lent.
//!
//! A temporary is looked for where its value is borrowed: behind a `&`, and as the receiver of a method that lends it.
//! It can be made earlier only if nothing stands before it in its argument; else the call stays scalar.

use syn::{Expr, Ident, Type, UnOp, parse_quote};

use super::Lowering;
use super::borrowing::starts_borrow;
use super::chains::{yields_number, yields_owned};
use super::lent::may_borrow;
use super::scan::{self, hands_on, makes_of, only_looks_at_arguments};
use crate::desugar::iterators::is_adaptor;
use crate::desugar::terminals::is_quiet;
use crate::effects::variable;
use crate::guards::may_be_guard;
use crate::input::Param;
use crate::ir::Role;
use crate::signatures::Methods;

/// The temporary in an argument.
pub(super) enum Temporary {
    None,
    /// The argument with a name in its place, and its value.
    One(Box<Expr>, Box<Expr>),
    /// There are several, or it can't be made earlier.
    Refused,
}

/// What an argument borrows from that is no local yet, to be known by `name`.
pub(super) fn temporary(lower: &Lowering<'_>, arg: &Expr, name: &Ident) -> Temporary {
    let mut arg = arg.clone();
    let name = parse_quote!(#name);
    let mut take = Take::from(lower, &mut arg, &name, false);
    if !take.refused && take.taken.is_none() {
        take.unseen(&mut arg);
    }
    take.named(arg)
}

/// The same for an operand: something certainly is borrowed, or may be a guard. `place`: where it will be.
pub(super) fn kept_temporary(lower: &Lowering<'_>, operand: &Expr, place: &Expr) -> Temporary {
    let mut operand = operand.clone();
    let take = Take::from(lower, &mut operand, place, true);
    take.named(operand)
}

struct Take<'a, 'b> {
    lower: &'a Lowering<'b>,
    /// What comes into the place of the temporary.
    name: &'a Expr,
    /// Whether what the temporary borrows from is looked at on its own.
    alone: bool,
    taken: Option<Expr>,
    refused: bool,
}

impl<'a, 'b> Take<'a, 'b> {
    fn from(lower: &'a Lowering<'b>, value: &mut Expr, name: &'a Expr, alone: bool) -> Self {
        let mut take = Take { lower, name, alone, taken: None, refused: false };
        take.value(value, true);
        take
    }

    fn named(self, arg: Expr) -> Temporary {
        match (self.refused, self.taken) {
            (true, _) => Temporary::Refused,
            (false, Some(value)) => Temporary::One(arg.into(), value.into()),
            (false, None) => Temporary::None,
        }
    }

    /// Looks at what a value may borrow from. `first`: nothing that could be noticed is evaluated before.
    fn value(&mut self, expr: &mut Expr, first: bool) {
        match expr {
            // A constant that is changed is a value of its own.
            Expr::Reference(e) if e.mutability.is_some() && is_constant(&e.expr) => {
                self.take(&mut e.expr, first);
            }
            Expr::Reference(e) => self.place(&mut e.expr, first, true),
            Expr::Paren(e) => self.value(&mut e.expr, first),
            Expr::Group(e) => self.value(&mut e.expr, first),
            Expr::Try(e) => self.value(&mut e.expr, first),
            Expr::MethodCall(e) if yields_number(&e.method) || yields_owned(self.lower, e) => {}
            Expr::MethodCall(e) => {
                if borrows(self.lower, &e.method) {
                    self.place(&mut e.receiver, first, false);
                } else {
                    self.value(&mut e.receiver, first);
                }
                if !only_looks_at_arguments(&e.method) {
                    let first = first && is_quiet(&e.receiver);
                    self.values(e.args.iter_mut(), first);
                }
            }
            Expr::Call(e) if makes_of(&e.func) || hands_on(self.lower, &e.func) => {
                self.values(e.args.iter_mut(), first);
            }
            Expr::Tuple(e) => self.values(e.elems.iter_mut(), first),
            Expr::Array(e) => self.values(e.elems.iter_mut(), first),
            Expr::Struct(e) => self.values(e.fields.iter_mut().map(|field| &mut field.expr), first),
            Expr::If(e) => {
                self.tail(&mut e.then_branch);
                if let Some((_, otherwise)) = &mut e.else_branch {
                    self.value(otherwise, false);
                }
            }
            Expr::Match(e) => e.arms.iter_mut().for_each(|arm| self.value(&mut arm.body, false)),
            Expr::Block(e) => self.tail(&mut e.block),
            _ => {}
        }
    }

    fn take(&mut self, temporary: &mut Expr, first: bool) {
        self.refused |= !first || self.taken.is_some();
        self.taken = Some(std::mem::replace(temporary, self.name.clone()));
    }

    /// What a method or function of another file may borrow from.
    fn unseen(&mut self, arg: &mut Expr) {
        for (temporary, first) in self.lower.unseen_temporaries(arg) {
            self.take(temporary, first);
        }
    }

    fn values<'e>(&mut self, exprs: impl Iterator<Item = &'e mut Expr>, mut first: bool) {
        for expr in exprs {
            let quiet = is_quiet(expr);
            self.value(expr, first);
            first &= quiet;
        }
    }

    fn tail(&mut self, block: &mut syn::Block) {
        if let Some(syn::Stmt::Expr(tail, None)) = block.stmts.last_mut() {
            self.value(tail, false);
        }
    }

    /// Looks at a place that is borrowed; `direct` if it is the whole one.
    fn place(&mut self, place: &mut Expr, first: bool, direct: bool) {
        let lower = self.lower;
        let methods = &lower.functions[lower.current].methods;
        let unknown = |place: &Expr| direct && lower.is_unknown(place);
        match place {
            Expr::Field(e) => self.place(&mut e.base, first, false),
            Expr::Index(e) => self.place(&mut e.expr, first, false),
            Expr::Paren(e) => self.place(&mut e.expr, first, direct),
            Expr::Group(e) => self.place(&mut e.expr, first, direct),
            // `&*cell.borrow()`
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) && self.alone => {
                self.place(&mut e.expr, first, false);
            }
            Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => self.value(&mut e.expr, first),
            other
                if is_shared(self.lower, other)
                    || is_temporary(methods, other)
                    || unknown(other)
                    || (self.alone && may_be_guard(methods, other)) =>
            {
                if !self.alone {
                    // What it borrows from itself would have to stay for as long.
                    self.value(other, first);
                }
                self.take(other, first);
            }
            other => self.value(other, first),
        }
    }
}

/// Whether a method lends its receiver, as far as the file's signatures and the library's names say.
fn borrows(lower: &Lowering<'_>, method: &Ident) -> bool {
    let methods = &lower.functions[lower.current].methods;
    methods.known(method).is_some_and(|method| method.borrows)
}

/// Whether a place is a parameter that all members share by value.
fn is_shared(lower: &Lowering<'_>, place: &Expr) -> bool {
    variable(&lower.names, place).is_some_and(|var| {
        let var = lower.program.var(var);
        matches!(var.role, Role::Param(_)) && var.shared && !matches!(var.ty, Some(Type::Reference(_)))
    })
}

impl Lowering<'_> {
    /// Temporaries that arguments borrow from become locals. Where an argument before would be evaluated behind them, it
    /// becomes a local too.
    pub(super) fn named_temporaries(&mut self, source: usize, args: Vec<Expr>) -> Vec<Expr> {
        let name = placeholder();
        let params = &self.functions[source].params;
        let has_one = |(arg, param): (&Expr, &Param)| {
            (matches!(arg, Expr::Reference(_)) || may_borrow(&self.erased_type(source, &param.ty)))
                && matches!(temporary(self, arg, &name), Temporary::One(..))
        };
        let lends: Vec<bool> = args.iter().zip(params).map(has_one).collect();
        let Some(last) = lends.iter().rposition(|lends| *lends) else { return args };
        let mut out = Vec::with_capacity(args.len());
        for (i, arg) in args.iter().enumerate() {
            if lends[i] {
                let (temp, ident) = self.temp("lent", None);
                self.program.variables[temp.0].mutable = true;
                self.owners.insert(temp);
                let Temporary::One(named, value) = temporary(self, arg, &ident) else {
                    unreachable!("asked before")
                };
                let value = self.value(*value);
                self.define(temp, None, value);
                out.push(*named);
                continue;
            }
            let value = if i < last { self.value(arg.clone()) } else { arg.clone() };
            let kept = matches!(value, Expr::Reference(_)) || self.is_stable(&value, &args[i + 1..]);
            if i > last || kept {
                out.push(value);
            } else {
                let (temp, ident) = self.temp("value", None);
                self.define(temp, None, value);
                self.note_references(&parse_quote!(#ident), arg);
                out.push(parse_quote!(#ident));
            }
        }
        out
    }

    /// Whether a place is what a method yields that is not known. (It may be a reference: if that is to something outside, it needs
    /// no name.)
    fn is_unknown(&self, place: &Expr) -> bool {
        let methods = &self.functions[self.current].methods;
        matches!(place, Expr::MethodCall(e) if methods.known(&e.method).is_none())
            && !self.yields_references(place)
    }
}

/// What a place is a part of, or behind.
pub(crate) fn behind(place: &Expr) -> &Expr {
    match place {
        Expr::Field(e) => behind(&e.base),
        Expr::Index(e) => behind(&e.expr),
        Expr::Paren(e) => behind(&e.expr),
        Expr::Group(e) => behind(&e.expr),
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => behind(&e.expr),
        other => other,
    }
}

/// Whether what borrows from a local is a reference, and no value that holds one: what is behind a reference stays where it is.
pub(super) fn refers(lower: &Lowering<'_>, expr: &Expr) -> bool {
    const REFERENCES: [&str; 9] = [
        "as_bytes",
        "as_mut",
        "as_mut_slice",
        "as_ref",
        "as_slice",
        "as_str",
        "trim",
        "trim_end",
        "trim_start",
    ];
    let methods = &lower.functions[lower.current].methods;
    match expr {
        // What is in an `Option` of the library's.
        Expr::MethodCall(e) if ["expect", "unwrap", "unwrap_or"].iter().any(|name| e.method == name) => {
            !methods.arrays
        }
        Expr::Try(_) => !methods.arrays,
        Expr::MethodCall(e) => match methods.of(&e.method) {
            Some(method) => method.refers,
            None => REFERENCES.iter().any(|name| e.method == name),
        },
        _ => false,
    }
}

/// Whether a value plainly borrows from a local itself.
pub(super) fn views(lower: &Lowering<'_>, value: &Expr) -> bool {
    const HANDED_ON: [&str; 5] = ["as_deref", "as_ref", "expect", "into_iter", "unwrap"];
    let hands_receiver_on =
        |method: &Ident| is_adaptor(method) || HANDED_ON.iter().any(|name| method == name);
    match value {
        Expr::MethodCall(e) if yields_owned(lower, e) => false,
        Expr::MethodCall(e) => {
            starts_borrow(lower, e) || (hands_receiver_on(&e.method) && views(lower, &e.receiver))
        }
        Expr::Call(e) => {
            let made = matches!(&*e.func, Expr::Path(p) if p.path.segments.last()
                .is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase)));
            (made || hands_on(lower, &e.func)) && e.args.iter().any(|arg| borrows_local(lower, arg))
        }
        Expr::Tuple(e) => e.elems.iter().any(|e| borrows_local(lower, e)),
        Expr::Array(e) => e.elems.iter().any(|e| borrows_local(lower, e)),
        Expr::Struct(e) => e.fields.iter().any(|field| borrows_local(lower, &field.expr)),
        _ => false,
    }
}

fn borrows_local(lower: &Lowering<'_>, expr: &Expr) -> bool {
    scan::borrows(lower, expr, false)
}

/// A name that stands for a temporary where only its place matters.
pub(super) fn placeholder() -> Ident {
    Ident::new("__temporary", proc_macro2::Span::mixed_site())
}

/// Whether an expression certainly makes a value that is dropped at the end of its statement. (Constants are not.)
pub(crate) fn is_temporary(methods: &Methods, expr: &Expr) -> bool {
    match expr {
        Expr::Array(e) => !e.elems.iter().all(is_constant),
        Expr::Tuple(e) => !e.elems.iter().all(is_constant),
        Expr::Repeat(e) => !is_constant(&e.expr),
        Expr::Struct(_) => !is_constant(expr),
        Expr::Macro(e) => e.mac.path.is_ident("vec") || e.mac.path.is_ident("format"),
        Expr::Call(_) | Expr::Binary(_) | Expr::Cast(_) | Expr::Block(_) | Expr::If(_) | Expr::Match(_) => {
            true
        }
        Expr::Unary(e) => !matches!(e.op, UnOp::Deref(_)) && !is_constant(&e.expr),
        Expr::MethodCall(e) => methods.yields_value(&e.method),
        Expr::Reference(e) => is_temporary(methods, &e.expr),
        _ => false,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Unary(e) => matches!(e.op, UnOp::Neg(_)) && is_constant(&e.expr),
        Expr::Array(e) => e.elems.iter().all(is_constant),
        Expr::Tuple(e) => e.elems.iter().all(is_constant),
        Expr::Struct(e) => e.rest.is_none() && e.fields.iter().all(|field| is_constant(&field.expr)),
        Expr::Paren(e) => is_constant(&e.expr),
        _ => false,
    }
}
