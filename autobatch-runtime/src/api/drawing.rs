//! A program as a drawing: its blocks from top to bottom, and arrows beside them.
//!
//! In: the program's text, and its arrows in Graphviz's form, as the compiler has written them. Out: one SVG, without anything outside
//! of it, for light and dark pages.
//!
//! ```text
//!          ┌──────────┐
//!          │ b0 entry │
//!          └────┬─────┘      the next block: straight down
//!          ┌────▼─────┐
//!    ┌─────▶ b1 while ├───┐  further down: on the right
//!    │     └────┬─────┘   │
//!    │     ┌────▼─────┐   │
//!    └─────┤ b2 body  │   │  up, as loops and calls go: on the left
//!          └──────────┘   │
//!          ┌──────────┐   │
//!          │ b3 after ◀───┘
//!          └──────────┘
//! ```
//!
//! **Invariant:** no arrow crosses a block, and arrows whose ways overlap run in lanes of their own.

use std::fmt::Write;

use super::listing::{Line, escaped, lines};

/// The width of a character, the height of a line, and the room between blocks and between arrows.
const CHARACTER: usize = 8;
const LINE: usize = 17;
const GAP: usize = 26;
const LANE: usize = 12;
/// The longest line that is shown whole.
const LONGEST: usize = 76;

/// A block, or the lines before a function's blocks.
struct Node<'a> {
    lines: Vec<Line<'a>>,
    top: usize,
}

impl Node<'_> {
    fn id(&self) -> Option<&str> {
        self.lines[0].block
    }

    fn bottom(&self) -> usize {
        self.top + self.lines.len() * LINE + 10
    }
}

/// An arrow between nodes, by their indices.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
struct Arrow<'a> {
    from: usize,
    to: usize,
    style: &'a str,
}

