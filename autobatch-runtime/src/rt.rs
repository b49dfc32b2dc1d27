//! The door: all that generated code calls. Not part of the public API: it may change in any release, and calling it by hand is not sound.
//!
//! # The protocol
//!
//! Generated code contains no `unsafe`, so all functions here are safe by their signatures. Some are sound only if their caller keeps a
//! demand that rustc does not check. The caller is the compiler (`autobatch-compiler`), which keeps it by the shape of the code that it writes; user
//! code reaches none of this. Each group below says what the compiler upholds, and what the runtime relies on. It comes down to four sentences:
//!
//! 1. **A slot is read as a value only where its variable is live**, and once, unless the type is `Copy`. For each program point there is one set
//!    of live variables: the region that runs there takes this set, each way in has left it, and it is dropped when a member dies there.
//! 2. **Values are copied bit by bit only if they are plain** (numbers, `bool`, `char`, tuples, arrays and `Option`s of them). Generated code asks that as a
//!    constant of the types, by [`is_plain`], before it takes a way that copies.
//! 3. **One thread has a member**, and each member has one result. The queue of members upholds it.
//! 4. **Members that meet in one kernel call share no lifetimes**: what is a member's own has none.
//!
//! Lifetimes are rustc's otherwise: no function here returns a reference that outlives the borrow that it was made from, so generated code is
//! borrow-checked like any other. What is not checked by the types is checked at run time where that is cheap: indices, one loan per column,
//! one hand-out and one result per member and thread. That a slot is filled is not checked.
//!
//! Why this makes generated code sound: `docs/soundness.md`.

/// # Calls of a batch: columns, results, ways to run
///
/// The compiler upholds: a source is asked for the members that the engine names, on the thread that it names them on, and once, unless the source is
/// `repeatable`; all code in [`Ways`] is of one program and one instance of it.
///
/// The runtime relies on: sentence 3. [`Out::receive`] and [`Out::store`] read columns, under sentence 1.
pub use crate::api::{
    column::{Column, Each, EachMut, MovedValues, Source, StateSource, StateValues, Values},
    options::Defaults,
    outcome::unwrap,
    output::Out,
};
pub use crate::launch::{Crossing, Vectors, Ways, unwrap_unit};

/// # Scalar code with counted depth
///
/// The compiler upholds: a clone of a user function takes a [`Depth`], asks it on entry, and hands on the next one; a tail call hands on its own.
///
/// The runtime relies on: nothing. Where depth is not counted, an overflow of the native stack ends the process at a guard page.
pub use crate::native_stack::depth::Depth;

/// # The machine: blocks, masked or by program counters
///
/// The compiler upholds the protocol that `machine` shows by example:
/// * points, call sites and variables have the numbers of the static program; an id of a [`Store`] has one type;
/// * a region takes each live variable once, at the start; every way out leaves what is live behind it, then says the point;
/// * a strip's states are opened for the lanes that wait at the region's head, where the `&mut` is live, and lent to lanes that are there;
/// * a load fetches all values before it puts one down; nothing unwinds between the opening of a strip and its lane code;
/// * room for all that a call writes is made before anything moves;
/// * what a [`Transfer`] moves is not used at its source again, unless it is `Copy`; pushes and pops balance;
/// * the arm for [`Step::Abandon`] drops what is live at each [`UnwindPoint`];
/// * what [`PlainStores`] store is a value, or the bits of a slot of `Partial::known_lanes` or of a `LoopColumn::known`, to which nothing
///   else is stored; the functions that they are told of yield all fields of a structure;
/// * the instances that `Core::dispatch` gets are compiled with the features that it lists.
///
/// The runtime relies on it wherever a slot is read: in [`LaneColumn`], [`Slots`], [`StateStrip`], [`Transfer`], [`Gone`].
pub use crate::machine::{Core, Gone, LaneWords, Step, Transfer, UnwindPoint, out_of_line};
pub use crate::storage::{
    LaneColumn, Lent, Local, Partial, PlainStores, Slots, StateLanes, StateStrip, Store, Strip, absent,
    cleared, dead, next, simple,
};

/// # Guards against a miscompilation
///
/// No demand: each returns what it is given.
pub use crate::simd::{same_for_all, same_slice_for_all};

/// # Operations that vectors have
///
/// No demand: each yields what `as`, `/`, `%`, `rem_euclid` and `is_multiple_of` do, and panics where they do.
pub use crate::simd::{is_multiple_of_by, quotient_by, rem_euclid_by, remainder_by, saturated};

/// # Limits of loops that stay whole in lane code
///
/// The compiler upholds: nothing. A loop that does not ask goes on when it should end.
///
/// The runtime relies on: nothing. [`turn`] may unwind, as any code of a lane may.
pub use crate::batch::{
    is_long, is_long_inside, next_turn, tick, tick_inlined, tick_turn, turn, turns_left, turns_left_inside,
};

/// # Questions about types
///
/// No demand: answers are constants of the types, or types.
pub use crate::probes::{
    checked::{Checked, Same},
    math_receiver::{OtherType, Typed},
    type_id::{NoList, is_plain, shown, yielded, yields_plain},
};

