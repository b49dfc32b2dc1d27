use autobatch::autobatch;

#[autobatch(executor = Fast, schedule = Latest, lanes = 0, max_depth = "deep", fuse = maybe, name = "not a name", strict = 3)]
fn f(x: f64) -> f64 {
    x
}

fn main() {}
