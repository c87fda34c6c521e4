//! What a line of the GUI means.

use std::borrow::Cow;

use super::line::{first_word, rest_after, text, words};

/// A line of the GUI, understood as far as the adapter needs it.
///
/// Every sequence of bytes is one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuiCommand {
    /// `uci`
    Uci,
    /// `isready`
    IsReady,
    /// `ucinewgame`
    NewGame,
    /// `setoption name ... [value ...]`
    SetOption(SetOption),
    /// `position ...`
    Position,
    /// `go ...`
    Go(Go),
    /// `stop`
    Stop,
    /// `ponderhit`
    PonderHit,
    /// `quit`
    Quit,
    /// A blank line.
    Blank,
    /// Anything else: `debug`, `register`, an engine's own commands.
    Other,
}

/// An option and the value it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetOption {
    /// The name, inner blanks collapsed to one.
    pub name: String,
    /// The value as its bytes came, blanks at the ends cut; `None` without
    /// the word `value` (a button).
    pub value: Option<Vec<u8>>,
}

impl SetOption {
    /// The value as text; empty for a button and for `<empty>`.
    #[must_use]
    pub fn text(&self) -> String {
        let value = text(self.value.as_deref().unwrap_or_default());
        if value == "<empty>" {
            String::new()
        } else {
            value
        }
    }
}

/// The conditions of a search, as far as they decide who answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// The opponent's time runs: no answer before `ponderhit` or `stop`.
    pub ponder: bool,
    /// No answer before `stop`. Also set for a `go` without any condition.
    pub infinite: bool,
    /// Asks for something that only an engine can give: `mate`, `perft`, or
    /// a word that is not known here.
    pub engine_only: bool,
    /// Counts positions; most engines, Stockfish too, give no `bestmove`.
    pub perft: bool,
    /// The moves to choose from; `None` without the word `searchmoves`.
    pub searchmoves: Option<Vec<String>>,
}

/// Finds out what a line means.
///
/// Unknown words before a command are passed over, as the protocol asks for
/// ("joho debug on"), as long as there is a command behind them.
#[must_use]
pub fn parse(line: &[u8]) -> GuiCommand {
    let mut rest = line;
    loop {
        let word = first_word(rest);
        let after = rest_after(rest, word);
        match word {
            b"" if first_word(line).is_empty() => return GuiCommand::Blank,
            b"" => return GuiCommand::Other,
            b"uci" => return GuiCommand::Uci,
            b"isready" => return GuiCommand::IsReady,
            b"ucinewgame" => return GuiCommand::NewGame,
            b"setoption" => {
                return set_option(after).map_or(GuiCommand::Other, GuiCommand::SetOption);
            }
            b"position" => return GuiCommand::Position,
            b"go" => return GuiCommand::Go(go(rest)),
            b"stop" => return GuiCommand::Stop,
            b"ponderhit" => return GuiCommand::PonderHit,
            b"quit" => return GuiCommand::Quit,
            b"debug" | b"register" => return GuiCommand::Other,
            _ => rest = after,
        }
    }
}

/// The line from its command on: engines differ in whether they pass over
/// unknown words before it, and what we take for a `go` they have to take
/// for one too. A line without a command stays as it is.
#[must_use]
pub fn from_command(line: &[u8]) -> &[u8] {
    const COMMANDS: [&[u8]; 11] = [
        b"uci",
        b"isready",
        b"ucinewgame",
        b"setoption",
        b"position",
        b"go",
        b"stop",
        b"ponderhit",
        b"quit",
        b"debug",
        b"register",
    ];
    words(line)
        .find(|word| COMMANDS.contains(word))
        .and_then(|word| {
            line.get((word.as_ptr() as usize).saturating_sub(line.as_ptr() as usize)..)
        })
        .unwrap_or(line)
}

/// The part of a `position` line that says where the game starts, and its
/// moves.
#[derive(Debug, PartialEq, Eq)]
pub struct PositionLine<'a> {
    /// `None` for `startpos`, else the FEN without quotes.
    pub fen: Option<Cow<'a, str>>,
    /// The words behind `moves`.
    pub moves: &'a [u8],
}

