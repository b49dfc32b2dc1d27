//! The name of a helper means what it means to rustc. Each function here is one that a reader of the file could take for another,
//! and tells when it is called: a program that only computes runs parts twice, and copies of members.

#![allow(clippy::all, unused, unreachable_code, unreachable_pub)] // as users write, not as one should

use std::cell::Cell;

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::common::tell_the_same;

thread_local!(static TOLD: Cell<u64> = const { Cell::new(0) });

fn tell(x: f64) -> f64 {
    TOLD.set(TOLD.get() + 1);
    x + 0.5
}

/// What a reader may think is called: it tells nothing.
fn helper(x: f64) -> f64 {
    (x * 0.5).sin()
}

mod others {
    pub fn helper(x: f64) -> f64 {
        super::tell(x).cos()
    }
    pub fn guessed(x: f64) -> f64 {
        super::tell(x).cos()
    }
    pub struct Tells;
    impl Tells {
        pub fn helper(x: f64) -> f64 {
            super::tell(x).cos()
        }
    }
}

macro_rules! told {
    ($($test:ident: $batched:expr, $scalar:expr;)*) => {$(
        #[test]
        fn $test() {
            let inputs: Vec<(f64, u32)> = (0..23).map(|i| (f64::from(i) * 0.37, i % 5)).collect();
            tell_the_same(
                &inputs,
                || TOLD.take(),
                |&(x, n)| ($scalar)(x, n),
                |batch, options| {
                    let (x, n): (Vec<f64>, Vec<u32>) = batch.iter().copied().unzip();
                    $batched(&x, &n, options)
                },
            );
            // Several members, none of them twice.
            let (x, n): (Vec<f64>, Vec<u32>) = inputs.iter().copied().unzip();
            let scalar: Vec<f64> = inputs.iter().map(|&(x, n)| ($scalar)(x, n)).collect();
            let wanted = TOLD.take();
            for (name, options) in crate::common::executors() {
                let values = $batched(&x, &n, &options.threads(1)).unwrap().into_values().unwrap();
                let bits = |all: &[f64]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&values), bits(&scalar), "{name}");
                assert_eq!(TOLD.take(), wanted, "{name}");
            }
        }
    )*};
}

#[autobatch]
fn local_function(x: f64, n: u32) -> f64 {
    fn helper(x: f64) -> f64 {
        tell(x) * 2.0
    }
    if n == 0 { helper(x) } else { local_function(x + 1.0, n - 1) + local_function(x * 0.5, n / 2) }
}

#[autobatch]
fn local_function_of_a_block(x: f64, n: u32) -> f64 {
    if n == 0 {
        {
            fn helper(x: f64) -> f64 {
                tell(x) * 2.0
            }
            helper(x)
        }
    } else {
        local_function_of_a_block(x + 1.0, n - 1) + local_function_of_a_block(x * 0.5, n / 2)
    }
}

#[autobatch]
fn local_import(x: f64, n: u32) -> f64 {
    use others::helper;
    if n == 0 { helper(x) } else { local_import(x + 1.0, n - 1) + local_import(x * 0.5, n / 2) }
}

#[autobatch]
fn local_glob(x: f64, n: u32) -> f64 {
    use others::*;
    if n == 0 { helper(x) } else { local_glob(x + 1.0, n - 1) + local_glob(x * 0.5, n / 2) }
}

#[autobatch]
fn local_closure(x: f64, n: u32) -> f64 {
    let helper = |x: f64| tell(x) * 3.0;
    if n == 0 { helper(x) } else { local_closure(x + 1.0, n - 1) + local_closure(x * 0.5, n / 2) }
}

#[autobatch]
fn bound_in_a_pattern(x: f64, n: u32) -> f64 {
    let known: Option<fn(f64) -> f64> = Some(tell);
    if n == 0 {
        match known {
            Some(helper) => helper(x),
            None => 0.0,
        }
    } else {
        bound_in_a_pattern(x + 1.0, n - 1) + bound_in_a_pattern(x * 0.5, n / 2)
    }
}

macro_rules! define {
    ($name:ident) => {
        fn $name(x: f64) -> f64 {
            tell(x) * 5.0
        }
    };
}

