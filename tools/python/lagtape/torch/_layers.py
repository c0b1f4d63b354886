"""LSTM, GRU and RNN: PyTorch's layers, computed by lagtape."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from .._errors import InputError
from ._engine import Engine, check, check_reset, refuse_tracing, under_autocast
from ._packed import unpack

#: The letters of lagtape's parameters, and PyTorch's names for them.
_PARTS = {"W": "weight_hh", "W.bias": "bias_hh", "U": "weight_ih", "U.bias": "bias_ih"}
_RELU = {"rnn_relu": {
    "weights": {"W": ["units", "units"], "W.bias": ["units"], "U": ["units", "input"], "U.bias": ["units"]},
    "state": {"h": "units"},
    "step": ["h' = relu((W @ h + W.bias) + (U @ x + U.bias))"],
    "output": "h'",
}}


class _Layers(nn.RNNBase):
    """The part shared by the three layers. The parameters are PyTorch's; the engine reads each gate's rows."""

    _gates = ""  # the last letters of lagtape's parameter names, in the order of PyTorch's rows
    _reference: Any = None  # PyTorch's own class

    def _set_up(self, cell: str, memory: Any, threads: Optional[int]) -> None:
        dtype = self.weight_ih_l0.dtype
        cells = _RELU if cell == "rnn_relu" else {}

        def engine(layers: int, input_size: int) -> Engine:
            stack: List[Any] = []
            for i in range(layers):
                if i > 0 and self.dropout > 0:
                    stack.append({"layer": "dropout", "rate": self.dropout})
                stack.append({"cell": cell, "units": self.hidden_size})
            return Engine({"model": {"layers": stack}, "cells": cells}, input_size, "every_step", memory, threads, dtype)

        self._order = []  # for each parameter of a layer: PyTorch's parameter, and which of its gates
        one = engine(1, self.input_size)
        for full, *_ in one.parameters:
            letter, _, rest = full.removeprefix("layers.0.").partition("_") if "_" in full else (full[9], "", self._gates + full[10:])
            self._order.append((letter + rest[1:], self._gates.index(rest[0])))
        # If unidirectional, all layers are one pass; if bidirectional, each layer reads both directions of the one below.
        if self.bidirectional:
            self._engines = [one] + [engine(1, 2 * self.hidden_size)] * (self.num_layers - 1)
        else:
            self._engines = [engine(self.num_layers, self.input_size)]
        self._states = len(self._engines[0].states) // (1 if self.bidirectional else self.num_layers)

    def flatten_parameters(self) -> None:
        """Does nothing, since parameters are read in place.

            >>> LSTM(2, 8).flatten_parameters()
        """

    def forward(self, input: Any, hx: Any = None, reset: Optional[Tensor] = None) -> Any:
        """Like PyTorch's forward, with `reset`, shaped like the input without its last axis: true at steps before which the
        states return to zero. A PackedSequence input gives a PackedSequence output.

            >>> layer, x = LSTM(2, 8), torch.randn(20, 3, 2)
            >>> begins = torch.zeros(20, 3, dtype=torch.bool)
            >>> begins[10] = True
            >>> y, states = layer(x, reset=begins)
            >>> torch.equal(y[10:], layer(x[10:])[0])
            True
        """
        name = type(self).__name__
        if isinstance(input, PackedSequence):
            if reset is not None:
                raise InputError(f"[torch] {name}: a PackedSequence has no reset.")
            x, lengths, pack = unpack(input)
            y, after = self._run(x, lengths, self._start(hx, len(x), True), None)
            return pack(y), self._hidden(after, True)
        if torch.onnx.is_in_onnx_export():
            return self._reference.forward(self, input, hx)
        refuse_tracing(name)
        input = under_autocast(input, self.weight_ih_l0.dtype)
        check(input, self.weight_ih_l0.dtype, "input")
        if input.dim() not in (2, 3) or input.shape[-1] != self.input_size or input.numel() == 0:
            raise InputError(f"[torch] {name}: the input is [{'B, T' if self.batch_first else 'T, B'}, {self.input_size}] or "
                             f"[T, {self.input_size}]. Got {list(input.shape)}.")
        batched = input.dim() == 3
        turned = batched and not self.batch_first
        x = input.transpose(0, 1) if turned else input if batched else input.unsqueeze(0)
        if reset is not None:
            check(reset, None, "reset")
            reset = reset.transpose(0, 1) if turned and reset.dim() == 2 else reset if batched else reset.unsqueeze(0)
            check_reset(reset, *x.shape[:2])
        y, after = self._run(x, None, self._start(hx, x.shape[0], batched), reset)
        return y.transpose(0, 1) if turned else y if batched else y.squeeze(0), self._hidden(after, batched)

    def _start(self, hx: Any, rows: int, batched: bool) -> List[Tensor]:
        """The initial states, [layers x directions, B, units] each; an empty list means zeros."""
        if hx is None:
            return []
        states = [under_autocast(state, self.weight_ih_l0.dtype) for state in ([hx] if isinstance(hx, Tensor) else hx)]
        directions = 2 if self.bidirectional else 1
        shape = (self.num_layers * directions, *([rows] if batched else []), self.hidden_size)
        for state in states:
            check(state, self.weight_ih_l0.dtype, "a first state")
        if [tuple(state.shape) for state in states] != [shape] * self._states:
            raise InputError(f"[torch] {type(self).__name__}: the first states are {self._states} of {list(shape)}. "
                             f"Got {', '.join(str(list(state.shape)) for state in states)}.")
        return states if batched else [state.unsqueeze(1) for state in states]

    def _hidden(self, after: List[Tensor], batched: bool) -> Any:
        states = after if batched else [state.squeeze(1) for state in after]
        return tuple(states) if self._states > 1 else states[0]

    def _run(self, x: Tensor, lengths: Optional[Tensor], start: List[Tensor], reset: Optional[Tensor]) -> Tuple[Tensor, List[Tensor]]:
        """Outputs [B, T, directions x units] for x [B, T, width], and the final states in the form that `_start` returns."""
        after: List[List[Tensor]] = [[] for _ in range(self._states)]
        if not self.bidirectional:
            names = [f"_l{layer}" for layer in range(self.num_layers)]
            window = [state[layer : layer + 1] for layer in range(self.num_layers) for state in start]
            x, found = self._engines[0](x, self._values(names), window, lengths, reset, self.training)
            for i, state in enumerate(found):
                after[i % self._states].append(state)
            return x, [torch.cat(states) for states in after]
        for layer, engine in enumerate(self._engines):
            if layer > 0:
                x = nn.functional.dropout(x, self.dropout, self.training)
            both = []
            for direction, name in enumerate((f"_l{layer}", f"_l{layer}_reverse")):
                turn = _turned_back if direction else _as_it_is
                place = 2 * layer + direction
                own = None if reset is None else _reset_of_reversed(reset) if direction else reset
                y, found = engine(turn(x, lengths), self._values([name]), [state[place : place + 1] for state in start], lengths, own)
                both.append(turn(y, lengths))
                for i, state in enumerate(found):
                    after[i].append(state)
            x = torch.cat(both, 2)
        return x, [torch.cat(states) for states in after]

    def _values(self, names: List[str]) -> List[Tensor]:
        """The parameters in the engine's order, where they are named layers.0.W_i, layers.0.W_i.bias, ..."""
        values = []
        for name in names:
            zeros = None if self.bias else self.weight_hh_l0.new_zeros(len(self._gates) * self.hidden_size)
            parts: Dict[str, Any] = {kind: getattr(self, stem + name) if stem[0] == "w" or self.bias else zeros for kind, stem in _PARTS.items()}
            gates = {kind: part.chunk(len(self._gates)) for kind, part in parts.items()}
            values += [gates[kind][gate] for kind, gate in self._order]
        return values


