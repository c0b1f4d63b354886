"""The commands around training: what they print, and the keys that scripts read."""

import io
import json
import re
import resource
import subprocess
import unittest
import zipfile
from pathlib import Path

import shipped_experiments
from tool import EXPERIMENT, ToolTest, changed, main, npy_shape, slow

SERIES = {"EigenWorms": (6, 5), "BIDMC32HR": (2, 0), "BIDMC32RR": (2, 0)}  # dimensions, classes


def option_of(listing, key):
    """The text of an option, whatever lines it is on."""
    return " ".join(re.search(rf"^  {key} (.*(?:\n   .*)*)", listing, re.MULTILINE)[1].split())


class CommandsTest(ToolTest):
    def json_of(self, *args):
        return json.loads(self.run_tool(*args, "--json")[0])

    def test_version_and_help(self):
        self.assertRegex(self.run_tool("--version")[0], r"\d+\.\d+\.\d+")
        overview = self.run_tool("--help")[0]
        for command in ("train", "eval", "predict", "export", "inspect", "analyze", "check", "data", "bench", "table", "list"):
            self.assertIn(command, overview)
            self.assertIn("--", self.run_tool(command, "--help")[0])

    def test_inspect_an_experiment_and_a_run(self):
        path = self.write("experiment.json", EXPERIMENT)
        units = 8
        cell = 4 * units * (units + 1 + 2)  # W, U and two biases a gate
        found = self.json_of("inspect", path)
        self.assertEqual([layer["params"] for layer in found["layers"]][0], cell)
        self.assertEqual(found["params"], cell + units + 1)
        self.assertIn({"name": "layers.0.W1", "shape": [units, units]}, found["parameters"])
        self.assertLessEqual({"full", "states"}, {plan["name"] for plan in found["plans"]})
        for plan in found["plans"]:
            self.assertGreater(plan["bytes"], 0)
            self.assertGreaterEqual(plan["extra_flops"], 0)
        self.train("run")
        self.assertEqual(self.json_of("inspect", "run")["params"], found["params"])

    def test_check_accepts_and_compares_gradients(self):
        path = self.write("experiment.json", EXPERIMENT)
        before = self.snapshot()
        self.run_tool("check", path)
        error = self.json_of("check", path, "--gradients")["max_rel_error"]
        self.assertTrue(0 < error < 1e-7, error)
        self.assertEqual(self.snapshot(), before)

    def test_the_memory_of_a_large_model_is_said_without_its_weights(self):
        units = 8000
        path = self.write("experiment.json", changed(EXPERIMENT, model__layers=[{"cell": "lipschitz_rnn", "units": units}]))
        params = 2 * units**2 + 2 * units + units + 1  # M_A, M_W; U and its bias; the read-out's matrix and bias
        derived = 4 * 2 * units**2  # A, W
        adam = 2 * 4 * params + 8  # two moments and the count of steps
        weights = 4 * (params - 2 * units**2) + derived  # A and W instead of M_A and M_W
        training = 4 * 4 * params + 2 * derived + 5 * weights + adam
        memory = {"parameter_bytes": 4 * params, "derived_bytes": derived, "training_bytes": training}
        for command in ("check", "inspect"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = self.json_of(command, path)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.assertEqual((found["params"], found["memory"]), (params, memory))
            self.assertLess(after.ru_utime - before.ru_utime, 5)
            self.assertLess(after.ru_maxrss * 1024, 4 * params)

    def test_check_says_whether_gradients_are_right(self):
        path = self.write("experiment.json", EXPERIMENT)
        self.assertIn("ok", self.run_tool("check", path, "--gradients")[0])

    def test_lags_beyond_the_sequences_are_told(self):
        path = self.write("experiment.json", changed(EXPERIMENT, train__batch=1, model__layers=[
            {"cell": "tau_gru", "units": 8, "tau": 5}, {"cell": "tau_gru", "units": 8, "tau": 900}]))
        _, err = self.run_tool("check", path)
        warnings = [line for line in err.splitlines() if line.startswith("warning")]
        self.assertEqual(len(warnings), 1)
        self.assertIn("layer 1 (tau_gru)", warnings[0])

    def test_output_that_cannot_be_written_is_a_failure(self):
        path = self.write("experiment.json", EXPERIMENT)
        for args in (("list",), ("inspect", path), ("check", path), ("--help",)):
            with self.subTest(args), open("/dev/full", "wb") as full:
                done = subprocess.run([self.tool, *map(str, args)], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"write", done.stderr)

    def test_what_cannot_be_told_ends_nothing(self):
        path = self.write("experiment.json", EXPERIMENT)
        for redirection in ("2>&-", "2>/dev/full"):
            for args, code in ((["check", "gone.json"], 2), (["train", path, "--out", "run" + redirection[2:4].strip("/")], 0)):
                with self.subTest(args=args, redirection=redirection):
                    done = subprocess.run(["sh", "-c", f'"$@" {redirection}', "sh", self.tool, *map(str, args)],
                                          cwd=self.folder, stdout=subprocess.PIPE)
                    self.assertEqual(done.returncode, code)

    def test_data_writes_the_arrays_of_every_split(self):
        path = self.write("experiment.json", changed(EXPERIMENT, data__train=4, data__valid=3, data__test=2))
        self.run_tool("data", path, "--out", "data.npz")
        with zipfile.ZipFile(io.BytesIO((self.folder / "data.npz").read_bytes())) as archive:
            shapes = {name: npy_shape(archive.read(name)) for name in archive.namelist()}
        length = shapes["train_x.npy"][1]
        self.assertEqual(shapes, {f"{split}_{side}.npy": (rows, length, 1)
                                  for split, rows in (("train", 4), ("valid", 3), ("test", 2)) for side in "xy"})

    @slow
    def test_bench_has_the_keys_that_scripts_read(self):
        path = self.write("experiment.json", changed(EXPERIMENT, data={
            "task": "random", "length": 64, "input": 1, "output": 1, "every_step": True}))
        found = self.json_of("bench", path, "--threads", 1)
        for key in ("forward_us", "backward_us", "total_us", "onednn_lstm_us"):
            self.assertTrue(0 < found[key]["min"] <= found[key]["median"] <= found[key]["max"], key)
        self.assertAlmostEqual(found["ratio"], found["total_us"]["median"] / found["onednn_lstm_us"]["median"], places=3)
        self.assertLessEqual({"peak_gflops", "plan", "plan_bytes", "peak_rss_bytes", "threads"}, found.keys())

    def test_list_knows_what_there_is(self):
        for kind, name in (("cells", "tau_gru"), ("functions", "sigmoid"), ("tasks", "mackey_glass"), ("losses", "mse"), ("optimizers", "adam"),
                           ("layers", "linear"), ("layers", "bidirectional"), ("initializers", "orthogonal"), ("readout", "at_padding"), ("readout", "tied"), ("training", "epochs"),
                           ("training", "average")):
            self.assertIn(name, self.run_tool("list", kind)[0])
        self.assertIn("tau", self.run_tool("list", "cells", "tau_gru")[0])
        self.assertIn("tau_gru", self.run_tool("list")[0])
        memory = option_of(self.run_tool("list", "training")[0], "memory")
        for text in ('"full"', '"checkpoint"', 'default "auto"'):
            self.assertIn(text, memory)
        train = option_of(self.run_tool("list", "tasks", "random")[0], "train")
        self.assertIn("by default one batch, train.batch", train)
        self.assertIn("default 32)", train)  # the default of train.batch

    def test_a_budget_that_cannot_be_met_is_told_with_its_place(self):
        path = self.write("experiment.json", changed(EXPERIMENT, train__memory={"budget": "1KiB"}))
        for command in ("train", "check", "inspect", "bench"):
            with self.subTest(command):
                err = self.run_tool(command, path, code=2)[1]
                self.assertIn("experiment.json: /train/memory: ", err)
                self.assertIn("1.0 KiB (1024 bytes)", err)
    def write_series(self, name):
        """Both .ts files of a problem: as many dimensions and classes as the published ones have, and little else."""
        dimensions, classes = SERIES[name]
        targets = [str(1 + i % classes) if classes else str(0.5 * i) for i in range(20)]
        lines = [":".join(["1,2,3,5"] * dimensions + [target]) for target in targets]
        head = [f"@problemName {name}", "@timeStamps false", f"@dimensions {dimensions}"]
        head.append("@classLabel true " + " ".join(map(str, range(1, classes + 1))) if classes else "@targetLabel true")
        for part in ("TRAIN", "TEST"):
            self.write(f"{name}/{name}_{part}.ts", "\n".join([*head, "@data", *lines]) + "\n")
        return self.folder / name

    @slow
    def test_ready_experiments_are_valid_whose_models_must_fit_what_files_contain(self):
        """The others are read by tests/tools/train/experiment_rows_test.cpp."""
        made = {"ts": lambda data: ["--set", f"data.path={self.write_series(Path(data['path']).name)}"],
                "imdb": lambda _: self.few_reviews(), "ptb": lambda _: self.short_text()}
        ready = [(place, experiment) for place, experiment in shipped_experiments.experiments(self.root)
                 if experiment["data"]["task"] in made]
        self.assertGreater(len(ready), 60)
        for place, experiment in ready:
            with self.subTest(experiment["name"]):
                data = experiment["data"]
                self.run_tool("inspect", *place, *made[data["task"]](data))

    def short_text(self):
        for part in ("train", "valid", "test"):
            self.write(f"text/ptb.{part}.txt", " a short text \n" * 100)
        return ["--set", "data.path=text", "--set", "data.streams=1", "--set", "data.eval_streams=1"]

    def few_reviews(self):
        """Something to read: the words of the data are a model's vocabulary."""
        for part in ("train", "test"):
            for liked in ("pos", "neg"):
                self.write(f"reviews/{part}/{liked}/0_1.txt", f"a {liked} film")
        return ["--set", "data.path=reviews", *(f"--set=data.{split}=1" for split in ("train", "valid", "test"))]

    def test_ready_tables_are_valid(self):
        ready = sorted(self.root.glob("tools/experiments/*/table.json"))
        self.assertTrue(ready)
        for path in ready:
            with self.subTest(path.parent.name):
                rows = self.json_of("table", path.parent, "--show", "--out", "nowhere", "--quiet")["rows"]
                self.assertTrue(rows)
                for row in rows:
                    if row["parameter_difference"]:  # a note says so where the paper's number stands beside a model of another size
                        self.assertIn("parameters", row["note"], f"{row['name']}: {row['parameter_difference']}")


if __name__ == "__main__":
    main()
