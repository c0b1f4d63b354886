"""lagtape's recurrences as modules of PyTorch, on the CPU.

    from lagtape.torch import Recurrence

    recurrence = Recurrence("tau_gru", 1, units=128, tau=65, at="last_step")
    y, window = recurrence(x)  # x [B, T, 1], y [B, 128]
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor, nn

from . import _lagtape
from ._cell import located, with_cells
from ._errors import InputError
from ._openmp import release_waiting_threads

PRECISIONS = {torch.float32: "f32", torch.float64: "f64"}
DTYPES = {name: dtype for dtype, name in PRECISIONS.items()}

Window = Tuple[Tensor, ...]


class Recurrence(nn.Module):
    """Recurrent layers over time: the outputs of the top layer, and the window of states after the last step.

    layers: a cell's name with its options as keywords, a layer as in an experiment, {"cell": "lem", "units": 64}, or
        a list of layers from the input up. Layers of whole sequences (embedding, batch_norm, bidirectional) are none.
    input_size: numbers of x at a step.
    at: what is returned of the outputs: "every_step" [B, T, units], "last_step" (of each sequence's own length) or
        "mean" (over its own steps), both [B, units].
    cells: cells by their equations, {name: definition}, as in an experiment. Those of @lagtape.cell are known.
    memory: what is kept from forward to backward: "auto", "full", "states", "checkpoint", "reversible", or
        {"plan": "auto", "budget": "64MiB"}. Results do not depend on it, only time and memory do.
    threads: by default those of PyTorch.
    seed: of the first values of the parameters; by default PyTorch's generator gives one.
    dtype: torch.float32 or torch.float64; by default PyTorch's.

    Parameters have the names of a weights file: layers.0.W1, layers.0.W1.bias, ... A recurrence may be moved to
    another precision, copied and pickled; there is no second derivative. Raises InputError.
    """

    def __init__(
        self,
        layers: Union[str, Dict[str, Any], Sequence[Union[str, Dict[str, Any]]]],
        input_size: int,
        *,
        at: str = "every_step",
        cells: Optional[Dict[str, Any]] = None,
        memory: Union[str, Dict[str, Any]] = "auto",
        threads: Optional[int] = None,
        seed: Optional[int] = None,
        dtype: Optional[torch.dtype] = None,
        **options: Any,
    ):
        super().__init__()
        self.definition = with_cells({"model": {"layers": _layers_of(layers, options)}, "cells": cells or {}})
        self.input_size, self.at, self.memory, self.threads = input_size, at, memory, threads
        self._compiled: Dict[Any, _lagtape.Recurrence] = {}
        dtype = dtype or torch.get_default_dtype()
        recurrence = self._recurrence(dtype)
        self.output_size: int = recurrence.output_width
        self.names: List[str] = [name for name, *_ in recurrence.parameters]
        for name, _, trained, *_ in recurrence.parameters:
            holder, leaf = self._holder(name, make=True)
            value = torch.empty(0, dtype=dtype)
            if trained:
                holder._parameters[leaf] = nn.Parameter(value)
            else:
                holder._buffers[leaf] = value
        self._bounds = {name: (low, high) for name, _, _, low, high in recurrence.parameters
                        if (low, high) != (float("-inf"), float("inf"))}
        self.reset_parameters(seed)

    def reset_parameters(self, seed: Optional[int] = None) -> None:
        """Draws the first values anew, those that a model of lagtape has for this seed."""
        if seed is None:
            seed = int(torch.randint(2**62, ()))
        values = self._values()
        for value, first in zip(values, self._recurrence(values[0].dtype).first_values(seed) if values else []):
            value.data = torch.from_numpy(first)

    @torch.compiler.disable
    def forward(
        self, x: Tensor, lengths: Optional[Sequence[int]] = None, window: Optional[Sequence[Tensor]] = None
    ) -> Tuple[Tensor, Window]:
        """The outputs and the window after each sequence's own last step.

        x [B, T, input_size] of the parameters' dtype. lengths [B], each in 1 .. T: the steps of a row that count; outputs
        beyond them are zeros. window: the states before the first step, as a call before returned them; zeros by default.
        It is one tensor [history + 1, B, width] a state, the oldest value first, in float64 for a state on the grid.
        """
        values = self._values()
        dtype = values[0].dtype if values else x.dtype
        _check(x, dtype, "x")
        recurrence = self._recurrence(dtype)
        self._keep_bounds()
        window = () if window is None else tuple(window)
        for state in window:
            _check(state, None, "window")
        lengths = [] if lengths is None else [int(length) for length in lengths]
        seed = int(torch.randint(2**62, ())) if self.training and recurrence.has_draws else None
        call = (recurrence, lengths, seed, len(values))
        release_waiting_threads()
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, *values, *window)):
            y, *after = _Recurrent.apply(call, x, *values, *window)
        else:
            y, after = recurrence.evaluate(_plain(values), _plain([x])[0], lengths, _plain(window), seed)
            y, after = torch.from_numpy(y), [torch.from_numpy(state) for state in after]
        return y, tuple(after)

    def zero_window(self, batch: int) -> Window:
        """The window before the first step: zeros."""
        values = self._values()
        dtype = values[0].dtype if values else torch.get_default_dtype()
        return tuple(torch.zeros(steps, batch, width, dtype=DTYPES[precision])
                     for _, (steps, _, width), precision in self._recurrence(dtype).states)

    def extra_repr(self) -> str:
        layers = ", ".join(str(layer.get("cell", layer.get("layer"))) for layer in self.definition["model"]["layers"])
        return f"{self.input_size} -> {layers} -> {self.output_size}, at={self.at!r}, memory={self.memory!r}"

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_compiled": {}}

    def _recurrence(self, dtype: torch.dtype) -> _lagtape.Recurrence:
        """The layers in a precision, made once. Threads do not survive a fork, so each process has its own."""
        if dtype not in PRECISIONS:
            raise InputError(f"[torch] lagtape computes in float32 and float64. Got {dtype}.")
        key = (dtype, os.getpid())
        if key not in self._compiled:
            train = {"memory": self.memory, "precision": PRECISIONS[dtype]}
            text = json.dumps({"cells": None, **self.definition, "train": train})
            threads = self.threads or torch.get_num_threads()
            try:
                self._compiled[key] = _lagtape.read_recurrence(text, self.input_size, self.at, threads)
            except InputError as error:
                raise located(error) from None
        return self._compiled[key]

    def _holder(self, name: str, make: bool = False) -> Tuple[nn.Module, str]:
        """The module of a parameter, one a layer (and one a layer inside a layer), and its name there."""
        module: nn.Module = self
        prefix, _, rest = name.partition(".")
        while True:
            if make and prefix not in module._modules:
                module.add_module(prefix, _Layer())
            module = module._modules[prefix]
            number, _, after = rest.partition(".")
            if not number.isdigit():
                return module, rest
            prefix, rest = number, after

    def _values(self) -> List[Tensor]:
        values = []
        for name in self.names:
            holder, leaf = self._holder(name)
            values.append(holder._parameters[leaf] if leaf in holder._parameters else holder._buffers[leaf])
        return values

    @torch.no_grad()
    def _keep_bounds(self) -> None:
        """Values that an optimizer took beyond their bounds are set to these, as in lagtape's own training."""
        for name, (low, high) in self._bounds.items():
            holder, leaf = self._holder(name)
            value = holder._parameters[leaf]
            if ((value < low) | (value > high)).any():
                value.clamp_(low, high)


class _Layer(nn.Module):
    """The parameters of a layer. Their names, those of a weights file, may have dots (W1.bias), which PyTorch's own methods
    do not register, and do not expect in a state_dict of one module."""

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing, unexpected, errors):
        not_found: List[str] = []
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, not_found, errors)
        unexpected += [key for key in not_found if key[len(prefix) :] not in {**self._parameters, **self._buffers}]


