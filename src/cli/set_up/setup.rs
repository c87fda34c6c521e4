//! `tabia setup`: prepares everything for a first game, and shows all changes first.

use std::io::{self, BufRead as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::file_diff;
use super::register::{self, Program};
use crate::cli::arguments::complete;
use crate::cli::arguments::configuration::{self, ConfigArgs};
use crate::cli::files;
use crate::cli::look::info;
use crate::cli::print::columns::Table;
use crate::cli::print::style::{HEADING, Painted, counted};
use crate::install::{
    ChessProgram, FileChange, Finds, Places, ProgramFile, Record, Registered, Registration,
    SetupPlan, Situation, TextFile, WrittenFile, is_executable,
};
use tabia_adapter::config::Config;
use tabia_book::bin::ENTRY_BYTES;
use tabia_book::{Book, NEAR_PLIES, is_near_start};
use tabia_engine::check::{Patience, PlayedMove, greet, play};
use tabia_engine::{EngineCommand, search_path};
use tabia_io::input::path::{file_name, to_text};
use tabia_io::sanitize::escape_control as plain;

/// Examples of `setup`.
pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia setup\n  \
    tabia setup --dry-run\n  \
    tabia setup --folder ~/Downloads --yes\n  \
    tabia setup --engine stockfish --engine ./my-engine\n  \
    tabia setup --remove\n\n\
    Looks on the PATH, in the folders of Arena, BanksiaGUI, ChessBase, Cute Chess and Scid, \
    and in folders named chess, books or engines. Writes tabia/engines.toml into your \
    configuration folder, makes Tabia known to Cute Chess, BanksiaGUI, PyChess, Nibbler, GNOME \
    Chess and En Croissant, prints what to type in others, and plays a move to see that all \
    works. Close the chess programs first. One question is asked; its answers b and p choose \
    books and programs, d shows each line that would change, and which lines an earlier run \
    wrote. What it does is recorded beside the configuration (setup.json), and --remove undoes \
    it: what you wrote stays. A second run finds what is new.\n\n\
    Exit codes: 0 done, or nothing to do; 1 you answered no, it does not play, or --remove left \
    a file as it is; 2 a file cannot be read or written.";

/// Arguments of `setup`.
#[derive(Args, Debug, Default)]
pub(crate) struct SetupArgs {
    /// Does everything without asking
    #[arg(short, long)]
    yes: bool,
    /// Undoes what earlier runs did
    #[arg(long)]
    remove: bool,
    /// Shows what would be done, and does nothing; starts no engine either
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Shows each line that changes, and which lines an earlier setup wrote
    #[arg(long)]
    diff: bool,
    /// Only these chess programs, by the names of `tabia register`; may be given
    /// several times
    #[arg(long, value_name = "PROGRAM", conflicts_with = "remove")]
    program: Vec<Program>,
    /// This engine, by its name on the PATH or its path, instead of those found; may be
    /// given several times, the first plays
    #[arg(long, value_name = "ENGINE", add = complete::commands_anywhere(), conflicts_with = "remove")]
    engine: Vec<PathBuf>,
    /// Looks for engines and books in this folder too, and in all below it;
    /// may be given several times
    #[arg(long, value_name = "DIR", conflicts_with = "remove")]
    folder: Vec<PathBuf>,
}

/// A position that no opening book has, to test the engine.
const ENDGAME: &str = "fen 8/8/4k3/8/8/3QK3/8/8 w - - 0 1";

pub(crate) fn run(args: &SetupArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let places = Places::of_this_user();
    let own = places
        .of_tabia()
        .context("there is no home folder to set up")?;
    let record_path = own.join("setup.json");
    let record = Record::read(&record_path)?;
    if args.remove {
        return remove(args, &places, &record, &record_path, out);
    }
    let configuration = own.join("engines.toml");
    let mut finds = search(args, &places, &configuration)?;
    keep_sound_books(&mut finds, out)?;
    if args.diff || args.dry_run {
        show(&finds, out)?;
        show_origins(&record.files, &record.command, out)?;
    }
    let used = configuration::configuration(&ConfigArgs::default())?;
    // A configuration in the current folder is used only after ours.
    let other = used
        .path
        .clone()
        .filter(|path| *path != configuration && !used.is_empty() && path.components().count() > 1);
    let setup = Setup {
        args,
        configuration,
        record,
        record_path,
        used,
        other,
    };
    if args.dry_run {
        let (plan, _) = setup.plan(&finds)?;
        show_plan(&plan, out)?;
        show_lines_to_type(&plan, out)?;
        return Ok(0);
    }
    match setup.agree(&mut finds, out)? {
        Some((plan, registration)) => setup.carry_out(&finds, &plan, &registration, out),
        None => Ok(1),
    }
}

/// What is there: engines, books and chess programs, in the usual places and those that
/// are named.
fn search(args: &SetupArgs, places: &Places, configuration: &Path) -> anyhow::Result<Finds> {
    for folder in &args.folder {
        std::fs::read_dir(folder).with_context(|| format!("--folder {}", folder.display()))?;
    }
    let folders: Vec<PathBuf> = (args.folder.iter())
        .map(std::path::absolute)
        .collect::<io::Result<_>>()?;
    let mut finds = Finds::search(places, &folders);
    // One that cannot be read is reported when it is to be changed.
    if let Ok(Some(text)) = TextFile::text_of(configuration)
        && let Ok(config) = Config::parse(&text, configuration)
    {
        finds.keep(&config, &|path| path.exists());
    }
    if !args.engine.is_empty() {
        finds.engines = args
            .engine
            .iter()
            .map(|name| engine(name))
            .collect::<anyhow::Result<_>>()?;
    }
    if !args.program.is_empty() {
        let named: Vec<&str> = args.program.iter().map(|program| program.title()).collect();
        finds
            .programs
            .retain(|program| named.contains(&program.title()));
    }
    Ok(finds)
}

/// What a plan depends on besides what was found.
struct Setup<'a> {
    args: &'a SetupArgs,
    /// The file that is written.
    configuration: PathBuf,
    /// What earlier calls have written, and where that is recorded.
    record: Record,
    record_path: PathBuf,
    /// The configuration in use, and its file if it is another one.
    used: Config,
    other: Option<PathBuf>,
}

