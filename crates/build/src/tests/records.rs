//! Records: tables of counts whose sum makes the same book.

use std::fs::File;
use std::sync::Arc;

use ::parquet::data_type::{
    ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
    Int64Type,
};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::record::RowAccessor;
use ::parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;

fn refused(folder: &Folder, line: &str, why: &str) -> String {
    let message = made(folder, line).unwrap_err();
    assert!(message.contains(why), "{line}: {message}");
    message
}

fn done(folder: &Folder, line: &str) {
    made(folder, line).unwrap();
}

fn book(folder: &Folder, name: &str) -> [Vec<u8>; 3] {
    files(folder.join(name))
}

/// A row: key, move and the nine sums.
type Row = (Vec<u8>, i32, [i64; 9]);

const COLUMNS: &str = "REQUIRED BYTE_ARRAY key; REQUIRED INT32 move; \
    REQUIRED INT64 games; REQUIRED INT64 wins; REQUIRED INT64 draws; REQUIRED INT64 losses; \
    REQUIRED INT64 own_rated; REQUIRED INT64 own_sum; \
    REQUIRED INT64 other_rated; REQUIRED INT64 other_sum; REQUIRED INT64 main;";

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let row = row.unwrap();
            let counters = std::array::from_fn(|n| row.get_long(n + 2).unwrap());
            (
                row.get_bytes(0).unwrap().data().to_vec(),
                row.get_int(1).unwrap(),
                counters,
            )
        })
        .collect()
}

/// Writes rows as other programs do: columns in another order, nullable, in row
/// groups of some size. A row without a key has null there.
fn write(path: &Path, columns: &str, rows: &[Row], group: usize, null: Option<usize>) {
    let schema = Arc::new(parse_message_type(&format!("message t {{ {columns} }}")).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.clone(), Arc::default()).unwrap();
    for (start, rows) in rows.chunks(group).enumerate() {
        let mut out = writer.next_row_group().unwrap();
        for field in schema.get_fields() {
            let Some(mut column) = out.next_column().unwrap() else {
                panic!("no column");
            };
            let missing = |at: usize| {
                field.name().eq_ignore_ascii_case("key") && null == Some(start * group + at)
            };
            let present: Vec<&Row> = rows
                .iter()
                .enumerate()
                .filter(|(at, _)| !missing(*at))
                .map(|(_, row)| row)
                .collect();
            let levels: Vec<i16> = (0..rows.len()).map(|at| (!missing(at)).into()).collect();
            let levels = field.is_optional().then_some(levels.as_slice());
            let names = "games wins draws losses own_rated own_sum other_rated other_sum main";
            let mut names = names.split(' ');
            let n = names.position(|name| field.name().eq_ignore_ascii_case(name));
            let value = |row: &Row| n.map_or(row.1.into(), |n| row.2[n]);
            match field.get_physical_type() {
                ::parquet::basic::Type::BYTE_ARRAY => {
                    let values: Vec<ByteArray> =
                        present.iter().map(|row| row.0.clone().into()).collect();
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&values, levels, None)
                }
                ::parquet::basic::Type::FIXED_LEN_BYTE_ARRAY => {
                    let padded = |row: &Row| {
                        let mut key = row.0.clone();
                        key.resize(30, 0);
                        key.into()
                    };
                    let values: Vec<FixedLenByteArray> =
                        present.iter().map(|row| padded(row)).collect();
                    column
                        .typed::<FixedLenByteArrayType>()
                        .write_batch(&values, levels, None)
                }
                ::parquet::basic::Type::INT32 => {
                    let values: Vec<i32> = present.iter().map(|row| value(row) as i32).collect();
                    column
                        .typed::<Int32Type>()
                        .write_batch(&values, levels, None)
                }
                ::parquet::basic::Type::DOUBLE => {
                    let values: Vec<f64> = present.iter().map(|row| value(row) as f64).collect();
                    column
                        .typed::<DoubleType>()
                        .write_batch(&values, levels, None)
                }
                _ => {
                    let values: Vec<i64> = present.iter().map(|row| value(row)).collect();
                    column
                        .typed::<Int64Type>()
                        .write_batch(&values, levels, None)
                }
            }
            .unwrap();
            column.close().unwrap();
        }
        out.close().unwrap();
    }
    writer.close().unwrap();
}

