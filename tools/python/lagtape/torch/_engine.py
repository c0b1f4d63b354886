"""Recurrences as functions of parameters, inputs and windows: for autograd, and as one operator for PyTorch graphs."""

from __future__ import annotations

import functools
import json
import os
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import Tensor

from .. import _lagtape
from .._cell import located
from .._errors import InputError
from ._autograd import Call, Recurrent, backward, evaluate, forward, is_transformed
from ._tokens import held_of, token_of

PRECISIONS = {torch.float32: "f32", torch.float64: "f64"}
DTYPES = {name: dtype for dtype, name in PRECISIONS.items()}


class Engine:
    """Layers for inputs of a given width, without parameter values, in each precision in which they are called.

    definition: {"cells", "model": {"layers"}}, as in an experiment. The rest is as in Recurrence.
    """

    def __init__(self, definition: Dict[str, Any], input_size: int, at: str, memory: Any, threads: Optional[int], dtype: torch.dtype):
        self.text = json.dumps({"cells": None, **definition, "input": input_size, "at": at, "memory": memory, "threads": threads})
        self._made: Dict[Any, _lagtape.Recurrence] = {}
        made = self.made(dtype)
        self.output_size: int = made.output_width
        self.parameters: List[Tuple[str, Tuple[int, ...], bool, float, float]] = made.parameters
        self.states: List[Tuple[int, int]] = [(steps, width) for _, (steps, _, width), _ in made.states]
        self.has_draws: bool = made.has_draws

    def made(self, dtype: torch.dtype) -> _lagtape.Recurrence:
        """The layers in a given precision, made once. Threads do not survive a fork, so each process makes its own."""
        key = (dtype, os.getpid())
        if key not in self._made:
            self._made[key] = _read(self.text, dtype)
        return self._made[key]

    def __call__(self, x: Tensor, parameters: List[Tensor], window: List[Tensor], lengths: Any = None, reset: Optional[Tensor] = None,
                 training: bool = False) -> Tuple[Tensor, Tuple[Tensor, ...]]:
        """The outputs, and the window after the last step. `training`: random draws are made, with PyTorch's generator."""
        seed = torch.randint(2**62, ()) if training and self.has_draws else None
        needed = [any(tensor.requires_grad for tensor in group) for group in (parameters, [x], window)]
        wanted = needed if torch.is_grad_enabled() else [False, False, False]
        if torch.compiler.is_compiling():
            lengths = torch.as_tensor(lengths) if lengths is not None else None
            y, *after, _ = torch.ops.lagtape.recurrence(self.text, x, parameters, window, lengths, reset, seed, wanted)
            return y, tuple(after)
        inputs = [x, *parameters, *window]
        if is_transformed(inputs):
            wanted = [True, True, bool(window)]
        call = Call(self.made(x.dtype), [] if lengths is None else [int(length) for length in lengths], reset,
                    None if seed is None else int(seed), wanted)
        y, *after = Recurrent.apply(call, *inputs) if any(wanted) else evaluate(call, x, parameters, window)
        return y, tuple(after)

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_made": {}}


def _read(text: str, dtype: torch.dtype) -> _lagtape.Recurrence:
    if dtype not in PRECISIONS:
        raise InputError(f"[torch] lagtape computes in float32 and float64. Got {dtype}.")
    given = json.loads(text)
    train = {"memory": given["memory"], "precision": PRECISIONS[dtype]}
    definition = json.dumps({"cells": given["cells"], "model": given["model"], "train": train})
    try:
        return _lagtape.read_recurrence(definition, given["input"], given["at"], given["threads"] or torch.get_num_threads())
    except InputError as error:
        raise located(error) from None


NO_SECOND_DERIVATIVES = ("[torch] the operator of compiled graphs has no second derivatives. Call the module itself: outside of "
                         "torch.compile it has derivatives of any order.")


# ---- the operator for graphs ----


@functools.lru_cache(maxsize=64)
def _known(text: str, dtype: torch.dtype, process: int) -> _lagtape.Recurrence:
    return _read(text, dtype)


def _call_of(text: str, x: Tensor, lengths: Optional[Tensor], reset: Optional[Tensor], seed: Optional[Tensor], wanted: List[bool]) -> Call:
    return Call(_known(text, x.dtype, os.getpid()), [] if lengths is None else lengths.tolist(), reset, None if seed is None else int(seed),
                wanted)


@torch.library.custom_op("lagtape::recurrence", mutates_args=())
def recurrence(text: str, x: Tensor, parameters: List[Tensor], window: List[Tensor], lengths: Optional[Tensor],
               reset: Optional[Tensor], seed: Optional[Tensor], wanted: List[bool]) -> List[Tensor]:
    """The outputs, the window after the last step, and a token for the values that the backward pass needs."""
    call = _call_of(text, x, lengths, reset, seed, wanted)
    if not any(wanted):
        return [*evaluate(call, x, parameters, window), torch.zeros(1, dtype=torch.int64)]
    return [*forward(call, x, parameters, window), token_of(call.held)]