impl Setup<'_> {
    /// What is to be written for these finds.
    fn plan(&self, finds: &Finds) -> anyhow::Result<(SetupPlan, Registration)> {
        let planned = |registration: &Registration| {
            let situation = Situation {
                configuration: &self.configuration,
                other: self.other.as_deref(),
                record: &self.record,
                registration,
            };
            SetupPlan::new(finds, &situation, &TextFile::text_of)
        };
        let mut registration = register::registration_of(&self.used, None)?;
        let mut plan = planned(&registration);
        let mut changes = plan.changes.iter();
        // Uses the options of the new configuration: a program that stores the old values
        // would set them at every start.
        if let Some(change) = changes.find(|change| change.program.is_none()) {
            let text = change.after.as_deref().unwrap_or_default();
            let new = Config::parse(text, &change.path)?;
            registration = register::registration_of(&new, None)?;
            plan = planned(&registration);
        }
        Ok((plan, registration))
    }

    /// Shows the plan until the user agrees to it; `None` if not. What was shown last is
    /// done, and nothing else.
    fn agree(
        &self,
        finds: &mut Finds,
        out: &mut impl Write,
    ) -> anyhow::Result<Option<(SetupPlan, Registration)>> {
        let mut is_tried = finds.engines.is_empty();
        loop {
            let (plan, registration) = self.plan(finds)?;
            summarize(finds, &plan, out)?;
            if self.args.diff {
                show_plan(&plan, out)?;
            }
            if !self.args.yes {
                let may_choose = [finds.books.len() > 1, !finds.programs.is_empty()];
                match ask(may_choose, out)? {
                    Reply::Yes => {}
                    Reply::No => return Ok(None),
                    Reply::Books => {
                        let title = "The first book that has the position plays";
                        finds.books = choose(&finds.books, title, |book| shown(book), out)?;
                        continue;
                    }
                    Reply::Programs => {
                        let title = "Chess programs";
                        let name = |program: &ChessProgram| program.title().to_owned();
                        finds.programs = choose(&finds.programs, title, name, out)?;
                        continue;
                    }
                    Reply::Lines => {
                        show_origins(&self.record.files, &self.record.command, out)?;
                        show_plan(&plan, out)?;
                        continue;
                    }
                }
            }
            if std::mem::replace(&mut is_tried, true) {
                return Ok(Some((plan, registration)));
            }
            writeln!(out, "Each engine is started for a moment:")?;
            let engines = finds.engines.len();
            keep_engines_that_answer(finds, out)?;
            if finds.engines.len() == engines {
                return Ok(Some((plan, registration)));
            }
            writeln!(out, "\nWithout what does not answer:")?;
        }
    }

    /// Writes the files, plays a first move, and says where Tabia is now.
    fn carry_out(
        &self,
        finds: &Finds,
        plan: &SetupPlan,
        registration: &Registration,
        out: &mut impl Write,
    ) -> anyhow::Result<u8> {
        for text in &plan.left {
            writeln!(out, "left as it is: {}", plain(text))?;
        }
        if plan.changes.is_empty() {
            writeln!(out, "No file needs to change.")?;
        } else {
            plan.carry_out(&self.record, &registration.command, &self.record_path)?;
            for change in &plan.changes {
                writeln!(out, "  {}", what(change))?;
            }
            writeln!(out, "Done. \"tabia setup --remove\" undoes it.")?;
        }
        let works = try_it(Path::new(&registration.command), out)?;
        show_lines_to_type(plan, out)?;
        if !finds.programs.is_empty() {
            writeln!(out, "\n{}", Painted(HEADING, "Where to find Tabia"))?;
        }
        for program in &finds.programs {
            let place = match program {
                ChessProgram::Edited(program, _) => program.where_to_find(),
                ChessProgram::Printed(_) => "type the lines above",
            };
            writeln!(out, "  {}: {place}", program.title())?;
        }
        Ok(u8::from(!works))
    }
}