/// Games with variations and marks, which are counted too.
fn prepare(count: u64) -> Folder {
    let folder = Folder::new();
    let games = random_games(count, 50);
    let lines = "[Event \"?\"]\n[Result \"*\"]\n\n1. e4 (1. d4 d5 2. c4) 1... c5 2. Nf3 *\n\n";
    folder.put("all.pgn", lines.to_owned() + &pgn(&games));
    for n in 0..4 {
        let part: String = games.iter().skip(n).step_by(4).map(TestGame::pgn).collect();
        let lines = if n == 2 { lines } else { "" };
        folder.put(&format!("{n}.pgn"), lines.to_owned() + &part);
    }
    folder
}

const HOW: &str = "--max-ply 45 --variations";

#[test]
fn records_and_games_make_the_same_book() {
    let folder = &prepare(300);
    folder.put("lines.pgn", "[Event \"?\"]\n\n1. c4 e5 1-0\n");
    let games = format!("{HOW} --priority lines.pgn all.pgn");
    done(folder, &format!("--records r.parquet {games}"));
    for (name, least) in [("every", 1), ("often", 4)] {
        let (direct, back) = (format!("{name}1.ctg"), format!("{name}2.ctg"));
        done(folder, &format!("-o {direct} {games} --min-games {least}"));
        done(folder, &format!("-o {back} r.parquet --min-games {least}"));
        assert!(book(folder, &direct) == book(folder, &back), "{name}");
    }
    // The table is the same with any counting options, and can be read back.
    let first = fs::read(folder.join("r.parquet")).unwrap();
    let small = "--records s.parquet --memory 1M --threads 3";
    done(folder, &format!("{small} {games}"));
    assert!(first == fs::read(folder.join("s.parquet")).unwrap());
    done(folder, "--records t.parquet r.parquet");
    assert!(first == fs::read(folder.join("t.parquet")).unwrap());
}

#[test]
fn shards_add_up_to_the_book_of_all_games() {
    let folder = &prepare(400);
    done(folder, &format!("-o direct.ctg all.pgn {HOW}"));
    for n in 0..4 {
        done(folder, &format!("--records {n}.parquet {n}.pgn {HOW}"));
    }
    let direct = book(folder, "direct");
    let shards = "3.parquet 1.parquet 0.parquet 2.parquet";
    done(folder, &format!("-o sum.ctg {shards}"));
    assert!(book(folder, "sum") == direct);
    done(
        folder,
        &format!("-o sum.ctg {shards} --memory 1M --threads 1"),
    );
    assert!(book(folder, "sum") == direct);
    // Joined in pairs, with some games read directly.
    done(folder, "--records ab.parquet 0.parquet 1.parquet");
    done(
        folder,
        &format!("-o sum.ctg ab.parquet 2.pgn 3.parquet {HOW}"),
    );
    assert!(book(folder, "sum") == direct);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Other engines may write the rows in any order.
    #[test]
    fn the_order_of_rows_and_their_groups_do_not_matter(
        seed in any::<u64>(), group in 1..3000_usize, split in 0..8_usize,
    ) {
        let folder = &prepare(40);
        done(folder, &format!("-o direct.ctg all.pgn {HOW}"));
        done(folder, &format!("--records r.parquet all.pgn {HOW}"));
        let mut rows = rows(&folder.join("r.parquet"));
        let mut state = seed | 1;
        for at in (1..rows.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            rows.swap(at, (state >> 33) as usize % (at + 1));
        }
        // Nullable, narrower, and with an unknown column.
        let columns = COLUMNS
            .replace("REQUIRED INT64 main", "OPTIONAL INT64 main; REQUIRED INT32 other")
            .replace("REQUIRED BYTE_ARRAY", "OPTIONAL BYTE_ARRAY")
            .replace("INT64 draws", "INT32 draws");
        let (one, two) = rows.split_at(rows.len() * split / 7);
        write(&folder.join("one.parquet"), &columns, one, group, None);
        write(&folder.join("two.parquet"), COLUMNS, two, group, None);
        done(folder, "-o sum.ctg one.parquet two.parquet --memory 1M");
        prop_assert!(book(folder, "sum") == book(folder, "direct"));
    }
}

