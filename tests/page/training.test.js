// Training: when a card is due, what a lesson asks, chapters of files.

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { forSeeds } from "./support.js";
import { randomTree, someId } from "./trees.js";

const { Cards, learnt, recall } = await import("../../crates/explorer/src/page/cards.js");
const { Lesson, reply, rightMoves } = await import("../../crates/explorer/src/page/lesson.js");
const chapters = await import("../../crates/explorer/src/page/chapters.js");
const { ends, linesOf } = await import("../../crates/explorer/src/page/changes.js");
const trees = await import("../../crates/explorer/src/page/tree.js");

const DAY = 86_400_000;

beforeEach(() => {
  mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
  localStorage.removeItem("training");
});
afterEach(() => mock.timers.reset());

const near = (value, expected, what = "") =>
  assert.ok(Math.abs(value - expected) < 1e-4 * Math.max(1, expected), `${what}: ${value}, not ${expected}`);

/** The days after which a card with this stability is known with this probability, by the curve of FSRS 4.5. */
const daysFor = (probability, stability) => ((probability ** -2 - 1) * stability * 81) / 19;

// The figures are those of the tests of fsrs-rs at version 4.5 (its src/model.rs, commit 2c8c951), and of ts-fsrs.
test("cards are scheduled as FSRS 4.5 publishes it", () => {
  const steps = [
    // Right or wrong, days since the last answer, difficulty and stability after it.
    [false, 0, 7.6214, 0.4872],
    [true, 0, 7.5452, 0.4872],
    [true, 1, 7.4713, 2.4661],
    [true, 3, 7.3997, 7.7127],
    [true, 8, 7.3303, 20.1432],
    [true, 21, 7.2631, 49.2964],
  ];
  let card = {};
  for (const [right, days, difficulty, stability] of steps) {
    card = learnt(card, right, days);
    near(card.difficulty, difficulty, `difficulty after ${days} days`);
    near(card.stability, stability, `stability after ${days} days`);
  }
  const twice = (right) => learnt(learnt({}, right, 0), right, 1);
  near(twice(false).stability, 0.3273601);
  near(twice(false).difficulty, 9.284508);
  near(twice(true).stability, 6.7310715);
  near(twice(true).difficulty, 5.1618);
  near(learnt({ stability: 5, difficulty: 3 }, true, daysFor(0.7, 5)).stability, 66.45966);
  near(learnt({ stability: 5, difficulty: 1 }, false, daysFor(0.9, 5)).stability, 1.9482934);
  near(learnt({ stability: 5, difficulty: 5 }, false, 1).difficulty, 6.744371);
  near(learnt({ stability: 5, difficulty: 5 }, true, 1).difficulty, 5.005016);
  const known = [0, 1, 2, 3, 4, 5].map((days, at) =>
    recall({ stability: [1, 2, 3, 4, 4, 2][at], asked: 0 }, days * DAY),
  );
  [1, 0.946059, 0.9299294, 0.9221679, 0.90000004, 0.79394597].forEach((expected, at) => near(known[at], expected));
});

test("a right answer never makes a card due sooner, a wrong one never later, and both stay within bounds", () => {
  forSeeds(200, ({ random, chance }) => {
    let card = {};
    for (let answer = 0; answer < 30; answer += 1) {
      const days = random() * 60;
      const [right, wrong] = [true, false].map((isRight) => learnt(card, isRight, days));
      if (card.stability) {
        assert.ok(right.stability >= Math.min(card.stability, 365));
        assert.ok(wrong.stability <= Math.max(card.stability, 0.1));
        assert.ok(wrong.difficulty >= right.difficulty);
      }
      card = chance(0.8) ? right : wrong;
      assert.ok(card.stability >= 0.1 && card.stability <= 365 && card.difficulty >= 1 && card.difficulty <= 10);
    }
  });
});

/** A way to a position, by moves or by names for moves. */
const way = (...moves) => ({
  fen: null,
  line: moves.map((name) => ({ uci: /^[a-h]\d[a-h]\d$/.test(name) ? name : "e2e4", san: name })),
});
const fenOf = (name) => `${name} w KQkq - 3 9`;
const keyOf = (name, book = "b.ctg", colour = "white") => new Cards().key(book, colour, fenOf(name));

