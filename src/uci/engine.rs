//! What a line of the engine means.

use super::line::{first_word, rest_after, text, words};
use super::vampirc;

/// The kind of a line of the engine, told by its first word alone. `info`
/// lines, by far the most, are not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineReply {
    /// `id name ...`, `id author ...`
    Id,
    /// `option name ...`
    Option,
    /// `uciok`
    UciOk,
    /// `readyok`
    ReadyOk,
    /// `bestmove ...`
    BestMove,
    /// `info ...`
    Info,
    /// `copyprotection ...` and `registration ...`
    Protection,
    /// Anything else.
    Other,
}

/// Finds out what kind of line this is.
#[must_use]
pub fn parse(line: &[u8]) -> EngineReply {
    match first_word(line) {
        b"info" => EngineReply::Info,
        b"bestmove" => EngineReply::BestMove,
        b"readyok" => EngineReply::ReadyOk,
        b"uciok" => EngineReply::UciOk,
        b"option" => EngineReply::Option,
        b"id" => EngineReply::Id,
        b"copyprotection" | b"registration" => EngineReply::Protection,
        _ => EngineReply::Other,
    }
}

/// Name and author of an `id` line.
#[derive(Debug, PartialEq, Eq)]
pub enum Id {
    /// `id name X`
    Name(String),
    /// `id author X`
    Author(String),
}

/// Reads an `id` line; `None` when it is empty or neither of the two.
#[must_use]
pub fn id(line: &[u8]) -> Option<Id> {
    let id_word = first_word(line);
    let rest = rest_after(line, id_word);
    let kind = first_word(rest);
    let own = text(rest_after(rest, kind).trim_ascii_end());
    let read = std::str::from_utf8(line).ok().and_then(vampirc::id);
    match kind {
        b"name" => Some(Id::Name(match read {
            Some((Some(name), _)) if name == own => name,
            _ => own,
        })),
        b"author" => Some(Id::Author(match read {
            Some((_, Some(author))) if author == own => author,
            _ => own,
        })),
        _ => None,
    }
}

/// An option that the engine offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineOption {
    /// Its name, inner blanks collapsed.
    pub name: String,
    /// Its type as the engine wrote it.
    pub kind: String,
    /// What stands behind the type: default, limits, values; as written.
    pub details: String,
}

impl EngineOption {
    /// The line that announces the option under the name `name`.
    ///
    /// Types outside the standard are turned to `string` or `button`
    /// (python-chess refuses an engine with others), and a string without a
    /// default gets `<empty>` (Lucas Chess and older Cute Chess drop it
    /// otherwise).
    #[must_use]
    pub fn announce(&self, name: &str) -> String {
        let kind = match self.kind.as_str() {
            known @ ("check" | "spin" | "combo" | "button" | "string") => known,
            "reset" | "save" => "button",
            _ => "string",
        };
        let details = match (kind, self.details.as_str()) {
            ("string", "" | "default") => " default <empty>".to_owned(),
            ("button", _) | (_, "") => String::new(),
            (_, details) => format!(" {details}"),
        };
        format!("option name {name} type {kind}{details}")
    }
}

/// Reads an `option` line; `None` when it has no name or no type.
///
/// A name may hold any word, `type` included (the last `type` that a known
/// kind follows counts).
#[must_use]
pub fn option(line: &[u8]) -> Option<EngineOption> {
    let name_word = words(line).nth(1).filter(|word| *word == b"name")?;
    let after_name = rest_after(line, name_word);
    let list: Vec<&[u8]> = words(after_name).collect();
    let at = list
        .windows(2)
        .rposition(|pair| pair[0] == b"type" && is_kind(pair[1]))
        .or_else(|| list.windows(2).position(|pair| pair[0] == b"type"))?;
    let name: Vec<String> = list.get(..at)?.iter().map(|word| text(word)).collect();
    let kind = list.get(at + 1)?;
    let own = EngineOption {
        name: name.join(" "),
        kind: text(kind),
        details: text(rest_after(after_name, kind).trim_ascii_end()),
    };
    if own.name.is_empty() {
        return None;
    }
    // The parser knows the five standard types and loses names with a word
    // that begins with "type"; where it agrees its reading is the same.
    let read = std::str::from_utf8(line).ok().and_then(vampirc::option);
    match read {
        Some((name, kind)) if name == own.name && kind == own.kind => {
            Some(EngineOption { name, ..own })
        }
        _ => Some(own),
    }
}

