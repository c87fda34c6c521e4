#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("obk"),
    |data: &[u8]| tabia_fuzz::obk(data)
);
