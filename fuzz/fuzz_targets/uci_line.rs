#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("uci_line"),
    |data: &[u8]| tabia_fuzz::uci_line(data)
);
