#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("nic_text"),
    |data: &[u8]| tabia_fuzz::nic_text(data)
);