#[test]
fn bad_records_are_one_message_with_file_and_row() {
    let folder = &prepare(20);
    done(folder, "--records good.parquet all.pgn");
    folder.put("old.ctg", "an old book");
    let good = rows(&folder.join("good.parquet"));
    let bytes = fs::read(folder.join("good.parquet")).unwrap();
    let at = |name: &str| folder.join(name);
    fs::write(at("text.parquet"), "1. e4 e5 and so on").unwrap();
    fs::write(at("empty.parquet"), "").unwrap();
    fs::write(at("short.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    let mut zeros = bytes.clone();
    zeros[4..2000].fill(0);
    fs::write(at("zeros.parquet"), zeros).unwrap();
    let less = COLUMNS.replace("REQUIRED INT64 losses;", "");
    write(&at("less.parquet"), &less, &good, 100, None);
    let double = COLUMNS.replace("INT64 games", "DOUBLE games");
    write(&at("double.parquet"), &double, &good, 100, None);
    let unnamed = COLUMNS.replace("INT64 games", "INT64 sum_games_");
    write(&at("unnamed.parquet"), &unnamed, &good, 100, None);
    let number = COLUMNS.replace("BYTE_ARRAY key", "INT64 key");
    write(&at("number.parquet"), &number, &good, 100, None);
    let list = COLUMNS.replace("REQUIRED INT64 wins", "REPEATED INT64 wins");
    drop(
        SerializedFileWriter::new(
            File::create(at("list.parquet")).unwrap(),
            Arc::new(parse_message_type(&format!("message t {{ {list} }}")).unwrap()),
            Arc::default(),
        )
        .and_then(SerializedFileWriter::close)
        .unwrap(),
    );
    let null = COLUMNS.replace("REQUIRED BYTE_ARRAY", "OPTIONAL BYTE_ARRAY");
    write(&at("null.parquet"), &null, &good, 100, Some(205));
    write(
        &at("headless.parquet"),
        COLUMNS,
        &good[..good.len() - 1],
        100,
        None,
    );
    let changed = |name: &str, change: &dyn Fn(&mut Row)| {
        let mut rows = good.clone();
        change(&mut rows[205]);
        write(&at(name), COLUMNS, &rows, 100, None);
    };
    let position = |row: &mut Row| row.1 = -1;
    changed("key.parquet", &|row| row.0 = vec![4, 1, 2]);
    changed("nonsense.parquet", &|row| row.0 = vec![3, 1, 2]);
    changed("move.parquet", &|row| row.1 = 300);
    changed("unknown.parquet", &|row| row.1 = 0xff);
    changed("negative.parquet", &|row| row.2[0] = -5);
    changed("huge.parquet", &|row| row.2[0] = i64::MAX);
    changed("results.parquet", &|row| {
        position(row);
        row.2 = [3, 2, 2, 0, 0, 0, 0, 0, 0];
    });
    changed("ratings.parquet", &|row| {
        position(row);
        row.2 = [3, 0, 0, 0, 2, 0, 0, 0, 0];
    });
    for (file, message) in [
        ("missing", "(os error 2)"),
        ("text", "cannot be read as Parquet"),
        ("empty", "cannot be read as Parquet"),
        ("short", "cannot be read as Parquet"),
        ("zeros", "cannot be read as Parquet"),
        ("less", "column losses: is missing"),
        ("double", "CAST(SUM(games) AS BIGINT)"),
        (
            "unnamed",
            "column games: is missing; there is \"sum_games_\": give it the name, as in SUM(games) \
             AS games",
        ),
        ("number", "column key: its type is INT64"),
        ("list", "column wins: is a list"),
        ("null", "row 206: key is null"),
        ("headless", "no file of records has a row with an empty key"),
        (
            "key",
            "row 206: the key 040102 is not the key of a position",
        ),
        (
            "nonsense",
            "row 206: the key 030102 is not the key of a position",
        ),
        ("move", "row 206: 300 is not a move"),
        ("unknown", "row 206: 255 is not a move"),
        ("negative", "row 206: games cannot be -5"),
        ("huge", "row 206: games cannot be"),
        ("results", "row 206: more results than games"),
        ("ratings", "row 206: impossible ratings"),
    ] {
        let name = format!("{file}.parquet");
        let rest = format!("-o old.ctg {name} --threads 2");
        assert!(refused(folder, &rest, message).contains(&name));
    }
    for (line, message) in [
        ("-o old.ctg good.parquet --min-elo 2000", "written"),
        ("-o old.ctg good.parquet --dedupe", "written"),
        ("-o old.ctg --priority good.parquet", "written"),
        ("-o old.bin good.parquet", "no results of moves"),
        ("--records nowhere/good.parquet all.pgn", "nowhere"),
        ("--records new.parquet good.parquet short.parquet", "short"),
    ] {
        refused(folder, line, message);
    }
    assert_eq!(fs::read_to_string(at("old.ctg")).unwrap(), "an old book");
    assert!(fs::read(at("good.parquet")).unwrap() == bytes);
    assert!(!at("new.parquet").exists());
}

/// Four parts of 200 games in a folder, without the games.
fn parts(how: &str) -> (Folder, [Vec<u8>; 3]) {
    let folder = prepare(200);
    done(&folder, &format!("-o direct.ctg all.pgn {HOW}"));
    for n in 0..4 {
        done(
            &folder,
            &format!("--records {n}.parquet {n}.pgn {HOW} {how}"),
        );
    }
    let direct = book(&folder, "direct");
    (folder, direct)
}

const PARTS: &str = "0.parquet 1.parquet 2.parquet 3.parquet";

/// Of a position in a table, as an engine adds it up.
fn summed(folder: &Folder, names: &str) -> Vec<Row> {
    let mut sums = std::collections::BTreeMap::new();
    for name in names.split(' ') {
        for (key, byte, counters) in rows(&folder.join(name)) {
            let sum = sums.entry((key, byte)).or_insert([0; 9]);
            sum.iter_mut()
                .zip(counters)
                .for_each(|(sum, more)| *sum += more);
        }
    }
    let rows = sums.into_iter();
    rows.map(|((key, byte), sums)| (key, byte, sums)).collect()
}

/// The bytes of the pages of each column when they are unpacked. Packed, one column follows the
/// other.
fn page_bytes(path: &Path) -> Vec<i64> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let mut end = 4;
    for column in group.columns() {
        let (start, length) = column.byte_range();
        assert_eq!(start, end);
        end += length;
    }
    let columns = group.columns().iter();
    columns.map(|column| column.uncompressed_size()).collect()
}

#[test]
fn every_compression_makes_the_same_book() {
    let (mut lengths, mut unpacked) = (Vec::new(), Vec::new());
    for compression in Compression::ALL {
        let (folder, direct) = parts(&format!("--compression {}", compression.name()));
        done(&folder, &format!("-o sum.ctg {PARTS}"));
        assert!(book(&folder, "sum") == direct, "{}", compression.name());
        lengths.push(fs::metadata(folder.join("0.parquet")).unwrap().len());
        unpacked.push(page_bytes(&folder.join("0.parquet")));
    }
    // Headers have numbers of different lengths.
    let is_alike = |(one, two): (&i64, &i64)| one.abs_diff(*two) < 20;
    let is_same = |all: &[Vec<i64>]| all[0].iter().zip(&all[1]).all(is_alike);
    assert!(unpacked.windows(2).all(is_same), "{unpacked:?}");
    let [snappy, zstd, gzip, none] = lengths[..] else {
        panic!("{lengths:?}")
    };
    assert!(gzip < snappy && zstd < none && snappy < none, "{lengths:?}");
}

/// Whether read as it is, or after an engine has added it up.
#[test]
fn no_flipped_bit_makes_another_book_in_silence() {
    let folder = &prepare(60);
    done(folder, &format!("-o direct.ctg all.pgn {HOW}"));
    let direct = book(folder, "direct");
    let mut random = 7_u64;
    let (mut refused, mut same) = (0, 0);
    for compression in Compression::ALL {
        let how = format!("{HOW} --compression {}", compression.name());
        for n in 0..4 {
            done(folder, &format!("--records {n}.parquet {n}.pgn {how}"));
        }
        let part = folder.join("2.parquet");
        let whole = fs::read(&part).unwrap();
        for _ in 0..50 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let bit = (random >> 16) as usize % (8 * whole.len());
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&part, &damaged).unwrap();
            match made(folder, &format!("-o sum.ctg {PARTS} --threads 1")) {
                Err(message) => {
                    assert!(message.contains("2.parquet"), "{message}");
                    refused += 1;
                }
                Ok(_) => {
                    assert!(book(folder, "sum") == direct, "bit {bit}: another book");
                    same += 1;
                }
            }
        }
        fs::write(&part, &whole).unwrap();
    }
    // Unread texts of the footer make no difference.
    assert!(
        refused > 150 && same > 0,
        "{refused} refused, {same} the same"
    );
}

