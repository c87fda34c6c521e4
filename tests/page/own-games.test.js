// The user's own figures under the moves of the book.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./support.js";

const { figures } = await import("../../crates/explorer/src/page/own-games.js");

test("games and score are those of the user's colour", () => {
  const moves = [
    { san: "e4", white: 6, draws: 2, black: 4 },
    { san: "d4", white: 0, draws: 0, black: 1 },
  ];
  assert.deepEqual(
    [...figures({ moves }, "white")],
    [
      ["e4", "you: 12 games, 58\u202f%"],
      ["d4", "you: 1 game, 0\u202f%"],
    ],
  );
  assert.equal(figures({ moves }, "black").get("e4"), "you: 12 games, 42\u202f%");
  assert.equal(figures({ moves: [] }, "white").size, 0);
});
