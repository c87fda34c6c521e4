//! `tabia register`: registers the adapter with a chess program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context as _, bail, ensure};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::file_diff;
use crate::cli::arguments::complete;
use crate::cli::arguments::configuration::{self, ConfigArgs};
use crate::cli::arguments::engines;
use crate::install::{
    ChessProgram, EditedFor, EngineIn, Places, PrintedFor, ProgramFile, Registered, Registration,
    TextFile, make_folder, with_own_book, without_own_book,
};
use tabia_adapter::config::Config;
use tabia_adapter::declarations;
use tabia_choice::book_set::Opener;
use tabia_choice::settings::STARTER;
use tabia_io::atomic::Previous;
use tabia_io::sanitize::{escape_control, shell_word};
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
    An existing entry of Tabia with this name is updated; a second run with the \
    same arguments changes nothing. --remove takes it out again.";

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
        books: None,
        options: announced(config, engine)?,
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
    let launcher = match program.needs_script(&registration) {
        true => Some(launcher(program, &registration)?),
        false => None,
    };
    if let Some((path, _)) = &launcher {
        registration.command = text(path)?;
        if !program.takes_arguments() {
            registration.args.clear();
        }
    }
    let mut file = TextFile::open(&path)?;
    let text = match program.list_of_the_system() {
        Some(list) if !file.exists() => TextFile::text_of(list).map_err(anyhow::Error::msg)?,
        _ => None,
    };
    let text = text.as_deref().unwrap_or(file.text());
    let edited = program.edit(text, &registration);
    let edited = edited.with_context(|| path.display().to_string())?;
    // Everything is read before anything is written.
    let mut settings = match program.settings_beside(&path) {
        Some(path) => Some((TextFile::open(&path)?, path)),
        None => None,
    };
    if !args.dry_run {
        let adapter = self::text(
            &configuration::program().context("the program does not know its own file")?,
        )?;
        record(
            program,
            args,
            &adapter,
            (&path, &file, &edited),
            settings.as_ref(),
        )?;
    }
    if let Some((path, script)) = &launcher {
        if let (Some(folder), false) = (path.parent(), args.dry_run) {
            make_folder(folder)?;
        }
        let mut file = TextFile::open(path)?;
        apply(&mut file, path, script, args.dry_run, out)?;
        if !args.dry_run {
            make_executable(path)?;
        }
    }
    if let Some(folder) = path.parent()
        && !folder.is_dir()
    {
        let list = program.list_of_the_system();
        if !list.is_some_and(Path::exists) {
            message!(
                "tabia: there was no folder {}: is {} installed for you?",
                folder.display(),
                program.title()
            );
        }
        if !args.dry_run {
            make_folder(folder)?;
        }
    }
    let changed = apply(&mut file, &path, &edited, args.dry_run, out)?;
    drop(file);
    if let Some((settings, path)) = &mut settings {
        switch_own_book_off(program, settings, path, args.dry_run, out)?;
    }
    if changed && !args.dry_run {
        message!(
            "tabia: {}: {} knows \"{}\" from its next start on",
            path.display(),
            program.title(),
            if program.takes_a_name() {
                &registration.name
            } else {
                &registration.command
            },
        );
    }
    Ok(())
}

/// Records what will be written, so that it can be taken back.
fn record(
    program: EditedFor,
    args: &RegisterArgs,
    command: &str,
    (path, file, edited): (&Path, &TextFile, &str),
    settings: Option<&(TextFile, PathBuf)>,
) -> anyhow::Result<()> {
    let Some(record_path) = record_path() else {
        return Ok(());
    };
    let mut record = Registered::read(&record_path)?;
    let before = record.clone();
    let mut note = |path: &Path, program, file: &TextFile, after: &str| {
        let now = file.exists().then(|| file.text());
        if now == Some(after) {
            return Ok(());
        }
        let engine = EngineIn {
            name: &args.name,
            command,
            path,
            program,
        };
        let noted = record.note(&engine, now, after);
        noted.map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
    };
    note(path, ProgramFile::Engines(program), file, edited)?;
    if let Some((settings, path)) = settings {
        let off = without_own_book(settings.text());
        if off != settings.text() {
            note(path, ProgramFile::PyChessSettings, settings, &off)?;
        }
    }
    match record == before {
        true => Ok(()),
        false => record.save(&record_path),
    }
}

/// The record of what was written; `None` if the system names no folder for it.
fn record_path() -> Option<PathBuf> {
    let folder = Places::of_this_user().of_tabia()?;
    Some(folder.join("register.json"))
}

/// Switches the book off from which a program plays before it asks an engine.
fn switch_own_book_off(
    program: EditedFor,
    settings: &mut TextFile,
    path: &Path,
    dry_run: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let text = without_own_book(settings.text());
    if text != settings.text() && apply(settings, path, &text, dry_run, out)? && !dry_run {
        message!(
            "tabia: {}: {} does not play from its own book any more before it asks an engine \
             (Book depth max is 0)",
            path.display(),
            program.title()
        );
    }
    Ok(())
}

