//! Calls of the program's functions.

use super::{Gen, Via};
use crate::tree::{Function, Node, Passing, expr};
use crate::types::Ty;

impl Gen {
    /// Whether a call that yields the type can stand here.
    pub(super) fn may_call(&self, ty: &Ty) -> bool {
        !self.callees(ty).is_empty()
    }

    /// Whether a certain function can be called here.
    pub(super) fn may_call_to(&self, callee: usize) -> bool {
        self.pure == 0 && self.can_call(&self.sigs[callee])
    }

    fn callees(&self, ty: &Ty) -> Vec<usize> {
        if self.pure > 0 {
            return Vec::new();
        }
        (0..self.sigs.len())
            .filter(|f| {
                let f = &self.sigs[*f];
                (f.ret == *ty || (f.ret.is_number() && ty.is_number())) && self.can_call(f)
            })
            .collect()
    }

    fn can_call(&self, f: &Function) -> bool {
        let fueled = f.params.iter().any(|param| param.passing == Passing::Fuel);
        // A helper calls nothing; a driver is called by the batch only.
        let leaf = !fueled && !f.entry;
        let affordable = if leaf { self.budget > 4 } else { fueled && self.calls >= self.weight };
        let current = self.function();
        let inside_leaf = !current.entry && !self.has_fuel();
        // Trees have calls of their own.
        let walks = |f: &Function| f.owner.as_ref().is_some_and(|owner| owner.ty == Ty::Tree);
        affordable
            && !inside_leaf
            && !walks(f)
            && f.params.iter().all(|param| match param.passing {
                // A receiver is made if there is none.
                _ if param.name == "self" => true,
                Passing::SharedRef | Passing::EachRef | Passing::EachSlice => {
                    let made = self.flat == 0 && matches!(param.ty, Ty::State | Ty::States);
                    made || self.lends_parts(&param.ty) || self.handed_on(&param.ty, Via::Ref).is_some()
                }
                Passing::State => self.handed_on(&param.ty, Via::Mut).is_some(),
                _ => true,
            })
    }

    /// A parameter that can be handed on as it is.
    fn handed_on(&self, ty: &Ty, via: Via) -> Option<String> {
        self.all_handed_on(ty, via).pop()
    }

    pub(super) fn all_handed_on(&self, ty: &Ty, via: Via) -> Vec<String> {
        let fits = |of: Via| of == via || (via == Via::Ref && matches!(ty, Ty::Slice(_) | Ty::States));
        self.visible().filter(|var| var.ty == *ty && fits(var.via)).map(|var| var.name.clone()).collect()
    }

    /// A call that yields the type, perhaps with a cast, perhaps under a test of the fuel.
    pub(super) fn call_of(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        let callees = self.callees(ty);
        if callees.is_empty() {
            return None;
        }
        let exact: Vec<usize> = callees.iter().copied().filter(|f| self.sigs[*f].ret == *ty).collect();
        let callee =
            if exact.is_empty() || self.chance(10) { self.pick(&callees) } else { self.pick(&exact) };
        self.call_to(callee, ty, depth)
    }

    /// A call of a certain function.
    pub(super) fn call_to(&mut self, callee: usize, ty: &Ty, depth: u32) -> Option<Node> {
        let (pure, lent, hidden) = (self.pure, self.lent, self.hidden.len());
        let call = self.some_call(callee, ty, depth);
        (self.pure, self.lent) = (pure, lent);
        self.hidden.truncate(hidden);
        call
    }

