//! Blocks of consecutive games.

use super::GAMES;
use super::file::TgxFile;
use super::record::{self, Head, Moves, Texts};
use crate::{Error, Game};
use shakmaty::{Chess, Move};
use tabia_io::input::bytes::Cursor;

/// A block is closed when it reaches this size.
const BLOCK_BYTES: usize = 4 << 10;

/// Games of a batch, each encoded by itself.
#[derive(Debug, Default)]
pub struct EncodedGames {
    /// Their number.
    pub count: u64,
    bytes: Vec<u8>,
    texts: Texts,
}

impl EncodedGames {
    /// Adds a game.
    pub fn push(&mut self, head: &Head, game: &Game) {
        self.texts.clear();
        record::encode(head, game, &mut self.texts, &mut self.bytes);
        self.count += 1;
    }
}

/// Packs games into blocks, which do not depend on how the games came in batches.
#[derive(Debug)]
pub struct BlockMaker {
    bytes: Vec<u8>,
    texts: Texts,
    /// Number of the first game of the block.
    first: u64,
    /// Number of the next game.
    next: u64,
}

impl BlockMaker {
    /// `first` is the number of the first game.
    #[must_use]
    pub fn new(first: u64) -> BlockMaker {
        BlockMaker {
            bytes: Vec::with_capacity(2 * BLOCK_BYTES),
            texts: Texts::default(),
            first,
            next: first,
        }
    }

    /// Adds games. `put` gets each complete block, after the number of its first game.
    ///
    /// # Errors
    ///
    /// An error of `put`.
    pub fn add(
        &mut self,
        games: &EncodedGames,
        mut put: impl FnMut(u64, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut cursor, mut texts) = (Cursor::new(&games.bytes), Vec::new());
        while record::copy(&mut cursor, &mut texts, &mut self.texts, &mut self.bytes).is_some() {
            self.next += 1;
            if self.bytes.len() >= BLOCK_BYTES {
                self.close(&mut put)?;
            }
        }
        Ok(())
    }

    /// Closes the last block.
    ///
    /// # Errors
    ///
    /// An error of `put`.
    pub fn finish(
        mut self,
        mut put: impl FnMut(u64, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.bytes.is_empty() {
            true => Ok(()),
            false => self.close(&mut put),
        }
    }

    fn close(
        &mut self,
        put: &mut impl FnMut(u64, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        put(self.first, &self.bytes)?;
        self.bytes.clear();
        self.texts.clear();
        self.first = self.next;
        Ok(())
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

    /// Skips the moves after a head; returns how many there are.
    pub fn count_moves(&mut self) -> Option<usize> {
        self.moves().map(|moves| moves.count)
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
