//! What a run yields.

use std::fmt;
use std::mem::MaybeUninit;

use super::fault::{BatchError, Fault, Faults};
use super::report::Report;
use super::trace::Trace;

/// What `f_batched_with` returns: a result or a [`Fault`] for each member, and the [`Report`].
///
/// ```
/// # use autobatch::autobatch;
/// use autobatch::{Executor, FaultKind, Options};
///
/// #[autobatch]
/// fn half(n: u32) -> u32 {
///     assert!(n % 2 == 0, "{n} is odd");
///     n / 2
/// }
///
/// let options = Options::default().executor(Executor::Masked);
/// let outcome = half_batched_with(&[4, 5, 6], &options)?; // an error says what is wrong with the call as a whole
/// assert_eq!((outcome.len(), outcome.get(0), outcome.get(1)), (3, Some(&2), None));
/// let fault = &outcome.faults()[0];
/// assert_eq!((fault.member, fault.kind, &*fault.message), (1, FaultKind::Panic, "5 is odd"));
/// assert_eq!(outcome.report().executor, Executor::Masked);
///
/// let results = outcome.into_results();
/// assert_eq!(results[2], Ok(3));
///
/// let outcome = half_batched_with(&[4, 6], &options)?;
/// assert_eq!(outcome.into_values().unwrap(), [2, 3]);
/// # Ok::<(), autobatch::BatchError>(())
/// ```
#[derive(Debug)]
pub struct Outcome<R> {
    values: Values<R>,
    faults: Vec<Fault>,
    /// The number of the first member in faults.
    first: usize,
    /// How many members ran.
    ran: usize,
    report: Report,
}

#[derive(Debug)]
enum Values<R> {
    /// No member is at fault: the memory that the results were written to.
    All(Vec<R>),
    Some(SomeValues<R>),
}

/// The same memory, where some members are at fault: a second one for that many values may not be there.
struct SomeValues<R> {
    values: Vec<MaybeUninit<R>>,
    /// Which of them are there.
    set: Vec<bool>,
}

impl<R> SomeValues<R> {
    /// `set` says which of `values` are initialised.
    fn new(values: Vec<MaybeUninit<R>>, set: Vec<bool>) -> Self {
        assert_eq!(values.len(), set.len(), "a flag for each member");
        SomeValues { values, set }
    }

    fn get(&self, member: usize) -> Option<&R> {
        // SAFETY: `Out` reports exactly the members that it has written.
        self.set.get(member)?.then(|| unsafe { self.values[member].assume_init_ref() })
    }

    /// All values, where there is none the other one.
    fn filled(mut self, other: &R) -> Vec<R>
    where
        R: Clone,
    {
        for (value, set) in self.values.iter_mut().zip(&mut self.set) {
            if !*set {
                value.write(other.clone());
                *set = true;
            }
        }
        self.set.clear();
        let values = std::mem::take(&mut self.values);
        // SAFETY: all are initialised now, and nobody else drops them.
        unsafe { assume_init(values) }
    }

    /// The values of all members, each once.
    fn into_options(mut self) -> impl Iterator<Item = Option<R>> {
        (0..self.set.len()).map(move |member| {
            let is_set = std::mem::take(&mut self.set[member]);
            // SAFETY: as in `get`; nobody reads or drops it again, as it is not set any more.
            is_set.then(|| unsafe { self.values[member].assume_init_read() })
        })
    }
}

impl<R> Drop for SomeValues<R> {
    fn drop(&mut self) {
        for (value, set) in self.values.iter_mut().zip(&self.set) {
            if *set {
                // SAFETY: as in `get`.
                unsafe { value.assume_init_drop() }
            }
        }
    }
}

impl<R: fmt::Debug> fmt::Debug for SomeValues<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.set.len()).map(|member| self.get(member))).finish()
    }
}

