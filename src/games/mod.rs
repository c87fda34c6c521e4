//! Games, wherever they come from.
//!
//! A [`GameSource`] is opened by [`open`]; it cuts its input into
//! [`GameBatch`]es, which is cheap and happens in one thread, and a batch
//! yields its games in whatever thread it is sent to. Nothing here filters or
//! counts: a source says what stands in it.
//!
//! A new kind of source is one file with these two traits and one line in
//! [`open`].

mod open;
mod parse;
mod pgn;
mod zst;

pub use open::{Opened, SourceError, files, open};
pub use pgn::PgnSource;

use std::fmt;

use shakmaty::{ByColor, Chess, Color, Move};

/// Something that holds games: a file, or a stream.
pub trait GameSource: Send {
    /// Cuts off the next piece; `None` at the end.
    ///
    /// # Errors
    ///
    /// The source cannot be read on.
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, SourceError>;

    /// How many bytes of the source (as it lies on disk) have been read.
    fn bytes_read(&self) -> u64;
}

/// A piece of a source.
pub trait GameBatch: Send {
    /// Fills `game` with the next game; false at the end. The same buffer
    /// serves every game, so that reading allocates nothing.
    ///
    /// # Errors
    ///
    /// A game that is no use. `game` is undefined then, and the next call
    /// goes on behind it.
    fn next_game(&mut self, wanted: Wanted, game: &mut Game) -> Result<bool, Skipped>;

    /// Names the game that came last, for somebody who has no use for it.
    fn skip(&self, reason: SkipReason) -> Skipped;
}

/// How much of each game is looked at. What lies beyond is not read, so it
/// is not checked either.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Half moves of the main line; the rest is passed over.
    pub plies: usize,
    /// Moves of variations too.
    pub variations: bool,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted {
            plies: usize::MAX,
            variations: false,
        }
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// `1-0`, `0-1`
    Won(Color),
    /// `1/2-1/2`
    Draw,
    /// `*`, or nothing said.
    #[default]
    Unknown,
}

impl GameResult {
    /// Reads a PGN result; everything but the three known ones is unknown.
    #[must_use]
    pub fn from_pgn(text: &[u8]) -> GameResult {
        match text {
            b"1-0" => GameResult::Won(Color::White),
            b"0-1" => GameResult::Won(Color::Black),
            b"1/2-1/2" | b"1/2" => GameResult::Draw,
            _ => GameResult::Unknown,
        }
    }
}

/// One game, as far as it is wanted.
#[derive(Clone, Debug)]
pub struct Game {
    /// Names of the players, empty if unknown.
    pub names: ByColor<String>,
    /// Ratings, 0 if unknown.
    pub elo: ByColor<u16>,
    /// Year it was played in, 0 if unknown.
    pub year: u16,
    /// ECO code as `C57`, zeros if unknown.
    pub eco: [u8; 3],
    /// The result.
    pub result: GameResult,
    /// Whether it starts from another position than the usual one.
    pub set_up: bool,
    /// Every position of the main line, the first one included: always one
    /// more than there are moves.
    pub positions: Vec<Chess>,
    /// The main line.
    pub moves: Vec<Move>,
    /// Moves of the variations, each with the position it is played in, and
    /// how many half moves after the first position that is.
    pub side_moves: Vec<(usize, Chess, Move)>,
}

impl Default for Game {
    fn default() -> Game {
        Game {
            names: ByColor::default(),
            elo: ByColor::default(),
            year: 0,
            eco: [0; 3],
            result: GameResult::Unknown,
            set_up: false,
            positions: vec![Chess::default()],
            moves: Vec::new(),
            side_moves: Vec::new(),
        }
    }
}

impl Game {
    /// Makes it an empty game from the usual position, keeping the buffers.
    pub fn clear(&mut self) {
        self.names.white.clear();
        self.names.black.clear();
        self.elo = ByColor::default();
        self.year = 0;
        self.eco = [0; 3];
        self.result = GameResult::Unknown;
        self.set_up = false;
        self.start_from(Chess::default());
    }

    /// Makes it a game without moves from a position.
    pub fn start_from(&mut self, position: Chess) {
        self.positions.clear();
        self.positions.push(position);
        self.moves.clear();
        self.side_moves.clear();
    }
}

/// A game that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The source, as its user named it.
    pub source: String,
    /// Line in the (decompressed) source where the game starts, or its number
    /// where there are no lines.
    pub line: u64,
    /// Why.
    pub reason: SkipReason,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Skipped {
            source,
            line,
            reason,
        } = self;
        write!(f, "{source}: line {line}: game skipped: {reason}")
    }
}

/// Why a game was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SkipReason {
    /// It starts from a set-up position.
    #[error("it starts from a set-up position")]
    SetUp,
    /// It is no ordinary chess.
    #[error("its variant is {0}")]
    Variant(String),
    /// Its first position is impossible.
    #[error("its set-up position cannot be used: {0}")]
    Position(String),
    /// A move breaks the rules.
    #[error("move {number} on line {line} is impossible: {san}")]
    Move {
        /// The move's number as in `12...`.
        number: String,
        /// The line it stands on.
        line: u64,
        /// The move as written.
        san: String,
    },
    /// The text is broken.
    #[error("{0}")]
    Text(String),
}
