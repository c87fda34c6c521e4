//! Lists the players of an index, those with most games first:
//! `cargo run -p tabia-index --example index list_players`

use tabia_index::players;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (_folder, index) = crate::common::index()?;
    for (name, games) in players(&index, u64::MAX)?.iter().take(10) {
        println!("{games:4} {name}");
    }
    Ok(())
}
