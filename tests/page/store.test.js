// The store and its steps: what keys do in any order, while answers come when they come.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as steps from "../../crates/explorer/src/page/steps.js";
import { AHEAD, Store, WAIT } from "../../crates/explorer/src/page/store.js";
import * as trees from "../../crates/explorer/src/page/tree.js";
import { forSeeds, forSeedsInTurn, settle } from "./support.js";
import { check, randomTree, someId } from "./trees.js";

const first = (tree = trees.empty()) => ({ tree, at: 0, tail: 0, books: "", set: {}, filter: {}, flip: false });

const move = (uci) => ({ uci, san: uci });

/** The likeliest line of a book in which each move follows from the number of moves before it. */
const bookLine = (state) => {
  const from = trees.path(state.tree, state.at).length;
  return Array.from({ length: AHEAD }, (_, index) => move(`m${from + index}`));
};

/** A store whose requests are answered by hand, and what it showed. */
function tested(state = first()) {
  const asked = [],
    shown = [],
    errors = [];
  const store = new Store(state, {
    ask: (next) => new Promise((resolve, reject) => asked.push({ next, resolve, reject })),
    shown: (how) => shown.push({ state: store.state, view: store.view, how }),
    failed: (error) => errors.push(error.message),
  });
  store.view = { of: state, ahead: bookLine(state) };
  const answer = async () => {
    const { next, resolve } = asked.shift();
    resolve({ of: next, ahead: bookLine(next) });
    await settle();
  };
  return { store, asked, shown, errors, answer };
}

const line = ({ tree, at }) => trees.line(tree, at);

/** What a player can do: each as a step. */
const ACTIONS = [
  (rng, { state }) => steps.to(someId(state.tree, rng)),
  (rng, { state }) => steps.playFrom(state, [move(`a${rng.below(4)}`), move("b")]),
  () => steps.forward,
  () => steps.forward,
  () => steps.back,
  () => steps.toStart,
  () => steps.toEnd,
  () => steps.flip,
  () => steps.promote,
  () => steps.remove,
  (rng, { state }) => steps.along(trees.line(state.tree, someId(state.tree, rng))),
  (rng, { state }) => steps.annotate(state, "note", rng.below(7)),
];

/** What holds for every state of the page. */
function checkState({ tree, at, tail }) {
  check(tree);
  assert.ok(tree.nodes.has(at), "the position is in the tree");
  assert.ok(tree.nodes.has(tail), "the end of the line is in the tree");
  assert.ok(trees.isBelow(tree, at, tail), "the line goes on from the position");
}

test("keys in any order give a state that holds, whenever the answers come", () =>
  forSeedsInTurn(40, async (rng) => {
    const tree = randomTree(rng, 20);
    const { store, asked, shown, answer } = tested(first(tree));
    for (let turn = 0; turn < 60; turn += 1) {
      if (asked.length && rng.chance(0.4)) await answer();
      else store.want(rng.one(ACTIONS)(rng, store), rng.one(["walk", "jump", "keep"]));
      // One request at a time; what is shown is the answer for the state.
      await settle();
      assert.ok(asked.length <= 1);
      assert.equal(store.view.of, store.state);
      checkState(store.state);
    }
    while (asked.length) await answer();
    assert.equal(store.queue.length, 0);
    for (const { state, view } of shown) assert.equal(view.of, state);
  }));

test("a key that is held goes as many moves, along the line and then along the book", async () => {
  let tree = trees.empty(),
    tail = 0;
  for (const uci of ["m0", "m1", "x2"]) [tree, tail] = trees.add(tree, tail, move(uci));
  const { store, asked, answer } = tested({ ...first(tree), tail });
  for (let press = 0; press < 40; press += 1) store.want(steps.forward, "walk");
  await settle();
  // The book's moves after the line are not known before its answer.
  assert.deepEqual(line(asked[0].next), ["m0", "m1", "x2"]);
  let requests = 0;
  for (; asked.length; requests += 1) await answer();
  const expected = ["m0", "m1", "x2", ...Array.from({ length: 37 }, (_, index) => `m${index + 3}`)];
  assert.deepEqual(line(store.state), expected);
  assert.ok(requests <= 2 + 40 / AHEAD, `${requests} requests`);
});

test("the end of the book ends a held key, and keys after it count", async () => {
  const { store, asked, answer } = tested();
  store.view.ahead = [move("m0"), move("m1")];
  for (const step of [steps.forward, steps.forward, steps.forward, steps.back]) store.want(step, "walk");
  await settle();
  assert.deepEqual(line(asked[0].next), ["m0"]);
  await answer();
  assert.deepEqual(line(store.state), ["m0"]);
});

