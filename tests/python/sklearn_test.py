"""Estimators among those of scikit-learn, and its own checks of them."""

import lagtape as lt
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("sklearn")

from sklearn.base import clone, is_classifier, is_regressor  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

SMALL = {"units": 4, "epochs": 3, "threads": 1, "progress": False}

# The checks of scikit-learn that the estimators do not pass, and why.
NOT_MET = {
    "check_dtype_object": "arrays of objects are refused: what numbers they mean is a guess",
    "check_classifier_data_not_an_array": "a DataFrame is a long table with a column that names the sequences, not an array [N, T]",
    "check_regressor_data_not_an_array": "likewise",
}
# Checks of features that do not exist: they are not run, and no estimator passes them.
NOT_RUN = {"check_array_api_input"}


@pytest.mark.parametrize("kind", [lt.SequenceClassifier, lt.SequenceRegressor])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_s_checks_pass_but_for_the_named_ones(kind):
    results = check_estimator(kind(units=8, epochs=20, threads=1), on_fail=None, on_skip=None)
    by_status = {status: {one["check_name"] for one in results if one["status"] == status} for status in ("passed", "failed", "skipped")}
    reasons = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    name = "classifier" if kind is lt.SequenceClassifier else "regressor"
    assert by_status["failed"] == {check for check in NOT_MET if "_data_not_" not in check or name in check}, reasons
    assert by_status["skipped"] <= NOT_RUN and len(by_status["passed"]) > 40


def sequences():
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, 60)
    return draw.normal(size=(60, 12, 2)) + (2 * y - 1)[:, None, None], np.where(y == 1, "up", "down")


def hours(rows=300, first="2024-01-01", **more):
    n = np.arange(rows)
    index = pandas.date_range(first, periods=rows, freq="h", name="when")
    return pandas.DataFrame({"load": 50 + 9 * np.sin(n / 3.82), "temp": np.cos(n / 9.0)}, index=index).assign(**more)


def test_estimators_are_cloned_and_of_their_kinds():
    model = lt.SequenceClassifier("lstm", experiment={"train": {"batch": 4}}, **SMALL)
    assert clone(model.fit(*sequences())).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))
    check_is_fitted(model)
    with pytest.raises(NotFittedError, match="Call fit first"):
        clone(model).predict(sequences()[0])
    assert is_classifier(model) and is_regressor(lt.SequenceRegressor()) and not is_regressor(lt.Forecaster())


def test_pipelines_searches_and_cross_validation_take_sequences():
    x, y = sequences()
    pipe = Pipeline([("halve", FunctionTransformer(lambda x: x[:, ::2])), ("model", lt.SequenceClassifier(**SMALL))])
    found = GridSearchCV(pipe, {"model__cell": ["gru", "lstm"], "model__experiment": [{"train": {"epochs": 1}}, {"train": {"epochs": 9}}]},
                         cv=2).fit(x, y)
    assert found.best_params_["model__experiment"] == {"train": {"epochs": 9}} and found.score(x, y) > 0.8
    assert set(found.predict(x)) == {"down", "up"} and np.ptp(found.cv_results_["mean_test_score"]) > 0
    scores = cross_val_score(lt.SequenceRegressor("gru", **SMALL), x, x.mean(axis=(1, 2)), cv=2, scoring="neg_root_mean_squared_error")
    assert (scores < 0).all()


def test_a_forecaster_is_searched_by_time():
    found = GridSearchCV(lt.Forecaster(window=24, **SMALL), {"epochs": [1, 30]}, cv=TimeSeriesSplit(2, test_size=6), error_score="raise")
    found.fit(hours(), target="load", future=["temp"])
    assert found.best_params_ == {"epochs": 30} and np.isfinite(found.cv_results_["mean_test_score"]).all()
    next_hours = hours(6, "2024-01-13 12:00")
    made = found.best_estimator_.predict(3, future=next_hours[["temp"]][:3])
    assert list(made.columns) == ["load"] and made.index.equals(next_hours.index[:3])
    made = make_pipeline(lt.Forecaster(window=24, **SMALL)).fit(hours()[["temp"]], hours()["load"], forecaster__future="temp")
    assert made[-1].targets_ == ["load"] and made.score(next_hours[["temp"]], next_hours["load"]) < 1


