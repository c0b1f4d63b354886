"""Writes numpy_golden.inc.h: what NumPy gives for expressions that a step writes alike. Run in this folder, with NumPy."""

import numpy as np


def operand(shape, phase):
    return np.sin(1.3 * np.arange(np.prod(shape)) + phase).reshape(shape)


A, S, T = operand((2, 3), 0), operand((3, 3), 1), operand((2, 2, 3), 2)
v, g, W, R = operand(3, 3), operand(2, 4), operand((3, 3), 5), operand((2, 2, 3), 6)


def softmax(a, axis=-1):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


names = {
    "A": A, "S": S, "T": T, "v": v, "g": g, "W": W, "R": R, "None": None,
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "where": np.where, "roll": np.roll, "cumsum": np.cumsum,
    "clip": np.clip, "sinc": np.sinc, "outer": np.outer, "einsum": np.einsum, "exp": np.exp, "log": np.log, "abs": np.abs,
    "maximum": lambda *a: np.maximum.reduce(np.broadcast_arrays(*a)), "minimum": lambda *a: np.minimum.reduce(np.broadcast_arrays(*a)),
    "reshape": lambda a, *n: np.reshape(a, n), "expand": lambda a, *n: np.broadcast_to(a, n), "transpose": np.transpose,
    "concat": lambda *a, axis=0: np.concatenate([np.atleast_1d(b) for b in a], axis), "softmax": softmax,
    "logsumexp": lambda a, axis=None: np.log(np.sum(np.exp(a), axis)), "norm": lambda a, axis=None: np.sqrt(np.sum(a * a, axis)),
    "silu": lambda a: a / (1 + np.exp(-a)), "softsign": lambda a: a / (1 + np.abs(a)),
    "atan": np.arctan, "atan2": np.arctan2, "complex": lambda a, b: a + 1j * b, "real": np.real, "imag": np.imag, "conj": np.conj,
    "angle": np.angle, "sqrt": np.sqrt, "stop": lambda a: a, "surrogate": lambda a, b: a, "spike": lambda u, *surrogate: u > 0,
}

expressions = """
A * v
S * v
S + v[:, None]
v[:, None] * v
g[:, None] * A
A * g[:, None] + v
T * A[:, None, :]
T + A
T * g[:, None, None]
T[:, :, None, :] * v[:, None]
A[:, :2]
A[1]
A[1, 2]
A[-1:]
A[:, ::-1]
A[:, ::2]
A[:, 1:][:, 0]
v[1:]
v[-2:]
v[:-1]
v[2:0:-1]
v[0]
T[1, :, 1:]
T[:, 0]
(A + 1)[0, :2]
A.T
T[0].T
(A * 2).T @ g
A @ v
S @ S
A @ S
A @ S.T
g @ A
v @ S
T @ v
T @ S
W @ v
W.T @ v
v @ W
v @ W.T
A @ W
A @ W.T
W @ S
W @ A.T
sum(A)
sum(A, 0)
sum(A, 1)
sum(A, axis=-1)
sum(T, 1)
mean(A)
mean(T, 0)
max(A)
max(A, 0)
max(T, axis=1)
min(A, 1)
min(v)
softmax(v)
softmax(A, 0)
softmax(A)
logsumexp(A)
logsumexp(A, 1)
norm(v)
norm(A, 0)
cumsum(v)
cumsum(A, 1)
cumsum(T, 1)
roll(v, 1)
roll(v, -2)
roll(A, 1, 0)
concat(v, g)
concat(A, S)
concat(A, A, axis=1)
concat(T, T, axis=1)
outer(g, v)
einsum('ij,j->i', A, v)
einsum('hij,hj->hi', T, A)
einsum('ii->i', S)
einsum('ij,kj->ik', A, S)
einsum('hij->jh', T)
einsum('ij,j,i->', A, v, g)
where(A > 0, A, v)
where(v > 0, log(abs(v)), 0)
clip(A, -0.5, 0.5)
maximum(v, 0.1, v[::-1])
minimum(A, v)
A ** 2
abs(A) ** 0.5
abs(v) ** abs(v)
2 ** v
-v ** 2
v ** -1
2 ** 3 ** 0 * v
(v > 0) * 1
(v > 0) * (v < 0.5) * 1
(v == v) * 1
(v != v[0]) * 1
reshape(A, 3, 2)
reshape(v, 1, 3)
reshape(T, 3, 2, 2)
expand(v, 2, 3)
expand(g[:, None], 2, 3)
transpose(A)
silu(v)
softsign(v)
sinc(v)
exp(A) / sum(exp(A), 0)
A - mean(A, 1)[:, None]
v[:1] * A
A * W[0]
0.5 * W + S
(W * S) @ v
W[1, 1:]
sum(W, 0)
einsum('ij,kj->ki', W, A)
softmax(W, 0) @ v
sum(R)
R @ v
R[1].T
einsum('hij,hj->hi', R, A)
R * g[:, None, None]
where(A > 0, sqrt(A), v)
where(v > 0, 1 / maximum(v, 0), 7)
A[-1, :]
A[:, -1]
A[-2, -1]
T[-1, 0, :2]
T[:, -1, ::-1]
atan(3 * A)
atan2(A, v)
atan2(v, 0 * v - 1)
atan2(0 * v + 0, v)
atan2(T, A)
atan2(v, 0)
[1, -2, 3] * v
[[1, 2, 3], [4, 5, 6]] * A
A @ [1, 0, -2]
(v + [0.5, 0, 1])[1:]
[[[1, 2]]] + g
real(exp(complex(A, v)))
imag(exp(complex(-0.1, v)))
real(complex(A, v) * complex(v, A))
imag(complex(A, v) * conj(complex(v, A)))
imag(complex(A, v) / complex(v, 2))
real(complex(A, v) / 2)
abs(complex(v, v[::-1]))
angle(complex(v, v[::-1]))
imag(complex(v, 2) ** 3)
real((1 + 2j) * v)
imag(v + 0.5j * A)
imag(complex(A, 2 * A) @ complex(v, 1 - v))
real(complex(W, 2 * W) @ complex(v, 1 - v))
imag(W @ complex(v, 1 - v))
real(complex(A, v).T)
imag(complex(A, v)[1, :2])
imag(sum(complex(A, 2 * A), 0))
real(where(A > 0, complex(A, v), 1j * v))
real(log(complex(2 + v, v)))
imag(concat(complex(v, 1 + v), g))
stop(A) * v
surrogate(A, v)
spike(A) * 1
spike(v - 0.5, 'atan', 2) * 1
spike(T, 'triangle') * v
""".strip().splitlines()

with open("numpy_golden.inc.h", "w", encoding="ascii") as file:
    file.write("// Written by make_numpy_golden.py: {expression, shape, values in row-major order}.\n// clang-format off\n")
    for expression in expressions:
        value = np.asarray(eval(expression, names), float)
        numbers = ", ".join(repr(float(number)) for number in value.ravel())
        file.write(f'{{"{expression}", {{{", ".join(map(str, value.shape))}}}, {{{numbers}}}}},\n')
