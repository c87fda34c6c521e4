// The engine: thinks about the position that is shown while it is on and the
// page is seen. What it says comes over one request that lasts.

import { follow } from "./api.js";
import { by, el, fill, grouped } from "./dom.js";
import { lettered, t, told } from "./lang.js";
import { valueText } from "./signs.js";
import * as trees from "./tree.js";

/** Nobody is asked about positions that are only walked past, milliseconds. */
const PAUSE = 150;

/** White's share of the bar: what such a value has meant in games. */
const share = ({ cp, mate }) => (mate !== undefined ? (mate > 0 ? 1 : 0) : 1 / (1 + Math.exp(-0.0037 * cp)));

function remembered() {
  try { return Number(localStorage.getItem("engine-lines")) || 3; } catch { return 3; }
}

export class Engine {
  /** `play` takes several moves; `point` shows them on the board; `values` takes what moves are worth, by name. */
  constructor({ play, point, values }) {
    Object.assign(this, { play, point, values });
    this.on = false;
    this.asked = null;
    this.lines = by("engine-lines");
    this.lines.value = String(remembered());
    this.lines.addEventListener("change", () => {
      try { localStorage.setItem("engine-lines", this.lines.value); } catch { /* It is forgotten, then. */ }
      this.again();
    });
    // It says something new several times a second: what is listed changes, and is never made anew.
    this.drawn = [];
    this.list = by("engine-list");
    this.list.addEventListener("click", ({ target }) => this.pick(target, this.play));
    for (const kind of ["pointerover", "focusin"]) this.list.addEventListener(kind, ({ target }) => this.pick(target, (moves) => this.point(moves.map(({ uci }) => uci))));
    for (const kind of ["pointerleave", "focusout"]) this.list.addEventListener(kind, () => this.point(null));
    document.addEventListener("visibilitychange", () => this.again());
    addEventListener("pagehide", () => this.stop());
  }

  /** Whether there is an engine at all. */
  offer(name) {
    by("engine").hidden = by("menu-engine").hidden = !name;
    by("engine").title = t`${name} evaluates the position (L)`;
  }

  turn() {
    if (by("engine").hidden) return;
    this.on = !this.on;
    by("engine").setAttribute("aria-pressed", String(this.on));
    by("engine-pane").hidden = by("gauge").hidden = !this.on;
    by("side").classList.toggle("thinking", this.on);
    if (this.on) {
      // What it says is of no use without the board.
      for (const id of ["engine-pane", "board"]) by(id).scrollIntoView({ block: "nearest" });
    } else this.values(null);
    this.again();
  }

  again() {
    this.stop();
    if (this.state) this.show(this.state, this.view);
  }

  stop() {
    clearTimeout(this.timer);
    this.asked?.abort();
    this.asked = null;
    this.key = null;
  }

  /** The page shows another state. */
  show(state, view) {
    this.state = state;
    this.view = view;
    by("gauge").classList.toggle("flipped", state.flip);
    if (!this.on || document.hidden) return;
    const moves = [...new Set(view.books.flatMap((book) => book.moves.map((move) => move.uci)))];
    const body = { fen: state.tree.fen, play: trees.line(state.tree, state.at).join(","), lines: Number(this.lines.value), moves: moves.slice(0, 40) };
    const key = JSON.stringify(body);
    if (key === this.key) return;
    this.stop();
    this.key = key;
    this.said = null;
    by("engine-pane").style.setProperty("--lines", this.lines.value);
    if (view.end) { this.over(view.end); return; }
    this.draw(t("thinking…"));
    this.values(new Map());
    this.timer = setTimeout(() => this.ask(body), PAUSE);
  }

  async ask(body) {
    const asked = this.asked = new AbortController();
    try {
      await follow("/api/engine", body, (said) => asked === this.asked && this.hear(said), asked.signal);
    } catch (error) {
      if (asked !== this.asked) return;
      // Shown anew, such as when the program is back, it is asked again.
      this.key = null;
      this.draw(error.message);
    }
  }

  over(end) {
    this.values(new Map());
    this.draw(end === "checkmate" ? t("Checkmate.") : t("Stalemate."));
  }

  hear(said) {
    if (said.problem) { this.draw(t`The engine has stopped: ${told(said.problem)}.`); return; }
    this.said = said;
    this.values(new Map(said.moves.map((move) => [move.uci, move])));
    const speed = said.nodes_a_second ? `, ${grouped(Math.round(said.nodes_a_second / 1000))}\u202fkN/s` : "";
    this.draw(said.depth ? t`depth ${said.depth}` + `, ${said.engine}${speed}${said.done ? `, ${t("done")}` : ""}` : t("thinking…"));
  }

  draw(text) {
    const lines = this.said?.lines ?? [];
    by("engine-told").textContent = text;
    by("engine-told").title = text;
    const best = lines[0];
    by("engine-score").textContent = best ? valueText(best) : "–";
    const white = best ? share(best) : 0.5;
    by("gauge").firstElementChild.style.setProperty("--white", `${(100 * white).toFixed(1)}%`);
    by("gauge").setAttribute("aria-label", best ? t`Evaluation ${valueText(best)}` : t("No evaluation yet"));
    // Under a pointer or the focus nothing may change places.
    const { list } = this;
    const held = list.contains(document.activeElement) || list.matches(":hover");
    if (held && lines.length && lines.length === list.children.length && list.dataset.key === this.key) return;
    list.dataset.key = this.key;
    this.drawn = lines;
    fill(list, ...lines.map((line, index) => this.line(line, index)));
  }

  line(line, number) {
    return el("li", {},
      el("span", { class: "value", title: t`depth ${line.depth}` }, valueText(line)),
      ...line.moves.map((move, index) => el("button", {
        type: "button", class: "quiet", "data-uci": move.uci, "data-line": number, "data-index": index, "aria-label": index ? t`Play on to ${lettered(move.san)}` : t`Play ${lettered(move.san)}`,
      }, this.number(index) + lettered(move.san))));
  }

  /** Tells the moves of a line up to the one that is meant, if one is. */
  pick(target, tell) {
    const { line, index } = target.closest("button")?.dataset ?? {};
    if (line) tell(this.drawn[line].moves.slice(0, Number(index) + 1));
  }

  /** The number in front of a move of a line. */
  number(index) {
    const { turn, fullmove } = this.view;
    const ply = index + (turn === "white" ? 0 : 1);
    if (ply % 2 && index) return "";
    return `${fullmove + Math.floor(ply / 2)}${ply % 2 ? "…" : "."}`;
  }
}
