//! References kept in local containers and structs, filled in loops: ordinary functions.

#![allow(clippy::all)] // as users write, not as one should

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};

use autobatch::autobatch;

use crate::common::promises::{Rows, agree, lists, numbers, promises, texts};

#[autobatch]
fn groups(values: Vec<f64>) -> f64 {
    let mut groups: Vec<Vec<&f64>> = Vec::new();
    for x in &values {
        match groups.last_mut() {
            Some(g) if (*g[0] < 0.0) == (*x < 0.0) => g.push(x),
            _ => groups.push(vec![x]),
        }
    }
    let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
    groups.iter().fold(longest as f64, |sum, g| sum * 0.5 + g.iter().copied().sum::<f64>())
}

#[autobatch]
fn owned_groups(values: Vec<f64>) -> f64 {
    let mut groups: Vec<Vec<f64>> = Vec::new();
    for x in values {
        match groups.last_mut() {
            Some(g) if g[0] < x => g.push(x),
            _ => groups.push(vec![x]),
        }
    }
    groups.iter().fold(groups.len() as f64, |sum, g| sum * 0.5 + g.iter().sum::<f64>())
}

#[autobatch]
fn adjacency(n: u64) -> String {
    let names: Vec<String> = (0..n % 7 + 2).map(|k| format!("n{}", k * n % 10)).collect();
    let mut adj: BTreeMap<u64, Vec<&String>> = BTreeMap::new();
    for i in 0..names.len() {
        let a = (i as u64 * n) % 3;
        adj.entry(a).or_default().push(&names[i]);
    }
    let mut out = String::new();
    for (a, list) in &adj {
        out += &a.to_string();
        for name in list {
            out += name;
        }
    }
    out
}

#[autobatch]
fn buckets(text: String) -> String {
    let mut m: HashMap<usize, Vec<&str>> = HashMap::new();
    for w in text.split(' ') {
        let k = w.len();
        if let Some(b) = m.get_mut(&k) {
            b.push(w);
        } else {
            m.insert(k, vec![w]);
        }
    }
    let mut keys: Vec<_> = m.keys().copied().collect();
    keys.sort_unstable();
    let mut out = String::new();
    for k in keys {
        let b = &m[&k];
        out += b[b.len() - 1];
        out += &b.len().to_string();
    }
    out
}

#[autobatch]
fn columns(n: u64) -> String {
    let texts: Vec<String> = (0..n % 5 + 1).map(|k| (k * k + n).to_string()).collect();
    let mut columns = Vec::new();
    for i in 0..texts.len() {
        let key = (i as u64 * 7 + n) % 5;
        if key != 2 {
            columns.push((key, &texts[i]));
        }
    }
    columns.sort();
    columns.iter().map(|(key, text)| format!("{key}{text}")).collect()
}

#[autobatch]
fn filtered(values: Vec<f64>) -> f64 {
    let xs = values;
    let mut found = Vec::new();
    for round in 0..2 {
        xs.iter().filter(|x| **x > f64::from(round)).for_each(|x| found.push(x));
    }
    found.iter().fold(found.len() as f64, |sum, x| sum * 0.5 + **x)
}

struct Tree {
    value: u64,
    children: Vec<Tree>,
}

impl Tree {
    fn of(n: u64) -> Tree {
        Tree { value: n, children: (0..n.min(3)).map(|k| Tree::of(n / (k + 2))).collect() }
    }

    fn leaves<'a>(&'a self, out: &mut Vec<&'a Tree>) {
        if self.children.is_empty() {
            out.push(self);
        }
        for child in &self.children {
            child.leaves(out);
        }
    }
}

#[autobatch]
fn leaves(n: u64) -> u64 {
    let t = Tree::of(n);
    let mut out = Vec::new();
    t.leaves(&mut out);
    let mut sum = 0;
    for leaf in &out {
        sum = (sum * 3 + leaf.value + 1) % 1_000_003;
    }
    sum * 100 + out.len() as u64
}

/// The walk is in the function itself, with a stack of references.
#[autobatch]
fn depth_first(n: u64) -> u64 {
    let t = Tree::of(n);
    let mut stack = vec![(&t, 1)];
    let mut sum = 0;
    while let Some((tree, depth)) = stack.pop() {
        sum = (sum * 3 + tree.value * depth) % 1_000_003;
        for child in &tree.children {
            stack.push((child, depth + 1));
        }
    }
    sum
}

