//! Iterative deepening with littlewing's search.
//!
//! littlewing's own root search prints its output directly, loses its move order between
//! calls and supports neither `searchmoves` nor depth, node or mate limits, nor several
//! lines. Its `search_node` below the root is public, so this module searches the root:
//! legal moves come from shakmaty, and every score, line and limit is handled here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use littlewing::chess::{Clock, FEN, Game, PieceMoveGenerator, PieceMoveNotation, Search};
use littlewing::history::HistoryHeuristic;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::control::Control;
use super::output::Output;
use super::position::{Board, fen_for_search, is_ordinary};
use super::score::{self, INF};
use super::time::not_negative;
use tabia_notation as notation;
use tabia_uci::gui::Go;

/// Check extensions can double the depth, and littlewing's move lists end at 128 plies.
const MAX_DEPTH: i8 = 60;

/// Number of nodes between two checks of the clock: some tens of microseconds.
const POLL_NODES: u64 = 100;

/// After an immediate `stop` this many nodes are still searched, so that the first depth
/// is complete. At most a few milliseconds.
const FIRST_NODES: u64 = 4000;

const DEFAULT_HASH_MIB: usize = 16;

/// A `go mate` without other limits ends after this many nodes, some seconds: without a
/// mate, searching all depths would take too long.
const MATE_NODES: u64 = 2_000_000;

/// The message where no position is known.
pub(super) const NO_POSITION: &str = "info string there is no legal position to search";

/// The search for one `go`.
pub(super) struct SearchJob {
    /// `None` after a `position` that is not legal.
    pub(super) board: Option<Board>,
    pub(super) go: Go,
    /// Number of best lines to show, at least 1.
    pub(super) lines: usize,
    /// How castling is written.
    pub(super) castling: CastlingMode,
    pub(super) control: Arc<Control>,
}

/// littlewing and its tables, allocated when first needed.
#[derive(Default)]
pub(super) struct Searcher {
    game: Option<Box<Game>>,
    hash_mib: Option<usize>,
    /// Whether the table has mate scores. littlewing stores them as distance from the
    /// root, so they are wrong for the next root.
    saw_mate: bool,
}

/// The results of a search so far, which survive a panic.
#[derive(Default)]
struct BestSoFar {
    line: Vec<Move>,
    saw_mate: bool,
}

impl Searcher {
    /// Allocates the tables.
    pub(super) fn prepare(&mut self) {
        self.game();
    }

    fn game(&mut self) -> &mut Game {
        let bytes = table_bytes(self.hash_mib.unwrap_or(DEFAULT_HASH_MIB));
        self.game.get_or_insert_with(|| {
            let mut game = Box::new(Game::new());
            game.tt_resize(bytes);
            game
        })
    }

    /// Clears the tables.
    pub(super) fn new_game(&mut self) {
        if let Some(game) = &mut self.game {
            game.tt.clear();
        }
        self.saw_mate = false;
    }

    pub(super) fn set_hash(&mut self, mib: usize) {
        self.hash_mib = Some(mib);
        if let Some(game) = &mut self.game {
            let bytes = table_bytes(mib);
            if game.tt_size() != bytes {
                // Frees the old table first: both may not fit into memory.
                game.tt_resize(16);
                game.tt_resize(bytes);
            }
        }
    }

    /// Work that is done after the answer, to save time before it.
    pub(super) fn tidy(&mut self) {
        if self.saw_mate {
            self.new_game();
        }
    }

