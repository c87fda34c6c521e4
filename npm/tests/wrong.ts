// Each marked line is an error.
import { openBook } from "tabia";

const book = await openBook({ ctg: "book.ctg" }); // wrong
await openBook({ cto: new Uint8Array() }); // wrong
await openBook({ bin: { size: 1, read: async () => new Uint8Array() } }); // wrong
book.probe("startpos", { variety: "15" }); // wrong
book.probe("startpos", { minimum_games: 5 }); // wrong
book.probe("startpos", { judgement: "wins" }); // wrong
book.choose("startpos").length; // wrong
book.convert("ctg"); // wrong
book.convert("pgn", { maxPlies: 3 }); // wrong
book.probe("startpos").moves[0].score + 1; // wrong
book.format = "bin"; // wrong