struct Best<'a> {
    word: &'a str,
    score: u64,
}

#[autobatch]
fn best(text: String) -> String {
    let mut best = Best { word: "", score: 0 };
    for w in text.split(' ') {
        let score = w.bytes().map(u64::from).sum();
        if score > best.score {
            best = Best { word: w, score };
        }
        if w == "elm" {
            break;
        }
    }
    format!("{}{}", best.word, best.score)
}

#[autobatch]
fn previous_and_current(n: u64) -> u64 {
    let mut rows = vec![vec![n, 1, 2]; 4];
    for i in 0..3 {
        let (done, rest) = rows.split_at_mut(i + 1);
        let (prev, cur) = (&done[i], &mut rest[0]);
        for j in 0..3 {
            if (j as u64 + n) % 3 != 0 {
                cur[j] = prev[j] * 2 + prev[(j + 1) % 3];
            }
        }
    }
    rows[3][0] + 7 * rows[3][1] + 49 * rows[3][2]
}

#[autobatch]
fn sets_of_words(text: String) -> u64 {
    let (mut seen, mut twice) = (HashSet::new(), BTreeSet::new());
    for word in text.split_whitespace() {
        if !seen.insert(word) {
            twice.insert(word);
        }
    }
    let first = twice.first().map_or(0, |word| word.len() as u64);
    seen.len() as u64 * 100 + twice.len() as u64 * 10 + first
}

#[autobatch]
fn heap_of_references(n: u64) -> f64 {
    let rows: Vec<u64> = (0..6).map(|k| (k * k * 7 + n) % 23).collect();
    let mut heap = BinaryHeap::new();
    let mut sum = 0.0;
    for (k, row) in rows.iter().enumerate() {
        heap.push((row, k));
        if k as u64 % 3 == n % 3 {
            let (largest, at) = heap.pop().unwrap();
            sum = sum * 0.5 + *largest as f64 + at as f64;
        }
    }
    sum + heap.peek().map_or(0.0, |(row, _)| **row as f64)
}

#[autobatch]
fn memo_of_references(n: u64) -> u64 {
    let parts: Vec<Vec<u64>> = (0..5).map(|k| (0..=(k * n) % 4).collect()).collect();
    let mut memo: HashMap<u64, &Vec<u64>> = HashMap::new();
    let mut sum = 0;
    for k in 0..n % 12 {
        let key = (k * k) % 5;
        let part = match memo.get(&key) {
            Some(part) => {
                sum += 1;
                *part
            }
            None => {
                memo.insert(key, &parts[key as usize]);
                &parts[0]
            }
        };
        sum = sum * 2 + part.len() as u64;
    }
    sum
}

#[autobatch]
fn longest_run<'a>(text: &'a str, n: u64) -> (&'a str, usize) {
    let mut runs: Vec<&'a str> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.find(|c: char| u64::from(u32::from(c)) % 5 == n % 5).unwrap_or(rest.len());
        let (run, others) = rest.split_at(at.max(1));
        runs.push(run);
        rest = others;
    }
    let longest = runs.iter().max_by_key(|run| run.len()).unwrap();
    (longest, runs.len())
}

#[test]
fn the_longest_part_of_a_shared_text_is_returned() {
    const TEXT: &str = "a shared text that all members read, and that results borrow from";
    agree!(numbers(), |&n| longest_run(TEXT, n), |batch, options| longest_run_batched_with(
        TEXT, batch, options
    ));
}

#[autobatch]
fn table_of_slices(n: u64) -> f64 {
    let x = Rows::of(n);
    let mut table: [[&f64; 2]; 3] = [[&x.d[0]; 2]; 3];
    for i in 0..3 {
        for j in 0..2 {
            if (i + j) as u64 % 2 == n % 2 {
                table[i][j] = &x.d[i * 2 + j];
            }
        }
    }
    let sum = table.iter().flatten().fold(0.0, |sum, v| sum * 0.5 + **v);
    sum + x.spent()
}