    fn some_call(&mut self, callee: usize, ty: &Ty, depth: u32) -> Option<Node> {
        let f = self.sigs[callee].clone();
        let fueled = f.params.iter().any(|param| param.passing == Passing::Fuel);
        if fueled {
            self.calls -= self.weight;
        }
        let (fuel, tested) = match (&self.less, self.has_fuel()) {
            (Some(less), _) => {
                let less = less.clone();
                (self.lessened(&less), false)
            }
            (None, true) => (self.lessened("fuel - 1"), true),
            (None, false) => (format!("{}u32", self.below(3)), false),
        };
        let lends = f.params.iter().any(|param| param.passing == Passing::State);
        self.lent += u32::from(lends);
        let mut call = expr!(f.ret;);
        let receiver = f.params.first().filter(|param| param.name == "self").cloned();
        let (mut skip, mut closing) = (0, String::from(")"));
        if let Some(param) = &receiver {
            closing = self.receiver(&mut call, &f, param, depth)?;
            skip = 1;
        } else {
            let path = self.path_to(&f);
            call.parts.push(format!("{path}(").into());
        }
        for param in &f.params[skip..] {
            match param.passing {
                Passing::Fuel => call.parts.push(fuel.clone().into()),
                Passing::Each | Passing::SharedValue => {
                    let value = self.expr(&param.ty, depth - 1);
                    call.parts.push(value.into());
                }
                Passing::SharedRef | Passing::EachRef | Passing::EachSlice
                    if matches!(param.ty, Ty::State | Ty::States) =>
                {
                    let argument = self.state_argument(&param.ty)?;
                    call.parts.push(argument.into());
                }
                Passing::SharedRef | Passing::EachSlice if self.rows_lend(&param.ty) => {
                    let argument = self.lent_by_rows();
                    call.parts.push(argument.into());
                }
                Passing::SharedRef | Passing::EachSlice
                    if self.lends_parts(&param.ty)
                        && (self.chance(50) || self.handed_on(&param.ty, Via::Ref).is_none()) =>
                {
                    let argument = self.parts_argument(&param.ty)?;
                    call.parts.push(argument.into());
                }
                Passing::SharedRef | Passing::EachSlice
                    if self.swarm.language && !self.swarm.plain && self.chance(35) =>
                {
                    let lent = self.lendable(&param.ty, false);
                    let of = match &param.ty {
                        Ty::Slice(of) if of.is_number() => Some((**of).clone()),
                        _ => None,
                    };
                    let made = if self.chance(40) { self.made(&param.ty, depth) } else { None };
                    match (lent, of) {
                        _ if made.is_some() => call.parts.extend(made.map(Into::into)),
                        (Some(name), _) if self.chance(60) => {
                            call.parts.push(format!("&{name}").into());
                            self.hidden.push(name);
                        }
                        (_, Some(of)) => {
                            let (a, b) = (self.leaf(&of), self.leaf(&of));
                            call.parts.push("&[".into());
                            call.parts.push(a.into());
                            call.parts.push(", ".into());
                            call.parts.push(b.into());
                            call.parts.push("]".into());
                        }
                        _ => {
                            let names = self.all_handed_on(&param.ty, Via::Ref);
                            let name = if names.is_empty() { return None } else { self.pick(&names) };
                            call.parts.push(name.into());
                        }
                    }
                }
                Passing::SharedRef | Passing::EachRef | Passing::EachSlice => {
                    let names = self.all_handed_on(&param.ty, Via::Ref);
                    let name = if names.is_empty() { return None } else { self.pick(&names) };
                    if matches!(param.ty, Ty::Slice(_)) && self.chance(if self.swarm.plain { 5 } else { 30 })
                    {
                        let from = self.expr(&Ty::Usize, 1);
                        call.parts.push(format!("&{name}[(").into());
                        call.parts.push(from.into());
                        call.parts.push(format!(").min({name}.len())..]").into());
                    } else {
                        call.parts.push(name.into());
                    }
                }
                Passing::State
                    if self.swarm.language
                        && !self.swarm.plain
                        && self.chance(35)
                        && let Some(name) = self.lendable(&param.ty, true) =>
                {
                    call.parts.push(format!("&mut {name}").into());
                    self.hidden.push(name);
                    // A call behind it would be one more activation before it is lent.
                    self.pure += 1;
                }
                Passing::State => {
                    self.lent -= 1;
                    let name = self.handed_on(&param.ty, Via::Mut);
                    self.lent += 1;
                    call.parts.push(name?.into());
                }
            }
            call.parts.push(", ".into());
        }
        self.lent -= u32::from(lends);
        call.parts.push(closing.into());
        if f.ret != *ty {
            let name = self.defs.name(ty);
            call = expr!(ty; "(", call, format!(" as {name})"));
        }
        if tested {
            let other = self.leaf(ty);
            call = expr!(ty; "(if fuel > 0 { ", call, " } else { ", other, " })");
        }
        Some(call)
    }

    /// Fuel that is less than what `less` is one less than.
    fn lessened(&mut self, less: &str) -> String {
        match self.below(6) {
            0 => format!("({less}) / 2"),
            1 => format!("({less}).saturating_sub(1)"),
            2 => format!("({less}).min(2)"),
            _ => less.into(),
        }
    }
}
