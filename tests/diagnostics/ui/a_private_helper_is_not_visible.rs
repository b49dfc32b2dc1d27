use autobatch::autobatch;

#[autobatch]
mod m {
    fn helper(n: u32) -> u32 {
        if n > 2 { helper(n - 2) } else { n }
    }
    pub fn f(n: u32) -> u32 {
        helper(n) + 1
    }
}

fn main() {
    m::f_batched(&[1]);
    m::helper_batched(&[1]);
}
