"""Arguments of trainings, callbacks, messages, and what runs and models show: charts, cards, notebooks."""

import builtins
import importlib.util
import json
import logging
import pickle
import sys
import types
import xml.etree.ElementTree as ElementTree

import lagtape as lt
import numpy as np
import pytest
from conftest import EXPERIMENT, changed

CLASSES = changed(name="classes", data={"task": "arrays", "path": "arrays.npz", "classes": ["calm", "rough"]}, loss="cross_entropy",
                  metrics=["accuracy"], model={"layers": [{"cell": "lstm", "units": 3}]})
WAVE = changed(name="wave", data={"task": "series", "path": "wave.csv", "target": ["wave"], "past_target": True, "window": 20})


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run(folder):
    return lt.train(EXPERIMENT, out=folder / "waves", epochs=3, progress=False)


@pytest.fixture(scope="module")
def wave(folder):
    (folder / "wave.csv").write_text("wave\n" + "\n".join(f"{np.sin(n / 5):.6f}" for n in range(300)))
    return lt.train({**WAVE, "data": {**WAVE["data"], "path": str(folder / "wave.csv")}}, out=folder / "wave", progress=False)


@pytest.fixture(scope="module")
def classifier(folder):
    draw = np.random.default_rng(0)
    np.savez(folder / "arrays.npz", X=draw.normal(size=(60, 6, 2)), y=np.arange(60) % 2)
    data = {"task": "arrays", "path": str(folder / "arrays.npz"), "classes": 2}
    return lt.train({**CLASSES, "data": data}, out=folder / "classes", progress=False)


def test_a_run_that_is_moved_with_its_data_is_trained_again_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / "project/data").mkdir(parents=True)
    (tmp_path / "project/data/wave.csv").write_text("wave\n" + "\n".join(f"{np.sin(n / 5):.6f}" for n in range(300)))
    experiment = {**WAVE, "data": {**WAVE["data"], "path": "project/data/wave.csv"}}
    before = lt.train(experiment, out="project/runs/wave", progress=False)
    assert json.loads((tmp_path / "project/runs/wave/experiment.json").read_text())["data"]["path"] == "../../data/wave.csv"
    (tmp_path / "project").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved/runs")
    moved = lt.Run("wave")
    assert moved.experiment["data"]["path"] == str(tmp_path / "moved/data/wave.csv")
    again = lt.train(moved.experiment, out=tmp_path / "again", progress=False)
    by_file = lt.train("wave/experiment.json", out=tmp_path / "third", progress=False)
    assert again.metrics == by_file.metrics == moved.metrics
    assert json.loads((tmp_path / "again/experiment.json").read_text())["data"]["path"] == "../moved/data/wave.csv"
    assert before.path == "project/runs/wave"


def test_arguments_are_the_settings_that_people_type():
    two = changed(model={"layers": [{"cell": "gru", "units": 2}, {"layer": "dropout", "rate": 0.1},
                                    {"cell": "dilated", "of": {"cell": "indrnn", "units": 2}, "dilations": [1, 2]}]})
    run = lt.train(two, lr=0.5, batch=2, units=5, epochs=1, seed=4, out="run")
    made = run.experiment
    assert (made["optimizer"]["lr"], made["train"]["batch"], made["train"]["epochs"], made["seed"]) == (0.5, 2, 1, 4)
    assert [layer.get("units", layer.get("of", {}).get("units")) for layer in made["model"]["layers"]] == [5, None, 5]
    without = {key: value for key, value in EXPERIMENT.items() if key != "optimizer"}
    assert lt.train(without, lr=0.25, epochs=1, out="adam").experiment["optimizer"]["lr"] == 0.25
    with open("waves.json", "w") as file:
        json.dump(EXPERIMENT, file)
    assert lt.train("waves.json", units=3, epochs=1, out="file").experiment["model"]["layers"][0]["units"] == 3


