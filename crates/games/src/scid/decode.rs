//! A game of the `.sg4` or `.sg5` file: tags, start, moves, comments.
//!
//! | part | content |
//! |---|---|
//! | tags | length of a name (1 to 240), the name, length of the value (1 byte), the value; 241 to 250 mean a name of [`COMMON_TAGS`]; 251 to 254 an unknown name; 255: three obsolete bytes follow; 0: no more tags |
//! | start | one byte; bit 0: a FEN that ends with a zero follows |
//! | moves | see `moves` |
//! | comments | each ends with a zero; in the order of their marks in the moves |

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, CastlingSide, Chess, Move, Position};

use super::moves::{Pieces, Rooks, ScidMove, Token, Tokens, USUAL_ROOKS, rooks};
use crate::legal::from_to;
use crate::{Game, GameParts, Recorder, SkipReason, TextEncoding};
use tabia_notation as notation;

/// Tags that are stored as a number, from 241 on.
pub(super) const COMMON_TAGS: [&str; 10] = [
    "WhiteCountry",
    "BlackCountry",
    "Annotator",
    "PlyCount",
    "EventDate",
    "Opening",
    "Variation",
    "Setup",
    "Source",
    "SetUp",
];

/// Number of the first common tag.
pub(super) const FIRST_COMMON: u8 = 241;

/// Counts of comments that do not match their marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Marks of comments without a text.
    pub(super) missing_comments: u64,
    /// Texts of comments without a mark.
    pub(super) unmarked_comments: u64,
}

/// Decodes the bytes of a game. At damage the game ends early, with [`Game::cut`].
///
/// # Errors
///
/// Not even the first position can be read.
pub(super) fn decode(
    bytes: &[u8],
    chess960: bool,
    wanted: GameParts,
    encoding: TextEncoding,
    game: &mut Game,
) -> Result<Losses, SkipReason> {
    let rest = tags(bytes, wanted, encoding, game);
    let rest = rest.ok_or_else(|| damaged("its tags are longer than the game"))?;
    let (pieces, rooks, rest) = start(rest, chess960, game)?;
    let mut losses = Losses::default();
    let mut comments = Comments::default();
    if wanted.notes {
        comments = Comments::find(Tokens::new(rest, pieces, rooks), rest);
    }
    comments.encoding = encoding;
    let mut tokens = Tokens::new(rest, pieces, rooks);
    let mut recorder = Recorder::new(wanted, game);
    while !recorder.is_done() {
        let reason = match tokens.next() {
            Ok(Token::Stop) => break,
            Ok(token) => match record(token, &mut comments, &mut recorder) {
                Ok(()) => continue,
                Err(reason) => reason,
            },
            Err(fault) => fault.to_owned(),
        };
        // Nothing after it can be trusted.
        recorder.game().cut.get_or_insert(SkipReason::Text(reason));
        break;
    }
    recorder.finish();
    drop(recorder);
    if wanted.notes && game.cut.is_none() {
        losses.missing_comments = comments.missing;
        losses.unmarked_comments = comments.texts.count() as u64;
    }
    Ok(losses)
}

fn damaged(text: &str) -> SkipReason {
    SkipReason::Text(text.to_owned())
}

/// Reads the tags; returns the bytes after them.
fn tags<'b>(
    mut bytes: &'b [u8],
    wanted: GameParts,
    encoding: TextEncoding,
    game: &mut Game,
) -> Option<&'b [u8]> {
    loop {
        let (kind, rest) = bytes.split_first()?;
        let (name, rest) = match *kind {
            0 => return Some(rest),
            255 => {
                bytes = rest.get(3..)?;
                continue;
            }
            length @ 1..FIRST_COMMON => {
                let (name, rest) = rest.split_at_checked(length.into())?;
                (Some(name), rest)
            }
            number => {
                let name = COMMON_TAGS.get(usize::from(number - FIRST_COMMON));
                (name.map(|name| name.as_bytes()), rest)
            }
        };
        let (length, rest) = rest.split_first()?;
        let (value, rest) = rest.split_at_checked((*length).into())?;
        bytes = rest;
        if let Some(name) = name {
            game.conditions.read_tag(name, value);
        }
        if let Some(name) = name.filter(|_| wanted.tags()) {
            let name = encoding.text(name);
            // These tags follow from the board.
            if !["FEN", "SetUp", "Setup"].contains(&&*name) {
                game.tags.set(&name, encoding.text(value));
            }
        }
    }
}