fn show_lines_to_type(plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    for (place, lines) in &plan.to_type {
        writeln!(
            out,
            "\n{}",
            Painted(HEADING, format!("{place}: lines to type"))
        )?;
        for line in lines.lines() {
            writeln!(out, "  {}", plain(line))?;
        }
    }
    Ok(())
}

fn remove(
    args: &SetupArgs,
    places: &Places,
    record: &Record,
    record_path: &Path,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    if *record == Record::default() {
        writeln!(out, "\"tabia setup\" has not changed anything yet.")?;
        name_registered(places, &SetupPlan::default(), out)?;
        return Ok(0);
    }
    let registered_path = record_path.with_file_name("register.json");
    let mut registered = Registered::read(&registered_path)?;
    let (plan, rest) = SetupPlan::undoing(record, &mut registered, &TextFile::text_of);
    if args.diff || args.dry_run {
        show_origins(&rest, &record.command, out)?;
        show_plan(&plan, out)?;
    } else {
        for change in &plan.changes {
            writeln!(out, "{}", what(change))?;
        }
        show_left(&plan, out)?;
    }
    name_registered(places, &plan, out)?;
    let record_name = shown(record_path);
    match rest.len() {
        0 => writeln!(
            out,
            "delete {record_name}, and the folders that were made and are empty"
        )?,
        count => writeln!(
            out,
            "{record_name} remembers {} for the next \"tabia setup --remove\"",
            counted(count as u64, "file")
        )?,
    }
    if args.dry_run {
        return Ok(0);
    }
    if !agreed(args, "Do this?", out)? {
        return Ok(1);
    }
    let is_all = rest.is_empty();
    plan.take_back(record, rest, record_path)?;
    registered.save(&registered_path)?;
    match is_all {
        true => writeln!(out, "Done.")?,
        false => writeln!(out, "Done, except for what is left as it is.")?,
    }
    Ok(u8::from(!is_all))
}

