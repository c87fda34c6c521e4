// Appearance and language of the page, stored in the browser.

import { by, el } from "./dom.js";
import { COLUMNS } from "./columns.js";
import { LANGUAGES, chosen, english, keep, stored, translated } from "./lang.js";

const CHOICES = {
  language: LANGUAGES,
  letters: { language: english("as the language"), en: english("English"), figurines: english("♘ figurines") },
  board: {
    green: english("green"),
    brown: english("brown"),
    blue: english("blue"),
    grey: english("grey"),
    sand: english("sand"),
    violet: english("violet"),
  },
  pieces: {
    round: english("round"),
    drawn: english("drawn"),
    angular: english("angular"),
    flat: english("flat"),
    strong: english("strong"),
  },
  keys: { on: english("on"), off: english("off") },
  theme: { auto: english("as the system"), light: english("light"), dark: english("dark") },
};

/** Switches to the next theme: light, dark, or the system's. */
export function nextTheme() {
  const list = by("set-theme");
  list.selectedIndex = (list.selectedIndex + 1) % list.options.length;
  list.dispatchEvent(new Event("change"));
}

/** Piece sets with their own drawings, the default first; the other sets are recoloured versions of the second. */
const SETS = ["round", "drawn", "angular"];

/** Applies the chosen theme, board and pieces before anything is shown. */
export function applyAppearance() {
  for (const name of ["board", "pieces", "theme"]) {
    const value = stored(name, "");
    if (value in CHOICES[name]) document.documentElement.dataset[name] = value;
  }
  const { dataset } = document.documentElement;
  const { pieces = SETS[0] } = dataset;
  dataset.set = SETS.includes(pieces) ? pieces : SETS[1];
  for (const use of document.querySelectorAll(".piece use"))
    use.setAttribute("href", use.getAttribute("href").replace(/#\w+/, `#${dataset.set}`));
}

/** Fills the selection lists and the help. */
export function prepare() {
  by("help-columns").replaceChildren(
    ...COLUMNS.filter(([, help]) => help).flatMap(([name, help]) => [
      el("dt", {}, translated(name)),
      el("dd", {}, translated(help)),
    ]),
  );
  for (const [name, values] of Object.entries(CHOICES)) {
    const list = by(`set-${name}`);
    list.replaceChildren(
      ...Object.entries(values).map(([value, text]) =>
        el("option", { value }, name === "language" ? text : translated(text)),
      ),
    );
    list.value = name === "language" ? chosen() : stored(name, Object.keys(values)[0]);
    list.addEventListener("change", () => {
      keep(name, list.value);
      // After the reload, the history entry restores the state.
      if (name === "language" || name === "letters") location.reload();
      else applyAppearance();
    });
  }
}
