"""Experiments from Python: what the tool's commands do and say, files and bits."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import EXPERIMENT, changed, run_tool

import lagtape as lt

DATA = {"train_x", "train_y", "valid_x", "valid_y", "test_x", "test_y"}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waves.json").write_text(json.dumps(EXPERIMENT))


def same_but_for_times(one, other):
    a, b = (json.loads((pathlib.Path(run) / "summary.json").read_text()) for run in (one, other))
    own = ("seconds", "us_per_step", "peak_rss_bytes", "plan_bytes")  # times, and bytes that go with threads
    return {key: a[key] for key in a if key not in own} == {key: b[key] for key in b if key not in own}


# ---- train ----


def test_training_has_the_files_and_bits_of_the_tool(trained):
    for run in lt.train("waves.json", out="file", threads=1), lt.train(EXPERIMENT, out="dict", threads=2):
        for name in "weights.safetensors", "experiment.json":
            assert pathlib.Path(run.path, name).read_bytes() == (trained / name).read_bytes(), name
        assert same_but_for_times(run, trained)
        assert sorted(os.listdir(run.path)) == sorted(os.listdir(trained))


def test_a_run_tells_what_it_learned():
    rows = []
    run = lt.train("waves.json", callback=rows.append)
    assert run.path == "runs/waves-0" and repr(run) == "<lagtape.Run runs/waves-0>"
    history = run.history
    assert set(history) == set(rows[0]) == {"epoch", "step", "train_loss", "valid_loss", "valid_rmse", "lr", "seconds"}
    assert [row["valid_rmse"] for row in rows] == history["valid_rmse"].tolist() and len(rows) == 2
    assert history["epoch"].tolist() == [1, 2] and history["step"].tolist() == [2, 4]
    scores = json.loads(run_tool("eval", run.path, "--json").stdout)
    assert run.metrics["test_rmse"] == scores["rmse"] and run.metrics["test_loss"] == scores["loss"]
    assert run.metrics["valid_rmse"] == min(history["valid_rmse"])
    assert run.summary["params"] == sum(value.size for value in run.model().parameters.values())
    with open(f"{run.path}/metrics.jsonl", "a") as file:
        file.write('{"epoch": 3, "st')
    assert run.history["epoch"].tolist() == [1, 2]
    assert lt.Run(run.path).experiment == run.experiment and run.experiment["train"]["epochs"] == 2


def test_changes_are_those_of_the_tool():
    run_tool("train", "waves.json", "--seed", 3, "--set", "train.epochs=1", "--set", "model.layers.0.tau=5", "--out", "tool", "--quiet")
    one = lt.train("waves.json", seed=3, epochs=1, set={"model.layers.0.tau": 5}, out="mapping")
    other = lt.train(EXPERIMENT, seed=np.int64(3), epochs=1, set=["/model/layers/0/tau=5"], out="texts")
    for run in one, other:
        assert pathlib.Path(run.path, "weights.safetensors").read_bytes() == pathlib.Path("tool/weights.safetensors").read_bytes()
    assert lt.train("waves.json", seed=7).path == "runs/waves-7"


def test_a_callback_that_raises_stops_and_the_run_goes_on_with_the_same_bits(trained):
    def stop(row):
        if row["epoch"] == 1:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        lt.train("waves.json", out="stopped", callback=stop)
    assert not os.path.exists("stopped/summary.json")
    run = lt.train("stopped", resume=True)
    assert pathlib.Path(run.path, "weights.safetensors").read_bytes() == (trained / "weights.safetensors").read_bytes()
    assert len(run.history["epoch"]) == 2


INTERRUPTED = """
import lagtape, os, signal, sys
def callback(row):
    if row["epoch"] == 2:
        os.kill(os.getpid(), signal.SIGINT)
try:
    lagtape.train("waves.json", epochs=100000, out="stopped", callback=callback)
except KeyboardInterrupt as error:
    print(error)
    sys.exit(7)
