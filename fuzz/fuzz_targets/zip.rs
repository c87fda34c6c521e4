#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("zip"),
    |data: &[u8]| tabia_fuzz::zip(data)
);
