//! Ufuncs made of batched functions.

use std::array;
use std::cell::OnceCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use autobatch::{BatchError, Options, Outcome};
use numpy::npyffi::{PY_UFUNC_API, npy_intp};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

use crate::item::Item;
use crate::operand::{Kind, Memory, Operand, Scratch, Shape};

/// A NumPy ufunc, or a gufunc if an operand is an array per member. See the [crate's page](crate).
#[must_use]
pub struct Ufunc {
    name: String,
    doc: String,
    loops: Vec<(Vec<Shape>, Box<Loop>)>,
    error: Option<String>,
    options: Options,
    nan_on_fault: bool,
}

/// What NumPy's loop runs.
struct Loop {
    name: String,
    run: Box<Run>,
}

type Run = dyn Fn(&Call) -> Result<(), String> + Send + Sync;

/// The arguments of NumPy's loop.
struct Call {
    operands: *mut *mut c_char,
    dimensions: *mut npy_intp,
    strides: *mut npy_intp,
}

impl Ufunc {
    /// A ufunc without loops, of that name.
    pub fn new(name: &str) -> Ufunc {
        let (name, doc, options) = (name.to_owned(), String::new(), Options::default().quiet(true));
        Ufunc { name, doc, loops: Vec::new(), error: None, options, nan_on_fault: false }
    }

    /// Its documentation in Python.
    pub fn doc(self, doc: &str) -> Ufunc {
        Ufunc { doc: doc.to_owned(), ..self }
    }

    /// How its batches run. To be said before [`Ufunc::with`].
    pub fn options(self, options: Options) -> Ufunc {
        Ufunc { options: options.quiet(true), ..self }
    }

    /// Has members at fault be NaN, where results are floats; otherwise they raise a `RuntimeError`. To be said before [`Ufunc::with`].
    pub fn nan_on_fault(self) -> Ufunc {
        Ufunc { nan_on_fault: true, ..self }
    }

