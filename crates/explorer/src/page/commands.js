// What programs write into the comments of a game: clocks, values, arrows and squares, each as a command such as
// [%clk 1:23:45]. A comment keeps all of them; its words alone are shown as text.

const COMMAND = /\[%(\w+)\s*([^\]]*)\]/g;

/** The colours of arrows and squares by their letters, those of ChessBase and lichess. */
const COLOURS = { G: "green", R: "red", B: "blue", Y: "yellow" };

/** A comment without its commands. */
export const wordsOf = (comment) => comment.replace(COMMAND, "").replace(/ {2,}/g, " ").trim();

/** The comment with other words and the same commands. */
export const withWords = (comment, words) =>
  words === wordsOf(comment) ? comment : [...(comment.match(COMMAND) ?? []), words].filter(Boolean).join(" ");

/** A time without what is zero before the minutes: "0:05:12" is "5:12". */
const clockOf = (text) => (/^\d+:[\d:.]+$/.test(text) ? text.replace(/^(0+:(?=\d+:))?0?(?=\d)/, "") : "");

/** A value for White, in centipawns or as moves to mate; null for another text. */
function valueOf(text) {
  const [, mate, number] = /^(#?)([-+]?\d+(?:\.\d+)?)/.exec(text) ?? [];
  if (number === undefined) return null;
  return mate ? { mate: Number(number) } : { cp: Math.round(100 * Number(number)) };
}

/** The parts of a list such as "Gd2d4,Rf3d4": colours with one or two squares. */
const placesOf = (text, form) =>
  text
    .split(",")
    .map((part) => form.exec(part.trim()))
    .filter(Boolean)
    .map(([, letter, ...squares]) => ({ colour: COLOURS[letter] ?? COLOURS.G, squares }));

/** What the commands of a comment say: the clock, the value, arrows and squares with their colours. */
export function read(comment) {
  let clock = "",
    value = null;
  const places = [];
  for (const [, name, text] of comment.matchAll(COMMAND)) {
    if (name === "clk") clock = clockOf(text);
    else if (name === "eval") value = valueOf(text);
    else if (name === "cal") places.push(...placesOf(text, /^([A-Z])([a-h][1-8])([a-h][1-8])$/));
    else if (name === "csl") places.push(...placesOf(text, /^([A-Z])([a-h][1-8])$/));
  }
  return { clock, value, places };
}
