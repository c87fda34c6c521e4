// The rules of chess in the page: numbers of move sequences that all programs agree on, and names of moves. That they
// are those of the program in thousands of positions is a case in `tests/interop`.

import assert from "node:assert/strict";
import { test } from "node:test";

import { legal, play, read, write } from "../../crates/explorer/src/page/rules.js";

/** Number of sequences of so many legal moves. */
function sequences(position, depth) {
  const moves = legal(position);
  if (depth === 1) return moves.length;
  return moves.reduce((sum, { uci }) => sum + sequences(play(position, uci), depth - 1), 0);
}

// https://www.chessprogramming.org/Perft_Results; the last is of Chess960, from the tests of shakmaty.
const COUNTS = [
  ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", [20, 400, 8902]],
  ["r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", [48, 2039]],
  ["8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [14, 191, 2812]],
  ["r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", [6, 264, 9467]],
  ["rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", [44, 1486]],
  ["r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", [46, 2079]],
  ["bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", [21, 528, 12189]],
];

test("the numbers of legal sequences are known", () => {
  for (const [fen, counts] of COUNTS)
    counts.forEach((count, index) => assert.equal(sequences(read(fen), index + 1), count, `${fen}, ${index + 1}`));
});

test("moves have the names of the program", () => {
  const names = (fen) => legal(read(fen)).map(({ san }) => san);
  for (const [fen, expected] of [
    ["6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", ["Ra8#"]],
    ["4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", ["O-O", "O-O-O", "Rh8+"]],
    ["4k3/1P6/8/2pP4/8/8/8/4K3 w - c6 0 2", ["b8=Q+", "b8=N", "dxc6", "d6"]],
    // Two on one file, two on one rank, three of them, and one that is pinned.
    ["4k3/8/8/R7/8/8/4K3/R7 w - - 0 1", ["R1a3", "R5a3"]],
    ["4k3/8/8/R6R/8/8/4K3/8 w - - 0 1", ["Rad5", "Rhd5"]],
    ["7k/8/8/3Q1Q2/8/8/4K3/3Q4 w - - 0 1", ["Qd5d3", "Qfd3", "Q1d3"]],
    ["4r2k/8/8/8/8/4N3/8/N3K3 w - - 0 1", ["Nc2"]],
  ])
    for (const name of expected) assert.ok(names(fen).includes(name), `${name} in ${names(fen)}`);
});

test("a position after moves has the FEN of the program", () => {
  const after = (moves, fen = null) => write(moves.split(" ").reduce(play, read(fen)));
  assert.equal(after("e2e4"), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
  // The square behind the pawn is there only if a pawn can take.
  assert.equal(after("e2e4 a7a6 e4e5 d7d5"), "rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3");
  assert.equal(after("g1f3 g8f6 0000"), "rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 3 2");
  assert.equal(after("e1g1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 4 9"), "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 5 9");
  assert.equal(after("h1h8", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 4 9"), "r3k2R/8/8/8/8/8/8/R3K3 b Qq - 0 9");
  assert.equal(read("8/8/8/8/8/8/8/K7 w - - 0 1"), null);
});
