"""Models from Python: the bits of the tool, shapes and memory, clear errors."""

import copy
import json
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import EXPERIMENT, changed, run_tool

import lagtape as lt


@pytest.fixture(scope="module")
def model(trained):
    return lt.load(trained)


def waves(*shape, dtype=np.float32):
    return np.random.default_rng(1).random(shape).astype(dtype)


def test_predictions_have_the_bits_of_the_tool(trained, tmp_path, model):
    x = waves(3, 40, 1)
    np.save(tmp_path / "x.npy", x)
    run_tool("predict", trained, "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npy")
    y = model.predict(x)
    assert y.shape == (3, 40, 1) and y.dtype == np.float32 and np.ptp(y) > 0
    assert np.array_equal(y, np.load(tmp_path / "y.npy"))
    assert np.array_equal(model.predict(x, threads=3), y)
    assert np.array_equal(model.predict(x[1]), y[1])


def test_a_list_of_sequences_of_any_lengths_gives_a_list(model):
    x = waves(3, 40, 1)
    y = model.predict([x[0], x[1, :7], x[2, :1].tolist()])
    assert [one.shape for one in y] == [(40, 1), (7, 1), (1, 1)]
    for one, whole, n in zip(y, model.predict(x), (40, 7, 1)):
        assert np.array_equal(one, whole[:n])
    assert np.array_equal(model.predict(x.tolist()), model.predict(x))


def test_any_layout_and_type_of_numbers_is_taken(model):
    x = waves(2, 30, 1)
    wide = np.zeros((2, 60, 1), np.float64)
    wide[:, ::2] = x
    assert np.array_equal(model.predict(wide[:, ::2]), model.predict(x))
    assert np.array_equal(model.predict(np.asfortranarray(x)), model.predict(x))
    assert np.array_equal(model.predict([[1], [0], [True]]), model.predict(np.float32([[1], [0], [1]])))


def test_a_contiguous_array_is_not_copied(tmp_path):
    """Peak memory of a prediction whose outputs are few."""
    experiment = changed(
        data={"task": "random", "length": 9, "input": 64, "classes": 2, "train": 4, "valid": 4, "test": 4},
        model={"layers": [{"cell": "gru", "units": 2}]}, loss="cross_entropy", metrics=["accuracy"],
        train={"epochs": 1, "batch": 4})
    (tmp_path / "wide.json").write_text(json.dumps(experiment))
    run_tool("train", "wide.json", "--quiet", "--out", "run", cwd=tmp_path)
    program = """
import re, sys
import numpy as np, lagtape as lt
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
model = lt.load("run")
model.predict(np.zeros((2, 100, 64), np.float32))
x = np.ones((2, 100_000, 64), sys.argv[1])
before = peak()
model.predict(x)
print((peak() - before) / (2 * 100_000 * 64 * 4))
"""
    grown = [float(subprocess.run([sys.executable, "-c", program, dtype], cwd=tmp_path, check=True, capture_output=True,
                                  text=True).stdout) for dtype in ("float32", "float64")]
    assert grown[0] < 0.5 < 0.9 < grown[1]  # float64 is rounded, which takes a copy


def test_numbers_are_read_wherever_they_begin(tmp_path):
    experiment = changed(model={"layers": [{"layer": "batch_norm"}, {"layer": "linear", "units": 5}, {"cell": "gru", "units": 3}, {"layer": "layer_norm"}],
                                "readout": {"units": 1, "at": "every_step"}}, train={"epochs": 1, "batch": 4})
    (tmp_path / "mixed.json").write_text(json.dumps(experiment))
    run_tool("train", "mixed.json", "--quiet", "--out", "run", cwd=tmp_path)
    model = lt.load(tmp_path / "run")
    x = waves(2, 31, 1)
    expected = model.predict(x)
    assert np.ptp(expected) > 0
    for first in range(17):
        memory = np.zeros(x.size + 32, np.float32)
        memory[first : first + x.size] = x.reshape(-1)
        assert np.array_equal(model.predict(memory[first : first + x.size].reshape(x.shape)), expected)


def test_a_model_says_what_it_is(trained, model):
    experiment = json.loads((trained / "experiment.json").read_text())
    assert model.experiment == experiment
    assert (model.input_width, model.output_width, model.classes, model.tokens) == (1, 1, 0, 0)
    assert model.dtype == np.float32 and model.reads_every_step
    assert [layer["name"] for layer in model.layers] == ["tau_gru", "readout"]
    assert model.layers[0]["largest_lag"] == 3 and "tanh" in model.layers[0]["programs"][0]
    assert sum(value.size for value in model.parameters.values()) == sum(layer["params"] for layer in model.layers)
    assert repr(model) == "<lagtape.Model 1 -> tau_gru, readout -> 1, float32>"


def test_parameters_cannot_be_written_to_and_outlive_the_model(trained):
    parameters = lt.load(trained).parameters
    assert parameters["layers.0.W1"].shape == (6, 6) and np.ptp(parameters["layers.0.W1"]) > 0
    with pytest.raises(ValueError):
        parameters["layers.0.W1"][0, 0] = 1


