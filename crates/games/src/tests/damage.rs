//! Cuts off and changes every file of a database at many places: nothing may panic,
//! and losses must be reported.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::archives::{pack_cbv, pack_zip, parts};
use super::reader::read_all;

/// Cuts off and changes every file of a database.
fn damage(main: &str, files: &[(String, Vec<u8>)], cuts: usize, flips: usize) {
    let mut random = StdRng::seed_from_u64(15);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, bytes) in files {
        fs::write(path(name), bytes).unwrap();
    }
    let whole = read_all(&path(main));
    assert!(whole[0] > 0);
    for (name, bytes) in files {
        // Changed in place: a new file is flushed to the disk at once, which takes
        // longer than reading a database.
        let mut file = File::options().write(true).open(path(name)).unwrap();
        let write = |file: &mut File, at: usize, bytes: &[u8]| {
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(bytes).unwrap();
        };
        for cut in 0..cuts {
            let length = bytes.len() * cut / cuts;
            file.set_len(length as u64).unwrap();
            let [good, bad, remarks] = read_all(&path(main));
            // Losses must be reported, or the database refused. Indexes of Scid 5 and texts
            // do not state the number of games; for a damaged .dci a remark about it
            // replaces the remarks about its games.
            let is_silent = good + bad < whole[0] + whole[1] && remarks <= whole[2];
            let is_known = ["dci", "prn"].iter().any(|end| name.ends_with(end))
                || name.ends_with("si5") && length.is_multiple_of(56);
            assert!(good == 0 || !is_silent || is_known, "{name} {length}");
            write(&mut file, length, &bytes[length..]);
        }
        for _ in 0..flips {
            let at = random.random_range(0..bytes.len());
            write(&mut file, at, &[bytes[at] ^ 1 << random.random_range(0..8)]);
            read_all(&path(main));
            write(&mut file, at, &bytes[at..=at]);
        }
    }
}

/// How often each file is cut off, and changed. `TABIA_DAMAGE=1` for the full
/// test.
fn amount() -> (usize, usize) {
    if std::env::var_os("TABIA_DAMAGE").is_some() {
        (200, 2000)
    } else {
        (12, 40)
    }
}

#[test]
fn damaged_scid_databases_do_no_harm() {
    let (cuts, flips) = amount();
    let old = parts("scid/five", &["si4", "sn4", "sg4"]);
    damage("five.si4", &old, cuts, flips);
    let new = parts("scid/c960", &["si5", "sn5", "sg5"]);
    damage("c960.si5", &new, cuts, flips);
    let large = parts("scid/edge", &["si5", "sn5", "sg5"]);
    damage("edge.si5", &large, cuts.min(40), flips.min(400));
}

#[test]
fn other_damaged_databases_do_no_harm() {
    let (cuts, flips) = amount();
    for (path, extensions) in [
        ("cbh2/made", &["2cbh", "2cbg", "2lid"][..]),
        ("scdb/small", &["dci", "dcg", "dcn", "dcs", "dce"]),
        ("cbf/sample", &["cbf", "cbi"]),
        ("nic/sample", &["prn"]),
    ] {
        let files = parts(path, extensions);
        damage(&files[0].0, &files, cuts, flips);
    }
}

#[test]
fn damaged_archives_do_no_harm() {
    let (cuts, flips) = amount();
    let files = parts("scid/five", &["si4", "sn4", "sg4"]);
    for (name, bytes) in [("x.cbv", pack_cbv(&files)), ("x.zip", pack_zip(&files))] {
        damage(name, &[(name.to_owned(), bytes)], cuts, flips);
    }
}
