//! The cost of work on a whole book: the starter book, and the time of each task relative
//! to reading all entries in order.
//!
//! `cargo bench --bench books`; medians, all in one run, so that the ratios hold on a
//! machine with other load. `-- --save-baseline NAME` saves them, `-- --baseline NAME`
//! compares them with saved ones.

#![allow(clippy::print_stdout)] // The figures are for users.

#[path = "baseline/mod.rs"]
mod baseline;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use tabia_analysis::graph::BookGraph;
use tabia_book::compare::{Aspects, Plan, compare};
use tabia_book::convert::{self, ConvertJob};
use tabia_book::ctg::{CtgBook, RewriteOptions, compact, verify};
use tabia_book::mark::{self, Filter, Selection, words};
use tabia_book::{Book, OpenOptions};
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;

use baseline::{Baseline, Failure};

const BOOK: &str = "books/tabia.ctg";
const RUNS: usize = 9;

type Outcome = Result<(), Failure>;

/// Median time of some work, in seconds.
fn median(mut work: impl FnMut() -> Outcome) -> Result<f64, Failure> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begin = Instant::now();
        work()?;
        times.push(begin.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn convert_to(source: &Path, target: &Path) -> Outcome {
    let mut job = ConvertJob::new(source.to_owned(), target.to_owned());
    job.old = Previous::Replace;
    convert::run(&job, &mut Watch::default())?;
    Ok(())
}

/// The lines that a dry run of `mark --where` prints.
fn lines_to_marks(book: &Book) -> Outcome {
    let mut selection = Selection::default().filter(Some(Filter::parse("games<10 and score<40")?));
    selection.edit.recommendation = words::mark("avoid");
    let mut shown = Vec::new();
    let watch = &mut Watch::default();
    let ctg = book.as_ctg().ok_or("a ChessBase book")?;
    mark::select(ctg, &selection, watch, &mut |_| {}, &mut |change, _| {
        if shown.len() < 20 {
            shown.push((*change, String::new()));
        }
        Ok(())
    })?;
    mark::show(book, shown, watch, &mut |change| {
        black_box(change);
        Ok(())
    })?;
    Ok(())
}

fn main() -> Outcome {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let path = Path::new(BOOK);
    let jsonl = at("all.jsonl");
    convert_to(path, &jsonl)?;
    // The other book has every second position.
    let text = fs::read_to_string(&jsonl)?;
    let half: Vec<&str> = text.lines().step_by(2).collect();
    fs::write(at("half.jsonl"), half.join("\n"))?;
    convert_to(&at("half.jsonl"), &at("half.ctg"))?;

    let book = Book::open(path, &OpenOptions::default())?;
    let half = Book::open(at("half.ctg"), &OpenOptions::default())?;
    let ctg = CtgBook::open(path, &OpenOptions::default())?;
    let plan = Plan::new(Aspects::from_list(&[]));
    let plain = median(|| {
        black_box(ctg.entries().count());
        Ok(())
    })?;
    println!("{:<36}{:>9.1} ms", "reading the entries", 1e3 * plain);
    let mut baseline = Baseline::of("books")?;
    // The saved figure is relative to the time of reading the entries.
    let mut tell = |name: &str, work: &mut dyn FnMut() -> Outcome| -> Outcome {
        let taken = median(work)?;
        let times = taken / plain;
        let ratio = baseline.ratio(name, times);
        println!("{name:<36}{:>9.1} ms{times:>8.1} times{ratio}", 1e3 * taken);
        Ok(())
    };
    tell("diff with every second position", &mut || {
        let watch = &mut Watch::default();
        compare(
            &book,
            &half,
            &plan,
            watch,
            |one, way| {
                black_box((one, way.map(|way| way.text().len())));
            },
            |()| Ok::<(), Failure>(()),
        )?;
        Ok(())
    })?;
    tell("mark --where, its lines", &mut || lines_to_marks(&book))?;
    for kind in ["bin", "csv", "jsonl"] {
        tell(&format!("convert to .{kind}"), &mut || {
            convert_to(path, &at(&format!("out.{kind}")))
        })?;
    }
    tell("convert from .jsonl", &mut || {
        convert_to(&jsonl, &at("out.ctg"))
    })?;
    tell("compact", &mut || {
        let options = RewriteOptions::default().old(Previous::Replace);
        compact(path, &at("compact.ctg"), &options, &mut Watch::default())?;
        Ok(())
    })?;
    tell("verify", &mut || {
        black_box(verify(path, true, &mut Watch::default(), &mut |_| {})?);
        Ok(())
    })?;
    tell("the graph of audit", &mut || {
        let watch = &mut Watch::default();
        let graph = BookGraph::from_book(&book, watch, &mut |_| {})?;
        black_box(graph.len());
        Ok(())
    })?;
    baseline.keep()
}
