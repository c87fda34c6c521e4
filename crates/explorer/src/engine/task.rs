//! A search for a page: of the position, of book moves one by one, and what the page is
//! told of both.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};
use tokio::sync::watch;

use super::super::message::{Message, translatable};
use super::super::move_names::{MoveNames, uci};
use tabia_book::eval::Value;
use tabia_engine::{Analyst, AnalystError, Question, SearchUpdate, Variation};

/// Greatest number of plies of a reported line.
const MOST_PLIES: usize = 16;

/// Time of the first search, before the book moves are evaluated.
const FIRST_SEARCH_TIME: Duration = Duration::from_millis(700);

/// Time for each book move with which no line of the first search begins.
const MOVE_TIME: Duration = Duration::from_millis(150);

/// Greatest number of searches for moves without a value, each twice as long as the last.
const MOVE_ROUNDS: usize = 5;

/// Greatest time of a search: longer ones are hardly better.
const LONGEST_SEARCH: Duration = Duration::from_secs(300);

/// The time between two reports to a page. Reports are sent even if nothing is new, in
/// order to detect that the page has gone.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// A valid request, and where its answer goes.
pub(super) struct SearchRequest {
    pub(super) position: Chess,
    pub(super) lines: usize,
    pub(super) moves: Vec<UciMove>,
    /// The page that sends the request.
    pub(super) client: String,
    /// The channel for the reports.
    pub(super) listener: watch::Sender<Bytes>,
}

/// A running request.
pub(super) struct Task<'a> {
    request: &'a SearchRequest,
    requests: &'a Receiver<SearchRequest>,
    /// The request that ended this one.
    pub(super) next: Option<SearchRequest>,
    /// The engine's own name.
    engine: String,
    /// The deepest result so far.
    best: SearchUpdate,
    /// Values of moves, first of all of book moves.
    values: Vec<ReportedMove>,
    /// When the last report was sent to the page.
    last_report: Option<Instant>,
}

/// A report to a page: always all results.
#[derive(Serialize)]
struct Report<'a> {
    engine: &'a str,
    /// `None` before the first line.
    depth: Option<u16>,
    /// `None` until the engine reports it.
    nodes: Option<u64>,
    nodes_a_second: Option<u64>,
    lines: Vec<ReportedLine>,
    moves: &'a [ReportedMove],
    /// Whether this is the last report.
    done: bool,
}

/// Values are for White: centipawns, or moves to mate, negative if Black mates.
#[derive(Clone, Copy, Serialize)]
struct ReportedValue {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    depth: u16,
}

#[derive(Serialize)]
struct ReportedLine {
    #[serde(flatten)]
    value: ReportedValue,
    moves: Vec<MoveNames>,
}

#[derive(Clone, Serialize)]
struct ReportedMove {
    uci: String,
    #[serde(flatten)]
    value: ReportedValue,
}

/// Why a page gets no more reports.
#[derive(Serialize)]
struct Ended {
    problem: Message,
    /// Whether another page uses the engine now.
    taken: bool,
}

impl SearchRequest {
    pub(super) fn refuse(&self, problem: Message, taken: bool) {
        self.send(&Ended { problem, taken });
    }

    /// A page that reads slowly misses some reports; each contains all results, so
    /// nothing is lost.
    fn send(&self, report: &impl Serialize) {
        if let Ok(text) = serde_json::to_string(report) {
            let piece = format!("data: {text}\n\n").into();
            self.listener.send_replace(piece);
        }
    }
}