"""


def test_ctrl_c_saves_and_raises_keyboard_interrupt():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert done.returncode == 7, done.stderr
    assert "interrupted after step" in done.stdout and "saved in stopped" in done.stdout
    steps = int(done.stdout.split("after step ")[1].split()[0])
    run = lt.train("waves.json", out="stopped", resume=True, epochs=steps // 2 + 2)
    whole = lt.train("waves.json", out="whole", epochs=steps // 2 + 2)
    assert pathlib.Path(run.path, "weights.safetensors").read_bytes() == pathlib.Path(whole.path, "weights.safetensors").read_bytes()


def test_training_leaves_python_to_other_threads():
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    lt.train(changed(data={"task": "mackey_glass", "train": 64, "valid": 4, "test": 4, "length": 400}), epochs=20)
    while_training = counted[0] - before
    done.set()
    thread.join()
    assert while_training > 20


def test_divergence_is_an_exception_and_the_last_good_state_is_kept():
    with pytest.raises(lt.DivergenceError, match="The last good state is kept in diverged"):
        lt.train(changed(optimizer={"type": "sgd", "lr": 1e30}), out="diverged")
    assert lt.load("diverged").predict(np.zeros((3, 1))).shape == (3, 1)


def test_progress_is_one_line_that_is_written_anew(capfd):
    lt.train("waves.json", epochs=40, out="quiet", progress=False)
    assert capfd.readouterr() == ("", "")
    lt.train("waves.json", epochs=40, out="shown", progress=True)
    written = capfd.readouterr()
    assert written.out == "" and written.err.count("\n") == 1 and written.err.endswith("\n")
    assert written.err.startswith("\r[") and "epoch 1  loss 0." in written.err


def test_warnings_are_python_s():
    with pytest.warns(UserWarning, match="looks back 99 steps; the sequences have 60"):
        lt.train("waves.json", set={"model.layers.0.tau": 99})
    with pytest.warns(UserWarning, match="looks back 99 steps; the sequences have 60"):
        lt.check("waves.json", set={"model.layers.0.tau": 99})


# ---- check, inspect, analyze, data, list ----


def test_check_says_what_the_tool_says():
    done = run_tool("check", "waves.json", "--gradients", "--json")
    expected, found = json.loads(done.stdout), lt.check("waves.json", gradients=True)
    notes = found.pop("notes")  # the tool prints them on standard error
    assert found == expected and expected["ok"] and notes and all(note in done.stderr for note in notes)
    kept = {key: expected[key] for key in ("name", "params", "memory")}
    assert lt.check(EXPERIMENT) == {**kept, "notes": notes}


def test_a_row_of_a_file_is_an_experiment():
    with open("rows.json", "w") as file:
        json.dump({"base": "waves.json", "rows": {"small": {"name": "small", "seed": 7}}}, file)
    assert lt.inspect("rows.json", row="small")["experiment"] == {**lt.inspect("waves.json")["experiment"], "name": "small", "seed": 7}
    for wrong, row, said in (("rows.json", None, "Choose one with --row: small"), ("rows.json", "smal", "did you mean 'small'?"),
                             ("waves.json", "small", "without rows"), (EXPERIMENT, "small", "Got a dict")):
        with pytest.raises(lt.InputError, match=said.replace("?", r"\?")):
            lt.check(wrong, row=row)


def test_inspect_says_what_the_tool_says(trained):
    for given in "waves.json", trained, trained / "weights.safetensors":
        assert lt.inspect(given, threads=1) == json.loads(run_tool("inspect", given, "--threads", 1, "--json").stdout)
    assert lt.inspect(lt.Run(trained), threads=1) == lt.inspect(trained, threads=1)


def test_analyze_says_what_the_tool_says_with_arrays(trained):
    expected = json.loads(run_tool("analyze", trained, "--sequences", 2, "--bins", 7, "--json").stdout)
    found = lt.analyze(trained, sequences=2, bins=7)
    gradient = found["layers"][0]["states"][0]["gradient"]["mean"]
    assert isinstance(gradient, np.ndarray) and gradient.shape == (60,) and gradient[0] > 0

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value.tolist() if isinstance(value, np.ndarray) else value

    assert plain(found) == expected
    assert {value["name"] for value in lt.analyze(EXPERIMENT, values=["g"])["layers"][0]["values"]} == {"g"}


def test_data_are_those_of_the_tool():
    run_tool("data", "waves.json", "--out", "waves.npz")
    arrays, expected = lt.data("waves.json"), np.load("waves.npz")
    assert set(arrays) == set(expected) == DATA
    for name in DATA:
        assert np.array_equal(arrays[name], expected[name]) and arrays[name].dtype == expected[name].dtype
    assert arrays["train_x"].shape == (8, 60, 1) and np.ptp(arrays["train_x"]) > 0
    classes = lt.data({**EXPERIMENT, "data": {"task": "copy", "blanks": 5}, "loss": "cross_entropy", "metrics": [],
                       "train": {"steps": 1}, "model": {"layers": [{"cell": "gru", "units": 4}]}}, fresh=3)
    assert classes["train_y"].dtype == np.int32 and len(classes["train_x"]) == 3


def test_list_is_what_an_experiment_may_name():
    kinds = lt.list()
    for kind in "cells", "tasks", "losses", "functions":
        shown = run_tool("list", kind, env={**os.environ, "COLUMNS": "1000"}).stdout
        assert all(f"  {entry['name']} " in shown for entry in kinds[kind]) and len(kinds[kind]) == len(shown.splitlines()) - 1
    entry = lt.list("cells", "tau_gru")
    assert entry in lt.list("cells") and [option["key"] for option in entry["options"]][:2] == ["units", "tau"]
    for arguments, nearest in (("cell",), "cells"), (("cells", "tau_gri"), "tau_gru"):
        with pytest.raises(lt.InputError) as raised:
            lt.list(*arguments)
        assert raised.value.suggestion == nearest


# ---- Errors ----


def test_errors_name_file_pointer_and_suggestion():
    pathlib.Path("bad.json").write_text(json.dumps(changed(optimizer={"type": "adan"}, epochs=3)))
    with pytest.raises(lt.InputError) as raised:
        lt.check("bad.json")
    error = raised.value
    assert (error.file, error.pointer, error.suggestion, error.line) == ("bad.json", "/optimizer/type", "adam", None)
    assert [problem.pointer for problem in error.errors] == ["/optimizer/type", "/epochs"]
    assert error.problems is error.errors and error.problems[1] == lt.Problem(
        error.problems[1].message, "unknown_name", "bad.json", pointer="/epochs", found="epochs", nearest="/train/epochs")
    first = error.problems[0]
    assert (first.rule, first.found, first.nearest, first.suggestion) == ("unknown_name", "adan", "adam", "adam")
    assert "adam, " in first.expected and (first.line, first.column, first.item, first.hint) == (None,) * 4
    assert error.errors[0].message.startswith("unknown value 'adan'; did you mean 'adam'?")
    assert str(error).startswith("bad.json: /optimizer/type: unknown value 'adan'")
    with pytest.raises(lt.InputError) as raised:
        lt.check(changed(optimizer={"type": "adan"}))
    assert (raised.value.file, raised.value.pointer) == (None, "/optimizer/type")
    assert isinstance(error, ValueError) and isinstance(error, lt.Error)


def test_errors_of_files_have_line_and_column():
    pathlib.Path("syntax.json").write_text('{"name": "a",\n "seed": }')
    with pytest.raises(lt.InputError) as raised:
        lt.check("syntax.json")
    [problem] = raised.value.problems
    assert (problem.rule, problem.file, problem.line, problem.column) == ("syntax", "syntax.json", 2, 10)


def test_an_existing_run_is_named_with_what_to_do():
    lt.train(EXPERIMENT, out="there", epochs=1)
    with pytest.raises(lt.InputError, match="there: exists already. Give another out, or resume=True") as raised:
        lt.train(EXPERIMENT, out="there", epochs=1)
    [problem] = raised.value.problems
    assert (problem.rule, problem.file) == ("exists", "there") and "resume=True" in problem.hint


@pytest.mark.parametrize("call, message", [
    (lambda: lt.train("missing.json"), "missing.json: cannot read"),
    (lambda: lt.train("."), ".: is a folder. Give an experiment, or resume=True to resume the run there."),
    (lambda: lt.train("waves.json", out="waves.json"), "waves.json: exists already. Give another out, or resume=True to go on"),
    (lambda: lt.train("waves.json", epochs=2.5), "[train] epochs must be a whole number of at least 0. Got 2.5."),
    (lambda: lt.train("waves.json", threads=0), "[threads] threads must be a whole number of at least 1 and at most 1024. Got 0."),
    (lambda: lt.train("waves.json", callback=3), "[train] callback must be a function, or a list of functions. Got int."),
    (lambda: lt.train("waves.json", set="train.epochs=3"), "[set] set must be a list of texts. Got 'train.epochs=3'."),
    (lambda: lt.train("waves.json", set={3: 4}), "a key of set must be a text. Got 3."),
    (lambda: lt.train(3), "expected a path. Got int."),
    (lambda: lt.check(changed(seed={1, 2})), "the experiment: this cannot be JSON: Got set."),
    (lambda: lt.check(changed(seed=float("nan"))), "the experiment: this cannot be JSON: Out of range float values"),
    (lambda: lt.analyze("waves.json", split="tast"), "unknown split 'tast'"),
    (lambda: lt.analyze("waves.json", bins=0), "[analyze] bins must be a whole number of at least 1 and at most 10000. Got 0."),
    (lambda: lt.load("waves.json"), "waves.json: expected a run folder or a .safetensors file. This looks like an experiment: train it first."),
    (lambda: lt.Run("nowhere"), "nowhere: there is no such run folder."),
    (lambda: lt.Run(".").history, "./metrics.jsonl: cannot read: No such file or directory"),
])
def test_what_is_wrong_is_refused_by_name(call, message):
    before = sorted(os.listdir())
    with pytest.raises(lt.InputError) as raised:
        call()
    assert str(raised.value).startswith(message)
    assert sorted(os.listdir()) == before


def test_signals_go_back_to_python():
    lt.train("waves.json")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_notebook_shows_progress_too(monkeypatch):
    class ZMQInteractiveShell:
        pass

    class IPython:
        @staticmethod
        def get_ipython():
            return ZMQInteractiveShell()

    assert not lt._progress._in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert lt._progress._in_notebook()


def test_a_callback_that_returns_true_ends_the_training_and_keeps_its_result():
    run = lt.train("waves.json", epochs=9, out="enough", callback=lambda row: row["epoch"] == 2)
    assert run.history["epoch"].tolist() == [1, 2] and run.summary["best_epoch"] <= 2 and run.metrics["test_loss"] > 0
    whole = lt.train("waves.json", epochs=2, out="whole")
    assert all(np.array_equal(run.model().parameters[name], value) for name, value in whole.model().parameters.items())
    longer = lt.train("waves.json", epochs=3, out="enough", resume=True)
    assert longer.history["epoch"].tolist() == [1, 2, 3]
