"""lagtape import: models of other programs beside their own outputs or their formulas.

The real models are no part of the project. They are looked for in ../shared/data/recurrent-models beside it, and their tests
are skipped, by name, where they are not there.
"""

import copy
import json
import math
import shutil
import unittest
import wave

from import_models import RNN_TENSORS, changed, changed_tensors, guitarml_model, keras_model, nam_model, state_dict
from tool import EXPERIMENT, ToolTest, main, npy, npy_values, slow

MODELS = ToolTest.root.parent / "shared/data/recurrent-models"


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def product(matrix, vector):
    return [sum(w * v for w, v in zip(row, vector)) for row in matrix]


class Lstm:
    """PyTorch's LSTM of one layer in plain loops, in f64."""

    def __init__(self, w_ih, w_hh, bias, h, c):
        self.w_ih, self.w_hh, self.bias, self.h, self.c = w_ih, w_hh, bias, list(h), list(c)

    def step(self, x):
        units = len(self.h)
        sums = [a + b + c for a, b, c in zip(product(self.w_ih, x), product(self.w_hh, self.h), self.bias)]
        i, f, o = ([sigmoid(s) for s in sums[k * units:(k + 1) * units]] for k in (0, 1, 3))
        g = [math.tanh(s) for s in sums[2 * units:3 * units]]
        self.c = [f[k] * self.c[k] + i[k] * g[k] for k in range(units)]
        self.h = [o[k] * math.tanh(self.c[k]) for k in range(units)]
        return self.h


class Gru:
    """PyTorch's GRU of one layer in plain loops, in f64."""

    def __init__(self, w_ih, w_hh, b_ih, b_hh):
        self.w_ih, self.w_hh, self.b_ih, self.b_hh, self.h = w_ih, w_hh, b_ih, b_hh, [0.0] * len(w_hh[0])

    def step(self, x):
        units = len(self.h)
        of_x = [a + b for a, b in zip(product(self.w_ih, x), self.b_ih)]
        of_h = [a + b for a, b in zip(product(self.w_hh, self.h), self.b_hh)]
        r, z = ([sigmoid(of_x[k * units + j] + of_h[k * units + j]) for j in range(units)] for k in (0, 1))
        n = [math.tanh(of_x[2 * units + j] + r[j] * of_h[2 * units + j]) for j in range(units)]
        self.h = [(1 - z[j]) * n[j] + z[j] * self.h[j] for j in range(units)]
        return self.h


def dense(weight, bias, vector):
    return [p + b for p, b in zip(product(weight, vector), bias)]


