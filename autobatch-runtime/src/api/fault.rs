//! What can go wrong: with one member, or with the call as a whole.

use std::any::Any;
use std::error::Error;
use std::fmt;

/// Why a member has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The function panicked.
    Panic,
    /// The member's recursion went deeper than `max_depth`.
    DepthExceeded,
    /// The member ran more than `max_steps` blocks.
    StepsExceeded,
    /// The run was cancelled before the member was done.
    Cancelled,
}

/// A member without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The member's index in the batch.
    pub member: usize,
    /// What happened.
    pub kind: FaultKind,
    /// The panic's message, or a sentence on the limit.
    pub message: String,
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

/// The message for a member that is too deep.
pub(crate) fn too_deep(limit: usize) -> String {
    format!("more than {limit} nested calls")
}

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

/// The members without a result, ordered by member; never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Faults(pub(crate) Vec<Fault>);

impl Faults {
    /// The faults, ordered by member.
    pub fn as_slice(&self) -> &[Fault] {
        &self.0
    }

    /// The fault of the first faulty member.
    pub fn first(&self) -> &Fault {
        &self.0[0]
    }

    /// The faults, ordered by member.
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

/// What is wrong with a batched call as a whole.
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
    /// The output has another length than the columns.
    Output {
        /// The number of members.
        expected: usize,
        /// The output's length.
        found: usize,
    },
    /// Every column is `same(…)`, so the batch has no length.
    NoLength,
    /// A two-dimensional array has the wrong number of columns.
    Shape {
        /// The parameter.
        parameter: &'static str,
        /// The columns it needs.
        expected: usize,
        /// The columns it has.
        found: usize,
    },
    /// The offsets of ragged sequences don't cut their values into members.
    Offsets {
        /// The parameter.
        parameter: &'static str,
        /// What is wrong with them.
        wrong: BadOffsets,
    },
    /// The rows of a two-dimensional array are to be slices, but their values don't lie side by side.
    Scattered {
        /// The parameter.
        parameter: &'static str,
    },
}

/// What is wrong with the offsets of ragged sequences: they begin with 0, ascend, and end with the number of
/// values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BadOffsets {
    /// There is none.
    None,
    /// They don't begin with 0.
    Start {
        /// The first of them.
        first: usize,
    },
    /// One is larger than the next.
    Descend {
        /// Its index among the offsets.
        at: usize,
        /// The offset there.
        offset: usize,
        /// The one behind it.
        next: usize,
    },
    /// They don't end with the number of values.
    End {
        /// The last of them.
        last: usize,
        /// The number of values.
        values: usize,
    },
}

impl fmt::Display for BadOffsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadOffsets::None => {
                f.write_str("there are none; they begin with 0, also where there is no member")
            }
            BadOffsets::Start { first } => write!(f, "they begin with {first}; they have to begin with 0"),
            BadOffsets::Descend { at, offset, next } => {
                write!(f, "offset {at} is {offset} and the next is {next}; they have to ascend")
            }
            BadOffsets::End { last, values } => {
                write!(f, "the last is {last}, but there are {values} values; it has to be their number")
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
            BatchError::Scattered { parameter } => write!(
                f,
                "the rows of the array for `{parameter}` are no slices, since their values don't lie side by side; \
                 give it in standard layout"
            ),
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
        let scattered = BatchError::Scattered { parameter: "rows" };
        assert!(scattered.to_string().starts_with("the rows of the array for `rows` are no slices"));
        let offsets = |wrong| BatchError::Offsets { parameter: "xs", wrong }.to_string();
        assert!(offsets(BadOffsets::None).starts_with("the offsets of `xs`: there are none"));
        assert!(offsets(BadOffsets::Start { first: 1 }).contains("begin with 1"));
        assert!(
            offsets(BadOffsets::Descend { at: 3, offset: 9, next: 8 })
                .contains("offset 3 is 9 and the next is 8")
        );
        assert!(
            offsets(BadOffsets::End { last: 4, values: 5 }).contains("the last is 4, but there are 5 values")
        );
    }
}
