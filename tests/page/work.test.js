// The list of work: orders, what a row costs, and its files. Also what a mistake of a training costs, and the spellings
// of players.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./support.js";

const { allAsPgn, lost, nextOrder, playersOf, sorted, toCsv } = await import("../../crates/explorer/src/page/work.js");
const { costIn } = await import("../../crates/explorer/src/page/trainer.js");
const { joined, keyOf } = await import("../../crates/explorer/src/page/search.js");

const move = (uci, san) => ({ uci, san });

const row = (number, kind, frequency, score, more = {}) => ({
  number,
  kind,
  frequency,
  cost: score === null ? null : { score, centipawns: null, games: 12, source: 0, better: move("d2d4", "d4") },
  moves: [move("e2e4", "e4")],
  line: "1. e4",
  fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
  move: move("e7e5", "e5"),
  book: [move("c7c5", "c5")],
  ...more,
});

const ROWS = [
  row(0, "marked", 0.5, null),
  row(1, "end", 0.5, 0.02),
  row(2, "unanswered", null, 0.5),
  row(3, "departure", 0.25, -0.1),
  row(4, "difference", 0.1, 0.1),
  row(5, "marked", 0.5, 0.02),
];

test("rows are sorted by each column, unknown values last from either end, and equal ones stay", () => {
  const numbers = (kind, up) => sorted(ROWS, { kind, up }).map(({ number }) => number);
  assert.deepEqual(numbers("lost", false), [1, 4, 5, 3, 0, 2]);
  assert.deepEqual(numbers("lost", true), [3, 1, 4, 5, 0, 2]);
  assert.deepEqual(numbers("often", false), [0, 1, 5, 3, 4, 2]);
  assert.deepEqual(numbers("cost", true), [3, 1, 5, 4, 2, 0]);
  assert.deepEqual(numbers("what", true), [2, 3, 4, 1, 0, 5]);
  assert.deepEqual(ROWS.map(lost).slice(0, 3), [null, 1, null]);
});

test("a click on a column sorts by it, a second one reverses that", () => {
  const first = nextOrder({ kind: "lost", up: false }, "often");
  assert.deepEqual(first, { kind: "often", up: false });
  assert.deepEqual(nextOrder(first, "often"), { kind: "often", up: true });
  assert.deepEqual(nextOrder(first, "what"), { kind: "what", up: true });
});

test("the rows as CSV have a field for each heading, whatever is in them", () => {
  const text = toCsv([row(0, "end", 0.25, 0.5), row(1, "end", null, null, { move: null, book: [] })], ['a "b", c']);
  const [head, first, second] = text.trim().split("\r\n");
  assert.equal(head.split(",").length, 10);
  assert.equal(
    first,
    '"end","1. e4","rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1","e5","c5","0.25","0.5","","a ""b"", c","12.5"',
  );
  assert.ok(second.endsWith(',"","","","","","",""'), second);
});

test("the rows as PGN are games of the line and the move", () => {
  const text = allAsPgn(
    [row(0, "end", 0.25, 0.5), row(1, "marked", 1, null, { move: null })],
    null,
    ({ kind }) => `of ${kind}`,
  );
  const games = text.split(/\n+(?=\[Event )/);
  assert.equal(games.length, 2);
  assert.match(games[0], /\[Event "end"\]/);
  assert.match(games[0], /1\. e4 e5 \{of end\} \*/);
  assert.match(games[1], /1\. e4 \{of marked\} \*/);
});

test("the players of games are found, most games first", () => {
  const game = (white, black) => `[Event "?"]\n[White "${white}"]\n[Black "${black}"]\n\n*\n`;
  assert.deepEqual(playersOf(game("A", "B") + game("C", "B") + game("?", "C") + game("B", "C")), ["B", "C", "A"]);
});

test("a mistake costs what the book's figures say, if it has both moves", () => {
  const book = (moves) => ({ moves });
  const of = (uci, games, score, evaluation) => ({ uci, san: uci, games, score, evaluation });
  const cost = (...moves) => costIn(book(moves), { uci: "a2a3" }, { uci: "e2e4" });
  assert.equal(
    cost(of("a2a3", 20, 0.4), of("e2e4", 900, 0.55)),
    "In the book a2a3 scores 40.0\u202f%, e2e4 55.0\u202f%.",
  );
  assert.equal(
    cost(of("a2a3", 0, null, -20), of("e2e4", 9, 0.5, 35)),
    "By the book’s evaluations a2a3 costs 0.55 pawns against e2e4.",
  );
  assert.equal(cost(of("a2a3", 9, 0.4), of("e2e4", 900, 0.55)), "");
  assert.equal(cost(of("a2a3", 20, null), of("e2e4", 900, null)), "");
  assert.equal(cost(of("e2e4", 900, 0.55)), "");
});

test("spellings of a player are one, with all their games", () => {
  const spellings = ["Kasparov Gary (RUS)", "Kasparov, Garry", "Kasparov G.", "kasparov garry"];
  assert.equal(new Set(spellings.map(keyOf)).size, 1);
  const players = [
    { name: "Karpov, Anatoly", games: 9 },
    ...spellings.map((name, index) => ({ name, games: 5 - index })),
    { name: "Kasparov, Sergey", games: 1 },
    { name: "Kasparov", games: 1 },
  ];
  assert.deepEqual(joined(players), [
    { names: spellings, games: 14 },
    { names: ["Karpov, Anatoly"], games: 9 },
    { names: ["Kasparov, Sergey"], games: 1 },
    { names: ["Kasparov"], games: 1 },
  ]);
});
