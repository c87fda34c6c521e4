//! Games written in random mixtures of the forms that programs use, with what people
//! add to them, are read as the same games; whatever the text is, the sizes of batches
//! and the parts that are read do not change where a game begins and ends.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Color, Position as _};

use super::source::{BatchSize, PgnSource};
use super::tokens::Tokens;
use crate::{Game, GameParts, GameResult, GameSource as _};

/// A source of choices; after its end, the first one is always taken.
struct Choices<'c>(std::slice::Iter<'c, u8>);

impl Choices<'_> {
    fn below(&mut self, count: usize) -> usize {
        let high = self.0.next().copied().unwrap_or(0);
        usize::from(high) % count.max(1)
    }

    /// Seldom, and less often than the first of two.
    fn seldom(&mut self) -> bool {
        self.below(6) == 5
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in 1..list.len() {
            let other = at - self.below(at + 1);
            list.swap(at, other);
        }
    }
}

/// What is to be read of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Expected {
    white: String,
    black_elo: u16,
    year: u16,
    result: GameResult,
    first: String,
    moves: Vec<String>,
}

const KNIGHT_ODDS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/R1BQKBNR w KQkq - 0 1";

const COMMENTS: [&str; 10] = [
    "{a}",
    "{[%clk 0:01:00]}",
    "{[%cal Ge2e4,Rd1d8] [%csl Gd4]}",
    "{see (the file)\n[Event \"Old\"]\n[Site \"x\"] for more}",
    "{the game\n\n[Event \"Old\"]\n[Site \"x\"]\n\n1. d4 1-0}",
    "{\n[Event \"Old\"]}",
    "{1-0; then}",
    "{a { b}",
    "{}",
    "{; 1/2-1/2 (\n\n$}",
];

