//! Positions as text.

use shakmaty::fen::{Fen, ParseFenError};
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, File, FromSetup as _,
    Position as _, PositionError, Rank, Role, Setup, Square,
};

/// Highest length of a position text, in bytes: a FEN has fewer than 100, an EPD with its
/// operations some hundreds.
const LONGEST: usize = 2000;

/// Highest length of a FEN in bytes, unless its counters have many digits.
const LONGEST_FEN: usize = 96;

/// Why a text cannot be read as a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenError {
    /// The text is too long for a FEN.
    #[error("a FEN has at most {LONGEST} characters")]
    Long,
    /// The text is not a FEN.
    #[error("the FEN \"{fen}\" cannot be read: {reason}")]
    Syntax {
        /// The beginning of the text.
        fen: String,
        /// What is wrong.
        reason: FenFault,
    },
    /// The rules of chess cannot be applied to the position.
    #[error("the FEN \"{fen}\" is not a legal position: {reason}")]
    Illegal {
        /// The beginning of the text.
        fen: String,
        /// What is wrong.
        reason: IllegalPosition,
    },
}

/// The field of a FEN that is wrong, and how. Words of the text are shortened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenFault {
    /// The board has another number of ranks than eight.
    #[error("a board has 8 ranks with / between them, this has {ranks}")]
    Ranks {
        /// How many there are.
        ranks: usize,
    },
    /// A character of the board is neither a piece nor a number of empty squares.
    #[error("\"{letter}\" on rank {rank} is not a piece")]
    Piece {
        /// The rank, 8 to 1.
        rank: usize,
        /// The character.
        letter: char,
    },
    /// A rank has another number of squares than eight.
    #[error("rank {rank} has {squares} squares instead of 8")]
    Squares {
        /// The rank, 8 to 1.
        rank: usize,
        /// How many it has.
        squares: usize,
    },
    /// The second field is not a side.
    #[error("the side to move is w or b, not \"{0}\"")]
    Turn(String),
    /// The third field is not castling rights.
    #[error("castling rights are some of KQkq or -, not \"{0}\"")]
    Castling(String),
    /// The fourth field is not a square.
    #[error("the en passant square is one as e3 or -, not \"{0}\"")]
    EnPassant(String),
    /// The fifth or sixth field is not a number, or too large.
    #[error("a counter is a whole number up to {max}, not \"{0}\"", max = u32::MAX)]
    Counter(String),
    /// Something after a whole FEN, or another flaw.
    #[error("this is not the form of a FEN")]
    Form,
}

impl FenFault {
    /// What is wrong in the fields of a text that the parser has refused.
    fn find(fields: &[&str], error: &ParseFenError) -> FenFault {
        let field = |at: usize| fields.get(at).unwrap_or(&"").chars().take(20).collect();
        match error {
            ParseFenError::InvalidTurn => FenFault::Turn(field(1)),
            ParseFenError::InvalidCastling => FenFault::Castling(field(2)),
            ParseFenError::InvalidEpSquare => FenFault::EnPassant(field(3)),
            ParseFenError::InvalidHalfmoveClock => FenFault::Counter(field(4)),
            ParseFenError::InvalidFullmoves => FenFault::Counter(field(5)),
            _ => of_board(fields.first().unwrap_or(&"")).unwrap_or(FenFault::Form),
        }
    }
}

/// What is wrong with the first field.
fn of_board(board: &str) -> Option<FenFault> {
    let ranks = board.split('/').count();
    if ranks != 8 {
        return Some(FenFault::Ranks { ranks });
    }
    (1..=8).rev().zip(board.split('/')).find_map(|(rank, row)| {
        let mut squares = 0;
        for letter in row.chars() {
            squares += match letter {
                '1'..='8' => letter.to_digit(10)? as usize,
                // Marks the piece before it as promoted.
                '~' => 0,
                _ if Role::from_char(letter).is_some() => 1,
                _ => return Some(FenFault::Piece { rank, letter }),
            };
        }
        (squares != 8).then_some(FenFault::Squares { rank, squares })
    })
}

/// The rules of chess cannot be applied to a position: a king is missing, or the side that
/// has moved is in check, for example. The text says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IllegalPosition(String);

