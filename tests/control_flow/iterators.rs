//! `for` over iterators of every kind, alive across loops and recursive calls.

#![allow(clippy::needless_range_loop, clippy::manual_is_multiple_of)] // written as users write

use crate::common::{agree_at, column};
use autobatch::autobatch;

const SIZES: [usize; 4] = [0, 1, 97, 1013];

/// `children[i]` are the children of node i.
#[autobatch(strict)]
fn subtree(at: usize, children: &[Vec<usize>]) -> usize {
    let mut size = 1;
    for child in &children[at] {
        size += subtree(*child, children);
    }
    size
}

#[autobatch(strict)]
fn height(at: usize, children: &[Vec<usize>]) -> usize {
    let mut best = 0;
    for (i, child) in children[at].iter().enumerate().rev() {
        let below = height(*child, children) + i % 2;
        if below > best {
            best = below;
        }
    }
    best + 1
}

#[autobatch(strict)]
fn search(at: usize, wanted: usize, children: &[Vec<usize>]) -> Option<usize> {
    if at == wanted {
        return Some(0);
    }
    for child in children[at].iter().copied() {
        if let Some(depth) = search(child, wanted, children) {
            return Some(depth + 1);
        }
    }
    None
}

#[autobatch(strict)]
fn ranges(n: u32) -> u32 {
    if n == 0 {
        return 1;
    }
    let mut sum = 0u32;
    for i in (0..=n).rev().step_by(3) {
        sum = sum.wrapping_mul(31).wrapping_add(i);
        if i > 0 && i < n {
            sum = sum.wrapping_add(ranges(i / 2));
        }
    }
    sum
}

#[autobatch(strict)]
fn labelled(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let mut sum = 0;
    'rows: for row in 0..n {
        for cell in row..n {
            if cell % 4 == 3 {
                continue 'rows;
            }
            if row * cell > 12 {
                break 'rows;
            }
            sum += labelled((row + cell) % n) % 100;
        }
        sum += 1;
    }
    sum
}

#[autobatch(strict)]
fn knapsack(at: usize, room: u32, items: &[(u32, u32)]) -> u32 {
    let mut best = 0;
    for (i, &(weight, value)) in items.iter().enumerate().skip(at).filter(|(i, _)| i % 7 != 6) {
        if weight <= room {
            let with = value + knapsack(i + 1, room - weight, items);
            best = best.max(with);
        }
    }
    best
}

#[autobatch(strict)]
fn nested_brackets(text: &str, from: usize) -> (usize, u32) {
    let mut depth = 0;
    let mut skip = 0;
    for (i, c) in text.char_indices() {
        if i < from || i < skip {
            continue;
        }
        match c {
            '(' => {
                let (end, inner) = nested_brackets(text, i + 1);
                depth = depth.max(inner + 1);
                skip = end;
            }
            ')' => return (i + 1, depth),
            _ => {}
        }
    }
    (text.len(), depth)
}

#[autobatch]
fn matches(#[each] pattern: &[u8], #[each] text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => {
            for skip in 0..=text.len() {
                if matches(rest, &text[skip..]) {
                    return true;
                }
            }
            false
        }
        [b'?', rest @ ..] => !text.is_empty() && matches(rest, &text[1..]),
        [c, rest @ ..] => text.first() == Some(c) && matches(rest, &text[1..]),
    }
}

#[autobatch]
fn zipped(#[each] xs: &[f64], #[each] ys: &[f64], depth: u32) -> f64 {
    let mut sum = 0.0;
    for (x, y) in xs.iter().zip(ys) {
        if *x > *y && depth > 0 {
            sum += zipped(&xs[1..], ys, depth - 1) * 0.5;
        } else {
            sum += x * y;
        }
    }
    sum
}

/// Not `strict`: the compiler can't tell that the iterator owns its items.
#[autobatch]
fn owned_items(n: u32) -> String {
    let words: Vec<String> = (0..n).map(|i| format!("w{i}")).collect();
    let mut all = String::new();
    for (i, word) in words.into_iter().enumerate() {
        all.push_str(&word);
        if i == 2 {
            let below = owned_items(n / 2);
            all += &below;
        }
        if all.len() > 60 {
            break;
        }
    }
    all
}

