// The address and the browser's history contain all that the page shows.

import * as trees from "./tree.js";

// Browsers accept a hundred changes of the history in half a minute: this number is written at once, then one
// more after each of these intervals in milliseconds.
const AT_ONCE = 20,
  PACE = 400;

/** Parameters of the filter for games of an index. */
const FILTERS = ["player", "color", "speeds", "ratings", "result", "since", "until"];

/** Reads an address; its moves are still words. */
export function read(search) {
  const query = new URLSearchParams(search);
  const words = (query.get("play") ?? "").split(/[ ,]+/).filter(Boolean);
  const set = {},
    filter = Object.fromEntries([...query].filter(([name, value]) => value && FILTERS.includes(name)));
  for (const [name, value] of query) if (/^book /i.test(name)) set[name] = value;
  return {
    fen: query.get("fen"),
    words,
    at: query.get("at"),
    books: query.get("books"),
    closed: query.get("closed") ?? "",
    flip: query.has("flip"),
    set,
    filter,
  };
}

/** The state for this address and its answer. */
export function stateOf(view) {
  const asked = read(location.search);
  const [tree, tail] = trees.fromMoves(view.start, view.line);
  const at = trees.path(tree, tail)[view.at - 1] ?? 0;
  const books = asked.books ? view.books.map((book) => book.name).join("/") : "";
  const { set, filter } = view.problem ? { set: {}, filter: {} } : asked;
  const closed = asked.closed
    .split("/")
    .filter((name) => !view.books.some((book) => book.name === name))
    .join("/");
  return { tree, at, tail, books, closed, set, filter, flip: asked.flip };
}

/** The parameters of a request about a state. */
export function parameters({ tree, at, books, set, filter = {} }) {
  const query = new URLSearchParams();
  if (tree.fen) query.set("fen", tree.fen);
  const play = trees.line(tree, at);
  if (play.length) query.set("play", play.join(","));
  if (books) query.set("books", books);
  for (const [name, value] of Object.entries({ ...set, ...filter })) query.set(name, value);
  return query;
}

/** The address that leads to a state. */
export function address(state) {
  const query = parameters(state);
  const play = trees.line(state.tree, state.tail);
  if (play.length) query.set("play", play.join(","));
  const depth = trees.path(state.tree, state.at).length;
  if (depth < play.length) query.set("at", String(depth));
  if (state.closed) query.set("closed", state.closed);
  if (state.flip) query.set("flip", "1");
  const text = String(query).replaceAll("%2C", ",");
  return text ? `${location.pathname}?${text}` : location.pathname;
}

let last = "load",
  spare = AT_ONCE,
  counted = 0,
  timer = 0,
  waiting = null;

/** Writes a state to the history. Steps along a line share one entry. */
export function note(state, how) {
  clearTimeout(timer);
  if (how === "pop") {
    last = how;
    return;
  }
  const data = { ...state, tree: trees.pack(state.tree) };
  const replaces = how === "keep" || (how === "walk" && last === "walk");
  if (how !== "keep") last = how;
  if (!replaces) waiting?.();
  const write = () => {
    spare -= 1;
    waiting = null;
    history[replaces ? "replaceState" : "pushState"](data, "", address(state));
  };
  const now = performance.now();
  spare = Math.min(AT_ONCE, spare + (now - counted) / PACE);
  counted = now;
  if (replaces && spare < 1) timer = setTimeout((waiting = write), PACE);
  else write();
}

/** The state in an entry of the history, if this page made it. */
export const recall = (data) => (data?.tree ? { ...data, tree: trees.unpack(data.tree) } : null);

// A pending change belongs to the entry that was left.
addEventListener("popstate", () => {
  clearTimeout(timer);
  waiting = null;
});

// Written now: a browser that starts another process for a reload loses the entry's state.
addEventListener("pagehide", () => {
  waiting?.();
  try {
    sessionStorage.setItem("left", JSON.stringify(history.state));
  } catch {
    /* The address still contains the line. */
  }
});

/** The last state of this entry, if it is opened again. */
export function left() {
  const { state } = history,
    again = performance.getEntriesByType("navigation")[0]?.type === "reload";
  try {
    return recall(state ?? (again ? JSON.parse(sessionStorage.getItem("left")) : null));
  } catch {
    return null;
  }
}