/// Takes a `position` line apart; `None` when it names no start.
#[must_use]
pub fn position(line: &[u8]) -> Option<PositionLine<'_>> {
    let command = words(line).find(|word| *word == b"position")?;
    let rest = rest_after(line, command);
    let start = first_word(rest);
    let after_start = rest_after(rest, start);
    let moves_word = words(rest).find(|word| *word == b"moves");
    let moves = moves_word.map_or(&b""[..], |word| rest_after(rest, word));
    let fen = match start {
        b"startpos" => None,
        b"fen" => {
            let until = moves_word.map_or(after_start.len(), |word| {
                (word.as_ptr() as usize).saturating_sub(after_start.as_ptr() as usize)
            });
            let fen = after_start.get(..until)?.trim_ascii();
            let fen = std::str::from_utf8(fen).ok()?.trim_matches('"').trim();
            Some(if fen.contains("  ") || fen.contains('\t') {
                Cow::Owned(fen.split_whitespace().collect::<Vec<_>>().join(" "))
            } else {
                Cow::Borrowed(fen)
            })
        }
        _ => return None,
    };
    Some(PositionLine { fen, moves })
}

/// The moves in a list of words, in lower case (AnMon writes promotions in
/// upper case). Read by the words: the parser takes a hundred times as long,
/// and drops the rest of a list behind a move that it cannot read.
pub fn moves(list: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    words(list).map(|word| match std::str::from_utf8(word) {
        Ok(word) if !word.bytes().any(|byte| byte.is_ascii_uppercase()) => Cow::Borrowed(word),
        _ => Cow::Owned(text(word).to_ascii_lowercase()),
    })
}

/// `after` is what stands behind the word `setoption`.
fn set_option(after: &[u8]) -> Option<SetOption> {
    let name_word = words(after).find(|word| *word == b"name")?;
    let after_name = rest_after(after, name_word);
    let value_word = words(after_name).find(|word| *word == b"value");
    let name: Vec<String> = words(after_name)
        .take_while(|word| *word != b"value")
        .map(text)
        .collect();
    let name = name.join(" ");
    let value = value_word.map(|word| rest_after(after_name, word).trim_ascii_end().to_vec());
    if name.is_empty() {
        return None;
    }
    Some(SetOption { name, value })
}

/// `line` begins with the word `go`.
///
fn go(line: &[u8]) -> Go {
    let mut go = Go::default();
    let mut bare = true;
    let mut list = words(line).skip(1);
    while let Some(word) = list.next() {
        match word {
            b"ponder" => {
                go.ponder = true;
                // `go ponder` alone waits for its ponderhit, not for a stop.
                bare = false;
                continue;
            }
            b"infinite" => go.infinite = true,
            b"wtime" | b"btime" | b"winc" | b"binc" | b"movestogo" | b"depth" | b"nodes"
            | b"movetime" => {
                let number = list
                    .next()
                    .map(text)
                    .and_then(|word| word.parse::<i64>().ok());
                go.engine_only |= number.is_none();
            }
            b"mate" | b"perft" => {
                go.engine_only = true;
                go.perft |= word == b"perft";
                list.next();
            }
            b"searchmoves" => {
                // The list has no end mark: it ends at the next known word.
                let moves = go.searchmoves.get_or_insert_default();
                let mut ahead = list.clone();
                while let Some(word) = ahead.next().filter(|word| !is_go_word(word)) {
                    moves.push(text(word).to_ascii_lowercase());
                    list.next();
                }
                // `searchmoves` alone does not limit the search in time.
                continue;
            }
            _ => go.engine_only = true,
        }
        bare = false;
    }
    go.infinite |= bare;
    go
}

