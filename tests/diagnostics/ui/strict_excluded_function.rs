use autobatch::autobatch;

#[autobatch(strict)]
mod program {
    pub struct Walk(pub u64);

    impl Iterator for Walk {
        type Item = u64;
        fn next(&mut self) -> Option<u64> {
            if self.0 % 5 != 0 {
                return Walk(self.0 + 1).next();
            }
            Some(self.0)
        }
    }

    pub trait Steps {
        fn steps(&self) -> u64;
    }

    impl Steps for u64 {
        fn steps(&self) -> u64 {
            if *self == 0 { 0 } else { (self / 2).steps() + 1 }
        }
    }

    #[cfg(any())]
    fn half(n: u64) -> u64 {
        if n < 2 { n } else { half(n - 2) }
    }

    #[cfg(not(any()))]
    fn half(n: u64) -> u64 {
        if n < 2 { 0 } else { half(n - 2) + 1 }
    }

    trait Up {
        fn go(&self, n: u64) -> u64;
    }

    trait Down {
        fn go(&self, n: u64) -> u64;
    }

    impl Up for Walk {
        fn go(&self, n: u64) -> u64 {
            if n > 30 { n } else { Up::go(self, n + self.0) }
        }
    }

    impl Down for Walk {
        fn go(&self, n: u64) -> u64 {
            if n < self.0 { n } else { Down::go(self, n - self.0) }
        }
    }

    pub fn all(n: u64) -> u64 {
        let mut walk = Walk(n);
        let mut sum = 0;
        while sum < n {
            sum += walk.next().unwrap_or(0) + n.steps() + half(n) + <Walk as Up>::go(&walk, n) + 1;
        }
        sum
    }
}

fn main() {}
