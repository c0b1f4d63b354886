"""Charts: matplotlib axes if matplotlib is installed, otherwise SVG."""

from __future__ import annotations

import html
import importlib.util
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple, Union, cast

import numpy as np

from . import _lagtape
from ._arguments import Path, path_of
from ._errors import InputError
from ._results import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Svg:
    """A chart without matplotlib: notebooks show it, `save` writes a file, and `str` returns the text.

        >>> lagtape.Svg("<svg/>").save("chart.svg")
    """

    def __init__(self, text: str):
        self._text = text

    def save(self, file: Path) -> None:
        """Writes the chart to an .svg file."""
        with open(path_of(file), "w", encoding="utf-8") as opened:
            opened.write(self._text)

    def _repr_svg_(self) -> str:
        return self._text

    def __str__(self) -> str:
        return self._text


class Chart(NamedTuple):
    """Lines (name, x, y) and bands (index of the line, x, low, high)."""

    title: str
    x: str
    y: str
    lines: Sequence[Tuple[str, Array, Array]]
    bands: Sequence[Tuple[int, Array, Array, Array]] = ()
    log: bool = False

    def svg(self, width: float = 620, height: float = 380) -> Svg:
        lines = [(name, _places(x), y.astype(float).tolist()) for name, x, y in self.lines]
        bands = [(line, _places(x), low.astype(float).tolist(), high.astype(float).tolist()) for line, x, low, high in self.bands]
        return Svg(_lagtape.chart(self.title, self.x, self.y, self.log, lines, bands, width, height))

    def draw(self, ax: Optional[Axes]) -> Union[Axes, Svg]:
        """Draws the chart into axes, by default new ones; without matplotlib, as SVG."""
        axes = _axes(ax)
        if axes is None:
            return self.svg()
        drawn = [axes.plot(x, y, label=name)[0] for name, x, y in self.lines]
        for line, x, low, high in self.bands:
            axes.fill_between(x, low, high, alpha=0.3, color=drawn[line].get_color())
        if self.log:
            axes.set_yscale("log")
        axes.set(title=self.title, xlabel=self.x, ylabel=self.y)
        axes.legend()
        return cast("Axes", axes)


def _places(x: Array) -> List[float]:
    """Positions on an axis."""
    return [float(value) for value in x]


def draw_counts(title: str, counts: Array, names: Sequence[str], ax: Optional[Axes]) -> Union[Axes, Svg]:
    """Draws a matrix of counts [classes, classes] with a row per true class."""
    axes = _axes(ax)
    if axes is None:
        return Svg(_counts_svg(title, counts, names))
    axes.imshow(counts, cmap="Blues")
    places = range(len(names))
    axes.set(title=title, xlabel="predicted", ylabel="true", xticks=places, yticks=places, xticklabels=names, yticklabels=names)
    for (row, column), count in np.ndenumerate(counts):
        axes.text(column, row, str(count), ha="center", va="center", color="white" if 2 * count > counts.max() else "black")
    return cast("Axes", axes)


def _counts_svg(title: str, counts: Array, names: Sequence[str]) -> str:
    cell, left, top = 56, 110, 60
    width, height = left + cell * len(names) + 20, top + cell * len(names) + 30
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' font-family='sans-serif' font-size='12'>",
             f"<text x='{left}' y='20'>{html.escape(title)}: rows are true classes, columns predicted ones</text>"]
    for i, name in enumerate(names):
        at = top + cell * (i + 0.5)
        parts.append(f"<text x='{left - 8}' y='{at + 4}' text-anchor='end'>{html.escape(name)}</text>")
        parts.append(f"<text x='{left + cell * (i + 0.5)}' y='{top - 8}' text-anchor='middle'>{html.escape(name)}</text>")
    for (row, column), count in np.ndenumerate(counts):
        share = float(count) / max(float(counts.max()), 1)
        x, y = left + cell * column, top + cell * row
        parts.append(f"<rect x='{x}' y='{y}' width='{cell}' height='{cell}' fill='#2166ac' fill-opacity='{share:.3f}'/>")
        parts.append(f"<text x='{x + cell / 2}' y='{y + cell / 2 + 4}' text-anchor='middle'>{count}</text>")
    return "\n".join([*parts, "</svg>"])


def _axes(ax: Optional[Axes]) -> Any:
    """The axes to draw into, or None without matplotlib."""
    if ax is not None:
        if not hasattr(ax, "fill_between"):
            raise InputError(f"[plot] ax must be axes of matplotlib. Got {type(ax).__name__}.")
        return ax
    if importlib.util.find_spec("matplotlib") is None:
        return None
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots()[1]
