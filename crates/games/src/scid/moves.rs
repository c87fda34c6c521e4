//! The moves of a game: the number of a piece and a move code.
//!
//! A byte contains the number of the piece in the list of its side (4 high bits)
//! and the code of its move (4 low bits); see [`Pieces`]. Spare king codes are marks:
//!
//! | byte | meaning |
//! |---|---|
//! | 0B | the next byte is a NAG of the last move, whatever its value |
//! | 0C | a comment; its text is stored after all moves, in the order of the marks |
//! | 0D | a variation begins, an alternative to the last move |
//! | 0E | the variation ends |
//! | 0F | the game ends |
//!
//! Squares are numbered from a1 = 0, b1 = 1 to h8 = 63. King, 1 to 8:
//! steps of -9, -8, -7, -1, +1, +7, +8, +9; 9, 10: castles long, short; 0:
//! null move. Knight, 1 to 8: -17, -15, -10, -6, +6, +10, +15, +17. Rook, 0
//! to 7: to that file; 8 to 15: to that rank. Bishop: to file `code & 7`,
//! on the rising diagonal, from 8 on the falling one. Queen: as a rook, but
//! its own file means a diagonal, and the next byte is 64 plus the square.
//! Pawn, 0, 1, 2: +7, +8, +9; the same with promotion to queen (3), rook (6),
//! bishop (9), knight (12); 15: two steps. Black pawns go down.
//!
//! Only the lists are needed to decode the bytes, so unused moves are skipped
//! without a board.

use std::sync::LazyLock;

use shakmaty::{
    Bitboard, Board, ByColor, CastlingSide, Chess, Color, File, Position, Rank, Role, Square,
};

/// An item of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Move(ScidMove),
    Null,
    Nag(u8),
    Comment,
    Begin,
    End,
    /// The game ends.
    Stop,
}

/// A move as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScidMove {
    Castle(CastlingSide),
    Plain {
        role: Role,
        from: Square,
        to: Square,
        promotion: Option<Role>,
    },
}

/// Why the moves cannot be decoded further.
pub(super) type Fault = &'static str;

/// Greatest depth of variations; deeper ones mean damage.
const DEEPEST: usize = 1024;

/// Maximum pieces of a side.
const MOST: usize = 16;

/// The pieces of a side by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    pieces: [(Square, Role); MOST],
    count: u8,
    /// The squares of the pieces: a fast test, because most squares are empty.
    squares: Bitboard,
}

impl Side {
    const EMPTY: Side = Side {
        pieces: [(Square::A1, Role::Pawn); MOST],
        count: 0,
        squares: Bitboard::EMPTY,
    };

    #[inline]
    fn live(&self) -> &[(Square, Role)] {
        self.pieces.get(..self.count.into()).unwrap_or_default()
    }

    fn add(&mut self, square: Square, role: Role) -> Option<()> {
        let at = usize::from(self.count);
        *self.pieces.get_mut(at)? = (square, role);
        self.count += 1;
        self.squares.add(square);
        if role == Role::King && at > 0 {
            // The king gets number 0; the piece that had this number gets the king's.
            self.pieces.swap(0, at);
        }
        Some(())
    }

    #[inline]
    fn number(&self, square: Square) -> Option<usize> {
        let mut live = self.live().iter();
        let place = || live.position(|(other, _)| *other == square);
        self.squares.contains(square).then(place).flatten()
    }

    /// Removes a piece; the last one takes its number.
    fn remove(&mut self, number: usize, square: Square) {
        self.squares.discard(square);
        let last = usize::from(self.count).saturating_sub(1);
        self.pieces.swap(number, last);
        self.count = last as u8;
    }

    #[inline]
    fn put(&mut self, number: usize, square: Square, role: Role) {
        if let Some(piece) = self.pieces.get_mut(number) {
            self.squares.discard(piece.0);
            self.squares.add(square);
            *piece = (square, role);
        }
    }
}

/// The lists of both sides, the side to move, and the castling state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    sides: ByColor<Side>,
    turn: Color,
}

