"""Random small models have the same bits whatever they run with: vector instructions with fused multiply-add, threads, memory
plan, and batches, rows alone or a stream. The quick suite tries a few; configurations_test.py TOOL --count 300 tries more,
and --seed N others.
"""

import hashlib
import json
import pathlib
import random
import subprocess
import sys
import unittest

from tool import ToolTest, main, npy, npy_shape, npy_values, read_safetensors, slow

ROWS = pathlib.Path(__file__).resolve().parents[1] / "cells" / "rows"
COUNT, SEED = 12, 1
PLANS = ("full", "states", "checkpoint", "auto")


def random_layer(draws, last):
    row = draws.choice(sorted(ROWS.glob("*.json")))
    options = dict(draws.choice(json.loads(row.read_text())["options"]))
    if row.stem == "s4d":
        return [{"layer": "linear", "units": options["units"]}, {"cell": "s4d", **options}]
    plain = row.stem not in ("dilated", "unicornn", "sru", "noisy_rnn") and "dilations" not in options
    if plain and not options.get("trained") and draws.random() < 0.15 and not last and row.stem in ("gru", "lstm", "rnn", "lem"):
        options["dilations"] = [draws.randint(1, 4)]
    return [{"cell": row.stem, **options}]


def random_experiment(draws):
    layers = random_layer(draws, False)
    if draws.random() < 0.4:
        layers += random_layer(draws, True)
    classes = draws.random() < 0.4
    data = {"task": "random", "length": draws.randint(2, 60), "input": draws.randint(1, 9), "train": draws.randint(2, 40),
            "valid": 3, "test": 2}
    data["classes" if classes else "output"] = draws.randint(2, 5)
    flags = len(layers[0].get("reads", {})) + layers[0].get("elapsed", False)
    data["input"] = max(data["input"], 1 + flags)  # a cell reads flags, and something else
    return {
        "name": "random", "seed": draws.randint(0, 10**6), "data": data,
        "model": {"layers": layers, "readout": {"at": draws.choice(("every_step", "last_step", "mean"))}},
        "loss": "cross_entropy" if classes else "mse", "metrics": [],
        "optimizer": {"type": "adam", "lr": 0.01},
        "train": {"epochs": 2, "batch": draws.randint(1, 24), "precision": draws.choice(("f32", "f64"))},
    }


class ConfigurationsTest(ToolTest):
    def levels(self):
        """The SIMD levels of this machine with fused multiply-add, which all round alike."""
        levels = ("avx2", "avx512")
        ask = lambda level: subprocess.run([self.tool, "check", "e.json", "--simd", level], cwd=self.folder, capture_output=True)
        return [level for level in levels if ask(level).returncode == 0]

    def bits(self, experiment, *args):
        """A hash of the tensors after training; the experiment is part of the file, and contains the memory plan."""
        self.write("e.json", experiment)
        done = subprocess.run([self.tool, "train", "e.json", "--out", "run", "--quiet", *args], cwd=self.folder, capture_output=True)
        if done.returncode != 0:
            return done.returncode, done.stderr.decode()[:300]
        header, buffer = read_safetensors(self.weights("run"))
        header.pop("__metadata__")
        return hashlib.sha256(json.dumps(header).encode() + buffer).hexdigest()

    def predicted(self, x, shape, *args):
        self.write("x.npy", npy(shape, x))
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", *args)
        y = (self.folder / "y.npy").read_bytes()
        return npy_shape(y), npy_values(y)

    def check(self, experiment, draws, levels):
        first = self.bits(experiment, "--threads", "1")
        self.assertNotIsInstance(first, tuple, f"{experiment}: {first}")
        (self.folder / "run").rename(self.folder / "kept")
        variants = [("--simd", level) for level in levels] + [("--threads", str(draws.randint(2, 9)))]
        for variant in variants:
            self.assertEqual(self.bits(experiment, *variant), first, f"{variant}: {experiment}")
            self.remove("run")
        plan = draws.choice(PLANS)
        other = {**experiment, "train": {**experiment["train"], "memory": plan}}
        self.assertEqual(self.bits(other, "--threads", "2"), first, f"{plan}: {experiment}")
        self.remove("run")
        (self.folder / "kept").rename(self.folder / "run")
        rows, steps, width = draws.randint(1, 5), draws.randint(1, 50), experiment["data"]["input"]
        x = [draws.gauss(0, 1) for _ in range(rows * steps * width)]
        whole = self.predicted(x, (rows, steps, width), "--threads", "3")
        self.assertEqual(self.predicted(x, (rows, steps, width), "--stream"), whole, f"stream: {experiment}")
        for level in levels:
            self.assertEqual(self.predicted(x, (rows, steps, width), "--stream", "--simd", level), whole, f"{level}: {experiment}")
        one = len(x) // rows
        alone = [self.predicted(x[row * one:(row + 1) * one], (1, steps, width))[1] for row in range(rows)]
        self.assertEqual(tuple(number for row in alone for number in row), whole[1], f"rows: {experiment}")

    def remove(self, name):
        for path in sorted((self.folder / name).rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        (self.folder / name).rmdir()

    @slow
    def test_random_configurations(self):
        draws = random.Random(SEED)
        self.write("e.json", random_experiment(random.Random(0)))
        levels = self.levels()
        for number in range(COUNT):
            experiment = random_experiment(draws)
            with self.subTest(number=number, seed=SEED):
                try:
                    self.check(experiment, draws, levels)
                finally:
                    for name in ("run", "kept"):
                        if (self.folder / name).exists():
                            self.remove(name)

    def test_levels_that_are_not_there_are_refused(self):
        self.write("e.json", random_experiment(random.Random(0)))
        _, error = self.run_tool("train", "e.json", "--simd", "avx3", code=2)
        self.assertIn("unknown SIMD level of this machine 'avx3'", error)
        done = subprocess.run([self.tool, "train", "e.json"], cwd=self.folder, env={"LAGTAPE_SIMD": "sse"}, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"LAGTAPE_SIMD: unknown SIMD level of this machine 'sse'", done.stderr)

    def test_the_level_is_the_one_that_is_asked_for(self):
        """Without fused multiply-add the last bits differ, so that the choice is seen to have an effect."""
        self.write("e.json", random_experiment(random.Random(0)))
        if not self.levels():
            self.skipTest("this machine has no other level")
        experiment = {**random_experiment(random.Random(3)), "train": {"epochs": 2, "batch": 4}}
        fused = self.bits(experiment)
        self.remove("run")
        self.assertNotEqual(self.bits(experiment, "--simd", "generic"), fused)


if __name__ == "__main__":
    for name in ("--count", "--seed"):
        if name in sys.argv:
            at = sys.argv.index(name)
            globals()[name[2:].upper()] = int(sys.argv[at + 1])
            del sys.argv[at:at + 2]
    main()
