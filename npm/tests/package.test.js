import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { BookError, ConvertError, OptionError, PanicError, PositionError, TabiaError, load, openBook } from "tabia";

import { BOOKS, START, bytesOf, pathOf, place, probed, readersOf, reversed, sample, tabia } from "./books.js";

/** Opens a book, and closes it after the work. */
async function withBook(files, work) {
  const book = await openBook(files);
  try {
    return await work(book);
  } finally {
    book.close();
  }
}

const without = (files, ...left) => Object.fromEntries(Object.entries(files).filter(([name]) => !left.includes(name)));

/** Positions of the starter book, also those that others do not have. */
const POSITIONS = await withBook(bytesOf("ctg"), (book) => sample(book, 1300));

test("every format gives the objects of the program", async () => {
  let compared = 0;
  for (const book of ["ctg", "bin", "abk", "obk", "bkt", "simple"]) {
    await withBook(bytesOf(book), (open) => {
      assert.equal(open.format, pathOf(book).split(".").pop());
      assert.deepEqual(open.notices, []);
      const positions = [START, reversed(START), ...sample(open, 30), ...POSITIONS];
      const expected = probed(pathOf(book), positions);
      assert.ok(
        expected.some((view) => view.in_book && view.moves.length > 1),
        book,
      );
      assert.ok(book === "ctg" || expected.some((view) => !view.in_book), book);
      for (const [at, fen] of positions.entries()) assert.deepEqual(open.probe(fen), expected[at]);
      open.reserve();
      for (const [at, fen] of positions.entries()) assert.deepEqual(open.probe(fen), expected[at]);
      compared += positions.length;
    });
  }
  assert.ok(compared > 5000, `${compared}`);
});

test("a book without its index, and one that is read in pieces, are the same", async () => {
  const expected = probed(pathOf("ctg"), POSITIONS);
  const whole = bytesOf("ctg");
  const cases = [
    [without(whole, "ctb"), 1],
    [without(whole, "cto", "ctb"), 1],
    [{ ...whole, cto: undefined, ctb: null }, 1],
    [readersOf("ctg"), 0],
    [
      {
        name: "tabia",
        ctg: new Blob([whole.ctg]),
        cto: new Blob([whole.cto]),
        ctb: whole.ctb.buffer.slice(whole.ctb.byteOffset, whole.ctb.byteOffset + whole.ctb.length),
      },
      0,
    ],
  ];
  for (const [files, notices] of cases) {
    await withBook(files, (book) => {
      assert.equal(book.notices.length, notices);
      for (const [at, fen] of POSITIONS.entries()) assert.deepEqual(book.probe(fen), expected[at]);
    });
  }
  for (const book of ["bin", "abk", "obk", "bkt"]) {
    const views = probed(pathOf(book), POSITIONS.slice(0, 200));
    await withBook(readersOf(book), (open) => {
      for (const [at, view] of views.entries()) assert.deepEqual(open.probe(POSITIONS[at]), view);
    });
  }
});

test("options decide as those of the program", async () => {
  const near = (a, b) => {
    // Powers may differ in the last digit from those of the C library.
    assert.ok(a === b || Math.abs(a - b) <= 1e-12 * Math.abs(a), `${a} ${b}`);
  };
  const sets = [
    "Book Variety=15",
    "Book Minimum Games=20",
    "Book Tournament=false",
    "Book Depth=6",
    "Book Preset=Optimize",
  ].flatMap((set) => ["--set", set]);
  const options = { variety: 15, minimumGames: 20, tournament: false, depth: 6, preset: "Optimize" };
  const expected = probed(pathOf("ctg"), POSITIONS, ...sets);
  await withBook(bytesOf("ctg"), (book) => {
    for (const [at, fen] of POSITIONS.entries()) {
      const view = book.probe(fen, options);
      for (const [n, mv] of view.moves.entries()) {
        const other = expected[at].moves[n];
        near(mv.weight, other.weight);
        near(mv.probability, other.probability);
        mv.weight = other.weight;
        mv.probability = other.probability;
      }
      assert.deepEqual(view, expected[at]);
    }
    // Not kept for the next call.
    assert.deepEqual(book.probe(START), probed(pathOf("ctg"), [START])[0]);
  });
});

