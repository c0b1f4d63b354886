"""Expressions of a step and of derived weights mean what NumPy means by the same text."""

import functools
import json

import numpy as np
import pytest

import lagtape as lt

SHAPES = {"s": [], "u": [1], "a": [3], "b": [3], "c": [2], "q": [4], "A": [2, 3], "B": [3, 2], "M": [3, 3], "N": [3, 3], "K": [2, 4],
          "C1": [2, 1], "r6": [6], "S": [2, 3, 4], "R": [2, 3, 3]}
EXPRESSIONS = """
a + b
a - s
a * A
A * a
A + c[:, None]
A + C1
C1 * a
A / b
S * q
S * K[:, None, :]
S + a[:, None]
S * c[:, None, None]
u * a
u * A
s * S
a ** 2
2 ** a
a ** -1
-a ** 2
-a
a ** 2 ** 1
(a + b) * (a - b)
a % 0.7
mod(a, 0.7)
a % b
5 % 3 * a
A @ a
a @ B
A @ B
A @ M
M @ a
M @ N
M @ N @ a
a @ b
a @ M @ b
A.T
A.T @ c
c @ A
M.T @ a
M @ M.T
S @ q
R @ a
R @ M
R @ B
einsum('ij,j->i', A, a)
einsum('ij,j->i', M, a)
einsum('hij,hj->hi', R, A)
einsum('ij,jk->ik', A, B)
einsum('ij->ji', A)
einsum('ii->i', M)
einsum('ii->', M)
einsum('i,j->ij', a, c)
einsum('i,i->', a, b)
einsum('hij,hkj->hik', R, R)
einsum('hij,j->hi', S, q)
a[0]
a[1:]
a[:2]
a[-1]
a[-2:]
a[::2]
a[::-1]
a[1:3]
a[:-1]
a[-3:-1]
A[0]
A[1]
A[-1]
A[:, 0]
A[:, -1]
A[0, 1]
A[:, 1:]
A[:, ::-1]
A[::-1]
A[::-1, ::2]
A[None]
a[None, :]
a[:, None]
a[None]
S[0]
S[:, 0]
S[:, :, 1]
S[0, 1]
S[1, 2, 3]
S[:, 1:, ::2]
S[..., 0]
A[..., None]
a[...]
S[-1, -1, -1]
M[0] * M[:, 0]
reshape(A, 6)
reshape(A, 3, 2)
reshape(r6, 2, 3)
reshape(r6, -1)
reshape(S, 2, 12)
reshape(S, -1, 4)
expand(a, 2, 3)
expand(c[:, None], 2, 3)
expand(s, 3)
sum(a)
sum(A)
sum(A, 0)
sum(A, 1)
sum(A, -1)
sum(A, axis=0)
sum(S, 1)
sum(S)
mean(a)
mean(A, 0)
mean(A)
mean(A, axis=1)
max(a)
max(A, 0)
max(A, 1)
min(A)
min(S, 1)
norm(a)
norm(A, 1)
norm(A)
logsumexp(a)
logsumexp(A, 0)
logsumexp(A)
softmax(a)
softmax(A)
softmax(A, 0)
softmax(S, 1)
cumsum(a)
cumsum(A)
cumsum(A, 0)
roll(a, 1)
roll(A, 1)
roll(A, -1, 0)
roll(a, 2)
clip(a, -0.5, 0.5)
clamp(a, 0, 1)
clip(a, -0.5, b)
silu(a)
sinc(a)
atan2(a, b)
atan2(a, A)
tanh(a)
sigmoid(A)
relu(a)
softplus(a)
exp(a)
abs(a)
sin(a) + cos(b)
atan(a)
maximum(a, b)
minimum(a, b)
maximum(a, b, 0)
maximum(a, A, s)
minimum(a, 0.1)
maximum(a, 0)
where(a > b, a, b)
where(a > 0, sqrt(abs(a)), 0)
where(A > a, A, a)
where(a > 0, 1, 0) * a
(a > b) * a
(a >= b) * a
(a < b) * a
(a <= b) * a
(a != b) * a
outer(a, c)
outer(a, b) + M
concat(a, c)
concat(a, s)
concat(a, c, q)
concat(A, M)
concat(A, K, 1)
concat(A, K, axis=1)
concat(S, R, axis=2)
concat(2 * a, c)
[1, 2, 3] * a
[[1, 0, 2], [0, 1, 3]] * a
[1, -2, 3] + a
[0.5] * a
a + [1, 2, 3]
[[1, 0], [0, 1]] @ c
tanh(A @ a + c) * sigmoid(A @ b)
real(complex(a, b) * complex(b, a))
imag(complex(a, b) * complex(b, a))
abs(complex(a, b))
angle(complex(a, b))
real(exp(complex(a, b)))
imag(exp(complex(a, b)))
real(log(complex(a, b)))
real(complex(a, b) / complex(b, a))
real(complex(a, b) ** 3)
imag(complex(A, A) @ complex(a, b))
real(conj(complex(a, b)) * complex(a, b))
real((2 + 3j) * a)
real(complex(A, 2 * A)[0] * complex(a, b))
real(sum(complex(A, 2 * A), 0))
imag(concat(complex(a, b), complex(b, a)))
imag(concat(complex(A, M[:2]), A, axis=1))
imag(complex(a, b)[:, None] * complex(c, c))
imag(einsum('ij,j->i', complex(A, 2 * A), complex(a, b)))
imag(outer(complex(a, b), complex(c, c)))
norm(complex(a, b))
abs(complex(a, 0))
imag(where(a > 0, complex(a, b), complex(b, a)))
exp(-exp(a)) * cos(exp(b))
real(exp(-exp(a) + 1j * exp(b)))
eye(3) @ a
arange(3) * a
zeros(3) + a
ones(2, 3) * a
a @ a[:, None]
(A @ a)[:, None] * a
(a)[0]
(A @ a)[-1]
a[0] * b
A[0] @ a
A[:, 0] @ c
M[1:] @ a
a[:1] * b
sum(a[:2] * b[1:])
mean(S, 0) @ q
max(a[:, None], 0)
tanh(S)[:, 0, :] * q
reshape(A, 3, 2) @ c
A[0][1]
1 / a
1e-3 * a
.5 * a
2. * a
a / 2
-(-a)
+a
a * -b
a - -b
sum((a + b) * maximum(a, b))
(A + A).T @ c
M @ M @ M
M @ (N @ a)
A @ B @ A
(M @ N).T
(M @ N)[0]
2 * (M @ N)
(M @ N) * a
M.T @ N
a[..., 0]
A[..., 0]
A[0, ...]
S[0, ..., 1]
S[..., None, :]
"""


