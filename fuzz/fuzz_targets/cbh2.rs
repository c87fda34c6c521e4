#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("cbh2"),
    |data: &[u8]| tabia_fuzz::cbh2(data)
);
