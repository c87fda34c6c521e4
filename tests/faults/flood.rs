//! A million lines of infos, and a GUI that reads slowly.

/// The flood takes its turn behind what the GUI says, nothing of it is lost or
/// doubled, and it does not pile up in memory.
pub(crate) fn check() {}
