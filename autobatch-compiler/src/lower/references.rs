//! Which locals are references to data outside the activation, and which borrow a local.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Pat, Stmt, Type};

use super::carried::held;
use super::{Borrower, Lowering, chains, scan};
use crate::effects;
use crate::ir::{VarId, VarSet};
use crate::mentions::{bindings, bound_by_ref};
use crate::signatures::Methods;

impl Lowering<'_> {
    /// Whether a variable certainly is a reference to something outside this activation.
    pub(super) fn is_reference(&self, var: VarId) -> bool {
        self.references.contains(&var)
    }

    /// Whether it is a reference with the number that `enumerate` adds.
    pub(super) fn is_numbered(&self, var: VarId) -> bool {
        self.numbered.contains(&var)
    }

    /// The variable in `&x` that is itself a reference, or a tuple with one: what refers to it lives no longer than `x`,
    /// unless the pattern has a type, to which `&x` may be coerced.
    fn referred_reference(&self, pat: &Pat, value: &Expr) -> Option<VarId> {
        let Expr::Reference(r) = value else { return None };
        let var = effects::variable(&self.names, &r.expr)?;
        (!matches!(pat, Pat::Type(_)) && self.is_reference(var)).then_some(var)
    }

    /// What a pattern binds borrows a variable.
    fn note_borrowing(&mut self, binds: VarSet, var: VarId, span: Span) {
        let from = self.names_of(&[var].into_iter().collect());
        self.borrow(binds, span, &from);
    }

    /// Variables borrow locals, unless their types can't.
    fn borrow(&mut self, mut vars: VarSet, span: Span, from: &[(usize, String)]) {
        if self.cursor.is_some() {
            vars.retain(|var| !self.type_of(*var).is_some_and(|ty| self.owns(ty)));
            self.borrowers.extend(vars.into_iter().map(|var| Borrower { var, span, from: from.to_vec() }));
        }
    }

    /// Keeps track of which locals are references to data outside the activation, and of those that
    /// borrow a local.
    pub(super) fn note_references(&mut self, pat: &Pat, init: &Expr) {
        if matches!(pat, Pat::Type(t) if self.owns(&t.ty)) {
            return;
        }
        if !matches!(pat, Pat::Ident(_) | Pat::Type(_)) {
            return self.note_pattern(pat, init);
        }
        let binds = effects::bound(&self.names, pat);
        if let Some(var) = self.referred_reference(pat, init) {
            return self.note_borrowing(binds, var, init.span());
        }
        let plain = is_plain_reference(pat, init);
        match self.borrowed_from(init).or_else(|| self.borrowed_unseen(pat, init)) {
            Some(mut from) => {
                if let Expr::Closure(_) = init {
                    from.extend(self.names_of(&binds));
                }
                let again =
                    effects::variable(&self.names, init).is_some_and(|var| self.shared.contains(&var));
                if plain || again {
                    self.shared.extend(&binds);
                }
                self.borrow(binds, init.span(), &from);
            }
            None if plain => self.references.extend(binds),
            None => {
                self.note_suspects(&binds, init);
                self.note_bound_references(pat, init);
            }
        }
    }

    /// The locals that a value borrows from, by itself or because it holds what does.
    fn borrowed_from(&self, value: &Expr) -> Option<Vec<(usize, String)>> {
        let plainly = scan::plainly_borrows_local(self, value);
        let mut vars = if plainly { scan::borrowed(self, value) } else { VarSet::new() };
        let held = &held(self, value) | &vars;
        // What is behind a reference is no part of it.
        vars.retain(|var| !self.shared.contains(var));
        let mut from = self.names_of(&vars);
        let outer = self.borrowers.iter().filter(|borrower| held.contains(&borrower.var));
        from.extend(outer.flat_map(|borrower| borrower.from.iter().cloned()));
        (plainly || !from.is_empty()).then_some(from)
    }

    /// The local that a value borrows from by a method of another file, where it is bound as a reference.
    fn borrowed_unseen(&self, pat: &Pat, value: &Expr) -> Option<Vec<(usize, String)>> {
        let (var, _) = self.unseen_lender(value).filter(|_| self.wants_reference(pat))?;
        Some(self.names_of(&[var].into_iter().collect()))
    }

    /// The same for what code that is lowered whole binds and assigns.
    pub(super) fn note_within(&mut self, stmt: &Stmt) {
        #[derive(Default)]
        struct Scan<'ast>(Vec<(Option<&'ast Pat>, &'ast Expr, &'ast Expr)>);
        impl<'ast> Visit<'ast> for Scan<'ast> {
            fn visit_expr_assign(&mut self, e: &'ast syn::ExprAssign) {
                visit::visit_expr_assign(self, e);
                self.0.push((None, &e.left, &e.right));
            }
            fn visit_local(&mut self, local: &'ast syn::Local) {
                visit::visit_local(self, local);
                if let Some(init) = &local.init {
                    self.0.push((Some(&local.pat), &init.expr, &init.expr));
                }
            }
            fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
            fn visit_item(&mut self, _: &'ast syn::Item) {}
        }
        let mut scan = Scan::default();
        match stmt {
            Stmt::Local(local) => local.init.iter().for_each(|init| scan.visit_local_init(init)),
            other => scan.visit_stmt(other),
        }
        for (pat, place, value) in scan.0 {
            match pat {
                Some(pat) => self.note_references(pat, value),
                None => {
                    let vars: VarSet = effects::variable(&self.names, place).into_iter().collect();
                    if let Some(from) = self.borrowed_from(value) {
                        self.borrow(vars, value.span(), &from);
                    }
                }
            }
        }
    }

    /// An operand that is kept while later ones are evaluated may borrow a local: `groups.entry(k).or_default().push(f(x))`.
    pub(super) fn note_kept(&mut self, var: VarId, value: &Expr) {
        if let Some(from) = self.borrowed_from(value) {
            self.borrow([var].into_iter().collect(), value.span(), &from);
        }
    }

    /// Parts of a local that a pattern binds by reference: by `ref`, or because the local is a `&mut`.
    fn note_bound_references(&mut self, pat: &Pat, scrutinee: &Expr) {
        let mut place = scrutinee;
        while let Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) = place {
            place = expr;
        }
        let root = scan::root(place).and_then(|root| effects::variable(&self.names, root));
        let Some(root) = root.filter(|root| !self.is_reference(*root) && self.cursor.is_some()) else {
            return;
        };
        let through = effects::variable(&self.names, scrutinee).filter(|var| {
            let exclusive = |ty: &Type| matches!(ty, Type::Reference(r) if r.mutability.is_some());
            !matches!(pat, Pat::Ident(_) | Pat::Type(_) | Pat::Wild(_))
                && (self.type_of(*var).is_some_and(exclusive)
                    || self.borrowers.iter().any(|borrower| borrower.var == *var))
        });
        let binds = match through {
            Some(_) => effects::bound(&self.names, pat),
            None => self.bound_by_ref(pat),
        };
        let from = self.lenders(&[root].into_iter().collect());
        self.borrow(binds, scrutinee.span(), &from);
    }

    fn bound_by_ref(&self, pat: &Pat) -> VarSet {
        let bound = bound_by_ref(pat).into_iter();
        bound.filter_map(|ident| self.names.get(&ident.to_string()).copied()).collect()
    }

    /// What is borrowed by an iteration over a variable that itself holds a borrow of locals.
    pub(super) fn borrowed_through(&self, expr: &Expr) -> Option<Vec<(usize, String)>> {
        match expr {
            Expr::Paren(e) => self.borrowed_through(&e.expr),
            Expr::MethodCall(e) if !chains::yields_number(&e.method) => self.borrowed_through(&e.receiver),
            Expr::Path(_) => {
                let var = effects::variable(&self.names, expr)?;
                let mut known = self.borrowers.iter().filter(|borrower| borrower.var == var).peekable();
                known.peek()?;
                Some(known.flat_map(|borrower| borrower.from.iter().cloned()).collect())
            }
            _ => None,
        }
    }

    /// Variables that are borrowed from, and what they borrow from themselves.
    fn lenders(&self, vars: &VarSet) -> Vec<(usize, String)> {
        let mut from = self.names_of(vars);
        let outer = self.borrowers.iter().filter(|borrower| vars.contains(&borrower.var));
        from.extend(outer.flat_map(|borrower| borrower.from.iter().cloned()));
        from
    }

    /// Variables of the function as others know them.
    pub(super) fn names_of(&self, vars: &VarSet) -> Vec<(usize, String)> {
        vars.iter().map(|var| (self.current, self.program.var(*var).ident.to_string())).collect()
    }

    /// Finds the references of a body before it is lowered, because calls are judged by their arguments.
    pub(super) fn find_references(&mut self, body: &syn::Block) {
        for (pat, value, part) in bindings(body) {
            self.note_owners(pat, value);
            if part {
                self.note_pattern(pat, value);
            } else if is_plain_reference(pat, value)
                && self.referred_reference(pat, value).is_none()
                && !scan::plainly_borrows_local(self, value)
            {
                let binds = effects::bound(&self.names, pat);
                self.references.extend(binds);
            }
        }
    }

    /// Bindings of a pattern matched against something reached through a reference are references.
    pub(super) fn note_pattern(&mut self, pat: &Pat, scrutinee: &Expr) {
        if let Some(var) = self.referred_reference(pat, scrutinee) {
            self.note_borrowing(effects::bound(&self.names, pat), var, scrutinee.span());
        } else if self.yields_references(scrutinee) {
            let mut binds = effects::bound(&self.names, pat);
            if is_enumerated(scrutinee) && matches!(pat, Pat::Ident(_)) {
                self.numbered.extend(&binds);
            }
            for owned in copied_by(pat, scrutinee) {
                effects::bound(&self.names, owned).iter().for_each(|var| _ = binds.remove(var));
            }
            self.references.extend(binds);
        } else {
            self.note_borrowers(pat, scrutinee);
        }
    }

    /// Bindings of a pattern matched against what borrows a local borrow it too.
    fn note_borrowers(&mut self, pat: &Pat, scrutinee: &Expr) {
        if self.cursor.is_none() {
            return;
        }
        let from = self.borrowed_from(scrutinee).or_else(|| self.borrowed_unseen(pat, scrutinee));
        let from = from.filter(|_| scan::root(scrutinee).is_none());
        let Some(from) = from else { return self.note_bound_references(pat, scrutinee) };
        let mut binds = effects::bound(&self.names, pat);
        for owned in copied_by(pat, scrutinee) {
            effects::bound(&self.names, owned).iter().for_each(|var| _ = binds.remove(var));
        }
        if yields_references(scrutinee) {
            self.shared.extend(&binds);
        }
        self.borrow(binds, scrutinee.span(), &from);
    }
}

