//! The opening explorer over games.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tabia_choice::settings::Options;
use tabia_explorer::{Access, AllowedOrigin, Explorer, Games};
use tabia_index::{self as index, GamesIndex};
use tabia_index::{IndexJob, IndexReport};
use tabia_io::atomic::Previous;
use tabia_io::progress::Watch;

use super::{ADDRESS, TOKEN, ask, get, request, starter, value};
use crate::common::{Folder, command};

/// Three games of lichess in May and June, an over-the-board one without a month, and one
/// without a result.
const GAMES: &str = r#"[Event "Rated Blitz game"]
[Site "https://lichess.org/aaaaaaa1"]
[Date "2025.05.03"]
[White "Ann"]
[Black "Bob-1"]
[Result "1-0"]
[WhiteElo "1500"]
[BlackElo "1700"]
[TimeControl "300+3"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O 1-0

[Event "Rated Rapid game"]
[Site "https://lichess.org/aaaaaaa2"]
[Date "2025.06.03"]
[White "Bob-1"]
[Black "Ann"]
[Result "0-1"]
[WhiteElo "2600"]
[BlackElo "2500"]
[TimeControl "600+0"]

1. e4 c5 2. Nf3 0-1

[Event "Casual Blitz game"]
[Site "https://lichess.org/aaaaaaa3"]
[Date "2025.06.04"]
[White "Ann"]
[Black "Cid"]
[Result "1/2-1/2"]
[WhiteElo "1510"]
[BlackElo "1500"]
[TimeControl "300+0"]

1. Nf3 Nf6 2. Ng1 Ng8 3. e4 e5 4. Nf3 1/2-1/2

[Event "Ch"]
[Site "Riga"]
[Date "1951.??.??"]
[Round "2"]
[White "Tal, Mihails"]
[Black "?"]
[Result "1-0"]

1. e4 e5 2. Nf3 1-0

[Event "unfinished"]
[Result "*"]

1. d4 *
"#;

fn job(source: &Path, target: PathBuf) -> IndexJob {
    let mut job = IndexJob::new([source], target);
    (job.threads, job.memory) = (2, 1 << 20);
    job
}

fn append(source: &Path, target: PathBuf) -> IndexJob {
    let mut job = job(source, target);
    job.append = true;
    job
}

fn run(job: &IndexJob) -> Result<IndexReport, tabia_index::Error> {
    job.run(&mut Watch::default())
}

fn explorer_of(path: &Path, origins: &[&str]) -> Explorer {
    explorer_of_all(&[path], origins)
}

fn explorer_of_all(paths: &[&Path], origins: &[&str]) -> Explorer {
    let origins = origins
        .iter()
        .map(|origin| origin.parse::<AllowedOrigin>().unwrap());
    let access = Access::new(ADDRESS.parse().unwrap(), "secret".into())
        .with_allowed_origins(origins.collect());
    let indexes = paths
        .iter()
        .map(|path| GamesIndex::open(path, false).unwrap());
    Explorer::new(vec![starter()], access, Options::default(), false)
        .with_games(Games::new(indexes.collect(), false))
}

fn with_explorer(check: impl FnOnce(&Explorer)) {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES);
    let path = folder.join("games.tgx");
    let made = run(&job(&source, path.clone())).unwrap();
    assert_eq!((made.games, made.without_result), (4, 1));
    check(&explorer_of(&path, &["https://good.example"]));
}

fn results(answer: &Value) -> [u64; 3] {
    ["white", "draws", "black"].map(|name| answer[name].as_u64().unwrap())
}

#[test]
fn games_are_counted_by_their_tags() {
    with_explorer(|explorer| {
        let ask = |target: &str| ask(explorer, target);
        for (target, expected) in [
            ("/masters", [2, 1, 1]),
            ("/lichess", [2, 1, 1]),
            ("/masters?since=1952", [1, 1, 1]),
            ("/masters?until=1951", [1, 0, 0]),
            ("/lichess?since=2025-06", [0, 1, 1]),
            ("/lichess?until=2025-05&since=2025-05", [1, 0, 0]),
            ("/lichess?speeds=blitz", [1, 1, 0]),
            ("/lichess?speeds=", [2, 1, 1]),
            ("/lichess?ratings=1600", [1, 0, 0]),
            ("/lichess?ratings=2500,1400", [0, 1, 1]),
            ("/lichess?ratings=2900", [0, 0, 0]),
            ("/lichess?variant=horde", [0, 0, 0]),
            ("/player?player=ann&color=white", [1, 1, 0]),
            ("/player?player=ANN&color=black", [0, 0, 1]),
            ("/player?player=ann&color=white&modes=casual", [0, 1, 0]),
            ("/player?player=mihails_tal&color=white", [1, 0, 0]),
            // Words of a longer name, unless there is a player with just these words.
            ("/player?player=TAL&color=white", [1, 0, 0]),
            ("/player?player=Mihails&color=white", [1, 0, 0]),
            ("/player?player=ta&color=white", [0, 0, 0]),
            ("/player?player=nobody&color=white", [0, 0, 0]),
        ] {
            assert_eq!(results(&ask(target)), expected, "{target}");
        }
        // The last move in a position counts, and each position once.
        let start = ask("/lichess?speeds=blitz&since=2025-06");
        assert_eq!(start["moves"].as_array().unwrap().len(), 1);
        assert_eq!(start["moves"][0]["uci"], "e2e4");
        let castled = ask("/masters?play=e2e4,e7e5,g1f3,b8c6,f1b5,a7a6");
        assert_eq!(castled["moves"][0]["uci"], "e1h1");
    });
}