impl Pieces {
    /// The lists of the usual start: king, other pieces from a to h, then pawns.
    pub(super) fn usual() -> Pieces {
        static USUAL: LazyLock<Pieces> = LazyLock::new(Pieces::new);
        *USUAL
    }

    fn new() -> Pieces {
        let board = Board::default();
        let mut sides = ByColor::new_with(|_| Side::EMPTY);
        for color in Color::ALL {
            let back = color.fold_wb(Rank::First, Rank::Eighth);
            let pawns = color.fold_wb(Rank::Second, Rank::Seventh);
            let square = |rank| move |file| Square::from_coords(file, rank);
            let king = Square::from_coords(File::E, back);
            let others = File::ALL.into_iter().map(square(back));
            let others = others.filter(|square| *square != king);
            let pawns = File::ALL.into_iter().map(square(pawns));
            for square in std::iter::once(king).chain(others).chain(pawns) {
                let role = board.role_at(square).unwrap_or(Role::Pawn);
                let _ = sides.get_mut(color).add(square, role);
            }
        }
        let turn = Color::White;
        Pieces { sides, turn }
    }

    /// The lists of a position: from a8 to h8, then a7, down to h1. `None` if a side
    /// has too many pieces.
    pub(super) fn from_position(position: &Chess) -> Option<Pieces> {
        let mut sides = ByColor::new_with(|_| Side::EMPTY);
        for rank in Rank::ALL.into_iter().rev() {
            for file in File::ALL {
                let square = Square::from_coords(file, rank);
                if let Some(piece) = position.board().piece_at(square) {
                    sides.get_mut(piece.color).add(square, piece.role)?;
                }
            }
        }
        Some(Pieces {
            sides,
            turn: position.turn(),
        })
    }

    fn play(&mut self, number: usize, step: ScidMove, rooks: &Rooks) -> Result<(), Fault> {
        match step {
            ScidMove::Castle(side) => self.castle(side, rooks),
            ScidMove::Plain {
                role,
                from,
                to,
                promotion,
            } => self.go(number, from, to, promotion.unwrap_or(role)),
        }
    }

    fn castle(&mut self, side: CastlingSide, rooks: &Rooks) -> Result<(), Fault> {
        let us = self.turn;
        self.turn = !us;
        let mine = self.sides.get_mut(us);
        let rook = *side_of(rooks.get(us), side);
        let rook = mine.number(rook).ok_or("an illegal castling")?;
        let rank = us.fold_wb(Rank::First, Rank::Eighth);
        let (king_to, rook_to) = (side.king_to_file(), side.rook_to_file());
        mine.put(0, Square::from_coords(king_to, rank), Role::King);
        mine.put(rook, Square::from_coords(rook_to, rank), Role::Rook);
        // In Chess960 the rook may have left the square that the king went to.
        mine.squares = mine.live().iter().map(|(square, _)| *square).collect();
        Ok(())
    }

    /// Moves piece `number`, which is a `role` after the move.
    #[inline(always)]
    fn go(&mut self, number: usize, from: Square, to: Square, role: Role) -> Result<(), Fault> {
        let us = self.turn;
        self.turn = !us;
        let (mine, theirs) = match us {
            Color::White => (&mut self.sides.white, &mut self.sides.black),
            Color::Black => (&mut self.sides.black, &mut self.sides.white),
        };
        let mut taken = to;
        if role == Role::Pawn && from.file() != to.file() && !theirs.squares.contains(to) {
            // En passant.
            taken = Square::from_coords(to.file(), from.rank());
        }
        match theirs.number(taken) {
            Some(0) => return Err("a move that takes the king"),
            Some(captured) => theirs.remove(captured, taken),
            None => {}
        }
        mine.put(number, to, role);
        Ok(())
    }
}

/// The rooks that castle, of each side: short, long.
pub(super) type Rooks = ByColor<[Square; 2]>;

/// The rooks of the usual start.
pub(super) const USUAL_ROOKS: Rooks = ByColor {
    white: [Square::H1, Square::A1],
    black: [Square::H8, Square::A8],
};

