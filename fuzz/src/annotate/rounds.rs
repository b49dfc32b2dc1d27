//! Compiles again and again, until every function that still has the attribute compiles.
//!
//! A round compiles the functions that are known to compile (*good*) with a *trial* set beside them. A function that an
//! error belongs to gets its verdict and loses the attribute. Where an error belongs to an `impl` block, each of its functions gets
//! an attribute of its own for some rounds, so that it can be seen whose the error is. Where that does not help, a half of the trial
//! set is put aside for later: what is left is judged by itself, down to one function. After a clean round the
//! trial set is good, and what was put aside last is tried.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use super::blame::{Blame, Map};
use super::candidates::Function;
use super::cargo::{Cargo, Checked, Problem};
use super::copy::Copy;
use super::insertion::Annotated;
use super::{Judged, Outcome, Request, Verdict};

/// A function of the tree, by file and place in the file.
type Id = usize;

/// What can only have the attribute together: a function, or all those of an `impl` block of a trait.
type Unit = usize;

struct Rounds<'a> {
    copy: &'a mut Copy,
    request: &'a Request,
    cargo: Cargo,
    /// All functions: the file, and the place in it.
    functions: Vec<(usize, usize)>,
    /// Those that a file's begin at.
    first: Vec<Id>,
    /// The block of each function, numbered across files.
    blocks: BTreeMap<Id, usize>,
    units: Vec<Vec<Id>>,
    unit_of: BTreeMap<Id, Unit>,
    good: BTreeSet<Unit>,
    trial: BTreeSet<Unit>,
    later: Vec<BTreeSet<Unit>>,
    /// The blocks whose functions are apart, now or before.
    apart: BTreeMap<usize, bool>,
    verdicts: BTreeMap<Id, Verdict>,
    /// The error of this round that nobody could be seen to have.
    unseen: Option<String>,
    compilations: usize,
}

/// Finds the verdict of every function.
///
/// # Errors
///
/// See [`super::annotate`].
pub fn run(copy: &mut Copy, request: &Request, say: &mut dyn FnMut(&str)) -> io::Result<Outcome> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| request.autobatch.join("target"), PathBuf::from);
    let cargo = Cargo {
        folder: copy.root.clone(),
        target: target.join("annotate"),
        arguments: copy.arguments.clone(),
        timeout: request.timeout,
        memory: request.memory,
    };
    let mut rounds = Rounds::new(copy, request, cargo);
    let left_out = rounds.base(say)?;
    let absent = rounds.absent(say)?;
    rounds.judge(say)?;
    let mut functions = Vec::new();
    for (id, (file, index)) in rounds.functions.iter().enumerate() {
        let Some(verdict) = rounds.verdicts.get(&id) else { continue };
        let file = &rounds.copy.files[*file];
        let Function { name, line, .. } = &file.found.functions[*index];
        let (file, name, verdict) = (file.shown.clone(), name.clone(), verdict.clone());
        functions.push(Judged { file, line: *line, name, verdict });
    }
    Ok(Outcome {
        tree: request.path.display().to_string(),
        functions,
        absent,
        left_out,
        compilations: rounds.compilations,
        copy: request.keep.then(|| rounds.copy.folder().to_path_buf()),
    })
}

impl<'a> Rounds<'a> {
    fn new(copy: &'a mut Copy, request: &'a Request, cargo: Cargo) -> Self {
        let (mut functions, mut first, mut blocks) = (Vec::new(), Vec::new(), BTreeMap::new());
        let (mut units, mut unit_of): (Vec<Vec<Id>>, _) = (Vec::new(), BTreeMap::new());
        let mut block_count = 0;
        for (number, file) in copy.files.iter().enumerate() {
            first.push(functions.len());
            let mut of_blocks: BTreeMap<usize, Unit> = BTreeMap::new();
            for (index, function) in file.found.functions.iter().enumerate() {
                let id = functions.len();
                functions.push((number, index));
                if let Some(block) = function.block {
                    blocks.insert(id, block_count + block);
                }
                if !function.counted {
                    continue;
                }
                let together = function.block.filter(|block| !file.found.blocks[*block].divisible);
                let unit = together.and_then(|block| of_blocks.get(&block).copied()).unwrap_or_else(|| {
                    units.push(Vec::new());
                    units.len() - 1
                });
                units[unit].push(id);
                unit_of.insert(id, unit);
                if let Some(block) = together {
                    of_blocks.insert(block, unit);
                }
            }
            block_count += file.found.blocks.len();
        }
        let trial = (0..units.len()).collect();
        Rounds {
            copy,
            request,
            cargo,
            functions,
            first,
            blocks,
            units,
            unit_of,
            good: BTreeSet::new(),
            trial,
            later: Vec::new(),
            apart: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            unseen: None,
            compilations: 0,
        }
    }

