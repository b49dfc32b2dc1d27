//! Mentions of a variable, for what puts something else in their place.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    BinOp, Block, Expr, ExprIf, ExprPath, ExprStruct, Ident, Lit, Macro, Pat, PatType, Path, ReturnType,
    Signature, Stmt, Type, UnOp, parse_quote,
};

use crate::syntax::macro_variables::map_tokens;
use crate::syntax::walk::{self, At, Next};

/// A type without parentheses around it.
pub(crate) fn bare_type(ty: &Type) -> &Type {
    match ty {
        Type::Paren(t) => bare_type(&t.elem),
        Type::Group(t) => bare_type(&t.elem),
        _ => ty,
    }
}

/// What a type is, or refers to.
pub(crate) fn behind_references(ty: &Type) -> &Type {
    match bare_type(ty) {
        Type::Reference(r) => behind_references(&r.elem),
        ty => ty,
    }
}

/// Whether a type is one of this name alone.
pub(crate) fn is_type(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(p) if p.path.is_ident(name))
}

/// An expression without parentheses around it.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(e) => bare(&e.expr),
        Expr::Group(e) => bare(&e.expr),
        _ => expr,
    }
}

/// A pattern with a type.
pub(crate) fn typed(pat: Pat, ty: Type) -> Pat {
    let (pat, ty) = (Box::new(pat), Box::new(ty));
    Pat::Type(PatType { attrs: vec![], pat, colon_token: Default::default(), ty })
}

/// A pattern without its type.
pub(crate) fn untyped(pat: &Pat) -> &Pat {
    match pat {
        Pat::Type(t) => &t.pat,
        _ => pat,
    }
}

/// The last name of a path.
pub(crate) fn last_name(path: &Path) -> String {
    path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
}

/// As many names, with their numbers.
pub(crate) fn numbered(name: &str, count: usize) -> Vec<Ident> {
    (0..count).map(|i| Ident::new(&format!("{name}{i}"), Span::mixed_site())).collect()
}

/// The one name that an expression is.
pub(crate) fn name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(p) => p.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// What an expression assigns to, be it `x = y` or `x += y`, and what it takes for that.
pub(crate) fn assignment(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Assign(e) => Some((&e.left, &e.right)),
        Expr::Binary(e) if is_compound(&e.op) => Some((&e.left, &e.right)),
        _ => None,
    }
}

