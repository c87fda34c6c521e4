//! Findings of an audit, searched again.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::Chess;

use super::{AuditOptions, Deep, Examined};
use crate::graph::BookGraph;
use tabia_book::eval::Evaluation;
use tabia_book::evals::{EvalKey, EvalTable};
use tabia_book::policy::Policy;

/// How findings are confirmed.
#[derive(Clone, Copy, Debug)]
pub struct Confirmation {
    /// Nodes from which on an evaluation need not be searched again.
    pub nodes: u64,
    /// How many findings of each kind are confirmed, the costliest first.
    pub top: usize,
    /// Whether positions with a symbol for an advantage that decides are
    /// searched too.
    pub symbols: bool,
    /// Per cent by which a confirmed loss must exceed the limit.
    pub margin: u8,
}

/// Has what the first findings of an audit depend on searched, until nothing
/// among them is left that has not been searched: a finding that turns out to be
/// none makes room for the next one. `search` gives the evaluations of a list of
/// positions with their indexes; what has no answer is left out, and not asked
/// about again. What is found is in `table`. Returns which evaluations count as
/// deep, and the number of searches.
///
/// # Errors
///
/// `search` fails.
pub fn confirm<E>(
    confirmation: Confirmation,
    graph: &BookGraph,
    table: &mut EvalTable,
    policy: Policy,
    options: &AuditOptions,
    mut search: impl FnMut(&[Chess]) -> Result<Vec<(usize, Evaluation)>, E>,
) -> Result<(Deep, usize), E> {
    let mut deep = Deep {
        nodes: confirmation.nodes,
        margin: confirmation.margin,
        ..Deep::default()
    };
    let mut asked = HashSet::<EvalKey, FxBuildHasher>::default();
    let mut searches = 0;
    loop {
        let examined = Examined::new(graph, table, policy, Some(&deep));
        let open = examined.unconfirmed(options, confirmation.top, confirmation.symbols);
        let open = open.into_iter().filter(|(key, _)| asked.insert(*key));
        let open: Vec<Chess> = open.map(|(_, position)| position).collect();
        if open.is_empty() {
            return Ok((deep, searches));
        }
        let answers = search(&open)?;
        deep.unanswered += open.len() - answers.len();
        for (index, found) in answers {
            // Also of one that is deeper by an unknown number of nodes.
            table.replace(&open[index], &found);
            deep.searched.insert(EvalKey::of(&open[index]));
            searches += 1;
        }
    }
}
