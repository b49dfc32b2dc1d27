//! Helper functions outside the annotated item: whatever their shape, and whatever their names mean, the results are the scalar
//! function's.

#[path = "../common/mod.rs"]
mod common;

/// Numbers of members.
const SIZES: &[usize] = &[1, 33, 500];

fn inputs() -> Vec<(f64, u32)> {
    (0..120).map(|i| (f64::from(i) * 0.03 + 0.1, i * 7 % 50)).collect()
}

/// Tests that functions of such inputs do in batches what they do alone.
macro_rules! agree {
    ($($test:ident: $scalar:expr, $batched:expr;)*) => {$(
        #[test]
        fn $test() {
            $crate::common::agree_at(
                $crate::SIZES,
                &$crate::inputs(),
                |&(a, n)| $scalar(a, n),
                |batch, options| {
                    $batched($crate::common::column(batch, |i| i.0), $crate::common::column(batch, |i| i.1), options)
                },
            );
        }
    )*};
}
mod closures;
mod copies;
mod generics;
mod in_bodies;
mod loops_of_data;
mod names;
mod of_the_module_around;
mod recursion;
mod shapes;
mod structures;
