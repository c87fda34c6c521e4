//! Scid databases: `.si4` with `.sn4` and `.sg4`, `.si5` with `.sn5` and
//! `.sg5`.
//!
//! | file | content | module |
//! |---|---|---|
//! | .si4, .si5 | a record for each game | `entry` |
//! | .sn4, .sn5 | players, events, sites, rounds | `names` |
//! | .sg4, .sg5 | tags, moves, comments, at offsets that the index contains | `decode`, `moves` |
//!
//! The versions differ in the first two files; `.sg4` and `.sg5` are the same.

mod decode;
mod encode;
mod entry;
mod keys;
mod moves;
mod names;
mod write;

pub(crate) use encode::ScidRecord;
pub(crate) use write::ScidWriter;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use shakmaty::Color;

use super::archive::SourceFile;
use super::counted_remark::CountedRemark;
use super::indexed::{Indexed, IndexedSource, Layout, ReadGame};
use super::{Date, Error, Game, GameParts, GameSource, SkipReason};
use entry::{NEW_BYTES, OLD_BYTES, RATING_KINDS, ScidEntry};
use names::{EVENTS, Names, PLAYERS, ROUNDS, SITES};
use tabia_io::input::bytes::be_u16_at;
use tabia_io::input::window::Window;

/// First bytes of an index of version 4.
const OLD_MAGIC: &[u8; 8] = b"Scid.si\0";

/// Bytes before the first record of version 4.
const OLD_HEADER_BYTES: u64 = 182;

/// The supported version number in the header.
const OLD_VERSION: u16 = 400;

/// An open database.
struct Database {
    layout: Layout,
    parse: fn(&[u8]) -> Option<ScidEntry>,
    names: Names,
    lost_names: CountedRemark,
    missing_comments: CountedRemark,
    unmarked_comments: CountedRemark,
}

/// Whether a file is the index of a database of version 4.
pub(super) fn is_old(start: &[u8]) -> bool {
    start.starts_with(OLD_MAGIC)
}

/// Opens a database by its index.
///
/// # Errors
///
/// It is not an index, or a file is missing.
pub(super) fn open(index: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let path = index.path();
    let (entries, start) = index.open_start(17)?;
    let is_old = is_old(&start);
    let (endings, record_bytes, first_at) = if is_old {
        let version = be_u16_at(&start, 8).unwrap_or(0);
        if version != OLD_VERSION {
            let text = format!(
                "a Scid database of version {version}, which cannot be read: \
                 open it with Scid, which makes it version {OLD_VERSION}"
            );
            return Err(Error::format(path, text));
        }
        (["sn4", "sg4"], OLD_BYTES, OLD_HEADER_BYTES)
    } else {
        (["sn5", "sg5"], NEW_BYTES, 0)
    };
    let [names_ending, games_ending] = endings;
    let games = index.games_file(games_ending)?.open_named()?;
    let mut remarks = Vec::new();
    let names = match read_names(index, names_ending, is_old) {
        Ok(names) => names,
        Err(fault) => {
            remarks.push(format!("{}: {fault}; names are not known", path.display()));
            Names::default()
        }
    };
    let room = entries.len().saturating_sub(first_at);
    let (present, rest) = (room / record_bytes, room % record_bytes);
    let announced = if is_old {
        // The number has three bytes.
        start.get(14..17).map_or(0, |bytes| {
            bytes
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        })
    } else {
        present
    };
    // A database without games has an index of no bytes.
    if !is_old && present == 0 && !entries.is_empty() {
        return Err(Error::format(path, "not a Scid database: it is too short"));
    }
    if present != announced || rest > 0 {
        remarks.push(format!(
            "{}: its header says {announced} games, and it has {present} and {rest} bytes",
            path.display()
        ));
    }
    if let Some(fault) = &names.fault {
        let shown = path.with_extension(names_ending);
        remarks.push(format!(
            "{}: {fault}; some names are not known",
            shown.display()
        ));
    }
    let database = Database {
        layout: Layout {
            name: path.display().to_string(),
            remarks,
            entries: Arc::new(entries),
            moves: Arc::new(games),
            first_at,
            record_bytes,
            count: announced.min(present),
        },
        parse: if is_old {
            ScidEntry::parse_old
        } else {
            ScidEntry::parse_new
        },
        names,
        lost_names: CountedRemark::new("unknown names (no name has their number)"),
        missing_comments: CountedRemark::new("comments that are marked, but not written"),
        unmarked_comments: CountedRemark::new("comments left out (nothing says where they belong)"),
    };
    Ok(Box::new(IndexedSource::new(database)))
}

