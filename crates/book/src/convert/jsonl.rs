//! Books as text without loss, one JSON object a line.
//!
//! The first line is `{"format":"tabia-book","version":1,"games":N}`, N being the games
//! in the book's header; a book for one side only has `"only":"white"` or `"black"` too.
//! Every other line is a position, in any order:
//!
//! | field | content |
//! |---|---|
//! | `fen` | the canonical position: White to move, mirrored where the format mirrors |
//! | `games`, `wins`, `losses`, `draws` | counters, from the view of the side to move |
//! | `points` | ten times the expected points (the word at offset 12) |
//! | `own_rated`, `own_rating_sum`, `other_rated`, `other_rating_sum` | ratings |
//! | `recommendation`, `factor`, `commentary` | the bytes as stored, `factor` signed |
//! | `moves` | `{"uci","annotation"}` in stored order, the annotation as stored |
//!
//! Two more fields store what these cannot. `byte`, of a move, is its move byte if it
//! does not follow from the move; `uci` is null if the byte is not a legal move. `key`, of a
//! position, is its key in hexadecimal if it does not follow from the `fen`; `fen` is
//! null if the key is not a position. When the book is read again, `byte` and `key` take
//! precedence.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use shakmaty::fen::{Fen, LossyFenError};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move};

use super::{Converted, Work};
use crate::ctg::{
    CanonicalBoard, CtgBook, Entry, Key, MAX_COUNT, MAX_MOVES, UnsortedWriter, encode_entry,
    encode_move_byte, find_move_byte, likely_moves,
};
use crate::{Annotation, Error, PositionRecord, Stats};
use tabia_io::parallel;
use tabia_notation as notation;

const FORMAT: &str = "tabia-book";
const VERSION: u32 = 1;

/// Longer lines cannot be a position: 127 moves take some 5,000 bytes.
const MAX_LINE: u64 = 1 << 20;

#[derive(Deserialize, Serialize)]
struct FirstLine {
    format: String,
    version: u32,
    games: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    only: Option<OnlySide>,
}

/// The side that a book is for, if it is for one only.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum OnlySide {
    White,
    Black,
}

impl OnlySide {
    fn from_color(color: Color) -> OnlySide {
        color.fold_wb(OnlySide::White, OnlySide::Black)
    }

    fn color(self) -> Color {
        match self {
            OnlySide::White => Color::White,
            OnlySide::Black => Color::Black,
        }
    }
}

/// A text, borrowed from a line unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A line as it is read; [`push_line`] writes one.
#[derive(Deserialize)]
struct PositionLine<'a> {
    #[serde(borrow)]
    fen: Option<Text<'a>>,
    games: u32,
    wins: u32,
    losses: u32,
    draws: u32,
    points: u32,
    own_rated: u32,
    own_rating_sum: u64,
    other_rated: u32,
    other_rating_sum: u64,
    recommendation: u8,
    #[serde(rename = "factor", alias = "learn_value")]
    learn_value: i8,
    commentary: u8,
    moves: Vec<MoveLine<'a>>,
    #[serde(default)]
    key: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct MoveLine<'a> {
    #[serde(borrow)]
    uci: Option<Text<'a>>,
    annotation: u8,
    #[serde(default)]
    byte: Option<u8>,
}

/// Usual size of the lines of a block of pages, in bytes.
const BLOCK_TEXT: usize = 1 << 20;

/// Writes a ChessBase book as text.
pub(super) fn from_ctg(work: &mut Work<'_, '_>, book: &CtgBook) -> Result<Converted, Error> {
    let mut output = work.output()?;
    let mut summary = Converted::default();
    let first = FirstLine {
        format: FORMAT.to_owned(),
        version: VERSION,
        games: book.header().games,
        only: book.only().map(OnlySide::from_color),
    };
    // Writing to memory does not fail.
    let mut text = serde_json::to_vec(&first).unwrap_or_default();
    text.push(b'\n');
    output.write_bytes(&text)?;
    let salvage = book.in_blocks(
        "writing",
        work.watch,
        || (Vec::with_capacity(BLOCK_TEXT), 0, 0),
        |(lines, positions, moves), _, entry| {
            if push_line(lines, entry) {
                *positions += 1;
                *moves += entry.moves().len() as u64;
            }
            Ok(())
        },
        |(lines, positions, moves)| {
            summary.positions += positions;
            summary.moves += moves;
            Ok(output.write_bytes(&lines)?)
        },
    )?;
    summary.lose(work.job, salvage)?;
    if summary.positions == 0 {
        summary.not_empty(work.job)?;
    }
    summary.bytes = output.commit()?;
    Ok(summary)
}