def test_a_saved_model_and_its_bytes_are_the_model(model, tmp_path):
    model.save(tmp_path / "copy.safetensors")
    x = waves(20, 1)
    for again in lt.load(tmp_path / "copy.safetensors"), lt.load((tmp_path / "copy.safetensors").read_bytes()):
        assert np.array_equal(again.predict(x), model.predict(x))


def test_models_are_pickled_for_other_processes(model):
    x = waves(20, 1)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(x), model.predict(x))
    assert copy.copy(model) is copy.deepcopy(model) is model


def test_threads_share_a_model(model):
    x = waves(4, 50, 1)
    expected, found = model.predict(x), []
    threads = [threading.Thread(target=lambda: found.extend(model.predict(x) for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80 and all(np.array_equal(one, expected) for one in found)


@pytest.mark.parametrize("model_part", [
    {"layers": [{"cell": "lem", "units": 3}], "readout": {"at": "last_step"}},
    {"layers": [{"cell": "lem", "units": 3}], "readout": {"at": "last_step", "at_padding": True}},
    {"layers": [{"cell": "lem", "units": 3}], "readout": {"at": "mean"}},
    {"layers": [{"layer": "bidirectional", "cell": {"cell": "gru", "units": 3}}], "readout": {"at": "last_step"}},
], ids=["last_step", "at_padding", "mean", "bidirectional"])
def test_lists_have_the_bits_of_their_sequences(model_part, tmp_path):
    data = {"task": "random", "length": 12, "input": 2, "output": 2, "train": 8, "valid": 0, "test": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        model = lt.train(changed(data=data, model=model_part, metrics=[]), progress=False).model()
    for lengths in (12, 7, 9), (200, 1, 1, 1, 1):
        x = [waves(length, 2) for length in lengths]
        for one, y in zip(x, model.predict(x)):
            assert np.array_equal(model.predict(one), y) and np.ptp(y) > 0


@pytest.mark.parametrize("x, message", [
    (np.zeros((3, 4, 5, 1)), "[predict] x is [T, 1] or [B, T, 1]. Got [3, 4, 5, 1]."),
    (np.zeros((4, 2)), "[predict] x is [T, 1] or [B, T, 1]. Got [4, 2]."),
    (np.zeros((0, 1)), "[predict] x is [T, 1] or [B, T, 1]. Got [0, 1]."),
    ([np.zeros((4, 1)), np.zeros((4, 2))], "[predict] x is [T, 1]. Got [4, 2]."),
    (1.5, "[predict] x is [T, 1] or [B, T, 1]. Got []."),
    (np.full((2, 1), np.nan), "[predict] the number at [0, 0] is not finite. Got nan."),
    (np.array([[1.0], [1e300]]), "[predict] the number at [1, 0] is not finite. Got inf."),
    (np.zeros((2, 1), complex), "[predict] expected an array of numbers. Got ndarray with elements complex128."),
    ("words", "[predict] expected an array of numbers. Got str with elements <U5."),
    (None, "[predict] expected an array of numbers. Got NoneType with elements object."),
])
def test_wrong_arrays_are_refused(model, x, message):
    with pytest.raises(lt.InputError) as raised:
        model.predict(x)
    assert str(raised.value) == message


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", None, 1025])
def test_wrong_threads_are_refused(model, threads):
    with pytest.raises(lt.InputError, match="threads must be a whole number of at least 1"):
        model.predict(np.zeros((2, 1)), threads=threads)


def test_files_that_are_no_models_are_refused(trained, tmp_path):
    with pytest.raises(lt.InputError, match="cannot read"):
        lt.load(tmp_path / "missing.safetensors")
    weights = (trained / "weights.safetensors").read_bytes()
    with pytest.raises(lt.InputError, match="^the weights: "):
        lt.load(weights[:100])
    with pytest.raises(lt.InputError, match="expected a path. Got int."):
        lt.load(3)


def test_weights_that_are_not_finite_are_refused(trained, tmp_path):
    weights = bytearray((trained / "weights.safetensors").read_bytes())
    weights[-4:] = np.float32(np.nan).tobytes()
    with pytest.raises(lt.InputError, match="not finite|NaN|nan"):
        lt.load(bytes(weights))


def test_a_classifier_in_f64_reads_out_once(tmp_path):
    experiment = changed(
        data={"task": "random", "length": 9, "input": 2, "classes": 3, "train": 8, "valid": 4, "test": 4},
        model={"layers": [{"cell": "gru", "units": 4}]}, loss="cross_entropy", metrics=["accuracy"],
        train={"epochs": 1, "batch": 4, "precision": "f64"})
    (tmp_path / "classes.json").write_text(json.dumps(experiment))
    run_tool("train", "classes.json", "--quiet", "--out", "run", cwd=tmp_path)
    model = lt.load(tmp_path / "run")
    assert model.dtype == np.float64 and model.classes == 3 and not model.reads_every_step
    assert model.predict(np.zeros((5, 9, 2))).shape == (5, 3) and model.predict(np.zeros((9, 2))).shape == (3,)
    assert EXPERIMENT["loss"] == "mse"
