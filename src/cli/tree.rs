//! x
use clap::Args;
use std::io::Write;
pub(super) const EXAMPLES: &str = "";
/// x
#[derive(Args, Debug)]
pub(super) struct TreeArgs {}
pub(super) fn run(_: &TreeArgs, _: &mut impl Write) -> anyhow::Result<u8> {
    Ok(0)
}
