// Training data: what is known of each position. The program has it: this page sends events, each with an identifier
// of its own, until the program has stored it. Until then an event waits in the browser's storage, under a key of its
// own, so that no tab overwrites another one's.

import { inTurn, post, unique } from "./api.js";
import { FORMAT, choices, hash, nameIn, readSaved, restOf, valid } from "./cards-saved.js";
import { forgetStored, keep, storedJson, storedNames, t, translated } from "./lang.js";

const DAY = 86_400_000;

/** The probability from 0 to 1 that a card is known now, by FSRS 4.5; null if it was never asked. */
export const recall = ({ stability, asked }, now = Date.now()) =>
  stability ? (1 + ((19 / 81) * Math.max(0, now - asked)) / DAY / stability) ** -0.5 : null;

/** What begins the names of waiting events in the browser's storage. */
const WAITING = "training-event-";

/** Where the browser stored cards before the program did. */
const OLD = "training";

/** The format of a training file beside a book. */
const EVENTS = "tabia-training-events";

/** Time in milliseconds before a program that did not answer is asked again. */
const AGAIN = 2000;

/** The deck of the chapters of PGN files; the others are those of books. */
export const CHAPTERS = "chapters";

/** What a chapter is trained as. */
export const subjectOf = (chapter) => `${CHAPTERS}/${chapter}`;

/** The parts of a key: chapters and books may have any names. */
function partsOf(key) {
  const parts = key.split("|");
  const fen = parts.pop();
  const colour = parts.pop();
  const [deck, ...of] = parts.join("|").split("/");
  return { deck, of: of.join("/"), colour, fen };
}

/** What an estimate says of a position until the program answers. */
const unasked = (now) => ({ stability: 0, difficulty: 5, right: 0, wrong: 0, asked: now, due: now });

const answers = ({ right, wrong }) => right + wrong;

/** The way to a position as events have it. */
const sent = ({ fen, line, opening }) => ({
  ...(fen && { start: fen }),
  line: line.map(({ uci }) => uci).join(","),
  ...(opening && { opening }),
});

export class Cards {
  send;
  changed;
  report;

  /**
   * `send` posts to the program, `changed` is called when something has come from it, `report` with a message for
   * the user.
   */
  constructor({
    send = (body) => post("/api/training", body),
    changed = () => {},
    report = /** @type {(text: string) => void} */ (() => {}),
  } = {}) {
    Object.assign(this, { send, changed, report });
    this.all = new Map();
    /** The chosen move, by the key of a position with several book moves; "" means any of them. */
    this.mine = new Map();
    /** The decks that were asked for, by their identifiers. */
    this.decks = new Map();
    /** Events that the program has not stored, by their identifiers. */
    this.waiting = new Map();
    /** Those of them for which the browser's storage has no room, by their identifiers. */
    this.unkept = new Set();
    this.isFull = false;
    this.turn = inTurn();
    this.last = 0;
    this.takeWaiting();
  }

  /** Reads the events that this and earlier pages have left in the browser. */
  takeWaiting() {
    for (const name of storedNames(WAITING)) {
      const item = storedJson(name, null);
      const id = item?.event?.id;
      if (typeof id !== "string" || typeof item.deck !== "string") forgetStored(name);
      else if (!this.waiting.has(id)) this.waiting.set(id, item);
    }
  }

  /** Tries to send what earlier pages have left, also for books that are not shown. */
  sendWaiting() {
    for (const { deck, name } of this.waiting.values()) this.open(deck, name);
  }

  deck(id, name = "") {
    if (!this.decks.has(id)) this.decks.set(id, { name, mark: null, problem: "", leftBehind: [], coming: null });
    const deck = this.decks.get(id);
    deck.name ||= name;
    return deck;
  }

  /** Gets a deck from the program, once; resolves when it is here, or when the program does not answer. */
  open(id, name) {
    const deck = this.deck(id, name);
    if (!deck.opened) {
      this.takeOver(id, name);
      deck.opened = this.sync(id);
    }
    return deck.opened;
  }

  /** Gets what others have stored since. */
  refresh() {
    return Promise.all([...this.decks.keys()].map((id) => this.sync(id)));
  }

  /** Sends the waiting events of a deck and gets what has changed; several calls are one request. */
  sync(id) {
    const deck = this.deck(id);
    return (deck.coming ??= this.turn(() => {
      deck.coming = null;
      return this.exchange(id, deck);
    }));
  }

