//! The result of a search, out of an engine's `info` lines:
//! `cargo run -p tabia-uci --example uci info_lines`

use shakmaty::Color;
use tabia_uci::info::Search;

pub(crate) fn main() {
    let mut search = Search::new(Color::White, 2);
    for line in [
        "info depth 9 multipv 1 score cp 31 nodes 9000 nps 800000 pv e2e4 e7e5",
        "info depth 9 multipv 2 score cp 25 nodes 9900 pv d2d4 d7d5",
        // A bound that contradicts the last exact score refutes it.
        "info depth 10 multipv 1 score cp 12 upperbound nodes 12000 pv e2e4 c7c5",
    ] {
        search.add(line);
    }
    println!("{} nodes", search.nodes);
    for found in search.results().flatten() {
        println!("depth {}: {:?} {:?}", found.depth, found.value, found.moves);
    }
}
