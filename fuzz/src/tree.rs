//! Programs as trees of text: what is printed, with enough structure to make it smaller.

use std::fmt::Write;

use crate::types::{Defs, Ty};

/// What a part of a program is, for the shrinker.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// An expression of a type: it may be replaced by another of that type.
    Expr(Ty),
    /// A statement: it may be left out, or replaced by the statements in it.
    Stmt,
    /// Stays as it is, because the program would not end otherwise; its parts may change.
    Fixed,
}

/// A piece of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// What it consists of, in order.
    pub parts: Vec<Part>,
}

/// A part of a [`Node`].
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Source text.
    Text(String),
    /// A nested piece.
    Node(Node),
    /// The statements of a block, without its braces.
    List(Vec<Node>),
}

impl From<&str> for Part {
    fn from(text: &str) -> Part {
        Part::Text(text.into())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::Text(text)
    }
}

impl From<&String> for Part {
    fn from(text: &String) -> Part {
        Part::Text(text.clone())
    }
}

impl From<Node> for Part {
    fn from(node: Node) -> Part {
        Part::Node(node)
    }
}

impl From<Vec<Node>> for Part {
    fn from(list: Vec<Node>) -> Part {
        Part::List(list)
    }
}

/// An expression: `expr!(ty; "(", left, " + ", right, ")")`.
macro_rules! expr {
    ($ty:expr; $($part:expr),* $(,)?) => {
        $crate::tree::Node {
            kind: $crate::tree::Kind::Expr($ty.clone()),
            parts: vec![$($crate::tree::Part::from($part)),*],
        }
    };
}

/// A statement.
macro_rules! stmt {
    ($($part:expr),* $(,)?) => {
        $crate::tree::Node {
            kind: $crate::tree::Kind::Stmt,
            parts: vec![$($crate::tree::Part::from($part)),*],
        }
    };
}

/// A piece that is neither left out nor replaced.
macro_rules! fixed {
    ($($part:expr),* $(,)?) => {
        $crate::tree::Node {
            kind: $crate::tree::Kind::Fixed,
            parts: vec![$($crate::tree::Part::from($part)),*],
        }
    };
}

pub(crate) use {expr, fixed, stmt};

impl Node {
    /// Appends the source text, indented by `depth`.
    pub fn print(&self, depth: usize, to: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => to.push_str(text),
                Part::Node(node) => node.print(depth, to),
                Part::List(list) => {
                    to.push('\n');
                    for stmt in list {
                        indent(depth + 1, to);
                        stmt.print(depth + 1, to);
                        to.push('\n');
                    }
                    indent(depth, to);
                }
            }
        }
    }

    /// The number of pieces in it, itself included.
    pub fn size(&self) -> usize {
        1 + self
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(_) => 0,
                Part::Node(node) => node.size(),
                Part::List(list) => list.iter().map(Node::size).sum(),
            })
            .sum::<usize>()
    }

    /// Whether its text, without nested pieces, is only `text`.
    pub fn is_text(&self, text: &str) -> bool {
        matches!(&self.parts[..], [Part::Text(only)] if only == text)
    }
}

fn indent(depth: usize, to: &mut String) {
    for _ in 0..depth {
        to.push_str("    ");
    }
}

/// How a parameter is handed over in the batched call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// `x: T`, a value per member.
    Each,
    /// `fuel: u32`, how deep the recursion may go.
    Fuel,
    /// `#[shared] x: T`.
    SharedValue,
    /// `x: &T` or `&[T]`, the same for all members.
    SharedRef,
    /// `#[each] x: &[T]`, a slice per member.
    EachSlice,
    /// `#[each] x: &T`, a value per member.
    EachRef,
    /// `x: &mut T`.
    State,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name; `self` for a receiver.
    pub name: String,
    /// How it is passed.
    pub passing: Passing,
    /// The type of the value: `T` also where the parameter is a reference, `Slice(T)` or `States` for slices.
    pub ty: Ty,
    /// Declared `mut`.
    pub mutable: bool,
}

/// Where a method stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Owner {
    /// The type whose `impl` block it is.
    pub ty: Ty,
    /// Whether the block implements a trait of the program.
    pub of_trait: bool,
}

impl Owner {
    /// The trait's name: those that hold themselves have one of their own.
    fn trait_name(&self) -> &'static str {
        if self.ty == Ty::Tree { "T1" } else { "T0" }
    }
}

/// A function of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The type that it is a method or an associated function of.
    pub owner: Option<Owner>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// What it returns.
    pub ret: Ty,
    /// Whether the batch calls it.
    pub entry: bool,
    /// Its statements and its value.
    pub body: Node,
}

/// What the attribute stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A single function.
    Function,
    /// A module of functions.
    Module,
    /// The methods of a type.
    Impl,
}

/// A program: the types and functions that the attribute sees together.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What it was made from.
    pub seed: u64,
    /// Where the attribute stands.
    pub form: Form,
    /// Its structs and enums.
    pub defs: Defs,
    /// The deepest recursion of its inputs.
    pub fuel: u32,
    /// Its functions.
    pub functions: Vec<Function>,
}