  async exchange(id, deck, more = {}) {
    const events = [...this.waiting.values()].filter((item) => item.deck === id).map(({ event }) => event);
    let answer;
    try {
      answer = await this.send({ deck: id, since: deck.mark, events, ...more });
    } catch (error) {
      deck.problem = error.message;
      if (error.isGone) this.tryAgain();
    }
    if (answer) this.take(id, deck, answer, events);
    this.keepLeft();
    this.changed();
  }

  /** Stores a waiting event in the browser; else it waits as long as the page is open. */
  keep(item) {
    const { id } = item.event;
    if (keep(WAITING + id, JSON.stringify(item))) this.unkept.delete(id);
    else this.unkept.add(id);
  }

  /** Removes an event from the browser. */
  drop(id) {
    this.unkept.delete(id);
    forgetStored(WAITING + id);
  }

  /** Stores what found no room before, and reports once that there is none. */
  keepLeft() {
    for (const id of [...this.unkept]) {
      this.keep(this.waiting.get(id));
      // The others find none either.
      if (this.unkept.has(id)) break;
    }
    const isFull = this.unkept.size > 0;
    if (isFull && !this.isFull) this.report(this.leftOut());
    this.isFull = isFull;
  }

  /** What the user can do about the events that would be lost with the page; nothing if there are none. */
  leftOut() {
    return (
      this.unkept.size &&
      t`${this.unkept.size} answers last only until this page is closed, as the browser stores no more. Save what was trained, forget all, and load the saved file: it takes less room.`
    );
  }

