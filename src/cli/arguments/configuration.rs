//! Finds and reads the configuration.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use tabia_adapter::config::Config;

/// Where the configuration comes from.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConfigArgs {
    /// Configuration file [default: $TABIA_CONFIG, then tabia.toml or
    /// engines.toml beside the program, in the user's configuration folder,
    /// and engines.toml in the current folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Finds and reads the configuration: see [`ConfigArgs`].
pub(crate) fn configuration(args: &ConfigArgs) -> anyhow::Result<Config> {
    if let Some(path) = &args.config {
        return Ok(Config::read(path)?);
    }
    if let Some(path) = std::env::var_os("TABIA_CONFIG").filter(|path| !path.is_empty()) {
        return Config::read(Path::new(&path)).context("named by TABIA_CONFIG");
    }
    // A file with only comments, like the one that comes with the program, does not hide
    // a later one.
    let mut empty = None;
    for path in config_places().into_iter().filter(|path| path.is_file()) {
        let config = Config::read(&path)?;
        if !config.is_empty() {
            return Ok(config);
        }
        empty.get_or_insert(config);
    }
    Ok(empty.unwrap_or_default())
}

fn config_places() -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(program) = program() {
        // A renamed copy of the program has its own configuration.
        places.push(program.with_extension("toml"));
        places.push(program.with_file_name("engines.toml"));
    }
    if let Some(folder) = dirs::config_dir() {
        places.push(folder.join("tabia").join("engines.toml"));
    }
    places.push(PathBuf::from("engines.toml"));
    places
}

/// What is wrong with a folder of the configuration.
pub(crate) const NO_FOLDER: &str = "this folder does not exist (`folder` in engines.toml)";

/// The path of this program.
pub(crate) fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}
