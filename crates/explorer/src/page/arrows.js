// Arrows and circles on the board: of the book, of the move under the pointer, drawn by the user.

import { fill, svg } from "./dom.js";

export class Arrows {
  /** `centre` returns the middle of a square, in squares. */
  constructor(centre) {
    this.centre = centre;
    this.likely = svg("g", { class: "likely" });
    this.best = svg("g", { class: "best" });
    this.noted = svg("g", { class: "noted" });
    this.drawn = svg("g", { class: "own" });
    this.pointed = svg("g", { class: "pointed" });
    this.layer = svg(
      "svg",
      { class: "overlay", viewBox: "0 0 8 8", "aria-hidden": "true" },
      this.likely,
      this.best,
      this.noted,
      this.drawn,
      this.pointed,
    );
  }

  arrow(from, to, width) {
    const [x1, y1] = this.centre(from),
      [x2, y2] = this.centre(to);
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [half, wide] = [width / 2, 0.12 + width * 0.75];
    // From the start along one side, around the point, and back.
    const at = (along, aside) =>
      [x1 + dx * along - dy * aside, y1 + dy * along + dx * aside].map((x) => x.toFixed(3)).join();
    const neck = length - 0.4;
    const shape = [at(0.36, half), at(neck, half), at(neck, wide), at(length - 0.06, 0)];
    shape.push(at(neck, -wide), at(neck, -half), at(0.36, -half));
    return svg("g", { "data-arrow": from + to }, svg("polygon", { points: shape.join(" ") }));
  }

  /**
   * Shows the book's likeliest moves: the likelier, the wider. A red move has its colour; neither it nor a move that the
   * book does not have but that leads into it is wide.
   */
  book(moves) {
    const shown = moves
      .filter((move) => move.probability >= 0.08)
      .sort((a, b) => b.probability - a.probability)
      .slice(0, 4);
    fill(
      this.likely,
      ...shown.map(({ uci, probability, mark, transposition }) => {
        const isThin = transposition || mark === "avoid";
        const arrow = this.arrow(uci.slice(0, 2), uci.slice(2, 4), isThin ? 0.05 : 0.05 + 0.13 * probability);
        arrow.classList.add(transposition ? "transposition" : mark);
        return arrow;
      }),
    );
  }

  /** Shows the engine's best move; nothing for null. */
  engine(uci) {
    fill(this.best, ...(uci ? [this.arrow(uci.slice(0, 2), uci.slice(2, 4), 0.1)] : []));
  }

  /** Shows the move under the pointer; nothing for null. */
  point(uci) {
    fill(this.pointed, ...(uci && uci !== "0000" ? [this.arrow(uci.slice(0, 2), uci.slice(2, 4), 0.15)] : []));
    this.likely.classList.toggle("faint", Boolean(uci));
  }

  /** Shows several successive moves; the last has the strongest colour. */
  line(moves) {
    if (!moves) {
      this.point(null);
      return;
    }
    const last = moves.length - 1;
    const shown = moves
      .map((uci, index) => [uci, index])
      .filter(([uci, index]) => index > last - 4 && uci.slice(0, 2) !== uci.slice(2, 4));
    fill(
      this.pointed,
      ...shown.map(([uci, index]) => {
        const arrow = this.arrow(uci.slice(0, 2), uci.slice(2, 4), index === last ? 0.16 : 0.08);
        if (index !== last) arrow.setAttribute("opacity", "0.6");
        return arrow;
      }),
    );
    this.likely.classList.add("faint");
  }

  /** Adds or removes an arrow or a circle of the user. */
  toggle(from, to) {
    const known = this.drawn.querySelector(`[data-arrow="${from}${to}"]`);
    if (known) {
      known.remove();
      return;
    }
    this.drawn.append(this.shape(from, to));
  }

  /** An arrow, or a circle around one square. */
  shape(from, to = from) {
    if (from !== to) return this.arrow(from, to, 0.15);
    const [x, y] = this.centre(from);
    return svg("circle", { cx: x, cy: y, r: 0.44, "data-arrow": from + to });
  }

  /** Shows the arrows and squares of the comment on the shown position, each in its colour. */
  notes(places) {
    fill(this.noted, ...places.map(({ colour, squares }) => svg("g", { class: colour }, this.shape(...squares))));
  }

  forget() {
    this.drawn.replaceChildren();
  }

  clear() {
    this.forget();
    this.likely.replaceChildren();
    this.best.replaceChildren();
    this.point(null);
  }
}
