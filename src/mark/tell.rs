//! Changes of marks as players read them: by the moves that lead there.

use std::collections::{HashMap, HashSet};
use std::fmt;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Move, Position as _};

use super::words;
use crate::book::ctg::{
    CanonicalBoard, CtgBook, EditError, EntryReader, EntrySet, Key, Place, RewriteError, fill_from,
};
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
    let failed = |error| E::from(EditError::from(error));
    let mut wanted: HashMap<Key, Vec<Noted>> = HashMap::new();
    for noted in noted {
        wanted.entry(noted.key).or_default().push(noted);
    }
    let keys: HashSet<Key, FxBuildHasher> = wanted.keys().copied().collect();
    let start = Chess::default();
    let root = place_of(&mut book.entry_reader().map_err(failed)?, &start).map_err(failed)?;
    let mut walk = Walk::with_notes(&start, root, Order::Breadth);
    // Lines end where the book does.
    let mut seen = EntrySet::default();
    match root.filter(|_| !wanted.is_empty()) {
        Some(root) => _ = seen.insert(root),
        None => walk.end(),
    }
    let mut entered = 1;
    let expected = Some(book.header().positions.into());
    walk.spread(
        |share| look(book, share, &keys).map_err(failed),
        |walk, share, looked| {
            let mut next = looked.next.into_iter();
            let mut hits = looked.hits.into_iter().peekable();
            for (at, (here, moves)) in share.iter().zip(looked.moves).enumerate() {
                if wanted.is_empty() {
                    walk.end();
                    return Ok(());
                }
                let told = watch.position("finding lines", entered, expected);
                told.map_err(|stopped| EditError::from(RewriteError::from(stopped)))?;
                let hit = hits.next_if(|(hit, _)| *hit == at);
                let noted = hit.and_then(|(_, key)| wanted.remove(&key));
                for noted in noted.unwrap_or_default() {
                    let mut line = Line::default();
                    walk.line(here).into_iter().for_each(|mv| line.push(mv));
                    found(&noted.told(line, true))?;
                }
                for (mv, position, place) in next.by_ref().take(moves) {
                    if seen.insert(place) {
                        entered += 1;
                        walk.enter(here, mv, position, Some(place));
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
    /// These moves, the positions after them, and where their entries stand.
    next: Vec<(Move, Chess, Place)>,
}

/// Looks at some positions, each with the place of its entry, and finds the
/// places of those after them. Lines end where the book is damaged; who looked
/// for what to change has named the damage.
fn look(
    book: &CtgBook,
    share: &[Reached<Option<Place>>],
    wanted: &HashSet<Key, FxBuildHasher>,
) -> Result<Looked, crate::book::Error> {
    let mut looked = Looked::default();
    let mut reader = book.entry_reader()?;
    let mut stored = Lookup::default();
    for (at, here) in share.iter().enumerate() {
        stored.clear();
        if let Some(place) = here.note
            && let Some(board) = CanonicalBoard::from_position(&here.position)
        {
            let entry = reader.entry(place)?;
            let hit = entry.key().filter(|key| wanted.contains(key));
            looked.hits.extend(hit.map(|key| (at, key)));
            fill_from(&entry, &board, &here.position.legal_moves(), &mut stored);
        }
        let before = looked.next.len();
        for known in &stored.moves {
            let after = notation::after(&here.position, known.mv);
            let place = place_of(&mut reader, &after)?;
            looked
                .next
                .extend(place.map(|place| (known.mv, after, place)));
        }
        looked.moves.push(looked.next.len() - before);
    }
    Ok(looked)
}

/// Where a position stands; nowhere, if the book is damaged there.
fn place_of(
    reader: &mut EntryReader<'_>,
    position: &Chess,
) -> Result<Option<Place>, crate::book::Error> {
    let board = CanonicalBoard::from_position(position);
    match board.map(|board| reader.place_of(&board, &board.key())) {
        Some(Err(error)) if !error.is_damage() => Err(error),
        Some(Ok(place)) => Ok(place),
        _ => Ok(None),
    }
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
