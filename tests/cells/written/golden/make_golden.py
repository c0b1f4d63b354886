"""Writes NAME.json beside itself for each cell of cells/written: outputs of an independent NumPy implementation, in f64, and
their gradients by central differences of sixth order.

usage: make_golden.py [NAME...]        (NumPy alone)

The implementations follow the papers, not the library: complex numbers where the papers have them (LRU), the matrix of a step
(LinOSS), gates without a stabiliser (xLSTM), whole matrices (gated DeltaNet), a step of each channel (Mamba). The loss is the
sum of outputs[b, n, i] * cos(k), k the row-major index. Parameters have lagtape's names.
"""

import json
import math
import pathlib
import sys

import numpy as np

ROWS, STEPS = 2, 7


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def softplus(a):
    return np.log1p(np.exp(a))


def silu(a):
    return a * sigmoid(a)


def gelu(a):
    return np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in a])


def affine(p, name, x):
    return p[name] @ x + p[name + ".bias"]


def by_head(v, heads):
    return v.reshape(heads, -1)


def direct(p, x):
    return p["D"] * x if p["D"].ndim == 1 else p["D"] @ x


class Past:
    """The values of a sequence so far, for causal convolutions over them."""

    def __init__(self, p, name, taps):
        self.taps = [p[f"{name}{k}"] for k in range(taps)]
        self.bias, self.values = p[name + ".bias"], []

    def __call__(self, v):
        self.values.append(v)
        return self.bias + sum(tap * self.values[-1 - k] for k, tap in enumerate(self.taps) if k < len(self.values))


def block_diagonal(p, name, heads):
    if heads == 1:
        return p[name]
    blocks = [p[f"{name}.{k}"] for k in range(heads)]
    size = len(blocks[0])
    whole = np.zeros((heads * size, heads * size))
    for k, block in enumerate(blocks):
        whole[k * size:(k + 1) * size, k * size:(k + 1) * size] = block
    return whole


# Each cell is a function of (options, parameters, initial states, inputs [T, input]) that gives the outputs [T, units].


def positive(a):
    return np.where(a >= 0, a + 0.5, sigmoid(a))


def min_gru(o, p, s, xs):
    h = s["h"]
    for x in xs:
        z, c = sigmoid(affine(p, "W_z", x)), affine(p, "W_h", x)
        if o.get("candidate") == "positive":
            c = positive(c)
        h = (1 - z) * h + z * c
        yield h


def min_lstm(o, p, s, xs):
    h = s["h"]
    for x in xs:
        f, i, c = sigmoid(affine(p, "W_f", x)), sigmoid(affine(p, "W_i", x)), affine(p, "W_h", x)
        if o.get("candidate") == "positive":
            c = positive(c)
        h = f / (f + i) * h + i / (f + i) * c
        yield h


def lru(o, p, s, xs):
    state = s["re"] + 1j * s["im"]
    eigenvalues = np.exp(-np.exp(p["nu_log"]) + 1j * np.exp(p["theta_log"]))
    B, C = p["B_re"] + 1j * p["B_im"], p["C_re"] + 1j * p["C_im"]
    for x in xs:
        state = eigenvalues * state + np.exp(p["gamma_log"]) * (B @ x)
        yield (C @ state).real + direct(p, x)


def linoss(o, p, s, xs):
    """The state of each oscillator is (z, y), and a step is M (z, y) + F, as in the paper."""
    A, dt = np.maximum(p["a"], 0), sigmoid(p["s"])
    state = np.stack([s["z"], s["y"]])
    for x in xs:
        force = p["B"] @ x
        for k in range(len(A)):
            if o.get("method") == "imex":
                M = np.array([[1, -dt[k] * A[k]], [dt[k], 1 - dt[k] ** 2 * A[k]]])
                F = np.array([dt[k] * force[k], dt[k] ** 2 * force[k]])
            else:
                M = np.linalg.inv(np.array([[1, dt[k] * A[k]], [-dt[k], 1]]))
                F = M @ np.array([dt[k] * force[k], 0])
            state[:, k] = M @ state[:, k] + F
        yield p["C"] @ state[1] + direct(p, x)


