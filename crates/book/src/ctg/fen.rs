//! Fast conversion between a canonical position and its FEN.
//!
//! Converting whole books to text and back spends most of its time in the general
//! functions of the library. So this module handles the form of nearly all positions of
//! books: White to move, rights of rooks in their corners, counters 0 and 1. For all
//! others it returns `None`, and the caller uses the library.

use shakmaty::Bitboard;

use super::{CanonicalBoard, Orientation};

/// Letters by the content of a square: 0 nothing, pawn 1 to king 6, for Black 8 more.
const LETTERS: [u8; 16] = *b" PNBRQK  pnbrqk ";

/// Right, its letter, and the corner of its rook on the canonical board.
const RIGHTS: [(u8, u8, u32); 4] = [(2, b'K', 56), (1, b'Q', 0), (8, b'k', 63), (4, b'q', 7)];

/// The meaning of a byte of the board: in the low nibble the number of squares, above it
/// the piece. 0 is invalid.
static MEANINGS: [u8; 256] = {
    let mut meanings = [0; 256];
    let mut n = 1;
    while n <= 8 {
        meanings[b'0' as usize + n] = n as u8;
        n += 1;
    }
    let mut man = 0;
    while man < 16 {
        if LETTERS[man] != b' ' {
            meanings[LETTERS[man] as usize] = (man as u8) << 4 | 1;
        }
        man += 1;
    }
    meanings
};

impl CanonicalBoard {
    /// The FEN of [`CanonicalBoard::to_setup`], if it is of the usual form.
    #[must_use]
    pub fn fen(&self) -> Option<String> {
        let mut bytes = Vec::new();
        self.push_fen(&mut bytes);
        String::from_utf8(bytes)
            .ok()
            .filter(|text| !text.is_empty())
    }

    /// Appends the FEN of [`CanonicalBoard::to_setup`]; false, and nothing is appended, if it
    /// is not of the usual form.
    pub(crate) fn push_fen(&self, out: &mut Vec<u8>) -> bool {
        if self.orientation != Orientation::default() || !self.rooks_have_their_rights() {
            return false;
        }
        let mut text = Text::default();
        // Now a rank is a byte.
        let words = self.words().map(|word| Bitboard(word).flip_diagonal().0);
        for rank in (0..8).rev() {
            let [b0, b1, b2, black] = words.map(|word| u32::from((word >> (8 * rank)) as u8));
            let mut men = b0 | b1 | b2;
            let mut file = 0;
            while men != 0 {
                let next = men.trailing_zeros();
                men &= men - 1;
                text.gap(next - file);
                let bit = |word: u32| (word >> next & 1) as usize;
                let man = bit(b0) | bit(b1) << 1 | bit(b2) << 2 | bit(black) << 3;
                text.push(LETTERS[man & 15]);
                file = next + 1;
            }
            text.gap(8 - file);
            text.push(if rank > 0 { b'/' } else { b' ' });
        }
        text.push(b'w');
        text.push(b' ');
        for (right, letter, _) in RIGHTS {
            if self.castling & right != 0 {
                text.push(letter);
            }
        }
        if self.castling == 0 {
            text.push(b'-');
        }
        text.push(b' ');
        match self.en_passant {
            Some(file) => {
                text.push(b'a' + file);
                text.push(b'6');
            }
            None => text.push(b'-'),
        }
        for byte in *b" 0 1" {
            text.push(byte);
        }
        out.extend_from_slice(text.bytes.get(..text.length).unwrap_or_default());
        true
    }

    /// The board of [`CanonicalBoard::from_setup`] for a FEN, if it is valid and of the
    /// usual form.
    #[must_use]
    pub fn from_fen(text: &[u8]) -> Option<CanonicalBoard> {
        let mut words = [0_u64; 4];
        let (mut square, mut end_of_rank) = (0_u32, 8);
        let mut at = 0;
        loop {
            let byte = *text.get(at)?;
            at += 1;
            let meaning = MEANINGS[usize::from(byte)];
            let man = u64::from(meaning >> 4);
            for (n, word) in words.iter_mut().enumerate() {
                *word |= (man >> n & 1) << (square & 63);
            }
            square += u32::from(meaning & 15);
            if meaning == 0 {
                // Each rank must end in its place; otherwise one is too long.
                if square != end_of_rank {
                    return None;
                }
                end_of_rank += 8;
                match byte {
                    b'/' if square < 64 => {}
                    b' ' if square == 64 => break,
                    _ => return None,
                }
            }
        }
        // From a8, b8 ... h1 to a1, a2 ... h8.
        let place = |word: u64| Bitboard(word.swap_bytes()).flip_diagonal().0;
        let [b0, b1, b2, black] = words.map(place);
        let mut rest = text.get(at..)?.strip_prefix(b"w ")?;
        let mut castling = 0;
        for (right, letter, _) in RIGHTS {
            if let Some(tail) = rest.strip_prefix(&[letter]) {
                castling |= right;
                rest = tail;
            }
        }
        if castling == 0 {
            rest = rest.strip_prefix(b"-")?;
        }
        let en_passant = match rest {
            b" - 0 1" => None,
            [b' ', file @ b'a'..=b'h', b'6', b' ', b'0', b' ', b'1'] => Some(file - b'a'),
            _ => return None,
        };
        let board = CanonicalBoard {
            own: (b0 | b1 | b2) & !black,
            other: black,
            role_bits: [b0, b1, b2],
            castling,
            en_passant,
            pinned_en_passant: None,
            orientation: Orientation::default(),
        };
        let kings = b1 & b2;
        let one = |men: u64| (kings & men).count_ones() == 1;
        let is_well = one(board.own) && one(board.other) && board.has_room();
        (is_well && board.rooks_have_their_rights()).then_some(board)
    }

