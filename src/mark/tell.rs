//! Changes of marks as players read them: by the moves that lead there.

use std::collections::{HashMap, HashSet};
use std::fmt;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::words;
use crate::book::ctg::{CanonicalBoard, CtgBook, EditError, Key, RewriteError, fill_from};
use crate::book::walk::{Order, Reached, Walk};
use crate::book::{Field, Lookup, Panicked, PositionRecord, position_of};
use crate::notation::{self, Line};
use crate::watch::Watch;

/// A byte that changes, by its place in the book.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The position that it stands with.
    pub key: Key,
    /// Of a sign: the position after the move that it stands beside.
    pub after: Option<Key>,
    /// What it is.
    pub field: Field,
    /// As stored.
    pub old: u8,
    /// As stored.
    pub new: u8,
    /// What else is to be said of it.
    pub note: String,
}

/// A change as players read it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Told {
    /// Up to and with the move that is marked; without a move, the position.
    pub line: Line,
    /// Moves of the book lead there from the start position. Else the line
    /// begins in the position as the book has it, White to move.
    pub is_reached: bool,
    /// What changes.
    pub field: Field,
    /// As it is, on the real board: see [`Told::shown`].
    pub old: u32,
    /// As it will be.
    pub new: u32,
    /// The move is stored first: it leads into the book, but was no move of it.
    pub is_stored: bool,
    /// What else is to be said of it.
    pub note: String,
}

impl Told {
    /// From stored bytes, of a position in which the last of `line` leads to
    /// (a sign: stands beside the last move of).
    pub(super) fn new(line: Line, field: Field, [old, new]: [u8; 2]) -> Told {
        let turn = line.last().turn();
        let seen = |byte: u8| match field {
            Field::Commentary => PositionRecord {
                commentary: byte,
                ..PositionRecord::default()
            }
            .commentary_for(turn),
            _ => byte,
        };
        Told {
            is_reached: *line.start() == Chess::default(),
            line,
            field,
            old: seen(old).into(),
            new: seen(new).into(),
            is_stored: false,
            note: String::new(),
        }
    }

    /// What it is called in JSON.
    #[must_use]
    pub const fn field_name(&self) -> &'static str {
        match self.field {
            Field::Recommendation => "mark",
            Field::Factor => "factor",
            Field::Commentary => "commentary",
            Field::Annotation => "annotation",
            Field::Weight => "weight",
            Field::Learn => "learn",
        }
    }

    /// A value in words: a colour, a sign, a symbol, a learn value as the
    /// player of the move sees it, a weight, the points out of games that
    /// learn counts are.
    #[must_use]
    pub fn shown(&self, value: u32) -> String {
        let [.., byte] = value.to_be_bytes();
        match self.field {
            Field::Recommendation => words::mark_name(byte),
            Field::Factor => words::learn_value_name(byte.cast_signed().saturating_neg()),
            Field::Commentary => words::commentary_name(byte),
            Field::Annotation => words::annotation_name(byte),
            Field::Weight => value.to_string(),
            Field::Learn => {
                let (games, points) = (value >> 16, value & 0xffff);
                format!("{}/{games}", f64::from(points) / 2.0)
            }
        }
    }
}

