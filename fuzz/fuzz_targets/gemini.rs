//! Decides nothing: hands the bytes of libFuzzer to the target `gemini`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    wire_fuzz::try_input("gemini", bytes);
});