impl From<IllegalPosition> for String {
    fn from(reason: IllegalPosition) -> String {
        reason.0
    }
}

/// Reads a position: a FEN of four to six fields, or an EPD with operations (`hmvc` and
/// `fmvn` are the counters, others are skipped). Quotes, `fen`, `position fen` or `[FEN
/// "..."]` around it, `_` for spaces, and any notation of castling rights are allowed.
/// The empty text and `startpos` are the start position. Missing fields are completed:
/// White is to move, with all castling rights that kings and rooks allow, no en passant
/// square, and counters 0 and 1; [`is_incomplete`] tells whether any is missing.
///
/// # Errors
///
/// The text is not a position; the error says why.
///
/// # Examples
///
/// ```
/// use tabia_notation::{fen, position};
///
/// for (text, read) in [
///     ("8/8/8/8/8/8/8/K1k5_b_-_-_3_40", "8/8/8/8/8/8/8/K1k5 b - - 3 40"),
///     ("[FEN \"7k/8/8/8/8/8/8/K7 w - - 2 3\"]", "7k/8/8/8/8/8/8/K7 w - - 2 3"),
///     ("4k3/8/8/8/8/8/8/4K2R w K - hmvc 3; fmvn 40;", "4k3/8/8/8/8/8/8/4K2R w K - 3 40"),
///     ("4k3/8/8/8/8/8/8/4K2R", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
/// ] {
///     assert_eq!(fen(&position(text)?), read);
/// }
/// let error = position("8/8/8/8/8/8/8/8 w - -").unwrap_err().to_string();
/// assert!(error.ends_with("not a legal position: illegal position: empty board, missing king"));
/// # Ok::<(), tabia_notation::FenError>(())
/// ```
pub fn position(text: &str) -> Result<Chess, FenError> {
    let mut setup = match usual(text) {
        Some(setup) => setup,
        None => match any(text)? {
            Some(setup) => setup,
            None => return Ok(Chess::default()),
        },
    };
    setup.ep_square = setup.ep_square.map(|square| behind_pawn(&setup, square));
    let mode = CastlingMode::detect(&setup);
    position_of(setup, mode).map_err(|reason| FenError::Illegal {
        fen: shown(&plain(text)),
        reason,
    })
}

/// Reads a FEN that is written as most programs write it, so that no field can mean
/// anything else: in half the time of [`any`], which reads the same from it. `None` for
/// everything else.
fn usual(text: &str) -> Option<Setup> {
    let is_letters = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_counter = |word: &str| (1..=9).contains(&word.len()) && is_number(word);
    let mut fields = text.split(' ');
    let [board, turn, rights, en_passant, halfmoves, fullmoves] =
        std::array::from_fn(|_| fields.next().unwrap_or_default());
    let is_usual = text.len() <= LONGEST_FEN
        && fields.next().is_none()
        && board.contains('/')
        && board
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'/')
        && matches!(turn, "w" | "b")
        && (rights == "-" || !rights.is_empty() && is_letters(rights))
        && (en_passant == "-" || matches!(en_passant.as_bytes(), [b'a'..=b'h', b'1'..=b'8']))
        && is_counter(halfmoves)
        && is_counter(fullmoves);
    let parsed = is_usual.then(|| Fen::from_ascii(text.as_bytes()).ok())?;
    parsed.map(Fen::into_setup)
}

/// Reads any text for [`position`]; `None` for the start position.
fn any(text: &str) -> Result<Option<Setup>, FenError> {
    if text.len() > LONGEST {
        return Err(FenError::Long);
    }
    let plain = plain(text);
    if plain.is_empty() || plain.eq_ignore_ascii_case("startpos") {
        return Ok(None);
    }
    let whole = with_counters(&as_meant(&plain));
    let fields: Vec<&str> = whole.split_whitespace().collect();
    let fault = |reason| FenError::Syntax {
        fen: shown(&plain),
        reason,
    };
    let parsed: Fen = whole
        .parse()
        .map_err(|error| fault(FenFault::find(&fields, &error)))?;
    // The parser takes the largest number for a larger one.
    let is_large = |word: &&&str| word.parse::<u32>().is_err() && is_number(word);
    if let Some(word) = fields.iter().skip(4).find(is_large) {
        return Err(fault(FenFault::Counter(word.chars().take(20).collect())));
    }
    let mut setup = parsed.into_setup();
    if fields.len() < 3 {
        setup.castling_rights = possible_rights(&setup.board);
    }
    Ok(Some(setup))
}

