//! An encoded game: its head, then its moves.
//!
//! A move takes ten bits, and two more for a promotion: the number of the piece
//! among those of its side, from a1 on, and the target square. Castling is a king
//! move to the rook's square. A text that occurred before in the block is stored
//! as a number.

use shakmaty::fen::Fen;
use shakmaty::{
    ByColor, CastlingMode, Chess, Color, EnPassantMode, Move, Position, Rank, Role, Square,
};

use super::facts::Facts;
use crate::Game;
use crate::game::{eco_code, eco_number};
use crate::legal::from_to;
use tabia_io::input::bytes::{Cursor, put_varint};
use tabia_notation as notation;

/// The data of a game before its moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Key data of the game.
    pub facts: Facts,
    /// Names of the players.
    pub names: ByColor<String>,
    /// Event as in PGN; empty if unknown.
    pub event: String,
    /// Site as in PGN; for a game of lichess only its ID.
    pub site: String,
    /// Round as in PGN.
    pub round: String,
    /// ECO code such as `C57`, zeros if unknown.
    pub eco: [u8; 3],
    /// The first position as FEN; empty for the usual start.
    pub start: String,
}

/// Start of the site of a game on lichess.
const LICHESS: &str = "https://lichess.org/";

/// Length of a lichess game ID.
const ID_LETTERS: usize = 8;

impl Head {
    /// The head of a game; `None` if the game has no result.
    #[must_use]
    pub fn from_game(game: &Game) -> Option<Head> {
        let tag = |name: &str| {
            let value = game.tags.get(name).filter(|value| *value != "?");
            value.unwrap_or_default().to_owned()
        };
        let start = match game.positions.first() {
            Some(first) if game.set_up => {
                Fen::from_position(first, EnPassantMode::Legal).to_string()
            }
            _ => String::new(),
        };
        Some(Head {
            facts: Facts::from_game(game)?,
            names: game.names.clone(),
            event: tag("Event"),
            site: tag("Site"),
            round: tag("Round"),
            eco: game.eco,
            start,
        })
    }

    /// The lichess game ID.
    #[must_use]
    pub fn lichess_id(&self) -> Option<&str> {
        let id = self.site.strip_prefix(LICHESS)?.get(..ID_LETTERS)?;
        id.bytes()
            .all(|byte| byte.is_ascii_alphanumeric())
            .then_some(id)
    }
}

/// Appends a game. `texts` are those of the block so far.
pub(super) fn encode(head: &Head, game: &Game, texts: &mut Texts, out: &mut Vec<u8>) {
    let facts = head.facts.pack().to_le_bytes();
    out.extend_from_slice(facts.get(..7).unwrap_or_default());
    let eco = eco_number(head.eco).map_or(0, |number| number + 1);
    put_varint(eco.into(), out);
    for text in [
        &head.names.white,
        &head.names.black,
        &head.event,
        &head.site,
        &head.round,
        &head.start,
    ] {
        texts.put(text, out);
    }
    put_varint(game.moves.len() as u64, out);
    let promotions = game.moves.iter().filter(|m| m.is_promotion()).count();
    let bits = 10 * game.moves.len() + 2 * promotions;
    put_varint(bits.div_ceil(8) as u64, out);
    let mut bits = Bits {
        out,
        held: 0,
        count: 0,
    };
    for (position, m) in game.positions.iter().zip(&game.moves) {
        let (from, to) = squares(*m);
        let below = position.us().0 & ((1 << u32::from(from)) - 1);
        let move_bits = below.count_ones() | u32::from(to) << 4;
        match m.promotion() {
            None => bits.put(move_bits, 10),
            Some(role) => bits.put(move_bits | (role as u32 - 2) << 10, 12),
        }
    }
    bits.end();
}

/// Appends a game that was encoded by itself, with the texts of a block. `None` if it is
/// invalid.
pub(super) fn copy<'b>(
    cursor: &mut Cursor<'b>,
    own_texts: &mut Vec<&'b str>,
    texts: &mut Texts,
    out: &mut Vec<u8>,
) -> Option<()> {
    own_texts.clear();
    out.extend_from_slice(cursor.take(7)?);
    put_varint(cursor.varint()?, out);
    for _ in 0..6 {
        texts.put(text(cursor, own_texts)?, out);
    }
    let moves = decode_moves(cursor)?;
    put_varint(moves.count as u64, out);
    put_varint(moves.bytes.len() as u64, out);
    out.extend_from_slice(moves.bytes);
    Some(())
}

/// Source and target square; castling is a king move to the rook's square.
#[must_use]
pub fn squares(m: Move) -> (Square, Square) {
    (m.from().unwrap_or(Square::A1), m.to())
}

/// The move of a piece to a square, if it is legal.
#[must_use]
pub fn move_of(
    position: &Chess,
    from: Square,
    to: Square,
    promotion: Option<Role>,
) -> Option<Move> {
    let board = position.board();
    let role = board.role_at(from)?;
    if role == Role::King && (position.us() & board.rooks()).contains(to) {
        let m = Move::Castle {
            king: from,
            rook: to,
        };
        return position.is_legal(m).then_some(m);
    }
    from_to(role, from, to, promotion, position)
}