test("a position is the same after another number of moves", () => {
  const cards = new Cards();
  assert.equal(cards.key("b", "white", "x w KQkq - 0 1"), cards.key("b", "white", "x w KQkq - 9 40"));
  assert.notEqual(cards.key("b", "white", "x w KQkq - 0 1"), cards.key("b", "black", "x w KQkq - 0 1"));
  assert.notEqual(cards.key("b", "white", "x w KQkq - 0 1"), cards.key("b", "white", "x w - - 0 1"));
});

test("a missed card is due at once, a known one later, and the weakest come first", () => {
  const cards = new Cards();
  cards.answered(keyOf("known"), true, way());
  cards.answered(keyOf("missed"), false, way());
  cards.answered(keyOf("other", "other.ctg"), false, way());
  cards.want(keyOf("new"), way());
  const due = () => cards.due("b.ctg", "white").map(([key]) => key);
  assert.deepEqual(due(), [keyOf("missed"), keyOf("new")]);
  // Known at once: after 3.7145 days.
  mock.timers.tick(3.71 * DAY);
  assert.equal(due().length, 2);
  mock.timers.tick(0.01 * DAY);
  // The missed one is less known; the new one was never asked.
  assert.deepEqual(due(), [keyOf("missed"), keyOf("known"), keyOf("new")]);
  assert.deepEqual(cards.due("b.ctg", "black"), []);
});

test("cards are stored in the browser, and come back from a file", () => {
  const cards = new Cards();
  cards.answered(keyOf("one"), true, { ...way("e2e4"), opening: "Italian Game" });
  cards.answered(keyOf("two"), false, way("d2d4"));
  cards.choose(keyOf("two"), "g1f3");
  cards.choose(keyOf("one"), "");
  const again = new Cards();
  assert.deepEqual([again.all, again.mine], [cards.all, cards.mine]);
  const file = cards.export([{ file: "f", name: "n", text: "t" }]);
  again.forget();
  assert.deepEqual([new Cards().all.size, new Cards().mine.size], [0, 0]);
  assert.deepEqual(again.import(file), { came: 2, chapters: [{ file: "f", name: "n", text: "t" }] });
  assert.deepEqual([again.all, again.mine], [cards.all, cards.mine]);
  // Of two cards for a position the one that was asked more often stays.
  cards.answered(keyOf("one"), true, way("e2e4"));
  assert.equal(cards.import(file).came, 0);
  // The browser has it already.
  assert.equal(again.import(cards.export()).came, 0);
  assert.equal(again.all.get(keyOf("one")).right, 2);
  assert.deepEqual(cards.chosen("b.ctg", "white"), [[fenOf("two").split(" ").slice(0, 4).join(" "), "g1f3"]]);
});

test("tabs that train at the same time lose nothing of each other", () => {
  const tabs = [new Cards(), new Cards(), new Cards()];
  for (let round = 0; round < 100; round += 1)
    tabs.forEach((cards, tab) => {
      cards.answered(keyOf(`${tab} ${round}`), true, way("e2e4"));
      cards.answered(keyOf("shared"), true, way("d2d4"));
      cards.choose(keyOf(`${tab} ${round}`), "e2e4");
    });
  const all = new Cards();
  assert.deepEqual([all.all.size, all.mine.size, all.all.get(keyOf("shared")).right], [301, 300, 300]);
  // What is forgotten is forgotten in all tabs, and comes back.
  const forgotten = tabs[0].forget();
  tabs[1].answered(keyOf("new"), true, way());
  assert.deepEqual([...new Cards().all.keys()], [keyOf("new")]);
  tabs[2].import(forgotten);
  assert.deepEqual([new Cards().all.size, new Cards().mine.size], [302, 300]);
});

test("cards stay on a page whose browser stores nothing", (context) => {
  context.mock.method(localStorage, "setItem", () => {
    throw new Error("full");
  });
  const cards = new Cards();
  for (const name of ["one", "two"]) cards.answered(keyOf(name), true, way());
  assert.equal(cards.all.size, 2);
});