def d_linoss(o, p, s, xs):
    dt, G = sigmoid(p["s"]), np.maximum(p["g"], 0)
    low = (2 + dt * G - 2 * np.sqrt(1 + dt * G)) / dt**2
    high = (2 + dt * G + 2 * np.sqrt(1 + dt * G)) / dt**2
    A = np.clip(p["a"], low, high)
    state = np.stack([s["z"], s["y"]])
    for x in xs:
        force = p["B"] @ x
        for k in range(len(A)):  # (1 + dt G) z' = z - dt A y + dt force, -dt z' + y' = y
            implicit = np.array([[1 + dt[k] * G[k], 0], [-dt[k], 1]])
            explicit = np.array([[1, -dt[k] * A[k]], [0, 1]])
            state[:, k] = np.linalg.solve(implicit, explicit @ state[:, k] + np.array([dt[k] * force[k], 0]))
        yield p["C"] @ state[1] + direct(p, x)


def rg_lru(o, p, s, xs):
    h, heads, block = s["h"], o.get("heads", 1), o.get("block", True)
    W_a, W_x = block_diagonal(p, "W_a", heads), block_diagonal(p, "W_x", heads)
    past = Past(p, "K", o.get("conv", 4)) if block else None
    for x in xs:
        u = past(affine(p, "W_in", x)) if block else p["W_in"] @ x if "W_in" in p else x
        r, i = sigmoid(W_a @ u + p["W_a.bias"]), sigmoid(W_x @ u + p["W_x.bias"])
        a = sigmoid(-p["L"]) ** (8 * r)
        h = a * h + np.sqrt(1 - a**2) * (i * u)
        yield affine(p, "W_out", gelu(affine(p, "W_g", x)) * h) if block else h


def slstm(o, p, s, xs):
    """Without the stabiliser: c and n are those of the library times exp(m)."""
    heads = o.get("heads", 1)
    c, n, h = s["c"] * np.exp(s["m"]), s["nu"] * np.exp(s["m"]), s["h"]
    R = {gate: block_diagonal(p, f"R_{gate}", heads) for gate in "zifo"}
    for x in xs:
        z, i, f, out = (p[f"W_{gate}"] @ x + R[gate] @ h + p[f"W_{gate}.bias"].ravel() for gate in "zifo")
        f = np.exp(f) if o.get("forget") == "exp" else sigmoid(f)
        c, n = f * c + np.exp(i) * np.tanh(z), f * n + np.exp(i)
        h = sigmoid(out) * c / n
        yield h


def mlstm(o, p, s, xs):
    """Without the stabiliser: C and n are those of the library times exp(m)."""
    heads = o.get("heads", 1)
    C, n = s["C"] * np.exp(s["m"])[:, None, None], s["nu"] * np.exp(s["m"])[:, None]
    d = n.shape[1]
    for x in xs:
        q, v = by_head(affine(p, "W_q", x), heads), by_head(affine(p, "W_v", x), heads)
        k = by_head(p["W_k"] @ x / np.sqrt(d) + p["W_k.bias"], heads)
        i, f = np.exp(affine(p, "W_i", x)), affine(p, "W_f", x)
        f = np.exp(f) if o.get("forget") == "exp" else sigmoid(f)
        read = []
        C, n = C.copy(), n.copy()
        for j in range(heads):
            C[j] = f[j] * C[j] + i[j] * np.outer(v[j], k[j])
            n[j] = f[j] * n[j] + i[j] * k[j]
            read.append(C[j] @ q[j] / max(abs(n[j] @ q[j]), 1))
        yield sigmoid(affine(p, "W_o", x)) * np.concatenate(read)


def gated_deltanet(o, p, s, xs):
    heads, taps, S = o.get("heads", 1), o.get("conv", 4), s["S"].copy()
    past = {name: Past(p, f"K_{name}", taps) if taps else lambda v: v for name in "qkv"}
    for x in xs:
        q, k, v = (by_head(silu(past[name](p[f"W_{name}"] @ x)), heads) for name in "qkv")
        q, k = (a / np.sqrt((a * a).sum(1, keepdims=True) + 1e-6) for a in (q, k))
        alpha, beta = np.exp(-np.exp(p["A_log"]) * softplus(affine(p, "W_a", x))), sigmoid(p["W_b"] @ x)
        read = []
        for j in range(heads):
            S[j] = S[j] @ (alpha[j] * (np.eye(len(k[j])) - beta[j] * np.outer(k[j], k[j]))) + beta[j] * np.outer(v[j], k[j])
            y = S[j] @ q[j]
            read.append(p["gain"] * y / np.sqrt(np.mean(y * y) + 1e-5))
        yield p["W_out"] @ (np.concatenate(read) * silu(p["W_g"] @ x))


