//! What there is to do on a book: positions without an answer, moves in which another book or
//! the player's games differ from it, answers that are not decided, and its marks, each with
//! how often it comes up and what it costs.

use std::cmp::Ordering;
use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use serde::Serialize;
use shakmaty::{Chess, Move, Position as _};

use crate::coverage::{CoverageLimits, holes};
use crate::departures::{
    Departure, LeftBy, NamedMove, PositionWithLine, Repertoire, along, line_of,
};
use tabia_book::eval::model::expected_of_cp;
use tabia_book::evals::EvalKey;
use tabia_book::tree::{shares, weight};
use tabia_book::walk::{Order, Walk, WalkNode};
use tabia_book::{BookMove, Error, Lookup, Mark, Preference, Probe, Wanted};
use tabia_notation::{self as notation, Line};

/// Fewer games with a result say nothing about a move.
const ENOUGH_GAMES: u64 = 10;

/// What is to be looked at in a position.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Finding {
    /// Two books differ in the move.
    Difference { has: Having },
    /// The opponent's last move has no answer, although others have.
    Unanswered,
    /// The line of the book ends here.
    End,
    /// Games of the player left the book here.
    Departure {
        by: LeftBy,
        games: u64,
        /// Points per game of the player, 0 to 1.
        score: Option<f64>,
        /// The move of the opponent, if that left the book.
        after: Option<NamedMove>,
    },
    /// The book has several green moves.
    Undecided,
    /// The move is marked or annotated.
    Marked,
}

impl Finding {
    const KINDS: usize = 6;

    const fn kind(&self) -> usize {
        match self {
            Finding::Difference { .. } => 0,
            Finding::Unanswered => 1,
            Finding::End => 2,
            Finding::Departure { .. } => 3,
            Finding::Undecided => 4,
            Finding::Marked => 5,
        }
    }
}

/// Which of two books has a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Having {
    First,
    Second,
    /// Both, with different marks.
    Both,
}

/// What one move is worth more than another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Points per game for the player of the move, of 1. Negative if the other move is better.
    pub score: f64,
    /// The cost in centipawns, if it is from evaluations; else it is from results of games.
    pub centipawns: Option<i32>,
    /// The smaller number of games behind one of the two, if it is from results.
    pub games: Option<u64>,
    /// The number of the book with these figures.
    pub source: usize,
    /// The move that is compared with.
    pub better: NamedMove,
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkItem {
    #[serde(flatten)]
    pub finding: Finding,
    #[serde(flatten)]
    pub place: PositionWithLine,
    /// The move in question; where an answer is missing, the best one of other books.
    #[serde(rename = "move")]
    pub mv: Option<NamedMove>,
    /// The mark of the move in the book; `None` if the book does not have it.
    pub mark: Option<&'static str>,
    /// The moves that the book plays here, the most important first.
    pub book: Vec<NamedMove>,
    /// The share of games that come to it if the repertoire is played, or, of departures, of
    /// the player's games, 0 to 1. `None` if it is unknown.
    pub frequency: Option<f64>,
    /// What it costs each time; `None` if no book has the figures.
    pub cost: Option<Cost>,
}

impl WorkItem {
    /// Frequency times cost; 0 if one of them is unknown.
    fn rank(&self) -> f64 {
        rank(self.frequency, self.cost.as_ref())
    }
}

fn rank(frequency: Option<f64>, cost: Option<&Cost>) -> f64 {
    frequency.unwrap_or(0.0) * cost.map_or(0.0, |cost| cost.score)
}

/// Limits of the list.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkLimits {
    /// Positions of a book that are looked at.
    pub positions: u64,
    /// Plies from the first position.
    pub plies: u32,
    /// Rows of each kind.
    pub rows: usize,
}

impl Default for WorkLimits {
    fn default() -> WorkLimits {
        WorkLimits {
            positions: 20_000,
            plies: 80,
            rows: 200,
        }
    }
}

/// The list.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Worklist {
    /// Items with the greatest product of frequency and cost first; then the most frequent.
    pub items: Vec<WorkItem>,
    /// Rows that are left out, because others of their kind rank higher.
    pub left_out: usize,
    /// Whether all positions of the book were looked at, not only the likeliest.
    pub is_complete: bool,
}