  /** Asks again after a while. */
  tryAgain() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.refresh();
    }, AGAIN);
  }

  /** Takes the program's answer to these events. */
  take(id, deck, answer, events) {
    const { stored, problem, refused, notices } = answer;
    const isNew = problem && events.length > 0 && !deck.problem;
    deck.problem = stored ? "" : translated(problem ?? "");
    deck.mark = stored ? answer.mark : null;
    deck.leftBehind = answer.left_behind;
    const done = stored ? events.map((event) => event.id) : refused.map((event) => event.id);
    for (const one of done) {
      this.waiting.delete(one);
      this.drop(one);
    }
    if (answer.whole)
      for (const map of [this.all, this.mine])
        for (const key of map.keys()) if (partsOf(key).deck === id) map.delete(key);
    for (const { at, fen, line, ...card } of answer.cards)
      this.all.set(this.keyOf(id, at), { ...card, fen: fen ?? (line ? null : `${at.fen} 0 1`), line: line ?? [] });
    for (const [fen, of, uci] of answer.moves) this.mine.set(this.keyOf(id, { fen, of }), uci);
    // What came meanwhile.
    const known = new Set(events.map((event) => event.id));
    for (const item of this.waiting.values())
      if (item.deck === id && !known.has(item.event.id)) this.estimate(id, item.event);
    const texts = notices.map(translated);
    if (refused.length)
      texts.push(t`${refused.length} answers of this training are invalid: ${translated(refused[0].reason)}`);
    if (isNew) texts.push(t`The training is kept in this browser, as the program cannot store it: ${deck.problem}`);
    if (texts.length) this.report(texts.join(" "));
  }

  /** The key of a position of a subject (the deck of a book, or a chapter) for a colour, without move counters. */
  key(subject, colour, fen) {
    return [subject, colour, fen.split(" ").slice(0, 4).join(" ")].join("|");
  }

  /** The key of a position that the program names. */
  keyOf(deck, /** @type {{ fen?: string, of?: string }} */ { fen, of }) {
    return this.key(of ? `${deck}/${of}` : deck, fen.split(" ")[1] === "w" ? "white" : "black", fen);
  }

  /** Adds an event, which the program gets now or later. */
  add(deck, event) {
    const item = { deck, name: this.deck(deck).name, event };
    this.waiting.set(event.id, item);
    this.keep(item);
    this.estimate(deck, event);
  }

  /** An event of now: no two have the same time. */
  event(action, id = unique()) {
    this.last = Math.max(Date.now(), this.last + 1);
    return { id, time: this.last, ...action };
  }

  /** Adds an event about a position, and sends it. */
  record(key, action, way = null) {
    const { deck, of, fen } = partsOf(key);
    const known = this.all.get(key);
    const isKnown = way && known && known.line.length && JSON.stringify(sent(known)) === JSON.stringify(sent(way));
    this.add(deck, this.event({ ...action, fen, ...(of && { of }), ...(way && !isKnown && { way: sent(way) }) }));
    if (way && this.all.has(key)) Object.assign(this.all.get(key), way);
    this.sync(deck);
  }

  /** What an event probably changes: the program's answer replaces it. */
  estimate(deck, { kind, time, right, state, move, ...at }) {
    if (kind === "forget") {
      for (const map of [this.all, this.mine])
        for (const key of map.keys()) if (partsOf(key).deck === deck) map.delete(key);
      return;
    }
    if (kind === "undo") return;
    const key = this.keyOf(deck, at);
    if (kind === "choose") {
      this.mine.set(key, move);
      return;
    }
    // Not the time of the event, which may be a little later.
    const now = Math.min(time, Date.now());
    const card = { fen: null, line: [], ...unasked(now), ...this.all.get(key) };
    if (kind === "import" && answers(card) <= answers(state)) Object.assign(card, state);
    if (kind === "want") card.due = now;
    if (kind === "answer") {
      card.stability = right ? Math.max(card.stability, 1) : Math.min(card.stability || 0.5, 0.5);
      card[right ? "right" : "wrong"] += 1;
      card.asked = now;
      card.due = right ? now + card.stability * DAY : now;
    }
    this.all.set(key, card);
  }

  /** Stores which of several moves is the right one. */
  choose(key, uci) {
    this.record(key, { kind: "choose", move: uci });
  }

  /** The chosen moves of a subject and colour, by the FENs of their positions. */
  chosen(subject, colour) {
    const begins = `${subject}|${colour}|`;
    return [...this.mine]
      .filter(([key, uci]) => uci && key.startsWith(begins))
      .map(([key, uci]) => [key.slice(begins.length), uci]);
  }

  /** Stores an answer; `way` is the line to the position. */
  answered(key, right, way) {
    this.record(key, { kind: "answer", right }, way);
  }

  /** Makes a position due now; one that was never asked is new. */
  want(key, way) {
    this.record(key, { kind: "want" }, way);
  }

  /** The cards of a subject and colour. */
  of(subject, colour) {
    const begins = `${subject}|${colour}|`;
    return [...this.all].filter(([key]) => key.startsWith(begins));
  }

  /** Number of positions of these decks. */
  count(decks) {
    return [...this.all.keys()].filter((key) => decks.includes(partsOf(key).deck)).length;
  }

  /** Number of events of these decks that wait, and why, if the program did not take them. */
  waits(decks) {
    const items = [...this.waiting.values()].filter(({ deck }) => decks.includes(deck));
    return { count: items.length, problem: decks.map((id) => this.decks.get(id)?.problem).find(Boolean) ?? "" };
  }

  /** The due cards, weakest first, new ones last. */
  due(subject, colour) {
    const now = Date.now();
    const weak = ([, card]) => recall(card, now) ?? 1;
    return this.of(subject, colour)
      .filter(([, card]) => card.due <= now)
      .sort((a, b) => weak(a) - weak(b));
  }

  /** For each opening the number of cards, of known and of due ones; weakest openings first. */
  progress(subject, colour) {
    const now = Date.now();
    const rows = new Map();
    for (const [, card] of this.of(subject, colour)) {
      const name = card.opening ?? "";
      if (!rows.has(name)) rows.set(name, { name, cards: 0, known: 0, due: 0 });
      const row = rows.get(name);
      row.cards += 1;
      if (card.due <= now) row.due += 1;
      else row.known += 1;
    }
    return [...rows.values()].sort((a, b) => a.known / a.cards - b.known / b.cards || b.cards - a.cards);
  }

  /** The training of these decks as text, under the names of their books, with the chapters for a file. */
  export(decks, chapters) {
    const named = (map) =>
      [...map].flatMap(([key, value]) => {
        const { deck, of, colour, fen } = partsOf(key);
        return decks.includes(deck) ? [[this.key(of || this.deck(deck).name, colour, fen), value]] : [];
      });
    const [cards, moves] = [named(this.all), named(this.mine)];
    return JSON.stringify({ format: FORMAT, version: 3, cards, moves, chapters });
  }

  /**
   * Imports a training file for the deck of a book, and that of the chapters: one that a page has saved, or one from
   * beside a book. Returns how many positions or answers came, the names of other books in it, and its chapters.
   */
  import(text, deck, isChapter) {
    const { came, others, chapters } = text.startsWith(`{"format":"${EVENTS}"`)
      ? this.importEvents(text, deck)
      : this.importSaved(text, deck, isChapter);
    for (const id of [deck, CHAPTERS]) this.sync(id);
    return { came, others, chapters };
  }

  importEvents(text, deck) {
    const lines = text.split("\n").slice(1).filter(Boolean);
    let came = 0;
    for (const line of lines) {
      try {
        const event = JSON.parse(line);
        if (typeof event.id !== "string" || typeof event.kind !== "string") continue;
        this.add(deck, event);
        came += 1;
      } catch {
        /* It is not counted. */
      }
    }
    return { came, others: lines.length > came ? [t`${lines.length - came} lines`] : [], chapters: [] };
  }

  importSaved(text, deck, isChapter) {
    const read = readSaved(text);
    const { chapters } = read;
    const isOfChapter = (name) => isChapter(name) || chapters.some((one) => one && `${one.file}: ${one.name}` === name);
    const books = new Set(
      [...valid(read), ...choices(read)].map(([key]) => nameIn(key)).filter((name) => !isOfChapter(name)),
    );
    const own = this.deck(deck).name;
    // A book that was renamed: the user wants its training here.
    const meant = books.has(own) || books.size !== 1 ? own : [...books][0];
    const came = this.takeCards(read, (name) => (name === meant ? deck : isOfChapter(name) ? subjectOf(name) : null));
    books.delete(meant);
    return { came, others: [...books], chapters };
  }

  /**
   * Adds saved cards as events; `subject` says what those under a name are of, `idOf` makes the identifiers of the
   * events. Returns how many cards are new.
   */
  takeCards(saved, subject, /** @type {(text: string) => string} */ idOf = unique) {
    let came = 0;
    for (const [key, card] of valid(saved)) {
      const to = subject(nameIn(key));
      if (!to) continue;
      const { deck, of, fen } = partsOf(this.key(to, ...restOf(key)));
      const old = this.all.get(this.keyOf(deck, { of, fen }));
      if (old && answers(old) >= answers(card)) continue;
      const { stability, difficulty, right, wrong, asked, due } = card;
      const state = { stability, difficulty, right, wrong, asked: Math.round(asked), due: Math.round(due) };
      const id = idOf(`${to} ${key} ${JSON.stringify(card)}`);
      this.add(deck, this.event({ kind: "import", fen, ...(of && { of }), state, way: sent(card) }, id));
      Object.assign(this.all.get(this.keyOf(deck, { of, fen })), {
        fen: card.fen,
        line: card.line,
        opening: card.opening,
      });
      came += 1;
    }
    for (const [key, move] of choices(saved)) {
      const to = subject(nameIn(key));
      if (!to) continue;
      const { deck, of, fen } = partsOf(this.key(to, ...restOf(key)));
      this.add(deck, this.event({ kind: "choose", fen, ...(of && { of }), move }, idOf(`${to} ${key} ${move}`)));
    }
    return came;
  }

  /** Takes over, once, what the browser stored before the program did: that of this book, or of all chapters. */
  takeOver(id, name) {
    const old = storedJson(OLD, null);
    if (!old) return;
    const isOwn = (named) => (id === CHAPTERS ? this.isOldChapter(named) : named === name);
    const subject = (named) => (!isOwn(named) ? null : id === CHAPTERS ? subjectOf(named) : id);
    // The same from two tabs counts once.
    const came = this.takeCards(old, subject, (text) => `old-${hash(text)}`);
    const others = (/** @type {[string, any]} */ [key]) => !isOwn(nameIn(key));
    const left = { ...old, cards: valid(old).filter(others), moves: choices(old).filter(others) };
    if (!left.cards.length && !left.moves.length) forgetStored(OLD);
    else keep(OLD, JSON.stringify(left));
    if (came) this.report(t`${came} positions that were trained in this browser now belong to ${name}.`);
  }

  /** Whether old cards of this name are of a chapter. */
  isOldChapter = (name) => storedJson("chapters", []).some((one) => `${one?.file}: ${one?.name}` === name);

  /** Forgets these decks; returns with what that can be undone. */
  forget(decks) {
    return decks
      .filter((id) => this.count([id]))
      .map((deck) => {
        const event = this.event({ kind: "forget" });
        const before = [...this.waiting.values()].filter((item) => item.deck === deck && item.event.time < event.time);
        // They change nothing any more, unless they are brought back.
        before.forEach((item) => this.drop(item.event.id));
        this.add(deck, event);
        this.sync(deck);
        return { deck, event: event.id, before };
      });
  }

  /** Brings back what was forgotten. */
  bringBack(forgotten) {
    return Promise.all(
      forgotten.map(({ deck, event, before }) => {
        before.filter((item) => this.waiting.has(item.event.id)).forEach((item) => this.keep(item));
        this.add(deck, this.event({ kind: "undo", event }));
        return this.sync(deck);
      }),
    );
  }

  /** Gives a book the training of one that is no longer beside it, whose file was probably renamed. */
  adopt(id, book) {
    return this.turn(() => this.exchange(id, this.deck(id), { adopt: book }));
  }
}