def hgrn2(o, p, s, xs):
    heads, low, S = o.get("heads", 1), o.get("lower_bound", 0), s["S"].copy()
    for x in xs:
        f = by_head(low + (1 - low) * sigmoid(affine(p, "W_f", x)), heads)
        i, out = by_head(affine(p, "W_i", x), heads), by_head(silu(affine(p, "W_o", x)), heads)
        for j in range(heads):
            S[j] = S[j] @ np.diag(f[j]) + np.outer(i[j], 1 - f[j])
        yield np.concatenate([S[j] @ out[j] for j in range(heads)])


def cfc(o, p, s, xs):
    h, layers = s["h"], o.get("backbone_layers", 1)

    def linear(name, v):
        weight = np.hstack([p["W_" + name], p["U_" + name]]) if "U_" + name in p else p["W_" + name]
        return weight @ v + p[f"W_{name}.bias"]

    for x in xs:
        t, x = (x[-1], x[:-1]) if o.get("elapsed") else (1, x)
        b = np.concatenate([x, h])
        for layer in range(layers):
            b = 1.7159 * np.tanh(0.666 * linear("b" if layer == 0 else f"b{layer + 1}", b))
        gate = sigmoid(linear("s", b) * t + linear("t", b))
        h = np.tanh(linear("g", b)) * (1 - gate) + gate * np.tanh(linear("k", b))
        yield h


def ltc(o, p, s, xs):
    h, unfolds = s["h"], o.get("unfolds", 6)
    tau = 1 / softplus(p["w"])
    for x in xs:
        t, x = (x[-1], x[:-1]) if o.get("elapsed") else (1, x)
        for _ in range(unfolds):
            f = sigmoid(p["W"] @ h + affine(p, "U", x))
            h = (h + t / unfolds * f * p["A"]) / (1 + t / unfolds * (1 / tau + f))
        yield h


def mamba(o, p, s, xs):
    S, block = s["S"].copy(), o.get("block", True)
    past = Past(p, "K", o.get("conv", 4)) if block else None
    for x in xs:
        u = silu(past(p["W_in"] @ x)) if block else p["W_in"] @ x if "W_in" in p else x
        delta = softplus(affine(p, "W_dt", p["W_rank"] @ u))
        B, C, y = p["W_B"] @ u, p["W_C"] @ u, []
        for k in range(len(u)):
            S[k] = np.exp(delta[k] * -np.exp(p["A_log"][k])) * S[k] + delta[k] * B * u[k]
            y.append(C @ S[k] + p["D"][k] * u[k])
        yield p["W_out"] @ (np.array(y) * silu(p["W_z"] @ x)) if block else np.array(y)


def affines(**shapes):
    return {key: shape for name, (out, width) in shapes.items() for key, shape in ((name, (out, width)), (name + ".bias", (out,)))}


def taps(name, count, units):
    return {**{f"{name}{k}": (units,) for k in range(count)}, name + ".bias": (units,)}