/// A text without what surrounds it.
fn plain(text: &str) -> String {
    strip_wrapping(text).replace('_', " ")
}

/// The beginning of a text.
fn shown(plain: &str) -> String {
    plain.chars().take(100).collect()
}

/// The crate `chess` 3.2.0 writes the square of the pawn that has just moved, and not the
/// one behind it.
fn behind_pawn(setup: &Setup, square: Square) -> Square {
    let behind = square.xor(Square::A2);
    let is_pawn = setup.board.piece_at(square) == Some(Role::Pawn.of(!setup.turn));
    match is_pawn && behind.rank() == setup.turn.relative_rank(Rank::Sixth) {
        true => behind,
        false => square,
    }
}

/// A flaw of a FEN: what a field says that cannot be so, and how [`position`] reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FenFlaw {
    /// Fields are missing.
    #[error("the FEN is not complete: read as \"{0}\"")]
    Form(String),
    /// A field is written otherwise than in a FEN.
    #[error("the FEN is not written in the usual form: read as \"{0}\"")]
    Spelling(String),
    /// There are other castling rights than kings and rooks allow.
    #[error("castling rights {written} are impossible here: read as {read}")]
    Castling {
        /// The field.
        written: String,
        /// What it is read as.
        read: String,
    },
    /// No pawn has just passed the en passant square.
    #[error("en passant square {written} is impossible here: read as {read}")]
    EnPassant {
        /// The field.
        written: String,
        /// What it is read as.
        read: String,
    },
    /// A counter is greater than in any game.
    #[error("counter {written} is too large: read as {read}")]
    Counter {
        /// The field.
        written: String,
        /// What it is read as.
        read: u32,
    },
}

/// The FEN in the form that every engine reads, and the flaws that it had. `read` is the
/// position that [`position`] reads from it.
///
/// Programs differ in what they do about a flaw or another form, and some end: so nobody is
/// sent the text as it was written. Form alone is not a flaw: what is around the FEN, blanks,
/// letters in another order, and ordinary castling rights as files. Rights that the letters
/// `KQkq` cannot say stay as they are.
#[must_use]
pub fn corrected(written: &str, read: &Chess) -> (String, Vec<FenFlaw>) {
    /// Stockfish 19 takes halfmoves up to 32,767, and full moves up to 100,000 at least.
    const MOST: [u32; 2] = [32_767, 100_000];
    let whole = fen_text(&Fen::from_position(read, EnPassantMode::Always));
    let whole: Vec<&str> = whole.split(' ').collect();
    let written = strip_wrapping(written).replace('_', " ");
    let mut fields: Vec<String> = written
        .split_whitespace()
        .take(6)
        .map(str::to_owned)
        .collect();
    let has_form = match fields.as_slice() {
        [board, turn, _, _, counters @ ..] => {
            of_board(board).is_none()
                && matches!(turn.as_str(), "w" | "b")
                && counters.iter().all(|counter| is_number(counter))
        }
        _ => false,
    };
    let mut flaws = Vec::new();
    if has_form {
        let (written, read_as) = (&fields[2], whole[2].to_owned());
        let is_right = |letter: &u8| *letter != b'-';
        let rights = written.bytes().filter(is_right).count();
        let is_flawed = rights != read.castles().castling_rights().count();
        if is_flawed {
            flaws.push(FenFlaw::Castling {
                written: written.clone(),
                read: read_as.clone(),
            });
        }
        if is_flawed || has_ordinary_rights(read) {
            fields[2] = read_as;
        }
        let (written, read_as) = (&fields[3], whole[3].to_owned());
        if !written.eq_ignore_ascii_case(&read_as) && !is_nothing(written, &read_as) {
            flaws.push(FenFlaw::EnPassant {
                written: written.clone(),
                read: read_as.clone(),
            });
        }
        fields[3] = read_as;
    } else {
        fields = whole.iter().map(|&field| field.to_owned()).collect();
    }
    for (field, most) in fields.iter_mut().skip(4).zip(MOST) {
        if field.parse().is_ok_and(|number: u32| number > most) {
            flaws.push(FenFlaw::Counter {
                written: field.clone(),
                read: most,
            });
            *field = most.to_string();
        }
    }
    let fen = fields.join(" ");
    if !has_form {
        flaws.insert(
            0,
            match written.split_whitespace().count() {
                ..4 => FenFlaw::Form(fen.clone()),
                4.. => FenFlaw::Spelling(fen.clone()),
            },
        );
    }
    (fen, flaws)
}

