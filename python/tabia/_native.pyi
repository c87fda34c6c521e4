import os
from typing import (
    Any,
    Callable,
    Iterable,
    Iterator,
    Literal,
    Optional,
    Sequence,
    TypedDict,
    Union,
    final,
)

import chess

__version__: str

StrPath = Union[str, os.PathLike[str]]
Progress = Callable[[str, int, Optional[int]], object]

# Made from the table of options: UPDATE=1 cargo test --test program made
class _PolicyOptions(TypedDict, total=False):
    variety: int
    minimum_games: int
    minimum_score: int
    minimum_share: int
    tournament: bool
    annotations: bool
    learn_influence: int
    judgement: Literal["results", "evaluations", "both"]
    maximum_loss: int
    transpositions: bool
@final
class Policy:
    def __new__(
        cls,
        *,
        variety: int = 50,
        minimum_games: int = 1,
        minimum_score: int = 0,
        minimum_share: int = 5,
        tournament: bool = True,
        annotations: bool = True,
        learn_influence: int = 50,
        judgement: Literal["results", "evaluations", "both"] = "results",
        maximum_loss: int = 0,
        transpositions: bool = True,
    ) -> Policy: ...
    @property
    def variety(self) -> int: ...
    @property
    def minimum_games(self) -> int: ...
    @property
    def minimum_score(self) -> int: ...
    @property
    def minimum_share(self) -> int: ...
    @property
    def tournament(self) -> bool: ...
    @property
    def annotations(self) -> bool: ...
    @property
    def learn_influence(self) -> int: ...
    @property
    def judgement(self) -> Literal["results", "evaluations", "both"]: ...
    @property
    def maximum_loss(self) -> int: ...
    @property
    def transpositions(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...

@final
class Entry:
    _fields: tuple[str, str, str, str, str]
    __match_args__: tuple[str, str, str, str, str]
    @property
    def key(self) -> int: ...
    @property
    def raw_move(self) -> int: ...
    @property
    def weight(self) -> int: ...
    @property
    def learn(self) -> int: ...
    # A str where python-chess is not installed.
    @property
    def move(self) -> chess.Move: ...
    @property
    def games(self) -> int: ...
    @property
    def wins(self) -> int: ...
    @property
    def draws(self) -> int: ...
    @property
    def losses(self) -> int: ...
    @property
    def score(self) -> Optional[float]: ...
    @property
    def average_elo(self) -> Optional[float]: ...
    @property
    def performance(self) -> Optional[float]: ...
    @property
    def learn_value(self) -> int: ...
    @property
    def factor(self) -> int: ...
    @property
    def mark(self) -> Literal["main", "avoid", "none"]: ...
    @property
    def recommendation(self) -> int: ...
    @property
    def annotation(self) -> str: ...
    @property
    def commentary(self) -> int: ...
    @property
    def transposition(self) -> bool: ...
    @property
    def probability(self) -> Optional[float]: ...
    @property
    def not_played(self) -> Optional[str]: ...
    def _asdict(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: object, /) -> bool: ...
    def __le__(self, other: object, /) -> bool: ...
    def __gt__(self, other: object, /) -> bool: ...
    def __ge__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class NativeBook:
    def __new__(cls, path: StrPath, weights: str) -> NativeBook: ...
    @property
    def format(self) -> str: ...
    def notices(self) -> list[str]: ...
    def find(
        self, asked: Any, policy: Policy, minimum_weight: float, user: Any
    ) -> Iterator[Entry]: ...
    def entries(self, asked: Any, policy: Policy, minimum_weight: float) -> list[Entry]: ...
    def best(self, asked: Any, policy: Policy, minimum_weight: float) -> Optional[Entry]: ...
    def probe(self, asked: Any, policy: Policy) -> str: ...
    def positions(self) -> Iterator[str]: ...
    def len(self) -> int: ...
    def at(self, index: int) -> Entry: ...
    def bisect(self, key: int) -> int: ...
    def close(self) -> None: ...

def convert(
    source: StrPath,
    target: StrPath,
    *,
    weights: str = "probability",
    all: bool = False,
    keep_never: bool = False,
    policy: Optional[Policy] = None,
    max_ply: Optional[int] = None,
    min_games: Optional[int] = None,
    lines: bool = False,
    report: Optional[StrPath] = None,
    game_moves: Optional[int] = None,
    comments: Optional[str] = None,
    force: bool = False,
    strict: bool = False,
    progress: Optional[Progress] = None,
) -> dict[str, Any]: ...
def build(
    sources: Union[StrPath, Iterable[StrPath]],
    target: StrPath,
    *,
    priority: Sequence[StrPath] = ...,
    max_ply: int = 40,
    min_games: int = 1,
    only: Optional[str] = None,
    eco_relative: Optional[int] = None,
    variations: bool = False,
    annotations: bool = False,
    setups: bool = False,
    dedupe: bool = False,
    uniform: bool = False,
    min_score: Optional[float] = None,
    threads: Optional[int] = None,
    memory: int = ...,
    temp: Optional[StrPath] = None,
    password: Optional[str] = None,
    encoding: Optional[str] = None,
    force: bool = False,
    progress: Optional[Progress] = None,
    # Made from the table of conditions: UPDATE=1 cargo test --test program made
    min_elo: Optional[int] = None,
    both_elo: Optional[int] = None,
    since: Optional[Union[int, str]] = None,
    until: Optional[Union[int, str]] = None,
    player: Optional[str] = None,
    player_colour: Optional[Literal["white", "black"]] = None,
    result: Optional[str] = None,
    eco: Sequence[str] = ...,
    elo_band: Optional[str] = None,
    max_elo_diff: Optional[int] = None,
    speeds: Sequence[str] = ...,
    ratings: Sequence[int] = ...,
    rated: bool = False,
    titles: Sequence[str] = ...,
    not_players: Sequence[str] = ...,
    decisive: bool = False,

) -> dict[str, int]: ...
def game_endings() -> list[str]: ...
def verify(book: StrPath, *, progress: Optional[Progress] = None) -> dict[str, Any]: ...
def mark(
    book: StrPath,
    moves: str = "",
    *,
    fen: str = "",
    mark: Optional[str] = None,
    annotation: Optional[str] = None,
    learn_value: Optional[int] = None,
    commentary: Optional[str] = None,
    weight: Optional[int] = None,
    clear: bool = False,
    clean: bool = False,
    where: Optional[str] = None,
    colour: Optional[str] = None,
    all: bool = False,
    dry_run: bool = False,
    strict: bool = False,
    progress: Optional[Progress] = None,
) -> dict[str, int]: ...
def undo_mark(book: StrPath, *, dry_run: bool = False) -> int: ...
