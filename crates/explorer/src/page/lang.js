// The language of the page and of the letters of pieces. English is in the
// page itself; other languages are tables from English, loaded when chosen:
// one of what the page says, one of what the program does.

import { whole } from "./dom.js";

export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", ru: "Русский" };

const LETTERS = { en: "KQRBN", de: "KDTLS", es: "RDTAC", fr: "RDTFC", ru: ["Кр", "Ф", "Л", "С", "К"], figurines: "♔♕♖♗♘" };

let words = {}, sentences = {}, patterns = [], letters = null;

export function kept(name, usual) {
  try { return localStorage.getItem(name) ?? usual; } catch { return usual; }
}

export function keep(name, value) {
  try { localStorage.setItem(name, value); } catch { /* It is forgotten, then. */ }
}

/** The language that was chosen, else the browser's, else English. */
export function chosen() {
  const own = navigator.language.slice(0, 2);
  const known = kept("language", own);
  return known in LANGUAGES ? known : "en";
}

/** Takes up the chosen language, before anything is shown: a promise where its tables are to be fetched. */
export function begin() {
  const code = chosen();
  const set = kept("letters", "language");
  const alphabet = LETTERS[set === "language" ? code : set] ?? LETTERS.en;
  letters = alphabet === LETTERS.en ? null : Object.fromEntries([..."KQRBN"].map((letter, index) => [letter, [...alphabet][index]]));
  if (code === "en") return null;
  document.body.hidden = true;
  return learn(code).finally(() => { document.body.hidden = false; });
}

async function learn(code) {
  const [, ...tables] = await Promise.all([whole, import(`/page/lang-${code}.js`), import(`/page/program-${code}.js`)]);
  [words, sentences] = tables.map((table) => table.default);
  const plain = (text) => text.replace(/[\\^$.*+?()[\]|]/g, "\\$&").replace(/\{\d\}/g, "(.+)");
  patterns = Object.keys(sentences).filter((text) => text.includes("{0}")).map((text) => [new RegExp(`^${plain(text)}$`, "s"), sentences[text]]);
  document.documentElement.lang = code;
  translate(document.body);
}

/** What is written in an element, in the language of the page. */
export function translate(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    if (text in words) node.data = node.data.replace(text, words[text]);
  }
  for (const name of ["title", "aria-label", "placeholder"]) {
    for (const element of root.querySelectorAll(`[${name}]`)) element.setAttribute(name, t(element.getAttribute(name)));
  }
}

/** A text in the language of the page; of a template, what varies is {0}, {1}, … in the tables. */
export function t(first, ...values) {
  const key = typeof first === "string" ? first : first.reduce((text, part, index) => `${text}{${index - 1}}${part}`);
  return (words[key] ?? key).replace(/\{(\d)\}/g, (_, index) => values[index]);
}

/** What the program has said, in the language of the page; as it is where the table does not have it. */
export function told(text) {
  if (Object.hasOwn(sentences, text)) return sentences[text];
  for (const [pattern, other] of patterns) {
    const parts = pattern.exec(text);
    if (parts) return other.replace(/\{(\d)\}/g, (_, index) => told(parts[Number(index) + 1]));
  }
  return text;
}

/** A move with the letters of the chosen language. */
export const lettered = (san) => (letters ? san.replace(/[KQRBN]/g, (letter) => letters[letter]) : san);

const PIECES = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight" };

/** A move in words, to be read aloud. */
export function spoken(san) {
  const end = san.endsWith("#") ? `, ${t("checkmate")}` : san.endsWith("+") ? `, ${t("check")}` : "";
  const bare = san.replace(/[+#]/g, "");
  if (bare === "O-O") return t("castles short") + end;
  if (bare === "O-O-O") return t("castles long") + end;
  const told = bare.replace(/[KQRBN]/g, (letter) => ` ${t(PIECES[letter])} `).replace("x", ` ${t("takes")} `).replace("=", ` ${t("becomes")} `);
  return told.replace(/\s+/g, " ").trim() + end;
}
