// The tree of moves.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as trees from "../../crates/explorer/src/page/tree.js";
import { forSeeds } from "./support.js";
import { changed, check, randomTree, someId } from "./trees.js";

const packed = (tree) => JSON.stringify(trees.pack(tree));

test("any changes in any order keep a tree a tree, and leave older trees as they were", () => {
  forSeeds(60, (rng) => {
    const past = [[trees.empty(), packed(trees.empty())]];
    for (let step = 0; step < 60; step += 1) {
      // Undo: the next change is made to an older tree.
      const [from] = rng.chance(0.2) ? rng.one(past) : past.at(-1);
      const tree = changed(from, rng);
      check(tree);
      past.push([tree, packed(tree)]);
    }
    for (const [tree, text] of past) assert.equal(packed(tree), text);
  });
});

test("a line leads to its move, and only to that", () => {
  forSeeds(40, (rng) => {
    const tree = randomTree(rng);
    for (const id of tree.nodes.keys()) {
      assert.equal(trees.find(tree, trees.line(tree, id)), id);
      assert.equal(trees.find(tree, [...trees.line(tree, id), "none"]), undefined);
      for (const above of tree.nodes.keys()) {
        const isAbove = above === 0 || trees.path(tree, id).includes(above);
        assert.equal(trees.isBelow(tree, above, id), isAbove);
      }
    }
  });
});

test("a move that is there already is found, not added", () => {
  forSeeds(20, (rng) => {
    const tree = randomTree(rng);
    for (const { id, parent, uci } of tree.nodes.values()) {
      if (id === 0) continue;
      assert.deepEqual(trees.add(tree, parent, { uci, san: "other" }), [tree, id]);
    }
  });
});

test("a promoted line is the main line, and the moves are the same", () => {
  forSeeds(40, (rng) => {
    const tree = randomTree(rng);
    const id = someId(tree, rng);
    const now = trees.promote(tree, id);
    let at = 0;
    for (const next of trees.path(tree, id)) {
      assert.equal(trees.node(now, at).children[0], next);
      at = next;
    }
    assert.ok(trees.isBelow(now, id, trees.endOf(now, 0)));
    for (const one of tree.nodes.values()) {
      assert.deepEqual([...trees.node(now, one.id).children].sort(), [...one.children].sort());
      assert.equal(trees.node(now, one.id).comment, one.comment);
    }
  });
});

test("removing a move removes what follows it, and nothing else", () => {
  forSeeds(40, (rng) => {
    const tree = randomTree(rng);
    const id = someId(tree, rng);
    if (id === 0) return;
    const now = trees.remove(tree, id);
    for (const other of tree.nodes.keys())
      assert.equal(now.nodes.has(other), !trees.path(tree, other).includes(id), `${other}`);
  });
});

test("a tree comes back from the browser's history", () => {
  forSeeds(20, (rng) => {
    const tree = randomTree(rng);
    const back = trees.unpack(JSON.parse(JSON.stringify(trees.pack(tree))));
    assert.deepEqual(back, tree);
    check(back);
  });
});

test("a text that the program has read becomes the same tree", () => {
  const nodes = [
    { parent: null, uci: "e2e4", san: "e4", nags: [1], comment: "best by test" },
    { parent: 0, uci: "e7e5", san: "e5", nags: [], comment: "" },
    { parent: 0, uci: "c7c5", san: "c5", nags: [], comment: "" },
    { parent: 2, uci: "g1f3", san: "Nf3", nags: [], comment: "" },
  ];
  const tree = trees.fromPasted({ fen: null, nodes, comment: "a game", tags: [["White", "A"]] });
  check(tree);
  assert.deepEqual(trees.line(tree, trees.endOf(tree, 0)), ["e2e4", "e7e5"]);
  const nf3 = trees.find(tree, ["e2e4", "c7c5", "g1f3"]);
  assert.equal(trees.node(tree, nf3).san, "Nf3");
  assert.equal(trees.node(tree, 0).comment, "a game");
  assert.deepEqual(tree.tags, [["White", "A"]]);
});

test("moves are numbered from the number and the colour of the position", () => {
  const numbers = (fen) => {
    let tree = trees.empty(fen),
      at = 0;
    for (const uci of ["a", "b", "c"]) [tree, at] = trees.add(tree, at, { uci, san: uci });
    return trees.path(tree, at).flatMap((id) => [trees.numberOf(tree, id, false), trees.numberOf(tree, id, true)]);
  };
  assert.deepEqual(numbers(null), ["1.", "1.", "", "1…", "2.", "2."]);
  assert.deepEqual(numbers("8/8/8/8/8/8/8/8 b - - 0 12"), ["", "12…", "13.", "13.", "", "13…"]);
  assert.deepEqual(numbers("8/8/8/8/8/8/8/8 w - - 0 x"), ["1.", "1.", "", "1…", "2.", "2."]);
});

test("a tree has all moves of an older one until some are deleted or replaced", () => {
  forSeeds(30, (rng) => {
    const tree = randomTree(rng);
    const id = someId(tree, rng);
    const [grown] = trees.add(tree, id, { uci: "new", san: "new" });
    assert.ok(trees.hasAll(grown, tree) && trees.hasAll(trees.promote(grown, id), tree));
    assert.ok(!trees.hasAll(tree, grown) && !trees.hasAll({ ...grown, fen: "other" }, tree));
    if (id !== 0) assert.ok(!trees.hasAll(trees.remove(tree, id), tree));
  });
});
