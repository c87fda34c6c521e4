use super::*;

/// For each game, its tags as `name=value`, then the tokens of the movetext.
fn parsed(text: &str) -> Vec<String> {
    let mut tokens = Tokens::new(text.as_bytes(), 0);
    let mut games = Vec::new();
    while tokens.go_to_game() {
        let mut parsed = Vec::new();
        while let Some(tag) = tokens.next_tag() {
            let [name, value] =
                [tag.name, tag.value].map(|text| String::from_utf8_lossy(text).into_owned());
            parsed.push(format!("{name}={value}"));
        }
        parsed.extend(tokens.notes().iter().map(|note| format!("{note:?}")));
        while let Some(token) = tokens.next() {
            parsed.push(match token {
                Token::Move(san) => san.to_string(),
                Token::Word(word) => format!("<{}>", String::from_utf8_lossy(word)),
                Token::Nag(nag) => format!("${nag}"),
                Token::Result(result) => result.to_pgn().to_owned(),
                Token::Begin => "(".to_owned(),
                Token::End => ")".to_owned(),
                Token::Comment(text) | Token::LineComment(text) => {
                    format!("{{{}}}", String::from_utf8_lossy(text))
                }
                Token::Unclosed => "...".to_owned(),
            });
        }
        games.push(parsed.join(" "));
    }
    games
}

#[track_caller]
fn assert_parsed(text: &str, games: &[&str]) {
    assert_eq!(parsed(text), games, "{text}");
}

#[test]
fn every_word_is_parsed() {
    assert_parsed(
        "1.f3! e5$71 2.g4 ?? (-- {}) O-O O-O-O#!?0-1",
        &["f3 $1 e5 $71 g4 $4 ( -- {} ) O-O O-O-O $5 0-1"],
    );
    assert_parsed(
        "1-0 0-1 1/2-1/2 1–0 0–1 ½–½ 1:0 1/2 *",
        &["1-0 0-1 1/2-1/2 1-0 0-1 1/2-1/2 1-0 1/2-1/2 *"],
    );
    assert_parsed(
        "1. Ng1f3 Nb8-c6 2. e2-e4 Nf6-+ 3. Sf3 Nf3+- 4.bxa8Q b8=(Q) b8(Q) b8/Q",
        &["Ng1f3 <Nb8-c6> <e2-e4> <Nf6-+> <Sf3> <Nf3+-> <bxa8Q> <b8=(Q)> <b8(Q)> <b8/Q>"],
    );
    assert_parsed(
        "1… e4, e5 0-0 0–0-0 0000 exd6 e.p. Nf3± ♘f3 e8(♕) [%clk 1:00] Bb5 ch x }",
        &["e4 e5 <0-0> <0–0-0> <0000> exd6 <e.p> <Nf3±> <♘f3> <e8(♕)> Bb5 <ch> <x>"],
    );
    assert_parsed("1.\u{a0}e4\u{a0}e5 (=) {half", &["<e4> e5 ( <=> ) ..."]);
    assert_parsed(
        "e4 ; to the end\ne5\n% no\nNf3",
        &["e4 { to the end} e5 Nf3"],
    );
}

