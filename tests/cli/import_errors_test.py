"""lagtape import: files that are refused with one message, and nothing written."""

import io
import json
import struct
import zipfile

from import_models import (GRAPH, LSTM_TENSORS, NODE, OUTPUT, RNN_TENSORS, changed, changed_onnx, changed_tensors, guitarml_model,
                           keras_model, message, nam_model, onnx_dims, onnx_names, onnx_tensor, state_dict)
from tool import ToolTest, main, make_safetensors


def onnx():
    folder = ToolTest.root / "tests/tools/exchange/import/golden"
    return (folder / "lstm_first_state.onnx").read_bytes()


def other_onnx(change):
    return changed_onnx(onnx(), change)


def external(**entries):
    """The numbers of the first tensor are in another file."""
    fields = [[13, [[1, key.encode()], [2, value]]] for key, value in entries.items()]
    return onnx_tensor(lambda tensor: tensor.extend([*fields, [14, 1]]))


def tensors(header, size):
    """A safetensors file of a header, as a dictionary or as text, and that many bytes of zeros."""
    if isinstance(header, dict):
        return make_safetensors(header, bytes(size))
    return struct.pack("<Q", len(header)) + header.encode() + bytes(size)


def entry(shape=(1, 1), begin=0, end=4, dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def zipped(method=zipfile.ZIP_STORED, **entries):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return packed.getvalue()


def keras_weights():
    golden = ToolTest.root / "tests/tools/exchange/import/golden/keras_layers.keras"
    return zipfile.ZipFile(golden).read("model.weights.h5")


def keras_file(kind, layers):
    """A file of Keras with an input of 3 numbers, and layers with the weights of another model."""
    first = {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, None, 3]}}
    config = {"class_name": kind, "config": {"layers": [first] + [
        {"class_name": name, "config": {"name": "c", **options}} for name, options in layers]}}
    return zipped(**{"config.json": json.dumps(config), "model.weights.h5": keras_weights()})


TWICE = '{"a.weight": %s, "a.weight": %s}' % (json.dumps(entry()), json.dumps(entry(begin=4, end=8)))