@pytest.mark.parametrize("call, name, nearest", [
    (lambda: lt.train(EXPERIMENT, epoch=3), "epoch", "epochs"),
    (lambda: lt.train(EXPERIMENT, learning_rate=0.1), "learning_rate", "lr"),
    (lambda: lt.train(EXPERIMENT, batch_size=3), "batch_size", "batch"),
    (lambda: lt.train(EXPERIMENT, callbacks=[]), "callbacks", "callback"),
    (lambda: lt.check(EXPERIMENT, gradient=True), "gradient", "gradients"),
    (lambda: lt.inspect(EXPERIMENT, thread=1), "thread", "threads"),
    (lambda: lt.bench(EXPERIMENT, repeat=1), "repeat", "repeats"),
])
def test_an_unknown_argument_is_named_with_the_nearest(call, name, nearest):
    with pytest.raises(lt.InputError, match=rf"did you mean '{nearest}'\?") as error:
        call()
    assert (error.value.problems[0].found, error.value.suggestion, error.value.problems[0].rule) == (name, nearest, "unknown_name")


def test_methods_refuse_unknown_arguments_too(run):
    with pytest.raises(lt.InputError, match="did you mean 'confusion'"):
        run.evaluate("test", confusions=True)


def test_several_callbacks_are_all_called_and_stop_ends_the_training():
    rows, more = [], []

    def enough(row):
        if row["epoch"] == 2:
            raise lt.Stop

    run = lt.train(EXPERIMENT, epochs=9, callback=[rows.append, enough, more.append], out="run")
    assert [row["epoch"] for row in rows] == [1, 2] and rows == more
    assert run.history["epoch"].tolist() == [1, 2] and run.summary["best_epoch"] >= 1 and run.summary["stopped_early"]
    assert lt.train(EXPERIMENT, epochs=9, callback=lambda row: lt.Stop, out="class").history["epoch"].tolist() == [1]
    assert lt.train(EXPERIMENT, epochs=2, callback=lambda row: 1, out="one").history["epoch"].tolist() == [1, 2]
    with pytest.raises(lt.InputError, match="a list of functions. Got str"):
        lt.train(EXPERIMENT, callback=[print, "print"], out="wrong")


def test_trainings_log_under_lagtape(caplog):
    with caplog.at_level(logging.INFO, logger="lagtape"):
        lt.train(EXPERIMENT, epochs=2, out="run")
    said = [record.getMessage() for record in caplog.records if record.name == "lagtape"]
    assert len(said) == 3 and said[0].startswith("epoch 1  train_loss ") and "valid_rmse" in said[1] and said[2] == "trained run"


def test_streams_pickle_in_their_state(run):
    model, x = run.model(), lt.data(EXPERIMENT)["test_x"]
    for options in {}, {"rate": 2.0, "interpolation": "linear"}, {"rows": 3}:
        stream = model.stream(**options)
        rows = options.get("rows", 1)
        feed = np.repeat(x[0][:, None], rows, 1) if rows > 1 else x[0]
        stream.block(feed[:20])
        other = pickle.loads(pickle.dumps(stream))
        copied = pickle.loads(pickle.dumps(stream.copy()))
        rest = stream.block(feed[20:])
        assert np.array_equal(other.block(feed[20:]), rest) and np.array_equal(copied.block(feed[20:]), rest)
        assert other.steps == stream.steps and not np.array_equal(rest, model.stream(**options).block(feed[20:]))


def numbers(svg):
    """The content of an SVG: the document, its lines' points."""
    root = ElementTree.fromstring(svg)
    return root, [one for one in root.iter() if one.tag.endswith(("path", "polyline"))]


