//! Numbers of promotion pieces.
//!
//! The document counts knight to queen from 1 to 4, in two bits, which cannot
//! store a 4. The author's program counts from 2 to 5 in three bits. A file follows
//! the document if it contains a 1, which the author's program never writes, and
//! no 5.

use std::io::{self, BufReader, Read};

use shakmaty::Role;

use super::element::{Element, Elements, text};
use super::{MAGIC_BYTES, length};

/// A numbering of the promotion pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    /// 2 to 5: used by the author's program.
    Program,
    /// 1 to 4: described in the document.
    Document,
}

impl Numbering {
    /// The piece of a number; `None` if no piece has it.
    pub(super) fn role(self, number: u16) -> Option<Role> {
        let from_one = match self {
            Numbering::Document => number,
            // 1 can only mean the knight.
            Numbering::Program if number == 1 => 1,
            Numbering::Program => number.checked_sub(1)?,
        };
        Some(match from_one {
            1 => Role::Knight,
            2 => Role::Bishop,
            3 => Role::Rook,
            4 => Role::Queen,
            _ => return None,
        })
    }
}

/// The author's program's number of a piece; 0 for none.
pub(super) fn number(role: Option<Role>) -> u16 {
    match role {
        Some(Role::Knight) => 2,
        Some(Role::Bishop) => 3,
        Some(Role::Rook) => 4,
        Some(Role::Queen) => 5,
        _ => 0,
    }
}

/// Detects the numbering from all games of a .dcg file, up to the first damage.
pub(super) fn detect(file: impl Read) -> io::Result<Numbering> {
    let mut file = BufReader::with_capacity(256 << 10, file);
    io::copy(&mut file.by_ref().take(MAGIC_BYTES as u64), &mut io::sink())?;
    let mut has_one = false;
    let mut game = Vec::new();
    while let Some(length) = next_length(&mut file)? {
        game.clear();
        if file.by_ref().take(length).read_to_end(&mut game)? == 0 && length > 0 {
            break;
        }
        for number in numbers(&game) {
            match number {
                5 => return Ok(Numbering::Program),
                1 => has_one = true,
                _ => {}
            }
        }
    }
    Ok(if has_one {
        Numbering::Document
    } else {
        Numbering::Program
    })
}

fn next_length(file: &mut impl Read) -> io::Result<Option<u64>> {
    let mut bytes = Vec::with_capacity(length::MOST_BYTES);
    file.take(1).read_to_end(&mut bytes)?;
    let more = match bytes.first() {
        Some(first @ 0x81..=0x84) => u64::from(first & 0x0f),
        _ => 0,
    };
    file.take(more).read_to_end(&mut bytes)?;
    Ok(length::read(&bytes).map(|(length, _)| length as u64))
}

/// The promotion numbers of the moves that go from a side's seventh rank to its
/// last.
fn numbers(game: &[u8]) -> Vec<u16> {
    let mut elements = Elements(match game.split_first() {
        Some((0, rest)) => rest,
        Some((1, rest)) => text(rest).map_or(&[], |(_, rest)| rest),
        _ => &[],
    });
    let mut numbers = Vec::new();
    while let Ok(Some(element)) = elements.next() {
        if let Element::Move(word) = element
            && word >> 12 != 0
            && matches!((word >> 9 & 7, word >> 3 & 7), (6, 7) | (1, 0))
        {
            numbers.push(word >> 12);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promotion_goes_from_the_seventh_rank_to_the_last_of_either_side() {
        for word in 0..6 << 12 {
            let (number, from, to) = (word >> 12, word >> 6 & 63, word & 63);
            let [high, low] = u16::to_be_bytes(word);
            let is_last = matches!((from / 8, to / 8), (6, 7) | (1, 0));
            let expected = (number > 0 && is_last).then_some(number);
            assert_eq!(
                numbers(&[0, high, low]),
                Vec::from_iter(expected),
                "{word:x}"
            );
        }
    }
}