#[test]
fn an_answer_has_the_fields_of_the_service_in_its_order() {
    with_explorer(|explorer| {
        let response = get(explorer, "/lichess?play=e2e4&since=2025-06&history=true");
        let text = std::str::from_utf8(response.body()).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"white":0,"draws":1,"black":1,"moves":["#,
                r#"{"uci":"c7c5","san":"c5","averageRating":2500,"averageOpponentRating":2600,"#,
                r#""performance":3400,"white":0,"draws":0,"black":1,"game":{"id":"aaaaaaa2","#,
                r#""winner":"black","speed":"rapid","mode":"rated","#,
                r#""black":{"name":"Ann","rating":2500},"white":{"name":"Bob-1","rating":2600},"#,
                r#""year":2025,"month":"2025-06"},"opening":{"eco":"B20","name":"Sicilian Defense"}},"#,
                r#"{"uci":"e7e5","san":"e5","averageRating":1500,"averageOpponentRating":1510,"#,
                r#""performance":1510,"white":0,"draws":1,"black":0,"game":{"id":"aaaaaaa3","#,
                r#""winner":null,"speed":"blitz","mode":"casual","#,
                r#""black":{"name":"Cid","rating":1500},"white":{"name":"Ann","rating":1510},"#,
                r#""year":2025,"month":"2025-06"},"opening":{"eco":"C20","name":"King's Pawn Game"}}],"#,
                r#""recentGames":[{"uci":"e7e5","id":"aaaaaaa3","winner":null,"speed":"blitz","#,
                r#""mode":"casual","black":{"name":"Cid","rating":1500},"#,
                r#""white":{"name":"Ann","rating":1510},"year":2025,"month":"2025-06"}],"#,
                r#""topGames":[{"uci":"c7c5","id":"aaaaaaa2","winner":"black","speed":"rapid","#,
                r#""mode":"rated","black":{"name":"Ann","rating":2500},"#,
                r#""white":{"name":"Bob-1","rating":2600},"year":2025,"month":"2025-06"}],"#,
                r#""opening":{"eco":"B00","name":"King's Pawn Game"},"history":[]}"#
            )
        );
        let history = ask(explorer, "/lichess/history?since=2025-05&until=2030-01");
        let month = |month, white, draws, black| json!({"month": month, "white": white, "draws": draws, "black": black});
        assert_eq!(
            history["history"],
            json!([month("2025-05", 1, 0, 0), month("2025-06", 0, 1, 1)])
        );
        assert_eq!(
            json!([history["moves"], history["topGames"]]),
            json!([[], []])
        );
        // A game of which only the year is known counts for its first month.
        let old = ask(explorer, "/lichess/history?until=1951");
        assert_eq!(old["history"], json!([month("1951-01", 1, 0, 0)]));
        let history = ask(explorer, "/lichess/history");
        assert_eq!(history["history"][0], month("1951-01", 1, 0, 0));
        assert_eq!(history["history"].as_array().unwrap().len(), 74 * 12 + 5);
        let player = get(explorer, "/player?player=ann&color=black");
        assert_eq!(player.headers()["content-type"], "application/x-ndjson");
        let answer = value(&player);
        assert_eq!(
            json!([answer["queuePosition"], answer["topGames"]]),
            json!([0, null])
        );
        let masters = ask(explorer, "/masters?until=1951");
        let game = &masters["topGames"][0];
        assert_eq!(json!([game["month"], game["speed"]]), json!([null, null]));
        assert_eq!(masters["recentGames"], Value::Null);
        let id = game["id"].as_str().unwrap();
        let pgn = get(explorer, &format!("/master/pgn/{id}"));
        let text = std::str::from_utf8(pgn.body()).unwrap();
        assert!(text.starts_with("[Event \"Ch\"]\n[Site \"Riga\"]\n[Date \"1951.??.??\"]\n"));
        assert!(text.ends_with("\n\n1. e4 e5 2. Nf3 1-0\n"), "{text}");
        let unknown = get(explorer, "/masters/pgn/zzzzzzzz");
        assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
        let other = get(explorer, "/masters/pgn/aaaaaaa1");
        assert_eq!(other.status(), StatusCode::OK);
    });
}

#[test]
fn the_best_rated_games_of_a_player_are_among_the_newest() {
    with_explorer(|explorer| {
        let newest = |target: &str| {
            let answer = ask(explorer, target);
            let games = answer["recentGames"].as_array().unwrap().iter();
            let ids = games.map(|game| game["id"].as_str().unwrap().to_owned());
            ids.collect::<Vec<_>>().join(" ")
        };
        let player = "/player?player=ann";
        assert_eq!(
            newest(&format!("{player}&color=white")),
            "aaaaaaa3 aaaaaaa1"
        );
        // Its players are of the highest group.
        assert_eq!(newest(&format!("{player}&color=black")), "aaaaaaa2");
        let limited = format!("{player}&color=white&recentGames=1");
        assert_eq!(newest(&limited), "aaaaaaa3");
        // There it is one of the top games, listed or not.
        assert_eq!(newest("/lichess?since=2025-06"), "aaaaaaa3");
        assert_eq!(newest("/lichess?since=2025-06&topGames=0"), "aaaaaaa3");
    });
}