    fn function(&self, id: Id) -> &Function {
        let (file, index) = self.functions[id];
        &self.copy.files[file].found.functions[index]
    }

    fn shown(&self, id: Id) -> &str {
        &self.copy.files[self.functions[id].0].shown
    }

    fn check(&mut self) -> io::Result<Checked> {
        self.compilations += 1;
        self.cargo.check()
    }

    /// Compiles without attributes; loose files that do not compile are left out.
    fn base(&mut self, say: &mut dyn FnMut(&str)) -> io::Result<Vec<(String, String)>> {
        for file in 0..self.copy.files.len() {
            let text = self.copy.files[file].text.clone();
            self.copy.write(file, &text)?;
        }
        let mut left_out = Vec::new();
        loop {
            let begin = Instant::now();
            let problems = match self.check()? {
                Checked::Clean => {
                    say(&format!("compiles without the attribute in {:.1} s", begin.elapsed().as_secs_f64()));
                    return Ok(left_out);
                }
                Checked::Problems(problems) => problems,
                Checked::Failed(text) => return Err(io::Error::other(format!("cargo fails:\n{text}"))),
                Checked::TimedOut => {
                    return Err(io::Error::other("the tree takes too long without the attribute"));
                }
            };
            let mut files = Vec::new();
            for problem in &problems {
                let places = problem.primary.iter().chain(&problem.others);
                let paths = places.map(|place| self.copy.root.join(&place.file));
                let known = |path: &PathBuf| self.copy.files.iter().any(|file| file.path == *path);
                if let Some(path) = paths.filter_map(|path| path.canonicalize().ok()).find(known) {
                    let shown = self.copy.files.iter().find(|file| file.path == path);
                    let shown = shown.map(|file| file.shown.clone()).unwrap_or_default();
                    if !left_out.iter().any(|(file, _)| *file == shown) {
                        left_out.push((shown, problem.message.clone()));
                    }
                    files.push(path);
                }
            }
            if !self.copy.leave_out(&files)? {
                let text: Vec<&str> =
                    problems.iter().take(5).map(|problem| problem.rendered.as_str()).collect();
                let text = text.concat();
                return Err(io::Error::other(format!(
                    "the tree does not compile without the attribute:\n{text}"
                )));
            }
            say(&format!("{} files do not compile without the attribute", left_out.len()));
        }
    }

    /// Takes out what is not compiled: an argument that the attribute does not know tells where it is expanded.
    fn absent(&mut self, say: &mut dyn FnMut(&str)) -> io::Result<usize> {
        let mut present = BTreeSet::new();
        // A package is compiled only after those that it depends on.
        loop {
            let map = self.write("#[::autobatch::autobatch(annotate_is_here)]")?;
            let problems = match self.check()? {
                Checked::Problems(problems) => problems,
                Checked::Clean => break,
                Checked::Failed(text) => return Err(io::Error::other(format!("cargo fails:\n{text}"))),
                Checked::TimedOut => {
                    return Err(io::Error::other("the attribute takes too long to be found everywhere"));
                }
            };
            let mut found = BTreeSet::new();
            for problem in &problems {
                match map.blame(problem, &self.copy.root) {
                    Blame::Function(id) => found.extend(self.unit_of.get(&id).copied()),
                    Blame::Block(block) => {
                        let of_block = self.blocks.iter().filter(|(_, of)| **of == block);
                        found.extend(of_block.filter_map(|(id, _)| self.unit_of.get(id).copied()));
                    }
                    Blame::Nobody => {}
                }
            }
            self.trial.retain(|unit| !found.contains(unit));
            let before = present.len();
            present.append(&mut found);
            if present.len() == before {
                break;
            }
        }
        let count = |units: &BTreeSet<Unit>| units.iter().map(|unit| self.units[*unit].len()).sum::<usize>();
        let absent = count(&self.trial);
        self.trial = present;
        // An `impl` block with the attribute passes over some methods.
        for unit in self.trial.clone() {
            for id in self.units[unit].clone() {
                if let Some(why) = self.function(id).passed_over {
                    self.verdicts.insert(id, Verdict::Refused(why.into()));
                    if self.units[unit].len() == 1 {
                        self.trial.remove(&unit);
                    }
                }
            }
        }
        let here = self.trial.iter().map(|unit| self.units[*unit].len()).sum::<usize>();
        say(&format!("{here} functions to judge, {absent} in code that is not compiled"));
        Ok(absent)
    }

