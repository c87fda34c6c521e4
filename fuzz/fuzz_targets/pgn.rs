#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("pgn"),
    |data: &[u8]| tabia_fuzz::pgn(data)
);
