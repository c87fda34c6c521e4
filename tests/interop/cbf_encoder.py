"""Writes databases of ChessBase for DOS (.cbf, .cbi) from their public
description, independent of the reader under test: moves are
numbered from python-chess boards.

    python cbf_encoder.py GAMES.pgn OUT.cbf
"""

import sys
from pathlib import Path

import chess
import chess.pgn

KING = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
QUEEN = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, 0), (0, -1), (1, 0), (0, 1)]
ROOK = [(-1, 0), (0, -1), (1, 0), (0, 1)]
BISHOP = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
KNIGHT = [(-2, -1), (-2, 1), (2, -1), (2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2)]


def numbered(board, noted):
    """The moves in the program's numbering; None for a number without a move.
    `noted` is the en passant square that the program has stored."""
    us = board.turn
    found = []

    def target(square, step):
        file, rank = chess.square_file(square) + step[0], chess.square_rank(square) + step[1]
        return chess.square(file, rank) if 0 <= file < 8 and 0 <= rank < 8 else None

    def pawn(square, to):
        if chess.square_rank(to) in (0, 7):
            for role in (chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT):
                found.append(chess.Move(square, to, role))
        else:
            found.append(chess.Move(square, to))

    for square in sorted(chess.SQUARES, key=lambda s: (chess.square_file(s), chess.square_rank(s))):
        piece = board.piece_at(square)
        if piece is None or piece.color != us:
            continue
        kind = piece.piece_type
        if kind in (chess.KING, chess.KNIGHT):
            for step in KING if kind == chess.KING else KNIGHT:
                to = target(square, step)
                if to is not None and board.color_at(to) != us:
                    found.append(chess.Move(square, to))
            home = chess.E1 if us else chess.E8
            if kind == chess.KING and square == home:
                rook = chess.Piece(chess.ROOK, us)
                if board.piece_at(home + 3) == rook and not any(board.piece_at(home + n) for n in (1, 2)):
                    found.append(chess.Move(home, home + 2))
                if board.piece_at(home - 4) == rook and not any(board.piece_at(home - n) for n in (1, 2, 3)):
                    found.append(chess.Move(home, home - 2))
        elif kind in (chess.QUEEN, chess.ROOK, chess.BISHOP):
            for step in {chess.QUEEN: QUEEN, chess.ROOK: ROOK, chess.BISHOP: BISHOP}[kind]:
                to = target(square, step)
                while to is not None and board.color_at(to) != us:
                    found.append(chess.Move(square, to))
                    if board.piece_at(to):
                        break
                    to = target(to, step)
        else:
            up = 1 if us else -1
            one, two = target(square, (0, up)), target(square, (0, 2 * up))
            start = chess.square_rank(square) == (1 if us else 6)
            if start and not board.piece_at(one) and not board.piece_at(two):
                found.append(chess.Move(square, two))
            if one is not None and not board.piece_at(one):
                pawn(square, one)
            sides = [target(square, (side, up)) for side in (-1, 1)]
            for to in sides:
                if to is not None and board.color_at(to) == (not us):
                    pawn(square, to)
            for to in sides:
                if to is not None and to == noted:
                    found.append(chess.Move(square, to))
            if square == (chess.A5 if us else chess.A4) and noted is None:
                found.append(None)
    return found


def after(board, move, noted):
    """The en passant square that the program stores after a move."""
    if board.is_castling(move):
        return noted
    is_pawn = board.piece_type_at(move.from_square) == chess.PAWN
    if is_pawn and abs(move.from_square - move.to_square) == 16:
        return (move.from_square + move.to_square) // 2
    return None


def codes(node, board, noted):
    """The bytes of a line from here on."""
    out = []
    while node.variations:
        main, *others = node.variations
        out.append(numbered(board, noted).index(main.move) + 1)
        for other in others:
            out.append(0xFF)
            out.append(numbered(board, noted).index(other.move) + 1)
            next_board = board.copy()
            next_noted = after(board, other.move, noted)
            next_board.push(other.move)
            out += codes(other, next_board, next_noted)
            out.append(0x80)
        noted = after(board, main.move, noted)
        board = board.copy()
        board.push(main.move)
        node = main
    return out


