//! Converting books: nothing lost, nothing half-written, and messages with the line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::common::{
    Folder, STARTER, TestBook, choices, colours_exchanged, contents, files, look_up, lookup, open,
    project, random_book, wings_exchanged,
};
use proptest::prelude::*;
use shakmaty::{Chess, Color, Position};
use tabia_book::bin::BinBook;
use tabia_book::convert::{ConvertJob, Converted, Weights, run, write};
use tabia_book::ctg::{CanonicalBoard, Key};
use tabia_book::policy::{self, Policy};
use tabia_book::polyglot::{self, PackedMove};
use tabia_book::{Annotation, OpenOptions, PositionRecord, Preference, Probe, Stats, bin};
use tabia_book::{Book, Error};
use tabia_io::atomic::Previous;
use tabia_io::progress::{Progress, Watch};

fn convert(job: &ConvertJob) -> Result<Converted, Error> {
    let job = &job.clone().old(Previous::Replace);
    let done = run(job, &mut Watch::default())?;
    assert!(!done.notes.iter().any(|note| note.starts_with("0 ")));
    Ok(done)
}

fn plain(source: &Path, target: &Path) -> Converted {
    convert(&ConvertJob::new(source.to_owned(), target.to_owned())).unwrap()
}

/// Checks that the folder contains only these files.
fn only(folder: &Path, names: &[&str]) {
    assert_eq!(super::common::names(folder), names);
}

#[test]
fn the_starter_book_there_and_back_is_the_same_bytes() {
    let folder = Folder::new();
    let (text, back) = (folder.join("a.jsonl"), folder.join("a.ctg"));
    let there = plain(&project(STARTER), &text);
    let again = plain(&text, &back);
    assert_eq!(
        (there.positions, there.moves),
        (again.positions, again.moves)
    );
    assert_eq!(files(&back), files(project(STARTER)));
    let first = fs::read_to_string(&text).unwrap();
    let first = first.lines().next().unwrap();
    assert!(
        first.starts_with("{\"format\":\"tabia-book\",\"version\":1,\"games\":"),
        "{first}"
    );
    only(&folder, &["a.ctb", "a.ctg", "a.cto", "a.jsonl"]);
}

/// A number that is often an extreme value.
fn count(bits: u32) -> impl Strategy<Value = u32> {
    let most = if bits == 32 {
        u32::MAX
    } else {
        (1 << bits) - 1
    };
    prop_oneof![Just(0), Just(most), Just(1), 0..=most]
}

prop_compose! {
    fn any_record()(
        counts in prop::array::uniform6(count(24)),
        sums in prop::array::uniform3(count(32)),
        bytes in any::<(u8, i8, u8)>(),
    ) -> PositionRecord {
        let [games, wins, draws, losses, own_rated, other_rated] = counts;
        let [points, own_sum, other_sum] = sums;
        PositionRecord {
            stats: Stats { games, wins, draws, losses, own_rated, own_rating_sum: own_sum.into(), other_rated, other_rating_sum: other_sum.into() },
            points,
            recommendation: bytes.0,
            learn_value: bytes.1,
            commentary: bytes.2,
        }
    }
}

