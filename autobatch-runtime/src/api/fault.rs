//! What can go wrong: with one member, or with the call as a whole.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::ops::Deref;

use crate::native_stack::room;

/// Why a member has no result.
///
/// More kinds may come, so a `match` needs an arm for the others.
///
/// ```
/// use autobatch::FaultKind;
///
/// fn is_worth_a_second_run(kind: FaultKind) -> bool {
///     match kind {
///         FaultKind::DepthExceeded | FaultKind::StepsExceeded => true, // with a higher limit
///         FaultKind::Cancelled => true,
///         _ => false,
///     }
/// }
/// # assert!(is_worth_a_second_run(FaultKind::Cancelled) && !is_worth_a_second_run(FaultKind::Panic));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The function panicked; [`Fault::message`] is the panic's. So it is for all members of a call whose batched kernel panicked.
    Panic,
    /// The calls of the member nested deeper than [`Options::max_depth`](crate::Options::max_depth).
    DepthExceeded,
    /// The calls of the member took more memory than [`Options::max_memory`](crate::Options::max_memory).
    MemoryExceeded,
    /// The member made more steps than [`Options::max_steps`](crate::Options::max_steps).
    StepsExceeded,
    /// The run was cancelled before the member was done, see [`Options::cancel`](crate::Options::cancel).
    Cancelled,
    /// The run's time was over before the member was done, see [`Options::deadline`](crate::Options::deadline).
    DeadlineExceeded,
}

/// A member without a result, and the reason. [`Outcome::faults`](crate::Outcome::faults) lists them.
///
/// `Display` prints the member and the message.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{FaultKind, Options};
///
/// #[autobatch]
/// fn third(values: &[f64], i: usize) -> f64 {
///     values[i] / 3.0
/// }
///
/// let outcome = third_batched_with(&[1.0, 6.0], &[1, 9], &Options::default())?;
/// assert_eq!(outcome.get(0), Some(&2.0));
/// let fault = &outcome.faults()[0];
/// assert_eq!((fault.member, fault.kind), (1, FaultKind::Panic));
/// assert_eq!(fault.to_string(), "member 1: index out of bounds: the len is 2 but the index is 9");
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The member's index in the batch.
    pub member: usize,
    /// Which limit the member reached, or that it panicked.
    pub kind: FaultKind,
    /// The panic's message, or a sentence on the limit. “panicked” if the panic's payload is no text.
    pub message: String,
}

/// Faults in no order. Where there is no memory for more of them, it says so.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultList {
    faults: Vec<Fault>,
    refused: bool,
}

impl Deref for FaultList {
    type Target = [Fault];
    fn deref(&self) -> &[Fault] {
        &self.faults
    }
}

impl Extend<Fault> for FaultList {
    fn extend<I: IntoIterator<Item = Fault>>(&mut self, faults: I) {
        let mut faults = faults.into_iter();
        self.refused |= !room::has(&mut self.faults, faults.size_hint().0);
        while !self.refused
            && let Some(fault) = faults.next()
        {
            self.push(fault);
        }
    }
}

impl FaultList {
    pub(crate) fn push(&mut self, fault: Fault) {
        if room::has(&mut self.faults, 1) {
            self.faults.push(fault);
        } else {
            self.refused = true;
        }
    }

    /// Takes those of another list.
    pub(crate) fn append(&mut self, other: &mut FaultList) {
        self.refused |= other.refused;
        if room::has(&mut self.faults, other.faults.len()) {
            self.faults.append(&mut other.faults);
        } else {
            self.refused = true;
        }
    }

    /// Nobody asks for them.
    pub(crate) fn clear(&mut self) {
        *self = FaultList::default();
    }

    /// All of them, ordered by member, unless some are lost.
    pub(crate) fn into_sorted(mut self) -> Option<Vec<Fault>> {
        // In place: another order of equal members would need memory.
        self.faults.sort_unstable_by_key(|fault| fault.member);
        (!self.refused).then_some(self.faults)
    }
}

/// The text of a panic's payload.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "panicked".to_owned(),
    }
}

/// The message for a member that has not ended when the run is cancelled.
pub(crate) const CANCELLED: &str = "cancelled";

/// The same when the run's time is over.
pub(crate) const TOO_LATE: &str = "the deadline has passed";

/// The message for a member that is ended from outside.
pub(crate) fn ended(kind: FaultKind) -> String {
    if kind == FaultKind::DeadlineExceeded { TOO_LATE } else { CANCELLED }.to_owned()
}

