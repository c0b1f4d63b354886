"""A failing command with --json prints its problems as one JSON object on stderr."""

import json
import re

from tool import EXPERIMENT, ToolTest, changed, main


class ProblemsTest(ToolTest):
    def problems_of(self, *args, code=2):
        """The problems that a failing command prints."""
        out, err = self.run_tool(*args, "--json", code=code)
        self.assertEqual(out, "")
        self.assertEqual(len(err.splitlines()), 1, err)
        printed = json.loads(err)
        self.assertEqual(list(printed), ["problems"])
        for problem in printed["problems"]:
            self.assertEqual(set(problem), {"place", "rule", "message", "statement", "found", "expected", "hint", "nearest"})
        return printed["problems"]

    def test_all_errors_of_an_experiment(self):
        self.write("bad.json", changed(EXPERIMENT, train__epochs="3", train__btach=4, optimizer={"lr": 0.1},
                                       data__task="mackey_glas"))
        for command in ("check", "train", "inspect"):
            problems = self.problems_of(command, "bad.json")
            self.assertEqual({problem["place"]["file"] for problem in problems}, {"bad.json"})
            by_pointer = {problem["place"]["pointer"]: problem for problem in problems}
            self.assertEqual({"/train/epochs", "/train/btach", "/data/task"} - by_pointer.keys(), set())
            epochs, batch = by_pointer["/train/epochs"], by_pointer["/train/btach"]
            self.assertEqual((epochs["rule"], epochs["found"], epochs["expected"]), ("wrong_type", '"3"', "integer >= 1 and <= 1000000000"))
            self.assertEqual((batch["rule"], batch["found"], batch["nearest"]), ("unknown_name", "btach", "batch"))
            self.assertEqual(by_pointer["/data/task"]["nearest"], "mackey_glass")

    def test_every_command_prints_them(self):
        commands = self.run_tool("--help")[0].split("Subcommands:")[-1].split("Commands:")[-1]
        names = re.findall(r"^  (\w+) {2,}", commands, re.MULTILINE)
        self.assertGreater(len(names), 20)
        for name in names:
            with self.subTest(name):
                self.assertEqual(self.problems_of(name, "--no-such-option")[0]["found"], "--no-such-option")
        self.assertEqual(self.problems_of("predict", "gone", "--input", "x.csv", "--output", "y.csv")[0]["place"], {"file": "gone"})
        self.assertEqual(self.problems_of("data", "gone.json", "--out", "x.npz")[0]["rule"], "cannot_read")
        self.assertEqual(self.problems_of("no_command")[0]["found"], "no_command")

    def test_rules(self):
        self.write("range.json", changed(EXPERIMENT, train__batch=0))
        self.write("missing.json", changed(EXPERIMENT, model__layers=[{"cell": "tau_gru", "units": 8}]))
        self.write("syntax.json", '{"name": "a",\n "seed": }')
        for file, rule, place in (("range.json", "out_of_range", {"pointer": "/train/batch"}),
                                  ("missing.json", "missing", {"pointer": "/model/layers/0/tau"}),
                                  ("syntax.json", "syntax", {"line": 2, "column": 10}),
                                  ("gone.json", "cannot_read", {})):
            with self.subTest(file):
                [problem] = self.problems_of("check", file)
                self.assertEqual((problem["rule"], problem["place"]), (rule, {"file": file, **place}))

    def test_an_equation_has_its_column_and_the_nearest_name(self):
        cell = {"weights": {"W": ["units", "units"]}, "state": {"h": "units"}, "step": ["g = tanh(W @ h)", "h' = tahn(g)"],
                "output": "h'"}
        self.write("cell.json", changed(EXPERIMENT, cells={"mine": cell}, model__layers=[{"cell": "mine", "units": 4}]))
        [problem] = self.problems_of("check", "cell.json")
        self.assertEqual((problem["rule"], problem["found"], problem["nearest"]), ("unknown_name", "tahn", "tanh"))
        self.assertEqual(problem["place"], {"file": "cell.json", "pointer": "/cells/mine/step/1", "column": 6,
                                            "item": "cell 'mine': equation 2", "excerpt": "h' = tahn(g)"})

    def test_a_file_has_what_was_found_and_what_is_expected(self):
        self.write("empty.safetensors", b"")
        [problem] = self.problems_of("inspect", "empty.safetensors")
        self.assertEqual((problem["rule"], problem["found"], problem["expected"], problem["place"]),
                         ("damaged", "an empty file", "a safetensors file", {"file": "empty.safetensors"}))
        self.write("good.json", EXPERIMENT)
        [problem] = self.problems_of("inspect", "good.json", "--set", "train.epochs")
        self.assertEqual((problem["rule"], problem["place"]), ("syntax", {"item": "--set train.epochs"}))
        (self.folder / "no-run").mkdir()
        [problem] = self.problems_of("inspect", "no-run")
        self.assertEqual((problem["rule"], problem["place"]), ("missing", {"file": "no-run"}))

    def test_the_command_line_and_other_exit_codes(self):
        self.write("good.json", EXPERIMENT)
        [problem] = self.problems_of("check", "good.json", "--gradient")
        self.assertEqual((problem["rule"], problem["nearest"]), ("unknown_name", "--gradients"))
        self.write("far.json", changed(EXPERIMENT, optimizer__type="sgd", optimizer__lr=1e300))
        [problem] = self.problems_of("train", "far.json", "--quiet", code=3)
        self.assertEqual(problem["rule"], "diverged")

    def test_a_run_that_exists(self):
        self.train("run")
        [problem] = self.problems_of("train", "experiment.json", "--out", "run")
        self.assertEqual((problem["rule"], problem["place"]), ("exists", {"file": "run"}))
        self.assertIn("--resume", problem["hint"])

    def test_bytes_that_are_no_text(self):
        self.write("bytes.json", b'{"name": "\xff"}')
        [problem] = self.problems_of("check", "bytes.json")[:1]
        self.assertEqual(problem["place"]["file"], "bytes.json")

    def test_train_leaves_its_problems_in_a_file(self):
        self.write("bad.json", changed(EXPERIMENT, train__epochs=-1))
        _, err = self.run_tool("train", "bad.json", "--problems", "problems.json", code=2)
        [problem] = json.loads((self.folder / "problems.json").read_text())["problems"]
        self.assertEqual((problem["rule"], problem["place"]["pointer"]), ("out_of_range", "/train/epochs"))
        self.assertIn(problem["message"], err)
        self.write("good.json", EXPERIMENT)
        self.run_tool("train", "good.json", "--quiet", "--problems", "none.json")
        self.assertFalse((self.folder / "none.json").exists())


if __name__ == "__main__":
    main()
