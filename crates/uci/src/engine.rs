//! Parses lines of the engine.

use super::line::{first_word, rest_after, text, words};

/// The kind of a line of the engine, by its first word. `info` lines, by far the most,
/// are not parsed further.
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

/// Returns the kind of a line.
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

/// Whether a line calls a command of this word unknown, or a wrong move. No other complaint
/// counts.
#[must_use]
pub fn complains_of(line: &[u8], word: &str) -> bool {
    const COMPLAINTS: [&str; 5] = [
        "illegal move",
        "invalid move",
        "illegal command",
        "unknown command",
        "error (",
    ];
    let line = text(line).to_ascii_lowercase();
    line.split_ascii_whitespace().next_back() == Some(word)
        && COMPLAINTS.iter().any(|text| line.contains(text))
}

/// Whether an engine answers `uci` as one does that speaks the protocol of XBoard instead: it
/// complains of the word, or names its features. Engines print all kinds of other text before
/// `uciok`.
#[must_use]
pub fn is_of_xboard(line: &[u8]) -> bool {
    let shown = text(line);
    let mut words = shown.split_ascii_whitespace();
    let is_feature = words.next() == Some("feature") && words.next().is_some_and(is_setting);
    is_feature || complains_of(line, "uci")
}

/// `ping=1`
fn is_setting(word: &str) -> bool {
    let parts = word.split_once('=');
    parts.is_some_and(|(name, value)| !name.is_empty() && !value.is_empty())
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
    match kind {
        b"name" => Some(Id::Name(own)),
        b"author" => Some(Id::Author(own)),
        _ => None,
    }
}

/// An option that the engine offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOption {
    /// Its name, inner blanks collapsed.
    pub name: String,
    /// Its type as the engine wrote it.
    pub kind: String,
    /// The words after the type (default, limits, values), unchanged.
    pub details: String,
}

impl EngineOption {
    /// The line that announces the option under the name `name`.
    ///
    /// Types outside the standard become `string` or `button` (python-chess refuses an
    /// engine with others), and a string without a default gets `<empty>` (Lucas Chess
    /// and older Cute Chess drop it otherwise).
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

impl EngineOption {
    /// Describes the accepted values if this one is not among them; `None` if the
    /// declaration allows it.
    fn expects(&self, value: &str) -> Option<String> {
        let value = value.trim();
        match self.kind.as_str() {
            "check" => {
                let known = ["true", "false"].iter();
                let fits = known.clone().any(|known| value.eq_ignore_ascii_case(known));
                (!fits).then(|| "true or false".to_owned())
            }
            "spin" => {
                let limit = |key| -> Option<i64> { self.field(key)?.parse().ok() };
                let (least, greatest) = (limit("min"), limit("max"));
                let fits = value.parse().is_ok_and(|number: i64| {
                    least.is_none_or(|least| least <= number)
                        && greatest.is_none_or(|greatest| number <= greatest)
                });
                let bound = |word, limit: Option<i64>| {
                    limit.map_or_else(String::new, |limit| format!(" {word} {limit}"))
                };
                (!fits).then(|| {
                    let (from, to) = (bound("from", least), bound("to", greatest));
                    format!("a whole number{from}{to}")
                })
            }
            "combo" => {
                let words: Vec<String> = self.fields("var").collect();
                let fits = words.iter().any(|known| known.eq_ignore_ascii_case(value));
                (!fits && !words.is_empty()).then(|| format!("one of {}", words.join(", ")))
            }
            _ => None,
        }
    }

    /// The text after the first `key` in the details.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<String> {
        self.fields(key).next()
    }

    /// The texts after each `key` in the details.
    pub fn fields(&self, key: &str) -> impl Iterator<Item = String> {
        let words: Vec<&str> = self.details.split_whitespace().collect();
        let is_key = |word: &&str| matches!(*word, "default" | "min" | "max" | "var");
        let texts: Vec<String> = words
            .chunk_by(|_, next| !is_key(next))
            .filter_map(|field| field.split_first())
            .filter(|(word, _)| **word == key)
            .map(|(_, text)| text.join(" "))
            .collect();
        texts.into_iter()
    }
}

