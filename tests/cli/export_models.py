"""Small models of every cell and layer, for tests of exports: experiments for `lagtape train`, by name."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = ROOT / "tests" / "cells" / "rows"


def experiment(layers, inputs=3, outputs=2, at="every_step", cells=None, **train):
    """A model that is trained for one update on random numbers."""
    whole = {
        "name": "model",
        "data": {"task": "random", "length": 30, "input": inputs, "output": outputs, "train": 8},
        "model": {"layers": layers, "readout": {"units": outputs, "at": at}},
        "loss": "mse",
        "optimizer": {"type": "adam", "lr": 0.01},
        "train": {"epochs": 1, "batch": 8, "keep": "last", **train},
    }
    if cells:
        whole["cells"] = cells
    return whole


def time_columns(whole):
    """The inputs that a model's first cell takes for times of steps: they are positive, as with others states grow, and so do roundings."""
    read = {name: column for of in (whole["model"]["layers"][0], *whole.get("cells", {}).values())
            for name, column in of.get("reads", {}).items()}
    return [read[name] % whole["data"]["input"] for name in {"dt", "gap"} & read.keys()]


def cell_models(**train):
    """A model for each set of options in the table of cells, and for each of their equations."""
    for path in sorted(ROWS.glob("*.json")):
        row = json.loads(path.read_text())
        for number, options in enumerate(row["options"]):
            yield f"{path.stem}-{number}", experiment([{"cell": path.stem, **options}], **train)
        for number, equations in enumerate(row.get("equations", [])):
            options, definition = equations["options"], equations["definition"]
            sizes = options.get("of", options)
            text = json.dumps(definition)
            inputs = 2 * sizes["units"] + ("2 * units" in text) if "slice(x" in text else 3
            layer = {"cell": "own", "units": sizes["units"]}
            layer.update({name: value for name, value in options.items() if name in definition.get("hyper", {})})
            if "arithmetic" in options:
                layer["arithmetic"] = options["arithmetic"]
            yield f"{path.stem}-equations-{number}", experiment([layer], inputs, cells={"own": definition}, **train)


def written_cells():
    """Cells that use what equations can say beside the products and functions of the built-in ones."""
    square, wide = ["units", "units"], ["units", "input"]
    yield "comparisons", {
        "weights": {"W": square, "U": wide, "first": ["units"]}, "state": {"h": "units", "c": "units"},
        "step": ["s = where(n < 1, first, h)", "v = W @ s + U @ x", "up = (v > 0.1) * (c <= 2)",
                 "c' = where(up, 0, c + 1)", "h' = where(v >= 0, tanh(v), 0.3 * v) / (1 + 0.1 * c)"], "output": "h'"}, {"units": 5}
    yield "remainders", {
        "weights": {"W": square, "U": wide}, "state": {"h": "units"},
        "step": ["v = W @ h + U @ x", "h' = 0.5 * tanh(v) + 0.02 * floor(7 * tanh(h)) + 0.1 * mod(n, 5) - 0.3 * ((h + 2) % 0.7)"],
        "output": "h'"}, {"units": 4}
    yield "fast-weights", {
        "hyper": {"decay": 0.9}, "weights": {"K": wide, "V": wide, "Q": wide}, "state": {"A": square},
        "step": ["A' = decay * A + outer(V @ x, tanh(K @ x)) / units"], "output": "A' @ tanh(Q @ x)"}, {"units": 4}
    yield "spikes-and-angles", {
        "weights": {"W": square, "U": wide, "a": ["units"]}, "state": {"h": "units", "s": "units", "r": "units"},
        "step": ["v = W @ s + U @ x", "h' = 0.8 * h + v - 0.3 * s", "s' = spike(h' - 0.3, 'fast_sigmoid', 2)",
                 "r' = 0.5 * r + surrogate(s', tanh(h'))"],
        "output": "r' + atan2(v, a) + stop(atan(h'))"}, {"units": 4}
    yield "past-inputs", {
        "weights": {"W": square, "U": wide, "V": wide}, "state": {"h": "units"},
        "step": ["h' = tanh(W @ h + U @ x[-2] + V @ (x[-7] - x) + sum(x[-1]))"], "output": "h'"}, {"units": 4}
    yield "matrices-of-groups", {
        "weights": {"R": [3, 4, 4], "U": [12, "input"]}, "state": {"h": [3, 4]},
        "step": ["h' = tanh(R @ h + R @ h[-3] + reshape(U @ x, 3, 4) + 0.1 * mean(x))"], "output": "reshape(h', 12)"}, {"units": 12}
    yield "matrix-memory", {
        "hyper": {"heads": 2, "size": 3},
        "weights": {**{name: wide for name in "QKVO"}, "i": ["heads", "input"], "f": ["heads", "input"], "R": ["heads", "size", "size"]},
        "state": {"C": ["heads", "size", "size"], "N": ["heads", "size"], "m": ["heads"], "h": "units"},
        "step": ["q = reshape(Q @ x, heads, size)", "k = reshape(K @ x, heads, size) / size ** 0.5",
                 "v = reshape(V @ x, heads, size) + R @ reshape(h, heads, size)", "keep = -softplus(-(f @ x))", "m' = maximum(keep + m, i @ x)",
                 "C' = exp(keep + m - m')[:, None, None] * C + exp(i @ x - m')[:, None, None] * (v[:, :, None] * k[:, None, :])",
                 "N' = exp(keep + m - m')[:, None] * N + exp(i @ x - m')[:, None] * k  # as C, without the values",
                 "read = einsum('hij,hj->hi', C', q) / maximum(abs(sum(N' * q, 1)), 1)[:, None]",
                 "h' = sigmoid(O @ x) * reshape(read, units) + 0.1 * cumsum(softmax(roll(h, 1))) * max(h) * mean(h[::-2])"],
        "output": "h'"}, {"units": 6}
    names = ["double", "NAN", "model_step", "layer0_out", "self_test", "expf"]  # those of C, and of the files themselves
    yield "names-of-c", {
        "weights": {"in": wide, "out": square, **{name: ["units"] for name in names}}, "state": {"state": "units", "while": "units"},
        "step": ["inputs = in @ x + double * NAN", "layer0 = out @ state + model_step * while[-2]", "state' = tanh(inputs + layer0)",
                 "while' = state' * layer0_out + self_test * expf"], "output": "state' + while'"}, {"units": 4}


