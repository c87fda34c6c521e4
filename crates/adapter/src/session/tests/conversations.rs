//! Conversations: plain text files in `tests/session/`, each played with the session
//! without any process, file or clock.
//!
//! A file is a list of lines:
//!
//! | line | meaning |
//! |---|---|
//! | `# ...` | a comment; blank lines too |
//! | `engine NAME [OPTION=VALUE]...` | adds an engine to the chain |
//! | `named NAME` | the same, for an engine that the command line names |
//! | `stand-in NAME` | the built-in engine |
//! | `games` | games are recorded |
//! | `set NAME=VALUE` | one of our options, for all engines |
//! | `book [white\|black\|learning\|KEY=VALUE...]` | begins a book; `learning`: one that notes games; `KEY=VALUE`: for which games it is |
//! | `in MOVES: MOVE=W/D/L [MOVE=W/D/L[g]]...` | what the book has after these moves; `g` green, `r` red, `-N` evaluated as N centipawns worse than the best |
//! | `gui> LINE` | the GUI sends |
//! | `eng> LINE` | the engine sends |
//! | `up` | the engine asked for runs |
//! | `up NAME MOVES...` | it runs and sends a minimal introduction: name, options |
//! | `gone REASON` | the engine has ended |
//! | `opened [MESSAGE]` | the books are open |
//! | `seed NUMBER`, `seed REASON` | the seed asked for, or why there is none |
//! | `cover [GAME[;GAME]...]`, `cover not: REASON` | the played lines asked for, or why they are not known; `GAME` is `PLAYER white\|black MOVES [end]` |
//! | `wake` | the alarm asked for rings |
//! | `overdue` | the engine's deadline may have come; `heldup MS` its output was not read for so long |
//! | `eof` | the GUI closes our input |
//! | `time MS` | so much time passes |
//! | `gui< LINE` | expected: sent to the GUI |
//! | `eng< LINE` | expected: sent to the engine |
//! | `ask< ...` | expected: `start N`, `kill`, `open N`, `record LINE`, `seed FILE`, `cover BOOK`, `covered ENTRY`, `wake MS`, `exit CODE` |
//!
//! A `*` in an expected line matches anything; `gui< our options` means the declarations
//! of all Tabia options. All output must be expected, in this order.

#![allow(clippy::unwrap_used)] // A panic in a test shows its location.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::session::{Engines, Event, IfNoneStarts, Output, Profile, Request, Session};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Position};
use tabia_book::{
    Annotation, BookMove, Error, Lookup, MoveEvaluation, PositionRecord, Preference, Probe, Stats,
    Wanted,
};
use tabia_choice::book_set::{BookSet, BookSpec, OpenBook};
use tabia_choice::conditions::BookConditions;
use tabia_choice::settings::{OptionId, Settings};

/// A book defined in a conversation.
#[derive(Debug, Default)]
struct WrittenBook {
    moves: HashMap<Chess, Vec<BookMove>>,
    /// Games played from it are recorded.
    learns: bool,
    conditions: BookConditions,
}

impl Probe for WrittenBook {
    fn probe(&self, position: &Chess, _wanted: Wanted, found: &mut Lookup) -> Result<(), Error> {
        found.clear();
        if let Some(moves) = self.moves.get(position) {
            found.here = Some(PositionRecord::default());
            found.moves.extend_from_slice(moves);
        }
        Ok(())
    }

    fn contains(&self, position: &Chess) -> Result<bool, Error> {
        Ok(self.moves.contains_key(position))
    }
}

fn play(moves: &str) -> Chess {
    let mut position = Chess::default();
    for word in moves.split_whitespace() {
        let uci: UciMove = word.parse().unwrap();
        position.play_unchecked(uci.to_move(&position).unwrap());
    }
    position
}

