//! What a file holds: games, a book, or neither, recognized by its first bytes, and by
//! its name only if they are not enough.
//!
//! Readers of books and readers of games know nothing of each other, and each must say
//! what a file is that belongs to the other: so this is in the crate below both. All
//! commands use it, so that a wrong kind of file is refused with a hint to the right
//! command.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::moves::is_numeric_move;

/// Number of first bytes that are needed to recognize a file.
pub const START_BYTES: usize = 1024;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An opening book.
    Book(BookKind),
    /// Games as PGN text.
    Pgn,
    /// Compressed data: usual for PGN, never used for books.
    Packed,
    /// Games as lines of JSON, as lichess can export them.
    GamesAsJson,
    /// UTF-16 text, which no reader accepts.
    Utf16,
    /// A web page, saved in place of the file that it links to.
    WebPage,
    /// A Git LFS pointer: a text in place of the file.
    LfsPointer,
    /// A tar archive, not compressed.
    Tar,
    /// An SQLite database, as En Croissant's `.db3`.
    Sqlite,
    /// Neither a book nor PGN; it may be a database of games.
    Other,
}

/// Ways in which a file is compressed as a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// `.gz`
    Gzip,
    /// `.bz2`
    Bzip2,
    /// `.zst`
    Zstd,
}

impl Packing {
    /// The compression of a file, by its first bytes.
    #[must_use]
    pub fn recognize(start: &[u8]) -> Option<Packing> {
        match *start {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Packing::Bzip2),
            // A frame, or a skippable frame before it.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Packing::Zstd)
            }
            _ => None,
        }
    }
}

crate::named! {
    /// A format of books, named by the extension of its files.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BookKind {
        /// ChessBase.
        Ctg = "ctg",
        /// Polyglot.
        Bin = "bin",
        /// Arena.
        Abk = "abk",
        /// Shredder.
        Bkt = "bkt",
        /// Chessmaster.
        Obk = "obk",
        /// A book as text.
        Jsonl = "jsonl",
    }
}

impl BookKind {
    /// The usual name of such a book.
    #[must_use]
    pub fn title(self) -> &'static str {
        let title = self.with_article();
        title.split_once(' ').map_or(title, |(_, title)| title)
    }

    /// The usual name with its article.
    #[must_use]
    pub const fn with_article(self) -> &'static str {
        match self {
            BookKind::Ctg => "a ChessBase opening book",
            BookKind::Bin => "a Polyglot opening book",
            BookKind::Abk => "an Arena opening book",
            BookKind::Bkt => "a Shredder opening book",
            BookKind::Obk => "a Chessmaster opening book",
            BookKind::Jsonl => "a book as text",
        }
    }

    /// The format that the name of a file means.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<BookKind> {
        BookKind::from_name(path.extension()?.to_str()?)
    }

    /// Like [`BookKind::of_name`], for books that are played from: all but books as text.
    #[must_use]
    pub fn of_played(path: &Path) -> Option<BookKind> {
        BookKind::of_name(path).filter(|kind| !kind.is_text())
    }

    /// Whether it is a book as text, of which a book is made before it is used.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, BookKind::Jsonl)
    }
}

