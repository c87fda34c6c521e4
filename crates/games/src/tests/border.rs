//! What other programs write into PGN and into archives, and no standard knows.

use std::io::{Read as _, Write as _};

use shakmaty::san::SanPlus;

use super::{Folder, assert_has, convert, run};
use crate::{ExportJob, ExportTarget, Game, GameFilter, GameParts, Item, Month};

/// The games of a text with everything, and the messages.
fn read(text: impl AsRef<[u8]>) -> (Vec<Game>, Vec<String>) {
    let folder = Folder::new();
    let path = folder.put("x.pgn", text);
    let mut source = crate::open(&path).unwrap();
    let (mut games, mut messages) = (Vec::new(), Vec::new());
    while let Some(mut batch) = source.next_batch().unwrap() {
        loop {
            let mut game = Game::default();
            match batch.next_game(GameParts::EVERYTHING, &mut game) {
                Ok(false) => break,
                Ok(true) => {
                    messages.extend(game.cut.as_ref().map(ToString::to_string));
                    games.push(game);
                }
                Err(reason) => messages.push(reason.to_string()),
            }
        }
    }
    let prefix = format!("{}: ", path.display());
    let remarks = source.remarks().into_iter();
    messages.extend(remarks.map(|remark| remark.replace(&prefix, "")));
    (games, messages)
}

/// The movetext of a game: moves as SAN, null moves as `--`, NAGs and variations.
fn shown(game: &Game) -> String {
    let mut now = game.positions[0].clone();
    let (mut before, mut outside) = (now.clone(), Vec::new());
    let mut words = Vec::new();
    for item in &game.movetext {
        match item {
            Item::Move(m) => {
                before = now.clone();
                words.push(SanPlus::from_move_and_play_unchecked(&mut now, *m).to_string());
            }
            Item::Null => {
                before = now.clone();
                now = tabia_notation::pass(&now).unwrap();
                words.push("--".to_owned());
            }
            Item::Nag(nag) => words.push(format!("${nag}")),
            Item::Comment(text) => words.push(format!("{{{text}}}")),
            Item::Begin => {
                outside.push((now.clone(), before.clone()));
                now = before.clone();
                words.push("(".to_owned());
            }
            Item::End => {
                (now, before) = outside.pop().unwrap();
                words.push(")".to_owned());
            }
        }
    }
    words.join(" ")
}

/// One game without a message has this movetext.
#[track_caller]
fn means(text: &str, wanted: &str) {
    let (games, messages) = read(text);
    let found: Vec<String> = games.iter().map(shown).collect();
    assert_eq!(found, [wanted], "{text}");
    assert!(messages.is_empty(), "{text}: {messages:?}");
}

/// As [`means`], with one message that has this part.
#[track_caller]
fn means_with(text: &str, wanted: &str, message: &str) {
    let (games, messages) = read(text);
    let found: Vec<String> = games.iter().map(shown).collect();
    assert_eq!(found, [wanted], "{text}");
    assert_eq!(messages.len(), 1, "{text}: {messages:?}");
    assert_has(&messages[0], message);
}

const SPANISH: &str = "e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Be7";

#[test]
fn castling_and_null_moves_of_many_programs() {
    for form in [
        "O-O",
        "00",
        "OO",
        "oo",
        "O0",
        "0-0",
        "o-o",
        "00!?",
        "0\u{2013}0",
        "OO+",
    ] {
        let text = format!("1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. {form} Be7 *\n");
        let sign = if form.contains('!') { "O-O $5" } else { "O-O" };
        means(&text, &SPANISH.replace("O-O", sign));
    }
    let long = "1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. ";
    for form in ["000 000", "OOO OOO", "ooo\nooo", "000 5...000", "0-0-0 O0O"] {
        let wanted = "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O O-O-O";
        means(&format!("{long}{form} *\n"), wanted);
    }
    for null in [
        "--",
        "---",
        "----",
        "—",
        "–",
        "\u{2212}\u{2212}",
        "Z0",
        "0000",
        "--+",
        "Z0#",
    ] {
        let text = format!("1. e4 c5 2. Nf3 d6 (2... {null} 3. Bb5 a6) 3. d4 *\n");
        means(&text, "e4 c5 Nf3 d6 ( -- Bb5 a6 ) d4");
    }
    // A slash may be anything.
    means_with("1. e4 / c5 2. Nf3 *\n", "e4", "is not understood: /");
    means_with("1. e4 e5 2. 000 *\n", "e4 e5", "impossible: 000");
}

