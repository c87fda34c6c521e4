// Training: when a card is due, what a lesson asks, chapters of files.

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { forSeeds, forSeedsInTurn, settle } from "./support.js";
import { randomTree, someId } from "./trees.js";

const { CHAPTERS, Cards, recall, subjectOf } = await import("../../crates/explorer/src/page/cards.js");
const { Lesson, reply, rightMoves } = await import("../../crates/explorer/src/page/lesson.js");
const chapters = await import("../../crates/explorer/src/page/chapters.js");
const { ends, linesOf } = await import("../../crates/explorer/src/page/changes.js");
const trees = await import("../../crates/explorer/src/page/tree.js");

const DAY = 86_400_000;

beforeEach(() => {
  mock.timers.enable({ apis: ["Date", "setTimeout"], now: 1_700_000_000_000 });
  localStorage.clear();
});
afterEach(() => mock.timers.reset());

test("what a card is known with follows the curve of FSRS 4.5", () => {
  const known = [0, 1, 2, 3, 4, 5].map((days, at) =>
    recall({ stability: [1, 2, 3, 4, 4, 2][at], asked: 0 }, days * DAY),
  );
  [1, 0.946059, 0.9299294, 0.9221679, 0.90000004, 0.79394597].forEach((expected, at) =>
    assert.ok(Math.abs(known[at] - expected) < 1e-4),
  );
  assert.equal(recall({ stability: 0, asked: 0 }), null);
});

/** A way to a position, by moves or by names for moves. */
const way = (...moves) => ({
  fen: null,
  line: moves.map((name) => ({ uci: /^[a-h]\d[a-h]\d$/.test(name) ? name : "e2e4", san: name })),
});
const fenOf = (name) => `${name} w KQkq - 3 9`;
/** A page whose program never answers: it has its own estimates. */
const alone = () => new Cards({ send: () => new Promise(() => {}) });
const keyOf = (name, deck = "b1", colour = "white") => alone().key(deck, colour, fenOf(name));

/**
 * A program that stores events once each, as the one in Rust does, and schedules nothing. Each request is lost before
 * it is stored, or its answer is lost, if `fails` says so.
 */
class Program {
  events = new Map();
  canStore = true;
  fails = () => false;

  send = async ({ deck, events, adopt }) => {
    await settle();
    const lost = () => Object.assign(new Error("gone"), { isGone: true });
    if (this.fails()) throw lost();
    const answer = { whole: true, mark: "1", cards: [], moves: [], refused: [], notices: [], left_behind: [] };
    if (!this.canStore) return { ...answer, stored: false, problem: "read-only" };
    this.adopted = adopt;
    for (const event of events) if (!this.events.has(event.id)) this.events.set(event.id, { ...event, deck });
    if (this.fails()) throw lost();
    for (const { at, ...card } of this.folded(deck)) answer.cards.push({ at, ...card });
    return { ...answer, stored: true, problem: null };
  };

  /** The cards of a deck: only counted. */
  folded(deck) {
    const cards = new Map();
    for (const { fen, of = "", kind, right, time, deck: own } of this.events.values()) {
      if (kind !== "answer" || own !== deck) continue;
      const key = `${of}|${fen}`;
      const card = cards.get(key) ?? { at: { fen, of }, stability: 3, difficulty: 5, right: 0, wrong: 0, line: [] };
      card[right ? "right" : "wrong"] += 1;
      cards.set(key, { ...card, asked: time, due: time });
    }
    return cards.values();
  }
}

/** Lets pages and program talk until nothing happens any more. */
async function quiet(pages) {
  for (let round = 0; round < 400; round += 1) {
    await settle();
    mock.timers.tick(2000);
    if (round > 20 && pages.every((page) => !page.timer && ![...page.decks.values()].some((deck) => deck.coming)))
      return;
  }
}

test("a position is the same after another number of moves", () => {
  const cards = alone();
  assert.equal(cards.key("b", "white", "x w KQkq - 0 1"), cards.key("b", "white", "x w KQkq - 9 40"));
  assert.notEqual(cards.key("b", "white", "x w KQkq - 0 1"), cards.key("b", "black", "x w KQkq - 0 1"));
  assert.notEqual(cards.key("b", "white", "x w KQkq - 0 1"), cards.key("b", "white", "x w - - 0 1"));
});