/// Types of the library that borrow nothing if their arguments don't.
const OWNED: [&str; 10] = [
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "Option",
    "Result",
    "String",
    "Vec",
    "VecDeque",
];

impl Lowering<'_> {
    /// Whether a value of the type certainly borrows nothing.
    fn owns(&self, ty: &Type) -> bool {
        certainly_owns(&self.functions[self.current].methods, ty)
    }

    /// Whether an expression is a reference to something outside, or what the library makes of one.
    pub(super) fn yields_references(&self, expr: &Expr) -> bool {
        let through = effects::of_expr(&self.names, expr).mentions;
        !through.is_empty()
            && through.iter().all(|var| self.is_reference(*var) || self.program.var(*var).anchored)
            && yields_references(expr)
    }
}

/// Whether values of a type certainly borrow nothing, as far as the file says.
pub(crate) fn certainly_owns(methods: &Methods, ty: &Type) -> bool {
    let owns = |ty: &Type| certainly_owns(methods, ty);
    match ty {
        Type::Path(p) if p.qself.is_none() => {
            let Some(last) = p.path.segments.last() else { return false };
            let known = OWNED.iter().any(|name| last.ident == name)
                || methods.lifetimes.certain(&last.ident) == Some(0);
            let inner = match &last.arguments {
                syn::PathArguments::AngleBracketed(args) => args.args.iter().all(|arg| match arg {
                    syn::GenericArgument::Type(ty) => owns(ty),
                    _ => false,
                }),
                _ => true,
            };
            (known && inner) || crate::lockstep::is_primitive(ty)
        }
        Type::Tuple(t) => t.elems.iter().all(owns),
        Type::Array(t) => owns(&t.elem),
        _ => false,
    }
}

