use autobatch::autobatch;

#[autobatch(strict)]
mod result_may_borrow {
    pub fn shortest(text: &str, n: usize) -> usize {
        let own = format!("{text}{n}");
        if n == 0 { own.len() } else { half(&own).len() + shortest(text, n - 1) }
    }
    fn half(text: &str) -> &str {
        let mut to = 0;
        while to < text.len() / 2 {
            to += 1;
        }
        &text[..to]
    }
}

#[autobatch(strict)]
mod before_another_call {
    pub fn entry(n: u64) -> u64 {
        let mut here = vec![0, 1];
        if n == 0 { 1 } else { both(&mut here, entry(n - 1)) }
    }
    fn both(here: &mut Vec<u64>, mut below: u64) -> u64 {
        while below > 3 {
            below /= 2;
        }
        here[0] += below;
        here[0]
    }
}

#[autobatch(strict)]
mod with_lifetimes {
    pub fn entry(n: u64) -> u64 {
        let own = vec![n];
        let mut found: Vec<&u64> = vec![];
        collect(&own, &mut found, n);
        found.len() as u64
    }
    fn collect<'a>(from: &'a [u64], into: &mut Vec<&'a u64>, n: u64) {
        if n > 0 {
            into.extend(from);
            collect(from, into, n - 1);
        }
    }
}

#[autobatch(strict)]
fn of_several_temporaries(n: u64) -> u64 {
    if n == 0 { 1 } else { at(longer(&vec![n; 2], &vec![n; n as usize % 4]), of_several_temporaries(n - 1)) }
}

fn longer<'a>(one: &'a [u64], other: &'a [u64]) -> &'a [u64] {
    if one.len() > other.len() { one } else { other }
}

fn at(all: &[u64], place: u64) -> u64 {
    all[place as usize % all.len()] + place
}

fn main() {}
