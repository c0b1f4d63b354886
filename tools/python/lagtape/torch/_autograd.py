"""A recurrence's passes for autograd: gradients of any order, forward mode, and torch.func transforms.

If J is a recurrence's derivative, its backward pass is J^T v. Differentiating that again uses the recurrence's
tangent: J u, as a recurrence itself (cells/models/recurrence.h). J u is the derivative of J^T v with respect to v, and
the gradient of v . J u is the derivative with respect to everything else."""

from __future__ import annotations

from typing import Any, Iterable, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .._openmp import release_waiting_threads

Gradients = Tuple[List[Optional[Tensor]], Optional[Tensor], List[Optional[Tensor]]]


class Call:
    """A recurrence with all arguments of a call except differentiable tensors. Between the forward and the backward
    pass it holds the values that the memory plan keeps. `wanted`: gradients with respect to parameters, x, window."""

    __slots__ = ("made", "lengths", "reset", "seed", "wanted", "held")

    def __init__(self, made: Any, lengths: Sequence[int], reset: Optional[Tensor], seed: Optional[int], wanted: Sequence[bool]):
        self.made, self.lengths, self.reset, self.seed, self.wanted = made, lengths, reset, seed, wanted
        self.held: Any = None

    def again(self) -> "Call":
        """The same call for other tensors."""
        return Call(self.made, self.lengths, self.reset, self.seed, self.wanted)

    def tangent(self) -> "Call":
        """The same call for the derivative in a direction."""
        return Call(self.made.tangent(), self.lengths, self.reset, self.seed, [True, True, self.wanted[2]])

    def split(self, inputs: Sequence[Any]) -> Tuple[Any, List[Any], List[Any]]:
        """Splits [x, *parameters, *window] into x, parameters and window."""
        count = 1 + len(self.made.parameters)
        return inputs[0], list(inputs[1:count]), list(inputs[count:])

    def places(self, window: int) -> List[int]:
        """The indices in [x, *parameters, *window] of tensors that have a gradient."""
        parameters = self.made.parameters
        has = [self.wanted[1], *(row[2] and self.wanted[0] for row in parameters), *[self.wanted[2]] * window]
        return [place for place, is_wanted in enumerate(has) if is_wanted]


# ---- the engine's passes on plain tensors ----


def evaluate(call: Call, x: Tensor, parameters: Sequence[Tensor], window: Sequence[Tensor]) -> List[Tensor]:
    release_waiting_threads()
    y, after = call.made.evaluate(_plain(parameters), _plain([x])[0], call.lengths, _plain(window), call.seed, _mask(call.reset))
    return [torch.from_numpy(array) for array in (y, *after)]


def forward(call: Call, x: Tensor, parameters: Sequence[Tensor], window: Sequence[Tensor]) -> List[Tensor]:
    """Returns the results; the call holds what the backward pass needs."""
    release_waiting_threads()
    call.held, y, after = call.made.forward(_plain(parameters), _plain([x])[0], call.lengths, _plain(window), call.seed, _mask(call.reset),
                                            *call.wanted)
    return [torch.from_numpy(array) for array in (y, *after)]


def backward(held: Any, outputs: Sequence[Optional[Tensor]]) -> Gradients:
    """The gradients of the parameters, of x and of the window; unwanted ones are missing or None."""
    y, *window = [None if g is None else _plain([g])[0] for g in outputs]
    release_waiting_threads()
    parameters, x, initial = held.backward(y, [] if all(w is None for w in window) else window)
    return [_tensor(g) for g in parameters], _tensor(x), [_tensor(g) for g in initial]


def _plain(tensors: Sequence[Tensor]) -> List[Tensor]:
    """The tensors, dense and without their graphs; not copied if already dense."""
    if any(map(torch._C._functorch.is_legacy_batchedtensor, tensors)):
        raise RuntimeError("[torch] is_grads_batched=True and vectorize=True are not supported. Leave them out, or use torch.func (vmap, jacrev, "
                           "hessian).")
    return [tensor.detach().contiguous() for tensor in tensors]


