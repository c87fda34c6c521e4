// The rules of chess, so that a move is shown before the program has answered. The answer has the last word: it comes
// for each position, and replaces what is worked out here.

import { pieces as piecesOf } from "./board.js";

const FIRST = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const FILES = "abcdefgh";

/** @type {[number, number][]} */
const STRAIGHT = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
];
/** @type {[number, number][]} */
const DIAGONAL = [
  [1, 1],
  [1, -1],
  [-1, 1],
  [-1, -1],
];
/** @type {[number, number][]} */
const LEAPS = [
  [1, 2],
  [2, 1],
  [2, -1],
  [1, -2],
  [-1, -2],
  [-2, -1],
  [-2, 1],
  [-1, 2],
];

/** The directions of each piece, and whether it goes on in them. */
/** @type {Record<string, [[number, number][], boolean]>} */
const WAYS = {
  n: [LEAPS, false],
  k: [[...STRAIGHT, ...DIAGONAL], false],
  b: [DIAGONAL, true],
  r: [STRAIGHT, true],
  q: [[...STRAIGHT, ...DIAGONAL], true],
};

const fileOf = (square) => square.charCodeAt(0) - 97;
const isWhite = (letter) => letter < "a";

/** The square so many files and ranks away; nothing beyond the board. */
function beside(square, files, ranks) {
  const file = FILES[fileOf(square) + files];
  const rank = Number(square[1]) + ranks;
  return file && rank >= 1 && rank <= 8 ? file + rank : undefined;
}

/** Where rook and king go when the king moves from one of these squares to the other; null if it does not castle. */
function castled(before, from, to) {
  const king = before.get(from);
  if (!/k/i.test(king ?? "")) return null;
  const isRook = (square) => before.get(square) === (king === "K" ? "R" : "r");
  const isFar = Math.abs(fileOf(from) - fileOf(to)) > 1;
  if (!isRook(to) && !isFar) return null;
  const isShort = fileOf(to) > fileOf(from);
  const outwards = isShort ? [..."hgfedcb"] : [..."abcdefg"];
  const rook = isRook(to) ? to : outwards.map((letter) => letter + from[1]).find(isRook);
  if (!rook) return null;
  return { rook, kingTo: (isShort ? "g" : "c") + from[1], rookTo: (isShort ? "f" : "d") + from[1] };
}

/** The pieces after a legal move in UCI notation. */
export function after(before, uci) {
  const now = new Map(before);
  const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)];
  const piece = before.get(from);
  const castling = castled(before, from, to);
  now.delete(from);
  if (castling) {
    now.delete(castling.rook);
    now.set(castling.kingTo, piece);
    now.set(castling.rookTo, before.get(castling.rook));
    return now;
  }
  // A pawn that takes on an empty square takes in passing.
  if (/p/i.test(piece ?? "") && from[0] !== to[0] && !before.has(to)) now.delete(to[0] + from[1]);
  const promoted = uci[4];
  now.set(to, promoted ? (piece === "P" ? promoted.toUpperCase() : promoted) : piece);
  return now;
}

/** The pieces after moves from a position; null is the first position. */
export const along = (fen, moves) => moves.reduce(after, piecesOf(fen ?? FIRST));

/** The first piece in a direction, with its square. */
function seen(pieces, square, [files, ranks]) {
  let at = beside(square, files, ranks);
  while (at && !pieces.has(at)) at = beside(at, files, ranks);
  return at;
}

/** Whether a side attacks a square. */
function attacks(pieces, square, white) {
  const has = (at, letters) => {
    const letter = at && pieces.get(at);
    return letter && isWhite(letter) === white && letters.includes(letter.toLowerCase());
  };
  const pawns = white ? -1 : 1;
  return (
    [-1, 1].some((files) => has(beside(square, files, pawns), "p")) ||
    LEAPS.some(([files, ranks]) => has(beside(square, files, ranks), "n")) ||
    WAYS.k[0].some(([files, ranks]) => has(beside(square, files, ranks), "k")) ||
    STRAIGHT.some((way) => has(seen(pieces, square, way), "rq")) ||
    DIAGONAL.some((way) => has(seen(pieces, square, way), "bq"))
  );
}

