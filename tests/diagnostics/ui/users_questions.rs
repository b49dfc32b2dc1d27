use autobatch::autobatch;

struct Error;

fn checked(n: u64) -> Result<u64, Error> {
    if n == 0 { Err(Error) } else { Ok(n) }
}

#[autobatch]
fn number(n: u64) -> u64 {
    let a = checked(n)?;
    if n == 0 { a } else { number(n - 1) }
}

#[autobatch]
fn argument(n: u64) -> u64 {
    if n == 0 { 1 } else { argument(checked(n)?) + 1 }
}

#[autobatch]
fn of_a_number(n: u64) -> u64 {
    if n == 0 { 1 } else { of_a_number(n - 1)? }
}

#[autobatch]
fn option(n: u64) -> Option<u64> {
    let a = checked(n)?;
    if n == 0 { Some(a) } else { option(n - 1) }
}

#[autobatch]
fn other_error(n: u64) -> Result<u64, String> {
    let mut sum = 0;
    let mut i = 0;
    while i < n {
        sum += checked(i)?;
        i += 1;
    }
    Ok(sum)
}

#[autobatch]
fn unit(n: u64, #[each] out: &mut [f64]) {
    if n > 0 {
        out[0] += checked(n)? as f64;
        unit(n - 1, out);
    }
}

#[autobatch]
mod module {
    pub fn even(n: u64) -> Result<u64, super::Error> {
        if n == 0 { Ok(1) } else { Ok(odd(n - 1)? + 1) }
    }
    fn odd(n: u64) -> Result<u64, String> {
        if n == 0 { Ok(1) } else { Ok(even(n - 1)? + 1) }
    }
}

fn main() {}
