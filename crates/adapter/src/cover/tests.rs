//! Games with generated books, some at the same time.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A book generated from a number: one to three moves in a position, up to a depth.
#[derive(Clone, Copy, Debug)]
struct Invented {
    seed: u64,
    plies: usize,
}

impl Invented {
    fn moves(self, position: &Chess, path: &[u64]) -> Vec<Move> {
        let mix = |number: u64| (number ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        if path.len() > self.plies {
            return Vec::new();
        }
        let mut moves: Vec<Move> = position.legal_moves().into_iter().collect();
        moves.sort_by_cached_key(|mv| mix(key(&notation::after(position, *mv))));
        moves.truncate(1 + usize::try_from(mix(key(position)) % 3).unwrap());
        moves
    }

    /// All its lines: with all moves of White, and those of Black that `replies` admits.
    fn lines(self, replies: &dyn Fn(&Chess, Move) -> bool) -> BTreeSet<Vec<u64>> {
        let mut lines = BTreeSet::new();
        let mut open = vec![(Chess::default(), vec![key(&Chess::default())])];
        while let Some((position, path)) = open.pop() {
            let moves = self.moves(&position, &path);
            if moves.is_empty() {
                lines.insert(path.clone());
            }
            for mv in moves {
                if position.turn().is_black() && !replies(&position, mv) {
                    continue;
                }
                let next = notation::after(&position, mv);
                let path = path.iter().copied().chain([key(&next)]).collect();
                open.push((next, path));
            }
        }
        lines
    }
}

/// An adapter: the lines that it has read, and how much of the file that is.
struct Adapter {
    number: u64,
    covered: Covered,
    read: usize,
}

impl Adapter {
    fn new(number: u64) -> Adapter {
        Adapter {
            number,
            covered: Covered::default(),
            read: 0,
        }
    }

    /// What a session does at a `go`; returns the move, if the books have one.
    fn go(
        &mut self,
        book: Invented,
        file: &mut Vec<String>,
        position: &Chess,
        path: &[u64],
    ) -> Option<Move> {
        for line in &file[self.read..] {
            self.covered.add(&line.parse().unwrap());
        }
        self.read = file.len();
        let colour = position.turn();
        let candidates = book.moves(position, path);
        let moves: BookMoves<'_> = &mut |position, path| book.moves(position, path);
        let chosen = self
            .covered
            .choose(self.number, position, path, &candidates, moves)
            .or(candidates.first().copied());
        let mut path = path.to_vec();
        let ended = match chosen {
            Some(mv) => {
                let next = notation::after(position, mv);
                path.push(key(&next));
                book.moves(&next, &path).is_empty()
            }
            None => true,
        };
        if chosen.is_some()
            || self
                .covered
                .continues_last_entry(self.number, colour, &path)
                == Some(true)
        {
            let entry = self.covered.entry(self.number, colour, &path, ended);
            file.push(entry.to_string());
        }
        chosen
    }
}

/// A game.
struct Game {
    position: Chess,
    path: Vec<u64>,
}

impl Game {
    fn begin() -> Game {
        let position = Chess::default();
        Game {
            path: vec![key(&position)],
            position,
        }
    }