/// One game: what it is, and its text.
fn game(number: usize, choices: &mut Choices<'_>) -> (Expected, String) {
    let mut expected = Expected {
        white: format!("W{number}"),
        black_elo: 2000 + number as u16,
        year: 1990 + number as u16,
        ..Expected::default()
    };
    let results = [
        GameResult::Won(Color::White),
        GameResult::Draw,
        GameResult::Won(Color::Black),
    ];
    let result = results[choices.below(3)];
    let mut tags = vec![
        ("Event", "x".to_owned()),
        ("Site", "a {b".to_owned()),
        ("White", expected.white.clone()),
        ("Black", "B".to_owned()),
        ("BlackElo", expected.black_elo.to_string()),
        ("Date", format!("{}.02.03", expected.year)),
        ("EventDate", "1850.01.01".to_owned()),
        ("UTCDate", "1851.01.01".to_owned()),
        ("1st", "y; [z".to_owned()),
    ];
    let mut position = Chess::default();
    if choices.seldom() {
        tags.push(("FEN", KNIGHT_ODDS.to_owned()));
        let fen: Fen = KNIGHT_ODDS.parse().unwrap();
        position = fen.into_position(CastlingMode::Standard).unwrap();
    }
    let in_moves = !choices.seldom();
    expected.result = result;
    let stated = result.to_pgn();
    match choices.below(5) {
        1 if in_moves => tags.push(("Result", "*".to_owned())),
        2 if in_moves => {}
        3 => tags.push(("Result", stated.replace('-', " - "))),
        4 if result == GameResult::Draw => tags.push(("Result", "0.5-0.5".to_owned())),
        _ => tags.push(("Result", stated.to_owned())),
    }
    let is_twice = choices.seldom();
    match choices.below(4) {
        1 => drop(tags.remove(0)),
        _ if is_twice => tags.push(("Event", "again".to_owned())),
        _ => {}
    }
    match choices.below(4) {
        1 => tags.sort(),
        2 => tags.reverse(),
        3 => choices.shuffle(&mut tags),
        _ => {}
    }
    let mut text = String::new();
    for (name, value) in &tags {
        let name = match choices.below(8) {
            6 => name.to_uppercase(),
            7 => name.to_lowercase(),
            _ => (*name).to_owned(),
        };
        text += &format!("[{name} \"{value}\"]");
        text += match choices.below(12) {
            7 => " ",
            8 => "\n% [Event \"no\"]\n",
            9 => "\n{of [Event \"no\"]}\n",
            10 => "\n;[Event \"no\"]\n",
            11 if !is_twice => "\n\n",
            _ => "\n",
        };
    }
    text += choices.pick(&["\n", "\n", "", "\n\n", "  \n"]);
    expected.first = Fen::from_position(&position, shakmaty::EnPassantMode::Legal).to_string();
    let moves = 1 + choices.below(30);
    let mut last = text.len();
    for ply in 0..moves {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let (is_white, move_number) = (position.turn() == Color::White, ply / 2 + 1);
        if is_white || choices.seldom() {
            let dots = match is_white {
                true if text[last..].contains('\n') => ". ",
                true => choices.pick(&[". ", ".", ".\u{a0}", ".\n", " "]),
                false => choices.pick(&["... ", "...", "…"]),
            };
            text += &format!("{move_number}{dots}");
        }
        let m = legal[choices.below(legal.len())];
        let before = position.clone();
        let written = |m| SanPlus::from_move(before.clone(), m).to_string();
        let san = written(m);
        position.play_unchecked(m);
        last = text.len();
        text += &san;
        expected.moves.push(san);
        let is_last = ply + 1 == moves || position.legal_moves().is_empty();
        text += choices.pick(&["", "", "", "!", " $14", "?!", "$6"]);
        while choices.seldom() {
            text += match choices.below(5) {
                0 => " ; [Event \"no\"] {\n",
                1 => "\n% 1-0 {\n",
                2 => {
                    let other = written(legal[choices.below(legal.len())]);
                    text += &format!(" ({other}) ");
                    continue;
                }
                _ => choices.pick(&COMMENTS),
            };
        }
        if !is_last {
            text += match choices.below(8) {
                4 => "\n",
                5 => "\u{a0}",
                6 => "\t",
                // An empty line, before a number.
                7 if !is_white && !text.ends_with('\n') => "\n\n",
                _ => " ",
            };
        }
    }
    if !in_moves {
        return (expected, text + choices.pick(&["\n\n", "\n"]));
    }
    let decimal = stated.replace("1/2", "0.5");
    let is_draw = result == GameResult::Draw;
    let written = match choices.below(6) {
        1 => stated.replace('-', " - "),
        2 => stated.replace('-', "–"),
        3 => stated.replace('-', ":"),
        4 if is_draw => decimal,
        5 if is_draw => "½-½".to_owned(),
        _ => stated.to_owned(),
    };
    let before = choices.pick(&[" ", "", "\n", "\n\n", " {end} "]);
    text += before;
    let is_after_nag = before.is_empty() && (text.ends_with("$14") || text.ends_with("$6"));
    // `$61 - 0` can mean anything.
    text += if is_after_nag { stated } else { &written };
    text += choices.pick(&["\n\n", "\n\n\n", "\n", " ", " {end}\n\n", "\n% x\n\n"]);
    (expected, text)
}

/// The games of a text, or why they are skipped, and the remarks.
fn read(text: &str, wanted: GameParts, goal: usize) -> (Vec<String>, Vec<Game>) {
    let bytes = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
    let mut source = PgnSource::new("x", bytes, Arc::new(AtomicU64::new(0)));
    source.size = BatchSize {
        goal,
        most: usize::MAX,
    };
    let (mut found, mut games) = (Vec::new(), Vec::new());
    while let Some(mut batch) = source.next_batch().unwrap() {
        loop {
            assert!(found.len() <= text.len(), "{text:?} {:?}", found.last());
            let mut game = Game::default();
            match batch.next_game(wanted, &mut game) {
                Ok(false) => break,
                Ok(true) => {
                    let Game {
                        tags,
                        movetext,
                        cut,
                        ..
                    } = &game;
                    let main = found_in(&game);
                    let place = batch.place();
                    found.push(format!("{place}: {main:?} {tags:?} {movetext:?} {cut:?}"));
                    games.push(game);
                }
                Err(reason) => found.push(batch.skip(reason).to_string()),
            }
        }
    }
    found.extend(source.remarks());
    (found, games)
}

