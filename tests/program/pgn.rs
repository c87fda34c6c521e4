//! PGN from real sources: all forms of moves that are in use, and the effects of mail,
//! old systems and damage on a text. The right game is read, or the unreadable part is
//! reported.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;

use crate::common::{Folder, TABIA, assert_has, gzip, project};
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Move, Position as _, Role, fen::Fen};

/// Two hundred games without notes, as PGN.
fn sample() -> String {
    let folder = Folder::new();
    let source = project("tests/data/sample.pgn");
    let source = source.display();
    folder.done(&format!(
        "games -f '{source}' --no-variations --no-comments -o out.pgn"
    ));
    folder.text("out.pgn")
}

/// The games that are read from a text, and the messages about it.
fn read(text: impl AsRef<[u8]>) -> (String, String) {
    let folder = Folder::new();
    folder.put("in.pgn", text);
    let messages = folder.done("games -f in.pgn -o out.pgn");
    (folder.text("out.pgn"), messages)
}

/// The text without the annotations of moves.
fn without_signs(text: &str) -> Vec<&str> {
    let words = text.split_whitespace();
    words.filter(|word| !word.starts_with('$')).collect()
}

/// The games of a text with each move as `form` writes it; it gets the move's number in
/// the text, the position, the move and its SAN.
fn rewritten(text: &str, form: impl Fn(usize, &Chess, Move, &str) -> String) -> String {
    let mut out = String::new();
    let (mut position, mut count) = (Chess::default(), 0);
    for line in text.lines() {
        if let Some(fen) = line.strip_prefix("[FEN \"") {
            let fen: Fen = fen.trim_end_matches("\"]").parse().unwrap();
            position = fen.into_position(CastlingMode::Standard).unwrap();
        } else if line.starts_with("[Event ") {
            position = Chess::default();
        }
        if line.starts_with('[') {
            out += line;
        } else {
            let words = line.split(' ').map(|word| {
                let Ok(san) = word.trim_end_matches(['+', '#']).parse::<San>() else {
                    return word.to_owned();
                };
                let m = san.to_move(&position).unwrap();
                let written = form(count, &position, m, word);
                position.play_unchecked(m);
                count += 1;
                written
            });
            out += &words.collect::<Vec<_>>().join(" ");
        }
        out.push('\n');
    }
    out
}

/// SAN with other letters for K, Q, R, B and N.
fn letters(san: &str, letters: [&str; 5]) -> String {
    let letter = |c: char| match "KQRBN".find(c) {
        Some(at) => letters[at].to_owned(),
        None => c.to_string(),
    };
    san.chars().map(letter).collect()
}

/// Long algebraic notation: `Ng1-f3`, `e7xd8=Q`.
fn long(m: Move, dash: &str, promotion: [&str; 2]) -> String {
    if let Move::Castle { king, rook } = m {
        return if king < rook { "O-O" } else { "O-O-O" }.to_owned();
    }
    let piece = match m.role() {
        Role::Pawn => String::new(),
        role => role.upper_char().to_string(),
    };
    let dash = if m.is_capture() { "x" } else { dash };
    let [before, after] = promotion;
    let promoted = m
        .promotion()
        .map(|role| format!("{before}{}{after}", role.upper_char()));
    let (from, to) = (m.from().unwrap(), m.to());
    format!("{piece}{from}{dash}{to}{}", promoted.unwrap_or_default())
}

