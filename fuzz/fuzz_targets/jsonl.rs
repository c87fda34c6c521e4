#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("jsonl"),
    |data: &[u8]| tabia_fuzz::jsonl(data)
);
