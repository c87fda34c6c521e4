// The number of games (bars, logarithmic) and White's score (line) along the main line: from the engine in
// evaluated positions, or the values in a game's comments, else from the games. The axes show the score, 0 to 1, and the move numbers.

import { by, el, fill, grouped, percent, svg } from "./dom.js";
import { lettered, t } from "./lang.js";

const WIDE = 560,
  HIGH = 64,
  BOTTOM = 1,
  TOP = 3;

/** Calls `jump` with the index of a clicked point. */
export function listenToPlot(jump) {
  by("plot").addEventListener("click", ({ target }) => target.matches(".spot") && jump(Number(target.dataset.index)));
}

/** Draws the points; `values` are White's shares by the engine, null if not evaluated. */
export function draw(points, at, values) {
  const place = by("plot");
  const inBook = points.filter((point) => point.in_book);
  if (inBook.length === 0 && values.every((value) => value === null)) {
    fill(place, el("p", { class: "notice" }, t("This line is not in the book.")));
    return;
  }
  const known = points.some((point) => point.games !== null);
  const last = inBook.at(-1);
  const most = Math.log10(Math.max(...points.map((point) => point.games ?? 0)) + 1);
  const step = WIDE / Math.max(points.length, 20);
  const x = (index) => step * (index + 0.5);
  const floor = HIGH - BOTTOM;
  // If the book has no numbers of games, a bar only shows that it has the position.
  const height = (point) =>
    !point.in_book ? 0 : (floor - TOP) * (known ? Math.log10((point.games ?? 0) + 1) / most : 0.35);
  const yScore = (score) => floor - (floor - TOP) * score;
  const deep = last && Math.ceil(last.ply / 2);
  const summary = !last
    ? t("This line is not in the book.")
    : known
      ? t`Main line ${deep} moves deep: ${grouped(inBook[0].games ?? 0)} games at its start, ${grouped(last.games ?? 0)} at its end.`
      : t`Main line ${deep} moves deep. This book counts no games.`;
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    role: "img",
    "aria-label": summary,
    preserveAspectRatio: "none",
  });
  picture.append(svg("line", { class: "half", x1: 0, x2: WIDE, y1: yScore(0.5), y2: yScore(0.5) }));
  points.forEach((point, index) => {
    const high = Math.max(height(point), 0);
    picture.append(
      svg("rect", {
        class: `games ${index <= at ? "walked" : ""}`,
        x: x(index) - step * 0.4,
        width: step * 0.8,
        y: floor - high,
        height: high,
      }),
    );
  });
  let path = "";
  points.forEach((point, index) => {
    const score = values[index] ?? point.score;
    if (score !== null) path += `${path ? "L" : "M"}${x(index).toFixed(1)} ${yScore(score).toFixed(1)}`;
  });
  picture.append(svg("path", { class: "score", d: path }));
  values.forEach((value, index) => {
    if (value === null) return;
    const [x1, x2, y] = [x(index) - step * 0.45, x(index) + step * 0.45, yScore(value)];
    picture.append(svg("line", { class: "value", x1, x2, y1: y, y2: y }));
  });
  if (at < points.length) picture.append(svg("line", { class: "here", x1: x(at), x2: x(at), y1: 0, y2: floor }));
  points.forEach((point, index) => {
    const spot = svg(
      "rect",
      {
        class: "spot",
        x: x(index) - step / 2,
        width: step,
        y: 0,
        height: HIGH,
        "data-ply": point.ply,
        "data-index": index,
      },
      svg("title", {}, describe(point)),
    );
    picture.append(spot);
  });
  const scores = ["1", "½", "0"].map((text) => el("span", {}, text));
  // Every fifth move has its number, before White's move.
  const moves = points
    .map(({ ply }, index) => [index, (ply + 1) / 2])
    .filter(([, number]) => number % 5 === 0)
    .map(([index, number]) => {
      const label = el("span", {}, String(number));
      label.style.left = `${(100 * x(index)) / WIDE}%`;
      return label;
    });
  fill(
    place,
    el("div", { class: "scores", "aria-hidden": "true" }, ...scores),
    picture,
    el("div", { class: "moves", "aria-hidden": "true" }, ...moves),
    el("p", { class: "hint" }, summary),
  );
}

function describe(point) {
  const number = Math.ceil(point.ply / 2);
  const move = point.san ? `${number}${point.ply % 2 ? "." : "…"} ${lettered(point.san)}` : t("Start");
  const games =
    point.games === null ? (point.in_book ? t("in the book") : t("not in the book")) : t`${grouped(point.games)} games`;
  return `${move}: ${games}${point.score === null ? "" : t`, White scores ${percent(point.score)}`}`;
}
