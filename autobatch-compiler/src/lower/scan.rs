//! Questions about user code that the lowering asks before it decides what becomes blocks.

use syn::{Expr, ExprBreak, ExprCall, ExprContinue, ExprMethodCall, Stmt};

use crate::analysis::lane_interchange::breaks;
use crate::analysis::reference_flow::LocalBorrow;
use crate::analysis::uniform_values;
use crate::ir::VarSet;
use crate::ir::effects::{self, HEAVY, bound, variable};
use crate::item::selection;
use crate::lower::lowering::Lowering;
use crate::lower::{call_arguments, primitive, uniform_loops};
use crate::std_models::elementary::calls_library;
use crate::syntax::visit::{self, Visit};
use crate::syntax::walk::{self, At, Code, Next};
use crate::syntax::{bindings, mentions};

/// The function, by its position in the item, that a call names, if the call can be a batched one.
pub(super) fn callee(lower: &Lowering<'_>, expr: &Expr) -> Option<usize> {
    let (source, args) = match expr {
        Expr::Call(call) => (called_path(lower, call)?, call.args.len()),
        Expr::MethodCall(call) => (called_method(lower, call)?, call.args.len() + 1),
        _ => return None,
    };
    let arity = lower.facts.function(source).params.len();
    (arity == args
        && means_own_types(lower, source, expr)
        && call_arguments::of_call(lower, source, &arguments(expr)).is_ok())
    .then_some(source)
}

/// Whether a call of a generic function can be one for the caller's own types: not if it names others, or gives a
/// literal or a cast for one.
pub(super) fn means_own_types(lower: &Lowering<'_>, source: usize, call: &Expr) -> bool {
    let function = lower.facts.function(source);
    if !selection::is_generic(function) {
        return true;
    }
    let params = function.sig.generics.params.iter();
    let names = params.map(|param| match param {
        syn::GenericParam::Lifetime(p) => p.lifetime.ident.to_string(),
        syn::GenericParam::Type(p) => p.ident.to_string(),
        syn::GenericParam::Const(p) => p.ident.to_string(),
    });
    let names: Vec<String> = names.collect();
    let mut fish = String::new();
    if let Expr::Call(e) = call
        && let Expr::Path(p) = &*e.func
    {
        fish = p
            .path
            .segments
            .last()
            .map(|last| crate::syntax::mentions::text(&last.arguments))
            .unwrap_or_default();
    }
    let own_fish = fish.is_empty()
        || mentions::words(&fish)
            .filter(|word| !word.is_empty())
            .all(|word| word == "_" || names.iter().any(|name| name == word));
    own_fish
        && arguments(call).iter().zip(&function.params).all(|(arg, param)| {
            let of_own = matches!(&param.ty, syn::Type::Path(p)
                if p.path.get_ident().is_some_and(|i| names.contains(&i.to_string())));
            let other = || match arg {
                Expr::Lit(_) | Expr::Cast(_) => true,
                Expr::Path(_) => {
                    variable(&lower.names, arg).and_then(|var| lower.type_of(var)).is_some_and(|ty| {
                        crate::syntax::mentions::text(ty) != crate::syntax::mentions::text(&param.ty)
                    })
                }
                _ => false,
            };
            !(of_own && other())
        })
}

/// The arguments of a call, the receiver first.
pub(super) fn arguments(call: &Expr) -> Vec<&Expr> {
    match call {
        Expr::Call(call) => call.args.iter().collect(),
        Expr::MethodCall(call) => std::iter::once(&*call.receiver).chain(&call.args).collect(),
        _ => vec![],
    }
}

pub(super) fn called_path(lower: &Lowering<'_>, call: &ExprCall) -> Option<usize> {
    let Expr::Path(path) = &*call.func else { return None };
    if path.qself.is_some() {
        return None;
    }
    let segments = &path.path.segments;
    let name = segments.last()?.ident.to_string();
    let source = lower.facts.callable(&name)?;
    let associated = lower.facts.function(source).associated;
    let fits = match segments.len() {
        1 => !associated && !lower.names.contains_key(&name),
        2 => {
            associated
                && (segments[0].ident == "Self" || Some(&segments[0].ident) == lower.facts.item.own_name())
        }
        _ => false,
    };
    fits.then_some(source)
}

pub(super) fn called_method(lower: &Lowering<'_>, call: &ExprMethodCall) -> Option<usize> {
    let receiver = variable(&lower.names, &call.receiver)?;
    if !bindings::is_self(&lower.program.var(receiver).ident) {
        return None;
    }
    let source = lower.facts.callable(&call.method.to_string())?;
    lower.facts.function(source).sig.receiver().map(|_| source)
}

/// Whether lowering `code` makes blocks: it holds a batched call or a loop that members leave at
/// different times.
pub(super) fn splits(lower: &Lowering<'_>, code: &impl Code) -> bool {
    let mut scan = Splits { lower, uniforms: lower.uniforms.clone(), unrolled: 0, found: false };
    code.visit(&mut scan);
    scan.found
}

struct Splits<'a, 'b> {
    lower: &'a Lowering<'b>,
    /// Variables with the same value for every member: those known before, and those of the scanned
    /// code as far as it has been scanned.
    uniforms: VarSet,
    /// The loops around that LLVM unrolls.
    unrolled: usize,
    found: bool,
}

impl Splits<'_, '_> {
    /// Whether the program is one function that calls none of the program. A program with calls has better engines than the machine.
    fn is_alone(&self) -> bool {
        let calls = |at: At<'_>| matches!(at, At::Expr(call) if callee(self.lower, call).is_some());
        self.lower.sources.len() == 1 && !walk::any(&self.lower.function().body, calls)
    }

