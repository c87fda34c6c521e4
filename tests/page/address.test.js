// The address and the browser's history.

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { file, forSeeds, randomFrom } from "./support.js";
import { randomTree, someId } from "./trees.js";

const trees = await import("../../crates/explorer/src/page/tree.js");

/** A browser's history, with its limit of a hundred changes in half a minute. */
class History {
  entries = [{ data: null, url: "/" }];
  times = [];
  pushState = (data, _, url) => {
    this.#count();
    this.entries.push({ data, url });
  };
  replaceState = (data, _, url) => {
    this.#count();
    this.entries[this.entries.length - 1] = { data, url };
  };
  get last() {
    return this.entries.at(-1);
  }
  get state() {
    return this.last.data;
  }
  #count() {
    this.times.push(now);
    assert.ok(this.times.filter((time) => time > now - 30_000).length <= 100, "too many changes of the history");
  }
}

let now = 0,
  address,
  loads = 0;

beforeEach(async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  now += 1_000_000;
  globalThis.history = new History();
  Object.defineProperty(globalThis, "performance", {
    value: { now: () => now, getEntriesByType: () => [{ type: "reload" }] },
    configurable: true,
  });
  // A page of its own, because the module counts changes.
  address = await import(`../../crates/explorer/src/page/address.js?${(loads += 1)}`);
});

afterEach(() => mock.timers.reset());

function wait(milliseconds) {
  now += milliseconds;
  mock.timers.tick(milliseconds);
}

const NAMES = ["tabia.ctg", "a book, with & and %.ctg", "Führer/ö.ctg", "x=1?.bin"];

/** A state whose tree is one line, as an address can hold it. */
function randomState(rng) {
  let tree = trees.empty(rng.chance(0.3) ? "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" : null),
    tail = 0;
  for (let ply = rng.below(8); ply > 0; ply -= 1)
    [tree, tail] = trees.add(tree, tail, { uci: rng.one(["e2e4", "g1f3", "e7e8q"]), san: "x" });
  const path = trees.path(tree, tail);
  const at = path.length && rng.chance(0.5) ? (path[rng.below(path.length) - 1] ?? 0) : tail;
  const some = (values) => Object.fromEntries(Object.entries(values).filter(() => rng.chance(0.4)));
  return {
    tree,
    at,
    tail,
    books: rng.chance(0.5) ? NAMES[0] : "",
    closed: rng.chance(0.3) ? NAMES[1] : "",
    set: some({ "Book Variety": "20", "Book Preset": "Optimize" }),
    filter: some({ player: "Müller, A & B", result: "1-0", since: "2020-01", ratings: "2500" }),
    flip: rng.chance(0.5),
  };
}

/** The program's answer for an address: the line is legal, and the books are open. */
function viewOf(search) {
  const asked = address.read(search);
  const line = asked.words.map((uci) => ({ uci, san: "x" }));
  return {
    start: asked.fen,
    line,
    at: asked.at === null ? line.length : Number(asked.at),
    books: (asked.books ?? "")
      .split("/")
      .filter(Boolean)
      .map((name) => ({ name })),
    problem: null,
  };
}

test("an address leads back to its state", () => {
  forSeeds(300, (rng) => {
    const state = randomState(rng);
    const url = address.address(state);
    globalThis.location = { pathname: "/", search: url.slice(1) };
    const back = address.stateOf(viewOf(location.search));
    assert.deepEqual({ ...back, tree: trees.pack(back.tree) }, { ...state, tree: trees.pack(state.tree) }, url);
    assert.equal(address.address(back), url);
  });
});

test("a request is about the position, the address about the whole line", () => {
  let tree = trees.empty(),
    at = 0;
  for (const uci of ["e2e4", "c7c5", "g1f3"]) [tree, at] = trees.add(tree, at, { uci, san: uci });
  const state = { tree, at: 2, tail: 3, books: "", closed: "", set: {}, filter: {}, flip: false };
  assert.equal(String(address.parameters(state)), "play=e2e4%2Cc7c5");
  assert.equal(address.address(state), "/?play=e2e4,c7c5,g1f3&at=2");
  assert.equal(address.address({ ...state, tree: trees.empty(), at: 0, tail: 0 }), "/");
});

