"""ChessBase databases: genuine files against python-chess and against readings
of other programs; each file with many kinds of damage; large databases."""

import re
import struct
import subprocess
from collections import defaultdict
from pathlib import Path

import chess
import chess.pgn

from damage import READ_GAMES, damaged
from paths import SHARED, THOROUGH, folder
from procs import run, run_ok
from runner import case

DATA = SHARED / "data" / "chessbase"

# Folder and name; numbers of games, texts, plies of main lines and of all lines, as
# other readers count them.
CORPUS = {
    "hedgehog/Hedgehog": (204, 27, 15064, 30807),
    "linares/linares": (503, 0, 41911, 49606),
    "Mate2/Mate2": (7, 0, 21, 21),
    "test-annotations/test-annotations": (6, 0, 8, 9),
    "text/text": (1, 9, 4, 4),
    "cbh_test/cbh_test": (4, 0, 7, 7),
    "cbh_cbj_test/cbh_cbj_test": (4, 0, 7, 7),
    "shorter_cbj_test/shorter_cbj_test": (4, 0, 7, 7),
    "Capa/Capa": (113, 0, 9112, 10001),
    "fob/fob": (111, 0, 9179, 9179),
    "256-2023/256-2023": (256, 0, 0, 0),
}


def export(source: Path, out: Path) -> str:
    """Writes a database as PGN; returns what the program reports."""
    return run_ok("games", "--force", source, "-o", out, "--strict", limit=60).stderr


def games(path: Path) -> list[chess.pgn.Game]:
    """All games of a PGN file; python-chess checks every move."""
    found = []
    with path.open(encoding="utf-8") as text:
        while (game := chess.pgn.read_game(text)) is not None:
            assert not game.errors, (path, len(found), game.errors)
            found.append(game)
    return found


def tree(game: chess.pgn.Game) -> str:
    exporter = chess.pgn.StringExporter(headers=False, comments=False, columns=None)
    return game.accept(exporter)


def count_nodes(game: chess.pgn.Game) -> int:
    count, open_nodes = 0, [game]
    while open_nodes:
        node = open_nodes.pop()
        count += len(node.variations)
        open_nodes += node.variations
    return count


def fields(base: Path) -> list[dict]:
    """Tags of each game, read from the files by independent code."""
    cbh = base.with_suffix(".cbh").read_bytes()
    names = base.with_suffix(".cbp").read_bytes()
    size, gap = struct.unpack_from("<I", names, 12)[0] + 9, struct.unpack_from("<I", names, 24)[0]

    def text(field: bytes) -> str:
        return field.split(b"\0")[0].decode("cp1252").strip()

    def player(number: bytes) -> str:
        at = 28 + gap + int.from_bytes(number, "big") * size
        if struct.unpack_from("<i", names, at)[0] == -999:
            return "?"
        parts = text(names[at + 9 : at + 39]), text(names[at + 39 : at + 59])
        return ", ".join(filter(None, parts)) or "?"

    found = []
    for at in range(46, len(cbh), 46):
        record = cbh[at : at + 46]
        if record[0] & 2:
            continue
        date = int.from_bytes(record[24:27], "big")
        year, month, day = date >> 9, date >> 5 & 15, date & 31
        white_elo, black_elo, eco = struct.unpack(">HHH", record[31:37])
        tags = {
            "White": player(record[9:12]),
            "Black": player(record[12:15]),
            "Date": f"{year or '????'}.{month and f'{month:02}' or '??'}.{day and f'{day:02}' or '??'}",
            "Result": ["0-1", "1/2-1/2", "1-0", "*"][record[27] % 4],
            "WhiteElo": str(white_elo) if white_elo else None,
            "BlackElo": str(black_elo) if black_elo else None,
        }
        number = (eco >> 7) - 1
        tags["ECO"] = f"{'ABCDE'[number // 100]}{number % 100:02}" if number >= 0 else None
        found.append(tags)
    return found


@case(120, needs_shared=True)
def games_of_hedgehog_are_read_as_three_other_readers_read_them():
    place = folder("cbh")
    export(DATA / "hedgehog" / "Hedgehog.cbh", place / "out.pgn")
    ours, theirs = games(place / "out.pgn"), games(DATA / "hedgehog" / "expected.pgn")
    assert len(ours) == len(theirs) == 204
    for number, (one, other) in enumerate(zip(ours, theirs), 1):
        assert dict(one.headers) == dict(other.headers), (number, one.headers, other.headers)
        assert tree(one) == tree(other), (number, tree(one), tree(other))


