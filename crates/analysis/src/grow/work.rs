//! Asks engines about the cheapest candidates, and adds the answers.

use std::collections::HashSet;
use std::time::Instant;

use rustc_hash::FxBuildHasher;
use shakmaty::{Chess, Color, uci::UciMove};

use super::frontier::{Candidate, Next, SearchInput};
use super::region::entrances;
use super::replies::Replies;
use super::{End, GrowOptions, Grown};
use crate::Error;
use crate::evaluate::{self, EnginePlan, Outcome, Worker};
use crate::graph::{self, BookGraph, NodeId};
use tabia_book::eval::{Evaluation, MoveValue};
use tabia_book::evals::{EvalFile, EvalKey, EvalTable};
use tabia_engine::AnalystError;
use tabia_io::progress::{Progress, Stop, Watch};

/// Lowest number of positions chosen per round. More are chosen in a large book, so that
/// choosing takes little time; not fewer, so that engines have something to do.
const FEWEST: usize = 16;
const MOST: usize = 1024;
const PART: usize = 32;

/// Grows `graph`. `table` has the evaluations of the old book; the engines' answers are
/// added to it, and to `file` at once. Positions in `searched`, which an earlier run has
/// left in the file, are not searched again.
///
/// # Errors
///
/// No engine works, a file cannot be read or written, or the work is cancelled; all
/// answers are then in the file.
pub fn grow(
    plan: &EnginePlan,
    options: &GrowOptions<'_>,
    graph: &mut BookGraph,
    table: &mut EvalTable,
    searched: &EvalTable,
    file: EvalFile,
    watch: &mut Watch<'_>,
) -> Result<Grown, Error> {
    let entrances = entrances(graph, &options.roots);
    if entrances.is_empty() {
        let text = "the position to begin from is not in the book";
        return Err(Error::Text(text.to_owned()));
    }
    let mut grown = Grown::default();
    let mut replies = options.replies.map(Replies::new);
    let mut barred: HashSet<NodeId, FxBuildHasher> = HashSet::default();
    grown.end = loop {
        if grown.positions >= options.positions {
            break End::Positions;
        }
        if options.until.is_some_and(|until| Instant::now() >= until) {
            break End::Time;
        }
        let values = graph.values(&graph.leaving(table));
        let input = SearchInput {
            graph,
            table,
            values: &values,
            costs: options.costs,
            max_cost: options.max_cost,
            max_ply: options.max_ply,
            entrances: &entrances,
            barred: &barred,
        };
        let candidates = chosen(&input, options.side, &mut replies)?;
        let room = options.positions - grown.positions;
        let jobs = jobs(graph, table, searched, candidates, room);
        if jobs.is_empty() {
            break End::Exhausted;
        }
        let round = Round {
            graph,
            table,
            file: &file,
            until: options.until,
            stop: watch.stop(),
        };
        let made = round.work(plan, &jobs, watch, &mut grown, options)?;
        take_in(graph, table, &jobs, made, &mut grown, &mut barred)?;
    };
    file.sync()?;
    Ok(grown)
}

/// The candidates of this round, cheapest first; alternating between the sides in a book
/// for both.
fn chosen(
    input: &SearchInput<'_>,
    side: Option<Color>,
    replies: &mut Option<Replies<'_>>,
) -> Result<Vec<Candidate>, Error> {
    let count = (input.graph.len() / PART).clamp(FEWEST, MOST);
    if let Some(side) = side {
        return input.candidates(side, replies, count);
    }
    let of_white = input.candidates(Color::White, replies, count)?;
    let of_black = input.candidates(Color::Black, replies, count)?;
    let mut seen: HashSet<NodeId, FxBuildHasher> = HashSet::default();
    let mut both = Vec::new();
    let (mut white, mut black) = (of_white.into_iter(), of_black.into_iter());
    loop {
        let pair = [white.next(), black.next()];
        if both.len() >= count || pair == [None, None] {
            both.truncate(count);
            return Ok(both);
        }
        both.extend(pair.into_iter().flatten().filter(|p| seen.insert(p.node)));
    }
}

/// A job of a round.
struct Job {
    candidate: Candidate,
    /// The position to search, on the board of the graph: that of the node, or the one
    /// after the new move.
    position: Chess,
    /// What to ask about it.
    question: Question,
    /// Whether the position is new to the graph.
    is_new: bool,
}

/// Where the answer about a position comes from.
enum Question {
    /// No answer is needed.
    None,
    /// An earlier run has searched it, and this was the answer.
    Answered(Evaluation),
    /// The engine must be asked.
    Engine,
}

impl Question {
    /// The question about a position as a whole.
    fn first(searched: &EvalTable, position: &Chess) -> Question {
        match searched.get(position) {
            // The values of other moves are added when they are asked for: if they were
            // known earlier than in the first run, the book would grow in another order.
            Some(mut searched) => {
                searched.moves.truncate(1);
                Question::Answered(searched)
            }
            None => Question::Engine,
        }
    }

    /// The question about leaving the book.
    fn leaving(searched: &EvalTable, known: &Evaluation, position: &Chess) -> Question {
        let Some(searched) = searched.get(position) else {
            return Question::Engine;
        };
        let is_known = |mv: &MoveValue| known.moves.iter().any(|known| known.mv == mv.mv);
        match searched.moves.into_iter().find(|mv| !is_known(mv)) {
            Some(next) => {
                let mut known = known.clone();
                known.moves.push(next);
                Question::Answered(known)
            }
            None => Question::Engine,
        }
    }
}