class ImportTest(ToolTest):
    def outputs(self, x, width=1):
        """The outputs of `predict` for the run, a flat list; a stream gives the same bytes."""
        path = self.write("x.npy", npy((len(x) // width, width), x))
        self.run_tool("predict", "run", "--input", path, "--output", "y.npy")
        self.run_tool("predict", "run", "--input", path, "--output", "streamed.npy", "--stream")
        whole = (self.folder / "y.npy").read_bytes()
        self.assertEqual((self.folder / "streamed.npy").read_bytes(), whole)
        return npy_values(whole)

    def assert_close(self, got, wanted, delta):
        self.assertEqual(len(got), len(wanted))
        self.assertGreater(max(wanted) - min(wanted), 100 * delta)  # a constant would not pass
        difference = max(abs(a - b) for a, b in zip(got, wanted))
        self.assertLess(difference, delta)
        return difference


@unittest.skipUnless(MODELS.is_dir(), f"no real models in {MODELS}")
class RealModels(ImportTest):
    def import_file(self, name, *args, code=0):
        return self.run_tool("import", MODELS / name, "--output", "run", *args, code=code)

    def numbers(self, name):
        return [float(line) for line in (MODELS / name).read_text().split()]

    def content(self, name):
        return json.loads((MODELS / name).read_text())

    def sound(self, count):
        """Numbers of the recording around the beginning of its sound, in its middle."""
        with wave.open(str(MODELS / "nam/input.wav")) as file:
            file.setpos(47900)
            size, frames = file.getsampwidth(), file.readframes(count)
        return [int.from_bytes(frames[k:k + size], "little", signed=True) / 2 ** (8 * size - 1)
                for k in range(0, len(frames), size)]

    def test_aida_x_gives_its_own_outputs(self):
        """In f64 to 2e-6, which is how far the outputs in the file are from the exact ones; in f32 rounding is added."""
        for name in ("tw40_british_lead_deerinkstudios", "tw40_california_clean_deerinkstudios"):
            for precision, delta in (("f64", 2e-6), ("f32", 3e-6)):
                with self.subTest(name, precision=precision):
                    self.setUp()
                    model = self.content(f"aida-x/{name}.json")
                    out, _ = self.import_file(f"aida-x/{name}.json", "--precision", precision)
                    self.assertIn("rtneural", out)
                    difference = self.assert_close(self.outputs(model["input_batch"]), model["output_batch"], delta)
                    print(f"{name} in {precision}: at most {difference:.2e} beside the outputs in its file")

    def test_rtneural_gives_the_outputs_of_keras_and_pytorch(self):
        for model in ("lstm_torch", "gru_torch", "lstm", "gru"):
            with self.subTest(model):
                self.setUp()
                self.import_file(f"rtneural/{model}.json")
                x, y = self.numbers(f"rtneural/{model}_x_python.csv"), self.numbers(f"rtneural/{model}_y_python.csv")
                self.assert_close(self.outputs(x), y, 1e-6)

    def test_nam_gives_its_own_formula_from_its_first_state(self):
        model = self.content("nam/lstm.nam")
        weights, units, width = list(model["weights"]), 3, 1
        rows = [weights[k * (width + units):(k + 1) * (width + units)] for k in range(4 * units)]
        rest = weights[4 * units * (width + units):]
        bias, h, c, head, offset = rest[:12], rest[12:15], rest[15:18], rest[18:21], rest[21:]
        self.assertNotEqual(h + c, [0] * 6)
        cell = Lstm([row[:width] for row in rows], [row[width:] for row in rows], bias, h, c)
        x = self.sound(5000)
        self.import_file("nam/lstm.nam")
        self.assert_close(self.outputs(x), [dense([head], offset, cell.step([v]))[0] for v in x], 1e-6)

    @slow
    def test_guitarml_and_proteus_add_the_input(self):
        for name in ("guitarml/muff1", "guitarml/ht13_gru", "proteus/PrincetonAmp_Clean", "proteus/TS9_DriveKnob"):
            with self.subTest(name):
                self.setUp()
                model = self.content(f"{name}.json")
                t = model["state_dict"]
                parts = [t[f"rec.{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
                units, width = model["model_data"]["hidden_size"], model["model_data"]["input_size"]
                if model["model_data"]["unit_type"] == "GRU":
                    cell = Gru(*parts)
                else:
                    cell = Lstm(*parts[:2], [a + b for a, b in zip(*parts[2:])], [0] * units, [0] * units)
                sound = self.sound(1500)
                steps = [[v, 0.25 + 0.5 * (k > 700)][:width] for k, v in enumerate(sound)]  # a knob is turned
                wanted = [dense(t["lin.weight"], t["lin.bias"], cell.step(x))[0] + x[0] for x in steps]
                flat = [v for x in steps for v in x]
                self.import_file(f"{name}.json", "--precision", "f64")
                self.assert_close(self.outputs(flat, width), wanted, 1e-11)
                self.setUp()
                self.import_file(f"{name}.json")
                self.assert_close(self.outputs(flat, width), wanted, 1e-4)  # amplifiers amplify the rounding of f32

    def test_aida_x_is_silent_after_a_reset_when_it_begins_at_rest(self):
        """100 ms of silence at 48 kHz: no pop."""
        for name in ("tw40_british_lead_deerinkstudios", "tw40_california_clean_deerinkstudios"):
            with self.subTest(name):
                self.setUp()
                self.import_file(f"aida-x/{name}.json")
                from_zeros = self.outputs([0.0] * 4800)
                self.run_tool("import", MODELS / f"aida-x/{name}.json", "--output", "rest", "--rest", "0")
                shutil.rmtree(self.folder / "run")
                (self.folder / "rest").rename(self.folder / "run")
                at_rest = self.outputs([0.0] * 4800)
                self.assertGreater(max(from_zeros) - min(from_zeros), 1e-2)
                self.assertLess(max(at_rest) - min(at_rest), 1e-5)
                self.assertEqual(json.loads((self.folder / "run/experiment.json").read_text())["model"]["rest"], {"input": 0})

    def test_models_that_are_not_supported_are_refused_by_name(self):
        for name, texts in (("rtneural/full_model.json", ["/layers/1/type: expected a supported layer"]),
                            ("rtneural/bad_lstm.json", ["/layers/0/weights/0: expected the shape [1, 64], got [1, 80]"])):
            _, message = self.import_file(name, code=2)
            for text in texts:
                self.assertIn(text, message)
            self.assertFalse((self.folder / "run").exists())


class SmallModels(ImportTest):
    WAVE = [0.8 * math.sin(0.7 * k) for k in range(60)]

    def import_model(self, content, *args):
        self.write("model", content)
        return self.run_tool("import", "model", "--output", "run", *args)[0]

    def keras_outputs(self, model, x):
        kernel, recurrent, bias = model["layers"][0]["weights"]
        cell = Lstm(list(map(list, zip(*kernel))), list(map(list, zip(*recurrent))), bias, [0, 0], [0, 0])
        weight, offset = model["layers"][1]["weights"]
        return [dense(list(map(list, zip(*weight))), offset, cell.step([v]))[0] for v in x]

    def test_keras_with_a_skip_and_gains(self):
        self.import_model(json.dumps(keras_model(in_skip=1, in_gain=6.0, out_gain=-3.0)))
        scaled = [v * 10 ** 0.3 for v in self.WAVE]
        plain = self.keras_outputs(keras_model(), scaled)
        self.assert_close(self.outputs(self.WAVE), [(a + b) * 10 ** -0.15 for a, b in zip(plain, scaled)], 1e-6)

    def test_functions_of_dense_layers(self):
        functions = {"tanh": math.tanh, "sigmoid": sigmoid, "relu": lambda v: max(v, 0.0),
                     "elu": lambda v: v if v > 0 else math.expm1(v)}
        for name, function in functions.items():
            with self.subTest(name):
                self.setUp()
                self.import_model(changed(keras_model(), "/layers/1/activation", name))
                self.assert_close(self.outputs(self.WAVE), [function(v) for v in self.keras_outputs(keras_model(), self.WAVE)],
                                  1e-6)

    def test_a_rest_that_is_no_number_or_never_comes(self):
        self.write("model", json.dumps(keras_model()))
        for text, wanted in (("nan", "--rest: expected a finite number, got 'nan'"), ("1x", "got '1x'")):
            _, message = self.run_tool("import", "model", "--output", "run", "--rest", text, code=2)
            self.assertIn(wanted, message)
        oscillates = {"in_shape": [None, None, 1], "layers": [
            {"type": "lstm", "shape": [None, None, 1],
             "weights": [[[0.0] * 4], [[0.0, 0.0, -12.0, 0.0]], [9.0, -9.0, 3.0, 9.0]]}]}
        self.write("model", json.dumps(oscillates))
        _, message = self.run_tool("import", "model", "--output", "run", "--rest", "0", code=2)
        self.assertIn("model: with the input 0 the states still change by ", message)
        self.assertFalse((self.folder / "run").exists())

    def test_a_training_may_end_at_rest(self):
        experiment = copy.deepcopy(EXPERIMENT)
        experiment["model"] |= {"rest": {"input": 0.5}}
        experiment["train"]["epochs"] = 1
        out, _ = self.run_tool("train", self.write("experiment.json", experiment), "--out", "run", "--quiet", "--json")
        outputs = self.outputs([0.5] * 50)
        self.assertLess(max(outputs) - min(outputs), 1e-5)
        scores = json.loads(self.run_tool("eval", "run", "--json")[0])
        self.assertEqual(scores["loss"], json.loads(out)["test"]["loss"])
        experiment["model"]["rest"] = {"inptu": 0}
        _, message = self.run_tool("check", self.write("experiment.json", experiment), code=2)
        self.assertIn("/model/rest/inptu", message)

    def test_a_first_state_is_exported(self):
        self.import_model(json.dumps(nam_model()))
        self.run_tool("export", "run", "--to", "c99", "--output", "nam.c")
        self.assertIn("_start[2] = {", (self.folder / "nam.c").read_text())
        for form in ("onnx-step", "torch", "keras"):
            _, message = self.run_tool("export", "run", "--to", form, "--output", "other", code=2)
            self.assertIn("lagtape: run: the model begins in states of its own, those of ", message)

    def test_nam_may_name_its_channels(self):
        self.import_model(json.dumps(nam_model()))
        plain = self.outputs(self.WAVE)
        config, weights = nam_model()["config"], nam_model()["weights"]
        self.setUp()
        self.import_model(json.dumps(nam_model(config={**config, "in_channels": 1, "out_channels": 1})))
        self.assertEqual(self.outputs(self.WAVE), plain)
        self.setUp()  # a second output, whose row and offset are behind those of the first
        rows, offset = weights[-3:-1], weights[-1]
        self.import_model(json.dumps(nam_model(config={**config, "out_channels": 2},
                                               weights=weights[:-3] + rows + [-v for v in rows] + [offset, 1 - offset])))
        both = self.outputs(self.WAVE)
        self.assert_close(both[::2], plain, 1e-6)
        self.assert_close([1 - v for v in both[1::2]], plain, 1e-6)

    def test_the_order_of_modules_can_be_given(self):
        tensors = changed_tensors(fd__weight=[2, 1], fe__weight=[1, 2])
        out = self.import_model(state_dict(tensors), "--order", "lstm,fe,fd,fc")
        self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], ["lstm", "dense_no_bias", "dense_no_bias", "readout"])
        _, message = self.run_tool("import", "model", "--output", "other", "--order", "lstm,fe,fd", code=2)
        self.assertIn("--order names each module once.", message)
        _, message = self.run_tool("import", "model", "--output", "other", "--order", "lstm,ff,fd,fc", code=2)
        self.assertIn("--order: unknown module 'ff'", message)

    def test_maps_that_follow_each_other_are_pointed_out(self):
        content = state_dict(changed_tensors(fd__weight=[2, 2]))
        self.write("model", content)
        outputs = {}
        for between, said in (("", "Linear maps follow each other without a function: module 'fd' and module 'fc'."), ("none", ""), ("tanh", "")):
            out, err = self.run_tool("import", "model", "--output", f"run{between}", "--order", "lstm,fd,fc", *(["--between", between] if between else []))
            self.assertEqual(err[:len(said)], said)
            self.assertEqual(bool(err), bool(said))
            path = self.write("x.npy", npy((len(self.WAVE), 1), [-v - 1 for v in self.WAVE]))
            self.run_tool("predict", f"run{between}", "--input", path, "--output", "y.npy")
            outputs[between] = (self.folder / "y.npy").read_bytes()
        self.assertEqual(outputs[""], outputs["none"])
        self.assertNotEqual(outputs[""], outputs["tanh"])
        self.write("other", json.dumps(keras_model()))
        for file, args, wanted in (("other", ["--between", "tanh"], "other: --between is for the modules of PyTorch; the format is rtneural."),
                                   ("plain", ["--between", "tanh"], "plain: --between is for maps that follow each other, and there are none."),
                                   ("plain", ["--between", "rleu"], "did you mean 'relu'?")):
            self.write("plain", state_dict(changed_tensors()))
            _, message = self.run_tool("import", file, "--output", "refused", *args, code=2)
            self.assertIn(wanted, message)

    def test_the_function_of_a_plain_rnn_is_given_or_in_the_metadata(self):
        def outputs(function):
            h, y = 0.0, []  # both units have the same weights, and so the same values
            for x in self.WAVE:
                h = function(0.25 * x + 0.25 + 0.25 * 2 * h + 0.25)
                y.append(0.25 * 2 * h + 0.25)
            return y

        told = state_dict(RNN_TENSORS, metadata={"nonlinearity": "relu"})
        for content, args, function in ((state_dict(RNN_TENSORS), (), math.tanh), (told, (), lambda v: max(v, 0.0)),
                                        (state_dict(RNN_TENSORS), ("--nonlinearity", "relu"), lambda v: max(v, 0.0)),
                                        (told, ("--nonlinearity", "tanh"), math.tanh)):
            self.setUp()
            self.import_model(content, *args)
            self.assert_close(self.outputs(self.WAVE), outputs(function), 1e-6)
        self.write("model", json.dumps(keras_model()))
        _, message = self.run_tool("import", "model", "--output", "other", "--nonlinearity", "relu", code=2)
        self.assertIn("model: --nonlinearity is for nn.RNN of PyTorch; the format is rtneural.", message)

    def test_a_run_is_inspected_and_says_that_it_has_no_data(self):
        self.import_model(json.dumps(guitarml_model()))
        described = json.loads(self.run_tool("inspect", "run", "--json")[0])
        self.assertEqual(described["params"], 6 + 12 + 12 + 2 + 1 + 1)
        experiment = json.loads((self.folder / "run/experiment.json").read_text())
        self.assertEqual(experiment["name"], "model")
        self.assertEqual(experiment["cells"]["gru_skip"]["step"][-1], "h' = (1 - z) * k + z * h")
        _, message = self.run_tool("eval", "run", code=2)
        self.assertIn("made in C++ or imported, and names no data", message)

    def test_an_imported_experiment_trains_once_it_names_data(self):
        self.import_model(json.dumps(nam_model()))
        experiment = json.loads((self.folder / "run/experiment.json").read_text())
        experiment["data"] = {"task": "mackey_glass", "length": 200, "train": 4, "valid": 2, "test": 2}
        experiment["train"] |= {"epochs": 1, "batch": 2}
        self.run_tool("train", self.write("experiment.json", experiment), "--out", "trained", "--quiet")


if __name__ == "__main__":
    main()
