//! ChessBase databases: genuine ones give the same games as in other readers, and damaged
//! files do no harm.

use std::fs;
use std::path::{Path, PathBuf};

use super::archives::data;
use super::{Folder, assert_has};
use crate::{self as games, Game, GameParts, Item};
use proptest::prelude::*;
use shakmaty::san::SanPlus;

const PARTS: [&str; 4] = ["cbh", "cbg", "cbp", "cbt"];

fn genuine(name: &str) -> PathBuf {
    data("chessbase").join(name).with_extension("cbh")
}

/// A copy of a genuine database for changes.
struct Copy {
    folder: Folder,
    name: &'static str,
}

impl Copy {
    fn of(name: &'static str) -> Copy {
        let folder = Folder::new();
        for part in PARTS {
            let file = genuine(name).with_extension(part);
            fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
        }
        Copy { folder, name }
    }

    fn part(&self, part: &str) -> PathBuf {
        self.folder.join(self.name).with_extension(part)
    }

    fn change(&self, part: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.part(part)).unwrap();
        change(&mut bytes);
        fs::write(self.part(part), bytes).unwrap();
    }

    fn read(&self) -> Read {
        read(&self.part("cbh"), GameParts::EVERYTHING).unwrap()
    }
}

/// The games and messages from a source.
#[derive(Default)]
struct Read {
    games: Vec<Game>,
    /// Messages about what was skipped or cut short.
    problems: Vec<String>,
    /// Number of deleted games and texts.
    left_out: usize,
    remarks: Vec<String>,
}

impl Read {
    fn plies(&self) -> usize {
        self.games.iter().map(|game| game.moves.len()).sum()
    }

    /// Number of plies in all lines.
    fn all_plies(&self) -> usize {
        let items = self.games.iter().flat_map(|game| &game.movetext);
        let is_move = |item: &&Item| matches!(item, Item::Move(_) | Item::Null);
        items.filter(is_move).count()
    }

    fn texts(&self) -> Vec<String> {
        let texts = self.games.iter().map(|game| {
            let mut text = String::new();
            games::write_pgn(game, &mut text);
            text
        });
        texts.collect()
    }
}

fn read(path: &Path, wanted: GameParts) -> Result<Read, games::Error> {
    let mut source = games::open(path)?;
    let mut read = Read::default();
    let mut game = Game::default();
    while let Some(mut batch) = source.next_batch()? {
        loop {
            match batch.next_game(wanted, &mut game) {
                Ok(false) => break,
                Ok(true) => {
                    if let Some(reason) = &game.cut {
                        let cut = batch.skip(reason.clone()).cut_short();
                        read.problems.push(cut.to_string());
                    }
                    read.games.push(game.clone());
                }
                Err(reason) if reason.is_intended() => read.left_out += 1,
                Err(reason) => read.problems.push(batch.skip(reason).to_string()),
            }
        }
    }
    assert_eq!(source.bytes_read(), fs::metadata(path).unwrap().len());
    read.remarks = source.remarks();
    Ok(read)
}

/// The numbers come from other readers.
#[test]
fn every_game_of_the_genuine_databases_is_read() {
    for (name, count, plies, all_plies) in [
        ("Capa", 113, 9112, 10001),
        ("fob", 111, 9179, 9179),
        ("256-2023", 256, 0, 0),
    ] {
        let read = read(&genuine(name), GameParts::EVERYTHING).unwrap();
        assert_eq!(read.problems, [""; 0], "{name}");
        assert_eq!(read.remarks, [""; 0], "{name}");
        let found = (read.games.len(), read.plies(), read.all_plies());
        assert_eq!(found, (count, plies, all_plies), "{name}");
    }
}

