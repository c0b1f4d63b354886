"""Estimators: what they learn, that the same seed gives the same bits, and that trainings write nothing."""

import copy
import os
import pathlib
import pickle

import lagtape as lt
import numpy as np
import pytest

SMALL = {"units": 4, "epochs": 2, "threads": 1, "progress": False}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert os.listdir(tmp_path) == []


def classes(number=60, steps=12):
    """Sequences [N, T, 2] whose class is the sign of their mean's first number."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, number)
    return draw.normal(size=(number, steps, 2)) + np.stack([2.0 * y - 1, np.zeros(number)], 1)[:, None], np.array(["down", "up"])[y]


def ragged():
    x, y = classes()
    return [one[: 4 + i % 9] for i, one in enumerate(x)], y


def load(rows=300):
    n = np.arange(rows)
    return {"load": 50 + 9 * np.sin(n / 3.82) + n % 3, "kind": (n % 3).astype(float)}


def fitted_classifier(**more):
    return lt.SequenceClassifier(**{**SMALL, "epochs": 20, **more}).fit(*classes())


def test_a_classifier_learns_and_names_the_classes():
    model = fitted_classifier()
    x, y = classes()
    assert model.classes_.tolist() == ["down", "up"] and model.score(x, y) > 0.9
    proba = model.predict_proba(x)
    assert proba.shape == (60, 2) and np.allclose(proba.sum(1), 1) and (model.classes_[proba.argmax(1)] == model.predict(x)).all()
    assert np.allclose(np.log(proba[:, 1] / proba[:, 0]), model.decision_function(x))
    assert model.n_features_in_ == 2 and len(model.history_["train_loss"]) == len(model.history_["epoch"]) > 1
    assert model.summary_["valid"]["accuracy"] > 0.5


def test_sequences_of_any_lengths_are_those_of_lt_train():
    x, y = ragged()
    model = lt.SequenceClassifier(**SMALL).fit(x, y)
    lengths = np.array([len(one) for one in x])
    padded = np.full((len(x), lengths.max(), 2), 7.0)
    for row, one in zip(padded, x):
        row[: len(one)] = one
    again = lt.SequenceClassifier(**SMALL).fit(np.array(x + [None], object)[:-1], y)
    assert all(np.array_equal(model.model_.parameters[name], value) for name, value in again.model_.parameters.items())
    assert np.allclose(model.predict_proba(x)[3], model.predict_proba([x[3]])[0], atol=1e-6)


def test_the_experiment_that_ran_trains_the_same_bits(tmp_path_factory):
    x, y = classes()
    model = fitted_classifier(experiment={"optimizer": {"type": "sgd", "lr": 0.05}, "train": {"epochs": 3}})
    ran = model.experiment
    assert ran["optimizer"]["type"] == "sgd" and ran["train"]["epochs"] == 3 and ran["train"]["batch"] == 16
    run = lt.train(ran, data={"x": x, "y": (y == "up").astype(int)}, out=tmp_path_factory.mktemp("run") / "again")
    assert all(np.array_equal(model.model_.parameters[name], value) for name, value in run.model().parameters.items())
    assert model.get_params()["experiment"] == {"optimizer": {"type": "sgd", "lr": 0.05}, "train": {"epochs": 3}}


def test_the_seed_decides_the_bits():
    x, _ = classes()
    first, same, other = (fitted_classifier(random_state=seed).predict_proba(x) for seed in (1, 1, 2))
    assert np.array_equal(first, same) and not np.array_equal(first, other)
    of_state = [fitted_classifier(random_state=np.random.RandomState(5)).predict_proba(x) for _ in range(2)]
    assert np.array_equal(*of_state)
    more_threads = fitted_classifier(random_state=1, threads=2).predict_proba(x)
    assert np.array_equal(first, more_threads)


@lt.cell
def leaky(s, units, leak=0.5):
    h = s.state("h", units)
    s.next(h, leak * h + lt.tanh(s.weight("U", (units, s.input.size)) @ s.input))
    return s.next_of(h)


def test_a_cell_of_a_module_pickles_by_its_name():
    forecaster = lt.Forecaster(leaky, window=20, **SMALL).fit(load(), target="load")
    other = pickle.loads(pickle.dumps(forecaster))
    assert other.cell is leaky is copy.deepcopy(leaky) and np.array_equal(other.predict(3)["load"], forecaster.predict(3)["load"])


def test_a_pickle_and_a_copy_predict_the_same_bits():
    model, (x, _) = fitted_classifier(), classes()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict_proba(x), model.predict_proba(x)) and other.get_params() == model.get_params()
    table = load()
    forecaster = lt.Forecaster(window=20, **SMALL).fit(table, target="load", future="kind")
    ahead = {"kind": np.array([0.0, 1, 2])}
    assert np.array_equal(pickle.loads(pickle.dumps(forecaster)).predict(3, ahead)["load"], forecaster.predict(3, ahead)["load"])


def test_a_regressor_learns_one_number_or_several():
    x, _ = classes()
    y = x.mean(axis=1)
    one = lt.SequenceRegressor("gru", **{**SMALL, "epochs": 40}).fit(x, y[:, 0])
    assert one.predict(x).shape == (60,) and one.score(x, y[:, 0]) > 0.8
    two = lt.SequenceRegressor("gru", **SMALL).fit(x, y)
    assert two.predict(x).shape == (60, 2) and two.score(x, y) < 1
    assert one.score(x, y[:, 0]) == pytest.approx(
        1 - ((one.predict(x) - y[:, 0]) ** 2).sum() / ((y[:, 0] - y[:, 0].mean()) ** 2).sum())


def test_options_that_no_argument_has_are_reached_by_the_experiment():
    model = lt.SequenceClassifier(experiment={"loss": "binary_cross_entropy", "model": {"layers": [{"cell": "lem", "units": 3}]}}, **SMALL)
    x, y = classes()
    assert model.fit(x, y).model_.output_width == 1 and [layer["name"] for layer in model.model_.layers][0] == "lem"
    assert model.predict_proba(x).shape == (60, 2) and model.predict(x).dtype == y.dtype
    with pytest.raises(lt.InputError) as raised:
        lt.SequenceClassifier(experiment={"train": {"epoch": 3}}, **SMALL).fit(x, y)
    assert raised.value.pointer == "/train/epoch" and raised.value.suggestion == "epochs"


def test_cells_are_names_dicts_and_functions():
    x, y = classes()

    @lt.cell
    def decay(s, units):
        h = s.state("h", units)
        W = s.weight("W", (units, s.input.size))
        s.next(h, 0.9 * h + lt.tanh(W @ s.input))
        return s.next_of(h)

    for cell in (decay, {"cell": "lstm", "units": 5}, "rnn"):
        lt.SequenceClassifier(cell, **SMALL).fit(x, y).predict(x)
    assert lt.SequenceClassifier({"cell": "lstm", "units": 5}, **SMALL).fit(x, y).experiment["model"]["layers"][0]["units"] == 5
    with pytest.raises(lt.InputError, match="tau"):
        lt.SequenceClassifier("gru", tau=5, **SMALL).fit(x, y)
    with pytest.raises(lt.InputError, match="lstm"):
        lt.SequenceClassifier("lsmt", **SMALL).fit(x, y)


def test_settings_are_shown_changed_and_refused_with_the_nearest():
    model = lt.Forecaster("gru", window=24)
    assert repr(model) == "Forecaster(cell='gru', window=24)" and repr(lt.Forecaster()) == "Forecaster()"
    assert model.set_params(units=3, lr=0.1) is model and model.get_params()["units"] == 3
    with pytest.raises(lt.InputError, match="windw.*window"):
        model.set_params(windw=3)


def test_a_forecast_of_columns_follows_them():
    table = load()
    model = lt.Forecaster("gru", window=24, **{**SMALL, "epochs": 60, "units": 8}).fit(table, target="load", future="kind")
    assert model.targets_ == ["load"] and model.feature_names_in_.tolist() == ["load", "kind"]
    following = {name: column[300:] for name, column in load(306).items()}
    made = model.predict(6, {"kind": following["kind"]})
    assert list(made) == ["load"] and np.abs(made["load"] - following["load"]).mean() < 2
    assert model.score(following) == pytest.approx(
        1 - ((made["load"] - following["load"]) ** 2).sum() / ((following["load"] - following["load"].mean()) ** 2).sum(), abs=1e-5)
    earlier = model.predict(6, df={name: column[:200] for name, column in table.items()}, future={"kind": table["kind"][200:206]})
    assert np.array_equal(earlier["load"], model.predict(6, start=200)["load"]) and not np.array_equal(earlier["load"], made["load"])


def test_a_backtest_scores_rows_that_no_training_has_read():
    model = lt.Forecaster("gru", window=24, **SMALL).fit(load(), target="load", future="kind")
    before = model.predict(3, {"kind": np.zeros(3)})["load"]
    scores = model.backtest(5)
    assert scores["targets"]["load"]["rmse"].shape == (5,) and scores["ratio"] > 0 and scores["origins"] > 30
    assert np.array_equal(model.predict(3, {"kind": np.zeros(3)})["load"], before)
    held = lt.Forecaster("gru", window=24, test=0.15, **SMALL).fit(load(), target="load", future="kind")
    assert np.array_equal(held.backtest(5)["targets"]["load"]["rmse"], scores["targets"]["load"]["rmse"])
    assert model.backtest(5, load(120))["origins"] > 50


def test_the_table_of_a_fit_may_change_afterwards():
    table = load()
    model = lt.Forecaster(window=20, **SMALL).fit(table, target="load")
    before = model.predict(3)["load"]
    table["load"][:] = 0
    assert np.array_equal(model.predict(3)["load"], before)


X, Y = classes()
WRONG = {
    "an object array": (lambda: lt.SequenceClassifier().fit(X.astype(object), Y), "X must be an array of numbers. Got elements object"),
    "NaN": (lambda: lt.SequenceClassifier().fit(np.where(X > 1, np.nan, X), Y), r"X has NaN at \[0, "),
    "an infinite number": (lambda: lt.SequenceClassifier().fit([X[0], X[1][1:] / 0], Y[:2]), "sequence 1 of X has -?inf"),
    "ragged lists": (lambda: lt.SequenceClassifier().fit([[[1.0], [1.0, 2.0]], [[1.0]]], [0, 1]), "sequence 0 of X must be an array of numbers"),
    "other widths": (lambda: lt.SequenceClassifier().fit([X[0], X[1][:, :1]], Y[:2]), r"sequence 1 of X: expected \[T, 2\]. Got \[12, 1\]"),
    "texts": (lambda: lt.SequenceRegressor().fit(np.full((3, 4), "a"), [1, 2, 3]), "X must be an array of numbers. Got elements <U1"),
    "complex numbers": (lambda: lt.SequenceRegressor().fit(X * 1j, Y), "Complex data not supported"),
    "no sequences": (lambda: lt.SequenceRegressor().fit(X[:0], []), r"0 sample\(s\)"),
    "an empty list": (lambda: lt.SequenceRegressor().fit([], []), "Reshape your data"),
    "sequences without steps": (lambda: lt.SequenceRegressor().fit([X[0], X[0][:0]], [1, 2]), r"sequence 1 of X: expected \[T, 2\]. Got \[0, 2\]"),
    "four axes": (lambda: lt.SequenceRegressor().fit(X[None], [1]), "Expected X as"),
    "a text": (lambda: lt.SequenceRegressor().fit("x", [1]), "X must be an array"),
    "y of another length": (lambda: lt.SequenceClassifier().fit(X, Y[1:]), "a target for each of the 60 sequences of X. Got 59"),
    "no y": (lambda: lt.SequenceClassifier().fit(X, None), "requires y"),
    "y of two columns": (lambda: lt.SequenceClassifier().fit(X, np.zeros((60, 2))), "y should be a 1d array"),
    "one class": (lambda: lt.SequenceClassifier().fit(X, ["a"] * 60), "one class. y has 'a' alone"),
    "classes of numbers and words": (lambda: lt.SequenceClassifier().fit(X, np.array([1, "a"] * 30, object)), "all of one kind"),
    "a class that is missing": (lambda: lt.SequenceClassifier().fit(X, np.array(["b", None] * 30, object)), "none is missing. Got NoneType, str"),
    "NaN as a class": (lambda: lt.SequenceClassifier().fit(X, [1, np.nan] * 30), "y has NaN"),
    "numbers as classes": (lambda: lt.SequenceClassifier().fit(X, np.linspace(0, 1, 60)), "Unknown label type: continuous"),
    "words as numbers": (lambda: lt.SequenceRegressor().fit(X, Y), "y must be an array of numbers. Got elements <U4"),
    "predict before fit": (lambda: lt.SequenceClassifier().predict(X), r"\[predict\] This SequenceClassifier is not fitted yet"),
    "forecast before fit": (lambda: lt.Forecaster().predict(3), "is not fitted yet"),
    "other channels": (lambda: fitted_classifier().predict(X[:, :, :1]), "X has 1 features, but SequenceClassifier is expecting 2"),
    "a share above 1": (lambda: lt.SequenceClassifier(validation=2.0).fit(X, Y), "validation is a share of the data"),
    "a text for epochs": (lambda: lt.SequenceClassifier(epochs="many").fit(X, Y), "epochs must be a whole number"),
    "a random state": (lambda: lt.SequenceClassifier(random_state="x").fit(X, Y), "random_state must be a whole number"),
    "an experiment": (lambda: lt.SequenceClassifier(experiment="x.json").fit(X, Y), "experiment must be a dict"),
    "an empty table": (lambda: lt.Forecaster().fit({"a": []}), "the table has no rows"),
    "no table": (lambda: lt.Forecaster().fit(3), "expected a DataFrame or a dict of columns. Got int"),
    "several columns": (lambda: lt.Forecaster().fit(load()), "target: expected the columns to forecast. The table has load, kind"),
    "an unknown column": (lambda: lt.Forecaster().fit(load(), target="lod"), "has no column 'lod'. It has load, kind"),
    "a column of words": (lambda: lt.Forecaster(window=5).fit({"a": ["x", "y"] * 40}), "x"),
    "NaN in a table": (lambda: lt.Forecaster(window=5).fit({"a": np.r_[np.arange(60.0), np.nan, np.arange(40)]}), '"missing"'),
    "a short table": (lambda: lt.Forecaster(window=50).fit({"a": np.arange(40.0)}), "too short for train"),
    "no future": (lambda: lt.Forecaster(window=9, **SMALL).fit(load(), target="load", future="kind").predict(3), "kind"),
    "other columns at predict": (lambda: lt.Forecaster(window=9, **SMALL).fit(load(), target="load").predict(3, df={"b": [1.0]}),
                                 "no column 'load'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_clear_error(name):
    call, message = WRONG[name]
    with np.errstate(divide="ignore", invalid="ignore"), pytest.raises(lt.InputError, match=message):
        call()


def test_nothing_is_imported_for_the_conventions():
    source = "".join(file.read_text() for file in pathlib.Path(lt.__file__).resolve().parent.glob("_*.py"))
    imports = [line for line in source.splitlines() if line.startswith(("import ", "from "))]
    assert imports and not any("sklearn" in line or "pandas" in line for line in imports)


def test_callbacks_see_each_epoch_and_end_a_training():
    draw = np.random.default_rng(0)
    x, y, table = draw.normal(size=(40, 6, 2)), np.arange(40) % 2, {"load": np.sin(np.arange(200) / 5)}
    for fit in (lambda **more: lt.SequenceRegressor(units=3, epochs=9, progress=False, **more).fit(x, y),
                lambda **more: lt.Forecaster(units=3, window=20, epochs=9, progress=False, **more).fit(table)):
        rows = []
        model = fit(callbacks=[rows.append, lambda row: row["epoch"] == 3])
        assert [row["epoch"] for row in rows] == [1, 2, 3] == model.history_["epoch"].tolist()
        assert rows[-1]["valid_loss"] == model.history_["valid_loss"][-1]
        with pytest.raises(lt.InputError, match=r"\[fit\] callbacks must be a function, or a list of functions. Got int."):
            fit(callbacks=[3])
