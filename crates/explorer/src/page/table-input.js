// Input in the table of moves, and the engine's values there.

import { MARKS, canChange, nextSort } from "./columns.js";
import { openMenu } from "./context.js";
import { keep, t, translated } from "./lang.js";

export class TableInput {
  table;
  point;
  add;
  play;
  edit;
  mark;

  /** `play`, `point` get a move in UCI notation; `edit` a book's view and a move; `mark` the same and a mark; `add` adds the line. */
  constructor(table, { play, point, edit, add, mark }) {
    Object.assign(this, { table, play, point, edit, add, mark });
    this.place = table.place;
  }

  listen() {
    this.table.drawn = () => this.point(this.chosen());
    this.place.addEventListener("click", (event) => this.click(event.target));
    this.place.addEventListener("contextmenu", (event) => this.openMenu(event));
    this.place.addEventListener("scroll", () => {
      this.table.scrolled = true;
    });
    this.place.addEventListener("focusin", (event) => this.follow(event));
    this.place.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.follow(event));
    this.place.addEventListener("pointerleave", () => this.point(this.chosen()));
  }

  chosen() {
    return document.activeElement?.closest?.("#books tr[data-uci]")?.dataset.uci ?? null;
  }

  /** Handles a click in the table, whose elements are changed but never replaced. */
  click(target) {
    if (this.table.isPending) return;
    const button = target.closest("button"),
      row = target.closest("tr[data-uci]");
    if (button?.matches(".add")) this.add();
    else if (button?.matches(".sort")) this.sortBy(button.dataset.kind, Number(button.dataset.side));
    else if (button?.matches(".fold")) this.fold(button.dataset.letter, button.ariaExpanded === "true");
    else if (button?.matches(".pencil")) this.change(row.dataset.uci, Number(button.dataset.book));
    else if (target.closest(".out td.prob")) target.closest("td").classList.toggle("open");
    else if (row && !target.closest("td.edit")) this.play(row.dataset.uci);
  }

  fold(letter, isOpen) {
    this.table.open.set(letter, !isOpen);
    this.table.show(this.table.view);
  }

  /** Sorts by a column; with two books, by the figures of one. */
  sortBy(kind, side = 0) {
    const { table } = this;
    table.sort = nextSort(table.sort, kind, side);
    keep("sort", JSON.stringify(table.sort));
    table.show(table.view);
    this.place.querySelector(`th.${kind}${side ? ".b" : ""} button`)?.focus({ preventScroll: true });
  }

  /** Sets the engine's values of the moves; null if it is off. */
  live(values) {
    const { table } = this,
      was = table.values;
    table.values = values;
    if (!table.view) return;
    const isPair = table.view.books.length > 1;
    if (!was !== !values && !isPair) {
      table.show(table.view);
      return;
    }
    for (const move of table.view.books.flatMap((book) => book.moves)) {
      const cell = this.place.querySelector(`tr[data-uci="${CSS.escape(move.uci)}"] .${isPair ? "worth" : "eval"}`);
      if (!cell) continue;
      const text = table.evaluation(move, isPair ? "" : "–");
      if (cell.textContent !== text) cell.textContent = text;
      const depth = values?.get(move.uci)?.depth;
      cell.title = depth ? t`depth ${depth}` : "";
    }
  }

  /** The arrow on the board follows focus and pointer. */
  follow(event) {
    const row = event.target.closest?.("tr[data-uci]");
    if (!row || this.table.isPending) return;
    if (event.type === "focusin") {
      for (const button of this.place.querySelectorAll("button.move")) button.tabIndex = -1;
      row.querySelector("button.move").tabIndex = 0;
    }
    this.point(row.dataset.uci);
  }

  /** Moves the selection up or down. */
  step(by) {
    const buttons = [...this.place.querySelectorAll("button.move")].filter((button) => button.offsetParent);
    if (buttons.length === 0) return;
    const now = buttons.indexOf(document.activeElement);
    const next = now < 0 ? (by > 0 ? 0 : buttons.length - 1) : Math.min(Math.max(now + by, 0), buttons.length - 1);
    buttons[next].focus();
  }

  /** Opens the dialog for the selected move, in the book whose pencil has the focus. */
  editChosen() {
    this.change(this.chosen(), Number(document.activeElement.dataset?.book));
  }

  /** The book in which a move can be changed: that with this number, else the first; and the move there. */
  editable(uci, number) {
    const found = (this.table.isPending ? [] : (this.table.view?.books ?? []))
      .map((book) => [book, book.moves.find((move) => move.uci === uci)])
      .filter(([book, move]) => move && canChange(book, move));
    return found.find(([one]) => one.book === number) ?? found[0] ?? [];
  }

  /** Marks a move at once; in a book with weights and no marks, "avoid" sets the weight 0. */
  markMove(uci, mark) {
    if (!uci || this.table.isPending) return;
    const [book, move] = this.editable(uci, Number(document.activeElement.dataset?.book));
    if (book && (book.most_weight === undefined || mark === "avoid")) this.mark(book, move, mark);
    else this.edit(null, move);
  }

  openMenu(event) {
    const row = event.target.closest("tr[data-uci]");
    const { uci } = row?.dataset ?? {};
    const [book] = uci ? this.editable(uci) : [];
    if (!book) return;
    event.preventDefault();
    /** @type {any[]} */
    const marks = book.most_weight === undefined ? MARKS : MARKS.filter(([mark]) => mark === "avoid");
    openMenu(event, [
      ...marks.map(([mark, text]) => [translated(text), () => this.markMove(uci, mark)]),
      [t("Change… (E)"), () => this.change(uci)],
    ]);
  }

  /** Opens the dialog for a move of the book with this number, else of the first in which it can be changed. */
  change(uci, number) {
    if (this.table.isPending) return;
    const [book, move] = this.editable(uci, number);
    if (book || uci) this.edit(book, move);
  }
}