#[test]
fn correspondence_games_in_numbers() {
    let text = "1. 5254 5755 2. 7163 2836 3. 6125 7866 4. 5171 6857 *\n";
    means(text, SPANISH);
    means(&text.replace(". ", "."), SPANISH);
    let each = "1. 5254 1... 5755! 2.7163 2836 3 6125 7866 4. 5171 6857 *\n";
    means(each, &SPANISH.replace("e5", "e5 $1"));
    let promotion = "[FEN \"4k3/1P6/8/8/8/8/8/4K3 w - - 0 30\"]\n\n30. 27284 5857 *\n";
    means(promotion, "b8=N Ke7");
    means(&promotion.replace("27284", "27281"), "b8=Q+ Ke7");
    means_with("1. 5254 5754 *\n", "e4", "impossible: 5754");
}

#[test]
fn a_number_where_a_move_stands_is_no_move_number() {
    means("1 e4 e5 2 Nf3 Nc6 *\n", "e4 e5 Nf3 Nc6");
    means("1.e4 e5 {good} 2\nNf3 2... Nc6 *\n", "e4 e5 {good} Nf3 Nc6");
    means_with("1. e4 e5 2. 15 Nf3 *\n", "e4 e5", "not understood: 15");
    means_with("1 e4 e5 2 15 Nf3 *\n", "e4 e5", "not understood: 15");
    let other = "1. e4 e5 7 Nf3 Nc6 *\n";
    means_with(
        other,
        "e4 e5 Nf3 Nc6",
        "line 1: a number between moves is not that",
    );
}

#[test]
fn small_piece_letters_and_signs_of_unicode() {
    let small = "1. e4 e5 2. nf3 nc6 3. bb5 a6 4. bxc6 dxc6 5. o-o qd6 6. re1 *\n";
    means(small, "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O Qd6 Re1");
    let pawn = "1. b4 a5 2. bxa5 nc6 3. bb2 *\n";
    means(pawn, "b4 a5 bxa5 Nc6 Bb2");
    let signs = "1. e4‼ e5 ⁇ 2. Nf3⁉ Nc6 ⁈ 3. Bb5 +− a6 −+ 4. Ba4→ Nf6 ⊕ 5. O-ON (!?) Be7 *\n";
    means(
        signs,
        "e4 $3 e5 $4 Nf3 $5 Nc6 $6 Bb5 $18 a6 $19 Ba4 $40 Nf6 $138 O-O $146 $5 Be7",
    );
    means("1. e4 e5 (N) 2. Nf3 (‼) Nc6 *\n", "e4 e5 $146 Nf3 $3 Nc6");
    let unknown = "1. e4 ∀ e5← 2. Nf3 *\n";
    means_with(
        unknown,
        "e4 e5 Nf3",
        "line 1: a sign that PGN has no number for is left out",
    );
    for space in [
        "\u{a0}", "\u{202f}", "\u{3000}", "\u{2003}", "\u{2028}", "\u{200e}", "\u{ad}",
    ] {
        means(
            &format!("1.{space}e4{space}e5{space}2. Nf3{space}*\n"),
            "e4 e5 Nf3",
        );
    }
    let (games, _) = read(b"1.\xa0e4\xa0e5 2.\xa0Nf3 0\x961\n");
    assert_eq!(
        (shown(&games[0]).as_str(), games[0].result.to_pgn()),
        ("e4 e5 Nf3", "0-1")
    );
}

