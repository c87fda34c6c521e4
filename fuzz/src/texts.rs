//! Configuration files and games as text.

use std::io::Cursor;
use std::path::Path;

use tabia_adapter::config::Config;
use tabia_engine::EngineCommand;
use tabia_games::{Game, GameParts, GameSource, PgnSource};

use super::sample;

/// An `engines.toml`.
pub fn engines_toml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let path = Path::new("/somewhere/engines.toml");
    match Config::parse(&text, path) {
        Ok(config) => {
            let builtin = EngineCommand::default();
            let _ = config.engines(&[], Some(&builtin));
            let names: Vec<String> = config.engines.iter().map(|e| e.name.clone()).collect();
            let _ = config.engines(&names, Some(&builtin));
            let _ = config.place();
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("engines.toml"), "{text}");
        }
    }
}

pub(crate) fn toml_seeds() -> Vec<Vec<u8>> {
    let shipped = sample("engines.toml", usize::MAX);
    // With all commented-out settings active.
    let open: Vec<u8> = shipped
        .split(|byte| *byte == b'\n')
        .flat_map(|line| [line.strip_prefix(b"# ").unwrap_or(line), b"\n"].concat())
        .collect();
    let other = br#"default = ["lc0", "builtin"]
[engine.lc0]
command = "/opt/lc0/lc0"
args = ["--weights=x", ""]
dir = "/opt/lc0"
env = { OMP_NUM_THREADS = "2" }
start_timeout_ms = 18446744073709551615
[engine.lc0.options]
Threads = -9223372036854775808
Ratio = 1e400
Flag = true
[engine.lc0.book]
file = ["sharp.ctg"]
variety = 101
[book]
seed = 4
tournament = true
[[books]]
file = "main.ctg"
colour = "white"
depth = 12
"#;
    vec![shipped, open, other.to_vec()]
}

/// Games in PGN, read once with few parts and once with all.
pub fn pgn(data: &[u8]) {
    for (plies, variations) in [(40, false), (usize::MAX, true)] {
        let text = Box::new(Cursor::new(data.to_vec()));
        let mut source = PgnSource::new("fuzz.pgn", text, Default::default());
        let mut game = Game::default();
        let mut wanted = GameParts::default().up_to(plies);
        (wanted.variations, wanted.notes) = (variations, variations);
        (wanted.annotations, wanted.headers) = (variations, !variations);
        while let Ok(Some(mut batch)) = source.next_batch() {
            loop {
                match batch.next_game(wanted, &mut game) {
                    Ok(true) => {
                        assert_eq!(game.positions.len(), game.moves.len() + 1);
                        assert!(game.moves.len() <= plies);
                    }
                    Ok(false) => break,
                    Err(reason) => assert!(batch.skip(reason).to_string().contains("fuzz.pgn")),
                }
            }
        }
    }
}

pub(crate) fn pgn_seeds() -> Vec<Vec<u8>> {
    let odd = "[Event \"\u{1b}[31mred\"]\n[FEN \"8/8/8/4k3/8/4K3/4P3/8 w - - 0 1\"]\n[SetUp \"1\"]\n\n\
               1. e4 $1 {a comment ; with [things]} (1. Kf3 (1. Kd3)) 1... -- 2. e8=Q+ O-O-O 0-0 1/2-1/2\n\n";
    vec![
        sample("tests/data/sample.pgn", 1500),
        sample("tests/data/sample.pgn", 6000),
        odd.as_bytes().to_vec(),
        b"[Variant \"Chess960\"]\n\n1. Nf3 *\n\n[White \"a\\\"b\"]\n1.e4 e5 2.Bc4 Nc6 3.Qh5 Nf6 4.Qxf7# 1-0"
            .to_vec(),
    ]
}