fn found_in(game: &Game) -> Expected {
    let moves = game.positions.iter().zip(&game.moves);
    let first = game.positions[0].clone();
    Expected {
        white: game.names.white.clone(),
        black_elo: game.elo.black,
        year: game.year,
        result: game.result,
        first: Fen::from_position(&first, shakmaty::EnPassantMode::Legal).to_string(),
        moves: moves
            .map(|(position, m)| SanPlus::from_move(position.clone(), *m).to_string())
            .collect(),
    }
}

/// Pieces of PGN, whole and broken.
const PIECES: [&str; 48] = [
    "\n",
    "\n\n",
    " ",
    "\r\n",
    "[Event \"x\"]\n",
    "[Site \"y\"]\n",
    "[Event \"x\"]",
    "[White \"a {b\"]\n",
    "[1x \"y\"]\n",
    "[FEN \"x\"]\n",
    "[x\n",
    "[",
    "]",
    "\"",
    "1. ",
    "2. ",
    "1... ",
    "12.",
    "e4 ",
    "e5 ",
    "Nf3",
    "O-O",
    "0-0",
    "b8=(Q)",
    "b8(;)",
    "Qxf7#",
    "1-0",
    "0-1\n",
    "1/2-1/2",
    "1 - 0",
    "*",
    "*\n\n",
    "{",
    "}",
    "{a}",
    "{a\n\n[Event \"x\"]\n[Site \"y\"]\n\n1. e4 *}",
    ";",
    "; a {\n",
    "(",
    ")",
    "$1",
    "$11-0",
    "[%clk 1]",
    "[%x {",
    "\n% {\n",
    "\u{a0}",
    "> ",
    "!?",
];

/// Pieces of games on one line that begin, or seem to.
const BEGINNINGS: [&str; 24] = [
    "1. e4 ",
    "1.d4 ",
    "1 ",
    "1. ",
    "1.",
    "1... ",
    "1. ... ",
    "1. {a} c4 ",
    "1. place ",
    "11. ",
    "e4 ",
    "Nf3 ",
    "place ",
    "--",
    "1-0 ",
    "*",
    "1/2 ",
    "½-½\u{a0}",
    "(",
    ")",
    "{1-0}",
    "$1",
    "\n",
    "\u{a0}",
];

/// A game without tags of one line, with something after its result.
fn game_on_a_line(choices: &mut Choices<'_>) -> (Expected, String) {
    let mut position = Chess::default();
    let mut expected = Expected {
        first: Fen::from_position(&position, shakmaty::EnPassantMode::Legal).to_string(),
        ..Expected::default()
    };
    let mut text = String::new();
    for ply in 0..1 + choices.below(9) {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        if ply % 2 == 0 {
            text += &format!(
                "{}{}",
                ply / 2 + 1,
                choices.pick(&[". ", ".", ".\u{a0}", ". {b} "])
            );
        }
        let m = legal[choices.below(legal.len())];
        let san = SanPlus::from_move(position.clone(), m).to_string();
        text += &format!("{san} ");
        text += choices.pick(&[
            "",
            "",
            "",
            "{1-0} ",
            "$1 ",
            "(1. -- * 1. d4 1-0 1. c4) ",
            "{*} ",
        ]);
        expected.moves.push(san);
        position.play_unchecked(m);
    }
    let results = [
        GameResult::Won(Color::White),
        GameResult::Draw,
        GameResult::Won(Color::Black),
        GameResult::Unknown,
    ];
    expected.result = results[choices.below(4)];
    text += expected.result.to_pgn();
    text += choices.pick(&[
        "",
        "",
        " {end}",
        " {1. d4 1-0} {1-0}",
        " $1",
        " White wins",
        " (1. c4 *)",
    ]);
    (expected, text)
}

/// The same cases in each run. `PROPTEST_RNG_SEED` and `PROPTEST_CASES` find more.
fn config(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    let usual = ProptestConfig::with_cases(cases);
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => given,
        None => ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            ..usual
        },
    }
}

fn write(games: &[Game]) -> String {
    let mut text = String::new();
    for game in games {
        crate::write_pgn(game, &mut text);
    }
    text
}

