// Small graphics: marks, annotations, bars, values.

import { decimal, el, grouped, percent } from "./dom.js";
import { t } from "./lang.js";

/** The symbols of NAG numbers: for moves, then for positions. */
const SIGNS = {
  1: ["!", "good"],
  2: ["?", "mistake"],
  3: ["!!", "very good"],
  4: ["??", "blunder"],
  5: ["!?", "interesting"],
  6: ["?!", "dubious"],
  7: ["□", "forced"],
  10: ["=", "equal"],
  11: ["=", "equal, quiet"],
  12: ["=", "equal, active"],
  13: ["∞", "unclear"],
  14: ["+=", "White is slightly better"],
  15: ["=+", "Black is slightly better"],
  16: ["±", "White is better"],
  17: ["∓", "Black is better"],
  18: ["+−", "White is winning"],
  19: ["−+", "Black is winning"],
  22: ["⨀", "zugzwang"],
  32: ["⟳", "development"],
  36: ["↑", "initiative"],
  40: ["→", "attack"],
  44: ["=∞", "compensation"],
  132: ["⇆", "counterplay"],
  138: ["⊕", "time trouble"],
  140: ["∆", "with the idea"],
  146: ["N", "novelty"],
};

/** The annotations that can be chosen. */
export const OF_MOVES = [1, 2, 3, 4, 5, 6, 7];
export const OF_POSITIONS = [10, 13, 14, 15, 16, 17, 18, 19];

const signOf = (nag) => SIGNS[nag]?.[0] ?? `$${nag}`;

/** The annotations of a move of the tree. */
export const signs = ({ nags }) => nags.map((nag) => (nag < 10 ? "" : "\u202f") + signOf(nag)).join("");

/** Fills a selection list: none, one of these, or another present value. */
export function offer(list, nags, now) {
  const named = (nag) => (SIGNS[nag] ? `${signOf(nag)} ${t(SIGNS[nag][1])}` : signOf(nag));
  list.replaceChildren(
    ...[...new Set([0, ...nags, now])].map((nag) => el("option", { value: nag }, nag ? named(nag) : t("none"))),
  );
  list.value = String(now);
}

export function comment(nag) {
  if (!nag) return null;
  const meaning = SIGNS[nag] ? t(SIGNS[nag][1]) : t`commentary ${nag}`;
  return el("span", { class: "comment", title: meaning, role: "img", "aria-label": meaning }, signOf(nag));
}

export function markSign(mark) {
  if (mark === "main")
    return el(
      "span",
      { class: "mark main", title: t("Main move (green)"), role: "img", "aria-label": t("main move") },
      "✓",
    );
  if (mark === "avoid")
    return el(
      "span",
      { class: "mark avoid", title: t("Not in tournaments (red)"), role: "img", "aria-label": t("avoid") },
      "✕",
    );
  return el("span", { class: "mark", "aria-hidden": "true" });
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
