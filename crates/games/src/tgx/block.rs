//! Blocks of consecutive games.

use super::GAMES;
use super::file::TgxFile;
use super::record::{self, Head, Moves, Texts};
use crate::{Error, Game};
use shakmaty::{Chess, Move};
use tabia_io::input::bytes::Cursor;

/// A block is closed when it reaches this size.
const BLOCK_BYTES: usize = 4 << 10;

/// Packs games into blocks.
#[derive(Debug, Default)]
pub struct BlockMaker {
    /// Complete blocks, each with the number of its first game, from 0.
    pub blocks: Vec<(u64, Vec<u8>)>,
    bytes: Vec<u8>,
    texts: Texts,
    first: u64,
    count: u64,
}

impl BlockMaker {
    /// Adds a game.
    pub fn push(&mut self, head: &Head, game: &Game) {
        record::encode(head, game, &mut self.texts, &mut self.bytes);
        self.count += 1;
        if self.bytes.len() >= BLOCK_BYTES {
            self.close();
        }
    }

    /// Closes the last block; returns the number of games and all blocks. Then starts anew.
    pub fn finish(&mut self) -> (u64, Vec<(u64, Vec<u8>)>) {
        self.close();
        self.first = 0;
        (
            std::mem::take(&mut self.count),
            std::mem::take(&mut self.blocks),
        )
    }

    fn close(&mut self) {
        if !self.bytes.is_empty() {
            let room = Vec::with_capacity(BLOCK_BYTES + 512);
            let bytes = std::mem::replace(&mut self.bytes, room);
            self.blocks.push((self.first, bytes));
        }
        self.first = self.count;
        self.texts.clear();
    }
}

/// Reads the games of a block, one after the other.
#[derive(Debug)]
pub struct GameBlock<'b> {
    cursor: Cursor<'b>,
    texts: Vec<&'b str>,
}

impl<'b> GameBlock<'b> {
    /// Starts at the first game of a block.
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> GameBlock<'b> {
        GameBlock {
            cursor: Cursor::new(bytes),
            texts: Vec::new(),
        }
    }

    /// Whether there is another game.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.cursor.remaining() > 0
    }

    /// Skips a game.
    pub fn skip(&mut self) -> Option<()> {
        record::skip(&mut self.cursor, &mut self.texts)
    }

    /// Reads the head of a game; its moves follow.
    pub fn head(&mut self) -> Option<Head> {
        record::decode_head(&mut self.cursor, &mut self.texts)
    }

    /// Reads the moves after a head.
    pub(super) fn moves(&mut self) -> Option<Moves<'b>> {
        record::decode_moves(&mut self.cursor)
    }

    /// Skips the moves after a head.
    pub fn skip_moves(&mut self) -> Option<()> {
        self.moves().map(|_| ())
    }

    /// Plays the moves after a head. Calls `each` with every position and its move
    /// until it returns false. `None` if the moves are invalid.
    pub fn play(&mut self, head: &Head, each: impl FnMut(&Chess, Move) -> bool) -> Option<()> {
        let moves = self.moves()?;
        moves.play(record::start_of(head)?, each)
    }
}

/// Calls `use_game` with the block that contains a game, positioned before the
/// game. `None` if there is no such game.
///
/// # Errors
///
/// The file cannot be read, or is damaged; also if `use_game` returns `None`.
pub fn find_game<T>(
    file: &TgxFile,
    number: u64,
    buffer: &mut Vec<u8>,
    use_game: impl FnOnce(&mut GameBlock<'_>) -> Option<T>,
) -> Result<Option<T>, Error> {
    for (segment, directory) in file.tables(GAMES) {
        let end = segment.first_game.saturating_add(segment.games);
        if !(segment.first_game..end).contains(&number) {
            continue;
        }
        let Some(block) = directory.find(number) else {
            continue;
        };
        let first = directory.first_key(block).unwrap_or(number);
        let bytes = file.block(directory, block, buffer)?;
        let mut games = GameBlock::new(bytes);
        let found = || {
            for _ in first..number {
                games.skip()?;
            }
            use_game(&mut games)
        };
        return match found() {
            Some(found) => Ok(Some(found)),
            None => Err(file.damaged_block(directory, block)),
        };
    }
    Ok(None)
}
