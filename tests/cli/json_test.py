"""tools/docs/json.md names every key that is printed; what it does not say `only` of is always printed."""
import json
import re
import unittest

from tool import EXPERIMENT, ToolTest, changed, main, npy, npz

OPEN = {"params", "correlations", "covariance", "profiles", "valid", "test", "average", "layers[].lags", "experiment", "confusion", "sequence_ops", "targets",
        "groups[].settings", "groups[].numbers", "runs[].settings", "repetitions"}  # the page says what is below


def keys_of(value, before=""):
    """The paths of all keys: layers[].name."""
    if isinstance(value, list):
        return set().union(*(keys_of(one, before + "[]") for one in value)) if value else set()
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, below in value.items():
        path = f"{before}.{key}" if before else key
        deeper = set() if path in OPEN else keys_of(below, path)
        found |= deeper or {path}
    return found


class JsonTest(ToolTest):
    def check_page(self, heading, printed):
        page = (self.root / "tools/docs/json.md").read_text()
        section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
        rows = [row.split(" | ") for row in section.splitlines() if row.startswith("| `")]
        named = {key: text.startswith("only") for keys, text in rows for key in re.findall("`(.+?)`", keys)}
        self.assertGreater(len(named), 1)
        groups = {key for key in named if key.endswith("[]")}
        self.assertEqual(printed - named.keys(), set(), "printed, not on the page")
        self.assertEqual({key for key, optional in named.items() if not optional} - groups - printed, set(), "not printed")

    def test_every_key_is_on_the_page(self):
        path = self.write("experiment.json", changed(EXPERIMENT, train__epochs=2))
        for extra, more in (((), set()), (("--set", 'train.average={"latest": 1}'), {"averaged", "average_begins"})):
            run = f"run{len(extra)}"
            summary = keys_of(json.loads(self.run_tool("train", path, "--out", run, "--json", *extra)[0]))
            self.check_page("lagtape train", summary)
            self.assertEqual("average" in summary, bool(extra))
            lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
            printed = {key[len("[]."):] for key in keys_of([json.loads(line) for line in lines])}
            self.check_page("metrics.jsonl", printed - {"valid_rmse"})
            self.assertLessEqual(more, printed)
        self.check_page("lagtape eval", keys_of(json.loads(self.run_tool("eval", "run0", "--json")[0])) - {"rmse"})
        self.check_page("lagtape inspect", keys_of(json.loads(self.run_tool("inspect", path, "--json")[0])))

    def test_every_key_of_a_forecast_is_on_the_page(self):
        self.write("own.csv", "v\n" + "".join(f"{n % 7}\n" for n in range(100)))
        self.train("run", experiment=changed(EXPERIMENT, data={"task": "series", "path": "own.csv", "window": 9}, train__epochs=1))
        out = self.run_tool("forecast", "run", "--input", "own.csv", "--from", "90", "--season", "7", "--steps", "5",
                            "--output", "y.csv", "--json")[0]
        self.check_page("lagtape forecast", keys_of(json.loads(out)))
        self.assertEqual(json.loads(out)["targets"]["v"].keys(), {"known", "rmse", "persistence_rmse", "seasonal_rmse"})

    def test_every_key_of_a_fit_is_on_the_page(self):
        self.write("line.npz", npz(X=npy([1, 4, 1], [0.0, 1.0, 2.0, 3.0]), y=npy([1, 4, 1], [1.0, 3.1, 4.9, 7.0])))
        self.write("line.json", {
            "name": "line", "data": {"task": "arrays", "path": "line.npz", "layout": "time_first", "train": 1, "valid": 0, "test": 0},
            "cells": {"line": {"params": {"a": 0, "b": 0}, "state": {"y": [1]}, "step": ["y' = a + b * x"], "output": "y'"}},
            "model": {"layers": [{"cell": "line", "units": 1}], "readout": "none"}, "loss": "mse"})
        found = json.loads(self.run_tool("fit", "line.json", "--profile", "b", "--json")[0])
        self.check_page("lagtape fit", keys_of(found))
        self.assertEqual(set(found["params"]["a"]), {"estimate", "standard_error", "low", "high", "unit"})

    def test_every_key_of_a_table_is_on_the_page(self):
        self.write("task/small.json", changed(EXPERIMENT, train__epochs=1))
        self.write("task/table.json", {"title": "Small", "source": "none", "metric": "rmse", "unit": "rmse", "digits": 3,
                                       "seeds": 1, "rows": [{"name": "small", "model": "small"}]})
        self.check_page("lagtape table", keys_of(json.loads(self.run_tool("table", "task", "--quiet", "--json")[0])))

    def test_every_key_of_a_comparison_and_a_search_is_on_the_page(self):
        self.write("small.json", changed(EXPERIMENT, train__epochs=1))
        self.write("s.json", {"experiment": "small.json", "method": "random", "runs": 2, "again": {"best": 1, "seeds": 1},
                              "ranges": {"/optimizer/lr": {"uniform": [0.001, 0.1]}}})
        searched = json.loads(self.run_tool("search", "s.json", "--quiet", "--json")[0])
        self.check_page("lagtape search", keys_of(searched) - {"runs[].rmse"})
        self.assertEqual(set(searched["repetitions"][0]) - set(searched["runs"][0]), {"seed"})
        runs = [f"runs/s/runs/000{number}" for number in (0, 1)]
        self.check_page("lagtape compare", keys_of(json.loads(self.run_tool("compare", *runs, "--json")[0])))


if __name__ == "__main__":
    main()