/// The tags of a game and its movetext.
#[track_caller]
fn tags_are(text: &str, wanted: &[(&str, &str)], movetext: &str) {
    let (games, messages) = read(text);
    assert_eq!(games.len(), 1, "{text}: {messages:?}");
    let game = &games[0];
    for (name, value) in wanted {
        let found = match *name {
            "White" => Some(game.names.white.as_str()),
            "Black" => Some(game.names.black.as_str()),
            "Result" => Some(game.result.to_pgn()),
            name => game.tags.get(name),
        };
        assert_eq!(found, Some(*value), "{name} in {text}");
    }
    assert_eq!(shown(game), movetext, "{text}");
    assert!(messages.is_empty(), "{text}: {messages:?}");
}

#[test]
fn tags_have_blanks_and_marks_of_all_kinds() {
    let plain = "[Event \"Open\"]\n[White \"Smith, A\"]\n[Black \"Jones, B\"]\n[Result \"1-0\"]\n\
        [FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 Kd7 1-0\n";
    let wanted = [
        ("Event", "Open"),
        ("White", "Smith, A"),
        ("Black", "Jones, B"),
        ("Result", "1-0"),
    ];
    tags_are(plain, &wanted, "e4 Kd7");
    for blank in ["\u{a0}", "\u{202f}", "\u{3000}", "\t", "  ", "\n", "\n\n "] {
        let text = plain.replace(" \"", &format!("{blank}\""));
        tags_are(&text, &wanted, "e4 Kd7");
        let text = plain.replace("\"]", &format!("\"{blank}]"));
        tags_are(&text, &wanted, "e4 Kd7");
        let text = plain
            .replace("[E", &format!("[{blank}E"))
            .replace("[W", &format!("[{blank}W"));
        tags_are(&text, &wanted, "e4 Kd7");
    }
    tags_are(&plain.replace(' ', "\u{a0}"), &wanted, "e4 Kd7");
    tags_are(&plain.replace("]\n[", "]["), &wanted, "e4 Kd7");
    for [open, close] in [
        ["“", "”"],
        ["„", "“"],
        ["«", "»"],
        ["”", "”"],
        ["‘", "’"],
        ["＂", "＂"],
        ["'", "'"],
    ] {
        let mut text = plain
            .replace("\"]", &format!("{close}]"))
            .replace('"', open);
        tags_are(&text, &wanted, "e4 Kd7");
        text = text.replace("]\n[", "] [");
        tags_are(&text, &wanted, "e4 Kd7");
        let mixed = plain.replace("\"]", &format!("{close}]"));
        tags_are(&mixed, &wanted, "e4 Kd7");
    }
    let tags = "[White “O’Neill, “Tip””]\n[Black 't Hart, B]\n[Event “a \"b\" c”]\n\n1. e4 *\n";
    let odd = [
        ("White", "O’Neill, “Tip”"),
        ("Black", "'t Hart, B"),
        ("Event", "a \"b\" c"),
    ];
    tags_are(tags, &odd, "e4");
    let windows = b"[White \x93Smith, A\x94]\n\n1. e4 *\n";
    assert_eq!(read(windows).0[0].names.white, "Smith, A");
}

#[test]
fn games_end_where_they_end() {
    let two = "[Event \"1\"]\n\n1. e4 e5 {end}[Event \"2\"]\n\n1. d4 d5 *\n";
    let (games, messages) = read(two);
    assert_eq!(
        games.iter().map(shown).collect::<Vec<_>>(),
        ["e4 e5 {end}", "d4 d5"]
    );
    assert!(messages.is_empty(), "{messages:?}");
    let last = "[Event \"1\"]\n\n1. e4 *\n\n{the end\nof all}\n";
    means_with(
        last,
        "e4",
        "line 5: a comment belongs to no game and is left out",
    );
    means(
        "{a comment\nfirst}\n[Event \"1\"]\n\n1. e4 *\n",
        "{a comment\nfirst} e4",
    );
}

