//! Bodies that return at once or call themselves several times.

use super::Gen;
use crate::tree::{Node, fixed, stmt};
use crate::types::Ty;

impl Gen {
    /// A body that returns at once, or sums calls of itself.
    pub(super) fn sum_body(&mut self, ret: &Ty, depth: u32) -> Node {
        let base = self.base_case(ret);
        self.less = Some("fuel - 1".into());
        let mut stmts = vec![fixed!("if fuel == 0 { return ", base, "; }")];
        for _ in 0..self.below(3) {
            let ty = self.number_type();
            stmts.push(self.value_of(&ty, 2, |g| g.fresh("v")));
        }
        stmts.extend(self.early_return(ret, 40));
        let sum = self.sum_of_calls(ret, depth);
        let sum = match sum {
            Some(sum) => sum,
            None => self.expr(ret, 1),
        };
        stmts.push(fixed!(sum));
        fixed!(stmts)
    }

    /// A body that computes much, and returns or makes several calls of itself that need nothing of each other;
    /// between them parameters are changed and values made that the next ones take.
    pub(super) fn self_calls_body(&mut self, ret: &Ty) -> Node {
        self.budget = self.budget.max(300);
        let early = self.chance(30);
        let mut stmts = Vec::new();
        if early {
            stmts.push(self.out_of_fuel(ret));
        }
        for _ in 0..3 + self.below(6) {
            stmts.push(self.value_made(4));
        }
        // Gangs are for those that compute much before they return.
        if !early {
            stmts.push(self.out_of_fuel(ret));
        }
        self.less = Some("fuel - 1".into());
        stmts.extend(self.early_return(ret, 60));
        let mut results = Vec::new();
        while self.calls > 0 && (results.len() < 2 || self.chance(70)) {
            while self.chance(40) {
                let made = if self.chance(50) { self.changed_parameter() } else { None };
                let made = match made {
                    Some(made) => made,
                    None => self.value_made(1),
                };
                stmts.push(made);
            }
            let Some(call) = self.call_to(self.current, ret, 1) else { break };
            let (name, of) = (self.fresh("r"), self.defs.name(ret));
            stmts.push(stmt!(format!("let {name}: {of} = "), call, ";"));
            results.push(name);
        }
        self.calls = 0;
        results.iter().for_each(|name| self.declare(name, ret, false));
        let value = self.expr(ret, 2);
        let value = match ret.is_number() {
            true => {
                let terms = results.iter().map(|name| fixed!(name)).chain([value]).collect();
                self.joined(ret, terms, false)
            }
            false => value,
        };
        stmts.push(fixed!(value));
        fixed!(stmts)
    }

    fn out_of_fuel(&mut self, ret: &Ty) -> Node {
        let mut base = self.base_case(ret);
        if ret.is_number() {
            let terms = (0..3).map(|_| self.purely(|g| g.expr(ret, 3))).chain([base]).collect();
            base = self.joined(ret, terms, false);
        }
        fixed!("if fuel == 0 { return ", base, "; }")
    }

    /// Perhaps a test, and a return that makes no calls.
    fn early_return(&mut self, ret: &Ty, percent: u32) -> Option<Node> {
        if !self.chance(percent) {
            return None;
        }
        let test = self.purely(|g| g.expr(&Ty::Bool, 2));
        let value = self.purely(|g| g.expr(ret, 2));
        Some(stmt!("if ", test, " { return ", value, "; }"))
    }

    /// A variable for what is computed.
    fn value_made(&mut self, depth: u32) -> Node {
        let ty = if self.chance(80) { self.number_type() } else { self.some_type() };
        self.value_of(&ty, depth, Self::new_name)
    }

    /// The same, of a certain type.
    fn value_of(&mut self, ty: &Ty, depth: u32, name: impl FnOnce(&mut Self) -> String) -> Node {
        let value = self.purely(|g| g.expr(ty, depth));
        let (name, of) = (name(self), self.defs.name(ty));
        self.declare(&name, ty, false);
        stmt!(format!("let {name}: {of} = "), value, ";")
    }

    /// A parameter gets another value.
    fn changed_parameter(&mut self) -> Option<Node> {
        let mut places = self.assignable();
        places.retain(|(place, _)| self.function().params.iter().any(|param| param.name == *place));
        if places.is_empty() {
            return None;
        }
        let (place, ty) = self.pick(&places);
        let value = self.purely(|g| g.expr(&ty, 2));
        Some(stmt!(format!("{place} = "), value, ";"))
    }
}
