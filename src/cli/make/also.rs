//! `tabia build --also "BOOK: OPTIONS"`: one more book out of the same games.

use std::path::PathBuf;

use clap::{Args as _, Command, FromArgMatches as _};

use crate::cli::arguments::collection::ReachArgs;
use crate::cli::arguments::counting::Choice;
use shakmaty::Chess;

/// A book, and the options that choose its games.
#[derive(Clone, Debug)]
pub(crate) struct Also {
    pub(crate) target: PathBuf,
    pub(crate) choice: Choice,
    /// The position that its games reach.
    pub(crate) reaches: Option<Chess>,
}

impl Also {
    /// Reads a book, a colon, and options as on the command line.
    pub(crate) fn read(text: &str) -> Result<Also, String> {
        let (target, options) = split(text);
        if target.is_empty() {
            return Err("expected a book, a colon and options".to_owned());
        }
        let words = shlex::split(options).ok_or("a quotation mark is not closed")?;
        let command = Command::new("--also")
            .no_binary_name(true)
            .disable_help_flag(true);
        let command = ReachArgs::augment_args(Choice::augment_args(command));
        let matches = command.try_get_matches_from(words);
        let (choice, reach) = matches
            .and_then(|matches| {
                let choice = Choice::from_arg_matches(&matches)?;
                Ok((choice, ReachArgs::from_arg_matches(&matches)?))
            })
            .map_err(|error| one_line(&error))?;
        let reaches = reach.position().map_err(|error| format!("{error:#}"))?;
        if choice.filter.password.is_some() {
            return Err("--password is for the sources: give it outside --also".to_owned());
        }
        if choice.filter.encoding.is_some() {
            return Err("--encoding is for the sources: give it outside --also".to_owned());
        }
        Ok(Also {
            target: target.into(),
            choice,
            reaches,
        })
    }
}

/// Splits at the first colon before a blank, an option or the end: the colon of
/// `C:\\games` is part of the name.
fn split(text: &str) -> (&str, &str) {
    let mut colons = text.match_indices(':');
    let found = colons.find_map(|(at, colon)| {
        let rest = text.get(at + colon.len()..)?;
        let ends = rest.is_empty() || rest.starts_with(|c: char| c == '-' || c.is_whitespace());
        Some((text.get(..at)?, rest)).filter(|_| ends)
    });
    let (target, options) = found.unwrap_or((text, ""));
    (target.trim(), options)
}

/// The message of the command line parser, in one line.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let first = text.split("\n\n").next().unwrap_or(text);
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::common::PlayerColour;
    use shakmaty::Position as _;

    #[test]
    fn a_book_and_its_options_are_read() {
        let also = Also::read("my books/w.ctg: --player \"Smith, Jane\" --as white --max-ply 12");
        let Also {
            target,
            choice,
            reaches,
        } = also.unwrap();
        assert_eq!(reaches, None);
        assert_eq!(target, PathBuf::from("my books/w.ctg"));
        assert_eq!(choice.max_ply, 12);
        assert_eq!(choice.min_games, 1);
        assert_eq!(
            choice.filter.filter().words().join(" "),
            "--player \"Smith, Jane\" --colour white"
        );
        assert!(choice.only().is_none());
        // Without a player: moves of that side.
        let also = Also::read("white1800.ctg: --ratings 1800 --as white").unwrap();
        assert_eq!(
            also.choice.filter.filter().words().join(" "),
            "--ratings 1800"
        );
        assert!(matches!(also.choice.only(), Some(PlayerColour::White)));
        let also = Also::read("x.ctg: --as white --only black").unwrap();
        assert!(matches!(also.choice.only(), Some(PlayerColour::Black)));
        let also = Also::read("C:\\books\\x.ctg:--dedupe").unwrap();
        assert_eq!(also.target, PathBuf::from("C:\\books\\x.ctg"));
        assert!(also.choice.dedupe);
        assert_eq!(split("x.ctg"), ("x.ctg", ""));
        let [by_line, by_fen] = [
            "x.abk: --line '1.e4'",
            "x.abk: --fen 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1'",
        ]
        .map(|text| Also::read(text).unwrap().reaches.unwrap());
        assert_eq!(by_line.board(), by_fen.board());
    }

    #[test]
    fn errors_name_the_wrong_option() {
        for (text, wanted) in [
            ("x.ctg: --ratinsg 1800", "'--ratinsg'"),
            ("x.ctg: --max-ply many", "--max-ply"),
            ("x.ctg: --as green", "--colour"),
            ("x.ctg: --memory 1G", "'--memory'"),
            ("x.ctg: --password x", "--password"),
            ("x.ctg: --encoding cp866", "--encoding"),
            ("x.ctg: games.pgn", "'games.pgn'"),
            ("x.ctg: --line Ke5", "Ke5"),
            ("x.ctg: --player \"Smith", "quotation mark"),
            (": --dedupe", "expected a book"),
        ] {
            let error = Also::read(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
