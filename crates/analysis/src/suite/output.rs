//! Writes a position as a line of EPD, or as a short game.

use std::fmt::Write as _;

use shakmaty::Chess;

use super::entry::StartPosition;
use tabia_book::eval::Value;
use tabia_games::{self as games, Game, Item};
use tabia_notation as notation;
use tabia_notation::openings;

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One line for each position.
    Epd {
        /// How to write the two counters of a FEN.
        counters: Counters,
        /// Whether to add value, depth and a number.
        operations: bool,
    },
    /// One game for each position.
    Pgn,
}

/// How the counters of a FEN are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counters {
    /// Six fields, as the official suites.
    #[default]
    Fen,
    /// `hmvc 3; fmvn 5;`, which all managers honour.
    Epd,
    /// Not at all.
    None,
}

/// Appends a position; `number` is its index, `name` the name of the suite.
pub(super) fn write(
    form: Form,
    entry: &StartPosition,
    position: &Chess,
    name: &str,
    number: u64,
    out: &mut String,
) {
    let (counters, operations) = match form {
        Form::Pgn => return write_game(entry, out),
        Form::Epd {
            counters,
            operations,
        } => (counters, operations),
    };
    let fen = notation::fen(position);
    let fields = fen.rsplitn(3, ' ').last().unwrap_or(&fen);
    // With operations after FEN counters both managers would ignore the counters.
    let counters = match (counters, operations) {
        (Counters::Fen, true) => Counters::Epd,
        (counters, _) => counters,
    };
    match counters {
        Counters::Fen => out.push_str(&fen),
        Counters::None => out.push_str(fields),
        Counters::Epd => {
            let (half, full) = (entry.halfmoves, entry.fullmoves);
            let _ = write!(out, "{fields} hmvc {half}; fmvn {full};");
        }
    }
    if operations {
        if let Some(eval) = &entry.eval {
            let ce = Value::to_ce(eval.value, shakmaty::Color::White);
            let _ = write!(out, " ce {ce};");
            if eval.depth > 0 {
                let _ = write!(out, " acd {};", eval.depth);
            }
            if eval.nodes > 0 {
                let _ = write!(out, " acn {};", eval.nodes);
            }
        }
        let _ = write!(out, " id \"{name}.{number}\";");
    }
    out.push('\n');
}

/// Writes a game that ends in the position.
fn write_game(entry: &StartPosition, out: &mut String) {
    let Some((positions, moves)) = entry.line() else {
        return;
    };
    let mut game = Game::default();
    game.tags.set("Event", "Tabia suite");
    if let Some(opening) = openings::find_in_line(&positions) {
        game.tags.set("ECO", opening.eco);
        game.tags.set("Opening", opening.name);
    }
    game.set_up = !entry.start.is_empty();
    game.movetext = moves.iter().map(|mv| Item::Move(*mv)).collect();
    game.positions = match entry.path.is_empty() {
        // With its counters.
        true => entry.position().into_iter().collect(),
        false => positions,
    };
    game.moves = moves;
    games::write_pgn(&game, out);
}