#[test]
fn a_sum_of_damaged_records_or_without_rows_is_refused() {
    let (folder, direct) = parts("");
    let folder = &folder;
    let sum = summed(folder, PARTS);
    let at = folder.join("sum.parquet");
    write(&at, COLUMNS, &sum, 100, None);
    done(folder, "-o sum.ctg sum.parquet");
    assert!(book(folder, "sum") == direct);
    for row in [1, 77, sum.len() - 1] {
        let mut damaged = sum.clone();
        damaged[row].2[0] += 1;
        write(&at, COLUMNS, &damaged, 100, None);
        refused(folder, "-o sum.ctg sum.parquet", "one of them is damaged");
        let mut less = sum.clone();
        less.remove(row);
        write(&at, COLUMNS, &less, 100, None);
        refused(
            folder,
            "-o sum.ctg sum.parquet",
            "file of the sum are missing",
        );
    }
    // What HAVING leaves out is reported.
    let common = sum.iter().filter(|row| row.2[0] >= 5 || row.0.is_empty());
    write(
        &at,
        COLUMNS,
        &common.cloned().collect::<Vec<_>>(),
        100,
        None,
    );
    let summary = made(folder, "-o sum.ctg sum.parquet").unwrap();
    let remark = &summary.tally.remarks[0];
    assert!(
        remark.contains("rows of fewer than 5 games are left out"),
        "{remark}"
    );
    done(folder, &format!("-o often.ctg {PARTS} --min-games 5"));
    assert!(book(folder, "sum") == book(folder, "often"));
    // Of another program.
    let mut plain = sum.clone();
    plain[0].2[1..].fill(0);
    write(&at, COLUMNS, &plain, 100, None);
    let summary = made(folder, "-o sum.ctg sum.parquet").unwrap();
    assert!(summary.tally.remarks[0].contains("without a checksum"));
    assert!(book(folder, "sum") == direct);
    // Beside a sum that has a checksum.
    let sum = summed(folder, "0.parquet 1.parquet 2.parquet");
    write(&at, COLUMNS, &sum, 100, None);
    let mut plain = summed(folder, "3.parquet");
    plain[0].2[1..].fill(0);
    write(&folder.join("plain.parquet"), COLUMNS, &plain, 100, None);
    let summary = made(folder, "-o sum.ctg sum.parquet plain.parquet").unwrap();
    assert!(summary.tally.remarks[0].contains("without a checksum"));
    assert!(book(folder, "sum") == direct);
}

