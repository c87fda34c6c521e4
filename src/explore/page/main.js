// The page: wishes become states, states are shown.

import * as address from "./address.js";
import { Gone, client, comeBack, get, listen, post } from "./api.js";
import { Board } from "./board.js";
import { by, el, isTyping, say } from "./dom.js";
import { EditDialog, ends, linesOf, takesLines } from "./edit.js";
import { Engine } from "./engine.js";
import { Games } from "./games.js";
import { begin as beginLanguage, lettered, spoken, t, told } from "./lang.js";
import { showMoves } from "./moves.js";
import { draw } from "./plot.js";
import { Policy } from "./policy.js";
import { Search } from "./search.js";
import * as settings from "./settings.js";
import { OF_MOVES, OF_POSITIONS, offer } from "./signs.js";
import * as share from "./share.js";
import { Shelf } from "./shelf.js";
import { AHEAD, Store, WAIT } from "./store.js";
import { Table } from "./table.js";
import { Trainer } from "./trainer.js";
import * as trees from "./tree.js";

let options = [];
let policy;
/** Books that this page has changed, the last one last. */
const changed = [];
const undone = [];

const board = new Board((uci) => play(uci), (forwards) => trainer.on || (forwards ? forward() : back()));
const table = new Table({ play: (uci) => play(uci), point: (uci) => board.arrows.point(uci), edit: openEdit, add: () => Promise.resolve(addToBook([state().at])).catch(problem) });
const editor = new EditDialog(change, removeFromBook);
const engine = new Engine({ play: (moves) => playAll(moves), point: (moves) => board.arrows.line(moves), values: (values) => table.live(values) });
const search = new Search(({ play: moves, name, eco }) => load({ moves }, `${eco} ${name}`));
const store = new Store({ tree: trees.empty(), at: 0, tail: 0, books: "", closed: "", set: {}, flip: false }, { ask, shown, failed });

const trainer = new Trainer({ go: (wish) => store.want(wish), walk: walkTo, now: () => ({ state: state(), view: store.view }), point: (uci) => board.arrows.point(uci) });

const games = new Games({ load: replay, failed: (error) => problem(error), query: () => { const query = address.parameters(state()); query.delete("books"); return query; } });

const shelf = new Shelf({ want: (wish) => store.want(wish), show: (name, text) => games.take(name, text) });

/** What is shown now. */
const state = () => store.state;

function ask(next) {
  const query = address.parameters(next);
  query.set("ahead", AHEAD);
  query.set("client", client);
  return get("/api/position", query);
}

function shown(how) {
  const now = state(), { view } = store;
  const last = trees.node(now.tree, now.at).uci;
  if (how !== "keep") say("");
  board.flip(now.flip);
  board.show(view, last);
  table.show(view);
  board.arrows.book(view.books[0].moves);
  if (how === "pop" && trainer.on) trainer.stop();
  engine.show(now, view);
  trainer.shown(now, view);
  policy?.show(view.options, now.set);
  showOpening(view);
  announce(now);
  showMoves(now, (id) => trainer.on || store.want(to(id)));
  showBooks(view);
  by("back").disabled = by("to-start").disabled = now.at === 0;
  by("to-end").disabled = now.at === now.tail;
  by("forward").disabled = now.at === now.tail && view.ahead.length === 0;
  address.note(now, how);
  // Once: each mark is kept as long as the page.
  if (!performance.getEntriesByName("shown").length) performance.mark("shown");
  if (view.problem) say(told(view.problem), true);
  plotSoon();
}

let announced = null;

/** Says a move to screen readers; the opening's name says itself. */
function announce({ tree, at }) {
  const text = at === 0 ? "" : `${trees.numberOf(tree, at, true)} ${spoken(trees.node(tree, at).san)}`;
  if (announced !== null && text !== announced) by("announce").textContent = text;
  announced = text;
}

function showOpening({ opening, fullmove, turn }) {
  by("opening").replaceChildren(...(opening
    ? [el("abbr", { title: t("Encyclopaedia of Chess Openings") }, opening.eco), ` ${opening.name}`]
    : [state().tree.fen ? t("Own position") : t("First position")]));
  by("to-move").textContent = turn === "white" ? t`White to move, move ${fullmove}` : t`Black to move, move ${fullmove}`;
  document.title = opening ? `${opening.eco} ${opening.name} – Tabia` : "Tabia";
}

