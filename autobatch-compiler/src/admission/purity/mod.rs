//! Which programs only compute: running a piece of them twice, or on a copy of a member, shows nowhere.
//!
//! Such programs run in vector frames (`codegen/vector/frames.rs`). Admitted are operators, methods of numbers, control flow, and calls of
//! functions of the same item, or beside it, that only compute too, on numbers, `bool`s, `char`s, tuples, arrays and `Option`s of them, and
//! `Copy` structures of the file's, of which only fields are used. The
//! macro knows few types, so what all of it starts from is listed: types of parameters and results that are not primitive by name
//! ([`PureProgram::types`]), and values that are read from constants, from shared data, and behind references that each member was given
//! ([`PureProgram::leaves`]). What operators and methods of primitive values make is primitive. Generated code asks the runtime whether
//! what is listed is; if not, the machine runs the program. What methods are called on, `admission/receivers.rs` asks.
//!
//! Refused: everything owned or changed in place; closures, macros other than
//! assertions and panics, items in bodies but for constants and what is imported from std; blocks of a primitive; recursion beside lane-interchanged blocks; mutual tail calls that come
//! back, because a vector frame takes native stack for them.

mod callees;
mod pure_program;
mod walk;

pub(crate) use pure_program::Step;
pub use pure_program::{Leaf, PureProgram, index};

use std::collections::{BTreeMap, BTreeSet};

use callees::{Callees, Seen};
use syn::Type;
use walk::PurityWalk;

use crate::admission::receivers::Receivers;
use crate::index::definitions::Definitions;
use crate::ir::{FuncId, Program, Terminator};
use crate::item::model::{Function, Item, Param, Passing};
use crate::lower::{Lowered, item_names};
use crate::resolve::types::FunctionType;
use crate::std_models::pure::is_primitive;
use crate::syntax::mentions::bare_type;
use crate::syntax::reachability::reached;
use crate::syntax::walk::At;

impl PureProgram {
    /// Whether there is nothing to ask rustc.
    pub fn is_certain(&self) -> bool {
        self.types.is_empty() && self.leaves.is_empty() && self.structures.is_empty()
    }
}

/// Whether an item of a body only names what has no effects: a constant, or something of std by its own name. Elsewhere its names must mean nothing
/// that is known, since what is known of a name holds for the whole item.
fn only_names(body_item: &syn::Item, item: &Item) -> bool {
    let Some(names) = item_names(body_item) else { return false };
    let (of_item, of_file) = (item.functions.iter(), item.helpers.iter());
    let is_function = |name: &String| of_item.clone().chain(of_file.clone()).any(|f| f.sig.ident == name);
    if names.iter().any(|name| is_function(name) || item.declared.definitions.means(name)) {
        return false;
    }
    match body_item {
        syn::Item::Const(_) => true,
        syn::Item::Use(import) => is_of_std(&import.tree),
        _ => false,
    }
}

/// Whether what is imported is std's, and keeps its name.
fn is_of_std(tree: &syn::UseTree) -> bool {
    fn keeps_names(tree: &syn::UseTree) -> bool {
        match tree {
            syn::UseTree::Path(path) => keeps_names(&path.tree),
            syn::UseTree::Name(_) => true,
            syn::UseTree::Group(group) => group.items.iter().all(keeps_names),
            syn::UseTree::Rename(_) | syn::UseTree::Glob(_) => false,
        }
    }
    matches!(tree, syn::UseTree::Path(path) if ["std", "core"].iter().any(|root| path.ident == root))
        && keeps_names(tree)
}

