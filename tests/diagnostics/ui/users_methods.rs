use autobatch::autobatch;

struct Point {
    x: f64,
}

#[autobatch]
fn methods(p: f64) -> f64 {
    let mut q = p;
    while q > 1.0 {
        q = q.halve();
    }
    q
}

#[autobatch]
fn fields(n: u32) -> f64 {
    let p = Point { x: f64::from(n) };
    let mut i = 0;
    while i < n {
        i += 1;
    }
    p.y
}

#[autobatch]
fn operators(n: u32, text: &str) -> u32 {
    let mut k = n;
    loop {
        if -text > k {
            return k;
        }
        k += 1;
    }
}

#[autobatch]
fn names(n: u32) -> u32 {
    let mut k = n;
    while k < limit {
        k += stride;
    }
    println!("{k} {missing}");
    k
}

fn main() {
    methods(fields(operators(names(1), "")));
}