/// The start squares of the rooks that can castle: in Chess960 on any file.
pub(super) fn rooks(position: &Chess) -> Rooks {
    ByColor::new_with(|color: Color| {
        let rank = color.fold_wb(Rank::First, Rank::Eighth);
        CastlingSide::ALL.map(|side| {
            let usual = match side {
                CastlingSide::KingSide => File::H,
                CastlingSide::QueenSide => File::A,
            };
            let known = position.castles().rook(color, side);
            known.unwrap_or(Square::from_coords(usual, rank))
        })
    })
}

fn side_of(rooks: &[Square; 2], side: CastlingSide) -> &Square {
    let [short, long] = rooks;
    match side {
        CastlingSide::KingSide => short,
        CastlingSide::QueenSide => long,
    }
}

/// State of the line that is being encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineState {
    now: Pieces,
    before: Pieces,
    rooks: Rooks,
}

impl LineState {
    pub(super) fn new(pieces: Pieces, rooks: Rooks) -> LineState {
        LineState {
            now: pieces,
            before: pieces,
            rooks,
        }
    }

    /// The number of the side to move's piece on a square.
    pub(super) fn number(&self, square: Square) -> Option<usize> {
        self.now.sides.get(self.now.turn).number(square)
    }

    /// Plays a move of a piece, or a null move.
    pub(super) fn play(&mut self, step: Option<(usize, ScidMove)>) -> Result<(), Fault> {
        self.before = self.now;
        match step {
            Some((number, step)) => self.now.play(number, step, &self.rooks),
            None => {
                self.now.turn = !self.now.turn;
                Ok(())
            }
        }
    }

    /// Takes back the last move.
    pub(super) fn back(&mut self) {
        self.now = self.before;
    }
}

/// Decodes the moves of a game one after the other.
pub(super) struct Tokens<'b> {
    bytes: &'b [u8],
    at: usize,
    rooks: Rooks,
    now: Pieces,
    /// The lists before the last move, if a variation follows it.
    before: Option<Pieces>,
    /// The lists (now, before) of the lines around the current variation.
    open: Vec<(Pieces, Option<Pieces>)>,
}

impl<'b> Tokens<'b> {
    pub(super) fn new(bytes: &'b [u8], pieces: Pieces, rooks: Rooks) -> Tokens<'b> {
        Tokens {
            bytes,
            at: 0,
            rooks,
            now: pieces,
            before: None,
            open: Vec::new(),
        }
    }

    /// How many bytes have been read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.bytes.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte.ok_or("it ends without the mark of its end")
    }

    /// Copies the lists before a move if a variation follows it, directly or after
    /// its NAGs and comments. Other moves do not need the slow copy.
    #[inline(always)]
    fn remember(&mut self) {
        self.before = None;
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        while let [MARKS_FIRST..=MARKS_LAST, ..] = rest {
            rest = match rest {
                [0x0c, rest @ ..] | [0x0b, _, rest @ ..] => rest,
                [0x0d, ..] => {
                    self.before = Some(self.now);
                    return;
                }
                _ => return,
            };
        }
    }