/// Whether all castling rights belong to a king and rooks on the squares of standard chess.
fn has_ordinary_rights(position: &Chess) -> bool {
    let rights = position.castles().castling_rights();
    let rooks = possible_rights(position.board());
    rights.is_subset(rooks)
}

/// Whether a field is dashes, and is read as the single `-` of an empty field.
fn is_nothing(written: &str, read: &str) -> bool {
    read == "-" && !written.is_empty() && written.bytes().all(|byte| byte == b'-')
}

/// Whether a text for [`position`] has a board, but lacks fields after it, which are
/// completed. The four fields of an EPD are complete.
#[must_use]
pub fn is_incomplete(text: &str) -> bool {
    let plain = strip_wrapping(text).replace('_', " ");
    let mut fields = plain.split_whitespace();
    let has_board = fields.next().is_some_and(|board| board.contains('/'));
    let after: Vec<&str> = fields.collect();
    let lacks = match after.as_slice() {
        [_, _, _, counter] => is_number(counter),
        after => after.len() < 3,
    };
    has_board && lacks
}

/// Whether a word has digits only.
fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The rooks on their start squares whose king is on its start square.
fn possible_rights(board: &Board) -> Bitboard {
    let of_side = |color: Color| {
        let rank = color.fold_wb(Rank::First, Rank::Eighth);
        let king = Square::from_coords(File::E, rank);
        let rooks = [File::A, File::H].map(|file| Square::from_coords(file, rank));
        let is_home = board.piece_at(king) == Some(Role::King.of(color));
        let rooks = rooks.into_iter().filter(move |_| is_home);
        rooks.filter(move |square| board.piece_at(*square) == Some(Role::Rook.of(color)))
    };
    of_side(Color::White).chain(of_side(Color::Black)).collect()
}

/// Makes a position of a board. Odd positions are accepted, unless the rules cannot be applied
/// to them. Castling rights without a rook and en
/// passant squares without a pawn are removed.
///
/// # Errors
///
/// The rules cannot be applied; the error says why.
pub fn position_of(setup: Setup, mode: CastlingMode) -> Result<Chess, IllegalPosition> {
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .map_err(|error| IllegalPosition(error.to_string()))
}

/// The position with colours exchanged and the board flipped.
#[must_use]
pub fn colours_exchanged(position: &Chess) -> Chess {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.mirror();
    let mode = CastlingMode::detect(&setup);
    // If a position is legal, so is its mirror image.
    position_of(setup, mode).unwrap_or_else(|_| position.clone())
}

/// Plies after the usual start position, by the move number.
#[must_use]
pub fn ply(fullmoves: u32, turn: Color) -> u32 {
    2 * fullmoves.saturating_sub(1) + turn.fold_wb(0, 1)
}

/// The FEN of a position. The en passant square is written only if a pawn can capture
/// there.
#[must_use]
pub fn fen(position: &Chess) -> String {
    fen_text(&Fen::from_position(position, EnPassantMode::Legal))
}

/// The text of a FEN. Made by hand: a formatter takes three times as long.
pub fn fen_text(fen: &Fen) -> String {
    let mut text = Vec::with_capacity(LONGEST_FEN);
    fen.append_ascii_to(&mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Removes what surrounds a FEN in the place it was copied from.
fn strip_wrapping(text: &str) -> &str {
    const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '«', '»'];
    let mut text = text.trim().trim_matches(['[', ']']).trim();
    loop {
        let before = text;
        text = text.trim_matches(QUOTES).trim_matches([',', ';']).trim();
        for word in ["position", "fen", "epd", "fen:", "epd:"] {
            text = without_word(text, word).unwrap_or(text);
        }
        if text == before {
            return text;
        }
    }
}

/// The rest of a text after a given first word.
fn without_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = text.get(word.len()..)?;
    (head.eq_ignore_ascii_case(word) && rest.starts_with([' ', '\t', '"', '_']))
        .then(|| rest.trim_start_matches([' ', '\t', '_']))
}

