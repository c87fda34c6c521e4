//! The moves of a game: pieces by number, and where they go.
//!
//! A byte names the piece (4 high bits, its number in the list of its side) and
//! what it does (4 low ones); see [`Pieces`]. King moves have room for marks:
//!
//! | byte | meaning |
//! |---|---|
//! | 0B | the next byte is a NAG of the move just given, whatever its value |
//! | 0C | a comment; its text stands behind all moves, in the order of the marks |
//! | 0D | a variation begins, an alternative to the move just given |
//! | 0E | it ends |
//! | 0F | the game ends |
//!
//! Squares are numbered from a1 = 0, b1 = 1 to h8 = 63. The king does 1 to 8:
//! steps of -9, -8, -7, -1, +1, +7, +8, +9; 9, 10: castles long, short; 0:
//! passes. The knight 1 to 8: -17, -15, -10, -6, +6, +10, +15, +17. The rook 0
//! to 7: to that file; 8 to 15: to that rank. The bishop: to file `code & 7`,
//! on the rising diagonal, from 8 on the falling one. The queen as a rook, but
//! its own file means a diagonal, and the next byte is 64 and the square. The
//! pawn 0, 1, 2: +7, +8, +9; the same with promotion to queen (3), rook (6),
//! bishop (9), knight (12); 15: two steps. For Black pawns go down.
//!
//! Nothing but the lists is needed to read on, so moves that nobody wants are
//! passed over without a board.

use shakmaty::{Board, ByColor, CastlingSide, Chess, Color, File, Position, Rank, Role, Square};

/// What stands in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Move(Step),
    Null,
    Nag(u8),
    Comment,
    Begin,
    End,
    /// Of the game.
    Stop,
}

/// A move as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Castle(CastlingSide),
    Go {
        role: Role,
        from: Square,
        to: Square,
        promotion: Option<Role>,
    },
}

/// Why it cannot be read on.
pub(super) type Fault = &'static str;

/// More variations inside each other are damage.
const DEEPEST: usize = 1024;

/// Pieces of a side.
const MOST: usize = 16;

/// The pieces of a side by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    pieces: [(Square, Role); MOST],
    count: u8,
}

impl Side {
    const EMPTY: Side = Side {
        pieces: [(Square::A1, Role::Pawn); MOST],
        count: 0,
    };

    fn live(&self) -> &[(Square, Role)] {
        self.pieces.get(..self.count.into()).unwrap_or_default()
    }

    fn add(&mut self, square: Square, role: Role) -> Option<()> {
        let at = usize::from(self.count);
        *self.pieces.get_mut(at)? = (square, role);
        self.count += 1;
        if role == Role::King && at > 0 {
            // It is number 0; who was that goes to the end.
            self.pieces.swap(0, at);
        }
        Some(())
    }

    fn number(&self, square: Square) -> Option<usize> {
        self.live().iter().position(|(other, _)| *other == square)
    }

    /// The last one takes the number of a captured one.
    fn remove(&mut self, number: usize) {
        let last = usize::from(self.count).saturating_sub(1);
        self.pieces.swap(number, last);
        self.count = last as u8;
    }

    fn put(&mut self, number: usize, square: Square, role: Role) {
        if let Some(piece) = self.pieces.get_mut(number) {
            *piece = (square, role);
        }
    }
}

/// The lists of both sides, whose turn it is, and what castling needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    sides: ByColor<Side>,
    turn: Color,
}

