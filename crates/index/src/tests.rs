//! An index answers as a count of its games, one by one, does.

// A failed step is the test's failure.
#![allow(clippy::unwrap_used)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::{ByColor, Chess, Color, EnPassantMode, Move, Position as _, fen::Fen};
use tabia_games::{Date, GameResult, Month, Speed};
use tabia_notation::{Line, san};

use crate::posting::plain_name;
use crate::query::{ListedGame, Lists, Order, Source, Sums, sums};
use crate::{
    Counts, Error, GameSelection, GamesIndex, IndexJob, IndexReport, IndexedMove, Player, Row,
    Watch, compact, each_game, exact_names, find_games, key, players,
};
use tabia_io::atomic::Previous;

/// Plies of a game that are counted; many games are longer.
const PLIES: usize = 16;

/// A game, and what is known of it.
struct Played {
    text: String,
    names: ByColor<&'static str>,
    elo: ByColor<u16>,
    id: Option<String>,
    event: &'static str,
    date: Date,
    result: GameResult,
    moves: Vec<(u64, Move)>,
    positions: Vec<Chess>,
}

const NAMES: [&str; 6] = [
    "Carlsen, Magnus",
    "magnus CARLSEN",
    "Dr_No",
    "Polgar, Judit",
    r#"O"Neil\"#,
    "?",
];
const EVENTS: [&str; 4] = ["?", "Rated Blitz game", "Casual Bullet game", "Club"];

impl Played {
    fn new(n: u32, random: &mut dyn FnMut(u32) -> u32) -> Played {
        let start = ["", "8/P5k1/8/8/8/8/6K1/8 b - - 0 40"][usize::from(n % 40 == 7)];
        let mut line = Line::read(start, "").unwrap();
        for ply in 0..1 + random(24) {
            let legal = line.last().legal_moves();
            if legal.is_empty() {
                break;
            }
            // Few ways at first, so that many games come to the same positions.
            let way = random(1 + ply / 3) * 7;
            line.push(legal[way as usize % legal.len()]);
        }
        // Two of three games are of one month and one rating group.
        let is_varied = n.is_multiple_of(3);
        let (date, elo) = match is_varied {
            true => (
                [
                    "????.??.??",
                    "1960.??.??",
                    "2001.03.??",
                    "2019.12.31",
                    "2018.06.02",
                ][random(5) as usize]
                    .to_owned(),
                [0, 1, 2].map(|_| random(2) * random(3000)),
            ),
            false => (
                format!("2020.05.{:02}", 1 + random(28)),
                [2000 + random(190), 2000 + random(190), 0],
            ),
        };
        let (date, elo) = (Date::from_pgn(&date), elo.map(|elo| elo as u16));
        let mut pick = |most: usize| random(most as u32) as usize;
        let event = EVENTS[if is_varied { pick(4) } else { 0 }];
        let id = is_varied.then(|| format!("Lich{:04}", n / 6));
        let result = [
            GameResult::Won(Color::White),
            GameResult::Won(Color::Black),
            GameResult::Draw,
            GameResult::Unknown,
        ][pick(19) % 4];
        let mut game = Played {
            text: String::new(),
            names: ByColor {
                white: NAMES[pick(6)],
                black: NAMES[pick(6)],
            },
            elo: ByColor {
                white: elo[0],
                black: elo[1],
            },
            id,
            event,
            date,
            result,
            moves: line.moves().map(|(at, mv)| (key(at), mv)).collect(),
            positions: line.before().to_vec(),
        };
        game.text = game.pgn(&line);
        game
    }

