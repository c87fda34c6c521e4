#!/usr/bin/env bash
# chessops 0.15.1 and Stockfish 18.0.8 (npm). One would expect: the UCI text that chessops
# makes of castling in ordinary chess is e1g1, which every engine reads. Seen: it is e1h1
# (king takes rook, as in Chess960), and Stockfish 18 in standard chess drops that move and
# all after it without a word, so it thinks about the position before. Whoever joins the two
# in a page gets answers for another position. (chess.js 1.4.0 refuses e1h1 by an error.)
set -euo pipefail
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
npm install --silent --no-audit --no-fund --ignore-scripts chessops@0.15.1 stockfish@18.0.8 >/dev/null
cat >moves.mjs <<'JS'
import { Chess } from "chessops/chess";
import { parseSan } from "chessops/san";
import { makeUci } from "chessops/util";
const position = Chess.default();
const moves = ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6", "O-O", "a6"].map((san) => {
    const move = parseSan(position, san);
    position.play(move);
    return makeUci(move);
});
console.log(moves.join(" "));
JS
moves=$(node moves.mjs)
fen=$(
    { printf 'uci\nposition startpos moves %s\nd\n' "$moves"; sleep 3; } |
        node node_modules/stockfish/bin/stockfish-18-lite-single.js | sed -n 's/^Fen: //p'
)
seen="$moves | $fen"
expected='e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1h1 a7a6 | r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4'
if [ "$seen" != "$expected" ]; then
    printf 'changed.\nexpected: %s\nnow:      %s\n' "$expected" "$seen"
    exit 1
fi
printf 'seen: castling is e1h1, and Stockfish stands before it: %s\n' "$fen"
