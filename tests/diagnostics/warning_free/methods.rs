//! Methods of types, of generic types, and of traits.

use autobatch::autobatch;

/// A grid.
#[derive(Clone, Debug)]
pub struct Grid<T> {
    cells: Vec<T>,
}

/// A walker.
#[derive(Clone, Debug, PartialEq)]
pub struct Walker {
    at: usize,
    steps: u32,
}

#[autobatch(strict)]
impl<T> Grid<T>
where
    T: Copy + PartialOrd,
{
    /// Climbs to the right while it goes up.
    #[must_use]
    pub fn climb(&self, from: usize) -> usize {
        match self.cells.get(from + 1) {
            Some(next) if *next > self.cells[from] => self.climb(from + 1),
            _ => from,
        }
    }
}

#[autobatch(strict)]
impl Walker {
    /// The most steps.
    pub const MOST: u32 = 99;

    /// State of the member.
    pub fn walk(&mut self, until: u32) -> usize {
        while self.steps < until.min(Self::MOST) {
            self.steps += 1;
            self.at += self.steps as usize % 3;
        }
        self.at
    }

    /// By value.
    #[must_use]
    pub fn double(self, times: u32) -> Self {
        if times == 0 {
            return self;
        }
        Self::double(Self { at: self.at * 2, steps: self.steps + 1 }, times - 1)
    }

    /// One receiver per member.
    #[must_use]
    pub fn far(#[each] &self, than: usize) -> bool {
        let mut k = self.at;
        while k > than {
            k /= 2;
        }
        k == than
    }

    /// No receiver.
    #[must_use]
    pub fn start(at: usize) -> Self {
        let mut steps = 0;
        while steps * steps < at {
            steps += 1;
        }
        Self { at, steps: u32::try_from(steps).unwrap_or(u32::MAX) }
    }

    fn secret(at: usize) -> usize {
        if at > 3 { Self::secret(at / 2) } else { at }
    }

    /// Through a private one.
    #[must_use]
    pub fn open(at: usize) -> usize {
        Self::secret(at) + 1
    }
}

/// What has a length.
pub trait Length {
    /// Its unit.
    type Unit;
    /// The length.
    fn length(&self, limit: usize) -> Self::Unit;
}

#[autobatch(strict)]
impl Length for Walker {
    type Unit = usize;

    fn length(&self, limit: usize) -> Self::Unit {
        if limit > self.at { limit - self.at } else { self.length(limit * 2 + 1) }
    }
}