/// The message for a member that is too deep.
pub(crate) fn too_deep(limit: usize) -> String {
    format!("more than {limit} nested calls")
}

/// The message for a member whose calls take too much memory.
pub(crate) const TOO_MUCH: &str = "nested calls take more memory than they may";

/// The message for a member that runs too long.
pub(crate) fn too_long(limit: u64) -> String {
    format!("more than {limit} steps")
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {}: {}", self.member, self.message)
    }
}

impl Error for Fault {}

/// The members without a result, ordered by member; never empty. The error of [`Outcome::into_values`](crate::Outcome::into_values).
///
/// `Display` prints the first, and the number of the others.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::Options;
///
/// #[autobatch]
/// fn half(n: u32) -> u32 {
///     assert!(n % 2 == 0, "{n} is odd");
///     n / 2
/// }
///
/// let faults = half_batched_with(&[4, 5, 7], &Options::default())?.into_values().unwrap_err();
/// assert_eq!(faults.to_string(), "member 1: 5 is odd (and 1 more at fault)");
/// assert_eq!(faults.first().member, 1);
/// assert_eq!(faults.as_slice().len(), 2);
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Faults(pub(crate) Vec<Fault>);

impl Faults {
    /// The faults, ordered by member.
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }

    /// The fault of the first faulty member: the one that a panic of `f_batched` names.
    pub fn first(&self) -> &Fault {
        &self.0[0]
    }

    /// The faults, ordered by member, as a vector of the caller's.
    pub fn into_vec(self) -> Vec<Fault> {
        self.0
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first().fmt(f)?;
        match self.0.len() - 1 {
            0 => Ok(()),
            rest => write!(f, " (and {rest} more at fault)"),
        }
    }
}

impl Error for Faults {}

/// What is wrong with a batched call as a whole: the error of `f_batched_with`, before any member runs.
///
/// `f_batched` and `f_batched_into` panic with it instead. `Display` names the parameter, and what it should be.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{BatchError, Options};
///
/// #[autobatch]
/// fn product(a: f64, b: f64) -> f64 {
///     a * b
/// }
///
/// let error = product_batched_with(&[1.0, 2.0, 3.0], &[1.0, 2.0], &Options::default()).unwrap_err();
/// assert_eq!(error, BatchError::Length { first: "a", expected: 3, parameter: "b", found: 2 });
/// assert!(error.to_string().starts_with("the column `b` has 2 members, but `a` has 3"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BatchError {
    /// Two columns have different lengths.
    Length {
        /// The first parameter with a length.
        first: &'static str,
        /// Its length.
        expected: usize,
        /// The parameter that does not fit.
        parameter: &'static str,
        /// Its length.
        found: usize,
    },
    /// The [`Output`](crate::Output) of `f_batched_into` has another length than the columns.
    Output {
        /// The number of members.
        expected: usize,
        /// The output's length.
        found: usize,
    },
    /// Every column is [`same`](crate::same)`(…)`, so the batch has no length.
    NoLength,
    /// A two-dimensional array for a parameter of type `[T; D]` does not have D columns.
    Shape {
        /// The parameter.
        parameter: &'static str,
        /// The columns it needs.
        expected: usize,
        /// The columns it has.
        found: usize,
    },
    /// The offsets of a [`Ragged`](crate::Ragged) or [`RaggedMut`](crate::RaggedMut) column don't cut its values into members.
    Offsets {
        /// The parameter.
        parameter: &'static str,
        /// What is wrong with them.
        wrong: BadOffsets,
    },
    /// There is no memory for the results, or for the faults.
    Memory {
        /// The number of members.
        members: usize,
        /// The bytes of a result, or of a fault.
        bytes: usize,
    },
    /// A limit of the [`Options`](crate::Options) can't be kept, since scalar code runs the members.
    Limit {
        /// The option.
        option: &'static str,
        /// The function.
        function: &'static str,
    },
    /// The rows of a two-dimensional array are to be slices, but their values don't lie side by side.
    Scattered {
        /// The parameter.
        parameter: &'static str,
    },
    /// A column of another crate does not fit its parameter.
    Misfit {
        /// The parameter.
        parameter: &'static str,
        /// What is wrong with it.
        message: String,
    },
}

