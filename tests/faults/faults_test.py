"""The n-th call to the system fails, for every n: the old or the new state is whole, the message says what failed, and
--resume reaches the same bits. A kill at the n-th call leaves what a resumed run ends with the same bits from. A clock
that goes back changes nothing.

usage: faults_test.py TOOL COMPILER [--most N] [--allocations N] [TEST ...]

With --most N at most N points of each kind are tried, spread over all, and of allocations 300 or --allocations N; it
prints the table of points. fault_shim.cpp makes the calls fail, in the tool and in the trainings that it starts.
"""

import errno
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).parent
EXPERIMENT = {
    "name": "small",
    "data": {"task": "mackey_glass", "length": 300, "train": 4, "valid": 2, "test": 2},
    "model": {"layers": [{"cell": "tau_gru", "units": 4, "tau": 3}], "readout": {"units": 1, "at": "every_step"}},
    "loss": "mse",
    "metrics": ["rmse"],
    "train": {"epochs": 3, "batch": 2},
}
TABLE = {"title": "two", "source": "here", "metric": "rmse", "unit": "RMSE", "scale": 1, "digits": 3,
         "rows": [{"name": "one", "model": "small", "printed": 0.5}, {"name": "two", "model": "other"}]}
SEARCH = {"experiment": "small.json", "runs": 2, "ranges": {"/optimizer/lr": {"choices": [0.01, 0.02, 0.03]}}}
SHORT, KILL = 0, -1
# The errors that each call can report.
ERRORS = {
    "open": [errno.EACCES, errno.EMFILE, errno.ENOSPC],
    "read": [errno.EIO, errno.EINTR, SHORT],
    "write": [errno.ENOSPC, errno.EIO, errno.EINTR, SHORT],
    "fsync": [errno.EIO, errno.ENOSPC],
    "close": [errno.EIO],
    "rename": [errno.EACCES, errno.EIO],
    "stat": [errno.EIO],
    "mmap": [errno.ENOMEM],  # where code is written at run time, which is interpreted then
    "mprotect": [errno.ENOMEM],
    "new": [errno.ENOMEM],
}
KILLED_AT = ["open", "write", "fsync", "close", "rename"]
ABORTED = -6
# Words of which a message about a fault has at least one.
NAMES = ("run", "whole", "e.json", "x.csv", "y.", "task", "small", "search.json", "found")


