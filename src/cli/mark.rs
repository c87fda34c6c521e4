//! `tabia mark`: colours, signs and learn values of moves, changed in place.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use shakmaty::{Chess, Color, Move, Position};

use super::args::PlayerColour;
use crate::book::ctg::{Applied, Change, EditError, EditOptions, Editor, Field, MarkEdit};
use crate::book::{Annotation, Mark, PositionRecord};
use crate::mark::{self, Chosen, Filter, Selection};
use crate::notation::{self, Line};

/// So many changes of a whole book are shown by `--dry-run`.
const SHOWN: u64 = 20;

/// Arguments of `mark`.
#[derive(Args, Debug)]
pub(super) struct MarkArgs {
    /// The book
    pub(super) book: PathBuf,
    /// Marks without their option: main, avoid, none, !, ?, !!, ??, !?, ?!
    #[arg(value_name = "MARK")]
    words: Vec<String>,
    /// The colour of the moves: main (green), avoid (red) or none
    #[arg(long, visible_alias = "mark", value_name = "MARK", value_parser = colour_mark)]
    recommendation: Option<Mark>,
    /// The sign beside the moves: ! ? !! ?? !? ?! none, or a NAG number
    #[arg(long, value_name = "SIGN", value_parser = sign)]
    annotation: Option<Annotation>,
    /// The learn value, -125 (never) to 125 (always), for the player of the move
    #[arg(long, value_name = "N", allow_hyphen_values = true,
          value_parser = clap::value_parser!(i8).range(-125..=125))]
    factor: Option<i8>,
    /// The commentary of the position after the move: none, a NAG number as
    /// seen on the board, or = += =+ +/- -/+ +- -+
    #[arg(long, value_name = "NAG", allow_hyphen_values = true, value_parser = commentary)]
    commentary: Option<u8>,
    /// Takes colour, sign and learn value away; of the whole book if no moves
    /// are named
    #[arg(long)]
    clear: bool,
    /// Takes away bits of colours and signs that mean nothing to any program
    #[arg(long, alias = "junk")]
    clean: bool,
    /// The position to start from [default: the start position]
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Moves to play from there; without --move the last of them is meant
    #[arg(long, value_name = "MOVES")]
    moves: Option<String>,
    /// The move that is meant, as e2e4 or Nf3
    #[arg(long = "move", value_name = "MOVE")]
    one: Option<String>,
    /// A line, each move of which is meant: "1.e4 c5"
    #[arg(long, value_name = "MOVES", conflicts_with_all = ["one", "moves"])]
    line: Option<String>,
    /// Moves of this side: of the line, or of all lines from the start position
    #[arg(long, alias = "color", value_name = "COLOUR")]
    colour: Option<PlayerColour>,
    /// All moves of the book
    #[arg(long, conflicts_with_all = ["one", "moves", "line", "fen"])]
    all: bool,
    /// Only moves that meet a condition, as "games<10 and score<40"
    #[arg(long = "where", value_name = "CONDITION")]
    filter: Option<String>,
    /// Shows what would change and changes nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// How long to wait for another program that changes the book
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    wait: u64,
}

pub(super) const MARK_EXAMPLES: &str = "Examples:\n  \
    tabia mark book.ctg --move e4 --mark main\n  \
    tabia mark book.ctg --line \"1.e4 c5 2.Nf3\" --colour white main\n  \
    tabia mark book.ctg --fen \"FEN\" --move Nf3 --annotation \"!\" --factor 20\n  \
    tabia mark book.ctg --all --where \"games<10 and score<40\" avoid --dry-run\n  \
    tabia mark book.ctg --colour black main\n  \
    tabia mark book.ctg --all --clear --clean\n\n\
    Conditions compare games, wins, draws, losses, score (per cent), factor, mark, \
    annotation, commentary, elo, performance, share (per cent of the games beside it) and \
    ply with < <= > >= = !=, joined by and, or, not and brackets; all seen by the player of \
    the move.\n\n\
    Colour, learn value and commentary stand with the position a move leads to: every move \
    into it has them, also on the board turned round. A move that is not stored can have \
    them too; a sign makes it stored. Programs that play from the book see marks at once. \
    A crash at any moment leaves each byte old or new, and the next change completes it.\n\n\
    Exit codes: 0 done; 1 a position is not in the book; 2 wrong usage or files.";

