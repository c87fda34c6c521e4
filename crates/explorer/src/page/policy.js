// The options for choosing moves: chips that show changed values, and input fields; names, ranges and
// defaults are those of UCI.

import { button, by, el, item } from "./dom.js";
import { t, translated } from "./lang.js";

/** Slider stops of options with a wide range: denser for small values. */
const STOPS = [
  0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 2000, 5000, 10000,
  20000, 50000, 100000, 200000, 500000, 1000000,
];

function stopsOf(option) {
  const span = option.greatest - option.least;
  if (span <= 100) return null;
  return STOPS.filter((stop) => stop >= option.least && stop <= option.greatest);
}

const nearest = (stops, value) =>
  stops.reduce((best, stop, index) => (Math.abs(stop - value) < Math.abs(stops[best] - value) ? index : best), 0);

/** The name of an option on the page; addresses may have it in any case. */
const labelOf = (name) => translated(name.replace(/^Book /i, ""));

export class Policy {
  /** `changed` is called with the option's name and new value as text, and returns a promise. */
  constructor(options, changed, unset) {
    this.unset = unset;
    /** Number of changes without an answer yet. */
    this.coming = 0;
    this.changed = async (name, value) => {
      this.coming += 1;
      await changed(name, value);
      this.coming -= 1;
      this.show(...this.shown);
    };
    this.setters = new Map();
    by("policy").replaceChildren(...options.map((option) => this.field(option)));
    by("policy").addEventListener("submit", (event) => event.preventDefault());
  }

  field(option) {
    const id = `option-${option.name.toLowerCase().replaceAll(" ", "-")}`;
    const label = labelOf(option.name);
    if (option.kind === "check") return this.check(option, id, label);
    if (option.kind === "combo") return this.combo(option, id, label);
    return this.spin(option, id, label);
  }

  check(option, id, label) {
    const box = el("input", {
      type: "checkbox",
      id,
      name: option.name,
      "aria-describedby": `${id}-help`,
      onchange: () => this.changed(option.name, String(box.checked)),
    });
    this.setters.set(option.name, (value) => {
      box.checked = value === "true";
    });
    return el(
      "div",
      { class: "option check" },
      box,
      el("label", { for: id }, label),
      el("p", { class: "hint", id: `${id}-help` }, translated(option.help)),
    );
  }

  combo(option, id, label) {
    const list = el(
      "select",
      { id, name: option.name, onchange: () => this.changed(option.name, list.value) },
      ...option.words.map((word) => el("option", { value: word }, translated(word))),
    );
    this.setters.set(option.name, (value) => {
      list.value = value;
    });
    return el("div", { class: "option combo", title: translated(option.help) }, el("label", { for: id }, label), list);
  }

  spin(option, id, label) {
    const stops = stopsOf(option);
    const slider = el("input", {
      type: "range",
      id,
      name: option.name,
      step: "1",
      "aria-describedby": `${id}-help`,
      min: stops ? 0 : option.least,
      max: stops ? stops.length - 1 : option.greatest,
    });
    const number = el("input", {
      type: "number",
      min: option.least,
      max: option.greatest,
      step: "1",
      "aria-label": t`${label} as a number`,
    });
    const set = (value) => {
      slider.value = stops ? nearest(stops, Number(value)) : value;
      slider.setAttribute("aria-valuetext", value);
      if (document.activeElement !== number) number.value = value;
    };
    slider.addEventListener("input", () => {
      const value = stops ? stops[Number(slider.value)] : Number(slider.value);
      number.value = value;
      slider.setAttribute("aria-valuetext", value);
      this.changed(option.name, String(value));
    });
    number.addEventListener("input", () => {
      if (number.value === "" || !number.checkValidity()) return;
      this.changed(option.name, number.value);
    });
    this.setters.set(option.name, set);
    return el(
      "div",
      { class: "option spin" },
      el("label", { for: id }, label),
      slider,
      number,
      el("p", { class: "hint", id: `${id}-help` }, translated(option.help)),
    );
  }

  /** Shows the values in force; `set` are those set on this page. */
  show(values, set) {
    this.shown = [values, set];
    // A slider that has been moved again is not reset.
    if (!this.coming) for (const { name, value } of values) this.setters.get(name)?.(value);
    const chips = Object.entries(set).map(([name, value]) => {
      const label = labelOf(name);
      const chip = { class: "chip", "aria-label": t`${label} ${value}: back to the default` };
      const made = button(`${label}: ${value} `, () => this.unset(name), chip);
      made.append(el("span", { "aria-hidden": "true" }, "✕"));
      return item(made);
    });
    by("chips").replaceChildren(...chips);
    by("choice-tab").dataset.count = String(chips.length || "");
  }
}
