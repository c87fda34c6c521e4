// The page: steps change the state, and states are shown.

import * as address from "./address.js";
import { Gone, client, comeBack, get, inTurn, listen, newest, post } from "./api.js";
import * as welcome from "./welcome.js";
import { BoardInput } from "./board-input.js";
import { Changes } from "./changes.js";
import { read } from "./commands.js";
import { Controls } from "./controls.js";
import { by, el } from "./dom.js";
import { EditDialog } from "./edit.js";
import { Engine, share } from "./engine.js";
import * as boardView from "./board-view.js";
import { Files } from "./files.js";
import { Games, withoutFilter } from "./games.js";
import { Seen, guess } from "./guess.js";
import { inWords, openingName, t, translated } from "./lang.js";
import { draw, listenToPlot } from "./plot.js";
import { Policy } from "./policy.js";
import { Own } from "./own-games.js";
import { Preview } from "./preview.js";
import { say } from "./toast.js";
import { Search } from "./search.js";
import * as settings from "./settings.js";
import { BookList } from "./books.js";
import { Work } from "./work.js";
import * as steps from "./steps.js";
import * as tabs from "./tabs.js";
import { AHEAD, Store } from "./store.js";
import { TableInput } from "./table-input.js";
import { Trainer } from "./trainer.js";
import { put } from "./transport.js";
import * as trees from "./tree.js";

let policy;
const seen = new Seen(request);
const store = new Store(
  { tree: trees.empty(), at: 0, tail: 0, books: "", closed: "", set: {}, filter: {}, flip: false },
  {
    ask: (next) => seen.ask(next),
    // A message goes with what the user does next, not with what the page does by itself: a training moves on at once.
    wanted: (how) => how === "keep" || how === "follow" || say(""),
    shown,
    failed: problem,
    known: (next) => seen.get(next) ?? (store.view && guess(next, state(), store.view)),
  },
);
const walk = (forwards) => store.want(forwards ? steps.forward : steps.back, "walk");
const { board } = boardView;
const point = (uci) => board.arrows.point(uci);
const boardInput = new BoardInput(board, { play, swipe: (forwards) => trainer.on || walk(forwards) });
const table = new TableInput(boardView.table, {
  play,
  point,
  edit: (book, move) =>
    book
      ? editor.open(book, move, changes.place(), () => boardView.table.button(move.uci)?.focus())
      : changes.sayLocked(),
  add: () => Promise.resolve(changes.add([state().at])).catch(problem),
  mark: (book, move, mark) => changes.markMove(book, move, mark).catch(problem),
});
const changes = new Changes(store, { refresh, failed: problem });
const editor = new EditDialog(changes, problem);
const engine = new Engine({
  play: playAll,
  point: (moves) => board.arrows.line(moves),
  values: (values) => table.live(values),
  best: (uci) => board.arrows.engine(uci),
  valued: () => plotted.of === state() && drawPlot(),
});
const games = new Games({
  opened: (name) => bookList.show(name),
  load: replay,
  failed: problem,
  // The games of a player with a colour are seen from its side.
  change: (filter) =>
    store.want((from) => ({ ...from, filter, flip: filter.color ? filter.color === "black" : from.flip }), "keep"),
  unfilter: (name, value) =>
    store.want((from) => ({ ...from, filter: withoutFilter(from.filter, name, value) }), "keep"),
  query: () => address.parameters(state()),
  sendBook: (files) => picker.take(files),
});
const trainer = new Trainer({
  go: (step) => store.want(step, "again"),
  follow: (step) => store.want(step, "follow"),
  walk: steps.walkTo,
  now: () => ({ state: state(), view: store.view }),
  point,
  rest: () => engine.rest(),
});
const work = new Work({
  now: () => ({ state: state(), view: store.view }),
  cards: trainer.cards,
  trained: () => trainer.offer(),
  // The arrow of a row is drawn when the table is that of its position: the new table takes arrows away.
  load: async (text) => (await load(text)) && store.filled(),
  point,
  write: (...what) => changes.addMain(...what),
  mark: (book, { row, start, mark }) =>
    changes.mark(
      {
        book: book.book,
        move: row.move,
        place: { fen: start, play: row.moves.map(({ uci }) => uci).join(",") },
        seen: { mark: row.mark },
      },
      "mark",
      mark,
    ),
  indexed: () => games.indexed,
});
const own = new Own({
  draw(figures) {
    const hadNone = !boardView.table.own.moves.size && !figures.moves.size;
    boardView.table.own = figures;
    if (!hadNone && boardView.table.view && !boardView.table.isPending) boardView.table.show(boardView.table.view);
  },
  indexed: () => games.indexed,
});
const search = new Search({
  go: ({ play: moves, name, eco }) => load(moves.join(" "), { message: `${eco} ${openingName(name)}` }).catch(problem),
  player: (names) => games.of(names),
  indexed: () => games.indexed,
  books: () => new URLSearchParams(state().books ? { books: state().books } : {}),
});
const bookList = new BookList({ want: (step) => store.want(step) });
const preview = new Preview(previewed);
const picker = new Files({ opened: (name) => bookList.show(name), failed: problem });
/** Shows the program's files; without a program on this machine, the browser's dialog for files. */
const pick = async () => (put ? games.pick() : picker.show());
const controls = new Controls({
  store,
  walk,
  table,
  engine,
  search,
  trainer,
  games,
  preview,
  pick,
  changes,
  load,
  typed,
  work,
  problem,
});