#[test]
fn what_set_up_says_is_heard() {
    means("[SetUp \"0\"]\n[FEN \"\"]\n\n1. e4 *\n", "e4");
    means("[FEN \"?\"]\n\n1. e4 *\n", "e4");
    let fen = "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n";
    let contradictory = "the tags contradict each other: SetUp \"0\"";
    for (text, wanted) in [
        (format!("[SetUp \"0\"]\n{fen}\n1. d4 d5 *\n"), "d4 d5"),
        (format!("[SetUp \"0\"]\n{fen}\n1. e4 Kd7 *\n"), "e4 Kd7"),
        (
            "[SetUp \"0\"]\n[FEN \"x\"]\n\n1. d4 d5 *\n".to_owned(),
            "d4 d5",
        ),
    ] {
        means_with(&text, wanted, contradictory);
    }
    let (games, messages) = read("[SetUp \"1\"]\n[FEN \"x\"]\n\n1. d4 d5 *\n");
    assert!(games.is_empty());
    assert_has(&messages[0], "not a FEN");
}

#[test]
fn variants_have_many_names() {
    let chess960 = "[FEN \"bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1\"]\n";
    for name in [
        "chess-960",
        "Chess 960",
        "FRC",
        "frc",
        "Fischer Random Chess",
        "wild/fr",
        "Freestyle",
    ] {
        let text =
            format!("[Variant \"{name}\"]\n{chess960}\n1. b3 c5 2. Nf3 d5 3. d4 b6 4. O-O *\n");
        let (games, messages) = read(&text);
        assert!(messages.is_empty(), "{name}: {messages:?}");
        assert_eq!(
            (games[0].chess960, games[0].moves.len()),
            (true, 7),
            "{name}"
        );
    }
    for name in [
        "Classical",
        "regular",
        "Standard Chess",
        "fromPosition",
        "Orthodox",
        "wild/2",
        "normal",
    ] {
        let (games, messages) = read(format!("[Variant \"{name}\"]\n\n1. e4 e5 *\n"));
        assert!(messages.is_empty(), "{name}: {messages:?}");
        assert_eq!(
            (games[0].chess960, games[0].moves.len()),
            (false, 2),
            "{name}"
        );
    }
    let upside_down = "[Variant \"wild/5\"]\n\
        [FEN \"RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1\"]\n\n1. Nc6 *\n";
    means(upside_down, "Nc6");
    for name in ["Crazyhouse", "wild/9", "Atomic", "Three-check"] {
        let (games, messages) = read(format!("[Variant \"{name}\"]\n\n1. e4 e5 *\n"));
        assert!(games.is_empty());
        assert_has(&messages[0], &format!("its variant is {name}"));
    }
}

/// Dates that are ambiguous or not understood are counted.
#[test]
fn dates_are_met_in_every_form() {
    let text: String = [
        "14.03.1998",
        "1998.3.14",
        "19980314",
        "Mar 14, 1998",
        "14 March 1998",
        "03/14/1998",
        "1998-03-14",
        "03/04/1998",
        "once upon 3 times",
    ]
    .map(|date| format!("[Event \"x\"]\n[Date \"{date}\"]\n\n1. e4 *\n\n"))
    .concat();
    let folder = Folder::new();
    let path = folder.put("x.pgn", text);
    let written = |since, until| {
        let mut job = ExportJob::new([&path], ExportTarget::Output);
        job.filter = GameFilter {
            since: Some(since),
            until: Some(until),
            ..GameFilter::default()
        };
        let (text, messages) = run(&job);
        (text.matches("[Event ").count(), messages)
    };
    let year = written(Month::new(1998, 1), Month::new(1998, 12));
    assert_eq!(year.0, 8);
    assert_has(
        &year.1,
        "line 36: the month and the day of a date may be exchanged",
    );
    assert_has(&year.1, "line 41: a date is not understood");
    assert_eq!(written(Month::new(1998, 3), Month::new(1998, 3)).0, 7);
}