fn colour_mark(text: &str) -> Result<Mark, String> {
    match text.to_ascii_lowercase().as_str() {
        "main" | "green" => Ok(Mark::Main),
        "avoid" | "red" => Ok(Mark::Avoid),
        "none" => Ok(Mark::None),
        _ => Err("expected main, avoid or none".to_owned()),
    }
}

fn sign(text: &str) -> Result<Annotation, String> {
    Annotation::from_symbol(text)
        .ok_or_else(|| "expected ! ? !! ?? !? ?! none, or a NAG number below 32".to_owned())
}

fn commentary(text: &str) -> Result<u8, String> {
    let known = [
        ("none", 0),
        ("=", 10),
        ("+=", 14),
        ("=+", 15),
        ("+/-", 16),
        ("-/+", 17),
        ("+-", 18),
        ("-+", 19),
    ];
    known
        .iter()
        .find(|(symbol, _)| *symbol == text)
        .map(|(_, nag)| *nag)
        .or_else(|| text.strip_prefix('$').unwrap_or(text).parse().ok())
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
        edit.recommendation = self.recommendation.or(edit.recommendation);
        edit.annotation = self.annotation.or(edit.annotation);
        edit.factor = self.factor.or(edit.factor);
        edit.commentary = self.commentary;
        for word in &self.words {
            if let Ok(mark) = colour_mark(word) {
                edit.recommendation = Some(mark);
            } else if let Ok(sign) = sign(word) {
                edit.annotation = Some(sign);
            } else {
                bail!("\"{word}\" is no mark: expected main, avoid, none, !, ?, !!, ??, !? or ?!");
            }
        }
        ensure!(
            edit != MarkEdit::default(),
            "nothing to do: name a mark, say \"--mark main\", \"--annotation !\", \"--factor 20\" \
             or \"--clear\""
        );
        Ok(edit)
    }

    fn colour(&self) -> Option<Color> {
        self.colour.map(|colour| match colour {
            PlayerColour::White => Color::White,
            PlayerColour::Black => Color::Black,
        })
    }

    fn filter(&self) -> anyhow::Result<Option<Filter>> {
        let Some(text) = &self.filter else {
            return Ok(None);
        };
        Filter::parse(text)
            .map(Some)
            .with_context(|| format!("--where \"{text}\""))
    }

    /// The moves that are named; `None` for the whole book.
    fn named(&self) -> anyhow::Result<Option<Target>> {
        let start = Line::read(self.fen.as_deref().unwrap_or_default(), "").context("--fen")?;
        let read = |name: &str, from: &Line, text: &str| {
            let mut line = from.clone();
            let read = line.extend(text);
            read.with_context(|| format!("{name} \"{text}\""))
                .map(|()| line)
        };
        let played = |line: &Line| -> Vec<Played> {
            let moves = line.moves().map(|(position, mv)| Played {
                position: position.clone(),
                mv,
            });
            moves.collect()
        };
        if let Some(text) = &self.line {
            let line = played(&read("--line", &start, text)?);
            ensure!(
                !line.is_empty(),
                "--line \"{text}\": there is no move in it"
            );
            return Ok(Some(Target::Moves(line)));
        }
        let before = read("--moves", &start, self.moves.as_deref().unwrap_or_default())?;
        let after = Line::from_start(before.last().clone());
        if let Some(text) = &self.one {
            let one = played(&read("--move", &after, text)?);
            ensure!(one.len() == 1, "--move \"{text}\": expected one move");
            return Ok(Some(Target::Moves(one)));
        }
        if let Some(last) = played(&before).pop() {
            return Ok(Some(Target::Moves(vec![last])));
        }
        let named = self.fen.is_some().then(|| after.last().clone());
        Ok(named.map(Target::Position))
    }
}

