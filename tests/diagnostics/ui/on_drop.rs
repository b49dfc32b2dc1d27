use autobatch::autobatch;

struct Buffer(Vec<u8>);

#[autobatch]
impl Drop for Buffer {
    fn drop(&mut self) {
        self.0.clear();
    }
}

fn main() {}