fn children() -> Vec<Vec<usize>> {
    (0..40_usize).map(|i| (3 * i + 1..3 * i + 4).filter(|c| *c < 40 && (c * 7) % 5 != 2).collect()).collect()
}

/// Closures that take the parts of a tuple by reference, around calls.
#[autobatch]
fn of_parts(#[each] values: &[i64], k: usize) -> i64 {
    if values.len() < 3 || k == 0 {
        return values.iter().sum::<i64>() + k as i64;
    }
    let above =
        values.chunks(3).enumerate().filter(|(i, c)| of_parts(&c[..], k - 1) > *i as i64).count() as i64;
    let found =
        values.windows(2).enumerate().find(|(i, pair)| of_parts(pair, k - 1) + pair[0] > 3 + *i as i64);
    let heavy = values.iter().zip(1..).max_by_key(|(v, i)| of_parts(&values[..*i / 2], k - 1) * **v);
    above * 100 + found.map_or(-1, |(i, pair)| i as i64 + pair[1]) + heavy.map_or(0, |(v, i)| v + i as i64)
}

/// What refers to a reference, or to a tuple with one, lives no longer than that.
#[autobatch]
fn references_to_references(#[each] values: &[i64], k: usize) -> i64 {
    if values.len() < 2 || k == 0 {
        return values.iter().sum();
    }
    let mut total = 0;
    for item in values.chunks(2).enumerate() {
        let (i, chunk) = &item;
        if references_to_references(&chunk[..], k - 1) > *i as i64 {
            total += chunk[0];
        }
        total += number(&item.0) * references_to_references(item.1, k / 2);
    }
    total * values[0]
}

/// One that is kept across a call can't be followed; the scalar code runs.
#[autobatch]
fn reference_across_a_call(#[each] values: &[i64], k: usize) -> i64 {
    let kept = &values;
    if k == 0 { kept[0] } else { reference_across_a_call(&values[k % 2..], k - 1) * 3 + kept[k % 2] }
}

/// What a type says to be owned borrows from nothing, whatever it is made of.
#[autobatch(strict)]
fn moved_in_parts(mut values: Vec<i64>, k: usize) -> Vec<i64> {
    let Some(pivot) = values.pop().filter(|_| k > 0) else { return values };
    let (small, large): (Vec<i64>, Vec<i64>) = values.into_iter().partition(|value| *value < pivot);
    let mut all = moved_in_parts(small, k - 1);
    all.push(pivot);
    all.extend(moved_in_parts(large, k - 1));
    all
}

fn number(n: &usize) -> i64 {
    *n as i64
}

