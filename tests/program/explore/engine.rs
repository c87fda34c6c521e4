//! The engine of the page.

use std::collections::BTreeSet;
use std::time::Duration;

use hyper::StatusCode;
use serde_json::{Value, json};
use tabia_engine::EngineCommand;
use tabia_explorer::{EngineChoice, Limits};

use super::hostile::Running;
use super::{TOKEN, ask, explorer_at, get, post};

/// An engine of `tests/programs`, which may take forever to start.
fn test_engine(name: &str, env: &[(&str, &str)]) -> EngineChoice {
    let env = env.iter().map(|&(name, value)| (name.into(), value.into()));
    let command = EngineCommand {
        program: crate::common::example(name),
        env: env.collect(),
        ..EngineCommand::default()
    };
    let mut choice = EngineChoice::new(name, command);
    choice.start_timeout = Duration::from_secs(100_000);
    choice
}

#[test]
fn each_book_move_gets_a_value_even_if_the_engine_reports_few_lines() {
    let shy = test_engine("scoring_engine", &[("SCORING_ENGINE_SHY", "3")]);
    let server = Running::with(Limits::default(), |address| {
        explorer_at(address, false).with_engine(vec![shy])
    });
    let wanted = ["e2e4", "d2d4", "g1f3", "c2c4", "g2g3", "b2b3", "f2f4"];
    let body = json!({"lines": 2, "moves": wanted}).to_string();
    let events = server.ask(
        format!(
            "POST /api/engine HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             x-tabia-token: {TOKEN}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            server.address,
            body.len()
        )
        .as_bytes(),
    );
    let last = events.lines().rfind(|line| line.starts_with("data: "));
    let last: Value = serde_json::from_str(&last.unwrap()[6..]).unwrap();
    assert_eq!(last["done"], true, "{events}");
    assert_eq!(last["lines"].as_array().unwrap().len(), 2, "{events}");
    let valued = last["moves"].as_array().unwrap();
    let valued: BTreeSet<&str> = valued.iter().filter_map(|mv| mv["uci"].as_str()).collect();
    assert!(wanted.iter().all(|mv| valued.contains(mv)), "{events}");
}

#[test]
fn a_hanging_engine_does_not_delay_the_end_of_the_program() {
    let mut hanging = test_engine("odd_engine", &[]);
    hanging.command.args = vec!["hangs-at-start".into()];
    // No other engine must be started instead.
    let choices = vec![hanging.clone(), hanging];
    let explorer = explorer_at(super::ADDRESS, false).with_engine(choices);
    let sent = post(&explorer, "/api/engine", &json!({"lines": 1}));
    assert_eq!(sent.status(), StatusCode::OK);
    drop(explorer);
}

#[test]
fn there_is_no_engine_unless_one_is_given_and_none_for_other_machines() {
    let body = json!({"lines": 3});
    let response = post(&explorer_at(super::ADDRESS, false), "/api/engine", &body);
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let choice = EngineChoice::new("none", EngineCommand::default());
    let offered = |address: &str| {
        let explorer = explorer_at(address, false).with_engine(vec![choice.clone()]);
        let start = ask(&explorer, "/api/start");
        start["engine"].clone()
    };
    assert_eq!(offered(super::ADDRESS), "none");
    assert_eq!(offered("0.0.0.0:8000"), Value::Null);
    let explorer = explorer_at(super::ADDRESS, false).with_engine(vec![choice]);
    for body in [
        json!({"lines": 3, "play": "e2e5"}),
        json!({"lines": 3, "moves": ["nonsense"]}),
        json!({"lines": 3, "play": "f2f3,e7e5,g2g4,d8h4"}),
        json!({"play": "e2e4"}),
    ] {
        assert_eq!(
            post(&explorer, "/api/engine", &body).status(),
            StatusCode::BAD_REQUEST
        );
    }
    assert_eq!(
        get(&explorer, "/api/engine").status(),
        StatusCode::METHOD_NOT_ALLOWED
    );
}