/// The best games of an index have all results, and so have the sums of its ratings.
#[test]
fn games_with_one_result_have_their_own_ratings_and_best_games() {
    let folder = Folder::new();
    let game = |n: u16| {
        let (result, elo) = match n % 2 {
            0 => ("1-0", 2000 + n),
            _ => ("1/2-1/2", 2150),
        };
        format!(
            "[White \"W{n}\"]\n[Date \"2025.05.01\"]\n[Result \"{result}\"]\n\
             [WhiteElo \"{elo}\"]\n[BlackElo \"2100\"]\n\n1. e4 e5 {result}\n\n"
        )
    };
    let source = folder.put("games.pgn", (0..100).map(game).collect::<String>());
    let path = folder.join("games.tgx");
    run(&job(&source, path.clone())).unwrap();
    let explorer = explorer_of(&path, &[]);
    for target in ["/masters?result=1-0", "/lichess?result=1-0"] {
        let answer = ask(&explorer, target);
        let mv = &answer["moves"][0];
        assert_eq!(results(mv), [50, 0, 0], "{target}");
        let ratings = ["averageRating", "averageOpponentRating", "performance"];
        let ratings = ratings.map(|name| mv[name].as_u64().unwrap());
        assert_eq!(ratings, [2049, 2100, 2900], "{target}");
        let best = answer["topGames"].as_array().unwrap().iter();
        let best: Vec<u64> = best
            .map(|game| game["white"]["rating"].as_u64().unwrap())
            .collect();
        assert!(
            best.starts_with(&[2098, 2096, 2094, 2092]),
            "{target}: {best:?}"
        );
    }
    // For each position of a batch all games would be read.
    let sent = request(Method::POST, "/lichess/batch?result=1-0", "startpos");
    let answer = value(&explorer.answer(&sent));
    assert_eq!(results(&answer), [50, 0, 0]);
    assert_eq!(answer["moves"][0]["averageRating"], 0);
}

#[test]
fn departures_of_an_index_are_those_of_its_games() {
    let folder = Folder::new();
    let games = [
        "Kasparov",
        "Kasparov, Garry",
        "Kasparova, Nana",
        "Garry Kasparov",
    ];
    let games = games.map(|name| format!("[White \"{name}\"]\n[Result \"1-0\"]\n\n1. a4 1-0\n\n"));
    let games = games.concat();
    let path = folder.join("games.tgx");
    run(&job(&folder.put("games.pgn", &games), path.clone())).unwrap();
    let explorer = explorer_of(&path, &[]);
    for (name, expected) in [
        ("kasparov", json!(3)),
        ("Kasparov%2C+Garry", json!(2)),
        ("garry;nana", json!(3)),
        ("Karpov", Value::Null),
    ] {
        let target = format!("/departures?book=0&color=white&player={name}");
        let of_pgn = value(&explorer.answer(&request(Method::POST, &target, &games)));
        assert_eq!(of_pgn["games"], expected, "{name}");
        assert_eq!(ask(&explorer, &target)["games"], expected, "{name}");
    }
}

/// By another path, too.
#[test]
fn a_file_that_is_named_twice_is_opened_once() {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES);
    let path = folder.join("games.tgx");
    run(&job(&source, path.clone())).unwrap();
    let again = folder.join(".").join("games.tgx");
    let named = [&path, &again, &path].map(|path| path.to_str().unwrap());
    let words = [&["explore", "--no-open", "--port", "0"], &named[..]].concat();
    let mut child = command(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut url).unwrap();
    let address = url
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    let sent = format!("GET /masters HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(sent.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(results(&serde_json::from_str(body).unwrap()), [2, 1, 1]);
}

/// Games without a lichess id have running numbers in each index.
#[test]
fn a_game_has_an_id_of_its_own_among_all_indexes() {
    let folder = Folder::new();
    let paths = ["Ann", "Bob", "Cid"].map(|white| {
        let game = |round| {
            format!(
                "[White \"{white}\"]\n[Round \"{round}\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n"
            )
        };
        let source = folder.put("games.pgn", [1, 2].map(game).concat());
        let path = folder.join(format!("{white}.tgx"));
        run(&job(&source, path.clone())).unwrap();
        path
    });
    let of = |paths: &[&Path]| {
        let explorer = explorer_of_all(paths, &[]);
        let mut ids = BTreeSet::new();
        let listed = ask(&explorer, "/masters")["topGames"].clone();
        let in_page = ask(&explorer, "/api/games")["games"].clone();
        for game in [listed, in_page]
            .iter()
            .flat_map(|list| list.as_array().unwrap())
        {
            let id = game["id"].as_str().unwrap().to_owned();
            assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            let pgn = get(&explorer, &format!("/masters/pgn/{id}"));
            let text = std::str::from_utf8(pgn.body()).unwrap();
            let white = format!("[White {}]", game["white"]["name"]);
            assert!(text.contains(&white), "{id} of {white}: {text}");
            ids.insert(id);
        }
        ids
    };
    let [ann, bob, cid] = [0, 1, 2].map(|n| paths[n].as_path());
    let one = of(&[ann]);
    assert_eq!(one, ["00000001", "00000002"].map(str::to_owned).into());
    let three = of(&[ann, bob, cid]);
    assert_eq!(three.len(), 6, "{three:?}");
    assert!(three.is_superset(&one), "{three:?}");
    // An index that is not open has no games.
    let other = three.difference(&one).next().unwrap();
    let gone = get(&explorer_of(ann, &[]), &format!("/masters/pgn/{other}"));
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
}

