//! Whole programs: types, signatures, bodies.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use super::{Gen, Swarm, Via};
use crate::tree::{Form, Function, Node, Param, Passing, Program, fixed};
use crate::types::{Defs, Enum, FLOATS, INTS, Struct, Ty};

/// Weighted calls per activation, and the deepest recursion that goes with them.
const SHAPES: [(u32, u32); 4] = [(1, 24), (2, 6), (3, 4), (4, 3)];

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    // Drawn aside, so that all else is as in the owned program of the seed.
    let mut rng = SplitMix64::seed_from_u64(seed ^ 0x6f77_6e65_7273_6869);
    made(seed, rng.random_range(0..100) < 45)
}

/// The program of a seed without types that borrow, interior mutability and guards.
pub fn owned_program(seed: u64) -> Program {
    made(seed, false)
}

fn made(seed: u64, ownership: bool) -> Program {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut on = |percent: u32| rng.random_range(0..100) < percent;
    let swarm = Swarm {
        floats: on(55),
        checked: on(55),
        arrays: on(60),
        generics: on(35),
        choices: on(35),
        control_in_expr: on(65),
        loops: on(75),
        matches: on(65),
        closures: on(35),
        labels: on(50),
        exits: on(70),
        shadow: on(50),
        effects_in_expr: on(60),
        owned: on(40),
        asserts: on(25),
        items: on(20),
        references: on(40),
        language: on(60),
        methods: on(55),
        plain: on(35),
        states: on(50),
        watched: on(35),
        macros: on(30),
        self_calls: on(45),
        ownership,
    };
    let swarm = if swarm.plain && swarm.self_calls {
        // Little else: programs without vector frames have no self calls either.
        Swarm {
            matches: false,
            language: false,
            control_in_expr: false,
            methods: false,
            arrays: false,
            generics: false,
            choices: false,
            ..swarm
        }
    } else {
        Swarm { self_calls: false, ..swarm }
    };
    let swarm = if swarm.plain {
        let asserts = swarm.asserts && swarm.checked;
        let swarm = Swarm { closures: false, owned: false, items: false, references: false, ..swarm };
        Swarm { asserts, states: false, watched: false, macros: false, ..swarm }
    } else {
        swarm
    };
    let form = match rng.random_range(0..10) {
        0..=3 if !swarm.methods => Form::Function,
        _ if swarm.plain => Form::Module,
        7.. if swarm.methods => Form::Impl,
        _ => Form::Module,
    };
    let (branching, fuel) = SHAPES[rng.random_range(usize::from(swarm.self_calls)..SHAPES.len())];
    let mut made = Gen {
        rng,
        defs: Defs::default(),
        sigs: Vec::new(),
        pool: Vec::new(),
        swarm,
        branching,
        current: 0,
        vars: Vec::new(),
        loops: Vec::new(),
        less: None,
        weight: 1,
        calls: 0,
        budget: 0,
        pure: 0,
        flat: 0,
        lent: 0,
        hidden: Vec::new(),
        owned_types: Vec::new(),
        names: 0,
        cells: Vec::new(),
        holders: Vec::new(),
        rows: Vec::new(),
        looped: None,
    };
    made.types();
    made.signatures(form);
    for current in 0..made.sigs.len() {
        let body = made.body(current);
        made.sigs[current].body = body;
    }
    made.lending_types();
    Program { seed, form, defs: made.defs, fuel, functions: made.sigs }
}

