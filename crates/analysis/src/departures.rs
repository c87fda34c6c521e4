//! Where games left a repertoire: by whose move, how often, with what results, and the
//! moves of the book there.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color, Move, Position as _};

use crate::tally::Tally;
use tabia_book::evals::EvalKey;
use tabia_book::policy::{Policy, weigh};
use tabia_book::tree::{probe_lines, shares};
use tabia_book::{BookMove, Error, Lookup, Mark, Probe, Wanted};
use tabia_notation::{self as notation, Line, openings};

/// Who left the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeftBy {
    /// The player whose repertoire it is.
    Player,
    Opponent,
    /// The book, which has no move for the player there.
    Book,
}

/// How a game left a repertoire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameDeparture {
    pub by: LeftBy,
    /// The moves before, from the usual start position.
    pub moves: Vec<Move>,
    /// The move that left it.
    pub played: Move,
    /// The move after `played`.
    pub reply: Option<Move>,
}

/// A move with its value and share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedMove {
    pub uci: String,
    pub san: String,
    /// Centipawns for its player, if evaluations are available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i32>,
    /// Its share of the games or of the probability, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

/// A position, and the line to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PositionWithLine {
    pub fen: String,
    /// The moves to it, as text.
    pub line: String,
    /// The same moves one by one.
    pub moves: Vec<NamedMove>,
    /// The ECO code, empty if it has none.
    pub eco: String,
    /// Name of the opening.
    pub opening: String,
}

impl PositionWithLine {
    pub(crate) fn new(line: &Line) -> PositionWithLine {
        let opening = openings::find_in_line(line.positions());
        let named = |(position, mv)| NamedMove {
            uci: notation::uci(mv),
            san: notation::san(position, mv),
            value: None,
            share: None,
        };
        PositionWithLine {
            fen: notation::fen(line.last()),
            line: text_of(line.moves()),
            moves: line.moves().map(named).collect(),
            eco: opening.map_or("", |opening| opening.eco).to_owned(),
            opening: opening.map_or("", |opening| opening.name).to_owned(),
        }
    }
}

/// A position in which games left a repertoire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Departure {
    pub by: LeftBy,
    /// The position before the move.
    #[serde(flatten)]
    pub place: PositionWithLine,
    /// The move; if the book ends there, the one played most often.
    pub played: NamedMove,
    /// If the opponent left the book, the player's most frequent answer; `share` is its
    /// frequency.
    pub reply: Option<NamedMove>,
    /// Games, and their results for the player.
    #[serde(flatten)]
    pub tally: Tally,
    /// Points per game, 0 to 1; `None` without results.
    pub score: Option<f64>,
    /// The moves of the book instead, the most important first.
    pub book: Vec<NamedMove>,
}

/// A position in which a repertoire has several green moves: it does not say which of them
/// is the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeveralMoves {
    /// The position.
    #[serde(flatten)]
    pub place: PositionWithLine,
    /// Games that reached it.
    pub games: u64,
    /// The green moves, the most important first.
    pub book: Vec<NamedMove>,
}

/// The player's choice in positions where a book has several moves.
#[derive(Debug, Default)]
pub struct ChosenMoves(HashMap<EvalKey, String, FxBuildHasher>);

impl ChosenMoves {
    /// Makes choices from positions (the first four fields of a FEN are enough) and moves
    /// in UCI notation. Invalid positions are left out; an empty move chooses none.
    #[must_use]
    pub fn new(moves: impl IntoIterator<Item = (String, String)>) -> ChosenMoves {
        let known = moves.into_iter().filter_map(|(fen, uci)| {
            let position = notation::position(&fen).ok()?;
            (!uci.is_empty()).then(|| (EvalKey::from_position(&position), uci))
        });
        ChosenMoves(known.collect())
    }

    /// The choices in a training file, as the page saves it, for a book and a colour.
    /// `None` if it is not such a file.
    #[must_use]
    pub fn from_training(text: &str, book: &str, colour: Color) -> Option<ChosenMoves> {
        #[derive(Deserialize)]
        struct Training {
            format: String,
            #[serde(default)]
            moves: Vec<(String, String)>,
        }
        let training: Training = serde_json::from_str(text).ok()?;
        let begin = format!("{book}|{colour}|");
        let of_book = training.moves.into_iter().filter_map(|(key, uci)| {
            let fen = key.strip_prefix(&begin)?.to_owned();
            Some((fen, uci))
        });
        (training.format == "tabia-training").then(|| ChosenMoves::new(of_book))
    }
}

/// A book as the repertoire of a colour.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Repertoire<'a> {
    /// The book with the player's moves.
    pub book: &'a (dyn Probe + Sync),
    /// The player's colour.
    pub colour: Color,
    /// The policy for positions without green moves.
    pub policy: &'a Policy,
    /// The player's choice where there are several moves.
    pub chosen: &'a ChosenMoves,
}