    /// Searches until a limit is reached and returns the best line. It is empty only
    /// without a legal move or position.
    pub(super) fn think(&mut self, job: &SearchJob, output: &Output) -> Vec<Move> {
        let Some(board) = &job.board else {
            output.line(NO_POSITION);
            return Vec::new();
        };
        let position = board.now();
        let moves = root_moves(position, job.go.searchmoves.as_deref(), output);
        if moves.is_empty() {
            let score = if position.is_check() {
                "mate 0"
            } else {
                "cp 0"
            };
            output.line(&format!("info depth 0 score {score}"));
            return Vec::new();
        }
        let mut found = BestSoFar {
            line: vec![moves[0]],
            saw_mate: false,
        };
        let known = (board, &moves[..]);
        if !self.contained(|game| search(game, job, known, &mut found, output)) {
            output.line("info string search broken off, playing the best move so far");
        }
        self.saw_mate |= found.saw_mate;
        found.line
    }

    /// Whether `work` ended without a panic; after a panic the next search starts with a
    /// new board and empty tables.
    fn contained(&mut self, work: impl FnOnce(&mut Game)) -> bool {
        let game = self.game();
        let ended = catch_unwind(AssertUnwindSafe(|| work(game))).is_ok();
        if !ended {
            self.game = None;
        }
        ended
    }
}

/// The largest power of two that is not above this; littlewing would round up.
fn table_bytes(mib: usize) -> usize {
    let mib = mib.max(1);
    (1 << mib.ilog2()) << 20
}

/// The root moves. A list without any legal move is ignored, because a legal move is
/// better for the GUI than no answer.
fn root_moves(position: &Chess, wanted: Option<&[String]>, output: &Output) -> Vec<Move> {
    let legal = position.legal_moves();
    let Some(wanted) = wanted else {
        return legal.into_iter().collect();
    };
    let wanted = wanted.iter();
    let wanted: Vec<_> = wanted
        .filter_map(|m| notation::find_uci(position, m.as_bytes()))
        .collect();
    if wanted.is_empty() {
        output.line("info string searchmoves names no legal move, searching all");
        return legal.into_iter().collect();
    }
    legal.into_iter().filter(|m| wanted.contains(m)).collect()
}

/// A clock that is stopped until the search has to end, then is far in the future.
///
/// littlewing reads its clock every hundred nodes; this checks limits, `stop` and the
/// deadline then, without another thread.
fn clock(control: Arc<Control>, nodes: u64, depth_done: Arc<AtomicU64>) -> Clock {
    const ALLOWED_MS: u64 = 1000;
    let step = (nodes / 8).clamp(1, POLL_NODES);
    let polls = AtomicU64::new(0);
    let mut clock = Clock::new(1, ALLOWED_MS);
    clock.polling_nodes_count = step - 1;
    clock.system_time = Arc::new(move || {
        let seen = (polls.fetch_add(1, Ordering::Relaxed) + 1) * step;
        let may_end = depth_done.load(Ordering::Relaxed) > 0 || seen >= FIRST_NODES;
        if may_end && (seen >= nodes || control.must_end()) {
            u128::from(ALLOWED_MS * 2)
        } else {
            0
        }
    });
    clock
}

