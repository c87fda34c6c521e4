//! The engine of the page: one for all pages. It searches the last requested position, as
//! long as a page listens.
//!
//! Its thread begins with the first request, and is in one of three states:
//!
//! | [`State`] | a request comes | nothing comes | the search ends | the engine fails |
//! |---|---|---|---|---|
//! | `Asleep` | `Answering`, by a new engine | `Asleep` | | |
//! | `Ready` | `Answering` | `Asleep` after [`IDLE_TIMEOUT`] | | |
//! | `Answering` | `Answering` that one | | `Ready` | `Asleep` |
//!
//! The end of the program ends the thread in each.

mod task;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::StatusCode;
use hyper::body::Bytes;
use serde::Deserialize;
use shakmaty::Position as _;
use tokio::sync::watch;

use super::line;
use super::message::{Message, translatable};
use super::reply::{Answer, EVENTS, Subscription, bad, reply};
use tabia_engine::{Analyst, AnalystError, Cancellation, EngineCommand};
use tabia_io::parallel::lock;
use task::{SearchRequest, Task};

/// Greatest number of lines that a page may request.
const MOST_LINES: usize = 5;

/// Greatest number of book moves that are evaluated.
const MOST_MOVES: usize = 40;

/// The engine is ended after this time without requests.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long the engine may take to end its search when the program ends.
const STOP_TIMEOUT: Duration = Duration::from_millis(200);

/// An engine that can be started; of several, the first that starts is used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EngineChoice {
    /// Its name in the configuration.
    pub name: String,
    /// How it is started.
    pub command: EngineCommand,
    /// Options to set.
    pub options: Vec<(String, String)>,
    /// How long it may take to start; 30 seconds unless another time is set.
    pub start_timeout: Duration,
}

impl EngineChoice {
    /// An engine without options.
    #[must_use]
    pub fn new(name: impl Into<String>, command: EngineCommand) -> EngineChoice {
        EngineChoice {
            name: name.into(),
            command,
            options: Vec::new(),
            start_timeout: Duration::from_secs(30),
        }
    }
}

/// A request to evaluate a position.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EngineRequest {
    #[serde(default)]
    fen: Option<String>,
    #[serde(default)]
    play: String,
    lines: usize,
    /// Book moves to evaluate, too.
    #[serde(default)]
    moves: Vec<String>,
    #[serde(default)]
    client: String,
}

/// The engine that pages can ask. Nothing runs before the first request.
pub(super) struct PageEngine {
    name: String,
    choices: Arc<[EngineChoice]>,
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    requests: Sender<SearchRequest>,
    thread: JoinHandle<()>,
    /// Ends its engine.
    cancellation: Arc<Cancellation>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
}

impl PageEngine {
    /// The first of these that starts; `None` if there are none.
    pub(super) fn new(choices: Vec<EngineChoice>) -> Option<PageEngine> {
        Some(PageEngine {
            name: choices.first()?.name.clone(),
            choices: choices.into(),
            worker: Mutex::default(),
        })
    }

    /// Its name, or that of the first choice.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Starts to evaluate a position, and sends reports as long as the page listens.
    pub(super) fn evaluate(&self, request: &EngineRequest) -> Answer {
        let line = line::read(request.fen.as_deref(), Some(&request.play)).map_err(bad)?;
        let position = line.last();
        if position.legal_moves().is_empty() {
            return Err(bad(translatable!("the game is over here")));
        }
        let moves = request.moves.iter().take(MOST_MOVES);
        let moves = moves.map(|mv| mv.parse());
        let moves: Result<_, _> = moves.collect();
        let (listener, receiver) = watch::channel(Bytes::new());
        self.start_search(SearchRequest {
            position: position.clone(),
            lines: request.lines.clamp(1, MOST_LINES),
            moves: moves.map_err(|_| bad("expected moves in UCI notation"))?,
            client: request.client.clone(),
            listener,
        });
        let mut response = reply(StatusCode::OK, EVENTS, Bytes::new());
        response.extensions_mut().insert(Subscription(receiver));
        Ok(response)
    }

    /// Starts a request, which replaces the last one.
    fn start_search(&self, request: SearchRequest) {
        let mut worker = lock(&self.worker);
        let request = match worker.as_ref() {
            Some(known) => match known.requests.send(request) {
                Ok(()) => return,
                Err(mpsc::SendError(request)) => request,
            },
            None => request,
        };
        let (requests, queue) = mpsc::channel();
        let choices = Arc::clone(&self.choices);
        // The receiver exists until the thread that is started next ends.
        let _ = requests.send(request);
        let (working, ended) = mpsc::channel();
        let cancellation = Arc::<Cancellation>::default();
        let thread_cancellation = Arc::clone(&cancellation);
        let thread = std::thread::spawn(move || {
            let _working: Sender<()> = working;
            work(&choices, &thread_cancellation, &queue);
        });
        *worker = Some(Worker {
            requests,
            thread,
            cancellation,
            ended,
        });
    }
}