#[test]
fn several_positions_can_be_requested_at_once() {
    with_explorer(|explorer| {
        let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
        for body in [
            format!("startpos\n{fen}\nnonsense\n"),
            json!(["startpos", fen, "nonsense"]).to_string(),
            json!({"fens": ["startpos", fen, "nonsense"]}).to_string(),
        ] {
            let sent = request(
                Method::POST,
                "/lichess/batch?topGames=0&recentGames=0",
                &body,
            );
            let response = explorer.answer(&sent);
            let text = std::str::from_utf8(response.body()).unwrap();
            let lines: Vec<Value> = text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(lines.len(), 3, "{body}");
            assert_eq!(results(&lines[0]), [2, 1, 1]);
            assert_eq!(lines[1]["moves"].as_array().unwrap().len(), 2);
            assert!(lines[2]["error"].is_string());
        }
        let full = "x\n".repeat(5000);
        let sent = request(Method::POST, "/lichess/batch", &full);
        assert_eq!(explorer.answer(&sent).status(), StatusCode::OK);
        for bad in ["", "{}", "[1]", "[", &format!("{full}x")] {
            let response = explorer.answer(&request(Method::POST, "/lichess/batch", bad));
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{bad:.20}");
        }
        let response = get(explorer, "/lichess/batch");
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    });
}

#[test]
fn a_body_of_another_form_is_named() {
    with_explorer(|explorer| {
        let ask = |body: &str| {
            let target = "/departures?player=Ann&color=white&book=0";
            let response = explorer.answer(&request(Method::POST, target, body));
            let text = String::from_utf8(response.body().to_vec()).unwrap();
            (response.status(), text)
        };
        for bad in [
            r#"{"games": "1. e4 *"}"#,
            r#"{"pgn": ["1. e4 *"]}"#,
            r#"{"pgn": "1. e4 *", "moves": {"a": "b"}}"#,
            r#"{"pgn": "1. e4 *",}"#,
            r#"[{"pgn": "1. e4 *"}]"#,
            r#""1. e4 *""#,
            "  {\"pgn\": 1}",
            "7",
        ] {
            let (status, text) = ask(bad);
            assert_eq!(status, StatusCode::BAD_REQUEST, "{bad}");
            assert!(
                text.contains("the body is neither games in PGN nor JSON"),
                "{bad}: {text}"
            );
        }
        let game = "[White \"Ann\"]\n\n1. e4 e5 *\n";
        for good in [
            game.to_owned(),
            format!("{{\"Best\" by test}} {game}"),
            json!({"pgn": game}).to_string(),
            json!({"pgn": game, "moves": []}).to_string(),
        ] {
            let (status, text) = ask(&good);
            assert_eq!(status, StatusCode::OK, "{good}: {text}");
        }
    });
}

#[test]
fn pages_of_other_sites_read_and_change_nothing() {
    with_explorer(|explorer| {
        let from = |origin: &str, method: Method, target: &str| {
            let sent = Request::builder()
                .method(method)
                .uri(target)
                .header("host", ADDRESS)
                .header("origin", origin)
                .header("sec-fetch-site", "cross-site")
                .header("access-control-request-method", "GET")
                .header("access-control-request-private-network", "true")
                .body(hyper::body::Bytes::new())
                .unwrap();
            explorer.answer(&sent)
        };
        let good = "https://good.example";
        let response = from(good, Method::OPTIONS, "/lichess");
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        let headers = response.headers();
        assert_eq!(headers["access-control-allow-origin"], good);
        assert_eq!(headers["access-control-allow-private-network"], "true");
        let allowed = headers["access-control-allow-headers"].to_str().unwrap();
        assert!(allowed.contains("authorization"));
        let read = from(good, Method::GET, "/lichess");
        assert_eq!(read.status(), StatusCode::OK);
        assert_eq!(read.headers()["access-control-allow-origin"], good);
        assert_eq!(read.headers()["vary"], "Origin");
        for (origin, method, target) in [
            (good, Method::GET, "/api/start"),
            (good, Method::OPTIONS, "/api/edit"),
            (good, Method::POST, "/api/edit"),
            (good, Method::GET, "/"),
            ("https://evil.example", Method::GET, "/lichess"),
            ("https://evil.example", Method::OPTIONS, "/lichess"),
        ] {
            let response = from(origin, method, target);
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{target}");
            assert!(
                !response
                    .headers()
                    .contains_key("access-control-allow-origin")
            );
        }
    });
}

#[test]
fn games_added_are_seen_and_the_index_does_not_depend_on_threads() {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES);
    let path = folder.join("games.tgx");
    run(&job(&source, path.clone())).unwrap();
    let explorer = explorer_of(&path, &[]);
    assert_eq!(results(&ask(&explorer, "/masters")), [2, 1, 1]);
    let mut again = append(&source, path.clone());
    assert_eq!(run(&again).unwrap().games, 8);
    assert_eq!(results(&ask(&explorer, "/masters")), [4, 2, 2]);
    assert_eq!(
        results(&ask(&explorer, "/player?player=ann&color=white")),
        [2, 2, 0]
    );
    again.max_ply = Some(10);
    assert!(
        run(&again)
            .unwrap_err()
            .to_string()
            .contains("indexed to ply 50")
    );
    let there = run(&job(&source, path.clone())).unwrap_err();
    assert!(there.to_string().contains("already exists"), "{there}");
    let many = folder.put("many.pgn", GAMES.repeat(800));
    let made = |name: &str, threads, memory| {
        let target = folder.join(name);
        let mut job = job(&many, target.clone());
        (job.threads, job.memory) = (threads, memory);
        run(&job).unwrap();
        fs::read(target).unwrap()
    };
    assert!(made("one.tgx", 1, 64 << 20) == made("two.tgx", 3, 256 << 10));
}