test("what is no card is left out, whatever a file has", () => {
  const card = { ...way("e2e4"), stability: 3, difficulty: 5, right: 1, wrong: 0, asked: 1, due: 2 };
  const read = (cards, moves) => {
    localStorage.removeItem("training");
    const all = new Cards();
    const { came } = all.import(JSON.stringify({ format: "tabia-training", cards, moves }));
    return [came, all.mine.size];
  };
  assert.deepEqual(
    read(
      [["k", card]],
      [
        ["k", "e2e4"],
        ["k2", ""],
      ],
    ),
    [1, 2],
  );
  for (const wrong of [
    7,
    null,
    [],
    ["k"],
    ["k", null],
    [1, card],
    ["k", { ...card, stability: 999 }],
    ["k", { ...card, stability: -1 }],
    ["k", { ...card, difficulty: 0 }],
    ["k", { ...card, difficulty: "hard" }],
    ["k", { ...card, right: "x" }],
    ["k", { ...card, line: "e4" }],
    ["k", { ...card, line: [{ uci: "<b>", san: "x" }] }],
    ["k", { ...card, fen: 7 }],
    ["k", { ...card, opening: 7 }],
    ["k", { ...card, asked: null }],
  ])
    assert.deepEqual(read([wrong], [wrong, ["k", "<b>"], ["k", 7]]), [0, 0], JSON.stringify(wrong));
  assert.deepEqual(read("text", { k: "e2e4" }), [0, 0]);
  for (const text of ["", "{", "null", "7", '{"format":"other"}', "[Event]"])
    assert.throws(() => new Cards().import(text), /not a training file/, text);
  // A browser with damaged data starts without cards.
  localStorage.setItem("training", "{damaged");
  assert.equal(new Cards().all.size, 0);
});

test("cards of the older format keep their delay", () => {
  const old = { ...way("e2e4"), level: 3, right: 3, wrong: 0, asked: 0, due: 8 * DAY };
  const cards = new Cards();
  assert.equal(cards.import(JSON.stringify({ format: "tabia-training", version: 1, cards: [["k", old]] })).came, 1);
  const { stability, difficulty, due, level } = cards.all.get("k");
  assert.deepEqual([stability, difficulty, due, level], [8, 5.1618, 8 * DAY, undefined]);
});

test("no more than 5000 cards are stored: those asked longest ago go first", () => {
  const many = Array.from({ length: 5000 }, (_, index) => [
    `k${index}`,
    { ...way(), stability: 1, difficulty: 5, right: 1, wrong: 0, asked: 1, due: 1 },
  ]);
  const cards = new Cards();
  assert.equal(cards.import(JSON.stringify({ format: "tabia-training", cards: many })).came, 5000);
  cards.answered("k0", true, way());
  cards.answered("fresh", true, way());
  assert.equal(cards.all.size, 5000);
  assert.deepEqual(
    ["k0", "fresh", "k1", "k2"].map((key) => cards.all.has(key)),
    [true, true, false, true],
  );
});

test("progress counts the cards of each opening, the weakest first", () => {
  const cards = new Cards();
  const of = (opening) => ({ ...way(), opening });
  cards.answered(keyOf("a"), true, of("Italian"));
  cards.answered(keyOf("b"), false, of("Italian"));
  cards.answered(keyOf("c"), true, of("Sicilian"));
  cards.answered(keyOf("d"), false, way());
  assert.deepEqual(cards.progress("b.ctg", "white"), [
    { name: "", cards: 1, known: 0, due: 1 },
    { name: "Italian", cards: 2, known: 1, due: 1 },
    { name: "Sicilian", cards: 1, known: 1, due: 0 },
  ]);
});

const bookMove = (uci, more = {}) => ({
  uci,
  san: uci,
  mark: "none",
  probability: 0.5,
  games: 1,
  transposition: false,
  ...more,
});

test("the right moves are the green ones, else those that are played, else those that are not red", () => {
  const right = (...moves) => rightMoves({ moves }).map(({ uci }) => uci);
  const [a, b] = [bookMove("a", { mark: "main", probability: 0 }), bookMove("b")];
  const red = bookMove("c", { mark: "avoid", probability: 0 }),
    never = bookMove("d", { probability: 0 });
  assert.deepEqual(right(a, b, red, never), ["a"]);
  assert.deepEqual(right(b, red, never), ["b"]);
  assert.deepEqual(right(red, never), ["d"]);
  assert.deepEqual(right(red), []);
  // A move that only leads into the book is not stored.
  assert.deepEqual(right(bookMove("e", { transposition: true })), []);
});

