// The engine: searches the shown position while it is on and the page is visible. Its reports arrive as the
// answer to one long request.

import { follow } from "./api.js";
import { by, el, fill, grouped, item } from "./dom.js";
import { keep, stored, lettered, t, translated } from "./lang.js";
import { valueText } from "./icons.js";
import * as tabs from "./tabs.js";
import { put } from "./transport.js";
import * as trees from "./tree.js";

/** Delay in milliseconds before a position is searched, so that stepping past it sends no request. */
const PAUSE = 150;

/**
 * White's share of the bar: the expected score for this value.
 * @type {(value: { cp?: any, mate?: any }) => number}
 */
export const share = ({ cp, mate }) => (mate !== undefined ? (mate > 0 ? 1 : 0) : 1 / (1 + Math.exp(-0.0037 * cp)));

/** Whether the engine is on after a reload of this tab; sets it if there is a value. New tabs do not copy it. */
function stays(on = undefined) {
  try {
    if (on !== undefined) sessionStorage.setItem("engine", String(on));
    return sessionStorage.getItem("engine") === "true";
  } catch {
    return false;
  }
}

/** The key of an evaluated state. */
const keyOf = ({ fen }, moves) => `${fen ?? ""} ${moves.join(",")}`;

export class Engine {
  play;
  point;
  values;
  best;
  valued;

  /** `play` takes several moves; `point` shows them on the board; `values` gets the values of moves by name; `best` the best move; `valued` is called when a position has a value. */
  constructor({ play, point, values, best, valued }) {
    Object.assign(this, { play, point, values, best, valued });
    this.on = false;
    this.asked = null;
    this.lines = by("engine-lines");
    this.lines.value = stored("engine-lines", "3");
    this.lines.addEventListener("change", () => {
      keep("engine-lines", this.lines.value);
      this.again();
    });
    /** Values found since the page was opened. */
    this.found = new Map();
    // All pages share one engine: a page that no longer needs it notifies the others.
    this.others = new BroadcastChannel("engine");
    this.isTaken = false;
    this.others.addEventListener("message", () => this.takeBack());
    addEventListener("focus", () => this.takeBack());
    // Reports come several times a second: elements of the list are changed, never replaced.
    this.drawn = [];
    this.list = by("engine-list");
    /** The best line alone, beside the board. */
    this.first = by("engine-line");
    for (const place of [this.list, this.first]) {
      place.addEventListener("click", ({ target }) =>
        target.closest(".again") ? this.again() : this.pick(target, this.play),
      );
      for (const kind of ["pointerover", "focusin"])
        place.addEventListener(kind, ({ target }) =>
          this.pick(target, (moves) => this.point(moves.map(({ uci }) => uci))),
        );
      for (const kind of ["pointerleave", "focusout"]) place.addEventListener(kind, () => this.point(null));
    }
    document.addEventListener("visibilitychange", () => (document.hidden ? this.leave() : this.again()));
    addEventListener("pagehide", () => this.leave());
  }

  /** Requests the engine again after another page had it. */
  takeBack() {
    if (!this.isTaken || document.hidden) return;
    this.again();
  }

  /** Releases the engine. */
  leave() {
    const had = this.asked !== null && !this.isTaken;
    this.stop();
    if (had) this.others.postMessage("free");
  }

  /** Shows whether there is an engine. */
  offer(name) {
    by("engine-tab").hidden = !name && !put;
    if (!name && put) {
      const why = t(
        "A page cannot start an engine. Tabia on this computer can: its command tabia explore shows this page.",
      );
      by("engine").hidden = true;
      by("engine").after(el("p", { class: "hint" }, why));
      return;
    }
    if (!name && tabs.isShown("engine")) tabs.choose("book");
    by("engine").title = t`${name} evaluates the position (L)`;
    if (name && stays()) this.turn();
  }

  /** Handles its key: the first press shows its panel. */
  call() {
    if (by("engine-tab").hidden) return;
    const isSeen = tabs.isShown("engine");
    tabs.choose("engine");
    if (!by("engine").hidden && (isSeen || !this.on)) this.turn();
  }

  /** Turns it off, before training or a game against it. */
  rest() {
    if (this.on) this.turn();
  }

  turn() {
    this.on = !this.on;
    stays(this.on);
    by("engine").setAttribute("aria-pressed", String(this.on));
    by("engine-pane").hidden = by("gauge").hidden = this.first.hidden = !this.on;
    by("engine-tab").classList.toggle("on", this.on);
    if (this.on) {
      // Its lines are useful only together with the board.
      for (const id of ["engine-pane", "board"]) by(id).scrollIntoView({ block: "nearest" });
    } else {
      this.values(null);
      this.best(null);
      this.leave();
    }
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
    this.isTaken = false;
  }