#[test]
fn tags_and_moves_are_those_of_chessbase() {
    let capa = read(&genuine("Capa"), GameParts::EVERYTHING).unwrap();
    let first = &capa.texts()[0];
    let expected = "[Event \"?\"]\n[Site \"Havana\"]\n[Date \"1902.??.??\"]\n[Round \"?\"]\n\
        [White \"Corzo\"]\n[Black \"Capablanca\"]\n[Result \"0-1\"]\n[ECO \"C25\"]\n\n\
        1. e4 e5 2. Nc3 Nc6 3. f4 exf4 4. Nf3 g5 5. h4 g4 6. Ng5 h6 7. Nxf7 Kxf7 8. d4\n";
    assert!(first.starts_with(expected), "{first}");
    assert_has(first, "13. Ne2 (13. Qxc5 Bxc5+)\n13... Qb6");

    let positions = read(&genuine("256-2023"), GameParts::EVERYTHING).unwrap();
    assert!(
        positions
            .games
            .iter()
            .all(|game| game.set_up && !game.chess960)
    );
    let first = &positions.texts()[0];
    assert!(
        first.contains("[FEN \"4r2k/p1r1b1pp/1p1pqn2/4p3/1PP4B/P4B1P/4QPP1/2RR2K1 w - - 0 1\"]")
    );
    assert_has(first, "[Date \"2023.11.06\"]");
}

#[test]
fn without_variations_the_main_line_is_the_same() {
    let whole = read(&genuine("Capa"), GameParts::EVERYTHING).unwrap();
    for plies in [0, 1, 7, 40, usize::MAX] {
        let wanted = GameParts::default().up_to(plies);
        let short = read(&genuine("Capa"), wanted).unwrap();
        assert_eq!(short.games.len(), whole.games.len());
        for (short, whole) in short.games.iter().zip(&whole.games) {
            let len = plies.min(whole.moves.len());
            assert_eq!(short.moves, whole.moves[..len]);
            assert_eq!(short.positions, whole.positions[..=len]);
        }
    }
    let variations = GameParts::default().with_variations();
    let sides = read(&genuine("Capa"), variations).unwrap();
    let moves: usize = sides.games.iter().map(|game| game.side_moves.len()).sum();
    assert_eq!(moves, 10001 - 9112);
    for (_, position, m) in sides.games.iter().flat_map(|game| &game.side_moves) {
        SanPlus::from_move(position.clone(), *m);
    }
}

/// Sets byte `at` of the record of entry `number`, from 1.
fn set(bytes: &mut [u8], number: usize, at: usize, value: u8) {
    bytes[46 * number + at] = value;
}

fn offset(cbh: &[u8], number: usize) -> usize {
    let bytes = &cbh[46 * number + 1..46 * number + 5];
    u32::from_be_bytes(bytes.try_into().unwrap()) as usize
}

#[test]
fn entries_that_are_not_games_are_counted_and_left_out() {
    let copy = Copy::of("Capa");
    copy.change("cbh", |bytes| {
        set(bytes, 3, 0, 0x81);
        set(bytes, 5, 0, 0x83);
        set(bytes, 6, 0, 0x03);
        // An entry that is not marked as used, but exists.
        set(bytes, 7, 0, 0x00);
    });
    let read = copy.read();
    assert_eq!((read.games.len(), read.left_out), (110, 3));
    assert!(read.problems.is_empty());
}

#[test]
fn other_variants_are_skipped_by_name() {
    let copy = Copy::of("Capa");
    let cbh = fs::read(copy.part("cbh")).unwrap();
    copy.change("cbg", |bytes| {
        for (number, mode) in [(1, 8), (2, 63), (3, 33)] {
            bytes[offset(&cbh, number)] = mode;
        }
    });
    let read = copy.read();
    assert_eq!(read.games.len(), 110);
    let name = copy.part("cbh");
    let name = name.display();
    assert_eq!(
        read.problems,
        [
            format!("{name}: game 1: game skipped: its variant is losing chess"),
            format!("{name}: game 2: game skipped: its variant is chess with illegal positions"),
            format!("{name}: game 3: game skipped: its variant is unknown (encoding 33)"),
        ]
    );
}

