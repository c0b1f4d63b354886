"""Models that learn while streaming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Optional, Tuple

from numpy.typing import ArrayLike

from . import _lagtape
from ._arguments import count_of, real_of, text_of
from ._errors import InputError
from ._results import Array

if TYPE_CHECKING:
    from ._model import Model


class Learner(_lagtape.Learner):
    """A model that learns from every step of a stream, made by `Model.learner`. It has its own copy of the weights.

        >>> learner = model.learner(method="e_prop", lr=0.001)
        >>> y, loss = learner.step([0.5], [0.25])
        >>> y.shape, loss > 0
        ((1,), True)
        >>> learned = learner.model()
    """

    def __init__(self, model: Model, *, method: str = "rtrl", rule: str = "sgd", lr: float = 0.01, every: int = 1,
                 window: int = 1):
        super().__init__(model._model, text_of(method, "method"), text_of(rule, "rule"), real_of(lr, "lr", "learner"),
                         count_of(every, "every", "learner"), count_of(window, "window", "learner"))

    def step(self, x: ArrayLike, target: Optional[ArrayLike] = None) -> Tuple[Array, float]:
        """Runs one step and returns the output [output] for x [input], and its loss. The weights then learn from the target
        [output], in the units of the data, or the class number. Without a target (None, or one with a NaN) the loss is 0.

        Raises InputError for a wrong shape.
        """
        return self._step(x, target)

    def model(self) -> Model:
        """A model with the learner's current weights."""
        from ._model import wrapped
        return wrapped(self._model())

    def gradients(self) -> Dict[str, Array]:
        """The gradients accumulated since the last update, by parameter name; with `lr=0`, over all steps."""
        return self._gradients()

    def save(self) -> bytes:
        """Everything that later steps depend on, as bytes: weights, gradients, states and traces. `restore` accepts them in this
        learner or one like it: its rate may differ, but not the model's layers, scales and loss, `method`, `rule` or `window`.

            >>> learner = model.learner(method="e_prop")
            >>> state = learner.save()
            >>> learner.restore(state)
        """
        return self._save()

    def restore(self, state: bytes) -> None:
        """Restores a state returned by `save`, on a machine with the same vector instructions. Raises InputError, and changes
        nothing, if the state is from a different learner or its bytes have changed."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise InputError(f"[learner.restore] a state is the bytes that `save` gave. Got {type(state).__name__}.")
        self._restore(bytes(state))