/// `1.d4 d5 2.c4: e6  none -> main`.
impl fmt::Display for Told {
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
            Field::Factor => "learn value ",
            Field::Commentary => "commentary ",
            Field::Annotation => "annotation ",
            Field::Weight => "weight ",
            Field::Learn => "learn counts ",
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

/// Finds the moves that lead to each change, shortest first, and calls
/// `found` with it; at last with those that no moves lead to.
///
/// # Errors
///
/// The book cannot be read, who watches wants an end, or `found` fails.
pub fn tell<E: From<EditError> + From<Panicked> + Send>(
    book: &CtgBook,
    noted: Vec<Noted>,
    watch: &mut Watch<'_>,
    found: &mut dyn FnMut(&Told) -> Result<(), E>,
) -> Result<(), E> {
    let mut wanted: HashMap<Key, Vec<Noted>> = HashMap::new();
    for noted in noted {
        wanted.entry(noted.key).or_default().push(noted);
    }
    let mut walk = Walk::new(&Chess::default(), Order::Breadth);
    if wanted.is_empty() {
        walk.end();
    }
    let mut seen: HashSet<u64, FxBuildHasher> = HashSet::default();
    let expected = Some(book.header().positions.into());
    let keys: HashSet<Key> = wanted.keys().copied().collect();
    walk.spread(
        |share| look(book, share, &keys).map_err(|error| E::from(EditError::from(error))),
        |walk, share, looked| {
            let mut next = looked.next.into_iter();
            let mut hits = looked.hits.into_iter().peekable();
            for (at, (here, moves)) in share.iter().zip(looked.moves).enumerate() {
                if wanted.is_empty() {
                    walk.end();
                    return Ok(());
                }
                let told = watch.position("finding lines", seen.len() as u64, expected);
                told.map_err(|stopped| EditError::from(RewriteError::from(stopped)))?;
                let hit = hits.next_if(|(hit, _)| *hit == at);
                let noted = hit.and_then(|(_, key)| wanted.remove(&key));
                for noted in noted.unwrap_or_default() {
                    let mut line = Line::default();
                    walk.line(here).into_iter().for_each(|mv| line.push(mv));
                    found(&noted.told(line, true))?;
                }
                for (mv, position, number) in next.by_ref().take(moves) {
                    if seen.insert(number) {
                        walk.enter(here, mv, position, ());
                    }
                }
            }
            Ok(())
        },
    )?;
    let mut rest: Vec<Noted> = wanted.into_values().flatten().collect();
    rest.sort_by_key(|noted| noted.key);
    for noted in rest {
        if let Some((_, position)) = position_of(&noted.key) {
            found(&noted.told(Line::from_start(position), false))?;
        }
    }
    Ok(())
}

/// What stands in some positions.
#[derive(Default)]
struct Looked {
    /// Those whose entries are looked for.
    hits: Vec<(usize, Key)>,
    /// How many moves go on from each.
    moves: Vec<usize>,
    /// These moves, the positions after them, and numbers that tell these apart.
    next: Vec<(Move, Chess, u64)>,
}

/// Looks at some positions. Lines end where the book is damaged; who looked for
/// what to change has named the damage.
fn look(
    book: &CtgBook,
    share: &[Reached],
    wanted: &HashSet<Key>,
) -> Result<Looked, crate::book::Error> {
    let mut looked = Looked::default();
    let mut reader = book.entry_reader()?;
    let mut stored = Lookup::default();
    for (at, here) in share.iter().enumerate() {
        stored.clear();
        if let Some(board) = CanonicalBoard::from_position(&here.position) {
            match reader.entry_of(&board) {
                Ok(Some(entry)) => {
                    let hit = entry.key().filter(|key| wanted.contains(key));
                    looked.hits.extend(hit.map(|key| (at, key)));
                    fill_from(&entry, &board, &here.position.legal_moves(), &mut stored);
                }
                Err(error) if !error.is_damage() => return Err(error),
                _ => {}
            }
        }
        let before = looked.next.len();
        looked.next.extend(stored.moves.iter().filter_map(|known| {
            let after = notation::after(&here.position, known.mv);
            let key = CanonicalBoard::from_position(&after)?.key();
            Some((known.mv, after, key.wide_hash()))
        }));
        looked.moves.push(looked.next.len() - before);
    }
    Ok(looked)
}

impl Noted {
    fn told(self, mut line: Line, is_reached: bool) -> Told {
        if let Some(after) = self.after {
            let leads = |mv: &&Move| {
                let mut next = line.last().clone();
                next.play_unchecked(**mv);
                CanonicalBoard::from_position(&next).is_some_and(|board| board.key() == after)
            };
            let legal = line.last().legal_moves();
            if let Some(mv) = legal.iter().find(leads).copied() {
                line.push(mv);
            }
        }
        Told {
            is_reached,
            note: self.note,
            ..Told::new(line, self.field, [self.old, self.new])
        }
    }
}
