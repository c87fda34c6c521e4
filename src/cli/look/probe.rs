//! `tabia probe`: shows the moves of a position, and how likely each is played.

use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::explain;
use crate::cli::arguments::common::{self, PlaceArgs};
use crate::cli::arguments::complete::{self, Of};
use crate::cli::arguments::line;
use crate::cli::files;
use crate::cli::print::made;
use crate::cli::print::output::print_json;
use crate::cli::print::table;
use shakmaty::Position as _;
use tabia_book::policy::choose;
use tabia_book::view::PositionView;
use tabia_book::{Book, Probe};
use tabia_choice::settings::Options;
use tabia_explorer::{Open, book_of_games};
use tabia_index::GamesIndex;
use tabia_notation::Line;

/// Arguments of `probe`.
#[derive(Args, Debug)]
pub(crate) struct ProbeArgs {
    /// The book, or an index of games
    #[arg(add = complete::books_and_indexes())]
    book: PathBuf,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Prints one JSON object a position
    #[arg(long)]
    json: bool,
    /// Shows file, page, offset and bytes of every entry
    #[arg(long)]
    explain: bool,
    /// Sets one of the options that decide between moves
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Choice))]
    set: Vec<String>,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    no_mmap: bool,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    view: &'a PositionView,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
}

/// The answer to an input line that is not a position.
#[derive(Serialize)]
struct JsonError<'a> {
    fen: &'a str,
    error: String,
}

pub(crate) fn run(args: &ProbeArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let options = common::choice_options(&args.set)?;
    let (book, played) = match files::is_index(&args.book) {
        true => (None, games(args, &options)?),
        false => {
            let (book, played) = files::open_as_played(&args.book, &options, args.no_mmap)?;
            (Some(book), played)
        }
    };
    let prober = Prober {
        book: book.as_deref(),
        played: &*played,
        options,
        moves: args.place.moves.as_deref().unwrap_or_default(),
        json: args.json,
        explain: args.explain,
    };
    let code = if args.place.words() == ["-"] {
        prober.answer_lines(io::stdin().lock(), out)?
    } else {
        prober.answer_one(&args.place.line()?, out)?
    };
    // The exit code says whether the position is in the book.
    book.as_deref().map(made::left_out);
    Ok(code)
}

/// An index of games as a book.
fn games(args: &ProbeArgs, options: &Options) -> anyhow::Result<Open> {
    let path = &args.book;
    anyhow::ensure!(
        !args.explain,
        "{}: --explain shows the bytes of a book; this is an index of games",
        path.display()
    );
    let games = book_of_games(GamesIndex::open(path, !args.no_mmap)?);
    Ok(files::with_evaluations(games, path, options, args.no_mmap))
}

struct Prober<'a> {
    /// `None` for an index of games.
    book: Option<&'a Book>,
    /// The book as the adapter would play it.
    played: &'a dyn Probe,
    options: Options,
    moves: &'a str,
    json: bool,
    explain: bool,
}

impl Prober<'_> {
    fn look_up(&self, line: &Line) -> anyhow::Result<PositionView> {
        let found = choose(
            self.played,
            line.last(),
            line.before(),
            &self.options.rules(),
        )?;
        let view = PositionView::new(line.last(), &found);
        Ok(view.with_games_of(self.played, line.last(), &found)?)
    }

    fn answer_one(&self, asked: &Line, out: &mut impl Write) -> anyhow::Result<u8> {
        let view = self.look_up(asked)?;
        let mut explanation = Vec::new();
        if let Some(book) = self.book.filter(|_| self.explain) {
            explain::write(book, asked.last(), &mut explanation)?;
        }
        if self.json {
            let text = String::from_utf8_lossy(&explanation);
            let text = anstream::adapter::strip_str(&text).to_string();
            let explanation = self.explain.then_some(text);
            let view = &view;
            print_json(&Json { view, explanation }, out)?;
        } else {
            table::write(&view, asked.last().turn(), out)?;
            if io::stdout().is_terminal() {
                write!(out, "\n{}", table::legend(&view))?;
            }
            out.write_all(&explanation)?;
        }
        Ok(u8::from(!view.in_book))
    }

    /// Answers each line with one line: exit code 1 if a position is not in the book, 2
    /// if a line is not a position.
    fn answer_lines(&self, input: impl BufRead, out: &mut impl Write) -> anyhow::Result<u8> {
        let mut code = 0;
        let (mut completed, mut first) = (0_u64, None);
        for (index, line) in input.split(b'\n').enumerate() {
            let line = String::from_utf8_lossy(&line?).trim().to_owned();
            if line.is_empty() {
                continue;
            }
            match Line::read(&line, self.moves) {
                Ok(asked) => {
                    let note = line::completed(&line, &asked);
                    completed += u64::from(note.is_some());
                    first = first.or_else(|| Some(format!("line {}: {}", index + 1, note?)));
                    let view = self.look_up(&asked)?;
                    code = code.max(u8::from(!view.in_book));
                    if self.json {
                        print_json(&view, out)?;
                    } else {
                        table::write_line(&view, out)?;
                    }
                }
                Err(error) => {
                    let error = error.to_string();
                    code = 2;
                    message!("tabia: line {}: {error}", index + 1);
                    if self.json {
                        print_json(&JsonError { fen: &line, error }, out)?;
                    } else {
                        writeln!(out, "{error}")?;
                    }
                }
            }
            // A program may wait for each answer before it sends the next line.
            out.flush()?;
        }
        if let Some(first) = first {
            let more = match completed {
                1 => String::new(),
                _ => format!("; as do {} more", completed - 1),
            };
            message!("tabia: {first}{more}");
        }
        Ok(code)
    }
}