/// Where and for what rows are looked for.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct WorkSearch<'a> {
    /// The book, as the repertoire of a colour.
    pub repertoire: Repertoire<'a>,
    /// A second book to compare with, whose moves are also those of the opponents.
    pub other: Option<&'a (dyn Probe + Sync)>,
    /// Books and indexes whose figures tell costs.
    pub sources: &'a [&'a (dyn Probe + Sync)],
    /// The line to the position where it begins.
    pub from: &'a Line,
    pub limits: WorkLimits,
}

/// A row before it is known whether it is listed.
struct Draft {
    finding: Finding,
    /// The moves from the first position of the search.
    line: Vec<Move>,
    mv: Option<Move>,
    frequency: Option<f64>,
    cost: Option<Cost>,
}

impl<'a> WorkSearch<'a> {
    /// A search in a book from a line on, for costs by the figures of these books.
    #[must_use]
    pub fn new(
        repertoire: Repertoire<'a>,
        other: Option<&'a (dyn Probe + Sync)>,
        sources: &'a [&'a (dyn Probe + Sync)],
        from: &'a Line,
    ) -> WorkSearch<'a> {
        WorkSearch {
            repertoire,
            other,
            sources,
            from,
            limits: WorkLimits::default(),
        }
    }

    /// The list; `departures` are those of `games` games of the player. Ends early, without
    /// rows, when `stop` returns true.
    ///
    /// # Errors
    ///
    /// A book cannot be read.
    pub fn list(
        &self,
        departures: Vec<Departure>,
        games: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Worklist, Error> {
        let mut drafts = Vec::new();
        let unanswered = self.coverage(&mut drafts)?;
        let mut is_complete = self.walk(&unanswered, &mut drafts, stop)?;
        if let Some(other) = self.other {
            is_complete &= self.compare(other, &mut drafts, stop)?;
        }
        if stop() {
            return Ok(Worklist::default());
        }
        let mut list = Worklist {
            is_complete,
            ..Worklist::default()
        };
        drafts.sort_by(|a, b| order(key(a.frequency, &a.cost), key(b.frequency, &b.cost)));
        let mut rows = [0; Finding::KINDS];
        let mut departed = Vec::new();
        for one in departures {
            departed.push(self.departure(one, games)?);
        }
        for draft in drafts {
            let Some(count) = rows.get_mut(draft.finding.kind()) else {
                continue;
            };
            *count += 1;
            match *count <= self.limits.rows {
                true => list.items.push(self.described(draft)?),
                false => list.left_out += 1,
            }
        }
        list.left_out += departed.len().saturating_sub(self.limits.rows);
        departed.sort_by(by_rank);
        departed.truncate(self.limits.rows);
        list.items.append(&mut departed);
        list.items.sort_by(by_rank);
        Ok(list)
    }

    /// Adds the positions without an answer; returns them.
    fn coverage(&self, drafts: &mut Vec<Draft>) -> Result<HashSet<EvalKey, FxBuildHasher>, Error> {
        let opponents = self.other.map(|book| book as &dyn Probe);
        let limits = CoverageLimits::default();
        let found = holes(self.repertoire, self.from, opponents, limits)?;
        let mut places = HashSet::default();
        for hole in found {
            let line = read_line(self.from, &hole.place);
            places.insert(EvalKey::from_position(line.last()));
            let (mv, cost) = match hole.is_end {
                true => (None, None),
                false => self.missing(&line)?,
            };
            drafts.push(Draft {
                finding: match hole.is_end {
                    true => Finding::End,
                    false => Finding::Unanswered,
                },
                line: (line.moves().skip(self.from.plies()).map(|(_, mv)| mv)).collect(),
                mv,
                frequency: hole.share,
                cost,
            });
        }
        Ok(places)
    }

    /// Adds what the moves of the book show: ends of lines but those in `known`, marks, and
    /// answers that are not decided. Returns whether the walk was complete.
    fn walk(
        &self,
        known: &HashSet<EvalKey, FxBuildHasher>,
        drafts: &mut Vec<Draft>,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, Error> {
        let mut walk = Walk::new(self.from.last(), Order::Likeliest);
        let mut seen = Seen::new(self);
        let mut here = Lookup::default();
        while let Some(node) = walk.next() {
            if stop() {
                return Ok(false);
            }
            let position = &node.position;
            (self.repertoire.book).probe(position, Wanted::Stored, &mut here)?;
            let draft = |finding, mv| Draft {
                finding,
                line: walk.line(&node),
                mv,
                frequency: known_share(node.share),
                cost: None,
            };
            if here.moves.is_empty() {
                let is_new = !known.contains(&EvalKey::from_position(position));
                if is_new && node.ply > 0 && !position.is_game_over() {
                    drafts.push(draft(Finding::End, None));
                }
                continue;
            }
            let is_own = position.turn() == self.repertoire.colour;
            let green = || here.moves.iter().filter(|entry| entry.mark() == Mark::Main);
            if is_own && green().count() > 1 && self.repertoire.own_moves(position, &here).len() > 1
            {
                let moves: Vec<Move> = green().map(|entry| entry.mv).collect();
                drafts.push(Draft {
                    cost: self.spread(position, &moves)?,
                    ..draft(Finding::Undecided, None)
                });
            }
            for entry in &here.moves {
                if entry.mark() != Mark::None || entry.annotation.nag() != 0 {
                    drafts.push(Draft {
                        // What the opponent should play costs the player nothing.
                        cost: match is_own {
                            true => self.of_mark(position, entry, &here)?,
                            false => None,
                        },
                        ..draft(Finding::Marked, Some(entry.mv))
                    });
                }
            }
            let parts = self.repertoire.shares(is_own, position, &here);
            let moves = here.moves.iter().zip(parts);
            seen.enter(
                &mut walk,
                &node,
                moves.filter(|(_, part)| !is_own || *part > 0.0),
            );
        }
        Ok(seen.is_complete)
    }

    /// Adds the moves in which another book differs. Returns whether the walk was complete.
    fn compare(
        &self,
        other: &(dyn Probe + Sync),
        drafts: &mut Vec<Draft>,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, Error> {
        let theirs = Repertoire {
            book: other,
            ..self.repertoire
        };
        let mut walk = Walk::new(self.from.last(), Order::Likeliest);
        let mut seen = Seen::new(self);
        let (mut here, mut there) = (Lookup::default(), Lookup::default());
        while let Some(node) = walk.next() {
            if stop() {
                return Ok(false);
            }
            let position = &node.position;
            (self.repertoire.book).probe(position, Wanted::Stored, &mut here)?;
            other.probe(position, Wanted::Stored, &mut there)?;
            if here.moves.is_empty() || there.moves.is_empty() {
                // Where only one of them goes on, that is not a difference in a move.
                continue;
            }
            let is_own = position.turn() == self.repertoire.colour;
            let ours = self.repertoire.shares(is_own, position, &here);
            let foreign = theirs.shares(is_own, position, &there);
            let best = |repertoire: &Repertoire<'_>, found: &Lookup| {
                let moves = repertoire.own_moves(position, found);
                moves.first().map(|(entry, _)| entry.mv)
            };
            let (first, second) = (best(&self.repertoire, &here), best(&theirs, &there));
            let mut add = |has, mv, share: f64, better, worse| {
                let cost = match (better, worse) {
                    (Some(better), Some(worse)) => self.cost(position, better, worse)?,
                    _ => None,
                };
                drafts.push(Draft {
                    finding: Finding::Difference { has },
                    line: walk.line(&node),
                    mv: Some(mv),
                    frequency: match is_own {
                        true => known_share(node.share).map(|reached| reached * share),
                        false => known_share(node.share * share),
                    },
                    cost,
                });
                Ok::<_, Error>(())
            };
            for (entry, share) in here.moves.iter().zip(&ours) {
                let same = there.moves.iter().find(|other| other.mv == entry.mv);
                match same {
                    Some(same) if is_marked_alike(entry, same) => {}
                    Some(_) => add(Having::Both, entry.mv, *share, second, first)?,
                    // What the opponent plays in the own book only costs nothing.
                    None if !is_own => {
                        add(Having::First, entry.mv, *share, None, None)?;
                    }
                    None => add(Having::First, entry.mv, *share, second, Some(entry.mv))?,
                }
            }
            for (entry, share) in there.moves.iter().zip(foreign) {
                if here.moves.iter().all(|known| known.mv != entry.mv) {
                    add(Having::Second, entry.mv, share, Some(entry.mv), first)?;
                }
            }
            let is_shared = |mv| there.moves.iter().any(|one| one.mv == mv);
            let moves = here.moves.iter().zip(ours);
            let moves =
                moves.filter(|(entry, part)| is_shared(entry.mv) && (!is_own || *part > 0.0));
            seen.enter(&mut walk, &node, moves);
        }
        Ok(seen.is_complete)
    }

    /// A departure as a row: the position in which the player is to move.
    fn departure(&self, one: Departure, games: u64) -> Result<WorkItem, Error> {
        let Departure {
            by,
            place,
            played,
            reply,
            tally,
            score,
            book,
        } = one;
        let mut line = read_line(&line_of(&[]), &place);
        let frequency = Some(tally.games as f64 / games.max(1) as f64);
        let (mv, after) = match by {
            LeftBy::Opponent => {
                let moves = line.extend(&played.uci);
                debug_assert!(moves.is_ok(), "{place:?} {played:?}");
                (reply, Some(played))
            }
            LeftBy::Player | LeftBy::Book => (Some(played), None),
        };
        let position = line.last();
        let as_move = |named: &NamedMove| notation::read_move(position, &named.uci).ok();
        let played = mv.as_ref().and_then(as_move);
        let cost = match (by, played, book.first().and_then(as_move)) {
            (LeftBy::Player, Some(played), Some(best)) => self.cost(position, best, played)?,
            _ => self.against_best(position, played)?,
        };
        Ok(WorkItem {
            finding: Finding::Departure {
                by,
                games: tally.games,
                score,
                after,
            },
            mark: self.mark(position, played)?,
            book: match by {
                LeftBy::Player => book,
                // Those are moves of the opponent, or there is none.
                LeftBy::Opponent | LeftBy::Book => Vec::new(),
            },
            place: PositionWithLine::new(&line),
            mv,
            frequency,
            cost,
        })
    }

    fn described(&self, draft: Draft) -> Result<WorkItem, Error> {
        let line = along(self.from, &draft.line);
        let position = line.last();
        let mut found = Lookup::default();
        (self.repertoire.book).probe(position, Wanted::Stored, &mut found)?;
        let own = self.repertoire.own_moves(position, &found);
        let named = |mv, share| self.repertoire.named(position, mv, share);
        Ok(WorkItem {
            book: own
                .iter()
                .take(SHOWN)
                .map(|(entry, share)| named(entry.mv, Some(*share)))
                .collect(),
            mark: self.mark(position, draft.mv)?,
            mv: draft.mv.map(|mv| named(mv, None)),
            place: PositionWithLine::new(&line),
            finding: draft.finding,
            frequency: draft.frequency,
            cost: draft.cost,
        })
    }

    /// The mark of a move in the book.
    fn mark(&self, position: &Chess, mv: Option<Move>) -> Result<Option<&'static str>, Error> {
        let mut found = Lookup::default();
        (self.repertoire.book).probe(position, Wanted::Stored, &mut found)?;
        let known = found.moves.iter().find(|entry| Some(entry.mv) == mv);
        Ok(known.map(|entry| entry.mark().as_str()))
    }

    /// The best answer by other books where the book has none, and what an average one costs;
    /// without figures the answer that is played most.
    fn missing(&self, line: &Line) -> Result<(Option<Move>, Option<Cost>), Error> {
        let position = line.last();
        if let Some(cost) = self.against_best(position, None)? {
            let best = notation::read_move(position, &cost.better.uci).ok();
            return Ok((best, Some(cost)));
        }
        let mut found = Lookup::default();
        for book in self.sources {
            book.probe(position, Wanted::Stored, &mut found)?;
            let most = |a: &&BookMove, b: &&BookMove| weight(a).total_cmp(&weight(b));
            if let Some(entry) = found.moves.iter().max_by(most) {
                return Ok((Some(entry.mv), None));
            }
        }
        Ok((None, None))
    }

    /// What a move costs against the best one that any book has; without a move, what those
    /// that were played cost on average.
    fn against_best(&self, position: &Chess, played: Option<Move>) -> Result<Option<Cost>, Error> {
        for by_value in [true, false] {
            for source in 0..self.sources.len() {
                let also: Vec<Move> = played.into_iter().collect();
                let worths = self.worths(source, position, by_value, &also)?;
                let Some(best) = worths.iter().max_by(|a, b| a.score.total_cmp(&b.score)) else {
                    continue;
                };
                let of_played = worths.iter().find(|worth| Some(worth.mv) == played);
                let (score, cp, games) = match (played, of_played) {
                    (Some(_), Some(worth)) => (worth.score, worth.cp, worth.games),
                    (Some(_), None) => continue,
                    (None, _) => {
                        let all: f64 = worths.iter().map(|worth| worth.weight).sum();
                        if worths.len() < 2 || all <= 0.0 {
                            continue;
                        }
                        let sum = |of: fn(&Worth) -> f64| {
                            worths.iter().map(|one| one.weight * of(one)).sum::<f64>() / all
                        };
                        let cp = best.cp.map(|_| {
                            sum(|worth| f64::from(worth.cp.unwrap_or_default())).round() as i32
                        });
                        let games = worths.iter().filter_map(|worth| worth.games).sum();
                        (sum(|worth| worth.score), cp, Some(games))
                    }
                };
                return Ok(Some(self.cost_of(
                    source,
                    position,
                    best,
                    (score, cp, games),
                )));
            }
        }
        Ok(None)
    }

    /// What `worse` costs against `better`, by the first book that knows both.
    fn cost(&self, position: &Chess, better: Move, worse: Move) -> Result<Option<Cost>, Error> {
        for by_value in [true, false] {
            for source in 0..self.sources.len() {
                let worths = self.worths(source, position, by_value, &[better, worse])?;
                let of = |mv| worths.iter().find(|worth| worth.mv == mv);
                if let (Some(better), Some(worse)) = (of(better), of(worse)) {
                    let worse = (worse.score, worse.cp, worse.games);
                    return Ok(Some(self.cost_of(source, position, better, worse)));
                }
            }
        }
        Ok(None)
    }

    fn cost_of(
        &self,
        source: usize,
        position: &Chess,
        better: &Worth,
        (score, cp, games): (f64, Option<i32>, Option<u64>),
    ) -> Cost {
        let is_value = better.cp.is_some();
        Cost {
            score: better.score - score,
            centipawns: better.cp.zip(cp).map(|(better, cp)| better - cp),
            games: games
                .into_iter()
                .chain(better.games)
                .min()
                .filter(|_| !is_value),
            source,
            better: self.repertoire.named(position, better.mv, None),
        }
    }

    /// The difference between the best and the worst of some moves.
    fn spread(&self, position: &Chess, moves: &[Move]) -> Result<Option<Cost>, Error> {
        for by_value in [true, false] {
            for source in 0..self.sources.len() {
                let mut worths = self.worths(source, position, by_value, moves)?;
                worths.retain(|worth| moves.contains(&worth.mv));
                if worths.len() < moves.len() {
                    continue;
                }
                worths.sort_by(|a, b| b.score.total_cmp(&a.score));
                if let (Some(best), Some(worst)) = (worths.first(), worths.last()) {
                    let worst = (worst.score, worst.cp, worst.games);
                    return Ok(Some(self.cost_of(source, position, best, worst)));
                }
            }
        }
        Ok(None)
    }

    /// What a marked move costs: one to play against the best of the others, one to avoid
    /// if it is better than those.
    fn of_mark(
        &self,
        position: &Chess,
        entry: &BookMove,
        found: &Lookup,
    ) -> Result<Option<Cost>, Error> {
        let others = found.moves.iter().filter(|other| other.mv != entry.mv);
        let others: Vec<Move> = others.map(|other| other.mv).collect();
        let mut best: Option<Cost> = None;
        for other in others {
            let cost = match entry.mark() {
                Mark::Avoid => self.cost(position, entry.mv, other)?,
                Mark::Main | Mark::None => self.cost(position, other, entry.mv)?,
            };
            let is_more = |cost: &Cost, best: &Cost| match entry.mark() {
                Mark::Avoid => cost.score < best.score,
                Mark::Main | Mark::None => cost.score > best.score,
            };
            best = match (best, cost) {
                (Some(best), Some(cost)) if is_more(&cost, &best) => Some(cost),
                (best, cost) => best.or(cost),
            };
        }
        Ok(best)
    }

    /// What the moves of a position are worth by one book: by values, or else by results.
    fn worths(
        &self,
        source: usize,
        position: &Chess,
        by_value: bool,
        also: &[Move],
    ) -> Result<Vec<Worth>, Error> {
        let Some(book) = self.sources.get(source) else {
            return Ok(Vec::new());
        };
        let mut found = Lookup::default();
        book.probe(position, Wanted::Stored, &mut found)?;
        let parts = shares(&found.moves);
        let stored = || found.moves.iter().zip(&parts);
        if by_value {
            // Evaluations know moves that the book does not store.
            let others = also.iter().copied();
            let others = others.filter(|mv| stored().all(|(entry, _)| entry.mv != *mv));
            let moves = stored().map(|(entry, part)| (entry.mv, *part));
            let worth = |(mv, weight)| {
                let cp = book.value_of(position, mv)?;
                Some(Worth {
                    mv,
                    score: expected_of_cp(f64::from(cp)),
                    cp: Some(cp),
                    games: None,
                    weight,
                })
            };
            let moves = moves.chain(others.map(|mv| (mv, 0.0)));
            return Ok(moves.filter_map(worth).collect());
        }
        let worth = |(entry, part): (&BookMove, &f64)| {
            let results = results_of(entry)?;
            Some(Worth {
                mv: entry.mv,
                score: results.score()?,
                cp: None,
                games: Some(results.games()),
                weight: *part,
            })
        };
        Ok(stored().filter_map(worth).collect())
    }
}

