//! Figures of a bench, beside those of a run before: `--save-baseline NAME`
//! keeps them, `--baseline NAME` shows the ratio to those that were kept.
//!
//! They stand in `target/baselines/NAME`, where `benches/measure.py` keeps
//! whole programs.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// What is kept of one bench: a name and its figure a line.
pub(crate) struct Baseline {
    /// Where this run's figures go.
    save: Option<PathBuf>,
    old: Vec<(String, f64)>,
    new: String,
}

impl Baseline {
    /// What the arguments say; others, as cargo gives, mean nothing.
    pub(crate) fn of(bench: &str) -> Result<Baseline, Failure> {
        let file = |name: &str| {
            let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
            let folder = root.join("target/baselines").join(name);
            folder.join(format!("{bench}.tsv"))
        };
        let mut baseline = Baseline {
            save: None,
            old: Vec::new(),
            new: String::new(),
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut name = || arguments.next().ok_or(format!("{argument}: which name?"));
            match argument.as_str() {
                "--save-baseline" => baseline.save = Some(file(&name()?)),
                "--baseline" => {
                    let file = file(&name()?);
                    let text = fs::read_to_string(&file)
                        .map_err(|error| format!("{}: {error}", file.display()))?;
                    let figures = text.lines().filter_map(|line| {
                        let (name, figure) = line.split_once('\t')?;
                        Some((name.to_owned(), figure.parse().ok()?))
                    });
                    baseline.old = figures.collect();
                }
                _ => {}
            }
        }
        Ok(baseline)
    }

    /// Notes a figure; what is to stand behind it, if it was kept before.
    pub(crate) fn ratio(&mut self, name: &str, figure: f64) -> String {
        // Writing to a string does not fail.
        let _ = writeln!(self.new, "{name}\t{figure}");
        let old = self.old.iter().find(|(old, _)| old == name);
        old.map_or_else(String::new, |(_, old)| {
            format!("{:>8.2} of before", figure / old)
        })
    }

    /// Keeps the figures, if they are to be kept.
    pub(crate) fn keep(self) -> Result<(), Failure> {
        let Some(file) = self.save else {
            return Ok(());
        };
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(file, self.new)?)
    }
}