test("a missed card is due at once, a known one later, and the weakest come first", () => {
  const cards = alone();
  cards.answered(keyOf("known"), true, way());
  cards.answered(keyOf("missed"), false, way());
  cards.answered(keyOf("other", "other"), false, way());
  cards.want(keyOf("new"), way());
  const due = () => cards.due("b1", "white").map(([key]) => key);
  assert.deepEqual(due(), [keyOf("missed"), keyOf("new")]);
  // Until the program has scheduled it: a day.
  mock.timers.tick(0.99 * DAY);
  assert.equal(due().length, 2);
  mock.timers.tick(0.02 * DAY);
  // The missed one is less known; the new one was never asked.
  assert.deepEqual(due(), [keyOf("missed"), keyOf("known"), keyOf("new")]);
  assert.deepEqual(cards.due("b1", "black"), []);
});

test("what the program answers replaces the page's estimate", async () => {
  const sent = [];
  const due = 1_800_000_000_000;
  const at = { fen: "x w KQkq -", of: "" };
  const card = { at, stability: 9, difficulty: 4, right: 5, wrong: 0, asked: 1, due, fen: null, line: [] };
  const send = async (request) => {
    sent.push(request);
    const whole = request.since === null;
    const texts = { refused: [], notices: whole ? ["line 7 was left out"] : [], left_behind: ["old.ctg"] };
    const [one] = request.events;
    return { whole, mark: "7-3", cards: one ? [card] : [], moves: [], stored: true, problem: null, ...texts };
  };
  const messages = [];
  const cards = new Cards({ send, report: (text) => messages.push(text) });
  await cards.open("b1", "b.ctg");
  assert.deepEqual([messages, cards.deck("b1").leftBehind], [["line 7 was left out"], ["old.ctg"]]);
  cards.answered(keyOf("x"), true, way("e2e4"));
  assert.equal(cards.all.get(keyOf("x")).right, 1);
  await cards.sync("b1");
  assert.deepEqual([cards.all.get(keyOf("x")).right, cards.all.get(keyOf("x")).due], [5, due]);
  assert.deepEqual([cards.waiting.size, localStorage.length], [0, 0]);
  assert.deepEqual(sent[0], { deck: "b1", since: null, events: [] });
  const { id, time, ...event } = sent[1].events[0];
  assert.deepEqual(event, { kind: "answer", right: true, fen: "x w KQkq -", way: { line: "e2e4" } });
  assert.deepEqual([sent[1].since, sent.length], ["7-3", 2]);
  // The way is sent again only if it is another one.
  cards.answered(keyOf("x"), true, way("e2e4"));
  await cards.sync("b1");
  assert.ok(sent[2].events[0].way, "the program's card had none");
});

test("three tabs with a program that fails and restarts lose nothing, and store nothing twice", async () => {
  await forSeedsInTurn(10, async ({ chance, below }) => {
    localStorage.clear();
    const program = new Program();
    program.fails = () => chance(0.3);
    const open = () => new Cards({ send: program.send });
    let tabs = [open(), open(), open()];
    const expected = new Map();
    for (let round = 0; round < 40; round += 1) {
      const name = `p${below(20)}`;
      const tab = below(3);
      tabs[tab].answered(keyOf(name), chance(0.7), way("e2e4"));
      expected.set(name, (expected.get(name) ?? 0) + 1);
      if (chance(0.3)) await settle();
      // A tab is closed, whatever it waits for, and opened again.
      if (chance(0.1)) {
        clearTimeout(tabs[tab].timer);
        tabs[tab] = open();
        tabs[tab].sendWaiting();
      }
    }
    program.fails = () => false;
    await quiet(tabs);
    tabs.push(open());
    tabs[3].sendWaiting();
    await quiet(tabs);
    const stored = [...program.folded("b1")].map(({ at, right, wrong }) => [at.fen.split(" ")[0], right + wrong]);
    assert.deepEqual(new Map(stored.sort()), new Map([...expected].sort()));
    assert.equal(localStorage.length, 0);
    const cards = open();
    await cards.open("b1", "b.ctg");
    assert.equal(cards.count(["b1"]), expected.size);
  });
});