#[test]
fn kings_in_the_centre_end_a_game_of_dgt() {
    let message = "a king is put in the centre after the last move";
    let head = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 ";
    for end in [
        "3. Ke4 1-0",
        "3. Kd5 Ke4 1-0",
        "3. Ke5 {white won} 1-0",
        "3. Kxe5+ 1-0",
        "3. Ke4\n\n",
    ] {
        let text = format!("{head}{end}\n");
        let (games, messages) = read(&text);
        assert_eq!(games[0].moves.len(), 4, "{text}");
        assert!(
            games[0].cut.is_none() && messages.len() == 1,
            "{messages:?}"
        );
        assert_has(&messages[0], message);
        // For a book, too.
        let mut source = crate::open(&Folder::new().put("x.pgn", &text)).unwrap();
        let mut batch = source.next_batch().unwrap().unwrap();
        let mut game = Game::default();
        assert_eq!(batch.next_game(GameParts::default(), &mut game), Ok(true));
        assert_eq!((game.moves.len(), game.result.to_pgn()), (4, "1-0"));
    }
    for other in [
        "3. Kd4 d5 1-0",
        "3. Ke3 1-0",
        "3. Qd5 1-0",
        "3. Bb5 Ke4 4. O-O 1-0",
    ] {
        let (games, messages) = read(format!("{head}{other}\n"));
        assert!(games[0].cut.is_some(), "{other}");
        assert_has(&messages[0], "is impossible");
    }
}

