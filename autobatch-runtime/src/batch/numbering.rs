//! How a run counts its members, and where these stand in the columns.

use crate::api::options::Options;

/// Where the members that run stand in the columns, and how users number them.
///
/// A run counts those that run: 0, 1, 2, … In the columns there may be others between them, which are absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Numbering<'a> {
    /// The place of each, ascending; `None` if none is absent.
    places: Option<&'a [usize]>,
    /// The number of the first place.
    first: usize,
}

impl<'a> Numbering<'a> {
    pub(crate) fn of(options: &'a Options) -> Self {
        Numbering {
            places: options.only.as_ref().and_then(|only| only.places()),
            first: options.first_member,
        }
    }

    /// How many members run, of so many.
    pub(crate) fn count(self, members: usize) -> usize {
        self.places.map_or(members, <[usize]>::len)
    }

    /// Whether no member is absent.
    #[cfg_attr(optimised, inline(always))]
    pub fn is_whole(self) -> bool {
        self.places.is_none()
    }

    /// The member's place in the columns, and among the results.
    #[cfg_attr(optimised, inline(always))]
    pub fn place(self, member: usize) -> usize {
        match self.places {
            None => member,
            Some(places) => places[member],
        }
    }

    /// The number that users know the member by.
    pub(crate) fn shown(self, member: usize) -> usize {
        self.first.saturating_add(self.place(member))
    }
}
