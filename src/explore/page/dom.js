// Small helpers around the document. Nothing here knows of chess.

/** The element of an id. */
export const by = (id) => document.getElementById(id);

/** Makes an element: attributes (`class`, `aria-…`), listeners (`onclick`), children. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

/** Whether keys typed now belong to a field. */
export function isTyping(target) {
  // A dialog that was closed a moment ago may still have the focus.
  return target instanceof HTMLElement && !target.closest("dialog:not([open])") && target.closest("input, textarea, select, dialog[open]") !== null;
}

/** A whole number with thin gaps between thousands. */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A share of 1 in per cent. */
export function percent(share, digits = 1) {
  return (100 * share).toFixed(digits) + "\u202f%";
}

/** Says something at the foot of the page, also aloud. */
export function say(text, isError = false) {
  const place = by("status");
  place.textContent = text;
  place.classList.toggle("error", isError);
}
