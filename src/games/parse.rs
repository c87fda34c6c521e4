//! One game's text into a [`Game`].

use std::io::{self, Cursor, Seek};
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{
    CastlingMode, Chess, Color, FromSetup, Move, Outcome, Position, PositionError, Role,
};

use super::{Game, GameResult, SkipReason, Wanted};

/// Names in a `Variant` tag that mean ordinary chess.
const ORDINARY: [&str; 5] = ["", "standard", "chess", "normal", "from position"];

/// A stretch of a text.
pub(super) struct Piece {
    text: Arc<Vec<u8>>,
    start: usize,
    end: usize,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self.text.get(self.start..self.end).unwrap_or_default()
    }
}

/// The games of one stretch of text, usually one.
pub(super) struct Parser {
    reader: Reader<Cursor<Piece>>,
    /// Where the stretch begins.
    start: usize,
    game_start: usize,
}

/// How the reading of a game ended.
pub(super) enum Ending {
    /// It can be used.
    Game,
    /// It cannot.
    Skip(SkipReason),
    /// A move is impossible; it stands before byte `at`.
    Move {
        number: String,
        san: String,
        at: usize,
    },
}

impl Parser {
    pub(super) fn new(text: Arc<Vec<u8>>, start: usize, end: usize) -> Parser {
        Parser {
            reader: Reader::new(Cursor::new(Piece { text, start, end })),
            start,
            game_start: start,
        }
    }

    /// The next game; `None` at the end of the text.
    pub(super) fn next(&mut self, wanted: Wanted, game: &mut Game) -> Option<Ending> {
        loop {
            // Goes to the first byte of the game; what is unclosed in the game
            // before ends with the text.
            match self.reader.has_more() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(self.unreadable(&error)),
            }
            self.game_start = self.place();
            let mut visit = Visit::new(wanted, game);
            match self.reader.read_game(&mut visit) {
                Ok(None) => return None,
                Ok(Some(Ok(()))) if !visit.is_game => {}
                Ok(Some(Ok(()))) => return Some(Ending::Game),
                Ok(Some(Err(Fault::Skip(reason)))) => return Some(Ending::Skip(reason)),
                Ok(Some(Err(Fault::Move { number, san }))) => {
                    let at = self.place();
                    return Some(Ending::Move { number, san, at });
                }
                Err(error) => return Some(self.unreadable(&error)),
            }
        }
    }

    /// Where the game that came last begins.
    pub(super) fn game_start(&self) -> usize {
        self.game_start
    }

    fn place(&mut self) -> usize {
        self.start + self.reader.stream_position().unwrap_or(0) as usize
    }

    fn unreadable(&self, error: &io::Error) -> Ending {
        Ending::Skip(SkipReason::Text(error.to_string()))
    }
}

enum Fault {
    Skip(SkipReason),
    Move { number: String, san: String },
}

/// A line of moves beside the main one.
struct SideLine {
    /// The position before its last move and how far that is from the start;
    /// `None` when the line cannot be followed.
    before: Option<(usize, Chess)>,
    now: Option<(usize, Chess)>,
}

struct Visit<'a> {
    game: &'a mut Game,
    wanted: Wanted,
    /// Whether there was anything but empty space.
    is_game: bool,
    has_result: bool,
    fen: Option<Fen>,
    /// A FEN that is none.
    bad_fen: Option<String>,
    variant: String,
    side_lines: Vec<SideLine>,
}

