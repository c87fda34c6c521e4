// Messages of the page: at its bottom, or in the open dialog, because text under a dialog is neither visible
// nor read aloud.

import { by } from "./dom.js";
import { t } from "./lang.js";

/** The dialog that shows its own error. */
let about = null;

/** Shows a message; screen readers read it aloud. */
export function say(text, isError = false) {
  const dialog = document.querySelector("dialog[open]");
  about = isError ? dialog : null;
  const place = dialog?.querySelector(".buttons.end") ?? dialog ?? document.body;
  // The element must be in the document before its text, otherwise screen readers do not read it.
  if (by("messages").parentNode !== place) place.append(by("messages"));
  by("status").textContent = text;
  by("status").classList.toggle("error", isError);
}

/** Runs an asynchronous action, and shows its error. */
export const attempt = (action) => action().catch((error) => say(error.message, true));

/** Copies a text to the clipboard; `what` describes it in the message. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(t`${what} copied.`);
  } catch {
    // Without clipboard permission the user can select and copy it.
    say(text);
  }
}

/** Opens a dialog. */
export function modal(dialog) {
  dialog.showModal();
  say("");
}

/** Keys of a dialog with a field and a list of buttons: arrows move along the list, Enter in the field chooses. */
export function listKeys(dialog, field, list, choose) {
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === field) {
      // The default action would press the only button of the form, which closes it.
      event.preventDefault();
      choose();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.tagName === "SELECT") return;
    const places = [field, ...list.querySelectorAll("button")];
    places[Math.min(Math.max(places.indexOf(document.activeElement) + step, 0), places.length - 1)].focus();
    event.preventDefault();
  });
}

/** A message that a dialog has shown stays when the dialog closes, unless it is an error. */
export function listenToDialogs() {
  addEventListener(
    "close",
    ({ target }) => {
      const { textContent, className } = by("status");
      if (target === about) say("");
      else say(textContent, className === "error");
    },
    true,
  );
  by("status").addEventListener("click", () => say(""));
}
