//! The text of a file with attributes on some of its functions.
//!
//! An `impl` block gets one attribute for all of its methods. Where some of them may not have it, the block is
//! written as several:
//!
//! ```text
//! impl T {                  #[::autobatch::autobatch] impl T {
//!     fn good(x: u8) {}         fn good(x: u8) {} } impl T {
//!     fn bad(x: u8) {}      →   fn bad(x: u8) {}
//! }                         }
//! ```

use std::ops::Range;

use super::candidates::{Block, Candidates};

/// A text that stands in place of none of the original.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Insertion {
    at: usize,
    text: String,
}

/// A file with attributes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotated {
    /// The text.
    pub text: String,
    /// What was inserted, in order.
    insertions: Vec<Insertion>,
}

impl Annotated {
    /// The attribute on the functions for which `attached` holds; each by itself in blocks for which `apart` holds.
    pub fn new(
        text: &str,
        found: &Candidates,
        attribute: &str,
        attached: impl Fn(usize) -> bool,
        apart: impl Fn(usize) -> bool,
    ) -> Annotated {
        let mut insertions = Vec::new();
        let mut mentioned = String::new();
        for (index, function) in found.functions.iter().enumerate() {
            if function.block.is_none() && attached(index) {
                insertions.push(Insertion { at: function.at, text: format!("{attribute} ") });
            }
            if let Some(at) = function.each
                && attached(index)
                && function.block.is_none_or(|block| has_attribute(&found.blocks[block], found, &attached))
            {
                insertions.push(Insertion { at, text: "#[each] ".into() });
            }
        }
        for (index, block) in found.blocks.iter().enumerate() {
            split(block, found, attribute, &attached, apart(index), &mut insertions);
            // A private method beside public ones gets its batched form only where the crate names it.
            let functions = block.members.iter().filter_map(|member| member.function);
            for function in functions.filter(|function| attached(*function)) {
                mentioned.push_str(&format!(" {}_batched", found.functions[function].own_name));
            }
        }
        if !mentioned.is_empty() {
            insertions.push(Insertion { at: text.len(), text: format!(" /*{mentioned} */") });
        }
        // The order of those at one place stays.
        insertions.sort_by_key(|insertion| insertion.at);
        let mut written = String::with_capacity(text.len());
        let mut done = 0;
        for insertion in &insertions {
            written.push_str(&text[done..insertion.at]);
            written.push_str(&insertion.text);
            done = insertion.at;
        }
        written.push_str(&text[done..]);
        Annotated { text: written, insertions }
    }

    /// Where a part of the original stands now, together with what was inserted into it or right before it.
    pub fn range(&self, original: &Range<usize>) -> Range<usize> {
        self.place(original.start)..self.place(original.end)
    }

    fn place(&self, at: usize) -> usize {
        let before = self.insertions.iter().take_while(|insertion| insertion.at < at);
        at + before.map(|insertion| insertion.text.len()).sum::<usize>()
    }
}

/// Whether some part of a block has the attribute.
fn has_attribute(block: &Block, found: &Candidates, attached: &impl Fn(usize) -> bool) -> bool {
    let mut functions = block.members.iter().filter_map(|member| member.function);
    match block.divisible {
        true => functions.any(attached),
        false => functions.filter(|function| found.functions[*function].counted).all(attached),
    }
}

