"""Chess moves: the PGN reader of the package `chess`, each move possible on some board.

Moves are played as null moves, as legality is no matter of a grammar. What the reader passes over
in silence has to be a move number.
"""

from __future__ import annotations

import io
import re

import chess
import chess.pgn

BETWEEN = re.compile(r"(?:\s|[1-9][0-9]*\.(?:\.\.)?)*")
COMMENT = re.compile(r"\{[^{}]*\}")


class Reader(chess.pgn.BaseVisitor[list[str]]):
    """Collects what is wrong; `depth` is how many variations are open."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.moves = 0
        self.depth = 0

    def parse_san(self, board: chess.Board, san: str) -> chess.Move:
        self.moves += 1
        if not possible(san):
            self.wrong.append(f"{san} is possible on no board")
        return chess.Move.null()

    def begin_variation(self) -> None:
        self.depth += 1

    def end_variation(self) -> None:
        self.depth -= 1

    def handle_error(self, error: Exception) -> None:
        self.wrong.append(str(error))

    def result(self) -> list[str]:
        return self.wrong


def complaint(text: str) -> str | None:
    if COMMENT.sub("", text).count("{") or "\n" in text:
        return "a comment is not closed, or there are lines"
    bare = COMMENT.sub("", text)
    rest = chess.pgn.MOVETEXT_REGEX.sub("\x00", re.sub(r"(?<=\S)[+#](?=[ )!?]|$)", "", bare))
    unread = [part for part in rest.split("\x00") if not BETWEEN.fullmatch(part)]
    if unread:
        return f"what is {unread[0]!r}?"
    reader = Reader()
    if chess.pgn.read_game(io.StringIO(text), Visitor=lambda: reader) is None:
        return "there is no game"
    if bare.count("(") != bare.count(")") or reader.depth:
        reader.wrong.append("a variation is not closed")
    return "; ".join(reader.wrong) or None


def possible(san: str) -> bool:
    """Whether a move is one on some board."""
    if san in ("O-O", "O-O-O"):
        return True
    found = chess.SAN_REGEX.match(san)
    if found is None:
        return False
    piece, file, rank, target, promotion = found.groups()
    square = chess.parse_square(target)
    if piece is None:
        file_number = chess.square_file(square) if file is None else chess.FILE_NAMES.index(file)
        aside = abs(file_number - chess.square_file(square))
        last = chess.square_rank(square) in (0, 7)
        return aside == ("x" in san) and last == (promotion is not None) and rank is None
    board = chess.Board(None)
    board.set_piece_at(square, chess.Piece.from_symbol(piece))
    origins = board.attacks(square)
    if file is not None:
        origins &= chess.BB_FILES[chess.FILE_NAMES.index(file)]
    if rank is not None:
        origins &= chess.BB_RANKS[int(rank) - 1]
    return bool(origins) and promotion is None
