//! Games as PGN text, in the standard's export format.
//!
//! The seven tags of the roster come first, in their order, the others by
//! name. A line has at most 79 characters, unless a single word is longer.
//! Reading the text and writing it again changes no byte.

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, EnPassantMode, Position};

use crate::{Game, Item};

use tabia_notation as notation;

/// The longest line, in characters: longer ones are "strongly discouraged" by
/// the standard (4.3: 80 or more).
const COLUMNS: usize = 79;

/// Adds a game to `out`, with the empty line after it.
pub fn write_pgn(game: &Game, out: &mut String) {
    write_tags(game, out);
    out.push('\n');
    write_movetext(game, out);
    out.push_str("\n\n");
}

fn write_tags(game: &Game, out: &mut String) {
    let value = |name: &str| game.tags.get(name).filter(|value| !value.is_empty());
    let or = |name: &str, other: &str| value(name).unwrap_or(other).to_owned();
    let unknown = |name: &String| if name.is_empty() { "?" } else { name }.to_owned();
    let roster = [
        ("Event", or("Event", "?")),
        ("Site", or("Site", "?")),
        ("Date", or("Date", "????.??.??")),
        ("Round", or("Round", "?")),
        ("White", unknown(&game.names.white)),
        ("Black", unknown(&game.names.black)),
        ("Result", game.result.to_pgn().to_owned()),
    ];
    let mut others: Vec<(&str, String)> = game
        .tags
        .iter()
        .filter(|(name, _)| roster.iter().all(|(known, _)| known != name) && is_name(name))
        .map(|(name, value)| (name, value.to_owned()))
        .collect();
    let mut add = |name: &'static str, value: String| {
        if game.tags.get(name).is_none() {
            others.push((name, value));
        }
    };
    for (name, elo) in [("WhiteElo", game.elo.white), ("BlackElo", game.elo.black)] {
        if elo > 0 {
            add(name, elo.to_string());
        }
    }
    if let Ok(eco) = std::str::from_utf8(&game.eco)
        && !eco.starts_with('\0')
    {
        add("ECO", eco.to_owned());
    }
    if game.set_up || game.chess960 {
        add("SetUp", "1".to_owned());
        add("FEN", first_fen(game));
    }
    if game.chess960 {
        add("Variant", "Chess960".to_owned());
    }
    others.sort_unstable();
    for (name, value) in roster.into_iter().chain(others) {
        out.push('[');
        out.push_str(name);
        out.push_str(" \"");
        for c in value.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                c if c.is_ascii_control() => out.push(' '),
                c => out.push(c),
            }
        }
        out.push_str("\"]\n");
    }
}

/// The first position as FEN.
pub(crate) fn first_fen(game: &Game) -> String {
    let position = game.positions.first().cloned().unwrap_or_default();
    Fen::from_position(&position, EnPassantMode::Always).to_string()
}

/// Whether readers accept this as the name of a tag.
fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(&byte))
}

/// A line of moves while it is written.
struct TextLine {
    /// The position before its last move.
    before: Option<Chess>,
    now: Chess,
}

fn write_movetext(game: &Game, out: &mut String) {
    let mut text = Wrapped::new(out);
    let mut lines = vec![TextLine {
        before: None,
        now: game.positions.first().cloned().unwrap_or_default(),
    }];
    // Whether a move of Black needs its number.
    let mut numbered = true;
    for item in &game.movetext {
        let Some(line) = lines.last_mut() else {
            return;
        };
        match item {
            Item::Move(_) | Item::Null => {
                let before = line.now.clone();
                if numbered || before.turn().is_white() {
                    text.word(&notation::number(&before));
                }
                numbered = false;
                match item {
                    Item::Move(m) => {
                        let san = SanPlus::from_move_and_play_unchecked(&mut line.now, *m);
                        text.word(&san.to_string());
                    }
                    _ => {
                        line.now = notation::pass(&line.now).unwrap_or_else(|| line.now.clone());
                        text.word("--");
                    }
                }
                line.before = Some(before);
            }
            Item::Nag(nag) => text.word(&format!("${nag}")),
            Item::Comment(comment) => numbered |= write_comment(comment, &mut text),
            Item::Begin => {
                let now = line.before.clone().unwrap_or_else(|| line.now.clone());
                lines.push(TextLine { before: None, now });
                text.open('(');
                numbered = true;
            }
            Item::End => {
                if lines.len() > 1 {
                    lines.pop();
                    text.close(')');
                }
                numbered = true;
            }
        }
    }
    text.word(game.result.to_pgn());
    text.finish();
}

/// Writes a comment; false if there was nothing to write.
fn write_comment(comment: &str, text: &mut Wrapped<'_>) -> bool {
    // A brace would end the comment; PGN has no escape for it.
    let round;
    let comment = if comment.contains('}') {
        round = comment.replace('{', "(").replace('}', ")");
        &round
    } else {
        comment
    };
    let mut words = comment
        .split(|c: char| c == ' ' || c.is_ascii_control())
        .filter(|word| !word.is_empty())
        .peekable();
    if words.peek().is_none() {
        return false;
    }
    text.open('{');
    for word in words {
        // A line must not begin with these: `%` hides it from readers, and `[Event`
        // begins a game for some.
        if word.starts_with('%') || word.starts_with("[Event") {
            text.same_line(word);
        } else {
            text.word(word);
        }
    }
    text.close('}');
    true
}

/// Text with line breaks.
struct Wrapped<'o> {
    out: &'o mut String,
    /// Number of characters on the last line.
    column: usize,
    /// Opening brackets before the next word.
    opened: String,
    /// The last word; closing brackets may be added to it.
    word: String,
}

impl Wrapped<'_> {
    fn new(out: &mut String) -> Wrapped<'_> {
        Wrapped {
            out,
            column: 0,
            opened: String::new(),
            word: String::new(),
        }
    }

    fn word(&mut self, word: &str) {
        self.put();
        self.word.push_str(&self.opened);
        self.opened.clear();
        self.word.push_str(word);
    }

    /// Adds a word that must stay on the line of the previous one.
    fn same_line(&mut self, word: &str) {
        if self.opened.is_empty() && !self.word.is_empty() {
            self.word.push(' ');
            self.word.push_str(word);
        } else {
            self.word(word);
        }
    }

    fn open(&mut self, bracket: char) {
        self.opened.push(bracket);
    }

    fn close(&mut self, bracket: char) {
        if !self.opened.is_empty() {
            self.word("");
        }
        self.word.push(bracket);
    }

    fn put(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let length = self.word.chars().count();
        if self.column > 0 {
            if self.column + 1 + length > COLUMNS {
                self.out.push('\n');
                self.column = 0;
            } else {
                self.out.push(' ');
                self.column += 1;
            }
        }
        self.out.push_str(&self.word);
        self.column += length;
        self.word.clear();
    }

    fn finish(&mut self) {
        self.put();
    }
}
