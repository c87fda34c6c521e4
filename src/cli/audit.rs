//! `tabia audit`: what is wrong with a book by its evaluations.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::ensure;
use clap::{Args, ValueEnum};
use shakmaty::Color;

use super::force::Force;
use super::valued::{self, Form};
use crate::audit::{self, AuditWishes, Examined, Marks};
use crate::book::ctg::EditOptions;
use crate::mark;
use crate::place;

/// Findings of each kind in the terminal, and in a file.
const SHOWN: usize = 10;
const WRITTEN: usize = 500;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Sides {
    #[value(alias = "w")]
    White,
    #[value(alias = "b")]
    Black,
    Both,
}

impl Sides {
    /// The colour, if it is one.
    pub(super) fn alone(self) -> Option<Color> {
        match self {
            Sides::White => Some(Color::White),
            Sides::Black => Some(Color::Black),
            Sides::Both => None,
        }
    }
}

/// Arguments of `audit`.
#[derive(Args, Debug)]
pub(super) struct AuditArgs {
    /// The book
    pub(super) book: PathBuf,
    /// Centipawns that a move may lose against the best that is known, and
    /// that a line may end below zero
    #[arg(long, value_name = "CP", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(1..=2000))]
    max_loss: u32,
    /// Whose moves and ends
    #[arg(long, value_enum, default_value = "both", ignore_case = true)]
    side: Sides,
    /// Writes the report to a file as well: .html with diagrams, .md or .json
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Marks moves that lose too much: red, and ?!, ? or ??
    #[arg(long)]
    mark: bool,
    /// Writes the symbols (+=, -+ and the like) of evaluated positions into
    /// their commentary
    #[arg(long)]
    symbols: bool,
    /// Also in place of marks and symbols that are there
    #[arg(long)]
    over: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
    /// The file of evaluations [default: beside the book]
    #[arg(long, value_name = "FILE")]
    evaluations: Option<PathBuf>,
    /// Sets one of the options that decide between moves
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

pub(super) const EXAMPLES: &str = "Examples:\n  \
    tabia audit book.ctg\n  \
    tabia audit book.ctg --side white --max-loss 30 --report book.html\n  \
    tabia audit book.ctg --mark --symbols\n\n\
    Evaluations stand beside the book (tabia evaluate). They are carried from the ends of the \
    book to every position, right with transpositions and repetitions. Listed are moves that \
    lose, lines that end badly, and refutations that no mark points out, what costs most and \
    is likeliest first; and what the positions are worth where the book ends.\n\n\
    --mark and --symbols never change a mark that is there, unless with --over.\n\n\
    Exit codes: 0 nothing is wrong; 1 something is; 2 the book cannot be read, or has no \
    evaluations.";

pub(super) fn run(args: &AuditArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let start = Instant::now();
    let form = args.report.as_deref().map(valued::form).transpose()?;
    if let Some(report) = &args.report {
        place::check(report, &[], args.force.old())?;
    }
    let path = valued::path(args.evaluations.as_deref(), &args.book);
    let settings = super::probe::settings(&args.set)?;
    let book = super::open_book(&args.book, false)?;
    let known = valued::evaluations(&path)?;
    ensure!(
        !known.is_empty(),
        "{}: no evaluations there; `tabia evaluate` fills it",
        path.display()
    );
    let graph = valued::graph(&book)?;
    let policy = settings.policy();
    let examined = Examined::new(&graph, &known, policy);
    let found = examined.audit(&AuditWishes {
        max_loss: args.max_loss,
        side: args.side.alone(),
        told: if args.json || args.report.is_some() {
            WRITTEN
        } else {
            SHOWN
        },
    });
    let title = format!("Audit of {}", args.book.display());
    if let (Some(path), Some(form)) = (&args.report, form) {
        let text = match form {
            Form::Html => audit::html(&title, &found),
            Form::Markdown => audit::markdown(&title, &found),
            Form::Json => serde_json::to_string_pretty(&found)? + "\n",
        };
        place::put(path, text.as_bytes(), args.force.old())?;
    }
    if args.json {
        serde_json::to_writer(&mut *out, &found)?;
        writeln!(out)?;
    } else {
        let mut shown = found.clone();
        shown.losing.truncate(SHOWN);
        shown.bad_ends.truncate(SHOWN);
        shown.refutations.truncate(SHOWN);
        write!(out, "{}", audit::markdown(&title, &shown))?;
    }
    out.flush()?;
    if args.mark || args.symbols {
        let mut editor = mark::open_ctg(&args.book, &EditOptions::default())?;
        let marks = Marks {
            losing: args.mark.then_some(args.max_loss),
            symbols: args.symbols,
            over: args.over,
        };
        let changes = audit::changes(&examined, &editor, marks)?;
        let old = editor.apply(&changes)?;
        say!("{}: {} marks changed", args.book.display(), old.len());
    }
    say!(
        "{}: {} moves that lose, {} bad ends, {} refutations; {:.1} s",
        args.book.display(),
        found.losing_count,
        found.bad_end_count,
        found.refutation_count,
        start.elapsed().as_secs_f64()
    );
    Ok(u8::from(!found.is_clean()))
}