fn is_kind(word: &[u8]) -> bool {
    matches!(word, b"check" | b"spin" | b"combo" | b"button" | b"string")
}

/// The part of a `bestmove` line that a GUI can rely on: the whole of it, or
/// the move alone when something else than a move to ponder on follows; `None`
/// when it names no move.
#[must_use]
pub fn sound_answer(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_end();
    let mut list = words(line).skip(1);
    let mv = list.next().filter(|mv| is_answer(mv))?;
    let end = (mv.as_ptr() as usize).saturating_sub(line.as_ptr() as usize) + mv.len();
    match (list.next(), list.next(), list.next()) {
        (None, _, _) => Some(line),
        (Some(b"ponder"), Some(reply), None) if is_answer(reply) => Some(line),
        _ => line.get(..end),
    }
}

/// A move, on boards of up to 16 files too and with drops, or one of the words
/// by which engines say that they have none.
fn is_answer(word: &[u8]) -> bool {
    const NONE: [&[u8]; 5] = [b"0000", b"(none)", b"none", b"null", b"resign"];
    if NONE.iter().any(|none| word.eq_ignore_ascii_case(none)) {
        return true;
    }
    match word {
        [piece, b'@', rest @ ..] => {
            piece.is_ascii_alphabetic() && square(rest).is_some_and(<[u8]>::is_empty)
        }
        _ => square(word)
            .and_then(square)
            .is_some_and(|rest| matches!(rest, [] | [b'+' | b'-' | b'a'..=b'z' | b'A'..=b'Z'])),
    }
}

/// What follows a square.
fn square(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'a'..=b'p' | b'A'..=b'P', b'1', b'0'..=b'6', rest @ ..]
        | [b'a'..=b'p' | b'A'..=b'P', b'1'..=b'9', rest @ ..] => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_are_told_by_the_first_word() {
        for (line, kind) in [
            ("info depth 300 seldepth 400", EngineReply::Info),
            ("info string", EngineReply::Info),
            ("bestmove (none)", EngineReply::BestMove),
            ("readyok", EngineReply::ReadyOk),
            (" uciok ", EngineReply::UciOk),
            ("id name", EngineReply::Id),
            ("option name X type check default true", EngineReply::Option),
            ("registration checking", EngineReply::Protection),
            ("uciokay", EngineReply::Other),
            (
                "Stockfish 15.1 by the Stockfish developers",
                EngineReply::Other,
            ),
            ("", EngineReply::Other),
        ] {
            assert_eq!(parse(line.as_bytes()), kind, "{line}");
        }
    }

    /// Option lines that the parser reads wrongly or not at all.
    #[test]
    fn options_keep_every_part() {
        for (name, said, announced) in [
            ("Hash", "type spin default 16 min 1 max 33554432", None),
            // Out of order, the rest vanishes.
            ("A", "type spin min 0 max 5000 default 10", None),
            ("B", "type combo var x var y default x", None),
            // Words that begin with max or var cut a default.
            ("C", "type string default book max.bin", None),
            ("D", "type string default variable", None),
            // A name with a word that begins with "type", or `type` itself.
            ("Net typed", "type check default true", None),
            ("Book type", "type string default <empty>", None),
            ("E", "type check default TRUE", None),
            ("F", "type string", Some("type string default <empty>")),
            (
                "F",
                "type string default",
                Some("type string default <empty>"),
            ),
            (
                "G",
                "type file default x.nn",
                Some("type string default x.nn"),
            ),
            ("H", "type reset", Some("type button")),
            ("I", "type button", None),
        ] {
            let option = option(format!("option name {name} {said}").as_bytes()).unwrap();
            assert_eq!(option.name, name);
            let announced = format!("option name {name} {}", announced.unwrap_or(said));
            assert_eq!(option.announce(name), announced);
        }
        let blanks = option(b"option name Debug  Log File type string default ").unwrap();
        assert_eq!(blanks.name, "Debug Log File");
        for line in ["", " name", " name X", " type check"] {
            let line = format!("option{line}");
            assert_eq!(option(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn ids_are_read_even_when_empty() {
        assert_eq!(
            id(b"id name Stockfish 15.1"),
            Some(Id::Name("Stockfish 15.1".into()))
        );
        assert_eq!(
            id(b"id author T. R\xf6mer"),
            Some(Id::Author("T. R\u{f6}mer".into()))
        );
        assert_eq!(id(b"id name"), Some(Id::Name(String::new())));
        assert_eq!(id(b"id"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_some_reply(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
            let _ = option(&line);
            let _ = id(&line);
        }
    }
}
