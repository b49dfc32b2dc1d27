//! Vector calls: how programs that only compute run calls, by native recursion over structure-of-arrays frames. For generated
//! code only.
//!
//! In: the columns of a tile's members, and the generated functions. Out: a column of results. Every function of such a program is, once
//! per instruction set, a native function from columns to columns ([`Arena::column`]): it runs for the lanes of a [`LaneSet`]. A call is a
//! native call; its callee works in the caller's lanes for as long as it takes to see who returns at once, then goes on in a dense frame of
//! its own if few are left ([`is_sparse`]), or by scalar code if very few are ([`is_few`]). Loops run in columns that lose the lanes that
//! have left ([`LoopLanes`]). Functions whose calls can all be made at once run block by block instead ([`TaskBlocks`]), in an order in
//! which neighbours are alike ([`LaneOrder`]), and where lanes agree in gangs ([`Gang`]).
//!
//! *Only compute* means that running a piece of the program once more, or on a copy of a member, shows
//! nowhere: values are numbers, `bool`s, `char`s, and tuples, arrays and structures of them. So pads may compute, and a
//! panic drops the whole tile, whose members then run one by one, as scalar code.
//!
//! **Invariant:** a slot is read only in lanes in which the variable is live, and values are plain, or tuples, arrays and structures of such. The compiler
//! upholds both; generated code contains no `unsafe`, so these functions are safe to call.
//!
//! **Invariant:** a frame has whole strips, and its lanes behind the last member are copies of that member (*pads*).

mod arena;
mod columns;
mod compaction;
mod constant_division;
mod division;
mod frame;
mod gang;
mod interleave;
mod lane_set;
mod lane_sort;
mod list_rows;
mod lookup;
mod loop_columns;
mod loops;
pub(crate) mod noalias;
mod task_blocks;
#[cfg(test)]
mod tests;
mod tile;
mod turns;

pub(crate) use arena::Memory;
pub use arena::{Arena, align};
pub use columns::{append_strip, copy_slot, give, open, open_to_read, pad, put, strips, strips_mut, value};
pub use compaction::{Moved, copied, gather, scatter, squeeze};
pub use constant_division::quotient;
pub use division::{div_euclid, divided, is_multiple_of, rem_euclid, remainder};
pub use frame::{default_lanes, is_few, is_sparse, load, load_same, width};
pub use gang::{CountedLanes, Gang, GangMask, body, kind, lane_by_lane, merge, part, part_bits};
pub use interleave::interleaved;
pub use lane_set::{LaneSet, full, spread};
pub use lane_sort::{LaneOrder, differs, sort_key, sorted, unsorted};
pub use list_rows::{ListRows, is_outside, row};
pub use lookup::{Fault, Faults, Guarded, LaneFaults, List, element, give_up_unless, within};
pub use loop_columns::LoopColumn;
pub use loops::{Flags, LoopLanes, Points, repeat, repeat_exits};
pub use task_blocks::{BlockColumns, TaskBlocks};
pub(crate) use tile::WavefrontRules;
pub use tile::{Members, Tile, put_states};
pub use turns::Turns;
