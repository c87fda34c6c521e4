//! Parses what a GUI sends: `cargo run -p tabia-uci --example uci gui_line`

use tabia_uci::gui::{self, GuiCommand};

pub(crate) fn main() {
    let line = b"position startpos moves e2e4 e7e5";
    let position = gui::position(line).expect("it has a first position");
    let moves: Vec<_> = gui::moves(position.moves).collect();
    println!("moves from the start position: {}", moves.join(", "));

    // Unknown words before a command are skipped, as the protocol demands.
    match gui::parse(b"joho go wtime 60000 btime 58000 searchmoves g1f3 b1c3") {
        GuiCommand::Go(go) => {
            println!("the longest search for White: {:?}", go.longest(Some(true)));
            println!("only these moves: {:?}", go.searchmoves);
        }
        other => println!("{other:?}"),
    }
}
