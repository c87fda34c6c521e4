/** A file of a book that is read where it is asked: in Node with fs.readSync(). */
export interface BookReader {
  /** Its length in bytes. */
  readonly size: number;
  /** The bytes from `offset` on, at most `length`; fewer at the end, or if more are to be asked. */
  read(offset: number, length: number): Uint8Array;
}

/** A file of a book. */
export type BookFile = Uint8Array | ArrayBuffer | Blob | BookReader;

interface Named {
  /** The name of the book without its extension: for messages, and in a PGN. */
  name?: string;
  /** The bytes of a Blob that may be in memory (512 MiB). In a worker a larger one is read in pieces, more slowly. */
  memory?: number;
}

/** The files of a ChessBase book; without an index it takes longer to open. */
export interface CtgFiles extends Named {
  ctg: BookFile;
  cto?: BookFile | null;
  ctb?: BookFile | null;
}

/** The file of another book: one of these. */
export interface OtherFiles extends Named {
  bin?: BookFile;
  abk?: BookFile;
  bkt?: BookFile;
  obk?: BookFile;
}

/** The options that decide between moves. */
// Made from the table of options: UPDATE=1 cargo test --test program made
export interface ChoiceOptions {
  /** sets variety, learn influence, marks and minimums at once: usually "Custom". */
  preset?: "Custom" | "Optimize" | "Normal" | "Handicap";
  /** 0 the heaviest move, 50 by weight, 100 every move alike: 0 to 100, usually 50. */
  variety?: number;
  /** how far the learn values bend the weights: 0 to 100, usually 50. */
  learnInfluence?: number;
  /** red moves never, and where there are green ones only those: usually true. */
  tournament?: boolean;
  /** ?, ?? and ?! only when nothing else is left; !, !! weigh more: usually true. */
  annotations?: boolean;
  /** games that the position after the move must have: 0 to 1000000, usually 1. */
  minimumGames?: number;
  /** per cent that the move must have scored: 0 to 100, usually 0. */
  minimumScore?: number;
  /** per mille of the position's weight below which a move is dropped: 0 to 1000, usually 5. */
  minimumShare?: number;
  /** last full move that the book may answer: 0 to 1000, usually 1000. */
  depth?: number;
  /** the book stops answering this many full moves before the end of a line: 0 to 20, usually 0. */
  leaveEarly?: number;
  /** what the weight is made of, where evaluations are known: usually "results". */
  judgement?: "results" | "evaluations" | "both";
  /** centipawns by which a move may be worse than the best; 0 no limit: 0 to 2000, usually 0. */
  maximumLoss?: number;
  /** moves that lead into the book without being stored count too: usually true. */
  transpositions?: boolean;
  /** no book move that repeats a position of this game: usually true. */
  avoidRepetition?: boolean;
  /** centipawns for us below which the book stops answering; -2000 never: -2000 to 2000, usually -2000. */
  exitBelow?: number;
  /** centipawns for us above which the book stops answering; 2000 never: -2000 to 2000, usually 2000. */
  exitAbove?: number;
}

/** What the book stores about a position, for the side to move. */
export interface PositionView {
  fen: string;
  in_book: boolean;
  /** Games through it. */
  games: number;
  wins: number;
  draws: number;
  losses: number;
  /** The number (NAG) of its sign, 0 for none. */
  commentary: number;
  /** The heaviest first. */
  moves: MoveView[];
}

