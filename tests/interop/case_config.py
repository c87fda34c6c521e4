"""Configurations and files of a match that are refused, or act, with a reason."""

import shutil

from paths import SHARED, copy_starter, folder
from procs import run, tabia
from runner import case

CASES = SHARED / "data" / "cases" / "play"


@case(needs_shared=True)
def a_key_of_a_book_acts_or_is_refused_with_its_line():
    done = run("check", "--config", CASES / "books_options_ignored.toml")
    assert done.returncode == 2, done.returncode
    assert "books_options_ignored.toml: line 8: \"cover\"" in done.stderr, done.stderr


@case(needs_shared=True)
def check_says_for_which_games_a_book_is():
    here = folder("conditions")
    config = (CASES / "check_ignores_conditions.toml").read_text()
    (here / "engines.toml").write_text(config.replace("p.bin", copy_starter(here).name))
    done = run("check", "--config", here / "engines.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "games with opponent GM: " in done.stdout, done.stdout
    assert "other games: the engine's, no book has one" in done.stdout, done.stdout


@case(needs_shared=True)
def seeds_with_a_byte_order_mark_are_all_read():
    here = folder("seeds")
    for name in ("plain", "utf16"):
        seeds = here / f"{name}.txt"
        shutil.copy(CASES / "seeds_bom_crlf.txt", seeds)
        if name == "utf16":
            seeds.write_text(seeds.read_text("utf-8-sig"), "utf-16")
        client = tabia("--set", f"Book Seed File={seeds}")
        client.handshake()
        for game in range(4):
            lines = client.exchange("ucinewgame", "position startpos", "go movetime 10", until="bestmove")
            missing = [line for line in lines if "seed" in line]
            assert len(missing) == (game == 3), (game, lines)
            if game == 3:
                assert "all 3 seeds are taken" in missing[0], missing
