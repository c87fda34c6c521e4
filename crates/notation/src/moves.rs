//! Moves as text: reading and writing.

use shakmaty::san::{San, SanPlus, Suffix};
use shakmaty::uci::UciMove;
use shakmaty::{
    CastlingMode, CastlingSide, Chess, File, Move, MoveList, Position as _, Rank, Role, Square,
};

/// Why a word cannot be read as a move of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The word is not a move in any notation.
    #[error("is not a move")]
    Syntax,
    /// The move is not legal.
    #[error("is not legal")]
    Illegal,
    /// The word fits several legal moves.
    #[error("may be several moves here")]
    Ambiguous,
}

/// Returns the legal move for a word in UCI notation. Castling may be written as the
/// king's move or as king takes rook, wherever they stand.
#[must_use]
pub fn find_uci(position: &Chess, word: &[u8]) -> Option<Move> {
    let uci = UciMove::from_ascii(word).ok()?;
    let written = uci.to_move(position).ok();
    written.or_else(|| castling_by_king(position, &uci))
}

/// Castling as the move of a king that does not stand on the e-file: an engine that plays
/// a position of Chess960 as ordinary chess writes `b1g1`. Where the king could move so
/// without the rook, that is the move.
fn castling_by_king(position: &Chess, uci: &UciMove) -> Option<Move> {
    let UciMove::Normal {
        from,
        to,
        promotion: None,
    } = *uci
    else {
        return None;
    };
    let side = match to.file() {
        File::G => CastlingSide::KingSide,
        File::C => CastlingSide::QueenSide,
        _ => return None,
    };
    let castling = position.castling_moves(side).into_iter().next()?;
    (castling.from() == Some(from) && to.rank() == from.rank()).then_some(castling)
}

/// Reads a move as people write it: `Nf3`, `Nf3!`, `1.e4`, `e2e4`, `e2-e4`, `Ng1xf3`,
/// `exd`, `0-0`, `00`, `e1h1`, `e8D`, `5254`; pieces as English, German, French, Spanish or
/// Russian letters or as figurines. `R` is a rook if a rook can move so. `x` may be missing
/// or superfluous; a promotion without a piece is to a queen. English letters may be small:
/// a `b` is a pawn if that is legal, else a bishop.
///
/// # Errors
///
/// The word is not a legal move, or fits several.
///
/// # Examples
///
/// ```
/// use tabia_notation::{after, position, read_move, san};
///
/// let mut board = position("startpos")?;
/// for (word, written) in [
///     ("1.e4", "e4"),
///     ("e7-e5", "e5"),
///     ("Sf3", "Nf3"),
///     ("Nb8c6!?", "Nc6"),
///     ("Lb5", "Bb5"),
///     ("a7a6", "a6"),
/// ] {
///     let mv = read_move(&board, word)?;
///     assert_eq!(san(&board, mv), written);
///     board = after(&board, mv);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_move(position: &Chess, word: &str) -> Result<Move, MoveError> {
    read_with(position, word, None)
}

/// As [`read_move`], with the piece letters of one language and figurines only.
///
/// # Errors
///
/// As for [`read_move`].
pub fn read_move_in(position: &Chess, word: &str, letters: &Letters) -> Result<Move, MoveError> {
    read_with(position, word, Some(letters))
}

fn read_with(position: &Chess, word: &str, letters: Option<&Letters>) -> Result<Move, MoveError> {
    let word = without_signs(without_number(word));
    let read = |word: &str| read_bare(position, word, letters);
    read(word).or_else(|error| {
        let is_english = letters.is_none_or(|letters| letters == Letters::ENGLISH);
        let other = match with_capital(word).filter(|_| is_english) {
            Some(word) => read(&word),
            None => without_novelty(word).map_or(Err(error), read),
        };
        other.map_err(|other| match error {
            MoveError::Syntax => other,
            _ => error,
        })
    })
}

/// Reads a move without number and signs.
fn read_bare(position: &Chess, word: &str, letters: Option<&Letters>) -> Result<Move, MoveError> {
    if let Some(side) = castling_side(word) {
        let mut legal = position.legal_moves().into_iter();
        let found = legal.find(|mv| mv.castling_side() == Some(side));
        return found.ok_or(MoveError::Illegal);
    }
    let written = match numeric(word) {
        Some(written) => written,
        None => Written::read(word, letters).ok_or(MoveError::Syntax)?,
    };
    for &role in written.roles {
        match written.find(position, role) {
            Err(MoveError::Illegal) => {}
            found => return found,
        }
    }
    Err(MoveError::Illegal)
}