/// An index that is truncated or has a flipped bit gives an error or an answer.
#[test]
fn damage_is_reported() {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES.repeat(20));
    let path = folder.join("games.tgx");
    run(&job(&source, path.clone())).unwrap();
    let whole = fs::read(&path).unwrap();
    let damaged = folder.join("damaged.tgx");
    let try_all = |bytes: &[u8]| {
        fs::write(&damaged, bytes).unwrap();
        let Ok(index) = GamesIndex::open(&damaged, false) else {
            return true;
        };
        let games = Games::new(vec![index], false);
        let access = Access::new(ADDRESS.parse().unwrap(), "secret".into());
        let explorer =
            Explorer::new(Vec::new(), access, Options::default(), true).with_games(games);
        let targets = [
            "/lichess",
            "/masters?play=e2e4",
            "/player?player=ann&color=white",
            "/masters/pgn/aaaaaaa2",
        ];
        targets
            .iter()
            .any(|target| !get(&explorer, target).status().is_success())
    };
    assert!(!try_all(&whole));
    for cut in (0..whole.len()).step_by(whole.len() / 97) {
        assert!(try_all(&whole[..cut]), "{cut}");
    }
    let mut reported = 0;
    for at in (4096..whole.len()).step_by(37) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        reported += usize::from(try_all(&bytes));
    }
    assert!(reported > 0);
}

/// An index made in several parts equals one made at once.
#[test]
fn compact_joins_the_parts_of_an_index() {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES.repeat(40));
    let at_once = folder.put("all.pgn", GAMES.repeat(7 * 40));
    let path = folder.join("games.tgx");
    let whole = folder.join("whole.tgx");
    let made = run(&job(&at_once, whole.clone())).unwrap();
    let mut parts = Vec::new();
    for number in 0..7 {
        let mut job = job(&source, path.clone());
        job.append = number > 0;
        job.conditions = if number == 2 { "--rated" } else { "" }.to_owned();
        let added = run(&job).unwrap();
        assert_eq!((added.added, added.games), (160, 160 * (number + 1)));
        let index = GamesIndex::open(&path, false).unwrap();
        parts.push(index.file().root().segments.len());
    }
    // There are at most three parts of a level.
    assert_eq!(parts, [1, 2, 3, 1, 2, 3, 1]);
    let index = GamesIndex::open(&path, false).unwrap();
    let part = &index.file().root().segments[0];
    assert_eq!(part.sources.len(), 7);
    assert_eq!(part.filter, "all; --rated");
    assert_eq!(
        (part.positions, part.moves),
        (made.part.positions, made.part.moves)
    );
    let explorer = explorer_of(&path, &[]);
    let compacted = folder.join("compacted.tgx");
    let watch = &mut Watch::default();
    let done = index::compact(&path, &compacted, Previous::Refuse, watch).unwrap();
    assert_eq!((done.part.games, done.parts), (7 * 160, 1));
    assert!(done.bytes[1] < done.bytes[0]);
    assert!(index::compact(&path, &compacted, Previous::Refuse, watch).is_err());
    let before = fs::read(&compacted).unwrap();
    // It is compacted in place, also while it is open.
    let open = explorer_of(&compacted, &[]);
    index::compact(&compacted, &compacted, Previous::Refuse, watch).unwrap();
    assert_eq!(fs::read(&compacted).unwrap().len(), before.len());
    let reference = explorer_of(&whole, &[]);
    for target in [
        "/masters?play=e2e4",
        "/lichess?play=e2e4,e7e5&history=true",
        "/lichess?speeds=blitz",
        "/player?player=ann&color=white",
        "/masters/pgn/aaaaaaa2",
    ] {
        let expected = get(&reference, target);
        for one in [&explorer, &open] {
            assert_eq!(get(one, target).body(), expected.body(), "{target}");
        }
    }
    let again = run(&append(&source, compacted.clone()));
    assert_eq!(again.unwrap().games, 8 * 160);
}

#[test]
fn an_index_is_shown_like_a_book_and_is_read_only() {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES);
    let path = folder.join("games.tgx");
    run(&job(&source, path.clone())).unwrap();
    let games = Games::new(vec![GamesIndex::open(&path, false).unwrap()], false);
    let access = Access::new(ADDRESS.parse().unwrap(), super::TOKEN.into());
    let books = games.books(vec!["games.tgx".to_owned()]);
    let explorer = Explorer::new(books, access, Options::default(), false).with_games(games);
    let view = ask(&explorer, "/api/position?books=games.tgx");
    let book = &view["books"][0];
    let of = |book: &Value, names: &[&str]| -> Vec<Value> {
        names.iter().map(|name| book[*name].clone()).collect()
    };
    let named = [
        "name", "in_book", "editable", "games", "white", "draws", "black",
    ];
    assert_eq!(
        json!(of(book, &named)),
        json!(["games.tgx", true, false, 4, 2, 1, 1])
    );
    // The same moves with the same results as in the answer to programs.
    let answer = ask(&explorer, "/lichess");
    let results = ["uci", "white", "draws", "black"];
    let rows = |moves: &Value| -> Vec<Vec<Value>> {
        let moves = moves.as_array().unwrap().iter();
        moves.map(|mv| of(mv, &results)).collect()
    };
    assert_eq!(rows(&book["moves"]), rows(&answer["moves"]));
    assert_eq!(
        rows(&book["moves"])[0],
        [json!("e2e4"), json!(2), json!(1), json!(1)]
    );
    // Black is to move: the score is for Black, the results are for White and Black.
    let view = ask(&explorer, "/api/position?play=e2e4");
    let e5 = view["books"][0]["moves"].as_array().unwrap();
    let e5 = e5.iter().find(|mv| mv["uci"] == "e7e5").unwrap();
    let scored = ["games", "white", "draws", "black", "score", "average_elo"];
    assert_eq!(
        json!(of(e5, &scored)),
        json!([3, 2, 1, 0, 1.0 / 6.0, 1600.0])
    );
    let nowhere = ask(&explorer, "/api/position?play=a2a4");
    assert_eq!(nowhere["books"][0]["in_book"], false);
    let plotted = ask(&explorer, "/api/line");
    assert_eq!(plotted["points"][1]["games"], 4);
    let mark = json!({"book": 0, "uci": "e2e4", "change": "mark", "value": "main"});
    let refused = super::post(&explorer, "/api/edit", &mark);
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    // Added games are in the next answer.
    run(&append(&source, path.clone())).unwrap();
    let view = ask(&explorer, "/api/position");
    assert_eq!(view["books"][0]["games"], 8);
}

