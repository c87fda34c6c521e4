//! `tabia mark`: changes colours, annotations and learn values of moves in place.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};

use super::mark_changes::{self, ChangeArgs};
use crate::cli::arguments::common::{COLOUR, PlayerColour};
use crate::cli::arguments::complete;
use crate::cli::arguments::line;
use crate::cli::files;
use crate::cli::print::style::counted;
use crate::cli::print::{made, progress};
use shakmaty::{Color, Position};
use tabia_book::mark::{self, Filter, MarkError, MarkJob, MarkTarget, Selection, words};
use tabia_book::{Annotation, BookEditor, Mark, MarkEdit, Resolve};
use tabia_notation::Line;

/// Greatest number of changes of a whole book shown by `--dry-run`.
const SHOWN: usize = 20;

/// Arguments of `mark`.
#[derive(Args, Debug)]
pub(crate) struct MarkArgs {
    /// The book
    #[arg(add = complete::books())]
    pub(crate) book: PathBuf,
    /// Marks without their option: main, avoid, none, !, ?, !!, ??, !?, ?!
    #[arg(value_name = "MARK")]
    words: Vec<String>,
    /// The colour of the moves: main (green), avoid (red) or none
    #[arg(long, visible_alias = "mark", value_name = "MARK", value_parser = colour_mark, help_heading = "Which mark")]
    recommendation: Option<Mark>,
    /// The annotation of the moves: ! ? !! ?? !? ?! none, or a NAG number
    #[arg(long, value_name = "ANNOTATION", value_parser = annotation, help_heading = "Which mark")]
    annotation: Option<Annotation>,
    /// The learn value, -125 (never) to 125 (always), for the player of the move
    #[arg(long, alias = "factor", value_name = "N", allow_hyphen_values = true,
          value_parser = clap::value_parser!(i8).range(-125..=125), help_heading = "Which mark")]
    learn_value: Option<i8>,
    /// The commentary of the position after the move: none, a NAG number as
    /// seen on the board, or = += =+ +/- -/+ +- -+
    #[arg(long, value_name = "NAG", allow_hyphen_values = true, value_parser = commentary, help_heading = "Which mark")]
    commentary: Option<u8>,
    /// In a Polyglot book the weight of the moves, in an Arena book their
    /// priority (0 to 9); 0 is never
    #[arg(
        long,
        value_name = "N",
        visible_alias = "priority",
        help_heading = "Which mark"
    )]
    weight: Option<u16>,
    /// Removes colour, annotation and learn value; of the whole book with --all
    #[arg(long, help_heading = "Which mark")]
    clear: bool,
    /// Removes bits of colours and annotations that no program uses
    #[arg(long, alias = "junk", help_heading = "Which mark")]
    clean: bool,
    /// The position to start from [default: the start position]
    #[arg(long, value_name = "FEN", help_heading = "Which moves")]
    fen: Option<String>,
    /// Moves to play from there; without --move the last of them alone is marked
    #[arg(long, value_name = "MOVES", help_heading = "Which moves")]
    moves: Option<String>,
    /// The move to change, as e2e4 or Nf3
    #[arg(long = "move", value_name = "MOVE", help_heading = "Which moves")]
    one: Option<String>,
    /// A line, as "1.e4 c5": each of its moves is marked
    #[arg(long, value_name = "MOVES", conflicts_with_all = ["one", "moves"], help_heading = "Which moves")]
    line: Option<String>,
    /// With --line: each of its moves, also for a mark that forbids or blames
    #[arg(long, requires = "line", help_heading = "Which moves")]
    each: bool,
    /// Moves of this side: of the line, or of all lines from the start position
    #[arg(
        long,
        aliases = COLOUR,
        value_name = "COLOUR",
        ignore_case = true,
        help_heading = "Which moves"
    )]
    colour: Option<PlayerColour>,
    /// All moves of the book
    #[arg(long, conflicts_with_all = ["one", "moves", "line", "fen"], help_heading = "Which moves")]
    all: bool,
    /// Only moves that meet a condition, as "games<10 and score<40"
    #[arg(long = "where", value_name = "CONDITION", help_heading = "Which moves")]
    filter: Option<String>,
    #[command(flatten)]
    work: ChangeArgs,
    /// With a whole book: unreadable parts are an error, and nothing is changed
    #[arg(long, help_heading = "Work")]
    strict: bool,
    /// What to do with a change that was interrupted before the book was restored or
    /// copied: make it, or forget it
    #[arg(long, value_name = "apply|drop", help_heading = "Work",
          conflicts_with_all = ["words", "recommendation", "annotation", "learn_value", "commentary",
                                "weight", "clear", "clean", "fen", "moves", "one", "line",
                                "colour", "all", "filter", "dry_run"])]
    pending: Option<OnPending>,
    /// Undoes the last mark, unless the book was changed since
    #[arg(long, help_heading = "Work",
          conflicts_with_all = ["words", "recommendation", "annotation", "learn_value", "commentary",
                                "weight", "clear", "clean", "fen", "moves", "one", "line",
                                "colour", "all", "filter", "pending", "strict"])]
    undo: bool,
    /// With --dry-run: shows all that would change, not the first 20
    #[arg(long, requires = "dry_run", help_heading = "Work")]
    list: bool,
}

