// What users write, with its types.
import { type Book, type MoveView, BookError, type TabiaError, load, openBook } from "tabia";

const book: Book = await openBook({ ctg: new Uint8Array(9), cto: new Blob([]), ctb: null, name: "book" });
const best: MoveView | undefined = book.probe("startpos", { minimumGames: 5, tournament: false, preset: "Normal" })
  .moves[0];
const elo: number = best?.average_elo ?? 0;
const drawn: string | null = book.choose("startpos", { seed: 7, variety: 15 });
for (const fen of book.positions()) fen.split(" ");
const notes: string[] = [];
const bytes: Uint8Array = book.convert("pgn", {
  maxPly: 20,
  comments: "none",
  report: (made) => notes.push(...made.notes),
});
book.reserve();
book.close();
await openBook({ bin: { size: 16, read: (offset, length) => new Uint8Array(offset + length) } });
await load(new URL("https://example.org/tabia.wasm"));
await load(fetch("tabia.wasm"));
const place = (error: TabiaError): number | undefined => (error instanceof BookError ? error.byte : error.page);
console.log(elo, drawn, bytes, place);
