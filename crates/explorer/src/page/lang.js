// The language of the page and the letters of pieces. The page is in English; another language is a
// translation table from English (`locales/`), loaded when needed. A text that changes with the number in its first
// place has a form for each category of `Intl.PluralRules`.

import { request } from "./transport.js";

export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", ru: "Русский" };

const LETTERS = {
  en: "KQRBN",
  de: "KDTLS",
  es: "RDTAC",
  fr: "RDTFC",
  ru: ["Кр", "Ф", "Л", "С", "К"],
  figurines: "♔♕♖♗♘",
};

const ENGLISH = {
  "{0} games": { one: "{0} game", other: "{0} games" },
  "{0} games so far…": { one: "{0} game so far…", other: "{0} games so far…" },
  "{0} games so far: the newest {1} games of the index were searched.": {
    one: "{0} game so far: the newest {1} games of the index were searched.",
    other: "{0} games so far: the newest {1} games of the index were searched.",
  },
  "{0} positions loaded.": { one: "{0} position loaded.", other: "{0} positions loaded." },
  "{0} places": { one: "{0} place", other: "{0} places" },
  "{0} games reach the position after it": {
    one: "{0} game reaches the position after it",
    other: "{0} games reach the position after it",
  },
};

const rulesOf = (code) => new Intl.PluralRules(code);

let words = {},
  rules = rulesOf("en"),
  letters = null;

/** A setting stored in the browser, else `usual`. */
export function stored(name, usual) {
  try {
    return localStorage.getItem(name) ?? usual;
  } catch {
    return usual;
  }
}

/** A setting stored in the browser as JSON, else `usual`. */
export function storedJson(name, usual) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? usual;
  } catch {
    return usual;
  }
}

/** Stores a setting in the browser; false if it cannot, so that the setting lasts only while the page is open. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
    return true;
  } catch {
    return false;
  }
}

/** The names of stored settings with this beginning. */
export function storedNames(beginning) {
  try {
    return Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index)).filter((name) =>
      name.startsWith(beginning),
    );
  } catch {
    return [];
  }
}

/** Removes a stored setting. */
export function forgetStored(name) {
  try {
    localStorage.removeItem(name);
  } catch {
    /* Nothing is stored then. */
  }
}

/** The chosen language, else the browser's, else English. */
export function chosen() {
  const preferred = navigator.language.slice(0, 2);
  const known = stored("language", preferred);
  return known in LANGUAGES ? known : "en";
}

/** Sets the language before anything is shown. */
export async function begin() {
  const code = chosen();
  const set = stored("letters", "language");
  const alphabet = LETTERS[set === "language" ? code : set] ?? LETTERS.en;
  letters =
    alphabet === LETTERS.en
      ? null
      : Object.fromEntries([..."KQRBN"].map((letter, index) => [letter, [...alphabet][index]]));
  if (code === "en") return;
  try {
    words = await (await request(new URL(`${code}.json`, import.meta.url))).json();
    rules = rulesOf(code);
  } catch {
    // Without its table the page is in English.
    return;
  }
  document.documentElement.lang = code;
  translate(document.body);
}

/** Translates the texts in an element. */
function translate(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    if (text in words) node.data = node.data.replace(text, words[text]);
  }
  for (const name of ["title", "aria-label", "placeholder"]) {
    for (const element of root.querySelectorAll(`[${name}]`))
      element.setAttribute(name, translated(element.getAttribute(name)));
  }
}

/** The number of a text such as 12 345, which has small spaces. */
const numberIn = (text) => Number(String(text).replace(/\s/g, ""));

/** A text with its values, in the form that the first of them needs. */
function placed(key, values) {
  const [forms, rule] = key in words ? [words[key], rules] : [ENGLISH[key] ?? key, rulesOf("en")];
  const text = typeof forms === "string" ? forms : (forms[rule.select(numberIn(values[0]))] ?? forms.other);
  return text.replace(/\{(\d)\}/g, (_, index) => values[index]);
}

/**
 * Marks an English text in a table, which `translated` shows in the page's language. The tests find the texts of the
 * page by `t("…")`, t`…` and `english("…")`: eslint allows no other form.
 */
export const english = (text) => text;

/** A text in the page's language; in a template, the tables have {0}, {1}, … for the values. */
export function t(first, ...values) {
  const key = typeof first === "string" ? first : first.reduce((text, part, index) => `${text}{${index - 1}}${part}`);
  return placed(key, values);
}

/** A message of the program, or a marked text, in the page's language; its code is the English text. */
export function translated(message) {
  if (typeof message === "string") return words[message] ?? message;
  const { code, args } = message;
  const shown = (arg) => (typeof arg === "string" ? arg : translated(arg));
  return args ? placed(code, args.map(shown)) : (words[code] ?? code);
}

/** The name of an opening in the page's language: of its parts those that have a translation. */
export const openingName = (name) =>
  name
    .split(/(: |, )/)
    .map((part) => words[part] ?? part)
    .join("");

/** A move with the piece letters of the chosen language. */
export const lettered = (san) => (letters ? san.replace(/[KQRBN]/g, (letter) => letters[letter]) : san);

/** The pieces in words, by their letters in a move. */
export const PIECES = {
  K: english("king"),
  Q: english("queen"),
  R: english("rook"),
  B: english("bishop"),
  N: english("knight"),
};

/** A move in words, for screen readers. */
export function inWords(san) {
  const end = san.endsWith("#") ? `, ${t("checkmate")}` : san.endsWith("+") ? `, ${t("check")}` : "";
  const bare = san.replace(/[+#]/g, "");
  if (bare === "O-O") return t("castles short") + end;
  if (bare === "O-O-O") return t("castles long") + end;
  const text = bare
    .replace(/[KQRBN]/g, (letter) => ` ${translated(PIECES[letter])} `)
    .replace("x", ` ${t("takes")} `)
    .replace("=", ` ${t("becomes")} `);
  return text.replace(/\s+/g, " ").trim() + end;
}