impl<R> Outcome<R> {
    /// What has become of a run of `running` members: its faults, which ascend, and number members from `first` on. `set` says which of `values`
    /// are initialised, if not all are; the others have a fault each, or did not run.
    pub(crate) fn new(
        values: Vec<MaybeUninit<R>>,
        set: Option<Vec<bool>>,
        first: usize,
        running: usize,
        ran: Result<(Vec<Fault>, Report), BatchError>,
    ) -> Result<Self, BatchError> {
        let absent = values.len() - running;
        let missing = set.as_ref().map_or(0, |set| set.iter().filter(|set| !**set).count());
        let values = match set {
            Some(set) => Values::Some(SomeValues::new(values, set)),
            // SAFETY: all values are initialised.
            None => Values::All(unsafe { assume_init(values) }),
        };
        let (faults, report) = ran?;
        assert_eq!(missing, faults.len() + absent, "a member that runs has a value or a fault");
        Ok(Outcome { values, faults, first, ran: running, report })
    }

    /// The members without a result, ordered by member; empty if all have one.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let outcome = half_batched_with(&[4, 5, 7], &Options::default())?;
    /// let odd: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
    /// assert_eq!(odd, [1, 2]);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// What happened at run time. Counts of blocks are there only with [`Options::report`](crate::Options::report).
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let outcome = half_batched_with(&[4, 6], &Options::default())?;
    /// assert_eq!(outcome.report().members, 2);
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The recording that [`Options::trace`](crate::Options::trace) asks for, if blocks ran.
    pub fn trace(&self) -> Option<&Trace> {
        self.report.trace.as_ref()
    }

    /// The number of members, faulty and absent ones included.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::All(values) => values.len(),
            Values::Some(values) => values.set.len(),
        }
    }

    /// Whether the batch had no member.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One member's result; `None` if the member is at fault or [absent](crate::Options::only), or if there is no such member.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let outcome = half_batched_with(&[4, 5], &Options::default())?;
    /// assert_eq!((outcome.get(0), outcome.get(1), outcome.get(2)), (Some(&2), None, None));
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn get(&self, member: usize) -> Option<&R> {
        match &self.values {
            Values::All(values) => values.get(member),
            Values::Some(values) => values.get(member),
        }
    }

    /// The result or the fault of each member that ran, in order, by reference.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let outcome = half_batched_with(&[4, 5], &Options::default())?;
    /// for (member, result) in outcome.iter().enumerate() {
    ///     match result {
    ///         Ok(half) => println!("member {member}: {half}"),
    ///         Err(fault) => println!("{fault}"),
    ///     }
    /// }
    /// assert_eq!(outcome.iter().flatten().sum::<u32>(), 2); // of the members that have a result
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn iter(&self) -> Results<'_, R> {
        Results { outcome: self, member: 0, left: self.ran, faults: self.faults.iter() }
    }

    /// The results, the faults and the report. A member has `None` for a result where it has a fault or is [absent](crate::Options::only).
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let (values, faults, report) = half_batched_with(&[4, 5], &Options::default())?.into_parts();
    /// assert_eq!((values, faults.len(), report.members), (vec![Some(2), None], 1, 2));
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn into_parts(self) -> (Vec<Option<R>>, Vec<Fault>, Report) {
        let values = match self.values {
            Values::All(values) => values.into_iter().map(Some).collect(),
            Values::Some(values) => values.into_options().collect(),
        };
        (values, self.faults, self.report)
    }

    /// The results of all members that ran, in order.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let outcome = half_batched_with(&[4, 5, 6], &Options::default())?;
    /// let faults = outcome.into_values().unwrap_err();
    /// assert_eq!(faults.to_string(), "member 1: 5 is odd");
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If any member is at fault, all faults. The results are dropped then; [`Outcome::into_results`] keeps them.
    pub fn into_values(self) -> Result<Vec<R>, Faults> {
        match self.values {
            Values::All(values) => Ok(values),
            Values::Some(values) if self.faults.is_empty() => Ok(values.into_options().flatten().collect()),
            Values::Some(_) => Err(Faults(self.faults)),
        }
    }

    /// The results of all members, in order, in the memory that they were written to: `other` for members that are
    /// [absent](crate::Options::only) or at fault. The faults are in [`Outcome::faults`] before.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let outcome = half_batched_with(&[4, 5, 6], &Options::default().only([true, true, false]))?;
    /// let odd: Vec<usize> = outcome.faults().iter().map(|fault| fault.member).collect();
    /// assert_eq!((odd, outcome.into_values_or(0)), (vec![1], vec![2, 0, 0]));
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn into_values_or(self, other: R) -> Vec<R>
    where
        R: Clone,
    {
        match self.values {
            Values::All(values) => values,
            Values::Some(values) => values.filled(&other),
        }
    }

    /// The result or the fault of each member that ran, in order.
    ///
    /// ```
    /// # use autobatch::autobatch;
    /// # use autobatch::Options;
    /// #[autobatch]
    /// fn half(n: u32) -> u32 {
    ///     assert!(n % 2 == 0, "{n} is odd");
    ///     n / 2
    /// }
    ///
    /// let results = half_batched_with(&[4, 5, 6], &Options::default())?.into_results();
    /// let sum: u32 = results.iter().flatten().sum();
    /// assert_eq!(sum, 5); // of the members that have a result
    /// # Ok::<(), autobatch::BatchError>(())
    /// ```
    pub fn into_results(self) -> Vec<Result<R, Fault>> {
        let (first, mut faults) = (self.first, self.faults.into_iter().peekable());
        let mut results = Vec::with_capacity(self.ran);
        match self.values {
            Values::All(values) => results.extend(values.into_iter().map(Ok)),
            Values::Some(values) => {
                results.extend(values.into_options().enumerate().filter_map(|(member, value)| match value {
                    Some(value) => Some(Ok(value)),
                    None => faults.next_if(|fault| fault.member == first.saturating_add(member)).map(Err),
                }))
            }
        }
        results
    }
}