test("an address from anywhere is read as far as it has a meaning", () => {
  const read = address.read("?play=e2e4, e7e5,,x&at=y&Book+Depth=3&book+x=4&result=&player=A&other=1&flip=1");
  assert.deepEqual(read.words, ["e2e4", "e7e5", "x"]);
  assert.deepEqual(read.set, { "Book Depth": "3", "book x": "4" });
  assert.deepEqual(read.filter, { player: "A" });
  assert.deepEqual([read.flip, read.fen, read.books, read.closed], [true, null, null, ""]);
  // An address with a mistake sets no options and no filters.
  globalThis.location = { pathname: "/", search: "?Book+Depth=x&player=A" };
  const state = address.stateOf({ start: null, line: [], at: 0, books: [], problem: "Book Depth has no value x" });
  assert.deepEqual([state.set, state.filter], [{}, {}]);
  // A closed book that is shown is open.
  globalThis.location = { pathname: "/", search: "?books=b&closed=a/b" };
  assert.equal(address.stateOf({ start: null, line: [], at: 0, books: [{ name: "b" }] }).closed, "a");
});

test("every filter of the page is a parameter of its address", () => {
  const form = /<form id="games-filter"[\s\S]*?<\/form>/.exec(file("crates/explorer/src/page/index.html"))[0];
  const names = [...form.matchAll(/<(?:input|select)[^>]* name="(\w+)"/g)].map(([, name]) => name);
  assert.ok(names.length > 5, names.join());
  const filter = Object.fromEntries(names.map((name) => [name, "1"]));
  assert.deepEqual(address.read(`?${new URLSearchParams(filter)}`).filter, filter);
});

const stateAt = (tree, at) => ({ tree, at, tail: at, books: "", closed: "", set: {}, filter: {}, flip: false });

test("however fast a user steps, the last state is in the history, within the browser's limits", () => {
  forSeeds(60, (rng) => {
    now += 1_000_000;
    globalThis.history = new History();
    const tree = randomTree(rng, 30);
    let state = null;
    for (let step = 0; step < 300; step += 1) {
      state = stateAt(tree, someId(tree, rng));
      address.note(state, "walk");
      wait(rng.one([0, 5, 30]));
    }
    wait(1000);
    assert.equal(history.last.url, address.address(state));
    assert.deepEqual(address.recall(JSON.parse(JSON.stringify(history.state))), state);
  });
});

test("steps along a line share an entry, other changes have their own", () => {
  const rng = randomFrom(7);
  const tree = randomTree(rng, 30);
  const ids = [...tree.nodes.keys()];
  const counts = ["walk", "walk", "jump", "jump", "walk", "walk", "keep", "walk"].map((how, index) => {
    address.note(stateAt(tree, ids[index]), how);
    wait(500);
    return history.entries.length;
  });
  assert.deepEqual(counts, [2, 2, 3, 4, 5, 5, 5, 5]);
  assert.equal(history.last.url, address.address(stateAt(tree, ids[7])));
});

test("a state that waits belongs to the entry that was left", () => {
  const tree = randomTree(randomFrom(3), 30);
  const ids = [...tree.nodes.keys()].filter((id) => id !== 0);
  address.note(stateAt(tree, ids[0]), "walk");
  for (let step = 0; step < 40; step += 1) address.note(stateAt(tree, ids[step % 2]), "walk");
  const [, entry] = history.entries;
  // A jump writes what waits first.
  address.note(stateAt(tree, ids[2]), "jump");
  assert.equal(history.entries[1].url, address.address(stateAt(tree, ids[1])));
  assert.equal(history.last.url, address.address(stateAt(tree, ids[2])));
  assert.notEqual(history.last, entry);
  // After going back nothing is written into another entry.
  for (let step = 0; step < 40; step += 1) address.note(stateAt(tree, ids[step % 2]), "walk");
  const before = JSON.stringify(history.entries);
  dispatchEvent(new Event("popstate"));
  address.note(stateAt(tree, ids[3]), "pop");
  wait(5000);
  assert.equal(JSON.stringify(history.entries), before);
});

test("a page that is left writes what waits, and a reload has it", () => {
  const tree = randomTree(randomFrom(5), 30);
  const ids = [...tree.nodes.keys()].filter((id) => id !== 0);
  for (let step = 0; step < 41; step += 1) address.note(stateAt(tree, ids[step % 2]), "walk");
  dispatchEvent(new Event("pagehide"));
  const state = stateAt(tree, ids[0]);
  assert.equal(history.last.url, address.address(state));
  // In browsers that lose the entry's state at a reload.
  history.entries = [{ data: null, url: "/" }];
  assert.deepEqual(address.left(), state);
  sessionStorage.setItem("left", "damaged");
  assert.equal(address.left(), null);
});
