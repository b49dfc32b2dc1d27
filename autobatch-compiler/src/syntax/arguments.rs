//! The arguments of `#[autobatch(…)]`.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Ident, Lit, LitStr, Path, Token, parse_quote};

use crate::diagnostics::messages;
use crate::diagnostics::sink::Diagnostics;

/// What the attribute's arguments say.
#[derive(Clone)]
pub struct Args {
    /// `name = "…"`: the name of the batched function.
    pub name: Option<LitStr>,
    /// `crate = path`: where the facade crate is found.
    pub krate: Path,
    /// `vector_math`: replace transcendental functions by vectorisable ones.
    pub vector_math: bool,
    /// `strict`: a place that would run scalar code is a compile error.
    pub strict: bool,
    /// `strict = "fibers"`: but not where the members run on fibers.
    pub fibers_will_do: bool,
    /// Whether the functions, or the arguments, name a primitive: so they may reach one.
    pub names_primitives: bool,
    /// `primitives(path, …)`: functions with a batched kernel, as the code calls them; those that stand beside the item, too.
    pub primitives: Vec<Path>,
    /// `fuse = false`: keep every branch a block of its own.
    pub fuse: bool,
    /// `executor = Masked`.
    pub executor: Option<Ident>,
    /// `schedule = MostLanes`.
    pub schedule: Option<Ident>,
    /// `lanes = 64`.
    pub lanes: Option<Expr>,
    /// `max_depth = 1000`.
    pub max_depth: Option<Expr>,
}

impl Default for Args {
    fn default() -> Self {
        Args {
            name: None,
            krate: parse_quote!(::autobatch),
            vector_math: false,
            strict: false,
            fibers_will_do: false,
            names_primitives: false,
            primitives: Vec::new(),
            fuse: true,
            executor: None,
            schedule: None,
            lanes: None,
            max_depth: None,
        }
    }
}

const KEYS: [&str; 10] = [
    "name",
    "crate",
    "strict",
    "vector_math",
    "primitives",
    "fuse",
    "executor",
    "schedule",
    "lanes",
    "max_depth",
];
const EXECUTORS: [&str; 4] = ["Auto", "Masked", "ProgramCounter", "Scalar"];
const SCHEDULES: [&str; 2] = ["EarliestBlock", "MostLanes"];

/// One `key`, `key = value` or `key(list)`; the value's tokens are checked by [`Args::set`].
struct Arg {
    key: Ident,
    value: Option<TokenStream>,
    list: Option<TokenStream>,
}

impl Parse for Arg {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let key = input.call(<Ident as syn::ext::IdentExt>::parse_any)?;
        let mut value = None;
        if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            let list = content.parse()?;
            return Ok(Arg { key, value: None, list: Some(list) });
        }
        if input.parse::<Option<Token![=]>>()?.is_some() {
            let mut tokens = TokenStream::new();
            while !input.is_empty() && !input.peek(Token![,]) {
                tokens.extend([input.parse::<proc_macro2::TokenTree>()?]);
            }
            value = Some(tokens);
        }
        Ok(Arg { key, value, list: None })
    }
}

impl Args {
    /// Parses the tokens between the attribute's parentheses, reporting every problem.
    pub fn parse(tokens: TokenStream, diag: &mut Diagnostics) -> Args {
        let mut args = Args::default();
        let parser = syn::punctuated::Punctuated::<Arg, Token![,]>::parse_terminated;
        let list = match parser.parse2(tokens) {
            Ok(list) => list,
            Err(error) => {
                diag.error_at(error.span(), messages::not_a_list(&error));
                return args;
            }
        };
        let mut seen: Vec<String> = Vec::new();
        for arg in list {
            let key = arg.key.to_string();
            if seen.contains(&key) {
                diag.error(&arg.key, messages::argument_twice(&key));
            }
            seen.push(key);
            args.set(arg, diag);
        }
        args
    }

    /// The crate's path as seen from a module next to the user's item.
    pub fn crate_from_module(&self) -> Path {
        let first = self.krate.segments.first().map(|s| s.ident.to_string());
        let mut path = self.krate.clone();
        match first.as_deref() {
            _ if path.leading_colon.is_some() => {}
            Some("crate") | None => {}
            Some("self") => path.segments[0].ident = Ident::new("super", Span::call_site()),
            Some(_) => path.segments.insert(0, parse_quote!(super)),
        }
        path
    }

