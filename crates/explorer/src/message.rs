//! Sentences for users, in a form that the page can translate.

use std::fmt;

use serde::Serialize;

use tabia_book::policy::Rejection;
use tabia_engine::AnalystError;
use tabia_notation::{FenError, FenFault, LineError, MOST_PLIES, MoveError};

/// A sentence for users.
///
/// Its code is the English sentence with `{0}`, `{1}` for arguments, which is the key of
/// the translations in `locales/`. A text without a translation, such as a system error,
/// is its own code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Message {
    code: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<Arg>,
}

/// An argument of a sentence: a name or a number, or another sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Arg {
    Text(String),
    Message(Message),
}

/// Makes a [`Message`] with arguments. Tests find the codes by the name of this macro.
macro_rules! translatable {
    ($code:literal $(, $arg:expr)* $(,)?) => {
        $crate::message::Message::new($code, vec![$($arg.into()),*])
    };
}
pub(super) use translatable;

impl Message {
    pub(super) fn new(code: &str, args: Vec<Arg>) -> Message {
        let code = code.to_owned();
        Message { code, args }
    }

    /// Whether it has arguments.
    pub(super) fn has_arguments(&self) -> bool {
        !self.args.is_empty()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In one pass: an argument may hold `{0}` itself.
        let mut rest = self.code.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            f.write_str(before)?;
            let inside = after.split_once('}');
            let arg = inside.and_then(|(number, after)| {
                Some((self.args.get(number.parse::<usize>().ok()?)?, after))
            });
            rest = match arg {
                Some((arg, after)) => {
                    arg.fmt(f)?;
                    after
                }
                None => {
                    f.write_str("{")?;
                    after
                }
            };
        }
        f.write_str(rest)
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Text(text) => f.write_str(text),
            Arg::Message(message) => message.fmt(f),
        }
    }
}

impl From<String> for Message {
    fn from(code: String) -> Message {
        let args = Vec::new();
        Message { code, args }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        text.to_owned().into()
    }
}

