// Training: the page asks for the moves of your repertoire, the book plays the other side. Also games against
// the engine.

import { follow, get } from "./api.js";
import { CHAPTERS, Cards, subjectOf } from "./cards.js";
import { Chapters, bookOf, valid } from "./chapters.js";
import { wordsOf } from "./commands.js";
import { button, by, chooseFiles, decimal, el, percent } from "./dom.js";
import { keep, lettered, openingName, stored, t, translated } from "./lang.js";
import { Lesson, reply, rightMoves } from "./lesson.js";
import { say } from "./toast.js";
import { saveTraining } from "./share.js";
import { comment, valueText } from "./icons.js";
import * as tabs from "./tabs.js";
import * as trees from "./tree.js";

/** Delay in milliseconds before the other side moves, so that the user's move can be seen. */
const PAUSE = 350;

/** Number of shown moves of a refutation. */
const REFUTATION = 4;

/** Thinking time of the engine for a move of a game, in milliseconds. */
const THINKS = 1200;

/** Time in milliseconds after which a page takes what others have stored: they store several answers in a row. */
const LAG = 500;

/** Greatest number of openings with shown progress. */
const MOST_OPENINGS = 12;

/** A book move of a colour with its annotation, its comments, and its value for White, if known. */
function described({ san, annotation, commentary, evaluation, comment: words }, colour) {
  const cp = colour === "white" ? evaluation : -evaluation;
  const known = [
    wordsOf(words ?? ""),
    comment(commentary)?.title,
    Number.isInteger(evaluation) && valueText({ cp, mate: undefined }),
  ];
  const texts = known.filter(Boolean).join(", ");
  return lettered(san) + (annotation ?? "") + (texts && ` (${texts})`);
}

/** Fewer games say nothing about a move. */
const ENOUGH_GAMES = 10;

/** What a move costs against the right one, by the figures of a book that has both; empty if they are unknown. */
export function costIn(book, move, right) {
  const [wrong, best] = [move, right].map(({ uci }) => book.moves.find((one) => one.uci === uci));
  if (!wrong || !best) return "";
  const names = [wrong, best].map(({ san }) => lettered(san));
  if (Number.isInteger(wrong.evaluation) && Number.isInteger(best.evaluation)) {
    const pawns = decimal((best.evaluation - wrong.evaluation) / 100, 2);
    return t`By the book’s evaluations ${names[0]} costs ${pawns} pawns against ${names[1]}.`;
  }
  const isKnown = ({ games, score }) => score !== null && games >= ENOUGH_GAMES;
  if (!isKnown(wrong) || !isKnown(best)) return "";
  return t`In the book ${names[0]} scores ${percent(wrong.score)}, ${names[1]} ${percent(best.score)}.`;
}

/** What a move of a colour costs against the right one, by the values of the engine after both. */
function costBy(wrong, best, move, right, colour) {
  const names = [move, right].map(({ san }) => lettered(san));
  if (wrong.mate !== undefined || best.mate !== undefined)
    return t`After ${names[0]} the value is ${valueText(wrong)}, after ${names[1]} ${valueText(best)}.`;
  const pawns = decimal(((colour === "white" ? 1 : -1) * (best.cp - wrong.cp)) / 100, 2);
  return t`By the engine ${names[0]} costs ${pawns} pawns against ${names[1]}.`;
}

export class Trainer {
  now;
  go;
  follow;
  walk;
  point;
  rest;