test("a move is for the position in which it was played", async () => {
  const { store, asked, answer } = tested();
  const there = store.state;
  store.want(steps.playFrom(there, [move("e2e4")]));
  // A double click: the second click meant the same position.
  store.want(steps.playFrom(there, [move("e2e4")]));
  await settle();
  await answer();
  assert.deepEqual([line(store.state), asked.length], [["e2e4"], 0]);
  store.want(steps.playFrom(store.state, [move("e7e5"), move("g1f3")]));
  await settle();
  await answer();
  assert.deepEqual(line(store.state), ["e2e4", "e7e5", "g1f3"]);
  // In the middle of a line another move is a variation, and the line goes on from it.
  store.want(steps.back);
  store.want(steps.playFrom({ ...store.state, at: store.state.at - 1 }, [move("f2f4")]));
  await settle();
  while (asked.length) await answer();
  assert.deepEqual(line(store.state), ["e2e4", "e7e5", "f2f4"]);
  assert.equal(store.state.tail, store.state.at);
  assert.equal(trees.node(store.state.tree, 2).children.length, 2);
});

test("an answer that failed changes nothing and drops the later steps", async () => {
  const { store, asked, shown, errors, answer } = tested();
  const before = [store.state, store.view];
  const done = store.want(steps.forward, "walk");
  store.want(steps.flip);
  await settle();
  store.want(steps.forward, "walk");
  asked.shift().reject(new Error("gone"));
  assert.equal(await done, false);
  assert.deepEqual([store.state, store.view, shown.length], [...before, 0]);
  assert.deepEqual(errors, ["gone"]);
  assert.equal(asked.length, 0);
  // The next step works.
  const next = store.want(steps.flip);
  await settle();
  await answer();
  assert.equal(await next, true);
  assert.equal(store.state.flip, true);
});

test("steps wait while the program is away, and are taken when it is back", async () => {
  const { store, asked, errors, answer } = tested();
  const away = () => Object.assign(new Error("away"), { isGone: true });
  const done = store.want(steps.forward, "walk");
  await settle();
  store.want(steps.flip);
  asked.shift().reject(away());
  assert.equal(await done, false);
  assert.deepEqual([line(store.state), store.queue.length], [[], 2]);
  // Another click tries again; nothing is lost, and nothing is taken twice.
  store.want(steps.forward, "walk");
  await settle();
  asked.shift().reject(away());
  await settle();
  assert.deepEqual([errors, store.queue.length], [["away", "away"], 3]);
  store.want((from) => ({ ...from }), "keep");
  await settle();
  while (asked.length) await answer();
  assert.deepEqual([line(store.state), store.state.flip, store.queue.length], [["m0", "m1"], true, 0]);
});

test("steps that throw or do nothing leave the page as it is", async () => {
  const { store, asked, shown, errors } = tested();
  assert.equal(await store.want(steps.back), true);
  assert.equal(await store.want(() => WAIT), true);
  assert.equal(await store.want(steps.along(["nowhere"])), true);
  const broken = () => {
    throw new Error("broken");
  };
  assert.equal(await store.want(broken), false);
  assert.deepEqual([asked.length, shown.length, errors], [0, 0, ["broken"]]);
});

test("only steps of one kind share an entry of the history", async () => {
  const { store, asked, shown, answer } = tested();
  for (const [step, how] of [
    [steps.forward, "walk"],
    [steps.forward, "walk"],
    [steps.flip, "jump"],
    [steps.back, "walk"],
    [steps.back, "walk"],
    [steps.flip, "keep"],
  ])
    store.want(step, how);
  await settle();
  while (asked.length) await answer();
  assert.deepEqual(
    shown.map(({ how, state }) => [how, line(state).length]),
    [
      ["walk", 2],
      ["jump", 2],
      ["walk", 0],
      ["keep", 0],
    ],
  );
});

test("the likeliest move is unknown for other books, options and filters", () => {
  const { store } = tested();
  assert.equal(store.likeliest(store.state).uci, "m0");
  for (const other of [{ books: "b" }, { set: {} }, { filter: {} }])
    assert.equal(store.likeliest({ ...store.state, ...other }), undefined);
  const off = steps.walkTo(store.state, move("other"));
  assert.equal(store.likeliest(off), undefined);
  store.view.ahead = [];
  assert.equal(store.likeliest(store.state), null);
});