def _tensor(array: Any) -> Optional[Tensor]:
    return None if array is None else torch.from_numpy(array)


def _mask(reset: Optional[Tensor]) -> Optional[Tensor]:
    return None if reset is None else reset.detach().to(torch.uint8).contiguous()


# ---- autograd functions ----


def is_transformed(tensors: Iterable[Tensor]) -> bool:
    """Whether tensors carry more than a graph: forward-mode tangents, or torch.func levels."""
    if torch._C._are_functorch_transforms_active():
        return True
    return torch.autograd.forward_ad._current_level >= 0 and any(torch.autograd.forward_ad.unpack_dual(t).tangent is not None for t in tensors)


class Recurrent(torch.autograd.Function):
    """Maps (call, x, *parameters, *window) to the outputs and the final window."""

    @staticmethod
    def forward(call: Call, *inputs: Tensor) -> Tuple[Tensor, ...]:
        return tuple(forward(call, *call.split(inputs)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.call, *tensors = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *outputs: Optional[Tensor]) -> Tuple[Any, ...]:
        inputs = ctx.saved_tensors  # raises if one has changed in place, or if the graph was freed
        call = ctx.call
        if torch.is_grad_enabled() or torch._C._are_functorch_transforms_active():
            return None, *_gradients(call, inputs, outputs)
        _, parameters, window = call.split(inputs)
        of_parameters, of_x, of_window = backward(call.held, outputs)
        return None, of_x, *(of_parameters or [None] * len(parameters)), *(of_window or [None] * len(window))

    @staticmethod
    def jvp(ctx: Any, _: Any, *directions: Optional[Tensor]) -> Tuple[Tensor, ...]:
        with _outer_forward_modes():
            return tuple(_Tangent(ctx.call, _without_tangents(ctx.saved_tensors), directions).of_results())

    @staticmethod
    def vmap(info: Any, in_dims: Any, call: Call, *inputs: Any) -> Any:
        rows = [Recurrent.apply(call.again(), *_row(inputs, in_dims[1:], i)) for i in range(info.batch_size)]
        return _stacked(rows)


class _Gradients(torch.autograd.Function):
    """The gradients of the `inputs` selected by call.places, given those of the results. Arguments: (call, number of
    inputs, *inputs, *gradients)."""

    @staticmethod
    def forward(call: Call, count: int, *tensors: Any) -> Tuple[Tensor, ...]:
        inputs = tensors[:count]
        if call.held is None:
            forward(call, *call.split(inputs))
        of_parameters, of_x, of_window = backward(call.held, tensors[count:])
        return tuple(g for g in (of_x, *of_parameters, *of_window) if g is not None)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.call, ctx.count, *tensors = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *found: Optional[Tensor]) -> Tuple[Any, ...]:
        inputs, outputs = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
        directions: List[Optional[Tensor]] = [None] * ctx.count
        for place, direction in zip(ctx.call.places(_states(ctx.call, inputs)), found):
            directions[place] = direction
        tangent = _Tangent(ctx.call, inputs, directions)
        changes = [change if g is not None else None for g, change in zip(outputs, tangent.of_results())]
        return None, None, *tangent.gradients([None] * len(outputs), outputs), *changes

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *directions: Optional[Tensor]) -> Tuple[Any, ...]:
        with _outer_forward_modes():
            tensors = _without_tangents(ctx.saved_tensors)
            inputs, outputs = tensors[: ctx.count], tensors[ctx.count :]
            found = _Tangent(ctx.call, inputs, directions[: ctx.count]).gradients(directions[ctx.count :], outputs)
            return tuple(found[place] for place in ctx.call.places(_states(ctx.call, inputs)))

    @staticmethod
    def vmap(info: Any, in_dims: Any, call: Call, count: int, *tensors: Any) -> Any:
        is_same = all(dim is None for dim in in_dims[2 : 2 + count])
        rows = [_Gradients.apply(call if is_same else call.again(), count, *_row(tensors, in_dims[2:], i)) for i in range(info.batch_size)]
        return _stacked(rows)


