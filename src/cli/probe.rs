//! `tabia probe`: the moves of a position, and how likely each is played.

use std::io::{self, BufRead, Write};

use anyhow::{Context as _, bail};
use serde::Serialize;
use shakmaty::{Chess, Position};

use super::args::ProbeArgs;
use super::explain;
use super::probe_other;
use super::style::{
    FAINT, HEADING, PLACE, Painted, commentary_symbol, of_mark, per_cent, rounded, signed, wrapped,
};
use crate::book::{Book, BookMove, Lookup, Mark, Preference};
use crate::consult::{Consulted, consult};
use crate::notation::{self, Line};
use crate::policy::{Rejection, Weighed};
use crate::settings::{OptionId, Settings};

/// The object of `--json`.
#[derive(Serialize)]
struct JsonPosition {
    fen: String,
    in_book: bool,
    games: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    commentary: u8,
    moves: Vec<JsonMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
}

#[derive(Serialize)]
struct JsonMove {
    uci: String,
    san: String,
    games: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    score: f64,
    average_elo: Option<f64>,
    performance: Option<f64>,
    recommendation: u8,
    mark: &'static str,
    annotation: &'static str,
    commentary: u8,
    factor: i8,
    transposition: bool,
    probability: f64,
    weight: f64,
    /// What a Polyglot book stores, equal moves added up.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_weight: Option<u32>,
    /// What an Arena book stores.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u8>,
    not_played: Option<&'static str>,
}

/// What to say instead of an answer to a line that is no position.
#[derive(Serialize)]
struct JsonError<'a> {
    fen: &'a str,
    error: String,
}

pub(super) fn run(args: &ProbeArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    let book = super::open_book(&args.book, args.no_mmap)?;
    let prober = Prober {
        book: &book,
        settings: settings(&args.set)?,
        moves: args.moves.as_deref().unwrap_or_default(),
        json: args.json,
        explain: args.explain,
    };
    let fen = args.fen.join(" ");
    let code = if fen == "-" {
        prober.answer_lines(io::stdin().lock(), out)?
    } else {
        prober.answer_one(&fen, out)?
    };
    out.flush()?;
    Ok(code)
}

/// The options that decide between moves.
const DECIDING: [OptionId; 12] = [
    OptionId::Depth,
    OptionId::Preset,
    OptionId::Variety,
    OptionId::MinimumGames,
    OptionId::MinimumScore,
    OptionId::MinimumShare,
    OptionId::Tournament,
    OptionId::Annotations,
    OptionId::LearnInfluence,
    OptionId::Transpositions,
    OptionId::AvoidRepetition,
    OptionId::LeaveEarly,
];

pub(super) fn settings(sets: &[String]) -> anyhow::Result<Settings> {
    let mut settings = Settings::default();
    for set in sets {
        let (name, value) = set
            .split_once('=')
            .with_context(|| format!("--set \"{set}\" has no \"=\": write NAME=VALUE"))?;
        match OptionId::by_name(name.trim()) {
            Some(id) if DECIDING.contains(&id) => settings.set(id, value)?,
            _ => bail!("there is no option \"{name}\" that decides between moves"),
        };
    }
    Ok(settings)
}

/// A position looked up.
pub(super) struct Answer {
    pub(super) position: Chess,
    consulted: Consulted,
}

struct Prober<'a> {
    book: &'a Book,
    settings: Settings,
    moves: &'a str,
    json: bool,
    explain: bool,
}

