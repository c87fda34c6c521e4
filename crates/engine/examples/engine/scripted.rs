//! The engine of these examples: the program that is named as the second argument, or
//! without one this program itself, started again with the argument `engine`. It then
//! plays the first legal move.

use std::io::{self, BufRead as _, Write as _};

use shakmaty::{CastlingMode, Chess, Position as _};
use tabia_engine::EngineCommand;
use tabia_notation::Line;
use tabia_uci::gui::{self, GuiCommand};

/// How to start the engine.
pub(crate) fn engine() -> EngineCommand {
    let mut command = EngineCommand::default();
    if let Some(program) = std::env::args_os().nth(2) {
        command.program = program.into();
    } else {
        command.program = std::env::current_exe().expect("this program has a path");
        command.args = vec!["engine".into()];
    }
    command
}

/// The conversation as the engine.
pub(crate) fn play() -> io::Result<()> {
    let mut out = io::stdout();
    let mut board = Chess::default();
    // The answer of an infinite search, which waits for `stop`.
    let mut held = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        match gui::parse(line.as_bytes()) {
            GuiCommand::Uci => writeln!(out, "id name Scripted\nid author nobody\nuciok")?,
            GuiCommand::IsReady => writeln!(out, "readyok")?,
            GuiCommand::Position => {
                if let Some(position) = gui::position(line.as_bytes())
                    && let moves = String::from_utf8_lossy(position.moves)
                    && let Ok(read) = Line::read(&position.fen.unwrap_or_default(), &moves)
                {
                    board = read.last().clone();
                }
            }
            GuiCommand::Go(go) => {
                let moves = board.legal_moves();
                let mut moves = moves
                    .iter()
                    .map(|mv| mv.to_uci(CastlingMode::Standard).to_string());
                let only = go.searchmoves.as_ref();
                let best = moves.find(|mv| only.is_none_or(|only| only.contains(mv)));
                if let Some(best) = &best {
                    writeln!(out, "info depth 1 score cp 20 nodes 1 pv {best}")?;
                }
                let answer = format!("bestmove {}", best.as_deref().unwrap_or("(none)"));
                match go.infinite || go.ponder {
                    true => held = Some(answer),
                    false => writeln!(out, "{answer}")?,
                }
            }
            GuiCommand::Stop => {
                if let Some(answer) = held.take() {
                    writeln!(out, "{answer}")?;
                }
            }
            GuiCommand::Quit => return Ok(()),
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}