/// The values of `--pending`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnPending {
    Apply,
    Drop,
}

pub(crate) const MARK_EXAMPLES: &str = "Examples:\n  \
    tabia mark book.ctg --move e4 --mark main\n  \
    tabia mark book.ctg --line \"1.e4 c5 2.Nf3\" --colour white main\n  \
    tabia mark book.ctg --fen \"FEN\" --move Nf3 --annotation \"!\" --learn-value 20\n  \
    tabia mark book.ctg --all --where \"games<10 and score<40\" avoid --dry-run\n  \
    tabia mark book.ctg --colour black main\n  \
    tabia mark book.ctg --all --clear --clean\n  \
    tabia mark book.ctg --undo\n\n\
    Conditions compare games, wins, draws, losses, score (per cent), learn_value, mark, \
    annotation, commentary, elo, performance, share (per cent of the games beside it), \
    ply and weight with < <= > >= = !=, joined by and, or, not and brackets; all seen by the player of \
    the move.\n\n\
    Colour, learn value and commentary are stored with the position after the move: every move \
    into it has them, with colours exchanged too. A move that is not stored can have them; an \
    annotation stores the move. Programs that play from the book see marks at once. \
    After a crash each byte is old or new, and the next change completes the interrupted one. \
    After a change of many moves (--all, --where, --colour) the book before it is BOOK.bak.\n\n\
    Exit codes: 0 done; 1 a position is not in the book, or pages of it cannot be read; 2 wrong \
    usage or files.";

fn colour_mark(text: &str) -> Result<Mark, String> {
    words::mark(text).ok_or_else(|| "expected main, avoid or none".to_owned())
}

fn annotation(text: &str) -> Result<Annotation, String> {
    Annotation::from_symbol(text)
        .ok_or_else(|| "expected ! ? !! ?? !? ?! none, or a NAG number below 32".to_owned())
}

fn commentary(text: &str) -> Result<u8, String> {
    words::commentary(text)
        .ok_or_else(|| "expected none, a NAG number or one of = += =+ +/- -/+ +- -+".to_owned())
}

impl MarkArgs {
    fn edit(&self) -> anyhow::Result<MarkEdit> {
        let mut edit = if self.clear {
            MarkEdit::clear()
        } else {
            MarkEdit::default()
        };
        edit.clean = self.clean;
        edit.learn_value = self.learn_value.or(edit.learn_value);
        edit.commentary = self.commentary;
        edit.weight = self.weight;
        let (mut colour, mut symbol) = (self.recommendation, self.annotation);
        for word in &self.words {
            if let Some(mark) = words::mark(word) {
                once(&mut colour, mark, word)?;
            } else if let Ok(mark) = annotation(word) {
                once(&mut symbol, mark, word)?;
            } else {
                ensure!(
                    !tabia_notation::is_move(word),
                    "\"{word}\" is a move, not a mark: write --move {word}"
                );
                bail!(
                    "\"{word}\" is not a mark: expected main, avoid, none, !, ?, !!, ??, !? or ?!"
                );
            }
        }
        edit.recommendation = colour.or(edit.recommendation);
        edit.annotation = symbol.or(edit.annotation);
        ensure!(
            edit != MarkEdit::default(),
            "nothing to do: name a mark, for example \"--mark main\", \"--annotation !\", \"--learn-value 20\" \
             or \"--clear\""
        );
        Ok(edit)
    }

