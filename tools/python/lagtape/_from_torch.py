"""Converts PyTorch models to lagtape models. PyTorch is imported on the first call."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ._model import Model


def from_torch(module: Any, *, readout: Any = None, at: Optional[str] = None, loss: Any = "mse",
               normalization: Optional[Mapping[str, Any]] = None, name: str = "from-torch", check: bool = True) -> Model:
    """Makes a lagtape model that computes the same as a PyTorch module. It predicts, streams, saves and exports like any other.

    module         a Recurrence, an LSTM, GRU or RNN (bidirectional too), by itself or in an nn.Sequential with Embedding, Linear,
                   Dropout and functions, or your own module that runs such parts in the order in which it defines them
    readout        an nn.Linear that follows the module
    at             which outputs to return: "every_step", "last_step" or "mean"; by default found by comparing outputs
    loss           the loss, as in an experiment, which determines what outputs mean: "cross_entropy" makes a classifier
    normalization  {"input": (mean, scale), "output": (mean, scale)}: inputs and outputs are then in the units of the data
    name           the experiment's name
    check          compares the model's outputs with the module's for a random input. Raises InputError if they differ

    Raises InputError, which names the module, if one has no counterpart.

    >>> import torch
    >>> model = lagtape.from_torch(torch.nn.LSTM(2, 4), readout=torch.nn.Linear(4, 1))
    >>> model.predict(np.zeros((10, 2))).shape
    (10, 1)
    """
    from .torch._convert import from_torch as convert

    return convert(module, readout=readout, at=at, loss=loss, normalization=normalization, name=name, check=check)