/// Prints the engines that stay in chess programs after a plan is done.
fn name_registered(places: &Places, plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    let text_now = |path: &Path| {
        let change = plan.changes.iter().find(|change| change.path == path);
        match change {
            Some(change) => change.after.clone(),
            None => TextFile::text_of(path).ok().flatten(),
        }
    };
    for (file, command) in register::registered(&places.chess_programs(), &text_now) {
        let file = shown(&file);
        writeln!(
            out,
            "left as it is: {file}: what \"tabia register\" wrote; {} removes it",
            plain(&command)
        )?;
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Asks the user; any answer but yes means no, and so does the end of the input.
fn agreed(args: &SetupArgs, question: &str, out: &mut impl Write) -> anyhow::Result<bool> {
    if args.yes {
        out.flush()?;
        return Ok(true);
    }
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    let yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    if !yes {
        if answer.is_empty() {
            writeln!(out)?;
        }
        writeln!(out, "Nothing was changed. (--yes does it without asking.)")?;
        out.flush()?;
    }
    Ok(yes)
}

/// An answer to the one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Yes,
    No,
    Books,
    Programs,
    Lines,
}

/// What an answer means; `None` if it must be asked for again. Nothing, and the end of the
/// input, mean no.
fn reply(answer: &str, [books, programs]: [bool; 2]) -> Option<Reply> {
    Some(match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Reply::Yes,
        "" | "n" | "no" => Reply::No,
        "b" if books => Reply::Books,
        "p" if programs => Reply::Programs,
        "d" => Reply::Lines,
        _ => return None,
    })
}

fn ask(may_choose: [bool; 2], out: &mut impl Write) -> anyhow::Result<Reply> {
    let mut more = Vec::new();
    let [books, programs] = may_choose;
    more.extend(books.then_some("b chooses books"));
    more.extend(programs.then_some("p programs"));
    more.push("d shows each line");
    loop {
        write!(out, "Do this? ({}) [y/N] ", more.join(", "))?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if answer.is_empty() {
            writeln!(out)?;
        }
        match reply(&answer, may_choose) {
            Some(Reply::No) => {
                writeln!(out, "Nothing was changed. (--yes does it without asking.)")?;
                out.flush()?;
                return Ok(Reply::No);
            }
            Some(reply) => return Ok(reply),
            None => writeln!(out, "Please answer y or n.")?,
        }
    }
}

/// Asks which of a list are used, in which order, until the answer can be read; an empty one
/// means all.
fn choose<T: Clone>(
    list: &[T],
    title: &str,
    name: impl Fn(&T) -> String,
    out: &mut impl Write,
) -> io::Result<Vec<T>> {
    writeln!(out, "\n{title}:")?;
    for (index, one) in list.iter().enumerate() {
        writeln!(out, "  {}  {}", index + 1, name(one))?;
    }
    loop {
        write!(out, "Numbers in the order you want, or nothing for all: ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if answer.is_empty() {
            writeln!(out)?;
        }
        match chosen(&answer, list) {
            Some(chosen) => return Ok(chosen),
            None => writeln!(out, "Please type numbers from 1 to {}.", list.len())?,
        }
    }
}

/// The entries of an answer like "2 1"; `None` if the answer is invalid.
fn chosen<T: Clone>(answer: &str, list: &[T]) -> Option<Vec<T>> {
    let words = answer.split(|c: char| c.is_whitespace() || c == ',');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Some(list.to_vec());
    }
    let entry = |word: &str| {
        let number: usize = word.parse().ok()?;
        list.get(number.checked_sub(1)?).cloned()
    };
    words.into_iter().map(entry).collect()
}

