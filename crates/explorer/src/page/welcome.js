// What a user can begin with who has named no book: a book, games, training. It is shown until a move is played.

import { by } from "./dom.js";
import { t } from "./lang.js";
import { say } from "./toast.js";
import * as tabs from "./tabs.js";
import { put } from "./transport.js";

/** The name of the book that the program shows when no other is named. */
const STARTER = "Starter book";

/** Whether the program was started without any book of the user. */
const isFirst = (books) => books.length === 1 && books[0].name === STARTER;

/** Whether there is anything to begin: no move yet, and no training. */
let isOffered = false;

/** Shows it if the program has only its own book; `pick` opens a file of the folders or, without any, `games` one of the user's. */
export function offer({ books, folders }, pick, games) {
  isOffered = isFirst(books);
  const actions = {
    "begin-book": () =>
      put
        ? games.pick()
        : folders
          ? pick()
          : say(t("A book is opened when the program starts: tabia explore book.ctg")),
    "begin-games": () => (folders && !put ? pick() : games.pickToIndex()),
    "begin-train": () => tabs.choose("train"),
  };
  for (const [id, action] of Object.entries(actions)) by(id).onclick = action;
}

/** The page shows this tree; another book may have been opened. */
export function show({ tree }, view, isTraining) {
  const isAtStart = tree.nodes.size === 1 && !tree.fen && view.open === 1;
  by("begin").hidden = !isOffered || !isAtStart || isTraining;
}
