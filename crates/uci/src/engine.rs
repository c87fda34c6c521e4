//! Parses lines of the engine.

use super::gui::SetOption;
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
/// counts. Glaurung 2.2 so answers a `stop` that comes after its move.
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
/// complains of the word, or names its features. Without this, such an engine was named after
/// 16 seconds, twice the time to start. Engines print all kinds of other text before `uciok`.
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
    /// Name and details as they came, if that was not UTF-8: the program must get these
    /// bytes, and the engine must get them back.
    bytes: Option<(Vec<u8>, Vec<u8>)>,
}

impl EngineOption {
    /// The line that announces the option, with `prefix` before its name.
    ///
    /// Types outside the standard become `string` or `button` (python-chess refuses an
    /// engine with others), and a string without a default gets `<empty>` (Lucas Chess
    /// and older Cute Chess drop it otherwise).
    #[must_use]
    pub fn announce(&self, prefix: &str) -> Vec<u8> {
        let kind = match self.kind.as_str() {
            known @ ("check" | "spin" | "combo" | "button" | "string") => known,
            "reset" | "save" => "button",
            _ => "string",
        };
        let details = match (kind, self.details_bytes()) {
            ("string", b"" | b"default") => b"default <empty>",
            ("button", _) => &b""[..],
            (_, details) => details,
        };
        let mut line = format!("option name {prefix}").into_bytes();
        line.extend_from_slice(self.name_bytes());
        line.extend_from_slice(b" type ");
        line.extend_from_slice(kind.as_bytes());
        if !details.is_empty() {
            line.push(b' ');
            line.extend_from_slice(details);
        }
        line
    }

    /// The name as the engine wrote it.
    fn name_bytes(&self) -> &[u8] {
        let bytes = self.bytes.as_ref();
        bytes.map_or(self.name.as_bytes(), |(name, _)| name)
    }

    fn details_bytes(&self) -> &[u8] {
        let bytes = self.bytes.as_ref();
        bytes.map_or(self.details.as_bytes(), |(_, details)| details)
    }
}

/// What a value of a check option means: `true` or `false` in any case, and the words that
/// programs send instead; `None` if it is neither.
///
/// Engines take `true` and `false` only: every Stockfish ignores `True`.
#[must_use]
pub fn check_value(value: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    match (
        is(["true", "1", "yes", "on"]),
        is(["false", "0", "no", "off"]),
    ) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// A whole number, also written with zeros after a point: Stockfish took `2.0` up to 18,
/// and 19 ignores it.
fn whole_number(value: &str) -> Option<i64> {
    let whole = match value.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
        Some(_) => return None,
        None => value,
    };
    whole.parse().ok()
}

impl EngineOption {
    /// The line that sets the option as the engine expects it, with its own name; `None`
    /// if the line that has come is that, or if the value is not one of the option.
    #[must_use]
    pub fn line_to_set(&self, option: &SetOption) -> Option<Vec<u8>> {
        let written = option.value.as_deref()?;
        let value = self.expected_form(written);
        // The bytes of such a name depend on who has written it.
        let is_renamed = self.bytes.is_some() && !self.name.is_ascii();
        if value.is_none() && !is_renamed {
            return None;
        }
        let mut line = b"setoption name ".to_vec();
        line.extend_from_slice(self.name_bytes());
        line.extend_from_slice(b" value ");
        line.extend_from_slice(value.as_deref().unwrap_or(written));
        Some(line)
    }

    /// The value in the form that the engine has declared, if it is written otherwise.
    fn expected_form(&self, written: &[u8]) -> Option<Vec<u8>> {
        let value = text(written.trim_ascii());
        let form = match self.kind.as_str() {
            "check" => check_value(&value)?.to_string().into_bytes(),
            "spin" if value.contains('.') => whole_number(&value)?.to_string().into_bytes(),
            "combo" => {
                let known = self.parts("var");
                let exact = known.iter().find(|known| text(known) == value);
                let like = |known: &&Vec<u8>| text(known).eq_ignore_ascii_case(&value);
                exact.or_else(|| known.iter().find(like))?.clone()
            }
            _ => return None,
        };
        (form != written).then_some(form)
    }