/// Moves and results in the table of the index, which is the second book.
fn table(explorer: &Explorer, query: &str) -> Vec<(String, [u64; 3])> {
    let view = ask(
        explorer,
        &format!("/api/position?books=games.tgx&play=e2e4&{query}"),
    );
    let book = &view["books"][0];
    assert_eq!(book["error"], Value::Null, "{query}");
    assert_eq!(book["has_games"], true, "{query}");
    let moves = book["moves"].as_array().unwrap().iter();
    let mut moves: Vec<_> = moves
        .map(|mv| (mv["san"].as_str().unwrap().to_owned(), results(mv)))
        .collect();
    moves.sort();
    moves
}

/// An explorer with the index as a book.
fn with_table(check: impl FnOnce(&Explorer)) {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES);
    let path = folder.join("games.tgx");
    run(&job(&source, path.clone())).unwrap();
    let games = Games::new(vec![GamesIndex::open(&path, false).unwrap()], false);
    let mut books = vec![starter()];
    books.extend(games.books(vec!["games.tgx".to_owned()]));
    let access = Access::new(ADDRESS.parse().unwrap(), "secret".into());
    check(&Explorer::new(books, access, Options::default(), false).with_games(games));
}

#[test]
fn filters_act_on_the_table_of_an_index_and_on_the_games_alike() {
    with_table(|explorer| {
        let e5 = |results| ("e5".to_owned(), results);
        let c5 = |results| ("c5".to_owned(), results);
        for (query, expected) in [
            ("", vec![c5([0, 0, 1]), e5([2, 1, 0])]),
            ("since=2025", vec![c5([0, 0, 1]), e5([1, 1, 0])]),
            ("until=1951", vec![e5([1, 0, 0])]),
            ("speeds=blitz", vec![e5([1, 1, 0])]),
            ("ratings=2500", vec![c5([0, 0, 1])]),
            ("player=ann", vec![c5([0, 0, 1]), e5([1, 1, 0])]),
            ("player=ann&color=black", vec![c5([0, 0, 1])]),
            ("player=ann&result=1/2-1/2", vec![e5([0, 1, 0])]),
            ("result=1-0", vec![e5([2, 0, 0])]),
            ("result=0-1&speeds=blitz", vec![]),
            ("player=nobody", vec![]),
            ("player=tal", vec![e5([1, 0, 0])]),
            ("player=tal;+ann", vec![c5([0, 0, 1]), e5([2, 1, 0])]),
            // A game of two of them is one game in the list.
            ("player=tal;nobody", vec![e5([1, 0, 0])]),
        ] {
            let moves = table(explorer, query);
            assert_eq!(moves, expected, "{query}");
            // The list has the games that the table counts.
            let list = ask(explorer, &format!("/api/games?play=e2e4&{query}"));
            let counted: u64 = moves.iter().flat_map(|(_, results)| results).sum();
            let listed = list["games"].as_array().unwrap().len();
            assert_eq!((list["all"].as_u64(), listed), (Some(counted), listed));
            assert_eq!(listed as u64, counted, "{query}");
        }
        let two = &ask(explorer, "/api/position?books=games.tgx&player=tal;nobody")["books"][0];
        assert_eq!(
            (&two["notice"]["args"][0], &two["depth"]),
            (&json!("nobody"), &json!(50))
        );
        for (name, notice) in [("tal", Value::Null), ("nobody", json!("nobody"))] {
            let target = format!("/api/position?books=games.tgx&player={name}");
            let shown = &ask(explorer, &target)["books"][0]["notice"];
            assert_eq!(shown.is_null(), notice.is_null(), "{shown}");
            let answer = ask(explorer, &format!("/player?player={name}&color=black"));
            let text = "No player of these games has this name: nobody";
            assert_eq!(answer.get("notice").is_some(), name == "nobody", "{answer}");
            assert!(answer.get("notice").is_none_or(|found| found == text));
        }
        // The line ahead comes from the filtered games.
        let ahead = |query: &str| {
            let target = format!("/api/position?books=games.tgx&ahead=2&{query}");
            ask(explorer, &target)["ahead"][1]["san"].clone()
        };
        assert_eq!(
            json!([ahead("until=1951"), ahead("ratings=2500")]),
            json!(["e5", "c5"])
        );
        // A book has no games.
        let all = ask(explorer, "/api/position?books=Starter");
        let same = ask(explorer, "/api/position?books=Starter&player=ann");
        assert_eq!(all["books"], same["books"]);
        let bad = "/api/position?books=games.tgx&since=soon";
        assert_eq!(get(explorer, bad).status(), StatusCode::BAD_REQUEST);
        let lenient = ask(explorer, &format!("{bad}&lenient=1"));
        assert!(lenient["problem"]["code"].is_string());
    });
}

