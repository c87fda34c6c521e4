//! One game's text into a [`Game`].

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow::{self, Break, Continue};

use memchr::memmem;
use pgn_reader::{Nag, RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Color, Outcome};

use super::pgn_text::{month, note_tag, number, text_of, year};
use super::san::resolve;
use super::{Game, GameFilter, GameParts, GameResult, Recorder, SkipReason, encodings};

use crate::notation;

/// Names in a `Variant` tag that mean ordinary chess.
const ORDINARY: [&str; 5] = ["", "standard", "chess", "normal", "from position"];

/// Names in a `Variant` tag that mean Chess960.
const CHESS960: [&str; 6] = [
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerrandom",
    "fischer random",
    "freestyle",
];

/// The games of a piece of text: usually one.
#[derive(Default)]
pub(super) struct Parser {
    /// What is left of it.
    at: usize,
    end: usize,
    game_start: usize,
}

/// How the reading of a game ended.
pub(super) enum Ending {
    /// It can be used.
    Game,
    /// It cannot.
    Skip(SkipReason),
    /// A move is impossible; it stands before a byte.
    Move(Broken, usize),
}

impl Parser {
    /// Goes on to a piece.
    pub(super) fn go_on(&mut self, start: usize, end: usize) {
        *self = Parser {
            at: start,
            end,
            game_start: start,
        };
    }

    /// The next game; `None` at the end of the piece of `text`.
    pub(super) fn next(
        &mut self,
        text: &[u8],
        wanted: GameParts,
        filter: Option<&GameFilter>,
        game: &mut Game,
    ) -> Option<Ending> {
        loop {
            // One reader for each game, so that its tags, however long, stand
            // at the beginning of its buffer.
            let start = self.at;
            let left = text.get(start..self.end).unwrap_or_default();
            let mut reader = Reader::new(Sips { text: left, at: 0 });
            self.game_start = start + next_game(&mut reader, left)?;
            let mut visit = Visit::new(wanted, filter, game);
            let read = reader.read_game(&mut visit);
            let at = start + place(&mut reader);
            // Passes over moves that were not read.
            self.at = next_game(&mut reader, left).map_or(self.end, |next| start + next);
            let (is_game, broken) = (visit.is_game, visit.broken.take());
            drop(visit);
            match read {
                Ok(None) => return None,
                Ok(Some(Ok(()))) if !is_game => {}
                Ok(Some(Ok(()))) => {
                    let broken = broken.filter(|_| wanted.notes);
                    if let Some(Broken { number, san }) = broken {
                        let text = format!("move {number} is impossible: {san}");
                        game.cut = Some(SkipReason::Text(text));
                    }
                    return Some(Ending::Game);
                }
                Ok(Some(Err(Fault::Skip(reason)))) => return Some(Ending::Skip(reason)),
                Ok(Some(Err(Fault::Move(broken)))) => return Some(Ending::Move(broken, at)),
                Err(error) => return Some(Ending::Skip(SkipReason::text(error.to_string()))),
            }
        }
    }

    /// Where the game that came last begins.
    pub(super) fn game_start(&self) -> usize {
        self.game_start
    }
}

/// Where in its text a reader comes to another game.
fn next_game(reader: &mut Reader<Sips<'_>>, text: &[u8]) -> Option<usize> {
    let there = reader.has_more().unwrap_or(false);
    Some(place(reader)).filter(|place| there && *place < text.len())
}

/// How much of its text a reader has read.
fn place(reader: &mut Reader<Sips<'_>>) -> usize {
    reader.stream_position().unwrap_or(0) as usize
}

/// A text that is given in small pieces: a reader fills its buffer as far as it
/// is given something, and would copy the text of twenty games to read one. Only
/// the tags, however long, are given at once.
struct Sips<'t> {
    text: &'t [u8],
    /// Given so far, of the text and then of what is behind it.
    at: usize,
}

impl Sips<'_> {
    const MOST_BYTES: usize = 1024;

    /// A reader that has not the bytes of the longest token left asks for more
    /// before each token. So the end of a game stands behind every text, and a
    /// sign that means nothing, as often as the reader looks ahead.
    const BEHIND: [u8; 256] = {
        let mut behind = [b'*'; 256];
        (behind[0], behind[1]) = (b'\n', b'\n');
        behind
    };
}

impl Read for Sips<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let most = match self.at {
            0 => {
                let text = self.text.get(..to.len()).unwrap_or(self.text);
                let tags = memmem::find(text, b"]\n\n");
                tags.map_or(to.len(), |tags| tags + Sips::MOST_BYTES)
            }
            _ => Sips::MOST_BYTES,
        };
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut count = rest.take(most as u64).read(to)?;
        if count == rest.len() {
            let behind = (self.at + count).saturating_sub(self.text.len());
            let mut behind = Sips::BEHIND.get(behind..).unwrap_or_default();
            count += behind.read(to.get_mut(count..).unwrap_or_default())?;
        }
        self.at += count;
        Ok(count)
    }
}

impl Seek for Sips<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Current(0) => Ok(self.at as u64),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

enum Fault {
    Skip(SkipReason),
    Move(Broken),
}

struct Visit<'a> {
    recorder: Recorder<'a>,
    wanted: GameParts,
    /// Which games are of use.
    filter: Option<&'a GameFilter>,
    /// Whether there was anything but empty space.
    is_game: bool,
    has_result: bool,
    fen: Option<Fen>,
    /// A FEN that is none.
    bad_fen: Option<String>,
    variant: String,
    /// The comment that is being read, as far as it did not fit the reader's
    /// buffer.
    comment: Vec<u8>,
    /// The first move that cannot be. With notes, it ends its line, even the
    /// main one: what can be read of a game is worth keeping. No game counts in
    /// a book that is not sound to the last move wanted.
    broken: Option<Broken>,
}

