//! A player's own repertoire, as games with variations: duplicate answers, and lines that
//! never occur.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Color, Move, Position as _};

use super::{Choices, Gap, Play, Repertoire};
use crate::Error;
use crate::each_game::each_game;
use tabia_book::polyglot;
use tabia_games::{Game, GameFilter, GameParts, Item, Movetext, Starts, Tally, write_pgn};
use tabia_io::atomic::{self, Previous};
use tabia_io::progress::Watch;
use tabia_notation::{self as notation, Line};

/// Games with variations that say what a player answers.
#[derive(Debug)]
pub struct OwnRepertoire {
    games: Vec<OwnGame>,
    /// The positions with answers, in the order of the games.
    places: Vec<OwnPosition>,
    numbers: HashMap<u64, usize, FxBuildHasher>,
    /// What was skipped or cut short when the games were read.
    pub tally: Tally,
}

/// A game: its moves, each after the one before it; the first is the start.
#[derive(Debug)]
struct OwnGame {
    game: Game,
    nodes: Vec<OwnNode>,
}

#[derive(Debug)]
struct OwnNode {
    /// `None` for a null move, and for the start.
    mv: Option<Move>,
    position: Chess,
    before: usize,
    /// The moves after it; the first is the main line.
    after: Vec<usize>,
    /// Comments before the move, and what stands after it.
    notes: [Vec<Item>; 2],
    /// Whether there is a null move before it: the position does not arise.
    is_aside: bool,
}

/// The answers in states.
pub(super) type Answers = HashMap<usize, Vec<Move>, FxBuildHasher>;

/// The key of a position, and a move in it.
type AnswerKey = (u64, Move);

/// A position with answers.
#[derive(Debug)]
struct OwnPosition {
    position: Chess,
    answers: Vec<Answer>,
}

/// A move, and the node before it.
#[derive(Clone, Copy, Debug)]
struct Answer {
    mv: Move,
    game: usize,
    node: usize,
}

/// A position for which a repertoire has two answers or more, in different lines.
#[derive(Clone, Debug)]
pub struct SeveralAnswers {
    /// The position.
    pub position: Chess,
    /// Its probability, 0 to 1; 0 if it is not met.
    pub probability: f64,
    /// The answers, in the order of the games.
    pub answers: Vec<OwnAnswer>,
}

/// One of several answers.
#[derive(Clone, Debug)]
pub struct OwnAnswer {
    /// The move.
    pub mv: Move,
    /// The first line of the repertoire to the position in which it is the answer.
    pub line: Line,
    /// The game with that line, from 1.
    pub game: usize,
    /// Its expected score, 0 to 1; `None` if it is not in the book.
    pub score: Option<f64>,
}

/// What was taken out of a repertoire.
#[derive(Clone, Debug, Default)]
pub struct Trimmed {
    /// The lines to the moves of the opponent that are met too rarely, the likeliest
    /// first; nothing after them is left.
    pub lines: Vec<Gap>,
    /// Moves taken out, those of `games` too.
    pub moves: usize,
    /// Games taken out whole, because all their remaining answers are in other games.
    pub games: usize,
    /// Moves left.
    pub left: usize,
    /// Moves left after positions that the book does not have: how often they are met
    /// is not known.
    pub unknown: usize,
}

impl OwnRepertoire {
    /// Reads a repertoire of a colour from games of any format. Games from set-up
    /// positions are skipped.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has no games.
    pub fn read(path: &Path, colour: Color, watch: &mut Watch<'_>) -> Result<OwnRepertoire, Error> {
        let all = GameFilter::default();
        let parts = GameParts::EVERYTHING;
        let read = |game: &Game| Ok(OwnGame::new(game));
        let (games, tally) = each_game(path, &all, parts, Starts::Usual, watch, read)?;
        let mut mine = OwnRepertoire {
            games: Vec::new(),
            places: Vec::new(),
            numbers: HashMap::default(),
            tally,
        };
        for (number, game) in games.iter().enumerate() {
            for (at, node) in game.nodes.iter().enumerate().skip(1) {
                let Some((mv, before)) = node.mv.zip(game.nodes.get(node.before)) else {
                    continue;
                };
                if before.position.turn() == colour && !node.is_aside {
                    mine.add(&before.position, mv, number, game.before(at));
                }
            }
        }
        mine.games = games;
        Ok(mine)
    }

