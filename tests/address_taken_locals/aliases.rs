//! Locals that other names borrow: aliases, parts, tuples and structs of references, references that are assigned, what patterns
//! bind; across calls, loops, and in tail position.

#![allow(clippy::useless_vec)] // written as users write

use crate::common::agree_at;
use autobatch::autobatch;

#[autobatch]
mod deferred {
    pub(super) fn run(n: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        let x;
        let y = vec![2, n];
        let r: &Vec<u32>;
        if n.is_multiple_of(2) {
            x = vec![n, n + 1, n + 2];
            r = &x;
        } else {
            r = &y;
        }
        let a = run(n / 2);
        let b = sum(r) + a;
        b + r[0]
    }
    fn sum(v: &[u32]) -> u32 {
        match v {
            [] => 0,
            [a, r @ ..] => a + sum(r),
        }
    }
}

#[autobatch]
mod deferred_late {
    pub(super) fn run(n: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        let kept;
        let s: &[u32] = if n.is_multiple_of(3) {
            kept = vec![n; 4];
            &kept
        } else {
            &[1, 2]
        };
        let a = run(n - 1) % 100;
        a + s.len() as u32 + s[1]
    }
}

#[autobatch]
mod alias_chain {
    pub(super) fn run(n: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        let kept: Vec<Vec<u32>> = (0..n % 4).map(|i| vec![i; 3]).collect();
        let Some(first) = kept.first() else { return run(n - 1) };
        let again = first;
        let part = &again[1..];
        let q = part;
        go(q, n % 5)
    }
    fn go(v: &[u32], n: u32) -> u32 {
        if n == 0 { v.iter().sum() } else { go(v, n - 1) + go(&v[..1], n / 2) }
    }
}

#[autobatch]
mod alias_tuple {
    pub(super) fn run(n: u32) -> u32 {
        let a = vec![n, n + 1];
        let b = vec![n * 2];
        let (p, q) = if n.is_multiple_of(2) { (&a, &b) } else { (&b, &a) };
        let (x, y) = (p, q);
        go(x, y, n % 6)
    }
    fn go(v: &[u32], w: &[u32], n: u32) -> u32 {
        if n == 0 { v.iter().sum::<u32>() * 3 + w[0] } else { go(w, v, n - 1) }
    }
}

#[autobatch]
mod by_struct {
    #[derive(Clone, Copy)]
    struct View<'a> {
        v: &'a [u32],
        at: usize,
    }
    pub(super) fn run(n: u32) -> u32 {
        let a = vec![n, n + 1, 7];
        let view = View { v: &a, at: 1 };
        let w = View { at: 2, ..view };
        go(w, n % 6) + go(view, 2)
    }
    fn go(v: View<'_>, n: u32) -> u32 {
        if n == 0 {
            v.v[v.at]
        } else {
            let next = View { v: v.v, at: (v.at + 1) % v.v.len() };
            go(next, n - 1)
        }
    }
}

#[autobatch]
mod loop_carried {
    pub(super) fn run(n: u32) -> u32 {
        let rows: Vec<Vec<u32>> = (0..5).map(|i| vec![i + n; 3]).collect();
        let mut cur = &rows[0];
        let mut sum = 0;
        for k in 0..n % 7 {
            let next = &rows[(k as usize * 3 + 1) % 5];
            sum += f(cur, k);
            cur = if sum.is_multiple_of(2) { next } else { cur };
        }
        f(cur, 2) + sum
    }
    fn f(v: &[u32], n: u32) -> u32 {
        if n == 0 { v[0] } else { f(v, n - 1) + 1 }
    }
}

#[autobatch]
mod replaced {
    pub(super) fn run(n: u32) -> u32 {
        let mut buf = vec![n; 3];
        let mut sum = 0;
        for k in 0..n % 5 {
            let r = &buf;
            sum += f(r, k);
            buf = vec![sum; 2 + k as usize];
            let s = buf.as_slice();
            sum += f(s, k);
        }
        let last = buf.last();
        match last {
            Some(x) => f(std::slice::from_ref(x), 3),
            None => 0,
        }
    }
    fn f(v: &[u32], n: u32) -> u32 {
        if n == 0 { v[0] % 50 } else { f(v, n - 1) + 1 }
    }
}

