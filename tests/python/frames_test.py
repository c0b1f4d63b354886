"""Frames of polars and pyarrow, and of libraries that say __arrow_c_stream__ or __dataframe__ alone, as data of the estimators."""

import lagtape as lt
import numpy as np
import pytest

SMALL = {"units": 4, "epochs": 2, "threads": 1, "progress": False}
N = np.arange(300)
HOURS = (np.datetime64("2024-01-01T00", "s") + N * np.timedelta64(3600, "s")).astype("M8[us]")
COLUMNS = {"when": HOURS, "load": 50 + 9 * np.sin(N / 3.82), "temp": np.cos(N / 9.0)}
AHEAD = {"when": HOURS[-1] + np.arange(1, 4) * np.timedelta64(3600, "s"), "temp": np.zeros(3)}
LONG = {"id": np.repeat([f"s{i:02}" for i in range(20)], 8), "a": np.tile(N[:8], 20) * np.repeat(np.arange(20) % 2, 8) + 0.5}
LABELS = np.array(["flat", "steep"] * 10)


class Only:
    """A frame of which one protocol is known."""

    def __init__(self, frame, protocol):
        setattr(self, protocol, getattr(frame, protocol))


def frame_of(kind, columns):
    if kind == "dict":
        return columns
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    if kind == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    return Only(pytest.importorskip("pyarrow").table(columns), kind)


@pytest.fixture(scope="module")
def of_columns():
    forecaster = lt.Forecaster(window=20, **SMALL).fit(COLUMNS, target="load", future="temp", time="when")
    return forecaster, lt.SequenceClassifier(sequence="id", **SMALL).fit(LONG, LABELS)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow", "__arrow_c_stream__", "__dataframe__"])
def test_frames_of_every_library_are_the_same_data(of_columns, kind):
    forecaster, classifier = of_columns
    table = frame_of(kind, COLUMNS)
    fitted = lt.Forecaster(window=20, **SMALL).fit(table, target="load", future="temp", time="when")
    if kind.startswith("__"):
        made = fitted.predict(3, frame_of(kind, AHEAD), df=COLUMNS)
    else:
        made = fitted.predict(3, frame_of(kind, AHEAD))
        assert kind == "dict" or type(made) is type(table)
    expected = forecaster.predict(3, AHEAD)
    assert np.array_equal(np.asarray(made["load"]), expected["load"])
    labelled = lt.SequenceClassifier(sequence="id", **SMALL).fit(frame_of(kind, LONG), LABELS)
    assert np.array_equal(labelled.predict_proba(frame_of(kind, LONG)), classifier.predict_proba(LONG))
    assert np.ptp(classifier.predict_proba(LONG)) > 0


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_forecasts_are_frames_of_the_library_with_their_times(kind):
    table = frame_of(kind, COLUMNS)
    made = lt.Forecaster(window=20, **SMALL).fit(table, target="load", time="when").predict(2)
    names = made.columns if kind == "polars" else made.column_names
    assert list(names) == ["when", "load"] and str(made["when"][0]).startswith("2024-01-13 12:00")
    assert (made["when"].dtype == table["when"].dtype) if kind == "polars" else (made["when"].type == table["when"].type)


def test_times_of_polars_keep_their_zone_and_dates_their_kind():
    polars = pytest.importorskip("polars")
    zoned = polars.DataFrame(COLUMNS).with_columns(polars.col("when").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Oslo"))
    for table in (zoned, zoned.lazy()):
        made = lt.Forecaster(window=20, **SMALL).fit(table, target="load", time="when").predict(2)
        assert made["when"].dtype == zoned["when"].dtype and made["when"][0] - zoned["when"][-1] == HOURS[1] - HOURS[0]
    pandas = pytest.importorskip("pandas")
    local = pandas.DataFrame({"when": pandas.to_datetime(HOURS).tz_localize("UTC").tz_convert("Europe/Oslo"), "load": COLUMNS["load"]})
    by_hour = [lt.Forecaster(window=20, calendar="hour", **SMALL).fit(table, target="load", time="when").predict(2)["load"].to_list()
               for table in (zoned, local, polars.DataFrame(COLUMNS))]
    assert by_hour[0] == by_hour[1] != by_hour[2]
    days = polars.DataFrame({"when": polars.Series(HOURS[0] + N * np.timedelta64(1, "D")).cast(polars.Date), "load": COLUMNS["load"]})
    made = lt.Forecaster(window=20, **SMALL).fit(days, target="load", time="when").predict(2)
    assert made["when"].dtype == polars.Date and str(made["when"][0]) == "2024-10-27"