function showBooks(view) {
  const chosen = view.books.map((book) => book.name);
  by("to-difference").hidden = chosen.length < 2;
  shelf.draw(state(), chosen);
  const book = view.books.find(({ book: number }) => number === changed.at(-1)) ?? view.books.find(({ editable }) => editable);
  by("undo").hidden = by("redo").hidden = by("book-menu").hidden = !book?.editable;
  by("add-line").hidden = by("add-tree").hidden = !view.books.some(takesLines);
  by("undo").disabled = !book?.undo;
  by("undo").title = book?.last_change ? t`Take back: ${told(book.last_change)} (Ctrl+Z)` : t("Nothing to take back");
  by("redo").disabled = !book?.redo;
}

let plotting = 0;

/** The plot waits until nobody walks any more. */
function plotSoon() {
  clearTimeout(plotting);
  plotting = setTimeout(async () => {
    const now = state();
    const query = address.parameters(now);
    query.set("book", store.view.books[0].book);
    try {
      const { points } = await get("/api/line", query);
      if (now !== state()) return;
      draw(points, trees.path(now.tree, now.at).length, (index) => store.want((from) => {
        if (from !== now) return null;
        const path = trees.path(from.tree, from.at);
        if (index <= path.length) return { ...from, at: path[index - 1] ?? 0 };
        let { tree } = from, { at } = from;
        for (const point of points.slice(path.length + 1, index + 1)) [tree, at] = trees.add(tree, at, point);
        return { ...from, tree, at, tail: at };
      }));
    } catch (error) {
      by("plot").replaceChildren(el("p", { class: "notice" }, error.message));
    }
    document.documentElement.dataset.ready = "true";
  }, 60);
}

let waiting = false;

async function failed(error) {
  if (!(error instanceof Gone)) { say(error.message, true); return; }
  by("gone").hidden = false;
  if (waiting) return;
  waiting = true;
  await comeBack();
  waiting = false;
  by("gone").hidden = true;
  if (!store.view) location.reload();
  refresh();
}

const problem = (error) => failed(error);
const refresh = () => store.want((from) => ({ ...from }), "keep");

// Wishes: from a state to the next.

const to = (id) => (from) => (from.tree.nodes.has(id) ? { ...from, at: id, tail: trees.isBelow(from.tree, id, from.tail) ? from.tail : trees.endOf(from.tree, id) } : null);

function walkTo(from, move) {
  const [tree, at] = trees.add(from.tree, from.at, move);
  return { ...from, tree, at, tail: trees.isBelow(tree, at, from.tail) ? from.tail : trees.endOf(tree, at) };
}

/** A move of the position that is shown; once the board has moved on, it was meant for another. */
function play(uci) {
  const { at: meant, tree } = state();
  const move = store.view?.legal.find((legal) => legal.uci === uci);
  if (move && trainer.on) trainer.played(move);
  else if (move) store.want((from) => (from.at === meant && from.tree.fen === tree.fen ? walkTo(from, move) : null), "walk");
}

/** Several moves from the position that is shown. */
function playAll(moves) {
  const { at: meant, tree } = state();
  return store.want((from) => (from.at === meant && from.tree.fen === tree.fen ? moves.reduce(walkTo, from) : null));
}

const forward = () => store.want((from) => {
  if (from.at !== from.tail) {
    const rest = trees.path(from.tree, from.tail);
    return { ...from, at: rest[trees.path(from.tree, from.at).length] };
  }
  const move = store.likeliest(from);
  if (move === undefined) return WAIT;
  return move && walkTo(from, move);
}, "walk");

const back = () => store.want((from) => (from.at === 0 ? null : { ...from, at: trees.node(from.tree, from.at).parent }), "walk");
const toStart = () => store.want((from) => (from.at === 0 ? null : { ...from, at: 0 }));
const toEnd = () => store.want((from) => (from.at === from.tail ? null : { ...from, at: from.tail }));
const flip = () => store.want((from) => ({ ...from, flip: !from.flip }), "keep");

/** Another tree: `moves` in UCI notation from the first position, or what was pasted. */
async function load({ moves, pasted }, said) {
  const read = pasted ?? await post("/api/read", { text: moves.join(" ") });
  const tree = trees.fromPasted(read);
  const end = trees.endOf(tree, 0);
  await store.want((from) => ({ ...from, tree, at: end, tail: end }));
  if (read.problem) say(told(read.problem), true);
  else if (said) say(said);
}