    /// Inlined with everything it calls: returning results through memory, byte by
    /// byte, stalls the processor.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Token, Fault> {
        let byte = self.byte()?;
        if matches!(byte, 0 | MARKS_FIRST..=MARKS_LAST) {
            return self.mark(byte);
        }
        let (number, code) = (usize::from(byte >> 4), byte & 15);
        let turn = self.now.turn;
        let (from, role) = *(self.now.sides.get(turn).live().get(number))
            .ok_or("a move of a piece that is not on the board")?;
        if let (Role::King, 9 | 10) = (role, code) {
            let side = CastlingSide::from_king_side(code == 10);
            self.remember();
            self.now.castle(side, &self.rooks)?;
            return Ok(Token::Move(ScidMove::Castle(side)));
        }
        let (to, promotion) = self
            .target(role, from, code)
            .ok_or("a move off the board")?;
        self.remember();
        self.now.go(number, from, to, promotion.unwrap_or(role))?;
        Ok(Token::Move(ScidMove::Plain {
            role,
            from,
            to,
            promotion,
        }))
    }

    /// Decodes a mark or a null move.
    fn mark(&mut self, byte: u8) -> Result<Token, Fault> {
        match byte {
            0x0b => Ok(Token::Nag(self.byte()?)),
            0x0c => Ok(Token::Comment),
            0x0d => {
                let before = self.before.ok_or("a variation before any move")?;
                if self.open.len() >= DEEPEST {
                    return Err("too many variations inside each other");
                }
                self.open.push((self.now, self.before));
                (self.now, self.before) = (before, None);
                Ok(Token::Begin)
            }
            0x0e => {
                let line = self.open.pop();
                (self.now, self.before) = line.ok_or("the end of a variation that never began")?;
                Ok(Token::End)
            }
            0x0f if self.open.is_empty() => Ok(Token::Stop),
            0x0f => Err("it ends inside a variation"),
            _ => {
                self.remember();
                self.now.turn = !self.now.turn;
                Ok(Token::Null)
            }
        }
    }

    /// The target square of a code, and the promotion piece; `None` if the target is
    /// off the board or the same square.
    #[inline(always)]
    fn target(&mut self, role: Role, from: Square, code: u8) -> Option<(Square, Option<Role>)> {
        let mut promotion = None;
        let to = match role {
            Role::King => jump(from, code, &KING)?,
            Role::Knight => jump(from, code, &KNIGHT)?,
            Role::Queen if code == u8::from(from.file()) => {
                Square::try_from(self.byte().ok()?.checked_sub(64)?).ok()?
            }
            Role::Queen | Role::Rook if code < 8 => Square::from_coords(file(code), from.rank()),
            Role::Queen | Role::Rook => Square::from_coords(from.file(), rank(code)),
            Role::Bishop => {
                let file = file(code);
                let files = i32::from(file) - i32::from(from.file());
                let ranks = if code < 8 { files } else { -files };
                Square::from_coords(file, from.rank().offset(ranks)?)
            }
            Role::Pawn => {
                let (becomes, step) = *PAWN.get(usize::from(code))?;
                promotion = becomes;
                moved(from, self.now.turn.fold_wb(step, -step))?
            }
        };
        (to != from).then_some((to, promotion))
    }
}

/// Codes that are not moves, except the null move, are between these two.
const MARKS_FIRST: u8 = 0x0b;
const MARKS_LAST: u8 = 0x0f;

/// Steps of the codes from 1 on.
const KING: [i32; 8] = [-9, -8, -7, -1, 1, 7, 8, 9];
const KNIGHT: [i32; 8] = [-17, -15, -10, -6, 6, 10, 15, 17];

/// The promotion piece and White's step for each pawn code.
const PAWN: [(Option<Role>, i32); 16] = {
    let (queen, rook) = (Some(Role::Queen), Some(Role::Rook));
    let (bishop, knight) = (Some(Role::Bishop), Some(Role::Knight));
    let becomes = [None, queen, rook, bishop, knight];
    let mut table = [(None, 16); 16];
    let mut code = 0;
    while code < 15 {
        table[code] = (becomes[code / 3], 7 + code as i32 % 3);
        code += 1;
    }
    table
};

#[inline]
fn file(code: u8) -> File {
    File::new(u32::from(code & 7))
}

#[inline]
fn rank(code: u8) -> Rank {
    Rank::new(u32::from(code & 7))
}

#[inline]
fn jump(from: Square, code: u8, steps: &[i32; 8]) -> Option<Square> {
    moved(from, *steps.get(usize::from(code.checked_sub(1)?))?)
}

/// Adds a step to a square; `None` across the edge.
#[inline]
fn moved(from: Square, step: i32) -> Option<Square> {
    let to = from.offset(step)?;
    (from.file().distance(to.file()) <= 2).then_some(to)
}