    /// The rounds.
    fn judge(&mut self, say: &mut dyn FnMut(&str)) -> io::Result<()> {
        let attribute = match self.request.strict {
            true => "#[::autobatch::autobatch(strict)]",
            false => "#[::autobatch::autobatch]",
        };
        while !self.trial.is_empty() || !self.later.is_empty() {
            if self.trial.is_empty() {
                self.trial = self.later.pop().unwrap_or_default();
                continue;
            }
            let map = self.write(attribute)?;
            let begin = Instant::now();
            let checked = self.check()?;
            let before: BTreeSet<Id> = self.verdicts.keys().copied().collect();
            let size = self.trial.len();
            match checked {
                Checked::Clean if self.apart.values().any(|now| *now) => {
                    self.apart.values_mut().for_each(|now| *now = false);
                }
                Checked::Clean => {
                    self.good.append(&mut self.trial);
                    self.trial = self.later.pop().unwrap_or_default();
                }
                Checked::Problems(problems) => self.sort_out(&map, &problems),
                Checked::Failed(text) => self.narrow(&format!("the compiler stops: {text}"), &text),
                Checked::TimedOut => {
                    let time = self.request.timeout.as_secs();
                    self.narrow(&format!("the compiler does not end in {time} s"), "");
                }
            }
            // A large tree takes long, and what is known already may be enough.
            for (id, verdict) in self.verdicts.iter().filter(|(id, _)| !before.contains(id)) {
                if let Verdict::Broken { message, .. } = verdict {
                    let Function { name, line, .. } = self.function(*id);
                    say(&format!("broken: {}:{line}: {name}: {message}", self.shown(*id)));
                }
            }
            if let Some(error) = self.unseen.take() {
                error.lines().take(12).for_each(&mut *say);
            }
            say(&format!(
                "round {}: {size} on trial, {} judged, {} good, {} later; {:.1} s",
                self.compilations,
                self.verdicts.len() - before.len(),
                self.good.len(),
                self.later.iter().map(BTreeSet::len).sum::<usize>(),
                begin.elapsed().as_secs_f64()
            ));
        }
        for unit in &self.good {
            for id in &self.units[*unit] {
                self.verdicts.entry(*id).or_insert(Verdict::Batched);
            }
        }
        Ok(())
    }

    /// Writes the files, and tells what stands where.
    fn write(&mut self, attribute: &str) -> io::Result<Map> {
        let mut map = Map::default();
        let mut block_count = 0;
        for number in 0..self.copy.files.len() {
            let file = &self.copy.files[number];
            let first = self.first[number];
            let attached = |index: usize| self.is_attached(first + index);
            let apart = |block: usize| self.apart.get(&(block_count + block)) == Some(&true);
            let annotated = Annotated::new(&file.text, &file.found, attribute, attached, apart);
            for (index, function) in file.found.functions.iter().enumerate() {
                if attached(index) {
                    let alone = function.block.is_some_and(apart);
                    let from = if alone { function.from } else { function.range.start };
                    let range = annotated.range(&(from..function.range.end));
                    map.add(&file.path, range, Blame::Function(first + index));
                }
            }
            for (index, block) in file.found.blocks.iter().enumerate() {
                map.add(&file.path, annotated.range(&block.range), Blame::Block(block_count + index));
            }
            block_count += file.found.blocks.len();
            self.copy.write(number, &annotated.text)?;
        }
        Ok(map)
    }