class _Recurrent(torch.autograd.Function):
    """One pass of a recurrence: forward holds what its memory plan keeps, and backward runs the adjoint."""

    @staticmethod
    def forward(ctx, call, x, *tensors):
        recurrence, lengths, seed, count = call
        parameters, window = tensors[:count], tensors[count:]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, *tensors)
        ctx.parameters, ctx.states = len(parameters), len(window)
        ctx.held, y, after = recurrence.forward(
            _plain(parameters), _plain([x])[0], lengths, _plain(window), seed,
            any(p.requires_grad for p in parameters), x.requires_grad, any(w.requires_grad for w in window))
        return (torch.from_numpy(y), *(torch.from_numpy(state) for state in after))

    @staticmethod
    def backward(ctx, *outputs):
        inputs = ctx.saved_tensors  # raises where one was changed in place since, or where the graph is freed
        y, *window = [None if g is None else g.detach().contiguous() for g in outputs]
        if all(w is None for w in window):
            window = []
        release_waiting_threads()
        parameters, x, initial = ctx.held.backward(y, window)
        parameters = parameters or [None] * ctx.parameters
        initial = initial or [None] * ctx.states
        gradients = [None if g is None else torch.from_numpy(g) for g in (x, *parameters, *initial)]
        if torch.is_grad_enabled():  # create_graph=True
            gradients = _FirstDerivatives.apply(len(gradients), *gradients, *inputs, *outputs)
        return (None, *gradients)


class _FirstDerivatives(torch.autograd.Function):
    """Gradients that depend on the tensors behind them. Differentiating them again raises: as constants they would leave
    their part out of a sum without a word."""

    @staticmethod
    def forward(ctx, count, *tensors):
        return tuple(None if g is None else g.view_as(g) for g in tensors[:count])

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError("[torch] a recurrence has no second derivatives. Use central differences of the gradient, or "
                           "take the gradient that enters the loss from another module.")


def _plain(tensors: Sequence[Tensor]) -> List[Tensor]:
    """The tensors without their graphs, dense; in the same memory where they are dense already."""
    return [tensor.detach().contiguous() for tensor in tensors]


def _check(tensor: Any, dtype: Optional[torch.dtype], name: str) -> None:
    if not isinstance(tensor, Tensor) or tensor.device.type != "cpu":
        got = f"one on {tensor.device}" if isinstance(tensor, Tensor) else type(tensor).__name__
        raise InputError(f"[torch] {name} must be a tensor on the CPU. Got {got}.")
    if dtype is not None and tensor.dtype != dtype:
        raise InputError(f"[torch] {name} must be of the parameters' {dtype}. Got {tensor.dtype}.")


def _layers_of(layers: Any, options: Dict[str, Any]) -> List[Dict[str, Any]]:
    if isinstance(layers, str):
        return [{"cell": layers, **options}]
    if options:
        raise InputError(f"[torch] options as keywords go with a cell's name. Got {', '.join(options)}.")
    if isinstance(layers, dict):
        return [layers]
    return [{"cell": layer} if isinstance(layer, str) else layer for layer in layers]
