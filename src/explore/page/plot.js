// The plot: games (bars, by tenfolds) and White's score (line) along the main line.

import { by, el, grouped, percent, svg } from "./dom.js";

const WIDE = 640, HIGH = 190, LEFT = 44, RIGHT = 40, TOP = 12, BOTTOM = 26;

/** Draws the points; `jump` is called with the index of a point that is clicked. */
export function draw(points, at, jump) {
  const place = by("plot");
  const inBook = points.filter((point) => point.games > 0);
  if (inBook.length === 0) {
    place.replaceChildren(el("p", { class: "notice" }, "The book says nothing about this line."));
    return;
  }
  const last = inBook[inBook.length - 1];
  const most = Math.max(1, Math.ceil(Math.log10(Math.max(...points.map((point) => point.games)) + 1)));
  const step = (WIDE - LEFT - RIGHT) / Math.max(points.length, 12);
  const x = (index) => LEFT + step * (index + 0.5);
  const floor = HIGH - BOTTOM;
  const yGames = (games) => floor - (floor - TOP) * (Math.log10(games + 1) / most);
  const yScore = (score) => floor - (floor - TOP) * score;
  const end = `${Math.ceil(last.ply / 2)} moves deep`;
  const summary = `The main line is ${end}: ${grouped(inBook[0].games)} games at its start, ${grouped(last.games)} at its end.`;
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": summary });
  for (let power = 0; power <= most; power += 1) {
    const y = yGames(10 ** power - 1);
    picture.append(svg("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y, y2: y }));
    if (power < most || power === 1) picture.append(svg("text", { class: "axis", x: LEFT - 6, y: y + 4, "text-anchor": "end" }, power === 0 ? "0" : short(10 ** power)));
  }
  for (const share of [0, 0.5, 1]) {
    picture.append(svg("text", { class: "axis", x: WIDE - RIGHT + 6, y: yScore(share) + 4 }, `${100 * share}%`));
  }
  picture.append(svg("line", { class: "half", x1: LEFT, x2: WIDE - RIGHT, y1: yScore(0.5), y2: yScore(0.5) }));
  points.forEach((point, index) => {
    const y = yGames(point.games);
    picture.append(svg("rect", {
      class: `games ${point.walked ? "walked" : ""}`, x: x(index) - step * 0.38, width: step * 0.76, y, height: Math.max(floor - y, 0),
    }));
  });
  let path = "";
  points.forEach((point, index) => {
    if (point.score === null) return;
    path += `${path ? "L" : "M"}${x(index).toFixed(1)} ${yScore(point.score).toFixed(1)}`;
  });
  picture.append(svg("path", { class: "score", d: path }));
  if (at < points.length) picture.append(svg("line", { class: "here", x1: x(at), x2: x(at), y1: TOP - 4, y2: floor }));
  const every = Math.max(1, Math.ceil(points.length / 24)) * 2;
  points.forEach((point, index) => {
    if (point.ply % every === 1 || (every === 2 && point.ply % 2 === 1)) {
      picture.append(svg("text", { class: "axis", x: x(index), y: HIGH - 8, "text-anchor": "middle" }, String((point.ply + 1) / 2)));
    }
    const spot = svg("rect", { class: "spot", x: x(index) - step / 2, width: step, y: 0, height: HIGH, "data-ply": point.ply },
      svg("title", {}, describe(point)));
    spot.addEventListener("click", () => jump(index));
    picture.append(spot);
  });
  place.replaceChildren(picture, el("p", { class: "hint" }, summary));
}

function describe(point) {
  const number = Math.ceil(point.ply / 2);
  const move = point.san ? `${number}${point.ply % 2 ? "." : "…"} ${point.san}` : "Start";
  const score = point.score === null ? "" : `, White scores ${percent(point.score)}`;
  return `${move}: ${grouped(point.games)} games${score}`;
}

function short(number) {
  if (number >= 1e6) return `${number / 1e6}M`;
  return number >= 1e3 ? `${number / 1e3}k` : String(number);
}
