"""Types of results, for editors and type checkers: the keys of dicts and the types of their values."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Dtype = np.dtype[Any]
#: An evaluation's line in metrics.jsonl: epoch, step, train_loss, valid_loss and so on.
Evaluated = Dict[str, float]
Callback = Callable[[Evaluated], object]
Callbacks = Union[Callback, Sequence[Callback], None]


class Scores(Dict[str, float]):
    """Metrics by name. May include a classifier's counts, or the metrics of each of many series.

        >>> scores = run.evaluate("test")
        >>> scores["loss"] >= 0 and scores.series == {}
        True
    """

    @property
    def confusion(self) -> Array:
        """Counts [classes, classes] with a row per true class, if requested with `confusion=True`."""
        counts: Array = self._of("confusion")
        return counts

    @property
    def classes(self) -> List[str]:
        """The names of the classes of `confusion`."""
        return [str(name) for name in self._of("classes", [])]

    @property
    def series(self) -> Dict[str, Dict[str, float]]:
        """The metrics of each series by name, for a model of many series."""
        return dict(self._of("series", {}))

    def _of(self, name: str, *default: Any) -> Any:
        values: Dict[str, Any] = dict(self)
        return values.get(name, *default) if default else values[name]


class _Summary(TypedDict):
    name: str
    seed: int
    version: str
    params: int
    best_epoch: int
    best_step: int
    valid: Dict[str, float]
    test: Dict[str, float]
    skipped: int
    seconds: float
    us_per_step: float
    peak_rss_bytes: int
    plan: str
    plan_bytes: int


class Summary(_Summary, total=False):
    """The summary of a finished run (summary.json)."""

    average_begun: bool
    averaged: int
    stopped_early: bool
    arithmetic: int


class Memory(TypedDict):
    """Bytes of memory needed for training."""

    parameter_bytes: int
    derived_bytes: int
    training_bytes: int


class _Check(TypedDict):
    name: str
    params: int
    memory: Memory


class Check(_Check, total=False):
    """The result of `check`. With `gradients`, includes their largest error relative to central differences, and its
    location."""

    notes: List[str]
    ok: bool
    max_rel_error: float
    worst: str
    sequences: int
    steps: int
    elements: int
    projections: int
    compared: int
    moved: bool


class DescribedLayer(TypedDict):
    """A layer of a model: its parameters, its lags in steps, and its step as text."""

    name: str
    params: int
    flops_per_step: int
    largest_lag: int
    lags: Dict[str, int]
    program: str


class DescribedParameter(TypedDict):
    """A parameter's name and shape."""

    name: str
    shape: List[int]


class Plan(TypedDict):
    """A memory plan: what it stores and what it recomputes."""

    name: str
    bytes: int
    extra_flops: float
    chunk: int


class Description(TypedDict):
    """A model's description from `inspect`. Entries that depend on data are included only if the data are available."""

    name: str
    params: int
    layers: List[DescribedLayer]
    parameters: List[DescribedParameter]
    flops_per_step: float
    memory: Memory
    batch: int
    steps: int
    threads: int
    plans: List[Plan]
    plan: str
    runs_backwards: bool
    runs_backwards_obstacle: str
    experiment: Dict[str, Dict[str, object]]


class Curve(TypedDict):
    """Values over lags or steps: the mean, minimum and maximum over the sequences."""

    mean: Array
    min: Array
    max: Array


class AnalyzedState(TypedDict):
    """A state of a layer: its norm at each step, and the size of gradients at each lag."""

    name: str
    width: int
    norm: Curve
    gradient: Curve
    gradient_reach: int
    last_step_gradient: Curve
    last_step_gradient_reach: int


class Jacobian(TypedDict):
    """Norms of the states' Jacobian at each lag."""

    method: str
    projections: int
    frobenius: Curve
    reach: int
    spectral: Curve


class AnalyzedValue(TypedDict):
    """The distribution of a gate or a time scale: counts [bins] between edges [bins + 1]."""

    name: str
    units: int
    fixed: bool
    count: int
    not_finite: int
    mean: float
    min: float
    max: float
    quantiles: Dict[str, float]
    scale: str
    edges: Array
    counts: Array
    peaks: Array
    peak_shares: Array
    unit_means: Array


class AnalyzedLayer(TypedDict):
    """A recurrent layer: its states, their Jacobian, and its gates and time scales."""

    layer: int
    name: str
    width: int
    states: List[AnalyzedState]
    jacobian: Jacobian
    values: List[AnalyzedValue]


class Analysis(TypedDict):
    """The result of `analyze`."""

    name: str
    split: str
    sequences: int
    lengths: Array
    steps: int
    layers: List[AnalyzedLayer]


class CatalogueOption(TypedDict):
    """An option in an entry of `lagtape.list`."""

    key: str
    type: str
    unit: str
    default: Optional[str]
    about: str


class CatalogueEntry(TypedDict):
    """An entry of `lagtape.list`: a cell, a task, a loss and so on."""

    name: str
    summary: str
    source: str
    equations: str
    files: str
    options: List[CatalogueOption]


class _Predicted(TypedDict):
    targets: List[str]
    times: List[str]
    prediction: Array


class _Quantiles(TypedDict, total=False):
    truth: Array
    levels: List[float]
    quantiles: List[Array]
    series: Dict[str, List[str]]


class _Prediction(_Predicted, _Quantiles):
    pass


class Prediction(_Prediction):
    """Predictions along a recording: arrays [rows, targets], the rows from 0, and their times."""

    rows: List[int]
    horizon: int


class Forecast(_Prediction, total=False):
    """A forecast: arrays [steps, targets], and the preceding recording, past [rows, targets]."""

    season: int
    past: Array
    low: Array
    high: Array
    lower: Array
    upper: Array


class Interval(TypedDict):
    """The fraction of true values that lie within the intervals, and the intervals' width."""

    level: float
    calibrations: int
    coverage: float
    width: float
    coverage_by_step: Array


class _HorizonTarget(TypedDict):
    rmse: Array
    mae: Array
    overall: Dict[str, Dict[str, float]]


class HorizonTarget(_HorizonTarget, total=False):
    """Forecast errors for a target by step, [steps], for the model and the baselines."""

    persistence_rmse: Array
    persistence_mae: Array
    seasonal_rmse: Array
    seasonal_mae: Array
    theta_rmse: Array
    theta_mae: Array
    ridge_rmse: Array
    ridge_mae: Array
    interval: Interval


class HorizonScores(TypedDict):
    """Forecast scores compared with baselines; ratio is the model's error divided by the best baseline's."""

    origins: int
    season: int
    targets: Dict[str, HorizonTarget]
    measure: str
    best_baseline: str
    ratio: float


class ModelLayer(TypedDict):
    """A layer of a trained model; programs are its steps as text."""

    name: str
    params: int
    largest_lag: int
    programs: List[str]
