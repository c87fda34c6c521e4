// Random trees of moves, and what holds for each tree.

import assert from "node:assert/strict";

import * as trees from "../../crates/explorer/src/page/tree.js";

const MOVES = ["e2e4", "d2d4", "g1f3", "c2c4", "a2a3"];

/** A move that is no move of chess: trees know no rules. */
const moveOf = ({ one, chance, below }) => {
  const uci = one(MOVES);
  return {
    uci,
    san: uci.slice(2),
    nags: chance(0.2) ? [1 + below(20)] : [],
    comment: chance(0.2) ? "well played" : "",
  };
};

/** Some move of a tree, or its first position. */
export const someId = (tree, { one }) => one([...tree.nodes.keys()]);

/** One random change: the new tree. */
export function changed(tree, rng) {
  const id = someId(tree, rng);
  if (id !== 0 && rng.chance(0.15)) return trees.remove(tree, id);
  if (rng.chance(0.2)) return trees.promote(tree, id);
  if (rng.chance(0.1)) return trees.note(tree, id, { comment: `note ${rng.below(100)}` });
  return trees.add(tree, id, moveOf(rng))[0];
}

export function randomTree(rng, changes = 40) {
  let tree = trees.empty();
  for (let step = 0; step < changes; step += 1) tree = changed(tree, rng);
  return tree;
}

/** What holds for every tree. */
export function check(tree) {
  const seen = new Set();
  const walk = (id, parent) => {
    const node = trees.node(tree, id);
    assert.ok(node, `move ${id} is there`);
    assert.ok(!seen.has(id), `move ${id} is there once`);
    seen.add(id);
    assert.equal(node.id, id);
    assert.equal(node.parent, parent);
    assert.ok(id < tree.next);
    const moves = node.children.map((child) => trees.node(tree, child)?.uci);
    assert.equal(new Set(moves).size, moves.length, `no move is twice after ${id}`);
    node.children.forEach((child) => walk(child, id));
  };
  walk(0, null);
  assert.equal(seen.size, tree.nodes.size, "every move is reached");
}