#[autobatch]
fn made_by_a_macro_inside(x: f64, n: u32) -> f64 {
    define!(helper);
    if n == 0 {
        helper(x)
    } else {
        made_by_a_macro_inside(x + 1.0, n - 1) + made_by_a_macro_inside(x * 0.5, n / 2)
    }
}

#[autobatch]
fn parameter(helper: &fn(f64) -> f64, x: f64, n: u32) -> f64 {
    if n == 0 { helper(x) } else { parameter(helper, x + 1.0, n - 1) + parameter(helper, x * 0.5, n / 2) }
}
const TELLS: fn(f64) -> f64 = tell;
fn parameter_called(x: &[f64], n: &[u32], options: &Options) -> Result<Outcome<f64>, BatchError> {
    parameter_batched_with(&TELLS, x, n, options)
}

#[cfg(not(unix))]
fn conditional(x: f64) -> f64 {
    x * 0.5
}
#[cfg(unix)]
fn conditional(x: f64) -> f64 {
    tell(x) * 0.5
}

#[autobatch]
fn of_two_conditions(x: f64, n: u32) -> f64 {
    if n == 0 {
        conditional(x)
    } else {
        of_two_conditions(x + 1.0, n - 1) + of_two_conditions(x * 0.5, n / 2)
    }
}

#[cfg(not(all()))]
fn absent(x: f64) -> f64 {
    x * 0.5
}
#[cfg(all())]
use others::guessed as absent;

#[autobatch]
fn absent_here(x: f64, n: u32) -> f64 {
    if n == 0 { absent(x) } else { absent_here(x + 1.0, n - 1) + absent_here(x * 0.5, n / 2) }
}

/// What tells, in a helper's helper, in its macro, behind its operator.
fn deep(x: f64) -> f64 {
    if x > 3.0 { indirect(x) } else { x }
}
fn indirect(x: f64) -> f64 {
    tell(x) - x
}
macro_rules! assert_told {
    ($x:expr) => {
        tell($x)
    };
}
fn in_a_macro(x: f64) -> f64 {
    assert_told!(x) * 0.5
}
#[derive(Clone, Copy)]
struct Loud(f64);
impl std::ops::Add for Loud {
    type Output = Loud;
    fn add(self, other: Loud) -> Loud {
        Loud(tell(self.0) + other.0)
    }
}
fn behind_an_operator(x: f64) -> f64 {
    let sum = Loud(x) + Loud(1.0);
    sum.0
}
static LOUD: Loud = Loud(1.0);
fn behind_a_static(x: f64) -> f64 {
    let sum = LOUD + LOUD;
    sum.0 * x
}
fn all_that_tell(x: f64) -> f64 {
    deep(x) + in_a_macro(x) + behind_an_operator(x) + behind_a_static(x)
}

#[autobatch]
fn what_tells_inside(x: f64, n: u32) -> f64 {
    if n == 0 {
        all_that_tell(x)
    } else {
        what_tells_inside(x + 1.0, n - 1) + what_tells_inside(x * 0.5, n / 2)
    }
}

#[autobatch]
fn static_of_another_type(x: f64, n: u32) -> f64 {
    if n == 0 {
        behind_a_static(x)
    } else {
        static_of_another_type(x + 1.0, n - 1) + static_of_another_type(x * 0.5, n / 2)
    }
}

/// Not std's.
macro_rules! debug_assert {
    ($x:expr) => {
        tell($x)
    };
}
fn asserts(x: f64) -> f64 {
    debug_assert!(x);
    x * 0.5
}

#[autobatch]
fn macro_of_a_known_name(x: f64, n: u32) -> f64 {
    if n == 0 {
        asserts(x)
    } else {
        macro_of_a_known_name(x + 1.0, n - 1) + macro_of_a_known_name(x * 0.5, n / 2)
    }
}

/// The name is that of a method of the `impl` block, but the call is of the function beside it.
fn both(x: f64) -> f64 {
    tell(x) * 0.25
}
struct Block;
#[autobatch]
impl Block {
    fn both(x: f64) -> f64 {
        x * 0.5
    }
    pub fn walk(x: f64, n: u32) -> f64 {
        if n == 0 { both(x) } else { Self::walk(x + 1.0, n - 1) + Self::walk(x * 0.5, n / 2) }
    }
}
use Block as OtherBlock;
fn block_batched(x: &[f64], n: &[u32], options: &Options) -> Result<Outcome<f64>, BatchError> {
    OtherBlock::walk_batched_with(x, n, options)
}