@case(300, needs_shared=True)
def every_game_of_the_corpus_is_read_and_legal():
    place = folder("cbh")
    total = 0
    for name, (count, texts, plies, nodes) in CORPUS.items():
        base = DATA / name
        out = place / "out.pgn"
        output = export(base.with_suffix(".cbh"), out)
        found = games(out)
        assert len(found) == count, (name, len(found))
        assert sum(sum(1 for _ in game.mainline()) for game in found) == plies, name
        assert sum(map(count_nodes, found)) == nodes, name
        if texts:
            assert str(texts) in output, (name, output)
        expected = fields(base)
        assert len(expected) == count, name
        for number, (game, tags) in enumerate(zip(found, expected), 1):
            ours = {tag: game.headers.get(tag) for tag in tags}
            assert ours == tags, (name, number, ours, tags)
        total += count
    return f"{total} games"


def database(base: Path, blocks: list[bytes]):
    """Makes a database of these blocks, without names."""
    cbg, records = bytearray(26), bytearray()
    for block in blocks:
        record = bytearray(46)
        record[0], record[1:5], record[27] = 1, struct.pack(">I", len(cbg)), 3
        records += record
        cbg += block
    struct.pack_into(">HII", cbg, 0, 26, len(cbg), 0)
    header = bytearray(46)
    struct.pack_into(">xHHBI", header, 0, 0x2C, 46, 1, len(blocks) + 1)
    struct.pack_into(">I", header, 40, len(blocks) + 1)
    base.with_suffix(".cbh").write_bytes(header + records)
    base.with_suffix(".cbg").write_bytes(cbg)


@case(60, needs_shared=True)
def every_encoding_gives_the_same_games():
    """Single blocks, and the same games in all other encodings."""
    place = folder("cbh")
    paths = sorted((DATA / "move_samples").glob("*.bin"))
    paths += sorted((DATA / "mode_vectors").glob("*.bin"))
    assert len(paths) == 11 + 68, len(paths)
    database(place / "blocks", [path.read_bytes() for path in paths])
    export(place / "blocks.cbh", place / "out.pgn")
    found = games(place / "out.pgn")
    assert len(found) == len(paths)
    readings = defaultdict(set)
    for path, game in zip(paths, found):
        readings[path.name.split(".")[0]].add((game.board().fen(), tree(game)))
    assert len(readings) == 11
    for name, reading in readings.items():
        assert len(reading) == 1, (name, reading)
    ((start, _),) = readings["setup"]
    assert start == "5r2/1p3p2/pPbk4/P1N4P/2K5/8/4R3/8 w - - 0 63", start
    ((_, moves),) = readings["simplegame"]
    assert moves.startswith("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#"), moves
    assert sum(count_nodes(game) > 0 for game in found) == len(found)
    chess960 = [game for game in found if game.board().chess960]
    assert chess960, "no Chess960"
    assert any("O-O" in tree(game) for game in chess960)


@case(60, needs_shared=True)
def names_are_read_as_utf_8_where_they_are():
    """As ChessBase 13 and later write them; a name that is too long is cut anywhere."""
    place = folder("cbh")
    make = SHARED / "data" / "cases" / "games" / "mkutf8cbh.py"
    for number, (name, expected) in enumerate([
        ("Ångström", "Ångström"),
        ("Гашимов", "Гашимов"),
        ("Đorđević-Šćepanović", "Đorđević-Šćepanović"),
        # 29 bytes: the last letter is whole, and then it is cut in two.
        ("xНепомнящий-Александр", "xНепомнящий-Але"),
        ("Непомнящий-Александр", "Непомнящий-Алек"),
    ]):
        to = place / f"utf8-{number}"
        subprocess.run(["python3", make, DATA / "text", to, name], check=True)
        export(to / "text.cbh", place / "out.pgn")
        families = {game.headers[side].split(",")[0] for game in games(place / "out.pgn") for side in ("White", "Black")}
        assert expected in families, families
    # Older databases are in Windows-1252.
    export(DATA / "text" / "text.cbh", place / "out.pgn")
    assert any("Mårdell" in game.headers[side] for game in games(place / "out.pgn") for side in ("White", "Black"))


