"""Small models of other programs, as their files have them."""

import copy
import json
import math
import struct

from tool import make_safetensors

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


def state_dict(tensors, dtype="F32", metadata=None):
    """A safetensors file of equal numbers."""
    header, buffer, size = {"__metadata__": metadata} if metadata else {}, b"", {"F32": 4, "F64": 8, "F16": 2, "I64": 8}[dtype]
    for name, shape in tensors.items():
        data = struct.pack("<f", 0.25) * (math.prod(shape) * size // 4)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(buffer), len(buffer) + len(data)]}
        buffer += data
    return make_safetensors(header, buffer)


LSTM_TENSORS = {"lstm.weight_ih_l0": [8, 1], "lstm.weight_hh_l0": [8, 2], "lstm.bias_ih_l0": [8], "lstm.bias_hh_l0": [8],
                "fc.weight": [1, 2], "fc.bias": [1]}

RNN_TENSORS = {"rnn.weight_ih_l0": [2, 1], "rnn.weight_hh_l0": [2, 2], "rnn.bias_ih_l0": [2], "rnn.bias_hh_l0": [2],
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


# ---- ONNX files, whose messages are lists of [field, value] ----

def _varint(value):
    parts = b""
    while True:
        value, low = value >> 7, value & 127
        parts += bytes([low | (128 if value else 0)])
        if not value:
            return parts


def message(fields):
    """The bytes of a message whose values are whole numbers, bytes or lists of fields."""
    parts = []
    for number, value in fields:
        if isinstance(value, int):
            parts += [_varint(number << 3), _varint(value % 2**64)]
        else:
            data = message(value) if isinstance(value, list) else value
            parts += [_varint(number << 3 | 2), _varint(len(data)), data]
    return b"".join(parts)


def fields_of(data):
    """The fields of a message of whole numbers and bytes."""
    fields, at = [], 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 2:
            size = number()
            fields.append([key >> 3, data[at:at + size]])
            at += size
        else:
            fields.append([key >> 3, number()])
    return fields


GRAPH, NODE, TENSOR, OUTPUT = 7, 1, 5, 12


def changed_onnx(data, change):
    """A file of ONNX after `change`, which gets the fields of the file and those of its graph."""
    file = fields_of(data)
    graph = next(field for field in file if field[0] == GRAPH)
    graph[1] = fields_of(graph[1])
    change(file, graph[1])
    return message(file)


def onnx_tensor(change):
    """A change of the graph's first tensor: `change` gets its fields."""
    def apply(file, graph):
        tensor = next(field for field in graph if field[0] == TENSOR)
        tensor[1] = fields_of(tensor[1])
        change(tensor[1])
    return apply


def onnx_dims(*extents):
    """Other extents for the first tensor."""
    def apply(tensor):
        tensor[:] = [[1, extent] for extent in extents] + [field for field in tensor if field[0] != 1]
    return onnx_tensor(apply)


def onnx_names(old, new):
    """Another name in the nodes of the graph, as an input or an output."""
    def apply(file, graph):
        for field in graph:
            if field[0] == NODE:
                field[1] = [[n, new if n in (1, 2) and value == old else value] for n, value in fields_of(field[1])]
    return apply
