//! Games between engines, as a manager runs them.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Chess, EnPassantMode, Move, Position};

use crate::engine::uci;

/// An engine and its pipes.
pub struct Player {
    pub child: Child,
    stdin: ChildStdin,
    pub lines: Receiver<String>,
}

impl Player {
    /// Starts a program without the user's configuration.
    pub fn start(command: &mut Command) -> Player {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.env("TABIA_CONFIG", "").spawn().expect("the engine");
        let stdout = BufReader::new(child.stdout.take().expect("its output"));
        let (to_lines, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if to_lines.send(line).is_err() {
                    return;
                }
            }
        });
        Player {
            stdin: child.stdin.take().expect("its input"),
            child,
            lines,
        }
    }

    /// # Errors
    ///
    /// The engine has closed its input.
    pub fn send(&mut self, line: &str) -> io::Result<()> {
        self.stdin.write_all(format!("{line}\n").as_bytes())
    }

    /// Waits for the line that begins with `word`; `on_line` receives the lines before it.
    ///
    /// # Errors
    ///
    /// The engine has ended, or the time limit has passed.
    pub fn wait_for(
        &self,
        word: &str,
        limit: Duration,
        mut on_line: impl FnMut(&str),
    ) -> Result<String, RecvTimeoutError> {
        let begin = Instant::now();
        loop {
            let left = limit.saturating_sub(begin.elapsed());
            let line = self.lines.recv_timeout(left)?;
            if line.split(' ').next() == Some(word) {
                return Ok(line);
            }
            on_line(&line);
        }
    }
}

/// The current game.
pub struct Game {
    pub start: Chess,
    pub board: Chess,
    pub moves: Vec<Move>,
    seen: HashMap<Zobrist64, u32>,
    /// The `position` command for the engines.
    pub position: String,
}

impl Game {
    pub fn new(start: &Chess) -> Game {
        let mut game = Game {
            start: start.clone(),
            board: start.clone(),
            moves: Vec::new(),
            seen: HashMap::new(),
            position: match *start == Chess::default() {
                true => "position startpos".to_owned(),
                false => format!(
                    "position fen {}",
                    Fen::from_position(start, EnPassantMode::Legal)
                ),
            },
        };
        game.count_position();
        game
    }

    fn hash(&self) -> Zobrist64 {
        self.board.zobrist_hash(EnPassantMode::Legal)
    }

    fn count_position(&mut self) {
        *self.seen.entry(self.hash()).or_default() += 1;
    }

    /// A legal move in UCI notation, with castling written either way.
    pub fn read(&self, text: &str) -> Option<Move> {
        text.parse::<UciMove>().ok()?.to_move(&self.board).ok()
    }

    pub fn play(&mut self, m: Move) {
        let before = if self.moves.is_empty() {
            " moves "
        } else {
            " "
        };
        self.position.push_str(before);
        self.position.push_str(&uci(m));
        self.board.play_unchecked(m);
        self.moves.push(m);
        self.count_position();
    }

    /// By the rules of chess, including draws that a player may claim.
    pub fn is_over(&self) -> bool {
        self.board.is_game_over() || self.board.halfmoves() >= 100 || self.seen[&self.hash()] >= 3
    }
}

/// The clocks of White and Black as in a `go`.
pub fn clocks(left: [Duration; 2], increment: Duration) -> String {
    // Some engines read zero as no clock.
    let [white, black] = left.map(|left| left.as_millis().max(1));
    let increment = increment.as_millis();
    format!("wtime {white} btime {black} winc {increment} binc {increment}")
}
