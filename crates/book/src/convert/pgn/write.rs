//! Writes a game with variations as text.

use std::fmt::Write as _;

use shakmaty::san::San;
use shakmaty::{Chess, Color, Move, Position as _};

use super::Comments;
use super::cut::Game;
use super::tree::{PgnNode, PgnTree};
use crate::{BookMove, Mark, Preference};
use tabia_notation as notation;

/// Highest length of a line in bytes.
const COLUMNS: usize = 79;

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
        let mut text = Text::new(out);
        let line = self.line_to(game);
        let white = if line.is_empty() {
            "Opening book"
        } else {
            &line
        };
        for (tag, value) in [
            ("Event", self.book.as_str()),
            ("Site", "?"),
            ("Date", "????.??.??"),
            ("Round", &(number + 1).to_string()),
            ("White", white),
            ("Black", "?"),
            ("Result", "*"),
        ] {
            text.tag(tag, value);
        }
        if self.is_black {
            // Programs that train repertoires take it for one of White otherwise.
            text.tag("Orientation", "black");
        }
        text.blank_line();
        for node in self.tree.path(game.node) {
            if let Some(entry) = self.move_of(node) {
                text.mv(&position, entry.mv);
                position.play_unchecked(entry.mv);
            }
        }
        self.moves(&game.moves, position, number as u32, &mut text);
        text.token("*");
        text.end();
    }

    fn move_of(&self, number: u32) -> Option<&BookMove> {
        self.tree.node(number)?.entry.as_ref()
    }

    /// Writes a line. Recursive for variations only; its depth is at most the length of
    /// the longest line.
    fn moves(&self, moves: &[u32], mut position: Chess, game: u32, text: &mut Text<'_>) {
        let mut moves = moves.to_vec();
        while let Some((&main, others)) = moves.split_first() {
            let Some(next) = self.one_move(main, &position, game, text) else {
                return;
            };
            for &other in others {
                text.open();
                if let Some(after) = self.one_move(other, &position, game, text) {
                    self.moves(&self.children(other), after, game, text);
                }
                text.close();
            }
            position = next;
            moves = self.children(main);
        }
    }

    fn children(&self, number: u32) -> Vec<u32> {
        let node = self.tree.node(number);
        node.map(|node| node.children.clone().collect())
            .unwrap_or_default()
    }

    /// Writes a move with its comments; returns the position after it.
    fn one_move(
        &self,
        number: u32,
        position: &Chess,
        game: u32,
        text: &mut Text<'_>,
    ) -> Option<Chess> {
        let node = self.tree.node(number)?;
        let entry = node.entry.as_ref()?;
        text.mv(position, entry.mv);
        let next = notation::after(position, entry.mv);
        let commentary = entry
            .after
            .map_or(0, |after| after.commentary_for(next.turn()));
        for nag in [entry.annotation.nag(), commentary] {
            if nag > 0 {
                text.token(&format!("${nag}"));
            }
        }
        let comment = match self.comments {
            Comments::None => String::new(),
            Comments::Short => games_and_score(entry).join(", "),
            Comments::Full => numbers(node, entry),
        };
        if !comment.is_empty() {
            text.comment(&comment);
        }
        if let Some(there) = node.goes_on {
            text.comment(&self.reference(there, game));
        }
        Some(next)
    }

    /// The reference to the place where a transposition continues.
    fn reference(&self, there: u32, game: u32) -> String {
        let place = self.places.get(there as usize).copied().unwrap_or(game);
        let mut position = Chess::default();
        let mut names = Vec::new();
        for node in self.tree.path(there) {
            if let Some(entry) = self.move_of(node) {
                let san = San::from_move(&position, entry.mv);
                names.push(match position.turn() {
                    Color::White => format!("{}.{san}", position.fullmoves()),
                    Color::Black => san.to_string(),
                });
                position.play_unchecked(entry.mv);
            }
        }
        // From a move of White: one or two plies.
        let last = names.len().saturating_sub(match position.turn() {
            Color::White => 2,
            Color::Black => 1,
        });
        let name = match names.get(last..) {
            Some(names) if !names.is_empty() => names.join(" "),
            _ => "the start position".to_owned(),
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
            let Some(entry) = self.move_of(node) else {
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
fn games_and_score(entry: &BookMove) -> Vec<String> {
    let stats = entry.stats();
    let games = match stats.games {
        0 => return Vec::new(),
        1 => "1 game".to_owned(),
        games => format!("{games} games"),
    };
    let score = stats.score().map(|score| format!("{:.1}%", 100.0 * score));
    std::iter::once(games).chain(score).collect()
}

/// The numbers of a move as text.
fn numbers(node: &PgnNode, entry: &BookMove) -> String {
    let stats = entry.stats();
    let mut words = games_and_score(entry);
    if stats.games > 0 && stats.score().is_some() {
        words.push(format!(
            "+{} ={} -{}",
            stats.wins, stats.draws, stats.losses
        ));
    }
    match entry.preference {
        Preference::Statistics => {}
        Preference::Weight(weight) => words.push(format!("weight {weight}")),
        Preference::Priority(priority) => words.push(format!("priority {priority}")),
    }
    if entry.learn_value() != 0 {
        words.push(format!("learn value {:+}", entry.learn_value()));
    }
    match entry.mark() {
        Mark::None => {}
        mark => words.push(mark.as_str().to_owned()),
    }
    words.push(match entry.transposition {
        true => "not a move of the book".to_owned(),
        false => format!("played {:.1}%", 100.0 * node.probability),
    });
    words.join(", ")
}

/// Text, wrapped to lines of limited length.
struct Text<'o> {
    out: &'o mut String,
    column: usize,
    /// Whether the next text is written without a space before it.
    close: bool,
    /// Whether a move of White was just written: Black's move needs no number then.
    after_white: bool,
}

impl<'o> Text<'o> {
    fn new(out: &'o mut String) -> Text<'o> {
        Text {
            out,
            column: 0,
            close: true,
            after_white: false,
        }
    }

    fn tag(&mut self, name: &str, value: &str) {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // A tag must not contain control characters, and a line has 80 columns.
        let value: String = value
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(COLUMNS - name.len() - 5)
            .collect();
        let _ = writeln!(self.out, "[{name} \"{}\"]", value.trim_end_matches('\\'));
    }

    fn blank_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
        self.close = true;
    }

    fn end(&mut self) {
        self.out.push_str("\n\n");
    }

    fn token(&mut self, token: &str) {
        if !self.close {
            if self.column + 1 + token.len() > COLUMNS {
                self.out.push('\n');
                self.column = 0;
            } else {
                self.out.push(' ');
                self.column += 1;
            }
        }
        self.out.push_str(token);
        self.column += token.len();
        self.close = false;
    }

    fn mv(&mut self, position: &Chess, mv: Move) {
        if position.turn().is_white() || !self.after_white {
            self.token(&notation::number(position));
        }
        self.token(&notation::san(position, mv));
        self.after_white = position.turn().is_white();
    }

    fn comment(&mut self, text: &str) {
        let text = format!("{{{text}}}");
        for word in text.split(' ') {
            self.token(word);
        }
        self.after_white = false;
    }

    fn open(&mut self) {
        // The move number is written without a space before it.
        if self.column + " (100...".len() > COLUMNS {
            self.out.push('\n');
            self.column = 0;
            self.close = true;
        }
        self.token("(");
        self.close = true;
        self.after_white = false;
    }

    fn close(&mut self) {
        if self.column == COLUMNS {
            self.out.push('\n');
            self.column = 0;
        }
        self.close = true;
        self.token(")");
        self.after_white = false;
    }
}