test("a step back and a step forward lead to the same place", () => {
  forSeeds(40, (rng) => {
    const tree = randomTree(rng);
    const at = someId(tree, rng);
    const from = { ...first(tree), at, tail: trees.endOf(tree, at) };
    if (at !== 0) assert.deepEqual(steps.forward(steps.back(from)), from);
    if (steps.toStart(from)) assert.equal(steps.toStart(from).tail, from.tail);
    const end = steps.toEnd(from) ?? from;
    assert.equal(end.at, from.tail);
    assert.equal(steps.to(10_000)(from), null);
  });
});

test("a comment is for the move for which its dialog was opened", () => {
  let [tree, at] = trees.add(trees.empty(), 0, { ...move("e2e4"), nags: [1, 14] });
  const meant = { ...first(tree), at };
  [tree] = trees.add(tree, at, move("e7e5"));
  const now = { ...meant, tree, at: 0 };
  const nodes = (state) => trees.node(state.tree, at);
  // The same sign leaves the others as they are; another one replaces them.
  assert.deepEqual(nodes(steps.annotate(meant, "good", 1)(now)).nags, [1, 14]);
  assert.deepEqual(nodes(steps.annotate(meant, "good", 4)(now)).nags, [4]);
  assert.deepEqual(nodes(steps.annotate(meant, "good", 0)(now)).nags, []);
  assert.equal(nodes(steps.annotate(meant, "good", 1)(now)).comment, "good");
  assert.equal(steps.annotate(meant, "good", 1)(first()), null);
});

const OPTIONS = [
  { name: "Book Preset", default: "Custom" },
  { name: "Book Variety", default: "50" },
  { name: "Book Depth", default: "255" },
];

test("a changed option is in the state, its default is not", () => {
  const set = (
    from,
    name,
    value,
    shown = OPTIONS.map((one) => ({ ...one, value: from.set[one.name] ?? one.default })),
  ) => steps.set(OPTIONS, shown, name, value)(from);
  let state = set(first(), "Book Variety", "20");
  assert.deepEqual(state.set, { "Book Variety": "20" });
  state = set(state, "Book Depth", "9");
  assert.deepEqual(set(state, "Book Variety", "50").set, { "Book Depth": "9" });
  assert.deepEqual(steps.unset("Book Depth")(state).set, { "Book Variety": "20" });
  // A preset replaces them; one of its options changed leaves the others as shown.
  state = set(state, "Book Preset", "Optimize");
  assert.deepEqual(state.set, { "Book Preset": "Optimize" });
  const shown = [
    { name: "Book Preset", value: "Optimize" },
    { name: "Book Variety", value: "15" },
    { name: "Book Depth", value: "255" },
  ];
  assert.deepEqual(set(state, "Book Depth", "9", shown).set, { "Book Variety": "15", "Book Depth": "9" });
  assert.deepEqual(set(state, "Book Variety", "50", shown).set, {});
  assert.deepEqual(set(first(), "Book Preset", "Custom").set, {});
});

test("a typed text means the moves that are written so", () => {
  const legal = ["bxc4", "Bc4", "Bxf7+", "O-O", "e8=Q", "e8=N", "Nbd2", "Nfd2", "e4"].map((san) => ({
    san,
    uci: { e4: "e2e4", "O-O": "e1g1" }[san] ?? san,
  }));
  const meant = (text) => steps.meantBy(legal, text).map(({ san }) => san);
  for (const [text, ...expected] of [
    ["e4", "e4"],
    ["E2E4", "e4"],
    ["bc4", "bxc4"],
    ["Bc4", "Bc4"],
    ["bC4", "bxc4", "Bc4"],
    ["Bf7", "Bxf7+"],
    ["bxf7", "Bxf7+"],
    ["0-0", "O-O"],
    ["oo", "O-O"],
    ["e8Q", "e8=Q"],
    ["e8n", "e8=N"],
    ["nbd2", "Nbd2"],
    ["Nd2"],
    ["1. e4 e5"],
    [""],
  ])
    assert.deepEqual(meant(text), expected, text);
});

/** A store that knows each position by the rules, and keeps answers. */
function quick(state = first()) {
  const kept = new Map();
  const asked = [],
    shown = [],
    errors = [];
  const store = new Store(state, {
    ask: (next) =>
      new Promise((resolve, reject) => asked.push({ next, resolve, reject })).then((view) => {
        kept.set(String(line(next)), view);
        return view;
      }),
    shown: (how) => shown.push({ at: line(store.state).length, isGuess: Boolean(store.view.isGuess), how }),
    failed: (error) => errors.push(error.message),
    known: (next) => kept.get(String(line(next))) ?? { of: next, isGuess: true, ahead: null },
  });
  store.view = { of: state, ahead: bookLine(state) };
  kept.set("", store.view);
  const answer = async (index = 0) => {
    const [{ next, resolve }] = asked.splice(index, 1);
    resolve({ of: next, ahead: bookLine(next) });
    await settle();
  };
  return { store, asked, shown, errors, answer };
}

