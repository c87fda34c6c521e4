//! Code shared by all commands that read games: the conditions on games, and the report
//! on games that were left out.

use clap::builder::{
    PossibleValue, PossibleValuesParser, RangedI64ValueParser, TypedValueParser as _,
};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::common::{self, PlayerColour};
use super::line;
use shakmaty::Chess;
use tabia_games::{
    FilterOption, GameCondition, GameFilter, Takes, Tally, TextEncoding, ValueKind, group_of,
};
use tabia_io::parallel::{self, MOST_THREADS};

/// Conditions on games, of which a game must meet all that are given, and how the games are
/// read. The conditions come from the table of [`GameFilter`].
#[derive(Clone, Debug)]
pub(crate) struct GameFilterArgs {
    filter: GameFilter,
    pub(crate) password: Option<String>,
    pub(crate) encoding: Option<TextEncoding>,
}

/// How games are read, for all commands that read games.
#[derive(Args, Clone, Debug)]
struct ReadArgs {
    /// The password of encrypted archives (.cbz)
    #[arg(long, value_name = "TEXT")]
    password: Option<String>,
    /// The encoding of names and comments that are not UTF-8, for old files: windows-1251,
    /// koi8-r, cp866, cp437, cp850, gbk and others [default: Windows-1252]
    #[arg(long, value_name = "NAME")]
    encoding: Option<TextEncoding>,
}

/// The argument of a condition. Its value stays text, as it is typed.
fn argument(option: &'static FilterOption) -> Arg {
    let arg = Arg::new(option.key).long(option.name()).help(option.help);
    let arg = match option.takes {
        Takes::Nothing => return arg.action(ArgAction::SetTrue),
        Takes::One => arg.action(ArgAction::Set),
        Takes::List => arg.action(ArgAction::Append).value_delimiter(','),
        Takes::Each => arg.action(ArgAction::Append),
    };
    let arg = match option.value {
        ValueKind::Number => {
            arg.value_parser(clap::value_parser!(u16).map(|number| number.to_string()))
        }
        ValueKind::Words(words) => {
            let letter = |word: &'static str| word.get(..1).unwrap_or_default();
            let words = words.iter();
            let words = words.map(|word| PossibleValue::new(*word).alias(letter(word)));
            arg.ignore_case(true)
                .value_parser(PossibleValuesParser::new(words))
        }
        ValueKind::Month | ValueKind::Name | ValueKind::Text => arg.value_parser(|text: &str| {
            GameFilter::default()
                .set(option.condition, text)
                .map(|()| text.to_owned())
        }),
    };
    let arg = match option.condition {
        GameCondition::Colour => arg.requires("player").aliases(["color", "as"]),
        _ => arg,
    };
    arg.value_name(option.value_name)
}

