// A file system in memory, with the part of WASI that Rust's library uses of it (wasi_snapshot_preview1).
//
// Not by a package: those that were looked at (browser_wasi_shim 0.4) give each file the time 0, and the explorer
// finds by it that a book was changed.

const ERROR = {
  done: 0,
  badFile: 8,
  exists: 20,
  invalid: 28,
  io: 29,
  isFolder: 31,
  notFound: 44,
  notFolder: 54,
  notEmpty: 55,
  unsupported: 58,
};

const KIND = { device: 2, folder: 3, file: 4 };

/** Flags of path_open. */
const CREATE = 1,
  FOLDER = 2,
  EXCLUSIVE = 4,
  TRUNCATE = 8;

/** Flags of an open file, of a time that is set, and the starts of a seek. */
const APPEND = 1;
const TIME = 4,
  NOW = 8;
const FROM_START = 0,
  FROM_HERE = 1;

/** A larger file of the user is read where it is needed, and not at once. */
const MOST_READ = 256 * 2 ** 20;

/**
 * Bytes of blocks that are read, and how many bytes of them are kept: a read takes Chromium 0.2 ms and more, and a step
 * of the page needs hundreds of places. A file that is larger than what is kept is read in small ones.
 */
const BLOCK = 2 ** 20,
  SMALL_BLOCK = 2 ** 14,
  KEPT = 2 ** 30;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class Failure extends Error {
  constructor(code) {
    super(`error ${code} of WASI`);
    this.code = code;
  }
}

let last = 0n,
  nodes = 0n;

/** The time in nanoseconds; never the same twice, so that each change of a file shows. */
function now() {
  const time = BigInt(Date.now()) * 1_000_000n;
  last = time > last ? time : last + 1n;
  return last;
}

/** The bytes of a user's file. */
const bytesOf = (blob) => new Uint8Array(new /** @type {any} */ (globalThis).FileReaderSync().readAsArrayBuffer(blob));

/** A large file of the user. */
class Blocks {
  #kept = new Map();

  /** @param {Blob} blob */
  constructor(blob) {
    this.blob = blob;
    this.length = blob.size <= KEPT ? BLOCK : SMALL_BLOCK;
  }

  #block(number) {
    const kept = this.#kept.get(number);
    if (kept) return kept;
    const start = number * this.length;
    const block = bytesOf(this.blob.slice(start, start + this.length));
    // The oldest makes room.
    if (this.#kept.size >= KEPT / this.length) this.#kept.delete(this.#kept.keys().next().value);
    this.#kept.set(number, block);
    return block;
  }

  read(from, to) {
    const bytes = new Uint8Array(to - from);
    for (let at = from; at < to;) {
      const number = Math.floor(at / this.length);
      const start = number * this.length;
      const part = this.#block(number).subarray(at - start, to - start);
      if (!part.length) throw new Failure(ERROR.io);
      bytes.set(part, at - from);
      at += part.length;
    }
    return bytes;
  }
}

class File {
  kind = KIND.file;
  number = (nodes += 1n);
  modified = now();
  size = 0;
  /** What it contains, in memory: a user's file may change or go. */
  #bytes = new Uint8Array(0);
  /** What it contains, if that is not in memory. */
  #blocks = null;
  /** A copy of the bytes. */
  #copy = null;

  /** @param {Blob | null} blob what a file of the user contains */
  constructor(blob = null) {
    if (!blob) return;
    this.size = blob.size;
    if (blob.size <= MOST_READ) this.#bytes = bytesOf(blob);
    else this.#blocks = new Blocks(blob);
  }

  /** What it contains, for another worker: a copy, which is made once until a change. */
  get blob() {
    return this.#blocks?.blob ?? (this.#copy ??= new Blob([this.#bytes.subarray(0, this.size)]));
  }

  /** The bytes of a part, which ends with the file. */
  read(from, length) {
    const to = Math.min(this.size, from + length);
    if (from >= to) return new Uint8Array(0);
    return this.#blocks?.read(from, to) ?? this.#bytes.subarray(from, to);
  }

  write(at, bytes) {
    this.resize(Math.max(this.size, at + bytes.length));
    this.#bytes.set(bytes, at);
  }

