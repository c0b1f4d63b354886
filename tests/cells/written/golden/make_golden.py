"""Writes NAME.json beside itself for each cell of cells/written: outputs of an independent NumPy implementation, in f64, and
their gradients by central differences of sixth order, or by complex steps where spikes have no differences.

usage: make_golden.py [NAME...]        (NumPy alone)

The loss is the sum of outputs[b, n, i] * cos(k), k the row-major index.
"""

import json
import pathlib
import sys

import numpy as np

from cells_in_numpy import (cfc, d_linoss, echo_state, gated_deltanet, hgrn2, lif, linoss, lru, ltc, mamba, min_gru, min_lstm, mlstm, rg_lru,
                            slstm)

ROWS, STEPS = 2, 7


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


def lif_shapes(units, n, adaptive=False, recurrent=True, d=False, e=False):
    return {"beta": (units,), **affines(W=(units, n)), **({"rho": (units,)} if adaptive else {}), **({"d": (n,)} if d else {}),
            **({"R": (units, units)} if recurrent else {}), **({"e": (units,)} if e else {})}


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
    (echo_state, {"units": 3, "leak": 0.4}, 2, {"W": (3, 3), **affines(U=(3, 2))}, {"h": (3,)}),
    (mamba, {"units": 3, "states": 2, "block": False}, 3, mamba_shapes(3, 3, 2, 1, 0), {"S": (3, 2)}),
    (lif, {"units": 3, "slope": 4}, 2, lif_shapes(3, 2), {"v": (3,), "s": (3,)}),
    (lif, {"units": 3, "recurrent": False, "threshold": 0.3, "surrogate": "atan", "slope": 2}, 2, lif_shapes(3, 2, recurrent=False),
     {"v": (3,), "s": (3,)}),
    (lif, {"units": 3, "adaptive": True, "strength": 0.7, "threshold": 0.2, "surrogate": "sigmoid", "slope": 3}, 2,
     lif_shapes(3, 2, adaptive=True), {"v": (3,), "s": (3,), "a": (3,)}),
    (lif, {"units": 3, "input_delay": 4, "recurrent_delay": 3, "threshold": 0.2, "surrogate": "triangle", "slope": 0.5}, 2,
     lif_shapes(3, 2, d=True, e=True), {"v": (3,)}),
    (lif, {"units": 4, "adaptive": True, "input_delay": 2, "recurrent_delay": 5, "threshold": 0.1, "slope": 5}, 3,
     lif_shapes(4, 3, adaptive=True, d=True, e=True), {"v": (4,), "a": (4,)}),
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
    if cell is lif:
        values["W"] *= 2
        values |= {name: 6 * values[name] for name in "de" if name in values}
    if cell is d_linoss:
        values["g"] = abs(values["g"])
        values["a"] = 3 * abs(values["a"])

    outputs = loss_of(cell, options, values, states).real
    weights = np.cos(np.arange(outputs.size)).reshape(outputs.shape)
    gradients = {}
    for name, value in values.items():
        gradients[name] = np.zeros(value.shape)
        for k in np.ndindex(value.shape):
            kept, step, slope = value[k], 3e-4, 0
            if cell is lif:
                turned = {**values, name: value.astype(complex)}
                turned[name][k] += 1e-30j
                gradients[name][k] = (loss_of(cell, options, turned, states) * weights).sum().imag / 1e-30
                continue
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
