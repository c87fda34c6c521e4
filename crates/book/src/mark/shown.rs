//! Changes of marks for players: with the moves that lead there.

use std::collections::{HashMap, HashSet};
use std::{fmt, io};

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::error::MarkError;
use super::words;
use crate::ctg::{
    CanonicalBoard, CtgBook, EntryAddress, EntryReader, EntrySet, Key, fill_from, find_move_byte,
    likely_of_all,
};
use crate::walk::{Order, Walk, WalkNode};
use crate::{Error, Field, Lookup, MarkChange, MarkPlace, PositionRecord, position_of};
use tabia_io::progress::Watch;
use tabia_notation::{self as notation, Line};

/// A change in the form that players read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShownChange {
    /// The line up to the marked move; without a move, up to the position.
    pub line: Line,
    /// Whether moves of the book lead there from the start position. Otherwise the line
    /// begins in the position as stored, White to move.
    pub is_reached: bool,
    /// The changed field.
    pub field: Field,
    /// The old value on the real board: see [`ShownChange::shown`].
    pub old: u32,
    /// The new value.
    pub new: u32,
    /// Whether the move is added first: it leads into the book, but was not stored.
    pub is_stored: bool,
    /// A remark, such as the results that a learn value is computed from.
    pub note: String,
}

impl ShownChange {
    /// A change at the end of a line: of the position there, or of the last move.
    pub(super) fn new(line: Line, change: &MarkChange, note: String) -> ShownChange {
        let turn = line.last().turn();
        let seen = |stored: Option<u32>| match (change.field, stored.unwrap_or(0)) {
            (Field::Commentary, nag) => {
                PositionRecord::commentary_seen(nag.to_le_bytes()[0], turn).into()
            }
            (_, number) => number,
        };
        ShownChange {
            is_reached: *line.start() == Chess::default(),
            line,
            field: change.field,
            old: seen(change.old),
            new: seen(change.new),
            is_stored: change.old.is_none(),
            note,
        }
    }

    /// A value in words: a colour, an annotation, a symbol, a learn value from the view
    /// of the player of the move, a weight, or the points and games of the learn counts.
    #[must_use]
    pub fn shown(&self, value: u32) -> String {
        let [.., byte] = value.to_be_bytes();
        match self.field {
            Field::Recommendation => words::mark_name(byte),
            Field::LearnValue => words::learn_value_name(byte.cast_signed().saturating_neg()),
            Field::Commentary => words::commentary_name(byte),
            Field::Annotation => words::annotation_name(byte),
            Field::Weight => value.to_string(),
            Field::LearnCounts => {
                let (games, points) = (value >> 16, value & 0xffff);
                format!("{}/{games}", f64::from(points) / 2.0)
            }
        }
    }
}

/// In the form `1.d4 d5 2.c4: e6  none -> main`.
impl fmt::Display for ShownChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plies = self.line.plies();
        let last = self.line.moves().next_back();
        match last {
            None if self.is_reached => f.write_str("start position")?,
            None => f.write_str(&notation::fen(self.line.start()))?,
            Some((before, mv)) if plies > 1 => {
                let before = (self.line.up_to(plies - 1), notation::san(before, mv));
                write!(f, "{}: {}", before.0, before.1)?;
            }
            Some((before, mv)) if !self.is_reached => {
                write!(
                    f,
                    "{}: {}",
                    notation::fen(before),
                    notation::san(before, mv)
                )?;
            }
            Some(_) => write!(f, "{}", self.line)?,
        }
        let name = match self.field {
            Field::Recommendation => "",
            Field::LearnValue => "learn value ",
            Field::Commentary => "commentary ",
            Field::Annotation => "annotation ",
            Field::Weight => "weight ",
            Field::LearnCounts => "learn counts ",
        };
        let [old, new] = [self.old, self.new].map(|value| self.shown(value));
        match self.is_stored {
            true => write!(f, "  stored, {name}{new}")?,
            false => write!(f, "  {name}{old} -> {new}")?,
        }
        match self.note.as_str() {
            "" => Ok(()),
            note => write!(f, " ({note})"),
        }
    }
}

/// Changes to be shown, each with a remark.
pub type ListedChanges = Vec<(MarkChange, String)>;

