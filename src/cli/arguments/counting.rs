//! Arguments of `build` and `add`: which games are counted, and how they are read.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;

use super::collection::{GameFilterArgs, WorkArgs};
use super::common::PlayerColour;
use super::complete;
use tabia_build::{PolyglotRule, Product};
use tabia_io::input::path::has_extension;

/// Which games and which of their moves are stored.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is stored")]
#[command(mut_arg("player_colour", |arg| arg
    .requires(clap::builder::Resettable::Reset)
    .help("The colour of that player; without --player only moves of this colour are stored, \
           with it by --only COLOUR")))]
pub(crate) struct Choice {
    /// Plies of each game that are stored
    #[arg(long, aliases = ["plies", "max-plies", "depth"], value_name = "N", default_value_t = 40)]
    pub(crate) max_ply: u16,
    /// Of these, N plies at most after the last position that has a name as an
    /// opening; ChessBase proposes 20
    #[arg(long, value_name = "N")]
    pub(crate) eco_relative: Option<u16>,
    /// Stores moves of this colour only, also with --player
    #[arg(long, value_name = "COLOUR", ignore_case = true, hide = true)]
    only: Option<PlayerColour>,
    /// Leaves out positions and moves of fewer games
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_games: u32,
    /// Of a Polyglot book: leaves out moves with a lower score, in per cent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_score: Option<f64>,
    /// Of a Polyglot book: every weight is 1
    #[arg(long)]
    uniform: bool,
    #[command(flatten)]
    pub(crate) filter: GameFilterArgs,
    /// Counts a game once that occurs several times: the same moves, result and family
    /// names
    #[arg(long, help_heading = "Which games")]
    pub(crate) dedupe: bool,
}

impl Choice {
    /// The side whose moves are stored: that of `--only`, or of a `--colour` without a
    /// player.
    pub(crate) fn only(&self) -> Option<PlayerColour> {
        self.only.or(self.filter.colour_without_player())
    }

    /// The kind of book, by its file name.
    pub(crate) fn product(&self, book: &Path) -> anyhow::Result<Product> {
        let (uniform, min_score) = (self.uniform, self.min_score);
        if has_extension(book, "bin") {
            let min_score = min_score.unwrap_or(0.0);
            return Ok(Product::Polyglot(
                PolyglotRule::default()
                    .uniform(uniform)
                    .min_score(min_score),
            ));
        }
        ensure!(
            !uniform && min_score.is_none(),
            "{}: --uniform and --min-score are for Polyglot books (.bin)",
            book.display()
        );
        Ok(Product::Book)
    }
}

/// Reads `--min-score`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let percent = number.filter(|number| (0.0..=100.0).contains(number));
    percent.ok_or_else(|| "expected a number from 0 to 100".to_owned())
}

/// Which games are counted, and how they are read.
#[derive(Args, Debug)]
#[command(next_help_heading = "What is stored")]
pub(crate) struct Counting {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Stores moves of variations too, without numbers
    #[arg(long)]
    pub(crate) variations: bool,
    /// Stores the annotations in the games: of moves (! ? !! ?? !? ?!, only move) and
    /// of positions (+=, -+ and the like). The most frequent one counts; of several,
    /// that of the best player
    #[arg(long)]
    pub(crate) annotations: bool,
    /// Games that count like the others and whose moves get the `main` mark;
    /// may be given several times
    #[arg(long, value_name = "SOURCE", add = complete::games())]
    pub(crate) priority: Vec<PathBuf>,
    /// Counts games from set-up positions too
    #[arg(long, help_heading = "Which games")]
    pub(crate) setups: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
}
