//! See `phaselock_tests::fuzz::bits`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    phaselock_tests::fuzz::bits(data);
});
