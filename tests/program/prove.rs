//! `tabia prove`: compares two books by their exits.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // A test that fails here shows the line.

use std::process::Command;

use crate::common::adapter::Adapter;
use crate::common::{Folder, Ran, SMALL, STARTER, assert_has, example, project};
use serde_json::{Value, json};
use tabia_notation::Line;

/// Compares books with the test engine.
fn prove(folder: &Folder, arguments: &str) -> Command {
    let mut command = folder.command(&format!("prove {arguments} --nodes 100"));
    command.arg("--").arg(example("scoring_engine"));
    command.env("SCORING_ENGINE_NOTES", folder.join("notes"));
    command
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_book_against_itself_has_a_difference_of_zero() {
    let folder = Folder::with(SMALL);
    let same = "book.ctg book.ctg --json --walks 150 --evaluations exits.evals --jobs 1";
    let found = Ran::of(&mut prove(&folder, same)).json();
    assert_eq!(found["pairs"], 150);
    // The second walk of a pair is the first one with the sides exchanged.
    for name in ["difference", "low", "high"] {
        assert_eq!(number(&found["elo"][name]), 0.0, "{name}");
    }
    assert_eq!(found["deciding"].as_array().unwrap().len(), 0);
    assert_eq!(number(&found["search_error_factor"]), 0.0);
    let different = found["different_exits"].as_u64().unwrap();
    assert!(different > 30, "{different}");
    assert_eq!(found["sources"]["Scorer 1"], different);
    assert_eq!(
        (&found["median_depth"], &found["median_nodes"]),
        (&8.into(), &100.into())
    );

    // With different random numbers for each side, the interval contains zero.
    let apart = format!("{same} --apart 1000");
    let found = Ran::of(&mut prove(&folder, &apart)).json();
    let elo = &found["elo"];
    assert!(
        number(&elo["low"]) < 0.0 && number(&elo["high"]) > 0.0,
        "{elo}"
    );
    let factor = number(&found["search_error_factor"]);
    assert!(factor > 0.0 && factor < 0.5, "{factor}");
}

#[test]
fn each_exit_is_searched_once() {
    let folder = Folder::with(SMALL);
    let arguments = "book.ctg book.ctg --set-b \"Book Variety=100\" --walks 40 --json \
        --evaluations exits.evals";
    let first = Ran::of(&mut prove(&folder, arguments)).json();
    let searches = |folder: &Folder| folder.text("notes").lines().count() as u64;
    assert_eq!(first["different_exits"], searches(&folder));
    assert_eq!(first["searched"], searches(&folder));
    // A second run needs no search for the same result, a longer one continues.
    let mut again = Ran::of(&mut prove(&folder, arguments)).json();
    assert_eq!(again["searched"].take(), 0);
    again["searched"] = first["searched"].clone();
    assert_eq!(again, first);
    let before = searches(&folder);
    let more = Ran::of(&mut prove(&folder, &arguments.replace("40", "80"))).json();
    assert_eq!(more["different_exits"], searches(&folder));
    assert_eq!(more["searched"], searches(&folder) - before);
    assert_eq!(more["walk_exits"][39], first["walk_exits"][39]);
    // Values of fewer nodes do not count.
    let arguments = format!("prove {} --nodes 200", arguments.replace(" --json", ""));
    let mut deeper = folder.command(&arguments);
    deeper.arg("--").arg(example("scoring_engine"));
    deeper.env("SCORING_ENGINE_NOTES", folder.join("deeper"));
    // It reports an engine that searches fewer nodes than requested.
    Ran::of(&mut deeper).ends_with(0, "within 100 nodes instead of 200");
    assert_eq!(folder.text("deeper").lines().count() as u64, before);
}

/// The printed result follows from the printed exits and walks.
#[test]
fn the_figures_of_prove_follow_from_its_exits() {
    let folder = Folder::with(SMALL);
    let arguments = "book.ctg book.ctg --set-a \"Book Variety=0\" --walks 60 --json";
    let found = Ran::of(&mut prove(&folder, arguments)).json();
    let exits = found["exits"].as_array().unwrap();
    let (mut points, mut cp, mut below) = (0.0, 0.0, 0.0);
    let pairs = found["walk_exits"].as_array().unwrap();
    assert_eq!(pairs.len(), 60);
    let mut reached = vec![[0, 0]; exits.len()];
    for pair in pairs {
        for (colour, exit) in pair.as_array().unwrap().iter().enumerate() {
            let index = exit.as_u64().unwrap() as usize;
            reached[index][colour] += 1;
            let exit = &exits[index];
            let (white, value) = (number(&exit["points"]), number(&exit["cp"]));
            let first_is_white = colour == 0;
            points += if first_is_white { white } else { 1.0 - white } / 120.0;
            let value = if first_is_white { value } else { -value };
            cp += value / 120.0;
            below += f64::from(u8::from(value < -50.0)) / 120.0;
        }
    }
    for (exit, [a, b]) in exits.iter().zip(reached) {
        assert_eq!((&exit["a_white"], &exit["b_white"]), (&a.into(), &b.into()));
    }
    let close = |a: f64, b: &Value| assert!((a - number(b)).abs() < 1e-9, "{a} {b}");
    close(points, &found["points"]["mean"]);
    close(cp, &found["value"]["mean"]);
    close(below, &found["below_50"]["a"]["mean"]);
    let elo = -400.0 * (1.0 / points - 1.0).log10();
    assert!((elo - number(&found["elo"]["difference"])).abs() < 1e-6);
    assert!(number(&found["points"]["error"]) > 0.0);
    assert_eq!(found["points_by"]["model"], 120);
    let first = &found["deciding"][0];
    assert!(number(&first["points"]).abs() > 0.0);

    // The same as text for users.
    let text = Ran::of(&mut prove(&folder, &arguments.replace(" --json", ""))).printed();
    assert_has(&text, "A: book.ctg (Book Variety=0)\nB: book.ctg\n");
    assert_has(&text, "Stockfish's model");
    let line = exits[first["exit"].as_u64().unwrap() as usize]["line"]
        .as_str()
        .unwrap();
    assert_has(&text, line);
}

/// The n-th walk equals the n-th game of two adapters with the same `Book Seed`.
#[test]
fn walks_of_prove_are_the_moves_of_the_adapter() {
    let folder = Folder::with(SMALL);
    let arguments = "book.ctg book.ctg --set-a \"Book Variety=80\" --seed 9 --walks 4 --json";
    let found = Ran::of(&mut prove(&folder, arguments)).json();
    let adapter = |variety: &str| {
        let mut command = folder.command("--config /dev/null --engine builtin --book book.ctg");
        for set in ["Book Seed=9", "Book Ponder=false", variety] {
            command.args(["--set", set]);
        }
        let mut adapter = Adapter::run(&mut command);
        adapter.handshake();
        adapter.ready();
        adapter
    };
    let placement = |fen: &str| fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
    for colour in [0, 1] {
        let mut players = [adapter("Book Variety=80"), adapter("Book Variety=50")];
        for game in 0..4 {
            players.iter_mut().for_each(Adapter::new_game);
            let mut line = Line::default();
            loop {
                let player = &mut players[(line.plies() + colour) % 2];
                let before = player.count("info string book ");
                let words = line.uci_words().join(" ");
                let best = player.best(&format!("position startpos moves {words}"));
                if player.count("info string book ") == before {
                    break;
                }
                line.extend(best.split(' ').nth(1).unwrap()).unwrap();
            }
            assert!(line.plies() > 2, "{line}");
            let exit = found["walk_exits"][game][colour].as_u64().unwrap() as usize;
            let exit = placement(found["exits"][exit]["fen"].as_str().unwrap());
            let played = placement(&tabia_notation::fen(line.last()));
            assert_eq!(played, exit, "game {game}: {line}");
        }
    }
}

#[test]
fn prove_refuses_invalid_books_and_options() {
    let folder = Folder::with(SMALL);
    folder
        .tabia("prove book.ctg book.ctg")
        .refused("--engine NAME");
    Ran::of(&mut prove(&folder, "book.ctg missing.ctg")).refused("missing.ctg");
    let wrong = "book.ctg book.ctg --set-b \"Book Varety=3\"";
    Ran::of(&mut prove(&folder, wrong)).refused("Book Variety");
    let wrong = "book.ctg book.ctg --set-a \"Book Variety=300\"";
    Ran::of(&mut prove(&folder, wrong)).refused("0 to 100");
    folder
        .tabia("prove book.ctg book.ctg --walks 3 -- /nowhere/engine")
        .refused("/nowhere/engine");
}

/// The match runner with too short a clock, and in positions of which the result is known.
#[test]
fn match_games_writes_the_results_of_its_games() {
    let folder = Folder::with(SMALL);
    // White has mated; White has one move, which leaves the kings alone.
    let openings = "7k/6Q1/6K1/8/8/8/8/8 b - -\n8/8/8/8/7k/8/1q6/K7 w - -\n";
    folder.put("open.epd", openings);
    let engine = example("scoring_engine");
    let played = |options: &[&str]| {
        let mut game = Command::new(example("match_games"));
        for player in ["first", "second"] {
            game.arg(format!("{player}={}", engine.display()));
        }
        let game = game.args(["games=4", "increment=0", "pgn=games.pgn"]);
        Ran::of(game.args(options).current_dir(&folder))
    };
    let text = played(&["time=0.001"]).negative();
    assert_has(&text, "the first player: +2 =0 -2");
    assert_has(&text, "losses on time: 4\n");
    let review = "review games.pgn book.ctg --player first --json --forfeits";
    let review = folder.tabia(review).json();
    assert_eq!(review["pairs"]["pentanomial"], json!([0, 0, 2, 0, 0]));
    assert_eq!(folder.text("games.pgn").matches("time forfeit").count(), 4);

    let text = played(&["time=0", "nodes=1", "openings=open.epd"]).printed();
    assert_has(&text, "the first player: +1 =2 -1");
    assert_has(&text, "losses on time: 0\n");
    // Games of positions that are over are not of the suite.
    let suite = "suite match games.pgn open.epd --json";
    let found = folder.tabia(suite).json();
    let counts = ["games", "draws", "elsewhere"].map(|name| &found[name]);
    assert_eq!(counts, [2, 2, 2]);
    let games = folder.text("games.pgn");
    assert_eq!(games.matches("1. Kxb2 {").count(), 2, "{games}");
}

/// Spassky and Kortschnoj met in the finals of the Candidates of 1968 and 1977, both with the
/// same name in many collections.
#[test]
fn games_of_two_years_are_not_a_pair() {
    let folder = Folder::new();
    let pairs = |years: [&str; 2]| {
        let game = |white: &str, black: &str, year: &str| {
            format!(
                "[Event \"Candidates final\"]\n[Date \"{year}\"]\n[Round \"1\"]\n\
                 [White \"{white}\"]\n[Black \"{black}\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n"
            )
        };
        let [first, second] = years;
        let games = game("Spassky", "Kortschnoj", first) + &game("Kortschnoj", "Spassky", second);
        folder.put("games.pgn", games);
        let book = project(STARTER);
        let book = book.display();
        let review = format!("review games.pgn --book '{book}' --player spassky --json");
        folder.tabia(&review).json()["pairs"].clone()
    };
    assert!(pairs(["1968.09.06", "1977.11.21"]).is_null());
    for near in [["1977.12.31", "1978.01.01"], ["1977.11.21", "????.??.??"]] {
        assert_eq!(pairs(near)["pentanomial"], json!([0, 0, 1, 0, 0]));
    }
}
