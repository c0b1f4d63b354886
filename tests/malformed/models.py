"""Malformed experiments, cells and weights files: name and bytes of each."""

import copy
import json
import struct

EXPERIMENT = {
    "name": "small",
    "data": {"task": "mackey_glass", "length": 500, "train": 4, "valid": 2, "test": 2},
    "model": {"layers": [{"cell": "rnn", "units": 2}], "readout": {"units": 1, "at": "every_step"}},
    "loss": "mse",
    "train": {"epochs": 1, "batch": 2},
}
CELL = {
    "hyper": {"tau": 3},
    "weights": {"W": ["units", "units"], "U": ["units", "input"], "b": ["units"]},
    "state": {"h": "units"},
    "step": ["h' = tanh(W @ h[-tau] + U @ x + b)"],
    "output": "h'",
}
NAN, INFINITY = float("nan"), float("inf")


def changed(document, path, value):
    """A copy with the value at a path such as "train.epochs" or "model.layers.0.units"."""
    result = copy.deepcopy(document)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = result
    for key in parents:
        place = place[key]
    place[last] = value
    return result


def without(document, *keys):
    return {key: value for key, value in document.items() if key not in keys}


# ---- Experiments -----------------------------------------------------------------------------------------------------


def with_cell(path, value):
    experiment = {**EXPERIMENT, "cells": {"own": changed(CELL, path, value)}}
    return changed(experiment, "model.layers.0", {"cell": "own", "units": 2})


