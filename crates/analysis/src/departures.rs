//! Where games left a repertoire: by whose move, how often, with what results, and
//! what the book has there.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::{Chess, Color, Move, Position as _};

use crate::suite::review::Tally;
use tabia_book::evals::EvalKey;
use tabia_book::policy::{Policy, weigh};
use tabia_book::tree::shares;
use tabia_book::{BookMove, Error, Lookup, Mark, Probe, Wanted};
use tabia_notation::{self as notation, Line, openings};

/// Who left the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeftBy {
    /// The player whose repertoire it is.
    Player,
    /// The opponent.
    Opponent,
    /// The book has no move for the player there.
    Book,
}

/// How a game left a repertoire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameDeparture {
    /// Who left it.
    pub by: LeftBy,
    /// The moves before, from the usual start position.
    pub moves: Vec<Move>,
    /// The move that was played then.
    pub played: Move,
    /// The move after it.
    pub reply: Option<Move>,
}

/// A move, and what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedMove {
    /// In UCI notation.
    pub uci: String,
    /// In SAN.
    pub san: String,
    /// Centipawns for its player, where evaluations are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i32>,
    /// Its share of the games or of the probability, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// A place where games left a repertoire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Departure {
    /// Who left it.
    pub by: LeftBy,
    /// The position in which the move was played.
    pub fen: String,
    /// The moves to it, as text.
    pub line: String,
    /// The same moves one by one.
    pub moves: Vec<NamedMove>,
    /// The code of the opening, empty if it has none.
    pub eco: String,
    /// Its name.
    pub opening: String,
    /// The move; where the book ends, the one that was played most often.
    pub played: NamedMove,
    /// What the player answered most often, where the opponent left the book; `share` is
    /// how often.
    pub reply: Option<NamedMove>,
    /// Games, and their results for the player.
    #[serde(flatten)]
    pub tally: Tally,
    /// Points a game, 0 to 1; nothing without results.
    pub score: Option<f64>,
    /// What the book has instead, the most important first.
    pub book: Vec<NamedMove>,
}

/// The moves of a repertoire in a position: the green ones, else those that the
/// policy would play, else whatever is stored and not red. With their shares.
#[must_use]
pub fn own_moves<'f>(found: &'f Lookup, policy: &Policy) -> Vec<(&'f BookMove, f64)> {
    let stored = || found.moves.iter().filter(|mv| !mv.transposition);
    let mut verdicts = Vec::new();
    weigh(&found.moves, policy, |_| None, &mut verdicts);
    let weighed = found.moves.iter().zip(&verdicts);
    let mut own: Vec<(&BookMove, f64)> = weighed
        .filter(|(mv, verdict)| !mv.transposition && verdict.probability > 0.0)
        .map(|(mv, verdict)| (mv, verdict.probability))
        .collect();
    let alike = |moves: Vec<&'f BookMove>| {
        let share = 1.0 / moves.len() as f64;
        moves.into_iter().map(|mv| (mv, share)).collect()
    };
    if stored().any(|mv| mv.mark() == Mark::Main) {
        own.retain(|(mv, _)| mv.mark() == Mark::Main);
        // The policy may know nothing of a move that was never played.
        if own.is_empty() {
            own = alike(stored().filter(|mv| mv.mark() == Mark::Main).collect());
        }
    } else if own.is_empty() {
        own = alike(stored().filter(|mv| mv.mark() != Mark::Avoid).collect());
    }
    own.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    own
}

/// How a game left the repertoire of a colour. Nothing if it did not, if the book
/// ended where the opponent is to move, or if the game began elsewhere.
///
/// # Errors
///
/// The book cannot be read.
pub fn of_game(
    book: &dyn Probe,
    colour: Color,
    policy: &Policy,
    (positions, moves): (&[Chess], &[Move]),
) -> Result<Option<GameDeparture>, Error> {
    if positions.first() != Some(&Chess::default()) {
        return Ok(None);
    }
    let mut found = Lookup::default();
    for (ply, (position, mv)) in positions.iter().zip(moves).enumerate() {
        book.probe(position, Wanted::Transpositions, &mut found)?;
        let is_own = position.turn() == colour;
        let is_known = match is_own {
            true => {
                let own = own_moves(&found, policy);
                let also = found.moves.iter().filter(|mv| mv.transposition);
                // Another order of moves may lead into the book, unless the book names its move.
                let is_named = own.iter().any(|(mv, _)| mv.mark() == Mark::Main);
                own.iter().any(|(own, _)| own.mv == *mv)
                    || !is_named && also.into_iter().any(|also| also.mv == *mv)
            }
            false => found.moves.iter().any(|known| known.mv == *mv),
        };
        if is_known {
            continue;
        }
        let by = match (is_own, found.moves.is_empty()) {
            (true, true) => LeftBy::Book,
            (true, false) => LeftBy::Player,
            (false, true) => return Ok(None),
            (false, false) => LeftBy::Opponent,
        };
        return Ok(Some(GameDeparture {
            by,
            moves: moves.get(..ply).unwrap_or_default().to_vec(),
            played: *mv,
            reply: moves.get(ply + 1).copied(),
        }));
    }
    Ok(None)
}