impl<'a> Visit<'a> {
    fn new(wanted: Wanted, game: &'a mut Game) -> Visit<'a> {
        game.clear();
        Visit {
            game,
            wanted,
            is_game: false,
            has_result: false,
            fen: None,
            bad_fen: None,
            variant: String::new(),
            side_lines: Vec::new(),
        }
    }

    /// Sets the game up as FEN and Variant say.
    fn set_up(&mut self) -> Result<(), SkipReason> {
        let variant = self.variant.trim().to_ascii_lowercase();
        if !ORDINARY.contains(&variant.as_str()) {
            return Err(SkipReason::Variant(self.variant.trim().to_owned()));
        }
        if let Some(text) = self.bad_fen.take() {
            return Err(SkipReason::Position(format!("no FEN: {text}")));
        }
        let Some(fen) = self.fen.take() else {
            return Ok(());
        };
        let setup = fen.into_setup();
        if CastlingMode::detect(&setup).is_chess960() {
            return Err(SkipReason::Variant("Chess960".to_owned()));
        }
        let position = Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .map_err(|error| SkipReason::Position(error.to_string()))?;
        if position != Chess::default() {
            self.game.set_up = true;
            self.game.start_from(position);
        }
        Ok(())
    }

    fn side_move(&mut self, san: San) {
        let Some(line) = self.side_lines.last_mut() else {
            return;
        };
        let Some((ply, position)) = line.now.take() else {
            return;
        };
        if ply >= self.wanted.plies {
            return;
        }
        // A move that cannot be ends its line, not the game.
        let Some(m) = resolve(san, &position) else {
            return;
        };
        let mut next = position.clone();
        next.play_unchecked(m);
        self.game.side_moves.push((ply, position.clone(), m));
        line.before = Some((ply, position));
        line.now = Some((ply + 1, next));
    }
}

/// The move that is meant, with some mercy for a missing or superfluous `x`
/// and for a promotion that does not say to what.
fn resolve(san: San, position: &Chess) -> Option<Move> {
    if let Ok(m) = san.to_move(position) {
        return Some(m);
    }
    let San::Normal {
        role,
        file,
        rank,
        capture,
        to,
        promotion,
    } = san
    else {
        return None;
    };
    let queen = (role == Role::Pawn && promotion.is_none()).then_some(Role::Queen);
    [(!capture, promotion), (capture, queen), (!capture, queen)]
        .into_iter()
        .find_map(|(capture, promotion)| {
            let san = San::Normal {
                role,
                file,
                rank,
                capture,
                to,
                promotion,
            };
            san.to_move(position).ok()
        })
}

impl Visitor for Visit<'_> {
    type Tags = ();
    type Movetext = ();
    type Output = Result<(), Fault>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output> {
        Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        self.is_game = true;
        let game = &mut *self.game;
        match name {
            b"White" => text_of(&value, &mut game.names.white),
            b"Black" => text_of(&value, &mut game.names.black),
            b"WhiteElo" => game.elo.white = number(value.as_bytes()),
            b"BlackElo" => game.elo.black = number(value.as_bytes()),
            b"Date" => game.year = year(value.as_bytes()).unwrap_or(game.year),
            b"Year" | b"UTCDate" | b"EventDate" if game.year == 0 => {
                game.year = year(value.as_bytes()).unwrap_or(0);
            }
            b"ECO" => {
                if let Some(code) = value.as_bytes().first_chunk::<3>() {
                    game.eco = code.map(|byte| byte.to_ascii_uppercase());
                }
            }
            b"Result" => {
                let text = value.as_bytes().trim_ascii();
                game.result = GameResult::from_pgn(text);
                self.has_result = text == b"*" || game.result != GameResult::Unknown;
            }
            b"FEN" => match Fen::from_ascii(value.as_bytes().trim_ascii()) {
                Ok(fen) => self.fen = Some(fen),
                Err(error) => self.bad_fen = Some(error.to_string()),
            },
            b"Variant" => text_of(&value, &mut self.variant),
            _ => {}
        }
        Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Self::Output> {
        match self.set_up() {
            Ok(()) => Continue(()),
            Err(reason) => Break(Err(Fault::Skip(reason))),
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<Self::Output> {
        self.is_game = true;
        if !self.side_lines.is_empty() {
            self.side_move(san.san);
            return Continue(());
        }
        let game = &mut *self.game;
        if game.moves.len() >= self.wanted.plies {
            // The result may still stand at the end.
            return if self.has_result {
                Break(Ok(()))
            } else {
                Continue(())
            };
        }
        let Some(position) = game.positions.last() else {
            return Break(Ok(()));
        };
        let Some(m) = resolve(san.san, position) else {
            let dots = if position.turn().is_white() {
                "."
            } else {
                "..."
            };
            return Break(Err(Fault::Move {
                number: format!("{}{dots}", position.fullmoves()),
                san: san.to_string(),
            }));
        };
        let mut next = position.clone();
        next.play_unchecked(m);
        game.moves.push(m);
        game.positions.push(next);
        Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<Self::Output, Skip> {
        if !self.wanted.variations {
            return Continue(Skip(true));
        }
        let before = match self.side_lines.last() {
            Some(line) => line.before.clone(),
            None => {
                // The one that the last move was played in.
                let ply = self.game.moves.len().checked_sub(1);
                ply.and_then(|ply| Some((ply, self.game.positions.get(ply)?.clone())))
            }
        };
        self.side_lines.push(SideLine {
            before: None,
            now: before,
        });
        Continue(Skip(false))
    }

    fn end_variation(&mut self, (): &mut ()) -> ControlFlow<Self::Output> {
        self.side_lines.pop();
        Continue(())
    }

    fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<Self::Output> {
        if !self.has_result && self.side_lines.is_empty() {
            self.game.result = match outcome {
                Outcome::Known(known) => match known.winner() {
                    Some(Color::White) => GameResult::Won(Color::White),
                    Some(Color::Black) => GameResult::Won(Color::Black),
                    None => GameResult::Draw,
                },
                Outcome::Unknown => GameResult::Unknown,
            };
        }
        Continue(())
    }

    fn end_game(&mut self, (): ()) -> Self::Output {
        Ok(())
    }
}

/// A tag's text: UTF-8, or else Latin-1.
fn text_of(value: &RawTag<'_>, out: &mut String) {
    out.clear();
    let bytes = value.decode();
    match std::str::from_utf8(&bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.extend(bytes.iter().map(|&byte| char::from(byte))),
    }
}

/// A rating: digits, at most four; anything else is none.
fn number(bytes: &[u8]) -> u16 {
    let digits = bytes.trim_ascii();
    if digits.len() > 4 {
        return 0;
    }
    std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

/// The year that a date begins with.
fn year(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.trim_ascii().get(..4)?;
    let year = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (year > 0).then_some(year)
}
