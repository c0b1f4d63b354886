"""lagtape export --to onnx and onnx-step: every cell and layer, checked by onnx and run by onnxruntime. The packages onnx,
onnxruntime and numpy are needed (`pip install onnx onnxruntime numpy`); without them the tests are skipped, and say so."""

import shutil
import unittest

from export_models import both_ways_models, cell_models, experiment, layer_models, time_columns
from tool import ToolTest, main

try:
    import numpy
    import onnx
    import onnxruntime
    MISSING = ""
except ImportError as error:
    MISSING = f"not found: {error.name} (pip install onnx onnxruntime numpy)"

ROWS, STEPS, SINGLE_STEPS = 2, 1000, 60


@unittest.skipIf(MISSING, MISSING)
class OnnxTest(ToolTest):
    def export(self, whole, form="onnx", *options):
        """Trains and exports; the model as onnx reads it, checked, and a session of onnxruntime."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        self.train("run", "--seed", 1, experiment=whole)
        return self.load(form, *options)

    def load(self, form, *options):
        self.run_tool("export", "run", "--to", form, "--output", "model.onnx", *options)
        model = onnx.load(self.folder / "model.onnx")
        onnx.checker.check_model(model, full_check=True)
        choices = onnxruntime.SessionOptions()
        choices.intra_op_num_threads = 1
        choices.log_severity_level = 3
        return model, onnxruntime.InferenceSession(str(self.folder / "model.onnx"), choices, providers=["CPUExecutionProvider"])

    def predict(self, x, *options):
        numpy.save(self.folder / "x.npy", x)
        self.run_tool("predict", "run", "--input", "x.npy", "--output", "y.npy", *options)
        return numpy.load(self.folder / "y.npy")

    def random(self, shape, dtype=None):
        return numpy.random.default_rng(5).normal(size=shape).astype(dtype or numpy.float32)

    def compare(self, got, wanted, tolerance):
        self.assertEqual(got.shape, wanted.shape)
        self.assertGreater(abs(wanted).max(), 1e-3)
        self.assertLessEqual(abs(got - wanted).max(), tolerance * max(1, abs(wanted).max()))

    def run_steps(self, session, inputs, name="x"):
        """The outputs of a session of one step, fed its states."""
        shapes = {one.name: [extent if isinstance(extent, int) else ROWS for extent in one.shape] for one in session.get_inputs()}
        types = {one.name: numpy.float64 if "double" in one.type else numpy.float32 for one in session.get_inputs()}
        states = {one: numpy.zeros(shape, types[one]) for one, shape in shapes.items() if one != name}
        names, outputs = [one.name for one in session.get_outputs()], []
        for x in inputs:
            found = dict(zip(names, session.run(None, {name: x, **states})))
            outputs.append(found["y"])
            states = {one: found[one + ".next"] for one in states}
        return outputs

    def test_every_cell_gives_the_outputs_of_the_model(self):
        kinds = set()
        for name, whole in [*cell_models(), *layer_models(), *both_ways_models()]:
            with self.subTest(name):
                x = self.random((ROWS, STEPS, whole["data"]["input"]))
                for column in time_columns(whole):
                    x[..., column] = (1 + numpy.arange(STEPS) % 8) / 8
                model, session = self.export(whole)
                self.assertEqual(model.opset_import[0].version, 17)
                kinds |= {node.op_type for node in model.graph.node}
                got, wanted = session.run(None, {"x": x})[0], self.predict(x)
                if name == "noisy_rnn-equations-0":  # it grows without bounds
                    got, wanted = got[:, :200], wanted[:, :200]
                self.compare(got, wanted, 1e-5)
        self.assertLessEqual({"LSTM", "GRU", "RNN", "Scan"}, kinds)

    def test_every_cell_goes_on_step_by_step(self):
        for name, whole in [*cell_models(), *layer_models()]:
            with self.subTest(name):
                x = self.random((ROWS, SINGLE_STEPS, whole["data"]["input"]))
                outputs = self.run_steps(self.export(whole, "onnx-step")[1], [x[:, n] for n in range(SINGLE_STEPS)])
                wanted = self.predict(x)
                self.compare(numpy.stack(outputs, 1) if wanted.ndim == 3 else outputs[-1], wanted, 1e-5)

    def test_in_double_precision_they_agree_to_the_last_digits(self):
        models = dict([*cell_models(precision="f64"), *layer_models(precision="f64"), *both_ways_models(precision="f64")])
        for name in ("tau_gru-0", "tau_gru-9", "tau_gru-16", "tau_gru-17", "lem-3", "lstm-0", "unicornn-0", "tarnn-1", "stack", "swapped-states", "mean", "both-ways-twice"):
            with self.subTest(name):
                x = self.random((ROWS, 200, models[name]["data"]["input"]), numpy.float64)
                self.compare(self.export(models[name])[1].run(None, {"x": x})[0], self.predict(x), 1e-12)

    def test_imported_models_become_nodes_again(self):
        golden = self.root / "tests/tools/exchange/import/golden"
        for file, kind in (("gru_reset_before.onnx", "GRU"), ("lstm_first_state.onnx", "Scan"), ("rnn_relu_no_bias.onnx", "Scan")):
            with self.subTest(file):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.run_tool("import", golden / file, "--output", "run")
                model, session = self.load("onnx")
                self.assertIn(kind, [node.op_type for node in model.graph.node])
                x = self.random((ROWS, STEPS, session.get_inputs()[0].shape[2]))
                self.compare(session.run(None, {"x": x})[0], self.predict(x), 1e-5)

    def test_sequences_end_at_their_lengths(self):
        lengths = numpy.array([5, 40, 17], numpy.int64)
        x = self.random((3, 40, 3))
        models = {at: experiment([{"cell": "tau_gru", "units": 4, "tau": 3}], at=at) for at in ("last_step", "mean")}
        models |= {name: whole for name, whole in both_ways_models() if whole["model"]["readout"]["at"] != "every_step"}
        self.assertEqual(len(models), 5)
        for name, whole in models.items():
            with self.subTest(name):
                _, session = self.export(whole, "onnx", "--lengths")
                got = session.run(None, {"x": x, "lengths": lengths})[0]
                for row, length in enumerate(lengths):
                    self.compare(got[row], self.predict(x[row, :length]), 1e-5)
        self.export(experiment([{"cell": "gru", "units": 4}]))
        self.assertIn("lengths", self.run_tool("export", "run", "--to", "onnx", "--output", "a.onnx", "--lengths", code=2)[1])

    def test_tokens_and_units_of_the_data(self):
        whole = experiment([{"layer": "embedding", "units": 4}, {"cell": "lstm", "units": 5}], inputs=1)
        whole["data"]["tokens"] = 7
        del whole["data"]["input"]
        tokens = numpy.random.default_rng(0).integers(0, 7, (ROWS, SINGLE_STEPS))
        _, session = self.export(whole)
        wanted = self.predict(tokens[..., None].astype(numpy.float32))
        self.compare(session.run(None, {"tokens": tokens})[0], wanted, 1e-5)
        outputs = self.run_steps(self.load("onnx-step")[1], [tokens[:, n] for n in range(SINGLE_STEPS)], "tokens")
        self.compare(numpy.stack(outputs, 1), wanted, 1e-5)

        wave = numpy.sin(0.3 * numpy.arange(300))
        self.write("own.csv", "".join(f"{1e4 + 3 * value!r}\n" for value in map(float, wave)))
        whole = experiment([{"cell": "gru", "units": 5}], inputs=1, outputs=1)
        whole["data"] = {"task": "series", "path": "own.csv", "window": 20}
        _, session = self.export(whole)
        x = (1e4 + 2 * self.random((ROWS, SINGLE_STEPS, 1))).astype(numpy.float32)
        got, wanted = session.run(None, {"x": x})[0], self.predict(x)
        self.assertLessEqual(abs(got - wanted).max(), 2 * 2 ** -24 * 1e4)


if __name__ == "__main__":
    if MISSING:
        print(f"skipped, not passed: {MISSING}", flush=True)
    main()
