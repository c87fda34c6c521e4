// Reads PGN with a reader of npm: `node read_pgn.mjs MODULES READER FILE` writes a line of JSON
// for each game: the `plies` of its main line, all its `moves`, the number of moves and lines
// with a comment (`commented`) and the texts of comments without commands, or the `error`.
// Where a reader does not keep something, it is missing.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, reader, file] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${modules}/`));
const load = (path) => import(pathToFileURL(`${modules}/${path}`));

/** Counts of a list of comments; `undefined` and empty ones are none. */
const said = (comments) => {
  const some = comments.map((text) => (text ?? "").split(/\s+/).filter(Boolean).join(" ")).filter(Boolean);
  return { commented: some.length, texts: some.filter((text) => !text.includes("[%")) };
};
/** Command and text of a comment that was taken apart. */
const joined = (commands, text) => [...(commands.length ? ["[%]"] : []), text ?? ""].join(" ");

const readers = {
  "chess.js"() {
    const { Chess } = require("chess.js");
    return (text) => {
      const chess = new Chess();
      chess.loadPgn(text);
      // It keeps the main line alone.
      return { plies: chess.history().length };
    };
  },

  async chessops() {
    const { parsePgn, startingPosition } = await load("chessops/dist/esm/pgn.js");
    const { parseSan } = await load("chessops/dist/esm/san.js");
    return (text) => {
      const [game] = parsePgn(text);
      const comments = [...(game.comments ?? [])];
      let moves = 0;
      const walk = (node, position) => {
        for (const child of node.children) {
          const next = position.clone();
          const move = parseSan(next, child.data.san);
          if (move) next.play(move);
          else if (child.data.san === "--") next.turn = next.turn === "white" ? "black" : "white";
          else throw new Error(`illegal: ${child.data.san}`);
          moves += 1;
          comments.push(...(child.data.startingComments ?? []), ...(child.data.comments ?? []));
          walk(child, next);
        }
      };
      walk(game.moves, startingPosition(game.headers).unwrap());
      return { plies: [...game.moves.mainline()].length, moves, ...said(comments) };
    };
  },

  kokopu() {
    const { pgnRead } = require("kokopu");
    return (text) => {
      const game = pgnRead(text).game(0);
      const comments = [];
      let moves = 0;
      const say = (node) => comments.push(joined(node.tags(), node.comment()));
      const walk = (variation) => {
        say(variation);
        for (const node of variation.nodes()) {
          moves += 1;
          say(node);
          node.variations().forEach(walk);
        }
      };
      walk(game.mainVariation());
      return { plies: game.plyCount(), moves, ...said(comments) };
    };
  },

  async "cm-pgn"() {
    const { Pgn } = await load("cm-pgn/src/Pgn.js");
    return (text) => {
      const pgn = new Pgn(text);
      const comments = [...(pgn.gameComment ?? [])];
      let moves = 0;
      const walk = (line) => {
        for (const move of line) {
          moves += 1;
          comments.push(...(move.startingComments ?? []), ...(move.comments ?? []));
          move.variations.forEach(walk);
        }
      };
      walk(pgn.history.moves);
      return { plies: pgn.history.moves.length, moves, ...said(comments) };
    };
  },

  "@mliebelt/pgn-parser"() {
    const { parse } = require("@mliebelt/pgn-parser");
    return (text) => {
      const [game] = parse(text, { startRule: "games" });
      return { plies: game.moves.length, ...diagrams(game.gameComment, game.moves) };
    };
  },

  "@jackstenglein/chess"() {
    const { Chess } = require("@jackstenglein/chess");
    return (text) => {
      const chess = new Chess({ pgn: text });
      const moves = chess.history();
      return { plies: moves.length, moves: diagrams(undefined, moves).moves };
    };
  },

  "pgn-parser"() {
    const { parse } = require("pgn-parser");
    return (text) => {
      const [game] = parse(text);
      const comments = [];
      let moves = 0;
      const say = (list) =>
        (list ?? []).flat(3).forEach((one) => comments.push(joined(one.commands ?? [], one.text)));
      const walk = (line) => {
        for (const move of line) {
          moves += 1;
          say(move.comments);
          for (const rav of move.ravs ?? []) {
            say(rav.comments);
            walk(rav.moves);
          }
        }
      };
      say(game.comments);
      walk(game.moves);
      return { plies: game.moves.length, moves, ...said(comments) };
    };
  },
};

/** Counts of moves whose comments are objects, one property for each command. */
function diagrams(before, line) {
  const comments = [];
  let moves = 0;
  const say = (comment) => {
    const { comment: text, ...commands } = comment ?? {};
    comments.push(joined(Object.keys(commands), text));
  };
  const walk = (line) => {
    for (const move of line) {
      moves += 1;
      comments.push(move.commentMove);
      say(move.commentDiag);
      (move.variations ?? []).forEach(walk);
    }
  };
  say(before);
  walk(line);
  return { moves, ...said(comments) };
}

const read = await readers[reader]();
// Some read one game at a time.
for (const text of readFileSync(file, "utf8").split(/\n\n(?=\[Event )/)) {
  let answer;
  try {
    answer = read(`${text.trimEnd()}\n`);
  } catch (error) {
    answer = { error: String(error.message ?? error).slice(0, 200) };
  }
  console.log(JSON.stringify(answer));
}
