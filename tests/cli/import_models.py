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