    fn pgn(&self, line: &Line) -> String {
        let mut text = String::new();
        let mut tag = |name: &str, value: &str| {
            let value = value.replace('\\', r"\\").replace('"', r#"\""#);
            text += &format!("[{name} \"{value}\"]\n");
        };
        let site = self
            .id
            .as_ref()
            .map(|id| format!("https://lichess.org/{id}"));
        tag("Event", self.event);
        tag("Site", &site.unwrap_or("?".into()));
        tag("Date", &self.date.to_pgn());
        tag("Round", "?");
        tag("White", self.names.white);
        tag("Black", self.names.black);
        tag("Result", self.result.to_pgn());
        for (name, elo) in [("WhiteElo", self.elo.white), ("BlackElo", self.elo.black)] {
            if elo > 0 {
                tag(name, &elo.to_string());
            }
        }
        if *line.start() != Chess::default() {
            tag("SetUp", "1");
            let fen = Fen::from_position(line.start(), EnPassantMode::Legal);
            tag("FEN", &fen.to_string());
        }
        text.push('\n');
        for (ply, (at, mv)) in line.moves().enumerate() {
            match (at.turn(), ply) {
                (Color::White, _) => text += &format!("{}. ", at.fullmoves()),
                (Color::Black, 0) => text += &format!("{}... ", at.fullmoves()),
                _ => {}
            }
            text += &format!("{} ", san(at, mv));
        }
        text + self.result.to_pgn() + "\n"
    }

    fn group_from(&self, least: u16, most: u16) -> bool {
        let ByColor { white, black } = self.elo;
        white > 0 && black > 0 && (least..most).contains(&((white + black) / 2))
    }

    /// The last move in a position.
    fn move_in(&self, wanted: u64) -> Option<Move> {
        let counted = self.moves.iter().take(PLIES).rev();
        counted
            .into_iter()
            .find(|(at, _)| *at == wanted)
            .map(|(_, mv)| *mv)
    }

    /// Its place in a list: rating, date, day, number.
    fn order(&self, number: u32) -> [u32; 4] {
        let (Date { year, month, day }, elo) = (self.date, self.elo);
        let month = u32::from(year) << 4 | u32::from(month);
        [u32::from(elo.white + elo.black), month, day.into(), number]
    }
}

fn games() -> Vec<Played> {
    let mut state = 7_u64;
    let mut random = |most: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u32 % most.max(1)
    };
    (0..1500).map(|n| Played::new(n, &mut random)).collect()
}

fn write(path: PathBuf, games: &[Played]) -> PathBuf {
    let texts: Vec<&str> = games.iter().map(|game| game.text.as_str()).collect();
    fs::write(&path, texts.join("\n")).unwrap();
    path
}

fn job(source: &Path, target: &Path) -> IndexJob {
    let mut job = IndexJob::new([source], target);
    job.max_ply = Some(PLIES as u16);
    job.threads = 2;
    job
}

fn run(job: &IndexJob) -> Result<IndexReport, Error> {
    job.run(&mut Watch::default())
}

type Condition = (GameSelection, fn(&Played) -> bool);

fn conditions() -> Vec<Condition> {
    let any = GameSelection::default();
    let month = |year, month| Some(Month::new(year, month));
    let result = |result| {
        let mut selection = any;
        selection.result = Some(result);
        selection
    };
    vec![
        (any, |_| true),
        (
            GameSelection::between(month(2020, 5), month(2020, 5)),
            |game| (game.date.year, game.date.month) == (2020, 5),
        ),
        (GameSelection::between(None, month(2001, 3)), |game| {
            (1..2002).contains(&game.date.year)
        }),
        (any.with_speeds(&[Speed::Blitz, Speed::Rapid]), |game| {
            game.event == "Rated Blitz game"
        }),
        (any.with_ratings(&[2000]), |game| {
            game.group_from(2000, 2200)
        }),
        (any.with_modes(false, true), |game| {
            game.event == "Casual Bullet game"
        }),
        (result(GameResult::Draw), |game| {
            game.result == GameResult::Draw
        }),
        (
            result(GameResult::Won(Color::Black)).with_modes(true, false),
            |game| game.result == GameResult::Won(Color::Black) && game.event == "Rated Blitz game",
        ),
    ]
}

/// The chosen games that have a position, with their numbers and moves.
type Chosen<'g> = Vec<(u32, &'g Played, Move)>;

