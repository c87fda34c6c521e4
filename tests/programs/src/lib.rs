//! Code shared by the programs that tests start.

pub mod built;
pub mod client;
pub mod engine;
pub mod odd;
#[cfg(target_os = "linux")]
pub mod processes;

/// Pseudo-random numbers, the same each time: Marsaglia's xorshift.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) % limit.max(1)
    }
}
