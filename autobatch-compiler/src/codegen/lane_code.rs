//! What is done to the code of ops and terminators before it stands in a loop over lanes.

use crate::codegen::definition_check::Types;
use crate::codegen::division_guards::Divisions;
use crate::codegen::emitter::Emitter;
use crate::codegen::saturating_casts::Casts;
use crate::codegen::vector_math::Rewrite;
use crate::ir::FuncId;
use crate::syntax::walk::Code;

/// What rewrites a function's code.
pub(crate) struct LaneCode<'e, 'a> {
    divisions: Divisions<'e>,
    casts: Casts<'e>,
    types: Types,
    math: Option<Rewrite<'e, 'a>>,
}

impl<'a> Emitter<'a> {
    pub(crate) fn lane_code(&self, func: FuncId) -> LaneCode<'_, 'a> {
        let (origins, rt) = (&self.origins[func.0], &self.rt);
        LaneCode {
            divisions: Divisions { origins, rt },
            casts: Casts { origins, rt },
            types: self.types[func.0].clone(),
            math: self.vector_math(func),
        }
    }
}

impl LaneCode<'_, '_> {
    pub(crate) fn code(&mut self, code: &mut impl Code) {
        self.of_variables(code);
        self.of_types(code);
    }

    /// The first half, which asks what variables are: the code has their names.
    pub(crate) fn of_variables(&self, code: &mut impl Code) {
        self.divisions.rewrite(code);
        self.casts.rewrite(code);
    }

    /// The second half: rustc knows the types.
    pub(crate) fn of_types(&mut self, code: &mut impl Code) {
        code.visit_mut(&mut self.types);
        if let Some(math) = &mut self.math {
            code.visit_mut(math);
        }
    }
}
