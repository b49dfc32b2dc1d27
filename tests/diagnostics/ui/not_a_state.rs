use autobatch::autobatch;

#[autobatch]
fn step(state: &mut u64, n: u32) -> u64 {
    *state += u64::from(n);
    *state
}

#[autobatch]
fn sort(#[each] xs: &mut [u32]) {
    xs.sort();
}

fn main() {
    let mut states = vec![1, 2];
    step_batched(&states, &[1, 2]);
    step_batched(states.clone(), &[1, 2]);
    sort_batched(&mut states);
}
