"""Estimator inputs: arrays, lists of arrays, and long tables."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._errors import InputError
from ._given import cells_of, columns_of, is_frame


class Sequences(NamedTuple):
    """N sequences: one array [N, T, C], or arrays [T_i, C]. Sequences from a table have names, and so do their
    columns."""

    x: Union[np.ndarray, List[np.ndarray]]
    ids: Optional[List[Any]] = None
    columns: Optional[List[str]] = None
    labels: Optional[np.ndarray] = None  #: the table column named by `y`, [N]
    is_flat: bool = False  #: the array was [N, T]

    @property
    def channels(self) -> int:
        return int(self.x[0].shape[-1])

    @property
    def features(self) -> int:
        """The number of features as scikit-learn counts them: columns of [N, T], otherwise numbers per step."""
        return len(self.x[0]) if self.is_flat else self.channels

    def arrays(self) -> Dict[str, np.ndarray]:
        """Padded arrays, with lengths if they differ."""
        if isinstance(self.x, np.ndarray):
            return {"x": self.x}
        lengths = np.array([len(one) for one in self.x])
        x = np.zeros((len(self.x), lengths.max(), self.channels), np.result_type(*self.x))
        for row, one in zip(x, self.x):
            row[: len(one)] = one
        return {"x": x, "lengths": lengths}


def sequences_of(X: Any, call: str, *, sequence: Optional[str] = None, time: Optional[str] = None, label: Optional[str] = None,
                 like: Optional[List[str]] = None) -> Sequences:
    """Sequences from any user input. `sequence`, `time` and `label` name columns of a long table; `like` contains the
    training sequences. Raises InputError."""
    if hasattr(X, "toarray"):
        raise InputError(f"[{call}] X is a sparse matrix, which no sequence is. Expected an array [N, T, C] or a list of [T_i, C].")
    if not isinstance(X, (list, tuple, np.ndarray)) and is_frame(X):
        return _of_table(X, call, sequence, time, label, like)
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1 and all(isinstance(one, np.ndarray) for one in X):
        X = list(X)
    if isinstance(X, (list, tuple)) and not _is_regular(X):
        parts = [numbers(one, f"sequence {i} of X", call) for i, one in enumerate(X)]
        parts = [part[:, None] if part.ndim == 1 else part for part in parts]
        for i, part in enumerate(parts):
            if part.ndim != 2 or part.shape[1] != parts[0].shape[-1] or part.size == 0:
                raise InputError(f"[{call}] sequence {i} of X: expected [T, {parts[0].shape[-1]}]. Got {list(part.shape)}.")
        return Sequences(parts)
    x = numbers(X, "X", call)
    is_flat = x.ndim == 2
    x = x[:, :, None] if is_flat and x.size else x
    if x.ndim != 3 and not is_flat:
        raise InputError(f"[{call}] Expected X as [N, T, C], or as [N, T] with one number a step. Reshape your data. Got {list(x.shape)}.")
    _refuse_empty(x, call)
    return Sequences(x, is_flat=is_flat)


def _is_regular(X: Any) -> bool:
    """Whether nested lists form a regular array rather than sequences of varying lengths."""
    if not all(isinstance(one, (list, tuple, np.ndarray, float, int)) for one in X):
        return True
    shapes = {np.shape(one) if isinstance(one, np.ndarray) else len(one) if isinstance(one, (list, tuple)) else () for one in X}
    return len(shapes) <= 1


def _refuse_empty(x: np.ndarray, call: str) -> None:
    if x.shape[0] == 0:
        raise InputError(f"[{call}] X: Found array with 0 sample(s) (shape={x.shape}) while a minimum of 1 is required.")
    if x.size == 0:
        raise InputError(f"[{call}] X: Found array with 0 feature(s) (shape={x.shape}) while a minimum of 1 is required.")


def numbers(values: Any, name: str, call: str) -> np.ndarray:
    """A dense array of finite numbers. Raises InputError."""
    if np.ma.is_masked(values):
        raise InputError(f"[{call}] {name} has masked numbers. Fill or remove what is missing.")
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"[{call}] {name} must be an array of numbers. {error}") from None
    if array.dtype.kind == "c":
        raise InputError(f"[{call}] {name}: Complex data not supported.")
    if array.dtype.kind not in "iufb":
        raise InputError(f"[{call}] {name} must be an array of numbers. Got elements {array.dtype}.")
    array = array if array.dtype in (np.dtype(np.float32), np.dtype(np.float64)) else array.astype(np.float64)
    if array.size and not np.isfinite(array.sum()) and not np.isfinite(array).all():  # finite numbers can have an infinite sum
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        kind = "NaN" if np.isnan(array[place]) else "inf"
        raise InputError(f"[{call}] {name} has {kind} at {list(place)}. Fill or remove what is missing.")
    return array


def _of_table(frame: Any, call: str, sequence: Optional[str], time: Optional[str], label: Optional[str],
              like: Optional[List[str]]) -> Sequences:
    """The sequences of a long table in order of first appearance, each sorted by time."""
    names, columns, _ = columns_of(frame, time)
    index = getattr(frame, "index", None)
    if sequence is None and getattr(index, "nlevels", 1) == 2:
        sequence, time = names[0], names[1]
    if sequence is None:
        raise InputError(f"[{call}] a DataFrame is a long table. Expected sequence=, the column that says which sequence a row is of.")
    table = dict(zip(names, columns))
    for role, name in (("sequence", sequence), ("time", time)):
        if name is not None and name not in table:
            raise InputError(f"[{call}] {role}: the table has no column {name!r}. It has {', '.join(names)}.")
    features = [name for name in names if name not in (sequence, time, label)]
    if like is not None and sorted(features) != sorted(like):
        raise InputError(f"[{call}] X has other columns than in fit. Expected {', '.join(like)}. Got {', '.join(features)}.")
    features = features if like is None else like
    if not features:
        raise InputError(f"[{call}] the table has no columns of numbers beside {sequence!r}.")
    ids = np.asarray(table[sequence])
    if len(ids) == 0:
        raise InputError(f"[{call}] the table has no rows.")
    first, rows = _rows_of(ids, None if time is None else np.asarray(table[time]), call)
    x = np.column_stack([numbers(cells_of(table[name], name), f"column {name!r}", call) for name in features])
    labels = None
    if label is not None and label in table:
        values = np.asarray(table[label])
        for row in rows:
            if not (values[row] == values[row[0]]).all():
                raise InputError(f"[{call}] y: {label!r} must be the same in all rows of a sequence. It changes in {ids[row[0]]!r}.")
        labels = values[first]
    return Sequences([x[row] for row in rows], list(ids[first]), features, labels)


def _rows_of(ids: np.ndarray, times: Optional[np.ndarray], call: str) -> Tuple[np.ndarray, List[np.ndarray]]:
    """The first row of each sequence, and its rows in order."""
    try:
        found, first, which = np.unique(ids, return_index=True, return_inverse=True)
        order = np.arange(len(ids)) if times is None else np.argsort(times, kind="stable")
    except TypeError as error:
        raise InputError(f"[{call}] the names of sequences, or the times, cannot be compared: {error}.") from None
    order = order[np.argsort(which[order], kind="stable")]
    rows = np.split(order, np.cumsum(np.bincount(which))[:-1])
    if times is not None:
        for row in rows:
            again = times[row[1:]] == times[row[:-1]]
            if again.any():
                raise InputError(f"[{call}] the sequence {ids[row[0]]!r} has the time {times[row[1:]][again][0]} twice.")
    begin = np.argsort(first, kind="stable")
    return first[begin], [rows[i] for i in begin]


def targets_of(y: Any, sequences: Sequences, call: str) -> np.ndarray:
    """The targets as an array with one row per sequence. Raises InputError."""
    if y is None:
        raise InputError(f"[{call}] requires y to be passed, but the target y is None.")
    if isinstance(y, str):
        if sequences.labels is None:
            raise InputError(f"[{call}] y names no column of X. Got {y!r}.")
        return sequences.labels
    index = getattr(y, "index", None)
    if sequences.ids is not None and index is not None and not callable(index) and len(index) == len(sequences.ids) \
            and set(index) == set(sequences.ids):
        y = y.loc[sequences.ids]
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise InputError(f"[{call}] y must be an array. {error}") from None
    if array.ndim == 0 or len(array) != len(sequences.x):
        got = "one value" if array.ndim == 0 else str(len(array))
        raise InputError(f"[{call}] y must have a target for each of the {len(sequences.x)} sequences of X. Got {got}.")
    return array