def every_function():
    """A cell with each element-wise function that equations have."""
    table = (ROOT / "ops/kernels/element_functions.h").read_text(encoding="utf-8")
    rows = re.findall(r'^ +\{Op::\w+, "(\w+)", ".*", (\d), function,', table, re.MULTILINE)
    assert len(rows) > 10, "the table has another form"
    calls = [f"{name}(v)" if operands == "1" else f"{name}(v, 3 - v)" for name, operands in rows]
    return {"weights": {"W": ["units", "units"], "U": ["units", "input"]}, "state": {"h": "units"},
            "step": ["v = 1.5 + 0.4 * tanh(W @ h + U @ x)", f"h' = 0.1 * ({' + '.join(calls)})"], "output": "h'"}


def layer_models(**train):
    """Models whose layers are not cells, or several, and every place where a read-out reads."""
    gru = {"cell": "gru", "units": 5}
    delayed = {"cell": "tau_gru", "units": 6, "tau": 4}
    yield "stack", experiment([delayed, {"layer": "layer_norm"}, gru, {"layer": "dropout", "rate": 0.2}], **train)
    yield "batch-norm", experiment([delayed, {"layer": "batch_norm"}, gru], **train)
    yield "linear", experiment([{"layer": "linear", "units": 4}], **train)
    yield "residual", experiment([{"cell": "lstm", "units": 3, "residual": True, "dilations": [1, 2]}], **train)
    yield "mean", experiment([gru], at="mean", **train)
    yield "last-step", experiment([gru], at="last_step", **train)
    yield "one-number", experiment([{"cell": "lstm", "units": 1}], inputs=1, outputs=1, **train)
    numbered = {"weights": {"W": ["units", "units"], "U": ["units", "input"]}, "state": {"h": "units", "k": "units"},
                "step": ["h' = tanh(W @ k + U @ x) / (1 + 0.01 * n)", "k' = h"], "output": "h' + k"}
    yield "step-index", experiment([{"cell": "numbered", "units": 4}], cells={"numbered": numbered}, **train)
    yield "step-index-dilated", experiment([{"cell": "numbered", "units": 4, "dilations": [3]}], cells={"numbered": numbered}, **train)
    swap = {"weights": {"W": ["units", "units"], "U": ["units", "input"], "M": ["units"]},
            "state": {"a": "units", "b": "units"},
            "step": ["v = W @ b[-3] + U @ x + softplus(a) * exp(M)", "a' = b", "b' = 0.3 * (sin(v) - relu(a)) + minimum(abs(b), 0.2)"],
            "output": "a'"}
    for name, definition, options in written_cells():
        yield name, experiment([{"cell": "own", **options}], cells={"own": definition}, **train)
    yield "every-function", experiment([{"cell": "every", "units": 4}], cells={"every": every_function()}, **train)
    for loss in ("gaussian", "student_t"):
        whole = experiment([gru], **train) | {"loss": loss}
        del whole["model"]["readout"]["units"]
        yield loss, whole
    yield "swapped-states", experiment([{"cell": "swap", "units": 4}], cells={"swap": swap}, **train)


def both_ways_models(**train):
    """Models of whole sequences, which read them from both ends."""
    gru, delayed = {"cell": "gru", "units": 4}, {"cell": "tau_gru", "units": 3, "tau": 2}

    def both(cell, merge="concat"):
        return {"layer": "bidirectional", "cell": cell, "merge": merge}

    yield "both-ways", experiment([both(gru)], **train)
    yield "both-ways-at-the-end", experiment([both(delayed, "sum"), {"layer": "layer_norm"}], at="last_step", **train)
    yield "both-ways-twice", experiment([delayed, both(gru, "mean"), {"layer": "batch_norm"}, both(delayed), gru], at="mean", **train)
    yield "both-ways-twice-at-the-end", experiment([both(delayed), both(gru)], at="last_step", **train)