/// A move that cannot be.
pub(super) struct Broken {
    /// As in `12...`.
    pub(super) number: String,
    pub(super) san: String,
}

impl<'a> Visit<'a> {
    fn new(wanted: GameParts, filter: Option<&'a GameFilter>, game: &'a mut Game) -> Visit<'a> {
        game.clear();
        Visit {
            recorder: Recorder::new(wanted, game),
            wanted,
            filter,
            is_game: false,
            has_result: false,
            fen: None,
            bad_fen: None,
            variant: String::new(),
            comment: Vec::new(),
            broken: None,
        }
    }

    /// Sets the game up as FEN and Variant say.
    fn set_up(&mut self) -> Result<(), SkipReason> {
        let variant = self.variant.trim().to_ascii_lowercase();
        let mut chess960 = CHESS960.contains(&variant.as_str());
        if !chess960 && !ORDINARY.contains(&variant.as_str()) {
            return Err(SkipReason::Variant(self.variant.trim().to_owned()));
        }
        if let Some(text) = self.bad_fen.take() {
            return Err(SkipReason::Position(format!("no FEN: {text}")));
        }
        let game = self.recorder.game();
        let Some(fen) = self.fen.take() else {
            game.chess960 = chess960;
            return Ok(());
        };
        let setup = fen.into_setup();
        chess960 |= CastlingMode::detect(&setup).is_chess960();
        let mode = CastlingMode::from_chess960(chess960);
        let position = notation::position_of(setup, mode).map_err(SkipReason::Position)?;
        game.chess960 = chess960;
        if position != Chess::default() {
            game.set_up = true;
            self.recorder.start_from(position);
        }
        Ok(())
    }

    /// Ends the game at a move of the main line that cannot be.
    fn impossible(&mut self, san: SanPlus) -> ControlFlow<Result<(), Fault>> {
        let broken = |recorder: &Recorder<'_>, san: String| Broken {
            number: recorder.move_number(),
            san,
        };
        if !self.wanted.notes && self.recorder.is_main_line() {
            let broken = broken(&self.recorder, san.to_string());
            return Break(Err(Fault::Move(broken)));
        }
        if self.broken.is_none() && self.recorder.position().is_some() {
            self.broken = Some(broken(&self.recorder, san.san.to_string()));
        }
        self.recorder.drop_line();
        Continue(())
    }
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
        let game = self.recorder.game();
        let is_head = || matches!(name, b"Event" | b"Site" | b"Date" | b"UTCDate" | b"Round");
        if self.wanted.notes || self.wanted.heads && is_head() {
            note_tag(&mut game.tags, name, &value);
        }
        match name {
            b"White" => text_of(&value, &mut game.names.white),
            b"Black" => text_of(&value, &mut game.names.black),
            b"WhiteElo" => game.elo.white = number(value.as_bytes()),
            b"BlackElo" => game.elo.black = number(value.as_bytes()),
            b"Date" => {
                if let Some(year) = year(value.as_bytes()) {
                    (game.year, game.month) = (year, month(value.as_bytes()));
                }
            }
            b"UTCDate" if game.year == 0 => {
                game.year = year(value.as_bytes()).unwrap_or(0);
                game.month = month(value.as_bytes());
            }
            b"Year" | b"EventDate" if game.year == 0 => {
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
            name => game.circumstances.hear(name, value.as_bytes()),
        }
        Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Self::Output> {
        if let Err(reason) = self.set_up() {
            return Break(Err(Fault::Skip(reason)));
        }
        // Without a tag the result comes behind the moves.
        match self.filter {
            Some(filter) if self.has_result && !filter.admits(self.recorder.game()) => {
                Break(Ok(()))
            }
            _ => Continue(()),
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<Self::Output> {
        self.is_game = true;
        if san.san == San::Null {
            if self.recorder.play_null().is_err() {
                return self.impossible(san);
            }
            return Continue(());
        }
        match self.recorder.position() {
            Some(position) => match resolve(san.san, position) {
                Some(m) => self.recorder.play(m),
                None => return self.impossible(san),
            },
            // A move that cannot be ends a variation, not the game.
            None if !self.recorder.is_main_line() => return self.impossible(san),
            None if self.has_result => return Break(Ok(())),
            // The result may still stand at the end.
            None => self.recorder.drop_line(),
        }
        Continue(())
    }

    fn nag(&mut self, (): &mut (), nag: Nag) -> ControlFlow<Self::Output> {
        self.recorder.nag(nag.0);
        Continue(())
    }

    fn partial_comment(
        &mut self,
        (): &mut (),
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        if self.wanted.notes {
            self.comment.extend_from_slice(comment.as_bytes());
        }
        Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        if self.wanted.notes {
            self.comment.extend_from_slice(comment.as_bytes());
            // Line breaks stay: who writes text again breaks lines anew, and
            // databases hold them as they are.
            let text = encodings::text(self.comment.trim_ascii()).into_owned();
            self.comment.clear();
            if !text.is_empty() {
                self.is_game = true;
                self.recorder.comment(text);
            }
        }
        Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<Self::Output, Skip> {
        if !self.recorder.wants_variations() {
            return Continue(Skip(true));
        }
        self.recorder.begin_variation();
        Continue(Skip(false))
    }

    fn end_variation(&mut self, (): &mut ()) -> ControlFlow<Self::Output> {
        self.recorder.end_variation();
        Continue(())
    }

    fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<Self::Output> {
        if !self.has_result && self.recorder.is_main_line() {
            self.recorder.game().result = match outcome {
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
        self.recorder.finish();
        Ok(())
    }
}
