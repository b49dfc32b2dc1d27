use autobatch::autobatch;

#[autobatch(strict)]
async fn refused_for_more_than_one_reason(n: &u64) -> ! {
    panic!("{n}")
}

fn main() {}