    fn colour(&self) -> Option<Color> {
        self.colour.map(Color::from)
    }

    /// The moves that the arguments name.
    fn target(&self) -> anyhow::Result<MarkTarget> {
        let fen = self.fen.as_deref().unwrap_or_default();
        let start = line::line_from(fen, "").context("--fen")?;
        let read = |name: &str, from: &Line, text: &str| {
            let mut line = from.clone();
            let read = line.extend(text);
            read.with_context(|| format!("{name} \"{text}\""))
                .map(|()| line)
        };
        if let Some(text) = &self.line {
            let line = read("--line", &start, text)?;
            ensure!(
                line.plies() > 0,
                "--line \"{text}\": expected at least one move"
            );
            let parts = 1..=line.plies();
            return Ok(MarkTarget::Moves(parts.map(|n| line.up_to(n)).collect()));
        }
        let before = read("--moves", &start, self.moves.as_deref().unwrap_or_default())?;
        if let Some(text) = &self.one {
            let line = read("--move", &before, text)?;
            ensure!(
                line.plies() == before.plies() + 1,
                "--move \"{text}\": expected one move"
            );
            return Ok(MarkTarget::Moves(vec![line]));
        }
        if before.plies() > 0 {
            return Ok(MarkTarget::Moves(vec![before]));
        }
        Ok(match self.fen {
            Some(_) => MarkTarget::Position(start),
            None => MarkTarget::Book,
        })
    }

    /// For a main line every move is right; but who types a line to forbid its end would
    /// forbid its first move in all games.
    fn only_praise_is_for_each(&self, target: &MarkTarget, edit: &MarkEdit) -> anyhow::Result<()> {
        let (Some(text), MarkTarget::Moves(lines)) = (&self.line, target) else {
            return Ok(());
        };
        let is_chosen = |line: &&Line| {
            let mover = line.before().last().map(Position::turn);
            self.colour().is_none_or(|colour| mover == Some(colour))
        };
        let chosen: Vec<&Line> = lines.iter().filter(is_chosen).collect();
        let (Some(last), true) = (chosen.last(), chosen.len() > 1 && !self.each) else {
            return Ok(());
        };
        ensure!(
            !edit.blames(),
            "--line \"{text}\" names {} moves, and this mark would forbid or blame each of them: \
             --moves \"{last}\" marks the last one alone, --line with --each all of them",
            chosen.len()
        );
        Ok(())
    }

    fn job(&self) -> anyhow::Result<MarkJob> {
        let target = self.target()?;
        let selection = Selection::default()
            .edit(self.edit()?)
            .colour(self.colour())
            .filter(filter(self.filter.as_deref())?);
        let is_free = selection.colour.is_none() && selection.filter.is_none();
        self.only_praise_is_for_each(&target, &selection.edit)?;
        match target {
            MarkTarget::Book => {
                ensure!(
                    self.all || !is_free,
                    "name the moves: --move, --moves, --line, --colour, --where, or --all for the \
                     whole book"
                );
                ensure!(
                    !selection.is_one_sided(),
                    "--commentary: an advantage can be given to one position or line only"
                );
            }
            MarkTarget::Position(_) => {
                ensure!(
                    selection.edit.annotation.is_none() || self.clear,
                    "--annotation is for a move: name it with --move"
                );
                ensure!(
                    is_free,
                    "--where and --colour choose among moves: name some"
                );
            }
            MarkTarget::Moves(_) => {}
        }
        Ok(MarkJob::new(target, selection)
            .dry_run(self.work.dry_run)
            .strict(self.strict)
            .undoable(true)
            .shown(if self.list { usize::MAX } else { SHOWN }))
    }
}