/// Lines of moves have at most 79 characters, unless it is a single word, and no room for
/// the first word of the next line.
fn are_lines_full(written: &str) -> Result<(), TestCaseError> {
    let is_moves = |line: &str| !line.is_empty() && !line.starts_with('[');
    let lines: Vec<&str> = written.lines().collect();
    for (line, next) in lines.iter().zip(lines.iter().skip(1).chain([&""])) {
        let length = line.chars().count();
        if !is_moves(line) {
            continue;
        }
        prop_assert!(
            length <= 79 || !line.contains(' ') || line.contains(" %"),
            "{}",
            line
        );
        let word = next.split(' ').next().unwrap_or_default();
        let stays = next.contains(" %") || next.contains(" [");
        if is_moves(next) && !stays {
            prop_assert!(length + 1 + word.chars().count() > 79, "{}\n{}", line, next);
        }
    }
    Ok(())
}

/// A game of which some tokens are read and the rest is skipped ends where reading ends.
fn skipping_stops(text: &str, start: usize) -> Result<(), TestCaseError> {
    let mut read = Tokens::new(text.as_bytes(), 0);
    while read.next_tag().is_some() {}
    let mut skip = Tokens::new(text.as_bytes(), 0);
    while skip.next_tag().is_some() {}
    let mut number = 0;
    loop {
        if number == start {
            skip.skip_movetext();
        }
        number += 1;
        let token = read.next();
        if number <= start {
            prop_assert_eq!(skip.next(), token.clone());
        }
        if token.is_none() || read.unclosed().is_some() {
            break;
        }
    }
    prop_assert_eq!(skip.at(), read.at(), "{:?}", text);
    prop_assert_eq!(skip.unclosed(), read.unclosed());
    Ok(())
}