#[autobatch]
mod shadowed {
    pub(super) fn run(n: u32) -> u32 {
        let s = vec![n, 2];
        let r = &s;
        let s = vec![3, n];
        let q = &s;
        let s = f(r, n % 4);
        f(q, s % 3) + f(r, 1)
    }
    fn f(v: &[u32], n: u32) -> u32 {
        if n == 0 { v[0] % 50 } else { f(v, n - 1) + 1 }
    }
}

#[autobatch]
mod block_scoped {
    pub(super) fn run(n: u32) -> u32 {
        let mut sum = 0;
        let outer = vec![n, n + 9];
        let mut best: &[u32] = &outer;
        {
            let inner = vec![n; 6];
            let r = if n.is_multiple_of(2) { &inner[..2] } else { best };
            sum += f(r, n % 4);
            if sum.is_multiple_of(3) {
                return f(r, 2);
            }
        }
        if n.is_multiple_of(5) {
            best = &outer[1..];
        }
        loop {
            let tmp = vec![sum, n];
            let t = &tmp[..];
            sum += f(t, 1) + 1;
            if sum > 100 {
                break f(best, 3) + f(t, 0);
            }
        }
    }
    fn f(v: &[u32], n: u32) -> u32 {
        if n == 0 { v[0] % 50 } else { f(v, n - 1) + 1 }
    }
}

#[autobatch]
mod boxed {
    struct Node {
        v: u32,
        next: Option<Box<Node>>,
    }
    fn build(n: u32) -> Option<Box<Node>> {
        if n == 0 { None } else { Some(Box::new(Node { v: n, next: build(n - 1) })) }
    }
    pub(super) fn run(n: u32) -> u32 {
        let list = build(n % 6);
        let mut cur = &list;
        let mut sum = 0;
        while let Some(node) = cur {
            sum += node.v * depth(&node.next);
            cur = &node.next;
        }
        let Some(head) = list.as_ref() else { return 0 };
        let tail = &head.next;
        sum + depth(tail) + last(head)
    }
    fn depth(n: &Option<Box<Node>>) -> u32 {
        match n {
            None => 0,
            Some(n) => 1 + depth(&n.next),
        }
    }
    fn last(n: &Node) -> u32 {
        match &n.next {
            None => n.v,
            Some(m) => last(m),
        }
    }
}

#[autobatch]
mod strings {
    pub(super) fn run(n: u32) -> u32 {
        let text = format!("{},{},{}", n, n * 3, n * n);
        let parts: Vec<&str> = text.split(',').collect();
        let mid = parts[1];
        let head = parts.first().copied().unwrap_or("");
        digits(mid) * 10 + digits(head) + all(&parts)
    }
    fn digits(s: &str) -> u32 {
        match s.as_bytes() {
            [] => 0,
            [b, ..] => u32::from(b - b'0') + digits(&s[1..]),
        }
    }
    fn all(p: &[&str]) -> u32 {
        match p {
            [] => 0,
            [a, r @ ..] => digits(a) + all(r),
        }
    }
}

#[autobatch]
mod max_ref {
    pub(super) fn run(n: u32) -> u32 {
        let rows: Vec<Vec<u32>> =
            (0..1 + n % 4).map(|i| vec![i * 7 % 5 + n; 1 + (i as usize + n as usize) % 3]).collect();
        let best = rows.iter().max_by_key(|r| r.len()).unwrap();
        let pick = rows.iter().find(|r| r[0].is_multiple_of(2));
        let z = pick.unwrap_or(best);
        if n.is_multiple_of(3) { f(z, n % 4) } else { f(best, 1) }
    }
    fn f(v: &[u32], n: u32) -> u32 {
        if n == 0 { v[0] % 50 } else { f(v, n - 1) + 1 }
    }
}

#[autobatch]
mod helper_ref {
    struct S {
        a: Vec<u32>,
        b: Vec<u32>,
    }
    fn pick(s: &S, n: u32) -> &[u32] {
        if n.is_multiple_of(2) { &s.a } else { &s.b }
    }
    impl S {
        fn longest(&self) -> &Vec<u32> {
            if self.a.len() > self.b.len() { &self.a } else { &self.b }
        }
    }
    pub(super) fn run(n: u32) -> u32 {
        let s = S { a: vec![n; 2], b: vec![n + 1; 3] };
        let p = pick(&s, n);
        let l = s.longest();
        let w = l;
        if n % 4 == 1 {
            return f(w, 2);
        }
        f(p, n % 3) + f(w, 1)
    }
    fn f(v: &[u32], n: u32) -> u32 {
        if n == 0 { v[0] % 50 } else { f(v, n - 1) + 1 }
    }
}