const kingOf = (pieces, white) => [...pieces].find(([, letter]) => letter === (white ? "K" : "k"))?.[0];

/** Whether the king of a side is attacked. */
const isAttacked = (pieces, white) => attacks(pieces, kingOf(pieces, white), !white);

/** The squares of the rooks that may castle, by the letters of a FEN. */
function rooksOf(letters, pieces) {
  const rook = (letter) => {
    const white = isWhite(letter);
    const rank = white ? "1" : "8";
    const file = letter.toLowerCase();
    if (file !== "k" && file !== "q") return file + rank;
    const king = fileOf(kingOf(pieces, white));
    const outwards = file === "k" ? [..."hgfedcba"] : [...FILES];
    return outwards
      .filter((one) => FILES.indexOf(one) > king === (file === "k"))
      .map((one) => one + rank)
      .find((square) => pieces.get(square) === (white ? "R" : "r"));
  };
  return letters === "-" ? [] : [...letters].map(rook).filter(Boolean);
}

/** Whether castling is written as the king taking its rook, as in Chess960. */
const isFree = (pieces, rooks) =>
  rooks.some((rook) => !/[ah]/.test(rook) || kingOf(pieces, isWhite(pieces.get(rook)))[0] !== "e");

/** A position from its FEN; null is the first one. Nothing if a side has no king. */
export function read(fen) {
  const [board, turn, castling = "-", passing = "-", half = "0", full = "1"] = (fen ?? FIRST).split(" ");
  const pieces = piecesOf(board);
  if (!kingOf(pieces, true) || !kingOf(pieces, false)) return null;
  const rooks = rooksOf(castling, pieces);
  return {
    pieces,
    white: turn !== "b",
    rooks,
    isFree: isFree(pieces, rooks),
    passing: passing === "-" ? null : passing,
    half: Number(half),
    full: Number(full),
  };
}

/** The castling moves of the side to move, by their rooks. */
function castlings(position) {
  const { pieces, white, rooks } = position;
  const king = kingOf(pieces, white);
  const between = (a, b) => {
    const [low, high] = [fileOf(a), fileOf(b)].sort((one, other) => one - other);
    return [...FILES.slice(low, high + 1)].map((file) => file + king[1]);
  };
  return rooks
    .filter((rook) => isWhite(pieces.get(rook) ?? "x") === white)
    .filter((rook) => {
      const { kingTo, rookTo } = castled(pieces, king, rook);
      const isEmpty = (square) => square === king || square === rook || !pieces.has(square);
      const others = new Map(pieces);
      others.delete(king);
      return (
        [...between(king, kingTo), ...between(rook, rookTo)].every(isEmpty) &&
        between(king, kingTo).every(
          (square) => !attacks(square === kingTo ? after(pieces, king + rook) : others, square, !white),
        )
      );
    })
    .map((rook) => ({ uci: king + (position.isFree ? rook : castled(pieces, king, rook).kingTo), rook }));
}

/** Moves of a piece that may leave its own king attacked. */
function reached({ pieces, white, passing }, from) {
  const kind = pieces.get(from).toLowerCase();
  const isFoe = (square) => pieces.has(square) && isWhite(pieces.get(square)) !== white;
  if (kind === "p") {
    const way = white ? 1 : -1;
    const once = beside(from, 0, way);
    const twice = from[1] === (white ? "2" : "7") && !pieces.has(once) ? beside(from, 0, 2 * way) : undefined;
    const steps = [once, twice].filter((to) => to && !pieces.has(to));
    const takes = [-1, 1].map((files) => beside(from, files, way)).filter((to) => to && (isFoe(to) || to === passing));
    return [...steps, ...takes].flatMap((to) => (/[18]/.test(to[1]) ? [..."qrbn"].map((one) => to + one) : [to]));
  }
  const [ways, goesOn] = WAYS[kind];
  const targets = [];
  for (const [files, ranks] of ways) {
    let to = beside(from, files, ranks);
    for (; to && goesOn && !pieces.has(to); to = beside(to, files, ranks)) targets.push(to);
    if (to && (!pieces.has(to) || isFoe(to))) targets.push(to);
  }
  return targets;
}

