// What has been trained: one card for each position that was asked, stored in the
// browser's storage. A right answer puts it off, a wrong one brings it back.

import { t } from "./lang.js";

const DAY = 86_400_000;

/** Days until a card is asked again, by how often in a row it was known. */
const DAYS = [0, 1, 3, 7, 16, 35, 90, 180];

const PLACE = "training";
const FORMAT = "tabia-training";

/** The most cards that are stored; those asked longest ago are removed first. */
const MOST = 5000;

export class Cards {
  constructor() {
    let saved = null;
    try {
      saved = JSON.parse(localStorage.getItem(PLACE));
    } catch {
      /* Then it begins anew. */
    }
    this.all = new Map(saved ? valid(saved) : []);
  }

  /** A position of a book, asked of a colour. Counters of moves do not matter. */
  key(book, colour, fen) {
    return [book, colour, fen.split(" ").slice(0, 4).join(" ")].join("|");
  }

  /** Stores an answer; `way` leads to the position. */
  answered(key, right, way) {
    const old = this.all.get(key) ?? { level: 0, right: 0, wrong: 0 };
    const now = Date.now();
    const level = right ? Math.min(old.level + (now >= (old.due ?? 0) ? 1 : 0), DAYS.length - 1) : 0;
    const card = {
      ...way,
      level,
      right: old.right + (right ? 1 : 0),
      wrong: old.wrong + (right ? 0 : 1),
      asked: now,
      due: now + DAYS[level] * DAY,
    };
    this.all.delete(key);
    this.all.set(key, card);
    while (this.all.size > MOST) this.all.delete(this.all.keys().next().value);
    this.keep();
  }

  /** The cards of a book and colour that are due, the longest overdue first. */
  due(book, colour) {
    const begins = `${book}|${colour}|`;
    const found = [...this.all].filter(([key, card]) => key.startsWith(begins) && card.due <= Date.now());
    return found.sort(([, a], [, b]) => a.due - b.due);
  }

  export() {
    return JSON.stringify({ format: FORMAT, version: 1, cards: [...this.all] });
  }

  /** Takes cards in; of two for one position the one asked more often stays. Returns how many came. */
  import(text) {
    let read = null;
    try {
      read = JSON.parse(text);
    } catch {
      /* Reported below. */
    }
    if (read?.format !== FORMAT) throw new Error(t("This is no file of training that Tabia has saved."));
    let came = 0;
    for (const [key, card] of valid(read)) {
      const old = this.all.get(key);
      if (old && old.right + old.wrong >= card.right + card.wrong) continue;
      this.all.set(key, card);
      came += 1;
    }
    this.keep();
    return came;
  }

  forget() {
    this.all.clear();
    this.keep();
  }

  keep() {
    try {
      localStorage.setItem(PLACE, this.export());
    } catch {
      /* Then it lasts as long as the page. */
    }
  }
}

/** The cards of a file that can be used; files may come from anywhere. */
function valid({ cards }) {
  const number = (value) => Number.isFinite(value) && value >= 0;
  const isMove = (move) =>
    typeof move?.uci === "string" && typeof move?.san === "string" && /^[a-h][1-8][a-h][1-8][qrbn]?$/.test(move.uci);
  return (Array.isArray(cards) ? cards : [])
    .filter((entry) => {
      const [key, card] = Array.isArray(entry) ? entry : [];
      return (
        typeof key === "string" &&
        card &&
        [card.level, card.right, card.wrong, card.asked, card.due].every(number) &&
        card.level < DAYS.length &&
        Array.isArray(card.line) &&
        card.line.every(isMove) &&
        (card.fen === null || typeof card.fen === "string")
      );
    })
    .slice(0, MOST);
}
