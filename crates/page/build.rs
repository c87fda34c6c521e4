//! The module is called as a library, so its caller runs the constructors, once: without this the
//! linker runs them, and the destructors, at each call.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "wasi") {
        println!("cargo::rustc-link-arg-cdylib=--export=__wasm_call_ctors");
    }
}