fn search(
    game: &mut Game,
    job: &SearchJob,
    (board, moves): (&Board, &[Move]),
    found: &mut BestSoFar,
    output: &Output,
) {
    let limits = &job.go.limits;
    let control = &*job.control;
    let position = board.now();

    // The FEN comes from a legal position.
    if let Err(problem) = set_up(game, board) {
        output.line(&format!("info string {problem}"));
        return;
    }
    let enough = match limits.mate {
        Some(_) if !job.go.infinite => MATE_NODES,
        _ => u64::MAX,
    };
    let nodes_limit = limits.nodes.map_or(enough, not_negative);
    let depth_done = Arc::new(AtomicU64::new(0));
    game.nodes_count = 0;
    game.tt.reset();
    game.clear_history();
    game.moves.clear_all();
    game.clock = clock(job.control.clone(), nodes_limit, depth_done.clone());

    let mut root = moves.to_vec();
    let lines = job.lines.clamp(1, root.len());

    for depth in 1..=max_depth(limits.depth, limits.mate) {
        // The best lines of this depth, best first: each begins with the best move that
        // no earlier line begins with.
        let mut best: Vec<Scored> = Vec::new();
        for place in 0..lines {
            let alone = lines == 1;
            let found_one = best_from(game, board, &mut root[place..], depth, |game, new| {
                found.saw_mate |= score::is_mate(new.score);
                // With several lines, only complete depths are reported, and the first
                // line is the answer.
                if alone {
                    report(game, job, (depth, None), position, new, output);
                }
                if alone || depth == 1 && place == 0 {
                    found.line.clone_from(&new.line);
                }
            });
            let Some(new) = found_one else {
                return;
            };
            // A later search may find a better move than an earlier one.
            let at = best.partition_point(|known| known.score >= new.score);
            root[at..=place].rotate_right(1);
            best.insert(at, new);
        }
        if lines > 1 {
            for (number, line) in (1..).zip(&best) {
                report(game, job, (depth, Some(number)), position, line, output);
            }
            found.line.clone_from(&best[0].line);
        }
        depth_done.store(1, Ordering::Relaxed);

        let mate = score::mate_in(best[0].score);
        let wanted = limits.mate.map_or(i64::MAX, |n| n.max(1));
        if limits.mate.is_some() && mate.is_some_and(|n| (1..=wanted).contains(&n)) {
            return;
        }
        if game.nodes_count >= nodes_limit || control.should_end() || output.is_gone() {
            return;
        }
        // Only one move, or nothing better to find: save the time.
        let certain = root.len() == 1 && depth >= 6
            || mate.is_some_and(|n| i64::from(depth) > 2 * n.abs() + 2);
        if certain && control.on_the_clock() && job.go.clocks.move_time.is_none() {
            return;
        }
    }
}

/// A line of play and its value for the side to move.
struct Scored {
    score: i16,
    line: Vec<Move>,
}

/// Sets littlewing's board up.
fn set_up(game: &mut Game, board: &Board) -> Result<(), String> {
    game.load_fen(&board.base_fen())?;
    for m in board.since_base() {
        let m = game.move_from_lan(&m);
        game.make_move(m);
    }
    Ok(())
}

/// Makes a move at the root for the time of `work`.
///
/// Castling that littlewing does not know sets its board up anew: in a game it cannot be
/// taken back, so that no repetition is lost.
fn with_move<T>(game: &mut Game, board: &Board, m: Move, work: impl FnOnce(&mut Game) -> T) -> T {
    if is_ordinary(m) {
        let inner = game.move_from_lan(&m.to_uci(CastlingMode::Standard).to_string());
        game.make_move(inner);
        let result = work(game);
        game.undo_move(inner);
        return result;
    }
    // Both FENs come from legal positions.
    let _ = game.load_fen(&fen_for_search(&notation::after(board.now(), m)));
    let result = work(game);
    let _ = set_up(game, board);
    result
}

/// Finds the best of some moves and moves it to the front, so that it is searched first
/// at the next depth. Calls `improved` for each move that is better than those before it.
/// `None` if the search was aborted.
fn best_from(
    game: &mut Game,
    board: &Board,
    root: &mut [Move],
    depth: i8,
    mut improved: impl FnMut(&Game, &Scored),
) -> Option<Scored> {
    let position = board.now();
    let mut alpha = -INF;
    let mut best = None;
    for i in 0..root.len() {
        let m = root[i];
        let score = with_move(game, board, m, |game| {
            game.nodes_count += 1;
            known_score(position, m).unwrap_or_else(|| {
                if i == 0 {
                    return -game.search_node(-INF, INF, depth - 1, 1);
                }
                let score = -game.search_node(-alpha - 1, -alpha, depth - 1, 1);
                if score > alpha {
                    -game.search_node(-INF, -alpha, depth - 1, 1)
                } else {
                    score
                }
            })
        });
        if game.clock.poll(game.nodes_count) {
            // The score of an aborted search is invalid.
            return None;
        }
        if score <= alpha {
            continue;
        }
        alpha = score;
        root[..=i].rotate_right(1);
        let line = line(game, board, m, depth, score);
        let new = Scored { score, line };
        improved(game, &new);
        best = Some(new);
    }
    best
}