/// Why an option of an engine cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum OptionError {
    /// The engine has not declared an option with this name.
    #[error("the engine has no option \"{name}\"{}", meant(like.as_deref()))]
    NoSuchOption {
        /// The name.
        name: String,
        /// A declared option with a similar name.
        like: Option<String>,
    },
    /// The value has the wrong type or is outside the declared range.
    #[error("the engine's option \"{name}\" takes {expected}, not \"{value}\"")]
    Value {
        /// The option.
        name: String,
        /// The accepted values.
        expected: String,
        /// The rejected value.
        value: String,
        /// Some engines may accept it anyway: `yes` for a check option.
        doubtful: bool,
    },
}

fn meant(like: Option<&str>) -> String {
    like.map_or_else(String::new, |like| format!(" (did you mean \"{like}\"?)"))
}

/// Checks an option and its value against the engine's declarations.
///
/// # Errors
///
/// There is no such option, or it does not accept this value.
pub fn check_option(declared: &[EngineOption], name: &str, value: &str) -> Result<(), OptionError> {
    let mut all = declared.iter();
    let Some(option) = all.find(|option| option.name.eq_ignore_ascii_case(name)) else {
        let distance = |known: &str| {
            strsim::damerau_levenshtein(&known.to_ascii_lowercase(), &name.to_ascii_lowercase())
        };
        let like = declared
            .iter()
            .map(|option| (distance(&option.name), &option.name))
            .min()
            .filter(|(distance, _)| *distance <= 2 && *distance < name.len())
            .map(|(_, like)| like.clone());
        let name = name.to_owned();
        return Err(OptionError::NoSuchOption { name, like });
    };
    let Some(expected) = option.expects(value) else {
        return Ok(());
    };
    let words = ["1", "0", "yes", "no", "on", "off"];
    let spelt = words.iter().any(|word| value.eq_ignore_ascii_case(word));
    Err(OptionError::Value {
        name: option.name.clone(),
        expected,
        value: value.chars().take(80).collect(),
        doubtful: option.kind == "check" && spelt,
    })
}

/// Reads an `option` line; `None` when it has no name or no type.
///
/// A name may contain any word, `type` included (the last `type` before a known kind
/// counts).
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
    let read = EngineOption {
        name: name.join(" "),
        kind: text(kind),
        details: text(rest_after(after_name, kind).trim_ascii_end()),
    };
    (!read.name.is_empty()).then_some(read)
}

fn is_kind(word: &[u8]) -> bool {
    matches!(word, b"check" | b"spin" | b"combo" | b"button" | b"string")
}

/// The part of a `bestmove` line that is safe for a GUI: the whole line, or only the
/// move if anything but a valid ponder move follows; `None` if there is no move.
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

/// Whether engines announce by this word that they have no move.
#[must_use]
pub fn is_no_move(word: &[u8]) -> bool {
    const NONE: [&[u8]; 5] = [b"0000", b"(none)", b"none", b"null", b"resign"];
    NONE.iter().any(|none| word.eq_ignore_ascii_case(none))
}

