// A training: which position comes next, which moves are right there, and what an answer means for the cards.

/** Whether a book says nothing about a move, as `tabia build --variations` stores side lines: it counts as played once. */
const isBare = (move) => move.games === 0 && move.stored_weight === undefined && move.mark === "none";

/**
 * The right moves: the green ones, else those that the book plays or stores without any number, else its moves that
 * are not red.
 */
export function rightMoves(book) {
  const stored = book.moves.filter((move) => !move.transposition);
  const kinds = [
    (move) => move.mark === "main",
    (move) => move.probability > 0 || isBare(move),
    (move) => move.mark !== "avoid",
  ];
  return kinds.map((kind) => stored.filter(kind)).find((moves) => moves.length) ?? [];
}

/** A random book move, by how often it was played. */
export function reply(book, random = Math.random()) {
  const moves = book.moves.filter((move) => !move.transposition);
  const weigh = (of) => moves.map(of);
  let weights = weigh((move) => move.stored_weight ?? move.games);
  if (weights.every((weight) => weight === 0)) weights = weigh((move) => move.probability);
  else weights = weights.map((weight, index) => weight || Number(isBare(moves[index])));
  let left = random * weights.reduce((sum, weight) => sum + weight, 0);
  return moves.find((move, index) => (left -= weights[index]) < 0) ?? moves.at(-1);
}

export class Lesson {
  cards;
  subject;
  colour;

  /** `cards` are those of all books; the lesson is about one of them, or a chapter, and one colour. */
  constructor(cards, subject, colour) {
    Object.assign(this, { cards, subject, colour });
    this.due = cards.due(subject, colour);
    /** Missed and new positions, which are asked again in this lesson. */
    this.again = [];
    /** Keys of the positions whose moves were shown in this lesson. */
    this.learnt = new Set();
    this.right = this.wrong = 0;
    this.question = null;
    /** The key of the position that the line leads to, which is asked though it may be known; null for a line from the root. */
    this.target = null;
    /** Whether a position of this line was asked. */
    this.hasAsked = false;
  }

  /** Number of positions that are still to come. */
  get left() {
    return this.due.length + this.again.length;
  }

  /** The next position, as the way to it; null if there is none. */
  next() {
    this.question = null;
    const [key = null, way = null] = this.due.shift() ?? this.again.shift() ?? [];
    this.target = key;
    this.hasAsked = false;
    return way;
  }

  /**
   * Asks for one of the right moves `all` of a position; `at` is its place in a tree, `way` is for its card. Returns
   * what the user is told: "choose" which of several moves is the right one, the move of a "new" position if
   * `showsNew`, "ask", or "same" if it is asked already. A position on the way that is "known" and not due is not
   * asked: its move is played.
   */
  ask({ tree, at, fen, all, way, showsNew }) {
    const key = this.cards.key(this.subject, this.colour, fen);
    const mine = this.cards.mine.get(key);
    const chosen = all.filter(({ uci }) => uci === mine);
    const right = chosen.length ? chosen : all;
    // Asked already: only the book may have changed.
    if (this.question?.tree === tree && this.question.at === at) {
      Object.assign(this.question, { all, right });
      return "same";
    }
    const card = this.cards.all.get(key);
    const isChoice = all.length > 1 && !chosen.length && mine !== "";
    const isNew = !(card?.right || card?.wrong || this.learnt.has(key)) && (isChoice || showsNew);
    this.question = { tree, at, all, right, key, way, missed: false, isChoice, isNew };
    const comesAgain = key === this.target || this.again.some(([known]) => known === key);
    if (!isChoice && !comesAgain && card?.due > Date.now()) return "known";
    this.hasAsked = true;
    return isChoice ? "choose" : isNew ? "new" : "ask";
  }

  /** Lets the user choose again. */
  reopen() {
    if (this.question) this.question.isChoice = true;
  }

  /** Any of the moves is right from now on. */
  takeAny() {
    this.cards.choose(this.question.key, "");
    Object.assign(this.question, { right: this.question.all, isChoice: false, isNew: false });
  }

  /**
   * Takes a move. Returns whether it is right, whether that was known before the move (so that it does not count), and
   * the book's move. The question stays until the move is right.
   */
  answer(uci) {
    const { key, way, all, right, missed, isChoice, isNew } = this.question;
    const move = (isChoice ? all : right).find((known) => known.uci === uci);
    if (!move) {
      if (!isChoice) this.miss();
      return { isRight: false };
    }
    if (isChoice) this.cards.choose(key, uci);
    if (isNew || isChoice) {
      // It was only shown: it is asked again without its move.
      if (isNew) this.cards.want(key, way);
      this.learnt.add(key);
      this.comeAgain(key, way);
    } else if (!missed) {
      this.right += 1;
      this.cards.answered(key, true, way);
      const isOther = ([known]) => known !== key;
      this.due = this.due.filter(isOther);
      this.again = this.again.filter(isOther);
    }
    this.question = null;
    return { isRight: true, isTold: missed || isNew || isChoice, move };
  }

  /** Counts a mistake, once a question: the position is repeated. A new position is no mistake. */
  miss() {
    const { key, way, missed, isNew } = this.question;
    if (missed || isNew) return;
    this.question.missed = true;
    this.wrong += 1;
    this.comeAgain(key, way);
    this.cards.answered(key, false, way);
  }

  comeAgain(key, way) {
    if (!this.again.some(([known]) => known === key)) this.again.push([key, way]);
  }
}
