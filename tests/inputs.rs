//! Columns of every kind, and results into memory of the caller's.

use autobatch::{BatchError, Executor, Options, Ragged, autobatch, same};
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

#[test]
fn slices_arrays_vectors_and_views() {
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
fn an_output_of_the_wrong_length() {
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
fn rows_and_sequences() {
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
