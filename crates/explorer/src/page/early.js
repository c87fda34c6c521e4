// Buttons and keys are heard by the rest of the page. What is pressed before
// that is there is pressed again then.

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

/** The rest of the page is there, and hears all that comes by itself. */
export function again() {
  come.abort();
  for (const press of pressed) press();
}