impl<'a> Task<'a> {
    pub(super) fn new(
        request: &'a SearchRequest,
        requests: &'a Receiver<SearchRequest>,
    ) -> Task<'a> {
        Task {
            request,
            requests,
            next: None,
            engine: String::new(),
            best: SearchUpdate::default(),
            values: Vec::new(),
            last_report: None,
        }
    }

    /// Answers the request; returns the engine, which still runs.
    pub(super) fn answer(&mut self, mut running: Analyst) -> Result<Analyst, AnalystError> {
        self.engine = running.name().chars().take(60).collect();
        let ended = self.search(&mut running, FIRST_SEARCH_TIME)?
            || self.evaluate_moves(&mut running)?
            || self.search(&mut running, LONGEST_SEARCH)?;
        if !ended {
            self.report(true);
        }
        Ok(running)
    }

    /// Searches the position for a time; returns whether the request has ended.
    fn search(&mut self, engine: &mut Analyst, limit: Duration) -> Result<bool, AnalystError> {
        let lines = self.request.lines;
        let (found, ended) = self.run(engine, &[], lines, limit, |task, update| {
            task.receive(update);
            task.report_if_due();
        })?;
        self.receive(&found);
        Ok(ended)
    }

    /// Runs a search until its time limit or the end of the request; returns its result,
    /// and whether the request has ended.
    fn run(
        &mut self,
        engine: &mut Analyst,
        only: &[UciMove],
        lines: usize,
        limit: Duration,
        receive: impl Fn(&mut Self, &SearchUpdate),
    ) -> Result<(SearchUpdate, bool), AnalystError> {
        let question = Question {
            position: &self.request.position,
            only,
            lines: lines as u16,
            afresh: false,
        };
        let mut ended = false;
        let found = engine.think(question, limit, |update| {
            receive(self, update);
            ended = self.is_over();
            match ended {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok((found, ended))
    }

    /// Searches each book move that no line begins with. A busy machine may stop an
    /// engine before it has reported all of them: missing ones are searched again, for
    /// longer.
    fn evaluate_moves(&mut self, engine: &mut Analyst) -> Result<bool, AnalystError> {
        let mut limit = MOVE_TIME;
        for _ in 0..MOVE_ROUNDS {
            let rest = self.moves_without_value();
            if rest.is_empty() {
                break;
            }
            // One by one if the engine has no `MultiPV`.
            let at_once = if engine.has_lines() { rest.len() } else { 1 };
            for moves in rest.chunks(at_once) {
                if self.search_moves(engine, moves, limit * moves.len() as u32)? {
                    return Ok(true);
                }
            }
            limit *= 2;
        }
        Ok(false)
    }

    /// Legal book moves without a value.
    fn moves_without_value(&self) -> Vec<UciMove> {
        let position = &self.request.position;
        let unknown = |name: &String| self.values.iter().all(|known| known.uci != *name);
        let mut rest = self.request.moves.clone();
        rest.retain(|mv| uci_if_legal(position, *mv).is_some_and(|name| unknown(&name)));
        rest
    }

    /// Searches only these moves; returns whether the request has ended.
    fn search_moves(
        &mut self,
        engine: &mut Analyst,
        moves: &[UciMove],
        limit: Duration,
    ) -> Result<bool, AnalystError> {
        let (found, ended) = self.run(engine, moves, moves.len(), limit, |_, _| {})?;
        self.store_values(&found);
        if !ended {
            self.report(false);
        }
        Ok(ended)
    }

    /// Handles a result of the engine. A later search begins again at depth 1: a better
    /// earlier result stays.
    fn receive(&mut self, update: &SearchUpdate) {
        let rank = |update: &SearchUpdate| {
            let first = update.lines.first().and_then(Option::as_ref);
            (first.map_or(0, |line| line.depth), update.nodes)
        };
        let count = |update: &SearchUpdate| update.lines.iter().flatten().count();
        if count(update) >= count(&self.best) && rank(update) >= rank(&self.best) {
            self.best = update.clone();
            self.store_values(update);
        }
    }

    /// Stores the values of the first moves of lines.
    fn store_values(&mut self, update: &SearchUpdate) {
        for line in update.lines.iter().flatten() {
            let position = &self.request.position;
            let first = line.moves.first();
            let Some(uci) = first.and_then(|mv| uci_if_legal(position, *mv)) else {
                continue;
            };
            self.values.retain(|known| known.uci != uci);
            self.values.push(ReportedMove {
                uci,
                value: reported_value(line),
            });
        }
    }

    /// Whether the request has ended: the page has gone, or another request has come.
    fn is_over(&mut self) -> bool {
        loop {
            match self.requests.try_recv() {
                Ok(request) => {
                    let passed = self.next.as_ref().unwrap_or(self.request);
                    if passed.client != request.client {
                        let reason = translatable!("another page is using the engine now");
                        passed.refuse(reason, true);
                    }
                    self.next = Some(request);
                }
                Err(TryRecvError::Empty) => break,
                // The program ends.
                Err(TryRecvError::Disconnected) => return true,
            }
        }
        self.next.is_some() || self.request.listener.is_closed()
    }

    fn report_if_due(&mut self) {
        if self
            .last_report
            .is_none_or(|sent| sent.elapsed() >= REPORT_INTERVAL)
        {
            self.report(false);
        }
    }

    /// Sends the page all results.
    fn report(&mut self, done: bool) {
        self.last_report = Some(Instant::now());
        let position = &self.request.position;
        let lines: Vec<ReportedLine> = self
            .best
            .lines
            .iter()
            .flatten()
            .filter_map(|line| {
                let moves = MoveNames::of_moves(position, &playable(position, &line.moves));
                (!moves.is_empty()).then(|| ReportedLine {
                    value: reported_value(line),
                    moves,
                })
            })
            .collect();
        let report = Report {
            engine: &self.engine,
            depth: lines.first().map(|line| line.value.depth),
            nodes: (self.best.nodes > 0).then_some(self.best.nodes),
            nodes_a_second: self.best.nodes_a_second,
            lines,
            moves: &self.values,
            done,
        };
        self.request.send(&report);
    }
}

/// The page's name for a move, if it is legal.
fn uci_if_legal(position: &Chess, mv: UciMove) -> Option<String> {
    let mv = mv.to_move(position).ok()?;
    Some(uci(position, mv))
}

/// A line up to the first illegal move.
fn playable(position: &Chess, moves: &[UciMove]) -> Vec<Move> {
    let mut at = position.clone();
    let mut found = Vec::new();
    for mv in moves.iter().take(MOST_PLIES) {
        let Ok(mv) = mv.to_move(&at) else {
            break;
        };
        at.play_unchecked(mv);
        found.push(mv);
    }
    found
}

fn reported_value(line: &Variation) -> ReportedValue {
    let (cp, mate) = match line.value {
        Value::Cp(cp) => (Some(cp), None),
        Value::Mate { winner, moves } => (None, Some(winner.fold_wb(1, -1) * i32::from(moves))),
    };
    ReportedValue {
        cp,
        mate,
        depth: line.depth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Color;
    use std::sync::mpsc;

    #[test]
    fn moves_of_an_engine_are_played_before_they_are_reported() {
        let start = Chess::default();
        let moves: Vec<UciMove> = ["e2e4", "e7e5", "e1g1", "g8f6"]
            .iter()
            .map(|mv| mv.parse().unwrap())
            .collect();
        assert_eq!(playable(&start, &moves).len(), 2);
        assert!(playable(&start, &moves[1..]).is_empty());
        let many = ["g1f3", "g8f6", "f3g1", "f6g8"].map(|mv| mv.parse().unwrap());
        let many: Vec<UciMove> = many.iter().copied().cycle().take(400).collect();
        assert_eq!(playable(&start, &many).len(), MOST_PLIES);
    }

    #[test]
    fn a_page_is_notified_when_another_page_takes_the_engine() {
        let listens = |client: &str| {
            let (listener, receiver) = watch::channel(Bytes::new());
            let request = SearchRequest {
                position: Chess::default(),
                lines: 1,
                moves: Vec::new(),
                client: client.to_owned(),
                listener,
            };
            (request, receiver)
        };
        let (first, of_first) = listens("one");
        let (second, of_second) = listens("two");
        let (third, of_third) = listens("one");
        let (sender, requests) = mpsc::channel();
        let mut task = Task::new(&first, &requests);
        assert!(!task.is_over());
        // Both come before the first report of the engine.
        sender.send(second).unwrap();
        sender.send(third).unwrap();
        assert!(task.is_over());
        for (receiver, ended) in [(of_first, true), (of_second, true), (of_third, false)] {
            let report = String::from_utf8_lossy(&receiver.borrow()).into_owned();
            assert_eq!(report.contains("another page"), ended, "{report}");
        }
    }

    #[test]
    fn a_mate_by_black_is_negative() {
        let line = |value| {
            reported_value(&Variation {
                value,
                depth: 3,
                moves: Vec::new(),
            })
        };
        let black = Value::mate_of_mover(Color::Black, 2);
        assert_eq!(line(black).mate, Some(-2));
        assert_eq!(line(Value::Cp(-31)).cp, Some(-31));
    }
}