#[test]
fn games_are_searched_by_player_and_event_and_come_in_an_order() {
    with_table(|explorer| {
        let found = |query: &str| -> Vec<String> {
            let list = ask(explorer, &format!("/api/games?{query}"));
            let games = list["games"].as_array().unwrap().iter();
            games
                .map(|game| game["date"].as_str().unwrap().to_owned())
                .collect()
        };
        let [may, june, cid, riga] = ["2025.05.03", "2025.06.03", "2025.06.04", "1951"];
        assert_eq!(found("order=newest"), [cid, june, may, riga]);
        assert_eq!(found("order=oldest"), [riga, may, june, cid]);
        assert_eq!(found(""), [june, may, cid, riga]);
        assert_eq!(found("q=rated+ann&order=newest"), [june, may]);
        assert_eq!(found("q=TAL"), [riga]);
        assert_eq!(found("q=nobody"), Vec::<String>::new());
        let one = ask(explorer, "/api/games?q=tal");
        assert_eq!((&one["all"], &one["searched"]), (&json!(4), &json!(4)));
        assert_eq!(
            one["games"][0]["white"],
            json!({"name": "Tal, Mihails", "rating": 0})
        );
        assert_eq!(one["games"][0]["event"], "Ch");
        let bad = get(explorer, "/api/games?order=best");
        assert_eq!(bad.status(), StatusCode::BAD_REQUEST);
    });
}

/// Games of a player under three spellings of the name, in two indexes.
#[test]
fn a_name_means_all_its_spellings_in_all_indexes() {
    let game = |white: &str, moves: &str| {
        format!("[White \"{white}\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n{moves} 1-0\n\n")
    };
    let folder = Folder::new();
    let index = |name: &str, games: String| {
        let source = folder.put(&format!("{name}.pgn"), games);
        let path = folder.join(format!("{name}.tgx"));
        run(&job(&source, path.clone())).unwrap();
        path
    };
    let first = game("Kasparov", "1. d4") + &game("Kasparov, Garry", "1. e4 e5").repeat(2);
    let paths = [
        index("one", first + &game("Kasparova", "1. e4")),
        index("two", game("Kasparov, G", "1. e4 c5").repeat(4)),
    ];
    let indexes = paths
        .each_ref()
        .map(|path| GamesIndex::open(path, false).unwrap());
    let games = Games::new(indexes.into(), false);
    let books = games.books(vec!["one".into(), "two".into()]);
    let access = Access::new(ADDRESS.parse().unwrap(), TOKEN.into());
    let explorer = Explorer::new(books, access, Options::default(), false).with_games(games);
    let listed = |query: &str| {
        let list = ask(&explorer, &format!("/api/games?{query}"));
        list["found"].as_u64().unwrap()
    };
    // The list is that of the indexes that are shown.
    assert_eq!(listed("books=one"), 4);
    assert_eq!(listed("books=two"), 4);
    assert_eq!(listed("books=one/two"), 8);
    assert_eq!(listed("books=one/two&player=Kasparov"), 7);
    assert_eq!(listed("books=one/two&player=kasparov&play=e2e4"), 6);
    assert_eq!(listed("books=one/two&player=%22Kasparov%22"), 1);
    assert_eq!(
        listed("books=one/two&player=%22Kasparov%22;%22Kasparov,+G%22"),
        5
    );
    let found = ask(&explorer, "/api/players?q=kasparov");
    assert_eq!(json!([found["spellings"], found["games"]]), json!([3, 7]));
    assert_eq!(found["players"].as_array().unwrap().len(), 4);
    // As a user name it is the one that has exactly its words, in every index that has it.
    let player = |name: &str| {
        results(&ask(
            &explorer,
            &format!("/player?color=white&player={name}"),
        ))[0]
    };
    assert_eq!(player("Kasparov"), 1 + 4);
    assert_eq!(player("Kasparov,+Garry"), 2);
}

#[test]
fn players_are_found_by_the_beginnings_of_their_names() {
    with_table(|explorer| {
        let found = |typed: &str| ask(explorer, &format!("/api/players?q={typed}"));
        let named = |typed: &str| found(typed)["players"].clone();
        let ann = json!([{"name": "Ann", "games": 3}]);
        assert_eq!(named("an"), ann);
        assert_eq!(named("T%C3%A0l")[0]["name"], "Tal, Mihails");
        assert_eq!(named("mih+tal")[0]["games"], 1);
        assert_eq!(named("bob")[0]["name"], "Bob-1");
        assert_eq!((named("nn"), named("")), (json!([]), json!([])));
        // What a filter with the text means: whole words only.
        let all = |typed: &str| {
            let found = found(typed);
            json!([found["spellings"], found["games"]])
        };
        assert_eq!(all("ann"), json!([1, 3]));
        assert_eq!(all("an"), json!([0, 0]));
    });
}

/// An explorer with an index of 450 games of one month, of which the rows of the index name 23
/// for each move, and one by players without ratings.
fn with_many(check: impl FnOnce(&Explorer, &GamesIndex)) {
    let mut games = String::new();
    for number in 0..450 {
        let (white, year, result) = match number {
            7 | 300 | 440 => ("Anderssen, Adolf", 1851, "1-0"),
            _ => ("Other", 2025, ["1-0", "0-1", "1/2-1/2"][number % 3]),
        };
        let reply = ["e5", "c5"][number % 2];
        games += &format!(
            "[Event \"Game {number}\"]\n[White \"{white}\"]\n[Black \"B\"]\n\
             [Date \"{year}.05.??\"]\n[WhiteElo \"{}\"]\n[BlackElo \"2000\"]\n\
             [Result \"{result}\"]\n\n1. e4 {reply} 2. Nf3 {result}\n\n",
            1400 + number,
        );
    }
    let folder = Folder::new();
    let source = folder.put("many.pgn", games);
    let path = folder.join("many.tgx");
    run(&job(&source, path.clone())).unwrap();
    check(
        &explorer_of(&path, &[]),
        &GamesIndex::open(&path, false).unwrap(),
    );
}