impl Pieces {
    /// At the usual start: the king, the others from a to h, then the pawns.
    pub(super) fn usual() -> Pieces {
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

    /// In a position: from a8 to h8, then a7, down to h1. `None` if a side has
    /// too many.
    pub(super) fn of(position: &Chess) -> Option<Pieces> {
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

    fn play(&mut self, number: usize, step: Step, rooks: &Rooks) -> Result<(), Fault> {
        let us = self.turn;
        self.turn = !us;
        let (mine, theirs) = match us {
            Color::White => (&mut self.sides.white, &mut self.sides.black),
            Color::Black => (&mut self.sides.black, &mut self.sides.white),
        };
        match step {
            Step::Castle(side) => {
                let rook = *side_of(rooks.get(us), side);
                let rook = mine.number(rook).ok_or("an illegal castling")?;
                let rank = us.fold_wb(Rank::First, Rank::Eighth);
                let (king_to, rook_to) = match side {
                    CastlingSide::KingSide => (File::G, File::F),
                    CastlingSide::QueenSide => (File::C, File::D),
                };
                mine.put(0, Square::from_coords(king_to, rank), Role::King);
                mine.put(rook, Square::from_coords(rook_to, rank), Role::Rook);
            }
            Step::Go {
                role,
                from,
                to,
                promotion,
            } => {
                let passed = Square::from_coords(to.file(), from.rank());
                let captured = theirs.number(to).or_else(|| {
                    let is_diagonal = role == Role::Pawn && from.file() != to.file();
                    is_diagonal.then(|| theirs.number(passed)).flatten()
                });
                match captured {
                    Some(0) => return Err("a move that takes the king"),
                    Some(captured) => theirs.remove(captured),
                    None => {}
                }
                mine.put(number, to, promotion.unwrap_or(role));
            }
        }
        Ok(())
    }
}

/// The rooks with which each side castles: short, long.
pub(super) type Rooks = ByColor<[Square; 2]>;

/// Where the rooks stand at the start that castle later: in Chess960 anywhere.
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

/// Where the writing of a line is.
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

    /// The number of the piece on a square, of the side to move.
    pub(super) fn number(&self, square: Square) -> Option<usize> {
        self.now.sides.get(self.now.turn).number(square)
    }

    /// Plays a move of the piece with a number, or passes.
    pub(super) fn play(&mut self, step: Option<(usize, Step)>) -> Result<(), Fault> {
        self.before = self.now;
        match step {
            Some((number, step)) => self.now.play(number, step, &self.rooks),
            None => {
                self.now.turn = !self.now.turn;
                Ok(())
            }
        }
    }

    /// Goes back to where the last move was played.
    pub(super) fn back(&mut self) {
        self.now = self.before;
    }
}

/// Reads the moves of a game one after the other.
pub(super) struct Tokens<'b> {
    bytes: &'b [u8],
    at: usize,
    rooks: Rooks,
    now: Pieces,
    /// Before the move just given, if a variation follows it.
    before: Option<Pieces>,
    /// The same of the lines that variations have begun in.
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

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.bytes.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte.ok_or("it ends without the mark of its end")
    }

    /// Whether a variation comes next, or behind what belongs to a move: only
    /// then is it worth its time to remember the lists before the move.
    fn is_varied(&self) -> bool {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default();
        loop {
            rest = match rest {
                [0x0d, ..] => return true,
                [0x0c, rest @ ..] | [0x0b, _, rest @ ..] => rest,
                _ => return false,
            };
        }
    }

    pub(super) fn next(&mut self) -> Result<Token, Fault> {
        let byte = self.byte()?;
        match byte {
            0x00 => {
                self.before = self.is_varied().then_some(self.now);
                self.now.turn = !self.now.turn;
                Ok(Token::Null)
            }
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
            byte => {
                let number = usize::from(byte >> 4);
                let step = self.step(number, byte & 15)?;
                self.before = self.is_varied().then_some(self.now);
                self.now.play(number, step, &self.rooks)?;
                Ok(Token::Move(step))
            }
        }
    }

    fn step(&mut self, number: usize, code: u8) -> Result<Step, Fault> {
        let turn = self.now.turn;
        let side = self.now.sides.get(turn);
        let (from, role) = *side
            .live()
            .get(number)
            .ok_or("a move of a piece that is not on the board")?;
        let mut promotion = None;
        let to = match role {
            Role::King => match code {
                9 => return Ok(Step::Castle(CastlingSide::QueenSide)),
                10 => return Ok(Step::Castle(CastlingSide::KingSide)),
                code => jump(from, code, &[-9, -8, -7, -1, 1, 7, 8, 9], 1),
            },
            Role::Queen if code == u8::from(from.file()) => {
                let to = self.byte()?;
                to.checked_sub(64).and_then(square)
            }
            Role::Queen | Role::Rook => Some(match code {
                0..=7 => Square::from_coords(file(code), from.rank()),
                code => Square::from_coords(from.file(), rank(code)),
            }),
            Role::Bishop => {
                let files = i32::from(code & 7) - i32::from(u8::from(from.file()));
                let ranks = if code < 8 { files } else { -files };
                let target = i32::from(u8::from(from.rank())) + ranks;
                let target = u8::try_from(target).ok().filter(|rank| *rank < 8);
                target.map(|target| Square::from_coords(file(code), rank(target)))
            }
            Role::Knight => jump(from, code, &[-17, -15, -10, -6, 6, 10, 15, 17], 2),
            Role::Pawn => {
                let (kind, direction) = match code {
                    15 => (0, 16),
                    code => (code / 3, 7 + i32::from(code % 3)),
                };
                promotion = match kind {
                    0 => None,
                    1 => Some(Role::Queen),
                    2 => Some(Role::Rook),
                    3 => Some(Role::Bishop),
                    _ => Some(Role::Knight),
                };
                moved(from, turn.fold_wb(direction, -direction), 1)
            }
        };
        let to = to.filter(|to| *to != from);
        let to = to.ok_or("a move off the board")?;
        Ok(Step::Go {
            role,
            from,
            to,
            promotion,
        })
    }
}

fn file(code: u8) -> File {
    File::new(u32::from(code & 7))
}

fn rank(code: u8) -> Rank {
    Rank::new(u32::from(code & 7))
}

fn square(number: u8) -> Option<Square> {
    Square::try_from(number).ok()
}

/// The step of a code from 1 on.
fn jump(from: Square, code: u8, steps: &[i32; 8], most_files: u32) -> Option<Square> {
    let step = steps.get(usize::from(code.checked_sub(1)?))?;
    moved(from, *step, most_files)
}

/// A square some numbers away that is at most so many files away.
fn moved(from: Square, step: i32, most_files: u32) -> Option<Square> {
    let to = u8::try_from(i32::from(u8::from(from)) + step).ok();
    let to = to.and_then(square)?;
    (from.file().distance(to.file()) <= most_files).then_some(to)
}
