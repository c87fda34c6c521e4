//! Plays games and reports their results.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position};
use test_programs::Random;
use test_programs::engine::uci;

use super::player::{Player, send};
use super::referee;

/// A game with this many plies is a draw.
const LONGEST: usize = 400;

/// Growth is measured after this many games, when all buffers have been used.
const WARM: u64 = 20;

struct Plan {
    /// The commands of both players.
    commands: [Vec<String>; 2],
    /// Whether these are adapters around the engines of this program.
    are_adapters: bool,
    games: u64,
    at_once: u64,
    time: Duration,
    increment: Duration,
    /// Nodes a move, 0 for no limit.
    nodes: u64,
    kill_every: u64,
    freeze_every: u64,
    ponder_every: u64,
    seed: u64,
    /// Options of both players, name and value.
    sets: Vec<(String, String)>,
    openings: Vec<Chess>,
    pgn: Option<Mutex<File>>,
}

impl Plan {
    fn read(args: &[String]) -> Plan {
        let texts = |prefix: &str| -> Vec<String> {
            let texts = args.iter().filter_map(|arg| arg.strip_prefix(prefix));
            texts.map(str::to_owned).collect()
        };
        let text = |name: &str| texts(&format!("{name}=")).pop();
        let number = |name: &str, default: u64| {
            text(name).map_or(default, |value| value.parse().expect("a number"))
        };
        let time = |name: &str, default: f64| {
            let time: f64 = text(name).map_or(default, |value| value.parse().expect("a time"));
            Duration::from_secs_f64(time / 1e3)
        };
        let this = std::env::current_exe().expect("ourselves");
        let small = [this.to_string_lossy().into_owned(), "engine".to_owned()];
        let with = |engine: &[String]| {
            let mut command = vec![args[0].clone()];
            command.extend(texts("arg:"));
            if number("builtin", 0) == 1 {
                command.extend(["--engine".to_owned(), "builtin".to_owned()]);
            } else {
                command.push("--".to_owned());
                command.extend_from_slice(engine);
            }
            command
        };
        let shell = |command: String| ["sh", "-c", &format!("exec {command}")].map(str::to_owned);
        let own = text("first").zip(text("second"));
        let are_adapters = number("direct", 0) == 0 && own.is_none();
        let commands = match (own, text("engine")) {
            (Some((first, second)), _) => [shell(first).to_vec(), shell(second).to_vec()],
            (None, _) if !are_adapters => [small.to_vec(), small.to_vec()],
            (None, engine) => [
                with(&small),
                with(&engine.map_or(small.to_vec(), |it| vec![it])),
            ],
        };
        let default = |number: u64| if are_adapters { number } else { 0 };
        Plan {
            commands,
            are_adapters,
            games: number("games", 500),
            at_once: number("at-once", 2),
            time: time("time", 60_000.0),
            increment: time("increment", 1000.0),
            nodes: number("nodes", 0),
            kill_every: number("kill-every", default(5)),
            freeze_every: number("freeze-every", 0),
            ponder_every: number("ponder-every", default(4)),
            seed: number("seed", 1),
            sets: texts("set:")
                .iter()
                .filter_map(|set| set.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            openings: text("openings").map_or(vec![Chess::default()], |path| openings(&path)),
            pgn: text("pgn").map(|path| Mutex::new(File::create(path).expect("the file"))),
        }
    }

    /// Games 0 and 1 are the first pair, whose opening and seed are the same.
    fn pair(&self, number: u64) -> u64 {
        self.seed + number / 2
    }
}

/// The positions of a file, a FEN or EPD on each line.
fn openings(path: &str) -> Vec<Chess> {
    let text = std::fs::read_to_string(path).expect("the openings");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = |line: &str| {
        // Counters of a FEN are harmless, and operations are ignored.
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        let fen: Fen = words.join(" ").parse().ok()?;
        fen.into_position(CastlingMode::Standard).ok()
    };
    let read = |line| read(line).unwrap_or_else(|| panic!("{path}: no position: {line}"));
    lines.map(read).collect()
}

#[derive(Default)]
struct Report {
    games: u64,
    decided: u64,
    plies: u64,
    book_moves: usize,
    killed: usize,
    frozen: usize,
    restarts: usize,
    vetoes: usize,
    exits: usize,
    pondered: u64,
    ponder_hits: u64,
    /// Games of the first player: won, drawn, lost.
    score: [u64; 3],
    on_time: Vec<String>,
    illegal: Vec<String>,
    protocol: Vec<String>,
    /// The shortest time left on a clock.
    least_left: Option<Duration>,
    /// Memory (KiB), descriptors and threads: when warm, and at the end.
    sizes: Vec<([u64; 3], [u64; 3])>,
}

pub(crate) fn run_match(args: &[String]) -> ExitCode {
    let plan = Plan::read(args);
    let begin = Instant::now();
    let next = AtomicU64::new(0);
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        let players = || play_games(&plan, &next, &report);
        let games: Vec<_> = (0..plan.at_once).map(|_| scope.spawn(players)).collect();
        let ended: Vec<bool> = games.into_iter().map(|game| game.join().is_ok()).collect();
        let sound = ended.into_iter().all(|sound| sound);
        assert!(sound, "a game was not played to its end");
    });
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    print(&plan, &report, begin.elapsed())
}

