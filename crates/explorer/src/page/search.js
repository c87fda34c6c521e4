// Openings by name or code.

import { get } from "./api.js";
import { by, el } from "./dom.js";
import { modal } from "./say.js";

export class Search {
  /** `go` is called with the opening that was chosen. */
  constructor(go) {
    this.go = go;
    this.dialog = by("search-dialog");
    this.field = by("search-text");
    this.asked = 0;
    this.field.addEventListener("input", () => this.ask());
    this.dialog.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === this.field) {
        // By itself it would press the only button of the form, which closes it.
        event.preventDefault();
        this.choose();
        return;
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const places = [this.field, ...by("search-list").querySelectorAll("button")];
      places[Math.min(Math.max(places.indexOf(document.activeElement) + step, 0), places.length - 1)].focus();
      event.preventDefault();
    });
  }

  open() {
    modal(this.dialog);
    this.field.select();
    this.ask();
  }

  /** Takes the first of what is listed: that may still be what was typed before. */
  async choose() {
    if (await this.listed) by("search-list").querySelector("button")?.click();
  }

  ask() {
    this.listed = this.list();
  }

  /** Lists what is called so; whether it is still wanted then. */
  async list() {
    const number = (this.asked += 1);
    const words = this.field.value.trim();
    const found = words ? await get("/api/openings", new URLSearchParams({ q: words })).catch(() => []) : [];
    if (number !== this.asked) return false;
    by("search-none").hidden = !words || found.length > 0;
    by("search-list").replaceChildren(...found.map((opening) => el("li", {}, el("button", {
      type: "button", onclick: () => { this.dialog.close(); this.go(opening); },
    }, el("span", { class: "code" }, opening.eco), el("span", {}, opening.name, el("span", { class: "hint" }, opening.line))))));
    return true;
  }
}
