//! The record of a match (`--games`), as lines in CSV format: what a line has, and how it is
//! written and read.

tabia_notation::named! {
    /// The subject of a line of the record.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RecordKind {
        /// A game that is over.
        #[default]
        Game = "game",
        /// A restart of the engine.
        Restart = "restart",
    }
}

/// A line of the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GameRecord {
    /// Its subject.
    pub kind: RecordKind,
    /// Whether there was a `go` for White and for Black.
    pub has_go: [bool; 2],
    /// The value of `UCI_Opponent`.
    pub opponent: String,
    /// The book of the last book move.
    pub book: String,
    /// Number of moves from books.
    pub book_moves: usize,
    /// Where the engine first moved after the last book move: number of plies since the
    /// first move of the game, and FEN.
    pub exit: Option<(u32, String)>,
    /// The last book move, in UCI.
    pub last_book_move: String,
    /// The engine's value there, in centipawns for its own side.
    pub first_value: Option<i32>,
    /// Number of restarts of the engine.
    pub restarts: u32,
    /// Number of positions that no book knew.
    pub misses: u32,
    /// `1-0`, `0-1` or `1/2-1/2`, if known from the rules; else empty.
    pub result: String,
    /// FEN of the first position; empty for the standard one.
    pub start: String,
    /// Moves in UCI.
    pub moves: Vec<String>,
    /// Why the engine was restarted.
    pub note: String,
}

impl GameRecord {
    /// The first line of the file.
    pub const HEADER: &str = "time,event,colour,opponent,book,book_moves,exit_ply,exit_fen,\
        last_book_move,first_value,restarts,misses,result,start,moves,note";

    /// The line of the file after the time, without line end.
    #[must_use]
    pub fn line(&self) -> String {
        let (ply, fen) = self.exit.clone().unzip();
        let number = |number: Option<i64>| number.map_or_else(String::new, |n| n.to_string());
        let fields = [
            self.kind.as_str().to_owned(),
            match self.has_go {
                [true, false] => "white",
                [false, true] => "black",
                [true, true] => "both",
                [false, false] => "",
            }
            .to_owned(),
            self.opponent.clone(),
            self.book.clone(),
            self.book_moves.to_string(),
            number(ply.map(i64::from)),
            fen.unwrap_or_default(),
            self.last_book_move.clone(),
            number(self.first_value.map(i64::from)),
            self.restarts.to_string(),
            self.misses.to_string(),
            self.result.clone(),
            self.start.clone(),
            self.moves.join(" "),
            self.note.clone(),
        ];
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Neither fails: the line is written to memory, and its parts are strings.
        let _ = writer.write_record(fields.map(|field| without_control(&field)));
        let line = writer.into_inner().unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.trim_end_matches(['\r', '\n']).to_owned()
    }

    /// Reads a line with its time; `None` if it is not a line of a record.
    #[must_use]
    pub fn read(line: &str) -> Option<(String, GameRecord)> {
        let fields: Vec<String> = fields(line)?.iter().map(str::to_owned).collect();
        let fields = <[String; 16]>::try_from(fields).ok()?;
        let [
            time,
            event,
            colour,
            opponent,
            book,
            book_moves,
            exit_ply,
            exit_fen,
            last_book_move,
            first_value,
            restarts,
            misses,
            result,
            start,
            moves,
            note,
        ] = fields;
        let record = GameRecord {
            kind: RecordKind::from_name(&event)?,
            has_go: match colour.as_str() {
                "white" => [true, false],
                "black" => [false, true],
                "both" => [true, true],
                "" => [false, false],
                _ => return None,
            },
            opponent,
            book,
            book_moves: book_moves.parse().ok()?,
            exit: match exit_ply.as_str() {
                "" => None,
                ply => Some((ply.parse().ok()?, exit_fen)),
            },
            last_book_move,
            first_value: match first_value.as_str() {
                "" => None,
                value => Some(value.parse().ok()?),
            },
            restarts: restarts.parse().ok()?,
            misses: misses.parse().ok()?,
            result,
            start,
            moves: moves.split_whitespace().map(str::to_owned).collect(),
            note,
        };
        Some((time, record))
    }
}

/// Control characters, line ends included, become blanks: a record is one line.
fn without_control(field: &str) -> String {
    field.replace(char::is_control, " ")
}

/// The fields of a line; `None` if its quotes do not match: it was cut off. The crate would
/// take the rest of such a line for its last field.
fn fields(line: &str) -> Option<csv::StringRecord> {
    if !line.matches('"').count().is_multiple_of(2) {
        return None;
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(line.as_bytes());
    reader.records().next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_can_be_read_back(
            texts in prop::collection::vec("[ -~é]{0,12}", 6),
            has_go: [bool; 2],
            exit in prop::option::of((0_u32..400, "[a-z/ 0-9]{1,20}")),
            value in prop::option::of(-30_000..30_000),
            counts in prop::array::uniform2(0_u32..99),
            moves in prop::collection::vec("[a-h][1-8][a-h][1-8]", 0..6),
            is_game: bool,
        ) {
            let record = GameRecord {
                kind: match is_game {
                    true => RecordKind::Game,
                    false => RecordKind::Restart,
                },
                has_go,
                opponent: texts[0].clone(),
                book: texts[1].clone(),
                book_moves: moves.len(),
                exit,
                last_book_move: texts[2].clone(),
                first_value: value,
                restarts: counts[0],
                misses: counts[1],
                result: texts[3].clone(),
                start: texts[4].clone(),
                moves,
                note: texts[5].clone(),
            };
            let line = format!("2026-11-23T12:00:00Z,{}", record.line());
            prop_assert!(!line.contains('\n'));
            let (time, read) = GameRecord::read(&line).unwrap();
            prop_assert_eq!(time, "2026-11-23T12:00:00Z");
            prop_assert_eq!(read, record);
        }

        #[test]
        fn any_line_is_a_record_or_none(line in "[ -~]{0,60}") {
            let _ = GameRecord::read(&line);
        }
    }

    #[test]
    fn a_line_that_is_cut_off_in_its_last_field_is_no_record() {
        let record = GameRecord {
            note: "died, then \"hung\"".to_owned(),
            ..GameRecord::default()
        };
        let line = format!("now,{}", record.line());
        assert_eq!(GameRecord::read(&line).unwrap().1, record);
        for cut in ["\"\"\"", "hung", ", then"] {
            let (torn, _) = line.rsplit_once(cut).unwrap();
            assert_eq!(GameRecord::read(torn), None, "{torn}");
        }
    }

    #[test]
    fn the_header_names_every_field() {
        let line = format!("time,{}", GameRecord::default().line());
        let count = |line: &str| fields(line).unwrap().len();
        assert_eq!(count(GameRecord::HEADER), count(&line));
    }
}
