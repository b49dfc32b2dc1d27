//! The text of a program is Rust that its user could have written, and names no block that it does not list.

use std::collections::BTreeSet;

use autobatch::program::Kind;
use autobatch::{Engine, Executor, Options, Program, autobatch};

#[autobatch]
fn ranges(n: u32, x: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        sum += x / f64::from(i + 1);
        if sum > 1e3 {
            break;
        }
    }
    for i in (1..=n).rev() {
        for k in 0..=i {
            sum -= f64::from(k);
            if sum < -1e3 {
                return sum;
            }
        }
    }
    sum
}

#[autobatch]
fn above(list: &[f64], x: f64) -> Option<f64> {
    let first = list.iter().position(|y| *y > x)?;
    let mut sum = 0.0;
    for (i, y) in list.iter().enumerate() {
        if *y > x && i > first {
            sum += y;
        }
    }
    Some(sum)
}

#[autobatch]
fn catalan(n: u32) -> u64 {
    if n == 0 { 1 } else { (0..n).map(|i| catalan(i) * catalan(n - 1 - i)).sum() }
}

#[autobatch]
fn deeper(n: u32, x: Option<u32>) -> Option<u32> {
    let y = x?;
    if n == 0 {
        return Some(y);
    }
    let rest = deeper(n - 1, x.map(|x| x + 1))?;
    Some(rest + y)
}

/// The user's own names are those that the compiler's would have without their underscores.
#[autobatch]
fn clash(arg2: u32, result: u32, value1: u32) -> u32 {
    if arg2 == 0 { result } else { clash(arg2 - 1, result + value1, value1 / 2).wrapping_mul(3) }
}

#[autobatch]
fn strings(words: &[String], n: u32) -> String {
    let mut text = String::new();
    for word in words {
        text.push_str(word);
        if text.len() > n as usize {
            break;
        }
    }
    text
}

#[autobatch]
fn stored(n: u32) -> u32 {
    let next: Box<dyn Fn(u32) -> u32> = Box::new(|n| n + 1);
    let mut list = vec![n];
    for number in &mut list {
        *number = next(*number);
    }
    list[0]
}

struct Tree {
    value: u32,
    children: Vec<Tree>,
}

#[autobatch]
impl Tree {
    fn total(&self, most: u32) -> u32 {
        let mut total = self.value;
        for child in &self.children {
            if total < most {
                total += child.total(most);
            }
        }
        total
    }
}

fn programs() -> [&'static Program; 8] {
    [
        ranges_batched::program(),
        above_batched::program(),
        catalan_batched::program(),
        deeper_batched::program(),
        clash_batched::program(),
        strings_batched::program(),
        stored_batched::program(),
        Tree::total_batched_program(),
    ]
}

/// The words of a text.
fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).collect()
}

fn is_block(word: &str) -> bool {
    word.strip_prefix('b')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

#[test]
fn no_name_of_generated_code_shows() {
    for program in programs() {
        let text = program.to_string();
        for part in ["__rt", "::core::", "::std::", "autobatch", "ControlFlow"] {
            assert!(!text.contains(part) && !program.to_dot().contains(part), "{part} is in\n{text}");
        }
        let underscores = words(&text).into_iter().filter(|word| word.starts_with("__")).collect::<Vec<_>>();
        if program.name == "clash" {
            assert!(!underscores.is_empty(), "two variables would have one name\n{text}");
        } else {
            assert!(underscores.is_empty(), "{underscores:?} in\n{text}");
        }
    }
}

#[test]
fn every_block_that_is_named_is_listed() {
    for program in programs() {
        let text = program.to_string();
        let listed: BTreeSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix("  b")?.split(' ').next()).collect();
        for word in words(&text).into_iter().filter(|word| is_block(word)) {
            assert!(listed.contains(&word[1..]), "{word} is not listed in\n{text}");
        }
        let picture = program.to_svg();
        for block in listed {
            assert!(picture.contains(&format!(">  b{block} ")), "b{block} is not in\n{picture}");
        }
    }
}