/// In a module: its own function, one from elsewhere, one of the module around.
mod inner {
    use autobatch::autobatch;

    use super::others::helper;

    #[autobatch]
    pub fn imported(x: f64, n: u32) -> f64 {
        if n == 0 { helper(x) } else { imported(x + 1.0, n - 1) + imported(x * 0.5, n / 2) }
    }
}
use inner::imported_batched_with;

#[autobatch]
mod program {
    use super::others::helper;
    use super::*;

    pub fn imported_into_a_program(x: f64, n: u32) -> f64 {
        if n == 0 {
            helper(x)
        } else {
            imported_into_a_program(x + 1.0, n - 1) + imported_into_a_program(x * 0.5, n / 2)
        }
    }
}
use program::imported_into_a_program_batched_with;

#[autobatch]
mod hides {
    use super::*;

    define!(helper);

    pub fn hidden_by_a_macro(x: f64, n: u32) -> f64 {
        if n == 0 { helper(x) } else { hidden_by_a_macro(x + 1.0, n - 1) + hidden_by_a_macro(x * 0.5, n / 2) }
    }
}
use hides::hidden_by_a_macro_batched_with;

/// A function that stands in a block is beside those of the block.
fn in_a_block(test: impl Fn(fn(f64, u32) -> f64, Batched)) {
    fn helper(x: f64) -> f64 {
        tell(x) * 7.0
    }
    {
        #[autobatch]
        fn of_a_block(x: f64, n: u32) -> f64 {
            if n == 0 { helper(x) } else { of_a_block(x + 1.0, n - 1) + of_a_block(x * 0.5, n / 2) }
        }
        test(of_a_block, |x, n, options| of_a_block_batched_with(x, n, options));
    }
}
type Batched = fn(&[f64], &[u32], &Options) -> Result<Outcome<f64>, BatchError>;

#[test]
fn functions_of_a_block() {
    let inputs: Vec<(f64, u32)> = (0..23).map(|i| (f64::from(i) * 0.37, i % 5)).collect();
    in_a_block(|scalar, batched| {
        let (x, n): (Vec<f64>, Vec<u32>) = inputs.iter().copied().unzip();
        let wanted: Vec<f64> = inputs.iter().map(|&(x, n)| scalar(x, n)).collect();
        let told = TOLD.take();
        for (name, options) in crate::common::executors() {
            let values = batched(&x, &n, &options.threads(1)).unwrap().into_values().unwrap();
            assert_eq!((values, TOLD.take()), (wanted.clone(), told), "{name}");
        }
    });
}

told! {
    a_local_function: local_function_batched_with, local_function;
    a_function_of_a_block: local_function_of_a_block_batched_with, local_function_of_a_block;
    a_local_import: local_import_batched_with, local_import;
    a_local_glob: local_glob_batched_with, local_glob;
    a_closure: local_closure_batched_with, local_closure;
    a_variable_of_a_pattern: bound_in_a_pattern_batched_with, bound_in_a_pattern;
    a_function_that_a_macro_makes: made_by_a_macro_inside_batched_with, made_by_a_macro_inside;
    a_parameter: parameter_called, |x, n| parameter(&TELLS, x, n);
    functions_under_conditions: of_two_conditions_batched_with, of_two_conditions;
    a_function_that_is_not_there: absent_here_batched_with, absent_here;
    helpers_that_tell: what_tells_inside_batched_with, what_tells_inside;
    a_static_of_another_type: static_of_another_type_batched_with, static_of_another_type;
    a_macro_of_a_known_name: macro_of_a_known_name_batched_with, macro_of_a_known_name;
    a_method_and_a_function: block_batched, Block::walk;
    an_import: imported_batched_with, inner::imported;
    an_import_of_a_program: imported_into_a_program_batched_with, program::imported_into_a_program;
    hidden_by_what_a_macro_makes: hidden_by_a_macro_batched_with, hides::hidden_by_a_macro;
}