fn split(
    block: &Block,
    found: &Candidates,
    attribute: &str,
    attached: &impl Fn(usize) -> bool,
    apart: bool,
    to: &mut Vec<Insertion>,
) {
    if !block.divisible {
        if has_attribute(block, found, attached) {
            to.push(Insertion { at: block.at, text: format!("{attribute} ") });
        }
        return;
    }
    // Runs of members: those with the attribute, and those without. What is no function goes with what stands before it.
    let mut runs: Vec<(bool, bool, usize)> = Vec::new();
    let mut end = block.open;
    for member in &block.members {
        let (with, counted) = match member.function {
            Some(function) => (attached(function), found.functions[function].counted),
            None => (runs.last().is_none_or(|run| run.0), false),
        };
        match runs.last_mut() {
            Some(run) if run.0 == with && !(apart && with && member.function.is_some()) => run.1 |= counted,
            _ => runs.push((with, counted, end)),
        }
        end = member.range.end;
    }
    // A block without a parameter to batch over would be refused.
    for run in &mut runs {
        run.0 &= run.1;
    }
    runs.dedup_by(|run, before| run.0 == before.0 && !(apart && run.0));
    for (index, (with, _, at)) in runs.iter().enumerate() {
        let attribute = if *with { format!("{attribute} ") } else { String::new() };
        match index {
            0 => to.push(Insertion { at: block.at, text: attribute }),
            _ => to.push(Insertion { at: *at, text: format!(" }} {attribute}{} {{", block.header) }),
        }
    }
    to.retain(|insertion| !insertion.text.is_empty());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::candidates::find;

    fn annotated(text: &str, without: &[&str]) -> Annotated {
        let found = find(text, true).unwrap();
        let attached = |index: usize| !without.contains(&found.functions[index].name.as_str());
        Annotated::new(text, &found, "#[a]", attached, |_| false)
    }

    #[test]
    fn a_function_gets_the_attribute_behind_its_own() {
        let text = "/// Doc.\n#[inline]\npub fn f(x: u8) {}\nfn g(x: &u8) {}\n";
        let after = "/// Doc.\n#[inline]\n#[a] pub fn f(x: u8) {}\n#[a] fn g(#[each] x: &u8) {}\n";
        assert_eq!(annotated(text, &[]).text, after);
        assert_eq!(annotated(text, &["f", "g"]).text, text);
    }

    #[test]
    fn a_block_is_written_as_several() {
        let text = "impl T { fn f(x: u8) {} const C: u8 = 0; fn g(x: u8) {} fn h(self) {} }";
        assert!(annotated(text, &[]).text.starts_with("#[a] impl T { fn f"));
        let some = annotated(text, &["T::g"]).text;
        let after = "#[a] impl T { fn f(x: u8) {} const C: u8 = 0; } impl T  { fn g(x: u8) {} } #[a] impl T  { fn h(self) {} }";
        assert_eq!(some.split(" /*").next().unwrap(), after);
        assert_eq!(annotated(text, &["T::f", "T::g", "T::h"]).text, text);
    }

    #[test]
    fn a_block_of_a_trait_has_the_attribute_or_not() {
        let text = "impl U for T { fn f(x: u8) {} fn g(x: u8) {} }";
        assert!(annotated(text, &[]).text.starts_with("#[a] impl U for T"));
        assert_eq!(annotated(text, &["T::g"]).text.split(" /*").next().unwrap(), text);
    }

    #[test]
    fn a_run_without_a_parameter_to_batch_over_has_no_attribute() {
        let text = "impl T { fn f(&self) {} fn g(x: u8) {} fn h(x: u8) {} }";
        let some = annotated(text, &["T::g"]).text;
        assert!(some.starts_with("impl T { fn f(&self) {} fn g(x: u8) {} } #[a] impl T  { fn h"), "{some}");
    }

    #[test]
    fn functions_of_a_block_can_be_apart() {
        let text = "impl T { fn f(x: u8) {} fn s(&self) {} fn g(x: u8) {} }";
        let found = find(text, false).unwrap();
        let after = Annotated::new(text, &found, "#[a]", |_| true, |_| true);
        let start =
            "#[a] impl T { fn f(x: u8) {} } impl T  { fn s(&self) {} } #[a] impl T  { fn g(x: u8) {} }";
        assert!(after.text.starts_with(start), "{}", after.text);
        let g = &found.functions[2];
        let part = &after.text[after.range(&(g.from..g.range.end))];
        assert_eq!(part, " } #[a] impl T  { fn g(x: u8) {}");
    }

    #[test]
    fn ranges_hold_what_was_inserted() {
        let text = "fn f(x: u8) {} fn g(x: u8) {}";
        let after = annotated(text, &[]);
        let found = find(text, false).unwrap();
        let part = |index: usize| &after.text[after.range(&found.functions[index].range)];
        assert_eq!((part(0), part(1)), ("#[a] fn f(x: u8) {}", "#[a] fn g(x: u8) {}"));
    }
}