/** What it stores about a move, for its player. */
export interface MoveView {
  /** As `e1g1`. */
  uci: string;
  /** As `O-O`. */
  san: string;
  /** Games with it; in a ChessBase book, those that reach the position after it. */
  games: number;
  /** Games that were played with it, where they are known. */
  played?: number;
  /** Games that reach the position after it, where they are known. */
  reached?: number;
  wins: number;
  draws: number;
  losses: number;
  /** Share of the points, 0 to 1. */
  score: number | null;
  average_elo: number | null;
  performance: number | null;
  /** The byte of its mark. */
  recommendation: number;
  mark: "main" | "avoid" | "none";
  annotation: "" | "!" | "?" | "!!" | "??" | "!?" | "?!" | (string & {});
  /** The number (NAG) of the sign of the position after it, 0 for none. */
  commentary: number;
  /** -125 to 125: positive favours the move. */
  learn_value: number;
  /** The older name of `learn_value`. */
  factor: number;
  /** In centipawns, where there are evaluations. */
  evaluation?: number;
  loss?: number;
  /** Whether it is not stored, but leads into the book. */
  transposition: boolean;
  /** With which it is chosen, 0 to 1. */
  probability: number;
  weight: number;
  /** Of a Polyglot, Shredder or Chessmaster book. */
  stored_weight?: number;
  /** Of an Arena book. */
  priority?: number;
  /** Why it is not chosen. */
  not_played: string | null;
}

/** What a conversion has made. */
export interface Converted {
  positions: number;
  moves: number;
  /** Games of a PGN. */
  games: number;
  bytes: number;
  /** Positions that no line leads to. */
  unreached: number;
  /** What is wrong with the book. */
  notices: string[];
  /** What was changed, left out, or could not be read. */
  notes: string[];
}

/**
 * The options of `tabia convert`: weights, all and keepNever to bin; maxPly, minGames, gameMoves, lines and comments to
 * pgn. One that would have no effect is an OptionError.
 */
export interface ConvertOptions extends ChoiceOptions {
  weights?: "probability" | "games" | "score";
  all?: boolean;
  keepNever?: boolean;
  maxPly?: number;
  minGames?: number;
  gameMoves?: number;
  lines?: boolean;
  comments?: "none" | "short" | "full";
  strict?: boolean;
  /** Gets what was made, and what was left out. */
  report?(made: Converted): void;
}

/** An open book. */
export interface Book {
  readonly format: "ctg" | "bin" | "abk" | "bkt" | "obk";
  /** What is wrong with its files although it could be opened, one sentence each. */
  readonly notices: string[];
  /** Looks a position up: a FEN, perhaps with "moves" and moves after it, whose positions count as repeated. */
  probe(fen: string, options?: ChoiceOptions): PositionView;
  /** Draws a move, in UCI notation; null if there is none. The same seed draws the same move. */
  choose(fen: string, options?: ChoiceOptions & { seed?: number }): string | null;
  /**
   * The FEN of every position, as the book stores it. What cannot be read is thrown; next() goes on after it. Positions
   * to which no line leads are left out, and their number is thrown at the end.
   */
  positions(): IterableIterator<string>;
  /** The bytes of `tabia convert`; only a ChessBase book becomes `jsonl`. */
  convert(format: "bin" | "abk" | "csv" | "pgn" | "jsonl", options?: ConvertOptions): Uint8Array;
  /** Announces probes (a million): a `.ctg` is read once, and each of many probes takes less time then. */
  reserve(probes?: number): void;
  /** Frees its memory. */
  close(): void;
}

/** Opens a book. */
export function openBook(files: CtgFiles | OtherFiles): Promise<Book>;

/** Takes the module from elsewhere than beside this file; the next openBook() uses it. */
export function load(source?: ModuleSource | Promise<ModuleSource>): Promise<WebAssembly.Module>;

export type ModuleSource = WebAssembly.Module | ArrayBuffer | ArrayBufferView | Response | URL | string;

/** The base class of all errors. */
export class TabiaError extends Error {
  /** The file, the page of a ChessBase book (0 follows the header), and the byte, where known. */
  readonly file?: string;
  readonly page?: number;
  readonly byte?: number;
}

/** The book cannot be opened or read, is damaged, or is not a book. */
export class BookError extends TabiaError {}

/** The text is not a position. */
export class PositionError extends TabiaError {}

/** There is no such option, or it does not take the value. */
export class OptionError extends TabiaError {}

/** The book cannot be written in this format. */
export class ConvertError extends TabiaError {}

/** The module has ended by a fault of its own, or lack of memory: open the book again. */
export class PanicError extends TabiaError {}
