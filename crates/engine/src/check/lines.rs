//! Checks lines that engines print, as programs that read them would. Pure functions.

use tabia_uci::engine::EngineOption;

/// Faults that make programs reject the option or the engine, and oddities that cause
/// problems only in some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// Errors.
    pub(super) faults: Vec<String>,
    /// Warnings.
    pub(super) oddities: Vec<String>,
}

/// Checks the declaration of an option; the empty option means a line that declares
/// none.
pub(super) fn check_option(option: &EngineOption) -> Findings {
    let mut found = Findings::default();
    let name = &option.name;
    if name.is_empty() {
        found.faults.push("an option has no name".to_owned());
    }
    let reserved = ["name", "type", "default", "min", "max", "var", "value"];
    if let Some(word) = name.split(' ').find(|word| reserved.contains(word)) {
        found.oddities.push(format!(
            "{name}: the word \"{word}\" in a name confuses programs that split there"
        ));
    }
    match option.kind.as_str() {
        "check" => check_option_check(option, &mut found),
        "spin" => check_option_spin(option, &mut found),
        "combo" => check_option_combo(option, &mut found),
        "string" => match option.field("default").as_deref() {
            Some("") => found.oddities.push(format!(
                "{name}: an empty default should be written \"<empty>\""
            )),
            None => found
                .oddities
                .push(format!("{name}: a string without default")),
            Some(_) => {}
        },
        "button" => {}
        other => found
            .faults
            .push(format!("{name}: unknown option type \"{other}\"")),
    }
    found
}

fn check_option_check(option: &EngineOption, found: &mut Findings) {
    if !matches!(option.field("default").as_deref(), Some("true" | "false")) {
        found.faults.push(format!(
            "{}: the default of a check must be true or false",
            option.name
        ));
    }
}

fn check_option_spin(option: &EngineOption, found: &mut Findings) {
    let number = |key| option.field(key)?.parse::<i64>().ok();
    let name = &option.name;
    let (Some(default), Some(min), Some(max)) = (number("default"), number("min"), number("max"))
    else {
        found.faults.push(format!(
            "{name}: a spin needs whole numbers as default, min and max"
        ));
        return;
    };
    if !(min..=max).contains(&default) {
        found.faults.push(format!(
            "{name}: default {default} is outside {min} to {max}"
        ));
    }
    if i32::try_from(min).is_err() || i32::try_from(max).is_err() {
        found.oddities.push(format!(
            "{name}: bounds beyond 32 bits are misread by some programs"
        ));
    }
}

fn check_option_combo(option: &EngineOption, found: &mut Findings) {
    let choices: Vec<String> = option.fields("var").collect();
    let name = &option.name;
    match option.field("default") {
        None => found
            .faults
            .push(format!("{name}: a combo without default")),
        Some(default) if !choices.contains(&default) => found.faults.push(format!(
            "{name}: the default \"{default}\" is not among the choices"
        )),
        Some(_) => {}
    }
    if let Some(var) = choices.iter().find(|var| var.contains(' ')) {
        found.oddities.push(format!(
            "{name}: some programs cannot set a choice with a space (\"{var}\")"
        ));
    }
}

/// The parts of an `info` line that are checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// Has a `score cp N` or `score mate N`.
    pub(super) scored: bool,
    /// The number after `multipv`.
    pub(super) multipv: Option<u64>,
    /// The words after `pv`.
    pub(super) pv: Vec<String>,
    /// Words that UCI does not define; programs ignore them at best.
    pub(super) unknown: Vec<String>,
}

