//! Game databases: bytes that say they are one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tabia::games::export::{self, Target};
use tabia::games::{Game, Wanted, open};

use super::{read, root, sample, scratch};

/// Opens what lies at `path` and reads every game, as if the main lines were
/// wanted and as if everything were.
fn read_all(path: &Path) {
    let all = Wanted::default();
    for wanted in [
        Wanted { plies: 40, ..all },
        Wanted {
            variations: true,
            notes: true,
            ..all
        },
    ] {
        let Ok(opened) = open(path) else { return };
        let mut source = opened.source;
        let mut game = Game::default();
        while let Ok(Some(mut batch)) = source.next_batch() {
            loop {
                match batch.next_game(wanted, &mut game) {
                    Ok(true) => {
                        assert_eq!(game.positions.len(), game.moves.len() + 1);
                        assert!(game.moves.len() <= wanted.plies);
                    }
                    Ok(false) => break,
                    Err(skipped) => drop(skipped.to_string()),
                }
            }
        }
        drop(source.remarks());
    }
}

/// Files of one name out of one input: two bytes of length for each but the
/// last (65535: it is not there), then the files.
fn unpack(data: &[u8], folder: &Path, extensions: &[&str]) -> Option<()> {
    let (lengths, mut rest) = data.split_at_checked(2 * (extensions.len() - 1))?;
    let mut lengths = lengths
        .chunks_exact(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    for extension in extensions {
        let length = lengths.next();
        if length == Some(u16::MAX) {
            continue;
        }
        let length = length.map_or(rest.len(), usize::from).min(rest.len());
        let (file, more) = rest.split_at(length);
        rest = more;
        fs::write(folder.join("x").with_extension(extension), file).ok()?;
    }
    Some(())
}

fn pack(path: &Path, extensions: &[&str]) -> Vec<u8> {
    let mut lengths = Vec::new();
    let mut files = Vec::new();
    for (index, extension) in extensions.iter().enumerate() {
        let file = fs::read(path.with_extension(extension)).ok();
        if index + 1 < extensions.len() {
            let length = file.as_ref().map_or(u16::MAX, |file| {
                u16::try_from(file.len()).unwrap_or(u16::MAX - 1)
            });
            lengths.extend(length.to_be_bytes());
        }
        let mut file = file.unwrap_or_default();
        file.truncate(usize::from(u16::MAX - 1));
        files.extend(file);
    }
    [lengths, files].concat()
}

const CBH: [&str; 5] = ["cbh", "cbp", "cbt", "cba", "cbg"];

/// A ChessBase database.
pub fn cbh(data: &[u8]) {
    let folder = scratch();
    if unpack(data, folder.path(), &CBH).is_some() {
        read_all(&folder.path().join("x.cbh"));
    }
}

pub(crate) fn cbh_seeds() -> Vec<Vec<u8>> {
    ["Capa", "fob"]
        .iter()
        .map(|name| {
            let path = root().join("tests/data/chessbase").join(name);
            pack(&path.with_extension("cbh"), &CBH)
        })
        .collect()
}

const SCDB: [&str; 5] = ["dci", "dcn", "dcs", "dce", "dcg"];

/// A Simple Chess Database.
pub fn scdb(data: &[u8]) {
    let folder = scratch();
    if unpack(data, folder.path(), &SCDB).is_some() {
        read_all(&folder.path().join("x.dci"));
    }
}

pub(crate) fn scdb_seeds() -> Vec<Vec<u8>> {
    let folder = scratch();
    let mut seeds = Vec::new();
    for length in [1500, 5000] {
        let games = folder.path().join("games.pgn");
        let target = folder.path().join("x.dci");
        let put = fs::write(&games, sample("tests/data/sample.pgn", length));
        put.unwrap_or_else(|error| panic!("{error}"));
        write(games, &target);
        seeds.push(pack(&target, &SCDB));
    }
    seeds
}

fn write(games: PathBuf, target: &Path) {
    let job = export::Job {
        old: tabia::place::Old::Refuse,
        sources: vec![games],
        target: Target::Scdb(target.to_owned()),
        filter: Default::default(),
        no_variations: false,
        no_comments: false,
        threads: 1,
    };
    let written = export::run(&job, &mut Vec::new(), &mut |_| {}, &AtomicBool::new(false));
    written.unwrap_or_else(|error| panic!("{error}"));
}

const CBF: [&str; 2] = ["cbi", "cbf"];

/// A database of ChessBase for DOS.
pub fn cbf(data: &[u8]) {
    let folder = scratch();
    if unpack(data, folder.path(), &CBF).is_some() {
        read_all(&folder.path().join("x.cbf"));
    }
}

/// Layouts without sense: no database of that program is ours to keep.
pub(crate) fn cbf_seeds() -> Vec<Vec<u8>> {
    let index = |numbers: &[u32]| {
        numbers
            .iter()
            .flat_map(|n| n.to_be_bytes())
            .collect::<Vec<_>>()
    };
    let mut seeds = Vec::new();
    for numbers in [&[3_u32, 2, 43][..], &[2, 2], &[4, 2, 23, 44]] {
        let places = index(numbers);
        let length = u16::try_from(places.len()).unwrap_or(0).to_be_bytes();
        let games: Vec<u8> = (0..80_u8).map(|n| n.wrapping_mul(37)).collect();
        seeds.push([&length[..], &places, &games].concat());
    }
    seeds
}

/// A print of NicBase.
pub fn nic_text(data: &[u8]) {
    let folder = scratch();
    let path = folder.path().join("x.prn");
    if fs::write(&path, data).is_ok() {
        read_all(&path);
    }
}

pub(crate) fn nic_seeds() -> Vec<Vec<u8>> {
    let text = "Keycode: KP 1.2\nSource: Informator 5\nWhite: Capablanca, J\nBlack: Tartakower, S\n\
                Place: New York\nYear: 1924\nResult: 1-0\n\n1 d4 e6 2 Nf3 f5 3 c4 Nf6 [3...b6 4 g3 $1] 4 Bg5 Be7\n\
                5 Nc3 0-0 6 e3 b6 7 Bd3 Bb7 8 0-0 Qe8 1-0\n\n";
    let twice = format!("{text}{}", text.replace("Capablanca", "R\u{e9}ti"));
    vec![
        text.as_bytes().to_vec(),
        twice.into_bytes(),
        read(&root().join("tests/data/README.md")),
    ]
}
