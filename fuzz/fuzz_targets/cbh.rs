#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("cbh"),
    |data: &[u8]| tabia_fuzz::cbh(data)
);
