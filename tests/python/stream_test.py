"""Streams from Python: the bits of predict, states, and calls that are refused."""

import copy
import re
import threading

import numpy as np
import pytest

import lagtape as lt

X = np.random.default_rng(2).random((30, 2, 1)).astype(np.float32)


@pytest.fixture(scope="module")
def model(trained):
    return lt.load(trained)


def test_steps_and_blocks_have_the_bits_of_predict(model):
    y = model.predict(X.swapaxes(0, 1)).swapaxes(0, 1)
    assert np.ptp(y) > 0
    stream = model.stream(rows=2)
    assert np.array_equal([stream.step(x) for x in X], y) and stream.steps == 30 and stream.rows == 2
    stream.reset()
    assert stream.steps == 0
    assert np.array_equal(np.concatenate([stream.block(X[:11]), stream.block(X[11:11]), stream.block(X[11:])]), y)


def test_one_row_needs_no_axis_of_rows(model):
    y = model.predict(X[:, 0])
    for form in (lambda x: x, lambda x: x[None], lambda x: float(x[0]), lambda x: x.astype(np.float64), list):
        stream = model.stream()
        found = [stream.step(form(x)) for x in X[:, 0]]
        assert np.array_equal(np.reshape(found, y.shape), y)
    assert model.stream().block(X[:, 0]).shape == (30, 1) and model.stream().block(X[:, :1]).shape == (30, 1, 1)
    assert model.stream().block(X[:, 0, 0]).shape == (30, 1)


def test_a_saved_state_is_put_back(model):
    stream = model.stream(rows=2)
    stream.block(X[:10])
    state, window = stream.save(), stream.window
    assert [one.shape for one in window] == [(4, 2, 6)] and np.ptp(window[0]) > 0
    y = stream.block(X[10:])
    again = model.stream(rows=2)
    again.restore(state)
    assert again.steps == 10 and np.array_equal(again.block(X[10:]), y)
    again.window = window
    assert np.array_equal(again.block(X[10:]), y)


def test_a_state_of_another_stream_or_model_is_refused(model, tmp_path):
    state = model.stream(rows=2).save()
    for options, message in (({"rows": 1}, "this stream has 1 rows. Got a state of 2."),
                             ({"rows": 2, "rate": 2}, "this stream has the rate 2. Got a state of the rate 1 or of another interpolation."),
                             ({"rows": 2, "weights": "bf16"}, "the state is of a stream with weights of another format")):
        with pytest.raises(lt.InputError, match=re.escape(message)):
            model.stream(**options).restore(state)
    file = tmp_path / "model.safetensors"
    model.save(file)
    lt.load(file).stream(rows=2).restore(state)
    changed = bytearray(file.read_bytes())
    changed[-1] ^= 1
    file.write_bytes(changed)
    with pytest.raises(lt.InputError, match="the state is of another model"):
        lt.load(file).stream(rows=2).restore(state)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_states_that_are_not_finite_are_told(model, value):
    stream = model.stream(rows=2)
    stream.block(X[:10])
    assert stream.is_finite()
    window = stream.window
    window[0][-1, 1, 3] = value
    stream.window = window
    assert not stream.is_finite()
    stream.reset()
    assert stream.is_finite()


def test_copies_go_their_own_way(model):
    stream = model.stream(rows=2)
    stream.block(X[:10])
    others = stream.copy(), copy.copy(stream), copy.deepcopy(stream)
    y = stream.block(X[10:])
    for other in others:
        assert isinstance(other, lt.Stream) and other.steps == 10 and np.array_equal(other.block(X[10:]), y)


def test_a_stream_outlives_its_model(trained):
    stream = lt.load(trained).stream()
    assert stream.step(0.5).shape == (1,)


CALLS = [("step", lambda s: s.step(0.5)), ("block", lambda s: s.block([[0.5]])), ("reset", lambda s: s.reset()),
         ("rows", lambda s: s.rows), ("window", lambda s: s.window), ("copy", lambda s: s.copy()),
         ("steps", lambda s: s.steps), ("is_finite", lambda s: s.is_finite())]


