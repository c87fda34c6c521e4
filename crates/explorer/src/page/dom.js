// Small helpers around the document. Nothing here knows of chess.

/**
 * The element of an id, which is of the kind that the page gives it.
 * @param {string} id
 * @returns {any}
 */
export const by = (id) => document.getElementById(id);

/** The document has been read to its end: what is seen first is there before. */
export const whole = new Promise((resolve) => {
  document.addEventListener("DOMContentLoaded", resolve, { once: true });
});

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

/**
 * Makes `old` what `fresh` is, and leaves alone what it is already: that is not laid
 * out anew, keeps the focus, and takes no memory again. Listeners are not taken
 * over: what happens to such elements is listened to above them.
 */
function become(old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) === value) continue;
    // As an attribute a style would be refused.
    if (name === "style") old.style.cssText = value;
    else old.setAttribute(name, value);
  }
  fill(old, ...fresh.childNodes);
}

/** Makes these the children of an element, by changing those that it has. */
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

/** Whether keys typed now belong to a field. */
export function isTyping(target) {
  // A dialog that was closed a moment ago may still have the focus.
  return (
    target instanceof HTMLElement &&
    !target.closest("dialog:not([open])") &&
    target.closest("input, textarea, select, dialog[open]") !== null
  );
}

/** How the language of the page writes numbers. */
const formats = new Map();

/** A number with so many digits after the decimal point, or the comma where the language has one. */
export function decimal(number, digits) {
  const { lang } = document.documentElement,
    key = lang + digits;
  if (!formats.has(key))
    formats.set(
      key,
      new Intl.NumberFormat(lang, { useGrouping: false, minimumFractionDigits: digits, maximumFractionDigits: digits }),
    );
  return formats.get(key).format(number);
}

/** A whole number with thin gaps between thousands. */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A share of 1 in per cent. */
export function percent(share, digits = 1) {
  return decimal(100 * share, digits) + "\u202f%";
}
