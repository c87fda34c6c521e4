//! Reads PGN with the crate pgn-reader and plays every move of the main lines: the same
//! work as `read_games` of tabia-games, for `benches/measure.py`.
//!
//! ```text
//! validate_moves FILE...
//! ```

use std::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow::{self, Break, Continue};

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position as _};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut counts = Counts::default();
        let mut reader = Reader::new(File::open(&path)?);
        while reader.read_game(&mut counts)?.is_some() {}
        writeln!(std::io::stdout(), "{path}: {counts:?}")?;
    }
    Ok(())
}

/// What was read.
#[derive(Debug, Default)]
#[allow(dead_code, reason = "they are printed")]
struct Counts {
    games: u64,
    moves: u64,
    /// Games with a move or a position that is not legal.
    broken: u64,
}

impl Counts {
    fn broken(&mut self) -> ControlFlow<()> {
        self.broken += 1;
        Break(())
    }
}

impl Visitor for Counts {
    type Tags = Chess;
    type Movetext = Chess;
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), Chess> {
        self.games += 1;
        Continue(Chess::default())
    }

    fn tag(&mut self, first: &mut Chess, name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        if name == b"FEN" {
            let fen = Fen::from_ascii(value.as_bytes()).ok();
            let position = fen.and_then(|fen| fen.into_position(CastlingMode::Chess960).ok());
            let Some(position) = position else {
                return self.broken();
            };
            *first = position;
        }
        Continue(())
    }

    fn begin_movetext(&mut self, first: Chess) -> ControlFlow<(), Chess> {
        Continue(first)
    }

    fn begin_variation(&mut self, _: &mut Chess) -> ControlFlow<(), Skip> {
        Continue(Skip(true))
    }

    fn san(&mut self, position: &mut Chess, written: SanPlus) -> ControlFlow<()> {
        let Ok(m) = written.san.to_move(position) else {
            return self.broken();
        };
        position.play_unchecked(m);
        self.moves += 1;
        Continue(())
    }

    fn end_game(&mut self, _: Chess) {}
}
