//! A call of a function by itself, made in the caller's lanes up to the end of the callee's entry region.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::codegen::names::numbered;
use crate::codegen::strip::LaneStorage;
use crate::codegen::vector::frames::Writer;
use crate::ir::{Call, VarId, VarSet};

pub(crate) struct Called<'c> {
    pub(crate) writer: &'c Writer<'c, 'c>,
    pub(crate) call: &'c Call,
    /// Which of the caller's calls it is.
    pub(crate) nth: usize,
    /// Where the caller's variables are.
    pub(crate) here: &'c dyn Fn(VarId) -> LaneStorage,
    /// Where the result is of those that return at once.
    pub(crate) result: LaneStorage,
}

impl Called<'_> {
    /// A parameter's argument.
    pub(crate) fn arg(&self, v: VarId) -> Option<VarId> {
        let emitter = self.writer.emitter;
        let params = &emitter.program.func(self.writer.func).params;
        let at = params.iter().position(|p| *p == v)?;
        Some(emitter.column_of(self.call.args[at]))
    }

    /// What holds a variable that the entry region writes, unless it is the result.
    pub(crate) fn made(&self, v: VarId) -> Option<Ident> {
        let is_made = self.outs().contains(&v) && !self.writer.is_result(v);
        is_made.then(|| numbered(&format!("y{}_", self.nth), v.0))
    }

    fn outs(&self) -> &[VarId] {
        &self.writer.entry_region().outs
    }

    /// Room for what the entry region writes.
    pub(crate) fn declare(&self, lanes: usize) -> TokenStream {
        let rt = &self.writer.emitter.rt;
        let made = self.outs().iter().filter_map(|v| {
            let (y, ty) = (self.made(*v)?, self.writer.emitter.element(*v));
            Some(quote!(let mut #y = #rt::Strip::<#ty, #lanes>::cleared();))
        });
        quote!(#(#made)*)
    }

    /// Parameters that are changed begin as what they are called with: what gets a value, and from where.
    pub(crate) fn begin(&self) -> Vec<(LaneStorage, LaneStorage)> {
        self.outs()
            .iter()
            .filter_map(|v| Some((LaneStorage::Strip(self.made(*v)?), (self.here)(self.arg(*v)?))))
            .collect()
    }

    /// Where a variable of the entry region is.
    pub(crate) fn inside(&self, v: VarId) -> LaneStorage {
        match self.made(v) {
            Some(made) => LaneStorage::Strip(made),
            None if self.writer.is_result(v) => self.result.clone(),
            None => (self.here)(self.arg(v).expect("an entry region has nothing but parameters")),
        }
    }

    /// What is live behind the entry region: a parameter, or made there.
    pub(crate) fn values(&self, state: &VarSet) -> Vec<TokenStream> {
        state.iter().map(|v| self.inside(*v).read(&self.writer.emitter.rt)).collect()
    }
}
