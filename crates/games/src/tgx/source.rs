//! The games of a games index as a source.

use std::ops::Range;
use std::sync::Arc;

use super::GAMES;
use super::block::GameBlock;
use super::file::TgxFile;
use super::record::{Head, start_of};
use crate::archive::SourceFile;
use crate::{Error, Game, GameBatch, GameParts, GamePlace, GameSource, Recorder, SkipReason};
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
        segment: 0,
        block: 0,
        read: 0,
    }))
}

struct TgxSource {
    file: Arc<TgxFile>,
    name: Arc<str>,
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
                segment: self.segment,
                blocks,
                at: 0,
                number: first,
                heads: Vec::new(),
                failed: false,
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
    segment: usize,
    blocks: Range<usize>,
    /// Position of the next game in `heads`.
    at: usize,
    /// Number of the last game, from 1.
    number: u64,
    heads: Vec<DecodedGame>,
    /// A block could not be read; its games are missing.
    failed: bool,
}

impl TgxBatch {
    /// Reads the next block.
    fn fill(&mut self) -> Option<Result<(), String>> {
        let block = self.blocks.next()?;
        self.heads.clear();
        self.at = 0;
        Some(self.read(block).map_err(|error| error.to_string()))
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
                Some(Err(text)) => {
                    self.failed = true;
                    return Err(SkipReason::Text(text));
                }
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

    fn source(&self) -> &str {
        &self.name
    }

    fn place(&self) -> GamePlace {
        GamePlace::Game(self.number + u64::from(self.failed))
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
