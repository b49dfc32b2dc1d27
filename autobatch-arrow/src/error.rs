//! What can go wrong with a batch of rows.

use std::error;
use std::fmt;

use autobatch::{BatchError, Fault};

/// Why there is no array of results.
///
/// ```
/// use arrow_array::UInt32Array;
/// use autobatch::autobatch;
/// use autobatch_arrow::{Batch, Error};
///
/// #[autobatch]
/// fn half(n: u64) -> u64 {
///     n / 2
/// }
///
/// let n = UInt32Array::from(vec![1, 2]);
/// let error = Batch::of([&n]).call(|[n], options| half_batched_with(n, options)).unwrap_err();
/// assert!(matches!(error, Error::Call(_)));
/// assert_eq!(error.to_string(), "the column `n`: it has to be UInt64, but is UInt32");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// Members at fault, ordered by row; never empty. [`Fault::member`] is the row.
    Faults(Vec<Fault>),
    /// The call is wrong as a whole: an array of another type or length, a limit that can't be kept.
    Call(BatchError),
    /// The closure has given the function another number of rows than the arrays have.
    Rows {
        /// The rows of the arrays.
        expected: usize,
        /// The members that the function has run for.
        found: usize,
    },
    /// The closure gives an argument to no parameter, so it has no signature.
    Argument {
        /// Its index.
        index: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Faults(faults) => {
                let Some(first) = faults.first() else { return f.write_str("no row is at fault") };
                write!(f, "row {}: {}", first.member, first.message)?;
                match faults.len() {
                    1 => Ok(()),
                    all => write!(f, " (and {} more at fault)", all - 1),
                }
            }
            Error::Call(error) => error.fmt(f),
            Error::Rows { expected, found } => {
                write!(f, "the function has run for {found} rows, but the arrays have {expected}")
            }
            Error::Argument { index } => {
                write!(f, "argument {index} has no type: the closure has to give it to a parameter")
            }
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Call(error) => Some(error),
            _ => None,
        }
    }
}

impl From<BatchError> for Error {
    fn from(error: BatchError) -> Self {
        Error::Call(error)
    }
}
