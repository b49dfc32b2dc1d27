//! Links between pages lead to files and headings that are there, and the book lists its chapters. No network is asked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the repository is read on the web.
const ON_THE_WEB: &str = "https://github.com/autobatch/autobatch/blob/main/";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Markdown pages in a folder and those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// The targets of links in a page, apart from those in code.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim_start_matches("//!").trim_start_matches("///").trim_start();
        fenced ^= line.starts_with("```");
        // Every second part stands between backticks.
        for prose in line.split('`').step_by(2).filter(|_| !fenced) {
            found.extend(prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
        }
    }
    // A text between backticks stands in front of its link.
    found.extend(text.split("`](").skip(1).filter_map(|rest| rest.split(')').next()));
    found
}

/// A heading as the web and mdBook name it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).expect("a page");
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// Why a link from a file leads nowhere.
fn broken(from: &Path, target: &str) -> Option<String> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let page = match path.strip_prefix(ON_THE_WEB) {
        Some(path) => root().join(path),
        None if path.contains("://") || path.starts_with("mailto:") => return None,
        None if path.is_empty() => from.to_path_buf(),
        None => from.parent().expect("a folder").join(path),
    };
    if !page.exists() {
        return Some(format!("{}: there is no {target}", from.display()));
    }
    let has_headings = page.extension().is_some_and(|extension| extension == "md");
    let missing = has_headings && !heading.is_empty() && !anchors(&page).contains(heading);
    missing.then(|| format!("{}: {} has no heading {heading}", from.display(), page.display()))
}

#[test]
fn links_of_pages_resolve() {
    let mut files = pages(&root().join("book"));
    files.extend(pages(&root().join("docs")));
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md"] {
        files.push(root().join(page));
    }
    let mut wrong = Vec::new();
    let mut links = 0;
    for file in &files {
        for target in targets(&fs::read_to_string(file).expect("a page")) {
            links += 1;
            wrong.extend(broken(file, target));
        }
    }
    assert!(links > 100, "{links} links");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pictures_of_the_book_are_those_of_the_pages() {
    for name in ["fib.svg", "pipeline.svg"] {
        let read = |folder: &str| fs::read(root().join(folder).join(name)).expect("a picture");
        assert!(
            read("book/src/pictures") == read("docs/pictures"),
            "cp docs/pictures/{name} book/src/pictures"
        );
    }
}

#[test]
fn links_of_the_crate_to_the_guide_resolve() {
    let file = root().join("src/lib.rs");
    let text = fs::read_to_string(&file).expect("the crate");
    let to_guide: Vec<&str> =
        targets(&text).into_iter().filter(|target| target.starts_with(ON_THE_WEB)).collect();
    assert!(to_guide.len() > 10);
    let wrong: Vec<String> = to_guide.iter().filter_map(|target| broken(&file, target)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_book_lists_all_its_chapters_and_a_crate_runs_their_code() {
    let summary = fs::read_to_string(root().join("book/src/SUMMARY.md")).expect("the summary");
    let listed: BTreeSet<&str> = targets(&summary).into_iter().collect();
    let crates = ["src/lib.rs", "autobatch-arrow/src/lib.rs", "autobatch-nuts/src/lib.rs"]
        .map(|path| fs::read_to_string(root().join(path)));
    let crate_text = crates.map(|text| text.expect("a crate")).concat();
    for page in pages(&root().join("book/src")) {
        let name = page.file_name().expect("a name").to_str().expect("plain letters");
        assert!(name == "SUMMARY.md" || listed.contains(name), "{name} is in no summary");
        if fs::read_to_string(&page).expect("a page").contains("```rust") {
            assert!(crate_text.contains(&format!("/book/src/{name}")), "nobody runs the code of {name}");
        }
    }
}
