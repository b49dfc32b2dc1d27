//! A batched function as DataFusion sees it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use autobatch::{BatchError, Fault, Options, Outcome};
use autobatch_arrow::{Argument, Batch, Error, Results, signature};
use datafusion_common::arrow::array::{Array, ArrayRef, Datum, new_empty_array};
use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};

use crate::coercion::{coerced, fitted};

/// A scalar function of DataFusion that runs a batched function. [`udf!`](crate::udf!) makes one from a function's name; this is the general form.
///
/// ```
/// use autobatch::autobatch;
/// use autobatch_datafusion::{ScalarUDF, Udf, Volatility};
///
/// struct Line {
///     slope: f64,
/// }
///
/// #[autobatch]
/// impl Line {
///     fn above(&self, x: f64, y: f64) -> bool {
///         y > self.slope * x
///     }
/// }
///
/// let line = Line { slope: 2.0 };
/// let above = Udf::new("above", move |[x, y], options| line.above_batched_with(x, y, options));
/// let above = ScalarUDF::from(above.volatility(Volatility::Stable));
/// assert_eq!(above.name(), "above");
/// ```
pub struct Udf {
    name: String,
    aliases: Vec<String>,
    signature: Signature,
    parameters: Vec<DataType>,
    result: DataType,
    options: Options,
    null_on_fault: bool,
    run: Arc<Run>,
}

type Run = dyn Fn(&[Operand], Options, bool) -> Result<ArrayRef, Error> + Send + Sync;

impl Udf {
    /// A function of that name. The closure hands the arguments, one for each row, to `f_batched_with`, along with the options.
    ///
    /// The types of its arguments are those of the parameters that they are given to.
    ///
    /// # Panics
    ///
    /// If the closure gives an argument to no parameter, or to two of different types.
    #[track_caller]
    pub fn new<const N: usize, R: Results>(
        name: impl Into<String>,
        function: impl Fn([Argument<'_>; N], &Options) -> Result<Outcome<R>, BatchError> + Send + Sync + 'static,
    ) -> Udf {
        let name = name.into();
        let types =
            signature(&function).unwrap_or_else(|error| panic!("the function {name} of SQL: {error}"));
        let run = move |operands: &[Operand], options: Options, null_on_fault: bool| {
            let batch =
                Batch::of(std::array::from_fn(|index| &operands[index] as &dyn Datum)).options(options);
            if null_on_fault { batch.null_on_fault().call(&function) } else { batch.call(&function) }
        };
        Udf {
            name,
            aliases: Vec::new(),
            signature: Signature::user_defined(Volatility::Immutable),
            parameters: types.arguments.into(),
            result: types.result,
            options: Options::default(),
            null_on_fault: false,
            run: Arc::new(run),
        }
    }

    /// Another name of the function.
    #[must_use]
    pub fn alias(mut self, name: impl Into<String>) -> Udf {
        self.aliases.push(name.into());
        self
    }

    /// Whether the result depends on more than the arguments. [`Volatility::Immutable`] unless it is said, as suits a function that computes.
    #[must_use]
    pub fn volatility(self, volatility: Volatility) -> Udf {
        Udf { signature: Signature { volatility, ..self.signature }, ..self }
    }

    /// How batches run: the executor, limits of steps and depth. The engine's partitions are the threads, so [`Options::threads`] is 1 whatever is
    /// said here.
    #[must_use]
    pub fn options(self, options: Options) -> Udf {
        Udf { options, ..self }
    }

    /// Has rows at fault be null; otherwise they end the query with an error.
    #[must_use]
    pub fn null_on_fault(self) -> Udf {
        Udf { null_on_fault: true, ..self }
    }

    /// The error of a query for rows at fault. It has the arguments, as the engine's batches are parts of the table, and their rows are not the table's.
    fn error(&self, faults: &[Fault], operands: &[Operand]) -> DataFusionError {
        let Some(first) = faults.first() else {
            return DataFusionError::Internal(format!("{}: a fault without a row", self.name));
        };
        let arguments: Vec<String> = operands.iter().map(|operand| operand.shown(first.member)).collect();
        let more = match faults.len() - 1 {
            0 => String::new(),
            more => format!(", {more} more at fault"),
        };
        DataFusionError::Execution(format!(
            "{}({}): {} (row {} of its batch{more})",
            self.name,
            arguments.join(", "),
            first.message,
            first.member
        ))
    }
}

/// An argument: an array, or one value for all rows.
struct Operand {
    array: ArrayRef,
    is_one: bool,
}

impl Operand {
    /// The argument for a parameter of that type.
    fn new(value: &ColumnarValue, parameter: &DataType, function: &str) -> Result<Operand> {
        let (array, is_one) = match value {
            ColumnarValue::Array(array) => (Arc::clone(array), false),
            ColumnarValue::Scalar(value) => (value.to_array()?, true),
        };
        Ok(Operand { array: fitted(array, parameter, function)?, is_one })
    }

    /// The value in that row, cut short.
    fn shown(&self, row: usize) -> String {
        const MOST: usize = 60;
        let row = if self.is_one { 0 } else { row };
        let Ok(value) = ScalarValue::try_from_array(&self.array, row) else { return "?".to_owned() };
        let text = value.to_string();
        match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

impl Datum for Operand {
    fn get(&self) -> (&dyn Array, bool) {
        (&self.array, self.is_one)
    }
}

impl ScalarUDFImpl for Udf {
    fn name(&self) -> &str {
        &self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.clone())
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let count = self.parameters.len();
        if types.len() != count {
            return plan_err!("{} takes {count} arguments, not {}", self.name, types.len());
        }
        let one = |(index, (from, to)): (usize, (&DataType, &DataType))| match coerced(from, to) {
            Some(data_type) => Ok(data_type),
            None => plan_err!("argument {} of {} has to be {to}, but is {from}", index + 1, self.name),
        };
        types.iter().zip(&self.parameters).enumerate().map(one).collect()
    }

    fn invoke_with_args(&self, call: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // Nothing runs for a table without rows, not even for literals.
        if call.number_rows == 0 {
            return Ok(ColumnarValue::Array(new_empty_array(&self.result)));
        }
        let are_all_one = call.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let has_one_result = are_all_one && self.signature.volatility != Volatility::Volatile;
        let mut arguments = call.args;
        if are_all_one && !has_one_result {
            let first = arguments[0].to_array(call.number_rows)?;
            arguments[0] = ColumnarValue::Array(first);
        }
        let one = |(argument, parameter)| Operand::new(argument, parameter, &self.name);
        let operands = arguments.iter().zip(&self.parameters).map(one).collect::<Result<Vec<_>>>()?;
        let options = self.options.clone().threads(1).first_member(0);
        let results = (self.run)(&operands, options, self.null_on_fault).map_err(|error| match error {
            Error::Faults(faults) => self.error(&faults, &operands),
            error => DataFusionError::Execution(format!("{}: {error}", self.name)),
        })?;
        match has_one_result {
            true => ScalarValue::try_from_array(&results, 0).map(ColumnarValue::Scalar),
            false => Ok(ColumnarValue::Array(results)),
        }
    }
}

impl fmt::Debug for Udf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Udf")
            .field("name", &self.name)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

/// A function is equal to itself only: others of the name may have other shared values.
impl PartialEq for Udf {
    fn eq(&self, other: &Udf) -> bool {
        Arc::ptr_eq(&self.run, &other.run)
    }
}

impl Eq for Udf {}

impl Hash for Udf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
