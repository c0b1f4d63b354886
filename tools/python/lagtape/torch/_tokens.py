"""Wraps results that wait for their backward pass in tensors: PyTorch graphs pass only tensors from forward to
backward."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np
import torch
from torch import Tensor


class _Token(np.ndarray):
    """An array with one number that owns an object. A tensor made from it keeps the array alive."""

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
    """The object behind a token, or None if only a copy of the tensor is left."""
    found = _tokens.get(int(token))
    return None if found is None else found.held
