//! Columns of every kind, and results into memory of the caller's.

use crate::common::{agree_at, column};
use autobatch::{BatchError, Engine, Executor, Isa, OneOrMany, Options, Ragged, RaggedMut, autobatch, same};
use ndarray::{Array1, Array2, arr1, arr2, s};

#[autobatch(strict)]
fn count_down(x: f64, step: f64) -> u32 {
    let mut x = x;
    let mut n = 0;
    while x > 0.0 {
        x -= step;
        n += 1;
    }
    n
}

#[autobatch(strict)]
fn far(point: [f64; 2]) -> u32 {
    let (mut x, mut n) = (point[0] + point[1], 0);
    while x > 0.5 {
        x *= 0.75;
        n += 1;
    }
    n
}

#[test]
fn slices_arrays_vectors_and_views_are_columns() {
    let expected: Vec<u32> = [4.0, 1.0, 2.5].iter().map(|x| count_down(*x, 1.0)).collect();
    let xs = vec![4.0, 1.0, 2.5];
    assert_eq!(count_down_batched(&xs, same(1.0)), expected);
    assert_eq!(count_down_batched(&xs[..], &[1.0, 1.0, 1.0]), expected);
    assert_eq!(count_down_batched(xs.clone(), vec![1.0; 3]), expected);
    let array = arr1(&[2.5, 0.0, 1.0, 0.0, 4.0]);
    assert_eq!(count_down_batched(array.slice(s![..;-2]), same(1.0)), expected);
    assert_eq!(count_down_batched(&arr1(&xs), same(1.0)), expected);
    let table = arr2(&[[4.0, 9.0], [1.0, 9.0], [2.5, 9.0]]);
    assert_eq!(count_down_batched(table.column(0), same(1.0)), expected);
}

#[test]
fn views_run_on_vectors_as_slices_do() {
    let (xs, table) = (Array1::from_elem(4000, 2.5), Array2::from_elem((4000, 2), 2.5));
    let options = Options::default().executor(Executor::Masked).isa(Isa::Avx2);
    let slice = count_down_batched_with(vec![2.5; 4000], same(1.0), &options).unwrap();
    let expected = slice.report().engine;
    assert!(Isa::detect() == Isa::Baseline || expected == Engine::VectorFrames, "{expected}");
    for view in [xs.view(), table.column(0), xs.slice(s![..;-1])] {
        let outcome = count_down_batched_with(view, same(1.0), &options).unwrap();
        assert_eq!((outcome.report().engine, outcome.get(3999)), (expected, slice.get(3999)));
    }
    let outcome = far_batched_with(&table, &options).unwrap();
    assert_eq!((outcome.report().engine, outcome.get(7)), (expected, Some(&far([2.5, 2.5]))));
}

#[test]
fn one_value_or_many_as_it_turns_out_at_run_time() {
    let inputs: Vec<(f64, f64)> = (0..30).map(|n| (f64::from(n % 11), 0.25 + f64::from(n % 3))).collect();
    agree_at(
        &[1, 211, 4003],
        &inputs,
        |(x, step)| count_down(*x, *step),
        |batch, options| {
            let (x, step) = (column(batch, |member| member.0), column(batch, |member| member.1));
            count_down_batched_with(OneOrMany::Many(&x), OneOrMany::<_, f64>::Many(step), options)
        },
    );
    agree_at(
        &[1, 211, 4003],
        &inputs,
        |(x, _)| count_down(*x, 0.5),
        |batch, options| {
            let x = column(batch, |member| member.0);
            let step: OneOrMany<&[f64], f64> = OneOrMany::One(0.5);
            count_down_batched_with(OneOrMany::<_, f64>::Many(&x[..]), step, options)
        },
    );
    let words: [OneOrMany<&[&str], &str>; 2] = [OneOrMany::One("ab"), OneOrMany::Many(&["ab", "c", ""])];
    assert_eq!(repeat_batched(words[0], &[1, 0, 2]), ["ab", "", "abab"]);
    assert_eq!(repeat_batched(words[1], &[1, 0, 2]), ["ab", "", ""]);
    assert_eq!(repeat_batched(vec!["ab", "c", ""], &[1, 0, 2]), ["ab", "", ""]);
    let one: OneOrMany<&[f64], f64> = OneOrMany::One(0.5);
    assert_eq!(count_down_batched_with(one, one, &Options::default()).unwrap_err(), BatchError::NoLength);
}