impl Drop for PageEngine {
    /// Waits for the end of the engine, so that no process is left. A hanging engine is
    /// killed.
    fn drop(&mut self) {
        if let Some(worker) = lock(&self.worker).take() {
            drop(worker.requests);
            if worker.ended.recv_timeout(STOP_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
                worker.cancellation.cancel();
            }
            let _ = worker.thread.join();
        }
    }
}

/// What the thread of the engine does, with `R` for a request and `E` for a running
/// engine.
#[derive(Debug, PartialEq, Eq)]
enum State<R, E> {
    /// No engine runs.
    Asleep,
    /// The engine waits for a request.
    Ready(E),
    /// A request is answered, by the running engine or a new one.
    Answering(R, Option<E>),
}

impl<R, E> State<R, E> {
    /// The state after waiting for a request; `None` if the program ends.
    fn received(self, request: Result<R, RecvTimeoutError>) -> Option<State<R, E>> {
        Some(match (self, request) {
            (_, Err(RecvTimeoutError::Disconnected)) => return None,
            (_, Err(RecvTimeoutError::Timeout)) => State::Asleep,
            (State::Ready(engine), Ok(request)) => State::Answering(request, Some(engine)),
            (_, Ok(request)) => State::Answering(request, None),
        })
    }

    /// The state after an answer, with the request that ended it and the engine, if that
    /// still runs.
    fn answered(next: Option<R>, engine: Option<E>) -> State<R, E> {
        match (next, engine) {
            (Some(request), engine) => State::Answering(request, engine),
            (None, Some(engine)) => State::Ready(engine),
            (None, None) => State::Asleep,
        }
    }
}

/// Handles requests in order; a new one ends the last one.
fn work(choices: &[EngineChoice], cancellation: &Cancellation, requests: &Receiver<SearchRequest>) {
    let mut state = State::Asleep;
    loop {
        let received = match state {
            State::Answering(request, engine) => {
                let mut task = Task::new(&request, requests);
                let engine = engine.map_or_else(|| start(choices, cancellation), Ok);
                let answered = engine.and_then(|engine| task.answer(engine));
                // It may hang or send nonsense: the next request starts another one.
                let failed = |error: AnalystError| request.refuse(Message::from(&error), false);
                state = State::answered(task.next, answered.map_err(failed).ok());
                continue;
            }
            State::Asleep => requests.recv().map_err(RecvTimeoutError::from),
            State::Ready(_) => requests.recv_timeout(IDLE_TIMEOUT),
        };
        state = match state.received(received) {
            Some(next) => next,
            None => return,
        };
    }
}

fn start(choices: &[EngineChoice], cancellation: &Cancellation) -> Result<Analyst, AnalystError> {
    let mut last = None;
    for choice in choices {
        let patience = choice.start_timeout;
        match Analyst::start_on(cancellation, &choice.command, &choice.options, patience) {
            Ok(engine) => return Ok(engine),
            Err(error) => last = last.or(Some(error)),
        }
    }
    Err(last.unwrap_or(AnalystError::NoScore))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_leads_to_one_state() {
        use RecvTimeoutError::{Disconnected, Timeout};
        use State::{Answering, Asleep, Ready};
        let waiting: [(State<&str, &str>, _, _); 6] = [
            (Asleep, Ok("q"), Some(Answering("q", None))),
            (Asleep, Err(Timeout), Some(Asleep)),
            (Asleep, Err(Disconnected), None),
            (Ready("e"), Ok("q"), Some(Answering("q", Some("e")))),
            (Ready("e"), Err(Timeout), Some(Asleep)),
            (Ready("e"), Err(Disconnected), None),
        ];
        for (state, received, next) in waiting {
            let row = format!("{state:?} {received:?}");
            assert_eq!(state.received(received), next, "{row}");
        }
        for (next, engine, state) in [
            (None, Some("e"), Ready("e")),
            (None, None, Asleep),
            (Some("q"), Some("e"), Answering("q", Some("e"))),
            (Some("q"), None, Answering("q", None)),
        ] {
            assert_eq!(State::answered(next, engine), state, "{next:?} {engine:?}");
        }
        // Without an engine there is nothing to ask.
        assert!(PageEngine::new(Vec::new()).is_none());
    }
}
