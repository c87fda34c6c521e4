// The table of moves: order, columns, sums.

import assert from "node:assert/strict";
import { test } from "node:test";

import { forSeeds } from "./support.js";

const { COLUMNS, amount, canChange, emptyColumns, matters, nextSort, shortened, sorted, takesLines, totals, worthOf } =
  await import("../../crates/explorer/src/page/columns.js");

const KINDS = COLUMNS.map(([, , kind]) => kind);

function randomMove({ one, below, chance, random }, index) {
  const isScored = chance(0.7);
  const results = () => (isScored ? below(50) : null);
  return {
    uci: `m${index}`,
    san: one(["e4", "Nf3", "O-O", "a3"]),
    games: below(1000),
    score: isScored ? random() : null,
    average_elo: chance(0.5) ? 2000 + below(800) : null,
    performance: chance(0.5) ? 2000 + below(800) : null,
    learn_value: below(3) - 1,
    probability: random(),
    white: results(),
    draws: results(),
    black: results(),
    mark: one(["none", "main", "avoid"]),
    evaluation: chance(0.5) ? below(200) - 100 : undefined,
  };
}

const movesOf = (rng) => Array.from({ length: 1 + rng.below(12) }, (_, index) => randomMove(rng, index));

const worth = (move) => (move.evaluation === undefined ? null : move.evaluation);

test("each column sorts its moves both ways, and those without a value stay at the end", () => {
  forSeeds(100, (rng) => {
    const moves = movesOf(rng);
    for (const [, , kind, key] of COLUMNS) {
      const [up, down] = [true, false].map((way) => sorted(moves, { kind, up: way }, worth));
      for (const list of [up, down]) {
        assert.deepEqual(new Set(list), new Set(moves));
        const values = list.map((move) => key(move, worth));
        assert.ok(!values.includes(undefined), kind);
        const known = values.filter((value) => value !== null);
        assert.ok(
          values.slice(known.length).every((value) => value === null),
          `${kind}: ${values}`,
        );
        known.forEach((value, index) => {
          if (index === 0) return;
          const isInOrder = list === up ? known[index - 1] <= value : known[index - 1] >= value;
          assert.ok(isInOrder, `${kind}: ${known}`);
        });
      }
    }
  });
});

test("without an order, and in an order that is not known, the moves are as the program sends them", () => {
  forSeeds(20, (rng) => {
    const moves = movesOf(rng);
    for (const sort of [null, undefined, { kind: "nothing", up: true }])
      assert.equal(sorted(moves, sort, worth), moves);
  });
});

test("clicks on a column sort, reverse and restore", () => {
  const after = (...clicks) => clicks.reduce((sort, [kind, side]) => nextSort(sort, kind, side), null);
  assert.deepEqual(after(["n", 0]), { kind: "n", up: false, side: 0 });
  assert.deepEqual(after(["n", 0], ["n", 0]), { kind: "n", up: true, side: 0 });
  assert.equal(after(["n", 0], ["n", 0], ["n", 0]), null);
  assert.deepEqual(after(["n", 0], ["n", 1]), { kind: "n", up: false, side: 1 });
  assert.deepEqual(after(["n", 0], ["move", 0]), { kind: "move", up: true, side: 0 });
  assert.deepEqual(nextSort({ kind: "n", up: false }, "n", 0), { kind: "n", up: true, side: 0 }, "stored before sides");
});

test("of two books the one that counts gives the order", () => {
  const moves = [
    { uci: "a", games: 3 },
    { uci: "b", games: 1 },
  ];
  const other = new Map([
    ["a", { games: 10 }],
    ["b", { games: 20 }],
  ]);
  const order = (of) => sorted(moves, { kind: "n", up: false }, worth, of).map(({ uci }) => uci);
  assert.deepEqual(
    [order(), order(({ uci }) => other.get(uci))],
    [
      ["a", "b"],
      ["b", "a"],
    ],
  );
});