/// Appends a stored position as a line; false if its key is not one.
///
/// By hand: a serializer copies each comma and quotation mark by itself, which took a third
/// of the time. That [`PositionLine`] reads the same is tested.
fn push_line(out: &mut Vec<u8>, entry: &Entry<'_>) -> bool {
    let Some(key) = entry.key() else {
        return false;
    };
    let board = CanonicalBoard::from_key(&key).ok();
    // A board with more men than a game has cannot be read back.
    let same = board.is_some_and(|board| board.has_room() && board.key() == key);
    out.extend_from_slice(b"{\"fen\":");
    match &board {
        None => out.extend_from_slice(b"null"),
        Some(board) => {
            out.push(b'"');
            if !board.push_fen(out) {
                out.extend_from_slice(odd_fen(board).as_bytes());
            }
            out.push(b'"');
        }
    }
    let PositionRecord {
        stats,
        points,
        recommendation,
        learn_value,
        commentary,
    } = entry.record();
    push_number(out, ",\"games\":", stats.games);
    push_number(out, ",\"wins\":", stats.wins);
    push_number(out, ",\"losses\":", stats.losses);
    push_number(out, ",\"draws\":", stats.draws);
    push_number(out, ",\"points\":", points);
    push_number(out, ",\"own_rated\":", stats.own_rated);
    push_number(out, ",\"own_rating_sum\":", stats.own_rating_sum);
    push_number(out, ",\"other_rated\":", stats.other_rated);
    push_number(out, ",\"other_rating_sum\":", stats.other_rating_sum);
    push_number(out, ",\"recommendation\":", recommendation);
    push_number(out, ",\"factor\":", learn_value);
    push_number(out, ",\"commentary\":", commentary);
    out.extend_from_slice(b",\"moves\":[");
    let mut moves = MoveWriter::new(board);
    let mut comma: &[u8] = b"";
    for (byte, Annotation(annotation)) in entry.moves() {
        out.extend_from_slice(comma);
        comma = b",";
        let same = moves.push_uci(out, byte);
        push_number(out, ",\"annotation\":", annotation);
        if !same {
            push_number(out, ",\"byte\":", byte);
        }
        out.push(b'}');
    }
    out.push(b']');
    if !same {
        out.extend_from_slice(format!(",\"key\":\"{key}\"").as_bytes());
    }
    out.extend_from_slice(b"}\n");
    true
}

fn push_number(out: &mut Vec<u8>, name: &str, number: impl itoa::Integer) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes the moves of a position. Most need no rules of chess.
struct MoveWriter {
    board: Option<CanonicalBoard>,
    is_plain: bool,
    /// Made for the first move that needs it.
    position: Option<Option<Chess>>,
}

impl MoveWriter {
    fn new(board: Option<CanonicalBoard>) -> MoveWriter {
        MoveWriter {
            board,
            is_plain: board.is_some_and(|board| board.is_surely_ordinary()),
            position: None,
        }
    }

    /// Appends the beginning of a move, up to its UCI notation; returns whether its byte
    /// follows from that.
    fn push_uci(&mut self, out: &mut Vec<u8>, byte: u8) -> bool {
        out.extend_from_slice(b"{\"uci\":");
        let found = self.uci_of(byte);
        match &found {
            None => out.extend_from_slice(b"null"),
            Some((uci, _)) => {
                out.push(b'"');
                uci.append_ascii_to(out);
                out.push(b'"');
            }
        }
        found.is_some_and(|(_, same)| same)
    }

    fn uci_of(&mut self, byte: u8) -> Option<(UciMove, bool)> {
        let board = self.board.as_ref()?;
        let plain = self.is_plain.then(|| board.legal_squares(byte)).flatten();
        if let Some(squares) = plain {
            let mv = squares?;
            let (from, to) = mv.squares();
            let promotion = mv.promotion();
            // Each byte but those of two meanings is the byte of its move.
            return Some((
                UciMove::Normal {
                    from,
                    to,
                    promotion,
                },
                true,
            ));
        }
        let make = || board.to_setup().position(CastlingMode::Standard).ok();
        let position = self.position.get_or_insert_with(make).as_ref()?;
        let legal = likely_moves(byte, board, position);
        let mv: Move = *legal.get(find_move_byte(byte, board, &legal).ok()?)?;
        let same = encode_move_byte(board, mv) == Some(byte);
        Some((mv.to_uci(CastlingMode::Standard), same))
    }
}

