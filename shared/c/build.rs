//! Names the shared library by the version of its interface, `PHASELOCK_ABI`, so that programs find
//! no other version at run time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libphaselock_c.so.1");
    }
}
