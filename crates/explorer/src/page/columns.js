// What the table has of books and their moves.

/**
 * Columns of one book: title, explanation, class, what it sorts by.
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

/** What one key, or the right button, makes of a move. */
export const MARKS = [
  ["main", "✓ Main (green)"],
  ["avoid", "✕ Avoid (red)"],
  ["none", "None"],
];

/** Whether new lines can come into a book that is shown. */
export const takesLines = (book) => book.editable && book.most_weight === undefined;

/** Whether a move can be changed: a transposition is not stored, so it has no weight. */
export const canChange = (book, move) => book.editable && !(book.most_weight !== undefined && move.transposition);

/** Whether a move is more than one of many: marked, or played now and then. */
export const matters = (move) => move.mark !== "none" || move.probability >= 0.05;

/** How often a move was played, or what a book has in its place. */
export const amount = (move) => move.stored_weight ?? move.games;
