// The dialog in which a move's mark, annotation and learn value are changed. Each
// change is written at once and can be taken back.

import { by, el } from "./dom.js";

const MARKS = [["main", "✓ Main (green)"], ["avoid", "✕ Avoid (red)"], ["none", "None"]];
const ANNOTATIONS = ["none", "!", "!!", "!?", "?!", "?", "??", "□"];

export class EditDialog {
  /** `change(book, move, what, value, seen)` writes and returns a promise. */
  constructor(change) {
    this.change = change;
    this.dialog = by("edit-dialog");
    this.radios("edit-mark", "mark", MARKS);
    this.radios("edit-annotation", "annotation", ANNOTATIONS.map((sign) => [sign, sign === "none" ? "None" : sign]));
    const slider = by("edit-factor"), number = by("edit-factor-number");
    slider.addEventListener("input", () => { number.value = slider.value; });
    slider.addEventListener("change", () => this.write("factor", slider.value));
    number.addEventListener("change", () => {
      if (number.value === "" || !number.checkValidity()) return;
      slider.value = number.value;
      this.write("factor", number.value);
    });
    this.dialog.addEventListener("close", () => this.after?.());
  }

  radios(place, name, choices) {
    const list = el("div", { class: "radios" }, ...choices.map(([value, text]) => {
      const id = `${name}-${choices.findIndex(([other]) => other === value)}`;
      return el("span", { class: `radio ${value}` },
        el("input", { type: "radio", id, name, value, onchange: () => this.write(name, value) }),
        el("label", { for: id }, text));
    }));
    by(place).append(list);
  }

  open(book, move, after) {
    this.book = book.book;
    this.move = move;
    this.seen = { mark: move.mark, annotation: move.annotation || "none", factor: String(move.factor) };
    this.after = after;
    by("edit-title").textContent = `${move.san} in ${book.name}`;
    by("edit-error").textContent = "";
    this.dialog.querySelector(`input[name="mark"][value="${move.mark}"]`).checked = true;
    const sign = move.annotation || "none";
    for (const radio of this.dialog.querySelectorAll('input[name="annotation"]')) radio.checked = radio.value === sign;
    // Nobody stored a transposition, so there is nothing to annotate.
    by("edit-annotation").disabled = move.transposition;
    by("edit-factor").value = move.factor;
    by("edit-factor-number").value = move.factor;
    this.dialog.showModal();
  }

  async write(what, value) {
    by("edit-error").textContent = "";
    try {
      await this.change(this.book, this.move, what, String(value), this.seen[what]);
      this.seen[what] = String(value);
    } catch (error) {
      by("edit-error").textContent = error.message;
    }
  }
}
