//! An open index.

use std::path::Path;

use shakmaty::Chess;

use crate::Error;
use crate::count::key;
use crate::position::read_rows;
use crate::posting::{Posting, id_key, id_number, own_game, own_id, player_key};
use crate::row::Row;
use crate::{IDS, PLAYERS, POSITIONS, table};
use tabia_games::Month;
use tabia_games::tgx::{Head, TgxFile, find_game};
use tabia_io::input::bytes::Cursor;
use tabia_notation::pgn::{MoveText, Remarks, write_tag};

/// An open index, which several threads can query at once.
#[derive(Debug)]
pub struct GamesIndex {
    file: TgxFile,
    /// Its place among the indexes that are open together.
    place: u16,
}

/// A game that was looked up.
#[derive(Clone, Debug)]
pub struct FoundGame {
    /// Its id: that of lichess, or one made by Tabia.
    pub id: String,
    /// Players, date and result.
    pub head: Head,
    /// Number of its moves of both players.
    pub plies: usize,
}

impl GamesIndex {
    /// Opens an index.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a games index.
    pub fn open(path: &Path, mmap: bool) -> Result<GamesIndex, Error> {
        let file = TgxFile::open(path, mmap)?;
        Ok(GamesIndex { file, place: 0 })
    }

    /// Gives the index its place among the open indexes, so that games without a lichess id get
    /// different ids in each. By running numbers alone, the first index that had the number
    /// answered for all.
    #[must_use]
    pub fn with_place(self, place: u16) -> GamesIndex {
        GamesIndex { place, ..self }
    }

    /// The file, which describes its content.
    #[must_use]
    pub fn file(&self) -> &TgxFile {
        &self.file
    }

    /// The month of the newest game.
    #[must_use]
    pub fn last_month(&self) -> Option<Month> {
        let months = self
            .file
            .root()
            .segments
            .iter()
            .map(|segment| segment.last_month);
        months
            .max()
            .filter(|month| *month > 0)
            .map(Month::from_number)
    }

    /// Calls `each` with every row of a position.
    ///
    /// # Errors
    ///
    /// The index cannot be read, or is damaged.
    pub fn rows(&self, position: &Chess, mut each: impl FnMut(&Row)) -> Result<(), Error> {
        let key = key(position);
        let mut row = Row::default();
        self.entries(POSITIONS, key, |bytes| {
            read_rows(bytes, &mut row, &mut each)
        })
    }

    /// Calls `each` with the bytes of a key in each segment that contains it.
    fn entries(
        &self,
        name: &str,
        key: u64,
        mut each: impl FnMut(&[u8]) -> Option<()>,
    ) -> Result<(), Error> {
        let mut buffer = Vec::new();
        for (_, directory) in self.file.tables(name) {
            let Some(block) = directory.find(key) else {
                continue;
            };
            let bytes = self.file.block(directory, block, &mut buffer)?;
            let found = match table::find(bytes, key) {
                Some(Some(entry)) => each(entry),
                Some(None) => Some(()),
                None => None,
            };
            found.ok_or_else(|| self.file.damaged_block(directory, block))?;
        }
        Ok(())
    }

    /// The numbers of the games of a key, ascending.
    fn postings(&self, table: &str, key: u64) -> Result<Vec<u32>, Error> {
        let mut all = Vec::new();
        let mut posting = Posting::default();
        self.entries(table, key, |bytes| {
            posting.decode_games(&mut Cursor::new(bytes))?;
            all.extend_from_slice(&posting.games);
            Some(())
        })?;
        Ok(all)
    }

    /// Numbers of games that may be of a player with a colour.
    pub(crate) fn games_of(&self, player: &str, color: shakmaty::Color) -> Result<Vec<u32>, Error> {
        self.postings(PLAYERS, player_key(player, color))
    }

    /// A game by its number.
    ///
    /// # Errors
    ///
    /// The index cannot be read, or is damaged.
    pub fn game(&self, number: u64) -> Result<Option<FoundGame>, Error> {
        let found = find_game(&self.file, number, &mut Vec::new(), |games| {
            Some((games.head()?, games.count_moves()?))
        })?;
        Ok(found.map(|(head, plies)| FoundGame {
            plies,
            id: head
                .lichess_id()
                .map_or_else(|| own_id(self.place, number), str::to_owned),
            head,
        }))
    }

    /// The number of the game with a name.
    ///
    /// # Errors
    ///
    /// The index cannot be read, or is damaged.
    pub fn number_of(&self, id: &str) -> Result<Option<u64>, Error> {
        let (Some(key), Some(number)) = (id_key(id), id_number(id)) else {
            return Ok(None);
        };
        if let Some(game) = self.postings(IDS, key)?.last() {
            return Ok(Some(u64::from(*game)));
        }
        let Some(number) = own_game(self.place, number) else {
            return Ok(None);
        };
        // The number of a game is its id only if it has no other.
        let found = self.game(number)?.filter(|found| found.id == id);
        Ok(found.map(|_| number))
    }

    /// A game as PGN; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The index cannot be read, or is damaged.
    pub fn pgn(&self, number: u64) -> Result<Option<String>, Error> {
        let text = find_game(&self.file, number, &mut Vec::new(), |games| {
            let head = games.head()?;
            let mut text = tags(&head);
            let mut moves = MoveText::new(&mut text, "");
            games.play(&head, |position, m| {
                moves.play(&mut position.clone(), Some(m), Remarks::default());
                true
            })?;
            moves.finish(head.facts.result().to_pgn());
            Some(text)
        });
        Ok(text?)
    }

    /// Replays a game: calls `each` with every position and its move, as long as it
    /// returns true. Returns the header; `admit` decides by it whether the game is
    /// replayed.
    pub(crate) fn play(
        &self,
        number: u64,
        buffer: &mut Vec<u8>,
        admit: impl FnOnce(&Head) -> bool,
        each: impl FnMut(&Chess, shakmaty::Move) -> bool,
    ) -> Result<Option<Head>, Error> {
        let found = find_game(&self.file, number, buffer, |games| {
            let head = games.head()?;
            if !admit(&head) {
                return Some(None);
            }
            games.play(&head, each)?;
            Some(Some(head))
        });
        Ok(found?.flatten())
    }
}

/// The seven tags of the roster, and the ratings.
fn tags(head: &Head) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: &str| {
        let value = if value.is_empty() { "?" } else { value };
        write_tag(name, value, &mut text);
    };
    add("Event", &head.event);
    add("Site", &head.site);
    add("Date", &head.facts.date.to_pgn());
    add("Round", &head.round);
    add("White", &head.names.white);
    add("Black", &head.names.black);
    add("Result", head.facts.result().to_pgn());
    for (name, elo) in [
        ("WhiteElo", head.facts.elo.white),
        ("BlackElo", head.facts.elo.black),
    ] {
        if elo > 0 {
            add(name, &elo.to_string());
        }
    }
    if !head.start.is_empty() {
        add("SetUp", "1");
        add("FEN", &head.start);
    }
    text.push('\n');
    text
}