/// What must be primitive for the program to only compute; `None` if it does more. Classes of variables are
/// settled. `written` has the functions with the parameters that members are given.
pub(crate) fn of(
    lowered: &Lowered,
    item: &Item,
    written: &Item,
    outputs: &[FunctionType],
    receivers: &[Receivers<'_>],
) -> Option<PureProgram> {
    let Item { functions, helpers, declared, .. } = item;
    let program = &lowered.program;
    let is_recursive = program.func_ids().any(|f| program.func(f).recursive);
    let refused = !program.notes.is_empty()
        || !lowered.items.iter().all(|body_item| only_names(body_item, item))
        || program.blocks.iter().any(|b| b.primitive.is_some() || b.interchanged && is_recursive)
        || program.func_ids().any(|f| tail_calls_come_back(program, f));
    if refused {
        return None;
    }
    let entry = lowered.sources[program.entry.0];
    if copies(&functions[entry], &written.functions[entry], &declared.beside) {
        return None;
    }
    let mut plain = PureProgram::default();
    let mut seen = BTreeSet::new();
    let (definitions, beside, nothing) = (&declared.definitions, &declared.beside, &Definitions::default());
    for func in program.func_ids() {
        let macros = &declared.macros;
        let callees = Callees {
            functions,
            helpers,
            definitions,
            beside,
            own: item.own.as_ref(),
            nothing,
            macros,
            outputs,
            around: vec![],
        };
        let source = &functions[lowered.sources[func.0]];
        plain.function(program, func, source, callees, &receivers[func.0], &mut seen)?;
    }
    Some(plain)
}

/// Whether members are given structures by value that don't say that they are `Copy`: theirs may be copied in a way of its own.
fn copies(function: &Function, written: &Function, definitions: &Definitions) -> bool {
    let is_value = |nth: usize| written.params[nth].passing == Passing::Each;
    let is_owned = |ty: &Type| definitions.structure(ty).is_some() && !definitions.says_copy(ty);
    let owns = |ty: &Type| crate::syntax::walk::any(ty, |at| matches!(at, At::Type(ty) if is_owned(ty)));
    function.params.iter().enumerate().any(|(nth, param)| is_value(nth) && owns(&param.ty))
}

/// Whether a parameter is a reference that each member has to data nobody changes: only what is read there is the member's.
fn is_lent(param: &Param) -> bool {
    param.passing == Passing::EachRef && !param.mutable
}

/// Whether tail calls lead from `func` over another function back to it.
fn tail_calls_come_back(program: &Program, func: FuncId) -> bool {
    let next = |f: FuncId| {
        program.blocks_of(f).filter_map(move |b| match b.term {
            Terminator::TailCall { callee, .. } if callee != f => Some(callee),
            _ => None,
        })
    };
    reached(func, next).contains(&func)
}

impl PureProgram {
    fn function(
        &mut self,
        program: &Program,
        func: FuncId,
        source: &Function,
        callees: Callees<'_>,
        receivers: &Receivers<'_>,
        seen: &mut Seen,
    ) -> Option<()> {
        let function = program.func(func);
        let callees = callees.seen_by(source);
        let (mut shared, mut structures) = (BTreeMap::new(), BTreeMap::new());
        let result = self.value(&function.output, &callees)?;
        structures.extend(result.map(|ty| (program.name(function.result), ty)));
        for (var, param) in function.params.iter().zip(&source.params) {
            let variable = program.var(*var);
            if variable.is_uniform() || is_lent(param) {
                shared.insert(param.ident.to_string(), param.ty.clone());
            } else {
                let structure = self.value(&param.ty, &callees)?;
                structures.extend(structure.map(|ty| (param.ident.to_string(), ty)));
            }
        }
        // What calls yield is there before the code behind them.
        let calls = program.blocks_of(func).filter_map(|block| block.term.call());
        let yielded =
            calls.filter_map(|call| Some((call.dest, callees.structure(&program.func(call.callee).output)?)));
        structures.extend(yielded.map(|(var, ty)| (program.name(var), ty)));
        let locals = program.vars_of(func).map(|v| program.name(v)).collect();
        let mut walk = PurityWalk {
            plain: self,
            callees,
            receivers,
            seen,
            locals,
            shared,
            aliases: BTreeMap::new(),
            structures,
            exits: true,
            asks: true,
        };
        for block in program.blocks_of(func) {
            block.code().try_for_each(|stmt| walk.stmt(stmt))?;
            match &block.term {
                Terminator::Branch { cond, .. } => walk.expr(cond)?,
                Terminator::Switch { scrutinee, arms, .. } => {
                    walk.expr(scrutinee)?;
                    for arm in arms {
                        walk.pattern(&arm.pat)?;
                        arm.guard.iter().try_for_each(|guard| walk.expr(guard))?;
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    /// The type of a value that members have; it is handed back if it is a structure of the file's.
    fn value(&mut self, ty: &Type, callees: &Callees<'_>) -> Option<Option<Type>> {
        let Some(structure) = callees.structure(ty) else { return self.ty(ty).map(|()| None) };
        if let Type::Tuple(tuple) = &structure {
            tuple.elems.iter().try_for_each(|ty| self.value(ty, callees).map(|_| ()))?;
            return Some(Some(structure));
        }
        if callees.is_owned(&structure) {
            // rustc checks moves of what is not `Copy`.
            callees.beside.is_value(&structure).then_some(())?;
            self.structures.push(structure.clone());
        }
        for (_, field) in callees.beside.record(&structure)? {
            // Of a type with the name of a number, too.
            self.fields.extend(Some(field.clone()).filter(is_primitive));
            self.value(&field, callees)?;
        }
        Some(Some(structure))
    }

    /// The type of a number, or of several.
    fn ty(&mut self, ty: &Type) -> Option<()> {
        let ty = bare_type(ty);
        match ty {
            Type::Tuple(t) => t.elems.iter().try_for_each(|ty| self.ty(ty)),
            Type::Array(t) => self.ty(&t.elem),
            Type::Path(_) if is_primitive(ty) => Some(()),
            Type::Path(p) if p.qself.is_none() => {
                let last = p.path.segments.last()?;
                match &last.arguments {
                    syn::PathArguments::AngleBracketed(args) if last.ident == "Option" => {
                        match args.args.first()? {
                            syn::GenericArgument::Type(ty) => self.ty(ty),
                            _ => None,
                        }
                    }
                    // With a lifetime it is no number, and frames would mix up lifetimes without names.
                    _ if crate::syntax::walk::any(ty, |at| matches!(at, At::Lifetime(_))) => None,
                    _ => {
                        self.types.push(ty.clone());
                        Some(())
                    }
                }
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
