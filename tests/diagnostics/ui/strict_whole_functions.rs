use autobatch::autobatch;

#[autobatch(strict)]
mod same_names {
    pub fn outer(n: u32) -> u32 {
        const STEP: u32 = 1;
        if n < STEP { 0 } else { inner(n - STEP) }
    }
    fn inner(n: u32) -> u32 {
        const STEP: u32 = 2;
        if n < STEP { 1 } else { outer(n - STEP) }
    }
}

#[autobatch(strict)]
mod generic {
    pub fn entry(n: u32) -> u32 {
        helper(n) + 1
    }
    fn helper<T: Into<u32> + Copy>(n: T) -> u32 {
        let mut k = n.into();
        while k > 3 {
            k -= 3;
        }
        k
    }
}

#[autobatch(strict)]
fn locked(n: u32, total: &std::sync::Mutex<u32>) -> u32 {
    let mut total = total.lock().unwrap();
    for k in 0..n {
        *total += k;
    }
    if let Ok(mut own) = std::sync::Mutex::new(n).lock() {
        while *own > 3 {
            *own /= 2;
        }
    }
    n
}

struct Branch {
    left: Box<Twig>,
}

enum Twig {
    Leaf(u32),
    Branch(Branch),
}

#[autobatch(strict)]
fn grown(twig: Box<Twig>, n: u32) -> Box<Twig> {
    Box::new(match *twig {
        Twig::Leaf(x) => Twig::Leaf(x + n),
        Twig::Branch(mut branch) => {
            branch.left = grown(branch.left, n + 1);
            Twig::Branch(branch)
        }
    })
}

struct Noted<'a>(&'a std::cell::Cell<u32>);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.0.set(1);
    }
}

#[autobatch(strict)]
fn looking_back(n: u32) -> u32 {
    let seen = std::cell::Cell::new(n);
    if n > 0 {
        let noted = Noted(&seen);
        looking_back(n - 1);
        let _later: Box<dyn Fn() -> u32 + '_> = Box::new(|| noted.0.get());
    }
    seen.get()
}

macro_rules! elsewhere {
    ($($item:item)*) => { $($item)* };
}

elsewhere! {
    struct Told<'a>(&'a std::cell::Cell<u32>);

    impl Told<'_> {
        fn once(&self) -> u32 {
            self.0.get() % 3
        }
    }

    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.0.set(1);
        }
    }
}

#[autobatch(strict)]
fn taken_or_not(n: u32) -> u32 {
    let seen = std::cell::Cell::new(n);
    if n > 0 {
        let told = Told(&seen);
        if told.once() > 1 {
            taken_or_not(n - 1);
        }
    }
    seen.get()
}

fn main() {
    looking_back(1) + taken_or_not(1);
    grown(Box::new(Twig::Leaf(1)), 1);
    same_names::outer(generic::entry(locked(1, &Default::default())));
}
