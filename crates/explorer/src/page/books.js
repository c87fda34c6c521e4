// The list of books: which are open, and which of those are shown.

import { by, el, item } from "./dom.js";
import { t, translated } from "./lang.js";
import { say } from "./toast.js";

// File names contain no "/".
const split = (text) => (text ? text.split("/") : []);

export class BookList {
  want;

  /** `want` adds a step to another state. */
  constructor({ want }) {
    this.want = want;
    this.names = [];
    /** What the program warns of, by the names of books. */
    this.warnings = new Map();
    for (const id of ["first-book", "second-book"]) by(id).addEventListener("change", () => this.choose());
    for (const id of ["first-sign", "second-sign"])
      by(id).addEventListener("click", () => say(by(id).title, false, true));
  }

  /** Sets the list of the program's books. */
  offer(books) {
    this.names = books.map((book) => book.name);
    this.warnings = new Map(books.map(({ name, notices }) => [name, notices.map(translated).join(" ")]));
  }

  /** A sign beside the name of a book that has a warning. */
  warn(id, name) {
    const text = this.warnings.get(name) ?? "";
    by(id).hidden = !text;
    by(id).title = text;
    by(id).setAttribute("aria-label", t`Warning about ${name ?? ""}: ${text}`);
  }

  /** The open books of a state. */
  open(state) {
    const closed = split(state.closed);
    return this.names.filter((name) => !closed.includes(name));
  }

  /** The shown books as a state names them: an empty text means the program's first. */
  named(books) {
    return books.length === 1 && books[0] === this.names[0] ? "" : books.join("/");
  }

  /** Shows a book, which may have just been opened. */
  show(name) {
    return this.want((from) => {
      const closed = split(from.closed).filter((other) => other !== name);
      return { ...from, closed: closed.join("/"), books: this.named([name]) };
    });
  }

  choose() {
    const books = [...new Set([by("first-book").value, by("second-book").value].filter(Boolean))];
    this.want((from) => ({ ...from, books: this.named(books) }));
  }

  /** Draws the list of open books; `shown` are marked. */
  draw(state, shown) {
    if (!this.names.length) return;
    const open = this.open(state);
    const key = `${open.join("/")}//${shown[0]}`;
    if (key !== this.drawn) {
      this.drawn = key;
      const choices = (names) => names.map((name) => el("option", { value: name }, name));
      by("first-book").replaceChildren(...choices(open));
      const others = open.filter((name) => name !== shown[0]);
      by("second-book").replaceChildren(el("option", { value: "" }, t("no other")), ...choices(others));
      by("second-choice").hidden = open.length < 2;
      this.list(open);
    }
    // Two books are named in the column headings of the table.
    const isPair = shown.length > 1;
    for (const [id, letter, name] of [
      ["first-name", "A", t("Book")],
      ["second-name", "B", t("Compare with")],
    ]) {
      by(id).textContent = isPair ? letter : name;
      by(id).className = isPair ? "letter" : "";
    }
    this.warn("first-sign", shown[0]);
    this.warn("second-sign", shown[1]);
    by("first-book").value = shown[0];
    by("second-book").value = shown[1] ?? "";
  }

  /** The menu of the program's books, with ticks for the open ones; a single one cannot be closed. */
  list(open) {
    const book = (name, index) => {
      const box = el("input", {
        type: "checkbox",
        id: `open-${index}`,
        checked: open.includes(name),
        disabled: open.length === 1 && open[0] === name,
        onchange: () => this.turn(name, box.checked),
      });
      return item(box, el("label", { for: `open-${index}` }, name));
    };
    const focused = document.activeElement?.id;
    by("open-books").replaceChildren(...(this.names.length > 1 ? this.names.map(book) : []));
    if (focused?.startsWith("open-")) by(focused)?.focus();
  }

  /** Opens a book again, or closes it; the last one stays open. */
  turn(name, opens) {
    this.want((from) => {
      const closed = split(from.closed)
        .filter((other) => other !== name)
        .concat(opens ? [] : [name]);
      const open = this.open({ closed: closed.join("/") });
      if (!open.length) return null;
      const shown = (from.books ? split(from.books) : this.names.slice(0, 1)).filter((other) => open.includes(other));
      return { ...from, closed: closed.join("/"), books: this.named(shown.length ? shown : open.slice(0, 1)) };
    });
  }
}