/// A move and the position it is played in.
struct Played {
    position: Chess,
    mv: Move,
}

/// What is named on the command line.
enum Target {
    Moves(Vec<Played>),
    Position(Chess),
}

pub(super) fn run(args: &MarkArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let edit = args.edit()?;
    let filter = args.filter()?;
    let target = args.named()?;
    ensure!(
        target.is_some()
            || args.all
            || args.colour.is_some()
            || filter.is_some()
            || args.clear
            || args.clean,
        "say which moves: --move, --moves, --line, --colour, --all or --where"
    );
    ensure!(
        !(target.is_none() && edit.commentary.is_some_and(|nag| (14..=19).contains(&nag))),
        "--commentary {}: an advantage can be given to one position or line only",
        edit.commentary.unwrap_or(0)
    );
    let start = Instant::now();
    let options = EditOptions {
        wait: Duration::from_secs(args.wait),
        ..EditOptions::default()
    };
    super::convert::only_ctg(&args.book)?;
    let opened = Editor::open(&args.book, &options)?;
    if opened.completed_a_change() {
        say(&format!(
            "{}: a change that had been cut short was completed first",
            args.book.display()
        ));
    }
    let work = Work {
        args,
        edit,
        filter,
        start,
    };
    match target {
        Some(target) => work.named(opened, target, out),
        None => work.whole_book(opened, out),
    }
}

struct Work<'a> {
    args: &'a MarkArgs,
    edit: MarkEdit,
    filter: Option<Filter>,
    start: Instant,
}

