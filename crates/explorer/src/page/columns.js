// The columns of the table of moves, and properties of books and moves.

import { english } from "./lang.js";

/**
 * Columns of one book: title, explanation, class, sort value.
 * @type {[string, string, string, (move: any, worth?: (move: any) => any) => any][]}
 */
export const COLUMNS = [
  [english("Move"), "", "move", (move) => move.san],
  [english("N"), english("Games"), "n", (move) => move.stored_weight ?? move.games],
  [
    english("Share"),
    english("Share of the games of this position"),
    "share",
    (move) => move.stored_weight ?? move.games,
  ],
  [english("%"), english("Score of the player of the move"), "score", (move) => move.score],
  [english("Eval"), english("Evaluation in pawns, from White’s side"), "eval", (move, worth) => worth(move)],
  [english("Av"), english("Average Elo"), "av", (move) => move.average_elo],
  [english("Perf"), english("Performance Elo"), "perf", (move) => move.performance],
  [english("Learn"), english("Learn value, −125 to +125"), "learn", (move) => move.priority ?? move.learn_value],
  [english("Prob"), english("Probability that Tabia plays it"), "prob", (move) => move.probability],
  [
    english("Results"),
    english("White wins · draws · Black wins"),
    "results",
    (move) => (move.white === null ? null : move.white / Math.max(1, move.white + move.draws + move.black)),
  ],
];

/** Marks that a key or the right button sets. */
export const MARKS = [
  ["main", english("✓ Main (green)")],
  ["avoid", english("✕ Avoid (red)")],
  ["none", english("None")],
];

/** Whether lines can be added to a shown book. */
export const takesLines = (book) => book.editable && book.most_weight === undefined;

/** Whether a move can be changed: a transposition is not stored, so it has no weight. */
export const canChange = (book, move) => book.editable && !(book.most_weight !== undefined && move.transposition);

/** Whether a move is important: marked, or played with at least 5 %. */
export const matters = (move) => move.mark !== "none" || move.probability >= 0.05;

/** How often a move was played, or its weight. */
export const amount = (move) => move.stored_weight ?? move.games;

/**
 * The moves in the order of a column, `sort.kind`; those without a value there come last. `worth` returns the value of
 * a move for its player; with two books, `of` returns the move in the one that counts.
 */
export function sorted(moves, sort, worth, of = (move) => move) {
  const [, , , key] = COLUMNS.find(([, , kind]) => kind === sort?.kind) ?? [];
  if (!key) return moves;
  const sign = sort.up ? 1 : -1;
  const compare = (a, b) => (a < b ? -1 : Number(a > b));
  return [...moves].sort((a, b) => {
    const [x, y] = [key(of(a), worth), key(of(b), worth)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * compare(x, y);
  });
}

/** The order after a click on a column: a second click reverses it, a third restores that of the book. */
export function nextSort(sort, kind, side) {
  // Names begin with A, figures with the greatest.
  const up = kind === "move";
  if (sort?.kind !== kind || (sort.side ?? 0) !== side) return { kind, up, side };
  return sort.up === up ? { kind, up: !up, side } : null;
}

/** The columns without content for these moves, which are hidden; `hasValues` if an engine gives values. */
export const emptyColumns = (moves, hasValues) =>
  [
    moves.every((move) => move.score === null) && "score",
    !hasValues && moves.every((move) => move.evaluation === undefined) && "eval",
    moves.every((move) => move.average_elo === null) && "av",
    moves.every((move) => move.performance === null) && "perf",
    moves.every((move) => move.learn_value === 0 && move.priority === undefined) && "learn",
    moves.every((move) => move.white === null) && "results",
  ].filter(Boolean);

/** The sums of all moves of a book: games or weights, and score of the player to move and probability, if known. */
export function totals(book, turn) {
  const sum = (of) => book.moves.reduce((all, move) => all + of(move), 0);
  const known = book.in_book && !book.moves.some((move) => move.stored_weight !== undefined);
  const finished = known && book.white !== null ? book.white + book.draws + book.black : 0;
  const wins = turn === "white" ? book.white : book.black;
  const played = sum((move) => move.probability);
  return {
    amount: known ? book.games : sum(amount),
    score: finished ? (wins + book.draws / 2) / finished : null,
    probability: played > 0 ? played : null,
  };
}

/** A value for White as a number for sorting, for the player of the move; a mate is worth more than any pawns. */
export function worthOf({ cp, mate }, turn) {
  const white = mate === undefined ? cp : Math.sign(mate || 1) * (100_000 - Math.abs(mate));
  return turn === "white" ? white : -white;
}

/** The name of an opening without the part that is already in the title, `shown`. */
export function shortened(name, shown) {
  const known = [`${shown}, `, `${shown}: `, `${shown.split(":")[0]}: `].find((start) => name.startsWith(start));
  return known ? name.slice(known.length) : name;
}