/// The FEN of a position with illegal rights or numbers of men.
fn odd_fen(board: &CanonicalBoard) -> String {
    let fen = Fen::try_from_setup(board.to_setup()).unwrap_or_else(LossyFenError::ignore);
    notation::fen_text(&fen)
}

/// A field, and what is wrong with it.
type Fault = (String, String);

fn fault<T>(field: impl Into<String>, text: impl ToString) -> Result<T, Fault> {
    Err((field.into(), text.to_string()))
}

/// Reads a text book and writes it as a ChessBase book.
pub(super) fn to_ctg(work: &mut Work<'_, '_>, target: &Path) -> Result<Converted, Error> {
    let job = work.job;
    let path = &job.source;
    let mut lines = Lines::open(path)?;
    let first: FirstLine = match lines.next()? {
        Some(line) => parse(line).map_err(|fault| lines.error(fault))?,
        None => return Err(lines.error((String::new(), "the file is empty".to_owned()))),
    };
    if first.format != FORMAT {
        let text = format!("\"{}\", expected \"{FORMAT}\"", first.format);
        return Err(lines.error(("format".to_owned(), text)));
    }
    if first.version != VERSION {
        let text = format!("{}; this tabia reads version {VERSION}", first.version);
        return Err(lines.error(("version".to_owned(), text)));
    }
    let mut writer = UnsortedWriter::create(target, work.book_options(), work.job.memory)?;
    writer.set_only(first.only.map(OnlySide::color));
    let (mut positions, mut astray, mut before) = (0, 0, lines.number);
    let take = |chunk: Chunk| {
        let mut begin = 0;
        for (end, line) in chunk.ends {
            let entry = chunk.entries.get(begin..end).unwrap_or_default();
            writer.push(entry, before + line)?;
            begin = end;
            positions += 1;
            work.step("reading", positions, None)?;
        }
        astray += chunk.astray;
        before += chunk.lines;
        match chunk.fault {
            Some(fault) => Err(line_error(path, before, fault)),
            None => Ok(()),
        }
    };
    parallel::run(
        parallel::threads(),
        |jobs| jobs.each(|text: Vec<u8>, _| Ok(Chunk::read(&text))),
        |lead| lead.each(std::iter::from_fn(|| lines.chunk().transpose()), take),
    )?;
    let written = writer.finish(
        first.games,
        |same, entry| match same {
            [(first, _), (second, _), ..] => Err(Error::Line {
                path: path.as_path().into(),
                line: *second,
                field: "fen".to_owned(),
                text: format!("the same position as in line {first}"),
            }),
            _ => {
                entry.extend(same.iter().flat_map(|(_, bytes)| bytes));
                Ok(())
            }
        },
        work.watch,
        Some(positions),
    )?;
    let mut summary = Converted::from_written(&written);
    summary.note(
        astray,
        "positions not in canonical form (the king belongs on the files e to h), which no reader finds",
    );
    Ok(summary)
}

/// Parses a line; the error has the field.
fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(line).or_else(|_| {
        let mut reader = serde_json::Deserializer::from_slice(line);
        let found: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let field = match error.path().to_string() {
                field if field == "." || field == "?" => String::new(),
                field => field,
            };
            (field, in_column(error.inner()))
        })?;
        match reader.end() {
            Ok(()) => Ok(found),
            Err(error) => fault("", in_column(&error)),
        }
    })
}

/// The message without the line number, which is always 1.
fn in_column(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line ") {
        Some((text, _)) if error.column() > 0 => format!("{text} at column {}", error.column()),
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}

