//! A program and its stages: lowered, admitted, and lowered once more for vector frames.
//!
//! In: an item, and the function that users call. Out: the program as the machine runs it, and as vector frames do, if it only computes.
//!
//! **Invariant:** each program is of one item: that which is handed back with it.

use std::rc::Rc;

use quote::quote;

use crate::admission;
use crate::admission::Admitted;
use crate::admission::purity::PureProgram;
use crate::codegen::VectorProgram;
use crate::desugar::helper_checks::HelperChecks;
use crate::desugar::state_passing::{self, Passed};
use crate::desugar::{assertions, elementary_operands, inline_expansion, local_closures, scalar_replacement};
use crate::dump::Dump;
use crate::ir::Program;
use crate::item::model::Item;
use crate::item::{methods, selection};
use crate::lower::{self, LowerOptions, Lowered};
use crate::passes::{self, Analyses, PassOptions};
use crate::resolve::resolution::Resolution;

/// What the stages are run with.
#[derive(Clone, Copy)]
pub(crate) struct Stages<'a> {
    pub(crate) resolution: &'a Resolution,
    /// The function that users call.
    pub(crate) entry: usize,
    pub(crate) options: &'a LowerOptions,
    pub(crate) passes: &'a PassOptions,
    pub(crate) dump: &'a Dump,
}

/// A program behind its stages.
pub(crate) struct Staged {
    /// Its item, which may have been rewritten.
    pub(crate) item: Item,
    pub(crate) admitted: Admitted,
    /// The same for vector frames.
    pub(crate) vector: Option<VectorProgram>,
}

/// A program for vector frames of which nobody knows yet whether it only computes.
struct VectorLowered {
    lowered: Lowered,
    analyses: Analyses,
}

impl VectorLowered {
    fn of(self, pure: PureProgram) -> VectorProgram {
        let VectorLowered { lowered, analyses } = self;
        VectorProgram { pure, lowered, analyses }
    }
}

impl Stages<'_> {
    /// All of them. What rustc has to check is added to `checks`.
    pub(crate) fn run(self, item: &Item, checks: &mut HelperChecks) -> Staged {
        let mut item = item.clone();
        let admitted = self.admitted(&mut item);
        match admitted.pure.clone() {
            Some(pure) => Staged { vector: Some(self.for_vectors(&item).of(pure)), item, admitted },
            None => self.with_values(Staged { item, admitted, vector: None }, checks),
        }
    }

    /// Lowers and analyses a program. Closures that borrow locals across a loop or call are put where they are called, and all starts
    /// again.
    fn admitted(self, item: &mut Item) -> Admitted {
        let name = methods::shown_name(&item.functions[self.entry].sig.ident);
        loop {
            let (mut lowered, questions) = lower::lower(item, self.resolution, self.entry, self.options);
            let analyses = self.run_passes(&mut lowered.program, self.passes, &name);
            let admitted = admission::admit(lowered, questions, analyses, item);
            let mut again = false;
            for source in admitted.lowered.sources.iter().copied() {
                let of_function = admitted.closures.iter().filter(|(f, _)| *f == source);
                let names = of_function.map(|(_, name)| name.clone()).collect();
                again |= local_closures::rewrite(&mut item.functions[source], &names, &self.options.krate);
            }
            if !again {
                return admitted;
            }
        }
    }

    fn for_vectors(self, item: &Item) -> VectorLowered {
        let options = LowerOptions { split_entry: true, ..self.options.clone() };
        let mut item = item.clone();
        let (krate, declared) = (&self.options.krate, item.declared.clone());
        for function in &mut item.functions {
            assertions::rewrite(function, &declared.macros, &quote!(#krate::__rt));
        }
        if self.passes.vector_math {
            item.functions.iter_mut().for_each(elementary_operands::rewrite);
        }
        let (mut lowered, _) = lower::lower(&item, self.resolution, self.entry, &options);
        let passes = PassOptions { split_entry: true, ..self.passes.clone() };
        let name = format!("{} vectors", methods::shown_name(&item.functions[self.entry].sig.ident));
        let analyses = self.run_passes(&mut lowered.program, &passes, &name);
        VectorLowered { lowered, analyses }
    }

    /// Makes a vector program where states, and structures that are owned, are values: if it only computes then.
    fn with_values(self, mut written: Staged, checks: &mut HelperChecks) -> Staged {
        let Some((passed, resolution, more)) = self.in_values(&written.item, true) else { return written };
        let vector = Stages { resolution: &resolution, ..self }.for_vectors(&passed.item);
        if !passed.is_whole(&vector.lowered.program, &vector.lowered.sources) {
            return written;
        }
        let machine = match written.admitted.lowered.program.is_scalar() {
            true => self.machine_with_values(&written.item),
            false => None,
        };
        let (mut machine, of_machine) = machine.unzip();
        let Staged { item, admitted, .. } = machine.as_mut().unwrap_or(&mut written);
        let Some(mut pure) = admission::admit_passed(admitted, &vector.lowered, &passed.item, item) else {
            return written;
        };
        pure.structures.extend(more.taken_apart().cloned());
        [Some(more), of_machine].into_iter().flatten().for_each(|more| checks.extend(more));
        Staged { vector: Some(vector.of(pure)), ..machine.unwrap_or(written) }
    }

    /// The program for the machine where states are values: calls that are lent a local, or a part of a state, are calls with values then.
    fn machine_with_values(self, item: &Item) -> Option<(Staged, HelperChecks)> {
        let (mut passed, resolution, checks) = self.in_values(item, false)?;
        let admitted = Stages { resolution: &resolution, ..self }.admitted(&mut passed.item);
        let Lowered { program, sources, .. } = &admitted.lowered;
        let fits = !program.is_scalar() && passed.is_whole(program, sources);
        fits.then_some((Staged { item: passed.item, admitted, vector: None }, checks))
    }

    /// An item whose states are values, and whose owned structures if that is said; if it has any. And what rustc has to check of it.
    fn in_values(self, item: &Item, owned: bool) -> Option<(Passed, Resolution, HelperChecks)> {
        let (definitions, options) = (&item.declared.definitions, self.options);
        let (mut callable, _) =
            selection::worth_batching(&item.functions, self.entry, &options.primitives, definitions);
        callable.insert(item.functions[self.entry].sig.ident.to_string(), self.entry);
        let is_callable = |f: usize| callable.values().any(|position| *position == f);
        let has_states = callable.values().any(|f| item.functions[*f].states().next().is_some());
        let declared = Rc::new(item.declared.with_owned());
        let has_owned = owned && !declared.beside.owned().is_empty();
        if !has_states && !has_owned {
            return None;
        }
        let mut checks = HelperChecks::default();
        let mut values = item.clone();
        if has_owned {
            values.declared = declared.clone();
            let vector_math = options.vector_math;
            checks = inline_expansion::rewrite(&mut values, self.resolution, is_callable, vector_math);
        }
        let mut passed = state_passing::rewrite(&values, self.resolution, &callable, &declared.beside);
        let resolution = self.resolution.clone().with_types(std::mem::take(&mut passed.types));
        let types = scalar_replacement::rewrite(&mut passed.item, &resolution, is_callable, &mut checks);
        Some((passed, resolution.with_types(types), checks))
    }

    /// Runs the passes, with the program before and after each as a file.
    fn run_passes(self, program: &mut Program, options: &PassOptions, name: &str) -> Analyses {
        self.dump.text(&format!("{name} lowered.txt"), || program.to_string());
        passes::run_watched(program, options, &mut |pass, program| {
            self.dump.text(&format!("{name} after {pass}.txt"), || program.to_string());
        })
    }
}
