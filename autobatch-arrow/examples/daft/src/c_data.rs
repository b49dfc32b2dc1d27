//! Arrays from Daft, and back: by Arrow's C data interface, which is the same for all versions of Arrow. They cross without a copy.
//!
//! **Invariant:** what has come from Daft by value is released once, whether the call succeeds or not.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::{Array, ArrayRef, make_array};
use arrow_schema::{ArrowError, DataType, Field};
use daft_ext::prelude::{ArrowArray, ArrowData, ArrowSchema, DaftResult, DaftScalarFunction};

use crate::scalar_function::ScalarFunction;

/// A function behind the interface of Daft.
pub(crate) struct Exported(pub(crate) ScalarFunction);

impl DaftScalarFunction for Exported {
    fn name(&self) -> &CStr {
        self.0.name()
    }

    fn return_field(&self, arguments: &[ArrowSchema]) -> DaftResult<ArrowSchema> {
        // SAFETY: both types are the struct `ArrowSchema` of the C data interface. Daft lends valid ones for the time of the call.
        let schemas = arguments.iter().map(|schema| unsafe { schema.as_raw::<FFI_ArrowSchema>() });
        let fields = schemas.map(Field::try_from).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<DataType> = fields.iter().map(|field| field.data_type().clone()).collect();
        self.0.check(&types)?;
        // Daft's planner looks for a column with the name of the first argument, as its own functions give.
        let name = fields.first().map_or("", |field| field.name());
        Ok(exported_field(name, self.0.result())?)
    }

    fn call(&self, arguments: Vec<ArrowData>) -> DaftResult<ArrowData> {
        // All are owned before one of them may be refused, as only owned ones are released.
        let owned: Vec<Owned> = arguments.into_iter().map(Owned::from).collect();
        let name = owned.first().and_then(|argument| argument.schema.name()).unwrap_or("").to_owned();
        let arrays = owned.into_iter().map(Owned::into_array).collect::<Result<Vec<_>, _>>()?;
        let results = self.0.call(&arrays)?;
        let schema = exported_field(&name, results.data_type())?;
        let array = FFI_ArrowArray::new(&results.to_data());
        // SAFETY: both types are the struct `ArrowArray` of the C data interface, and the value moves.
        Ok(ArrowData { schema, array: unsafe { ArrowArray::from_owned(array) } })
    }
}

/// A column of results, any of which may be null.
fn exported_field(name: &str, data_type: &DataType) -> Result<ArrowSchema, ArrowError> {
    let schema = FFI_ArrowSchema::try_from(Field::new(name, data_type.clone(), true))?;
    // SAFETY: both types are the struct `ArrowSchema` of the C data interface, and the value moves.
    Ok(unsafe { ArrowSchema::from_owned(schema) })
}

/// An argument that releases itself when it is dropped, which Daft's own type does not.
struct Owned {
    array: FFI_ArrowArray,
    schema: FFI_ArrowSchema,
}

impl From<ArrowData> for Owned {
    fn from(data: ArrowData) -> Owned {
        // SAFETY: the types are the structs of that name of the C data interface, and the values move: `daft-ext` has read them from Daft, which
        // gives them away.
        unsafe { Owned { array: data.array.into_owned(), schema: data.schema.into_owned() } }
    }
}

impl Owned {
    fn into_array(self) -> Result<ArrayRef, ArrowError> {
        // SAFETY: Daft gives an array with its own schema, both as the C data interface asks for.
        Ok(make_array(unsafe { from_ffi(self.array, &self.schema) }?))
    }
}
