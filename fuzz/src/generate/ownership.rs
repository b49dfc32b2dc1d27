//! Locals that are written through shared borrows, and locals that borrow from others, across loops and calls: cells,
//! views, containers of references, operators that lend, guards.

use super::Gen;
use crate::tree::{Node, Part, expr, fixed, stmt};
use crate::types::{INTS, Ty};

/// How a holder is declared, written and read. In the texts `$c` is its name, `$r` one of those that lend to it, and
/// `@` a number.
struct Form {
    /// What is declared before the holder, and lives longer.
    outer: &'static str,
    declare: &'static str,
    writes: &'static [&'static str],
    /// A `u64`.
    read: &'static str,
    /// The `u64` that is read of `outer` when the holder is gone.
    after: &'static str,
    /// What lends to it.
    lent: Lent,
    /// It uses its borrow when it is dropped, so it has to be gone before its lender moves.
    scoped: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Lent {
    /// Nothing.
    No,
    /// Rows by shared reference.
    Shared,
    /// Rows by exclusive reference.
    Exclusive,
}

const fn written(declare: &'static str, writes: &'static [&'static str], read: &'static str) -> Form {
    Form { outer: "", declare, writes, read, after: "", lent: Lent::No, scoped: false }
}

const fn shared(declare: &'static str, writes: &'static [&'static str], read: &'static str) -> Form {
    Form { outer: "", declare, writes, read, after: "", lent: Lent::Shared, scoped: false }
}

const fn boxed(declare: &'static str, writes: &'static [&'static str], read: &'static str) -> Form {
    Form { outer: "", declare, writes, read, after: "", lent: Lent::Shared, scoped: true }
}

const fn exclusive(declare: &'static str, writes: &'static [&'static str], read: &'static str) -> Form {
    Form { outer: "", declare, writes, read, after: "", lent: Lent::Exclusive, scoped: false }
}

/// A guard of a score, which is read behind it.
const fn guard(declare: &'static str, writes: &'static [&'static str], read: &'static str) -> Form {
    let outer = "let $c_score = Score::new(@);";
    Form { outer, declare, writes, read, after: "$c_score.read()", lent: Lent::No, scoped: true }
}

/// Some forms per kind: what is written without `mut`.
const WRITTEN: &[Form] = &[
    written(
        "let $c = Cell::new(@);",
        &["$c.set($c.get().wrapping_mul(3) ^ @);", "$c.replace(@);"],
        "$c.get()",
    ),
    written(
        "let $c = RefCell::new(@);",
        &[
            "*$c.borrow_mut() ^= @;",
            "{ let mut inner = $c.borrow_mut(); *inner = inner.rotate_left(5) ^ 7; }",
        ],
        "*$c.borrow()",
    ),
    written(
        "let $c = RefCell::new(vec![@]);",
        &["$c.borrow_mut().push(@);", "$c.borrow_mut().truncate(2);"],
        "$c.borrow().iter().fold(7u64, |sum, n| sum.wrapping_mul(31) ^ *n)",
    ),
    written(
        "let $c = [Cell::new(@), Cell::new(1), Cell::new(2)];",
        &[
            "$c[(@ % 3) as usize].set(@);",
            "for cell in &$c { cell.set(cell.get().rotate_left(3)); }",
            "$c[0].swap(&$c[2]);",
        ],
        "$c[0].get() ^ $c[1].get().rotate_left(9) ^ $c[2].get().rotate_left(21)",
    ),
    written(
        "let $c = (Cell::new(@), Cell::new(false));",
        &["$c.0.set($c.0.get() ^ @);", "$c.1.set(!$c.1.get());"],
        "if $c.1.get() { $c.0.get() } else { 17 }",
    ),
    written(
        "let ($c, $c_last) = (Cell::new(@), Cell::new(@));",
        &["$c.set($c.get() ^ $c_last.replace(@));"],
        "$c.get().wrapping_mul(3) ^ $c_last.get()",
    ),
    written(
        "let $c = Mutex::new(@);",
        &[
            "*$c.lock().unwrap() ^= @;",
            "{ let mut inner = $c.lock().unwrap(); *inner = inner.wrapping_mul(5); }",
        ],
        "*$c.lock().unwrap()",
    ),
    written(
        "let $c = AtomicU64::new(@);",
        &["$c.fetch_add(@, Relaxed);", "$c.store(@, Relaxed);"],
        "$c.load(Relaxed)",
    ),
    written(
        "let $c = OnceCell::new();",
        &["let _ = $c.set(@);", "$c.get_or_init(|| 6u64);"],
        "$c.get().copied().unwrap_or(9u64)",
    ),
    written(
        "let $c = Score::new(@);",
        &[
            "$c.add(@);",
            "let _guard = $c.enter(@);",
            "$c.enter(@).count();",
            "if $c.enter(@).count() % 2 == 0 { $c.add(1); }",
        ],
        "$c.read()",
    ),
    written("let $c = Box::new(Cell::new(@));", &["$c.set($c.get() ^ @);"], "$c.get()"),
    written(
        "let $c = if @ % 4 > 0 { Some(Cell::new(@)) } else { None };",
        &["if let Some(cell) = &$c { cell.set(cell.get().wrapping_mul(7) ^ @); }"],
        "$c.as_ref().map_or(8, Cell::get)",
    ),
    written(
        "let $c = Rc::new(Cell::new(@)); let $c_other = Rc::clone(&$c);",
        &["$c.set($c_other.get() ^ @);", "$c_other.set($c.get().rotate_left(11));"],
        "$c.get()",
    ),
    written(
        "let mut $c_list = vec![@]; let $c = Cell::new(Some(&mut $c_list));",
        &["if let Some(list) = $c.take() { list.push(@); if list.len() % 3 != 0 { $c.set(Some(list)); } }"],
        "$c.take().map_or(5, |list| { let n = list.len() as u64; $c.set(Some(list)); n })",
    ),
    written(
        "let $c_sum = Cell::new(@); let $c = |by: u64| { $c_sum.set($c_sum.get().wrapping_mul(5) ^ by); $c_sum.get() };",
        &["$c(@);", "$c_sum.set(@);"],
        "$c(1)",
    ),
    written(
        "let $c_cell = RefCell::new(Rows::of(@)); let mut $c = $c_cell.borrow_mut();",
        &["$c.put(@, @);"],
        "*$c.at(@)",
    ),
];

/// What refers to rows: variables, containers, views.
const SHARED: &[Form] = &[
    shared(
        "let mut $c: Vec<&u64> = Vec::new();",
        &[
            "$c.push($r.at(@));",
            "$r.register(&mut $c);",
            "if let Some(slot) = $c.last_mut() { *slot = $r.len(); }",
            "for slot in $c.iter_mut() { *slot = &$r.d[1]; }",
            "$r.heap.iter().filter(|n| **n % 3 > 0).for_each(|n| $c.push(n));",
            "$r.heap.iter().fold(&mut $c, |all, n| { all.push(n); all });",
            "{ let again = &mut $c; again.push(&$r[@]); again.truncate(9); }",
            "match $c.first_mut() { Some(first) if **first % 2 == 0 => *first = $r.at(@), Some(_) => {} None => $c.push($r.len()) }",
            "$c.extend(&$r.d);",
        ],
        "$c.iter().fold(7u64, |sum, n| sum.wrapping_mul(31) ^ **n)",
    ),
    shared(
        "let mut $c: Option<&u64> = None;",
        &[
            "$c = Some($r.at(@));",
            "$c = $r.checked_add(@);",
            "$c.replace($r.len());",
            "match &mut $c { Some(n) => *n = $r.at(@), none => *none = Some($r.len()) }",
            "*$c.get_or_insert($r.len()) = $r.at(@);",
        ],
        "$c.copied().unwrap_or(11)",
    ),
    shared(
        "let mut $c = [$r.at(@); 3];",
        &[
            "$c[(@ % 3) as usize] = $r.at(@);",
            "{ let (left, right) = $c.split_at_mut(1); std::mem::swap(&mut left[0], &mut right[1]); right[0] = $r.len(); }",
            "for slot in $c.iter_mut() { *slot = &$r.d[2]; }",
        ],
        "$c[0] ^ $c[1].rotate_left(9) ^ $c[2].rotate_left(21)",
    ),
    shared(
        "let mut $c: BTreeMap<u64, &u64> = BTreeMap::new();",
        &[
            "$c.insert(@ % 5, $r.at(@));",
            "*$c.entry(@ % 5).or_insert($r.len()) = $r.at(@);",
            "if let Some(slot) = $c.get_mut(&2) { *slot = &$r.heap[0]; }",
            "$c.remove(&(@ % 5));",
        ],
        "$c.iter().fold(7u64, |sum, (key, n)| sum.wrapping_mul(31) ^ *key ^ **n)",
    ),
    shared(
        "let mut $c: BTreeMap<u64, Vec<&u64>> = BTreeMap::new();",
        &[
            "$c.entry(@ % 3).or_default().push($r.at(@));",
            "if let Some(list) = $c.get_mut(&1) { list.pop(); } else { $c.insert(1, vec![$r.len()]); }",
        ],
        "$c.iter().fold(5u64, |sum, (key, list)| list.iter().fold(sum ^ *key, |sum, n| sum.wrapping_mul(31) ^ **n))",
    ),
    shared(
        "let mut $c = &$r + @;",
        &[
            "$c.turn(&$r);",
            "$c = &$r + @;",
            "$c = -&$r;",
            "$c = View::from(&$r);",
            "{ let again = &mut $c; again.turn(&$r); }",
            "$c = $r.view(@);",
        ],
        "$c.get(@)",
    ),
    shared(
        "let mut $c: Option<View<'_>> = None;",
        &[
            "$c = Some(View::new(&$r, @));",
            "if let Some(view) = &mut $c { view.turn(&$r); }",
            "$c = $c.take().or((&$r).view(3).into());",
        ],
        "$c.as_ref().map_or(3, |view| view.get(2))",
    ),
    shared(
        "let mut $c: &[u64] = &$r << @;",
        &["$c = $c.get(1..).unwrap_or($r.part(@));", "$c = $r.part(@);", "$c = &$r << @;"],
        "$c.iter().fold(7u64, |sum, n| sum.wrapping_mul(31) ^ *n)",
    ),
    shared("let mut $c: &dyn Lends = &$r;", &["$c = &$r as &dyn Lends;", "$c = &$r;"], "*$c.one(@)"),
    shared(
        "let mut $c: Vec<&dyn Lends> = vec![&$r];",
        &["$c.push(&$r);", "$c.swap_remove(0); $c.push(&$r);", "$c.reverse();"],
        "$c.iter().fold(7u64, |sum, all| sum.wrapping_mul(31) ^ *all.one(sum))",
    ),
    shared(
        "let mut $c = &$r | &$r;",
        &["$c = ($c.1, $c.0);", "$c = &$r | &$r;", "($c.0, $c.1) = ($c.1, &$r);"],
        "$c.0.at(@) ^ $c.1.len()",
    ),
    shared("let mut $c = &$r;", &["$c = &$r;", "$c = ($c | &$r).1;"], "$c.d[0] ^ $c.heap.len() as u64"),
    shared(
        "let mut $c: Cow<'_, [u64]> = Cow::Borrowed($r.part(@));",
        &["$c.to_mut().push(@);", "$c = Cow::Borrowed($r.part(@));", "$c = Cow::Owned(vec![@]);"],
        "$c.iter().fold(7u64, |sum, n| sum.wrapping_mul(31) ^ *n)",
    ),
    shared("let mut $c = $r.heap.iter();", &["$c.next();"], "$c.next().copied().unwrap_or(4)"),
    shared(
        "let mut $c = $r.heap.iter().rev().peekable();",
        &["if $c.peek().is_some_and(|n| **n % 2 == 0) { $c.next(); }"],
        "$c.next().copied().unwrap_or(4)",
    ),
    shared("let $c = |k: u64| $r.at(k).wrapping_mul(3);", &["let _ = $c(@);"], "$c(@)"),
    shared(
        "let mut $c_list = Vec::new(); let mut $c = |k: u64| { $c_list.push($r.at(k)); $c_list.len() as u64 };",
        &["$c(@);"],
        "$c(@)",
    ),
    shared("let $c = Cell::new(&$r);", &["$c.set(&$r);"], "*$c.get().at(@)"),
    shared(
        "let $c = Rc::new(RefCell::new(vec![&$r])); let $c_other = Rc::clone(&$c);",
        &["$c.borrow_mut().push(&$r);", "$c_other.borrow_mut().push(&$r);", "$c.borrow_mut().truncate(2);"],
        "$c_other.borrow().iter().fold(7u64, |sum, rows| sum.wrapping_mul(31) ^ rows.len())",
    ),
    boxed(
        "let mut $c: Box<dyn Lends + '_> = Box::new($r.view(@));",
        &["$c = Box::new(&$r + @);"],
        "*$c.one(@)",
    ),
    boxed(
        "let mut $c: Box<dyn Fn(u64) -> u64 + '_> = Box::new(|k| *$r.at(k));",
        &["$c = Box::new(|k| $r.len() ^ k);"],
        "$c(@)",
    ),
    boxed(
        "let mut $c: Box<dyn Iterator<Item = &u64> + '_> = Box::new($r.heap.iter());",
        &["$c = Box::new($r.d.iter().skip(1));", "$c.next();"],
        "$c.next().copied().unwrap_or(4)",
    ),
];

/// What writes to rows.
const EXCLUSIVE: &[Form] = &[
    exclusive(
        "let mut $c = Hand::new(&mut $r);",
        &["$c.put(@, @);", "{ let again = &mut $c; again.put(@, @); }"],
        "$c.get(@)",
    ),
    exclusive("let $c = &mut $r.d[(@ % 4) as usize];", &["*$c ^= @;", "*$c = $c.rotate_left(7);"], "*$c"),
    exclusive(
        "let $c = &mut $r.heap[..];",
        &["$c[0] ^= @;", "$c.reverse();", "if let Some(last) = $c.last_mut() { *last ^= @; }"],
        "$c.iter().fold(7u64, |sum, n| sum.wrapping_mul(31) ^ *n)",
    ),
    exclusive(
        "let mut $c: Vec<&mut u64> = $r.d.iter_mut().collect();",
        &[
            "if let Some(n) = $c.last_mut() { **n ^= @; }",
            "$c.pop();",
            "for n in &mut $c { **n = n.rotate_left(1); }",
        ],
        "$c.iter().fold(7u64, |sum, n| sum.wrapping_mul(31) ^ **n)",
    ),
];

/// What writes to a score when it is dropped.
const GUARDS: &[Form] = &[
    guard(
        "let mut $c = $c_score.enter(@);",
        &["$c = $c_score.enter(@);", "drop($c_score.enter(@));", "$c_score.add(@);"],
        "$c.count() ^ $c_score.read()",
    ),
    guard(
        "let mut $c = vec![$c_score.enter(@)];",
        &["$c.push($c_score.enter(@));", "$c.pop();", "$c.truncate(1);"],
        "$c.iter().fold(7u64, |sum, guard| sum.wrapping_mul(31) ^ guard.count())",
    ),
    guard(
        "let mut $c = None;",
        &["$c = None;", "$c = Some($c_score.enter(@));", "drop($c.take());"],
        "$c.as_ref().map_or(6, Entered::count)",
    ),
];

/// What is in scope.
#[derive(Clone)]
pub(super) struct Holder {
    name: String,
    form: &'static Form,
    /// What it may borrow from: all of it lives longer.
    from: Vec<String>,
}

impl Gen {
    /// A holder with what it borrows from, code that writes to it and reads it, and what is left in the end.
    pub(super) fn held(&mut self, depth: u32) -> Option<Node> {
        if !self.may_hold() {
            return None;
        }
        self.defs.lenders.get_or_insert(false);
        let forms = match self.below(10) {
            0..=2 => WRITTEN,
            3..=6 => SHARED,
            7 => EXCLUSIVE,
            _ => GUARDS,
        };
        let form = &forms[self.below(forms.len())];
        let mut parts: Vec<Part> = Vec::new();
        let mut own = Vec::new();
        if form.lent != Lent::No {
            for _ in 0..if form.lent == Lent::Exclusive { 1 } else { 1 + self.below(2) } {
                let name = self.fresh("rows");
                let mutable = if form.lent == Lent::Exclusive { "mut " } else { "" };
                let (before, of) = (format!("let {mutable}{name} = Rows::of("), self.number_of_64());
                parts.extend([Part::from(before), of.into(), ");".into()]);
                own.push(name);
            }
        }
        let mut from = own.clone();
        if form.lent == Lent::Shared && self.chance(40) {
            from.extend(self.rows.clone());
        }
        let holder = Holder { name: self.fresh("h"), form, from };
        let scoped = form.scoped || self.chance(30);
        let (held, left) = (self.fresh("v"), self.fresh("v"));
        parts.extend(self.filled(form.outer, &holder));
        if scoped {
            parts.push(format!(" let {held}: u64 = {{ ").into());
        }
        parts.extend(self.filled(form.declare, &holder));
        let lendable = self.rows.len();
        if form.lent == Lent::Shared {
            self.rows.extend(own.clone());
        }
        self.holders.push(holder.clone());
        parts.extend(self.holding(depth));
        self.holders.pop();
        self.rows.truncate(lendable);
        parts.push(if scoped { " ".into() } else { format!(" let {held}: u64 = ").into() });
        parts.extend(self.filled(form.read, &holder));
        parts.push(if scoped { " };".into() } else { ";".into() });
        self.declare(&held, &Ty::U64, false);
        // Last, all that lent is moved.
        let mut after: Vec<String> = own.iter().map(|name| format!("{name}.spent()")).collect();
        if !form.after.is_empty() {
            after.push(form.after.replace("$c", &holder.name));
        }
        if !after.is_empty() {
            if self.chance(40) {
                after.reverse();
            }
            parts.push(format!(" let {left}: u64 = {};", after.join(" ^ ")).into());
            self.declare(&left, &Ty::U64, false);
        }
        let mut node = stmt!();
        node.parts = parts;
        Some(node)
    }

    /// Statements about what is held, and a number of them that the function's value can tell.
    pub(super) fn told(&mut self, depth: u32, stmts: &mut Vec<Node>) -> Option<String> {
        let known = self.vars.len();
        stmts.push(self.held(depth.max(2))?);
        let names: Vec<String> = self.vars[known..].iter().map(|var| var.name.clone()).collect();
        let told = self.fresh("told");
        stmts.push(fixed!(format!("let {told} = {};", names.join(" ^ "))));
        Some(told)
    }

    /// A value that differs where the number does.
    pub(super) fn with_told(&mut self, told: &str, ret: &Ty, value: Node) -> Node {
        let of = self.defs.name(ret);
        match ret {
            ty if ty.is_int() => expr!(ty; "(", value, format!(").wrapping_add({told} as {of})")),
            ty if ty.is_float() => expr!(ty; "(", value, format!(") + ({told} % 1024) as {of}")),
            Ty::Bool => expr!(ret; "(", value, format!(") ^ ({told} % 2 == 1)")),
            Ty::Option(_) => expr!(ret; "if ", format!("{told} % 5 == 1 {{ None }} else {{ "), value, " }"),
            Ty::Result(_) => {
                expr!(ret; "if ", format!("{told} % 5 == 1 {{ Err({told} as u32) }} else {{ "), value, " }")
            }
            _ => value,
        }
    }

    /// Statements that use what is held, mostly in a loop.
    fn holding(&mut self, depth: u32) -> Vec<Part> {
        let depth = depth.max(2) - 1;
        let body = |g: &mut Self| {
            let mut stmts: Vec<Node> = g.hold(depth).into_iter().collect();
            let count = 1 + g.below(3);
            stmts.extend(g.stmts(count, depth));
            if g.may_call(&Ty::U64) && g.chance(30) {
                stmts.extend(g.call_of(&Ty::U64, 1).map(|call| stmt!("let _ = ", call, ";")));
            }
            stmts.extend(g.hold(depth));
            stmts
        };
        let bound = if self.chance(80) { self.bound() } else { None };
        let Some(bound) = bound else {
            let stmts = self.scoped(body);
            return vec![" {".into(), stmts.into(), "}".into()];
        };
        let k = self.fresh("k");
        let start = self.purely(|g| g.expr(&Ty::U32, 1));
        let stmts = self.in_a_loop(bound, |g| {
            g.declare_locked(&k, &Ty::U32);
            let mut stmts = vec![fixed!(format!("{k} -= 1;"))];
            stmts.extend(body(g));
            stmts
        });
        // Mostly once at least.
        let (before, modulus) =
            if self.chance(70) { (format!("{bound} - ("), bound) } else { ("(".into(), bound + 1) };
        let before = format!(" let mut {k} = {before}");
        let test = format!(") % {modulus}; while {k} > 0 {{");
        vec![before.into(), start.into(), test.into(), stmts.into(), "}".into()]
    }

    /// Whether such statements can stand here.
    fn may_hold(&self) -> bool {
        self.pure == 0 && self.flat == 0
    }

    /// Writes to something that is held, or reads it.
    pub(super) fn hold(&mut self, depth: u32) -> Option<Node> {
        if !self.may_hold() || self.holders.is_empty() {
            return None;
        }
        let holder = match self.chance(60) {
            true => self.holders.last().cloned()?,
            false => {
                let at = self.below(self.holders.len());
                self.holders[at].clone()
            }
        };
        let text = holder.form.writes[self.below(holder.form.writes.len())];
        let write = self.filled(text, &holder);
        let mut node = stmt!();
        node.parts = match self.below(10) {
            0..=5 => write,
            6 | 7 => {
                let value = self.fresh("v");
                let mut parts = vec![Part::from(format!("let {value}: u64 = "))];
                parts.extend(self.filled(holder.form.read, &holder));
                parts.push(";".into());
                self.declare(&value, &Ty::U64, false);
                parts
            }
            // What is read decides what is written, or whether the member goes on.
            8 => {
                let mut parts = vec![Part::from("if (")];
                parts.extend(self.filled(holder.form.read, &holder));
                parts.push(") % 3 > 0 { ".into());
                parts.extend(write);
                parts.push(" }".into());
                parts
            }
            _ if !self.swarm.exits => write,
            _ => {
                let mut parts = vec![Part::from("if (")];
                parts.extend(self.filled(holder.form.read, &holder));
                let value = self.value_of_return(depth.min(2));
                parts.extend([") % 13 == 5 { return ".into(), value.into(), "; }".into()]);
                parts
            }
        };
        Some(node)
    }

    /// Whether rows in scope lend what a call gets.
    pub(super) fn rows_lend(&mut self, ty: &Ty) -> bool {
        let lends = self.may_hold() && !self.rows.is_empty() && *ty == Ty::Slice(Box::new(Ty::U64));
        lends && self.chance(75)
    }

    /// A slice that rows lend to a call.
    pub(super) fn lent_by_rows(&mut self) -> Node {
        let rows = self.rows.clone();
        let name = self.pick(&rows);
        let k = self.below(4);
        match self.below(4) {
            0 => fixed!(format!("&{name}.d")),
            1 => fixed!(format!("&{name} << {k}")),
            2 => fixed!(format!("&({name}.view({k}).of.heap)[1..]")),
            _ => fixed!(format!("{name}.part({k})")),
        }
    }

    /// A number that calls nothing.
    fn number_of_64(&mut self) -> Node {
        // Mostly one that differs between members and rounds.
        let own: Vec<String> = INTS.iter().flat_map(|ty| self.reads(ty)).collect();
        if !own.is_empty() && self.chance(60) {
            let name = self.pick(&own);
            return fixed!(format!("{name} as u64"));
        }
        self.purely(|g| g.expr(&Ty::U64, 1))
    }

    /// A text of a form, with names and numbers filled in.
    fn filled(&mut self, text: &str, holder: &Holder) -> Vec<Part> {
        let mut parts = Vec::new();
        for (nth, piece) in text.split('@').enumerate() {
            if nth > 0 {
                let value = self.number_of_64();
                parts.push(expr!(Ty::U64; "(", value, ")").into());
            }
            let mut named = piece.replace("$c", &holder.name);
            while named.contains("$r") {
                let lender = self.pick(&holder.from);
                named = named.replacen("$r", &lender, 1);
            }
            parts.push(named.into());
        }
        parts
    }

    /// Draws whether the program defines the types that lend, or takes the harness's.
    pub(super) fn lending_types(&mut self) {
        if self.defs.lenders.is_some() {
            self.defs.lenders = Some(self.chance(60));
        }
    }
}
