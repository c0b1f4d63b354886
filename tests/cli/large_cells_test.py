"""Cells of very many equations, weights and states, and stacks of very many layers: time grows as they do."""

import os

from tool import CLASSIFIER, ToolTest, changed, main, npy, slow

SECONDS = 30  # most that a command may take; each took over a minute or more memory than time while it was quadratic
MANY = {"states": 40000}  # of the other shapes 6000
FEW = 700  # of these the results are compared, too


def own_cell(step, weights=(), states=()):
    return {
        "weights": {"W": ["units", "units"], "U": ["units", "input"], **{name: ["units"] for name in weights}},
        "state": {"h": "units", **{name: "units" for name in states}},
        "step": step,
        "output": "h",
    }


def chain(n):
    return own_cell(["a0 = tanh(W @ h + U @ x)"] + [f"a{i} = tanh(a{i - 1} * 0.5 + a0)" for i in range(1, n)] +
                    [f"h' = a{n - 1}"])


def fan(n):
    names = [f"a{i}" for i in range(n)]
    return own_cell(["a = tanh(W @ h + U @ x)"] + [f"{name} = tanh(a * {i / n + 0.1:.5f})" for i, name in enumerate(names)] +
                    [f"h' = ({' + '.join(names)}) / {n}"])


def products(n):
    return own_cell(["a0 = tanh(W @ h + U @ x)"] + [f"a{i} = tanh(W @ a{i - 1} + h)" for i in range(1, n)] +
                    [f"h' = a{n - 1}"])


def weights(n):
    names = [f"v{i}" for i in range(n)]
    return own_cell([f"h' = tanh(W @ h + U @ x + ({' + '.join(f'{name} * h' for name in names)}) / {n})"], weights=names)


def states(n):
    names = [f"s{i}" for i in range(n)]
    return own_cell(["h' = tanh(W @ h + U @ x + s0)"] + [f"{name}' = tanh({name} + h')" for name in names], states=names)


def experiment(cell, layers=1):
    return changed(CLASSIFIER, cells={"own": cell}, model__layers=[{"cell": "own", "units": 3}] * layers)


SHAPES = {"chain": chain, "fan": fan, "products": products, "weights": weights, "states": states}


class LargeCellsTest(ToolTest):
    def timed(self, *args):
        with self.within(SECONDS):
            self.run_tool(*args)

    @slow
    def test_the_time_of_a_check_grows_as_the_cell_does(self):
        for name, shape in SHAPES.items():
            with self.subTest(name):
                self.timed("check", self.write(f"{name}.json", experiment(shape(MANY.get(name, 6000)))))

    @slow
    def test_many_layers(self):
        path = self.write("layers.json", experiment(own_cell(["h' = tanh(W @ h + U @ x)"]), 6000))
        self.timed("check", path)
        self.timed("train", path, "--out", "run", "--quiet")

    def test_derived_weights_that_are_too_many_are_refused_in_little_memory(self):
        names = [f"D{i}" for i in range(60)]
        cell = {**own_cell([f"h' = tanh(U @ x + {' + '.join(f'{name} @ h' for name in names)})"]), "derived": {name: "W * 2" for name in names}}
        self.write("derived.json", changed(experiment(cell), model__layers=[{"cell": "own", "units": 1800}]))
        process = self.start("check", "derived.json")
        err = process.stderr.read().decode()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 2
        self.assertIn("a cell with derived weights may have 134217728 numbers in its weights", err)
        self.assertLess(usage.ru_maxrss, 200_000, "KB")  # 1 GB when all weights were kept

    def check_gradients_and_streams(self, *names):
        self.write("x.npy", npy((1, 20, 2), [i / 40 for i in range(40)]))
        for name in names:
            with self.subTest(name):
                path = self.write(f"{name}.json", experiment(SHAPES[name](FEW)))
                if name != "weights":  # the check changes elements of each weight by themselves
                    self.run_tool("check", "--gradients", path)
                self.run_tool("train", path, "--out", name, "--quiet")
                for output, options in (("whole", []), ("stream", ["--stream"])):
                    self.run_tool("predict", name, "--input", "x.npy", "--output", f"{output}.npy", *options)
                whole = (self.folder / "whole.npy").read_bytes()
                self.assertEqual(whole, (self.folder / "stream.npy").read_bytes())

    def test_gradients_and_streams_of_a_chain(self):
        self.check_gradients_and_streams("chain")

    @slow
    def test_gradients_and_streams_of_other_cells_that_are_compiled_in_parts(self):
        self.check_gradients_and_streams(*sorted(set(SHAPES) - {"chain"}))


if __name__ == "__main__":
    main()
