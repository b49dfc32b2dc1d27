//! A batched function as an engine calls it. In: arrays of one length, and arrays of length 1 for literals. Out: an array of results, or an error that
//! names the row at fault.

use std::ffi::CStr;

use arrow_array::{Array, ArrayRef, Datum};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use autobatch::{BatchError, Fault, Options, Outcome};
use autobatch_arrow::{Argument, Batch, Error, Results, signature};
use daft_ext::prelude::{DaftError, DaftResult};

/// A batched function with its name and types.
pub(crate) struct ScalarFunction {
    name: &'static CStr,
    parameters: Vec<DataType>,
    result: DataType,
    run: Box<Run>,
}

type Run = dyn Fn(&[Operand]) -> Result<ArrayRef, Error> + Send + Sync;

impl ScalarFunction {
    /// A function of that name. The closure hands the arguments to `f_batched_with`, along with the options.
    pub(crate) fn new<const N: usize, R: Results>(
        name: &'static CStr,
        function: impl Fn([Argument<'_>; N], &Options) -> Result<Outcome<R>, BatchError> + Send + Sync + 'static,
    ) -> ScalarFunction {
        let types = signature(&function).unwrap_or_else(|error| panic!("the function {name:?}: {error}"));
        let run = move |operands: &[Operand]| {
            // Daft's partitions are the parallelism.
            let options = Options::default().threads(1);
            Batch::of(std::array::from_fn(|index| &operands[index] as &dyn Datum))
                .options(options)
                .call(&function)
        };
        ScalarFunction { name, parameters: types.arguments.into(), result: types.result, run: Box::new(run) }
    }

    pub(crate) fn name(&self) -> &'static CStr {
        self.name
    }

    /// The type of the results.
    pub(crate) fn result(&self) -> &DataType {
        &self.result
    }

    /// Refuses arguments that no cast makes what the parameters are.
    pub(crate) fn check(&self, types: &[DataType]) -> DaftResult<()> {
        let (name, count) = (self.shown_name(), self.parameters.len());
        if types.len() != count {
            return Err(DaftError::TypeError(format!("{name} takes {count} arguments, not {}", types.len())));
        }
        for (index, (from, to)) in types.iter().zip(&self.parameters).enumerate() {
            if !is_cast(from, to) {
                let index = index + 1;
                let message = format!("argument {index} of {name} has to be {to}, but is {from}");
                return Err(DaftError::TypeError(message));
            }
        }
        Ok(())
    }

    /// The results for rows. A null in any argument gives null.
    pub(crate) fn call(&self, arrays: &[ArrayRef]) -> DaftResult<ArrayRef> {
        let types: Vec<DataType> = arrays.iter().map(|array| array.data_type().clone()).collect();
        self.check(&types)?;
        let rows = arrays.iter().map(Array::len).find(|len| *len != 1).unwrap_or(1);
        // A number that does not fit is an error, not null.
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let operand = |(array, parameter): (&ArrayRef, &DataType)| {
            let array = cast_with_options(array, parameter, &strict)?;
            Ok(Operand { is_one: array.len() != rows, array })
        };
        let operands: Result<Vec<Operand>, DaftError> =
            arrays.iter().zip(&self.parameters).map(operand).collect();
        let operands = operands.map_err(|error| self.error(&error))?;
        (self.run)(&operands).map_err(|error| match error {
            Error::Faults(faults) => self.fault(&faults, &operands),
            error => self.error(&DaftError::from(error)),
        })
    }

    fn shown_name(&self) -> &'static str {
        self.name.to_str().unwrap_or("?")
    }

    fn error(&self, error: &DaftError) -> DaftError {
        let (DaftError::TypeError(message) | DaftError::RuntimeError(message)) = error;
        DaftError::RuntimeError(format!("{}: {message}", self.shown_name()))
    }

    /// The error for rows at fault. It has the arguments, as the row is that of a batch, which is a part of a partition.
    fn fault(&self, faults: &[Fault], operands: &[Operand]) -> DaftError {
        let Some(first) = faults.first() else {
            return DaftError::RuntimeError(format!("{}: a fault without a row", self.shown_name()));
        };
        let arguments: Vec<String> = operands.iter().map(|operand| operand.shown(first.member)).collect();
        let more = match faults.len() - 1 {
            0 => String::new(),
            more => format!(", {more} more at fault"),
        };
        DaftError::RuntimeError(format!(
            "{}({}): {} (row {} of its batch{more})",
            self.shown_name(),
            arguments.join(", "),
            first.message,
            first.member
        ))
    }
}

/// Whether an argument is cast to the parameter's type: integers to any number, fractions to fractions. Literals are `Int32` or `Float64`.
fn is_cast(from: &DataType, to: &DataType) -> bool {
    from == to
        || *from == DataType::Null
        || to.is_integer() && from.is_integer()
        || to.is_floating() && (from.is_integer() || from.is_floating())
}

/// An argument: an array, or one value for all rows.
struct Operand {
    array: ArrayRef,
    is_one: bool,
}

impl Operand {
    /// The value in that row.
    fn shown(&self, row: usize) -> String {
        let row = if self.is_one { 0 } else { row };
        let shown = ArrayFormatter::try_new(&self.array, &FormatOptions::default())
            .and_then(|formatter| formatter.value(row).try_to_string());
        shown.unwrap_or_else(|_| "?".to_owned())
    }
}

impl Datum for Operand {
    fn get(&self) -> (&dyn Array, bool) {
        (&self.array, self.is_one)
    }
}
