//! Text and Graphviz forms of a program, for people.
//!
//! `Display` lists each function with its variables by storage class and its blocks: stack operations,
//! one op per line in source form, and how control leaves. [`dot`] draws the same, one cluster per
//! function. Unreachable blocks are left out, jumps to the exit block read `return`. Both depend on the
//! program only, never on hashing or addresses.

use std::fmt::{self, Write};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

use crate::ir::flow::Flow;
use crate::ir::{BlockId, FuncId, GOTO, Program, Terminator, VarId};
use crate::item::methods::shown_name;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flow = Flow::compute(self);
        for func in self.func_ids() {
            if func.0 > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}", signature(self, func))?;
            for (class, vars) in by_class(self, func) {
                writeln!(f, "  {class:<10}{}", vars.join(", "))?;
            }
            for b in flow.order[func.0].iter().filter(|b| !self.is_exit(**b)) {
                writeln!(f, "  {}", heading(self, *b))?;
                for line in lines(self, *b) {
                    writeln!(f, "    {line}")?;
                }
            }
        }
        if !self.order.is_empty() {
            let order: Vec<String> = self.order.iter().map(ToString::to_string).collect();
            writeln!(f, "\norder {}", order.join(" "))?;
        }
        Ok(())
    }
}

/// The program as a Graphviz graph, one cluster per function. Heads of regions have a bold frame; side
/// exits are dashed, calls dotted, the way on behind a call is bold.
pub fn dot(program: &Program) -> String {
    let flow = Flow::compute(program);
    let mut out = String::new();
    out.push_str("digraph program {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n");
    out.push_str("  edge [fontname=\"monospace\", fontsize=9];\n");
    for func in program.func_ids() {
        let title = escape(&signature(program, func));
        let _ = writeln!(out, "  subgraph cluster_{func} {{\n    label=\"{title}\";");
        for b in &flow.order[func.0] {
            let _ = match program.is_exit(*b) {
                true => writeln!(out, "    {b} [shape=oval, label=\"return\"];"),
                false => {
                    let mut label = format!("{}\\l", escape(&heading(program, *b)));
                    for line in code(program, *b) {
                        label.push_str(&escape(&shortened(&line)));
                        label.push_str("\\l");
                    }
                    let frame = if program.is_head(*b) { ", penwidth=2" } else { "" };
                    writeln!(out, "    {b} [label=\"{label}\"{frame}];")
                }
            };
        }
        out.push_str("  }\n");
    }
    for b in flow.blocks() {
        for (target, label, style) in arrows(program, b) {
            let _ = writeln!(out, "  {b} -> {target} [label=\"{}\"{style}];", escape(&shortened(&label)));
        }
    }
    out.push_str("}\n");
    out
}

/// `fn f(m, n) -> u64 (f0, recursive)`.
fn signature(program: &Program, func: FuncId) -> String {
    let function = program.func(func);
    let params: Vec<String> = function.params.iter().map(|v| program.name(*v)).collect();
    let mut text =
        format!("fn {}({}) -> {}", shown_name(&function.name), params.join(", "), source(&function.output));
    if function.recursive {
        text.push_str(", recursive");
    }
    if program.functions.iter().filter(|f| f.group == function.group).count() > 1 {
        let _ = write!(text, ", tail-call group {}", function.group);
    }
    text
}

