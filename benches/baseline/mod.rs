//! Figures of a benchmark compared with an earlier run: `--save-baseline NAME` saves
//! them, `--baseline NAME` shows the ratio to saved ones.
//!
//! They are stored in `target/baselines/NAME`, where `benches/measure.py` saves whole
//! programs.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The saved data of a benchmark: a name and its figure on each line.
pub(crate) struct Baseline {
    /// The file for this run's figures.
    save: Option<PathBuf>,
    old: Vec<(String, f64)>,
    new: String,
}

impl Baseline {
    /// Reads the arguments; other ones, such as those of cargo, are ignored.
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

    /// Adds a figure; returns the text with the ratio, if an old figure was saved.
    pub(crate) fn ratio(&mut self, name: &str, figure: f64) -> String {
        // Writing to a string does not fail.
        let _ = writeln!(self.new, "{name}\t{figure}");
        let old = self.old.iter().find(|(old, _)| old == name);
        old.map_or_else(String::new, |(_, old)| {
            format!("{:>8.2} of before", figure / old)
        })
    }

    /// Saves the figures, if requested.
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
