//! Training: pages send events, and get what is known of each position and when it is asked
//! again.
//!
//! ```text
//! page --events--> Trainings -> Log (files, append only) -> Training::fold -> cards --> page
//! ```
//!
//! | file | owns |
//! |---|---|
//! | `event` | an event, as a page sends it and a file has it |
//! | `memory` | how well a position is known |
//! | `fold` | what is known after some events, without files or clocks |
//! | `log` | the files of events |
//! | `deck` | which files a book has |
//!
//! An event has an identifier of the page, so a page sends it until it is acknowledged, and
//! any number of pages and programs share a file. (In the browser's storage alone, tabs overwrote
//! each other's cards, another port began without any, and so did a renamed book.) Where nothing
//! can be stored, the page keeps its events, sends them all, and gets the same answer.

mod deck;
mod event;
mod fold;
mod log;
mod memory;

pub(super) use deck::Deck;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::{Message, translatable};
use event::{CardPosition, Event, ShownWay, State};
use fold::Training;
use log::Log;
use tabia_io::parallel::lock;

/// Where events are stored.
#[derive(Debug)]
pub(super) enum Storage {
    /// In files: beside the book, else in this folder, if there is one.
    Files { elsewhere: Option<PathBuf> },
    /// Files are read, but not written.
    ReadOnly { elsewhere: Option<PathBuf> },
    /// The page keeps them.
    Page,
}

/// The training of all books.
pub(super) struct Trainings {
    storage: Storage,
    decks: Mutex<HashMap<String, Arc<Mutex<OpenDeck>>>>,
}

/// A request of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrainRequest {
    pub(super) deck: String,
    /// The mark of the last answer: only what has changed since is sent.
    #[serde(default)]
    since: Option<String>,
    #[serde(default)]
    events: Vec<Value>,
    /// The book, missing in the folder, whose training becomes that of this one.
    #[serde(default)]
    adopt: Option<String>,
}

/// The answer to a page.
#[derive(Serialize)]
pub(super) struct Trained {
    /// Whether these are all positions, not only those that have changed.
    whole: bool,
    mark: String,
    cards: Vec<Value>,
    /// The chosen moves: position, chapter, move.
    moves: Vec<(String, String, String)>,
    /// Whether the events are stored.
    stored: bool,
    /// Why they are not, unless the page is to keep them.
    problem: Option<Message>,
    /// Events that are invalid: they will never be stored.
    refused: Vec<RefusedEvent>,
    /// Lines of the files that are not events.
    notices: Vec<Message>,
    /// Books with training in the folder of this one, which has none, that are missing.
    left_behind: Vec<String>,
}

#[derive(Serialize)]
struct RefusedEvent {
    id: String,
    reason: Message,
}

#[derive(Serialize)]
struct ShownCard<'c> {
    at: &'c CardPosition,
    #[serde(flatten)]
    state: &'c State,
    #[serde(flatten)]
    way: Option<ShownWay<'c>>,
}

/// The events of a deck, and what follows from them.
struct OpenDeck {
    log: Log,
    training: Training,
    /// The number of events that are folded.
    folded: usize,
    /// Differs between programs, and after a file was replaced: a mark of another one means
    /// nothing here.
    epoch: u32,
}

impl Trainings {
    pub(super) fn new(storage: Storage) -> Trainings {
        Trainings {
            storage,
            decks: Mutex::default(),
        }
    }

    /// Sets the folder for what cannot be stored beside a book.
    pub(super) fn with_folder(self, elsewhere: Option<PathBuf>) -> Trainings {
        Trainings::new(match self.storage {
            Storage::Files { .. } => Storage::Files { elsewhere },
            Storage::ReadOnly { .. } => Storage::ReadOnly { elsewhere },
            Storage::Page => Storage::Page,
        })
    }

    /// Stores events of a page in a deck, and answers with what has changed.
    pub(super) fn exchange(&self, deck: &Deck, request: &TrainRequest) -> Trained {
        let mut refused = Vec::new();
        let mut events = Vec::new();
        for event in &request.events {
            match read(event) {
                Ok(event) => events.push(event),
                Err(event) => refused.push(event),
            }
        }
        let mut answer = match &self.storage {
            Storage::Page => {
                // Nothing is wrong: they are not meant to be stored here.
                Trained::not_stored(&Training::fold(&events), None)
            }
            Storage::ReadOnly { elsewhere } => {
                let open = self.open(deck, elsewhere.as_ref());
                let reason = translatable!("the explorer was started read-only");
                lock(&open).without_storing(&events, reason)
            }
            Storage::Files { elsewhere } => {
                let open = self.open(deck, elsewhere.as_ref());
                let mut open = lock(&open);
                let adopted = match &request.adopt {
                    Some(book) if deck.left_behind().contains(book) => deck.adopt(book).err(),
                    _ => None,
                };
                let mut answer = open.store(&events, request.since.as_deref());
                if let Some(error) = adopted {
                    answer
                        .problem
                        .get_or_insert_with(|| error.to_string().into());
                }
                if !open.log.is_begun() {
                    answer.left_behind = deck.left_behind();
                }
                answer
            }
        };
        answer.refused = refused;
        answer
    }

