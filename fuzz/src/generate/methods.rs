//! Types of the program's own with methods: who has which, and how they are called. Sums of calls.

use super::{Gen, Via};
use crate::tree::{Form, Function, Node, Owner, Param, Passing, expr, fixed, stmt};
use crate::types::Ty;

impl Gen {
    /// Whose method a function is: of a module's function that of this index, else that of all.
    pub(super) fn owner_of(&mut self, form: Form, index: Option<usize>) -> Option<Owner> {
        let on = self.swarm.methods && form != Form::Function;
        if !on || (index.is_some() && self.chance(30)) || (index.is_none() && form == Form::Module) {
            return None;
        }
        let ty = match (self.defs.enums.is_empty(), self.defs.structs.len()) {
            _ if form == Form::Impl && self.defs.tree.is_some() => Ty::Tree,
            (false, _) if self.chance(40) => Ty::Enum(0),
            (_, 2) if self.chance(30) => Ty::Struct(1),
            _ => Ty::Struct(0),
        };
        Some(Owner { ty, of_trait: self.chance(35) })
    }

    /// Gives each type that implements the trait what another one has of it.
    pub(super) fn complete_traits(&mut self) {
        let of_trait = |f: &&Function| f.owner.as_ref().is_some_and(|o| o.of_trait && o.ty != Ty::Tree);
        let all: Vec<Function> = self.sigs.iter().filter(of_trait).cloned().collect();
        for owner in all.iter().map(|f| f.owner.clone()) {
            for f in &all {
                if self.sigs.iter().any(|known| known.owner == owner && known.name == f.name) {
                    continue;
                }
                let mut sibling = Function { owner: owner.clone(), ..f.clone() };
                if let (Some(param), Some(owner)) = (sibling.params.first_mut(), &owner)
                    && param.name == "self"
                {
                    param.ty = owner.ty.clone();
                }
                self.sigs.push(sibling);
            }
        }
    }

    /// A name for a function: sometimes that of one that has another owner.
    pub(super) fn function_name(&mut self, index: usize, owner: Option<&Owner>) -> String {
        let ty = |owner: Option<&Owner>| owner.map(|owner| owner.ty.clone());
        let of_trait = |owner: Option<&Owner>| owner.is_some_and(|owner| owner.of_trait);
        if of_trait(owner) || self.chance(60) {
            return format!("f{index}");
        }
        let inherent = self.sigs.iter().filter(|f| !of_trait(f.owner.as_ref()));
        let taken =
            |name: &String| self.sigs.iter().any(|f| f.name == *name && ty(f.owner.as_ref()) == ty(owner));
        let free: Vec<String> = inherent.map(|f| f.name.clone()).filter(|name| !taken(name)).collect();
        if free.is_empty() { format!("f{index}") } else { self.pick(&free) }
    }

    /// How a function is named here.
    pub(super) fn path_to(&mut self, f: &Function) -> String {
        let Some(owner) = &f.owner else { return f.name.clone() };
        let own = self.owner().is_some_and(|own| own.ty == owner.ty);
        match own && self.chance(70) {
            true => format!("Self::{}", f.name),
            false => format!("{}::{}", self.defs.name(&owner.ty), f.name),
        }
    }

    /// Writes a call up to the arguments behind its receiver; what closes it.
    pub(super) fn receiver(
        &mut self,
        call: &mut Node,
        f: &Function,
        param: &Param,
        depth: u32,
    ) -> Option<String> {
        let exclusive = param.passing == Passing::State;
        let by_value = param.passing == Passing::Each;
        // What is lent to a closure's call would have to be followed.
        if !by_value && self.flat > 0 {
            return self.new_receiver(call, f, param, depth, false);
        }
        // The caller has counted the receiver as lent already.
        let own = u32::from(f.params.iter().any(|param| param.passing == Passing::State));
        self.lent -= own;
        let places: Vec<String> = match exclusive {
            true => self.changed_places(&param.ty),
            false => self.places(&param.ty),
        };
        let place = (!places.is_empty()).then(|| self.pick(&places));
        let reference = self.visible().any(|var| Some(&var.name) == place.as_ref() && var.via != Via::Value);
        self.lent += own;
        let path = self.path_to(f);
        let Some(place) = place.filter(|_| self.chance(80)) else {
            let literal = !exclusive && self.chance(40);
            return self.new_receiver(call, f, param, depth, literal);
        };
        let base: String = place.chars().take_while(|c| *c != '.').collect();
        if self.chance(75) {
            call.parts.push(format!("{place}.{}(", f.name).into());
        } else {
            let operator = match (by_value, reference, exclusive) {
                (true, true, _) => "*",
                (true, ..) | (_, true, _) => "",
                (_, _, true) => "&mut ",
                _ => "&",
            };
            call.parts.push(format!("{path}({operator}{place}, ").into());
        }
        if !by_value {
            // Lent while the arguments are computed.
            self.hidden.push(base);
            self.pure += u32::from(exclusive);
        }
        Some(")".into())
    }