    fn set_primitives(&mut self, key: &Ident, list: TokenStream, diag: &mut Diagnostics) {
        let parser = syn::punctuated::Punctuated::<Path, Token![,]>::parse_terminated;
        match parser.parse2(list) {
            Ok(paths) if !paths.is_empty() => self.primitives.extend(paths),
            none => diag.error_at(
                none.map_or_else(|error| error.span(), |_| key.span()),
                messages::PRIMITIVES_WITHOUT_PATHS,
            ),
        }
    }

    fn set(&mut self, arg: Arg, diag: &mut Diagnostics) {
        let Arg { key, value, list } = arg;
        if key == "primitives" {
            return self.set_primitives(&key, list.or(value).unwrap_or_default(), diag);
        }
        if list.is_some() {
            let known = KEYS.iter().any(|known| key == known);
            let message =
                if known { messages::argument_with_a_list(&key) } else { messages::unknown_argument(&key) };
            return diag.error(&key, message);
        }
        match (key.to_string().as_str(), value) {
            ("strict", None) => self.strict = true,
            ("vector_math", None) => self.vector_math = true,
            ("strict", Some(value)) => match syn::parse2::<LitStr>(value.clone()) {
                Ok(word) if word.value() == "fibers" => (self.strict, self.fibers_will_do) = (true, true),
                _ => diag.error(&value, messages::STRICT_VALUE),
            },
            ("vector_math", Some(value)) => diag.error(&value, messages::VECTOR_MATH_VALUE),
            ("name", Some(value)) => match syn::parse2::<LitStr>(value.clone()) {
                Ok(name) if syn::parse_str::<Ident>(&name.value()).is_ok() => self.name = Some(name),
                _ => diag.error(&value, messages::NAME_VALUE),
            },
            ("crate", Some(value)) => match syn::parse2::<Path>(value.clone()) {
                Ok(path) => self.krate = path,
                Err(_) => diag.error(&value, messages::CRATE_VALUE),
            },
            ("fuse", Some(value)) => match syn::parse2::<syn::LitBool>(value.clone()) {
                Ok(fuse) => self.fuse = fuse.value,
                Err(_) => diag.error(&value, messages::FUSE_VALUE),
            },
            ("executor", Some(value)) => choose(&value, "executor", &EXECUTORS, &mut self.executor, diag),
            ("schedule", Some(value)) => choose(&value, "schedule", &SCHEDULES, &mut self.schedule, diag),
            ("lanes", Some(value)) => positive(&value, "lanes", &mut self.lanes, diag),
            ("max_depth", Some(value)) => positive(&value, "max_depth", &mut self.max_depth, diag),
            ("name" | "crate" | "fuse" | "executor" | "schedule" | "lanes" | "max_depth", None) => {
                diag.error(&key, messages::argument_without_a_value(&key));
            }
            _ => diag.error(&key, messages::unknown_argument(&key)),
        }
    }
}

/// A value out of a fixed list, with or without its enum's path.
fn choose(value: &TokenStream, key: &str, known: &[&str], slot: &mut Option<Ident>, diag: &mut Diagnostics) {
    let path = syn::parse2::<Path>(value.clone()).ok();
    match path.and_then(|path| Some(path.segments.last()?.ident.clone())) {
        Some(ident) if known.contains(&ident.to_string().as_str()) => *slot = Some(ident),
        _ => diag.error(value, messages::unknown_value(key, value, known)),
    }
}

/// A positive integer literal, or a constant expression that rustc will check.
fn positive(value: &TokenStream, key: &str, slot: &mut Option<Expr>, diag: &mut Diagnostics) {
    let is_count = |lit: &Lit| matches!(lit, Lit::Int(n) if n.base10_parse::<u64>().is_ok_and(|n| n > 0));
    match syn::parse2::<Expr>(value.clone()) {
        Ok(expr)
            if !matches!(&expr, Expr::Unary(_)) && !matches!(&expr, Expr::Lit(e) if !is_count(&e.lit)) =>
        {
            *slot = Some(expr);
        }
        _ => diag.error(value, messages::not_positive(key)),
    }
}