/// Reads the first position of the game; returns the bytes after it.
fn start<'b>(
    bytes: &'b [u8],
    chess960: bool,
    game: &mut Game,
) -> Result<(Pieces, Rooks, &'b [u8]), SkipReason> {
    let (flags, rest) = bytes
        .split_first()
        .ok_or_else(|| damaged("it ends before its moves"))?;
    game.chess960 = chess960;
    if flags & 1 == 0 {
        return Ok((Pieces::usual(), USUAL_ROOKS, rest));
    }
    let end = memchr::memchr(0, rest);
    let (fen, rest) = end
        .and_then(|end| rest.split_at_checked(end))
        .ok_or_else(|| damaged("its set-up position is longer than the game"))?;
    let rest = rest.get(1..).unwrap_or_default();
    let fen = Fen::from_ascii(fen.trim_ascii());
    let fen = fen.map_err(|error| SkipReason::Position(format!("not a FEN: {error}")))?;
    let setup = fen.into_setup();
    game.chess960 |= CastlingMode::detect(&setup).is_chess960();
    let mode = CastlingMode::from_chess960(game.chess960);
    let position = notation::position_of(setup, mode)?;
    let pieces = Pieces::from_position(&position)
        .ok_or_else(|| SkipReason::Position("more than 16 pieces of a side".to_owned()))?;
    let rooks = rooks(&position);
    if position != Chess::default() {
        game.set_up = true;
        game.start_from(position);
    }
    Ok((pieces, rooks, rest))
}

/// The comments of a game, in the order of their marks.
#[derive(Default)]
struct Comments<'b> {
    texts: Texts<'b>,
    /// Number of marks without a text.
    missing: u64,
    encoding: TextEncoding,
}

/// The texts that have not been read yet.
#[derive(Default)]
struct Texts<'b>(&'b [u8]);

impl<'b> Iterator for Texts<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = memchr::memchr(0, self.0).unwrap_or(self.0.len());
        let (text, rest) = self.0.split_at_checked(end)?;
        self.0 = rest.get(1..).unwrap_or_default();
        Some(text)
    }
}

impl<'b> Comments<'b> {
    /// Finds the comments after the end of the moves. Without that end there are
    /// none.
    fn find(mut moves: Tokens<'_>, bytes: &'b [u8]) -> Comments<'b> {
        let after = loop {
            match moves.next() {
                Ok(Token::Stop) => break bytes.get(moves.position()..),
                Ok(_) => {}
                Err(_) => break None,
            }
        };
        Comments {
            texts: Texts(after.unwrap_or_default()),
            missing: 0,
            encoding: TextEncoding::default(),
        }
    }
}

#[inline]
fn record(
    token: Token,
    comments: &mut Comments<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<(), String> {
    match token {
        Token::Move(step) => match recorder.position() {
            Some(position) => match legal(step, position) {
                Some(m) => recorder.play(m),
                None => {
                    let number = recorder.move_number();
                    return Err(format!("move {number} is impossible: {}", describe(step)));
                }
            },
            None => recorder.drop_line(),
        },
        Token::Null => {
            let number = recorder.move_number();
            if !recorder.play_null() {
                return Err(format!("move {number} is a null move in check"));
            }
        }
        Token::Nag(nag) => recorder.nag(nag),
        Token::Comment => {
            if recorder.wants_notes() {
                match comments.texts.next() {
                    Some(comment) => recorder.comment(comments.encoding.text(comment)),
                    None => comments.missing += 1,
                }
            }
        }
        Token::Begin => recorder.begin_variation(),
        Token::End => recorder.end_variation(),
        Token::Stop => {}
    }
    Ok(())
}

/// The move of a step, if it is legal.
#[inline]
fn legal(step: ScidMove, position: &Chess) -> Option<Move> {
    match step {
        ScidMove::Castle(side) => position.castling_moves(side).first().copied(),
        ScidMove::Plain {
            role,
            from,
            to,
            promotion,
        } => from_to(role, from, to, promotion, position),
    }
}

fn describe(step: ScidMove) -> String {
    match step {
        ScidMove::Castle(CastlingSide::KingSide) => "O-O".to_owned(),
        ScidMove::Castle(CastlingSide::QueenSide) => "O-O-O".to_owned(),
        ScidMove::Plain { from, to, .. } => format!("{from}{to}"),
    }
}