test("the book answers as often as a move was played", () => {
  const book = {
    moves: [bookMove("a", { games: 3 }), bookMove("x", { transposition: true, games: 99 }), bookMove("b")],
  };
  const at = (random, of = book) => reply(of, random).uci;
  assert.deepEqual(
    [0, 0.74, 0.76, 0.999].map((random) => at(random)),
    ["a", "a", "b", "b"],
  );
  const weights = {
    moves: [bookMove("a", { games: 0, stored_weight: 1 }), bookMove("b", { games: 0, stored_weight: 9 })],
  };
  assert.deepEqual(
    [0.05, 0.15].map((random) => at(random, weights)),
    ["a", "b"],
  );
  // Side lines of a PGN have no numbers: they count as played once.
  const side = { moves: [bookMove("a"), bookMove("b", { games: 0, probability: 0 })] };
  assert.deepEqual(
    [0.4, 0.6].map((random) => at(random, side)),
    ["a", "b"],
  );
  assert.deepEqual(rightMoves(side), side.moves);
  const never = { moves: [bookMove("a", { games: 0, probability: 0 }), bookMove("b", { games: 0, probability: 1 })] };
  assert.equal(at(0.01, never), "b");
});

/** A lesson about a book, and how it asks for positions. */
function lessonOf(cards = new Cards()) {
  const lesson = new Lesson(cards, "b.ctg", "white");
  const tree = trees.empty();
  let at = 0;
  const ask = (name, moves, { showsNew = false, again = false } = {}) =>
    lesson.ask({
      tree,
      at: again ? at : (at += 1),
      fen: fenOf(name),
      all: moves.map((uci) => bookMove(uci)),
      way: way(name),
      showsNew,
    });
  const score = () => [lesson.right, lesson.wrong, lesson.left];
  return { lesson, cards, ask, score };
}

test("a move found at once counts, a missed one comes again", () => {
  const { lesson, cards, ask, score } = lessonOf();
  assert.equal(ask("start", ["e2e4"]), "ask");
  assert.deepEqual(lesson.answer("d2d4"), { isRight: false });
  assert.deepEqual(score(), [0, 1, 1]);
  // It is missed once, however many wrong moves follow, and its right move does not count.
  lesson.answer("c2c4");
  assert.deepEqual(score(), [0, 1, 1]);
  const { isRight, isTold, move } = lesson.answer("e2e4");
  assert.deepEqual([isRight, isTold, move.uci, score()], [true, true, "e2e4", [0, 1, 1]]);
  assert.equal(ask("next", ["g1f3"]), "ask");
  assert.equal(lesson.answer("g1f3").isTold, false);
  assert.deepEqual(score(), [1, 1, 1]);
  assert.deepEqual(lesson.next(), way("start"));
  assert.equal(ask("start", ["e2e4"]), "ask");
  lesson.answer("e2e4");
  assert.deepEqual(score(), [2, 1, 0]);
  assert.equal(lesson.next(), null);
  const { right, wrong } = cards.all.get(keyOf("start"));
  assert.deepEqual([right, wrong], [1, 1]);
});

test("a missed position that is met again on the way and known then does not come again", () => {
  const { lesson, ask, score } = lessonOf();
  ask("start", ["e2e4"]);
  lesson.miss();
  lesson.answer("e2e4");
  ask("start", ["e2e4"]);
  lesson.answer("e2e4");
  assert.deepEqual([score(), lesson.next()], [[1, 1, 0], null]);
});

