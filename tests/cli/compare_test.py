"""Comparisons: the settings in which runs differ, and their numbers over seeds."""

import json
import statistics
import xml.etree.ElementTree

from tool import EXPERIMENT, ToolTest, changed, main, slow

SMALL = changed(EXPERIMENT, data={"task": "mackey_glass", "length": 60, "train": 8, "valid": 4, "test": 4})


class CompareTest(ToolTest):
    def setUp(self):
        super().setUp()
        for seed in (0, 1, 2):
            self.train(f"tau-{seed}", "--seed", seed, experiment=SMALL)
        self.train("lstm", experiment=changed(SMALL, name="lstm", optimizer__lr=0.02,
                                              model__layers=[{"cell": "lstm", "units": 4}]))

    def summary(self, run):
        return json.loads((self.folder / run / "summary.json").read_text())

    def test_runs_of_other_seeds_are_one_column_with_mean_and_deviation(self):
        out, _ = self.run_tool("compare", "tau-0", "lstm", "tau-1", "tau-2", "--json")
        first, second = json.loads(out)["groups"]
        self.assertEqual((first["runs"], first["seeds"], second["runs"]), (["tau-0", "tau-1", "tau-2"], [0, 1, 2], ["lstm"]))
        values = [self.summary(f"tau-{seed}")["test"]["rmse"] for seed in range(3)]
        self.assertAlmostEqual(first["numbers"]["test rmse"]["mean"], statistics.mean(values), 12)
        self.assertAlmostEqual(first["numbers"]["test rmse"]["deviation"], statistics.stdev(values), 12)
        self.assertEqual(second["numbers"]["params"]["mean"], self.summary("lstm")["params"])

    def test_only_what_differs_is_shown(self):
        comparison = json.loads(self.run_tool("compare", "tau-0", "lstm", "--json")[0])
        self.assertIn("/optimizer/lr", comparison["differing"])
        self.assertIn("/model/layers/0/tau", comparison["differing"])
        for same in ("/loss", "/train/batch", "/seed", "/name"):
            self.assertNotIn(same, comparison["differing"])
        self.assertEqual([group["settings"]["/optimizer/lr"] for group in comparison["groups"]], [0.01, 0.02])
        self.assertIsNone(comparison["groups"][1]["settings"]["/model/layers/0/tau"])
        text, _ = self.run_tool("compare", "tau-0", "tau-1", "lstm")
        self.assertRegex(text, r"/optimizer/lr +0\.01 +0\.02\n")
        self.assertRegex(text, r"test rmse +0\.\d+ \+- 0?\.?[\d.e-]+ +0\.\d+\n")
        self.assertEqual(json.loads(self.run_tool("compare", "tau-0", "tau-1", "--json")[0])["differing"], [])

    def test_learning_curves_are_drawn_over_each_other(self):
        self.run_tool("compare", "tau-0", "tau-1", "lstm", "--plot", "curves")
        self.assertEqual({path.name for path in self.folder.glob("curves/*")}, {"loss.svg", "rmse.svg"})
        chart = (self.folder / "curves/rmse.svg").read_text()
        xml.etree.ElementTree.fromstring(chart)
        self.assertEqual(chart.count("<polyline"), 2)
        self.assertIn(">epoch</text>", chart)
        for run in ("tau-0", "tau-1"):  # one of them has updates alone, so that both are drawn against these
            lines = [{**({"epoch": n} if run == "tau-0" else {}), "step": 10 * n, "valid_loss": 1 / n} for n in (1, 2, 3)]
            self.write(f"{run}/metrics.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.run_tool("compare", "tau-0", "tau-1", "--plot", "updates")
        chart = (self.folder / "updates/loss.svg").read_text()
        self.assertIn(">update</text>", chart)
        self.assertIn(">30</text>", chart)

    def test_a_run_that_is_not_finished_is_named(self):
        (self.folder / "tau-1/summary.json").unlink()
        self.assertIn("tau-0 and 1 more: 1 of 2 runs are not finished", self.run_tool("compare", "tau-0", "tau-1")[0])

    def test_what_is_no_run_is_refused(self):
        self.assertIn("nope: is not a run folder", self.run_tool("compare", "tau-0", "nope", code=2)[1])
        self.assertIn("at least two", self.run_tool("compare", "tau-0", code=2)[1])
        self.write("broken/experiment.json", "[1]")
        self.assertIn("expected an experiment", self.run_tool("compare", "tau-0", "broken", code=2)[1])

    def test_values_that_are_wrong_are_named(self):
        for seed, got in (("x", '"x"'), (1e99, "1e+99")):
            self.write("broken/experiment.json", changed(SMALL, seed=seed))
            _, err = self.run_tool("compare", "tau-0", "broken", code=2)
            self.assertIn(f"broken/experiment.json: /seed: expected integer, got {got}\n", err)
        self.write("tau-1/metrics.jsonl", '{"epoch": 1, "valid_loss": 0.5}\n{"epoch": [], "valid_loss": 0.5}\n')
        _, err = self.run_tool("compare", "tau-0", "tau-1", "--plot", "curves", code=2)
        self.assertIn("tau-1/metrics.jsonl: line 2: /epoch: expected number, got an array\n", err)

    def test_an_experiment_without_settings_and_keys_with_slashes(self):
        self.write("none/experiment.json", {"name": "none"})
        self.write("some/experiment.json", {"name": "some", "a/b": 3})
        first, second = json.loads(self.run_tool("compare", "none", "some", "--json")[0])["groups"]
        self.assertEqual((first["settings"], second["settings"]), ({"/a~1b": None}, {"/a~1b": 3}))

    @slow
    def test_many_settings_take_a_time_that_grows_as_they_do(self):
        for run in ("a", "b"):
            self.write(f"{run}/experiment.json", {f"{run}{i}": i for i in range(50_000)})
        with self.within(5):  # a search through all of them for each: a minute
            self.run_tool("compare", "a", "b", "--json")


if __name__ == "__main__":
    main()
