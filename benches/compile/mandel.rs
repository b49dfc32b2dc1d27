//! A small function with a loop.

#[cfg_attr(feature = "batched", autobatch::autobatch)]
fn mandel(c_re: f32, c_im: f32, limit: i32) -> i32 {
    let (mut z_re, mut z_im) = (c_re, c_im);
    let mut i = 0;
    while i < limit {
        if z_re * z_re + z_im * z_im > 4.0 {
            break;
        }
        let re = z_re * z_re - z_im * z_im;
        let im = 2.0 * z_re * z_im;
        z_re = c_re + re;
        z_im = c_im + im;
        i += 1;
    }
    i
}

fn main() {
    let c: Vec<f32> = std::env::args().map(|argument| argument.len() as f32 * 0.01).collect();
    println!("{:?}", c.iter().map(|c| mandel(*c, *c, 99)).collect::<Vec<_>>());
    #[cfg(feature = "batched")]
    println!("{:?}", mandel_batched(&c, &c, autobatch::same(99)));
}
