//! The engine arguments of commands that evaluate positions.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::collection;
use super::common::name_and_value;
use super::complete::{self, Of};
use super::configuration::{ConfigArgs, configuration};
use super::engines;
use tabia_adapter::config::START_TIMEOUT;
use tabia_analysis::evaluate::EnginePlan;
use tabia_engine::Effort;

/// Which engine, how long it searches, and how many run at the same time.
#[derive(Args, Debug, Default)]
pub(crate) struct EngineArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Evaluates with this engine: a name from the configuration, or the path
    /// of a program
    #[arg(long, value_name = "NAME", add = complete::engines(), conflicts_with = "command")]
    pub(crate) engine: Option<String>,
    /// Nodes of the search of each position [default: 100000]
    #[arg(long, value_name = "N", group = "effort",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) nodes: Option<u64>,
    /// Depth of these searches in plies, instead of nodes
    #[arg(long, value_name = "N", group = "effort",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) depth: Option<u16>,
    /// Milliseconds of these searches, instead of nodes
    #[arg(long, value_name = "MS", group = "effort",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) movetime: Option<u64>,
    /// Engines that run at the same time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = collection::thread_count())]
    pub(crate) jobs: Option<u16>,
    /// Sets an option of the engine; Threads is 1 and Hash 16 unless set here
    #[arg(long, value_name = "NAME=VALUE", add = complete::options(Of::Engine))]
    pub(crate) set: Vec<String>,
    /// Seconds without an answer after which an engine counts as hung
    /// [default: by nodes, depth or time]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) patience: Option<u64>,
    /// An engine with its arguments, instead of a configured one
    #[arg(last = true, value_name = "COMMAND", add = complete::commands())]
    pub(crate) command: Vec<OsString>,
}

impl EngineArgs {
    /// Whether an engine is named.
    pub(crate) fn is_given(&self) -> bool {
        self.engine.is_some() || !self.command.is_empty()
    }

    pub(crate) fn effort(&self) -> Effort {
        match (self.nodes, self.depth, self.movetime) {
            (_, Some(depth), _) => Effort::Depth(depth),
            (_, _, Some(ms)) => Effort::Time(Duration::from_millis(ms)),
            (nodes, ..) => Effort::Nodes(nodes.unwrap_or(100_000)),
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        let seconds = Duration::from_secs;
        match (self.patience, self.effort()) {
            (Some(patience), _) => seconds(patience),
            // Even the slowest engine searches 2,000 nodes in a second.
            (_, Effort::Nodes(nodes)) => seconds(30 + (nodes / 2000).min(86_400)),
            (_, Effort::Depth(_)) => seconds(1800),
            (_, Effort::Time(time)) => time + seconds(30),
        }
    }

    /// The engine as configured, with its share of threads and memory.
    pub(crate) fn plan(&self, lines: u16) -> anyhow::Result<EnginePlan> {
        let mut options = vec![
            ("Threads".to_owned(), "1".to_owned()),
            ("Hash".to_owned(), "16".to_owned()),
        ];
        let (command, start_timeout) = match self.command.split_first() {
            Some((program, rest)) => (engines::engine_command(program, rest)?, None),
            None => {
                let config = configuration(&self.config)?;
                let mut known = config.engines.iter();
                let entry = known.find(|entry| Some(&entry.name) == self.engine.as_ref());
                let of_player = |name: &str| {
                    ["threads", "hash", "multipv", "ponder"].contains(&&*name.to_ascii_lowercase())
                };
                let others = entry.iter().flat_map(|entry| &entry.options);
                options.extend(others.filter(|(name, _)| !of_player(name)).cloned());
                let timeout = entry.map(|entry| entry.start_timeout);
                let command = engines::engine_named(&config, self.engine.as_deref())?;
                (command, timeout)
            }
        };
        for set in &self.set {
            let (name, value) = name_and_value(set)?;
            options.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            options.push((name.to_owned(), value.trim().to_owned()));
        }
        let mut plan = EnginePlan::new(command, self.effort());
        plan.options = options;
        plan.start_timeout = start_timeout.unwrap_or(START_TIMEOUT);
        plan.lines = lines;
        plan.patience = self.patience();
        plan.jobs = collection::threads(self.jobs);
        Ok(plan)
    }
}