impl Gen {
    /// Chooses the types that the program works with.
    fn types(&mut self) {
        let mut pool = vec![self.pick(&INTS), Ty::Bool];
        if self.chance(60) {
            pool.push(self.pick(&INTS));
        }
        if self.swarm.floats {
            pool.push(self.pick(&FLOATS));
            if self.chance(30) {
                pool.push(self.pick(&FLOATS));
            }
        }
        let scalars = pool.clone();
        if self.swarm.plain {
            if self.swarm.methods {
                self.defs.structs.push(Struct { fields: vec![Ty::U32] });
            }
        } else if self.swarm.methods || self.chance(45) {
            let numbers: Vec<Ty> = scalars.iter().filter(|ty| ty.is_number()).cloned().collect();
            let from = if self.chance(60) { numbers } else { scalars };
            let fields = (0..1 + self.below(4)).map(|_| self.pick(&from)).collect();
            self.defs.structs.push(Struct { fields });
            pool.push(Ty::Struct(0));
            if self.swarm.methods && self.chance(40) {
                let fields = vec![Ty::Struct(0), self.pick(&from)];
                self.defs.structs.push(Struct { fields });
                pool.push(Ty::Struct(1));
            }
        }
        if (self.swarm.matches || self.swarm.methods) && self.chance(45) && !self.swarm.plain {
            let variants = (0..2 + self.below(3))
                .map(|_| ((0..self.below(3)).map(|_| self.pick(&pool)).collect(), self.chance(40)))
                .collect();
            self.defs.enums.push(Enum { variants });
            pool.push(Ty::Enum(0));
        }
        for _ in 0..self.below(3) {
            let part = self.pick(&pool);
            let ty = match self.below(5) {
                0 => Ty::Tuple((0..2 + self.below(2)).map(|_| self.pick(&pool)).collect()),
                _ if self.swarm.plain && !self.swarm.arrays => continue,
                1 | 2 if self.swarm.arrays => Ty::Array(Box::new(part), 1 + self.below(4)),
                _ if self.swarm.plain => continue,
                3 => Ty::Result(Box::new(part)),
                _ => Ty::Option(Box::new(part)),
            };
            pool.push(ty);
        }
        self.pool = pool;
        if self.swarm.methods && !self.swarm.plain && self.chance(35) {
            self.tree_type();
        }
        if self.swarm.states {
            self.state_type();
        }
        if self.swarm.watched {
            self.watch_type();
        }
        self.defs.macros = self.swarm.macros;
        if self.swarm.owned {
            for _ in 0..1 + self.below(2) {
                let part = self.some_type();
                let ty = match self.below(5) {
                    0 => Ty::String,
                    1 => Ty::Box(Box::new(part)),
                    _ => Ty::Vec(Box::new(part)),
                };
                self.owned_types.push(ty);
            }
        }
    }

    /// A type for a parameter or result: owned ones too.
    pub(super) fn passed_type(&mut self) -> Ty {
        if !self.owned_types.is_empty() && self.chance(30) {
            let owned = self.owned_types.clone();
            return self.pick(&owned);
        }
        self.some_type()
    }