def evenly(numbers, most):
    """At most so many of the numbers, spread over all of them."""
    return [numbers[i * len(numbers) // min(most, len(numbers))] for i in range(min(most, len(numbers)))]


class FaultsTest(unittest.TestCase):
    tool, compiler, most, allocations = "", "", 10**9, 300
    table = {}

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="lagtape-faults-")
        cls.addClassCleanup(cls.place.cleanup)
        cls.home = pathlib.Path(cls.place.name)
        cls.shim = cls.home / "shim.so"
        subprocess.run([cls.compiler, "-std=c++20", "-O1", "-shared", "-fPIC", FOLDER / "fault_shim.cpp", "-o", cls.shim, "-ldl"],
                       check=True)
        (cls.home / "e.json").write_text(json.dumps(EXPERIMENT))
        (cls.home / "x.csv").write_text("1\n2\n3\n")
        (cls.home / "task").mkdir()
        (cls.home / "task" / "small.json").write_text(json.dumps(EXPERIMENT))
        (cls.home / "task" / "other.json").write_text(json.dumps({**EXPERIMENT, "name": "other", "seed": 1}))
        (cls.home / "task" / "table.json").write_text(json.dumps(TABLE))
        (cls.home / "small.json").write_text(json.dumps({**EXPERIMENT, "optimizer": {"type": "adam", "lr": 0.01}}))
        (cls.home / "search.json").write_text(json.dumps(SEARCH))
        cls.begun = cls.home / "begun"  # one of three epochs
        cls.call("train", "e.json", "--out", "begun", "--quiet", "--set", "train.epochs=1")
        cls.call("train", "e.json", "--out", "whole", "--quiet")
        cls.whole = cls.state(cls.home / "whole")

    @classmethod
    def tearDownClass(cls):
        for story, (points, quiet) in sorted(cls.table.items()):
            print(f"{story:20} {points:5} points, {quiet} of them without an effect", file=sys.stderr)

    @classmethod
    def call(cls, *args, fault=None):
        environment = dict(os.environ)
        if fault is not None:
            call, at, error = fault
            environment.update(LD_PRELOAD=str(cls.shim), LAGTAPE_FAULT_CALL=call, LAGTAPE_FAULT_AT=str(at),
                               LAGTAPE_FAULT_ERROR=str(error), LAGTAPE_FAULT_ROOT=str(cls.home),
                               LAGTAPE_FAULT_COUNT=str(cls.home / "count"))
        done = subprocess.run([cls.tool, *args], cwd=cls.home, env=environment, capture_output=True, timeout=300)
        if fault is None and done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        return done.returncode, done.stderr.decode()

    @classmethod
    def state(cls, run):
        """The weights and the metrics of a run, except for its times."""
        rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        for row in rows:
            row.pop("seconds")
        return (run / "weights.safetensors").read_bytes(), rows

    def points(self, call, args):
        """The numbers of the calls of an undisturbed run."""
        counts = self.home / "count"
        counts.unlink(missing_ok=True)
        self.call(*args, fault=(call, 0, 0))
        count = max(map(int, counts.read_text().split()))  # of the tool, and of the trainings that it starts
        return evenly(range(1, count + 1), self.allocations if call == "new" else self.most)

    def begin(self, resumes):
        run = self.home / "run"
        shutil.rmtree(run, ignore_errors=True)
        if resumes:
            shutil.copytree(self.begun, run)
        return run

    def each_fault(self, story, args, prepare, check):
        for call, errors in ERRORS.items():
            prepare()
            for at in self.points(call, args):
                for error in errors:
                    with self.subTest(story, call=call, at=at, error=error):
                        prepare()
                        code, message = self.call(*args, fault=(call, at, error))
                        points, quiet = self.table.get((key := f"{story}, {call}"), (0, 0))
                        self.table[key] = (points + 1, quiet + (code == 0))
                        self.assertNotEqual(code, ABORTED, message)
                        self.assertIn(code, (0, 1, 2), message)
                        if code != 0:
                            self.assertTrue(any(line.startswith("lagtape: ") for line in message.splitlines()), message)
                        if code != 0 and call != "new":
                            self.assertIn(os.strerror(error), self.with_logs(message))
                            self.assertTrue(any(name in message for name in NAMES), message)
                        check(code)

    def with_logs(self, message):
        """A message with what the trainings that the tool started have written."""
        return message + "".join(path.read_text() for path in self.home.rglob("*.log"))

    def check_run(self, run):
        def check(code):
            left = [path.name for path in run.rglob("*.tmp")] if run.exists() else []
            self.assertEqual(left, [])
            if code != 0:
                self.call("train", "e.json", "--out", "run", "--quiet", "--resume")
            self.assertEqual(self.state(run), self.whole)

        return check

    def test_training(self):
        run = self.home / "run"
        args = ("train", "e.json", "--out", "run", "--quiet")
        self.each_fault("train", args, lambda: self.begin(False), self.check_run(run))

    def test_resuming(self):
        run = self.home / "run"
        args = ("train", "e.json", "--out", "run", "--quiet", "--resume")
        self.each_fault("resume", args, lambda: self.begin(True), self.check_run(run))

    def test_predicting(self):
        y = self.home / "y.npy"
        args = ("predict", "whole", "--input", "x.csv", "--output", "y.npy")
        self.call(*args)
        new = y.read_bytes()

        def check(code):
            self.assertIn(y.read_bytes(), [new] if code == 0 else [b"old", new])
            self.assertEqual(list(self.home.glob(".*.tmp")), [])

        self.each_fault("predict", args, lambda: y.write_bytes(b"old"), check)

    def test_exporting(self):
        for to, ending in (("c99", "c"), ("onnx", "onnx")):
            y = self.home / f"y.{ending}"
            args = ("export", "whole", "--to", to, "--output", y.name)
            self.call(*args)
            new = y.read_bytes()

            def check(code, y=y, new=new):
                self.assertIn(y.read_bytes(), [new] if code == 0 else [b"old", new])
                self.assertEqual(list(self.home.glob(".*.tmp")), [])

            self.each_fault(f"export {to}", args, lambda y=y: y.write_bytes(b"old"), check)

    def many_runs(self, out):
        """The results of a table or a search, except for its times: every run, and the lines of its results."""
        folder = self.home / out
        rows = [json.loads(line) for path in sorted(folder.rglob("results.jsonl")) for line in path.read_text().splitlines()]
        for row in rows:
            for key in ("seconds", "date", "machine"):
                row.pop(key, None)
        rows.sort(key=json.dumps)
        return rows, {path.parent.name: self.state(path.parent) for path in sorted(folder.rglob("weights.safetensors"))}

    def each_fault_of_many(self, story, args, out):
        folder = self.home / out

        def begin():
            shutil.rmtree(folder, ignore_errors=True)

        begin()
        self.call(*args)
        whole = self.many_runs(out)
        self.assertGreaterEqual(len(whole[1]), 2)

        def check(code):
            left = [path.name for path in folder.rglob("*.tmp")] if folder.exists() else []
            self.assertEqual(left, [])
            self.call(*args)
            self.assertEqual(self.many_runs(out), whole)

        self.each_fault(story, args, begin, check)
        begin()

    def test_table(self):
        self.each_fault_of_many("table", ("table", "task", "--out", "runs", "--quiet", "--jobs", "1"), "runs")

    def test_search(self):
        self.each_fault_of_many("search", ("search", "search.json", "--out", "found", "--quiet", "--jobs", "1"), "found")

    def test_a_clock_that_goes_back(self):
        environment = {**os.environ, "LD_PRELOAD": str(self.shim), "LAGTAPE_FAULT_CLOCK": "1"}
        run = self.begin(False)
        for epochs in (1, 3):
            args = (self.tool, "train", "e.json", "--out", "run", "--quiet", "--resume", "--tensorboard", "--set", f"train.epochs={epochs}")
            done = subprocess.run(args, cwd=self.home, env=environment, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.state(run), self.whole)
        self.table["clock"] = (2, 2)

    def test_kills(self):
        for resumes in (False, True):
            story = "resume, killed" if resumes else "train, killed"
            args = ("train", "e.json", "--out", "run", "--quiet", *(["--resume"] if resumes else []))
            for call in KILLED_AT:
                self.begin(resumes)
                for at in self.points(call, args):
                    with self.subTest(story, call=call, at=at):
                        run = self.begin(resumes)
                        code, message = self.call(*args, fault=(call, at, KILL))
                        self.assertEqual(code, -9, message)
                        points, quiet = self.table.get((key := f"{story}, {call}"), (0, 0))
                        self.table[key] = (points + 1, quiet)
                        self.call("train", "e.json", "--out", "run", "--quiet", "--resume")
                        self.assertEqual(self.state(run), self.whole)
                        self.assertEqual([path.name for path in run.rglob("*.tmp")], [])


if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    FaultsTest.tool, FaultsTest.compiler = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
    for name in ("most", "allocations"):
        if f"--{name}" in sys.argv:
            at = sys.argv.index(f"--{name}")
            setattr(FaultsTest, name, int(sys.argv.pop(at + 1)))
            sys.argv.pop(at)
    unittest.main()
