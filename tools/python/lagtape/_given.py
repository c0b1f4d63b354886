"""Passes data in memory to the library: arrays, and tables with a DataFrame's columns."""

from __future__ import annotations

import csv
import datetime
import importlib
import os
import sys
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from . import _lagtape
from ._errors import InputError

#: The folder name by which the library recognizes data in memory.
_FOLDER = "(memory)"
_SPLITS = ("train", "valid", "test")
_ARRAYS = {f"{split}_{part}" for split in _SPLITS for part in ("x", "y", "lengths")} | {"x", "y", "lengths"}


class Given(NamedTuple):
    """Data as the library reads them: virtual files, their paths, and the task they are for."""

    files: Optional[_lagtape.GivenFiles]
    paths: List[str]
    task: str  #: the task for such data
    times: str = ""  #: the column of times made from a frame's index

    @property
    def path(self) -> str:
        return self.paths[0]


def take(data: Any, *, time: Optional[str] = None, name: str = "data", files: Optional[_lagtape.GivenFiles] = None,
         is_table: bool = False) -> Given:
    """Data for an experiment, a forecast or a prediction: a path, a dict of arrays, an array, a frame, or several frames.

    `time` names the column made from a time index that has no name. A frame becomes the table `name` in `files`, which
    may contain other tables. With `is_table`, columns named x or y are not treated as arrays of sequences.
    """
    if isinstance(data, (str, os.PathLike)):
        return Given(None, [os.path.abspath(os.fspath(data))], "")
    files = files or _lagtape.GivenFiles()
    if isinstance(data, np.ndarray) and data.dtype.names is None:
        files.add_arrays("data.npz", {"data": _numbers(data, "data")})
        return Given(files, [f"{_FOLDER}/data.npz"], "series")
    if isinstance(data, Mapping) and data and not (is_table and is_frame(data)) and (set(data) <= _ARRAYS or any(_has_axes(array) for array in data.values())):
        files.add_arrays("data.npz", {name: _numbers(array, name) for name, array in data.items()})
        return Given(files, [f"{_FOLDER}/data.npz"], "arrays")
    if is_frame(data):
        index = _add_table(files, name, data, time)
        return Given(files, [f"{_FOLDER}/{name}.csv"], "series", index)
    named = _frames_of(data)
    indices = [_add_table(files, name, frame, time) for name, frame in named]
    return Given(files, [f"{_FOLDER}/{name}.csv" for name, _ in named], "series", indices[0])


def _frames_of(data: Any) -> List[Tuple[str, Any]]:
    """Several frames with their names: a dict's keys, or numbers."""
    if isinstance(data, Mapping):
        named = [(str(name), frame) for name, frame in data.items()]
    elif isinstance(data, Iterable):
        named = [(str(number), frame) for number, frame in enumerate(data)]
    else:
        raise InputError(f"[data] expected a path, arrays or a DataFrame. Got {type(data).__name__}.")
    if not named:
        raise InputError("[data] there are no frames and no arrays. Got nothing.")
    for name, frame in named:
        if not is_frame(frame):
            raise InputError(f"[data] expected a DataFrame or an array for {name!r}. Got {type(frame).__name__}.")
        if any(sign in name for sign in "/*\0"):
            raise InputError(f"[data] a series is named without '/' and '*'. Got {name!r}.")
    return named


def is_frame(data: Any) -> bool:
    """Whether the data are the columns of one table."""
    if isinstance(data, Mapping):
        return bool(data) and all(_is_column(column) for column in data.values())
    if isinstance(data, np.ndarray):
        return data.dtype.names is not None
    return _is_lazy(data) or any(hasattr(data, name) for name in ("columns", "column_names", "to_frame", "__arrow_c_stream__", "__dataframe__"))


def _is_lazy(frame: Any) -> bool:
    """Whether this is a Polars lazy query, which `collect` runs."""
    return type(frame).__name__ == "LazyFrame" and hasattr(frame, "collect")


def _has_axes(array: Any) -> bool:
    """Whether an array has more than one axis, unlike a table column."""
    if isinstance(array, (list, tuple)):
        return bool(array) and isinstance(array[0], (list, tuple, np.ndarray))
    return isinstance(array, np.ndarray) and array.ndim > 1


def _is_column(column: Any) -> bool:
    if isinstance(column, (list, tuple)):
        return not any(is_frame(one) for one in column[:1])
    return getattr(column, "ndim", None) == 1 and not hasattr(column, "columns")