#[test]
fn faults_are_named_by_file_and_place() {
    let copy = Copy::of("Capa");
    let cbh = fs::read(copy.part("cbh")).unwrap();
    let len = fs::metadata(copy.part("cbg")).unwrap().len() as usize;
    copy.change("cbh", |bytes| {
        set(bytes, 1, 1, 0xff);
        bytes[47..51].copy_from_slice(&0xff00_0000_u32.to_be_bytes());
        bytes[46 * 2 + 1..46 * 2 + 5].copy_from_slice(&(len as u32 - 2).to_be_bytes());
        bytes[46 * 3 + 1..46 * 3 + 5].copy_from_slice(&4_u32.to_be_bytes());
    });
    let fifth = offset(&cbh, 5);
    copy.change("cbg", |bytes| {
        bytes[offset(&cbh, 4) + 1..][..3].fill(0);
        bytes[fifth + 4 + 12] ^= 0x55;
    });
    let read = copy.read();
    assert_eq!(read.games.len(), 109);
    let problem = |number: usize| {
        let start = format!("{}: game {number}: game ", copy.part("cbh").display());
        let problem = read.problems.iter().find(|text| text.starts_with(&start));
        problem.unwrap()[start.len()..].to_owned()
    };
    assert_eq!(
        problem(1),
        "skipped: Capa.cbg at byte 4278190080: no moves are stored here"
    );
    assert_eq!(
        problem(2),
        format!(
            "skipped: Capa.cbg at byte {}: the file ends where its moves should begin",
            len - 2
        )
    );
    assert!(problem(3).contains("Capa.cbg at byte 4: no moves are stored here"));
    assert!(problem(4).ends_with("the length of its moves is impossible"));
    assert!(
        problem(5).starts_with("cut short: Capa.cbg at byte "),
        "{}",
        problem(5)
    );
    let whole = self::read(&genuine("Capa"), GameParts::EVERYTHING).unwrap();
    assert!(read.games[0].moves.starts_with(&whole.games[4].moves[..11]));
}

#[test]
fn a_truncated_file_loses_only_the_missing_games() {
    let copy = Copy::of("fob");
    let cbh = fs::read(copy.part("cbh")).unwrap();
    let whole = copy.read();
    let end = offset(&cbh, 100) + 20;
    copy.change("cbg", |bytes| bytes.truncate(end));
    let read = copy.read();
    assert_eq!(read.games.len(), 100);
    assert_eq!(read.texts()[..99], whole.texts()[..99]);
    assert_eq!(read.games[99].moves, whole.games[99].moves[..16]);
    assert_eq!(read.problems.len(), 12);
    assert!(read.problems[0].ends_with("the file ends inside the game"));
    assert!(read.remarks[0].contains("bytes long"), "{:?}", read.remarks);

    let copy = Copy::of("fob");
    copy.change("cbh", |bytes| bytes.truncate(46 * 51 + 10));
    let read = copy.read();
    assert_eq!(read.texts(), whole.texts()[..50]);
    assert!(read.remarks[0].ends_with("50 entries in it, 111 by its header; 50 are read"));
}

#[test]
fn names_are_missing_if_their_files_are_missing() {
    let whole = read(&genuine("Capa"), GameParts::EVERYTHING).unwrap();
    let copy = Copy::of("Capa");
    fs::remove_file(copy.part("cbp")).unwrap();
    copy.change("cbt", |bytes| bytes[8] ^= 1);
    let read = copy.read();
    assert_eq!(read.games.len(), 113);
    assert!(read.texts()[0].contains("[White \"?\"]\n[Black \"?\"]"));
    assert!(read.texts()[0].contains("[Event \"?\"]\n[Site \"?\"]\n[Date \"1902.??.??\"]"));
    for (read, whole) in read.games.iter().zip(&whole.games) {
        assert_eq!(read.movetext, whole.movetext);
    }
    assert!(read.remarks[0].ends_with("Capa.cbp: missing; players are not known"));
    assert!(
        read.remarks[1].contains("its header is damaged; tournaments"),
        "{:?}",
        read.remarks
    );
}

#[test]
fn files_are_found_in_any_case() {
    let copy = Copy::of("Capa");
    for (part, name) in [
        ("cbg", "CAPA.CBG"),
        ("cbp", "capa.Cbp"),
        ("cbt", "Capa.CBT"),
    ] {
        fs::rename(copy.part(part), copy.folder.join(name)).unwrap();
    }
    let whole = read(&genuine("Capa"), GameParts::EVERYTHING).unwrap();
    assert_eq!(copy.read().texts(), whole.texts());
}