@recurrence.register_fake
def _(text: str, x: Tensor, parameters: List[Tensor], window: List[Tensor], lengths: Any, reset: Any, seed: Any,
      wanted: List[bool]) -> List[Tensor]:
    refuse_tracing("a Recurrence")  # torch.onnx.export also traces when it turns the module's own check into a constant
    made = _known(text, x.dtype, os.getpid())
    shape = (x.shape[0], x.shape[1]) if json.loads(text)["at"] == "every_step" else (x.shape[0],)
    after = [x.new_empty((steps, x.shape[0], width), dtype=DTYPES[precision]) for _, (steps, _, width), precision in made.states]
    return [x.new_empty((*shape, made.output_width)), *after, x.new_empty((1,), dtype=torch.int64)]


@torch.library.custom_op("lagtape::recurrence_backward", mutates_args=())
def recurrence_backward(text: str, x: Tensor, parameters: List[Tensor], window: List[Tensor], lengths: Optional[Tensor],
                        reset: Optional[Tensor], seed: Optional[Tensor], wanted: List[bool], token: Tensor,
                        outputs: List[Optional[Tensor]]) -> List[Tensor]:
    """The requested gradients: of trained parameters, x, and the window."""
    held = held_of(token)
    if held is None:  # the graph kept only a copy of the token
        call = _call_of(text, x, lengths, reset, seed, wanted)
        forward(call, x, parameters, window)
        held = call.held
    of_parameters, of_x, of_window = backward(held, outputs)
    return [g for g in (*of_parameters, of_x, *of_window) if g is not None]


@recurrence_backward.register_fake
def _(text: str, x: Tensor, parameters: List[Tensor], window: List[Tensor], lengths: Any, reset: Any, seed: Any,  # type: ignore[no-redef]
      wanted: List[bool], token: Tensor, outputs: Any) -> List[Tensor]:
    trained = [p for p, row in zip(parameters, _known(text, x.dtype, os.getpid()).parameters) if row[2]]
    groups = zip(wanted, (trained, [x], window))
    return [torch.empty_like(tensor, memory_format=torch.contiguous_format) for is_wanted, group in groups if is_wanted for tensor in group]


def _set_up(ctx: Any, inputs: Any, output: Any) -> None:
    text, x, parameters, window, lengths, reset, seed, wanted = inputs
    ctx.set_materialize_grads(False)
    ctx.text, ctx.wanted, ctx.counts = text, wanted, (len(parameters), len(window))
    ctx.save_for_backward(x, lengths, reset, seed, output[-1], *parameters, *window)


def _differentiate(ctx: Any, outputs: Any) -> Any:
    x, lengths, reset, seed, token, *tensors = ctx.saved_tensors
    parameters, window = tensors[: ctx.counts[0]], tensors[ctx.counts[0] :]
    trained = [row[2] for row in _known(ctx.text, x.dtype, os.getpid()).parameters]
    given = iter(torch.ops.lagtape.recurrence_backward(ctx.text, x, parameters, window, lengths, reset, seed, ctx.wanted, token,
                                                       outputs[:-1]))
    of_parameters = [next(given) if ctx.wanted[0] and is_trained else None for is_trained in trained]
    of_x = next(given) if ctx.wanted[1] else None
    return None, of_x, of_parameters, list(given) if ctx.wanted[2] else [None] * len(window), None, None, None, None


def _refuse(ctx: Any, *_: Any) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVES)


recurrence.register_autograd(_differentiate, setup_context=_set_up)
recurrence_backward.register_autograd(_refuse)


# ---- checks ----


def under_autocast(tensor: Any, dtype: torch.dtype) -> Any:
    """Converts another layer's output from the precision of `torch.autocast` to that of the parameters, which lagtape
    uses."""
    if not isinstance(tensor, Tensor) or tensor.dtype not in (torch.bfloat16, torch.float16) or not torch.is_autocast_enabled("cpu"):
        return tensor
    return tensor.to(dtype)


def check(tensor: Any, dtype: Optional[torch.dtype], name: str) -> None:
    """Raises InputError unless this is a tensor that the engine can read."""
    if not isinstance(tensor, Tensor) or tensor.device.type != "cpu" or tensor.layout != torch.strided:
        got = type(tensor).__name__
        if isinstance(tensor, Tensor):
            got = f"one on {tensor.device}" if tensor.device.type != "cpu" else f"one of {tensor.layout}"
        raise InputError(f"[torch] {name} must be a dense tensor on the CPU. Got {got}.")
    if dtype is not None and tensor.dtype != dtype:
        raise InputError(f"[torch] {name} must be of the parameters' {dtype}. Got {tensor.dtype}.")


def check_reset(reset: Any, rows: int, steps: int) -> None:
    check(reset, None, "reset")
    if reset.dtype not in (torch.bool, torch.uint8) or tuple(reset.shape) != (rows, steps):
        raise InputError(f"[torch] reset must be a tensor of bool [B, T], here [{rows}, {steps}]. Got {reset.dtype} {list(reset.shape)}.")


def refuse_tracing(name: str) -> None:
    """Raises if this is being traced into a program that cannot contain the operator."""
    if torch.onnx.is_in_onnx_export():
        raise InputError(f"[torch] torch.onnx.export cannot write {name}. Write the ONNX file by lagtape: "
                         "lagtape.from_torch(module).save(\"m.safetensors\"), lagtape.export(\"m.safetensors\", \"onnx\", \"m.onnx\").")
    if torch.jit.is_tracing():
        raise InputError(f"[torch] torch.jit.trace cannot record {name}. Use torch.export, or lagtape.from_torch(module), whose model is "
                         "saved, streamed and exported to C and ONNX.")