def backwards(data, first, factor):
    """Scrambles from the last byte to the first."""
    mask, out = first & 255, bytearray(data)
    for at in reversed(range(len(data))):
        out[at] ^= mask
        mask = mask * factor & 255
    return bytes(out)


def picture(board):
    """A set-up position: two squares per byte, then the number of the first move."""
    order = {chess.KING: 1, chess.QUEEN: 2, chess.KNIGHT: 3, chess.BISHOP: 4, chess.ROOK: 5, chess.PAWN: 6}
    nibbles = []
    for square in chess.SQUARES:
        piece = board.piece_at(square)
        nibbles.append(0 if piece is None else order[piece.piece_type] + (0 if piece.color else 8))
    return bytes(a << 4 | b for a, b in zip(nibbles[::2], nibbles[1::2])) + bytes([board.fullmove_number - 1])


def encode(game):
    """The bytes of a game."""
    tag = game.headers.get
    players = f"{tag('White')} - {tag('Black')}".encode("cp850")[:63]
    source = tag("Site", "?") + (f" ({tag('Round')})" if tag("Round", "?") != "?" else "")
    source = source.encode("cp850")[:63]
    board = game.board()
    moves = bytes(codes(game, board, board.ep_square)) + b"\0"
    length = len(moves)
    moves = moves[:1] + backwards(moves[1:-1], length * 49, 7) + moves[-1:] if length > 1 else moves
    year = tag("Date", "")[:4]
    eco = tag("ECO", "")
    number = (ord(eco[0]) - 65) * 100 + int(eco[1:3]) + 1 if len(eco) == 3 else 0
    header = bytearray(14)
    header[0] = (int(year) - 1900) & 255 if year.isdigit() else 127
    header[1] = {"0-1": 0, "1/2-1/2": 1, "1-0": 2}.get(tag("Result"), 3)
    header[2:4] = length.to_bytes(2, "big")
    header[4], header[5] = len(players), len(source)
    header[6:8] = (1).to_bytes(2, "big")
    for at, name in ((8, "WhiteElo"), (9, "BlackElo")):
        elo = tag(name, "")
        header[at] = (int(elo) - 1600) // 5 if elo.isdigit() and int(elo) > 1600 else 0
    if board != chess.Board():
        header[10] = 1 | (not board.turn) << 1
        rights = (chess.BB_A1, chess.BB_H1, chess.BB_A8, chess.BB_H8)
        for bit, right in enumerate(rights, 2):
            header[10] |= bool(board.castling_rights & right) << bit
        header[11] = 0 if board.ep_square is None else chess.square_file(board.ep_square) + 1
        moves += picture(board)
    else:
        header[10] = (number & 0x1F) << 1
        header[4] |= number << 1 & 0xC0
        header[5] |= number >> 1 & 0xC0
    header[11] ^= 14 + len(players) + len(source) & 255
    header[12] = sum(1 for at, _ in enumerate(game.mainline_moves()) if at % 2 == 0) & 255
    header[13] = 37 * header[0] + header[5] + header[9] & 255
    names = players + source
    return backwards(header, 0x65, 3) + backwards(names, 3 * len(names), 3) + moves


def write(games, path):
    """Writes a database."""
    data, places = bytearray(), []
    for game in games:
        places.append(len(data))
        data += encode(game)
    places.append(len(data))
    words = [len(places)] + [place + number + 2 for number, place in enumerate(places)]
    path = Path(path)
    path.write_bytes(data)
    path.with_suffix(".cbi").write_bytes(b"".join(word.to_bytes(4, "big") for word in words))


def read_games(path):
    with open(path, encoding="utf-8") as text:
        while (game := chess.pgn.read_game(text)) is not None:
            yield game


if __name__ == "__main__":
    write(read_games(sys.argv[1]), sys.argv[2])
