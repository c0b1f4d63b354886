"""lagtape import: real models of other programs beside their own outputs, and files that are refused.

The real models are no part of the project. They are looked for in ../shared/data/recurrent-models beside it, and their tests
are skipped, by name, where they are not there.
"""

import copy
import json
import math
import struct
import unittest
import wave

from tool import ToolTest, main, make_safetensors, npy, npy_values

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
        """What `predict` gives for the run, a flat list; a stream gives the same bytes."""
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
                    self.assert_close(self.outputs(model["input_batch"]), model["output_batch"], delta)

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

    def test_models_that_are_not_supported_are_refused_by_name(self):
        for name, texts in (("rtneural/full_model.json", ["/layers/1/type: the layer 'conv1d' is not supported"]),
                            ("rtneural/bad_lstm.json", ["/layers/0/weights/0: expected the shape [1, 64]. Got [1, 80]."])):
            _, message = self.import_file(name, code=2)
            for text in texts:
                self.assertIn(text, message)
            self.assertFalse((self.folder / "run").exists())


UNITS = 2


def keras_model(**changes):
    """An LSTM of 2 units and a dense layer, as RTNeural writes models of Keras."""
    model = {"in_shape": [None, None, 1], "layers": [
        {"type": "lstm", "activation": "tanh", "shape": [None, None, UNITS],
         "weights": [[[0.1 * k - 0.3 for k in range(8)]], [[0.05 * (k - j) for k in range(8)] for j in range(2)],
                     [0.1 * k for k in range(8)]]},
        {"type": "dense", "activation": "", "shape": [None, None, 1], "weights": [[[0.5], [-0.25]], [0.125]]}]}
    return {**model, **changes}


def guitarml_model(**data):
    def rows(count, width, scale):
        return [[scale * math.sin(k * width + j + 1) for j in range(width)] for k in range(count)]

    return {"model_data": {"model": "SimpleRNN", "input_size": 1, "skip": 1, "output_size": 1, "unit_type": "GRU",
                           "num_layers": 1, "hidden_size": UNITS, "bias_fl": True, **data},
            "state_dict": {"rec.weight_ih_l0": rows(6, 1, 0.8), "rec.weight_hh_l0": rows(6, 2, 0.6),
                           "rec.bias_ih_l0": [0.1] * 6, "rec.bias_hh_l0": [-0.2] * 6,
                           "lin.weight": rows(1, 2, 0.7), "lin.bias": [0.3]}}


def nam_model(**changes):
    weights = [math.sin(k + 1) for k in range(8 * (1 + UNITS) + 8 + 4 + 3)]
    return {"version": "0.5.4", "architecture": "LSTM", "weights": weights,
            "config": {"input_size": 1, "hidden_size": UNITS, "num_layers": 1}, **changes}


