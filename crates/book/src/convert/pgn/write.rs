//! Writes a game with variations as text.

use std::fmt::{self, Write as _};

use shakmaty::san::San;
use shakmaty::{Chess, Color, Position as _};

use super::Comments;
use super::cut::Game;
use super::tree::PgnTree;
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
        self.moves(&game.moves, position, number as u32, &mut text);
        text.finish("*");
        out.push('\n');
    }

    /// Writes a line. Recursive for variations only; its depth is at most the length of
    /// the longest line.
    fn moves(&self, moves: &[u32], mut position: Chess, game: u32, text: &mut MoveText<'_>) {
        let mut moves = moves.to_vec();
        while let Some((&main, others)) = moves.split_first() {
            let before = position.clone();
            if !self.one_move(main, false, &mut position, game, text) {
                return;
            }
            for &other in others {
                let mut after = before.clone();
                if self.one_move(other, true, &mut after, game, text) {
                    self.moves(&self.children(other), after, game, text);
                    text.end_variation();
                }
            }
            moves = self.children(main);
        }
    }

    fn children(&self, number: u32) -> Vec<u32> {
        let node = self.tree.node(number);
        node.map(|node| node.children.clone().collect())
            .unwrap_or_default()
    }

    /// Writes a move with its comment, and plays it; false if there is none.
    fn one_move(
        &self,
        number: u32,
        begins: bool,
        position: &mut Chess,
        game: u32,
        text: &mut MoveText<'_>,
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
        let mut comment = String::new();
        match self.comments {
            Comments::None => {}
            Comments::Short => games_and_score(&entry, &mut Words(&mut comment)),
            Comments::Full => numbers(&entry, probability, &mut Words(&mut comment)),
        }
        if let Some(there) = node.goes_on {
            if !comment.is_empty() {
                comment.push_str("; ");
            }
            comment.push_str(&self.reference(there, game));
        }
        let remarks = Remarks {
            nags: &[entry.annotation.nag(), commentary],
            comment: &comment,
        };
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
        path.extend(game.moves.first().filter(|_| game.moves.len() == 1));
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
        1 => words.add("1 game"),
        games => words.add(format_args!("{games} games")),
    }
    if let Some(score) = stats.score() {
        words.add(Percent(score));
    }
}

/// The numbers of a move as text.
fn numbers(entry: &BookMove, probability: f64, words: &mut Words<'_>) {
    let stats = entry.stats();
    games_and_score(entry, words);
    if stats.games > 0 && stats.score().is_some() {
        let (wins, draws, losses) = (stats.wins, stats.draws, stats.losses);
        words.add(format_args!("+{wins} ={draws} -{losses}"));
    }
    match entry.preference {
        Preference::Statistics => {}
        Preference::Weight(weight) => words.add(format_args!("weight {weight}")),
        Preference::Priority(priority) => words.add(format_args!("priority {priority}")),
    }
    if entry.learn_value() != 0 {
        words.add(format_args!("learn value {:+}", entry.learn_value()));
    }
    match entry.mark() {
        Mark::None => {}
        mark => words.add(mark.as_str()),
    }
    match entry.transposition {
        true => words.add("not a move of the book"),
        false => words.add(format_args!("played {}", Percent(probability))),
    }
}

/// Words of a comment, with commas between them.
struct Words<'t>(&'t mut String);

impl Words<'_> {
    fn add(&mut self, word: impl fmt::Display) {
        if !self.0.is_empty() {
            self.0.push_str(", ");
        }
        let _ = write!(self.0, "{word}");
    }
}

/// A share with a digit after the point.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.0;
        let whole = percent as u8;
        // Nearly all moves: they were played in one game. The exact digits of a number take
        // ten times as long.
        match f64::from(whole) == percent {
            true => write!(f, "{whole}.0%"),
            false => write!(f, "{percent:.1}%"),
        }
    }
}
