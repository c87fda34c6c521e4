// Messages of the page: over the board, where they cover no button, or in the open dialog, because text under a dialog
// is neither visible nor read aloud. They go by themselves; errors stay until something is done about them.

import { by } from "./dom.js";
import { t } from "./lang.js";

/** The dialog that shows its own error. */
let about = null;

/** How long a message is shown, in milliseconds, and how much longer for each letter that is more than a line. */
const SHOWN = 4000,
  PER_LETTER = 40,
  LINE = 60;

let timer = 0;

/** The message goes, unless the pointer rests on it. */
function leave() {
  if (by("status").matches(":hover")) timer = setTimeout(leave, SHOWN);
  else say("");
}

/** Puts the message on the lower edge of the board, or of the window if the board is not in sight. */
function place() {
  const board = by("board").getBoundingClientRect();
  const isSeen = board.bottom > 80 && board.top < innerHeight - 80 && board.width > 0;
  const { style } = by("status");
  style.setProperty("--middle", `${isSeen ? board.left + board.width / 2 : innerWidth / 2}px`);
  style.setProperty("--above", `${isSeen ? Math.max(innerHeight - board.bottom, 0) + 4 : 12}px`);
  style.setProperty("--most", `${isSeen ? board.width - 8 : innerWidth - 24}px`);
}

/** Shows a message; screen readers read it aloud. An error, or what `stays`, is shown until the next one. */
export function say(text, isError = false, stays = isError) {
  clearTimeout(timer);
  if (text && !stays) timer = setTimeout(leave, SHOWN + PER_LETTER * Math.max(0, text.length - LINE));
  if (text) place();
  const dialog = document.querySelector("dialog[open]");
  about = isError ? dialog : null;
  const parent = dialog?.querySelector(".buttons.end") ?? dialog ?? document.body;
  // The element must be in the document before its text, otherwise screen readers do not read it.
  if (by("messages").parentNode !== parent) parent.append(by("messages"));
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
    say(text, false, true);
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
