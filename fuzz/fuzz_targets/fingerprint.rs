//! See `phaselock_tests::fuzz::fingerprint`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    phaselock_tests::fuzz::fingerprint(data);
});
