//! See `phaselock_tests::fuzz::known_hosts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    phaselock_tests::fuzz::known_hosts(data);
});