/// Highest number of book moves in a row.
const SHOWN: usize = 3;

/// What a move is worth for its player.
struct Worth {
    mv: Move,
    score: f64,
    cp: Option<i32>,
    games: Option<u64>,
    /// Its share of the games.
    weight: f64,
}

/// The results behind a move, if they are known and enough. Arena's priorities stand beside
/// games without results, which would all count as draws.
fn results_of(entry: &BookMove) -> Option<notation::Results> {
    let stats = entry.stats();
    let is_known = match entry.preference {
        Preference::Statistics => true,
        Preference::Weight(_) => false,
        Preference::Priority(_) => stats.wins + stats.losses > 0,
    };
    Some(stats.results()).filter(|results| is_known && results.games() >= ENOUGH_GAMES)
}

fn is_marked_alike(here: &BookMove, there: &BookMove) -> bool {
    here.mark() == there.mark() && here.annotation.nag() == there.annotation.nag()
}

/// A share that is 0 because a move on the way was never played is unknown.
fn known_share(share: f64) -> Option<f64> {
    Some(share).filter(|share| *share > 0.0)
}

/// The line of a position; `from` has its first position.
fn read_line(from: &Line, place: &PositionWithLine) -> Line {
    let mut line = from.up_to(0);
    for mv in &place.moves {
        let read = line.extend(&mv.uci);
        debug_assert!(read.is_ok(), "{place:?}");
    }
    line
}

