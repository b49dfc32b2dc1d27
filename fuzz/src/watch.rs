/// Writes a number to a cell when it is dropped.
#[derive(Debug)]
pub struct Watch<'a>(pub &'a Cell<u64>, pub u64);

impl<'a> Watch<'a> {
    /// One that writes `what`.
    pub fn new(seen: &'a Cell<u64>, what: u64) -> Self {
        Watch(seen, what)
    }

    /// What it writes.
    pub fn what(&self) -> u64 {
        self.1
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().wrapping_mul(31).wrapping_add(self.1));
    }
}

/// Writes how long a list is when it is dropped.
#[derive(Debug)]
pub struct Hold<'a, T>(pub &'a Cell<u64>, pub &'a [T]);

impl<T> Drop for Hold<'_, T> {
    fn drop(&mut self) {
        self.0.set(self.0.get().wrapping_mul(37).wrapping_add(self.1.len() as u64));
    }
}

/// Writes a number to a cell that it owns with others when it is dropped.
#[derive(Debug)]
pub struct Keep(pub Arc<AtomicU64>, pub u64);

impl Keep {
    /// One that writes `what`.
    pub fn new(seen: &Arc<AtomicU64>, what: u64) -> Self {
        Keep(Arc::clone(seen), what)
    }

    /// What it writes.
    pub fn what(&self) -> u64 {
        self.1
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        self.0.store(self.0.load(Relaxed).wrapping_mul(41).wrapping_add(self.1), Relaxed);
    }
}