prop_compose! {
    /// Random positions, with stored moves of any bytes, some in unusual forms.
    fn any_book()(
        seeds in prop::collection::vec(any::<u64>(), 1..4),
        records in prop::collection::vec(any_record(), 8),
        moves in prop::collection::vec(prop::collection::vec(any::<(u8, u8)>(), 0..12), 5),
        odd in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<prop::sample::Index>()), 0..12),
        games in any::<u32>(),
        clean in any::<bool>(),
    ) -> TestBook {
        let mut book = TestBook { games, clean, ..TestBook::default() };
        let mut n = 0;
        for seed in seeds {
            for position in super::common::wander(choices(seed).take(50)) {
                let board = CanonicalBoard::from_position(&position).unwrap();
                let legal = position.legal_moves();
                let good = legal.iter().filter_map(|mv| tabia_book::ctg::encode_move_byte(&board, *mv));
                let moves: Vec<(u8, Annotation)> = match n % 7 {
                    0 | 1 => moves[n % moves.len()].iter().map(|&(byte, annotation)| (byte, Annotation(annotation))).collect(),
                    _ => good.zip(0_u8..).map(|(byte, at)| (byte, Annotation(at.wrapping_mul(37)))).collect(),
                };
                book.add_key(board.key(), moves, records[n % records.len()]);
                n += 1;
            }
        }
        // Bytes that are not a position, or not one in this form.
        let keys: Vec<Key> = book.entries.keys().copied().collect();
        for (which, byte, place) in odd {
            let mut bytes = which.get(&keys).as_bytes().to_vec();
            let at = 1 + place.index(bytes.len() - 1);
            bytes[at] = byte;
            if let Some(key) = Key::from_prefix(&bytes) {
                book.add_key(key, moves[0].iter().map(|&(byte, annotation)| (byte, Annotation(annotation))).collect(), records[0]);
            }
        }
        book
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn no_byte_of_any_entry_is_lost(book in any_book()) {
        let folder = Folder::new();
        let at = |name: &str| folder.join(name);
        let source = book.write(&folder, "source.ctg");
        let there = plain(&source, &at("a.jsonl"));
        prop_assert_eq!(there.positions, book.entries.len() as u64);
        plain(&at("a.jsonl"), &at("a.ctg"));
        prop_assert_eq!(contents(at("a.ctg")), contents(&source));
        let header = open(at("a.ctg")).header();
        prop_assert_eq!((header.games, u64::from(header.positions)), (book.games, there.positions));
        // A file written by Tabia comes back byte for byte, whatever the order of its
        // lines.
        plain(&at("a.ctg"), &at("b.jsonl"));
        let text = fs::read_to_string(at("b.jsonl")).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        let mut lines: Vec<&str> = rest.lines().collect();
        lines.sort_unstable();
        fs::write(at("c.jsonl"), format!("{first}\r\n\n{}", lines.join("\r\n"))).unwrap();
        for again in ["b", "c"] {
            let (text, ctg) = (at(&format!("{again}.jsonl")), at(&format!("{again}.ctg")));
            plain(&text, &ctg);
            prop_assert_eq!(files(&ctg), files(at("a.ctg")));
        }
    }
}

const GOOD: &str = r#"{"fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1","games":2,"wins":0,"losses":0,"draws":0,"points":10,"own_rated":0,"own_rating_sum":0,"other_rated":0,"other_rating_sum":0,"recommendation":0,"factor":-3,"commentary":0,"moves":[{"uci":"e2e4","annotation":224},{"uci":"d2d4","annotation":0}]}"#;
const FIRST: &str = r#"{"format":"tabia-book","version":1,"games":1}"#;

/// Both names of the learn value give the same book.
#[test]
fn the_learn_value_is_read_by_either_name() {
    let folder = Folder::new();
    let other = GOOD.replace("\"factor\"", "\"learn_value\"");
    assert_ne!(other, GOOD);
    let books = [("a", GOOD), ("b", &other)].map(|(name, line)| {
        let text = folder.join(format!("{name}.jsonl"));
        fs::write(&text, format!("{FIRST}\n{line}\n")).unwrap();
        let ctg = folder.join(format!("{name}.ctg"));
        convert(&ConvertJob::new(text, ctg.clone())).unwrap();
        fs::read(ctg).unwrap()
    });
    assert_eq!(books[0], books[1]);
}

