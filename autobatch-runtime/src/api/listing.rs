//! The text of a program, line by line, with the block that each line is of.
//!
//! In: the text that the compiler has written. Out: its lines for pages and drawings, which colour a region's lines alike.

/// A line of a program's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line<'a> {
    /// As it is printed.
    pub(crate) text: &'a str,
    /// Its block, such as `b3`; none of lines outside of blocks.
    pub(crate) block: Option<&'a str>,
    /// Whether it is the block's first line.
    pub(crate) heading: bool,
    /// The region that the block is run in: an index of [`Program::blocks`](crate::Program::blocks).
    pub(crate) region: Option<usize>,
}

/// The lines of the functions.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let order = text.lines().find_map(|line| line.strip_prefix("order ")).unwrap_or_default();
    let order: Vec<&str> = order.split(' ').collect();
    let (mut block, mut region) = (None, None);
    let functions = text.lines().take_while(|line| !line.starts_with("order "));
    let line = |text| {
        let heading = is_heading(text);
        if heading {
            block = text.trim_start().split(' ').next();
            let head = text.split_once("(part of ").and_then(|(_, rest)| rest.split(')').next());
            region = order.iter().position(|id| Some(*id) == head.or(block));
        } else if !text.starts_with("    ") {
            (block, region) = (None, None);
        }
        Line { text, block, heading, region }
    };
    functions.map(line).collect()
}

/// Whether a line begins a block: `  b3 after call`.
fn is_heading(line: &str) -> bool {
    let number = line.strip_prefix("  b").and_then(|rest| rest.split(' ').next());
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

/// Text that means the same in a page and in a drawing, and between quotation marks of a script.
pub(crate) fn escaped(text: &str) -> String {
    let replace = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\\' => "&#92;".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_blocks() {
        let text = "fn f(n) -> u64\n  register  n\n  b0 entry\n    jump b2\n  b1 (part of b2) body\n    n -= 1;\n  b2 while\n\norder b0 b2\n";
        let lines = lines(text);
        let seen: Vec<_> = lines.iter().map(|line| (line.block, line.heading, line.region)).collect();
        let outside = (None, false, None);
        let of = |block, heading, region| (Some(block), heading, Some(region));
        assert_eq!(seen[..3], [outside, outside, of("b0", true, 0)]);
        assert_eq!(seen[3..6], [of("b0", false, 0), of("b1", true, 1), of("b1", false, 1)]);
        assert_eq!(seen[6..], [of("b2", true, 1), outside]);
    }
}