    /// Whether a `for` loop is left in one piece inside the lane code: its trip count is the same for
    /// every member, nothing leaves it early, and blocks would gain nothing, or it iterates over something that may borrow a local.
    fn for_loop(&mut self, e: &syn::ExprForLoop) {
        self.visit_expr(&e.expr);
        let uniform =
            uniform_values::is_uniform(&self.lower.program, &self.lower.names, &self.uniforms, &e.expr);
        let whole = uniform && !leaves(&e.body);
        if whole && uniform_loops::is_interchanged(self.lower, e)
            || uniform && !whole && self.is_alone() && uniform_loops::is_interchanged_search(self.lower, e)
        {
            return;
        }
        let blocks = || !whole || uniform_loops::is_worth_blocks(self.lower, e);
        self.found |= !may_borrow_local(self.lower, &e.expr) && blocks();
        if uniform {
            self.uniforms.extend(bound(&self.lower.names, &e.pat));
        }
        let short = usize::from(whole && self.lower.names.trip_counts().short(&e.expr).is_some());
        self.unrolled += short;
        self.visit_block(&e.body);
        self.unrolled -= short;
    }
}

impl<'ast> Visit<'ast> for Splits<'_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if self.found {
            return;
        }
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) => return,
            Expr::ForLoop(e) => return self.for_loop(e),
            Expr::If(_) | Expr::Match(_) if !self.lower.facts.options.fuse => self.found = true,
            // Straight code.
            Expr::If(_) | Expr::Match(_) if self.unrolled > 0 => {}
            Expr::If(e) if self.lower.names.trip_counts().is_known(&e.cond) => {}
            Expr::If(e) => {
                self.found |= leaves_heavily(self.lower, &e.then_branch)
                    || is_heavy(self.lower, &e.then_branch)
                    || e.else_branch.as_ref().is_some_and(|(_, e)| is_heavy(self.lower, e));
            }
            Expr::Match(e) => {
                self.found |= e.arms.iter().any(|arm| is_heavy(self.lower, &arm.body));
            }
            Expr::While(_) | Expr::Loop(_) => self.found = true,
            Expr::Call(_) | Expr::MethodCall(_) => {
                self.found |= callee(self.lower, expr).is_some() || primitive::is_batched(self.lower, expr);
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        self.uniforms.extend(uniform_values::defines(
            &self.lower.program,
            &self.lower.names,
            &self.uniforms,
            local,
        ));
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a branch is a block of its own although nothing in it makes blocks: so much work in opaque
/// calls or loops that members should meet there. Only where they can come at different times.
fn is_heavy(lower: &Lowering<'_>, code: &impl Code) -> bool {
    let effects = effects::of(&lower.names, code);
    lower.members_diverge() && effects.opaque && effects.weight >= HEAVY
}

/// Whether a branch leaves a loop, and calls an elementary function before: behind the loop each member does that once, in it all lanes would,
/// in every round.
fn leaves_heavily(lower: &Lowering<'_>, branch: &syn::Block) -> bool {
    let leaves = match branch.stmts.last() {
        Some(Stmt::Expr(Expr::Break(e), _)) => e.label.is_none(),
        Some(Stmt::Expr(Expr::Return(_), _)) => true,
        _ => false,
    };
    leaves && lower.loops.iter().any(|context| context.is_loop) && calls_library(branch)
}

/// Whether code holds a batched call.
pub(super) fn calls(lower: &Lowering<'_>, code: &impl Code) -> bool {
    walk::any(code, |at| match at {
        At::Expr(expr @ (Expr::Call(_) | Expr::MethodCall(_))) => {
            callee(lower, expr).is_some() || primitive::is_batched(lower, expr)
        }
        _ => false,
    })
}

/// Whether a loop body can be left other than by running to its end.
pub(super) fn leaves(body: &syn::Block) -> bool {
    breaks(body) || leaves_around(body)
}

/// Whether it can be left together with what is around it.
pub(super) fn leaves_around(body: &syn::Block) -> bool {
    walk::any(body, |at: At<'_>| match at {
        At::Expr(Expr::Return(_) | Expr::Try(_)) => Next::Found,
        // Of a loop in it, unless there is a label.
        At::Expr(Expr::Break(ExprBreak { label, .. }) | Expr::Continue(ExprContinue { label, .. })) => {
            if label.is_some() {
                Next::Found
            } else {
                Next::On
            }
        }
        At::Expr(Expr::Closure(_)) => Next::Past,
        _ => Next::On,
    })
}

/// Whether an iteration over an expression may borrow a local. The ends of a range are numbers.
fn may_borrow_local(lower: &Lowering<'_>, expr: &Expr) -> bool {
    !matches!(mentions::bare(expr), Expr::Range(_))
        && lower.reference_flow().local_borrow(expr) != LocalBorrow::Never
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::ir::testing::{functions, lowered};
    use crate::std_models::elementary::calls_library;

    #[test]
    fn what_members_do_when_they_leave_a_loop_stands_behind_it() {
        for (branch, stays) in [
            (quote!(return y.ln()), false),
            (quote!(y = y.ln(); break), false),
            (quote!(y = y.ln();), true),
            (quote!(return y + 1.0), true),
        ] {
            let f = functions(quote!(
                fn f(x: f64) -> f64 {
                    let mut y = x;
                    loop {
                        y *= 0.5;
                        if y < 1.0 { #branch }
                    }
                    y
                }
            ));
            let program = lowered(&f, 0, true).program;
            let round = program.blocks.iter().find(|block| block.label == "loop").expect("a loop");
            assert_eq!(round.ops.len() > 1, stays, "{branch}: {program}");
            assert!(stays || !calls_library(&round.ops[0].code[..]), "{branch}");
        }
    }
}