/// As many jobs as fit into `room` new positions.
fn jobs(
    graph: &BookGraph,
    table: &EvalTable,
    searched: &EvalTable,
    chosen: Vec<Candidate>,
    room: u64,
) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut new: HashSet<EvalKey> = HashSet::new();
    for candidate in chosen {
        let position = graph.position(candidate.node);
        let Next::Add(mv) = candidate.next else {
            let known = table.canonical(graph.key(candidate.node));
            jobs.push(Job {
                candidate,
                question: match known {
                    Some(known) => Question::leaving(searched, known, &position),
                    None => Question::first(searched, &position),
                },
                position,
                is_new: false,
            });
            continue;
        };
        let Some(position) = graph::after(&position, mv) else {
            continue;
        };
        let key = EvalKey::from_position(&position);
        let first = !graph.holds(key) && !new.contains(&key);
        if first && new.len() as u64 >= room {
            break;
        }
        if first {
            new.insert(key);
        }
        jobs.push(Job {
            candidate,
            // Positions of the graph were searched, or will be.
            question: match first && !table.contains(&position) {
                true => Question::first(searched, &position),
                false => Question::None,
            },
            position,
            is_new: first,
        });
    }
    jobs
}

/// The answer about a position, if one was needed.
type JobOutcome = Outcome<Option<Evaluation>>;

/// What the workers of a round share.
struct Round<'a> {
    graph: &'a BookGraph,
    table: &'a EvalTable,
    file: &'a EvalFile,
    until: Option<Instant>,
    stop: Stop<'a>,
}

impl Round<'_> {
    fn work(
        &self,
        plan: &EnginePlan,
        jobs: &[Job],
        watch: &mut Watch<'_>,
        grown: &mut Grown,
        options: &GrowOptions<'_>,
    ) -> Result<Vec<JobOutcome>, Error> {
        let mut made = Vec::with_capacity(jobs.len());
        let mut positions = grown.positions;
        let take = |one| {
            let job = jobs.get(made.len());
            positions += u64::from(job.is_some_and(|job| job.is_new));
            made.push(one);
            let total = (options.positions < u64::MAX).then_some(options.positions);
            watch.step(Progress::new("growing", "positions", positions, total))?;
            Ok(())
        };
        let one = |n, worker: &mut Worker<'_>| match jobs.get(n) {
            Some(job) => self.one(job, worker),
            None => Ok(Outcome::Stopped),
        };
        grown.restarts += evaluate::each(plan, jobs.len(), one, take)?;
        Ok(made)
    }

    fn one(&self, job: &Job, worker: &mut Worker<'_>) -> Result<JobOutcome, Error> {
        match &job.question {
            Question::None => return Ok(Outcome::Found(None)),
            Question::Answered(searched) => return Ok(Outcome::Found(Some(searched.clone()))),
            Question::Engine => {}
        }
        let ended = self.until.is_some_and(|until| Instant::now() >= until);
        if ended || self.stop.go_on().is_err() {
            return Ok(Outcome::Stopped);
        }
        let answer = self.ask(job, worker).map(Some);
        let outcome = worker.outcome(&job.position, answer)?;
        if let Outcome::Found(Some(found)) = &outcome {
            self.file.add(&job.position, found)?;
        }
        Ok(outcome)
    }

    fn ask(&self, job: &Job, worker: &mut Worker<'_>) -> Result<Evaluation, AnalystError> {
        let node = job.candidate.node;
        let known = match job.candidate.next {
            Next::Leave => self.table.canonical(self.graph.key(node)),
            Next::Search | Next::Add(_) => None,
        };
        let Some(known) = known else {
            return worker.ask(&job.position, &[]);
        };
        let mut known = known.clone();
        let others = evaluate::others(self.graph, node, &job.position);
        known.moves.extend(worker.best_of(&job.position, &others)?);
        Ok(known)
    }
}

/// Adds the answers, in the order in which the positions were chosen.
fn take_in(
    graph: &mut BookGraph,
    table: &mut EvalTable,
    jobs: &[Job],
    made: Vec<JobOutcome>,
    grown: &mut Grown,
    barred: &mut HashSet<NodeId, FxBuildHasher>,
) -> Result<(), Error> {
    let mut new: Vec<(NodeId, UciMove)> = Vec::new();
    for (job, made) in jobs.iter().zip(made) {
        let node = job.candidate.node;
        match made {
            Outcome::Found(found) => {
                if let Some(found) = found {
                    let is_new = table.add(&job.position, &found);
                    grown.searches += u64::from(matches!(job.question, Question::Engine));
                    // A position without new answers is not asked about again.
                    if !is_new {
                        barred.insert(node);
                    }
                }
                if let Next::Add(mv) = job.candidate.next {
                    new.push((node, mv));
                    grown.cost = job.candidate.cost;
                }
            }
            Outcome::Failed(_, error) => {
                barred.insert(node);
                grown.failed += 1;
                let position = graph.position(node);
                grown.first_fault.get_or_insert((position, error));
            }
            Outcome::Stopped => {}
        }
    }
    let before = graph.len();
    graph.extend(&new)?;
    grown.positions += (graph.len() - before) as u64;
    grown.moves.extend(new);
    Ok(())
}

/// Adds the evaluations of `known` for positions of `graph` to `file`, if they are not in
/// `searched`, the content of the file.
///
/// # Errors
///
/// The file cannot be written.
pub fn take_over(
    known: &EvalTable,
    graph: &BookGraph,
    searched: &mut EvalTable,
    file: &EvalFile,
) -> Result<(), Error> {
    for node in graph.nodes() {
        let Some(evaluation) = known.canonical(graph.key(node)) else {
            continue;
        };
        let position = graph.position(node);
        if searched.add(&position, evaluation) {
            file.add(&position, evaluation)?;
        }
    }
    Ok(())
}