fn key(frequency: Option<f64>, cost: &Option<Cost>) -> (f64, f64) {
    (rank(frequency, cost.as_ref()), frequency.unwrap_or(0.0))
}

/// The greatest first.
fn order(a: (f64, f64), b: (f64, f64)) -> Ordering {
    b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
}

fn by_rank(a: &WorkItem, b: &WorkItem) -> Ordering {
    let key = |item: &WorkItem| (item.rank(), item.frequency.unwrap_or(0.0));
    order(key(a), key(b))
}

/// The positions that a walk has entered.
struct Seen {
    keys: HashSet<EvalKey, FxBuildHasher>,
    limits: WorkLimits,
    /// Whether no limit has left anything out.
    is_complete: bool,
}

impl Seen {
    fn new(search: &WorkSearch<'_>) -> Seen {
        let on_the_way = search.from.positions().iter();
        Seen {
            keys: on_the_way.map(EvalKey::from_position).collect(),
            limits: search.limits,
            is_complete: true,
        }
    }

    /// Goes on along moves with their shares.
    fn enter<'m>(
        &mut self,
        walk: &mut Walk,
        node: &WalkNode,
        moves: impl Iterator<Item = (&'m BookMove, f64)>,
    ) {
        if node.ply >= self.limits.plies || walk.entered() > self.limits.positions {
            self.is_complete = false;
            return;
        }
        for (entry, share) in moves {
            let after = notation::after(&node.position, entry.mv);
            if self.keys.insert(EvalKey::from_position(&after)) {
                walk.enter_with_share(node, entry.mv, node.share * share, after, ());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    use crate::departures::ChosenMoves;
    use shakmaty::Color;
    use tabia_book::policy::Policy;
    use tabia_book::{Annotation, PositionRecord, Stats};

    /// A book of moves, each by the line to its position; with wins and losses of their
    /// player, and the mark.
    struct Results(&'static [(&'static str, &'static str, [u32; 2], Mark)]);

    impl Probe for Results {
        fn probe(&self, position: &Chess, _: Wanted, found: &mut Lookup) -> Result<(), Error> {
            found.clear();
            for &(line, mv, [wins, losses], mark) in self.0 {
                let at = Line::read("", line).unwrap();
                if EvalKey::from_position(at.last()) != EvalKey::from_position(position) {
                    continue;
                }
                let after = PositionRecord {
                    stats: Stats {
                        games: wins + losses,
                        wins: losses,
                        losses: wins,
                        ..Stats::default()
                    },
                    recommendation: match mark {
                        Plain => 0,
                        Main => 0x80,
                        Mark::Avoid => 0x40,
                    },
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
    }

    use Mark::{Main, None as Plain};

    const BOOK: Results = Results(&[
        ("", "e4", [60, 40], Main),
        ("", "d4", [10, 90], Plain),
        ("e4", "e5", [30, 30], Plain),
        ("e4", "c5", [20, 20], Plain),
        ("e4 e5", "Nf3", [20, 20], Main),
        ("e4 e5", "Bc4", [5, 15], Plain),
    ]);

    const OTHER: Results = Results(&[
        ("", "e4", [60, 40], Main),
        ("e4", "e5", [10, 10], Plain),
        ("e4", "c5", [20, 20], Plain),
        ("e4 e5", "Nf3", [20, 20], Plain),
        ("e4 e5", "Bc4", [15, 5], Main),
        ("e4 e5", "d4", [18, 2], Plain),
        ("e4 c5", "Nf3", [30, 10], Plain),
        ("e4 c5", "Nc3", [10, 30], Plain),
        ("e4 e6", "d4", [1, 1], Plain),
        ("e4", "e6", [4, 0], Plain),
    ]);

    fn list(other: Option<&'static Results>, from: &str, limits: WorkLimits) -> Worklist {
        static POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);
        let chosen = ChosenMoves::default();
        let repertoire = Repertoire::new(&BOOK, Color::White, &POLICY, &chosen);
        let from = Line::read("", from).unwrap();
        let other = other.map(|book| book as &(dyn Probe + Sync));
        let sources: Vec<&(dyn Probe + Sync)> = std::iter::once(&BOOK as _).chain(other).collect();
        let mut search = WorkSearch::new(repertoire, other, &sources, &from);
        search.limits = limits;
        search.list(Vec::new(), 0, &|| false).unwrap()
    }

    /// Kind, line, move, frequency and cost in thousandths.
    fn rows(list: &Worklist) -> Vec<String> {
        let thousandths = |value: Option<f64>| match value {
            None => "?".to_owned(),
            Some(value) => format!("{:.0}", 1000.0 * value),
        };
        let row = |item: &WorkItem| {
            let kind = match &item.finding {
                Finding::Difference { has } => format!("{has:?}"),
                other => format!("{other:?}"),
            };
            let mv = item.mv.as_ref().map_or("-", |mv| &mv.san);
            let cost = item.cost.as_ref().map(|cost| cost.score);
            let (often, cost) = (thousandths(item.frequency), thousandths(cost));
            format!("{kind} {}: {mv} {often} {cost}", item.place.line)
        };
        list.items.iter().map(row).collect()
    }

    #[test]
    fn a_book_alone_shows_what_it_lacks_and_its_marks() {
        let list = list(None, "", WorkLimits::default());
        assert!(list.is_complete && list.left_out == 0);
        // The other moves score less than the green ones: these cost less than nothing.
        let expected = [
            "End 1. e4 e5 2. Nf3: - 600 ?",
            "Unanswered 1. e4 c5: - 400 ?",
            "Marked 1. e4 e5: Nf3 600 -250",
            "Marked : e4 1000 -500",
        ];
        assert_eq!(rows(&list), expected);
    }

    #[test]
    fn another_book_gives_differences_answers_and_costs() {
        let list = list(Some(&OTHER), "", WorkLimits::default());
        let expected = [
            // Of its answers to 1...c5 one scores 75 %, and all of them 50 %.
            "Unanswered 1. e4 c5: Nf3 625 250",
            "End 1. e4 e5 2. Nf3: - 600 ?",
            // Two games say nothing about the answer, but it is there.
            "Unanswered 1. e4 e6: d4 62 ?",
            "Second 1. e4: e6 62 ?",
            // Neither book plays it.
            "First : d4 0 500",
            "Second 1. e4 e5: d4 0 400",
            "Both 1. e4 e5: Bc4 0 -250",
            "Marked 1. e4 e5: Nf3 600 -250",
            "Both 1. e4 e5: Nf3 600 -250",
            "Marked : e4 1000 -500",
        ];
        assert_eq!(rows(&list), expected);
        let costs = |item: &WorkItem| {
            let cost = item.cost.as_ref()?;
            Some((cost.source, cost.games, cost.better.san.clone()))
        };
        assert_eq!(costs(&list.items[0]), Some((1, Some(40), "Nf3".into())));
        assert_eq!(list.items[0].mark, None);
        assert_eq!(list.items.last().unwrap().mark, Some("main"));
    }

    #[test]
    fn it_begins_at_any_position_and_has_limits() {
        let from = list(Some(&OTHER), "e4 c5", WorkLimits::default());
        assert_eq!(rows(&from), ["Unanswered 1. e4 c5: Nf3 1000 250"]);
        let few = WorkLimits {
            rows: 1,
            ..WorkLimits::default()
        };
        let few = list(Some(&OTHER), "", few);
        assert_eq!((few.items.len(), few.left_out), (4, 6));
        let near = WorkLimits {
            plies: 1,
            ..WorkLimits::default()
        };
        assert!(!list(None, "", near).is_complete);
    }

    #[test]
    fn departures_are_rows_in_which_the_player_is_to_move() {
        let policy = Policy::default();
        let chosen = ChosenMoves::default();
        let repertoire = Repertoire::new(&BOOK, Color::White, &policy, &chosen);
        let left = |moves: &str| {
            let line = Line::read("", moves).unwrap();
            let moves: Vec<Move> = line.moves().map(|(_, mv)| mv).collect();
            let left = repertoire.left_by_game((line.positions(), &moves));
            (left.unwrap().unwrap(), Some(1))
        };
        let games = ["e4 e5 Bc4", "e4 e5 Bc4 a6", "e4 e6 d4", "e4 c5 Nc3"].map(left);
        let departures = repertoire.sum(games, 9).unwrap();
        let start = Line::default();
        let sources: [&(dyn Probe + Sync); 2] = [&BOOK, &OTHER];
        let search = WorkSearch::new(repertoire, None, &sources, &start);
        let list = search.list(departures.clone(), 4, &|| false).unwrap();
        let found = list.items.iter().filter_map(|item| match &item.finding {
            Finding::Departure { by, after, .. } => {
                let after = after.as_ref().map(|mv| mv.san.as_str());
                let mv = item.mv.as_ref().map(|mv| mv.san.as_str());
                let cost = item.cost.as_ref().map(|cost| (1000.0 * cost.score).round());
                Some((
                    *by,
                    item.place.line.as_str(),
                    after,
                    mv,
                    item.frequency,
                    cost,
                ))
            }
            _ => None,
        });
        let expected = [
            (
                LeftBy::Player,
                "1. e4 e5",
                None,
                Some("Bc4"),
                Some(0.5),
                Some(250.0),
            ),
            // Of 40 games of the second book 75 % against 25 %; as much as the first, but rarer.
            (
                LeftBy::Book,
                "1. e4 c5",
                None,
                Some("Nc3"),
                Some(0.25),
                Some(500.0),
            ),
            (
                LeftBy::Opponent,
                "1. e4 e6",
                Some("e6"),
                Some("d4"),
                Some(0.25),
                None,
            ),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        // Nobody waits for it.
        let stopped = search.list(departures, 4, &|| true).unwrap();
        assert_eq!(stopped.items, []);
    }
}