/// Five lines at most: what was found, and what would be done.
fn summarize(finds: &Finds, plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    let mut list = Table::list(0, 16);
    let names = |names: Vec<String>, otherwise: &str| match names.len() {
        0 => otherwise.to_owned(),
        count @ 1..=3 => format!("{count}: {}", names.join(", ")),
        count => {
            let first = names.get(..3).unwrap_or_default().join(", ");
            format!("{count}: {first}, ...")
        }
    };
    let files = |paths: &[PathBuf]| {
        let name = |path: &PathBuf| plain(&file_name(path));
        paths.iter().map(name).collect::<Vec<_>>()
    };
    let engines = names(files(&finds.engines), "none; the built-in one plays");
    list.add("Engines", engines);
    let books = names(files(&finds.books), "none; the starter book is used");
    list.add("Books", books);
    let programs = finds
        .programs
        .iter()
        .map(|program| program.title().to_owned());
    let otherwise = "none found; --help names those that are known";
    list.add("Chess programs", names(programs.collect(), otherwise));
    let written = match plan.changes.as_slice() {
        [] => "none has to change".to_owned(),
        changes => format!("{} to write or change", changes.len()),
    };
    list.add("Files", written);
    if !plan.left.is_empty() {
        list.add(
            "Left as they are",
            format!("{} (d says why)", plan.left.len()),
        );
    }
    write!(out, "{list}")
}

fn show(finds: &Finds, out: &mut impl Write) -> io::Result<()> {
    let lists = [("Engines", &finds.engines), ("Books", &finds.books)];
    for (title, paths) in lists {
        writeln!(out, "{}", Painted(HEADING, title))?;
        for path in paths {
            writeln!(out, "  {}", shown(path))?;
        }
        if paths.is_empty() {
            let otherwise = match title {
                "Engines" => "none found: the one that comes with Tabia plays",
                _ => "none found: the starter book that comes with Tabia is used",
            };
            writeln!(out, "  {otherwise} (--folder DIR looks elsewhere)")?;
        }
    }
    writeln!(out, "{}", Painted(HEADING, "Chess programs"))?;
    for program in &finds.programs {
        writeln!(out, "  {}", program.title())?;
    }
    if finds.programs.is_empty() {
        writeln!(
            out,
            "  none found that Tabia knows: give yours {} as a UCI engine",
            command()
        )?;
    }
    Ok(())
}

fn command() -> String {
    configuration::program().map_or_else(|| "tabia".to_owned(), |path| shown(&path))
}

fn show_plan(plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    for (number, change) in plan.changes.iter().enumerate() {
        let title = format!("{}. {}", number + 1, what(change));
        writeln!(out, "{}", Painted(HEADING, title))?;
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        file_diff::write(&change.path, before, after, out)?;
    }
    show_left(plan, out)
}

/// Shows which lines of the files of earlier runs are setup's.
fn show_origins(files: &[WrittenFile], command: &str, out: &mut impl Write) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let title = "Written by an earlier setup (\"yours\": since then)";
    writeln!(out, "\n{}", Painted(HEADING, title))?;
    for file in files {
        let path = file.path();
        let text = TextFile::text_of(&path);
        let compared = match &text {
            Ok(Some(now)) => file.compare(command, now),
            Ok(None) => Err("it was deleted since".to_owned()),
            Err(reason) => {
                writeln!(out, "{}", plain(reason))?;
                continue;
            }
        };
        match compared {
            Ok(compared) => file_diff::write_origins(&path, &compared.lines(), out)?,
            Err(reason) => writeln!(out, "{}: {}", shown(&path), plain(&reason))?,
        }
    }
    Ok(())
}

fn show_left(plan: &SetupPlan, out: &mut impl Write) -> io::Result<()> {
    for text in &plan.left {
        writeln!(out, "left as it is: {}", plain(text))?;
    }
    if plan.changes.is_empty() {
        writeln!(out, "No file needs to change.")?;
    }
    out.flush()
}

