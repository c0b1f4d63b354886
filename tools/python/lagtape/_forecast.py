"""Predictions of sequences, and of the time after a recording."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Union

from . import _lagtape
from ._arguments import Path, count_of, path_of, text_of
from ._model import Model, load


def predict(run: Union[Model, Path], x: Any, *, threads: int = 1) -> Any:
    """`Model.predict` of a model, or of that of a run: outputs for x [T, input], [B, T, input] or a list of sequences."""
    return (run if isinstance(run, Model) else load(run)).predict(x, threads=threads)


def forecast(run: Union[Path, Sequence[Path]], input: Path, steps: int, *, start: str = "", season: int = 0,
             paths: int = 200) -> Dict[str, Any]:
    """Forecasts a recording from a model's own predictions, as `lagtape forecast` does.

    run     a run whose model was trained on a recording (task "series"); of several the forecast is their mean
    input   the past: a file like that of the training
    start   the time of the first prediction, or its row; by default the one after the last row
    season  steps of a period, for what `lagtape forecast` compares with; 0: a day, where rows have dates

    paths   paths that are drawn from a model of quantiles as it reads its own predictions; 0: it reads the medians

    Gives the arrays prediction [steps, targets], truth (NaN where it is not known), past [rows, targets], and of several
    runs low and high; of a model of quantiles in their place the levels and a list of arrays, quantiles, one for each; the
    names of the targets, the times, and the season. Raises InputError.
    """
    runs = [path_of(one) for one in run] if isinstance(run, (list, tuple)) else [path_of(run)]
    return _lagtape.forecast(runs, path_of(input), count_of(steps, "steps", "forecast"), text_of(start, "[forecast] start"),
                             count_of(season, "season", "forecast", 0), count_of(paths, "paths", "forecast", 0))