/** A game, at the position that was shown if it comes to it. */
async function replay(text) {
  const { tree: old, at } = state();
  const way = trees.path(old, at).map((id) => trees.node(old, id).uci);
  await loadText(text);
  await store.want((from) => {
    let id = 0;
    for (const uci of way) {
      id = trees.node(from.tree, id).children.find((child) => trees.node(from.tree, child).uci === uci);
      if (id === undefined) return null;
    }
    return from.tree === old ? null : { ...from, at: id };
  }, "keep");
}

const loadText = async (text) => load({ pasted: await post("/api/read", { text }) });

async function typed(text) {
  const { view } = store;
  const plain = (san) => san.replace(/[+#x=-]/g, "").replaceAll("0", "O").toLowerCase();
  const exact = view.legal.filter((move) => move.san === text || move.uci === text.toLowerCase());
  // "bc4" may be a pawn's or a bishop's: the case decides first.
  const near = view.legal.filter((move) => move.san.replace(/[+#x]/g, "") === text.replace(/[+#x]/g, ""));
  const loose = view.legal.filter((move) => plain(move.san) === plain(text));
  const found = [exact, near, loose].find((list) => list.length > 0) ?? [];
  if (found.length > 1) { say(t`${text} can mean several moves`, true); return; }
  if (found.length === 1) { play(found[0].uci); return; }
  // Other notations, and several moves: the program reads them all.
  const { nodes } = await post("/api/read", { text: `position fen ${view.fen} moves ${text}` });
  await playAll(nodes.map(({ uci, san }) => ({ uci, san })));
}

function set(name, value) {
  const known = options.find((option) => option.name === name);
  const shownNow = store.view.options;
  store.want((from) => {
    let set = { ...from.set };
    if (name === "Book Preset") {
      // A preset stands for several options: what was set by hand makes way.
      set = value === "Custom" ? set : { [name]: value };
    } else {
      if (set["Book Preset"]) {
        // Changing one of a preset's options keeps the others as they are shown.
        set = Object.fromEntries(shownNow.filter(({ name: other, value: now }) =>
          other !== "Book Preset" && now !== options.find((option) => option.name === other).default).map((option) => [option.name, option.value]));
      }
      set[name] = value;
      if (value === known.default) delete set[name];
    }
    return { ...from, set };
  }, "keep");
}

const unset = (name) => store.want((from) => {
  const set = { ...from.set };
  delete set[name];
  return { ...from, set };
}, "keep");

/** Where the last jump went: the same wish again goes on from there. */
let jumped = null;

const JUMPS = { difference: "There is no other difference among the likeliest lines from here on.", gap: "There is no other gap among the likeliest lines from here on.", mark: "There is no other marked move among the likeliest lines from here on." };

async function jump(to) {
  // From where the steps that are still under way lead.
  await store.running;
  const here = address.address(state());
  const from = jumped?.to === to && jumped.here === here ? jumped : { origin: state(), skip: 0 };
  const query = address.parameters(from.origin);
  query.set("to", to);
  query.set("skip", from.skip);
  const moves = await get("/api/jump", query);
  if (!moves) { say(t(JUMPS[to])); return; }
  await store.want((now) => (address.address(now) === here ? moves.reduce(walkTo, { ...from.origin, flip: now.flip }) : null));
  jumped = { to, origin: from.origin, skip: from.skip + 1, here: address.address(state()) };
}

const toDifference = () => jump("difference").catch(problem);
const toGap = () => jump("gap").catch(problem);
const toMark = () => jump("mark").catch(problem);

// Changes to books.

/** The moves from the first position to the one that is shown. */
const walkedLine = () => trees.path(state().tree, state().at).map((id) => trees.node(state().tree, id).uci);

async function write(path, book, body) {
  const done = await post(path, { book, client, ...body });
  changed.push(book);
  undone.length = 0;
  await refresh();
  say(t`Saved: ${told(done.last_change)}`);
}

function change(book, move, what, value, seen) {
  return write("/api/edit", book, { fen: state().tree.fen, play: walkedLine().join(","), uci: move.uci, change: what, value, seen });
}

function removeFromBook(book, move, below) {
  if (state().tree.fen) throw new Error(t("Only lines from the usual first position can be deleted."));
  return write("/api/remove", book, { play: [...walkedLine(), move.uci].join(","), below });
}

/** The book that is changed: the first shown that can be. */
const editable = () => store.view?.books.find((book) => book.editable);

/** The line that is shown, or all lines of the tree, into the book. */
function addToBook(ids) {
  const book = store.view?.books.find(takesLines);
  const { tree } = state();
  if (book && ids.length) return write("/api/add", book.book, { fen: tree.fen, lines: linesOf(tree, ids) });
  say(book ? t("There is no move to add yet: play one.") : t("No book that is shown takes lines."), true);
  return undefined;
}

function openLine() {
  const book = editable();
  if (!book || state().at === 0) { say(book ? t("There is no line yet: play one.") : t("No book that is shown can be changed."), true); return; }
  by("menu-dialog").close();
  by("line-title").textContent = t`Marks for the whole line in ${book.name}`;
  by("line-error").textContent = "";
  // Where there are weights and no marks, avoiding is weight 0.
  for (const option of by("line-mark").options) option.hidden = option.disabled = book.most_weight !== undefined && option.value !== "avoid";
  if (by("line-mark").selectedOptions[0].disabled) by("line-mark").value = "avoid";
  by("line-dialog").showModal();
}

async function markLine() {
  try {
    await write("/api/edit", editable().book, { fen: state().tree.fen, play: walkedLine().join(","), along: by("line-side").value, change: "mark", value: by("line-mark").value });
    by("line-dialog").close();
  } catch (error) { by("line-error").textContent = error.message; }
}

async function takeBack() {
  const shownBooks = store.view.books.filter((book) => book.editable && book.undo > 0).map((book) => book.book);
  const book = changed.at(-1) ?? shownBooks[0];
  if (book === undefined) return;
  try {
    const done = await post("/api/undo", { book, client });
    changed.pop();
    if (done.taken_back) undone.push(book);
    await refresh();
    say(done.taken_back ? t`Taken back: ${told(done.taken_back)}` : t("There is nothing to take back."));
  } catch (error) { problem(error); }
}

async function doAgain() {
  const book = undone.at(-1) ?? store.view.books.find((one) => one.redo > 0)?.book;
  if (book === undefined) return;
  try {
    const done = await post("/api/redo", { book, client });
    undone.pop();
    changed.push(book);
    await refresh();
    say(t`Done again: ${told(done.last_change)}`);
  } catch (error) { problem(error); }
}

function openEdit(book, move) {
  editor.open(book, move, () => table.button(move.uci)?.focus());
}

// The tree.

const current = () => trees.node(state().tree, state().at);

function openNote() {
  if (state().at === 0) by("note-title").textContent = t("Before the first move");
  else by("note-title").textContent = `${trees.numberOf(state().tree, state().at, true)} ${lettered(current().san)}`;
  by("note-text").value = current().comment;
  offer(by("note-signs"), [...OF_MOVES, ...OF_POSITIONS], current().nags[0] ?? 0);
  by("note-signs").disabled = state().at === 0;
  by("menu-dialog").close();
  by("note-dialog").showModal();
}

function keepNote() {
  const { at } = state();
  const comment = by("note-text").value.trim();
  const sign = Number(by("note-signs").value);
  store.want((from) => {
    if (!from.tree.nodes.has(at)) return null;
    const nags = sign === (trees.node(from.tree, at).nags[0] ?? 0) ? trees.node(from.tree, at).nags : sign ? [sign] : [];
    return { ...from, tree: trees.note(from.tree, at, { comment, nags }) };
  }, "keep");
}

const promote = () => store.want((from) => ({ ...from, tree: trees.promote(from.tree, from.at), tail: from.tail }));

const remove = () => store.want((from) => {
  if (from.at === 0) return null;
  const { parent } = trees.node(from.tree, from.at);
  const tree = trees.remove(from.tree, from.at);
  return { ...from, tree, at: parent, tail: trees.endOf(tree, parent) };
});

// The rest of the page.

const THEMES = ["auto", "light", "dark"];

function theme(name) {
  document.documentElement.dataset.theme = name;
  by("theme").textContent = t(`Theme: ${name}`);
  try { localStorage.setItem("theme", name); } catch { /* It is forgotten, then. */ }
}

const nextTheme = () => theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);

function begin(colour) {
  if (engine.on) engine.turn();
  trainer.begin(colour);
}

function playEngine() {
  if (engine.on) engine.turn();
  trainer.game();
}

function showCards() {
  const book = store.view?.books[0].name;
  const due = ["white", "black"].map((colour) => trainer.cards.due(book, colour).length);
  by("train-cards").textContent = t`${trainer.cards.all.size} positions trained; due in this book: ${due[0]} as White, ${due[1]} as Black.`;
}

function openTrain() {
  by("menu-dialog").close();
  by("train-colour").value = state().flip ? "black" : "white";
  showCards();
  by("train-dialog").showModal();
}

function openShelf() {
  by("menu-dialog").close();
  shelf.openDialog(state());
}

function openPaste() {
  by("menu-dialog").close();
  by("paste-error").textContent = "";
  by("paste-dialog").showModal();
  by("paste-text").select();
}

const openMenu = () => by("menu-dialog").showModal();
const typing = () => (by("move").offsetParent ? by("move").focus() : search.open());

const KEYS = {
  ArrowLeft: back, ArrowRight: forward, ArrowUp: () => table.step(-1), ArrowDown: () => table.step(1),
  Home: toStart, End: toEnd, Delete: remove,
  b: openShelf, d: toDifference, g: toGap, i: () => games.open(), k: toMark, f: flip, l: () => engine.turn(), r: openTrain, v: openPaste, c: () => share.copy(store.view.fen, "FEN"), t: nextTheme, e: () => table.editChosen(), n: openNote,
  m: typing, "/": () => search.open(), o: () => by("policy-dialog").showModal(), "?": () => by("help-dialog").showModal(),
};

/** Nobody walks about while being asked. */
const calm = (action) => () => (trainer.on ? undefined : action());

const BUTTONS = {
  back: calm(back), forward: calm(forward), "to-start": calm(toStart), "to-end": calm(toEnd), flip, engine: KEYS.l, menu: openMenu, find: () => search.open(), undo: takeBack, redo: doAgain,
  paste: openPaste, shelf: openShelf, theme: nextTheme, "show-settings": () => { by("menu-dialog").close(); by("settings-dialog").showModal(); }, "show-help": () => { by("menu-dialog").close(); KEYS["?"](); },
  "open-policy": KEYS.o, reset: () => store.want((from) => ({ ...from, set: {} }), "keep"),
  "add-line": () => addToBook(state().at ? [state().at] : []), "add-tree": () => addToBook(ends(state().tree)), "mark-line": openLine,
  note: openNote, promote, remove,
  "to-difference": toDifference, "to-gap": toGap, "to-mark": toMark, "show-games": () => { by("menu-dialog").close(); games.open(); },
  train: openTrain, "play-engine": playEngine, "train-save": () => share.saveTraining(trainer.cards.export()), "train-load": () => by("train-file").click(),
  "train-forget": () => { trainer.cards.forget(); showCards(); },
  "copy-fen": KEYS.c, "copy-pgn": () => share.copy(trees.toPgn(state().tree), "PGN"), "copy-link": () => share.copy(new URL(address.address(state()), location.href).href, "Link"),
  "save-pgn": () => share.savePgn(trees.toPgn(state().tree)), "save-svg": () => share.saveSvg(store.view.fen, state().flip), "save-png": () => share.savePng(store.view.fen, state().flip),
};

/** Buttons of the menu that do something at once. */
const CLOSING = ["to-difference", "to-gap", "to-mark", "play-engine", "add-line", "add-tree", "promote", "remove", "copy-fen", "copy-pgn", "copy-link", "save-pgn", "save-svg", "save-png"];

/** What is left to do while somebody trains. */
const TRAINING = { f: flip, t: nextTheme, "?": KEYS["?"], Escape: () => trainer.stop() };

function onKey(event) {
  if (event.defaultPrevented || isTyping(event.target) || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.ctrlKey || event.metaKey) {
    const key = event.key.toLowerCase();
    if (key !== "z" && !(key === "y" && event.ctrlKey)) return;
    event.preventDefault();
    if (trainer.on) return;
    if (key === "y" || event.shiftKey) doAgain();
    else takeBack();
    return;
  }
  const action = (trainer.on ? TRAINING : KEYS)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || !store.view) return;
  event.preventDefault();
  action();
}

function listenToAll() {
  addEventListener("popstate", (event) => {
    const old = address.recall(event.state);
    if (old) store.want(() => old, "pop");
    else location.reload();
  });
  addEventListener("keydown", onKey);
  addEventListener("paste", (event) => {
    if (isTyping(event.target) || trainer.on) return;
    const text = event.clipboardData?.getData("text/plain");
    if (text) loadText(text).catch(problem);
  });
  // A dropped file is read here and goes to nobody but the reader of games.
  addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
  addEventListener("drop", async (event) => {
    const files = [...event.dataTransfer?.files ?? []];
    if (!files.length) return;
    event.preventDefault();
    if (trainer.on || document.querySelector("dialog[open]")) return;
    try { await shelf.take(files); } catch (error) { problem(error); }
  });
  for (const [id, action] of Object.entries(BUTTONS)) {
    by(id).addEventListener("click", () => {
      if (CLOSING.includes(id)) by("menu-dialog").close();
      Promise.resolve().then(action).catch(problem);
    });
  }
  by("train-form").addEventListener("submit", (event) => {
    if (event.submitter?.value === "begin" && store.view) begin(by("train-colour").value);
  });
  by("train-file").addEventListener("change", async () => {
    try { say(t`${trainer.cards.import(await by("train-file").files[0].text())} positions taken in.`); } catch (error) { say(error.message, true); }
    by("train-file").value = "";
    showCards();
  });
  // After a click, the arrow keys belong to the board again.
  addEventListener("click", (event) => {
    const control = event.target.closest?.("button, select");
    if (event.detail > 0 && control && control.tagName === "BUTTON" && !control.closest("dialog, .promotion")) control.blur();
  });
  addEventListener("change", (event) => event.target.matches("select, input[type=checkbox]") && !event.target.closest("dialog") && event.target.blur());
  let turned = 0;
  by("board").addEventListener("wheel", (event) => {
    if (event.ctrlKey || trainer.on) return;
    event.preventDefault();
    turned += event.deltaY;
    if (Math.abs(turned) < 40) return;
    (turned > 0 ? forward : back)();
    turned = 0;
  }, { passive: false });
  by("move-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = by("move").value.trim();
    if (!text || !store.view) return;
    by("move").value = "";
    typed(text).catch(problem);
  });
  by("move").addEventListener("keydown", (event) => event.key === "Escape" && by("move").blur());
  by("line-form").addEventListener("submit", (event) => {
    if (event.submitter?.value !== "keep") return;
    event.preventDefault();
    markLine();
  });
  by("note-form").addEventListener("submit", (event) => event.submitter?.value === "keep" && keepNote());
  by("paste-form").addEventListener("submit", async (event) => {
    if (event.submitter?.value !== "load") return;
    event.preventDefault();
    try {
      await loadText(by("paste-text").value);
      by("paste-dialog").close();
    } catch (error) {
      by("paste-error").textContent = error.message;
    }
  });
}

/** The answer about this address that came with the page. */
function sent() {
  const place = document.querySelector('meta[name="tabia-first"]');
  const text = place?.content;
  place?.remove();
  return text ? JSON.parse(text) : null;
}

/** The first answer: what the address says, as far as it can be read. */
async function first() {
  const old = address.recall(history.state), early = sent();
  if (old) return store.want(() => old, "keep");
  const asked = address.read(location.search);
  const query = new URLSearchParams(asked.set);
  if (asked.fen) query.set("fen", asked.fen);
  if (asked.words.length) query.set("play", asked.words.join(","));
  if (asked.at) query.set("at", Number(asked.at) || 0);
  if (asked.books) query.set("books", asked.books);
  query.set("lenient", "1");
  query.set("ahead", AHEAD);
  query.set("client", client);
  const view = early ?? await get("/api/position", query);
  let tree = trees.empty(view.start), tail = 0;
  for (const move of view.line) [tree, tail] = trees.add(tree, tail, move);
  const at = trees.path(tree, tail)[view.at - 1] ?? 0;
  const books = asked.books ? view.books.map((book) => book.name).join("/") : "";
  const set = view.problem ? {} : asked.set;
  const closed = asked.closed.split("/").filter((name) => !view.books.some((book) => book.name === name)).join("/");
  store.state = { tree, at, tail, books, closed, set, flip: asked.flip };
  store.view = view;
  shown("keep");
  return undefined;
}

async function start() {
  settings.dress();
  await beginLanguage();
  settings.prepare();
  let kept = "auto";
  try { kept = localStorage.getItem("theme") ?? "auto"; } catch { /* Then as the system has it. */ }
  theme(THEMES.includes(kept) ? kept : "auto");
  listenToAll();
  const loaded = first().catch(problem);
  try {
    const start = await get("/api/start");
    // What is behind buttons can wait for the figures.
    await loaded;
    options = start.options;
    policy = new Policy(options, set, unset);
    shelf.offer(start.books);
    engine.offer(start.engine);
    games.offer();
    by("play-engine").hidden = by("train-game").hidden = !start.engine;
    if (store.view) {
      policy.show(store.view.options, state().set);
      showBooks(store.view);
    }
    const notices = start.books.flatMap((book) => book.notices);
    if (notices.length && !store.view?.problem) say(notices.map(told).join(" "));
    listen(() => store.running ?? refresh());
  } catch (error) {
    problem(error);
  }
}

start();
