#![no_main]

libfuzzer_sys::fuzz_target!(
    init: tabia_fuzz::write_seeds("engines_toml"),
    |data: &[u8]| tabia_fuzz::engines_toml(data)
);