    /// A receiver that is not there yet: a local, or a temporary.
    fn new_receiver(
        &mut self,
        call: &mut Node,
        f: &Function,
        param: &Param,
        depth: u32,
        literal: bool,
    ) -> Option<String> {
        let value = match literal {
            true => self.compose(&param.ty, &mut |g, part| g.leaf(part)),
            false => self.expr(&param.ty, depth.saturating_sub(1)),
        };
        if literal {
            call.parts.extend(["(".into(), value.into(), format!(").{}(", f.name).into()]);
            return Some(")".into());
        }
        let name = self.fresh("r");
        let mutability = if param.passing == Passing::State { "mut " } else { "" };
        let of = self.defs.name(&param.ty);
        call.parts.push(format!("{{ let {mutability}{name}: {of} = ").into());
        call.parts.push(value.into());
        call.parts.push(format!("; {name}.{}(", f.name).into());
        // A call in an argument would be one more activation before it is lent.
        self.pure += u32::from(param.passing == Passing::State);
        Some(") }".into())
    }

    /// Places of a type, without a dereference in front.
    fn places(&self, ty: &Ty) -> Vec<String> {
        let plain = |place: String| {
            let inner = place.strip_prefix("(*").and_then(|place| place.strip_suffix(')'));
            inner.map(String::from).unwrap_or(place)
        };
        self.reads(ty).into_iter().map(plain).filter(|place| !place.starts_with(['(', '*', 'C'])).collect()
    }

    fn changed_places(&self, ty: &Ty) -> Vec<String> {
        let plain = |place: String| place.trim_start_matches('*').to_string();
        let found = self.assignable().into_iter().filter(|(_, of)| of == ty);
        let mut found: Vec<String> = found.map(|(place, _)| plain(place)).collect();
        if self.visible().any(|var| var.name == "self" && var.via == Via::Mut && var.ty == *ty) {
            found.push("self".into());
        }
        found.dedup();
        found
    }

    /// A sum of several calls of one function, or something like it.
    pub(super) fn sum_of_calls(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        if self.pure > 0 || self.less.is_none() || self.flat > 0 || self.lent > 0 {
            return None;
        }
        let callees: Vec<usize> = (0..self.sigs.len()).filter(|f| self.sigs[*f].ret == *ty).collect();
        let callee = match self.function().ret == *ty && self.chance(75) {
            true => self.current,
            false if callees.is_empty() => return None,
            false => self.pick(&callees),
        };
        let room = (self.calls / self.weight.max(1)).min(4);
        let mut terms = Vec::new();
        while (terms.len() as u32) < room && (terms.len() < 2 || self.chance(60)) {
            if !self.may_call_to(callee) {
                break;
            }
            terms.push(self.call_to(callee, ty, depth.min(2))?);
        }
        if terms.len() < 2 {
            return terms.pop();
        }
        let checked = self.swarm.checked && self.chance(50);
        Some(self.joined(ty, terms, checked))
    }

    /// A sum of terms, or what is like one.
    pub(super) fn joined(&mut self, ty: &Ty, terms: Vec<Node>, checked: bool) -> Node {
        let mut sum = expr!(ty;);
        for (i, term) in terms.into_iter().enumerate() {
            if ty.is_float() || checked {
                let op = if i == 0 { "(" } else { self.pick(&[" + ", " - ", " + "]) };
                sum.parts.push(op.into());
                sum.parts.push(term.into());
                if ty.is_float() && self.chance(25) {
                    sum.parts.push(" * 0.5".into());
                }
            } else if i == 0 {
                sum.parts.extend(["((".into(), term.into(), ")".into()]);
            } else {
                let method = self.pick(&["wrapping_add", "wrapping_sub", "wrapping_add", "max"]);
                sum.parts.extend([format!(".{method}(").into(), term.into(), ")".into()]);
            }
        }
        sum.parts.push(")".into());
        sum
    }

    /// A struct in a local, and a loop that changes it.
    pub(super) fn struct_loop(&mut self, depth: u32) -> Option<Node> {
        let ty = Ty::Struct(self.below(self.defs.structs.len()));
        let value = self.expr(&ty, depth.min(2));
        let (name, of) = (self.fresh("v"), self.defs.name(&ty));
        self.declare(&name, &ty, true);
        self.looped = Some(name.clone());
        let body = self.loop_stmt(depth);
        self.looped = None;
        let start = stmt!(format!("let mut {name}: {of} = "), value, ";");
        Some(match body {
            Some(body) => stmt!(start, " ", body),
            None => start,
        })
    }

    /// An assignment to it or to a part of it.
    pub(super) fn changed_struct(&mut self, name: &str, depth: u32) -> Option<Node> {
        let all = self.assignable();
        let own = |place: &str| place == name || place.starts_with(&format!("{name}."));
        let places: Vec<(String, Ty)> = all.into_iter().filter(|(place, _)| own(place)).collect();
        if places.is_empty() {
            return None;
        }
        let (place, ty) = self.pick(&places);
        Some(self.store(fixed!(place), &ty, depth.clamp(1, 2)))
    }
}