    /// Describes the accepted values if this one is not among them; `None` if the
    /// declaration allows it.
    fn expects(&self, value: &str) -> Option<String> {
        let value = value.trim();
        match self.kind.as_str() {
            "check" => check_value(value)
                .is_none()
                .then(|| "true or false".to_owned()),
            "spin" => {
                let limit = |key| -> Option<i64> { self.field(key)?.parse().ok() };
                let (least, greatest) = (limit("min"), limit("max"));
                let fits = whole_number(value).is_some_and(|number| {
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
        self.parts(key).into_iter().map(|part| text(&part))
    }

    /// The bytes after each `key` in the details, inner blanks collapsed.
    fn parts(&self, key: &str) -> Vec<Vec<u8>> {
        let is_key = |word: &[u8]| matches!(word, b"default" | b"min" | b"max" | b"var");
        let mut found: Vec<(&[u8], Vec<u8>)> = Vec::new();
        for word in words(self.details_bytes()) {
            match found.last_mut() {
                // A value of a combo may bear the name of another key.
                Some((b"default" | b"var", value))
                    if value.is_empty() && self.kind == "combo" && word != b"var" =>
                {
                    value.extend_from_slice(word);
                }
                _ if is_key(word) => found.push((word, Vec::new())),
                Some((_, value)) => {
                    if !value.is_empty() {
                        value.push(b' ');
                    }
                    value.extend_from_slice(word);
                }
                None => {}
            }
        }
        let wanted = found
            .into_iter()
            .filter(|(word, _)| *word == key.as_bytes());
        wanted.map(|(_, value)| value).collect()
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
///
/// # Examples
///
/// ```
/// use tabia_uci::engine::{check_option, option};
///
/// let declared = [
///     option(b"option name Hash type spin default 16 min 1 max 1024").unwrap(),
///     option(b"option name Style type combo default Solid var Solid var Wild").unwrap(),
/// ];
/// let refused = |name, value| check_option(&declared, name, value).unwrap_err().to_string();
/// assert_eq!(check_option(&declared, "hash", "64"), Ok(()));
/// assert!(refused("Hash", "0").contains("takes a whole number from 1 to 1024"));
/// assert!(refused("Style", "Tal").contains("takes one of Solid, Wild"));
/// assert!(refused("Hahs", "1").contains("did you mean \"Hash\"?"));
/// ```
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
    Err(OptionError::Value {
        name: option.name.clone(),
        expected,
        value: value.chars().take(80).collect(),
    })
}

/// Reads an `option` line; `None` when it has no name or no type.
///
/// A name may contain any word, `type` included (the last `type` before a known kind
/// counts).
///
/// # Examples
///
/// ```
/// use tabia_uci::engine;
///
/// let declared = engine::option(b"option name Hash type spin default 16 max 1024").unwrap();
/// assert_eq!(declared.field("max").unwrap(), "1024");
/// // The same option under another name, as a proxy announces it.
/// let line = declared.announce("Engine ");
/// assert_eq!(line, b"option name Engine Hash type spin default 16 max 1024");
/// ```
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
    let details = rest_after(after_name, kind).trim_ascii_end();
    let is_text = std::str::from_utf8(after_name).is_ok();
    let read = EngineOption {
        name: name.join(" "),
        kind: text(kind),
        details: text(details),
        bytes: (!is_text).then(|| (list[..at].join(&b' '), details.to_vec())),
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
    const NONE: [&[u8]; 4] = [b"0000", b"(none)", b"none", b"null"];
    is_resignation(word) || NONE.iter().any(|none| word.eq_ignore_ascii_case(none))
}

/// Whether engines resign by this word.
#[must_use]
pub fn is_resignation(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"resign")
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
    use crate::gui::{self, GuiCommand};
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
            assert_eq!(text(&option.announce("")), announced);
            let prefixed = announced.replacen("name ", "name Engine ", 1);
            assert_eq!(text(&option.announce("Engine ")), prefixed);
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
            ("Ponder", "yes"),
            ("Hash", "64.0"),
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
            ("Ponder", "maybe", "takes true or false, not \"maybe\""),
            ("Ponder", "", "takes true or false, not \"\""),
            ("Style", "Wild", "takes one of Solid, Very Wild, not"),
            ("Hsh", "3", "no option \"Hsh\" (did you mean \"Hash\"?)"),
            ("Contempt", "3", "has no option \"Contempt\""),
        ] {
            let error = check(name, value).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// Whatever a program writes, the engine gets what it has declared.
    #[test]
    fn a_value_is_sent_in_the_form_that_the_engine_declares() {
        let sent = |declared: &[u8], line: &[u8]| {
            let option = option(declared).unwrap();
            let GuiCommand::SetOption(set) = gui::parse(line) else {
                panic!("{line:?}");
            };
            assert_eq!(option.expects(&set.text()), None, "{line:?}");
            option.line_to_set(&set)
        };
        let ponder = b"option name Ponder type check default false";
        let hash = b"option name Hash type spin default 16 min 1 max 1024";
        let style = b"option name Style type combo default default var default var Very Wild";
        for (declared, value, wanted) in [
            (&ponder[..], "true", None),
            (ponder, "false", None),
            (ponder, "True", Some("true")),
            (ponder, "FALSE", Some("false")),
            (ponder, "yes", Some("true")),
            (ponder, "0", Some("false")),
            (hash, "2", None),
            (hash, "+2", None),
            (hash, "2.0", Some("2")),
            (hash, "64.", Some("64")),
            (style, "default", None),
            (style, "Default", Some("default")),
            (style, "very wild", Some("Very Wild")),
        ] {
            let name = text(words(declared).nth(2).unwrap());
            let line = format!("setoption name {} value {value}", name.to_lowercase());
            let wanted = wanted.map(|value| format!("setoption name {name} value {value}"));
            assert_eq!(
                sent(declared, line.as_bytes()),
                wanted.map(String::into_bytes)
            );
        }
        let both = b"option name Both type combo default yes var Yes var yes";
        for (value, wanted) in [("Yes", None), ("yes", None), ("YES", Some("Yes"))] {
            let line = format!("setoption name Both value {value}");
            let wanted = wanted.map(|value| format!("setoption name Both value {value}"));
            assert_eq!(sent(both, line.as_bytes()), wanted.map(String::into_bytes));
        }
        let path = b"option name Path type string default <empty>";
        assert_eq!(sent(path, b"setoption name Path value True"), None);
        assert_eq!(sent(path, b"setoption name Path value 2.0"), None);
    }

    #[test]
    fn a_combo_may_have_a_value_that_is_called_default() {
        let values = |details: &str| {
            let line = format!("option name Style type combo {details}");
            let read = option(line.as_bytes()).unwrap();
            (
                read.field("default"),
                read.fields("var").collect::<Vec<_>>().join("|"),
            )
        };
        let of = |default: &str, all: &str| (Some(default.to_owned()), all.to_owned());
        for (details, wanted) in [
            (
                "default default var default var wild",
                of("default", "default|wild"),
            ),
            (
                "var default var min var max default min",
                of("min", "default|min|max"),
            ),
            ("var a b var c default a b", of("a b", "a b|c")),
            ("default var a var b", of("", "a|b")),
        ] {
            assert_eq!(values(details), wanted, "{details}");
        }
    }

    /// Bytes in, the same bytes out.
    #[test]
    fn names_and_values_in_latin_1_stay_as_they_are() {
        let line = b"option name B\xfccher  Art type combo default gro\xdf var gro\xdf var klein";
        let read = option(line).unwrap();
        assert_eq!(read.name, "B\u{fc}cher Art");
        let announced =
            b"option name B\xfccher Art type combo default gro\xdf var gro\xdf var klein";
        assert_eq!(read.announce(""), announced);
        for line in [
            &b"setoption name B\xfccher Art value gro\xdf"[..],
            "setoption name B\u{fc}cher Art value gro\u{df}".as_bytes(),
        ] {
            let GuiCommand::SetOption(set) = gui::parse(line) else {
                panic!("{line:?}");
            };
            let sent = read.line_to_set(&set).unwrap();
            assert_eq!(sent, b"setoption name B\xfccher Art value gro\xdf");
        }
        let of = |line: &[u8]| option(line).unwrap().announce("");
        let line = b"option name Pfad type string default C:\\B\xfccher";
        assert_eq!(of(line), line);
        let line = "option name B\u{fc}cher type check default true".as_bytes();
        assert_eq!(of(line), line);
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
