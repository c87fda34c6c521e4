//! The two files of a database as a game source.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use shakmaty::{Bitboard, Board, Color, Piece, Role, Setup, Square};

use super::header::{HEADER_BYTES, Header, SETUP_BYTES, SetUp};
use super::{moves, text, unscramble};
use crate::archive::SourceFile;
use crate::counted_remark::CountedRemark;
use crate::indexed::{EntryBatch, ReadGame};
use crate::{Error, Game, GameBatch, GameParts, GameSource, Recorder, SkipReason, TextEncoding};
use tabia_io::input::file::{DataFile, FileError};
use tabia_io::input::path::has_extension;
use tabia_io::input::window::Window;
use tabia_notation as notation;

/// Games in a batch.
const BATCH_GAMES: usize = 256;

/// Number of games that are tried before the database is accepted: read by a wrong layout,
/// moves could be legal but false.
const TRIED_GAMES: usize = 200;

/// A game with fewer readable plies counts as not understood.
const UNDERSTOOD_PLIES: usize = 10;

/// Whether the name of a file is that of one of the two.
pub(crate) fn is_cbf(path: &Path, _: &[u8]) -> bool {
    has_extension(path, "cbf") || has_extension(path, "cbi")
}

/// Opens a database by one of its files.
///
/// # Errors
///
/// A file is missing or cannot be read, or does not follow the known layout.
pub(crate) fn open(named: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let path = named.path();
    let refused = |path: &Path, text: &str| Error::format(path, text);
    let games = named
        .sibling("cbf")
        .ok_or_else(|| refused(path, "its games (.cbf) are missing beside it"))?;
    let index = named.sibling("cbi").ok_or_else(|| {
        refused(
            path,
            "its index (.cbi), which says where games begin, is missing beside it",
        )
    })?;
    let games = Arc::new(games.open_named()?);
    let places = index.bytes();
    let places = places.map_err(|error| Error::io(index.path(), error))?;
    let places = places_of(&places, games.len()).map_err(|text| refused(index.path(), text))?;
    let database = Database {
        name: path.display().to_string(),
        encoding: named.encoding(),
        games,
        unchecked: CountedRemark::new("games with a wrong check byte"),
        miscounted: CountedRemark::new("games with more or fewer moves than their header says"),
    };
    let database = Arc::new(database);
    if !is_readable(&database, &places) {
        let text = "its games break off at once, so it does not follow the known layout of \
                    ChessBase for DOS; nothing was read";
        return Err(refused(path, text));
    }
    Ok(Box::new(CbfSource {
        database,
        places,
        next: 0,
    }))
}

/// The byte range of each game, from the index: word 0 is the number of games plus one,
/// word i is the offset of game i, plus i and one.
fn places_of(index: &[u8], bytes: u64) -> Result<Vec<Range<u64>>, &'static str> {
    let words: Vec<u64> = index
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u64::from(u32::from_be_bytes(*word)))
        .collect();
    let no_index = "not an index of ChessBase for DOS: it does not begin with a number of games";
    let count = match words.first() {
        Some(first @ 1..) if first - 1 < words.len() as u64 => first - 1,
        _ => return Err(no_index),
    };
    let place = |number: u64| {
        let word = words.get(usize::try_from(number).ok()?)?;
        word.checked_sub(number + 1)
    };
    let mut places = Vec::new();
    for number in 1..=count {
        // An invalid offset is reported when the game is read.
        let start = place(number).unwrap_or(u64::MAX);
        let next = place(number + 1).unwrap_or(bytes);
        let end = if next > start { next } else { bytes };
        places.push(start..end.min(bytes).max(start));
    }
    let outside = places.iter().filter(|place| place.start >= bytes).count();
    if 2 * outside > places.len() {
        return Err("the places it names are outside the .cbf file");
    }
    Ok(places)
}

/// Tries games from all over the database; false if most break off at once.
fn is_readable(database: &Arc<Database>, places: &[Range<u64>]) -> bool {
    let step = places.len().div_ceil(TRIED_GAMES).max(1);
    let tried: Vec<_> = places.iter().step_by(step).cloned().collect();
    let count = tried.len();
    let mut batch = batch(database, 0, tried);
    let wanted = GameParts {
        plies: UNDERSTOOD_PLIES,
        ..GameParts::default()
    };
    let mut game = Game::default();
    let mut failed = 0;
    loop {
        match batch.next_game(wanted, &mut game) {
            Ok(true) => failed += usize::from(game.cut.is_some()),
            Ok(false) => break,
            Err(_) => failed += 1,
        }
    }
    database.unchecked.clear();
    database.miscounted.clear();
    2 * failed <= count
}

struct Database {
    name: String,
    /// The encoding of names, if the user has named one.
    encoding: Option<TextEncoding>,
    games: Arc<DataFile>,
    /// Games with an unknown check byte.
    unchecked: CountedRemark,
    /// Games that have more or fewer moves than their header states.
    miscounted: CountedRemark,
}

struct CbfSource {
    database: Arc<Database>,
    places: Vec<Range<u64>>,
    next: usize,
}

impl GameSource for CbfSource {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        let rest = self.places.get(self.next..).unwrap_or_default();
        let places: Vec<_> = rest.iter().take(BATCH_GAMES).cloned().collect();
        if places.is_empty() {
            return Ok(None);
        }
        let before = self.next as u64;
        self.next += places.len();
        Ok(Some(Box::new(batch(&self.database, before, places))))
    }

    fn bytes_read(&self) -> u64 {
        match self.places.get(self.next) {
            Some(place) => place.start.min(self.database.games.len()),
            None => self.database.games.len(),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let Database {
            name,
            unchecked,
            miscounted,
            ..
        } = &*self.database;
        let oddities = [unchecked, miscounted].into_iter();
        oddities.filter_map(|oddity| oddity.report(name)).collect()
    }
}

