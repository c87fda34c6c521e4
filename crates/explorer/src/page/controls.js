// Keys, buttons and other input, and the dialogs that ask for a word or two.

import * as address from "./address.js";
import { ends } from "./changes.js";
import { wordsOf } from "./commands.js";
import { openMenu } from "./context.js";
import * as copies from "./copy.js";
import { by, isTyping } from "./dom.js";
import { lettered, stored, t } from "./lang.js";
import { keepInSight } from "./moves.js";
import { copy, listenToDialogs, modal } from "./toast.js";
import { toPgn } from "./pgn.js";
import * as settings from "./settings.js";
import * as share from "./share.js";
import { OF_MOVES, OF_POSITIONS, offer } from "./icons.js";
import * as steps from "./steps.js";
import * as tabs from "./tabs.js";
import { takesLines } from "./columns.js";
import * as trees from "./tree.js";

/** Wheel distance for one move. */
const TURN = 40;

export class Controls {
  trainer;
  store;
  table;
  engine;
  search;
  pick;
  games;
  work;
  preview;
  problem;
  walk;
  changes;
  typed;
  load;

  /** `parts` are the parts of the page by name, and the functions for texts. */
  constructor(parts) {
    Object.assign(this, parts);
    this.keys = this.keysOf();
    this.buttons = this.buttonsOf();
    /** The keys that also work during training. */
    this.whileTraining = {
      f: this.keys.f,
      t: settings.nextTheme,
      "?": this.keys["?"],
      Escape: () => this.trainer.stop(),
    };
  }

  get state() {
    return this.store.state;
  }

