//! An event of training: what a user has answered, wanted, chosen or forgotten. A page makes
//! its identifier, so that an event which is sent twice counts once.

use serde::{Deserialize, Serialize};
use shakmaty::Chess;

use super::memory::{LONGEST, Memory};
use crate::line;
use crate::message::Message;
use crate::move_names::MoveNames;
use tabia_notation as notation;

/// Greatest number of characters of an identifier.
const LONGEST_ID: usize = 64;

/// Greatest number of characters of the names of an opening and of a chapter.
const LONGEST_NAME: usize = 500;

/// The greatest time: numbers of a page are exact up to here.
const LAST: u64 = 1 << 53;

/// An event: a line of a training file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Event {
    pub(super) id: String,
    /// Milliseconds since 1970, by the clock of the page.
    pub(super) time: u64,
    #[serde(flatten)]
    pub(super) action: Action,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Action {
    /// A position was asked and answered.
    Answer {
        #[serde(flatten)]
        at: CardPosition,
        right: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<Way>,
    },
    /// A position is to be asked now.
    Want {
        #[serde(flatten)]
        at: CardPosition,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<Way>,
    },
    /// Which of several moves is the right one; an empty text means any of them.
    Choose {
        #[serde(flatten)]
        at: CardPosition,
        #[serde(rename = "move")]
        uci: String,
    },
    /// The state of a position from elsewhere, which replaces ours if it has more answers.
    Import {
        #[serde(flatten)]
        at: CardPosition,
        state: State,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        way: Option<Way>,
    },
    /// Everything up to here is forgotten.
    Forget,
    /// Another event is undone.
    Undo { event: String },
}

/// A trained position. The side that is asked is the one to move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct CardPosition {
    /// The FEN without move counters.
    pub(super) fen: String,
    /// The chapter of a file that it belongs to, if it is not of a book.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) of: String,
}

/// The moves that lead to a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Way {
    /// FEN of the first position, if it is not the standard one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    /// The moves in UCI, separated by commas.
    line: String,
    /// The name of the opening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opening: Option<String>,
}

/// A way as the page shows it.
#[derive(Serialize)]
pub(super) struct ShownWay<'w> {
    fen: Option<&'w str>,
    line: Vec<MoveNames>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opening: Option<&'w str>,
}

/// How well a position is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) stability: f64,
    pub(super) difficulty: f64,
    /// Number of right and of wrong answers.
    pub(super) right: u32,
    pub(super) wrong: u32,
    /// When it was asked last, and when it is due, in milliseconds since 1970.
    pub(super) asked: u64,
    pub(super) due: u64,
}

impl State {
    pub(super) const fn memory(&self) -> Memory {
        Memory {
            stability: self.stability,
            difficulty: self.difficulty,
        }
    }

    pub(super) const fn answers(&self) -> u64 {
        self.right as u64 + self.wrong as u64
    }

    fn is_valid(&self) -> bool {
        (0.0..=LONGEST).contains(&self.stability)
            && (1.0..=10.0).contains(&self.difficulty)
            && self.asked < LAST
            && self.due < LAST
    }
}

impl Way {
    /// Its last position.
    fn end(&self) -> Result<Chess, Message> {
        Ok(line::read(self.start.as_deref(), Some(&self.line))?
            .last()
            .clone())
    }

    /// The way with the names of its moves, which have been read before.
    pub(super) fn shown(&self) -> ShownWay<'_> {
        let line = line::read(self.start.as_deref(), Some(&self.line)).unwrap_or_default();
        ShownWay {
            fen: self.start.as_deref(),
            line: line.steps().map(MoveNames::new).collect(),
            opening: self.opening.as_deref(),
        }
    }
}

/// The FEN of a position without move counters.
fn key_of(position: &Chess) -> String {
    let fen = notation::fen(position);
    let words: Vec<&str> = fen.split(' ').take(4).collect();
    words.join(" ")
}

impl CardPosition {
    /// Checks it, and writes its FEN in the usual form; returns the position.
    fn check(&mut self) -> Result<Chess, Message> {
        let position = line::read(Some(&self.fen), None)?.last().clone();
        self.fen = key_of(&position);
        check_name(&self.of)?;
        Ok(position)
    }
}

fn check_name(name: &str) -> Result<(), Message> {
    match name.chars().count() <= LONGEST_NAME && !name.contains(char::is_control) {
        true => Ok(()),
        false => Err(Message::from(
            "a name is too long, or has control characters",
        )),
    }
}

impl Event {
    /// The position that it is about; `None` for all.
    pub(super) const fn place(&self) -> Option<&CardPosition> {
        match &self.action {
            Action::Answer { at, .. }
            | Action::Want { at, .. }
            | Action::Choose { at, .. }
            | Action::Import { at, .. } => Some(at),
            Action::Forget | Action::Undo { .. } => None,
        }
    }

    /// Checks all of it, and writes positions in their usual form.
    ///
    /// # Errors
    ///
    /// What is invalid.
    pub(super) fn checked(mut self) -> Result<Event, Message> {
        check_id(&self.id)?;
        if self.time >= LAST {
            return Err(Message::from("its time is out of range"));
        }
        match &mut self.action {
            Action::Answer { at, way, .. } | Action::Want { at, way } => {
                check_way(at, way.as_ref())?
            }
            Action::Choose { at, uci } => {
                let position = at.check()?;
                if !uci.is_empty() && notation::find_uci(&position, uci.as_bytes()).is_none() {
                    return Err(format!("{uci} is not a legal move there").into());
                }
            }
            Action::Import { at, state, way } => {
                check_way(at, way.as_ref())?;
                if !state.is_valid() {
                    return Err(Message::from("a number is out of range"));
                }
            }
            Action::Forget => {}
            Action::Undo { event } => check_id(event)?,
        }
        Ok(self)
    }
}

fn check_way(at: &mut CardPosition, way: Option<&Way>) -> Result<(), Message> {
    at.check()?;
    let Some(way) = way else { return Ok(()) };
    check_name(way.opening.as_deref().unwrap_or_default())?;
    match key_of(&way.end()?) == at.fen {
        true => Ok(()),
        false => Err(Message::from("its moves do not lead to its position")),
    }
}

fn check_id(id: &str) -> Result<(), Message> {
    let is_valid = (1..=LONGEST_ID).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match is_valid {
        true => Ok(()),
        false => Err(Message::from("its identifier is invalid")),
    }
}