impl Kind {
    /// The kind of the file at a path. `None` if it is not a regular file or cannot be
    /// read; opening it will report that.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Kind> {
        // Opening a pipe would wait for its writer.
        path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut start = Vec::new();
        let file = File::open(path).ok()?;
        file.take(START_BYTES as u64).read_to_end(&mut start).ok()?;
        Some(Kind::recognize(path, &start))
    }

    /// The kind of a file by its name and its first bytes: [`START_BYTES`], or all if
    /// it is shorter.
    #[must_use]
    pub fn recognize(path: &Path, start: &[u8]) -> Kind {
        // The index files of a ChessBase book have similar starts; its reader checks
        // that.
        const CTG: [[u8; 4]; 3] = [[0, 0x20, 0x10, 0], [0, 0x10, 0, 1], [0, 0x0c, 0, 1]];
        let named = BookKind::of_name(path);
        match *start {
            [3, b'A', b'B', ..] => return Kind::Book(BookKind::Abk),
            [b'B', b'O', b'O', b'!', ..] | [b'U', b'G', b'W', b'S', ..] => {
                return Kind::Book(BookKind::Obk);
            }
            _ if is_bkt(start) => return Kind::Book(BookKind::Bkt),
            [b'P', b'K', 3, 4, ..] | [b'7', b'z', 0xbc, 0xaf, ..] => return Kind::Packed,
            _ if Packing::recognize(start).is_some() => return Kind::Packed,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => return Kind::Utf16,
            _ if is_web_page(start) => return Kind::WebPage,
            _ if is_lfs_pointer(start) => return Kind::LfsPointer,
            _ if is_tar(start) => return Kind::Tar,
            // The first sixteen bytes of every such file (sqlite.org/fileformat.html).
            _ if start.starts_with(b"SQLite format 3\0") => return Kind::Sqlite,
            _ => {}
        }
        if start.first_chunk().is_some_and(|first| CTG.contains(first)) {
            return Kind::Book(BookKind::Ctg);
        }
        if named == Some(BookKind::Jsonl)
            || start
                .trim_ascii_start()
                .starts_with(b"{\"format\":\"tabia-book\"")
        {
            return Kind::Book(BookKind::Jsonl);
        }
        if is_games_as_json(start) {
            return Kind::GamesAsJson;
        }
        match named {
            _ if is_pgn(start) && (named.is_none() || !start.is_empty()) => Kind::Pgn,
            // The readers of the other formats check how a file begins.
            Some(BookKind::Bin) if !start.is_empty() && is_text(start) => Kind::Other,
            // Polyglot books have no magic number; they are recognized by the order of
            // their entries.
            _ if is_ascending(start) => Kind::Book(BookKind::Bin),
            // Also if it is damaged: its reader then reports what is missing.
            Some(book) => Kind::Book(book),
            None => Kind::Other,
        }
    }

    /// For callers that need a book: a text that says what the file is instead, with a
    /// hint. `None` for a book.
    #[must_use]
    pub fn no_book(self) -> Option<&'static str> {
        Some(match self {
            Kind::Book(_) => return None,
            Kind::Pgn => "this is PGN: build a book from these games first",
            Kind::Packed => {
                "this is compressed: unpack the book, or build a book from the games in it"
            }
            Kind::WebPage => "this is a web page, not a book: download the file that it links to",
            Kind::LfsPointer => {
                "this is a Git LFS pointer, not a book: `git lfs pull` fetches the file"
            }
            Kind::Tar => "this is a tar archive: unpack it with `tar xf` first",
            Kind::Sqlite => {
                "this is an SQLite database (En Croissant's .db3), not a book: export its games as \
                 PGN in that program, and build a book from them"
            }
            Kind::GamesAsJson | Kind::Utf16 | Kind::Other => {
                "not an opening book: .ctg, .bin, .abk, .bkt, .obk and .jsonl can be read; a book can be built from games"
            }
        })
    }

    /// For callers that need games: a text that says what the file is instead, with a
    /// hint. `None` for games.
    #[must_use]
    pub fn no_games(self) -> Option<String> {
        Some(match self {
            Kind::Pgn | Kind::Packed => return None,
            Kind::Book(book) => format!(
                "this is a book ({}), not games: convert it to PGN, \
                 or merge it with other books",
                book.title()
            ),
            Kind::GamesAsJson => "these are games as JSON: ask lichess for PGN \
                 (`Accept: application/x-chess-pgn`, which is what it gives without \
                 `Accept: application/x-ndjson`)"
                .to_owned(),
            Kind::Utf16 => "this is text in UTF-16: save it as UTF-8".to_owned(),
            Kind::WebPage => {
                "this is a web page, not games: download the file that it links to".to_owned()
            }
            Kind::LfsPointer => {
                "this is a Git LFS pointer, not games: `git lfs pull` fetches the file".to_owned()
            }
            Kind::Tar => "this is a tar archive: unpack it with `tar xf`, and give the folder \
                 with its files"
                .to_owned(),
            Kind::Sqlite => {
                "this is an SQLite database (En Croissant's .db3): export its games as \
                 PGN in that program, under Databases"
                    .to_owned()
            }
            Kind::Other => "this is neither games nor a book: PGN and common game databases \
                 (.cbh, .cbv, .si4, .si5, ...) are read"
                .to_owned(),
        })
    }
}