  keysOf() {
    const { store, table, engine, search, games } = this;
    return {
      ArrowLeft: () => this.walk(false),
      ArrowRight: () => this.walk(true),
      ArrowUp: () => table.step(-1),
      ArrowDown: () => table.step(1),
      Home: () => store.want(steps.toStart),
      End: () => store.want(steps.toEnd),
      Delete: () => store.want(steps.remove),
      b: () => tabs.enter("book"),
      c: () => copy(store.view.fen, "FEN"),
      e: () => table.editChosen(),
      PageUp: () => games.step(-1),
      PageDown: () => games.step(1),
      "+": () => table.markMove(table.chosen(), "main"),
      "-": () => table.markMove(table.chosen(), "avoid"),
      0: () => table.markMove(table.chosen(), "none"),
      ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [index + 1, () => games.useSet(index)])),
      f: () => store.want(steps.flip, "keep"),
      g: () => this.work.next().catch(this.problem),
      i: () => (tabs.isShown("games") ? tabs.enter("games") : games.here()),
      l: () => engine.call(),
      n: () => this.openNote(),
      r: () => tabs.enter("train"),
      s: () => this.preview.ofFocus(),
      t: settings.nextTheme,
      v: () => this.openPaste(),
      m: () => (by("move").offsetParent ? by("move").focus() : search.open()),
      "/": () => search.open(),
      p: () => by("open-book").hidden || this.pick().catch(this.problem),
      o: () => tabs.enter("choice"),
      w: () => tabs.enter("work"),
      "?": () => modal(by("help-dialog")),
    };
  }

  buttonsOf() {
    const { keys, store, changes } = this;
    // The user does not step through moves while being asked.
    const calm = (action) => () => (this.trainer.on ? undefined : action());
    return {
      back: calm(keys.ArrowLeft),
      forward: calm(keys.ArrowRight),
      "to-start": calm(keys.Home),
      "to-end": calm(keys.End),
      flip: keys.f,
      engine: () => this.engine.turn(),
      menu: () => this.openAt("menu", this.entries()),
      "line-menu": calm(() => this.openAt("line-menu", this.ofMove(this.state.at))),
      find: keys["/"],
      "open-book": keys.p,
      undo: () => changes.takeBack(),
      redo: () => changes.doAgain(),
      reset: () => store.want((from) => ({ ...from, set: {} }), "keep"),
      "play-engine": () => {
        this.engine.rest();
        return this.trainer.game();
      },
    };
  }

  /** The entries of the menu. */
  entries() {
    const pgn = () => toPgn(this.state.tree);
    const { view } = this.store;
    return [
      [t("Paste a position or a game… (V)"), this.keys.v],
      [t("Copy FEN (C)"), this.keys.c],
      [t("Copy PGN"), () => copy(pgn(), "PGN")],
      [t("Copy link"), () => copy(new URL(address.address(this.state), location.href).href, "Link")],
      [t("Save PGN"), () => share.savePgn(pgn())],
      [t("Save a copy of a book…"), () => copies.open(view.books, this.problem)],
      [t("Save picture (SVG)"), () => share.saveSvg(view.fen, this.state.flip)],
      [t("Save picture (PNG)"), () => share.savePng(view.fen, this.state.flip).catch(this.problem)],
      [t("Settings…"), () => modal(by("settings-dialog"))],
      [t("Keys and columns (?)"), this.keys["?"]],
    ];
  }

  /** Opens a menu under its button. */
  openAt(id, entries) {
    const { left: x, bottom: y } = by(id).getBoundingClientRect();
    openMenu({ x, y }, entries);
  }

  /** The menu entries for a move of the line. */
  ofMove(id) {
    const at = (step) => () => this.store.want((from) => step({ ...from, at: id }));
    const { books = [] } = this.store.view ?? {};
    const book = books.find(takesLines);
    const add = (ids) => () => Promise.resolve(this.changes.add(ids())).catch(this.problem);
    const of = this.state.tree;
    return [
      ...(book
        ? [
            [t`Add the line to ${book.name}`, add(() => (id ? [id] : []))],
            [t("Add all lines to the book"), add(() => ends(of))],
          ]
        : []),
      ...(books.some(({ editable }) => editable) ? [[t("Mark the whole line…"), () => this.changes.openLine(id)]] : []),
      [t("Make its line the main line"), at(steps.promote)],
      [t("Comment, annotation… (N)"), () => this.openNote({ ...this.state, at: id })],
      [t("Delete from here on (Del)"), at(steps.remove)],
      [t("Turn the board (F)"), this.keys.f],
    ];
  }

  openNote(state = this.state) {
    this.noteState = state;
    const { tree, at } = this.noteState;
    const { san, comment, nags } = trees.node(tree, at);
    by("note-title").textContent =
      at === 0 ? t("Before the first move") : `${trees.numberOf(tree, at, true)} ${lettered(san)}`;
    by("note-text").value = wordsOf(comment);
    offer(by("note-signs"), [...OF_MOVES, ...OF_POSITIONS], nags[0] ?? 0);
    by("note-signs").disabled = at === 0;
    modal(by("note-dialog"));
  }

  openPaste() {
    modal(by("paste-dialog"));
    by("paste-text").select();
  }

  onKey(event) {
    if (event.key === "Escape" && event.target.closest?.("[role=tabpanel], #move")) event.target.blur();
    if (event.defaultPrevented || isTyping(event.target) || event.altKey || document.querySelector("dialog[open]"))
      return;
    if (event.ctrlKey || event.metaKey) {
      const key = event.key.toLowerCase();
      if (key !== "z" && !(key === "y" && event.ctrlKey)) return;
      event.preventDefault();
      if (this.trainer.on) return;
      if (key === "y" || event.shiftKey) this.changes.doAgain();
      else this.changes.takeBack();
      return;
    }
    // Speech input and slips press single letters.
    if (event.key.length === 1 && stored("keys", "on") === "off") return;
    const action = (this.trainer.on ? this.whileTraining : this.keys)[
      event.key.length === 1 ? event.key.toLowerCase() : event.key
    ];
    if (!action || !this.store.view) return;
    event.preventDefault();
    action();
  }

  listen() {
    for (const [id, action] of Object.entries(this.buttons)) {
      by(id).addEventListener("click", () => {
        Promise.resolve().then(action).catch(this.problem);
      });
    }
    addEventListener("keydown", (event) => this.onKey(event));
    addEventListener("popstate", (event) => {
      const old = address.recall(event.state);
      if (old) this.store.want(() => old, "pop");
      else location.reload();
    });
    // After a click, the arrow keys act on the board again.
    addEventListener("click", (event) => {
      const control = event.target.closest?.("button, select");
      if (event.detail > 0 && control && control.tagName === "BUTTON" && !control.closest("dialog, .promotion"))
        control.blur();
    });
    let isKey = false;
    for (const kind of ["keydown", "pointerdown"])
      addEventListener(kind, ({ type }) => (isKey = type === "keydown"), { capture: true });
    addEventListener("change", ({ target }) => {
      if (!target.matches("select, input[type=checkbox]") || target.closest("dialog")) return;
      if (!isKey || !target.closest("[role=tabpanel]")) target.blur();
    });
    listenToDialogs();
    tabs.listenToTabs();
    this.ignoreSecondClicks();
    this.listenToMoves();
    this.listenToWheel();
    this.listenToForms();
    this.listenToTexts();
  }

  /** Ignores the second click of a double click: it was meant for the element of the first. */
  ignoreSecondClicks() {
    addEventListener(
      "click",
      (event) => {
        if (event.detail > 1 && event.target.closest("#books tr[data-uci], #line, #engine-list, #plot"))
          event.stopPropagation();
      },
      true,
    );
  }

  /** Handles clicks in the list of moves. */
  listenToMoves() {
    keepInSight();
    const numberAt = ({ target }) => Number(target.closest("button")?.dataset.id);
    by("line").addEventListener("click", (event) => {
      const id = numberAt(event);
      if (id && !this.trainer.on) this.store.want(steps.to(id));
    });
    by("line").addEventListener("contextmenu", (event) => {
      const id = numberAt(event);
      if (!id) return;
      event.preventDefault();
      if (!this.trainer.on) openMenu(event, this.ofMove(id));
    });
  }

  listenToWheel() {
    let turned = 0;
    by("board").addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey || this.trainer.on) return;
        event.preventDefault();
        turned += event.deltaY;
        if (Math.abs(turned) < TURN) return;
        this.walk(turned > 0);
        turned = 0;
      },
      { passive: false },
    );
  }

  listenToForms() {
    by("move").addEventListener("keydown", (event) => {
      const text = by("move").value.trim();
      // Within an input method, Enter accepts the composed text.
      if (event.key !== "Enter" || event.isComposing || !text || !this.store.view) return;
      by("move").value = "";
      this.typed(text).catch(this.problem);
    });
    by("line-form").addEventListener("submit", (event) => {
      if (event.submitter?.value !== "keep") return;
      event.preventDefault();
      this.changes.markLine();
    });
    by("note-form").addEventListener("submit", (event) => {
      if (event.submitter?.value === "keep")
        this.store.want(
          steps.annotate(this.noteState, by("note-text").value.trim(), Number(by("note-signs").value)),
          "keep",
        );
    });
  }

  /** Handles pasted and dropped texts. */
  listenToTexts() {
    by("paste-form").addEventListener("submit", (event) => {
      if (event.submitter?.value !== "load") return;
      event.preventDefault();
      this.load(by("paste-text").value, { read: () => by("paste-dialog").close() }).catch(this.problem);
    });
    addEventListener("paste", (event) => {
      if (isTyping(event.target) || this.trainer.on) return;
      const text = event.clipboardData?.getData("text/plain");
      if (text) this.load(text).catch(this.problem);
    });
    // A dropped file is read here, and sent only to the reader of games.
    addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
    addEventListener("drop", (event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (!files.length) return;
      event.preventDefault();
      if (this.trainer.on || document.querySelector("dialog[open]")) return;
      this.games.open(files).catch(this.problem);
    });
  }
}