/// The fields as they are meant, where programs write them in another way: the board with
/// escaped slashes, the side as a word or in upper case, the en passant square in upper case,
/// and several dashes, or a dash for a counter.
fn as_meant(text: &str) -> String {
    let nothing = |word: &str| word.bytes().all(|byte| byte == b'-');
    let meant = |(at, word): (usize, &str)| match at {
        0 => word.replace("\\/", "/"),
        1 if ["w", "white"]
            .iter()
            .any(|side| word.eq_ignore_ascii_case(side)) =>
        {
            "w".to_owned()
        }
        1 if ["b", "black"]
            .iter()
            .any(|side| word.eq_ignore_ascii_case(side)) =>
        {
            "b".to_owned()
        }
        2 | 3 if nothing(word) => "-".to_owned(),
        3 => word.to_ascii_lowercase(),
        4 if nothing(word) => "0".to_owned(),
        5 if nothing(word) => "1".to_owned(),
        _ => word.to_owned(),
    };
    let fields: Vec<String> = text.split_whitespace().enumerate().map(meant).collect();
    fields.join(" ")
}

/// The six fields of a FEN, with the counters from the operations of an EPD.
fn with_counters(text: &str) -> String {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let (Some(first), Some(rest)) = (fields.get(..4), fields.get(4..)) else {
        return fields.join(" ");
    };
    let plain = |word: &&str| word.trim_end_matches(';').to_owned();
    let numbers: Vec<String> = rest
        .iter()
        .take(2)
        .map(plain)
        .take_while(|word| is_number(word))
        .collect();
    let tail = rest.get(numbers.len()).unwrap_or(&"");
    if numbers.len() == 1 || !tail.starts_with(|c: char| c.is_ascii_alphabetic()) {
        // Counters, or text that the parser will report.
        return fields.join(" ");
    }
    let operand = |name: &str, usual: &str| {
        let word = rest.iter().skip_while(|word| **word != name).nth(1);
        let word = word.map(plain).filter(|word| is_number(word));
        word.unwrap_or_else(|| usual.to_owned())
    };
    let [halfmoves, fullmoves] = match <[String; 2]>::try_from(numbers) {
        Ok(counters) => counters,
        Err(_) => [operand("hmvc", "0"), operand("fmvn", "1")],
    };
    format!("{} {halfmoves} {fullmoves}", first.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";

    #[test]
    fn missing_fields_are_completed_by_one_rule() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
        const ROOKS: &str = "r3k3/8/8/8/8/8/8/1R2K2R";
        for (board, fields, completed) in [
            (START, "", "w KQkq - 0 1"),
            (START, " b", "b KQkq - 0 1"),
            (START, " w Kq", "w Kq - 0 1"),
            (START, " w - - 7", "w - - 7 1"),
            (ROOKS, "", "w Kq - 0 1"),
            (ROOKS, " b", "b Kq - 0 1"),
            (ROOKS, "_b", "b Kq - 0 1"),
            (ROOKS, " b -", "b - - 0 1"),
            ("r4k2/8/8/8/8/8/8/R4K2", "", "w - - 0 1"),
        ] {
            let text = format!("{board}{fields}");
            let whole = format!("{board} {completed}");
            assert_eq!(position(&text).map(|read| fen(&read)), Ok(whole.clone()));
            assert!(is_incomplete(&text) && !is_incomplete(&whole), "{text}");
        }
        for text in ["startpos", "", &format!("{START} w - -"), "1. e4"] {
            assert!(!is_incomplete(text), "{text}");
        }
        let said = fen(&position("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1").unwrap());
        assert_eq!(said, "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1");
    }

    #[test]
    fn the_wrong_field_is_named() {
        for (text, reason) in [
            (
                "8/8 w",
                "a board has 8 ranks with / between them, this has 2",
            ),
            (
                "hello",
                "a board has 8 ranks with / between them, this has 1",
            ),
            (
                "rnbqkbnr/pppxpppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                "\"x\" on rank 7 is not a piece",
            ),
            (
                "rnbqkbnr/pppppppp/8/8/4P2/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
                "rank 4 has 7 squares instead of 8",
            ),
            (
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNRR",
                "rank 1 has 9 squares instead of 8",
            ),
            (
                "4k3/8/8/8/8/8/8/4K3 x",
                "the side to move is w or b, not \"x\"",
            ),
            (
                "4k3/8/8/8/8/8/8/4K3 w yes",
                "castling rights are some of KQkq or -, not \"yes\"",
            ),
            (
                "4k3/8/8/8/8/8/8/4K3 w - e9",
                "the en passant square is one as e3 or -, not \"e9\"",
            ),
            (
                "4k3/8/8/8/8/8/8/4K3 w - - 0 12345678901234567890",
                "a counter is a whole number up to 4294967295, not \"12345678901234567890\"",
            ),
            (
                "4k3/8/8/8/8/8/8/4K3 w - - 99999999999 1",
                "a counter is a whole number up to 4294967295, not \"99999999999\"",
            ),
        ] {
            let error = position(text).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("the FEN \"{text}\" cannot be read: {reason}")
            );
        }
    }

    /// What is read the short way is what is read the long way, with any byte changed.
    #[test]
    fn both_ways_read_the_same() {
        let mut count = 0;
        for fen in [
            AFTER_E4,
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 12 123456789",
            "8/5k2/8/8/8/2K5/8/4R3 w - - 0 1",
        ] {
            assert!(usual(fen).is_some(), "{fen}");
            for at in 0..fen.len() {
                for byte in " _-/\\0189azehHKkPqwbWX~[]\";.,\t".chars() {
                    for end in [at, at + 1] {
                        let text = format!("{}{byte}{}", &fen[..at], &fen[end..]);
                        if let Some(setup) = usual(&text) {
                            assert_eq!(any(&text), Ok(Some(setup)), "{text}");
                            count += 1;
                        }
                    }
                }
            }
        }
        assert!(count > 500, "{count}");
    }

    #[test]
    fn a_fen_is_read_however_it_is_dressed() {
        let four = AFTER_E4.trim_end_matches(" 0 1");
        for text in [
            AFTER_E4.to_owned(),
            four.to_owned(),
            format!("  {AFTER_E4}\n"),
            format!("fen {AFTER_E4}"),
            format!("FEN: {AFTER_E4}"),
            format!("position fen {AFTER_E4}"),
            format!("\"{AFTER_E4}\""),
            format!("'fen {AFTER_E4}'"),
            format!("[FEN \"{AFTER_E4}\"]"),
            AFTER_E4.replace(' ', "_"),
            AFTER_E4.replace("- 0", "e3 0"),
            format!("{four} bm e5 c5; id \"no. 1\";"),
            format!("{four} hmvc 0; fmvn 1;"),
            format!("{four} 0 1; id \"counters and operations\";"),
            format!("{four};"),
        ] {
            let read = position(&text);
            assert_eq!(read.as_ref().map(fen), Ok(AFTER_E4.to_owned()), "{text}");
        }
        for text in ["", " ", "startpos", "position startpos"] {
            assert_eq!(position(text), Ok(Chess::default()), "{text}");
        }
        let counted = position(&format!("{four} fmvn 12; hmvc 3;")).unwrap();
        assert!(fen(&counted).ends_with(" b KQkq - 3 12"));
    }

    #[test]
    fn odd_positions_are_positions() {
        // Rights without a rook, an en passant square without a pawn, twenty queens, and
        // a check that no move can give.
        for (text, wanted) in [
            ("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1", "w - - 0 1"),
            ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "w - - 0 1"),
            ("4k3/8/8/3Pp3/8/8/8/4K3 w - e5 0 1", "w - e6 0 1"),
            ("7k/8/8/8/8/8/PPPPPPPP/QQQQKQ2 w - - 0 1", "w - - 0 1"),
        ] {
            let read = position(text).map(|read| fen(&read));
            assert!(
                read.as_ref().is_ok_and(|fen| fen.ends_with(wanted)),
                "{read:?}"
            );
        }
    }

    #[test]
    fn a_flaw_is_corrected_in_its_field_only() {
        const BOARD: &str = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR";
        for (written, right, said) in [
            ("b KQkq e3 0 3", "b KQkq e3 0 3", ""),
            ("b qkQK e3", "b KQkq e3", ""),
            ("b QK  e3 0 3", "b KQ e3 0 3", ""),
            ("b HAha E3 4 3", "b KQkq e3 4 3", ""),
            ("b HAkq e3 4 3", "b KQkq e3 4 3", ""),
            ("b - - 0 3 and more", "b - - 0 3", ""),
            ("b -- -- 0 3", "b - - 0 3", ""),
            (
                "Black hA - - -",
                "b Qk - 0 1",
                "the FEN is not written in the usual form: read as \"rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b Qk - 0 1\"",
            ),
            (
                "b KQkq e4 0 3",
                "b KQkq e3 0 3",
                "en passant square e4 is impossible here: read as e3",
            ),
            (
                "b HAha e6 7 3",
                "b KQkq - 7 3",
                "en passant square e6 is impossible here: read as -",
            ),
            (
                "w KQkq e3 0 3",
                "w KQkq - 0 3",
                "en passant square e3 is impossible here: read as -",
            ),
            (
                "b KQkqK - 0 3",
                "b KQkq - 0 3",
                "castling rights KQkqK are impossible here: read as KQkq",
            ),
            (
                "b KQ - 70000 4000000000",
                "b KQ - 32767 100000",
                "counter 70000 is too large: read as 32767; \
                 counter 4000000000 is too large: read as 100000",
            ),
            (
                "b",
                "b KQkq - 0 1",
                "the FEN is not complete: read as \"rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\"",
            ),
        ] {
            let written = format!("{BOARD} {written}");
            let read = position(&written).unwrap();
            let (fen, flaws) = corrected(&written, &read);
            let flaws: Vec<String> = flaws.iter().map(ToString::to_string).collect();
            assert_eq!(fen, format!("{BOARD} {right}"));
            assert_eq!(flaws.join("; "), said);
        }
        let rooks = "4k2r/8/8/8/8/8/8/R3K3 w KQkq - 0 1";
        let (fen, _) = corrected(rooks, &position(rooks).unwrap());
        assert_eq!(fen, "4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1");

        // Rights that only files can say, and what is around a FEN.
        let shuffled = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1";
        for dressed in [
            shuffled.to_owned(),
            format!("\"{shuffled}\""),
            format!("'{shuffled}' "),
        ] {
            let found = corrected(&dressed, &position(&dressed).unwrap());
            assert_eq!(found, (shuffled.to_owned(), Vec::new()));
        }
        let escaped = AFTER_E4.replace('/', "\\/");
        let (fen, flaws) = corrected(&escaped, &position(&escaped).unwrap());
        assert_eq!(fen, AFTER_E4);
        assert_eq!(flaws, [FenFlaw::Spelling(fen)]);
    }

    /// What is corrected has no flaw, and is the same position.
    #[test]
    fn a_corrected_fen_is_right() {
        let mut count = 0;
        for board in [
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR",
            "r3k2r/8/8/3Pp3/8/8/8/1R2K1R1",
            "4k3/4p3/8/8/8/8/8/4K3",
        ] {
            let squares = Square::ALL.iter().map(ToString::to_string);
            for square in squares.chain(["-".to_owned()]) {
                for rest in ["w KQkq", "b KQkq", "w -", "b GBha", "b AHah", "w KKK"] {
                    let written = format!("{board} {rest} {square} 3 40");
                    let read = position(&written).unwrap();
                    let (fen, flaws) = corrected(&written, &read);
                    count += usize::from(!flaws.is_empty());
                    let again = position(&fen).unwrap();
                    assert_eq!(again, read, "{written}");
                    assert_eq!(corrected(&fen, &again), (fen.clone(), vec![]), "{written}");
                }
            }
        }
        assert!(count > 1000, "{count}");
    }

    #[test]
    fn what_is_no_position_is_shown_and_not_at_length() {
        for (text, reason) in [
            ("8/8 w", "cannot be read"),
            ("8/8/8/8/8/8/8/8 w - - 0 1", "not a legal position"),
            ("hello", "cannot be read"),
            ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "cannot be read"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 x1 ?", "cannot be read"),
        ] {
            let error = position(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let long = position(&"8/".repeat(600_000)).unwrap_err().to_string();
        assert!(long.len() < 100);
    }
}