def along(function):
    return lambda a, axis=None: function(a, axis=axis)


def exp_shifted(a, axis):
    return np.exp(a - np.max(a, axis, keepdims=True))


def joined(parts, axis):
    if axis is None and len(parts) > 2 and isinstance(parts[-1], int):
        *parts, axis = parts
    return np.concatenate([np.atleast_1d(one) for one in parts], axis or 0)


NUMPY = {
    **{name: getattr(np, name) for name in "abs arange cos einsum exp eye log mod outer reshape roll sin sinc sqrt sum mean tanh where clip".split()},
    **{name: along(getattr(np, name)) for name in ("max", "min", "sum", "mean")},
    "atan": np.arctan, "atan2": np.arctan2, "angle": np.angle, "conj": np.conj, "real": np.real, "imag": np.imag, "clamp": np.clip,
    "complex": lambda a, b: a + 1j * b, "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "relu": lambda a: np.maximum(a, 0),
    "softplus": lambda a: np.log1p(np.exp(a)), "silu": lambda a: a / (1 + np.exp(-a)), "softsign": lambda a: a / (1 + np.abs(a)),
    "norm": lambda a, axis=None: np.sqrt(np.sum(np.abs(a) ** 2, axis)), "cumsum": lambda a, axis=-1: np.cumsum(a, axis),
    "roll": lambda a, n, axis=-1: np.roll(a, n, axis), "softmax": lambda a, axis=-1: exp_shifted(a, axis) / exp_shifted(a, axis).sum(axis, keepdims=True),
    "logsumexp": lambda a, axis=None: np.log(np.sum(np.exp(a), axis)), "maximum": lambda *all: functools.reduce(np.maximum, all),
    "minimum": lambda *all: functools.reduce(np.minimum, all), "expand": lambda a, *shape: np.broadcast_to(a, np.ravel(shape)),
    "reshape": lambda a, *shape: np.reshape(a, np.ravel(shape)), "zeros": lambda *shape: np.zeros(np.ravel(shape)),
    "ones": lambda *shape: np.ones(np.ravel(shape)),
    "concat": lambda *parts, axis=None: joined(parts, axis),
}


