//! Plays pairs of games between two UCI engines with fixed nodes or at a real clock, and
//! reports the result: for comparing books, and opening suites.
//!
//! ```text
//! pairs --first "tabia --book a.ctg -- stockfish" --second "stockfish" \
//!     --pairs 2000 --nodes 1000
//! pairs --first "tabia --book a.ctg -- stockfish" --second "stockfish" \
//!     --pairs 150 --tc 3+0.03 --adjudicate no
//! ```
//!
//! The two games of a pair have colours exchanged and are otherwise equal: the opening of
//! `--openings FILE` (a position a line, FEN or EPD; without it the start position), and
//! `Book Seed` for players that have that option. Engines forget between games. A game
//! ends by the rules of chess, or when both players agree: for `AGREED` plies in a row
//! that one side is `WON` centipawns up, or, from ply `DRAW_FROM` on, that no side is
//! more than `EVEN` up for twice as many plies; at the latest after `LONGEST` plies. With
//! `--adjudicate no` only the rules end it. A player who exceeds the clock loses.
//!
//! | option | default | |
//! |---|---|---|
//! | `--first`, `--second` | | commands, as a shell reads them |
//! | `--pairs N` | 100 | |
//! | `--nodes N` | 1000 | nodes a move; engines with one thread repeat their games |
//! | `--tc BASE+INC` | | a clock instead, in seconds: `3+0.03` |
//! | `--margin MS` | 0 | milliseconds by which a move may exceed the clock |
//! | `--adjudicate yes\|no` | yes | |
//! | `--at-once N` | 1 | games at a time; with fixed nodes that does not change what is played, at a clock leave a processor for each game |
//! | `--seed N` | 1 | the first pair's `Book Seed`, and its opening |
//! | `--apart N` | 0 | by how much the second player's `Book Seed` is greater |
//! | `--set NAME=VALUE` | | an option for both players; several times |
//! | `--openings FILE` | | |
//! | `--pgn FILE` | | the games, for `tabia suite --match` and others |
//!
//! The value in a player's last `info` line before its first move out of book is its
//! *exit value*: from its own short search, and its own view. Values are read by
//! [`tabia_uci::info::finding`].

#![allow(clippy::print_stdout)] // The report is for people.

mod game;
mod player;
mod report;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};

use game::{Game, Pace};
use player::Player;
use report::Report;

/// Centipawns that count as won.
const WON: i32 = 700;
/// Plies in a row on which both players must agree.
const AGREED: u32 = 6;
/// Highest number of centipawns that counts as even.
const EVEN: i32 = 8;
/// From this ply on a game may be agreed drawn.
const DRAW_FROM: usize = 80;
/// A game that is not over by then is a draw.
const LONGEST: usize = 400;

struct Plan {
    commands: [String; 2],
    pairs: usize,
    pace: Pace,
    adjudicate: bool,
    at_once: usize,
    seed: usize,
    apart: usize,
    set: Vec<String>,
    openings: Vec<Chess>,
    pgn: Option<Mutex<BufWriter<File>>>,
}

impl Plan {
    fn read(args: &[String]) -> Result<Plan, String> {
        let mut plan = Plan {
            commands: Default::default(),
            pairs: 100,
            pace: Pace::Nodes(1000),
            adjudicate: true,
            at_once: 1,
            seed: 1,
            apart: 0,
            set: Vec::new(),
            openings: vec![Chess::default()],
            pgn: None,
        };
        let mut margin = Duration::ZERO;
        let (names, rest) = args.as_chunks::<2>();
        for [name, value] in names {
            let number = || {
                let number = value.parse::<u32>();
                number.map_err(|_| format!("{name} {value}: expected a number"))
            };
            match name.as_str() {
                "--first" => plan.commands[0] = value.clone(),
                "--second" => plan.commands[1] = value.clone(),
                "--pairs" => plan.pairs = number()? as usize,
                "--nodes" => plan.pace = Pace::Nodes(number()?.into()),
                "--tc" => plan.pace = clock(value)?,
                "--margin" => margin = Duration::from_millis(number()?.into()),
                "--adjudicate" => {
                    plan.adjudicate = match value.as_str() {
                        "yes" => true,
                        "no" => false,
                        _ => return Err(format!("{name} {value}: expected yes or no")),
                    }
                }
                "--at-once" => plan.at_once = number()? as usize,
                "--seed" => plan.seed = number()? as usize,
                "--apart" => plan.apart = number()? as usize,
                "--set" => plan.set.push(value.clone()),
                "--openings" => plan.openings = openings(Path::new(value))?,
                "--pgn" => {
                    let file = File::create(value).map_err(|e| format!("{value}: {e}"))?;
                    plan.pgn = Some(Mutex::new(BufWriter::new(file)));
                }
                _ => return Err(format!("there is no option {name}")),
            }
        }
        if let Pace::Clock { margin: known, .. } = &mut plan.pace {
            *known = margin;
        }
        match plan.commands.iter().any(String::is_empty) || !rest.is_empty() {
            true => Err("expected --first COMMAND --second COMMAND [OPTION VALUE]...".to_owned()),
            false => Ok(plan),
        }
    }

