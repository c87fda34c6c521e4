// The dialogs that change a book: the marks of a move or a line, and deletions. Each change is written at
// once and can be undone.

import { unique } from "./api.js";
import { by, el, grouped } from "./dom.js";
import { english, lettered, t, translated } from "./lang.js";
import { modal } from "./toast.js";
import { OF_POSITIONS, offer } from "./icons.js";
import { MARKS } from "./columns.js";

const ANNOTATIONS = ["none", "!", "!!", "!?", "?!", "?", "??", "□"];

/** Asks before a deletion, and shows that it is running. */
class RemovalDialog {
  /** `changes` counts and deletes positions; `failed` gets errors. */
  constructor(changes, failed) {
    this.changes = changes;
    this.failed = failed;
    this.dialog = by("removal-dialog");
    by("removal-begin").addEventListener("click", () => this.begin());
  }

  async open(entry, below) {
    const asked = (this.asked = { entry, below });
    const name = lettered(entry.move.san);
    by("removal-title").textContent = below
      ? t`Delete what follows ${name} in ${entry.name}`
      : t`Delete ${name} in ${entry.name}`;
    this.showStatus(t("The positions are being counted…"));
    modal(this.dialog);
    await this.until(asked, async () => {
      const positions = await this.changes.count(entry, below);
      if (asked !== this.asked) return;
      this.showStatus(t`Positions to delete: ${grouped(positions)}. “Undo” restores them.`, false);
      by("removal-begin").focus();
    });
  }

  begin() {
    const { asked } = this;
    this.showStatus(t("It continues if you leave this page, and can still be undone."));
    const close = () => asked === this.asked && this.dialog.close();
    this.until(asked, () => this.changes.remove(asked.entry, asked.below, close));
  }

  showStatus(text, isAtWork = true) {
    by("removal-message").textContent = text;
    by("removal-progress").hidden = !isAtWork;
    by("removal-begin").disabled = isAtWork;
  }

  /** Runs `action`; if it fails, the dialog is closed and the error is shown on the page. */
  async until(asked, action) {
    try {
      await action();
    } catch (error) {
      if (asked !== this.asked) return;
      this.dialog.close();
      this.failed(error);
    }
  }
}

export class EditDialog {
  /** `changes` writes and reads; `failed` gets errors. */
  constructor(changes, failed) {
    this.changes = changes;
    this.failed = failed;
    const removal = new RemovalDialog(changes, failed);
    this.dialog = by("edit-dialog");
    this.radios("edit-mark", "mark", MARKS);
    this.radios(
      "edit-annotation",
      "annotation",
      ANNOTATIONS.map((sign) => [sign, sign === "none" ? english("None") : sign]),
    );
    const slider = by("edit-learn-value"),
      number = by("edit-learn-value-number");
    slider.addEventListener("input", () => {
      number.value = slider.value;
    });
    slider.addEventListener("change", () => this.write("learn_value", slider.value, this.gesture));
    number.addEventListener("change", () => {
      if (number.value === "" || !number.checkValidity()) return;
      slider.value = number.value;
      this.write("learn_value", number.value, this.gesture);
    });
    const weight = by("edit-weight");
    weight.addEventListener("change", () => {
      if (weight.value !== "" && weight.reportValidity()) this.write("weight", weight.value, this.gesture);
    });
    // Each key is a change; all from one focus to the next are undone together.
    for (const field of [slider, number, weight])
      field.addEventListener("focus", () => {
        this.gesture = unique();
      });
    by("edit-commentary").addEventListener("change", () => this.write("commentary", by("edit-commentary").value));
    for (const id of ["remove-move", "remove-below"]) {
      by(id).addEventListener("click", () => {
        this.dialog.close();
        removal.open(this.entry, id === "remove-below");
      });
    }
    this.dialog.addEventListener("close", () => this.after?.());
  }

  radios(place, name, choices) {
    const list = el(
      "div",
      { class: "radios" },
      ...choices.map(([value, text]) => {
        const id = `${name}-${choices.findIndex(([other]) => other === value)}`;
        return el(
          "span",
          { class: `radio ${value}` },
          el("input", { type: "radio", id, name, value, onchange: () => this.write(name, value) }),
          el("label", { for: id }, translated(text)),
        );
      }),
    );
    by(place).append(list);
  }

  /** Opens it for a move of a book at a place, even if the page shows another place later. */
  open(book, move, place, after) {
    const title = t`${lettered(move.san)} in ${book.name}`;
    this.entry = { book: book.book, name: book.name, move, place, seen: {} };
    this.after = after;
    by("edit-title").textContent = title;
    this.show(book, move);
    modal(this.dialog);
  }

  /** Shows the values of the move in the book; a change also sends these old values. */
  show(book, move) {
    Object.assign(this.entry.seen, {
      mark: move.mark,
      annotation: move.annotation || "none",
      learn_value: String(move.learn_value),
      commentary: String(move.commentary),
    });
    this.weigh(book, move);
    this.dialog.querySelector(`input[name="mark"][value="${move.mark}"]`).checked = true;
    const sign = move.annotation || "none";
    for (const radio of this.dialog.querySelectorAll('input[name="annotation"]')) radio.checked = radio.value === sign;
    // A transposition is not stored, so it cannot be annotated.
    by("edit-annotation").disabled = move.transposition;
    by("remove-move").disabled = move.transposition;
    offer(by("edit-commentary"), OF_POSITIONS, move.commentary);
    by("edit-learn-value").value = move.learn_value;
    by("edit-learn-value-number").value = move.learn_value;
  }

  /** In a book with weights only the weight can be changed. */
  weigh(book, move) {
    const most = book.most_weight;
    for (const place of this.dialog.querySelectorAll("fieldset"))
      place.hidden = (place.id === "edit-weigh") !== (most !== undefined);
    // An invalid typed value would prevent the dialog from closing.
    by("edit-weight").value = "";
    if (most === undefined) return;
    const isArena = move.priority !== undefined;
    const now = isArena ? move.priority : Math.min(most, move.stored_weight);
    const [label, hint] = by("edit-weigh").querySelectorAll("label, .hint");
    label.textContent = isArena ? t("Priority") : t("Weight");
    hint.textContent = isArena
      ? t("0 never, 5 as usual, 9 most of all.")
      : t("0 never, up to 65535; played in proportion to the weights of all moves.");
    by("edit-weight").max = most;
    by("edit-weight").value = this.entry.seen.weight = String(now);
  }

  async write(what, value, gesture) {
    const { entry } = this;
    try {
      await this.changes.mark(entry, what, String(value), gesture);
    } catch (error) {
      await this.renew(entry).catch(() => {});
      this.failed(error);
    }
  }

  /** After a refused change: shows the values of the book again. */
  async renew(entry) {
    const { book, move } = await this.changes.now(entry);
    if (entry !== this.entry || !this.dialog.open) return;
    if (move) this.show(book, move);
    else this.dialog.close();
  }
}
