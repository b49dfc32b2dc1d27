use autobatch::autobatch;

#[autobatch]
fn f(code: i32) -> ! {
    std::process::exit(code)
}

fn main() {}
