// The rest of the page handles input. Input before it has been loaded is repeated afterwards.

import { isTyping } from "./dom.js";

const events = [];
const come = new AbortController(),
  { signal } = come;

/** Clicks elsewhere have an effect without a script, or none. */
const CLICKED = "button[id], #books, #line";

function record(event) {
  const { target, type, defaultPrevented } = event;
  if (!defaultPrevented && (type !== "click" || target.closest(CLICKED))) events.push([event, target]);
}

export function recordInput() {
  for (const type of ["keydown", "pointerdown", "pointerup", "click"]) addEventListener(type, record, { signal });
}

/** The rest of the page has been loaded and handles all further events itself. */
export function repeatInput() {
  come.abort();
  for (const [event, target] of events) {
    const Kind = /** @type {any} */ (event).constructor;
    // A key is for the element that has the focus by then, which an earlier key may have changed, unless it was
    // typed into a field.
    const place = event.type === "keydown" && !isTyping(target) ? document.activeElement : target;
    // The way to the place of release is not recorded.
    if (event.type === "pointerup") place.dispatchEvent(new Kind("pointermove", event));
    place.dispatchEvent(new Kind(event.type, event));
  }
}