test("a seed draws the move that Book Seed draws in a first game", async () => {
  await withBook(bytesOf("ctg"), (book) => {
    const drawn = new Set();
    for (let seed = 1; seed <= 12; seed += 1) {
      const said = tabia(
        ["--engine", "builtin", "--book", pathOf("ctg")],
        `uci\nsetoption name Book Seed value ${seed}\nisready\nposition startpos\ngo movetime 10\nquit\n`,
      );
      const move = book.choose(START, { seed });
      assert.match(said, new RegExp(`^bestmove ${move}\\b`, "m"), `${seed}`);
      assert.equal(book.choose(START, { seed }), move);
      drawn.add(move);
    }
    assert.ok(drawn.size > 2);
    const some = Array.from({ length: 50 }, () => book.choose(START));
    assert.ok(new Set(some).size > 1);
    assert.equal(book.choose("8/8/8/8/8/5k2/7p/7K w - - 0 1"), null);
    assert.equal(book.choose(START, { variety: 0 }), book.probe(START, { variety: 0 }).moves[0].uci);
    // The knights are back: not again.
    const back = `${START} moves g1f3 g8f6 f3g1 f6g8`;
    assert.equal(book.probe(back).in_book, true);
    assert.equal(book.choose(back, { exitAbove: 2000, depth: 1 }), null);
  });
});

test("positions are those of the program, and a walk may be left", async () => {
  for (const book of ["ctg", "bin", "obk"]) {
    await withBook(bytesOf(book), (open) => {
      const all = [...open.positions()];
      assert.equal(all.length, JSON.parse(tabia(["info", pathOf(book), "--json"])).positions);
      let count = 0;
      for (const fen of open.positions()) {
        assert.equal(fen, all[count]);
        count += 1;
        if (count === 3) break;
      }
      const [one, two] = [open.positions(), open.positions()];
      assert.deepEqual([one.next().value, two.next().value, one.next().value], [all[0], all[0], all[1]]);
      two.return();
      assert.deepEqual(two.next(), { done: true, value: undefined });
      assert.deepEqual([...one], all.slice(2));
    });
  }
});

test("conversions have the bytes of the program", async () => {
  const conversions = [
    ["ctg", "bin", {}, []],
    ["ctg", "bin", { weights: "games", keepNever: true, all: true }, ["--weights", "games", "--keep-never", "--all"]],
    ["ctg", "bin", { minimumGames: 30 }, ["--set", "Book Minimum Games=30"]],
    ["ctg", "abk", {}, []],
    ["ctg", "csv", {}, []],
    ["ctg", "jsonl", {}, []],
    ["ctg", "pgn", {}, []],
    [
      "ctg",
      "pgn",
      { maxPly: 8, comments: "short", minGames: 3 },
      ["--max-ply", "8", "--comments", "short", "--min-games", "3"],
    ],
    ["ctg", "pgn", { lines: true }, ["--lines"]],
    ["bin", "pgn", {}, []],
    ["bin", "csv", {}, []],
    ["bin", "abk", {}, []],
    ["bin", "bin", { variety: 0 }, ["--set", "Book Variety=0"]],
    ["abk", "bin", {}, []],
    ["obk", "pgn", {}, []],
    ["bkt", "csv", {}, []],
  ];
  for (const [n, [book, format, options, words]] of conversions.entries()) {
    const target = place(`${n}.${format}`);
    tabia(["convert", "-q", pathOf(book), target, ...words]);
    for (const files of [bytesOf(book), readersOf(book)]) {
      await withBook(files, (open) => {
        let reported;
        const made = open.convert(format, { ...options, report: (summary) => (reported = summary) });
        assert.ok(Buffer.compare(made, fs.readFileSync(target)) === 0, `${book} ${format} ${words}`);
        assert.equal(reported.bytes, made.length);
        assert.ok(reported.moves > 0 && Array.isArray(reported.notes));
      });
    }
  }
  await withBook(bytesOf("bin"), (open) => {
    for (const format of ["ctg", "jsonl", "doc"]) assert.throws(() => open.convert(format), ConvertError);
    assert.throws(() => open.convert("bin", { maxPlys: 3 }), /did you mean maxPly/);
  });
});

