"""PyTorch models as models of lagtape. PyTorch is imported when this is called."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ._model import Model


def from_torch(module: Any, *, readout: Any = None, at: Optional[str] = None, loss: Any = "mse",
               normalization: Optional[Mapping[str, Any]] = None, name: str = "from-torch", check: bool = True) -> Model:
    """The model that computes the same as a PyTorch module: it predicts, streams, and is saved and exported as any other.

    module         a Recurrence, an LSTM, GRU or RNN (in both directions too), alone, in an nn.Sequential with Embedding, Linear, Dropout
                   and functions, or a module of your own that runs such parts in the order in which it defines them
    readout        what follows the module: an nn.Linear
    at             "every_step", "last_step" or "mean": which outputs there are; found by comparing numbers unless it is named
    loss           the loss as in an experiment, which gives outputs their meaning: "cross_entropy" makes a classifier
    normalization  {"input": (mean, scale), "output": (mean, scale)}: the model reads and gives numbers in the units of the data
    name           of its experiment
    check          compares the model's outputs with those of the module, for an input that is drawn. Raises InputError where they differ

    Raises InputError for modules without a counterpart, and says which.

    >>> import torch
    >>> model = lagtape.from_torch(torch.nn.LSTM(2, 4), readout=torch.nn.Linear(4, 1))
    >>> model.predict(np.zeros((10, 2))).shape
    (10, 1)
    """
    from .torch._convert import from_torch as convert

    return convert(module, readout=readout, at=at, loss=loss, normalization=normalization, name=name, check=check)
