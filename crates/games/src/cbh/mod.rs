//! ChessBase databases: `.cbh` and its companion files.
//!
//! | file | content | module |
//! |---|---|---|
//! | .cbh | players, date, result: one record for each entry | `entry` |
//! | .cbg | first positions and moves, at offsets that .cbh contains | `block`, `decode` |
//! | .cbp, .cbt | names of players, of tournaments and their places | `entities` |
//!
//! Only the first two are needed. Annotators and sources (.cbc, .cbs) and annotations
//! (.cba) are not read; variations are stored in .cbg.

mod block;
mod ciphers;
mod codes;
mod decode;
mod entities;
mod entry;
pub(super) mod fields;
mod open;
mod pieces;
#[cfg(test)]
mod tests;

pub(super) use open::{is_cbh, is_other, open, refuse};

use std::ops::Range;

use shakmaty::Chess;

use super::counted_remark::CountedRemark;
use super::indexed::{Indexed, Layout, ReadGame};
use super::tree::Tree;
use super::{Game, GameParts, Recorder, SkipReason};
use block::{Encoding, Head};
use decode::Decoded;
use entities::Entities;
use entry::CbhEntry;
use tabia_io::input::file::FileError;
use tabia_io::input::window::Window;

/// Bytes to read from the start of the last block of a batch.
const USUAL_BLOCK_BYTES: u64 = 1 << 16;

/// An open database.
struct Database {
    /// Name of the .cbg file, without its folder.
    moves_name: String,
    layout: Layout,
    /// Bytes of the header of the .cbg file.
    moves_header: u64,
    players: Option<Entities>,
    tournaments: Option<Entities>,
    open_games: CountedRemark,
    unknown_codes: CountedRemark,
    guesses: CountedRemark,
}

/// Buffers reused for each game.
#[derive(Default)]
pub(super) struct Buffers {
    /// Used if the file is neither mapped nor in memory.
    block: Vec<u8>,
    tree: Tree,
}

impl Indexed for Database {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn parse(&self, record: &[u8]) -> Option<Result<CbhEntry, SkipReason>> {
        CbhEntry::parse(record)
    }

    fn counted_remarks(&self) -> Vec<&CountedRemark> {
        vec![&self.open_games, &self.unknown_codes, &self.guesses]
    }
}

impl ReadGame for Database {
    type Entry = CbhEntry;
    type Buffers = Buffers;

    fn place(&self, entry: &CbhEntry) -> Option<Range<u64>> {
        Some(entry.offset..entry.offset.saturating_add(USUAL_BLOCK_BYTES))
    }

    fn read(
        &self,
        entry: &CbhEntry,
        moves: &Window,
        wanted: GameParts,
        buffers: &mut Buffers,
        game: &mut Game,
    ) -> Result<(), SkipReason> {
        let (block, head) = self.block(entry, moves, &mut buffers.block)?;
        let encoding = Encoding::from_mode(head.mode).map_err(SkipReason::Variant)?;
        self.describe(entry, wanted, game);
        let start = block::start(block, head, encoding).map_err(SkipReason::Position)?;
        game.chess960 = start.chess960;
        if start.position != Chess::default() {
            game.set_up = true;
            game.start_from(start.position.clone());
        }
        let codes = block.get(start.moves_at..).unwrap_or_default();
        let tree = &mut buffers.tree;
        tree.clear();
        let found = decode::decode(codes, &start.position, encoding, wanted.main_line(), tree);
        tree.record(&mut Recorder::new(wanted, game));
        game.cut = self.defect(entry, start.moves_at, block.len() < head.len, found);
        Ok(())
    }
}

impl Database {
    /// The block of a game, as far as the file contains it, and its head.
    fn block<'b>(
        &self,
        entry: &CbhEntry,
        moves: &'b Window,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(&'b [u8], Head), SkipReason> {
        let fault = |what: &str| SkipReason::Text(self.fault(entry.offset, what));
        if entry.offset < self.moves_header || entry.offset >= moves.file_len() {
            return Err(fault("no moves are stored here"));
        }
        let unreadable = |error: FileError| fault(&error.to_string());
        let bytes = moves
            .read(entry.offset, block::HEAD_BYTES, buffer)
            .map_err(unreadable)?;
        let head = Head::parse(bytes)
            .ok_or_else(|| fault("the file ends where its moves should begin"))?;
        if head.len < block::HEAD_BYTES {
            return Err(fault("the length of its moves is impossible"));
        }
        let block = moves
            .read(entry.offset, head.len, buffer)
            .map_err(unreadable)?;
        Ok((block, head))
    }

    /// Describes a fault, with its offset in the .cbg file.
    fn fault(&self, offset: u64, what: &str) -> String {
        format!("{} at byte {offset}: {what}", self.moves_name)
    }

    /// Whether a game has lost moves; counts its other oddities.
    fn defect(
        &self,
        entry: &CbhEntry,
        moves_at: usize,
        is_cut_off: bool,
        found: Decoded,
    ) -> Option<SkipReason> {
        self.unknown_codes.add(found.unknown_codes);
        self.guesses.add(found.guesses);
        let place = |at: usize| entry.offset + (moves_at + at) as u64;
        if found.is_open && is_cut_off {
            let what = "the file ends inside the game";
            return Some(SkipReason::Text(self.fault(entry.offset, what)));
        }
        if let Some(fault) = found.fault {
            return Some(SkipReason::Text(self.fault(place(fault.at), fault.what)));
        }
        self.open_games.add(found.is_open);
        None
    }

    /// Fills in everything of a game except its moves.
    fn describe(&self, entry: &CbhEntry, wanted: GameParts, game: &mut Game) {
        let look_up = |texts: &Option<Entities>, number: u32| {
            let texts = texts.as_ref().map(|texts| texts.look_up(number));
            texts.unwrap_or_default()
        };
        game.names = entry.players.map(|number| {
            let (last, first) = look_up(&self.players, number);
            fields::full_name(last, &first)
        });
        game.elo = entry.elo;
        game.set_date(entry.date);
        game.eco = entry.eco;
        game.result = entry.result;
        if wanted.tags() {
            let (event, site) = look_up(&self.tournaments, entry.tournament);
            game.tags.set_known("Event", event);
            game.tags.set_known("Site", site);
            game.tags.set("Date", entry.date.to_pgn());
            let round = entry.round.as_deref().unwrap_or_default();
            game.tags.set_known("Round", round);
        }
    }
}
