#!/usr/bin/env bash
# cm-chess 4.0.0 (npm). One would expect: a game that begins with Black's tenth move is
# written with "10..." before that move, as the PGN standard has it and as it was read.
# Seen: renderPgn() writes "1. Kg7 a8=Q": numbers from 1, Black's move as White's and the
# other way round, although FEN and SetUp are in the tags. Readers that trust the numbers
# take the moves of one side for those of the other: lines of a repertoire, or endgame studies.
set -euo pipefail
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --ignore-scripts cm-chess@4.0.0 >/dev/null
cat >write.mjs <<'JS'
import { Chess } from "cm-chess";
const game = new Chess();
game.loadPgn('[SetUp "1"]\n[FEN "8/P6k/8/8/8/8/8/K7 b - - 0 10"]\n\n10... Kg7 11. a8=Q *');
console.log(game.history().map((move) => `${move.color}:${move.san}`).join(" "));
console.log(game.renderPgn().trim().split("\n").pop());
JS
seen=$(node write.mjs | paste -sd '|')
expected='b:Kg7 w:a8=Q|1. Kg7 a8=Q'
if [ "$seen" != "$expected" ]; then
    printf 'changed.\nexpected: %s\nnow:      %s\n' "$expected" "$seen"
    exit 1
fi
printf 'seen: 10... Kg7 11. a8=Q comes back as "%s"\n' "${seen#*|}"