fn numbers(listed: &[ListedGame]) -> Vec<u32> {
    listed.iter().map(|listed| listed.game.game).collect()
}

fn sorted(chosen: &Chosen<'_>, order: impl Fn([u32; 4]) -> [u32; 4]) -> Vec<u32> {
    let mut all: Vec<[u32; 4]> = chosen.iter().map(|(n, game, _)| game.order(*n)).collect();
    all.sort_by_key(|key| Reverse(order(*key)));
    all.into_iter().map(|[.., number]| number).collect()
}

/// Checks sums against the chosen games; `is_whole` says that all games are at hand, not only
/// rows of them.
fn check(
    found: &Sums,
    chosen: &Chosen<'_>,
    selection: &GameSelection,
    lists: Lists,
    is_whole: bool,
) {
    // Rows do not have the ratings of games with a result, nor the best of these.
    let is_exact = is_whole || selection.result.is_none() || lists.read > 0;
    let (mut moves, mut history) = (BTreeMap::new(), BTreeMap::<Month, Counts>::new());
    let mut all = Counts::default();
    for (_, game, mv) in chosen {
        let mut one = Counts::default();
        let winner = match game.result {
            GameResult::Won(winner) => Some(winner),
            _ => None,
        };
        let elo = if is_exact {
            game.elo
        } else {
            ByColor::default()
        };
        one.count(winner, elo);
        moves
            .entry(IndexedMove::from_move(*mv))
            .or_insert_with(Counts::default)
            .add(&one);
        all.add(&one);
        if let Some((month, _)) = game.date.range().filter(|_| lists.history) {
            history.entry(month).or_default().add(&one);
        }
    }
    assert_eq!(found.counts, all);
    assert_eq!(found.history, history);
    let by_move = found
        .moves
        .iter()
        .map(|made| (IndexedMove::from_move(made.mv), made.counts));
    assert_eq!(by_move.collect::<BTreeMap<_, _>>(), moves);
    let games: Vec<u64> = found.moves.iter().map(|made| made.counts.games()).collect();
    assert!(games.is_sorted_by_key(|games| Reverse(*games)));
    for made in &found.moves {
        let mut of_move = chosen.iter().filter(|(.., mv)| *mv == made.mv);
        let only = of_move
            .next()
            .map(|(n, ..)| *n)
            .filter(|_| of_move.next().is_none());
        let found = made.only.map(|only| only.game.game);
        assert!(found == only || found.is_none() && !is_exact);
    }
    for listed in found.top.iter().chain(&found.recent).chain(&found.listed) {
        let (_, game, mv) = chosen
            .iter()
            .find(|(n, ..)| *n == listed.game.game)
            .unwrap();
        assert_eq!(IndexedMove::from_move(*mv), listed.mv);
        assert_eq!(
            (listed.game.result(), listed.game.elo),
            (game.result, game.elo)
        );
        assert_eq!((listed.game.day, listed.index), (game.date.day, 0));
    }
    if is_exact {
        check_lists(found, chosen, lists, is_whole);
    }
}

/// Checks the listed games.
fn check_lists(found: &Sums, chosen: &Chosen<'_>, lists: Lists, is_whole: bool) {
    let (is_best, most): (fn(&Played) -> bool, _) = match lists.top_groups {
        true => (|game| game.group_from(2000, u16::MAX), 4),
        false => (|_| true, lists.top),
    };
    let best: Chosen<'_> = chosen
        .iter()
        .copied()
        .filter(|(_, game, _)| is_best(game))
        .collect();
    let mut top = sorted(&best, |key| key);
    top.truncate(most);
    let recent = match is_whole {
        true => lists.recent,
        false => lists.recent.min(8_usize.saturating_sub(top.len())),
    };
    let newest = sorted(chosen, |[_, month, day, number]| [month, day, number, 0]);
    let newest = newest.into_iter().filter(|number| !top.contains(number));
    assert_eq!(
        numbers(&found.recent),
        newest.take(recent).collect::<Vec<_>>()
    );
    top.truncate(lists.top);
    assert_eq!(numbers(&found.top), top);
    let mut listed = match lists.order {
        Order::Rating => sorted(chosen, |key| key),
        Order::Newest => sorted(chosen, |[rating, month, day, n]| [month, day, rating, n]),
        Order::Oldest => sorted(chosen, |[rating, month, day, n]| match month {
            0 => [0, 0, rating, n],
            _ => [!month, !day, rating, n],
        }),
    };
    listed.truncate(lists.listed);
    if is_whole {
        assert_eq!(numbers(&found.listed), listed);
    }
}

