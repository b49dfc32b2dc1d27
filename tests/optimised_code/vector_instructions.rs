//! The shape of the machine code: the hot loops of key kernels are vector code on every instruction set.
//!
//! Compiles `examples/fractal.rs` as a user would, optimised and without flags for a CPU, and reads the
//! assembly.
#![cfg(target_arch = "x86_64")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The assembly of the example.
fn assembly() -> String {
    // The directory that this test was built in, which has the crates that the example needs, or keeps them for who comes next.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is part of the build directory");
    let status = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["rustc", "--release", "--offline", "--locked", "--example", "fractal", "--target-dir"])
        .arg(target)
        .args(["--", "--emit", "asm", "-C", "codegen-units=1"])
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the example compiles");
    let examples = std::fs::read_dir(target.join("release/examples")).expect("the example is there");
    let files = examples.map(|entry| entry.expect("an entry").path());
    let newest = |path: &PathBuf| path.metadata().and_then(|m| m.modified()).expect("a time");
    let file = files.filter(|path| path.extension().is_some_and(|e| e == "s")).max_by_key(newest);
    std::fs::read_to_string(file.expect("there is assembly")).expect("it can be read")
}

/// The instructions of each function whose symbol `wanted` accepts.
fn functions(assembly: &str, wanted: impl Fn(&str) -> bool) -> Vec<Vec<&str>> {
    let mut functions = Vec::new();
    let mut lines = assembly.lines();
    while let Some(line) = lines.next() {
        if line.ends_with(':') && !line.starts_with('.') && wanted(line) {
            functions
                .push(lines.by_ref().take_while(|l| !l.contains(".cfi_endproc")).map(str::trim).collect());
        }
    }
    functions
}

/// The innermost loops: from a label to a jump back to it, without another such jump inside.
fn loops<'a>(function: &[&'a str]) -> Vec<Vec<&'a str>> {
    let label = |line: &str| line.strip_suffix(':').map(str::to_owned);
    let mut spans = Vec::new();
    for (end, line) in function.iter().enumerate() {
        let Some(target) = line.strip_prefix('j').and_then(|jump| jump.split_whitespace().nth(1)) else {
            continue;
        };
        let start = function[..end].iter().rposition(|line| label(line).as_deref() == Some(target));
        spans.extend(start.map(|start| (start, end)));
    }
    let inner = |&&(start, end): &&(usize, usize)| {
        !spans.iter().any(|&(s, e)| (s, e) != (start, end) && start <= s && e <= end)
    };
    spans.iter().filter(inner).map(|&(start, end)| function[start..end].to_vec()).collect()
}

/// Whether a loop without calls has all of `wanted` (instruction, register) and none of `unwanted`.
fn has_loop(function: &[&str], wanted: &[(&str, &str)], unwanted: &[&str]) -> bool {
    loops(function).iter().any(|body| {
        let has = |(instruction, register): &(&str, &str)| {
            body.iter().any(|line| line.starts_with(instruction) && line.contains(register))
        };
        wanted.iter().all(has)
            && !body
                .iter()
                .any(|line| line.starts_with("call") || unwanted.iter().any(|u| line.starts_with(u)))
    })
}

/// Whether an instruction stores some lanes of a vector.
fn is_masked_store(line: &str) -> bool {
    let masked = line.starts_with("vmaskmov") || line.starts_with("vpmaskmov");
    masked && line.ends_with(')')
}

#[test]
fn hot_loops_are_vector_code() {
    let assembly = assembly();
    // Microcode on some CPUs; lanes that are not there are merged by value. (Not where the burning ship and Collatz' sequence leave their loops,
    // once for a strip: there LLVM makes such stores of it.)
    let frames = functions(&assembly, |symbol| {
        let of_frames = symbol.contains("_batched_frame") || symbol.contains("_batched_vector");
        let is_known = symbol.contains("ship") || symbol.contains("collatz");
        let of_loop = symbol.contains("closure");
        of_frames && symbol.contains("_avx2") && (of_loop || !is_known)
    });
    assert!(!frames.is_empty(), "the example has nested frames");
    for line in frames.iter().flatten() {
        assert!(!is_masked_store(line), "{line}");
    }
    let some_has = |name: &dyn Fn(&str) -> bool, wanted: &[(&str, &str)], unwanted: &[&str]| {
        functions(&assembly, name).iter().any(|function| has_loop(function, wanted, unwanted))
    };
    let scalar = ["mulss", "vmulss", "addss", "vaddss"];
    for (isa, register) in [("avx512", "zmm"), ("avx2", "ymm")] {
        let body = |symbol: &str| symbol.contains(&format!("__mandel_batched_body_{isa}"));
        let wanted = [("vmulps", register), ("vaddps", register), ("vsubps", register)];
        assert!(some_has(&body, &wanted, &scalar), "mandel on {isa} has a loop of vector code");
        let body = |symbol: &str| symbol.contains(&format!("__collatz_batched_body_{isa}"));
        let wanted = [("vpsrlq", register), ("vpaddq", register)];
        assert!(some_has(&body, &wanted, &["shr", "imul"]), "collatz on {isa} has a loop of vector code");
    }
    // That for every x86-64 may be inlined into its caller.
    let elsewhere = |symbol: &str| !symbol.contains("_body_avx");
    let wanted = [("mulps", "xmm"), ("addps", "xmm"), ("subps", "xmm")];
    assert!(some_has(&elsewhere, &wanted, &scalar), "mandel without AVX has a loop of vector code");
}
