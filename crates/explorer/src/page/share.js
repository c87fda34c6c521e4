// What can be saved as a file: the game, the training data, a picture of the board.

import { pieces, placeOf } from "./board.js";
import { by } from "./dom.js";

const SQUARE = 45;

/** Saves a file by the browser. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The board as a self-contained SVG picture. */
function drawing(fen, flipped) {
  const { set } = document.documentElement.dataset;
  const symbols = [...by("pieces").querySelectorAll(`[id^=${set}]`)]
    .map((symbol) => new XMLSerializer().serializeToString(symbol))
    .join("");
  const side = 8 * SQUARE;
  let text = `<svg xmlns="http://www.w3.org/2000/svg" width="${side * 2}" height="${side * 2}" viewBox="0 0 ${side} ${side}">${symbols}<rect width="${side}" height="${side}" fill="#e9ecea"/>`;
  for (let index = 0; index < 64; index += 1) {
    const x = index % 8,
      y = index >> 3;
    if ((x + y) % 2)
      text += `<rect x="${x * SQUARE}" y="${y * SQUARE}" width="${SQUARE}" height="${SQUARE}" fill="#86a39c"/>`;
  }
  for (const [name, letter] of pieces(fen)) {
    const [x, y] = placeOf(name, flipped);
    const colours =
      letter === letter.toUpperCase()
        ? 'fill="#fdfdfb" stroke="#23282c" color="#23282c"'
        : 'fill="#33393f" stroke="#0d1012" color="#dfe4e6"';
    text += `<use href="#${set}-${letter.toLowerCase()}" x="${x * SQUARE}" y="${y * SQUARE}" width="${SQUARE}" height="${SQUARE}" ${colours} stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/>`;
  }
  return `${text}</svg>\n`;
}

export function saveSvg(fen, flipped) {
  save(new Blob([drawing(fen, flipped)], { type: "image/svg+xml" }), "position.svg");
}

export async function savePng(fen, flipped) {
  const source = URL.createObjectURL(new Blob([drawing(fen, flipped)], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 8 * SQUARE * 2;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(source);
  canvas.toBlob((blob) => save(blob, "position.png"));
}

/** Saves a text as a file of this type and name. */
export const saveText = (text, type, name) => save(new Blob([text], { type }), name);

export const savePgn = (pgn) => save(new Blob([pgn], { type: "application/x-chess-pgn" }), "line.pgn");

export const saveTraining = (text) => save(new Blob([text], { type: "application/json" }), "training.json");