/// The result or the fault of each member that ran: [`Outcome::iter`].
#[derive(Debug)]
pub struct Results<'a, R> {
    outcome: &'a Outcome<R>,
    member: usize,
    left: usize,
    faults: std::slice::Iter<'a, Fault>,
}

impl<'a, R> Iterator for Results<'a, R> {
    type Item = Result<&'a R, &'a Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.member < self.outcome.len() {
            let member = self.member;
            self.member += 1;
            let result = match (self.outcome.get(member), self.faults.as_slice()) {
                (Some(value), _) => Ok(value),
                (None, [fault, rest @ ..]) if fault.member == self.outcome.first.saturating_add(member) => {
                    self.faults = rest.iter();
                    Err(fault)
                }
                // It is absent.
                _ => continue,
            };
            self.left -= 1;
            return Some(result);
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<R> ExactSizeIterator for Results<'_, R> {}

impl<'a, R> IntoIterator for &'a Outcome<R> {
    type Item = Result<&'a R, &'a Fault>;
    type IntoIter = Results<'a, R>;

    fn into_iter(self) -> Results<'a, R> {
        self.iter()
    }
}

impl<R> IntoIterator for Outcome<R> {
    type Item = Result<R, Fault>;
    type IntoIter = std::vec::IntoIter<Result<R, Fault>>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_results().into_iter()
    }
}

/// # Safety
///
/// All values are initialised.
unsafe fn assume_init<R>(values: Vec<MaybeUninit<R>>) -> Vec<R> {
    let mut values = std::mem::ManuallyDrop::new(values);
    let (first, len, capacity) = (values.as_mut_ptr(), values.len(), values.capacity());
    // SAFETY: the parts of a `Vec` that is not dropped; `MaybeUninit<R>` has the layout of `R`, and the
    // caller promises initialised values.
    unsafe { Vec::from_raw_parts(first.cast(), len, capacity) }
}

