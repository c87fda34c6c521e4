// Small graphics: marks, annotations, bars, values.

import { decimal, el, grouped, percent } from "./dom.js";
import { english, t, translated } from "./lang.js";

/** The symbols of NAG numbers: for moves, then for positions. */
const SIGNS = {
  1: ["!", english("good")],
  2: ["?", english("mistake")],
  3: ["!!", english("very good")],
  4: ["??", english("blunder")],
  5: ["!?", english("interesting")],
  6: ["?!", english("dubious")],
  7: ["□", english("forced")],
  10: ["=", english("equal")],
  11: ["=", english("equal, quiet")],
  12: ["=", english("equal, active")],
  13: ["∞", english("unclear")],
  14: ["+=", english("White is slightly better")],
  15: ["=+", english("Black is slightly better")],
  16: ["±", english("White is better")],
  17: ["∓", english("Black is better")],
  18: ["+−", english("White is winning")],
  19: ["−+", english("Black is winning")],
  22: ["⨀", english("zugzwang")],
  32: ["⟳", english("development")],
  36: ["↑", english("initiative")],
  40: ["→", english("attack")],
  44: ["=∞", english("compensation")],
  132: ["⇆", english("counterplay")],
  138: ["⊕", english("time trouble")],
  140: ["∆", english("with the idea")],
  146: ["N", english("novelty")],
};

/** The annotations that can be chosen. */
export const OF_MOVES = [1, 2, 3, 4, 5, 6, 7];
export const OF_POSITIONS = [10, 13, 14, 15, 16, 17, 18, 19];

const signOf = (nag) => SIGNS[nag]?.[0] ?? `$${nag}`;

/** The annotations of a move of the tree. */
export const signs = ({ nags }) => nags.map((nag) => (nag < 10 ? "" : "\u202f") + signOf(nag)).join("");

/** Fills a selection list: none, one of these, or another present value. */
export function offer(list, nags, now) {
  const named = (nag) => (SIGNS[nag] ? `${signOf(nag)} ${translated(SIGNS[nag][1])}` : signOf(nag));
  list.replaceChildren(
    ...[...new Set([0, ...nags, now])].map((nag) => el("option", { value: nag }, nag ? named(nag) : t("none"))),
  );
  list.value = String(now);
}

export function comment(nag) {
  if (!nag) return null;
  const meaning = SIGNS[nag] ? translated(SIGNS[nag][1]) : t`commentary ${nag}`;
  return el("span", { class: "comment", title: meaning, role: "img", "aria-label": meaning }, signOf(nag));
}

/** Marks: sign, meaning, name. */
const MARK_SIGNS = {
  main: ["✓", english("Main move (green)"), english("main move")],
  avoid: ["✕", english("Not in tournaments (red)"), english("avoid")],
};

export function markSign(mark) {
  const [sign, ...texts] = MARK_SIGNS[mark] ?? [];
  if (!sign) return el("span", { class: "mark", "aria-hidden": "true" });
  const [title, label] = texts.map(translated);
  return el("span", { class: `mark ${mark}`, title, role: "img", "aria-label": label }, sign);
}

/** A bar of wins, draws and losses, White's wins first. */
export function results({ white, draws, black }) {
  const all = white === null ? 0 : white + draws + black;
  if (all === 0) return el("div", { class: "bar none" }, white === null ? "" : t("no results"));
  const parts = [
    ["w", white],
    ["d", draws],
    ["b", black],
  ].filter(([, count]) => count > 0);
  const label = t`White ${percent(white / all, 0)}, draws ${percent(draws / all, 0)}, Black ${percent(black / all, 0)}`;
  return el(
    "div",
    {
      class: "bar",
      role: "img",
      "aria-label": label,
      title: `${label} (${grouped(white)} · ${grouped(draws)} · ${grouped(black)})`,
    },
    ...parts.map(([name, count]) => {
      const part = el("span", { class: name }, String(Math.round((100 * count) / all)));
      part.style.flexGrow = String(count / all);
      return part;
    }),
  );
}

export const signed = (number) => (number > 0 ? `+${number}` : String(number).replace("-", "−"));

/** A value for White: pawns, or moves to mate. */
export function valueText({ cp, mate }) {
  const sign = (number) => (number > 0 ? "+" : number < 0 ? "−" : "");
  if (mate !== undefined) return `#${mate < 0 ? "−" : ""}${Math.abs(mate)}`;
  return sign(cp) + decimal(Math.abs(cp) / 100, 2);
}
