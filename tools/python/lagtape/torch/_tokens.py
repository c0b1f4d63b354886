"""Results that wait for their backward pass, as tensors: graphs of PyTorch pass only tensors from one half to the
other."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np
import torch
from torch import Tensor


class _Token(np.ndarray):
    """A number in an array that owns its object. The memory of a tensor made of it lives as long as the array."""

    held: Any


_numbers = itertools.count(1)
_tokens: "weakref.WeakValueDictionary[int, _Token]" = weakref.WeakValueDictionary()


def token_of(held: Any) -> Tensor:
    """A tensor that owns `held`, so that both are freed together."""
    token = np.array([next(_numbers)]).view(_Token)
    token.held = held
    _tokens[int(token[0])] = token
    return torch.from_numpy(token)


def held_of(token: Tensor) -> Any:
    """The object of a token; None where only a copy of the tensor is left."""
    found = _tokens.get(int(token))
    return None if found is None else found.held
