"""Folders of a table's runs: trainings that are interrupted or killed, which the same command continues, links, and runs
far from their data."""

import pathlib
import signal
import tempfile
import time

from table_test import PLAN, SMALL, TableTool
from tool import EXPERIMENT, ToolTest, changed, main

LONG = changed(SMALL, train__epochs=3000)


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def elsewhere(folder):
    """A folder for temporary files that shares only the root with another one."""
    return next(place for place in ["/var/tmp", "/dev/shm", "/tmp"] if place.split("/")[1] != folder.parts[1])


class FarRunsTest(TableTool):
    def test_runs_may_share_only_the_root_with_their_data(self):
        rows = "".join(f"{i % 7},{i % 5}\n" for i in range(120))
        self.write("task/readings.csv", "u,y\n" + rows)
        self.write("task/small.json", changed(EXPERIMENT, data={
            "task": "series", "path": "readings.csv", "input": ["u"], "target": ["y"], "window": 10}))
        with tempfile.TemporaryDirectory(dir=elsewhere(self.folder)) as runs:
            found = self.table("--only", "small", "--seeds", 1, "--out", runs)
            self.assertEqual([run["state"] for run in found["rows"][0]["runs"]], ["done"])


class InterruptTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("task/small.json", LONG)
        self.write("task/other.json", changed(LONG, name="other", seed=3))
        self.write("task/table.json", PLAN)

    def interrupt(self, number):
        """Stops a table while two trainings are under way; gives exit code and stderr."""
        wanted = [self.folder / "runs/task" / run / "metrics.jsonl" for run in ("small-0", "other-0")]
        before = [size_of(path) for path in wanted]
        process = self.start("table", "task", "--jobs", 2)
        deadline = time.monotonic() + 120
        while any(size_of(path) <= size for path, size in zip(wanted, before)) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        return process.returncode, err.decode()

    def test_a_signal_saves_all_and_the_same_command_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            code, err = self.interrupt(number)
            self.assertEqual(code, 130, err)
            self.assertIn("2 saved", err)
            for run in ("small-0", "other-0"):
                self.assertFalse((self.folder / "runs/task" / run / "summary.json").exists(), "too fast to be interrupted")
                self.assertIn("saved in", (self.folder / "runs/task" / f"{run}.log").read_text())
        self.assertEqual(self.no_longer_running(), [])
        metrics = [self.folder / "runs/task" / run / "metrics.jsonl" for run in ("small-0", "other-0")]
        epochs = max(len(path.read_text().splitlines()) for path in metrics) + 5  # more than either has done
        self.run_tool("table", "task", "--set", f"train.epochs={epochs}", "--quiet")
        self.run_tool("train", "task/small.json", "--set", f"train.epochs={epochs}", "--out", "alone", "--quiet")
        self.assertEqual(self.weights("alone"), self.weights("runs/task/small-0"))

    def no_longer_running(self):
        """Trainings into this test's folder that have outlived their table."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if process.joinpath("cwd").resolve() == self.folder.resolve():
                    found.append(process.joinpath("cmdline").read_bytes())
            except OSError:
                continue
        return found

    def test_a_table_that_is_killed_leaves_no_training_behind(self):
        process = self.start("table", "task", "--jobs", 2)
        metrics = self.folder / "runs/task/small-0/metrics.jsonl"
        deadline = time.monotonic() + 120
        while not size_of(metrics) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        while self.no_longer_running() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.no_longer_running(), [])

    def test_links_of_a_run_are_refused(self):
        """A folder may come from a stranger: a table writes into its own files only."""
        kept, run = self.folder / "kept", self.folder / "runs/task/small-0"
        kept.write_text("mine")
        run.mkdir(parents=True)
        for path in (run / "diverged.txt", run.with_name("small-0.end.json"), run):
            if path == run:
                run.rmdir()
            path.symlink_to(kept)
            _, message = self.run_tool("table", "task", "--set", "train.epochs=1", code=2)
            self.assertIn(f"{path.relative_to(self.folder)}: is a link", message)
            path.unlink()
        self.assertEqual(kept.read_text(), "mine")


if __name__ == "__main__":
    main()
