//! The fuzz program of all targets. `PHASELOCK_FUZZ_TARGET` names the one to run.
#![no_main]

use std::sync::LazyLock;

use phaselock_tests::fuzz::{Body, TARGETS};

static TARGET: LazyLock<Body> = LazyLock::new(|| {
    let wanted = std::env::var("PHASELOCK_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(name, _)| *name == wanted);
    let Some((_, body)) = found else {
        let names: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
        panic!("PHASELOCK_FUZZ_TARGET is '{wanted}'; set it to one of {}", names.join(", "));
    };
    *body
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    TARGET(data);
});
