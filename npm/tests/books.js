// What the tests share: books, positions, and the answers of the program.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export const TABIA = process.env.TABIA;
export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tabia-npm-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true }));

export const place = (name) => path.join(folder, name);

/** Runs the program; returns what it prints. */
export function tabia(words, input = "") {
  const run = spawnSync(TABIA, words, { input, encoding: "utf8", maxBuffer: 2 ** 30 });
  // 1 says that a position is not in the book.
  if (run.status > 1 || run.error) throw new Error(`${words}: ${run.error ?? run.stderr}`);
  return run.stdout;
}

/** The answers of `tabia probe --json`. */
export function probed(book, positions, ...words) {
  const lines = tabia(["probe", book, "-", "--json", ...words], positions.join("\n") + "\n");
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** A Chessmaster book: 1.e4 (e5 | c5), 1.d4. */
function obk() {
  const moves = [
    [12, 28, 0],
    [52, 36, 0x80],
    [50, 34, 0xc0],
    [11, 27, 0xc0],
  ];
  const bytes = moves.flatMap(([from, to, flags]) => [from | flags, to | 0x80]);
  return Buffer.concat([Buffer.from("UGWS\x04\0\0\0", "latin1"), Buffer.from(bytes)]);
}

/** A Shredder book: 1.e4, 1.d4. */
function bkt() {
  const bytes = Buffer.alloc(256 * 1552);
  for (const [n, [from, to]] of [
    [12, 28],
    [11, 27],
  ].entries()) {
    const at = 0x3c * 1552 + 48 * n;
    bytes.writeBigUInt64BE(0xbcee2376da2fd45fn, at);
    bytes.writeUInt32LE((from + 1) | ((to + 1) << 7) | (2 << 22) | (1 << 29), at + 8);
  }
  return bytes;
}

/** The paths of the files of each book, by their extensions. */
export const BOOKS = { ctg: {}, simple: {} };
for (const extension of ["ctg", "cto", "ctb"]) {
  for (const [book, stem] of [
    ["ctg", "tabia"],
    ["simple", "simple"],
  ]) {
    BOOKS[book][extension] = place(`${stem}.${extension}`);
    fs.copyFileSync(`books/${stem}.${extension}`, BOOKS[book][extension]);
  }
}
for (const format of ["bin", "abk"]) {
  BOOKS[format] = { [format]: place(`tabia.${format}`) };
  tabia(["convert", "-q", BOOKS.ctg.ctg, BOOKS[format][format]]);
}
for (const [format, bytes] of Object.entries({ obk: obk(), bkt: bkt() })) {
  BOOKS[format] = { [format]: place(`made.${format}`) };
  fs.writeFileSync(BOOKS[format][format], bytes);
}

/** The path that the program opens. */
export const pathOf = (book) => Object.values(BOOKS[book])[0];

/** The files of a book as bytes, with its name. */
export function bytesOf(book) {
  const files = Object.entries(BOOKS[book]).map(([extension, file]) => [extension, fs.readFileSync(file)]);
  return { name: path.parse(pathOf(book)).name, ...Object.fromEntries(files) };
}

/** The files of a book, read where they are asked. */
export function readersOf(book) {
  const files = Object.entries(BOOKS[book]).map(([extension, file]) => {
    const handle = fs.openSync(file);
    const read = (offset, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, fs.readSync(handle, bytes, 0, length, offset));
    };
    return [extension, { size: fs.statSync(file).size, read }];
  });
  return { name: path.parse(pathOf(book)).name, ...Object.fromEntries(files) };
}

const swapCase = (text) =>
  text.replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));

/** The same position with colours reversed. */
export function reversed(fen) {
  const [board, turn, rights, square, ...numbers] = fen.split(" ");
  const castling = [...swapCase(rights)].sort().join("");
  const passant = square === "-" ? "-" : square[0] + (9 - Number(square[1]));
  return [swapCase(board).split("/").reverse().join("/"), turn === "w" ? "b" : "w", castling, passant, ...numbers].join(
    " ",
  );
}

/** So many positions of an open book, spread over it; every third with colours reversed. */
export function sample(book, count) {
  const all = [...book.positions()];
  const stride = Math.max(1, Math.floor(all.length / count));
  const some = all.filter((_, at) => at % stride === 0).slice(0, count);
  return some.map((fen, at) => (at % 3 === 2 ? reversed(fen) : fen));
}
