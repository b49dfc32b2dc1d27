/// Owns numbers, in itself and on the heap, and lends them by methods, operators and conversions. Each value is counted.
#[derive(Clone, Debug)]
pub struct Rows {
    /// In itself.
    pub d: [u64; 4],
    /// On the heap.
    pub heap: Vec<u64>,
    token: Token,
}

impl Rows {
    /// One made of a number.
    pub fn of(x: u64) -> Rows {
        let d = [x % 97, x % 7, x >> 60, 5];
        Rows { d, heap: (0..2 + x % 4).map(|k| k ^ d[0]).collect(), token: Token::new() }
    }

    /// One of its numbers.
    pub fn at(&self, k: u64) -> &u64 {
        self.token.look();
        &self.d[(k % 4) as usize]
    }

    /// Some of its numbers.
    pub fn part(&self, k: u64) -> &[u64] {
        self.token.look();
        &self.heap[(k % 3) as usize..]
    }

    /// Lends by a name that only computes elsewhere.
    pub fn len(&self) -> &u64 {
        self.at(1)
    }

    /// Lends by another such name.
    pub fn checked_add(&self, k: u64) -> Option<&u64> {
        self.token.look();
        self.heap.get((k % 8) as usize)
    }

    /// What refers to it.
    pub fn view(&self, by: u64) -> View<'_> {
        View::new(self, by)
    }

    /// Puts a reference to it in a list.
    pub fn register<'a>(&'a self, to: &mut Vec<&'a u64>) {
        to.push(self.at(2));
    }

    /// Writes a number.
    pub fn put(&mut self, k: u64, x: u64) {
        self.token.look();
        self.d[(k % 4) as usize] ^= x;
    }

    /// Ends it.
    pub fn spent(mut self) -> u64 {
        self.token.look();
        self.heap.reverse();
        self.heap.iter().chain(&self.d).fold(3, |sum, x| sum.wrapping_mul(31) ^ *x)
    }
}

/// Refers to another's numbers.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The other.
    pub of: &'a Rows,
    by: u64,
}

impl<'a> View<'a> {
    /// One of `of`.
    pub fn new(of: &'a Rows, by: u64) -> Self {
        View { of, by }
    }

    /// A number.
    pub fn get(&self, k: u64) -> u64 {
        self.of.at(k).wrapping_mul(self.by | 1)
    }

    /// Makes it refer to another.
    pub fn turn(&mut self, of: &'a Rows) {
        self.of = of;
        self.by = self.by.rotate_left(3);
    }
}

impl<'a> From<&'a Rows> for View<'a> {
    fn from(of: &'a Rows) -> Self {
        View { of, by: 9 }
    }
}

impl<'a> std::ops::Add<u64> for &'a Rows {
    type Output = View<'a>;
    fn add(self, by: u64) -> View<'a> {
        View { of: self, by }
    }
}

impl<'a> std::ops::Neg for &'a Rows {
    type Output = View<'a>;
    fn neg(self) -> View<'a> {
        View { of: self, by: u64::MAX }
    }
}

impl<'a> std::ops::Shl<u64> for &'a Rows {
    type Output = &'a [u64];
    fn shl(self, by: u64) -> &'a [u64] {
        self.part(by)
    }
}

impl<'a> std::ops::BitOr for &'a Rows {
    type Output = (&'a Rows, &'a Rows);
    fn bitor(self, other: &'a Rows) -> Self::Output {
        if self.d[0].is_multiple_of(2) { (self, other) } else { (other, self) }
    }
}

impl std::ops::Index<u64> for Rows {
    type Output = u64;
    fn index(&self, k: u64) -> &u64 {
        self.at(k)
    }
}

/// Lends a number.
pub trait Lends {
    /// One of some.
    fn one(&self, k: u64) -> &u64;
}

impl Lends for Rows {
    fn one(&self, k: u64) -> &u64 {
        self.at(k)
    }
}

impl Lends for View<'_> {
    fn one(&self, k: u64) -> &u64 {
        self.of.at(k ^ self.by)
    }
}

/// Writes to another.
#[derive(Debug)]
pub struct Hand<'a> {
    of: &'a mut Rows,
}

impl<'a> Hand<'a> {
    /// One of `of`.
    pub fn new(of: &'a mut Rows) -> Self {
        Hand { of }
    }

    /// Writes a number.
    pub fn put(&mut self, k: u64, x: u64) {
        self.of.put(k, x);
    }

    /// Reads a number.
    pub fn get(&self, k: u64) -> u64 {
        *self.of.at(k)
    }
}

/// Is written through shared references.
#[derive(Debug, Default)]
pub struct Score {
    sum: Cell<u64>,
    seen: RefCell<Vec<u64>>,
}

impl Score {
    /// One that starts with a number.
    pub fn new(x: u64) -> Score {
        Score { sum: Cell::new(x), ..Score::default() }
    }

    /// Writes a number.
    pub fn add(&self, x: u64) {
        self.sum.set(self.sum.get().wrapping_mul(29) ^ x);
        self.seen.borrow_mut().push(x % 5);
    }

    /// What was written.
    pub fn read(&self) -> u64 {
        self.seen.borrow().iter().fold(self.sum.get(), |sum, x| sum.wrapping_mul(3) ^ *x)
    }

    /// What writes to it when it is dropped, too. It is counted.
    pub fn enter(&self, x: u64) -> Entered<'_> {
        self.add(x);
        Entered { score: self, x, token: Token::new() }
    }
}

/// Writes to a score when it is dropped.
#[derive(Debug)]
pub struct Entered<'a> {
    score: &'a Score,
    x: u64,
    token: Token,
}

impl Entered<'_> {
    /// A number.
    pub fn count(&self) -> u64 {
        self.token.look();
        self.score.sum.get() ^ self.x
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.token.look();
        self.score.add(self.x ^ 1);
    }
}