impl Prober<'_> {
    fn look_up(&self, line: &Line) -> anyhow::Result<Answer> {
        let consulted = consult(self.book, line.last(), line.before(), &self.settings)?;
        Ok(Answer {
            position: line.last().clone(),
            consulted,
        })
    }

    fn answer_one(&self, fen: &str, out: &mut impl Write) -> anyhow::Result<u8> {
        let answer = self.look_up(&Line::read(fen, self.moves)?)?;
        let mut explanation = Vec::new();
        if self.explain {
            match self.book.as_ctg() {
                Some(book) => {
                    let found = book.explain(&answer.position)?;
                    explain::write(&found, &answer.position, &mut explanation)?;
                }
                None => probe_other::explain(self.book, &answer.position, &mut explanation)?,
            }
        }
        if self.json {
            let text = String::from_utf8_lossy(&explanation);
            let text = anstream::adapter::strip_str(&text).to_string();
            answer.write_json(self.explain.then_some(text), out)?;
        } else {
            match self.book {
                Book::Ctg(_) => answer.write_table(out)?,
                _ => probe_other::write_table(&answer, out)?,
            }
            out.write_all(&explanation)?;
        }
        Ok(u8::from(answer.found().here.is_none()))
    }

    /// One line for each line: exit code 1 when some position is not in the
    /// book, 2 when some line is no position.
    fn answer_lines(&self, input: impl BufRead, out: &mut impl Write) -> anyhow::Result<u8> {
        let mut code = 0;
        for (index, line) in input.split(b'\n').enumerate() {
            let line = String::from_utf8_lossy(&line?).trim().to_owned();
            if line.is_empty() {
                continue;
            }
            match Line::read(&line, self.moves) {
                Ok(asked) => {
                    let answer = self.look_up(&asked)?;
                    code = code.max(u8::from(answer.found().here.is_none()));
                    if self.json {
                        answer.write_json(None, out)?;
                    } else {
                        answer.write_line(out)?;
                    }
                }
                Err(error) => {
                    let error = error.to_string();
                    code = 2;
                    let _ = writeln!(super::messages(), "tabia: line {}: {error}", index + 1);
                    if self.json {
                        serde_json::to_writer(&mut *out, &JsonError { fen: &line, error })?;
                        writeln!(out)?;
                    } else {
                        writeln!(out, "{error}")?;
                    }
                }
            }
            // Whoever asks line by line waits for each answer.
            out.flush()?;
        }
        Ok(code)
    }
}

impl Answer {
    pub(super) fn fen(&self) -> String {
        notation::fen(&self.position)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (&BookMove, &Weighed)> {
        self.consulted.rows()
    }

    /// What the book stores.
    pub(super) fn found(&self) -> &Lookup {
        &self.consulted.lookup
    }

    pub(super) fn san(&self, mv: &BookMove) -> String {
        notation::san(&self.position, mv.mv)
    }

    fn write_json(&self, explanation: Option<String>, out: &mut impl Write) -> anyhow::Result<()> {
        let here = self.found().here.unwrap_or_default();
        let json = JsonPosition {
            fen: self.fen(),
            in_book: self.found().here.is_some(),
            games: here.stats.games,
            wins: here.stats.wins,
            draws: here.stats.draws,
            losses: here.stats.losses,
            commentary: here.commentary_for(self.position.turn()),
            moves: self
                .rows()
                .map(|(mv, verdict)| self.json_move(mv, verdict))
                .collect(),
            explanation,
        };
        serde_json::to_writer(&mut *out, &json)?;
        writeln!(out)?;
        Ok(())
    }

    fn json_move(&self, mv: &BookMove, verdict: &Weighed) -> JsonMove {
        let stats = mv.stats();
        let child = mv.child.unwrap_or_default();
        JsonMove {
            uci: notation::uci(mv.mv),
            san: self.san(mv),
            games: stats.games,
            wins: stats.wins,
            draws: stats.draws,
            losses: stats.losses,
            score: stats.score().unwrap_or(0.5),
            average_elo: stats.average_elo(),
            performance: stats.performance(),
            recommendation: child.recommendation,
            mark: mv.mark().as_str(),
            annotation: mv.annotation.symbol(),
            commentary: child.commentary_for(self.position.turn().other()),
            factor: child.factor,
            transposition: mv.transposition,
            probability: verdict.probability,
            weight: verdict.weight,
            stored_weight: match mv.preference {
                Preference::Weight(weight) => Some(weight),
                _ => None,
            },
            priority: match mv.preference {
                Preference::Priority(priority) => Some(priority),
                _ => None,
            },
            not_played: verdict.rejection.map(Rejection::as_str),
        }
    }

    fn write_table(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "{}", Painted(PLACE, self.fen()))?;
        match &self.found().here {
            Some(here) => {
                let stats = &here.stats;
                write!(
                    out,
                    "{} games: {} to move won {}, drew {}, lost {}",
                    stats.games,
                    self.position.turn(),
                    stats.wins,
                    stats.draws,
                    stats.losses
                )?;
                let commentary = here.commentary_for(self.position.turn());
                match commentary_symbol(commentary).as_str() {
                    "" => writeln!(out)?,
                    symbol => writeln!(out, " ({symbol})")?,
                }
            }
            None => writeln!(out, "not in the book")?,
        }
        if self.found().moves.is_empty() {
            return Ok(());
        }
        let head = format!(
            "{:<9}{:>8}{:>7}{:>6}{:>6}{:>6} {:<6}{:>7}",
            "move", "games", "%", "av", "perf", "fact", "mark", "prob"
        );
        writeln!(out, "\n{}", Painted(HEADING, head))?;
        for (mv, verdict) in self.rows() {
            self.write_row(mv, verdict, out)?;
        }
        if self.found().moves.iter().any(|mv| mv.transposition) {
            writeln!(out, "\n* not stored as a move, but leads into the book")?;
        }
        Ok(())
    }

