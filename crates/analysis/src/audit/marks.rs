//! Makes marks for a book from its evaluations.

use super::{Examined, annotation_of, is_decisive, symbol_of};
use tabia_book::policy::learn_value;
use tabia_book::{BookEditor, Error, Mark, MarkChange, MarkEdit};

/// Which marks to make.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Marks {
    /// Red, and `?!`, `?`, `??`, for moves that lose more centipawns than this.
    pub losing: Option<u32>,
    /// Symbols (`+=`, `-+`) for positions with an evaluation.
    pub symbols: bool,
    /// Learn values for moves with an evaluation.
    pub learn_values: bool,
    /// Whether to replace existing marks.
    pub over: bool,
}

/// The changes of a book that give it marks. A position becomes red if every known book
/// move into it loses too much: the colour is stored in the position, and so applies to
/// every move that leads there.
///
/// If findings were to be confirmed, only confirmed ones count, and only confirmed
/// positions get a symbol for a clear or decisive advantage.
///
/// # Errors
///
/// The book cannot be read.
pub fn changes(
    examined: &Examined<'_>,
    editor: &BookEditor,
    marks: Marks,
) -> Result<Vec<MarkChange>, Error> {
    let graph = examined.graph;
    let mut changes = Vec::new();
    if let Some(max_loss) = marks.losing {
        // Whether some move into it is good, or it is marked already.
        let mut is_settled = vec![false; graph.len()];
        for node in graph.nodes() {
            for mv in graph.moves(node) {
                let comparison = examined.comparison(node, mv);
                is_settled[mv.to as usize] |= !examined.may_mark(node, mv)
                    || comparison.is_none_or(|w| !examined.is_losing(node, mv, w, max_loss));
            }
        }
        for (node, n, comparison, _) in examined.losing(max_loss) {
            let mv = &graph.moves(node)[n];
            let Some(record) = graph.record(mv.to).filter(|_| examined.may_mark(node, mv)) else {
                continue;
            };
            let unmarked = record.mark() == Mark::None || marks.over;
            // Several moves may lead there: one change is enough.
            let red = unmarked && !std::mem::replace(&mut is_settled[mv.to as usize], true);
            let unsigned = mv.annotation.nag() == 0 || marks.over;
            let edit = MarkEdit {
                recommendation: red.then_some(Mark::Avoid),
                annotation: annotation_of(comparison).filter(|_| unsigned),
                ..MarkEdit::default()
            };
            let position = graph.position(node);
            if let Ok(played) = mv.mv.to_move(&position) {
                changes.extend(editor.plan(&position, played, &edit)?);
            }
        }
    }
    if marks.symbols {
        for node in graph.nodes() {
            let Some(record) = graph.record(node) else {
                continue;
            };
            let Some(value) = examined.value(node).filter(|_| {
                let own = examined.table.canonical(graph.key(node));
                own.is_some() && (record.commentary == 0 || marks.over)
            }) else {
                continue;
            };
            let symbol = symbol_of(value);
            if is_decisive(symbol) && !examined.is_confirmed(node) {
                continue;
            }
            let edit = MarkEdit {
                commentary: Some(symbol),
                ..MarkEdit::default()
            };
            changes.extend(editor.plan_position(&graph.position(node), &edit)?);
        }
    }
    if marks.learn_values {
        // The learn value is stored in the position: of all moves that lead there, the
        // one that loses least decides.
        let mut learn_values = vec![None; graph.len()];
        for node in graph.nodes() {
            for mv in graph.moves(node) {
                let comparison = examined.comparison(node, mv);
                let learn_value =
                    comparison.map(|comparison| learn_value(comparison.value, comparison.best));
                let best = &mut learn_values[mv.to as usize];
                *best = learn_value.max(*best);
            }
        }
        for (node, learn_value) in graph.nodes().zip(learn_values) {
            let old = graph.record(node).map(|record| record.learn_value);
            if learn_value.is_none() || old.is_none_or(|old| old != 0 && !marks.over) {
                continue;
            }
            let edit = MarkEdit {
                learn_value,
                ..MarkEdit::default()
            };
            changes.extend(editor.plan_position(&graph.position(node), &edit)?);
        }
    }
    Ok(changes)
}
