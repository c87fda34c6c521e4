// Lists of games: files, words, orders, filters.

import assert from "node:assert/strict";
import { test } from "node:test";

import { forSeeds } from "./support.js";

const { byPlayers, isSameFilter, listed, mainLine, namesIn, setsOf, split, wholeOf, withName, withSet, withoutFilter } =
  await import("../../crates/explorer/src/page/games.js");

const game = (tags, moves = "1. e4 *") =>
  `${Object.entries(tags)
    .map(([name, value]) => `[${name} "${value}"]`)
    .join("\n")}\n\n${moves}`;

test("a file is split into its games, whatever its line ends and blank lines", () => {
  forSeeds(50, (rng) => {
    const games = Array.from({ length: 1 + rng.below(6) }, (_, index) =>
      game({ Event: `E${index}`, White: `W${index}`, Black: "B", Date: "2020.??.??" }, "1. e4 {a\n[b]} e5\n2. Nf3 *"),
    );
    const end = rng.one(["\n", "\r\n"]);
    const text = games.join(rng.one(["\n\n", "\n", "\n\n\n\n"])).replaceAll("\n", end) + rng.one(["", end, end + end]);
    const found = split(text);
    assert.deepEqual(
      found.map(({ event, players, when }) => [event, ...players.map(({ name }) => name), when]),
      games.map((_, index) => [`E${index}`, `W${index}`, "B", "2020"]),
    );
    found.forEach(({ text: part }, index) => assert.equal(part.trim(), games[index].trim()));
  });
});

test("tags are read as they are written, and missing ones are unknown", () => {
  const [one] = split(game({ Event: "?", White: 'A \\"B\\"', WhiteElo: "2500", BlackElo: "x", Result: "1-0" }));
  const players = [
    { name: 'A \\"B\\"', rating: 2500 },
    { name: "?", rating: 0 },
  ];
  assert.deepEqual([one.players, one.event, one.result, one.when], [players, "", "1-0", "?"]);
  assert.equal(split("1. d4 d5 2. c4 *").length, 1);
  assert.deepEqual(split(" \n\n"), []);
});

const GAMES = [
  ["Carlsen", 2850, "Nepo", 2750, "WC", "2021.11", 272],
  ["Nepo", 2790, "Ding", 2710, "WC", "2023.04", 60],
  ["Kasparov", 2700, "Karpov", 2700, "wc", "1985", 80],
  ["Me", 0, "You", 0, "Club", "2021.11", 31],
].map(([white, elo, black, other, event, when, plies]) => ({
  players: [
    { name: white, rating: elo },
    { name: black, rating: other },
  ],
  event,
  when,
  plies,
}));

test("words leave the games that have all of them, in any order of the words", () => {
  const whites = (text) => listed(GAMES, text, "").map(({ players }) => players[0].name);
  assert.equal(whites("  ").length, 4);
  assert.deepEqual(whites("nepo"), ["Carlsen", "Nepo"]);
  assert.deepEqual(whites("WC  2021 nepo"), ["Carlsen"]);
  assert.deepEqual(whites("nobody"), []);
});