test("errors are classes, with their places", async () => {
  const rejects = async (files, kind, text) => {
    await assert.rejects(openBook(files), (error) => {
      assert.ok(error instanceof kind && error instanceof TabiaError, `${error.stack}`);
      assert.equal(error.name, kind.name);
      assert.match(error.message, text);
      return true;
    });
  };
  const whole = bytesOf("ctg");
  await rejects({}, BookError, /no book is given/);
  await rejects({ doc: whole.ctg }, OptionError, /no file "doc"/);
  await rejects({ ctg: "books/tabia.ctg" }, OptionError, /not a Uint8Array/);
  await rejects({ bin: new Uint8Array(5000) }, BookError, /^book\.bin: /);
  await rejects({ cto: whole.cto, name: "x" }, BookError, /^x\.cto: .*give its \.ctg/);
  await rejects({ bin: bytesOf("bin").bin, abk: bytesOf("abk").abk }, BookError, /one book at a time/);
  // The name says one thing, the bytes another: these count.
  await withBook({ bin: whole.ctg }, (book) => assert.equal(book.format, "ctg"));
  const damaged = Uint8Array.from(whole.ctg);
  damaged.fill(0xff, 4096 * 3, 4096 * 4);
  await withBook({ ...whole, ctg: damaged }, (book) => {
    const walk = book.positions();
    const [errors, found] = [[], []];
    for (;;) {
      try {
        const { done, value } = walk.next();
        if (done) break;
        found.push(value);
      } catch (error) {
        errors.push(error);
      }
    }
    assert.equal(errors.length, 1);
    assert.deepEqual([errors[0].file, errors[0].page], ["tabia.ctg", 2]);
    assert.ok(errors[0].byte >= 4096 * 3 && errors[0].byte < 4096 * 4);
    assert.ok(found.length > 30_000);
    let notes;
    book.convert("csv", { report: (summary) => (notes = summary.notes) });
    assert.ok(notes.length > 0);
    assert.throws(() => book.convert("csv", { strict: true }), ConvertError);
  });
  await withBook(whole, (book) => {
    for (const fen of ["x", undefined, `${START} moves e2e5`]) assert.throws(() => book.probe(fen), PositionError);
    assert.throws(
      () => book.probe(START, { minimunGames: 1 }),
      (error) => error instanceof OptionError && /did you mean minimumGames/.test(error.message),
    );
    assert.throws(() => book.probe(START, { variety: 101 }), OptionError);
    for (const seed of [-1, 1.5, 2 ** 60, "7"]) assert.throws(() => book.choose(START, { seed }), OptionError);
    assert.throws(() => book.reserve(-1), OptionError);
    assert.equal(book.probe(START).in_book, true);
    const walk = book.positions();
    walk.next();
    const left = book.positions();
    for (const fen of left) {
      assert.match(fen, / w /);
      book.close();
      break;
    }
    assert.equal(left.next().done, true);
    book.close();
    for (let at = 1; at < 256; at += 1) walk.next();
    for (const use of [() => book.probe(START), () => walk.next(), () => book.positions()])
      assert.throws(use, /the book is closed/);
  });
});

test("a reader that fails is named, and the book goes on", async () => {
  let fault;
  const files = readersOf("ctg");
  const { read } = files.ctg;
  let book;
  files.ctg.read = (offset, length) => (fault ? fault(offset, length) : read(offset, length));
  book = await openBook(files);
  const asked = (text, kind = BookError) =>
    assert.throws(
      () => book.probe(START),
      (error) => {
        assert.ok(error instanceof kind, error.stack);
        assert.match(error.message, text);
        return true;
      },
    );
  fault = () => {
    throw new RangeError("the disk is gone");
  };
  asked(/tabia\.ctg.*: the disk is gone$/);
  fault = async (offset, length) => read(offset, length);
  asked(/returns a Uint8Array, and no promise/);
  fault = () => book.probe(START);
  asked(/must not use the book that it reads for/);
  fault = () => new Uint8Array(0);
  asked(/end of file/);
  // Too much is cut, too little asked again.
  fault = (offset, length) => read(offset, length + 10);
  const [expected] = probed(pathOf("ctg"), [START]);
  assert.deepEqual(book.probe(START), expected);
  fault = (offset, length) => read(offset, Math.min(length, 7));
  assert.deepEqual(book.probe(START), expected);
  book.close();
});

