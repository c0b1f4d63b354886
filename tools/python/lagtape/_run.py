"""Run folders: training results, scores, predictions, charts and exports."""

from __future__ import annotations

import json
import os
from typing import IO, TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, Union, overload, cast

import numpy as np

from . import _forecast, _lagtape, _tool
from ._arguments import Path, count_of, path_of
from ._arrays import number_of
from ._card import card
from ._errors import InputError
from ._experiment import analyze
from ._model import Model, load
from ._plots import Chart, Svg, draw_counts
from ._progress import columns_of, learning_chart
from ._results import Array, Forecast, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .experiments import Experiment


class Run:
    """A run folder, the result of training. `lagtape.Run(path)` opens one.

        >>> lagtape.Run(run.path).metrics["test_loss"] >= 0
        True
    """

    def __init__(self, path: Path):
        self.path: str = path_of(path)
        if not os.path.isdir(self.path):
            raise InputError(f"{self.path}: there is no such run folder.")

    @property
    def experiment(self) -> Experiment:
        """The experiment with every default and absolute paths; pass it to `lagtape.train` to repeat the run."""
        with self._open("experiment.json") as file:
            experiment: Experiment = json.loads(_lagtape.experiment_of_run(file.read(), self.path))
        return experiment

    @property
    def summary(self) -> Summary:
        """The summary of a finished run: params, best_epoch, valid, test, seconds, plan and so on."""
        summary: Summary = self._read("summary.json")
        return summary

    @property
    def metrics(self) -> Dict[str, float]:
        """The metrics of the kept weights: valid_loss, test_loss, and the experiment's own metrics."""
        valid, test = self.summary["valid"], self.summary["test"]
        return {f"{split}_{name}": number_of(value) for split, scores in (("valid", valid), ("test", test)) for name, value in scores.items()}

    @property
    def history(self) -> Dict[str, Array]:
        """Arrays with one value per evaluation: epoch, step, train_loss, valid_loss, lr, seconds and so on. Values that an
        evaluation did not report are NaN."""
        with self._open("metrics.jsonl") as file:
            return columns_of([json.loads(line) for line in file if line.endswith("\n")])  # a killed run can leave a partial line

    def model(self) -> Model:
        """The model with the kept weights."""
        return load(self.path)

    evaluate = _forecast.evaluate
    predict = _forecast.predict
    forecast = _forecast.forecast
    report = _tool.report
    export = _tool.export

    def confusion(self, split: str = "test", *, data: object = None) -> Array:
        """A classifier's counts [classes, classes], with a row per true class and a column per predicted class.

        split, data  as in `lagtape.evaluate`, which also returns the class names

            >>> classifier.confusion().shape
            (2, 2)

        Raises InputError if the model is not a classifier.
        """
        return _forecast.evaluate(self, split, data=data, confusion=True).confusion

    @overload
    def plot_learning(self, *, ax: Axes) -> Axes: ...

    @overload
    def plot_learning(self, *, ax: None = None) -> Union[Axes, Svg]: ...

    def plot_learning(self, *, ax: Optional[Axes] = None) -> Union[Axes, Svg]:
        """Draws the training and validation losses by epoch. Returns matplotlib axes, or SVG if matplotlib is not
        installed.

            >>> axes = run.plot_learning()
        """
        return learning_chart(self._name, self.history).draw(ax)

    @overload
    def plot_gradient_reach(self, *, split: str = ..., sequences: int = ..., steps: int = ..., ax: Axes) -> Axes: ...

    @overload
    def plot_gradient_reach(self, *, split: str = ..., sequences: int = ..., steps: int = ..., ax: None = None) -> Union[Axes, Svg]: ...

    def plot_gradient_reach(self, *, split: str = "test", sequences: int = 8, steps: int = 1000,
                            ax: Optional[Axes] = None) -> Union[Axes, Svg]:
        """Draws the size of the loss gradient with respect to each state, by lag, from `lagtape.analyze`.

        split, sequences, steps  the data to use, at most `steps` steps

            >>> axes = run.plot_gradient_reach(sequences=2)
        """
        layers = analyze(self, split=split, sequences=sequences, steps=steps)["layers"]
        lines = [(f"layer {layer['layer']}: {state['name']}", np.arange(len(state["gradient"]["mean"])), state["gradient"]["mean"])
                 for layer in layers for state in layer["states"]]
        return Chart(self._name, "steps back", "mean |dL/dh|", lines, log=True).draw(ax)

    @overload
    def plot_confusion(self, split: str = ..., *, data: object = ..., ax: Axes) -> Axes: ...

    @overload
    def plot_confusion(self, split: str = ..., *, data: object = ..., ax: None = None) -> Union[Axes, Svg]: ...

    def plot_confusion(self, split: str = "test", *, data: object = None, ax: Optional[Axes] = None) -> Union[Axes, Svg]:
        """Draws the counts of `confusion`, with a row per true class.

            >>> axes = classifier.plot_confusion()
        """
        scores = _forecast.evaluate(self, split, data=data, confusion=True)
        counts = scores.confusion
        return draw_counts(self._name, counts, scores.classes or [str(i) for i in range(len(counts))], ax)

    @overload
    def plot_forecast(self, input: object = ..., steps: Union[int, str, None] = ..., *, past: Optional[int] = ..., ax: Axes,
                      future: object = ..., interval: Optional[float] = ...) -> Axes: ...

    @overload
    def plot_forecast(self, input: object = ..., steps: Union[int, str, None] = ..., *, past: Optional[int] = ..., ax: None = None,
                      future: object = ..., interval: Optional[float] = ...) -> Union[Axes, Svg]: ...

    def plot_forecast(self, input: object = None, steps: Union[int, str, None] = None, *, past: Optional[int] = None,
                      ax: Optional[Axes] = None, future: object = None, interval: Optional[float] = None) -> Union[Axes, Svg]:
        """Draws a forecast that continues a recording of one series, with its interval or outer quantiles as a
        band.

        input                    the recording, as in `lagtape.forecast`; by default the file that the run was trained on
        steps, future, interval  as in `lagtape.forecast`; `steps` is by default the length of a training window
        past                     how many rows before the forecast to show; by default four times the steps

            >>> axes = wave.plot_forecast("wave.csv", 20)

        Raises InputError if the data were in memory and `input` is not given.
        """
        data = self.experiment["data"]
        if input is None:
            input = data.get("path", "")
        length = cast(int, data.get("window", 48)) if steps is None else steps
        made, _ = _forecast.forecast_arrays(self, input, length, future=future, interval=interval)
        return forecast_chart(self._name, made, past).draw(ax)

    @property
    def _name(self) -> str:
        return os.path.basename(os.path.normpath(self.path))

    def _repr_html_(self) -> str:
        """The HTML card of the run in notebooks."""
        layers = self.experiment["model"]["layers"]
        rows: List[Tuple[str, object]] = [("folder", self.path), ("layers", ", ".join(map(name_of_layer, layers)))]
        if os.path.exists(os.path.join(self.path, "summary.json")):
            rows += [("parameters", self.summary["params"]), *self.metrics.items(), ("seconds", self.summary["seconds"])]
        history = self.history
        return card(f"Run {self._name}", rows, str(learning_chart("", history).svg(260, 110)) if history else "")

    def _open(self, name: str) -> IO[str]:
        file = os.path.join(self.path, name)
        try:
            return open(file, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{file}: cannot read: {error.strerror}", file=file) from None

    def _read(self, name: str) -> Any:
        with self._open(name) as file:
            return json.load(file)

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<lagtape.Run {self.path}>"


def name_of_layer(layer: Mapping[str, Any]) -> str:
    """A short description of a layer in an experiment: "tau_gru 16"."""
    name = layer.get("cell", layer.get("layer", ""))
    return f"{name if isinstance(name, str) else name.get('cell', '')} {layer.get('units', '')}".strip()


def forecast_chart(title: str, made: Forecast, past: Optional[int]) -> Chart:
    """A chart of the rows before a forecast and its predictions, by distance from the last known row."""
    if "past" not in made:
        raise InputError("[plot_forecast] a forecast of one series is drawn. Got several; forecast them with `lagtape.forecast`.")
    steps = len(made["prediction"])
    shown = min(4 * steps if past is None else count_of(past, "past", "plot_forecast"), len(made["past"]))
    before, after = np.arange(-shown + 1, 1), np.arange(1, steps + 1)
    lines: List[Tuple[str, Array, Array]] = []
    bands: List[Tuple[int, Array, Array, Array]] = []
    low, high = made.get("lower", made.get("low")), made.get("upper", made.get("high"))
    if made.get("quantiles"):
        low, high = made["quantiles"][0], made["quantiles"][-1]
    for i, target in enumerate(made["targets"]):
        lines += [(target, before, made["past"][-shown:, i]), (f"{target}, forecast", after, made["prediction"][:, i])]
        truth = made["truth"][:, i]
        if np.isfinite(truth).any():
            lines.insert(-1, (f"{target}, measured", after, truth))
        if low is not None and high is not None:
            bands.append((len(lines) - 1, after, low[:, i], high[:, i]))
    return Chart(title, "rows after the last one", ", ".join(made["targets"]), lines, bands)
