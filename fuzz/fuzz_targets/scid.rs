#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("scid"),
    |data: &[u8]| tabia_fuzz::scid(data)
);