    fn signatures(&mut self, form: Form) {
        let count = if form == Form::Function { 1 } else { 1 + self.below(3) };
        let slice = (self.swarm.arrays && self.chance(45)).then(|| Ty::Slice(Box::new(self.some_type())));
        let slice = slice.map(|slice| match self.chance(25) {
            true => Ty::Slice(Box::new(Ty::Array(Box::new(self.number_type()), 1 + self.below(4)))),
            false => slice,
        });
        let slice = match &self.defs.state {
            Some(state) => Some(Ty::Slice(Box::new(state.of.clone()))).filter(|_| self.chance(50)),
            None => slice,
        };
        let slice = match self.swarm.ownership && self.chance(60) {
            true => Some(Ty::Slice(Box::new(Ty::U64))),
            false => slice,
        };
        let each_slice = self.chance(40) && !self.swarm.plain;
        let state = self.chance(35).then(|| self.passed_type());
        // A receiver of the same type would be lent in its place.
        let state = state.filter(|ty| !self.swarm.methods || !matches!(ty, Ty::Struct(_) | Ty::Enum(_)));
        let block = self.owner_of(form, None);
        if self.defs.tree.is_some() && form != Form::Function {
            for _ in 0..1 + self.below(2) {
                self.tree_method(form, state.as_ref());
            }
            if form == Form::Impl {
                return;
            }
        }
        for index in self.sigs.len()..self.sigs.len() + count {
            let owner = if form == Form::Impl { block.clone() } else { self.owner_of(form, Some(index)) };
            let of_trait = owner.as_ref().is_some_and(|owner| owner.of_trait);
            let entry = index == 0 || of_trait || self.chance(40);
            let fueled = self.chance(80);
            let mut params: Vec<Param> = Vec::new();
            let param =
                |name: String, passing: Passing, ty: Ty, mutable: bool| Param { name, passing, ty, mutable };
            if let Some(owner) = &owner
                && !self.swarm.plain
                && self.chance(75)
            {
                let (passing, mutable) = match self.below(3) {
                    0 => (Passing::Each, self.chance(50)),
                    1 => (Passing::SharedRef, false),
                    _ => (Passing::State, false),
                };
                params.push(param("self".into(), passing, owner.ty.clone(), mutable));
            }
            if fueled {
                params.push(param("fuel".into(), Passing::Fuel, Ty::U32, false));
            }
            for i in 0..1 + self.below(3) {
                let ty = self.passed_type();
                let (passing, mutable) = match !ty.is_owned() && self.chance(15) {
                    true => (Passing::SharedValue, false),
                    false => (Passing::Each, self.chance(30)),
                };
                params.push(param(format!("a{i}"), passing, ty, mutable));
            }
            if !params.iter().any(|p| matches!(p.passing, Passing::Each | Passing::Fuel)) {
                let ty = self.some_type();
                params.push(param("each".into(), Passing::Each, ty, false));
            }
            if let Some(ty) = &slice
                && self.chance(80)
            {
                let passing = if each_slice { Passing::EachSlice } else { Passing::SharedRef };
                params.push(param("xs".into(), passing, ty.clone(), false));
            }
            if self.swarm.states {
                self.state_params(&mut params);
            }
            if let Some(ty) = &state
                && self.chance(80)
            {
                params.push(param("state".into(), Passing::State, ty.clone(), false));
            }
            if self.defs.tree.is_some() && self.chance(60) {
                params.push(param("tree".into(), Passing::SharedRef, Ty::Tree, false));
            }
            let ret = match self.below(10) {
                0 | 1 if self.swarm.plain => self.number_type(),
                0 => Ty::Option(Box::new(self.number_type())),
                1 => Ty::Result(Box::new(self.number_type())),
                2 => Ty::Unit,
                _ => self.passed_type(),
            };
            let ret = match &owner {
                // Something to call methods on.
                Some(owner) if !self.swarm.plain && self.chance(20) => owner.ty.clone(),
                _ => ret,
            };
            let name = self.function_name(index, owner.as_ref());
            self.sigs.push(Function { name, owner, params, ret, entry, body: fixed!() });
        }
        self.complete_traits();
    }

    fn body(&mut self, current: usize) -> Node {
        self.current = current;
        self.loops.clear();
        self.cells.clear();
        self.holders.clear();
        self.rows.clear();
        let function = self.sigs[current].clone();
        self.vars = function
            .params
            .iter()
            .map(|param| {
                let via = match param.passing {
                    Passing::State => Via::Mut,
                    Passing::SharedRef | Passing::EachSlice | Passing::EachRef => Via::Ref,
                    _ => Via::Value,
                };
                let assign = param.mutable || via == Via::Mut;
                let locked = param.passing == Passing::Fuel || param.name == "self";
                self.var(&param.name, &param.ty, via, assign, locked)
            })
            .collect();
        self.less = None;
        self.weight = 1;
        self.names = 0;
        self.budget = self.rng.random_range(25..110);
        let leaf = !function.entry && !self.has_fuel();
        self.calls = if leaf { 0 } else { self.branching };
        let ret = function.ret;
        if function.owner.is_some_and(|owner| owner.ty == Ty::Tree) {
            return self.tree_body(&ret);
        }
        let depth = 2 + self.below(3) as u32;
        if !self.has_fuel() {
            return self.plain_body(&ret, depth);
        }
        if self.swarm.self_calls && self.chance(80) {
            return self.self_calls_body(&ret);
        }
        if self.branching > 1 && ret.is_number() && self.chance(if self.swarm.plain { 35 } else { 15 }) {
            return self.sum_body(&ret, depth);
        }
        if self.swarm.states && self.chance(30) {
            return self.kept_body(&ret, depth);
        }
        if self.swarm.loops
            && self.chance(12)
            && let Some(body) = self.onward_body(&ret, depth)
        {
            return body;
        }
        match self.below(5) {
            0 | 1 => {
                let base = self.base_case(&ret);
                self.less = Some("fuel - 1".into());
                self.with_head(fixed!("if fuel == 0 { return ", base, "; }"), &ret, depth)
            }
            2 if !self.swarm.plain => {
                let base = self.base_case(&ret);
                self.declare_locked("less", &Ty::U32);
                self.less = Some("less".into());
                self.with_head(
                    fixed!("let Some(less) = fuel.checked_sub(1) else { return ", base, "; };"),
                    &ret,
                    depth,
                )
            }
            3 => {
                let base = self.base_case(&ret);
                self.less = Some("fuel - 1".into());
                let block = self.block(&ret, depth, 5);
                fixed!("if fuel == 0 { ", base, " } else ", block)
            }
            _ => self.plain_body(&ret, depth),
        }
    }

