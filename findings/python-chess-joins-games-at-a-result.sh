#!/usr/bin/env bash
# python-chess 1.11.2 (PyPI, "chess"). One would expect: a result ends a game, as the PGN
# standard has it, so that "1. e4 e5 1-0 1. d4 d5 0-1" is two games. Seen: one game, 1. e4 e5
# 2. d4 d5 with the result 1-0, and no error; also with a line feed between them. Only an
# empty line (or a tag) begins the next game. Whoever makes a book or a table of openings of
# such text counts positions that never arose.
set -euo pipefail
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check chess==1.11.2
cat >read.py <<'PY'
import io

import chess.pgn

for between in (" ", "\n", "\n\n"):
    source = io.StringIO(f"1. e4 e5 1-0{between}1. d4 d5 0-1\n")
    games = []
    while (game := chess.pgn.read_game(source)) is not None:
        moves = " ".join(move.uci() for move in game.mainline_moves())
        games.append(f"{moves} {game.headers['Result']}, {len(game.errors)} errors")
    print(" / ".join(games))
PY
seen=$(venv/bin/python read.py)
expected='e2e4 e7e5 d2d4 d7d5 1-0, 0 errors
e2e4 e7e5 d2d4 d7d5 1-0, 0 errors
e2e4 e7e5 1-0, 0 errors / d2d4 d7d5 0-1, 0 errors'
if [ "$seen" != "$expected" ]; then
    printf 'changed.\nexpected: %s\nnow:      %s\n' "$expected" "$seen"
    exit 1
fi
printf 'seen: two games on one line are read as one: %s\n' "${seen%%$'\n'*}"
