"""Tables: what is missing is trained, what is there is read, and every number is that of its runs."""

import fcntl
import json
import os
import shutil
import statistics

from tool import EXPERIMENT, ToolTest, changed, main

SMALL = changed(EXPERIMENT, data={"task": "mackey_glass", "length": 60, "train": 8, "valid": 4, "test": 4})
OTHER = changed(SMALL, name="other", model__layers=[{"cell": "rnn", "units": 4}])
DIVERGES = changed(SMALL, name="diverges", optimizer={"type": "sgd", "lr": 1e30},
                   model__layers=[{"layer": "linear", "units": 4}])
PLAN = {
    "title": "two models, a < b & c",
    "source": "a paper, Table 1",
    "metric": "rmse",
    "unit": "RMSE x 1e-2",
    "scale": 100,
    "digits": 3,
    "rows": [
        {"name": "tau-GRU | small", "model": "small", "printed": 0.5, "printed_deviation": 0.1},
        {"name": "other", "model": "other", "note": "of our own"},
        {"name": "S4", "printed": 1.25, "source": "Table 2"},
    ],
}


def changed_row(row, **values):
    rows = [dict(one) for one in PLAN["rows"]]
    rows[row].update(values)
    return {**PLAN, "rows": rows}


# Each row: a plan, and texts that the message must contain.
PLANS = [
    ("an unknown key", {**PLAN, "color": 1}, ["/color"]),
    ("a misspelt key of a row", changed_row(0, pritned=1), ["/rows/0/pritned", "printed"]),
    ("no metric", {key: value for key, value in PLAN.items() if key != "metric"}, ["/metric"]),
    ("an unknown metric", {**PLAN, "metric": "rsme"}, ["/metric", "rmse"]),
    ("a metric that the experiments do not report", {**PLAN, "metric": "nrmse"}, ["small.json", "nrmse"]),
    ("a model without a file", changed_row(1, model="ohter"), ["/rows/1/model", "ohter", "other"]),
    ("a model twice", changed_row(1, model="small"), ["/rows/1/model", "small"]),
    ("a row of nothing", changed_row(1, model=""), ["/rows/1", "printed number"]),
    ("a word for a printed number", changed_row(0, printed="0.5"), ["/rows/0/printed", "number"]),
    ("printed parameters as the paper rounds them", changed_row(0, printed_parameters="1.2k"),
     ["/rows/0/printed_parameters", "integer"]),
    ("printed parameters of nothing", changed_row(0, printed_parameters=0), ["/rows/0/printed_parameters", "1"]),
    ("settings that are a list", changed_row(0, at=[1]), ["/rows/0/at", "object", "dt"]),
    ("a setting whose chart would be elsewhere", changed_row(0, at={"../dt": 1}), ["/rows/0/at", "'../dt'", "letters"]),
    ("the same settings twice", {**PLAN, "rows": [{**row, "at": {"dt": 1, "form": "a"}} for row in PLAN["rows"]]}, ["/rows/1/at", "row 0 ('tau-GRU | small') has"]),
    ("the same settings after a row that is no object", {**PLAN, "rows": [3, *({"name": name, "printed": 1, "at": {"dt": 1}} for name in "ab")]},
     ["/rows/0:", "/rows/2/at: row 1 ('a') has the same settings"]),
    ("misspelt settings", changed_row(0, att={"dt": 1}), ["/rows/0/att: unknown key 'att'; did you mean 'at'?", "note, at"]),
    ("a setting without a name", changed_row(0, at={"": 1}), ["/rows/0/at", "''", "letters"]),
    ("a setting that is neither number nor word", changed_row(0, at={"dt": [1]}), ["/rows/0/at", "dt", "[1]"]),
    ("no rows", {**PLAN, "rows": []}, ["/rows"]),
    ("a row that is no object", {**PLAN, "rows": [3]}, ["/rows/0"]),
    ("a scale of nothing", {**PLAN, "scale": 0}, ["/scale"]),
    ("JSON that stops", '{"title": ', ["table.json", "line 1"]),
]