fn play_games(plan: &Plan, next: &AtomicU64, report: &Mutex<Report>) {
    let mut players = plan
        .commands
        .each_ref()
        .map(|command| Player::start(command, plan.are_adapters, &plan.sets));
    let mut warm = None;
    let mut played = 0;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= plan.games {
            break;
        }
        let mut game = Game::new(plan, number);
        game.play(&mut players);
        if let Some(pgn) = &plan.pgn {
            let mut pgn = pgn.lock().unwrap_or_else(PoisonError::into_inner);
            pgn.write_all(game.pgn().as_bytes())
                .expect("the games written");
        }
        game.add_to(&mut report.lock().unwrap_or_else(PoisonError::into_inner));
        played += 1;
        if played == WARM && plan.are_adapters {
            warm = Some([players[0].size(), players[1].size()]);
        }
    }
    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
    for (warm, player) in warm.into_iter().flatten().zip(&players) {
        report.sizes.push((warm, player.size_at_rest(warm)));
    }
    for player in players {
        report.book_moves += player.received.book_moves;
        report.restarts += player.received.restarts;
        report.vetoes += player.received.vetoes;
        report.exits += player.received.exits;
        report.protocol.extend(player.quit());
    }
}

/// A signal to an engine during a game.
struct Attack {
    ply: usize,
    /// Delay after the `go`.
    after: Duration,
    kind: Kind,
}

enum Kind {
    Kill,
    /// Stopped for this many hundredths of the time left on the clock.
    Freeze(u32),
}

struct Game<'a> {
    plan: &'a Plan,
    number: u64,
    dice: Random,
    at: referee::Game,
    /// What each player said about its move, as in PGN.
    comments: Vec<String>,
    winner: Option<Color>,
    left: [Duration; 2],
    /// The move on which each side ponders.
    ponders: [Option<Move>; 2],
    attack: Option<Attack>,
    /// The thread that continues a stopped engine.
    thaw: Option<JoinHandle<()>>,
    report: Report,
}

