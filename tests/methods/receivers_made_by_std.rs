//! Methods on receivers that std's methods make of a value whose type stands in the file.

#![allow(clippy::iter_kv_map, clippy::flat_map_identity, clippy::double_ended_iterator_last)] // written as users write

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::common::agree_at;
use autobatch::autobatch;

#[derive(Clone, Debug, Default)]
struct Node {
    v: i64,
    kids: Vec<Node>,
    opt: Option<Box<Node>>,
    two: [Option<Box<Node>>; 2],
    map: BTreeMap<u32, Node>,
    many: HashMap<String, Vec<Node>>,
    queue: VecDeque<Box<Node>>,
    res: Vec<Result<Box<Node>, String>>,
    edges: Vec<Edge>,
    nested: Vec<Vec<Option<Node>>>,
}
#[derive(Clone, Debug, Default)]
struct Edge {
    w: i64,
    to: Box<Node>,
}
impl Edge {
    fn target(&self) -> &Node {
        &self.to
    }
}
impl Node {
    fn children(&self) -> impl Iterator<Item = &Node> + '_ {
        self.kids.iter().chain(self.opt.as_deref())
    }
    fn boxed(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        Box::new(self.kids.iter())
    }
    fn list(&self) -> &[Node] {
        &self.kids
    }
    fn slow(&self) -> Result<&Node, String> {
        self.kids.get(1).ok_or_else(|| "none".into())
    }
    fn parts(&self) -> (Option<&Node>, &[Node]) {
        self.kids.split_first().map_or((None, &[]), |(a, b)| (Some(a), b))
    }
}
#[autobatch]
impl Node {
    fn flattened_array(&self, x: i64) -> i64 {
        let mut t = x;
        for k in self.two.iter().flatten() {
            t += k.flattened_array(x);
        }
        t + self.v
    }
    fn flattened_values(&self, x: i64) -> i64 {
        let mut t = x;
        for k in self.many.values().flatten() {
            t = t.wrapping_add(k.flattened_values(x));
        }
        t + self.v
    }
    fn flattened_results(&self, x: i64) -> i64 {
        let mut t = x;
        for k in self.res.iter().flatten() {
            t += k.flattened_results(x);
        }
        t
    }
    fn of_another_type(&self, x: i64) -> i64 {
        if let Some(e) = self.edges.first() { e.target().of_another_type(x) + e.w } else { x }
    }
    fn by_its_path(&self, x: i64) -> i64 {
        self.edges.iter().map(Edge::target).map(|n| n.by_its_path(x)).max().unwrap_or(x)
    }
    fn mapped_to_it(&self, x: i64) -> i64 {
        self.edges.iter().map(|e| e.target()).map(|n| n.mapped_to_it(x)).max().unwrap_or(x)
    }
    fn flattened_twice(&self, x: i64) -> i64 {
        self.nested.iter().flatten().flatten().map(|n| n.flattened_twice(x)).sum::<i64>() + x
    }
    fn flattened_row(&self, x: i64) -> i64 {
        let mut t = x;
        for row in &self.nested {
            for n in row.iter().flatten() {
                t += n.flattened_row(x);
            }
        }
        t
    }
    fn iterated_option(&self, x: i64) -> i64 {
        self.opt.iter().map(|k| k.iterated_option(x)).sum::<i64>() + x
    }
    fn one_or_the_other(&self, x: i64) -> i64 {
        self.map.get(&3).or(self.kids.first()).map_or(x, |k| k.one_or_the_other(x))
    }
    fn collected_as_annotated(&self, x: i64) -> i64 {
        let kids: Vec<_> = self.kids.iter().filter(|k| k.v > 0).collect();
        let mut t = x;
        for k in kids {
            t += k.collected_as_annotated(x);
        }
        t
    }
    fn collected_as_said(&self, x: i64) -> i64 {
        let kids = self.kids.iter().filter(|k| k.v > 0).collect::<Vec<_>>();
        let mut t = x;
        for k in kids {
            t += k.collected_as_said(x);
        }
        t
    }
    fn got_by_a_closure(&self, x: i64) -> i64 {
        let get = |i: usize| &self.kids[i];
        if self.kids.is_empty() { x } else { get(0).got_by_a_closure(x) }
    }
    fn flattened_option(&self, x: i64) -> i64 {
        self.many.get("a").into_iter().flatten().map(|k| k.flattened_option(x)).sum::<i64>() + x
    }
    fn flat_mapped(&self, x: i64) -> i64 {
        self.many.iter().flat_map(|(_, list)| list.iter()).map(|k| k.flat_mapped(x)).sum::<i64>() + x
    }
    fn flat_mapped_to_itself(&self, x: i64) -> i64 {
        self.many.values().flat_map(|list| list).map(|k| k.flat_mapped_to_itself(x)).sum::<i64>() + x
    }
    fn filtered(&self, x: i64) -> i64 {
        self.kids.get(x as usize).filter(|k| k.v > 1).map_or(x, |k| k.filtered(x))
    }
    fn folded(&self, x: i64) -> i64 {
        let best = self.kids.iter().fold(None, |b: Option<&Node>, k| match b {
            Some(o) if o.v > k.v => Some(o),
            _ => Some(k),
        });
        best.map_or(x, |k| k.folded(x))
    }
    fn reduced(&self, x: i64) -> i64 {
        let best = self.kids.iter().reduce(|a, b| if a.v > b.v { a } else { b });
        best.map_or(x, |k| k.reduced(x))
    }
    fn indexed(&self, x: i64) -> i64 {
        let side = &self.two[(x & 1) as usize];
        match side {
            Some(n) => n.indexed(x / 2),
            None => self.v,
        }
    }
    fn indexed_otherwise(&self, x: i64) -> i64 {
        self.two[(x & 1) as usize].as_deref().map_or(self.v, |n| n.indexed_otherwise(x / 2))
    }
    fn of_a_range(&self, x: i64) -> i64 {
        self.map.range(1..).next().map_or(x, |(_, k)| k.of_a_range(x))
    }
    fn first_of_a_map(&self, x: i64) -> i64 {
        self.map.first_key_value().map_or(x, |(_, k)| k.first_of_a_map(x))
    }
    fn zipped(&self, x: i64) -> i64 {
        self.map.get(&1).zip(self.map.get(&2)).map_or(x, |(a, b)| a.zipped(x) + b.zipped(x))
    }
    fn indexed_by_key(&self, x: i64) -> i64 {
        self.map[&1].v + if self.map.contains_key(&9) { self.map[&9].indexed_by_key(x) } else { x }
    }
    fn ends_of_a_queue(&self, x: i64) -> i64 {
        self.queue.front().map_or(x, |k| k.ends_of_a_queue(x))
            + self.queue.back().map_or(x, |k| k.ends_of_a_queue(x))
    }
    fn chained(&self, x: i64) -> i64 {
        let k = std::iter::once(self).chain(&self.kids).filter(|n| n.v % 2 == 0).last();
        match k {
            Some(k) if !std::ptr::eq(k, self) => k.chained(x),
            _ => x,
        }
    }
    fn closure_handed_on(&self, x: i64) -> i64 {
        let x2 = x + 1;
        let deeper = |n: &Node| n.closure_handed_on(x2);
        self.kids.iter().map(deeper).sum::<i64>() + x
    }
    fn children_of(&self, x: i64) -> i64 {
        let mut t = x;
        for k in self.children() {
            t += k.children_of(x);
        }
        t
    }
    fn boxed_children_of(&self, x: i64) -> i64 {
        let mut t = x;
        for k in self.boxed() {
            t += k.boxed_children_of(x);
        }
        t
    }
    fn listed(&self, x: i64) -> i64 {
        self.list().iter().map(|k| k.listed(x)).sum::<i64>() + x
    }
    fn asked_for(&self, x: i64) -> Result<i64, String> {
        let k = self.slow()?;
        Ok(k.asked_for(x).unwrap_or(7) + x)
    }
    fn in_parts(&self, x: i64) -> i64 {
        let (first, rest) = self.parts();
        first.map_or(x, |k| k.in_parts(x)) + rest.iter().map(|k| k.in_parts(x)).sum::<i64>()
    }
    fn grouped(&self, x: i64) -> i64 {
        let mut groups: BTreeMap<i64, Vec<&Node>> = BTreeMap::new();
        for k in &self.kids {
            groups.entry(k.v % 2).or_default().push(k);
        }
        let mut t = x;
        for (g, ks) in &groups {
            for k in ks {
                t += g + k.grouped(x);
            }
        }
        t
    }
    fn keyed(&self, x: i64) -> i64 {
        let by_key: HashMap<_, _> = self.kids.iter().map(|k| (k.v, k)).collect();
        let mut keys: Vec<_> = by_key.keys().copied().collect();
        keys.sort_unstable();
        let mut t = x;
        for k in keys {
            t = 3 * t + by_key[&k].keyed(x);
        }
        t
    }
}
fn node(depth: u32, v: i64) -> Node {
    if depth == 0 {
        return Node { v, ..Node::default() };
    }
    let kid = |k: i64| node(depth - 1, v * 2 + k);
    Node {
        v,
        kids: (0..3).map(kid).collect(),
        opt: Some(Box::new(kid(5))),
        two: [Some(Box::new(kid(2))), if v % 2 == 0 { None } else { Some(Box::new(kid(1))) }],
        map: (1..4).map(|k| (k, kid(i64::from(k)))).collect(),
        many: HashMap::from([("a".to_string(), vec![kid(1), kid(2)])]),
        queue: (0..3).map(|k| Box::new(kid(k))).collect(),
        res: vec![Ok(Box::new(kid(3))), Err("x".into()), Ok(Box::new(kid(7)))],
        edges: (0..2).map(|w| Edge { w, to: Box::new(kid(w)) }).collect(),
        nested: vec![vec![Some(kid(1)), None], vec![], vec![Some(kid(2))]],
    }
}

