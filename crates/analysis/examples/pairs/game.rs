//! One game and its result.

use std::fmt::{self, Write as _};
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, EnPassantMode, Position};
use test_programs::engine::uci;
use test_programs::referee;

use super::player::Player;
use super::{AGREED, DRAW_FROM, EVEN, LONGEST, WON};

/// The limit of each move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    Nodes(u64),
    /// Time for the game, and an increment after each move; a move may exceed the clock
    /// by `margin`.
    Clock {
        base: Duration,
        increment: Duration,
        margin: Duration,
    },
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Nodes(nodes) => write!(f, "{nodes} nodes a move"),
            Pace::Clock {
                base,
                increment,
                margin,
            } => write!(
                f,
                "{}+{} s, margin {} ms",
                base.as_secs_f64(),
                increment.as_secs_f64(),
                margin.as_millis()
            ),
        }
    }
}

impl Pace {
    /// The `go` command of a move; `clocks` are those of White and Black.
    fn go(self, clocks: [Duration; 2]) -> String {
        match self {
            Pace::Nodes(nodes) => format!("go nodes {nodes}"),
            Pace::Clock { increment, .. } => format!("go {}", referee::clocks(clocks, increment)),
        }
    }

    /// The clock after a move; `None` if it was exceeded.
    fn after(self, clock: Duration, took: Duration) -> Option<Duration> {
        match self {
            Pace::Nodes(_) => Some(clock),
            Pace::Clock {
                increment, margin, ..
            } => (took <= clock + margin).then(|| clock.saturating_sub(took) + increment),
        }
    }
}

/// How one side left its book.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exit {
    /// Book moves of the side before its first search.
    pub(crate) book_moves: usize,
    /// The value of that search, in centipawns from its view.
    pub(crate) value: Option<i32>,
}

pub(crate) struct Game {
    pub(crate) at: referee::Game,
    /// Which player had White.
    pub(crate) white: usize,
    pub(crate) winner: Option<Color>,
    /// The side that exceeded the clock.
    pub(crate) late: Option<Color>,
    /// Exits of White and of Black.
    pub(crate) exits: [Exit; 2],
}

impl Game {
    pub(crate) fn play(
        players: &mut [Player; 2],
        white: usize,
        opening: &Chess,
        pace: Pace,
        adjudicate: bool,
    ) -> Game {
        let mut game = Game {
            at: referee::Game::new(opening),
            white,
            winner: None,
            late: None,
            exits: [Exit::default(); 2],
        };
        // Plies in a row with the claim that White wins, Black wins, nobody wins.
        let mut agreed = [0_u32; 3];
        let mut clocks = match pace {
            Pace::Nodes(_) => [Duration::ZERO; 2],
            Pace::Clock { base, .. } => [base; 2],
        };
        for ply in 0.. {
            if adjudicate && ply >= LONGEST {
                break;
            }
            if game.at.is_over() {
                let mated = game.at.board.is_checkmate();
                game.winner = mated.then_some(!game.at.board.turn());
                break;
            }
            let turn = game.at.board.turn();
            let side = turn.fold_wb(0, 1);
            let player = &mut players[(white + side) % 2];
            let answer = player.ask(&game.at.position, &pace.go(clocks), turn);
            let Some(clock) = pace.after(clocks[side], answer.took) else {
                game.winner = Some(!turn);
                game.late = Some(turn);
                break;
            };
            clocks[side] = clock;
            let mv = game.at.read(&answer.mv);
            let mv = mv.unwrap_or_else(|| panic!("{}: \"{}\"", player.name, answer.mv));
            let exit = &mut game.exits[side];
            match answer.score {
                None if exit.value.is_none() => exit.book_moves += 1,
                Some(score) if exit.value.is_none() => exit.value = Some(score),
                _ => {}
            }
            let said = answer.score.map(|score| turn.fold_wb(score, -score));
            let holds = [
                said.is_some_and(|white| white >= WON),
                said.is_some_and(|white| white <= -WON),
                said.is_some_and(|white| white.abs() <= EVEN) && ply >= DRAW_FROM,
            ];
            for (count, holds) in agreed.iter_mut().zip(holds) {
                *count = if holds { *count + 1 } else { 0 };
            }
            game.at.play(mv);
            if !adjudicate {
                continue;
            }
            if agreed[0] >= AGREED || agreed[1] >= AGREED {
                let white_wins = agreed[0] >= AGREED;
                game.winner = Some(if white_wins {
                    Color::White
                } else {
                    Color::Black
                });
                break;
            }
            if agreed[2] >= 2 * AGREED {
                break;
            }
        }
        game
    }

    /// Half points of the first player.
    pub(crate) fn points(&self) -> u8 {
        match self.winner {
            None => 1,
            Some(winner) if winner.fold_wb(0, 1) == self.white => 2,
            Some(_) => 0,
        }
    }

    /// The first plies as text, to compare games.
    pub(crate) fn text(&self, plies: usize) -> String {
        let mut text = Fen::from_position(&self.at.start, EnPassantMode::Legal).to_string();
        for mv in self.at.moves.iter().take(plies) {
            let _ = write!(text, " {}", uci(*mv));
        }
        text
    }

    pub(crate) fn pgn(&self, names: [&str; 2]) -> String {
        let result = match self.winner {
            None => "1/2-1/2",
            Some(Color::White) => "1-0",
            Some(Color::Black) => "0-1",
        };
        let name = |side: usize| names[(self.white + side) % 2].replace(['"', '\\'], "'");
        let mut text = format!(
            "[White \"{}\"]\n[Black \"{}\"]\n[Result \"{result}\"]\n",
            name(0),
            name(1)
        );
        if self.late.is_some() {
            text.push_str("[Termination \"time forfeit\"]\n");
        }
        let mut board = self.at.start.clone();
        if board != Chess::default() {
            let fen = Fen::from_position(&board, EnPassantMode::Legal);
            let _ = writeln!(text, "[SetUp \"1\"]\n[FEN \"{fen}\"]");
        }
        for mv in &self.at.moves {
            let number = board.fullmoves();
            let before = board.turn().fold_wb(format!("{number}. "), String::new());
            let san = SanPlus::from_move_and_play_unchecked(&mut board, *mv);
            let _ = write!(text, "\n{before}{san}");
        }
        let _ = writeln!(text, "\n{result}\n");
        text
    }
}