def test_a_table_of_pandas_is_forecast_as_one():
    model = lt.Forecaster(window=24, calendar="hour", **SMALL).fit(hours(), target="load")
    made = model.predict("3h", interval=0.8)
    assert list(made.columns) == ["load", "load_lower", "load_upper"] and made.index.equals(hours(3, "2024-01-13 12:00").index)
    assert model.experiment["data"]["calendar"] == ["hour"]
    assert model.predict_along().index[-1] == made.index[0] and len(model.predict_along()) > 200
    zoned = lt.Forecaster(window=24, **SMALL).fit(hours().tz_localize("Europe/Oslo", nonexistent="shift_forward"), target="load")
    assert str(zoned.predict(2).index.tz) == "Europe/Oslo" and zoned.score(hours(4, "2024-01-13 12:00").tz_localize("Europe/Oslo")) < 1


def test_columns_may_have_labels_that_are_no_texts_and_flags():
    plain = lt.Forecaster(window=24, **SMALL).fit(hours(), target="load", past="temp").predict(1)
    numbered = lt.Forecaster(window=24, **SMALL).fit(hours().set_axis([0, 1], axis=1), target=0, past=[1]).predict(1)
    assert list(numbered.columns) == [0] and numbered[0].tolist() == plain["load"].tolist()
    levels = pandas.MultiIndex.from_tuples([("power", "load"), ("air", "temp")])
    tupled = lt.Forecaster(window=24, **SMALL).fit(hours().set_axis(levels, axis=1), target=("power", "load"), past=[("air", "temp")]).predict(1)
    assert list(tupled.columns) == [("power", "load")] and tupled.to_numpy().tolist() == plain.to_numpy().tolist()
    day = np.arange(300) % 24 > 8
    with_numbers = lt.Forecaster(window=24, **SMALL).fit(hours(day=day.astype(float)), target="load", past="day").predict(1)
    for flags in (day, pandas.array(day, dtype="boolean")):
        assert lt.Forecaster(window=24, **SMALL).fit(hours(day=flags), target="load", past="day").predict(1).equals(with_numbers)


def test_targets_in_a_column_are_scored_as_a_row():
    x, y = sequences()
    model = lt.SequenceClassifier(**SMALL).fit(x, y)
    assert model.score(x, pandas.DataFrame({"y": y})) == model.score(x, y) == np.mean(model.predict(x) == y)


@pytest.mark.parametrize("is_index", [True, False])
def test_many_series_keep_their_names(is_index):
    table = pandas.concat([hours(shop="a"), hours(shop="b", load=np.cos(np.arange(300) / 5))])
    following = pandas.concat([hours(4, "2024-01-13 12:00", shop=shop) for shop in "ab"])
    if not is_index:
        table, following = table.reset_index(), following.reset_index()
    model = lt.Forecaster(window=24, **SMALL).fit(table, target="load", future="temp", series="shop", time=None if is_index else "when")
    made = model.predict(4, following.drop(columns="load"))
    assert made["shop"].tolist() == list("aaaabbbb") and made.index[:4].equals(hours(4, "2024-01-13 12:00").index)
    assert model.predict(4, following.drop(columns="load"), series="b")["load"].tolist() == made["load"].tolist()[4:]
    expected = np.mean([1 - ((made["load"][made["shop"] == shop].to_numpy() - hours(4)["load"].to_numpy()) ** 2).sum()
                        / ((hours(4)["load"] - hours(4)["load"].mean()) ** 2).sum() for shop in "ab"])
    assert model.score(following) == pytest.approx(expected, rel=1e-4)


def long_table():
    x, y = sequences()
    rows = [(f"s{i:02}", t, *x[i, t]) for i in range(60) for t in range(4 + i % 9)]
    table = pandas.DataFrame(rows, columns=["id", "t", "a", "b"])
    return table, pandas.Series(y, index=[f"s{i:02}" for i in range(60)])


def test_a_long_table_is_the_list_of_its_sequences():
    table, y = long_table()
    x = [part[["a", "b"]].to_numpy() for _, part in table.groupby("id")]
    plain = lt.SequenceClassifier(**SMALL).fit(x, y.to_numpy())
    shuffled = table.sample(frac=1, random_state=0)
    order = shuffled["id"].drop_duplicates()
    model = lt.SequenceClassifier(sequence="id", time="t", **SMALL).fit(table, y[::-1])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(model.predict_proba(table), plain.predict_proba(x))
    assert np.array_equal(model.predict(shuffled), pandas.Series(plain.predict(x), y.index)[order])
    assert np.array_equal(model.predict_proba(shuffled[["b", "t", "a", "id"]]), model.predict_proba(shuffled))
    assert model.score(shuffled, y) == plain.score(x, y)
    by_name = lt.SequenceClassifier(sequence="id", time="t", **SMALL).fit(table.assign(verdict=table["id"].map(y)), "verdict")
    assert np.array_equal(by_name.predict_proba(table), plain.predict_proba(x))
    assert by_name.score(table.assign(verdict=table["id"].map(y))) == plain.score(x, y)
    by_index = lt.SequenceClassifier(**SMALL).fit(table.set_index(["id", "t"]), y)
    assert np.array_equal(by_index.predict_proba(table.set_index(["id", "t"])), plain.predict_proba(x))


