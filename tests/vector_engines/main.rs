//! Vector frames, task blocks, gangs, the wavefront and lane interchange compute the scalar function's bits.

#[path = "../common/mod.rs"]
mod common;

mod a_vec_of_the_users;
mod arrays_by_elements;
mod assertions;
mod chains_over_ranges;
mod chains_over_shared_lists;
mod conditional_stores;
mod division_by_reciprocal;
mod divisions;
mod elements_of_shared_lists;
mod elements_that_are_arrays;
mod enumerations;
mod floats_to_integers;
mod heavy_branches;
mod helpers_that_match;
mod interchanged_arrays;
mod items_of_bodies;
mod lane_interchange;
mod lookups;
mod loops_in_loops;
mod loops_left_at_different_times;
mod loops_left_early;
mod matches_of_numbers;
mod methods_of_numbers;
mod options;
mod plain_stores;
mod predicated_loops;
mod rows_of_arrays;
mod searches;
mod short_vectors;
mod slices_per_member;
mod structs_of_several_words;
mod structures;
mod task_blocks_and_gangs;
mod uniform_loops;
mod values_that_must_be_there;
mod wavefront;
mod wide_values_that_loops_set;
