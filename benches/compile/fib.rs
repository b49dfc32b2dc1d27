//! A small recursive function.

#[cfg_attr(feature = "batched", autobatch::autobatch)]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

fn main() {
    let n: Vec<u64> = std::env::args().map(|argument| argument.len() as u64).collect();
    println!("{:?}", n.iter().map(|n| fib(*n)).collect::<Vec<_>>());
    #[cfg(feature = "batched")]
    println!("{:?}", fib_batched(&n));
}
