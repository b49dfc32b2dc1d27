//! Who is told how far the workers are.

/// What a core tells the launcher while it runs.
pub trait Watch: Sync {
    /// Whether all unfinished members shall end now.
    fn cancelled(&self) -> bool;
    /// So many more members have ended, with a value or a fault.
    fn ended(&self, members: usize);
}
