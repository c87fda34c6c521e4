//! What can be typed: the commands, and help texts.

use clap::{Parser, Subcommand};

use super::arguments::common::PlayArgs;

/// Plays any UCI engine from ChessBase opening books (.ctg).
///
/// Without a command, tabia is a UCI engine: register it in a chess GUI. It answers
/// from the book; out of book the real engine answers.
#[derive(Debug, Parser)]
#[command(
    name = "tabia",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 done; 1 a negative answer (not in book, an engine with \
                  faults); 2 wrong usage, configuration or files.\n\n\
                  Example:\n  tabia --engine stockfish --book main.ctg --set \"Book Variety=20\""
)]
pub(crate) struct Cli {
    /// The command; `play` when there is none.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Arguments of `play`.
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    /// Prints no summaries and no progress; what was skipped or is wrong is printed
    #[arg(short = 'q', long, global = true)]
    pub(crate) silent: bool,
}

/// What tabia can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The adapter, a UCI engine (also without a command)
    #[command(after_help = "Examples:\n  \
        tabia play --engine stockfish --book main.ctg\n  \
        tabia play --set \"Book Variety=0\" --set Hash=256 -- /opt/lc0/lc0 --threads=2")]
    Play(PlayArgs),
    /// Tests engine, book and options of the configuration
    #[command(after_help = super::play::check_config::AFTER_HELP)]
    Check(super::play::check_config::CheckArgs),
    /// Shows numbers of a book: positions, moves, pages, marks, problems
    #[command(after_help = "Examples:\n  \
        tabia info books/tabia.ctg\n  \
        tabia info --full huge.ctg\n  \
        tabia info --json books/tabia.ctg")]
    Info(super::look::info::InfoArgs),
    /// Shows the moves of a position and how likely each is played
    #[command(after_help = "Examples:\n  \
        tabia probe books/tabia.ctg\n  \
        tabia probe books/tabia.ctg --moves \"e2e4 c7c5\" --set \"Book Variety=100\"\n  \
        tabia probe books/tabia.ctg --json - < fens.txt\n\n\
        - for the position reads FENs from standard input, one a line. \
        Exit code 1 when the position is not in the book.")]
    Probe(super::look::probe::ProbeArgs),
    /// Shows books in the browser: moves, figures, probabilities, marks
    #[command(after_help = "Examples:\n  \
        tabia explore\n  \
        tabia explore main.ctg other.ctg\n  \
        tabia explore --port 8000 --no-open --read-only main.ctg\n\n\
        The address is printed on standard output. Ctrl-C ends it. Programs can send it requests \
        as to the lichess opening explorer: /masters, /lichess (speeds, ratings, since, until) and \
        /player (player, color), each with fen=FEN&play=e2e4,c7c5; books with book=N. The page \
        explains its keys itself: press ?.")]
    Explore(super::look::explore::ExploreArgs),
    /// Makes a book from games
    #[command(after_help = "Examples:\n  \
        tabia build -o masters.ctg masters.pgn.zst\n  \
        tabia build -o mine.ctg --player \"Smith, Jane\" --colour white games/ extra.pgn\n  \
        tabia build -o good.ctg --both-elo 2400 --since 2000 --min-games 3 all.pgn\n  \
        tabia build -o black.bin --colour black --min-games 3 --max-ply 24 all.pgn\n  \
        tabia build -o blitz.ctg --speeds blitz --also \"slow.ctg: --speeds classical\" all.pgn\n  \
        zcat games.pgn.gz | tabia build -o book.ctg --priority lines.pgn -\n  \
        tabia build --records may.parquet may.pgn; tabia build -o all.ctg *.parquet\n\n\
        A game must meet all given conditions; a game without a year or a rating meets no \
        condition on it. The book is the same byte for byte whatever \
        --threads and --memory are.\n\n\
        Records (.parquet) are sums: conditions on games and --max-ply apply when they are \
        written, --min-games when the book is made. \
        docs/cluster.md of the source has their columns, and SQL that adds them up.\n\n\
        Exit codes: 0 done; 1 some games were skipped, with --strict; 2 no book was made.")]
    Build(super::make::build::BuildArgs),
    /// Adds games, or a line, to a book
    #[command(after_help = super::make::add::EXAMPLES)]
    Add(super::make::add::AddArgs),
    /// Game databases to PGN, or to a Simple Chess Database
    #[command(after_help = super::make::games::AFTER_HELP)]
    Games(super::make::games::GamesArgs),
    /// Indexes games by position, for `tabia explore` and for books
    #[command(after_help = super::make::index::EXAMPLES)]
    Index(Box<super::make::index::IndexArgs>),
    /// Reviews a book by played games: exits, first values, results
    #[command(after_help = super::judge::review::AFTER_HELP)]
    Review(super::judge::review::ReviewArgs),
    /// Makes and checks opening suites, and reports on matches
    #[command(after_help = super::test_engines::suite::AFTER_HELP)]
    Suite(Box<super::test_engines::suite::SuiteArgs>),
    /// Adjusts learn values from game results; adds no moves
    #[command(after_help = super::keep::learn::LEARN_EXAMPLES)]
    Learn(super::keep::learn::LearnArgs),
    /// Adds evaluations beside a book, from files or by engines
    #[command(after_help = super::judge::evaluate::EXAMPLES)]
    Evaluate(super::judge::evaluate::EvaluateArgs),
    /// Finds errors of a book by the evaluations beside it
    #[command(after_help = super::judge::audit::EXAMPLES)]
    Audit(super::judge::audit::AuditArgs),
    /// Compares two books by the positions in which they end
    #[command(after_help = super::judge::prove::EXAMPLES)]
    Prove(Box<super::judge::prove::ProveArgs>),
    /// Changes marks in place: main, avoid, ! and ?, learn values
    #[command(after_help = super::keep::mark::MARK_EXAMPLES)]
    Mark(super::keep::mark::MarkArgs),
    /// Adds books up: numbers of shared positions are summed
    #[command(after_help = "Examples:\n  \
        tabia merge -o all.ctg 2023.ctg 2024.ctg 2025.ctg\n  \
        tabia merge -o all.bin mine.bin theirs.bin\n  \
        tabia merge -o all.ctg mine.ctg theirs.abk shredder.bkt\n\n\
        The order of the books does not matter, nor whether all are merged at once. \
        Moves are united; of two marks or annotations the warning one stays. The weights of \
        Polyglot books are added up; their learn fields are those of the first book. \
        Books of other formats are converted first, as by convert.")]
    Merge(super::make::merge::MergeArgs),
    /// Extends a book at its cheapest exits, by an engine
    #[command(after_help = super::judge::grow::EXAMPLES)]
    Grow(Box<super::judge::grow::GrowArgs>),
    /// Chooses your moves by value against what opponents play
    #[command(after_help = super::judge::repertoire::EXAMPLES)]
    Repertoire(super::judge::repertoire::RepertoireArgs),
    /// Removes moves from a book, and positions that only they lead to
    #[command(after_help = super::keep::prune::EXAMPLES)]
    Prune(super::keep::prune::PruneArgs),
    /// Rewrites a book without unused bytes, with a correct index
    #[command(after_help = "Examples:\n  \
        tabia compact old.ctg\n  \
        tabia compact damaged.ctg -o saved.ctg\n\n\
        Works without .cto and .ctb, and on damaged books: what cannot be read is named \
        and left out. Without -o the new book takes the place of the old one when it is \
        complete, and the old one is kept as BOOK.bak.")]
    Compact(super::keep::compact::CompactArgs),
    /// Turns a book into another format, text, games or a table
    #[command(after_help = super::make::convert::HELP)]
    Convert(super::make::convert::ConvertArgs),
    /// Reads every byte of a book and reports errors
    #[command(after_help = "Examples:\n  \
        tabia verify book.ctg\n  \
        tabia verify --json book.ctg\n\n\
        Checks header, page bounds, keys, moves, children, numbers, and the index against the \
        pages. Each problem has file, page, byte of the file, kind and text. Flaws that books made \
        by ChessBase have too (stale bytes, a header that counts too many positions) are notes.\n\n\
        Exit codes: 0 no problem; 1 problems; 2 the file cannot be read or is not a book.")]
    Verify(super::keep::verify::VerifyArgs),
    /// Shows the tree of a book, with rare moves folded
    #[command(after_help = super::look::tree::EXAMPLES)]
    Tree(super::look::tree::TreeArgs),
    /// Shows the differences of two books, position by position
    #[command(after_help = super::look::diff::EXAMPLES)]
    Diff(super::look::diff::DiffArgs),
    /// Registers the adapter with a chess program
    #[command(after_help = super::set_up::register::EXAMPLES)]
    Register(super::set_up::register::RegisterArgs),
    /// Finds engines, books and chess programs, and sets everything up
    #[command(after_help = super::set_up::setup::EXAMPLES)]
    Setup(super::set_up::setup::SetupArgs),
    /// Prints completions for a shell
    #[command(after_help = super::set_up::shell::COMPLETIONS_EXAMPLES)]
    Completions(super::set_up::shell::CompletionsArgs),
    /// Shows a manual page, or writes all of them to a folder
    #[command(after_help = super::set_up::shell::MAN_EXAMPLES)]
    Man(super::set_up::shell::ManArgs),
    /// Tests whether an engine follows the UCI protocol
    #[command(after_help = "Examples:\n  \
        tabia check-engine stockfish\n  \
        tabia check-engine -- /opt/lc0/lc0 --threads=2\n\n\
        Exit code 1 when it does something wrong.")]
    CheckEngine(super::test_engines::check_engine::CheckEngineArgs),
    /// Runs a log of the adapter again and shows where the answers differ
    #[command(after_help = "Example:\n  \
        tabia --log game.log -- stockfish\n  \
        tabia replay game.log\n\n\
        No engine is started: its answers are in the log. Books are opened again; the seed, the \
        times and the settings are those of the log.\n\n\
        Exit codes: 0 the same answers; 1 other answers; 2 the file cannot be read or is not a log.")]
    Replay(super::test_engines::replay::ReplayArgs),
    #[cfg(feature = "builtin-engine")]
    /// The built-in engine: an ordinary UCI engine
    #[command(after_help = "Example:\n  \
        tabia engine")]
    Engine,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_argument_explained() {
        let mut command = Cli::command();
        command.build();
        command.clone().debug_assert();
        for part in std::iter::once(&command).chain(command.get_subcommands()) {
            for argument in part.get_arguments() {
                assert!(
                    argument.get_help().is_some(),
                    "{} {}",
                    part.get_name(),
                    argument.get_id()
                );
            }
        }
    }

    #[test]
    fn a_colour_is_chosen_by_one_word() {
        // Who is better, and from whom a value is seen, is something else.
        const OTHERS: [&str; 2] = ["better", "view"];
        let mut command = Cli::command();
        command.build();
        for part in command.get_subcommands() {
            for argument in part
                .get_arguments()
                .filter(|argument| !argument.is_hide_set())
            {
                let values = argument.get_possible_values();
                let is_colour = values.iter().any(|value| value.get_name() == "white");
                let long = argument.get_long().unwrap_or_default();
                if is_colour && !OTHERS.contains(&long) {
                    assert_eq!(long, "colour", "{}", part.get_name());
                }
            }
        }
        // The words of before.
        for line in [
            "build -o x.ctg g.pgn --player a --as white --only black",
            "build -o x.ctg g.pgn --only white",
            "add x.ctg g.pgn --as white",
            "games -o x.pgn g.pgn --player a --as w",
            "index -o x.tgx g.pgn --player a --as white",
            "learn x.ctg g.pgn --player a --as white --colour white",
            "learn x.ctg g.pgn --color black",
            "suite -o x.epd g.pgn --player a --as white --side black",
            "audit x.ctg --side both",
            "grow x.ctg -o y.ctg --side Black",
            "prune x.ctg -o y.ctg --only white",
            "repertoire x.ctg --color white",
            "repertoire x.ctg --as white",
            "review g.pgn x.ctg --side black",
            "mark x.ctg --only black main",
        ] {
            let words = ["tabia"].into_iter().chain(line.split(' '));
            let parsed = Cli::try_parse_from(words);
            assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
            let own = line.split(' ').next().unwrap();
            if !["repertoire", "review", "mark", "learn"].contains(&own) {
                let line = line.replace("--as", "--colour");
                let words = ["tabia"].into_iter().chain(line.split(' '));
                assert!(Cli::try_parse_from(words).is_ok(), "{line}");
            }
        }
    }

    #[test]
    fn play_is_the_default_and_takes_one_word_forms() {
        let cli = Cli::parse_from(["tabia", "--config=a.toml", "--engine=/opt/x"]);
        assert!(cli.command.is_none());
        assert_eq!(cli.play.engine.as_deref(), Some("/opt/x"));
        let cli = Cli::parse_from(["tabia", "--", "y", "-z"]);
        assert!(cli.command.is_none());
        assert_eq!(cli.play.command, ["y", "-z"]);
        let cli = Cli::parse_from([
            "tabia",
            "probe",
            "b.ctg",
            "8/8/8/8/8/8/8/Kk6",
            "w",
            "-",
            "-",
        ]);
        let Some(Command::Probe(probe)) = cli.command else {
            panic!("not probe");
        };
        assert_eq!(probe.place.fen.len(), 4);
    }
}