#[test]
fn counters_and_question_marks_read_like_rust() {
    let text = ranges_batched::program().to_string();
    for part in ["    if at1 < end2 {", "let i = at1;\n    at1 += 1;\n", "return sum;\n"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let text = deeper_batched::program().to_string();
    for part in ["let y = x?;", "if n == 0 { return Some(y); }", "return Some(rest + y);"] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let text = Tree::total_batched_program().to_string();
    assert!(text.contains("self.value"), "{text}");
}

#[test]
fn a_program_says_what_kind_it_is_and_what_can_run_it() {
    let program = ranges_batched::program();
    assert_ne!(program.kind(), Kind::PerMember);
    assert_eq!(program.engines, [Engine::VectorFrames, Engine::Machine, Engine::Scalar]);
    assert_eq!(catalan_batched::program().engines.last(), Some(&Engine::Scalar));
    assert!(!strings_batched::program().engines.contains(&Engine::VectorFrames));
    let program = stored_batched::program();
    assert!(program.to_string().contains("engines: "), "{program}");
    if program.kind() == Kind::PerMember {
        assert_eq!(program.engines, [Engine::Fibers, Engine::Scalar]);
    }
    for program in programs() {
        assert!(program.to_string().contains(&format!("kind: {}", program.kind())), "{program}");
    }
}

#[autobatch]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

#[test]
fn the_map_shows_the_program_of_fib() {
    let text = fib_batched::program().to_string();
    let blocks = &text[..text.find("kind: ").expect("the blocks come first")];
    assert!(include_str!("../../ARCHITECTURE.md").replace('\r', "").contains(blocks), "{blocks}");
    assert_eq!(fib_batched(&[0, 9]), [fib(0), fib(9)]);
}

#[test]
fn they_compute_as_before() {
    let n = [0, 3, 7];
    assert_eq!(ranges_batched(&n, &[1.0, 2.0, 3e4]), [ranges(0, 1.0), ranges(3, 2.0), ranges(7, 3e4)]);
    assert_eq!(above_batched(&[1.0, 5.0, 7.0], &[0.0, 9.0]), [Some(12.0), None]);
    assert_eq!(catalan_batched(&n), n.map(catalan));
    assert_eq!(deeper_batched(&n, &[None, Some(1), Some(2)]), [None, deeper(3, Some(1)), deeper(7, Some(2))]);
    assert_eq!(clash_batched(&n, &n, &n), n.map(|n| clash(n, n, n)));
    let words = ["a".to_owned(), "bc".to_owned()];
    assert_eq!(strings_batched(&words, &n), n.map(|n| strings(&words, n)));
    assert_eq!(stored_batched(&n), n.map(stored));
    let tree = Tree { value: 1, children: vec![Tree { value: 4, children: vec![] }] };
    assert_eq!(tree.total_batched(&n), n.map(|n| tree.total(n)));
}

/// A type of which the functions below see nothing but its name.
mod geometry {
    #[derive(Clone, Copy)]
    pub(super) struct Point {
        pub(super) x: f64,
        pub(super) y: f64,
    }
}

mod elsewhere {
    use super::geometry::Point;
    use autobatch::autobatch;

    #[autobatch]
    pub(super) fn type_left_out(x: f64) -> f64 {
        let mut p = Point { x, y: 1.0 };
        while p.x < 100.0 {
            p.x += 0.1 * p.y;
            p.y += 0.1 * p.x;
        }
        p.x + p.y
    }

    #[autobatch]
    pub(super) fn type_written(x: f64) -> f64 {
        let mut p: Point = Point { x, y: 1.0 };
        while p.x < 100.0 {
            p.x += 0.1 * p.y;
            p.y += 0.1 * p.x;
        }
        p.x + p.y
    }
}

#[test]
fn a_report_says_that_types_keep_a_function_from_blocks() {
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let options = Options::default().executor(Executor::Masked);
    let without = elsewhere::type_left_out_batched_with(&x, &options).unwrap();
    assert!(without.report().refused_by_types && without.report().engine == Engine::Scalar);
    assert!(without.report().to_string().contains("write the types of locals"), "{}", without.report());
    let with = elsewhere::type_written_batched_with(&x, &options).unwrap();
    assert!(!with.report().refused_by_types && with.report().engine == Engine::Machine);
    assert_eq!(without.into_values().unwrap(), with.into_values().unwrap());
}
