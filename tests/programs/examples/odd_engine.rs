//! `odd_engine [FAULT]`: the engine of [`test_programs::odd`] as a process.

fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    test_programs::engine::run(test_programs::odd::OddEngine::new(&fault));
}