  resize(size) {
    if (this.#blocks) this.#bytes = bytesOf(this.#blocks.blob);
    this.#blocks = this.#copy = null;
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.size, 4096));
      larger.set(this.#bytes.subarray(0, this.size));
      this.#bytes = larger;
    } else if (size < this.size) this.#bytes.fill(0, size, this.size);
    this.size = size;
    this.modified = now();
  }
}

class Folder {
  kind = KIND.folder;
  number = (nodes += 1n);
  modified = now();
  size = 0;
  entries = new Map();
}

const namesOf = (path) => path.split("/").filter((name) => name && name !== ".");

export class Files {
  root = new Folder();

  /** Files in these folders, given by their paths. */
  constructor(folders) {
    for (const folder of folders) {
      const [parent, name] = this.parent(folder);
      parent.entries.set(name, new Folder());
    }
  }

  /** The folder of a path, and the name in it. */
  parent(path, from = this.root) {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined || name === "..") throw new Failure(ERROR.invalid);
    return [this.find(names.join("/"), from, KIND.folder), name];
  }

  /** The file or folder with a path. There are no links, so `..` goes back a name. */
  find(path, from = this.root, kind = 0) {
    const way = [from];
    for (const name of namesOf(path)) {
      if (name === "..") {
        if (way.length > 1) way.pop();
        continue;
      }
      const at = way.at(-1);
      if (at.kind !== KIND.folder) throw new Failure(ERROR.notFolder);
      const next = at.entries.get(name);
      if (!next) throw new Failure(ERROR.notFound);
      way.push(next);
    }
    const found = way.at(-1);
    if (kind && found.kind !== kind) throw new Failure(kind === KIND.folder ? ERROR.notFolder : ERROR.isFolder);
    return found;
  }

  /** Puts a file of the user into a folder, in place of one of the same name. */
  put(folder, name, blob) {
    const { entries } = this.find(folder, this.root, KIND.folder);
    entries.set(name, new File(blob));
  }

  /** The files of a folder but for hidden ones, and what they contain. */
  list(folder) {
    const entries = [...this.find(folder, this.root, KIND.folder).entries];
    const files = entries.filter(([name, { kind }]) => kind === KIND.file && !name.startsWith("."));
    return files.map(([name, { blob }]) => ({ name, blob }));
  }

  /** Removes what an ended program has left: hidden files and folders. */
  tidy(folder) {
    const { entries } = this.find(folder, this.root, KIND.folder);
    for (const name of [...entries.keys()]) if (name.startsWith(".")) entries.delete(name);
  }

  /**
   * The functions that a module imports. `memory` returns its memory; `report` gets what it writes to standard output,
   * `complain` what it writes to standard error.
   * @param {{ memory: () => WebAssembly.Memory, report: (text: string) => void, complain: (text: string) => void }} host
   */
  imports({ memory, report, complain }) {
    const open = new Map();
    open.set(0, { node: { kind: KIND.device } });
    open.set(1, open.get(0));
    open.set(2, open.get(0));
    open.set(3, { node: this.root, at: 0, flags: 0 });
    let bytes = new Uint8Array(0),
      view = new DataView(bytes.buffer);
    const refresh = () => {
      if (bytes.buffer === memory().buffer) return;
      bytes = new Uint8Array(memory().buffer);
      view = new DataView(bytes.buffer);
    };
    const text = (at, length) => decoder.decode(bytes.subarray(at, at + length));
    const long = (at, value) => view.setBigUint64(at, value, true);
    const int = (at, value) => view.setUint32(at, value, true);
    const of = (number, kind = 0) => {
      const found = open.get(number);
      if (!found) throw new Failure(ERROR.badFile);
      if (kind && found.node.kind !== kind) throw new Failure(kind === KIND.folder ? ERROR.notFolder : ERROR.badFile);
      return found;
    };
    const folder = (number) => of(number, KIND.folder).node;
    const file = (number) => of(number, KIND.file);
    /** The parts of memory that a call reads into or writes from. */
    const parts = (at, count) =>
      Array.from({ length: count }, (_, index) => {
        const start = view.getUint32(at + 8 * index, true);
        return bytes.subarray(start, start + view.getUint32(at + 8 * index + 4, true));
      });
    const read = (node, from, into) => {
      let at = from;
      for (const part of into) {
        const found = node.read(at, part.length);
        part.set(found);
        at += found.length;
        if (found.length < part.length) break;
      }
      return at - from;
    };
    const write = (node, from, pieces) => {
      let at = from;
      for (const piece of pieces) {
        node.write(at, piece);
        at += piece.length;
      }
      return at - from;
    };
    const describe = (node, at) => {
      bytes.fill(0, at, at + 64);
      long(at + 8, node.number ?? 0n);
      view.setUint8(at + 16, node.kind);
      long(at + 24, 1n);
      long(at + 32, BigInt(node.size ?? 0));
      for (const place of [40, 48, 56]) long(at + place, node.modified ?? 0n);
    };
    const setTime = (node, time, flags) => {
      if (flags & TIME) node.modified = time;
      else if (flags & NOW) node.modified = now();
    };
    const lowest = () => {
      let number = 3;
      while (open.has(number)) number += 1;
      return number;
    };

    const find = (path, from, kind = 0) => this.find(path, from, kind);
    const nodeOf = (number, path, length, kind = 0) => find(text(path, length), folder(number), kind);
    const placeOf = (number, path, length) => this.parent(text(path, length), folder(number));

    const functions = {
      args_get: () => {},
      args_sizes_get: (count, size) => (int(count, 0), int(size, 0)),
      environ_get: () => {},
      environ_sizes_get: (count, size) => (int(count, 0), int(size, 0)),
      clock_res_get: (_, to) => long(to, 1_000_000n),
      clock_time_get: (clock, _, to) =>
        long(to, clock === 0 ? BigInt(Date.now()) * 1_000_000n : BigInt(Math.round(performance.now() * 1e6))),
      random_get(to, length) {
        const most = 65_536;
        for (let at = to; at < to + length; at += most)
          crypto.getRandomValues(bytes.subarray(at, Math.min(at + most, to + length)));
      },
      sched_yield: () => {},
      // A pause waits for other programs, of which there are none.
      poll_oneoff(subscriptions, events, count, to) {
        bytes.fill(0, events, events + 32 * count);
        for (let index = 0; index < count; index += 1)
          long(events + 32 * index, view.getBigUint64(subscriptions + 48 * index, true));
        int(to, count);
      },
      proc_exit(code) {
        throw new Error(`the program has ended with ${code}`);
      },

      fd_advise: () => {},
      fd_allocate: () => ERROR.unsupported,
      fd_close: (number) => (of(number), void open.delete(number)),
      fd_datasync: (number) => void of(number),
      fd_sync: (number) => void of(number),
      fd_fdstat_get(number, to) {
        const { node, flags } = of(number);
        bytes.fill(0, to, to + 24);
        view.setUint8(to, node.kind);
        view.setUint16(to + 2, flags ?? 0, true);
        // All rights.
        for (const place of [8, 16]) long(to + place, 2n ** 64n - 1n);
      },
      fd_fdstat_set_flags: (number, flags) => void (of(number).flags = flags),
      fd_filestat_get: (number, to) => describe(of(number).node, to),
      fd_filestat_set_size: (number, size) => file(number).node.resize(Number(size)),
      fd_filestat_set_times: (number, _, time, flags) => setTime(of(number).node, time, flags),
      fd_prestat_get(number, to) {
        if (number !== 3) return ERROR.badFile;
        int(to, 0);
        int(to + 4, 1);
        return ERROR.done;
      },
      fd_prestat_dir_name: (_, to) => void (bytes[to] = "/".charCodeAt(0)),
      fd_pread: (number, at, count, from, to) => int(to, read(file(number).node, Number(from), parts(at, count))),
      fd_pwrite: (number, at, count, from, to) => int(to, write(file(number).node, Number(from), parts(at, count))),
      fd_read(number, at, count, to) {
        if (number === 0) return int(to, 0);
        const found = file(number);
        const length = read(found.node, found.at, parts(at, count));
        found.at += length;
        return int(to, length);
      },
      fd_write(number, at, count, to) {
        const pieces = parts(at, count);
        if (number <= 2) {
          const take = number === 1 ? report : complain;
          for (const piece of pieces) take(decoder.decode(piece));
          return int(
            to,
            pieces.reduce((sum, piece) => sum + piece.length, 0),
          );
        }
        const found = file(number);
        if (found.flags & APPEND) found.at = found.node.size;
        const length = write(found.node, found.at, pieces);
        found.at += length;
        return int(to, length);
      },
      fd_seek(number, offset, whence, to) {
        const found = file(number);
        const start = whence === FROM_START ? 0 : whence === FROM_HERE ? found.at : found.node.size;
        const at = start + Number(offset);
        if (at < 0) return ERROR.invalid;
        found.at = at;
        return long(to, BigInt(at));
      },
      fd_tell: (number, to) => long(to, BigInt(file(number).at)),
      fd_readdir(number, to, length, cookie, used) {
        const found = of(number, KIND.folder);
        // What is removed meanwhile must not move the others.
        if (cookie === 0n) found.listed = [...found.node.entries];
        let at = 0;
        for (let index = Number(cookie); index < found.listed.length && at < length; index += 1) {
          const [name, node] = found.listed[index];
          const letters = encoder.encode(name);
          const entry = new Uint8Array(24 + letters.length),
            head = new DataView(entry.buffer);
          head.setBigUint64(0, BigInt(index + 1), true);
          head.setBigUint64(8, node.number, true);
          head.setUint32(16, letters.length, true);
          head.setUint8(20, node.kind);
          entry.set(letters, 24);
          const part = entry.subarray(0, length - at);
          bytes.set(part, to + at);
          at += part.length;
        }
        int(used, at);
      },

      path_create_directory(number, path, length) {
        const [parent, name] = placeOf(number, path, length);
        if (parent.entries.has(name)) return ERROR.exists;
        parent.entries.set(name, new Folder());
        return ERROR.done;
      },
      path_filestat_get: (number, _, path, length, to) => describe(nodeOf(number, path, length), to),
      path_filestat_set_times: (number, _, path, length, __, time, flags) =>
        setTime(nodeOf(number, path, length), time, flags),
      path_link(from, _, path, length, to, newPath, newLength) {
        const node = nodeOf(from, path, length, KIND.file);
        const [parent, name] = placeOf(to, newPath, newLength);
        if (parent.entries.has(name)) return ERROR.exists;
        parent.entries.set(name, node);
        return ERROR.done;
      },
      path_open(number, _, path, length, how, rights, inherited, flags, to) {
        let node;
        if (how & CREATE) {
          const [parent, name] = placeOf(number, path, length);
          node = parent.entries.get(name);
          if (node && how & EXCLUSIVE) return ERROR.exists;
          if (!node) parent.entries.set(name, (node = new File()));
        } else node = nodeOf(number, path, length);
        if (how & FOLDER && node.kind !== KIND.folder) return ERROR.notFolder;
        if (how & TRUNCATE) node.resize(0);
        const opened = lowest();
        open.set(opened, { node, at: 0, flags });
        return int(to, opened);
      },
      path_readlink: () => ERROR.invalid,
      path_remove_directory(number, path, length) {
        const [parent, name] = placeOf(number, path, length);
        const { entries } = find(name, parent, KIND.folder);
        if (entries.size) return ERROR.notEmpty;
        parent.entries.delete(name);
        return ERROR.done;
      },
      path_rename(from, path, length, to, newPath, newLength) {
        const [parent, name] = placeOf(from, path, length);
        const [target, newName] = placeOf(to, newPath, newLength);
        const node = find(name, parent);
        const old = target.entries.get(newName);
        if (old === node) return ERROR.done;
        if (old && old.kind !== node.kind) return old.kind === KIND.folder ? ERROR.isFolder : ERROR.notFolder;
        if (old?.kind === KIND.folder && old.entries.size) return ERROR.notEmpty;
        parent.entries.delete(name);
        target.entries.set(newName, node);
        return ERROR.done;
      },
      path_symlink: () => ERROR.unsupported,
      path_unlink_file(number, path, length) {
        const [parent, name] = placeOf(number, path, length);
        find(name, parent, KIND.file);
        parent.entries.delete(name);
        return ERROR.done;
      },
    };
    /** The function with its errors as numbers. */
    const guarded =
      (call) =>
      (...values) => {
        try {
          refresh();
          return call(...values) ?? ERROR.done;
        } catch (error) {
          if (error instanceof Failure) return error.code;
          // A file of the user that has changed or gone cannot be read any more.
          if (error instanceof DOMException) return ERROR.io;
          throw error;
        }
      };
    return Object.fromEntries(Object.entries(functions).map(([name, call]) => [name, guarded(call)]));
  }
}
