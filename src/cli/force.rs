//! Whether a file may be replaced.

use clap::Args;

use tabia_io::atomic::Old;

/// The argument of every command that writes a file.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Force {
    /// Replaces what is there already; the old one is kept, with .bak behind
    /// its name
    #[arg(short, long)]
    force: bool,
}

impl Force {
    pub(super) fn old(self) -> Old {
        match self.force {
            true => Old::Keep,
            false => Old::Refuse,
        }
    }
}