/** What is shown now. */
const state = () => store.state;

/** Gets the answer for the parameters of a state. */
function request(query) {
  query.set("ahead", String(AHEAD));
  query.set("client", client);
  return get("/api/position", query);
}

/** The state that was shown before. */
let before = null;

function shown(how) {
  // Moves that are gone can be brought back, unless they are those of a training.
  const isKept = ["pop", "again", "follow"].includes(how) || !before || trees.hasAll(state().tree, before.tree);
  if (!isKept) changes.lost(before);
  before = state();
  boardView.show(state(), store.view);
  const now = state(),
    { view } = store;
  if (how === "pop" && trainer.on) trainer.stop();
  engine.show(now, view);
  announce(now);
  welcome.show(now, view, trainer.on);
  if (!view.isGuess) showFigures(now, view);
  // A change that was running when the user went back is not written into the address of this entry.
  if (how === "pop" || !store.queue.some((waiting) => waiting.how === "pop")) address.note(now, how);
  if (view.problem) say(translated(view.problem), true);
}

/** Shows what only the program knows. */
function showFigures(now, view) {
  trainer.shown(now, view);
  work.shown().catch(problem);
  games.shown(now);
  if (!trainer.on) own.shown(now, view);
  policy?.show(view.options, now.set);
  showBooks(view);
  plotSoon();
}

let announced = null;

/** Announces a move to screen readers; they read the name of the opening by themselves. */
function announce({ tree, at }) {
  const text = at === 0 ? "" : `${trees.numberOf(tree, at, true)} ${inWords(trees.node(tree, at).san)}`;
  if (announced !== null && text !== announced) by("announce").textContent = text;
  announced = text;
}

/** Shows the present books of the program. */
async function offerBooks() {
  const { books } = await get("/api/start");
  bookList.offer(books);
  showBooks(store.view);
  await games.offer();
  games.listSoon();
}

function showBooks(view) {
  if (bookList.names.length && bookList.names.length < view.open) offerBooks().catch(problem);
  const chosen = view.books.map((book) => book.name);
  bookList.draw(state(), chosen);
  changes.show(view.books);
}

function drawPlot() {
  const { points, of } = plotted;
  const values = points.map((_, index) => {
    const moves = points.slice(1, index + 1).map(({ uci }) => uci);
    return engine.along(of.tree, moves) ?? noted(of.tree, moves);
  });
  draw(points, trees.path(of.tree, of.at).length, values);
}

/** White's share after a line by the game's own comment; null if that has no value. */
function noted(tree, moves) {
  const at = trees.find(tree, moves);
  const value = at === undefined ? null : read(trees.node(tree, at).comment).value;
  return value && share(value);
}

let plotting = 0;

/** The plotted main line, and the request that it belongs to. */
let plotted = { points: [], of: null };

/** Plots after the user has stopped stepping through the moves. */
function plotSoon() {
  clearTimeout(plotting);
  plotting = setTimeout(async () => {
    const now = state();
    // The whole line, not only up to the shown position: a game has its values behind it, too.
    const query = address.parameters({ ...now, at: now.tail });
    query.set("book", store.view.books[0].book);
    try {
      if (!by("plot-pane").checkVisibility()) return;
      const { points } = await get("/api/line", query);
      if (now !== state()) return;
      plotted = { points, of: now };
      drawPlot();
    } catch (error) {
      if (now === state()) by("plot").replaceChildren(el("p", { class: "notice" }, error.message));
    } finally {
      await begun;
      document.documentElement.dataset.ready = "true";
    }
  }, 60);
}

// It is not updated while it is hidden.
tabs.whenShown("book", () => store.view && plotSoon());
matchMedia("(min-width: 100rem)").addEventListener("change", () => store.view && plotSoon());

listenToPlot((index) =>
  store.want((from) => {
    const { points, of } = plotted;
    if (from !== of) return null;
    const path = trees.path(from.tree, from.at);
    if (index <= path.length) return { ...from, at: path[index - 1] ?? 0 };
    return points.slice(path.length + 1, index + 1).reduce(steps.walkTo, from);
  }),
);

let waiting = false;

async function problem(error) {
  if (!(error instanceof Gone)) {
    say(error.message, true);
    return;
  }
  by("gone").hidden = false;
  if (waiting) return;
  waiting = true;
  await comeBack();
  waiting = false;
  by("gone").hidden = true;
  if (!store.view) location.reload();
  refresh();
}

/** Requests the shown data again. */
function refresh() {
  seen.clear();
  return store.want((from) => ({ ...from }), "keep");
}

/** Plays a move in the shown position; resolves when the next one is shown. */
function play(uci) {
  const move = store.view?.legal.find((legal) => legal.uci === uci);
  if (!move) return undefined;
  return trainer.on ? trainer.played(move) : store.want(steps.playFrom(state(), [move]), "walk");
}

