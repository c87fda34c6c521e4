#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("bkt"),
    |data: &[u8]| tabia_fuzz::bkt(data)
);
