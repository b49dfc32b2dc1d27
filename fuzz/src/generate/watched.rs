//! Values that write down that they are dropped, in a cell that the function reads behind them; and macros of the program's own.

use super::{Gen, Via};
use crate::tree::{Node, expr, stmt};
use crate::types::Ty;

/// A cell that such values write to, and that is in scope.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    name: String,
    /// It is borrowed, or counted.
    lent: bool,
}

impl Gen {
    /// A cell, code with values that write to it, and what it holds then.
    pub(super) fn watched(&mut self, depth: u32) -> Option<Node> {
        if !self.may_watch() {
            return None;
        }
        let (name, lent) = (self.fresh("seen"), self.chance(60));
        let start = self.purely(|g| g.expr(&Ty::U64, 1));
        let (before, after) = match lent {
            true => ("Cell::new(", ")"),
            false => ("Arc::new(AtomicU64::new(", "))"),
        };
        self.cells.push(Cell { name: name.clone(), lent });
        let stmts = self.scoped(|g| {
            let first = g.watch(depth - 1);
            let count = 1 + g.below(2);
            let mut stmts: Vec<Node> = first.into_iter().collect();
            stmts.extend(g.stmts(count, depth - 1));
            if g.may_call(&Ty::U64) && g.chance(50) {
                stmts.extend(g.call_of(&Ty::U64, 1).map(|call| stmt!("let _ = ", call, ";")));
            }
            stmts.extend(g.seen());
            stmts
        });
        let cell = self.cells.pop()?;
        let value = self.fresh("v");
        self.declare(&value, &Ty::U64, false);
        Some(stmt!(
            format!("let {name} = {before}"),
            start,
            format!("{after}; {{"),
            stmts,
            format!("}} let {value} = {};", cell.read())
        ))
    }

    /// Whether such values can be made here.
    fn may_watch(&self) -> bool {
        self.pure == 0 && self.flat == 0
    }

    /// A statement about the cells in scope.
    pub(super) fn watch(&mut self, depth: u32) -> Option<Node> {
        if !self.may_watch() || self.cells.is_empty() {
            return None;
        }
        let cells = self.cells.clone();
        let cell = self.pick(&cells);
        let (name, ty) = (&cell.name, if cell.lent { "Watch" } else { "Keep" });
        let guard = self.fresh("g");
        let what = self.purely(|g| g.expr(&Ty::U64, 1));
        // Of what the file does not show, only those that nothing mentions are certainly kept, or that borrow.
        let mentioned = cell.lent || self.defs.watch == Some(true);
        let lists = self.lists();
        Some(match self.below(8) {
            0 => return self.seen(),
            1 if cell.lent && !lists.is_empty() => {
                let list = self.pick(&lists);
                // Neither changed nor moved as long.
                let mut var = self.var(&guard, &Ty::Unit, Via::Value, false, true);
                (var.moved, var.lender) = (true, Some(list.clone()));
                self.vars.push(var);
                stmt!(format!("let _{guard} = Hold(&{name}, &{list});"))
            }
            2 if mentioned => {
                let (value, more) = (self.fresh("v"), self.expr(&Ty::U64, depth.clamp(1, 2)));
                self.declare(&value, &Ty::U64, false);
                stmt!(
                    format!("let {guard} = {ty}::new(&{name}, "),
                    what,
                    format!("); let {value} = "),
                    more,
                    format!(" ^ {guard}.1;")
                )
            }
            3 if mentioned => {
                let (value, more) = (self.fresh("v"), self.expr(&Ty::U64, depth.clamp(1, 2)));
                self.declare(&value, &Ty::U64, false);
                let end = match self.below(3) {
                    0 => format!("drop({guard})"),
                    1 => format!("let moved_{guard} = {guard}; let _ = moved_{guard}.1"),
                    _ if self.defs.watch == Some(true) => format!("let _ = {guard}.what()"),
                    // A method that the file does not show may take it, if nothing mentions it behind.
                    _ => format!("let _ = {guard}.what(); let _ = {guard}.1"),
                };
                stmt!(
                    format!("let {guard} = {ty}::new(&{name}, "),
                    what,
                    format!("); let {value} = "),
                    more,
                    format!("; {end};")
                )
            }
            4 => {
                let stmts = self.scoped(|g| g.stmts(1, depth.max(2) - 1));
                stmt!(format!("{{ let _{guard} = {ty}::new(&{name}, "), what, "); ", stmts, "}")
            }
            _ => stmt!(format!("let _{guard} = {ty}::new(&{name}, "), what, ");"),
        })
    }

    /// A variable with what a cell holds.
    fn seen(&mut self) -> Option<Node> {
        let cells = self.cells.clone();
        let cell = self.pick(&cells);
        let value = self.fresh("v");
        self.declare(&value, &Ty::U64, false);
        Some(stmt!(format!("let {value} = {};", cell.read())))
    }

    /// Lists of the function's own.
    fn lists(&self) -> Vec<String> {
        let own = |ty: &Ty| matches!(ty, Ty::Vec(_));
        let vars = self.visible().filter(|var| own(&var.ty) && var.via == Via::Value && var.name != "self");
        vars.map(|var| var.name.clone()).collect()
    }

    /// A value by a macro of the program's.
    pub(super) fn by_macro(&mut self, ty: &Ty, depth: u32) -> Option<Node> {
        if !ty.is_number() && *ty != Ty::Bool {
            return None;
        }
        let (a, b) = self.purely(|g| (g.expr(ty, depth - 1), g.expr(ty, depth.min(2) - 1)));
        Some(match self.below(3) {
            0 => expr!(ty; "lesser!(", a, ", ", b, ")"),
            1 => {
                let test = self.purely(|g| g.expr(&Ty::Bool, 1));
                expr!(ty; "choose!(", test, " => ", a, "; else ", b, ")")
            }
            _ => expr!(ty; "first!(", a, ", ", b, ")"),
        })
    }

    /// A statement by a macro of the program's.
    pub(super) fn change_by_macro(&mut self) -> Option<Node> {
        let places: Vec<(String, Ty)> =
            self.assignable().into_iter().filter(|(_, ty)| ty.is_number() || *ty == Ty::Bool).collect();
        if places.is_empty() {
            return None;
        }
        let (place, ty) = self.pick(&places);
        let value = self.purely(|g| g.expr(&ty, 2));
        Some(match self.chance(50) {
            true => stmt!(format!("put!({place}, "), value, ");"),
            false => {
                let test = self.purely(|g| g.expr(&Ty::Bool, 1));
                stmt!("put!(if ", test, format!(" => {place}, "), value, ");")
            }
        })
    }

    /// Draws what the program knows of such values.
    pub(super) fn watch_type(&mut self) {
        self.defs.watch = Some(self.chance(60));
    }
}

impl Cell {
    /// What it holds.
    fn read(&self) -> String {
        let Cell { name, lent } = self;
        if *lent { format!("{name}.get()") } else { format!("{name}.load(Relaxed)") }
    }
}