#[test]
fn results_into_the_callers_memory() {
    let xs = [4.0, 1.0, 2.5];
    let mut out = [0; 3];
    count_down_batched_into(&xs, same(1.0), &mut out);
    assert_eq!(out, [4, 1, 3]);
    let mut table = Array2::<u32>::zeros((2, 6));
    count_down_batched_into(&xs, same(1.0), table.slice_mut(s![1, ..;-2]));
    assert_eq!(table, arr2(&[[0; 6], [0, 3, 0, 1, 0, 4]]));
    let mut array = Array1::<u32>::zeros(3);
    count_down_batched_into(&xs, same(1.0), &mut array);
    assert_eq!(array, arr1(&[4, 1, 3]));
    let mut names = vec!["old".to_owned(); 2];
    repeat_batched_into(&["a", "b"][..], &[2, 3], &mut names);
    assert_eq!(names, ["aa", "bbb"]);
}

#[test]
#[should_panic(expected = "the output has room for 2 results, but the batch has 3 members")]
fn an_output_of_the_wrong_length_panics() {
    count_down_batched_into(&[1.0, 2.0, 3.0], same(1.0), &mut [0; 2]);
}

#[autobatch(strict)]
fn repeat(#[each] text: &str, n: u32) -> String {
    let mut all = String::new();
    let mut i = 0;
    while i < n {
        all.push_str(text);
        i += 1;
    }
    all
}

#[autobatch(strict)]
fn norm(x: [f64; 3], y: Array1<f64>) -> f64 {
    let mut sum = 0.0;
    let mut i = 0;
    while i < y.len() {
        sum += x[i] * y[i];
        i += 1;
    }
    sum
}

#[autobatch(strict)]
fn total(#[each] xs: &[f64], stop: f64) -> f64 {
    let mut sum = 0.0;
    for x in xs {
        sum += x;
        if sum > stop {
            break;
        }
    }
    sum
}

#[autobatch(strict)]
fn halve(#[each] xs: &mut [u32], until: u32) -> u32 {
    let mut rounds = 0;
    while xs.iter().any(|x| *x > until) {
        for x in xs.iter_mut() {
            *x /= 2;
        }
        rounds += 1;
    }
    rounds
}

#[test]
fn rows_and_sequences_are_columns() {
    let rows = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let want = [14.0, 77.0];
    assert_eq!(norm_batched(rows.view(), rows.view()), want);
    assert_eq!(norm_batched(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &rows), want);
    let narrow = rows.slice(s![.., ..2]);
    let error = norm_batched_with(narrow, rows.view(), &Options::default()).unwrap_err();
    assert_eq!(error, BatchError::Shape { parameter: "x", expected: 3, found: 2 });

    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    let ragged = Ragged::new(&values, &[0, 3, 3, 5]);
    assert_eq!(total_batched(ragged, same(2.5)), [3.0, 0.0, 4.0]);
    assert_eq!(total_batched(&[vec![1.0], vec![2.0, 2.0]], same(10.0)), [1.0, 4.0]);

    let mut lists = vec![vec![9, 4], vec![], vec![100]];
    assert_eq!(halve_batched(&mut lists, same(3)), [2, 0, 5]);
    assert_eq!(lists, [vec![2, 1], vec![], vec![3]]);
}

/// A slice per member without `#[each]`: nothing else has a meaning.
#[autobatch(strict)]
fn bubble<T: PartialOrd + Copy>(xs: &mut [T], rounds: u32) -> u32 {
    let mut swaps = 0;
    for _ in 0..rounds {
        for i in 1..xs.len() {
            if xs[i] < xs[i - 1] {
                xs.swap(i, i - 1);
                swaps += 1;
            }
        }
    }
    swaps
}