/// Whether a word has the form of a move that [`read_move`] reads, legal or not.
pub fn is_move(word: &str) -> bool {
    let word = without_signs(without_number(word));
    castling_side(word).is_some() || numeric(word).is_some() || Written::read(word, None).is_some()
}

/// The position after a legal move.
#[inline]
#[must_use]
pub fn after(position: &Chess, mv: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(mv);
    after
}

/// A move in algebraic notation: "Nf3", "O-O+". Mate is tested only after a check.
#[must_use]
pub fn san(position: &Chess, mv: Move) -> String {
    san_with(position, mv, None)
}

/// As [`san`], where the position after the move is known.
#[must_use]
pub fn san_to(position: &Chess, mv: Move, after: &Chess) -> String {
    san_with(position, mv, Some(after))
}

fn san_with(position: &Chess, mv: Move, known: Option<&Chess>) -> String {
    let candidates = match mv {
        Move::Castle { .. } => {
            let side = mv.castling_side();
            side.map_or_else(MoveList::new, |side| position.castling_moves(side))
        }
        _ => position.san_candidates(mv.role(), mv.to()),
    };
    let mut suffix = None;
    if candidates.contains(&mv) {
        let made;
        let after = match known {
            Some(after) => after,
            None => {
                made = after(position, mv);
                &made
            }
        };
        if after.checkers().any() {
            suffix = Suffix::from_position(after);
        }
    }
    let san = SanPlus {
        san: San::disambiguate(mv, &candidates),
        suffix,
    };
    let mut text = String::with_capacity(8);
    san.append_to_string(&mut text);
    text
}

/// A move in UCI notation, castling as the king's move.
#[must_use]
pub fn uci(mv: Move) -> String {
    let mut text = String::with_capacity(5);
    mv.to_uci(CastlingMode::Standard)
        .append_to_string(&mut text);
    text
}

/// A move in UCI notation that is never ambiguous, for games of standard chess and Chess960:
/// castling as the king's move with king and rook on the squares of standard chess, and else
/// as king takes rook.
#[must_use]
pub fn uci_of_any(mv: Move) -> String {
    let is_ordinary = match mv {
        Move::Castle { king, rook } => {
            king.file() == File::E && matches!(rook.file(), File::A | File::H)
        }
        Move::Normal { .. } | Move::EnPassant { .. } | Move::Put { .. } => true,
    };
    let mode = CastlingMode::from_chess960(!is_ordinary);
    mv.to_uci(mode).to_string()
}

/// As [`san`], with a null move as `--`.
#[must_use]
pub fn san_or_null(position: &Chess, mv: Option<Move>) -> String {
    mv.map_or_else(|| "--".to_owned(), |mv| san(position, mv))
}

/// As [`uci`], with a null move as `0000`.
#[must_use]
pub fn uci_or_null(mv: Option<Move>) -> String {
    mv.map_or_else(|| "0000".to_owned(), uci)
}

/// The move number and its dots: "3." or "3...".
#[must_use]
pub fn number(position: &Chess) -> String {
    let dots = if position.turn().is_white() {
        "."
    } else {
        "..."
    };
    format!("{}{dots}", position.fullmoves())
}

/// Removes `12.` or `12...` from the front; a number alone leaves nothing, unless it is a
/// move.
pub(super) fn without_number(word: &str) -> &str {
    if is_numeric_move(word) {
        return word;
    }
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.trim_start_matches(['.', '…']) {
        bare if bare.len() < rest.len() || rest.is_empty() => bare,
        _ => word,
    }
}

/// Whether a number is a move: castling as `00` or `000`, or squares as numbers (`5254`,
/// `57581`).
pub fn is_numeric_move(word: &str) -> bool {
    matches!(word, "00" | "000") || numeric(word).is_some()
}

/// Removes check, mate, annotations and "e.p." from the end.
fn without_signs(mut word: &str) -> &str {
    // Removed whole: a dash or slash may also belong to a move.
    const LONG: [&str; 4] = ["=/∞", "∞/=", "e.p", "ep"];
    loop {
        let long = LONG.iter().find_map(|sign| word.strip_suffix(sign));
        let rest = long.or_else(|| without_advantage(word));
        match rest.or_else(|| word.strip_suffix(is_sign)) {
            Some(rest) => word = rest,
            None => return word,
        }
    }
}

/// Removes an advantage, such as `+-` or `+/-`, with any dash.
fn without_advantage(word: &str) -> Option<&str> {
    const FORMS: [(&[char], &[char]); 4] = [
        (&['+'], &DASHES),
        (&DASHES, &['+']),
        (&['+'], &['=']),
        (&['='], &['+']),
    ];
    FORMS.iter().find_map(|(first, last)| {
        let rest = word.strip_suffix(*last)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        rest.strip_suffix(*first)
    })
}

