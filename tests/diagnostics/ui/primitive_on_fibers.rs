use autobatch::primitive;

struct Word<'a>(&'a str);

// What is written hides that the result borrows.
#[primitive(batched = parts)]
fn part(text: &str, from: usize) -> Word {
    Word(&text[from..])
}

fn parts<'a>(text: &'a str, from: &[usize]) -> Vec<Word<'a>> {
    from.iter().map(|from| Word(&text[*from..])).collect()
}

// An error in the body is shown once.
#[primitive(batched = doubles)]
fn double(x: u32) -> u32 {
    let twice: u64 = 2 * x;
    twice as u32
}

fn doubles(x: &[u32]) -> Vec<u32> {
    x.iter().map(|x| 2 * x).collect()
}

fn main() {}