/// The conditions of `--where`.
pub(crate) fn filter(text: Option<&str>) -> anyhow::Result<Option<Filter>> {
    let read = |text: &str| {
        // The shell takes `> 10` for a file.
        let hint = match text.contains(['<', '>', '=']) {
            true => "",
            false => " (a condition stands in quotes: --where \"games>10\")",
        };
        Filter::parse(text).with_context(|| format!("--where \"{text}\"{hint}"))
    };
    text.map(read).transpose()
}

/// Stores a mark that may be given once, with or without its option.
fn once<T: PartialEq>(place: &mut Option<T>, mark: T, word: &str) -> anyhow::Result<()> {
    ensure!(
        place.as_ref().is_none_or(|known| *known == mark),
        "\"{word}\": another mark of this kind is given already; name one"
    );
    *place = Some(mark);
    Ok(())
}

/// Makes or forgets an interrupted change.
fn resolve_pending(args: &MarkArgs, resolve: OnPending) -> anyhow::Result<u8> {
    let (resolve, done) = match resolve {
        OnPending::Apply => (Resolve::Apply, "made"),
        OnPending::Drop => (Resolve::Drop, "forgotten"),
    };
    let name = args.book.display();
    match BookEditor::resolve(&args.book, &args.work.options(), resolve)? {
        Some(marks) => message!("{name}: {} {done}", counted(marks, "mark")),
        None => message!("{name}: no change was interrupted"),
    }
    Ok(0)
}

pub(crate) fn run(args: &MarkArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let options = args.work.options();
    if let Some(resolve) = args.pending {
        return resolve_pending(args, resolve);
    }
    if args.undo {
        let marks = BookEditor::undo(&args.book, &options, args.work.dry_run)?;
        let done = match args.work.dry_run {
            true => "would be as before",
            false => "as before the last mark",
        };
        summary!("{}: {} {done}", args.book.display(), counted(marks, "mark"));
        return Ok(0);
    }
    let job = args.job()?;
    let start = Instant::now();
    let editor = BookEditor::open_for(&args.book, &job.selection.edit, &options)?;
    let name = args.book.display();
    files::report_recovered(&editor);
    let mut shown = 0_u64;
    let done = progress::watched(|watch| {
        mark::mark(editor, &job, watch, &mut |change| {
            shown += 1;
            mark_changes::write(change, args.work.json, out)
        })
    })?;
    let done = match done {
        Err(error @ MarkError::NotInBook { .. }) => {
            message!("{error}");
            return Ok(1);
        }
        done => done?,
    };
    let is_whole = matches!(job.target, MarkTarget::Book);
    if is_whole && args.work.dry_run && !args.work.json {
        mark_changes::write_rest(done.changes - shown, out)?;
    }
    if done.chosen == 0 && is_whole && args.colour.is_some() {
        message!("no line of the book begins in the start position, or none is chosen");
    }
    let done_word = args.work.done();
    if args.work.json {
        let summary = serde_json::json!({"summary": {
            "chosen": done.chosen, "changes": done.changes,
            "damaged_pages": done.unread.bad_pages, "changed": !args.work.dry_run,
        }});
        writeln!(out, "{summary}")?;
    }
    out.flush()?;
    if let Some(reason) = &done.not_undoable {
        message!("{name}: --undo will not know this change: {reason}");
    }
    if done.applied.is_some() && done.changes > 0 {
        files::report_kept(&args.book);
    }
    let mut extra = done
        .applied
        .map_or_else(String::new, |done| format!(" in {} writes", done.writes));
    extra += &made::all_lost(&done.unread);
    summary!(
        "{name}: {} chosen, {} {done_word}{extra}, {:.2} s",
        done.chosen,
        counted(done.changes, "mark"),
        start.elapsed().as_secs_f64()
    );
    Ok(u8::from(done.unread.is_loss()))
}
