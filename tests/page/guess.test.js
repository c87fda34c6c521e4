// What the page shows before the program answers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { settle } from "./support.js";

const { Seen, guess } = await import("../../crates/explorer/src/page/guess.js");
const steps = await import("../../crates/explorer/src/page/steps.js");
const trees = await import("../../crates/explorer/src/page/tree.js");

const first = () => ({ tree: trees.empty(), at: 0, tail: 0, books: "", set: {}, filter: {}, flip: false });
const move = (uci) => ({ uci, san: uci });
const ahead = [move("e2e4"), move("e7e5")];
const view = { fen: "", ahead, books: [{ book: 0, name: "b", deck: "d", moves: [1, 2] }], changes: 1, open: 1 };

test("a guess has the board, the legal moves, and nothing of the last position's figures", () => {
  const state = first();
  const next = steps.walkTo(state, move("e2e4"));
  const { fen, turn, fullmove, check, end, legal, ahead: left, books, isGuess } = guess(next, state, view);
  assert.equal(fen, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
  assert.deepEqual([turn, fullmove, check, end, legal.length, isGuess], ["black", 1, false, null, 20, true]);
  assert.deepEqual([left, books], [[ahead[1]], [{ book: 0, name: "b", deck: "d", moves: [] }]]);
  // Of another line the likeliest moves are not known.
  assert.equal(guess(steps.walkTo(state, move("d2d4")), state, view).ahead, null);
  const mate = ["f2f3", "e7e5", "g2g4", "d8h4"].map(move).reduce(steps.walkTo, state);
  assert.deepEqual([guess(mate, state, view).end, guess(mate, state, view).check], ["checkmate", true]);
});

test("nothing is guessed where the program is needed", () => {
  const state = first();
  const next = steps.walkTo(state, move("e2e4"));
  for (const other of [{ books: "b" }, { set: {} }, { filter: {} }])
    assert.equal(guess({ ...next, ...other }, state, view), null);
  assert.equal(guess({ ...state }, state, view), null, "the same position is asked for again");
  const odd = { ...first(), tree: trees.empty("8/8/8/8/8/8/8/8 w - - 0 1") };
  assert.equal(guess(odd, state, view), null);
});

test("answers are kept until a book changes, and none is asked for twice at once", async () => {
  const asked = [];
  const seen = new Seen(
    (query) => new Promise((resolve, reject) => asked.push({ query: String(query), resolve, reject })),
  );
  const state = first();
  const next = steps.walkTo(state, move("e2e4"));
  const both = [seen.ask(next), seen.ask({ ...next, flip: true })];
  assert.equal(asked.length, 1);
  asked[0].resolve(view);
  assert.deepEqual(await Promise.all(both), [view, view]);
  assert.equal(seen.get(next), view);
  assert.equal(seen.get(state), null);
  // An error is not kept.
  const failing = seen.ask(state);
  asked[1].reject(new Error("gone"));
  await assert.rejects(failing, /gone/);
  await settle();
  seen.ask(state);
  assert.equal(asked.length, 3);
  const changed = { ...view, changes: 2 };
  seen.keep(state, changed);
  assert.deepEqual([seen.get(next), seen.get(state)], [null, changed]);
  // No more than 300.
  let at = state;
  for (let ply = 0; ply < 320; ply += 1) seen.keep((at = steps.walkTo(at, move(`m${ply}`))), changed);
  assert.deepEqual([seen.views.size, seen.get(at)], [300, changed]);
  seen.clear();
  assert.equal(seen.get(at), null);
});
