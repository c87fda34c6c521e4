// Training data: one card for each position that was asked, stored in the browser. A right answer delays the
// next question, a wrong one repeats it soon.

import { keep, storedJson, t } from "./lang.js";

const DAY = 86_400_000;

/**
 * FSRS 4.5, by its published formulas and default parameters:
 * https://github.com/open-spaced-repetition/fsrs4anki/wiki/The-Algorithm. A card has a stability, the days
 * after which it is known with a probability of 90 %, and a difficulty from 1 to 10. An answer is right
 * (grade 3) or wrong (grade 1).
 */
const W = [
  0.4872, 1.4003, 3.7145, 13.8206, 5.1618, 1.2298, 0.8975, 0.031, 1.6474, 0.1367, 1.0461, 2.1072, 0.0793, 0.3246, 1.587,
  0.2272, 2.8755,
];

const within = (least, value, greatest) => Math.min(Math.max(value, least), greatest);

/** Stability and difficulty after an answer, `days` after the last one. */
export function learnt({ stability, difficulty }, right, days) {
  const grade = right ? 3 : 1;
  if (!stability) return { stability: W[grade - 1], difficulty: W[4] - (grade - 3) * W[5] };
  const forgotten = 1 - (1 + ((19 / 81) * days) / stability) ** -0.5;
  const next = right
    ? stability * (1 + Math.exp(W[8]) * (11 - difficulty) * stability ** -W[9] * (Math.exp(W[10] * forgotten) - 1))
    : Math.min(stability, W[11] * difficulty ** -W[12] * ((stability + 1) ** W[13] - 1) * Math.exp(W[14] * forgotten));
  const changed = difficulty - W[6] * (grade - 3);
  return {
    stability: within(0.1, next, LONGEST),
    difficulty: within(1, W[7] * W[4] + (1 - W[7]) * changed, 10),
  };
}

/** The probability from 0 to 1 that a card is known now; 0 if it was never asked. */
export const recall = ({ stability, asked }, now = Date.now()) =>
  stability ? (1 + ((19 / 81) * Math.max(0, now - asked)) / DAY / stability) ** -0.5 : null;

/** Greatest delay of a card, in days. */
const LONGEST = 365;

const PLACE = "training";
const FORMAT = "tabia-training";

/** Greatest number of stored cards; those asked longest ago are removed first. */
const MOST = 5000;

/** What is known of a position that was never asked. */
const unasked = (now) => ({ stability: 0, difficulty: W[4], right: 0, wrong: 0, asked: now });

export class Cards {
  constructor() {
    this.all = new Map();
    /** The chosen move, by the key of a position with several book moves; "" means any of them. */
    this.mine = new Map();
    /** Whether the browser has what is here. */
    this.isKept = true;
    this.load();
  }

  /** Reads what this tab and others have stored: each stores a change at once. */
  load() {
    if (!this.isKept) return;
    const saved = storedJson(PLACE, {});
    this.all = new Map(valid(saved));
    this.mine = new Map(choices(saved));
  }

  /** Makes a change to what all tabs have stored. */
  change(action) {
    this.load();
    action();
    this.isKept = keep(PLACE, this.export());
  }

  /** Stores which of several moves is the right one. */
  choose(key, uci) {
    this.change(() => {
      this.mine.set(key, uci);
      while (this.mine.size > MOST) this.mine.delete(this.mine.keys().next().value);
    });
  }

  /** The chosen moves of a book and colour, by the FENs of their positions. */
  chosen(book, colour) {
    const begins = `${book}|${colour}|`;
    return [...this.mine]
      .filter(([key, uci]) => uci && key.startsWith(begins))
      .map(([key, uci]) => [key.slice(begins.length), uci]);
  }

  /** The key of a position of a book for a colour, without move counters. */
  key(book, colour, fen) {
    return [book, colour, fen.split(" ").slice(0, 4).join(" ")].join("|");
  }

  /** Stores an answer; `way` is the line to the position. */
  answered(key, right, way) {
    const now = Date.now();
    this.store(key, (old = unasked(now)) => {
      const memory = learnt(old, right, Math.max(0, now - old.asked) / DAY);
      return {
        ...way,
        ...memory,
        right: old.right + (right ? 1 : 0),
        wrong: old.wrong + (right ? 0 : 1),
        asked: now,
        due: right ? now + memory.stability * DAY : now,
      };
    });
  }

  /** Makes a position due now; one that was never asked is new. */
  want(key, way) {
    const now = Date.now();
    this.store(key, (old = { ...way, ...unasked(now) }) => ({ ...old, due: now }));
  }

