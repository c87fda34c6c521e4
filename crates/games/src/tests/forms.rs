//! PGN from real sources: all forms of moves that are in use, and the effects of mail,
//! old systems and damage on a text.

use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Move, Position as _, Role, fen::Fen};

use super::{Folder, assert_has, convert, read_each, sample};
use crate::GameParts;

/// The games that are read from a text, and the messages about it.
fn read(text: impl AsRef<[u8]>) -> (String, String) {
    let folder = Folder::new();
    convert(&folder.put("in.pgn", text))
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
    assert_has(&messages, "1 games read, 1 written");
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
fn variations_before_the_first_move_of_a_line_are_reported() {
    for text in [
        "(1. d4 d5) 1. e4 e5 *\n",
        "1. e4 ((1. c4) 1. d4) e5 *\n",
        "1. e4 {x} ({y} (1. c4 (1. f4)) {z} 1. d4) e5 *\n",
    ] {
        let (_, messages) = read(text);
        assert_has(&messages, "1 cut");
        assert_has(
            &messages,
            "game cut short: a variation before the first move of its line is left out",
        );
    }
}

/// A book has the moves before it, and the game counts as cut short.
#[test]
fn a_variation_ends_at_an_impossible_move_or_an_unknown_word_and_says_so() {
    let side = GameParts::default().with_variations();
    for (text, parts, sides, cut) in [
        (
            "(1... d5 2. Ke3 d4)",
            side,
            1,
            Some("move 2. on line 1 is impossible: Ke3"),
        ),
        (
            "(1... d5 2. Zz9)",
            side,
            1,
            Some("move 2. on line 1 is not understood: Zz9"),
        ),
        ("(1... d5 2. Ke3 d4)", side.up_to(2), 1, None),
        ("(1... d5 2. Ke3 d4)", GameParts::default(), 0, None),
    ] {
        let folder = Folder::new();
        let text = format!("1. e4 e5 {text} 2. Nf3 *\n");
        let (games, problems) = read_each(&folder.put("in.pgn", &text), parts);
        assert_eq!(problems, [""; 0]);
        let game = games.values().next().unwrap();
        let found = game.cut.as_ref().map(ToString::to_string);
        assert_eq!(
            (game.side_moves.len(), found.as_deref()),
            (sides, cut),
            "{text}"
        );
        assert_eq!(game.moves.len(), 3.min(parts.plies), "{text}");
    }
}

/// A book has no null moves.
#[test]
fn without_notes_a_line_ends_at_a_null_move_and_says_so() {
    let side = GameParts::default().with_variations();
    for (text, parts, main, cut) in [
        (
            "1. d4 -- 2. c4 *\n",
            GameParts::default(),
            1,
            Some("move 1... is a null move"),
        ),
        (
            "1. d4 d5 2. Z0 e5 *\n",
            GameParts::default(),
            2,
            Some("move 2. is a null move"),
        ),
        ("1. d4 -- 2. c4 *\n", GameParts::default().up_to(1), 1, None),
        (
            "1. d4 d5 (1... -- 2. c4) *\n",
            GameParts::default(),
            2,
            None,
        ),
        ("1. d4 d5 (1... -- 2. c4) *\n", side, 2, None),
        ("1. d4 -- 2. c4 *\n", GameParts::EVERYTHING, 1, None),
    ] {
        let folder = Folder::new();
        let (games, problems) = read_each(&folder.put("in.pgn", text), parts);
        assert_eq!(problems, [""; 0]);
        let game = games.values().next().unwrap();
        let found = game.cut.as_ref().map(ToString::to_string);
        assert_eq!((game.moves.len(), found.as_deref()), (main, cut), "{text}");
    }
}
