//! Writes a repertoire as a book, and as a study.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::Repertoire;
use crate::Error;
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
pub fn write_book(repertoire: &Repertoire, target: &Path, old: Previous) -> Result<Written, Error> {
    let mut entries: BTreeMap<(u32, Key), Stored> = BTreeMap::new();
    let mut green = HashSet::new();
    for (n, state) in repertoire.states.iter().enumerate() {
        if !repertoire.is_stored(n) {
            continue;
        }
        let Some(board) = CanonicalBoard::from_position(&state.position) else {
            continue;
        };
        let key = board.key();
        let place = (key.hash().reverse_bits(), key);
        let entry = entries.entry(place).or_insert((Vec::new(), state.record));
        // Colours of the old book had another purpose.
        entry.1.recommendation = 0;
        for (step, _) in repertoire.taken(&repertoire.choices, n) {
            let Some(step) = state.steps.get(step) else {
                continue;
            };
            let Some(to) = step.to.filter(|to| repertoire.is_stored(*to as usize)) else {
                continue;
            };
            let Some(byte) = encode_move_byte(&board, step.mv) else {
                continue;
            };
            if entry.0.iter().all(|(known, _)| *known != byte) {
                entry.0.push((byte, step.annotation));
            }
            if state.is_own
                && let Some(after) = repertoire.states.get(to as usize)
                && let Some(after) = CanonicalBoard::from_position(&after.position)
            {
                green.insert(after.key());
            }
        }
    }
    let games = repertoire
        .states
        .first()
        .map_or(0, |start| start.record.stats.games);
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
    repertoire: &Repertoire,
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
    study.moves(0);
    game.movetext = study.items;
    let mut text = String::new();
    write_pgn(&game, &mut text);
    atomic::write(target, text.as_bytes(), old)?;
    Ok(())
}

struct Study<'r> {
    repertoire: &'r Repertoire,
    visited: HashSet<u32>,
    items: Movetext,
}

impl Study<'_> {
    /// Writes the moves from a state; those of each state once. Recursive; its depth is
    /// the length of the lines.
    fn moves(&mut self, node: u32) {
        let repertoire = self.repertoire;
        let Some(state) = repertoire.states.get(node as usize) else {
            return;
        };
        let mut taken: Vec<(u32, usize, f64)> = repertoire
            .taken(&repertoire.choices, node as usize)
            .into_iter()
            .filter_map(|(n, share)| Some((state.steps.get(n)?.to?, n, share)))
            .filter(|(to, ..)| repertoire.is_stored(*to as usize))
            .collect();
        taken.sort_by(|a, b| b.2.total_cmp(&a.2));
        let Some(((first, n, share), others)) = taken.split_first() else {
            return;
        };
        self.one(node, *n, *share);
        for (to, n, share) in others {
            self.items.push(Item::Begin);
            self.one(node, *n, *share);
            self.go_on(*to);
            self.items.push(Item::End);
        }
        self.go_on(*first);
    }

    fn go_on(&mut self, to: u32) {
        if self.visited.insert(to) {
            self.moves(to);
            return;
        }
        let line = self.repertoire.play.line(to);
        self.items.push(Item::Comment(format!("as after {line}")));
    }

    fn one(&mut self, node: u32, step: usize, share: f64) {
        let repertoire = self.repertoire;
        let Some(state) = repertoire.states.get(node as usize) else {
            return;
        };
        let Some(step) = state.steps.get(step) else {
            return;
        };
        self.items.push(Item::Move(step.mv));
        if step.annotation.nag() > 0 {
            self.items.push(Item::Nag(step.annotation.nag()));
        }
        let text = if state.is_own {
            let reach = repertoire.play.probability(node as usize);
            let value = repertoire.value(step.to).unwrap_or(state.known.estimate());
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

impl Repertoire {
    /// Whether a state belongs to the output.
    fn is_stored(&self, state: usize) -> bool {
        self.is_met(self.play.probability(state))
    }
}