/// Whether a Shredder book starts here: cells of 48 bytes, each empty, or with a key of the
/// first bucket, a move of a white piece, and 32 zeros.
fn is_bkt(start: &[u8]) -> bool {
    const CELL: usize = 48;
    let is_cell = |cell: &&[u8; CELL]| {
        let word = cell.get(8..12).and_then(|bytes| bytes.first_chunk());
        let word = word.map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let square = |bits: u32| matches!(word >> bits & 0x7f, 1..=64);
        let is_piece = matches!(word >> 22 & 15, 1..=3 | 5..=7);
        let rest = cell.get(16..).unwrap_or_default();
        let bucket = cell.first().map_or(0, |byte| byte & 0x7f);
        bucket == 0 && square(0) && square(7) && is_piece && rest.iter().all(|byte| *byte == 0)
    };
    let cells = start.as_chunks::<CELL>().0;
    let mut filled = cells
        .iter()
        .filter(|cell| cell.iter().any(|byte| *byte != 0))
        .peekable();
    start.len() >= START_BYTES && filled.peek().is_some() && filled.all(|cell| is_cell(&cell))
}

/// Whether a JSON object starts here that has moves or players of a game.
fn is_games_as_json(start: &[u8]) -> bool {
    let text = start.trim_ascii_start();
    let has = |key: &str| text.windows(key.len()).any(|part| part == key.as_bytes());
    text.starts_with(b"{\"") && (has("\"moves\":") || has("\"players\":{"))
}

/// A text without a byte order mark.
fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start)
}

/// Whether there are no control characters.
fn is_text(start: &[u8]) -> bool {
    control_characters(start) == 0
}

/// The number of control characters. Old editors end a text with 0x1a.
fn control_characters(start: &[u8]) -> usize {
    let is_text = |byte: &&u8| **byte >= b' ' || byte.is_ascii_whitespace() || **byte == 0x1a;
    start.iter().filter(|byte| !is_text(byte)).count()
}

fn is_web_page(start: &[u8]) -> bool {
    let text = without_mark(start).trim_ascii_start();
    if text.first() != Some(&b'<') || !is_text(text) {
        return false;
    }
    let text = text.to_ascii_lowercase();
    let has = |tag: &[u8]| text.windows(tag.len()).any(|part| part == tag);
    let tags = [
        &b"<!doctype"[..],
        b"<html",
        b"<head",
        b"<title",
        b"<meta",
        b"<body",
        b"<script",
        b"<?xml",
    ];
    tags.into_iter().any(has)
}

/// By the first line of the specification, or of its first draft.
fn is_lfs_pointer(start: &[u8]) -> bool {
    let first = [
        &b"version https://git-lfs.github.com/spec/"[..],
        b"version https://hawser.github.com/spec/",
    ];
    first.into_iter().any(|first| start.starts_with(first))
}

/// By the checksum of the first header, which also the oldest archives have.
fn is_tar(start: &[u8]) -> bool {
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let Some(header) = start.first_chunk::<512>() else {
        return false;
    };
    let stored = header.get(CHECKSUM).unwrap_or_default();
    let octal = |byte: &u8| matches!(byte, b'0'..=b'7').then(|| u32::from(byte - b'0'));
    let digits: Vec<u32> = stored.trim_ascii_start().iter().map_while(octal).collect();
    let stored = digits.iter().fold(0, |sum, digit| sum << 3 | digit);
    let bytes = header.iter().enumerate().map(|(at, byte)| match at {
        at if CHECKSUM.contains(&at) => u32::from(b' '),
        _ => u32::from(*byte),
    });
    !digits.is_empty() && bytes.sum::<u32>() == stored
}