fn refusal(path: &Path) -> String {
    match games::open(path) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn databases_that_cannot_be_read_are_refused_with_a_hint() {
    let copy = Copy::of("Capa");
    fs::remove_file(copy.part("cbg")).unwrap();
    assert!(refusal(&copy.part("cbh")).ends_with(
        "Capa.cbh: its games are in Capa.cbg, which is missing; \
         keep all files of a database together"
    ));
    let copy = Copy::of("Capa");
    assert!(refusal(&copy.part("cbg")).ends_with("a part of a database: name its .cbh file"));
    copy.change("cbh", |bytes| bytes[4] = 47);
    assert!(refusal(&copy.part("cbh")).contains("a record has 47 bytes by its header"));
    copy.change("cbh", |bytes| bytes.truncate(20));
    assert!(refusal(&copy.part("cbh")).contains("only 20 bytes long"));
    for (part, word) in [
        ("cbv", "its header is damaged"),
        ("cbz", "give its password"),
        ("2cbh", "save it"),
        ("2cbg", "name its .2cbh file"),
        ("CBone", "save it"),
    ] {
        let path = copy.part(part);
        fs::write(&path, b"whatever").unwrap();
        assert!(refusal(&path).contains(word), "{part}");
    }
}

/// A file larger than the memory limit, so parts of it are mapped.
#[test]
fn a_large_database_is_read_in_parts() {
    const TIMES: usize = 170;
    let copy = Copy::of("Capa");
    let whole = copy.read();
    let cbg = fs::read(copy.part("cbg")).unwrap();
    copy.change("cbg", |bytes| *bytes = cbg.repeat(TIMES));
    copy.change("cbh", |bytes| {
        let records = bytes.split_off(46);
        bytes[6..10].copy_from_slice(&(113 * TIMES as u32 + 1).to_be_bytes());
        // From the last copy to the first one: offsets need not increase.
        for time in (0..TIMES).rev() {
            for record in records.chunks(46) {
                let mut record = record.to_vec();
                let at = u32::from_be_bytes(record[1..5].try_into().unwrap());
                let at = at + (time * cbg.len()) as u32;
                record[1..5].copy_from_slice(&at.to_be_bytes());
                bytes.extend(record);
            }
        }
    });
    let read = read(&copy.part("cbh"), GameParts::default()).unwrap();
    assert_eq!(read.games.len(), 113 * TIMES);
    assert!(read.problems.is_empty());
    for (game, expected) in read.games.iter().zip(whole.games.iter().cycle()) {
        assert_eq!(game.moves, expected.moves);
        assert_eq!(game.names, expected.names);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_damaged_database_is_read_to_its_end(
        name in prop::sample::select(vec!["Capa", "256-2023"]),
        part in prop::sample::select(PARTS.to_vec()),
        cut in prop::option::of(any::<prop::sample::Index>()),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..20),
    ) {
        let copy = Copy::of(name);
        let entries = fs::metadata(copy.part("cbh")).unwrap().len() as usize / 46 - 1;
        copy.change(part, |bytes| match cut {
            Some(cut) => bytes.truncate(cut.index(bytes.len())),
            None => {
                for (at, value) in flips {
                    let at = at.index(bytes.len());
                    bytes[at] ^= value;
                }
            }
        });
        if let Ok(read) = read(&copy.part("cbh"), GameParts::EVERYTHING) {
            let cut = read.games.iter().filter(|game| game.cut.is_some()).count();
            let skipped = read.problems.len() - cut;
            prop_assert!(read.games.len() + skipped + read.left_out <= entries);
            if read.games.len() < entries {
                let reported = skipped + read.left_out + read.remarks.len();
                prop_assert!(reported > 0, "games are missing and nothing is reported");
            }
        } else {
            prop_assert_eq!(part, "cbh", "only without its records it is no database");
        }
    }
}