  /** The page shows another state. */
  show(state, view) {
    this.state = state;
    this.view = view;
    by("gauge").classList.toggle("flipped", state.flip);
    if (!this.on || document.hidden) return;
    const moves = [...new Set(view.books.flatMap((book) => book.moves.map((move) => move.uci)))];
    const line = trees.line(state.tree, state.at);
    const body = {
      fen: state.tree.fen,
      play: line.join(","),
      lines: Number(this.lines.value),
      moves: moves.slice(0, 40),
    };
    const key = JSON.stringify(body);
    if (key === this.key) return;
    this.stop();
    this.key = key;
    this.report = null;
    this.place = keyOf(state.tree, line);
    by("engine-pane").style.setProperty("--lines", this.lines.value);
    if (view.end) {
      this.values(new Map());
      this.draw(view.end === "checkmate" ? t("Checkmate.") : t("Stalemate."));
      return;
    }
    this.draw(t("thinking…"));
    this.values(new Map());
    this.timer = setTimeout(() => this.ask(body), PAUSE);
  }

  async ask(body) {
    const asked = (this.asked = new AbortController());
    try {
      await follow("/api/engine", body, (report) => asked === this.asked && this.receive(report), asked.signal);
    } catch (error) {
      if (asked !== this.asked) return;
      // If the page is shown again, for example after a reconnection, the search restarts.
      this.key = null;
      this.stopped(error.message.replace(/\.$/, ""));
    }
  }

  /** Shows a report of the engine, or why it has stopped. */
  receive(report) {
    if (report.problem) {
      this.isTaken = report.taken;
      // The signal or status of a dead program tells a player nothing.
      const isDead = report.problem.code?.startsWith("the engine ended");
      this.stopped(isDead ? t("the engine ended") : translated(report.problem), report.taken);
      return;
    }
    this.report = report;
    const isFirst = !this.found.has(this.place);
    if (report.lines.length) this.found.set(this.place, report.lines[0]);
    if (report.done || (isFirst && report.lines.length)) this.valued();
    this.values(new Map(report.moves.map((move) => [move.uci, move])));
    const speed = report.nodes_a_second ? `, ${grouped(Math.round(report.nodes_a_second / 1000))}\u202fkN/s` : "";
    this.draw(
      report.depth
        ? t`depth ${report.depth}` + `, ${report.engine}${speed}${report.done ? `, ${t("done")}` : ""}`
        : t("thinking…"),
    );
  }

  /** White's share after each move of a line, from values found; null if unknown. */
  along(tree, moves) {
    const value = this.found.get(keyOf(tree, moves));
    return value ? share(value) : null;
  }

  /** Says once why it has stopped, and offers to start it again unless another page has it; what it found is removed. */
  stopped(reason, isTaken = false) {
    this.report = null;
    this.values(new Map());
    const text = t`The engine has stopped: ${reason}.`;
    this.draw(isTaken ? text : t("stopped"));
    if (isTaken) return;
    const button = el("button", { type: "button", class: "quiet again" }, t("Try again"));
    this.drawn = [];
    this.list.replaceChildren(el("li", { class: "stopped" }, text, " ", button));
  }

  draw(text) {
    const lines = this.report?.lines ?? [];
    by("engine-message").textContent = text;
    by("engine-message").title = text;
    const best = lines[0];
    this.best(best?.moves[0].uci ?? null);
    const white = best ? share(best) : 0.5;
    by("gauge").firstElementChild.style.setProperty("--white", `${(100 * white).toFixed(1)}%`);
    by("gauge").setAttribute("aria-label", best ? t`Evaluation ${valueText(best)}` : t("No evaluation yet"));
    // Nothing may move while the pointer or focus is on it.
    const { list, first } = this;
    const held = [list, first].some((place) => place.contains(document.activeElement) || place.matches(":hover"));
    if (held && lines.length && lines.length === list.children.length && list.dataset.key === this.key) return;
    list.dataset.key = this.key;
    this.drawn = lines;
    fill(list, ...lines.map((line, index) => this.line(line, index)));
    fill(first, best ? this.line(best, 0) : el("li", { class: "hint" }, text));
  }

  line(line, number) {
    return item(
      el("span", { class: "value", title: t`depth ${line.depth}` }, valueText(line)),
      ...line.moves.map((move, index) => {
        const text = this.number(index) + lettered(move.san);
        const data = { "data-uci": move.uci, "data-line": number, "data-index": index };
        const name = index ? t`Play on to ${text}` : t`Play ${text}`;
        return el("button", { type: "button", class: "quiet", ...data, "aria-label": name }, text);
      }),
    );
  }

  /** The moves of a line up to the one at `target`; nothing if there is none. */
  movesAt(target) {
    const { line, index } = target.closest(".lines button")?.dataset ?? {};
    return line && this.drawn[line]?.moves.slice(0, Number(index) + 1);
  }

  /** Calls `use` with these moves, if there are any. */
  pick(target, use) {
    const moves = this.movesAt(target);
    if (moves) use(moves);
  }

  /** The number before a move of a line. */
  number(index) {
    const { turn, fullmove } = this.view;
    const ply = index + (turn === "white" ? 0 : 1);
    if (ply % 2 && index) return "";
    return `${fullmove + Math.floor(ply / 2)}${ply % 2 ? "…" : "."}`;
  }
}