/// A batch; `before` is the number of games before it.
fn batch(database: &Arc<Database>, before: u64, places: Vec<Range<u64>>) -> EntryBatch<Database> {
    let (name, games) = (&database.name, Arc::clone(&database.games));
    let entries = places.into_iter().map(Ok).collect();
    EntryBatch::new(Arc::clone(database), name, games, before + 1, entries)
}

impl ReadGame for Database {
    /// The byte range of the game.
    type Entry = Range<u64>;
    type Buffers = Vec<u8>;

    fn place(&self, place: &Range<u64>) -> Option<Range<u64>> {
        (place.start < self.games.len()).then(|| place.clone())
    }

    fn read(
        &self,
        place: &Range<u64>,
        games: &Window,
        wanted: GameParts,
        buffer: &mut Vec<u8>,
        game: &mut Game,
    ) -> Result<(), SkipReason> {
        if place.start >= games.file_len() {
            return Err(SkipReason::text("its place is outside the .cbf file"));
        }
        let most = usize::try_from(place.end - place.start).unwrap_or(usize::MAX);
        let failed = |error: FileError| SkipReason::Text(format!("the .cbf file: {error}"));
        let start = games.read(place.start, HEADER_BYTES.min(most), buffer);
        let start = start.map_err(failed)?.first_chunk();
        let Some(header) = start.copied().map(Header::decode) else {
            return Err(SkipReason::text("its header is cut off"));
        };
        let bytes = games.read(place.start, header.bytes().min(most), buffer);
        let bytes = bytes.map_err(failed)?;
        self.unchecked.add(!header.is_checked);
        describe(&header, bytes, wanted, self.encoding, game);
        if let Some(set_up) = header.set_up {
            let position = bytes.get(header.set_up_at()..);
            let position = position.and_then(|bytes| bytes.first_chunk());
            let position = position.ok_or("it is cut off".to_owned());
            let position = position.and_then(|bytes| first_position(bytes, set_up));
            game.start_from(position.map_err(SkipReason::Position)?);
            game.set_up = true;
        }
        let from = header.moves_at();
        let Some(area) = bytes.get(from..from + header.moves_bytes) else {
            return Err(SkipReason::text("its moves are cut off"));
        };
        moves::read(area, &mut Recorder::new(wanted, game));
        let is_whole = wanted.plies == usize::MAX && game.cut.is_none() && !game.set_up;
        let white_moves = game.moves.len().div_ceil(2);
        let is_other = white_moves != usize::from(header.white_moves) && white_moves < 256;
        self.miscounted.add(is_whole && is_other);
        Ok(())
    }
}

fn describe(
    header: &Header,
    bytes: &[u8],
    wanted: GameParts,
    encoding: Option<TextEncoding>,
    game: &mut Game,
) {
    let texts = bytes.get(HEADER_BYTES..header.moves_at());
    let mut texts = texts.unwrap_or_default().to_vec();
    let mask = (texts.len() as u8).wrapping_mul(3);
    unscramble(&mut texts, mask, 3);
    let (players, source) = texts
        .split_at_checked(header.players_bytes)
        .unwrap_or_default();
    let players = text::decode(players, encoding);
    let (white, black) = text::players(&players);
    game.names.white.push_str(white);
    game.names.black.push_str(black);
    game.elo = header.elo;
    game.year = header.year;
    game.eco = header.eco;
    game.result = header.result;
    if wanted.tags() {
        let source = text::decode(source, encoding);
        let (event, round) = text::source(&source);
        game.tags.set_known("Event", event);
        game.tags.set_known("Round", round);
        if header.year > 0 {
            game.tags.set("Date", format!("{:04}.??.??", header.year));
        }
    }
}

/// A position: two squares a byte, a1, b1, ... h8; then the number of the first move.
fn first_position(bytes: &[u8; SETUP_BYTES], set_up: SetUp) -> Result<shakmaty::Chess, String> {
    let [squares @ .., number] = bytes;
    let mut board = Board::empty();
    let nibbles = squares.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    for (square, nibble) in Square::ALL.into_iter().zip(nibbles) {
        let role = match nibble & 7 {
            1 => Role::King,
            2 => Role::Queen,
            3 => Role::Knight,
            4 => Role::Bishop,
            5 => Role::Rook,
            6 => Role::Pawn,
            0 if nibble == 0 => continue,
            _ => return Err(format!("{nibble} is not a piece")),
        };
        let color = Color::from_white(nibble < 8);
        board.set_piece_at(square, Piece { color, role });
    }
    let mut setup = Setup::empty();
    setup.board = board;
    setup.turn = set_up.turn;
    let corners = [Square::A1, Square::H1, Square::A8, Square::H8];
    let rights = corners.into_iter().zip(set_up.castling);
    setup.castling_rights = rights
        .filter_map(|(corner, right)| right.then_some(corner))
        .collect::<Bitboard>();
    if let Some(file) = set_up
        .en_passant_file
        .checked_sub(1)
        .filter(|file| *file < 8)
    {
        let rank = set_up.turn.fold_wb(5, 2);
        setup.ep_square = Some(Square::new(u32::from(file) + 8 * rank));
    }
    setup.fullmoves = std::num::NonZeroU32::MIN.saturating_add(u32::from(*number));
    let mode = shakmaty::CastlingMode::Standard;
    Ok(notation::position_of(setup, mode)?)
}
