//! UCI lines that the program itself writes, formatted by vampirc-uci.
//!
//! Lines of other programs are parsed by [`crate::gui`] and [`crate::engine`]:
//! the parser of vampirc-uci panics on some lines and misreads others.
//!
//! # Examples
//!
//! ```
//! use tabia_uci::message::{UciMessage, UciOptionConfig, id_name, set_option};
//!
//! assert_eq!(id_name("Example 1.0"), "id name Example 1.0");
//! let hash = UciOptionConfig::Spin {
//!     name: "Hash".to_owned(),
//!     default: Some(16),
//!     min: Some(1),
//!     max: Some(1024),
//! };
//! let line = UciMessage::Option(hash).to_string();
//! assert_eq!(line, "option name Hash type spin default 16 min 1 max 1024");
//! assert_eq!(set_option("Hash", Some("64")), "setoption name Hash value 64");
//! ```

use shakmaty::uci::UciMove;
use shakmaty::{Role, Square};
pub use vampirc_uci::{UciMessage, UciOptionConfig};
use vampirc_uci::{UciPiece, UciSquare};

/// `bestmove`, with an optional ponder move. Null moves and drops, which vampirc-uci
/// does not support, are written in UCI notation.
#[must_use]
pub fn best_move(best: &UciMove, reply: Option<&UciMove>) -> String {
    let Some(best_move) = to_vampirc(best) else {
        return format!("bestmove {best}");
    };
    let ponder = reply.and_then(to_vampirc);
    UciMessage::BestMove { best_move, ponder }.to_string()
}

/// `setoption` for a button, without a value.
#[must_use]
pub fn set_option(name: &str, value: Option<&str>) -> String {
    let (name, value) = (name.to_owned(), value.map(str::to_owned));
    match value {
        Some(_) => UciMessage::SetOption { name, value }.to_string(),
        None => format!("setoption name {name}"),
    }
}

/// `id name`
#[must_use]
pub fn id_name(name: &str) -> String {
    let (name, author) = (Some(name.to_owned()), None);
    UciMessage::Id { name, author }.to_string()
}

/// `id author`
#[must_use]
pub fn id_author(author: &str) -> String {
    let (name, author) = (None, Some(author.to_owned()));
    UciMessage::Id { name, author }.to_string()
}

fn to_vampirc(mv: &UciMove) -> Option<vampirc_uci::UciMove> {
    let UciMove::Normal {
        from,
        to,
        promotion,
    } = *mv
    else {
        return None;
    };
    let square = |square: Square| UciSquare {
        file: square.file().char(),
        rank: u8::from(square.rank()) + 1,
    };
    let piece = |role: Role| match role {
        Role::Pawn => UciPiece::Pawn,
        Role::Knight => UciPiece::Knight,
        Role::Bishop => UciPiece::Bishop,
        Role::Rook => UciPiece::Rook,
        Role::Queen => UciPiece::Queen,
        Role::King => UciPiece::King,
    };
    Some(vampirc_uci::UciMove {
        from: square(from),
        to: square(to),
        promotion: promotion.map(piece),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_the_protocol_has_them() {
        let mv = |text: &str| text.parse::<UciMove>().unwrap();
        let best = best_move(&mv("e7e8q"), Some(&mv("a1a2")));
        assert_eq!(best, "bestmove e7e8q ponder a1a2");
        assert_eq!(best_move(&mv("e2e4"), None), "bestmove e2e4");
        assert_eq!(best_move(&UciMove::Null, None), "bestmove 0000");
        assert_eq!(
            set_option("Hash", Some("64")),
            "setoption name Hash value 64"
        );
        assert_eq!(set_option("Clear Hash", None), "setoption name Clear Hash");
        assert_eq!(id_name("A B 1"), "id name A B 1");
        assert_eq!(id_author("C D"), "id author C D");
    }
}