impl Info {
    /// Reads a line that begins with `info`.
    ///
    /// # Errors
    ///
    /// The part that cannot be read.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let mut info = Self::default();
        let mut words = line.split_ascii_whitespace().skip(1).peekable();
        while let Some(word) = words.next() {
            match word {
                "string" => break,
                "depth" | "seldepth" | "time" | "nodes" | "multipv" | "currmovenumber"
                | "hashfull" | "nps" | "tbhits" | "sbhits" | "cpuload" => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    let Some(number) = number else {
                        return Err(format!("no number after \"{word}\""));
                    };
                    if word == "multipv" {
                        info.multipv = Some(number);
                    }
                }
                "score" => {
                    let kind = words.next();
                    let value = words.next().map(str::parse::<i64>);
                    match (kind, value) {
                        (Some("cp" | "mate"), Some(Ok(_))) => info.scored = true,
                        _ => return Err("score is neither \"cp N\" nor \"mate N\"".to_owned()),
                    }
                }
                "lowerbound" | "upperbound" => {}
                "wdl" => {
                    for _ in 0..3 {
                        let number = words.next().map(str::parse::<u64>);
                        if !matches!(number, Some(Ok(_))) {
                            return Err("\"wdl\" needs three numbers".to_owned());
                        }
                    }
                }
                "currmove" | "pv" | "refutation" | "currline" => {
                    let mut moves = Vec::new();
                    if word == "currline" {
                        // A processor number may come first.
                        words.next_if(|word| word.parse::<u32>().is_ok());
                    }
                    while let Some(m) = words.next_if(|word| looks_like_a_move(word)) {
                        moves.push(m.to_owned());
                    }
                    if moves.is_empty() {
                        return Err(format!("no move after \"{word}\""));
                    }
                    if word == "pv" {
                        info.pv = moves;
                    }
                }
                other => info.unknown.push(other.to_owned()),
            }
        }
        Ok(info)
    }

    /// Whether it contains the best variation.
    pub(super) fn is_first_line(&self) -> bool {
        self.multipv.unwrap_or(1) == 1 && !self.pv.is_empty()
    }
}

/// Two squares and perhaps a piece, or a null move.
fn looks_like_a_move(word: &str) -> bool {
    let b = word.as_bytes();
    let square = |b: &[u8]| {
        (b'a'..=b'h').contains(&b[0].to_ascii_lowercase()) && (b'1'..=b'8').contains(&b[1])
    };
    word == "0000" || (matches!(b.len(), 4 | 5) && square(b) && square(&b[2..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabia_uci::engine;

    #[test]
    fn options_are_parsed_and_checked() {
        for (line, faults, oddities) in [
            ("option name Hash type spin default 16 min 1 max 1024", 0, 0),
            ("option name Clear Hash type button", 0, 0),
            ("option name Ponder type check default false", 0, 0),
            ("option name Path type string default <empty>", 0, 0),
            ("option name Path type string default", 0, 1),
            (
                "option name Path type string default C:\\my books\\a.bin",
                0,
                0,
            ),
            (
                "option name Style type combo default Solid var Solid var Wild",
                0,
                0,
            ),
            ("option name Style type combo default Solid var Wild", 1, 0),
            ("option name Style type combo default A B var A B", 0, 1),
            ("option name Hash type spin default 0 min 1 max 1024", 1, 0),
            ("option name Hash type spin default 1 max 1024", 1, 0),
            (
                "option name N type spin default 1 min 1 max 9999999999",
                0,
                1,
            ),
            ("option name Ponder type check", 1, 0),
            ("option name Ponder type check default yes", 1, 0),
            ("option name Book type filename default a.bin", 1, 0),
            ("option name Draw value type check default false", 0, 1),
            ("option type check default false", 2, 0),
            ("option", 2, 0),
            ("option name", 2, 0),
        ] {
            let found = check_option(&engine::option(line.as_bytes()).unwrap_or_default());
            assert_eq!(found.faults.len(), faults, "{line}: {found:?}");
            assert_eq!(found.oddities.len(), oddities, "{line}: {found:?}");
        }
    }

    #[test]
    fn info_lines_are_read_or_refused() {
        for (line, fine) in [
            ("info depth 1 score cp 3 pv e2e4 e7e5", true),
            (
                "info depth 9 seldepth 12 multipv 2 score mate -3 upperbound nodes 1",
                true,
            ),
            (
                "info score cp 3 wdl 1 998 1 hashfull 3 tbhits 0 pv a7a8q",
                true,
            ),
            ("info string depth x score y", true),
            ("info currmove e2e4 currmovenumber 1", true),
            ("info currline 1 e2e4 e7e5", true),
            ("info", true),
            ("info depth", false),
            ("info depth x", false),
            ("info score 35", false),
            ("info score cp 0.35", false),
            ("info pv", false),
            ("info pv depth 3", false),
            ("info nodes -4", false),
        ] {
            assert_eq!(Info::parse(line).is_ok(), fine, "{line}");
        }
        let info = Info::parse("info depth 3 multipv 2 score cp -5 ebf 3 pv e2e4 e7e5").unwrap();
        assert!(info.scored);
        assert_eq!(info.multipv, Some(2));
        assert_eq!(info.pv, ["e2e4", "e7e5"]);
        assert_eq!(info.unknown, ["ebf", "3"]);
    }
}
