//! A candidate position for a suite, as bytes: many millions of them are sorted on disk.

use std::cmp::Ordering;

use shakmaty::packed::PackedSetup;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position as _, Setup};

use super::values::PositionEval;
use tabia_book::eval::Value;
use tabia_book::polyglot::PackedMove;
use tabia_io::input::bytes::{Cursor, FNV_START, fnv1a};
use tabia_io::sort::Record;
use tabia_notation as notation;

/// The share 1: reached with certainty.
pub(super) const ALL: u64 = 1 << 60;

/// A position without counters, packed. Equal positions have equal bytes.
pub(super) fn pack(position: &Chess) -> Vec<u8> {
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.halfmoves = 0;
    setup.fullmoves = std::num::NonZeroU32::MIN;
    pack_setup(&setup)
}

fn pack_setup(setup: &Setup) -> Vec<u8> {
    // Every legal position can be packed.
    PackedSetup::pack_standard(setup).map_or_else(|_| Vec::new(), |p| p.as_bytes().to_vec())
}

/// The position of packed bytes, perhaps with given counters.
fn unpack(bytes: &[u8], counters: Option<(u32, u32)>) -> Option<Chess> {
    let setup = PackedSetup::try_from_bytes(bytes).ok()?;
    let mut setup = setup.unpack_standard().ok()?;
    if let Some((halfmoves, fullmoves)) = counters {
        setup.halfmoves = halfmoves;
        setup.fullmoves = std::num::NonZeroU32::new(fullmoves)?;
    }
    let mode = CastlingMode::detect(&setup);
    notation::position_of(setup, mode).ok()
}

/// The position with wings exchanged; `None` if a side may castle.
pub(crate) fn other_wing(position: &Chess) -> Option<Chess> {
    if position.castles().any() {
        return None;
    }
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.board.flip_horizontal();
    setup.ep_square = setup.ep_square.map(shakmaty::Square::flip_horizontal);
    notation::position_of(setup, CastlingMode::Standard).ok()
}

/// A hash of bytes, the same on every machine (FNV-1a, mixed).
pub(super) fn number_of(bytes: &[u8]) -> u64 {
    mix(fnv1a(FNV_START, bytes))
}

/// Mixes the bits of a number (the end of splitmix64).
pub(super) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A position, the line to it, and how often it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StartPosition {
    /// The position, [packed](pack).
    pub(super) own: Vec<u8>,
    /// The first position of its line, with counters; empty for the usual one.
    pub(super) start: Vec<u8>,
    /// The moves from there, two bytes each ([`PackedMove`]).
    pub(super) path: Vec<u8>,
    /// Half moves without capture or pawn move.
    pub(super) halfmoves: u32,
    pub(super) fullmoves: u32,
    /// Games through it in books.
    pub(super) book_games: u64,
    /// Games through it that were read, or lines of suites.
    pub(super) played: u64,
    /// How often a book reaches it, as parts of [`ALL`].
    pub(super) share: u64,
    /// Its index in the whole input.
    pub(super) first: u64,
    /// Its value, if known.
    pub(super) eval: Option<PositionEval>,
}

impl StartPosition {
    /// An entry for a position; `start` and `moves` lead to it.
    pub(super) fn new(position: &Chess, start: Option<&Chess>, moves: &[Move]) -> StartPosition {
        StartPosition {
            own: pack(position),
            start: start.map_or_else(Vec::new, |start| {
                pack_setup(&start.to_setup(EnPassantMode::Legal))
            }),
            path: moves.iter().flat_map(|mv| bytes_of(*mv)).collect(),
            halfmoves: position.halfmoves(),
            fullmoves: position.fullmoves().get(),
            ..StartPosition::default()
        }
    }

    /// The position, with its counters.
    pub(super) fn position(&self) -> Option<Chess> {
        unpack(&self.own, Some((self.halfmoves, self.fullmoves)))
    }

    /// The first position of the line.
    pub(super) fn first_position(&self) -> Option<Chess> {
        match self.start.as_slice() {
            [] => Some(Chess::default()),
            bytes => unpack(bytes, None),
        }
    }

    /// The line that leads to it.
    pub(super) fn line(&self) -> Option<(Vec<Chess>, Vec<Move>)> {
        let mut positions = vec![self.first_position()?];
        let mut moves = Vec::new();
        for pair in self.path.as_chunks().0 {
            let mut next = positions.last()?.clone();
            let legal = next.legal_moves();
            let found = PackedMove(u16::from_be_bytes(*pair)).find(&legal)?;
            let mv = *legal.get(found)?;
            next.play_unchecked(mv);
            positions.push(next);
            moves.push(mv);
        }
        Some((positions, moves))
    }

