//! Selects positions by what is on the board.

use std::str::FromStr;

use shakmaty::{Bitboard, Chess, Color, Move, Position, Role, Square};

use crate::funnel::FunnelStep;

/// A range of numbers, both ends included; an end may be missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// The range without a share of its width at each end. If the numbers cannot be
    /// negative, a lower end of zero excludes nothing, and stays.
    pub(super) fn narrowed(self, share: f64, is_never_negative: bool) -> Range {
        let margin = share * (self.high - self.low);
        match margin.is_finite() {
            true if is_never_negative && self.low <= 0.0 => Range {
                high: self.high - margin,
                ..self
            },
            true => Range {
                low: self.low + margin,
                high: self.high - margin,
            },
            false => self,
        }
    }

    /// Whether a number is in the range.
    #[must_use]
    pub fn contains(&self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

/// A text that is not a [`Range`]; says what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseRangeError(&'static str);

impl FromStr for Range {
    type Err = ParseRangeError;

    /// Parses `90..119`, `..50`, `-20..20`.
    fn from_str(text: &str) -> Result<Range, ParseRangeError> {
        const FORM: ParseRangeError = ParseRangeError("expected two numbers as 90..119");
        let (low, high) = text.split_once("..").ok_or(FORM)?;
        let number = |text: &str, missing: f64| match text.trim() {
            "" => Ok(missing),
            text => {
                let number = text.parse().map_err(|_| FORM)?;
                f64::is_finite(number).then_some(number).ok_or(FORM)
            }
        };
        let low = number(low, f64::NEG_INFINITY)?;
        let high = number(high, f64::INFINITY)?;
        match low <= high {
            true => Ok(Range { low, high }),
            false => Err(ParseRangeError("the lower number comes first")),
        }
    }
}

/// Which queens are on the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queens {
    /// With or without queens.
    #[default]
    Any,
    /// One of each colour or more.
    Both,
    /// None.
    None,
}

/// Where the kings are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Castled {
    /// Anywhere.
    #[default]
    Any,
    /// On different wings: one on the files a to c, one on f to h.
    Opposite,
    /// Both in the middle, on the files d and e.
    None,
}

/// Conditions on a position.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BoardFilter {
    /// The side to move.
    pub side: Option<Color>,
    pub queens: Queens,
    /// Number of pieces and pawns on the board.
    pub men: Option<Range>,
    pub castled: Castled,
    /// Whether the side to move may be in check.
    pub in_check: bool,
    /// Whether captures that win material are excluded.
    pub quiet: bool,
}

impl BoardFilter {
    /// The reason to exclude a position; `None` if it meets the conditions.
    #[must_use]
    pub fn refuses(&self, position: &Chess) -> Option<FunnelStep> {
        let board = position.board();
        if self.side.is_some_and(|side| side != position.turn()) {
            return Some(FunnelStep::Side);
        }
        let wanted = match self.queens {
            Queens::Any => true,
            Queens::Both => queens(position) == [true, true],
            Queens::None => queens(position) == [false, false],
        };
        if !wanted {
            return Some(FunnelStep::Queens);
        }
        let men = board.occupied().count() as f64;
        if self.men.is_some_and(|range| !range.contains(men)) {
            return Some(FunnelStep::Men);
        }
        let wanted = match self.castled {
            Castled::Any => true,
            Castled::Opposite => is_opposite(position),
            Castled::None => wings(position) == [0, 0],
        };
        if !wanted {
            return Some(FunnelStep::Castled);
        }
        if !self.in_check && position.is_check() {
            return Some(FunnelStep::Check);
        }
        if position.is_game_over() {
            return Some(FunnelStep::Over);
        }
        (self.quiet && !is_quiet(position)).then_some(FunnelStep::Loud)
    }
}

/// Whether White, and Black, has a queen.
pub(super) fn queens(position: &Chess) -> [bool; 2] {
    let board = position.board();
    [board.white(), board.black()].map(|own| (own & board.queens()).any())
}

/// The wing of each king: -1 for the files a to c, 1 for f to h, 0 between.
fn wings(position: &Chess) -> [i8; 2] {
    [Color::White, Color::Black].map(|colour| {
        let king = position.board().king_of(colour);
        match king.map(|square| square.file().to_u32()) {
            Some(0..=2) => -1,
            Some(5..=7) => 1,
            _ => 0,
        }
    })
}

/// Whether the kings are on different wings.
pub(super) fn is_opposite(position: &Chess) -> bool {
    let [white, black] = wings(position);
    white * black < 0
}

