// The page: what it shows is in the address; everything else follows from it.

import { get, post } from "./api.js";
import { Board } from "./board.js";
import { BookWindow } from "./book.js";
import { by, el, isTyping, say } from "./dom.js";
import { EditDialog } from "./edit.js";
import { draw } from "./plot.js";
import { Policy } from "./policy.js";

/** What the address says: start, line, how far it has been walked, books, options. */
let state = fromAddress();
/** The answer that is shown. */
let view = null;
let options = [];
let request = null;

const board = new Board(play);
const books = new BookWindow({ play, point: (uci) => board.point(uci), edit: openEdit, undo });
const editor = new EditDialog(change);
let policy;

function fromAddress() {
  const query = new URLSearchParams(location.search);
  const line = (query.get("play") ?? "").split(/[ ,]+/).filter(Boolean);
  const set = {};
  for (const [name, value] of query) if (/^book /i.test(name)) set[name] = value;
  return {
    fen: query.get("fen"),
    line,
    at: Math.min(Number(query.get("at") ?? line.length) || 0, line.length),
    books: (query.get("books") ?? "0").split(",").map(Number).filter(Number.isInteger),
    flip: query.has("flip"),
    set,
  };
}

function parameters() {
  const query = new URLSearchParams();
  if (state.fen) query.set("fen", state.fen);
  if (state.line.length) query.set("play", state.line.join(","));
  if (state.at < state.line.length) query.set("at", state.at);
  if (state.books.join() !== "0") query.set("books", state.books.join());
  for (const [name, value] of Object.entries(state.set)) query.set(name, value);
  return query;
}

function address() {
  const query = parameters();
  if (state.flip) query.set("flip", "1");
  const text = String(query).replaceAll("%2C", ",");
  return text ? `/?${text}` : "/";
}

/** Goes on to another state; `keep` replaces the entry in the browser's history. */
function go(next, keep = false) {
  Object.assign(state, next);
  history[keep ? "replaceState" : "pushState"](null, "", address());
  return load();
}

async function load() {
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  board.flip(state.flip);
  try {
    const answer = await get("/api/position", parameters(), signal);
    view = answer;
    show();
    performance.mark("shown");
    const query = parameters();
    query.set("play", state.line.slice(0, state.at).join(","));
    query.set("book", state.books[0]);
    const line = await get("/api/line", query, signal);
    draw(line.points, state.at, (index) => {
      const walked = line.points.slice(1, Math.max(index, state.at) + 1).map((point) => point.uci);
      const longer = index > state.at ? { line: walked, at: index } : { at: index };
      go(longer);
    });
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    if (error.name !== "AbortError") say(error.message, true);
  }
}

function show() {
  say("");
  board.show(view);
  books.show(view);
  policy?.show(view.options);
  showOpening();
  showLine();
  by("back").disabled = by("to-start").disabled = state.at === 0;
  by("to-end").disabled = state.at === state.line.length;
  by("forward").disabled = state.at === state.line.length && !books.likeliest();
  by("legal").replaceChildren(...view.legal.map((move) => el("option", { value: move.san })));
}

function showOpening() {
  const { opening } = view;
  by("opening").replaceChildren(...(opening ? [el("abbr", { title: "Encyclopaedia of Chess Openings" }, opening.eco), ` ${opening.name}`] : []));
  document.title = opening ? `${opening.eco} ${opening.name} – Tabia` : "Tabia";
}

function showLine() {
  const start = view.start?.split(" ") ?? [];
  const black = start[1] === "b" ? 1 : 0;
  const first = Number(start[5] ?? 1) || 1;
  const items = view.line.map((move, index) => {
    const ply = index + black;
    const number = first + Math.floor(ply / 2);
    const shown = ply % 2 === 0 ? `${number}.` : index === 0 ? `${number}…` : "";
    return el("li", {}, shown ? el("span", { class: "number" }, shown) : null, el("button", {
      type: "button", class: index >= state.at ? "later" : "", "aria-current": index + 1 === state.at ? "step" : null,
      onclick: () => go({ at: index + 1 }),
    }, move.san));
  });
  if (items.length === 0) items.push(el("li", { class: "hint" }, state.fen ? "No move yet." : "The first position. Play a move, or choose one of the book."));
  by("line").replaceChildren(...items);
  const now = by("line").querySelector("[aria-current]");
  if (now) by("line").scrollTop = Math.max(0, now.offsetTop - by("line").clientHeight / 2);
}

function play(uci) {
  // An answer that is not here yet: what is on the board is not what was meant.
  if (!view.legal.some((move) => move.uci === uci)) return;
  const walked = state.line.slice(0, state.at);
  const known = state.line[state.at] === uci;
  go({ line: known ? state.line : [...walked, uci], at: state.at + 1 });
}

function forward() {
  if (state.at < state.line.length) go({ at: state.at + 1 });
  else if (view && books.likeliest()) play(books.likeliest());
}

const back = () => state.at > 0 && go({ at: state.at - 1 });

