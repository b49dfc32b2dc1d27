use autobatch::autobatch;

#[autobatch(strict)]
fn an_attribute_on_an_arm(n: u64) -> u64 {
    match n {
        0 => 1,
        #[cfg(not(target_os = "none"))]
        n => an_attribute_on_an_arm(n - 1),
        #[cfg(target_os = "none")]
        n => n,
    }
}

#[autobatch(strict)]
async fn refused_for_more_than_one_reason(n: &u64) -> ! {
    panic!("{n}")
}

fn main() {}