/// What is wrong with the offsets of a [`Ragged`](crate::Ragged) column. They should ascend, from 0 or more up to the number of values or less.
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{BadOffsets, BatchError, Options, Ragged};
///
/// #[autobatch]
/// fn sum(#[each] values: &[f64]) -> f64 {
///     values.iter().sum()
/// }
///
/// let values = [1.0, 2.0, 3.0];
/// let error = sum_batched_with(Ragged::new(&values, &[0, 4]), &Options::default()).unwrap_err();
/// let wrong = BadOffsets::End { last: 4, values: 3 };
/// assert_eq!(error, BatchError::Offsets { parameter: "values", wrong });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BadOffsets {
    /// There is none. A batch without members has one.
    None,
    /// They begin below 0.
    Start {
        /// The first of them.
        first: i64,
    },
    /// One is larger than the next.
    Descend {
        /// Its index among the offsets.
        at: usize,
        /// The offset there.
        offset: i64,
        /// The one behind it.
        next: i64,
    },
    /// They end with more than the number of values.
    End {
        /// The last of them.
        last: i64,
        /// The number of values.
        values: usize,
    },
}

impl fmt::Display for BadOffsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadOffsets::None => f.write_str("there are none; there is one more than members"),
            BadOffsets::Start { first } => write!(f, "they begin with {first}, which is below 0"),
            BadOffsets::Descend { at, offset, next } => {
                write!(f, "offset {at} is {offset} and the next is {next}; they have to ascend")
            }
            BadOffsets::End { last, values } => {
                write!(f, "the last is {last}, but there are {values} values")
            }
        }
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Length { first, expected, parameter, found } => write!(
                f,
                "the column `{parameter}` has {found} members, but `{first}` has {expected}; all columns need one value per member"
            ),
            BatchError::Output { expected, found } => {
                write!(f, "the output has room for {found} results, but the batch has {expected} members")
            }
            BatchError::NoLength => f.write_str(
                "every column is `same(…)`, so the batch has no length; give at least one column with a value per member",
            ),
            BatchError::Shape { parameter, expected, found } => write!(
                f,
                "the array for `{parameter}` has {found} columns, but each member needs a row of {expected}"
            ),
            BatchError::Offsets { parameter, wrong } => write!(f, "the offsets of `{parameter}`: {wrong}"),
            BatchError::Memory { members, bytes } => {
                write!(f, "there is no memory for the results of {members} members, {bytes} bytes each")
            }
            BatchError::Limit { option, function } => write!(
                f,
                "`{option}` can't be kept: members of `{function}` run as scalar code, which counts no steps; \
                 use `cancel` or `deadline`, which are looked at between members, or an executor that runs blocks"
            ),
            BatchError::Scattered { parameter } => write!(
                f,
                "the rows of the array for `{parameter}` are no slices, since their values don't lie side by side; \
                 give it in standard layout"
            ),
            BatchError::Misfit { parameter, message } => write!(f, "the column `{parameter}`: {message}"),
        }
    }
}

impl Error for BatchError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_parameters_and_lengths() {
        let length = BatchError::Length { first: "a", expected: 3, parameter: "b", found: 4 };
        assert!(length.to_string().starts_with("the column `b` has 4 members, but `a` has 3;"));
        let output = BatchError::Output { expected: 3, found: 2 };
        assert_eq!(output.to_string(), "the output has room for 2 results, but the batch has 3 members");
        let shape = BatchError::Shape { parameter: "p", expected: 3, found: 2 };
        assert_eq!(shape.to_string(), "the array for `p` has 2 columns, but each member needs a row of 3");
        assert!(BatchError::NoLength.to_string().contains("same("));
        let memory = BatchError::Memory { members: 2, bytes: 3 };
        assert_eq!(memory.to_string(), "there is no memory for the results of 2 members, 3 bytes each");
        let limit = BatchError::Limit { option: "max_steps", function: "f" };
        assert!(
            limit.to_string().starts_with("`max_steps` can't be kept: members of `f` run as scalar code")
        );
        let scattered = BatchError::Scattered { parameter: "rows" };
        assert!(scattered.to_string().starts_with("the rows of the array for `rows` are no slices"));
        let offsets = |wrong| BatchError::Offsets { parameter: "xs", wrong }.to_string();
        assert!(offsets(BadOffsets::None).starts_with("the offsets of `xs`: there are none"));
        assert!(offsets(BadOffsets::Start { first: -1 }).contains("begin with -1"));
        assert!(
            offsets(BadOffsets::Descend { at: 3, offset: 9, next: 8 })
                .contains("offset 3 is 9 and the next is 8")
        );
        assert!(
            offsets(BadOffsets::End { last: 6, values: 5 }).contains("the last is 6, but there are 5 values")
        );
    }
}
