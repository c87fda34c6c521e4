//! `tabia completions` and `tabia man`: generated from the definition of the command
//! line, so that they always match it.

use std::fs;
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::arguments::common::Force;
use crate::cli::arguments::tab;
use crate::cli::help::defaults;
use tabia_choice::settings::nearest;
use tabia_io::atomic::{self, Previous, TempFolder};

/// Examples of `completions`.
pub(crate) const COMPLETIONS_EXAMPLES: &str = "Examples:\n  \
    tabia completions bash > ~/.local/share/bash-completion/completions/tabia\n  \
    tabia completions zsh > ~/.zfunc/_tabia\n  \
    tabia completions fish > ~/.config/fish/completions/tabia.fish\n  \
    tabia completions powershell >> $PROFILE\n\n\
    At each Tab the shell then asks tabia, which knows its commands and options, values of \
    options, books and games in the folder that is typed, and the engines and books of the \
    configuration. fish, Elvish and PowerShell look for it as `tabia` on the PATH.";

/// Examples of `man`.
pub(crate) const MAN_EXAMPLES: &str = "Examples:\n  \
    tabia man\n  \
    tabia man probe\n  \
    tabia man probe | less\n  \
    tabia man --defaults\n  \
    tabia man --dir ~/.local/share/man/man1";

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command whose page is shown [default: the page of tabia itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Writes the pages of all commands into this folder instead, as
    /// tabia.1, tabia-probe.1 and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
    /// Prints the source of the page (roff) instead
    #[arg(long, conflicts_with = "dir")]
    roff: bool,
    /// Prints the defaults of all commands in one table instead
    #[arg(long, conflicts_with_all = ["command", "dir", "roff"])]
    defaults: bool,
    #[command(flatten)]
    force: Force,
}

pub(crate) fn completions(args: &CompletionsArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    tab::script(args.shell, out)?;
    Ok(0)
}

pub(crate) fn man(args: &ManArgs, tabia: Command, out: &mut impl Write) -> anyhow::Result<u8> {
    // "tabia help" repeats the help of all commands.
    let mut tabia = tabia.disable_help_subcommand(true);
    tabia.build();
    let part = |name: &str| {
        let part = tabia.find_subcommand(name)?;
        Some(part.clone().display_name(format!("tabia-{name}")))
    };
    if args.defaults {
        write!(out, "{}", defaults::table(&tabia))?;
        return Ok(0);
    }
    if let Some(folder) = &args.dir {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let old = args.force.old();
        write_page(&folder.join("tabia.1"), old, tabia.clone())?;
        for name in tabia.get_subcommands().map(Command::get_name) {
            let Some(part) = part(name) else { continue };
            for inner in part.get_subcommands() {
                let name = format!("tabia-{name}-{}", inner.get_name());
                let page = inner.clone().display_name(name.clone());
                write_page(&folder.join(name + ".1"), old, page)?;
            }
            write_page(&folder.join(format!("tabia-{name}.1")), old, part)?;
        }
        return Ok(0);
    }
    let wanted = match &args.command {
        None => tabia,
        Some(name) => part(name).with_context(|| {
            let names = tabia.get_subcommands().map(Command::get_name);
            let near = nearest(name, names);
            let near = near.map_or("see tabia --help".to_owned(), |name| {
                format!("did you mean \"{name}\"?")
            });
            format!("there is no command \"{name}\": {near}")
        })?,
    };
    if args.roff {
        out.write_all(&page(wanted)?)?;
        return Ok(0);
    }
    if !std::io::stdout().is_terminal() {
        write!(out, "{}", wanted.clone().render_long_help())?;
        return Ok(0);
    }
    // A page is roff source. If no `man` can show it, the help has the same text.
    let folder = TempFolder::beside(&std::env::temp_dir().join("tabia.1"))?;
    let file = folder.path().join("tabia.1");
    fs::write(&file, page(wanted.clone())?)?;
    let shown = Process::new("man").arg(&file).status();
    if !shown.is_ok_and(|status| status.success()) {
        write!(out, "{}", wanted.clone().render_long_help())?;
    }
    Ok(0)
}

fn write_page(path: &Path, old: Previous, command: Command) -> anyhow::Result<()> {
    atomic::write(path, &page(command)?, old)?;
    Ok(())
}

/// A manual page. clap_mangen calls the text after the arguments "extra"; here it is
/// mostly examples.
fn page(command: Command) -> anyhow::Result<Vec<u8>> {
    let mut roff = Vec::new();
    clap_mangen::Man::new(command).render(&mut roff)?;
    let text = String::from_utf8(roff)?;
    let text = text.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n");
    Ok(text.replace(".SH EXTRA\n", ".SH EXAMPLES\n").into_bytes())
}