#[autobatch]
mod graph {
    struct G {
        adj: Vec<Vec<usize>>,
    }
    impl G {
        fn of(n: usize) -> G {
            G { adj: (0..n).map(|i| (1..4).map(|k| (i * k + 1) % n).filter(|j| *j != i).collect()).collect() }
        }
        fn neighbours(&self, i: usize) -> &[usize] {
            &self.adj[i]
        }
    }
    pub(super) fn run(n: u32) -> usize {
        let g = G::of(2 + n as usize % 9);
        let mut seen = vec![false; g.adj.len()];
        let mut order = vec![];
        dfs(&g, 0, &mut seen, &mut order);
        let longest = order.iter().map(|&v| g.neighbours(v)).max_by_key(|a| a.len());
        let k = longest.map_or(0, count);
        let mut comps = 0;
        for v in 0..g.adj.len() {
            if !seen[v] {
                comps += 1;
                dfs(&g, v, &mut seen, &mut order);
            }
        }
        order.iter().fold(k, |a, x| (a * 31 + x) % 10007) + comps
    }
    fn dfs(g: &G, v: usize, seen: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut seen[v], true) {
            return;
        }
        for &w in g.neighbours(v) {
            dfs(g, w, seen, order);
        }
        order.push(v);
    }
    fn count(a: &[usize]) -> usize {
        a.split_first().map_or(0, |(h, t)| h % 2 + count(t))
    }
}

#[autobatch]
mod moved_mid {
    pub(super) fn run(n: u32) -> u32 {
        let v = vec![n; 3];
        let r = &v;
        let a = f(r, n % 3);
        let w = v;
        let q = &w[1..];
        let b = f(q, a % 3);
        consume(w, b % 4) + b
    }
    fn f(v: &[u32], n: u32) -> u32 {
        if n == 0 { v[0] % 50 } else { f(v, n - 1) + 1 }
    }
    fn consume(v: Vec<u32>, n: u32) -> u32 {
        if n == 0 {
            v.iter().sum()
        } else {
            let mut v = v;
            v.push(n);
            consume(v, n - 1)
        }
    }
}

/// A method of the file's type has the name of one of the library, and hands out nothing.
#[autobatch(strict)]
mod halves {
    #[derive(Clone, Copy, Debug)]
    struct Span {
        low: u32,
        high: u32,
    }

    impl Span {
        fn split(self) -> (Self, Self) {
            let middle = (self.low + self.high) / 2;
            (Span { high: middle, ..self }, Span { low: middle, ..self })
        }

        fn get(&self, n: u32) -> Option<Self> {
            (n > 0).then_some(*self)
        }
    }

    pub(super) fn run(n: u32) -> u32 {
        walk(Span { low: n, high: n * 3 + 2 }, n % 5)
    }

    fn walk(span: Span, depth: u32) -> u32 {
        let Some(same) = span.get(depth) else { return span.high - span.low };
        let (low, high) = span.split();
        let sum = walk(low, depth - 1) + walk(high, depth - 1);
        sum + same.low + high.low
    }
}

#[test]
fn aliases_read_the_borrowed_value() {
    let inputs: Vec<u32> = (0..40).collect();
    macro_rules! check {
        ($($module:ident)*) => {$(
            agree_at(&[0, 1, 97], &inputs, |i| $module::run(*i), |b, o| $module::run_batched_with(b, o));
        )*};
    }
    check!(deferred deferred_late alias_chain alias_tuple by_struct loop_carried replaced shadowed block_scoped boxed strings max_ref helper_ref graph moved_mid halves);
}

/// A borrow of a value that only some paths make leaves a note.
#[test]
fn values_of_some_paths_leave_a_note() {
    assert!(!deferred::run_batched::program().notes.is_empty());
    assert!(!deferred_late::run_batched::program().notes.is_empty());
}