# Each row: a description, the bytes of a file, and how the message continues after "lagtape: FILE: ".
REFUSED = [
    ("an empty file", b"", "is of none of the formats that are supported: torch, keras, keras-weights, torch-json, rtneural, guitarml, nam, onnx."),
    ("an archive that is cut off", b"PK\x03\x04 data.pkl", "is cut off: the list of its entries is missing."),
    ("an old file of torch.save", b"\x80\x02}q", "is of none of the formats that are supported: torch, keras, keras-weights, torch-json, rtneural, guitarml, nam, onnx; it seems to be a file of torch.save before PyTorch 1.6: save its state_dict again"),
    ("a zip archive of other files", zipped(a=b"b"), "is a zip archive, but no file of torch.save."),
    ("a compressed archive", zipped(zipfile.ZIP_DEFLATED, a=b"b" * 99), "entry 'a': is compressed. Supported: entries stored as they are"),
    ("a pickled module", zipped(**{"m/data.pkl": b"\x80\x02c__main__\nNet\n)\x81."}), "holds an object of Python: __main__ Net. Save the weights alone: torch.save(model.state_dict(), file)."),
    ("a pickle without tensors", zipped(**{"m/data.pkl": b"\x80\x02}."}), "holds no state_dict. Save one of them"),
    ("a model of Keras of a class of its own", keras_file("Mine", []), "config.json: expected a Sequential or Functional model, got 'Mine'. Export a model of a class of its own to ONNX."),
    ("a layer of Keras that is not supported", keras_file("Sequential", [("Conv1D", {})]), "c: the layer Conv1D is not supported. Supported: Activation, "),
    ("a layer of Keras with weights of another shape", keras_file("Sequential", [("LSTM", {"units": 3})]), "model.weights.h5: tensor 'layers/lstm/cell/vars/0': expected f64 [3, 12], got f64 [2, 8]"),
    ("a layer of Keras without weights", keras_file("Sequential", [("GRU", {"units": 2})]), "model.weights.h5: tensor 'layers/gru/cell/vars/0' is missing, expected f64 [3, 6]; the nearest name in the file is 'layers/lstm/cell/vars/0'"),
    ("a part of Keras's weights", keras_file("Sequential", [("Activation", {"activation": "tanh"})]), "model.weights.h5: tensors that nothing here uses: layers/batch_normalization/vars/0, "),
    ("an HDF5 file that is cut off", b"\x89HDF\r\n\x1a\n", "is cut off or damaged."),
    ("weights of Keras whose layers are not supported alone", keras_weights(), "layer 'batch_normalization': is supported for layers lstm, gru and dense alone. Save the model as a whole: model.save(\"model.keras\")."),
    ("JSON that is cut off", json.dumps(keras_model())[:100], "line 1, column 101: syntax error"),
    ("JSON of something else", "{}", "a JSON object of none of the formats that are supported: torch, keras, keras-weights, torch-json, rtneural, guitarml, nam, onnx."),
    ("a convolution", changed(keras_model(), "/layers/0/type", "conv1d"), "/layers/0/type: expected a supported layer, one of lstm, gru, dense, time-distributed-dense, activation, got 'conv1d'"),
    ("another activation", changed(keras_model(), "/layers/1/activation", "tahn"), "/layers/1/activation: unknown activation 'tahn'; did you mean 'tanh'? Known: tanh, sigmoid, relu, elu"),
    ("a kernel of another shape", changed(keras_model(), "/layers/0/weights/0", [[1.0] * 12]), "/layers/0/weights/0: expected the shape [1, 8], got [1, 12]"),
    ("a matrix with a short row", changed(keras_model(), "/layers/0/weights/1/1", [0.5]), "/layers/0/weights/1/1: expected an array of 8, got one of 1"),
    ("a text among numbers", changed(keras_model(), "/layers/0/weights/2/3", "x"), '/layers/0/weights/2/3: expected a number, got "x"'),
    ("a number beyond f32", changed(keras_model(), "/layers/1/weights/1/0", 1e39), "values of readout.W.bias: number 0 is not finite: inf"),
    ("NaN", json.dumps(keras_model()).replace("0.125", "NaN"), "line 1, column "),
    ("an extra array", changed(keras_model(), "/layers/1/weights", [[[0.5], [0.5]], [0.1], [0.1]]), "/layers/1/weights: expected 1 or 2 arrays, got 3"),
    ("a key of a layer that is not known", changed(keras_model(), "/layers/0/kernel_size", 3), "/layers/0: unknown key 'kernel_size'. Known: type, activation, shape, weights, name"),
    ("a layer of 2^63 - 1 units", changed(keras_model(), "/layers/0/shape", [None, None, 2**63 - 1]), "/layers/0/shape: expected the output's, like [null, null, 8], with a width from 1 to 65536, got [null,null,9223372036854775807]"),
    ("an input of 10^12", json.dumps(keras_model(in_shape=[None, None, 10**12], layers=[], in_gain=3)), "/in_shape: expected the input's, like [null, null, 1], with a width from 1 to 65536, got [null,null,1000000000000]"),
    ("no layers", json.dumps(keras_model(layers=[])), "there is no recurrent layer."),
    ("two channels of NAM for one input", json.dumps(nam_model(config={"input_size": 1, "in_channels": 2, "hidden_size": 2, "num_layers": 1})), "/config/in_channels: expected 1, as input_size, got 2"),
    ("a skip of two", json.dumps(keras_model(in_skip=2)), "/in_skip: expected 0 or 1, got 2"),
    ("another model of GuitarML", json.dumps(guitarml_model(model="RecNet")), "/model_data/model: expected the supported model SimpleRNN, with unit_type LSTM, GRU or RNN, got 'RecNet'"),
    ("sizes that are not those of the weights", json.dumps(guitarml_model(hidden_size=3)), "/model_data/hidden_size: expected 2, as the weights have, got 3"),
    ("another kind of unit", json.dumps(guitarml_model(unit_type="LSTM")), "/model_data/unit_type: expected GRU, as the weights have, got LSTM"),
    ("a tensor of another module", changed(guitarml_model(), "/state_dict/con.weight", [[1.0]]), "/state_dict/con.weight: expected tensors of the modules rec and lin"),
    ("a missing bias", changed(guitarml_model(), "/state_dict/rec.bias_hh_l0", None), "tensor 'rec.bias_hh_l0': is missing; the other bias is there."),
    ("WaveNet", json.dumps(nam_model(architecture="WaveNet")), "/architecture: expected the supported architecture LSTM, got 'WaveNet'"),
    ("too few weights", json.dumps(nam_model(weights=[0.5] * 30)), "/weights: 30 numbers are fewer than the sizes in /config need."),
    ("too many weights", json.dumps(nam_model(weights=[0.5] * 40)), "/weights: expected 39 numbers, which the sizes in /config need, got 40"),
    ("sizes beyond the file", json.dumps(nam_model(config={"input_size": 1, "hidden_size": 60000, "num_layers": 60000})), "/weights: 39 numbers are fewer than the sizes in /config need."),
    ("a state_dict that is cut off", state_dict(LSTM_TENSORS)[:-3], "is cut off: it has 649 bytes, its header promises 652"),
    ("whole numbers", state_dict(LSTM_TENSORS, "I64"), 'tensor \'lstm.weight_ih_l0\': dtype "I64", expected "F32" or "F64", "F16" or "BF16"'),
    ("a weight of a convolution", state_dict(changed_tensors(conv__weight=[4, 1, 3])), "tensor 'conv.weight': a convolution with a weight [4, 1, 3] is not supported. Supported: nn.RNN, nn.LSTM, nn.GRU, their cells, and nn.Linear."),
    ("a tensor that no module uses", state_dict(changed_tensors(norm__running_mean=[2])), "tensors that nothing here uses: norm.running_mean. Supported: nn.RNN, nn.LSTM, nn.GRU, their cells, and nn.Linear."),
    ("rows of five gates", state_dict(changed_tensors(lstm__weight_hh_l0=[10, 2])), "tensor 'lstm.weight_hh_l0': expected [G H, H] with G = 1 (nn.RNN), 3 (nn.GRU) or 4 (nn.LSTM), got [10, 2]"),
    ("a bias of another length", state_dict(changed_tensors(lstm__bias_hh_l0=[6])), "tensor 'lstm.bias_hh_l0': expected f64 [8], got f64 [6]"),
    ("projections", state_dict(changed_tensors(lstm__weight_hr_l0=[1, 2])), "tensor 'lstm.weight_hr_l0': projections of an LSTM (proj_size) are not supported."),
    ("another function of nn.RNN", state_dict(RNN_TENSORS, metadata={"nonlinearity": "rleu"}), "metadata: unknown nonlinearity 'rleu'; did you mean 'relu'? Known: tanh, relu"),
    ("a function of nn.RNN where there is none", state_dict(LSTM_TENSORS, metadata={"nonlinearity": "relu"}), "metadata: the nonlinearity is that of nn.RNN, and there is none."),
    ("widths that do not fit", state_dict(changed_tensors(fc__weight=[4, 3], fc__bias=[4])), "in no order does each module take the width that the one before gives: lstm (1 to 2), fc (3 to 4)."),
    ("a map that may only come first", state_dict(changed_tensors(fc__weight=[1, 3])), "the file does not tell the order of its modules: lstm (1 to 2), fc (3 to 1). Give --order with their names"),
    ("modules in an order that the file does not tell", state_dict(changed_tensors(fd__weight=[2, 1], fe__weight=[1, 2])), "the file does not tell the order of its modules: "),
    ("an ONNX file that is cut off", onnx()[:-9], "is cut off, or damaged: field 7 has "),
    ("an ONNX file of another node", onnx().replace(b"MatMul", b"MatMux"), "MatMux 'MatMux_2': is not supported. Supported: RNN, LSTM, "),
    ("an ONNX file whose end is missing", onnx()[:-1], "is cut off, or damaged: field 8 has 4 bytes, of which 3 are there."),
    ("an ONNX file with two graphs", other_onnx(lambda file, graph: file.append([GRAPH, graph])), "is damaged: there are two graphs."),
    ("an ONNX file of old operators", other_onnx(lambda file, graph: file.append([8, [[2, 6]]])), "ONNX's operators of version 6 are not supported. Supported: version 7 and later."),
    ("an ONNX file with functions", other_onnx(lambda file, graph: file.append([25, b""])), "functions of the file's own are not supported."),
    ("ONNX extents beyond any memory", other_onnx(onnx_dims(2**40, 2**40)), "tensor 'constant_0': the shape [1099511627776, 1099511627776] does not fit its 32 numbers."),
    ("ONNX extents whose product is 32 in 64 bits", other_onnx(onnx_dims(2**63, 2, 32)), "tensor 'constant_0': the shape [-9223372036854775808, 2, 32]."),
    ("an extent of ONNX below 0", other_onnx(onnx_dims(2**64 - 1, 16, 2)), "tensor 'constant_0': the shape [-1, 16, 2]."),
    ("numbers of ONNX in a file that is missing", other_onnx(external(location=b"model.data")), "tensor 'constant_0': its numbers are in the file 'model.data' beside the model, which is not there. PyTorch writes the two together"),
    ("numbers of ONNX outside of the folder", other_onnx(external(location=b"../../etc/passwd")), "tensor 'constant_0': its numbers are in the file '../../etc/passwd', which is not in the folder of the model or below it."),
    ("numbers of ONNX in a file of the system", other_onnx(external(location=b"/etc/passwd")), "tensor 'constant_0': its numbers are in the file '/etc/passwd', which is not in the folder of the model or below it."),
    ("numbers of ONNX in no file", other_onnx(external()), "tensor 'constant_0': its numbers are in the file '', which is not in the folder of the model or below it."),
    ("numbers of ONNX beyond the end of their file", other_onnx(external(location=b"model", offset=b"10", length=b"99999999")), "tensor 'constant_0': expected 99999999 bytes from byte 10 on of 'model', which has "),
    ("an offset that is no number", other_onnx(external(location=b"model", offset=b"-1")), "tensor 'constant_0': expected a whole number as offset, got '-1'"),
    ("texts as weights of ONNX", other_onnx(onnx_tensor(lambda tensor: tensor.append([2, 8]))), "tensor 'constant_0': numbers of ONNX's type 8 are not supported."),
    ("NaN in a weight of ONNX", onnx().replace(b"\xc3\x91\xa0?", b"\0\0\xc0\x7f"), "values of layers.0.U_i: number 0 is not finite: nan"),
    ("NaN in a first state of ONNX", onnx().replace(b"Vn+>", b"\0\0\xc0\x7f"), "state 0: number 0 is not finite: nan"),
    ("a circle of nodes", other_onnx(onnx_names(b"x", b"value_3_0")), "LSTM 'LSTM_0': expected the output of the node before as input 0."),
    ("two nodes of ONNX that make one value", other_onnx(onnx_names(b"value_2_0", b"value_1_0")), "two values are named 'value_1_0'."),
    ("a node of ONNX that makes a constant", other_onnx(onnx_names(b"value_2_0", b"constant_7")), "two values are named 'constant_7'."),
    ("an output of ONNX that is there twice", other_onnx(lambda file, graph: graph.append(next(field for field in graph if field[0] == OUTPUT))), "two outputs are named 'value_3_0'."),
    ("a graph of ONNX without nodes", other_onnx(lambda file, graph: graph.__setitem__(slice(None), [field for field in graph if field[0] != NODE])), "is no ONNX file, or has no nodes."),
    ("two tensors of one name", tensors(TWICE, 8), "header: line 1, column 73: key 'a.weight' occurs twice"),
    ("two arrays of one name", json.dumps(guitarml_model()).replace('"lin.bias"', '"lin.weight"'), "line 1, column "),
    ("tensors that share their bytes", tensors({"a.weight": entry(), "b.weight": entry()}, 4), "tensor 'b.weight': bytes 0 to 4, expected to start at 4"),
    ("a shape beyond any memory", tensors({"a.weight": entry((2**62, 4))}, 4), "tensor 'a.weight': too large: [4611686018427387904, 4]"),
    ("a shape below 0", tensors({"a.weight": entry((-1, 1))}, 4), "tensor 'a.weight': shape [-1,1], expected non-negative integers"),
    ("bytes that end before they begin", tensors({"a.weight": entry(begin=4, end=0)}, 4), "tensor 'a.weight': data_offsets is not [begin, end]"),
    ("bytes that no tensor names", tensors({"a.weight": entry()}, 9), "the tensors end at byte 4, the data at 9"),
    ("a header longer than the file", struct.pack("<Q", 2**31) + b"{}", "not a safetensors file (10 bytes)"),
    ("NaN in a weight of PyTorch", state_dict(LSTM_TENSORS)[:-4] + struct.pack("<f", float("nan")), "values of readout.W.bias: number 0 is not finite: nan"),
    ("a layer that is missing between others", state_dict(changed_tensors(lstm__weight_ih_l2=[8, 2], lstm__weight_hh_l2=[8, 2])), "tensors that nothing here uses: lstm.weight_ih_l2, lstm.weight_hh_l2."),
    ("JSON that is nested without end", '{"layers":' + "[" * 100000, "line 1, column 110: nested too deeply"),
    ("a size of NAM that is no number of units", json.dumps(nam_model(config={"input_size": 1, "hidden_size": 2**62, "num_layers": 1})), "/config/hidden_size: expected a whole number, 1 to 65536, got 4611686018427387904"),
    ("an ONNX file that shares weights", onnx().replace(b"constant_5", b"constant_6"), "two tensors are named 'constant_6'."),
]


