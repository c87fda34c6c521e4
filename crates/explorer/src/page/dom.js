// Small helpers for the document.

import { t } from "./lang.js";

/**
 * The element with this id.
 * @param {string} id
 * @returns {any}
 */
export const by = (id) => document.getElementById(id);

/** Makes an element: attributes (`class`, `aria-…`), listeners (`onclick`), children. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Makes an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A button that sends no form. */
export const button = (text, onclick, attributes = {}) =>
  el("button", { type: "button", ...attributes, onclick }, text);

/** An entry of a list. */
export const item = (...children) => el("li", {}, ...children);

/** A row of a list: a button with a text and a hint, and what is beside it. */
export const row = (onclick, text, hint, ...others) =>
  item(
    el("button", { type: "button", onclick }, el("span", {}, text), hint && el("span", { class: "hint" }, hint)),
    ...others,
  );

/** Opens the file dialog of a field at a click on a button; `take` gets the chosen files. */
export function chooseFiles(button, field, take) {
  by(button).addEventListener("click", () => by(field).click());
  by(field).addEventListener("change", () => {
    const files = [...by(field).files];
    by(field).value = "";
    take(files);
  });
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/**
 * Makes `old` equal to `fresh`, but changes only what differs: unchanged elements need no new layout or
 * memory, and keep the focus. Listeners are not copied: their events are handled by parent elements.
 */
function become(old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) === value) continue;
    // The content policy refuses a style attribute.
    if (name === "style") old.style.cssText = value;
    else old.setAttribute(name, value);
  }
  fill(old, ...fresh.childNodes);
}

/** Replaces the children of an element by changing the existing ones. */
export function fill(place, ...children) {
  children.forEach((child, index) => {
    const known = place.childNodes[index];
    if (!known) place.append(child);
    else if (known.nodeName !== child.nodeName) known.replaceWith(child);
    else if (child.nodeType === Node.ELEMENT_NODE) become(known, child);
    else if (known.data !== child.data) known.data = child.data;
  });
  while (place.childNodes.length > children.length) place.lastChild.remove();
}

/** A number of games. */
export const gamesText = (number) => t`${grouped(number)} games`;

/** Whether typed keys are input of a field. */
export function isTyping(target) {
  // A dialog that was just closed may still have the focus.
  return (
    target instanceof HTMLElement &&
    !target.closest("dialog:not([open])") &&
    target.closest("input, textarea, select, dialog[open]") !== null
  );
}

/**
 * A number with this many decimals, in the page's language. `Intl.NumberFormat` gives the same in these five
 * languages, but its first use takes 18 ms.
 */
export function decimal(number, digits) {
  // Nothing is less than zero that is shown as zero.
  const rounded = Number(number.toFixed(digits)) || 0;
  const text = rounded.toFixed(digits).replace("-", "−");
  return document.documentElement.lang === "en" ? text : text.replace(".", ",");
}

/** A whole number with thin spaces between thousands. */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A fraction in per cent. */
export function percent(share, digits = 1) {
  return decimal(100 * share, digits) + "\u202f%";
}
