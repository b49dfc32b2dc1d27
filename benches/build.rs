//! Compiles the ISPC counterparts of the kernels and of the styles if the environment variable `ISPC` names a compiler.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The suffix of the exported symbols, and ISPC's target. AVX-512 is that of Skylake, which every CPU with
/// AVX-512 has; batches use no more of it.
const TARGETS: [(&str, &str); 3] =
    [("avx512", "avx512skx-x16"), ("avx2", "avx2-i32x8"), ("sse4", "sse4-i32x4")];

fn main() {
    println!("cargo:rerun-if-env-changed=ISPC");
    println!("cargo:rerun-if-changed=ispc");
    println!("cargo:rustc-check-cfg=cfg(ispc)");
    let Some(ispc) = env::var_os("ISPC").filter(|path| !path.is_empty()) else { return };
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        println!("cargo:warning=ISPC is set, but its kernels are compiled for x86-64 only");
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut library = cc::Build::new();
    for file in ["kernels", "styles"] {
        for (suffix, target) in TARGETS {
            library.object(compile(Path::new(&ispc), file, suffix, target, &out));
        }
    }
    library.compile("autobatch_bench_ispc");
    println!("cargo:rustc-cfg=ispc");
}

fn compile(ispc: &Path, file: &str, suffix: &str, target: &str, out: &Path) -> PathBuf {
    let object = out.join(format!("{file}_{suffix}.o"));
    let status = Command::new(ispc)
        .arg(format!("ispc/{file}.ispc"))
        .args(["-O3", "--arch=x86-64", "--pic", "--wno-perf"])
        .arg(format!("--target={target}"))
        .arg(format!("-DISA={suffix}"))
        .arg("-o")
        .arg(&object)
        .status();
    match status {
        Ok(status) if status.success() => object,
        Ok(status) => panic!("{} for {target}: {status}", ispc.display()),
        Err(error) => panic!("ISPC names {}, which can't be run: {error}", ispc.display()),
    }
}