fn is_go_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"ponder"
            | b"infinite"
            | b"wtime"
            | b"btime"
            | b"winc"
            | b"binc"
            | b"movestogo"
            | b"depth"
            | b"nodes"
            | b"movetime"
            | b"mate"
            | b"perft"
            | b"searchmoves"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn go_of(line: &str) -> Go {
        match parse(line.as_bytes()) {
            GuiCommand::Go(go) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn option_of(line: &[u8]) -> (String, Option<Vec<u8>>) {
        match parse(line) {
            GuiCommand::SetOption(option) => (option.name, option.value),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn commands_are_found_behind_unknown_words() {
        let rows: [(&[u8], GuiCommand); 14] = [
            (b"uci", GuiCommand::Uci),
            (b"  \tisready \t", GuiCommand::IsReady),
            (b"ucinewgame", GuiCommand::NewGame),
            (b"joho stop", GuiCommand::Stop),
            (b"ponderhit\r", GuiCommand::PonderHit),
            (b"quit now", GuiCommand::Quit),
            (b"", GuiCommand::Blank),
            (b" \t ", GuiCommand::Blank),
            (b"d", GuiCommand::Other),
            (b"debug on", GuiCommand::Other),
            (b"register later", GuiCommand::Other),
            (b"joho debug stop", GuiCommand::Other),
            (b"isreadyfoo", GuiCommand::Other),
            (b"\xff\xfe\x00", GuiCommand::Other),
        ];
        for (line, expected) in rows {
            assert_eq!(parse(line), expected, "{:?}", text(line));
        }
    }

    /// Lines that the parser reads wrongly, and what they mean.
    #[test]
    fn go_lines_mean_what_their_words_say() {
        let plain = Go::default();
        let ponder = Go {
            ponder: true,
            ..Go::default()
        };
        let infinite = Go {
            infinite: true,
            ..Go::default()
        };
        let engine_only = Go {
            engine_only: true,
            ..Go::default()
        };
        let among = |moves: &[&str]| Some(moves.iter().map(ToString::to_string).collect());
        for (line, expected) in [
            // The clock hides `ponder` from the parser, in either order.
            ("go ponder wtime 1 btime 1", ponder.clone()),
            ("go ponder movetime 5000", ponder.clone()),
            ("go movetime 5000 ponder", ponder.clone()),
            ("go ponder", ponder.clone()),
            // Panics of the parser.
            ("go depth 300", plain.clone()),
            ("go movestogo 256 wtime 1 btime 1", plain.clone()),
            ("go depth 1000", plain.clone()),
            ("go mate 300", engine_only.clone()),
            ("go infinite ", infinite.clone()),
            // Numbers with more digits than it has room for.
            ("go nodes 1234567890123", plain.clone()),
            ("go wtime -5 btime 0 movestogo 0", plain.clone()),
            // What follows an unknown word is lost to it.
            ("go wtime 1 foo btime 2", engine_only.clone()),
            (
                "go perft 5",
                Go {
                    perft: true,
                    ..engine_only.clone()
                },
            ),
            ("go mate 130", engine_only.clone()),
            // No condition at all: until stop.
            ("go", infinite.clone()),
            ("go ", infinite.clone()),
            ("joho go infinite", infinite.clone()),
            (
                "go ponder infinite",
                Go {
                    ponder: true,
                    infinite: true,
                    ..Go::default()
                },
            ),
            (
                "go searchmoves e2e4 D2D4 depth 3",
                Go {
                    searchmoves: among(&["e2e4", "d2d4"]),
                    ..Go::default()
                },
            ),
            (
                "go movetime 9 searchmoves 0000",
                Go {
                    searchmoves: among(&["0000"]),
                    ..Go::default()
                },
            ),
            (
                "go searchmoves e2e4",
                Go {
                    infinite: true,
                    searchmoves: among(&["e2e4"]),
                    ..Go::default()
                },
            ),
            ("go wtime many", engine_only),
        ] {
            assert_eq!(go_of(line), expected, "{line}");
        }
    }

    fn moves(list: &[u8]) -> Vec<String> {
        super::moves(list).map(Cow::into_owned).collect()
    }

    #[test]
    fn position_lines_keep_every_move() {
        let start = |line: &'static str| position(line.as_bytes()).unwrap();
        // Two blanks after `moves` make the parser lose all of them.
        let read = start("position startpos moves  e2e4 e7e5");
        assert_eq!(read.fen, None);
        assert_eq!(moves(read.moves), ["e2e4", "e7e5"]);
        // A move that it cannot read ends its list.
        for unreadable in ["0000", "P@e4", "junk"] {
            let line = format!("e2e4 {unreadable} d2d4");
            assert_eq!(moves(line.as_bytes()).len(), 3, "{line}");
        }
        assert_eq!(moves(b"E7E8Q e1h1"), ["e7e8q", "e1h1"]);
        assert_eq!(moves(b"e7e8=Q"), ["e7e8=q"]);
        // FENs of four fields, with Shredder letters, in quotes, with a move
        // number over 9999: all unknown to the parser.
        for fen in [
            "8/8/8/8/8/8/8/K1k5 w - -",
            "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1",
            "8/8/8/8/8/8/8/K1k5 w - - 0 10001",
        ] {
            let line = format!("position fen {fen} moves a1a2");
            let read = position(line.as_bytes()).unwrap();
            assert_eq!(read.fen.as_deref(), Some(fen));
            assert_eq!(moves(read.moves), ["a1a2"]);
            let quoted = format!("position fen \"{fen}\"");
            let read = position(quoted.as_bytes()).unwrap();
            assert_eq!(read.fen.as_deref(), Some(fen));
            assert_eq!(read.moves, b"");
        }
        assert_eq!(position(b"position startposmoves"), None);
        assert_eq!(position(b"position"), None);
        assert_eq!(moves(start("position startpos moves").moves), [""; 0]);
    }

    #[test]
    fn options_are_split_at_the_word_value() {
        type Row = (&'static [u8], &'static str, Option<&'static [u8]>);
        let rows: [Row; 12] = [
            (b"setoption name Hash value 64", "Hash", Some(b"64")),
            (b"setoption name Clear Hash", "Clear Hash", None),
            (b"setoption name X value ", "X", Some(b"")),
            (b"setoption name X value", "X", Some(b"")),
            (b"setoption name X value <empty>", "X", Some(b"<empty>")),
            // The parser splits at any word that begins with "value".
            (
                b"setoption name Book Valued Weight value 3",
                "Book Valued Weight",
                Some(b"3"),
            ),
            (
                b"setoption name Book File value C:\\my  books\\a b.ctg",
                "Book File",
                Some(b"C:\\my  books\\a b.ctg"),
            ),
            (
                b"setoption name Book File value B\xfccher/x.ctg \r",
                "Book File",
                Some(b"B\xfccher/x.ctg"),
            ),
            (
                b"setoption  name   Book  File   value  x ",
                "Book File",
                Some(b"x"),
            ),
            (
                b"setoption name Text value a value b",
                "Text",
                Some(b"a value b"),
            ),
            (b"setoption name debug value go", "debug", Some(b"go")),
            (b"joho setoption name Hash value 1", "Hash", Some(b"1")),
        ];
        for (line, name, value) in rows {
            let (read_name, read_value) = option_of(line);
            assert_eq!(read_name, name);
            assert_eq!(read_value.as_deref(), value, "{}", text(line));
        }
        assert_eq!(parse(b"setoption"), GuiCommand::Other);
        assert_eq!(parse(b"setoption name"), GuiCommand::Other);
        assert_eq!(parse(b"setoption name value 3"), GuiCommand::Other);
    }

    proptest! {
        #[test]
        fn any_bytes_are_some_command(line in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
            let _ = position(&line);
            let _ = moves(&line);
        }

        #[test]
        fn any_words_are_some_command(line in prop::collection::vec(
            prop::sample::select(vec![
                "go", "position", "startpos", "fen", "moves", "e2e4", "0000", "setoption",
                "name", "value", "wtime", "-5", "ponder", "infinite", "depth", "300", "mate",
                "searchmoves", "", "Book", "\t", "stop",
            ]), 0..14)) {
            let line = line.join(" ");
            let _ = parse(line.as_bytes());
            let _ = position(line.as_bytes());
        }
    }
}
