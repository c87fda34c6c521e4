//! Moves in short notation, without signs for captures.

use shakmaty::{CastlingSide, Chess, File, Move, Position, Rank, Role, Square};

/// What a word says about a move.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    role: Option<Role>,
    from_file: Option<File>,
    from_rank: Option<Rank>,
    to_file: Option<File>,
    to_rank: Option<Rank>,
    promotion: Option<Role>,
}

/// Whether a word looks like a move, played or not.
pub(super) fn is_move(word: &str) -> bool {
    castling(word).is_some() || parse(word).is_some()
}

/// The one legal move that a word means; `None` if there is none, or more than
/// one.
pub(super) fn find(word: &str, position: &Chess) -> Option<Move> {
    let legal = position.legal_moves();
    if let Some(side) = castling(word) {
        return legal.into_iter().find(|m| m.castling_side() == Some(side));
    }
    let wanted = parse(word)?;
    let mut found = legal.into_iter().filter(|m| wanted.is_met(*m));
    let only = found.next();
    only.filter(|_| found.next().is_none())
}

fn castling(word: &str) -> Option<CastlingSide> {
    match word {
        "0-0" | "O-O" | "o-o" => Some(CastlingSide::KingSide),
        "0-0-0" | "O-O-O" | "o-o-o" => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

impl Wanted {
    fn is_met(&self, m: Move) -> bool {
        let Some(from) = m.from().filter(|_| !m.is_castle()) else {
            return false;
        };
        let to: Square = m.to();
        // A promotion that is not said is one to a queen.
        let promotion = m.promotion() == self.promotion
            || self.promotion.is_none() && m.promotion() == Some(Role::Queen);
        promotion
            && m.role() == self.role.unwrap_or(Role::Pawn)
            && self.from_file.is_none_or(|file| file == from.file())
            && self.from_rank.is_none_or(|rank| rank == from.rank())
            && self.to_file.is_none_or(|file| file == to.file())
            && self.to_rank.is_none_or(|rank| rank == to.rank())
    }
}

/// International letters and Danish ones, which the program printed too.
fn role(letter: char) -> Option<Role> {
    Some(match letter {
        'K' => Role::King,
        'Q' | 'D' => Role::Queen,
        'R' | 'T' => Role::Rook,
        'B' | 'L' => Role::Bishop,
        'N' | 'S' => Role::Knight,
        _ => return None,
    })
}

fn parse(word: &str) -> Option<Wanted> {
    let word = word.trim_end_matches("ep").trim_end_matches("e.p.");
    let mut wanted = Wanted::default();
    let mut letters: Vec<char> = word.chars().filter(|c| !"x:-=".contains(*c)).collect();
    wanted.role = letters.first().and_then(|first| role(*first));
    if wanted.role.is_some() {
        letters.remove(0);
    } else if let Some(last) = letters.last().and_then(|last| role(*last)) {
        wanted.promotion = Some(last);
        letters.pop();
    }
    let file = |c: char| File::from_char(c);
    let rank = |c: char| Rank::from_char(c);
    match letters.as_slice() {
        // Where to, in full.
        [from @ .., to_file, to_rank] if file(*to_file).is_some() && rank(*to_rank).is_some() => {
            wanted.to_file = file(*to_file);
            wanted.to_rank = rank(*to_rank);
            match from {
                [] => {
                    // A pawn goes straight on.
                    if wanted.role.is_none() {
                        wanted.from_file = wanted.to_file;
                    }
                }
                [c] if file(*c).is_some() => wanted.from_file = file(*c),
                [c] if rank(*c).is_some() => wanted.from_rank = rank(*c),
                [f, r] if file(*f).is_some() && rank(*r).is_some() => {
                    wanted.from_file = file(*f);
                    wanted.from_rank = rank(*r);
                }
                _ => return None,
            }
        }
        // A pawn takes: from file to file.
        [from, to] if wanted.role.is_none() => {
            wanted.from_file = Some(file(*from)?);
            wanted.to_file = Some(file(*to)?);
            if wanted.from_file == wanted.to_file {
                return None;
            }
        }
        _ => return None,
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;
    use shakmaty::fen::Fen;

    fn found(fen: &str, word: &str) -> Option<String> {
        let fen: Fen = fen.parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        let m = find(word, &position)?;
        Some(crate::notation::uci(m))
    }

    #[test]
    fn short_moves_are_found_where_one_is_meant() {
        let fen = "r3k2r/1P1p4/4p3/3PN3/8/2N5/8/R3K2R w KQkq - 0 1";
        for (word, uci) in [
            ("de6", "d5e6"),
            ("de", "d5e6"),
            ("dxe6", "d5e6"),
            ("d6", "d5d6"),
            ("0-0", "e1g1"),
            ("O-O-O", "e1c1"),
            ("Nd7", "e5d7"),
            ("Ne4", "c3e4"),
            ("Se4", "c3e4"),
            ("ba8", "b7a8q"),
            ("ba8N", "b7a8n"),
            ("b8=D", "b7b8q"),
            ("Th8", "h1h8"),
        ] {
            assert_eq!(found(fen, word).as_deref(), Some(uci), "{word}");
        }
        // Nobody can go there.
        for word in ["Nc5", "Ng9", "Nb5b5b5", "e4", "Qd1"] {
            assert_eq!(found(fen, word), None, "{word}");
        }
        let two = "4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1";
        assert_eq!(found(two, "Ne4"), None);
        assert_eq!(found(two, "Nce4").as_deref(), Some("c3e4"));
        assert!(!is_move("better") && !is_move("1/2") && !is_move("Ng9"));
    }
}