#[test]
fn a_list_of_games_goes_to_its_end() {
    with_many(|explorer, index| {
        // All pages of a list: the events, and what the first page says.
        let pages = |query: &str| -> (Vec<String>, Value) {
            let (mut events, mut from) = (Vec::new(), String::new());
            let first = ask(explorer, &format!("/api/games?{query}"));
            loop {
                let page = ask(explorer, &format!("/api/games?{query}&from={from}"));
                let games = page["games"].as_array().unwrap();
                assert!(games.len() <= 200);
                events.extend(
                    games
                        .iter()
                        .map(|game| game["event"].as_str().unwrap().to_owned()),
                );
                match page["next"].as_str() {
                    Some(next) => from = next.to_owned(),
                    None => return (events, first),
                }
            }
        };
        for (query, count) in [
            ("", 450),
            ("play=e2e4", 450),
            ("play=e2e4,c7c5", 225),
            ("play=d2d4", 0),
            ("q=anderssen", 3),
            ("q=ANDERSSEN+1851", 3),
            ("q=1851&play=e2e4,c7c5", 1),
            ("q=nobody", 0),
            ("since=2025", 447),
            ("since=2025&result=1-0&order=newest", 149),
            ("player=anderssen", 3),
        ] {
            let (mut events, first) = pages(query);
            assert_eq!(events.len(), count, "{query}");
            assert_eq!(first["found"], json!(count), "{query}");
            if !query.contains("q=") {
                assert_eq!(first["all"], json!(count), "{query}");
            }
            events.sort();
            events.dedup();
            assert_eq!(events.len(), count, "{query}: a game is listed twice");
        }
        let (events, first) = pages("order=elo");
        assert_eq!(
            (events[0].as_str(), events[449].as_str()),
            ("Game 449", "Game 0")
        );
        assert_eq!(
            (&first["next"], &first["read"]),
            (&json!("0-200"), &Value::Null)
        );
        let bad = get(explorer, "/api/games?from=x");
        assert_eq!(bad.status(), StatusCode::BAD_REQUEST);
        // A search of part of the games can be continued, and finds each once.
        let start = tabia_index::shakmaty::Chess::default();
        let (mut numbers, mut read) = (Vec::new(), 0);
        while read < index.file().games() {
            let all = Default::default();
            let part = index::find_games(index, &start, &all, [read, 100], |_| true).unwrap();
            assert!(part.read >= 100 || read + part.read == 450);
            read += part.read;
            numbers.extend(part.games.iter().map(|game| game.game.game));
        }
        numbers.sort_unstable();
        assert_eq!((read, numbers), (450, (0..450).collect()));
    });
}

#[test]
fn a_refused_request_is_reported_once_with_the_remedy() {
    let lines = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let reported = std::sync::Arc::clone(&lines);
    let access = Access::new(ADDRESS.parse().unwrap(), "secret".into());
    let explorer = Explorer::new(vec![starter()], access, Options::default(), false)
        .with_refusals(move |line| reported.lock().unwrap().push(line.to_owned()));
    let from = |origin: &str, target: &str| {
        let sent = Request::builder()
            .uri(target)
            .header("host", ADDRESS)
            .header("origin", origin)
            .body(hyper::body::Bytes::new());
        explorer.answer(&sent.unwrap()).status()
    };
    for _ in 0..2 {
        assert_eq!(from("https://x.example", "/lichess"), StatusCode::FORBIDDEN);
        assert_eq!(
            from("https://x.example", "/api/start"),
            StatusCode::FORBIDDEN
        );
        // Programs made with Tauri read as any program does, and change nothing.
        assert_eq!(from("tauri://localhost", "/masters"), StatusCode::OK);
        assert_eq!(
            from("tauri://localhost", "/api/start"),
            StatusCode::FORBIDDEN
        );
    }
    let reason = "refused: the request comes from a page of another site";
    let remedy = ", https://x.example: --allow-origin https://x.example permits it";
    let known = lines.lock().unwrap().clone();
    assert_eq!(known, [format!("{reason}{remedy}"), reason.to_owned()]);
    (0..40).for_each(|number| {
        from(&format!("https://{number}.example"), "/lichess");
    });
    assert_eq!(lines.lock().unwrap().len(), 20);
}

#[test]
fn a_dry_run_adds_no_games() {
    let folder = Folder::new();
    let source = folder.put("games.pgn", GAMES);
    let path = folder.join("games.tgx");
    run(&job(&source, path.clone())).unwrap();
    let before = fs::read(&path).unwrap();
    let mut dry = append(&source, path.clone());
    dry.dry_run = true;
    let made = run(&dry).unwrap();
    assert_eq!((made.added, made.games), (4, 8));
    assert!(made.bytes > before.len() as u64);
    assert_eq!(fs::read(&path).unwrap(), before);
    let mut new = job(&source, folder.join("other.tgx"));
    new.dry_run = true;
    assert_eq!(run(&new).unwrap().added, 4);
    assert!(!folder.join("other.tgx").exists());
    let said = folder
        .tabia("index -o games.tgx --append -n games.pgn")
        .ok();
    assert!(said.contains("(now 8 games)") && said.contains("--dry-run"));
    assert_eq!(fs::read(&path).unwrap(), before);
}
