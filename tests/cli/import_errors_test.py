"""lagtape import: files that are refused with one message, and nothing written."""

import json

from import_models import LSTM_TENSORS, RNN_TENSORS, changed, changed_tensors, guitarml_model, keras_model, nam_model, state_dict
from tool import ToolTest, main


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
    ("a weight of a convolution", state_dict(changed_tensors(conv__weight=[4, 1, 3])), "tensor 'conv.weight': a convolution with a weight [4, 1, 3] is not supported. Supported: nn.RNN, nn.LSTM, nn.GRU and nn.Linear."),
    ("a tensor that no module uses", state_dict(changed_tensors(norm__running_mean=[2])), "tensors that nothing here uses: norm.running_mean. Supported: nn.RNN, nn.LSTM, nn.GRU and nn.Linear."),
    ("rows of five gates", state_dict(changed_tensors(lstm__weight_hh_l0=[10, 2])), "tensor 'lstm.weight_hh_l0': expected [G H, H] with G = 1 (nn.RNN), 3 (nn.GRU) or 4 (nn.LSTM). Got [10, 2]."),
    ("a bias of another length", state_dict(changed_tensors(lstm__bias_hh_l0=[6])), "tensor 'lstm.bias_hh_l0': expected f64 [8], got f64 [6]"),
    ("projections", state_dict(changed_tensors(lstm__weight_hr_l0=[1, 2])), "tensor 'lstm.weight_hr_l0': projections of an LSTM (proj_size) are not supported."),
    ("another function of nn.RNN", state_dict(RNN_TENSORS, metadata={"nonlinearity": "rleu"}), "metadata: unknown nonlinearity 'rleu'; did you mean 'relu'? Known: tanh, relu"),
    ("a function of nn.RNN where there is none", state_dict(LSTM_TENSORS, metadata={"nonlinearity": "relu"}), "metadata: the nonlinearity is that of nn.RNN, and there is none."),
    ("widths that do not fit", state_dict(changed_tensors(fc__weight=[4, 3], fc__bias=[4])), "in no order does each module take the width that the one before gives: lstm (1 to 2), fc (3 to 4)."),
    ("a map that may only come first", state_dict(changed_tensors(fc__weight=[1, 3])), "the file does not tell the order of its modules: lstm (1 to 2), fc (3 to 1). Give --order with their names"),
    ("modules in an order that the file does not tell", state_dict(changed_tensors(fd__weight=[2, 1], fe__weight=[1, 2])), "the file does not tell the order of its modules: "),
    ("an ONNX file that is cut off", onnx()[:-9], "is cut off, or damaged: field 7 has "),
    ("an ONNX file of another node", onnx().replace(b"MatMul", b"MatMux"), "MatMux 'MatMux_2': is not supported. Supported: RNN, LSTM, "),
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


if __name__ == "__main__":
    main()
