"""Runs that are moved or given to others: their files name no folder of this machine, and the data are found again."""

import json
import math
import pathlib
import shutil
import tempfile

from tool import RECORDING, ToolTest, changed, main, read_safetensors

SERIES = changed(RECORDING, name="load", metrics=["rmse"],
                 data={"task": "series", "path": "data/load.csv", "target": ["load"], "window": 20})


class SharedRunsTest(ToolTest):
    def setUp(self):
        super().setUp()
        rows = "".join(f"{math.sin(i / 3) + math.sin(i / 7):.5f}\n" for i in range(400))
        self.write("project/data/load.csv", "load\n" + rows)
        self.write("project/load.json", SERIES)
        self.run_tool("train", "project/load.json", "--out", "project/runs/load", "--quiet")

    def experiment(self, run):
        return json.loads((self.folder / run / "experiment.json").read_text())

    def values(self, run):
        return read_safetensors(self.weights(run))[1]

    def trains_again(self, experiment, *args):
        """The values of another training of an experiment, from another folder and by an absolute path."""
        self.run_tool("train", self.folder / experiment, "--out", "again", "--quiet", *args)
        values = self.values("again")
        shutil.rmtree(self.folder / "again")
        return values

    def test_no_file_but_the_checkpoint_names_a_folder_of_the_machine(self):
        self.run_tool("report", self.folder / "project/runs/load", "--output", "project/runs/load/page.html")
        self.assertEqual(self.experiment("project/runs/load")["data"]["path"], "../../data/load.csv")
        files = [path for path in (self.folder / "project/runs").rglob("*") if path.is_file() and path.parent.name != "checkpoint"]
        self.assertGreaterEqual({path.name for path in files}, {"experiment.json", "weights.safetensors", "summary.json", "page.html"})
        for path in files:
            self.assertNotIn(str(self.folder).encode(), path.read_bytes(), path)

    def test_a_report_of_several_runs_names_no_folder_of_the_machine(self):
        self.write("project/data/other.csv", (self.folder / "project/data/load.csv").read_text())
        self.run_tool("train", "project/load.json", "--out", "project/runs/other", "--quiet", "--set", "data.path=project/data/other.csv")
        self.run_tool("report", self.folder / "project/runs", "--output", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertIn("../data/other.csv", page)
        self.assertNotIn(str(self.folder), page)

    def test_a_run_trains_again_from_any_folder_and_after_a_move_with_its_data(self):
        values = self.values("project/runs/load")
        scores = self.run_tool("eval", "project/runs/load")[0]
        self.assertEqual(self.trains_again("project/runs/load/experiment.json"), values)
        (self.folder / "project").rename(self.folder / "given")
        self.assertEqual(self.trains_again("given/runs/load/experiment.json"), values)
        self.assertEqual(self.run_tool("eval", "given/runs/load")[0], scores)
        self.run_tool("train", self.folder / "given/runs/load", "--resume", "--set", "train.epochs=2", "--quiet")
        self.assertEqual(self.experiment("given/runs/load")["data"]["path"], "../../data/load.csv")
        for command in (("check",), ("data", "--out", "all.npz"), ("report", "--output", "page.html"), ("analyze",)):
            given = "given/runs/load" if command[0] in ("report", "analyze") else "given/runs/load/experiment.json"
            with self.subTest(command[0]):
                self.run_tool(command[0], given, *command[1:])

    def test_a_run_that_is_moved_alone_finds_its_data_on_this_machine(self):
        values = self.values("project/runs/load")
        (self.folder / "project/runs/load").rename(self.folder / "alone")
        self.run_tool("eval", "alone")
        self.assertEqual(self.trains_again("alone/experiment.json"), values)
        shutil.rmtree(self.folder / "alone/checkpoint")  # as it is given to others
        missing = str((self.folder / "../data/load.csv").resolve())
        words = [missing, "train and analyze by --set data.path=PATH, eval by --data PATH"]
        self.refused(words, "eval", "alone")
        self.refused(words, "train", "alone/experiment.json", "--out", "again")
        self.run_tool("eval", "alone", "--data", "project/data/load.csv")
        self.assertEqual(self.trains_again("alone/experiment.json", "--set", "data.path=project/data/load.csv"), values)

    def test_data_that_share_no_folder_with_the_run_leave_their_name(self):
        shared = pathlib.Path("/dev/shm")
        if not shared.is_dir() or self.folder.is_relative_to(shared):
            self.skipTest("there is no second folder in the root to write to")
        with tempfile.TemporaryDirectory(dir=shared) as far:
            run = pathlib.Path(far) / "run"
            self.run_tool("train", "project/load.json", "--out", run, "--quiet")
            self.assertEqual(json.loads((run / "experiment.json").read_text())["data"]["path"], "load.csv")
            self.assertIn("rmse", self.run_tool("eval", run)[0])
            self.assertEqual(self.trains_again(run / "experiment.json"), self.values("project/runs/load"))
            self.run_tool("train", run, "--resume", "--set", "train.epochs=2", "--quiet")
            shutil.rmtree(run / "checkpoint")
            self.refused([str(run / "load.csv"), "--data PATH"], "eval", run)
            self.run_tool("eval", run, "--data", "project/data/load.csv")

    def test_runs_of_before_with_absolute_paths_still_work(self):
        values = self.values("project/runs/load")
        path = self.folder / "project/data/load.csv"
        self.write("project/runs/load/experiment.json", changed(self.experiment("project/runs/load"), data__path=str(path)))
        self.run_tool("eval", "project/runs/load")
        self.assertEqual(self.trains_again("project/runs/load/experiment.json"), values)
        self.run_tool("train", "project/runs/load", "--resume", "--set", "train.epochs=2", "--quiet")

    def test_the_same_data_are_no_difference_between_runs_in_different_folders(self):
        self.run_tool("train", "project/load.json", "--out", "deeper/down/run", "--quiet", "--set", "optimizer.lr=0.02")
        self.assertNotEqual(self.experiment("deeper/down/run")["data"], self.experiment("project/runs/load")["data"])
        out = self.run_tool("compare", "project/runs/load", "deeper/down/run")[0]
        self.assertIn("lr", out)
        self.assertNotIn("path", out)

    def test_a_search_that_is_moved_with_its_data_goes_on(self):
        self.write("project/search.json", {"experiment": "load.json", "method": "grid",
                                           "ranges": {"/optimizer/lr": {"choices": [0.01, 0.02]}}})
        self.run_tool("search", "project/search.json", "--out", "project/found", "--runs", "1")
        for path in ("search.json", "results.jsonl", "runs/0000/experiment.json"):
            self.assertNotIn(str(self.folder), (self.folder / "project/found" / path).read_text(), path)
        (self.folder / "project").rename(self.folder / "given")
        self.run_tool("search", "given/search.json", "--out", "given/found")
        self.assertEqual(len((self.folder / "given/found/results.jsonl").read_text().splitlines()), 2)
        self.run_tool("eval", "given/found/best")  # a link to a folder at another depth
        self.assertEqual(self.trains_again("given/found/best/experiment.json"), self.values("given/found/best"))


if __name__ == "__main__":
    main()
