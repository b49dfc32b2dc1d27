//! The page of constructs, `docs/constructs.md`: its rows are the functions in `tests/constructs/` and cases of `tests/diagnostics/ui/`, so
//! that what it says is compiled and run. It is written anew by `BLESS=1 cargo test --test constructs`.

#![forbid(unsafe_code)]
#![allow(clippy::all, clippy::pedantic, unused)] // constructs, not style

#[path = "../common/mod.rs"]
mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use autobatch::{Program, autobatch};
use autofloat::AutoFloat;
use common::{Bits, agree_at, column};

#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    left: u64,
    right: [u64; 3],
}

struct Named {
    name: String,
    rest: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

impl Bits for Node {
    fn same(&self, other: &Self) -> bool {
        self.value == other.value && self.next.same(&other.next)
    }
}

type Dual = AutoFloat<f64, 1>;

impl Bits for Dual {
    fn same(&self, other: &Self) -> bool {
        self.x.same(&other.x) && self.dx.same(&other.dx)
    }
}

impl Bits for Box<Node> {
    fn same(&self, other: &Self) -> bool {
        (**self).same(other)
    }
}

/// As a sum at most ten, and then it asks for no more.
struct UpToTen(u64);

impl std::iter::Sum for UpToTen {
    fn sum<I: Iterator<Item = UpToTen>>(mut all: I) -> UpToTen {
        let mut sum = 0;
        while sum < 10 {
            match all.next() {
                Some(next) => sum += next.0,
                None => break,
            }
        }
        UpToTen(sum.min(10))
    }
}

struct Model {
    seed: u64,
}

fn with_seed(seed: u64) -> Model {
    Model { seed }
}

static TABLE: [u64; 6] = [2, 3, 5, 8, 13, 21];

fn branches_helper(n: u64) -> u64 {
    n.count_ones() as u64 + n / 2
}

fn in_turn(f: impl Fn(u64) -> u64, n: u64) -> u64 {
    f(n / 2) + f(n / 3)
}

include!("batched.rs");
include!("values.rs");
include!("functions.rs");
include!("per_member.rs");

const N: [u64; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// Functions of `n` alone, against their batched forms.
macro_rules! check {
    ($($scalar:ident $batched:ident)*) => {$(
        agree_at(&[13], &N, |n| $scalar(*n), |n, options| $batched(n, options));
    )*};
}

#[test]
fn batched_constructs_agree_with_the_scalar_code() {
    check! {
        let_patterns let_patterns_batched_with
        let_later let_later_batched_with
        shadowing shadowing_batched_with
        let_else let_else_batched_with
        let_chains let_chains_batched_with
        match_arms match_arms_batched_with
        moving_patterns moving_patterns_batched_with
        patterns_by_reference patterns_by_reference_batched_with
        branches branches_batched_with
        while_loops while_loops_batched_with
        loop_with_a_value loop_with_a_value_batched_with
        for_ranges for_ranges_batched_with
        for_iterators for_iterators_batched_with
        labels labels_batched_with
        early_returns early_returns_batched_with
        question_marks question_marks_batched_with
        blocks blocks_batched_with
        several_calls several_calls_batched_with
        calls_in_arguments calls_in_arguments_batched_with
        calls_in_conditions calls_in_conditions_batched_with
        calls_anywhere calls_anywhere_batched_with
        calls_in_assignments calls_in_assignments_batched_with
        tail_calls tail_calls_batched_with
        calls_in_adaptors calls_in_adaptors_batched_with
        calls_in_option_adaptors calls_in_option_adaptors_batched_with
        other_functions other_functions_batched_with
        integers integers_batched_with
        floats floats_batched_with
        compounds compounds_batched_with
        owned_values owned_values_batched_with
        recursive_types recursive_types_batched_with
        iterators_across_calls iterators_across_calls_batched_with
        references_that_change references_that_change_batched_with
        borrowed_arguments borrowed_arguments_batched_with
        references_across_loops references_across_loops_batched_with
        references_to_temporaries references_to_temporaries_batched_with
        moved_behind moved_behind_batched_with
        in_parts in_parts_batched_with
        operands_before_calls operands_before_calls_batched_with
        lend lend_batched_with
        items items_batched_with
        macros macros_batched_with
        attributes attributes_batched_with
        under_a_condition under_a_condition_batched_with
        attribute_on_an_arm attribute_on_an_arm_batched_with
        there_under_a_condition there_under_a_condition_batched_with
        closures closures_batched_with
        even even_batched_with
        climb climb_batched_with
        qualified qualified_batched_with
        made_of_calls made_of_calls_batched_with
        made_of_calls made_of_calls_batched_with
        in_a_guard in_a_guard_batched_with
        closures_in_locals closures_in_locals_batched_with
        in_std_macros in_std_macros_batched_with
        assignments assignments_batched_with
        owned owned_batched_with
        norms norms_batched_with
        sorted sorted_batched_with
        handed handed_batched_with
        made made_batched_with
        there there_batched_with
        helped helped_batched_with
        with_a_kernel with_a_kernel_batched_with
        watched watched_batched_with
        inserted inserted_batched_with
    }
    agree_at(&[13], &N, |n| generic(*n, TABLE), |n, o| generic_batched_with(n, autobatch::same(TABLE), o));
    let model = Model { seed: 5 };
    agree_at(&[13], &N, |n| model.grow(*n), |n, o| model.grow_batched_with(n, o));
    let term = Term::Sum(Box::new(Term::N), Box::new(Term::Times(3, vec![Term::N, Term::N])));
    agree_at(&[13], &N, |n| term.value(*n), |n, o| Term::value_batched_with(&term, n, o));
    let route = Route { step: 2, next: Some(Box::new(Route { step: 1, next: None })) };
    agree_at(&[13], &N, |n| Ladder { step: 3 }.rungs(*n), |n, o| Ladder { step: 3 }.rungs_batched_with(n, o));
    agree_at(&[13], &N, |n| route.length(*n), |n, o| route.length_batched_with(n, o));
    let small = [0, 1, 2, 3, 4, 5];
    let step = |n: u64| n * n + 1;
    agree_at(
        &[13],
        &small,
        |n| shared(*n, &TABLE, 3, &step),
        |n, o| shared_batched_with(n, &TABLE, 3, &step, o),
    );
    let rows: Vec<Vec<u64>> = (0..5).map(|n| (0..n).collect()).collect();
    agree_at(&[13], &rows, |xs| each(xs), |rows, o| each_batched_with(rows, o));
    agree_at(
        &[13],
        &rows,
        |xs| each_changed(&mut xs.clone(), 3),
        |rows, o| {
            let mut changed = rows.to_vec();
            let outcome = each_changed_batched_with(&mut changed, autobatch::same(3), o);
            for (xs, changed) in rows.iter().zip(changed) {
                let mut xs = xs.clone();
                each_changed(&mut xs, 3);
                assert_eq!(changed, xs);
            }
            outcome
        },
    );
    agree_at(
        &[13],
        &N,
        |n| state(*n, &mut (n / 2)),
        |n, o| state_batched_with(n, &mut column(n, |n| n / 2), o),
    );
}

#[test]
fn batched_parameters_agree_with_the_scalar_code() {
    let pile = Pile(3_u8);
    agree_at(&[13], &N, |n| pile.height(*n), |n, o| pile.height_batched_with(n, o));
    let reals: Vec<f64> = N.iter().map(|n| *n as f64 * 0.7).collect();
    agree_at(&[13], &reals, |x| root(*x, 1e-9), |x, o| root_batched_with(x, 1e-9, o));
    let singles: Vec<f32> = reals.iter().map(|x| *x as f32).collect();
    agree_at(&[13], &singles, |x| root(*x, 1e-3), |x, o| root_batched_with(x, 1e-3, o));
    let dual = |x: &f64| Dual::variable(*x, 0);
    let small = Dual::constant(1e-9);
    agree_at(&[13], &reals, |x| root(dual(x), small), |x, o| root_batched_with(column(x, dual), small, o));
    let step = |n: u64| n * 2 + 1;
    agree_at(
        &[13],
        &N,
        |n| unnamed(*n, *n as u32, &step, &mut (0..*n)),
        |n, o| unnamed_batched_with(n, column(n, |n| *n as u32), &step, &mut column(n, |n| 0..*n), o),
    );
    let out = |n: u64| vec![n; n as usize % 4];
    let name = |n: u64| "n".repeat(n as usize % 3);
    agree_at(
        &[13],
        &N,
        |n| mixed(n % 3, 2, &TABLE, &name(*n), &mut out(*n)),
        |n, o| {
            let (mut outs, small) = (column(n, |n| out(*n)), column(n, |n| n % 3));
            let outcome = mixed_batched_with(small, 2, &TABLE, &column(n, |n| name(*n)), &mut outs, o);
            for (n, changed) in n.iter().zip(outs) {
                let mut out = out(*n);
                mixed(n % 3, 2, &TABLE, &name(*n), &mut out);
                assert_eq!(changed, out);
            }
            outcome
        },
    );
    let purse = |n: &u64| Purse { coins: 5 * n };
    agree_at(
        &[13],
        &N,
        |n| purse(n).spent(n / 3),
        |n, o| Purse::spent_batched_with(column(n, purse), column(n, |n| n / 3), o),
    );
    agree_at(
        &[13],
        &N,
        |n| purse(n).spend(*n),
        |n, o| Purse::spend_batched_with(&mut column(n, purse), n, o),
    );
    let names = ["a", "bc", "", "def"].map(String::from);
    agree_at(&[13], &N, |n| borrowed(*n, &names), |n, o| borrowed_batched_with(n, &names, o));
    let rows = |n: u64| (0..n).collect::<Vec<u64>>();
    agree_at(
        &[13],
        &N,
        |n| ragged(&rows(*n), 60),
        |n, o| {
            let values: Vec<u64> = n.iter().flat_map(|n| rows(*n)).collect();
            let mut offsets = vec![0];
            offsets.extend(n.iter().scan(0, |end, n| {
                *end += *n as usize;
                Some(*end)
            }));
            ragged_batched_with(autobatch::Ragged::new(&values, &offsets), autobatch::same(60), o)
        },
    );
    let point = |n: u64| [n as f64, 0.5];
    agree_at(
        &[13],
        &N,
        |n| columns(*n, 1.5, point(*n), ndarray::arr1(&[*n as f64, 2.0])),
        |n, o| {
            let table = ndarray::Array2::from_shape_fn((n.len(), 2), |(i, k)| n[i] * (1 - k as u64));
            let points = ndarray::Array2::from_shape_fn((n.len(), 2), |(i, k)| point(n[i])[k]);
            let weights = ndarray::Array2::from_shape_fn((n.len(), 2), |(i, k)| [n[i] as f64, 2.0][k]);
            columns_batched_with(table.column(0), autobatch::same(1.5), points.view(), weights.view(), o)
        },
    );
}

/// Names, programs and results of the functions that run per member.
fn per_member() -> Vec<(&'static str, &'static Program)> {
    vec![
        ("handed_to_unknown_code", handed_to_unknown_code_batched::program()),
        ("in_a_macro", in_a_macro_batched::program()),
        ("as_a_value", as_a_value_batched::program()),
        ("call_in_a_guard", call_in_a_guard_batched::program()),
        ("closure_across_a_loop", closure_across_a_loop_batched::program()),
        ("result_may_borrow", shortest_batched::program()),
        ("Model", Model::lean_batched_program()),
        ("generic_helper", entry_batched::program()),
        ("same_names", outer_batched::program()),
        ("a_macro_that_returns", a_macro_that_returns_batched::program()),
        ("a_macro_that_binds", a_macro_that_binds_batched::program()),
        ("leaving_a_loop", leaving_a_loop_batched::program()),
        ("a_local_macro", a_local_macro_batched::program()),
        ("leaving_a_macro", leaving_a_macro_batched::program()),
        ("stored", later_batched::program()),
        ("several_locals", longer_batched::program()),
        ("of_several_temporaries", of_several_temporaries_batched::program()),
        ("library_traits", walked_batched::program()),
        ("other_types", stepped_batched::program()),
        ("which_one", halved_batched::program()),
        ("two_methods", up_and_down_batched::program()),
        ("what_is_left", what_is_left_batched::program()),
        ("total_of_a_type", total_of_a_type_batched::program()),
        ("asked_by_types", asked_by_types_batched::program()),
        ("computed_counts", computed_counts_batched::program()),
        ("in_the_library", in_the_library_batched::program()),
        ("holding_a_lock", holding_a_lock_batched::program()),
        ("looking_back", looking_back_batched::program()),
        ("taken_or_not", taken_or_not_batched::program()),
        ("parts_replaced", twigs_batched::program()),
    ]
}

#[test]
fn per_member_constructs_agree_and_say_why() {
    check! {
        handed_to_unknown_code handed_to_unknown_code_batched_with
        in_a_macro in_a_macro_batched_with
        as_a_value as_a_value_batched_with
        call_in_a_guard call_in_a_guard_batched_with
        closure_across_a_loop closure_across_a_loop_batched_with
        shortest shortest_batched_with
        entry entry_batched_with
        outer outer_batched_with
        a_macro_that_returns a_macro_that_returns_batched_with
        a_macro_that_binds a_macro_that_binds_batched_with
        leaving_a_loop leaving_a_loop_batched_with
        a_local_macro a_local_macro_batched_with
        leaving_a_macro leaving_a_macro_batched_with
        later later_batched_with
        longer longer_batched_with
        of_several_temporaries of_several_temporaries_batched_with
        walked walked_batched_with
        stepped stepped_batched_with
        halved halved_batched_with
        up_and_down up_and_down_batched_with
        what_is_left what_is_left_batched_with
        total_of_a_type total_of_a_type_batched_with
        asked_by_types asked_by_types_batched_with
        computed_counts computed_counts_batched_with
        in_the_library in_the_library_batched_with
        holding_a_lock holding_a_lock_batched_with
        looking_back looking_back_batched_with
        taken_or_not taken_or_not_batched_with
        twigs twigs_batched_with
    }
    let model = Model { seed: 5 };
    agree_at(&[13], &N, |n| model.lean(*n), |n, o| model.lean_batched_with(n, o));
    for (name, program) in per_member() {
        let per_member = !program.notes.is_empty() || program.asks;
        assert!(per_member, "`{name}` is batched now: move it to tests/constructs/batched.rs");
    }
    // Every one that such a row names stays out.
    assert_eq!(asked_by_types_batched::program().notes.len(), 4);
    assert_eq!(computed_counts_batched::program().notes.len(), 3);
    assert_eq!(in_the_library_batched::program().notes.len(), 5);
}

/// Why a function runs per member of which no note says it.
const ASKED: &str = "a local's type may borrow, or does something when it is dropped";

/// What is refused, by the case in `tests/diagnostics/ui` whose first error says why.
const REFUSED: [(&str, &str); 16] = [
    ("`async fn`", "async_fn"),
    ("`unsafe fn`", "unsafe_fn"),
    ("`extern \"C\" fn`", "foreign_abi"),
    ("a variadic function", "variadic"),
    ("a function that returns `!`", "never_returns"),
    ("a result of type `impl Trait`", "impl_trait_result"),
    ("no parameter that differs between members", "nothing_to_batch_over"),
    ("`#[shared]` on a `&mut`", "shared_state"),
    ("`#[each]` on a value", "each_on_a_value"),
    ("a function without a body", "a_missing_body"),
    ("a method by itself", "on_a_method"),
    ("the implementation of a trait for a type of another crate", "on_an_implementation_of_a_trait"),
    ("a structure, an enumeration, a trait", "on_a_struct"),
    ("a module with private functions only", "nothing_visible"),
    ("an unknown argument", "unknown_argument"),
    ("the attribute twice", "twice"),
];

/// A row of the page.
struct Row {
    section: String,
    text: String,
    name: String,
    /// Whether it has to be batched.
    strict: bool,
}

/// Functions with their comments, from the text of a file.
fn rows(file: &str) -> Vec<Row> {
    let (mut section, mut text, mut strict) = (String::new(), String::new(), false);
    let mut rows = Vec::new();
    for line in file.lines() {
        if let Some(title) = line.strip_prefix("// ## ") {
            section = title.to_owned();
        } else if let Some(part) = line.strip_prefix("/// ") {
            text = part.to_owned();
        } else if line.starts_with("#[autobatch") {
            strict = line.contains("strict");
        } else if !text.is_empty() && !line.starts_with('#') {
            let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
            let at = words.iter().position(|word| ["fn", "mod", "impl"].contains(word));
            let name = at.map_or(line, |at| words[at + 1]).to_owned();
            rows.push(Row { section: section.clone(), text: std::mem::take(&mut text), name, strict });
        }
    }
    rows
}

/// The rows of what is batched, and the files they stand in.
fn batched() -> Vec<(&'static str, Row)> {
    let files = [
        ("batched.rs", include_str!("batched.rs")),
        ("values.rs", include_str!("values.rs")),
        ("functions.rs", include_str!("functions.rs")),
    ];
    files.into_iter().flat_map(|(file, text)| rows(text).into_iter().map(move |row| (file, row))).collect()
}

/// The page.
fn page() -> String {
    let alone = include_str!("per_member.rs");
    let mut page = String::from(
        "# What becomes of each construct\n\n\
         This page is written by `tests/constructs/main.rs`, which compiles and runs every row. *Batched*: part of the batched program, \
         under `strict`. *Per member*: the scalar code runs for each member, with the same result; `program()` says where and why, \
         and `strict` makes it an error. *Refused*: a compile error, because it has no batched meaning.\n",
    );
    let mut section = String::new();
    for (file, row) in batched() {
        if row.section != section {
            section = row.section;
            // Writing to a string can't fail.
            let _ = write!(page, "\n## {section}\n\n| construct | | shown by |\n|---|---|---|\n");
        }
        let _ = writeln!(
            page,
            "| {} | {} | [`{}`](../tests/constructs/{file}) |",
            row.text.replace('|', "\\|"),
            if row.strict { "batched" } else { "per member" },
            row.name
        );
    }
    page.push_str("\n## What runs per member\n\n| construct | | why |\n|---|---|---|\n");
    let programs = per_member();
    for row in rows(alone) {
        let notes = programs.iter().find(|(name, _)| *name == row.name).map(|(_, program)| program.notes);
        let why = notes.and_then(|notes| notes.first()).map_or(ASKED, |note| note.why);
        let _ = writeln!(page, "| {} | per member | {why} |", row.text);
    }
    page.push_str("\n## What is refused\n\n| construct | | why | what to write |\n|---|---|---|---|\n");
    for (text, case) in REFUSED {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics/ui").join(format!("{case}.stderr"));
        let message = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let part = |prefix: &str| {
            let line = message.lines().find_map(|line| line.trim_start().strip_prefix(prefix));
            line.unwrap_or_else(|| panic!("{case}: no `{prefix}`")).replace('|', "\\|")
        };
        let _ = writeln!(page, "| {text} | refused | {} | {} |", part("error: "), part("help: "));
    }
    page.push_str(
        "\n## What a call of the batched form refuses\n\n| arguments | | message |\n|---|---|---|\n",
    );
    let only_same = blocks_batched_with(autobatch::same(3), &autobatch::Options::default());
    let error = only_same.expect_err("there is no column with a length");
    assert_eq!(error, autobatch::BatchError::NoLength);
    let _ = writeln!(page, "| only columns that are `same(…)` | `BatchError::{error:?}` | {error} |");
    page
}

#[test]
fn the_page_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/constructs.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &page).expect("the page can be written");
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        known == page,
        "docs/constructs.md is not what the tests say: BLESS=1 cargo test --test constructs"
    );
}