#[test]
fn what_does_not_belong_together_is_refused_and_the_sum_is_reported() {
    let (folder, direct) = parts("");
    let folder = &folder;
    let summary = made(folder, &format!("-o sum.ctg {PARTS}")).unwrap();
    let sum = "4 files of records: 201 games (--max-ply 45 --variations)";
    assert_eq!(summary.tally.remarks, [sum]);
    // Other plies, also when an engine has added them up.
    done(
        folder,
        "--records short.parquet 3.pgn --max-ply 20 --variations",
    );
    for line in [
        "-o sum.ctg 0.parquet short.parquet",
        "-o sum.ctg 0.pgn short.parquet --max-ply 45 --variations",
        "-o sum.ctg 0.parquet --max-ply 20",
    ] {
        let message = refused(folder, line, "--max-ply 45");
        assert!(message.contains("--max-ply 20"), "{message}");
    }
    done(folder, "-o sum.ctg 0.parquet --max-ply 45");
    let mixed = summed(folder, "0.parquet 1.parquet 2.parquet short.parquet");
    write(&folder.join("mixed.parquet"), COLUMNS, &mixed, 100, None);
    refused(folder, "-o sum.ctg mixed.parquet", "different conditions");
    done(folder, "--records white.parquet 3.pgn --only white");
    refused(folder, "-o sum.ctg white.parquet", "(--only)");
    done(folder, "-o sum.ctg white.parquet --only white");
    // Twice: by another name, by its records, by its source.
    fs::copy(folder.join("1.parquet"), folder.join("copy.parquet")).unwrap();
    let twice = refused(
        folder,
        "-o sum.ctg 0.parquet 1.parquet copy.parquet",
        "1.pgn are in",
    );
    assert!(twice.contains("copy.parquet"), "{twice}");
    fs::copy(folder.join("1.pgn"), folder.join("again.pgn")).unwrap();
    done(
        folder,
        &format!("--records again.parquet 2.pgn again.pgn {HOW}"),
    );
    refused(
        folder,
        "-o sum.ctg 1.parquet again.parquet",
        "again.pgn (there",
    );
    // What an engine leaves in a folder is passed over.
    let sum = summed(folder, PARTS);
    let (one, two) = sum.split_at(sum.len() / 2);
    fs::create_dir_all(folder.join("engine/_temporary/0")).unwrap();
    write(
        &folder.join("engine/part-0.snappy.parquet"),
        COLUMNS,
        one,
        100,
        None,
    );
    write(
        &folder.join("engine/part-1.snappy.parquet"),
        COLUMNS,
        two,
        100,
        None,
    );
    for other in [
        "_SUCCESS",
        ".part-0.snappy.parquet.crc",
        "_temporary/0/part-0.parquet",
        ".x.parquet",
    ] {
        folder.put(&format!("engine/{other}"), "nothing to read");
    }
    done(folder, "-o sum.ctg engine");
    assert!(book(folder, "sum") == direct);
    fs::remove_file(folder.join("engine/part-1.snappy.parquet")).unwrap();
    refused(folder, "-o sum.ctg engine", "a file of the sum");
}