/// Appends the entry of a position; returns whether readers will find it.
fn entry_of(line: &PositionLine<'_>, entry: &mut Vec<u8>) -> Result<bool, Fault> {
    let (key, board) = key_of(line)?;
    let stats = Stats {
        games: line.games,
        wins: line.wins,
        draws: line.draws,
        losses: line.losses,
        own_rated: line.own_rated,
        own_rating_sum: line.own_rating_sum,
        other_rated: line.other_rated,
        other_rating_sum: line.other_rating_sum,
    };
    let count = |count: u32| (u64::from(count), MAX_COUNT);
    for (field, (number, most)) in [
        ("games", count(stats.games)),
        ("wins", count(stats.wins)),
        ("losses", count(stats.losses)),
        ("draws", count(stats.draws)),
        ("own_rated", count(stats.own_rated)),
        ("own_rating_sum", (stats.own_rating_sum, u32::MAX)),
        ("other_rated", count(stats.other_rated)),
        ("other_rating_sum", (stats.other_rating_sum, u32::MAX)),
    ] {
        if number > most.into() {
            return fault(
                field,
                format!("{number} is more than the format can store ({most})"),
            );
        }
    }
    let count = line.moves.len();
    if count > MAX_MOVES {
        return fault(
            "moves",
            format!("{count} are more than the format can store ({MAX_MOVES})"),
        );
    }
    let bytes = move_bytes(line, board.as_ref())?;
    let record = PositionRecord {
        stats,
        points: line.points,
        recommendation: line.recommendation,
        learn_value: line.learn_value,
        commentary: line.commentary,
    };
    encode_entry(&key, &bytes, &record, entry);
    Ok(board.is_none_or(|board| board.is_normal()))
}

