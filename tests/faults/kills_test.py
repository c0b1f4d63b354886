"""A training, a resume, a table and a search are killed (SIGKILL, with all that they started) at random moments, and done
again: not a bit differs from what nothing happened to.

usage: kills_test.py TOOL [--count N] [--seed N]

N points of each kind, 3 by default. A table and a search are killed up to three times each before they may end.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

COUNT, SEED = 3, random.SystemRandom().randrange(2**32)
EXPERIMENT = {
    "name": "small",
    "data": {"task": "mackey_glass", "length": 300, "train": 4, "valid": 2, "test": 2},
    "model": {"layers": [{"cell": "tau_gru", "units": 4, "tau": 3}], "readout": {"units": 1, "at": "every_step"}},
    "loss": "mse", "metrics": ["rmse"], "optimizer": {"type": "adam", "lr": 0.01}, "train": {"epochs": 12, "batch": 2},
}
TABLE = {"title": "two", "source": "here", "metric": "rmse", "unit": "RMSE", "scale": 1, "digits": 3,
         "rows": [{"name": "one", "model": "small", "printed": 0.5}, {"name": "two", "model": "other"}]}
SEARCH = {"experiment": "small.json", "runs": 3, "ranges": {"/optimizer/lr": {"choices": [0.01, 0.02, 0.03]}}}
COMMANDS = {
    "train": ("train", "small.json", "--out", "out/small", "--quiet", "--resume"),
    "resume": ("train", "small.json", "--out", "out/small", "--quiet", "--resume"),
    "table": ("table", "task", "--out", "out", "--quiet", "--jobs", "2"),
    "search": ("search", "search.json", "--out", "out", "--quiet", "--jobs", "2"),
}


class KillsTest(unittest.TestCase):
    tool = ""
    table = {}

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="lagtape-kills-")
        cls.addClassCleanup(place.cleanup)
        cls.home = pathlib.Path(place.name)
        (cls.home / "task").mkdir()
        for name, content in (("small.json", EXPERIMENT), ("search.json", SEARCH), ("task/small.json", EXPERIMENT),
                              ("task/other.json", {**EXPERIMENT, "name": "other", "seed": 1}), ("task/table.json", TABLE)):
            (cls.home / name).write_text(json.dumps(content))
        cls.draws = random.Random(SEED)
        cls.run_tool(*COMMANDS["resume"], "--set", "train.epochs=5")
        (cls.home / "out").rename(cls.home / "begun")

    @classmethod
    def tearDownClass(cls):
        for story, (points, killed) in cls.table.items():
            print(f"{story:8} {points:4} points, {killed} of them killed before the end; seed {SEED}", file=sys.stderr)

    @classmethod
    def run_tool(cls, *args):
        done = subprocess.run([cls.tool, *args], cwd=cls.home, capture_output=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())

    def begin(self, story):
        shutil.rmtree(self.home / "out", ignore_errors=True)
        if story == "resume":
            shutil.copytree(self.home / "begun", self.home / "out")

    def killed(self, args, seconds):
        """Starts a command and kills it and its trainings after so long; whether it was still running."""
        child = subprocess.Popen([self.tool, *args], cwd=self.home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            self.end_orphans()
            return True

    def end_orphans(self):
        """Kills the trainings of a killed table, which saves their state otherwise, in half of the cases; waits for the rest."""
        harsh = self.draws.random() < 0.5
        deadline = time.monotonic() + 60
        while (orphans := self.running()) and time.monotonic() < deadline:
            for process in orphans if harsh else ():
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.005)
        self.assertEqual(self.running(), [])

    def running(self):
        """The processes of the tool in this test's folder."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if process.joinpath("cwd").resolve() == self.home.resolve() and b"Z" != process.joinpath("stat").read_bytes().rsplit(b")", 1)[1].split()[0]:
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def state(self):
        """Weights and metrics of every run, and the lines of results, except for times."""
        out = self.home / "out"
        lines = {}
        for path in sorted([*out.rglob("metrics.jsonl"), *out.rglob("results.jsonl")]):
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            lines[path.relative_to(out).as_posix()] = [
                {key: value for key, value in row.items() if key not in ("seconds", "date", "machine")} for row in rows]
        return lines, {path.parent.name: path.read_bytes() for path in sorted(out.rglob("weights.safetensors"))}

    def check(self, story):
        args = COMMANDS[story]
        self.begin(story)
        started = time.monotonic()
        self.run_tool(*args)
        longest = time.monotonic() - started
        whole = self.state()
        points = killed = 0
        while points < COUNT:
            self.begin(story)
            for _ in range(self.draws.randint(1, 3) if story in ("table", "search") else 1):
                points += 1
                killed += self.killed(args, self.draws.uniform(0, longest))
            self.run_tool(*args)
            self.assertEqual(self.state(), whole, f"seed {SEED}")
            self.assertEqual([path for path in (self.home / "out").rglob("*.tmp") if "checkpoint" in path.parts or
                              (path.parent / "weights.safetensors").exists()], [])
        type(self).table[story] = (points, killed)

    def test_train(self):
        self.check("train")

    def test_resume(self):
        self.check("resume")

    def test_table(self):
        self.check("table")

    def test_search(self):
        self.check("search")


if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    KillsTest.tool = os.path.abspath(sys.argv.pop(1))
    for name in ("--count", "--seed"):
        if name in sys.argv:
            at = sys.argv.index(name)
            globals()[name[2:].upper()] = int(sys.argv[at + 1])
            del sys.argv[at:at + 2]
    unittest.main()