def _as_it_is(x: Tensor, lengths: Optional[Tensor]) -> Tensor:
    return x


def _turned_back(x: Tensor, lengths: Optional[Tensor]) -> Tensor:
    """Reverses each row's own steps."""
    if lengths is None:
        return x.flip(1)
    steps = torch.arange(x.shape[1])
    last = lengths.unsqueeze(1) - 1
    order = torch.where(steps <= last, last - steps, steps)
    return x.gather(1, order.unsqueeze(2).expand(x.shape))


def _reset_of_reversed(reset: Tensor) -> Tensor:
    """Where states start again in the reverse direction: after the first step of an episode."""
    return torch.cat([torch.zeros_like(reset[:, :1]), reset.flip(1)[:, :-1]], 1)


def _refuse_projection(name: str, proj_size: int) -> None:
    if proj_size != 0:
        raise InputError(f"[torch] {name}: proj_size is not supported. Got {proj_size}; use torch.nn.LSTM, or a Linear after the layer.")


class LSTM(_Layers):
    """torch.nn.LSTM computed by lagtape: the same arguments, parameters, state_dict and results, on the CPU.

    Additional arguments: memory and threads, as in Recurrence. proj_size is not supported. PyTorch's layer exports ONNX.

        >>> layer = LSTM(2, 8, num_layers=2, batch_first=True)
        >>> y, (h, c) = layer(torch.zeros(3, 20, 2))               # [B, T, input_size]
        >>> y.shape, h.shape, c.shape
        (torch.Size([3, 20, 8]), torch.Size([2, 3, 8]), torch.Size([2, 3, 8]))
    """

    _gates, _reference = "ifgo", nn.LSTM
    # Methods that PyTorch's own forward calls, for two states.
    get_expected_cell_size, check_forward_args, permute_hidden = (  # type: ignore[assignment]
        nn.LSTM.get_expected_cell_size, nn.LSTM.check_forward_args, nn.LSTM.permute_hidden)

    def __init__(self, *args: Any, memory: Any = "auto", threads: Optional[int] = None, **options: Any):
        _refuse_projection("LSTM", args[7] if len(args) > 7 else options.get("proj_size", 0))
        super().__init__("LSTM", *args, **options)
        self._set_up("lstm", memory, threads)


