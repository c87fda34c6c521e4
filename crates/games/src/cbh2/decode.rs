//! Decodes the words of a game into moves.
//!
//! The main line comes first, to its end. `FFFD` after a move means that it has an
//! alternative; after the end of a line, `FFFF`, the alternative to the latest such
//! move follows. `FFFA` is a null move.
//!
//! Each word names the moving and the captured piece, so a wrong word is found at once.

use shakmaty::{CastlingMode, CastlingSide, Chess, Color, EnPassantMode, Move, Position};

use super::start::{Start, castling_rook};
use super::words::Word;
use crate::legal::is_legal;
use crate::tree::{NodeId, ROOT, Tree};
use crate::{Game, GameParts, Recorder, SkipReason};
use tabia_notation as notation;

const NULL: u16 = 0xfffa;
const BRANCH: u16 = 0xfffd;
const END: u16 = 0xffff;

/// Limit of pending alternatives; more are damage. The largest number seen is 74.
const MOST_OPEN: usize = 1024;

/// Oddities of a game, and how it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Irregularities {
    /// It has no end mark.
    pub(super) is_open: bool,
    /// Its first position was read by the older description.
    pub(super) is_other_reading: bool,
    /// A castling right was added to its first position.
    pub(super) has_new_rights: bool,
}

/// The word that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) what: &'static str,
    /// A castling move that is illegal only because a right is missing.
    rights: Option<(Color, CastlingSide)>,
}

impl Fault {
    fn new(at: usize, what: &'static str) -> Fault {
        Fault {
            at,
            what,
            rights: None,
        }
    }
}

/// Reads the moves after a start. If the start has two readings, or lacks a castling
/// right that is used, the reading with which the whole game is legal counts.
pub(super) fn decode(
    words: &[u16],
    start: &Start,
    wanted: GameParts,
    tree: &mut Tree,
    game: &mut Game,
) -> (Irregularities, Option<Fault>) {
    let mut odd = Irregularities::default();
    let mut attempt = |position: &Chess| {
        let mut position = position.clone();
        let mut added = false;
        let mut result = read(words, &position, start, wanted, tree, game);
        while let Some((color, side)) = result.1.as_ref().and_then(|fault| fault.rights)
            && let Some(more) = with_right(&position, color, side, start.chess960)
        {
            (position, added) = (more, true);
            result = read(words, &position, start, wanted, tree, game);
        }
        (result, added)
    };
    let mut found = attempt(&start.position);
    if found.0.1.is_some()
        && let Some(other) = &start.other
    {
        let second = attempt(other);
        odd.is_other_reading = second.0.1.is_none();
        found = if odd.is_other_reading {
            second
        } else {
            attempt(&start.position)
        };
    }
    let ((is_open, fault), added) = found;
    odd.is_open = is_open;
    odd.has_new_rights = added && fault.is_none();
    (odd, fault)
}

/// Adds a castling right to a position, if king and rook are on their squares.
fn with_right(position: &Chess, color: Color, side: CastlingSide, chess960: bool) -> Option<Chess> {
    let rook = castling_rook(position.board(), color, side.is_king_side(), chess960)?;
    let mut setup = position.to_setup(EnPassantMode::Always);
    if setup.castling_rights.contains(rook) {
        return None;
    }
    setup.castling_rights.add(rook);
    let mode = CastlingMode::detect(&setup);
    notation::position_of(setup, mode).ok()
}

/// Reads the moves into a game; returns whether the end mark is missing.
fn read(
    words: &[u16],
    position: &Chess,
    start: &Start,
    wanted: GameParts,
    tree: &mut Tree,
    game: &mut Game,
) -> (bool, Option<Fault>) {
    game.set_up = *position != Chess::default();
    game.start_from(position.clone());
    tree.clear();
    let found = lines(words, position, start, wanted.main_line(), tree);
    tree.record(&mut Recorder::new(wanted, game));
    found
}

const NO_MOVE_BEFORE: &str = "an alternative without a move before it";
const NULL_IN_CHECK: &str = "a null move in check";

