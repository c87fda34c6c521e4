//! `tabia register`: registers the adapter with a chess program.

mod files;
mod launcher;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context as _, bail, ensure};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::cli::arguments::complete;
use crate::cli::arguments::configuration::{self, ConfigArgs};
use crate::cli::arguments::engines;
use crate::install::{
    ChessProgram, EditedFor, EngineIn, Places, PrintedFor, ProgramFile, Registered, Registration,
    TextFile, with_own_book, without_own_book,
};
use files::{Edit, carry_out, of_setup, record_path, save_of_setup, show};
use launcher::{delete_scripts, make_executable};
use tabia_adapter::config::Config;
use tabia_adapter::declarations;
use tabia_choice::book_set::Opener;
use tabia_choice::settings::STARTER;
use tabia_io::atomic::Previous;
use tabia_io::sanitize::shell_word;
use tabia_uci::message::UciOptionConfig;

/// Examples of `register`.
pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia register pychess --engine stockfish --book main.ctg\n  \
    tabia register cutechess --name \"Stockfish, sharp book\" --book sharp.ctg --dry-run\n  \
    tabia register fastchess --engine /opt/lc0/lc0\n  \
    tabia register pychess --remove\n\n\
    Cute Chess, BanksiaGUI, PyChess, Nibbler, GNOME Chess and En Croissant: the engine is written into the \
    program's own file; the old file is kept beside it as .bak, and what else is in it stays \
    as it is. Close the program first: it writes that file when it ends. The others: the \
    lines to type are printed.\n\n\
    An existing entry of Tabia with this name is updated, and loses an earlier --book that is \
    not given again; a book that was chosen in the program stays. A second run with the same \
    arguments changes nothing. --remove takes it out again.";

/// Arguments of `register`.
#[derive(Args, Debug)]
pub(crate) struct RegisterArgs {
    /// The chess program
    #[arg(value_enum, value_name = "PROGRAM")]
    program: Program,
    /// Name of the engine in the program
    #[arg(long, value_name = "N", default_value = "Tabia")]
    name: String,
    /// The engine: a name from the configuration, or the path of a program [default:
    /// those of the configuration]
    #[arg(long, value_name = "NAME", add = complete::engines())]
    engine: Option<String>,
    /// A book to play from; may be given several times, used in this order
    /// [default: those of the configuration, else the starter book]
    #[arg(long, value_name = "FILE", add = complete::books())]
    book: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
    /// The file of the chess program [default: where it usually is]
    #[arg(long, value_name = "PATH")]
    config_file: Option<PathBuf>,
    /// Removes the engine of this name from the program's file
    #[arg(long, conflicts_with_all = ["engine", "book", "config"])]
    remove: bool,
    /// Shows what would be changed, and changes nothing
    #[arg(long)]
    dry_run: bool,
}

/// A program that uses UCI engines.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    Edited(EditedFor),
    Printed(PrintedFor),
}

impl Program {
    /// The name in the program's own spelling.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Program::Edited(program) => program.title(),
            Program::Printed(program) => program.title(),
        }
    }
}

