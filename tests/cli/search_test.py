"""Searches: every run is drawn from its ranges, and the best are shown."""

import json
import math
import re
import xml.etree.ElementTree

from tool import CLASSIFIER, EXPERIMENT, ToolTest, changed, main, slow

SMALL = changed(EXPERIMENT, data={"task": "mackey_glass", "length": 60, "train": 8, "valid": 4, "test": 4},
                train={"epochs": 3, "batch": 4})
SEARCH = {
    "experiment": "small.json",
    "runs": 6,
    "ranges": {
        "/optimizer/lr": {"log_uniform": [1e-4, 1e-1]},
        "/model/layers/0/units": {"integers": [2, 6]},
        "/model/layers/0/tau": {"choices": [1, 5, 20]},
    },
}


def ranges(**values):
    """The search with one range: values of the key and of its range."""
    return {**SEARCH, "ranges": {"/optimizer/lr": values}}


# Each row: a search, and texts that the message must contain.
WRONG = [
    ("an experiment", SMALL, ["expected the file of a search", "`lagtape train` takes"]),
    ("an unknown key", {**SEARCH, "color": 1}, ["/color"]),
    ("no experiment", {key: SEARCH[key] for key in ("runs", "ranges")}, ["/experiment"]),
    ("an experiment that is not there", {**SEARCH, "experiment": "smal.json"}, ["smal.json"]),
    ("no ranges", {**SEARCH, "ranges": {}}, ["/ranges"]),
    ("a misspelt method", {**SEARCH, "method": "halfing"}, ["/method", "halving"]),
    ("settings of another method", {**SEARCH, "halving": {"factor": 2}}, ['/halving: these settings are those of "method": "halving"', "random"]),
    ("a place without a slash", {**SEARCH, "ranges": {"lr": {"choices": [1]}}}, ["/optimizer/lr", "JSON Pointer"]),
    ("a place that is not there", {**SEARCH, "ranges": {"/optimizer/rl": {"choices": [1]}}}, ["optimizer.rl=1", "lr"]),
    ("no values", ranges(), ["uniform", "choices"]),
    ("two kinds of values", ranges(uniform=[0, 1], choices=[1]), ["one of uniform"]),
    ("a misspelt kind", ranges(log_unifrom=[1e-3, 1]), ["log_unifrom", "log_uniform"]),
    ("bounds the other way round", ranges(uniform=[2, 1]), ["smaller number first"]),
    ("a logarithm of zero", ranges(log_uniform=[0, 1]), ["above 0"]),
    ("three bounds", ranges(uniform=[0, 1, 2]), ["[0,1,2]"]),
    ("integers that are none", ranges(integers=[0.5, 2]), ["integer"]),
    ("values that the experiment refuses", ranges(choices=[0.1, -1]), ["optimizer.lr=-1", "/optimizer/lr"]),
    ("a grid of endlessly many values", {**ranges(uniform=[0, 1]), "method": "grid"}, ["points"]),
    ("a grid of too many integers", {**ranges(integers=[0, 10**6]), "method": "grid"},
     ["/ranges/~1optimizer~1lr: a grid over 1000001 integers, expected at most 10000", "points"]),
    ("a grid of too many logarithmic integers", {**ranges(log_integers=[1, 10**6]), "method": "grid"}, ["at most 10000"]),
    ("a grid of too many combinations",
     {"experiment": "small.json", "method": "grid",
      "ranges": {"/optimizer/lr": {"choices": [-1]}, "/seed": {"integers": [0, 999]},
                 "/train/epochs": {"integers": [1, 101]}}},
     ["/ranges: a grid of more than 100000 combinations", "points"]),
    ("a setting in another one",
     {**SEARCH, "ranges": {"/optimizer/lr": {"uniform": [0.1, 1]}, "/optimizer": {"choices": [{"type": "adam"}]}}},
     ["/ranges/~1optimizer~1lr: lies in '/optimizer', which is searched too"]),
    ("an integer that a double does not hold", {**SEARCH, "ranges": {"/seed": {"integers": [0, 2**53 + 1]}}},
     ["/ranges/~1seed/integers: expected integers above -2^53 and below 2^53. Got [0,9007199254740993]"]),
    ("an integer that is negative with a sign", {**SEARCH, "ranges": {"/seed": {"integers": [0, 2**64 - 1]}}}, ["2^53"]),
    ("a range without a finite width", ranges(uniform=[-1e308, 1e308]), ["whose difference is a finite number"]),
    ("a condition on a misspelt value", ranges(uniform=[0.1, 1], when={"/optimizer/typ": "adam"}),
     ["/ranges/~1optimizer~1lr/when: the experiment has no '/optimizer/typ'; did you mean '/optimizer/type'?"]),
    ("a condition without a slash", ranges(uniform=[0.1, 1], when={"optimizer.type": "adam"}),
     ["no JSON Pointer: 'optimizer.type'; did you mean '/optimizer/type'?"]),
    ("a condition on something else", ranges(uniform=[0.1, 1], when={"x": "adam"}), ["'x'", "such as '/optimizer/type'"]),
    ("a condition on everything", ranges(uniform=[0.1, 1], when={"": "adam"}), ["such as '/optimizer/type'"]),
    ("a condition on itself", ranges(choices=[0.1, 1], when={"/optimizer/lr": 0.1}), ["on the setting itself"]),
    ("a condition on what is drawn later",
     {**SEARCH, "ranges": {"/optimizer/momentum": {"uniform": [0, 0.8], "when": {"/optimizer/type": "sgd"}},
                           "/optimizer/type": {"choices": ["adam", "sgd"]}}},
     ["the range of '/optimizer/type' comes after this one"]),
    ("a condition on what contains a setting",
     {**SEARCH, "ranges": {"/optimizer/lr": {"choices": [0.1, 1]},
                           "/train/batch": {"choices": [2, 4], "when": {"/optimizer": {"type": "adam", "lr": 1}}}}},
     ["/when: '/optimizer' contains '/optimizer/lr', which is searched"]),
    ("a condition that never holds", ranges(choices=[0.1, 1], when={"/optimizer/type": "sgd"}),
     ["/when: holds in no run: '/optimizer/type' never has [\"sgd\"]"]),
    ("a condition that never holds in a range",
     {**SEARCH, "ranges": {"/train/batch": {"integers": [2, 4]},
                           "/optimizer/lr": {"choices": [0.1, 1], "when": {"/train/batch": [5, 6]}}}},
     ["/when: holds in no run: '/train/batch' never has [5,6]"]),
    ("an element with a leading zero", {**SEARCH, "ranges": {"/model/layers/00/units": {"choices": [2, 3]}}},
     ["expected the number of an element, such as 0 or 12, without zeros before it, got '00'"]),
    ("a value twice on a grid", {**ranges(choices=[0.1, 1, 0.1]), "method": "grid"}, ["/choices: a grid would have the value 0.1 twice"]),
    ("a condition on two settings", ranges(choices=[1], when={"/a": 1, "/b": 2}), ["/when"]),
    ("a metric that the experiment has not", {**SEARCH, "metric": "accuracy"}, ["/metric", "rmse"]),
    ("runs of nothing", {**SEARCH, "runs": 0}, ["/runs"]),
    ("JSON that stops", '{"experiment": ', ["search.json", "line 1"]),
]


