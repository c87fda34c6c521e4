//! Several books in one pass over the games, and their provenance files.

use super::*;

/// Random games, some damaged, some twice.
fn games() -> String {
    let text = pgn(&random_games(400, 50));
    let again = pgn(&random_games(60, 50)).replace("2400", "2000");
    let broken =
        "[Event \"broken\"]\n[WhiteElo \"2500\"]\n[BlackElo \"2500\"]\n\n1. e4 e5 2. Kd5 *\n\n";
    [&text, broken, &again].concat()
}

/// The options of each book, as typed.
const BOOKS: [(&str, &str); 5] = [
    ("plain.ctg", "--max-ply 20"),
    ("high.ctg", "--both-elo 2400 --max-ply 33 --only white"),
    ("won.ctg", "--decisive --dedupe --min-games 2"),
    ("named.ctg", "--eco-relative 6 --since 2000"),
    ("once.ctg", "--dedupe --eco B20-B99"),
];

fn provenance(folder: &Folder, book: &str) -> serde_json::Value {
    let name = book.replace(".ctg", ".provenance.json");
    serde_json::from_str(&folder.text(&name)).unwrap()
}

#[test]
fn also_makes_the_same_books_as_separate_builds() {
    let text = games();
    let reading = "--variations --annotations games.pgn";
    let alone = Folder::new();
    alone.put("games.pgn", &text);
    for (book, options) in BOOKS {
        alone.done(&format!("build -o {book} {options} {reading}"));
    }
    assert!(!alone.join("plain.provenance.json").exists());
    let mut before: Option<Vec<String>> = None;
    for (threads, memory) in [("1", "512M"), ("3", "512M"), ("2", "1M")] {
        let together = Folder::new();
        together.put("games.pgn", &text);
        let [(first, options), others @ ..] = BOOKS;
        let also = others.map(|(book, options)| format!("--also '{book}: {options}'"));
        let how = format!("--threads {threads} --memory {memory}");
        let also = also.join(" ");
        together.done(&format!(
            "build -o {first} {how} {options} {reading} {also}"
        ));
        for (book, _) in BOOKS {
            let [one, other] = [&alone, &together].map(|folder| files(folder.join(book)));
            assert!(one == other, "{book} {how}");
        }
        let won = provenance(&together, "won.ctg");
        assert!(won["duplicates"].as_u64().unwrap() > 0, "{won}");
        // Threads and memory do not change the provenance files either.
        let recorded = BOOKS.map(|(book, _)| provenance(&together, book).to_string());
        let recorded = recorded.to_vec();
        assert_eq!(before.get_or_insert(recorded.clone()), &recorded);
    }
}

#[test]
fn the_provenance_has_the_numbers_of_the_book() {
    let folder = Folder::new();
    let (here, text) = (&folder, games());
    here.put("games.pgn", &text);
    let also = "white.ctg: --result 1-0 --both-elo 2000 --only white --max-ply 12";
    let build = here.tabia(&format!(
        "build -o all.ctg games.pgn --also '{also}' --json"
    ));
    let objects: Vec<serde_json::Value> = serde_json::Deserializer::from_str(&build.printed())
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    for (object, book) in objects.iter().zip(["all.ctg", "white.ctg"]) {
        let recorded = provenance(here, book);
        assert_eq!(recorded["format"], "tabia-provenance");
        assert_eq!(recorded["tabia"], env!("CARGO_PKG_VERSION"));
        assert_eq!(
            json!([recorded["book"], object["book"]]),
            json!([book, book])
        );
        let length: usize = files(here.join(book)).iter().map(Vec::len).sum();
        assert_eq!(recorded["sources"].as_array().unwrap().len(), 1);
        assert_eq!(recorded["sources"][0]["path"], "games.pgn");
        assert_eq!(recorded["sources"][0]["bytes"], text.len() as u64);
        assert_eq!(recorded["bytes"], length as u64);
        for (name, value) in object.as_object().unwrap() {
            assert_eq!(&recorded[name], value, "{book}: {name}");
        }
        let sum: u64 = ["games", "filtered", "skipped", "duplicates"]
            .map(|name| recorded[name].as_u64().unwrap())
            .iter()
            .sum();
        assert_eq!(recorded["read"], sum);
    }
    assert_eq!(objects.len(), 2);
    let recorded = provenance(here, "white.ctg");
    assert_eq!(recorded["conditions"], "--both-elo 2000 --result 1-0");
    assert_eq!(
        json!([recorded["only"], recorded["max_ply"]]),
        json!(["white", 12])
    );
    assert_eq!(provenance(here, "all.ctg")["conditions"], "");

    // A single book has the file if requested, and it is not overwritten.
    here.done("build -o one.ctg games.pgn");
    assert!(!here.join("one.provenance.json").exists());
    here.put("two.provenance.json", "mine");
    let build = "build -o two.ctg games.pgn --provenance";
    here.tabia(build)
        .refused("two.provenance.json: already exists");
    assert!(!here.join("two.ctg").exists());
    here.done(&format!("{build} --force"));
    assert_eq!(provenance(here, "two.ctg")["book"], "two.ctg");
    assert_eq!(here.text("two.provenance.json.bak"), "mine");
}