/// As [`super::show()`], for a ChessBase book.
pub(super) fn show_ctg(
    book: &CtgBook,
    listed: ListedChanges,
    watch: &mut Watch<'_>,
    found: &mut dyn FnMut(&ShownChange) -> io::Result<()>,
) -> Result<(), MarkError> {
    let start = Chess::default();
    let mut wanted: HashMap<Key, ListedChanges> = HashMap::new();
    for listed in listed {
        if let Some(key) = listed.0.place.key() {
            wanted.entry(*key).or_default().push(listed);
        }
    }
    let keys: HashSet<Key, FxBuildHasher> = wanted.keys().copied().collect();
    let goals = Goals::from_keys(&keys);
    let reader = &mut book.entry_reader()?;
    let root = stored(book, reader, &start, &keys, &mut Lookup::default())?;
    // Lines end where the book ends.
    let mut seen = EntrySet::default();
    if let Some(root) = &root {
        seen.insert(root.place);
    }
    let mut walk = Walk::with_notes(&start, root, Order::Breadth);
    if wanted.is_empty() {
        walk.end();
    }
    let mut entered = 1;
    let expected = Some(book.header().positions.into());
    walk.spread(
        |share| look(book, share, &keys, &goals).map_err(MarkError::from),
        |walk, share, next| {
            let mut next = next.into_iter();
            for here in share {
                if wanted.is_empty() {
                    walk.end();
                    return Ok(());
                }
                let watched = watch.position("finding lines", entered, expected);
                watched.map_err(Error::from)?;
                let Some(entry) = &here.note else { continue };
                let listed = entry.wanted.as_ref().and_then(|key| wanted.remove(key));
                for listed in listed.unwrap_or_default() {
                    let mut line = Line::default();
                    walk.line(here).into_iter().for_each(|mv| line.push(mv));
                    found(&shown(listed, line, true))?;
                }
                for (mv, next) in entry.moves.iter().zip(&mut next) {
                    if let Some((position, next)) = next
                        && seen.insert(next.place)
                    {
                        entered += 1;
                        walk.enter(here, *mv, position, Some(next));
                    }
                }
            }
            Ok(())
        },
    )?;
    let mut rest: Vec<(Key, ListedChanges)> = wanted.into_iter().collect();
    rest.sort_by_key(|(key, _)| *key);
    for (key, listed) in rest {
        let Some((_, position)) = position_of(&key) else {
            continue;
        };
        for listed in listed {
            let line = Line::from_start(position.clone());
            found(&shown(listed, line, false))?;
        }
    }
    Ok(())
}

/// A fast test that no moves can lead from a position to a goal: a pawn never returns to
/// its start square, and captured men never return. By the set of unmoved pawns: the
/// fewest men of a goal that has no other unmoved pawns.
struct Goals(Vec<u8>);

impl Goals {
    fn from_keys(keys: &HashSet<Key, FxBuildHasher>) -> Goals {
        let mut fewest = vec![u8::MAX; 1 << 16];
        for key in keys {
            let position = position_of(key).map(|(_, position)| position);
            let (pawns, men) = position.as_ref().map(unmoved).unwrap_or_default();
            let [own, other] = pawns.to_le_bytes();
            // The entry is also that of the other colour and the other wing.
            for pawns in [[own, other], [other, own]] {
                for pawns in [pawns, pawns.map(u8::reverse_bits)] {
                    let fewest = &mut fewest[usize::from(u16::from_le_bytes(pawns))];
                    *fewest = men.min(*fewest);
                }
            }
        }
        for pawn in 0..16 {
            for pawns in 0..fewest.len() {
                fewest[pawns] = fewest[pawns].min(fewest[pawns & !(1 << pawn)]);
            }
        }
        Goals(fewest)
    }

    /// Whether moves may lead from a position to a goal.
    fn reachable_from(&self, position: &Chess) -> bool {
        let (pawns, men) = unmoved(position);
        self.0[usize::from(pawns)] <= men
    }
}

/// The unmoved pawns, and the number of men.
fn unmoved(position: &Chess) -> (u16, u8) {
    let board = position.board();
    let [_, white, ..] = (board.pawns() & board.white()).0.to_le_bytes();
    let [.., black, _] = (board.pawns() & board.black()).0.to_le_bytes();
    let men = board.occupied().count() as u8;
    (u16::from_le_bytes([white, black]), men)
}

/// The stored data of a position.
struct Stored {
    place: EntryAddress,
    /// The key of its entry, if it is one of the goals.
    wanted: Option<Box<Key>>,
    moves: Vec<Move>,
}

/// The positions after all stored moves of some positions, and their stored data: `None`
/// where the book ends, and where no goal can be reached.
fn look(
    book: &CtgBook,
    share: &[WalkNode<Option<Stored>>],
    wanted: &HashSet<Key, FxBuildHasher>,
    goals: &Goals,
) -> Result<Vec<Option<(Chess, Stored)>>, crate::Error> {
    let mut reader = book.entry_reader()?;
    let mut found = Lookup::default();
    let mut next = Vec::with_capacity(share.len() + share.len() / 4);
    for here in share {
        for mv in here.note.iter().flat_map(|stored| &stored.moves) {
            let after = notation::after(&here.position, *mv);
            let stored = match goals.reachable_from(&after) {
                true => stored(book, &mut reader, &after, wanted, &mut found)?,
                false => None,
            };
            next.push(stored.map(|stored| (after, stored)));
        }
    }
    Ok(next)
}

