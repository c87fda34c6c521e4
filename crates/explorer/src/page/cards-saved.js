// Training files that a page has saved, and what the browser stored before the program did: cards by the name of their
// book, which may come from anywhere.

import { t } from "./lang.js";

const DAY = 86_400_000;

/** The greatest stability of a card, in days. */
const LONGEST = 365;

/** The difficulty of a card whose file has none. */
const MIDDLE = 5.1618;

export const FORMAT = "tabia-training";

/** The content of a saved file. */
export function readSaved(text) {
  let read = null;
  try {
    read = JSON.parse(text);
  } catch {
    /* Reported below. */
  }
  if (read?.format !== FORMAT) throw new Error(t("This is not a training file that Tabia has saved."));
  return { ...read, chapters: Array.isArray(read.chapters) ? read.chapters : [] };
}

/** The name of the book or chapter in the key of a saved card, and the rest of the key. */
export const nameIn = (key) => key.split("|").slice(0, -2).join("|");
export const restOf = (key) => key.split("|").slice(-2);

/** A text of 16 letters that two different texts probably do not share. */
export function hash(text) {
  let [a, b] = [0x811c9dc5, 0x2f4a7c15];
  for (let index = 0; index < text.length; index += 1) {
    a = Math.imul(a ^ text.charCodeAt(index), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(index), 0x85ebca6b) ^ (b >>> 13);
  }
  return [a, b].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Whether a card has the older format, with a count of right answers in a row instead of a stability. */
const isOld = (card) => card.stability === undefined && Number.isInteger(card.level) && card.level < 8;

/** Converts such a card: its stability is the number of days of its delay. */
function renewed({ fen, line, right, wrong, asked, due }) {
  const stability = Math.min(Math.max(0.5, (due - asked) / DAY), LONGEST);
  return { fen, line, stability, difficulty: MIDDLE, right, wrong, asked, due };
}

/** The form of a move. */
const UCI = /^[a-h][1-8][a-h][1-8][qrbn]?$/;

/**
 * The chosen moves of a file.
 * @returns {[string, string][]}
 */
export const choices = ({ moves }) =>
  (Array.isArray(moves) ? moves : [])
    .filter((entry) => Array.isArray(entry) && typeof entry[0] === "string" && (entry[1] === "" || UCI.test(entry[1])))
    .map(([key, uci]) => [key, uci]);

/**
 * The valid cards of a file, which may come from anywhere.
 * @returns {[string, any][]}
 */
export function valid({ cards }) {
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
    .map(([key, card]) => [key, isOld(card) ? renewed(card) : card]);
}
