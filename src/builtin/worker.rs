//! The search thread, which owns the tables and works in order.

use std::sync::mpsc::{Receiver, Sender};

use shakmaty::{CastlingMode, Move};

use super::output::Output;
use super::perft;
use super::search::{SearchJob, Searcher};

/// A task of the worker.
pub(super) enum Job {
    /// Allocate the tables, then send a reply.
    Ready(Sender<()>),
    /// Clear the tables.
    NewGame,
    /// Table size in MiB.
    Hash(usize),
    /// Search and answer.
    Search(Box<SearchJob>),
}

/// Works until the sender of `jobs` is dropped.
pub(super) fn work(jobs: &Receiver<Job>, output: &Output) {
    let mut searcher = Searcher::default();
    for job in jobs {
        match job {
            Job::Ready(answer) => {
                searcher.prepare();
                // The receiver is gone if the session is over.
                let _ = answer.send(());
            }
            Job::NewGame => searcher.new_game(),
            Job::Hash(mib) => searcher.set_hash(mib),
            Job::Search(job) if job.go.perft.is_some() => {
                perft::count(&job, output);
                job.control.finish();
            }
            Job::Search(job) => {
                let line = searcher.think(&job, output);
                job.control.wait_for_release();
                output.line(&best_move_line(&line, job.castling));
                job.control.finish();
                searcher.tidy();
            }
        }
    }
}

fn best_move_line(line: &[Move], castling: CastlingMode) -> String {
    let written = |mv: &Move| mv.to_uci(castling);
    match line {
        [] => "bestmove 0000".to_owned(),
        [best] => format!("bestmove {}", written(best)),
        [best, reply, ..] => format!("bestmove {} ponder {}", written(best), written(reply)),
    }
}
