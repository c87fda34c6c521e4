// Languages: numbers, moves, messages; annotations and values.

import assert from "node:assert/strict";
import { test } from "node:test";

import { file, forSeeds } from "./support.js";

const dom = await import("../../crates/explorer/src/page/dom.js");
const signs = await import("../../crates/explorer/src/page/icons.js");
const { LANGUAGES } = await import("../../crates/explorer/src/page/lang.js");

const OTHERS = Object.keys(LANGUAGES).filter((code) => code !== "en");

/** The table of a language. */
const tableOf = (code) => JSON.parse(file(`crates/explorer/locales/${code}.json`));

let pages = 0;

/** The module as it is in a page of a language, after its table has come. */
async function pageIn(code, letters = "language") {
  localStorage.setItem("language", code);
  localStorage.setItem("letters", letters);
  const wanted = [];
  globalThis.fetch = async (path) => {
    wanted.push(path.href.split("/").pop());
    return { json: async () => tableOf(code) };
  };
  globalThis.NodeFilter = { SHOW_TEXT: 4 };
  const body = { querySelectorAll: () => [] };
  globalThis.document = {
    createTreeWalker: () => ({ nextNode: () => null }),
    documentElement: { lang: "en" },
    body,
  };
  const lang = await import(`../../crates/explorer/src/page/lang.js?${(pages += 1)}`);
  await lang.begin();
  return { lang, wanted };
}

const inLanguage = (code, action) => {
  document.documentElement.lang = code;
  try {
    return action();
  } finally {
    document.documentElement.lang = "en";
  }
};

test("names of openings are shown in the page's language, part by part", async () => {
  const name = "Sicilian Defense: Najdorf Variation, English Attack, Anti-English";
  const shown = async (code) => (await pageIn(code)).lang.openingName(name);
  assert.equal(await shown("en"), name);
  assert.equal(await shown("de"), "Sizilianische Verteidigung: Najdorf-Variante, Englischer Angriff, Anti-English");
  assert.equal(await shown("ru"), "Сицилианская защита: Вариант Найдорфа, Английская атака, Anti-English");
});

test("a number of games has the form that the language needs", async () => {
  const shown = async (code, number) => (await pageIn(code)).lang.t`${number} games`;
  for (const [code, expected] of Object.entries({
    en: ["0 games", "1 game", "2 games", "21 games"],
    de: ["0 Partien", "1 Partie", "2 Partien", "21 Partien"],
    fr: ["0 partie", "1 partie", "2 parties", "21 parties"],
    ru: ["0 партий", "1 партия", "2 партии", "21 партия"],
  }))
    for (const [index, number] of [0, 1, 2, 21].entries()) assert.equal(await shown(code, number), expected[index]);
  const many = dom.grouped(12_345_002);
  assert.equal(await shown("ru", many), `${many} партии`);
  const { lang } = await pageIn("ru");
  const reach = (number) => lang.t`${number} games reach the position after it`;
  assert.equal(reach(11), "11 партий доходят до позиции после него");
  assert.equal(reach(101), "101 партия доходит до позиции после него");
});

test("other texts with a number have the form that the language needs", async () => {
  const english = (await pageIn("en")).lang;
  assert.equal(english.t`${1} positions loaded.`, "1 position loaded.");
  assert.equal(english.t`${2} positions loaded.`, "2 positions loaded.");
  assert.equal(english.t`${1} games so far…`, "1 game so far…");
  assert.equal(
    english.t`${1} games so far: the newest ${500} games of the index were searched.`,
    "1 game so far: the newest 500 games of the index were searched.",
  );
  assert.equal((await pageIn("fr")).lang.t`${1} of ${20} games`, "1 partie sur 20");
  const russian = (await pageIn("ru")).lang;
  const of = (number) => russian.t`${number} of ${500} games`;
  assert.deepEqual([1, 3, 21, 111].map(of), [
    "1 партия из 500",
    "3 партии из 500",
    "21 партия из 500",
    "111 партий из 500",
  ]);
  const code = "Only the newest {1} of this player’s {0} games are counted.";
  assert.equal(russian.translated({ code, args: ["201", "100"] }), "Из 201 партии игрока учтены последние 100.");
});

test("decimals have the sign of the language", () => {
  for (const code of Object.keys(LANGUAGES)) {
    const sign = code === "en" ? "." : ",";
    const written = inLanguage(code, () => [
      dom.decimal(12.345, 1),
      dom.percent(0.5),
      dom.percent(0.254, 0),
      signs.valueText({ cp: 35 }),
      signs.valueText({ cp: -120 }),
      signs.valueText({ cp: 0 }),
    ]);
    assert.deepEqual(
      written,
      [`12${sign}3`, `50${sign}0\u202f%`, "25\u202f%", `+0${sign}35`, `−1${sign}20`, `0${sign}00`],
      code,
    );
  }
});

test("decimals are those of Intl in every language, whatever the number", () => {
  forSeeds(50, ({ random, below }) => {
    const number = random() * 10 ** below(3);
    const digits = below(3);
    for (const code of Object.keys(LANGUAGES)) {
      const style = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
      const expected = new Intl.NumberFormat(code, style).format(Number(number.toFixed(digits)));
      assert.equal(
        inLanguage(code, () => dom.decimal(number, digits)),
        expected,
        code,
      );
    }
  });
});