def _add_table(files: Any, name: str, frame: Any, time: Optional[str]) -> str:
    names, columns, index = columns_of(frame, time)
    if not names:
        raise InputError("[data] the frame has no columns.")
    if len(columns[0]) == 0:
        raise InputError("[data] the frame has no rows.")
    files.add_table(f"{name}.csv", names, [cells_of(column, label) for column, label in zip(columns, names)])
    return index


def write_table(path: str, frame: Any) -> None:
    """Writes a frame to a .csv file that the library can read."""
    names, columns, _ = columns_of(frame, None)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(zip(*[_written(cells_of(column, name)) for name, column in zip(names, columns)]))


def _written(cells: Any) -> List[Any]:
    values = cells if isinstance(cells, list) else cells.tolist()
    return ["" if value != value else value for value in values]


def columns_of(frame: Any, time: Optional[str]) -> Tuple[List[str], List[Any], str]:
    """A frame's column names and columns, index columns first, and the name of its time index."""
    if _is_lazy(frame):
        frame = frame.collect()
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):  # a Series
        frame = frame.to_frame()
    if not any(hasattr(frame, name) for name in ("columns", "column_names", "keys")) and not isinstance(frame, np.ndarray):
        frame = _by_protocol(frame)
    found = frame.dtype.names if isinstance(frame, np.ndarray) else None
    for attribute in ("column_names", "columns", "keys"):
        if found is None and hasattr(frame, attribute):
            value = getattr(frame, attribute)
            found = value() if callable(value) else value
    labels = [] if found is None else list(found)
    names = [str(name) for name in labels]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"[data] the frame has two columns called {twice!r}. Rename one, or leave it out.")
    columns = [frame[name] for name in labels]
    index = getattr(frame, "index", None)
    if index is None or callable(index):
        return names, columns, ""
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    more, times = [], ""
    for level in levels:
        dtype = getattr(level, "dtype", None)
        is_time = dtype is not None and (dtype.kind == "M" or "period" in str(dtype)
                                         or (dtype == object and len(level) > 0 and isinstance(level[0], datetime.date)))
        label = level.name if level.name is not None else (time or "time") if is_time else time if time == "" else None
        if label is None and len(levels) > 1:
            raise InputError("[data] a level of the index has no name. Expected names, which the experiment can use.")
        if label is not None:
            more.append((str(label), level))
            times = times or (str(label) if is_time else "")
    return [label for label, _ in more] + names, [level for _, level in more] + columns, times


def frame_like(like: Any, columns: Mapping[str, np.ndarray], times: List[str], rows: Optional[List[int]], index: str) -> Any:
    """Makes a frame of the same library as `like`, with times or rows as the index in pandas, else as a column."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(like, (pandas.DataFrame, pandas.Series)):
        if not times:
            return pandas.DataFrame(columns, index=None if rows is None else pandas.Index(rows))
        labels = pandas.to_datetime(times, errors="coerce")
        labels = pandas.Index(times) if labels.isna().any() else labels
        zone = getattr(like.index, "tz", None)
        if zone is not None:
            labels = labels.tz_localize(zone) if labels.tz is None else labels.tz_convert(zone)
        return pandas.DataFrame(columns, index=labels.rename(index or "time"))
    like = like.collect() if _is_lazy(like) else like
    if times:
        columns = {index or "time": _times_like(like, index, times), **columns}
    elif rows is not None:
        columns = {"row": np.array(rows), **columns}
    if isinstance(like, Mapping):
        return {name: np.array(column) for name, column in columns.items()}
    made = type(like)
    return made.from_pydict(columns) if hasattr(made, "from_pydict") else made(columns)


def _times_like(like: Any, name: str, texts: List[str]) -> Any:
    """Times in the type of a Polars or pyarrow frame's column; as strings if that column has strings, or in a dict."""
    plain = np.array(texts)
    if isinstance(like, Mapping) or name not in getattr(like, "column_names", getattr(like, "columns", ())):
        return plain
    column = like[name]
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if not kind.startswith(("date", "timestamp")) or "" in texts:
        return plain
    try:
        moments = [datetime.datetime.fromisoformat(text) for text in texts]
    except ValueError:
        return plain
    if "time" not in kind and kind.startswith("date"):
        times = np.array([moment.date() for moment in moments], "M8[D]")
    else:
        times = np.array([moment.astimezone(datetime.timezone.utc).replace(tzinfo=None) if moment.tzinfo else moment for moment in moments],
                         "M8[us]")
    library = sys.modules[type(like).__module__.split(".")[0]]
    if hasattr(column, "dtype"):
        made = library.Series(name, times)
        zone = getattr(column.dtype, "time_zone", None)
        return made if zone is None else made.dt.replace_time_zone("UTC" if moments[0].tzinfo else zone).dt.convert_time_zone(zone)
    zone = getattr(column.type, "tz", None)
    if zone is None or not moments[0].tzinfo:
        return library.array(times)
    return library.array(times, library.timestamp("us", "UTC")).cast(library.timestamp("us", zone))