impl<'a> Repertoire<'a> {
    /// The repertoire of a colour in a book.
    #[must_use]
    pub fn new(
        book: &'a (dyn Probe + Sync),
        colour: Color,
        policy: &'a Policy,
        chosen: &'a ChosenMoves,
    ) -> Repertoire<'a> {
        Repertoire {
            book,
            colour,
            policy,
            chosen,
        }
    }

    /// The moves of the player in a position with their shares: the chosen one, or else
    /// the green ones, or else those that the policy would play, or else all stored moves
    /// that are not red.
    pub(crate) fn own_moves<'f>(
        &self,
        position: &Chess,
        found: &'f Lookup,
    ) -> Vec<(&'f BookMove, f64)> {
        let stored = || found.moves.iter().filter(|entry| !entry.transposition);
        let mut verdicts = Vec::new();
        weigh(&found.moves, self.policy, |_| None, &mut verdicts);
        let weighed = found.moves.iter().zip(&verdicts);
        let mut own: Vec<(&BookMove, f64)> = weighed
            .filter(|(entry, verdict)| !entry.transposition && verdict.probability > 0.0)
            .map(|(mv, verdict)| (mv, verdict.probability))
            .collect();
        let alike = |moves: Vec<&'f BookMove>| {
            let share = 1.0 / moves.len() as f64;
            moves.into_iter().map(|mv| (mv, share)).collect()
        };
        if stored().any(|entry| entry.mark() == Mark::Main) {
            own.retain(|(entry, _)| entry.mark() == Mark::Main);
            // The policy may reject a move that was never played.
            if own.is_empty() {
                own = alike(
                    stored()
                        .filter(|entry| entry.mark() == Mark::Main)
                        .collect(),
                );
            }
        } else if own.is_empty() {
            own = alike(
                stored()
                    .filter(|entry| entry.mark() != Mark::Avoid)
                    .collect(),
            );
        }
        if let Some(chosen) = self.chosen_in(position, &own) {
            return vec![(chosen, 1.0)];
        }
        own.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        own
    }

    /// The chosen move, if it is one of the book's.
    fn chosen_in<'f>(&self, position: &Chess, own: &[(&'f BookMove, f64)]) -> Option<&'f BookMove> {
        if self.chosen.0.is_empty() {
            return None;
        }
        let chosen = self.chosen.0.get(&EvalKey::from_position(position))?;
        let mut moves = own.iter().map(|(mv, _)| *mv);
        moves.find(|entry| notation::uci(entry.mv) == *chosen)
    }

    /// How a game left the repertoire. `None` if it did not, if the book ended with the
    /// opponent to move, or if the game began elsewhere.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn left_by_game(
        &self,
        (positions, moves): (&[Chess], &[Move]),
    ) -> Result<Option<GameDeparture>, Error> {
        if positions.first() != Some(&Chess::default()) {
            return Ok(None);
        }
        let mut found = Lookup::default();
        for (ply, (position, mv)) in positions.iter().zip(moves).enumerate() {
            let is_own = self.look_up(position, &mut found)?;
            let is_known = match is_own {
                true => {
                    let own = self.own_moves(position, &found);
                    let also = found.moves.iter().filter(|entry| entry.transposition);
                    // Another move order may lead into the book, unless the book or the
                    // player has chosen the move.
                    let is_named = own.iter().any(|(entry, _)| entry.mark() == Mark::Main)
                        || self.chosen_in(position, &own).is_some();
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

    /// The plies of a game at which the repertoire has several green moves, and none of
    /// them is chosen. None if the game began elsewhere.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn undecided(&self, positions: &[Chess]) -> Result<Vec<usize>, Error> {
        let mut found = Lookup::default();
        let mut plies = Vec::new();
        if positions.first() != Some(&Chess::default()) {
            return Ok(plies);
        }
        for (ply, position) in positions.iter().enumerate() {
            let is_own = self.look_up(position, &mut found)?;
            if found.moves.is_empty() {
                break;
            }
            let own = || self.own_moves(position, &found).into_iter();
            let green = || own().filter(|(entry, _)| entry.mark() == Mark::Main);
            plies.extend((is_own && green().count() > 1).then_some(ply));
        }
        Ok(plies)
    }

    /// The `most` positions with several green moves, those of most games first; `games`
    /// are the moves to each, once a game.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn sum_undecided<'g>(
        &self,
        games: impl IntoIterator<Item = &'g [Move]>,
        most: usize,
    ) -> Result<Vec<SeveralMoves>, Error> {
        let mut numbers = HashMap::<EvalKey, usize, FxBuildHasher>::default();
        let mut places: Vec<(Line, u64)> = Vec::new();
        for moves in games {
            let line = line_of(moves);
            let next = places.len();
            let key = EvalKey::from_position(line.last());
            let number = *numbers.entry(key).or_insert(next);
            match places.get_mut(number) {
                Some((_, games)) => *games += 1,
                None => places.push((line, 1)),
            }
        }
        places.sort_by_key(|(_, games)| Reverse(*games));
        let mut found = Lookup::default();
        let describe = |(line, games): &(Line, u64)| {
            self.look_up(line.last(), &mut found)?;
            let own = self.own_moves(line.last(), &found);
            let named =
                |(entry, share): &(&BookMove, f64)| self.named(line.last(), entry.mv, Some(*share));
            Ok(SeveralMoves {
                place: PositionWithLine::new(line),
                games: *games,
                book: own.iter().map(named).collect(),
            })
        };
        places.iter().take(most).map(describe).collect()
    }

    /// The share of each found move in the play of a position: of the player's turn by the
    /// repertoire, else by games.
    pub(crate) fn shares(&self, is_own: bool, position: &Chess, found: &Lookup) -> Vec<f64> {
        if !is_own {
            return shares(&found.moves);
        }
        let own = self.own_moves(position, found);
        let part = |mv| own.iter().find(|(known, _)| known.mv == mv);
        let part = |entry: &BookMove| part(entry.mv).map_or(0.0, |(_, share)| *share);
        found.moves.iter().map(part).collect()
    }

    pub(crate) fn named(&self, position: &Chess, mv: Move, share: Option<f64>) -> NamedMove {
        NamedMove {
            uci: notation::uci(mv),
            san: notation::san(position, mv),
            value: self.book.value_of(position, mv),
            share,
        }
    }

    /// The `most` places where games left it, those with the most games first. Each
    /// departure comes with the half points of the player.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn sum(
        &self,
        games: impl IntoIterator<Item = (GameDeparture, Option<u8>)>,
        most: usize,
    ) -> Result<Vec<Departure>, Error> {
        let mut numbers = HashMap::<_, usize, FxBuildHasher>::default();
        let mut places: Vec<PlaceCounts> = Vec::new();
        for (game, half_points) in games {
            let line = line_of(&game.moves);
            let played = (game.by != LeftBy::Book).then(|| game.played.to_string());
            let key = (game.by, EvalKey::from_position(line.last()), played);
            let next = places.len();
            let number = *numbers.entry(key).or_insert(next);
            if number == next {
                places.push(PlaceCounts {
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
        // The sort is stable: of equal places the first one found comes first.
        places.sort_by_key(|place| Reverse(place.tally.games));
        let most = places.iter().take(most);
        most.map(|place| self.described(place)).collect()
    }

    /// Fills `found` with the player's moves, or with those of opponents that lead on; a
    /// book for one side does not store them. Returns whether it is the player's turn.
    fn look_up(&self, position: &Chess, found: &mut Lookup) -> Result<bool, Error> {
        let is_own = position.turn() == self.colour;
        match is_own {
            true => self.book.probe(position, Wanted::Transpositions, found)?,
            false => probe_lines(self.book, position, found)?,
        }
        Ok(is_own)
    }

    fn described(&self, place: &PlaceCounts) -> Result<Departure, Error> {
        let line = line_of(&place.first.moves);
        let position = line.last();
        let mut found = Lookup::default();
        self.look_up(position, &mut found)?;
        let of_book = match position.turn() == self.colour {
            true => self.own_moves(position, &found),
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
        Ok(Departure {
            by: place.first.by,
            place: PositionWithLine::new(&line),
            played: self.named(position, played, None),
            reply: reply.map(|(mv, share)| self.named(&after, mv, Some(share))),
            score: place.tally.results.score(),
            tally: place.tally.clone(),
            book: of_book
                .iter()
                .take(SHOWN)
                .map(|(entry, share)| self.named(position, entry.mv, Some(*share)))
                .collect(),
        })
    }
}

/// The counts for one place.
struct PlaceCounts {
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

/// A line from the usual start position.
pub(crate) fn line_of(moves: &[Move]) -> Line {
    along(&Line::default(), moves)
}

/// A line that goes on with these moves.
pub(crate) fn along(from: &Line, moves: &[Move]) -> Line {
    let mut line = from.clone();
    moves.iter().for_each(|&mv| line.push(mv));
    line
}

/// Highest number of book moves in the list of a place.
const SHOWN: usize = 3;

/// A line as text: `1. e4 c5 2. Nf3`.
pub(crate) fn text_of<'p>(moves: impl Iterator<Item = (&'p Chess, Move)>) -> String {
    let words = moves.enumerate().map(|(at, (position, mv))| {
        let san = notation::san(position, mv);
        match at == 0 || position.turn().is_white() {
            true => format!("{} {san}", notation::number(position)),
            false => san,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::LazyLock;
    use tabia_book::{Annotation, PositionRecord, Stats};

    /// A book of moves, each by the line to its position; with games, and whether it is
    /// green.
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

    /// The book as White's repertoire, with the chosen moves.
    fn white(chosen: &ChosenMoves) -> Repertoire<'_> {
        static POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);
        Repertoire {
            book: &BOOK,
            colour: Color::White,
            policy: &POLICY,
            chosen,
        }
    }

    fn departure(moves: &str, chosen: &ChosenMoves) -> Option<GameDeparture> {
        let line = Line::read("", moves).unwrap();
        let moves: Vec<Move> = line.moves().map(|(_, mv)| mv).collect();
        let game = (line.positions(), &moves[..]);
        white(chosen).left_by_game(game).unwrap()
    }

    fn left(moves: &str, chosen: &ChosenMoves) -> Option<(LeftBy, String)> {
        let left = departure(moves, chosen)?;
        let at = line_of(&left.moves);
        Some((left.by, notation::san(at.last(), left.played)))
    }

    #[test]
    fn whoever_plays_another_move_leaves_the_book() {
        let by = |by, san: &str| Some((by, san.to_owned()));
        let left = |moves: &str| left(moves, &ChosenMoves::default());
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
    fn of_several_moves_the_chosen_one_is_the_repertoire() {
        const TWO: Written = Written(&[
            ("", "e4", 9, true),
            ("", "d4", 9, true),
            ("e4", "e5", 6, false),
        ]);
        let of = |uci: &str, moves| {
            let key = "my.ctg|white|rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
            let text =
                format!(r#"{{"format":"tabia-training","cards":[],"moves":[["{key}","{uci}"]]}}"#);
            let chosen = ChosenMoves::from_training(&text, "my.ctg", Color::White).unwrap();
            let repertoire = Repertoire {
                book: &TWO,
                ..white(&chosen)
            };
            let line = Line::read("", moves).unwrap();
            let moves: Vec<Move> = line.moves().map(|(_, mv)| mv).collect();
            let left = repertoire.left_by_game((line.positions(), &moves[..]));
            left.unwrap().map(|left| left.by)
        };
        assert_eq!(of("", "d4"), None);
        assert_eq!(of("e2e4", "d4"), Some(LeftBy::Player));
        assert_eq!(of("e2e4", "e4"), None);
        // The book no longer has the move.
        assert_eq!(of("a2a3", "d4"), None);
        // Without a choice the repertoire has two answers; one that is not green is none.
        let undecided = |book: &'static Written, chosen: &ChosenMoves| {
            let repertoire = Repertoire {
                book,
                ..white(chosen)
            };
            let line = Line::read("", "e4 e5").unwrap();
            let plies = repertoire.undecided(line.positions()).unwrap();
            let two = repertoire.sum_undecided([&[][..], &[]], 9).unwrap();
            let moves = two[0].book.iter().map(|mv| mv.san.clone());
            (plies, two.len(), two[0].games, moves.collect::<Vec<_>>())
        };
        let of_two = undecided(&TWO, &ChosenMoves::default());
        assert_eq!(of_two, (vec![0], 1, 2, vec!["e4".into(), "d4".into()]));
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -".to_owned();
        let e4 = ChosenMoves::new([(start, "e2e4".to_owned())]);
        assert_eq!(undecided(&TWO, &e4).0, [0; 0]);
        assert_eq!(undecided(&BOOK, &ChosenMoves::default()).0, [0; 0]);
        assert!(ChosenMoves::from_training("[]", "my.ctg", Color::White).is_none());
        assert!(ChosenMoves::from_training(r#"{"format":"x"}"#, "my.ctg", Color::White).is_none());
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
        let none = ChosenMoves::default();
        let all = games.map(|(moves, points)| (departure(moves, &none).unwrap(), points));
        let found = white(&none).sum(all.clone(), 9).unwrap();
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
        assert_eq!(found[0].place.line, "1. e4");
        let reply = found[0].reply.as_ref().unwrap();
        assert_eq!((&*reply.san, reply.value), ("d4", Some(-20)));
        assert!((reply.share.unwrap() - 2.0 / 3.0).abs() < 1e-9);
        let of_book =
            |one: &Departure| -> Vec<String> { one.book.iter().map(|mv| mv.san.clone()).collect() };
        assert_eq!(of_book(&found[0]), ["e5", "c5"]);
        assert_eq!(of_book(&found[2]), ["e4"]);
        assert_eq!(found[1].place.line, "1. e4 e5 2. Nf3 Nc6");
        assert!(found[1].book.is_empty());
        let few = white(&none).sum(all, 1).unwrap();
        assert_eq!(few.len(), 1);
    }
}