test("a program that cannot store leaves the answers in the browser, and says why", async () => {
  const program = new Program();
  program.canStore = false;
  const messages = [];
  const cards = new Cards({ send: program.send, report: (text) => messages.push(text) });
  await cards.open("b1", "b.ctg");
  cards.answered(keyOf("one"), true, way("e2e4"));
  cards.answered(keyOf("two"), true, way("e2e4"));
  await cards.sync("b1");
  assert.deepEqual(cards.waits(["b1"]), { count: 2, problem: "read-only" });
  assert.equal(localStorage.length, 2);
  assert.deepEqual([program.events.size, messages.length], [0, 0], "it was known before the answers");
  // Another page of the same browser, and then a program that can.
  program.canStore = true;
  const other = new Cards({ send: program.send });
  other.sendWaiting();
  await quiet([other]);
  assert.deepEqual([program.events.size, localStorage.length, other.waits(["b1"]).count], [2, 0, 0]);
});

test("a full storage is reported, and what is forgotten or folded makes room", async () => {
  const messages = [];
  // As the page without a server: its program leaves all answers to the page.
  const answer = { stored: false, problem: null, whole: false, mark: "", refused: [], notices: [], left_behind: [] };
  const send = async () => ({ ...answer, cards: [], moves: [] });
  const page = () => new Cards({ send, report: (text) => messages.push(text) });
  const most = 20;
  const { setItem } = localStorage;
  mock.method(localStorage, "setItem", (name, value) => {
    if (localStorage.length >= most && localStorage.getItem(name) === null) throw new Error("QuotaExceededError");
    setItem(name, value);
  });
  const cards = page();
  for (let number = 0; number < most; number += 1) cards.answered(keyOf("one"), true, way());
  await cards.sync("b1");
  assert.deepEqual([messages, cards.unkept.size, cards.leftOut()], [[], 0, 0]);
  for (const name of ["two", "three", "two"]) cards.answered(keyOf(name), true, way());
  await cards.sync("b1");
  await cards.sync("b1");
  assert.match(messages.join("|"), /^3 answers last only until this page is closed[^|]*$/);
  assert.match(cards.leftOut(), /^3 answers /);
  // Another page has all but them.
  assert.equal(page().waiting.size, most);
  // Forgetting finds room for itself, and is undone with all that was stored.
  const forgotten = cards.forget(["b1"]);
  assert.deepEqual([localStorage.length, cards.unkept.size], [1, 0]);
  cards.bringBack(forgotten);
  await cards.sync("b1");
  assert.deepEqual([localStorage.length, cards.waiting.size, cards.unkept.size], [most, most + 5, 5]);
  cards.answered(keyOf("one"), true, way());
  cards.forget(["b1"]);
  await cards.sync("b1");
  assert.deepEqual([localStorage.length, cards.unkept.size, cards.leftOut()], [1, 0, 0]);
  const kinds = [...page().waiting.values()].map(({ event }) => event.kind);
  assert.deepEqual(kinds, ["forget"]);
  mock.restoreAll();
});

test("training is forgotten and brought back by events", async () => {
  const program = new Program();
  const cards = new Cards({ send: program.send });
  cards.answered(keyOf("one"), true, way("e2e4"));
  cards.answered(keyOf("two", subjectOf("f: g")), true, way("e2e4"));
  cards.answered(keyOf("other", "b2"), true, way("e2e4"));
  await quiet([cards]);
  program.folded = () => [];
  const forgotten = cards.forget(["b1", CHAPTERS]);
  assert.equal(cards.all.size, 1);
  await cards.bringBack(forgotten);
  const kinds = [...program.events.values()].slice(3).map(({ kind, deck, event }) => [kind, deck, event]);
  const [first, second] = forgotten.map(({ event }) => event);
  assert.deepEqual(kinds, [
    ["forget", "b1", undefined],
    ["undo", "b1", first],
    ["forget", CHAPTERS, undefined],
    ["undo", CHAPTERS, second],
  ]);
  await cards.adopt("b1", "old.ctg");
  assert.equal(program.adopted, "old.ctg");
});

