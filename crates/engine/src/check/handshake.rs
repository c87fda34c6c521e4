//! Checks from the start of the process to a new game.

use super::Outcome;
use super::lines::check_option;
use super::walk::{Fault, StepFn, Verdict, Walk, ask, first_word, with_remarks};
use tabia_uci::engine;

const GREETING: &str = "answers \"uci\"";
const READY: &str = "answers \"isready\" once";

pub(super) const STEPS: &[(&str, StepFn)] = &[
    (GREETING, greeting),
    ("declares its options properly", options),
    (READY, ready_once),
    ("answers a second \"uci\"", second_uci),
    ("takes the default of each option", own_defaults),
    ("ignores an unknown option", unknown_option),
    ("ignores an unknown command", unknown_command),
    ("starts a new game", new_game),
];

/// Whether no later step is possible without this one.
pub(super) fn is_essential(name: &str) -> bool {
    [GREETING, READY].contains(&name)
}

fn greeting(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let limit = walk.patience.start;
    let peer = walk.start()?;
    let start = peer.now();
    let lines = ask(peer, "uci", "uciok", limit)?;
    let took = peer.now() - start;
    let mut other = 0;
    let mut author = false;
    for line in &lines {
        match first_word(line) {
            "id" => {
                let mut words = line.splitn(3, ' ').skip(1);
                match (words.next(), words.next().map(str::trim)) {
                    (Some("name"), Some(name)) if !name.is_empty() => {
                        walk.name = Some(name.to_owned());
                    }
                    (Some("author"), Some(name)) if !name.is_empty() => author = true,
                    _ => {}
                }
            }
            "option" => walk
                .options
                .push(engine::option(line.as_bytes()).unwrap_or_default()),
            "uciok" | "info" | "copyprotection" | "registration" | "" => {}
            _ => other += 1,
        }
    }
    let mut remarks = Vec::new();
    if walk.name.is_none() {
        remarks.push("no \"id name\": GUIs will not know what to call it".to_owned());
    }
    if !author {
        remarks.push("no \"id author\"".to_owned());
    }
    if other > 3 {
        remarks.push(format!("{other} lines before \"uciok\" that are not UCI"));
    }
    // Scid expects another protocol if an engine is silent for two seconds.
    if took.as_secs_f32() > 2.0 {
        remarks.push(format!(
            "it took {:.1} s, and some GUIs give up after 2",
            took.as_secs_f32()
        ));
    }
    let name = walk.name.as_deref().unwrap_or("unnamed");
    let note = format!("{name}, after {} ms", took.as_millis());
    Ok(with_remarks(note, &remarks))
}

fn options(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let mut faults = Vec::new();
    let mut oddities = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for option in &walk.options {
        let found = check_option(option);
        faults.extend(found.faults);
        oddities.extend(found.oddities);
        let name = option.name.to_lowercase();
        if names.contains(&name) {
            faults.push(format!("{}: declared twice", option.name));
        }
        names.push(name);
    }
    if !faults.is_empty() {
        return Err(faults.join("; "));
    }
    let note = format!("{} options", walk.options.len());
    Ok(with_remarks(note, &oddities))
}

fn ready_once(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let start = walk.now()?;
    walk.ready()?;
    let took = walk.now()? - start;
    let rest = walk.watch(walk.patience.watch / 2)?;
    if rest.iter().any(|line| first_word(line) == "readyok") {
        return Err("it sent \"readyok\" more than once".into());
    }
    Ok((Outcome::Passed, format!("after {} ms", took.as_millis())))
}

fn second_uci(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    walk.send("uci")?;
    // Sent together, so that an engine that ignores the first costs no time.
    walk.send("isready")?;
    let lines = walk.until("readyok", walk.patience.ready)?;
    if lines.iter().any(|line| first_word(line) == "uciok") {
        return Ok((Outcome::Passed, String::new()));
    }
    Ok((
        Outcome::Warning,
        "no second \"uciok\"; fastchess asks again for the name".to_owned(),
    ))
}

fn own_defaults(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    let lines: Vec<_> = walk
        .options
        .iter()
        .filter_map(|option| {
            let default = option.field("default")?;
            Some(format!("setoption name {} value {default}", option.name))
        })
        .collect();
    if lines.is_empty() {
        return Ok((Outcome::Skipped, "it has none".to_owned()));
    }
    // Sent one by one, to name the line that makes an engine crash.
    for line in &lines {
        let ready = walk.send(line).and_then(|()| walk.ready());
        ready.map_err(|why| format!("after \"{line}\": {why}"))?;
    }
    Ok((Outcome::Passed, format!("{} set", lines.len())))
}

fn unknown_option(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    walk.send("setoption name No Such Option value 1")?;
    walk.send("setoption name No Such Button")?;
    walk.ready()?;
    Ok((Outcome::Passed, String::new()))
}

fn unknown_command(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    walk.send("quack 1 2 3")?;
    walk.send("")?;
    walk.send("   ")?;
    walk.ready()?;
    Ok((Outcome::Passed, String::new()))
}

fn new_game(walk: &mut Walk<'_>) -> Result<Verdict, Fault> {
    walk.send("ucinewgame")?;
    walk.ready()?;
    Ok((Outcome::Passed, String::new()))
}
