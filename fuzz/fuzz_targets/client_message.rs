//! See `phaselock_tests::fuzz::client_message`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    phaselock_tests::fuzz::client_message(data);
});