#[test]
fn if_one_book_of_also_fails_no_book_is_written() {
    let folder = Folder::new();
    let here = &folder;
    here.put("games.pgn", games());
    here.put("there.ctg", "mine");
    for (also, wanted) in [
        ("b.ctg: --min-elo 2900", "b.ctg: no game is left"),
        (
            "b.ctg: --min-games 100000",
            "b.ctg: no position was reached",
        ),
        ("b.ctg: --memory 1G", "'--memory'"),
        ("b.ctg: --as green", "--as"),
        ("./A.ctg: --max-ply 3", "another book of this name"),
        (
            "b.txt: --max-ply 3",
            "ends with .ctg, .bin, .abk, .jsonl or .csv",
        ),
        ("b.abk: --min-elo 2900", "b.abk: no game is left"),
        ("a.abk: --max-ply 3", "another book of this name"),
        ("b.ctg: --line Ke5", "Ke5"),
        ("there.ctg: --max-ply 3", "there.ctg: already exists"),
        ("none/b.ctg: --max-ply 3", "none"),
    ] {
        let build = ["build", "-o", "a.ctg", "games.pgn", "--also", also];
        here.tabia(&build).refused(wanted);
        assert_eq!(here.names(), ["games.pgn", "there.ctg"], "{also}");
    }
}

/// `--as` without a player means the moves of that side.
#[test]
fn as_without_player_means_only() {
    let folder = Folder::new();
    folder.put("games.pgn", games());
    folder.done("build -o all.ctg games.pgn --also 'as.ctg: --min-elo 2000 --as white'");
    folder.done("build -o only.ctg --min-elo 2000 --only white games.pgn");
    let read = |book: &str| fs::read(folder.join(book)).unwrap();
    assert!(read("as.ctg") == read("only.ctg") && read("as.ctg") != read("all.ctg"));
    let recorded = provenance(&folder, "as.ctg");
    let recorded = json!([recorded["only"], recorded["conditions"]]);
    assert_eq!(recorded, json!(["white", "--min-elo 2000"]));
}

/// Each is the file that a build of its own makes, of all formats and conditions.
#[test]
fn also_takes_what_output_takes() {
    let folder = Folder::new();
    folder.put("games.pgn", games());
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let books = [
        ("a.abk", "--max-ply 9"),
        ("b.jsonl", "--min-games 2"),
        ("c.csv", "--line '1.e4'"),
        ("d.ctg", &format!("--fen '{fen}'")),
        ("e.bin", "--line 1.e4"),
    ];
    let also = books.map(|(book, options)| format!("--also \"{book}: {options}\""));
    folder.done(&format!("build -o all.abk games.pgn {}", also.join(" ")));
    for (book, options) in books.into_iter().chain([("all.abk", "")]) {
        folder.done(&format!("build -o one-{book} games.pgn {options}"));
        let read = |name: &str| fs::read(folder.join(name)).unwrap();
        assert!(read(book) == read(&format!("one-{book}")), "{book}");
        let name = book.split('.').next().unwrap();
        let text = folder.text(&format!("{name}.provenance.json"));
        let recorded: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(recorded["book"], book);
        if name != "d" {
            assert_eq!(recorded["bytes"], read(book).len() as u64);
        }
    }
    assert!(!folder.names().iter().any(|name| name.starts_with('.')));
}
