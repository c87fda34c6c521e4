// Panels beside the board.
//
// One column has the title, the line of moves, a row of tabs, the table of moves
// and below it the panel of the chosen tab:
//
//   Book    the plot, jumps to gaps, marks and differences, the books that are open
//   Games   those of the index that have the position, or those of a file; filters
//   Engine  its lines, and a game against it
//   Train   how and what to train; during training nothing else is shown
//   Choice  the options of the adapter, with chips for those that are set; the look
//
// The table stays whatever is chosen: it gets the room that the panel leaves, and
// each of the two scrolls by itself. With 1600 pixels line, tabs and panel have a column
// of their own, and the plot is below the board. An upright screen has the tabs below the line,
// then the panel, and the table as long as it is; the panel of the book comes last.
//
// A key chooses each tab; the same key again goes into its panel, and Escape comes
// back. Within the row of tabs the arrow keys go from one to the next. The choice is
// stored in the browser. A panel that is not shown asks the program nothing: it is
// notified when it is shown, and asks then. Only the engine works on, since its
// values are in the table.

import { by } from "./dom.js";
import { keep, stored } from "./lang.js";

const TABS = ["book", "games", "engine", "train", "choice"];

const tab = (name) => by(`${name}-tab`);

/** What a panel does when it is shown. */
const opened = new Map();

let current = null;

/** Whether the panel of a tab is shown. */
export const isShown = (name) => name === current;

/** Shows the panel of a tab; the book's where there is no such tab. */
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

/** Shows the panel of a tab, or goes into it when it is shown already. */
export function enter(name) {
  if (isShown(name)) by(`${name}-panel`).querySelector("input, select, button:not([hidden], :disabled)")?.focus();
  else choose(name);
}

/** The tab that was chosen last. */
export const restore = () => choose(stored("tab", TABS[0]));

/** Calls `shown` whenever the panel of a tab gets to be shown. */
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
