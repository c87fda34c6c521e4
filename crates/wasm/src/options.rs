//! Options as JavaScript writes them: the names of the table of options in camel case.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::{Class, Failure};
use tabia_book::convert::{Comments, ConvertJob, JobPart, LINE_GAMES, Weights};
use tabia_choice::settings::{OptionId, Settings, nearest};

/// `minimumGames` of `minimum_games`.
pub(crate) fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// Reads the options that decide between moves. What another name stands for, `other` takes,
/// if it can.
fn read(
    options: &[u8],
    mut other: impl FnMut(&str, &Value) -> Result<bool, String>,
    others: &[&str],
    format: Option<&str>,
) -> Result<Settings, Failure> {
    let wrong = |text: String| Failure::new(Class::Option, text);
    let mut settings = Settings::default();
    if options.is_empty() {
        return Ok(settings);
    }
    let options: Map<String, Value> = serde_json::from_slice(options)
        .map_err(|error| wrong(format!("options are an object: {error}")))?;
    let deciding = OptionId::deciding();
    for (name, value) in &options {
        if other(name, value).map_err(wrong)? {
            continue;
        }
        let Some(id) = deciding.iter().find(|id| camel(id.spec().key) == *name) else {
            let known: Vec<String> = deciding.iter().map(|id| camel(id.spec().key)).collect();
            let known = known.iter().map(String::as_str);
            let like = nearest(name, known.chain(others.iter().copied()));
            let like = like.map_or_else(String::new, |like| format!(" (did you mean {like}?)"));
            return Err(wrong(format!("there is no option {name}{like}")));
        };
        acts(name, JobPart::Policy, format).map_err(wrong)?;
        let text = match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        settings
            .choose(*id, &text)
            .map_err(|error| wrong(error.to_string()))?;
    }
    Ok(settings)
}

/// Refuses an option that has no effect on a format; of a choice there is none.
fn acts(name: &str, part: JobPart, format: Option<&str>) -> Result<(), String> {
    match format {
        Some(format) if !part.formats().contains(&format) => {
            Err(format!("{name} is only for {}", part.formats().join(", ")))
        }
        _ => Ok(()),
    }
}

/// The options of a choice.
pub(crate) fn choice(options: &[u8]) -> Result<Settings, Failure> {
    read(options, |_, _| Ok(false), &[], None)
}

/// A conversion that gets its options.
struct Options {
    job: ConvertJob,
    min_games: Option<u32>,
}

/// Makes the options that only conversions have: the name in JavaScript, the type, the part of
/// the job, if it has a format of its own, and what a value does.
macro_rules! own_options {
    ($($name:literal $type:ty, $part:expr => |$options:ident, $value:ident| $set:expr;)*) => {
        const OWN: &[&str] = &[$($name),*];

        /// Sets an option; false if there is none of this name.
        fn set_own(
            options: &mut Options,
            name: &str,
            value: &Value,
            format: &str,
        ) -> Result<bool, String> {
            match name {
                $($name => {
                    if let Some(part) = $part {
                        acts(name, part, Some(format))?;
                    }
                    let $value = <$type>::deserialize(value)
                        .map_err(|error| format!("{name}: {error}"))?;
                    let $options = options;
                    $set;
                    Ok(true)
                })*
                _ => Ok(false),
            }
        }
    };
}

/// A value of `weights`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum WeightsWord {
    Probability,
    Games,
    Score,
}

/// A value of `comments`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CommentsWord {
    None,
    Short,
    Full,
}

own_options! {
    "weights" WeightsWord, Some(JobPart::Weights) => |options, word| options.job.weights = match word {
        WeightsWord::Probability => Weights::Probability,
        WeightsWord::Games => Weights::Games,
        WeightsWord::Score => Weights::Score,
    };
    "all" bool, Some(JobPart::AllForms) => |options, all| options.job.all_forms = all;
    "keepNever" bool, Some(JobPart::KeepNever) => |options, keep| options.job.keep_never = keep;
    "maxPly" u32, Some(JobPart::Pgn) => |options, plies| options.job.pgn.plies = plies;
    "minGames" u32, Some(JobPart::Pgn) => |options, games| options.min_games = Some(games);
    "gameMoves" u32, Some(JobPart::Pgn) => |options, moves| options.job.pgn.game_moves = moves;
    "lines" bool, Some(JobPart::Pgn) => |options, lines| options.job.pgn.lines = lines;
    "comments" CommentsWord, Some(JobPart::Pgn) => |options, word| options.job.pgn.comments = match word {
        CommentsWord::None => Comments::None,
        CommentsWord::Short => Comments::Short,
        CommentsWord::Full => Comments::Full,
    };
    "strict" bool, None => |options, strict| options.job.strict = strict;
}

