//! Reads positions as they are found (FEN, EPD, a board alone) and writes them as FEN:
//! `cargo run -p tabia-notation --example notation read_positions`

use tabia_notation::{fen, position};

pub(crate) fn main() {
    for text in [
        "startpos",
        "[FEN \"r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\"]",
        "4k3/8/8/8/8/8/8/4K2R w K - hmvc 3; fmvn 40;",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "8/8/8/8/8/8/8/8 w - -",
    ] {
        match position(text) {
            Ok(position) => println!("{}", fen(&position)),
            Err(error) => println!("{error}"),
        }
    }
}