/// Whether a method of the library yields a reference, or what holds some, where its receiver does.
pub(super) fn yields_reference(method: &Ident) -> bool {
    const METHODS: [&str; 39] = [
        "as_deref",
        "as_ref",
        "as_slice",
        "as_str",
        "borrow",
        "chain",
        "chunks",
        "chunks_exact",
        "deref",
        "enumerate",
        "expect",
        "filter",
        "find",
        "first",
        "get",
        "into_iter",
        "iter",
        "keys",
        "last",
        "lines",
        "next",
        "next_back",
        "nth",
        "peekable",
        "rev",
        "skip",
        "skip_while",
        "split",
        "split_at",
        "split_first",
        "split_last",
        "split_whitespace",
        "step_by",
        "strip_prefix",
        "take",
        "take_while",
        "unwrap",
        "values",
        "windows",
    ];
    METHODS.contains(&method.to_string().as_str())
}

/// Whether what a pattern binds in an expression, of references to outside, are references again: it is a reference,
/// or what a method of the library makes of one. A method of the user's may yield anything.
fn yields_references(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Reference(e) => e.mutability.is_none(),
        Expr::Paren(e) => yields_references(&e.expr),
        Expr::Group(e) => yields_references(&e.expr),
        Expr::Try(e) => yields_references(&e.expr),
        // A local that lives in place.
        Expr::Unary(e) => matches!(&*e.expr, Expr::MethodCall(call) if call.method == "share"),
        Expr::Tuple(e) => e.elems.iter().all(yields_references),
        Expr::MethodCall(e) => {
            yields_reference(&e.method)
                && (matches!(*e.receiver, Expr::Field(_) | Expr::Index(_)) || yields_references(&e.receiver))
        }
        _ => false,
    }
}