impl Program {
    /// The number of pieces, which shrinking lessens.
    pub fn size(&self) -> usize {
        self.functions.iter().map(|f| f.body.size() + 2).sum()
    }

    /// Whether the types stand in the module with the functions: where methods do.
    pub fn types_inside(&self) -> bool {
        self.form == Form::Module && self.functions.iter().any(|f| f.owner.is_some())
    }

    /// The items that a user would have written.
    pub fn source(&self, batched: bool) -> String {
        let attribute = if batched { "#[autobatch]\n" } else { "" };
        let mut text = String::new();
        if self.defs.lenders == Some(true) {
            text.push_str(include_str!("lend.rs"));
        }
        if self.defs.generics {
            text.push_str(include_str!("generics.rs"));
        }
        if self.defs.choices {
            text.push_str(include_str!("choices.rs"));
        }
        if !self.types_inside() {
            text.push_str(&self.defs.print());
        }
        match self.form {
            Form::Function => {
                text.push_str(attribute);
                self.functions.iter().for_each(|f| f.print(self, batched, 0, &mut text));
            }
            Form::Module => {
                text.push_str(attribute);
                text.push_str("pub mod program {\n    use super::*;\n");
                if self.types_inside() {
                    text.push_str(&self.defs.print());
                }
                self.print_traits(&mut text);
                for (f, function) in self.functions.iter().enumerate() {
                    match &function.owner {
                        None => function.print(self, batched, 1, &mut text),
                        // One block for all of an owner, where the first of them stands.
                        owner if self.functions[..f].iter().all(|other| other.owner != *owner) => {
                            self.print_block(owner.as_ref(), batched, &mut text);
                        }
                        _ => {}
                    }
                }
                text.push_str("}\n");
                if self.types_inside() {
                    text.push_str("use program::*;\n");
                }
            }
            Form::Impl => {
                self.print_traits(&mut text);
                text.push_str(attribute);
                let owner = self.functions.first().and_then(|f| f.owner.clone());
                self.print_block(owner.as_ref(), batched, &mut text);
            }
        }
        text
    }

    /// The traits that something implements: what functions of two types share stands there once.
    fn print_traits(&self, to: &mut String) {
        for name in ["T0", "T1"] {
            let own = |f: &&Function| {
                f.owner.as_ref().is_some_and(|owner| owner.of_trait && owner.trait_name() == name)
            };
            let all: Vec<&Function> = self.functions.iter().filter(own).collect();
            if all.is_empty() {
                continue;
            }
            let _ = writeln!(to, "pub trait {name} {{");
            for (i, f) in all.iter().enumerate() {
                if all[..i].iter().all(|other| other.name != f.name) {
                    f.print_signature(self, false, true, 1, to);
                    to.push_str(";\n");
                }
            }
            to.push_str("}\n");
        }
    }

    /// An `impl` block.
    fn print_block(&self, owner: Option<&Owner>, batched: bool, to: &mut String) {
        let Some(owner) = owner else { return };
        let of = if owner.of_trait { format!("{} for ", owner.trait_name()) } else { String::new() };
        let _ = writeln!(to, "impl {of}{} {{", self.defs.name(&owner.ty));
        let own = self.functions.iter().filter(|f| f.owner.as_ref() == Some(owner));
        own.for_each(|f| f.print(self, batched, 1, to));
        to.push_str("}\n");
    }
}

impl Function {
    fn print(&self, program: &Program, batched: bool, depth: usize, to: &mut String) {
        self.print_signature(program, batched, false, depth, to);
        to.push_str(" {");
        self.body.print(depth, to);
        to.push_str("}\n");
    }

    fn print_signature(
        &self,
        program: &Program,
        batched: bool,
        declared: bool,
        depth: usize,
        to: &mut String,
    ) {
        let name = |ty: &Ty| program.defs.name(ty);
        indent(depth, to);
        let of_trait = self.owner.as_ref().is_some_and(|owner| owner.of_trait);
        if self.entry && !of_trait {
            to.push_str("pub ");
        }
        let _ = write!(to, "fn {}(", self.name);
        for (i, param) in self.params.iter().enumerate() {
            if i > 0 {
                to.push_str(", ");
            }
            if batched && self.entry {
                match param.passing {
                    Passing::SharedValue => to.push_str("#[shared] "),
                    Passing::EachSlice | Passing::EachRef => to.push_str("#[each] "),
                    _ => {}
                }
            }
            if param.mutable && !declared {
                to.push_str("mut ");
            }
            let ty = name(&param.ty);
            let _ = match (param.name.as_str(), param.passing) {
                ("self", Passing::State) => write!(to, "&mut self"),
                ("self", Passing::SharedRef) => write!(to, "&self"),
                ("self", _) => write!(to, "self"),
                (name, Passing::State) => write!(to, "{name}: &mut {ty}"),
                (name, Passing::SharedRef | Passing::EachSlice | Passing::EachRef) => {
                    write!(to, "{name}: &{ty}")
                }
                (name, _) => write!(to, "{name}: {ty}"),
            };
        }
        to.push(')');
        if self.ret != Ty::Unit {
            let _ = write!(to, " -> {}", name(&self.ret));
        }
    }
}