    /// Whether it has at most as many men as a game begins with.
    pub(crate) fn has_room(&self) -> bool {
        (self.own | self.other).count_ones() <= 32
    }

    /// Whether the rook of every right is in its corner.
    fn rooks_have_their_rights(&self) -> bool {
        let [b0, b1, b2, black] = self.words();
        let rooks = [b2 & !b0 & !b1 & !black, b2 & !b0 & !b1 & black];
        RIGHTS.into_iter().all(|(right, _, corner)| {
            let [white, black] = rooks;
            let rooks = if right < 4 { white } else { black };
            self.castling & right == 0 || rooks >> corner & 1 != 0
        })
    }

    /// The words of role bits, and the men of the other side.
    fn words(&self) -> [u64; 4] {
        let [b0, b1, b2] = self.role_bits;
        [b0, b1, b2, self.other]
    }
}

/// A text buffer: the longest text has 86 bytes (64 squares, seven slashes, and the other
/// fields).
struct Text {
    bytes: [u8; 128],
    length: usize,
}

impl Default for Text {
    fn default() -> Text {
        Text {
            bytes: [0; 128],
            length: 0,
        }
    }
}

impl Text {
    #[inline]
    fn push(&mut self, byte: u8) {
        self.bytes[self.length & 127] = byte;
        self.length += 1;
    }

    /// Writes a number of empty squares, unless it is 0.
    #[inline]
    fn gap(&mut self, squares: u32) {
        if squares > 0 {
            self.push(b'0' + squares as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::fen::Fen;

    use super::*;

    fn by_library(board: &CanonicalBoard) -> String {
        Fen::try_from_setup(board.to_setup()).unwrap().to_string()
    }

    /// Along random games, with and without rights and en passant captures.
    #[test]
    fn texts_are_those_of_the_library() {
        let (mut castling, mut en_passant) = (0, 0);
        for position in crate::random::games(3, 60, 120).flatten() {
            let board = CanonicalBoard::from_position(&position).unwrap();
            let board = CanonicalBoard::from_key(&board.key()).unwrap();
            let text = board.fen().unwrap();
            assert_eq!(text, by_library(&board));
            assert_eq!(CanonicalBoard::from_fen(text.as_bytes()), Some(board));
            castling |= 1 << board.castling;
            en_passant |= board.en_passant.map_or(0, |file| 1 << file);
        }
        // Nearly all combinations of rights and en passant files have occurred.
        assert!(i32::count_ones(castling) > 8 && i32::count_ones(en_passant) > 4);
    }

    #[test]
    fn what_is_not_of_the_usual_form_is_left_to_the_library() {
        let usual = "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1";
        let board = CanonicalBoard::from_fen(usual.as_bytes()).unwrap();
        assert_eq!(board.fen().as_deref(), Some(usual));
        for text in [
            "r3k2r/8/8/3pP3/8/8/8/R3K2R b KQkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R w QKkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d3 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 3 9",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1 ",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R w  d6 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K1R1 w KQkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R~ w KQkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R[] w KQkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3KK1R w - - 0 1",
            "r3k2r/8/8/3pP3/8/8/7/R3K2R w KQkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/9/R3K2R w KQkq d6 0 1",
            "r3k2r/8/8/3pP4/7/8/8/R3K2R w KQkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/8/8/R3K2R w KQkq d6 0 1",
            "r3k2r/8/8/3pP3/8/8/R3K2R w KQkq d6 0 1",
            "4k3/pppppppp/pppppppp/8/8/PPPPPPPP/PPPPPPPP/4K3 w - - 0 1",
            "r3k2r/8/8/3pP3/8/8/8/R3K2R",
            "",
            "/",
            " w - - 0 1",
        ] {
            assert_eq!(CanonicalBoard::from_fen(text.as_bytes()), None, "{text}");
        }
        // A right without its rook has another letter.
        let alone = CanonicalBoard {
            castling: 2,
            ..CanonicalBoard::from_fen(b"4k3/8/8/8/8/8/8/4K3 w - - 0 1").unwrap()
        };
        assert_eq!(alone.fen(), None);
    }
}
