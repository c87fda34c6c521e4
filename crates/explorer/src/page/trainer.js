// Training: the page asks for the moves of your repertoire, the book plays
// the other side. And playing on against the engine.

import { follow } from "./api.js";
import { Cards } from "./cards.js";
import { by } from "./dom.js";
import { keep, lettered, stored, t, translated } from "./lang.js";
import { say } from "./say.js";
import * as tabs from "./tabs.js";
import * as trees from "./tree.js";

/** Pause before the other side moves, milliseconds: so that the user's move can be seen. */
const PAUSE = 350;

/** How long the engine thinks about a move of a game, milliseconds. */
const THINKS = 1200;

/** The moves that are right: the green ones, else whatever the book plays. */
export function rightMoves(book) {
  const stored = book.moves.filter((move) => !move.transposition);
  const green = stored.filter((move) => move.mark === "main");
  return green.length ? green : stored.filter((move) => move.probability > 0);
}

/** One of the book's moves, as often as it was played there. */
export function reply(book, random = Math.random()) {
  const moves = book.moves.filter((move) => !move.transposition);
  const weigh = (of) => moves.map(of);
  let weights = weigh((move) => move.stored_weight ?? move.games);
  if (weights.every((weight) => weight === 0)) weights = weigh((move) => move.probability);
  let left = random * weights.reduce((sum, weight) => sum + weight, 0);
  return moves.find((move, index) => (left -= weights[index]) < 0) ?? moves.at(-1);
}

export class Trainer {
  now;
  go;
  walk;
  point;

  /** `go(state => state)` changes what is shown, `walk(state, move)` plays; `now()` is what is shown. */
  constructor({ go, walk, now, point }) {
    Object.assign(this, { go, walk, now, point });
    this.cards = new Cards();
    this.mode = null;
    for (const [id, action] of Object.entries({
      "train-show": () => this.show(),
      "train-next": () => this.next(),
      "train-game": () => this.game(),
      "train-stop": () => this.stop(),
    })) {
      by(id).addEventListener("click", action);
    }
    tabs.whenShown("train", () => this.offer());
  }

  /** What can be trained, where nothing is. */
  offer() {
    const { state, view } = this.now();
    if (!view || this.on) return;
    this.counted = null;
    this.count(view);
    by("train-colour").value = stored("train-colour", state.flip ? "black" : "white");
    const due = ["white", "black"].map((colour) => this.cards.due(view.books[0].name, colour).length);
    by("train-cards").textContent =
      t`${this.cards.all.size} positions trained; due in this book: ${due[0]} as White, ${due[1]} as Black.`;
  }

  /** How many cards of the book are due: the tab has their number, whatever is shown. */
  count(view) {
    const book = view.books[0].name;
    if (book === this.counted) return;
    this.counted = book;
    const due = ["white", "black"].map((colour) => this.cards.due(book, colour).length);
    by("train-tab").dataset.count = String(due[0] + due[1] || "");
    by("train-tab").title = due[0] + due[1] ? t`${due[0] + due[1]} due today` : "";
  }

  get on() {
    return this.mode !== null;
  }

  /** Begins to ask for the moves of a colour, from the position that is shown. */
  begin(colour) {
    const { state, view } = this.now();
    this.enter("train", colour, state);
    keep("train-colour", colour);
    this.book = view.books[0].name;
    this.root = state;
    this.again = [];
    this.right = this.wrong = 0;
    this.due = this.cards.due(this.book, colour);
    this.next();
  }

  enter(mode, colour, state) {
    if (!this.on) this.before = state;
    this.mode = mode;
    this.colour = colour;
    this.question = null;
    document.body.classList.add("training");
    tabs.choose("train");
    by("train-pane").hidden = false;
    by("train-form").hidden = true;
    by("train-show").hidden = by("train-next").hidden = mode === "game";
  }

  /** The next card that is due, else a line from the root. */
  next() {
    this.question = null;
    const card = this.due.shift()?.[1] ?? this.again.shift();
    let from = this.root;
    if (card) {
      let tree = trees.empty(card.fen),
        at = 0;
      for (const move of card.line) [tree, at] = trees.add(tree, at, move);
      from = { ...this.root, tree, at, tail: at };
    } else {
      // Only the line to the root: the rest would show the answers.
      let tree = trees.empty(from.tree.fen),
        at = 0;
      for (const id of trees.path(from.tree, from.at))
        [tree, at] = trees.add(tree, at, { uci: trees.node(from.tree, id).uci, san: trees.node(from.tree, id).san });
      from = { ...from, tree, at, tail: at };
    }
    this.last = null;
    return this.go(() => ({ ...from, flip: this.colour === "black" }));
  }

