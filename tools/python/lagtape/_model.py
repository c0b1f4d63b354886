"""Trained models and their streams."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Protocol, Sequence, Tuple, Union, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _lagtape
from ._arguments import Path, count_of, known_arguments, path_of, real_of, text_of
from ._arrays import DTYPES, numbers_of
from ._card import card
from ._errors import InputError
from ._learner import Learner
from ._results import Array, Dtype, ModelLayer

if TYPE_CHECKING:
    from .experiments import Experiment


@known_arguments
def load(run: Path | bytes) -> Model:
    """Loads a model from a run folder, a weights file, or the bytes of a weights file.

        >>> lagtape.load(run).input_width
        1

    Raises InputError, which reports the file and what is wrong with it.
    """
    return Model(run)


class KerasModel(Protocol):
    """The method of a Keras model that import_model calls."""

    def save(self, filepath: str) -> None: ...


def is_keras_model(value: object) -> bool:
    """Whether a value is a Keras model; does not import Keras."""
    return any(kind.__module__.split(".")[0] == "keras" and kind.__name__ == "Model" for kind in type(value).__mro__)


@known_arguments
def import_model(file: Union[Path, KerasModel], *, format: str = "", order: Sequence[str] = (), nonlinearity: str = "",
                 precision: str = "", rest: Optional[float] = None, between: str = "") -> Model:
    """Imports a model file from another program: PyTorch's safetensors and torch.save, Keras 3, JSON from RTNeural,
    AIDA-X, GuitarML and Proteus, NAM, and ONNX.

    `format` is the file format (by default detected from the content). `order` lists PyTorch modules from the input up.
    `nonlinearity` is nn.RNN's function ("tanh" unless the file specifies "relu"). `precision` is "f32", "f64" or "bf16"
    (by default the file's). `rest` is an input: the model starts in the states to which it settles for that input.
    `between` is the function between consecutive PyTorch linear layers, such as "relu", which a state_dict does not
    contain.

        >>> file = classifier.export("onnx", "classes.onnx")
        >>> lagtape.import_model(file).output_width
        2

    A Keras 3 model in memory can be passed instead of a file.

    Raises InputError, which reports the file and the location in it.
    """
    if is_keras_model(file):
        with tempfile.TemporaryDirectory() as folder:
            saved = os.path.join(folder, "model.keras")
            cast(KerasModel, file).save(saved)
            return import_model(saved, format=format, order=order, nonlinearity=nonlinearity, precision=precision, rest=rest,
                                between=between)
    if not isinstance(order, (list, tuple)):
        raise InputError(f"[import_model] order is a list of names. Got {order!r}.")
    if precision not in ("", "f32", "f64", "bf16"):
        raise InputError(f"[import_model] precision is 'f32', 'f64' or 'bf16'. Got {precision!r}.")
    if rest is not None:
        rest = real_of(rest, "rest", "import_model")
    names = [text_of(name, "a name in order") for name in order]
    return wrapped(_lagtape.import_model(path_of(cast(Path, file)), text_of(format, "format"), names, text_of(nonlinearity, "nonlinearity"),
                                          precision, rest, text_of(between, "between")))


def wrapped(made: _lagtape.Model) -> Model:
    """Wraps a model that the library made."""
    model = Model.__new__(Model)
    model._model = made
    return model


class Model:
    """A trained model. It never changes, can be used by several threads at once, and can be pickled.

        >>> lagtape.Model(run.path).predict(x).shape  # x [4, 60, 1]
        (4, 60, 1)
    """

    def __init__(self, run: Path | bytes):
        if isinstance(run, (bytes, bytearray, memoryview)):
            self._model = _lagtape.Model.parse(bytes(run), "the weights")
        else:
            self._model = _lagtape.Model.load(path_of(run))

    @overload
    def predict(self, x: Union[List[Array], Tuple[Array, ...]], *, threads: int = ...) -> List[Array]: ...

    @overload
    def predict(self, x: ArrayLike, *, threads: int = ...) -> Array: ...

    def predict(self, x: object, *, threads: int = 1) -> Union[Array, List[Array]]:
        """The outputs for sequences, in the units of the data.

        x [T, input] gives [T, output], and [B, T, input] gives [B, T, output]; a model with one output per sequence
        gives [output] and [B, output]. A list of sequences [T_i, input] of varying lengths gives a list of outputs.
        C-contiguous arrays of the model's dtype are not copied. Results are bit-identical for any batch and number
        of threads.

            >>> model.predict(x[0]).shape, len(model.predict([x[0], x[1, :50]]))
            ((60, 1), 2)

        Raises InputError for wrong shapes and non-finite numbers.
        """
        threads = count_of(threads, "threads", "predict", 1, 1024)
        if isinstance(x, (list, tuple)) and x and not _is_array_like(x):
            return self._predict_several([self._input(one, 2) for one in x], threads)
        return self._model.predict(self._input(x), [], threads)

    def _predict_several(self, sequences: List[Array], threads: int) -> List[Array]:
        """Runs one batch if padding adds little, otherwise one sequence at a time: the results are bit-identical."""
        lengths = [len(one) for one in sequences]
        longest = max(lengths)
        if self._reads_padding or longest * len(lengths) > 4 * sum(lengths):
            return [self._model.predict(one, [], threads) for one in sequences]
        x = np.zeros((len(lengths), longest, self.input_width), self.dtype)
        for row, one in zip(x, sequences):
            row[: len(one)] = one
        y = self._model.predict(x, lengths, threads)
        return [row[:length] if self.reads_every_step else row for row, length in zip(y, lengths)]

    @property
    def _reads_padding(self) -> bool:
        model: Dict[str, Any] = json.loads(self._model.experiment)["model"]
        return bool(model.get("readout", {}).get("at_padding"))

    def _input(self, x: object, rank: int = 0) -> Array:
        array = numbers_of(x, self._model.dtype, "predict")
        width = self.input_width
        if array.ndim not in ((rank,) if rank else (2, 3)) or array.shape[-1] != width or array.size == 0:
            expected = f"[T, {width}]" if rank else f"[T, {width}] or [B, T, {width}]"
            raise InputError(f"[predict] x is {expected}. Got {list(array.shape)}.")
        _check_finite(array, "predict")
        return array

    def stream(self, rows: int = 1, *, rate: float = 1, interpolation: str = "cubic", weights: str = "own",
               calibrate: Optional[ArrayLike] = None) -> Stream:
        """Makes a stream of `rows` parallel sequences, before its first step.

        `rate` is the number of stream steps per training step, 0.5 to 8: 96 / 48 for 96 kHz sound and a 48 kHz model.
        States between two steps are found by "linear" or "cubic" interpolation. Raises InputError if the model cannot
        run at that rate.

        `weights` of "bf16" or "int8" make a float32 model with 64 or more units faster and less exact. "int8" needs
        `calibrate`: representative sequences [T, input] or [B, T, input]. "f32" omits the rounding of a model trained in
        bf16.

            >>> stream = model.stream()
            >>> bool((stream.block(x[0]) == model.predict(x[0])).all())
            True
        """
        return Stream(self, rows, rate=rate, interpolation=interpolation, weights=weights, calibrate=calibrate)

    def learner(self, *, method: str = "rtrl", rule: str = "sgd", lr: float = 0.01, every: int = 1,
                window: int = 1) -> Learner:
        """Makes a stream that learns: each step predicts, and then moves the learner's copy of the weights toward the
        target.

        `method` is "rtrl", the exact gradient, for one recurrent layer whose units do not use each other's states;
        "e_prop", which ignores later effects of states on other units and layers; or "truncated", which also restarts
        the traces every `window` steps. `rule` is "sgd" or "adam", `lr` is the learning rate, and `every` is the number
        of steps whose gradients are summed before the weights move.

            >>> learner = model.learner(method="e_prop")
            >>> learner.steps
            0

        Raises InputError if the method does not support the layers.
        """
        return Learner(self, method=method, rule=rule, lr=lr, every=every, window=window)

    def use_series(self, name: str) -> Model:
        """The model for one of `series`: it predicts, streams and is saved with only that series' scaling.

        Raises InputError with the nearest name.
        """
        return wrapped(self._model.use_series(text_of(name, "the name of a series")))

    @property
    def series(self) -> List[str]:
        """The names of the series, if the model scales each separately; `use_series` selects one. Empty if there is one
        scaling for all."""
        return self._model.series

    def save(self, file: Path) -> None:
        """Writes the model's weights file, which `load` can read.

            >>> model.save("waves.safetensors")
        """
        self._model.save(path_of(file))

    @property
    def dtype(self) -> Dtype:
        """float32 or float64: the precision used in training and prediction."""
        return DTYPES[self._model.dtype]

    @property
    def input_width(self) -> int:
        """The number of inputs per step; 1 for tokens."""
        return self._model.input_width

    @property
    def output_width(self) -> int:
        """The number of values per output; for a classifier, its logits."""
        return self._model.output_width

    @property
    def classes(self) -> int:
        """The number of classes; 0 unless the model is a classifier."""
        return self._model.classes

    @property
    def tokens(self) -> int:
        """The number of tokens, if inputs are the integers 0 .. tokens - 1; 0 if inputs are real numbers."""
        return self._model.tokens

    @property
    def reads_every_step(self) -> bool:
        """True if predictions have an output at every step, False if they have one per sequence."""
        return self._model.reads_every_step

    @property
    def experiment(self) -> Experiment:
        """The experiment that trained the model, with every default."""
        experiment: Experiment = json.loads(self._model.experiment)
        return experiment

    @property
    def layers(self) -> List[ModelLayer]:
        """The layers from the input up, the read-out last: name, params, largest_lag, programs (of the steps)."""
        return cast(List[ModelLayer], self._model.layers)

    @property
    def parameters(self) -> Dict[str, Array]:
        """The parameters by name ("layers.0.W1"), as read-only arrays."""
        return self._model.parameters

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: Any) -> Model:
        return self

    def __reduce__(self) -> Tuple[Any, Tuple[bytes]]:
        return load, (self._model.pack(),)

    def __repr__(self) -> str:
        layers = ", ".join(layer["name"] for layer in self.layers)
        return f"<lagtape.Model {self.input_width} -> {layers} -> {self.output_width}, {self.dtype}>"

    def _repr_html_(self) -> str:
        """The HTML card of the model in notebooks."""
        layers = ", ".join(f"{layer['name']} ({layer['params']})" for layer in self.layers)
        lags = max((layer["largest_lag"] for layer in self.layers), default=0)
        return card("Model", [("inputs", self.tokens or self.input_width), ("layers (parameters)", layers), ("largest lag", f"{lags} steps"),
                              ("outputs", self.classes or self.output_width), ("precision", self.dtype)])


class Stream(_lagtape.Stream):
    """Runs a model one step or one block of steps at a time, for `rows` parallel sequences.

    With the model's own weights, results are bit-identical to `Model.predict`. Only one thread may use a stream at a
    time; `copy` makes another one in the same state, and so does pickling. As a context manager, a stream closes itself.
    `step(x)` maps x [input] or [rows, input] to [output] or [rows, output]; `block(x)` accepts [T, input] or
    [T, rows, input].

        >>> with lagtape.Stream(model) as stream:
        ...     first = stream.step(x[0, 0])
        >>> first.shape
        (1,)

    Raises InputError for a wrong shape, and if the stream is closed or in use by another thread.
    """

    def __init__(self, model: Model, rows: int = 1, *, rate: float = 1, interpolation: str = "cubic", weights: str = "own",
                 calibrate: Optional[ArrayLike] = None):
        if not isinstance(model, Model):
            raise InputError(f"[stream] expected a lagtape.Model. Got {type(model).__name__}.")
        super().__init__(model._model, count_of(rows, "rows", "stream"), real_of(rate, "rate", "stream"),
                         text_of(interpolation, "interpolation"), text_of(weights, "weights"), calibrate)
        self._made_of = (model, rows, {"rate": rate, "interpolation": interpolation, "weights": weights, "calibrate": calibrate})

    @property
    def window(self) -> Tuple[Array, ...]:
        """The last values of the states, on which later outputs depend: copies, one array per state, layer by layer,
        [history + 1, rows, width], the oldest value first. Can be set."""
        return self._window()

    @window.setter
    def window(self, states: Sequence[Array]) -> None:
        if not isinstance(states, (list, tuple)):
            raise InputError(f"[stream.restore] a window is a sequence of arrays. Got {type(states).__name__}.")
        self._restore(states, self.steps)

    def save(self) -> bytes:
        """The state as bytes, for `restore` of a stream with the same model, rows, rate and weights.

            >>> stream = model.stream()
            >>> state = stream.save()
            >>> stream.restore(state)
        """
        return self._save()

    def restore(self, state: bytes) -> None:
        """Restores a state returned by `save`. Raises InputError if it is from a different model or stream, or has changed."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise InputError(f"[stream.restore] a state is the bytes that `save` gave. Got {type(state).__name__}.")
        self._restore_saved(bytes(state))

    def copy(self) -> Stream:
        """A second stream in the same state."""
        other = Stream.__new__(Stream)
        _lagtape.Stream.__init__(other, self)
        other._made_of = self._made_of
        return other

    def __copy__(self) -> Stream:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Stream:
        return self.copy()

    def __reduce__(self) -> Tuple[Any, ...]:
        return _stream_in_state, (*self._made_of, self.save())

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def _stream_in_state(model: Model, rows: int, options: Dict[str, Any], state: bytes) -> Stream:
    """Restores a pickled stream."""
    stream = Stream(model, rows, **options)
    stream.restore(state)
    return stream


def _is_array_like(sequences: Any) -> bool:
    """Whether a list is a regular nested list of numbers rather than sequences of varying lengths."""
    if any(isinstance(one, np.ndarray) for one in sequences):
        return False
    try:
        return np.asarray(sequences).dtype != object
    except ValueError:
        return False


def _check_finite(array: Array, call: str) -> None:
    # If there is a NaN, the minimum and maximum are NaN: two passes, but no other array of this size.
    if array.size == 0 or (np.isfinite(array.min()) and np.isfinite(array.max())):
        return
    place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    raise InputError(f"[{call}] the number at {list(place)} is not finite. Got {array[place]}.")
