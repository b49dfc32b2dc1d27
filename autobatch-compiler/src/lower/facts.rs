//! What is known of a program before it is lowered. Nothing of it changes while blocks are made.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use syn::{Block, ExprMethodCall, Path};

use crate::analysis::reference_flow::ReferenceFlow;
use crate::item::model::{Function, Item};
use crate::item::selection;
use crate::resolve::resolution::Resolution;
use crate::syntax::call_sites;

/// What the lowering can be told.
#[derive(Clone)]
pub struct LowerOptions {
    /// Where the facade crate is found.
    pub krate: Path,
    /// Whether branches without calls or loops stay inside ops.
    pub fuse: bool,
    /// Functions with a batched kernel, as the code calls them.
    pub primitives: Vec<Path>,
    /// Whether blocks end behind statements that may return early.
    pub split_entry: bool,
    /// Whether elementary functions are vector code.
    pub vector_math: bool,
}

/// What is known of one program. Functions are known by their positions in the item.
pub(crate) struct Facts<'a> {
    pub(super) item: &'a Item,
    pub(super) resolution: &'a Resolution,
    pub(super) options: &'a LowerOptions,
    pub(super) entry: usize,
    /// The functions worth batching, by name.
    batched: BTreeMap<String, usize>,
    /// Names of functions that would be worth batching, but are generic on their own.
    excluded: BTreeSet<String>,
    /// The functions that recurse.
    recursive: BTreeSet<usize>,
    /// How references to locals flow in each function, found when it is asked for.
    reference_flows: Vec<OnceCell<Rc<ReferenceFlow>>>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        item: &'a Item,
        resolution: &'a Resolution,
        entry: usize,
        options: &'a LowerOptions,
    ) -> Self {
        let definitions = &item.declared.definitions;
        let (batched, excluded) =
            selection::worth_batching(&item.functions, entry, &options.primitives, definitions);
        let recursive = selection::recursive(&item.functions, &options.primitives, definitions);
        let reference_flows = vec![OnceCell::new(); item.functions.len()];
        Facts { item, resolution, options, entry, batched, excluded, recursive, reference_flows }
    }

    /// The function at a position.
    pub(super) fn function(&self, source: usize) -> &'a Function {
        &self.item.functions[source]
    }

    /// The function that a name stands for, if calls of it can be batched.
    pub(super) fn callable(&self, name: &str) -> Option<usize> {
        self.batched.get(name).copied()
    }

    /// Whether a function recurses.
    pub(super) fn is_recursive(&self, source: usize) -> bool {
        self.recursive.contains(&source)
    }

    /// Whether a name stands for a function that would be worth batching, but is generic on its own.
    pub(super) fn is_excluded(&self, name: &str) -> bool {
        self.excluded.contains(name)
    }

    /// Whether a method has that name whose calls are batched, or would be if it had no type parameters. Other
    /// methods are plain calls on any receiver.
    pub(super) fn is_program_method(&self, call: &ExprMethodCall) -> bool {
        let name = call.method.to_string();
        let fits = |f: &Function| {
            call.method == f.sig.ident && f.sig.receiver().is_some() && f.params.len() == call.args.len() + 1
        };
        (self.batched.contains_key(&name) || self.excluded.contains(&name))
            && self.item.functions.iter().any(fits)
    }

    /// How references to locals flow in a function.
    pub(super) fn reference_flow(&self, source: usize) -> &Rc<ReferenceFlow> {
        let flow = || Rc::new(ReferenceFlow::of(self.function(source), self.resolution.types(source)));
        self.reference_flows[source].get_or_init(flow)
    }

    /// The body of a function; of its calls only those in tail position have numbers.
    pub(super) fn body(&self, source: usize) -> Block {
        let function = self.function(source);
        let mut body = function.body.clone();
        call_sites::retain(&mut body, |site| function.is_tail(site));
        body
    }
}