    fn open(&self, deck: &Deck, elsewhere: Option<&PathBuf>) -> Arc<Mutex<OpenDeck>> {
        let mut decks = lock(&self.decks);
        let open = decks.entry(deck.id.clone()).or_insert_with(|| {
            let elsewhere = elsewhere.map(|folder| folder.join(&deck.elsewhere));
            let paths = deck.beside.clone().into_iter().chain(elsewhere);
            Arc::new(Mutex::new(OpenDeck::new(Log::new(paths))))
        });
        Arc::clone(open)
    }
}

/// An event that a page has sent.
fn read(sent: &Value) -> Result<Event, RefusedEvent> {
    let event = Event::deserialize(sent);
    let event = event.map_err(|error| Message::from(error.to_string()));
    event
        .and_then(Event::checked)
        .map_err(|reason| RefusedEvent {
            id: sent["id"].as_str().unwrap_or_default().to_owned(),
            reason,
        })
}

impl OpenDeck {
    fn new(log: Log) -> OpenDeck {
        OpenDeck {
            log,
            training: Training::default(),
            folded: 0,
            epoch: rand::random(),
        }
    }

    fn mark(&self) -> String {
        format!("{}-{}", self.epoch, self.log.events.len())
    }

    /// Folds what was added to the log; returns the positions that have changed since a mark,
    /// if it is one of this program and not all have.
    fn fold(&mut self, is_same: bool, since: Option<&str>) -> Option<BTreeSet<CardPosition>> {
        if !is_same {
            self.folded = 0;
            self.epoch = rand::random();
        }
        let events = &self.log.events;
        let mut new = events.iter().skip(self.folded);
        if self.folded == 0 || !new.all(|event| self.training.add(event)) {
            self.training = Training::fold(events);
        }
        self.folded = events.len();
        let (epoch, count) = since?.split_once('-')?;
        let is_known = epoch.parse() == Ok(self.epoch);
        let new = events.get(count.parse().ok().filter(|_| is_known)?..)?;
        new.iter().map(|event| event.place().cloned()).collect()
    }

    fn store(&mut self, events: &[Event], since: Option<&str>) -> Trained {
        let stored = self.log.refresh().and_then(|is_same| match events {
            [] => Ok(is_same),
            events => Ok(self.log.append(events)? && is_same),
        });
        match stored {
            Ok(is_same) => {
                let changed = self.fold(is_same, since);
                let mut answer = Trained::new(&self.training, changed.as_ref());
                answer.mark = self.mark();
                if answer.whole {
                    answer.notices = self.log.notices.clone();
                }
                answer
            }
            Err(error) => self.without_storing(events, error.message()),
        }
    }

    /// What would be known if the events were stored.
    fn without_storing(&mut self, events: &[Event], reason: Message) -> Trained {
        let problem = self.log.refresh().err().map(|error| error.message());
        let sent = events.iter().filter(|event| !self.log.has(&event.id));
        let training = Training::fold(self.log.events.iter().chain(sent));
        Trained::not_stored(&training, Some(problem.unwrap_or(reason)))
    }
}

impl Trained {
    fn new(training: &Training, changed: Option<&BTreeSet<CardPosition>>) -> Trained {
        let is_sent =
            |place: &&CardPosition| changed.is_none_or(|changed| changed.contains(*place));
        let cards = training.cards.iter().filter(|(place, _)| is_sent(place));
        let cards = cards.filter_map(|(at, card)| {
            let shown = ShownCard {
                at,
                state: &card.state,
                way: card.way.as_ref().map(|way| way.shown()),
            };
            serde_json::to_value(&shown).ok()
        });
        let moves = training.choices.iter().filter(|(place, _)| is_sent(place));
        let moves = moves.map(|(at, uci)| (at.fen.clone(), at.of.clone(), uci.clone()));
        Trained {
            whole: changed.is_none(),
            mark: String::new(),
            cards: cards.collect(),
            moves: moves.collect(),
            stored: true,
            problem: None,
            refused: Vec::new(),
            notices: Vec::new(),
            left_behind: Vec::new(),
        }
    }

    fn not_stored(training: &Training, problem: Option<Message>) -> Trained {
        Trained {
            stored: false,
            problem,
            ..Trained::new(training, None)
        }
    }
}