#[test]
fn old_encodings_are_read_as_the_user_names_them() {
    let text = "[White \"Таль, М\"]\n[Black \"Ботвинник, М\"]\n\n1. e4 {Хорошо} e5 2. Кf3 *\n";
    let encoded = |name: &str| -> Vec<u8> {
        match name {
            "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            "marked" => format!("\u{feff}{text}")
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect(),
            name => {
                let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
                encoding.encode(text).0.into_owned()
            }
        }
    };
    let folder = Folder::new();
    let wanted = convert(&folder.put("utf8.pgn", text));
    assert_has(&wanted.0, "{Хорошо}");
    assert!(!wanted.1.contains("--encoding"), "{}", wanted.1);
    for name in ["windows-1251", "koi8-r", "ibm866", "utf-8"] {
        let path = folder.put("x.pgn", encoded(name));
        let mut job = ExportJob::new([&path], ExportTarget::Output);
        if name != "utf-8" {
            let (_, messages) = run(&job);
            assert_has(
                &messages,
                "line 1: names are not UTF-8 and are read as Windows-1252",
            );
        }
        job.encoding = Some(name.parse().unwrap());
        assert_eq!(run(&job), wanted, "{name}");
    }
    // `ход` in code page 866 is the UTF-8 of another letter.
    let text = "[White \"Корчной\"]\n[Black \"Таль\"]\n\n1. e4 {ход} *\n";
    let in_866 = encoding_rs::IBM866.encode(text).0;
    let mut job = ExportJob::new([&folder.put("y.pgn", &in_866)], ExportTarget::Output);
    job.encoding = Some("cp866".parse().unwrap());
    assert_has(&run(&job).0, "{ход}");
    // Without being asked.
    for name in ["utf-16le", "utf-16be", "marked"] {
        assert_eq!(
            convert(&folder.put("x.pgn", encoded(name))),
            wanted,
            "{name}"
        );
    }
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn suites_in_archives_are_texts() {
    let folder = Folder::new();
    let text = |files: &[(&str, &[u8])]| {
        let path = folder.put("x.epd.zip", zipped(files));
        let mut text = String::new();
        let mut found = crate::unpacked(&path).unwrap();
        found.plain.read_to_string(&mut text).unwrap();
        text
    };
    assert_eq!(text(&[("a.epd", b"one\n")]), "one\n");
    assert_eq!(
        text(&[
            ("README.txt", b"no\n"),
            ("a.epd", b"one"),
            ("b.EPD", b"two\n")
        ]),
        "one\ntwo\n"
    );
    assert_eq!(text(&[("x", b"[Event \"x\"]\n")]), "[Event \"x\"]\n");
    assert_eq!(text(&[]), "");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(b"three\n").unwrap();
    assert_eq!(text(&[("c.epd.gz", &gz.finish().unwrap())]), "three\n");
}

/// One dash is a null move where the text shows it, else it stands between two moves, as old
/// texts have it.
#[test]
fn one_dash_is_what_the_moves_around_it_show() {
    for dash in ["-", "–", "—", "−"] {
        for (moves, wanted, is_said) in [
            ("1. e4 e5 2. Nf3 d6 — 1-0", "e4 e5 Nf3 d6", true),
            ("1. d4 — Nf6 2. c4 — e6", "d4 Nf6 c4 e6", true),
            ("1. e4 e5 — 2. Nf3 Nc6", "e4 e5 Nf3 Nc6", true),
            ("1. e4 — e5 2. Nf3 — Nc6", "e4 e5 Nf3 Nc6", true),
            ("1. — e4 e5", "e4 e5", true),
            (
                "1. e4 e5 2. Nf3 Nc6 — (2... d6) 3. Bb5",
                "e4 e5 Nf3 Nc6 ( d6 ) Bb5",
                true,
            ),
            (
                "1. e4 e5 2. Nf3 Nc6 — {c} 3. Bb5",
                "e4 e5 Nf3 Nc6 {c} Bb5",
                true,
            ),
            ("1. e4 — 2. d4 d5", "e4 -- d4 d5", false),
            ("1. e4 e5 2. — Nc6 3. d4", "e4 e5 -- Nc6 d4", false),
            (
                "1. e4 e5 2. Nf3 (2. — Nc6) Nc6",
                "e4 e5 Nf3 ( -- Nc6 ) Nc6",
                false,
            ),
            ("1. e4 e5 (1... —) 2. Nf3", "e4 e5 ( -- ) Nf3", false),
        ] {
            let (games, messages) = read(moves.replace('—', dash));
            assert_eq!(shown(&games[0]), wanted, "{moves} {dash}");
            let said = messages
                .iter()
                .any(|text| text.contains("a dash stands between"));
            assert_eq!(
                (said, messages.len()),
                (is_said, usize::from(is_said)),
                "{messages:?}"
            );
        }
        let (games, messages) = read(format!("1. e4 e5 {dash}+ 2. Nf3"));
        assert_eq!((&*shown(&games[0]), messages.len()), ("e4 e5 $19 Nf3", 0));
    }
}

#[test]
fn values_of_tags_keep_their_blanks_where_others_are_plain() {
    let (games, _) = read("[White \"Ivanov,\u{a0}A\"]\n[Event \"c\u{3000}d\"]\n\n1. e4 *\n");
    assert_eq!(games[0].names.white, "Ivanov,\u{a0}A");
    assert_eq!(games[0].tags.get("Event"), Some("c\u{3000}d"));
}

/// kokopu 4.13.4 takes `\}` for a brace within the comment.
#[test]
fn a_comment_that_ends_in_a_backslash_ends_for_every_reader() {
    let (games, _) = read("1. e4 {/\\} e5 {a\\ b} *\n");
    let mut text = String::new();
    crate::write_pgn(&games[0], &mut text);
    assert_has(&text, "1. e4 {/\\ } 1... e5 {a\\ b} *");
}

/// Names are cleaned for kokopu and pgn-extract; then two of them may be the same.
#[test]
fn every_tag_is_written_under_a_name_of_its_own() {
    let tags = "[W$ite \"1\"]\n[A.b \"2\"]\n[A$b \"3\"]\n[A_b \"4\"]\n";
    let (games, _) = read(format!("{tags}\n1. e4 *\n"));
    let mut text = String::new();
    assert_eq!(crate::write_pgn(&games[0], &mut text), 0);
    for value in ["1", "2", "3", "4"] {
        assert_has(&text, &format!(" \"{value}\"]"));
    }
    let (again, _) = read(&text);
    let odd = again[0].tags.iter().filter(|(name, _)| name.contains('_'));
    assert_eq!(odd.count(), 4);
    let mut second = String::new();
    crate::write_pgn(&again[0], &mut second);
    assert_eq!(text, second);
    // Nothing is left of these names.
    let mut game = games[0].clone();
    game.tags.set("$", "5");
    game.tags.set("-.-", "6");
    let mut third = String::new();
    assert_eq!(crate::write_pgn(&game, &mut third), 2);
    assert_eq!(text, third);
}
