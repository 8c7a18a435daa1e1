//! See `phaselock_tests::fuzz::motion`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    phaselock_tests::fuzz::motion(data);
});