  /** The page shows another position. */
  shown(state, view) {
    if (!this.on) {
      this.count(view);
      if (tabs.isShown("train")) this.offer();
      return;
    }
    clearTimeout(this.timer);
    this.asked?.abort();
    if (this.mode === "game") {
      this.gameShown(state, view);
      return;
    }
    const book = view.books[0];
    if (view.turn !== this.colour) {
      const move = book.moves.some((one) => !one.transposition) ? reply(book) : null;
      if (!move) {
        this.ended();
        return;
      }
      this.showStatus(this.last ?? t("The book moves."));
      this.timer = setTimeout(() => this.play(state, move), PAUSE);
      return;
    }
    const right = rightMoves(book);
    if (!right.length) {
      this.ended();
      return;
    }
    // Asked already: only the book may have changed.
    if (this.question?.tree === state.tree && this.question.at === state.at) {
      this.question.right = right;
      return;
    }
    const line = trees
      .path(state.tree, state.at)
      .map((id) => trees.node(state.tree, id))
      .map(({ uci, san }) => ({ uci, san }));
    this.question = {
      tree: state.tree,
      at: state.at,
      right,
      key: this.cards.key(this.book, this.colour, view.fen),
      way: { fen: state.tree.fen, line },
      missed: false,
    };
    this.showStatus(this.last ?? (this.colour === "white" ? t("Your move as White.") : t("Your move as Black.")));
    this.last = null;
  }

  play(state, move) {
    return this.go((from) =>
      from.at === state.at && from.tree === state.tree ? this.walk(from, { uci: move.uci, san: move.san }) : null,
    );
  }

  /** A move on the board. */
  played(move) {
    const { state } = this.now();
    if (this.mode === "game") {
      if (this.mine) this.play(state, move);
      return;
    }
    const { question } = this;
    if (!question || question.at !== state.at) return;
    const right = question.right.some(({ uci }) => uci === move.uci);
    if (!right) {
      this.miss();
      this.showStatus(t`${lettered(move.san)} is not the move. Try again.`, true);
      return;
    }
    if (!question.missed) {
      this.right += 1;
      this.cards.answered(question.key, true, question.way);
    }
    this.question = null;
    this.last = question.missed ? null : t`${lettered(move.san)} is right.`;
    this.play(state, move);
  }

  /** A mistake: the position comes again. */
  miss() {
    if (this.question.missed) return;
    this.question.missed = true;
    this.wrong += 1;
    this.again.push(this.question.way);
    this.cards.answered(this.question.key, false, this.question.way);
  }

  /** Shows the moves that are right; that counts as not known. */
  show() {
    if (!this.question) return;
    this.miss();
    this.point(this.question.right[0].uci);
    this.showStatus(t`The book plays ${this.question.right.map(({ san }) => lettered(san)).join(t(" or "))}.`);
  }

  ended() {
    this.question = null;
    this.showStatus(t("The book’s line ends here."));
  }

  showStatus(text, wrong = false) {
    by("train-told").textContent = text;
    by("train-told").classList.toggle("error", wrong);
    const left = this.mode === "train" ? this.due.length + this.again.length : 0;
    by("train-score").textContent =
      this.mode === "train" ? t`${this.right} right, ${this.wrong} missed, ${left} to come again` : "";
  }

  /** From here on the engine plays the other side. */
  game() {
    const { state, view } = this.now();
    const colour = this.mode === "train" ? this.colour : view.turn;
    this.enter("game", colour, state);
    return this.go((from) => ({ ...from, flip: colour === "black" }));
  }

  gameShown(state, view) {
    this.mine = false;
    if (view.end) {
      this.showStatus(
        view.end === "checkmate"
          ? view.turn === this.colour
            ? t("Checkmate: the engine wins.")
            : t("Checkmate: you win.")
          : t("Stalemate: a draw."),
      );
      return;
    }
    if (view.turn === this.colour) {
      this.mine = true;
      this.showStatus(t("Your move."));
      return;
    }
    this.showStatus(t("The engine thinks…"));
    this.answer(state);
  }

  /** The engine's move: what it likes best after its time. */
  async answer(state) {
    const asked = (this.asked = new AbortController());
    let best = null;
    // An engine that has reported no move by then moves with its first report.
    let late = false;
    const moves = () => {
      if (best && late) asked.abort();
    };
    this.timer = setTimeout(() => {
      late = true;
      moves();
    }, THINKS);
    const receive = (report) => {
      if (report.problem) throw new Error(t`The engine has stopped: ${translated(report.problem)}.`);
      best = report.lines[0]?.moves[0] ?? best;
      late ||= report.done;
      moves();
    };
    const play = trees.line(state.tree, state.at).join(",");
    try {
      await follow("/api/engine", { fen: state.tree.fen, play, lines: 1 }, receive, asked.signal);
    } catch (error) {
      if (error.name !== "AbortError") {
        this.showStatus(error.message, true);
        return;
      }
    }
    if (asked === this.asked && best) this.play(state, best);
  }

  /** Back to where it began. */
  stop() {
    if (!this.on) return;
    clearTimeout(this.timer);
    this.asked?.abort();
    this.asked = null;
    const played = this.mode === "game";
    this.mode = null;
    document.body.classList.remove("training");
    by("train-pane").hidden = true;
    by("train-form").hidden = false;
    // A game stays on the board; a line of training was only an exercise.
    const { before } = this;
    this.go((from) => (played ? { ...from } : { ...before }));
    if (!played) say(t`Training: ${this.right} right, ${this.wrong} missed.`);
  }
}