class TableTool(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("task/small.json", SMALL)
        self.write("task/other.json", OTHER)
        self.write("task/table.json", PLAN)

    def table(self, *args, code=0):
        return json.loads(self.run_tool("table", "task", "--json", "--quiet", *args, code=code)[0])

    def summary(self, run):
        return json.loads((self.folder / "runs/task" / run / "summary.json").read_text())


class TableTest(TableTool):
    def test_the_numbers_are_those_of_the_runs(self):
        found = self.table("--seeds", 3)
        values = [100 * self.summary(f"small-{seed}")["test"]["rmse"] for seed in range(3)]
        self.assertEqual(len(set(values)), 3)
        row = found["rows"][0]
        self.assertAlmostEqual(row["mean"], statistics.mean(values))
        self.assertAlmostEqual(row["deviation"], statistics.stdev(values))
        self.assertAlmostEqual(row["best"], min(values))
        self.assertEqual((row["printed"], row["printed_deviation"]), (0.5, 0.1))
        self.assertEqual(row["params"], self.summary("small-0")["params"])
        self.assertEqual([run["seed"] for run in row["runs"]], [0, 1, 2])
        self.assertAlmostEqual(row["seconds"], statistics.mean(run["seconds"] for run in row["runs"]))
        self.assertEqual((found["rows"][2]["printed"], found["rows"][2]["mean"]), (1.25, None))

    def test_a_run_is_that_of_train(self):
        self.table("--seeds", 2)
        self.run_tool("train", "task/small.json", "--seed", 1, "--out", "alone", "--quiet")
        self.assertEqual(self.weights("alone"), self.weights("runs/task/small-1"))

    def test_what_is_there_is_not_trained_again(self):
        self.table()
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "runs").rglob("*.safetensors")}
        self.assertTrue(before)
        self.table("--seeds", 2)
        self.assertEqual({path: path.stat().st_mtime_ns for path in before}, before)

    def test_more_epochs_go_on_and_the_table_waits_for_them(self):
        short = self.table()["rows"][0]["mean"]
        shown = self.table("--show", "--set", "train.epochs=6")["rows"][0]
        self.assertEqual((shown["mean"], shown["runs"][0]["state"]), (None, "unfinished"))
        told = self.run_tool("table", "task", "--show", "--set", "train.epochs=6", "--only", "small")[1]
        self.assertEqual(told, "runs/task/small-0: has finished with train.epochs 3 in place of 6, and is not in the table (--set)\n")
        self.assertEqual(self.run_tool("table", "task", "--show", "--only", "small")[1], "")
        whole = self.table("--set", "train.epochs=6")["rows"][0]["mean"]
        self.assertNotEqual(short, whole)
        self.run_tool("train", "task/small.json", "--set", "train.epochs=6", "--out", "alone", "--quiet")
        self.assertEqual(self.weights("alone"), self.weights("runs/task/small-0"))

    def test_only_some_models_and_nothing_at_all(self):
        self.table("--only", "other")
        self.assertEqual(sorted(path.name for path in (self.folder / "runs/task").glob("[!.]*")), ["other-0", "other-0.log"])
        self.run_tool("table", "task", "--show", "--out", "nowhere")
        self.assertFalse((self.folder / "nowhere").exists())
        self.assertIn("other", self.run_tool("table", "task", "--only", "ohter", code=2)[1])

    def test_models_of_another_size_than_the_printed_ones_are_told(self):
        ours = json.loads(self.run_tool("inspect", "task/small.json", "--json")[0])["params"]
        self.assertEqual(ours, 361)
        show = ("table", "task", "--show", "--out", "nowhere")
        for printed, change in ((343, "5 % more"), (344, ""), (361, ""), (379, ""), (381, "5 % fewer"), (722, "50 % fewer")):
            with self.subTest(printed):
                self.write("task/table.json", changed_row(0, printed_parameters=printed))
                said = f"361 parameters beside {printed} printed, {change}" if change else ""
                row = json.loads(self.run_tool(*show, "--json")[0])["rows"][0]
                self.assertEqual((row["params"], row["printed_parameters"], row["parameter_difference"]), (361, printed, said))
                out, err = self.run_tool(*show)
                self.assertIn(f"| 361 (printed: {printed}) |", out)
                self.assertEqual(err, f"tau-GRU | small (small): {said}\n" if said else "")
                self.assertEqual(f"- tau-GRU | small: {said}" in out.splitlines(), bool(said))
                self.assertEqual(self.run_tool(*show, "--quiet")[1], "")
        other = self.table("--show", "--out", "nowhere")["rows"][1]
        self.assertEqual((other["printed_parameters"], other["parameter_difference"]), (None, ""))
        others = self.table("--show", "--out", "nowhere", "--only", "other")["rows"][0]
        self.assertEqual((others["params"], others["parameter_difference"]), (361, said))
        self.assertEqual(self.run_tool(*show, "--only", "other")[1], "")
        wider = self.table("--show", "--out", "nowhere", "--only", "other", "--set", "model.layers.0.units=9")["rows"][0]
        self.assertEqual(wider["params"], 442)
        done = self.table("--only", "small")["rows"][0]
        self.assertEqual((done["params"], done["parameter_difference"]), (361, "361 parameters beside 722 printed, 50 % fewer"))

    def test_parameters_that_only_data_files_decide_are_not_told(self):
        files = changed(EXPERIMENT, data={"task": "ts", "path": "nowhere"}, model__readout={"units": 1, "at": "last_step"})
        self.write("task/small.json", files)
        self.write("task/table.json", changed_row(0, printed_parameters=1000))
        out, err = self.run_tool("table", "task", "--show")
        row = self.table("--show")["rows"][0]
        self.assertEqual((err, row["params"], row["parameter_difference"]), ("", None, ""))
        self.assertIn("| – (printed: 1000) |", out)

    def test_a_training_that_diverges_is_said_and_not_tried_again(self):
        self.write("task/diverges.json", DIVERGES)
        self.write("task/table.json", changed_row(1, model="diverges"))
        row = self.table()["rows"][1]
        self.assertEqual((row["runs"][0]["state"], row["mean"]), ("diverged", None))
        self.assertIn("not finite", row["runs"][0]["message"])
        log = self.folder / "runs/task/diverges-0.log"
        before = log.read_text()
        out, _ = self.run_tool("table", "task")
        self.assertIn("1 of 1 runs diverged", out)
        self.assertEqual(log.read_text(), before)

    def test_a_divergence_that_an_older_version_noted_is_read(self):
        self.write("task/diverges.json", DIVERGES)
        self.write("task/table.json", changed_row(1, model="diverges"))
        first = self.table("--only", "diverges")["rows"][1]["runs"][0]
        (self.folder / "runs/task/diverges-0.end.json").unlink()
        self.assertEqual(self.table("--show", "--only", "diverges")["rows"][1]["runs"][0]["state"], "unfinished")
        self.write("runs/task/diverges-0/diverged.txt", first["message"])
        self.assertEqual(self.table("--show", "--only", "diverges")["rows"][1]["runs"][0], first)

    def test_a_damaged_summary_or_note_is_named(self):
        self.table("--only", "small", "--seeds", 1)
        run = self.folder / "runs/task/small-0"
        summary, note = run / "summary.json", run.with_name("small-0.end.json")
        for change, place in (({"params": "x"}, "/params"), ({"arithmetic": 1e300}, "/arithmetic")):
            summary.write_text(json.dumps({"test": {"rmse": 0.1}, **change}))
            self.refused([f"small-0/summary.json: {place}: "], "table", "task", "--show", "--only", "small", "--seeds", 1)
        summary.unlink()
        for text in ('{"state": 3}', '{"state": "dne"}', '{"message": 3}', '[]'):
            note.write_text(text)
            self.refused(["small-0.end.json: "], "table", "task", "--show", "--only", "small", "--seeds", 1)

    def test_a_divergence_is_of_the_run_that_diverged(self):
        self.write("task/diverges.json", changed(DIVERGES, optimizer__lr=1e15))
        self.write("task/table.json", changed_row(1, model="diverges"))
        run = self.table("--only", "diverges")["rows"][1]["runs"][0]
        self.assertEqual(run["state"], "diverged")
        self.assertIn("epoch 2", run["message"])
        shorter = ("--only", "diverges", "--set", "train.epochs=1", "--results", "results.jsonl")
        self.assertEqual(self.table(*shorter)["rows"][1]["runs"][0]["state"], "done")
        self.assertEqual(self.table(*shorter, "--show")["rows"][1]["runs"][0]["state"], "done")
        self.assertEqual(json.loads((self.folder / "results.jsonl").read_text())["state"], "done")
        self.assertEqual(self.table("--only", "diverges")["rows"][1]["runs"][0]["state"], "diverged")

    def test_a_training_that_fails_does_not_keep_the_others_back(self):
        self.write("task/other.json", changed(OTHER, train__memory={"plan": "auto", "budget": "1KiB"}))
        out, err = self.run_tool("table", "task", code=2)
        self.assertIn("other seed 0: ", err)
        self.assertIn("budget", err)
        self.assertIn("1 of 1 runs failed", out)
        self.assertTrue(self.summary("small-0"))
        self.write("task/small.json", changed(SMALL, train__memory={"plan": "auto", "budget": "1KiB"}))
        err = self.run_tool("table", "task", "--out", "again", "--seeds", 2, "--json", "--quiet", code=2)[1]
        small, other = json.loads(err)["problems"]
        self.assertEqual((small["place"]["item"], other["place"]["item"]), ("small seed 0 and 1 more", "other seed 0 and 1 more"))
        self.assertEqual({small["rule"], other["rule"]}, {"no_memory"})

    def test_a_model_may_be_a_row_of_a_file(self):
        whole = self.table("--seeds", 1)["rows"][1]
        (self.folder / "task/other.json").unlink()
        self.write("task/rows.json", {"base": "small.json", "rows": {"other": {"name": "other", "model": OTHER["model"]}}})
        row = self.table("--seeds", 1)["rows"][1]
        self.assertEqual((row["params"], row["runs"]), (whole["params"], whole["runs"]))
        row = self.table("--seeds", 1, "--out", "again")["rows"][1]
        self.assertEqual(row["mean"], whole["mean"])

    def test_a_changed_experiment_is_an_error(self):
        self.table()
        self.write("task/small.json", changed(SMALL, optimizer__lr=0.5))
        before = self.snapshot()
        out, err = self.run_tool("table", "task", "--seeds", 2, code=2)
        self.assertEqual((out, self.snapshot()), ("", before))
        for word in ("runs/task/small-0", "/optimizer/lr", "0.5", "0.01"):
            self.assertIn(word, err)

    def test_results_outlive_the_folders_of_their_runs(self):
        self.write("task/other.json", DIVERGES)
        whole = self.table("--seeds", 2, "--results", "results.jsonl")
        lines = [json.loads(line) for line in (self.folder / "results.jsonl").read_text().splitlines()]
        self.assertEqual([(line["model"], line["seed"], line["state"]) for line in lines],
                         [("other", 0, "diverged"), ("other", 1, "diverged"), ("small", 0, "done"), ("small", 1, "done")])
        self.assertEqual(lines[2]["value"], self.summary("small-0")["test"]["rmse"])
        shutil.rmtree(self.folder / "runs")
        alone = self.table("--seeds", 2, "--results", "results.jsonl")
        self.assertFalse((self.folder / "runs").exists())
        for key in ("mean", "deviation", "best", "params"):
            self.assertEqual(alone["rows"][0][key], whole["rows"][0][key])
        self.assertEqual(alone["rows"][1]["runs"][1]["message"], whole["rows"][1]["runs"][1]["message"])
        self.assertIsNone(self.table("--seeds", 2, "--show")["rows"][0]["mean"])
        # One seed more is trained and added; the name and the place of keys do not matter, what is learned does.
        self.write("task/small.json", {**dict(reversed(SMALL.items())), "name": "renamed"})
        self.assertEqual(len(self.table("--seeds", 3, "--results", "results.jsonl", "--only", "small")["rows"][0]["runs"]), 3)
        self.assertEqual([path.name for path in (self.folder / "runs/task").glob("small-?")], ["small-2"])
        self.write("task/small.json", changed(SMALL, optimizer__lr=0.5))
        changed_since = self.table("--show", "--results", "results.jsonl", "--only", "small")["rows"][0]
        self.assertIsNone(changed_since["mean"])
        shown = self.run_tool("table", "task", "--show", "--results", "results.jsonl", "--only", "small", "--out", "runs/task")
        self.assertEqual(shown[1], "results.jsonl: runs of these models that are not in the table: 3 with other settings (--set)\n")
        self.write("task/small.json", SMALL)
        shown = self.run_tool("table", "task", "--show", "--results", "results.jsonl", "--seeds", 1)
        self.assertEqual(shown[1], "results.jsonl: runs of these models that are not in the table: 3 with other seeds (--seeds)\n")
        self.assertEqual(len((self.folder / "results.jsonl").read_text().splitlines()), 5)

    def test_results_say_which_arithmetic_they_are_of(self):
        self.table("--seeds", 2, "--results", "results.jsonl", "--only", "small")
        lines = [json.loads(line) for line in (self.folder / "results.jsonl").read_text().splitlines()]
        self.assertEqual({line["arithmetic"] for line in lines}, {self.summary("small-0")["arithmetic"]})
        shutil.rmtree(self.folder / "runs")

        def page(first):
            self.write("results.jsonl", "".join(json.dumps(line) + "\n" for line in (first, lines[1])))
            self.run_tool("table", "task", "--show", "--seeds", 2, "--results", "results.jsonl", "--markdown", "page.md")
            return (self.folder / "page.md").read_text()
        self.assertNotIn("arithmetic", page(lines[0]))
        self.assertIn("an earlier arithmetic: tau-GRU | small (1 of 2 runs)\n", page({**lines[0], "arithmetic": 1}))
        self.assertNotIn("arithmetic", page({key: value for key, value in lines[0].items() if key != "arithmetic"}))

    def test_results_that_contradict_each_other_are_refused(self):
        self.table("--results", "results.jsonl", "--only", "small")
        line = (self.folder / "results.jsonl").read_text()
        other = json.dumps({**json.loads(line), "value": 0.25}) + "\n"
        self.write("results.jsonl", line + line)
        self.assertIsNotNone(self.table("--show", "--results", "results.jsonl", "--only", "small")["rows"][0]["mean"])
        self.write("results.jsonl", line + other)
        err = self.run_tool("table", "task", "--results", "results.jsonl", code=2)[1]
        for word in ("results.jsonl line 2", "small", "0.25", "in an earlier line"):
            self.assertIn(word, err)
        self.assertEqual((self.folder / "results.jsonl").read_text(), line + other)
        self.write("results.jsonl", other)
        err = self.run_tool("table", "task", "--results", "results.jsonl", "--only", "small", code=2)[1]
        for word in ("results.jsonl: rmse of the model small, seed 0, is 0.25 here and ", "runs/task/small-0. Remove one of them"):
            self.assertIn(word, err)
        self.assertEqual((self.folder / "results.jsonl").read_text(), other)

    def test_two_tables_may_add_to_one_file(self):
        tables = [self.start("table", "task", "--seeds", 4, "--only", model, "--results", "results.jsonl", "--quiet",
                             "--out", model) for model in ("small", "other")]
        for table in tables:
            _, err = table.communicate(timeout=120)
            self.assertEqual(table.returncode, 0, err.decode())
        text = (self.folder / "results.jsonl").read_text()
        self.assertEqual(sorted((line["model"], line["seed"]) for line in map(json.loads, text.splitlines())),
                         [(model, seed) for model in ("other", "small") for seed in range(4)])

    def test_two_processes_share_a_table(self):
        tables = [self.start("table", "task", "--seeds", 6, "--jobs", 1, "--json") for _ in range(2)]
        found, trained = [], []
        for table in tables:
            out, err = table.communicate(timeout=120)
            self.assertEqual(table.returncode, 0, err.decode())
            found.append(json.loads(out))
            trained += [line.split("  ")[1].split(":")[0] for line in err.decode().splitlines() if " seed " in line]
        self.assertEqual(sorted(trained), sorted(f"{model} seed {seed}" for model in ("small", "other") for seed in range(6)))
        self.assertEqual(found[0], found[1])

    def test_a_run_that_another_process_trains_is_waited_for(self):
        (self.folder / "runs/task/small-0").mkdir(parents=True)
        lock = os.open(self.folder / "runs/task/small-0", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        table = self.start("table", "task", "--only", "small")
        self.assertEqual(table.stderr.readline(), b"waiting for 1 run that other processes are training\n")
        self.assertIsNone(table.poll())
        os.close(lock)
        self.assertIn(b"1/1  small seed 0: ", table.communicate(timeout=60)[1])
        self.assertEqual(table.returncode, 0)

    def test_results_of_another_metric_stay_and_showing_writes_nothing(self):
        both = {"task/small.json": changed(SMALL, metrics=["rmse", "mse"]), "task/other.json": changed(OTHER, metrics=["rmse", "mse"])}
        for path, experiment in both.items():
            self.write(path, experiment)
        self.table("--results", "results.jsonl")
        self.write("task/table.json", {**PLAN, "metric": "mse"})
        before = self.snapshot()
        shown = self.table("--show", "--results", "results.jsonl")["rows"][0]["mean"]
        self.assertEqual(self.snapshot(), before)
        self.table("--results", "results.jsonl")
        shutil.rmtree(self.folder / "runs")
        self.assertEqual(self.table("--show", "--results", "results.jsonl")["rows"][0]["mean"], shown)
        self.assertIn("not in the table: 2 with other metrics\n", self.run_tool("table", "task", "--show", "--results", "results.jsonl")[1])
        self.write("task/table.json", PLAN)
        self.assertIsNotNone(self.table("--show", "--results", "results.jsonl")["rows"][0]["mean"])
        self.assertIn("gone.jsonl", self.run_tool("table", "task", "--show", "--results", "gone.jsonl", code=2)[1])
        err = self.run_tool("table", "task", "--results", "nowhere/results.jsonl", code=2)[1]
        self.assertIn("nowhere", err)
        self.assertFalse((self.folder / "runs").exists())

    def test_results_that_are_no_file(self):
        before = self.snapshot()
        for title, name, word in [("no name", "", "--results"), ("a device", "/dev/full", "not a regular file"),
                                  ("a folder", "task", "not a regular file"),
                                  ("in a folder that takes no files", "/proc/results.jsonl", "/proc/results.jsonl")]:
            with self.subTest(title):
                out, err = self.run_tool("table", "task", "--results", name, code=2)
                self.assertEqual((out, self.snapshot()), ("", before))
                self.assertIn(word, err)

    def test_a_metric_that_is_no_number_is_not_a_missing_test_set(self):
        self.table("--only", "small")
        summary = self.summary("small-0")
        for title, test, words in [("not finite", {"rmse": None}, ["/test/rmse", "is not finite"]),
                                   ("no test set", {}, ["/test/rmse", "a test set"])]:
            with self.subTest(title):
                self.write("runs/task/small-0/summary.json", {**summary, "test": test})
                err = self.run_tool("table", "task", "--show", code=2)[1]
                for word in ["small-0/summary.json", *words]:
                    self.assertIn(word, err)

    def test_results_that_are_wrong(self):
        good = {"model": "small", "seed": 0, "experiment": "0123456789abcdef", "metric": "rmse", "value": 0.1, "params": 5,
                "seconds": 1.5, "date": "2026-01-01", "machine": "one", "version": "0.1.0"}
        for title, line, words in [
            ("an unknown key", {**good, "vlaue": 1}, ["/vlaue", "value"]),
            ("no value", {key: value for key, value in good.items() if key != "value"}, ["/value"]),
            ("an unknown state", {**good, "state": "dnoe"}, ["/state", "done"]),
            ("no JSON", "{", ["column"]),
        ]:
            with self.subTest(title):
                second = line if isinstance(line, str) else json.dumps(line)
                self.write("results.jsonl", json.dumps(good) + "\n" + second + "\n")
                before = self.snapshot()
                out, err = self.run_tool("table", "task", "--results", "results.jsonl", code=2)
                self.assertEqual((out, self.snapshot()), ("", before))
                for word in ["results.jsonl line 2", *words]:
                    self.assertIn(word, err)

    def test_plans_that_are_wrong(self):
        for title, plan, words in PLANS:
            with self.subTest(title):
                self.write("task/table.json", plan)
                before = self.snapshot()
                out, err = self.run_tool("table", "task", code=2)
                self.assertEqual((out, self.snapshot()), ("", before))
                for word in words:
                    self.assertIn(word, err)
        for folder, advice in (("nowhere", "."), ("taks/", "; did you mean task?")):
            self.assertIn(f"{folder}: expected a folder with experiments and a table.json{advice}",
                          self.run_tool("table", folder, code=2)[1])


if __name__ == "__main__":
    main()
