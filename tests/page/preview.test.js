// The pieces after moves, as the small board shows them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces } from "../../crates/explorer/src/page/board.js";
import { along } from "../../crates/explorer/src/page/rules.js";

/** The pieces after moves equal those of a position. */
function leads(fen, moves, to) {
  const sorted = (map) => [...map].sort();
  assert.deepEqual(sorted(along(fen, moves.split(" "))), sorted(pieces(to)), moves);
}

test("moves and captures", () => {
  leads(null, "e2e4 d7d5 e4d5", "rnbqkbnr/ppp1pppp/8/3P4/8/8/PPPP1PPP/RNBQKBNR");
});

test("castling to both sides, written by the king or by its rook", () => {
  const fen = "r3k2r/8/8/8/8/8/8/R3K2R";
  leads(fen, "e1g1 e8c8", "2kr3r/8/8/8/8/8/8/R4RK1");
  leads(fen, "e1a1 e8h8", "r4rk1/8/8/8/8/8/8/2KR3R");
  // Chess960: the king is already where it goes to, or beside it.
  leads("8/8/8/8/8/8/8/1R4KR", "g1h1", "8/8/8/8/8/8/8/1R3RK1");
  leads("8/8/8/8/8/8/8/1RK4R", "c1b1", "8/8/8/8/8/8/8/2KR3R");
  // One step is not castling.
  leads(fen, "e1f1", "r3k2r/8/8/8/8/8/8/R4K1R");
});

test("taking in passing, and promotions of both sides", () => {
  leads("8/8/8/3pP3/8/8/8/8", "e5d6", "8/8/3P4/8/8/8/8/8");
  leads("8/8/8/8/3pP3/8/8/8", "d4e3", "8/8/8/8/8/4p3/8/8");
  leads("1r6/P7/8/8/8/8/7p/8", "a7b8n h2h1q", "1N6/8/8/8/8/8/8/7q");
});
