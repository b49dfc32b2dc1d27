//! Private methods beside public ones: each has a family, unless there is no batched form of its signature.
//!
//! A macro could put their names together from `_batched`, so that none is left out because nobody mentions it.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};
use std::rc::Rc;

use autobatch::autobatch;

/// A tape.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    cells: Vec<u8>,
    read: Cell<u32>,
    log: Rc<RefCell<String>>,
}

/// What elides a lifetime by its name.
#[allow(elided_lifetimes_in_paths)]
mod hidden {
    /// Borrows.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct View<'a>(pub(super) &'a [u8]);

    /// Borrows and may not leave its thread.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Local<'a>(pub(super) &'a ::std::cell::Cell<u8>);
}

use hidden::{Local, View};

#[autobatch(strict)]
impl Tape {
    /// What others see.
    #[must_use]
    pub fn open(at: usize, stride: usize) -> usize {
        if at > 100 { at } else { Self::open(Self::next(at, stride), stride) }
    }

    fn next(at: usize, stride: usize) -> usize {
        at + stride.max(1)
    }

    fn count(&self, from: usize) -> usize {
        self.read.set(self.read.get() + 1);
        if from < self.cells.len() { 1 + self.count(from + 1) } else { 0 }
    }

    fn note(&mut self, n: u32) -> u32 {
        self.log.borrow_mut().push('x');
        if n == 0 { 0 } else { self.note(n - 1) + 1 }
    }

    fn shared(n: u32) -> Rc<Cell<u32>> {
        if n == 0 { Rc::new(Cell::new(0)) } else { Self::shared(n - 1) }
    }

    fn counted(n: u32, cell: Rc<Cell<u32>>) -> u32 {
        cell.set(n);
        if n == 0 { cell.get() } else { Self::counted(n - 1, cell) }
    }

    fn within(n: u32, cell: &Cell<u32>) -> u32 {
        if n == 0 { cell.get() } else { Self::within(n - 1, cell) }
    }

    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn local<'a>(n: u32, local: &Local<'a>) -> Local<'a> {
        if n == 0 { *local } else { Self::local(n - 1, local) }
    }

    #[allow(elided_lifetimes_in_paths, clippy::trivially_copy_pass_by_ref)]
    fn elided(n: u32, view: View, local: &Local) -> u32 {
        if n == 0 { u32::from(view.0[0] + local.0.get()) } else { Self::elided(n - 1, view, local) }
    }

    fn each(&self, n: u32, f: &dyn Fn(u32) -> u32) -> u32 {
        if n == 0 { self.read.get() } else { self.each(n - 1, f) + f(n) }
    }

    fn each_mut(n: u32, f: &mut dyn FnMut(u32)) -> u32 {
        f(n);
        if n == 0 { 0 } else { Self::each_mut(n - 1, f) }
    }

    fn each_of(n: u32, f: impl Fn(u32) -> u32 + Copy) -> u32 {
        if n == 0 { 0 } else { Self::each_of(n - 1, f) + f(n) }
    }

    fn generic<F: FnMut(u32)>(n: u32, f: &mut F) -> u32 {
        f(n);
        if n == 0 { 0 } else { Self::generic(n - 1, f) }
    }

    fn unsized_state<F: FnMut(u32) + ?Sized>(n: u32, f: &mut F) -> u32 {
        f(n);
        if n == 0 { 0 } else { Self::unsized_state(n - 1, f) }
    }

    fn clear(cells: &mut [u8], from: usize) -> usize {
        cells[from] = 0;
        if from + 1 < cells.len() { Self::clear(cells, from + 1) } else { from }
    }

    fn upper(text: &mut str, n: u32) -> u32 {
        text.make_ascii_uppercase();
        if n == 0 { 0 } else { Self::upper(text, n - 1) }
    }

    fn list(&self, from: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(cell) = self.cells.get(from) else { return Ok(()) };
        write!(f, "{cell}")?;
        self.list(from + 1, f)
    }

    #[allow(elided_lifetimes_in_paths)]
    fn list_elided(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_char(char::from(self.cells.first().copied().unwrap_or_default()))
    }

    fn iterate(&self) -> impl Iterator<Item = u8> + '_ {
        self.cells.iter().copied()
    }

    fn by_hand(&self, from: usize) -> usize {
        self.count(from) + 1
    }

    /// The user's own.
    #[must_use]
    pub fn by_hand_batched(&self, from: &[usize]) -> usize {
        from.iter().map(|from| self.by_hand(*from)).sum()
    }

    fn by_hand_too(&self, from: usize) -> usize {
        self.count(from) + 2
    }

    fn counted_rc(self: Rc<Self>, n: u32) -> u32 {
        if n == 0 { self.read.get() } else { self.counted_rc(n - 1) }
    }
}

impl Tape {
    /// The user's own, elsewhere.
    #[must_use]
    pub fn by_hand_too_batched_with(&self, from: &[usize]) -> usize {
        from.iter().map(|from| self.by_hand_too(*from)).sum()
    }
}

impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list(0, f)?;
        self.list_elided(f)?;
        let mut cells = self.cells.clone();
        let _ = Self::clear(&mut cells, 0) + self.iterate().count();
        write!(f, "{}", Self::each_of(3, |n| n))
    }
}

/// What is called of them, on one thread or on several.
#[must_use]
pub fn families(tape: &Tape) -> usize {
    let all = Tape::next_batched(&[1, 2], &[3, 4]);
    let sum: u32 = Tape::each_mut(3, &mut |n| _ = n) + Tape::unsized_state::<dyn FnMut(u32)>(3, &mut |n| _ = n) + Tape::counted(2, Rc::default());
    all[0] + sum as usize + tape.count(1)
}

/// All parameters of these are of the library.
#[derive(Clone, Debug)]
pub struct Sorter<T> {
    keys: Vec<T>,
}

#[autobatch(strict)]
impl<T: Ord + Clone> Sorter<T> {
    /// What others see.
    #[must_use]
    pub fn least(&self, from: usize) -> usize {
        self.from(from, from)
    }

    fn from(&self, least: usize, at: usize) -> usize {
        match self.keys.get(at) {
            Some(key) if *key < self.keys[least] => self.from(at, at + 1),
            Some(_) => self.from(least, at + 1),
            None => least,
        }
    }

    fn keep(&self, from: usize, kept: &mut Vec<Rc<T>>) -> usize {
        kept.push(Rc::new(self.keys[from].clone()));
        if from == 0 { 0 } else { self.keep(from - 1, kept) }
    }
}

/// Uses what is private.
#[must_use]
pub fn kept<T: Ord + Clone>(sorter: &Sorter<T>) -> usize {
    let mut kept = Vec::new();
    sorter.keep(0, &mut kept)
}