/// Whether a character is a sign that stands after moves and never within one. Programs use
/// the symbols of many blocks of Unicode.
pub(super) fn is_sign(c: char) -> bool {
    match c {
        '!' | '?' | '+' | '#' | '=' | '.' | '…' | '†' | '‡' | '±' | '‼' | '⁇'..='⁉' => {
            true
        }
        '！' | '？' | '\u{fe0e}' | '\u{fe0f}' => true,
        // A dash, and the pieces.
        '−' | '♔'..='♟' => false,
        // Arrows, mathematics, technical and geometric symbols; miscellaneous symbols and
        // dingbats; the other arrows and operators; pictures.
        '\u{2190}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{27c0}'..='\u{2bff}' => true,
        '\u{1f300}'..='\u{1faff}' => true,
        _ => false,
    }
}

/// Whether a word has signs only, among them one that is not a dash.
pub(super) fn is_signs(word: &str) -> bool {
    let may_be = |c: char| is_sign(c) || c == '/' || DASHES.contains(&c);
    word.chars().any(is_sign) && word.chars().all(may_be)
}

/// Whether a word has dashes only.
pub(super) fn is_dashes(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| DASHES.contains(&c) || c == '―')
}

/// Removes the mark of a novelty from the end (`a6N`), unless it is a promotion to a knight.
fn without_novelty(word: &str) -> Option<&str> {
    let rest = word.strip_suffix('N')?;
    let rest = rest.strip_suffix('T').unwrap_or(rest);
    let is_pawn = rest.starts_with(|c: char| c.is_ascii_lowercase());
    let is_move = match rest.chars().last()? {
        '1' | '8' => !is_pawn,
        last => as_rank(last).is_some() || castling_side(rest).is_some(),
    };
    is_move.then_some(rest)
}

/// The NAG of a novelty.
const NOVELTY: u8 = 146;

/// A part of the signs after a move.
enum Sign {
    Nag(u8),
    /// Check, mate, dots and the like.
    Plain,
    /// The sign has no meaning in PGN.
    Unknown,
}

/// The signs at the end of a move, or of a word of signs alone.
fn signs(word: &str) -> impl Iterator<Item = Sign> {
    let bare = without_signs(word);
    let novelty = without_novelty(bare).map(|_| Sign::Nag(NOVELTY));
    let mut rest = word.split_at(bare.len()).1;
    let others = std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let longest = (1..=3).rev().find_map(|count| {
            let end = rest
                .char_indices()
                .nth(count)
                .map_or(rest.len(), |(at, _)| at);
            let (sign, after) = rest.split_at(end);
            nag(sign).map(|nag| (nag, after))
        });
        if let Some((nag, after)) = longest {
            rest = after;
            return Some(Sign::Nag(nag));
        }
        rest = rest.split_at(first.len_utf8()).1;
        let is_plain = !is_sign(first) || "+#=.…†‡\u{fe0e}\u{fe0f}".contains(first);
        Some(if is_plain { Sign::Plain } else { Sign::Unknown })
    });
    novelty.into_iter().chain(others)
}

/// Whether a move, or a word of signs alone, has a sign that PGN has no number for.
pub fn has_unknown_sign(word: &str) -> bool {
    let is_left = is_signs(word) && !without_signs(word).is_empty();
    is_left || signs(word).any(|sign| matches!(sign, Sign::Unknown))
}

/// The annotations at the end of a move (`Nf3!?`, `Nf3+-`), as NAG numbers. A single plus
/// is a check.
pub fn trailing_annotations(word: &str) -> impl Iterator<Item = u8> {
    signs(word).filter_map(|sign| match sign {
        Sign::Nag(nag) => Some(nag),
        Sign::Plain | Sign::Unknown => None,
    })
}

/// The NAG number of an annotation, or of `$` and a number.
pub fn nag(sign: &str) -> Option<u8> {
    if let Some(number) = sign.strip_prefix('$') {
        return number.parse().ok().filter(|nag| *nag > 0);
    }
    // The numbers of the last lines are those that lichess uses for both sides.
    Some(match &*sign.replace(DASHES, "-") {
        "!" | "！" => 1,
        "?" | "？" => 2,
        "!!" | "‼" | "！！" => 3,
        "??" | "⁇" | "？？" => 4,
        "!?" | "⁉" | "！？" => 5,
        "?!" | "⁈" | "？！" => 6,
        "□" => 8,
        "=" => 10,
        "∞" => 13,
        "+=" | "+/=" | "⩲" => 14,
        "=+" | "=/+" | "⩱" => 15,
        "+/-" | "±" => 16,
        "-/+" | "∓" => 17,
        "+-" => 18,
        "-+" => 19,
        "⨀" | "⊙" => 22,
        "○" => 26,
        "⟳" | "↑↑" => 32,
        "↑" => 36,
        "→" => 40,
        "=∞" | "=/∞" | "⯹" => 44,
        "⇆" | "⇄" => 132,
        "⊕" => 138,
        "∆" | "Δ" | "△" => 140,
        "⌓" => 142,
        "N" | "TN" => NOVELTY,
        _ => return None,
    })
}

