#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("ctg_book"),
    |data: &[u8]| tabia_fuzz::ctg_book(data)
);