/// The stored data of a position, read together with the look-up because its page is then
/// in memory. Lines end at damaged entries; the search for changes has reported the
/// damage.
fn stored(
    book: &CtgBook,
    reader: &mut EntryReader<'_>,
    position: &Chess,
    wanted: &HashSet<Key, FxBuildHasher>,
    found: &mut Lookup,
) -> Result<Option<Stored>, crate::Error> {
    let Some(board) = CanonicalBoard::from_position(position) else {
        return Ok(None);
    };
    let place = match reader.place_of(&board, &board.key()) {
        Err(error) if error.is_damage() => None,
        place => place?,
    };
    let Some(place) = place else {
        return Ok(None);
    };
    let entry = reader.entry(place)?;
    let key = entry.key().filter(|key| wanted.contains(key));
    found.clear();
    let legal = likely_of_all(entry.moves(), &board, position);
    fill_from(&entry, &board, &legal, found);
    Ok(Some(Stored {
        place,
        wanted: key.map(Box::new),
        moves: match book.is_for_opponent_of(position.turn()) {
            true => legal.into_iter().collect(),
            false => found.moves.iter().map(|known| known.mv).collect(),
        },
    }))
}

/// A change with a line to the position in which it is stored.
fn shown((change, note): (MarkChange, String), mut line: Line, is_reached: bool) -> ShownChange {
    if let MarkPlace::Move { byte, .. } = change.place {
        let legal = line.last().legal_moves();
        let board = CanonicalBoard::from_position(line.last());
        let found = board.and_then(|board| find_move_byte(byte, &board, &legal).ok());
        if let Some(mv) = found.and_then(|n| legal.get(n)) {
            line.push(*mv);
        }
    }
    ShownChange {
        is_reached,
        ..ShownChange::new(line, &change, note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_the_moves_that_lead_there() {
        let shown = |moves: &str, is_reached, field, old, new| ShownChange {
            line: Line::read("", moves).unwrap(),
            is_reached,
            field,
            old,
            new,
            is_stored: false,
            note: String::new(),
        };
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for (moves, is_reached, line) in [
            ("", true, "start position".to_owned()),
            ("", false, fen.to_owned()),
            ("d4", true, "1.d4".to_owned()),
            ("d4", false, format!("{fen}: d4")),
            ("d4 d5", true, "1.d4: d5".to_owned()),
            ("d4 d5 c4 e6", true, "1.d4 d5 2.c4: e6".to_owned()),
        ] {
            for (field, old, new, text) in [
                (Field::Recommendation, 0, 0x80, "none -> main"),
                (Field::LearnValue, 0, 0xfe, "learn value 0 -> +2"),
                (Field::Commentary, 0, 10, "commentary none -> ="),
                (Field::Annotation, 0, 1, "annotation none -> !"),
                (Field::Weight, 7, 300, "weight 7 -> 300"),
                (
                    Field::LearnCounts,
                    0,
                    4 << 16 | 5,
                    "learn counts 0/0 -> 2.5/4",
                ),
            ] {
                let mut change = shown(moves, is_reached, field, old, new);
                assert_eq!(change.to_string(), format!("{line}  {text}"));
                change.is_stored = true;
                change.note = "why".to_owned();
                let (name, new) = text.split_once(" -> ").unwrap();
                let name = name.rsplit_once(' ').map_or("", |(name, _)| name);
                let space = if name.is_empty() { "" } else { " " };
                let stored = format!("{line}  stored, {name}{space}{new} (why)");
                assert_eq!(change.to_string(), stored);
            }
        }
    }

    /// Along random games, later positions can be reached, and earlier ones cannot.
    #[test]
    fn goals_are_ahead_until_they_cannot_be_reached() {
        for game in crate::random::games(11, 30, 80) {
            for (n, goal) in game.iter().enumerate().step_by(7) {
                let key = CanonicalBoard::from_position(goal).unwrap().key();
                let goals = Goals::from_keys(&HashSet::from_iter([key]));
                assert!(game[..=n].iter().all(|before| goals.reachable_from(before)));
                let men = |position: &Chess| position.board().occupied().count();
                let mut fewer = game.iter().filter(|other| men(other) < men(goal));
                assert!(fewer.all(|after| !goals.reachable_from(after)));
            }
            let start = CanonicalBoard::from_position(&game[0]).unwrap().key();
            let goals = Goals::from_keys(&HashSet::from_iter([start]));
            let moved = |position: &&Chess| unmoved(position).0 != u16::MAX;
            assert!(
                game.iter()
                    .filter(moved)
                    .all(|after| !goals.reachable_from(after))
            );
        }
    }
}
