//! What is done to the code of ops and terminators before it stands in a loop over lanes.

use crate::codegen::definition_check::Types;
use crate::codegen::division_guards::Divisions;
use crate::codegen::emitter::Emitter;
use crate::codegen::faulting_operations::FaultingOperations;
use crate::codegen::instruction_sets::Engine;
use crate::codegen::saturating_casts::Casts;
use crate::codegen::vector_math::Rewrite;
use crate::codegen::wide_division::WideDivisions;
use crate::ir::FuncId;
use crate::syntax::walk::Code;

/// Where lane code stands.
#[derive(Clone, Copy)]
pub(crate) struct Site<'i> {
    pub(crate) engine: Engine<'i>,
    /// Whether the loop over lanes is interchanged with one of the user's.
    pub(crate) interchanged: bool,
    /// Whether lanes may note faults.
    pub(crate) may_fault: bool,
}

impl Site<'_> {
    /// Whether products on vectors gain where 64-bit integers are divided. With AVX2 they do only where the rest of a loop could be
    /// no vectors otherwise: interchanged code has pieces of its own for what is none.
    fn divides_wide(self) -> bool {
        match self.engine {
            Engine::Vector("avx512") => true,
            Engine::Vector("avx2") => !self.interchanged,
            _ => false,
        }
    }
}

/// What rewrites a function's code.
pub(crate) struct LaneCode<'e, 'a> {
    guards: Divisions<'e>,
    wide: Option<WideDivisions<'e>>,
    faulting: Option<FaultingOperations<'e>>,
    casts: Casts<'e>,
    types: Types,
    math: Option<Rewrite<'e, 'a>>,
}

impl<'a> Emitter<'a> {
    /// What rewrites a function's code in some site.
    pub(crate) fn lane_code(&self, func: FuncId, site: Site<'_>) -> LaneCode<'_, 'a> {
        let (origins, rt) = (&self.origins[func.0], &self.rt);
        let (divides, wide) = (site.engine.fuses(), site.engine == Engine::Vector("avx512"));
        LaneCode {
            guards: Divisions { origins, rt },
            wide: site.divides_wide().then_some(WideDivisions { origins, rt }),
            faulting: site.may_fault.then_some(FaultingOperations { origins, rt, divides, wide }),
            casts: Casts { origins, rt },
            types: self.types[func.0].clone(),
            math: self.vector_math(func),
        }
    }
}

impl LaneCode<'_, '_> {
    /// Whether the code notes faults.
    pub(crate) fn code(&mut self, code: &mut impl Code) -> bool {
        let faults = self.of_variables(code);
        self.of_types(code);
        faults
    }

    /// The first half, which asks what variables are: the code has their names. Whether the code notes faults.
    pub(crate) fn of_variables(&self, code: &mut impl Code) -> bool {
        self.guards.rewrite(code);
        let faults = self.faulting.as_ref().is_some_and(|faulting| faulting.rewrite(code));
        self.wide.iter().for_each(|wide| wide.rewrite(code));
        self.casts.rewrite(code);
        faults
    }

    /// The second half: rustc knows the types.
    pub(crate) fn of_types(&mut self, code: &mut impl Code) {
        code.visit_mut(&mut self.types);
        if let Some(math) = &mut self.math {
            code.visit_mut(math);
        }
    }
}