impl Work<'_> {
    fn named(
        &self,
        mut editor: Editor,
        target: Target,
        out: &mut impl Write,
    ) -> anyhow::Result<u8> {
        let mut changes: Vec<(String, Change)> = Vec::new();
        let mut meant = 0_u64;
        let planned = match &target {
            Target::Position(position) => {
                ensure!(
                    self.edit.annotation.is_none() || self.args.clear,
                    "--annotation stands beside a move: name it with --move"
                );
                ensure!(
                    self.filter.is_none() && self.args.colour.is_none(),
                    "--where and --colour choose among moves: name some"
                );
                meant += 1;
                let edit = self.edit_for(position);
                editor
                    .plan_position(position, &edit)
                    .map(|plan| add(&mut changes, "the position", plan))
            }
            Target::Moves(played) => played.iter().try_for_each(|played| {
                if !self.chooses(&editor, played)? {
                    return Ok(());
                }
                meant += 1;
                let name = name_of(played);
                let mut after = played.position.clone();
                after.play_unchecked(played.mv);
                let edit = self.edit_for(&after);
                let plan = editor.plan(&played.position, played.mv, &edit);
                let plan = plan.map_err(|error| named_error(&name, error))?;
                add(&mut changes, &name, plan);
                Ok(())
            }),
        };
        match planned {
            Ok(()) => {}
            Err(EditError::NotInBook { path, .. }) => {
                say(&format!(
                    "{}: the position is not in the book; nothing was changed",
                    path.display()
                ));
                return Ok(1);
            }
            Err(error) => return not_in_book(error),
        }
        let plain: Vec<Change> = changes.iter().map(|(_, change)| *change).collect();
        let undo = if self.args.dry_run {
            editor.rehearse(&plain)?
        } else {
            editor.apply(&plain)?
        };
        for ((name, change), old) in changes.iter().zip(undo.iter().rev()) {
            writeln!(out, "{name}: {}", describe(change, old))?;
        }
        out.flush()?;
        self.summary(meant, plain.len() as u64, None);
        Ok(0)
    }

    /// Whether `--colour` and `--where` let a named move pass.
    fn chooses(&self, editor: &Editor, played: &Played) -> Result<bool, EditError> {
        if self
            .args
            .colour()
            .is_some_and(|c| c != played.position.turn())
        {
            return Ok(false);
        }
        let Some(filter) = &self.filter else {
            return Ok(true);
        };
        use crate::book::{Lookup, Probe as _, Wanted};
        let mut found = Lookup::default();
        let book = editor.book();
        book.probe(&played.position, Wanted::Transpositions, &mut found)?;
        let games = |mv: &crate::book::BookMove| f64::from(mv.stats().games);
        let all: f64 = found
            .moves
            .iter()
            .filter(|m| !m.transposition)
            .map(games)
            .sum();
        let Some(mv) = found.moves.iter().find(|mv| mv.mv == played.mv) else {
            // The plan says that it is not in the book.
            return Ok(true);
        };
        let plies = 2 * (played.position.fullmoves().get() - 1);
        Ok(filter.admits(&mark::Subject {
            stats: mv.stats(),
            factor: mv.factor(),
            mark: mv.mark(),
            commentary: mv.child.map_or(0, |child| child.commentary),
            annotation: Some(mv.annotation),
            share: (all > 0.0).then(|| 100.0 * games(mv) / all),
            ply: Some(plies + 1 + u32::from(played.position.turn().is_black())),
        }))
    }

    /// The commentary as it has to be stored for this position.
    fn edit_for(&self, position: &Chess) -> MarkEdit {
        let stored = |nag| {
            PositionRecord {
                commentary: nag,
                ..PositionRecord::default()
            }
            .commentary_for(position.turn())
        };
        MarkEdit {
            commentary: self.edit.commentary.map(stored),
            ..self.edit
        }
    }

    fn whole_book(&self, mut editor: Editor, out: &mut impl Write) -> anyhow::Result<u8> {
        let stop = super::stopped_by_ctrl_c()?;
        let selection = Selection {
            edit: self.edit,
            colour: self.args.colour(),
            filter: self.filter.clone(),
        };
        let mut bytes = 0_u64;
        let (chosen, done) = if self.args.dry_run {
            let seen = select(&editor, &selection, &stop, &mut |chosen| {
                bytes += 1;
                if bytes <= SHOWN {
                    // A closed output shows at the end.
                    let _ = writeln!(out, "{}", describe_chosen(chosen));
                }
                Ok(())
            })?;
            if bytes > SHOWN {
                writeln!(out, "... and {} more", bytes - SHOWN)?;
            }
            out.flush()?;
            (seen, None)
        } else {
            let mut batch = editor.batch();
            let seen = select(&editor, &selection, &stop, &mut |chosen| {
                bytes += 1;
                batch.set(&chosen.touch)
            })?;
            (seen, Some(editor.commit(batch)?))
        };
        if chosen == 0 && self.args.colour.is_some() {
            say("no line of the book begins in the start position, or none is meant");
        }
        self.summary(chosen, bytes, done);
        Ok(0)
    }

    fn summary(&self, meant: u64, changes: u64, done: Option<Applied>) {
        let wish = if self.args.dry_run {
            "would change"
        } else {
            "changed"
        };
        let writes = done.map_or_else(String::new, |done| format!(" in {} writes", done.writes));
        say(&format!(
            "{}: {meant} meant, {changes} marks {wish}{writes}, {:.2} s",
            self.args.book.display(),
            self.start.elapsed().as_secs_f64()
        ));
    }
}

fn select(
    editor: &Editor,
    selection: &Selection,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&Chosen<'_>) -> Result<(), EditError>,
) -> anyhow::Result<u64> {
    let book = editor.snapshot()?;
    Ok(mark::select(&book, selection, stop, found)?.chosen)
}

