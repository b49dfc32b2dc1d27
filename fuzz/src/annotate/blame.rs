//! Which function an error belongs to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::cargo::{Place, Problem};

/// To whom an error belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Blame {
    /// A function with the attribute, by its number.
    Function(usize),
    /// An `impl` block with the attribute, by its number; no function of it in particular.
    Block(usize),
    /// Nobody can be seen.
    Nobody,
}

/// The parts of the files as they are compiled.
#[derive(Clone, Default, Debug)]
pub struct Map {
    files: BTreeMap<PathBuf, Vec<(Range<usize>, Blame)>>,
}

impl Map {
    /// Adds a function or block with the attribute.
    pub fn add(&mut self, file: &Path, range: Range<usize>, blame: Blame) {
        self.files.entry(file.to_path_buf()).or_default().push((range, blame));
    }

    /// Whose an error is. A function goes before a block, the error's own place before those that it mentions.
    pub fn blame(&self, problem: &Problem, root: &Path) -> Blame {
        let of = |places: &[Place], functions: bool| {
            places
                .iter()
                .flat_map(|place| self.at(place, root))
                .find(|blame| matches!(blame, Blame::Function(_)) == functions)
        };
        of(&problem.primary, true)
            .or_else(|| of(&problem.others, true))
            .or_else(|| of(&problem.primary, false))
            .or_else(|| of(&problem.others, false))
            .unwrap_or(Blame::Nobody)
    }

    fn at(&self, place: &Place, root: &Path) -> impl Iterator<Item = Blame> {
        let file = root.join(&place.file);
        let file = file.canonicalize().unwrap_or(file);
        let parts = self.files.get(&file).map_or(&[][..], |parts| parts);
        let start = place.bytes.start;
        parts.iter().filter(move |(range, _)| range.contains(&start)).map(|(_, blame)| *blame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(primary: &[(&str, usize)], others: &[(&str, usize)]) -> Problem {
        let places = |list: &[(&str, usize)]| {
            list.iter().map(|(file, at)| Place { file: file.into(), bytes: *at..*at + 1 }).collect()
        };
        Problem {
            message: String::new(),
            has_code: true,
            rendered: String::new(),
            primary: places(primary),
            others: places(others),
        }
    }

    #[test]
    fn a_function_is_blamed_before_its_block() {
        let mut map = Map::default();
        map.add(Path::new("/t/a.rs"), 0..100, Blame::Block(0));
        map.add(Path::new("/t/a.rs"), 10..20, Blame::Function(7));
        map.add(Path::new("/t/a.rs"), 20..30, Blame::Function(8));
        let of = |primary: &[_], others: &[_]| map.blame(&problem(primary, others), Path::new("/t"));
        assert_eq!(of(&[("a.rs", 10)], &[]), Blame::Function(7));
        assert_eq!(of(&[("a.rs", 20)], &[("a.rs", 10)]), Blame::Function(8));
        assert_eq!(of(&[("a.rs", 2)], &[("a.rs", 19)]), Blame::Function(7));
        assert_eq!(of(&[("a.rs", 2)], &[]), Blame::Block(0));
        // Through a macro of another crate to the place of its call.
        assert_eq!(of(&[("/rustc/m.rs", 2), ("a.rs", 12)], &[]), Blame::Function(7));
        assert_eq!(of(&[("b.rs", 12)], &[]), Blame::Nobody);
    }
}
