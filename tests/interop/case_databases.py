"""Game databases against other readers: a decoder of Simple Chess Databases
written here, python-chess for PGN, an encoder for ChessBase for DOS."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import chess
import chess.pgn

import cbf_encoder
from damage import damaged
from paths import ROOT, SHARED, THOROUGH, folder
from procs import environment, run_ok
from runner import case

SCDB = SHARED / "data" / "scdb"
SOURCES = {
    "lengths": SCDB / "lengths" / "source.pgn",
    "kramnik": SHARED / "data" / "pgn" / "chesscore_Kramnik.pgn.zst",
    "twic": SHARED / "data" / "pgn" / "twic1599_1000k.pgn.zst",
    "hedgehog": SHARED / "data" / "chessbase" / "hedgehog" / "expected.pgn",
}
NAMES = ["small", *SOURCES]


def games_of(path: Path) -> list[chess.pgn.Game]:
    games = list(cbf_encoder.read_games(path))
    for game in games:
        assert not game.errors, game.errors
    return games


def length(data, at):
    first = data[at]
    if first < 0x80:
        return first, at + 1
    end = at + 1 + (first & 0x0F)
    return int.from_bytes(data[at + 1 : end], "big"), end


def moves_of(data, at):
    """The UCI moves, brackets and notes of a .dcg game, up to an illegal move."""
    size, at = length(data, at)
    end = at + size
    board = chess.Board()
    if data[at] == 1:
        size, at = length(data, at + 1)
        board = chess.Board(data[at : at + size].decode())
        at += size
    else:
        at += 1
    out, stack, before = [], [], None
    while at < end:
        byte = data[at]
        if byte < 0x80:
            word = int.from_bytes(data[at : at + 2], "big")
            at += 2
            promotion = {0: None, 2: 2, 3: 3, 4: 4, 5: 5}[word >> 12]
            move = chess.Move(word >> 6 & 63, word & 63, promotion)
            if not board.is_legal(move):
                break
            before = board.copy()
            board.push(move)
            out.append(move.uci())
            continue
        at += 1
        if byte == 0x84:
            stack.append((board, before))
            board = before.copy()
            out.append("(")
        elif byte == 0x85:
            board, before = stack.pop()
            out.append(")")
        elif byte == 0x88:
            before = board.copy()
            board.push(chess.Move.null())
            out.append("0000")
        else:
            size, at = length(data, at)
            text = data[at : at + size]
            at += size
            out.append(list(text) if byte == 0x87 else " ".join(text.decode().split()))
    return out


def decoded(index: Path):
    """The content of a database, game by game."""
    read = {part: index.with_suffix(".dc" + part).read_bytes() for part in "insge"}

    def name(part, at):
        text = read[part][at : at + 36].decode("utf-8", "ignore").strip() if at >= 10 else ""
        return text or "?"

    entries = read["i"][19:]
    for start in range(0, len(entries) - 38, 39):
        entry = entries[start : start + 39]
        number = lambda at, size: int.from_bytes(entry[at : at + size], "big")
        year, month, day = number(35, 2), number(37, 1), number(38, 1)
        tags = {
            "White": name("n", number(9, 4)),
            "Black": name("n", number(13, 4)),
            "Site": name("s", number(19, 4)),
            "Event": name("e", number(23, 4)),
            "Round": str(number(17, 2) or "?"),
            "WhiteElo": str(number(27, 2) or ""),
            "BlackElo": str(number(29, 2) or ""),
            "Result": ["*", "1-0", "0-1", "1/2-1/2"][entry[31]],
            "Date": f"{year or '????'}.{f'{month:02}' if month else '??'}.{f'{day:02}' if day else '??'}",
        }
        yield tags, moves_of(read["g"], number(1, 8))


def content_of(game: chess.pgn.Game):
    """The same content from PGN."""
    tags = {
        key: game.headers.get(key, "")
        for key in ("White", "Black", "Site", "Event", "Round", "WhiteElo", "BlackElo", "Result", "Date")
    }
    out = [" ".join(game.comment.split())] if game.comment else []

    def one(node):
        out.append(node.move.uci())
        if node.nags:
            out.append(sorted(node.nags))
        if node.comment:
            out.append(" ".join(node.comment.split()))

    def line(node):
        while node.variations:
            main, *others = node.variations
            one(main)
            for other in others:
                out.append("(")
                if other.starting_comment:
                    out.append(" ".join(other.starting_comment.split()))
                one(other)
                line(other)
                out.append(")")
            node = main

    line(game)
    return tags, out


@case(600, needs_shared=True)
def simple_chess_databases_are_read_as_another_reader_reads_them():
    work, count = folder("scdb"), 0
    for name in NAMES:
        out = work / f"{name}.pgn"
        run_ok("games", SCDB / name / f"{name}.dci", "-o", out)
        ours, theirs = games_of(out), list(decoded(SCDB / name / f"{name}.dci"))
        assert len(ours) == len(theirs), name
        for number, (game, expected) in enumerate(zip(ours, theirs)):
            got_tags, got = content_of(game)
            tags, moves = expected
            assert got_tags == tags, (name, number, got_tags, tags)
            flat = lambda items: " ".join(x if isinstance(x, str) else f"${x}" for x in items)
            sort = lambda items: [sorted(x) if isinstance(x, list) else x for x in items]
            assert flat(sort(got)) == flat(sort(moves)), (name, number)
            count += 1
    assert count == 1368, count
    return f"{count} games, tags, moves, variations and notes"


@case(400, needs_shared=True)
def a_simple_chess_database_is_written_byte_for_byte_as_its_author_does():
    work, same = folder("scdb"), []
    for name, source in SOURCES.items():
        run_ok("games", source, "-o", work / f"{name}.dci")
        for part in "insge":
            ours = (work / f"{name}.dc{part}").read_bytes()
            theirs = (SCDB / name / f"{name}.dc{part}").read_bytes()
            if ours == theirs:
                same.append(f"{name}.dc{part}")
    # The other databases have faults of that program: names that are too long (twic),
    # comments before the first move of a variation (kramnik).
    assert len(same) == 17, same
    return f"{len(same)} of 20 files byte for byte"


@case(600, needs_shared=True)
def pgn_written_again_is_the_same_and_python_chess_reads_it():
    work, count = folder("pgn"), 0
    for source in sorted((SHARED / "data" / "pgn").glob("*.pgn.zst")):
        if "gnuchess" in source.name:
            continue
        once, twice = work / "once.pgn", work / "twice.pgn"
        run_ok("games", "--force", source, "-o", once)
        run_ok("games", "--force", once, "-o", twice)
        assert once.read_bytes() == twice.read_bytes(), source.name
        count += len(games_of(once))
    assert count > 4000, count
    return f"{count} games"


@case(400)
def old_chessbase_databases_of_an_independent_encoder_are_read():
    work = folder("cbf")
    source, written = work / "source.pgn", work / "games.cbf"
    run_ok("games", ROOT / "tests" / "data" / "sample.pgn", ROOT / "tests" / "data" / "cbf" / "source.pgn", "-o", source)
    cbf_encoder.write(cbf_encoder.read_games(source), written)
    run_ok("games", written, "-o", work / "back.pgn")
    expected, got = games_of(source), games_of(work / "back.pgn")
    assert len(expected) == len(got)
    for number, (one, other) in enumerate(zip(expected, got)):
        assert content_of(one)[1] == content_of(other)[1], number
        for tag in ("White", "Black", "Result", "ECO", "FEN"):
            assert one.headers.get(tag) == other.headers.get(tag), (number, tag)
    return f"{len(got)} games"


@case(1500, needs_shared=True)
def damaged_simple_chess_databases_are_read_to_their_ends():
    """Every file cut off at 200 places, and with 2,000 bytes changed (200 in the
    two large databases)."""
    flips = {"hedgehog": 200, "twic": 200}
    sources = [(SCDB / name / f"{name}.dci", flips.get(name, 2000)) for name in NAMES]
    return damaged(sources, ["dci", "dcg", "dcn", "dcs", "dce"], most_kb=64_000)


@case(300, needs_shared=True)
def archives_unpack_to_the_published_files():
    data, work, count = SHARED / "data" / "cbv", folder("cbv"), 0
    passwords = {"small.cbz": "password", "small3.cbz": "my long password"}
    expected = {}
    for line in (data / "expected.sha256").read_text().splitlines():
        digest, name = line.split("  ")
        expected.setdefault(name.split("/")[0], {})[name.split("/", 1)[1]] = digest
    for archive, members in expected.items():
        out = work / archive
        more = ["--password", passwords[archive]] if archive in passwords else []
        run_ok("games", data / archive, "-f", "-o", f"{out}/", *more)
        found = {p.relative_to(out).as_posix(): p for p in out.rglob("*") if p.is_file() and p.suffix != ".bak"}
        assert found.keys() == members.keys(), archive
        for name, path in found.items():
            assert hashlib.sha256(path.read_bytes()).hexdigest() == members[name], name
            count += 1
    run_ok("games", data / "hedgehog_made.cbv", "-f", "-o", work / "packed.pgn")
    run_ok("games", work / "hedgehog_made.cbv" / "Hedgehog.cbh", "-f", "-o", work / "unpacked.pgn")
    assert (work / "packed.pgn").read_bytes() == (work / "unpacked.pgn").read_bytes()
    return f"{count} files"


def without_event_dates(path):
    lines = path.read_text().splitlines()
    return [line for line in lines if not line.startswith("[EventDate ")]


@case(600, needs_shared=True)
def scid_databases_have_the_games_of_their_pgn():
    data, work, count = SHARED / "data" / "scid", folder("scid"), 0
    for database, source in [
        (data / "five.si4", data / "five.pgn"),
        (data / "edge.si4", data / "edge.pgn"),
        (data / "edge.si5", data / "edge.pgn"),
        (data / "twic.si4", SOURCES["twic"]),
        (data / "kramnik.si5", SOURCES["kramnik"]),
    ]:
        run_ok("games", database, "-f", "-o", work / "ours.pgn")
        run_ok("games", source, "-f", "-o", work / "theirs.pgn")
        # Version 4 cannot store event dates that differ by many years.
        ours, theirs = (without_event_dates(work / f"{name}.pgn") for name in ("ours", "theirs"))
        assert ours == theirs, database
        for name, source_of in (("ours", database), ("theirs", source)):
            run_ok("build", source_of, "--variations", "--setups", "-f", "-o", work / f"{name}.ctg")
        for part in ("ctg", "cto", "ctb"):
            assert (work / f"ours.{part}").read_bytes() == (work / f"theirs.{part}").read_bytes(), database
        count += 1
    return f"{count} databases"


@case(300, needs_shared=True)
def a_scid_database_is_written_as_scid_writes_it():
    data, work = SHARED / "data" / "scid", folder("scid")
    run_ok("games", SOURCES["kramnik"], "-f", "-o", work / "kramnik.si5")
    for part in ("sn5", "sg5"):
        assert (work / f"kramnik.{part}").read_bytes() == (data / f"kramnik.{part}").read_bytes(), part
    ours, theirs = ((place / "kramnik.si5").read_bytes() for place in (work, data))
    assert len(ours) == len(theirs)
    # All fields except the number of a stored opening line.
    stored = {56 * game + 43 for game in range(len(ours) // 56)}
    assert [at for at in range(len(ours)) if at not in stored and ours[at] != theirs[at]] == []
    return f"{len(ours) // 56} records"


@case(300)
def a_database_imported_and_exported_by_scid_has_the_same_games():
    """Debian's Scid, which knows version 4."""
    program = shutil.which("tkscid", path="/usr/games:/usr/bin")
    if not program:
        return "no tkscid here"
    work = folder("tkscid")
    run_ok("games", ROOT / "tests" / "data" / "sample.pgn", "-f", "-o", work / "sample.pgn")
    script = work / "import.tcl"
    script.write_text("sc_base create sample\nsc_base import [sc_base current] sample.pgn\nexit\n")
    subprocess.run([program, script], cwd=work, check=True, capture_output=True)
    run_ok("games", work / "sample.si4", "-f", "-o", work / "back.pgn")
    assert (work / "back.pgn").read_bytes() == (work / "sample.pgn").read_bytes()
    return "200 games"


@case(1500, all_only=True)
def damaged_archives_and_newer_databases_are_refused_without_a_crash():
    """In full, every file cut off at 200 places, and with 2,000 bits flipped."""
    environ = {**environment(), **({"TABIA_DAMAGE": "1"} if THOROUGH else {})}
    done = subprocess.run(
        ["cargo", "test", "--quiet", "--release", "-p", "tabia-games", "--lib", "tests::damage::"],
        cwd=ROOT, env=environ, capture_output=True, text=True,
    )
    assert done.returncode == 0 and " 3 passed;" in done.stdout, done.stdout + done.stderr
    return "14 files"
