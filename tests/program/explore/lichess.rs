//! The format of the lichess opening explorer, compared with the required fields of its
//! published description (lichess-org/api, `OpeningExplorerMasters.yaml` and
//! `OpeningExplorerLichess.yaml`, 2026).

use hyper::StatusCode;
use serde_json::{Value, json};

use super::{ask, explorer, get, value};

const MASTERS: &str = "opening white draws black moves topGames";
const LICHESS: &str = "opening white draws black moves topGames recentGames";
const MOVE: &str = "uci san averageRating averageOpponentRating performance white draws black \
    game opening";

fn fields(object: &Value) -> Vec<&str> {
    sorted(object.as_object().unwrap().keys().map(String::as_str))
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

fn is_opening(value: &Value) -> bool {
    value.is_null()
        || fields(value) == ["eco", "name"] && value["eco"].is_string() && value["name"].is_string()
}

#[test]
fn has_the_fields_of_the_public_service() {
    let explorer = explorer();
    for (path, expected) in [("/masters", MASTERS), ("/lichess", LICHESS)] {
        for query in [
            "",
            "?play=e2e4,c7c5",
            "?play=e2e4,e7e5,g1f3,b8c6,f1b5,a7a6",
            "?play=a2a4,h7h5,a4a5,h5h4,a5a6",
        ] {
            let response = get(&explorer, &format!("{path}{query}"));
            assert_eq!(response.status(), StatusCode::OK);
            let answer = value(&response);
            assert_eq!(
                fields(&answer),
                sorted(expected.split(' ')),
                "{path}{query}"
            );
            assert!(is_opening(&answer["opening"]));
            for number in ["white", "draws", "black"] {
                assert!(answer[number].is_u64(), "{number}");
            }
            for list in expected.split(' ').filter(|name| name.ends_with("Games")) {
                assert_eq!(answer[list], json!([]), "a book keeps no games");
            }
            for mv in answer["moves"].as_array().unwrap() {
                assert_eq!(fields(mv), sorted(MOVE.split(' ')));
                assert!(mv["uci"].is_string() && mv["san"].is_string() && mv["game"].is_null());
                assert!(is_opening(&mv["opening"]));
                for number in ["averageRating", "white", "draws", "black"] {
                    assert!(mv[number].is_u64(), "{number}");
                }
            }
        }
    }
}

#[test]
fn answers_have_the_numbers_of_the_book() {
    let explorer = explorer();
    let fen = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR%20w%20KQkq%20-%200%202";
    let by_fen = ask(&explorer, &format!("/masters?fen={fen}"));
    let by_moves = ask(&explorer, "/masters?play=e2e4,c7c5");
    assert_eq!(by_fen, by_moves);
    assert_eq!(by_fen["opening"]["eco"], "B20");
    let page = ask(&explorer, "/api/position?play=e2e4,c7c5");
    let book = &page["books"][0];
    for number in ["white", "draws", "black"] {
        assert_eq!(by_fen[number], book[number]);
    }
    let moves = by_fen["moves"].as_array().unwrap();
    assert!(moves.len() > 3);
    assert_eq!(moves[0]["san"], "Nf3");
    for mv in moves {
        let known = book["moves"]
            .as_array()
            .unwrap()
            .iter()
            .find(|known| known["uci"] == mv["uci"]);
        let known = known.unwrap();
        for number in ["white", "draws", "black"] {
            assert_eq!(mv[number], known[number]);
        }
        let elo = known["average_elo"].as_f64().unwrap_or(0.0);
        assert!((mv["averageRating"].as_f64().unwrap() - elo).abs() <= 0.5);
    }
    let two = ask(
        &explorer,
        "/lichess?play=e2e4,c7c5&moves=2&speeds=blitz&ratings=2000",
    );
    assert_eq!(two["moves"].as_array().unwrap().len(), 2);
}

#[test]
fn castling_is_written_as_that_service_writes_it() {
    let play = "e2e4,e7e5,g1f3,b8c6,f1b5,a7a6,b5a4,g8f6";
    let answer = ask(&explorer(), &format!("/masters?play={play}"));
    let castles = answer["moves"].as_array().unwrap();
    let castles = castles.iter().find(|mv| mv["san"] == "O-O").unwrap();
    assert_eq!(castles["uci"], "e1h1");
    // Both notations are accepted.
    for castling in ["e1h1", "e1g1"] {
        assert_eq!(
            get(&explorer(), &format!("/masters?play={play},{castling}")).status(),
            StatusCode::OK
        );
    }
}

#[test]
fn variants_other_than_chess_get_an_empty_answer() {
    for other in ["atomic&fen=anything", "chess960", "Chess960"] {
        let answer = get(&explorer(), &format!("/lichess?variant={other}"));
        assert_eq!(answer.status(), StatusCode::OK);
        let answer = value(&answer);
        assert_eq!(answer["moves"], json!([]), "{other}");
        assert_eq!(answer["white"], 0, "{other}");
    }
    for known in ["standard", "fromPosition"] {
        let answer = ask(&explorer(), &format!("/lichess?variant={known}"));
        assert!(!answer["moves"].as_array().unwrap().is_empty(), "{known}");
    }
    let unknown = get(&explorer(), "/lichess?variant=draughts");
    assert_eq!(unknown.status(), StatusCode::BAD_REQUEST);
}