#[test]
fn moves_are_read_in_every_form() {
    // Promotions are rare.
    let promotions = "[Event \"Promotions\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n\
        [Round \"?\"]\n[White \"?\"]\n[Black \"?\"]\n[Result \"*\"]\n\
        [FEN \"1n2k3/P7/8/8/8/8/6p1/4K2R w K - 0 1\"]\n[SetUp \"1\"]\n\n\
        1. axb8=Q+ Kf7 2. Qb7+ Kf6 3. Kf2 gxh1=N+ *\n\n";
    let text = sample() + promotions;
    assert_eq!(text.matches("[Event ").count(), 201);
    let same = |name: &str, other: String| {
        assert!(text != other, "{name}");
        let (games, messages) = read(&other);
        let (wanted, found) = (without_signs(&text), without_signs(&games));
        let differ = wanted.iter().zip(&found).position(|(a, b)| a != b);
        let around = differ.map(|at| (&wanted[at.saturating_sub(5)..at + 1], found[at]));
        assert_eq!(around, None, "{name}: {messages}");
        assert_eq!(wanted.len(), found.len(), "{name}: {messages}");
        games
    };
    for [before, after] in [["", ""], ["=", ""], ["=(", ")"], ["(", ")"], ["/", ""]] {
        for dash in ["-", "", "–"] {
            let form = |_, _: &Chess, m: Move, _: &str| long(m, dash, [before, after]);
            same(&format!("{dash}{before}"), rewritten(&text, form));
        }
    }
    let coordinates = |_, _: &Chess, m: Move, _: &str| m.to_uci(CastlingMode::Standard).to_string();
    same("coordinates", rewritten(&text, coordinates));
    let zeros = |_, _: &Chess, _: Move, san: &str| san.replace('O', "0");
    same("zeros", rewritten(&text, zeros));
    for (name, pieces) in [
        ("German", ["K", "D", "T", "L", "S"]),
        ("French", ["R", "D", "T", "F", "C"]),
        ("Spanish, Italian", ["R", "D", "T", "A", "C"]),
        ("Portuguese", ["R", "D", "T", "B", "C"]),
        ("Russian", ["Кр", "Ф", "Л", "С", "К"]),
        ("Dutch", ["K", "D", "T", "L", "P"]),
        ("Polish", ["K", "H", "W", "G", "S"]),
        ("Czech", ["K", "D", "V", "S", "J"]),
        ("Hungarian", ["K", "V", "B", "F", "H"]),
        ("figurines", ["♔", "♕", "♖", "♗", "♘"]),
        ("black figurines", ["♚", "♛", "♜", "♝", "♞"]),
    ] {
        let form = |_, _: &Chess, _: Move, san: &str| letters(san, pieces);
        same(name, rewritten(&text, form));
    }
    let signs = [
        "+-", "-+", "!?", "±", "=", "+=", "+/-", "-/+", "!", "∞", "??", "⩲", "!+-",
    ];
    let form = |count: usize, _: &Chess, _: Move, san: &str| {
        format!("{san}{}", signs[count % signs.len()])
    };
    let games = same("signs", rewritten(&text, form));
    // In order, one move each; the last has two.
    let found = games
        .split_whitespace()
        .filter(|word| word.starts_with('$'));
    assert_eq!(
        found.take(14).collect::<Vec<_>>(),
        [
            "$18", "$19", "$5", "$16", "$10", "$14", "$16", "$17", "$1", "$13", "$4", "$14", "$1",
            "$18"
        ]
    );
    // Russian in the encoding of a Windows program.
    let form = |_, _: &Chess, _: Move, san: &str| {
        letters(san, ["\u{1}\u{2}", "\u{3}", "\u{4}", "\u{5}", "\u{1}"])
    };
    let text_1251 = rewritten(promotions, form).into_bytes();
    let byte = |byte: u8| {
        *[0xca, 0xf0, 0xd4, 0xcb, 0xd1]
            .get(usize::from(byte) - 1)
            .unwrap_or(&byte)
    };
    let text_1251: Vec<u8> = text_1251.into_iter().map(byte).collect();
    assert_eq!(read(text_1251).0, promotions);
}

/// `games` keeps the moves before the error, `build` skips the game.
#[test]
fn an_invalid_move_ends_the_game_and_is_reported() {
    let folder = Folder::new();
    let games = "[Event \"1\"]\n\n1. e4 e5 2. Nf3\nXc6 3. Bb5 *\n\n\
        [Event \"2\"]\n\n1. e4 e5 2. Sf3 Cc6 3. Lb5 *\n\n\
        [Event \"3\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0 White wins\n";
    folder.put("in.pgn", games);
    let word = "move 2... on line 4 is not understood: Xc6";
    let other = "move 2. on line 8 is not understood: Sf3";
    let ran = folder.tabia("games in.pgn -o out.pgn --strict");
    ran.negative();
    let messages = folder.done("games -f in.pgn -o out.pgn");
    assert_has(
        &messages,
        &format!("in.pgn: line 1: game cut short: {word}"),
    );
    assert_has(
        &messages,
        &format!("in.pgn: line 6: game cut short: {other}"),
    );
    let text = folder.text("out.pgn");
    assert_has(&text, "\n1. e4 e5 2. Nf3 *\n");
    assert_has(&text, "\n1. e4 e5 2. Nf3 Nc6 1-0\n");
    assert!(!text.contains("Bb5"));
    let messages = folder.done("build in.pgn -o out.ctg");
    assert_has(&messages, &format!("in.pgn: line 1: game skipped: {word}"));
    folder
        .tabia("build in.pgn -o other.ctg --strict")
        .negative();
    // Other text is not a game.
    let (text, messages) = read("Dear all,\nhere they are.\n\n1. e4 e5 *\n\nBye\n");
    assert_eq!(text.matches("1. e4 e5 *").count(), 1);
    assert_has(&messages, "1 game read, 1 written, 0 skipped");
}