test("what is wanted is announced before anything of it happens", async () => {
  const seen = [];
  const store = new Store(first(), {
    ask: async (next) => ({ of: next, ahead: [] }),
    wanted: (how) => seen.push(`wanted ${how}`),
    shown: (how) => seen.push(`shown ${how}`),
    failed: assert.fail,
  });
  store.want(steps.playFrom(store.state, [move("e2e4")]), "follow");
  assert.deepEqual(seen, ["wanted follow"]);
  await store.want(steps.back, "walk");
  assert.deepEqual(seen, ["wanted follow", "wanted walk", "shown follow", "shown walk"]);
});

test("a step is shown before its answer, and one to a position seen before needs none", async () => {
  const { store, asked, shown, answer } = quick();
  await store.want(steps.playFrom(store.state, [move("e2e4")]), "walk");
  assert.deepEqual(shown, [{ at: 1, isGuess: true, how: "walk" }]);
  await answer();
  assert.deepEqual(shown[1], { at: 1, isGuess: false, how: "keep" });
  await store.want(steps.back, "walk");
  await store.want(steps.forward, "walk");
  assert.deepEqual(shown.slice(2), [
    { at: 0, isGuess: false, how: "walk" },
    { at: 1, isGuess: false, how: "walk" },
  ]);
  assert.equal(asked.length, 0);
});

test("an answer that comes late is not shown over a newer position", async () => {
  const { store, asked, shown, answer } = quick();
  for (const uci of ["e2e4", "e7e5", "g1f3"]) await store.want(steps.playFrom(store.state, [move(uci)]), "walk");
  assert.equal(asked.length, 3);
  await answer(1);
  await answer(0);
  assert.deepEqual([shown.length, store.view.isGuess], [3, true]);
  await answer(0);
  assert.deepEqual([shown.length, store.view.of], [4, store.state]);
  // They are known all the same.
  await store.want(steps.back, "walk");
  await store.want(steps.back, "walk");
  assert.deepEqual([asked.length, shown.at(-1).isGuess], [0, false]);
});

test("of many steps at once few are asked for, the last one always", async () => {
  const { store, asked, answer } = quick();
  for (let ply = 0; ply < 30; ply += 1) await store.want(steps.playFrom(store.state, [move(`m${ply}`)]), "walk");
  assert.equal(asked.length, 4);
  while (asked.length) await answer();
  assert.deepEqual([store.view.isGuess, line(store.view.of).length], [undefined, 30]);
});

test("a step that needs the answer waits for it", async () => {
  const { store, asked, answer } = quick();
  await store.want(steps.playFrom(store.state, [move("e2e4")]), "walk");
  const done = store.want(steps.forward, "walk");
  await settle();
  assert.equal(line(store.state).length, 1);
  await answer();
  assert.equal(await done, true);
  assert.deepEqual([line(store.state), asked.length], [["e2e4", "m1"], 1]);
});

test("without a program moves are made and taken back; what needs it is dropped with its error", async () => {
  const { store, asked, errors } = quick();
  const gone = Object.assign(new Error("gone"), { isGone: true });
  await store.want(steps.playFrom(store.state, [move("e2e4")]), "walk");
  asked.shift().reject(gone);
  await settle();
  assert.deepEqual([errors, line(store.state)], [["gone"], ["e2e4"]]);
  await store.want(steps.back, "walk");
  assert.deepEqual(line(store.state), []);
  await store.want(steps.forward, "walk");
  assert.deepEqual(line(store.state), ["e2e4"]);
  const forward = store.want(steps.forward, "walk");
  await settle();
  while (asked.length) {
    asked.shift().reject(gone);
    await settle();
  }
  assert.equal(await forward, false);
  assert.deepEqual(line(store.state), ["e2e4"]);
});

test("keys in any order end at the state of the last answer, whenever the answers come", () =>
  forSeedsInTurn(40, async (rng) => {
    const { store, asked, answer } = quick(first(randomTree(rng, 20)));
    for (let turn = 0; turn < 60; turn += 1) {
      if (asked.length && rng.chance(0.4)) await answer(rng.below(asked.length));
      else store.want(rng.one(ACTIONS)(rng, store), rng.one(["walk", "jump", "keep"]));
      await settle();
      assert.ok(asked.length <= 5);
      checkState(store.state);
      assert.deepEqual(line(store.view.of), line(store.state), "the view is of the position");
    }
    while (asked.length) await answer(rng.below(asked.length));
    assert.deepEqual([store.queue.length, store.view.isGuess], [0, undefined]);
  }));
