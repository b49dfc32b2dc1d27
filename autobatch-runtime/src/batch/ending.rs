//! How members end that have no result: why they have unwound.

use std::any::Any;

use super::limits::Stopped;
use crate::api::fault::{FaultKind, TOO_MUCH, ended, message, too_deep, too_long};
use crate::native_stack::budget::TooMuch;
use crate::native_stack::depth::TooDeep;

/// Why a member has unwound, which was to end for the reason `why`, if any.
pub(crate) fn reason(
    why: Option<FaultKind>,
    payload: &(dyn Any + Send),
    max_depth: usize,
    max_steps: u64,
) -> (FaultKind, String) {
    let kind = match payload.downcast_ref() {
        Some(Stopped(kind)) => Some(*kind),
        None if payload.is::<TooDeep>() => Some(FaultKind::DepthExceeded),
        None if payload.is::<TooMuch>() => Some(FaultKind::MemoryExceeded),
        None => None,
    };
    let kind = why.or(kind).unwrap_or(FaultKind::Panic);
    let message = match kind {
        FaultKind::Panic => message(payload),
        FaultKind::DepthExceeded => too_deep(max_depth),
        FaultKind::MemoryExceeded => TOO_MUCH.to_owned(),
        FaultKind::StepsExceeded => too_long(max_steps),
        FaultKind::Cancelled | FaultKind::DeadlineExceeded => ended(kind),
    };
    (kind, message)
}

pub(crate) type Payload = Box<dyn Any + Send>;
