#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("bin"),
    |data: &[u8]| tabia_fuzz::bin(data)
);