#[test]
fn closures_take_parts_of_tuples() {
    let inputs: Vec<(Vec<i64>, usize)> =
        (0..24).map(|n| ((0..n % 8).map(|i| i * 37 % 11 - 4 + n / 8).collect(), n as usize % 4)).collect();
    agree_at(
        &[0, 1, 97],
        &inputs,
        |(v, k)| of_parts(v, *k),
        |b, o| of_parts_batched_with(&column(b, |b| b.0.clone()), column(b, |b| b.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |(v, k)| references_to_references(v, *k),
        |b, o| references_to_references_batched_with(&column(b, |b| b.0.clone()), column(b, |b| b.1), o),
    );
    agree_at(
        &[0, 1, 97],
        &inputs,
        |(v, k)| moved_in_parts(v.clone(), *k),
        |b, o| moved_in_parts_batched_with(column(b, |b| b.0.clone()), column(b, |b| b.1), o),
    );
    let inputs = column(&inputs, |(v, k)| ([&v[..], &[1; 5]].concat(), *k));
    agree_at(
        &[0, 1, 97],
        &inputs,
        |(v, k)| reference_across_a_call(v, *k),
        |b, o| reference_across_a_call_batched_with(&column(b, |b| b.0.clone()), column(b, |b| b.1), o),
    );
    assert!(reference_across_a_call_batched::program().whole_scalar);
}

#[test]
fn over_shared_data() {
    let children = children();
    let at: Vec<usize> = (0..40).collect();
    agree_at(&SIZES, &at, |i| subtree(*i, &children), |i, o| subtree_batched_with(i, &children, o));
    agree_at(&SIZES, &at, |i| height(*i, &children), |i, o| height_batched_with(i, &children, o));
    agree_at(
        &SIZES,
        &at,
        |i| search(0, *i, &children),
        |i, o| search_batched_with(autobatch::same(0), i, &children, o),
    );
    let items: Vec<(u32, u32)> = (0..9).map(|i| (2 + i * 5 % 7, 1 + i * 11 % 13)).collect();
    let rooms: Vec<u32> = (0..19).collect();
    agree_at(
        &SIZES,
        &rooms,
        |room| knapsack(0, *room, &items),
        |room, o| knapsack_batched_with(autobatch::same(0), room, &items, o),
    );
    let text = "a(b(c)d)((é)(f(g)))h";
    let from: Vec<usize> = (0..text.len()).collect();
    agree_at(
        &SIZES,
        &from,
        |from| nested_brackets(text, *from),
        |from, o| nested_brackets_batched_with(text, from, o),
    );
}

#[test]
fn over_ranges() {
    let ns: Vec<u32> = (0..17).collect();
    agree_at(&SIZES, &ns, |n| ranges(*n), |n, o| ranges_batched_with(n, o));
    let ns: Vec<u32> = (0..8).collect();
    agree_at(&SIZES, &ns, |n| labelled(*n), |n, o| labelled_batched_with(n, o));
}

#[test]
fn over_what_belongs_to_the_member() {
    let patterns = ["", "*", "a*b", "?*c", "a**?", "abc", "*a*a"];
    let texts = ["", "abc", "aab", "banana"];
    let mut pairs: Vec<(&[u8], &[u8])> = Vec::new();
    for p in patterns {
        for t in texts {
            pairs.push((p.as_bytes(), t.as_bytes()));
        }
    }
    agree_at(
        &SIZES,
        &pairs,
        |(p, t)| matches(p, t),
        |b, o| matches_batched_with(column(b, |x| x.0), column(b, |x| x.1), o),
    );
    let rows: Vec<(Vec<f64>, Vec<f64>, u32)> = (0..15_u32)
        .map(|i| {
            let values = |k: u32| (0..i % 5).map(|j| f64::from((i * k + j * 3) % 7) * 0.3).collect();
            (values(2), values(5), i % 4)
        })
        .collect();
    agree_at(
        &SIZES,
        &rows,
        |(x, y, d)| zipped(x, y, *d),
        |b, o| {
            let (x, y) = (column(b, |r| r.0.clone()), column(b, |r| r.1.clone()));
            zipped_batched_with(&x, &y, column(b, |r| r.2), o)
        },
    );
    let ns: Vec<u32> = (0..14).collect();
    agree_at(&SIZES, &ns, |n| owned_items(*n), |n, o| owned_items_batched_with(n, o));
}

/// Closures of chains that capture numbers and shared references: kept across loops and calls.
#[allow(clippy::while_let_on_iterator)] // the iterator stands in a local across calls
#[autobatch]
fn stepped(n: u64, table: &[u64]) -> u64 {
    let (step, parts) = (n * 2 + 1, [n, 5, 7]);
    let scale: u64 = table.len() as u64;
    let mut sum = 0;
    for x in (0..n).map(|i| i * step + scale) {
        if x > 50 {
            break;
        }
        sum += x + if n > 3 { stepped(n / 2, table) } else { 1 };
    }
    for x in table.iter().map(|t| t * scale + n).take_while(|x| *x < 100 + n) {
        if x % 7 == sum % 7 {
            break;
        }
        sum += x;
    }
    for part in (0..3).map(|i| &parts[i]).filter(|part| **part != n) {
        if *part == 7 {
            continue;
        }
        sum += part + parts.iter().filter(|x| *x > part).count() as u64;
    }
    let mut rest = (0..n).map(|i| i * scale).filter(|x| x % 3 != n % 3);
    while let Some(x) = rest.next() {
        sum += if x < n { stepped(x, &table[1..]) % 10 } else { x };
    }
    sum
}

#[test]
fn closures_of_chains_capture_numbers() {
    let n: Vec<u64> = (0..8).collect();
    let table = [3, 5, 1, 9, 11, 2, 4, 8, 6, 7];
    agree_at(&[1, 67], &n, |n| stepped(*n, &table), |n, o| stepped_batched_with(n, &table, o));
}
