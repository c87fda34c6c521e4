//! The games of a games index as a source.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::GAMES;
use super::block::GameBlock;
use super::file::TgxFile;
use super::record::{Head, start_of};
use crate::archive::SourceFile;
use crate::{
    Error, Game, GameBatch, GameFilter, GameParts, GamePlace, GameSource, Recorder, SkipReason,
};
use shakmaty::Chess;

/// Blocks in a batch.
const BATCH_BLOCKS: usize = 32;

/// Opens a games index as a source.
pub(crate) fn open(file: &SourceFile) -> Result<Box<dyn GameSource>, Error> {
    let path = file.path();
    let opened = TgxFile::open(path, true)?;
    Ok(Box::new(TgxSource {
        file: Arc::new(opened),
        name: path.display().to_string().into(),
        missed: Arc::default(),
        segment: 0,
        block: 0,
        read: 0,
    }))
}

/// What the filter of the reader asks for, and no index stores.
type Missed = Arc<OnceLock<BTreeSet<&'static str>>>;

struct TgxSource {
    file: Arc<TgxFile>,
    name: Arc<str>,
    missed: Missed,
    segment: usize,
    block: usize,
    /// Number of blocks in the batches so far, in all segments.
    read: usize,
}

impl GameSource for TgxSource {
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error> {
        loop {
            let Some((segment, directory)) = self.file.tables(GAMES).nth(self.segment) else {
                return Ok(None);
            };
            let end = directory.len().min(self.block + BATCH_BLOCKS);
            if self.block >= end {
                (self.segment, self.block) = (self.segment + 1, 0);
                continue;
            }
            let blocks = self.block..end;
            let first = directory
                .first_key(self.block)
                .unwrap_or(segment.first_game);
            self.read += blocks.len();
            self.block = end;
            return Ok(Some(Box::new(TgxBatch {
                file: Arc::clone(&self.file),
                name: Arc::clone(&self.name),
                missed: Arc::clone(&self.missed),
                segment: self.segment,
                blocks,
                at: 0,
                number: first,
                heads: Vec::new(),
                lost: 0,
            })));
        }
    }

    fn bytes_read(&self) -> u64 {
        let all: usize = self
            .file
            .tables(GAMES)
            .map(|(_, directory)| directory.len())
            .sum();
        self.file.len() * self.read as u64 / all.max(1) as u64
    }

    fn remarks(&self) -> Vec<String> {
        let missed = self.missed.get().into_iter().flatten();
        missed
            .map(|what| format!("{}: an index of games holds no {what}", self.name))
            .collect()
    }
}

/// A decoded game.
struct DecodedGame {
    head: Head,
    moves: Vec<shakmaty::Move>,
    start: Chess,
}

struct TgxBatch {
    file: Arc<TgxFile>,
    name: Arc<str>,
    missed: Missed,
    segment: usize,
    blocks: Range<usize>,
    /// Position of the next game in `heads`.
    at: usize,
    /// Number of the last game, from 1.
    number: u64,
    heads: Vec<DecodedGame>,
    /// The games of the last block, if it could not be read. `number` is that of the first.
    lost: u64,
}

impl TgxBatch {
    /// Reads the next block.
    fn fill(&mut self) -> Option<Result<(), String>> {
        let block = self.blocks.next()?;
        self.number += std::mem::take(&mut self.lost).saturating_sub(1);
        self.heads.clear();
        self.at = 0;
        let read = self.read(block);
        if read.is_err() {
            let decoded = self.heads.len() as u64;
            let games = self.games_of(block).unwrap_or(0);
            self.heads.clear();
            self.lost = games.max(decoded).max(1);
            self.number += 1;
        }
        Some(read.map_err(|error| error.to_string()))
    }

    /// The number of games in a block, by the first game of the next one.
    fn games_of(&self, block: usize) -> Option<u64> {
        let (segment, directory) = self.file.tables(GAMES).nth(self.segment)?;
        let end = segment.first_game.checked_add(segment.games)?;
        let next = directory.first_key(block + 1).unwrap_or(end);
        next.checked_sub(directory.first_key(block)?)
    }

    fn read(&mut self, block: usize) -> Result<(), Error> {
        let Some((_, directory)) = self.file.tables(GAMES).nth(self.segment) else {
            return Ok(());
        };
        let mut buffer = Vec::new();
        let bytes = self.file.block(directory, block, &mut buffer)?;
        let mut games = GameBlock::new(bytes);
        while games.has_more() {
            let mut read = || {
                let head = games.head()?;
                let start = start_of(&head)?;
                let mut moves = Vec::new();
                games.moves()?.play(start.clone(), |_, m| {
                    moves.push(m);
                    true
                })?;
                Some(DecodedGame { head, moves, start })
            };
            let read = read().ok_or_else(|| self.file.damaged_block(directory, block))?;
            self.heads.push(read);
        }
        Ok(())
    }
}

impl GameBatch for TgxBatch {
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason> {
        while self.at >= self.heads.len() {
            match self.fill() {
                None => return Ok(false),
                Some(Ok(())) => {}
                Some(Err(text)) => return Err(SkipReason::Text(text)),
            }
        }
        let Some(read) = self.heads.get(self.at) else {
            return Ok(false);
        };
        self.at += 1;
        self.number += 1;
        game.clear();
        describe(&read.head, wanted, game);
        if !read.head.start.is_empty() {
            game.set_up = true;
            game.start_from(read.start.clone());
        }
        let mut recorder = Recorder::new(wanted, game);
        for m in &read.moves {
            if recorder.is_done() {
                break;
            }
            recorder.play(*m);
        }
        Ok(true)
    }

    fn next_for(
        &mut self,
        wanted: GameParts,
        filter: &GameFilter,
        game: &mut Game,
    ) -> Result<bool, SkipReason> {
        self.missed.get_or_init(|| filter.not_in_indexes());
        self.next_game(wanted, game)
    }

    fn source(&self) -> &str {
        &self.name
    }

    fn place(&self) -> GamePlace {
        GamePlace::Game(self.number)
    }

    fn lost_with_it(&self) -> u64 {
        self.lost.saturating_sub(1)
    }
}

/// Copies the head into the game.
fn describe(head: &Head, wanted: GameParts, game: &mut Game) {
    game.names.clone_from(&head.names);
    game.elo = head.facts.elo;
    game.set_date(head.facts.date);
    game.eco = head.eco;
    game.result = head.facts.result();
    game.conditions.speed = head.facts.speed;
    game.conditions.rated = head.facts.rated;
    if !wanted.tags() {
        return;
    }
    let date = head.facts.date.to_pgn();
    for (name, value) in [
        ("Event", head.event.as_str()),
        ("Site", &head.site),
        ("Date", &date),
        ("Round", &head.round),
    ] {
        game.tags.set_known(name, value);
    }
}
