// Games as PGN: read again, they are the same.

import assert from "node:assert/strict";
import { test } from "node:test";

import { toPgn } from "../../crates/explorer/src/page/pgn.js";
import * as trees from "../../crates/explorer/src/page/tree.js";
import { forSeeds } from "./support.js";
import { randomTree } from "./trees.js";

/** A plain reader: tags and a tree of { san, nags, comment, lines }, with the rules of the standard. */
function read(pgn) {
  const [head, body] = pgn.split("\n\n");
  const tags = Object.fromEntries(
    head.split("\n").map((line) => {
      const [, name, value] = /^\[(\w+) "([^"\\]*)"\]$/.exec(line);
      return [name, value];
    }),
  );
  // A line that begins with "%" is not part of the game.
  const text = body
    .split("\n")
    .filter((line) => !line.startsWith("%"))
    .join("\n");
  const words = text.match(/\{[^}]*\}|[()]|[^\s(){}]+/g);
  const root = { next: [], comment: "" };
  const result = words.pop();
  let at = root,
    before = null;
  const stack = [];
  for (const word of words) {
    if (word === "(") {
      stack.push([at, before]);
      at = before;
    } else if (word === ")") [at, before] = stack.pop();
    else if (word.startsWith("{")) at.comment = word.slice(1, -1).replace(/\s+/g, " ").trim();
    else if (word.startsWith("$")) at.nags.push(Number(word.slice(1)));
    else if (/^\d+\.+$/.test(word)) at.number = word;
    else {
      const move = { san: word, nags: [], comment: "", next: [] };
      at.next.push(move);
      before = at;
      at = move;
    }
  }
  assert.equal(stack.length, 0, "a variation is open");
  return { tags, root, result };
}

/** The same form of a tree of the page. */
function plain(tree, id = 0) {
  const { san, nags, comment, children } = trees.node(tree, id);
  const next = children.map((child) => plain(tree, child));
  const text = comment.replaceAll("{", "(").replaceAll("}", ")").replace(/\s+/g, " ").trim();
  return id === 0 ? { next, comment: text } : { san, nags, comment: text, next };
}

const bare = (node) => {
  const { number: _, ...rest } = node;
  return { ...rest, next: node.next.map(bare) };
};

/** Variations follow the main move, so a reader meets a move's siblings in their order. */
const COMMENTS = [
  "short",
  "two\nlines, and\n\na third",
  "x".repeat(200),
  `${"a word ".repeat(30)}${"y".repeat(90)} end`,
  "brackets ( of a variation ) and {one} more",
  "50 % of all, %eval 0.3 and [%clk 0:01:00]",
  `${"z".repeat(70)} %line ${"z".repeat(74)} %line`,
  "1. e4 e5 *",
];

test("a game that was written and read again is the same game", () => {
  forSeeds(120, (rng) => {
    let tree = randomTree(rng, 5 + rng.below(60));
    for (const id of [...tree.nodes.keys()])
      if (rng.chance(0.3)) tree = trees.note(tree, id, { comment: rng.one(COMMENTS) });
    const game = read(toPgn(tree));
    assert.deepEqual(bare(game.root), plain(tree));
    assert.equal(game.result, "*");
  });
});

test("no line is longer than 79 characters unless a word is, and none is empty or ends in a blank", () => {
  forSeeds(60, (rng) => {
    let tree = randomTree(rng, 60);
    for (const id of [...tree.nodes.keys()])
      if (rng.chance(0.5)) tree = trees.note(tree, id, { comment: rng.one(COMMENTS) });
    const [, body] = toPgn(tree).trimEnd().split("\n\n");
    for (const line of body.split("\n")) {
      assert.match(line, /^\S(.*\S)?$/);
      assert.ok(line.length <= 79 || !line.includes(" ") || /[ ][%[]/.test(line), line);
    }
  });
});

test("the seven tags come first, and a position of one's own has its tags", () => {
  const fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40";
  let tree = {
    ...trees.empty(fen),
    tags: [
      ["White", 'A "B" \\ C'],
      ["Result", "1-0"],
      ["Opening", "None"],
    ],
  };
  [tree] = trees.add(tree, 0, { uci: "e8e7", san: "Ke7" });
  const { tags, root, result } = read(toPgn(tree));
  assert.ok(toPgn(tree).startsWith('[Event "?"]\n[Site "?"]\n[Date "????.??.??"]\n[Round "?"]\n[White "A'));
  for (const name of ["Event", "Site", "Date", "Round", "White", "Black", "Result"]) assert.ok(name in tags, name);
  assert.deepEqual([tags.SetUp, tags.FEN], ["1", fen]);
  assert.deepEqual([tags.Opening, tags.Date, tags.White], ["None", "????.??.??", "A 'B' ' C"]);
  assert.deepEqual([tags.Result, result], ["1-0", "1-0"]);
  assert.equal(root.next[0].san, "Ke7");
  assert.match(toPgn(tree), /\n40\.\.\. Ke7 1-0\n$/);
});

test("Black's move has a number after a comment, after a variation and at the begin of one", () => {
  let tree = trees.empty();
  let e4, e5, open;
  [open, e4] = trees.add(tree, 0, { uci: "e2e4", san: "e4" });
  [open] = trees.add(open, 0, { uci: "d2d4", san: "d4" });
  [open] = trees.add(open, e4, { uci: "e7e5", san: "e5" });
  assert.match(toPgn(open), /\n1\. e4 \(1\. d4\) 1\.\.\. e5 \*\n$/);
  [tree, e4] = trees.add(tree, 0, { uci: "e2e4", san: "e4", comment: "best" });
  [tree, e5] = trees.add(tree, e4, { uci: "e7e5", san: "e5", nags: [2] });
  [tree] = trees.add(tree, e4, { uci: "c7c5", san: "c5" });
  [tree] = trees.add(tree, e5, { uci: "g1f3", san: "Nf3" });
  assert.match(toPgn(tree), /\n1\. e4 \{best\} 1\.\.\. e5 \$2 \(1\.\.\. c5\) 2\. Nf3 \*\n$/);
});

test("nothing is written that a common reader refuses", () => {
  let [tree] = trees.add({ ...trees.empty(), tags: [["Tag-1", "x"]] }, 0, { uci: "e2e4", san: "e4" });
  tree = trees.note(tree, 1, { comment: "a {b} [%clk 0:01:00] [%x] [%y" });
  const pgn = toPgn(tree);
  assert.ok(pgn.includes('[Tag_1 "x"]'), pgn);
  assert.ok(pgn.endsWith("\n1. e4 {a (b) [%clk 0:01:00] [ %x] [ %y} *\n"), pgn);
});