def state_dict(tensors, dtype="F32"):
    """A safetensors file of zeros; a tensor may have bytes of its own after its shape."""
    header, buffer, size = {}, b"", {"F32": 4, "F64": 8, "F16": 2, "I64": 8}[dtype]
    for name, shape in tensors.items():
        data = struct.pack("<f", 0.25) * (math.prod(shape) * size // 4)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(buffer), len(buffer) + len(data)]}
        buffer += data
    return make_safetensors(header, buffer)


LSTM_TENSORS = {"lstm.weight_ih_l0": [8, 1], "lstm.weight_hh_l0": [8, 2], "lstm.bias_ih_l0": [8], "lstm.bias_hh_l0": [8],
                "fc.weight": [1, 2], "fc.bias": [1]}


def changed_tensors(remove=(), **shapes):
    tensors = {name: shape for name, shape in LSTM_TENSORS.items() if name not in remove}
    return tensors | {name.replace("__", "."): shape for name, shape in shapes.items()}


def changed(model, pointer, value):
    """A copy with one value replaced, or removed where it is None."""
    result = copy.deepcopy(model)
    *parents, last = [int(key) if key.isdigit() else key for key in pointer.split("/")[1:]]
    place = result
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(result)


def onnx():
    folder = ToolTest.root / "tests/cells/import/golden"
    return (folder / "lstm_first_state.onnx").read_bytes()


# Each row: a description, the bytes of a file, and how the message goes on after "lagtape: FILE: ".
REFUSED = [
    ("an empty file", b"", "is of none of the formats that are supported: torch, torch-json, rtneural, guitarml, nam, onnx."),
    ("a pickle", b"PK\x03\x04 data.pkl", "a zip archive, as PyTorch and Keras write it, is not supported. Save the state_dict as safetensors, or export to ONNX."),
    ("an HDF5 file", b"\x89HDF\r\n", "an HDF5 file is not supported. Export the model to ONNX or to RTNeural's JSON."),
    ("JSON that is cut off", json.dumps(keras_model())[:100], "line 1, column 101: syntax error"),
    ("JSON of something else", "{}", "a JSON object of none of the formats that are supported: torch, torch-json, rtneural, guitarml, nam, onnx."),
    ("a convolution", changed(keras_model(), "/layers/0/type", "conv1d"), "/layers/0/type: the layer 'conv1d' is not supported. Supported: lstm, gru, dense, time-distributed-dense, activation."),
    ("another activation", changed(keras_model(), "/layers/1/activation", "tahn"), "/layers/1/activation: unknown activation 'tahn'; did you mean 'tanh'? Known: tanh, sigmoid, relu, elu"),
    ("a kernel of another shape", changed(keras_model(), "/layers/0/weights/0", [[1.0] * 12]), "/layers/0/weights/0: expected the shape [1, 8]. Got [1, 12]."),
    ("a matrix with a short row", changed(keras_model(), "/layers/0/weights/1/1", [0.5]), "/layers/0/weights/1/1: expected an array of 8. Got one of 1."),
    ("a text among numbers", changed(keras_model(), "/layers/0/weights/2/3", "x"), '/layers/0/weights/2/3: expected a number. Got "x".'),
    ("a number beyond f32", changed(keras_model(), "/layers/1/weights/1/0", 1e39), "values of readout.W.bias: number 0 is not finite: inf"),
    ("NaN", json.dumps(keras_model()).replace("0.125", "NaN"), "line 1, column "),
    ("an extra array", changed(keras_model(), "/layers/1/weights", [[[0.5], [0.5]], [0.1], [0.1]]), "/layers/1/weights: expected 1 or 2 arrays. Got 3."),
    ("a key of a layer that is not known", changed(keras_model(), "/layers/0/kernel_size", 3), "/layers/0: unknown key 'kernel_size'. Known: type, activation, shape, weights, name"),
    ("no layers", json.dumps(keras_model(layers=[])), "there is no recurrent layer."),
    ("a skip of two", json.dumps(keras_model(in_skip=2)), "/in_skip: expected 0 or 1. Got 2."),
    ("another model of GuitarML", json.dumps(guitarml_model(model="RecNet")), "/model_data/model: 'RecNet' is not supported. Supported: SimpleRNN, with unit_type LSTM, GRU or RNN."),
    ("sizes that are not those of the weights", json.dumps(guitarml_model(hidden_size=3)), "/model_data/hidden_size: 3, but the weights are of 2."),
    ("another kind of unit", json.dumps(guitarml_model(unit_type="LSTM")), "/model_data/unit_type: LSTM, but the weights are of GRU."),
    ("a tensor of another module", changed(guitarml_model(), "/state_dict/con.weight", [[1.0]]), "/state_dict/con.weight: expected tensors of the modules rec and lin."),
    ("a missing bias", changed(guitarml_model(), "/state_dict/rec.bias_hh_l0", None), "tensor 'rec.bias_hh_l0' is missing; the other bias is there."),
    ("WaveNet", json.dumps(nam_model(architecture="WaveNet")), "/architecture: 'WaveNet' is not supported. Supported: LSTM."),
    ("too few weights", json.dumps(nam_model(weights=[0.5] * 30)), "/weights: 30 numbers are fewer than the sizes in /config need."),
    ("too many weights", json.dumps(nam_model(weights=[0.5] * 40)), "/weights: the sizes in /config need 39 numbers. Got 40."),
    ("sizes beyond the file", json.dumps(nam_model(config={"input_size": 1, "hidden_size": 60000, "num_layers": 60000})), "/weights: 39 numbers are fewer than the sizes in /config need."),
    ("a state_dict that is cut off", state_dict(LSTM_TENSORS)[:-3], "tensor 'fc.bias': bytes 168 to 172, expected to start at 168 and to end within 169"),
    ("whole numbers", state_dict(LSTM_TENSORS, "I64"), 'tensor \'lstm.weight_ih_l0\': dtype "I64", expected "F32" or "F64", "F16" or "BF16"'),
    ("a weight of a convolution", state_dict(changed_tensors(conv__weight=[4, 1, 3])), "tensor 'conv.weight': a convolution with a weight [4, 1, 3] is not supported. Supported: nn.RNN (with tanh), nn.LSTM, nn.GRU and nn.Linear."),
    ("a tensor that no module uses", state_dict(changed_tensors(norm__running_mean=[2])), "tensors that nothing here uses: norm.running_mean. Supported: nn.RNN (with tanh), nn.LSTM, nn.GRU and nn.Linear."),
    ("rows of five gates", state_dict(changed_tensors(lstm__weight_hh_l0=[10, 2])), "tensor 'lstm.weight_hh_l0': expected [G H, H] with G = 1 (nn.RNN), 3 (nn.GRU) or 4 (nn.LSTM). Got [10, 2]."),
    ("a bias of another length", state_dict(changed_tensors(lstm__bias_hh_l0=[6])), "tensor 'lstm.bias_hh_l0': expected f64 [8], got f64 [6]"),
    ("projections", state_dict(changed_tensors(lstm__weight_hr_l0=[1, 2])), "tensor 'lstm.weight_hr_l0': projections of an LSTM (proj_size) are not supported."),
    ("widths that do not fit", state_dict(changed_tensors(fc__weight=[4, 3], fc__bias=[4])), "in no order does each module take the width that the one before gives: lstm (1 to 2), fc (3 to 4)."),
    ("a map that may only come first", state_dict(changed_tensors(fc__weight=[1, 3])), "the file does not tell the order of its modules: lstm (1 to 2), fc (3 to 1). Give --order with their names"),
    ("modules in an order that the file does not tell", state_dict(changed_tensors(fd__weight=[2, 1], fe__weight=[1, 2])), "the file does not tell the order of its modules: "),
    ("an ONNX file that is cut off", onnx()[:-9], "is cut off, or damaged: field 7 has "),
    ("an ONNX file of another node", onnx().replace(b"MatMul", b"MatMux"), "MatMux 'MatMux_2': is not supported. Supported: RNN, LSTM, "),
    ("an ONNX file that shares weights", onnx().replace(b"constant_5", b"constant_6"), "two tensors are named 'constant_6'."),
]


class Refused(ImportTest):
    def test_files_are_refused_with_one_message(self):
        self.assertGreaterEqual(len(REFUSED), 30)
        for what, content, wanted in REFUSED:
            with self.subTest(what):
                self.setUp()
                self.write("model", content)
                out, message = self.run_tool("import", "model", "--output", "run", code=2)
                self.assertEqual(out, "")
                self.assertTrue(message.startswith(f"lagtape: model: {wanted}"), f"{message!r} is not {wanted!r}")
                self.assertEqual(message.count("\n"), 1)
                self.assertFalse((self.folder / "run").exists())

    def test_a_file_that_is_not_there(self):
        _, message = self.run_tool("import", "nothing.json", "--output", "run", code=2)
        self.assertIn("nothing.json", message)

    def test_a_folder_that_is_there_already(self):
        self.write("model", json.dumps(keras_model()))
        self.write("run/notes", "mine")
        before = self.snapshot()
        _, message = self.run_tool("import", "model", "--output", "run", code=2)
        self.assertIn("run: exists already. Give another --output.", message)
        self.assertEqual(self.snapshot(), before)


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

    def test_the_order_of_modules_can_be_given(self):
        tensors = changed_tensors(fd__weight=[2, 1], fe__weight=[1, 2])
        out = self.import_model(state_dict(tensors), "--order", "lstm,fe,fd,fc")
        self.assertEqual([line.split()[0] for line in out.splitlines()[1:]], ["lstm", "dense_no_bias", "dense_no_bias", "readout"])
        _, message = self.run_tool("import", "model", "--output", "other", "--order", "lstm,fe,fd", code=2)
        self.assertIn("--order names each module once.", message)
        _, message = self.run_tool("import", "model", "--output", "other", "--order", "lstm,ff,fd,fc", code=2)
        self.assertIn("--order: unknown module 'ff'", message)

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
