"""Experiments, searches and tables of very many parts: their time grows as they do, and what is too much is refused."""

import json
import math
import os

from search_test import SEARCH, SMALL
from table_test import PLAN
from table_test import SMALL as OF_TABLE
from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main, make_safetensors, read_safetensors, slow


class ExperimentLimitsTest(ToolTest):
    @slow
    def test_experiments_of_very_many_names_are_checked_in_a_time_that_grows_as_they_do(self):
        many = 60_000
        cell = {"weights": {"U": ["units", "input"]}, "state": {"h": "units"}, "output": "h'", "step": ["h' = tanh(h + U @ x)"]}
        own = lambda **parts: {"cells": {"c": {**cell, **parts}}, "model__layers": [{"cell": "c", "units": 2}]}
        cases = {
            "first values of no weights": ({"model__layers": [{"cell": "rnn", "units": 2, "init": {f"W{i}": 1 for i in range(many)}}]},
                                           "unknown parameter 'W0'"),
            "numbers that no equation uses": (own(hyper={f"n{i}": 1 for i in range(many)}), "no equation uses 'n0'"),
            "equations with errors": (own(step=[f"a{i} = sigmid(U)" for i in range(many)] + cell["step"]), "unknown name 'sigmid'"),
            "layers of unknown cells": ({"cells": {f"c{i}": cell for i in range(16_000)},
                                         "model__layers": [{"cell": f"d{i}", "units": 2} for i in range(16_000)]}, "unknown cell 'd0'"),
        }
        for name, (parts, words) in cases.items():
            with self.subTest(name):
                path = self.write("e.json", changed(CLASSIFIER, **parts))
                with self.within(2.5):  # up to a minute while each name was compared with all others
                    self.assertIn(words, self.run_tool("check", path, code=2)[1])


class MemoryLimitsTest(ToolTest):
    def test_data_that_cannot_fit_are_refused_by_their_setting(self):
        cases = [
            ({"data": {"task": "mackey_glass", "length": 10**6, "train": 5, "valid": 10**7, "test": 1}},
             ["e.json: /data/valid: all sets together are 10000006 sequences of 1000000 steps, which take 72.8 TiB"]),
            ({"data": {"task": "adding", "length": 10**7, "valid": 1, "test": 1}, "train": {"batch": 10**6, "steps": 3}},
             ["e.json: /train/batch: 1000000 sequences of up to 10000000 steps of 2 inputs take", "Give fewer, or shorter ones"]),
            ({"data": {"task": "random", "length": 10**7, "input": 10**6, "output": 1}, "train": {"batch": 1, "epochs": 1}}, ["e.json: /data: 1 sequence of up to"]),
        ]
        for parts, words in cases:
            with self.subTest(words[0]):
                path = self.write("e.json", {"name": "e", "model": {"layers": [{"cell": "rnn", "units": 2}]}, "loss": "mse", **parts})
                self.refused(words, "check", path)
                self.refused(words, "train", path, "--out", "run")

    def test_a_training_that_does_not_fit_is_warned_of(self):
        """The parameters take an eighth of the machine's memory, where it is at most half a tebibyte."""
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        units = min(int(math.sqrt(memory / 8 / 16)), 65_536)
        path = self.write("e.json", changed(EXPERIMENT, model__layers=[{"cell": "lstm", "units": units}]))
        _, err = self.run_tool("check", path)
        self.assertIn("warning: a training takes more than the memory, which is ", err)

    @slow
    def test_a_training_takes_what_is_told(self):
        if "LAGTAPE_TEST_PATIENCE" in os.environ:
            self.skipTest("memory under a sanitizer is not that of the library")
        resident = lambda run: json.loads((self.folder / run / "summary.json").read_text())["peak_rss_bytes"]
        self.train("small", "--threads", 1, experiment=changed(EXPERIMENT, train__epochs=1))
        for optimizer in ("adam", "sgd"):
            large = changed(EXPERIMENT, model__layers=[{"cell": "lstm", "units": 1200}], train__epochs=2, optimizer={"type": optimizer, "lr": 1e-6},
                            data={"task": "random", "length": 8, "input": 1, "output": 1, "every_step": True, "train": 8, "valid": 4})
            told = json.loads(self.run_tool("check", self.write("large.json", large), "--json")[0])["memory"]["training_bytes"]
            self.train(optimizer, "--threads", 1, experiment=large)
            with self.subTest(optimizer):
                taken = (resident(optimizer) - resident("small")) / told  # 0.9; less where the system has no large pages
                self.assertTrue(0.6 < taken < 1.15, taken)

    def test_a_model_that_does_not_fit_is_named(self):
        self.train("run", experiment=changed(EXPERIMENT, model__layers=[{"cell": "tau_gru", "units": 64, "tau": 1000}], train__epochs=1))
        header, buffer = read_safetensors(self.weights("run"))
        text = header["__metadata__"]["experiment"]
        header["__metadata__"]["experiment"] = text.replace('"tau": 1000', '"tau": 1000000000')
        self.assertNotEqual(header["__metadata__"]["experiment"], text)
        self.write("far.safetensors", make_safetensors(header, buffer))
        self.write("x.csv", "1\n2\n")
        for args in (["predict", "far.safetensors", "--input", "x.csv", "--output", "-"], ["eval", "far.safetensors"]):
            _, err = self.run_tool(*args, code=1)
            self.assertIn("lagtape: far.safetensors: does not fit into the memory: out of memory: ", err)


class SearchLimitsTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("small.json", SMALL)

    def test_more_runs_than_a_search_may_have_are_refused(self):
        self.write("search.json", SEARCH)
        _, err = self.run_tool("search", "search.json", "--out", "out", "--runs", 999999999999, code=2)
        self.assertIn("--runs: a search has at most 100000 runs. Got 999999999999.", err)
        self.assertFalse((self.folder / "out").exists())

    @slow
    def test_searches_of_very_many_settings_are_checked_in_a_time_that_grows_as_they_do(self):
        many = 16000
        names = [f"s{i}" for i in range(many)]
        cases = {
            "settings that are not there": ({f"/train/{name}": {"choices": [0]} for name in names}, "/train/s0"),
            "settings in one another": ({"/train/" + "/".join(["s"] * (i % 90 + 1)) + str(i): {"choices": [0]} for i in range(many)},
                                        "train"),
            "conditions on nothing": ({f"/train/{name}": {"choices": [0], "when": {f"/train/x{name}": 0}} for name in names},
                                      "the experiment has no '/train/xs0'"),
            "conditions that depend on one another": (
                {f"/train/s{i}": {"choices": [0], **({"when": {f"/train/s{i - 1}": 0}} if i else {})} for i in range(many)}, "/train/s0"),
        }
        for name, (settings, text) in cases.items():
            with self.subTest(name):
                self.write("search.json", {"experiment": "small.json", "runs": 1, "ranges": settings})
                with self.within(10):  # up to a minute while it was quadratic
                    _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
                self.assertIn(text, err)
                self.assertLess(len(err), 20_000)

    def test_what_the_runs_of_a_search_keep_is_bounded(self):
        lists = {f"/train/s{i:03}": {"choices": [0]} for i in range(400)}
        grid = {**lists, **{f"/train/b{i:02}": {"choices": [0, 1]} for i in range(16)}}
        for search, text in (
                ({"method": "grid", "ranges": grid}, "/ranges: a grid of more than 4807 combinations, the most that a search of 416"),
                ({"runs": 5001, "ranges": lists}, "/runs: 5001 runs of 400 settings each, expected at most 5000 of so many and so long ones"),
                ({"runs": 200, "ranges": {"/optimizer/type": {"choices": ["adam", "a" * 10**6]}}},
                 "/runs: 200 runs of 1 settings each, expected at most 127 of so many and so long ones")):
            with self.subTest(text):
                self.write("search.json", {"experiment": "small.json", **search})
                _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
                self.assertIn(text, err)

    def test_a_grid_of_very_many_settings_ends_in_a_message(self):
        ranges = {f"/x{i}": {"choices": [1]} for i in range(20_000)}  # a call for each took more than the stack has
        self.write("search.json", {"experiment": "small.json", "method": "grid", "ranges": ranges})
        _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
        self.assertIn("unknown key 'x0'", err)
        ranges["/y"] = {"choices": [1]}
        self.write("search.json", {"experiment": "small.json", "method": "grid", "ranges": ranges})
        _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
        self.assertIn("/ranges: 20001 settings, expected at most 20000.", err)

    def test_very_long_pointers_and_keys_take_no_time(self):
        key = "k" * 300_000
        nested = {key: {f"c{i}": 0 for i in range(5000)}}
        cases = (({"/" * 200_000: {"choices": [1]}}, "a pointer of 200000 characters and 200000 keys, expected at most 2000 and 100."),
                 ({"/optimizer/lr": {"choices": [1], "when": {"/a" * 101: 1}}}, "/when: a pointer of 202 characters and 101 keys"),
                 ({"/train": {"choices": [nested]}, "/optimizer/lr": {"choices": [1], "when": {"/optimizer/typ": 1}}},
                  "the experiment has no '/optimizer/typ'; did you mean '/optimizer/type'?"))
        for settings, text in cases:
            with self.subTest(text):
                self.write("search.json", {"experiment": "small.json", "runs": 1, "ranges": settings})
                with self.within(1):
                    _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
                self.assertIn(text, err)


class TableLimitsTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("task/small.json", OF_TABLE)

    @slow
    def test_very_many_rows_are_checked_in_a_time_that_grows_as_they_do(self):
        many = 20_000
        rows = [{"name": f"row {i}", "printed": 1, "at": {"dt": i, "form": "a"}} for i in range(many)]
        names = [{"name": f"row {i}", "model": f"smal{i}"} for i in range(many)]
        for rows, words in (([*rows, {**rows[7], "name": "again"}], f"/rows/{many}/at: row 7 ('row 7') has the same settings"),
                            (names, "/rows/0/model: unknown experiment 'smal0'")):
            with self.subTest(words):
                self.write("task/table.json", {**PLAN, "rows": rows})
                with self.within(10):  # over a minute while each row was compared with all others
                    _, err = self.run_tool("table", "task", code=2)
                self.assertIn(words, err)


if __name__ == "__main__":
    main()
