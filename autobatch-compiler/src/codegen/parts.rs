//! What the parts of the emission hand to the functions that users call.

use proc_macro2::{Ident, TokenStream};
use syn::Type;

use crate::admission::purity::PureProgram;
use crate::codegen::explained_loops::Loop;
use crate::item::model::Function;

/// Everything the API needs to know about the machine code.
pub(crate) struct Machine<'a> {
    /// The statements of the body, given `__core`, `__store`, `__out` and the parameters.
    pub(crate) body: Option<TokenStream>,
    /// The program in vector frames.
    pub(crate) vector: Option<VectorCode>,
    /// The initialiser of the static `Program`.
    pub(crate) program: TokenStream,
    /// What runs the function for one member, given its arguments and a `Depth`; else the function itself.
    pub(crate) clone: Option<TokenStream>,
    /// The same that looks at the limits of the run; not for what has vector code.
    pub(crate) counted: Option<TokenStream>,
    /// Whether that makes the steps that blocks make.
    pub(crate) steps: bool,
    /// Whether some function of the program has calls but no clone.
    pub(crate) native_depth: bool,
    /// The facade crate as the static names it, from inside a module.
    pub(crate) krate: syn::Path,
    pub(crate) function: &'a Function,
    /// What functions with the user's code begin with.
    pub(crate) begin: TokenStream,
}

/// The code of vector frames.
pub(crate) struct VectorCode {
    /// For each instruction set of [`VARIANTS`](crate::codegen::instruction_sets::VARIANTS) its functions; empty if they can't hold the
    /// program.
    pub(crate) variants: Vec<VectorVariant>,
    /// Whether vectors of 16 bytes pay.
    pub(crate) short: bool,
    pub(crate) pure: PureProgram,
    /// Whether the program has calls.
    pub(crate) recursive: bool,
    /// Whether it runs as a wavefront under the program-counter executor.
    pub(crate) wavefront: bool,
    /// Whether it runs in task blocks otherwise.
    pub(crate) task_blocks: bool,
    /// The type of each parameter and result.
    pub(crate) types: Vec<Type>,
    /// How its loops run.
    pub(crate) loops: Vec<Loop>,
}

/// Everything that vector frames need, emitted.
pub(crate) struct VectorVariant {
    /// For each function its name, parameters and body, to be compiled for the instruction set.
    pub(crate) functions: Vec<(Ident, TokenStream, TokenStream)>,
    /// Statements that run a tile, given `__tile` and the parameters of the entry function.
    pub(crate) tile: TokenStream,
    /// Whether vectors of 16 bytes pay.
    pub(crate) short: bool,
    /// The same as a wavefront, given `__begin` too, if the program has calls of which one may need another's result.
    pub(crate) wavefront: Option<TokenStream>,
    /// Whether it has task blocks otherwise.
    pub(crate) task_blocks: bool,
}