/// Whether the bytes look like PGN text; true if there are none.
fn is_pgn(start: &[u8]) -> bool {
    let text = without_mark(start);
    let begins = text.trim_ascii_start();
    // After a tag, control characters are damage in a text: readers of games take them as
    // blanks.
    let is_text = match control_characters(text) {
        0 => true,
        some => some <= text.len() / 8 && begins.starts_with(b"[") && tag_name(text),
    };
    let mut words = text.split(u8::is_ascii_whitespace);
    let is_word = |word: &[u8]| {
        let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let tail = word.get(digits + 1);
        // "1.", "1.e4" and "1.5254" are move numbers; "2.9" is not.
        let is_squares = || {
            let tail = std::str::from_utf8(word.get(digits + 1..).unwrap_or_default());
            tail.is_ok_and(is_numeric_move)
        };
        let numbered = digits > 0
            && word.get(digits) == Some(&b'.')
            && (!tail.is_some_and(u8::is_ascii_digit) || is_squares());
        numbered || is_move(word) || is_result(word)
    };
    is_text
        && match begins.first() {
            None | Some(b'%' | b';' | b'(') => true,
            // A tag has a name here; other lists do not.
            Some(b'[') => tag_name(text) || words.any(is_word),
            Some(b'{') => begins.get(1) != Some(&b'"'),
            Some(_) => words.any(is_word) || tag_name(text),
        }
}

/// Whether a line starts like a tag: `[Event "`.
fn tag_name(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let Some(rest) = line.trim_ascii_start().strip_prefix(b"[") else {
            return false;
        };
        let rest = rest.trim_ascii_start();
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let name = rest.iter().take_while(is_name).count();
        let tail = rest.get(name..).unwrap_or_default().trim_ascii_start();
        // Quotation marks of other languages, after the names that every game has.
        let is_usual = || {
            let name = rest.get(..name).unwrap_or_default();
            [&b"Event"[..], b"Site", b"White", b"Black"].contains(&name)
        };
        name > 0 && (tail.first() == Some(&b'"') || !tail.is_empty() && is_usual())
    })
}

fn is_result(word: &[u8]) -> bool {
    [&b"1-0"[..], b"0-1", b"1/2-1/2"].contains(&word)
}

/// Whether a word looks like a move as PGN writes it.
fn is_move(word: &[u8]) -> bool {
    let word = word.trim_ascii_end();
    if word.starts_with(b"O-O") {
        return true;
    }
    let word = word.strip_suffix(b"+").unwrap_or(word);
    let word = match word {
        [b'K' | b'Q' | b'R' | b'B' | b'N', rest @ ..] => rest,
        _ => word,
    };
    let word = word.strip_prefix(b"x").unwrap_or(word);
    matches!(
        word,
        [b'a'..=b'h', b'1'..=b'8'] | [b'a'..=b'h', b'x', b'a'..=b'h', b'1'..=b'8']
    )
}