macro_rules! all_agree {
    ($($method:ident $batched:ident),*) => {
        /// Values that `Default` and `From` make of a type of the file, and what they are made in.
#[autobatch]
mod made_by_traits {
    #[derive(Default, Debug, Clone)]
    struct Trie {
        kids: [Option<Box<Trie>>; 3],
        end: bool,
        count: usize,
    }

    impl From<u8> for Trie {
        fn from(n: u8) -> Self {
            Trie { count: usize::from(n % 3), ..Trie::default() }
        }
    }

    impl Trie {
        fn insert(&mut self, word: &[u8]) {
            self.count += 1;
            match word {
                [] => self.end = true,
                [c, rest @ ..] => self.kids[(c - b'a') as usize].get_or_insert_default().insert(rest),
            }
        }

        fn count(&self, word: &[u8]) -> usize {
            match word.split_first() {
                None => self.count,
                Some((c, rest)) => self.kids[(c - b'a') as usize].as_ref().map_or(0, |k| k.count(rest)),
            }
        }

        fn words(&self, prefix: &mut String, out: &mut Vec<String>) {
            if self.end {
                out.push(prefix.clone());
            }
            for (i, kid) in (0..).zip(&self.kids) {
                if let Some(kid) = kid {
                    prefix.push(char::from(b'a' + i));
                    kid.words(prefix, out);
                    prefix.pop();
                }
            }
        }
    }

    pub(super) fn run(n: u32) -> (usize, Vec<String>) {
        let mut trie = Trie::default();
        let mut other = Trie::from(n as u8);
        for i in 0..n % 10 {
            let word: Vec<u8> = (0..=i % 4).map(|k| b'a' + ((i + k * n) % 3) as u8).collect();
            trie.insert(&word);
            other.insert(&word[1..]);
        }
        let mut words = vec![];
        trie.words(&mut String::new(), &mut words);
        (trie.count(b"a") + other.count(b"ab") * 100, words)
    }
}

#[test]
fn values_made_by_traits_have_methods() {
    let inputs: Vec<u32> = (0..60).collect();
    agree_at(&[0, 1, 97], &inputs, |n| made_by_traits::run(*n), |n, o| made_by_traits::run_batched_with(n, o));
}

#[test]
        fn receivers_are_found() {
            let root = node(2, 1);
            let inputs: Vec<i64> = (0..5).collect();
            $(agree_at(&[0, 1, 37], &inputs, |x| root.$method(*x), |b, o| root.$batched(b, o));)*
        }
    };
}
all_agree!(flattened_array flattened_array_batched_with,
flattened_values flattened_values_batched_with,
flattened_results flattened_results_batched_with,
of_another_type of_another_type_batched_with,
by_its_path by_its_path_batched_with,
mapped_to_it mapped_to_it_batched_with,
flattened_twice flattened_twice_batched_with,
flattened_row flattened_row_batched_with,
iterated_option iterated_option_batched_with,
one_or_the_other one_or_the_other_batched_with,
collected_as_annotated collected_as_annotated_batched_with,
collected_as_said collected_as_said_batched_with,
got_by_a_closure got_by_a_closure_batched_with,
flattened_option flattened_option_batched_with,
flat_mapped flat_mapped_batched_with,
flat_mapped_to_itself flat_mapped_to_itself_batched_with,
filtered filtered_batched_with,
folded folded_batched_with,
reduced reduced_batched_with,
indexed indexed_batched_with,
indexed_otherwise indexed_otherwise_batched_with,
of_a_range of_a_range_batched_with,
first_of_a_map first_of_a_map_batched_with,
zipped zipped_batched_with,
indexed_by_key indexed_by_key_batched_with,
ends_of_a_queue ends_of_a_queue_batched_with,
chained chained_batched_with,
closure_handed_on closure_handed_on_batched_with,
children_of children_of_batched_with,
boxed_children_of boxed_children_of_batched_with,
listed listed_batched_with,
asked_for asked_for_batched_with,
in_parts in_parts_batched_with,
grouped grouped_batched_with,
keyed keyed_batched_with);
