// Clocks, values, arrows and squares in comments: shown, not printed, and kept.

import assert from "node:assert/strict";
import { test } from "node:test";

import { read, withWords, wordsOf } from "../../crates/explorer/src/page/commands.js";
import { toPgn } from "../../crates/explorer/src/page/pgn.js";
import * as steps from "../../crates/explorer/src/page/steps.js";
import * as trees from "../../crates/explorer/src/page/tree.js";

test("no command is printed, known or not", () => {
  assert.equal(wordsOf("[%clk 1:59:55] [%eval 0.3]"), "");
  assert.equal(wordsOf('Good [%tqu "En","",""] move [%evp 0,3]. '), "Good move .");
  assert.equal(wordsOf("two\nlines [%csl Ga1]"), "two\nlines");
  assert.equal(wordsOf("50 % [sic]"), "50 % [sic]");
});

test("clocks are shown from the minutes on", () => {
  const clock = (text) => read(`[%clk ${text}]`).clock;
  for (const [text, shown] of [
    ["1:59:55", "1:59:55"],
    ["01:30:00", "1:30:00"],
    ["0:05:12.4", "5:12.4"],
    ["0:00:07", "0:07"],
    ["05:12", "5:12"],
    ["soon", ""],
    ["7", ""],
  ])
    assert.equal(clock(text), shown, text);
});

test("values are White's, in centipawns or moves to mate", () => {
  const value = (text) => read(`[%eval ${text}]`).value;
  assert.deepEqual(value("0.35"), { cp: 35 });
  assert.deepEqual(value("-1.2,24"), { cp: -120 });
  assert.deepEqual(value("#-3"), { mate: -3 });
  assert.equal(value("unclear"), null);
});

test("arrows and squares have their colours, and what is not a square is left out", () => {
  assert.deepEqual(read("[%cal Gd2d4, Rf3d4,Xz9a1][%csl Yd4,Bq1]").places, [
    { colour: "green", squares: ["d2", "d4"] },
    { colour: "red", squares: ["f3", "d4"] },
    { colour: "yellow", squares: ["d4"] },
  ]);
});

test("another comment keeps the commands, for the page and for the PGN", () => {
  assert.equal(withWords("[%clk 0:01:00] old [%csl Ga1]", "new"), "[%clk 0:01:00] [%csl Ga1] new");
  assert.equal(withWords("old [%csl Ga1]", "old"), "old [%csl Ga1]");
  assert.equal(withWords("[%csl Ga1] old", ""), "[%csl Ga1]");
  const [tree, at] = trees.add(trees.empty(), 0, { uci: "e2e4", san: "e4", comment: "[%clk 0:01:00] old" });
  const state = { tree, at, tail: at };
  assert.match(toPgn(steps.annotate(state, "new", 0)(state).tree), /1\. e4 \{\[%clk\s0:01:00\]\snew\}/);
});