/// `O-O`, `0-0`, `o-o`, `OO`, with any dash or none.
fn castling_side(word: &str) -> Option<CastlingSide> {
    let is_zero = |part: &str| matches!(part, "O" | "0" | "o" | "О" | "о");
    let is_together = !word.contains(DASHES);
    let ends = |c| is_together || DASHES.contains(&c);
    let mut parts = word
        .split_inclusive(ends)
        .map(|part| part.trim_end_matches(DASHES));
    let zeros = parts.clone().count();
    let is_whole = !word.ends_with(DASHES);
    match (is_whole && parts.all(is_zero)).then_some(zeros) {
        Some(2) => Some(CastlingSide::KingSide),
        Some(3) => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

/// A move of correspondence chess: file and rank of both squares as numbers, and for a
/// promotion 1 to 4 (queen, rook, bishop, knight). Castling is the king's move.
fn numeric(word: &str) -> Option<Written> {
    let (squares, promotion) = match *word.as_bytes() {
        [a, b, c, d] => ([a, b, c, d], None),
        [a, b, c, d, piece] => ([a, b, c, d], Some(piece)),
        _ => return None,
    };
    let number = |digit: u8| match digit {
        b'1'..=b'8' => Some(u32::from(digit - b'1')),
        _ => None,
    };
    let [a, b, c, d] = squares.map(number);
    let promotion = match promotion {
        None => None,
        Some(b'1') => Some(Role::Queen),
        Some(b'2') => Some(Role::Rook),
        Some(b'3') => Some(Role::Bishop),
        Some(b'4') => Some(Role::Knight),
        Some(_) => return None,
    };
    Some(Written {
        roles: ANY,
        from: (Some(File::new(a?)), Some(Rank::new(b?))),
        to: (File::new(c?), Some(Rank::new(d?))),
        promotion,
    })
}

/// A word with a small piece letter of PGN, with the capital.
fn with_capital(word: &str) -> Option<String> {
    let first = word.chars().next().filter(|c| "kqrbn".contains(*c))?;
    let rest = word.get(1..).unwrap_or_default();
    Some(format!("{}{rest}", first.to_ascii_uppercase()))
}

const DASHES: [char; 6] = ['-', '‐', '‑', '–', '—', '−'];

/// The pieces that a letter may mean, the likeliest first.
fn roles(letter: char) -> Option<&'static [Role]> {
    use Role::{Bishop, King, Knight, Pawn, Queen, Rook};
    Some(match letter {
        'K' | '♔' | '♚' => &[King],
        'Q' | 'D' | 'Ф' | '♕' | '♛' => &[Queen],
        // R is the king in French and Spanish.
        'R' => &[Rook, King],
        'T' | 'Л' | '♖' | '♜' => &[Rook],
        'B' | 'L' | 'F' | 'A' | 'С' | '♗' | '♝' => &[Bishop],
        'N' | 'S' | 'C' | 'К' | '♘' | '♞' => &[Knight],
        'P' | '♙' | '♟' => &[Pawn],
        _ => return None,
    })
}

const ANY: &[Role] = &Role::ALL;

/// The piece letters of a language: king, queen, rook, bishop, knight.
#[derive(Debug, PartialEq, Eq)]
pub struct Letters([&'static str; 5]);

/// The pieces in the order of [`Letters`].
static PIECES: [Role; 5] = [
    Role::King,
    Role::Queen,
    Role::Rook,
    Role::Bishop,
    Role::Knight,
];

impl Letters {
    /// The piece letters of PGN.
    pub const ENGLISH: &Letters = &Letters(["K", "Q", "R", "B", "N"]);

    /// Other languages; equal sets of letters are listed once. Text with 8 bits a
    /// character is decoded as Windows-1252, so Russian has more than one form.
    pub const OTHERS: &[Letters] = &[
        // German, Danish, Norwegian, Swedish, Slovene, Croatian.
        Letters(["K", "D", "T", "L", "S"]),
        // French.
        Letters(["R", "D", "T", "F", "C"]),
        // Spanish, Italian, Catalan.
        Letters(["R", "D", "T", "A", "C"]),
        // Russian: Unicode, Windows-1251, KOI8-R, code page 866.
        Letters(["Кр", "Ф", "Л", "С", "К"]),
        Letters(["Êð", "Ô", "Ë", "Ñ", "Ê"]),
        Letters(["ëÒ", "æ", "ì", "ó", "ë"]),
        Letters(["Šà", "”", "‹", "‘", "Š"]),
        // Ukrainian, Bulgarian, Serbian.
        Letters(["Кр", "Ф", "Т", "С", "К"]),
        Letters(["Ц", "Д", "Т", "О", "К"]),
        Letters(["К", "Д", "Т", "Л", "С"]),
        // Dutch.
        Letters(["K", "D", "T", "L", "P"]),
        // Portuguese.
        Letters(["R", "D", "T", "B", "C"]),
        // Polish.
        Letters(["K", "H", "W", "G", "S"]),
        // Czech, Slovak.
        Letters(["K", "D", "V", "S", "J"]),
        // Hungarian.
        Letters(["K", "V", "B", "F", "H"]),
        // Finnish.
        Letters(["K", "D", "T", "L", "R"]),
        // Romanian.
        Letters(["R", "D", "T", "N", "C"]),
        // Icelandic.
        Letters(["K", "D", "H", "B", "R"]),
        // Estonian.
        Letters(["K", "L", "V", "O", "R"]),
        // Turkish.
        Letters(["Ş", "V", "K", "F", "A"]),
        // Greek.
        Letters(["Ρ", "Β", "Π", "Α", "Ι"]),
    ];
}

impl Letters {
    /// The piece at the start of a text, and the rest. In some languages the king's
    /// letter is another piece's letter and a second one.
    fn piece<'w>(&self, text: &'w str) -> Option<(&'static [Role], &'w str)> {
        let mut pieces = self.0.iter().zip(PIECES.chunks_exact(1));
        pieces.find_map(|(letter, role)| Some((role, text.strip_prefix(letter)?)))
    }
}

/// The piece at the start of a text, and the rest.
fn piece<'w>(text: &'w str, letters: Option<&Letters>) -> Option<(&'static [Role], &'w str)> {
    let first = text.chars().next()?;
    let rest = text.split_at(first.len_utf8()).1;
    match letters {
        Some(letters) => letters.piece(text).or_else(|| {
            let is_everywhere = first == 'P' || ('♔'..='♟').contains(&first);
            Some((roles(first).filter(|_| is_everywhere)?, rest))
        }),
        None => match text.strip_prefix("Кр") {
            Some(rest) => Some((&[Role::King], rest)),
            None => Some((roles(first)?, rest)),
        },
    }
}

/// The parts of a move that a word names.
#[derive(Clone, Copy, Debug)]
struct Written {
    roles: &'static [Role],
    from: (Option<File>, Option<Rank>),
    to: (File, Option<Rank>),
    promotion: Option<Role>,
}

impl Written {
    fn read(word: &str, letters: Option<&Letters>) -> Option<Written> {
        let (mut word, mut named) = (word, None);
        // A word in capitals only is coordinates: "B1C3".
        if !(is_coordinates(word) && word == word.to_uppercase())
            && let Some((roles, rest)) = piece(word, letters)
        {
            (word, named) = (rest, Some(roles));
        }
        let mut parts = Vec::with_capacity(5);
        // Something must come before a dash and before an "x".
        let is_sign = |c| matches!(c, 'x' | 'X' | ':' | '×');
        if word.starts_with(DASHES) || named.is_none() && word.starts_with(is_sign) {
            return None;
        }
        for c in word.chars() {
            match c {
                '=' | '(' | ')' | '/' | '\u{fe0e}' | '\u{fe0f}' => {}
                c if is_sign(c) || DASHES.contains(&c) => {}
                c => parts.push(c),
            }
        }
        let rank_at_end = |parts: &[char]| parts.last().is_some_and(|c| as_rank(*c).is_some());
        let promotion = match parts.split_last() {
            Some((letter, before)) if rank_at_end(before) && as_rank(*letter).is_none() => {
                let role = promoted(*letter, letters)?;
                parts.pop();
                Some(role)
            }
            _ => None,
        };
        // A word in capitals only is coordinates; a single capital is a piece of another
        // language: "Cc6" is not a pawn move.
        let is_all_capitals = !parts.iter().any(char::is_ascii_lowercase);
        let file = |c: char| match is_all_capitals {
            true => File::from_char(c.to_ascii_lowercase()),
            false => File::from_char(c),
        };
        let (from, to) = match *parts.as_slice() {
            [a, b] => match as_rank(b) {
                Some(rank) => ((None, None), (file(a)?, Some(rank))),
                // "exd": pawns only.
                None => ((Some(file(a)?), None), (file(b)?, None)),
            },
            [a, b, c] => {
                let from = as_rank(a).map_or_else(
                    || file(a).map(|f| (Some(f), None)),
                    |rank| Some((None, Some(rank))),
                )?;
                (from, (file(b)?, Some(as_rank(c)?)))
            }
            [a, b, c, d] => (
                (Some(file(a)?), Some(as_rank(b)?)),
                (file(c)?, Some(as_rank(d)?)),
            ),
            _ => return None,
        };
        let full = from.0.is_some() && from.1.is_some();
        let roles = named.unwrap_or(if full { ANY } else { &[Role::Pawn] });
        if to.1.is_none() && roles != [Role::Pawn] {
            return None;
        }
        Some(Written {
            roles,
            from,
            to,
            promotion,
        })
    }

    /// The one legal move of a piece that fits.
    fn find(&self, position: &Chess, role: Role) -> Result<Move, MoveError> {
        if let ((Some(file), Some(rank)), (to, Some(to_rank))) = (self.from, self.to) {
            let from = Square::from_coords(file, rank);
            if position.board().role_at(from) != Some(role) {
                return Err(MoveError::Illegal);
            }
            // This includes castling.
            let normal = |promotion| UciMove::Normal {
                from,
                to: Square::from_coords(to, to_rank),
                promotion,
            };
            return normal(self.promotion)
                .to_move(position)
                .or_else(|error| match self.promotion {
                    None => normal(Some(Role::Queen)).to_move(position),
                    Some(_) => Err(error),
                })
                .map_err(|_| MoveError::Illegal);
        }
        let legal = position.legal_moves();
        let fits = |mv: &&Move| {
            let Some(from) = mv.from() else { return false };
            mv.role() == role
                && !mv.is_castle()
                && self.from.0.is_none_or(|file| file == from.file())
                && self.from.1.is_none_or(|rank| rank == from.rank())
                && self.to.0 == mv.to().file()
                && self.to.1.is_none_or(|rank| rank == mv.to().rank())
                && match mv.promotion() {
                    None => self.promotion.is_none(),
                    Some(to) => to == self.promotion.unwrap_or(Role::Queen),
                }
        };
        let mut found = legal.iter().filter(fits);
        match (found.next(), found.next()) {
            (Some(mv), None) => Ok(*mv),
            (None, _) => Err(MoveError::Illegal),
            _ => Err(MoveError::Ambiguous),
        }
    }
}

fn as_rank(c: char) -> Option<Rank> {
    Rank::from_char(c)
}

fn is_coordinates(word: &str) -> bool {
    matches!(word.len(), 4 | 5) && word.to_ascii_lowercase().parse::<UciMove>().is_ok()
}

/// The piece that a pawn promotes to. Texts in other languages often use the letter of
/// PGN here.
fn promoted(letter: char, letters: Option<&Letters>) -> Option<Role> {
    let role = match letter {
        'q' | 'r' | 'b' | 'n' => Role::from_char(letter),
        letter => piece(letter.encode_utf8(&mut [0; 4]), letters)
            .and_then(|(roles, _)| roles.first().copied())
            .or_else(|| letters.and(Role::from_char(letter))),
    };
    role.filter(|role| !matches!(role, Role::Pawn | Role::King))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position;

    #[track_caller]
    fn means(fen: &str, words: &[&str], wanted: &str) {
        let position = position(fen).unwrap();
        for word in words {
            let read = read_move(&position, word).map(uci);
            assert_eq!(read.as_deref(), Ok(wanted), "{word} in {fen}");
        }
    }

    #[track_caller]
    fn refused(fen: &str, words: &[&str], wanted: MoveError) {
        let position = position(fen).unwrap();
        for word in words {
            assert_eq!(read_move(&position, word), Err(wanted), "{word} in {fen}");
        }
    }

    const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    const PAWNS: &str = "4k3/1P6/8/3pp3/3PP3/8/8/4K3 w - - 0 1";

    #[test]
    fn castling_is_found_in_both_notations_wherever_king_and_rook_stand() {
        let castling = |fen: &str, word: &str| {
            let position = crate::position(fen).unwrap();
            find_uci(&position, word.as_bytes())
                .map(|mv| mv.to_uci(CastlingMode::Chess960).to_string())
        };
        let near = "4k3/8/8/8/8/8/8/R4K1R w HA - 0 1";
        let far = "4k3/8/8/8/8/8/8/RK5R w HA - 0 1";
        let rook_there = "4k3/8/8/8/8/8/8/R4KR1 w GA - 0 1";
        for (fen, word, found) in [
            ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", Some("e1h1")),
            ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1a1", Some("e1a1")),
            ("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "e1c1", Some("e1b1")),
            // An ordinary move of the king.
            (near, "f1g1", Some("f1g1")),
            (near, "f1h1", Some("f1h1")),
            (near, "f1c1", Some("f1a1")),
            (far, "b1g1", Some("b1h1")),
            (far, "b1c1", Some("b1c1")),
            (far, "b1a1", Some("b1a1")),
            (rook_there, "f1g1", Some("f1g1")),
            // No right, a piece between, another square.
            ("4k3/8/8/8/8/8/8/RK5R w A - 0 1", "b1g1", None),
            ("4k3/8/8/8/8/8/8/RK3N1R w HA - 0 1", "b1g1", None),
            (far, "b1g2", None),
            (far, "c1g1", None),
        ] {
            assert_eq!(castling(fen, word).as_deref(), found, "{fen} {word}");
        }
    }

    #[test]
    fn pieces_have_letters_in_many_languages() {
        let spanish = ["Cf3", "Cg1f3"];
        let others = [
            "Nf3", "Sf3", "Кf3", "♘f3", "♞f3", "Ng1-f3", "g1f3", "G1F3", "Ngf3",
        ];
        means("", &spanish, "g1f3");
        means("", &others, "g1f3");
        let signs = [
            "1.Nf3",
            "1.Nf3!",
            "Nf3!?",
            "Nf3+",
            "1…Nf3",
            "Nf3±",
            "♘\u{fe0e}f3",
        ];
        means("", &signs, "g1f3");
        let queen = "3qk3/8/8/8/8/8/8/R2QK2R w KQ - 0 1";
        means(
            queen,
            &["Qxd8", "Dxd8", "Фxd8", "♕:d8", "D×d8+", "Dd8"],
            "d1d8",
        );
        let bishop = "4k3/8/8/8/8/8/6B1/4K3 w - - 0 1";
        means(bishop, &["Be4", "Le4", "Fe4", "Ae4", "Сe4", "♗e4"], "g2e4");
        // R is the French or Spanish king only if no rook can move so.
        means(CASTLING, &["Rf1", "Тf1", "Лf1"][..1], "h1f1");
        means(CASTLING, &["Re2", "Rе2", "Ke2", "Крe2", "♔e2"][..1], "e1e2");
        means(CASTLING, &["Крe2", "♔e2"], "e1e2");
    }

    #[test]
    fn castling_is_written_in_many_ways() {
        let short = [
            "O-O", "0-0", "o-o", "0–0", "O-O!", "e1g1", "e1h1", "E1G1", "Ke1-g1", "OO", "00", "oo",
            "O0+", "0-O", "1.00", "5171", "OON",
        ];
        means(CASTLING, &short, "e1g1");
        let long = [
            "O-O-O", "0-0-0", "e1c1", "e1a1", "OOO", "000", "ooo!", "O0O", "5131",
        ];
        means(CASTLING, &long, "e1c1");
        refused("", &["0-0", "e1g1", "00", "5171"], MoveError::Illegal);
        refused("", &["O-", "-O-O", "O--O", "OOOO", "0"], MoveError::Syntax);
    }

    #[test]
    fn correspondence_players_write_numbers() {
        means("", &["5254", "1.5254", "5254!"], "e2e4");
        means("", &["7163"], "g1f3");
        means(PAWNS, &["5445"], "e4d5");
        means(PAWNS, &["27281", "2728"], "b7b8q");
        means(PAWNS, &["27284"], "b7b8n");
        refused("", &["5255", "8888"], MoveError::Illegal);
        refused("", &["5259", "0254", "27285", "525"], MoveError::Syntax);
    }

    #[test]
    fn a_small_piece_letter_is_a_piece_where_no_pawn_can_move_so() {
        means("", &["nf3", "ng1f3", "nf3!", "1.nf3"], "g1f3");
        means(CASTLING, &["rf1", "rhf1"], "h1f1");
        means(CASTLING, &["ke2"], "e1e2");
        let both = "4k3/8/8/2p5/1P1B4/8/8/4K3 w - - 0 1";
        means(both, &["bxc5", "bc5"], "b4c5");
        means(both, &["be3", "Be3"], "d4e3");
        refused("", &["nf4", "bb5"], MoveError::Illegal);
        refused("", &["sf3"], MoveError::Syntax);
        let german = Letters::OTHERS.first().unwrap();
        assert!(read_move_in(&Chess::default(), "nf3", german).is_err());
    }

    /// A symbol that PGN has no number for is read, without a NAG.
    #[test]
    fn signs_are_read_from_every_block_of_symbols() {
        let start = Chess::default();
        for (word, nags, has_unknown) in [
            ("e4‼", &[3][..], false),
            ("e4⁇", &[4], false),
            ("e4⁉", &[5], false),
            ("e4⁈", &[6], false),
            ("e4！？", &[5], false),
            ("e4→", &[40], false),
            ("e4⇆", &[132], false),
            ("e4⊕", &[138], false),
            ("e4∆", &[140], false),
            ("e4!±", &[1, 16], false),
            ("e4+−", &[18], false),
            ("e4+–", &[18], false),
            ("e4−/+", &[17], false),
            ("e4=/∞", &[44], false),
            ("e4=+", &[15], false),
            ("e4N", &[146], false),
            ("e4TN!", &[146, 1], false),
            ("e4←", &[], true),
            ("e4!←", &[1], true),
            ("e4+", &[], false),
            ("e4", &[], false),
            ("⟳", &[32], false),
            ("∀", &[], true),
            ("±/", &[], true),
            ("…", &[], false),
            ("−+", &[19], false),
        ] {
            let found: Vec<u8> = trailing_annotations(word).collect();
            assert_eq!(
                (&*found, has_unknown_sign(word)),
                (nags, has_unknown),
                "{word}"
            );
            if word.starts_with('e') {
                assert_eq!(
                    read_move(&start, word).map(uci).as_deref(),
                    Ok("e2e4"),
                    "{word}"
                );
            }
        }
        // A promotion, not a novelty.
        assert_eq!(trailing_annotations("b8N").count(), 0);
        means(PAWNS, &["b8N"], "b7b8n");
        means(CASTLING, &["Ra8N"], "a1a8");
    }

    #[test]
    fn pawns_say_little() {
        means(
            PAWNS,
            &["exd", "ed", "exd5", "ed5", "e4:d5", "e4xd5", "e4d5"],
            "e4d5",
        );
        means(
            PAWNS,
            &["b8", "b8Q", "b8=Q", "b8(Q)", "b8/Q", "b8D", "b8q", "b7b8"],
            "b7b8q",
        );
        means(
            PAWNS,
            &["b8=N", "b8S", "b7b8n", "b7-b8=C", "B7B8N"],
            "b7b8n",
        );
        // No pawn can push to d5, and only one can capture there.
        means(PAWNS, &["d5", "Pxd5"], "e4d5");
        let passant = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
        means(
            passant,
            &["exd6", "exd6e.p.", "exd6ep", "exd", "ed"],
            "e5d6",
        );
        let twice = "4k3/8/3p4/3pP3/4P3/8/8/4K3 w - - 0 1";
        refused(twice, &["exd", "ed"], MoveError::Ambiguous);
        refused(PAWNS, &["b8=K", "b8P"], MoveError::Syntax);
    }

    #[test]
    fn nonsense_illegal_and_ambiguous_moves_are_distinguished() {
        refused(
            "",
            &[
                "", "x", "Xe4", "xe4", "Ee4", "hello", "e9", "Nxx", "--e4", "e4e4e4", "é4", "-",
                "∀", "/",
            ],
            MoveError::Syntax,
        );
        refused("", &["e5", "Ke2", "e2e5", "Nd2", "O-O"], MoveError::Illegal);
        let knights = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1";
        refused(knights, &["Nd2", "Sd2"], MoveError::Ambiguous);
        means(knights, &["Nbd2", "N1d2", "Nb1d2"], "b1d2");
        // A bishop from the first rank, not coordinates.
        let bishops = "4k3/8/8/8/8/4B3/8/2B1K3 w - - 0 1";
        means(bishops, &["B1d2"], "c1d2");
    }

    #[test]
    fn numbers_have_dots() {
        assert_eq!(number(&Chess::default()), "1.");
        let black = position("4k3/8/8/8/8/8/8/4K3 b - - 0 12").unwrap();
        assert_eq!(number(&black), "12...");
    }

    #[test]
    fn castling_is_never_ambiguous() {
        for (fen, written, wanted) in [
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1h1", "e1g1"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "e1c1"),
            ("r3k2r/8/8/8/8/8/8/R4K1R w KQkq - 0 1", "f1h1", "f1h1"),
            ("r3k2r/8/8/8/8/8/8/R4K1R w KQkq - 0 1", "f1g1", "f1g1"),
            ("4k3/8/8/8/8/8/8/4K1R1 w G - 0 1", "e1g1", "e1g1"),
        ] {
            let position = crate::position(fen).unwrap();
            let mv = find_uci(&position, written.as_bytes()).unwrap();
            assert_eq!(uci_of_any(mv), wanted, "{fen}");
        }
    }
}
