//! Decodes the moves of a block.
//!
//! The decoding of a byte depends on the number of moves before it, variations
//! included: after one wrong byte nothing can be read. So each move is checked for
//! legality, which finds such an error after a few moves.
//!
//! The compact encoding names a piece by its number and a step (see [`super::codes`]
//! and [`super::pieces`]); the simple one uses two bytes for a move:
//!
//! | bits | meaning |
//! |---|---|
//! | 0 to 5, 6 to 11 | from, to (exchanged where pieces are counted from h8); both 0: null move |
//! | 12, 13 | promotion to queen, rook, bishop, knight |
//! | 14 | the line ends with this move (compact: 255) |
//! | 15 | this move has an alternative (compact: 254 before it) |
//!
//! The order of moves is the same in both: the main line to its end, then the
//! alternatives, the latest first.

use shakmaty::{Bitboard, CastlingSide, Chess, Color, File, Move, Position, Role, Square};

use super::block::Encoding;
use super::codes::{CODES, Code};
use super::pieces::Pieces;
use crate::directions::square;
use crate::legal::from_to;
use crate::tree::{NodeId, ROOT, Tree};
use tabia_notation as notation;

/// Limit of pending alternatives; more are damage.
const MOST_ALTERNATIVES: usize = 10_000;

/// Pieces by the two bits of a promotion.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// Result of decoding besides the moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decoded {
    /// Why the rest could not be read.
    pub(super) fault: Option<Fault>,
    /// Whether the moves break off without an end mark.
    pub(super) is_open: bool,
    /// Number of codes without a known meaning.
    pub(super) unknown_codes: u64,
    /// Moves of pieces that should have no number.
    pub(super) guesses: u64,
}

/// A place where decoding cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Offset in the moves, in bytes.
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// Decodes moves into `tree`, which must be empty: a number of plies of the main line,
/// or all lines.
pub(super) fn decode(
    moves: &[u8],
    start: &Chess,
    encoding: Encoding,
    main_line: Option<usize>,
    tree: &mut Tree,
) -> Decoded {
    let mut decoder = Decoder {
        bytes: moves,
        at: 0,
        count: 0,
        encoding,
        main_line,
        line: DecodedLine {
            position: start.clone(),
            pieces: Pieces::new(start.board(), encoding.reversed),
            place: ROOT,
        },
        alternatives: Vec::new(),
        tree,
        found: Decoded::default(),
    };
    // Without moves the simple encoding has no bytes.
    let is_empty = encoding.simple && moves.is_empty();
    while !is_empty && !decoder.has_enough() {
        let at = decoder.at;
        let step = if encoding.simple {
            decoder.simple()
        } else {
            decoder.compact()
        };
        match step {
            Ok(true) => {}
            Ok(false) => break,
            Err(what) => {
                decoder.found.fault = Some(Fault { at, what });
                break;
            }
        }
    }
    decoder.found
}

/// The state of decoding in one line.
#[derive(Clone, Debug)]
struct DecodedLine {
    position: Chess,
    pieces: Pieces,
    place: NodeId,
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of moves so far.
    count: u8,
    encoding: Encoding,
    main_line: Option<usize>,
    line: DecodedLine,
    /// Where to continue when the line ends.
    alternatives: Vec<DecodedLine>,
    tree: &'a mut Tree,
    found: Decoded,
}

/// Whether there is more to read; or why decoding cannot go on.
type Continues = Result<bool, &'static str>;