    /// A loop, and behind it nothing but a call in tail position.
    fn onward_body(&mut self, ret: &Ty, depth: u32) -> Option<Node> {
        let callees: Vec<usize> =
            (0..self.sigs.len()).filter(|f| self.sigs[*f].ret == *ret && self.may_call_to(*f)).collect();
        if callees.is_empty() {
            return None;
        }
        let others: Vec<usize> = callees.iter().copied().filter(|f| *f != self.current).collect();
        let callee = self.pick(if others.is_empty() { &callees } else { &others });
        let taken =
            self.sigs[callee].params.iter().filter(|p| p.passing == Passing::Each && p.ty.is_number());
        let taken: Vec<Ty> = taken.map(|param| param.ty.clone()).collect();
        // What the loop calls must leave the call behind it.
        self.calls -= 1;
        let base = self.base_case(ret);
        self.declare_locked("less", &Ty::U32);
        self.less = Some("less".into());
        let ty = if taken.is_empty() { self.number_type() } else { self.pick(&taken) };
        let (name, k) = (self.new_name(), self.fresh("k"));
        let start = self.expr(&ty, depth - 1);
        self.declare(&name, &ty, true);
        let rounds = self.expr(&Ty::U32, depth - 1);
        let changed = self.in_a_loop(4, |g| {
            g.declare_locked(&k, &Ty::U32);
            g.expr(&ty, depth - 1)
        });
        self.calls += 1;
        let call = self.call_to(callee, ret, 1).unwrap_or_else(|| self.leaf(ret));
        let of = self.defs.name(&ty);
        let grown = if FLOATS.contains(&ty) {
            format!("{name} * 0.5 + ")
        } else {
            format!("{name}.wrapping_mul(3) ^ ")
        };
        Some(fixed!(
            "let Some(less) = fuel.checked_sub(1) else { return ",
            base,
            format!("; }}; let mut {name}: {of} = "),
            start,
            format!("; let mut {k} = "),
            rounds,
            format!(" % 4; while {k} > 0 {{ {k} -= 1; {name} = {grown}("),
            changed,
            "); } ",
            call
        ))
    }

    /// A value that calls nothing.
    pub(super) fn base_case(&mut self, ret: &Ty) -> Node {
        let calls = std::mem::take(&mut self.calls);
        let value = self.purely(|g| g.expr(ret, 2));
        self.calls = calls;
        value
    }

    fn plain_body(&mut self, ret: &Ty, depth: u32) -> Node {
        self.with_head(fixed!(), ret, depth)
    }

    fn with_head(&mut self, head: Node, ret: &Ty, depth: u32) -> Node {
        let mut stmts = vec![head];
        let told = match self.swarm.ownership && self.chance(70) {
            true => self.told(depth, &mut stmts),
            false => None,
        };
        let first = self.chance(50);
        if first {
            stmts.extend(self.featured(depth));
        }
        let count = 1 + self.below(5);
        stmts.extend(self.stmts(count, depth));
        if !first {
            stmts.extend(self.featured(depth));
        }
        let tail = match self.below(100) {
            // What is kept for a call whose result is the function's.
            0..40 if self.swarm.states => self.kept_expr(ret, depth),
            40..50 if self.swarm.states => self.some_slice_patterns(ret, depth),
            0..35 => self.call_of(ret, depth),
            _ => None,
        };
        let tail = match tail {
            Some(tail) => tail,
            None => self.expr(ret, depth),
        };
        let tail = match told {
            Some(told) => self.with_told(&told, ret, tail),
            None => tail,
        };
        stmts.push(fixed!(tail));
        fixed!(stmts)
    }
}
