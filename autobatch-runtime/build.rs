//! Tells the crate whether it is optimised.
//!
//! Where nothing is, `inline(always)` makes generated code twice as large, for hardly any speed: so it is
//! `cfg_attr(optimised, inline(always))`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level != "0") {
        println!("cargo::rustc-cfg=optimised");
    }
}