/// What is doubtful about a game is reported, and `--strict` fails, for books too.
#[test]
fn endless_comments_and_contradicting_results_are_not_silent() {
    let next = "[Event \"2\"]\n[Result \"1-0\"]\n\n1. d4 d5 1-0\n";
    for (game, message) in [
        (
            "[Result \"1-0\"]\n\n1. e4 e5 (1... c5 {half) 2. Nf3 1-0\n\n",
            "x.pgn: line 1: game cut short: the comment that begins on line 3 has no end",
        ),
        (
            "[Result \"0-1\"]\n\n1. e4 e5 1-0\n\n",
            "x.pgn: line 1: the result after the moves contradicts the tag Result, which counts",
        ),
    ] {
        let folder = Folder::new();
        folder.put("x.pgn", format!("{game}{next}"));
        for command in [
            "build -f x.pgn -o x.ctg",
            "build -f x.pgn -o x.bin --max-ply 1",
            "index -f x.pgn -o x.tgx",
            "games -f x.pgn -o out.pgn",
        ] {
            assert_has(&folder.done(command), message);
            folder.tabia(&format!("{command} --strict")).negative();
        }
        assert_eq!(folder.text("out.pgn").matches("[Event ").count(), 2);
    }
}

/// Line changes by systems and mail do not change a game.
#[test]
fn lines_may_end_and_begin_as_they_like() {
    let text = sample();
    for other in [
        text.replace('\n', "\r"),
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r\r\n"),
        text.lines().map(|line| format!("> {line}\n")).collect(),
        text.lines().map(|line| format!(">> {line}\r\n")).collect(),
        text.replace("\n1. ", "\n\n{}\n\n1. "),
        text.replace(" 7. ", "\n\n7. "),
        text.replace("\"]\n[Round", "\"] \u{201d}\n[Round"),
        text.replace("\"]\n[Round", "\"] note\n[Round"),
        text.replace("[White \"", "[White\n\""),
        format!("\u{feff}{}", text.replace(". ", ".\u{a0}")),
    ] {
        let games = read(&other).0;
        assert_eq!(
            without_signs(&games),
            without_signs(&text),
            "{}",
            &other[..200]
        );
    }
    let commented = text.replace("\"]\n[Result", "\"] {note}\n[Result");
    let games = read(commented).0;
    assert_eq!(games.matches("{note}").count(), 200);
    assert_eq!(
        games
            .replace("{note} ", "")
            .replace("{note}", "")
            .split_whitespace()
            .count(),
        text.split_whitespace().count()
    );
}

#[test]
fn tags_with_errors_still_begin_one_game() {
    let broken = "[Event \"1\"]\n[White \"A \"the\" B\"]\n[Black Anand, V] ; note\n\
        [Site \"two\nlines\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n";
    let (text, messages) = read(broken);
    assert_has(&messages, "1 game read, 1 written");
    for tag in [
        "[White \"A \\\"the\\\" B\"]",
        "[Black \"Anand, V\"]",
        "[Site \"two lines\"]",
        "[Result \"1-0\"]",
    ] {
        assert_has(&text, tag);
    }
    let many: String = (0..2000).map(|n| format!("[T{n} \"{n}\"]\n")).collect();
    let (text, _) = read(format!("{many}[T7 \"again\"]\n\n1. e4 *\n"));
    assert_has(&text, "[T7 \"again\"]");
    assert_has(&text, "[T1999 \"1999\"]");
    assert_eq!(text.matches("[T").count(), 2000);
}

#[test]
fn variations_that_are_too_deep_are_reported() {
    let deep = format!("1. e4 {}{} e5 *\n", "(1. d4 ".repeat(600), ")".repeat(600));
    let (text, messages) = read(deep);
    assert_has(
        &messages,
        "game cut short: variations more than 500 deep are left out",
    );
    assert_has(&text.replace('\n', " "), ") 1... e5 *");
}

#[test]
fn games_before_the_end_of_a_truncated_stream_are_read() {
    let folder = Folder::new();
    let packed = gzip(&sample());
    folder.put("cut.pgn.gz", &packed[..packed.len() / 2]);
    let messages = folder.done("games -f cut.pgn.gz -o out.pgn");
    assert_has(
        &messages,
        "cut.pgn.gz: it is cut off or damaged after line ",
    );
    let games = folder.text("out.pgn").matches("[Event ").count();
    assert!((50..150).contains(&games), "{games}");
    folder
        .tabia("games -f cut.pgn.gz -o out.pgn --strict")
        .negative();
    folder.put("cut.pgn.gz", &packed[..5]);
    folder
        .tabia("games -f cut.pgn.gz -o out.pgn")
        .refused("cut.pgn.gz");

    folder.put("more.pgn.gz", [&packed[..], b"rubbish"].concat());
    let messages = folder.done("games -f more.pgn.gz -o out.pgn --strict");
    assert_has(
        &messages,
        "more.pgn.gz: other data after its compressed data is ignored",
    );
    assert_eq!(folder.text("out.pgn"), sample());
}