  /**
   * `go(state => state)` changes the shown state for the user, `follow` for the page itself, `walk(state, move)` plays; `now()`
   * returns the shown state; `rest()` turns the engine off.
   */
  constructor({ go, follow, walk, now, point, rest }) {
    Object.assign(this, { go, follow, walk, now, point, rest });
    this.cards = new Cards({ changed: () => this.come(), report: say });
    this.chapters = new Chapters(this);
    /** The events that forgot something on this page, until it is brought back. */
    this.forgotten = null;
    this.mode = null;
    /** The lesson; null during a game. */
    this.lesson = null;
    for (const [id, action] of Object.entries({
      "train-show": () => this.show(),
      "train-other": () => this.choose(),
      "train-next": () => this.next(),
      "train-game": () => this.game(),
      "train-stop": () => this.stop(),
      "train-save": () => saveTraining(this.cards.export(this.decks, this.chapters.all)),
      "train-forget": () => this.forget(),
    })) {
      by(id).addEventListener("click", action);
    }
    by("train-form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.now().view) this.begin(by("train-colour").value);
    });
    by("train-colour").addEventListener("change", () => {
      keep("train-colour", by("train-colour").value);
      this.offer();
    });
    by("train-learn").checked = stored("train-learn", "true") === "true";
    by("train-learn").addEventListener("change", () => keep("train-learn", String(by("train-learn").checked)));
    // Whoever presses something else does not answer the question. (It has lost the focus by its own click.)
    addEventListener("pointerdown", ({ target }) => target === by("train-forget") || this.drawForget());
    // Another tab has stored answers.
    addEventListener("storage", ({ newValue }) => {
      if (this.on || newValue !== null) return;
      clearTimeout(this.behind);
      this.behind = setTimeout(() => this.cards.refresh(), LAG);
    });
    chooseFiles("train-load", "train-file", ([file]) => this.takeIn(file));
    tabs.whenShown("train", () => {
      this.offer();
      this.cards.refresh();
    });
    this.cards.sendWaiting();
    addEventListener("beforeunload", (event) => this.cards.unkept.size && event.preventDefault());
  }

  /** The decks of the shown book and of the chapters. */
  get decks() {
    return [this.now().view.books[0].deck, CHAPTERS];
  }

  /** The program has sent what it knows. */
  come() {
    const { view } = this.now();
    if (!view || this.on) return;
    this.counted = null;
    this.count(view);
    if (tabs.isShown("train")) this.offer();
  }

  /** Forgets everything at the second click; the next one brings it back. */
  forget() {
    const step = by("train-forget").dataset.next;
    if (!step) {
      this.drawForget(t`Forget ${this.cards.count(this.decks)} positions?`, "forget");
      return;
    }
    if (step === "forget") this.forgotten = this.cards.forget(this.decks);
    else {
      this.cards.bringBack(this.forgotten);
      this.forgotten = null;
    }
    this.drawForget();
    this.counted = null;
    this.offer();
  }

  drawForget(text = this.forgotten ? t("Bring them back") : t("Forget all"), next = this.forgotten ? "bring" : "") {
    by("train-forget").textContent = text;
    by("train-forget").dataset.next = next;
  }

  /** Imports a file of cards. */
  async takeIn(file) {
    try {
      const { view } = this.now();
      await this.cards.open(view.books[0].deck, view.books[0].name);
      const { came, others, chapters } = this.cards.import(await file.text(), view.books[0].deck, this.chapters.has);
      const loaded = t`${came} positions loaded.`;
      say(others.length ? `${loaded} ${t`Not loaded, as it is of other books: ${others.join(", ")}`}` : loaded);
      this.chapters.add(valid(chapters));
    } catch (error) {
      say(error.message, true);
    }
    this.offer();
  }

  /** Shows what can be trained while no training runs. */
  offer() {
    const { state, view } = this.now();
    if (!view || this.on) return;
    this.counted = null;
    this.count(view);
    this.chapters.draw();
    by("train-colour").value = stored("train-colour", state.flip ? "black" : "white");
    const [{ deck, name }] = view.books;
    const due = ["white", "black"].map((colour) => this.cards.due(deck, colour).length);
    const { count, problem } = this.cards.waits(this.decks);
    const trained = t`${this.cards.count(this.decks)} positions trained; due in this book: ${due[0]} as White, ${due[1]} as Black.`;
    const waits =
      problem && count && t`${count} answers wait in this browser until the program stores them: ${problem}`;
    by("train-cards").textContent = [trained, waits, this.cards.leftOut()].filter(Boolean).join(" ");
    const adopt = (old) =>
      button(t`Take over the training of ${old}, which is no longer here`, () => this.cards.adopt(deck, old));
    by("train-left").replaceChildren(...this.cards.deck(deck, name).leftBehind.map(adopt));
    this.showProgress(deck);
    if (this.chapters.all.length) this.cards.open(CHAPTERS, t("the chapters"));
  }

  /** Shows the progress of each opening, for the chosen colour. */
  showProgress(deck) {
    const rows = this.cards.progress(deck, by("train-colour").value);
    by("train-progress").hidden = !rows.length;
    const cell = (text) => el("td", {}, String(text));
    by("train-openings").replaceChildren(
      ...rows
        .slice(0, MOST_OPENINGS)
        .map(({ name, cards, known, due }) =>
          el("tr", {}, el("th", { scope: "row" }, openingName(name) || "–"), cell(cards), cell(known), cell(due)),
        ),
    );
  }

  /** Counts the due cards of the book: the tab always shows their number. */
  count(view) {
    const [{ deck, name }] = view.books;
    if (deck === this.counted) return;
    this.counted = deck;
    this.cards.open(deck, name);
    const due = ["white", "black"].map((colour) => this.cards.due(deck, colour).length);
    by("train-tab").dataset.count = String(due[0] + due[1] || "");
    by("train-tab").title = due[0] + due[1] ? t`${due[0] + due[1]} due today` : "";
  }

  get on() {
    return this.mode !== null;
  }

  /** Starts to ask for the moves of a colour: of a chapter of a file, else of the book from the shown position. */
  async begin(colour, chapter = null) {
    this.rest();
    const [book] = this.now().view.books;
    await (chapter ? this.cards.open(CHAPTERS, t("the chapters")) : this.cards.open(book.deck, book.name));
    const { state, view } = this.now();
    this.enter("train", colour, state);
    this.chapter = chapter;
    this.book = view.books[0].name;
    this.root = chapter ? { ...state, tree: trees.empty(chapter.tree.fen), at: 0, tail: 0 } : state;
    const subject = chapter ? subjectOf(chapter.name) : view.books[0].deck;
    this.lesson = new Lesson(this.cards, subject, colour);
    this.next();
  }

  enter(mode, colour, state) {
    if (!this.on) this.before = state;
    this.mode = mode;
    this.colour = colour;
    this.lesson = null;
    document.body.classList.add("training");
    tabs.choose("train");
    by("train-pane").hidden = false;
    by("train-offer").hidden = true;
    by("train-show").hidden = by("train-next").hidden = mode === "game";
    by("train-game").hidden = by("engine-tab").hidden;
  }

  /** Shows the next due card, else a line from the root. */
  next() {
    const { root } = this;
    // Only the line to the root: the rest would show the answers.
    const { fen, line } = this.lesson.next() ?? { fen: root.tree.fen, line: trees.moves(root.tree, root.at) };
    const [tree, at] = trees.fromMoves(fen, line);
    this.last = null;
    return this.go(() => ({ ...root, tree, at, tail: at, flip: this.colour === "black" }));
  }

  /** The page shows another position. */
  shown(state, view) {
    if (!this.on) {
      this.count(view);
      if (tabs.isShown("train")) this.offer();
      return;
    }
    clearTimeout(this.timer);
    // What the engine found by now is no longer asked for: another search would stop the timer of the book's move.
    this.asked?.abort();
    this.asked = null;
    if (this.mode === "game") {
      this.gameShown(state, view);
      return;
    }
    const book = this.chapter ? bookOf(this.chapter.tree, trees.line(state.tree, state.at)) : view.books[0];
    this.shownBook = book;
    if (view.turn !== this.colour) {
      const move = book.moves.some((one) => !one.transposition) ? reply(book) : null;
      if (!move) {
        this.ended();
        return;
      }
      this.showStatus(this.last ?? t("The book moves."));
      this.timer = setTimeout(() => this.playReply(state, move), PAUSE);
      return;
    }
    const all = rightMoves(book);
    if (!all.length) {
      this.ended();
      return;
    }
    const { tree, at } = state;
    const line = trees.moves(tree, at);
    // Variations of an opening count as one opening.
    const opening = view.opening?.name.split(":")[0];
    const way = { fen: tree.fen, line, ...(opening && { opening }) };
    const showsNew = by("train-learn").checked;
    const told = this.lesson.ask({ tree, at, fen: view.fen, all, way, showsNew });
    if (told === "same") return;
    if (told === "known") {
      const [move] = this.lesson.question.right;
      this.lesson.question = null;
      this.showStatus(this.last ?? t("You know this move: it is played."));
      this.timer = setTimeout(() => this.playReply(state, move), PAUSE);
      return;
    }
    if (told === "choose") this.choose();
    else if (told === "new") this.learn();
    else this.showStatus(this.last ?? this.yourMove());
    this.last = null;
  }

  /** Asks which of several moves is the right one from now on. */
  choose() {
    if (!this.lesson?.question) return;
    this.lesson.reopen();
    this.showStatus(t("The book has several moves here. Which is yours?"));
    by("train-choices").replaceChildren(
      ...this.lesson.question.all.map((move) => button(lettered(move.san), () => this.played(move))),
      button(t("Any of them"), () => {
        this.lesson.takeAny();
        this.showStatus(this.yourMove());
      }),
    );
    by("train-other").hidden = true;
  }

  /** Shows a new move before it is asked. */
  learn() {
    const { right } = this.lesson.question;
    this.point(right[0].uci);
    this.showStatus(t`New: ${right.map(({ san }) => lettered(san)).join(t(" or "))}. Play it; it is asked for later.`);
  }

  yourMove() {
    return this.colour === "white" ? t("Your move as White.") : t("Your move as Black.");
  }

  /** Plays a move of the book or of the engine. */
  playReply(state, move) {
    return this.play(state, move, this.follow);
  }

  play(state, move, go = this.go) {
    return go((from) =>
      from.at === state.at && from.tree === state.tree ? this.walk(from, { uci: move.uci, san: move.san }) : null,
    );
  }

  /** Handles a move on the board. */
  played(move) {
    const { state } = this.now();
    if (this.mode === "game") {
      if (this.mine) this.play(state, move);
      return;
    }
    if (this.lesson.question?.at !== state.at) return;
    const { isRight, isTold, move: known } = this.lesson.answer(move.uci);
    if (!isRight) {
      this.showStatus(t`${lettered(move.san)} is not the move. Try again.`, true);
      this.refute(state, move);
      return;
    }
    this.last = isTold ? null : t`${described(known, this.colour)} is right.`;
    this.play(state, move);
  }

  /** Shows the right moves; that counts as a mistake. */
  show() {
    if (!this.lesson?.question) return;
    const { right } = this.lesson.question;
    this.lesson.miss();
    this.point(right[0].uci);
    this.showStatus(t`The book plays ${right.map(({ san }) => lettered(san)).join(t(" or "))}.`);
  }

  ended() {
    this.lesson.question = null;
    const end = t("The book’s line ends here.");
    this.showStatus(this.lesson.hasAsked ? end : `${end} ${t("Nothing in it is due or new.")}`);
  }

  showStatus(text, wrong = false) {
    const { lesson } = this;
    const question = lesson?.question;
    if (!question?.isChoice) by("train-choices").replaceChildren();
    by("train-other").hidden = !(question?.all.length > 1) || question.isChoice;
    by("train-why").textContent = "";
    by("train-message").textContent = text;
    by("train-panel").scrollTop = 0;
    by("train-message").classList.toggle("error", wrong);
    by("train-score").textContent = lesson
      ? t`${lesson.right} right, ${lesson.wrong} missed, ${lesson.left} to come again`
      : "";
  }

  /** Starts a game: the engine plays the other side from here on. */
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

  /** Plays the engine's move. */
  async answer(state) {
    try {
      const found = await this.think(state.tree.fen, trees.line(state.tree, state.at));
      if (found) this.playReply(state, found.moves[0]);
    } catch (error) {
      this.showStatus(error.message, true);
    }
  }

  /** The engine's best line after its time, with its value; nothing if the page shows another position. */
  async think(fen, moves) {
    clearTimeout(this.timer);
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    let best = null;
    // An engine without a result by then stops at its first report.
    let late = false;
    const end = () => {
      if (best && late) asked.abort();
    };
    this.timer = setTimeout(() => {
      late = true;
      end();
    }, THINKS);
    const receive = (report) => {
      if (report.problem) throw new Error(t`The engine has stopped: ${translated(report.problem)}.`);
      if (report.lines[0]?.moves.length) [best] = report.lines;
      late ||= report.done;
      end();
    };
    try {
      await follow("/api/engine", { fen, play: moves.join(","), lines: 1 }, receive, asked.signal);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
    return asked === this.asked ? best : null;
  }

  /** Shows what a wrong move costs against the book's, and its refutation: by the engine, else from the book. */
  async refute(state, move) {
    const { question } = this.lesson;
    const { fen } = state.tree;
    const before = trees.line(state.tree, state.at);
    const moves = [...before, move.uci];
    const [right] = question.right;
    const known = costIn(this.shownBook, move, right);
    const show = (...texts) => {
      if (question === this.lesson?.question) by("train-why").textContent = texts.filter(Boolean).join(" ");
    };
    show(known);
    let text = "";
    try {
      if (!by("engine-tab").hidden) {
        const line = await this.think(fen, moves);
        const words = line?.moves.slice(0, REFUTATION).map(({ san }) => lettered(san));
        if (!line) return;
        text = t`The engine answers ${words.join(" ")} (${valueText(line)}).`;
        show(known, text);
        const best = await this.think(fen, [...before, right.uci]);
        if (best) show(costBy(line, best, move, right, this.colour), text);
        return;
      }
      const query = new URLSearchParams({ books: this.book, play: moves.join(","), ...(fen && { fen }) });
      const book = this.chapter ? bookOf(this.chapter.tree, moves) : (await get("/api/position", query)).books[0];
      const [best] = rightMoves(book);
      if (best) text = t`The book answers ${described(best, this.colour === "white" ? "black" : "white")}.`;
    } catch {
      // The message already says that the move is wrong.
    }
    show(known, text);
  }

  /** Ends it and goes back to where it began. */
  stop() {
    if (!this.on) return;
    clearTimeout(this.timer);
    this.asked?.abort();
    this.asked = null;
    const { lesson } = this;
    this.mode = this.lesson = null;
    document.body.classList.remove("training");
    by("train-pane").hidden = true;
    by("train-offer").hidden = false;
    // A game stays on the board; a training line is removed.
    const { before } = this;
    this.go((from) => (lesson ? { ...before } : { ...from }));
    if (lesson) say(t`Training: ${lesson.right} right, ${lesson.wrong} missed.`);
  }
}
