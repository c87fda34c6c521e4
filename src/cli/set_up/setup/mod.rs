//! `tabia setup`: prepares everything for a first game, and shows all changes first.

mod ask;
mod show;
mod tried;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::register::{self, Program};
use crate::cli::arguments::complete;
use crate::cli::arguments::configuration::{self, ConfigArgs};
use crate::cli::print::style::{HEADING, Painted, counted};
use crate::install::{
    ChessProgram, Finds, Places, Record, Registered, Registration, SetupPlan, Situation, TextFile,
};
use ask::{Reply, agreed, ask, choose};
use show::{show, show_left, show_lines_to_type, show_origins, show_plan, shown, summarize, what};
use tabia_adapter::config::Config;
use tabia_io::sanitize::escape_control as plain;
use tried::{engine, keep_engines_that_answer, keep_sound_books, try_it};

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