fn key_of(line: &PositionLine<'_>) -> Result<(Key, Option<CanonicalBoard>), Fault> {
    if let Some(Text(text)) = &line.key {
        let bytes: Option<Vec<u8>> = (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
            .collect();
        let key =
            bytes.and_then(|bytes| Key::from_prefix(&bytes).filter(|key| key.as_bytes() == bytes));
        return match key {
            Some(key) => Ok((key, CanonicalBoard::from_key(&key).ok())),
            None => fault("key", "not the bytes of a key in hexadecimal"),
        };
    }
    let Some(Text(fen)) = &line.fen else {
        return fault("fen", "null, and there is no key");
    };
    if let Some(board) = CanonicalBoard::from_fen(fen.as_bytes()) {
        return Ok((board.key(), Some(board)));
    }
    let fen: Fen = fen.parse().or_else(|error| fault("fen", error))?;
    match CanonicalBoard::from_setup(fen.as_setup()) {
        Ok(board) => Ok((board.key(), Some(board))),
        Err(error) => fault("fen", error),
    }
}

fn move_bytes(
    line: &PositionLine<'_>,
    board: Option<&CanonicalBoard>,
) -> Result<Vec<(u8, Annotation)>, Fault> {
    let mut position: Option<Result<Chess, String>> = None;
    let mut bytes = Vec::with_capacity(line.moves.len());
    for (n, entry) in line.moves.iter().enumerate() {
        let annotation = Annotation(entry.annotation);
        if let Some(byte) = entry.byte {
            bytes.push((byte, annotation));
            continue;
        }
        let field = || format!("moves[{n}].uci");
        let (Some(Text(uci)), Some(board)) = (&entry.uci, board) else {
            return fault(field(), "null, and there is no byte");
        };
        let position = position.get_or_insert_with(|| {
            let position = board.to_setup().position(CastlingMode::Standard);
            position.map_err(|error: shakmaty::PositionError<Chess>| error.to_string())
        });
        let position = match position {
            Ok(position) => position,
            Err(error) => return fault("fen", error),
        };
        let parsed: UciMove = uci.parse().or_else(|error| fault(field(), error))?;
        let Ok(legal) = parsed.to_move(position) else {
            return fault(field(), format!("{uci} is not legal in this position"));
        };
        match encode_move_byte(board, legal) {
            Some(byte) => bytes.push((byte, annotation)),
            None => {
                return fault(
                    field(),
                    format!("{uci}: the format has no byte for such a move"),
                );
            }
        }
    }
    Ok(bytes)
}

/// The entries of some lines.
#[derive(Default)]
struct Chunk {
    /// The entries, one after the other.
    entries: Vec<u8>,
    /// The end of each entry, and its line number in the chunk, from 1.
    ends: Vec<(usize, u64)>,
    /// The number of lines, up to the one with the error.
    lines: u64,
    /// Positions that no reader finds.
    astray: u64,
    fault: Option<Fault>,
}

impl Chunk {
    fn read(text: &[u8]) -> Chunk {
        let mut chunk = Chunk::default();
        let mut begin = 0;
        while begin < text.len() {
            let rest = text.get(begin..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = rest.get(..end).unwrap_or_default();
            begin += end;
            chunk.lines += 1;
            if is_too_long(line) {
                chunk.fault = Some(too_long());
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            match parse(line).and_then(|line| entry_of(&line, &mut chunk.entries)) {
                Ok(normal) => chunk.astray += u64::from(!normal),
                Err(fault) => {
                    chunk.fault = Some(fault);
                    break;
                }
            }
            chunk.ends.push((chunk.entries.len(), chunk.lines));
        }
        chunk
    }
}

fn is_too_long(line: &[u8]) -> bool {
    line.len() as u64 >= MAX_LINE && !line.ends_with(b"\n") || line.len() as u64 > MAX_LINE
}

fn too_long() -> Fault {
    let text = format!("longer than {MAX_LINE} bytes, which is too long for a position");
    (String::new(), text)
}

/// The lines of a file, without empty ones.
struct Lines<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    line: Vec<u8>,
    number: u64,
    /// Text that was read already and belongs to the next chunk.
    rest: Vec<u8>,
}

/// Bytes of text that are converted at once.
const CHUNK: u64 = 256 << 10;

impl<'a> Lines<'a> {
    fn open(path: &'a Path) -> Result<Lines<'a>, Error> {
        let file = File::open(path).map_err(|error| Error::io(path, error))?;
        Ok(Lines {
            path,
            reader: BufReader::with_capacity(256 << 10, file),
            line: Vec::new(),
            number: 0,
            rest: Vec::new(),
        })
    }

    fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        loop {
            self.line.clear();
            self.number += 1;
            let read = self
                .reader
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut self.line)
                .map_err(|error| Error::io(self.path, error))?;
            if read == 0 {
                return Ok(None);
            }
            if is_too_long(&self.line) {
                return Err(self.error(too_long()));
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        // Returning from within the loop would borrow `self` for too long.
        Ok(Some(&self.line))
    }

    /// The following whole lines; the last one may exceed the allowed length.
    fn chunk(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut chunk = std::mem::take(&mut self.rest);
        loop {
            let read = self.reader.by_ref().take(CHUNK).read_to_end(&mut chunk);
            let read = read.map_err(|error| Error::io(self.path, error))?;
            if (read as u64) < CHUNK {
                return Ok(Some(chunk).filter(|chunk| !chunk.is_empty()));
            }
            if let Some(end) = chunk.iter().rposition(|byte| *byte == b'\n') {
                self.rest = chunk.split_off(end + 1);
                return Ok(Some(chunk));
            }
            if is_too_long(&chunk) {
                return Ok(Some(chunk));
            }
        }
    }

    fn error(&self, fault: Fault) -> Error {
        line_error(self.path, self.number, fault)
    }
}

fn line_error(path: &Path, line: u64, (field, text): Fault) -> Error {
    Error::Line {
        path: path.into(),
        line,
        field,
        text,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::ctg::read_entry;
    use shakmaty::Position as _;

    /// Positions of games, the same with men that no game has, and any bytes as keys; each
    /// with the bytes of moves that are legal, and of others.
    #[test]
    fn each_line_is_read_as_the_entry_that_it_is_of() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 56) as u8
        };
        let (mut ordinary, mut others) = (0, 0);
        for position in crate::random::games(5, 40, 100).flatten() {
            let board = CanonicalBoard::from_position(&position).unwrap();
            let legal = position.legal_moves();
            let legal = legal.iter().filter_map(|mv| encode_move_byte(&board, *mv));
            let legal: Vec<u8> = legal.take(3).collect();
            let mut key = board.key().as_bytes().to_vec();
            for damage in 0..4 {
                if let Some(key) = Key::from_prefix(&key) {
                    let moves = legal.iter().copied().chain([random(), random()]);
                    let moves: Vec<_> = moves.map(|byte| (byte, Annotation(random()))).collect();
                    let record = PositionRecord {
                        learn_value: random().cast_signed(),
                        ..PositionRecord::default()
                    };
                    let (mut bytes, mut line, mut read) = (Vec::new(), Vec::new(), Vec::new());
                    encode_entry(&key, &moves, &record, &mut bytes);
                    if push_line(&mut line, &read_entry(&bytes).unwrap()) {
                        entry_of(&parse(&line).unwrap(), &mut read).unwrap();
                        assert_eq!(read, bytes, "{}", String::from_utf8_lossy(&line));
                    }
                    let board = CanonicalBoard::from_key(&key);
                    match board.is_ok_and(|board| board.is_surely_ordinary()) {
                        true => ordinary += 1,
                        false => others += 1,
                    }
                }
                // Another man, or none, and then all squares after it are others.
                let at = 2 + usize::from(random()) % (key.len() - 2);
                key[at] ^= 1 << (damage + random() % 4);
            }
        }
        assert!(ordinary > 3000 && others > 3000, "{ordinary} {others}");
    }
}
