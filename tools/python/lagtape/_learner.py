"""Models that learn while they stream."""

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
    """A model that learns from every step of a stream, as `Model.learner` makes it. It has its own weights.

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
        """One step: the output [output] for x [input], and its loss. Then the weights learn from the target [output], in the
        units of the data; for classes it is their number. None, or a NaN in it, means no target, and the loss is 0.

        Raises InputError for another shape.
        """
        return self._step(x, target)

    def model(self) -> Model:
        """A model with the weights that the learner has now."""
        from ._model import wrapped
        return wrapped(self._model())

    def gradients(self) -> Dict[str, Array]:
        """The gradients that have been added up since the weights moved, by the parameters' names: with `lr=0` those of all steps."""
        return self._gradients()

    def save(self) -> bytes:
        """All that later steps depend on as bytes: weights, gradients, states and traces, for `restore` of this learner or one
        made alike. Its rate may differ; the model's layers, scales and loss, `method`, `rule` and `window` may not.

            >>> state = learner.save()
            >>> learner.restore(state)
        """
        return self._save()

    def restore(self, state: bytes) -> None:
        """Puts back a state that `save` gave, on a machine with the same vector instructions. Raises InputError, and changes
        nothing, for one of another learner and for changed bytes."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise InputError(f"[learner.restore] a state is the bytes that `save` gave. Got {type(state).__name__}.")
        self._restore(bytes(state))
