//! The machine that runs a program's blocks, masked or by program counters. For generated code only.
//!
//! In: a program, settings, a queue of members, and the generated body. Out: results in the body's columns, faults, and counts
//! ([`Finished`]). [`Core`] decides what runs next and for which lanes; the body does it. Everything here is safe
//! to *call*, but only sound under the protocol below: the static program knows which variables hold a
//! value at which point, the machine never does.
//!
//! A new schedule is a case in `schedule.rs`.
//!
//! **Invariant:** a slot is taken, or dropped, only where its variable is live: at the point where its lane waits. The compiler upholds it by
//! the shape of the body; rustc checks nothing of it.
//!
//! **Invariant:** every member of the queue ends in exactly one result or one fault.
//!
//! # Words and points
//!
//! Every lane has a *word*: the number of the program point it waits at, or [`PcWord::IDLE`](crate::storage::PcWord::IDLE). Points are
//! numbered: blocks `0..B` in the order executors prefer, then call points (`B + k` for call site `k`),
//! then return points (`B + C + g` for group `g`). Words are `u32` or `u64` (`Program::word64`),
//! whichever is as wide as the program's data. Lanes are processed in strips of `W`
//! (`Program::strip`, a power of two and at least 8).
//!
//! # The body
//!
//! ```text
//! fn body(core: &mut Core<'_>, store: &Store, args: Args<'_>) {   // #[cfg_attr(optimised, inline(always))]
//!     let mut n = store.column(0);                // variable 0: Loan<'_, LaneColumn<_>>, type inferred below
//!     let mut left = store.column(3);
//!     let mut n_saved = store.stack(0);           // stacked variables only; ids count separately
//!     loop {
//!         match core.next() {
//!             Step::Load => …,      Step::Store => …,     Step::Compact => …,  Step::Abandon => …,
//!             Step::Block(0) => …,  Step::Call(0) => …,   Step::Return(0) => …,   // numbers: point, site, site
//!             Step::Done => break,
//!             step => core.unexpected(step),      // -> !
//!         }
//!     }
//! }
//! ```
//!
//! The body may unwind out of a block, a load or an abandon; the caller catches that, calls
//! [`Core::fault`] and enters the body again with the same core and store. A column is lent to one body
//! at a time (`store.column` panics otherwise); the guard returns it, also while unwinding. Columns grow
//! by themselves; nothing needs to be reserved. The body is instantiated per instruction set and entered
//! through [`Core::dispatch`]:
//!
//! ```text
//! fn base(core: &mut Core<'_>, store: &Store, args: Args<'_>) { body(core, store, args) }
//! #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
//! fn avx2(core: &mut Core<'_>, store: &Store, args: Args<'_>) { body(core, store, args) }
//! #[cfg(target_arch = "x86_64")] #[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
//! fn avx512(core: &mut Core<'_>, store: &Store, args: Args<'_>) { body(core, store, args) }
//! #[cfg(target_arch = "x86_64")]      core.dispatch(store, args, base, avx2, avx512);
//! #[cfg(not(target_arch = "x86_64"))] core.dispatch(store, args, base);
//! ```
//!
//! Only blocks have code for the instruction set: in the other steps values are moved, by `out_of_line(|| …)`, which the instances share.
//!
//! # Load, store, compact
//!
//! ```text
//! Step::Load => if !(simple(&source_a, &x) && simple(&source_b, &y) && core.load_whole(#[cfg_attr(optimised, inline(always))] |lane, member, len| {
//!     source_a.fill(member, x.room(lane, len));                   // neighbours in one go, where nothing can be lost
//!     source_b.fill(member, y.room(lane, len));
//! })) { core.load(#[cfg_attr(optimised, inline(always))] |lane, member| {
//!     x.room(lane, 1);
//!     y.room(lane, 1);                                            // memory may be refused
//!     let (a, b) = (source_a.get(member), source_b.get(member));  // all first: may panic (a user's clone)
//!     x.put(lane, a);                                             // then all: nothing is lost half way
//!     y.put(lane, b);
//! }) },
//! Step::Store => out.receive(core.stores(), &mut result),
//! Step::Compact => { let transfer = core.transfer(); transfer.compact(&mut x); transfer.compact(&mut y) },
//! ```
//!
//! `Compact` lists all columns of the root group's functions. Loaded lanes wait at `Program::entry_point`. `x`, `y`: the entry function's parameter columns;
//! `result`: the root group's. A panic in a load is that member's fault, one in a store is passed on.
//!
//! # A block
//!
//! `once` runs the lane code of a region once on a strip, `repeat` as long as a lane of the strip stays
//! at the block (for blocks that are their own successor; the number of rounds is bounded). The lane code
//! is called for every lane of the strip; where `here` is false it must do nothing and return `stay`.
//!
//! ```text
//! // while i < limit { if z*z > 4.0 { break } z = z*z + c; i += 1 }    block 1, exits to block 2
//! Step::Block(1) => for i in 0..core.strips() {
//!     let at = core.strip(i);                        // column offset of the strip
//!     let c_ = c.read::<W>(at);                      // never assigned here: no write-back
//!     let z_ = z.edit::<W>(at);                      // assigned here: written back when dropped, also by unwinding
//!     let i_ = i.edit::<W>(at);
//!     let mut strip = core.open::<u32, W>(i);        // its words
//!     let (mut c_, mut z_, mut i_) = (c_.open(), z_.open(), i_.open());   // from here on only lane code can unwind
//!     let (c_, z_, i_) = (c_.lanes(), z_.lanes(), i_.lanes());            // &mut [MaybeUninit<T>; W]
//!     strip.repeat(1, #[cfg_attr(optimised, inline(always))] |l, here, stay| {
//!         let (c0, z0, i0) = (c_.bits(l), z_.bits(l), i_.bits(l));   // before the branch
//!         let (next, z1, i1);
//!         if here { 'lane: {
//!             let c = c_.take(l, &c0);             // every live-in variable the region mentions is taken first
//!             let mut z = z_.take(l, &z0);
//!             let mut i = i_.take(l, &i0);
//!             if i < limit {
//!                 if z * z > 4.0 { z1 = dead(); i1 = i_.leave(l, i); next = 2; break 'lane }
//!                 z = z * z + c;
//!                 i += 1;
//!                 c_.keep(l, c);               // live out, never assigned in the region: put back, nothing to settle
//!                 z1 = z_.leave(l, z); i1 = i_.leave(l, i); next = 1; break 'lane
//!             }
//!             z1 = dead(); i1 = i_.leave(l, i); next = 2; break 'lane   // z is not live in block 2
//!         } } else { z1 = z_.bits(l); i1 = i_.bits(l); next = stay }
//!         z_.settle(l, z1);                    // unconditionally: vectorises as a select
//!         i_.settle(l, i1);
//!         next
//!     });
//! },
//! ```
//!
//! * Columns of a region: live-in and mentioned, or live-out and defined. Live-through ones are not touched.
//! * `edit` for a variable that any path assigns (`leave` at every exit where it is live out, `dead` where it
//!   is not, `settle` at the end). `read` for one that no path assigns (`keep` at every
//!   exit where it is live out). `leave`/`keep` come last, after all user code of the path.
//! * Drop: a taken value that is not left or kept is dropped by its scope, as in the scalar function.
//! * On unwinding out of lane `l` the strip's locals and words are written back, so lanes before `l` have
//!   executed, lanes after it have not.
//! * `once(point, lane_code)` has the same shape.
//! * In a block after a call nothing special happens: `Step::Return` has filled the columns before.
//!
//! # A call
//!
//! ```text
//! Step::Call(0) => {                     // left = fib(arg): n is live across
//!     let transfer = core.transfer();
//!     transfer.make_room(&mut n_saved);       // may unwind, if memory is refused: nothing has moved yet
//!     transfer.make_room_to_pass(&mut n);
//!     transfer.make_room_to_give(&mut left);
//!     transfer.push(&mut n_saved, &n);      // Call::pushes; update(): Call::updates; keeps: nothing. All no-ops when masked
//!     transfer.pass(&mut n, &arg);          // callee's parameter n <- arg, one per parameter
//! },
//! Step::Return(0) => {
//!     let transfer = core.transfer();
//!     transfer.give(&mut left, &result);    // call's destination <- callee group's result
//!     transfer.pop(&mut n_saved, &mut n);   // Block::pops of the continuation; peek(): read but leave on the stack
//! },
//! ```
//!
//! Room comes first, for all that the call and its return write: after it neither unwinds, so that a value is never half moved. Where memory is
//! refused the call has not been made, and the members end that wait for it; so they do where a block's columns can't grow.
//!
//! Pushes come before passes, gives before pops. Values are moved bitwise; a variable that is live after
//! the call and also an argument is `Copy`. Where both sides are the same column: `transfer.pass_same(&mut n)`,
//! `transfer.give_same(&mut col)`. Passes happen one after the other: where a parameter is also the source
//! of a *later* pass (`f(a, b)` calls `f(b, a)`), `let lifted = transfer.lift(&a)` first and
//! `transfer.land(&mut b, lifted)` last. Words are set by the machine: callee's entry, then the continuation.
//! A tail call is no call: the block's lane code takes args, leaves them in the callee's parameter columns
//! and returns the callee's entry block as the next point.
//!
//! # What a dead member owned
//!
//! ```text
//! Step::Abandon => for gone in core.abandoned() {
//!     match gone.unwind_point {
//!         UnwindPoint::At(0) => gone.discard(&mut n),              // waits at a point: all variables live in there
//!         UnwindPoint::At(3) => { gone.discard(&mut n); gone.discard(&mut arg) }      // call point: arguments, live across
//!         UnwindPoint::At(5) => gone.discard(&mut result),         // return point
//!         UnwindPoint::Ran(1) => {}                                // panicked in block 1: live in and *not* taken by it
//!         UnwindPoint::Calling(0) => gone.discard_saved(&mut n, &mut n_saved),   // in the callee: live across call 0
//!         _ => {}
//!     }
//! },
//! ```
//!
//! `Calling(k)`: `discard` for variables live across `k` that are not pushed, `discard_saved` for pushed
//! ones (also if their type needs no drop: it pops the stack), [`Gone::forget_saved`] where `peek` has
//! left a copy on the stack. Innermost activation first. A panic in
//! here (a user's drop) is swallowed: the member is at fault already.
//!
//! # For the launcher
//!
//! [`Queue`](crate::batch::Queue) hands out members to any number of cores, [`Settings`] are the resolved options, [`Watch`](crate::batch::Watch)
//! is told of finished members and asked for cancellation. One [`Core`] and one [`Store`](crate::storage::Store) per worker:
//!
//! ```text
//! let queue = Queue::new(0..members, workers);
//! let mut core = Core::new(&PROGRAM, settings, &queue, &watch);
//! let store = Store::new();
//! while let Err(payload) = catch_unwind(AssertUnwindSafe(|| tile(&mut core, &store, &out))) {
//!     core.fault(payload);       // resumes unwinding if no member is to blame
//! }
//! let finished: Finished = core.finish();    // faults (with global member numbers), counters
//! ```
//!
//! Every member of the queue ends in exactly one `out.set` or one fault; after a cancellation the members
//! nobody has taken are drained and get `Cancelled` faults too.

mod core;
mod counters;
mod dispatch;
#[cfg(test)]
mod expansion;
mod interchange;
mod leaving_frames;
mod masked;
mod occupancy;
mod patience;
mod primitives;
mod program_counter;
mod recorder;
mod region_loop;
mod results;
mod schedule;
mod settings;
mod step;
mod step_count;
mod transfer;
mod unwinding;

pub(crate) use self::core::Answers;
pub use self::core::Core;
pub(crate) use counters::Finished;
pub use dispatch::out_of_line;
pub use region_loop::LaneWords;
pub(crate) use settings::{Mode, Settings};
pub use step::Step;
pub use transfer::Transfer;
pub use unwinding::{Gone, UnwindPoint};