/// The function's variables by class, empty classes left out.
fn by_class(program: &Program, func: FuncId) -> Vec<(&'static str, Vec<String>)> {
    let names = |class: &str| {
        let vars = program.vars_of(func).filter(|v| program.var(*v).class.name() == class);
        vars.map(|v| program.name(v)).collect::<Vec<_>>()
    };
    let classes = ["stacked", "register", "uniform", "temporary", "null"];
    classes.map(|class| (class, names(class))).into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

fn list(program: &Program, vars: &[VarId]) -> String {
    vars.iter().map(|v| program.name(*v)).collect::<Vec<_>>().join(", ")
}

/// `b3 after call`, `b4 (part of b3) then`.
fn heading(program: &Program, b: BlockId) -> String {
    let block = program.block(b);
    let part = if program.is_head(b) { String::new() } else { format!(" (part of {})", block.region) };
    format!("{b}{part} {}", block.label)
}

/// What the block does, without the way out.
pub(crate) fn code(program: &Program, b: BlockId) -> Vec<String> {
    let block = program.block(b);
    let mut lines = Vec::new();
    let moved = |all: &[(&str, &Vec<VarId>)]| {
        let some = all.iter().filter(|(_, vars)| !vars.is_empty());
        some.map(|(what, vars)| format!("{what} {}", list(program, vars))).collect::<Vec<_>>()
    };
    lines.extend(moved(&[("pop", &block.pops), ("read", &block.reads)]));
    for op in &block.ops {
        lines.extend(op.code.iter().map(source));
    }
    if let Terminator::Call(call) = &block.term {
        lines.extend(moved(&[("push", &call.pushes), ("update", &call.updates), ("keep", &call.keeps)]));
    }
    lines
}

fn lines(program: &Program, b: BlockId) -> Vec<String> {
    let mut lines = code(program, b);
    let to =
        |target: &BlockId| if program.is_exit(*target) { "return".to_string() } else { target.to_string() };
    match &program.block(b).term {
        // It may say what is returned.
        Terminator::Jump(target)
            if program.is_exit(*target) && lines.last().is_some_and(|line| line.starts_with("return")) => {}
        Terminator::Jump(target) if program.is_exit(*target) => lines.push("return".into()),
        Terminator::Jump(target) => lines.push(format!("jump {target}")),
        Terminator::Branch { cond, then, otherwise, .. } => {
            lines.push(format!("if {} {{ {} }} else {{ {} }}", source(cond), to(then), to(otherwise)));
        }
        Terminator::Switch { scrutinee, arms, .. } => {
            lines.push(format!("match {}", source(scrutinee)));
            for arm in arms {
                let guard = arm.guard.as_ref().map(|g| format!(" if {}", source(g))).unwrap_or_default();
                lines.push(format!("  {}{guard} => {}", source(&arm.pat), to(&arm.target)));
            }
        }
        Terminator::Call(call) => {
            let (dest, callee) = (program.name(call.dest), shown_name(&program.func(call.callee).name));
            lines.push(format!("{dest} = {callee}({}), then {}", list(program, &call.args), to(&call.cont)));
        }
        Terminator::TailCall { callee, args, .. } => {
            lines.push(format!(
                "become {}({})",
                shown_name(&program.func(*callee).name),
                list(program, args)
            ));
        }
        Terminator::Return => lines.push("return".into()),
        Terminator::Unreachable => lines.push("unreachable".into()),
    }
    lines
}

/// Edges out of a block: target, label, attributes.
fn arrows(program: &Program, b: BlockId) -> Vec<(BlockId, String, &'static str)> {
    let block = program.block(b);
    let mut arrows = Vec::new();
    for op in &block.ops {
        arrows.extend(op.exits.iter().map(|exit| (*exit, String::new(), ", style=dashed")));
    }
    match &block.term {
        Terminator::Jump(target) => arrows.push((*target, String::new(), "")),
        Terminator::Branch { cond, then, otherwise, .. } => {
            arrows.push((*then, source(cond), ""));
            arrows.push((*otherwise, "else".into(), ""));
        }
        Terminator::Switch { arms, .. } => {
            arrows.extend(arms.iter().map(|arm| (arm.target, source(&arm.pat), "")));
        }
        Terminator::Call(call) => {
            let callee = program.func(call.callee);
            let label = format!("{}({})", callee.name, list(program, &call.args));
            arrows.push((callee.entry, label, ", style=dotted, constraint=false"));
            arrows.push((call.cont, format!("{} =", program.name(call.dest)), ", style=bold"));
        }
        Terminator::TailCall { callee, args, .. } => {
            let callee = program.func(*callee);
            let label = format!("become {}({})", callee.name, list(program, args));
            arrows.push((callee.entry, label, ", style=dotted, constraint=false"));
        }
        Terminator::Return | Terminator::Unreachable => {}
    }
    arrows
}

fn shortened(line: &str) -> String {
    const WIDTH: usize = 60;
    if line.chars().count() <= WIDTH {
        return line.into();
    }
    let mut short: String = line.chars().take(WIDTH - 1).collect();
    short.push('…');
    short
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

/// Tokens in one line, spaced about as rustfmt would; jump markers as `goto b3`.
pub fn source(tokens: &impl ToTokens) -> String {
    let mut printer = Printer { out: String::new(), last: Last::Open, angles: 0, bars: false };
    printer.tokens(tokens.to_token_stream());
    printer.out.trim_end().to_string()
}

/// What the printer wrote last, as far as the next space depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing, or an opening delimiter.
    Open,
    /// A value could end here: identifier, literal, closing delimiter.
    Value,
    /// A word after which an operand follows.
    Keyword,
    /// An operator that wants a space behind it.
    Operator,
    /// A prefix, a path separator or a dot: the next token follows without a space.
    Tight,
}

struct Printer {
    out: String,
    last: Last,
    /// Open `<` of generics.
    angles: usize,
    /// Inside the parameters of a closure.
    bars: bool,
}

impl Printer {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(tree) = tokens.next() {
            match tree {
                TokenTree::Ident(ident) if ident == GOTO => {
                    let target = tokens.by_ref().find_map(|tree| match tree {
                        TokenTree::Group(group) => Some(group.stream().to_string()),
                        _ => None,
                    });
                    self.put(&format!("goto b{}", target.unwrap_or_default()), true, Last::Value);
                }
                TokenTree::Ident(ident) => {
                    let ident = ident.to_string();
                    let kind = if is_keyword(&ident) { Last::Keyword } else { Last::Value };
                    self.put(&ident, true, kind);
                }
                TokenTree::Literal(literal) => self.put(&literal.to_string(), true, Last::Value),
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Punct(punct) => {
                    let mut operator = punct.as_char().to_string();
                    let mut joint = punct.spacing() == proc_macro2::Spacing::Joint;
                    while joint && let Some(TokenTree::Punct(next)) = tokens.peek() {
                        operator.push(next.as_char());
                        if !OPERATORS.contains(&operator.as_str()) {
                            operator.pop();
                            break;
                        }
                        joint = next.spacing() == proc_macro2::Spacing::Joint;
                        tokens.next();
                    }
                    self.operator(&operator);
                }
            }
        }
    }

    fn group(&mut self, delimiter: Delimiter, inner: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        let brace = delimiter == Delimiter::Brace;
        if !matches!(self.last, Last::Open | Last::Tight) && (brace || self.last != Last::Value) {
            self.space();
        }
        let empty = inner.is_empty();
        self.out.push_str(open);
        self.last = Last::Open;
        if brace && !empty {
            self.space();
        }
        self.tokens(inner);
        if brace && !empty {
            self.space();
        }
        self.out.push_str(close);
        self.last = Last::Value;
    }

    fn operator(&mut self, operator: &str) {
        let operand_follows = self.last != Last::Value;
        match operator {
            "," | ";" => self.put(operator, false, Last::Operator),
            ":" => self.put(":", false, Last::Operator),
            "." | "?" => self.put(operator, false, if operator == "?" { Last::Value } else { Last::Tight }),
            "::" | "'" | ".." | "..=" | "#" => {
                let path_goes_on = matches!(operator, "::" | ".." | "..=") && !operand_follows;
                self.put(operator, !path_goes_on && operand_follows, Last::Tight);
            }
            "!" if !operand_follows => self.put("!", false, Last::Value),
            "!" | "-" | "*" | "&" | "&&" if operand_follows => self.put(operator, true, Last::Tight),
            "|" if operand_follows && !self.bars => {
                self.bars = true;
                self.put("|", true, Last::Tight);
            }
            "|" if self.bars => {
                self.bars = false;
                self.put("|", false, Last::Operator);
            }
            "<" if self.opens_generics() => {
                self.angles += 1;
                self.put("<", false, Last::Tight);
            }
            ">" if self.angles > 0 => {
                self.angles -= 1;
                self.put(">", false, Last::Value);
            }
            _ => self.put(operator, true, Last::Operator),
        }
    }

    /// Whether `<` stands behind a path separator or a type's name.
    fn opens_generics(&self) -> bool {
        let word = self.out.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
        self.out.ends_with("::") || (self.last == Last::Value && word.starts_with(|c: char| c.is_uppercase()))
    }

    fn put(&mut self, operator: &str, before: bool, kind: Last) {
        if before && !matches!(self.last, Last::Open | Last::Tight) {
            self.space();
        }
        self.out.push_str(operator);
        self.last = kind;
    }

    fn space(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
    }
}