/// A mate in n takes 2n - 1 plies; the margin is for moves that littlewing prunes.
fn max_depth(depth: Option<i64>, mate: Option<i64>) -> i8 {
    let by_mate = mate.map(|n| n.saturating_mul(2).saturating_add(8));
    depth
        .into_iter()
        .chain(by_mate)
        .map(|depth| depth.clamp(1, MAX_DEPTH.into()) as i8)
        .fold(MAX_DEPTH, i8::min)
}

/// The score of a move that ends the game, which littlewing finds late or, with a high
/// fifty-move count, never.
fn known_score(position: &Chess, m: Move) -> Option<i16> {
    let mut after = position.clone();
    after.play_unchecked(m);
    if after.is_checkmate() {
        return Some(INF - 1);
    }
    (after.is_stalemate() || after.is_insufficient_material()).then_some(0)
}

/// The principal variation, as far as the table has it and its moves are legal.
fn line(game: &mut Game, board: &Board, first: Move, depth: i8, score: i16) -> Vec<Move> {
    let longest = usize::try_from(depth)
        .unwrap_or(1)
        .max(score::plies_to_mate(score).unwrap_or(0));
    let mut after = notation::after(board.now(), first);
    let mut line = vec![first];
    with_move(game, board, first, |game| {
        let mut made = Vec::new();
        while line.len() < longest && !game.positions.is_draw() {
            let hash = game.positions.top().hash;
            let Some(entry) = game.tt.get(hash) else {
                break;
            };
            let inner = entry.best_move();
            let Ok(uci) = inner.to_lan().parse::<UciMove>() else {
                break;
            };
            let Ok(m) = uci.to_move(&after) else {
                break;
            };
            after.play_unchecked(m);
            game.make_move(inner);
            made.push(inner);
            line.push(m);
        }
        for inner in made.into_iter().rev() {
            game.undo_move(inner);
        }
    });
    line
}

/// `number` is the number of the line if there are several.
fn report(
    game: &Game,
    job: &SearchJob,
    (depth, number): (i8, Option<usize>),
    position: &Chess,
    found: &Scored,
    output: &Output,
) {
    let time = job.control.elapsed_ms();
    let nodes = game.nodes_count;
    let nps = nodes.saturating_mul(1000) / time.max(1);
    let number = number.map_or_else(String::new, |number| format!(" multipv {number}"));
    let score = score::render(found.score, position, &found.line);
    let pv: Vec<_> = found
        .line
        .iter()
        .map(|mv| mv.to_uci(job.castling).to_string())
        .collect();
    output.line(&format!(
        "info depth {depth}{number} score {score} nodes {nodes} nps {nps} time {time} pv {}",
        pv.join(" ")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::position::Board;

    #[test]
    fn a_panic_ends_the_search_and_not_the_engine() {
        let mut searcher = Searcher::default();
        assert!(!searcher.contained(|game| {
            // A panic may leave positions on the board's stack.
            while game.positions.len() > 0 {
                game.positions.pop();
            }
            game.side();
        }));
        let job = SearchJob {
            board: Some(Board::default()),
            go: Go {
                limits: tabia_uci::gui::Limits {
                    depth: Some(3),
                    ..Default::default()
                },
                ..Go::default()
            },
            lines: 1,
            castling: CastlingMode::Standard,
            control: Arc::new(Control::new(None, false, false)),
        };
        let line = searcher.think(&job, &Output::new(std::io::sink()));
        assert!(!line.is_empty());
    }

    #[test]
    fn the_table_is_never_larger_than_the_option() {
        for (mib, bytes) in [(0, 1 << 20), (1, 1 << 20), (3, 2 << 20), (16, 16 << 20)] {
            assert_eq!(table_bytes(mib), bytes);
        }
    }
}