test("each order sorts, and leaves the games of the file as they are", () => {
  const before = [...GAMES];
  const order = (name) => listed(GAMES, "", name).map(({ when, players }) => [when, players[0].rating]);
  assert.deepEqual(
    order("newest").map(([when]) => when),
    ["2023.04", "2021.11", "2021.11", "1985"],
  );
  assert.deepEqual(
    order("oldest").map(([when]) => when),
    ["1985", "2021.11", "2021.11", "2023.04"],
  );
  assert.deepEqual(
    order("elo").map(([, elo]) => elo),
    [2850, 2790, 2700, 0],
  );
  assert.deepEqual(
    order("elo-up").map(([, elo]) => elo),
    [2700, 2790, 2850, 0],
  );
  const by = (name, of) => listed(GAMES, "", name).map(of);
  const events = by("event", ({ event }) => event);
  assert.deepEqual(
    events,
    [...events].sort((a, b) => Number(!a) - Number(!b) || (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
  );
  const lengths = by("moves", ({ plies }) => plies);
  assert.deepEqual(
    lengths,
    [...lengths].sort((a, b) => b - a),
  );
  assert.ok(new Set(lengths).size > 1, String(lengths));
  // Games of one date stay in their order.
  assert.deepEqual(listed(GAMES, "", "newest")[1], GAMES[0]);
  assert.deepEqual(listed(GAMES, "", "as found"), GAMES);
  assert.deepEqual(GAMES, before);
});

const FIELDS = ["player", "result", "since"].map((name) => ({ name, id: `games-${name}` }));

test("named filters are kept, replaced and deleted", () => {
  let sets = withSet([], "old <b>times</b>", { until: "1500" });
  sets = withSet(sets, "won", { result: "1-0" });
  sets = withSet(sets, "old <b>times</b>", { until: "1600" });
  assert.deepEqual(sets, [
    { name: "won", values: { result: "1-0" } },
    { name: "old <b>times</b>", values: { until: "1600" } },
  ]);
  assert.deepEqual(withSet(sets, "won", {}), [sets[1]]);
  // One for each digit; a known name has room.
  for (let number = 3; number <= 9; number += 1) sets = withSet(sets, `set ${number}`, { player: "A" });
  assert.equal(sets.length, 9);
  assert.equal(withSet(sets, "one more", { player: "A" }), null);
  assert.equal(withSet(sets, "won", { player: "B" }).length, 9);
  assert.deepEqual(withSet(sets, "unknown", {}), sets);
});

test("stored filters are read back, and damaged ones do no harm", () => {
  const sets = [{ name: "won", values: { result: "1-0" } }];
  assert.deepEqual(setsOf(JSON.stringify(sets), FIELDS), sets);
  // An older version named the values by the ids of the fields.
  assert.deepEqual(setsOf('[{"name":"won","values":{"games-result":"1-0","games-since":""}}]', FIELDS), sets);
  for (const text of ["", "{", "null", "7", '{"name":"x"}', "[]"]) assert.deepEqual(setsOf(text, FIELDS), [], text);
  assert.deepEqual(setsOf(`[null,7,{"name":"x"},{"values":{}},${JSON.stringify(sets[0])}]`, FIELDS), sets);
  assert.deepEqual(setsOf('[{"name":"x","values":{"other":"1"}}]', FIELDS), [{ name: "x", values: {} }]);
  const many = JSON.stringify(Array.from({ length: 20 }, () => sets[0]));
  assert.equal(setsOf(many, FIELDS).length, 9);
});

test("filters are the same in any order", () => {
  assert.ok(isSameFilter({ a: "1", b: "2" }, { b: "2", a: "1" }));
  assert.ok(!isSameFilter({ a: "1" }, { a: "2" }));
  assert.ok(!isSameFilter({ a: "1" }, {}));
});

test("several spellings of a name are one filter, and each is added and removed alone", () => {
  assert.deepEqual(namesIn(" Kasparov, G;Kasparov, Garry ;; "), ["Kasparov, G", "Kasparov, Garry"]);
  assert.equal(withName("", "A"), "A");
  assert.equal(withName("A; B", "C"), "A; B; C");
  assert.equal(withName("A;B", "A"), "B");
  const filter = { player: "A; B", result: "1-0" };
  assert.deepEqual(withoutFilter(filter, "player", "A"), { player: "B", result: "1-0" });
  assert.deepEqual(withoutFilter({ player: "A" }, "player", "A"), {});
  assert.deepEqual(withoutFilter(filter, "result", "1-0"), { player: "A; B" });
});

test("a game of an index is found whole in its file", () => {
  const tags = (white) => `[Event "Club"]\n[White "${white}"]\n[Black "B"]\n[Date "2024.??.??"]\n[Result "1-0"]\n\n`;
  const whole = `${tags("A")}1. e4! {best [%csl Ge4]} e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 $1 ; good\nNc6 3. Bb5+ 1-0\n`;
  const other = `${tags("A")}1. d4 1-0\n`;
  const games = byPlayers(`${whole}\n${other}\n${tags("C")}1. c4 {one} 1-0\n\n${tags("C")}1. c4 {two} 1-0\n`);
  const bare = `${tags("A")}1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n`;
  assert.deepEqual(mainLine(whole), ["e4", "e5", "Nf3", "Nc6", "Bb5"]);
  assert.equal(wholeOf(bare, games)?.text.trim(), whole.trim());
  assert.equal(wholeOf(other, games)?.text.trim(), other.trim());
  // An index writes days and unknown values in its own form.
  const short = byPlayers(
    '[Event "E"]\n[Date "2024.3.7"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 {x} 1-0\n',
  );
  const full = `[Event "E"]\n[Site "?"]\n[Date "2024.03.07"]\n[Round "?"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n`;
  assert.ok(wholeOf(full, short));
  // Of two games of the same players with the same moves, the day decides.
  const days = ["2024.1.2", "2024.1.3"].map((day) => `${tags("A").replace("2024.??.??", day)}1. e4 {${day}} 1-0\n`);
  const second = wholeOf(`${tags("A").replace("2024.??.??", "2024.01.03")}1. e4 1-0\n`, byPlayers(days.join("\n")));
  assert.ok(second.text.includes("{2024.1.3}"));
  // Nobody knows which of two it is, and another game is not it.
  assert.equal(wholeOf(`${tags("C")}1. c4 1-0\n`, games), undefined);
  assert.equal(wholeOf(`${tags("A")}1. e4 1-0\n`, games), undefined);
  assert.equal(wholeOf("", games), undefined);
});
