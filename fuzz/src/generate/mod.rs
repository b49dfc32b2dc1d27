//! Makes programs from seeds.
//!
//! Every program ends: loops count to a bound that is part of the loop, recursion has fuel that lessens with
//! each call, and the calls of an activation, those in loops counted as often as the loop may run, are few
//! enough for the fuel given. Which constructs a program may have is drawn first (swarm testing), so that
//! constructs are rare in some programs and frequent in others.

mod calls;
mod chains;
mod choices;
mod expr;
mod generics;
mod grids;
mod language;
mod loops;
mod matches;
mod methods;
mod owned;
mod ownership;
mod places;
mod program;
mod rows;
mod scalar;
mod self_calls;
mod shared_lists;
mod shared_rows;
mod short_arrays;
mod states;
mod stmt;
mod trees;
mod watched;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use crate::tree::{Function, Owner, Param, Passing};
use crate::types::{Defs, Ty};

pub use program::{owned_program, program};

/// The seeds of the programs of a batch.
pub fn seeds(seed: u64) -> impl Iterator<Item = u64> {
    let mut rng = SplitMix64::seed_from_u64(seed);
    std::iter::repeat_with(move || rng.random())
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Via {
    /// A value.
    Value,
    /// A shared reference to the value.
    Ref,
    /// An exclusive reference to the value.
    Mut,
}

#[derive(Clone, Debug)]
struct Var {
    name: String,
    ty: Ty,
    via: Via,
    /// It may be assigned.
    assign: bool,
    /// It counts or is fuel: neither assigned nor shadowed.
    locked: bool,
    /// The loops around its declaration: it can be moved out of where there are no more.
    depth: usize,
    /// Its value has been moved out.
    moved: bool,
    /// The local that it refers to.
    lender: Option<String>,
}

/// A loop or labelled block that the code stands in.
#[derive(Clone, Debug)]
struct Loop {
    label: Option<String>,
    /// `break` needs a value of this type.
    value: Option<Ty>,
    /// Whether it loops, or is a labelled block.
    repeats: bool,
}

/// The constructs that a program may have, and how often.
#[derive(Clone, Debug)]
struct Swarm {
    floats: bool,
    checked: bool,
    arrays: bool,
    generics: bool,
    choices: bool,
    control_in_expr: bool,
    loops: bool,
    matches: bool,
    closures: bool,
    labels: bool,
    exits: bool,
    shadow: bool,
    effects_in_expr: bool,
    owned: bool,
    asserts: bool,
    items: bool,
    references: bool,
    /// Calls in closures, guards, macros; locals lent.
    language: bool,
    /// Types of the program's own that have methods.
    methods: bool,
    /// Only numbers and what is computed from them, in tuples and arrays.
    plain: bool,
    /// A type that makes others of its kind and lends what it owns.
    states: bool,
    /// Values that write down when they are dropped.
    watched: bool,
    /// Macros of the program's own.
    macros: bool,
    /// Functions that compute much, and call themselves several times.
    self_calls: bool,
    /// Locals that are written through shared borrows, or borrow from others.
    ownership: bool,
}

struct Gen {
    rng: Xoshiro256PlusPlus,
    defs: Defs,
    /// Signatures, bodies empty.
    sigs: Vec<Function>,
    /// Types that variables have.
    pool: Vec<Ty>,
    swarm: Swarm,
    /// Weighted calls that an activation may make.
    branching: u32,

    // The function being made.
    current: usize,
    vars: Vec<Var>,
    loops: Vec<Loop>,
    /// How to write the fuel of a callee, where there is some for sure.
    less: Option<String>,
    /// How often the code here may run per activation.
    weight: u32,
    calls: u32,
    /// Pieces that may still be made.
    budget: i32,
    /// Inside closures, guards and the like: no calls of the program, no effects, no exits.
    pure: u32,
    /// In code that may be a closure's: calls, but with plain arguments, and no exits.
    flat: u32,
    /// Where a state variable is lent already.
    lent: u32,
    /// Variables that must not be mentioned, because they are borrowed.
    hidden: Vec<String>,
    /// Owned types of the program.
    owned_types: Vec<Ty>,
    names: u32,
    /// What such values write to, in scope.
    cells: Vec<watched::Cell>,
    /// What borrows or is written through borrows, in scope.
    holders: Vec<ownership::Holder>,
    /// What lends to them.
    rows: Vec<String>,
    /// The struct that the next loop is for.
    looped: Option<String>,
}

impl Gen {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    fn below(&mut self, end: usize) -> usize {
        self.rng.random_range(0..end)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from.choose(&mut self.rng).expect("something to choose from").clone()
    }

    /// An index, by weight.
    fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u32 = weights.iter().sum();
        let mut at = self.rng.random_range(0..total.max(1));
        for (i, weight) in weights.iter().enumerate() {
            if at < *weight {
                return i;
            }
            at -= weight;
        }
        weights.len() - 1
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// A type for a variable.
    fn some_type(&mut self) -> Ty {
        let pool = self.pool.clone();
        self.pick(&pool)
    }

    /// A number type, mostly of the pool.
    fn number_type(&mut self) -> Ty {
        let numbers: Vec<Ty> = self.pool.iter().filter(|ty| ty.is_number()).cloned().collect();
        if numbers.is_empty() || self.chance(10) { self.int_type() } else { self.pick(&numbers) }
    }

    fn int_type(&mut self) -> Ty {
        let ints: Vec<Ty> = self.pool.iter().filter(|ty| ty.is_int()).cloned().collect();
        if ints.is_empty() || self.chance(10) { self.pick(&crate::types::INTS) } else { self.pick(&ints) }
    }

    /// A name for a new variable, sometimes that of one there is.
    fn new_name(&mut self) -> String {
        if self.swarm.shadow && self.chance(25) {
            let names: Vec<String> = self
                .visible()
                .filter(|var| !var.locked && var.via == Via::Value)
                .map(|var| var.name.clone())
                .collect();
            if !names.is_empty() {
                let name = self.pick(&names);
                if name != "self" {
                    return name;
                }
            }
        }
        self.fresh("v")
    }

    fn declare(&mut self, name: &str, ty: &Ty, assign: bool) {
        self.vars.push(self.var(name, ty, Via::Value, assign, false));
    }

    fn declare_ref(&mut self, name: &str, ty: &Ty) {
        self.vars.push(self.var(name, ty, Via::Ref, false, false));
    }

    fn declare_locked(&mut self, name: &str, ty: &Ty) {
        self.vars.push(self.var(name, ty, Via::Value, false, true));
    }

    fn var(&self, name: &str, ty: &Ty, via: Via, assign: bool, locked: bool) -> Var {
        let depth = self.loops.len();
        Var { name: name.into(), ty: ty.clone(), via, assign, locked, depth, moved: false, lender: None }
    }

    /// The variables that their names mean here.
    fn visible(&self) -> impl Iterator<Item = &Var> {
        self.vars.iter().enumerate().filter_map(|(i, var)| {
            let hidden = self.vars[i + 1..].iter().any(|later| later.name == var.name);
            let lent = self.lent > 0 && var.via == Via::Mut;
            let borrowed = self.vars.iter().any(|other| other.lender.as_ref() == Some(&var.name));
            let usable = !hidden && !lent && !borrowed && !var.moved && !self.hidden.contains(&var.name);
            usable.then_some(var)
        })
    }

    /// Runs `make` in a scope of its own.
    fn scoped<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let (vars, less) = (self.vars.len(), self.less.clone());
        let made = make(self);
        self.vars.truncate(vars);
        self.less = less;
        made
    }

    /// Runs `make` where a variable must not be mentioned.
    fn hiding<T>(&mut self, name: &str, make: impl FnOnce(&mut Self) -> T) -> T {
        self.hidden.push(name.into());
        let made = make(self);
        self.hidden.pop();
        made
    }

    /// Runs `make` where nothing but values may be computed.
    fn purely<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.pure += 1;
        let made = make(self);
        self.pure -= 1;
        made
    }

    /// The function being made.
    fn function(&self) -> &Function {
        &self.sigs[self.current]
    }

    /// The `impl` block of the function being made.
    fn owner(&self) -> Option<&Owner> {
        self.function().owner.as_ref()
    }

    /// The parameter of that name and kind in scope, for references that are handed on.
    fn has_fuel(&self) -> bool {
        self.function().params.iter().any(|param: &Param| param.passing == Passing::Fuel)
    }

    /// Takes from the budget; false if nothing is left.
    fn spend(&mut self) -> bool {
        self.budget -= 1;
        self.budget > 0
    }
}
