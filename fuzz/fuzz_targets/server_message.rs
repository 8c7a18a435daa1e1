//! See `phaselock_tests::fuzz::server_message`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    phaselock_tests::fuzz::server_message(data);
});