impl ValueEnum for Program {
    fn value_variants<'a>() -> &'a [Program] {
        static ALL: LazyLock<Vec<Program>> = LazyLock::new(|| {
            let edited = EditedFor::value_variants().iter().copied();
            let printed = PrintedFor::value_variants().iter().copied();
            let edited = edited.map(Program::Edited);
            edited.chain(printed.map(Program::Printed)).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Program::Edited(program) => program.to_possible_value(),
            Program::Printed(program) => program.to_possible_value(),
        }
    }
}

pub(crate) fn run(args: &RegisterArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    if args.remove {
        return remove(args, out);
    }
    let registration = registration(args)?;
    match args.program {
        Program::Printed(program) => {
            ensure!(
                args.config_file.is_none(),
                "--config-file: this program has no file to edit, \
                 only lines to type"
            );
            out.write_all(program.lines(&registration).as_bytes())?;
        }
        Program::Edited(program) => register(program, args, registration, out)?,
    }
    Ok(0)
}

/// The checked registration: errors must be found now, because a chess program hides
/// those of an engine that it starts.
fn registration(args: &RegisterArgs) -> anyhow::Result<Registration> {
    ensure!(!args.name.trim().is_empty(), "--name: a name is needed");
    let mut words = Vec::new();
    if let Some(path) = &args.config.config {
        configuration::configuration(&args.config)?;
        words.push(format!("--config={}", full(path)?));
    }
    if let Some(name) = &args.engine {
        engines::engine_named(&configuration::configuration(&args.config)?, Some(name))?;
        let name = match engines::is_program_path(name) {
            true if Path::new(name).is_file() => full(Path::new(name))?,
            true => bail!("--engine: there is no file {name}"),
            false => name.clone(),
        };
        words.push(format!("--engine={name}"));
    }
    let config = configuration::configuration(&args.config)?;
    Ok(Registration {
        name: args.name.clone(),
        args: words,
        books: books(&args.book)?,
        ..registration_of(&config, args.engine.as_deref())?
    })
}

/// The adapter without arguments, for programs where the configuration is enough.
pub(crate) fn registration_of(
    config: &Config,
    engine: Option<&str>,
) -> anyhow::Result<Registration> {
    let program = configuration::program().context("the program does not know its own file")?;
    Ok(Registration {
        name: "Tabia".to_owned(),
        folder: text(program.parent().unwrap_or(Path::new(".")))?,
        command: text(&program)?,
        args: Vec::new(),
        options: announced(config, engine)?,
        ..Registration::default()
    })
}

/// The options that the adapter would announce.
fn announced(config: &Config, engine: Option<&str>) -> anyhow::Result<Vec<UciOptionConfig>> {
    let (engines, _) = engines::engines_named(config, engine)?;
    let profile = engines.profiles.first();
    Ok(profile.map_or_else(Vec::new, |profile| {
        declarations(profile.settings.options()).collect()
    }))
}

/// The value of `Book File` for these books; fails if one cannot be opened.
fn books(paths: &[PathBuf]) -> anyhow::Result<Option<String>> {
    let opener = Opener::here(true);
    let mut names = Vec::new();
    for path in paths {
        let name = match path.to_str() {
            Some(STARTER) => STARTER.to_owned(),
            _ => full(path)?,
        };
        ensure!(
            !name.contains(';'),
            "--book: {name}: a `;` separates books: rename the file"
        );
        opener.open(&name)?;
        names.push(name);
    }
    Ok((!names.is_empty()).then(|| names.join(";")))
}

fn full(path: &Path) -> anyhow::Result<String> {
    let full = std::path::absolute(path);
    text(&full.with_context(|| format!("cannot find {}", path.display()))?)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str();
    let text =
        text.with_context(|| format!("{}: the path is not valid Unicode", path.display()))?;
    Ok(text.to_owned())
}

fn register(
    program: EditedFor,
    args: &RegisterArgs,
    mut registration: Registration,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if !program.takes_a_name() && args.name != "Tabia" {
        bail!(
            "--name: {} shows engines by the path of their program",
            program.title()
        );
    }
    let path = file_of(program, args)?;
    let adapter = registration.command.clone();
    let engine = EngineIn {
        name: &args.name,
        command: &adapter,
        path: &path,
        program: ProgramFile::Engines(program),
    };
    let record_path = record_path("register.json");
    let mut record = match &record_path {
        Some(path) => Registered::read(path)?,
        None => Registered::default(),
    };
    registration.earlier_books = record.books(&engine);
    let planned = plan(program, &path, &mut registration)?;
    for edit in planned.edits.iter().filter(|edit| !edit.is_change()) {
        message!("tabia: {}: nothing to change", edit.path.display());
    }
    if let Some(folder) = path.parent()
        && !folder.is_dir()
        && !program.list_of_the_system().is_some_and(Path::exists)
    {
        message!(
            "tabia: there was no folder {}: is {} installed for you?",
            folder.display(),
            program.title()
        );
    }
    show(&planned.edits, args.dry_run, out)?;
    if args.dry_run {
        return Ok(());
    }
    let mut setup = of_setup()?;
    for edit in planned.recorded() {
        let (engine, books) = match edit.path == path {
            true => (engine, registration.books.as_deref()),
            false => (EngineIn::settings(&edit.path), None),
        };
        let after = edit.after.as_deref().unwrap_or_default();
        let noted = record.note(&engine, edit.now(), after, books, &mut setup);
        noted.map_err(|error| anyhow::anyhow!("{}: {error}", edit.path.display()))?;
    }
    if let Some(path) = &record_path {
        // Before the folder of the script is made.
        record.note_folders(path);
    }
    // What will be written is recorded first, so that it can be taken back.
    carry_out(planned.edits, || match &record_path {
        Some(path) => {
            record.save(path)?;
            save_of_setup(&setup)
        }
        None => Ok(()),
    })?;
    if let Some(path) = &planned.launcher {
        make_executable(path)?;
    }
    delete_scripts(&engine, program, &planned.old, &record)?;
    if let Some(path) = &planned.settings {
        message!(
            "tabia: {}: {} does not play from its own book any more before it asks an engine \
             (Book depth max is 0)",
            path.display(),
            program.title()
        );
    }
    if planned.is_new {
        let name = match program.takes_a_name() {
            true => &registration.name,
            false => &registration.command,
        };
        let (path, title) = (path.display(), program.title());
        message!("tabia: {path}: {title} knows \"{name}\" from its next start on");
    }
    Ok(())
}

/// What registering changes.
struct Planned {
    edits: Vec<Edit>,
    /// The edited script.
    launcher: Option<PathBuf>,
    /// The edited settings, if they keep the program's own book from playing first.
    settings: Option<PathBuf>,
    /// The list as it was, and whether it changes.
    old: String,
    is_new: bool,
}

impl Planned {
    /// The changes that are recorded: a script is found by its name.
    fn recorded(&self) -> impl Iterator<Item = &Edit> {
        let is_recorded = |edit: &&Edit| Some(&edit.path) != self.launcher.as_ref();
        self.edits
            .iter()
            .filter(|edit| edit.is_change())
            .filter(is_recorded)
    }
}

/// Reads everything before anything is written. The command becomes that of the script if the
/// program needs one.
fn plan(
    program: EditedFor,
    path: &Path,
    registration: &mut Registration,
) -> anyhow::Result<Planned> {
    let mut edits = Vec::new();
    let mut launcher = None;
    if program.needs_script(registration) {
        let (path, script) = launcher::launcher(program, path, registration)?;
        registration.command = text(&path)?;
        if !program.takes_arguments() {
            registration.args.clear();
        }
        edits.push(Edit::new(&path, Some(script), Previous::Replace)?);
        launcher = Some(path);
    }
    let mut list = Edit::new(path, None, Previous::KeepEach)?;
    let old = list.file.text().to_owned();
    let text = match program.list_of_the_system() {
        Some(of_all) if list.now().is_none() => {
            TextFile::text_of(of_all).map_err(anyhow::Error::msg)?
        }
        _ => None,
    };
    let edited = program.edit(text.as_deref().unwrap_or(&old), registration);
    list.after = Some(edited.with_context(|| path.display().to_string())?);
    let is_new = list.is_change();
    edits.push(list);
    let mut settings = None;
    if let Some(path) = program.settings_beside(path) {
        let mut edit = Edit::new(&path, None, Previous::KeepEach)?;
        let text = without_own_book(edit.file.text());
        if text != edit.file.text() {
            edit.after = Some(text);
            edits.push(edit);
            settings = Some(path);
        }
    }
    Ok(Planned {
        edits,
        launcher,
        settings,
        old,
        is_new,
    })
}

/// The file with the engines of the program.
fn file_of(program: EditedFor, args: &RegisterArgs) -> anyhow::Result<PathBuf> {
    Ok(match &args.config_file {
        Some(path) => std::path::absolute(path)?,
        None => Places::of_this_user().file_of(program)?,
    })
}

/// Removes an engine from a program's file.
fn remove(args: &RegisterArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let Program::Edited(program) = args.program else {
        bail!(
            "--remove: nothing was written for this program; remove what you typed or chose \
             there"
        );
    };
    let path = file_of(program, args)?;
    let adapter = configuration::program().context("the program does not know its own file")?;
    let registration = Registration {
        name: args.name.clone(),
        command: text(&adapter)?,
        ..Registration::default()
    };
    let record_path = record_path("register.json");
    let mut record = match &record_path {
        Some(path) => Registered::read(path)?,
        None => Registered::default(),
    };
    let engine = EngineIn {
        name: &args.name,
        command: &registration.command,
        path: &path,
        program: ProgramFile::Engines(program),
    };
    let at_path = |path: &Path, error| anyhow::anyhow!("{}: {error}", path.display());
    let mut list = Edit::new(&path, None, Previous::KeepEach)?;
    let old = list.file.text().to_owned();
    let left = match record.without(&engine, &old) {
        Ok(Some(left)) => left,
        Ok(None) => {
            let left = program.remove(&old, &registration);
            let left = left.with_context(|| path.display().to_string())?;
            // Without the user's file, the program reads that of the system again.
            let of_the_system = match program.list_of_the_system() {
                Some(list) => TextFile::text_of(list).map_err(anyhow::Error::msg)?,
                None => None,
            };
            (of_the_system.as_ref() != Some(&left) || left == old).then_some(left)
        }
        Err(error) => return Err(at_path(&path, error)),
    };
    let text_left = left.clone().unwrap_or_default();
    let is_still = program.has(&text_left, &registration);
    let mut setup = of_setup()?;
    record.forget(&engine, left.as_deref(), is_still, &mut setup);
    // A file that is not there stays so.
    list.after = left.filter(|_| list.file.exists());
    let mut edits = Vec::new();
    // The program gets its own book back once no engine in its list was written by us.
    if let Some(path) = program.settings_beside(&path)
        && path.is_file()
        && !record.is_in(engine.path, &text_left)
        && !setup.is_in(engine.path, &text_left)
    {
        let of_all = EngineIn::settings(&path);
        match Edit::new(&path, None, Previous::KeepEach) {
            Ok(mut edit) => {
                let text = edit.file.text();
                let without = record.without(&of_all, text);
                edit.after = match without.map_err(|error| at_path(&path, error))? {
                    Some(without) => without,
                    None if program.ours(&text_left).is_empty() => with_own_book(text, None),
                    None => Some(text.to_owned()),
                };
                record.forget(&of_all, edit.after.as_deref(), false, &mut setup);
                edits.push(edit);
            }
            // Nothing was written then.
            Err(_) if !list.is_change() => {}
            Err(error) => return Err(error),
        }
    }
    edits.insert(0, list);
    if is_still {
        message!(
            "tabia: {}: \"{}\" is as it was before tabia register; if you do not want it, delete \
             it in {}",
            path.display(),
            args.name,
            program.title()
        );
    }
    if !edits.iter().any(Edit::is_change) {
        message!(
            "tabia: {}: {} has no engine \"{}\" that tabia register wrote: nothing to change",
            path.display(),
            program.title(),
            args.name
        );
    }
    show(&edits, args.dry_run, out)?;
    if args.dry_run {
        return Ok(0);
    }
    // The record is the last: after an error the same can be tried again.
    carry_out(edits, || Ok(()))?;
    delete_scripts(&engine, program, &old, &record)?;
    if let Some(path) = &record_path {
        save_of_setup(&setup)?;
        record.save(path)?;
    }
    Ok(0)
}

/// Tabia's engines in the files of chess programs, each with the command that removes it;
/// `text_now` reads a file.
pub(crate) fn registered(
    programs: &[ChessProgram],
    text_now: &dyn Fn(&Path) -> Option<String>,
) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for program in programs {
        let ChessProgram::Edited(edited, file) = program else {
            continue;
        };
        let word = word(*edited);
        let text = text_now(file).unwrap_or_default();
        for name in edited.ours(&text) {
            let name = match edited.takes_a_name() && name != "Tabia" {
                true => format!(" --name {}", shell_word(&name)),
                false => String::new(),
            };
            found.push((
                file.clone(),
                format!("tabia register {word}{name} --remove"),
            ));
        }
    }
    found
}

/// The name of a program on the command line.
fn word(program: EditedFor) -> String {
    let value = program.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
