//! Writes a repertoire as a book, and as a study.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::Repertoire;
use super::states::{State, StateMove};
use crate::Error;
use shakmaty::Move;
use tabia_book::ctg::{
    BookWriter, CanonicalBoard, Key, WriteOptions, Written, encode_entry, encode_move_byte,
};
use tabia_book::{Annotation, PositionRecord};
use tabia_games::{Game, Item, Movetext, write_pgn};
use tabia_io::atomic::{self, Previous};

/// Moves and numbers of a position.
type Stored = (Vec<(u8, Annotation)>, PositionRecord);

/// The recommendation byte of a main move.
const MAIN_MOVE: u8 = 0x80;

/// Writes a ChessBase book: the chosen moves, green, and the expected replies, with the
/// numbers of the source book. Moves that the format cannot store are left out.
///
/// # Errors
///
/// The book cannot be written.
pub fn write_book(
    repertoire: &Repertoire<'_>,
    target: &Path,
    old: Previous,
) -> Result<Written, Error> {
    let mut entries: BTreeMap<(u32, Key), Stored> = BTreeMap::new();
    let mut green = HashSet::new();
    let states = &repertoire.states;
    for (n, state, _) in repertoire.met(&repertoire.play) {
        let (position, moves) = states.moves(state)?;
        let Some(board) = CanonicalBoard::from_position(&position) else {
            continue;
        };
        let key = board.key();
        let place = (key.hash().reverse_bits(), key);
        let entry = entries
            .entry(place)
            .or_insert((Vec::new(), states.record(state)?));
        // Colours of the old book had another purpose.
        entry.1.recommendation = 0;
        for (n, step, _) in repertoire.taken(&repertoire.play.choices, n) {
            let Some(to) = step.to().filter(|to| repertoire.is_stored(*to as usize)) else {
                continue;
            };
            let Some(&mv) = moves.get(n) else {
                continue;
            };
            let Some(byte) = encode_move_byte(&board, mv) else {
                continue;
            };
            if entry.0.iter().all(|(known, _)| *known != byte) {
                entry.0.push((byte, step.annotation));
            }
            if state.is_own
                && let Some(after) = states.get(to as usize)
                && let Some(after) = CanonicalBoard::from_position(&states.position(after)?)
            {
                green.insert(after.key());
            }
        }
    }
    let games = match states.get(0) {
        Some(start) => states.record(start)?.stats.games,
        None => 0,
    };
    let options = WriteOptions::default().old(old);
    let mut writer = BookWriter::create(target, options)?;
    let mut bytes = Vec::new();
    for ((_, key), (moves, mut record)) in entries {
        if green.contains(&key) {
            record.recommendation = MAIN_MOVE;
        }
        bytes.clear();
        encode_entry(&key, &moves, &record, &mut bytes);
        writer.push(&bytes)?;
    }
    Ok(writer.finish(games)?)
}

/// Writes a game with variations: the most probable replies first, with the probability
/// of each position and the expected score of the answer.
///
/// # Errors
///
/// The study cannot be written.
pub fn write_study(
    repertoire: &Repertoire<'_>,
    title: &str,
    target: &Path,
    old: Previous,
) -> Result<(), Error> {
    let mut game = Game::default();
    game.tags.set("Event", title);
    if repertoire.options.colour.is_black() {
        // Programs that train repertoires take it for one of White otherwise.
        game.tags.set("Orientation", "black");
    }
    let mut study = Study {
        repertoire,
        visited: HashSet::new(),
        items: Movetext::default(),
    };
    study.moves(0)?;
    game.movetext = study.items;
    let mut text = String::new();
    write_pgn(&game, &mut text);
    atomic::write(target, text.as_bytes(), old)?;
    Ok(())
}

struct Study<'r> {
    repertoire: &'r Repertoire<'r>,
    visited: HashSet<u32>,
    items: Movetext,
}

impl Study<'_> {
    /// Writes the moves from a state; those of each state once. Recursive; its depth is
    /// the length of the lines.
    fn moves(&mut self, node: u32) -> Result<(), Error> {
        let repertoire = self.repertoire;
        let Some(state) = repertoire.states.get(node as usize) else {
            return Ok(());
        };
        let taken = repertoire.taken(&repertoire.play.choices, node as usize);
        let mut taken: Vec<(u32, usize, &StateMove, f64)> = taken
            .filter_map(|(n, step, share)| Some((step.to()?, n, step, share)))
            .filter(|(to, ..)| repertoire.is_stored(*to as usize))
            .collect();
        taken.sort_by(|a, b| b.3.total_cmp(&a.3));
        let (_, moves) = repertoire.states.moves(state)?;
        let Some(((first, n, step, share), others)) = taken.split_first() else {
            return Ok(());
        };
        self.one(node, state, moves.get(*n), step, *share);
        for (to, n, step, share) in others {
            self.items.push(Item::Begin);
            self.one(node, state, moves.get(*n), step, *share);
            self.go_on(*to)?;
            self.items.push(Item::End);
        }
        self.go_on(*first)
    }

    fn go_on(&mut self, to: u32) -> Result<(), Error> {
        if self.visited.insert(to) {
            return self.moves(to);
        }
        let line = self.repertoire.line(&self.repertoire.play, to)?;
        self.items.push(Item::Comment(format!("as after {line}")));
        Ok(())
    }

    fn one(&mut self, node: u32, state: &State, mv: Option<&Move>, step: &StateMove, share: f64) {
        let repertoire = self.repertoire;
        self.items.extend(mv.map(|mv| Item::Move(*mv)));
        if step.annotation.nag() > 0 {
            self.items.push(Item::Nag(step.annotation.nag()));
        }
        let text = if state.is_own {
            let reach = repertoire.play.probability(node as usize);
            let value = repertoire.value(step.to()).unwrap_or(state.estimate);
            format!("{}, {:.1}%", one_in(reach), 100.0 * value)
        } else {
            format!("{:.0}%", 100.0 * share)
        };
        self.items.push(Item::Comment(text));
    }
}

/// In the form `1 in 25`.
#[must_use]
pub fn one_in(probability: f64) -> String {
    format!("1 in {:.0}", (1.0 / probability.max(1e-12)).round())
}

impl Repertoire<'_> {
    /// Whether a state belongs to the output.
    fn is_stored(&self, state: usize) -> bool {
        self.is_met(self.play.probability(state))
    }
}
