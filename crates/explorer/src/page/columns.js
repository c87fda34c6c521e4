// The columns of the table of moves, and properties of books and moves.

/**
 * Columns of one book: title, explanation, class, sort value.
 * @type {[string, string, string, (move: any, table?: any) => any][]}
 */
export const COLUMNS = [
  ["Move", "", "move", (move) => move.san],
  ["N", "Games", "n", (move) => move.stored_weight ?? move.games],
  ["Share", "Share of the games of this position", "share", (move) => move.stored_weight ?? move.games],
  ["%", "Score of the player of the move", "score", (move) => move.score],
  ["Eval", "Evaluation in pawns, from White’s side", "eval", (move, table) => table.worth(move)],
  ["Av", "Average Elo", "av", (move) => move.average_elo],
  ["Perf", "Performance Elo", "perf", (move) => move.performance],
  ["Fact", "Learn value, −125 to +125", "fact", (move) => move.priority ?? move.factor],
  ["Prob", "Probability with which the adapter plays it", "prob", (move) => move.probability],
  [
    "Results",
    "White wins · draws · Black wins",
    "results",
    (move) => (move.white === null ? null : move.white / Math.max(1, move.white + move.draws + move.black)),
  ],
];

/** Marks that a key or the right button sets. */
export const MARKS = [
  ["main", "✓ Main (green)"],
  ["avoid", "✕ Avoid (red)"],
  ["none", "None"],
];

/** Whether lines can be added to a shown book. */
export const takesLines = (book) => book.editable && book.most_weight === undefined;

/** Whether a move can be changed: a transposition is not stored, so it has no weight. */
export const canChange = (book, move) => book.editable && !(book.most_weight !== undefined && move.transposition);

/** Whether a move is important: marked, or played with at least 5 %. */
export const matters = (move) => move.mark !== "none" || move.probability >= 0.05;

/** How often a move was played, or its weight. */
export const amount = (move) => move.stored_weight ?? move.games;