def experiments():
    text = json.dumps(EXPERIMENT)
    yield "empty", b""
    yield "blanks", b" \n\t "
    yield "cut", text[: len(text) // 2].encode()
    yield "nul", text.encode() + b"\0" + text.encode()
    yield "nul_alone", b"\0"
    yield "text_behind", (text + "{}").encode()
    yield "list", b"[]"
    yield "number", b"3"
    yield "byte_order_mark_twice", b"\xef\xbb\xbf\xef\xbb\xbf" + text.encode()
    yield "utf16", text.encode("utf-16")
    yield "not_utf8", text.replace("small", "sm\xe4ll").encode("latin-1")
    yield "overlong_utf8", text.encode().replace(b"small", b"sm\xc0\xafll")
    yield "surrogate", text.replace("small", r"\ud800").encode()
    yield "control_in_name", text.replace("small", r"\u001b[2J\u001b]0;owned\u0007").encode()
    yield "control_in_key", json.dumps({**EXPERIMENT, "\x1b[31mred\x1b[0m": 1}).encode()
    yield "right_to_left_key", json.dumps({**EXPERIMENT, "\u202ehcope": 1}).encode()
    yield "newlines_in_key", json.dumps({**EXPERIMENT, "a\nlagtape: all is well\n": 1}).encode()
    yield "long_key", json.dumps({**EXPERIMENT, "k" * 5000: 1}).encode()
    yield "many_keys", json.dumps({**EXPERIMENT, **{f"key{i}": i for i in range(2000)}}).encode()
    yield "key_twice", text.replace('"loss"', '"name": "other", "loss"').encode()
    yield "deep", b"[" * 3000
    yield "deep_objects", b'{"a":' * 3000
    yield "nan", text.replace('"epochs": 1', '"epochs": NaN').encode()
    yield "infinity", text.replace('"epochs": 1', '"epochs": Infinity').encode()
    yield "overflow", text.replace('"epochs": 1', '"epochs": 1e999').encode()
    yield "huge_integer", text.replace('"epochs": 1', '"epochs": ' + "9" * 400).encode()
    yield "comment_without_end", ("/* a remark\n" + text).encode()
    yield "single_quotes", text.replace('"', "'").encode()
    yield "two_trailing_commas", (text[:-1] + ",,}").encode()
    for name, path, value in (
        ("units_zero", "model.layers.0.units", 0),
        ("units_huge", "model.layers.0.units", 2**53),
        ("memory_huge", "model.layers", [{"cell": "lstm", "units": 65536}] * 100),
        ("units_text", "model.layers.0.units", "\x1b[2J"),
        ("units_list", "model.layers.0.units", [1] * 10000),
        ("cell_control", "model.layers.0.cell", "\x1b[2Jrnn"),
        ("cell_long", "model.layers.0.cell", "r" * 3000),
        ("layers_object", "model.layers", {"0": {}}),
        ("layers_empty", "model.layers", []),
        ("layer_null", "model.layers.0", None),
        ("task_number", "data.task", 5),
        ("loss_number", "loss", 5),
        ("loss_list", "loss", []),
        ("metrics_nested", "metrics", [["rmse"]]),
        ("epochs_fraction", "train.epochs", 1.5),
        ("epochs_negative", "train.epochs", -1),
        ("epochs_beyond_64_bits", "train.epochs", 2**64),
        ("batch_1e300", "train.batch", 1e300),
        ("budget_control", "train.memory", {"plan": "auto", "budget": "\x07" * 10}),
        ("seed_beyond_63_bits", "seed", 2**63),
        ("readout_unknown", "model.readout.at", "every\u0000step"),
    ):
        base = {**EXPERIMENT, "seed": 0, "metrics": []}
        yield name, json.dumps(changed(base, path, value)).encode()
    for name, path, value in (
        ("equation_control", "step", ["h' = tanh(\x1b[2J)"]),
        ("equation_long_name", "step", ["h' = tanh(" + "w" * 3000 + ")"]),
        ("equation_deep", "step", ["h' = " + "(" * 2000 + "h" + ")" * 2000]),
        ("equation_empty", "step", [""]),
        ("equation_huge_number", "step", ["h' = 1e999 * h"]),
        ("lag_huge", "step", ["h' = tanh(W @ h[-99999999999999999999] + U @ x + b)"]),
        ("lag_fraction", "step", ["h' = tanh(W @ h[-0.5 * tau] + U @ x + b)"]),
        ("weight_of_three_axes", "weights.W", ["units", "units", "units"]),
        ("weight_negative", "weights.W", ["units", "0 - 5"]),
        ("weight_name_control", "weights", {"W\x1b": ["units", "units"]}),
        ("derived_eye_huge", "derived", {"A": "eye(units * 20000)"}),
        ("derived_product_huge", "derived", {"A": "reshape(arange(60000), 60000, 1) @ reshape(arange(60000), 1, 60000)"}),
        ("derived_arange_huge", "derived", {"A": "arange(1073741824)"}),
        ("derived_outer_huge", "derived", {"A": "reshape(arange(60000), 60000, 1) * arange(60000)"}),
        ("derived_unknown", "derived", {"A": "expmm(W)"}),
    ):
        yield "cell_" + name, json.dumps(with_cell(path, value)).encode()


# ---- Weights ---------------------------------------------------------------------------------------------------------

TENSORS = {
    "layers.0.W": [2, 2],
    "layers.0.W.bias": [2],
    "layers.0.U": [2, 1],
    "layers.0.U.bias": [2],
    "readout.W": [1, 2],
    "readout.W.bias": [1],
}
OWN = {"layers.0.W": [64, 64], "layers.0.U": [64, 1], "layers.0.b": [64], "readout.W": [1, 64], "readout.W.bias": [1]}
METADATA = {
    "format": "lagtape-1",
    "experiment": json.dumps(EXPERIMENT),
    "normalization": '{"input_mean":[],"input_scale":[],"output_mean":[],"output_scale":[]}',
    "input": "1",
    "output": "1",
    "classes": "0",
}


def count_of(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def header_of(tensors=None, metadata=None):
    header, at = {"__metadata__": METADATA if metadata is None else metadata}, 0
    for name, shape in (TENSORS if tensors is None else tensors).items():
        end = at + 4 * count_of(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, end]}
        at = end
    return header, at


def safetensors(header, size, fill=b"\0"):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + (fill * size)[:size]


def model(tensors=None, **metadata):
    return safetensors(*header_of(tensors, {**METADATA, **metadata}))


def model_of(layer, tensors=None, **others):
    experiment = changed(EXPERIMENT, "model.layers.0", layer)
    return model(tensors, experiment=json.dumps({**experiment, **others}))


def model_of_cell(path, value, **layer):
    cells = {"own": changed(CELL, path, value)}
    return model_of({"cell": "own", "units": 2, **layer}, cells=cells)


def weights():
    header, size = header_of()
    text = json.dumps(header).encode()
    yield "empty", b""
    yield "seven_bytes", b"\0" * 7
    yield "header_of_zero_bytes", struct.pack("<Q", 0)
    yield "header_beyond_file", struct.pack("<Q", 10**12) + text
    yield "header_negative", struct.pack("<q", -1) + text
    yield "header_cut", safetensors(header, size)[:100]
    yield "data_cut", safetensors(header, size - 4)
    yield "data_behind", safetensors(header, size + 4)
    yield "header_list", safetensors(b"[]", 0)
    yield "header_not_utf8", safetensors(text.replace(b"layers.0.W", b"layers.\xff.W"), size)
    yield "header_nul", safetensors(text + b"\0" + text, size)
    yield "no_metadata", safetensors(without(header, "__metadata__"), size)
    yield "metadata_list", safetensors({**header, "__metadata__": []}, size)
    yield "metadata_number", safetensors({**header, "__metadata__": {**METADATA, "format": 1}}, size)
    yield "metadata_key_control", safetensors({**header, "__metadata__": {"\x1b[2J": 1}}, size)
    yield "tensor_twice", safetensors(text[:-1] + b', "readout.W": ' + json.dumps(header["readout.W"]).encode() + b"}", size)
    for name, key, value in (
        ("dtype_f16", "dtype", "F16"),
        ("dtype_control", "dtype", "\x1b[2J"),
        ("dtype_number", "dtype", 32),
        ("shape_negative", "shape", [-1, 2]),
        ("shape_fraction", "shape", [2.5, 2]),
        ("shape_of_ones", "shape", [1] * 20000),
        ("shape_huge", "shape", [2**62, 4]),
        ("shape_overflow", "shape", [2**32, 2**32]),
        ("shape_text", "shape", "[2, 2]"),
        ("shape_transposed", "shape", [4, 1]),
        ("offsets_reversed", "data_offsets", [16, 0]),
        ("offsets_beyond", "data_offsets", [0, 10**6]),
        ("offsets_overlap", "data_offsets", [4, 20]),
        ("offsets_one", "data_offsets", [0]),
        ("offsets_1e300", "data_offsets", [0, 1e300]),
    ):
        yield name, safetensors({**header, "layers.0.W": {**header["layers.0.W"], key: value}}, size)
    yield "entry_number", safetensors({**header, "layers.0.W": 5}, size)
    yield "entry_with_more", safetensors({**header, "layers.0.W": {**header["layers.0.W"], "more": 1}}, size)
    yield "tensor_missing", model(without(TENSORS, "readout.W"))
    yield "tensor_too_many", model({**TENSORS, "more": [2]})
    yield "many_tensors_too_many", model({**TENSORS, **{f"more{i}": [1] for i in range(500)}})
    yield "tensor_name_control", model({**without(TENSORS, "readout.W"), "readout.\x1b[2JW": [1, 2]})
    yield "tensor_name_long", model({**TENSORS, "n" * 4000: [1]})
    yield "nan", safetensors(header, size, struct.pack("<f", NAN))
    yield "infinity", safetensors(header, size, struct.pack("<f", INFINITY))
    for name, key, value in (
        ("format_other", "format", "lagtape-99"),
        ("format_control", "format", "\x1b[2J"),
        ("input_text", "input", "one"),
        ("input_negative", "input", "-1"),
        ("input_huge", "input", "99999999999999999999"),
        ("classes_fraction", "classes", "1.5"),
        ("experiment_empty", "experiment", ""),
        ("experiment_list", "experiment", "[]"),
        ("experiment_nul", "experiment", json.dumps(EXPERIMENT) + "\0more"),
        ("experiment_no_model", "experiment", "{}"),
        ("experiment_loss", "experiment", json.dumps({**EXPERIMENT, "loss": 5})),
        ("experiment_precision", "experiment", json.dumps(changed(EXPERIMENT, "train", {"precision": 5}))),
        ("normalization_cut", "normalization", "{"),
        ("normalization_wide", "normalization", METADATA["normalization"].replace('mean":[]', 'mean":[0,0]')),
        ("normalization_zero", "normalization", '{"input_mean":[0],"input_scale":[0],"output_mean":[],"output_scale":[]}'),
        ("normalization_beyond_f32", "normalization", '{"input_mean":[],"input_scale":[],"output_mean":[0],"output_scale":[1e300]}'),
        ("normalization_below_f32", "normalization", '{"input_mean":[0],"input_scale":[1e-300],"output_mean":[],"output_scale":[]}'),
    ):
        yield name, model(**{key: value})
    yield "units_of_another_model", model_of({"cell": "rnn", "units": 3})
    yield "cell_of_another_model", model_of({"cell": "gru", "units": 2})
    yield "lmu_of_order_4096", model_of({"cell": "lmu", "units": 2, "order": 4096, "theta": 10})
    yield "lmu_of_order_1e12", model_of({"cell": "lmu", "units": 2, "order": 10**12, "theta": 10})
    yield "exp_rnn_of_40000_units", model_of({"cell": "exp_rnn", "units": 40000})
    yield "s4d_of_65536_units", model_of({"cell": "s4d", "units": 65536})
    yield "units_1e12", model_of({"cell": "rnn", "units": 10**12})
    yield "tau_2_to_30_of_64_units", model_of({"cell": "own", "units": 64, "tau": 2**30}, OWN, cells={"own": CELL})
    yield "tau_2_to_62", model_of({"cell": "tau_gru", "units": 2, "tau": 2**62})
    yield "derived_eye_of_40000", model_of_cell("derived", {"A": "eye(40000)"})
    yield "derived_outer_of_40000_units", model_of_cell("derived", {"A": "reshape(b, units, 1) * b"}, units=40000)
    yield "derived_expm_of_3000", model_of_cell("derived", {"A": "expm(reshape(b, units, 1) * b)"}, units=3000)
    yield "derived_arange_of_2_to_30", model_of_cell("derived", {"A": "arange(1073741824)"})