impl Decoder<'_> {
    fn has_enough(&self) -> bool {
        let main_line = self.main_line;
        main_line.is_some_and(|plies| self.tree.len() >= plies)
    }

    /// The next byte, decoded. `None` at the end.
    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        let look_up = |byte: u8| self.encoding.cipher.get(usize::from(byte)).copied();
        if self.encoding.counts_first {
            look_up(byte.wrapping_sub(self.count))
        } else {
            Some(look_up(byte)?.wrapping_sub(self.count))
        }
    }

    fn word(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes([self.next()?, self.next()?]))
    }

    fn compact(&mut self) -> Continues {
        let Some(byte) = self.next() else {
            self.found.is_open = true;
            return Ok(false);
        };
        let code = CODES.get(usize::from(byte)).copied();
        match code.unwrap_or(Code::Unknown) {
            Code::Null => self.play(None),
            Code::Piece {
                role,
                number,
                files,
                ranks,
                wraps,
            } => {
                let from = self.find(role, number)?;
                let forward: i8 = match (role, self.line.position.turn()) {
                    (Role::Pawn, Color::Black) => -1,
                    _ => 1,
                };
                let to = if wraps {
                    round_the_edge(from, files, ranks)
                } else {
                    on_the_board(from, files * forward, ranks * forward)?
                };
                self.play_from_to(from, to, None)
            }
            Code::Castle(side) => self.castle(side),
            Code::TwoBytes => {
                let Some(word) = self.word() else {
                    self.found.is_open = true;
                    return Err("the block ends inside a move");
                };
                let (from, to, promotion) = split(word);
                self.play_from_to(from, to, Some(promotion))
            }
            Code::Filler => Ok(true),
            Code::Unknown => {
                self.found.unknown_codes += 1;
                Ok(true)
            }
            Code::Begin => self.begin(),
            Code::End => self.end(),
        }
    }

    fn simple(&mut self) -> Continues {
        if self.at >= self.bytes.len() {
            self.found.is_open = true;
            return Ok(false);
        }
        let Some(word) = self.word() else {
            self.found.is_open = true;
            return Err("the block ends inside a move");
        };
        if word & 0x8000 != 0 {
            self.begin()?;
        }
        if word & 0x0fff == 0 {
            self.play(None)?;
        } else {
            let (mut from, mut to, promotion) = split(word);
            if self.encoding.reversed {
                std::mem::swap(&mut from, &mut to);
            }
            self.play_from_to(from, to, Some(promotion))?;
        }
        if word & 0x4000 != 0 {
            return self.end();
        }
        Ok(true)
    }

    fn begin(&mut self) -> Continues {
        if self.alternatives.len() >= MOST_ALTERNATIVES {
            return Err("too many variations are open");
        }
        // Otherwise the alternatives are not read.
        if self.main_line.is_none() {
            self.alternatives.push(self.line.clone());
        }
        Ok(true)
    }

    fn end(&mut self) -> Continues {
        match self.alternatives.pop() {
            Some(line) => {
                self.line = line;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The square of the piece with a number. If there is none, but one piece of this
    /// kind has no number, that one is meant: some programs also number fourth pieces.
    fn find(&mut self, role: Role, number: u8) -> Result<Square, &'static str> {
        let DecodedLine {
            position, pieces, ..
        } = &self.line;
        let turn = position.turn();
        let found = match role {
            Role::King => position.board().king_of(turn),
            _ => pieces.find(turn, role, number),
        };
        if let Some(square) = found {
            return Ok(square);
        }
        let other = pieces
            .only_other(position.board(), turn, role)
            .filter(|_| role != Role::Pawn);
        self.found.guesses += u64::from(other.is_some());
        other.ok_or("the piece that moves is not on the board")
    }

    fn castle(&mut self, side: CastlingSide) -> Continues {
        let castles = self.line.position.castling_moves(side);
        let m = castles.first().ok_or("an illegal castling")?;
        self.play(Some(*m))
    }

    /// Plays a move from square to square; `promotion` is `None` for other moves.
    fn play_from_to(&mut self, from: Square, to: Square, promotion: Option<Role>) -> Continues {
        let position = &self.line.position;
        let role = position.board().role_at(from).unwrap_or(Role::King);
        if self.encoding.chess960 && from == to {
            return self.castle(CastlingSide::from_king_side(to.file() > File::D));
        }
        if role == Role::King && from.rank() == to.rank() && from.file().distance(to.file()) == 2 {
            return self.castle(CastlingSide::from_king_side(to.file() > from.file()));
        }
        let promotes = role == Role::Pawn && Bitboard::BACKRANKS.contains(to);
        let promotion = promotion.filter(|_| promotes);
        let m = from_to(role, from, to, promotion, position).ok_or("an illegal move")?;
        self.play(Some(m))
    }

    /// Plays a legal move, or a null move.
    fn play(&mut self, step: Option<Move>) -> Continues {
        let line = &mut self.line;
        match step {
            Some(m) => {
                if !self.encoding.simple {
                    line.pieces.play(line.position.turn(), m);
                }
                line.position.play_unchecked(m);
            }
            None => line.position = notation::pass(&line.position).ok_or("a null move in check")?,
        }
        line.place = self
            .tree
            .add(line.place, step)
            .ok_or("more moves than a game can have")?;
        self.count = self.count.wrapping_add(1);
        Ok(true)
    }
}

/// The squares from and to, and the promotion piece.
fn split(word: u16) -> (Square, Square, Role) {
    let six_bits = |shift: u32| square(word >> shift & 63);
    let [queen, rook, bishop, knight] = PROMOTIONS;
    let promotion = match word >> 12 & 3 {
        0 => queen,
        1 => rook,
        2 => bishop,
        _ => knight,
    };
    (six_bits(0), six_bits(6), promotion)
}

/// A square some files and ranks away, wrapping around the edges.
fn round_the_edge(from: Square, files: i8, ranks: i8) -> Square {
    let (file, rank) = away(from, files, ranks);
    square((file.rem_euclid(8) << 3 | rank.rem_euclid(8)) as u16)
}

/// A square some files and ranks away; an error if it is off the board.
fn on_the_board(from: Square, files: i8, ranks: i8) -> Result<Square, &'static str> {
    let (file, rank) = away(from, files, ranks);
    if (0..8).contains(&file) && (0..8).contains(&rank) {
        Ok(square((file << 3 | rank) as u16))
    } else {
        Err("a move off the board")
    }
}

/// File and rank from 0; may be off the board.
fn away(from: Square, files: i8, ranks: i8) -> (i8, i8) {
    (
        u32::from(from.file()) as i8 + files,
        u32::from(from.rank()) as i8 + ranks,
    )
}
