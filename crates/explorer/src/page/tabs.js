// Panels beside the board.
//
// One column has the title, the table of moves, a row of tabs and below it the panel of the chosen tab:
//
//   Moves   the notation, the plot, the open books
//   Games   those of the index with the shown position, or those of a file; filters
//   Engine  its lines, and a game against it
//   Work    what there is to do on the book, as a list
//   Train   how and what to train; during training nothing else is shown
//   Play    the options of the adapter, with chips for those that are set
//
// The table is always shown, and each of the two scrolls separately: at 1366 by 768 there are nine moves, and ten
// lines of notation or games. From 1600 pixels on the notation has a column beside the table, and the panel is below
// both. An upright or low screen has the notation as one row and the tabs below it, then the panel, and the table; the
// panel of the book comes last.
//
// Each tab has a key; the same key again moves the focus into its panel, and Escape moves it back. In the row
// of tabs the arrow keys go from one to the next. The choice is stored in the browser. A hidden panel sends
// no requests: it is notified when it is shown, and sends them then. Only the engine continues, because its
// values are in the table.

import { by } from "./dom.js";
import { keep, stored } from "./lang.js";

const TABS = ["book", "games", "engine", "work", "train", "choice"];

const tab = (name) => by(`${name}-tab`);

/** The action of each panel when it is shown. */
const opened = new Map();

let current = null;

/** Whether the panel of a tab is shown. */
export const isShown = (name) => name === current;

/** Shows the panel of a tab; that of the book if there is no such tab. */
export function choose(wanted) {
  const name = TABS.includes(wanted) && !tab(wanted).hidden ? wanted : TABS[0];
  if (name === current) return;
  current = name;
  for (const other of TABS) {
    const isChosen = other === name;
    tab(other).setAttribute("aria-selected", String(isChosen));
    tab(other).tabIndex = isChosen ? 0 : -1;
    by(`${other}-panel`).hidden = !isChosen;
  }
  document.documentElement.dataset.tab = name;
  keep("tab", name);
  opened.get(name)?.();
}

/** Shows the panel of a tab, or moves the focus into it if it is shown already. */
export function enter(name) {
  if (isShown(name)) by(`${name}-panel`).querySelector("input, select, button:not([hidden], :disabled)")?.focus();
  else choose(name);
}

/** Shows the last chosen tab. */
export const restore = () => choose(stored("tab", TABS[0]));

/** Calls `shown` each time the panel of a tab is shown. */
export const whenShown = (name, shown) => opened.set(name, shown);

export function listenToTabs() {
  by("tabs").addEventListener("click", ({ target }) => target.role === "tab" && choose(target.id.replace("-tab", "")));
  by("tabs").addEventListener("keydown", (event) => {
    const there = TABS.map(tab).filter((one) => !one.hidden);
    const at = there.indexOf(event.target);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: there.length - 1 }[event.key];
    if (next === undefined || at < 0) return;
    event.preventDefault();
    const to = there[(next + there.length) % there.length];
    to.click();
    to.focus();
  });
}