/// What an `if` does otherwise.
pub(crate) fn else_block(choice: &ExprIf) -> Option<Block> {
    choice.else_branch.as_ref().map(|(_, e)| match &**e {
        Expr::Block(e) if e.label.is_none() && e.attrs.is_empty() => e.block.clone(),
        e => parse_quote!({ #e }),
    })
}

/// Whether an expression is the variable of this name.
pub(crate) fn is_variable(expr: &Expr, name: &str) -> bool {
    match bare(expr) {
        Expr::Path(p) => p.qself.is_none() && p.path.get_ident().is_some_and(|i| i == name),
        _ => false,
    }
}

/// Whether a condition has patterns.
pub(crate) fn has_let(cond: &Expr) -> bool {
    match bare(cond) {
        Expr::Let(_) => true,
        Expr::Binary(e) => has_let(&e.left) || has_let(&e.right),
        _ => false,
    }
}

/// The bindings of a pattern, in order.
fn bindings(pat: &Pat) -> Vec<&syn::PatIdent> {
    let mut bindings = Vec::new();
    walk::each(pat, |at| match at {
        At::Pat(Pat::Ident(p)) => {
            bindings.push(p);
            Next::On
        }
        At::Expr(_) => Next::Past,
        _ => Next::On,
    });
    bindings
}

/// What a pattern binds by reference.
pub(crate) fn bound_by_ref(pat: &Pat) -> Vec<&Ident> {
    bindings(pat).into_iter().filter(|p| p.by_ref.is_some()).map(|p| &p.ident).collect()
}

/// The variables that a pattern binds, in order.
pub(crate) fn names(pat: &Pat) -> Vec<Ident> {
    let mut names: Vec<Ident> = Vec::new();
    for binding in bindings(pat) {
        if !names.contains(&binding.ident) {
            names.push(binding.ident.clone());
        }
    }
    names
}

/// The variables that the `let`s of a condition bind.
pub(crate) fn bound_by_condition(cond: &Expr) -> Vec<Ident> {
    match bare(cond) {
        Expr::Let(e) => names(&e.pat),
        Expr::Binary(e) if matches!(e.op, BinOp::And(_)) => {
            let mut all = bound_by_condition(&e.left);
            all.extend(bound_by_condition(&e.right));
            all
        }
        _ => vec![],
    }
}

/// The words of a piece of source text: its names, keywords and numbers.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// The names and keywords among tokens, in order.
pub(crate) fn idents(tokens: TokenStream) -> Vec<Ident> {
    let idents = tokens.into_iter().flat_map(|tree| match tree {
        TokenTree::Ident(ident) => vec![ident],
        TokenTree::Group(group) => idents(group.stream()),
        _ => vec![],
    });
    idents.collect()
}

/// The names and keywords among tokens, and the suffixes of literals, `0.5f64`.
pub(crate) fn words_and_suffixes(tokens: TokenStream) -> Vec<String> {
    let words = tokens.into_iter().flat_map(|tree| match tree {
        TokenTree::Ident(ident) => vec![ident.to_string()],
        TokenTree::Literal(lit) => vec![Lit::new(lit).suffix().to_owned()],
        TokenTree::Group(group) => words_and_suffixes(group.stream()),
        TokenTree::Punct(_) => vec![],
    });
    words.collect()
}

/// The names in the code that begin with two underscores.
pub(crate) fn reserved(tokens: TokenStream) -> Vec<Ident> {
    idents(tokens).into_iter().filter(|ident| ident.to_string().starts_with("__")).collect()
}

/// The path that a place is a part of, or behind; `None` if it is a part of a temporary.
pub(crate) fn base(place: &Expr) -> Option<&ExprPath> {
    match bare(place) {
        Expr::Path(p) => Some(p).filter(|p| p.qself.is_none()),
        Expr::Field(e) => base(&e.base),
        Expr::Index(e) => base(&e.expr),
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => base(&e.expr),
        _ => None,
    }
}

/// The variables that are changed where something is put in a place.
pub(crate) fn roots(place: &Expr) -> Vec<String> {
    match bare(place) {
        Expr::Field(e) => roots(&e.base),
        Expr::Index(e) => roots(&e.expr),
        Expr::Unary(e) => roots(&e.expr),
        Expr::Reference(e) => roots(&e.expr),
        Expr::MethodCall(e) => roots(&e.receiver),
        Expr::Tuple(e) => e.elems.iter().flat_map(roots).collect(),
        Expr::Path(p) => p.path.get_ident().map(|i| i.to_string()).into_iter().collect(),
        _ => vec![],
    }
}

/// Spells `S { x }` as `S { x: x }`, so that the variable can be replaced.
pub(crate) fn spell_out_fields(e: &mut ExprStruct) {
    for field in &mut e.fields {
        field.colon_token.get_or_insert_with(Default::default);
    }
}

/// Puts `inside`, in parentheses, in the place of a variable in a macro's tokens; format strings keep its name.
pub(crate) fn replace_in_macro(mac: &mut Macro, name: &str, inside: &TokenStream) {
    map_tokens(mac, &mut |tree, field| match tree {
        TokenTree::Ident(i) if !field && i == name => {
            TokenTree::Group(Group::new(Delimiter::Parenthesis, inside.clone()))
        }
        other => other,
    });
}

/// One line of source text for tokens, for `Display` and dot.
pub(crate) fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

/// The variable that a place is part of, if the place is a variable or a field of one, however deep.
pub(crate) fn root(place: &Expr) -> Option<&Expr> {
    let place = bare(place);
    match place {
        Expr::Path(_) => Some(place),
        Expr::Field(e) => root(&e.base),
        Expr::Unary(e) if matches!(e.op, UnOp::Deref(_)) => root(&e.expr),
        _ => None,
    }
}

pub(crate) fn tail(block: &syn::Block) -> Option<&Expr> {
    match block.stmts.last() {
        Some(Stmt::Expr(tail, None)) => Some(tail),
        _ => None,
    }
}

/// `a += b` and the like.
pub fn is_compound(op: &BinOp) -> bool {
    use BinOp::*;
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitXorAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

/// Whether an operator yields a truth value, whatever its operands are.
pub fn is_truth(op: &BinOp) -> bool {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(op, And(_) | Or(_) | Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}

/// `a / b`, `a % b`, `a /= b` and `a %= b`.
pub(crate) fn divides(op: &BinOp) -> bool {
    use BinOp::{Div, DivAssign, Rem, RemAssign};
    matches!(op, Div(_) | DivAssign(_) | Rem(_) | RemAssign(_))
}

/// The name of a type, behind references.
pub(crate) fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(p) => p.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(r) => type_name(&r.elem),
        _ => None,
    }
}

/// An `impl Trait` in a type.
pub(crate) fn find_impl(ty: &Type) -> Option<syn::TypeImplTrait> {
    walk::find(ty, |at| match at {
        At::Type(Type::ImplTrait(ty)) => Some(ty.clone()),
        _ => None,
    })
}

/// What a function yields, `()` where nothing is written.
pub(crate) fn output(sig: &Signature) -> Type {
    match &sig.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    }
}

/// A type that may be `Self`, which is `own`.
pub(crate) fn spelled_out<'t>(ty: &'t Type, own: Option<&'t Type>) -> &'t Type {
    own.filter(|_| matches!(ty, Type::Path(p) if p.path.is_ident("Self"))).unwrap_or(ty)
}

/// A mention of `Self`.
pub(crate) fn named_self(tokens: TokenStream) -> Option<Ident> {
    idents(tokens).into_iter().find(|ident| ident == "Self")
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn suffixes_are_words() {
        let words = words_and_suffixes(quote!(f64::MAX + 0.5_f64 * vec![1u8, 0x2f_u16] + "u64"));
        assert_eq!(
            words.join(" ").split_whitespace().collect::<Vec<_>>(),
            ["f64", "MAX", "f64", "vec", "u8", "u16"]
        );
    }

    #[test]
    fn tokens_that_name_fields_are_told() {
        let mut seen = Vec::new();
        let tokens = quote!(x.x, (x.0.x), 0..x, x..=y, P { x: x, y, x: x::y }, { x::y });
        let mut mac: Macro = syn::parse_quote!(known!(#tokens));
        map_tokens(&mut mac, &mut |tree, field| {
            if let TokenTree::Ident(ident) = &tree {
                seen.push((ident.to_string(), field));
            }
            tree
        });
        let spelled = tokens.to_string().replace(", y ,", ", y : y ,");
        assert_eq!(mac.tokens.to_string(), spelled);
        let known = [0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0].map(|field| field == 1);
        let fields: Vec<bool> = seen.iter().map(|(_, field)| *field).collect();
        assert_eq!(fields, known, "{seen:?}");
    }

    #[test]
    fn strings_that_are_formatted_are_told() {
        let formatted = |mut mac: Macro| {
            let mut seen = Vec::new();
            map_tokens(&mut mac, &mut |tree, field| {
                if let TokenTree::Literal(lit) = &tree {
                    seen.extend((!field).then(|| lit.to_string()));
                }
                tree
            });
            seen.concat()
        };
        assert_eq!(formatted(syn::parse_quote!(print!("a", "b", f("c")))), r#""a""#);
        assert_eq!(formatted(syn::parse_quote!(assert_eq!("a", "b", "c"))), r#""c""#);
        assert_eq!(
            formatted(syn::parse_quote!(write!(f("a"), "b{}{}", format!("c", "d"), !("e")))),
            r#""b{}{}""c""#
        );
        assert_eq!(
            formatted(syn::parse_quote!(vec![
                "a",
                std::format!("b"),
                if !("c") {
                    "d"
                }
            ])),
            r#""b""#
        );
        assert_eq!(formatted(syn::parse_quote!(unknown!(x => "a", ("b")))), r#""a""b""#);
    }

    #[test]
    fn fields_are_spelled_out() {
        let mapped = |tokens: TokenStream| {
            let mut mac: Macro = syn::parse_quote!(known!(#tokens));
            map_tokens(&mut mac, &mut |tree, _| tree);
            mac.tokens.to_string()
        };
        assert_eq!(mapped(quote!([P { x, y: 1 }])), quote!([P { x: x, y: 1 }]).to_string());
        for same in [quote!(if a == B { x } else { y }), quote!({ x }), quote!(P { x: y, ..z })] {
            assert_eq!(mapped(same.clone()), same.to_string());
        }
    }

    #[test]
    fn parentheses_are_looked_through() {
        assert!(is_variable(&syn::parse_quote!((x)), "x"));
        assert!(!is_variable(&syn::parse_quote!(x.x), "x") && !is_variable(&syn::parse_quote!(a::x), "x"));
    }
}