CHARTS = {
    "learning": lambda runs: runs["run"].plot_learning,
    "gradient_reach": lambda runs: runs["run"].plot_gradient_reach,
    "confusion": lambda runs: runs["classifier"].plot_confusion,
    "forecast": lambda runs: runs["wave"].plot_forecast,
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_svg_without_matplotlib(name, run, wave, classifier, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "matplotlib" else find(name, *more))
    chart = CHARTS[name]({"run": run, "wave": wave, "classifier": classifier})()
    assert isinstance(chart, lt.Svg)
    root, lines = numbers(str(chart))
    assert root.tag.endswith("svg") and (name == "confusion" or len(lines) >= 1)
    chart.save("chart.svg")
    assert open("chart.svg").read() == chart._repr_svg_()
    if name == "confusion":
        counts = classifier.confusion()
        texts = [one.text for one in root.iter() if one.tag.endswith("text")]
        assert counts.sum() > 0 and [int(text) for text in texts if text.isdigit()][-4:] == counts.ravel().tolist()


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_axes_of_matplotlib(name, run, wave, classifier):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    plot = CHARTS[name]({"run": run, "wave": wave, "classifier": classifier})
    _, axes = plt.subplots()
    assert plot(ax=axes) is axes
    if name == "learning":
        train = axes.lines[0]
        assert train.get_label() == "train_loss" and np.array_equal(train.get_ydata(), run.history["train_loss"])
    if name == "gradient_reach":
        assert np.array_equal(axes.lines[0].get_ydata(), lt.analyze(run)["layers"][0]["states"][0]["gradient"]["mean"])
    if name == "forecast":
        made = wave.forecast(wave.experiment["data"]["path"], 20)
        assert np.array_equal(axes.lines[-1].get_ydata(), made["prediction"][:, 0])
    if name == "confusion":
        assert axes.images[0].get_array().sum() == classifier.confusion().sum()
    assert isinstance(plot(), plt.Axes)
    plt.close("all")
    with pytest.raises(lt.InputError, match="ax must be axes of matplotlib. Got int"):
        plot(ax=3)


def test_a_forecast_has_its_interval_as_a_band(wave):
    pytest.importorskip("matplotlib").use("Agg")
    axes = wave.plot_forecast(steps=5, interval=0.9, past=7)
    assert len(axes.collections) == 1 and len(axes.lines[0].get_xdata()) == 7 and len(axes.lines[-1].get_xdata()) == 5


def test_runs_and_models_have_cards(run, classifier):
    for one, words in (run, ["Run waves", "tau_gru 6", "test_rmse", "<svg"]), (classifier.model(), ["Model", "lstm", "float32"]):
        card = one._repr_html_()
        assert all(word in card for word in words) and card.count("<div") == card.count("</div>")
    (lambda path: path.mkdir())(__import__("pathlib").Path("a<b"))
    assert "a&lt;b" in lt.train(EXPERIMENT, epochs=1, out="a<b/run")._repr_html_()


def test_a_notebook_has_a_live_curve(monkeypatch):
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    display = types.SimpleNamespace(HTML=lambda text: text, display=lambda html, display_id: Handle())
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    lt.train(EXPERIMENT, epochs=30, out="run")
    assert any("<progress" in html and "left" in html for html in shown)
    ElementTree.fromstring(shown[-1][shown[-1].index("<svg"):])
    assert "train_loss" in shown[-1]
    before = len(shown)
    lt.train(EXPERIMENT, epochs=2, out="quiet", progress=False)
    assert len(shown) == before


def test_scores_have_counts_and_classes(classifier):
    scores = classifier.evaluate(confusion=True)
    assert scores.confusion.shape == (2, 2) and scores.series == {} and scores["accuracy"] == pytest.approx(
        np.trace(scores.confusion) / scores.confusion.sum())
    assert builtins.dict(scores)["confusion"] is scores.confusion


def test_estimators_have_cards():
    model = lt.SequenceRegressor("gru", units=3, epochs=2, progress=False)
    assert "units" in model._repr_html_() and "<svg" not in model._repr_html_()
    draw = np.random.default_rng(0).normal(size=(30, 5, 2))
    card = model.fit(draw, draw[:, -1, 0])._repr_html_()
    assert all(word in card for word in ("SequenceRegressor", "valid_loss", "<svg", "gru"))