    fn is_attached(&self, id: Id) -> bool {
        match self.unit_of.get(&id) {
            Some(unit) => self.good.contains(unit) || self.trial.contains(unit),
            // What has nothing to batch over is part of the programs of its block.
            None => !self.verdicts.contains_key(&id),
        }
    }

    /// Gives verdicts to the functions that have errors; else narrows the trial set.
    fn sort_out(&mut self, map: &Map, problems: &[Problem]) {
        let (mut functions, mut blocks) = (BTreeMap::<Id, Vec<&Problem>>::new(), BTreeMap::new());
        let mut nobody = None;
        for problem in problems {
            match map.blame(problem, &self.copy.root) {
                Blame::Function(id) => functions.entry(id).or_default().push(problem),
                Blame::Block(block) => {
                    blocks.entry(block).or_insert(problem);
                }
                Blame::Nobody => nobody = nobody.or(Some(problem)),
            }
        }
        if !functions.is_empty() {
            for (id, problems) in functions {
                self.verdict(id, of_problems(&problems));
            }
            return;
        }
        let mut later = BTreeSet::new();
        let mut narrowed = false;
        for (block, problem) in blocks {
            let of_block: Vec<Id> =
                self.blocks.iter().filter(|(_, of)| **of == block).map(|(id, _)| *id).collect();
            let units: BTreeSet<Unit> =
                of_block.iter().filter_map(|id| self.unit_of.get(id).copied()).collect();
            let tried: Vec<Unit> = units.intersection(&self.trial).copied().collect();
            match tried[..] {
                [] => continue,
                [unit] => self.verdict(self.units[unit][0], of_problems(&[problem])),
                _ if !self.apart.contains_key(&block) => {
                    self.apart.insert(block, true);
                }
                _ => {
                    for unit in &tried[tried.len() / 2..] {
                        self.trial.remove(unit);
                        later.insert(*unit);
                    }
                }
            }
            narrowed = true;
        }
        if !later.is_empty() {
            self.later.push(later);
        }
        if !narrowed && let Some(problem) = nobody.or(problems.first()) {
            self.narrow(&problem.message, &problem.rendered);
        }
    }

    /// Halves the trial set, for an error that nobody can be seen to have.
    fn narrow(&mut self, message: &str, rendered: &str) {
        let tried: Vec<Unit> = self.trial.iter().copied().collect();
        match tried[..] {
            [] => {}
            [unit] => {
                let message =
                    message.lines().find(|line| !line.trim().is_empty()).unwrap_or(message).to_string();
                self.verdict(self.units[unit][0], Verdict::Broken { message, rendered: rendered.into() });
            }
            _ => {
                self.unseen = Some(format!("whose is this? {message}\n{rendered}"));
                self.later.push(self.trial.split_off(&tried[tried.len() / 2]));
            }
        }
    }

    /// Gives a function its verdict, and takes the attribute off.
    fn verdict(&mut self, id: Id, verdict: Verdict) {
        let block = self.blocks.get(&id).copied();
        let mut others: Vec<Id> = Vec::new();
        match self.unit_of.get(&id) {
            Some(unit) => {
                self.trial.remove(unit);
                self.good.remove(unit);
                others.extend(&self.units[*unit]);
            }
            None => {
                // A method that has nothing to batch over, of a block that can't be divided.
                let (file, index) = self.functions[id];
                let found = &self.copy.files[file].found;
                let whole = found.functions[index].block.is_some_and(|block| !found.blocks[block].divisible);
                let of_block = self.blocks.iter().filter(|(_, of)| whole && Some(**of) == block);
                others.extend(of_block.map(|(id, _)| *id).filter(|id| self.unit_of.contains_key(id)));
                for unit in others.iter().filter_map(|id| self.unit_of.get(id)) {
                    self.trial.remove(unit);
                    self.good.remove(unit);
                }
            }
        }
        let name = self.function(id).name.clone();
        self.verdicts.insert(id, verdict);
        for other in others {
            self.verdicts.entry(other).or_insert_with(|| Verdict::Unjudged(format!("beside {name}")));
        }
    }
}

/// What `strict` says before a reason.
const STRICT: &str = "`strict`: ";