    /// Plies after the usual first position.
    pub(super) fn ply(&self, turn: Color) -> u32 {
        notation::ply(self.fullmoves, turn)
    }

    /// Games through it from all sources.
    pub(super) fn games(&self) -> u64 {
        self.book_games + self.played
    }

    /// Appends its bytes.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.own.len() as u8);
        out.extend(&self.own);
        out.push(self.start.len() as u8);
        out.extend(&self.start);
        out.extend((self.path.len() as u16).to_be_bytes());
        out.extend(&self.path);
        out.extend(self.halfmoves.to_be_bytes());
        out.extend(self.fullmoves.to_be_bytes());
        for number in [self.book_games, self.played, self.share, self.first] {
            out.extend(number.to_be_bytes());
        }
        match &self.eval {
            None => out.push(0),
            Some(eval) => {
                out.push(if eval.wdl.is_some() { 2 } else { 1 });
                // With mates beyond the centipawns, so that nothing is lost.
                out.extend(eval.value.to_ce(Color::White).to_be_bytes());
                out.extend(eval.depth.to_be_bytes());
                out.extend(eval.nodes.to_be_bytes());
                for share in eval.wdl.into_iter().flatten() {
                    out.extend(share.to_be_bytes());
                }
            }
        }
    }

    /// Reads the next entry into `self`.
    pub(super) fn decode(&mut self, bytes: &mut Cursor<'_>) -> Option<()> {
        let length = bytes.u8()?.into();
        refill(&mut self.own, bytes.take(length)?);
        let length = bytes.u8()?.into();
        refill(&mut self.start, bytes.take(length)?);
        let length = bytes.be_u16()?.into();
        refill(&mut self.path, bytes.take(length)?);
        self.halfmoves = bytes.be_u32()?;
        self.fullmoves = bytes.be_u32()?;
        for field in [
            &mut self.book_games,
            &mut self.played,
            &mut self.share,
            &mut self.first,
        ] {
            *field = bytes.be_u64()?;
        }
        let kind = bytes.u8()?;
        self.eval = None;
        if kind > 0 {
            let ce = bytes.be_u32()?.cast_signed();
            self.eval = Some(PositionEval {
                value: Value::from_ce(Color::White, ce)?,
                depth: bytes.be_u16()?,
                nodes: bytes.be_u64()?,
                wdl: match kind {
                    1 => None,
                    _ => Some([bytes.be_u16()?, bytes.be_u16()?, bytes.be_u16()?]),
                },
            });
        }
        Some(())
    }
}

/// A move as stored in a path.
pub(super) fn bytes_of(mv: Move) -> [u8; 2] {
    PackedMove::from_move(mv).0.to_be_bytes()
}

fn refill(to: &mut Vec<u8>, bytes: &[u8]) {
    to.clear();
    to.extend_from_slice(bytes);
}

/// A record for sorting, which brings equal positions together.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidate {
    /// The [hash](number_of) of `one`.
    pub(super) key: u64,
    /// The identity of the position: its bytes, or those of its mirror image if these are
    /// smaller.
    pub(super) one: Vec<u8>,
    /// The number of the source, from 0, so that repetitions in one book count once.
    pub(super) source: u32,
    pub(super) entry: StartPosition,
}

impl Candidate {
    /// With `mirrors` the position with colours exchanged counts as the same.
    pub(super) fn new(
        entry: StartPosition,
        position: &Chess,
        source: u32,
        mirrors: bool,
    ) -> Candidate {
        let one = match mirrors {
            true => entry
                .own
                .clone()
                .min(pack(&notation::colours_exchanged(position))),
            false => entry.own.clone(),
        };
        Candidate {
            key: number_of(&one),
            one,
            source,
            entry,
        }
    }
}

impl Record for Candidate {
    fn order(&self) -> u32 {
        (self.key >> 32) as u32
    }

    fn compare(&self, other: &Self) -> Ordering {
        let by_key = self.key.cmp(&other.key);
        by_key.then_with(|| {
            let (a, b) = (&self.entry, &other.entry);
            let one = (&self.one, &a.own, &a.start, &a.path, self.source);
            one.cmp(&(&other.one, &b.own, &b.start, &b.path, other.source))
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.key.to_be_bytes());
        out.push(self.one.len() as u8);
        out.extend(&self.one);
        out.extend(self.source.to_be_bytes());
        self.entry.encode(out);
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut bytes = Cursor::new(bytes);
        self.key = bytes.be_u64()?;
        let length = bytes.u8()?.into();
        refill(&mut self.one, bytes.take(length)?);
        self.source = bytes.be_u32()?;
        self.entry.decode(&mut bytes)?;
        Some(bytes.position())
    }

    /// Joins the same line of the same source.
    fn join(&mut self, other: &Self) -> bool {
        let (a, b) = (&mut self.entry, &other.entry);
        a.book_games = a.book_games.max(b.book_games);
        a.played += b.played;
        a.share = a.share.saturating_add(b.share);
        a.first = a.first.min(b.first);
        let counters = (b.fullmoves, b.halfmoves);
        if counters < (a.fullmoves, a.halfmoves) {
            (a.fullmoves, a.halfmoves) = counters;
        }
        true
    }
}

/// A position with a sort key.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranked {
    /// The sort key.
    pub(super) rank: (u32, u64, u64),
    pub(super) entry: StartPosition,
}

