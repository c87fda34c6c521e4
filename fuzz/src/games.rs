//! Game databases made of arbitrary bytes.

use std::fs;
use std::path::{Path, PathBuf};

use tabia_games::{ExportJob, ExportTarget};
use tabia_io::progress::Watch;

use super::game_reader::read_all;
use super::{read, root, sample, scratch};

/// Unpacks files of one name from one input: two bytes of length for each file but the
/// last (65535: the file is missing), then the files.
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
    let mut job = ExportJob::new([games], ExportTarget::Scdb(target.to_owned()));
    (job.old, job.threads) = (tabia_io::atomic::Previous::Replace, 1);
    let written = job.run(&mut Vec::new(), &mut Watch::default());
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

/// Invented layouts: no database of that program may be distributed.
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

/// A text print of NicBase.
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

const SCID4: [&str; 3] = ["si4", "sn4", "sg4"];
const SCID5: [&str; 3] = ["si5", "sn5", "sg5"];

/// A Scid database of either version, which the first byte decides.
pub fn scid(data: &[u8]) {
    let folder = scratch();
    let (parts, main) = match data.first() {
        Some(byte) if byte & 1 == 0 => (SCID4, "x.si4"),
        _ => (SCID5, "x.si5"),
    };
    let rest = data.get(1..).unwrap_or_default();
    if unpack(rest, folder.path(), &parts).is_some() {
        read_all(&folder.path().join(main));
    }
}

pub(crate) fn scid_seeds() -> Vec<Vec<u8>> {
    let seed = |kind: u8, name: &str, parts: &[&str]| {
        let path = root().join("tests/data/scid").join(name);
        [&[kind][..], &pack(&path, parts)].concat()
    };
    vec![seed(0, "five.si4", &SCID4), seed(1, "c960.si5", &SCID5)]
}

const CBH2: [&str; 3] = ["2cbh", "2lid", "2cbg"];

/// A ChessBase database since 2022.
pub fn cbh2(data: &[u8]) {
    let folder = scratch();
    if unpack(data, folder.path(), &CBH2).is_some() {
        read_all(&folder.path().join("x.2cbh"));
    }
}

/// The first entries of a made database, without their names, which are far apart.
pub(crate) fn cbh2_seeds() -> Vec<Vec<u8>> {
    let folder = scratch();
    let path = root().join("tests/data/cbh2/made.2cbh");
    let mut seeds = Vec::new();
    for entries in [8, 60] {
        let index = read(&path);
        let moves = read(&path.with_extension("2cbg"));
        let at = 192 * entries + 8;
        let behind = index[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        let mut index = index[..192 * entries].to_vec();
        index[16..20].copy_from_slice(&(entries as u32).to_le_bytes());
        let main = folder.path().join("x.2cbh");
        let _ = fs::write(&main, index);
        let _ = fs::write(main.with_extension("2cbg"), &moves[..behind as usize]);
        seeds.push(pack(&main, &CBH2));
    }
    seeds
}

/// An archive of ChessBase.
pub fn cbv(data: &[u8]) {
    archive(data, "x.cbv");
}

/// A .zip archive.
pub fn zip(data: &[u8]) {
    archive(data, "x.zip");
}

fn archive(data: &[u8], name: &str) {
    let folder = scratch();
    let path = folder.path().join(name);
    if fs::write(&path, data).is_err() {
        return;
    }
    read_all(&path);
    let out = folder.path().join("out");
    let old = tabia_io::atomic::Previous::Refuse;

    let _ = tabia_games::extract(&path, &out, None, old, &Watch::default());
    // Nothing else was written than the archive and the folder.
    let entries = fs::read_dir(folder.path()).map_or(0, Iterator::count);
    assert!(entries <= 2);
}

pub(crate) fn cbv_seeds() -> Vec<Vec<u8>> {
    let folder = root().join("tests/data/cbv");
    let mut large = read(&folder.join("twic1134_cut.cbv"));
    large.truncate(20_000);
    vec![read(&folder.join("small.cbv")), large]
}

/// Two small files, one of them stored.
pub(crate) fn zip_seeds() -> Vec<Vec<u8>> {
    let hex = "504b030414000000000000002100f27878880a0000000a00000005000000612e70676e312e20\
               6534202a0a0a0a504b0102140314000000000000002100f27878880a0000000a000000050000\
               000000000000000000800100000000612e70676e504b05060000000001000100330000002d00\
               00000000";
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).unwrap_or_default();
        u8::from_str_radix(text, 16).unwrap_or(0)
    };
    let stored: Vec<u8> = digits.chunks(2).map(byte).collect();
    vec![stored.clone(), stored[..60].to_vec()]
}