test("a module that has ended says so, and another is opened", async () => {
  // Chessmaster books are read whole: this one does not fit into the memory of a module.
  const { obk } = bytesOf("obk");
  const read = (offset, length) =>
    offset < obk.length ? obk.subarray(offset, offset + length) : new Uint8Array(length);
  await assert.rejects(openBook({ obk: { size: 3e9, read } }), (error) => {
    assert.ok(error instanceof PanicError, error.stack);
    assert.match(error.message, /^internal error: .*capacity overflow.*open the book again$/s);
    return true;
  });
  await withBook({ obk }, (book) => assert.equal(book.format, "obk"));
});

test("the module comes from bytes, a response or an address too", async () => {
  const address = new URL("./tabia.wasm", import.meta.resolve("tabia"));
  const bytes = fs.readFileSync(address);
  const answer = (type) => new Response(bytes, { headers: { "content-type": type } });
  const sources = [
    bytes,
    new WebAssembly.Module(bytes),
    address,
    address.href,
    answer("application/wasm"),
    answer("text/plain"),
    Promise.resolve(bytes),
  ];
  for (const source of sources) {
    await load(source);
    await withBook(bytesOf("simple"), (book) => assert.equal(book.format, "ctg"));
  }
  await assert.rejects(load(new Response("", { status: 404 })), /404/);
  await assert.rejects(load(new Uint8Array(8)), WebAssembly.CompileError);
  // The next one comes from beside the script again.
  await withBook(bytesOf("simple"), (book) => assert.equal(book.format, "ctg"));
  assert.deepEqual(
    WebAssembly.Module.imports(await load()).map(({ module, name }) => `${module}.${name}`),
    ["tabia.panicked", "tabia.read"],
  );
});

test("it works in a worker", async () => {
  const text = `import { parentPort, workerData } from 'node:worker_threads';
        import { openBook } from 'tabia';
        const book = await openBook(workerData);
        parentPort.postMessage(book.probe('${START}'));`;
  fs.writeFileSync("worker.js", text);
  const worker = new Worker("./worker.js", { workerData: bytesOf("ctg") });
  const view = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  assert.deepEqual(view, probed(pathOf("ctg"), [START])[0]);
});

test("the types name every field", async () => {
  const types = fs.readFileSync(new URL("./tabia.d.ts", import.meta.resolve("tabia")), "utf8");
  const fields = (name) => {
    const [, body] = new RegExp(`interface ${name} \\{\\n(.*?)\\n\\}`, "s").exec(types);
    return [...body.matchAll(/^ {2}(\w+)(\??): /gm)].map(([, field, mark]) => ({ field, optional: mark === "?" }));
  };
  const check = (value, name) => {
    const known = fields(name);
    const keys = Object.keys(value);
    for (const key of keys)
      assert.ok(
        known.some(({ field }) => field === key),
        `${name}.${key}`,
      );
    for (const { field, optional } of known) assert.ok(optional || keys.includes(field), `${name}.${field}`);
  };
  for (const book of ["ctg", "bin", "abk"]) {
    await withBook(bytesOf(book), (open) => {
      const view = open.probe(START);
      check(view, "PositionView");
      view.moves.forEach((mv) => check(mv, "MoveView"));
      open.convert("csv", { report: (summary) => check(summary, "Converted") });
    });
  }
});

/** The blocks of code of a page, by their language. */
const blocks = (page, language) =>
  [...fs.readFileSync(page, "utf8").matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
    ([, code]) => code,
  );

test("the examples run", () => {
  const [five] = blocks("README.md", "js");
  fs.writeFileSync("five.mjs", five.replaceAll("book.ctg", BOOKS.ctg.ctg));
  const said = spawnSync(process.execPath, ["five.mjs"], { encoding: "utf8" });
  assert.equal(said.status, 0, said.stderr);
  assert.match(said.stdout, /d4/);
  const program = blocks("npm.md", "js").find((code) => code.includes("process.argv"));
  assert.ok(program.split("\n").length <= 21);
  fs.writeFileSync("to-bin.mjs", program);
  const [made, expected] = [place("made.bin"), place("expected.bin")];
  const ran = spawnSync(process.execPath, ["to-bin.mjs", BOOKS.ctg.ctg, made], { encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stderr);
  tabia(["convert", "-q", BOOKS.ctg.ctg, expected]);
  assert.ok(Buffer.compare(fs.readFileSync(made), fs.readFileSync(expected)) === 0);
});