#[autobatch]
fn lists_of_exclusive_references(n: u64) -> u64 {
    let mut values = vec![n, 1, 2, 3, 4];
    {
        let mut odd: Vec<&mut u64> = Vec::new();
        for (k, value) in values.iter_mut().enumerate() {
            if (k as u64 + n) % 2 == 1 {
                odd.push(value);
            }
        }
        while let Some(value) = odd.pop() {
            *value += 10 * odd.len() as u64;
            if let Some(first) = odd.first_mut() {
                **first += 1;
            }
        }
    }
    values.iter().fold(0, |sum, v| sum * 7 + v)
}

#[autobatch]
fn map_of_exclusive_references(n: u64) -> u64 {
    let (mut a, mut b, mut c) = (n, n + 1, 5);
    let mut by_key = BTreeMap::from([(n % 3, &mut a), (n % 5, &mut b)]);
    let mut k = n;
    while k > 0 {
        if let Some(value) = by_key.get_mut(&(k % 4)) {
            **value += k;
        } else if k % 2 == 0 {
            by_key.entry(k % 4).or_insert(&mut c);
            break;
        }
        k /= 2;
    }
    for value in by_key.into_values() {
        *value *= 3;
    }
    a + 1000 * b + 1_000_000 * c
}

/// A parser that keeps what is left, and what it has read.
struct Tokens<'a> {
    rest: &'a str,
    read: Vec<&'a str>,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Tokens { rest: text, read: Vec::new() }
    }

    fn word(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start();
        if text.is_empty() {
            return None;
        }
        let (word, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
        self.rest = rest;
        self.read.push(word);
        Some(word)
    }
}

#[autobatch]
fn parsed(text: String) -> u64 {
    let mut tokens = Tokens::new(&text);
    let mut sum = 0;
    while let Some(word) = tokens.word() {
        match word.parse::<u64>() {
            Ok(number) => sum += number,
            Err(_) if word == "oak" => break,
            Err(_) => sum = sum * 2 + word.len() as u64,
        }
    }
    let last = tokens.read.last().map_or(0, |word| word.len() as u64);
    sum * 100 + last * 10 + tokens.rest.len() as u64
}

#[autobatch]
mod parsed_recursively {
    use super::Tokens;

    pub(super) fn run(text: String) -> u64 {
        let mut tokens = Tokens::new(&text);
        let sum = sum(&mut tokens, 0);
        sum * 10 + tokens.read.len() as u64
    }

    fn sum(tokens: &mut Tokens<'_>, depth: u64) -> u64 {
        let Some(word) = tokens.word() else { return depth };
        let value = word.len() as u64 * (depth + 1);
        let first = sum(tokens, depth + 1);
        if word.len() % 2 == 0 { first * 2 + value } else { first + value + sum(tokens, depth + 2) }
    }
}

promises! {
    elements_are_grouped_by_the_last_group: groups, groups_batched_with, lists();
    owned_elements_are_grouped_by_the_last_group: owned_groups, owned_groups_batched_with, lists();
    a_map_of_lists_holds_references: adjacency, adjacency_batched_with, numbers();
    buckets_of_a_map_hold_references: buckets, buckets_batched_with, texts();
    pairs_in_a_list_hold_references: columns, columns_batched_with, numbers();
    a_filter_fills_a_list_of_references: filtered, filtered_batched_with, lists();
    leaves_of_a_local_tree_are_kept: leaves, leaves_batched_with, numbers();
    a_stack_of_references_walks_a_tree: depth_first, depth_first_batched_with, numbers();
    the_best_so_far_holds_a_reference: best, best_batched_with, texts();
    the_previous_row_is_read_and_the_current_is_written:
        previous_and_current, previous_and_current_batched_with, numbers();
    sets_hold_references: sets_of_words, sets_of_words_batched_with, texts();
    a_heap_holds_references: heap_of_references, heap_of_references_batched_with, numbers();
    a_memo_holds_references: memo_of_references, memo_of_references_batched_with, numbers();
    a_table_holds_references: table_of_slices, table_of_slices_batched_with, numbers();
    a_list_holds_exclusive_references:
        lists_of_exclusive_references, lists_of_exclusive_references_batched_with, numbers();
    a_map_holds_exclusive_references: map_of_exclusive_references, map_of_exclusive_references_batched_with, numbers();
    a_parser_holds_what_it_read: parsed, parsed_batched_with, texts();
    a_recursive_parser_holds_what_it_read:
        parsed_recursively::run, parsed_recursively::run_batched_with, texts();
}