async function typed(text) {
  const plain = (san) => san.replace(/[+#x=-]/g, "").replaceAll("0", "O").toLowerCase();
  const exact = view.legal.filter((move) => move.san === text || move.uci === text.toLowerCase());
  // "bc4" may be a pawn's or a bishop's: the case decides first.
  const near = view.legal.filter((move) => move.san.replace(/[+#x]/g, "") === text.replace(/[+#x]/g, ""));
  const loose = view.legal.filter((move) => plain(move.san) === plain(text));
  const found = [exact, near, loose].find((list) => list.length > 0) ?? [];
  if (found.length > 1) return say(`${text} can mean several moves`, true);
  if (found.length === 1) {
    by("move").value = "";
    return play(found[0].uci);
  }
  // Other notations, and several moves: the program reads them all.
  const walked = state.line.slice(0, state.at);
  const line = await post("/api/read", { text: `${view.fen} moves ${text}` });
  by("move").value = "";
  await go({ line: [...walked, ...line.play], at: walked.length + line.play.length });
}

async function loadText(text) {
  const line = await post("/api/read", { text });
  await go({ fen: line.fen, line: line.play, at: line.play.length });
}

function set(name, value) {
  const known = options.find((option) => option.name === name);
  if (name === "Book Preset") {
    // A preset stands for several options: what was set by hand makes way.
    state.set = value === "Custom" ? state.set : { [name]: value };
  } else {
    if (state.set["Book Preset"]) {
      // Changing one of a preset's options keeps the others as they are shown.
      state.set = Object.fromEntries(view.options.filter(({ name: other, value: now }) =>
        other !== "Book Preset" && now !== options.find((option) => option.name === other).default).map((option) => [option.name, option.value]));
    }
    state.set[name] = value;
    if (value === known.default) delete state.set[name];
  }
  go({}, true);
}

async function change(book, uci, what, value) {
  const play = state.line.slice(0, state.at).join(",");
  const done = await post("/api/edit", { book, fen: state.fen, play, uci, change: what, value });
  await load();
  say(`Saved: ${done.last_change}`);
}

async function undo(book) {
  try {
    const done = await post("/api/undo", { book });
    await load();
    say(done.taken_back ? `Taken back: ${done.taken_back}` : "There is nothing to take back.");
  } catch (error) {
    say(error.message, true);
  }
}

function openEdit(book, move) {
  editor.open(book, move, () => books.button(String(book.book), move.uci)?.focus());
}

function chooseBooks(list) {
  const fill = (select, chosen, none) => select.replaceChildren(
    ...(none ? [el("option", { value: "" }, "no other")] : []),
    ...list.map((book, index) => el("option", { value: index, selected: index === chosen }, book.name)));
  fill(by("first-book"), state.books[0]);
  fill(by("second-book"), state.books[1], true);
  by("second-choice").hidden = list.length < 2;
  const chosen = () => {
    const second = by("second-book").value;
    const numbers = [Number(by("first-book").value)];
    if (second !== "" && Number(second) !== numbers[0]) numbers.push(Number(second));
    go({ books: numbers });
  };
  by("first-book").addEventListener("change", chosen);
  by("second-book").addEventListener("change", chosen);
}

const THEMES = ["auto", "light", "dark"];

function theme(name) {
  document.documentElement.dataset.theme = name;
  by("theme").textContent = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[name];
  try { localStorage.setItem("theme", name); } catch { /* It is forgotten, then. */ }
}

function nextTheme() {
  theme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

async function copyFen() {
  try {
    await navigator.clipboard.writeText(view.fen);
    say("The FEN is copied.");
  } catch {
    say(view.fen);
  }
}

function openPaste() {
  by("paste-error").textContent = "";
  by("paste-dialog").showModal();
  by("paste-text").select();
}

const flip = () => go({ flip: !state.flip }, true);

const KEYS = {
  ArrowLeft: back, ArrowRight: forward, ArrowUp: () => books.step(-1), ArrowDown: () => books.step(1),
  Home: () => go({ at: 0 }), End: () => go({ at: state.line.length }),
  f: flip, v: openPaste, c: copyFen, t: nextTheme, e: () => books.editChosen(),
  m: () => by("move").focus(), "?": () => by("help-dialog").showModal(),
};

function listen() {
  addEventListener("popstate", () => { state = fromAddress(); load(); });
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isTyping(event.target) || event.altKey || event.metaKey) return;
    if (event.ctrlKey) {
      if (event.key !== "z") return;
      event.preventDefault();
      const book = view?.books.find((book) => book.editable && book.undo > 0);
      if (book) undo(book.book);
      return;
    }
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  addEventListener("paste", (event) => {
    if (isTyping(event.target)) return;
    const text = event.clipboardData?.getData("text/plain");
    if (text) loadText(text).catch((error) => say(error.message, true));
  });
  const buttons = {
    back, forward, "to-start": KEYS.Home, "to-end": KEYS.End, flip, paste: openPaste, copy: copyFen,
    theme: nextTheme, "show-help": KEYS["?"], reset: () => { state.set = {}; go({}, true); },
  };
  for (const [id, action] of Object.entries(buttons)) by(id).addEventListener("click", () => action());
  by("move-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = by("move").value.trim();
    if (text && view) typed(text).catch((error) => say(error.message, true));
  });
  by("move").addEventListener("keydown", (event) => event.key === "Escape" && by("move").blur());
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

async function begin() {
  let kept = "auto";
  try { kept = localStorage.getItem("theme") ?? "auto"; } catch { /* Then as the system has it. */ }
  theme(THEMES.includes(kept) ? kept : "auto");
  listen();
  const loaded = load();
  try {
    const start = await get("/api/start");
    options = start.options;
    policy = new Policy(options, set);
    chooseBooks(start.books);
    if (view) policy.show(view.options);
    const notices = start.books.flatMap((book) => book.notices);
    await loaded;
    if (notices.length) say(notices.join(" "));
  } catch (error) {
    say(error.message, true);
  }
}

begin();
