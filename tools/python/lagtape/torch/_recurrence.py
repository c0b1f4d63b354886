"""Recurrence: lagtape layers as a module."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from .._arguments import Path
from .._cell import Cell, with_cells
from .._errors import InputError
from ._engine import DTYPES, Engine, check, check_reset, refuse_tracing, under_autocast
from ._packed import unpack

Window = Tuple[Tensor, ...]


class Recurrence(nn.Module):
    """Recurrent layers over time: the outputs of the top layer, and the window of states after the last step.

    layers: an @lagtape.cell or a cell's name, with its options as keywords; a layer as in an experiment, {"cell": "lem",
        "units": 64}; or a list of layers from the input up. Layers that operate on whole sequences (embedding,
        batch_norm, bidirectional) are not supported.
    input_size: the size of x at a step.
    at: the outputs to return: "every_step" [B, T, units], "last_step" (each sequence's own last) or "mean" (over its
        own steps), both [B, units].
    cells: cells defined by equations, {name: definition}, as in an experiment. Not needed for an @lagtape.cell.
    memory: the values kept from forward to backward: "auto", "full", "states", "checkpoint", "reversible", or
        {"plan": "auto", "budget": "64MiB"}. Affects only time and memory, not results.
    threads: by default as many as PyTorch uses.
    seed: for the parameters' initial values; by default drawn from PyTorch's generator.
    dtype: torch.float32 or torch.float64; by default PyTorch's default.

    Parameters are named as in a weights file: layers.0.W1, layers.0.W1.bias, ... A recurrence can be converted to
    another precision, copied and pickled. It supports derivatives of any order, forward mode (jvp) and vmap. Raises
    InputError.

        >>> recurrence = Recurrence("tau_gru", 2, units=8, tau=5)
        >>> y, window = recurrence(torch.zeros(3, 20, 2))          # x [B, T, input_size]
        >>> y.shape, [state.shape for state in window]
        (torch.Size([3, 20, 8]), [torch.Size([6, 3, 8])])
    """

    def __init__(
        self,
        layers: Union[str, Cell, Dict[str, Any], Sequence[Union[str, Cell, Dict[str, Any]]]],
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
        self.normalization: Optional[Dict[str, Any]] = None  # from the run it was made from
        self.input_size, self.at, self.memory, self.threads = input_size, at, memory, threads
        dtype = dtype or torch.get_default_dtype()
        self.engine = Engine(self.definition, input_size, at, memory, threads, dtype)
        self.output_size: int = self.engine.output_size
        self.names: List[str] = [name for name, *_ in self.engine.parameters]
        for name, _, trained, *_ in self.engine.parameters:
            holder, leaf = self._holder(name, make=True)
            value = torch.empty(0, dtype=dtype)
            if trained:
                holder._parameters[leaf] = nn.Parameter(value)
            else:
                holder._buffers[leaf] = value
        self._bounds = {name: (low, high) for name, _, _, low, high in self.engine.parameters
                        if (low, high) != (float("-inf"), float("inf"))}
        self.reset_parameters(seed)

    def reset_parameters(self, seed: Optional[int] = None) -> None:
        """Redraws the initial values: those of a lagtape model with this seed.

            >>> recurrence = Recurrence("gru", 2, units=8)
            >>> recurrence.reset_parameters(seed=1)
        """
        if seed is None:
            seed = int(torch.randint(2**62, ()))
        values = self._values()
        for value, first in zip(values, self.engine.made(values[0].dtype).first_values(seed) if values else []):
            value.data = torch.from_numpy(first)

    def forward(
        self,
        x: Union[Tensor, PackedSequence],
        lengths: Optional[Sequence[int]] = None,
        window: Optional[Sequence[Tensor]] = None,
        reset: Optional[Tensor] = None,
    ) -> Tuple[Union[Tensor, PackedSequence], Window]:
        """The outputs and the window after each sequence's own last step.

        x: [B, T, input_size] in the parameters' dtype, or a PackedSequence; if `at` is "every_step", its output is one too.
        lengths: [B], each in 1 .. T, the number of valid steps per row; outputs beyond them are zeros. window: the states
        before the first step, as returned by an earlier call; zeros by default. It has one tensor [history + 1, B, width]
        per state, the oldest value first, in float64 for a state on the grid. reset: [B, T], true at steps before which a
        row's states return to zero, as at the start of an episode. Raises InputError for wrong shapes and precisions.

            >>> recurrence, x = Recurrence("gru", 2, units=8), torch.randn(3, 20, 2)
            >>> first, window = recurrence(x[:, :12])
            >>> rest, window = recurrence(x[:, 12:], window=window)
            >>> torch.equal(torch.cat([first, rest], 1), recurrence(x)[0])
            True
        """
        if isinstance(x, PackedSequence):
            if lengths is not None:
                raise InputError("[torch] a PackedSequence has its own lengths. Got others beside it.")
            x, lengths, pack = unpack(x)
            y, after = self.forward(x, lengths, window, reset)
            return pack(y) if self.at == "every_step" else y, after
        refuse_tracing("a Recurrence")
        values = self._values()
        if values:
            x = under_autocast(x, values[0].dtype)
        check(x, values[0].dtype if values else None, "x")
        values = self._within_bounds(values)
        given = [] if window is None else list(window)
        for state in given:
            check(state, None, "window")
        if reset is not None:
            check_reset(reset, *x.shape[:2])
        return self.engine(x, values, given, lengths, reset, self.training)

    @classmethod
    def from_run(cls, run: Any, readout: bool = False, **options: Any) -> Any:
        """Loads the layers of a run, a weights file or a model; with `readout`, also its read-out, an nn.Linear.

        options: memory, threads. x and outputs are normalized; `normalization` contains the run's means and scales (None if
        there are none), and `save` writes it. Raises InputError if a run has more than layers and a read-out.

            >>> recurrence, head = Recurrence.from_run("run", readout=True)
            >>> head(recurrence(torch.zeros(1, 5, recurrence.input_size))[0]).shape
            torch.Size([1, 5, 1])
        """
        from ._convert import recurrence_of

        made = recurrence_of(run, options)
        return made if readout else made[0]

    def save(self, path: Path, *, readout: Optional[nn.Module] = None, loss: Any = "mse",
             normalization: Optional[Mapping[str, Any]] = None) -> None:
        """Writes a weights file, as training does, which `lagtape.load` and every command can read. The arguments are
        those of lagtape.from_torch, which returns the same model. Raises InputError.

            >>> Recurrence("gru", 1, units=8).save("saved.safetensors", readout=torch.nn.Linear(8, 1))
            >>> lagtape.load("saved.safetensors").predict(np.zeros((1, 5, 1), np.float32)).shape
            (1, 5, 1)
        """
        from ._convert import from_torch

        from_torch(self, readout=readout, loss=loss, normalization=normalization or self.normalization).save(path)

    def zero_window(self, batch: int) -> Window:
        """The window before the first step for `batch` sequences: zeros, [history + 1, batch, width] per state.

            >>> [state.shape for state in Recurrence("lem", 1, units=4).zero_window(2)]
            [torch.Size([1, 2, 4]), torch.Size([1, 2, 4])]
        """
        values = self._values()
        dtype = values[0].dtype if values else torch.get_default_dtype()
        return tuple(torch.zeros(steps, batch, width, dtype=DTYPES[precision])
                     for _, (steps, _, width), precision in self.engine.made(dtype).states)

    def extra_repr(self) -> str:
        layers = ", ".join(str(layer.get("cell", layer.get("layer"))) for layer in self.definition["model"]["layers"])
        return f"{self.input_size} -> {layers} -> {self.output_size}, at={self.at!r}, memory={self.memory!r}"

    def _holder(self, name: str, make: bool = False) -> Tuple[nn.Module, str]:
        """The module that holds a parameter (one per layer, and per layer inside a layer), and its name there."""
        module: nn.Module = self
        prefix, _, rest = name.partition(".")
        while True:
            if make and prefix not in module._modules:
                module.add_module(prefix, _Layer())
            module = module._modules[prefix]
            number, _, after = rest.partition(".")
            if not number.isdigit():
                return module, rest.replace(".", "__")
            prefix, rest = number, after

    def _values(self) -> List[Tensor]:
        values = []
        for name in self.names:
            holder, leaf = self._holder(name)
            values.append(holder._parameters[leaf] if leaf in holder._parameters else holder._buffers[leaf])
        return values

    def _within_bounds(self, values: List[Tensor]) -> List[Tensor]:
        """Sets values that an optimizer moved out of bounds to the bound, as in lagtape's own training. A graph does
        not change parameters: it uses the clipped values."""
        for i, (name, *_, low, high) in enumerate(self.engine.parameters):
            if name not in self._bounds:
                continue
            if torch.compiler.is_compiling():
                values[i] = values[i] + (values[i].clamp(low, high) - values[i]).detach()
            elif ((values[i] < low) | (values[i] > high)).any():
                values[i].data.clamp_(low, high)
        return values


class _Layer(nn.Module):
    """The parameters of a layer. A state_dict uses the names from a weights file, W1 and W1.bias. The attribute is called
    W1__bias because torch.export treats a dotted name as a submodule."""

    def _save_to_state_dict(self, destination: Dict[str, Any], prefix: str, keep_vars: bool) -> None:
        own: Dict[str, Tensor] = {}
        super()._save_to_state_dict(own, "", keep_vars)
        for name, value in own.items():
            destination[prefix + name.replace("__", ".")] = value

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing: List[str],
                              unexpected: List[str], errors: List[str]) -> None:
        names = {name.replace("__", "."): name for name in {**self._parameters, **self._buffers}}
        own = {key[len(prefix) :]: value for key, value in state_dict.items() if key.startswith(prefix)}
        not_found: List[str] = []
        renamed = {prefix + names.get(key, key): value for key, value in own.items()}
        super()._load_from_state_dict(renamed, prefix, local_metadata, strict, not_found, unexpected, errors)
        missing += [prefix + key[len(prefix) :].replace("__", ".") for key in not_found]


def _layers_of(layers: Any, options: Dict[str, Any]) -> List[Dict[str, Any]]:
    if isinstance(layers, (str, Cell)):
        return [{"cell": layers, **options}]
    if options:
        raise InputError(f"[torch] options as keywords go with a cell or its name. Got {', '.join(options)}.")
    if isinstance(layers, dict):
        return [layers]
    return [{"cell": layer} if isinstance(layer, (str, Cell)) else layer for layer in layers]
