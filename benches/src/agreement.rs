//! Every kernel computes the same in every way.

use crate::ispc::Target;
use crate::kernels::Entry;
use crate::variant::isas;
use crate::ways::{Pools, small_ways, ways};
use crate::{Variant, kernels};
use autobatch::{Executor, Options, Schedule};

fn agree(entry: &Entry, members: usize, variants: &[Variant<'_>]) {
    let case = (entry.build)(members);
    assert_eq!((case.name(), case.members()), (entry.name, members));
    case.check(variants).unwrap_or_else(|error| panic!("{members} members: {error}"));
}

fn batched(executor: Executor) {
    let options = |threads| Options::default().executor(executor).threads(threads);
    let mut all: Vec<_> = isas().into_iter().map(|isa| options(1).isa(isa)).collect();
    all.push(options(2).schedule(Schedule::EarliestBlock));
    all.push(options(1).lanes(16));
    let variants: Vec<_> = all.into_iter().map(Variant::Batched).collect();
    for entry in kernels::ALL {
        agree(entry, 1, &variants);
        agree(entry, entry.few, &variants);
    }
}

#[test]
fn masked() {
    batched(Executor::Masked);
}

#[test]
fn program_counter() {
    batched(Executor::ProgramCounter);
}

#[test]
fn auto() {
    batched(Executor::Auto);
}

#[test]
fn scalar() {
    batched(Executor::Scalar);
}

#[test]
fn ispc() {
    let threads = [2];
    let pools = Pools::new(&threads);
    let on_threads = ways(&isas(), &threads, &pools);
    let on_threads = on_threads.into_iter().map(|way| way.variant);
    let mut variants: Vec<_> = on_threads.filter(|variant| matches!(variant, Variant::Ispc(..))).collect();
    variants.extend(Target::available().into_iter().map(|target| Variant::Ispc(target, None)));
    for entry in kernels::ALL {
        // Not a multiple of any vector's length; enough for a share of exceptions to be one.
        agree(entry, 1003, &variants);
    }
}

#[test]
fn ways_to_compare() {
    let threads = [1, 2];
    let pools = Pools::new(&threads);
    let all = ways(&isas(), &threads, &pools);
    let mut names: Vec<String> = all.iter().map(|way| way.to_string()).collect();
    assert_eq!(names[0], "scalar");
    assert!(names.contains(&"rayon 2 threads".to_owned()));
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all.len(), "names are distinct");
    let small = small_ways(isas()[0], 2, &pools);
    let variants: Vec<_> = all.iter().chain(&small).map(|way| way.variant.clone()).collect();
    agree(&kernels::ALL[0], 1000, &variants);
}

#[test]
fn names_are_distinct() {
    let mut names: Vec<_> = kernels::ALL.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), kernels::ALL.len());
}
