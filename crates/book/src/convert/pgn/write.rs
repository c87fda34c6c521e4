//! Writes a game with variations as text.

use std::fmt::Write as _;
use std::ops::Range;

use shakmaty::san::San;
use shakmaty::{Chess, Color, Position as _};

use super::Comments;
use super::cut::Game;
use super::tree::{Next, PgnTree};
use crate::{BookMove, Mark, Preference};
use tabia_notation::pgn::{MoveText, Remarks, write_tag};

/// Greatest length of a line that names a game, in characters: longer lines of a file are
/// discouraged.
const NAME: usize = 69;

pub(super) struct GameWriter<'t> {
    pub(super) tree: &'t PgnTree,
    pub(super) games: &'t [Game],
    /// The game of each node.
    pub(super) places: &'t [u32],
    /// File name of the book.
    pub(super) book: String,
    pub(super) comments: Comments,
    /// Whether the book has moves of Black only.
    pub(super) is_black: bool,
}

/// A game that is being written.
struct Writing<'o> {
    text: MoveText<'o>,
    /// The comment of a move.
    comment: String,
    game: u32,
}

impl GameWriter<'_> {
    /// Appends a game.
    pub(super) fn game(&self, number: usize, out: &mut String) {
        let Some(game) = self.games.get(number) else {
            return;
        };
        let mut position = Chess::default();
        let line = self.line_to(game);
        let white = match line.as_str() {
            "" => "Opening book",
            line => line,
        };
        let shortened = |text: &str| text.chars().take(NAME).collect::<String>();
        for (tag, value) in [
            ("Event", shortened(&self.book).as_str()),
            ("Site", "?"),
            ("Date", "????.??.??"),
            ("Round", &(number + 1).to_string()),
            ("White", &shortened(white)),
            ("Black", "?"),
            ("Result", "*"),
        ] {
            write_tag(tag, value, out);
        }
        if self.is_black {
            // Programs that train repertoires take it for one of White otherwise.
            write_tag("Orientation", "black", out);
        }
        out.push('\n');
        let mut text = MoveText::new(out, "");
        for node in self.tree.path(game.node) {
            if let Some((entry, _)) = self.tree.move_of(node, &position) {
                text.play(&mut position, Some(entry.mv), Remarks::default());
            }
        }
        let mut to = Writing {
            text,
            comment: String::new(),
            game: number as u32,
        };
        self.moves(game.moves.clone(), position, &mut to);
        to.text.finish("*");
        out.push('\n');
    }

    /// Writes a line. Recursive for variations only; its depth is at most the length of
    /// the longest line.
    fn moves(&self, mut moves: Range<u32>, mut position: Chess, to: &mut Writing<'_>) {
        while let Some(main) = moves.next() {
            let before = (!moves.is_empty()).then(|| position.clone());
            if !self.one_move(main, false, &mut position, to) {
                return;
            }
            for (other, before) in moves.zip(before.iter().cycle()) {
                let mut after = before.clone();
                if self.one_move(other, true, &mut after, to) {
                    self.moves(self.tree.children(other), after, to);
                    to.text.end_variation();
                }
            }
            moves = self.tree.children(main);
        }
    }

    /// Writes a move with its comment, and plays it; false if there is none.
    fn one_move(
        &self,
        number: u32,
        begins: bool,
        position: &mut Chess,
        to: &mut Writing<'_>,
    ) -> bool {
        let Some(node) = self.tree.node(number) else {
            return false;
        };
        let Some((entry, probability)) = self.tree.move_of(number, position) else {
            return false;
        };
        let commentary = entry
            .after
            .map_or(0, |after| after.commentary_for(!position.turn()));
        let comment = &mut to.comment;
        comment.clear();
        match self.comments {
            Comments::None => {}
            Comments::Short => games_and_score(&entry, &mut Words(comment)),
            Comments::Full => numbers(&entry, probability, &mut Words(comment)),
        }
        if let Next::Elsewhere(there) = node.next {
            if !comment.is_empty() {
                comment.push_str("; ");
            }
            comment.push_str(&self.reference(there, to.game));
        }
        let remarks = Remarks {
            nags: &[entry.annotation.nag(), commentary],
            comment,
        };
        let text = &mut to.text;
        match begins {
            true => text.begin_variation("", position, Some(entry.mv), remarks),
            false => text.play(position, Some(entry.mv), remarks),
        }
        true
    }

    /// The reference to the place where a transposition continues.
    fn reference(&self, there: u32, game: u32) -> String {
        let place = self.places.get(there as usize).copied().unwrap_or(game);
        let mut position = Chess::default();
        let path = self.tree.path(there);
        // From a move of White: one or two plies.
        let last = match path.len() {
            0 => 0,
            plies => (plies - 1) & !1,
        };
        let mut names = Vec::new();
        for (ply, node) in path.into_iter().enumerate() {
            let Some((BookMove { mv, .. }, _)) = self.tree.move_of(node, &position) else {
                continue;
            };
            if ply >= last {
                let san = San::from_move(&position, mv);
                names.push(match position.turn() {
                    Color::White => format!("{}.{san}", position.fullmoves()),
                    Color::Black => san.to_string(),
                });
            }
            position.play_unchecked(mv);
        }
        let name = match names.is_empty() {
            false => names.join(" "),
            true => "the start position".to_owned(),
        };
        if place == game {
            format!("transposition: goes on after {name}")
        } else {
            format!("transposition: goes on in game {} after {name}", place + 1)
        }
    }

    /// The first moves of a game, as its name.
    fn line_to(&self, game: &Game) -> String {
        let mut path = self.tree.path(game.node);
        path.extend(game.moves.clone().next().filter(|_| game.moves.len() == 1));
        let mut position = Chess::default();
        let mut line = String::new();
        for node in path {
            let Some((entry, _)) = self.tree.move_of(node, &position) else {
                continue;
            };
            if position.turn().is_white() {
                let _ = write!(line, "{}.", position.fullmoves());
            }
            let _ = write!(line, "{} ", San::from_move(&position, entry.mv));
            position.play_unchecked(entry.mv);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// The games of a move and its score, where there are any.
fn games_and_score(entry: &BookMove, words: &mut Words<'_>) {
    let stats = entry.stats();
    match stats.games {
        0 => return,
        1 => words.next().push_str("1 game"),
        games => {
            words.numbers([("", games)]);
            words.0.push_str(" games");
        }
    }
    if let Some(score) = stats.score() {
        words.percent("", score);
    }
}

/// The numbers of a move as text.
fn numbers(entry: &BookMove, probability: f64, words: &mut Words<'_>) {
    let stats = entry.stats();
    games_and_score(entry, words);
    if stats.games > 0 && stats.score().is_some() {
        words.numbers([("+", stats.wins), (" =", stats.draws), (" -", stats.losses)]);
    }
    match entry.preference {
        Preference::Statistics => {}
        Preference::Weight(weight) => words.numbers([("weight ", weight)]),
        Preference::Priority(priority) => words.numbers([("priority ", priority.into())]),
    }
    if entry.learn_value() != 0 {
        let _ = write!(words.next(), "learn value {:+}", entry.learn_value());
    }
    match entry.mark() {
        Mark::None => {}
        mark => words.next().push_str(mark.as_str()),
    }
    match entry.transposition {
        true => words.next().push_str("not a move of the book"),
        false => words.percent("played ", probability),
    }
}

/// Words of a comment, with commas between them.
struct Words<'t>(&'t mut String);

impl Words<'_> {
    fn next(&mut self) -> &mut String {
        if !self.0.is_empty() {
            self.0.push_str(", ");
        }
        self.0
    }

    /// Adds numbers, each after a text.
    fn numbers<const N: usize>(&mut self, numbers: [(&str, u32); N]) {
        let to = self.next();
        for (text, number) in numbers {
            to.push_str(text);
            to.push_str(itoa::Buffer::new().format(number));
        }
    }

    /// Adds a share with a digit after the point.
    fn percent(&mut self, text: &str, share: f64) {
        let percent = 100.0 * share;
        let whole = percent as u8;
        let to = self.next();
        to.push_str(text);
        // Nearly all moves: they were played in one game. The exact digits of a number take
        // ten times as long.
        match f64::from(whole) == percent {
            true => {
                to.push_str(itoa::Buffer::new().format(whole));
                to.push_str(".0%");
            }
            false => {
                let _ = write!(to, "{percent:.1}%");
            }
        }
    }
}
