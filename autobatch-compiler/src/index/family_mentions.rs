//! The batched families that a file mentions by name.

use std::collections::BTreeSet;

use crate::syntax::mentions;

/// The ends of the names of a family, `_batched` first.
pub(crate) const ENDS: [&str; 4] = ["", "_into", "_with", "_program"];

/// The families that a file mentions, by the names of their functions.
#[derive(Clone, Default, Debug)]
pub(crate) struct Mentions {
    names: BTreeSet<String>,
}

impl Mentions {
    pub(crate) fn add(&mut self, text: &str) {
        if !text.contains("_batched") {
            return;
        }
        for word in mentions::words(text) {
            if let Some((name, end)) = word.rsplit_once("_batched")
                && ENDS.contains(&end)
            {
                self.names.insert(name.to_owned());
            }
        }
    }

    /// A macro may put a name together: `[<$name _batched>]`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.names.contains("")
    }
}
