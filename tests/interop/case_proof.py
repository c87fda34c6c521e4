"""Two books compared by their exits, and planted holes."""

import json

import planted
from oracle import board_after
from paths import STOCKFISH, copy_starter, folder
from procs import run, run_ok
from runner import case


@case(250)
def exits_are_evaluated_by_a_real_engine_once_each():
    where = folder("proof")
    book = copy_starter(where)
    arguments = ("prove", book, book, "--set-a", "Book Variety=0", "--walks", 40, "--nodes", 3000)
    engine = ("--evaluations", where / "exits.evals", "--json", "--", STOCKFISH)
    found = json.loads(run_ok(*arguments, *engine, limit=200).stdout)
    # Stockfish reports the expected score.
    assert found["points_by"] == {"engine": 80}, found["points_by"]
    assert found["searched"] <= found["different_exits"] <= 80
    for exit in found["exits"]:
        board = board_after(exit["moves"])
        assert board.epd() == " ".join(exit["fen"].split()[:4]), exit
        assert sum(exit["wdl"]) == 1000 and exit["nodes"] > 2000, exit
    again = json.loads(run(*arguments, *engine, limit=200).stdout)
    assert again["searched"] == 0 and again["elo"] == found["elo"]
    return f"A - B {found['elo']['difference']:+.1f} Elo, {found['different_exits']} exits"


@case(280)
def planted_errors_lose_as_much_as_intended_and_are_played():
    where = folder("planted")
    book = copy_starter(where)
    options = planted.arguments([str(book), str(where / "out"), "--holes", "3", "--nodes", "20000"])
    holes = planted.plant(book, where / "out", options)
    assert len(holes) == 3, holes
    made = where / "out" / "planted.ctg"
    assert run("verify", made).returncode == 0
    for hole in holes:
        assert 80 <= hole["loss"] <= 200, hole
        done = run("probe", made, *hole["fen"].split(), "--json")
        moves = {move["uci"]: move for move in json.loads(done.stdout)["moves"]}
        assert moves[hole["uci"]]["games"] == hole["games"], moves
        assert moves[hole["uci"]]["probability"] > 0.02, moves
    return ", ".join(f"{hole['san']} {hole['loss']} cp" for hole in holes)
