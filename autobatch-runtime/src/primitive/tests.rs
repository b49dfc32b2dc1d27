#![expect(clippy::needless_borrow, reason = "as generated code, for which the type decides")]

use super::*;

fn results<R>(mut results: Results<R>, members: usize) -> Vec<Result<R, String>> {
    (0..members).map(|_| results.next().map_err(|message| message.to_string())).collect()
}

#[test]
fn members_that_share_make_one_call() {
    let (a, b) = ([1.0, 2.0], [1.0, 2.0]);
    let mut shared = Shared::<[f64]>::new();
    let mut values = (&Kind::<i32>::new()).column(5);
    for (reference, value) in [(&a, 1), (&b, 2), (&a, 3), (&a, 4), (&b, 5)] {
        shared.push(&reference[..]);
        values.push(&value);
    }
    let calls = std::cell::RefCell::new(Vec::new());
    let all = run("k", 5, sets(5, &|i, j| shared.same(i, j) && values.same(i, j)), |some| {
        let (shared, values) = (shared.only(some), values.only(some));
        let (shared, values): (&[f64], &[i32]) = (shared.pass(), values.pass());
        calls.borrow_mut().push(values.to_vec());
        values.iter().map(|value| shared[0] * f64::from(*value)).collect::<Vec<_>>()
    });
    assert_eq!(results(all, 5), [1.0, 2.0, 3.0, 4.0, 5.0].map(Ok));
    assert_eq!(*calls.borrow(), [vec![1, 3, 4], vec![2, 5]], "by address, not by value");
}

#[test]
fn a_failure_ends_the_members_of_its_call_only() {
    let mut shared = SharedValue::new();
    [7, 8, 7].into_iter().for_each(|value| shared.push(value));
    let all = run("inner::k", 3, sets(3, &|i, j| shared.same(i, j)), |some| {
        let shared: i32 = shared.only(some).pass();
        match shared {
            7 => vec![shared],
            _ => panic!("no {shared}"),
        }
    });
    let short = "the batched kernel `inner::k` was called for 2 members and returned a vector of length 1";
    let panic = "the batched kernel `inner::k` panicked: no 8";
    assert_eq!(results(all, 3), [short, panic, short].map(|message| Err(message.to_owned())));
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::*;
    use ndarray::{Array1, Array2, ArrayView2, array};

    #[test]
    fn vectors_of_one_length_make_a_matrix() {
        let mut vectors = (&Kind::<Array1<f64>>::new()).column(3);
        for vector in [array![1.0, 2.0], array![3.0], array![4.0, 5.0]] {
            vectors.push(&vector);
        }
        let backwards = array![6.0, 7.0];
        vectors.push(backwards.slice(ndarray::s![..;-1]).to_owned());
        let all = run("k", 4, sets(4, &|i, j| vectors.same(i, j)), |some| {
            let vectors = vectors.only(some);
            let matrix: ArrayView2<'_, f64> = vectors.pass();
            (matrix.sum_axis(ndarray::Axis(1)), &matrix * 2.0)
        });
        let want: [(f64, Array1<f64>); 4] = [
            (3.0, array![2.0, 4.0]),
            (3.0, array![6.0]),
            (9.0, array![8.0, 10.0]),
            (13.0, array![14.0, 12.0]),
        ];
        assert_eq!(results(all, 4), want.map(Ok));
    }

    #[test]
    fn arrays_are_a_matrix_as_they_are() {
        let mut values = (&Kind::<[f64; 2]>::new()).column(2);
        values.push(&[1.0, 2.0]);
        values.push(&[3.0, 4.0]);
        let by_columns = |some: Option<&[usize]>| {
            let values = values.only(some);
            let matrix: ArrayView2<'_, f64> = values.pass();
            matrix.t().as_standard_layout().to_owned().reversed_axes()
        };
        let all: Results<[f64; 2]> = run("k", 2, sets(2, &|i, j| values.same(i, j)), by_columns);
        assert_eq!(results(all, 2), [Ok([1.0, 2.0]), Ok([3.0, 4.0])]);
        let wrong: Results<[f64; 3]> = run("k", 2, sets(2, &|i, j| values.same(i, j)), by_columns);
        let message = "the batched kernel `k` was called for 2 members and returned a matrix of 2 columns for results of length 3";
        assert_eq!(results(wrong, 2)[1], Err(message.to_owned()));
        let rows: Results<Array1<f64>> = run("k", 2, sets(2, &|_, _| true), |_| Array2::zeros((3, 2)));
        assert!(results(rows, 2)[0].as_ref().is_err_and(|message| message.ends_with("a matrix of 3 rows")));
    }
}