test("what is known on the way is not asked; what is due, new or the aim of the line is", () => {
  const { lesson, cards, ask } = lessonOf();
  cards.answered(keyOf("known"), true, way("known"));
  cards.answered(keyOf("missed"), false, way("missed"));
  assert.equal(lesson.next(), null);
  assert.equal(ask("known", ["e2e4"]), "known");
  assert.equal(lesson.hasAsked, false);
  assert.equal(ask("missed", ["e2e4"]), "ask");
  assert.equal(lesson.hasAsked, true);
  assert.equal(ask("new", ["e2e4"]), "ask");
  // Which of several moves is the right one is asked once.
  assert.equal(ask("known", ["e2e4", "d2d4"]), "choose");
  lesson.answer("e2e4");
  assert.deepEqual(lesson.next(), way("known"));
  assert.equal(ask("known", ["e2e4", "d2d4"]), "ask");
  lesson.answer("e2e4");
  assert.equal(lesson.next(), null);
  assert.equal(ask("known", ["e2e4", "d2d4"]), "known");
  mock.timers.tick(400 * DAY);
  assert.equal(ask("known", ["e2e4", "d2d4"]), "ask");
});

test("moves that were shown do not count as known", () => {
  const { lesson, cards, ask, score } = lessonOf();
  ask("start", ["e2e4"]);
  lesson.miss();
  assert.deepEqual(score(), [0, 1, 1]);
  assert.equal(lesson.answer("e2e4").isTold, true);
  assert.equal(cards.all.get(keyOf("start")).right, 0);
});

test("a new move is shown first, then asked without its move", () => {
  const { lesson, cards, ask, score } = lessonOf();
  assert.equal(ask("start", ["e2e4"], { showsNew: true }), "new");
  // A mistake is none before it has been learnt.
  lesson.answer("d2d4");
  assert.deepEqual(score(), [0, 0, 0]);
  assert.equal(lesson.answer("e2e4").isTold, true);
  assert.deepEqual(score(), [0, 0, 1]);
  assert.deepEqual([cards.all.get(keyOf("start")).right, cards.due("b.ctg", "white").length], [0, 1]);
  assert.deepEqual(lesson.next(), way("start"));
  assert.equal(ask("start", ["e2e4"], { showsNew: true }), "ask");
  lesson.answer("e2e4");
  assert.deepEqual(score(), [1, 0, 0]);
});

test("of several moves one is chosen once, and the others are wrong from then on", () => {
  const { lesson, cards, ask } = lessonOf();
  const moves = ["e2e4", "d2d4"];
  assert.equal(ask("start", moves), "choose");
  assert.deepEqual(lesson.answer("a2a3"), { isRight: false });
  assert.equal(lesson.wrong, 0, "no mistake before a choice");
  lesson.answer("d2d4");
  assert.deepEqual(
    cards.chosen("b.ctg", "white").map(([, uci]) => uci),
    ["d2d4"],
  );
  assert.equal(ask("start", moves), "ask");
  assert.deepEqual(lesson.answer("e2e4"), { isRight: false });
  // The user may choose again.
  assert.equal(ask("start", moves), "ask");
  lesson.reopen();
  lesson.answer("e2e4");
  assert.deepEqual(
    cards.chosen("b.ctg", "white").map(([, uci]) => uci),
    ["e2e4"],
  );
  // A chosen move that has left the book asks again.
  assert.equal(ask("start", ["d2d4", "c2c4"]), "choose");
  lesson.takeAny();
  assert.equal(lesson.answer("c2c4").isRight, true);
  assert.equal(ask("start", moves), "known");
  assert.deepEqual(cards.chosen("b.ctg", "white"), []);
});

test("a change of the book during a question changes its moves, not what was missed", () => {
  const { lesson, ask, score } = lessonOf();
  ask("start", ["e2e4"]);
  lesson.answer("d2d4");
  assert.equal(ask("start", ["e2e4", "d2d4"], { again: true }), "same");
  assert.equal(lesson.answer("d2d4").isRight, true);
  assert.deepEqual(score(), [0, 1, 1]);
});

test("due cards come first, and one answered on the way is not asked again", () => {
  const cards = new Cards();
  cards.answered(keyOf("one"), false, way("one"));
  cards.answered(keyOf("two"), false, way("two"));
  const { lesson, ask } = lessonOf(cards);
  assert.equal(lesson.left, 2);
  const first = lesson.next();
  const [name] = first.line.map(({ san }) => san);
  ask(name, ["e2e4"]);
  lesson.answer("e2e4");
  const other = name === "one" ? "two" : "one";
  ask(other, ["e2e4"]);
  lesson.answer("e2e4");
  assert.equal(lesson.left, 0);
  assert.equal(lesson.next(), null);
});

