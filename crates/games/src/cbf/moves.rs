//! The moves of a game.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position, Square};

use super::movelist::list;
use super::unscramble;
use crate::{Recorder, SkipReason};

/// The en passant square that the program stored before the last move of a line, and
/// after it.
#[derive(Clone, Copy, Default)]
struct EnPassant {
    before: Option<Square>,
    now: Option<Square>,
}

/// Reads moves and variations from the area's bytes, as stored in the file.
pub(super) fn read(area: &[u8], recorder: &mut Recorder<'_>) {
    let mut bytes = area.to_vec();
    let length = bytes.len();
    // The last byte marks the end of the area; the first is not scrambled.
    let end = length.saturating_sub(1);
    let mask = (length as u8).wrapping_mul(49);
    unscramble(bytes.get_mut(1..end).unwrap_or_default(), mask, 7);
    // The mask of the first byte, if it were scrambled like the others.
    let first_mask = super::series((length as u8).wrapping_mul(7), 7, length).last();
    let ep_square = recorder.position().and_then(Position::maybe_ep_square);
    let mut lines = vec![EnPassant {
        before: None,
        now: ep_square,
    }];
    for (at, byte) in bytes.iter().take(end).enumerate() {
        if recorder.is_done() {
            break;
        }
        let Some(line) = lines.last_mut() else {
            break;
        };
        match byte {
            0xff => {
                let now = line.before;
                lines.push(EnPassant { before: None, now });
                recorder.begin_variation();
            }
            0x80 => {
                if lines.len() > 1 {
                    lines.pop();
                }
                recorder.end_variation();
            }
            0x00 => break,
            _ => {
                let Some(position) = recorder.position() else {
                    recorder.drop_line();
                    continue;
                };
                let again = first_mask.filter(|_| at == 0).map(|mask| byte ^ mask);
                let found =
                    find(position, line.now, *byte).or_else(|| find(position, line.now, again?));
                let Some(m) = found else {
                    let text = format!(
                        "move {} is impossible: number {}",
                        recorder.move_number(),
                        byte & 0x7f
                    );
                    recorder.give_up_line(SkipReason::Text(text));
                    continue;
                };
                line.before = line.now;
                recorder.play(m);
                // The program does not reset the square when a side castles.
                if !m.is_castle() {
                    line.now = double_step(m);
                }
            }
        }
    }
    recorder.finish();
}

/// The legal move with a number. The high bit only means that there is an annotation.
fn find(position: &Chess, en_passant: Option<Square>, byte: u8) -> Option<Move> {
    let number = usize::from(byte & 0x7f).checked_sub(1)?;
    let moves = list(position.board(), position.turn(), en_passant);
    let (from, to, promotion) = (*moves.get(number)?)?;
    let m = UciMove::Normal {
        from,
        to,
        promotion,
    };
    m.to_move(position).ok()
}

/// The square that a pawn has jumped over.
fn double_step(m: Move) -> Option<Square> {
    let from = m.from().filter(|_| m.role() == shakmaty::Role::Pawn)?;
    let (from, to) = (u32::from(from), u32::from(m.to()));
    (from.abs_diff(to) == 16).then(|| Square::new(u32::midpoint(from, to)))
}
