use super::*;
use crate::Item;

const GAMES: &[u8] = b"[Event \"1\"]\n[Result \"1-0\"]\n[WhiteElo \"1500\"]\n\n\
    1. e4 e5 2. Kd5 1-0\n\n\
    [Event \"2\"]\n[WhiteElo \"1500\"]\n\n1. e4 e5 1-0\n\n\
    [Event \"3\"]\n[Result \"1-0\"]\n[WhiteElo \"2500\"]\n\n1. e4 {half\n\n\
    [Event \"4\"]\n[Result \"0-1\"]\n[WhiteElo \"2500\"]\n\n1. d4 d5 0-1\n";

/// The illegal move of the first game is not reported either.
#[test]
fn a_return_at_the_end_of_a_part_is_read_with_what_follows() {
    for (first, second) in [
        ("[A \"b\"]\r", "[C \"d\"]\r\n"),
        ("x\r", "\n1. e4"),
        ("\r", "\r"),
    ] {
        let mut whole = format!("{first}{second}").into_bytes();
        clean_lines(&mut whole, 0, true, &mut false);
        let mut parts = first.as_bytes().to_vec();
        let clean = clean_lines(&mut parts, 0, false, &mut false);
        parts.extend_from_slice(second.as_bytes());
        clean_lines(&mut parts, clean, true, &mut false);
        assert_eq!(parts, whole, "{first:?} {second:?}");
    }
}

#[test]
fn moves_of_games_that_tags_refuse_are_not_read() {
    let filter = GameFilter {
        min_elo: Some(2000),
        ..GameFilter::default()
    };
    let counter = Arc::new(AtomicU64::new(0));
    let mut source = PgnSource::new("x", Box::new(GAMES), counter);
    let mut batch = source.next_batch().unwrap().unwrap();
    let mut game = Game::default();
    let mut next = || {
        let there = batch.next_for(GameParts::default(), &filter, &mut game);
        (there, game.elo.white, game.moves.len())
    };
    assert_eq!(next(), (Ok(true), 1500, 0));
    // Its result is known only after its moves.
    assert_eq!(next(), (Ok(true), 1500, 2));
    // Its comment has no end.
    assert_eq!(next(), (Ok(true), 2500, 1));
    assert_eq!(next(), (Ok(true), 2500, 2));
    assert_eq!(next().0, Ok(false));
}

/// The content of each game, or why it was skipped.
fn all(text: &[u8], wanted: GameParts) -> Vec<Result<Game, String>> {
    let counter = Arc::new(AtomicU64::new(0));
    let text = Box::new(io::Cursor::new(text.to_vec()));
    let mut source = PgnSource::new("x", text, counter);
    let mut batch = source.next_batch().unwrap().unwrap();
    let mut found = Vec::new();
    loop {
        let mut game = Game::default();
        match batch.next_game(wanted, &mut game) {
            Ok(true) => found.push(Ok(game)),
            Ok(false) => return found,
            Err(reason) => found.push(Err(batch.skip(reason).to_string())),
        }
    }
}

#[test]
fn games_need_no_event_and_their_tags_may_be_long() {
    let text = format!(
        "\u{feff}%\n\n[White \"1\"]\n\n1. e4\n% 1... e5\ne5 *\n\n\n\
         [White \"2\"]\n\n1. e4 e4 2. d4 *\n\n\
         [Site \"{}\"]\n[White \"3\"]\n\n1. c4 *\n\n\
         [White \"4\"]\r\n\r\n1. d4\r\nd5 *\r\n\r\n\
         1. e4 {{5\n\n[White \"6\"]\n\n1. d4",
        "x".repeat(8_000),
    );
    let games = all(text.as_bytes(), GameParts::default());
    let results = games.iter().map(|game| match game {
        Ok(Game {
            names, moves, cut, ..
        }) => {
            let cut = cut.as_ref().map(|reason| format!(": {reason}"));
            format!("{} {}{}", names.white, moves.len(), cut.unwrap_or_default())
        }
        Err(message) => message.clone(),
    });
    assert_eq!(
        results.collect::<Vec<_>>(),
        [
            "1 2",
            "x: line 10: game skipped: move 1... on line 12 is impossible: e4",
            "3 1",
            "4 2",
            " 1: the comment that begins on line 24 has no end",
            "6 1"
        ]
    );
}

