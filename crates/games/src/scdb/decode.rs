//! One game of the .dcg file.

use std::borrow::Cow;

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position, Rank, Role, Square};

use super::element::{Element, Elements, text};
use super::source::Database;
use crate::{Game, GameParts, Recorder, SkipReason};
use tabia_notation as notation;

/// Decodes the bytes of a game. At damage the game ends early.
///
/// # Errors
///
/// Not even the first position can be read.
pub(super) fn decode(
    bytes: &[u8],
    database: &Database,
    wanted: GameParts,
    game: &mut Game,
) -> Result<(), SkipReason> {
    let bytes = start(bytes, game)?;
    let mut recorder = Recorder::new(wanted, game);
    let mut elements = Elements(bytes);
    while !recorder.is_done() {
        let reason = match elements.next() {
            Ok(None) => break,
            Ok(Some(element)) => match record(&element, database, &mut recorder) {
                Ok(()) => continue,
                Err(reason) => {
                    // The rest of this line makes no sense without the move.
                    recorder.give_up_line(reason);
                    continue;
                }
            },
            Err(text) => text,
        };
        let game = recorder.game();
        game.cut.get_or_insert(SkipReason::text(reason));
        break;
    }
    recorder.finish();
    Ok(())
}

/// Reads the first position; returns the bytes after it.
fn start<'b>(bytes: &'b [u8], game: &mut Game) -> Result<&'b [u8], SkipReason> {
    let damaged = |text: &str| Err(SkipReason::text(text));
    let (marker, rest) = match bytes.split_first() {
        Some((marker, rest)) => (*marker, rest),
        None => return damaged("it is empty"),
    };
    match marker {
        0 => Ok(rest),
        1 => {
            let Some((text, rest)) = text(rest) else {
                return damaged("its set-up position is cut off");
            };
            let position = first_position(text.trim_ascii())?;
            if position != Chess::default() {
                game.set_up = true;
                game.start_from(position);
            }
            Ok(rest)
        }
        _ => damaged("its first position is of an unknown kind"),
    }
}

fn first_position(fen: &[u8]) -> Result<Chess, SkipReason> {
    let fen = Fen::from_ascii(fen);
    let fen = fen.map_err(|error| SkipReason::Position(format!("not a FEN: {error}")))?;
    let setup = fen.into_setup();
    if CastlingMode::detect(&setup).is_chess960() {
        return Err(SkipReason::Variant("Chess960".to_owned()));
    }
    Ok(notation::position_of(setup, CastlingMode::Standard)?)
}

fn record(
    element: &Element<'_>,
    database: &Database,
    recorder: &mut Recorder<'_>,
) -> Result<(), SkipReason> {
    match element {
        Element::Move(word) => {
            let Some(position) = recorder.position() else {
                recorder.drop_line();
                return Ok(());
            };
            match find_move(*word, position, database) {
                Some(m) => recorder.play(m),
                None => {
                    let text = format!(
                        "move {} is impossible: {}{}",
                        recorder.move_number(),
                        from(*word),
                        to(*word)
                    );
                    return Err(SkipReason::Text(text));
                }
            }
        }
        Element::Begin => recorder.begin_variation(),
        Element::End => recorder.end_variation(),
        Element::Comment(text) => {
            if recorder.wants_notes() {
                recorder.comment(comment(text));
            }
        }
        Element::Nags(nags) => {
            for nag in *nags {
                recorder.nag(*nag);
            }
        }
        Element::Null => {
            let number = recorder.move_number();
            if !recorder.play_null() {
                let text = format!("move {number} is a null move in check");
                return Err(SkipReason::Text(text));
            }
        }
    }
    Ok(())
}

fn comment(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn from(word: u16) -> Square {
    Square::new(u32::from(word >> 6 & 63))
}

fn to(word: u16) -> Square {
    Square::new(u32::from(word & 63))
}

/// The legal move that a word encodes.
fn find_move(word: u16, position: &Chess, database: &Database) -> Option<Move> {
    let (from, to) = (from(word), to(word));
    let is_promotion = position.board().role_at(from) == Some(Role::Pawn)
        && matches!(to.rank(), Rank::First | Rank::Eighth);
    let promotion = match word >> 12 {
        0 if is_promotion => Some(Role::Queen),
        0 => None,
        number if is_promotion => Some(database.numbering().role(number)?),
        _ => return None,
    };
    let m = UciMove::Normal {
        from,
        to,
        promotion,
    };
    let m = m.to_move(position).ok()?;
    if word >> 12 == 0 && is_promotion {
        database.unknown_promotions.add(1_u64);
    }
    Some(m)
}