    fn play(&mut self, mv: Move) {
        self.position.play_unchecked(mv);
        self.path.push(key(&self.position));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// As many games as there are lines, some at the same time, both sides with cover, in
    /// random order of steps: no line is repeated.
    #[test]
    fn two_adapters_repeat_no_line_while_others_are_left(
        seed: u64, plies in 1_usize..6, at_once in 1_usize..9,
        order in prop::collection::vec(any::<usize>(), 64), dead in prop::option::of(0_usize..20),
    ) {
        let book = Invented { seed, plies };
        let all = book.lines(&|_, _| true);
        let mut adapters: Vec<Adapter> = (0..2 * at_once as u64).map(Adapter::new).collect();
        let mut file = Vec::new();
        let mut played = Vec::new();
        let mut games: Vec<Option<Game>> = (0..at_once).map(|_| None).collect();
        let mut begun = 0;
        let mut died = None;
        for step in 0.. {
            let slot = order[step % order.len()].wrapping_add(step / order.len()) % at_once;
            if games.iter().all(Option::is_none) && begun >= all.len() {
                break;
            }
            if games[slot].is_none() {
                if begun < all.len() && died != Some(slot) {
                    begun += 1;
                    games[slot] = Some(Game::begin());
                }
                continue;
            }
            if dead == Some(step) && at_once > 1 {
                // Its adapters end without a message. A game at the end of its line has
                // played that line.
                let game = games[slot].take();
                let whole = game.filter(|game| book.moves(&game.position, &game.path).is_empty());
                played.extend(whole.map(|game| game.path));
                died = Some(slot);
                continue;
            }
            let Some(game) = &mut games[slot] else { continue };
            let adapter = &mut adapters[2 * slot + game.path.len() % 2];
            match adapter.go(book, &mut file, &game.position, &game.path) {
                Some(mv) => game.play(mv),
                None => played.extend(games[slot].take().map(|game| game.path)),
            }
        }
        let distinct: BTreeSet<Vec<u64>> = played.iter().cloned().collect();
        if died.is_none() {
            prop_assert_eq!(played.len(), all.len());
            prop_assert_eq!(&distinct, &all);
        }
        // The lines of ended adapters are played in the end.
        let mut alone = [Adapter::new(1000), Adapter::new(1001)];
        let mut distinct = distinct;
        while distinct.len() < all.len() {
            let mut game = Game::begin();
            while let Some(mv) = alone[game.path.len() % 2].go(book, &mut file, &game.position, &game.path) {
                game.play(mv);
            }
            prop_assert!(distinct.insert(game.path), "a line came twice");
        }
    }

    /// Against an opponent that always answers the same, in the book or out of it, no
    /// game is repeated while an unplayed line is left.
    #[test]
    fn against_the_same_answers_other_moves_are_played(seed: u64, plies in 1_usize..9, leaves in 0_u64..4) {
        let book = Invented { seed, plies };
        let answer = |position: &Chess, path: &[u64]| {
            let moves = book.moves(position, path);
            // The opponent leaves the book at times.
            let out = leaves > 0 && key(position).is_multiple_of(leaves + 1);
            moves.first().copied().filter(|_| !out)
        };
        let mut adapter = Adapter::new(7);
        let mut file = Vec::new();
        let mut paths: BTreeSet<Vec<u64>> = BTreeSet::new();
        let mut repeated = 0;
        // Games are different if our choices differ.
        let mut different = 0;
        let mut open = vec![Game::begin()];
        while let Some(Game { position, path, .. }) = open.pop() {
            let moves = book.moves(&position, &path);
            different += usize::from(moves.is_empty());
            for mv in moves {
                let mut game = Game { position: position.clone(), path: path.clone() };
                game.play(mv);
                match answer(&game.position, &game.path) {
                    Some(reply) => {
                        game.play(reply);
                        open.push(game);
                    }
                    None => different += 1,
                }
            }
        }
        for _ in 0..different {
            let mut game = Game::begin();
            while let Some(mv) = adapter.go(book, &mut file, &game.position, &game.path) {
                game.play(mv);
                let Some(reply) = answer(&game.position, &game.path) else { break };
                game.play(reply);
            }
            repeated += usize::from(!paths.insert(game.path));
        }
        prop_assert_eq!(repeated, 0, "of {}", different);
    }

    #[test]
    fn entries_are_read_as_they_were_written(
        player: u64, white: bool, shared in 0_usize..9, keys in prop::collection::vec(any::<u64>(), 0..5), ended: bool,
        text in "[ -~]{0,40}",
    ) {
        let entry = Entry { player, colour: Color::from_white(white), shared, keys, ended };
        prop_assert_eq!(entry.to_string().parse(), Ok(entry.clone()));
        let mut covered = Covered::default();
        covered.add(&entry);
        if let Ok(entry) = text.parse() {
            covered.add(&entry);
        }
    }
}

#[test]
fn the_most_played_line_comes_first() {
    let book = Invented { seed: 3, plies: 5 };
    let mut file = Vec::new();
    let mut adapter = Adapter::new(1);
    let mut game = Game::begin();
    while let Some(mv) = adapter.go(book, &mut file, &game.position, &game.path) {
        assert_eq!(mv, book.moves(&game.position, &game.path)[0]);
        game.play(mv);
    }
    assert!(game.path.len() > 5);
}

#[test]
fn a_book_without_an_end_takes_no_more_than_its_time() {
    let mut look_ups = 0;
    let position = Chess::default();
    let candidates: Vec<Move> = position.legal_moves().into_iter().collect();
    let mut covered = Covered::default();
    // Players that have ended, so that more than one line must be left.
    for player in 0..50 {
        for mv in &candidates {
            let path = [key(&position), key(&notation::after(&position, *mv))];
            covered.add(&covered.entry(player, Color::White, &path, false));
        }
    }
    let moves: BookMoves<'_> = &mut |position, _| {
        look_ups += 1;
        position.legal_moves().into_iter().collect()
    };
    let path = [key(&position)];
    let chosen = covered.choose(99, &position, &path, &candidates, moves);
    assert!(chosen.is_some());
    assert!(look_ups <= BUDGET / LOOK_UP, "{look_ups}");
}
