//! The knapsack problem by branch and bound: recursion of a shape that differs wildly between members,
//! with a loop in each call.

use autobatch::{BatchError, Options, Outcome, autobatch};

use crate::inputs::Numbers;
use crate::ispc::{Target, counterpart};
use crate::{Agreement, Kernel};

/// A thing to pack.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Item {
    value: u32,
    weight: u32,
}

#[autobatch(strict)]
mod search {
    use super::Item;

    /// The best value that packing some of the items from `next` on leads to, or `best` if that is no
    /// improvement. Items come in descending order of value per weight.
    fn branch(items: &[Item], next: u32, end: u32, room: u32, value: u32, best: u32) -> u32 {
        if next == end {
            return best.max(value);
        }
        // Fractions of items are allowed in the bound.
        let (mut bound, mut left, mut i) = (value, room, next);
        while i < end && items[i as usize].weight <= left {
            bound += items[i as usize].value;
            left -= items[i as usize].weight;
            i += 1;
        }
        if i < end {
            bound += left * items[i as usize].value / items[i as usize].weight;
        }
        if bound <= best {
            return best;
        }
        let item = items[next as usize];
        let mut best = best;
        if item.weight <= room {
            best = branch(items, next + 1, end, room - item.weight, value + item.value, best);
        }
        branch(items, next + 1, end, room, value, best)
    }

    pub(super) fn knapsack(first: u32, end: u32, room: u32, items: &[Item]) -> u32 {
        branch(items, first, end, room, 0, 0)
    }
}

counterpart! {
    fn ispc_knapsack(columns(first: u32, end: u32, room: u32), shared(items: Item)) -> u32
}

/// Random instances: 10 to 29 items, the values more or less correlated with the weights.
pub struct Knapsack {
    items: Vec<Item>,
    first: Vec<u32>,
    end: Vec<u32>,
    room: Vec<u32>,
}

impl Kernel for Knapsack {
    type Value = u32;
    const NAME: &'static str = "knapsack";
    const MEMBERS: usize = 16_384;
    const PEER: Agreement = Agreement::Exact;

    fn new(members: usize) -> Self {
        let mut numbers = Numbers::new(9);
        let mut kernel = Knapsack { items: Vec::new(), first: Vec::new(), end: Vec::new(), room: Vec::new() };
        for _ in 0..members {
            let (count, spread) = (10 + numbers.below(20), 1 + numbers.below(40));
            let item = |numbers: &mut Numbers| {
                let weight = 20 + numbers.below(180);
                Item { value: (weight + 20 + numbers.below(spread)) as u32, weight: weight as u32 }
            };
            let mut items: Vec<Item> = (0..count).map(|_| item(&mut numbers)).collect();
            items.sort_by_key(|item| std::cmp::Reverse((1 << 20) * item.value / item.weight));
            let total: u32 = items.iter().map(|item| item.weight).sum();
            kernel.first.push(kernel.items.len() as u32);
            kernel.items.append(&mut items);
            kernel.end.push(kernel.items.len() as u32);
            kernel.room.push((f64::from(total) * numbers.within(0.1, 0.9)) as u32);
        }
        kernel
    }

    fn members(&self) -> usize {
        self.first.len()
    }

    #[inline]
    fn scalar(&self, i: usize) -> u32 {
        search::knapsack(self.first[i], self.end[i], self.room[i], &self.items)
    }

    fn batched(&self, options: &Options) -> Result<Outcome<u32>, BatchError> {
        search::knapsack_batched_with(&self.first, &self.end, &self.room, &self.items, options)
    }

    fn ispc(&self, target: Target, first: usize, out: &mut [u32]) {
        ispc_knapsack(target, first, &self.first, &self.end, &self.room, out, &self.items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_all_subsets() {
        let kernel = Knapsack::new(200);
        let small = (0..200).filter(|&i| kernel.end[i] - kernel.first[i] <= 12);
        for i in small {
            let items = &kernel.items[kernel.first[i] as usize..kernel.end[i] as usize];
            let value = |subset: u32| {
                let packed = || (0..items.len()).filter(move |k| subset >> k & 1 == 1).map(|k| items[k]);
                let fits = packed().map(|item| item.weight).sum::<u32>() <= kernel.room[i];
                if fits { packed().map(|item| item.value).sum() } else { 0 }
            };
            let best: u32 = (0..1 << items.len()).map(value).max().unwrap_or(0);
            assert_eq!(kernel.scalar(i), best);
        }
    }
}
