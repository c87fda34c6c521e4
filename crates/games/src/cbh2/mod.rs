//! ChessBase databases since 2022: `.2cbh` and its companion files.
//!
//! | file | content | module |
//! |---|---|---|
//! | .2cbh | players, date, result: one record for each entry | `entry` |
//! | .2cbg | first positions and moves, at offsets that .2cbh contains | `framing`, `start`, `words`, `decode` |
//! | .2lid | players, tournaments | `names` |
//!
//! Only the first two are needed. No genuine file was available: this follows published
//! descriptions whose authors have read millions of games. So everything possible is
//! checked: framing and checksum of each record, moving and captured piece of each
//! move, and legality. Errors are reported with their offset; nothing is guessed.

mod decode;
mod entry;
mod framing;
mod names;
mod start;
mod words;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::archive::SourceFile;
use super::cbh::fields;
use super::counted_remark::CountedRemark;
use super::indexed::{Indexed, IndexedSource, Layout, ReadGame};
use super::tree::Tree;
use super::{Error, Game, GameParts, GameSource, SkipReason};
use entry::{Cbh2Entry, RECORD_BYTES};
use framing::Tag;
use names::Names;
use tabia_io::input::window::Window;

/// Bytes to read from the start of the last record of a batch.
const USUAL_RECORD_BYTES: u64 = 1 << 12;

/// An open database.
struct Database {
    layout: Layout,
    names: Option<Names>,
    open_games: CountedRemark,
    /// Games whose first position was read by the older description.
    other_readings: CountedRemark,
    new_rights: CountedRemark,
    half_words: CountedRemark,
    odd_results: CountedRemark,
}

/// Whether a file is the main file of such a database.
pub(super) fn is_index(path: &Path, start: &[u8]) -> bool {
    tabia_io::input::path::has_extension(path, "2cbh")
        || entry::is_header(start) && start.len() >= 192
}

/// Opens a database by its .2cbh file.
///
/// # Errors
///
/// It has another format, its .2cbg file is missing, or one of them cannot be read.
pub(super) fn open(index: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let path = index.path();
    let (entries, header) = index.open_start(32)?;
    if entries.len() < RECORD_BYTES || !entry::is_header(&header) {
        let text = "not a readable .2cbh file: its header is unknown; \
                    save it as .cbh or .pgn with ChessBase";
        return Err(Error::format(path, text));
    }
    let moves = index.games_file("2cbg")?.open_named()?;
    let mut remarks = Vec::new();
    let announced = entry::announced(&header);
    let present = entries.len() / RECORD_BYTES - 1;
    if announced != present || entries.len() % RECORD_BYTES > 0 {
        remarks.push(format!(
            "{}: {present} entries in it, {announced} by its header; the smaller number is read",
            path.display()
        ));
    }
    let names = match open_names(index) {
        Ok(names) => Some(names),
        Err(fault) => {
            let shown = path.with_extension("2lid");
            remarks.push(format!("{}: {fault}; names are not known", shown.display()));
            None
        }
    };
    let database = Database {
        layout: Layout {
            name: path.display().to_string(),
            remarks,
            entries: Arc::new(entries),
            moves: Arc::new(moves),
            first_at: RECORD_BYTES,
            record_bytes: RECORD_BYTES,
            count: announced.min(present),
        },
        names,
        open_games: CountedRemark::new("games without the mark of their end"),
        other_readings: CountedRemark::new(
            "set-up positions that are legal only with castling rights and en passant file \
             exchanged (read so)",
        ),
        new_rights: CountedRemark::new(
            "games that castle without the right in their set-up position (it was added)",
        ),
        half_words: CountedRemark::new("games with half a word at their end"),
        odd_results: CountedRemark::new("results that are unknown numbers"),
    };
    Ok(Box::new(IndexedSource::new(database)))
}

fn open_names(index: &SourceFile) -> Result<Names, String> {
    let file = index.sibling("2lid").ok_or("missing")?;
    Names::open(file.open().map_err(|error| error.to_string())?)
}

/// Buffers reused for each game.
#[derive(Default)]
pub(super) struct Buffers {
    head: Vec<u8>,
    content: Vec<u8>,
    words: Vec<u16>,
    tree: Tree,
    name: Vec<u8>,
}

impl Indexed for Database {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn parse(&self, record: &[u8]) -> Option<Result<Cbh2Entry, SkipReason>> {
        Cbh2Entry::parse(record)
    }

    fn counted_remarks(&self) -> Vec<&CountedRemark> {
        vec![
            &self.open_games,
            &self.other_readings,
            &self.new_rights,
            &self.half_words,
            &self.odd_results,
        ]
    }
}

impl ReadGame for Database {
    type Entry = Cbh2Entry;
    type Buffers = Buffers;

    fn place(&self, entry: &Cbh2Entry) -> Option<Range<u64>> {
        Some(entry.offset..entry.offset.saturating_add(USUAL_RECORD_BYTES))
    }

    fn read(
        &self,
        entry: &Cbh2Entry,
        moves: &Window,
        wanted: GameParts,
        buffers: &mut Buffers,
        game: &mut Game,
    ) -> Result<(), SkipReason> {
        let Buffers {
            head,
            content,
            words,
            tree,
            name,
        } = buffers;
        let place = |text: String| {
            SkipReason::Text(format!(
                "its record at byte {} of the .2cbg file: {text}",
                entry.offset
            ))
        };
        let (tag, content) = framing::read(moves, entry.offset, head, content).map_err(place)?;
        if tag == Tag::Annotations {
            return Err(place("it holds annotations".to_owned()));
        }
        self.describe(entry, wanted, name, game);
        let (pairs, half) = content.as_chunks::<2>();
        self.half_words.add(!half.is_empty());
        words.clear();
        words.extend(pairs.iter().map(|pair| u16::from_le_bytes(*pair)));
        let start = start::read(words, tag).map_err(SkipReason::Position)?;
        game.chess960 = start.chess960;
        let rest = words.get(start.words..).unwrap_or_default();
        let (odd, fault) = decode::decode(rest, &start, wanted, tree, game);
        self.open_games.add(odd.is_open);
        self.other_readings.add(odd.is_other_reading);
        self.new_rights.add(odd.has_new_rights);
        game.cut = fault.map(SkipReason::from);
        Ok(())
    }
}

impl Database {
    /// Fills in everything of a game except its moves.
    fn describe(
        &self,
        entry: &Cbh2Entry,
        wanted: GameParts,
        buffer: &mut Vec<u8>,
        game: &mut Game,
    ) {
        if let Some(names) = &self.names {
            game.names = entry.players.map(|number| names.player(number, buffer));
        }
        game.elo = fields::elo(entry.elo);
        let date = fields::date(entry.date);
        game.set_date(date);
        game.conditions.speed = entry.speed();
        game.eco = fields::eco(entry.eco);
        game.result = fields::result(entry.result);
        self.odd_results.add(entry.result > 7);
        if !wanted.tags() {
            return;
        }
        let (round, part) = entry.round;
        let names = self.names.as_ref();
        let tournament = names.and_then(|names| names.tournament(entry.tournament, buffer));
        let (title, site, event_date) = tournament.unwrap_or_default();
        let annotator = names.map(|names| names.player(entry.annotator, buffer));
        for (name, value) in [
            ("Event", Some(title)),
            ("Site", Some(site)),
            ("Date", Some(date.to_pgn())),
            ("Round", fields::round(round, part)),
            ("Annotator", annotator),
            ("EventDate", event_date),
        ] {
            game.tags.set_known(name, value.unwrap_or_default());
        }
    }
}