/// What is counted for one place.
struct Place {
    first: GameDeparture,
    tally: Tally,
    played: Vec<(Move, u64)>,
    replies: Vec<(Move, u64)>,
}

fn count(moves: &mut Vec<(Move, u64)>, mv: Move) {
    match moves.iter_mut().find(|(known, _)| *known == mv) {
        Some((_, games)) => *games += 1,
        None => moves.push((mv, 1)),
    }
}

/// The places where games left the repertoire of a colour, those of most games
/// first, `most` of them. With each departure come the half points of the player.
///
/// # Errors
///
/// The book cannot be read.
pub fn sum(
    book: &dyn Probe,
    colour: Color,
    policy: &Policy,
    games: impl IntoIterator<Item = (GameDeparture, Option<u8>)>,
    most: usize,
) -> Result<Vec<Departure>, Error> {
    let mut numbers = HashMap::<_, usize, FxBuildHasher>::default();
    let mut places: Vec<Place> = Vec::new();
    for (game, half_points) in games {
        let mut line = Line::from_start(Chess::default());
        game.moves.iter().for_each(|&mv| line.push(mv));
        let played = (game.by != LeftBy::Book).then(|| game.played.to_string());
        let key = (game.by, EvalKey::of(line.last()), played);
        let next = places.len();
        let number = *numbers.entry(key).or_insert(next);
        if number == next {
            places.push(Place {
                first: game.clone(),
                tally: Tally::default(),
                played: Vec::new(),
                replies: Vec::new(),
            });
        }
        if let Some(place) = places.get_mut(number) {
            place.tally.count(half_points);
            count(&mut place.played, game.played);
            game.reply
                .into_iter()
                .for_each(|mv| count(&mut place.replies, mv));
        }
    }
    // The sort is stable: of equals the one that came up first.
    places.sort_by_key(|place| Reverse(place.tally.games));
    places
        .iter()
        .take(most)
        .map(|place| described(book, colour, policy, place))
        .collect()
}

fn described(
    book: &dyn Probe,
    colour: Color,
    policy: &Policy,
    place: &Place,
) -> Result<Departure, Error> {
    let mut line = Line::from_start(Chess::default());
    place.first.moves.iter().for_each(|&mv| line.push(mv));
    let position = line.last();
    let mut found = Lookup::default();
    book.probe(position, Wanted::Transpositions, &mut found)?;
    let named = |position: &Chess, mv: Move, share: Option<f64>| NamedMove {
        uci: notation::uci(mv),
        san: notation::san(position, mv),
        value: book.value_of(position, mv),
        share,
    };
    let of_book = match position.turn() == colour {
        true => own_moves(&found, policy),
        false => {
            let mut all: Vec<_> = found.moves.iter().zip(shares(&found.moves)).collect();
            all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            all
        }
    };
    let likeliest = |moves: &[(Move, u64)]| {
        let all: u64 = moves.iter().map(|(_, games)| games).sum();
        let best = moves.iter().rev().max_by_key(|(_, games)| games)?;
        Some((best.0, best.1 as f64 / all as f64))
    };
    let played = likeliest(&place.played).map_or(place.first.played, |(mv, _)| mv);
    let after = notation::after(position, played);
    let reply = match place.first.by {
        LeftBy::Opponent => likeliest(&place.replies),
        LeftBy::Player | LeftBy::Book => None,
    };
    let opening = openings::of_line(line.positions());
    Ok(Departure {
        by: place.first.by,
        fen: notation::fen(position),
        line: text_of(line.positions(), &place.first.moves),
        moves: named_line(&line),
        eco: opening.map_or("", |opening| opening.eco).to_owned(),
        opening: opening.map_or("", |opening| opening.name).to_owned(),
        played: named(position, played, None),
        reply: reply.map(|(mv, share)| named(&after, mv, Some(share))),
        score: place.tally.results.score(),
        tally: place.tally.clone(),
        book: of_book
            .iter()
            .take(SHOWN)
            .map(|(mv, share)| named(position, mv.mv, Some(*share)))
            .collect(),
    })
}

/// The moves of a line by their names.
pub(crate) fn named_line(line: &Line) -> Vec<NamedMove> {
    let named = |(position, mv)| NamedMove {
        uci: notation::uci(mv),
        san: notation::san(position, mv),
        value: None,
        share: None,
    };
    line.moves().map(named).collect()
}

/// So many moves of the book are named at a place.
const SHOWN: usize = 3;