/// Skips a game.
pub(super) fn skip<'b>(cursor: &mut Cursor<'b>, texts: &mut Vec<&'b str>) -> Option<()> {
    cursor.take(7)?;
    cursor.varint()?;
    for _ in 0..6 {
        text(cursor, texts)?;
    }
    decode_moves(cursor).map(|_| ())
}

/// Reads a game's head.
pub(super) fn decode_head<'b>(cursor: &mut Cursor<'b>, texts: &mut Vec<&'b str>) -> Option<Head> {
    let mut facts = [0; 8];
    facts.get_mut(..7)?.copy_from_slice(cursor.take(7)?);
    let eco = u16::try_from(cursor.varint()?).ok()?;
    let mut text = || text(cursor, texts).map(str::to_owned);
    Some(Head {
        facts: Facts::unpack(u64::from_le_bytes(facts)),
        names: ByColor {
            white: text()?,
            black: text()?,
        },
        event: text()?,
        site: text()?,
        round: text()?,
        start: text()?,
        eco: eco_code(eco.checked_sub(1)),
    })
}

/// The encoded moves of a game, and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moves<'b> {
    pub(super) count: usize,
    bytes: &'b [u8],
}

impl<'b> Moves<'b> {
    /// Plays the moves from the first position. Calls `each` with every position and
    /// its move until it returns false. `None` if the moves are invalid.
    pub(super) fn play(
        self,
        start: Chess,
        mut each: impl FnMut(&Chess, Move) -> bool,
    ) -> Option<()> {
        let mut bits = BitReader {
            bytes: self.bytes,
            at: 0,
        };
        let mut position = start;
        for _ in 0..self.count {
            let from = nth(position.us().0, bits.take(4)?)?;
            let to = Square::new(bits.take(6)?);
            let promotes = is_last_rank(to, position.turn())
                && position.board().role_at(from) == Some(Role::Pawn);
            let promotion = match promotes {
                true => Role::ALL.get(bits.take(2)? as usize + 1).copied(),
                false => None,
            };
            let m = move_of(&position, from, to, promotion)?;
            if !each(&position, m) {
                return Some(());
            }
            position.play_unchecked(m);
        }
        Some(())
    }
}

/// Reads the moves after the head: their number, their length in bytes, the bytes.
pub(super) fn decode_moves<'b>(cursor: &mut Cursor<'b>) -> Option<Moves<'b>> {
    let count = cursor.varint()? as usize;
    let length = cursor.varint()? as usize;
    let bytes = cursor.take(length)?;
    Some(Moves { count, bytes })
}

/// The first position of a game.
pub(super) fn start_of(head: &Head) -> Option<Chess> {
    if head.start.is_empty() {
        return Some(Chess::default());
    }
    let fen: Fen = head.start.parse().ok()?;
    notation::position_of(fen.into_setup(), CastlingMode::Standard).ok()
}

fn is_last_rank(square: Square, turn: Color) -> bool {
    square.rank() == turn.fold_wb(Rank::Eighth, Rank::First)
}

/// The square of the nth set bit.
fn nth(mut bits: u64, n: u32) -> Option<Square> {
    for _ in 0..n {
        bits &= bits.wrapping_sub(1);
    }
    (bits != 0).then(|| Square::new(bits.trailing_zeros()))
}

/// The texts of a block, each with its number.
#[derive(Debug, Default)]
pub(super) struct Texts(std::collections::HashMap<String, u64, rustc_hash::FxBuildHasher>);

impl Texts {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends a text: 1 if it is empty, 0 and the text if it is new, else its
    /// number from 2 on.
    fn put(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            out.push(1);
            return;
        }
        let next = self.0.len() as u64;
        if let Some(number) = self.0.get(text) {
            put_varint(number + 2, out);
            return;
        }
        out.push(0);
        put_varint(text.len() as u64, out);
        out.extend_from_slice(text.as_bytes());
        self.0.insert(text.to_owned(), next);
    }
}

fn text<'b>(cursor: &mut Cursor<'b>, texts: &mut Vec<&'b str>) -> Option<&'b str> {
    match cursor.varint()? {
        0 => {
            let length = cursor.varint()? as usize;
            let text = std::str::from_utf8(cursor.take(length)?).ok()?;
            texts.push(text);
            Some(text)
        }
        1 => Some(""),
        number => texts.get(usize::try_from(number - 2).ok()?).copied(),
    }
}

/// Writes numbers of a few bits each.
struct Bits<'o> {
    out: &'o mut Vec<u8>,
    held: u64,
    count: u32,
}

impl Bits<'_> {
    fn put(&mut self, number: u32, bits: u32) {
        self.held |= u64::from(number) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    fn end(self) {
        if self.count > 0 {
            self.out.push(self.held as u8);
        }
    }
}

struct BitReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl BitReader<'_> {
    /// Reads a number of at most 8 bits.
    fn take(&mut self, bits: u32) -> Option<u32> {
        let low = u32::from(*self.bytes.get(self.at / 8)?);
        let high = u32::from(self.bytes.get(self.at / 8 + 1).copied().unwrap_or(0));
        let word = (low | high << 8) >> (self.at % 8);
        self.at += bits as usize;
        (self.at <= 8 * self.bytes.len()).then_some(word & ((1 << bits) - 1))
    }
}
