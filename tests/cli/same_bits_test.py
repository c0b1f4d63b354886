"""The weights of small trainings of every cell, layer, plan, loss and optimizer are, bit for bit, those of same_bits.json.

The quick suite trains one of three, the slow one all. After a change that is meant to change results, write the list again:
same_bits_test.py TOOL --write
"""

import hashlib
import itertools
import json
import pathlib
import sys
import tempfile
import unittest

from tool import ToolTest, changed, main, npy, read_safetensors, slow

LIST = pathlib.Path(__file__).with_name("same_bits.json")
ROWS = pathlib.Path(__file__).resolve().parents[1] / "cells" / "rows"

BASE = {
    "name": "bits",
    "seed": 7,
    "data": {"task": "random", "length": 37, "input": 2, "output": 2, "train": 22, "valid": 8, "test": 5},
    "model": {"layers": [{"cell": "tau_gru", "units": 5, "tau": 3}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "metrics": ["rmse"],
    "optimizer": {"type": "adam", "lr": 0.01},
    "train": {"epochs": 2, "batch": 11},
}
UNICORNN = {"cell": "unicornn", "units": 6, "layers": 2, "dt": 0.1}
OWN = {
    "hyper": {"leak": 0.5},
    "weights": {"M": ["units", "units"], "V": ["units", "units"], "U": ["units", "input"], "theta": ["units"]},
    "derived": {"A": "M - M.T - 0.1 * eye(units)"},
    "lags": {"theta": "6"},
    "state": {"h": "units", "c": [2, "units"]},
    "step": [
        "k = sum(reshape(c, units, 2), 1) * mask(0.2, units)",
        "h' = (1 - leak) * h + leak * tanh(A @ h + V @ h[-theta] + U @ x + 0.1 * normal(units))",
        "c' = 0.9 * c + 0.1 * reshape(concat(sin(h'), cos(k)), 2, units) * log(2 + abs(c))",
    ],
    "output": "concat(h', k)",
}


def layers(*parts, **values):
    return changed(BASE, model__layers=list(parts), **values)


def cases():
    """Names and experiments."""
    for row in sorted(ROWS.glob("*.json")):
        for number, options in enumerate(json.loads(row.read_text())["options"]):
            # The blocks of S4D take as many channels as they give.
            parts = [{"layer": "linear", "units": options.get("units")}] * (row.stem == "s4d") + [{"cell": row.stem, **options}]
            yield f"cell {row.stem} {number}", layers(*parts)
            if number == 0:
                yield f"cell {row.stem} last_step", layers(*parts, model__readout__at="last_step")
                yield f"cell {row.stem} f64", layers(*parts, train__precision="f64")
    for plan, (name, cell) in itertools.product(
            ("full", "states", "checkpoint", "reversible"),
            (("tau_gru", {"cell": "tau_gru", "units": 9, "tau": 4}), ("unicornn", UNICORNN), ("lstm", {"cell": "lstm", "units": 17}))):
        if plan != "reversible" or name == "unicornn":
            yield f"plan {plan} {name}", layers(cell, train__memory=plan, data__length=133, data__train=11)
    yield "equations", changed(BASE, cells={"own": OWN}, model__layers=[{"cell": "own", "units": 5}])
    yield "truncated", changed(BASE, train__truncate=16)
    yield "stack", layers({"layer": "linear", "units": 6}, {"cell": "lem", "units": 5}, {"layer": "dropout", "rate": 0.3},
                          {"layer": "layer_norm"}, {"cell": "gru", "units": 4, "dilations": [1, 2], "residual": False})
    yield "sequence layers", layers({"layer": "bidirectional", "cell": {"cell": "gru", "units": 4}}, {"layer": "batch_norm"},
                                    {"cell": "tau_gru", "units": 5, "tau": 3})
    yield "wide", layers({"cell": "tau_gru", "units": 40, "tau": 20}, {"cell": "lstm", "units": 33}, train__epochs=1)
    yield "grid", layers({"cell": "cornn", "units": 6, "dt": 0.1, "gamma": 2.7, "epsilon": 4.7, "arithmetic": "grid"})
    yield "copy", changed(BASE, data={"task": "copy", "blanks": 20, "valid": 8, "test": 8, "fresh": True}, loss="cross_entropy",
                          metrics=["accuracy"], train={"steps": 4, "batch": 8})
    for at in ("last_step", "mean", "every_step"):
        classes = changed(BASE, loss="cross_entropy", metrics=["accuracy"], model__readout__at=at)
        del classes["data"]["output"]
        classes["data"]["classes"] = 3
        yield f"classes {at}", classes
    for optimizer in ("adamw", "rmsprop", "sgd"):
        yield f"optimizer {optimizer}", changed(BASE, optimizer__type=optimizer, train__clip=0.5, schedule={"type": "cosine"})
    for plan in ("full", "states", "reversible"):
        yield f"bf16 {plan}", layers(UNICORNN, {"cell": "unicornn", "units": 33, "dt": 0.1}, train__precision="bf16", train__memory=plan)
    yield "bf16 wide", layers({"cell": "tau_gru", "units": 40, "tau": 20}, {"cell": "lstm", "units": 33}, train__precision="bf16")
    yield "bf16 sequence layers", layers({"layer": "bidirectional", "cell": {"cell": "gru", "units": 4}}, {"layer": "batch_norm"},
                                         {"cell": "lem", "units": 5}, train__precision="bf16")
    yield "average", changed(BASE, train__average={"latest": 1}, train__keep="last", train__epochs=4)


def bits(test, folder, experiment, threads):
    """A short hash of the trained tensors, and of what the model predicts, at once and as a stream."""
    test.folder = folder
    width = experiment["data"].get("input", 10)
    test.write("bits.json", experiment)
    test.write("x.npy", npy((9, width), [((7 * i) % 11 - 5) / 8 for i in range(9 * width)]))
    test.run_tool("train", "bits.json", "--out", "run", "--quiet", "--threads", threads)
    header, buffer = read_safetensors(test.weights("run"))
    header.pop("__metadata__")
    hashed = hashlib.sha256()
    for name, tensor in sorted(header.items()):
        begin, end = tensor["data_offsets"]
        hashed.update(f"{name} {tensor['dtype']} {tensor['shape']}".encode() + buffer[begin:end])
    streams = not any(layer.get("layer") == "bidirectional" for layer in experiment["model"]["layers"])
    for stream in [[], ["--stream"]][:1 + streams]:
        test.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", *stream)
        hashed.update((folder / "y.npy").read_bytes())
    return hashed.hexdigest()[:16]


def has_fused_multiply_add():
    """Last bits differ between machines with and without it."""
    return "fma" in pathlib.Path("/proc/cpuinfo").read_text().split()


NO_FMA = "the list is of a machine with fused multiply-add"


class SameBitsTest(ToolTest):
    def found(self, step=1, threads=None):
        for number, (name, experiment) in itertools.islice(enumerate(cases()), 0, None, step):
            yield name, bits(self, pathlib.Path(tempfile.mkdtemp(dir=self.home)), experiment, threads or 1 + number % 2)

    def setUp(self):
        super().setUp()
        self.home = self.folder

    def check(self, found):
        expected = json.loads(LIST.read_text())
        self.assertEqual([name for name, _ in cases()], list(expected))
        self.assertEqual([name for name in found if found[name] != expected[name]], [])

    @unittest.skipUnless(has_fused_multiply_add(), NO_FMA)
    def test_some_small_trainings_end_in_the_same_bits(self):
        self.check(dict(self.found(step=3)))

    @slow
    @unittest.skipUnless(has_fused_multiply_add(), NO_FMA)
    def test_small_trainings_end_in_the_same_bits(self):
        if WRITE:
            LIST.write_text(json.dumps(dict(self.found(threads=1)), indent=2) + "\n")
        self.check(dict(self.found()))


if __name__ == "__main__":
    WRITE = "--write" in sys.argv
    if WRITE:
        sys.argv[sys.argv.index("--write")] = "--slow"
    main()
