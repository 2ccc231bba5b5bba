//! Decides nothing: hands the bytes of libFuzzer to the target `sse`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    wire_fuzz::try_input("sse", bytes);
});
