// Messages of the page: at its foot, or in the open dialog, since text below a
// dialog is neither visible nor read aloud.

import { by } from "./dom.js";

/** The dialog that shows an error about itself. */
let about = null;

/** Shows a message; screen readers read it aloud. */
export function say(text, isError = false) {
  const dialog = document.querySelector("dialog[open]");
  about = isError ? dialog : null;
  const place = dialog?.querySelector(".buttons.end") ?? dialog ?? document.body;
  // The element must be there before its text, or screen readers do not read it.
  if (by("told").parentNode !== place) place.append(by("told"));
  by("status").textContent = text;
  by("status").classList.toggle("error", isError);
}

/** Opens a dialog. */
export function modal(dialog) {
  dialog.showModal();
  say("");
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