/// A line as text: `1. e4 c5 2. Nf3`.
pub(crate) fn text_of(positions: &[Chess], moves: &[Move]) -> String {
    let words = positions
        .iter()
        .zip(moves)
        .enumerate()
        .map(|(at, (position, mv))| {
            let san = notation::san(position, *mv);
            match at == 0 || position.turn().is_white() {
                true => format!("{} {san}", notation::number(position)),
                false => san,
            }
        });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests {
    use super::*;
    use tabia_book::{Annotation, PositionRecord, Stats};

    /// Moves by the line to their positions; games of each, and whether it is green.
    pub(crate) struct Written(pub(crate) &'static [(&'static str, &'static str, u32, bool)]);

    impl Probe for Written {
        fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
            found.clear();
            for &(line, mv, games, is_main) in self.0 {
                let at = Line::read("", line).unwrap();
                if at.last() != position {
                    continue;
                }
                let after = PositionRecord {
                    stats: Stats {
                        games,
                        draws: games,
                        ..Stats::default()
                    },
                    recommendation: if is_main { 0x80 } else { 0 },
                    ..PositionRecord::default()
                };
                found.here = Some(PositionRecord::default());
                found.moves.push(BookMove::stored(
                    notation::read_move(position, mv).unwrap(),
                    Annotation::default(),
                    Some(after),
                ));
            }
            Ok(())
        }

        fn contains(&self, position: &Chess) -> Result<bool, Error> {
            let mut found = Lookup::default();
            self.probe(position, Wanted::Stored, &mut found)?;
            Ok(found.here.is_some())
        }

        fn value_of(&self, position: &Chess, mv: Move) -> Option<i32> {
            (notation::san(position, mv) == "d4").then_some(-20)
        }
    }

    const BOOK: Written = Written(&[
        ("", "e4", 9, true),
        ("", "c4", 90, false),
        ("e4", "e5", 6, false),
        ("e4", "c5", 3, false),
        ("e4 e5", "Nf3", 6, false),
        ("e4 c5", "Nc3", 0, true),
        ("e4 e5 Nf3", "Nc6", 1, false),
    ]);

    fn left(moves: &str) -> Option<(LeftBy, String)> {
        let line = Line::read("", moves).unwrap();
        let moves: Vec<Move> = line.moves().map(|(_, mv)| mv).collect();
        let game = (line.positions(), &moves[..]);
        let left = of_game(&BOOK, Color::White, &Policy::default(), game).unwrap();
        left.map(|left| {
            let at = &line.positions()[left.moves.len()];
            (left.by, notation::san(at, left.played))
        })
    }

    #[test]
    fn whoever_plays_another_move_leaves_the_book() {
        let by = |by, san: &str| Some((by, san.to_owned()));
        assert_eq!(left("d4 d5"), by(LeftBy::Player, "d4"));
        // It is stored, but another move is green.
        assert_eq!(left("c4"), by(LeftBy::Player, "c4"));
        assert_eq!(left("e4 e6 d4"), by(LeftBy::Opponent, "e6"));
        // Never played, but green.
        assert_eq!(left("e4 c5 Nf3"), by(LeftBy::Player, "Nf3"));
        assert_eq!(left("e4 c5 Nc3 Nc6"), None);
        assert_eq!(left("e4 e5 Nf3 Nc6 Bb5"), by(LeftBy::Book, "Bb5"));
        assert_eq!(left("e4 e5 Nf3"), None);
    }

    #[test]
    fn departures_are_summed_by_position_and_move() {
        let games = [
            ("e4 e6 d4 d5", Some(2)),
            ("d4 d5", Some(0)),
            ("e4 e6 d4", None),
            ("e4 e6 Nf3", Some(1)),
            ("e4 e5 Nf3 Nc6 Bb5", Some(1)),
            ("e4 e5 Nf3 Nc6 Bc4", Some(1)),
        ];
        let policy = Policy::default();
        let all = games.map(|(moves, points)| {
            let line = Line::read("", moves).unwrap();
            let moves: Vec<Move> = line.moves().map(|(_, mv)| mv).collect();
            let game = (line.positions(), &moves[..]);
            let left = of_game(&BOOK, Color::White, &policy, game).unwrap();
            (left.unwrap(), points)
        });
        let found = sum(&BOOK, Color::White, &policy, all.clone(), 9).unwrap();
        let seen: Vec<_> = found
            .iter()
            .map(|one| (one.by, &*one.played.san, one.tally.games, one.score))
            .collect();
        assert_eq!(
            seen,
            [
                (LeftBy::Opponent, "e6", 3, Some(0.75)),
                (LeftBy::Book, "Bb5", 2, Some(0.5)),
                (LeftBy::Player, "d4", 1, Some(0.0)),
            ]
        );
        assert_eq!(found[0].line, "1. e4");
        let reply = found[0].reply.as_ref().unwrap();
        assert_eq!((&*reply.san, reply.value), ("d4", Some(-20)));
        assert!((reply.share.unwrap() - 2.0 / 3.0).abs() < 1e-9);
        let of_book =
            |one: &Departure| -> Vec<String> { one.book.iter().map(|mv| mv.san.clone()).collect() };
        assert_eq!(of_book(&found[0]), ["e5", "c5"]);
        assert_eq!(of_book(&found[2]), ["e4"]);
        assert_eq!(found[1].line, "1. e4 e5 2. Nf3 Nc6");
        assert!(found[1].book.is_empty());
        let few = sum(&BOOK, Color::White, &policy, all, 1).unwrap();
        assert_eq!(few.len(), 1);
    }
}