#[test]
fn bad_lines_are_named_with_their_field() {
    let folder = Folder::new();
    let (text, ctg) = (folder.join("x.jsonl"), folder.join("x.ctg"));
    let refused = |content: &str| {
        fs::write(&text, content).unwrap();
        let error = convert(&ConvertJob::new(text.clone(), ctg.clone())).unwrap_err();
        only(&folder, &["x.jsonl"]);
        error.to_string()
    };
    for (content, expected) in [
        (String::new(), "x.jsonl: line 1: the file is empty"),
        ("{}".to_owned(), "line 1: missing field `format`"),
        ("hello".to_owned(), "line 1: expected value"),
        (
            FIRST.replace("tabia-book", "other"),
            "line 1, field format: \"other\"",
        ),
        (
            FIRST.replace("\"version\":1", "\"version\":2"),
            "line 1, field version: 2; this tabia reads version 1",
        ),
        (
            FIRST.replace("\"games\":1", "\"games\":-1"),
            "line 1, field games: invalid value",
        ),
    ] {
        let error = refused(&content);
        assert!(error.contains(expected), "{error}");
    }
    // The replaced part of the valid line, its replacement, and the message.
    for row in include_str!("../../tests/data/bad_jsonl.tsv").lines() {
        let columns: Vec<&str> = row.split('\t').collect();
        let [from, to, expected] = columns[..] else {
            panic!("{row}");
        };
        let line = GOOD.replacen(from, to, 1);
        assert_ne!(line, GOOD, "{from}");
        let error = refused(&format!("{FIRST}\n\n{line}\n"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let error = refused(&format!("{FIRST}\n{GOOD}\n{GOOD}\n"));
    assert!(
        error.contains("line 3, field fen: the same position as in line 2"),
        "{error}"
    );
    let promotion = GOOD
        .replace(
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq",
            "7k/P7/8/8/8/8/8/4K3 w -",
        )
        .replace("e2e4", "a7a8n");
    let error = refused(&format!("{FIRST}\n{promotion}\n"));
    assert!(
        error.contains("moves[0].uci: a7a8n: the format has no byte"),
        "{error}"
    );
    let error = refused(&"x".repeat(3 << 20));
    assert!(error.contains("line 1: longer than"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn damaged_text_is_one_message(cut in any::<prop::sample::Index>(), bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let folder = Folder::new();
        let (text, ctg) = (folder.join("x.jsonl"), folder.join("x.ctg"));
        let mut content = format!("{FIRST}\n{GOOD}\n").into_bytes();
        for (at, byte) in bytes {
            let at = at.index(content.len());
            content[at] = byte;
        }
        content.truncate(cut.index(content.len() * 2).min(content.len()));
        fs::write(&text, &content).unwrap();
        match convert(&ConvertJob::new(text, ctg)) {
            Ok(done) => prop_assert!(done.positions <= 2),
            Err(error) => {
                let error = error.to_string();
                prop_assert!(error.contains("x.jsonl: line ") && !error.contains('\n'), "{}", error);
            }
        }
    }
}

#[test]
fn wrong_names_are_refused_before_anything_is_written() {
    let folder = Folder::new();
    let refused = |source: &Path, target: PathBuf| {
        let error = convert(&ConvertJob::new(source.to_owned(), target)).unwrap_err();
        only(&folder, &[]);
        error.to_string()
    };
    let starter = &project(STARTER);
    let at = |name: &str| folder.join(name);
    assert!(
        refused(starter, at("x.obk"))
            .contains("must end with .ctg, .bin, .abk, .jsonl, .pgn or .csv")
    );
    assert!(refused(starter, at("x.ctg")).contains("; use compact to rewrite a ChessBase book"));
    assert!(refused(Path::new("no.ctg"), at("x.bin")).contains("no.ctg: cannot read the book"));
    assert!(refused(Path::new("no.jsonl"), at("x.ctg")).contains("no.jsonl: cannot read the book"));
    assert!(refused(&project("COPYING"), at("x.bin")).contains("COPYING: not an opening book"));
    assert!(refused(starter, at("none/x.bin")).contains("none/x.bin: cannot be written"));
    let kept = at("kept.bin");
    fs::write(&kept, "old").unwrap();
    let mut job = ConvertJob::new(starter.to_owned(), kept.clone());
    job.weights = Weights::Games;
    let refused = run(&job, &mut Watch::default()).unwrap_err();
    assert!(
        refused.to_string().contains("kept.bin: already exists"),
        "{refused}"
    );
    job.old = Previous::Keep;
    let stopped = run(&job, &mut Watch::stopped_by(&AtomicBool::new(true))).unwrap_err();
    assert!(stopped.to_string().contains("interrupted"), "{stopped}");
    assert_eq!(fs::read(&kept).unwrap(), b"old");
    only(&folder, &["kept.bin"]);
}

/// The probabilities of the moves of a position.
fn chances(
    book: &dyn Probe,
    position: &Chess,
    policy: &Policy,
) -> Option<BTreeMap<PackedMove, f64>> {
    let found = look_up(book, position);
    found.here?;
    let mut verdicts = Vec::new();
    policy::weigh(&found.moves, policy, |_| None, &mut verdicts);
    let rows = found.moves.iter().zip(&verdicts);
    Some(
        rows.filter(|(_, verdict)| verdict.probability > 0.0)
            .map(|(entry, verdict)| (PackedMove::from_move(entry.mv), verdict.probability))
            .collect(),
    )
}

/// The two or four positions that have an entry in common.
fn forms(position: &Chess) -> Vec<Chess> {
    let mut forms = vec![position.clone(), colours_exchanged(position)];
    forms.extend(wings_exchanged(position));
    forms.extend(wings_exchanged(position).map(|form| colours_exchanged(&form)));
    forms
}

/// Of equally good transpositions the first is played, which another form has elsewhere.
#[test]
fn each_form_has_the_transposition_that_is_played_there() {
    let folder = Folder::new();
    let position = super::common::position("4k3/8/8/8/8/8/PPP5/4K3 w - - 0 1");
    let mut book = TestBook::default();
    book.add(&position, &[], super::common::record(0));
    for mv in position.legal_moves() {
        let after = tabia_notation::after(&position, mv);
        book.add(&after, &[], super::common::record(1));
    }
    let (source, target) = (book.write(&folder, "x.ctg"), folder.join("x.bin"));
    let policy = Policy::default().variety(0);
    let job = ConvertJob::new(source.clone(), target.clone()).all_forms(true);
    convert(&job.policy(policy)).unwrap();
    let (ctg, polyglot) = (
        open(source),
        BinBook::open(&target, &OpenOptions::default()),
    );
    let polyglot = polyglot.unwrap();
    for form in forms(&position) {
        let played = chances(&ctg, &form, &policy);
        assert_eq!(played.as_ref().map(BTreeMap::len), Some(1));
        assert_eq!(chances(&polyglot, &form, &policy), played);
    }
}

#[test]
fn a_polyglot_book_is_played_as_the_book_it_was_made_of() {
    let folder = Folder::new();
    let (book, positions) = random_book(30, 30);
    let source = book.write(&folder, "source.ctg");
    let ctg = open(&source);
    let policy = Policy::default().minimum_share(0);
    for all_forms in [false, true] {
        let target = folder.join("x.bin");
        let job = ConvertJob::new(source.clone(), target.clone())
            .all_forms(all_forms)
            .policy(policy);
        let done = convert(&job).unwrap();
        let polyglot = BinBook::open(&target, &OpenOptions::default()).unwrap();
        assert!(polyglot.is_sorted() && polyglot.notices().is_empty());
        assert_eq!(polyglot.len(), done.moves);
        let mut shown = 0;
        for position in &positions {
            let forms = forms(position);
            // The positions of the book are reached, their mirror images need not be.
            let count = if all_forms { forms.len() } else { 1 };
            for form in forms.iter().take(count) {
                let expected = chances(&ctg, form, &policy).unwrap();
                let found = chances(&polyglot, form, &policy).unwrap_or_default();
                let keys =
                    |map: &BTreeMap<PackedMove, f64>| map.keys().copied().collect::<Vec<_>>();
                // Random games are not always moves of the book.
                if !all_forms && found.is_empty() {
                    continue;
                }
                assert_eq!(keys(&found), keys(&expected));
                for (mv, chance) in expected {
                    assert!(
                        (found[&mv] - chance).abs() < 1e-4,
                        "{mv} {chance} {}",
                        found[&mv]
                    );
                }
                shown += 1;
            }
        }
        assert!(shown > positions.len() / 2, "{shown}");
        let mut last = None;
        polyglot
            .for_each(|key, entry| {
                let Preference::Weight(weight) = entry.preference else {
                    panic!()
                };
                assert!(weight > 0);
                if let Some((before, heavier)) = last.replace((key, weight)) {
                    assert!(before < key || before == key && heavier >= weight);
                }
            })
            .unwrap();
    }
}

#[test]
fn weights_may_be_games_or_points() {
    let folder = Folder::new();
    let start = Chess::default();
    let mut book = TestBook::default();
    let moves = ["e2e4", "d2d4", "c2c4", "a2a3"].map(|text| super::common::uci(&start, text));
    book.add(&start, &moves, PositionRecord::default());
    // Games, wins, draws, losses and mark of each, from White's view.
    let rows = [
        (80_000, 10_000, 60_000, 10_000, 0),
        (40_000, 20_000, 0, 20_000, 0),
        (2, 0, 1, 1, 0),
        (9, 9, 0, 0, 0x40),
    ];
    for (mv, (games, wins, draws, losses, recommendation)) in moves.iter().zip(rows) {
        let mut child = start.clone();
        child.play_unchecked(*mv);
        let stats = Stats {
            games,
            wins: losses,
            draws,
            losses: wins,
            ..Stats::default()
        };
        book.add(
            &child,
            &[],
            PositionRecord {
                stats,
                recommendation,
                ..PositionRecord::default()
            },
        );
    }
    let source = book.write(&folder, "x.ctg");
    let target = folder.join("x.bin");
    let weights = |weights: Weights, keep_never: bool| {
        let policy = Policy::default().minimum_share(0);
        convert(
            &ConvertJob::new(source.clone(), target.clone())
                .weights(weights)
                .keep_never(keep_never)
                .policy(policy),
        )
        .unwrap();
        let book = BinBook::open(&target, &OpenOptions::default()).unwrap();
        let rows = book.entries_of(polyglot::key(&start)).unwrap();
        let weight = |preference| match preference {
            Preference::Weight(weight) => weight,
            _ => panic!(),
        };
        rows.iter()
            .map(|row| (row.mv.to_string(), weight(row.preference)))
            .collect::<Vec<_>>()
    };
    let expected = |numbers: &[u32]| -> Vec<(String, u32)> {
        let moves = ["e2e4", "d2d4", "c2c4", "a2a3"];
        moves
            .iter()
            .zip(numbers)
            .map(|(mv, weight)| ((*mv).to_owned(), *weight))
            .collect()
    };
    assert_eq!(
        weights(Weights::Games, false),
        expected(&[65_535, 32_768, 2])
    );
    assert_eq!(
        weights(Weights::Score, false),
        expected(&[65_535, 32_768, 1])
    );
    assert_eq!(
        weights(Weights::Probability, false),
        expected(&[65_535, 32_768, 2])
    );
    assert_eq!(
        weights(Weights::Games, true),
        expected(&[65_535, 32_768, 2, 0])
    );
}

/// A small Polyglot book: 1.e4 (3), 1.d4 (1), 1.a3 (0); 1.e4 e5 (7); a key
/// that nothing leads to.
fn small_bin(path: &Path) {
    let start = Chess::default();
    let mv = |position: &Chess, text: &str| super::common::uci(position, text);
    let mut after = start.clone();
    after.play_unchecked(mv(&start, "e2e4"));
    let row = |position: &Chess, text: &str, weight: u16| {
        bin::encode(
            polyglot::key(position),
            PackedMove::from_move(mv(position, text)),
            weight,
            0,
        )
    };
    let mut rows = [
        row(&start, "e2e4", 3),
        row(&start, "d2d4", 1),
        row(&start, "a2a3", 0),
        row(&after, "e7e5", 7),
        bin::encode(42, PackedMove(1), 1, 0),
    ];
    rows.sort_by_key(|row| row[..8].to_vec());
    fs::write(path, rows.concat()).unwrap();
}

#[test]
fn weights_become_statistics_that_play_alike() {
    let folder = Folder::new();
    let (source, target) = (folder.join("x.bin"), folder.join("x.ctg"));
    small_bin(&source);
    let done = plain(&source, &target);
    let notes = done.notes.join("; ");
    assert!(
        notes.contains("each weight counts as that number of drawn games"),
        "{notes}"
    );
    assert!(
        notes.contains("1 position left out that cannot be reached"),
        "{notes}"
    );
    assert_eq!((done.positions, done.moves), (5, 4));
    let found = lookup(&target, &Chess::default());
    let row = |entry: &tabia_book::BookMove| {
        (
            entry.mv.to_string(),
            entry.stats().games,
            entry.stats().draws,
            entry.mark().as_str(),
        )
    };
    let rows: Vec<_> = found.moves.iter().map(row).collect();
    assert_eq!(
        rows,
        [
            ("e2-e4".to_owned(), 3, 3, "none"),
            ("d2-d4".to_owned(), 1, 1, "none"),
            ("a2-a3".to_owned(), 0, 0, "avoid"),
        ]
    );
    assert_eq!(found.here.unwrap().stats.games, 4);
    // And as text, by way of a temporary book.
    plain(&source, &folder.join("x.jsonl"));
    plain(&folder.join("x.jsonl"), &folder.join("y.ctg"));
    assert_eq!(files(folder.join("y.ctg")), files(&target));
    only(
        &folder,
        &[
            "x.bin", "x.ctb", "x.ctg", "x.cto", "x.jsonl", "y.ctb", "y.ctg", "y.cto",
        ],
    );
}

#[test]
fn a_table_has_a_row_for_each_move() {
    let folder = Folder::new();
    let target = folder.join("x.csv");
    let policy = Policy::default().transpositions(false);
    let done = convert(&ConvertJob::new(project(STARTER), target.clone()).policy(policy)).unwrap();
    let text = fs::read_to_string(&target).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(
        (header[0], header[1], header[17]),
        ("fen", "uci", "probability")
    );
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    let mut rows = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), header.len(), "{line}");
        *sums.entry(fields[0]).or_default() += fields[17].parse::<f64>().unwrap();
        rows += 1;
    }
    assert_eq!(rows, done.moves);
    assert!(
        sums.values()
            .all(|sum| sum.abs() < 1e-4 || (sum - 1.0).abs() < 1e-4)
    );
}

/// Games, results and priority or weight of every move of a book, as White sees them.
fn numbers(path: &Path) -> BTreeMap<(u64, PackedMove), (Stats, Preference)> {
    let book = Book::open(path, &OpenOptions::default()).unwrap();
    let mut all = BTreeMap::new();
    for here in book.walk(tabia_book::walk::Order::Breadth) {
        let here = here.unwrap();
        for known in here
            .lookup
            .moves
            .iter()
            .filter(|known| !known.transposition)
        {
            let place = (
                polyglot::key(&here.position),
                PackedMove::from_move(known.mv),
            );
            all.insert(place, (known.stats(), known.preference));
        }
    }
    all
}

/// The starter book has transpositions and repetitions; each position has its moves where
/// lines reach it, and the games of these places add up.
#[test]
fn an_arena_book_has_the_games_of_the_book() {
    let folder = Folder::new();
    let (abk, again) = (folder.join("a.abk"), folder.join("b.abk"));
    let done = plain(&project(STARTER), &abk);
    let known = numbers(&abk);
    let source = Book::open(project(STARTER), &OpenOptions::default()).unwrap();
    let mut moves = 0;
    for here in source.walk(tabia_book::walk::Order::Breadth) {
        let here = here.unwrap();
        for old in &here.lookup.moves {
            let key = polyglot::key(&here.position);
            let (stats, preference) = known[&(key, PackedMove::from_move(old.mv))];
            let count = |stats: Stats| (stats.games, stats.wins, stats.losses);
            assert_eq!(count(stats), count(old.stats()));
            let is_red = old.mark() == tabia_book::Mark::Avoid;
            assert!(!is_red || preference == Preference::Priority(0));
            moves += 1;
        }
    }
    assert!(
        known.len() >= moves && done.moves > known.len() as u64,
        "{done:?}"
    );
    let Book::Loaded(book) = Book::open(&abk, &OpenOptions::default()).unwrap() else {
        panic!("an Arena book");
    };
    assert_eq!(book.len(), done.moves);
    assert_eq!(book.notices(), [""; 0]);
    // The header has the plies of the longest line and the number of moves.
    let bytes = fs::read(&abk).unwrap();
    let number = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut waiting, mut longest) = (vec![(900, 1)], 0);
    while let Some((entry, ply)) = waiting.pop() {
        longest = longest.max(ply);
        let places = [(20, ply + 1), (24, ply)].map(|(at, ply)| (number(28 * entry + at), ply));
        let next = places.into_iter().filter(|(place, _)| *place > 0);
        waiting.extend(next.map(|(place, ply)| (place as usize, ply)));
    }
    assert_eq!((number(214), number(218) as u64), (longest, done.moves));
    for what in ["moves repeated where", "got priority 0"] {
        assert!(
            done.notes.iter().any(|note| note.contains(what)),
            "{:?}",
            done.notes
        );
    }
    plain(&project(STARTER), &again);
    assert_eq!(fs::read(&abk).unwrap(), fs::read(&again).unwrap());
    only(&folder, &["a.abk", "b.abk"]);
}

/// A Polyglot book keeps its weights on the way there and back.
#[test]
fn weights_survive_an_arena_book() {
    let folder = Folder::new();
    let (bin, abk, back) = (
        folder.join("a.bin"),
        folder.join("a.abk"),
        folder.join("b.bin"),
    );
    plain(&project(STARTER), &bin);
    let done = plain(&bin, &abk);
    let note = "weights became drawn games";
    assert!(
        done.notes.iter().any(|text| text.contains(note)),
        "{:?}",
        done.notes
    );
    let policy = Policy {
        minimum_share: 0,
        ..Policy::default()
    };
    let job = ConvertJob::new(abk, back.clone())
        .weights(Weights::Games)
        .policy(policy);
    convert(&job).unwrap();
    let weights = |path: &Path| {
        let mut all = BTreeMap::new();
        let book = BinBook::open(path, &OpenOptions::default()).unwrap();
        book.for_each(|key, entry| {
            all.insert((key, entry.mv), entry.preference);
        })
        .unwrap();
        all
    };
    assert_eq!(weights(&bin), weights(&back));
}

/// Moves of the other side are not played; lines go on by any of them that leads to an
/// entry.
#[test]
fn a_book_for_one_side_has_its_moves_only() {
    let folder = Folder::new();
    let (book, _) = random_book(60, 24);
    let source = book.write(&folder, "x.ctg");
    let mut bytes = fs::read(&source).unwrap();
    bytes[4064..4090].copy_from_slice(b"Tabia: book for White only");
    fs::write(&source, bytes).unwrap();
    let ctg = open(&source);
    assert_eq!(ctg.only(), Some(Color::White));
    let mut expected = BTreeSet::new();
    let key = |position: &Chess| CanonicalBoard::from_position(position).unwrap().key();
    let mut seen = BTreeSet::from([polyglot::key(&Chess::default())]);
    let mut next = vec![Chess::default()];
    while let Some(position) = next.pop() {
        let stored = look_up(&ctg, &position).moves;
        let stored = stored.iter().filter(|entry| !entry.transposition);
        if position.turn() == Color::White {
            let moves = stored.map(|entry| PackedMove::from_move(entry.mv));
            expected.extend(moves.map(|mv| (polyglot::key(&position), mv)));
        }
        for mv in position.legal_moves() {
            let after = tabia_notation::after(&position, mv);
            if book.entries.contains_key(&key(&after)) && seen.insert(polyglot::key(&after)) {
                next.push(after);
            }
        }
    }
    assert!(expected.len() > 100);
    let target = folder.join("x.bin");
    let job = ConvertJob::new(source, target.clone()).keep_never(true);
    convert(&job).unwrap();
    let mut found = BTreeSet::new();
    let polyglot = BinBook::open(&target, &OpenOptions::default()).unwrap();
    let note = |key, entry: tabia_book::KeyedEntry| assert!(found.insert((key, entry.mv)));
    polyglot.for_each(note).unwrap();
    assert_eq!(found, expected);
}

/// Who watches sees the steps of a conversion go forward.
#[test]
fn steps_of_a_conversion_go_forward() {
    let folder = Folder::new();
    let (book, _) = random_book(150, 30);
    book.write(&folder, "x.ctg");
    let mut faults = Vec::new();
    for (from, to, stage) in [
        ("ctg", "jsonl", "writing"),
        ("jsonl", "ctg", "reading"),
        ("ctg", "bin", "walking"),
        ("ctg", "bin", "writing"),
        ("bin", "ctg", "reading"),
        ("ctg", "abk", "reading"),
        ("ctg", "pgn", "reading"),
        ("ctg", "csv", "writing"),
    ] {
        let [source, target] = [from, to].map(|end| folder.join("x").with_extension(end));
        let mut seen = Vec::new();
        let stop = AtomicBool::new(false);
        let mut report = |step: Progress| seen.push((step.stage, step.done));
        let job = ConvertJob::new(source, target).old(Previous::Replace);
        run(&job, &mut Watch::new(&mut report, &stop)).unwrap();
        seen.retain(|(known, _)| *known == stage);
        if seen.is_empty() || !seen.is_sorted_by(|a, b| a < b) {
            faults.push((from, to, seen));
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
}

/// Readers look for a king on the files e to h, unless a side may castle.
#[test]
fn positions_that_no_reader_finds_are_counted() {
    let folder = Folder::new();
    let (text, ctg) = (folder.join("x.jsonl"), folder.join("x.ctg"));
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq";
    let moves = GOOD.split_once("\"moves\":").unwrap().1;
    for (fen, is_found) in [
        ("7k/8/8/8/8/8/8/4K3 w -", true),
        ("7k/8/8/8/8/8/8/3K4 w -", false),
        ("4k2r/8/8/8/8/8/8/3K4 w k", true),
    ] {
        let line = GOOD.replace(start, fen).replace(moves, "[]}");
        fs::write(&text, format!("{FIRST}\n{line}\n")).unwrap();
        let notes = plain(&text, &ctg).notes;
        let is_note = notes
            .iter()
            .any(|note| note.starts_with("1 position not in canonical form"));
        assert_eq!(is_note, !is_found, "{fen} {notes:?}");
    }
}

/// A writer that is full after so many bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::StorageFull, "there is no room")
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_takes_bytes_gets_those_of_the_file() {
    let folder = Folder::new();
    let bin = folder.join("made.bin");
    plain(&project(STARTER), &bin);
    let to = |source: &Path, format: &str, out: &mut dyn std::io::Write| {
        let target = source.with_extension(format);
        let job = ConvertJob::new(
            source.to_owned(),
            PathBuf::from(target.file_name().unwrap()),
        );
        let book = Book::open(source, &OpenOptions::default()).unwrap();
        write(&book, &job, out, &mut Watch::default())
    };
    for source in [project(STARTER), bin.clone()] {
        for format in ["bin", "abk", "csv", "pgn", "jsonl", "ctg"] {
            let mut bytes = Vec::new();
            let done = match to(&source, format, &mut bytes) {
                Ok(done) => done,
                // It has three files; or is made of a temporary one.
                Err(Error::Refused { .. }) if format == "ctg" => continue,
                Err(Error::Refused { .. }) if format == "jsonl" && source == bin => continue,
                Err(error) => panic!("{format}: {error}"),
            };
            let file = folder.join(format!("file.{format}"));
            let expected = plain(&source, &file);
            assert!(bytes == fs::read(&file).unwrap(), "{format}");
            assert_eq!((done.bytes, done.moves), (expected.bytes, expected.moves));
            assert_eq!(done.notes, expected.notes);
            let error = to(&source, format, &mut Full(bytes.len() - 1)).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("cannot be written: there is no room"),
                "{text}"
            );
        }
    }
    only(
        &folder,
        &[
            "file.abk",
            "file.bin",
            "file.csv",
            "file.jsonl",
            "file.pgn",
            "made.bin",
        ],
    );
}