/// The drawing of a program with this text and this graph.
pub(crate) fn svg(name: &str, text: &str, dot: &str) -> String {
    let nodes = nodes(text);
    let arrows = arrows(&nodes, dot);
    let longest = nodes.iter().flat_map(|node| &node.lines).map(|line| line.text.chars().count()).max();
    let width = longest.unwrap_or(0).min(LONGEST) * CHARACTER + 16;
    let (left, left_lanes) = in_lanes(arrows.iter().filter(|arrow| arrow.to <= arrow.from));
    let (right, right_lanes) = in_lanes(arrows.iter().filter(|arrow| arrow.to > arrow.from + 1));
    let next = arrows.iter().filter(|arrow| arrow.to == arrow.from + 1);
    let x = (left_lanes + 2) * LANE;
    let full = (x + width + (right_lanes + 2) * LANE).max(69 * CHARACTER);
    let end = nodes.last().map_or(0, Node::bottom) + 16;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full} {height}\" width=\"{full}\" height=\"{height}\" role=\"img\">\n\
         <title>The program of {}</title>\n{STYLE}<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
        escaped(name),
        height = end + 3 * LINE
    );
    for node in &nodes {
        draw_node(&mut svg, node, x, width);
    }
    for arrow in next {
        let (x, y) = (x + 28, nodes[arrow.from].bottom());
        draw(&mut svg, arrow, &format!("M{x} {y}V{}", nodes[arrow.to].top));
    }
    for (arrow, lane) in left {
        let at = x - (lane + 1) * LANE;
        draw(&mut svg, arrow, &format!("M{x} {}H{at}V{}H{x}", leaves(&nodes, arrow), enters(&nodes, arrow)));
    }
    let side = x + width;
    for (arrow, lane) in right {
        let at = side + (lane + 1) * LANE;
        draw(
            &mut svg,
            arrow,
            &format!("M{side} {}H{at}V{}H{side}", leaves(&nodes, arrow), enters(&nodes, arrow)),
        );
    }
    let legend = [
        "A colour is a region: blocks that run as one step. Arrows: a jump or branch;",
        "dashed: out of the middle of a block; dotted: a call; bold: on behind a call.",
    ];
    for (nth, line) in legend.iter().enumerate() {
        let _ =
            writeln!(svg, "<text class=\"faint\" x=\"12\" y=\"{}\">{line}</text>", end + (nth + 1) * LINE);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Colours for light and dark pages, and arrow heads.
const STYLE: &str = "<style>
svg { --page: #ffffff; --box: #f6f7f9; --text: #1a1a1a; --faint: #666666; --line: #8a9099; --light: 42%; }
@media (prefers-color-scheme: dark) { svg { --page: #16181b; --box: #202328; --text: #e8e8e8; --faint: #a0a0a0; --line: #7d8590; --light: 60%; } }
.page { fill: var(--page); }
text { font: 12px ui-monospace, \"DejaVu Sans Mono\", Menlo, Consolas, monospace; fill: var(--text); white-space: pre; }
text.head { font-weight: bold; }
text.faint { fill: var(--faint); font-size: 11px; }
.block { fill: var(--box); stroke: var(--line); stroke-width: 0.5; }
path { fill: none; stroke: var(--line); stroke-width: 1.2; }
path.dashed { stroke-dasharray: 5 3; }
path.dotted { stroke-dasharray: 1.5 3; stroke-linecap: round; stroke-width: 1.6; }
path.bold { stroke-width: 2.2; }
#tip path { fill: var(--line); stroke: none; }
</style>
<defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L8 4L0 8Z\"/></marker></defs>
";

/// The blocks and what stands before them, from top to bottom.
fn nodes(text: &str) -> Vec<Node<'_>> {
    let mut nodes: Vec<Node<'_>> = Vec::new();
    for line in lines(text).into_iter().filter(|line| !line.text.is_empty()) {
        match nodes.last_mut() {
            Some(node)
                if !line.heading && line.block == node.lines[0].block && !line.text.starts_with("fn ") =>
            {
                node.lines.push(line);
            }
            _ => nodes.push(Node { lines: vec![line], top: 0 }),
        }
    }
    let mut top = 12;
    for node in &mut nodes {
        node.top = top;
        top = node.bottom() + GAP;
    }
    nodes
}

/// The arrows between blocks that are shown; each once.
fn arrows<'a>(nodes: &[Node<'_>], dot: &'a str) -> Vec<Arrow<'a>> {
    let mut arrows = Vec::new();
    let find = |id: &str| nodes.iter().position(|node| node.id() == Some(id));
    for line in dot.lines() {
        let Some((from, (to, attributes))) = line
            .trim_start()
            .split_once(" -> ")
            .and_then(|(from, rest)| Some((from, rest.split_once(" [label=")?)))
        else {
            continue;
        };
        // Behind the label, in which anything may stand.
        let style = attributes.rsplit_once('"').and_then(|(_, rest)| rest.split_once("style="));
        let style = style.map_or("", |(_, style)| style.split([',', ']']).next().unwrap_or_default());
        if let (Some(from), Some(to)) = (find(from), find(to)) {
            let arrow = Arrow { from, to, style };
            if !arrows.contains(&arrow) {
                arrows.push(arrow);
            }
        }
    }
    arrows
}

/// Arrows of one side, each with a lane, 0 next to the blocks; and the number of lanes. Short arrows come first. Those to one block share a lane.
fn in_lanes<'a, 'b: 'a>(arrows: impl Iterator<Item = &'a Arrow<'b>>) -> (Vec<(&'a Arrow<'b>, usize)>, usize) {
    let span = |arrow: &Arrow<'_>| (arrow.from.min(arrow.to), arrow.from.max(arrow.to));
    let mut arrows: Vec<_> = arrows.collect();
    arrows.sort_by_key(|arrow| (span(arrow).1 - span(arrow).0, arrow.from));
    let mut placed: Vec<(&Arrow<'_>, usize)> = Vec::new();
    for arrow in arrows {
        let (first, last) = span(arrow);
        let disturbs = |other: &Arrow<'_>| {
            let (begin, end) = span(other);
            first <= end && begin <= last && (arrow.to, arrow.style) != (other.to, other.style)
        };
        let is_free = |lane: &usize| !placed.iter().any(|(other, at)| at == lane && disturbs(other));
        let lane = (0..).find(is_free).unwrap_or(0);
        placed.push((arrow, lane));
    }
    let lanes = placed.iter().map(|(_, lane)| lane + 1).max().unwrap_or(0);
    (placed, lanes)
}

/// Arrows leave at a block's last line: in the middle of it upwards, a little above downwards and calls below.
fn leaves(nodes: &[Node<'_>], arrow: &Arrow<'_>) -> usize {
    let shift = if arrow.style == "dotted" { 4 } else { 9 };
    nodes[arrow.from].bottom() - shift
}

/// They arrive at its first.
fn enters(nodes: &[Node<'_>], arrow: &Arrow<'_>) -> usize {
    let shift = if arrow.style == "dotted" { 6 } else { 12 };
    nodes[arrow.to].top + shift
}

fn draw_node(svg: &mut String, node: &Node<'_>, x: usize, width: usize) {
    if node.id().is_some() {
        let (top, height) = (node.top, node.bottom() - node.top);
        let _ = writeln!(
            svg,
            "<rect class=\"block\" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"3\"/>"
        );
        if let Some(region) = node.lines[0].region {
            let hue = (210.0 + 137.5 * region as f64) % 360.0;
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{top}\" width=\"5\" height=\"{height}\" style=\"fill: hsl({hue} 62% var(--light))\"/>"
            );
        }
    }
    for (nth, line) in node.lines.iter().enumerate() {
        let mut text: String = line.text.chars().take(LONGEST).collect();
        if text.len() < line.text.len() {
            text.pop();
            text.push('…');
        }
        let class = if line.heading || line.text.starts_with("fn ") { " class=\"head\"" } else { "" };
        let (x, y) = (x + 4, node.top + 5 + (nth + 1) * LINE - 4);
        let _ = writeln!(svg, "<text{class} x=\"{x}\" y=\"{y}\">{}</text>", escaped(&text));
    }
}

fn draw(svg: &mut String, arrow: &Arrow<'_>, path: &str) {
    let class = if arrow.style.is_empty() { "solid" } else { arrow.style };
    let _ = writeln!(svg, "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#tip)\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn f(n) -> u64\n  register  n\n  b0 entry\n    jump b1\n  b1 while\n    if n < 3 { b2 } else { b3 }\n  \
                        b2 body\n    n += 1;\n    jump b1\n  b3 after\n    return n;\n\norder b0 b1 b2 b3\n";
    const DOT: &str = "digraph program {\n    b0 [label=\"b0 entry\\l\"];\n  b0 -> b1 [label=\"\"];\n  b1 -> b2 [label=\"n < \\\"3\\\"\"];\n  \
                       b1 -> b3 [label=\"else, style=bold\"];\n  b2 -> b1 [label=\"\"];\n  b2 -> b0 [label=\"f\", style=dotted, constraint=false];\n  \
                       b3 -> b9 [label=\"\"];\n}\n";

    #[test]
    fn arrows_are_those_between_blocks() {
        let nodes = nodes(TEXT);
        assert_eq!(
            nodes.iter().map(Node::id).collect::<Vec<_>>(),
            [None, Some("b0"), Some("b1"), Some("b2"), Some("b3")]
        );
        let found: Vec<_> = arrows(&nodes, DOT).iter().map(|a| (a.from, a.to, a.style)).collect();
        assert_eq!(found, [(1, 2, ""), (2, 3, ""), (2, 4, ""), (3, 2, ""), (3, 1, "dotted")]);
    }

    #[test]
    fn arrows_that_overlap_have_lanes_of_their_own() {
        let arrow = |from, to| Arrow { from, to, style: "" };
        let all = [arrow(4, 1), arrow(3, 2), arrow(9, 6), arrow(5, 1)];
        let (placed, lanes) = in_lanes(all.iter());
        let lane = |from| placed.iter().find(|(arrow, _)| arrow.from == from).unwrap().1;
        assert_eq!((lane(3), lane(9), lane(4), lane(5), lanes), (0, 0, 1, 1, 2));
    }

    #[test]
    fn a_drawing_has_each_line_and_needs_nothing_else() {
        let svg = svg("f", TEXT, DOT);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<path class=").count(), 5);
        assert_eq!(svg.matches("<text").count(), 11 + 2);
        assert!(svg.contains("if n &lt; 3 { b2 } else { b3 }") && svg.matches("http").count() == 1);
    }
}