/// One index made at once, one made of parts in little memory, and that one compacted.
#[test]
fn an_index_answers_as_its_games_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let all = games();
    let source = write(at("all.pgn"), &all);
    let whole = run(&job(&source, &at("whole.tgx"))).unwrap();
    let known: Vec<&Played> = all
        .iter()
        .filter(|game| game.result != GameResult::Unknown)
        .collect();
    let without = (all.len() - known.len()) as u64;
    assert_eq!(
        (whole.added, whole.without_result),
        (known.len() as u64, without)
    );
    assert_eq!(whole.sorted_on_disk, 0);
    let (mut added, mut on_disk) = (0, 0);
    for (n, part) in all.chunks(270).enumerate() {
        let mut job = job(&write(at("part.pgn"), part), &at("parts.tgx"));
        (job.append, job.memory, job.max_ply) = (n > 0, 0, None);
        if n == 0 {
            job.max_ply = Some(PLIES as u16);
        }
        let report = run(&job).unwrap();
        added += report.added;
        on_disk += report.sorted_on_disk;
        assert_eq!(report.games, added);
        assert_eq!(report.bytes, fs::metadata(at("parts.tgx")).unwrap().len());
    }
    assert!(added == whole.added && on_disk > 0);
    let parts = compact(
        &at("parts.tgx"),
        &at("one.tgx"),
        Previous::Refuse,
        &mut Watch::default(),
    );
    assert_eq!(parts.unwrap().parts, 3);

    let mut positions: Vec<Chess> = Vec::new();
    for game in known.iter().step_by(60) {
        positions.extend(game.positions.iter().take(PLIES + 1).step_by(2).cloned());
    }
    let counted = || known.iter().flat_map(|game| game.moves.iter().take(PLIES));
    let keys: BTreeSet<u64> = counted().map(|(key, _)| *key).collect();
    for name in ["whole.tgx", "parts.tgx", "one.tgx"] {
        let index = GamesIndex::open(&at(name), true).unwrap();
        let segments = &index.file().root().segments;
        assert_eq!(index.file().games(), known.len() as u64);
        assert_eq!(index.last_month(), Some(Month::new(2020, 5)));
        if let [only] = segments.as_slice() {
            assert_eq!(only.positions, keys.len() as u64);
            // Games that are counted together have one row.
            for position in &positions {
                let mut rows = Vec::new();
                let each = |row: &Row| rows.push((row.mv, row.bucket));
                index.rows(position, each).unwrap();
                assert!(rows.is_sorted_by(|a, b| a < b));
            }
        }
        answers(&index, &known, &positions);
        lists(&index, &known);
    }
}