class SearchTool(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("small.json", SMALL)

    def search(self, search, *args, out="out"):
        """Runs a search and gives its result."""
        self.write("search.json", search)
        return json.loads(self.run_tool("search", "search.json", "--out", out, "--json", "--quiet", *args)[0])

    def results(self, out="out"):
        return [json.loads(line) for line in (self.folder / out / "results.jsonl").read_text().splitlines()]


class SearchTest(SearchTool):
    def test_what_is_wrong_is_named_and_nothing_is_written(self):
        for name, search, texts in WRONG:
            with self.subTest(name):
                self.write("search.json", search)
                _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
                for text in texts:
                    self.assertIn(text, err)
                self.assertFalse((self.folder / "out").exists())

    def test_a_setting_that_is_searched_cannot_be_set(self):
        self.write("search.json", {**SEARCH, "ranges": {"/optimizer": {"choices": [{"type": "adam"}, {"type": "sgd"}]}}})
        for assignment in ("optimizer.lr=0.5", "/optimizer/lr=0.5", 'optimizer={"type": "adam"}'):
            with self.subTest(assignment):
                _, err = self.run_tool("search", "search.json", "--out", "out", "--set", assignment, code=2)
                self.assertIn(f"--set {assignment}: '/optimizer' is searched", err)
                self.assertFalse((self.folder / "out").exists())

    def test_values_of_a_run_are_shown_without_what_acts_on_a_terminal(self):
        word = "\x1b[31m" + "x" * 1000
        self.write("search.json", {"experiment": "small.json", "ranges": {"/optimizer/type": {"choices": [word]}}})
        _, err = self.run_tool("search", "search.json", "--out", "out", code=2)
        self.assertIn("a run would have optimizer.type=\\x1b[31mxxx", err)
        self.assertNotIn("\x1b", err)
        self.assertLess(len(err), 1000)

    def test_random_runs_lie_in_their_ranges_and_are_what_train_gives(self):
        result = self.search({**SEARCH, "runs": 12})
        seen = [run["settings"] for run in result["runs"]]
        self.assertEqual(len({json.dumps(one) for one in seen}), 12)
        for settings in seen:
            self.assertTrue(1e-4 <= settings["/optimizer/lr"] <= 1e-1)
            self.assertIn(settings["/model/layers/0/units"], range(2, 7))
            self.assertIn(settings["/model/layers/0/tau"], (1, 5, 20))
        # The exponent is uniform: as many below the middle as above, up to chance.
        below = sum(settings["/optimizer/lr"] < 10 ** -2.5 for settings in seen)
        self.assertTrue(1 <= below <= 11, below)
        self.assertGreater(len({settings["/model/layers/0/units"] for settings in seen}), 2)
        values = [run["value"] for run in result["runs"]]
        self.assertEqual([("rmse", run["rmse"]) for run in result["runs"]], [(run["metric"], run["value"]) for run in self.results()])
        best = min(range(12), key=values.__getitem__)
        self.assertEqual(result["ranking"][0], f"{best:04d}")
        self.assertEqual((self.folder / "out/best").resolve().name, f"{best:04d}")
        sets = [word for key, value in seen[best].items() for word in ("--set", f"{key}={json.dumps(value)}")]
        self.run_tool("train", "small.json", "--out", "alone", "--quiet", *sets)
        self.assertEqual(self.weights("alone"), self.weights("out/best"))
        self.assertEqual(self.results(), result["runs"])

    def test_the_same_search_draws_the_same_and_more_runs_go_on(self):
        first = self.search(SEARCH)["runs"]
        times = {path: path.stat().st_mtime_ns for path in self.folder.glob("out/runs/*/weights.safetensors")}
        more = self.search(SEARCH, "--runs", 8)["runs"]
        self.assertEqual((len(first), len(more), more[:6]), (6, 8, first))
        for path, time_ns in times.items():
            self.assertEqual(path.stat().st_mtime_ns, time_ns, "a run was trained twice")
        self.assertNotEqual([run["settings"] for run in self.search({**SEARCH, "seed": 1}, out="other")["runs"]],
                            [run["settings"] for run in first])

    def test_a_grid_has_all_combinations_and_conditions_hold(self):
        result = self.search({**SEARCH, "runs": 100, "method": "grid", "ranges": {
            "/optimizer/type": {"choices": ["adam", "sgd"]},
            "/optimizer/momentum": {"uniform": [0, 0.8], "points": 3, "when": {"/optimizer/type": "sgd"}},
            "/model/layers/0/units": {"integers": [2, 3]},
        }})
        found = sorted((run["settings"]["/optimizer/type"], run["settings"].get("/optimizer/momentum", -1),
                        run["settings"]["/model/layers/0/units"]) for run in result["runs"])
        self.assertEqual(found, [("adam", -1, 2), ("adam", -1, 3), *(("sgd", m, u) for m in (0, 0.4, 0.8) for u in (2, 3))])

    def test_a_grid_takes_points_of_a_wide_range_and_the_first_runs_of_a_large_one(self):
        wide = {**SEARCH, "method": "grid", "ranges": {"/seed": {"integers": [0, 10**9], "points": 3}}}
        self.assertEqual([run["settings"]["/seed"] for run in self.search(wide)["runs"]], [0, 5 * 10**8, 10**9])
        geometric = {**wide, "ranges": {"/seed": {"log_integers": [1, 100], "points": 3}}}
        self.assertEqual([run["settings"]["/seed"] for run in self.search(geometric, out="geometric")["runs"]], [1, 10, 100])
        large = {**wide, "runs": 2, "ranges": {"/seed": {"integers": [0, 9999]}, "/train/epochs": {"integers": [1, 9999]}}}
        self.assertEqual([run["settings"] for run in self.search(large, out="large")["runs"]],
                         [{"/seed": 0, "/train/epochs": 1}, {"/seed": 0, "/train/epochs": 2}])
        self.assertIn("2 of the more than 100000 combinations of the grid", self.run_tool("search", "search.json", "--out", "large")[1])

    def test_paths_that_are_chosen_begin_at_the_file_of_the_search(self):
        (self.folder / "far").mkdir()
        for name, scale in (("a", 1), ("b", 2)):
            self.write(f"far/{name}.csv", "load\n" + "".join(f"{scale * math.sin(i / 3):.4f}\n" for i in range(60)))
        self.write("far/small.json", {"name": "load", "data": {"task": "series", "path": "a.csv", "input": ["load"], "window": 8},
                                      "model": {"layers": [{"cell": "rnn", "units": 2}]}, "train": {"epochs": 1}})
        self.write("far/search.json", {"experiment": "small.json", "method": "grid",
                                       "ranges": {"/data/path": {"choices": ["a.csv", "b.csv"]}}})
        self.run_tool("search", "far/search.json", "--out", "found")
        paths = [json.loads((self.folder / f"found/runs/000{i}/experiment.json").read_text())["data"]["path"] for i in range(2)]
        self.assertEqual(paths, [f"../../../far/{name}.csv" for name in "ab"])

    def test_a_condition_may_be_on_a_part_of_what_is_chosen(self):
        runs = self.search({**SEARCH, "method": "grid", "runs": 10, "ranges": {
            "/optimizer": {"choices": [{"type": "adam"}, {"type": "sgd", "lr": 0.1}]},
            "/train/epochs": {"choices": [1, 2], "when": {"/optimizer/type": "sgd"}},
        }})["runs"]
        self.assertEqual([run["settings"].get("/train/epochs") for run in runs], [None, 1, 2])

    def test_a_logarithmic_range_may_be_wider_than_a_number(self):
        wide = {"log_uniform": [5e-324, 1]}
        drawn = {**SEARCH, "ranges": {"/optimizer/lr": wide}}
        rates = [run["settings"]["/optimizer/lr"] for run in self.search(drawn)["runs"]]
        self.assertTrue(min(rates) < 1e-200 < 1e-120 < max(rates), rates)
        grid = {**SEARCH, "method": "grid", "runs": 3,
                "ranges": {"/optimizer/lr": {**wide, "points": 3}, "/model/layers/0/tau": {"choices": [5]}}}
        rates = [run["settings"]["/optimizer/lr"] for run in self.search(grid, "--plot", "charts", out="grid")["runs"]]
        self.assertEqual(rates, [5e-324, 2.223e-162, 1])
        chart = (self.folder / "charts/settings.svg").read_text()
        inside = chart[chart.index('<g clip-path="url(#inside)">'):chart.index("</g>")]
        lines = re.findall(r'<polyline[^>]*points="([^"]*)"', inside)
        heights = [float(line.split()[0].split(",")[1]) for line in lines]
        self.assertEqual(len(heights), 3)
        self.assertAlmostEqual(sorted(heights)[1], (min(heights) + max(heights)) / 2)

    def test_charts_have_a_dot_or_a_line_for_each_run(self):
        self.search({**SEARCH, "ranges": {**SEARCH["ranges"], "/optimizer/type": {"choices": ["adam", "sgd"]}}},
                    "--plot", "charts")
        charts = {path.stem: path.read_text() for path in self.folder.glob("charts/*.svg")}
        self.assertEqual(set(charts), {"optimizer.lr", "model.layers.0.units", "model.layers.0.tau", "optimizer.type",
                                       "settings"})
        for name, chart in charts.items():
            with self.subTest(name):
                xml.etree.ElementTree.fromstring(chart)
                shape = r"<polyline[^>]*points" if name == "settings" else "<circle"
                area = "inside" if name == "settings" else "dots"
                inside = chart[chart.index(f'<g clip-path="url(#{area})">'):]
                inside = inside[:inside.index("</g>")]
                self.assertEqual(len(re.findall(shape, inside)), 6)
                if name != "settings":  # the legend has a dot too, and no dot is cut off by the frame
                    self.assertEqual(chart.count('r="3.5"'), 7)
                    for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', inside):
                        self.assertTrue(76 + 3.5 < float(x) < 696 - 3.5 and 40 + 3.5 < float(y) < 420 - 3.5, (x, y))
        self.assertIn(">sgd<", charts["optimizer.type"])
        self.assertIn("optimizer.lr (logarithmic)", charts["settings"])

    def test_ranges_that_are_used_up_end_the_search(self):
        self.assertEqual(len(self.search({**SEARCH, "ranges": {"/model/layers/0/tau": {"choices": [1, 5, 20]}}})["runs"]), 3)

    def test_fewer_draws_than_runs_are_said(self):
        self.write("search.json", ranges(uniform=[1, 1.00001]))
        _, err = self.run_tool("search", "search.json", "--out", "out", "--json")
        self.assertIn("search.json: the number of different draws in the ranges is 1, fewer than the 6 runs", err)

    @slow
    def test_tpe_draws_by_results_and_the_same_for_any_number_of_jobs(self):
        search = {**SEARCH, "method": "tpe", "runs": 14, "tpe": {"startup": 6, "batch": 4}}
        one = self.search(search, "--jobs", 1, out="one")
        self.search({**search, "runs": 9}, "--jobs", 3, out="two")  # in the middle of a batch
        two = self.search(search, "--jobs", 3, out="two")
        self.assertEqual([run["settings"] for run in one["runs"]], [run["settings"] for run in two["runs"]])
        self.assertEqual((len(one["runs"]), one["ranking"]), (14, two["ranking"]))
        self.assertEqual(self.search(search, "--show", out="two")["runs"], two["runs"])
        random = self.search({**SEARCH, "runs": 14}, "--show", out="random")["runs"]
        same = [run["settings"] == other["settings"] for run, other in zip(one["runs"], random)]
        self.assertEqual((same[:6], any(same[6:])), ([True] * 6, False))
        self.assertEqual(set(one["importance"]), set(SEARCH["ranges"]))
        few = {**search, "ranges": {"/model/layers/0/units": {"integers": [2, 9]}}}
        self.write("few.json", few)
        self.assertIn("the number of different draws in the ranges is 8", self.run_tool("search", "few.json", "--out", "few")[1])
        err = self.run_tool("search", self.write("wrong.json", {**SEARCH, "tpe": {}}), code=2)[1]
        self.assertIn('/tpe: these settings are those of "method": "tpe". Got "random"', err)

    def test_equal_metrics_are_ranked_by_the_loss(self):
        self.write("small.json", changed(CLASSIFIER, train={"epochs": 1, "batch": 4}))
        found = self.search({**SEARCH, "runs": 8, "ranges": {"/optimizer/lr": {"log_uniform": [1e-9, 1e-7]}}, "metric": "accuracy"})
        runs = {run["run"]: run for run in found["runs"]}
        self.assertEqual(len({run["accuracy"] for run in runs.values()}), 1)  # nothing was learned
        losses = [runs[run]["loss"] for run in found["ranking"]]
        self.assertEqual(losses, sorted(losses))
        self.assertGreater(len(set(losses)), 1)
        self.run_tool("report", "out", "--output", "page.html")
        rows = re.findall(r"<tr><td[^>]*>(\d{4})<", (self.folder / "page.html").read_text())
        self.assertEqual(rows, found["ranking"])

    def test_a_row_of_a_file_is_searched(self):
        self.write("rows.json", {"base": "small.json", "rows": {"gru": {"name": "gru", "model": {"layers": [{"cell": "gru", "units": 2}]}}}})
        search = {**SEARCH, "experiment": "rows.json", "row": "gru", "runs": 1, "ranges": {"/optimizer/lr": {"choices": [0.1]}}}
        self.search(search)
        found = json.loads((self.folder / "out/best/experiment.json").read_text())
        self.assertEqual((found["name"], found["model"]["layers"][0]["cell"], found["optimizer"]["lr"]), ("gru", "gru", 0.1))

    @slow
    def test_halving_stops_what_is_hopeless_and_says_why(self):
        search = {**SEARCH, "method": "halving", "runs": 12, "halving": {"first": 2, "factor": 3},
                  "ranges": {"/optimizer/lr": {"log_uniform": [1e-6, 1e-1]}}}
        self.write("small.json", changed(SMALL, train__epochs=400))
        runs = self.search(search, "--jobs", 2)["runs"]
        stopped = [run for run in runs if run["state"] == "stopped"]
        done = [run for run in runs if run["state"] == "done"]
        self.assertEqual(len(stopped) + len(done), 12)
        self.assertGreater(len(stopped), 3)
        for run in stopped:
            self.assertLess(run["evaluations"], 400)
            self.assertRegex(run["message"], "after [0-9]+ evaluations [0-9]+ of [0-9]+ other runs were better")
        self.assertLess(min(run["rmse"] for run in done), min(run["rmse"] for run in stopped))

    def test_damaged_metrics_are_told_by_their_line(self):
        self.search({**SEARCH, "runs": 2})
        file = next((self.folder / "out/runs").glob("*/metrics.jsonl"))
        file.write_text(file.read_text().replace("}\n", "\n", 1))
        self.refused(["metrics.jsonl: line 1: expected a JSON object"], "search", "search.json", "--out", "out", "--show")

    def test_the_best_are_repeated_with_other_seeds(self):
        result = self.search({**SEARCH, "again": {"best": 2, "seeds": 2}})
        self.assertEqual([run["seed"] for run in result["repetitions"]], [1, 2, 1, 2])
        self.assertEqual({run["run"][:4] for run in result["repetitions"]}, set(result["ranking"][:2]))
        mean = {}
        for run in result["runs"] + result["repetitions"]:
            mean.setdefault(run["run"][:4], []).append(run["rmse"])
        first, second = (sum(mean[name]) / 3 for name in result["ranking"][:2])
        self.assertLessEqual(first, second)
        self.assertNotEqual(len(set(mean[result["ranking"][0]])), 1)
        self.assertEqual(len(self.results()), 10)
        table = self.run_tool("search", "search.json", "--out", "out", "--show")[0].splitlines()
        column = table[0].index("seeds")
        self.assertEqual([row[column:].split()[0] for row in table[1:7]], ["3", "3", "1", "1", "1", "1"])

    def test_repetitions_of_runs_that_are_no_longer_among_the_best_stay(self):
        search = {**SEARCH, "runs": 2, "again": {"best": 1, "seeds": 2}}
        before = self.search(search)
        runs = {run["run"] for run in before["repetitions"]}
        grown = {**search, "again": {"best": 1, "seeds": 1}}  # one further seed each from now on
        after = self.search(grown, "--runs", 8)
        self.assertLessEqual(runs, {run["run"] for run in after["repetitions"]})
        self.assertLessEqual(runs, {row["run"] for row in self.results()})
        self.assertEqual(self.search(grown, "--runs", 8, "--show"), after)

    def test_a_search_that_has_not_begun_says_so_and_a_long_ranking_how_many_it_leaves_out(self):
        self.write("search.json", {**SEARCH, "runs": 12})
        self.assertIn("it has not begun: `lagtape search search.json` trains them", self.run_tool("search", "search.json", "--show")[0])
        shown = self.run_tool("search", "search.json", "--out", "out", "--quiet")[0]
        self.assertIn("\nand 2 more\n", shown)

    def test_runs_that_diverge_are_noted_and_not_tried_again(self):
        self.write("small.json", changed(SMALL, model__layers=[{"layer": "linear", "units": 2}],
                                         optimizer={"type": "sgd", "lr": 1}))
        search = {**SEARCH, "ranges": {"/optimizer/lr": {"choices": [1e-3, 1e30]}}}
        runs = {run["settings"]["/optimizer/lr"]: run for run in self.search(search)["runs"]}
        self.assertEqual((runs[1e-3]["state"], runs[1e30]["state"]), ("done", "diverged"))
        self.assertIn("diverged", runs[1e30]["message"])
        log = self.folder / "out/runs" / (runs[1e30]["run"] + ".log")
        size = log.stat().st_size
        self.search(search)
        self.assertEqual(log.stat().st_size, size)

    def test_a_search_without_a_result_fails_after_its_table(self):
        self.write("small.json", changed(SMALL, model__layers=[{"layer": "linear", "units": 2}],
                                         optimizer={"type": "sgd", "lr": 1}))
        self.write("search.json", ranges(choices=[1e30, 1e31]))
        out, err = self.run_tool("search", "search.json", "--out", "diverged", "--quiet", code=3)
        self.assertIn("2 runs: 0 done, 2 diverged", out)
        self.assertIn("no run has a result: 2 diverged; run 0000: training diverged", err)
        self.write("small.json", changed(SMALL, train__init="missing.safetensors"))
        self.write("search.json", ranges(choices=[0.1, 0.2]))
        out, err = self.run_tool("search", "search.json", "--out", "failed", "--quiet", code=2)
        self.assertIn("2 runs: 0 done, 2 failed", out)
        self.assertIn("small.json: /train/init: run 0000 and 1 more: ", err)
        self.assertIn("missing.safetensors", err)
        err = self.run_tool("search", "search.json", "--out", "failed", "--json", "--quiet", code=2)[1]
        [problem] = json.loads(err)["problems"]
        self.assertEqual((problem["rule"], problem["place"]["pointer"]), ("cannot_read", "/train/init"))
        [told] = json.loads((self.folder / "failed/runs/0001.end.json").read_text())["problems"]
        self.assertEqual(told, {**problem, "place": {key: place for key, place in problem["place"].items() if key != "item"}})

    def test_a_metric_that_is_no_number_makes_no_run_the_best(self):
        self.write("small.json", changed(CLASSIFIER, data__classes=2, data__valid=1, model__readout={"at": "last_step"}, metrics=["auc"],
                                         loss="binary_cross_entropy"))
        search = {"experiment": "small.json", "runs": 2, "ranges": {"/optimizer/lr": {"log_uniform": [1e-3, 1e-1]}}}
        self.write("search.json", search)
        out, err = self.run_tool("search", "search.json", "--out", "out", "--quiet", code=2)
        self.assertIn("search.json: /metric: auc is not finite on valid in any run", err)
        self.assertNotIn("the best run", out)
        self.assertFalse((self.folder / "out/best").exists())
        self.assertEqual(len(self.search({**search, "metric": "loss"}, out="by-loss")["ranking"]), 2)

    def test_a_search_without_validation_says_so(self):
        self.write("small.json", changed(SMALL, data__valid=0))
        self.write("search.json", SEARCH)
        _, err = self.run_tool("search", "search.json", "--out", "out", "--quiet", code=2)
        self.assertIn("validation", err)


if __name__ == "__main__":
    main()