const OPERATORS: [&str; 24] = [
    "::", "..", "..=", "...", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "%=",
    "^=", "&=", "|=", "<<", ">>", "<<=", ">>=",
];

fn is_keyword(word: &str) -> bool {
    const WORDS: [&str; 16] = [
        "as", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let", "match", "move", "mut",
        "ref", "return", "while",
    ];
    WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::testing::{EVEN_ODD, FIB, PEA_NUTS, analysed};
    use quote::quote;

    #[test]
    fn tokens_read_like_source() {
        let cases = [
            (quote!(let mut t: Vec<f64> = vec![-1.0, 2.0];), "let mut t: Vec<f64> = vec![-1.0, 2.0];"),
            (
                quote!(if !done && a[i + 1] < *b {
                    x -= 1;
                }),
                "if !done && a[i + 1] < *b { x -= 1; }",
            ),
            (quote!(it.map(|x| x * 2).sum::<u64>()?), "it.map(|x| x * 2).sum::<u64>()?"),
            (
                quote!(for i in 0..n {
                    f(&mut s, -i);
                }),
                "for i in 0..n { f(&mut s, -i); }",
            ),
            (quote!(let ::core::option::Option::Some(x) = y), "let ::core::option::Option::Some(x) = y"),
            (quote!(return Point { x: 1 as f64, y }), "return Point { x: 1 as f64, y }"),
            (quote!(x: &'a str), "x: &'a str"),
        ];
        for (tokens, expected) in cases {
            assert_eq!(source(&tokens), expected);
        }
        let jump = crate::ir::goto(BlockId(3));
        assert_eq!(source(&quote!(if c { #jump })), "if c { goto b3 }");
    }

    #[test]
    fn fib() {
        let (program, ..) = analysed(FIB);
        let expected = "\
fn fib(n) -> i64, recursive
  stacked   n, left
  register  result, right
  temporary t1, t2
  b0 entry
    if n <= 1 { b1 } else { b2 }
  b1 (part of b0) block
    let result = 1;
    return
  b2 (part of b0) block
    let t1 = n - 2;
    push n
    left = fib(t1), then b3
  b3 block
    pop n
    let t2 = n - 1;
    push left
    right = fib(t2), then b4
  b4 block
    pop left
    let result = left + right;
    return

order b0 b3 b4
";
        assert_eq!(program.to_string(), expected);
    }

    #[test]
    fn dot_is_balanced_and_draws_every_block() {
        for source in [FIB, EVEN_ODD, PEA_NUTS] {
            let (program, ..) = analysed(source);
            let text = dot(&program);
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
            assert_eq!(text.matches("subgraph cluster_").count(), program.functions.len());
            for b in program.block_ids() {
                assert!(text.contains(&format!("    {b} [")), "{b} in {text}");
            }
        }
    }

    /// Renders with Graphviz where it is installed.
    #[test]
    fn dot_renders() {
        let (program, ..) = analysed(&FIB.replace("n - 2;", "n - 2; panic!(\"\\\\ {} \\\"quoted\\\"\", n);"));
        let file = std::env::temp_dir().join(format!("autobatch-{}.dot", std::process::id()));
        std::fs::write(&file, dot(&program)).unwrap();
        if let Ok(output) = std::process::Command::new("dot").arg("-Tsvg").arg(&file).output() {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(String::from_utf8_lossy(&output.stdout).contains("</svg>"));
        }
        std::fs::remove_file(&file).unwrap();
    }
}
