//! Chooses moves for lines, and tells why the others are not taken.
//!
//! A move is taken if it has enough games and may be as good as the best: the upper end of
//! the 95 % interval of its score (Wilson) is not below the lower end of that of the best
//! move, which is the one whose lower end is the highest.

use std::fmt;

use shakmaty::{Chess, Move};

use crate::convert::ConvertJob;
use crate::policy::{Rejection, Weighed};
use crate::{BookMove, Stats};
use tabia_notation as notation;

/// A move that is in no line.
pub(super) struct Refused {
    /// The node of the position.
    pub(super) after: u32,
    pub(super) mv: Move,
    pub(super) stats: Stats,
    pub(super) why: Refusal,
}

/// Why a move is in no line.
#[derive(Clone, Copy)]
pub(super) enum Refusal {
    /// The policy does not play it.
    Policy(Rejection),
    /// It has fewer games.
    Rare(u32),
    /// Its score is below the lower end of this better move's score.
    Worse(Move, f64),
    /// The line would be longer than this number of plies.
    Long(u32),
}

impl Refusal {
    /// The reason without numbers, to be counted.
    pub(super) fn kind(self) -> String {
        match self {
            Refusal::Policy(rejection) => rejection.to_string(),
            Refusal::Rare(_) => "too few games".to_owned(),
            Refusal::Worse(..) => "clearly worse than the best".to_owned(),
            Refusal::Long(_) => "line too long".to_owned(),
        }
    }

    pub(super) fn shown(self, position: &Chess) -> impl fmt::Display {
        fmt::from_fn(move |f| match self {
            Refusal::Policy(rejection) => write!(f, "{rejection}"),
            Refusal::Rare(least) => write!(f, "fewer than {least} games"),
            Refusal::Worse(best, low) => {
                let best = notation::san(position, best);
                write!(
                    f,
                    "clearly worse than {best}: at least {:.1} %",
                    100.0 * low
                )
            }
            Refusal::Long(plies) => write!(f, "after {plies} plies"),
        })
    }
}

/// The interval of a move's score; any score if no game has a result.
pub(super) fn interval(stats: Stats) -> [f64; 2] {
    stats.results().interval().unwrap_or([0.0, 1.0])
}

/// Leaves the moves that lines take; `is_free` is the turn of a side for which the book has
/// no moves of its own: then all are taken that have enough games.
pub(super) fn choose(
    job: &ConvertJob,
    (after, is_free): (u32, bool),
    moves: &mut Vec<(BookMove, Weighed)>,
    refused: &mut Vec<Refused>,
) {
    let least = job.pgn.min_games;
    let alone = |known: &BookMove, verdict: &Weighed| match verdict.rejection {
        Some(rejection) if !is_free => Some(Refusal::Policy(rejection)),
        // It only leads on to positions of the book.
        _ if known.transposition && known.stats().games == 0 => None,
        _ => (known.stats().games < least).then_some(Refusal::Rare(least)),
    };
    let able = moves
        .iter()
        .filter(|(known, verdict)| alone(known, verdict).is_none());
    let low = |known: &BookMove| interval(known.stats())[0];
    // Of equal ones the first: `max_by` returns the last.
    let best = able
        .rev()
        .max_by(|(a, _), (b, _)| low(a).total_cmp(&low(b)));
    let best = best.map(|(known, _)| (known.mv, low(known)));
    let mut refuse = |known: &BookMove, why| {
        refused.push(Refused {
            after,
            mv: known.mv,
            stats: known.stats(),
            why,
        });
    };
    moves.retain(|(known, verdict)| {
        let worse = || {
            let (best, low) = best.filter(|_| !is_free)?;
            (interval(known.stats())[1] < low).then_some(Refusal::Worse(best, low))
        };
        let why = alone(known, verdict).or_else(worse);
        why.into_iter().for_each(|why| refuse(known, why));
        why.is_none()
    });
}

/// All these moves are beyond the longest line.
pub(super) fn too_long(
    job: &ConvertJob,
    after: u32,
    moves: &[BookMove],
    refused: &mut Vec<Refused>,
) {
    refused.extend(moves.iter().map(|known| Refused {
        after,
        mv: known.mv,
        stats: known.stats(),
        why: Refusal::Long(job.pgn.plies),
    }));
}
