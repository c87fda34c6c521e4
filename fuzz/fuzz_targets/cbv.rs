#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("cbv"),
    |data: &[u8]| tabia_fuzz::cbv(data)
);
