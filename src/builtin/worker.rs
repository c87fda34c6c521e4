//! The thread that owns the engine's memory and does its work in order.

use std::sync::mpsc::{Receiver, Sender};

use shakmaty::uci::UciMove;

use super::output::Output;
use super::search::{SearchJob, Searcher};

/// A piece of work.
pub(super) enum Job {
    /// Get ready, then send an answer.
    Ready(Sender<()>),
    /// Forget the last game.
    NewGame,
    /// Table size in MiB.
    Hash(usize),
    /// Think and answer.
    Search(Box<SearchJob>),
}

/// Works until the other end of `jobs` is dropped.
pub(super) fn work(jobs: &Receiver<Job>, output: &Output) {
    let mut searcher = Searcher::default();
    for job in jobs {
        match job {
            Job::Ready(answer) => {
                searcher.prepare();
                // Nobody listens any more: the session is over.
                let _ = answer.send(());
            }
            Job::NewGame => searcher.new_game(),
            Job::Hash(mib) => searcher.set_hash(mib),
            Job::Search(job) => {
                let line = searcher.think(&job, output);
                job.control.wait_for_release();
                output.line(&best_move_line(&line));
                job.control.finish();
                searcher.tidy();
            }
        }
    }
}

fn best_move_line(line: &[UciMove]) -> String {
    match line {
        [] => "bestmove 0000".to_owned(),
        [best] => format!("bestmove {best}"),
        [best, reply, ..] => format!("bestmove {best} ponder {reply}"),
    }
}