impl From<Message> for Arg {
    fn from(message: Message) -> Arg {
        Arg::Message(message)
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Arg {
        Arg::Text(text)
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Arg {
        Arg::Text(text.to_owned())
    }
}

impl From<usize> for Arg {
    fn from(number: usize) -> Arg {
        Arg::Text(number.to_string())
    }
}

impl From<LineError> for Message {
    fn from(error: LineError) -> Message {
        match error {
            LineError::Position(error) => error.into(),
            LineError::Move {
                number,
                word,
                reason,
            } => move_error(
                reason,
                translatable!("move {0}", format!("{number} ({word})")),
            ),
            LineError::Long => translatable!("a line has at most {0} plies", MOST_PLIES),
            LineError::Null { number } => translatable!("move {0} is a null move in check", number),
            other => other.to_string().into(),
        }
    }
}

impl From<FenError> for Message {
    fn from(error: FenError) -> Message {
        match error {
            FenError::Syntax { fen, reason } => {
                translatable!(
                    "the FEN \"{0}\" cannot be read: {1}",
                    fen,
                    Message::from(reason)
                )
            }
            FenError::Illegal { fen, reason } => {
                translatable!(
                    "the FEN \"{0}\" is not a legal position: {1}",
                    fen,
                    reasons(&reason.to_string())
                )
            }
            _ => translatable!("a position is not that long"),
        }
    }
}

impl From<FenFault> for Message {
    fn from(fault: FenFault) -> Message {
        match fault {
            FenFault::Ranks { ranks } => translatable!(
                "a board has 8 ranks with / between them, this has {0}",
                ranks
            ),
            FenFault::Piece { rank, letter } => translatable!(
                "\"{0}\" on rank {1} is not a piece",
                letter.to_string(),
                rank
            ),
            FenFault::Squares { rank, squares } => {
                translatable!("rank {0} has {1} squares instead of 8", rank, squares)
            }
            FenFault::Turn(word) => translatable!("the side to move is w or b, not \"{0}\"", word),
            FenFault::Castling(word) => {
                translatable!("castling rights are some of KQkq or -, not \"{0}\"", word)
            }
            FenFault::EnPassant(word) => {
                translatable!("the en passant square is one as e3 or -, not \"{0}\"", word)
            }
            FenFault::Counter(word) => translatable!(
                "a counter is a whole number up to {0}, not \"{1}\"",
                u32::MAX.to_string(),
                word
            ),
            _ => translatable!("this is not the form of a FEN"),
        }
    }
}

/// Why a word is not a legal move.
pub(super) fn move_error(reason: MoveError, word: impl Into<Arg>) -> Message {
    match reason {
        MoveError::Syntax => translatable!("{0} is not a move", word),
        MoveError::Illegal => translatable!("{0} is not legal", word),
        _ => translatable!("{0} may be several moves here", word),
    }
}

/// The errors of the position library, which lists them after a colon.
fn reasons(text: &str) -> Message {
    let listed = text.strip_prefix("illegal position: ").unwrap_or(text);
    let mut reasons = listed.split(", ").map(Message::from);
    let first = reasons.next().unwrap_or_default();
    reasons.fold(first, |all, next| translatable!("{0}, {1}", all, next))
}

impl From<Rejection> for Message {
    fn from(reason: Rejection) -> Message {
        let number = |number: u32| number.to_string();
        match reason {
            Rejection::LosesTooMuch { loss, limit } => {
                translatable!("loses {0} cp, limit {1}", number(loss), number(limit))
            }
            Rejection::Exit { value, limit } => translatable!(
                "position worth {0} cp, exit at {1}",
                value.to_string(),
                limit.to_string()
            ),
            Rejection::ValueUnknown { limit } => {
                translatable!("value unknown, limit {0} cp", number(limit))
            }
            other => other.to_string().into(),
        }
    }
}

impl From<&AnalystError> for Message {
    fn from(error: &AnalystError) -> Message {
        match error {
            AnalystError::Start(failed) => {
                let (program, reason) = (failed.program.display(), &failed.reason);
                translatable!(
                    "engine \"{0}\" cannot be started: {1}",
                    program.to_string(),
                    reason.to_string()
                )
            }
            AnalystError::Gone(None) => translatable!("the engine ended"),
            AnalystError::Flood => translatable!("the engine prints too much"),
            AnalystError::NoScore => translatable!("the engine reported no score"),
            AnalystError::Gone(Some(status)) => {
                translatable!("the engine ended ({0})", status.to_string())
            }
            AnalystError::Silent { word, limit } => translatable!(
                "the engine did not send \"{0}\" within {1} s",
                *word,
                limit.as_secs_f32().ceil().to_string()
            ),
            other => other.to_string().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_may_look_like_a_place_for_one() {
        let args = || vec!["{1} {0}".into(), 2_usize.into()];
        for (code, shown) in [
            ("{0}, {1}", "{1} {0}, 2"),
            ("{1}{0}{1}", "2{1} {0}2"),
            ("{2} {x} { {0}", "{2} {x} { {1} {0}"),
            ("", ""),
        ] {
            assert_eq!(Message::new(code, args()).to_string(), shown);
        }
    }

    #[test]
    fn the_english_sentence_is_that_of_the_error() {
        let errors = [
            ("", "e2e5"),
            ("", "x"),
            ("", "-- --"),
            ("4k3/8/8/8/8/8/8/4R2K b - -", "--"),
            ("nonsense", ""),
            ("8/8/8/3x4/8/8/8/8", ""),
            ("8/8/8/8/8/8/8/9", ""),
            ("8/8/8/8/8/8/8/7", ""),
            ("8/8/8/8/8/8/8/8 x", ""),
            ("8/8/8/8/8/8/8/8 w x", ""),
            ("8/8/8/8/8/8/8/8 w - x", ""),
            ("8/8/8/8/8/8/8/8 w - - x", ""),
            ("8/8/8/8/8/8/8/8 w - - 0 1 1 1 1 1", ""),
            ("8/8/8/8/8/8/8/8 w - - 0 1", ""),
            ("kk6/8/8/8/8/8/8/K6P w - - 0 1", ""),
        ];
        for (fen, play) in errors {
            let Err(error) = tabia_notation::Line::read(fen, play) else {
                continue;
            };
            let text = error.to_string().replace("illegal position: ", "");
            assert_eq!(Message::from(error).to_string(), text);
        }
        let reason = Rejection::LosesTooMuch { loss: 3, limit: 2 };
        assert_eq!(Message::from(reason).to_string(), reason.to_string());
        let reason = Rejection::ValueUnknown { limit: 2 };
        assert_eq!(Message::from(reason).to_string(), reason.to_string());
    }

    #[test]
    fn arguments_are_beside_the_code() {
        let inner = translatable!("move {0} is a null move in check", 3);
        let outer = translatable!(
            "The address names a line that cannot be played: {0}.",
            inner
        );
        let json = serde_json::to_value(&outer).unwrap();
        assert_eq!(json["args"][0]["args"][0], "3");
        assert_eq!(json["args"][0]["code"], "move {0} is a null move in check");
        assert!(
            outer
                .to_string()
                .ends_with("move 3 is a null move in check.")
        );
    }
}