#[test]
fn comments_to_the_end_of_the_line_are_notes() {
    let text = b"[Event \"1\"]\n\n1. e4 ; {best}\n1... e5 {a; b} 2. d4 ;c\n\n\
        [Event \"; 2\"]\n\n1. e4 {half; a\n\n[Event \"3\"]\n\n1. e4 ;last";
    let notes = GameParts {
        notes: true,
        ..GameParts::default()
    };
    for wanted in [notes, GameParts::default()] {
        let games = all(text, wanted);
        let moves = games.iter().map(|game| game.as_ref().ok());
        let moves = moves.map(|game| game.map(|game| game.moves.len()));
        assert_eq!(moves.collect::<Vec<_>>(), [Some(3), Some(1), Some(1)]);
    }
    let games = all(text, notes);
    let comments = games.iter().flatten().flat_map(|game| &game.movetext);
    let comments = comments.filter_map(|item| match item {
        Item::Comment(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(
        comments.collect::<Vec<_>>(),
        ["(best)", "a; b", "c", "last"]
    );
}

/// For each game: players, Elo, date, result, FEN if set up, and moves; or why it is
/// skipped or cut short. Then the remarks.
fn summary(text: &str) -> Vec<String> {
    parts(text, GameParts::default())
}

fn parts(text: &str, wanted: GameParts) -> Vec<String> {
    let counter = Arc::new(AtomicU64::new(0));
    let text = Box::new(io::Cursor::new(text.as_bytes().to_vec()));
    let mut source = PgnSource::new("x", text, counter);
    let mut found = Vec::new();
    while let Some(mut batch) = source.next_batch().unwrap() {
        loop {
            let mut game = Game::default();
            match batch.next_game(wanted, &mut game) {
                Ok(false) => break,
                Err(reason) => found.push(batch.skip(reason).to_string()),
                Ok(true) => {
                    let players = format!("{}-{}", game.names.white, game.names.black);
                    let (elo, result) = (game.elo.white, game.result.to_pgn());
                    let (year, month) = (game.year, game.month);
                    let mut line = format!("{players} {elo} {year}.{month} {result}");
                    if game.set_up {
                        line += &format!(" {}", crate::pgn::first_fen(&game));
                    }
                    line += &format!(" {}", game.moves.len());
                    let cut = game.cut.map(|reason| format!(" {reason}"));
                    found.push(line + &cut.unwrap_or_default());
                }
            }
        }
    }
    found.extend(source.remarks());
    found
}

#[test]
fn tags_of_one_head_belong_to_one_game_in_any_order() {
    let odds = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 1";
    for (text, expected) in [
        (
            "[Black \"B\"]\n[Date \"2010.01.02\"]\n[Event \"x\"]\n\
            [FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Result \"1-0\"]\n[White \"A\"]\n\n\
            1. e4 Kd7 1-0\n",
            "A-B 0 2010.1 1-0 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 2",
        ),
        (
            &format!(
                "[SetUp \"1\"]\n[FEN \"{odds}\"]\n[White \"A\"]\n[Event \"Odds\"]\n\n\
                1. e4 e5 2. Nf3 1-0\n"
            ),
            &format!("A- 0 0.0 1-0 {odds} 3"),
        ),
        (
            "[Variant \"Antichess\"]\n[White \"A\"]\n[Event \"x\"]\n\n1. e3 b5 *\n",
            "x: line 1: game skipped: its variant is Antichess",
        ),
        (
            "[WhiteElo \"2700\"]\n[White \"A\"]\n\n[Event \"x\"]\n\n1. e4 1-0\n",
            "A- 2700 0.0 1-0 1",
        ),
        (
            "[Event \"x\"]\n[Event \"y\"]\n[White \"A\"]\n\n1. e4 1-0\n",
            "A- 0 0.0 1-0 1",
        ),
        (
            "[White \"P\"]\n\n1. e4 {see\n[Event \"Old\"]\n[Site \"x\"] for} e5 2. Nf3 1-0",
            "P- 0 0.0 1-0 3",
        ),
        (
            "[WHITE \"A\"]\n[black \"B\"]\n[whiteElo \"2100\"]\n[RESULT \"0-1\"]\n\n1. e4 *",
            "A-B 2100 0.0 0-1 1",
        ),
    ] {
        assert_eq!(summary(text), [expected], "{text}");
    }
    let two = "[A \"1\"]\n[White \"a\"]\n\n[White \"b\"]\n\n1. e4 0-1 [White \"c\"] 1. d4 *\n\
        1. c4 1-0\n1. f4 *\n";
    assert_eq!(
        summary(two),
        [
            "a- 0 0.0 * 0",
            "b- 0 0.0 0-1 1",
            "c- 0 0.0 * 1",
            "- 0 0.0 1-0 1",
            "- 0 0.0 * 1"
        ]
    );
}

#[test]
fn names_of_tags_may_begin_with_digits_and_an_ordinary_variant_is_a_tag() {
    let text = b"[1Underscored_Tag \"v\"]\n[Variant \"Standard\"]\n[SITE \"s\"]\n\n1. e4 *";
    let games = all(text, GameParts::EVERYTHING);
    let tags = &games[0].as_ref().unwrap().tags;
    let found: Vec<_> = tags.iter().collect();
    assert_eq!(
        found,
        [
            ("1Underscored_Tag", "v"),
            ("Variant", "Standard"),
            ("Site", "s")
        ]
    );
    let text = b"[Variant \"Fischerandom\"]\n\n1. e4 *";
    let games = all(text, GameParts::EVERYTHING);
    let game = games[0].as_ref().unwrap();
    assert!(game.chess960 && game.tags.get("Variant").is_none());
}

/// Some programs write names of tags in capitals.
#[test]
fn a_tag_means_the_same_in_any_case() {
    for (name, value) in [
        ("White", "A"),
        ("Black", "B"),
        ("WhiteElo", "2700"),
        ("BlackElo", "2600"),
        ("WhiteTitle", "GM"),
        ("BlackTitle", "WIM"),
        ("Date", "1990.05.01"),
        ("UTCDate", "1990.05.01"),
        ("EventDate", "1990.05.01"),
        ("Year", "1990"),
        ("ECO", "C65"),
        ("Result", "1-0"),
        ("FEN", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"),
        ("Variant", "chess960"),
        ("Event", "Rated Blitz game"),
        ("TimeControl", "60+0"),
        ("Termination", "abandoned"),
    ] {
        let read = |name: &str, wanted| {
            let text = format!("[{name} \"{value}\"]\n\n1. e4 *\n");
            let games = all(text.as_bytes(), wanted);
            assert_eq!(games.len(), 1, "{text}");
            format!("{:?}", games[0])
        };
        for wanted in [GameParts::default(), GameParts::EVERYTHING] {
            let usual = read(name, wanted);
            assert_ne!(usual, read("Other", wanted), "{name} has no meaning");
            assert_eq!(usual, read(&name.to_uppercase(), wanted));
            assert_eq!(usual, read(&name.to_lowercase(), wanted));
        }
    }
}

/// A broken line ends there, and the game says so: the first that is broken, but the
/// main line before all.
#[test]
fn with_notes_the_worst_break_is_reported() {
    for (moves, expected) in [
        (
            "1. e4 (1. Ke5 1... e5) 1... e5 (1... Kd5) *",
            "1. on line 1 is impossible: Ke5",
        ),
        (
            "1. e4 (1. Ke5) 1... e5 2. Kd3 (2. Kd8) *",
            "2. on line 1 is impossible: Kd3",
        ),
        ("1. e4 (1. Ke5 {half", "1. on line 1 is impossible: Ke5"),
        (
            "1. e4 (1. d4) 1... Ke6 *",
            "1... on line 1 is impossible: Ke6",
        ),
    ] {
        let games = all(moves.as_bytes(), GameParts::EVERYTHING);
        let cut: Vec<_> = games
            .iter()
            .map(|game| game.as_ref().ok()?.cut.as_ref().map(ToString::to_string))
            .collect();
        assert_eq!(cut, [Some(format!("move {expected}"))], "{moves}");
    }
    // What follows in the line is not read as if the move had not been there.
    let games = all(
        b"1. e4 (1. Ke5 1. d4 d5) 1... e5 2. Kd5 2. d4 d5 *",
        GameParts::EVERYTHING,
    );
    let game = games[0].as_ref().unwrap();
    let is_move = |item: &&Item| matches!(item, Item::Move(_));
    assert_eq!(game.movetext.iter().filter(is_move).count(), 2);
    assert_eq!(game.moves.len(), 2);
}

/// What has no move number is text between games, and skipped without a message.
#[test]
fn prose_is_no_game_unless_it_has_a_move_number() {
    let game = "\n\n[White \"A\"]\n\n1. e4 *\n";
    for prose in ["Two players met.", "2 players met.", "2002: players met."] {
        assert_eq!(
            summary(&format!("{prose}{game}")),
            ["A- 0 0.0 * 1"],
            "{prose}"
        );
    }
    for broken in ["2. players met", "1.players met"] {
        let found = summary(&format!("{broken}{game}"));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("x: line 1: game skipped: "),
            "{found:?}"
        );
    }
}

proptest::proptest! {
    /// Lines are converted alike, however much of the text has been read.
    #[test]
    fn lines_do_not_depend_on_how_the_text_arrives(
        pieces in proptest::collection::vec(0..9_usize, 0..24),
        cuts in proptest::collection::vec(0..60_usize, 0..4),
    ) {
        const PIECES: [&str; 9] =
            ["\n", "\r", "\r\n", ">", "> ", " ", "[A \"b\"]", "1. e4", "x"];
        // The first part is much longer than a line.
        let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let text = format!("\n{text}");
        let text = text.as_bytes();
        let mut whole = text.to_vec();
        let end = clean_lines(&mut whole, 0, true, &mut false);
        proptest::prop_assert_eq!(end, whole.len());
        let (mut parts, mut clean, mut quoted) = (Vec::new(), 0, false);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.clamp(1, text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        for part in cuts.windows(2) {
            parts.extend_from_slice(&text[part[0]..part[1]]);
            let at_end = part[1] == text.len();
            clean = clean_lines(&mut parts, clean, at_end, &mut quoted);
        }
        proptest::prop_assert_eq!(whole, parts);
    }
}

#[test]
fn results_are_read_in_every_form() {
    for (text, expected) in [
        ("1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#1-0", "1-0 7"),
        ("1. e4 e5 2. Nf3 Nc61/2-1/2", "1/2-1/2 4"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. O-O1-0", "1-0 7"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4. 0-00-1", "0-1 7"),
        ("1. e4 e5 2. Nf3 Nc6$11-0", "1-0 4"),
        ("1. e4 e5 2. Sf30-1", "0-1 3"),
        ("1. e4 e5 2. Ng1-f31/2", "1/2-1/2 3"),
        ("1. e4 1 - 0", "1-0 1"),
        ("1. e4 1\u{a0}-\u{a0}0", "1-0 1"),
        ("1. e4 1-0 White wins", "1-0 1"),
        ("1. e4 0 - 1", "0-1 1"),
        ("1. e4 1/2 - 1/2", "1/2-1/2 1"),
        ("1. e4 \u{bd} \u{2013} \u{bd}", "1/2-1/2 1"),
        ("1. e4 0.5-0.5", "1/2-1/2 1"),
        ("1. e4 1.0-0.0", "1-0 1"),
        ("1. e4 0.0 - 1.0", "0-1 1"),
        ("1. e4\n\n1-0", "1-0 1"),
        ("[Result \"*\"]\n\n1. e4 1-0", "1-0 1"),
        ("[Result \"?\"]\n\n1. e4 1/2-1/2", "1/2-1/2 1"),
        ("[Result \"0.5 - 0.5\"]\n\n1. e4 *", "1/2-1/2 1"),
        ("[Result \"1:0\"]\n\n1. e4", "1-0 1"),
        ("[Result \"1-0\"]\n\n1. e4 *", "1-0 1"),
        // Castling at the first move.
        (
            "[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1.0-0 Ke7 *",
            "* 4k3/8/8/8/8/8/8/4K2R w K - 0 1 2",
        ),
    ] {
        assert_eq!(summary(text), [format!("- 0 0.0 {expected}")], "{text}");
    }
}

/// The whole tag is a result, or none of it.
#[test]
fn values_of_the_tag_result_that_pgn_does_not_know_are_reported() {
    let said = "the tag Result is not one of PGN's four values; the result after the moves counts";
    let values = [
        "1:0 or 0:1",
        "1-0F",
        "1/2-1/2 (forfeit)",
        "+:-",
        "1-½",
        "Draw",
        "0-0",
    ];
    for value in values {
        for (result, expected) in [("*", "*"), ("1-0", "1-0"), ("", "*")] {
            let text = format!("[Result \"{value}\"]\n\n1. e4 {result}");
            let expected = [
                format!("- 0 0.0 {expected} 1"),
                format!("x: line 1: {said}"),
            ];
            assert_eq!(summary(&text), expected, "{text}");
        }
    }
    for value in ["", "-", "?", "*", " * ", "½-½", "1/2", "0:1"] {
        let text = format!("[Result \"{value}\"]\n\n1. e4");
        assert_eq!(summary(&text).len(), 1, "{text}");
    }
}

/// Where castling is impossible, `0-0` may be a result: that of a game that both have lost.
#[test]
fn zeros_end_a_game_that_both_have_lost() {
    let said = "x: line 1: the tag Result is not one of PGN's four values; the result after the \
                moves counts";
    for (tag, moves, expected) in [
        ("0-0", "1. f4 0-0", "- 0 0.0 * 1"),
        ("0-0", "1. f4\n0-0 {neither came}\n", "- 0 0.0 * 1"),
        ("0-0", "0-0", "- 0 0.0 * 0"),
        ("0-0", "1. e4 e5 2. Nf3 d6 3. Bc4 d5 4. 0-0", "- 0 0.0 * 7"),
        (
            "0-0",
            "1. f4 0-0 2. e4",
            "x: line 1: game skipped: move 1... on line 3 is impossible: 0-0",
        ),
        (
            "*",
            "1. f4 0-0",
            "x: line 1: game skipped: move 1... on line 3 is impossible: 0-0",
        ),
    ] {
        let found = summary(&format!("[Result \"{tag}\"]\n\n{moves}"));
        let said = (tag == "0-0").then_some(said);
        let expected: Vec<&str> = [expected].into_iter().chain(said).collect();
        assert_eq!(found, expected, "{moves}");
    }
}

/// As python-chess 1.11.2 reads them; it does not have the result of an open variation.
#[test]
fn brackets_without_their_other_half_are_reported() {
    let open = "a variation has no closing bracket and goes on to the end of the game";
    let closing = "a closing bracket ends no variation and is passed over";
    for (moves, result, count, said) in [
        ("1. e4 e5 (1... c5 2. Nf3 1-0", "1-0", 2, Some(open)),
        (
            "1. e4 e5 (1... c5 (1... d5) 2. Nf3\n1-0 {c}\n",
            "1-0",
            2,
            Some(open),
        ),
        ("1. e4 e5 (1... c5 2. Nf3 1-0 Nc6", "*", 2, Some(open)),
        ("1. e4 e5 (1... c5 2. Nf3", "*", 2, Some(open)),
        ("1. e4 e5 ) 2. Nf3 ) 1-0", "1-0", 3, Some(closing)),
        ("1. e4 e5 (1... c5) ) 2. Nf3 1-0", "1-0", 3, Some(closing)),
        ("1. e4 e5 (1... c5 1-0) 2. Nf3", "*", 3, None),
        (
            "1. e4 e5 (1... c5 (1... d5)) (=) (!?) 2. Nf3 *",
            "*",
            3,
            None,
        ),
    ] {
        for wanted in [
            GameParts::default(),
            GameParts::default().with_variations(),
            GameParts::EVERYTHING,
        ] {
            let text = format!("[White \"A\"]\n\n{moves}\n\n[White \"B\"]\n\n1. d4 *\n");
            let mut found = parts(&text, wanted);
            let expected = format!("A- 0 0.0 {result} {count}");
            assert_eq!(found.remove(0), expected, "{moves} {wanted:?}");
            assert_eq!(found.remove(0), "B- 0 0.0 * 1", "{moves} {wanted:?}");
            let said = said.map(|said| format!("x: line 1: {said}"));
            assert_eq!(
                found,
                said.into_iter().collect::<Vec<_>>(),
                "{moves} {wanted:?}"
            );
        }
    }
}

/// A first move begins the next game; any other move is one of the same game, and said.
#[test]
fn moves_after_a_result_are_of_another_game_or_reported() {
    const SAID: &str = "x: line 1: moves follow a result and are read as part of the game";
    for (text, expected) in [
        (
            "1. e4 e5 1-0 1. d4 d5 0-1 1. c4 1/2-1/2 1.f4 * 1.b3",
            &["1-0 2", "0-1 2", "1/2-1/2 1", "* 1", "* 1"][..],
        ),
        ("1. e4 1-0 White wins {1. d4} 1. d4 *", &["1-0 1", "* 1"]),
        ("1. e4 1-0 1 d4 d5 2 c4 *", &["1-0 1", "* 3"]),
        ("1. e4 1-0 $1\n1. Sf3 Sf6 0-1", &["1-0 1", "0-1 2"]),
        ("1. e4 1-0 1. {best} d4 *", &["1-0 1", "* 1"]),
        (
            "1. e4 1-0 1. -- d5 *",
            &["1-0 1", "* 0 move 1. is a null move"],
        ),
        // A first move that is impossible is one of the next game.
        (
            "1. e4 1-0 1. e5 Nf6 *",
            &[
                "1-0 1",
                "x: line 1: game skipped: move 1. on line 1 is impossible: e5",
            ],
        ),
        // A result in a comment or a variation is not that of the game.
        ("1. e4 {1-0} 1. d5 (1. d4 1-0 1. c4) 1. d4 *", &["* 3"]),
        // These are not first moves.
        ("1. e4 1-0 1. prize 1 e5 {1. d4}", &["1-0 2", SAID]),
        ("1. e4 e5 1-0 2. Nf3 Nc6", &["1-0 4", SAID]),
        ("1. e4 1-0 1... e5 0-1", &["1-0 2", SAID]),
        ("1. e4 1-0 1. ... e5 0-1", &["1-0 2", SAID]),
        ("1. e4 * e5 Ng1-f3", &["* 3", SAID]),
        // Nor is this one, of which the tags are.
        ("[White \"A\"]\n\n1-0 1. e4 e5 1-0", &["1-0 2", SAID]),
        // In a variation, nothing follows the result of the game.
        ("1. e4 1-0 (1. d4 d5) {e5} Spassky 1", &["1-0 1"]),
    ] {
        let found = summary(text);
        let found: Vec<&str> = found
            .iter()
            .map(|line| {
                line.split_once("- 0 0.0 ")
                    .map_or(&**line, |(_, game)| game)
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// Where a game breaks off, or only a part of it is wanted, the next one of its line is not
/// lost.
#[test]
fn a_line_of_many_games_is_read_whole() {
    let text = "1. e4 e5 1-0 1. e5 e6 * 1. d4 d5 2. c4 0-1 ".repeat(2_000);
    for plies in [1, 2, usize::MAX] {
        let mut source =
            PgnSource::new("x", Box::new(io::Cursor::new(text.clone())), Arc::default());
        let wanted = GameParts {
            plies,
            ..GameParts::default()
        };
        let (mut games, mut skipped) = (0, 0);
        while let Some(mut batch) = source.next_batch().unwrap() {
            loop {
                match batch.next_game(wanted, &mut Game::default()) {
                    Ok(false) => break,
                    Ok(true) => games += 1,
                    Err(reason) => {
                        assert!(batch.skip(reason).to_string().starts_with("x: line 1: "));
                        skipped += 1;
                    }
                }
            }
        }
        assert_eq!((games, skipped), (4_000, 2_000), "{plies}");
        assert!(!source.is_cut());
    }
}

#[test]
fn a_result_that_contradicts_its_tag_is_reported_once_for_the_file() {
    let one = "[Result \"1-0\"]\n\n1. e4 0-1\n\n";
    let good = "[Result \"1-0\"]\n\n1. e4 e5 {1-0} 1-0\n\n";
    let words = "the result after the moves contradicts the tag Result, which counts";
    let found = summary(&format!("{good}{one}{good}"));
    let of_one = format!("x: line 5: {words}");
    assert_eq!(
        found,
        ["- 0 0.0 1-0 2", "- 0 0.0 1-0 1", "- 0 0.0 1-0 2", &of_one]
    );
    let found = summary(&format!("{good}{one}{one}"));
    let of_two = format!("x: in 2 games, {words}; the first is on line 5");
    assert_eq!(found[3..], [of_two]);
    // The moves need not be read.
    for plies in [0, 1] {
        let counter = Arc::new(AtomicU64::new(0));
        let text = one.replace("e4", "e4 e5 2. d4 d5 {x}") + good;
        let mut source = PgnSource::new("x", Box::new(io::Cursor::new(text)), counter);
        let mut batch = source.next_batch().unwrap().unwrap();
        let wanted = GameParts {
            plies,
            ..GameParts::default()
        };
        while batch.next_game(wanted, &mut Game::default()) == Ok(true) {}
        assert!(source.has_contradictions() && !source.is_cut());
        assert_eq!(source.remarks(), [format!("x: line 1: {words}")]);
    }
}

#[test]
fn a_comment_without_an_end_cuts_its_own_game() {
    let reason = "the comment that begins on line 3 has no end";
    let next = "[White \"B\"]\n[Black \"C\"]\n\n1. d4 {fine} d5 1-0\n";
    for (moves, plies) in [
        ("1. e4 e5 {half", 2),
        ("1. e4 e5 (1... c5 {half) 2. Nf3", 2),
        ("1. e4 e5 (1... c5 (1... c6 {half", 2),
        ("{half", 0),
    ] {
        for gap in ["\n\n", "\n"] {
            let text = format!("[White \"A\"]\n\n{moves} 1-0{gap}{next}");
            let cut = format!("A- 0 0.0 * {plies} {reason}");
            assert_eq!(summary(&text), [&cut, "B-C 0 0.0 1-0 2"], "{text}");
            for game in all(text.as_bytes(), GameParts::EVERYTHING) {
                let game = game.unwrap();
                let count = |wanted| game.movetext.iter().filter(|item| **item == wanted).count();
                assert_eq!(count(Item::Begin), count(Item::End), "{text}");
                let is_first = game.names.white == "A";
                assert_eq!(game.cut.is_some(), is_first, "{text}");
            }
        }
    }
    // Also without another comment to the end, and for a limited number of plies.
    let text = "[White \"A\"]\n\n1. e4 e5 2. d4 {half\n\n[White \"B\"]\n\n1. d4 *\n";
    assert_eq!(
        summary(text),
        [format!("A- 0 0.0 * 3 {reason}"), "B- 0 0.0 * 1".to_owned()]
    );
    let wanted = GameParts {
        plies: 1,
        ..GameParts::default()
    };
    let games = all(text.as_bytes(), wanted);
    assert!(games[0].as_ref().is_ok_and(|game| game.cut.is_some()));
    assert!(games[1].as_ref().is_ok_and(|game| game.cut.is_none()));
}

#[test]
fn a_comment_that_quotes_a_game_is_a_comment_and_reported() {
    let text = "1. e4 {the game\n\n[Event \"Old\"]\n[Site \"x\"]\n\n1. d4 1-0} e5 *\n";
    let remark = "x: line 1: a comment contains what looks like another game";
    assert_eq!(summary(text), ["- 0 0.0 * 2", remark]);
    let tags = "[Site \"x\"]\n[Round \"1\"]";
    assert_eq!(
        summary(&text.replace("[Site \"x\"]", tags)),
        ["- 0 0.0 * 2", remark]
    );
}

#[test]
fn the_order_of_the_dates_does_not_matter() {
    let tags = [
        "[EventDate \"1990.05.01\"]\n",
        "[Year \"1991\"]\n",
        "[UTCDate \"1992.06.01\"]\n",
        "[Date \"1993.07.01\"]\n",
    ];
    let unknown = "[Date \"????.??.??\"]\n";
    for (used, expected) in [
        (vec![tags[0], tags[2]], "1992.6"),
        (vec![tags[0], tags[1]], "1991.0"),
        (vec![tags[0], unknown], "1990.0"),
        (vec![tags[0], "[Date \"0000.00.00\"]\n"], "1990.0"),
        (vec![tags[2], unknown], "1992.6"),
        (vec![tags[1], tags[3]], "1993.7"),
        (tags.to_vec(), "1993.7"),
    ] {
        let forth = used.concat();
        let back: String = used.iter().rev().copied().collect();
        for head in [forth, back] {
            let text = format!("{head}\n1. e4 *\n");
            assert_eq!(summary(&text), [format!("- 0 {expected} * 1")], "{text}");
        }
    }
}

#[test]
fn a_move_that_fits_twice_is_called_so() {
    let text = "[FEN \"8/8/6K1/4k3/4N3/p4r2/N3N3/8 w - - 3 82\"]\n\n82. Nec3 Kf4 *\n";
    assert_eq!(
        summary(text),
        ["x: line 1: game skipped: move 82. on line 3 fits two moves: Nec3"]
    );
}

/// Also without tags `Event`, with empty lines in comments, and after notes.
#[test]
fn large_files_are_cut_between_games_only() {
    let comment = vec!["x".repeat(60); 40].join("\n");
    let forms = [
        format!("1. e4 {{{comment}}} e5 1-0\n\n"),
        format!("1. e4 {{{}}} e5 1-0\n", comment.replace('\n', "\n\n")),
        format!("1. e4 e5 *\n{{{comment}}}\n\n"),
        "1. e4 e5\n\n".to_owned(),
        "1. e4 {a; b} e5 {[%clk 1]; c} 1-0 {resigns}\n".to_owned(),
    ];
    for form in forms {
        for tag in ["Event", "White", "1x"] {
            let game = |n: usize| format!("[{tag} \"{n}\"]\n[White \"{n}\"]\n\n{form}");
            let text: String = (0..100).map(game).collect();
            let size = text.len();
            let bytes = Box::new(io::Cursor::new(text.into_bytes()));
            let mut source = PgnSource::new("x", bytes, Arc::default());
            source.size.goal = size / 20;
            let (mut batches, mut number) = (0, 0);
            while let Some(mut batch) = source.next_batch().unwrap() {
                batches += 1;
                let mut game = Game::default();
                while batch.next_game(GameParts::default(), &mut game).unwrap() {
                    assert_eq!(game.names.white, number.to_string(), "{form}");
                    assert_eq!(game.moves.len(), 2, "{form}");
                    number += 1;
                }
            }
            assert_eq!(number, 100, "{form}");
            assert!(batches >= 15, "{batches} {form}");
        }
    }
}

/// A batch may end within a line of any length, wherever that line begins.
#[test]
fn lines_may_be_longer_than_a_batch() {
    for before in [0, 1, 100, 700, 1000, 1500] {
        for long in [100, 1000, 3000, 20_000] {
            let text = format!(
                "[White \"1\"]\n\n{{{}}}\n1. e4 {{{}}} e5 1-0\n\n[White \"2\"]\n\n1. d4 *\n",
                "x\n".repeat(before / 2),
                "y".repeat(long),
            );
            let bytes = Box::new(io::Cursor::new(text.into_bytes()));
            let mut source = PgnSource::new("x", bytes, Arc::default());
            source.size = BatchSize {
                goal: 1 << 10,
                most: 100 << 10,
            };
            let mut moves = Vec::new();
            while let Some(mut batch) = source.next_batch().unwrap() {
                let mut game = Game::default();
                while batch.next_game(GameParts::default(), &mut game).unwrap() {
                    moves.push(game.moves.len());
                }
            }
            assert_eq!(moves, [2, 1], "{before} {long}");
            assert!(!source.is_cut());
        }
    }
}

/// A text in which no game begins is cut somewhere, and that is reported.
#[test]
fn an_endless_game_is_cut_and_reported() {
    for first in ["", "1. Nc3 Nc6\n"] {
        let text = first.to_owned() + &"2. Nf3 Nf6 3. Ng1 Ng8 ".repeat(9000);
        let mut source = PgnSource::new("x", Box::new(io::Cursor::new(text)), Arc::default());
        source.size = BatchSize {
            goal: 1 << 10,
            most: 100 << 10,
        };
        while source.next_batch().unwrap().is_some() {}
        assert!(source.is_cut());
        let remarks = source.remarks();
        assert!(
            remarks[0].starts_with("x: no game begins in the 1"),
            "{remarks:?}"
        );
    }
}

/// A text that fails after some bytes.
struct Failing(&'static [u8], io::ErrorKind);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(self.1.into()),
            count => Ok(count),
        }
    }
}

/// Damage is reported after the games before it; other errors, and a text of which
/// nothing can be read, are errors.
#[test]
fn a_text_that_breaks_off_is_read_to_that_place() {
    use io::ErrorKind::{InvalidData, PermissionDenied};
    let open = |text, kind| PgnSource::new("x", Box::new(Failing(text, kind)), Arc::default());
    let mut source = open(b"1. e4 *\n", InvalidData);
    assert!(source.next_batch().unwrap().is_some());
    assert!(source.next_batch().unwrap().is_none());
    assert!(source.is_cut());
    assert!(source.remarks()[0].starts_with("x: it is cut off or damaged after line 2 "));
    assert!(open(b"", InvalidData).next_batch().is_err());
    assert!(open(b"1. e4 *\n", PermissionDenied).next_batch().is_err());
}
