//! Results of games, in every form that people write.

use shakmaty::Color;

use super::{ends_word, space_in_utf8};
use crate::GameResult;

/// The result at the start of a text, and its length. All kinds of dashes are accepted,
/// also between blanks; half a point is `1/2`, `½` or `0.5`.
pub(in crate::pgn) fn result_at(text: &[u8]) -> Option<(GameResult, usize)> {
    let (white, length) = points(text)?;
    let rest = text.get(length..)?;
    let end = |length: usize| {
        let rest = text.get(length..).unwrap_or_default();
        rest.first().is_none_or(|byte| ends_word(*byte)) || space_in_utf8(rest).is_some()
    };
    let other = after_dash(rest).and_then(|(rest, dash)| {
        let (points, more) = points(rest)?;
        Some((points, length + dash + more))
    });
    let Some((black, length)) = other else {
        // A half alone is a draw, too.
        let is_draw = white == HALF;
        return (is_draw && end(length)).then_some((GameResult::Draw, length));
    };
    let result = match (white.halves, black.halves) {
        _ if white.is_decimal != black.is_decimal => return None,
        (2, 0) => GameResult::Won(Color::White),
        (0, 2) => GameResult::Won(Color::Black),
        (1, 1) => GameResult::Draw,
        _ => return None,
    };
    end(length).then_some((result, length))
}

/// The points of a player. Both have decimals or none: `1.0-0` is castling at move 1.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Points {
    halves: u8,
    is_decimal: bool,
}

impl Points {
    const fn new(halves: u8, is_decimal: bool) -> Points {
        Points { halves, is_decimal }
    }
}

const HALF: Points = Points::new(1, false);

/// The points at the start of a text, and their length.
fn points(text: &[u8]) -> Option<(Points, usize)> {
    const FORMS: [(&[u8], Points); 8] = [
        (b"1/2", HALF),
        (b"0.5", Points::new(1, true)),
        (b"1.0", Points::new(2, true)),
        (b"0.0", Points::new(0, true)),
        (b"1", Points::new(2, false)),
        (b"0", Points::new(0, false)),
        ("½".as_bytes(), HALF),
        // In Latin-1.
        (b"\xbd", HALF),
    ];
    let mut forms = FORMS.iter();
    let (form, points) = forms.find(|(form, _)| text.starts_with(form))?;
    Some((*points, form.len()))
}

/// The text after a dash and the blanks around it, and the length of dash and blanks.
fn after_dash(text: &[u8]) -> Option<(&[u8], usize)> {
    let start = text.get(blanks(text)..)?;
    let rest = start.get(dash(start)?..)?;
    let rest = rest.get(blanks(rest)..)?;
    Some((rest, text.len() - rest.len()))
}

/// Length of the dash, or the colon, at the start of a text.
pub(super) fn dash(text: &[u8]) -> Option<usize> {
    match text {
        // The last two are dashes of Windows-1252.
        [b'-' | b':' | 0x96 | 0x97, ..] => Some(1),
        [0xe2, 0x80, 0x90..=0x95, ..] | [0xe2, 0x88, 0x92, ..] => Some(3),
        _ => None,
    }
}

/// Length of the blanks at the start of a text.
fn blanks(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        length += match text.get(length..) {
            Some([b' ' | b'\t', ..]) => 1,
            Some([0xc2, 0xa0, ..]) => 2,
            _ => return length,
        };
    }
}

/// The result at the end of a movetext.
pub(in crate::pgn) fn final_result(movetext: &[u8]) -> Option<GameResult> {
    let text = movetext.trim_ascii_end();
    match text.last()? {
        b'*' => return Some(GameResult::Unknown),
        b'0' | b'1' | b'2' | b'5' | 0xbd => {}
        _ => return None,
    }
    // The longest form is `½ - ½` with wide blanks and dash.
    let longest = text.len().saturating_sub(16);
    let mut starts = longest..text.len();
    starts.find_map(|at| {
        let (result, length) = result_at(text.get(at..)?)?;
        (at + length == text.len()).then_some(result)
    })
}
