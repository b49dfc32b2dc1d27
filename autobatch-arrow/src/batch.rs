//! A batch of rows: arrays in, an array out.

use std::array;

use arrow_array::{Array, ArrayRef, Datum};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_schema::DataType;
use autobatch::{BatchError, Options, Outcome};

use crate::argument::{Argument, Asked};
use crate::error::Error;
use crate::nulls::valid;
use crate::value::Results;

/// Arrays of as many rows, and scalars, to call a batched function on. See the [crate's page](crate).
///
/// If all are scalars, there is one row.
#[derive(Clone)]
pub struct Batch<'a, const N: usize> {
    data: [&'a dyn Datum; N],
    options: Options,
    null_on_fault: bool,
}

impl<'a, const N: usize> Batch<'a, N> {
    /// A batch of arrays, in the order in which the closure of [`Batch::call`] gets them.
    pub fn of(data: [&'a dyn Datum; N]) -> Self {
        Batch { data, options: Options::default(), null_on_fault: false }
    }

    /// How the function runs, and where rows are counted from. [`Options::only`] and [`Options::quiet`] are set by the batch.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Batch { options, ..self }
    }

    /// Has rows at fault be null; otherwise they are an [`Error::Faults`].
    #[must_use]
    pub fn null_on_fault(self) -> Self {
        Batch { null_on_fault: true, ..self }
    }

    /// Calls `f_batched_with` by way of a closure, which gets the arguments, and options to hand on.
    ///
    /// The result has a row for each row of the arrays. It is null where an argument is.
    ///
    /// # Errors
    ///
    /// If arrays are not of the parameters' types, or of different lengths; if members are at fault, unless that is null.
    pub fn call<R: Results>(
        &self,
        function: impl FnOnce([Argument<'a>; N], &Options) -> Result<Outcome<R>, BatchError>,
    ) -> Result<ArrayRef, Error> {
        let data: [(&'a dyn Array, bool); N] = self.data.map(Datum::get);
        let are_all_one = data.iter().all(|(_, is_one)| *is_one);
        let data = data.map(|(array, is_one)| (array, is_one && !are_all_one));
        let rows = data.iter().find(|(_, is_one)| !is_one).map_or(0, |(array, _)| array.len());
        let mut present: Option<NullBuffer> = None;
        for (array, is_one) in data {
            let Some(valid) = valid(array) else { continue };
            let valid = match is_one {
                true => NullBuffer::new_null(rows),
                // The call refuses it.
                false if array.len() != rows => continue,
                false => valid,
            };
            present = NullBuffer::union(present.as_ref(), Some(&valid));
        }
        let options = self.options.clone().quiet(true);
        let options = match &present {
            Some(present) => options.only(present.iter()),
            None => options,
        };
        let arguments = data.map(|(array, is_one)| Argument::new(array, is_one));
        let outcome = function(arguments, &options)?;
        if outcome.len() != rows {
            return Err(Error::Rows { expected: rows, found: outcome.len() });
        }
        if !outcome.faults().is_empty() {
            if !self.null_on_fault {
                return Err(Error::Faults(outcome.faults().to_vec()));
            }
            present = Some(without(present, &outcome));
        }
        Ok(R::into_array(outcome.into_values_or(R::no_result()), present))
    }
}

/// The rows that are not at fault, either.
fn without<R>(present: Option<NullBuffer>, outcome: &Outcome<R>) -> NullBuffer {
    let mut valid = BooleanBufferBuilder::new(outcome.len());
    (0..outcome.len()).for_each(|row| valid.append(outcome.get(row).is_some()));
    let valid = NullBuffer::new(valid.finish());
    NullBuffer::union(present.as_ref(), Some(&valid)).unwrap_or(valid)
}

/// The types of a function's arrays: what a query engine asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature<const N: usize> {
    /// Those of its arguments. Lists are [`DataType::List`]; [`DataType::LargeList`] will do as well.
    pub arguments: [DataType; N],
    /// That of its result.
    pub result: DataType,
}

/// The types of the arrays that a closure for [`Batch::call`] takes and returns. It is called for no rows.
///
/// # Errors
///
/// [`Error::Argument`] if an argument's type can't be told; what the call says is wrong with it otherwise.
pub fn signature<R: Results, const N: usize>(
    function: impl FnOnce([Argument<'_>; N], &Options) -> Result<Outcome<R>, BatchError>,
) -> Result<Signature<N>, Error> {
    let asked: [Asked; N] = array::from_fn(|_| Asked::default());
    function(array::from_fn(|index| Argument::asked(&asked[index])), &Options::default())?;
    let types = asked.map(Asked::into_type);
    if let Some(index) = types.iter().position(Option::is_none) {
        return Err(Error::Argument { index });
    }
    let arguments = types.map(|data_type| data_type.expect("each has one"));
    Ok(Signature { arguments, result: R::result_type() })
}
