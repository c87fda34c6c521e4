// Input that comes before the rest of the page.

import assert from "node:assert/strict";
import { test } from "node:test";

import "./support.js";

/** An element, as far as the recorded input asks it. */
globalThis.HTMLElement = class extends EventTarget {
  constructor(selectors = []) {
    super();
    this.selectors = selectors;
  }
  closest(selector) {
    return this.selectors.some((one) => selector.split(", ").includes(one)) ? this : null;
  }
};

/** An event that reaches the page from an element. */
const comes = (type, target, more = {}) => {
  const event = new Event(type, { cancelable: true });
  Object.defineProperty(event, "target", { value: target });
  dispatchEvent(Object.assign(event, more));
};

const { recordInput, repeatInput } = await import("../../crates/explorer/src/page/early.js");

test("input before the page is ready takes effect afterwards, in its order, once", () => {
  const log = [];
  const named = (name, selectors) => {
    const element = new HTMLElement(selectors);
    for (const type of ["keydown", "pointerdown", "pointermove", "pointerup", "click"])
      element.addEventListener(type, () => log.push(`${type} ${name}`));
    return element;
  };
  const board = named("board"),
    menu = named("menu", ["button[id]"]),
    link = named("link"),
    field = named("field", ["input"]),
    body = named("body"),
    focused = named("focused");
  recordInput();
  comes("keydown", body);
  comes("pointerdown", board);
  comes("pointerup", board);
  comes("click", menu);
  // A click elsewhere works without a script.
  comes("click", link);
  comes("keydown", field);
  const handled = new Event("keydown", { cancelable: true });
  handled.preventDefault();
  Object.defineProperty(handled, "target", { value: body });
  dispatchEvent(handled);
  assert.deepEqual(log, []);
  // A key is for the element that has the focus by then, unless it was typed into a field.
  document.activeElement = focused;
  repeatInput();
  const expected = [
    "keydown focused",
    "pointerdown board",
    "pointermove board",
    "pointerup board",
    "click menu",
    "keydown field",
  ];
  assert.deepEqual(log, expected);
  // From now on the page itself listens.
  comes("keydown", body);
  repeatInput();
  assert.deepEqual(log.slice(expected.length), expected, "nothing after it was recorded");
});
