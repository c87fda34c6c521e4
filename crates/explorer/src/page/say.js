// What the page has to say: at its foot, or in the dialog that is open, since
// what lies behind a dialog is neither seen nor read aloud.

import { by } from "./dom.js";

/** The dialog in which an error was said, which is about that dialog. */
let about = null;

/** Says something, also aloud. */
export function say(text, isError = false) {
  const dialog = document.querySelector("dialog[open]");
  about = isError ? dialog : null;
  const place = dialog?.querySelector(".buttons.end") ?? dialog ?? document.body;
  // The place is there before the words are, or they are not read.
  if (by("told").parentNode !== place) place.append(by("told"));
  by("status").textContent = text;
  by("status").classList.toggle("error", isError);
}

/** Opens a dialog. */
export function modal(dialog) {
  dialog.showModal();
  say("");
}

/** What was said in a dialog stays when it closes, but for its errors. */
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