/** The legal moves in UCI notation, and the rook of a castling move. */
function moves(position) {
  const { pieces, white } = position;
  const own = [...pieces].filter(([, letter]) => isWhite(letter) === white).map(([square]) => square);
  const plain = own.flatMap((from) => reached(position, from).map((to) => ({ uci: from + to })));
  return [...plain.filter(({ uci }) => !isAttacked(after(pieces, uci), white)), ...castlings(position)];
}

/** The position after a legal move, or after a null move. */
export function play(position, uci) {
  const { pieces, white, rooks, half, full } = position;
  const next = { ...position, white: !white, passing: null, half: half + 1, full: full + (white ? 0 : 1) };
  if (uci === "0000") return next;
  const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)];
  const piece = pieces.get(from).toLowerCase();
  next.pieces = after(pieces, uci);
  const takes = pieces.has(to) && isWhite(pieces.get(to)) !== white;
  if (piece === "p" || takes) next.half = 0;
  const isOwn = (rook) => rook[1] === (white ? "1" : "8");
  next.rooks = rooks.filter((rook) => rook !== from && rook !== to && !(piece === "k" && isOwn(rook)));
  if (piece === "p" && Math.abs(Number(from[1]) - Number(to[1])) === 2) {
    const passing = from[0] + (white ? "3" : "6");
    // Only if a pawn can take there, as FENs have it.
    const isNear = [-1, 1].some((files) => next.pieces.get(beside(to, files, 0)) === (white ? "p" : "P"));
    if (
      isNear &&
      moves({ ...next, passing }).some(
        (move) => move.uci.endsWith(passing) && /p/i.test(next.pieces.get(move.uci.slice(0, 2))),
      )
    )
      next.passing = passing;
  }
  return next;
}

/** The FEN of a position. */
export function write(position) {
  const { pieces, white, rooks, passing, half, full } = position;
  const row = (rank) =>
    [...FILES]
      .map((file) => pieces.get(file + rank) ?? " ")
      .join("")
      .replace(/ +/g, (gap) => String(gap.length));
  const board = [8, 7, 6, 5, 4, 3, 2, 1].map(row).join("/");
  const right = (rook) => {
    const side = isWhite(pieces.get(rook));
    const king = fileOf(kingOf(pieces, side));
    const outer = rooksOf(fileOf(rook) > king ? (side ? "K" : "k") : side ? "Q" : "q", pieces)[0];
    const letter = outer === rook ? (fileOf(rook) > king ? "k" : "q") : rook[0];
    return side ? letter.toUpperCase() : letter;
  };
  const order = [...rooks].sort((a, b) => a[1].localeCompare(b[1]) || b[0].localeCompare(a[0]));
  return `${board} ${white ? "w" : "b"} ${order.map(right).join("") || "-"} ${passing ?? "-"} ${half} ${full}`;
}

/** The legal moves with their names, as the program has them. */
export function legal(position) {
  const { pieces, white } = position;
  const all = moves(position);
  return all.map(({ uci, rook }) => {
    const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)];
    const piece = pieces.get(from).toUpperCase();
    const next = after(pieces, uci);
    const check = isAttacked(next, !white);
    const end = check ? (moves(play(position, uci)).length ? "+" : "#") : "";
    if (rook) return { uci, san: (fileOf(rook) > fileOf(from) ? "O-O" : "O-O-O") + end, rook };
    const takes = pieces.has(to) || (piece === "P" && from[0] !== to[0]) ? "x" : "";
    const others = all.filter(
      (move) =>
        move.uci !== uci &&
        !move.rook &&
        move.uci.slice(2, 4) === to &&
        pieces.get(move.uci.slice(0, 2)) === pieces.get(from),
    );
    const same = (index) => others.some((move) => move.uci[index] === from[index]);
    const which = !others.length ? "" : !same(0) ? from[0] : !same(1) ? from[1] : from;
    const name = piece === "P" ? (takes ? from[0] : "") : piece + which;
    return { uci, san: `${name}${takes}${to}${uci[4] ? `=${uci[4].toUpperCase()}` : ""}${end}` };
  });
}

/** Whether the side to move is in check. */
export const isCheck = ({ pieces, white }) => isAttacked(pieces, white);