/** Plays several moves from the shown position. */
function playAll(moves) {
  return store.want(steps.playFrom(state(), moves));
}

/** What the small board shows for an element: after a move of the table or of the engine, or at the end of a game. */
function previewed(element) {
  const of = element?.closest?.("#books tr[data-uci], .lines button[data-line], #games-list button");
  if (!of || trainer.on || !store.view) return null;
  const { fen } = store.view,
    { flip } = state();
  if (of.matches("tr") && boardView.table.isPending) return null;
  const found = of.dataset.uci && of.matches("tr") ? [{ uci: of.dataset.uci }] : engine.movesAt(of);
  if (found) return { of, position: async () => ({ fen, flip, moves: found.map(({ uci }) => uci) }) };
  const ended = async () => {
    const tree = trees.fromPasted(await post("/api/read", { text: await games.textAt(of) }));
    return { fen: tree.fen, flip, moves: trees.line(tree, trees.endOf(tree, 0)) };
  };
  return { of, position: ended };
}

/** Only the last requested text is shown, even if earlier answers come later. */
const loading = newest();

/**
 * Shows the tree of a text, which may be a promise. Calls `read` when the text could be read, and then shows
 * `message`. Returns whether the tree is shown.
 * @param {string | Promise<string>} text
 * @param {{ read?: () => void, message?: string }} how
 */
async function load(text, { read = () => {}, message } = {}) {
  const isNewest = loading();
  const pasted = await post("/api/read", { text: await text });
  if (!isNewest()) return false;
  read();
  const tree = trees.fromPasted(pasted);
  const end = trees.endOf(tree, 0);
  if (!(await store.want((from) => ({ ...from, tree, at: end, tail: end })))) return false;
  if (pasted.problem) say(translated(pasted.problem), true);
  else if (message) say(message);
  return true;
}

/** Shows a game, at the present position if the game reaches it; returns its tree, or the one that stays. */
async function replay(text) {
  const { tree, at } = state();
  if (await load(text)) await store.want(steps.along(trees.line(tree, at)), "keep");
  return state().tree;
}

const typing = inTurn();

/** Plays typed moves from the position after all pending steps. */
function typed(text) {
  return typing(() => playTyped(text));
}

async function playTyped(text) {
  await store.running;
  const { view } = store,
    meant = state();
  const found = steps.meantBy(view.legal, text);
  if (found.length > 1) {
    say(t`${text} can mean several moves`, true);
    return;
  }
  if (found.length === 1) {
    play(found[0].uci);
    return;
  }
  // Other notations, and several moves: the program can read them all.
  const { nodes } = await post("/api/read", { text: `position fen ${view.fen} moves ${text}` });
  await store.want(
    steps.playFrom(
      meant,
      nodes.map(({ uci, san }) => ({ uci, san })),
    ),
  );
}

/** Requests the first answer if none came with the page: for the valid part of the address. */
async function first() {
  const old = address.left();
  if (old) {
    await store.want(() => old, "keep");
    return;
  }
  const query = new URLSearchParams(location.search);
  if (query.has("at")) query.set("at", String(Number(query.get("at")) || 0));
  query.set("lenient", "1");
  query.set("ahead", String(AHEAD));
  query.set("client", client);
  store.view = await get("/api/position", query);
  store.state = address.stateOf(store.view);
  seen.keep(store.state, store.view);
  shown("keep");
}

/** Shows the first answer; returns it if it came with the page. */
async function take() {
  const sent = boardView.sent();
  if (!sent) {
    await first();
    return null;
  }
  Object.assign(store, sent);
  seen.keep(sent.state, sent.view);
  shown("keep");
  return sent.view;
}

async function start() {
  settings.prepare();
  const loaded = take()
    .catch(problem)
    .finally(() => {
      boardInput.listen();
      table.listen();
      controls.listen();
      preview.listen();
      // Nothing is seen before it works.
      document.body.classList.remove("loading");
    });
  try {
    const start = await get("/api/start", new URLSearchParams({ client }));
    // The parts behind buttons can wait until the values are shown.
    const sent = await loaded;
    const { options } = start;
    const set = (name, value) => store.want(steps.set(options, store.view.options, name, value), "keep");
    policy = new Policy(options, set, (name) => store.want(steps.unset(name), "keep"));
    bookList.offer(start.books);
    engine.offer(start.engine);
    by("open-book").hidden = !start.folders;
    welcome.offer(start, () => pick().catch(problem), games);
    games.canIndex = start.indexes;
    if (store.view) welcome.show(state(), store.view, trainer.on);
    games.offer();
    if (store.view) {
      policy.show(store.view.options, state().set);
      // The answer that came with the page was made before the program knew whose page it is.
      if (store.view === sent) for (const book of sent.books) Object.assign(book, start.books[book.book].undoable);
      showBooks(store.view);
    }
    listen((count) => count === store.view?.changes || refresh(), problem);
  } catch (error) {
    problem(error);
  }
}

/** Resolves when all parts of the page are ready. */
const begun = start();
