#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("scdb"),
    |data: &[u8]| tabia_fuzz::scdb(data)
);