def _by_protocol(frame: Any) -> Any:
    """Converts another library's frame with a library that is installed."""
    convert: Callable[[Any], Any]
    for library, convert in (("pyarrow", lambda module: module.table(frame)), ("polars", lambda module: module.DataFrame(frame)),
                             ("pyarrow.interchange", lambda module: module.from_dataframe(frame)),
                             ("pandas", lambda module: module.api.interchange.from_dataframe(frame))):
        try:
            return convert(importlib.import_module(library))
        except (ImportError, TypeError, AttributeError):
            continue
    raise InputError(f"[data] {type(frame).__name__} is read with pyarrow, polars or pandas, and none of them can.")


def _numbers(values: Any, name: str) -> np.ndarray:
    """A float32 or float64 array; the same one if it is contiguous."""
    if np.ma.is_masked(values):
        raise InputError(f"[data] {name} has masked numbers. Fill or remove what is missing.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"[data] {name} must be an array of numbers. {error}") from None
    if array.dtype.kind not in "iufb":
        hint = " Sequences of several lengths are padded, and SPLIT_lengths says how long each is." if array.dtype.kind == "O" else ""
        raise InputError(f"[data] {name} must be an array of numbers. Got elements {array.dtype}.{hint}")
    # The library handles these types the same way when it reads a file.
    is_small = array.dtype in (np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.uint8), np.dtype(bool))
    return np.require(array, np.float32 if is_small else np.float64, ["C", "A"])


def cells_of(column: Any, name: str) -> Any:
    """A column as an array of numbers or a list of strings."""
    dtype: Any = getattr(column, "dtype", None)
    if getattr(dtype, "time_zone", None) or getattr(getattr(column, "type", None), "tz", None):  # polars, pyarrow: local times
        return [_text_of(time, name) for time in (column.to_list() if hasattr(column, "to_list") else column.to_pylist())]
    try:
        if getattr(dtype, "kind", None) in ("i", "u", "f", "b") and not isinstance(dtype, np.dtype):  # pandas' own numeric types
            whole = dtype.kind == "b" and not column.isna().any()
            values = column.to_numpy("bool") if whole else column.to_numpy("float64", na_value=np.nan)
        else:
            values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    except (TypeError, ValueError) as error:
        raise InputError(f"[data] the column {name!r} is neither of numbers nor of texts. {error}") from None
    if values.ndim != 1:
        raise InputError(f"[data] the column {name!r} must have a value a row. Got the shape {list(values.shape)}.")
    kind = values.dtype.kind
    if kind in "iu":
        return values.astype(np.uint64 if kind == "u" else np.int64, copy=False)
    if kind == "f":
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    if kind == "b":  # the numbers 0 and 1, the words False and True
        return values
    if kind == "M":
        return _texts_of_times(values)
    if kind in "OUST":
        return [_text_of(value, name) for value in values.tolist()]
    raise InputError(f"[data] the column {name!r} is neither of numbers nor of texts. Got elements {values.dtype}.")


def _texts_of_times(times: np.ndarray) -> List[str]:
    is_none = np.isnat(times)
    known = times[~is_none]
    for unit in ("D", "s", "ms", "us", "ns"):
        if np.array_equal(known.astype(f"M8[{unit}]"), known):
            break
    texts = np.char.replace(np.datetime_as_string(times, unit=unit), "T", " ")
    texts[is_none] = ""
    return [str(text) for text in texts]


def _text_of(value: Any, name: str) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (list, tuple, dict, set, np.ndarray)):
        raise InputError(f"[data] the column {name!r} must have a number or a text a row. Got {type(value).__name__}.")
    text = "" if value is None else str(value)
    return "" if text in ("nan", "NaT", "<NA>") else text
