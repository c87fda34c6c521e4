//! Collects several values of the same positions.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use shakmaty::{Chess, Color, Position as _};

use tabia_book::Error;
use tabia_book::eval::{Evaluation, Value};
use tabia_book::evals::{EvalFile, EvalKey, EvalTable, Imported};
use tabia_games::Tally;

/// The result of reading a file of evaluations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// What was read.
    pub read: Imported,
    /// What its `lines` count.
    pub from: GatheredFrom,
    /// New evaluations.
    pub new: u64,
}

/// The units of a file of evaluations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GatheredFrom {
    Lines,
    /// Of a Parquet table.
    Rows,
    /// With these numbers of games that were skipped or cut short.
    Games(Box<Tally>),
}

impl GatheredFrom {
    /// The plural.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            GatheredFrom::Lines => "lines",
            GatheredFrom::Rows => "rows",
            GatheredFrom::Games(_) => "games",
        }
    }
}

/// Adds to the error of cancelled work that the file has some evaluations already.
pub(crate) fn cancelled(error: crate::Error, file: &Path) -> crate::Error {
    match error {
        crate::Error::Stopped => crate::Error::Text(format!(
            "interrupted; the values found so far are in {}",
            file.display()
        )),
        error => error,
    }
}

/// Values by position, each with the depth of its search or 0.
#[derive(Debug, Default)]
pub(super) struct CollectedValues(HashMap<EvalKey, (Chess, Vec<(Value, u16)>)>);

impl CollectedValues {
    /// Adds a value of `position`, from White's view.
    pub(super) fn add(&mut self, position: &Chess, key: EvalKey, value: Value, depth: u16) {
        // From the view of the board on which the position was first seen.
        let known = self.0.entry(key);
        let known = known.or_insert_with(|| (position.clone(), Vec::new()));
        let turned = known.0.turn() != position.turn();
        let value = if turned { value.reversed() } else { value };
        known.1.push((value, depth));
    }

    /// Adds the values collected by another thread.
    pub(super) fn join(&mut self, other: CollectedValues) {
        for (key, (position, values)) in other.0 {
            for (value, depth) in values {
                self.add(&position, key, value, depth);
            }
        }
    }

    /// Adds the median of each position to `table` and, if it is new, to `file`; returns
    /// the number of new ones.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn add_to(
        self,
        table: &mut EvalTable,
        file: &EvalFile,
        source: &str,
    ) -> Result<u64, Error> {
        let source: Arc<str> = Arc::from(source);
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        let mut new = 0;
        for (_, (position, values)) in all {
            let (value, depth) = median(position.turn(), values);
            let evaluation = Evaluation {
                depth,
                source: Arc::clone(&source),
                ..Evaluation::from(value)
            };
            if table.add(&position, &evaluation) {
                new += 1;
                file.add(&position, &evaluation)?;
            }
        }
        file.sync()?;
        Ok(new)
    }
}

/// The median of the values with the greatest depth.
fn median(turn: Color, mut values: Vec<(Value, u16)>) -> (Value, u16) {
    let deepest = values.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    values.retain(|(_, depth)| *depth == deepest);
    values.sort_by_key(|(value, _)| value.for_side(turn));
    let middle = values.get(values.len() / 2);
    middle.copied().unwrap_or((Value::Cp(0), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_the_middle_value_counts() {
        let values = [10, 500, -20, 30, 12].map(|cp| (Value::Cp(cp), 0)).to_vec();
        assert_eq!(median(Color::Black, values).0, Value::Cp(12));
        let deep = vec![(Value::Cp(1), 0), (Value::Cp(7), 20)];
        assert_eq!(median(Color::White, deep), (Value::Cp(7), 20));
    }
}