/// What runs per member, the cases of `tests/diagnostics/ui` refuse under `strict`.
#[test]
fn strict_refuses_what_runs_per_member() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics/ui");
    let files =
        fs::read_dir(&folder).expect("the cases are there").filter_map(|entry| Some(entry.ok()?.path()));
    let texts: Vec<String> = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
    let mut missing = Vec::new();
    for (name, program) in per_member() {
        let Some(note) = program.notes.first() else { continue };
        let why = note.why;
        // Variables have other names there.
        let why = if why.starts_with('`') { why.split_once("` ").map_or(why, |(_, rest)| rest) } else { why };
        let refused = |text: &String| {
            text.lines()
                .any(|line| line.starts_with("error") && line.contains(": `strict`: ") && line.ends_with(why))
        };
        missing.extend((!texts.iter().any(refused)).then_some((name, why)));
    }
    assert!(missing.is_empty(), "no case shows that `strict` refuses {missing:#?}");
}

/// Every function of the page is run above.
#[test]
fn no_row_is_forgotten() {
    let this = include_str!("main.rs");
    let all: Vec<Row> = batched().into_iter().map(|(_, row)| row).collect();
    let alone = rows(include_str!("per_member.rs"));
    assert!(all.len() > 70, "{}", all.len());
    let elsewhere = [
        ("inserting", "inserted"),
        ("parts_replaced", "twigs"),
        ("borrowing", "lend"),
        ("parity", "even"),
        ("Model", "grow"),
        ("Term", "value"),
        ("methods", "climb"),
        ("Rungs", "rungs"),
        ("Route", "length"),
        ("result_may_borrow", "shortest"),
        ("generic_helper", "entry"),
        ("same_names", "outer"),
        ("owning", "owned"),
        ("vectors", "norms"),
        ("sorting", "sorted"),
        ("returned_borrows", "handed"),
        ("making", "made"),
        ("conditional", "there"),
        ("helpers", "helped"),
        ("T", "height"),
        ("Purse", "spend"),
        ("stored", "later"),
        ("several_locals", "longer"),
        ("library_traits", "walked"),
        ("other_types", "stepped"),
        ("which_one", "halved"),
        ("two_methods", "up_and_down"),
    ];
    for row in all.iter().chain(&alone) {
        let name =
            elsewhere.iter().find(|(name, _)| *name == row.name).map_or(&*row.name, |(_, inner)| inner);
        assert!(
            this.contains(&format!("{name}_batched_with("))
                || this.contains(&format!("{name}_batched_with\n")),
            "{name}"
        );
    }
}