impl WrittenBook {
    fn add(&mut self, text: &str) {
        let (before, after) = text.split_once(':').expect("in MOVES: ...");
        let position = play(before);
        let moves = after
            .split_whitespace()
            .map(|entry| {
                let (mv, results) = entry.split_once('=').expect("MOVE=W/D/L");
                let uci: UciMove = mv.parse().unwrap();
                let (results, loss) = match results.split_once('-') {
                    Some((results, loss)) => (results, Some(loss.parse().unwrap())),
                    None => (results, None),
                };
                let numbers: Vec<u32> = results
                    .trim_end_matches(['g', 'r'])
                    .split('/')
                    .map(|number| number.parse().unwrap())
                    .collect();
                BookMove {
                    mv: uci.to_move(&position).unwrap(),
                    annotation: Annotation::default(),
                    after: Some(PositionRecord {
                        stats: Stats {
                            games: numbers.iter().sum(),
                            wins: numbers[2],
                            draws: numbers[1],
                            losses: numbers[0],
                            ..Stats::default()
                        },
                        recommendation: match results.chars().last() {
                            Some('g') => 0x80,
                            Some('r') => 0x40,
                            _ => 0,
                        },
                        ..PositionRecord::default()
                    }),
                    transposition: false,
                    preference: Preference::Statistics,
                    evaluation: loss.map(|loss: u32| MoveEvaluation {
                        value: 20 - loss.cast_signed(),
                        loss,
                        depth: 18,
                    }),
                }
            })
            .collect();
        self.moves.insert(position, moves);
    }
}

/// The output of the session, written as in the files.
#[derive(Default)]
struct Collected {
    lines: Vec<String>,
    declarations: usize,
}

impl Output for Collected {
    fn gui(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let ours = line
            .strip_prefix("option name ")
            .and_then(|rest| rest.split(" type ").next())
            .is_some_and(|name| OptionId::by_name(name).is_some());
        if ours {
            self.declarations += 1;
            if self.declarations.is_multiple_of(OptionId::ALL.len()) {
                self.lines.push("gui< our options".to_owned());
            }
        } else {
            self.lines.push(format!("gui< {line}"));
        }
    }

    fn engine(&mut self, line: &[u8]) {
        self.lines
            .push(format!("eng< {}", String::from_utf8_lossy(line)));
    }

    fn request(&mut self, request: Request) {
        self.lines.push(format!("ask< {request}"));
    }
}

fn matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| line.strip_prefix(start)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

struct Conversation {
    session: Option<Session>,
    engines: Engines,
    stand_in: Option<String>,
    sets: Vec<(OptionId, String)>,
    books: Vec<(Option<Color>, WrittenBook)>,
    book_set: BookSet,
    now: Duration,
    output: Collected,
}

impl Conversation {
    fn step(&mut self, event: Event<'_>) {
        if self.session.is_none() {
            self.begin();
        }
        if let Some(session) = &mut self.session {
            session.step(self.now, event, &self.book_set, &mut self.output);
        }
    }

    fn begin(&mut self) {
        let chain = self.engines.profiles.len();
        if let Some(name) = self.stand_in.take() {
            self.engines.stand_in = Some(chain);
            self.engines.profiles.push(profile(&name));
        }
        self.engines.chain = chain;
        for profile in &mut self.engines.profiles {
            for (id, value) in &self.sets {
                profile.settings.set(*id, value).unwrap();
            }
        }
        for (colour, book) in std::mem::take(&mut self.books) {
            let spec = BookSpec::new("written")
                .colour(colour)
                .conditions(book.conditions.clone());
            for profile in &mut self.engines.profiles {
                profile.books.push(spec.clone());
            }
            let side_file = book.learns.then(|| "written.learn".into());
            let open = OpenBook::new(spec, Arc::new(book))
                .name(format!("book{}", self.book_set.books.len() + 1))
                .side_file(side_file);
            self.book_set.books.push(open);
        }
        let mut session = Session::new(self.engines.clone(), 1);
        session.start(&mut self.output);
        self.session = Some(session);
    }