@case(120, needs_shared=True)
def a_book_of_a_database_is_the_book_of_its_pgn():
    place = folder("cbh")
    for name in ["hedgehog/Hedgehog", "linares/linares", "Capa/Capa"]:
        source = (DATA / name).with_suffix(".cbh")
        export(source, place / "games.pgn")
        for options in [[], ["--variations", "--setups"], ["--setups", "--max-ply", "400"]]:
            books = []
            for games_source in (source, place / "games.pgn"):
                book = place / f"{len(books)}.ctg"
                run_ok("build", "--force", games_source, "-o", book, *options, limit=60)
                books.append([book.with_suffix(part).read_bytes() for part in (".ctg", ".cto", ".ctb")])
            assert books[0] == books[1], (name, options)


@case(30, needs_shared=True)
def databases_without_games_are_refused_with_a_reason():
    place = folder("cbh")
    for name in ["many_headers.cbh", "hedgehog_old.cbh", "cbh_only.cbh"]:
        done = run("games", DATA / "headers_only" / name, "-o", place / "out.pgn", limit=20)
        assert done.returncode == 2, done.returncode
        assert "which is missing" in done.stderr, done.stderr
        assert not (place / "out.pgn").exists()
    done = run("games", DATA / "headers_only" / "small_header.cbp", "-o", place / "out.pgn", limit=20)
    assert done.returncode == 2 and "name its .cbh file" in done.stderr, done.stderr


@case(1800, needs_shared=True)
def damaged_database_files_never_crash():
    """200 truncations, and in full 2,000 changed bytes, for each file that is read."""
    changes = 2000 if THOROUGH else 400
    sources = [((DATA / name).with_suffix(".cbh"), changes) for name in CORPUS]
    return damaged(sources, ["cbh", "cbg", "cbp", "cbt"], most_kb=32_000)


def replicate(name: str, times: int, base: Path):
    """Repeats the same games; each copy has its own moves."""
    source = DATA / name
    cbh, cbg = source.with_suffix(".cbh").read_bytes(), source.with_suffix(".cbg").read_bytes()
    header = struct.unpack_from(">H", cbg)[0]
    moves, records = cbg[header:], bytearray(cbh[46:])
    starts = [struct.unpack_from(">I", records, at + 1)[0] for at in range(0, len(records), 46)]
    with base.with_suffix(".cbg").open("wb") as out:
        out.write(cbg[:2] + struct.pack(">I", header + len(moves) * times) + cbg[6:header])
        for _ in range(times):
            out.write(moves)
    with base.with_suffix(".cbh").open("wb") as out:
        out.write(cbh[:6] + struct.pack(">I", len(starts) * times + 1) + cbh[10:40] + bytes(6))
        for time in range(times):
            for number, start in enumerate(starts):
                struct.pack_into(">I", records, 46 * number + 1, start + time * len(moves))
            out.write(records)
    for names in (".cbp", ".cbt"):
        base.with_suffix(names).write_bytes(source.with_suffix(names).read_bytes())


@case(300, needs_shared=True)
def a_million_games_need_no_more_memory_than_a_thousand():
    place = folder("cbh")

    def read(source: Path) -> tuple[int, int, int]:
        done = subprocess.run(
            [READ_GAMES, source], capture_output=True, text=True, check=True
        )
        numbers = re.search(r"games: (\d+).* s, (\d+) games a minute; (\d+) KB", done.stdout)
        return tuple(map(int, numbers.groups()))

    replicate("linares/linares", 2, place / "small")
    replicate("linares/linares", 2000, place / "large")
    count, _, small = read(place / "small.cbh")
    assert count == 1006
    count, speed, large = read(place / "large.cbh")
    assert count == 1_006_000
    assert large < small + 2048, (small, large)
    export(DATA / "linares" / "linares.cbh", place / "one.pgn")
    (place / "many.pgn").write_bytes((place / "one.pgn").read_bytes() * 100)
    _, pgn_speed, _ = read(place / "many.pgn")
    return (
        f"{speed} games a minute and core, {speed / pgn_speed:.1f} times as many as of PGN; "
        f"{large} KB at most, {small} KB for a thousand games"
    )
