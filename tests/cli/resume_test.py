"""A run that was killed or interrupted at any moment ends with the bits of one that was not."""

import csv
import json
import math
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

from tool import EXPERIMENT, ToolTest, changed, main, make_safetensors, read_safetensors, slow

LONG = changed(EXPERIMENT, train__epochs=40)
KILLS = 6


class ResumeTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.experiment = self.write("long.json", LONG)
        start = time.monotonic()
        self.run_tool("train", self.experiment, "--out", "whole", "--quiet")
        self.seconds = time.monotonic() - start

    def stop_after(self, seconds, number, run, *args):
        """Starts or resumes a run and sends the signal after so many seconds; gives the exit code and stderr."""
        process = self.start("train", self.experiment, "--out", run, "--resume", *args)
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        _, err = process.communicate(timeout=300)
        return process.returncode, err.decode()

    def finish(self, run, *args):
        self.run_tool("train", self.experiment, "--out", run, "--resume", "--quiet", *args)

    def metrics(self, run):
        rows = [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]
        return [{key: value for key, value in row.items() if key != "seconds"} for row in rows]

    def assert_same(self, run, story):
        self.assertEqual(self.weights(run), self.weights("whole"), story)
        self.assertEqual(self.metrics(run), self.metrics("whole"), story)

    @slow
    def test_killed_at_random_moments(self):
        seed = random.SystemRandom().randrange(2**32)
        moments = random.Random(seed)
        for i in range(KILLS):
            seconds = moments.uniform(0, self.seconds)
            self.stop_after(seconds, signal.SIGKILL, f"killed-{i}")
            self.finish(f"killed-{i}", "--threads", moments.choice((1, 2, 3)))
            self.assert_same(f"killed-{i}", f"killed after {seconds} s, seed {seed}")

    @slow
    def test_killed_while_the_weights_are_averaged(self):
        self.experiment = self.write("average.json", changed(LONG, train__average={"patience": 2, "latest": 5}))
        shutil.rmtree(self.folder / "whole")
        out, _ = self.run_tool("train", self.experiment, "--out", "whole", "--quiet")
        self.assertIn("average     from epoch", out)
        rows = self.metrics("whole")
        begin = next(i for i, row in enumerate(rows) if row.get("average_begins"))
        self.assertEqual([row.get("averaged", 0) for row in rows], [2 * max(0, i - begin) for i in range(len(rows))])
        summary = json.loads((self.folder / "whole" / "summary.json").read_text())
        self.assertEqual(summary["average"]["begun_epoch"], rows[begin]["epoch"])
        for share in (0.4, 0.7, 0.9):
            self.stop_after(share * self.seconds, signal.SIGKILL, f"killed-{share}")
            self.finish(f"killed-{share}", "--threads", "2")
            self.assert_same(f"killed-{share}", f"killed after {share} of the time")

    @slow
    def test_killed_again_and_again(self):
        stops = [self.stop_after(0.3 * self.seconds, signal.SIGKILL, "run") for _ in range(5)]
        self.finish("run")
        self.assert_same("run", f"stopped {stops}")

    def test_signals_save_and_exit_with_130(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            run = number.name
            code, err = self.stop_after(0.5 * self.seconds, number, run)
            self.assertEqual(code, 130, err)
            self.assertIn("--resume", err)
            self.finish(run)
            self.assert_same(run, run)

    def test_a_limit_of_file_size_is_an_error_of_the_file(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        done = subprocess.run([self.tool, "train", self.experiment, "--out", "run"], cwd=self.folder, capture_output=True, preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr.decode(), "lagtape: run/.*: cannot write: File too large")
        self.assertEqual(list((self.folder / "run").rglob("*.tmp")), [])

    def test_resuming_a_finished_run_changes_nothing_of_it(self):
        before = self.weights("whole"), self.metrics("whole")
        self.finish("whole")
        self.assertEqual((self.weights("whole"), self.metrics("whole")), before)

    def test_a_resumed_run_may_have_more_epochs(self):
        self.run_tool("train", self.experiment, "--out", "more", "--quiet", "--set", "train.epochs=15")
        self.finish("more")
        self.assert_same("more", "15 epochs, then the rest")

    def test_a_run_is_resumed_by_its_folder_or_its_experiment(self):
        for name in ("run", "run/experiment.json"):
            self.run_tool("train", self.experiment, "--out", "run", "--quiet", "--set", "train.epochs=15")
            self.run_tool("train", name, "--resume", "--set", "train.epochs=40")
            self.assert_same("run", name)
            shutil.rmtree(self.folder / "run")
        self.assertIn("nothing to do", self.run_tool("train", "whole", "--resume")[1])
        self.assertIn("--resume", self.run_tool("train", "whole", code=2)[1])

    def test_a_run_does_not_go_on_in_another_folder(self):
        self.refused(["--out: the run in whole goes on in its own folder"], "train", "whole", "--resume", "--out", "other")
        self.assertIn("nothing to do", self.run_tool("train", "whole", "--resume", "--out", "./whole")[1])

    def test_a_run_that_ended_early_says_so_when_it_is_resumed(self):
        early = self.write("early.json", changed(LONG, train__patience=1, optimizer__lr=1e-30))
        self.assertIn("stopped     early", self.run_tool("train", early, "--out", "early", "--quiet")[0])
        self.assertIn("it ended early after step 4 of 80, as train.patience is 1",
                      self.run_tool("train", "early", "--resume")[1])

    def test_an_interrupted_series_of_seeds_goes_on_by_the_same_command(self):
        process = self.start("train", self.experiment, "--out", "series", "--seeds", 3, "--set", "train.epochs=100000")
        while not (self.folder / "series-0" / "weights.safetensors").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130)
        self.assertIn("saved in series-0. Go on with: the same command with --resume", err.decode())

    def test_a_series_from_the_experiment_of_a_run_goes_on_where_it_was(self):
        series = ["train", "whole/experiment.json", "--seeds", 2, "--seed", 5, "--set", "train.epochs=1", "--quiet"]
        self.run_tool(*series)
        before = self.snapshot()
        self.run_tool(*series, "--resume")
        self.assertEqual(self.snapshot().keys(), before.keys())
        self.assertEqual(self.weights("runs/small-6"), before["runs/small-6/weights.safetensors"])

    def test_a_resumed_run_may_not_differ_otherwise(self):
        before = self.snapshot()
        _, err = self.run_tool("train", self.experiment, "--out", "whole", "--resume", "--set", "optimizer.lr=0.5", code=2)
        self.assertIn("/optimizer/lr", err)
        self.assertEqual(self.snapshot(), before)

    def test_a_run_whose_data_have_moved_goes_on_where_they_are_now(self):
        def numbers(scale):
            return "load\n" + "".join(f"{scale * math.sin(i / 3):.4f}\n" for i in range(100))

        self.write("before/load.csv", numbers(1))
        self.write("before/far.csv", numbers(1))
        self.write("other/load.csv", numbers(2))
        experiment = self.write("load.json", {
            "name": "load", "data": {"task": "series", "path": "before/load.csv", "input": ["load"], "window": 8},
            "model": {"layers": [{"cell": "rnn", "units": 2}]}, "train": {"epochs": 2}})
        self.run_tool("train", experiment, "--out", "load-whole", "--quiet")
        self.run_tool("train", experiment, "--out", "load", "--quiet", "--set", "train.epochs=1")
        (self.folder / "before").rename(self.folder / "after")
        advice = "train and analyze by --set data.path=PATH, eval by --data PATH."
        for args in (["eval", "load"], ["eval", "load", "--horizon", "2"], ["analyze", "load"], ["train", "load", "--resume"]):
            with self.subTest(args):
                _, err = self.run_tool(*args, code=2)
                self.assertIn("before/load.csv: cannot read", err)
                self.assertIn(advice, err)
        self.assertNotIn("moved", self.run_tool("eval", "load", "--data", "gone.csv", code=2)[1])
        again = ["train", experiment, "--out", "load", "--quiet", "--resume", "--set"]
        for path, message in (("after/far.csv", "Got /data/path \"far.csv\", the run has \"load.csv\""),
                              ("other/load.csv", "data of other means and scales")):
            _, err = self.run_tool(*again, f"data.path={path}", code=2)
            self.assertIn(message, err)
        self.run_tool(*again, "data.path=after/load.csv")
        files = [(self.folder / run / "weights.safetensors").read_bytes() for run in ("load", "load-whole")]
        self.assertEqual(*(read_safetensors(file)[1] for file in files))
        self.run_tool("eval", "load")

    def test_a_run_that_goes_on_with_other_numbers_says_so(self):
        def write(signs):
            self.write("load.csv", "load\n" + "".join(f"{signs[i % 2] * (1 + i % 7)}\n" for i in range(100)))

        write((1, -1))
        experiment = self.write("load.json", {
            "name": "load", "data": {"task": "series", "path": "load.csv", "input": ["load"], "window": 8, "normalize": False, "normalize_target": False},
            "model": {"layers": [{"cell": "rnn", "units": 2}]}, "train": {"epochs": 1}})
        self.run_tool("train", experiment, "--out", "load", "--quiet")
        other = "warning: the training set is not the one that the run began with"
        self.assertNotIn(other, self.run_tool("train", "load", "--resume", "--set", "train.epochs=2")[1])
        write((-1, 1))
        self.assertIn(other, self.run_tool("train", "load", "--resume", "--set", "train.epochs=3")[1])

    def write_metrics(self, text):
        """Writes the metrics of the finished run, and says in its checkpoint how long they are."""
        self.write("whole/metrics.jsonl", text)
        file = self.folder / "whole/checkpoint/state.safetensors"
        header, buffer = read_safetensors(file.read_bytes())
        header["__metadata__"]["metrics_bytes"] = str((self.folder / "whole/metrics.jsonl").stat().st_size)
        file.write_bytes(make_safetensors(header, buffer))

    def test_a_line_of_the_metrics_that_is_no_object_is_named(self):
        for line, shown in ((b"garbage", "'garbage'"), (b'"', "'\"'"), (b"", "''"), (b"[" * 200, "'" + "[" * 60 + "...'"),
                            (b"\xff\xfe", r"'\xff\xfe'"), (b"[1]", "'[1]'")):
            with self.subTest(line):
                self.write_metrics(b'{"epoch": 1}\n' + line + b"\n")
                _, err = self.run_tool("train", self.experiment, "--out", "whole", "--resume", "--set", "train.epochs=41", code=2)
                self.assertIn(f"whole/metrics.jsonl: line 2: expected a JSON object. Got {shown}.\n", err)

    def test_the_table_quotes_keys_and_values_that_need_it(self):
        strange = {"a,b": 1, 'with "quotes"': 2, "two\nlines": "x,y", "plain": "z", "list": [1, 2], "": 7}
        self.write_metrics(json.dumps({"epoch": 1, **strange}) + "\n")
        self.run_tool("train", self.experiment, "--out", "whole", "--resume", "--set", "train.epochs=42", "--quiet")
        with open(self.folder / "whole/metrics.csv", newline="") as file:
            header, first, *more = list(csv.reader(file))
        self.assertLessEqual({"epoch": "1", "a,b": "1", 'with "quotes"': "2", "two\nlines": "x,y", "plain": "z", "list": "[1,2]", "": "7"}.items(),
                             dict(zip(header, first)).items())
        self.assertEqual([dict(zip(header, row))["epoch"] for row in more], ["41", "42"])
        self.assertEqual({len(row) for row in (first, *more)}, {len(header)})

    def test_lines_that_have_nothing_in_common_are_refused(self):
        before = (self.folder / "whole/metrics.csv").read_bytes()
        self.write_metrics("".join(json.dumps({"epoch": 1, f"k{i}": 1}) + "\n" for i in range(10_000)))
        _, err = self.run_tool("train", self.experiment, "--out", "whole", "--resume", "--set", "train.epochs=41", code=2)
        self.assertIn("whole/metrics.jsonl: its 10000 lines have 10001 different keys, expected the same ones in most of them.\n", err)
        self.assertEqual((self.folder / "whole/metrics.csv").read_bytes(), before)

    @slow
    def test_a_line_of_many_keys_is_read_in_a_time_that_grows_as_they_do(self):
        self.write_metrics(json.dumps({f"k{i}": 1 for i in range(100_000)}) + "\n")
        with self.within(5):  # a search through all keys for each: a minute
            self.finish("whole")
        self.assertEqual(len((self.folder / "whole/metrics.csv").read_text().split(",")), 2 * 100_000 - 1)


if __name__ == "__main__":
    main()