TABLE, LABELS = long_table()
MIXED = pandas.Index([pandas.Timestamp("2024-01-01", tz="UTC"), *hours().index[1:]], dtype=object)


def classifier():
    return lt.SequenceClassifier(sequence="id", time="t", **SMALL)


WRONG = {
    "no sequence": (lambda: lt.SequenceClassifier().fit(TABLE, LABELS), "Expected sequence="),
    "no such column": (lambda: lt.SequenceClassifier(sequence="is").fit(TABLE, LABELS), "has no column 'is'. It has id, t, a, b"),
    "other columns": (lambda: classifier().fit(TABLE, LABELS).predict(TABLE.rename(columns={"b": "c"})), "Expected a, b. Got a, c"),
    "a time twice": (lambda: classifier().fit(pandas.concat([TABLE, TABLE[:1]]), LABELS), "'s00' has the time 0 twice"),
    "NaN": (lambda: classifier().fit(TABLE.assign(b=np.nan), LABELS), "column 'b' has NaN"),
    "words": (lambda: classifier().fit(TABLE.assign(b="x"), LABELS), "column 'b' must be an array of numbers"),
    "no rows": (lambda: classifier().fit(TABLE[:0], []), "the table has no rows"),
    "no columns": (lambda: classifier().fit(TABLE[["id", "t"]], LABELS), "no columns of numbers"),
    "a label for each row": (lambda: classifier().fit(TABLE, TABLE["a"]), "a target for each of the 60 sequences"),
    "a label that changes": (lambda: classifier().fit(TABLE.assign(y=TABLE["t"] % 2), "y"), "must be the same in all rows of a sequence"),
    "a label that is no column": (lambda: classifier().fit(TABLE, "y"), "y names no column"),
    "a column twice": (lambda: lt.Forecaster(window=9).fit(pandas.concat([hours(), hours()], axis=1), target="load"), "two columns called 'load'"),
    "masked numbers": (lambda: lt.SequenceClassifier().fit(np.ma.masked_array(np.ones((9, 5, 1)), np.eye(9, 5)[:, :, None]), np.arange(9) % 2),
                       "X has masked numbers"),
    "masked arrays": (lambda: lt.check({"data": {"task": "arrays"}}, data={"x": np.ma.masked_array(np.ones((9, 5, 1)), np.eye(9, 5)[:, :, None])}),
                      "x has masked numbers"),
    "a name that is none": (lambda: lt.SequenceClassifier(unit=3), "unknown argument of SequenceClassifier 'unit'; did you mean 'units'"),
    "a name of another library": (lambda: lt.Forecaster(hidden_size=3), "did you mean 'units'"),
    "a step size that is none": (lambda: lt.SequenceClassifier(lr=float("nan")).fit(*sequences()), "lr must be a finite number. Got nan"),
    "an index twice": (lambda: lt.Forecaster(window=9).fit(pandas.concat([hours(), hours()[-1:]]), target="load"), "2024-01-13"),
    "times with and without a zone": (lambda: lt.Forecaster(window=9).fit(hours().set_axis(MIXED), target="load"), "."),
    "an empty frame": (lambda: lt.Forecaster().fit(hours()[:0], target="load"), "the table has no rows"),
    "y of another length": (lambda: lt.Forecaster().fit(hours(), np.zeros(3)), r"y: expected \[300, 1\]"),
    "objects": (lambda: lt.Forecaster(window=9).fit(hours(load=[object()] * 300), target="load"), "object"),
    "no rows to score": (lambda: lt.Forecaster(window=9, **SMALL).fit(hours(), target="load").score(hours()[:0]), "the table has no rows"),
    "targets that are not known": (lambda: lt.Forecaster(window=9, **SMALL).fit(hours(), target="load").score(
        hours(3, "2024-01-13 12:00", load=np.nan)), "."),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_clear_error(name):
    call, message = WRONG[name]
    with pytest.raises(lt.InputError, match=message):
        call()