/// Moves and games of positions.
fn answers(index: &GamesIndex, known: &[&Played], positions: &[Chess]) {
    let sides: Vec<([Arc<Player>; 1], &str, Color)> =
        [("CARLSEN magnus", Color::White), ("Dr_No", Color::Black)]
            .into_iter()
            .map(|(name, color)| {
                let names = [name.to_owned()];
                (
                    [Arc::new(Player::read(index, &names, color).unwrap())],
                    name,
                    color,
                )
            })
            .collect();
    for ([player], name, color) in &sides {
        let is_of = |game: &&&Played| plain_name(game.names.get(*color)) == plain_name(name);
        assert_eq!(player.games(), known.iter().filter(is_of).count());
        assert!(!player.is_empty() && player.older() == 0);
    }
    for (n, position) in positions.iter().enumerate() {
        let wanted = key(position);
        let conditions = conditions();
        let (selection, admits) = &conditions[n % conditions.len()];
        let of = |is_of: &dyn Fn(&Played) -> bool| -> Chosen<'_> {
            let games = (0..)
                .zip(known)
                .filter(|(_, game)| admits(game) && is_of(game));
            games
                .filter_map(|(n, game)| Some((n, *game, game.move_in(wanted)?)))
                .collect()
        };
        let mut lists = Lists {
            top: 15,
            recent: 8,
            history: n % 2 == 0,
            ..Lists::default()
        };
        let ask = |source, lists| sums([source], position, selection, lists).unwrap();
        let chosen = of(&|_| true);
        let rows_only = ask(Source::Index(index), lists);
        lists.read = known.len() as u64;
        let exact = ask(Source::Index(index), lists);
        check(&exact, &chosen, selection, lists, false);
        // Without reading games the results are the same, and ratings right or unknown.
        let results = |counts: Counts| (counts.won, counts.draws);
        assert_eq!(results(rows_only.counts), results(exact.counts));
        let no_ratings = Counts {
            rated: ByColor::default(),
            sum: ByColor::default(),
            ..exact.counts
        };
        assert!([exact.counts, no_ratings].contains(&rows_only.counts));
        lists.order = [Order::Rating, Order::Newest, Order::Oldest][n % 3];
        lists.listed = 20;
        lists.top = [15, 0, 3][n % 3];
        for (players, name, color) in &sides {
            let chosen = of(&|game| plain_name(game.names.get(*color)) == plain_name(name));
            check(
                &ask(Source::Players(players), lists),
                &chosen,
                selection,
                lists,
                true,
            );
        }
        if n % conditions.len() == 0 {
            (lists.top, lists.top_groups, lists.listed) = (3, true, 0);
            check(
                &ask(Source::Index(index), lists),
                &chosen,
                selection,
                lists,
                false,
            );
        }
        let (mut found, mut skip) = (BTreeMap::new(), 0);
        loop {
            let more = find_games(index, position, selection, [skip, 400], |head| {
                head.names.white != "Dr_No"
            });
            let more = more.unwrap();
            if more.read == 0 {
                break;
            }
            skip += more.read;
            found.extend(more.games.iter().map(|game| (game.game.game, game.mv)));
        }
        assert_eq!(skip, known.len() as u64);
        let expected = of(&|game| game.names.white != "Dr_No");
        let expected = expected
            .into_iter()
            .map(|(n, _, mv)| (n, IndexedMove::from_move(mv)));
        assert_eq!(found, expected.collect());
    }
}