    fn write_row(&self, mv: &BookMove, verdict: &Weighed, out: &mut impl Write) -> io::Result<()> {
        let stats = mv.stats();
        let mut name = format!("{}{}", self.san(mv), mv.annotation.symbol());
        if mv.transposition {
            name.push('*');
        }
        let style = of_mark(mv.mark());
        let mark = match mv.mark() {
            Mark::None => "-",
            mark => mark.as_str(),
        };
        write!(
            out,
            "{}{:>8}{:>7}{:>6}{:>6}{:>6} {}{:>6.1}%",
            Painted(style, format!("{name:<9}")),
            stats.games,
            per_cent(stats.score()),
            rounded(stats.average_elo()),
            rounded(stats.performance()),
            signed(mv.factor()),
            Painted(style, format!("{mark:<6}")),
            100.0 * verdict.probability,
        )?;
        // What the commentary says of the position after the move.
        let commentary = mv.child.map_or(0, |child| {
            child.commentary_for(self.position.turn().other())
        });
        let symbol = commentary_symbol(commentary);
        let note = match (symbol.as_str(), verdict.rejection) {
            ("", None) => return writeln!(out),
            ("", Some(dropped)) => dropped.as_str().to_owned(),
            (symbol, None) => symbol.to_owned(),
            (symbol, Some(dropped)) => format!("{symbol}, {}", dropped.as_str()),
        };
        // A line has room for 22 characters more.
        let mut rows = wrapped(&note, 22).into_iter();
        writeln!(out, "  {}", Painted(FAINT, rows.next().unwrap_or_default()))?;
        for row in rows {
            writeln!(out, "{:58}{}", "", Painted(FAINT, row))?;
        }
        Ok(())
    }

    /// The answer to one line of many.
    fn write_line(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if self.found().here.is_none() {
            write!(out, "not in the book")?;
        } else {
            write!(
                out,
                "{} games",
                self.found().here.unwrap_or_default().stats.games
            )?;
        }
        for (mv, verdict) in self.rows() {
            write!(
                out,
                " {} {:.1}% ({})",
                self.san(mv),
                100.0 * verdict.probability,
                mv.stats().games
            )?;
        }
        writeln!(out)?;
        Ok(())
    }
}