def _gradients(call: Call, inputs: Sequence[Tensor], outputs: Sequence[Optional[Tensor]]) -> List[Optional[Tensor]]:
    """The gradients of all inputs (None if an input has none), as functions of the inputs and the results' gradients."""
    gradients: List[Optional[Tensor]] = [None] * len(inputs)
    if any(g is not None for g in outputs):
        for place, gradient in zip(call.places(_states(call, inputs)), _Gradients.apply(call, len(inputs), *inputs, *outputs)):
            gradients[place] = gradient
    return gradients


class _Tangent:
    """A call's tangent at inputs, in directions; None means zero."""

    def __init__(self, call: Call, inputs: Sequence[Tensor], directions: Sequence[Optional[Tensor]]):
        x, parameters, window = call.split(inputs)
        self.call, self.inputs = call.tangent(), list(inputs)
        of_x, of_parameters, of_window = call.split([_or_zeros(d, like) for d, like in zip(directions, inputs)])
        self.width, self.outputs = x.shape[-1], call.made.output_width
        states = [state.to(x.dtype) for state in _woven(window, of_window)]  # states on the grid are in float64
        self.moving = [torch.cat([x, of_x], -1), *_woven(parameters, of_parameters), *states]
        self.results = Recurrent.apply(self.call, *self.moving)
        self.grid = [torch.float64 if precision == "f64" else torch.float32 for _, _, precision in call.made.states]

    def of_results(self) -> List[Tensor]:
        """The derivatives of the results in the directions."""
        y, *after = self.results
        return [y[..., self.outputs :], *(state.to(dtype) for state, dtype in zip(after[1::2], self.grid))]

    def gradients(self, of_results: Sequence[Optional[Tensor]], of_changes: Sequence[Optional[Tensor]]) -> List[Optional[Tensor]]:
        """The gradients of all inputs, given those of the results and of their directional derivatives."""
        like = self.results
        (y, *after), (dy, *dafter) = of_results, of_changes
        if y is None and dy is None:
            both = None
        else:
            zeros = like[0][..., : self.outputs]
            both = torch.cat([_or_zeros(y, zeros), _or_zeros(dy, zeros)], -1)
        states = [None if g is None else g.to(like[0].dtype) for g in _woven(after, dafter)]
        of_x, of_parameters, of_window = self.call.split(_gradients(self.call, self.moving, [both, *states]))
        found = [None if of_x is None else of_x[..., : self.width], *of_parameters[::2], *of_window[::2]]
        return [None if g is None else g.to(to.dtype) for g, to in zip(found, self.inputs)]


def _outer_forward_modes() -> Any:
    """PyTorch turns off all forward modes around a forward-mode rule; this turns those of outer torch.func levels
    back on."""
    return torch.autograd.forward_ad._set_fwd_grad_enabled(torch._C._are_functorch_transforms_active())


def _without_tangents(tensors: Sequence[Any]) -> List[Any]:
    """Tensors without the tangents of the innermost level."""
    if not torch._C._are_functorch_transforms_active():
        return list(tensors)
    return [None if tensor is None else torch.autograd.forward_ad.unpack_dual(tensor).primal for tensor in tensors]


def _states(call: Call, inputs: Sequence[Tensor]) -> int:
    return len(inputs) - 1 - len(call.made.parameters)


def _or_zeros(tensor: Optional[Tensor], like: Tensor) -> Tensor:
    return torch.zeros_like(like) if tensor is None else tensor


def _woven(tensors: Sequence[Any], directions: Sequence[Any]) -> List[Any]:
    return [each for pair in zip(tensors, directions) for each in pair]


def _row(tensors: Sequence[Any], dims: Sequence[Optional[int]], i: int) -> List[Any]:
    return [tensor if dim is None else tensor.select(dim, i) for tensor, dim in zip(tensors, dims)]


def _stacked(rows: List[Tuple[Tensor, ...]]) -> Tuple[Tuple[Tensor, ...], Tuple[int, ...]]:
    stacked = tuple(torch.stack(column) for column in zip(*rows))
    return stacked, (0,) * len(stacked)