fn what(change: &FileChange) -> String {
    let path = shown(&change.path);
    let verb = match (&change.before, &change.after) {
        (None, _) => "write",
        (_, None) => "delete",
        _ => "change",
    };
    match change.program {
        Some(ProgramFile::Engines(program)) => {
            format!("{verb} {path}, the engines of {}", program.title())
        }
        Some(ProgramFile::PyChessSettings) => {
            format!("{verb} {path}, for PyChess's own book, which plays before any engine")
        }
        None => format!("{verb} {path}, Tabia's engines and books"),
    }
}

fn keep_sound_books(finds: &mut Finds, out: &mut impl Write) -> io::Result<()> {
    let mut written = Ok(());
    let mut left_out = |text: &str| {
        if written.is_ok() {
            written = writeln!(out, "left out: {}", plain(text));
        }
    };
    for (path, what) in &finds.no_books {
        left_out(&format!("{}: {what}", path.display()));
    }
    for (copy, book) in &finds.copies {
        left_out(&format!("{}: a copy of {}", copy.display(), book.display()));
    }
    finds.books.retain(|path| {
        let defect = defect(path).unwrap_or_else(|error| Some(format!("{error:#}")));
        if let Some(defect) = &defect {
            left_out(defect);
        }
        defect.is_none()
    });
    // Done only now: if a book is damaged, the same book in another format is used.
    for (other, book) in finds.drop_namesakes() {
        let (other, book) = (shown(&other), shown(&book));
        writeln!(out, "left out: {other}: another format of {book}")?;
    }
    written
}

/// A book with fewer positions is a test or a leftover.
const TINY: u64 = 10;

/// Why a book is not used: unreadable parts that `tabia info` would find, too few
/// positions, or none near the start position. A missing index does not count.
fn defect(path: &Path) -> anyhow::Result<Option<String>> {
    let book = files::open_quietly(path, false)?;
    let damage = match &book {
        Book::Ctg(book) => {
            let expected = book.header().pages;
            let info = info::counted(book, false)?;
            match info.bad_pages {
                _ if info.pages < expected => {
                    Some(format!("only {} of {expected} pages exist", info.pages))
                }
                0 => None,
                1 => Some("a page cannot be read to its end".to_owned()),
                bad => Some(format!("{bad} pages cannot be read to their end")),
            }
        }
        Book::Bin(book) if book.bytes().is_multiple_of(ENTRY_BYTES as u64) => None,
        Book::Bin(_) => Some("the last entry is incomplete".to_owned()),
        // Of a sound Shredder book, too, some positions are not found; `check` says how many.
        Book::Loaded(book) if !book.format().finds_every_position() => None,
        Book::Loaded(book) => book.notices().first().cloned(),
    };
    let shown = path.display();
    if let Some(damage) = damage {
        return Ok(Some(format!(
            "{shown}: it is damaged: {damage} (`tabia info` shows more)"
        )));
    }
    if files::announced_size(&book) < TINY {
        return Ok(Some(format!(
            "{shown}: it has fewer than {TINY} positions or moves"
        )));
    }
    // The starter book is used only if there is no other one: networks and tables of engines in
    // a folder of downloads, named `.bin`, took its place, and no book move was played.
    let is_near = is_near_start(&book)?;
    Ok((!is_near).then(|| {
        format!(
            "{shown}: it has no move in the start position, nor in any that is at most \
             {NEAR_PLIES} plies after it"
        )
    }))
}

/// The file of an engine that was named.
fn engine(name: &Path) -> anyhow::Result<PathBuf> {
    let is_name = name.components().count() == 1;
    let on_path = search_path().into_iter().map(|folder| folder.join(name));
    let here = std::path::absolute(name).with_context(|| format!("--engine {}", name.display()))?;
    let places = on_path.filter(|_| is_name).chain([here]);
    let ends = |path: PathBuf| [path.with_added_extension("exe"), path];
    let mut files = places.flat_map(ends).filter(|path| is_executable(path));
    files.next().with_context(|| {
        let name = name.display();
        format!("--engine {name}: no program of this name on the PATH, nor a file that can be run")
    })
}

