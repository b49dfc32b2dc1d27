//! Who is told how far the workers are.

use super::numbering::Numbering;
use crate::api::fault::FaultKind;

/// What a core tells the launcher while it runs.
pub trait Watch: Sync {
    /// Why all unfinished members shall end now, if they shall.
    fn over(&self) -> Option<FaultKind>;
    /// So many more members have ended, with a value or a fault.
    fn ended(&self, members: usize);
    /// Where members stand in the columns.
    fn numbering(&self) -> Numbering<'_> {
        Numbering::default()
    }
}
