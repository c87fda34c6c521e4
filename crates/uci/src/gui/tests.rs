use super::*;
use proptest::prelude::*;

fn go_of(line: &str) -> Go {
    match parse(line.as_bytes()) {
        GuiCommand::Go(go) => go,
        other => panic!("{line}: {other:?}"),
    }
}

fn option_of(line: &[u8]) -> (String, Option<Vec<u8>>) {
    match parse(line) {
        GuiCommand::SetOption(option) => (option.name, option.value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn commands_are_found_after_unknown_words() {
    let rows: [(&[u8], GuiCommand); 14] = [
        (b"uci", GuiCommand::Uci),
        (b"  \tisready \t", GuiCommand::IsReady),
        (b"ucinewgame", GuiCommand::NewGame),
        (b"joho stop", GuiCommand::Stop),
        (b"ponderhit\r", GuiCommand::PonderHit),
        (b"quit now", GuiCommand::Quit),
        (b"", GuiCommand::Blank),
        (b" \t ", GuiCommand::Blank),
        (b"d", GuiCommand::Other),
        (b"debug on", GuiCommand::Other),
        (b"register later", GuiCommand::Other),
        (b"joho debug stop", GuiCommand::Other),
        (b"isreadyfoo", GuiCommand::Other),
        (b"\xff\xfe\x00", GuiCommand::Other),
    ];
    for (line, expected) in rows {
        assert_eq!(parse(line), expected, "{:?}", text(line));
    }
}

/// Lines that the parser reads wrongly, and what they mean.
#[test]
fn go_lines_mean_what_their_words_say() {
    let plain = Go::default();
    let ponder = Go {
        ponder: true,
        ..Go::default()
    };
    let infinite = Go {
        infinite: true,
        ..Go::default()
    };
    let engine_only = Go {
        engine_only: true,
        ..Go::default()
    };
    let among = |moves: &[&str]| Some(moves.iter().map(ToString::to_string).collect());
    for (line, expected) in [
        // The clock hides `ponder` from the parser, in either order.
        ("go ponder wtime 1 btime 1", ponder.clone()),
        ("go ponder movetime 5000", ponder.clone()),
        ("go movetime 5000 ponder", ponder.clone()),
        ("go ponder", ponder.clone()),
        // Panics of the parser.
        ("go depth 300", plain.clone()),
        ("go movestogo 256 wtime 1 btime 1", plain.clone()),
        ("go depth 1000", plain.clone()),
        ("go mate 300", engine_only.clone()),
        ("go infinite ", infinite.clone()),
        // Numbers with more digits than it has room for.
        ("go nodes 1234567890123", plain.clone()),
        ("go wtime -5 btime 0 movestogo 0", plain.clone()),
        // What follows an unknown word is lost to it.
        ("go wtime 1 foo btime 2", engine_only.clone()),
        (
            "go perft 5",
            Go {
                perft: Some(5),
                ..engine_only.clone()
            },
        ),
        ("go mate 130", engine_only.clone()),
        // No condition at all: until stop.
        ("go", infinite.clone()),
        ("go ", infinite.clone()),
        ("joho go infinite", infinite.clone()),
        (
            "go ponder infinite",
            Go {
                ponder: true,
                infinite: true,
                ..Go::default()
            },
        ),
        (
            "go searchmoves e2e4 D2D4 depth 3",
            Go {
                searchmoves: among(&["e2e4", "d2d4"]),
                ..Go::default()
            },
        ),
        (
            "go movetime 9 searchmoves 0000",
            Go {
                searchmoves: among(&["0000"]),
                ..Go::default()
            },
        ),
        (
            "go searchmoves e2e4",
            Go {
                infinite: true,
                searchmoves: among(&["e2e4"]),
                ..Go::default()
            },
        ),
        ("go wtime many", engine_only),
    ] {
        let untimed = Go {
            clocks: Clocks::default(),
            limits: Limits::default(),
            ..go_of(line)
        };
        assert_eq!(untimed, expected, "{line}");
    }
}

#[test]
fn limits_are_read_in_any_order_and_a_missing_number_takes_no_word_away() {
    let go = go_of("go wtime btime 7 depth x movestogo 40 mate 3 nodes 99999999999999999999");
    let limits = Limits {
        moves_to_go: Some(40),
        depth: None,
        nodes: Some(i64::MAX),
        mate: Some(3),
    };
    assert_eq!(
        (go.clocks.white.time, go.clocks.black.time),
        (None, Some(7))
    );
    assert_eq!(go.limits, limits);
}

#[test]
fn time_spent_comes_off_the_movers_clock() {
    let left = |go: &str, white, ponders| {
        let spent = Duration::from_millis(1200);
        String::from_utf8(with_time_left(go.as_bytes(), white, spent, ponders)).unwrap()
    };
    let go = "go ponder wtime 5000 btime  4000 winc 10 movetime 900";
    assert_eq!(
        left(go, true, true),
        "go ponder wtime 3800 btime 4000 winc 10 movetime 1"
    );
    assert_eq!(
        left(go, false, false),
        "go wtime 5000 btime 2800 winc 10 movetime 1"
    );
    assert_eq!(left("go depth 9", true, false), "go depth 9");
    // No clock, and one that has run out: not to be made into one.
    assert_eq!(
        left("go wtime 0 depth 9", true, false),
        "go wtime 0 depth 9"
    );
    assert_eq!(left("go wtime -30", true, false), "go wtime -30");
}

#[test]
fn a_line_with_less_time_means_a_go_with_less_time() {
    for (go, white) in [
        ("go wtime 5000 btime 4000 winc 10 movetime 900", true),
        ("go wtime 5000 btime 4000 winc 10 movetime 900", false),
        ("go wtime 0 btime -30", true),
        ("go wtime 0 btime -30", false),
        ("go wtime 100 movetime 0 depth 3", true),
    ] {
        let spent = Duration::from_millis(1200);
        let line = with_time_left(go.as_bytes(), white, spent, false);
        let mut less = go_of(go);
        less.spend(white, spent);
        assert_eq!(go_of(&text(&line)), less, "{go}");
    }
}

#[test]
fn only_a_clock_limits_a_search() {
    let longest = |go: &str, white| go_of(go).longest(white).map(|time| time.as_millis());
    for (go, white, expected) in [
        ("go wtime 5000 btime 900 winc 100", Some(true), Some(5100)),
        ("go wtime 5000 btime 900 winc 100", Some(false), Some(900)),
        ("go wtime 5000 btime 900 winc 100", None, Some(5100)),
        ("go movetime 70", Some(true), Some(70)),
        ("go depth 9 movetime 70 wtime 50", Some(true), Some(70)),
        ("go depth 9 wtime 50", Some(true), Some(50)),
        ("go wtime -200 winc 100", Some(true), Some(100)),
        (
            "go wtime 9223372036854775807 winc 5",
            Some(true),
            Some(9_223_372_036_854_775_807),
        ),
        ("go btime 5000", Some(true), None),
        ("go wtime 0 btime 0 depth 30", Some(true), Some(0)),
        ("go wtime 0 btime 9 winc 20", Some(true), Some(20)),
        ("go movetime 0", Some(true), Some(0)),
        ("go movetime -5 wtime 7", Some(true), Some(7)),
        ("go wtime x", Some(true), None),
        ("go infinite wtime 5000", Some(true), None),
        ("go depth 30", Some(true), None),
        ("go nodes 1", None, None),
        ("go mate 3", None, None),
        ("go perft 9 movetime 10", None, None),
        ("go", None, None),
    ] {
        assert_eq!(longest(go, white), expected, "{go}");
    }
}

#[test]
fn an_increment_is_not_there_before_the_move() {
    let left = |go: &str, white| go_of(go).left(white).map(|time| time.as_millis());
    for (go, white, expected) in [
        ("go wtime 1 btime 900 winc 60000", Some(true), Some(1)),
        ("go wtime 1 btime 900 binc 60000", Some(false), Some(900)),
        ("go wtime 1 btime 900 winc 60000", None, Some(900)),
        ("go wtime -200 winc 100", Some(true), Some(0)),
        ("go wtime 5 winc 9 movetime 70", Some(true), Some(5)),
        ("go wtime 100000 btime 1 movetime 70", Some(true), Some(70)),
        ("go wtime 0 btime 0 movetime 70", Some(true), Some(70)),
        ("go wtime 5 btime 5 movetime 0", Some(true), Some(5)),
        ("go movetime 0", Some(true), Some(0)),
        ("go btime 5000", Some(true), None),
        ("go infinite wtime 5000", Some(true), None),
        ("go depth 30", Some(true), None),
    ] {
        assert_eq!(left(go, white), expected, "{go}");
    }
}

#[test]
fn a_line_with_zeros_only_comes_from_a_program_without_clocks() {
    for (go, untimed) in [
        ("go wtime 0 btime 0", true),
        ("go movetime 0 depth 4", true),
        ("go depth 4", true),
        ("go wtime 0 btime 100", false),
        ("go wtime 0 btime 0 binc 5", false),
        ("go wtime -1 btime 0", false),
        ("go movetime 1", false),
    ] {
        assert_eq!(go_of(go).is_untimed(), untimed, "{go}");
    }
}

fn moves(list: &[u8]) -> Vec<String> {
    super::moves(list).map(Cow::into_owned).collect()
}

#[test]
fn position_lines_keep_every_move() {
    let start = |line: &'static str| position(line.as_bytes()).unwrap();
    // Two blanks after `moves` make the parser lose all of them.
    let read = start("position startpos moves  e2e4 e7e5");
    assert_eq!(read.fen, None);
    assert_eq!(moves(read.moves), ["e2e4", "e7e5"]);
    // A move that it cannot read ends its list.
    for unreadable in ["0000", "P@e4", "junk"] {
        let line = format!("e2e4 {unreadable} d2d4");
        assert_eq!(moves(line.as_bytes()).len(), 3, "{line}");
    }
    assert_eq!(moves(b"E7E8Q e1h1"), ["e7e8q", "e1h1"]);
    assert_eq!(moves(b"e7e8=Q"), ["e7e8=q"]);
    // FENs of four fields, with Shredder letters, in quotes, with a move
    // number over 9999: all unknown to the parser.
    for fen in [
        "8/8/8/8/8/8/8/K1k5 w - -",
        "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1",
        "8/8/8/8/8/8/8/K1k5 w - - 0 10001",
    ] {
        let line = format!("position fen {fen} moves a1a2");
        let read = position(line.as_bytes()).unwrap();
        assert_eq!(read.fen.as_deref(), Some(fen));
        assert_eq!(moves(read.moves), ["a1a2"]);
        let quoted = format!("position fen \"{fen}\"");
        let read = position(quoted.as_bytes()).unwrap();
        assert_eq!(read.fen.as_deref(), Some(fen));
        assert_eq!(read.moves, b"");
    }
    assert_eq!(position(b"position startposmoves"), None);
    assert_eq!(position(b"position"), None);
    assert_eq!(moves(start("position startpos moves").moves), [""; 0]);
}

#[test]
fn a_value_is_text_and_empty_has_a_word_of_its_own() {
    let text_of = |line: &[u8]| match parse(line) {
        GuiCommand::SetOption(option) => option.text(),
        other => panic!("{other:?}"),
    };
    for (line, expected) in [
        (&b"setoption name X value <empty>"[..], ""),
        (b"setoption name X value", ""),
        (b"setoption name X", ""),
        (b"setoption name X value <empty>.ctg", "<empty>.ctg"),
        (b"setoption name X value B\xfccher", "B\u{fc}cher"),
        (b"setoption name X value a  b", "a  b"),
    ] {
        assert_eq!(text_of(line), expected);
    }
}

#[test]
fn options_are_split_at_the_word_value() {
    type Row = (&'static [u8], &'static str, Option<&'static [u8]>);
    let rows: [Row; 12] = [
        (b"setoption name Hash value 64", "Hash", Some(b"64")),
        (b"setoption name Clear Hash", "Clear Hash", None),
        (b"setoption name X value ", "X", Some(b"")),
        (b"setoption name X value", "X", Some(b"")),
        (b"setoption name X value <empty>", "X", Some(b"<empty>")),
        // The parser splits at any word that begins with "value".
        (
            b"setoption name Book Valued Weight value 3",
            "Book Valued Weight",
            Some(b"3"),
        ),
        (
            b"setoption name Book File value C:\\my  books\\a b.ctg",
            "Book File",
            Some(b"C:\\my  books\\a b.ctg"),
        ),
        (
            b"setoption name Book File value B\xfccher/x.ctg \r",
            "Book File",
            Some(b"B\xfccher/x.ctg"),
        ),
        (
            b"setoption  name   Book  File   value  x ",
            "Book File",
            Some(b"x"),
        ),
        (
            b"setoption name Text value a value b",
            "Text",
            Some(b"a value b"),
        ),
        (b"setoption name debug value go", "debug", Some(b"go")),
        (b"joho setoption name Hash value 1", "Hash", Some(b"1")),
    ];
    for (line, name, value) in rows {
        let (read_name, read_value) = option_of(line);
        assert_eq!(read_name, name);
        assert_eq!(read_value.as_deref(), value, "{}", text(line));
    }
    assert_eq!(parse(b"setoption"), GuiCommand::Other);
    assert_eq!(parse(b"setoption name"), GuiCommand::Other);
    assert_eq!(parse(b"setoption name value 3"), GuiCommand::Other);
}

proptest! {
    #[test]
    fn any_bytes_are_some_command(line in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&line);
        let _ = position(&line);
        let _ = moves(&line);
    }

    #[test]
    fn any_words_are_some_command(line in prop::collection::vec(
        prop::sample::select(vec![
            "go", "position", "startpos", "fen", "moves", "e2e4", "0000", "setoption",
            "name", "value", "wtime", "-5", "ponder", "infinite", "depth", "300", "mate",
            "searchmoves", "", "Book", "\t", "stop",
        ]), 0..14)) {
        let line = line.join(" ");
        let _ = parse(line.as_bytes());
        let _ = position(line.as_bytes());
    }
}

#[test]
fn only_the_words_after_searchmoves_are_replaced() {
    let other = |word: &[u8]| (word == b"e1h1").then(|| "e1g1".to_owned());
    let of = |line: &str| with_searchmoves(line.as_bytes(), other).map(|line| text(&line));
    for line in [
        "go depth e1h1",
        "go searchmoves e2e4 d2d4",
        "go e1h1 searchmoves",
    ] {
        assert_eq!(of(line), None, "{line}");
    }
    let line = "go  searchmoves e1h1 e2e4  e1h1 depth e1h1 searchmoves\te1h1 ";
    let then = "go  searchmoves e1g1 e2e4  e1g1 depth e1h1 searchmoves\te1g1 ";
    assert_eq!(of(line).as_deref(), Some(then));
}