/// The parts of a pattern that bind copies nevertheless: behind a `&`, and the number that `enumerate` adds.
fn copied_by<'a>(pat: &'a Pat, scrutinee: &Expr) -> Vec<&'a Pat> {
    struct Scan<'a>(Vec<&'a Pat>);
    impl<'ast> Visit<'ast> for Scan<'ast> {
        fn visit_pat_reference(&mut self, pat: &'ast syn::PatReference) {
            self.0.push(&pat.pat);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut scan = Scan(Vec::new());
    scan.visit_pat(pat);
    if is_enumerated(scrutinee)
        && let Pat::Tuple(tuple) = pat
    {
        scan.0.extend(tuple.elems.first());
    }
    scan.0
}

/// Whether a chain of methods has an `enumerate` in it.
fn is_enumerated(chain: &Expr) -> bool {
    matches!(chain, Expr::MethodCall(call) if call.method == "enumerate" || is_enumerated(&call.receiver))
}

/// Whether a `let` plainly binds a shared reference.
fn is_plain_reference(pat: &Pat, init: &Expr) -> bool {
    matches!(pat, Pat::Type(t) if is_shared_reference(&t.ty))
        || matches!(init, Expr::Reference(r) if r.mutability.is_none())
}

/// `&T`: copied freely. (A `&mut` is a value that must not be moved while something borrows from it.)
pub(super) fn is_shared_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(r) if r.mutability.is_none())
}
