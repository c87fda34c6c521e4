// The rest of the page handles buttons and keys. What is pressed before it has
// been loaded is pressed again afterwards.

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
    // Where the keys go by then, which one of them may have changed.
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