/// Gives a file the text from before, or deletes it; returns whether there is a difference.
fn put_back(
    mut file: TextFile,
    path: &Path,
    left: Option<&str>,
    dry_run: bool,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    if !file.exists() || left == Some(file.text()) {
        return Ok(false);
    }
    if let Some(left) = left {
        return apply(&mut file, path, left, dry_run, out);
    }
    file_diff::write(path, Some(file.text()), None, out)?;
    drop(file);
    if !dry_run {
        std::fs::remove_file(path).with_context(|| format!("cannot delete {}", path.display()))?;
    }
    Ok(true)
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
    let record_path = record_path();
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
    let file = TextFile::open(&path)?;
    let left = match record.without(&engine, file.text()) {
        Ok(Some(left)) => left,
        Ok(None) => {
            let left = program.remove(file.text(), &registration);
            let left = left.with_context(|| path.display().to_string())?;
            // Without the user's file, the program reads that of the system again.
            let of_the_system = match program.list_of_the_system() {
                Some(list) => TextFile::text_of(list).map_err(anyhow::Error::msg)?,
                None => None,
            };
            (of_the_system.as_ref() != Some(&left) || left == file.text()).then_some(left)
        }
        Err(error) => return Err(at_path(&path, error)),
    };
    let text_left = left.as_deref().unwrap_or_default();
    let is_still = left.as_deref().is_some_and(|left| {
        let without = program.remove(left, &registration);
        without.is_ok_and(|without| without != left)
    });
    record.forget(&engine, left.as_deref(), is_still);
    // The program gets its own book back once no engine in its list was written by us.
    let ours = program.ours(text_left);
    let is_from_before = |name: &String| record.is_from_before(&EngineIn { name, ..engine });
    let is_last = ours.iter().all(is_from_before);
    let settings = program.settings_beside(&path);
    let settings = match settings.filter(|path| path.is_file() && is_last) {
        Some(path) => {
            let of_the_program = EngineIn {
                path: &path,
                program: ProgramFile::PyChessSettings,
                ..engine
            };
            match TextFile::open(&path) {
                Ok(settings) => {
                    let text = settings.text();
                    let without = record.without(&of_the_program, text);
                    let without = match without.map_err(|error| at_path(&path, error))? {
                        Some(without) => without,
                        None if ours.is_empty() => with_own_book(text, None),
                        None => Some(text.to_owned()),
                    };
                    record.forget(&of_the_program, without.as_deref(), false);
                    Some((settings, path, without))
                }
                // Nothing was written then.
                Err(_) if left.as_deref() == Some(file.text()) => None,
                Err(error) => return Err(error),
            }
        }
        None => None,
    };
    let mut changed = put_back(file, &path, left.as_deref(), args.dry_run, out)?;
    if let Some((settings, path, left)) = settings {
        changed |= put_back(settings, &path, left.as_deref(), args.dry_run, out)?;
    }
    if is_still {
        message!(
            "tabia: {}: \"{}\" is as it was before tabia register; if you do not want it, delete \
             it in {}",
            path.display(),
            args.name,
            program.title()
        );
    }
    if !changed {
        message!(
            "tabia: {}: {} has no engine \"{}\" that tabia register wrote: nothing to change",
            path.display(),
            program.title(),
            args.name
        );
    }
    if args.dry_run {
        return Ok(0);
    }
    if let Some(path) = &record_path {
        record.save(path)?;
    }
    if program.may_need_script()
        && let Ok(launcher) = launcher_of(program, &args.name)
        && launcher.exists()
        // An entry from before may start it.
        && !text_left.contains(&*launcher.to_string_lossy())
    {
        std::fs::remove_file(&launcher)
            .with_context(|| format!("cannot delete {}", launcher.display()))?;
        message!("tabia: {}: deleted", launcher.display());
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
        let word = edited.to_possible_value();
        let word = word.map_or_else(String::new, |value| value.get_name().to_owned());
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

/// Writes a file, or shows the difference; returns whether there is one.
fn apply(
    file: &mut TextFile,
    path: &Path,
    text: &str,
    dry_run: bool,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let shown = path.display();
    if file.exists() && file.text() == text {
        message!("tabia: {shown}: nothing to change");
        return Ok(false);
    }
    let old = file.exists().then(|| file.text());
    file_diff::write(path, old, Some(text), out)?;
    out.flush()?;
    if dry_run {
        message!("tabia: {shown}: not changed (--dry-run)");
    } else if let Some(backup) = file.replace(text, Previous::KeepEach)? {
        message!("tabia: {shown}: the old file is {}", backup.display());
    }
    Ok(true)
}

/// A script that starts the adapter with its arguments, for a program that cannot pass
/// them or takes two entries of one program for the same engine: its path, and its text.
fn launcher(program: EditedFor, registration: &Registration) -> anyhow::Result<(PathBuf, String)> {
    ensure!(
        cfg!(unix),
        "{} starts engines without arguments: make a copy of the program and put a .toml file \
         of the same name beside it (see docs/guis.md), then register that copy without \
         --engine and --config",
        program.title()
    );
    let path = launcher_of(program, &registration.name)?;
    let args: &[String] = match program.takes_arguments() {
        // It passes them itself, and needs the script to be another file for each entry.
        true => &[],
        false => &registration.args,
    };
    let words: Vec<String> = std::iter::once(&registration.command)
        .chain(args)
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")))
        .collect();
    let purpose = match program.takes_arguments() {
        true => format!(", for \"{}\"", escape_control(&registration.name)),
        false => String::new(),
    };
    let script = format!(
        "#!/bin/sh\n# Made by tabia register{purpose}.\nexec {} \"$@\"\n",
        words.join(" ")
    );
    Ok((path, script))
}

/// The path of the script for an engine of this name. PyChess's has arguments of its own:
/// the same name may be another engine in Cute Chess.
fn launcher_of(program: EditedFor, name: &str) -> anyhow::Result<PathBuf> {
    let folder = dirs::config_dir().context("there is no home folder")?;
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let folder = folder.join("tabia").join("launchers");
    Ok(folder.join(match program {
        EditedFor::PyChess => format!("tabia-pychess-{name}"),
        _ => format!("tabia-{name}"),
    }))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> anyhow::Result<()> {
    Ok(())
}