/// Reads the file of names into memory.
fn read_names(index: &SourceFile, ending: &str, is_old: bool) -> Result<Names, String> {
    let file = index.sibling(ending);
    let file = file.ok_or_else(|| format!("its .{ending} file is missing"))?;
    let all = file
        .bytes()
        .map_err(|error| format!(".{ending}: {error}"))?;
    let mut names = match is_old {
        true => Names::parse_old(&all),
        false => Names::parse_new(&all),
    };
    names.encoding = index.encoding().unwrap_or_default();
    Ok(names)
}

impl Indexed for Database {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn parse(&self, record: &[u8]) -> Option<Result<ScidEntry, SkipReason>> {
        let entry = (self.parse)(record)?;
        Some(if entry.is_deleted() {
            Err(SkipReason::Deleted)
        } else {
            Ok(entry)
        })
    }

    fn counted_remarks(&self) -> Vec<&CountedRemark> {
        vec![
            &self.lost_names,
            &self.missing_comments,
            &self.unmarked_comments,
        ]
    }
}

impl ReadGame for Database {
    type Entry = ScidEntry;
    type Buffers = Vec<u8>;

    fn place(&self, entry: &ScidEntry) -> Option<Range<u64>> {
        Some(entry.offset..entry.offset.saturating_add(entry.length.into()))
    }

    fn read(
        &self,
        entry: &ScidEntry,
        moves: &Window,
        wanted: GameParts,
        buffer: &mut Vec<u8>,
        game: &mut Game,
    ) -> Result<(), SkipReason> {
        let length = usize::try_from(entry.length).unwrap_or(0);
        let bytes = moves
            .read(entry.offset, length, buffer)
            .map_err(|error| SkipReason::Text(error.to_string()))?;
        if length == 0 || bytes.len() < length {
            let text = format!(
                "its {length} bytes should be at byte {} of the file of games, \
                 which has {} bytes",
                entry.offset,
                moves.file_len()
            );
            return Err(SkipReason::Text(text));
        }
        self.describe(entry, wanted, game);
        let losses = decode::decode(bytes, entry.chess960, wanted, self.names.encoding, game)?;
        self.missing_comments.add(losses.missing_comments);
        self.unmarked_comments.add(losses.unmarked_comments);
        Ok(())
    }
}

impl Database {
    fn look_up(&self, kind: usize, number: u32) -> Cow<'_, str> {
        let name = self.names.get(kind, number);
        name.unwrap_or_else(|| {
            self.lost_names.add(1_u64);
            "?".into()
        })
    }

    /// Copies the index entry into the game.
    fn describe(&self, entry: &ScidEntry, wanted: GameParts, game: &mut Game) {
        for color in Color::ALL {
            let name = self.look_up(PLAYERS, *entry.players.get(color));
            game.names.get_mut(color).push_str(&name);
        }
        game.set_date(entry.date);
        if let Some(event) = self.names.bytes(EVENTS, entry.event) {
            game.conditions.read_tag(b"Event", event);
        }
        game.result = entry.result;
        game.eco = entry::eco_code(entry.eco).unwrap_or_default();
        for color in Color::ALL {
            // As in PGN: ratings other than Elo are not compared with Elo.
            if *entry.kinds.get(color) == 0 {
                *game.elo.get_mut(color) = *entry.ratings.get(color);
            }
        }
        if !wanted.tags() {
            return;
        }
        let tags = &mut game.tags;
        tags.set("Event", self.look_up(EVENTS, entry.event));
        tags.set("Site", self.look_up(SITES, entry.site));
        for (name, date) in [("Date", entry.date), ("EventDate", entry.event_date)] {
            if date != Date::default() {
                tags.set(name, date.to_pgn());
            }
        }
        tags.set("Round", self.look_up(ROUNDS, entry.round));
        if let Some(eco) = entry::eco(entry.eco).filter(|eco| eco.len() > 3) {
            tags.set("ECO", eco);
        }
        for (color, name) in [(Color::White, "White"), (Color::Black, "Black")] {
            let kind = usize::from(*entry.kinds.get(color));
            let rating = *entry.ratings.get(color);
            if let Some(kind) = RATING_KINDS.get(kind).filter(|_| kind > 0 && rating > 0) {
                tags.set(&format!("{name}{kind}"), rating.to_string());
            }
        }
    }
}