/// The values, or a panic that names the first faulty member. For generated code only.
#[doc(hidden)]
#[track_caller]
pub fn unwrap<R>(outcome: Result<Outcome<R>, BatchError>) -> Vec<R> {
    match outcome {
        Ok(outcome) => match outcome.into_values() {
            Ok(values) => values,
            Err(faults) => panic!("{}", faults.first()),
        },
        Err(error) => panic!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::fault::FaultKind;
    use super::*;

    fn outcome<R>(values: Vec<Option<R>>) -> Outcome<R> {
        let set: Vec<bool> = values.iter().map(Option::is_some).collect();
        let fault = |member| Fault { member, kind: FaultKind::Panic, message: format!("no {member}") };
        let faults: Vec<Fault> = (0..set.len()).filter(|&member| !set[member]).map(fault).collect();
        let values = values.into_iter().map(|value| value.map_or(MaybeUninit::uninit(), MaybeUninit::new));
        let set = (!faults.is_empty()).then_some(set);
        let members = values.len();
        Outcome::new(values.collect(), set, 0, members, Ok((faults, Report::empty()))).unwrap()
    }

    #[test]
    fn without_faults() {
        let all = || outcome(vec![Some("a".to_owned()), Some("b".to_owned())]);
        assert_eq!((all().len(), all().is_empty(), all().faults().len()), (2, false, 0));
        assert_eq!(all().get(1).map(String::as_str), Some("b"));
        assert_eq!(all().get(2), None);
        assert_eq!(all().into_values().unwrap(), ["a", "b"]);
        assert_eq!(all().into_results(), [Ok("a".to_owned()), Ok("b".to_owned())]);
        assert!(outcome::<u8>(vec![]).is_empty());
    }

    #[test]
    fn with_faults() {
        let some = || outcome(vec![None, Some("b".to_owned()), None]);
        assert_eq!((some().len(), some().get(0), some().faults().len()), (3, None, 2));
        let faults = some().into_values().unwrap_err();
        assert_eq!(faults.to_string(), "member 0: no 0 (and 1 more at fault)");
        let results = some().into_results();
        assert_eq!(results[1], Ok("b".to_owned()));
        assert_eq!(results[2].as_ref().unwrap_err().member, 2);
    }

    #[test]
    fn iterates_over_results_and_faults() {
        let some = || outcome(vec![None, Some("b".to_owned()), None]);
        let seen: Vec<Result<String, usize>> =
            some().iter().map(|result| result.cloned().map_err(|fault| fault.member)).collect();
        assert_eq!(seen, [Err(0), Ok("b".to_owned()), Err(2)]);
        assert_eq!(some().iter().len(), 3);
        assert_eq!(some().into_iter().collect::<Vec<_>>(), some().into_results());
        let (values, faults, report) = some().into_parts();
        assert_eq!((values[1].as_deref(), faults.len(), report.members), (Some("b"), 2, 0));
        assert_eq!(outcome(vec![Some(1), Some(2)]).into_parts().0, [Some(1), Some(2)]);
    }

    #[test]
    fn absent_members_have_neither_value_nor_fault() {
        let some = || {
            let values = [MaybeUninit::uninit(), MaybeUninit::new("b".to_owned()), MaybeUninit::uninit()];
            let fault = Fault { member: 12, kind: FaultKind::Panic, message: "no".to_owned() };
            let set = Some(vec![false, true, false]);
            Outcome::new(values.into(), set, 10, 2, Ok((vec![fault], Report::empty()))).unwrap()
        };
        assert_eq!((some().len(), some().get(0), some().get(2)), (3, None, None));
        assert_eq!(some().iter().len(), 2);
        let seen: Vec<Result<String, usize>> =
            some().iter().map(|result| result.cloned().map_err(|fault| fault.member)).collect();
        assert_eq!(seen, [Ok("b".to_owned()), Err(12)]);
        assert_eq!(some().into_results().len(), 2);
        assert_eq!(some().into_parts().0, [None, Some("b".to_owned()), None]);
        assert_eq!(some().into_values_or("x".to_owned()), ["x", "b", "x"]);
        assert_eq!(some().into_values().unwrap_err().first().member, 12);
        let values = vec![MaybeUninit::uninit(), MaybeUninit::new(7)];
        let absent = Outcome::new(values, Some(vec![false, true]), 0, 1, Ok((vec![], Report::empty())));
        assert_eq!(absent.unwrap().into_values().unwrap(), [7]);
    }

    #[test]
    fn every_value_is_dropped_once() {
        let counted = Rc::new(());
        let some = || outcome(vec![Some(counted.clone()), None, Some(counted.clone())]);
        let (first, second) = (some(), some());
        assert_eq!(Rc::strong_count(&counted), 5);
        drop(first);
        assert_eq!(Rc::strong_count(&counted), 3);
        second.into_values().unwrap_err();
        assert_eq!(Rc::strong_count(&counted), 1);
        let values = outcome(vec![Some(counted.clone())]).into_values().unwrap();
        assert_eq!((values.len(), Rc::strong_count(&counted)), (1, 2));
    }

    #[test]
    #[should_panic(expected = "member 1: no 1")]
    fn unwrap_names_the_member() {
        unwrap(Ok(outcome(vec![Some(1), None])));
    }
}