    fn players(&self) -> [Player; 2] {
        let start = |command: &String| {
            let mut player = Player::start(command);
            for option in &self.set {
                let (name, value) = option.split_once('=').unwrap_or((option, ""));
                player.send(&format!("setoption name {name} value {value}"));
            }
            player
        };
        self.commands.each_ref().map(start)
    }

    /// Both games of a pair, each with its own players: the moves drawn from a book
    /// depend on how many games its adapter has played.
    fn play(&self, players: &mut [[Player; 2]; 2], number: usize) -> [Game; 2] {
        let number = self.seed + number;
        let opening = &self.openings[(number - 1) % self.openings.len()];
        [0, 1].map(|first| {
            let players = &mut players[first];
            for (player, apart) in players.iter_mut().zip([0, self.apart]) {
                player.new_game(number + apart);
            }
            Game::play(players, first, opening, self.pace, self.adjudicate)
        })
    }
}

/// Parses `3+0.03`.
fn clock(text: &str) -> Result<Pace, String> {
    let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
    let seconds = |text: &str| {
        let seconds: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    match (seconds(base), seconds(increment)) {
        (Some(base), Some(increment)) if !base.is_zero() => Ok(Pace::Clock {
            base,
            increment,
            margin: Duration::ZERO,
        }),
        _ => Err(format!("--tc {text}: expected seconds, as in 3+0.03")),
    }
}

/// The positions of a file.
fn openings(path: &Path) -> Result<Vec<Chess>, String> {
    let fault = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let text = fs::read_to_string(path).map_err(|error| fault(&error))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = |line: &str| {
        // Counters of a FEN are harmless, and operations are ignored.
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        let fen: Fen = words.join(" ").parse().ok()?;
        fen.into_position(CastlingMode::Standard).ok()
    };
    let positions: Result<Vec<Chess>, String> = lines
        .map(|line| read(line).ok_or_else(|| fault(&format!("no position: {line}"))))
        .collect();
    positions.and_then(|all| match all.is_empty() {
        true => Err(fault(&"no position in it")),
        false => Ok(all),
    })
}

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let plan = match Plan::read(&args) {
        Ok(plan) => plan,
        Err(fault) => {
            println!("pairs: {fault}");
            return std::process::ExitCode::from(2);
        }
    };
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    let work = || {
        let mut players = [plan.players(), plan.players()];
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.pairs {
                return;
            }
            let games = plan.play(&mut players, number);
            if let Some(pgn) = &plan.pgn {
                let mut pgn = pgn.lock().unwrap_or_else(PoisonError::into_inner);
                for game in &games {
                    let text = game.pgn(players[0].each_ref().map(|player| player.name.as_str()));
                    pgn.write_all(text.as_bytes()).expect("the games written");
                }
                pgn.flush().expect("the games written");
            }
            let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
            report.add(games);
            if report.pairs.count().is_multiple_of(50) {
                eprintln!("{report}");
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..plan.at_once.max(1) {
            scope.spawn(work);
        }
    });
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("first:  {}", plan.commands[0]);
    println!("second: {}", plan.commands[1]);
    println!("{}, seed {}", plan.pace, plan.seed);
    print!("{report}");
    std::process::ExitCode::SUCCESS
}