/// Games by number and by name, and players.
fn lists(index: &GamesIndex, known: &[&Played]) {
    for (n, game) in (0..).zip(known).step_by(7) {
        let text = index.pgn(n).unwrap().unwrap();
        let (tags, moves) = text.split_once("\n\n").unwrap();
        let moves = moves.trim_end().replace('\n', " ");
        assert_eq!(format!("{tags}\n\n{moves}\n"), game.text);
        let found = index.game(n).unwrap().unwrap();
        assert_eq!(found.head.names.white, game.names.white);
        let newest = match &game.id {
            None => n,
            Some(id) => {
                assert_eq!(found.id, *id);
                known.iter().rposition(|other| other.id == game.id).unwrap() as u64
            }
        };
        assert_eq!(index.number_of(&found.id).unwrap(), Some(newest));
    }
    let end = known.len() as u64;
    assert!(index.game(end).unwrap().is_none() && index.pgn(end).unwrap().is_none());
    // The number of a game that has another name, none, and too great a one.
    let third = known.iter().position(|game| game.id.is_some()).unwrap() as u64;
    for id in [
        &crate::posting::own_id(0, third),
        "00000000",
        "zzzzzzzz",
        "no",
    ] {
        assert_eq!(index.number_of(id).unwrap(), None, "{id}");
    }
    let mut counts = BTreeMap::<String, u64>::new();
    let names = known.iter().flat_map(|game| game.names);
    for name in names.filter(|name| *name != "?") {
        *counts.entry(plain_name(name)).or_default() += 1;
    }
    let listed = players(index, u64::MAX).unwrap();
    assert!(listed.is_sorted_by_key(|(_, games)| Reverse(*games)));
    let listed = listed
        .into_iter()
        .map(|(name, games)| (plain_name(&name), games));
    assert_eq!(listed.collect::<BTreeMap<_, _>>(), counts);
    assert!(
        players(index, 1)
            .unwrap()
            .iter()
            .map(|(_, games)| games)
            .sum::<u64>()
            > 0
    );
    for (name, found) in [
        ("JUDIT polgar", Some("JUDIT polgar")),
        ("carlsen_magnus", Some("carlsen magnus")),
        ("dr_no", Some("dr_no")),
        ("dr no", None),
        ("?", None),
    ] {
        let found = found.map(|name| vec![name.to_owned()]);
        assert_eq!(exact_names(index, name).unwrap(), found, "{name}");
    }
    let names = ["Polgar, Judit", "magnus carlsen"].map(str::to_owned);
    let mut found = Vec::new();
    let older = each_game(
        index,
        &names,
        Color::Black,
        5,
        |number, facts, positions, moves| {
            let game = known[number as usize];
            assert_eq!(facts.result(), game.result);
            assert!(
                positions
                    .iter()
                    .zip(moves)
                    .map(|(at, mv)| (key(at), *mv))
                    .eq(game.moves.iter().take(5).copied())
            );
            found.push(number);
        },
    );
    let of_both = (0..).zip(known).filter(|(_, game)| {
        names
            .iter()
            .any(|name| plain_name(name) == plain_name(game.names.black))
    });
    assert_eq!(found, of_both.map(|(n, _)| n).collect::<Vec<u32>>());
    assert_eq!(older.unwrap(), 0);
}

/// What is refused, or only tried, leaves the index as it was.
#[test]
fn what_is_not_added_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let all = games();
    let source = write(at("all.pgn"), &all[..100]);
    let mut job = job(&source, &at("x.tgx"));
    job.conditions = "first".to_owned();
    let report = run(&job).unwrap();
    let before = fs::read(at("x.tgx")).unwrap();
    assert!(matches!(run(&job), Err(Error::Games(_))), "it exists");
    (job.append, job.dry_run) = (true, true);
    let tried = run(&job).unwrap();
    assert_eq!((tried.added, tried.games), (report.added, 2 * report.added));
    assert!(tried.bytes > report.bytes);
    job.max_ply = Some(9);
    let other = run(&job).unwrap_err().to_string();
    assert!(other.contains("indexed to ply 16, not 9"), "{other}");
    job.max_ply = None;
    let without = all
        .into_iter()
        .filter(|game| game.result == GameResult::Unknown);
    job.sources = vec![write(at("none.pgn"), &without.collect::<Vec<_>>())];
    let empty = run(&job).unwrap_err();
    assert!(
        matches!(
            empty,
            Error::NothingLeft {
                without_result: 10..,
                ..
            }
        ),
        "{empty}"
    );
    job.sources = vec![at("x.tgx")];
    assert!(matches!(run(&job), Err(Error::Itself { .. })));
    assert!(fs::read(at("x.tgx")).unwrap() == before);
    // Filters of joined parts stand one after the other, each once.
    (job.sources, job.dry_run) = (vec![source], false);
    for filter in ["", "first", "second"] {
        filter.clone_into(&mut job.conditions);
        run(&job).unwrap();
    }
    let index = GamesIndex::open(&at("x.tgx"), false).unwrap();
    let [part] = index.file().root().segments.as_slice() else {
        panic!("four parts are joined");
    };
    assert_eq!(part.filter, "first; all; second");
    assert_eq!((part.sources.len(), part.games), (4, 4 * report.added));
}