impl<'a> Game<'a> {
    fn new(plan: &'a Plan, number: u64) -> Game<'a> {
        let mut dice = Random((plan.seed + number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let is_last_of = |every: u64| every > 0 && number % every == every - 1;
        let kind = if is_last_of(plan.kill_every) {
            Some(Kind::Kill)
        } else if is_last_of(plan.freeze_every) {
            Some(Kind::Freeze(1 + u32::try_from(dice.below(30)).unwrap_or(0)))
        } else {
            None
        };
        let attack = kind.map(|kind| Attack {
            ply: usize::try_from(dice.below(60)).unwrap_or(0),
            after: Duration::from_micros(dice.below(4000)),
            kind,
        });
        Game {
            plan,
            number,
            dice,
            at: referee::Game::new(
                &plan.openings[(plan.pair(number) - 1) as usize % plan.openings.len()],
            ),
            comments: Vec::new(),
            winner: None,
            left: [plan.time; 2],
            ponders: [None, None],
            attack,
            thaw: None,
            report: Report::default(),
        }
    }

    /// The words after `go`.
    fn limits(&self) -> String {
        let mut limits = String::new();
        if !self.plan.time.is_zero() {
            limits = referee::clocks(self.left, self.plan.increment);
        }
        if self.plan.nodes > 0 {
            let _ = write!(limits, " nodes {}", self.plan.nodes);
        }
        limits
    }

    /// Whether the first player has White: colours are exchanged after each game.
    fn first_is_white(&self) -> bool {
        self.number.is_multiple_of(2)
    }

    fn play(&mut self, players: &mut [Player; 2]) {
        for player in players.iter_mut() {
            player.new_game(self.plan.pair(self.number));
        }
        for ply in 0..LONGEST {
            let turn = self.at.board.turn();
            if self.at.is_over() {
                self.winner = self.at.board.is_checkmate().then_some(!turn);
                break;
            }
            let side = turn.fold_wb(0, 1);
            let player = &mut players[usize::from(turn.is_white() != self.first_is_white())];
            let reply = self
                .ask(ply, side, player)
                .and_then(|answer| self.take(&answer));
            let Some(reply) = reply else {
                self.winner = Some(!turn);
                break;
            };
            self.comments.push(player.received.comment(turn));
            if self.plan.ponder_every > 0 && self.number.is_multiple_of(self.plan.ponder_every) {
                self.ponder(side, reply, player);
            }
        }
        if let Some(thaw) = self.thaw.take() {
            thaw.join().expect("the thread that waits");
        }
        if !self.first_is_white() {
            self.ponders.swap(0, 1);
        }
        for (player, ponders) in players.iter_mut().zip(&mut self.ponders) {
            if ponders.take().is_some() {
                player.send("stop");
                player.wait_for("bestmove");
            }
            // Unexpected lines have arrived after `readyok`.
            player.is_ready();
            self.report.protocol.append(&mut player.received.faults);
        }
    }

    /// Asks the side to move for its answer, and updates its clock.
    fn ask(&mut self, ply: usize, side: usize, player: &mut Player) -> Option<String> {
        let begin = Instant::now();
        let pondered = self.ponders[side].take();
        if pondered.is_some() && pondered == self.at.moves.last().copied() {
            self.report.ponder_hits += 1;
            player.send("ponderhit");
        } else {
            if pondered.is_some() {
                player.send("stop");
                player.wait_for("bestmove")?;
            }
            player.received.of_search.clear();
            player.send(&format!("{}\ngo {}", self.at.position, self.limits()));
        }
        if let Some(attack) = self.attack.take_if(|attack| attack.ply <= ply) {
            self.attack(&attack, side, player);
        }
        let answer = player.wait_for("bestmove")?;
        let took = begin.elapsed();
        if self.plan.time.is_zero() {
            return Some(answer);
        }
        let Some(left) = self.left[side].checked_sub(took) else {
            let left = self.left[side];
            let what = format!("game {}, ply {ply}: {took:?} of {left:?}", self.number);
            self.report.on_time.push(what);
            return None;
        };
        self.report.least_left = Some(self.report.least_left.map_or(left, |least| least.min(left)));
        self.left[side] = left + self.plan.increment;
        Some(answer)
    }

    fn attack(&mut self, attack: &Attack, side: usize, player: &Player) {
        // Only chooses the moment: at the start of a search, or after it.
        std::thread::sleep(attack.after);
        match attack.kind {
            Kind::Kill => self.report.killed += player.signal_engine(Signal::KILL).len(),
            Kind::Freeze(hundredths) => {
                let stopped = player.signal_engine(Signal::STOP);
                self.report.frozen += stopped.len();
                let time = self.left[side] * hundredths / 100;
                self.thaw = Some(std::thread::spawn(move || {
                    // The engine stands still so long; its clock would allow more.
                    std::thread::sleep(time);
                    send(&stopped, Signal::CONT);
                }));
            }
        }
    }

    /// Plays the answer on the board; returns the suggested reply as text.
    fn take(&mut self, answer: &str) -> Option<Option<String>> {
        let words: Vec<&str> = answer.split(' ').collect();
        let Some(m) = words.get(1).and_then(|word| self.at.read(word)) else {
            let fen = Fen::from_position(&self.at.board, EnPassantMode::Legal);
            self.report
                .illegal
                .push(format!("game {}: \"{answer}\" in {fen}", self.number));
            return None;
        };
        self.at.play(m);
        self.report.plies += 1;
        Some(words.get(3).map(|word| (*word).to_owned()))
    }

    fn ponder(&mut self, side: usize, reply: Option<String>, player: &mut Player) {
        let Some(reply) = reply else { return };
        if self.at.is_over() || self.dice.below(8) == 0 {
            return;
        }
        let Some(m) = self.at.read(&reply) else {
            self.report
                .illegal
                .push(format!("game {}: ponder {reply}", self.number));
            return;
        };
        self.report.pondered += 1;
        self.ponders[side] = Some(m);
        let limits = self.limits();
        // `position` already contains `moves`, because a move has been played.
        let position = &self.at.position;
        player.received.of_search.clear();
        player.send(&format!("{position} {}\ngo ponder {limits}", uci(m)));
    }

    /// The game with what the players said, in the form of match managers.
    fn pgn(&self) -> String {
        let result = match self.winner {
            None => "1/2-1/2",
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
        };
        let [white, black] = match self.first_is_white() {
            true => ["first", "second"],
            false => ["second", "first"],
        };
        let mut text = format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Round \"{}\"]\n[Result \"{result}\"]\n",
            self.number / 2 + 1
        );
        if !self.report.on_time.is_empty() {
            text.push_str("[Termination \"time forfeit\"]\n");
        }
        let mut board = self.at.start.clone();
        if board != Chess::default() {
            let fen = Fen::from_position(&board, EnPassantMode::Legal);
            let _ = writeln!(text, "[SetUp \"1\"]\n[FEN \"{fen}\"]");
        }
        for (m, comment) in self.at.moves.iter().zip(&self.comments) {
            let dots = board.turn().fold_wb(".", "...");
            let _ = write!(text, "\n{}{dots} ", board.fullmoves());
            let san = SanPlus::from_move_and_play_unchecked(&mut board, *m);
            let _ = write!(text, "{san} {{{comment}}}");
        }
        let _ = writeln!(text, "\n{result}\n");
        text
    }

    fn add_to(mut self, all: &mut Report) {
        let first = if self.first_is_white() {
            Color::White
        } else {
            Color::Black
        };
        all.score[self
            .winner
            .map_or(1, |winner| usize::from(winner != first) * 2)] += 1;
        let game = &mut self.report;
        all.games += 1;
        all.decided += u64::from(self.at.board.is_checkmate());
        all.plies += game.plies;
        all.killed += game.killed;
        all.frozen += game.frozen;
        all.pondered += game.pondered;
        all.ponder_hits += game.ponder_hits;
        all.on_time.append(&mut game.on_time);
        all.illegal.append(&mut game.illegal);
        all.protocol.append(&mut game.protocol);
        all.least_left = match (all.least_left, game.least_left) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

fn print(plan: &Plan, report: &Report, took: Duration) -> ExitCode {
    println!(
        "{} games at {}+{} ms, {} at once, in {:.0} s: {} decided, {} plies, {} moves from the book",
        report.games,
        plan.time.as_millis(),
        plan.increment.as_millis(),
        plan.at_once,
        took.as_secs_f64(),
        report.decided,
        report.plies,
        report.book_moves,
    );
    println!(
        "engines killed: {}, stopped for a while: {}, restarts told: {}; pondered {} times, {} hits; least time ever left: {:?}",
        report.killed,
        report.frozen,
        report.restarts,
        report.pondered,
        report.ponder_hits,
        report.least_left.unwrap_or_default(),
    );
    println!(
        "vetoes: {}, exits by value: {}",
        report.vetoes, report.exits
    );
    let [won, drawn, lost] = report.score;
    println!("the first player: +{won} ={drawn} -{lost}");
    let mut grown = Vec::new();
    for (warm, end) in &report.sizes {
        println!(
            "an adapter after {WARM} games and at the end: {} and {} KiB, {} and {} descriptors, {} and {} threads",
            warm[0], end[0], warm[1], end[1], warm[2], end[2]
        );
        // Memory that the allocator retains is not lasting growth.
        if end[0] > warm[0] + 2048 || end[1] > warm[1] || end[2] > warm[2] {
            grown.push("an adapter has grown".to_owned());
        }
    }
    let mut wrong = 0;
    for (what, list) in [
        ("losses on time", &report.on_time),
        ("illegal moves", &report.illegal),
        ("protocol faults", &report.protocol),
        ("grown", &grown),
    ] {
        println!("{what}: {}", list.len());
        list.iter().take(5).for_each(|line| println!("  {line}"));
        wrong += list.len();
    }
    ExitCode::from(u8::from(wrong > 0 || report.games < plan.games))
}