impl Record for Ranked {
    fn order(&self) -> u32 {
        self.rank.0
    }

    fn compare(&self, other: &Self) -> Ordering {
        (self.rank, &self.entry.own).cmp(&(other.rank, &other.entry.own))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.rank.0.to_be_bytes());
        out.extend(self.rank.1.to_be_bytes());
        out.extend(self.rank.2.to_be_bytes());
        self.entry.encode(out);
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut bytes = Cursor::new(bytes);
        self.rank = (bytes.be_u32()?, bytes.be_u64()?, bytes.be_u64()?);
        self.entry.decode(&mut bytes)?;
        Some(bytes.position())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Chess {
        notation::position(fen).unwrap()
    }

    #[test]
    fn entries_come_back_from_their_bytes() {
        let start = Chess::default();
        let mv = notation::read_move(&start, "e4").unwrap();
        let after = start.clone().play(mv).unwrap();
        let mut entry = StartPosition::new(&after, None, &[mv]);
        for eval in [
            None,
            Some(PositionEval {
                value: Value::cp(-37),
                depth: 20,
                nodes: 1 << 40,
                wdl: Some([100, 800, 100]),
            }),
        ] {
            entry.eval = eval;
            let candidate = Candidate::new(entry.clone(), &after, 3, true);
            let mut bytes = Vec::new();
            candidate.encode(&mut bytes);
            let mut read = Candidate::default();
            for cut in 0..bytes.len() {
                assert_eq!(read.decode(&bytes[..cut]), None);
            }
            assert_eq!(read.decode(&bytes), Some(bytes.len()));
            assert_eq!(read.entry, candidate.entry);
        }
        assert_eq!(entry.position().unwrap(), after);
        assert_eq!(entry.line().unwrap().1, [mv]);
        assert_eq!(entry.ply(Color::Black), 1);
    }

    /// The first numbers of splitmix64 from 0.
    #[test]
    fn numbers_are_mixed_as_published() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(mix(step), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(step.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn lines_to_one_position_add_up_and_the_shortest_counts() {
        let position = Chess::default();
        let of = |games: u64, fullmoves: u32, first: u64| {
            let mut entry = StartPosition::new(&position, None, &[]);
            (entry.book_games, entry.played, entry.share) = (games, games, games);
            (entry.fullmoves, entry.first) = (fullmoves, first);
            Candidate::new(entry, &position, 0, false)
        };
        let mut both = [of(3, 9, 7), of(4, 5, 8)];
        let [a, b] = &mut both;
        let (before_a, before_b) = (a.clone(), b.clone());
        assert!(a.join(&before_b) && b.join(&before_a));
        for joined in both {
            let entry = joined.entry;
            assert_eq!((entry.book_games, entry.played, entry.share), (4, 7, 7));
            assert_eq!((entry.fullmoves, entry.first), (5, 7));
        }
    }

    #[test]
    fn an_en_passant_square_counts_where_a_pawn_may_be_taken() {
        let superfluous = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1");
        let without = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 5 9");
        assert_eq!(pack(&superfluous), pack(&without));
        let real = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq";
        let (with, without) = (format!("{real} e3 0 3"), format!("{real} - 0 3"));
        assert_ne!(pack(&position(&with)), pack(&position(&without)));
    }

    #[test]
    fn mirrors_count_as_one_where_that_is_wanted() {
        let white = position("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        let black = position("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        assert_eq!(pack(&notation::colours_exchanged(&white)), pack(&black));
        for mirrors in [false, true] {
            let [a, b] = [&white, &black]
                .map(|p| Candidate::new(StartPosition::new(p, Some(p), &[]), p, 0, mirrors));
            assert_eq!(a.key == b.key, mirrors);
        }
        let endgame = position("8/8/8/3k4/8/2P5/1K6/8 w - - 0 1");
        assert_eq!(
            notation::fen(&other_wing(&endgame).unwrap()),
            "8/8/8/4k3/8/5P2/6K1/8 w - - 0 1"
        );
        assert!(other_wing(&white).is_none());
    }
}
