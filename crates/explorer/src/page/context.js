// A menu beside the pointer.

import { button, el } from "./dom.js";

/**
 * Opens a menu at a position of the page, such as an event's; entries are texts with their actions.
 * @param {{ x: number, y: number }} place
 * @param {any[]} entries
 */
export function openMenu({ x, y }, entries) {
  const before = /** @type {any} */ (document.activeElement);
  const menu = el(
    "div",
    { class: "context", role: "menu" },
    ...entries.map(([text, action]) => button(text, () => close(action), { role: "menuitem", class: "quiet" })),
  );
  const outside = ({ target }) => menu.contains(target) || close();
  const close = (action = () => {}) => {
    menu.remove();
    removeEventListener("pointerdown", outside, true);
    before?.focus({ preventScroll: true });
    action();
  };
  menu.addEventListener("keydown", (key) => {
    const buttons = [...menu.children];
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key];
    if (step) buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
    else if (key.key === "Escape" || key.key === "Tab") close();
    else if (key.key !== "Enter" && key.key !== " ") return;
    if (step || key.key === "Escape" || key.key === "Tab") key.preventDefault();
    key.stopPropagation();
  });
  addEventListener("pointerdown", outside, true);
  document.querySelector("main").append(menu);
  const { offsetWidth, offsetHeight } = menu;
  menu.style.left = `${Math.min(x, innerWidth - offsetWidth - 4)}px`;
  menu.style.top = `${Math.min(y, innerHeight - offsetHeight - 4)}px`;
  /** @type {any} */ (menu.firstElementChild).focus();
}