    fn line(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "engine" | "named" => {
                if word == "named" {
                    self.engines.if_none_starts = IfNoneStarts::End;
                }
                let mut words = rest.split_whitespace();
                let mut profile = profile(words.next().unwrap());
                profile.options = words
                    .filter_map(|word| word.split_once('='))
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect();
                self.engines.profiles.push(profile);
            }
            "games" => self.engines.record_games = true,
            "announced" => self.engines.announced = Some(rest.to_owned()),
            "stand-in" => self.stand_in = Some(rest.to_owned()),
            "set" => {
                let (name, value) = rest.split_once('=').expect("set NAME=VALUE");
                let id = OptionId::by_name(name).expect("one of our options");
                self.sets.push((id, value.to_owned()));
            }
            "book" => {
                let colour = match rest {
                    "white" => Some(Color::White),
                    "black" => Some(Color::Black),
                    _ => None,
                };
                let mut book = WrittenBook {
                    learns: rest == "learning",
                    ..WrittenBook::default()
                };
                for (key, value) in rest.split(' ').filter_map(|word| word.split_once('=')) {
                    book.conditions
                        .read(key, value)
                        .expect("a condition")
                        .unwrap();
                }
                self.books.push((colour, book));
            }
            "in" => self.books.last_mut().expect("book").1.add(rest),
            "gui>" => self.step(Event::Gui(rest.as_bytes())),
            "eng>" => self.step(Event::Engine(rest.as_bytes())),
            "up" => {
                self.step(Event::EngineUp);
                if !rest.is_empty() {
                    let mut words = rest.split_whitespace();
                    let name = words.next().unwrap_or_default();
                    self.step(Event::Engine(format!("id name {name}").as_bytes()));
                    for option in words {
                        let line = format!("option name {option} type string default x");
                        self.step(Event::Engine(line.as_bytes()));
                    }
                    self.step(Event::Engine(b"uciok"));
                }
            }
            "gone" => self.step(Event::EngineGone(rest)),
            "opened" if rest.is_empty() => self.step(Event::BooksOpened(&[])),
            "opened" => self.step(Event::BooksOpened(&[rest.to_owned()])),
            "seed" => self.step(Event::Seed(rest.parse().map_err(|_| rest))),
            "cover" => match rest.strip_prefix("not: ") {
                Some(reason) => self.step(Event::Cover(Err(reason))),
                None => {
                    let lines: Vec<String> = rest.split(';').map(entry).collect();
                    self.step(Event::Cover(Ok(&lines.join("\n"))));
                }
            },
            "wake" => self.step(Event::WakeUp),
            "overdue" => self.step(Event::Overdue),
            "heldup" => {
                let time = Duration::from_millis(rest.parse().unwrap());
                self.step(Event::OutputPaused(time));
            }
            "eof" => self.step(Event::GuiClosed),
            "time" => self.now += Duration::from_millis(rest.parse().unwrap()),
            _ => panic!("unknown line: {line}"),
        }
    }
}

/// An entry of the file of played lines, from its player, colour and moves.
fn entry(game: &str) -> String {
    let mut words = game.split_whitespace();
    let mut text = words.by_ref().take(2).collect::<Vec<_>>().join(" ");
    let mut position = Chess::default();
    let _ = write!(text, " 0 {:016x}", crate::cover::key(&position));
    for word in words {
        if word == "end" {
            text.push_str(" end");
            break;
        }
        let uci: UciMove = word.parse().unwrap();
        position.play_unchecked(uci.to_move(&position).unwrap());
        let _ = write!(text, " {:016x}", crate::cover::key(&position));
    }
    text
}

fn profile(name: &str) -> Profile {
    Profile {
        name: name.to_owned(),
        options: Vec::new(),
        settings: Settings::default(),
        books: Vec::new(),
        start_timeout: Duration::from_secs(8),
    }
}

fn hold(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut conversation = Conversation {
        session: None,
        engines: Engines::default(),
        stand_in: None,
        sets: Vec::new(),
        books: Vec::new(),
        book_set: BookSet::default(),
        now: Duration::ZERO,
        output: Collected::default(),
    };
    let mut transcript = String::new();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let _ = writeln!(transcript, "{line}");
        conversation.line(line);
        for output in std::mem::take(&mut conversation.output.lines) {
            let expected = lines.get(at).copied().unwrap_or("(the end)");
            let _ = writeln!(transcript, "    {output}");
            if !matches(expected, &output) {
                return Err(format!("{transcript}    but expected: {expected}"));
            }
            at += 1;
        }
        if let Some(expected) = lines.get(at)
            && ["gui<", "eng<", "ask<"]
                .iter()
                .any(|kind| expected.starts_with(kind))
        {
            return Err(format!(
                "{transcript}    nothing more came, but expected: {expected}"
            ));
        }
    }
    Ok(())
}

#[test]
fn every_conversation_goes_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 10, "the conversations are gone: {paths:?}");
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            hold(path)
                .err()
                .map(|text| format!("{}:\n{text}", path.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