/// Adds changes, each once: a line may pass through a position twice.
fn add(changes: &mut Vec<(String, Change)>, name: &str, plan: Vec<Change>) {
    for change in plan {
        if !changes.iter().any(|(_, known)| *known == change) {
            changes.push((name.to_owned(), change));
        }
    }
}

fn name_of(played: &Played) -> String {
    let number = notation::number(&played.position);
    format!("{number}{}", notation::san(&played.position, played.mv))
}

/// Says of which move something is not there.
fn named_error(name: &str, error: EditError) -> EditError {
    match error {
        EditError::NotInBook { path, .. } => EditError::Io {
            path,
            reason: io::Error::new(
                io::ErrorKind::NotFound,
                format!("{name} leads out of the book; nothing was changed"),
            ),
        },
        error => error,
    }
}

fn not_in_book(error: EditError) -> anyhow::Result<u8> {
    match &error {
        EditError::Io { path, reason } if reason.kind() == io::ErrorKind::NotFound => {
            say(&format!("{}: {reason}", path.display()));
            Ok(1)
        }
        _ => Err(error.into()),
    }
}

fn mark_name(byte: u8) -> String {
    let record = PositionRecord {
        recommendation: byte,
        ..PositionRecord::default()
    };
    match byte {
        0 | 0x40 | 0x80 => record.mark().as_str().to_owned(),
        _ => format!("{} ({byte:#04x})", record.mark().as_str()),
    }
}

fn sign_name(byte: u8) -> String {
    let symbol = match Annotation(byte).symbol() {
        "" => "none",
        symbol => symbol,
    };
    match byte & 0xe0 {
        0 => symbol.to_owned(),
        _ => format!("{symbol} ({byte:#04x})"),
    }
}

fn factor_name(stored: i8) -> String {
    match -i16::from(stored) {
        0 => "0".to_owned(),
        factor => format!("{factor:+}"),
    }
}

fn describe(change: &Change, old: &Change) -> String {
    match (*change, *old) {
        (Change::Recommendation { byte, .. }, Change::Recommendation { byte: old, .. }) => {
            format!("mark {} -> {}", mark_name(old), mark_name(byte))
        }
        (Change::Factor { value, .. }, Change::Factor { value: old, .. }) => {
            format!("factor {} -> {}", factor_name(old), factor_name(value))
        }
        (Change::Commentary { byte, .. }, Change::Commentary { byte: old, .. }) => {
            format!("commentary {old} -> {byte}")
        }
        (Change::Annotation { byte, .. }, Change::Annotation { byte: old, .. }) => {
            format!("annotation {} -> {}", sign_name(old), sign_name(byte))
        }
        (Change::AddMove { annotation, .. }, _) => {
            format!("stored, annotation {}", sign_name(annotation))
        }
        (change, _) => format!("{change:?}"),
    }
}

fn describe_chosen(chosen: &Chosen<'_>) -> String {
    let Some(position) = chosen.visit.position() else {
        return format!("byte {}", chosen.touch.offset);
    };
    let fen = notation::fen(&position);
    let name = chosen.mv.map_or_else(String::new, |mv| {
        format!(" {}", notation::san(&position, mv.mv))
    });
    let touch = &chosen.touch;
    let (what, old, new) = match touch.field {
        Field::Recommendation => ("mark", mark_name(touch.old), mark_name(touch.new)),
        Field::Factor => (
            "factor",
            factor_name(touch.old.cast_signed()),
            factor_name(touch.new.cast_signed()),
        ),
        Field::Commentary => ("commentary", touch.old.to_string(), touch.new.to_string()),
        Field::Annotation => ("annotation", sign_name(touch.old), sign_name(touch.new)),
    };
    format!("{fen}{name}: {what} {old} -> {new}")
}

fn say(text: &str) {
    // Nothing can be done about a closed standard error.
    let _ = writeln!(super::messages(), "{text}");
}
