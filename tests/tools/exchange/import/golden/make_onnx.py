"""Writes small ONNX models beside itself, NAME.onnx, and onnx_outputs.safetensors: for each its input NAME.x and what
onnxruntime gives for it, NAME.y.

usage: make_onnx.py        (onnx 1.23.2, onnxruntime 1.32.0, torch 2.13.0, safetensors 0.8.0)
"""

import io
import pathlib

import numpy
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).parent
STEPS = 9
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
RANDOM = numpy.random.default_rng(27)


class Graph:
    """A graph that grows node by node; `value` is the name of what the last node gave."""

    def __init__(self, shape, value="x"):
        self.nodes, self.tensors, self.value, self.shape = [], [], value, shape

    def constant(self, *shape, dtype=numpy.float32, scale=1.0, values=None):
        name = f"constant_{len(self.tensors)}"
        array = scale * RANDOM.standard_normal(shape) if values is None else numpy.array(values)
        self.tensors.append(numpy_helper.from_array(array.astype(dtype), name))
        return name

    def node(self, kind, *inputs, output=0, outputs=1, **attributes):
        names = [f"value_{len(self.nodes)}_{k}" for k in range(outputs)]
        names = [name if k == output else "" for k, name in enumerate(names)]
        self.nodes.append(helper.make_node(kind, [self.value, *inputs], names, name=f"{kind}_{len(self.nodes)}", **attributes))
        self.value = names[output]
        return self

    def integers(self, *values):
        return self.constant(values=values, dtype=numpy.int64)

    def recurrence(self, kind, width, units, bias=True, first=(), output=0, **attributes):
        count = 2 if attributes.get("direction") == "bidirectional" else 1
        rows = GATES[kind] * units
        inputs = [self.constant(count, rows, width), self.constant(count, rows, units),
                  self.constant(count, 2 * rows, scale=0.5) if bias else ""]
        if first:
            inputs += ["", *(self.constant(count, 1, units) if given else "" for given in first)]
        return self.node(kind, *inputs, output=output, outputs=output + 1, hidden_size=units, **attributes)

    def model(self, rank):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info(self.value, TensorProto.FLOAT, [None] * rank)
        graph = helper.make_graph(self.nodes, "model", [x], [y], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def lstm_first_state():
    graph = Graph(["T", 1, 2]).recurrence("LSTM", 2, 4, first=(True, True))
    graph.node("Squeeze", graph.integers(1))
    return graph.node("MatMul", graph.constant(4, 3)).node("Add", graph.constant(3)).model(3)


def gru_reset_before():
    graph = Graph(["T", 1, 2]).recurrence("GRU", 2, 4)
    return graph.node("Squeeze", graph.integers(1)).model(3)


def gru_reset_after_first_state():
    graph = Graph(["T", 1, 2]).recurrence("GRU", 2, 3, first=(True,), linear_before_reset=1)
    return graph.node("Squeeze", graph.integers(1)).model(3)


def rnn_relu_no_bias():
    graph = Graph(["T", 1, 3]).recurrence("RNN", 3, 4, bias=False, activations=["Relu"])
    graph.node("Squeeze", graph.integers(1))
    return graph.node("MatMul", graph.constant(4, 2)).node("Tanh").model(3)


def bidirectional_batch_first():
    graph = Graph([1, "T", 2]).node("Transpose", perm=[1, 0, 2])
    graph.recurrence("LSTM", 2, 3, first=(True, False), direction="bidirectional")
    graph.node("Transpose", perm=[0, 2, 1, 3]).node("Reshape", graph.integers(0, 0, -1))
    return graph.node("Transpose", perm=[1, 0, 2]).node("MatMul", graph.constant(6, 2)).model(3)


def gemm_after_flattening():
    graph = Graph(["T", 1, 1]).recurrence("GRU", 1, 5, linear_before_reset=1)
    graph.node("Reshape", graph.integers(-1, 5)).node("Gemm", graph.constant(4, 5), graph.constant(4), transB=1)
    graph.node("Sigmoid").node("Gemm", graph.constant(4, 2), graph.constant(2))
    return graph.node("Reshape", graph.integers(-1, 1, 2)).model(3)


def skip_of_the_first_input():
    graph = Graph(["T", 1, 2])
    first = Graph(["T", 1, 2]).node("Slice", graph.integers(0), graph.integers(1), graph.integers(2))
    graph.nodes += first.nodes
    graph.value = "x"
    graph.recurrence("LSTM", 2, 4).node("Squeeze", graph.integers(1)).node("MatMul", graph.constant(4, 1))
    return graph.node("Add", first.value).model(3)


def last_state():
    graph = Graph(["T", 1, 2]).recurrence("GRU", 2, 4, output=1, linear_before_reset=1)
    graph.node("Squeeze", graph.integers(0))
    return graph.node("Gemm", graph.constant(4, 3), graph.constant(3)).model(2)


def exported_by_torch():
    torch.manual_seed(27)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(2, 4, num_layers=2, batch_first=True)
            self.head = torch.nn.Linear(4, 1)

        def forward(self, x):
            return self.head(self.lstm(x)[0])

    with io.BytesIO() as file:
        torch.onnx.export(Model(), torch.zeros(1, STEPS, 2), file, dynamo=False, input_names=["x"], output_names=["y"])
        return file.getvalue()


MODELS = [lstm_first_state, gru_reset_before, gru_reset_after_first_state, rnn_relu_no_bias, bidirectional_batch_first,
          gemm_after_flattening, skip_of_the_first_input, last_state, exported_by_torch]


def main():
    outputs = {}
    for make in MODELS:
        name, data = make.__name__, make()
        (FOLDER / f"{name}.onnx").write_bytes(data)
        session = onnxruntime.InferenceSession(data)
        width = session.get_inputs()[0].shape[-1]
        batch_first = session.get_inputs()[0].shape[0] == 1
        x = RANDOM.standard_normal((STEPS, width)).astype(numpy.float32)
        y = session.run(None, {"x": x[None] if batch_first else x[:, None]})[0]
        outputs |= {f"{name}.x": x, f"{name}.y": y.reshape(-1, y.shape[-1])}
    save_file(outputs, FOLDER / "onnx_outputs.safetensors")


main()
