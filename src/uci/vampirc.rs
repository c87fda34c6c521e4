//! The only file that names `vampirc_uci`.
//!
//! The crate parses a line into typed messages, but what it gives cannot be
//! taken on trust: it panics on some lines and misreads others without a
//! word (the tests below list every fault found). So a line is parsed for
//! understanding only, inside a net that catches panics, and the caller
//! checks the result against the words of the line; where the two disagree
//! the words win. Nothing is ever written with it.

use std::cell::Cell;
use std::panic;
use std::sync::Once;

use vampirc_uci::{MessageList, UciMessage};

thread_local! {
    /// A parse is under way on this thread: a panic is expected and quiet.
    static PARSING: Cell<bool> = const { Cell::new(false) };
}

/// Parses one line. `None` for what the crate does not know, cannot read or
/// panics on.
fn parse(line: &str) -> Option<UciMessage> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !PARSING.get() {
                loud(panic);
            }
        }));
    });
    // "go infinite " (a blank and no line end) is one of the panics.
    let line = line.trim();
    PARSING.set(true);
    let parsed = panic::catch_unwind(|| vampirc_uci::parse_with_unknown(line));
    PARSING.set(false);
    let messages: MessageList = parsed.ok()?;
    match messages.into_iter().next()? {
        UciMessage::Unknown(..) => None,
        message => Some(message),
    }
}

/// Reads a `setoption` line into name and value.
pub(super) fn set_option(line: &str) -> Option<(String, Option<String>)> {
    match parse(line)? {
        UciMessage::SetOption { name, value } => Some((name, value)),
        _ => None,
    }
}

/// Reads an `option` line of an engine into the option's name and type.
pub(super) fn option(line: &str) -> Option<(String, &'static str)> {
    match parse(line)? {
        UciMessage::Option(option) => Some((option.get_name().to_owned(), option.get_type_str())),
        _ => None,
    }
}

/// Reads the `id` line of an engine: name, author.
pub(super) fn id(line: &str) -> Option<(Option<String>, Option<String>)> {
    match parse(line)? {
        UciMessage::Id { name, author } => Some((name, author)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_the_parser_are_contained() {
        for line in [
            "go depth 300",
            "go mate 300",
            "go movestogo 256 wtime 1 btime 1",
            "info depth 256",
            "info seldepth 256 depth 3",
        ] {
            assert!(
                panic::catch_unwind(|| {
                    PARSING.set(true);
                    let message = vampirc_uci::parse_with_unknown(line);
                    PARSING.set(false);
                    message
                })
                .is_err(),
                "{line}: the parser has learnt to read this; drop the row"
            );
            PARSING.set(false);
            assert_eq!(parse(line), None, "{line}");
        }
        // A blank at the end without a line end panics when it is not cut.
        assert!(parse("go infinite ").is_some());
        assert!(parse("go wtime 1 btime 1 ").is_some());
    }

    #[test]
    fn reads_what_it_reads_well() {
        assert_eq!(
            set_option("setoption name Clear Hash"),
            Some(("Clear Hash".into(), None))
        );
        assert_eq!(
            option("option name Hash type spin default 16 min 1 max 9"),
            Some(("Hash".into(), "spin"))
        );
        assert_eq!(id("id name X 1"), Some((Some("X 1".into()), None)));
    }
}
