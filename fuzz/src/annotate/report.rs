//! Prints what became of the functions of trees.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Outcome, Verdict};

/// How much of an error is shown.
const LINES: usize = 16;

/// How often each verdict was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// All functions that have a verdict.
    pub functions: usize,
    /// [`Verdict::Batched`].
    pub batched: usize,
    /// [`Verdict::Scalar`].
    pub scalar: usize,
    /// [`Verdict::Refused`].
    pub refused: usize,
    /// [`Verdict::Broken`].
    pub broken: usize,
    /// [`Verdict::Unjudged`].
    pub unjudged: usize,
}

/// Counts the verdicts of a tree.
pub fn counts(outcome: &Outcome) -> Counts {
    let mut counts = Counts::default();
    for judged in &outcome.functions {
        counts.functions += 1;
        match judged.verdict {
            Verdict::Batched => counts.batched += 1,
            Verdict::Refused(_) => counts.refused += 1,
            Verdict::Scalar(_) => counts.scalar += 1,
            Verdict::Broken { .. } => counts.broken += 1,
            Verdict::Unjudged(_) => counts.unjudged += 1,
        }
    }
    counts
}

/// The table of several trees.
pub fn table(outcomes: &[Outcome], strict: bool) -> String {
    let first = if strict { "block programs" } else { "batched" };
    let scalar = if strict { format!(" {:>8}", "scalar") } else { String::new() };
    let mut text = format!(
        "{:<24} {:>9} {first:>14}{scalar} {:>8} {:>7} {:>9} {:>12}\n",
        "tree", "functions", "refused", "broken", "unjudged", "not compiled"
    );
    for outcome in outcomes {
        let c = counts(outcome);
        let scalar = if strict { format!(" {:>8}", c.scalar) } else { String::new() };
        let tree = outcome.tree.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let _ = writeln!(
            text,
            "{tree:<24} {:>9} {:>14}{scalar} {:>8} {:>7} {:>9} {:>12}",
            c.functions, c.batched, c.refused, c.broken, c.unjudged, outcome.absent
        );
    }
    text
}

/// The functions of a tree that are not batched, with the reason; `all` lists the others too.
pub fn list(outcome: &Outcome, all: bool) -> String {
    let mut text = String::new();
    for (file, error) in &outcome.left_out {
        let _ = writeln!(text, "left out: {file} does not compile without the attribute: {error}");
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for judged in &outcome.functions {
        let place = format!("{}:{}: {}", judged.file, judged.line, judged.name);
        let _ = match &judged.verdict {
            Verdict::Batched if all => writeln!(text, "batched: {place}"),
            Verdict::Batched => Ok(()),
            Verdict::Refused(why) => writeln!(text, "refused: {place}: {why}"),
            Verdict::Scalar(whys) => {
                if let Some(first) = whys.first() {
                    *reasons.entry(first).or_default() += 1;
                }
                writeln!(text, "scalar: {place}: {}", whys.join("; "))
            }
            Verdict::Broken { message, rendered } => {
                let _ = writeln!(text, "broken: {place}: {message}");
                rendered.lines().take(LINES).try_for_each(|line| writeln!(text, "    {line}"))
            }
            Verdict::Unjudged(why) => writeln!(text, "unjudged: {place}: {why}"),
        };
    }
    if !reasons.is_empty() {
        text.push_str("\nfirst reasons:\n");
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in reasons {
            let _ = writeln!(text, "{count:>6}  {reason}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::Judged;

    #[test]
    fn a_table_has_a_line_for_each_tree() {
        let judged = |verdict| Judged { file: "a.rs".into(), line: 3, name: "f".into(), verdict };
        let broken = Verdict::Broken { message: "no".into(), rendered: "error: no\n".into() };
        let functions =
            vec![judged(Verdict::Batched), judged(broken), judged(Verdict::Refused("async".into()))];
        let outcome = Outcome { tree: "x/y/".into(), functions, ..Outcome::default() };
        let counts = counts(&outcome);
        assert_eq!((counts.functions, counts.batched, counts.refused, counts.broken), (3, 1, 1, 1));
        let table = table(&[outcome.clone(), outcome.clone()], false);
        assert_eq!(table.lines().filter(|line| line.starts_with("y ")).count(), 2);
        assert_eq!(
            list(&outcome, false),
            "broken: a.rs:3: f: no\n    error: no\nrefused: a.rs:3: f: async\n"
        );
    }
}
