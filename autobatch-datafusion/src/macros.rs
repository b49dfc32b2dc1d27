//! The macro that makes a scalar function of DataFusion from the name of a batched function.

/// Makes a [`ScalarUDF`](crate::ScalarUDF) from a function with `#[autobatch]`, by its path.
///
/// | | |
/// |---|---|
/// | `udf!(collatz)` | the function `collatz` of SQL |
/// | `udf!(collatz as "steps")` | the same by another name |
/// | `udf!(newton as "newton_f32", fn(f32, f32) -> f32)` | an instance of a generic function |
/// | `udf!(predict(&tree, _))` | `tree` is shared by all rows, and lives in the function; `_` is an argument |
/// | `udf!(collatz, null_on_fault(), volatility(Volatility::Stable))` | settings: methods of [`Udf`](crate::Udf), called in this order |
///
/// Parts may be combined, in the order of the table. A function whose family has a `name = "…"` of its own, or which is a method, is one for
/// [`Udf::new`](crate::Udf::new).
///
/// ```
/// use autobatch::autobatch;
/// use autobatch_datafusion::udf;
/// # use datafusion::arrow::array::{Array, AsArray, Float64Array};
/// # use datafusion::arrow::datatypes::{Float32Type, Float64Type};
/// use datafusion::prelude::SessionContext;
///
/// /// The root of `x`, by Newton's iteration.
/// #[autobatch]
/// fn root<T: Copy + PartialOrd + From<f32> + std::ops::Add<Output = T> + std::ops::Mul<Output = T> + std::ops::Div<Output = T>>(x: T) -> T {
///     let mut y = x;
///     for _ in 0..20 {
///         y = (y + x / y) * T::from(0.5);
///     }
///     y
/// }
///
/// #[derive(Clone)]
/// struct Steps(Vec<f64>);
///
/// /// How many steps there are below `x`.
/// #[autobatch]
/// fn below(steps: &Steps, x: f64) -> u32 {
///     let mut count = 0;
///     for step in &steps.0 {
///         count += u32::from(*step < x);
///     }
///     count
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> datafusion::error::Result<()> {
/// let steps = Steps(vec![0.5, 1.5, 2.5]);
/// let context = SessionContext::new();
/// context.register_udf(udf!(root as "root_f32", fn(f32) -> f32));
/// context.register_udf(udf!(root as "root_f64", fn(f64) -> f64));
/// context.register_udf(udf!(below(&steps, _)));
///
/// let table = context.sql("SELECT root_f32(4), root_f64(2), below(2)").await?.collect().await?;
/// assert_eq!(table[0].column(0).as_primitive::<Float32Type>().value(0), 2.0);
/// assert_eq!(table[0].column(1).as_primitive::<Float64Type>().value(0), root(2.0));
/// # Ok(())
/// # }
/// ```
///
/// A function that changes a state of its caller is none of SQL:
///
/// ```compile_fail
/// # use autobatch::autobatch;
/// # use autobatch_datafusion::udf;
/// #[autobatch]
/// fn next(state: &mut u64) -> u64 {
///     *state += 1;
///     *state
/// }
///
/// udf!(next);
/// ```
#[macro_export]
macro_rules! udf {
    ($($function:tt)+) => {
        $crate::__udf!(@path [] $($function)+)
    };
}

/// The steps of [`udf!`]: each takes what stands at the front, and hands on the rest.
#[doc(hidden)]
#[macro_export]
macro_rules! __udf {
    // The path up to the function's name.
    (@path [$($path:tt)*] :: $($rest:tt)*) => {
        $crate::__udf!(@path [$($path)* ::] $($rest)*)
    };
    (@path [$($path:tt)*] $name:ident :: $($rest:tt)*) => {
        $crate::__udf!(@path [$($path)* $name ::] $($rest)*)
    };
    // Its arguments, if they are written.
    (@path [$($path:tt)*] $name:ident ($($arguments:tt)*) $($rest:tt)*) => {
        $crate::__udf!(@name {[$($path)*] $name {($($arguments)*)}} $($rest)*)
    };
    (@path [$($path:tt)*] $name:ident $($rest:tt)*) => {
        $crate::__udf!(@name {[$($path)*] $name {}} $($rest)*)
    };
    // Its name in SQL.
    (@name $function:tt as $shown:expr $(, $($rest:tt)*)?) => {
        $crate::__udf!(@types $function {$shown} $($($rest)*)?)
    };
    (@name {[$($path:tt)*] $name:ident $arguments:tt} $(, $($rest:tt)*)?) => {
        $crate::__udf!(@types {[$($path)*] $name $arguments} {stringify!($name)} $($($rest)*)?)
    };
    // The types of an instance.
    (@types {$path:tt $name:ident {}} $shown:tt fn($($argument:ty),* $(,)?) -> $result:ty $(, $($settings:tt)*)?) => {
        $crate::__udf!(@typed $path $name $shown [$($argument,)*] $result, [] [] $($($settings)*)?)
    };
    (@types {$path:tt $name:ident {($($arguments:tt)*)}} $shown:tt $($settings:tt)*) => {
        $crate::__udf!(@bound $path $name $shown [$($arguments)*] [] [] $($settings)*)
    };
    (@types {[$($path:tt)*] $name:ident {}} $shown:tt $($settings:tt)*) => {{
        const COLUMNS: usize = $crate::__rt::columns(&$crate::__rt::paste!($($path)* [<$name _batched_with>]));
        $crate::__udf!(@settings
            $shown
            {
                |arguments: [$crate::Argument<'_>; COLUMNS], options: &$crate::__rt::Options| {
                    $crate::__rt::call($crate::__rt::paste!($($path)* [<$name _batched_with>]), arguments, options)
                }
            }
            $($settings)*
        )
    }};
    // One column for each type. Each step's `column` is a name of its own.
    (@typed $path:tt $name:ident $shown:tt [$argument:ty, $($more:ty,)*] $result:ty, [$($columns:ident)*] [$($passed:tt)*] $($settings:tt)*) => {
        $crate::__udf!(@typed $path $name $shown [$($more,)*] $result,
            [$($columns)* column] [$($passed)* $crate::__rt::Typed::<$argument>::new(column),] $($settings)*)
    };
    (@typed [$($path:tt)*] $name:ident $shown:tt [] $result:ty, [$($columns:ident)*] [$($passed:tt)*] $($settings:tt)*) => {
        $crate::__udf!(@settings
            $shown
            {
                |[$($columns),*], options| {
                    let outcome = $crate::__rt::paste!($($path)* [<$name _batched_with>])($($passed)* options)?;
                    ::core::result::Result::<$crate::__rt::Outcome<$result>, _>::Ok(outcome)
                }
            }
            $($settings)*
        )
    };
    // One column for each `_`; the rest are values that the function keeps.
    (@bound $path:tt $name:ident $shown:tt [_ $(, $($more:tt)*)?] [$($columns:ident)*] [$($passed:tt)*] $($settings:tt)*) => {
        $crate::__udf!(@bound $path $name $shown [$($($more)*)?] [$($columns)* column] [$($passed)* column,] $($settings)*)
    };
    (@bound $path:tt $name:ident $shown:tt [$value:expr $(, $($more:tt)*)?] [$($columns:ident)*] [$($passed:tt)*] $($settings:tt)*) => {
        $crate::__udf!(@bound $path $name $shown [$($($more)*)?] [$($columns)*] [$($passed)* $value,] $($settings)*)
    };
    (@bound [$($path:tt)*] $name:ident $shown:tt [] [$($columns:ident)*] [$($passed:tt)*] $($settings:tt)*) => {
        $crate::__udf!(@settings
            $shown
            {
                move |[$($columns),*], options| {
                    $crate::__rt::paste!($($path)* [<$name _batched_with>])($($passed)* options)
                }
            }
            $($settings)*
        )
    };
    (@settings {$shown:expr} {$function:expr} $($setting:ident ($($value:expr),* $(,)?)),* $(,)?) => {
        $crate::ScalarUDF::from($crate::Udf::new($shown, $function)$(.$setting($($value),*))*)
    };
}