    fn add(&mut self, position: &Chess, mv: Move, game: usize, node: usize) {
        let next = self.places.len();
        let number = *self.numbers.entry(polyglot::key(position)).or_insert(next);
        if number == next {
            self.places.push(OwnPosition {
                position: position.clone(),
                answers: Vec::new(),
            });
        }
        if let Some(place) = self.places.get_mut(number) {
            place.answers.push(Answer { mv, game, node });
        }
    }

    fn place(&self, position: &Chess) -> Option<&OwnPosition> {
        let number = self.numbers.get(&polyglot::key(position))?;
        self.places.get(*number)
    }

    /// The answers in a position, each once, in the order of the games.
    #[must_use]
    pub fn answers(&self, position: &Chess) -> Vec<Move> {
        self.place(position)
            .map(OwnPosition::moves)
            .unwrap_or_default()
    }

    /// Whether different lines have different answers in a position. Alternatives of one
    /// line, as main move and variation, are no contradiction.
    pub(super) fn contradicts_itself(&self, position: &Chess) -> bool {
        self.place(position)
            .is_some_and(OwnPosition::contradicts_itself)
    }

    /// The positions with several answers in different lines, in the order of the games.
    fn contradictions(&self) -> impl Iterator<Item = SeveralAnswers> + '_ {
        let places = self
            .places
            .iter()
            .filter(|place| place.contradicts_itself());
        places.map(|place| SeveralAnswers {
            position: place.position.clone(),
            probability: 0.0,
            answers: place
                .moves()
                .into_iter()
                .filter_map(|mv| {
                    let first = place.answers.iter().find(|answer| answer.mv == mv)?;
                    let line = self.games.get(first.game)?.line(first.node);
                    Some(OwnAnswer {
                        mv,
                        line,
                        game: first.game + 1,
                        score: None,
                    })
                })
                .collect(),
        })
    }

    /// Takes out those of `stubs` whose answers are all in other games.
    fn take_out(&mut self, stubs: &[usize], colour: Color) -> Vec<OwnGame> {
        let answers: Vec<HashSet<AnswerKey>> = (self.games.iter())
            .map(|game| game.answers(colour).collect())
            .collect();
        let mut counts: HashMap<AnswerKey, usize> = HashMap::new();
        for answer in answers.iter().flatten() {
            *counts.entry(*answer).or_default() += 1;
        }
        let mut out = HashSet::new();
        for stub in stubs {
            let own = answers.get(*stub).into_iter().flatten();
            if own.clone().all(|answer| counts.get(answer) > Some(&1)) {
                out.insert(*stub);
                for answer in own {
                    counts.entry(*answer).and_modify(|count| *count -= 1);
                }
            }
        }
        let mut place = 0..;
        let is_out = |_: &mut OwnGame| place.next().is_some_and(|place| out.contains(&place));
        self.games.extract_if(.., is_out).collect()
    }

    /// Writes it as PGN, with its tags, comments and signs.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, target: &Path, old: Previous) -> Result<(), Error> {
        let mut text = String::new();
        for one in &self.games {
            let mut game = one.game.clone();
            one.items(&mut game.movetext);
            write_pgn(&game, &mut text);
        }
        atomic::write(target, text.as_bytes(), old)?;
        Ok(())
    }
}

impl OwnPosition {
    fn moves(&self) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        for answer in &self.answers {
            if !moves.contains(&answer.mv) {
                moves.push(answer.mv);
            }
        }
        moves
    }

    fn contradicts_itself(&self) -> bool {
        let moves = self.moves();
        let has_all = |one: &Answer| {
            let here = |other: &&Answer| (other.game, other.node) == (one.game, one.node);
            let here: Vec<Move> = self.answers.iter().filter(here).map(|one| one.mv).collect();
            moves.iter().all(|mv| here.contains(mv))
        };
        moves.len() > 1 && !self.answers.iter().any(has_all)
    }
}