/// Whether the bytes are Polyglot entries of 16 bytes with ascending keys; by chance
/// that is true for one file in thousands.
fn is_ascending(start: &[u8]) -> bool {
    let (entries, rest) = start.as_chunks::<16>();
    let key = |entry: &[u8; 16]| entry.first_chunk::<8>().copied().unwrap_or_default();
    rest.is_empty()
        && entries.len() >= 8
        && entries.is_sorted_by_key(key)
        && entries.first().map(key) < entries.last().map(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tar archive; the oldest ones have no magic text.
    fn tar(name: &[u8], magic: &[u8]) -> Vec<u8> {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name);
        header[257..257 + magic.len()].copy_from_slice(magic);
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        header
    }

    #[test]
    fn content_goes_before_the_name() {
        let mut polyglot = Vec::new();
        for n in 0..64_u64 {
            polyglot.extend((n * 0x0123_4567_89ab).to_be_bytes());
            polyglot.extend([0; 8]);
        }
        let mut program = b"\x7fELF\x02\x01\x01\0".to_vec();
        program.extend((0..1000_u32).map(|n| (n * 7919 % 251) as u8));
        let book = Kind::Book;
        for (name, start, kind) in [
            ("a.pgn", &b"[Event \"?\"]\n\n1. e4 *\n"[..], Kind::Pgn),
            (
                "a.ctg",
                b"\xef\xbb\xbf[Event \"?\"]\n\n1. e4 *\n",
                Kind::Pgn,
            ),
            (
                "a.pgn",
                b"[Event \"E\"]\n\n1. e4 {a\x01b\0} e5 1-0\n",
                Kind::Pgn,
            ),
            ("a.pgn", b"[Event \"\x01\x02\x03\x04\"]\n", Kind::Other),
            ("a.pgn", b"1. e4 {a\x01b} e5 1-0\n", Kind::Other),
            ("a", b"1.e4 e5 2.Nf3", Kind::Pgn),
            ("a", b"e4 e5 Nf3 *", Kind::Pgn),
            (
                "a.toml",
                b"[package]\nversion = \"0.1.0\"\n# below 2.9: no\n",
                Kind::Other,
            ),
            ("a", b"{ a comment } 1. e4", Kind::Pgn),
            ("a", b"[ White\t\"M\xfcller\" ]\r\n", Kind::Pgn),
            ("a.pgn", b"", Kind::Pgn),
            ("a.pgn", b"\0\x20\x10\0rest", book(BookKind::Ctg)),
            ("a.pgn", b"\x03AB1", book(BookKind::Abk)),
            (
                "a.pgn",
                b"{\"format\":\"tabia-book\",",
                book(BookKind::Jsonl),
            ),
            ("a.pgn", &polyglot, book(BookKind::Bin)),
            ("a.ctg", &polyglot, book(BookKind::Bin)),
            ("a.abk", &polyglot, book(BookKind::Bin)),
            ("a", &polyglot[..8 * 16], book(BookKind::Bin)),
            ("a", &polyglot[..7 * 16], Kind::Other),
            ("a", &polyglot[..8 * 16 + 1], Kind::Other),
            (
                "a",
                &[b"\xff", &polyglot[..8 * 16 - 1]].concat(),
                Kind::Other,
            ),
            ("a.bin", b"BOO!\0", book(BookKind::Obk)),
            ("a", b"UGWS\0", book(BookKind::Obk)),
            ("a.bin", b"\0\x01", book(BookKind::Bin)),
            ("a.ctg", b"", book(BookKind::Ctg)),
            ("a.pgn.gz", b"\x1f\x8b\x08", Kind::Packed),
            ("a.pgn.bz2", b"BZh91AY", Kind::Packed),
            ("a.ctg", b"\x28\xb5\x2f\xfd", Kind::Packed),
            ("a.pgn", b"\xff\xfe[\0E\0", Kind::Utf16),
            ("a.pgn", &program, Kind::Other),
            ("a.pgn", &[0; 1024], Kind::Other),
            ("a.json", b"{\"games\": [1, 2]}", Kind::Other),
            (
                "a.ndjson",
                b"{\"id\":\"q7ZvsdUF\",\"variant\":\"standard\",\"moves\":\"e4 e5\"}\n",
                Kind::GamesAsJson,
            ),
            ("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04", Kind::Packed),
            ("a.json", b"[1, 2, 3]", Kind::Other),
            ("a.bin", b"404: Not Found", Kind::Other),
            ("a.bin", b"/annex/objects/SHA256E-s123--00", Kind::Other),
            ("a.ctg", b"an old book", book(BookKind::Ctg)),
            ("a.bin", b"\n<!DOCTYPE html>\n<p>1. e4 e5", Kind::WebPage),
            (
                "a.pgn",
                b"\xef\xbb\xbf<HTML lang=\"en\"><HEAD>",
                Kind::WebPage,
            ),
            ("a.si4", b"<?xml version=\"1.0\"?><Error>", Kind::WebPage),
            (
                "a.ctg",
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
                Kind::LfsPointer,
            ),
            ("a.bin", &tar(b"games.pgn", b"ustar\x0000"), Kind::Tar),
            ("a.pgn", &tar(b"games.pgn", b""), Kind::Tar),
            ("a.db3", b"SQLite format 3\0\x10\0\x01\x01", Kind::Sqlite),
            ("a.txt", b"Dear reader, nothing here is chess.", Kind::Other),
        ] {
            assert_eq!(
                Kind::recognize(Path::new(name), start),
                kind,
                "{name} {start:?}"
            );
            let (no_book, no_games) = (kind.no_book(), kind.no_games());
            assert!(no_book.is_some() || no_games.is_some(), "{kind:?}");
        }
    }
}
