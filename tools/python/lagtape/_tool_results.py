"""Results of the tool's other commands: searches, tables, comparisons and times."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, TypedDict, Union


class Spread(TypedDict):
    """A number over several runs."""

    mean: float
    deviation: float


class ComparedRuns(TypedDict):
    """Runs with the same settings."""

    runs: List[str]
    seeds: List[int]
    finished: int
    settings: Dict[str, object]
    numbers: Dict[str, Spread]


class Comparison(TypedDict):
    """Runs grouped by settings, and the settings that differ."""

    differing: List[str]
    groups: List[ComparedRuns]


class _Trial(TypedDict):
    run: str
    state: str
    settings: Dict[str, Union[float, str, bool]]
    metric: str
    value: Optional[float]
    loss: Optional[float]
    evaluations: int


class Trial(_Trial, total=False):
    """A run in a search, with its settings by JSON Pointer and its metric value."""

    seed: int
    seconds: float
    message: str


class Search(TypedDict):
    """The runs of a search, their folders from best to worst, and the importance of each setting."""

    metric: str
    ranking: List[str]
    importance: Dict[str, float]
    runs: List[Trial]
    repetitions: List[Trial]


class TableRow(TypedDict):
    """A row of a paper's table: the published numbers and ours."""

    name: str
    model: Optional[str]
    printed: Optional[float]
    printed_deviation: Optional[float]
    mean: Optional[float]
    deviation: Optional[float]
    best: Optional[float]
    params: Optional[int]
    seconds: Optional[float]
    note: str
    runs: List[Mapping[str, object]]


class Table(TypedDict):
    """A paper's table with its results."""

    task: str
    title: str
    source: str
    metric: str
    unit: str
    larger_is_better: bool
    rows: List[TableRow]


class Timing(TypedDict):
    """Times of several measurements, in the unit that the key names."""

    median: float
    min: float
    max: float


class Bench(TypedDict, total=False):
    """Times of a model: forward and backward per time step in us, or a step of a stream in ns."""

    name: str
    steps: int
    batch: int
    forward_us: Timing
    backward_us: Timing
    total_us: Timing
    plan: str
    plan_bytes: int
    peak_rss_bytes: int
    threads: int
    onednn_lstm_us: Timing
    ratio: float
    peak_gflops: float
    stream_steps: int
    stream_ns: Timing
    predict_steps: int
    predict_us: Timing
