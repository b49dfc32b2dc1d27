//! Format strings: where they stand among a macro's arguments, and the names they capture.

use std::ops::Range;

use proc_macro2::{Ident, Literal, TokenTree};
use syn::Macro;

/// The position of the format string among the arguments of a standard macro.
fn position(name: &Ident) -> Option<usize> {
    Some(match name.to_string().trim_start_matches("debug_") {
        "format" | "format_args" | "print" | "println" | "eprint" | "eprintln" | "panic" | "todo"
        | "unimplemented" | "unreachable" => 0,
        "assert" | "write" | "writeln" => 1,
        "assert_eq" | "assert_ne" => 2,
        _ => return None,
    })
}

/// Whether a macro of that name is one of the library's that format.
pub(crate) fn is_known(name: &Ident) -> bool {
    position(name).is_some()
}

/// Which of a macro's tokens are format strings, told as one goes through them.
pub(crate) struct Formats {
    strings: Strings,
    argument: usize,
    /// Whether an argument begins here.
    begins: bool,
    /// The name of a macro, then that with its `!`, which stand before.
    named: Option<Ident>,
    called: Option<Ident>,
}

#[derive(Clone, Copy, PartialEq)]
enum Strings {
    /// The first from this argument on.
    From(usize),
    Nowhere,
    Anywhere,
}

impl Formats {
    /// For the arguments of a macro.
    pub(crate) fn of_macro(mac: &Macro) -> Self {
        mac.path.segments.last().map_or(Self::with(Strings::Anywhere), |last| Self::of(&last.ident))
    }

    fn of(mac: &Ident) -> Self {
        Self::with(match position(mac) {
            Some(position) => Strings::From(position),
            None if mac == "vec" || mac == "matches" => Strings::Nowhere,
            None => Strings::Anywhere,
        })
    }

    fn with(strings: Strings) -> Self {
        Formats { strings, argument: 0, begins: true, named: None, called: None }
    }

    /// Whether a literal is formatted, before this token.
    pub(crate) fn formatted(&mut self, next: Option<&TokenTree>) -> bool {
        let Strings::From(position) = self.strings else { return self.strings == Strings::Anywhere };
        let formatted =
            self.begins && next.is_none_or(|next| is_punct(next, ',')) && self.argument >= position;
        if formatted {
            self.strings = Strings::Nowhere;
        }
        formatted
    }

    /// Goes on behind a token; what holds inside of it, if that is a group.
    pub(crate) fn pass(&mut self, tree: &TokenTree) -> Self {
        let inside = match &self.called {
            Some(mac) => Self::of(mac),
            None if self.strings == Strings::Anywhere => Self::with(Strings::Anywhere),
            None => Self::with(Strings::Nowhere),
        };
        self.begins = is_punct(tree, ',');
        self.argument += usize::from(self.begins);
        self.called = self.named.take().filter(|_| is_punct(tree, '!'));
        self.named = match tree {
            // No keyword: `if !(…)`.
            TokenTree::Ident(ident) => syn::parse_str(&ident.to_string()).ok(),
            _ => None,
        };
        inside
    }
}

/// The names that a format string captures.
pub(crate) fn captures(format: &Literal) -> Vec<String> {
    let source = format.to_string();
    places(&source).into_iter().map(|place| source[place].to_string()).collect()
}

/// A format string with other names for those it captures, as far as there are any.
pub(crate) fn rename(format: Literal, new: impl Fn(&str) -> Option<String>) -> Literal {
    let mut source = format.to_string();
    let mut changed = false;
    for place in places(&source).into_iter().rev() {
        if let Some(name) = new(&source[place.clone()]) {
            source.replace_range(place, &name);
            changed = true;
        }
    }
    if !changed {
        return format;
    }
    let mut renamed: Literal = source.parse().expect("another name keeps the literal well formed");
    renamed.set_span(format.span());
    renamed
}

/// Where names stand in the source of a string: `{x}`, `{:x$.y$}`, not `{{x}}`, nor `\u{ab}`.
fn places(source: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    if !source.starts_with(['"', 'r']) {
        return places;
    }
    let escapes = source.starts_with('"');
    let mut at = 0;
    while let Some(found) = source[at..].find(['{', '\\']) {
        at += found;
        let rest = &source[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            at += 1 + match escaped.find('}') {
                Some(end) if escapes && escaped.starts_with("u{") => end + 1,
                _ if escapes => escaped.chars().next().map_or(0, char::len_utf8),
                _ => 0,
            };
            continue;
        }
        if rest.starts_with("{{") {
            at += 2;
            continue;
        }
        let Some(end) = rest.find('}') else { break };
        argument(&source[..at + end], at + 1, &mut places);
        at += end + 1;
    }
    places
}

/// The names in what stands in one pair of braces, `x:>width$.digits$`, from `start` on.
pub(crate) fn argument(source: &str, start: usize, places: &mut Vec<Range<usize>>) {
    let inside = &source[start..];
    let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
    if is_name(name.trim()) {
        places.push(start..start + name.trim_end().len());
    }
    let spec_start = source.len() - spec.len();
    for (dollar, _) in spec.match_indices('$') {
        let before = &spec[..dollar];
        let word = before
            .rfind(|c: char| !is_word(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        // A zero before a width asks for zeros.
        let word = word + usize::from(before[word..].starts_with('0'));
        if is_name(&before[word..]) {
            places.push(spec_start + word..spec_start + dollar);
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| is_word(c) && !c.is_numeric()) && text.chars().all(is_word)
}

pub(crate) fn is_punct(tree: &TokenTree, c: char) -> bool {
    matches!(tree, TokenTree::Punct(p) if p.as_char() == c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        captures(&source.parse().unwrap())
    }

    #[test]
    fn captured_names_are_found() {
        assert_eq!(names(r#""{x} {y:?} {z } {0} {}""#), ["x", "y", "z"]);
        assert_eq!(names(r#""{x:w$} {:>w$.p$} {:é<0w$} {0:1$}""#), ["x", "w", "w", "p", "w"]);
        assert_eq!(names(r##"r#"{x}\{y} "{z}""#"##), ["x", "y", "z"]);
    }

    #[test]
    fn what_only_looks_alike_is_not() {
        assert!(names(r#""{{x}} \u{ab} {{{{x}}}}""#).is_empty());
        assert_eq!(names(r#""{{{x}}} \\{y} \"{z}""#), ["x", "y", "z"]);
        assert!(names(r#"b"{x}""#).is_empty() && names("1.5").is_empty());
    }

    #[test]
    fn names_are_changed_in_place() {
        let new = |name: &str| (name != "y").then(|| format!("{name}_1"));
        let renamed = rename(r#""{{x}} {x:w$} {y}""#.parse().unwrap(), new);
        assert_eq!(renamed.to_string(), r#""{{x}} {x_1:w_1$} {y}""#);
    }
}
