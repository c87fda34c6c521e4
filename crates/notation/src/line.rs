//! Lines of play as text.

use std::fmt;

use shakmaty::{Chess, EnPassantMode, Move, Position as _};

use super::moves::{is_dashes, is_move, is_signs, nag, trailing_annotations, without_number};
use super::{FenError, MoveError, after, number, position, read_move, san_or_null, uci_or_null};

/// The highest number of plies in a line; the longest game ever played has fewer.
pub const MOST_PLIES: usize = 600;

/// Moves from a start position. A null move (`None`) passes the turn.
///
/// # Examples
///
/// Two orders of moves lead to the same position, and so to the same Zobrist key:
///
/// ```
/// use tabia_notation::Line;
/// use tabia_notation::shakmaty::zobrist::Zobrist64;
/// use tabia_notation::shakmaty::{EnPassantMode, Position as _};
///
/// let line = Line::read("", "1. d4 Nf6 2. c4 e6 3. Nf3")?;
/// let other = Line::read("", "1. Nf3 e6 2. c4 Nf6 3. d4")?;
/// assert_eq!(other.to_string(), "1.Nf3 e6 2.c4 Nf6 3.d4");
/// let key = |line: &Line| line.last().zobrist_hash::<Zobrist64>(EnPassantMode::Legal);
/// assert_eq!(key(&line), key(&other));
/// assert_eq!(key(&line).0, 0xf9d0_0ca4_9969_ca20);
/// # Ok::<(), tabia_notation::LineError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    moves: Vec<Option<Move>>,
    /// Always one more than the moves.
    positions: Vec<Chess>,
}

/// Why a text cannot be read as a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The start position cannot be read.
    #[error(transparent)]
    Position(#[from] FenError),
    /// A word is not a legal move in its position.
    #[error("move {number} ({word}) {reason}")]
    Move {
        /// Its ply, counted from 1.
        number: usize,
        /// The word, shortened.
        word: String,
        /// Why it is not a move.
        reason: MoveError,
    },
    /// A null move in check is illegal.
    #[error("move {number} is a null move in check")]
    Null {
        /// Its ply, counted from 1.
        number: usize,
    },
    /// The line is longer than any game.
    #[error("a line has at most {MOST_PLIES} plies")]
    Long,
}

impl Default for Line {
    fn default() -> Line {
        Line::from_start(Chess::default())
    }
}

impl Line {
    /// A line without moves.
    #[must_use]
    pub fn from_start(start: Chess) -> Line {
        Line {
            moves: Vec::new(),
            positions: vec![start],
        }
    }

    /// Reads a start position as [`position`] does, perhaps with the word `moves` and
    /// moves after it, and moves as [`Line::extend`] does.
    ///
    /// # Errors
    ///
    /// The position or a move cannot be read.
    pub fn read(start: &str, moves: &str) -> Result<Line, LineError> {
        let mut words = start.split_inclusive(char::is_whitespace);
        let is_moves = |word: &str| word.trim_end() == "moves";
        // Looking for the letters first is faster.
        let (start, first) = match start.contains("moves") && words.any(is_moves) {
            false => (start, String::new()),
            true => {
                let first: String = words.collect();
                (start.strip_suffix(&first).unwrap_or(start), first)
            }
        };
        let start = start.trim_end();
        let start = start.strip_suffix("moves").unwrap_or(start);
        let mut line = Line::from_start(position(start)?);
        line.extend(&first)?;
        line.extend(moves)?;
        Ok(line)
    }

    /// Plays the moves of a text, each as for [`read_move`]: `1.e4 c5 2. Nf3`, `e2e4
    /// c7c5`, separated by spaces or commas. Null moves are `--`, `Z0`, `0000`, `@@@@`,
    /// `<>` or `null`. Numbers, annotations, results, comments in braces and variations
    /// in brackets are skipped; so is what follows a `;` in its line, unless that is a move.
    ///
    /// # Errors
    ///
    /// A word is not a legal move in its position; the moves before it are played. `N`, by
    /// which old texts mark a novelty, may be the beginning of a move.
    pub fn extend(&mut self, text: &str) -> Result<(), LineError> {
        for word in (Words { rest: text }) {
            let ply = self.plies() + 1;
            if ply > MOST_PLIES {
                return Err(LineError::Long);
            }
            let bare = without_number(word);
            if is_null(word) || is_null(bare) {
                self.push_null().ok_or(LineError::Null { number: ply })?;
            } else if is_novelty(word) || !is_noise(word) && !bare.is_empty() {
                let mv = read_move(self.last(), word).map_err(|reason| LineError::Move {
                    number: ply,
                    word: word.chars().take(20).collect(),
                    reason,
                })?;
                self.push(mv);
            }
        }
        Ok(())
    }