def meant(text, values):
    with np.errstate(invalid="ignore"):
        return np.ravel(eval(text, {**NUMPY, **values}))


def given(lines, derived, folder):
    """The values of all lines in one cell, and its weights."""
    cell = {"weights": SHAPES, "state": {"st": 1}, "step": ["st' = 0 * st + sum(x)"] + [f"v{i} = reshape({line}, -1)" for i, line in enumerate(lines)]}
    names = [f"v{i}" for i in range(len(lines))]
    if derived:
        cell["step"], cell["derived"] = cell["step"][:1], {f"v{i}": f"reshape({line}, -1)" for i, line in enumerate(lines)}
        cell["weights"] = {name: shape for name, shape in SHAPES.items() if len(shape) < 3}
    while len(names) > 1:
        names = [f"concat({', '.join(names[i:i + 40])})" for i in range(0, len(names), 40)]
    sink = " + ".join(f"0 * sum({name})" for name in cell["weights"])
    cell["output"] = f"{names[0]} + 0 * st' + {sink}"
    size = sum(meant(line, {name: np.ones(shape) for name, shape in SHAPES.items()}).size for line in lines)
    experiment = {
        "name": "cell", "seed": 3,
        "data": {"task": "random", "length": 3, "input": 1, "output": size, "every_step": True, "train": 2, "valid": 0, "test": 0},
        "model": {"layers": [{"cell": "many", "units": 3}], "readout": "none"}, "cells": {"many": cell}, "loss": "mse",
        "optimizer": {"type": "sgd", "lr": 1e-9}, "train": {"epochs": 1, "batch": 2, "precision": "f64"}}
    model = lt.train(json.loads(json.dumps(experiment)), out=folder, progress=False).model()
    values = {}
    for key, value in model.parameters.items():
        group, _, number = key.removeprefix("layers.0.").rpartition(".")
        if group:
            values.setdefault(group, []).append(value)
        else:
            values[number] = np.asarray(value)
    return model.predict(np.zeros((1, 1)))[0], {name: np.asarray(value) for name, value in values.items()}


@pytest.mark.slow
@pytest.mark.parametrize("derived", [False, True])
def test_expressions_mean_what_numpy_means(derived, tmp_path):
    lines = [line for line in EXPRESSIONS.strip().split("\n")]
    if derived:
        lines = [line for line in lines if not any(name in line.replace("S(", "") for name in "SR")]
    got, values = given(lines, derived, tmp_path / "run")
    expected = [meant(line, values) for line in lines]
    begin = 0
    for line, want in zip(lines, expected):
        np.testing.assert_allclose(got[begin:begin + want.size], want, rtol=1e-10, atol=1e-12, err_msg=line)
        begin += want.size
    assert begin == got.size and len(lines) > 120