fn seven_zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let bytes = std::io::Cursor::new(Vec::new());
    let mut writer = sevenz_rust2::ArchiveWriter::new(bytes).unwrap();
    let entries = files
        .iter()
        .map(|(name, _)| sevenz_rust2::ArchiveEntry::new_file(name));
    let readers = files
        .iter()
        .map(|(_, bytes)| sevenz_rust2::SourceReader::new(*bytes));
    // All in one block.
    writer
        .push_archive_entries(entries.collect(), readers.collect())
        .unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_7z_archive_is_read_as_a_zip_is() {
    let folder = Folder::new();
    let text = sample();
    let [first, second] = [&text[..text.len() / 2], &text[text.len() / 2..]];
    let at = second.find("[Event ").unwrap();
    let (rest, second) = second.split_at(at);
    let first = format!("{first}{rest}");
    let part = |name: &str| fs::read(project(format!("tests/data/scid/five.{name}"))).unwrap();
    let [si4, sn4, sg4] = ["si4", "sn4", "sg4"].map(part);
    folder.put(
        "x.7z",
        seven_zip(&[
            ("read.me", b"no games"),
            ("a/one.pgn", first.as_bytes()),
            ("two.pgn", second.as_bytes()),
            ("five.sn4", &sn4),
            ("five.si4", &si4),
            ("five.sg4", &sg4),
        ]),
    );
    folder.done("games -f x.7z -o out.pgn");
    let five = project("tests/data/scid/five.si4");
    folder.done(&format!("games -f '{}' -o five.pgn", five.display()));
    assert!(folder.text("out.pgn") == text.clone() + &folder.text("five.pgn"));
    folder.done("games x.7z -o out/");
    assert_eq!(folder.text("out/a/one.pgn"), first);
    assert_eq!(folder.text("out/two.pgn"), second);

    let whole = fs::read(folder.join("x.7z")).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0xff;
    folder.put("bad.7z", damaged);
    let ran = folder.tabia("games -f bad.7z -o out.pgn --strict");
    ran.negative();
    folder.put("short.7z", &whole[..whole.len() / 2]);
    folder
        .tabia("games -f short.7z -o out.pgn")
        .refused("not a readable .7z file");
}

#[test]
fn a_second_file_of_one_name_in_a_zip_is_reported() {
    let folder = Folder::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [("a.pgn", "1. e4 *\n"), ("b.pgn", "1. d4 *\n")] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let mut bytes = zip.finish().unwrap().into_inner();
    while let Some(at) = bytes.windows(5).position(|name| name == b"b.pgn") {
        bytes[at] = b'a';
    }
    folder.put("x.zip", bytes);
    let messages = folder.done("games -f x.zip -o out.pgn");
    assert_has(
        &messages,
        "x.zip: a file in it has the same name as another; only the last one is read",
    );
    folder
        .tabia("games -f x.zip -o out.pgn --strict")
        .negative();
}

/// Limits a file to 100 kB, which simulates a full disk.
#[cfg(unix)]
#[test]
fn files_left_after_a_full_disk_are_reported() {
    let folder = Folder::new();
    let large = sample().repeat(3);
    folder.put(
        "x.7z",
        seven_zip(&[("a.pgn", b"1. e4 *\n"), ("b.pgn", large.as_bytes())]),
    );
    let script = format!("trap '' XFSZ; ulimit -f 200; exec '{TABIA}' games x.7z -o out/");
    let mut shell = std::process::Command::new("sh");
    let done = shell
        .args(["-c", &script])
        .current_dir(&*folder)
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    let messages = String::from_utf8(done.stderr).unwrap();
    assert_has(&messages, "b.pgn: cannot be written: ");
    assert_has(
        &messages,
        "; 1 files that were unpacked before it are in out/",
    );
    assert_eq!(messages.matches("File too large").count(), 1, "{messages}");
    assert!(folder.join("out/a.pgn").exists() && !folder.join("out/b.pgn").exists());
}

#[test]
fn games_as_json_are_refused_with_a_hint() {
    let folder = Folder::new();
    folder.put(
        "x.ndjson",
        "{\"id\":\"abc\",\"players\":{},\"moves\":\"e4 e5\"}\n",
    );
    folder
        .tabia("games x.ndjson -o out.pgn")
        .refused("ask lichess for PGN");
}