/// Gives a conversion to a format its options.
pub(crate) fn conversion(
    job: ConvertJob,
    format: &str,
    text: &[u8],
) -> Result<ConvertJob, Failure> {
    let mut options = Options {
        job,
        min_games: None,
    };
    let own = |name: &str, value: &Value| set_own(&mut options, name, value, format);
    let settings = read(text, own, OWN, Some(format))?;
    let Options { mut job, min_games } = options;
    job.pgn.min_games = min_games.unwrap_or(match job.pgn.lines {
        true => LINE_GAMES,
        false => job.pgn.min_games,
    });
    Ok(job.policy(settings.options().policy))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use tabia_book::policy::{Policy, Rules};

    #[test]
    fn options_have_the_names_of_the_table_in_camel_case() {
        let read = |text: &str| choice(text.as_bytes()).map(|read| read.options().rules());
        let rules = Rules::default()
            .policy(
                Policy::default()
                    .variety(15)
                    .minimum_games(3)
                    .tournament(false),
            )
            .depth(12);
        let text = r#"{"variety":15,"minimumGames":3,"tournament":false,"depth":12}"#;
        assert_eq!(read(text).unwrap(), rules);
        assert_eq!(read("").unwrap(), Rules::default());
        assert_eq!(read("{}").unwrap(), Rules::default());
        for (text, part) in [
            (
                r#"{"minimunGames":3}"#,
                "no option minimunGames (did you mean minimumGames?)",
            ),
            (r#"{"variety":101}"#, "a whole number from 0 to 100"),
            (r#"{"variety":1.5}"#, "a whole number from 0 to 100"),
            (r#"{"variety":null}"#, "a whole number from 0 to 100"),
            (r#"{"file":"x"}"#, "there is no option file"),
            (r#"{"maxPly":3}"#, "there is no option maxPly"),
            ("[]", "options are an object"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.class, Class::Option);
            assert!(error.text.contains(part), "{text}: {}", error.text);
        }
    }

    #[test]
    fn conversions_have_options_of_their_own() {
        let usual = || ConvertJob::new(PathBuf::from("a.ctg"), PathBuf::from("a.pgn"));
        let to = |format: &str, text: &str| conversion(usual(), format, text.as_bytes());
        let read = |text: &str| to("pgn", text);
        let job = read(r#"{"lines":true,"maxPly":9,"variety":7}"#).unwrap();
        assert_eq!((job.pgn.plies, job.pgn.min_games), (9, LINE_GAMES));
        assert_eq!(job.policy.variety, 7);
        let job = to("bin", r#"{"weights":"games","strict":true}"#).unwrap();
        assert_eq!((job.weights, job.strict), (Weights::Games, true));
        // What has no effect is refused.
        for (format, text, part) in [
            ("pgn", r#"{"weights":"games"}"#, "weights is only for bin"),
            ("csv", r#"{"keepNever":true}"#, "keepNever is only for bin"),
            ("bin", r#"{"maxPly":20}"#, "maxPly is only for pgn"),
            ("abk", r#"{"comments":"none"}"#, "comments is only for pgn"),
            (
                "jsonl",
                r#"{"variety":7}"#,
                "variety is only for bin, abk, csv, pgn",
            ),
        ] {
            let error = to(format, text).unwrap_err();
            assert_eq!((error.class, error.text.as_str()), (Class::Option, part));
        }
        assert_eq!(read("").unwrap().pgn.min_games, 1);
        for text in [
            r#"{"minGames":0,"lines":true}"#,
            r#"{"lines":true,"minGames":0}"#,
        ] {
            assert_eq!(read(text).unwrap().pgn.min_games, 0);
        }
        for (text, part) in [
            (r#"{"maxPly":-1}"#, "maxPly: "),
            (r#"{"maxPlys":4}"#, "(did you mean maxPly?)"),
        ] {
            let error = read(text).unwrap_err().text;
            assert!(error.contains(part), "{text}: {error}");
        }
        let error = to("bin", r#"{"weights":"wins"}"#).unwrap_err().text;
        assert!(error.contains("`probability`, `games`"), "{error}");
    }

    #[test]
    fn the_types_have_the_options_of_conversions() {
        let types = include_str!("../../../npm/tabia.d.ts");
        let rest = types.split("interface ConvertOptions extends ChoiceOptions {\n");
        let body = rest
            .last()
            .and_then(|rest| rest.split("\n}").next())
            .unwrap();
        let named = body
            .lines()
            .filter_map(|line| line.trim().split_once("?: "));
        let names: Vec<&str> = named.map(|(name, _)| name).collect();
        assert_eq!(names, OWN);
    }
}