    /// Plays a legal move.
    pub fn push(&mut self, mv: Move) {
        let next = after(self.last(), mv);
        self.moves.push(Some(mv));
        self.positions.push(next);
    }

    /// Plays a null move; `None` in check.
    pub(crate) fn push_null(&mut self) -> Option<()> {
        let next = pass(self.last())?;
        self.moves.push(None);
        self.positions.push(next);
        Some(())
    }

    /// The number of moves.
    #[must_use]
    pub const fn plies(&self) -> usize {
        self.moves.len()
    }

    /// All positions, from the start position to the one after the last move.
    #[must_use]
    pub fn positions(&self) -> &[Chess] {
        &self.positions
    }

    /// The start position.
    #[must_use]
    #[allow(clippy::expect_used)]
    pub fn start(&self) -> &Chess {
        self.positions.first().expect("there is always a first one")
    }

    /// The position after the last move.
    #[must_use]
    #[allow(clippy::expect_used)]
    pub fn last(&self) -> &Chess {
        self.positions.last().expect("there is always a first one")
    }

    /// All positions except the last one.
    #[must_use]
    pub fn before(&self) -> &[Chess] {
        self.positions.get(..self.moves.len()).unwrap_or_default()
    }

    /// The line, cut after this number of plies.
    #[must_use]
    pub fn up_to(&self, plies: usize) -> Line {
        let plies = plies.min(self.moves.len());
        Line {
            moves: self.moves.iter().take(plies).copied().collect(),
            positions: self.positions.iter().take(plies + 1).cloned().collect(),
        }
    }

    /// The moves with the positions before them, null moves as `None`.
    pub fn steps(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&Chess, Option<Move>)> + ExactSizeIterator {
        self.positions.iter().zip(self.moves.iter().copied())
    }

    /// The moves in UCI notation, null moves as `0000`.
    #[must_use]
    pub fn uci_words(&self) -> Vec<String> {
        self.moves.iter().map(|&mv| uci_or_null(mv)).collect()
    }

    /// The moves with the positions before them, without null moves.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = (&Chess, Move)> {
        self.steps().filter_map(|(at, mv)| Some((at, mv?)))
    }
}

/// In the form "1.e4 c5 2.Nf3".
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (position, mv)) in self.steps().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            if index == 0 || position.turn().is_white() {
                f.write_str(&number(position))?;
            }
            f.write_str(&san_or_null(position, mv))?;
        }
        Ok(())
    }
}

