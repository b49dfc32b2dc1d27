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

fn main() {
    same_names::outer(generic::entry(1));
}