test("in any lesson the figures hold", () => {
  forSeeds(100, (rng) => {
    localStorage.removeItem("training");
    const { lesson, cards, ask } = lessonOf();
    let asked = 0;
    for (let turn = 0; turn < 40; turn += 1) {
      const moves = rng.chance(0.3) ? ["e2e4", "d2d4"] : ["e2e4"];
      const told = ask(rng.one(["a", "b", "c", "d"]), moves, { showsNew: rng.chance(0.5) });
      asked += 1;
      if (told === "choose" && rng.chance(0.3)) lesson.takeAny();
      if (rng.chance(0.3)) lesson.answer("a2a3");
      if (rng.chance(0.2)) lesson.miss();
      lesson.answer(rng.one(["e2e4", "d2d4"]));
      if (rng.chance(0.2)) lesson.next();
      assert.ok(lesson.right + lesson.wrong <= asked);
      const keys = lesson.again.map(([key]) => key);
      assert.equal(new Set(keys).size, keys.length, "a position comes again once");
      const total = [...cards.all.values()].reduce((sum, card) => sum + card.right + card.wrong, 0);
      assert.equal(total, lesson.right + lesson.wrong, "the cards know each answer that counts");
    }
  });
});

test("chapters are named by the event if it tells them apart, else by the players", () => {
  const named = (...games) =>
    chapters.named(games.map(([event, label]) => ({ event, label, text: "" }))).map(({ name }) => name);
  assert.deepEqual(named(["Italian", "A"], ["Sicilian", "B"]), ["Italian", "Sicilian"]);
  assert.deepEqual(named(["Course", "A"], ["Course", "B"]), ["A", "B"]);
  assert.deepEqual(named(["Course", "A"], ["", "B"]), ["A", "B"]);
});

test("the chapters of a file replace its old ones, and the newest stay", () => {
  const of = (file, count) => Array.from({ length: count }, (_, index) => ({ file, name: `${index}`, text: "" }));
  const all = chapters.joined([...of("a", 2), ...of("b", 1)], of("a", 1));
  assert.deepEqual(
    all.map(({ file, name }) => file + name),
    ["b0", "a0"],
  );
  const many = chapters.joined(of("a", 400), of("b", 400));
  assert.deepEqual([many.length, many[0].file, many.at(-1).name], [500, "a", "399"]);
  assert.deepEqual(chapters.valid([null, 7, { file: "a", name: "b" }, ...of("a", 1)]), of("a", 1));
  assert.deepEqual([chapters.valid("text"), chapters.valid(null)], [[], []]);
});

test("a chapter has the moves of its tree, all of them right", () => {
  forSeeds(30, (rng) => {
    const tree = randomTree(rng);
    const id = someId(tree, rng);
    const { moves } = chapters.bookOf(tree, trees.line(tree, id));
    assert.deepEqual(
      moves.map(({ uci }) => uci),
      trees.node(tree, id).children.map((child) => trees.node(tree, child).uci),
    );
    assert.deepEqual(rightMoves({ moves }), moves);
  });
  const [tree, at] = trees.add(trees.empty(), 0, { uci: "e2e4", san: "e4", nags: [1] });
  const [whole] = trees.add(tree, at, { uci: "0000", san: "--" });
  assert.equal(chapters.bookOf(whole, []).moves[0].annotation, "!");
  assert.deepEqual([chapters.bookOf(whole, ["e2e4"]).moves, chapters.bookOf(whole, ["d2d4"]).moves], [[], []]);
});

test("all lines of a tree are added to a book once, with the annotations of their moves", () => {
  forSeeds(40, (rng) => {
    const tree = randomTree(rng);
    const ids = ends(tree);
    // Every move is on the way to an end.
    const covered = new Set(ids.flatMap((id) => trees.path(tree, id)));
    assert.deepEqual([...covered].sort(), [...tree.nodes.keys()].filter((id) => id !== 0).sort());
    for (const [index, { play, signs }] of linesOf(tree, ids).entries()) {
      const path = trees.path(tree, ids[index]);
      assert.equal(play, trees.line(tree, ids[index]).join(","));
      const nags = path.flatMap((id, ply) => trees.node(tree, id).nags.map((nag) => [ply, nag]));
      assert.deepEqual(signs, nags);
    }
  });
});