/// What the attribute says, through a trait of its own, of types that are not `Send` or `Sync`.
const THREADS: &str = "the members of a batch run on several";

/// What rustc says, at the type, of a parameter whose type hides a lifetime where no macro can see it, in another file.
const LIFETIMES: &str = "anonymous lifetimes in `impl Trait` are unstable";

/// Why batched methods have no place, where only rustc sees it: the type is another crate's, or another file has methods of the same
/// names for it.
fn no_place(problem: &Problem) -> Option<&'static str> {
    let Problem { message, rendered, .. } = problem;
    let generated = message.contains("_batched") || message.contains("__autobatch_check_");
    let missing = message.contains("_batched_with` found for") && message.ends_with("[E0599]");
    if missing || message.ends_with("[E0116]") {
        return Some(
            "batched methods stand in an `impl` block of the type itself, which only the crate that defines it can have",
        );
    }
    let several = message.ends_with("[E0034]") && rendered.contains("_batched_with` found");
    let twice = generated && message.ends_with("[E0592]");
    (several || twice).then_some("another `impl` block of the type has such a batched method, too")
}

/// What the errors of a function make of it. What the attribute itself says goes before all that rustc says.
fn of_problems(problems: &[&Problem]) -> Verdict {
    let own = |problem: &&&Problem| {
        (!problem.has_code && problem.message.contains("\nhelp: ")) || problem.message.contains(THREADS)
    };
    let sentence =
        |problem: &Problem| problem.message.split("\nhelp: ").next().unwrap_or_default().to_string();
    let of_attribute: Vec<&&Problem> = problems.iter().filter(own).collect();
    let mut refusals = of_attribute.iter().filter(|problem| !problem.message.starts_with(STRICT));
    if let Some(problem) = refusals.next() {
        return Verdict::Refused(sentence(problem));
    }
    if problems.iter().any(|problem| problem.message.contains(LIFETIMES)) {
        return Verdict::Refused(
            "a lifetime that a parameter's type leaves out has to be written: `View<'_>`".into(),
        );
    }
    if let Some(why) = problems.iter().find_map(|problem| no_place(problem)) {
        return Verdict::Refused(why.into());
    }
    if !of_attribute.is_empty() {
        let mut reasons: Vec<String> = Vec::new();
        for problem in of_attribute {
            let text = sentence(problem);
            let reason = text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest);
            let reason = reason.split_once(": ").map_or(reason, |(_, why)| why).to_string();
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        return Verdict::Scalar(reasons);
    }
    let problem = problems[0];
    Verdict::Broken { message: problem.message.clone(), rendered: problem.rendered.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(message: &str, has_code: bool) -> Problem {
        let message = message.to_string();
        Problem { message, has_code, rendered: String::new(), primary: Vec::new(), others: Vec::new() }
    }

    #[test]
    fn the_attribute_s_own_words_go_first() {
        let strict =
            |why: &str| format!("`strict`: this runs the scalar code for each member: {why}\nhelp: x");
        let (rustc, refusal) = (problem("mismatched types [E0308]", true), problem("async\nhelp: x", false));
        let thread =
            problem("the result can't go to another thread: the members of a batch run on several", true);
        assert!(matches!(of_problems(&[&rustc, &thread]), Verdict::Refused(_)));
        let (one, two) = (problem(&strict("a: b"), false), problem(&strict("c"), false));
        assert_eq!(of_problems(&[&rustc, &one, &refusal]), Verdict::Refused("async".into()));
        assert_eq!(
            of_problems(&[&rustc, &one, &two, &one]),
            Verdict::Scalar(vec!["a: b".into(), "c".into()])
        );
        let twice = problem("duplicate definitions with name `from_batched` [E0592]", true);
        assert!(
            matches!(of_problems(&[&rustc, &twice]), Verdict::Refused(why) if why.starts_with("another"))
        );
        let users_own = problem("duplicate definitions with name `from` [E0592]", true);
        assert!(matches!(of_problems(&[&users_own]), Verdict::Broken { .. }));
        assert!(
            matches!(of_problems(&[&rustc]), Verdict::Broken { message, .. } if message.contains("E0308"))
        );
    }
}
