"""Models that learn while they stream."""

import numpy as np
import pytest

import lagtape as lt


def trained(cell="min_gru", **options):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(8, 30, 2)).astype("f4")
    y = np.stack([np.cumsum(x[..., 0], 1) * 0.1, x[..., 1]], -1)
    return lt.train({"name": "learner", "data": {"task": "arrays"}, "loss": "mse",
                     "model": {"layers": [{"cell": cell, "units": 5, **options}], "readout": {"units": 2, "at": "every_step"}},
                     "train": {"epochs": 2, "batch": 4, "precision": "f64"}},
                    data={"train_x": x, "train_y": y}, seed=3, progress=False).model()


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    import os
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("learner"))
    try:
        return trained()
    finally:
        os.chdir(before)


def test_a_learner_predicts_and_its_loss_falls(model):
    x, target = np.array([0.5, -0.2]), np.array([0.3, 0.4])
    learner = model.learner(lr=0.05)
    losses = [learner.step(x, target)[1] for _ in range(200)]
    assert losses[-1] < 0.05 * losses[0]
    assert learner.steps == 200 and learner.is_finite() and learner.inexact == ""
    learned = learner.model()
    assert any((learned.parameters[name] != value).any() for name, value in model.parameters.items())
    stream = learned.stream()
    learner.reset()
    np.testing.assert_allclose(stream.step(x), learner.step(x)[0], rtol=1e-12)


def test_a_learner_goes_on_from_a_saved_state(model):
    draw = np.random.default_rng(2)
    x, target = draw.normal(size=(20, 2)), draw.normal(size=(20, 2))
    learner, other = model.learner(rule="adam", lr=0.01, every=3), model.learner(rule="adam", lr=0.01, every=3)
    for n in range(11):
        learner.step(x[n], target[n])
    state = learner.save()
    expected = [learner.step(x[n], target[n])[1] for n in range(11, 20)]
    other.restore(state)
    assert other.steps == 11
    assert [other.step(x[n], target[n])[1] for n in range(11, 20)] == expected
    for wrong, why in ((state[:-1], "has [0-9]+ bytes"), (b"", "no state"), (5, "Got int"),
                       (state[:-1] + bytes([state[-1] ^ 1]), "changed"), (model.learner().save(), "another learner")):
        with pytest.raises(lt.InputError, match=why):
            other.restore(wrong)
    assert other.steps == 20


def test_gradients_are_those_of_differences(model):
    draw = np.random.default_rng(1)
    x, target = draw.normal(size=(20, 2)), draw.normal(size=(20, 2))

    def loss(of):
        learner = of.learner(lr=0)
        total = sum(learner.step(a, b)[1] for a, b in zip(x, target))
        return total, learner.gradients()

    whole, gradients = loss(model)
    assert set(gradients) == set(model.parameters)
    small = model.learner(lr=1e-7, every=20)
    for a, b in zip(x, target):
        small.step(a, b)
    moved, _ = loss(small.model())
    size = sum(float((g ** 2).sum()) for g in gradients.values())
    assert size > 0
    assert abs((whole - moved) / 1e-7 - size) < 1e-4 * size


def test_targets_may_be_missing(model):
    learner = model.learner(lr=0.1)
    x = [0.5, 0.1]
    assert learner.step(x)[1] == 0
    assert learner.step(x, [np.nan, np.nan])[1] == 0
    assert learner.step(x, [np.nan, 1.0])[1] > 0


def test_truncated_learning_forgets_after_its_window(model):
    draw = np.random.default_rng(2)
    x, target = draw.normal(size=(2, 12, 2))

    def gradients(**options):
        learner = model.learner(lr=0, **options)
        for a, b in zip(x, target):
            learner.step(a, b)
        return learner.gradients()

    whole, long = gradients(method="e_prop"), gradients(method="truncated", window=12)
    short = gradients(method="truncated")
    for name, gradient in whole.items():
        np.testing.assert_array_equal(long[name], gradient)
    assert any(not np.allclose(short[name], whole[name], rtol=1e-3) for name in whole)


def test_what_is_wrong_is_said(model):
    with pytest.raises(lt.InputError, match="rtrl"):
        model.learner(method="rtlr")
    with pytest.raises(lt.InputError, match="sgd"):
        model.learner(rule="adma")
    with pytest.raises(lt.InputError, match="lr"):
        model.learner(lr=-1)
    with pytest.raises(lt.InputError, match="window"):
        model.learner(method="truncated", window=0)
    with pytest.raises(lt.InputError, match=r"x is \[2\]"):
        model.learner().step([1.0])
    with pytest.raises(lt.InputError, match="a target is"):
        model.learner().step([1.0, 2.0], [1.0])
