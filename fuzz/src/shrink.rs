//! Makes a failing program small.

use std::io;

use crate::tree::{Kind, Node, Part, Program};
use crate::types::{Defs, Ty};
use crate::workbench::{COMPILES_NOT, Workbench};

/// Programs compiled at once.
const AT_ONCE: usize = 48;

/// A program as small as steps make it that still fails, and how it fails. `said` is told of each step.
///
/// # Errors
///
/// As [`Workbench::test`].
pub fn shrink(
    bench: &Workbench,
    program: Program,
    failure: String,
    said: &mut dyn FnMut(usize),
) -> io::Result<(Program, String)> {
    let (mut program, mut failure) = (program, failure);
    let bench = &Workbench { check: failure.starts_with(COMPILES_NOT), ..bench.clone() };
    loop {
        let mut candidates = candidates(&program);
        candidates.retain(|candidate| candidate.size() < program.size());
        // The largest steps first.
        candidates.sort_by_key(Program::size);
        let mut found = None;
        for tried in candidates.chunks(AT_ONCE) {
            let verdict = bench.test(tried)?;
            let fails = |message: &String| kind(message) == kind(&failure);
            if let Some((index, message)) = verdict.failures.iter().find(|(_, message)| fails(message)) {
                found = Some((tried[*index].clone(), message.clone()));
                break;
            }
        }
        match found {
            Some(smaller) => (program, failure) = smaller,
            None => return Ok((program, failure)),
        }
        said(program.size());
    }
}

/// What a failure has in common with that of a smaller program: of what rustc says, all but the place and the names.
fn kind(message: &str) -> String {
    if message.starts_with(COMPILES_NOT) {
        let said = message.split_once(": error").map_or(message, |(_, said)| said);
        let first = said.lines().next().unwrap_or_default();
        return format!("{COMPILES_NOT}{}", first.split('`').step_by(2).collect::<String>());
    }
    let kinds = ["the process ends", "still running", "the batched call panics"];
    kinds.into_iter().find(|kind| message.contains(kind)).unwrap_or("differs").to_string()
}

/// All programs that are one step smaller.
fn candidates(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for f in 0..program.functions.len() {
        let body = &program.functions[f].body;
        for smaller in smaller(body, &program.defs) {
            let mut candidate = program.clone();
            candidate.functions[f].body = smaller;
            found.push(candidate);
        }
        // A function that nobody calls.
        if program.functions.len() > 1 {
            let mut candidate = program.clone();
            candidate.functions.remove(f);
            if candidate.functions.iter().any(|f| f.entry) {
                found.push(candidate);
            }
        }
        for param in 0..program.functions[f].params.len() {
            // Only where the program does not call the function: calls are not rewritten.
            let mut candidate = program.clone();
            candidate.functions[f].params.remove(param);
            found.push(candidate);
        }
    }
    found
}

/// All forms of a node that are one step smaller.
fn smaller(node: &Node, defs: &Defs) -> Vec<Node> {
    let mut found = Vec::new();
    if let Kind::Expr(ty) = &node.kind {
        let mut inner = Vec::new();
        expressions(node, ty, true, &mut inner);
        found.extend(inner);
        if let Some(zero) = defs.zero(ty)
            && !node.is_text(&zero)
        {
            found.push(Node { kind: node.kind.clone(), parts: vec![Part::Text(zero)] });
        }
    }
    for (i, part) in node.parts.iter().enumerate() {
        let mut replace = |part: Part| {
            let mut parts = node.parts.clone();
            parts[i] = part;
            found.push(Node { kind: node.kind.clone(), parts });
        };
        match part {
            Part::Text(_) => {}
            Part::Node(inner) => smaller(inner, defs).into_iter().for_each(|n| replace(Part::Node(n))),
            Part::List(list) => {
                // Halves, then single statements.
                for (from, to) in spans(list.len()) {
                    if list[from..to].iter().all(|stmt| stmt.kind == Kind::Stmt) {
                        let mut rest = list.clone();
                        rest.drain(from..to);
                        replace(Part::List(rest));
                    }
                }
                for (s, stmt) in list.iter().enumerate() {
                    if stmt.kind == Kind::Stmt {
                        for inside in lists(stmt) {
                            let mut flat = list.clone();
                            flat.splice(s..=s, inside.iter().filter(|stmt| stmt.kind == Kind::Stmt).cloned());
                            replace(Part::List(flat));
                        }
                    }
                    for smaller in smaller(stmt, defs) {
                        let mut list = list.clone();
                        list[s] = smaller;
                        replace(Part::List(list));
                    }
                }
            }
        }
    }
    found
}

/// Runs of statements to leave out.
fn spans(len: usize) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut size = len;
    while size > 0 {
        spans.extend((0..len).step_by(size).map(|from| (from, (from + size).min(len))));
        size /= 2;
    }
    spans
}

/// The expressions of a type in a node.
fn expressions(node: &Node, ty: &Ty, top: bool, to: &mut Vec<Node>) {
    if !top && node.kind == Kind::Expr(ty.clone()) {
        to.push(node.clone());
        return;
    }
    for part in &node.parts {
        match part {
            Part::Text(_) => {}
            Part::Node(inner) => expressions(inner, ty, false, to),
            Part::List(list) => list.iter().for_each(|inner| expressions(inner, ty, false, to)),
        }
    }
}

/// The blocks in a statement.
fn lists(node: &Node) -> Vec<&Vec<Node>> {
    let mut found = Vec::new();
    for part in &node.parts {
        match part {
            Part::Text(_) => {}
            Part::Node(inner) => found.extend(lists(inner)),
            Part::List(list) => found.push(list),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_stays_of_its_kind() {
        let strict =
            "does not compile: 53:57: error: `strict`: `m5` borrows a local and is used on both sides";
        let smaller =
            "does not compile: 9:2: error: `strict`: `m1` borrows a local and is used on both sides";
        assert_eq!(kind(strict), kind(smaller));
        assert_ne!(kind(strict), kind("does not compile: 35:33: error[E0282]: type annotations needed"));
        assert_ne!(kind("member 3 differs"), kind(strict));
    }
}