/// Whether a word is a move (boards of up to 16 files and drops included), or a word
/// with which engines announce that they have none.
fn is_answer(word: &[u8]) -> bool {
    if is_no_move(word) {
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

/// The text after a square.
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
    fn only_a_complaint_about_uci_or_a_feature_is_of_xboard() {
        for line in [
            "Error (unknown command): uci",
            "Illegal move: uci",
            "Illegal move (unknown command): uci\r",
            "White (1) : Invalid move: uci",
            "unknown command: UCI",
            "feature ping=1 setboard=1 done=1",
            "feature myname=\"Phalanx\"",
        ] {
            assert!(is_of_xboard(line.as_bytes()), "{line}");
        }
        for line in [
            "Error (unknown command): xboard",
            "Error: no network",
            "error (could not open book.bin)",
            "this engine speaks uci",
            "illegal move in book: e2e5",
            "features: uci",
            "feature list",
            "unknown command line option -uci",
            "uci",
            "",
        ] {
            assert!(!is_of_xboard(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn kinds_are_known_by_the_first_word() {
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

    /// Option lines that other parsers read wrongly or not at all.
    #[test]
    fn options_keep_every_part() {
        for (name, details, announced) in [
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
            let option = option(format!("option name {name} {details}").as_bytes()).unwrap();
            assert_eq!(option.name, name);
            let announced = format!("option name {name} {}", announced.unwrap_or(details));
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
    fn what_an_option_does_not_take_is_known_by_its_declaration() {
        let declared: Vec<EngineOption> = [
            "Hash type spin default 16 min 1 max 1024",
            "Threads type spin default 1",
            "Ponder type check default false",
            "Style type combo default Solid var Solid var Very Wild",
            "Anything type combo default x",
            "Path type string default <empty>",
            "Net type file default a.nn",
            "Clear Hash type button",
        ]
        .iter()
        .map(|text| option(format!("option name {text}").as_bytes()).unwrap())
        .collect();
        let check =
            |name, value| check_option(&declared, name, value).map_err(|wrong| wrong.to_string());
        for (name, value) in [
            ("hash", " 1024 "),
            ("Threads", "-3"),
            ("Ponder", "True"),
            ("Style", "very wild"),
            ("Anything", "y"),
            ("Path", ""),
            ("Net", "b.nn"),
            ("Clear Hash", "true"),
        ] {
            assert_eq!(check(name, value), Ok(()), "{name}");
        }
        for (name, value, expected) in [
            (
                "Hash",
                "two",
                "takes a whole number from 1 to 1024, not \"two\"",
            ),
            ("Hash", "0", "from 1 to 1024, not \"0\""),
            ("Hash", "1025", "from 1 to 1024"),
            ("Hash", "2.5", "from 1 to 1024"),
            ("Hash", "", "from 1 to 1024"),
            ("Threads", "x", "takes a whole number, not \"x\""),
            ("Ponder", "yes", "takes true or false, not \"yes\""),
            ("Style", "Wild", "takes one of Solid, Very Wild, not"),
            ("Hsh", "3", "no option \"Hsh\" (did you mean \"Hash\"?)"),
            ("Contempt", "3", "has no option \"Contempt\""),
        ] {
            let error = check(name, value).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let doubtful = |name, value| {
            let wrong = check_option(&declared, name, value).unwrap_err();
            matches!(wrong, OptionError::Value { doubtful: true, .. })
        };
        assert!(doubtful("Ponder", "On") && !doubtful("Ponder", "maybe"));
        assert!(!doubtful("Hash", "yes"));
    }

    /// GUIs take the whole rest of a line for a move.
    #[test]
    fn only_a_sound_answer_reaches_the_gui() {
        let sound = |line: &str| sound_answer(line.as_bytes()).map(text);
        let moves = [
            "e2e4", "e7e8q", "E1G1", "0000", "(none)", "NULL", "resign", "P@e4", "a1p16",
            "b10b12n", "e2e4+",
        ];
        for mv in moves {
            for line in [
                format!("bestmove {mv}"),
                format!(" bestmove\t{mv}"),
                format!("bestmove  {mv} ponder P@d5"),
            ] {
                assert_eq!(sound(&line).as_ref(), Some(&line));
                assert_eq!(sound(&format!("{line} \r")).as_ref(), Some(&line));
            }
            for more in [
                "ponder",
                "ponder d5",
                "ponder e7e5 e2e4",
                "e7e5",
                "ponder @e4",
                "!",
            ] {
                let line = format!(" bestmove\t{mv} {more}");
                assert_eq!(sound(&line), Some(format!(" bestmove\t{mv}")), "{line}");
            }
        }
        for word in [
            "", "e2", "e2e", "q1e4", "e0e4", "e17e4", "e2e4qq", "e2e4=q", "@e4", "PP@e4", "P@e",
            "P@e4e5", "5@e4", "nothing",
        ] {
            assert_eq!(
                sound(&format!("bestmove {word} ponder e7e5")),
                None,
                "{word}"
            );
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
