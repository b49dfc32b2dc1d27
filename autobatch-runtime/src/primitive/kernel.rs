//! Calls of a kernel: one for all members that share what is to be shared.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::vec::IntoIter;

use super::changed::{Back, NoneChanged};
use super::results::Rows;
use crate::api::fault::message;
use crate::fiber::CurrentWorker;

/// Results in the order in which members were gathered, and the columns that the kernel has changed.
pub struct Results<R, C = ()> {
    results: IntoIter<Result<R, Arc<str>>>,
    changed: C,
    member: usize,
}

impl<R> Results<R> {
    /// The same with columns that were changed.
    pub fn with<C: Back>(self, changed: C) -> Results<R, C> {
        Results { results: self.results, changed, member: 0 }
    }
}

impl<R, C> Results<R, C> {
    /// The next member's result, or why there is none.
    #[expect(clippy::should_implement_trait, reason = "it does not end by itself")]
    pub fn next(&mut self) -> Result<R, Arc<str>>
    where
        C: NoneChanged,
    {
        self.results.next().expect("one result per member")
    }
    /// The next member's result, or why there is none; if there is one, what the kernel has changed goes to the
    /// member's own places.
    pub fn next_into(&mut self, places: C::Places<'_>) -> Result<R, Arc<str>>
    where
        C: Back,
    {
        let result = self.results.next().expect("one result per member");
        self.changed.back(self.member, places, result.is_ok());
        self.member += 1;
        result
    }
}

/// Which members are in one call: all of them, or sets.
pub struct Sets(Option<Vec<Vec<usize>>>);

/// Members that do not share what is to be shared are in different sets.
pub fn sets(members: usize, same: &dyn Fn(usize, usize) -> bool) -> Sets {
    if (1..members).all(|member| same(0, member)) {
        return Sets(None);
    }
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for member in 0..members {
        match sets.iter_mut().find(|set| same(set[0], member)) {
            Some(set) => set.push(member),
            None => sets.push(vec![member]),
        }
    }
    Sets(Some(sets))
}

/// Calls the kernel once for each set.
pub fn run<R, K: Rows<R>>(
    name: &str,
    members: usize,
    sets: Sets,
    mut kernel: impl FnMut(Option<&[usize]>) -> K,
) -> Results<R> {
    let done = |results| Results { results, changed: (), member: 0 };
    let Some(sets) = sets.0 else {
        let mut all = Vec::with_capacity(members);
        match call(name, members, || kernel(None)) {
            Ok(rows) => all.extend(rows.take(members).map(Ok)),
            Err(message) => all.resize_with(members, || Err(message.clone())),
        }
        return done(all.into_iter());
    };
    let mut all: Vec<Option<Result<R, Arc<str>>>> = Vec::new();
    all.resize_with(members, || None);
    for set in sets {
        match call(name, set.len(), || kernel(Some(&set))) {
            Ok(rows) => set.iter().zip(rows).for_each(|(&member, row)| all[member] = Some(Ok(row))),
            Err(message) => set.iter().for_each(|&member| all[member] = Some(Err(message.clone()))),
        }
    }
    let all: Vec<_> = all.into_iter().map(|result| result.expect("each member is in a set")).collect();
    done(all.into_iter())
}

/// One call of the kernel; what it returns has to be for all `members`.
fn call<R, K: Rows<R>>(name: &str, members: usize, kernel: impl FnOnce() -> K) -> Result<K::Rows, Arc<str>> {
    // A kernel may call the function, which it is not to be called for then.
    let _nobody = CurrentWorker::nobody();
    let returned = catch_unwind(AssertUnwindSafe(kernel)).map_err(|payload| {
        let message = message(&*payload);
        Arc::from(format!("the batched kernel `{name}` panicked: {message}"))
    })?;
    returned.check(members).map_err(|found| {
        let rows = if members == 1 { "1 member".to_owned() } else { format!("{members} members") };
        Arc::from(format!("the batched kernel `{name}` was called for {rows} and returned {found}"))
    })?;
    Ok(returned.rows())
}