fn keep_engines_that_answer(finds: &mut Finds, out: &mut impl Write) -> io::Result<()> {
    let mut kept = Vec::new();
    for path in finds.engines.drain(..) {
        write!(out, "  {}: ", shown(&path))?;
        // Each step takes time: show the last one now.
        out.flush()?;
        let command = EngineCommand::new(path.clone());
        let answer = match path.to_str() {
            Some(_) => greet(&command, tabia_adapter::config::START_TIMEOUT)
                .map_err(|error| error.to_string()),
            None => Err(format!(
                "the path is not valid Unicode ({}): engines.toml cannot name it",
                to_text(&path)
            )),
        };
        match answer {
            Ok(greeting) => {
                let name = greeting.name.unwrap_or_else(|| "a UCI engine".to_owned());
                writeln!(out, "{}", plain(&name))?;
                kept.push(path);
            }
            Err(reason) => writeln!(out, "left out: {}", plain(&reason))?,
        }
    }
    finds.engines = kept;
    Ok(())
}

/// A remark about book moves without their weights and games in brackets; `tabia probe`
/// explains these.
fn without_numbers(remark: &str) -> String {
    let mut text = String::new();
    let mut rest = remark;
    while let Some((before, after)) = rest.split_once(" (w ") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

/// Plays like a chess program; true if there is a move in each position.
fn try_it(program: &Path, out: &mut impl Write) -> io::Result<bool> {
    writeln!(out, "\n{}", Painted(HEADING, "Test: two moves"))?;
    out.flush()?;
    let command = EngineCommand::new(program.to_owned()).may_be_tabia(true);
    let patience = Patience::default()
        .start(std::time::Duration::from_secs(60))
        .search(std::time::Duration::from_secs(30));
    match play(&command, &["startpos", ENDGAME], &patience) {
        Ok(played) => {
            for (place, PlayedMove { mv, remarks, .. }) in
                ["start position", "endgame, out of book"]
                    .iter()
                    .zip(played)
            {
                writeln!(out, "  {place}: {}", plain(&mv))?;
                for remark in remarks {
                    writeln!(out, "    {}", plain(&without_numbers(&remark)))?;
                }
            }
            Ok(true)
        }
        Err(reason) => {
            writeln!(out, "  it does not play: {}", plain(&reason.to_string()))?;
            writeln!(out, "  tabia check shows more")?;
            Ok(false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_books_are_chosen_by_their_numbers() {
        let books: Vec<PathBuf> = ["a", "b", "c"].map(PathBuf::from).into();
        for (answer, expected) in [
            ("\n", Some("a b c")),
            ("", Some("a b c")),
            ("2\n", Some("b")),
            ("3, 1", Some("c a")),
            ("4", None),
            ("0", None),
            ("yes", None),
        ] {
            let found = chosen(answer, &books).map(|chosen| {
                let names = chosen.iter().map(|book| book.to_str().unwrap());
                names.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), expected, "{answer}");
        }
    }

    #[test]
    fn an_answer_that_means_nothing_is_asked_for_again() {
        let reply = |answer| reply(answer, [true, false]);
        assert_eq!(reply("Y\n"), Some(Reply::Yes));
        for answer in ["", "\n", "n", "No\n"] {
            assert_eq!(reply(answer), Some(Reply::No), "{answer:?}");
        }
        assert_eq!(reply("b"), Some(Reply::Books));
        assert_eq!(reply("d\n"), Some(Reply::Lines));
        // There are no programs to choose from.
        for answer in ["p", "1 2", "maybe", "j"] {
            assert_eq!(reply(answer), None, "{answer:?}");
        }
    }

    #[test]
    fn the_remark_about_a_book_move_is_shown_without_its_numbers() {
        let remark = "book x.ctg: d2d4 39% (w 62554, n 55110) e2e4 39% (w 62493, n 60385)";
        assert_eq!(without_numbers(remark), "book x.ctg: d2d4 39% e2e4 39%");
        assert_eq!(without_numbers("the engine plays"), "the engine plays");
    }
}