struct Divisor(u32);

#[autobatch(strict)]
impl Divisor {
    pub(crate) fn divide(&self, xs: &mut [u32], until: u32) -> u32 {
        let mut rounds = 0;
        while xs.iter().any(|x| *x > until) {
            xs.iter_mut().for_each(|x| *x /= self.0);
            rounds += self.round();
        }
        rounds
    }

    fn round(&self) -> u32 {
        self.0 - 2
    }
}

#[autobatch]
mod program {
    pub(super) fn entry(xs: &mut [u32], n: usize) -> u32 {
        if n == 0 { 1 } else { inside(xs, n - 1) }
    }

    fn inside(xs: &mut [u32], n: usize) -> u32 {
        let Some(last) = xs.last_mut() else { return 0 };
        *last += 1;
        let (sum, end) = (*last, xs.len() - 1);
        sum + entry(&mut xs[..end], n)
    }
}

#[test]
fn slices_are_states_without_each() {
    let lists: Vec<Vec<u32>> =
        (0..70u32).map(|i| (0..i % 5).map(|j| (i * 37 + j * 101) % 97).collect()).collect();
    let n: Vec<usize> = (0..lists.len()).map(|i| i % 4).collect();
    let rounds: Vec<u32> = (0..lists.len() as u32).map(|i| i % 6).collect();
    let scalar = |f: &dyn Fn(usize, &mut [u32]) -> u32| {
        let mut after = lists.clone();
        let results: Vec<u32> = after.iter_mut().enumerate().map(|(i, list)| f(i, list)).collect();
        (results, after)
    };
    let divisor = Divisor(3);
    for (how, options) in crate::common::executors() {
        let mut after = lists.clone();
        let results = bubble_batched_with(&mut after, &rounds, &options).unwrap().into_values().unwrap();
        assert_eq!((results, after), scalar(&|i, list| bubble(list, rounds[i])), "{how}");

        let mut after = lists.clone();
        let outcome = divisor.divide_batched_with(&mut after, same(3), &options).unwrap();
        assert_eq!(
            (outcome.into_values().unwrap(), after),
            scalar(&|_, list| divisor.divide(list, 3)),
            "{how}"
        );

        let mut after = lists.clone();
        let outcome = program::entry_batched_with(&mut after, &n, &options).unwrap();
        let values = outcome.into_values().unwrap();
        assert_eq!((values, after), scalar(&|i, list| program::entry(list, n[i])), "{how}");
    }
    let mut values = [3, 2, 1, 9, 8];
    assert_eq!(bubble_batched(RaggedMut::new(&mut values, &[0, 3, 3, 5]), same(3)), [3, 0, 1]);
    assert_eq!(values, [1, 2, 3, 8, 9]);
}

/// Has no destructor, and one value that can't be cloned.
#[derive(Debug)]
struct Fussy(u32);

impl Clone for Fussy {
    fn clone(&self) -> Self {
        assert_ne!(self.0, 13, "unlucky");
        Fussy(self.0)
    }
}

#[autobatch(strict)]
fn fussy(x: Fussy, y: u64) -> u64 {
    u64::from(x.0) + y
}

#[test]
fn a_clone_that_panics_is_its_members_fault() {
    let x: Vec<Fussy> = (0..500).map(|i| Fussy(i % 100)).collect();
    let y: Vec<u64> = (0..500).collect();
    for executor in [Executor::Masked, Executor::ProgramCounter] {
        for lanes in [16, 64, 2048] {
            let options = Options::default().executor(executor).lanes(lanes).threads(1);
            let outcome = fussy_batched_with(&x, &y, &options).unwrap();
            let faulty: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
            assert_eq!(faulty, [13, 113, 213, 313, 413]);
            for (member, result) in outcome.into_results().into_iter().enumerate() {
                assert_eq!(result.ok(), (member % 100 != 13).then(|| (member % 100 + member) as u64));
            }
        }
    }
}