test("a saved file comes back, and one of another book is not taken by mistake", () => {
  const cards = alone();
  cards.open("b1", "b.ctg");
  cards.open(CHAPTERS, "");
  cards.answered(keyOf("one"), true, { ...way("e2e4"), opening: "Italian Game" });
  cards.answered(keyOf("two"), false, way("d2d4"));
  cards.choose(keyOf("two"), "g1f3");
  cards.answered(keyOf("one", subjectOf("f: n")), true, way("e2e4"));
  const chapters = [{ file: "f", name: "n", text: "t" }];
  const file = cards.export(["b1", CHAPTERS], chapters);
  localStorage.clear();
  const again = alone();
  again.open("b9", "b.ctg");
  assert.deepEqual(
    again.import(file, "b9", () => false),
    { came: 3, others: [], chapters },
  );
  const counts = ({ line, right, wrong, opening }) => [line, right, wrong, opening];
  assert.deepEqual(counts(again.all.get(keyOf("one", "b9"))), counts(cards.all.get(keyOf("one"))));
  assert.equal(again.all.get(keyOf("one", subjectOf("f: n"))).right, 1);
  assert.deepEqual(again.chosen("b9", "white"), [[fenOf("two").split(" ").slice(0, 4).join(" "), "g1f3"]]);
  // Of two cards for a position the one that was asked more often stays.
  assert.equal(again.import(file, "b9", () => false).came, 0);
  // A book with another name takes a file of a single book, but not of several.
  const renamed = alone();
  renamed.open("b2", "new.ctg");
  assert.equal(renamed.import(file, "b2", () => false).came, 3);
  const several = JSON.parse(file);
  several.cards.push([keyOf("x", "third.ctg"), several.cards[0][1]]);
  const mixed = alone();
  mixed.open("b3", "new.ctg");
  const { came, others } = mixed.import(JSON.stringify(several), "b3", () => false);
  assert.deepEqual([came, others.sort()], [1, ["b.ctg", "third.ctg"]]);
});

test("the file beside a book is loaded with its identifiers, so that nothing counts twice", () => {
  const events = ["a", "b"].map((id) => ({ id, time: 5, kind: "answer", fen: "x w KQkq -", right: true }));
  const lines = ['{"format":"tabia-training-events","version":1}', ...events.map((event) => JSON.stringify(event))];
  const cards = alone();
  const read = cards.import([...lines, "{cut"].join("\n"), "b1", () => false);
  assert.deepEqual(read, { came: 2, others: ["1 lines"], chapters: [] });
  assert.deepEqual([...cards.waiting.keys()], ["a", "b"]);
});

test("what the browser stored before the program did is taken over once, by the book that it is of", async () => {
  const old = { ...way("e2e4"), stability: 8, difficulty: 5, right: 3, wrong: 1, asked: 10, due: 20 };
  const cards = [
    [keyOf("one", "b.ctg"), old],
    [keyOf("two", "other.ctg"), old],
    [keyOf("three", "f: n"), old],
  ];
  const moves = [[keyOf("one", "b.ctg"), "e2e4"]];
  localStorage.setItem("training", JSON.stringify({ format: "tabia-training", version: 3, cards, moves }));
  localStorage.setItem("chapters", JSON.stringify([{ file: "f", name: "n", text: "" }]));
  const program = new Program();
  const messages = [];
  // Two tabs do it at the same time.
  const before = localStorage.getItem("training");
  const tabs = [0, 1].map(() => {
    localStorage.setItem("training", before);
    const tab = new Cards({ send: program.send, report: (text) => messages.push(text) });
    tab.open("b1", "b.ctg");
    return tab;
  });
  await quiet(tabs);
  assert.deepEqual(messages, Array(2).fill("1 positions that were trained in this browser now belong to b.ctg."));
  const events = [...program.events.values()].map(({ kind, fen, state, move }) => [kind, fen, state?.right ?? move]);
  assert.deepEqual(events, [
    ["import", "one w KQkq -", 3],
    ["choose", "one w KQkq -", "e2e4"],
  ]);
  const left = JSON.parse(localStorage.getItem("training")).cards.map(([key]) => key);
  assert.deepEqual(left, [keyOf("two", "other.ctg"), keyOf("three", "f: n")]);
  tabs[0].open(CHAPTERS, "the chapters");
  tabs[0].open("b2", "other.ctg");
  await quiet(tabs);
  assert.equal(localStorage.getItem("training"), null);
  assert.equal(program.events.get([...program.events.keys()].at(2)).deck, CHAPTERS);
});

test("cards stay on a page whose browser stores nothing", (context) => {
  context.mock.method(localStorage, "setItem", () => {
    throw new Error("full");
  });
  const cards = alone();
  for (const name of ["one", "two"]) cards.answered(keyOf(name), true, way());
  assert.deepEqual([cards.all.size, cards.waits(["b1"]).count], [2, 2]);
});