impl Args for GameFilterArgs {
    fn augment_args(command: Command) -> Command {
        let command = command.next_help_heading("Which games");
        ReadArgs::augment_args(command.args(GameFilter::OPTIONS.iter().map(argument)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        GameFilterArgs::augment_args(command)
    }
}

impl FromArgMatches for GameFilterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<GameFilterArgs, clap::Error> {
        let mut filter = GameFilter::default();
        for option in GameFilter::OPTIONS {
            let values: Vec<&str> = match option.takes {
                Takes::Nothing => matches
                    .get_flag(option.key)
                    .then_some("")
                    .into_iter()
                    .collect(),
                Takes::One | Takes::List | Takes::Each => {
                    let values = matches.get_many::<String>(option.key);
                    values.into_iter().flatten().map(String::as_str).collect()
                }
            };
            for value in values {
                filter
                    .set(option.condition, value)
                    .map_err(|error| clap::Error::raw(ErrorKind::ValueValidation, error))?;
                if option.condition == GameCondition::Ratings {
                    report_group(value);
                }
            }
        }
        let ReadArgs { password, encoding } = ReadArgs::from_arg_matches(matches)?;
        Ok(GameFilterArgs {
            filter,
            password,
            encoding,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = GameFilterArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Says which group a rating stands for that is not the least of one.
fn report_group(rating: &str) {
    let group = rating.trim().parse().map(group_of).unwrap_or_default();
    if rating.trim() != group.to_string() {
        message!("tabia: --ratings {rating}: the games of the whole group {group}");
    }
}

impl GameFilterArgs {
    pub(crate) fn filter(&self) -> GameFilter {
        self.filter.clone()
    }

    /// The colour, if no player is named.
    pub(crate) fn colour_without_player(&self) -> Option<PlayerColour> {
        let colour = self.filter.colour.filter(|_| self.filter.player.is_none());
        colour.map(|colour| colour.fold_wb(PlayerColour::White, PlayerColour::Black))
    }
}

/// The position that a game must reach.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Which games")]
pub(crate) struct ReachArgs {
    /// Only games that reach the position after this line, in any order of moves, as
    /// "1.e4 c5", within the plies that are read
    #[arg(long, visible_alias = "moves", value_name = "MOVES")]
    line: Option<String>,
    /// Only games that reach this position; with --line that after the line from here
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
}

impl ReachArgs {
    /// The position, if one is given.
    pub(crate) fn position(&self) -> anyhow::Result<Option<Chess>> {
        if self.line.is_none() && self.fen.is_none() {
            return Ok(None);
        }
        let fen = self.fen.as_deref().unwrap_or_default();
        let line = line::line_from(fen, self.line.as_deref().unwrap_or_default())?;
        Ok(Some(line.last().clone()))
    }
}

/// How the work is done, and what is reported.
#[derive(Args, Debug)]
#[command(next_help_heading = "Work")]
pub(crate) struct WorkArgs {
    /// Threads that count [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = thread_count())]
    pub(crate) threads: Option<u16>,
    /// Memory for counting, as 64M or 2G; what does not fit is sorted on disk
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = common::size)]
    pub(crate) memory: u64,
    /// Folder for temporary files [default: that of the file to be written]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) temp: Option<std::path::PathBuf>,
    /// Prints one JSON object with the numbers of the result and of the games
    #[arg(long)]
    pub(crate) json: bool,
    /// Ends with exit code 1 when games were skipped
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Reads a number of threads.
pub(crate) fn thread_count() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=MOST_THREADS.into())
}

/// The requested number of threads, or one for each processor.
pub(crate) fn threads(wanted: Option<u16>) -> usize {
    wanted.map_or_else(parallel::threads, usize::from)
}

/// Greatest number of skipped games in the report.
const NAMED: usize = 20;

/// The exit code: with `--strict`, skipped or incomplete games, unreadable parts of
/// sources and games that contradict themselves are a negative answer.
pub(crate) fn exit_code(strict: bool, tally: &Tally) -> u8 {
    let sources = tally.cut_sources + tally.contradictory_sources;
    u8::from(strict && tally.skipped + tally.cut + sources > 0)
}

/// Reports the first skipped or incomplete games, and prints the remarks about the
/// sources.
pub(crate) fn report(tally: &Tally) {
    for skipped in tally.named.iter().take(NAMED) {
        message!("{skipped}");
    }
    // Of several that are lost together, only the first is named.
    let named = tally.named.len().min(NAMED) as u64;
    let unnamed = (tally.skipped + tally.cut).saturating_sub(named);
    if unnamed > 0 {
        message!("... and {unnamed} more");
    }
    for remark in &tally.remarks {
        message!("{remark}");
    }
}

/// The counts that are not zero, each after a semicolon.
pub(crate) fn counts<const N: usize>(counts: [(u64, &str); N]) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts
        .map(|(count, what)| {
            let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
            let noun = match count {
                1 => noun.strip_suffix('s').unwrap_or(noun),
                _ => noun,
            };
            format!("; {}", format!("{count} {noun} {rest}").trim_end())
        })
        .collect()
}

/// Text with the number of rejected games without a rating.
pub(crate) fn unrated(tally: &Tally) -> String {
    match tally.unrated {
        0 => String::new(),
        count => format!(" ({count} of them without a rating)"),
    }
}
