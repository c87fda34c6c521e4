//! Several books in one pass over the games, and where each comes from.

use super::*;

/// Random games, some broken, some twice.
fn games() -> String {
    let text = pgn(&random_games(400, 50));
    let again = pgn(&random_games(60, 50)).replace("2400", "2000");
    let broken =
        "[Event \"broken\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2500\"]\n\n1. e4 e5 2. Kd5 *\n\n";
    [&text, broken, &again].concat()
}

/// What goes into each book, as one would type it.
const BOOKS: [(&str, &[&str]); 5] = [
    ("plain.ctg", &["--max-ply", "20"]),
    (
        "high.ctg",
        &["--both-elo", "2400", "--max-ply", "33", "--only", "white"],
    ),
    ("won.ctg", &["--decisive", "--dedupe", "--min-games", "2"]),
    ("named.ctg", &["--eco-relative", "6", "--since", "2000"]),
    ("once.ctg", &["--dedupe", "--eco", "B20-B99"]),
];

fn tabia(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tabia"))
        .arg("build")
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn provenance(folder: &Path, book: &str) -> serde_json::Value {
    let path = folder.join(book).with_extension("provenance.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn books_of_one_pass_are_those_of_separate_calls() {
    let text = games();
    let reading = ["--variations", "--annotations", "games.pgn"];
    let alone = tempfile::tempdir().unwrap();
    fs::write(alone.path().join("games.pgn"), &text).unwrap();
    for (book, options) in BOOKS {
        let args = [&["-o", book], options, &reading].concat();
        let output = tabia(alone.path(), &args);
        assert!(output.status.success(), "{output:?}");
    }
    assert!(!alone.path().join("plain.provenance.json").exists());
    let mut before: Option<Vec<String>> = None;
    for (threads, memory) in [("1", "512M"), ("3", "512M"), ("2", "1M")] {
        let together = tempfile::tempdir().unwrap();
        fs::write(together.path().join("games.pgn"), &text).unwrap();
        let (first, others) = BOOKS.split_first().unwrap();
        let also: Vec<String> = others
            .iter()
            .map(|(book, options)| format!("{book}: {}", options.join(" ")))
            .collect();
        let mut args = vec!["-o", first.0, "--threads", threads, "--memory", memory];
        args.extend(first.1.iter().chain(&reading));
        args.extend(also.iter().flat_map(|also| ["--also", also.as_str()]));
        let output = tabia(together.path(), &args);
        assert!(output.status.success(), "{output:?}");
        for (book, _) in BOOKS {
            for part in ["ctg", "cto", "ctb"] {
                let file = Path::new(book).with_extension(part);
                let read = |folder: &Path| fs::read(folder.join(&file)).unwrap();
                assert!(
                    read(together.path()) == read(alone.path()),
                    "{} with {threads} threads and {memory}",
                    file.display()
                );
            }
        }
        let won = provenance(together.path(), "won.ctg");
        assert!(won["duplicates"].as_u64().unwrap() > 0, "{won}");
        // Nor do threads and memory change what is said of the books.
        let said = BOOKS.map(|(book, _)| provenance(together.path(), book).to_string());
        let said = said.to_vec();
        assert_eq!(before.get_or_insert(said.clone()), &said);
    }
}

#[test]
fn the_provenance_says_what_is_in_the_book() {
    let folder = tempfile::tempdir().unwrap();
    let (here, text) = (folder.path(), games());
    fs::write(here.join("games.pgn"), &text).unwrap();
    let also = "white.ctg: --result 1-0 --both-elo 2000 --only white --max-ply 12";
    let args = ["-o", "all.ctg", "games.pgn", "--also", also, "--json"];
    let output = tabia(here, &args);
    assert!(output.status.success(), "{output:?}");
    let objects: Vec<serde_json::Value> = serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    for (object, book) in objects.iter().zip(["all.ctg", "white.ctg"]) {
        let said = provenance(here, book);
        assert_eq!(said["format"], "tabia-provenance");
        assert_eq!(said["tabia"], env!("CARGO_PKG_VERSION"));
        assert_eq!(
            (&said["book"], &object["book"]),
            (&book.into(), &book.into())
        );
        let parts = ["ctg", "cto", "ctb"].map(|part| here.join(book).with_extension(part));
        let length: u64 = parts
            .iter()
            .map(|part| fs::metadata(part).unwrap().len())
            .sum();
        assert_eq!(said["sources"].as_array().unwrap().len(), 1);
        assert_eq!(said["sources"][0]["path"], "games.pgn");
        assert_eq!(said["sources"][0]["bytes"], text.len() as u64);
        assert_eq!(said["bytes"], length);
        for (name, value) in object.as_object().unwrap() {
            assert_eq!(&said[name], value, "{book}: {name}");
        }
        let sum: u64 = ["games", "filtered", "skipped", "duplicates"]
            .map(|name| said[name].as_u64().unwrap())
            .iter()
            .sum();
        assert_eq!(said["read"], sum);
    }
    assert_eq!(objects.len(), 2);
    let said = provenance(here, "white.ctg");
    assert_eq!(said["conditions"], "--both-elo 2000 --result 1-0");
    assert_eq!(
        (&said["only"], &said["max_ply"]),
        (&"white".into(), &12.into())
    );
    assert_eq!(provenance(here, "all.ctg")["conditions"], "");

    // One book has the file if it is asked for, and it is not written over.
    let output = tabia(here, &["-o", "one.ctg", "games.pgn"]);
    assert!(output.status.success(), "{output:?}");
    assert!(!here.join("one.provenance.json").exists());
    fs::write(here.join("two.provenance.json"), "mine").unwrap();
    let args = ["-o", "two.ctg", "games.pgn", "--provenance"];
    let output = tabia(here, &args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("two.provenance.json: is there already"),
        "{message}"
    );
    assert!(!here.join("two.ctg").exists());
    let output = tabia(here, &[&args[..], &["--force"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(provenance(here, "two.ctg")["book"], "two.ctg");
    let kept = fs::read_to_string(here.join("two.provenance.json.bak")).unwrap();
    assert_eq!(kept, "mine");
}

#[test]
fn if_one_book_cannot_be_made_none_is() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("games.pgn"), games()).unwrap();
    fs::write(here.join("there.ctg"), "mine").unwrap();
    for (also, wanted) in [
        ("b.ctg: --min-elo 2900", "b.ctg: no game is left"),
        (
            "b.ctg: --min-games 100000",
            "b.ctg: no position was reached",
        ),
        ("b.ctg: --memory 1G", "'--memory'"),
        ("b.ctg: --as green", "--as"),
        ("./A.ctg: --max-ply 3", "another book of this name"),
        ("b.bin: --max-ply 3", "b.bin"),
        ("there.ctg: --max-ply 3", "there.ctg: is there already"),
        ("none/b.ctg: --max-ply 3", "none"),
    ] {
        let output = tabia(here, &["-o", "a.ctg", "games.pgn", "--also", also]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{also}: {message}");
        assert!(message.contains(wanted), "{also}: {message}");
        assert_eq!(names(here), ["games.pgn", "there.ctg"], "{also}");
    }
}

/// `--as` without a player is nobody's colour: moves of that side.
#[test]
fn a_colour_without_a_player_is_that_of_the_moves() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), games()).unwrap();
    let also = "as.ctg: --min-elo 2000 --as white";
    let args = ["-o", "all.ctg", "games.pgn", "--also", also];
    let output = tabia(folder.path(), &args);
    assert!(output.status.success(), "{output:?}");
    let only = ["--min-elo", "2000", "--only", "white", "games.pgn"];
    let output = tabia(folder.path(), &[&["-o", "only.ctg"], &only[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let read = |book: &str| fs::read(folder.path().join(book)).unwrap();
    assert!(read("as.ctg") == read("only.ctg") && read("as.ctg") != read("all.ctg"));
    let said = provenance(folder.path(), "as.ctg");
    assert_eq!(
        (&said["only"], &said["conditions"]),
        (&"white".into(), &"--min-elo 2000".into())
    );
}
