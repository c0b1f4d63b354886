"""Fits with error bars, like `lagtape fit`."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from ._arguments import Changes, Path, known_arguments, path_of, text_of
from ._results import Array
from ._tool import _ask, _set, _write


@dataclass(frozen=True)
class Estimate:
    """A fitted number with its standard error and interval, which are infinite if the data do not determine it."""

    estimate: float
    standard_error: float
    low: float
    high: float
    unit: str = ""


@dataclass(frozen=True)
class FitProfile:
    """The sums of squares along one param, with all others refitted, and the likelihood-ratio interval."""

    low: float
    high: float
    values: Array
    costs: Array


@dataclass(frozen=True)
class FitTrace:
    """Readings of one quantity (NaN where there are none) and the fitted values."""

    name: str
    t: Array
    reading: Array
    fitted: Array
    file: str = ""

    @property
    def residuals(self) -> Array:
        """Readings minus fit."""
        return self.reading - self.fitted


@dataclass(frozen=True)
class Fit:
    """The result of `fit`. Rows and columns of matrices are in the order of `params`."""

    params: Dict[str, Estimate]
    covariance: Array
    correlation: Array
    condition: float
    rmse: float
    notes: List[str]
    data: List[FitTrace]
    profiles: Dict[str, FitProfile] = field(default_factory=dict)
    steps: int = 0
    stopped_by: str = ""

    @property
    def estimates(self) -> Array:
        """[params]"""
        return np.array([one.estimate for one in self.params.values()])

    @property
    def standard_errors(self) -> Array:
        """[params]"""
        return np.array([one.standard_error for one in self.params.values()])

    @property
    def intervals(self) -> Array:
        """[params, 2]"""
        return np.array([(one.low, one.high) for one in self.params.values()])

    @property
    def residuals(self) -> Array:
        """Readings minus fit, concatenated over all traces, at times with a reading."""
        all: Array = np.concatenate([trace.residuals for trace in self.data])
        return all[np.isfinite(all)]


@known_arguments
def fit(experiment: Union[Path, Mapping[str, object]], *, data: Optional[Mapping[str, object]] = None,
        profile: Union[str, Sequence[str]] = (), robust: str = "none", level: float = 0.95, plot: Optional[Path] = None,
        output: Optional[Path] = None, set: Changes = None) -> Fit:
    """Fits the numbers in equations to data by least squares, with standard errors and intervals, and reports what the
    data leave undetermined.

    experiment   a file, or a dict
    data         for equations in continuous time, instead of a file: columns of readings, {"t": [...], "y": [...]}, with NaN
                 where there is no reading
    profile      params whose intervals come from refitting all others at each of their values
    robust       "none", "huber" or "soft_l1"
    level        the probability of the intervals
    plot         a folder for charts
    output       a file for the fitted model (.safetensors)

        >>> t = np.linspace(0, 3, 20)
        >>> decay = {"params": {"rate": {"start": 1, "min": 0}}, "state": {"y": 1}, "history": {"y": 2}, "ode": ["dy = -rate * y"],
        ...          "solver": {"h": 0.05}}
        >>> found = lagtape.fit({"cells": {"decay": decay}}, data={"t": t, "y": 2 * np.exp(-0.7 * t)})
        >>> round(found.params["rate"].estimate, 6)
        0.7

    Raises InputError.
    """
    with tempfile.TemporaryDirectory() as folder:
        document = dict(experiment) if isinstance(experiment, Mapping) else None
        options = []
        if data is not None:
            columns = [str(name) for name in data]
            readings = _write_table(folder, columns, data)
            times = next((name for name in ("t", "time") if name in columns), columns[0])
            given = dict(document.get("data", {})) if document is not None else {}  # type: ignore[call-overload]
            given = {"time": times, "target": [name for name in columns if name != times], **given, "path": readings}
            if document is not None:
                document["data"] = given
            else:
                options += ["--set", f"data.path={readings}"]
        file = _write(folder, "experiment.json", document) if document is not None else path_of(experiment)  # type: ignore[arg-type]
        for name in [profile] if isinstance(profile, str) else profile:
            options += ["--profile", text_of(name, "a name of params")]
        options += ["--robust", robust, "--level", repr(float(level))]
        for option, path in (("--plot", plot), ("--output", output)):
            options += [option, path_of(path)] if path is not None else []
        found = _ask("fit", file, *options, *_set(set))
    names = list(found["params"])
    return Fit(params={name: _estimate(row) for name, row in found["params"].items()}, covariance=_matrix(found["covariance"], names),
               correlation=_matrix(found["correlations"], names), condition=_number(found["condition"]), rmse=_number(found["rmse"]),
               notes=list(found["notes"]),
               data=[FitTrace(name=one["name"], file=one.get("file", ""), t=_numbers(one["t"]), reading=_numbers(one["reading"]),
                              fitted=_numbers(one["fitted"])) for one in found.get("data", [])],
               profiles={name: FitProfile(low=_number(one["low"]), high=_number(one["high"]), values=_numbers(one["values"]),
                                          costs=_numbers(one["costs"])) for name, one in found.get("profiles", {}).items()},
               steps=found["steps"], stopped_by=found["stopped_by"])


def _number(value: Optional[float]) -> float:
    """A number from JSON, in which null stands for a non-finite one."""
    return float("inf") if value is None else float(value)


def _numbers(values: Sequence[Optional[float]]) -> Array:
    return np.array([np.nan if value is None else value for value in values], float)


def _estimate(row: Mapping[str, object]) -> Estimate:
    low, high = row["low"], row["high"]
    return Estimate(_number(row["estimate"]), _number(row["standard_error"]), float("-inf") if low is None else float(low),  # type: ignore[arg-type]
                    _number(high), str(row["unit"]))  # type: ignore[arg-type]


def _matrix(rows: Mapping[str, Mapping[str, Optional[float]]], names: Sequence[str]) -> Array:
    return np.array([[_number(rows[a][b]) for b in names] for a in names]).reshape(len(names), len(names))


def _write_table(folder: str, columns: Sequence[str], data: Mapping[str, object]) -> str:
    rows = np.column_stack([np.asarray(data[name], float) for name in columns])
    file = os.path.join(folder, "readings.csv")
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(",".join(columns) + "\n")
        opened.writelines(",".join("" if np.isnan(number) else repr(float(number)) for number in row) + "\n" for row in rows)
    return file
