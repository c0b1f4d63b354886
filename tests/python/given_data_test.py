"""Data from memory: the same bits as from a file, frames back as frames, and one clear error for what is no data."""

import datetime
import json
import pathlib
import subprocess
import sys

import lagtape as lt
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

ROWS = 400
SERIES = {
    "name": "load",
    "data": {"task": "series", "target": ["load"], "future": ["temp"], "past_target": True, "missing": "hold", "calendar": ["hour"],
             "window": 24},
    "model": {"layers": [{"cell": "gru", "units": 5}], "readout": {"at": "every_step"}},
    "loss": "mse",
    "metrics": ["rmse"],
    "train": {"batch": 4, "epochs": 2},
}
ARRAYS = {
    "name": "arrays",
    "data": {"task": "arrays", "classes": 2},
    "model": {"layers": [{"cell": "lstm", "units": 4}]},
    "loss": "cross_entropy",
    "train": {"batch": 4, "epochs": 2},
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def frame(**more):
    draw = np.random.default_rng(0)
    index = pandas.date_range("2024-01-01", periods=ROWS, freq="h", name="when")
    table = pandas.DataFrame({"load": 10 + np.sin(np.arange(ROWS) / 4), "temp": draw.normal(size=ROWS).astype("float32")}, index=index)
    table.iloc[7, 1] = np.nan
    return table.assign(**more)


def stations():
    """Two stations of different level, hour by hour."""
    hours = pandas.date_range("2024-01-01", periods=ROWS, freq="h")
    levels = {"Köln Süd": 1.0, "north": 100.0}
    return pandas.concat([pandas.DataFrame({"station": name, "when": hours, "load": level * (10 + np.sin(np.arange(ROWS) / 4)),
                                            "temp": np.arange(ROWS) % 3.0}) for name, level in levels.items()], ignore_index=True)


STATIONS = {**SERIES, "data": {**SERIES["data"], "series": "station", "time": "when", "calendar": []}}


def arrays():
    draw = np.random.default_rng(1)
    x, y = draw.normal(size=(40, 12, 3)), draw.integers(0, 2, 40)
    return {"train_x": x[:24], "train_y": y[:24], "valid_x": x[24:32], "valid_y": y[24:32], "test_x": x[32:], "test_y": y[32:]}


def with_data(experiment, **more):
    return {**experiment, "data": {**experiment["data"], **more}}


def assert_same(run, other):
    mine, others = run.model().parameters, other.model().parameters
    assert all(np.array_equal(mine[name], others[name]) for name in others) and len(mine) == len(others)
    for name in run.history:
        assert name in ("seconds", "us_per_step") or np.array_equal(run.history[name], other.history[name]), name


def future_of(table, steps):
    return pandas.DataFrame({"temp": np.arange(float(steps))}, index=pandas.date_range(
        table.index[-1] + pandas.Timedelta("1h"), periods=steps, freq="h", name=table.index.name))


@pytest.fixture(scope="module")
def of_frame(tmp_path_factory):
    return lt.train(SERIES, data=frame(), out=tmp_path_factory.mktemp("frame") / "run")


def test_a_frame_trains_with_the_bits_of_its_csv_file(of_frame):
    frame().to_csv("load.csv")
    assert_same(of_frame, lt.train(with_data(SERIES, path="load.csv", time="when"), out="file"))
    assert np.ptp(of_frame.history["train_loss"]) > 0


@pytest.mark.slow
def test_a_draft_of_a_frame_is_trained_with_it():
    table = frame().rename_axis(None)
    draft = lt.new(table, "gru", units=4, target="load", future="temp")
    assert draft["data"]["time"] == "time" and draft["data"]["target"] == ["load"] and draft["data"]["future"] == ["temp"]
    run = lt.train(draft, data=table, epochs=1, out="run")
    assert all(np.isfinite(value) for value in run.metrics.values()) and run.metrics


def test_sequences_of_a_table_are_predicted_by_their_names():
    draw = np.random.default_rng(2)
    rows = [(f"m{i}", t, np.sin(t / (1 + i % 3 % 2)) + draw.normal(0, 0.1), "fault" if i % 3 else "ok") for i in range(30) for t in range(20)]
    table = pandas.DataFrame(rows, columns=["run", "t", "a", "label"])
    draft = lt.new(table)
    assert draft["data"]["task"] == "sequences" and draft["data"]["target"] == "label"
    run = lt.train(draft, data=table, epochs=2, out="run")
    made = lt.predict(run, table.drop(columns="label"))
    assert list(made.columns) == ["run", "prediction", "p[fault]", "p[ok]"] and len(made) == 30
    assert (np.where(made["p[fault]"] > 0.5, "fault", "ok") == made["prediction"]).all()
    np.testing.assert_allclose(made["p[fault]"] + made["p[ok]"], 1, rtol=1e-6)
    table.to_csv("table.csv", index=False)
    of_file = lt.predict(run, "table.csv")
    assert of_file["prediction"] == made["prediction"].tolist() and of_file["truth"][0] == "ok"
    np.testing.assert_array_equal(of_file["p[ok]"], made["p[ok]"])


def test_columns_of_a_dict_and_an_index_without_a_name_are_the_same(of_frame):
    table = frame()
    columns = {"time": table.index.to_numpy(), "load": table["load"].to_numpy(), "temp": table["temp"].to_numpy()}
    assert_same(of_frame, lt.train(with_data(SERIES, time="time"), data=columns, out="columns"))
    assert_same(of_frame, lt.train(SERIES, data=table.rename_axis(None), out="unnamed"))


def test_forecasts_and_predictions_of_a_frame_are_frames_with_the_numbers_of_the_file(of_frame):
    table = frame()
    table.to_csv("load.csv")
    future_of(table, 5).to_csv("future.csv")
    made, known = lt.forecast(of_frame, table, 5, future=future_of(table, 5)), lt.forecast(of_frame, "load.csv", 5, future="future.csv")
    assert list(made.columns) == ["load"] and made.index.equals(future_of(table, 5).index) and made.index.name == "when"
    assert np.array_equal(made["load"].to_numpy(), known["prediction"][:, 0])
    along, there = lt.predict(of_frame, table), lt.predict(of_frame.path, "load.csv")
    assert np.array_equal(along["load"].to_numpy(), there["prediction"][:, 0]) and np.ptp(along["load"]) > 0
    assert along.index[-1] == table.index[-1]


def test_a_long_frame_of_many_series_is_forecast_series_by_series():
    table = pandas.concat([frame(shop="a"), frame(shop="b", load=np.cos(np.arange(ROWS) / 5))])
    experiment = with_data({**SERIES, "name": "shops"}, series="shop")
    run = lt.train(experiment, data=table)
    table.to_csv("shops.csv")
    assert_same(run, lt.train(with_data(experiment, path="shops.csv", time="when"), out="file"))
    future = pandas.concat([future_of(frame(), 3).assign(shop=shop) for shop in "ab"])
    made = run.forecast(table, 3, future=future)
    assert made["shop"].tolist() == list("aaabbb") and made.index.name == "when" and list(made.index[:3]) == list(made.index[3:])
    assert run.forecast(table.reset_index(), 3, future=future.reset_index()).equals(made)


def test_times_keep_their_zone(of_frame):
    table = frame().tz_localize("Europe/Oslo", nonexistent="shift_forward")
    made = lt.forecast(of_frame, table, 2, future=future_of(table, 2))
    assert str(made.index.tz) == "Europe/Oslo" and made.index[0] == table.index[-1] + pandas.Timedelta("1h")


def test_several_frames_are_a_series_each():
    experiment = with_data(SERIES, time="when", split="time")
    first, second = frame(), frame(load=np.cos(np.arange(ROWS) / 5))
    first.to_csv("a.csv"), second.to_csv("b.csv")
    file = lt.train(with_data(experiment, path=["a.csv", "b.csv"]), out="files")
    assert_same(lt.train(experiment, data={"a": first, "b": second}, out="dict"), file)
    assert_same(lt.train(experiment, data=(one for one in [first, second]), out="iterable"), file)


def test_arrays_train_with_the_bits_of_their_npz_file_and_are_not_copied():
    np.savez("data.npz", **arrays())
    file = lt.train(with_data(ARRAYS, path="data.npz"), out="file")
    assert_same(lt.train(ARRAYS, data=arrays(), out="arrays"), file)
    assert lt.check(ARRAYS, data="data.npz") == lt.check(ARRAYS, data=arrays())
    narrow = {name: np.asarray(array, "float32") for name, array in arrays().items()}
    np.savez("narrow.npz", **narrow)
    assert_same(lt.train(ARRAYS, data=narrow, out="narrow"), lt.train(with_data(ARRAYS, path="narrow.npz"), out="narrow_file"))


@pytest.mark.slow
def test_large_arrays_are_read_where_they_are():
    resource = pytest.importorskip("resource")
    x = np.zeros((1000, 1000, 30), "float32")  # 120 MB
    data = {"train_x": x, "train_y": np.zeros(1000, "float32")}
    experiment = {**ARRAYS, "data": {"task": "arrays", "normalize": False}, "loss": "mse"}
    lt.check(experiment, data={name: array[:2] for name, array in data.items()})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lt.check(experiment, data=data)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < x.nbytes / 4


def test_an_array_is_a_recording():
    values = np.sin(np.arange(300) / 5)[:, None]
    np.save("wave.npy", values)
    experiment = {**SERIES, "data": {"task": "series", "window": 20}}
    assert_same(lt.train(experiment, data=values, out="array"), lt.train(with_data(experiment, path="wave.npy"), out="file"))


def test_columns_called_x_and_y_are_a_table_for_a_task_of_tables():
    values = np.sin(np.arange(300) / 5)
    experiment = {**SERIES, "data": {"task": "series", "window": 20}}
    run = lt.train(experiment, data={"x": values, "y": np.cos(values)})
    assert run.experiment["data"]["path"] == "(memory)/data.csv"
    made = lt.forecast(run.model(), {"x": values, "y": np.cos(values)}, 3)
    assert sorted(made) == ["x", "y"] and np.array_equal(made["x"], lt.forecast(run, {"x": values, "y": np.cos(values)}, 3)["x"])


def test_an_experiment_file_takes_data_too(of_frame):
    pathlib.Path("load.json").write_text(json.dumps(with_data(SERIES, path="elsewhere.csv", time="when")))
    assert_same(lt.train("load.json", data=frame(), out="file"), of_frame)


def test_polars_and_pyarrow_are_read_by_their_columns(of_frame):
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(frame().reset_index())
    assert_same(lt.train(with_data(SERIES, time="when"), data=table, out="polars"), of_frame)
    made = lt.forecast(of_frame, table, 2, future=polars.from_pandas(future_of(frame(), 2).reset_index()))
    assert isinstance(made, polars.DataFrame) and made.columns == ["when", "load"]


def test_a_run_says_that_its_data_were_in_memory(of_frame):
    with pytest.raises(lt.InputError, match="given from memory, and are no file. Give them again"):
        lt.check(with_data(SERIES, **of_frame.experiment["data"]))


WRONG = {
    "an object array": (ARRAYS, {**arrays(), "train_x": np.array([[1], [2, 3]], dtype=object)}, "train_x must be an array of numbers"),
    "a ragged list": (ARRAYS, {**arrays(), "train_x": [[[1.0]], [[1.0], [2.0]]]}, "train_x must be an array of numbers"),
    "NaN": (ARRAYS, {**arrays(), "train_x": np.full((24, 12, 3), np.nan)}, "train_x: numbers must be finite"),
    "words": (ARRAYS, {**arrays(), "train_y": np.array(["a", "b"] * 12)}, "train_y must be an array of numbers"),
    "y of another length": (ARRAYS, {**arrays(), "train_y": np.zeros(23)}, "train_y: expected"),
    "a set": (SERIES, {1, 2}, "expected a DataFrame"),
    "a number": (SERIES, 3, "expected a path, arrays or a DataFrame. Got int"),
    "no frames": (SERIES, [], "there are no frames"),
    "an empty frame": (SERIES, frame()[:0], "has no rows"),
    "a frame of one column less": (SERIES, frame()[["load"]], "temp"),
    "words in a column": (SERIES, frame(load="many"), "many"),
    "lists in a column": (SERIES, frame(load=[[1]] * ROWS), "must have a number or a text a row"),
    "an infinite number": (SERIES, frame(load=np.inf), "inf"),
    "complex numbers": (SERIES, frame(load=1j), "neither of numbers nor of texts"),
    "a time twice": (SERIES, pandas.concat([frame(), frame()[:1]]), "2024-01-01"),
    "columns of two lengths": (SERIES, {"when": [1, 2], "load": [1.0]}, "expected 2 rows"),
    "times with and without a zone": (SERIES, frame().set_index(pandas.Index(
        [datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)] + list(frame().index[1:].to_pydatetime()), dtype=object)), "."),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_data_is_one_error(name):
    experiment, data, message = WRONG[name]
    with pytest.raises(lt.InputError, match=message):
        lt.train(experiment, data=data, out="run")
    assert not pathlib.Path("run").exists()


@pytest.mark.slow
def test_many_random_frames_are_read_as_their_files_are():
    draw = np.random.default_rng(5)
    experiment = {**SERIES, "data": {"task": "series", "target": ["a"], "missing": "hold", "window": 5}}
    for _ in range(30):
        values = draw.normal(size=40) * 10.0 ** draw.integers(-12, 12)
        kinds = [values, values.astype("float32"), draw.integers(-9, 9, 40), draw.integers(0, 2, 40).astype("uint8"),
                 np.where(draw.random(40) < 0.1, np.nan, values)]
        table = pandas.DataFrame({"a": kinds[draw.integers(len(kinds))], 'b,"': kinds[draw.integers(len(kinds))]})
        table.to_csv("table.csv", index=False)
        mine, file = lt.data(experiment, data=table), lt.data(with_data(experiment, path="table.csv"))
        assert mine.keys() == file.keys() and all(np.array_equal(mine[name], file[name], equal_nan=True) for name in file)


def test_arrays_alone_are_divided_as_those_of_a_file_are():
    draw = np.random.default_rng(2)
    data = {"X": draw.normal(size=(60, 12, 3)), "y": draw.integers(0, 2, 60)}
    np.savez("all.npz", **data)
    mine, file = lt.data(ARRAYS, data=data), lt.data(with_data(ARRAYS, path="all.npz"))
    assert len(mine["train_x"]) > len(mine["test_x"]) > 0
    assert mine.keys() == file.keys() and all(np.array_equal(mine[name], file[name]) for name in file)


def kinds(rows=ROWS):
    """Columns of every kind of numbers, with holes and codes, and series named by whole numbers."""
    draw = np.random.default_rng(3)
    table = pandas.DataFrame({"when": list(pandas.date_range("2024-01-01", periods=rows // 2, freq="h")) * 2,
                              "id": np.repeat(np.array([2**53 + 1, 2**53 + 3]), rows // 2), "load": draw.normal(size=rows),
                              "single": draw.normal(size=rows).astype("float32"), "count": draw.integers(-5, 9, rows),
                              "small": draw.integers(0, 9, rows).astype("uint8"), "code": draw.normal(size=rows)})
    table.loc[[3, 50], "single"], table.loc[9:11, "code"] = np.nan, -999.0
    return table


@pytest.mark.slow
def test_columns_of_every_kind_of_numbers_have_the_bits_of_their_file():
    experiment = with_data({**SERIES, "name": "kinds"}, target="load", future=["count", "small"], past=["single", "code"], calendar=[],
                           series="id", time="when", missing_codes=[-999])
    kinds().to_csv("kinds.csv", index=False)
    file = lt.train(with_data(experiment, path="kinds.csv"), out="file")
    assert_same(lt.train(experiment, data=kinds(), out="frame"), file)
    every_other = pandas.concat([kinds()] * 2, axis=1).iloc[:, :7].iloc[::1]  # columns that are not contiguous
    assert_same(lt.train(experiment, data=every_other, out="strided"), file)
    shuffled = kinds().sample(frac=1, random_state=0)
    shuffled.to_csv("shuffled.csv", index=False)
    assert_same(lt.train(experiment, data=shuffled, out="shuffled"), lt.train(with_data(experiment, path="shuffled.csv"), out="shuffled_file"))
    twice = pandas.concat([kinds(), kinds().iloc[:3]])
    twice.to_csv("twice.csv", index=False)
    means = with_data(experiment, duplicates="mean")
    assert_same(lt.train(means, data=twice, out="twice"), lt.train(with_data(means, path="twice.csv"), out="twice_file"))
    future = kinds().groupby("id").tail(1).assign(when=lambda last: last["when"] + pandas.Timedelta("1h")).drop(columns=["load", "code"])
    future.to_csv("future.csv", index=False)
    made, known = lt.forecast(file, kinds(), 1, future=future), lt.forecast(file, "kinds.csv", 1, future="future.csv")
    assert np.array_equal(made["load"].to_numpy(), known["prediction"][:, 0]) and len(made) == 2
    assert made["id"].tolist() == [str(2**53 + 1), str(2**53 + 3)]


def test_an_infinite_number_is_named_with_its_row_and_column():
    table = frame()
    table.iloc[5, 0] = np.inf
    with pytest.raises(lt.InputError, match=r"line 7, column 2 \(load\)") as error:
        lt.check(SERIES, data=table)
    assert (error.value.problems[0].line, error.value.problems[0].found) == (7, "'inf'")


MEMORY = """
import numpy as np, lagtape as lt

def peak():  # of this program; getrusage also has that of the one which started it
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])

columns = {f"c{i}": np.random.default_rng(i).normal(size=1_000_000) for i in range(8)}
experiment = {"name": "big", "data": {"task": "series", "target": ["c0"], "past_target": True, "window": 2000}, "loss": "mse",
              "model": {"layers": [{"cell": "gru", "units": 2}]}}
lt.check(experiment, data={"c0": columns["c0"][:20000]}, threads=1)
before = peak()
lt.check(experiment, data=columns, threads=1)
print(peak() - before)
"""


def test_numbers_are_read_where_they_are():
    """A table takes the memory of the column that is read, and no text beside it: those of 8 columns are 150 MB."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", MEMORY], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert 8_000 <= int(done.stdout) < 120_000, done.stdout  # kB


def test_a_model_of_several_series_is_used_as_that_of_one():
    table = stations()
    run = lt.train(STATIONS, data=table, out="stations")
    model = run.model()
    assert model.series == ["Köln Süd", "north"]
    rows = table[table["station"] == "north"]
    # load, temp and temp of the next row, which the last row does not know
    x = np.stack([rows["load"][:-1], rows["temp"][:-1], rows["temp"][1:]], axis=1).astype(np.float32)
    with pytest.raises(lt.InputError, match="use_series in C\\+\\+ and Python"):
        model.predict(x)
    with pytest.raises(lt.InputError, match="use_series in C\\+\\+ and Python"):
        model.stream()
    with pytest.raises(lt.InputError, match="unknown series of the model 'nort'; did you mean 'north'"):
        model.use_series("nort")
    with pytest.raises(lt.InputError, match="must be a text"):
        model.use_series(3)
    north = model.use_series("north")
    assert north.series == [] and model.series == ["Köln Süd", "north"]
    y = north.predict(x)
    along = lt.predict(run, table)
    assert np.allclose(y[:, 0], along[along["station"] == "north"]["load"], rtol=1e-6)
    assert np.ptp(y) > 10
    stream = north.stream()
    assert np.array_equal(np.array([stream.step(step) for step in x]), y)
    south = model.use_series("Köln Süd").predict(x / np.array([100, 1, 1], np.float32))
    assert np.allclose(100 * south, y, rtol=1e-3)
    # It is saved and sent as a model of one.
    north.save("north.safetensors")
    assert np.array_equal(lt.load("north.safetensors").predict(x), y)
    with pytest.raises(lt.InputError, match="has one scaling for all series"):
        north.use_series("north")


def test_a_future_is_a_frame_of_the_rows_that_follow():
    table = stations()
    run = lt.train(STATIONS, data=table, out="stations")
    later = pandas.date_range("2024-01-01", periods=ROWS + 5, freq="h")[ROWS:]
    future = pandas.DataFrame({"station": np.repeat(["north", "Köln Süd"], 5), "when": np.tile(later, 2), "temp": np.arange(10) % 3.0})
    found = run.forecast(table, steps=5, future=future)
    assert list(found["station"]) == ["Köln Süd"] * 5 + ["north"] * 5
    table.to_csv("panel.csv", index=False)
    future.to_csv("next.csv", index=False)
    of_files = run.forecast("panel.csv", steps=5, future="next.csv")
    assert np.array_equal(found["load"], of_files["prediction"][:, 0])
    # The same rows at the end of the table, whose load is missing.
    longer = pandas.concat([table, future], ignore_index=True)
    assert np.array_equal(run.forecast(longer, steps=5)["load"], found["load"])
    other = run.forecast(table, steps=5, future=future.assign(temp=0.5))
    assert not np.allclose(other["load"], found["load"])
    with pytest.raises(lt.InputError, match="temp is a \"future\" input and is not known"):
        run.forecast(table, steps=5)
    with pytest.raises(lt.InputError, match="the series 'Köln Süd'"):
        run.forecast(table, steps=5, future=future[future["station"] == "north"])
    north = run.forecast(table, steps=5, future=future[future["station"] == "north"], series="north")
    assert np.array_equal(north["load"], found[found["station"] == "north"]["load"])
