//! Searches the findings of an audit again.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;
use shakmaty::Chess;

use super::{AuditOptions, ConfirmingSearches, Examined};
use crate::graph::BookGraph;
use tabia_book::eval::Evaluation;
use tabia_book::evals::{EvalKey, EvalTable};
use tabia_book::policy::Policy;

/// Options for confirming findings.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Confirmation {
    /// Evaluations with at least this many nodes are not searched again.
    pub nodes: u64,
    /// How many findings of each kind to confirm, the costliest first.
    pub top: usize,
    /// Whether to search also positions with a symbol for a clear or decisive advantage.
    pub symbols: bool,
    /// Per cent by which a confirmed loss must exceed the limit.
    pub margin: u8,
}

impl Confirmation {
    /// Searches of this many nodes, for the first 50 findings of each kind, with a margin
    /// of 20 per cent.
    #[must_use]
    pub fn new(nodes: u64) -> Confirmation {
        Confirmation {
            nodes,
            top: 50,
            symbols: false,
            margin: 20,
        }
    }
}

/// Searches the positions on which the first findings of an audit depend, until all of
/// these have been searched: if a finding turns out to be wrong, the next one takes its
/// place. Moves that still lose are then searched a second time, for twice as long: after
/// the first search alone, three in ten of them were only errors of that search. `search`
/// returns the evaluations of a list of positions with their indexes, each with this many
/// nodes; positions without an answer are left out and not searched again. Results are
/// added to `table`. Returns which evaluations count as deep, and the number of searches.
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
    mut search: impl FnMut(u64, &[Chess]) -> Result<Vec<(usize, Evaluation)>, E>,
) -> Result<(ConfirmingSearches, usize), E> {
    let Confirmation { nodes, top, .. } = confirmation;
    let mut confirming = ConfirmingSearches {
        nodes,
        margin: confirmation.margin,
        ..ConfirmingSearches::default()
    };
    let mut requested = HashSet::<(u64, EvalKey), FxBuildHasher>::default();
    let mut searches = 0;
    loop {
        let examined = Examined::new(graph, table, policy, Some(&confirming));
        let mut not_asked = |nodes, mut positions: Vec<(EvalKey, Chess)>| {
            positions.retain(|(key, _)| requested.insert((nodes, *key)));
            (nodes, positions)
        };
        let first = examined.unconfirmed(options, top, confirmation.symbols);
        let (length, open) = match not_asked(nodes, first) {
            (_, open) if open.is_empty() => {
                not_asked(2 * nodes, examined.searched_once(options, top))
            }
            first => first,
        };
        if open.is_empty() {
            return Ok((confirming, searches));
        }
        let (keys, open): (Vec<EvalKey>, Vec<Chess>) = open.into_iter().unzip();
        let answers = search(length, &open)?;
        confirming.unanswered += open.len() - answers.len();
        for (index, found) in answers {
            // Also replaces one that is deeper by an unknown number of nodes.
            table.replace(&open[index], &found);
            confirming.searched.insert(keys[index]);
            if length > nodes {
                confirming.searched_twice.insert(keys[index]);
            }
            searches += 1;
        }
    }
}
