//! Loops of several regions in vector frames: when half of the lanes have left, the others move together.
//!
//! ```text
//! lanes at the loop's head    | a |   |   | d |   |   | g | h |   |   |     the others have returned
//! columns, for what is live   | a | d | g | h |                             a frame of half the width, or less
//! ```
//!
//! Lanes that wait behind the loop go on before that, so that all that are left are at its head.
//!
//! **Invariant:** lanes move only while no other point has lanes.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::codegen::vector::columns::set;
use crate::codegen::vector::frames::{Stop, Writer};
use crate::syntax::reachability::reached;

impl Writer<'_, '_> {
    /// The head of the loop at which lanes move together: one of several regions, behind which no other such loop comes. Frames of
    /// recursion begin dense, and are too small for that: queens took a quarter longer.
    pub(crate) fn outer_loop(&self, stops: &[Stop<'_>]) -> Option<u32> {
        if self.emitter.program.func(self.func).recursive {
            return None;
        }
        let next = |point: u32| -> BTreeSet<u32> {
            let stop = stops.iter().find(|stop| self.point(stop) == point);
            match stop {
                Some(Stop::Region(region)) => region.successors.clone(),
                Some(Stop::Call(call)) => BTreeSet::from([self.emitter.point(call.cont)]),
                _ => BTreeSet::new(),
            }
        };
        let cycle = |point: u32| -> BTreeSet<u32> {
            let around = reached(point, |p| next(p).into_iter());
            around.into_iter().filter(|p| reached(*p, |p| next(p).into_iter()).contains(&point)).collect()
        };
        let points = stops.iter().map(|stop| self.point(stop));
        let mut heads = points.filter(|point| cycle(*point).len() > 1);
        let head = heads.next()?;
        let inside = cycle(head);
        heads.all(|other| inside.contains(&other)).then_some(head)
    }

    /// The arm of the loop's head: its lanes wait for the others, if many have left, and move together then. `code` runs it.
    pub(crate) fn close_gaps(&self, head: &Stop<'_>, stops: &[Stop<'_>], code: &TokenStream) -> TokenStream {
        let (rt, strip) = (&self.emitter.rt, self.emitter.width.strip);
        let (point, here) = (self.point(head), set(self.point(head)));
        let others = stops.iter().map(|stop| self.point(stop)).filter(|other| *other != point);
        let others: Vec<Ident> = others.map(set).collect();
        let columns = self.live(head).into_iter().map(|v| {
            let home = self.home(v);
            let moved = quote!(#rt::vector::gather(&mut __arena, &*#home, &#here, __lanes, __count));
            if self.is_lent(v) { quote!(#home = &*#moved;) } else { quote!(#home = #moved;) }
        });
        quote! {
            let __has_gaps = #rt::vector::LaneSet::has_gaps::<#strip>(&#here);
            if !(__has_gaps && (false #(|| #rt::vector::LaneSet::any(&#others))*)) {
                if __has_gaps {
                    __count = #rt::vector::LaneSet::trim(&mut #here);
                    __lanes = #rt::vector::width::<#strip>(__count);
                    #rt::vector::Moved::together(&mut __moved, &mut __arena, __res, &#here, __lanes);
                    __res = #rt::vector::Arena::column(&mut __arena, __lanes);
                    #(#columns)*
                    #here = #rt::vector::full(&mut __arena, __lanes, __count);
                    #(#others = #rt::vector::Arena::set(&mut __arena, __lanes, __count);)*
                }
                #code
                continue;
            }
        }
    }
}
