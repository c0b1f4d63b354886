"""lagtape export --to torch and keras: what comes back by lagtape import gives the same numbers, and PyTorch's own modules do.
PyTorch (torch, safetensors, numpy) is needed for the last; without it those tests are skipped, and say so."""

import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from export_models import experiment
from import_models import nam_model
from tool import ToolTest, main, npy, npy_values, read_safetensors, slow

try:
    import numpy
    import safetensors
    import torch
    MISSING = ""
except ImportError as error:
    MISSING = f"not found: {error.name} (pip install torch safetensors numpy)"

STEPS = 50
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "tools/exchange/import/golden"
PAGE = pathlib.Path(__file__).resolve().parents[2] / "tools/docs/export.md"


def models(**train):
    lstm, gru, rnn = ({"cell": cell, "units": 4} for cell in ("lstm", "gru", "rnn"))
    yield "lstm", experiment([lstm], **train)
    yield "two grus", experiment([gru, gru], **train)
    yield "rnn", experiment([rnn, rnn], **train)
    yield "mixed", experiment([{"layer": "linear", "units": 3}, lstm, {"layer": "dropout", "rate": 0.5}, {"cell": "gru", "units": 5}],
                              inputs=2, **train)


class PlainTest(ToolTest):
    def train_model(self, whole):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", "--seed", 1, experiment=whole)

    def predict(self, run, width):
        values = [math.sin(0.7 * i) for i in range(STEPS * width)]
        self.write("x.npy", npy((STEPS, width), values))
        self.run_tool("predict", run, "--input", "x.npy", "--output", "y.npy")
        return npy_values((self.folder / "y.npy").read_bytes())

    def check_round_trip(self, form, file, width, tolerance=1e-6, *options):
        """Exports, imports and compares predictions."""
        self.run_tool("export", "run", "--to", form, "--output", file)
        shutil.rmtree(self.folder / "again", ignore_errors=True)
        self.run_tool("import", file, "--output", "again", *options)
        wanted, got = self.predict("run", width), self.predict("again", width)
        self.assertEqual(len(got), len(wanted))
        self.assertGreater(max(map(abs, wanted)), 1e-3)
        self.assertLessEqual(max(abs(a - b) for a, b in zip(got, wanted)), tolerance * max(1, max(map(abs, wanted))))

    def test_what_comes_back_gives_the_same_numbers(self):
        for name, whole in models():
            for form, file in (("torch", "model.safetensors"), ("keras", "model.json")):
                if form == "keras" and name == "rnn":
                    continue
                with self.subTest(name, form=form):
                    self.train_model(whole)
                    self.check_round_trip(form, file, whole["data"]["input"])

    def test_rtneural_and_nam_are_names_for_what_they_read(self):
        self.train_model(experiment([{"cell": "lstm", "units": 4}, {"cell": "lstm", "units": 4}], inputs=1, outputs=1))
        self.check_round_trip("nam", "model.nam", 1)
        content = json.loads((self.folder / "model.nam").read_text())
        self.assertEqual((content["architecture"], content["config"]),
                         ("LSTM", {"input_size": 1, "hidden_size": 4, "num_layers": 2}))
        for form in ("rtneural", "keras"):
            self.run_tool("export", "run", "--to", form, "--output", form)
        self.assertEqual((self.folder / "rtneural").read_bytes(), (self.folder / "keras").read_bytes())

    def test_a_nam_file_keeps_the_states_that_it_begins_in(self):
        self.write("first.nam", json.dumps(nam_model()))
        self.run_tool("import", "first.nam", "--output", "run")
        self.check_round_trip("nam", "model.nam", 1)
        again = json.loads((self.folder / "model.nam").read_text())["weights"]
        self.assertLess(max(abs(a - b) for a, b in zip(again, nam_model()["weights"], strict=True)), 1e-7)

    def test_in_double_precision_they_agree_to_the_last_digits(self):
        for name, whole in models(precision="f64"):
            with self.subTest(name):
                self.train_model(whole)
                self.check_round_trip("torch", "model.safetensors", whole["data"]["input"], 1e-13)

    def test_tensors_come_back_bit_for_bit(self):
        self.train_model(experiment([{"cell": "lstm", "units": 4}]))
        self.check_round_trip("torch", "model.safetensors", 3)
        (_, first), (_, again) = (read_safetensors(self.weights(run)) for run in ("run", "again"))
        self.assertEqual(first, again)

    def test_normalization_becomes_part_of_the_weights(self):
        rows = "".join(f"{30 + 3 * math.sin(0.3 * i)!r},{5 * math.cos(0.2 * i)!r}\n" for i in range(300))
        self.write("own.csv", rows)
        for layers in ([{"cell": "gru", "units": 5}], [{"layer": "linear", "units": 2}, {"cell": "lstm", "units": 3}]):
            whole = experiment(layers, precision="f64")
            whole["data"] = {"task": "series", "path": "own.csv", "window": 20}
            del whole["model"]["readout"]["units"]
            self.train_model(whole)
            self.check_round_trip("torch", "model.safetensors", 2, 1e-12)
            self.check_round_trip("keras", "model.json", 2, 1e-12, "--precision", "f64")

    def test_other_cells_are_refused_by_name(self):
        rows = [("torch", [{"cell": "gru", "units": 3}, {"cell": "lem", "units": 3}], ["layer 1 (lem)", "PyTorch", "lstm, gru, rnn, linear"]),
                ("keras", [{"cell": "rnn", "units": 3}], ["layer 0 (rnn)", "RTNeural", "lstm, gru, linear"]),
                ("nam", [{"cell": "lstm", "units": 3}, {"cell": "lstm", "units": 4}], ["lstm layers of one size", "one output"]),
                ("torch", [{"cell": "lstm", "units": 3, "forget_gate": False}], ["layer 0 (lstm)", "default options"])]
        for form, layers, expected in rows:
            with self.subTest(form, layers=layers):
                self.train_model(experiment(layers))
                before = self.snapshot()
                message = self.run_tool("export", "run", "--to", form, "--output", "a", code=2)[1]
                self.assertEqual(self.snapshot(), before)
                for text in expected:
                    self.assertIn(text, message)

    @slow
    def test_models_from_elsewhere_go_back(self):
        """Modules of PyTorch with and without biases, and Keras's variants: each is imported, exported and imported again."""
        gone_back = 0
        for path in sorted(GOLDEN.glob("torch_??.safetensors")):
            header = read_safetensors(path.read_bytes())[0]
            if any("reverse" in name for name in header) or not any(name.endswith("weight_ih_l0") for name in header):
                continue
            with self.subTest(path.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                if subprocess.run([self.tool, "import", path, "--output", "run"], cwd=self.folder, capture_output=True).returncode:
                    continue  # the file does not tell the order of its modules
                width = int(read_safetensors(self.weights("run"))[0]["__metadata__"]["input"])
                self.check_round_trip("torch", "model.safetensors", width)
                gone_back += 1
        self.assertGreater(gone_back, 10)
        kernel, recurrent = [[0.5, -0.4, 0.9]], [[0.3, 0.2, -0.7]]
        dense = {"type": "dense", "activation": "", "shape": [None, None, 1], "weights": [[[1.5]], [0.1]]}
        for bias in ([[0.1, 0, 0.2], [0, 0.1, 0.3]], [0.1, 0.2, -0.3]):
            for function in ("tanh", "sigmoid", "relu", "elu"):
                first = {**dense, "activation": function}
                gru = {"type": "gru", "activation": "tanh", "shape": [None, None, 1], "weights": [kernel, recurrent, bias]}
                self.write("keras.json", {"in_shape": [None, None, 1], "layers": [first, gru, dense]})
                with self.subTest(function, bias=bias):
                    shutil.rmtree(self.folder / "run", ignore_errors=True)
                    self.run_tool("import", "keras.json", "--output", "run", "--precision", "f64")
                    self.check_round_trip("keras", "model.json", 1, 1e-14, "--precision", "f64")

    @unittest.skipIf(MISSING, MISSING)
    def test_modules_of_pytorch_give_the_same_numbers(self):
        """With the loader as the page prints it."""
        loader = re.search(r"cat > load_exported.py <<'END'\n(.*?)\nEND\n", PAGE.read_text(), re.DOTALL)[1]
        self.write("load_exported.py", loader)
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        from load_exported import load
        for name, whole in models():
            with self.subTest(name):
                self.train_model(whole)
                width = whole["data"]["input"]
                self.run_tool("export", "run", "--to", "torch", "--output", "model.safetensors")
                wanted = numpy.array(self.predict("run", width)).reshape(STEPS, -1)
                x = torch.tensor(numpy.load(self.folder / "x.npy")[None], dtype=torch.float32)
                model = load(self.folder / "model.safetensors")
                with torch.no_grad():
                    whole_sequence, _ = model(x)
                    first, states = model(x[:, :20])
                    second, _ = model(x[:, 20:], states)
                self.assertLessEqual(abs(whole_sequence[0].numpy() - wanted).max(), 1e-6)
                self.assertLessEqual(abs(torch.cat([first, second], 1)[0].numpy() - wanted).max(), 1e-6)

    def test_the_json_is_that_of_rtneural(self):
        self.train_model(experiment([{"cell": "gru", "units": 4}]))
        self.run_tool("export", "run", "--to", "keras", "--output", "model.json")
        content = json.loads((self.folder / "model.json").read_text())
        self.assertEqual(content["in_shape"], [None, None, 3])
        self.assertEqual([(layer["type"], layer["shape"]) for layer in content["layers"]],
                         [("gru", [None, None, 4]), ("dense", [None, None, 2])])
        kernel, recurrent, bias = content["layers"][0]["weights"]
        self.assertEqual([(len(part), len(part[0])) for part in (kernel, recurrent, bias)], [(3, 12), (4, 12), (2, 12)])


if __name__ == "__main__":
    if MISSING:
        print(f"skipped, not passed: {MISSING}", flush=True)
    main()