def heads_of(name, units, heads):
    return {name: (units, units)} if heads == 1 else {f"{name}.{k}": (units // heads,) * 2 for k in range(heads)}


def lstm_shapes(units, n, heads):
    shapes = {}
    for gate in "zifo":
        shapes |= affines(**{f"W_{gate}": (units, n)}) | heads_of(f"R_{gate}", units, heads)
    if heads > 1:
        shapes["W_f.bias"] = (heads, units // heads)
    return shapes


def oscillators(units, n, m, **more):
    return {"a": (m,), **more, "s": (m,), "B": (m, n), "C": (units, m), "D": (units,) if units == n else (units, n)}


def delta_shapes(units, n, heads, conv):
    shapes = {"A_log": (heads,), **affines(W_a=(heads, n)), "W_b": (heads, n), "gain": (units // heads,), "W_g": (units, n), "W_out": (units, units)}
    for name in "qkv":
        shapes |= {f"W_{name}": (units, n), **(taps(f"K_{name}", conv, units) if conv else {})}
    return shapes


def mamba_shapes(units, n, states, rank, conv):
    shapes = {"A_log": (units, states), "D": (units,), "W_rank": (rank, units), **affines(W_dt=(units, rank)), "W_B": (states, units), "W_C": (states, units)}
    if conv:
        return shapes | {"W_in": (units, n), "W_z": (units, n), "W_out": (units, units), **taps("K", conv, units)}
    return shapes if units == n else shapes | {"W_in": (units, n)}


def griffin_shapes(units, n, heads, conv):
    shapes = {"L": (units,), **heads_of("W_a", units, heads), "W_a.bias": (units,), **heads_of("W_x", units, heads), "W_x.bias": (units,)}
    if conv:
        return shapes | affines(W_in=(units, n), W_g=(units, n), W_out=(units, units)) | taps("K", conv, units)
    return shapes if units == n else shapes | {"W_in": (units, n)}


def lru_shapes(units, n, m):
    return {"nu_log": (m,), "theta_log": (m,), "gamma_log": (m,), "B_re": (m, n), "B_im": (m, n), "C_re": (units, m), "C_im": (units, m),
            "D": (units,) if units == n else (units, n)}


def cfc_shapes(units, n, backbone, layers):
    shapes, width = {}, units
    for layer in range(layers):
        name = "b" if layer == 0 else f"b{layer + 1}"
        shapes |= affines(**{"W_" + name: (backbone, backbone if layer else n)}) | ({} if layer else {"U_b": (backbone, units)})
    for name in "gkst":
        shapes |= affines(**{"W_" + name: (width, backbone if layers else n)}) | ({} if layers else {"U_" + name: (width, units)})
    return shapes


# (cell, options, inputs, shapes of parameters, shapes of the initial states that are not 0)
CASES = [
    (min_gru, {"units": 3}, 2, affines(W_z=(3, 2), W_h=(3, 2)), {"h": (3,)}),
    (min_gru, {"units": 3, "candidate": "positive"}, 2, affines(W_z=(3, 2), W_h=(3, 2)), {"h": (3,)}),
    (min_lstm, {"units": 3}, 2, affines(W_f=(3, 2), W_i=(3, 2), W_h=(3, 2)), {"h": (3,)}),
    (min_lstm, {"units": 3, "candidate": "positive"}, 2, affines(W_f=(3, 2), W_i=(3, 2), W_h=(3, 2)), {"h": (3,)}),
    (lru, {"units": 3, "states": 4}, 2, lru_shapes(3, 2, 4), {"re": (4,), "im": (4,)}),
    (lru, {"units": 3, "states": 2}, 3, lru_shapes(3, 3, 2), {"re": (2,), "im": (2,)}),
    (linoss, {"units": 3, "oscillators": 4}, 2, oscillators(3, 2, 4), {"z": (4,), "y": (4,)}),
    (linoss, {"units": 3, "oscillators": 4, "method": "imex"}, 3, oscillators(3, 3, 4), {"z": (4,), "y": (4,)}),
    (d_linoss, {"units": 3, "oscillators": 4}, 2, oscillators(3, 2, 4, g=(4,)), {"z": (4,), "y": (4,)}),
    (rg_lru, {"units": 4, "heads": 2}, 3, griffin_shapes(4, 3, 2, 4), {"h": (4,)}),
    (rg_lru, {"units": 3, "block": False}, 3, griffin_shapes(3, 3, 1, 0), {"h": (3,)}),
    (rg_lru, {"units": 3, "block": False}, 2, griffin_shapes(3, 2, 1, 0), {"h": (3,)}),
    (slstm, {"units": 3}, 2, lstm_shapes(3, 2, 1), {"c": (3,), "nu": (3,), "h": (3,), "m": (3,)}),
    (slstm, {"units": 4, "heads": 2, "forget": "exp"}, 2, lstm_shapes(4, 2, 2), {"c": (4,), "nu": (4,), "h": (4,), "m": (4,)}),
    (mlstm, {"units": 4, "heads": 2}, 3, affines(W_q=(4, 3), W_k=(4, 3), W_v=(4, 3), W_o=(4, 3), W_i=(2, 3), W_f=(2, 3)),
     {"C": (2, 2, 2), "nu": (2, 2), "m": (2,)}),
    (mlstm, {"units": 3, "forget": "exp"}, 2, affines(W_q=(3, 2), W_k=(3, 2), W_v=(3, 2), W_o=(3, 2), W_i=(1, 2), W_f=(1, 2)),
     {"C": (1, 3, 3), "nu": (1, 3), "m": (1,)}),
    (gated_deltanet, {"units": 4, "heads": 2}, 2, delta_shapes(4, 2, 2, 4), {"S": (2, 2, 2)}),
    (gated_deltanet, {"units": 3, "conv": 0}, 2, delta_shapes(3, 2, 1, 0), {"S": (1, 3, 3)}),
    (hgrn2, {"units": 4, "heads": 2}, 3, affines(W_f=(4, 3), W_i=(4, 3), W_o=(4, 3)), {"S": (2, 2, 2)}),
    (hgrn2, {"units": 3, "lower_bound": 0.25}, 2, affines(W_f=(3, 2), W_i=(3, 2), W_o=(3, 2)), {"S": (1, 3, 3)}),
    (cfc, {"units": 3, "backbone": 4}, 2, cfc_shapes(3, 2, 4, 1), {"h": (3,)}),
    (cfc, {"units": 3, "backbone": 4, "backbone_layers": 2, "elapsed": True}, 3, cfc_shapes(3, 2, 4, 2), {"h": (3,)}),
    (cfc, {"units": 3, "backbone_layers": 0}, 2, cfc_shapes(3, 2, 0, 0), {"h": (3,)}),
    (ltc, {"units": 3}, 2, {"W": (3, 3), **affines(U=(3, 2)), "A": (3,), "w": (3,)}, {"h": (3,)}),
    (ltc, {"units": 3, "unfolds": 2, "elapsed": True}, 3, {"W": (3, 3), **affines(U=(3, 2)), "A": (3,), "w": (3,)}, {"h": (3,)}),
    (mamba, {"units": 3, "states": 2, "rank": 2}, 2, mamba_shapes(3, 2, 2, 2, 4), {"S": (3, 2)}),
    (mamba, {"units": 3, "states": 2, "block": False}, 3, mamba_shapes(3, 3, 2, 1, 0), {"S": (3, 2)}),
]


def loss_of(cell, options, values, shapes):
    outputs = []
    for row in range(ROWS):
        states = {name: values["initial " + name][row].copy() for name in shapes}
        outputs.append(np.stack(list(cell(options, values, states, values["x"][row]))))
    return np.stack(outputs)


def golden(cell, options, inputs, shapes, states, seed):
    draws = np.random.default_rng(seed)
    values = {name: draws.uniform(-1, 1, shape).round(3) for name, shape in shapes.items()}
    values |= {"x": draws.uniform(-1.5, 1.5, (ROWS, STEPS, inputs)).round(3)}
    values |= {"initial " + name: draws.uniform(-0.7, 0.7, (ROWS, *shape)).round(3) for name, shape in states.items()}
    if "nu" in states and cell is slstm:
        values["initial nu"] = 0.3 + abs(values["initial nu"])
    if options.get("elapsed"):
        values["x"][..., -1] = 0.2 + abs(values["x"][..., -1])
    if cell is d_linoss:
        values["g"] = abs(values["g"])
        values["a"] = 3 * abs(values["a"])

    outputs = loss_of(cell, options, values, states)
    weights = np.cos(np.arange(outputs.size)).reshape(outputs.shape)
    gradients = {}
    for name, value in values.items():
        gradients[name] = np.zeros(value.shape)
        for k in np.ndindex(value.shape):
            kept, step, slope = value[k], 3e-4, 0
            for distance, factor in ((1, 45), (2, -9), (3, 1)):
                for sign in (1, -1):
                    value[k] = kept + sign * distance * step
                    slope += sign * factor * (loss_of(cell, options, values, states) * weights).sum()
            value[k] = kept
            gradients[name][k] = slope / (60 * step)
    flat = lambda arrays: {name: array.ravel().tolist() for name, array in arrays.items()}
    part = lambda arrays, begin: {name.removeprefix(begin): a for name, a in arrays.items() if name.startswith(begin)}
    is_parameter = lambda arrays: {name: a for name, a in arrays.items() if name != "x" and not name.startswith("initial ")}
    rounded = {name: [float(f"{number:.12g}") for number in numbers] for name, numbers in flat(gradients).items()}
    return {"options": options, "rows": ROWS, "steps": STEPS, "input": inputs, "parameters": is_parameter(flat(values)),
            "initial": part(flat(values), "initial "), "x": values["x"].ravel().tolist(), "outputs": outputs.ravel().tolist(),
            "gradients": part(rounded, "initial ") | {"x": rounded["x"]} | is_parameter(rounded)}


def main():
    files = {}
    for seed, (cell, *case) in enumerate(CASES):
        if len(sys.argv) == 1 or cell.__name__ in sys.argv[1:]:
            files.setdefault(cell.__name__, []).append(golden(cell, *case, seed))
    for name, cases in files.items():
        text = ",\n".join(json.dumps(case) for case in cases)
        (pathlib.Path(__file__).parent / f"{name}.json").write_text(f"[{text}]\n")


if __name__ == "__main__":
    main()