  /** Stores what `next` makes of the card that all tabs have, if there is one. */
  store(key, next) {
    this.change(() => {
      const card = next(this.all.get(key));
      this.all.delete(key);
      this.all.set(key, card);
      while (this.all.size > MOST) this.all.delete(this.all.keys().next().value);
    });
  }

  /** The cards of a book and colour. */
  of(book, colour) {
    const begins = `${book}|${colour}|`;
    return [...this.all].filter(([key]) => key.startsWith(begins));
  }

  /** The due cards, weakest first, new ones last. */
  due(book, colour) {
    const now = Date.now();
    const weak = ([, card]) => recall(card, now) ?? 1;
    return this.of(book, colour)
      .filter(([, card]) => card.due <= now)
      .sort((a, b) => weak(a) - weak(b));
  }

  /** For each opening the number of cards, of known and of due ones; weakest openings first. */
  progress(book, colour) {
    const now = Date.now();
    const rows = new Map();
    for (const [, card] of this.of(book, colour)) {
      const name = card.opening ?? "";
      if (!rows.has(name)) rows.set(name, { name, cards: 0, known: 0, due: 0 });
      const row = rows.get(name);
      row.cards += 1;
      if (card.due <= now) row.due += 1;
      else row.known += 1;
    }
    return [...rows.values()].sort((a, b) => a.known / a.cards - b.known / b.cards || b.cards - a.cards);
  }

  /** All data as text, with the chapters for a file. */
  export(chapters) {
    return JSON.stringify({ format: FORMAT, version: 3, cards: [...this.all], moves: [...this.mine], chapters });
  }

  /** Imports cards; of two for one position, the one asked more often stays. Returns how many were added, and the file's chapters. */
  import(text) {
    let read = null;
    try {
      read = JSON.parse(text);
    } catch {
      /* The caller reports it. */
    }
    if (read?.format !== FORMAT) throw new Error(t("This is not a training file that Tabia has saved."));
    let came = 0;
    this.change(() => {
      for (const [key, card] of valid(read)) {
        const old = this.all.get(key);
        if (old && old.right + old.wrong >= card.right + card.wrong) continue;
        this.all.set(key, card);
        came += 1;
      }
      for (const [key, uci] of choices(read)) this.mine.set(key, uci);
    });
    return { came, chapters: read.chapters };
  }

  /** Removes everything; returns it as text. */
  forget() {
    this.load();
    const all = this.export();
    this.change(() => {
      this.all.clear();
      this.mine.clear();
    });
    return all;
  }
}

/** Whether a card has the older format, with a count of right answers in a row instead of a stability. */
const isOld = (card) => card.stability === undefined && Number.isInteger(card.level) && card.level < 8;

/** Converts such a card: its stability is the number of days of its delay. */
function renewed({ fen, line, right, wrong, asked, due }) {
  const stability = within(W[0], (due - asked) / DAY, LONGEST);
  return { fen, line, stability, difficulty: W[4], right, wrong, asked, due };
}

/** The form of a move. */
const UCI = /^[a-h][1-8][a-h][1-8][qrbn]?$/;

/**
 * The chosen moves of a file.
 * @returns {[string, string][]}
 */
const choices = ({ moves }) =>
  (Array.isArray(moves) ? moves : [])
    .filter((entry) => Array.isArray(entry) && typeof entry[0] === "string" && (entry[1] === "" || UCI.test(entry[1])))
    .slice(0, MOST)
    .map(([key, uci]) => [key, uci]);

/**
 * The valid cards of a file, which may come from anywhere.
 * @returns {[string, any][]}
 */
function valid({ cards }) {
  const number = (value) => Number.isFinite(value) && value >= 0;
  const isMove = (move) =>
    typeof move?.uci === "string" && typeof move?.san === "string" && (UCI.test(move.uci) || move.uci === "0000");
  return (Array.isArray(cards) ? cards : [])
    .filter((entry) => {
      const [key, card] = Array.isArray(entry) ? entry : [];
      return (
        typeof key === "string" &&
        card &&
        [card.right, card.wrong, card.asked, card.due].every(number) &&
        (isOld(card) ||
          (number(card.stability) && card.stability <= LONGEST && card.difficulty >= 1 && card.difficulty <= 10)) &&
        Array.isArray(card.line) &&
        card.line.every(isMove) &&
        (card.fen === null || typeof card.fen === "string") &&
        (card.opening === undefined || typeof card.opening === "string")
      );
    })
    .slice(0, MOST)
    .map(([key, card]) => [key, isOld(card) ? renewed(card) : card]);
}