/// Whether no capture, and no promotion, wins material by static exchange.
pub(super) fn is_quiet(position: &Chess) -> bool {
    let mut moves = position.legal_moves();
    moves.retain(|mv| mv.is_capture() || mv.is_promotion());
    moves.iter().all(|mv| exchange(position, *mv) <= 0)
}

/// Value of a piece in pawns; the king is worth more than all others.
pub(super) fn piece_value(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 100,
    }
}

/// The material that a capture wins if both sides continue to capture on its square, each
/// with its least valuable piece first, as long as it pays. Pins are ignored.
fn exchange(position: &Chess, mv: Move) -> i32 {
    let board = position.board();
    let to = mv.to();
    let mut standing = mv.promotion().unwrap_or(mv.role());
    let mut gains = vec![
        mv.capture().map_or(0, piece_value) + mv.promotion().map_or(0, piece_value)
            - i32::from(mv.is_promotion()),
    ];
    let mut occupied = board.occupied();
    if let Some(from) = mv.from() {
        occupied.discard(from);
    }
    if mv.is_en_passant() {
        occupied.discard(Square::from_coords(
            to.file(),
            mv.from().unwrap_or(to).rank(),
        ));
    }
    let mut turn = !position.turn();
    while let Some((square, role)) = least(position, to, turn, occupied) {
        let before = gains.last().copied().unwrap_or(0);
        gains.push(piece_value(standing) - before);
        standing = role;
        occupied.discard(square);
        turn = !turn;
    }
    // From the end: each side may stop capturing.
    let mut best = gains.pop().unwrap_or(0);
    while let Some(before) = gains.pop() {
        best = before.min(-best);
    }
    best
}

fn least(position: &Chess, to: Square, turn: Color, occupied: Bitboard) -> Option<(Square, Role)> {
    let board = position.board();
    let attackers = board.attacks_to(to, turn, occupied) & occupied;
    let role = |square| board.role_at(square);
    attackers
        .into_iter()
        .filter_map(|square| Some((square, role(square)?)))
        .min_by_key(|(_, role)| piece_value(*role))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_notation as notation;

    fn refused(filter: &BoardFilter, fen: &str) -> Option<FunnelStep> {
        filter.refuses(&notation::position(fen).unwrap())
    }

    #[test]
    fn ranges_hold_their_ends() {
        let range: Range = "-20..119".parse().unwrap();
        assert!(range.contains(-20.0) && range.contains(119.0) && !range.contains(119.5));
        assert!("..50".parse::<Range>().unwrap().contains(-1e9));
        for bad in ["5", "9..1", "x..", "nan..1"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }

    #[test]
    fn each_filter_names_itself() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let any = BoardFilter::default();
        assert_eq!(refused(&any, START), None);
        let of = |change: fn(&mut BoardFilter)| {
            let mut filter = BoardFilter::default();
            change(&mut filter);
            filter
        };
        let black = of(|f| f.side = Some(Color::Black));
        assert_eq!(refused(&black, START), Some(FunnelStep::Side));
        assert_eq!(
            refused(&of(|f| f.queens = Queens::None), START),
            Some(FunnelStep::Queens)
        );
        let few = of(|f| f.men = "..30".parse().ok());
        assert_eq!(refused(&few, START), Some(FunnelStep::Men));
        let opposite = of(|f| f.castled = Castled::Opposite);
        assert_eq!(refused(&opposite, START), Some(FunnelStep::Castled));
        assert_eq!(
            refused(&opposite, "1k1r4/8/8/8/8/8/8/4R1K1 w - - 0 1"),
            None
        );
        assert_eq!(refused(&of(|f| f.castled = Castled::None), START), None);
        let check = "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1";
        assert_eq!(refused(&any, check), Some(FunnelStep::Check));
        assert_eq!(refused(&of(|f| f.in_check = true), check), None);
        let mate = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
        assert_eq!(
            refused(&of(|f| f.in_check = true), mate),
            Some(FunnelStep::Over)
        );
    }

    #[test]
    fn quiet_is_where_no_capture_pays() {
        let quiet = |fen: &str| is_quiet(&notation::position(fen).unwrap());
        // A pawn that is defended, and one that is not.
        assert!(quiet("4k3/8/3p4/4p3/8/5N2/8/4K3 w - - 0 1"));
        assert!(!quiet("4k3/8/8/4p3/8/5N2/8/4K3 w - - 0 1"));
        // Two rooks in a row cannot win a defended pawn; a knight they can.
        assert!(quiet("4k3/8/3p4/4p3/8/8/4R3/4RK2 w - - 0 1"));
        assert!(!quiet("3rk3/8/8/3n4/8/8/3R4/3RK3 w - - 0 1"));
        assert!(!quiet("4k3/P7/8/8/8/8/8/4K3 w - - 0 1"));
    }
}