class Refused(ToolTest):
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

    def test_long_lists_of_names_are_cut(self):
        inputs = [[11, message([[1, b"in%d" % i], [2, [[1, [[1, 1], [2, [[1, [[1, 2]]]]]]]]]])] for i in range(5_000)]
        modules = {f"l{i}.weight": [2, 2] for i in range(5_000)}
        for content, wanted in ((other_onnx(lambda file, graph: graph.extend(inputs)), r"expected one input, got 5001: .* and 4941 more"),
                                (state_dict(modules), r"does not tell the order of its modules: .* and 4940 more\. Give")):
            self.write("model", content)
            err = self.run_tool("import", "model", "--output", "run", code=2)[1]
            self.assertRegex(err, wanted)
            self.assertLess(len(err), 3_000)

    def test_many_nodes_of_onnx(self):
        values = [b"input"] + [b"v%d" % i for i in range(60_000)]
        nodes = [[NODE, [[1, a], [2, b], [4, b"Identity"]]] for a, b in zip(values, values[1:])]
        shape = [[1, [[1, 1], [2, [[1, [[1, size]]] for size in (1, 1, 2)]]]]]
        self.write("model", message([[1, 8], [GRAPH, nodes + [[11, [[1, b"input"], [2, shape]]], [OUTPUT, [[1, values[-1]], [2, shape]]]]], [8, [[2, 13]]]]))
        with self.within(6):
            self.run_tool("import", "model", "--output", "run", code=2)

    def test_a_file_that_is_not_there(self):
        _, message = self.run_tool("import", "nothing.json", "--output", "run", code=2)
        self.assertIn("nothing.json", message)

    def test_the_weights_of_a_model_of_another_kind(self):
        self.train("run")
        self.write("weights", self.weights("run"))
        _, message = self.run_tool("import", "weights", "--output", "other", code=2)
        self.assertTrue(message.startswith("lagtape: weights: "), message)
        self.assertFalse((self.folder / "other").exists())
        self.write("model", json.dumps(keras_model()))
        _, message = self.run_tool("predict", "model", "--input", "-", "--output", "-", code=2)
        self.assertTrue(message.startswith("lagtape: model: "), message)

    def test_a_folder_that_is_there_already(self):
        self.write("model", json.dumps(keras_model()))
        self.write("run/notes", "mine")
        before = self.snapshot()
        _, message = self.run_tool("import", "model", "--output", "run", code=2)
        self.assertIn("run: exists already. Give another --output.", message)
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    main()
