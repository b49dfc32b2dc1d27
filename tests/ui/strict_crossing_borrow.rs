use autobatch::autobatch;

struct Values(Vec<u32>);

impl Values {
    fn total(&self) -> u32 {
        self.0.iter().sum()
    }
}

#[autobatch(strict)]
fn f(n: u32) -> u32 {
    let values = Values(vec![n, 2]);
    let first = &values.0[0];
    let mut i = 0;
    while i < n {
        i += *first + values.total();
    }
    i
}

fn main() {
    f(1);
}
