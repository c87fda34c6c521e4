//! What several commands print: tables, colours, progress, reports.

pub(crate) mod columns;
pub(crate) mod made;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod style;
pub(crate) mod table;
