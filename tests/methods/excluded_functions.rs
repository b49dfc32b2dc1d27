//! Methods of a module: under `cfg`, of types of other modules, of generic implementations of traits, named by trait.
//! Functions that are no part of the program leave notes at their calls.

use crate::common::{agree_at, is_per_member};
use autobatch::{Options, Program, autobatch};

const SIZES: [usize; 2] = [1, 67];

pub(crate) struct Elsewhere(u64);

#[autobatch]
mod included {
    use super::Elsewhere;

    pub(super) trait Run {
        type Out;
        fn run(&self, n: u64) -> Self::Out;
    }

    pub(super) struct Of<T>(pub(super) T);

    impl<T: Into<u64> + Copy + Send + Sync> Run for Of<T> {
        type Out = u64;
        fn run(&self, n: u64) -> Self::Out {
            let (mut k, mut sum) = (n, 0);
            while k > 0 {
                sum += self.0.into() * k;
                k /= 2;
            }
            if n > 0 { sum + self.run(n - 1) } else { sum }
        }
    }

    pub(super) struct Well(pub(super) u64);

    impl Run for Well {
        type Out = u64;
        fn run(&self, n: u64) -> u64 {
            if n < 2 { self.0 } else { Run::run(self, n - 1) + <Well as Run>::run(self, n - 2) }
        }
    }

    #[cfg(not(any()))]
    impl Well {
        pub(super) fn here(&self, n: u64) -> u64 {
            if n == 0 { self.0 } else { self.here(n - 1) * 3 + self.0 }
        }

        #[cfg(any())]
        pub(super) fn gone(&self, n: u64) -> u64 {
            if n == 0 { self.0 } else { self.gone(n - 1) + self.0 }
        }
    }

    #[cfg(any())]
    impl Well {
        pub(super) fn away(&self, n: u64) -> u64 {
            if n == 0 { self.0 } else { self.away(n - 1) + self.0 }
        }
    }

    impl Elsewhere {
        pub(super) fn doubled(&self, n: u64) -> u64 {
            if n < 2 { self.0 } else { self.doubled(n - 1) * 2 + self.doubled(n - 2) }
        }
    }

    fn same(well: &Well) -> &Well {
        well
    }

    pub(super) fn entry(well: &Well, elsewhere: &Elsewhere, n: u64) -> u64 {
        let mut x = 0;
        while x < n {
            x += 1 + well.here(n) % 2 + elsewhere.doubled(4) % 3;
        }
        x + Run::run(well, 3) + <Well as Run>::run(well, n / 2) + same(well).run(4) + Run::run(same(well), 2)
    }

    /// Lent receivers of the member's own.
    pub(super) fn borrowed(n: u64) -> u64 {
        let (well, elsewhere) = (Well(n), Elsewhere(2));
        let mut x = 0;
        while x < n {
            x += 1 + well.here(n) % 2 + elsewhere.doubled(4) % 3;
        }
        x + Run::run(&well, 3) + same(&well).run(4)
    }
}

#[test]
fn methods_are_part_of_the_program() {
    use included::{
        Of, Run, Well, borrowed, borrowed_batched_with, entry, entry_batched, entry_batched_with,
    };
    let n: Vec<u64> = (0..9).collect();
    let (well, elsewhere) = (Well(3), Elsewhere(2));
    let batched = |n: &[u64], o: &Options| entry_batched_with(&well, &elsewhere, n, o);
    agree_at(&SIZES, &n, |n| entry(&well, &elsewhere, *n), batched);
    assert!(!is_per_member(&n, batched));
    agree_at(&SIZES, &n, |n| borrowed(*n), |n, o| borrowed_batched_with(n, o));
    assert!(is_per_member(&n, |n, o| borrowed_batched_with(n, o)));
    let program = entry_batched::program().to_string();
    for name in ["fn Well::run", "fn Well::here", "fn Elsewhere::doubled"] {
        assert!(program.contains(name), "{program}");
    }
    agree_at(&SIZES, &n, |n| Well(3).here(*n), |n, o| Well(3).here_batched_with(n, o));
    agree_at(&SIZES, &n, |n| Elsewhere(3).doubled(*n), |n, o| Elsewhere(3).doubled_batched_with(n, o));
    agree_at(&SIZES, &n, |n| Of(3_u8).run(*n), |n, o| Of(3_u8).run_batched_with(n, o));
    agree_at(&SIZES, &n, |n| Well(4).run(*n), |n, o| Well(4).run_batched_with(n, o));
}

#[autobatch]
mod excluded {
    use super::included::Run;

    pub(super) struct Walk(pub(super) u64);

    impl Iterator for Walk {
        type Item = u64;
        fn next(&mut self) -> Option<u64> {
            while !self.0.is_multiple_of(5) {
                self.0 += 1;
            }
            self.0 += 1;
            Some(self.0)
        }
    }

    impl Run for u64 {
        type Out = u64;
        fn run(&self, n: u64) -> u64 {
            let mut k = n;
            while k > 3 {
                k -= *self;
            }
            k
        }
    }

    impl Walk {
        #[cfg(any())]
        fn either(&self, n: u64) -> u64 {
            if n > 3 { self.either(n - 3) } else { n }
        }

        #[cfg(not(any()))]
        fn either(&self, n: u64) -> u64 {
            if n > 2 { self.either(n - 2) } else { n }
        }
    }

    #[cfg(any())]
    fn chosen(n: u64) -> u64 {
        if n > 3 { chosen(n - 3) } else { n }
    }

    #[cfg(not(any()))]
    fn chosen(n: u64) -> u64 {
        if n > 2 { chosen(n - 2) } else { n }
    }

    pub(super) fn of_the_library(n: u64) -> u64 {
        let mut walk = Walk(n);
        let mut sum = walk.next().unwrap_or(0);
        while sum < 40 {
            sum += Walk::next(&mut walk).unwrap_or(0) + 1;
        }
        sum
    }

    pub(super) fn of_another_type(n: u64) -> u64 {
        let mut sum = n;
        while sum < 40 {
            sum += 2_u64.run(sum) + 1;
        }
        sum
    }

    pub(super) fn either(n: u64) -> u64 {
        let walk = Walk(n);
        let mut sum = 0;
        while sum < n {
            sum += 1 + walk.either(sum);
        }
        sum
    }

    pub(super) fn which(n: u64) -> u64 {
        let mut sum = 0;
        while sum < n {
            sum += 1 + chosen(sum);
        }
        sum
    }
}

#[test]
fn excluded_functions_leave_notes() {
    fn says(program: &Program, why: &str) {
        assert!(program.notes.iter().any(|note| note.why.contains(why)), "{program}");
    }
    use excluded::*;
    let n: Vec<u64> = (0..9).collect();
    agree_at(&SIZES, &n, |n| of_the_library(*n), |n, o| of_the_library_batched_with(n, o));
    agree_at(&SIZES, &n, |n| of_another_type(*n), |n, o| of_another_type_batched_with(n, o));
    agree_at(&SIZES, &n, |n| either(*n), |n, o| either_batched_with(n, o));
    agree_at(&SIZES, &n, |n| which(*n), |n, o| which_batched_with(n, o));
    says(of_the_library_batched::program(), "a method of a trait of the library");
    says(of_another_type_batched::program(), "for types of the crate only");
    says(either_batched::program(), "under conditions");
    says(which_batched::program(), "under conditions");
}
