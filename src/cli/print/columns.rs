//! Tables of painted cells, and lists of labels with their values.

use std::fmt::{self, Display};

use anstyle::Style;

use super::style::{Painted, wrapped};

/// Greatest width of a row with a note.
const ROW: usize = 80;
/// Least width of a note.
const NOTE: usize = 20;

#[derive(Clone, Copy)]
enum Align {
    Left,
    Right,
    Note,
}

/// Alignment and least width of a column.
#[derive(Clone, Copy)]
pub(crate) struct Column(Align, usize);

pub(crate) const fn left(width: usize) -> Column {
    Column(Align::Left, width)
}

pub(crate) const fn right(width: usize) -> Column {
    Column(Align::Right, width)
}

/// A last column after two blanks, wrapped so that the row fits a terminal.
pub(crate) const fn note() -> Column {
    Column(Align::Note, 0)
}

pub(crate) type Cell = Painted<String>;

pub(crate) fn cell(text: impl Display) -> Cell {
    Painted(Style::new(), text.to_string())
}

/// Rows of cells. A column is as wide as its widest cell, or its least width; columns are
/// separated by a blank.
pub(crate) struct Table {
    indent: usize,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(indent: usize, columns: impl Into<Vec<Column>>) -> Table {
        Table {
            indent,
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    /// A list of labels and values; the labels have this least width.
    pub(crate) fn list(indent: usize, width: usize) -> Table {
        Table::new(indent, [left(width), left(0)])
    }

    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// Adds a label and its value.
    pub(crate) fn add(&mut self, label: &str, value: impl Display) {
        self.row([cell(label), cell(value)]);
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut columns = self.columns.clone();
        for row in &self.rows {
            for (Column(_, width), cell) in columns.iter_mut().zip(row) {
                *width = (*width).max(cell.1.chars().count());
            }
        }
        for row in &self.rows {
            let mut at = self.indent;
            let mut gap = self.indent;
            let filled = row.iter().rposition(|cell| !cell.1.is_empty());
            let filled = filled.map_or(0, |last| last + 1);
            for (index, (cell, Column(align, width))) in
                row.iter().zip(&columns).take(filled).enumerate()
            {
                let is_last = index + 1 == filled;
                write!(f, "{:gap$}", "")?;
                match align {
                    Align::Left if is_last => write!(f, "{cell}")?,
                    Align::Left => write!(f, "{cell:<width$}")?,
                    Align::Right => write!(f, "{cell:>width$}")?,
                    Align::Note => {
                        let at = at + 1;
                        let rows = wrapped(&cell.1, ROW.saturating_sub(at).max(NOTE));
                        for (index, row) in rows.into_iter().enumerate() {
                            match index {
                                0 => write!(f, " {}", Painted(cell.0, row))?,
                                _ => write!(f, "\n{:at$}{}", "", Painted(cell.0, row))?,
                            }
                        }
                    }
                }
                at += width + 1;
                gap = 1;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let columns = [left(3), right(2), left(0), note()];
        let mut table = Table::new(1, columns);
        table.row([cell("a"), cell(1), cell("x")]);
        table.row([
            cell("♔♔♔♔"),
            cell(100),
            cell(""),
            cell("why ".repeat(20).trim()),
        ]);
        table.row([cell("e"), cell(7)]);
        let notes = ["why "; 17].concat();
        let rest = format!("{:13}why why why", "");
        let rows = [
            " a      1 x",
            &format!(" ♔♔♔♔ 100    {}", notes.trim()),
            &rest,
            " e      7",
        ];
        assert_eq!(
            table.to_string(),
            rows.map(|row| format!("{row}\n")).concat()
        );
    }
}
