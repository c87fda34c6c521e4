// The language of the page and the letters of pieces. The page is in English; another language is a
// translation table from English (`locales/`), loaded when needed.

export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", ru: "Русский" };

const LETTERS = {
  en: "KQRBN",
  de: "KDTLS",
  es: "RDTAC",
  fr: "RDTFC",
  ru: ["Кр", "Ф", "Л", "С", "К"],
  figurines: "♔♕♖♗♘",
};

let words = {},
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
    words = await (await fetch(new URL(`${code}.json`, import.meta.url))).json();
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

const placed = (text, values) => text.replace(/\{(\d)\}/g, (_, index) => values[index]);

/**
 * Marks an English text in a table, which `translated` shows in the page's language. The tests find the texts of the
 * page by `t("…")`, t`…` and `english("…")`: eslint allows no other form.
 */
export const english = (text) => text;

/** A text in the page's language; in a template, the tables have {0}, {1}, … for the values. */
export function t(first, ...values) {
  const key = typeof first === "string" ? first : first.reduce((text, part, index) => `${text}{${index - 1}}${part}`);
  return placed(words[key] ?? key, values);
}

/** A message of the program, or a marked text, in the page's language; its code is the English text. */
export function translated(message) {
  if (typeof message === "string") return words[message] ?? message;
  const { code, args } = message;
  const text = words[code] ?? code;
  const shown = (arg) => (typeof arg === "string" ? arg : translated(arg));
  return args ? placed(text, args.map(shown)) : text;
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