class GRU(_Layers):
    """torch.nn.GRU computed by lagtape, like LSTM.

        >>> y, h = GRU(2, 8, bidirectional=True)(torch.zeros(20, 3, 2))        # [T, B, input_size]
        >>> y.shape, h.shape
        (torch.Size([20, 3, 16]), torch.Size([2, 3, 8]))
    """

    _gates, _reference = "rzn", nn.GRU

    def __init__(self, *args: Any, memory: Any = "auto", threads: Optional[int] = None, **options: Any):
        _refuse_projection("GRU", options.get("proj_size", 0))
        super().__init__("GRU", *args, **options)
        self._set_up("gru", memory, threads)


class RNN(_Layers):
    """torch.nn.RNN computed by lagtape, like LSTM; nonlinearity is "tanh" or "relu".

        >>> y, h = RNN(2, 8, nonlinearity="relu")(torch.zeros(20, 3, 2))
        >>> y.shape
        torch.Size([20, 3, 8])
    """

    _gates, _reference = "h", nn.RNN

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", *args: Any,
                 memory: Any = "auto", threads: Optional[int] = None, **options: Any):
        _refuse_projection("RNN", options.get("proj_size", 0))
        if nonlinearity not in ("tanh", "relu"):
            raise InputError(f"[torch] RNN: nonlinearity is 'tanh' or 'relu'. Got {nonlinearity!r}.")
        super().__init__("RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU", input_size, hidden_size, num_layers, *args, **options)
        self.nonlinearity = nonlinearity
        self._set_up("rnn" if nonlinearity == "tanh" else "rnn_relu", memory, threads)