/// The position after a null move; `None` in check.
#[must_use]
pub fn pass(position: &Chess) -> Option<Chess> {
    let mode = position.castles().mode();
    let mut setup = position.to_setup(EnPassantMode::Always).into_swapped_turn();
    setup.halfmoves = setup.halfmoves.saturating_add(1);
    if setup.turn.is_white() {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    super::position_of(setup, mode).ok()
}

/// Whether a word is a null move: `--`, `---`, `—`, `Z0`, `0000` and the like. A short dash
/// alone is not.
#[must_use]
pub fn is_null(word: &str) -> bool {
    matches!(
        word,
        "Z0" | "0000" | "@@@@" | "<>" | "null" | "–" | "—" | "―"
    ) || is_dashes(word) && word.chars().count() > 1
}

/// The annotations in a text for [`Line::extend`]: NAG numbers (`!` is 1, `+=` 14), each
/// with the index of its move, from 0.
///
/// # Examples
///
/// ```
/// use tabia_notation::{Line, annotations};
///
/// let text = "1. e4 e5 2. Nf3 {the usual move} (2. f4!?) Nc6 3. Bb5! a6 4. Bxc6?! dxc6";
/// let words = Line::read("", text)?.uci_words();
/// assert_eq!(words.join(" "), "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6");
/// // 3. Bb5! and 4. Bxc6?!
/// assert_eq!(annotations(text), [(4, 1), (6, 6)]);
/// # Ok::<(), tabia_notation::LineError>(())
/// ```
#[must_use]
pub fn annotations(text: &str) -> Vec<(usize, u8)> {
    let mut found = Vec::new();
    let mut moves = 0_usize;
    for word in (Words { rest: text }) {
        if is_noise(word) {
            let before = moves.checked_sub(1);
            let nags: Vec<u8> = match nag(word) {
                Some(nag) => vec![nag],
                None => trailing_annotations(word).collect(),
            };
            found.extend(
                before
                    .into_iter()
                    .flat_map(|at| nags.iter().map(move |&nag| (at, nag))),
            );
            continue;
        }
        let bare = without_number(word);
        if !bare.is_empty() {
            found.extend(trailing_annotations(bare).map(|nag| (moves, nag)));
            moves += 1;
        }
    }
    found
}

/// Whether a word is skipped: a result, an annotation on its own, a NAG, or a remark of
/// old texts such as "ch". Dashes alone are not: they may be a null move.
pub fn is_noise(word: &str) -> bool {
    matches!(
        word,
        "*" | "1-0" | "0-1" | "1/2-1/2" | "½-½" | "½" | "e.p." | "e.p" | "ep" | "ch" | "mate"
    ) || is_novelty(word)
        || word.starts_with('$')
        || is_signs(word)
}

/// Whether a word marks a novelty or a diagram in old texts.
fn is_novelty(word: &str) -> bool {
    matches!(word, "N" | "TN" | "D")
}

/// The words of a text, without comments and variations.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let rest = self
                .rest
                .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ')' | '}'));
            match rest.chars().next()? {
                '{' => self.rest = rest.split_once('}').map_or("", |(_, after)| after),
                ';' if !is_semicolon_between_moves(rest) => {
                    self.rest = rest.split_once('\n').map_or("", |(_, after)| after);
                }
                '(' => self.rest = after_variation(rest),
                _ => {
                    let (word, after) = rest.split_at(word_end(rest));
                    self.rest = after;
                    return Some(word);
                }
            }
        }
    }
}

/// Whether a text that begins with `;` goes on with a move in its last line: then it is not
/// a comment, but moves that someone has separated by semicolons.
fn is_semicolon_between_moves(text: &str) -> bool {
    let mut words = text.trim_start_matches(';').split_whitespace();
    let first = words.find(|word| !without_number(word).is_empty());
    !text.contains('\n') && first.is_some_and(is_move)
}

/// The end of a word: a bracket belongs to it only as in "e8(Q)".
fn word_end(text: &str) -> usize {
    for (at, c) in text.char_indices() {
        let promotion = c == '('
            && text
                .get(at..)
                .is_some_and(|rest| rest.chars().nth(2) == Some(')'));
        let closes = c == ')' && !text.get(..at).is_some_and(|word| word.contains('('));
        if c.is_whitespace() || matches!(c, ',' | '{') || closes || (c == '(' && !promotion) {
            return at;
        }
    }
    text.len()
}