test("a column is hidden if none of the moves has a value there", () => {
  forSeeds(100, (rng) => {
    const moves = movesOf(rng);
    const empty = emptyColumns(moves, false);
    for (const kind of empty) assert.ok(KINDS.includes(kind), kind);
    const has = {
      score: moves.some((move) => move.score !== null),
      eval: moves.some((move) => move.evaluation !== undefined),
      av: moves.some((move) => move.average_elo !== null),
      perf: moves.some((move) => move.performance !== null),
      learn: moves.some((move) => move.learn_value !== 0),
      results: moves.some((move) => move.white !== null),
    };
    for (const [kind, isThere] of Object.entries(has)) assert.equal(empty.includes(kind), !isThere, kind);
    // Values of an engine have the column of evaluations.
    assert.ok(!emptyColumns(moves, true).includes("eval"));
  });
  // The priority of a book of another format is in the column of learn values.
  const weights = [{ score: null, average_elo: null, performance: null, learn_value: 0, white: null, priority: 5 }];
  assert.deepEqual(emptyColumns(weights, false), ["score", "eval", "av", "perf", "results"]);
});

test("the last row has the sums of the book", () => {
  const moves = [
    { games: 30, probability: 0.75 },
    { games: 20, probability: 0.25 },
  ];
  const book = { in_book: true, games: 60, white: 30, draws: 20, black: 10, moves };
  assert.deepEqual(totals(book, "white"), { amount: 60, score: 40 / 60, probability: 1 });
  assert.deepEqual(totals(book, "black"), { amount: 60, score: 20 / 60, probability: 1 });
  // Weights are not games, and have no score.
  const weights = { ...book, moves: [{ games: 0, stored_weight: 7, probability: 0 }] };
  assert.deepEqual(totals(weights, "white"), { amount: 7, score: null, probability: null });
  const unknown = { ...book, white: null, draws: null, black: null };
  assert.equal(totals(unknown, "white").score, null);
  const outside = { in_book: false, games: 0, white: 0, draws: 0, black: 0, moves: [] };
  assert.deepEqual(totals(outside, "white"), { amount: 0, score: null, probability: null });
});

test("a value is good for the player of the move, and a mate is worth more than pawns", () => {
  assert.deepEqual([worthOf({ cp: 35 }, "white"), worthOf({ cp: 35 }, "black")], [35, -35]);
  const order = [{ mate: 1 }, { mate: 9 }, { cp: 5000 }, { cp: 0 }, { cp: -5000 }, { mate: -9 }, { mate: -1 }];
  const values = order.map((value) => worthOf(value, "white"));
  assert.deepEqual(
    values,
    [...values].sort((a, b) => b - a),
  );
  assert.deepEqual(
    order.map((value) => worthOf(value, "black")),
    values.map((value) => -value),
  );
});

test("the name of an opening is shown without what the title says", () => {
  const title = "Sicilian Defense: Najdorf";
  for (const [name, left] of [
    ["Sicilian Defense: Najdorf, English Attack", "English Attack"],
    ["Sicilian Defense: Najdorf: Old Line", "Old Line"],
    ["Sicilian Defense: Dragon", "Dragon"],
    ["French Defense", "French Defense"],
    ["Sicilian Defense", "Sicilian Defense"],
  ])
    assert.equal(shortened(name, title), left);
  assert.equal(shortened("French Defense", ""), "French Defense");
});

test("a move matters if it is marked or played", () => {
  const move = { mark: "none", probability: 0.049 };
  assert.equal(matters(move), false);
  assert.equal(matters({ ...move, probability: 0.05 }), true);
  assert.equal(matters({ ...move, mark: "avoid" }), true);
  assert.deepEqual([amount({ games: 3 }), amount({ games: 3, stored_weight: 0 })], [3, 0]);
});

test("lines are added to books, weights are changed for stored moves", () => {
  const book = { editable: true },
    weights = { editable: true, most_weight: 65535 };
  assert.deepEqual([takesLines(book), takesLines(weights), takesLines({ editable: false })], [true, false, false]);
  const [stored, reached] = [{ transposition: false }, { transposition: true }];
  assert.deepEqual(
    [canChange(book, reached), canChange(weights, reached), canChange(weights, stored)],
    [true, false, true],
  );
  assert.equal(canChange({ editable: false }, stored), false);
});