@pytest.mark.parametrize("name, call", CALLS)
def test_a_closed_stream_refuses(model, name, call):
    with model.stream() as stream:
        call(stream)
    assert stream.closed
    stream.close()
    with pytest.raises(lt.InputError) as raised:
        call(stream)
    assert str(raised.value) == f"[stream.{name}] the stream is closed."


@pytest.mark.parametrize("call, message", [
    (lambda s: s.step([1, 2, 3]), "[stream.step] x is [2, 1]. Got [3]."),
    (lambda s: s.step(1), "[stream.step] x is [2, 1]. Got []."),
    (lambda s: s.block(X[0]), "[stream.block] x is [T, 2, 1]. Got [2, 1]."),
    (lambda s: s.block(1), "[stream.block] x is [T, 2, 1]. Got []."),
    (lambda s: s.step([[1], [np.nan]]), "[stream.step] number 1 of x is not finite. Got nan."),
    (lambda s: s.step([["a"], ["b"]]), "[step] expected an array of numbers. Got list with elements <U1."),
    (lambda s: s.restore(b"abc"), "[stream.restore] a state has a header of 56 bytes. Got 3 bytes."),
    (lambda s: s.restore(b"a" * 300), "[stream.restore] these bytes are no state that this version saves."),
    (lambda s: s.restore(s.save()[:-1]), "[stream.restore] the state of this stream has 248 bytes. Got 247."),
    (lambda s: s.restore(s.save()[:-1] + b"?"), "[stream.restore] the bytes of the state were changed."),
    (lambda s: s.restore(7), "[stream.restore] a state is the bytes that `save` gave. Got int."),
    (lambda s: setattr(s, "window", []), "[stream.restore] a window of this stream is a sequence of 1 arrays. Got 0."),
])
def test_wrong_arguments_are_refused_and_change_nothing(model, call, message):
    stream = model.stream(rows=2)
    stream.block(X[:5])
    state = stream.save()
    with pytest.raises(lt.InputError) as raised:
        call(stream)
    assert str(raised.value) == message
    assert stream.save() == state


@pytest.mark.parametrize("rows", [0, -3, 2.0, "1", None, True])
def test_wrong_rows_are_refused(model, rows):
    with pytest.raises(lt.InputError, match="rows must be a whole number of at least 1"):
        model.stream(rows=rows)


def test_two_threads_at_once_are_refused(model):
    stream, messages = model.stream(rows=64), []
    x = np.zeros((200, 64, 1), np.float32)

    def use():
        for _ in range(50):
            try:
                stream.block(x)
            except lt.InputError as error:
                messages.append(str(error))

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert messages and set(messages) == {"[stream.block] another thread is using this stream. Give each thread a copy()."}
    assert stream.steps == 200 * (100 - len(messages))


def test_other_weights_are_near_the_models_own(model):
    y = model.stream(rows=2).block(X)
    half = model.stream(rows=2, weights="bf16").block(X)
    assert 0 < np.abs(half - y).max() < 0.05
    assert np.array_equal(model.stream(rows=2, weights="own").block(X), y)
    assert np.array_equal(model.stream(rows=2, weights="f32").block(X), y)


@pytest.mark.parametrize("options, message", [
    ({"weights": "int4"}, "unknown format of weights 'int4'; did you mean 'int8'?"),
    ({"weights": 8}, "weights"),
    ({"weights": "int8"}, "need calibration"),
    ({"weights": "int8", "calibrate": X[:, :, 0]}, "Got [30, 2]"),
    ({"weights": "int8", "calibrate": X}, "64 units"),
    ({"weights": "bf16", "calibrate": X}, "calibration is for weights in int8"),
    ({"weights": "int8", "calibrate": "x"}, "expected an array of numbers")])
def test_wrong_weights_are_refused(model, options, message):
    with pytest.raises(lt.InputError) as error:
        model.stream(**options)
    assert message in str(error.value)