/// Reads all lines, or some plies of the main line.
fn lines(
    words: &[u16],
    position: &Chess,
    start: &Start,
    main_line: Option<usize>,
    tree: &mut Tree,
) -> (bool, Option<Fault>) {
    let mut now = (position.clone(), ROOT);
    // The position before the last move.
    let mut before: Option<(Chess, NodeId)> = None;
    let mut open: Vec<(Chess, NodeId)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let fault = |what| (false, Some(Fault::new(at, what)));
        if main_line.is_some_and(|plies| tree.len() >= plies) {
            return (false, None);
        }
        let step = match *word {
            END => match open.pop().filter(|_| main_line.is_none()) {
                Some(line) => {
                    (now, before) = (line, None);
                    continue;
                }
                None => return (false, None),
            },
            BRANCH => {
                let Some(line) = before.take() else {
                    return fault(NO_MOVE_BEFORE);
                };
                if open.len() >= MOST_OPEN {
                    return fault("too many alternatives wait");
                }
                open.push(line);
                continue;
            }
            NULL => None,
            word => match legal(word, &now.0, start) {
                Ok(m) => Some(m),
                Err(fault) => return (false, Some(Fault { at, ..fault })),
            },
        };
        let mut next = now.0.clone();
        match step {
            Some(m) => next.play_unchecked(m),
            None => match notation::pass(&next) {
                Some(position) => next = position,
                None => return fault(NULL_IN_CHECK),
            },
        }
        let Some(place) = tree.add(now.1, step) else {
            return fault("more moves than a game can have");
        };
        before = Some(std::mem::replace(&mut now, (next, place)));
    }
    (true, None)
}

/// The legal move that a word means. Inlined, because returning a move through memory
/// byte by byte is slow.
#[inline(always)]
fn legal(word: u16, position: &Chess, start: &Start) -> Result<Move, Fault> {
    let turn = position.turn();
    let fault = |what| Err(Fault::new(0, what));
    match Word::decode(word) {
        None => fault("a word of unknown meaning"),
        Some(Word::Move(color, _) | Word::Castle { color, .. }) if color != turn => {
            fault("a move of the side that is not to move")
        }
        Some(Word::Move(_, m)) if is_legal(m, position) => Ok(m),
        Some(Word::Move(..)) => fault("an illegal move"),
        Some(Word::Castle {
            side,
            start: number,
            ..
        }) => {
            let is_foreign = match (number, start.number) {
                (Some(number), Some(own)) => number != own,
                (Some(number), None) => number != USUAL && !start.chess960,
                (None, _) => false,
            };
            if is_foreign {
                return fault("a castling of another first position");
            }
            match position.castling_moves(side).first() {
                Some(m) => Ok(*m),
                None => Err(Fault {
                    rights: Some((turn, side)),
                    ..Fault::new(0, "an illegal castling")
                }),
            }
        }
    }
}

/// Number of the standard position.
const USUAL: u16 = 518;

impl From<Fault> for SkipReason {
    fn from(fault: Fault) -> SkipReason {
        SkipReason::Text(format!(
            "word {} of its moves: {}",
            fault.at + 1,
            fault.what
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::fen::Fen;

    /// A set-up position has no number: the word of the usual position stands for castling in
    /// it, in Chess960 any.
    #[test]
    fn castling_is_read_if_its_word_is_of_the_first_position() {
        let fen: Fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1".parse().unwrap();
        let position = notation::position_of(fen.into_setup(), CastlingMode::Standard).unwrap();
        for (number, own, chess960, is_read) in [
            (518, None, false, true),
            (517, None, false, false),
            (519, None, false, false),
            (518, None, true, true),
            (517, None, true, true),
            (0, Some(0), true, true),
            (0, Some(959), true, false),
            (518, Some(959), true, false),
        ] {
            let start = Start {
                position: position.clone(),
                chess960,
                number: own,
                other: None,
                words: 0,
            };
            // White castles short.
            let word = 0xb12d + 4 * number + 1;
            let found = legal(word, &position, &start);
            assert_eq!(found.is_ok(), is_read, "{number} {own:?} {chess960}");
        }
    }
}
