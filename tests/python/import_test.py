"""Models of other programs from Python, and streams at other rates."""

import json
import pathlib
import shutil

import numpy as np
import pytest

import lagtape as lt

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "tools/exchange/import/golden/keras_layers.keras"
X = np.sin(np.arange(200) / 5)[:, None]
KERAS = {"in_shape": [None, None, 1], "layers": [
    {"type": "lstm", "activation": "tanh", "shape": [None, None, 2],
     "weights": [[[0.1 * k - 0.3 for k in range(8)]], [[0.05 * (k - j) for k in range(8)] for j in range(2)],
                 [0.1 * k for k in range(8)]]},
    {"type": "dense", "activation": "", "shape": [None, None, 1], "weights": [[[0.5], [-0.25]], [0.125]]}]}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "amp.json"
    path.write_text(json.dumps(KERAS))
    return path


def keras_outputs(x):
    """The formula of a Keras LSTM (gates i f g o) and a dense layer."""
    (kernel, recurrent, bias), (weight, offset) = [[np.array(w) for w in layer["weights"]] for layer in KERAS["layers"]]
    h = c = np.zeros(2)
    outputs = []
    for row in x:
        i, f, g, o = np.split(row @ kernel + h @ recurrent + bias, 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        outputs.append(h @ weight + offset)
    return np.array(outputs)


def test_a_model_of_keras_gives_its_numbers(file):
    wanted = keras_outputs(X)
    assert np.ptp(wanted) > 0.02
    assert np.abs(lt.import_model(file).predict(X) - wanted).max() < 1e-6
    model = lt.import_model(file, format="rtneural", precision="f64")
    assert model.dtype == np.float64 and np.abs(model.predict(X) - wanted).max() < 1e-12
    assert np.array_equal(model.stream().block(X), model.predict(X))


def test_a_model_of_keras_in_memory_is_saved_and_read():
    class Model:
        """What import_model calls of keras.Model."""

        def save(self, filepath):
            shutil.copy(GOLDEN, filepath)

    Model.__module__ = "keras.src.models.model"
    model = lt.import_model(Model())
    assert model.input_width == 3 and model.output_width == 2
    assert np.array_equal(model.predict(X[:, [0, 0, 0]]), lt.import_model(GOLDEN).predict(X[:, [0, 0, 0]]))


def test_it_begins_at_rest_when_asked(file):
    silence = np.zeros((100, 1))
    assert np.ptp(lt.import_model(file).predict(silence)) > 1e-2
    assert np.ptp(lt.import_model(file, rest=0).predict(silence)) < 1e-5


def test_a_stream_at_twice_the_rate_is_two_between_each_other(file):
    model = lt.import_model(file, precision="f64")
    y = model.stream(rate=2).block(X)
    assert np.array_equal(y[::2], model.predict(X[::2])) and np.array_equal(y[1::2], model.predict(X[1::2]))
    linear, cubic = (model.stream(rate=1.5, interpolation=kind).block(X) for kind in ("linear", "cubic"))
    assert 0 < np.abs(linear - cubic).max() < 0.1


@pytest.mark.parametrize("call, message", [
    (lambda file: lt.import_model(file, format="kears"), "unknown format 'kears'"),
    (lambda file: lt.import_model(file, precision="f16"), "[import_model] precision is 'f32', 'f64' or 'bf16'. Got 'f16'."),
    (lambda file: lt.import_model(file, order="lstm"), "[import_model] order is a list of names. Got 'lstm'."),
    (lambda file: lt.import_model(file, rest="0"), "[import_model] rest must be a number. Got '0'."),
    (lambda file: lt.import_model(file, rest=10**400), "[import_model] rest must be a number that fits a float."),
    (lambda file: lt.import_model(file, nonlinearity="relu"), "--nonlinearity is for nn.RNN of PyTorch"),
    (lambda file: lt.import_model(file.parent / "no.json"), "no.json"),
    (lambda file: lt.import_model(file).stream(rate=0), "[rate] a recurrence runs at 0.5 to 8 times its rate. Got 0"),
    (lambda file: lt.import_model(file).stream(rate=float("nan")), "Got nan"),
    (lambda file: lt.import_model(file).stream(rate="2"), "[stream] rate must be a number. Got '2'."),
    (lambda file: lt.import_model(file).stream(rate=2, interpolation="cubci"),
     "unknown interpolation 'cubci'; did you mean 'cubic'? Known: linear, cubic"),
])
def test_what_is_wrong_is_said(file, call, message):
    with pytest.raises(lt.InputError) as error:
        call(file)
    assert message in str(error.value)