test("thousands are separated, and nothing else", () => {
  assert.deepEqual([0, 999, 1000, 12345, 1234567].map(dom.grouped), [
    "0",
    "999",
    "1\u202f000",
    "12\u202f345",
    "1\u202f234\u202f567",
  ]);
});

test("learn values and mates have their signs", () => {
  assert.deepEqual([-40, 0, 7].map(signs.signed), ["−40", "0", "+7"]);
  assert.deepEqual(
    [3, -3].map((mate) => signs.valueText({ mate })),
    ["#3", "#−3"],
  );
});

test("annotations are their symbols, those of positions apart", () => {
  assert.equal(signs.signs({ nags: [] }), "");
  assert.equal(signs.signs({ nags: [1] }), "!");
  assert.equal(signs.signs({ nags: [6, 14, 146, 250] }), "?!\u202f+=\u202fN\u202f$250");
});

test("English needs no table", async () => {
  const { lang, wanted } = await pageIn("en");
  assert.deepEqual(wanted, []);
  assert.equal(lang.lettered("Nxf3+"), "Nxf3+");
  assert.equal(lang.t`${3} of ${10} games`, "3 of 10 games");
  assert.equal(lang.inWords("Nbxd7#"), "knight b takes d7, checkmate");
  assert.equal(lang.inWords("exd8=Q+"), "e takes d8 becomes queen, check");
  assert.deepEqual([lang.inWords("O-O"), lang.inWords("O-O-O+")], ["castles short", "castles long, check"]);
});

test("every language has its own words and the letters of its pieces", async () => {
  const knights = { de: "Sxf3", es: "Cxf3", fr: "Cxf3", ru: "Кxf3" };
  const kings = { de: "Ke2", es: "Re2", fr: "Re2", ru: "Крe2" };
  for (const code of OTHERS) {
    const { lang, wanted } = await pageIn(code);
    assert.deepEqual([document.documentElement.lang, wanted], [code, [`${code}.json`]]);
    const table = tableOf(code);
    assert.equal(lang.t("First position"), table["First position"]);
    assert.equal(lang.t`${3} due today`, table["{0} due today"].replace("{0}", "3"));
    assert.deepEqual(
      [lang.lettered("Nxf3"), lang.lettered("Ke2"), lang.lettered("e4")],
      [knights[code], kings[code], "e4"],
    );
    assert.match(lang.inWords("Nxf3"), new RegExp(table.knight));
    // Names and texts without a translation stay.
    assert.equal(lang.translated("a text of no table"), "a text of no table");
  }
});

test("the letters can be those of another language, or figurines", async () => {
  const { lang } = await pageIn("de", "figurines");
  assert.equal(lang.lettered("Nf3"), "♘f3");
  assert.equal((await pageIn("en", "ru")).lang.lettered("Kd1"), "Крd1");
  assert.equal((await pageIn("en", "unknown")).lang.lettered("Kd1"), "Kd1");
});

test("a message of the program is translated with its arguments, which may be messages", async () => {
  const { lang } = await pageIn("de");
  const table = tableOf("de");
  const inner = { code: "move {0} is a null move in check", args: ["3"] };
  const outer = { code: "The address names a line that cannot be played: {0}. {1}.", args: [inner, "x"] };
  const said = table[inner.code].replace("{0}", "3");
  assert.equal(lang.translated(outer), table[outer.code].replace("{0}", said).replace("{1}", "x"));
  // Text that looks like a place is text.
  assert.equal(lang.translated({ code: "move {0}", args: ["{0}"] }), table["move {0}"].replace("{0}", "{0}"));
  assert.equal(lang.translated({ code: "no such text" }), "no such text");
});

test("the language is the chosen one, else that of the browser, else English", async () => {
  const { lang } = await pageIn("fr");
  assert.equal(lang.chosen(), "fr");
  localStorage.setItem("language", "xx");
  assert.equal(lang.chosen(), "en");
  localStorage.removeItem("language");
  navigator.language = "ru-RU";
  assert.equal(lang.chosen(), "ru");
  navigator.language = "nl";
  assert.equal(lang.chosen(), "en");
  navigator.language = "en-GB";
});

test("a browser without storage has the usual settings", async () => {
  const { lang } = await pageIn("en");
  const { getItem, setItem } = localStorage;
  localStorage.getItem = localStorage.setItem = () => {
    throw new Error("forbidden");
  };
  lang.keep("letters", "de");
  assert.equal(lang.stored("letters", "usual"), "usual");
  Object.assign(localStorage, { getItem, setItem });
  lang.keep("x", "1");
  assert.equal(lang.stored("x", "usual"), "1");
});

test("numbers below zero have a minus sign, and none is shown as minus zero", () => {
  const shown = (code) => inLanguage(code, () => [-7.06, -0.04, 0.06].map((number) => dom.decimal(number, 1)));
  assert.deepEqual(shown("en"), ["−7.1", "0.0", "0.1"]);
  assert.deepEqual(shown("de"), ["−7,1", "0,0", "0,1"]);
});
