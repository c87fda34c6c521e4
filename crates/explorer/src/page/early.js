// The rest of the page handles buttons and keys. Input before it has been loaded is repeated afterwards.

const pressed = [];
const come = new AbortController(),
  { signal } = come;

addEventListener(
  "click",
  ({ target }) => {
    const button = target.closest("button[id]");
    if (button) pressed.push(() => button.click());
  },
  { signal },
);

addEventListener(
  "keydown",
  (event) => {
    // To the element that has the focus by then, which an earlier key may have changed.
    if (!event.defaultPrevented)
      pressed.push(() => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", event)));
  },
  { signal },
);

/** The rest of the page has been loaded and handles all further events itself. */
export function again() {
  come.abort();
  for (const press of pressed) press();
}