#[test]
fn a_part_without_games_is_a_part() {
    let folder = &prepare(40);
    done(folder, "-o direct.ctg all.pgn");
    done(folder, "--records all.parquet all.pgn");
    // Not one game matches.
    done(folder, "--records none.parquet 0.pgn --min-elo 4000");
    folder.put(
        "nothing.pgn",
        "[Event \"?\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n",
    );
    done(folder, "--records skipped.parquet nothing.pgn");
    done(folder, "-o sum.ctg all.parquet skipped.parquet");
    assert!(book(folder, "sum") == book(folder, "direct"));
    refused(
        folder,
        "-o sum.ctg all.parquet none.parquet",
        "--min-elo 4000",
    );
    refused(folder, "-o sum.ctg skipped.parquet", "no game is left");
}

#[test]
fn a_repeated_task_leaves_one_file() {
    let folder = &prepare(20);
    done(folder, "--records r.parquet all.pgn");
    let first = fs::read(folder.join("r.parquet")).unwrap();
    done(folder, "--records r.parquet all.pgn --keep");
    assert!(fs::read(folder.join("r.parquet")).unwrap() == first);
    let names = common::names(folder);
    assert!(!names.iter().any(|name| name.contains("bak")), "{names:?}");
}

/// As other engines write them.
#[test]
fn names_in_upper_case_and_keys_of_one_length_are_read() {
    let folder = &prepare(40);
    done(folder, "-o direct.ctg all.pgn");
    done(folder, "--records r.parquet all.pgn");
    let rows = rows(&folder.join("r.parquet"));
    let upper = COLUMNS.split("; ").map(|column| {
        let (kind, name) = column.trim().rsplit_once(' ').unwrap();
        format!("{kind} {}", name.to_uppercase())
    });
    let upper = upper.collect::<Vec<_>>().join("; ");
    write(&folder.join("upper.parquet"), &upper, &rows, 100, None);
    let fixed = COLUMNS.replace("BYTE_ARRAY key", "FIXED_LEN_BYTE_ARRAY (30) key");
    write(&folder.join("fixed.parquet"), &fixed, &rows, 100, None);
    for name in ["upper", "fixed"] {
        done(folder, &format!("-o sum.ctg {name}.parquet"));
        assert!(book(folder, "sum") == book(folder, "direct"), "{name}");
    }
}

/// More games than an entry can count: 1.e4 stays more frequent than 1.d4 by as much as it is.
#[test]
fn counts_of_a_whole_book_are_scaled_once() {
    let folder = &Folder::new();
    folder.put("a.pgn", "1. e4 e5 1-0\n\n1. d4 d5 0-1\n");
    done(folder, "--records r.parquet a.pgn");
    let mut sum = rows(&folder.join("r.parquet"));
    // 60 million games, of which 40 began with 1.e4.
    for row in &mut sum {
        let times = match row.2[0] {
            2 => 30_000_000,
            _ if row.2[3] > 0 => 40_000_000,
            _ => 20_000_000,
        };
        row.2.iter_mut().for_each(|n| *n *= times);
        if row.0.is_empty() {
            row.2[1..].fill(0);
        }
    }
    write(&folder.join("sum.parquet"), COLUMNS, &sum, 100, None);
    let games_after = |options: &str| {
        let summary = made(folder, &format!("-o sum.ctg sum.parquet {options}")).unwrap();
        let content = content(&folder.join("sum.ctg"));
        let mut games: Vec<u32> = content
            .values()
            .map(|(record, _)| record.stats.games)
            .collect();
        games.sort_unstable();
        games.dedup();
        let reported = summary
            .tally
            .remarks
            .iter()
            .any(|r| r.contains("--scale-counts"));
        (games, reported)
    };
    assert_eq!(games_after(""), (vec![0x00ff_ffff], true));
    assert_eq!(
        games_after("--scale-counts"),
        (vec![5_000_000, 10_000_000, 15_000_000], false)
    );
}