test("what is no card is left out, whatever a file has", () => {
  const card = { ...way("e2e4"), stability: 3, difficulty: 5, right: 1, wrong: 0, asked: 1, due: 2 };
  const read = (cards, moves) => {
    localStorage.clear();
    const all = alone();
    all.open("b1", "b");
    const { came } = all.import(JSON.stringify({ format: "tabia-training", cards, moves }), "b1", () => false);
    return [came, all.mine.size];
  };
  const key = "b|white|k w - -";
  const other = "b|white|k2 w - -";
  const good = read(
    [[key, card]],
    [
      [key, "e2e4"],
      [other, ""],
    ],
  );
  assert.deepEqual(good, [1, 2]);
  for (const wrong of [
    7,
    null,
    [],
    [key],
    [key, null],
    [1, card],
    [key, { ...card, stability: 999 }],
    [key, { ...card, stability: -1 }],
    [key, { ...card, difficulty: 0 }],
    [key, { ...card, difficulty: "hard" }],
    [key, { ...card, right: "x" }],
    [key, { ...card, line: "e4" }],
    [key, { ...card, line: [{ uci: "<b>", san: "x" }] }],
    [key, { ...card, fen: 7 }],
    [key, { ...card, opening: 7 }],
    [key, { ...card, asked: null }],
  ])
    assert.deepEqual(read([wrong], [wrong, [key, "<b>"], [key, 7]]), [0, 0], JSON.stringify(wrong));
  assert.deepEqual(read("text", { k: "e2e4" }), [0, 0]);
  for (const text of ["", "{", "null", "7", '{"format":"other"}', "[Event]"])
    assert.throws(() => alone().import(text, "b1", () => false), /not a training file/, text);
  // A browser with damaged data starts without cards.
  localStorage.setItem("training", "{damaged");
  localStorage.setItem("training-event-1", "{damaged");
  localStorage.setItem("training-event-2", '{"deck":7}');
  const cards = alone();
  cards.open("b1", "b");
  assert.deepEqual([cards.all.size, cards.waiting.size], [0, 0]);
});

test("cards of the older format keep their delay", () => {
  const old = { ...way("e2e4"), level: 3, right: 3, wrong: 0, asked: 0, due: 8 * DAY };
  const cards = alone();
  cards.open("b1", "b");
  const file = { format: "tabia-training", version: 1, cards: [["b|white|k w - -", old]] };
  assert.equal(cards.import(JSON.stringify(file), "b1", () => false).came, 1);
  const { stability, difficulty, due, level } = cards.all.get("b1|white|k w - -");
  assert.deepEqual([stability, difficulty, due, level], [8, 5.1618, 8 * DAY, undefined]);
});

test("progress counts the cards of each opening, the weakest first", () => {
  const cards = alone();
  const of = (opening) => ({ ...way(), opening });
  cards.answered(keyOf("a"), true, of("Italian"));
  cards.answered(keyOf("b"), false, of("Italian"));
  cards.answered(keyOf("c"), true, of("Sicilian"));
  cards.answered(keyOf("d"), false, way());
  assert.deepEqual(cards.progress("b1", "white"), [
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
function lessonOf(cards = alone()) {
  const lesson = new Lesson(cards, "b1", "white");
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
  assert.deepEqual([cards.all.get(keyOf("start")).right, cards.due("b1", "white").length], [0, 1]);
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
    cards.chosen("b1", "white").map(([, uci]) => uci),
    ["d2d4"],
  );
  assert.equal(ask("start", moves), "ask");
  assert.deepEqual(lesson.answer("e2e4"), { isRight: false });
  // The user may choose again.
  assert.equal(ask("start", moves), "ask");
  lesson.reopen();
  lesson.answer("e2e4");
  assert.deepEqual(
    cards.chosen("b1", "white").map(([, uci]) => uci),
    ["e2e4"],
  );
  // A chosen move that has left the book asks again.
  assert.equal(ask("start", ["d2d4", "c2c4"]), "choose");
  lesson.takeAny();
  assert.equal(lesson.answer("c2c4").isRight, true);
  assert.equal(ask("start", moves), "known");
  assert.deepEqual(cards.chosen("b1", "white"), []);
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
  const cards = alone();
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
    localStorage.clear();
    const { lesson, cards, ask } = lessonOf();
    let asked = 0;
    for (let turn = 0; turn < 40; turn += 1) {
      const moves = rng.chance(0.3) ? ["e2e4", "d2d4"] : ["e2e4"];
      const messages = ask(rng.one(["a", "b", "c", "d"]), moves, { showsNew: rng.chance(0.5) });
      asked += 1;
      if (messages === "choose" && rng.chance(0.3)) lesson.takeAny();
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
