/// Weighs numbers: one method by default, and one that changes it.
pub trait Weighs {
    /// Makes a number of a number.
    fn weigh(&self, by: u64) -> u64;
    /// Changes it.
    fn shift(&mut self, by: u64);
    /// Twice.
    fn twice(&self, by: u64) -> u64 {
        self.weigh(self.weigh(by ^ 5))
    }
    /// Changes it first.
    fn shifted(&mut self, by: u64) -> u64 {
        self.shift(by);
        self.twice(by)
    }
}

/// Weighs by two numbers.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// One.
    pub a: u64,
    /// The other.
    pub b: u64,
}

impl Weighs for Scale {
    fn weigh(&self, by: u64) -> u64 {
        by.wrapping_mul(self.a | 1) ^ self.b
    }
    fn shift(&mut self, by: u64) {
        self.a = self.a.wrapping_add(by);
    }
}

/// Weighs by one, and has a method of its own in place of the one by default.
#[derive(Clone, Copy, Debug)]
pub struct Lever(pub u64);

impl Weighs for Lever {
    fn weigh(&self, by: u64) -> u64 {
        if by % 3 == 1 { by ^ self.0 } else { by.rotate_left(7) }
    }
    fn shift(&mut self, by: u64) {
        self.0 ^= by;
    }
    fn twice(&self, by: u64) -> u64 {
        self.0.wrapping_sub(by)
    }
}

/// Until the number fits.
pub fn weighed<W: Weighs>(w: &W, by: u64) -> u64 {
    let mut x = by;
    for k in 0..4 {
        if w.weigh(x) % 5 == k {
            return x;
        }
        x = w.twice(x ^ k);
    }
    x
}

/// Loops as the data say, and changes what it is lent.
pub fn balanced<W>(w: &mut W, by: u64) -> u64
where
    W: Weighs + Copy,
{
    let mut x = by;
    let mut n = 0;
    while x % 7 > 2 && n < 9 {
        x = w.shifted(x) >> 1;
        n += 1;
    }
    x ^ n
}

/// One of three, of any type.
pub fn middle<T: Copy + PartialOrd>(a: T, b: T, c: T) -> T {
    if (a < b) == (b < c) {
        b
    } else if (b < a) == (a < c) {
        a
    } else {
        c
    }
}

/// Two lists, whatever their length.
pub fn mixed<const N: usize>(a: &[u64; N], b: &[u64; N]) -> u64 {
    let mut sum = N as u64;
    for i in 0..N {
        sum = sum.wrapping_mul(31) ^ a[i].wrapping_add(b[i]);
    }
    sum
}

/// Rows, by index, by `map` or by `zip`.
pub fn crossed<const R: usize, const C: usize>(way: u32, m: &[[u64; C]; R], x: &[u64; C]) -> [u64; R] {
    match way {
        0 => std::array::from_fn(|i| mixed(&m[i], x)),
        1 => m.map(|row| row.iter().zip(x).fold(1, |sum, (a, b)| (sum ^ a).wrapping_mul(b | 1))),
        _ => {
            let mut y = [0; R];
            for (y, row) in y.iter_mut().zip(m) {
                for (a, b) in row.iter().zip(x) {
                    *y = (*y ^ a).wrapping_add(*b);
                }
            }
            y
        }
    }
}

/// A function of arrays, twice.
pub fn applied<const N: usize>(f: impl Fn([u64; N]) -> [u64; N], x: [u64; N]) -> [u64; N] {
    let y = f(x);
    f(std::array::from_fn(|i| y[i].wrapping_add(x[N - 1 - i])))
}