#[test]
fn tags_are_read_as_they_were_meant() {
    let names = ["A=1 B=x"];
    for text in [
        "[A \"1\"]\n[B \"x\"]\n",
        "[A \"1\"] [B \"x\"]",
        "[A \"1\"] \u{201c}note\n[B \"x\"]\n",
        "[A \"1\"]]\n\n[B \"x\"]",
        "[A \"1\"\n[B \"x]\n",
        "[A \"1\n[B \"x\"]\n",
        "[A 1]\n[ B  x ]\n",
        "[A\n\"1\"]\n[B \"x\"\n",
        "[A\n \"1\" ]\n%[C \"\"]\n[%x]\n[B \"x\"  ]\n",
    ] {
        assert_parsed(text, &names);
    }
    assert_parsed(
        "[White \"A \"the\" B\"]\n[C \"a\nb\"]\n[D \"C:\\\"]\n[E \"\\\"e\"]\n1. e4",
        &["White=A \"the\" B C=a\nb D=C:\\ E=\\\"e e4"],
    );
    assert_parsed(
        r#"[Event "a \"b\""] [Site "c"]"#,
        &[r#"Event=a \"b\" Site=c"#],
    );
    assert_parsed(
        "[1st \"x\"]\n[White-Team \"y\"]\n[2. Nf3 x]\ne4",
        &["1st=x White-Team=y e4"],
    );
    assert_parsed("[White Anand, V]\n\n1. e4", &["White=Anand, V e4"]);
    assert_parsed(
        "[A \"1\"] ;one\n[B \"2\"]",
        &["A=1 B=2 LineComment([111, 110, 101])"],
    );
    assert_parsed(
        "[A \"1\"] {one}\n[B \"2\"]\n\n{two}\n\n1. e4 *",
        &["A=1 B=2 Comment([111, 110, 101]) {two} e4 *"],
    );
    assert_parsed(
        "[A \"1\"]1. e4 *\n[A \"2\"]d4 *\n",
        &["A=1 e4 *", "A=2 d4 *"],
    );
    assert_parsed("[A \"1\"]\n\n[A \"2\"]\n\ne4", &["A=1", "A=2 e4"]);
}

/// The search for brackets goes on behind its window, wherever that ends.
#[test]
fn the_tags_of_the_next_game_are_found_behind_any_length_of_comment() {
    for length in (BRACKET_BYTES - 40..BRACKET_BYTES + 10).chain(9_000..9_003) {
        let filler = "[x \"y\"] ".repeat(length / 8) + &"x".repeat(length % 8);
        let next = "[A \"1\"]\n[B \"2\"]\n";
        let text = format!("1. e4 {{{filler}\n\n{next}\n1. d4 {{}} *");
        let mut tokens = Tokens::new(text.as_bytes(), 0);
        assert!(matches!(tokens.next(), Some(Token::Move(_))));
        assert_eq!(tokens.next(), Some(Token::Unclosed), "{length}");
        assert!(tokens.rest().starts_with(next.as_bytes()), "{length}");
        let text = format!("{{{filler}\n\n[x]\n{next}}} *");
        let mut tokens = Tokens::new(text.as_bytes(), 0);
        assert!(matches!(tokens.next(), Some(Token::Comment(_))), "{length}");
        assert!(matches!(tokens.next(), Some(Token::Result(_))), "{length}");
    }
}

#[test]
fn a_game_goes_on_after_an_empty_line() {
    assert_parsed("1. e4 e5\n\n2. Nf3 *\n\n3. x\n", &["e4 e5 Nf3 *", "<x>"]);
    assert_parsed(
        "{a}\r\n\r\n1. e4\n\n1. d4\n\nprose",
        &["{a} e4", "d4", "<prose>"],
    );
    assert_parsed("1. e4 (1. d4\n\n2. c4) e5", &["e4 ( d4 c4 ) e5"]);
}

/// Reading and skipping end at the same place. With each text, its games, and how many tokens of
/// the first follow a move number.
#[test]
fn odd_movetext_is_read_as_it_was_meant() {
    for (text, games, numbered) in [
        (
            "12...e5 12… e5 1…e5 1. 0.5-0.5 1.0-0 1.5-5 12",
            "e5 e5 e5 1/2-1/2 <0-0> <5-5> <12>",
            4,
        ),
        (
            "00 000 0000 5254 52541 525412 3/4 3x 12-13 1–0x 2!",
            "<00> <000> <0000> <5254> <52541> <525412> <3/4> <3> <x> <12-13> <1–0x> <2> $1",
            4,
        ),
        (
            "$ $1 $11-0 $110-1 $1-0 $99999999999 e4$1$2 $12x $5? $1.",
            "$1 $1 1-0 $11 0-1 1-0 $4294967295 e4 $1 $2 $12 <x> $5 $2 $1",
            0,
        ),
        (
            "! !! !? ? ?? ?! !x ?e4 !!!",
            "$1 $3 $5 $2 $4 $6 $1 <x> $2 e4 $3 $1",
            0,
        ),
        (
            "(!?) (+-) (=) (N) (±) (+- e4) (!) (!!!) (-- d4) (∞) (⩲",
            "$5 $18 ( <=> ) $146 $16 ( <+-> e4 ) $1 ( $3 $1 ) ( -- d4 ) $13 ( <⩲>",
            0,
        ),
        ("(N) (Nf3) (T) (TN) (!", "$146 ( Nf3 ) ( <T> ) $146 ( $1", 0),
        ("e4 [%clk 1] e5 [x] Nf3 [%eval 2 d4", "e4 e5 <[x]> Nf3", 0),
        ("e4 [Event \"x\"] d4", "e4 <[Event> <\"x\"]> d4", 0),
        ("e4 {c} [Event \"x\"] d4", "e4 {c} | Event=x d4", 0),
        ("e4 1-0 [Event \"x\"] d4", "e4 1-0 | Event=x d4", 0),
        ("e4 1-0 {c} [Event \"x\"] d4", "e4 1-0 {c} | Event=x d4", 0),
        (
            "e8(Q)+ e8(Q e8(QQ) e8({) e8(♕) e8() e8(Q)e4",
            "<e8(Q)+> e8 ( <Q> e8 ( <QQ> ) e8 ( ...",
            0,
        ),
        (
            "exd6e.p. e.p. x.y x. x.. e4. e4.d4",
            "<exd6e.p> <e.p> <x.y> <x> <x> e4 e4 d4",
            2,
        ),
        (
            "Nf31-0 Nf3*  Nf3½-½ xyz1-0 x1-0y",
            "Nf3 1-0 Nf3 * Nf3 1/2-1/2 <xyz> 1-0 <x1-0y>",
            0,
        ),
        (
            "e4\u{a0}e5 e4+\u{a0}x\u{2009}y x\u{200b} …e5",
            "<e4> e5 <e4+> <x> <y> <x> e5",
            0,
        ),
        ("1-0 1. e4", "1-0 e4", 1),
        ("e4 1-0 1. e4", "e4 1-0 | e4", 0),
        ("e4 1-0 1.e4", "e4 1-0 | e4", 0),
        ("e4 1-0 1 e4", "e4 1-0 | <1> e4", 0),
        ("e4 1-0 1e4", "e4 1-0 <1> e4", 1),
        ("e4 1-0 1 Ke5", "e4 1-0 <1> Ke5", 1),
        ("e4 1-0 1 x", "e4 1-0 <1> <x>", 1),
        ("e4 1-0 1... e5", "e4 1-0 e5", 1),
        ("e4 1-0 1.0-0", "e4 1-0 <0-0>", 1),
        ("e4 1-0 1. 0-0-0", "e4 1-0 | <0-0-0>", 0),
        ("e4 1-0 1. prize", "e4 1-0 <prize>", 1),
        ("e4 1-0 1.{c} e4", "e4 1-0 | {c} e4", 0),
        ("e4 1-0 1. --", "e4 1-0 | --", 0),
        ("e4 1-0 1. Z0", "e4 1-0 | --", 0),
        ("e4 1-0 1.* e4", "e4 1-0 * e4", 1),
        ("e4 1-0 1.(e4)", "e4 1-0 | ( e4 )", 0),
        ("e4 1-0 1.;x", "e4 1-0 | {x}", 0),
        ("e4 1-0 1. 1-0", "e4 1-0 1-0", 1),
        ("e4 1-0 1.", "e4 1-0", 0),
        ("e4 1-0 1. …e5", "e4 1-0 | e5", 0),
        ("(e4 1-0) 1. d4", "( e4 1-0 ) d4", 1),
        ("(e4 1-0 1. d4)", "( e4 1-0 d4 )", 1),
        ("e4 1-0 (d4) 1. d4", "e4 1-0 ( d4 ) | d4", 0),
        ("e4 1-0 2. d4", "e4 1-0 d4", 1),
        ("e4 * 1. d4 * 1. c4", "e4 * | d4 * | c4", 0),
        ("e4 1-0 12. d4", "e4 1-0 d4", 1),
        ("1. e4\n\n2. d4", "e4 d4", 2),
        ("1. e4\n\n1... d4", "e4 d4", 2),
        ("1. e4\n\n1… d4", "e4 d4", 1),
        ("1. e4\n\n1. d4", "e4 | d4", 1),
        ("1. e4\n\n0. d4", "e4 | d4", 1),
        ("1. e4\n\n12 d4", "e4 | <12> d4", 1),
        ("1. e4\n\n(d4)", "e4 ( d4 )", 1),
        ("1. e4\n\n) d4", "e4 ) d4", 1),
        ("1. e4\n\n* d4", "e4 * d4", 1),
        ("1. e4\n\n1-0 d4", "e4 1-0 d4", 1),
        ("1. e4\n\ne5\u{2009}d4", "e4 <e5> d4", 1),
        ("1. e4\n\ne5+\u{2009}d4", "e4 <e5+> d4", 1),
        ("1. e4\n\nfoo d4", "e4 | <foo> d4", 1),
        ("1. e4\n\n{a} {b} ;c\n{d}\ne5", "e4 {a} {b} {c} {d} e5", 1),
        (
            "1. e4\n\n{a} {b} ;c\n{d} {e}\ne5",
            "e4 | {a} {b} {c} {d} {e} e5",
            1,
        ),
        ("1. e4\n\n", "e4", 1),
        ("1. e4\n\n[x] d4", "e4 | d4", 1),
        ("1. e4\n\n[x d4", "e4 | x=d4", 1),
        ("1. e4\n\n[%x] d4", "e4 d4", 1),
        ("1. e4 1-0\n1. d4", "e4 1-0 | d4", 1),
        ("1. e4\n1. d4", "e4 d4", 2),
        ("1. e4 1-0 {x}\n1. d4", "e4 1-0 {x} | d4", 1),
        ("1. e4 1-0 {x\n1. d4", "e4 1-0 ...", 1),
        ("1. e4 1-0\n1.d4", "e4 1-0 | d4", 1),
        ("1. e4 1-0\n1 d4", "e4 1-0 | <1> d4", 1),
        ("1. e4\n [A \"1\"]\n", "e4 | A=1", 1),
        ("1. e4\n [A 1]\n", "e4 <[A> <1> <]>", 2),
        ("1. e4\n  \t\n[A \"1\"]\n", "e4 | A=1", 1),
        ("1. e4\n%x\ne5", "e4 e5", 1),
        ("%x\n%y\n1. e4 %z", "e4 <%z>", 1),
        ("{a}\n\n{b}\n\n1. e4", "{a} {b} e4", 1),
        ("> 1. e4\n> e5 \u{1a}", "e4 e5", 1),
    ] {
        assert_eq!(parsed(text).join(" | "), games, "{text}");
        let mut tokens = Tokens::new(text.as_bytes(), 0);
        assert!(tokens.go_to_game() && tokens.next_tag().is_none());
        let mut read = tokens.again();
        let follow = std::iter::from_fn(|| read.next().map(|_| read.follows_number()));
        assert_eq!(follow.filter(|is_so| *is_so).count(), numbered, "{text}");
        tokens.skip_movetext();
        assert_eq!(tokens.at(), read.at(), "{text}");
        let first = games.split(" | ").next().unwrap_or_default();
        let last = first
            .split(' ')
            .rfind(|word| !word.starts_with('{') && *word != "...");
        if let Some(result) = tokens.skipped_result() {
            assert_eq!(last, Some(result.to_pgn()), "{text}");
        }
    }
}