impl OwnGame {
    fn new(game: &Game) -> OwnGame {
        let start = game.positions.first().cloned().unwrap_or_default();
        let mut one = OwnGame {
            game: Game {
                movetext: Movetext::default(),
                ..game.clone()
            },
            nodes: vec![OwnNode {
                mv: None,
                position: start,
                before: 0,
                after: Vec::new(),
                notes: Default::default(),
                is_aside: false,
            }],
        };
        // The last node of the line, and whether it has a move yet.
        let (mut at, mut is_begun) = (0, false);
        let mut open = Vec::new();
        let mut waiting = Vec::new();
        for item in &game.movetext {
            match item {
                Item::Move(mv) => {
                    at = one.add(at, Some(*mv), std::mem::take(&mut waiting));
                    is_begun = true;
                }
                Item::Null => {
                    at = one.add(at, None, std::mem::take(&mut waiting));
                    is_begun = true;
                }
                Item::Nag(_) | Item::Comment(_) if !is_begun => waiting.push(item.clone()),
                Item::Nag(_) | Item::Comment(_) => one.note(at, &mut vec![item.clone()]),
                Item::Begin => {
                    open.push((at, is_begun));
                    (at, is_begun) = (one.before(at), false);
                }
                Item::End => {
                    (at, is_begun) = open.pop().unwrap_or((at, is_begun));
                    // Of a variation without moves.
                    one.note(at, &mut waiting);
                }
            }
        }
        // Of a game without moves.
        one.note(0, &mut waiting);
        one
    }

    /// Adds what stands after a move.
    fn note(&mut self, node: usize, notes: &mut Vec<Item>) {
        let node = self.nodes.get_mut(node);
        node.into_iter()
            .for_each(|node| node.notes[1].append(notes));
    }

    fn add(&mut self, before: usize, mv: Option<Move>, notes: Vec<Item>) -> usize {
        let next = self.nodes.len();
        let Some(parent) = self.nodes.get_mut(before) else {
            return before;
        };
        parent.after.push(next);
        let here = &parent.position;
        let position = match mv {
            Some(mv) => notation::after(here, mv),
            None => notation::pass(here).unwrap_or_else(|| here.clone()),
        };
        let is_aside = parent.is_aside || mv.is_none();
        self.nodes.push(OwnNode {
            mv,
            position,
            before,
            after: Vec::new(),
            notes: [notes, Vec::new()],
            is_aside,
        });
        next
    }

    fn before(&self, node: usize) -> usize {
        self.nodes.get(node).map_or(0, |node| node.before)
    }

    /// The moves to a node that is not aside.
    fn line(&self, node: usize) -> Line {
        let back = |at: &usize| Some(self.before(*at)).filter(|before| *before != 0);
        let way = std::iter::successors(Some(node).filter(|node| *node != 0), back);
        let way: Vec<usize> = way.collect();
        let mut line = Line::from_start(Chess::default());
        for at in way.iter().rev() {
            let node = self.nodes.get(*at);
            node.and_then(|node| node.mv)
                .into_iter()
                .for_each(|mv| line.push(mv));
        }
        line
    }

    /// The movetext of the whole tree.
    fn items(&self, items: &mut Movetext) {
        if let Some(start) = self.nodes.first() {
            items.extend(start.notes[1].iter().cloned());
        }
        self.moves_after(0, items);
    }

    /// Recursive for variations only, as deep as these are in the file.
    fn moves_after(&self, mut at: usize, items: &mut Movetext) {
        let one = |node: &OwnNode, items: &mut Movetext| {
            items.extend(node.notes[0].iter().cloned());
            items.push(node.mv.map_or(Item::Null, Item::Move));
            items.extend(node.notes[1].iter().cloned());
        };
        while let Some((&main, others)) =
            self.nodes.get(at).and_then(|node| node.after.split_first())
        {
            self.nodes
                .get(main)
                .into_iter()
                .for_each(|node| one(node, items));
            for &other in others {
                items.push(Item::Begin);
                self.nodes
                    .get(other)
                    .into_iter()
                    .for_each(|node| one(node, items));
                self.moves_after(other, items);
                items.push(Item::End);
            }
            at = main;
        }
    }

    /// The nodes of a subtree.
    fn below(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let mut waiting = vec![node];
        std::iter::from_fn(move || {
            let at = waiting.pop()?;
            waiting.extend(self.nodes.get(at).map_or(&[][..], |node| &node.after));
            Some(at)
        })
    }