    /// Adds a loop: a closure that hands the operands to `f_batched_with`. NumPy takes the first loop to whose types the operands can be cast
    /// safely.
    pub fn with<const N: usize, R: Item>(
        mut self,
        function: impl Fn([Operand<'_>; N], &Options) -> Result<Outcome<R>, BatchError> + Send + Sync + 'static,
    ) -> Ufunc {
        let asked: [OnceCell<Shape>; N] = array::from_fn(|_| OnceCell::new());
        let operands = array::from_fn(|i| Operand(Kind::Asked(&asked[i])));
        if let Err(error) = function(operands, &self.options) {
            self.error.get_or_insert(error.to_string());
        }
        let mut shapes: Vec<Shape> = asked.iter().filter_map(|asked| asked.get().copied()).collect();
        if shapes.len() < N {
            self.error.get_or_insert("an operand is given to no parameter".to_owned());
        }
        shapes.push(Shape::of::<R>());
        if self.loops.first().is_some_and(|(first, _)| cores(first) != cores(&shapes)) {
            self.error.get_or_insert("all loops have to have the same core dimensions".to_owned());
        }
        let (options, nan_on_fault, at_cores) = (self.options.clone(), self.nan_on_fault, cores(&shapes));
        let run = move |call: &Call| run(call, &at_cores, &options, nan_on_fault, &function);
        self.loops.push((shapes, Box::new(Loop { name: self.name.clone(), run: Box::new(run) })));
        self
    }

    /// Makes it.
    ///
    /// # Errors
    ///
    /// A `TypeError` without loops, or if they don't fit together.
    pub fn build(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Some((first, _)) = self.loops.first() else {
            return Err(PyTypeError::new_err(format!("{} has no loops", self.name)));
        };
        if let Some(error) = self.error {
            return Err(PyTypeError::new_err(format!("{}: {error}", self.name)));
        }
        let (inputs, core_dimensions) = (first.len() - 1, cores(first));
        let list = |cores: &[Option<usize>]| -> String {
            let each = cores.iter().map(|core| core.map_or("()".to_owned(), |core| format!("({core})")));
            each.collect::<Vec<_>>().join(",")
        };
        let signature = core_dimensions
            .iter()
            .any(Option::is_some)
            .then(|| format!("{}->{}", list(&core_dimensions[..inputs]), list(&core_dimensions[inputs..])));
        let text =
            |text: String| CString::new(text).map_err(|_| PyTypeError::new_err("a text with a zero byte"));
        // The ufunc refers to all of them, and lives as long as the process.
        let count = self.loops.len() as c_int;
        let types: Vec<c_char> =
            self.loops.iter().flat_map(|(shapes, _)| shapes.iter().map(|shape| shape.number)).collect();
        let functions = vec![Some(enter as unsafe extern "C" fn(_, _, _, _)); self.loops.len()].leak();
        let data: Vec<*mut c_void> =
            self.loops.into_iter().map(|(_, code)| Box::into_raw(code).cast()).collect();
        let (name, doc) = (text(self.name)?.into_raw(), text(self.doc)?.into_raw());
        let signature =
            signature.map(text).transpose()?.map_or(ptr::null(), |text| text.into_raw().cast_const());
        // SAFETY: the lists have a function, data, and the types of all operands for each loop; all of them stay.
        unsafe {
            let ufunc = PY_UFUNC_API.PyUFunc_FromFuncAndDataAndSignature(
                py,
                functions.as_mut_ptr(),
                data.leak().as_mut_ptr(),
                types.leak().as_mut_ptr(),
                count,
                inputs as c_int,
                1,
                -1, // no identity
                name,
                doc,
                0,
                signature,
            );
            Bound::from_owned_ptr_or_err(py, ufunc).map(Bound::unbind)
        }
    }
}

fn cores(shapes: &[Shape]) -> Vec<Option<usize>> {
    shapes.iter().map(|shape| shape.core).collect()
}

/// NumPy's loop. It holds the interpreter's lock for small arrays only.
unsafe extern "C" fn enter(
    operands: *mut *mut c_char,
    dimensions: *mut npy_intp,
    strides: *mut npy_intp,
    data: *mut c_void,
) {
    // SAFETY: NumPy hands back the data of the loop, which stays.
    let code = unsafe { &*data.cast::<Loop>() };
    let call = Call { operands, dimensions, strides };
    let message = match catch_unwind(AssertUnwindSafe(|| (code.run)(&call))) {
        Ok(Ok(())) => return,
        Ok(Err(message)) => message,
        Err(_) => "a panic".to_owned(),
    };
    Python::attach(|py| {
        if !PyErr::occurred(py) {
            PyRuntimeError::new_err(format!("{}: {message}", code.name)).restore(py);
        }
    });
}

/// Runs a batch of `N` operands, and writes the results.
fn run<const N: usize, R: Item>(
    call: &Call,
    cores: &[Option<usize>],
    options: &Options,
    nan_on_fault: bool,
    function: &impl Fn([Operand<'_>; N], &Options) -> Result<Outcome<R>, BatchError>,
) -> Result<(), String> {
    // SAFETY: NumPy hands over the number of members,
    let len = unsafe { *call.dimensions } as usize;
    // SAFETY: an address for each operand,
    let address = |nth: usize| unsafe { *call.operands.add(nth) };
    // SAFETY: and a stride for each, then those of the core dimensions.
    let stride = |nth: usize| unsafe { *call.strides.add(nth) };
    if len == 0 {
        return Ok(());
    }
    let apart = |nth: usize| {
        let before = cores[..nth].iter().filter(|core| core.is_some()).count();
        if cores[nth].is_some() { stride(N + 1 + before) } else { 0 }
    };
    // All the same: one result is that of each.
    let is_one = (0..N).all(|nth| stride(nth) == 0);
    let scratch: [Scratch; N] = array::from_fn(|_| Scratch::default());
    let operands = array::from_fn(|nth| {
        let (at, apart) = (address(nth).cast_const().cast(), apart(nth));
        let memory = match is_one {
            // Of a member alone the stride is not used.
            true => Memory { at, len: 1, stride: 4096, apart },
            false => Memory { at, len, stride: stride(nth), apart },
        };
        Operand(Kind::Memory(memory, &scratch[nth]))
    });
    let outcome = function(operands, options).map_err(|error| error.to_string())?;
    let other = match outcome.faults().first() {
        None => None,
        Some(fault) => match R::nan().filter(|_| nan_on_fault) {
            None => return Err(fault.message.clone()),
            nan => nan,
        },
    };
    let expected = if is_one { 1 } else { len };
    if outcome.len() != expected {
        return Err(format!("{} results for {expected} members", outcome.len()));
    }
    let (at, step, apart) = (address(N).cast::<u8>(), stride(N), apart(N));
    let one = outcome.get(0).copied().or(other).filter(|_| is_one);
    let mut nth = 0_isize;
    let mut put = |result: R| {
        // SAFETY: NumPy hands over memory for a result of each member, which nobody reads any more: outcomes own their results.
        unsafe { result.write(at.offset(nth * step), apart) };
        nth += 1;
    };
    match (one, other) {
        (Some(one), _) => (0..len).for_each(|_| put(one)),
        (None, None) => outcome.into_values().map_err(|faults| faults.to_string())?.into_iter().for_each(put),
        (None, Some(other)) => outcome.into_values_or(other).into_iter().for_each(put),
    }
    Ok(())
}