/// # `?`, ranges, ends of iterator chains
///
/// No demand: safe code, which takes the steps that the standard library takes.
pub use crate::desugar::{
    accumulators::{holds, holds_keyed, partition},
    question_mark::{Asked, FromOutput, FromResidual, Question, leaving, try_step},
    ranges::{
        count_any, count_behind, count_down, count_down_to, count_is, count_more, count_up, count_up_to,
    },
    totals::{
        Adding, ByStep, Products, Sums, ToFirstNone, ToTheEnd, adds_all, left_to_number, left_to_type,
        must_add_all, total_of_all, total_of_none,
    },
};

/// # Elementary functions, under `vector_math`
///
/// No demand: those of the public module.
pub use crate::math;

/// # Admission: which types a block program may move
///
/// The compiler upholds: the body of a program that asks begins with `Core::admits`, and with `enter` of all answers.
///
/// The runtime relies on: nothing. A wrong answer is a compile error, or a drop that is seen at another time.
pub mod admission {
    pub use crate::probes::admission::{
        Answer, Ask, Asked, Chains, Copied, Drops, Else, Forgotten, Lists, Same, SameCopied, Shape, Whole,
        Yes, given, must_be, must_be_quiet, nothing,
    };
}

/// # Bounds that name the parameter
///
/// No demand: they are compile errors, or nothing.
pub mod threads {
    pub use crate::probes::thread_bounds::{returned, sent, shared};
}

/// # Lane interchange: loops that run once for a strip
///
/// The compiler upholds: this way is taken only if all strips are plain (`plain`, `plain_vector`, …); a strip is filled before it is read; columns do not
/// change before the merges at the end of the block, and nothing unwinds between these and `Core::arrive`.
///
/// The runtime relies on: strips that are read are filled. Where it copies bits it asserts that types are plain.
pub mod lane_interchange {
    pub use crate::lane_interchange::{
        ActiveLanes, Divisor, Halves, Of, One, QUICK, Remaining, Rounds, are_few, copy_rows, copy_rows_where,
        each, endless, fill_rows, fill_rows_where, get, get_vector, held, in_rows, loaded, merge,
        merge_returned, merge_rows, merge_vector, needs_no_drop, of_element, of_type, plain, plain_array,
        plain_elements, plain_value, plain_vector, returns, rounds, rows, set, set_all, set_chosen,
        set_vector, spread, spread_lists, spread_rows, spread_vector, steps, strip, swap_rows_where, vector,
    };
    pub use crate::storage::{UnknownZero, copied};
}

/// # The vector engine: frames, task blocks, gangs
///
/// The compiler upholds: the program only computes, so that a panic may drop the tile; `Ways::vector_lanes` is 0 unless its types are plain; a lane's slot is
/// read only where the variable is live in that lane, and pads are written wherever the number of members of a column changes.
///
/// The runtime relies on it wherever a slot is read. Lengths are checked by slices, alignment is asserted. That a state is put down once, behind
/// all copies of it, it checks.
pub mod vector {
    pub use crate::simd::{append, fetch, level};
    #[cfg(target_arch = "x86_64")]
    pub use crate::simd::{level_avx2, level_avx512};
    pub use crate::vector::{
        Arena, BlockColumns, CountedLanes, Fault, Faults, Flags, Gang, GangMask, Guarded, LaneFaults,
        LaneOrder, LaneSet, List, ListRows, LoopColumn, LoopLanes, Members, Moved, Points, TaskBlocks, Tile,
        Turns, align, append_strip, body, copied, copy_slot, default_lanes, differs, div_euclid, divided,
        element, full, gather, give, give_up_unless, interleaved, is_few, is_multiple_of, is_outside,
        is_sparse, kind, lane_by_lane, load, load_same, merge, noalias::*, open, open_to_read, pad, part,
        part_bits, put, put_states, quotient, rem_euclid, remainder, repeat, repeat_exits, row, scatter,
        sort_key, sorted, spread, squeeze, strips, strips_mut, unsorted, value, width, within,
    };
}

/// # The wavefront engine: continuation queues
///
/// The compiler upholds, as for the vector engine, and: a record enters a queue with all of the queue's columns put down, at the index that it is
/// given; `Wavefront::check` has seen the keys of all records that call; a return fetches the frame that its own call site has saved.
///
/// The runtime relies on: keys are within the frame stack, and frames have the type of their call site.
pub mod wavefront {
    pub use crate::wavefront::{
        Begin, ContinuationQueue, Keys, Load, SavedFrame, Sites, Wave, Wavefront, largest, put, put_one,
    };
}

/// # Batched primitives, for lanes and on fibers
///
/// The compiler upholds: `wait` is told that calls may go together only if nothing that is a member's own has a lifetime, and results own their value or
/// refer to what all members share; arguments that are gathered for lanes can't unwind.
///
/// The runtime relies on: sentence 4, since waiting calls of one kernel differ in lifetimes only.
pub mod primitive {
    pub use crate::fiber::{gathers, wait};
    pub use crate::primitive::{
        Changed, Kind, OfValues, OfVectors, Part, Pass, PassMut, Results, Shared, SharedValue, run, sets,
        taken,
    };
}