proptest! {
    #![proptest_config(config(1000))]

    /// The same games, in mixtures of all forms, with any batch size.
    #[test]
    fn games_in_mixed_forms_are_the_same_games(
        choices in prop::collection::vec(any::<u8>(), 0..400),
        line_end in 0..4_usize,
        goal in 1..4000_usize,
    ) {
        let mut choices = Choices(choices.iter());
        let count = 1 + choices.below(5);
        let (expected, texts): (Vec<Expected>, Vec<String>) =
            (0..count).map(|number| game(number, &mut choices)).unzip();
        let text = texts.concat().replace('\n', ["\n", "\r\n", "\r", "\r\r\n"][line_end]);
        let (_, games) = read(&text, GameParts::default(), 512 << 10);
        let found: Vec<Expected> = games.iter().map(found_in).collect();
        prop_assert_eq!(&found, &expected, "{}", text);
        prop_assert!(games.iter().all(|game| game.cut.is_none()), "{}", text);
        for wanted in [GameParts::default(), GameParts::EVERYTHING] {
            let (whole, games) = read(&text, wanted, 512 << 10);
            let found: Vec<Expected> = games.iter().map(found_in).collect();
            prop_assert_eq!(&found, &expected, "{}", text);
            prop_assert_eq!(read(&text, wanted, goal).0, whole, "{}", text);
        }
    }

    /// Games without tags are the same games on one line as on many.
    #[test]
    fn games_on_one_line_are_those_on_many(
        choices in prop::collection::vec(any::<u8>(), 0..400),
        goal in 1..300_usize,
    ) {
        let mut choices = Choices(choices.iter());
        let count = 1 + choices.below(6);
        let (expected, texts): (Vec<Expected>, Vec<String>) =
            (0..count).map(|_| game_on_a_line(&mut choices)).unzip();
        for wanted in [GameParts::default(), GameParts::EVERYTHING] {
            let (_, apart) = read(&texts.join("\n"), wanted, 512 << 10);
            let text = texts.join(" ");
            let (whole, joined) = read(&text, wanted, 512 << 10);
            let found: Vec<Expected> = joined.iter().map(found_in).collect();
            prop_assert_eq!(&found, &expected, "{}", text);
            let items = |games: &[Game]| -> Vec<_> {
                games.iter().map(|game| (found_in(game), game.movetext.clone())).collect()
            };
            prop_assert_eq!(items(&joined), items(&apart), "{}", text);
            // No remarks.
            prop_assert_eq!(whole.len(), count, "{}", text);
            prop_assert_eq!(read(&text, wanted, goal).0, whole, "{}", text);
        }
    }

    /// Whatever the text is, the batches do not matter.
    #[test]
    fn batches_do_not_change_what_is_read(
        pieces in prop::collection::vec(0..PIECES.len(), 0..60),
        goal in 1..300_usize,
    ) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        for wanted in [GameParts::default(), GameParts::EVERYTHING] {
            let whole = read(&text, wanted, 512 << 10).0;
            prop_assert_eq!(read(&text, wanted, goal).0, whole, "{:?}", text);
        }
    }

    /// Whatever the text is, what is written of it is read as the same games, and written
    /// again it has the same bytes.
    #[test]
    fn written_games_are_the_games_that_were_read(
        choices in prop::collection::vec(any::<u8>(), 0..400),
        count in 1..4_usize,
        pieces in prop::collection::vec(0..PIECES.len(), 0..60),
        words in prop::collection::vec("[a-z%]{1,30}", 0..40),
    ) {
        let mut choices = Choices(choices.iter());
        let regular: String = (0..count).map(|number| game(number, &mut choices).1).collect();
        let pieces: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        let comment = format!("1. e4 {{{}}} e5 *\n\n", words.join(" "));
        for text in [regular, pieces, comment] {
            let (_, games) = read(&text, GameParts::EVERYTHING, 512 << 10);
            let written = write(&games);
            let (_, again) = read(&written, GameParts::EVERYTHING, 512 << 10);
            let kept = |games: &[Game]| -> Vec<_> {
                let of_game = |game: &Game| match found_in(game) {
                    // An unknown name is written so.
                    found if found.white.is_empty() => Expected { white: "?".to_owned(), ..found },
                    found => found,
                };
                games.iter().map(of_game).collect()
            };
            prop_assert_eq!(kept(&again), kept(&games), "{}{}", text, written);
            prop_assert_eq!(&write(&again), &written);
            are_lines_full(&written)?;
        }
    }

    /// Whatever the text is, a game that is not read ends where reading ends.
    #[test]
    fn skipping_stops_where_reading_does(
        pieces in prop::collection::vec(0..PIECES.len(), 0..100),
        start in 0..50_usize,
    ) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        skipping_stops(&text, start)?;
    }

    /// Also where games may follow on the same line.
    #[test]
    fn skipping_stops_where_another_game_begins_on_the_line(
        pieces in prop::collection::vec(0..BEGINNINGS.len(), 0..60),
        start in 0..20_usize,
    ) {
        let text: String = pieces.into_iter().map(|piece| BEGINNINGS[piece]).collect();
        skipping_stops(&text, start)?;
        for wanted in [GameParts::default(), GameParts::EVERYTHING] {
            let whole = read(&text, wanted, 512 << 10).0;
            prop_assert_eq!(read(&text, wanted, 1 + start).0, whole, "{:?}", text);
        }
    }

    /// A variation that is not read ends where reading it ends.
    #[test]
    fn skipping_a_variation_stops_where_reading_it_does(
        pieces in prop::collection::vec(0..PIECES.len(), 0..60),
    ) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        // Outside variations, another game may begin.
        let text = format!("( {text}");
        let mut read = Tokens::new(text.as_bytes(), 0);
        let mut skip = Tokens::new(text.as_bytes(), 0);
        prop_assert_eq!(read.next(), Some(super::tokens::Token::Begin));
        prop_assert_eq!(skip.next(), Some(super::tokens::Token::Begin));
        let mut depth = 0;
        while let Some(token) = read.next() {
            match token {
                super::tokens::Token::Begin => depth += 1,
                super::tokens::Token::End if depth == 0 => break,
                super::tokens::Token::End => depth -= 1,
                super::tokens::Token::Unclosed => break,
                _ => {}
            }
        }
        skip.skip_variation();
        let ends = skip.next();
        prop_assert_eq!(skip.unclosed(), read.unclosed(), "{:?}", text);
        if read.unclosed().is_none() {
            prop_assert_eq!(skip.at(), read.at(), "{:?} {:?}", text, ends);
        }
    }
}