    /// The answers of a colour.
    fn answers(&self, colour: Color) -> impl Iterator<Item = AnswerKey> + '_ {
        self.below(0).filter_map(move |at| {
            let node = self.nodes.get(at).filter(|node| !node.is_aside)?;
            let before = &self.nodes.get(node.before)?.position;
            let mv = node.mv.filter(|_| before.turn() == colour)?;
            Some((polyglot::key(before), mv))
        })
    }
}

impl Repertoire<'_> {
    /// The answers of another repertoire in states, and what is met if they are played.
    pub(super) fn played(&self, mine: &OwnRepertoire) -> Result<(Answers, Play), Error> {
        let mut played = Answers::default();
        for place in &mine.places {
            if let Some(n) = self.state(&place.position)? {
                played.insert(n, place.moves());
            }
        }
        let mut choices = Choices::default();
        for (n, state) in self.states.iter() {
            let steps = (0..).zip(self.states.steps(state));
            let in_book = steps.filter(|(_, step)| step.to().is_some());
            match played.get(&n) {
                _ if state.is_own && state.is_given => choices.push(in_book.map(|(n, _)| n)),
                Some(moves) if state.is_own => {
                    let (_, of_steps) = self.states.moves(state)?;
                    let is_played =
                        |n: &usize| of_steps.get(*n).is_some_and(|mv| moves.contains(mv));
                    choices.push(in_book.map(|(n, _)| n).filter(is_played));
                }
                _ => choices.push(std::iter::empty()),
            }
        }
        Ok((played, self.play(choices)))
    }

    /// The state of a position.
    fn state(&self, position: &Chess) -> Result<Option<usize>, Error> {
        self.states
            .find(position, position.turn() == self.options.colour)
    }

    /// Where a repertoire has different answers in different lines, the likeliest first.
    pub(super) fn several_answers(
        &self,
        mine: &OwnRepertoire,
        play: &Play,
    ) -> Result<Vec<SeveralAnswers>, Error> {
        let mut all: Vec<SeveralAnswers> = mine.contradictions().collect();
        for one in &mut all {
            let number = self.state(&one.position)?;
            let Some((number, state)) = number.and_then(|n| Some((n, self.states.get(n)?))) else {
                continue;
            };
            one.probability = play.probability(number);
            let (_, moves) = self.states.moves(state)?;
            let steps = self.states.steps(state);
            for answer in &mut one.answers {
                let step = moves.iter().position(|mv| *mv == answer.mv);
                answer.score = step.and_then(|n| self.value(steps.get(n)?.to()));
            }
        }
        all.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Ok(all)
    }

    /// Takes the lines out of a repertoire that are met less often than once in
    /// [`one_in`](super::RepertoireOptions::one_in) games if its moves are played, and puts
    /// the others of each position in the order of their probability, after its main line.
    /// What the book does not know stays. A game of which nothing is left that is not in
    /// another one goes out whole.
    ///
    /// # Errors
    ///
    /// The book cannot be read.
    pub fn trim(&self, mine: &mut OwnRepertoire) -> Result<Trimmed, Error> {
        let (_, play) = self.played(mine)?;
        let mut numbers: HashMap<u64, usize, FxBuildHasher> = HashMap::default();
        for node in mine.games.iter().flat_map(|game| &game.nodes) {
            let number = self.state(&node.position)?;
            numbers.extend(number.map(|n| (polyglot::key(&node.position), n)));
        }
        let number = |position: &Chess| numbers.get(&polyglot::key(position)).copied();
        let mut trimmed = Trimmed::default();
        let mut stubs = Vec::new();
        for (place, game) in mine.games.iter_mut().enumerate() {
            let lines = trimmed.lines.len();
            let mut likely = vec![1.0_f64; game.nodes.len()];
            let mut waiting = vec![0];
            while let Some(at) = waiting.pop() {
                let (Some(node), Some(&here)) = (game.nodes.get(at), likely.get(at)) else {
                    continue;
                };
                let state = number(&node.position).filter(|_| !node.is_aside);
                let of_book = state.and_then(|state| self.states.get(state));
                let moves = match of_book {
                    Some(state) if !state.is_own => self.states.moves(state)?.1,
                    _ => Vec::new(),
                };
                let is_own = node.position.turn() == self.options.colour;
                trimmed.unknown += match of_book {
                    None => node.after.len(),
                    Some(_) => 0,
                };
                let mut after = node.after.clone();
                for &next in &after {
                    let Some(child) = game.nodes.get(next) else {
                        continue;
                    };
                    let share = match (of_book, child.mv) {
                        (Some(state), Some(mv)) if !is_own => {
                            let step = moves.iter().position(|known| *known == mv);
                            let step = step.and_then(|n| self.states.steps(state).get(n));
                            step.map_or(state.other(), |step| step.share)
                        }
                        _ => 1.0,
                    };
                    // By all ways to it.
                    let there = number(&child.position).map_or(0.0, |n| play.probability(n));
                    let there = match is_own {
                        true => here,
                        false => there.max(here * share),
                    };
                    likely
                        .get_mut(next)
                        .into_iter()
                        .for_each(|place| *place = there);
                }
                let likely_of = |next: &usize| likely.get(*next).copied().unwrap_or(0.0);
                let is_met = |next: &usize| self.is_met(likely_of(next));
                for next in after.extract_if(.., |next| !is_met(next)) {
                    trimmed.moves += game.below(next).count();
                    trimmed.lines.push(Gap {
                        line: game.line(next),
                        probability: likely_of(&next),
                    });
                }
                if let (false, Some((_, others))) = (is_own, after.split_first_mut()) {
                    others.sort_by(|a, b| likely_of(b).total_cmp(&likely_of(a)));
                }
                trimmed.left += after.len();
                waiting.extend(&after);
                if let Some(node) = game.nodes.get_mut(at) {
                    node.after = after;
                }
            }
            if trimmed.lines.len() > lines {
                stubs.push(place);
            }
        }
        let left = |node: &OwnNode| node.after.len();
        let unknown = |node: &OwnNode| match number(&node.position) {
            Some(_) if !node.is_aside => 0,
            _ => node.after.len(),
        };
        for game in mine.take_out(&stubs, self.options.colour) {
            trimmed.games += 1;
            let nodes = || game.below(0).filter_map(|at| game.nodes.get(at));
            let moves: usize = nodes().map(left).sum();
            trimmed.moves += moves;
            trimmed.left -= moves;
            trimmed.unknown -= nodes().map(unknown).sum::<usize>();
        }
        trimmed
            .lines
            .sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Ok(trimmed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Without the stubs that go, the answers are the same; of those that stay, each has
        /// an answer of its own.
        #[test]
        fn no_answer_goes_with_a_stub(
            lines in prop::collection::vec((0_usize..7, 0_usize..5, any::<bool>()), 1..8),
        ) {
            const LINES: [&str; 7] = [
                "e4 e5 Nf3 Nc6", "e4 c5 Nf3 Nc6", "Nf3 Nc6 e4 e5", "d4", "e4 e5 Bc4 Nf6 d3",
                "d4 d5 c4 e6", "Nf3 Nf6 d4 d5 c4",
            ];
            let texts = lines.iter().map(|(line, plies, _)| {
                let words = LINES[*line].split(' ').take(*plies);
                format!("[White \"x\"]\n\n{} *\n\n", words.collect::<Vec<_>>().join(" "))
            });
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("mine.pgn");
            std::fs::write(&path, texts.collect::<String>()).unwrap();
            for colour in Color::ALL {
                let mut mine = OwnRepertoire::read(&path, colour, &mut Watch::default()).unwrap();
                prop_assert_eq!(mine.games.len(), lines.len());
                let mut places = mine.places.iter();
                prop_assert!(places.all(|place| place.position.turn() == colour));
                let all = |games: &[OwnGame]| -> HashSet<AnswerKey> {
                    games.iter().flat_map(|game| game.answers(colour)).collect()
                };
                let before = all(&mine.games);
                let is_stub: Vec<bool> = lines.iter().map(|line| line.2).collect();
                let places = 0..lines.len();
                let stubs: Vec<usize> = places.filter(|place| is_stub[*place]).collect();
                let out = mine.take_out(&stubs, colour);
                prop_assert!(out.len() <= stubs.len());
                prop_assert_eq!(mine.games.len() + out.len(), lines.len());
                prop_assert_eq!(all(&mine.games), before);
                if stubs.len() == lines.len() {
                    let left: Vec<usize> = (0..mine.games.len()).collect();
                    prop_assert!(mine.take_out(&left, colour).is_empty());
                }
            }
        }
    }
}
