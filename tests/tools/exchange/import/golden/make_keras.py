"""Writes a model of Keras 3 beside itself, keras_layers.keras, with all that the importer reads of one; keras_loop.onnx, a GRU
as tf2onnx exports it; keras_weights.h5, weights alone; and keras_outputs.safetensors: for each its input NAME.x and what Keras gives for it, NAME.y.

usage: make_keras.py        (tensorflow-cpu 2.21.0, keras 3.15.1, tf2onnx 1.17.0, safetensors 0.8.0)
"""

import json
import os
import pathlib
import zipfile

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras  # noqa: E402
import numpy  # noqa: E402
import tensorflow  # noqa: E402
import tf2onnx  # noqa: E402
from keras import layers  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

FOLDER = pathlib.Path(__file__).parent


def layered():
    x = keras.Input((None, 3))
    normalized = layers.Normalization(mean=[0.5, -1.0, 2.0], variance=[4.0, 0.25, 9.0])(x)
    both = layers.Bidirectional(layers.GRU(2, return_sequences=True), merge_mode="ave")(normalized)
    mapped = layers.TimeDistributed(layers.Dense(2, activation="gelu"))(both)
    lstm = layers.LSTM(2, return_sequences=True)(layers.Dropout(0.1)(mapped))
    joined = layers.Concatenate()([layers.Add()([lstm, mapped]), layers.LeakyReLU(0.1)(both)])
    normed = layers.BatchNormalization()(layers.LayerNormalization()(joined))
    return keras.Model(x, layers.Dense(2, activation="softmax")(layers.GlobalAveragePooling1D()(normed)))


def plain(value):
    """A configuration without what only training reads."""
    if isinstance(value, list):
        return [plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    ends = ("_initializer", "_regularizer", "_constraint", "dtype", "build_config", "registered_name", "shared_object_id")
    return {key: plain(part) for key, part in value.items() if not key.endswith(ends)}


def clear(path):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["config.json"] = json.dumps(plain(json.loads(entries["config.json"]))).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def looped():
    return keras.Sequential([keras.Input((None, 3)), layers.GRU(2, return_sequences=True), layers.Dense(1)])


def stacked():
    return keras.Sequential([keras.Input((None, 3)), layers.GRU(2, return_sequences=True), layers.LSTM(2, return_sequences=True), layers.Dense(1)])


def main():
    numbers = numpy.random.default_rng(0)
    x = numbers.normal(size=(1, 12, 3)).astype("f4")
    outputs = {}
    for name, make in (("layers", layered), ("loop", looped), ("weights", stacked)):
        model = make()
        for weight in model.weights:
            if weight.dtype.startswith("float"):
                values = 0.8 * numbers.normal(size=weight.shape)
                weight.assign(numpy.abs(values) + 0.2 if "variance" in weight.path else values)
        if name == "layers":
            model.save(FOLDER / "keras_layers.keras")
            clear(FOLDER / "keras_layers.keras")
        elif name == "weights":
            model.save_weights(FOLDER / "keras.weights.h5")
            (FOLDER / "keras.weights.h5").rename(FOLDER / "keras_weights.h5")
        else:
            spec = (tensorflow.TensorSpec((None, None, 3), tensorflow.float32),)
            call = tensorflow.function(lambda x: model(x, training=False), input_signature=spec)
            tf2onnx.convert.from_function(call, spec, opset=17, output_path=str(FOLDER / "keras_loop.onnx"))
        outputs[f"{name}.x"], outputs[f"{name}.y"] = x[0], numpy.asarray(model(x))[0]
    save_file(outputs, FOLDER / "keras_outputs.safetensors")


if __name__ == "__main__":
    main()