/// The text from the bracket that closes the first one.
fn after_variation(text: &str) -> &str {
    let (mut depth, mut comment) = (0_u32, false);
    for (at, c) in text.char_indices() {
        match c {
            '{' => comment = true,
            '}' => comment = false,
            '(' if !comment => depth += 1,
            ')' if !comment && depth == 1 => return text.get(at..).unwrap_or_default(),
            ')' if !comment => depth -= 1,
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_people_write_them() {
        for text in [
            "1.e4 c5 2.Nf3 d6",
            "1. e4 c5 2. Nf3 d6 *",
            "e2e4 c7c5 g1f3 d7d6",
            "e2e4,c7c5,g1f3,d7d6",
            " 1.e4! 1...c5 2.Nf3!? d6?! ",
            "1 e4 c5 2 Ng1f3 d7d6 1-0",
            "1.e4 {best by test (1.d4)} c5 (1...e5 (1...e6) 2.f4) 2.Nf3 $1 d6 +=",
            "1.e4(1.d4)c5 2.Nf3 ; the move\n d6",
            "1.e4 c5 2.♘f3 … d6",
            "1.e4 c5 2.Sf3 d6 ½-½",
            "1.e4 1…c5 2.Nf3 d6",
            "5254 3735 7163 4746",
            "1. 5254 3735 2. 7163 4746",
            "1.e4‼ c5⁈ → 2.nf3 ∀ d6 +−",
        ] {
            let line = Line::read("", text).map(|line| line.to_string());
            assert_eq!(line.as_deref(), Ok("1.e4 c5 2.Nf3 d6"), "{text}");
        }
        assert_eq!(Line::read("", " "), Ok(Line::default()));
        let promoted = Line::read("4k3/1P6/8/8/8/8/8/4K3 w - - 0 7", "b8(N) Kd8").unwrap();
        assert_eq!(promoted.to_string(), "7.b8=N Kd8");
    }

    #[test]
    fn a_gui_s_line_is_a_line() {
        for start in [
            "position startpos moves e2e4 c7c5",
            "startpos moves 1.e4\nc5",
        ] {
            let line = Line::read(start, "Nf3").map(|line| line.to_string());
            assert_eq!(line.as_deref(), Ok("1.e4 c5 2.Nf3"));
        }
        let fen = "position fen 4k3/8/8/8/8/8/8/4K2R b K - 3 9 moves e8e7 e1h1";
        let line = Line::read(fen, "").map(|line| line.to_string());
        assert_eq!(line.as_deref(), Ok("9...Ke7 10.O-O"));
    }

    #[test]
    fn null_moves_pass_the_turn() {
        for null in [
            "--", "1...--", "Z0", "0000", "null", "@@@@", "<>", "---", "----", "—", "–", "−−", "—-",
        ] {
            let line = Line::read("", &format!("1.e4 {null} 2.d4")).unwrap();
            assert_eq!(line.to_string(), "1.e4 -- 2.d4", "{null}");
            assert_eq!((line.plies(), line.moves().count()), (3, 2));
            assert_eq!(line.positions().len(), 4);
            assert_eq!(line.before().len(), 3);
        }
        let check = "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1";
        let error = Line::read(check, "--").unwrap_err();
        assert_eq!(error.to_string(), "move 1 is a null move in check");
    }

    #[test]
    fn the_word_that_is_wrong_is_named() {
        for (text, wanted) in [
            ("1.e4 c5 2.Nf4", "move 3 (2.Nf4) is not legal"),
            ("1.e4 xyz", "move 2 (xyz) is not a move"),
            ("e2e4,e2e4", "move 2 (e2e4) is not legal"),
            ("e4 e5 N", "move 3 (N) is not a move"),
            // Neither a sign nor a null move.
            ("e4 - e5", "move 2 (-) is not a move"),
            ("e4 / e5", "move 2 (/) is not a move"),
            ("5254 5754", "move 2 (5754) is not legal"),
            ("e4;c5", "move 1 (e4;c5) is not a move"),
            ("e4; c5", "move 1 (e4;) is not a move"),
            ("e4 ; 1... c5", "move 2 (;) is not a move"),
            (
                "1.d4 d5 2.Nf3 Nf6 3.Nd2",
                "move 5 (3.Nd2) may be several moves here",
            ),
        ] {
            let error = Line::read("", text).unwrap_err();
            assert_eq!(error.to_string(), wanted);
        }
        let shuffle = "g1f3,g8f6,f3g1,f6g8,".repeat(200);
        assert_eq!(Line::read("", &shuffle), Err(LineError::Long));
    }

    #[test]
    fn signs_stand_behind_their_moves() {
        let text = "1.e4! {best?!} c5 $6 2.c3!? (2.Nf3??) d5 += 3. exd5 +/- Qxd5 □ 1-0";
        assert_eq!(
            annotations(text),
            [(0, 1), (1, 6), (2, 5), (3, 14), (4, 16), (5, 8)]
        );
        assert_eq!(annotations("! e2e4 c7c5?"), [(1, 2)]);
    }

    #[test]
    fn lines_are_cut() {
        let line = Line::read("", "e4 c5 Nf3").unwrap();
        assert_eq!(line.up_to(1).to_string(), "1.e4");
        assert_eq!(line.up_to(9), line);
        assert_eq!(line.start(), &Chess::default());
    }
}
